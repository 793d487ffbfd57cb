//! The page about stores: the connected stores with their state, and the form that connects a store.

use serde::Serialize;
use serde_json::json;

use super::audience::BrandName;
use crate::engine::api::Operation;
use crate::features::projects;
use crate::features::storefront::ops::{connect, disconnect, list, sync};
use crate::features::storefront::scopes;
use crate::features::storefront::views::StoreView;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};
use crate::vocab::limits;
use crate::vocab::storefronts::Storefront;

/// The data of the page with the stores and the form for a new one.
#[derive(Serialize)]
pub struct StoresPage {
    stores: Vec<StoreView>,
    brands: Vec<BrandName>,
    /// The scopes of a Shopify app, with their purpose.
    scopes: &'static [(&'static str, &'static str)],
    platform: String,
    url: String,
    brand: String,
    customers: String,
}

page_context!(StoresPage, "stores.html", {
    let page = |stores, platform: &str| Self {
        stores,
        brands: vec![BrandName { id: "66f1a2b3d4e5f60718293a4b".into(), name: "Acme".into() }],
        scopes: scopes(Storefront::Shopify),
        platform: platform.into(),
        url: "https://acme.myshopify.com".into(),
        brand: "66f1a2b3d4e5f60718293a4b".into(),
        customers: "include-all".into(),
    };
    let mut waits = StoreView::sample();
    (waits.sync.stage, waits.sync.completed_at) = ("products", None);
    (waits.sync.waiting, waits.sync.webhooks_off) = (Some("Shopify is rate limiting this store.".into()), Some("refused".into()));
    (waits.sync.products_left_out, waits.sync.customers_excluded, waits.sync.customers_failed) = (3, 4, 5);
    (waits.data_requests, waits.webhook_url) = (Vec::new(), None);
    let broken = StoreView { status: "reconnect_required", error: Some("The token was revoked.".into()), ..StoreView::sample() };
    vec![page(vec![StoreView::sample(), waits, broken], ""), page(Vec::new(), "woocommerce")]
});

/// Shows the stores and the form for a new one.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    page(visit, None).await
}

async fn page(visit: &Visit, error: Option<&PageError>) -> Result<Outcome, PageError> {
    let listed = visit.ask::<list::List>(json!({})).await?.data;
    let brands = match visit.may_ask(&<projects::ops::list::List as Operation>::SPEC) {
        true => visit.ask::<projects::ops::list::List>(json!({ "limit": limits::PAGE_LIMIT_MAX })).await?.items,
        false => Vec::new(),
    };
    let form = &visit.form;
    let context = StoresPage {
        stores: listed.stores,
        brands: brands.into_iter().map(|brand| BrandName { id: brand.id.to_string(), name: brand.name }).collect(),
        scopes: scopes(Storefront::Shopify),
        platform: form.get("platform").to_owned(),
        url: form.some("storefrontStoreUrl").or(visit.query.some("url")).unwrap_or_default().to_owned(),
        brand: form.get("projectId").to_owned(),
        customers: form.get("customers").to_owned(),
    };
    Ok(Outcome::draw_with(&context, error))
}

/// Connects a store, imports it again, or disconnects it.
pub async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    let form = &visit.form;
    let done = match form.get("act") {
        "connect" => {
            let mut input = json!({
                "projectId": form.get("projectId"), "storefrontStoreUrl": form.get("storefrontStoreUrl"),
                "customers": form.some("customers"),
            });
            let keys: &[&str] = match form.get("platform") {
                "woocommerce" => &["consumerKey", "consumerSecret"],
                _ => &["clientId", "accessToken", "apiSecret"],
            };
            for &key in keys {
                input[key] = json!(form.some(key));
            }
            visit.ask::<connect::Connect>(input).await.map(drop)
        }
        "sync" => visit.ask::<sync::Sync>(json!({ "serverId": form.get("id") })).await.map(drop),
        "disconnect" => visit.ask::<disconnect::Disconnect>(json!({ "serverId": form.get("id") })).await.map(drop),
        _ => return Err(PageError::unknown_action()),
    };
    match done {
        Ok(()) => Ok(Outcome::go(format!("{}?done={}", visit.path, form.get("act")))),
        Err(error) if matches!(error.status.as_u16(), 400 | 409 | 503) => page(visit, Some(&error)).await,
        Err(error) => Err(error),
    }
}
