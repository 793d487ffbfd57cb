//! The demo on the dashboard: creates a brand, emails and a campaign from the user's website or the website of a made-up shop.

use http::StatusCode;
use serde::Serialize;

use crate::engine::access::session_cache::UserSession;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::surfaces::demo::{Ending, Step, Story, StoryOwner, shop};
use crate::vocab::permissions::Permission;

/// The permissions that the demo requires.
const NEEDED: [Permission; 4] =
    [Permission::ProjectWrite, Permission::EmailWrite, Permission::AudienceWrite, Permission::CampaignWrite];

fn user(visit: &Visit) -> Result<&UserSession, PageError> {
    let person = visit.session.as_ref().ok_or_else(PageError::not_found)?;
    let permissions = person.user.role.permissions();
    match NEEDED.into_iter().all(|needed| permissions.contains(needed)) {
        true => Ok(person),
        false => Err(PageError::plain(
            StatusCode::FORBIDDEN,
            "Your role can't run the demo, which creates brands, emails, contacts, and campaigns. The owner or an admin of the account \
             can change your role.",
        )),
    }
}

#[derive(Serialize)]
pub struct DemoPage {
    site: String,
    is_running: bool,
    steps: Vec<Step>,
    /// The path of the user's copy of the campaign in the inbox, or the path of the inbox if there is no copy. It is set only after the
    /// demo has succeeded.
    well: Option<String>,
    stuck: Option<String>,
    has_shop: bool,
}

page_context!(DemoPage, "demo.html", {
    let step = |said: &str| Step { title: "Brand", said: said.into(), path: "/brands".into(), milliseconds: 1_200 };
    let page =
        |is_running, steps: Vec<Step>| Self { site: String::new(), is_running, steps, well: None, stuck: None, has_shop: true };
    vec![
        Self { has_shop: false, ..page(false, Vec::new()) },
        page(true, Vec::new()),
        page(true, vec![step("12 pages"), step("")]),
        Self { well: Some("/inbox/66f1a2b3d4e5f60718293a4b".into()), ..page(false, vec![step("12 pages")]) },
        Self { stuck: Some("The site did not respond.".into()), ..page(false, vec![step("12 pages"), step("")]) },
    ]
});

/// Shows the form or, after the start, the demo's progress.
pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    page(visit, None)
}

fn page(visit: &Visit, error: Option<&PageError>) -> Result<PageResponse, PageError> {
    let person = user(visit)?;
    let progress = visit.stories.progress(person.user.account.id);
    let (well, stuck) = match progress.as_ref().and_then(|progress| progress.ending.as_ref()) {
        Some(Ending::Well { message }) => (Some(message.clone()), None),
        Some(Ending::Stuck(why)) => (None, Some(why.clone())),
        None => (None, None),
    };
    let context = DemoPage {
        site: visit.form.get("site").to_owned(),
        is_running: progress.as_ref().is_some_and(|progress| progress.ending.is_none()),
        steps: progress.map(|progress| progress.steps).unwrap_or_default(),
        well,
        stuck,
        has_shop: visit.api.0.settings.server.demo_shop,
    };
    Ok(PageResponse::draw_with(&context, error))
}

pub async fn begin(visit: &Visit) -> Result<PageResponse, PageError> {
    let person = user(visit)?.clone();
    let site = match visit.form.some("site") {
        Some(site) => site.to_owned(),
        None if visit.api.0.settings.server.demo_shop => format!("{}{}", visit.api.0.base_url(), shop::PATH),
        None => {
            let error = PageError::plain(StatusCode::BAD_REQUEST, "Enter the URL of a website, like https://example.com.");
            return page(visit, Some(&error.in_field("site")));
        }
    };
    let reader = person.user.email.to_string();
    let account = person.user.account.id;
    let owner = StoryOwner::Person(Box::new(person));
    let story = Story { api: visit.api.clone(), owner, peer: visit.peer, site, reader, clock: None };
    visit.stories.begin(account, story);
    Ok(PageResponse::redirect("/test/demo"))
}
