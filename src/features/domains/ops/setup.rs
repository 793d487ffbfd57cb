//! Adds both sending subdomains of a root domain in one call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::stream_create::create_stream;
use crate::base::domain::DomainName;
use crate::base::text::Name;
use crate::engine::api::{Async, Context, Created, Failure, Operation, Replay, Spec, needs};
use crate::features::domains::installation::Installation;
use crate::features::domains::model::{Domain, Stream};
use crate::features::domains::views::{DomainView, domain_view};
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Setup;

/// The root domain to create sending subdomains for, and options for the subdomains.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SetUpDomains {
    /// The root domain, such as `example.com`.
    pub root_domain: DomainName,
    /// The sender's name, stored with both subdomains.
    pub from_name: Option<Name<{ limits::PERSON_NAME_CHARACTERS_MAX }>>,
    /// A project in the account. Domains belong to the account, so the API only checks that the project exists.
    pub project_id: Option<ProjectId>,
    /// Whether the subdomains sign for From addresses at the root domain itself.
    #[serde(default)]
    pub vanity_root_from: bool,
}

/// The two sending subdomains of a root domain.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SendingSubdomains {
    /// For newsletters and offers: `send.<root>`.
    pub marketing: DomainView,
    /// For transactional emails: `notify.<root>`.
    pub transactional: DomainView,
}

impl Operation for Setup {
    const SPEC: Spec = Spec::post("domains.setup", "/v1/domains/setup", needs(Permission::DomainWrite))
        .summary("Add both sending subdomains of a root domain")
        .about(
            "Adds the subdomains send and notify of the root domain, like two calls of POST /v1/domains/streams. Existing \
             subdomains are returned unchanged.",
        )
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::LimitReached]);
    type Input = SetUpDomains;
    type Output = Created<SendingSubdomains>;

    fn example() -> (Value, Self::Output) {
        let sample = |stream: Stream| DomainView {
            domain: format!("{}.acme.example", stream.label()),
            stream: Some(stream),
            from_name: Some("Acme".into()),
            ..DomainView::sample()
        };
        let input = json!({ "rootDomain": "acme.example", "fromName": "Acme", "vanityRootFrom": false });
        (input, Created(SendingSubdomains { marketing: sample(Stream::Marketing), transactional: sample(Stream::Transactional) }))
    }
}

impl Async for Setup {
    async fn run(context: Context, input: SetUpDomains) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        if let Some(project) = input.project_id {
            context.read(move |tx| projects::require(tx, account, project)).await?;
        }
        let (signs_for_root, from_name) = (input.vanity_root_from, input.from_name.map(|name| name.to_string()));
        let shape = move |domain: &mut Domain| {
            domain.signs_for_root = signs_for_root;
            domain.from_name = from_name;
        };
        let marketing = create_stream(&context, &Self::SPEC, &input.root_domain, Stream::Marketing, shape.clone()).await?;
        let transactional = create_stream(&context, &Self::SPEC, &input.root_domain, Stream::Transactional, shape).await?;
        let installation = Installation::of(&context.engine.settings);
        Ok(Created(SendingSubdomains {
            marketing: domain_view(&marketing, &installation),
            transactional: domain_view(&transactional, &installation),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn creates_both_subdomains_once() {
        let app = TestApp::new();
        let body = json!({ "rootDomain": "acme.example", "fromName": "Acme", "projectId": app.project, "vanityRootFrom": true });
        let made = app.post("/v1/domains/setup", body.clone()).data();
        assert_eq!(
            (&made["marketing"]["domain"], &made["marketing"]["stream"]),
            (&json!("send.acme.example"), &json!("marketing"))
        );
        assert_eq!(made["transactional"]["domain"], "notify.acme.example");
        assert_eq!((&made["transactional"]["fromName"], &made["marketing"]["vanityRootFrom"]), (&json!("Acme"), &json!(true)));
        assert_eq!(app.post("/v1/domains/setup", body).data(), made);
        let again = app.post("/v1/domains/streams", json!({ "rootDomain": "acme.example", "stream": "marketing" }));
        assert_eq!(again.data(), made["marketing"]);
        assert_eq!(app.get("/v1/domains").data().as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn a_project_of_another_account_is_not_found() {
        let app = TestApp::new();
        let body = json!({ "rootDomain": "acme.example", "projectId": "66f1a2b3d4e5f60718293a4b" });
        assert_eq!(app.post("/v1/domains/setup", body).refusal().0, 404);
        assert_eq!(app.get("/v1/domains").data(), json!([]));
    }
}
