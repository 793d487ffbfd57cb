//! The dashboard: pages for people, drawn on the server, working without scripts.
//!
//! A page is a row in [`ROUTES`] and a function over a [`Visit`]: it asks operations as the person who is signed in ([`Visit::ask`]) and
//! names a template. So a page can do nothing that the person's role does not allow, and nothing that the interface could not do.
//! What belongs to one of the two worlds stands under `/test/…` or `/live/…`: the address says which data a form changes.
//!
//! Here stands what all pages share and none can forget: who is signed in, that unsafe requests come from our own forms, and the
//! policy that lets no script in but ours. It does not know what any page says.

mod assets;
mod cookies;
mod forms;
mod pages;
mod shell;
mod visit;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use http::header::{HeaderMap, USER_AGENT};
use http::{Method, StatusCode};
use matchit::Router;

use self::cookies::Jar;
use self::forms::Fields;
use self::visit::{Outcome, Trouble, Visit};
use crate::engine::api::Engine;
use crate::engine::api::call::Api;
use crate::engine::api::wire::{Incoming, Peer, Reply, Service};
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// What a page's function comes to.
type Drawing<'v> = Pin<Box<dyn Future<Output = Result<Outcome, Trouble>> + Send + 'v>>;

/// Who may see a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    /// Anybody.
    Open,
    /// Who is signed in; others are sent to sign in first and come back.
    Closed,
}

/// A page, or what one of its forms sends to.
struct Route {
    path: &'static str,
    door: Door,
    get: Option<for<'v> fn(&'v Visit) -> Drawing<'v>>,
    post: Option<for<'v> fn(&'v Visit) -> Drawing<'v>>,
}

const fn open(path: &'static str) -> Route {
    Route { path, door: Door::Open, get: None, post: None }
}

const fn closed(path: &'static str) -> Route {
    Route { path, door: Door::Closed, get: None, post: None }
}

impl Route {
    const fn get(mut self, run: for<'v> fn(&'v Visit) -> Drawing<'v>) -> Self {
        self.get = Some(run);
        self
    }

    const fn post(mut self, run: for<'v> fn(&'v Visit) -> Drawing<'v>) -> Self {
        self.post = Some(run);
        self
    }
}

use self::pages::{agent, approvals, audit, home, keys, links, members, security, sign_in};

/// Every page. To add one: a row here, a function in `pages/`, a template in `assets/dashboard/`, and a line in [`shell::MENU`].
const ROUTES: &[Route] = &[
    open("/").get(|visit| Box::pin(home::start(visit))),
    open("/signin").get(|visit| Box::pin(sign_in::show(visit))).post(|visit| Box::pin(sign_in::send(visit))),
    open("/signup").get(|visit| Box::pin(links::sign_up(visit))).post(|visit| Box::pin(links::send_sign_up(visit))),
    open("/forgot").get(|visit| Box::pin(links::forgot(visit))),
    open("/reset/{token}").get(|visit| Box::pin(links::reset(visit))).post(|visit| Box::pin(links::send_reset(visit))),
    open("/join/{token}").get(|visit| Box::pin(links::join(visit))).post(|visit| Box::pin(links::send_join(visit))),
    closed("/signout").post(|visit| Box::pin(sign_in::sign_out(visit))),
    closed("/confirm").get(|visit| Box::pin(sign_in::confirm(visit))).post(|visit| Box::pin(sign_in::send_confirm(visit))),
    closed("/agent").get(|visit| Box::pin(agent::show(visit))).post(|visit| Box::pin(agent::decide(visit))),
    closed("/{environment}/").get(|visit| Box::pin(home::show(visit))),
    closed("/{environment}/settings/keys").get(|visit| Box::pin(keys::show(visit))).post(|visit| Box::pin(keys::send(visit))),
    closed("/{environment}/settings/approvals")
        .get(|visit| Box::pin(approvals::show(visit)))
        .post(|visit| Box::pin(approvals::send(visit))),
    closed("/{environment}/settings/members")
        .get(|visit| Box::pin(members::show(visit)))
        .post(|visit| Box::pin(members::send(visit))),
    closed("/{environment}/settings/security")
        .get(|visit| Box::pin(security::show(visit)))
        .post(|visit| Box::pin(security::send(visit))),
    closed("/{environment}/settings/audit").get(|visit| Box::pin(audit::show(visit))),
];

