//! Signing in and out, and confirming the password again.

use serde_json::{Value, json};

use crate::surfaces::dashboard::forms;
use crate::surfaces::dashboard::route::{Route, closed, open};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit, entered, with_next};
use crate::vocab::limits;

/// Its pages.
pub const ROUTES: &[Route] = &[
    open("/signin").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(send(visit))),
    closed("/signout").post(|visit| Box::pin(sign_out(visit))),
    closed("/confirm").get(|visit| Box::pin(confirm(visit))).post(|visit| Box::pin(send_confirm(visit))),
];

/// Returns where to go afterwards: the requested page of ours, or the home page.
fn next(visit: &Visit) -> String {
    wanted(visit).unwrap_or("/").to_owned()
}

/// Returns the requested page of ours.
pub(super) fn wanted(visit: &Visit) -> Option<&str> {
    let given = visit.form.some("next").or(visit.query.some("next"))?;
    forms::own_path(given, limits::NEXT_BYTES_MAX)
}

fn page(visit: &Visit, template: &'static str, title: &str, error: Option<&PageError>) -> Outcome {
    let mut context = entered(&visit.form, &["email"], error);
    context.insert("title".into(), title.into());
    context.insert("next".into(), next(visit).into());
    context.insert("sign_up".into(), with_next("/signup", wanted(visit)).into());
    context.insert("wants_code".into(), error.is_some_and(|error| error.code == "SECOND_FACTOR_REQUIRED").into());
    context.insert("done".into(), visit.query.get("done").into());
    match error {
        Some(error) => Outcome::again(template, Value::Object(context), error),
        None => Outcome::page(template, Value::Object(context)),
    }
}

/// Shows the form. A signed-in user is redirected.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    Ok(match visit.who {
        Some(_) => Outcome::go(next(visit)),
        None => page(visit, "signin.html", "Sign in", None),
    })
}

/// Handles the form.
pub async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    Ok(match enter(visit, visit.form.get("email")).await {
        Ok(outcome) => outcome,
        Err(error) => page(visit, "signin.html", "Sign in", Some(&error)),
    })
}

/// Signs in a user who has just chosen the password in the form, and redirects to the requested page.
pub(super) async fn enter_new(visit: &Visit, email: &str) -> Outcome {
    enter(visit, email).await.unwrap_or_else(|_| Outcome::go(with_next("/signin?done=joined", wanted(visit))))
}

/// Starts a new session with a new token, whatever the browser had before.
async fn enter(visit: &Visit, email: &str) -> Result<Outcome, PageError> {
    let form = &visit.form;
    let input = json!({ "email": email, "password": form.raw("password"), "code": form.some("code"), "agent": visit.agent });
    let data = visit.ask_inside("accounts.sign_in", input).await?;
    // The old session ends: an attacker who planted its token does not share the new one, and it does not stay open unnoticed.
    if visit.who.is_some() {
        let _ = visit.ask("accounts.logout", json!({})).await;
    }
    let days = i64::try_from(visit.api.0.settings.accounts.session_days.get()).unwrap_or(1);
    let cookie = visit.jar.keep_session(data["token"].as_str().unwrap_or_default(), days * 24 * 60 * 60);
    Ok(Outcome::go(next(visit)).with_cookie(cookie))
}

/// Ends the session.
pub async fn sign_out(visit: &Visit) -> Result<Outcome, PageError> {
    visit.ask("accounts.logout", json!({})).await?;
    Ok(Outcome::go("/signin?done=out").with_cookie(visit.jar.drop_session()))
}

/// Shows the form for confirming the password.
pub async fn confirm(visit: &Visit) -> Result<Outcome, PageError> {
    Ok(page(visit, "confirm.html", "Confirm it's you", None))
}

/// Handles the form.
pub async fn send_confirm(visit: &Visit) -> Result<Outcome, PageError> {
    let input = json!({ "password": visit.form.raw("password"), "code": visit.form.some("code") });
    Ok(match visit.ask("accounts.confirm", input).await {
        Ok(_) => Outcome::go(next(visit)),
        Err(error) => page(visit, "confirm.html", "Confirm it's you", Some(&error)),
    })
}
