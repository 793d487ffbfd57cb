//! List the sending domains.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::domains::site::Site;
use crate::features::domains::store;
use crate::features::domains::views::{DomainView, view};
use crate::vocab::permissions::Permission;

/// `domains.list`
pub struct List;

/// Nothing to choose.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wanted {}

impl Operation for List {
    const SPEC: Spec = Spec::get("domains.list", "/v1/domains", needs(Permission::DomainRead))
        .summary("List sending domains")
        .about("All of them, by name, with their DNS records as they were last seen.")
        .heavy();
    type Input = Wanted;
    type Output = Done<Vec<DomainView>>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Done(vec![DomainView::sample()]))
    }
}

impl Query for List {
    fn run(ask: &View<'_>, _: Wanted) -> Result<Self::Output, Failure> {
        let site = Site::of(&ask.caller.engine.settings);
        let domains = store::all(ask.tx, ask.caller.account())?;
        Ok(Done(domains.iter().map(|domain| view(domain, &site)).collect()))
    }
}
