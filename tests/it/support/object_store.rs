//! An S3 server (moto, from PyPI) with a proxy in front of it that can fail like a network or a provider.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use super::{free_address, python_with};

const BUCKET: &str = "backups";
const PATIENCE: Duration = Duration::from_secs(300);

/// How the proxy treats requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Weather {
    Fine,
    /// Every request gets a 503.
    Unavailable,
    /// The credentials were revoked: every request gets a 403.
    Revoked,
    /// Connections end in the middle of an upload.
    CutUploads,
    /// Every second upload is stored only in part, although the response reports success.
    HalfUploads,
    /// Uploads are stored, but every second response is lost.
    LostResponses,
}

/// A running S3 server with an empty bucket.
pub struct ObjectStore {
    child: Child,
    backend: SocketAddr,
    proxy: SocketAddr,
    weather: Arc<AtomicU8>,
    uploads: Arc<AtomicU64>,
}

impl ObjectStore {
    /// Starts the server; `None`, with a note, if moto is not installed.
    pub fn start() -> Option<Self> {
        let python = python_with("moto.server, flask")?;
        let free = free_address();
        let port = free.port().to_string();
        let mut command = Command::new(python);
        command.args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port]).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("moto starts");
        let started = std::time::Duration::from_millis(100);
        let tries = PATIENCE.as_millis() / started.as_millis();
        let is_up = (0..tries).any(|_| {
            std::thread::sleep(started);
            TcpStream::connect(free).is_ok()
        });
        assert!(is_up, "moto accepts connections");
        let (weather, uploads) = (Arc::new(AtomicU8::new(Weather::Fine as u8)), Arc::new(AtomicU64::new(0)));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let proxy = listener.local_addr().expect("an address");
        let (own, count) = (weather.clone(), uploads.clone());
        let accept = move || {
            for client in listener.incoming().flatten() {
                let (weather, count) = (own.clone(), count.clone());
                let serve = move || drop(serve(client, free, &weather, &count));
                std::thread::Builder::new().name("object store proxy".into()).spawn(serve).expect("a thread");
            }
        };
        std::thread::Builder::new().name("object store proxy".into()).spawn(accept).expect("a thread");
        let store = Self { child, backend: free, proxy, weather, uploads };
        store.request("PUT", &format!("/{BUCKET}"));
        Some(store)
    }

    pub fn set(&self, weather: Weather) {
        self.weather.store(weather as u8, Ordering::SeqCst);
    }

    /// Returns the settings of a backup to the prefix `prefix`.
    pub fn settings(&self, prefix: &str) -> String {
        format!(
            "[backup]\nurl = \"{}\"\nendpoint = \"http://{}\"\nregion = \"us-east-1\"\naccess_key = \"id\"\nsecret_key = \"secret\"\n\
             interval_seconds = 1\ndrill_days = 0\n",
            Self::url(prefix),
            self.proxy
        )
    }

    pub fn url(prefix: &str) -> String {
        format!("s3://{BUCKET}/{prefix}")
    }

    /// Returns the names of all objects, from the server itself.
    pub fn objects(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut after = String::new();
        loop {
            let listed = self.request("GET", &format!("/{BUCKET}?list-type=2&max-keys=1000&start-after={after}"));
            let found: Vec<String> =
                listed.split("<Key>").skip(1).filter_map(|rest| Some(rest.split_once("</Key>")?.0.to_owned())).collect();
            let Some(last) = found.last() else { return names };
            after = last.replace('/', "%2F");
            names.extend(found);
        }
    }

    /// Deletes an object.
    pub fn delete(&self, name: &str) {
        self.request("DELETE", &format!("/{BUCKET}/{name}"));
    }

    fn request(&self, method: &str, path: &str) -> String {
        let mut stream = TcpStream::connect(self.backend).expect("moto accepts connections");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time limit");
        // The server requires credentials for some requests but does not check the signature.
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Length: 0\r\nConnection: close\r\nAuthorization: AWS4-HMAC-SHA256 \
             Credential=id/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0\r\n\r\n",
            self.backend
        );
        stream.write_all(head.as_bytes()).expect("the request is sent");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("the response is text");
        response
    }

    /// Returns how many uploads passed the proxy.
    pub fn uploads(&self) -> u64 {
        self.uploads.load(Ordering::SeqCst)
    }
}

impl Drop for ObjectStore {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Handles the one request of a connection.
fn serve(mut client: TcpStream, backend: SocketAddr, weather: &AtomicU8, uploads: &AtomicU64) -> std::io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(client.try_clone()?);
    let (mut head, mut length) = (Vec::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            // The client was killed before its request was complete.
            return Ok(());
        }
        if line == "\r\n" {
            break;
        }
        if let Some((name, value)) = line.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length")) {
            length = value.trim().parse().unwrap_or_else(|_| panic!("{name} is a number"));
            continue;
        }
        head.push(line);
    }
    let is_upload = head.first().is_some_and(|line| line.starts_with("PUT"));
    let number = if is_upload { uploads.fetch_add(1, Ordering::SeqCst) } else { 0 };
    let is_second = number % 2 == 1;
    let now = weather.load(Ordering::SeqCst);
    let is = |kind: Weather| now == kind as u8;
    let refuse = |client: &mut TcpStream, status: &str, code: &str| {
        let body = format!("<Error><Code>{code}</Code><Message>no</Message></Error>");
        let length = body.len();
        client.write_all(format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}").as_bytes())
    };
    let mut body = vec![0; length];
    if is(Weather::CutUploads) && is_upload {
        reader.read_exact(&mut body[..length / 2])?;
        return Ok(());
    }
    reader.read_exact(&mut body)?;
    if is(Weather::Unavailable) {
        return refuse(&mut client, "503 Service Unavailable", "ServiceUnavailable");
    }
    if is(Weather::Revoked) {
        return refuse(&mut client, "403 Forbidden", "InvalidAccessKeyId");
    }
    if is(Weather::HalfUploads) && is_upload && is_second {
        body.truncate(length / 2);
    }
    let mut server = TcpStream::connect(backend)?;
    server.set_read_timeout(Some(PATIENCE))?;
    let head = format!("{}Content-Length: {}\r\n\r\n", head.concat(), body.len());
    server.write_all(head.as_bytes())?;
    server.write_all(&body)?;
    let mut response = Vec::new();
    server.read_to_end(&mut response)?;
    if is(Weather::LostResponses) && is_upload && is_second {
        return Ok(());
    }
    client.write_all(&response)
}

/// Returns the total size of the files in a folder and its subfolders.
pub fn folder_bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(
            |entry| {
                if entry.path().is_dir() { folder_bytes(&entry.path()) } else { entry.metadata().map_or(0, |found| found.len()) }
            },
        )
        .sum()
}
