//! A visit to a page: the user, the submitted form, and the API calls made on the user's behalf.

use std::sync::{Arc, Mutex, PoisonError};

use http::StatusCode;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};

use super::cookies::Jar;
use super::edit_previews::EditPreviews;
pub use super::error::PageError;
use super::forms::{self, Fields};
use super::headers::headers;
use super::template::{self, Context};
use crate::engine::access::session_cache::UserSession;
use crate::engine::api::call::Api;
use crate::engine::api::http_types::{Body, Peer, Reply, ReplyBody};
use crate::engine::api::spec::Access;
use crate::engine::api::{Failure, Operation, Principal, Spec, input};
use crate::engine::tasks::Tasks;
use crate::features::system;
use crate::surfaces::demo::Stories;
use crate::surfaces::internal_call::{self, request};
use crate::vocab::environment::Environment;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

/// A request for a dashboard page, with its user and form.
pub struct Visit {
    pub api: Api,
    /// The session of the signed-in user; always present on pages that require signing in.
    pub session: Option<UserSession>,
    pub environment: Environment,
    pub path: String,
    /// The names and values of the path parameters.
    pub path_parameters: Vec<(String, String)>,
    pub query: Fields,
    /// The fields of the submitted form; empty if none was submitted.
    pub form: Fields,
    /// The CSRF token for the forms on the page.
    pub csrf: String,
    pub agent: String,
    pub jar: Jar,
    pub peer: Peer,
    pub stories: Arc<Stories>,
    pub edit_previews: Arc<EditPreviews>,
    /// The task group for background work.
    pub tasks: Tasks,
    /// The content type and the unread rest of a streamed form, until an operation takes them.
    pub rest: Mutex<Option<(HeaderValue, Body)>>,
}

pub enum PageResponse {
    /// A page to render, with its status, data and cookie.
    Page { status: StatusCode, template: &'static str, context: Value, cookie: Option<HeaderValue> },
    /// A redirect to another page of the dashboard, which the browser requests with GET.
    Redirect { to: String, cookie: Option<HeaderValue> },
    /// An operation's response, returned unchanged: an image, a download, or a document that a frame shows.
    Forwarded(Reply),
}

impl PageResponse {
    pub fn draw<T: Context>(context: &T) -> Self {
        Self::draw_with(context, None)
    }

    /// Returns a page with this data and the message of `error`, if there is one.
    pub fn draw_with<T: Context>(context: &T, error: Option<&PageError>) -> Self {
        let status = error.map_or(StatusCode::OK, |error| error.status);
        let mut context = template::context(context);
        context["error"] = error.map_or("", |error| &error.message).into();
        // An error in a list item is shown next to the form field for the whole list. The template shows an error without a matching field
        // above the form.
        context["error_field"] = error.map_or("", |error| error.field.split('[').next().unwrap_or_default()).into();
        Self::Page { status, template: T::TEMPLATE.name, context, cookie: None }
    }

    pub fn redirect(to: impl Into<String>) -> Self {
        Self::Redirect { to: to.into(), cookie: None }
    }

    /// Returns a redirect to the sign-in page. After signing in, the user continues to `next`.
    pub fn to_sign_in(next: Option<&str>) -> Self {
        Self::redirect(with_next("/signin", next))
    }

    pub fn json(status: StatusCode, value: &Value) -> Self {
        let body = value.to_string();
        let mut headers = headers();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        Self::Forwarded(Reply { status, headers, body: ReplyBody::Whole(body.into()) })
    }

    pub fn with_cookie(mut self, value: HeaderValue) -> Self {
        if let Self::Page { cookie, .. } | Self::Redirect { cookie, .. } = &mut self {
            *cookie = Some(value);
        }
        self
    }
}

/// Returns the path of `page` with `next` as a query parameter; `next` is dropped if it is not a path of this service.
pub fn with_next(page: &str, next: Option<&str>) -> String {
    match next.and_then(|next| forms::own_path(next, limits::NEXT_BYTES_MAX)) {
        Some(next) => {
            let join = if page.contains('?') { '&' } else { '?' };
            format!("{page}{join}{}", serde_urlencoded::to_string([("next", next)]).unwrap_or_default())
        }
        None => page.to_owned(),
    }
}

impl Visit {
    /// Returns whether the user asked to load the remote images of an email.
    pub fn wants_images(&self) -> bool {
        self.query.get("images") == "yes"
    }

    /// Returns the path and the query of the request.
    pub fn address(&self) -> String {
        let query = serde_urlencoded::to_string(self.query.pairs()).unwrap_or_default();
        if query.is_empty() { self.path.clone() } else { format!("{}?{query}", self.path) }
    }

    /// Returns the value of a path parameter; empty if there is none with this name.
    pub fn path_parameter(&self, name: &str) -> &str {
        self.path_parameters.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value)
    }

    pub fn may(&self, permission: Permission) -> bool {
        self.session.as_ref().is_some_and(|session| session.user.role.permissions().contains(permission))
    }

