//! Measures memory growth under hostile input, eight requests or four sites at a time: small files that unpack to gigabytes, bodies and messages
//! of the maximum size, malformed fonts. Images and emails are decoded in worker processes with their own limits.
//!
//! `cargo test --test it memory -- --nocapture` prints the tables.

use std::io::{Cursor, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE64;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use futures_util::future::join_all;
use image::{GrayImage, ImageFormat, RgbImage, RgbaImage};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpSocket;

use super::sites;
use super::support::server::BOUNDLESS;
use super::support::stores::woocommerce::{WOO_KEY, WOO_SECRET};
use super::support::{Client, Reply, Server};

const AT_ONCE: usize = 8;
/// The number of sites that the server imports at the same time.
const SITES_AT_ONCE: usize = 4;
/// The time limit for an email, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);
/// The maximum memory growth of the server for any input.
const GROWTH_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// Returns a field of the server's process status in bytes.
fn memory(server: &Server, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).expect("it runs");
    let line = status.lines().find(|line| line.starts_with(field)).unwrap_or_else(|| panic!("{field}: {status}"));
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("a number") * 1024
}

/// Resets the peak of the memory; returns the memory in use.
fn from_now_on(server: &Server) -> u64 {
    std::fs::write(format!("/proc/{}/clear_refs", server.id()), "5").expect("it is ours");
    memory(server, "VmRSS:")
}

