//! The dashboard: pages that are rendered on the server and work without scripts.
//!
//! A page is a row in [`pages::PAGES`], functions over a [`Visit`] in a file of `pages/`, and a template in `assets/dashboard/`. A page
//! calls operations as the signed-in user ([`Visit::ask`]), so it can do nothing that the user's role or the API does not allow. Pages
//! about one environment are under `/test/…` or `/live/…`, so the URL shows which data a form changes.
//!
//! This module implements the parts that no page can omit: the session, the check that form submissions come from the dashboard's own
//! forms, and the policy that allows only the dashboard's own scripts. It does not depend on the content of pages.

mod charts;
mod cookies;
mod edit_previews;
mod error;
pub(in crate::surfaces) mod files;
mod forms;
pub(in crate::surfaces) mod headers;
mod layout;
pub mod page;
mod pages;
mod streamed;
mod template;
mod visit;

use std::sync::{Arc, Mutex};

use http::header::{ACCEPT, HeaderMap, HeaderValue, LOCATION, USER_AGENT};
use http::{Method, StatusCode, Uri};
use matchit::Router;

use self::cookies::Jar;
use self::edit_previews::EditPreviews;
use self::forms::Fields;
use self::page::{Auth, Page};
pub use self::pages::PAGES;
use self::pages::sign_in;
use self::visit::{PageError, PageResponse, Visit};
use crate::engine::api::call::Api;
use crate::engine::api::http_types::{Body, Incoming, Peer, Reply, ReplyBody, Service};
use crate::engine::tasks::Tasks;
use crate::surfaces::demo::{Stories, shop};
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// The HTTP API, together with the dashboard's pages.
pub struct Dashboard {
    api: Api,
    routes: Router<&'static Page>,
    stories: Arc<Stories>,
    edit_previews: Arc<EditPreviews>,
    tasks: Tasks,
}

impl Dashboard {
    pub fn new(api: Api, tasks: Tasks) -> Self {
        let mut routes = Router::new();
        for page in PAGES {
            routes.insert(page.path, page).unwrap_or_else(|error| panic!("the page {} cannot be routed: {error}", page.path));
        }
        Self { api, routes, stories: Arc::new(Stories::new(tasks.clone())), edit_previews: Arc::default(), tasks }
    }

    fn find(&self, path: &str) -> Option<Found> {
        let found = self.routes.at(path).ok()?;
        let path_parameters: Vec<(String, String)> =
            found.params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let environment = match path_parameters.iter().find(|(name, _)| name == "environment") {
            Some((_, word)) => Some(word.parse().ok()?),
            // If a page exists in only one environment, its path starts with that environment.
            None => found.value.path.split('/').nth(1).and_then(|word| word.parse().ok()),
        };
        Some(Found { page: found.value, path_parameters, environment })
    }

    /// Returns the page's correct path if the URL has an extra trailing slash or lacks one.
    fn respelt(&self, uri: &Uri) -> Option<HeaderValue> {
        let path = uri.path();
        let other = path.strip_suffix('/').map_or_else(|| format!("{path}/"), str::to_owned);
        // A browser would follow a redirect to a path with two leading slashes to another site.
        self.find(&other).filter(|_| !other.starts_with("//"))?;
        let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
        HeaderValue::try_from(other + &query).ok()
    }
}

fn moved(location: HeaderValue) -> Reply {
    let mut headers = headers::headers();
    headers.insert(LOCATION, location);
    Reply { status: StatusCode::PERMANENT_REDIRECT, headers, body: ReplyBody::Whole(Default::default()) }
}

/// Returns whether the request is a browser's request for a page: a GET request outside `/v1/` that accepts HTML.
fn is_by_browser(request: &Incoming) -> bool {
    let accepts = request.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    request.method == Method::GET && accepts.contains("text/html") && !request.uri.path().starts_with("/v1/")
}

/// The page for unknown paths.
static NOTHING: Page = Page { get: Some(|_| Box::pin(async { Err(PageError::not_found()) })), ..page::open("") };

