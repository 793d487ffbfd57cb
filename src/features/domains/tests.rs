//! Tests domains against a real name server: which records are found, what is verified, and which keys then sign mail.

use serde_json::{Value, json};

use super::model::Stream;
use super::{dns_check, for_sender, store, verified_for};
use crate::base::clock::Timestamp;
use crate::base::email::EmailAddress;
use crate::testing::TestApp;
use crate::testing::name_server::NameServer;
use crate::vocab::environment::Environment;
use crate::vocab::limits;

fn app(server: &NameServer) -> TestApp {
    TestApp::with(|settings| {
        settings.mail.dns = Some(server.address);
        settings.server.public_url = Some("https://mail.mill.example".into());
    })
}

fn add(app: &TestApp, domain: &str) -> Vec<Value> {
    app.post("/v1/domains", json!({ "domain": domain })).data()["dnsRecords"]
        .as_array()
        .expect("the domain has DNS records")
        .clone()
}

/// Publishes a record in the name server exactly as the API returned it.
fn paste(server: &NameServer, record: &Value) {
    let (name, value) =
        (record["name"].as_str().expect("the record has a name"), record["value"].as_str().expect("the record has a value"));
    match record["type"].as_str() {
        Some("TXT") => server.txt(name, value),
        Some("MX") => server.mx(name, record["priority"].as_u64().expect("an MX record has a priority") as u16, value),
        Some("CNAME") => server.cname(name, value),
        kind => panic!("a record of type {kind:?}"),
    };
}

fn verify(app: &TestApp, domain: &str) -> Value {
    app.post(&format!("/v1/domains/{domain}/verify"), json!({})).data()
}

fn statuses(verified: &Value) -> Vec<&str> {
    verified["dnsRecords"]
        .as_array()
        .expect("the domain has DNS records")
        .iter()
        .map(|record| record["status"].as_str().expect("the response has a status"))
        .collect()
}

/// The domain, selectors, return path and tracking host for a From address.
type Found = (String, Vec<String>, Option<String>, Option<String>);

fn sender(app: &TestApp, from: &str) -> Option<Found> {
    let from = EmailAddress::parse(from).expect("the value is an address");
    let found =
        for_sender(&app.read(), &app.engine().seal, app.account(), &from, Stream::Marketing).expect("the data is readable")?;
    assert!(found.keys.iter().all(|key| key.private_der.expose().len() > 40));
    let selectors = found.keys.into_iter().map(|key| key.selector).collect();
    Some((found.domain, selectors, found.return_path, found.tracking_host))
}

#[test]
fn a_domain_is_verified_record_by_record() {
    let server = NameServer::start();
    let app = app(&server);
    let records = add(&app, "acme.example");
    let none = verify(&app, "acme.example");
    assert_eq!((&none["status"], statuses(&none)), (&json!("pending"), vec!["missing"; 5]));
    assert_eq!(sender(&app, "ada@acme.example"), None);
    paste(&server, &records[1]);
    let one = verify(&app, "acme.example");
    assert_eq!(one["status"], "verified");
    let verified = |from: &str| {
        let from = EmailAddress::parse(from).expect("the value is an address");
        verified_for(&app.read(), app.account(), &from, Stream::Marketing).expect("the data is readable")
    };
    assert_eq!((verified("ada@acme.example").as_deref(), verified("ada@other.example")), (Some("acme.example"), None));
    assert_eq!(statuses(&one), ["missing", "verified", "missing", "missing", "missing"]);
    let selector = |record: &Value| {
        record["name"].as_str().expect("the record has a name").split('.').next().expect("the name has a first label").to_owned()
    };
    let (domain, selectors, return_path, _) = sender(&app, "ada@acme.example").expect("a sending domain matches");
    assert_eq!((domain.as_str(), selectors, return_path), ("acme.example", vec![selector(&records[1])], None));
    for record in [&records[0], &records[2], &records[3], &records[4]] {
        paste(&server, record);
    }
    assert_eq!(statuses(&verify(&app, "acme.example")), ["verified"; 5]);
    let (_, selectors, return_path, tracking_host) = sender(&app, "ada@acme.example").expect("a sending domain matches");
    assert_eq!(selectors, [selector(&records[0]), selector(&records[1])]);
    assert_eq!((return_path.as_deref(), tracking_host), (Some("bounces.acme.example"), None));
    assert_eq!(app.get("/v1/domains/acme.example").data()["isVerified"], true);
}

