//! Tests the link check with 200 links to servers that imitate the misbehavior of real servers. Each link must get the expected status;
//! addresses that are not public must not be contacted; and links that could change a subscription must not get a GET request.

mod findings;

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rcgen::{CertificateParams, KeyPair};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

use super::check::{CheckedLinks, LinkChecker, LinkOptions};
use super::model::LinkStatus::{self, Blocked, Broken, Invalid, Ok as Works, Redirected, Skipped, Unreachable, Unverifiable};
use super::model::{announces_change, may_get};
use crate::base::clock::Timestamp;
use crate::engine::fetch::{Fetch, LinkProbes, Resolve, ResolveFuture};
use crate::engine::render::inspect::{Links, inspect};
use crate::engine::settings;
use crate::engine::tasks::Tasks;
use crate::testing::START;
use crate::testing::ports::free_address;

/// The time limit for each link, long enough for a requested pause of one second.
const EACH: Duration = Duration::from_secs(4);

/// The maximum number of bytes of `huge` bodies that the server can write if the client does not read them: an upper bound on what the
/// buffers of three loopback connections hold.
const TAKEN_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A loopback server whose response depends on the path. It counts the requests for each path.
#[derive(Default)]
struct Misbehaving {
    requests: Mutex<Vec<String>>,
    counts: Mutex<HashMap<String, u32>>,
    /// The number of bytes of the `huge` body that the server has written.
    taken: AtomicU64,
}

impl Misbehaving {
    async fn talk(&self, mut stream: impl AsyncReadExt + AsyncWriteExt + Unpin) -> io::Result<()> {
        let mut request = Vec::new();
        let mut buffer = [0; 2048];
        while !request.windows(4).any(|end| end == b"\r\n\r\n") {
            match stream.read(&mut buffer).await? {
                0 => return Ok(()),
                count => request.extend_from_slice(&buffer[..count]),
            }
            // A TLS handshake arrived at a port without TLS.
            if request.starts_with(&[0x16]) {
                return stream.write_all(answer(400, "").as_bytes()).await;
            }
        }
        let request = String::from_utf8_lossy(&request).into_owned();
        let line = request.lines().next().unwrap_or_default().to_owned();
        let mut words = line.split(' ');
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let count = {
            let mut counts = self.counts.lock().expect("no panic");
            let count = counts.entry(path.to_owned()).or_default();
            *count += 1;
            *count
        };
        self.requests.lock().expect("no panic").push(format!("{method} {path}"));
        let kind = path.trim_start_matches('/').split(['/', '?']).next().unwrap_or_default();
        let answer = match kind {
            "silent" => {
                sleep(Duration::from_secs(60)).await;
                return Ok(());
            }
            "close" => return Ok(()),
            "head-closes" if method == "HEAD" => return Ok(()),
            "drip" => loop {
                stream.write_all(b"H").await?;
                sleep(Duration::from_millis(50)).await;
            },
            "endless" => loop {
                stream
                    .write_all(
                        b"HTTP/1.1 200 OK\r\nx: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n".repeat(20).as_slice(),
                    )
                    .await?;
            },
            // A server without support for HEAD or ranges, with a file of ten gigabytes.
            "huge" if method == "GET" => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n").await?;
                loop {
                    let block = [0; 64 * 1024];
                    stream.write_all(&block).await?;
                    self.taken.fetch_add(block.len() as u64, Ordering::Relaxed);
                }
            }
            "interim" => loop {
                stream.write_all(b"HTTP/1.1 103 Early Hints\r\n\r\n").await?;
            },
            "ssh" => "SSH-2.0-OpenSSH_9.6\r\n".to_owned(),
            "slow" => {
                sleep(Duration::from_millis(300)).await;
                answer(200, "")
            }
            _ => self.whole(kind, method, path, count),
        };
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    }

    fn whole(&self, kind: &str, method: &str, path: &str, count: u32) -> String {
        let is_head = method == "HEAD";
        let to = |status, target: &str| answer(status, &format!("location: {target}\r\n"));
        let rest = path.get(kind.len() + 1..).unwrap_or_default();
        let hops: u32 = path.rsplit('-').next().and_then(|hops| hops.parse().ok()).unwrap_or_default();
        match kind {
            "head405" => answer(if is_head { 405 } else { 206 }, "content-range: bytes 0-0/1234\r\n"),
            "head404" | "head-closes" => answer(if is_head { 404 } else { 200 }, ""),
            "huge" => answer(405, ""),
            // The check cannot recognize missing pages for which the server responds with status 200 or redirects to the home page.
            "soft404" => answer(200, "content-type: text/html\r\n"),
            "soft-home" => to(302, "/200"),
            "large" => answer(if is_head { 405 } else { 206 }, "content-type: image/png\r\ncontent-range: bytes 0-0/2000000\r\n"),
            // A redirect from a server with TLS to the port of the server without TLS.
            "to-plain" => to(302, &format!("http://a.test:{hops}/200")),
            "moved" => to(301, &format!("/200{rest}")),
            "https" => to(302, "https://good.test:TLS/200"),
            "chain" if hops > 0 => to(302, &format!("/chain/-{}", hops - 1)),
            "chain" => answer(200, ""),
            "loop" => to(302, path),
            "ping" => to(302, &format!("/pong{rest}")),
            "pong" => to(302, &format!("/ping{rest}")),
            "cookies" => answer(302, &format!("location: {path}\r\nset-cookie: seen=1\r\n")),
            "once500" => answer(if count == 1 { 500 } else { 200 }, ""),
            "later" => answer(if count == 1 { 429 } else { 200 }, "retry-after: 1\r\n"),
            "much-later" => answer(429, "retry-after: 3600\r\n"),
            "wall" => answer(503, "cf-mitigated: challenge\r\n"),
            "to-private" => to(302, "http://private.test/"),
            "to-address" => to(307, "http://127.0.0.2:8080/"),
            "to-metadata" => to(302, "http://169.254.169.254/latest/meta-data/"),
            "to-file" => to(302, "file:///etc/passwd"),
            "to-nothing" => answer(302, ""),
            "to-nonsense" => to(302, "http://["),
            "to-leave-page" if is_head => answer(405, ""),
            "to-leave-page" => to(302, "/unsubscribe/all"),
            "unsubscribe" => answer(if is_head { 200 } else { 500 }, ""),
            "leave" | "optout" | "confirm" | "token" => answer(403, ""),
            _ => answer(kind.parse().unwrap_or(404), ""),
        }
    }
}

