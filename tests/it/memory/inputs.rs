//! The hostile inputs: files, emails, websites, stores and messages, and the servers that serve them.

use std::collections::BTreeSet;
use std::io::{Cursor, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use data_encoding::{BASE64, HEXLOWER};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use image::{GrayImage, ImageFormat, RgbImage, RgbaImage};
use serde_json::{Value, json};

use super::Expected::{self, Made, MadeOr, Refused};

/// 30 MB of spaces, compressed with brotli.
const SPACES_BROTLI: &str = "cfffff7ff82540e2b14020f7fe3fff8693f14b00c4610180ce6e32";
/// The reason if a worker process reached its limits.
const COSTLY: &str = "too much time or memory";

/// The URLs that were requested from the servers.
static REQUESTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

pub fn encoded(picture: impl Into<image::DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    picture.into().write_to(&mut out, format).expect("memory");
    out.into_inner()
}

/// Returns a file with some bytes replaced, such as dimensions that do not match its pixels.
fn patched(mut file: Vec<u8>, at: usize, bytes: &[u8]) -> Vec<u8> {
    file[at..at + bytes.len()].copy_from_slice(bytes);
    file
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// Returns a one-pixel PNG with a chunk before its pixels that unpacks to 100 MB.
fn png_with(chunk: &[u8; 4], name: &[u8]) -> Vec<u8> {
    let pixel = encoded(RgbImage::new(1, 1), ImageFormat::Png);
    let data = [chunk.as_slice(), name, &zlib(&vec![0; 100_000_000])].concat();
    let length = (data.len() as u32 - 4).to_be_bytes();
    let (front, rest) = pixel.split_at(33);
    [front, &length, &data, &crc32fast::hash(&data).to_be_bytes(), rest].concat()
}

fn icon(png: &[u8]) -> Vec<u8> {
    let directory = b"\0\0\x01\0\x01\0\0\0\0\0\x01\0\x20\0";
    [directory.as_slice(), &(png.len() as u32).to_le_bytes(), &22_u32.to_le_bytes(), png].concat()
}

/// Returns a square picture that does not compress.
fn noise(side: u32) -> GrayImage {
    GrayImage::from_fn(side, side, |x, y| {
        let mixed = (x.wrapping_mul(0x9e37_79b9) ^ y.wrapping_mul(0x85eb_ca6b)).wrapping_mul(0xc2b2_ae35);
        image::Luma([(mixed >> 24) as u8])
    })
}

/// Returns images by name, each of which is a small file, with the result of their upload.
pub fn images() -> Vec<(&'static str, Vec<u8>, Expected)> {
    let vast = encoded(GrayImage::new(10_000, 10_000), ImageFormat::Png);
    let gif = encoded(RgbaImage::new(1, 1), ImageFormat::Gif);
    let jpeg = encoded(RgbImage::new(16, 16), ImageFormat::Jpeg);
    let size = jpeg.windows(2).position(|mark| mark == [0xff, 0xc0]).expect("a frame") + 5;
    let webp = encoded(RgbaImage::new(2, 2), ImageFormat::WebP);
    let lossless = webp.windows(4).position(|mark| mark == b"VP8L").expect("lossless") + 9;
    let large = Refused("million pixels");
    vec![
        ("PNG, 10,000 × 10,000 gray", vast, large),
        ("PNG, 3,000 × 3,000 colors", encoded(RgbImage::new(3_000, 3_000), ImageFormat::Png), Made),
        ("PNG, 2,000 × 2,000 noise", encoded(noise(2_000), ImageFormat::Png), Made),
        (
            "PNG, claims 30,000 × 30,000",
            patched(encoded(RgbImage::new(1, 1), ImageFormat::Png), 16, &[0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]),
            large,
        ),
        // The decoder omits the profile, or unpacks it if its limit allows.
        ("PNG, color profile of 100 MB", png_with(b"iCCP", b"a\0\0"), MadeOr(&[COSTLY])),
        ("PNG, text of 100 MB", png_with(b"zTXt", b"a\0\0"), Made),
        ("GIF, claims 65,535 × 65,535", patched(gif.clone(), 6, &[255; 4]), large),
        ("GIF, 3,000 × 3,000", patched(gif, 6, &[0xb8, 0x0b, 0xb8, 0x0b]), Made),
        ("JPEG, claims 65,535 × 65,535", patched(jpeg.clone(), size, &[255; 4]), large),
        // The decoder decides whether pixels that the file lacks are an error.
        ("JPEG, claims 3,000 × 3,000", patched(jpeg, size, &[0x0b, 0xb8, 0x0b, 0xb8]), MadeOr(&["damaged"])),
        ("WebP, claims 16,384 × 16,384", patched(webp, lossless, &[255; 4]), large),
    ]
}

/// Returns emails by name, with the result of their import.
pub fn emails() -> Vec<(&'static str, String, Expected)> {
    let vast = BASE64.encode(&encoded(GrayImage::new(8_000, 8_000), ImageFormat::Png));
    let part = "--b\r\nContent-Type: text/html\r\n\r\n<p>x\r\n";
    let mail = |body: &str| format!("Subject: x\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n{body}");
    let nested = "--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n";
    let cells = |tables: usize, count: usize| format!("{}{}", "<table><tr><td>".repeat(tables), "<td>x".repeat(count));
    vec![
        ("HTML, 1 MB of open elements", "<p>".repeat(340_000), Refused("The HTML")),
        ("HTML, 90 tables within each other and 50,000 cells", cells(90, 50_000), Refused("The HTML")),
        ("HTML, 50 tables within each other and 25,000 cells", cells(50, 25_000), MadeOr(&["The HTML", COSTLY])),
        (
            "HTML, 2 embedded images of 64 million pixels",
            format!("<img src=\"data:image/png;base64,{vast}\">").repeat(2),
            MadeOr(&["million pixels", COSTLY]),
        ),
        ("CSS, 40,000 rules", format!("<style>{}</style><p>x", "a:is(b,c) d>e{color:red}".repeat(40_000)), MadeOr(&[COSTLY])),
        ("mail, 25,000 parts", mail(&part.repeat(25_000)), MadeOr(&["The HTML", "more than", COSTLY])),
        // The message has no text, however deep its parts are.
        ("mail, 3,000 parts within each other", mail(&nested.repeat(3_000)), MadeOr(&["not an email with HTML or text", COSTLY])),
    ]
}

/// The end of the path, the headers and the body of a file. The path "*" matches every path without a dot.
type ServedFile = (&'static str, &'static str, Vec<u8>);

/// Serves these files until the tests end.
fn serve(files: Vec<ServedFile>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("bound");
    let files = Arc::new(files);
    let accept = move || {
        for stream in listener.incoming().flatten() {
            let files = files.clone();
            let _ = std::thread::Builder::new().name("hostile file".into()).spawn(move || answer(&files, stream));
        }
    };
    std::thread::Builder::new().name("hostile site".into()).spawn(accept).expect("a thread");
    format!("http://{address}")
}

/// Returns whether this URL was requested.
pub fn was_requested(url: &str) -> bool {
    REQUESTED.lock().expect("no panic").contains(url)
}

fn answer(files: &[ServedFile], mut stream: TcpStream) {
    let mut head = [0; 4096];
    let count = std::io::Read::read(&mut stream, &mut head).unwrap_or(0);
    let head = String::from_utf8_lossy(&head[..count]).into_owned();
    let target = head.split(' ').nth(1).unwrap_or("/");
    let path = target.split('?').next().unwrap_or_default();
    let host = stream.local_addr().expect("it is connected");
    REQUESTED.lock().expect("no panic").insert(format!("http://{host}{path}"));
    let is_served = |name: &str| path.ends_with(name) || name == "*" && !path.contains('.');
    let Some((_, headers, body)) = files.iter().find(|(name, ..)| is_served(name)) else {
        let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        return;
    };
    let _ = write!(stream, "HTTP/1.1 200 OK\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(body).and_then(|()| stream.shutdown(Shutdown::Write));
    // The response could be lost if the connection were closed before the whole request was read.
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let _ = std::io::copy(&mut stream, &mut std::io::sink());
}

/// A website. Each path of its URL is the home page of a site of its own.
pub struct HostileSite {
    pub name: &'static str,
    pub url: String,
    /// The path of the file that the import must reach.
    pub reaches: &'static str,
    /// Whether the files may exceed the limits of a worker process.
    pub is_costly: bool,
}

pub fn hosts() -> Vec<HostileSite> {
    const HTML: &str = "content-type: text/html\r\ncontent-encoding: gzip\r\n";
    const BROTLI: &str = "content-type: text/html\r\ncontent-encoding: br\r\n";
    const CSS: &str = "content-type: text/css\r\ncontent-encoding: gzip\r\n";
    const XML: &str = "content-type: application/gzip\r\n";
    const SVG: &str = "content-type: image/svg+xml\r\n";
    let page = |body: &str| gzip(format!("<html><title>Acme</title>{body}").as_bytes());
    let site = |name, reaches, is_costly, files: Vec<ServedFile>| HostileSite { name, url: serve(files), reaches, is_costly };
    let pages = |name, body: &str| site(name, "/0/0", true, vec![("*", HTML, page(body))]);
    let with = |name, reaches, is_costly, head: &str, file: ServedFile| {
        site(name, reaches, is_costly, vec![("*", HTML, page(head)), file])
    };
    let drawing = |name, inside: &str| {
        let svg = format!("<svg xmlns='http://www.w3.org/2000/svg' width='90' height='30'>{inside}</svg>");
        let home = "<header><a href=/><img class=logo src=/logo.svg alt='Acme logo'></a></header><p>x";
        with(name, "/logo.svg", false, home, ("/logo.svg", SVG, svg.into_bytes()))
    };
    let data = format!("<script type=application/ld+json>[{}0]</script>", "{\"@type\":0},".repeat(160_000));
    let attributes: String = (0..300_000).map(|number| format!(" {number:x}")).collect();
    let styles = gzip("a,a,a{color:red;color:red}".repeat(80_000).as_bytes());
    let locations = format!("<urlset>{}", "<url><loc>/a</loc></url>".repeat(2_000_000));
    let laughs = format!(
        "<!DOCTYPE a [<!ENTITY a \"{}\">]><urlset>{}",
        "x".repeat(10_000),
        "<url><loc>&a;&a;&a;</loc></url>".repeat(100_000)
    );
    let icon = icon(&encoded(GrayImage::new(10_000, 10_000), ImageFormat::Png));
    // Each element shows the one before it ten times.
    let tenfold = |level: fn(usize, String) -> String, use_of: fn(usize) -> String| -> String {
        (1..12).map(|number| level(number, use_of(number - 1).repeat(10))).collect()
    };
    let uses = tenfold(|number, inside| format!("<g id='u{number}'>{inside}</g>"), |number| format!("<use href='#u{number}'/>"));
    let patterns = tenfold(
        |number, inside| format!("<pattern id='p{number}' width='1' height='1' viewBox='0 0 9 9'>{inside}</pattern>"),
        |number| format!("<rect width='9' height='9' fill='url(#p{number})'/>"),
    );
    let blurs = "<feGaussianBlur stdDeviation='900'/><feTurbulence numOctaves='9' baseFrequency='9'/>".repeat(2_000);
    let brotli = HEXLOWER.decode(SPACES_BROTLI.as_bytes()).expect("it is hexadecimal");
    vec![
        site("pages of 1 GB of gzip", "/0/9", false, vec![("*", HTML, gzip(&vec![b' '; 1_000_000_000]))]),
        site("pages of 30 MB of brotli", "/0/9", false, vec![("*", BROTLI, brotli)]),
        pages("pages of 2 MB of open elements", &"<b>".repeat(660_000)),
        pages("pages of 2 MB of cells", &format!("<table>{}", "<td>x".repeat(350_000))),
        pages("pages of 2 MB of comments", &"<?a>".repeat(500_000)),
        pages("pages of 300,000 attributes", &format!("<p{attributes}>x")),
        pages("pages of 160,000 objects of structured data", &data),
        with(
            "style sheet of 240,000 selectors",
            "/1.css",
            true,
            "<link rel=stylesheet href=/1.css><p>x",
            ("/1.css", CSS, styles),
        ),
        with("icon of 100 million pixels", "/icon.ico", false, "<link rel=icon href=/icon.ico><p>x", ("/icon.ico", "", icon)),
        with("sitemap, 48 MB of gzip", "/sitemap.xml", false, "<p>x", ("/sitemap.xml", XML, gzip(locations.as_bytes()))),
        with("sitemap, entities", "/sitemap.xml", false, "<p>x", ("/sitemap.xml", XML, gzip(laughs.as_bytes()))),
        drawing("logo of 14,000 paths", &"<path d='M0 0h9v9z' fill='#123'/>".repeat(14_000)),
        drawing("logo of 10^11 uses", &format!("<defs><g id='u0'><path d='M0 0h9v9z'/></g>{uses}</defs><use href='#u11'/>")),
        drawing(
            "logo of 11 patterns within each other",
            &format!(
                "<defs><pattern id='p0' width='1' height='1' viewBox='0 0 9 9'><path d='M0 0h9v9z'/></pattern>{patterns}</defs><rect width='90' height='30' fill='url(#p11)'/>"
            ),
        ),
        drawing(
            "logo of 4,000 filters",
            &format!("<filter id='f' width='90' height='90'>{blurs}</filter><rect width='90' height='30' filter='url(#f)'/>"),
        ),
    ]
}

/// Returns stores by name, with their URLs. Each path of the URL is a store of its own.
pub fn stores() -> Vec<(&'static str, String)> {
    const JSON: &str = "content-type: application/json\r\n";
    const ZIPPED: &str = "content-type: application/json\r\ncontent-encoding: gzip\r\n";
    let list = |item: &str, bytes: usize| gzip(format!("[{}0]", item.repeat(bytes / item.len())).as_bytes());
    let shop = |products: Vec<u8>| {
        serve(vec![
            ("/wp-json/wc/v3/data/currencies/current", JSON, b"{\"code\":\"EUR\"}".to_vec()),
            ("/wp-json/wc/v3/webhooks", JSON, b"[]".to_vec()),
            ("/wp-json/wc/v3/products", ZIPPED, products),
        ])
    };
    vec![
        ("store, 1 GB of gzip", shop(gzip(&vec![b' '; 1_000_000_000]))),
        ("store, 30 MB of products", shop(list("{\"id\":1,\"name\":\"\"},", 30_000_000))),
        ("store, 4 MB of products", shop(list("{\"id\":1,\"name\":\"\"},", 4_000_000))),
        ("store, 47,000 products", shop(list("{\"id\":1,\"name\":\"\"},", 900_000))),
        ("store, 4 MB of lists", shop(list("[],", 4_000_000))),
        ("store, 70,000 images", shop(gzip(format!("[{{\"images\":[{}", "{\"src\":\"\"},".repeat(70_000)).as_bytes()))),
    ]
}

/// Returns CSV files by name, with their URLs and a part of the error that rejects them.
pub fn csv_files() -> Vec<(&'static str, String, &'static str)> {
    const ZIPPED: &str = "content-type: text/csv\r\ncontent-encoding: gzip\r\n";
    let file = |bytes: &[u8]| format!("{}/file.csv", serve(vec![("/file.csv", ZIPPED, gzip(bytes))]));
    let rows = [b"<html>".to_vec(), vec![b'\n'; 30_000_000]].concat();
    vec![
        ("CSV, 1 GB of gzip", file(&vec![b'x'; 1_000_000_000]), "larger than"),
        ("CSV, 30 MB of gzip", file(&rows), "a web page or XML"),
    ]
}

/// Returns bodies close to the limit of 10 MiB, by name: the operation, its input and its result. The body is parsed before it is refused.
pub fn bodies(project: &str) -> Vec<(&'static str, &'static str, Value, Expected)> {
    let side = 2_640;
    let picture = BASE64.encode(&encoded(noise(side), ImageFormat::Png));
    let contact =
        |number: usize| json!({ "email": format!("{number}@example.com"), "customFields": { "note": "x".repeat(130) } });
    let contacts: Vec<Value> = (0..50_000).map(contact).collect();
    let empty = vec![json!({}); 3_000_000];
    vec![
        ("image of 7 MB", "projects.images_upload", json!({ "projectId": project, "file": picture }), Made),
        ("50,000 contacts", "contacts.bulk", json!({ "projectId": project, "subscribers": contacts }), MadeOr(&["subscribers"])),
        ("3,000,000 empty objects", "contacts.bulk", json!({ "projectId": project, "subscribers": empty }), Refused("")),
        (
            "10 MB of knowledge",
            "projects.knowledge_add",
            json!({ "projectId": project, "title": "x", "content": "x ".repeat(5_000_000) }),
            Refused(""),
        ),
    ]
}

/// Returns messages for the mail listener, by name.
pub fn messages() -> Vec<(&'static str, Vec<u8>)> {
    const BYTES: usize = 10_000_000;
    let fill = |piece: &str| piece.repeat(BYTES / piece.len());
    let report = "Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n\
                  --b\r\nContent-Type: message/delivery-status\r\n\r\n";
    let nested = |levels: usize| {
        let level = |number: usize| format!("--b{number}\r\nContent-Type: multipart/mixed; boundary=b{}\r\n\r\n", number + 1);
        let head = "Content-Type: multipart/mixed; boundary=b0\r\n\r\n".to_owned();
        std::iter::once(head).chain((0..levels).map(level)).collect::<String>()
    };
    let mails = vec![
        ("10 MB of header fields", fill("X-A: b\r\n")),
        ("a header field of 10 MB", format!("Subject:{}\r\n\r\nx\r\n", fill(" word\r\n"))),
        ("encoded words of 10 MB", format!("Subject: {}\r\n\r\nx\r\n", fill("=?utf-8?q?=c3=a9?=\r\n "))),
        ("10 MB of addresses", format!("To: {}\r\n\r\nx\r\n", fill("a@b.example,\r\n "))),
        ("150,000 parts within each other", nested(150_000)),
        ("10 MB of empty parts", format!("Content-Type: multipart/mixed; boundary=b\r\n\r\n{}", fill("--b\r\n\r\n\r\n"))),
        ("10 MB of messages within messages", fill("Content-Type: message/rfc822\r\n\r\n")),
        (
            "10 MB of base64",
            format!("Content-Type: text/html\r\nContent-Transfer-Encoding: base64\r\n\r\n{}", fill("PGI+PGI+\r\n")),
        ),
        (
            "10 MB of recipients in a report",
            format!("{report}{}", fill("Final-Recipient: rfc822; a@b.example\r\nAction: failed\r\n\r\n")),
        ),
    ];
    mails.into_iter().map(|(name, mail)| (name, mail.into_bytes())).collect()
}
/// Writes hostile font files into a folder, because an operator may have fonts from anywhere.
pub fn write_fonts(folder: &Path) {
    let font = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/fonts/DejaVuSans.ttf")).expect("our own font");
    let table =
        |tag: &[u8; 4]| font[12..].chunks(16).take(64).position(|entry| entry.starts_with(tag)).expect("a table") * 16 + 12;
    let offset = |tag: &[u8; 4]| {
        let entry = &font[table(tag)..];
        u32::from_be_bytes(entry[8..12].try_into().expect("four bytes")) as usize
    };
    // A character map (format 12) with one group, which maps all characters to one glyph range.
    let every = [12_u16.to_be_bytes(), [0; 2]].concat();
    let every = [every, [28_u32, 0, 1, 0, 0x10_ffff, 1].map(u32::to_be_bytes).concat()].concat();
    let subtable = font.len() as u32 - offset(b"cmap") as u32;
    let covers_all = [patched(font.clone(), offset(b"cmap") + 8, &subtable.to_be_bytes()), every].concat();
    let files = [
        ("claims-65535-tables.ttf", patched(font.clone(), 4, &[0xff, 0xff])),
        ("claims-65535-glyphs.ttf", patched(covers_all.clone(), offset(b"maxp") + 4, &[0xff, 0xff])),
        ("covers-all.ttf", covers_all.clone()),
        ("vast-glyphs.ttf", patched(covers_all.clone(), table(b"glyf") + 12, &[0xff; 4])),
        ("cut-off.otf", font[..font.len() / 2].to_vec()),
        ("claims-4-billion-fonts.ttc", [b"ttcf\0\x01\0\0".as_slice(), &[0xff; 4], &vec![0; 1 << 20]].concat()),
        ("noise.ttf", [b"\0\x01\0\0\0\x10".as_slice(), &noise(1_024).into_raw()].concat()),
    ];
    for (name, bytes) in files {
        std::fs::write(folder.join(name), bytes).expect("the folder is ours");
    }
    // These files have the maximum size of a font file, but take no space on the disk.
    for number in 0..8 {
        let file = std::fs::File::create(folder.join(format!("sparse-{number}.ttf"))).expect("the folder is ours");
        file.set_len(64 << 20).expect("no space is needed");
    }
}

/// Returns prompts whose text reaches the MJML of the templates, by name. The first one is ordinary: it loads the dictionaries and the data
/// of email clients, so its row shows what the first email costs, and the other rows what their own text costs.
pub fn prompts() -> Vec<(&'static str, String)> {
    vec![
        ("an ordinary prompt, the first emails", "20% off all teas until Sunday with the code TEA20".to_owned()),
        ("MJML, 10,000 characters of open elements", "<mj-section><mj-column>".repeat(430)),
        ("MJML, 10,000 characters to escape", "&<>\"'".repeat(2_000)),
        ("MJML, 10,000 characters of lists", "- a\n".repeat(2_500)),
    ]
}
