//! One visit to a page: the user, the submitted form, and calls of the API on the user's behalf.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::StatusCode;
use http::header::{HeaderValue, LOCATION, SET_COOKIE};
use serde_json::{Map, Value, json};

use super::cookies::Jar;
use super::error_text;
use super::forms::{self, Fields};
use super::layout;
use crate::base::hex;
use crate::engine::access::session_cache::UserSession;
use crate::engine::api::Principal;
use crate::engine::api::call::Api;
use crate::engine::api::http_types::{Body, Peer, Reply, ReplyBody};
use crate::engine::jobs::Tasks;
use crate::surfaces::demo::Stories;
use crate::surfaces::internal_call::{self, request};
use crate::vocab::environment::Environment;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

/// One visit.
pub struct Visit {
    pub api: Api,
    /// The signed-in user. Always present on closed pages.
    pub who: Option<UserSession>,
    /// The environment of the page.
    pub environment: Environment,
    pub path: String,
    /// The parameters in the path and their values.
    pub names: Vec<(String, String)>,
    pub query: Fields,
    /// The submitted form; empty without one.
    pub form: Fields,
    /// The token for the page's forms.
    pub csrf: String,
    /// The User-Agent of the browser.
    pub agent: String,
    pub jar: Jar,
    pub peer: Peer,
    /// The running demos.
    pub stories: Arc<Stories>,
    /// For background work.
    pub tasks: Tasks,
    /// The streamed part of a form, until it is used.
    pub rest: Mutex<Option<(HeaderValue, Body)>>,
}

/// The result of a visit.
pub enum Outcome {
    /// A page.
    Page { status: StatusCode, template: &'static str, context: Value, cookie: Option<HeaderValue> },
    /// A redirect to another page of ours, by GET.
    Go { to: String, cookie: Option<HeaderValue> },
    /// An operation's own response: a picture, a download, a document for a frame.
    HandedOn(Reply),
}

impl Outcome {
    /// A page.
    pub fn page(template: &'static str, context: Value) -> Self {
        Self::Page { status: StatusCode::OK, template, context, cookie: None }
    }

    /// A page with an error to correct.
    pub fn again(template: &'static str, context: Value, error: &PageError) -> Self {
        Self::Page { status: error.status, template, context, cookie: None }
    }

    /// A redirect to one of our paths.
    pub fn go(to: impl Into<String>) -> Self {
        Self::Go { to: to.into(), cookie: None }
    }

    /// A redirect to the sign-in page, which then leads to `next`.
    pub fn to_sign_in(next: Option<&str>) -> Self {
        Self::go(with_next("/signin", next))
    }

    /// Adds a cookie.
    pub fn with_cookie(mut self, value: HeaderValue) -> Self {
        if let Self::Page { cookie, .. } | Self::Go { cookie, .. } = &mut self {
            *cookie = Some(value);
        }
        self
    }
}

/// Returns a page of ours with `next` as the page that follows.
pub fn with_next(page: &str, next: Option<&str>) -> String {
    match next.and_then(|next| forms::own_path(next, limits::NEXT_BYTES_MAX)) {
        Some(next) => {
            let join = if page.contains('?') { '&' } else { '?' };
            format!("{page}{join}{}", serde_urlencoded::to_string([("next", next)]).unwrap_or_default())
        }
        None => page.to_owned(),
    }
}

/// Why an action failed, for users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageError {
    pub status: StatusCode,
    /// The API's error code; empty for errors of pages.
    pub code: String,
    pub message: String,
    /// The field in error, if there is one.
    pub field: String,
}

impl PageError {
    /// Creates an error of a page.
    pub fn plain(status: StatusCode, message: &str) -> Self {
        Self { status, code: String::new(), message: message.to_owned(), field: String::new() }
    }

    /// The error for a form that is not ours, or that has expired.
    pub fn foreign_form() -> Self {
        Self::plain(
            StatusCode::FORBIDDEN,
            "The form expired or came from another site, so nothing was changed. Reload the page and try again.",
        )
    }

    /// The error for a form that arrived damaged.
    pub fn broken_form() -> Self {
        Self::plain(StatusCode::BAD_REQUEST, "The form arrived incomplete. Submit it again.")
    }