    /// Returns whether the signed-in user's role allows calling an operation; false without a user.
    pub fn may_ask(&self, spec: &Spec) -> bool {
        let Some(session) = &self.session else { return false };
        let is_for_role = match spec.access {
            Access::Public | Access::Person => true,
            Access::Needs(permission) => self.may(permission),
            Access::NeedsOne(permissions) => permissions.iter().any(|permission| self.may(*permission)),
            Access::Manager => session.user.role.manages(),
            Access::Operator => false,
        };
        // Only the account that manages the installation may call `system.status`.
        is_for_role && (spec.id != system::ops::status::Status::SPEC.id || session.user.account.is_installations)
    }

    /// Returns an error if the user lacks this permission. Pages that consist only of a form call this, because they call no operation
    /// before the form is submitted.
    pub fn need(&self, permission: Permission) -> Result<(), PageError> {
        if self.may(permission) { Ok(()) } else { Err(PageError::not_allowed()) }
    }

    /// Returns the page number in the URL, starting at 1. The default is 1.
    pub fn page(&self) -> u64 {
        let last = limits::PAGE_OFFSET_MAX / limits::PAGE_LIMIT_MAX;
        let number = self.query.get("page");
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        if is_number { number.parse().unwrap_or(last).clamp(1, last) } else { 1 }
    }

    /// Returns whether the service can email invitation and reset links.
    pub fn mails_links(&self) -> bool {
        let settings = &self.api.0.settings;
        settings.accounts.mail_from.is_some() && settings.mail.has_transport() && !settings.mail.development
    }

    /// Calls an operation as the signed-in user, or anonymously if there is no session. The JSON input is decoded into the operation's
    /// input type.
    pub async fn ask<T: Operation>(&self, input: Value) -> Result<T::Output, PageError> {
        Ok(self.call::<T>(input).await?)
    }

    /// Like [`Visit::ask`], but returns the operation's failure instead of an error for users.
    pub async fn call<T: Operation>(&self, input: Value) -> Result<T::Output, Failure> {
        let decode = || input::from_json::<T::Input>(&T::SPEC, input);
        self.api.ask::<T>(self.principal(), self.peer, decode).await
    }

    /// Calls an operation as the operator of the installation, for example to sign a user in or to email a link.
    pub async fn ask_inside<T: Operation>(&self, input: Value) -> Result<T::Output, PageError> {
        let decode = || input::from_json::<T::Input>(&T::SPEC, input);
        Ok(self.api.ask::<T>(Principal::Operator, self.peer, decode).await?)
    }

    /// Calls an operation as the signed-in user, and returns the response's `data` as JSON.
    pub async fn json<T: Operation>(&self, input: Value) -> Result<Value, PageError> {
        Ok(data(&T::SPEC, self.send(self.principal(), &T::SPEC, input, None).await?))
    }

    /// Calls an operation, given by its declaration, as the signed-in user, and returns its response.
    pub async fn answer(&self, spec: &Spec, input: Value) -> Result<Reply, PageError> {
        Ok(self.send(self.principal(), spec, input, None).await?)
    }

    /// Calls an operation with the rest of a streamed form as its body, and returns the response's `data` as JSON. A second call
    /// fails, because the body is consumed.
    pub async fn json_with_rest<T: Operation>(&self) -> Result<Value, PageError> {
        let rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner).take();
        let rest = rest.ok_or_else(PageError::broken_form)?;
        Ok(data(&T::SPEC, self.send(self.principal(), &T::SPEC, json!({}), Some(rest)).await?))
    }

    /// Calls an operation as the signed-in user, and returns its response unchanged: an image, a download, or a document that a frame
    /// shows.
    pub async fn forward<T: Operation>(&self, input: Value) -> Result<PageResponse, PageError> {
        let mut reply = self.send(self.principal(), &T::SPEC, input, None).await?;
        for (name, value) in &headers() {
            // The operation's own headers take precedence: its content security policy restricts what the content may do.
            reply.headers.entry(name).or_insert_with(|| value.clone());
        }
        Ok(PageResponse::Forwarded(reply))
    }

    fn principal(&self) -> Principal {
        self.session.clone().map_or(Principal::Anonymous, Principal::User)
    }

    async fn send(
        &self,
        principal: Principal,
        spec: &Spec,
        input: Value,
        body: Option<(HeaderValue, Body)>,
    ) -> Result<Reply, Failure> {
        self.api.call_as(principal, request(self.api.operations(), spec.id, input, body, self.peer)).await
    }
}

/// Returns the `data` of an operation's response as JSON. Panics if the response is streamed.
fn data(spec: &Spec, reply: Reply) -> Value {
    assert!(
        matches!(reply.body, ReplyBody::Whole(_)),
        "the operation {} streams its response, but the caller expects JSON data",
        spec.id
    );
    internal_call::body(&reply)["data"].take()
}
