//! The page for an agent's request for an API key. The user enters the request's code, reviews the requested permissions, and grants all or
//! some of them, or denies the request.

use serde::Serialize;
use serde_json::json;

use super::consent::{Choice, Scope, scopes};
use crate::engine::api::Done;
use crate::features::accounts;
use crate::features::accounts::agents::views::ApprovalView;
use crate::features::accounts::ops::approval_get::ApprovalDetails;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit, with_next};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;

/// The data of the page, which shows the code form, the requested permissions, or the decision.
#[derive(Serialize)]
pub struct AgentPage {
    state: &'static str,
    code: String,
    live: bool,
    details: Option<Details>,
}

#[derive(Serialize)]
struct Details {
    approval: ApprovalView,
    scopes: Vec<Scope>,
}

impl AgentPage {
    fn code(code: &str) -> Self {
        Self { state: "code", code: code.to_owned(), live: false, details: None }
    }

    fn review(code: &str, details: ApprovalDetails, choice: Option<&Choice>) -> Self {
        let live = choice.is_some_and(|choice| choice.environment == Environment::Live);
        let ApprovalDetails { approval, scopes: requested } = details;
        let details = Details { approval, scopes: scopes(requested, choice) };
        Self { state: "review", live, details: Some(details), ..Self::code(code) }
    }

    fn done(code: &str, approval: ApprovalView) -> Self {
        Self { state: "done", details: Some(Details { approval, scopes: Vec::new() }), ..Self::code(code) }
    }
}

page_context!(AgentPage, "agent.html", {
    use crate::engine::api::Operation;
    use crate::features::accounts::agents::views::ApprovalStatus;
    use crate::vocab::permissions::PermissionSet;

    let details = || accounts::ops::approval_get::ApprovalGet::example().1.0;
    let live = Choice { permissions: PermissionSet::NONE, environment: Environment::Live };
    vec![
        Self::code("BCDF-GHJK"),
        Self::review("BCDF-GHJK", details(), None),
        Self::review("BCDF-GHJK", details(), Some(&live)),
        Self::done("BCDF-GHJK", details().approval),
        Self::done("BCDF-GHJK", ApprovalView { status: ApprovalStatus::Denied, ..details().approval }),
    ]
});

/// Shows the form for the code, or the agent's request that has this code.
pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    draw(visit, visit.query.get("code"), Choice::returned(visit, "scope", visit.query.get("code")), None).await
}

async fn draw(visit: &Visit, code: &str, choice: Option<Choice>, error: Option<PageError>) -> Result<PageResponse, PageError> {
    if code.is_empty() {
        return Ok(PageResponse::draw_with(&AgentPage::code(""), error.as_ref()));
    }
    match visit.ask::<accounts::ops::approval_get::ApprovalGet>(json!({ "code": code })).await {
        Ok(Done(details)) => {
            let page = AgentPage::review(code, details, choice.as_ref());
            Ok(PageResponse::draw_with(&page, error.as_ref()))
        }
        Err(error) if error.code == Some(Code::NotSignedIn) => Err(error),
        Err(error) => Ok(PageResponse::draw_with(&AgentPage::code(code), Some(&error))),
    }
}

/// Handles the user's decision about an agent's request.
pub async fn decide(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let code = form.get("code");
    let done = match form.get("act") {
        "grant" => {
            let permissions = form.all("permission");
            let input = json!({ "code": code, "permissions": permissions, "environment": form.get("environment") });
            visit.ask::<accounts::ops::approval_grant::ApprovalGrant>(input).await
        }
        "deny" => visit.ask::<accounts::ops::approval_deny::ApprovalDeny>(json!({ "id": form.get("id") })).await,
        _ => return draw(visit, code, None, None).await,
    };
    let choice = Choice::sent(visit);
    match done {
        Ok(Done(approval)) => Ok(PageResponse::draw(&AgentPage::done(code, approval))),
        // The user signs in again or confirms their password, then returns to this request with the same choices.
        Err(error) if error.code == Some(Code::NotSignedIn) => Ok(PageResponse::to_sign_in(Some(&address(visit, &choice)))),
        Err(error) if error.code == Some(Code::FreshSignInRequired) => {
            Ok(PageResponse::redirect(with_next("/confirm", Some(&address(visit, &choice)))))
        }
        Err(error) => draw(visit, code, Some(choice), Some(error)).await,
    }
}

/// Returns the URL that shows the request again with this choice.
fn address(visit: &Visit, choice: &Choice) -> String {
    let code = visit.form.get("code");
    let (scope, mark) = (choice.permissions.to_string(), choice.mark(visit, code));
    let fields = [("code", code), ("scope", &scope), ("environment", choice.environment.word()), ("mark", &mark)];
    format!("/agent?{}", serde_urlencoded::to_string(fields).unwrap_or_default())
}
