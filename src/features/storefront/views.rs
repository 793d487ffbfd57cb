//! Connected stores as the API returns them.

use schemars::JsonSchema;
use serde::Serialize;

use super::model::{CustomerImport, Store, Sync, SyncStage};
use super::{keys, store};
use crate::engine::api::response::WireTime;
use crate::engine::api::{Engine, Failure};
use crate::engine::store::Read;
use crate::features::projects::shop_products;
use crate::vocab::ids::{ContactId, ProjectId, StoreId};
use crate::vocab::storefronts::{StoreTool, Storefront};

/// A store that was connected to a project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StorefrontConnection {
    pub server_id: StoreId,
    pub project_id: ProjectId,
    /// The status, which is always `connected`.
    pub status: &'static str,
    /// A sentence that tells users the state of the store.
    pub message: String,
    /// The store's name.
    pub store: String,
    /// The kinds of data that Mailmill syncs.
    pub tools_enabled: Vec<StoreTool>,
}

impl StorefrontConnection {
    pub fn of(of: &Store, sync: &Sync) -> Self {
        let message = match sync.completed_at {
            None => format!("{} is connected. Its products are being imported.", of.name),
            Some(_) => format!("{} is connected.", of.name),
        };
        Self {
            server_id: of.id,
            project_id: of.project,
            status: "connected",
            message,
            store: of.name.clone(),
            tools_enabled: of.tools_on(sync),
        }
    }

    pub fn sample() -> Self {
        Self {
            server_id: StoreView::sample().server_id,
            project_id: StoreView::sample().project_id,
            status: "connected",
            message: "Acme is connected. Its products are being imported.".into(),
            store: "Acme".into(),
            tools_enabled: StoreTool::ALL.to_vec(),
        }
    }
}

/// A connected store with the state of its imports. The keys are never returned.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ConnectedStore")]
pub struct StoreView {
    pub server_id: StoreId,
    pub project_id: ProjectId,
    pub provider: Storefront,
    /// The platform's name for display.
    #[schemars(extend("enum" = ["Shopify", "WooCommerce"]))]
    pub provider_name: &'static str,
    /// The store's name.
    pub store: String,
    /// The URL of the site that customers visit.
    pub store_url: String,
    /// `connected`; `reconnect_required` if the keys cannot be used; `disconnected` if the store was disconnected, but is still listed
    /// because its customers requested their data.
    #[schemars(extend("enum" = ["connected", "reconnect_required", "disconnected"]))]
    pub status: &'static str,
    /// Why the user must connect the store again; absent if that is not necessary.
    pub error: Option<String>,
    /// The kinds of data that Mailmill syncs.
    pub tools_enabled: Vec<StoreTool>,
    pub customers: CustomerImport,
    pub sync: SyncView,
    /// The URL to which the store sends webhooks. For a Shopify app, also enter it in the app's settings as the URL of the privacy
    /// webhooks. Keep it secret. Absent if the stored keys cannot be decrypted, if the caller cannot change projects, or if the store was
    /// disconnected.
    pub webhook_url: Option<String>,
    /// Customers' requests for their personal data, newest first.
    pub data_requests: Vec<DataRequestView>,
    pub connected_at: WireTime,
}

/// The state of a store's imports and webhooks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncView {
    /// The current stage of the import; `idle` between imports.
    #[schemars(extend("enum" = ["idle", "webhooks", "products", "customers", "erasing", "disconnected"]))]
    pub stage: &'static str,
    /// When the last complete import ended.
    pub completed_at: Option<WireTime>,
    /// When the next import starts, or when the current import continues.
    pub next_at: WireTime,
    /// Why the import is paused or incomplete; absent if it is neither.
    pub waiting: Option<String>,
    /// Why the store refused some or all webhooks; absent if it accepted them. The daily import finds the changes that the refused webhooks
    /// would have reported.
    pub webhooks_off: Option<String>,
    /// The number of the store's products in the brand.
    pub products: u64,
    /// The number of products that were not imported because the brand has the maximum number of products.
    pub products_left_out: u64,
    /// The number of customers imported in the current or last import.
    pub customers_imported: u64,
    /// The number of customers who were not imported because they neither subscribed nor unsubscribed.
    pub customers_excluded: u64,
    /// The number of customers who could not be imported, for example because their addresses are invalid.
    pub customers_failed: u64,
    /// The number of webhooks that were applied.
    pub webhooks_applied: u64,
    /// The number of webhooks that had been received before. They had no effect.
    pub webhooks_repeated: u64,
    /// The number of webhooks without an effect, such as webhooks about orders without an email address.
    pub webhooks_ignored: u64,
    pub last_webhook_at: Option<WireTime>,
}