/// The interface for programs with the dashboard in front of it.
pub struct Dashboard {
    api: Api,
    routes: Router<&'static Route>,
}

impl Dashboard {
    /// The dashboard of this engine.
    pub fn new(engine: Arc<Engine>) -> Self {
        let mut routes = Router::new();
        for route in ROUTES {
            routes.insert(route.path, route).unwrap_or_else(|error| panic!("the page {} cannot be routed: {error}", route.path));
        }
        Self { api: Api(engine), routes }
    }

    fn find(&self, path: &str) -> Option<Found> {
        let found = self.routes.at(path).ok()?;
        let names: Vec<(String, String)> = found.params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let environment = match names.iter().find(|(name, _)| name == "environment") {
            Some((_, word)) => Some(word.parse().ok()?),
            None => None,
        };
        Some(Found { route: found.value, names, environment })
    }
}

struct Found {
    route: &'static Route,
    names: Vec<(String, String)>,
    environment: Option<Environment>,
}

impl Service for Dashboard {
    async fn call(&self, request: Incoming) -> Reply {
        // The administration socket is for commands.
        if request.peer == Peer::Operator {
            return self.api.call(request).await;
        }
        if let Some(reply) = assets::reply(&request) {
            return reply;
        }
        match self.find(request.uri.path()) {
            Some(found) => self.visit(found, request).await,
            None => self.api.call(request).await,
        }
    }
}

impl Dashboard {
    async fn visit(&self, found: Found, request: Incoming) -> Reply {
        let Found { route, names, environment } = found;
        let Incoming { method, uri, headers, body, peer } = request;
        let engine = &self.api.0;
        // A proxy that does not say so speaks TLS all the same where the service's own address does.
        let by_proxy = engine.settings.server.behind_proxy && engine.base_url().starts_with("https://");
        let tls = by_proxy || matches!(peer, Peer::Network { tls: true, .. });
        let jar = Jar::read(&headers, tls);
        // Pages about no data of their own speak of the data that was looked at last.
        let environment = environment.unwrap_or_else(|| jar.environment());
        let who = jar.session().and_then(|token| engine.people.by_cookie(token, environment, engine.clock.now()));
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
        };
        let run = match if safe { route.get } else { route.post } {
            Some(run) if safe || method == Method::POST => run,
            _ => return visit.trouble(Trouble::plain(StatusCode::METHOD_NOT_ALLOWED, "This page cannot be used in that way.")),
        };
        if route.door == Door::Closed && visit.who.is_none() {
            let next = if safe { uri.path_and_query().map(ToString::to_string) } else { None };
            return visit.reply(Outcome::to_sign_in(next.as_deref()));
        }
        if !safe {
            if !forms::is_own(engine, &uri, &headers) {
                return visit.trouble(Trouble::foreign_form());
            }
            match Fields::collect(&headers, body, limits::DASHBOARD_FORM_BYTES_MAX).await {
                Ok(form) if forms::is_right(&visit.csrf, form.get("csrf")) => visit.form = form,
                Ok(_) => return visit.trouble(Trouble::foreign_form()),
                Err(trouble) => return visit.trouble(trouble),
            }
        }
        match run(&visit).await {
            Ok(outcome) => visit.reply(outcome),
            Err(trouble) => visit.trouble(trouble),
        }
    }
}

fn agent_of(headers: &HeaderMap) -> String {
    let agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    agent.chars().take(limits::AGENT_CHARACTERS_MAX).collect()
}
