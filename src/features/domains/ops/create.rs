//! Adds a sending domain.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::domain::DomainName;
use crate::base::text::ShortText;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Async, Context, Created, Failure, Operation, Replay, Spec, needs};
use crate::features::domains::ensure::ensure;
use crate::features::domains::installation::Installation;
use crate::features::domains::model::{RecordStatus, Status};
use crate::features::domains::views::{DomainView, domain_view};
use crate::vocab::codes::Code;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Create;

/// The sending domain to add.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDomain {
    /// The domain name, such as `example.com`. International names are accepted.
    pub domain: DomainName,
    /// Accepted and ignored, because this installation sends the mail. The response contains `local`.
    #[allow(dead_code, reason = "the API accepts and ignores the field")]
    pub region: Option<ShortText<{ limits::REGION_CHARACTERS_MAX }>>,
}

impl Operation for Create {
    const SPEC: Spec = Spec::post("domains.create", "/v1/domains", needs(Permission::DomainWrite))
        .summary("Add a sending domain")
        .about(
            "Creates the domain's DKIM keys and returns the DNS records to add. Mailmill checks the records automatically: for \
             three days, and daily once the domain is verified. POST /v1/domains/{domain}/verify checks them immediately. You can \
             send from the domain, and from its subdomains, once one DKIM record is found; the other records are recommended. An \
             existing domain is returned unchanged.",
        )
        .replay(Replay::Keyed)
        .fails(&[Code::LimitReached]);
    type Input = NewDomain;
    type Output = Created<DomainView>;

    fn example() -> (Value, Self::Output) {
        let mut view = DomainView {
            status: Status::Pending,
            is_verified: false,
            checked_at: None,
            created_at: WireTime::sample(),
            ..DomainView::sample()
        };
        for record in &mut view.dns_records {
            record.status = RecordStatus::Pending;
        }
        (json!({ "domain": "acme.example" }), Created(view))
    }
}

impl Async for Create {
    async fn run(context: Context, input: NewDomain) -> Result<Self::Output, Failure> {
        let NewDomain { domain, region: _ } = input;
        let domain = ensure(&context, &Self::SPEC, domain.as_str().to_owned(), |_| {}).await?;
        Ok(Created(domain_view(&domain, &Installation::of(&context.engine.settings))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    fn app() -> TestApp {
        TestApp::with(|settings| settings.server.public_url = Some("https://mail.mill.example".into()))
    }

    #[test]
    fn returns_the_records_to_paste_and_no_secrets() {
        let app = app();
        let answer = app.post("/v1/domains", json!({ "domain": "Acme.EXAMPLE." }));
        assert_eq!(answer.status, 201);
        let made = answer.data();
        assert_eq!(
            (&made["domain"], &made["status"], &made["isVerified"]),
            (&json!("acme.example"), &json!("pending"), &json!(false))
        );
        let records = made["dnsRecords"].as_array().expect("the domain has DNS records");
        let shown: Vec<_> = records.iter().map(|record| (record["type"].as_str(), record["purpose"].as_str())).collect();
        let wanted = [("TXT", "dkim"), ("TXT", "dkim"), ("MX", "return_path"), ("TXT", "spf"), ("TXT", "dmarc")];
        assert_eq!(shown, wanted.map(|(kind, purpose)| (Some(kind), Some(purpose))));
        assert!(records.iter().all(|record| record["status"] == "pending"));
        let required: Vec<_> = records.iter().filter(|record| record["required"] == true).collect();
        assert_eq!(required.len(), 1);
        assert_eq!((&records[2]["name"], &records[2]["value"]), (&json!("bounces.acme.example"), &json!("mail.mill.example")));
        let key = records[0]["value"].as_str().expect("the record has a value");
        assert!(key.starts_with("v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA"), "{key}");
        assert_eq!(app.get("/v1/domains/acme.example").data(), made);
        assert_eq!(app.get("/v1/domains").data(), json!([made]));
    }

    #[test]
    fn a_region_is_accepted_and_ignored() {
        let app = app();
        let made = app.post("/v1/domains", json!({ "domain": "acme.example", "region": "eu-west-1" }));
        assert_eq!((made.status, &made.data()["region"]), (201, &json!("local")));
    }

    #[test]
    fn a_repeat_returns_the_same_keys() {
        let app = app();
        let first = app.post("/v1/domains", json!({ "domain": "acme.example" })).data();
        assert_eq!(app.post("/v1/domains", json!({ "domain": "ACME.example" })).data(), first);
    }

    #[test]
    fn without_a_public_name_there_is_a_note_and_no_bounce_records() {
        let app = TestApp::new();
        let made = app.post("/v1/domains", json!({ "domain": "acme.example" })).data();
        assert_eq!(made["dnsRecords"].as_array().map(Vec::len), Some(3));
        assert!(made["notes"][0].as_str().is_some_and(|note| note.contains("server.public_url")));
    }

    #[test]
    fn invalid_and_public_suffix_domains_are_refused() {
        let app = TestApp::new();
        for given in ["acme", "co.uk", "https://acme.example", "ada@acme.example", "192.0.2.1"] {
            let answer = app.post("/v1/domains", json!({ "domain": given }));
            let (status, code, detail) = answer.refusal();
            assert_eq!((status, code), (400, "INVALID_REQUEST"));
            assert!(detail.starts_with("domain: "), "{detail}");
        }
    }
}
