//! The dashboard: pages for people, rendered on the server, working without scripts.
//!
//! A page is a [`Route`] and a function over a [`Visit`], both in a file of `pages/`, a template in `assets/dashboard/` that [`files`]
//! lists, and an entry in [`layout::MENU`] if the navigation shows it. It calls operations as the signed-in user ([`Visit::ask`]), so a
//! page can do nothing that the user's role or the API does not allow. Pages about one environment are under `/test/…` or `/live/…`: the
//! URL says which data a form changes.
//!
//! This module has what all pages share and none can forget: the session, the check that unsafe requests come from our own forms, and the
//! policy that allows only our own scripts. It does not know the content of any page.

mod charts;
mod cookies;
mod error_text;
mod files;
mod forms;
mod layout;
mod pages;
pub mod route;
mod streamed;
mod visit;

use std::sync::{Arc, Mutex};

use http::header::{ACCEPT, HeaderMap, HeaderValue, LOCATION, USER_AGENT};
use http::{Method, StatusCode, Uri};
use matchit::Router;

use self::cookies::Jar;
use self::forms::Fields;
use self::route::{Auth, Route};
use self::visit::{Outcome, PageError, Visit};
use crate::engine::api::Engine;
use crate::engine::api::call::Api;
use crate::engine::api::http_types::{Incoming, Peer, Reply, ReplyBody, Service};
use crate::engine::jobs::Tasks;
use crate::surfaces::demo::{Stories, shop};
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// Every page, by the file that renders it.
pub const PAGES: &[&[Route]] = &[
    pages::home::ROUTES,
    pages::demo::ROUTES,
    pages::inbox::ROUTES,
    pages::sign_in::ROUTES,
    pages::links::ROUTES,
    pages::agent::ROUTES,
    pages::keys::ROUTES,
    pages::approvals::ROUTES,
    pages::members::ROUTES,
    pages::security::ROUTES,
    pages::audit::ROUTES,
    pages::brands::ROUTES,
    pages::brand_parts::ROUTES,
    pages::emails::ROUTES,
    pages::email::ROUTES,
    pages::campaigns::ROUTES,
    pages::plan::ROUTES,
    pages::contacts::ROUTES,
    pages::contact::ROUTES,
    pages::imports::ROUTES,
    pages::contact_jobs::ROUTES,
    pages::segments::ROUTES,
    pages::tags::ROUTES,
    pages::topics::ROUTES,
    pages::suppressions::ROUTES,
    pages::domains::ROUTES,
    pages::webhooks::ROUTES,
    pages::system::ROUTES,
];

/// The API with the dashboard in front of it.
pub struct Dashboard {
    api: Api,
    routes: Router<&'static Route>,
    stories: Arc<Stories>,
    tasks: Tasks,
}

impl Dashboard {
    /// Creates the dashboard of this engine.
    pub fn new(engine: Arc<Engine>, tasks: Tasks) -> Self {
        let mut routes = Router::new();
        for route in PAGES.iter().copied().flatten() {
            routes.insert(route.path, route).unwrap_or_else(|error| panic!("the page {} cannot be routed: {error}", route.path));
        }
        Self { api: Api(engine), routes, stories: Arc::new(Stories::new(tasks.clone())), tasks }
    }

    fn find(&self, path: &str) -> Option<Found> {
        let found = self.routes.at(path).ok()?;
        let names: Vec<(String, String)> = found.params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let environment = match names.iter().find(|(name, _)| name == "environment") {
            Some((_, word)) => Some(word.parse().ok()?),
            // Pages that exist for only one environment have it in their own path.
            None => found.value.path.split('/').nth(1).and_then(|word| word.parse().ok()),
        };
        Some(Found { route: found.value, names, environment })
    }

    /// Returns the page's correct path if the URL has an extra or missing trailing slash.
    fn respelt(&self, uri: &Uri) -> Option<HeaderValue> {
        let path = uri.path();
        let other = path.strip_suffix('/').map_or_else(|| format!("{path}/"), str::to_owned);
        // Two leading slashes would lead to another site.
        self.find(&other).filter(|_| !other.starts_with("//"))?;
        let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        HeaderValue::try_from(other + &query).ok()
    }
}

