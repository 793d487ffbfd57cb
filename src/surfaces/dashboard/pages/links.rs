//! The pages of one-time links: setup, password reset and invitation. Also sign-up, where it is enabled.

use serde_json::{Value, json};

use super::sign_in;
use crate::base::network::counted_as;
use crate::engine::access::throttle::Rule;
use crate::engine::api::Principal;
use crate::engine::api::attempts;
use crate::engine::api::http_types::Peer;
use crate::surfaces::dashboard::route::{Route, open};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit, entered, with_next};
use crate::surfaces::internal_call;

/// Its pages.
pub const ROUTES: &[Route] = &[
    open("/setup/{token}").get(|visit| Box::pin(set_up(visit))).post(|visit| Box::pin(send_set_up(visit))),
    open("/signup").get(|visit| Box::pin(sign_up(visit))).post(|visit| Box::pin(send_sign_up(visit))),
    open("/forgot").get(|visit| Box::pin(forgot(visit))).post(|visit| Box::pin(send_forgot(visit))),
    open("/reset/{token}").get(|visit| Box::pin(reset(visit))).post(|visit| Box::pin(send_reset(visit))),
    open("/join/{token}").get(|visit| Box::pin(join(visit))).post(|visit| Box::pin(send_join(visit))),
];

fn page(visit: &Visit, template: &'static str, title: &str, error: Option<&PageError>) -> Outcome {
    let mut context = entered(&visit.form, &["email", "name"], error);
    context.insert("title".into(), title.into());
    context.insert("next".into(), sign_in::wanted(visit).unwrap_or_default().into());
    context.insert("sign_in".into(), with_next("/signin", sign_in::wanted(visit)).into());
    // An invalid link has no form, because submitting it cannot succeed.
    context.insert("dead".into(), error.is_some_and(|error| error.code == "RESOURCE_NOT_FOUND").into());
    match error {
        Some(error) => Outcome::again(template, Value::Object(context), error),
        None => Outcome::page(template, Value::Object(context)),
    }
}

/// The limits of reset-link requests, per client address and per user.
const FORGOTTEN_FROM: Rule = Rule { name: "forgotten from an address", free: 10, window_ms: HOUR_MS, wait_max_ms: 0 };
const FORGOTTEN_FOR: Rule = Rule { name: "forgotten for an email", free: 3, window_ms: HOUR_MS, wait_max_ms: 0 };
const HOUR_MS: i64 = 60 * 60 * 1000;

/// Explains what to do about a forgotten password.
pub async fn forgot(visit: &Visit) -> Result<Outcome, PageError> {
    let context = json!({
        "title": "Forgot your password?",
        "by_mail": visit.mails_links(),
        "done": visit.query.get("done"),
    });
    Ok(Outcome::page("forgot.html", context))
}

/// Emails a reset link. Neither the response nor its timing reveals whether the user exists.
pub async fn send_forgot(visit: &Visit) -> Result<Outcome, PageError> {
    let engine = visit.api.0.clone();
    if !visit.mails_links() {
        return Err(PageError::not_found());
    }
    let email = visit.form.get("email").to_owned();
    let from = match visit.peer {
        Peer::Network { address, .. } => counted_as(address).to_string(),
        Peer::Operator => String::new(),
    };
    let is_let = attempts::count(&engine, &[(&FORGOTTEN_FROM, from), (&FORGOTTEN_FOR, email.to_lowercase())]).await.is_ok();
    if is_let {
        let api = visit.api.clone();
        visit.tasks.spawn("a link by mail", async move {
            let ask = async |id: &str, input: Value| {
                let request = internal_call::request(api.operations(), id, input, None, Peer::Operator);
                internal_call::data(id, api.call_as(Principal::Operator, request).await)
            };
            if let Ok(link) = ask("accounts.reset_link", json!({ "email": email })).await {
                let input = json!({ "to": link["email"], "purpose": "reset", "link": link["link"] });
                let mailed = ask("system.mail_link", input).await;
                let reason = mailed.as_ref().map_or(None, |mailed| mailed["reason"].as_str());
                if let Some(reason) = reason {
                    tracing::warn!(reason, "the password-reset link could not be emailed");
                }
            }
        });
    }
    Ok(Outcome::go("/forgot?done=asked"))
}

/// Returns what is wrong with the link in the URL, if it is invalid, so that no one fills in a useless form. The token cannot be guessed
/// and the check is cheap, so it has no rate limit of its own.
async fn dead(visit: &Visit, purpose: &str) -> Option<PageError> {
    visit.ask_inside("accounts.link_check", json!({ "purpose": purpose, "token": visit.name("token") })).await.err()
}

/// The form for a new password.
pub async fn reset(visit: &Visit) -> Result<Outcome, PageError> {
    Ok(page(visit, "reset.html", "Choose a new password", dead(visit, "reset").await.as_ref()))
}

/// Handles the form.
pub async fn send_reset(visit: &Visit) -> Result<Outcome, PageError> {
    let input = json!({ "token": visit.name("token"), "password": visit.form.raw("password") });
    Ok(match visit.ask("accounts.reset", input).await {
        Ok(_) => Outcome::go("/signin?done=reset"),
        Err(error) => page(visit, "reset.html", "Choose a new password", Some(&error)),
    })
}

/// The form that creates the owner of a new installation.
pub async fn set_up(visit: &Visit) -> Result<Outcome, PageError> {
    Ok(page(visit, "setup.html", "Create the owner account", dead(visit, "setup").await.as_ref()))
}

/// Creates the owner and signs them in.
pub async fn send_set_up(visit: &Visit) -> Result<Outcome, PageError> {
    let form = &visit.form;
    let input = json!({ "token": visit.name("token"), "email": form.get("email"), "password": form.raw("password") });
    Ok(match visit.ask_inside("accounts.set_up_by_link", input).await {
        Ok(_) => sign_in::enter_new(visit, form.get("email")).await,
        Err(error) => page(visit, "setup.html", "Create the owner account", Some(&error)),
    })
}

/// The form of an invitation.
pub async fn join(visit: &Visit) -> Result<Outcome, PageError> {
    Ok(page(visit, "join.html", "You are invited", dead(visit, "join").await.as_ref()))
}

/// Handles the form.
pub async fn send_join(visit: &Visit) -> Result<Outcome, PageError> {
    let form = &visit.form;
    let input = json!({ "token": visit.name("token"), "name": form.some("name"), "password": form.raw("password") });
    Ok(match visit.ask("accounts.join", input).await {
        Ok(member) => sign_in::enter_new(visit, member["email"].as_str().unwrap_or_default()).await,
        Err(error) => page(visit, "join.html", "You are invited", Some(&error)),
    })
}

/// The sign-up form.
pub async fn sign_up(visit: &Visit) -> Result<Outcome, PageError> {
    match visit.api.0.settings.accounts.sign_up {
        true => Ok(page(visit, "signup.html", "Create an account", None)),
        false => Err(PageError::not_found()),
    }
}

/// Handles the form.
pub async fn send_sign_up(visit: &Visit) -> Result<Outcome, PageError> {
    let form = &visit.form;
    let input = json!({ "email": form.get("email"), "name": form.some("name"), "password": form.raw("password") });
    Ok(match visit.ask("accounts.sign_up", input).await {
        Ok(_) => sign_in::enter_new(visit, form.get("email")).await,
        Err(error) => page(visit, "signup.html", "Create an account", Some(&error)),
    })
}