fn encoded(picture: impl Into<image::DynamicImage>, format: ImageFormat) -> Vec<u8> {
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

/// Returns images by name, each of which is a small file.
fn images() -> Vec<(&'static str, Vec<u8>)> {
    let vast = encoded(GrayImage::new(10_000, 10_000), ImageFormat::Png);
    let gif = encoded(RgbaImage::new(1, 1), ImageFormat::Gif);
    let jpeg = encoded(RgbImage::new(16, 16), ImageFormat::Jpeg);
    let size = jpeg.windows(2).position(|mark| mark == [0xff, 0xc0]).expect("a frame") + 5;
    let webp = encoded(RgbaImage::new(2, 2), ImageFormat::WebP);
    let lossless = webp.windows(4).position(|mark| mark == b"VP8L").expect("lossless") + 9;
    let svg = format!("<svg width='9' height='9'>{}</svg>", "<path fill='#123456'/>".repeat(130_000));
    vec![
        ("PNG, 10,000 × 10,000 gray", vast.clone()),
        ("PNG, 3,000 × 3,000 colors", encoded(RgbImage::new(3_000, 3_000), ImageFormat::Png)),
        ("PNG, 2,000 × 2,000 noise", encoded(noise(2_000), ImageFormat::Png)),
        (
            "PNG, claims 30,000 × 30,000",
            patched(encoded(RgbImage::new(1, 1), ImageFormat::Png), 16, &[0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]),
        ),
        ("PNG, color profile of 100 MB", png_with(b"iCCP", b"a\0\0")),
        ("PNG, text of 100 MB", png_with(b"zTXt", b"a\0\0")),
        ("GIF, claims 65,535 × 65,535", patched(gif.clone(), 6, &[255; 4])),
        ("GIF, 3,000 × 3,000", patched(gif, 6, &[0xb8, 0x0b, 0xb8, 0x0b])),
        ("JPEG, claims 65,535 × 65,535", patched(jpeg.clone(), size, &[255; 4])),
        ("JPEG, claims 3,000 × 3,000", patched(jpeg, size, &[0x0b, 0xb8, 0x0b, 0xb8])),
        ("WebP, claims 16,384 × 16,384", patched(webp, lossless, &[255; 4])),
        ("ICO, PNG of 10,000 × 10,000 inside", icon(&vast)),
        ("SVG, 130,000 paths", svg.into_bytes()),
    ]
}

/// Returns emails by name.
fn emails() -> Vec<(&'static str, String)> {
    let vast = BASE64.encode(&encoded(GrayImage::new(8_000, 8_000), ImageFormat::Png));
    let part = "--b\r\nContent-Type: text/html\r\n\r\n<p>x\r\n";
    let mail = |body: &str| format!("Subject: x\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n{body}");
    vec![
        ("HTML, 1 MB of open elements", "<p>".repeat(340_000)),
        (
            "HTML, 90 tables within each other and 50,000 cells",
            format!("{}{}", "<table><tr><td>".repeat(90), "<td>x".repeat(50_000)),
        ),
        ("HTML, 2 embedded images of 64 million pixels", format!("<img src=\"data:image/png;base64,{vast}\">").repeat(2)),
        ("CSS, 40,000 rules", format!("<style>{}</style><p>x", "a:is(b,c) d>e{color:red}".repeat(40_000))),
        ("mail, 25,000 parts", mail(&part.repeat(25_000))),
        ("mail, 3,000 parts within each other", mail(&"--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n".repeat(3_000))),
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

fn answer(files: &[ServedFile], mut stream: TcpStream) {
    let mut head = [0; 4096];
    let count = std::io::Read::read(&mut stream, &mut head).unwrap_or(0);
    let head = String::from_utf8_lossy(&head[..count]).into_owned();
    let target = head.split(' ').nth(1).unwrap_or("/");
    let path = target.split('?').next().unwrap_or_default();
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

/// Returns websites by name, with their URLs. Each path of a website is the home page of a site of its own.
fn hosts() -> Vec<(&'static str, String)> {
    const HTML: &str = "content-type: text/html\r\ncontent-encoding: gzip\r\n";
    const CSS: &str = "content-type: text/css\r\ncontent-encoding: gzip\r\n";
    const XML: &str = "content-type: application/gzip\r\n";
    let home = |body: &str| gzip(format!("<html><title>Acme</title><link rel=icon href=/icon.ico>{body}").as_bytes());
    let robots = b"User-agent: *\nSitemap: /sitemap.xml.gz\n".to_vec();
    let locations = format!("<urlset>{}", "<url><loc>/a</loc></url>".repeat(2_000_000));
    let laughs = format!(
        "<!DOCTYPE a [<!ENTITY a \"{}\">]><urlset>{}",
        "x".repeat(10_000),
        "<url><loc>&a;&a;&a;</loc></url>".repeat(100_000)
    );
    let icon = icon(&encoded(GrayImage::new(10_000, 10_000), ImageFormat::Png));
    let data = |json: &str| home(&format!("<script type=application/ld+json>[{}0]</script>", json.repeat(160_000)));
    let styled = home("<link rel=stylesheet href=/1.css><link rel=stylesheet href=/2.css><p class=a>x");
    let styles = gzip("a,a,a{color:red;color:red}".repeat(80_000).as_bytes());
    let attributes: String = (0..300_000).map(|number| format!(" {number:x}")).collect();
    vec![
        ("pages of 1 GB of gzip", serve(vec![("*", HTML, gzip(&vec![b' '; 1_000_000_000]))])),
        ("pages of 2 MB of open elements", serve(vec![("*", HTML, home(&"<b>".repeat(660_000)))])),
        ("pages of 2 MB of cells", serve(vec![("*", HTML, home(&format!("<table>{}", "<td>x".repeat(350_000))))])),
        ("pages of 2 MB of comments", serve(vec![("*", HTML, home(&"<?a>".repeat(500_000)))])),
        ("pages of 300,000 attributes", serve(vec![("*", HTML, home(&format!("<p{attributes}>x")))])),
        ("pages of 160,000 objects of structured data", serve(vec![("*", HTML, data("{\"@type\":0},"))])),
        (
            "style sheets of 240,000 selectors",
            serve(vec![("*", HTML, styled), ("/1.css", CSS, styles.clone()), ("/2.css", CSS, styles)]),
        ),
        ("icon of 100 million pixels", serve(vec![("*", HTML, home("<p>x")), ("/icon.ico", "", icon)])),
        (
            "sitemap, 48 MB of gzip",
            serve(vec![
                ("*", HTML, home("<p>x")),
                ("/robots.txt", "", robots.clone()),
                ("/sitemap.xml.gz", XML, gzip(locations.as_bytes())),
            ]),
        ),
        (
            "sitemap, entities",
            serve(vec![
                ("*", HTML, home("<p>x")),
                ("/robots.txt", "", robots),
                ("/sitemap.xml.gz", XML, gzip(laughs.as_bytes())),
            ]),
        ),
    ]
}

/// Returns stores by name, with their URLs. Each path of the URL is a store of its own.
fn stores() -> Vec<(&'static str, String)> {
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

/// Returns CSV files by name, with their URLs and a part of the reason why they cannot be imported.
fn csv_files() -> Vec<(&'static str, String, &'static str)> {
    const ZIPPED: &str = "content-type: text/csv\r\ncontent-encoding: gzip\r\n";
    let file = |bytes: &[u8]| format!("{}/file.csv", serve(vec![("/file.csv", ZIPPED, gzip(bytes))]));
    let rows = [b"<html>".to_vec(), vec![b'\n'; 30_000_000]].concat();
    vec![
        ("CSV, 1 GB of gzip", file(&vec![b'x'; 1_000_000_000]), "larger than"),
        ("CSV, 30 MB of gzip", file(&rows), "a web page or XML"),
    ]
}

/// Returns bodies close to the limit of 10 MiB, by name: the operation, and its input.
fn bodies(project: &str) -> Vec<(&'static str, &'static str, Value)> {
    let side = 2_640;
    let picture = BASE64.encode(&encoded(noise(side), ImageFormat::Png));
    let contact =
        |number: usize| json!({ "email": format!("{number}@example.com"), "customFields": { "note": "x".repeat(130) } });
    let contacts: Vec<Value> = (0..50_000).map(contact).collect();
    let empty = vec![json!({}); 3_000_000];
    vec![
        ("image of 7 MB", "projects.images_upload", json!({ "projectId": project, "file": picture })),
        ("50,000 contacts", "contacts.bulk", json!({ "projectId": project, "subscribers": contacts })),
        ("3,000,000 empty objects", "contacts.bulk", json!({ "projectId": project, "subscribers": empty })),
        (
            "10 MB of knowledge",
            "projects.knowledge_add",
            json!({ "projectId": project, "title": "x", "content": "x ".repeat(5_000_000) }),
        ),
    ]
}

/// Returns messages for the mail listener, by name.
fn messages() -> Vec<(&'static str, Vec<u8>)> {
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

/// Delivers a message from a new client address; returns the reply.
async fn bring(anonymous: usize, to: SocketAddr, message: &[u8]) -> std::io::Result<String> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::new(127, 0, 3, 1 + anonymous as u8), 0).into())?;
    let mut stream = BufReader::new(socket.connect(to).await?);
    let mut reply = String::new();
    stream.read_line(&mut reply).await?;
    for command in ["HELO isp.example", "MAIL FROM:<>", "RCPT TO:<fbl@mill.example>", "DATA"] {
        stream.write_all(format!("{command}\r\n").as_bytes()).await?;
        reply.clear();
        stream.read_line(&mut reply).await?;
        assert!(reply.starts_with(['2', '3']), "{command}: {reply}");
    }
    stream.write_all(message).await?;
    stream.write_all(b"\r\n.\r\n").await?;
    reply.clear();
    stream.read_line(&mut reply).await?;
    Ok(reply.trim_end().to_owned())
}

/// Writes hostile font files into a folder, because an operator may have fonts from anywhere.
fn write_fonts(folder: &Path) {
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

/// Returns prompts whose text reaches the MJML of the templates, by name.
fn prompts() -> Vec<(&'static str, String)> {
    vec![
        ("MJML, 10,000 characters of open elements", "<mj-section><mj-column>".repeat(430)),
        ("MJML, 10,000 characters to escape", "&<>\"'".repeat(2_000)),
        ("MJML, 10,000 characters of lists", "- a\n".repeat(2_500)),
    ]
}

/// Waits until the requested emails exist, or have failed.
async fn ended(client: &Client, started: &[Reply]) -> Vec<String> {
    let mut states = Vec::new();
    for reply in started {
        let body = reply.json();
        let Some(id) = body["data"]["conversationId"].as_str() else { continue };
        let ended = async {
            loop {
                let state = client.data("emails.status", json!({ "conversationId": id })).await;
                if state["status"] == "completed" || state["status"] == "failed" {
                    return state["status"].as_str().unwrap_or_default().to_owned();
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        states.push(tokio::time::timeout(PATIENCE, ended).await.expect("it ends"));
    }
    states
}

/// An input and its measured cost.
struct Row {
    name: String,
    bytes: usize,
    peak: u64,
    growth: u64,
    answers: String,
}

/// A server and its measurements so far.
struct Table {
    server: Server,
    client: Client,
    project: String,
    rows: Vec<Row>,
}

impl Table {
    async fn new(settings: &str) -> Self {
        let server = Server::start(settings);
        let client = server.all();
        let project = client.project("Hostile").await;
        Self { server, client, project, rows: Vec::new() }
    }

    /// Runs `work` and records how much the server's memory grows in the meantime.
    async fn measure(&mut self, name: &str, bytes: usize, work: impl AsyncFnOnce(&Client, &Server) -> String) {
        let before = from_now_on(&self.server);
        let answers = work(&self.client, &self.server).await;
        let peak = memory(&self.server, "VmHWM:");
        self.rows.push(Row { name: name.to_owned(), bytes, peak, growth: peak.saturating_sub(before), answers });
    }

    /// Prints the measurements, and checks that all are within the limit and that the server still works.
    async fn check(self) {
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        println!("{:<48} {:>9} {:>9} {:>9}", "several at a time", "KB each", "peak MiB", "grown MiB");
        for Row { name, bytes, peak, growth, answers } in &self.rows {
            println!("{name:<48} {:>9} {:>9.1} {:>9.1} {answers}", bytes / 1000, mib(*peak), mib(*growth));
        }
        let over: Vec<_> = self.rows.iter().filter(|row| row.growth > GROWTH_BYTES_MAX).map(|row| &row.name).collect();
        assert!(over.is_empty(), "{over:?} grew the server by more than {GROWTH_BYTES_MAX} bytes");
        let small = BASE64.encode(&encoded(RgbImage::new(20, 10), ImageFormat::Png));
        let made: Value = self.client.data("projects.images_upload", json!({ "projectId": self.project, "file": small })).await;
        assert_eq!((&made["width"], &made["height"]), (&json!(20), &json!(10)));
    }
}

/// Makes the same call eight times at once. A rejection must state the problem or when to retry.
async fn at_once(client: &Client, operation: &str, input: &Value) -> (Vec<Reply>, String) {
    let replies = join_all((0..AT_ONCE).map(|_| client.call(operation, input.clone()))).await;
    for reply in &replies {
        assert!(matches!(reply.status, 200..=202 | 400 | 413 | 503), "{operation}: {} {}", reply.status, reply.error());
        assert_eq!(reply.status == 503, reply.header("retry-after").is_some(), "{operation}: {}", reply.error());
    }
    let statuses: Vec<u16> = replies.iter().map(|reply| reply.status).collect();
    let said = replies.iter().map(Reply::error).find(|said| !said.is_empty()).unwrap_or_default();
    let said: String = said.chars().take(80).collect();
    (replies, format!("{statuses:?} {said}"))
}

/// Regression test: eight uploads of a PNG of 292 KB, 10,000 pixels on each side, took 4,353 MiB.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_files_cost_the_server_little_memory() {
    let mut table = Table::new(&sites::settings()).await;
    let project = table.project.clone();
    for (name, file) in images() {
        let input = json!({ "projectId": project, "file": BASE64.encode(&file) });
        let work = async |client: &Client, _: &Server| at_once(client, "projects.images_upload", &input).await.1;
        table.measure(name, file.len(), work).await;
    }
    for (name, html) in emails() {
        let input = json!({ "projectId": project, "htmls": [{ "name": "x", "source": html }] });
        let work = async |client: &Client, _: &Server| at_once(client, "emails.import_html", &input).await.1;
        table.measure(name, html.len(), work).await;
    }
    table.check().await;
}

/// Regression test: all pages of a site were parsed in the server at the same time, those of four sites in parallel, so twenty pages like
/// each of these took more than a gigabyte.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_sites_cost_the_server_little_memory() {
    let mut table = Table::new(&sites::settings()).await;
    for (name, url) in hosts() {
        let work = async |client: &Client, _: &Server| {
            let import = async |site: usize| {
                let pages: Vec<String> = (0..10).map(|page| format!("{url}/{site}/{page}")).collect();
                sites::import(client, json!({ "urls": pages })).await.1
            };
            let states = join_all((0..SITES_AT_ONCE).map(import)).await;
            for state in &states {
                // A worker process either reads the site or reaches its limits.
                let error = state["error"].as_str().unwrap_or_default();
                assert!(state["status"] == "active" || error.contains("too much time or memory"), "{name}: {state}");
                assert!(state["importMetrics"]["pagesRead"].as_u64() >= Some(10), "{name}: {state}");
            }
            let statuses: Vec<&Value> = states.iter().map(|state| &state["status"]).collect();
            format!("{statuses:?}")
        };
        table.measure(name, 0, work).await;
    }
    table.check().await;
}

/// Regression test: a few kilobytes of gzip from a store unpacked to 32 MiB, which took hundreds of megabytes when they were parsed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_stores_cost_the_server_little_memory() {
    let mut table = Table::new(&sites::settings()).await;
    let project = table.project.clone();
    for (name, url) in stores() {
        let work = async |client: &Client, _: &Server| {
            for number in 0..AT_ONCE {
                let keys = json!({
                    "projectId": project, "storefrontStoreUrl": format!("{url}/{number}"), "consumerKey": WOO_KEY,
                    "consumerSecret": WOO_SECRET,
                });
                client.data("storefront.connect", keys).await;
            }
            let ended = async {
                loop {
                    let listed = client.data("storefront.list", json!({})).await;
                    let ours = |store: &&Value| store["storeUrl"].as_str().is_some_and(|known| known.starts_with(&url));
                    let stores: Vec<&Value> = listed["stores"].as_array().expect("a list").iter().filter(ours).collect();
                    let problems: Vec<&str> = stores.iter().filter_map(|store| store["sync"]["waiting"].as_str()).collect();
                    if problems.len() == AT_ONCE {
                        return problems.iter().map(|problem| (*problem).to_owned()).collect::<Vec<_>>();
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            };
            let problems = tokio::time::timeout(PATIENCE, ended).await.expect("every import meets the response");
            let is_expected = |problem: &String| {
                ["larger than", "too many values", "unexpected data"].iter().any(|part| problem.contains(part))
            };
            assert!(problems.iter().all(is_expected), "{name}: {problems:?}");
            problems[0].clone()
        };
        table.measure(name, 0, work).await;
        let listed = table.client.data("storefront.list", json!({})).await;
        for store in listed["stores"].as_array().expect("a list") {
            table.client.data("storefront.disconnect", json!({ "serverId": store["serverId"] })).await;
        }
    }
    table.check().await;
}

/// Regression test: eight compressed files of 32 MiB were in memory at the same time, each of them twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_csv_files_cost_the_server_little_memory() {
    let mut table = Table::new(&sites::settings()).await;
    let project = table.project.clone();
    for (name, url, expected) in csv_files() {
        let work = async |client: &Client, _: &Server| {
            let mut ids = Vec::new();
            for number in 0..AT_ONCE {
                let input = json!({ "projectId": project, "name": number.to_string(), "url": url, "status": "subscribed" });
                ids.push(client.data("scheduled_imports.create", input).await["id"].clone());
            }
            let ended = async {
                loop {
                    let runs = join_all(ids.iter().map(|id| client.data("scheduled_imports.get", json!({ "id": id })))).await;
                    if runs.iter().all(|run| !run["lastRun"].is_null()) {
                        return runs;
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            };
            let ended = tokio::time::timeout(PATIENCE, ended).await.expect("every run ends");
            let is_expected = |run: &Value| run["lastRun"]["error"].as_str().is_some_and(|error| error.contains(expected));
            assert!(ended.iter().all(is_expected), "{name}: {ended:?}");
            format!("{}", ended[0]["lastRun"]["error"])
        };
        table.measure(name, 0, work).await;
    }
    table.check().await;
}

/// Bodies are in memory several times: as text, as parsed data, and as the file that they contain.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_bodies_cost_the_server_little_memory() {
    let mut table = Table::new(BOUNDLESS).await;
    for (name, operation, input) in bodies(&table.project) {
        let bytes = input.to_string().len();
        let work = async |client: &Client, _: &Server| at_once(client, operation, &input).await.1;
        table.measure(name, bytes, work).await;
    }
    table.check().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_mail_costs_the_server_little_memory() {
    let mut table = Table::new(&format!("{BOUNDLESS}\n[mail]\ninbound = \"127.0.0.1:0\"\n")).await;
    for (name, message) in messages() {
        let work = async |_: &Client, server: &Server| {
            let replies = join_all((0..AT_ONCE).map(|number| bring(number, server.inbound(), &message))).await;
            let replies: Vec<String> = replies.into_iter().map(|reply| reply.expect("an answer")).collect();
            assert!(replies.iter().all(|reply| reply.starts_with(['2', '4', '5'])), "{name}: {replies:?}");
            // If all requests were rejected for lack of memory, no message was read, so one more message is sent alone.
            let alone = bring(AT_ONCE, server.inbound(), &message).await.expect("an answer");
            assert!(alone.starts_with("250") || alone.starts_with("554"), "{name}: {alone}");
            let codes: Vec<&str> = replies.iter().map(|reply| reply.get(..9).unwrap_or(reply)).collect();
            format!("{codes:?}")
        };
        table.measure(name, message.len(), work).await;
    }
    table.check().await;
}

/// Texts of users or a language model reach the MJML parser through the templates, and the worker reads the operator's fonts for each
/// character that the built-in fonts lack.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_mjml_and_fonts_cost_the_server_little_memory() {
    let fonts = tempfile::tempdir().expect("a temporary folder");
    write_fonts(fonts.path());
    let mut table = Table::new(&format!("{BOUNDLESS}\n[rendering]\nfonts = {:?}\n", fonts.path())).await;
    let project = table.project.clone();
    for (name, prompt) in prompts() {
        let input = json!({ "projectId": project, "prompt": prompt });
        let work = async |client: &Client, _: &Server| {
            let (started, answers) = at_once(client, "emails.generate", &input).await;
            format!("{answers} {:?}", ended(client, &started).await)
        };
        table.measure(name, prompt.len(), work).await;
    }
    let letters: String = ('\u{4e00}'..'\u{4e80}').chain('\u{13000}'..'\u{13080}').collect();
    let input = json!({ "projectId": project, "html": format!("<p>{letters}"), "name": "x" });
    let work = async |client: &Client, _: &Server| {
        let (started, answers) = at_once(client, "emails.import_html", &input).await;
        format!("{answers} {:?}", ended(client, &started).await)
    };
    table.measure("fonts, 15 hostile files", 0, work).await;
    table.check().await;
}
