//! The demo on the dashboard: turns the user's website, or a made-up shop, into a brand, emails and a campaign.

use http::StatusCode;
use serde_json::{Value, json};

use crate::engine::access::session_cache::UserSession;
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit, entered};
use crate::surfaces::demo::{Ending, Story, StoryOwner, shop};
use crate::vocab::permissions::Permission;

/// Its pages. They exist only for test data, which is all the demo creates.
pub const ROUTES: &[Route] = &[closed("/test/demo").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(begin(visit)))];

/// The permissions that the demo needs.
const NEEDED: [Permission; 4] =
    [Permission::ProjectWrite, Permission::EmailWrite, Permission::AudienceWrite, Permission::CampaignWrite];

fn teller(visit: &Visit) -> Result<&UserSession, PageError> {
    let person = visit.who.as_ref().ok_or_else(PageError::not_found)?;
    let permissions = person.user.role.permissions();
    match NEEDED.into_iter().all(|needed| permissions.contains(needed)) {
        true => Ok(person),
        false => Err(PageError::plain(
            StatusCode::FORBIDDEN,
            "Your role doesn't allow the demo. It creates brands, emails, contacts, and campaigns.",
        )),
    }
}

/// Shows the form, or the demo's progress.
async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    page(visit, None)
}

fn page(visit: &Visit, error: Option<&PageError>) -> Result<Outcome, PageError> {
    let person = teller(visit)?;
    let told = visit.stories.told(person.user.account.id);
    let mut context = entered(&visit.form, &["site"], error);
    let (well, stuck) = match told.as_ref().and_then(|told| told.ending.as_ref()) {
        Some(Ending::Well { message }) => (json!(message), Value::Null),
        Some(Ending::Stuck(why)) => (Value::Null, json!(why)),
        None => (Value::Null, Value::Null),
    };
    context.insert("title".into(), "Your first minute".into());
    context.insert("goes_on".into(), told.as_ref().is_some_and(|told| told.ending.is_none()).into());
    context.insert("steps".into(), json!(told.map(|told| told.steps).unwrap_or_default()));
    context.insert("well".into(), well);
    context.insert("stuck".into(), stuck);
    context.insert("has_shop".into(), visit.api.0.settings.server.demo_shop.into());
    Ok(match error {
        Some(error) => Outcome::again("demo.html", Value::Object(context), error),
        None => Outcome::page("demo.html", Value::Object(context)),
    })
}

/// Starts the demo.
async fn begin(visit: &Visit) -> Result<Outcome, PageError> {
    let person = teller(visit)?.clone();
    let site = match visit.form.some("site") {
        Some(site) => site.to_owned(),
        None if visit.api.0.settings.server.demo_shop => format!("{}{}", visit.api.0.base_url(), shop::PATH),
        None => {
            let mut error = PageError::plain(StatusCode::BAD_REQUEST, "Enter the URL of a website, like https://example.com.");
            error.field = "site".into();
            return page(visit, Some(&error));
        }
    };
    let reader = person.user.email.to_string();
    let account = person.user.account.id;
    let teller = StoryOwner::Person(Box::new(person));
    let story = Story { api: visit.api.clone(), teller, peer: visit.peer, site, reader, clock: None };
    visit.stories.begin(account, story);
    Ok(Outcome::go("/test/demo"))
}