fn moved(location: HeaderValue) -> Reply {
    let mut headers = layout::headers();
    headers.insert(LOCATION, location);
    Reply { status: StatusCode::PERMANENT_REDIRECT, headers, body: ReplyBody::Whole(Default::default()) }
}

/// Returns whether the request comes from a browser; programs do not accept HTML, and get no pages.
fn is_by_browser(request: &Incoming) -> bool {
    let accepts = request.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    request.method == Method::GET && accepts.contains("text/html") && !request.uri.path().starts_with("/v1/")
}

/// The page for unknown paths.
static NOTHING: Route = route::open("").get(|_| Box::pin(async { Err(PageError::not_found()) }));

struct Found {
    route: &'static Route,
    names: Vec<(String, String)>,
    environment: Option<Environment>,
}

impl Found {
    fn nothing() -> Self {
        Self { route: &NOTHING, names: Vec::new(), environment: None }
    }
}

impl Service for Dashboard {
    async fn call(&self, request: Incoming) -> Reply {
        // The administration socket is for commands.
        if request.peer == Peer::Operator {
            return self.api.call(request).await;
        }
        if let Some(reply) = files::reply(&request) {
            return reply;
        }
        if self.api.0.settings.server.demo_shop
            && let Some(reply) = shop::reply(&request)
        {
            return reply;
        }
        match self.find(request.uri.path()) {
            Some(found) => self.visit(found, request).await,
            None if is_by_browser(&request) && !self.api.knows(request.uri.path()) => match self.respelt(&request.uri) {
                Some(location) => moved(location),
                None => self.visit(Found::nothing(), request).await,
            },
            None => self.api.call(request).await,
        }
    }
}

impl Dashboard {
    async fn visit(&self, found: Found, request: Incoming) -> Reply {
        let Found { route, names, environment } = found;
        let Incoming { method, uri, headers, body, peer } = request;
        let engine = &self.api.0;
        // Behind a proxy that does not send the scheme, the base URL's scheme counts.
        let by_proxy = engine.settings.server.behind_proxy && engine.base_url().starts_with("https://");
        let tls = by_proxy || matches!(peer, Peer::Network { tls: true, .. });
        let jar = Jar::read(&headers, tls);
        // Pages without an environment in their path use the last one.
        let environment = environment.unwrap_or_else(|| jar.environment());
        let who = jar.session().and_then(|token| engine.sessions.by_cookie(token, environment, engine.clock.now()));
        let safe = matches!(method, Method::GET | Method::HEAD);
        let mut visit = Visit {
            api: Api(engine.clone()),
            csrf: forms::token(engine, &jar, who.is_some()),
            path: uri.path().to_owned(),
            query: Fields::read(uri.query().unwrap_or_default().as_bytes()),
            form: Fields::default(),
            agent: agent_of(&headers),
            jar,
            who,
            environment,
            names,
            peer,
            stories: self.stories.clone(),
            tasks: self.tasks.clone(),
            rest: Mutex::new(None),
        };
        let run = match if safe { route.get } else { route.post } {
            Some(run) if safe || method == Method::POST => run,
            _ => {
                return visit
                    .error(PageError::plain(StatusCode::METHOD_NOT_ALLOWED, "This page doesn't support that request method."));
            }
        };
        if route.auth == Auth::Closed && visit.who.is_none() {
            let next = if safe { uri.path_and_query().map(ToString::to_string) } else { None };
            return visit.reply(Outcome::to_sign_in(next.as_deref()));
        }
        if !safe {
            if !forms::is_own(engine, &uri, &headers) {
                return visit.error(PageError::foreign_form());
            }
            let collected = match route.streams {
                true => streamed::begin(&headers, body).await.map(|(form, rest)| {
                    visit.rest = Mutex::new(Some(rest));
                    form
                }),
                false => Fields::collect(&headers, body, route).await,
            };
            match collected {
                Ok(form) if forms::is_right(&visit.csrf, form.get("csrf")) => visit.form = form,
                Ok(_) => return visit.error(PageError::foreign_form()),
                Err(error) => return visit.error(error),
            }
        }
        match run(&visit).await {
            Ok(outcome) => visit.reply(outcome),
            Err(error) => visit.error(error),
        }
    }
}

fn agent_of(headers: &HeaderMap) -> String {
    let agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    agent.chars().take(limits::AGENT_CHARACTERS_MAX).collect()
}
