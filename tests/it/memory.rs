//! What hostile files cost the server: small files that unpack to gigabytes, sent eight at a time. Decoding happens in worker processes,
//! which have limits of their own; the server itself must not grow.
//!
//! `cargo test --test it memory -- --nocapture` prints the table.

use std::io::{Cursor, Write};
use std::net::TcpListener;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use futures_util::future::join_all;
use image::{GrayImage, ImageFormat, RgbImage, RgbaImage};
use mailmill::base::base64;
use serde_json::{Value, json};

use super::sites;
use super::support::Server;

const AT_ONCE: usize = 8;
/// What the server may grow by, whatever it is sent.
const GROWTH_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// A field of the server's status, in bytes.
fn memory(server: &Server, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).expect("it runs");
    let line = status.lines().find(|line| line.starts_with(field)).unwrap_or_else(|| panic!("{field}: {status}"));
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("a number") * 1024
}

/// Let the highest memory be counted from now on; what is in use.
fn from_now_on(server: &Server) -> u64 {
    std::fs::write(format!("/proc/{}/clear_refs", server.id()), "5").expect("it is ours");
    memory(server, "VmRSS:")
}

fn encoded(picture: impl Into<image::DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    picture.into().write_to(&mut out, format).expect("memory");
    out.into_inner()
}

/// A file with other bytes at a place, like dimensions that its pixels do not have.
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

/// A PNG of one pixel with a chunk in front of its pixels that unpacks to 100 MB.
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

