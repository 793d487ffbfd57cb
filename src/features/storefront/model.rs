//! Connected stores, and the progress of their imports.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::store::Record;
use crate::vocab::ids::{AccountId, ContactId, ProjectId, StoreId};
use crate::vocab::limits;
use crate::vocab::storefronts::{StoreTool, Storefront};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Store {
    pub id: StoreId,
    pub account: AccountId,
    pub project: ProjectId,
    pub platform: Storefront,
    /// The address that identifies the store on the platform: the myshopify.com domain, or the URL of the WooCommerce site.
    pub address: String,
    /// The URL of the site that customers visit, without a trailing slash.
    pub site: String,
    pub name: String,
    /// The currency of prices as an ISO 4217 code.
    pub currency: Option<String>,
    /// The store's keys, sealed. The module `keys` seals and opens them.
    pub sealed_keys: Vec<u8>,
    /// The hash of the secret in the webhook URL.
    pub url_hash: [u8; 32],
    /// The kinds of data that the keys can access.
    pub tools: Vec<StoreTool>,
    /// Why the keys cannot be used; `None` if the platform has not rejected them.
    pub rejected: Option<String>,
    /// Which customers are imported as contacts.
    pub customers: CustomerImport,
    pub created_at: Timestamp,
    /// When the store last accepted keys that a user entered.
    pub connected_at: Timestamp,
    /// When the store was disconnected; `None` while it is connected. A disconnected store is kept only to check and answer its
    /// platform's privacy requests, and its keys give no access to the store.
    pub disconnected_at: Option<Timestamp>,
}

impl Record for Store {}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "StoreCustomers")]
pub enum CustomerImport {
    /// Customers who subscribed, and also customers who unsubscribed or cannot be emailed, but not customers who never subscribed.
    #[default]
    SubscribedOnly,
    /// All customers. New contacts who never subscribed get the status `non-subscribed`; existing contacts who never subscribed in the
    /// store keep their status.
    IncludeAll,
    /// No customers. However, customers who unsubscribe or bounce later are still recorded.
    None,
}

/// The progress of the imports from a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sync {
    pub stage: SyncStage,
    /// When the next step is due.
    pub due_at: Timestamp,
    /// When the current or the last import started.
    pub started_at: Timestamp,
    pub completed_at: Option<Timestamp>,
    /// The number of consecutive failed steps.
    pub failures: u32,
    /// Why the current import is waiting or, between imports, why the last one is incomplete; `None` if neither applies.
    pub waiting: Option<String>,
    /// Why the store refused to send some or all webhooks; `None` if it refused none.
    pub webhooks_off: Option<String>,
    /// The number of products that were left out because the brand has the maximum number of products.
    pub left_out: u64,
    pub customers: CustomerCounts,
    /// Whether another import must start soon after the current one, for example because collections changed during the import.
    pub again: bool,
    /// The number of webhook IDs that are stored to recognize repeated webhooks.
    pub remembered: u64,
    pub webhooks: WebhookCounts,
    pub last_webhook_at: Option<Timestamp>,
}

impl Record for Sync {}

/// The next step of an import. A cursor is the position from which the platform's adapter continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SyncStage {
    /// No import is running. The next import starts when it is due.
    Idle,
    /// The next step asks the store to send webhooks.
    Webhooks,
    Products(Option<String>),
    Customers(Option<String>),
    /// The store was deleted on its platform, so the contacts that it added are erased.
    Erasing,
    /// The store was disconnected. It is deleted when the next step is due.
    Disconnected,
}

impl SyncStage {
    /// Returns the name that the API uses for the stage.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Webhooks => "webhooks",
            Self::Products(_) => "products",
            Self::Customers(_) => "customers",
            Self::Erasing => "erasing",
            Self::Disconnected => "disconnected",
        }
    }
}

/// The number of customers in an import, by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomerCounts {
    pub imported: u64,
    /// The number of customers who were not imported because they neither subscribed nor unsubscribed.
    pub excluded: u64,
    pub failed: u64,
}

/// The number of webhooks by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookCounts {
    pub applied: u64,
    pub repeated: u64,
    /// The number of webhooks without an effect, such as webhooks about orders without an email address.
    pub ignored: u64,
}

impl Sync {
    pub fn new(now: Timestamp) -> Self {
        Self {
            stage: SyncStage::Webhooks,
            due_at: now,
            started_at: now,
            completed_at: None,
            failures: 0,
            waiting: None,
            webhooks_off: None,
            left_out: 0,
            customers: CustomerCounts::default(),
            again: false,
            remembered: 0,
            webhooks: WebhookCounts::default(),
            last_webhook_at: None,
        }
    }

    /// Starts a new import now or, if one is running, soon after it ends.
    pub fn start(&mut self, now: Timestamp) {
        match self.stage {
            SyncStage::Idle | SyncStage::Disconnected => {
                (self.stage, self.started_at, self.due_at) = (SyncStage::Webhooks, now, now);
                (self.left_out, self.customers, self.again) = (0, CustomerCounts::default(), false);
            }
            SyncStage::Erasing => {}
            SyncStage::Webhooks | SyncStage::Products(_) | SyncStage::Customers(_) => {
                (self.again, self.due_at) = (true, now);
            }
        }
        (self.failures, self.waiting) = (0, None);
    }

    /// Schedules a new import to start soon, because a webhook reported a change without details.
    pub fn start_soon(&mut self, now: Timestamp) {
        match self.stage {
            SyncStage::Idle => self.due_at = self.due_at.min(now.plus_ms(limits::STORE_SYNC_SOON_MS)),
            _ => self.again = true,
        }
    }

    /// Ends the import, and schedules the next one.
    pub fn complete(&mut self, now: Timestamp) {
        let pause = if self.again { limits::STORE_SYNC_SOON_MS } else { limits::STORE_SYNC_PERIOD_MS };
        (self.stage, self.due_at, self.again) = (SyncStage::Idle, now.plus_ms(pause), false);
        (self.completed_at, self.failures, self.waiting) = (Some(now), 0, None);
    }
}

impl Store {
    /// Returns the kinds of data that are synced. Excludes customers if they are not imported, and kinds of data that need webhooks if the
    /// store refused any webhooks. Returns nothing if the keys were rejected.
    pub fn tools_on(&self, sync: &Sync) -> Vec<StoreTool> {
        let has_webhooks = sync.webhooks_off.is_none();
        let is_on = |tool: &StoreTool| {
            (has_webhooks || !tool.needs_webhooks()) && (*tool != StoreTool::Customers || self.customers != CustomerImport::None)
        };
        if self.rejected.is_some() {
            return Vec::new();
        }
        self.tools.iter().copied().filter(is_on).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    Done,
    /// The webhook has no effect, for example because it names no contact.
    Ignored,
}

/// When the imported data and the imported consent of a customer last changed in the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomerTimes {
    pub changed_at: Option<Timestamp>,
    pub consent_at: Option<Timestamp>,
}

impl Record for CustomerTimes {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingEvent {
    /// The event, in the format of `POST /v1/events`.
    pub event: String,
    pub arrived_at: Timestamp,
}

impl Record for WaitingEvent {}

/// A customer's request for their personal data, forwarded by the platform.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataRequest {
    /// The platform's ID for the request.
    pub external_id: String,
    /// The contact; `None` if no contact has the customer's ID or address.
    pub contact: Option<ContactId>,
    pub received_at: Timestamp,
}

impl Record for DataRequest {}
