//! Disconnects a store.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::sync::StoreRef;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::engine::store::{ReadTx, WriteTx};
use crate::features::connections::PlatformError;
use crate::features::projects::shop_products;
use crate::features::storefront::views::{StoreView, webhook_url};
use crate::features::storefront::{install, keys, model, platform, require, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::StoreId;
use crate::vocab::permissions::Permission;

pub struct Disconnect;

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DisconnectedStore {
    /// The ID of the store.
    pub id: StoreId,
    /// Always true in a successful response.
    pub deleted: bool,
    /// Whether the store's webhooks were removed. If not, the store stops sending them after their URL has been invalid for a while.
    pub webhooks_removed: bool,
}

impl Operation for Disconnect {
    const SPEC: Spec = Spec::delete("storefront.disconnect", "/v1/storefront/stores/{serverId}", needs(Permission::ProjectWrite))
        .summary("Disconnect a store")
        .about(
            "Removes the webhooks at the store and deletes the stored keys. Imported products and contacts are kept. The keys themselves stay \
             valid until you revoke them on the platform.",
        )
        .fails(&[Code::NotFound]);
    type Input = StoreRef;
    type Output = Done<DisconnectedStore>;

    fn example() -> (Value, Self::Output) {
        let id = StoreView::sample().server_id;
        (json!({ "serverId": id }), Done(DisconnectedStore { id, deleted: true, webhooks_removed: true }))
    }
}

impl Async for Disconnect {
    async fn run(context: Context, input: StoreRef) -> Result<Self::Output, Failure> {
        let (account, id) = (context.caller.account(), input.server_id);
        let mut of = context.read(move |tx: &ReadTx| require(tx, account, id)).await?;
        let webhooks_removed = match unsubscribe(&context, &mut of).await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(store = %id, %error, "the webhooks of a store could not be removed");
                false
            }
        };
        let write = move |tx: &mut WriteTx<'_>| {
            let of = require(tx, account, id)?;
            shop_products::keep_all(tx, of.project, id)?;
            Ok::<_, Failure>(store::delete(tx, (account, id))?)
        };
        context.write(&Self::SPEC, write).await?;
        Ok(Done(DisconnectedStore { id, deleted: true, webhooks_removed }))
    }
}

async fn unsubscribe(context: &Context, of: &mut model::Store) -> Result<(), PlatformError> {
    let keys = keys::open(&context.engine.seal, of).ok_or(PlatformError::KeyLost)?;
    let client = install::client(&context.engine, context.caller.environment(), of).await?;
    platform::unsubscribe(&client, &webhook_url(&context.engine, &keys.url_token)).await
}
