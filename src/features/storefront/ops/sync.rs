//! Imports a store's products and customers again.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::storefront::model::Sync as Progress;
use crate::features::storefront::views::{StoreView, store_view};
use crate::features::storefront::{require, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::StoreId;
use crate::vocab::permissions::Permission;

pub struct Sync;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StoreRef {
    /// The ID of the connected store.
    pub server_id: StoreId,
}

impl Operation for Sync {
    const SPEC: Spec = Spec::post("storefront.sync", "/v1/storefront/stores/{serverId}/sync", needs(Permission::ProjectWrite))
        .summary("Import a store again")
        .about(
            "Starts an import of the products, and of the customers unless they are excluded. If an import is running, the new one starts \
             after it. Imports also start once a day.",
        )
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound]);
    type Input = StoreRef;
    type Output = Done<StoreView>;

    fn example() -> (Value, Self::Output) {
        let store = StoreView::sample();
        (json!({ "serverId": store.server_id }), Done(store))
    }
}

impl Command for Sync {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: StoreRef) -> Result<Self::Output, Failure> {
        let of = require(tx, caller.account(), input.server_id)?;
        let (key, now) = ((of.account, of.id), tx.now());
        let mut sync = store::sync(tx, key)?.unwrap_or_else(|| Progress::new(now));
        sync.start(now);
        store::save_sync(tx, key, &sync)?;
        Ok(Done(store_view(tx, &caller.engine, &of, true)?))
    }
}
