//! Renders the reply to a visit: the page in its layout, with the head, the navigation and the switch between test and live data.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use http::StatusCode;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, LOCATION, SET_COOKIE};
use serde::Serialize;
use serde_json::{Map, Value};

use super::files::{Files, files};
use super::forms;
use super::headers::headers;
use super::page::{self, Page};
use super::pages::{PAGES, sign_in};
use super::template::{self, page_context};
use super::visit::{PageError, PageResponse, Visit};
use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::features::system;
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::limits::{PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN};
use crate::vocab::permissions::Permission;

#[derive(Serialize)]
pub struct ErrorPage {
    message: String,
    /// What the user entered in the form, for copying.
    entries: Vec<(String, String)>,
    /// The fields for submitting the form again.
    again: Vec<(String, String)>,
    /// The URL to which the form is submitted.
    action: String,
}

page_context!(ErrorPage, "error.html", {
    let page = |entries: Vec<(String, String)>| Self {
        message: "Page not found.".into(),
        again: entries.clone(),
        entries,
        action: "/test/tags".into(),
    };
    vec![page(Vec::new()), page(vec![("name".into(), "Ada".into())])]
});

/// Converts the result of a visit to a reply.
pub fn respond(mut visit: Visit, result: Result<PageResponse, PageError>) -> Reply {
    let response = result.unwrap_or_else(|error| error_page(&visit, error));
    let mut cookies: Vec<HeaderValue> = Vec::new();
    if visit.session.is_none() && visit.jar.guest().is_none() && matches!(response, PageResponse::Page { .. }) {
        let value = HEXLOWER.encode(&visit.api.0.random.bytes::<16>());
        cookies.push(visit.jar.keep_guest(&value));
        visit.jar.set_guest(value);
        visit.csrf = forms::token(&visit.api.0, &visit.jar, false);
    }
    if visit.session.is_some() {
        cookies.extend(visit.jar.keep_environment(visit.environment));
    }
    let elsewhere = match &response {
        PageResponse::Page { status, context, .. } if *status == StatusCode::OK => last_page(&visit, context),
        _ => None,
    };
    let mut reply = match elsewhere.map_or(response, PageResponse::redirect) {
        PageResponse::Page { status, template, context, cookie } => {
            cookies.extend(cookie);
            render(&visit, status, template, context.as_object().cloned().unwrap_or_default())
        }
        PageResponse::Redirect { to, cookie } => {
            cookies.extend(cookie);
            let mut headers = headers();
            headers.insert(LOCATION, HeaderValue::from_str(&to).unwrap_or(HeaderValue::from_static("/")));
            Reply { status: StatusCode::SEE_OTHER, headers, body: ReplyBody::Whole(Default::default()) }
        }
        PageResponse::Forwarded(reply) => reply,
    };
    cookies.into_iter().for_each(|cookie| {
        reply.headers.append(SET_COOKIE, cookie);
    });
    reply
}

/// Returns the response to an error: the sign-in page, the password confirmation or the error page.
fn error_page(visit: &Visit, error: PageError) -> PageResponse {
    let error = error.without_ids();
    match error.code {
        Some(Code::NotSignedIn) => sign_in::signed_out(visit, Some(&visit.address())),
        Some(Code::FreshSignInRequired) => sign_in::confirm_form(visit, None),
        _ => {
            let page = ErrorPage {
                message: error.message.clone(),
                entries: visit.form.entries(),
                // An operation that a rate limit rejects changes nothing, so the form can be submitted again.
                again: if error.status == StatusCode::TOO_MANY_REQUESTS { visit.form.repeatable() } else { Vec::new() },
                action: visit.address(),
            };
            PageResponse::draw_with(&page, Some(&error))
        }
    }
}

/// Returns the URL of a list's last page, if the requested page is beyond the end of the list.
fn last_page(visit: &Visit, context: &Value) -> Option<String> {
    let number = |name: &str| context["pagination"][name].as_u64();
    let (total, limit, offset) = (number("total")?, number("limit")?, number("offset")?);
    let is_behind = offset > 0 && offset >= total && visit.form.get("csrf").is_empty();
    is_behind.then(|| format!("{}?{}", visit.path, visit.query.with("page", &total.div_ceil(limit).max(1).to_string())))
}

