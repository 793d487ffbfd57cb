//! The layout of every page: head, navigation, the switch between test and live data, and the security headers.

use http::StatusCode;
use http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, REFERRER_POLICY,
};
use serde_json::{Map, Value, json};

use super::PAGES;
use super::files::{Files, files};
use super::route::Route;
use super::visit::Visit;
use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::spec::Access;
use crate::vocab::environment::Environment;
use crate::vocab::limits::{PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN};
use crate::vocab::permissions::Permission;

/// A navigation entry.
pub struct Line {
    pub label: &'static str,
    /// Under the environment, like `/settings/keys`.
    pub path: &'static str,
    /// Its heading; empty for the first entries.
    pub group: &'static str,
    /// The operations that the page requires: users who may not call one of them do not see the entry.
    pub asks: &'static [&'static str],
}

const fn line(group: &'static str, label: &'static str, path: &'static str, asks: &'static [&'static str]) -> Line {
    Line { label, path, group, asks }
}

/// The navigation, in order.
pub const MENU: &[Line] = &[
    line("", "Home", "/", &[]),
    line("", "Brands", "/brands", &["projects.get"]),
    line("", "Emails", "/emails", &["projects.list", "emails.list"]),
    line("", "Campaigns", "/campaigns", &["campaigns.overview"]),
    line("", "Inbox", "/inbox", &["sending.inbox_list"]),
    line("Audience", "Contacts", "/contacts", &["projects.list", "contacts.list"]),
    line("Audience", "Segments", "/segments", &["projects.list", "segments.list"]),
    line("Audience", "Tags", "/tags", &["projects.list", "tags.list"]),
    line("Audience", "Topics", "/topics", &["projects.list", "topics.list"]),
    line("Audience", "Suppressions", "/suppressions", &["suppressions.list"]),
    line("Setup", "Domains", "/domains", &["domains.list"]),
    line("Developers", "API keys", "/settings/keys", &["accounts.key_list"]),
    line("Developers", "Agent requests", "/settings/approvals", &["accounts.approvals_list"]),
    line("Developers", "Webhooks", "/settings/webhooks", &["webhooks.list"]),
    line("Account", "Members", "/settings/members", &["accounts.members_list"]),
    line("Account", "Security", "/settings/security", &["accounts.sessions_list"]),
    line("Account", "Plan and limits", "/settings/plan", &["sending.plan"]),
    line("Account", "Audit log", "/settings/audit", &["accounts.audit_list"]),
    line("Account", "System", "/settings/system", &[SYSTEM]),
];

/// Only for the installation's own account.
const SYSTEM: &str = "system.status";

/// Returns the headers of every page.
pub fn headers() -> HeaderMap {
    const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                          font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; frame-src 'self'";
    let mut headers = HeaderMap::with_capacity(16);
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // URLs with tokens are not sent to other sites; our own forms do send theirs to us, which identifies them.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin"));
    headers.insert(HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin"));
    headers
}

/// Renders a page as a reply.
pub fn reply(visit: &Visit, status: StatusCode, template: &str, mut context: Map<String, Value>) -> Reply {
    let files = files();
    context.insert("shell".into(), around(visit, &files));
    let body = files.pages.draw(template, &Value::Object(context));
    let mut headers = headers();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    Reply { status, headers, body: ReplyBody::Whole(body.into()) }
}

/// Returns the layout's data.
fn around(visit: &Visit, files: &Files) -> Value {
    let word = visit.environment.word();
    let person = visit.who.as_ref().map(|who| {
        let name = if who.user.name.is_empty() { &who.user.email } else { &who.user.name };
        json!({ "name": name, "email": who.user.email, "manages": who.user.role.manages(), "role": who.user.role.word() })
    });
    let inside = visit.path.strip_prefix(&format!("/{word}")).unwrap_or("/");
    let lines = MENU.iter().filter(|line| line.asks.iter().all(|id| may_ask(visit, id))).map(|line| {
        let here = if line.path == "/" { inside == "/" && visit.path != "/agent" } else { inside.starts_with(line.path) };
        json!({ "label": line.label, "path": format!("/{word}{}", line.path), "group": line.group, "here": here })
    });
    let both = if visit.path.starts_with(&format!("/{word}/")) { in_both(inside) } else { "/" };
    let worlds = Environment::ALL.map(|environment| {
        let is_here = environment == visit.environment && both != "/";
        let path = if is_here { inside } else { both };
        json!({ "word": environment.word(), "path": format!("/{environment}{path}"), "here": environment == visit.environment })
    });
    json!({
        "style": files.style.path,
        "script": files.script.path,
        "csrf": visit.csrf,
        "path": visit.path,
        "environment": word,
        // The base URL of the API.
        "base": visit.api.0.base_url(),
        "person": person,
        "may": allowed(visit),
        "menu": lines.collect::<Vec<_>>(),
        "worlds": worlds,
        "sign_up": visit.api.0.settings.accounts.sign_up,
        "password_min": PASSWORD_CHARACTERS_MIN,
        "password_max": PASSWORD_CHARACTERS_MAX,
    })
}

/// Returns the user's permissions for templates: each one, like `campaign_write`, with whether they have it.
fn allowed(visit: &Visit) -> Value {
    let one = |permission: Permission| (permission.word().replace(':', "_"), visit.may(permission).into());
    let mut allowed: Map<String, Value> = Permission::ALL.map(one).into_iter().collect();
    allowed.insert("look_at_system".into(), may_ask(visit, SYSTEM).into());
    Value::Object(allowed)
}

/// Returns whether the user may call an operation.
pub fn may_ask(visit: &Visit, id: &str) -> bool {
    let Some(who) = &visit.who else { return false };
    let entry = visit.api.0.operations.iter().find(|entry| entry.spec.id == id);
    let entry = entry.unwrap_or_else(|| panic!("{id} is in the navigation but is not an operation"));
    let is_for_role = match entry.spec.access {
        Access::Public | Access::Person => true,
        Access::Needs(permission) => visit.may(permission),
        Access::NeedsOne(permissions) => permissions.iter().any(|permission| visit.may(*permission)),
        Access::Manager => who.user.role.manages(),
        Access::Operator => false,
    };
    is_for_role && (id != SYSTEM || who.user.account.is_installations)
}

/// Returns the part of the path that both environments share: an id after it exists in only one of them.
fn in_both(inside: &str) -> &str {
    let mut path = inside;
    while !path.is_empty() && !is_nameless(path) {
        path = &path[..path.rfind('/').unwrap_or(0)];
    }
    if path.is_empty() { "/" } else { path }
}

/// Returns whether both environments have this page and its path contains no id.
fn is_nameless(path: &str) -> bool {
    let is_it = |route: &Route| route.get.is_some() && route.path.strip_prefix("/{environment}") == Some(path);
    PAGES.iter().copied().flatten().any(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_leads_to_the_other_environment() {
        for route in PAGES.iter().copied().flatten() {
            let Some(path) = route.path.strip_prefix("/{environment}") else { continue };
            let there = in_both(path);
            assert!(is_nameless(there), "{path} leads to {there}");
            assert!(route.get.is_none() || path.contains('{') || there == path, "{path} leads to {there}");
        }
        let id = "66f1a2b3d4e5f60718293a4b";
        for (path, there) in [
            (format!("/emails/series/{id}"), "/emails"),
            (format!("/contacts/jobs/export/{id}"), "/contacts"),
            (format!("/contacts/{id}"), "/contacts"),
            (format!("/contacts/import/{id}"), "/contacts/import"),
            (format!("/brands/{id}/knowledge"), "/brands"),
            ("/settings/webhooks".into(), "/settings/webhooks"),
            ("/nothing/here".into(), "/"),
        ] {
            assert_eq!(in_both(&path), there, "{path}");
        }
    }
}
