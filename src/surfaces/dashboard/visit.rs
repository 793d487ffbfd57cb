//! One visit to a page: who comes, what they sent, and what they may ask of the interface.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use data_encoding::HEXLOWER;
use http::StatusCode;
use http::header::{HeaderValue, LOCATION, SET_COOKIE};
use serde_json::{Map, Value, json};

use super::cookies::Jar;
use super::error_text;
use super::forms::{self, Fields};
use super::layout;
use crate::engine::access::session_cache::UserSession;
use crate::engine::api::Principal;
use crate::engine::api::call::Api;
use crate::engine::api::http_types::{Body, Peer, Reply, ReplyBody};
use crate::engine::tasks::Tasks;
use crate::surfaces::demo::Stories;
use crate::surfaces::internal_call::{self, request};
use crate::vocab::environment::Environment;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

/// One visit.
pub struct Visit {
    pub api: Api,
    /// Who is signed in. Pages behind a closed door have somebody.
    pub who: Option<UserSession>,
    /// Which data the page is about.
    pub environment: Environment,
    pub path: String,
    /// The names in the path and their values.
    pub names: Vec<(String, String)>,
    pub query: Fields,
    /// What a form sent; empty when nothing was sent.
    pub form: Fields,
    /// What the forms of the page bear.
    pub csrf: String,
    /// What the browser calls itself.
    pub agent: String,
    pub jar: Jar,
    pub peer: Peer,
    /// The first minutes that are told.
    pub stories: Arc<Stories>,
    /// For work that nobody waits for.
    pub tasks: Tasks,
    /// What a form of a page that streams has behind its token, until somebody takes it.
    pub rest: Mutex<Option<(HeaderValue, Body)>>,
}

/// What a visit comes to.
pub enum Outcome {
    /// A page.
    Page { status: StatusCode, template: &'static str, context: Value, cookie: Option<HeaderValue> },
    /// Another page of ours, by GET.
    Go { to: String, cookie: Option<HeaderValue> },
    /// An operation's own answer: a picture, a download, a document for a frame.
    HandedOn(Reply),
}

impl Outcome {
    /// A page.
    pub fn page(template: &'static str, context: Value) -> Self {
        Self::Page { status: StatusCode::OK, template, context, cookie: None }
    }

    /// A page that says what to correct.
    pub fn again(template: &'static str, context: Value, error: &PageError) -> Self {
        Self::Page { status: error.status, template, context, cookie: None }
    }

    /// Another page. The path is one of ours.
    pub fn go(to: impl Into<String>) -> Self {
        Self::Go { to: to.into(), cookie: None }
    }

    /// The page for signing in, from which `next` follows.
    pub fn to_sign_in(next: Option<&str>) -> Self {
        Self::go(with_next("/signin", next))
    }

    /// The same with a cookie.
    pub fn with_cookie(mut self, value: HeaderValue) -> Self {
        if let Self::Page { cookie, .. } | Self::Go { cookie, .. } = &mut self {
            *cookie = Some(value);
        }
        self
    }
}

/// A page of ours from which `next` follows.
pub fn with_next(page: &str, next: Option<&str>) -> String {
    match next.and_then(|next| forms::own_path(next, limits::NEXT_BYTES_MAX)) {
        Some(next) => {
            let join = if page.contains('?') { '&' } else { '?' };
            format!("{page}{join}{}", serde_urlencoded::to_string([("next", next)]).unwrap_or_default())
        }
        None => page.to_owned(),
    }
}

/// Why something was not done, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageError {
    pub status: StatusCode,
    /// The interface's code; empty for troubles of pages.
    pub code: String,
    pub message: String,
    /// The field of the input that is wrong, if it is one.
    pub field: String,
}

impl PageError {
    /// A trouble of a page.
    pub fn plain(status: StatusCode, message: &str) -> Self {
        Self { status, code: String::new(), message: message.to_owned(), field: String::new() }
    }

    /// A form that is not one of ours, or an old one.
    pub fn foreign_form() -> Self {
        Self::plain(
            StatusCode::FORBIDDEN,
            "The form expired or came from another site, so nothing was changed. Reload the page and try again.",
        )
    }

    /// A form that did not arrive as it was sent.
    pub fn broken_form() -> Self {
        Self::plain(StatusCode::BAD_REQUEST, "The form arrived incomplete. Submit it again.")
    }

    /// The role of who looks does not include it.
    pub fn not_allowed() -> Self {
        Self::plain(
            StatusCode::FORBIDDEN,
            "Your role doesn't allow this. The owner or an admin of the account can change your role.",
        )
    }

    /// Nothing is there.
    pub fn not_found() -> Self {
        Self::plain(StatusCode::NOT_FOUND, "Page not found. The URL may be incomplete, or the item was deleted.")
    }

    fn of(status: StatusCode, body: &Value) -> Self {
        let text = |place: &str| body.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (code, message, field) = (text("/code"), text("/error"), text("/data/field"));
        // People see the field; its name in the interface says nothing to them.
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
    /// Whether an email is to be shown with the images of other servers.
    pub fn wants_images(&self) -> bool {
        self.query.get("images") == "yes"
    }

    /// A value from the path.
    pub fn name(&self, name: &str) -> &str {
        self.names.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value)
    }

    /// Whether who looks may do this.
    pub fn may(&self, permission: Permission) -> bool {
        self.who.as_ref().is_some_and(|who| who.user.role.permissions().contains(permission))
    }

