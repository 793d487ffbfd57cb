//! An agent's request for an API key: enter its code, review the requested permissions, grant all or some, or deny it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::base::hex;
use crate::base::secret::{same, sha256};
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit, with_next};
use crate::vocab::environment::Environment;
use crate::vocab::permissions::PermissionSet;

/// Its pages.
pub const ROUTES: &[Route] = &[closed("/agent").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(decide(visit)))];

/// The user's choices, kept across errors and a repeated password check.
struct Choice {
    permissions: PermissionSet,
    environment: Environment,
}

impl Choice {
    /// Reads the form. Invalid values are ignored.
    fn sent(visit: &Visit) -> Self {
        let words: BTreeSet<&str> = visit.form.all("permission").into_iter().collect();
        let permissions = words.iter().filter_map(|word| word.parse().ok()).fold(PermissionSet::NONE, PermissionSet::and);
        Self { permissions, environment: visit.form.get("environment").parse().unwrap_or(Environment::Test) }
    }

    /// Reads the choices from the URL. A link from elsewhere, like the agent's own, can only remove permissions; only our own can choose
    /// live data.
    fn returned(visit: &Visit) -> Option<Self> {
        // The scope's permissions, possibly none: then nothing is selected.
        let scope = visit.query.all("scope").into_iter().next()?;
        let mut choice = Self { permissions: scope.parse().unwrap_or(PermissionSet::NONE), environment: Environment::Live };
        let is_own = same(choice.mark(visit).as_bytes(), visit.query.get("mark").as_bytes());
        if !is_own || visit.query.get("environment") != Environment::Live.word() {
            choice.environment = Environment::Test;
        }
        Some(choice)
    }

    /// Returns a signature of this choice for this code that only this browser's pages can create.
    fn mark(&self, visit: &Visit) -> String {
        let code = visit.query.some("code").unwrap_or(visit.form.get("code"));
        let text = format!("agent\0{}\0{code}\0{}\0{}", visit.csrf, self.permissions, self.environment);
        hex::encode(&sha256(text.as_bytes())[..16])
    }

    /// Returns the URL of the form with this choice.
    fn address(&self, visit: &Visit) -> String {
        let (scope, mark) = (self.permissions.to_string(), self.mark(visit));
        let fields =
            [("code", visit.form.get("code")), ("scope", &scope), ("environment", self.environment.word()), ("mark", &mark)];
        format!("/agent?{}", serde_urlencoded::to_string(fields).unwrap_or_default())
    }
}

fn page(code: &str, mut details: Value, choice: Option<&Choice>, error: Option<&PageError>, state: &str) -> Outcome {
    for scope in details["scopes"].as_array_mut().into_iter().flatten() {
        let permission = scope["permission"].as_str().and_then(|word| word.parse().ok());
        let is_chosen = choice.is_none_or(|choice| permission.is_some_and(|permission| choice.permissions.contains(permission)));
        scope["chosen"] = (scope["yours"] == true && is_chosen).into();
    }
    let context = json!({
        "title": "An agent requests access",
        "state": state,
        "code": code,
        "live": choice.is_some_and(|choice| choice.environment == Environment::Live),
        "details": details,
        "wrong": error.map_or("", |error| &error.message),
    });
    match error {
        Some(error) => Outcome::again("agent.html", context, error),
        None => Outcome::page("agent.html", context),
    }
}

/// Shows the form for the code, or the request of the agent with this code.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    look(visit, visit.query.get("code"), Choice::returned(visit), None).await
}

async fn look(visit: &Visit, code: &str, choice: Option<Choice>, wrong: Option<PageError>) -> Result<Outcome, PageError> {
    if code.is_empty() {
        return Ok(page("", json!({}), None, wrong.as_ref(), "code"));
    }
    match visit.ask("accounts.approval_look", json!({ "code": code })).await {
        Ok(details) => Ok(page(code, details, choice.as_ref(), wrong.as_ref(), "review")),
        Err(error) if error.code == "NOT_SIGNED_IN" => Err(error),
        Err(error) => Ok(page(code, json!({}), None, Some(&error), "code")),
    }
}

/// Handles the decision.
pub async fn decide(visit: &Visit) -> Result<Outcome, PageError> {
    let form = &visit.form;
    let code = form.get("code");
    let done = match form.get("act") {
        "grant" => {
            let permissions = form.all("permission");
            let input = json!({ "code": code, "permissions": permissions, "environment": form.get("environment") });
            visit.ask("accounts.approval_grant", input).await
        }
        "deny" => visit.ask("accounts.approval_deny", json!({ "id": form.get("id") })).await,
        _ => return look(visit, code, None, None).await,
    };
    let choice = Choice::sent(visit);
    match done {
        Ok(approval) => Ok(page(code, json!({ "approval": approval }), None, None, "done")),
        // The user confirms their password, then returns to this request with the same choices.
        Err(error) if error.code == "NOT_SIGNED_IN" => Ok(Outcome::to_sign_in(Some(&choice.address(visit)))),
        Err(error) if error.code == "FRESH_SIGN_IN_REQUIRED" => {
            Ok(Outcome::go(with_next("/confirm", Some(&choice.address(visit)))))
        }
        Err(error) => look(visit, code, Some(choice), Some(error)).await,
    }
}
