//! The pages for signing in, signing out, and confirming the password.
//!
//! A submitted form is not lost when the user must sign in or confirm the password first: these pages carry the form's fields, except files
//! and secrets.

use http::StatusCode;
use serde::Serialize;
use serde_json::json;

use crate::engine::api::Done;
use crate::features::accounts;
use crate::surfaces::dashboard::forms;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit, with_next};
use crate::vocab::codes::Code;
use crate::vocab::limits;

/// Returns the path to open after signing in: the requested page, or the home page.
fn next(visit: &Visit) -> String {
    wanted(visit).unwrap_or("/").to_owned()
}

/// Returns the requested dashboard path; `None` if there is none or it is not a path of this service.
pub(super) fn wanted(visit: &Visit) -> Option<&str> {
    let given = visit.form.some("next").or(visit.query.some("next"))?;
    forms::own_path(given, limits::NEXT_BYTES_MAX)
}

#[derive(Serialize)]
pub struct SignInPage {
    email: String,
    next: String,
    sign_up: String,
    /// The fields of the form that was submitted after the session had ended, for [`ResumePage`].
    carried: Vec<(String, String)>,
    /// Whether the submitted form also had files or secrets, which the sign-in form does not carry.
    incomplete: bool,
    /// The texts that the user entered in a form that is too large to carry. The page shows them for copying.
    entries: Vec<(String, String)>,
}

page_context!(SignInPage, "signin.html", {
    let page = |email: &str, fields: &[(String, String)]| Self {
        email: email.into(),
        next: "/".into(),
        sign_up: "/signup".into(),
        carried: fields.to_vec(),
        incomplete: !fields.is_empty(),
        entries: fields.to_vec(),
    };
    vec![page("", &[]), page("ada@example.com", &[("carried.name".into(), "Ada".into())])]
});

/// The page that is shown after sign-in if the user submitted a form after the session had ended. The user can submit the form again.
#[derive(Serialize)]
pub struct ResumePage {
    /// The CSRF token of the new session.
    csrf: String,
    action: String,
    /// The fields for submitting the form; none if it had files or secrets.
    again: Vec<(String, String)>,
    entries: Vec<(String, String)>,
}

page_context!(ResumePage, "resume.html", {
    let entries = || vec![("name".into(), "Ada".into())];
    let page = |again| Self { csrf: "0123456789abcdef".into(), action: "/test/tags".into(), again, entries: entries() };
    vec![page(Vec::new()), page(entries())]
});

#[derive(Serialize)]
pub struct ConfirmPage {
    action: String,
    next: String,
    /// The fields of the form that requires the password; none if the user opened the page directly.
    again: Vec<(String, String)>,
}

page_context!(ConfirmPage, "confirm.html", {
    let page = |again| Self { action: "/confirm".into(), next: "/".into(), again };
    vec![page(Vec::new()), page(vec![("act".into(), "reset".into())])]
});

fn sign_in_page(visit: &Visit, error: Option<&PageError>) -> PageResponse {
    let is_carried = |(name, _): &&(String, String)| name.starts_with(forms::CARRIED);
    let context = SignInPage {
        email: visit.form.get("email").to_owned(),
        next: next(visit),
        sign_up: with_next("/signup", wanted(visit)),
        carried: visit.form.pairs().iter().filter(is_carried).cloned().collect(),
        incomplete: visit.form.has("incomplete"),
        entries: Vec::new(),
    };
    PageResponse::draw_with(&context, error)
}

/// Returns the response for a visitor without a session: the sign-in page, after which the user continues to `next`. If the visitor has
/// submitted a form, the sign-in page carries the form's fields, or shows them for copying if they are too large to carry.
pub fn signed_out(visit: &Visit, next: Option<&str>) -> PageResponse {
    let entries = visit.form.entries();
    let own = next.and_then(|next| forms::own_path(next, limits::NEXT_BYTES_MAX));
    let Some(next) = own.filter(|_| !entries.is_empty()) else { return PageResponse::to_sign_in(next) };
    let carried = visit.form.to_carry();
    let (message, entries) = match carried.is_empty() {
        true => ("Your session has ended, so nothing was saved. Copy what you entered, sign in, and enter it again.", entries),
        false => ("Your session has ended, so nothing was saved yet. Sign in to continue with what you entered.", Vec::new()),
    };
    let page = SignInPage {
        email: String::new(),
        next: next.to_owned(),
        sign_up: with_next("/signup", Some(next)),
        incomplete: visit.form.repeatable().is_empty(),
        carried,
        entries,
    };
    PageResponse::draw_with(&page, Some(&PageError::plain(StatusCode::FORBIDDEN, message)))
}

