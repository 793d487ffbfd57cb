//! Tests of TLS: the certificate created at the first start, the operator's files, and changes to the files.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustls::RootCertStore;
use rustls::time_provider::TimeProvider;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::*;

/// A clock for rustls that returns the server's time.
#[derive(Debug)]
struct SameClock;

impl TimeProvider for SameClock {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(NOW.seconds() as u64)))
    }
}

/// Connects as a client that trusts only `cert.pem` in `folder`.
pub async fn tls_connect(
    address: SocketAddr,
    folder: &Path,
    name: &'static str,
    protocols: &[&[u8]],
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(folder.join("cert.pem")).expect("cert.pem contains a certificate"))
        .expect("the certificate can be a trusted root");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_details(provider, Arc::new(SameClock))
        .with_safe_default_protocol_versions()
        .expect("the provider supports the TLS versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let name = ServerName::try_from(name).expect("the name is valid");
    TlsConnector::from(Arc::new(config)).connect(name, connect(address).await).await
}

/// Returns options for HTTPS with a certificate created in a new folder.
pub fn self_signed(limits: Limits) -> (tempfile::TempDir, Options) {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let tls = TlsSource::SelfSigned { folder: folder.path().to_owned(), names: vec!["mail.example.com".to_owned()] };
    (folder, Options { http: None, https: Some(loopback()), tls, ..plain(limits) })
}

/// Returns options for HTTPS with certificate files that the operator provides.
fn own_files() -> (tempfile::TempDir, Options) {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    write_pair(folder.path());
    let tls = TlsSource::Files { certificate: folder.path().join("cert.pem"), key: folder.path().join("key.pem") };
    (folder, Options { http: None, https: Some(loopback()), tls, ..plain(Limits::default()) })
}

/// Writes a new certificate and key for localhost, as another tool would.
fn write_pair(folder: &Path) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate can be created");
    std::fs::write(folder.join("cert.pem"), made.cert.pem()).expect("the file can be written");
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).expect("the file can be written");
}

fn certificate(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("cert.pem")).expect("the file exists")
}

async fn trusted(address: SocketAddr, folder: &Path) -> bool {
    tls_connect(address, folder, "localhost", &[b"http/1.1"]).await.is_ok()
}

