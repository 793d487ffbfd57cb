//! The page about stores: the connected stores with their status, and the form that connects a store with keys or by installing an app.

use serde::Serialize;
use serde_json::json;

use super::audience::BrandName;
use crate::engine::api::{Created, Done, Operation};
use crate::features::connections::oauth;
use crate::features::projects;
use crate::features::storefront::ops::{authorize, complete, connect, disconnect, list, sync};
use crate::features::storefront::views::StoreView;
use crate::features::storefront::{install, scopes};
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::limits;
use crate::vocab::storefronts::Storefront;

#[derive(Serialize)]
pub struct StoresPage {
    stores: Vec<StoreView>,
    brands: Vec<BrandName>,
    /// The scopes that a Shopify app needs, each with its purpose.
    scopes: &'static [(&'static str, &'static str)],
    platform: String,
    url: String,
    brand: String,
    customers: String,
    /// Whether this installation has a Shopify app that users can install.
    installs: bool,
    /// The URL of the shop's page where the user installs the app; set after the user starts the installation.
    install_url: Option<String>,
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
        installs: true,
        install_url: None,
    };
    let link = Some("https://acme.myshopify.com/admin/oauth/authorize?client_id=3b1f0c7e".to_owned());
    let started = Self { install_url: link, ..page(Vec::new(), "shopify") };
    let mut waits = StoreView::sample();
    (waits.sync.stage, waits.sync.completed_at) = ("products", None);
    waits.sync.waiting = Some("Shopify is down or is rate limiting this store.".into());
    waits.sync.webhooks_off = Some("refused".into());
    (waits.sync.products_left_out, waits.sync.customers_excluded, waits.sync.customers_failed) = (3, 4, 5);
    (waits.data_requests, waits.webhook_url) = (Vec::new(), None);
    let broken = StoreView { status: "reconnect_required", error: Some("The token was revoked.".into()), ..StoreView::sample() };
    let gone = StoreView { status: "disconnected", webhook_url: None, tools_enabled: Vec::new(), ..StoreView::sample() };
    vec![page(vec![StoreView::sample(), waits, broken, gone], ""), page(Vec::new(), "woocommerce"), started]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    page(visit, None, None).await
}

async fn page(visit: &Visit, install_url: Option<String>, error: Option<&PageError>) -> Result<PageResponse, PageError> {
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
        installs: install::app(&visit.api.0.settings.connections).is_some(),
        install_url,
    };
    Ok(PageResponse::draw_with(&context, error))
}

/// Connects a store, repeats its import, or disconnects it.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let done = match form.get("act") {
        "install" => {
            let input = json!({
                "projectId": form.get("projectId"), "storefrontStoreUrl": form.get("storefrontStoreUrl"),
                "customers": form.some("customers"),
            });
            match visit.ask::<authorize::Authorize>(input).await {
                Ok(Done(started)) => return page(visit, Some(started.authorize_url), None).await,
                Err(error) => Err(error),
            }
        }
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
        Ok(()) => Ok(PageResponse::redirect(format!("{}?done={}", visit.path, form.get("act")))),
        Err(error) if matches!(error.status.as_u16(), 400 | 409 | 503) => page(visit, None, Some(&error)).await,
        Err(error) => Err(error),
    }
}

/// Receives Shopify's redirect after an app installation, and redirects to the environment where the user started the installation. The URL
/// is registered with Shopify, so it contains no environment. All parameters are kept, because Shopify signs them.
pub async fn receive(visit: &Visit) -> Result<PageResponse, PageError> {
    let environment = oauth::environment_of(visit.query.get("state")).ok_or_else(PageError::not_found)?;
    let query = serde_urlencoded::to_string(visit.query.pairs()).map_err(|_| PageError::not_found())?;
    Ok(PageResponse::redirect(format!("/{environment}/settings/stores/complete?{query}")))
}

/// Completes the installation of a Shopify app.
pub async fn complete(visit: &Visit) -> Result<PageResponse, PageError> {
    let query = serde_urlencoded::to_string(visit.query.pairs()).map_err(|_| PageError::not_found())?;
    match visit.ask::<complete::Complete>(json!({ "query": query })).await {
        Ok(Created(_)) => Ok(PageResponse::redirect(format!("/{}/settings/stores?done=connect", visit.environment))),
        Err(error) if matches!(error.status.as_u16(), 400 | 409 | 503) => {
            page(visit, None, Some(&PageError { field: String::new(), ..error })).await
        }
        Err(error) => Err(error),
    }
}