fn answer(status: u16, headers: &str) -> String {
    let length = if status == 204 { "" } else { "content-length: 0\r\n" };
    format!("HTTP/1.1 {status} X\r\n{headers}{length}\r\n")
}

/// Resolves the names in these tests, and counts the lookups of each name.
struct Names(Mutex<HashMap<String, u32>>);

impl Resolve for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> ResolveFuture<'a> {
        let mut lookups = self.0.lock().expect("no panic");
        let count = lookups.entry(host.to_owned()).or_default();
        *count += 1;
        let (own, private): (IpAddr, IpAddr) = ([127, 0, 0, 1].into(), [127, 0, 0, 2].into());
        let found = match host.split(['.', '-']).next().unwrap_or_default() {
            "nowhere" => Err(io::Error::other("Name or service not known")),
            "flaky" => Err(io::Error::other("Temporary failure in name resolution")),
            "private" => Ok(vec![private]),
            "mixed" => Ok(vec![private, own]),
            // The name first resolves to the server, and then to a private address.
            "rebind" => Ok(vec![if *count == 1 { own } else { private }]),
            _ => Ok(vec![own]),
        };
        Box::pin(std::future::ready(found))
    }
}

/// Serves until the test ends. A server with TLS closes connections whose handshake fails.
async fn serve(tasks: &Tasks, server: Arc<Misbehaving>, tls: Option<TlsAcceptor>, address: &str) -> SocketAddr {
    let listener = TcpListener::bind(address).await.expect("a loopback port can be bound");
    let bound = listener.local_addr().expect("the listener is bound");
    let group = tasks.group("peer");
    tasks.attend("peer", async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (server, tls) = (server.clone(), tls.clone());
            group.spawn(async move {
                let _ = match tls {
                    None => server.talk(stream).await,
                    Some(tls) => match tls.accept(stream).await {
                        Ok(stream) => server.talk(stream).await,
                        Err(error) => Err(error),
                    },
                };
            });
        }
    });
    bound
}

/// Starts a server that closes each connection before the handshake.
async fn hang_up(tasks: &Tasks) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port can be bound");
    let bound = listener.local_addr().expect("the listener is bound");
    tasks.attend("peer", async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop::<TcpStream>(stream)
        }
    });
    bound
}

