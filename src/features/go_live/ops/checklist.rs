//! Returns the requirements that a brand must meet to go live, and the result of the last copy.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::email::EmailAddress;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, manager};
use crate::features::domains::{self, Stream};
use crate::features::go_live::{GoLiveStep, GoLiveView, store};
use crate::features::{contacts, projects};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::ProjectId;

pub struct Checklist;

/// The brand to check.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TestProject {
    /// The project in the test environment.
    pub project_id: ProjectId,
}

impl Operation for Checklist {
    const SPEC: Spec = Spec::get("go_live.checklist", "/v1/projects/{projectId}/go-live", manager())
        .summary("Get what a test project needs to go live")
        .about(
            "Checks for a verified domain (the default sender's domain, if a default sender is set), a postal address and a mail \
             transport, and returns the result of the last copy.",
        )
        .fails(&[Code::NotFound]);
    type Input = TestProject;
    type Output = Done<GoLiveView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b" }), Done(GoLiveView::sample()))
    }
}

impl Query for Checklist {
    fn run(view: &View<'_>, input: TestProject) -> Result<Self::Output, Failure> {
        let (engine, account, id) = (&view.caller.engine, view.caller.account(), input.project_id);
        // This is an account operation, so `view.tx` reads the control store. The brand is in the stores of the two environments.
        let [test, live] = [Environment::Test, Environment::Live].map(|environment| engine.data(environment).store.read());
        let project = projects::find(&test, account, id)?.ok_or_else(projects::not_found)?;
        let copy = store::project(&live, id)?;
        let mail = &engine.settings.mail;
        let from = project.sender.as_ref().and_then(|sender| EmailAddress::parse(&sender.from).ok());
        let domain = match &from {
            Some(from) => domains::verified_for(&live, account, from, Stream::Marketing)?,
            None => domains::verified(&live, account)?.into_iter().next(),
        };
        let added = domains::added_for(&live, account, from.as_ref(), Stream::Marketing)?;
        let address = projects::postal_address(&test, id)?;
        let steps = vec![
            domain_step(domain, added, from.as_ref()),
            GoLiveStep {
                id: "address",
                done: address.is_some(),
                message: address
                    .unwrap_or_else(|| "The brand has no postal address. Many countries require one in marketing emails.".into()),
                domain: None,
            },
            GoLiveStep {
                id: "transport",
                done: mail.has_transport(),
                message: match (mail.direct, mail.has_transport()) {
                    (true, _) => "This server delivers live email directly.".into(),
                    (false, true) => "Live email is sent through your relay.".into(),
                    (false, false) => {
                        "Live sending is not set up. Ask the operator of the server to set mail.relay or mail.direct.".into()
                    }
                },
                domain: None,
            },
        ];
        Ok(Done(GoLiveView {
            project_id: id,
            name: project.name,
            live_project_id: copy.as_ref().map(|copy| copy.live),
            copied_at: copy.as_ref().map(|copy| WireTime(copy.at)),
            copied: copy.map(|copy| copy.counts).unwrap_or_default(),
            steps,
            contacts: contacts::copy::count(&test, id)?,
        }))
    }
}

/// Returns the step that requires a verified domain. `verified` is the verified domain that mail from the default sender uses or, if there
/// is no default sender, any verified domain. `added` is the domain that would be used once it is verified.
fn domain_step(verified: Option<String>, added: Option<String>, from: Option<&EmailAddress>) -> GoLiveStep {
    let done = verified.is_some();
    let domain = added.filter(|_| !done);
    let message = match (verified, &domain, from) {
        (Some(domain), ..) => format!("{domain} is verified."),
        (None, Some(domain), _) => format!("{domain} was added but is not verified yet. Publish its DNS records."),
        (None, None, Some(from)) => {
            let own = from.domain();
            format!("{own}, the domain of the default sender, is not verified. Add it and publish its DNS records.")
        }
        (None, None, None) => "No domain is verified. Add the domain of your From address and publish its DNS records.".into(),
    };
    GoLiveStep { id: "domain", done, message, domain }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression test: the step was marked as done if any domain of the account was verified, although mail from the default sender was
    /// rejected.
    #[test]
    fn the_domain_of_the_default_sender_must_be_verified() {
        let from = EmailAddress::parse("news@acme.example").expect("the value is an address");
        let open = domain_step(None, None, Some(&from));
        assert!(!open.done && open.message.starts_with("acme.example, the domain of the default sender,"), "{open:?}");
        let own = || Some("acme.example".to_owned());
        assert!(domain_step(own(), own(), Some(&from)).done && !domain_step(None, None, None).done);
        // Regression test: the step asked users to add a domain that they had already added.
        let added = domain_step(None, own(), Some(&from));
        assert!(!added.done && added.domain == own() && added.message.contains("Publish its DNS records"), "{added:?}");
    }
}