#[tokio::test]
async fn the_first_start_creates_a_certificate_valid_for_all_names() {
    let (folder, options) = self_signed(Limits::default());
    let fixture = start(options).await;
    for name in ["localhost", "127.0.0.1", "::1", "mail.example.com"] {
        let mut tls =
            tls_connect(fixture.https(), folder.path(), name, &[]).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        tls.write_all(b"GET /peer HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.expect("the server accepts the bytes");
        let mut said = String::new();
        tls.read_to_string(&mut said).await.expect("the connection ends without an error");
        assert!(said.ends_with("tls: true }"), "{said}");
        assert!(said.contains("strict-transport-security: max-age=31536000\r\n"), "{said}");
    }
    assert!(tls_connect(fixture.https(), folder.path(), "other.example.com", &[]).await.is_err());
    for file in ["cert.pem", "key.pem"] {
        let mode = std::fs::metadata(folder.path().join(file)).expect("the file exists").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}

#[tokio::test]
async fn a_second_start_keeps_it() {
    let (folder, options) = self_signed(Limits::default());
    let tls = options.tls.clone();
    start(options).await;
    let first = certificate(folder.path());
    start(Options { http: None, https: Some(loopback()), tls, ..plain(Limits::default()) }).await;
    assert_eq!(certificate(folder.path()), first);
}

#[tokio::test]
async fn a_running_server_renews_its_certificate_before_it_expires() {
    let (folder, options) = self_signed(Limits::default());
    let fixture = start(options).await;
    let first = certificate(folder.path());
    fixture.clock.advance_ms(370 * 24 * 60 * 60 * 1000);
    until(|| certificate(folder.path()) != first).await;
    // The client's clock has not advanced, so the client rejects the renewed certificate, which is valid only from a day before its
    // creation.
    let shown = async { while trusted(fixture.https(), folder.path()).await {} };
    tokio::time::timeout(PATIENCE, shown).await.expect("the server presents the new certificate in time");
}

#[tokio::test]
async fn the_operators_own_files_are_never_overwritten() {
    let (folder, options) = self_signed(Limits::default());
    // The operator's certificate lacks the name mail.example.com, so the server would replace it if Mailmill had created it.
    write_pair(folder.path());
    let first = certificate(folder.path());
    let fixture = start(options).await;
    assert!(trusted(fixture.https(), folder.path()).await);
    assert_eq!(certificate(folder.path()), first);
}

#[tokio::test]
async fn a_lone_key_is_not_overwritten() {
    let (folder, options) = self_signed(Limits::default());
    std::fs::write(folder.path().join("key.pem"), "precious").expect("the file can be written");
    let error = try_start(options).await.err().expect("the server does not start with these options").to_string();
    assert!(error.contains("a key without a certificate"), "{error}");
    assert_eq!(std::fs::read_to_string(folder.path().join("key.pem")).expect("the file still exists"), "precious");
}

#[tokio::test]
async fn changed_files_are_used_without_a_restart() {
    let (folder, options) = own_files();
    let fixture = start(options).await;
    assert!(trusted(fixture.https(), folder.path()).await);
    write_pair(folder.path());
    assert!(!trusted(fixture.https(), folder.path()).await, "the new files are not used before two checks see the same state");
    let reloaded = async { while !trusted(fixture.https(), folder.path()).await {} };
    tokio::time::timeout(PATIENCE, reloaded).await.expect("the server uses the new certificate in time");
}

#[tokio::test]
async fn a_broken_new_pair_leaves_the_old_one_in_use() {
    let (folder, options) = own_files();
    let old = tempfile::tempdir().expect("a temporary folder can be created");
    std::fs::copy(folder.path().join("cert.pem"), old.path().join("cert.pem")).expect("the file can be copied");
    let fixture = start(options).await;
    // First the key does not match the certificate, then the certificate is invalid. The server checks the files about ten times in each of
    // these states.
    let other = rcgen::KeyPair::generate().expect("a key can be generated").serialize_pem();
    for (file, content) in [("key.pem", other.as_str()), ("cert.pem", "rubbish")] {
        std::fs::write(folder.path().join(file), content).expect("the file can be written");
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(trusted(fixture.https(), old.path()).await, "after {file}");
    }
    write_pair(folder.path());
    let repaired = async { while !trusted(fixture.https(), folder.path()).await {} };
    tokio::time::timeout(PATIENCE, repaired).await.expect("the server uses a valid certificate and key again");
}

#[tokio::test]
async fn a_start_with_unusable_files_names_the_file_and_the_setting() {
    let (folder, options) = own_files();
    let other = rcgen::KeyPair::generate().expect("a key can be generated").serialize_pem();
    std::fs::write(folder.path().join("key.pem"), other).expect("the file can be written");
    let error = try_start(options).await.err().expect("the server does not start with these options").to_string();
    assert!(
        error.contains("key.pem") && error.contains("does not match the certificate") && error.contains("tls.key"),
        "{error}"
    );
}

#[tokio::test]
async fn a_handshake_that_never_comes_times_out() {
    let (_folder, options) = self_signed(Limits { handshake_time: Duration::from_millis(50), ..Limits::default() });
    let fixture = start(options).await;
    let mut silent = connect(fixture.https()).await;
    assert_eq!(rest(&mut silent).await, "");
}

#[tokio::test]
async fn only_modern_tls_versions_are_accepted() {
    let (_folder, options) = self_signed(Limits::default());
    let fixture = start(options).await;
    let mut old = connect(fixture.https()).await;
    // A ClientHello for TLS 1.1: record, handshake, version 3.2, 32 random bytes, no session, one cipher, no compression.
    let body = [&[3, 2], [7u8; 32].as_slice(), &[0, 0, 2, 0, 0x2f, 1, 0]].concat();
    let hello = [&[1, 0, 0, body.len() as u8], body.as_slice()].concat();
    old.write_all(&[&[22, 3, 1, 0, hello.len() as u8], hello.as_slice()].concat()).await.expect("the server accepts the bytes");
    let mut said = Vec::new();
    let _ = tokio::time::timeout(PATIENCE, old.read_to_end(&mut said)).await.expect("the server closes the connection in time");
    // The response must be an alert (21), not a ServerHello (22).
    assert_eq!(said.first(), Some(&21), "{said:?}");
}