    /// That who looks may do this: for pages that are nothing but a form.
    pub fn need(&self, permission: Permission) -> Result<(), PageError> {
        if self.may(permission) { Ok(()) } else { Err(PageError::not_allowed()) }
    }

    /// The page of a list that the address names, from 1; the first one if it names none.
    pub fn page(&self) -> u64 {
        let last = limits::PAGE_OFFSET_MAX / limits::PAGE_LIMIT_MAX;
        let number = self.query.get("page");
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { number.parse().unwrap_or(last).clamp(1, last) } else { 1 }
    }

    /// The address of the last page of the list that is shown, if the one that was asked for lies behind it.
    fn last_page(&self, context: &Value) -> Option<String> {
        let number = |name: &str| context["pagination"][name].as_u64();
        let (total, limit, offset) = (number("total")?, number("limit")?, number("offset")?);
        let is_behind = offset > 0 && offset >= total && self.form.get("csrf").is_empty();
        is_behind.then(|| format!("{}?{}", self.path, self.query.with("page", &total.div_ceil(limit).max(1).to_string())))
    }

    /// Whether links to join and to new passwords can be mailed.
    pub fn mails_links(&self) -> bool {
        let settings = &self.api.0.settings;
        settings.accounts.mail_from.is_some() && settings.mail.has_way() && !settings.mail.development
    }

    /// Do an operation as who is signed in; its `data`.
    pub async fn ask(&self, id: &str, input: Value) -> Result<Value, PageError> {
        data(id, self.send(self.principal(), id, input, None).await)
    }

    /// The same with an operation that takes its body as it comes.
    pub async fn ask_with(&self, id: &str, names: Value, content_type: &str, bytes: Bytes) -> Result<Value, PageError> {
        let content_type = HeaderValue::from_str(content_type).map_err(|_| PageError::broken_form())?;
        data(id, self.send(self.principal(), id, names, Some((content_type, Body::Whole(bytes)))).await)
    }

    /// The same with what the form has behind its token, as it arrives. Once.
    pub async fn ask_with_rest(&self, id: &str) -> Result<Value, PageError> {
        let rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner).take();
        data(id, self.send(self.principal(), id, json!({}), Some(rest.ok_or_else(PageError::broken_form)?)).await)
    }

    /// Do an operation as who is signed in and hand on its answer as it is: a picture, a download, a document for a frame.
    pub async fn hand_on(&self, id: &str, input: Value) -> Result<Outcome, PageError> {
        let mut reply = self.send(self.principal(), id, input, None).await;
        if !reply.status.is_success() {
            return Err(refused(reply));
        }
        for (name, value) in &layout::headers() {
            // What the operation says of itself is about its own content: its policy keeps that content in.
            reply.headers.entry(name).or_insert_with(|| value.clone());
        }
        Ok(Outcome::HandedOn(reply))
    }

    /// Do an operation of the machine's operator: on behalf of somebody who has yet to show who they are.
    pub async fn ask_inside(&self, id: &str, input: Value) -> Result<Value, PageError> {
        data(id, self.send(Principal::Operator, id, input, None).await)
    }

    fn principal(&self) -> Principal {
        self.who.clone().map_or(Principal::Anonymous, Principal::User)
    }

    async fn send(&self, principal: Principal, id: &str, input: Value, body: Option<(HeaderValue, Body)>) -> Reply {
        self.api.call_as(principal, request(self.api.operations(), id, input, body, self.peer)).await
    }

    /// The page for a trouble: for signing in, for proving who one is, or one that says what is wrong.
    pub fn error(self, error: PageError) -> Reply {
        let outcome = match error.code.as_str() {
            "NOT_SIGNED_IN" => Outcome::to_sign_in(Some(&self.path)),
            "FRESH_SIGN_IN_REQUIRED" => Outcome::go(with_next("/confirm", Some(&self.path))),
            _ => Outcome::again("error.html", json!({ "title": "Something went wrong", "message": error.message }), &error),
        };
        self.reply(outcome)
    }

    /// The outcome as an answer.
    pub fn reply(mut self, outcome: Outcome) -> Reply {
        let mut cookies: Vec<HeaderValue> = Vec::new();
        if self.who.is_none() && self.jar.guest().is_none() && matches!(outcome, Outcome::Page { .. }) {
            let value = HEXLOWER.encode(&self.api.0.random.bytes::<16>());
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

/// The `data` of an operation's answer.
fn data(id: &str, reply: Reply) -> Result<Value, PageError> {
    internal_call::data(id, reply).map_err(|reply| refused(*reply))
}

/// Why an operation was not done.
fn refused(reply: Reply) -> PageError {
    PageError::of(reply.status, &internal_call::body(&reply))
}

/// What a form's fields need to be filled in again, for templates: each name with what was sent or nothing, and what is wrong with it.
pub fn entered(form: &Fields, names: &[&str], error: Option<&PageError>) -> Map<String, Value> {
    let mut context: Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), form.get(name).into())).collect();
    let (field, message) = error.map_or(("", ""), |error| (error.field.as_str(), error.message.as_str()));
    // What belongs to no field of the page stands above all of them.
    context.insert("wrong_field".into(), field.into());
    context.insert("wrong".into(), message.into());
    context
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trouble_names_its_field_and_speaks_to_people() {
        let body = json!({ "error": "role: there is one owner", "code": "INVALID_REQUEST", "data": { "field": "role" } });
        let error = PageError::of(StatusCode::BAD_REQUEST, &body);
        assert_eq!((error.field.as_str(), error.message.as_str()), ("role", "There is one owner."));
    }
}
