//! What links that were handed to somebody open: a new password, an invitation. And accounts of one's own, where that is open.

use serde_json::{Value, json};

use crate::surfaces::dashboard::route::{Route, open};
use crate::surfaces::dashboard::visit::{Outcome, Trouble, Visit, entered};

/// Its pages.
pub const ROUTES: &[Route] = &[
    open("/signup").get(|visit| Box::pin(sign_up(visit))).post(|visit| Box::pin(send_sign_up(visit))),
    open("/forgot").get(|visit| Box::pin(forgot(visit))),
    open("/reset/{token}").get(|visit| Box::pin(reset(visit))).post(|visit| Box::pin(send_reset(visit))),
    open("/join/{token}").get(|visit| Box::pin(join(visit))).post(|visit| Box::pin(send_join(visit))),
];

fn page(visit: &Visit, template: &'static str, title: &str, trouble: Option<&Trouble>) -> Outcome {
    let mut context = entered(&visit.form, &["email", "name"], trouble);
    context.insert("title".into(), title.into());
    // A link that is dead has no form: filling it in again would help nobody.
    context.insert("dead".into(), trouble.is_some_and(|trouble| trouble.code == "RESOURCE_NOT_FOUND").into());
    match trouble {
        Some(trouble) => Outcome::again(template, Value::Object(context), trouble),
        None => Outcome::page(template, Value::Object(context)),
    }
}

/// What to do who forgot their password.
pub async fn forgot(_: &Visit) -> Result<Outcome, Trouble> {
    Ok(Outcome::page("forgot.html", json!({ "title": "Forgot your password?" })))
}

/// The form for a new password.
pub async fn reset(visit: &Visit) -> Result<Outcome, Trouble> {
    Ok(page(visit, "reset.html", "Choose a new password", None))
}

/// The same, sent.
pub async fn send_reset(visit: &Visit) -> Result<Outcome, Trouble> {
    let input = json!({ "token": visit.name("token"), "password": visit.form.raw("password") });
    Ok(match visit.ask("accounts.reset", input).await {
        Ok(_) => Outcome::go("/signin?done=reset"),
        Err(trouble) => page(visit, "reset.html", "Choose a new password", Some(&trouble)),
    })
}

/// The form of an invitation.
pub async fn join(visit: &Visit) -> Result<Outcome, Trouble> {
    Ok(page(visit, "join.html", "You are invited", None))
}

/// The same, sent.
pub async fn send_join(visit: &Visit) -> Result<Outcome, Trouble> {
    let form = &visit.form;
    let input = json!({ "token": visit.name("token"), "name": form.some("name"), "password": form.raw("password") });
    Ok(match visit.ask("accounts.join", input).await {
        Ok(_) => Outcome::go("/signin?done=joined"),
        Err(trouble) => page(visit, "join.html", "You are invited", Some(&trouble)),
    })
}

/// The form for an account of one's own.
pub async fn sign_up(visit: &Visit) -> Result<Outcome, Trouble> {
    match visit.api.0.settings.accounts.sign_up {
        true => Ok(page(visit, "signup.html", "Make an account", None)),
        false => Err(Trouble::not_found()),
    }
}

/// The same, sent.
pub async fn send_sign_up(visit: &Visit) -> Result<Outcome, Trouble> {
    let form = &visit.form;
    let input = json!({ "email": form.get("email"), "name": form.some("name"), "password": form.raw("password") });
    Ok(match visit.ask("accounts.sign_up", input).await {
        Ok(_) => Outcome::go("/signin?done=joined"),
        Err(trouble) => page(visit, "signup.html", "Make an account", Some(&trouble)),
    })
}