struct Found {
    page: &'static Page,
    path_parameters: Vec<(String, String)>,
    environment: Option<Environment>,
}

impl Found {
    fn nothing() -> Self {
        Self { page: &NOTHING, path_parameters: Vec::new(), environment: None }
    }
}

impl Service for Dashboard {
    async fn call(&self, request: Incoming) -> Reply {
        // The administration socket serves only commands, not pages.
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
        let Found { page, path_parameters, environment } = found;
        let Incoming { method, uri, headers, body, peer } = request;
        let engine = &self.api.0;
        // Behind a proxy, the scheme of the base URL applies, because the connection to the proxy can be plain HTTP.
        let by_proxy = engine.settings.server.behind_proxy && engine.base_url().starts_with("https://");
        let tls = by_proxy || matches!(peer, Peer::Network { tls: true, .. });
        let jar = Jar::read(&headers, tls);
        // Pages without an environment in their path use the environment that the browser used last.
        let environment = environment.unwrap_or_else(|| jar.environment());
        let session = jar.session().and_then(|token| engine.sessions.by_cookie(token, environment, engine.clock.now()));
        let mut visit = Visit {
            api: self.api.clone(),
            csrf: forms::token(engine, &jar, session.is_some()),
            path: uri.path().to_owned(),
            query: Fields::read(uri.query().unwrap_or_default().as_bytes()),
            form: Fields::default(),
            agent: agent_of(&headers),
            jar,
            session,
            environment,
            path_parameters,
            peer,
            stories: self.stories.clone(),
            edit_previews: self.edit_previews.clone(),
            tasks: self.tasks.clone(),
            rest: Mutex::new(None),
        };
        let result = run(&mut visit, page, &method, &uri, &headers, body).await;
        layout::respond(visit, result)
    }
}

/// Checks the request, reads its form, and runs the page's function.
async fn run(
    visit: &mut Visit,
    page: &Page,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    body: Body,
) -> Result<PageResponse, PageError> {
    let safe = matches!(*method, Method::GET | Method::HEAD);
    let handler = if safe { page.get } else { page.post.filter(|_| *method == Method::POST) };
    let handler = handler.ok_or_else(|| {
        PageError::plain(
            StatusCode::METHOD_NOT_ALLOWED,
            "This page can't be opened this way. Go back, and use the links and buttons there.",
        )
    })?;
    if page.auth == Auth::Closed && visit.session.is_none() {
        let next = uri.path_and_query().filter(|_| page.get.is_some()).map(ToString::to_string);
        // The form's token expired with the session. Checking the request's origin is sufficient, because the sign-in page only carries the
        // fields and shows them again. A form with a large file is not read.
        if !safe && forms::is_own(&visit.api.0, uri, headers) {
            let files = page.files.map(|_| limits::DASHBOARD_FORM_BYTES_MAX);
            visit.form = Fields::collect(headers, body, files).await.unwrap_or_default();
        }
        return Ok(sign_in::signed_out(visit, next.as_deref()));
    }
    if safe {
        if !page.calls.iter().all(|spec| visit.may_ask(spec)) {
            return Err(PageError::not_allowed());
        }
    } else {
        if !forms::is_own(&visit.api.0, uri, headers) {
            return Err(PageError::invalid_form());
        }
        let form = match page.streams {
            true => {
                let (form, rest) = streamed::begin(headers, body).await?;
                visit.rest = Mutex::new(Some(rest));
                form
            }
            false => Fields::collect(headers, body, page.files).await?,
        };
        // The form is stored before the token is checked, so that the error page can show what the user entered.
        let is_right = forms::is_right(&visit.csrf, form.get("csrf"));
        visit.form = form;
        if !is_right {
            return Err(PageError::invalid_form());
        }
        if let Some(page) = sign_in::confirm_submitted(visit).await? {
            return Ok(page);
        }
    }
    handler(visit).await
}

fn agent_of(headers: &HeaderMap) -> String {
    let agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    agent.chars().take(limits::AGENT_CHARACTERS_MAX).collect()
}
