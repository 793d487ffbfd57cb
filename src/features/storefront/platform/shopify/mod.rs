//! Shopify: the GraphQL Admin API at the pinned version, exports through bulk operations, and webhooks in the format of the REST
//! resources.

mod bulk;
mod queries;
mod webhooks;

#[cfg(any(test, fuzzing))]
pub use bulk::read_lines;

use std::collections::BTreeSet;

use http::HeaderMap;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Change, Delivery, Hooks, Paged, ReadCustomer, Shop, Site, StorePort, Unreadable, header, is_signed, time};
use crate::features::connections::PlatformError;
use crate::features::projects::shop_products::StoreProduct;
use crate::features::storefront::client::{Client, plain};
use crate::vocab::storefronts::StoreTool;

pub const SCOPES: &[(&str, &str)] = &[
    ("read_products", "Import products and collections, and keep them up to date."),
    ("read_orders", "Record orders, refunds and checkouts as customer events."),
    ("read_customers", "Import customers with their consent status."),
];

pub struct Shopify;

#[derive(Deserialize)]
struct ShopAnswer {
    shop: ShopFields,
    #[serde(rename = "currentAppInstallation")]
    installation: Installation,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShopFields {
    name: String,
    myshopify_domain: String,
    currency_code: String,
    primary_domain: Domain,
}

#[derive(Deserialize)]
struct Domain {
    url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Installation {
    access_scopes: Vec<AccessScope>,
}

#[derive(Deserialize)]
struct AccessScope {
    handle: String,
}

#[derive(Deserialize)]
struct HooksAnswer {
    #[serde(rename = "webhookSubscriptions")]
    subscriptions: Nodes<Subscription>,
}

#[derive(Deserialize)]
struct Nodes<T> {
    nodes: Vec<T>,
}

#[derive(Deserialize)]
struct Subscription {
    id: String,
    topic: String,
    uri: String,
}

/// An error of a GraphQL mutation, inside a successful response.
#[derive(Deserialize)]
struct UserError {
    message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MutationAnswer {
    user_errors: Vec<UserError>,
}

#[derive(Deserialize)]
struct Created {
    #[serde(rename = "webhookSubscriptionCreate")]
    created: MutationAnswer,
}

#[derive(Deserialize)]
struct Deleted {
    #[serde(rename = "webhookSubscriptionDelete")]
    deleted: MutationAnswer,
}

/// Fails with the mutation's first error, if there is one.
fn accepted(errors: Vec<UserError>) -> Result<(), PlatformError> {
    match errors.into_iter().next() {
        Some(error) => Err(PlatformError::Refused(plain(&error.message))),
        None => Ok(()),
    }
}

/// Returns the topics of the webhooks that report changes to these kinds of data.
fn topics(tools: &[StoreTool]) -> Vec<&'static str> {
    let of = |tool: &StoreTool| -> &'static [&'static str] {
        match tool {
            StoreTool::Products => &["PRODUCTS_CREATE", "PRODUCTS_UPDATE", "PRODUCTS_DELETE"],
            StoreTool::Collections => &["COLLECTIONS_CREATE", "COLLECTIONS_UPDATE", "COLLECTIONS_DELETE"],
            StoreTool::Customers => &["CUSTOMERS_CREATE", "CUSTOMERS_UPDATE", "CUSTOMERS_EMAIL_MARKETING_CONSENT_UPDATE"],
            StoreTool::Orders => &["ORDERS_CREATE", "ORDERS_PAID", "ORDERS_CANCELLED"],
            StoreTool::Refunds => &["REFUNDS_CREATE"],
            StoreTool::Checkouts => &["CHECKOUTS_CREATE", "CHECKOUTS_UPDATE"],
            // Shopify sends the privacy webhooks to the URL in the app's settings; an app cannot subscribe to them with the
            // API.
            StoreTool::Privacy => &["APP_UNINSTALLED"],
        }
    };
    tools.iter().flat_map(of).copied().collect()
}

/// Returns Mailmill's webhook subscriptions that send to this URL.
async fn subscriptions(client: &Client<'_>, url: &str) -> Result<Vec<Subscription>, PlatformError> {
    let answer: HooksAnswer = client.graphql(queries::SUBSCRIPTIONS, Value::Null).await?;
    Ok(answer.subscriptions.nodes.into_iter().filter(|known| known.uri == url).collect())
}

impl StorePort for Shopify {
    async fn shop(client: &Client<'_>) -> Result<Shop, PlatformError> {
        let answer: ShopAnswer = client.graphql(queries::SHOP, Value::Null).await?;
        let scopes: BTreeSet<&str> = answer.installation.access_scopes.iter().map(|scope| scope.handle.as_str()).collect();
        // In Shopify, a write scope includes the read scope.
        let may_read =
            |what: &str| scopes.contains(format!("read_{what}").as_str()) || scopes.contains(format!("write_{what}").as_str());
        let tool = |tool: &StoreTool| match tool {
            StoreTool::Products | StoreTool::Collections => may_read("products"),
            StoreTool::Customers => may_read("customers"),
            StoreTool::Orders | StoreTool::Refunds | StoreTool::Checkouts => may_read("orders"),
            StoreTool::Privacy => true,
        };
        let ShopFields { name, myshopify_domain, currency_code, primary_domain } = answer.shop;
        Ok(Shop {
            address: myshopify_domain,
            site: primary_domain.url.trim_end_matches('/').to_owned(),
            name,
            currency: Some(currency_code),
            tools: StoreTool::ALL.into_iter().filter(tool).collect(),
        })
    }

