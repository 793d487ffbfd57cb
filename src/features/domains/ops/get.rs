//! Read one sending domain.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::domain::DomainName;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::domains::find;
use crate::features::domains::site::Site;
use crate::features::domains::views::{DomainView, view};
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;

/// `domains.get`
pub struct Get;

/// Which domain.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WhichDomain {
    /// The domain itself, like `example.com`.
    pub domain: DomainName,
}

impl Operation for Get {
    const SPEC: Spec = Spec::get("domains.get", "/v1/domains/{domain}", needs(Permission::DomainRead))
        .summary("Read one sending domain")
        .about("With its DNS records as they were last seen; POST …/verify looks at them now.")
        .fails(&[Code::NotFound]);
    type Input = WhichDomain;
    type Output = Done<DomainView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "domain": "acme.example" }), Done(DomainView::sample()))
    }
}

impl Query for Get {
    fn run(ask: &View<'_>, input: WhichDomain) -> Result<Self::Output, Failure> {
        let domain = find(ask.tx, ask.caller.account(), input.domain.as_str())?;
        Ok(Done(view(&domain, &Site::of(&ask.caller.engine.settings))))
    }
}
