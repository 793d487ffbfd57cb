//! Lists the connected stores.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Counted, Failure, Operation, Query, Spec, View, needs_one};
use crate::features::projects;
use crate::features::storefront::store;
use crate::features::storefront::views::{StoreView, store_view};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::permissions::Permission;
use crate::vocab::storefronts::Storefront;

pub struct List;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListStores {
    /// Return only stores on this platform.
    pub provider: Option<Storefront>,
    /// Return only stores of the project with this ID.
    pub project_id: Option<ProjectId>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct StoreList {
    /// The stores, oldest first.
    pub stores: Vec<StoreView>,
    pub total: usize,
}

impl Operation for List {
    const SPEC: Spec = Spec::get(
        "storefront.list",
        "/v1/storefront/stores",
        needs_one(&[Permission::EmailRead, Permission::ProjectWrite]),
    )
    .summary("List connected stores")
    .about(
        "Returns the connected stores with the state of their imports, and the disconnected stores whose customers requested their \
         data. The keys are not returned.",
    )
    .blocking()
    .fails(&[Code::NotFound]);
    type Input = ListStores;
    type Output = Counted<StoreList>;

    fn example() -> (Value, Self::Output) {
        let data = StoreList { stores: vec![StoreView::sample()], total: 1 };
        (json!({ "provider": "storefront" }), Counted { data, count: 1 })
    }
}

impl Query for List {
    fn run(view: &View<'_>, input: ListStores) -> Result<Self::Output, Failure> {
        if let Some(project) = input.project_id {
            projects::require(view.tx, view.caller.account(), project)?;
        }
        let is_meant = |of: &crate::features::storefront::model::Store| {
            input.provider.is_none_or(|provider| provider == of.platform)
                && input.project_id.is_none_or(|project| project == of.project)
        };
        let shows_url = view.caller.principal.permissions().contains(Permission::ProjectWrite);
        let found = store::with_disconnected(view.tx, view.caller.account())?.into_iter().filter(is_meant);
        let mut stores: Vec<StoreView> =
            found.map(|of| store_view(view.tx, &view.caller.engine, &of, shows_url)).collect::<Result<_, _>>()?;
        stores.retain(|store| store.status != "disconnected" || !store.data_requests.is_empty());
        let count = stores.len();
        Ok(Counted { data: StoreList { stores, total: count }, count })
    }
}