    async fn subscribe(client: &Client<'_>, hooks: &Hooks<'_>) -> Result<(), PlatformError> {
        let known: BTreeSet<String> = subscriptions(client, hooks.url).await?.into_iter().map(|known| known.topic).collect();
        let mut refused = None;
        for topic in topics(hooks.tools).into_iter().filter(|topic| !known.contains(*topic)) {
            let variables = json!({ "topic": topic, "hook": { "uri": hooks.url, "format": "JSON" } });
            let answer: Created = client.graphql(queries::SUBSCRIBE, variables).await?;
            // Shopify may refuse the topics that contain customers' data. The store still sends the webhooks for the other topics.
            refused = refused.or(accepted(answer.created.user_errors).err());
        }
        refused.map_or(Ok(()), Err)
    }

    async fn unsubscribe(client: &Client<'_>, url: &str) -> Result<(), PlatformError> {
        for known in subscriptions(client, url).await? {
            let answer: Deleted = client.graphql(queries::UNSUBSCRIBE, json!({ "id": known.id })).await?;
            accepted(answer.deleted.user_errors)?;
        }
        Ok(())
    }

    async fn products(client: &Client<'_>, cursor: Option<&str>) -> Result<Paged<StoreProduct>, PlatformError> {
        bulk::products(client, cursor).await
    }

    async fn customers(client: &Client<'_>, cursor: Option<&str>) -> Result<Paged<ReadCustomer>, PlatformError> {
        bulk::customers(client, cursor).await
    }

    fn verify(headers: &HeaderMap, body: &[u8], secret: &str) -> Option<Delivery> {
        if !is_signed(body, secret, header(headers, "x-shopify-hmac-sha256")?) {
            return None;
        }
        let (id, topic) = (header(headers, "x-shopify-webhook-id")?, header(headers, "x-shopify-topic")?);
        let shop = webhooks::privacy_shop(topic, body);
        let triggered_at = time(header(headers, "x-shopify-triggered-at"));
        Some(Delivery { id: id.to_owned(), topic: topic.to_owned(), shop, triggered_at })
    }

    fn read(topic: &str, body: &[u8], site: &Site<'_>) -> Result<Change, Unreadable> {
        webhooks::read(topic, body, site)
    }
}

/// Returns the number at the end of a global ID such as `gid://shopify/Product/7`. Webhooks contain only this number.
fn number(gid: &str) -> String {
    gid.rsplit('/').next().unwrap_or(gid).to_owned()
}
