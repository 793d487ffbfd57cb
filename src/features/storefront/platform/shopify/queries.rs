//! The GraphQL operations that are sent to Shopify.

pub const SHOP: &str = "query Shop { shop { name myshopifyDomain currencyCode primaryDomain { url } } \
                        currentAppInstallation { accessScopes { handle } } }";

pub const SUBSCRIPTIONS: &str = "query Subscriptions { webhookSubscriptions(first: 250) { nodes { id topic uri } } }";

pub const SUBSCRIBE: &str = "mutation Subscribe($topic: WebhookSubscriptionTopic!, $hook: WebhookSubscriptionInput!) { \
                             webhookSubscriptionCreate(topic: $topic, webhookSubscription: $hook) { \
                             webhookSubscription { id } userErrors { field message } } }";

pub const UNSUBSCRIBE: &str = "mutation Unsubscribe($id: ID!) { webhookSubscriptionDelete(id: $id) { \
                               deletedWebhookSubscriptionId userErrors { field message } } }";

pub const EXPORT: &str = "mutation Export($query: String!) { bulkOperationRunQuery(query: $query) { \
                          bulkOperation { id status } userErrors { field message } } }";

pub const OPERATION: &str = "query Operation($id: ID!) { node(id: $id) { ... on BulkOperation { \
                             id status errorCode objectCount url } } }";

/// The export of the active products.
pub const PRODUCTS: &str = "{ products(query: \"status:active\") { edges { node { id title description onlineStoreUrl updatedAt \
                            tracksInventory totalInventory featuredMedia { preview { image { url } } } \
                            priceRangeV2 { minVariantPrice { currencyCode } } \
                            variants { edges { node { id price compareAtPrice availableForSale } } } \
                            collections { edges { node { id title } } } } } } }";

/// The export of all customers, with each customer's consent, order totals and time of the last change.
pub const CUSTOMERS: &str = "{ customers { edges { node { id firstName lastName locale createdAt updatedAt numberOfOrders tags \
                             amountSpent { amount currencyCode } defaultEmailAddress { emailAddress marketingState marketingUpdatedAt } \
                             defaultPhoneNumber { phoneNumber } defaultAddress { city countryCodeV2 } } } } }";
