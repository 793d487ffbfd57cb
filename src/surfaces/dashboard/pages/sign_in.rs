//! The pages for signing in, signing out, and confirming the password.

use serde::Serialize;
use serde_json::json;

use crate::engine::api::Done;
use crate::features::accounts;
use crate::surfaces::dashboard::forms;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit, with_next};
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
}

page_context!(SignInPage, "signin.html", {
    let page = |email: &str| Self { email: email.into(), next: "/".into(), sign_up: "/signup".into() };
    vec![page(""), page("ada@example.com")]
});

#[derive(Serialize)]
pub struct ConfirmPage {
    next: String,
}

page_context!(ConfirmPage, "confirm.html", { vec![Self { next: "/".into() }] });

fn sign_in_page(visit: &Visit, error: Option<&PageError>) -> Outcome {
    let context =
        SignInPage { email: visit.form.get("email").to_owned(), next: next(visit), sign_up: with_next("/signup", wanted(visit)) };
    Outcome::draw_with(&context, error)
}

fn confirm_page(visit: &Visit, error: Option<&PageError>) -> Outcome {
    Outcome::draw_with(&ConfirmPage { next: next(visit) }, error)
}

/// Shows the sign-in form. A user who is already signed in is redirected.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    Ok(match visit.who {
        Some(_) => Outcome::go(next(visit)),
        None => sign_in_page(visit, None),
    })
}

pub async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    Ok(match enter(visit, visit.form.get("email")).await {
        Ok(outcome) => outcome,
        Err(error) => sign_in_page(visit, Some(&error)),
    })
}

/// Signs in a user who has just set the password in the form, and redirects to the requested page.
pub(super) async fn enter_new(visit: &Visit, email: &str) -> Outcome {
    enter(visit, email).await.unwrap_or_else(|_| Outcome::go(with_next("/signin?done=joined", wanted(visit))))
}

/// Starts a session with a new token, even if the browser already has a session.
async fn enter(visit: &Visit, email: &str) -> Result<Outcome, PageError> {
    let form = &visit.form;
    let input = json!({ "email": email, "password": form.raw("password"), "code": form.some("code"), "agent": visit.agent });
    let Done(session) = visit.ask_inside::<accounts::ops::sign_in::SignIn>(input).await?;
    // Ends the browser's previous session, because an attacker who knows its token could otherwise keep using it unnoticed.
    if visit.who.is_some() {
        let _ = visit.ask::<accounts::ops::logout::Logout>(json!({})).await;
    }
    let days = i64::try_from(visit.api.0.settings.accounts.session_days.get()).unwrap_or(1);
    let cookie = visit.jar.keep_session(&session.token, days * 24 * 60 * 60);
    Ok(Outcome::go(next(visit)).with_cookie(cookie))
}

pub async fn sign_out(visit: &Visit) -> Result<Outcome, PageError> {
    visit.ask::<accounts::ops::logout::Logout>(json!({})).await?;
    Ok(Outcome::go("/signin?done=out").with_cookie(visit.jar.drop_session()))
}

pub async fn confirm(visit: &Visit) -> Result<Outcome, PageError> {
    Ok(confirm_page(visit, None))
}

pub async fn send_confirm(visit: &Visit) -> Result<Outcome, PageError> {
    let input = json!({ "password": visit.form.raw("password"), "code": visit.form.some("code") });
    Ok(match visit.ask::<accounts::ops::reauthenticate::Reauthenticate>(input).await {
        Ok(_) => Outcome::go(next(visit)),
        Err(error) => confirm_page(visit, Some(&error)),
    })
}
