//! Tests the client against servers on loopback that behave well, behave badly, or never respond.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::write::GzEncoder;
use rustls_pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::engine::settings;
use crate::engine::tasks::Tasks;

/// A time limit far beyond what requests on loopback need.
const PATIENT: Duration = Duration::from_secs(20);
/// A short time limit for servers that never respond.
const HASTY: Duration = Duration::from_millis(100);

/// What a test server sends in response, and what it does afterward.
enum Said {
    /// The server sends this and then closes the connection.
    Whole(Vec<u8>),
    /// The server sends this and then keeps the connection open without sending more.
    ThenSilence(Vec<u8>),
    /// The server sends the first part and then repeats the second part forever.
    Endless(Vec<u8>, Vec<u8>),
}

/// A test server that responds to the first request of each connection.
struct Peer {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Peer {
    async fn start(tasks: &Tasks, answer: impl Fn(&str) -> Said + Send + Sync + 'static) -> Self {
        Self::start_with(tasks, None, answer).await
    }

    async fn start_with(tasks: &Tasks, tls: Option<TlsAcceptor>, answer: impl Fn(&str) -> Said + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port can be bound");
        let address = listener.local_addr().expect("the listener is bound");
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = heads.clone();
        let (answer, group) = (Arc::new(answer), tasks.group("peer"));
        tasks.attend("peer", async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, answer, tls) = (seen.clone(), answer.clone(), tls.clone());
                group.spawn(async move {
                    match tls {
                        None => talk(stream, &seen, answer.as_ref()).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                talk(stream, &seen, answer.as_ref()).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, heads }
    }

    fn url(&self, path: &str) -> Url {
        format!("http://{}{path}", self.address).parse().expect("the value is an address")
    }

    fn named(&self, name: &str, path: &str) -> Url {
        format!("http://{name}:{}{path}", self.address.port()).parse().expect("the value is an address")
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("no holder of this lock panics").clone()
    }
}

async fn talk(
    mut stream: impl AsyncReadExt + AsyncWriteExt + Unpin,
    heads: &Mutex<Vec<String>>,
    answer: &(dyn Fn(&str) -> Said + Sync),
) {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut buffer).await {
            Ok(count) if count > 0 => request.extend_from_slice(&buffer[..count]),
            _ => return,
        }
    }
    let head = String::from_utf8_lossy(&request).into_owned();
    let said = answer(&head);
    heads.lock().expect("no holder of this lock panics").push(head);
    let (start, piece) = match said {
        Said::Whole(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
            return;
        }
        Said::ThenSilence(bytes) => (bytes, None),
        Said::Endless(bytes, piece) => (bytes, Some(piece)),
    };
    let mut alive = stream.write_all(&start).await.is_ok() && stream.flush().await.is_ok();
    match piece {
        None => std::future::pending().await,
        Some(piece) => {
            while alive {
                alive = stream.write_all(&piece).await.is_ok();
            }
        }
    }
}

/// A resolver for tests. Each lookup of a name returns the name's next list of addresses; the last list is repeated.
#[derive(Default)]
struct Names(Mutex<HashMap<&'static str, VecDeque<Vec<IpAddr>>>>);

impl Names {
    fn with(self, name: &'static str, answers: &[&[&str]]) -> Self {
        let parse =
            |addresses: &&[&str]| addresses.iter().map(|address| address.parse().expect("the value is an address")).collect();
        self.0.lock().expect("no holder of this lock panics").insert(name, answers.iter().map(parse).collect());
        self
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a> {
        let mut names = self.0.lock().expect("no holder of this lock panics");
        let found = names
            .get_mut(host)
            .map(|answers| if answers.len() > 1 { answers.pop_front().unwrap_or_default() } else { answers[0].clone() });
        Box::pin(std::future::ready(found.ok_or_else(|| io::Error::other("no such name"))))
    }
}

/// A resolver that cannot open a socket.
struct NoSockets;

impl Resolve for NoSockets {
    fn resolve<'a>(&'a self, _: &'a str) -> ResolveFuture<'a> {
        Box::pin(std::future::ready(Err(io::Error::from(rustix::io::Errno::MFILE))))
    }
}

#[tokio::test]
async fn a_lack_of_descriptors_is_not_the_hosts_failure() {
    let settings = settings::load(settings::DEFAULT, None, &[], &[]).expect("the defaults are settings");
    let fetch = Fetch::with(&settings, Box::new(NoSockets), Vec::new());
    let url = "http://shop.test/".parse().expect("the URL is valid");
    let error = fetch.get(&url, "*/*", &limits(1_000, OversizePolicy::Refuse)).await.expect_err("no name can be resolved");
    assert!(error == FetchError::NoDescriptors && error.is_passing() && !error.is_unknown_name(), "{error}");
}

fn client(allowed: &[&str], names: Names, roots: Vec<CertificateDer<'static>>) -> Fetch {
    let mut settings = settings::load(settings::DEFAULT, None, &[], &[]).expect("the defaults are settings");
    settings.outbound.allow_networks = allowed.iter().map(|network| network.parse().expect("the value is a network")).collect();
    settings.server.public_url = Some("https://mail.example.com".into());
    Fetch::with(&settings, Box::new(names), roots)
}

fn local() -> Fetch {
    client(&["127.0.0.1/32"], Names::default(), Vec::new())
}

fn limits(body_bytes: usize, overlong: OversizePolicy) -> Limits {
    Limits { head: PATIENT, total: PATIENT, body_bytes, overlong }
}

fn page(headers: &str, body: &[u8]) -> Vec<u8> {
    let mut answer = format!("HTTP/1.1 200 OK\r\n{headers}content-length: {}\r\n\r\n", body.len()).into_bytes();
    answer.extend_from_slice(body);
    answer
}

fn to(location: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n").into_bytes()
}

async fn get(fetch: &Fetch, url: &Url) -> Result<Response, FetchError> {
    fetch.get(url, "*/*", &limits(100_000, OversizePolicy::Refuse)).await
}

fn tasks() -> Tasks {
    Tasks::new(Handle::current())
}

#[tokio::test]
async fn a_page_is_fetched_with_our_name_and_without_credentials() {
    let tasks = tasks();
    let peer = Peer::start(&tasks, |_| Said::Whole(page("content-type: text/html\r\nset-cookie: a=b\r\n", b"<p>hi"))).await;
    let fetched = get(&local(), &peer.url("/a?b=c#d")).await.expect("the fetch succeeds");
    assert_eq!(
        (fetched.status.as_u16(), fetched.body.as_slice(), fetched.header("content-type")),
        (200, &b"<p>hi"[..], Some("text/html"))
    );
    let head = peer.heads().remove(0).to_ascii_lowercase();
    assert!(head.starts_with("get /a?b=c http/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("host: {}\r\n", peer.address)), "{head}");
    let version = env!("CARGO_PKG_VERSION");
    assert!(head.contains(&format!("user-agent: mailmill/{version} (+https://mail.example.com)\r\n")), "{head}");
    assert!(!head.contains("cookie") && !head.contains("authorization") && !head.contains("referer"), "{head}");
}

#[tokio::test]
async fn every_status_is_a_response() {
    let tasks = tasks();
    let peer =
        Peer::start(&tasks, |_| Said::Whole(b"HTTP/1.1 503 No\r\nretry-after: 7\r\ncontent-length: 2\r\n\r\nno".to_vec())).await;
    let fetched = get(&local(), &peer.url("/")).await.expect("a response arrives");
    assert_eq!((fetched.status.as_u16(), fetched.header("retry-after"), fetched.body.as_slice()), (503, Some("7"), &b"no"[..]));
}

#[tokio::test]
async fn redirects_are_followed_to_the_end() {
    let tasks = tasks();
    let answer = |head: &str| {
        Said::Whole(match head.split(' ').nth(1) {
            Some("/start/here") => to("../next?x=1#part"),
            Some("/next?x=1") => to("/caf\u{e9}"),
            _ => page("", b"end"),
        })
    };
    let peer = Peer::start(&tasks, answer).await;
    let fetched = get(&local(), &peer.url("/start/here")).await.expect("the fetch succeeds");
    assert_eq!((fetched.url, fetched.body.as_slice()), (peer.url("/caf%C3%A9"), &b"end"[..]));
}

#[tokio::test]
async fn a_redirect_loop_ends() {
    let tasks = tasks();
    let peer = Peer::start(&tasks, |_| Said::Whole(to("/again"))).await;
    let error = get(&local(), &peer.url("/")).await.expect_err("the redirects form a loop");
    assert!(matches!(error, FetchError::TooManyRedirects { .. }), "{error}");
    assert_eq!(peer.heads().len(), limits::FETCH_REDIRECTS_MAX + 1);
}

#[tokio::test]
async fn a_redirect_cannot_lead_where_a_url_could_not() {
    let tasks = tasks();
    let peer = Peer::start(&tasks, |head| Said::Whole(to(head.split(' ').nth(1).map_or("", |path| &path[1..])))).await;
    for location in
        ["http://169.254.169.254/latest", "http://10.0.0.1/", "http://127.0.0.2/", "http://[::1]/", "http://2852039166/"]
    {
        let error = get(&local(), &peer.url(&format!("/{location}"))).await.expect_err(location);
        assert!(matches!(error, FetchError::NotPublic { .. }), "{location}: {error}");
    }
    for (location, expected) in [
        ("file:///etc/passwd", FetchError::Scheme("file".into())),
        ("gopher://example.com/", FetchError::Scheme("gopher".into())),
        ("http://user:word@example.com/", FetchError::Credentials),
        ("http://[::1", FetchError::Redirect { host: "127.0.0.1".into() }),
    ] {
        assert_eq!(get(&local(), &peer.url(&format!("/{location}"))).await.err(), Some(expected), "{location}");
    }
    assert!(
        peer.heads()
            .iter()
            .all(|head| head.starts_with("GET /http") || head.starts_with("GET /file") || head.starts_with("GET /gopher"))
    );
}

#[tokio::test]
async fn no_spelling_of_a_private_address_is_connected_to() {
    let tasks = tasks();
    let peer = Peer::start(&tasks, |_| Said::Whole(page("", b"secret"))).await;
    let names =
        Names::default().with("inside.example", &[&["127.0.0.1"]]).with("mapped.example", &[&["::ffff:127.0.0.1", "10.0.0.1"]]);
    let fetch = client(&[], names, Vec::new());
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "[::ffff:127.0.0.1]",
        "[::1]",
        "0.0.0.0",
        "inside.example",
        "mapped.example",
    ] {
        let error = get(&fetch, &peer.named(host, "/")).await.expect_err(host);
        assert!(matches!(error, FetchError::NotPublic { .. }), "{host}: {error}");
        let relation = if host.contains("example") { "has" } else { "is" };
        assert!(error.to_string().contains(&format!(" {relation} an address that is not public")), "{host}: {error}");
    }
    assert!(peer.heads().is_empty());
}

#[tokio::test]
async fn a_name_that_changes_its_address_is_checked_each_time() {
    let tasks = tasks();
    let peer = Peer::start(&tasks, |_| Said::Whole(to("/again"))).await;
    let names = Names::default().with("rebind.example", &[&["127.0.0.1"], &["127.0.0.2"]]);
    let error = get(&client(&["127.0.0.1/32"], names, Vec::new()), &peer.named("rebind.example", "/"))
        .await
        .expect_err("the name resolves to a private address");
    assert_eq!(
        error,
        FetchError::NotPublic { host: "rebind.example".into(), address: "127.0.0.2".parse().expect("the value is an address") }
    );
    assert_eq!(peer.heads().len(), 1);
}

#[tokio::test]
async fn of_several_addresses_only_admitted_ones_are_tried() {
    let tasks = tasks();
    let peer = Peer::start(&tasks, |_| Said::Whole(page("", b"public"))).await;
    let names = Names::default().with("both.example", &[&["127.0.0.2", "127.0.0.1"]]);
    let fetched =
        get(&client(&["127.0.0.1/32"], names, Vec::new()), &peer.named("both.example", "/")).await.expect("the fetch succeeds");
    assert_eq!(fetched.body, b"public");
}

#[tokio::test]
async fn ports_of_other_services_are_rejected() {
    let names = || Names::default().with("public.example", &[&["1.1.1.1"]]);
    for port in [22, 25, 110, 443 + 1] {
        let url: Url = format!("http://public.example:{port}/").parse().expect("the value is an address");
        assert_eq!(get(&client(&[], names(), Vec::new()), &url).await.err(), Some(FetchError::Port(port)));
    }
}

#[tokio::test]
async fn an_unknown_name_and_a_closed_port_give_different_errors() {
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port can be bound");
        listener.local_addr().expect("the listener is bound")
    };
    let url: Url = format!("http://{closed}/").parse().expect("the value is an address");
    let error = get(&local(), &url).await.expect_err("no server listens");
    assert!(matches!(&error, FetchError::ConnectionRefused { .. }) && error.is_passing(), "{error}");
    let url: Url = "http://nowhere.example/".parse().expect("the value is an address");
    let error = get(&local(), &url).await.expect_err("the name does not exist");
    assert!(error.to_string().starts_with("The host name nowhere.example cannot be resolved"), "{error}");
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_rejected_or_truncated() {
    let tasks = tasks();
    let endless = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    let peer = Peer::start(&tasks, move |_| Said::Endless(endless.clone(), vec![b'x'; 4096])).await;
    let url = peer.url("/");
    let refused = local().get(&url, "*/*", &limits(10_000, OversizePolicy::Refuse)).await;
    assert_eq!(refused.err(), Some(FetchError::TooLarge { host: "127.0.0.1".into(), bytes_max: 10_000 }));
    let cut =
        local().get(&url, "*/*", &limits(10_000, OversizePolicy::Cut)).await.expect("the beginning of the response is returned");
    assert_eq!(cut.body.len(), 10_000);
}

#[tokio::test]
async fn a_small_body_that_inflates_beyond_the_limit_is_rejected_or_truncated() {
    use std::io::Write;
    let tasks = tasks();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![b' '; 20_000_000]).expect("writing to memory cannot fail");
    let bomb = page("content-encoding: gzip\r\n", &encoder.finish().expect("writing to memory cannot fail"));
    let peer = Peer::start(&tasks, move |_| Said::Whole(bomb.clone())).await;
    let refused = get(&local(), &peer.url("/")).await;
    assert_eq!(refused.err(), Some(FetchError::TooLarge { host: "127.0.0.1".into(), bytes_max: 100_000 }));
    let cut = local()
        .get(&peer.url("/"), "*/*", &limits(50_000, OversizePolicy::Cut))
        .await
        .expect("the beginning of the response is returned");
    assert_eq!(cut.body, vec![b' '; 50_000]);
}

#[tokio::test]
async fn unrequested_or_broken_compression_is_reported() {
    let tasks = tasks();
    for (encoding, body) in [("zstd", &b"x"[..]), ("gzip, gzip", b"x"), ("gzip", b"no gzip at all"), ("br", b"\xff\xff\xff\xff")]
    {
        let answer = page(&format!("content-encoding: {encoding}\r\n"), body);
        let peer = Peer::start(&tasks, move |_| Said::Whole(answer.clone())).await;
        let error = get(&local(), &peer.url("/")).await.expect_err(encoding);
        assert!(matches!(error, FetchError::Encoding { .. }), "{encoding}: {error}");
    }
}

#[tokio::test]
async fn a_silent_server_times_out() {
    let tasks = tasks();
    for partial in [&b""[..], b"HTTP/1.1 200 OK\r\nx-a: ", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"] {
        let partial = partial.to_vec();
        let peer = Peer::start(&tasks, move |_| Said::ThenSilence(partial.clone())).await;
        let limits = Limits { head: HASTY, total: HASTY, body_bytes: 100, overlong: OversizePolicy::Refuse };
        let error = local().get(&peer.url("/"), "*/*", &limits).await.expect_err("the server is silent");
        assert!(matches!(error, FetchError::TimedOut { .. }), "{error}");
    }
}

// Regression test: the error named the first host, so users checked the wrong server.
#[tokio::test]
async fn a_time_out_after_a_redirect_names_the_silent_host() {
    let tasks = tasks();
    let silent = Peer::start(&tasks, |_| Said::ThenSilence(Vec::new())).await;
    let target = silent.named("silent.test", "/");
    let first = Peer::start(&tasks, move |_| Said::Whole(to(target.as_str()))).await;
    let names = Names::default().with("first.test", &[&["127.0.0.1"]]).with("silent.test", &[&["127.0.0.1"]]);
    // The time limit is long enough for the redirect, even if the machine is busy.
    let total = Duration::from_secs(2);
    let limits = Limits { head: PATIENT, total, body_bytes: 100, overlong: OversizePolicy::Refuse };
    let fetch = client(&["127.0.0.1/32"], names, Vec::new());
    let error = fetch.get(&first.named("first.test", "/"), "*/*", &limits).await.expect_err("the second host is silent");
    assert_eq!(error, FetchError::TimedOut { host: "silent.test".into(), after: total });
}

#[tokio::test]
async fn an_endless_slow_body_times_out() {
    let tasks = tasks();
    let peer =
        Peer::start(&tasks, |_| Said::Endless(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec(), b"HTTP/1.1 103 Early\r\n\r\n".to_vec()))
            .await;
    let limits = Limits { head: HASTY, total: PATIENT, body_bytes: 100, overlong: OversizePolicy::Refuse };
    let error = local().get(&peer.url("/"), "*/*", &limits).await.expect_err("no final head arrives");
    assert!(matches!(error, FetchError::TimedOut { .. } | FetchError::Protocol { .. }), "{error}");
}

#[tokio::test]
async fn endless_and_too_many_headers_are_rejected() {
    let tasks = tasks();
    let start = b"HTTP/1.1 200 OK\r\n".to_vec();
    let mut many = start.clone();
    many.extend_from_slice("x: y\r\n".repeat(5_000).as_bytes());
    many.extend_from_slice(b"\r\n");
    let long_name = start.clone();
    for said in [
        Peer::start(&tasks, move |_| {
            Said::Endless(start.clone(), b"x-filler: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n".to_vec())
        })
        .await,
        Peer::start(&tasks, move |_| Said::Endless(long_name.clone(), vec![b'a'; 4096])).await,
        Peer::start(&tasks, move |_| Said::Whole(many.clone())).await,
    ] {
        let error = get(&local(), &said.url("/")).await.expect_err("the head is too long");
        assert!(matches!(error, FetchError::Protocol { .. }), "{error}");
    }
}

#[tokio::test]
async fn responses_that_are_not_http_or_end_early_are_reported() {
    let tasks = tasks();
    for said in [&b"SSH-2.0-OpenSSH_9.6\r\n"[..], b"", b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort"] {
        let answer = said.to_vec();
        let peer = Peer::start(&tasks, move |_| Said::Whole(answer.clone())).await;
        let error = get(&local(), &peer.url("/")).await.expect_err("the response is incomplete");
        assert!(matches!(error, FetchError::Protocol { .. }), "{error}");
    }
}

fn certificate(name: &str) -> (CertificateDer<'static>, TlsAcceptor) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).expect("a certificate can be generated");
    let der = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("the bytes are a private key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider supports the default versions");
    let config =
        builder.with_no_client_auth().with_single_cert(vec![der.clone()], key).expect("the certificate and the key are a pair");
    (der, TlsAcceptor::from(Arc::new(config)))
}

#[tokio::test]
async fn a_secure_connection_needs_a_trusted_certificate_for_the_name() {
    let tasks = tasks();
    let (root, tls) = certificate("shop.example");
    let peer = Peer::start_with(&tasks, Some(tls), |_| Said::Whole(page("", b"secure"))).await;
    let names = || Names::default().with("shop.example", &[&["127.0.0.1"]]).with("other.example", &[&["127.0.0.1"]]);
    let url = |name: &str| format!("https://{name}:{}/", peer.address.port()).parse::<Url>().expect("the value is an address");
    let trusting = client(&["127.0.0.1"], names(), vec![root]);
    assert_eq!(get(&trusting, &url("shop.example")).await.expect("the fetch succeeds").body, b"secure");
    let error = get(&trusting, &url("other.example")).await.expect_err("the certificate is for a different name");
    assert!(matches!(error, FetchError::Tls { .. }), "{error}");
    let error = get(&client(&["127.0.0.1"], names(), Vec::new()), &url("shop.example"))
        .await
        .expect_err("the certificate authority is unknown");
    assert!(matches!(error, FetchError::Tls { .. }), "{error}");
}

#[tokio::test]
async fn an_operator_endpoint_may_be_anywhere_and_gets_body_and_headers() {
    let tasks = tasks();
    let peer =
        Peer::start(&tasks, |_| Said::Whole(b"HTTP/1.1 429 Slow\r\nretry-after: 3\r\ncontent-length: 2\r\n\r\n{}".to_vec()))
            .await;
    let fetch = client(&[], Names::default(), Vec::new());
    let headers = [(http::header::AUTHORIZATION, HeaderValue::from_static("Bearer key"))];
    let url = peer.url("/v1/chat");
    let answer = fetch
        .post_json(&url, headers, r#"{"model":"m"}"#, &limits(1000, OversizePolicy::Refuse))
        .await
        .expect("a response arrives");
    assert_eq!((answer.status.as_u16(), answer.header("retry-after"), answer.body.as_slice()), (429, Some("3"), &b"{}"[..]));
    let head = peer.heads().remove(0);
    assert!(head.starts_with("POST /v1/chat HTTP/1.1\r\n") && head.ends_with("\r\n\r\n{\"model\":\"m\"}"), "{head}");
    assert!(head.contains("authorization: Bearer key\r\n") && head.contains("content-type: application/json\r\n"), "{head}");
}

#[tokio::test]
async fn an_operator_endpoint_cannot_redirect_us() {
    let tasks = tasks();
    let peer = Peer::start(&tasks, |_| Said::Whole(to("/elsewhere"))).await;
    let url = peer.url("/");
    let answer = local().post_json(&url, [], "{}", &limits(1000, OversizePolicy::Refuse)).await.expect("a response arrives");
    assert_eq!((answer.status.as_u16(), peer.heads().len()), (302, 1));
}

async fn deliver(fetch: &Fetch, url: &Url, total: Duration) -> Result<PostResponse, FetchError> {
    let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    let body = Bytes::from_static(b"{}");
    fetch.deliver(PostRequest { url, headers, body, total, read_bytes_max: 10, answer_bytes_max: 100_000 }).await
}

#[tokio::test]
async fn a_delivery_is_one_post_and_follows_no_redirect() {
    let tasks = tasks();
    let peer = Peer::start(&tasks, |_| Said::Whole(to("/elsewhere"))).await;
    let answer = deliver(&local(), &peer.url("/hook?a=b"), PATIENT).await.expect("a response arrives");
    assert_eq!(answer.status.as_u16(), 302);
    let heads = peer.heads();
    assert_eq!(heads.len(), 1);
    let head = heads[0].to_ascii_lowercase();
    assert!(head.starts_with("post /hook?a=b http/1.1\r\n") && head.contains("content-length: 2\r\n"), "{head}");
    assert!(!head.contains("user-agent") && !head.contains("accept"), "only the given headers are sent: {head}");
}

#[tokio::test]
async fn a_response_s_status_counts_and_its_beginning_is_kept() {
    let tasks = tasks();
    for (said, body) in [
        (Said::Whole(page("content-encoding: nonsense\r\n", b"0123456789abc")), &b"0123456789"[..]),
        (Said::Whole(b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nshort".to_vec()), b"short"),
        (Said::Endless(b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), b"xxxx".to_vec()), b"xxxxxxxxxx"),
    ] {
        let said = Mutex::new(Some(said));
        let next = move |_: &str| said.lock().expect("no holder of this lock panics").take().expect("there is only one request");
        let peer = Peer::start(&tasks, next).await;
        let answer = deliver(&local(), &peer.url("/"), PATIENT).await.expect("a response arrives");
        assert_eq!((answer.status.as_u16(), answer.body.as_slice()), (200, body));
    }
}

#[tokio::test]
async fn endless_interim_responses_fail_before_the_timeout() {
    let tasks = tasks();
    for interim in [&b"HTTP/1.1 100 Continue\r\n\r\n"[..], b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"] {
        let peer = Peer::start(&tasks, move |_| Said::Endless(Vec::new(), interim.to_vec())).await;
        let error = deliver(&local(), &peer.url("/"), Duration::from_secs(600)).await.expect_err("the request fails");
        assert!(matches!(error, FetchError::Protocol { .. }) && error.to_string().contains("too long"), "{error}");
    }
    let pieces = || Said::Endless(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;".to_vec(), b"a".repeat(1000));
    let peer = Peer::start(&tasks, move |_| pieces()).await;
    let answer = deliver(&local(), &peer.url("/"), Duration::from_secs(600)).await.expect("the response has a status");
    assert_eq!((answer.status.as_u16(), answer.body.len()), (200, 0));
}

#[tokio::test]
async fn a_response_that_does_not_end_in_time_is_a_failure() {
    let tasks = tasks();
    for start in [&b""[..], b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\nx"] {
        let peer = Peer::start(&tasks, move |_| Said::ThenSilence(start.to_vec())).await;
        let error = deliver(&local(), &peer.url("/"), HASTY).await.expect_err("the response is late");
        assert!(matches!(error, FetchError::TimedOut { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_receiver_with_any_private_address_gets_nothing_and_each_delivery_checks_again() {
    let tasks = tasks();
    let peer = Peer::start(&tasks, |_| Said::Whole(page("", b"ok"))).await;
    let names = Names::default()
        .with("mixed.test", &[&["127.0.0.1", "10.0.0.1"]])
        .with("turns.test", &[&["127.0.0.1"], &["10.0.0.1"], &["169.254.169.254"]]);
    let fetch = client(&["127.0.0.1/32"], names, Vec::new());
    let mixed = deliver(&fetch, &peer.named("mixed.test", "/"), PATIENT).await;
    assert!(matches!(mixed, Err(FetchError::NotPublic { .. })), "{mixed:?}");
    let url = peer.named("turns.test", "/");
    assert!(deliver(&fetch, &url, PATIENT).await.is_ok());
    for _ in 0..2 {
        let turned = deliver(&fetch, &url, PATIENT).await;
        assert!(matches!(turned, Err(FetchError::NotPublic { .. })), "{turned:?}");
    }
    assert_eq!(peer.heads().len(), 1);
}