fn certificate(name: &str, years: std::ops::Range<i32>) -> (CertificateDer<'static>, TlsAcceptor) {
    let mut params = CertificateParams::new(vec![name.to_owned()]).expect("the name is valid");
    params.not_before = rcgen::date_time_ymd(years.start, 1, 1);
    params.not_after = rcgen::date_time_ymd(years.end, 1, 1);
    let key = KeyPair::generate().expect("a key can be generated");
    let der = params.self_signed(&key).expect("the certificate can be signed").der().clone();
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("the bytes are a private key");
    let builder = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().expect("the provider supports the default versions");
    let config =
        builder.with_no_client_auth().with_single_cert(vec![der.clone()], key).expect("the key belongs to the certificate");
    (der, TlsAcceptor::from(Arc::new(config)))
}

/// The paths that the test requests on each of several hosts, with the expected status of the link.
const SERVED: [(&str, LinkStatus); 44] = [
    ("/200", Works),
    ("/204", Works),
    ("/head405", Works),
    ("/head404", Works),
    ("/head-closes", Works),
    ("/slow", Works),
    ("/once500", Works),
    ("/huge", Works),
    ("/soft404", Works),
    ("/soft-home", Redirected),
    ("/later", Works),
    ("/moved", Redirected),
    ("/chain/-5", Redirected),
    ("/to-leave-page", Redirected),
    ("/404", Broken),
    ("/410", Broken),
    ("/500", Broken),
    ("/502", Broken),
    ("/400", Broken),
    ("/chain/-6", Broken),
    ("/loop", Broken),
    ("/ping", Broken),
    ("/to-nothing", Broken),
    ("/to-nonsense", Broken),
    ("/ssh", Broken),
    ("/endless", Broken),
    ("/401", Unverifiable),
    ("/403", Unverifiable),
    ("/405", Unverifiable),
    ("/451", Unverifiable),
    ("/501", Unverifiable),
    ("/999", Unverifiable),
    ("/wall", Unverifiable),
    ("/cookies", Unverifiable),
    ("/408", Unreachable),
    ("/425", Unreachable),
    ("/429", Unreachable),
    ("/much-later", Unreachable),
    ("/close", Unreachable),
    ("/interim", Unreachable),
    ("/to-private", Blocked),
    ("/to-address", Blocked),
    ("/to-metadata", Blocked),
    ("/to-file", Blocked),
];

/// Links whose status follows from the URL alone.
const STATIC: [(&str, LinkStatus); 32] = [
    ("", Invalid),
    ("#", Invalid),
    ("#missing", Invalid),
    ("#top", Skipped),
    ("javascript:alert(1)", Invalid),
    ("/relative", Invalid),
    ("page.html", Invalid),
    ("www.example.com", Invalid),
    ("//cdn.example.com/x", Invalid),
    ("http:example.com", Invalid),
    ("https://", Invalid),
    ("https://exa mple.com/", Invalid),
    ("*|UNSUB|*", Invalid),
    ("https://x.example/?id=%%id%%", Invalid),
    ("[unsubscribe]", Invalid),
    ("{{ unsubscribe }}", Invalid),
    ("{{ first_name", Invalid),
    ("https://x.example/%7B%7Bid%7D%7D", Invalid),
    ("mailto:", Invalid),
    ("mailto:ada at example.com", Invalid),
    ("tel:none", Invalid),
    ("mailto:ada@example.com?subject=Hi", Skipped),
    ("tel:+14155550123", Skipped),
    ("sms:+14155550123", Skipped),
    ("{{ unsubscribe_url }}", Skipped),
    ("https://x.example/?id={{ customer_id }}", Skipped),
    ("https://mail.example.com/u/abc", Skipped),
    ("ftp://example.com/file", Blocked),
    ("whatsapp://send?text=Hi", Blocked),
    ("http://10.0.0.1/", Blocked),
    ("https://user:password@example.com/", Blocked),
    ("http://0x7f.2/", Blocked),
];

fn fetch(names: impl Resolve, roots: Vec<CertificateDer<'static>>) -> Fetch {
    let mut settings = settings::load(settings::DEFAULT, None, &[], &[]).expect("the defaults are settings");
    settings.outbound.allow_networks = vec!["127.0.0.1/32".parse().expect("the value is a network")];
    Fetch::with(&settings, Box::new(names), roots)
}

