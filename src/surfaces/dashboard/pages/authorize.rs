//! The page on which a user allows a program to act for them (OAuth 2.1). The program sends the browser here with its request in the URL,
//! and the browser returns to the program with the decision.

use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::consent::{Choice, Scope, scopes};
use crate::engine::api::Done;
use crate::features::accounts::ops::authorization_deny::AuthorizationDeny;
use crate::features::accounts::ops::authorization_get::{AuthorizationDetails, AuthorizationGet};
use crate::features::accounts::ops::authorization_grant::AuthorizationGrant;
use crate::surfaces::dashboard::forms::Fields;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit, with_next};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;

/// The parameters of a request. Other parameters are ignored, as OAuth requires.
const PARAMETERS: [&str; 8] =
    ["response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method", "resource"];

/// The URL parameter that keeps the selected permissions while the user confirms their password.
const CHOSEN: &str = "chosen";

#[derive(Serialize)]
pub struct AuthorizePage {
    program: String,
    host: Option<String>,
    returns_to: String,
    scopes: Vec<Scope>,
    live: bool,
    /// The parameters of the request, which the form sends again.
    parameters: Vec<(&'static str, String)>,
    /// The program's URL, to which the browser returns after the decision; empty before the decision.
    next: String,
}

page_context!(AuthorizePage, "authorize.html", {
    use crate::engine::api::Operation;
    use crate::features::accounts::agents::views::ScopeView;
    use crate::vocab::permissions::Permission;

    let page = |live| {
        let details = AuthorizationGet::example().1.0;
        let scope =
            |permission: Permission, yours, grave| ScopeView { permission, allows: permission.allows().into(), yours, grave };
        let all = vec![scope(Permission::AudienceRead, true, false), scope(Permission::EmailSend, false, true)];
        let parameters = vec![("state", "a\"b".to_owned())];
        Self { live, parameters, scopes: scopes(all, None), ..Self::review(details, None, Vec::new()) }
    };
    let registered = Self { host: None, returns_to: "127.0.0.1".into(), ..page(true) };
    vec![page(false), registered, Self::done("Assistant".into(), "https://assistant.example/callback?code=a&state=b".into())]
});

impl AuthorizePage {
    fn review(details: AuthorizationDetails, choice: Option<&Choice>, parameters: Vec<(&'static str, String)>) -> Self {
        let AuthorizationDetails { program, host, returns_to, scopes: requested } = details;
        let live = choice.is_some_and(|choice| choice.environment == Environment::Live);
        Self { program, host, returns_to, scopes: scopes(requested, choice), live, parameters, next: String::new() }
    }

    fn done(program: String, next: String) -> Self {
        let (returns_to, scopes, parameters) = <(String, Vec<Scope>, Vec<(&'static str, String)>)>::default();
        Self { program, host: None, returns_to, scopes, live: false, parameters, next }
    }
}

/// Returns the request's parameters from a URL or a form. Repeated parameters are rejected, as OAuth requires (RFC 6749 §3.1), because two
/// readers of the same request could use different values.
fn parameters(fields: &Fields) -> Result<Vec<(&'static str, String)>, PageError> {
    if let Some(name) = PARAMETERS.into_iter().find(|name| fields.all(name).len() > 1) {
        let message = format!("The request contains {name} more than once. Ask the program's developer to send it only once.");
        return Err(PageError::plain(StatusCode::BAD_REQUEST, &message));
    }
    Ok(PARAMETERS.into_iter().filter_map(|name| Some((name, fields.some(name)?.to_owned()))).collect())
}

/// If an error is about a parameter of the request, adds the parameter's name to the message. The page has no form field that could show
/// the error, and users forward the message to the program's developer.
fn named(error: PageError) -> PageError {
    let mut letters = error.message.chars();
    match letters.next() {
        Some(first) if !error.field.is_empty() => {
            let message = format!("{} {}{}", error.field, first.to_lowercase(), letters.as_str());
            PageError { message, ..error }
        }
        _ => error,
    }
}

fn input(parameters: &[(&'static str, String)]) -> Value {
    // A missing required parameter is passed as an empty value, so that the operation reports it.
    let mut input: Map<String, Value> = ["response_type", "client_id", "code_challenge", "code_challenge_method"]
        .map(|name| (name.to_owned(), "".into()))
        .into_iter()
        .collect();
    input.extend(parameters.iter().map(|(name, value)| ((*name).to_owned(), Value::from(value.as_str()))));
    input.into()
}

/// Returns the request's parameters as a query string. [`Choice::mark`] hashes this string together with the user's choice, so that the
/// choice applies only to this request.
fn subject(parameters: &[(&'static str, String)]) -> String {
    serde_urlencoded::to_string(parameters).unwrap_or_default()
}

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let given = parameters(&visit.query)?;
    let choice = Choice::returned(visit, CHOSEN, &subject(&given));
    review(visit, given, choice, None).await
}

async fn review(
    visit: &Visit,
    given: Vec<(&'static str, String)>,
    choice: Option<Choice>,
    error: Option<PageError>,
) -> Result<PageResponse, PageError> {
    let Done(details) = visit.ask::<AuthorizationGet>(input(&given)).await.map_err(named)?;
    Ok(PageResponse::draw_with(&AuthorizePage::review(details, choice.as_ref(), given), error.as_ref()))
}

pub async fn decide(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let given = parameters(form)?;
    let done = match form.get("act") {
        "grant" => {
            let permissions = form.all("permission");
            let input = json!({ "request": input(&given), "permissions": permissions, "environment": form.get("environment") });
            visit.ask::<AuthorizationGrant>(input).await
        }
        "deny" => visit.ask::<AuthorizationDeny>(input(&given)).await,
        _ => return Err(PageError::unknown_action()),
    };
    let choice = Choice::sent(visit);
    match done {
        // The response is a page with a link to the program instead of a redirect, because the form's content security policy forbids
        // redirects to other sites.
        Ok(Done(result)) => Ok(PageResponse::draw(&AuthorizePage::done(result.program, result.redirect_to))),
        // The user signs in again or confirms their password, then returns to this request with the same choices.
        Err(error) if error.code == Some(Code::NotSignedIn) => {
            Ok(PageResponse::to_sign_in(Some(&address(visit, &given, &choice))))
        }
        Err(error) if error.code == Some(Code::FreshSignInRequired) => {
            Ok(PageResponse::redirect(with_next("/confirm", Some(&address(visit, &given, &choice)))))
        }
        Err(error) => review(visit, given, Some(choice), Some(error)).await,
    }
}

/// Returns the URL of this page with the request's parameters and the user's choice.
fn address(visit: &Visit, given: &[(&'static str, String)], choice: &Choice) -> String {
    let (request, chosen, mark) = (subject(given), choice.permissions.to_string(), choice.mark(visit, &subject(given)));
    let fields = [(CHOSEN, chosen.as_str()), ("environment", choice.environment.word()), ("mark", &mark)];
    format!("/oauth2/authorize?{request}&{}", serde_urlencoded::to_string(fields).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::api::Failure;

    #[test]
    fn a_repeated_parameter_is_named_and_refused() {
        let error = parameters(&Fields::read(b"client_id=a&redirect_uri=b&redirect_uri=c")).expect_err("one value is repeated");
        assert_eq!(
            (error.status, error.message.as_str()),
            (
                StatusCode::BAD_REQUEST,
                "The request contains redirect_uri more than once. Ask the program's developer to send it only once."
            )
        );
        let given = parameters(&Fields::read(b"client_id=a&other=b&other=c&scope=")).expect("the parameters are not repeated");
        assert_eq!(given, [("client_id", "a".to_owned())]);
    }

    #[test]
    fn an_error_of_the_request_names_its_parameter() {
        let failure = Failure::field("code_challenge_method", "must be S256; report this to the program's developer");
        let error = named(PageError::from(failure));
        assert_eq!(error.message, "code_challenge_method must be S256; report this to the program's developer.");
        assert_eq!(named(PageError::not_found()).message, PageError::not_found().message);
    }
}
