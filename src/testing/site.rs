//! A small website on loopback, for tests: it sends fixed responses by path and records the requests.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::ports::free_address;

/// The responses: the path, status, content type and body of each.
type Answers = Vec<(&'static str, u16, &'static str, Vec<u8>)>;

pub struct Site {
    address: SocketAddr,
    answers: Arc<Mutex<Answers>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// Starts a site with these responses; other paths get a 404.
    pub fn start(answers: Answers) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("bound");
        let (answers, asked) = (Arc::new(Mutex::new(answers)), Arc::new(Mutex::new(Vec::new())));
        let (for_thread, seen) = (answers.clone(), asked.clone());
        let serve = move || {
            for stream in listener.incoming().flatten() {
                // A client may close the connection early.
                let _ = talk(stream, &for_thread, &seen);
            }
        };
        std::thread::Builder::new().name("site".into()).spawn(serve).expect("a thread");
        Self { address, answers, asked }
    }

    pub fn of_page(path: &'static str, html: &str) -> Self {
        Self::start(vec![(path, 200, "text/html", html.into())])
    }

    /// Returns a site on a port where no server listens.
    pub fn closed() -> Self {
        Self { address: free_address(), answers: Arc::default(), asked: Arc::default() }
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Replaces the HTML response at a path.
    pub fn set(&self, path: &'static str, status: u16, body: &str) {
        self.set_as(path, status, "text/html", body);
    }

    /// Replaces the response at a path; `kind` is its content type.
    pub fn set_as(&self, path: &'static str, status: u16, kind: &'static str, body: &str) {
        let mut answers = self.answers.lock().expect("no panic");
        answers.retain(|(known, ..)| *known != path);
        answers.push((path, status, kind, body.into()));
    }

    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no panic").clone()
    }
}

fn talk(mut stream: TcpStream, answers: &Mutex<Answers>, asked: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut buffer = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        head.extend_from_slice(&buffer[..count]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let known = answers.lock().expect("no panic").iter().find(|(known, ..)| *known == path).cloned();
    let (_, status, kind, body) = known.unwrap_or(("", 404, "text/html", b"<h1>no</h1>".to_vec()));
    asked.lock().expect("no panic").push(path);
    write!(stream, "HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len())?;
    stream.write_all(&body)
}
