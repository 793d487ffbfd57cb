//! The page about connections: the connected accounts with their health, and the form that connects an account.

use serde::Serialize;
use serde_json::json;

use super::audience::BrandName;
use crate::engine::api::Created;
use crate::features::connections::ops::{create, delete, list};
use crate::features::connections::views::ConnectionView;
use crate::features::connections::{scopes, templates};
use crate::features::projects;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};
use crate::vocab::limits;
use crate::vocab::providers::Provider;

/// A platform that users can choose.
#[derive(Serialize)]
struct Platform {
    word: &'static str,
    label: &'static str,
    /// Where users find the key.
    hint: &'static str,
    /// The scopes that the key needs for imports, with their purpose.
    scopes: &'static [(&'static str, &'static str)],
    /// The scopes that the key needs in addition for exports.
    export_scopes: &'static [(&'static str, &'static str)],
}

/// The data of the page with the connections and the form for a new one.
#[derive(Serialize)]
pub struct ConnectionsPage {
    connections: Vec<ConnectionView>,
    platforms: Vec<Platform>,
    brands: Vec<BrandName>,
    provider: String,
    name: String,
    brand: String,
}

page_context!(ConnectionsPage, "connections.html", {
    let with = |status, connection: ConnectionView| ConnectionView { status, ..connection };
    let broken = ConnectionView { error: Some("The key was revoked.".into()), ..ConnectionView::sample() };
    let limited = ConnectionView {
        rate_limited_until: Some(crate::engine::api::response::WireTime::sample()),
        project_id: crate::vocab::ids::ProjectId::parse("66f1a2b3d4e5f60718293a4b"),
        ..ConnectionView::sample()
    };
    let page = |connections, provider: &str| Self {
        connections,
        platforms: Provider::ALL.map(platform).into(),
        brands: vec![BrandName { id: "66f1a2b3d4e5f60718293a4b".into(), name: "Acme".into() }],
        provider: provider.into(),
        name: "Shop".into(),
        brand: String::new(),
    };
    let all = vec![ConnectionView::sample(), with("reconnect_required", broken), with("rate_limited", limited)];
    vec![page(all, ""), page(Vec::new(), "mailchimp")]
});

fn platform(provider: Provider) -> Platform {
    let hint = match provider {
        Provider::Klaviyo => "Settings → API keys → Create private API key.",
        Provider::Mailchimp => "Account & billing → Extras → API keys. The key ends with a data center, like -us21.",
        Provider::HubSpot => "Settings → Integrations → Private apps. Copy the access token of the app.",
    };
    let (word, label) = (provider.alias(), provider.label());
    Platform { word, label, hint, scopes: scopes(provider), export_scopes: templates::scopes(provider) }
}

/// Shows the connections and the form for a new one.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    page(visit, None).await
}

async fn page(visit: &Visit, error: Option<&PageError>) -> Result<Outcome, PageError> {
    let listed = visit.ask::<list::List>(json!({})).await?;
    let brands = match visit.may_ask(&<projects::ops::list::List as crate::engine::api::Operation>::SPEC) {
        true => visit.ask::<projects::ops::list::List>(json!({ "limit": limits::PAGE_LIMIT_MAX })).await?.items,
        false => Vec::new(),
    };
    let form = &visit.form;
    let context = ConnectionsPage {
        connections: listed.data.connections,
        platforms: Provider::ALL.map(platform).into(),
        brands: brands.into_iter().map(|brand| BrandName { id: brand.id.to_string(), name: brand.name }).collect(),
        provider: form.some("provider").or(visit.query.some("provider")).unwrap_or_default().to_owned(),
        name: form.get("name").to_owned(),
        brand: form.get("projectId").to_owned(),
    };
    Ok(Outcome::draw_with(&context, error))
}

/// Connects an account, or reconnects or removes a connection.
pub async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    let form = &visit.form;
    let done = match form.get("act") {
        "connect" => {
            let input = json!({
                "provider": form.get("provider"), "apiKey": form.get("apiKey"), "name": form.some("name"),
                "projectId": form.some("projectId"),
            });
            visit.ask::<create::Create>(input).await.map(|Created(_)| ())
        }
        "reconnect" => {
            let input = json!({
                "provider": form.get("provider"), "apiKey": form.get("apiKey"), "connectionId": form.get("id"),
            });
            // The field of this form is not the one below, so the error is shown above both.
            let above = |error| PageError { field: String::new(), ..error };
            visit.ask::<create::Create>(input).await.map(|Created(_)| ()).map_err(above)
        }
        "remove" => visit.ask::<delete::Delete>(json!({ "connectionId": form.get("id") })).await.map(drop),
        _ => return Err(PageError::unknown_action()),
    };
    match done {
        Ok(()) => Ok(Outcome::go(format!("{}?done={}", visit.path, form.get("act")))),
        Err(error) if matches!(error.status.as_u16(), 400 | 409 | 503) => page(visit, Some(&error)).await,
        Err(error) => Err(error),
    }
}
