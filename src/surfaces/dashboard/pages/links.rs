//! The pages behind one-time links (setup, password reset, invitation), and the sign-up page of installations that enable it.

use serde::Serialize;
use serde_json::json;

use super::sign_in;
use crate::base::network::counted_as;
use crate::engine::access::throttle::Rule;
use crate::engine::api::call::Api;
use crate::engine::api::http_types::Peer;
use crate::engine::api::{Created, Done, Failure, Operation, Principal, attempts, input};
use crate::features::accounts;
use crate::features::accounts::ops::reset_link::ResetLink;
use crate::features::system::ops::mail_link::MailLink;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit, with_next};
use crate::vocab::codes::Code;

#[derive(Serialize)]
pub struct SignUpPage {
    email: String,
    name: String,
    next: String,
    sign_in: String,
}

page_context!(SignUpPage, "signup.html", {
    let page =
        |next: &str| Self { email: "ada@example.com".into(), name: "Ada".into(), next: next.into(), sign_in: "/signin".into() };
    vec![page(""), page("/agent")]
});

/// The data of the page for users who forgot their password.
#[derive(Serialize)]
pub struct ForgotPage {
    by_mail: bool,
}

page_context!(ForgotPage, "forgot.html", { [true, false].map(|by_mail| Self { by_mail }).into() });

#[derive(Serialize)]
pub struct SetUpPage {
    /// Whether the link is invalid. The page then has no form, because submitting it could not succeed.
    dead: bool,
    email: String,
}

page_context!(SetUpPage, "setup.html", {
    let email = || "ada@example.com".to_owned();
    [true, false].map(|dead| Self { dead, email: email() }).into()
});

#[derive(Serialize)]
pub struct ResetPage {
    /// Whether the link is invalid. The page then has no form.
    dead: bool,
}

page_context!(ResetPage, "reset.html", { [true, false].map(|dead| Self { dead }).into() });

#[derive(Serialize)]
pub struct JoinPage {
    /// Whether the link is invalid. The page then has no form.
    dead: bool,
    name: String,
}

page_context!(JoinPage, "join.html", { [true, false].map(|dead| Self { dead, name: "Ada".into() }).into() });

fn is_dead(error: Option<&PageError>) -> bool {
    error.is_some_and(|error| error.code == Some(Code::NotFound))
}

fn sign_up_page(visit: &Visit, error: Option<&PageError>) -> PageResponse {
    let context = SignUpPage {
        email: visit.form.get("email").to_owned(),
        name: visit.form.get("name").to_owned(),
        next: sign_in::wanted(visit).unwrap_or_default().to_owned(),
        sign_in: with_next("/signin", sign_in::wanted(visit)),
    };
    PageResponse::draw_with(&context, error)
}

fn set_up_page(visit: &Visit, error: Option<&PageError>) -> PageResponse {
    let email = visit.form.get("email").to_owned();
    let context = SetUpPage { dead: is_dead(error), email };
    PageResponse::draw_with(&context, error)
}

fn reset_page(error: Option<&PageError>) -> PageResponse {
    let context = ResetPage { dead: is_dead(error) };
    PageResponse::draw_with(&context, error)
}

fn join_page(visit: &Visit, error: Option<&PageError>) -> PageResponse {
    let name = visit.form.get("name").to_owned();
    PageResponse::draw_with(&JoinPage { dead: is_dead(error), name }, error)
}

/// The rate limits on requests for password-reset links, per client address and per email address. They prevent the form from flooding a
/// mailbox.
const FORGOTTEN_FROM: Rule = Rule { name: "password-reset links by address", free: 10, window_ms: HOUR_MS, wait_max_ms: 0 };
const FORGOTTEN_FOR: Rule = Rule { name: "password-reset links by email", free: 3, window_ms: HOUR_MS, wait_max_ms: 0 };
const HOUR_MS: i64 = 60 * 60 * 1000;

/// Shows how users who forgot their password get a reset link.
pub async fn forgot(visit: &Visit) -> Result<PageResponse, PageError> {
    let context = ForgotPage { by_mail: visit.mails_links() };
    Ok(PageResponse::draw(&context))
}

