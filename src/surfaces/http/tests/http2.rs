//! Tests of HTTP/2, over TLS and with prior knowledge, and of the protection against hostile clients.

use http::{Method, Request};
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};

use super::certificate::{self_signed, tls_connect};
use super::*;

type Client = SendRequest<Empty<Bytes>>;

async fn client<I>(fixture: &Fixture, io: I) -> Client
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(io)).await.expect("the server speaks HTTP/2");
    fixture.tasks.spawn("client", async move {
        let _ = connection.await;
    });
    sender
}

async fn plain_client(fixture: &Fixture) -> Client {
    client(fixture, connect(fixture.http()).await).await
}

fn request(path: &str) -> Request<Empty<Bytes>> {
    Request::get(format!("http://a{path}")).body(Empty::new()).expect("the request is valid")
}

async fn fetch(client: &mut Client, request: Request<Empty<Bytes>>) -> (StatusCode, HeaderMap, String) {
    let exchange = async {
        let response = client.send_request(request).await.expect("the server responds in time");
        let (parts, body) = response.into_parts();
        let body = body.collect().await.expect("the response body arrives completely").to_bytes();
        (parts.status, parts.headers, String::from_utf8(body.to_vec()).expect("the response is UTF-8 text"))
    };
    tokio::time::timeout(PATIENCE, exchange).await.expect("the server responds in time")
}