fn confirm_page(visit: &Visit, error: Option<&PageError>) -> PageResponse {
    PageResponse::draw_with(&ConfirmPage { action: "/confirm".into(), next: next(visit), again: Vec::new() }, error)
}

/// Returns the page that asks for the password before the submitted form takes effect. The page submits the form again, with the password,
/// so no further steps are needed. If the form has a file or a secret, redirects to a page that asks only for the password and then leads
/// back to the form's page.
pub fn confirm_form(visit: &Visit, error: Option<&PageError>) -> PageResponse {
    let again = visit.form.repeatable();
    if again.is_empty() {
        return PageResponse::redirect(with_next("/confirm", Some(&visit.path)));
    }
    PageResponse::draw_with(&ConfirmPage { action: visit.address(), next: String::new(), again }, error)
}

/// Checks the password that the page of [`confirm_form`] adds to a form, and removes it from the form. Returns the page again if the
/// password is wrong.
pub async fn confirm_submitted(visit: &mut Visit) -> Result<Option<PageResponse>, PageError> {
    let proof = visit.form.under(forms::CONFIRM);
    if visit.session.is_none() || proof.pairs().is_empty() {
        return Ok(None);
    }
    visit.form.remove(forms::CONFIRM);
    let input = json!({ "password": proof.raw("password"), "code": proof.some("code") });
    match visit.ask::<accounts::ops::reauthenticate::Reauthenticate>(input).await {
        Ok(_) => Ok(None),
        Err(error) if error.code == Some(Code::NotSignedIn) => Err(error),
        Err(error) => Ok(Some(confirm_form(visit, Some(&error)))),
    }
}

/// Shows the sign-in form. A user who is already signed in is redirected.
pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    Ok(match visit.session {
        Some(_) => PageResponse::redirect(next(visit)),
        None => sign_in_page(visit, None),
    })
}

pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    Ok(match enter(visit, visit.form.get("email")).await {
        Ok(response) => response,
        Err(error) => sign_in_page(visit, Some(&error)),
    })
}

/// Signs in a user who has just chosen a password in the submitted form, and redirects to the requested page.
pub(super) async fn enter_new(visit: &Visit, email: &str) -> PageResponse {
    enter(visit, email).await.unwrap_or_else(|_| PageResponse::redirect(with_next("/signin?done=joined", wanted(visit))))
}

/// Starts a session with a new token, even if the browser already has a session.
async fn enter(visit: &Visit, email: &str) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let input = json!({ "email": email, "password": form.raw("password"), "code": form.some("code"), "agent": visit.agent });
    let Done(session) = visit.ask_inside::<accounts::ops::sign_in::SignIn>(input).await?;
    // Ends the browser's previous session, because an attacker who knows that session's token could otherwise keep using the session
    // unnoticed.
    if visit.session.is_some() {
        let _ = visit.ask::<accounts::ops::logout::Logout>(json!({})).await;
    }
    let days = i64::try_from(visit.api.0.settings.accounts.session_days.get()).unwrap_or(1);
    let cookie = visit.jar.keep_session(&session.token, days * 24 * 60 * 60);
    let response = resumed(visit, &session.token).unwrap_or_else(|| PageResponse::redirect(next(visit)));
    Ok(response.with_cookie(cookie))
}

/// Returns the page that shows the form carried by the sign-in form, if there is one. The carried form takes effect only when the user
/// submits it again, because a different user may have signed in.
fn resumed(visit: &Visit, session: &str) -> Option<PageResponse> {
    let form = visit.form.under(forms::CARRIED);
    let action = wanted(visit).filter(|_| !form.pairs().is_empty())?.to_owned();
    let again = if visit.form.has("incomplete") { Vec::new() } else { form.repeatable() };
    let csrf = forms::session_token(&visit.api.0, session);
    Some(PageResponse::draw(&ResumePage { csrf, action, again, entries: form.entries() }))
}

pub async fn sign_out(visit: &Visit) -> Result<PageResponse, PageError> {
    visit.ask::<accounts::ops::logout::Logout>(json!({})).await?;
    Ok(PageResponse::redirect("/signin?done=out").with_cookie(visit.jar.drop_session()))
}

pub async fn confirm(visit: &Visit) -> Result<PageResponse, PageError> {
    Ok(confirm_page(visit, None))
}

pub async fn send_confirm(visit: &Visit) -> Result<PageResponse, PageError> {
    let input = json!({ "password": visit.form.raw("password"), "code": visit.form.some("code") });
    Ok(match visit.ask::<accounts::ops::reauthenticate::Reauthenticate>(input).await {
        Ok(_) => PageResponse::redirect(next(visit)),
        Err(error) => confirm_page(visit, Some(&error)),
    })
}