fn render(visit: &Visit, status: StatusCode, template: &str, mut context: Map<String, Value>) -> Reply {
    let files = files();
    context.insert("shell".into(), template::context(&Shell::of(visit, &files)));
    let (status, body) = match files.pages.try_draw(template, &Value::Object(context)) {
        Ok(body) => (status, body),
        Err(error) => {
            tracing::error!(template, error, path = visit.path, "a page could not be rendered");
            (StatusCode::INTERNAL_SERVER_ERROR, RENDER_FAILED.to_owned())
        }
    };
    let mut headers = headers();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    Reply { status, headers, body: ReplyBody::Whole(body.into()) }
}

/// The response if the template of a page cannot be rendered.
const RENDER_FAILED: &str = "<!doctype html><title>Something went wrong</title><h1>Something went wrong</h1>\
                       <p>Mailmill couldn't show this page. The log contains the error.</p>";

/// The data that the layout shows around every page.
#[derive(Serialize)]
pub struct Shell {
    style: String,
    script: String,
    csrf: String,
    path: String,
    /// The action that led to this page, for a confirmation message.
    done: String,
    environment: &'static str,
    /// Whether live mail, like test mail, stays in the built-in inbox.
    development: bool,
    /// The base URL of the API, for examples.
    base: String,
    person: Option<Person>,
    /// Whether the user has each permission; the names are like `campaign_write`.
    may: BTreeMap<String, bool>,
    menu: Vec<MenuLine>,
    environments: Vec<EnvironmentLink>,
    sign_up: bool,
    password_min: usize,
    password_max: usize,
}

#[derive(Serialize)]
struct Person {
    name: String,
    email: String,
    manages: bool,
    role: &'static str,
}

#[derive(Serialize)]
struct MenuLine {
    label: &'static str,
    path: String,
    group: &'static str,
    here: bool,
}

#[derive(Serialize)]
struct EnvironmentLink {
    word: &'static str,
    path: String,
    here: bool,
}

impl Shell {
    fn of(visit: &Visit, files: &Files) -> Self {
        let word = visit.environment.word();
        let person = visit.session.as_ref().map(|session| Person {
            name: if session.user.name.is_empty() { session.user.email.to_string() } else { session.user.name.to_string() },
            email: session.user.email.to_string(),
            manages: session.user.role.manages(),
            role: session.user.role.word(),
        });
        let inside = visit.path.strip_prefix(&format!("/{word}")).unwrap_or("/");
        let both = if visit.path.starts_with(&format!("/{word}/")) { in_both(inside) } else { "/" };
        let environments = Environment::ALL.map(|environment| {
            let is_here = environment == visit.environment && both != "/";
            let path = if is_here { inside } else { both };
            EnvironmentLink {
                word: environment.word(),
                path: format!("/{environment}{path}"),
                here: environment == visit.environment,
            }
        });
        Self {
            style: files.style.path.clone(),
            script: files.script.path.clone(),
            csrf: visit.csrf.clone(),
            path: visit.path.clone(),
            done: visit.query.get("done").to_owned(),
            environment: word,
            development: visit.api.0.settings.mail.development,
            base: visit.api.0.base_url().to_owned(),
            person,
            may: allowed(visit),
            menu: menu(visit, inside),
            environments: environments.into(),
            sign_up: visit.api.0.settings.accounts.sign_up,
            password_min: PASSWORD_CHARACTERS_MIN,
            password_max: PASSWORD_CHARACTERS_MAX,
        }
    }

    /// Returns sample data for the layout. The user has every permission if `allowed` is true, otherwise none.
    #[cfg(test)]
    pub fn sample(allowed: bool) -> Self {
        let mut may: BTreeMap<String, bool> = Permission::ALL.map(|one| (permission_name(one), allowed)).into_iter().collect();
        may.insert("view_system".into(), allowed);
        Self {
            style: "/assets/dashboard.css".into(),
            script: "/assets/dashboard.js".into(),
            csrf: "0123456789abcdef".into(),
            path: "/test/tags".into(),
            done: "added".into(),
            environment: "test",
            development: !allowed,
            base: "https://mail.example.com".into(),
            person: Some(Person { name: "Ada".into(), email: "ada@example.com".into(), manages: true, role: "owner" }),
            may,
            menu: vec![MenuLine { label: "Tags", path: "/test/tags".into(), group: "Audience", here: true }],
            environments: vec![EnvironmentLink { word: "test", path: "/test/tags".into(), here: true }],
            sign_up: true,
            password_min: PASSWORD_CHARACTERS_MIN,
            password_max: PASSWORD_CHARACTERS_MAX,
        }
    }
}

