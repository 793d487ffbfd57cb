//! Disconnects a store.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::sync::StoreRef;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::engine::store::{ReadTx, WriteTx};
use crate::features::connections::PlatformError;
use crate::features::projects::shop_products;
use crate::features::storefront::model::Store;
use crate::features::storefront::views::{StoreView, webhook_url};
use crate::features::storefront::{install, keys, platform, require, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::StoreId;
use crate::vocab::permissions::Permission;
use crate::vocab::storefronts::Storefront;

pub struct Disconnect;

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DisconnectedStore {
    /// The ID of the store.
    pub id: StoreId,
    /// Always true in a successful response.
    pub deleted: bool,
    /// Whether the store's webhooks were removed. If false, the store stops sending webhooks after Mailmill has rejected them for a while.
    pub webhooks_removed: bool,
}

impl Operation for Disconnect {
    const SPEC: Spec = Spec::delete("storefront.disconnect", "/v1/storefront/stores/{serverId}", needs(Permission::ProjectWrite))
        .summary("Disconnect a store")
        .about(
            "Deletes the stored keys, and removes the webhooks at the store if it can be reached. Imported products and contacts are \
             kept. The keys themselves stay valid until you revoke them on the platform. Mailmill still answers Shopify's privacy \
             requests about the store, until Shopify requests the erasure of the store's data or for at most 200 days, and therefore \
             keeps the secret that signs these requests.",
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
        let engine = context.engine.clone();
        let write = move |tx: &mut WriteTx<'_>| {
            let of = require(tx, account, id)?;
            shop_products::keep_all(tx, of.project, id)?;
            // Only Shopify sends privacy requests. Keep the secret, because the requests cannot be verified without it.
            let keys = keys::open(&engine.seal, &of).filter(|_| of.platform == Storefront::Shopify);
            let Some(keys) = keys else { return Ok::<_, Failure>(store::delete(tx, (account, id))?) };
            let sealed_keys = keys::seal(&engine.seal, (account, id), &keys.without_access(), tx.random());
            let of = Store { sealed_keys, tools: Vec::new(), rejected: None, disconnected_at: Some(tx.now()), ..of };
            Ok(store::disconnect(tx, &of)?)
        };
        context.write(&Self::SPEC, write).await?;
        Ok(Done(DisconnectedStore { id, deleted: true, webhooks_removed }))
    }
}

async fn unsubscribe(context: &Context, of: &mut Store) -> Result<(), PlatformError> {
    let keys = keys::open(&context.engine.seal, of).ok_or(PlatformError::KeyLost)?;
    let client = install::client(&context.engine, context.caller.environment(), of).await?;
    platform::unsubscribe(&client, &webhook_url(&context.engine, &keys.url_token)).await
}
