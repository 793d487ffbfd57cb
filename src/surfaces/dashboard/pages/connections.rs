//! The page about connections: the connected accounts with their health, and the form that connects an account.

use http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};

use super::audience::BrandName;
use crate::engine::api::{Created, Done};
use crate::features::connections::ops::authorize::GrantedScope;
use crate::features::connections::ops::{authorize, complete, create, delete, list};
use crate::features::connections::views::ConnectionView;
use crate::features::connections::{export_scopes, oauth, scopes};
use crate::features::projects;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::limits;
use crate::vocab::providers::Provider;

#[derive(Serialize)]
struct Platform {
    word: &'static str,
    label: &'static str,
    /// A hint that says where users find their API key on the platform.
    hint: &'static str,
    /// The scopes that the API key needs for imports, each with its purpose.
    scopes: &'static [(&'static str, &'static str)],
    /// The additional scopes that the API key needs for exports, each with its purpose.
    export_scopes: &'static [(&'static str, &'static str)],
    /// Whether users can connect an account by signing in to the platform (OAuth) instead of entering an API key.
    has_sign_in: bool,
}

#[derive(Serialize)]
pub struct ConnectionsPage {
    connections: Vec<ConnectionView>,
    platforms: Vec<Platform>,
    brands: Vec<BrandName>,
    provider: String,
    name: String,
    brand: String,
    /// The link to the platform's sign-in page; set after the user starts a sign-in.
    sign_in: Option<SignInLink>,
    /// The account whose connection the user just removed.
    removed: Option<RemovedAccount>,
}

#[derive(Serialize)]
struct RemovedAccount {
    label: &'static str,
    /// What can still access the account: an API `key`, an authorized `app`, or nothing (`revoked`).
    access: String,
}

impl RemovedAccount {
    /// Returns the removed account that the redirect's query names.
    fn of(visit: &Visit) -> Option<Self> {
        let provider: Provider = visit.query.some("removed")?.parse().ok()?;
        Some(Self { label: provider.label(), access: visit.query.get("access").to_owned() })
    }
}

#[derive(Serialize)]
struct SignInLink {
    label: &'static str,
    url: String,
    scopes: Vec<GrantedScope>,
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
        platforms: Provider::ALL.map(|provider| platform(provider, provider == Provider::Klaviyo)).into(),
        brands: vec![BrandName { id: "66f1a2b3d4e5f60718293a4b".into(), name: "Acme".into() }],
        provider: provider.into(),
        name: "Shop".into(),
        brand: String::new(),
        sign_in: None,
        removed: None,
    };
    let signed_in = ConnectionView { method: "oauth", error: Some("The token was revoked.".into()), ..ConnectionView::sample() };
    let limited_use = ConnectionView {
        method: "oauth",
        uses: vec![crate::vocab::providers::ConnectionUse::Imports],
        ..ConnectionView::sample()
    };
    let all = vec![
        ConnectionView::sample(),
        limited_use,
        with("reconnect_required", broken),
        with("rate_limited", limited),
        with("reconnect_required", signed_in),
    ];
    let scopes = || vec![GrantedScope { scope: "lists:read", purpose: "Show the lists that you can import." }];
    let link = |scopes| SignInLink { label: "Klaviyo", url: "https://www.klaviyo.com/oauth/authorize?state=a".into(), scopes };
    let removed =
        |label, access: &str| Self { removed: Some(RemovedAccount { label, access: access.into() }), ..page(Vec::new(), "") };
    vec![
        page(all, ""),
        page(Vec::new(), "mailchimp"),
        Self { sign_in: Some(link(scopes())), ..page(Vec::new(), "klaviyo") },
        Self { sign_in: Some(link(Vec::new())), ..page(Vec::new(), "mailchimp") },
        removed("Klaviyo", "key"),
        removed("HubSpot", "revoked"),
        removed("Mailchimp", "app"),
    ]
});

fn platform(provider: Provider, has_sign_in: bool) -> Platform {
    let hint = match provider {
        Provider::Klaviyo => "Settings → API keys → Create private API key.",
        Provider::Mailchimp => "Account & billing → Extras → API keys. The key ends with a data center code, like -us21.",
        Provider::HubSpot => "Settings → Integrations → Private apps. Copy the app's access token.",
    };
    let (word, label) = (provider.alias(), provider.label());
    Platform { word, label, hint, scopes: scopes(provider), export_scopes: export_scopes(provider), has_sign_in }
}

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    page(visit, None, None).await
}

async fn page(visit: &Visit, error: Option<&PageError>, sign_in: Option<SignInLink>) -> Result<PageResponse, PageError> {
    let listed = visit.ask::<list::List>(json!({})).await?;
    let brands = match visit.may_ask(&<projects::ops::list::List as crate::engine::api::Operation>::SPEC) {
        true => visit.ask::<projects::ops::list::List>(json!({ "limit": limits::PAGE_LIMIT_MAX })).await?.items,
        false => Vec::new(),
    };
    let (form, settings) = (&visit.form, &visit.api.0.settings.connections);
    let context = ConnectionsPage {
        connections: listed.data.connections,
        platforms: Provider::ALL.map(|provider| platform(provider, oauth::app(settings, provider).is_some())).into(),
        brands: brands.into_iter().map(|brand| BrandName { id: brand.id.to_string(), name: brand.name }).collect(),
        provider: form.some("provider").or(visit.query.some("provider")).unwrap_or_default().to_owned(),
        name: form.get("name").to_owned(),
        brand: form.get("projectId").to_owned(),
        sign_in,
        removed: RemovedAccount::of(visit),
    };
    Ok(PageResponse::draw_with(&context, error))
}