/// Returns the navigation: the pages that have a label and that the user may open, in the order of `PAGES`.
fn menu(visit: &Visit, inside: &str) -> Vec<MenuLine> {
    let line = |page: &'static Page| {
        let ((group, label), path) = (page.menu?, page.path.strip_prefix("/{environment}")?);
        if !page.calls.iter().all(|spec| visit.may_ask(spec)) {
            return None;
        }
        let here = if path == "/" { inside == "/" && visit.path != "/agent" } else { inside.starts_with(path) };
        Some(MenuLine { label, path: format!("/{}{path}", visit.environment.word()), group, here })
    };
    PAGES.iter().filter_map(line).collect()
}

fn permission_name(permission: Permission) -> String {
    permission.word().replace(':', "_")
}

/// Returns whether the user has each permission, for templates; the names are like `campaign_write`.
fn allowed(visit: &Visit) -> BTreeMap<String, bool> {
    let mut allowed: BTreeMap<String, bool> =
        Permission::ALL.map(|permission| (permission_name(permission), visit.may(permission))).into_iter().collect();
    allowed.insert("view_system".into(), visit.may_ask(page::spec::<system::ops::status::Status>()));
    allowed
}

/// Returns the longest prefix of the path that is a page in both environments. The prefix contains no ID, because an ID exists in only one
/// environment.
fn in_both(inside: &str) -> &str {
    let mut path = inside;
    while !path.is_empty() && !is_nameless(path) {
        path = &path[..path.rfind('/').unwrap_or(0)];
    }
    if path.is_empty() { "/" } else { path }
}

/// Returns whether the page exists in both environments and its path contains no ID.
fn is_nameless(path: &str) -> bool {
    PAGES.iter().any(|page| page.get.is_some() && page.path.strip_prefix("/{environment}") == Some(path))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::surfaces::dashboard::page::page_template;

    #[test]
    fn every_page_leads_to_the_other_environment() {
        for page in PAGES {
            let Some(path) = page.path.strip_prefix("/{environment}") else { continue };
            let there = in_both(path);
            assert!(is_nameless(there), "{path} leads to {there}");
            assert!(page.get.is_none() || path.contains('{') || there == path, "{path} leads to {there}");
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

    /// Renders every sample for users with all permissions and with none, without an error and with an error for each field.
    #[test]
    fn every_template_renders_its_samples() {
        let files = files();
        let shells = [true, false].map(|allowed| template::context(&Shell::sample(allowed)));
        let mut findings = BTreeSet::new();
        for one in PAGES.iter().flat_map(|page| page.templates).chain([&page_template::<ErrorPage>()]) {
            let name = one.template.name;
            let samples = (one.samples)();
            assert!(!samples.is_empty(), "{name} has no sample");
            for (index, mut sample) in samples.into_iter().enumerate() {
                let fields: Vec<String> =
                    sample.as_object().expect("a sample is an object").keys().cloned().chain([String::new()]).collect();
                for shell in &shells {
                    for (error, field) in fields.iter().map(|field| ("There is a problem.", field)).chain([("", &String::new())])
                    {
                        sample["shell"] = shell.clone();
                        sample["error"] = error.into();
                        sample["error_field"] = field.as_str().into();
                        let failed = files.pages.try_draw(name, &sample).err();
                        findings.extend(failed.map(|error| format!("sample {index}: {error}")));
                    }
                }
                // Variables in branches that no sample reaches are checked too.
                let unknown = files.pages.unknown_names(name, &sample);
                findings.extend(unknown.into_iter().map(|unknown| format!("{name} reads the undefined variable {unknown}")));
            }
        }
        assert_eq!(findings, BTreeSet::new());
    }

    #[test]
    fn every_page_that_is_drawn_names_its_template_once() {
        let names: Vec<&str> = PAGES.iter().flat_map(|page| page.templates).map(|one| one.template.name).collect();
        assert_eq!(names.len(), names.iter().collect::<BTreeSet<_>>().len(), "no template is listed twice");
    }
}