/// A customer's request for their personal data.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DataRequestView {
    /// The platform's ID for the request.
    pub request_id: String,
    /// The ID of the contact that matches the request; absent if no contact matched. `GET /v1/contacts/{id}/personal-data` returns the
    /// contact's data.
    pub contact_id: Option<ContactId>,
    pub received_at: WireTime,
}

/// Returns the webhook URL with this token.
pub fn webhook_url(engine: &Engine, token: &str) -> String {
    format!("{}/storefront/{token}", engine.base_url().trim_end_matches('/'))
}

/// Returns a store with the status of its imports. `shows_url` is true if the caller may see the webhook URL.
pub fn store_view(tx: &impl Read, engine: &Engine, of: &Store, shows_url: bool) -> Result<StoreView, Failure> {
    let sync = store::sync(tx, (of.account, of.id))?.unwrap_or_else(|| Sync::new(of.created_at));
    let keys = keys::open(&engine.seal, of).filter(|_| shows_url && of.disconnected_at.is_none());
    let data_requests = store::data_requests(tx, of.id)?.into_iter().map(|request| DataRequestView {
        request_id: request.external_id,
        contact_id: request.contact,
        received_at: WireTime(request.received_at),
    });
    Ok(StoreView {
        server_id: of.id,
        project_id: of.project,
        provider: of.platform,
        provider_name: of.platform.label(),
        store: of.name.clone(),
        store_url: of.site.clone(),
        status: match (of.disconnected_at, &of.rejected) {
            (Some(_), _) => "disconnected",
            (None, Some(_)) => "reconnect_required",
            (None, None) => "connected",
        },
        error: of.rejected.clone(),
        tools_enabled: of.tools_on(&sync),
        customers: of.customers,
        webhook_url: keys.map(|keys| webhook_url(engine, &keys.url_token)),
        data_requests: data_requests.collect(),
        connected_at: WireTime(of.connected_at),
        sync: sync_view(sync, shop_products::count(tx, of.project, of.id)?),
    })
}

fn sync_view(sync: Sync, products: u64) -> SyncView {
    SyncView {
        stage: sync.stage.word(),
        completed_at: sync.completed_at.map(WireTime),
        next_at: WireTime(sync.due_at),
        waiting: sync.waiting,
        webhooks_off: sync.webhooks_off,
        products,
        products_left_out: sync.left_out,
        customers_imported: sync.customers.imported,
        customers_excluded: sync.customers.excluded,
        customers_failed: sync.customers.failed,
        webhooks_applied: sync.webhooks.applied,
        webhooks_repeated: sync.webhooks.repeated,
        webhooks_ignored: sync.webhooks.ignored,
        last_webhook_at: sync.last_webhook_at.map(WireTime),
    }
}

impl StoreView {
    pub fn sample() -> Self {
        let sync = Sync { completed_at: Some(WireTime::sample().0), stage: SyncStage::Idle, ..Sync::new(WireTime::sample().0) };
        Self {
            server_id: StoreId::parse("66f1a2b3d4e5f60718293a70").expect("the ID has 24 hexadecimal characters"),
            project_id: ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the ID has 24 hexadecimal characters"),
            provider: Storefront::Shopify,
            provider_name: Storefront::Shopify.label(),
            store: "Acme".into(),
            store_url: "https://www.acme.example".into(),
            status: "connected",
            error: None,
            tools_enabled: StoreTool::ALL.to_vec(),
            customers: CustomerImport::SubscribedOnly,
            sync: sync_view(sync, 120),
            webhook_url: Some(
                "https://mail.acme.example/storefront/AWbxorMAAAABehssPWbxorMAAAAJehssPcsHq1ZyM8lD3kVvW0nQ2tY5eR7u".into(),
            ),
            data_requests: vec![DataRequestView {
                request_id: "9999".into(),
                contact_id: ContactId::parse("66f1a2b30000000a5c3e9d71"),
                received_at: WireTime::sample(),
            }],
            connected_at: WireTime::sample(),
        }
    }
}