/// Emails a password-reset link. Neither the response nor its timing reveals whether the user exists.
pub async fn send_forgot(visit: &Visit) -> Result<PageResponse, PageError> {
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
        visit.tasks.spawn("password-reset email", async move {
            if let Some(reason) = mail_link(&api, &email).await {
                tracing::warn!(reason, "the password-reset link could not be emailed");
            }
        });
    }
    Ok(PageResponse::redirect("/forgot?done=asked"))
}

/// Emails a password-reset link if a user has this email address. Returns the reason if the link could not be emailed.
async fn mail_link(api: &Api, email: &str) -> Option<String> {
    let wanted = || input::from_json(&ResetLink::SPEC, json!({ "email": email }));
    let link = match api.ask::<ResetLink>(Principal::Operator, Peer::Operator, wanted).await {
        Ok(Created(link)) => link,
        // No user has this address.
        Err(failure) => return (failure.code.info().status >= 500).then(|| failure.text()),
    };
    let mailed: Result<_, Failure> = async {
        let message = || input::from_json(&MailLink::SPEC, json!({ "to": link.email, "purpose": "reset", "link": link.link }));
        let Done(mailed) = api.ask::<MailLink>(Principal::Operator, Peer::Operator, message).await?;
        Ok(mailed.reason)
    }
    .await;
    mailed.unwrap_or_else(|failure| Some(failure.text()))
}

/// Returns an error if the link in the URL is invalid, so that the user does not fill in a form that cannot succeed. This check has no rate
/// limit of its own, because it is cheap and the token cannot be guessed.
async fn dead(visit: &Visit, purpose: &str) -> Option<PageError> {
    visit
        .ask_inside::<accounts::ops::link_check::LinkCheck>(json!({ "purpose": purpose, "token": visit.path_parameter("token") }))
        .await
        .err()
}

pub async fn reset(visit: &Visit) -> Result<PageResponse, PageError> {
    Ok(reset_page(dead(visit, "reset").await.as_ref()))
}

pub async fn send_reset(visit: &Visit) -> Result<PageResponse, PageError> {
    let input = json!({ "token": visit.path_parameter("token"), "password": visit.form.raw("password") });
    Ok(match visit.ask::<accounts::ops::reset::Reset>(input).await {
        Ok(_) => PageResponse::redirect("/signin?done=reset"),
        Err(error) => reset_page(Some(&error)),
    })
}

pub async fn set_up(visit: &Visit) -> Result<PageResponse, PageError> {
    Ok(set_up_page(visit, dead(visit, "setup").await.as_ref()))
}

/// Creates the owner and signs them in.
pub async fn send_set_up(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let input = json!({ "token": visit.path_parameter("token"), "email": form.get("email"), "password": form.raw("password") });
    Ok(match visit.ask_inside::<accounts::ops::set_up_by_link::SetUpByLink>(input).await {
        Ok(_) => sign_in::enter_new(visit, form.get("email")).await,
        Err(error) => set_up_page(visit, Some(&error)),
    })
}

pub async fn join(visit: &Visit) -> Result<PageResponse, PageError> {
    Ok(join_page(visit, dead(visit, "join").await.as_ref()))
}

pub async fn send_join(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let input = json!({ "token": visit.path_parameter("token"), "name": form.some("name"), "password": form.raw("password") });
    Ok(match visit.ask::<accounts::ops::join::Join>(input).await {
        Ok(Created(member)) => sign_in::enter_new(visit, &member.email).await,
        Err(error) => join_page(visit, Some(&error)),
    })
}

pub async fn sign_up(visit: &Visit) -> Result<PageResponse, PageError> {
    match visit.api.0.settings.accounts.sign_up {
        true => Ok(sign_up_page(visit, None)),
        false => Err(PageError::not_found()),
    }
}

pub async fn send_sign_up(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let input = json!({ "email": form.get("email"), "name": form.some("name"), "password": form.raw("password") });
    Ok(match visit.ask::<accounts::ops::sign_up::SignUp>(input).await {
        Ok(_) => sign_in::enter_new(visit, form.get("email")).await,
        Err(error) => sign_up_page(visit, Some(&error)),
    })
}
