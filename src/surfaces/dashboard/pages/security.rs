//! The user's own sign-in: password, authenticator app, and sessions.

use serde_json::{Value, json};

use crate::base::qr;
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit, entered};

/// Its pages.
pub const ROUTES: &[Route] =
    &[closed("/{environment}/settings/security").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(send(visit)))];

/// The page.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    page(visit, json!({ "state": "none" }), None).await
}

/// Renders the page. `app` has the details of an authenticator app during setup.
async fn page(visit: &Visit, app: Value, error: Option<PageError>) -> Result<Outcome, PageError> {
    let mut sessions = visit.ask("accounts.sessions_list", json!({})).await?;
    for session in sessions["sessions"].as_array_mut().into_iter().flatten() {
        session["program"] = session["agent"].as_str().and_then(program).into();
    }
    let session = visit.ask("accounts.session", json!({})).await?;
    let mut context = entered(&visit.form, &["act"], error.as_ref());
    context.insert("title".into(), "Security".into());
    context.insert("sessions".into(), sessions["sessions"].clone());
    context.insert("session".into(), session);
    context.insert("app".into(), app);
    context.insert("done".into(), visit.query.get("done").into());
    Ok(match error {
        Some(error) => Outcome::again("security.html", Value::Object(context), &error),
        None => Outcome::page("security.html", Value::Object(context)),
    })
}

/// Handles the forms.
pub async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    let form = &visit.form;
    match form.get("act") {
        "password" => {
            let input = json!({ "current": form.raw("current"), "code": form.some("code"), "password": form.raw("password") });
            settle(visit, visit.ask("accounts.password", input).await, json!({ "state": "none" })).await
        }
        "end" => {
            visit.ask("accounts.session_end", json!({ "id": form.get("id") })).await?;
            Ok(Outcome::go(format!("{}?done=end", visit.path)))
        }
        "app" => {
            let secret = visit.ask("accounts.totp_begin", json!({})).await?;
            page(visit, begun(&secret["secret"], &secret["uri"]), None).await
        }
        "app-confirm" => match visit.ask("accounts.totp_confirm", json!({ "code": form.get("code") })).await {
            Ok(data) => page(visit, json!({ "state": "confirmed", "codes": data["recoveryCodes"] }), None).await,
            Err(error) if error.code == "SIGN_IN_FAILED" => {
                page(visit, begun(&form.get("secret").into(), &form.get("uri").into()), Some(error)).await
            }
            Err(error) => Err(error),
        },
        "codes" => {
            let data = visit.ask("accounts.recovery_codes", json!({})).await?;
            page(visit, json!({ "state": "renewed", "codes": data["recoveryCodes"] }), None).await
        }
        "app-remove" => {
            visit.ask("accounts.totp_remove", json!({})).await?;
            Ok(Outcome::go(format!("{}?done=app-remove", visit.path)))
        }
        _ => Err(PageError::not_found()),
    }
}

/// Returns an authenticator app's setup: its secret, its URI, and the same as a QR code.
fn begun(secret: &Value, uri: &Value) -> Value {
    // Accepts only URIs for authenticator apps: a form sends the URI back after a wrong code.
    let uri = uri.as_str().filter(|uri| uri.starts_with("otpauth://totp/")).unwrap_or_default();
    let code = qr::draw(uri).map(|code| json!({ "size": code.size, "path": code.path }));
    json!({ "state": "begun", "secret": secret, "uri": uri, "qr": code })
}

async fn settle(visit: &Visit, asked: Result<Value, PageError>, app: Value) -> Result<Outcome, PageError> {
    match asked {
        Ok(_) => Ok(Outcome::go(format!("{}?done={}", visit.path, visit.form.get("act")))),
        Err(error) if error.code == "NOT_SIGNED_IN" => Err(error),
        Err(error) => page(visit, app, Some(error)).await,
    }
}

/// TABLE: User-Agent tokens, most specific first: Edge and Opera also send `Chrome/` and `Safari/`.
const BROWSERS: [(&str, &str); 6] = [
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
];

/// TABLE: the same for operating systems.
const SYSTEMS: [(&str, &str); 6] = [
    ("iPhone", "an iPhone"),
    ("iPad", "an iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "a Mac"),
    ("Linux", "Linux"),
];

/// Returns the browser and system of a User-Agent; `None` if the browser is unknown.
fn program(agent: &str) -> Option<String> {
    let known = |table: &[(&str, &'static str)]| table.iter().find(|(mark, _)| agent.contains(mark)).map(|(_, name)| *name);
    let browser = known(&BROWSERS)?;
    Some(known(&SYSTEMS).map_or_else(|| browser.to_owned(), |system| format!("{browser} on {system}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_browsers_are_named_and_others_are_not() {
        let chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
        assert_eq!(program(chrome).as_deref(), Some("Chrome on Linux"));
        assert_eq!(program(&format!("{chrome} Edg/156.0")).as_deref(), Some("Edge on Linux"));
        let safari = "Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1 Version/26.0 Mobile Safari/604.1";
        assert_eq!(program(safari).as_deref(), Some("Safari on an iPhone"));
        assert_eq!(program("curl/8.5").as_deref(), Some("curl"));
        assert_eq!(program("Shop 1.2"), None);
    }
}