#[tokio::test]
async fn it_is_negotiated_over_tls_and_the_peer_is_marked_secure() {
    let (folder, options) = self_signed(Limits::default());
    let fixture = start(options).await;
    let tls = tls_connect(fixture.https(), folder.path(), "localhost", &[b"h2", b"http/1.1"])
        .await
        .expect("the client trusts the certificate");
    assert_eq!(tls.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
    let mut client = client(&fixture, tls).await;
    let (status, headers, body) = fetch(&mut client, request("/peer")).await;
    assert_eq!((status, body.as_str()), (StatusCode::OK, "Network { address: 127.0.0.1, tls: true }"));
    assert_eq!(headers["strict-transport-security"], "max-age=31536000");
    assert_eq!(headers["x-content-type-options"], "nosniff");
}

#[tokio::test]
async fn it_works_without_tls_with_prior_knowledge() {
    let fixture = start(plain(Limits::default())).await;
    let mut client = plain_client(&fixture).await;
    assert_eq!(fetch(&mut client, request("/hello")).await.2, "hello");
    assert_eq!(fetch(&mut client, request("/stream")).await.2, "one two");
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let fixture = start(plain(Limits::default())).await;
    let mut client = plain_client(&fixture).await;
    let mut head = request("/method");
    *head.method_mut() = Method::HEAD;
    let (status, headers, body) = fetch(&mut client, head).await;
    assert_eq!((status, body.as_str(), &headers["content-length"]), (StatusCode::OK, "", &HeaderValue::from_static("4")));
}

#[tokio::test]
async fn a_panic_is_a_500_and_harms_no_other_stream() {
    let fixture = start(plain(Limits::default())).await;
    let mut client = plain_client(&fixture).await;
    let mut second = client.clone();
    let held = fetch(&mut second, request("/held"));
    let fallen = async {
        fixture.requests(1).await;
        let fallen = fetch(&mut client, request("/panic")).await;
        fixture.service.release.notify_one();
        fallen
    };
    let (held, fallen) = tokio::join!(held, fallen);
    assert_eq!(fallen.0, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(fallen.2.contains("\"code\":\"INTERNAL_ERROR\""), "{}", fallen.2);
    assert_eq!(held.2, "held and let go");
}

#[tokio::test]
async fn too_many_headers_are_refused() {
    let fixture = start(plain(Limits::default())).await;
    let mut client = plain_client(&fixture).await;
    let mut many = request("/hello");
    for number in 0..65 {
        let name = http::HeaderName::try_from(format!("x-{number}")).expect("the name is valid");
        many.headers_mut().insert(name, HeaderValue::from_static("y"));
    }
    let (status, _, body) = fetch(&mut client, many).await;
    assert_eq!(status, StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE);
    assert!(body.contains("HEADERS_TOO_LARGE"), "{body}");
}

/// hyper takes a whole reply out of the body at once, and buffers what exceeds the client's window.
#[tokio::test]
async fn making_room_does_not_cut_a_large_reply_that_its_client_has_not_read() {
    let fixture = start(plain(Limits { connections: 1, ..Limits::default() })).await;
    let mut reader = plain_client(&fixture).await;
    let response =
        tokio::time::timeout(PATIENCE, reader.send_request(request("/large"))).await.expect("the server responds in time");
    let body = response.expect("the server responds in time").into_body();
    // After this pause, the reply has filled the client's window.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let mut visitor = connect(fixture.http()).await;
    send(&mut visitor, "GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_envelope(&rest(&mut visitor).await, "503", "SERVICE_UNAVAILABLE");
    let whole = tokio::time::timeout(PATIENCE, body.collect())
        .await
        .expect("the server responds in time")
        .expect("the response body arrives completely");
    assert_eq!(whole.to_bytes().len(), 8 * 1024 * 1024);
}

#[tokio::test]
async fn no_more_streams_run_in_parallel_than_allowed() {
    let fixture = start(plain(Limits { h2_streams: 2, ..Limits::default() })).await;
    let mut client = plain_client(&fixture).await;
    // Once this response has arrived, the client has also received the server's settings.
    fetch(&mut client, request("/hello")).await;
    let requests = async {
        let (mut one, mut two, mut three) = (client.clone(), client.clone(), client.clone());
        tokio::join!(fetch(&mut one, request("/held")), fetch(&mut two, request("/held")), fetch(&mut three, request("/held")))
    };
    let watch = async {
        fixture.requests(3).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(fixture.service.requests.load(SeqCst), 3, "the client does not send the fourth request yet");
        fixture.service.release.notify_one();
        fixture.requests(4).await;
        fixture.service.release.notify_one();
        fixture.service.release.notify_one();
        // `Notify` keeps at most one permit, so a permit can be lost. Permits are released until all requests are done.
        loop {
            tokio::time::sleep(Duration::from_millis(5)).await;
            fixture.service.release.notify_one();
        }
    };
    tokio::select! {
        (one, two, three) = requests => {
            assert!([one, two, three].iter().all(|(status, ..)| *status == StatusCode::OK));
        }
        () = watch => {}
    }
}

/// Returns an HTTP/2 frame: length, type, flags, stream, payload (RFC 9113 §4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut frame = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    frame.extend_from_slice(&[kind, flags]);
    frame.extend_from_slice(&stream.to_be_bytes());
    frame.extend_from_slice(payload);
    frame
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;
/// The flags END_STREAM and END_HEADERS.
const WHOLE: u8 = 5;
/// A GET request with the scheme http, the path / and the host "a", in HPACK with indexes of the static table.
const GET: &[u8] = &[0x82, 0x86, 0x84, 0x41, 0x01, b'a'];
const ENHANCE_YOUR_CALM: u32 = 0xb;

/// Returns the error code in the first GOAWAY frame.
fn goaway(mut bytes: &[u8]) -> Option<u32> {
    while bytes.len() >= 9 {
        let length = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]) as usize;
        let payload = bytes.get(9..9 + length)?;
        if bytes[3] == GOAWAY {
            return Some(u32::from_be_bytes(payload[4..8].try_into().expect("the slice has four bytes")));
        }
        bytes = &bytes[9 + length..];
    }
    None
}

/// Reproduces CVE-2023-44487: opening and immediately resetting a stream costs the client little, and such streams do not count as
/// concurrent.
#[tokio::test]
async fn a_rapid_reset_flood_ends_the_connection() {
    let fixture = start(plain(Limits::default())).await;
    let mut stream = connect(fixture.http()).await;
    let mut flood = [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat();
    for number in 0..500 {
        let id = 2 * number + 1;
        flood.extend(frame(HEADERS, WHOLE, id, GET));
        flood.extend(frame(RST_STREAM, 0, id, &8u32.to_be_bytes()));
    }
    stream.write_all(&flood).await.expect("the server accepts the bytes");
    let mut said = Vec::new();
    // The read may fail with a reset, because the server did not read the whole flood.
    let _ =
        tokio::time::timeout(PATIENCE, stream.read_to_end(&mut said)).await.expect("the server closes the connection in time");
    assert_eq!(goaway(&said), Some(ENHANCE_YOUR_CALM));
    assert!(fixture.service.requests.load(SeqCst) < 100);
}

#[tokio::test]
async fn a_client_that_does_not_answer_pings_is_disconnected() {
    let fixture = start(plain(Limits { h2_ping: Duration::from_millis(50), ..Limits::default() })).await;
    let mut stream = connect(fixture.http()).await;
    stream.write_all(&[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat()).await.expect("the server accepts the bytes");
    let mut said = Vec::new();
    let _ =
        tokio::time::timeout(PATIENCE, stream.read_to_end(&mut said)).await.expect("the server closes the connection in time");
}

#[tokio::test]
async fn an_idle_connection_is_closed_though_its_client_answers_pings() {
    let limits = Limits { idle_time: Duration::from_millis(150), h2_ping: Duration::from_millis(50), ..Limits::default() };
    let fixture = start(plain(limits)).await;
    let mut client = plain_client(&fixture).await;
    fetch(&mut client, request("/hello")).await;
    until(|| client.is_closed()).await;
    until(|| fixture.running.connections() == 0).await;
}

#[tokio::test]
async fn a_drain_finishes_running_streams() {
    let fixture = start(plain(Limits::default())).await;
    let mut client = plain_client(&fixture).await;
    let held = fetch(&mut client, request("/held"));
    let Fixture { running, service, tasks: _tasks, .. } = fixture;
    let drained = async {
        until(|| service.requests.load(SeqCst) == 1).await;
        let release = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            service.release.notify_one();
        };
        tokio::join!(running.drain(PATIENCE), release).0
    };
    let (held, drained) = tokio::join!(held, drained);
    assert_eq!(held.2, "held and let go");
    assert_eq!(drained, DrainReport { finished: 1, cut: 0 });
}