async fn checked(links: &Links, names: impl Resolve, roots: Vec<CertificateDer<'static>>, options: LinkOptions) -> CheckedLinks {
    check(&fetch(names, roots), &LinkProbes::default(), links, options).await
}

async fn check(fetch: &Fetch, probes: &LinkProbes, links: &Links, options: LinkOptions) -> CheckedLinks {
    LinkChecker { fetch, probes, base: "https://mail.example.com", now: START }.check(links, options).await
}

fn email(cases: &[(String, LinkStatus)], rest: &str) -> Links {
    let links: String = cases.iter().map(|(url, _)| format!("<a href=\"{url}\">Shop</a>\n")).collect();
    inspect(&format!("<p id=top>{links}{rest}")).expect("the HTML is small enough").links
}

fn names() -> Names {
    Names(Mutex::default())
}

/// Returns the 200 links of the test, each with its expected status.
fn cases(port: u16, secure: &HashMap<&str, u16>, closed: u16, hung_up: u16) -> Vec<(String, LinkStatus)> {
    let mut cases: Vec<(String, LinkStatus)> = STATIC.iter().map(|(url, status)| ((*url).to_owned(), *status)).collect();
    for (number, (path, status)) in SERVED.iter().enumerate() {
        for copy in 0..3 {
            // Several links share a domain, so the limit for each domain applies.
            let (name, rest) = (format!("shop{}.test", (number + copy) % 20), path.replacen("/-", &format!("/{copy}-"), 1));
            let rest = if rest == *path { format!("{rest}/{number}-{copy}") } else { rest };
            cases.push((format!("http://{name}:{port}{rest}"), *status));
        }
    }
    let tls = |name: &str, at: &str| format!("https://{name}.test:{}/200", secure[at]);
    for (url, status) in [
        (tls("good", "good"), Works),
        (tls("old", "old"), Broken),
        (tls("other", "other"), Broken),
        (tls("unknown", "unknown"), Broken),
        (format!("https://plain.test:{port}/200"), Broken),
        (format!("https://hung-up.test:{hung_up}/"), Unreachable),
        (format!("http://mixed.test:{port}/200"), Works),
        (format!("http://private.test:{port}/200"), Blocked),
        (format!("http://127.0.0.2:{port}/200"), Blocked),
        (format!("http://closed.test:{closed}/"), Broken),
        ("http://nowhere.test/".to_owned(), Broken),
        ("http://flaky.test/".to_owned(), Unreachable),
        (format!("http://silent-1.test:{port}/silent/1"), Unreachable),
        (format!("http://silent-2.test:{port}/silent/2"), Unreachable),
        (format!("http://drip.test:{port}/drip/1"), Unreachable),
        (format!("http://leave.test:{port}/optout/now"), Unverifiable),
        (format!("http://leave.test:{port}/confirm/now"), Unverifiable),
        (format!("http://leave.test:{port}/token?t=4f8a1c09b7d2e6353e1d7c08"), Unverifiable),
    ] {
        cases.push((url, status));
    }
    for number in 0..26 {
        // The first lookup, for HEAD, returns the server; the second, for GET, returns a private address.
        cases.push((format!("http://rebind-{number}.test:{port}/head405/{number}"), Blocked));
    }
    cases
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_of_200_links_of_a_misbehaving_server_gets_its_status() {
    let tasks = Tasks::new(Handle::current());
    let server = Arc::new(Misbehaving::default());
    let port = serve(&tasks, server.clone(), None, "127.0.0.1:0").await.port();
    // A server on the same port as the first server, at an address that must not be contacted.
    let private = Arc::new(Misbehaving::default());
    serve(&tasks, private.clone(), None, &format!("127.0.0.2:{port}")).await;
    let mut roots = Vec::new();
    let mut secure = HashMap::new();
    for (name, certified, years, is_trusted) in [
        ("good", "good.test", 2025..2090, true),
        ("old", "old.test", 2020..2021, true),
        ("other", "elsewhere.test", 2025..2090, true),
        ("unknown", "unknown.test", 2025..2090, false),
    ] {
        let (root, tls) = certificate(certified, years);
        roots.extend(is_trusted.then_some(root));
        secure.insert(name, serve(&tasks, server.clone(), Some(tls), "127.0.0.1:0").await.port());
    }
    let closed = free_address().port();
    let hung_up = hang_up(&tasks).await.port();
    let mut cases = cases(port, &secure, closed, hung_up);
    // The text of the first three links announces a change, but their URLs do not. The last URL is also the URL of an image.
    let [english, dutch, vague] = ["english", "dutch", "vague"].map(|word| format!("http://leave.test:{port}/leave/{word}"));
    let token = format!("http://leave.test:{port}/token/link?t=9d2b7f1e60c3a8545b1e7d90");
    let links = email(
        &cases,
        &format!(
            "<a href=\"{english}\">Unsubscribe</a><a href=\"{dutch}\">Uitschrijven</a>\
             <div>To unsubscribe, click <a href=\"{vague}\">here</a>.</div><img src=\"{token}\"><a href=\"{token}\">Shop</a>"
        ),
    );
    cases.extend([english, dutch, vague, token].map(|url| (url, Unverifiable)));
    assert!(cases.len() >= 200, "{}", cases.len());
    let options = LinkOptions { follows: true, each: EACH, all: Duration::from_secs(60) };
    let checked = checked(&links, names(), roots, options).await;
    assert_eq!((checked.urls.len(), checked.is_complete), (cases.len(), true));
    let wrong: Vec<String> = cases
        .iter()
        .zip(&checked.urls)
        .filter(|((_, expected), found)| found.status != *expected)
        .map(|((url, expected), found)| format!("{url}: expected {expected:?}, found {:?}: {:?}", found.status, found.error))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert_eq!(*private.requests.lock().expect("no panic"), Vec::<String>::new(), "a private address was contacted");
    let requests = server.requests.lock().expect("no panic").clone();
    let changing = ["/unsubscribe", "/optout", "/confirm", "/token", "/leave"];
    let gets: Vec<&String> =
        requests.iter().filter(|one| changing.iter().any(|path| one.starts_with(&format!("GET {path}")))).collect();
    assert!(gets.is_empty(), "{gets:?}");
    assert!(
        requests.iter().any(|one| one.starts_with("HEAD /unsubscribe/all")),
        "the redirect of a GET request continues with HEAD"
    );
    let taken = server.taken.load(Ordering::Relaxed);
    assert!(taken < TAKEN_BYTES_MAX, "{taken} bytes of huge bodies were read");
    let good = checked.urls.iter().find(|one| one.url.starts_with("https://good")).and_then(|one| one.report.as_ref());
    let expires = good.and_then(|report| report.probe.trail.certificate_expires).expect("the certificate has an end");
    assert!(expires > Timestamp(START.0), "{expires}");
}

#[test]
fn words_of_unsubscribe_and_confirmation_links_announce_a_change() {
    for text in ["Afmelden", "Uitschrijven", "Отписаться", "Descadastre-se", "Bevestig je adres", "Conferma", "Austragen"]
    {
        assert!(announces_change(text), "{text}");
    }
    assert!(!announces_change("See the spring sale"));
}

#[test]
fn urls_with_tokens_get_no_get_request() {
    for token in ["4f8a1c09b7d2e6353e1d7c08", "202611290123456789012345", "QWERTYUIOPASDFGHJKLZXCVB"] {
        for url in [format!("https://a.example/?u={token}"), format!("https://a.example/l/{token}/")] {
            assert!(!may_get(&url.parse().expect("the URL is valid")), "{url}");
        }
    }
    let ordinary = "https://a.example/2026/spring-sale-for-everyone-in-town?id=1234567890";
    assert!(may_get(&ordinary.parse().expect("the URL is valid")));
}

#[tokio::test]
async fn the_time_limit_and_redirects_are_options() {
    let tasks = Tasks::new(Handle::current());
    let server = Arc::new(Misbehaving::default());
    let port = serve(&tasks, server.clone(), None, "127.0.0.1:0").await.port();
    let url = |path: &str| format!("http://a.test:{port}{path}");
    let links = email(&[(url("/moved/1"), Redirected)], "");
    let options = LinkOptions { follows: false, each: EACH, all: Duration::from_secs(20) };
    let found = checked(&links, names(), Vec::new(), options).await;
    assert_eq!((found.urls[0].status, server.requests.lock().expect("no panic").len()), (Redirected, 1));
    let links = email(&[(url("/200"), Works), (url("/silent/1"), Skipped)], "");
    let found = checked(&links, names(), Vec::new(), LinkOptions { all: Duration::from_millis(300), ..options }).await;
    let statuses: Vec<LinkStatus> = found.urls.iter().map(|one| one.status).collect();
    assert_eq!((statuses, found.is_complete), (vec![Works, Skipped], false));
    let unchecked = "1 link was not checked: the time limit was reached. Run the checks again.";
    assert_eq!(found.unchecked().as_deref(), Some(unchecked));
}

/// Regression test: after a timeout, a check with a longer time limit returned the cached timeout.
#[tokio::test]
async fn a_longer_time_limit_repeats_a_request_that_timed_out() {
    let tasks = Tasks::new(Handle::current());
    let server = Arc::new(Misbehaving::default());
    let port = serve(&tasks, server.clone(), None, "127.0.0.1:0").await.port();
    let links = email(&[(format!("http://a.test:{port}/slow/1"), Works)], "");
    let (fetch, probes) = (fetch(names(), Vec::new()), LinkProbes::default());
    let mut found = Vec::new();
    for each in [Duration::from_millis(200), Duration::from_millis(200), EACH, EACH] {
        let options = LinkOptions { follows: true, each, all: Duration::from_secs(20) };
        found.push(check(&fetch, &probes, &links, options).await.urls[0].status);
    }
    assert_eq!(found, [Unreachable, Unreachable, Works, Works]);
    assert!(server.requests.lock().expect("no panic").len() <= 2, "results are cached");
}

#[tokio::test]
async fn links_beyond_the_limit_are_skipped_and_repeated_ones_checked_once() {
    let tasks = Tasks::new(Handle::current());
    let server = Arc::new(Misbehaving::default());
    let port = serve(&tasks, server.clone(), None, "127.0.0.1:0").await.port();
    let cases: Vec<(String, LinkStatus)> =
        (0..250).map(|number| (format!("http://a{}.test:{port}/200/{}", number % 9, number % 220), Works)).collect();
    let cases: Vec<_> = cases.iter().chain(&cases).cloned().collect();
    let options = LinkOptions { follows: true, each: EACH, all: Duration::from_secs(20) };
    let found = checked(&email(&cases, ""), names(), Vec::new(), options).await;
    let count = |status| found.urls.iter().filter(|one| one.status == status).count();
    assert_eq!(count(Works), crate::vocab::limits::LINKS_CHECKED_MAX);
    assert_eq!(count(Works) + count(Skipped), found.urls.len());
    assert!(found.unchecked().is_some_and(|reason| reason.ends_with("the email has more than 200 different links.")));
    assert_eq!(server.requests.lock().expect("no panic").len(), crate::vocab::limits::LINKS_CHECKED_MAX);
}

/// The resolver of a machine without an internet connection.
struct Offline;

impl Resolve for Offline {
    fn resolve<'a>(&'a self, _: &'a str) -> ResolveFuture<'a> {
        Box::pin(std::future::ready(Err(io::Error::other("Name or service not known"))))
    }
}

#[tokio::test]
async fn a_machine_that_resolves_no_name_calls_no_link_broken() {
    let cases = ["http://shop.test/", "http://other.test/"].map(|url| (url.to_owned(), Skipped));
    let options = LinkOptions { follows: true, each: EACH, all: Duration::from_secs(20) };
    let found = checked(&email(&cases, ""), Offline, Vec::new(), options).await;
    assert!(found.urls.iter().all(|checked| checked.status == Skipped) && !found.is_complete, "{:?}", found.urls);
    assert!(found.urls[0].error.as_deref().is_some_and(|reason| reason.contains("cannot resolve host names")));
    assert_eq!(
        found.unchecked().as_deref(),
        Some("2 links were not checked: this server cannot resolve host names. Ask the operator to check its DNS settings.")
    );
}

#[test]
fn addresses_that_the_operator_allows_are_their_own() {
    let mut settings = settings::load(settings::DEFAULT, None, &[], &[]).expect("the defaults are settings");
    settings.outbound.allow_networks = vec!["127.0.0.0/8".parse().expect("the value is a network")];
    let fetch = Fetch::new(&settings);
    let own = |url: &str| super::check::is_own(&fetch, "http://10.1.1.1:8080", url);
    assert!(own("http://127.0.0.1:9000/shop") && own("http://10.1.1.1:8080/v1/images/a") && own("http://10.1.1.1:8080"));
    assert!(!own("http://10.1.1.1:80800/") && !own("http://192.0.2.1/") && !own("https://shop.example.com/") && !own("#"));
}