/// Starts an OAuth sign-in and returns the link to the platform's sign-in page.
async fn authorize(visit: &Visit) -> Result<SignInLink, PageError> {
    let form = &visit.form;
    let uses = form.all("uses");
    // The form that reconnects an account has no `uses` field, so the connection keeps its uses.
    let uses = if form.has("id") && uses.is_empty() { Value::Null } else { json!(uses) };
    let input = json!({
        "provider": form.get("provider"), "name": form.some("name"), "projectId": form.some("projectId"),
        "connectionId": form.some("id"), "uses": uses,
    });
    let Done(started) = visit.ask::<authorize::Authorize>(input).await?;
    let label = form.get("provider").parse::<Provider>().map_or("the platform", Provider::label);
    Ok(SignInLink { label, url: started.authorize_url, scopes: started.scopes })
}

/// Receives the platform's OAuth redirect, and redirects to the environment where the sign-in started. The platforms store this page's URL,
/// so it is the same for both environments.
pub async fn receive(visit: &Visit) -> Result<PageResponse, PageError> {
    let environment = oauth::environment_of(visit.query.get("state")).ok_or_else(PageError::not_found)?;
    let query: Vec<(&str, &str)> = ["code", "state", "error", "error_description"]
        .iter()
        .filter_map(|name| Some((*name, visit.query.some(name)?)))
        .collect();
    let provider: Provider = visit.path_parameter("provider").parse().map_err(|_| PageError::not_found())?;
    let query = serde_urlencoded::to_string(query).unwrap_or_default();
    Ok(PageResponse::redirect(format!("/{environment}/settings/connections/{}/complete?{query}", provider.alias())))
}

/// Completes an OAuth sign-in and stores the connection.
pub async fn complete(visit: &Visit) -> Result<PageResponse, PageError> {
    let list = format!("/{}/settings/connections", visit.environment);
    if let Some(error) = visit.query.some("error") {
        let said = visit.query.some("error_description").unwrap_or(error);
        let message =
            format!("The platform didn't connect the account ({}). Try again.", said.chars().take(300).collect::<String>());
        let refused = PageError::plain(StatusCode::BAD_REQUEST, &message);
        return page(visit, Some(&refused), None).await;
    }
    let input = json!({
        "provider": visit.path_parameter("provider"), "code": visit.query.get("code"), "state": visit.query.get("state"),
    });
    match visit.ask::<complete::Complete>(input).await {
        Ok(Created(_)) => Ok(PageResponse::redirect(format!("{list}?done=connect"))),
        Err(error) if matches!(error.status.as_u16(), 400 | 409 | 503) => {
            page(visit, Some(&PageError { field: String::new(), ..error }), None).await
        }
        Err(error) => Err(error),
    }
}

/// Removes a connection. Returns the query string of the redirect, which states what can still access the account.
async fn remove(visit: &Visit) -> Result<String, PageError> {
    let id = visit.form.get("id");
    let listed = visit.ask::<list::List>(json!({})).await?.data.connections;
    let known = listed.into_iter().find(|known| known.id.to_string() == id).ok_or_else(PageError::not_found)?;
    let Done(removed) = visit.ask::<delete::Delete>(json!({ "connectionId": id })).await?;
    let access = match known.method {
        _ if removed.revoked => "revoked",
        "key" => "key",
        _ => "app",
    };
    Ok(format!("removed={}&access={access}", known.provider.alias()))
}

/// Connects an account, or reconnects or removes a connection.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let done = match form.get("act") {
        "authorize" => match authorize(visit).await {
            Ok(link) => return page(visit, None, Some(link)).await,
            Err(error) => Err(error),
        },
        "connect" => {
            let input = json!({
                "provider": form.get("provider"), "apiKey": form.get("apiKey"), "name": form.some("name"),
                "projectId": form.some("projectId"),
            });
            visit.ask::<create::Create>(input).await.map(|Created(_)| "done=connect".to_owned())
        }
        "reconnect" => {
            let input = json!({
                "provider": form.get("provider"), "apiKey": form.get("apiKey"), "connectionId": form.get("id"),
            });
            // The reconnect form has no place for field errors, so the error is shown above all forms.
            let above = |error| PageError { field: String::new(), ..error };
            visit.ask::<create::Create>(input).await.map(|Created(_)| "done=reconnect".to_owned()).map_err(above)
        }
        "remove" => remove(visit).await,
        _ => return Err(PageError::unknown_action()),
    };
    match done {
        Ok(query) => Ok(PageResponse::redirect(format!("{}?{query}", visit.path))),
        Err(error) if matches!(error.status.as_u16(), 400 | 409 | 503) => page(visit, Some(&error), None).await,
        Err(error) => Err(error),
    }
}