/// Images by their name, each small as a file.
fn images() -> Vec<(&'static str, Vec<u8>)> {
    let vast = encoded(GrayImage::new(10_000, 10_000), ImageFormat::Png);
    let gif = encoded(RgbaImage::new(1, 1), ImageFormat::Gif);
    let jpeg = encoded(RgbImage::new(16, 16), ImageFormat::Jpeg);
    let size = jpeg.windows(2).position(|mark| mark == [0xff, 0xc0]).expect("a frame") + 5;
    let webp = encoded(RgbaImage::new(2, 2), ImageFormat::WebP);
    let lossless = webp.windows(4).position(|mark| mark == b"VP8L").expect("lossless") + 9;
    let noise = GrayImage::from_fn(2_000, 2_000, |x, y| {
        let mixed = (x.wrapping_mul(0x9e37_79b9) ^ y.wrapping_mul(0x85eb_ca6b)).wrapping_mul(0xc2b2_ae35);
        image::Luma([(mixed >> 24) as u8])
    });
    let svg = format!("<svg width='9' height='9'>{}</svg>", "<path fill='#123456'/>".repeat(130_000));
    vec![
        ("PNG, 10,000 × 10,000 grey", vast.clone()),
        ("PNG, 3,000 × 3,000 colours", encoded(RgbImage::new(3_000, 3_000), ImageFormat::Png)),
        ("PNG, 2,000 × 2,000 noise", encoded(noise, ImageFormat::Png)),
        (
            "PNG, claims 30,000 × 30,000",
            patched(encoded(RgbImage::new(1, 1), ImageFormat::Png), 16, &[0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]),
        ),
        ("PNG, colour profile of 100 MB", png_with(b"iCCP", b"a\0\0")),
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

/// Emails by their name.
fn emails() -> Vec<(&'static str, String)> {
    let vast = base64::encode(&encoded(GrayImage::new(8_000, 8_000), ImageFormat::Png));
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

/// A server whose every answer is this one, compressed by gzip if its path asks for it, until the tests end.
fn serve(files: Vec<(&'static str, &'static str, Vec<u8>)>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("bound");
    let files = Arc::new(files);
    let answer = move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 4096];
            let count = std::io::Read::read(&mut stream, &mut head).unwrap_or(0);
            let head = String::from_utf8_lossy(&head[..count]).into_owned();
            let path = head.split(' ').nth(1).unwrap_or("/");
            let Some((_, headers, body)) = files.iter().find(|(name, ..)| *name == path) else {
                let _ = stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                continue;
            };
            let _ = write!(stream, "HTTP/1.1 200 OK\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(body);
        }
    };
    std::thread::Builder::new().name("hostile site".into()).spawn(answer).expect("a thread");
    format!("http://{address}")
}

/// Sites by their name, and where they are.
fn hosts() -> Vec<(&'static str, String)> {
    const HTML: &str = "content-type: text/html\r\ncontent-encoding: gzip\r\n";
    const XML: &str = "content-type: application/gzip\r\n";
    let home = |body: &str| gzip(format!("<html><title>Acme</title><link rel=icon href=/icon>{body}").as_bytes());
    let robots = b"User-agent: *\nSitemap: /sitemap.xml.gz\n".to_vec();
    let locations = format!("<urlset>{}", "<url><loc>/a</loc></url>".repeat(2_000_000));
    let laughs = format!(
        "<!DOCTYPE a [<!ENTITY a \"{}\">]><urlset>{}",
        "x".repeat(10_000),
        "<url><loc>&a;&a;&a;</loc></url>".repeat(100_000)
    );
    let icon = icon(&encoded(GrayImage::new(10_000, 10_000), ImageFormat::Png));
    vec![
        ("page, 1 GB of gzip", serve(vec![("/", HTML, gzip(&vec![b' '; 1_000_000_000]))])),
        ("page, 4 MB of open elements", serve(vec![("/", HTML, home(&"<b>".repeat(1_300_000)))])),
        ("page, 4 MB of cells", serve(vec![("/", HTML, home(&format!("<table>{}", "<td>x".repeat(700_000))))])),
        ("icon of 100 million pixels", serve(vec![("/", HTML, home("<p>x")), ("/icon", "", icon)])),
        (
            "sitemap, 48 MB of gzip",
            serve(vec![
                ("/", HTML, home("<p>x")),
                ("/robots.txt", "", robots.clone()),
                ("/sitemap.xml.gz", XML, gzip(locations.as_bytes())),
            ]),
        ),
        (
            "sitemap, entities",
            serve(vec![
                ("/", HTML, home("<p>x")),
                ("/robots.txt", "", robots),
                ("/sitemap.xml.gz", XML, gzip(laughs.as_bytes())),
            ]),
        ),
    ]
}

/// Eight uploads of a PNG of 292 KB, 10,000 pixels on each side, once took 4,353 MiB.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_files_cost_the_server_little_memory() {
    let server = Server::start(&sites::settings());
    let client = server.all();
    let project = client.project("Hostile").await;
    let mut table = Vec::new();
    let mut measured = |name: &str, bytes: usize, before: u64, answers: String| {
        let peak = memory(&server, "VmHWM:");
        table.push((name.to_owned(), bytes, peak, peak.saturating_sub(before), answers));
    };
    for (name, file) in images() {
        let input = json!({ "projectId": project, "file": base64::encode(&file) });
        let before = from_now_on(&server);
        let replies = join_all((0..AT_ONCE).map(|_| client.call("projects.images_upload", input.clone()))).await;
        let statuses: Vec<u16> = replies.iter().map(|reply| reply.status).collect();
        assert!(statuses.iter().all(|status| matches!(status, 201 | 400 | 503)), "{name}: {statuses:?}");
        measured(name, file.len(), before, format!("{statuses:?}"));
    }
    for (name, html) in emails() {
        let input = json!({ "projectId": project, "htmls": [{ "name": "x", "source": html }] });
        let before = from_now_on(&server);
        let replies = join_all((0..AT_ONCE).map(|_| client.call("emails.import_html", input.clone()))).await;
        let statuses: Vec<u16> = replies.iter().map(|reply| reply.status).collect();
        assert!(statuses.iter().all(|status| matches!(status, 200..=202 | 400 | 413 | 503)), "{name}: {statuses:?}");
        let said = replies[0].error();
        measured(name, html.len(), before, format!("{statuses:?} {said}"));
    }
    for (name, url) in hosts() {
        let before = from_now_on(&server);
        let (_, state) = sites::import(&client, json!({ "urls": [url] })).await;
        measured(name, 0, before, state["status"].to_string());
    }
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!("{:<48} {:>9} {:>9} {:>9}", "eight at a time", "KB each", "peak MiB", "grown MiB");
    for (name, bytes, peak, growth, answers) in &table {
        println!("{name:<48} {:>9} {:>9.1} {:>9.1} {answers}", bytes / 1000, mib(*peak), mib(*growth));
    }
    let over: Vec<_> = table.iter().filter(|(_, _, _, growth, _)| *growth > GROWTH_BYTES_MAX).collect();
    assert!(over.is_empty(), "{over:#?}");
    // It still works.
    let small = base64::encode(&encoded(RgbImage::new(20, 10), ImageFormat::Png));
    let made: Value = client.data("projects.images_upload", json!({ "projectId": project, "file": small })).await;
    assert_eq!((&made["width"], &made["height"]), (&json!(20), &json!(10)));
}
