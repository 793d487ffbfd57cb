//! Tests of TLS connections to a database whose certificate was signed by a private certificate authority.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use super::*;

/// The host name in the database's certificate.
const HOST: &str = "db.example.com";

/// Creates a certificate authority, and writes its certificate to `file`.
fn authority(file: &Path) -> Issuer<'static, KeyPair> {
    let key = KeyPair::generate().expect("a key can be generated");
    let mut params = CertificateParams::new(Vec::new()).expect("a certificate without names is valid");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).expect("the certificate can be signed");
    std::fs::write(file, certificate.pem()).expect("the file can be written");
    Issuer::new(params, key)
}

/// Connects to a database, and returns whether the connection is encrypted.
fn is_encrypted(url: &str, authorities: &Path) -> Result<bool> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let mut link = Link::new(Database::new(url, Some(authorities), runtime.handle().clone())?);
    let rows = runtime.block_on(link.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()", &[]))?;
    Ok(rows[0].get(0))
}

#[test]
fn the_certificate_and_the_name_of_the_database_are_verified() {
    let (Some(plain), Some(server)) = (server(), Postgres::start()) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [right, wrong] = ["right.pem", "wrong.pem"].map(|name| folder.path().join(name));
    let (issuer, _) = (authority(&right), authority(&wrong));
    let key = KeyPair::generate().expect("a key can be generated");
    let params = CertificateParams::new(vec![HOST.to_owned()]).expect("the name is valid");
    let certificate = params.signed_by(&key, &issuer).expect("the certificate can be signed");
    server.secure(&certificate.pem(), &key.serialize_pem());
    let url_of = |server: &Postgres, host: &str, mode: &str| {
        server.database().replace("127.0.0.1", host).replace("?sslmode=disable", &format!("?hostaddr=127.0.0.1{mode}"))
    };
    for mode in ["", "&sslmode=prefer", "&sslmode=require", "&sslmode=verify-full"] {
        assert_eq!(is_encrypted(&url_of(&server, HOST, mode), &right), Ok(true), "{mode}");
    }
    assert_eq!(is_encrypted(&url_of(&server, HOST, "&sslmode=disable"), &right), Ok(false), "encryption is off");
    for (server, host, authorities, said) in [
        (&server, HOST, &wrong, "invalid peer certificate"),
        (&server, "other.example.com", &right, "not valid for name"),
        (plain, HOST, &right, "server does not support TLS"),
    ] {
        for mode in ["", "&sslmode=verify-full"] {
            let refused = is_encrypted(&url_of(server, host, mode), authorities);
            assert!(matches!(&refused, Err(Error::Database(text)) if text.contains(said)), "{said}: {refused:?}");
        }
    }
}
