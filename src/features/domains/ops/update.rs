//! Changes the tracking and the UTM parameters of a domain.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::domain::DomainName;
use crate::base::patch::Patch;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::domains::installation::Installation;
use crate::features::domains::model::Tracking;
use crate::features::domains::views::{DomainView, domain_view};
use crate::features::domains::{Utm, find, store};
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;

pub struct Update;

/// The changes to a domain. Omitted fields stay unchanged.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DomainPatch {
    /// The domain name, such as `example.com`.
    pub domain: DomainName,
    /// Whether opens are tracked.
    pub open_tracking: Option<bool>,
    /// Whether clicks are tracked.
    pub click_tracking: Option<bool>,
    /// Whether links use a host name inside the sending domain, which requires one more DNS record.
    pub branded_tracking: Option<bool>,
    /// The default UTM parameters (`utm_source` and so on) for links in mail from this domain, unless a campaign or send sets different
    /// ones. `{}` sets the standard defaults; `null` removes the parameters.
    #[serde(default)]
    pub utm: Patch<Utm>,
}

impl Operation for Update {
    const SPEC: Spec = Spec::patch("domains.update", "/v1/domains/{domain}", needs(Permission::DomainWrite))
        .summary("Change the tracking of a sending domain")
        .about(
            "Applies to mail that is prepared after the change. With brandedTracking, the certificate of the service, or of the reverse \
             proxy in front of it, must also cover links.<domain>. Until the record of links.<domain> is found, links use this \
             installation's own host.",
        )
        .fails(&[Code::NotFound]);
    type Input = DomainPatch;
    type Output = Done<DomainView>;

    fn example() -> (Value, Self::Output) {
        let tracking_settings = Tracking { opens: false, ..Tracking::default() };
        let view = DomainView { tracking_settings, ..DomainView::sample() };
        (json!({ "domain": "acme.example", "openTracking": false }), Done(view))
    }
}

impl Command for Update {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: DomainPatch) -> Result<Self::Output, Failure> {
        let before = find(tx, caller.account(), input.domain.as_str())?;
        let mut domain = before.clone();
        let tracking = &mut domain.tracking;
        for (given, kept) in [
            (input.open_tracking, &mut tracking.opens),
            (input.click_tracking, &mut tracking.clicks),
            (input.branded_tracking, &mut tracking.branded),
        ] {
            *kept = given.unwrap_or(*kept);
        }
        input.utm.apply(&mut domain.utm);
        if domain != before {
            domain.updated_at = tx.now();
            store::save(tx, caller.account(), Some(&before), &domain);
        }
        Ok(Done(domain_view(&domain, &Installation::of(&caller.engine.settings))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn only_given_fields_change_and_branding_needs_one_more_record() {
        let app = TestApp::with(|settings| settings.server.public_url = Some("https://mail.mill.example".into()));
        app.post("/v1/domains", json!({ "domain": "acme.example" })).data();
        let changed = app.patch("/v1/domains/acme.example", json!({ "brandedTracking": true, "openTracking": false })).data();
        let tracking = json!({ "openTracking": false, "clickTracking": true, "brandedTracking": true });
        assert_eq!(changed["trackingSettings"], tracking);
        let record =
            changed["dnsRecords"].as_array().and_then(|records| records.last()).expect("the domain has DNS records").clone();
        assert_eq!((&record["type"], &record["name"]), (&json!("CNAME"), &json!("links.acme.example")));
        assert_eq!(record["value"], "mail.mill.example");
        assert_eq!(app.patch("/v1/domains/acme.example", json!({})).data(), changed);
        let marked = app.patch("/v1/domains/acme.example", json!({ "utm": { "source": "news" } })).data();
        assert_eq!((&changed["utm"], &marked["utm"]["source"]), (&Value::Null, &json!("news")));
        assert_eq!(app.patch("/v1/domains/acme.example", json!({ "utm": null })).data()["utm"], Value::Null);
        assert_eq!(app.patch("/v1/domains/acme.example", json!({ "utm": { "hue": "x" } })).refusal().0, 400);
        assert_eq!(app.patch("/v1/domains/other.example", json!({})).refusal().0, 404);
    }
}
