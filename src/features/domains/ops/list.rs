//! Lists the sending domains.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Counted, Failure, Limit, Offset, Operation, Query, Spec, View, needs};
use crate::features::domains::installation::Installation;
use crate::features::domains::store;
use crate::features::domains::views::{DomainView, domain_view};
use crate::vocab::permissions::Permission;

pub struct List;

/// The part of the list to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListDomains {
    /// The maximum number of domains to return. If absent, all domains are returned.
    pub limit: Option<Limit>,
    /// The number of domains to skip.
    pub offset: Option<Offset>,
}

impl Operation for List {
    const SPEC: Spec = Spec::get("domains.list", "/v1/domains", needs(Permission::DomainRead))
        .summary("List sending domains")
        .about("Sorted by name. Each DNS record has the result of its last check.")
        .blocking();
    type Input = ListDomains;
    type Output = Counted<Vec<DomainView>>;

    fn example() -> (Value, Self::Output) {
        (json!({}), Counted { data: vec![DomainView::sample()], count: 1 })
    }
}

impl Query for List {
    fn run(view: &View<'_>, input: ListDomains) -> Result<Self::Output, Failure> {
        let installation = Installation::of(&view.caller.engine.settings);
        let domains = store::all(view.tx, view.caller.account())?;
        let limit = input.limit.map_or(usize::MAX, |limit| limit.0 as usize);
        let shown = domains.iter().skip(input.offset.map_or(0, |offset| offset.get() as usize)).take(limit);
        Ok(Counted { data: shown.map(|domain| domain_view(domain, &installation)).collect(), count: domains.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn limit_and_offset_page_through_the_list() {
        let app = TestApp::new();
        for domain in ["a.example", "b.example", "c.example"] {
            app.post("/v1/domains", json!({ "domain": domain }));
        }
        let names = |query: &str| -> Vec<String> {
            let list = app.get(&format!("/v1/domains{query}")).data();
            list.as_array()
                .expect("the value is a list")
                .iter()
                .filter_map(|one| one["domain"].as_str().map(str::to_owned))
                .collect()
        };
        assert_eq!(names(""), ["a.example", "b.example", "c.example"]);
        assert_eq!(
            (names("?limit=2"), names("?limit=1&offset=1"), names("?offset=2")),
            (vec!["a.example".into(), "b.example".into()], vec!["b.example".into()], vec!["c.example".into()])
        );
    }
}
