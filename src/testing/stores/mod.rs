//! Servers on loopback that simulate the store platforms. They reject requests that the platforms' documentation does not allow, and tests
//! can make them misbehave. The integration tests also include these files.

pub mod graphql;
pub mod shopify;
pub mod woocommerce;

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use data_encoding::BASE64;
use hmac::{Hmac, KeyInit, Mac};

use super::platforms::{PlatformRequest, read_request};

pub struct StoreResponse {
    pub status: u16,
    /// Additional header lines, each with its line break.
    pub headers: String,
    pub body: String,
    /// The number of body bytes that are sent. `Content-Length` announces the whole body.
    pub sent: usize,
}

impl StoreResponse {
    pub fn new(status: u16, body: String) -> Self {
        let sent = body.len();
        Self { status, headers: String::new(), body, sent }
    }
}

/// Serves requests on a free loopback port until the process ends. Returns the address.
pub fn serve(answer: impl Fn(&PlatformRequest) -> StoreResponse + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
    let address = listener.local_addr().expect("bound");
    let answer = Arc::new(answer);
    let serve = move || {
        for mut stream in listener.incoming().flatten() {
            // A client may close the connection early.
            let Ok(asked) = read_request(&stream) else { continue };
            let StoreResponse { status, headers, body, sent } = answer(&asked);
            let head = format!(
                "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body.as_bytes()[..sent]));
        }
    };
    std::thread::Builder::new().name("stores".into()).spawn(serve).expect("a thread");
    address
}

/// Returns the HMAC-SHA256 signature of a body, in base64.
pub fn signature(body: &str, secret: &str) -> String {
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).expect("a key of any length");
    mac.update(body.as_bytes());
    BASE64.encode(&mac.finalize().into_bytes())
}