#[test]
fn mismatching_records_are_shown() {
    let server = NameServer::start();
    let app = app(&server);
    let records = add(&app, "acme.example");
    server.txt(records[0]["name"].as_str().expect("the record has a name"), "v=DKIM1; p=other");
    server.mx("bounces.acme.example", 5, "elsewhere.example").txt("acme.example", "v=spf1 include:spf.example -all");
    server.txt("_dmarc.acme.example", "v=DMARC1; p=perhaps");
    let verified = verify(&app, "acme.example");
    assert_eq!(statuses(&verified), ["mismatch", "missing", "mismatch", "missing", "mismatch"]);
    assert_eq!(verified["dnsRecords"][0]["found"], json!(["v=DKIM1; p=other"]));
    assert_eq!(verified["dnsRecords"][2]["found"], json!(["5 elsewhere.example"]));
    let notes = app.get("/v1/domains/acme.example").data()["notes"].to_string();
    assert!(notes.contains("include:spf.example"), "{notes}");
}

#[test]
fn a_failing_name_server_changes_nothing() {
    let server = NameServer::start();
    let app = app(&server);
    add(&app, "acme.example").iter().for_each(|record| paste(&server, record));
    assert_eq!(verify(&app, "acme.example")["status"], "verified");
    server.fail(true);
    let failed = verify(&app, "acme.example");
    assert_eq!((&failed["status"], statuses(&failed)), (&json!("verified"), vec!["unreachable"; 5]));
    assert!(sender(&app, "ada@acme.example").is_some());
    assert!(failed["statusReason"].as_str().is_some_and(|reason| reason.contains("DNS lookup failed")));
}

#[test]
fn an_address_is_covered_by_its_domain_or_a_parent_as_alignment_allows() {
    let server = NameServer::start();
    let app = app(&server);
    for domain in ["acme.example", "strict.example"] {
        add(&app, domain).iter().filter(|record| record["purpose"] == "dkim").for_each(|record| paste(&server, record));
    }
    server.txt("_dmarc.strict.example", "v=DMARC1; p=reject; adkim=s");
    server.txt("_dmarc.acme.example", "v=DMARC1; p=none");
    verify(&app, "acme.example");
    verify(&app, "strict.example");
    let domain = |from: &str| sender(&app, from).map(|found| found.0);
    assert_eq!(domain("ada@ACME.example").as_deref(), Some("acme.example"));
    assert_eq!(domain("ada@news.shop.acme.example").as_deref(), Some("acme.example"));
    assert_eq!(domain("ada@strict.example").as_deref(), Some("strict.example"));
    assert_eq!(domain("ada@news.strict.example"), None);
    assert_eq!(domain("ada@notacme.example"), None);
    assert_eq!(domain("ada@example.org"), None);
}

#[test]
fn a_subdomain_signs_for_its_root_only_if_enabled_and_finds_dmarc_above_itself() {
    let server = NameServer::start();
    let app = app(&server);
    server.txt("_dmarc.acme.example", "v=DMARC1; p=none");
    let body = |root: &str, vanity: bool| json!({ "rootDomain": root, "stream": "marketing", "vanityRootFrom": vanity });
    for (root, vanity) in [("acme.example", true), ("plain.example", false)] {
        let made = app.post("/v1/domains/streams", body(root, vanity)).data();
        let records = made["dnsRecords"].as_array().expect("the domain has DNS records");
        records.iter().filter(|record| record["purpose"] == "dkim").for_each(|record| paste(&server, record));
    }
    assert_eq!(statuses(&verify(&app, "send.acme.example"))[4], "verified", "the root's DMARC record");
    assert_eq!(statuses(&verify(&app, "send.plain.example"))[4], "missing");
    assert_eq!(sender(&app, "ada@acme.example").expect("a subdomain matches").0, "send.acme.example");
    assert_eq!(sender(&app, "ada@send.plain.example").expect("the subdomain itself matches").0, "send.plain.example");
    assert_eq!(sender(&app, "ada@plain.example"), None);
}