    /// The error for a missing permission.
    pub fn not_allowed() -> Self {
        Self::plain(
            StatusCode::FORBIDDEN,
            "Your role doesn't allow this. The owner or an admin of the account can change your role.",
        )
    }

    /// The error for an unknown page.
    pub fn not_found() -> Self {
        Self::plain(StatusCode::NOT_FOUND, "Page not found. The URL may be incomplete, or the item was deleted.")
    }

    fn of(status: StatusCode, body: &Value) -> Self {
        let text = |place: &str| body.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (code, message, field) = (text("/code"), text("/error"), text("/data/field"));
        // Users see the field; its API name means nothing to them.
        let is_name = |name: &str| name.starts_with(|first: char| first.is_ascii_lowercase()) && !name.contains(' ');
        let (field, message) = match message.split_once(": ") {
            Some((name, rest)) if name == field || (field.is_empty() && is_name(name)) => (name.to_owned(), rest.to_owned()),
            _ => (field, message),
        };
        let message = error_text::for_people(&code, &field, &message);
        Self { status, code, message, field }
    }
}

impl Visit {
    /// Returns whether to load an email's remote images.
    pub fn wants_images(&self) -> bool {
        self.query.get("images") == "yes"
    }

    /// Returns a value from the path.
    pub fn name(&self, name: &str) -> &str {
        self.names.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value)
    }

    /// Returns whether the user has this permission.
    pub fn may(&self, permission: Permission) -> bool {
        self.who.as_ref().is_some_and(|who| who.user.role.permissions().contains(permission))
    }

    /// Requires this permission: for pages that only have a form.
    pub fn need(&self, permission: Permission) -> Result<(), PageError> {
        if self.may(permission) { Ok(()) } else { Err(PageError::not_allowed()) }
    }

    /// Returns the list page in the URL, from 1; the first if there is none.
    pub fn page(&self) -> u64 {
        let last = limits::PAGE_OFFSET_MAX / limits::PAGE_LIMIT_MAX;
        let number = self.query.get("page");
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { number.parse().unwrap_or(last).clamp(1, last) } else { 1 }
    }

    /// Returns the URL of the last page of a list, if the requested page is beyond it.
    fn last_page(&self, context: &Value) -> Option<String> {
        let number = |name: &str| context["pagination"][name].as_u64();
        let (total, limit, offset) = (number("total")?, number("limit")?, number("offset")?);
        let is_behind = offset > 0 && offset >= total && self.form.get("csrf").is_empty();
        is_behind.then(|| format!("{}?{}", self.path, self.query.with("page", &total.div_ceil(limit).max(1).to_string())))
    }

    /// Returns whether invitation and reset links can be emailed.
    pub fn mails_links(&self) -> bool {
        let settings = &self.api.0.settings;
        settings.accounts.mail_from.is_some() && settings.mail.has_way() && !settings.mail.development
    }

    /// Calls an operation as the signed-in user; returns its `data`.
    pub async fn ask(&self, id: &str, input: Value) -> Result<Value, PageError> {
        data(id, self.send(self.principal(), id, input, None).await)
    }

    /// The same for an operation with a raw body.
    pub async fn ask_with(&self, id: &str, names: Value, content_type: &str, bytes: Bytes) -> Result<Value, PageError> {
        let content_type = HeaderValue::from_str(content_type).map_err(|_| PageError::broken_form())?;
        data(id, self.send(self.principal(), id, names, Some((content_type, Body::Whole(bytes)))).await)
    }

    /// The same with the streamed part of the form. Works once.
    pub async fn ask_with_rest(&self, id: &str) -> Result<Value, PageError> {
        let rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner).take();
        data(id, self.send(self.principal(), id, json!({}), Some(rest.ok_or_else(PageError::broken_form)?)).await)
    }

    /// Calls an operation as the signed-in user and returns its response unchanged: a picture, a download, a document for a frame.
    pub async fn hand_on(&self, id: &str, input: Value) -> Result<Outcome, PageError> {
        let mut reply = self.send(self.principal(), id, input, None).await;
        if !reply.status.is_success() {
            return Err(refused(reply));
        }
        for (name, value) in &layout::headers() {
            // The operation's own headers stay: its policy confines its content.
            reply.headers.entry(name).or_insert_with(|| value.clone());
        }
        Ok(Outcome::HandedOn(reply))
    }

    /// Calls an operation of the operator, on behalf of a user who is not signed in yet.
    pub async fn ask_inside(&self, id: &str, input: Value) -> Result<Value, PageError> {
        data(id, self.send(Principal::Operator, id, input, None).await)
    }

    fn principal(&self) -> Principal {
        self.who.clone().map_or(Principal::Anonymous, Principal::User)
    }

    async fn send(&self, principal: Principal, id: &str, input: Value, body: Option<(HeaderValue, Body)>) -> Reply {
        self.api.call_as(principal, request(self.api.0.operations, id, input, body, self.peer)).await
    }

    /// Returns the page for an error: sign-in, password confirmation, or the error page.
    pub fn error(self, error: PageError) -> Reply {
        let outcome = match error.code.as_str() {
            "NOT_SIGNED_IN" => Outcome::to_sign_in(Some(&self.path)),
            "FRESH_SIGN_IN_REQUIRED" => Outcome::go(with_next("/confirm", Some(&self.path))),
            _ => Outcome::again("error.html", json!({ "title": "Something went wrong", "message": error.message }), &error),
        };
        self.reply(outcome)
    }

    /// Converts the outcome to a reply.
    pub fn reply(mut self, outcome: Outcome) -> Reply {
        let mut cookies: Vec<HeaderValue> = Vec::new();
        if self.who.is_none() && self.jar.guest().is_none() && matches!(outcome, Outcome::Page { .. }) {
            let value = hex::encode(&self.api.0.random.bytes::<16>());
            cookies.push(self.jar.keep_guest(&value));
            self.jar.set_guest(value);
            self.csrf = forms::token(&self.api.0, &self.jar, false);
        }
        if self.who.is_some() {
            cookies.extend(self.jar.keep_environment(self.environment));
        }
        let elsewhere = match &outcome {
            Outcome::Page { status, context, .. } if *status == StatusCode::OK => self.last_page(context),
            _ => None,
        };
        let mut reply = match elsewhere.map_or(outcome, Outcome::go) {
            Outcome::Page { status, template, context, cookie } => {
                cookies.extend(cookie);
                let Value::Object(context) = context else { panic!("the context of a page is an object") };
                layout::reply(&self, status, template, context)
            }
            Outcome::Go { to, cookie } => {
                cookies.extend(cookie);
                let mut headers = layout::headers();
                headers.insert(LOCATION, HeaderValue::from_str(&to).unwrap_or(HeaderValue::from_static("/")));
                Reply { status: StatusCode::SEE_OTHER, headers, body: ReplyBody::Whole(Default::default()) }
            }
            Outcome::HandedOn(reply) => reply,
        };
        cookies.into_iter().for_each(|cookie| {
            reply.headers.append(SET_COOKIE, cookie);
        });
        reply
    }
}

/// Returns the `data` of an operation's response.
fn data(id: &str, reply: Reply) -> Result<Value, PageError> {
    internal_call::data(id, reply).map_err(|reply| refused(*reply))
}

/// Returns why an operation failed.
fn refused(reply: Reply) -> PageError {
    PageError::of(reply.status, &internal_call::body(&reply))
}

/// Returns the submitted values of a form, for templates: each name with its value or empty, and the error.
pub fn entered(form: &Fields, names: &[&str], error: Option<&PageError>) -> Map<String, Value> {
    let mut context: Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), form.get(name).into())).collect();
    let (field, message) = error.map_or(("", ""), |error| (error.field.as_str(), error.message.as_str()));
    // Errors without a field on the page are shown above all fields.
    context.insert("wrong_field".into(), field.into());
    context.insert("wrong".into(), message.into());
    context
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_its_field_and_is_readable() {
        let body = json!({ "error": "role: there is one owner", "code": "INVALID_REQUEST", "data": { "field": "role" } });
        let error = PageError::of(StatusCode::BAD_REQUEST, &body);
        assert_eq!((error.field.as_str(), error.message.as_str()), ("role", "There is one owner."));
    }
}
