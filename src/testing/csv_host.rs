//! A loopback server for tests that serves a CSV file. It can send an ETag or redirect to another URL, and it records the status codes that
//! it sends, except for redirects.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::write::GzEncoder;

#[derive(Default)]
struct Offer {
    status: u16,
    body: Vec<u8>,
    /// An additional header line with its line break, or an empty string.
    header: &'static str,
    /// The value of the `ETag` header, which identifies the file's version; empty to send no header.
    etag: String,
    /// The status codes sent since they were last read.
    sent: Vec<u16>,
}

pub struct CsvHost {
    address: SocketAddr,
    offer: Arc<Mutex<Offer>>,
}

impl CsvHost {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("bound");
        let offer = Arc::new(Mutex::new(Offer::default()));
        let shared = offer.clone();
        let serve = move || {
            for stream in listener.incoming().flatten() {
                // A client may close the connection early.
                let _ = talk(stream, &shared);
            }
        };
        std::thread::Builder::new().name("csv host".into()).spawn(serve).expect("a thread");
        Self { address, offer }
    }

    /// Serves this file with this ETag; with an empty `etag`, sends no ETag.
    pub fn offer(&self, body: &str, etag: &str) {
        self.set(200, body.as_bytes(), etag);
    }

    /// Serves this file, compressed and without an ETag.
    pub fn offer_compressed(&self, body: &[u8]) {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(body).expect("memory");
        self.set(200, &encoder.finish().expect("memory"), "");
        self.offer.lock().expect("no panic").header = "content-encoding: gzip\r\n";
    }

    /// Responds with this status to all later requests.
    pub fn refuse(&self, status: u16) {
        self.set(status, b"", "");
    }

    fn set(&self, status: u16, body: &[u8], etag: &str) {
        let mut offer = self.offer.lock().expect("no panic");
        (offer.status, offer.body, offer.header, offer.etag) = (status, body.to_owned(), "", etag.to_owned());
    }

    pub fn url(&self) -> String {
        format!("http://{}/contacts.csv", self.address)
    }

    /// Returns a URL of this server that redirects to `to`.
    pub fn redirecting(&self, to: &str) -> String {
        format!("http://{}/to?{to}", self.address)
    }

    /// Returns the status codes of the responses since the last call.
    pub fn sent(&self) -> Vec<u16> {
        std::mem::take(&mut self.offer.lock().expect("no panic").sent)
    }
}

fn talk(mut stream: TcpStream, offer: &Mutex<Offer>) -> std::io::Result<()> {
    let (mut head, mut buffer) = (Vec::new(), [0; 2048]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        head.extend_from_slice(&buffer[..count]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default();
    if let Some(elsewhere) = path.strip_prefix("/to?") {
        return write!(stream, "HTTP/1.1 302 x\r\nlocation: {elsewhere}\r\ncontent-length: 0\r\n\r\n");
    }
    let known = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("if-none-match: ").map(str::to_owned));
    let (status, etag, header, body) = {
        let mut offer = offer.lock().expect("no panic");
        let is_known = offer.status == 200 && known.is_some_and(|known| known == offer.etag);
        let status = if is_known { 304 } else { offer.status };
        offer.sent.push(status);
        (status, offer.etag.clone(), offer.header, offer.body.clone())
    };
    let etag = if etag.is_empty() { String::new() } else { format!("etag: {etag}\r\n") };
    if status == 304 {
        return write!(stream, "HTTP/1.1 304 x\r\n{etag}\r\n");
    }
    write!(stream, "HTTP/1.1 {status} x\r\ncontent-type: text/csv\r\n{etag}{header}content-length: {}\r\n\r\n", body.len())?;
    stream.write_all(&body)
}