#[test]
fn branded_links_require_their_record() {
    let server = NameServer::start();
    let app = app(&server);
    add(&app, "acme.example").iter().for_each(|record| paste(&server, record));
    app.patch("/v1/domains/acme.example", json!({ "brandedTracking": true })).data();
    assert_eq!(statuses(&verify(&app, "acme.example"))[5], "missing");
    assert_eq!(sender(&app, "ada@acme.example").expect("a sending domain matches").3, None);
    let address = "192.0.2.7".parse().expect("the value is an address");
    server.address("links.acme.example", address).address("mail.mill.example", address);
    assert_eq!(statuses(&verify(&app, "acme.example"))[5], "verified", "a name server may flatten names");
    server.remove("links.acme.example").cname("links.acme.example", "mail.mill.example");
    assert_eq!(statuses(&verify(&app, "acme.example"))[5], "verified");
    assert_eq!(sender(&app, "ada@acme.example").expect("a sending domain matches").3.as_deref(), Some("links.acme.example"));
}

#[test]
fn key_rotation_never_leaves_mail_unsigned() {
    let server = NameServer::start();
    let app = app(&server);
    let old = add(&app, "acme.example");
    old.iter().for_each(|record| paste(&server, record));
    verify(&app, "acme.example");
    let before = sender(&app, "ada@acme.example").expect("a sending domain matches").1;
    let rotated = app.post("/v1/domains/acme.example/rotate", json!({})).data();
    assert_eq!(rotated["rotating"], true);
    assert_eq!(app.post("/v1/domains/acme.example/rotate", json!({})).data(), rotated, "a repeated call creates no further keys");
    verify(&app, "acme.example");
    assert_eq!(sender(&app, "ada@acme.example").expect("a sending domain matches").1, before);
    let new: Vec<_> = rotated["dnsRecords"].as_array().expect("the domain has DNS records")[2..4].to_vec();
    new.iter().for_each(|record| paste(&server, record));
    let verified = verify(&app, "acme.example");
    let after = sender(&app, "ada@acme.example").expect("a sending domain matches").1;
    assert!(after.len() == 2 && after.iter().all(|selector| !before.contains(selector)), "{before:?} {after:?}");
    assert!(verified["dnsRecords"][0]["removeAfter"].is_string());
    app.clock.advance_ms(limits::DOMAIN_KEY_RETIRES_MS);
    assert_eq!(verify(&app, "acme.example")["dnsRecords"].as_array().map(Vec::len), Some(5));
}

#[test]
fn the_worker_finds_records_and_notices_when_they_disappear() {
    let server = NameServer::start();
    let app = app(&server);
    let records = add(&app, "acme.example");
    let next = || store::due(&app.read(), Timestamp(i64::MAX), 9).expect("the data is readable")[0].1.next_check;
    let work = || app.wait(dns_check::step(app.engine(), Environment::Test)).expect("the step succeeds");
    let status = || app.get("/v1/domains/acme.example").data()["status"].clone();
    assert!(!work() && server.asked() == 0, "no check is due yet");
    app.clock.advance_ms(limits::DOMAIN_CHECK_INTERVAL_MS);
    work();
    assert_eq!(status(), "pending");
    records.iter().for_each(|record| paste(&server, record));
    app.clock.advance_ms(2 * limits::DOMAIN_CHECK_INTERVAL_MS);
    work();
    assert_eq!(status(), "verified");
    for record in &records {
        server.remove(record["name"].as_str().expect("the record has a name"));
    }
    let mut checks = 0;
    while status() == "verified" {
        app.clock.advance_ms(next().expect("the domain has a next check").ms_since(app.engine().clock.now()));
        work();
        checks += 1;
    }
    assert_eq!((status(), checks), (json!("failed"), usize::from(limits::DOMAIN_MISSES_MAX)));
    assert_eq!(sender(&app, "ada@acme.example"), None);
}
