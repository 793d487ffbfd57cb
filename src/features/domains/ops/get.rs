//! Returns a sending domain.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::domain::DomainName;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::domains::find;
use crate::features::domains::installation::Installation;
use crate::features::domains::views::{DomainView, domain_view};
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;

pub struct Get;

/// The domain to get.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DomainRef {
    /// The domain name, such as `example.com`.
    pub domain: DomainName,
}

impl Operation for Get {
    const SPEC: Spec = Spec::get("domains.get", "/v1/domains/{domain}", needs(Permission::DomainRead))
        .summary("Get a sending domain")
        .about("Includes the last result for each DNS record; POST /v1/domains/{domain}/verify checks the records now.")
        .fails(&[Code::NotFound]);
    type Input = DomainRef;
    type Output = Done<DomainView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "domain": "acme.example" }), Done(DomainView::sample()))
    }
}

impl Query for Get {
    fn run(view: &View<'_>, input: DomainRef) -> Result<Self::Output, Failure> {
        let domain = find(view.tx, view.caller.account(), input.domain.as_str())?;
        Ok(Done(domain_view(&domain, &Installation::of(&view.caller.engine.settings))))
    }
}
