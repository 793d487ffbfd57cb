//! One's own sign-in: password, authenticator app, and where one is signed in.

use serde_json::{Value, json};

use crate::base::qr;
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, Trouble, Visit, entered};

/// Its pages.
pub const ROUTES: &[Route] =
    &[closed("/{environment}/settings/security").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(send(visit)))];

/// The page.
pub async fn show(visit: &Visit) -> Result<Outcome, Trouble> {
    page(visit, json!({ "state": "none" }), None).await
}

/// `app` is what there is to show of an authenticator app that is being set up.
async fn page(visit: &Visit, app: Value, trouble: Option<Trouble>) -> Result<Outcome, Trouble> {
    let sessions = visit.ask("accounts.sessions_list", json!({})).await?;
    let session = visit.ask("accounts.session", json!({})).await?;
    let mut context = entered(&visit.form, &["act"], trouble.as_ref());
    context.insert("title".into(), "Your security".into());
    context.insert("sessions".into(), sessions["sessions"].clone());
    context.insert("session".into(), session);
    context.insert("app".into(), app);
    context.insert("done".into(), visit.query.get("done").into());
    Ok(match trouble {
        Some(trouble) => Outcome::again("security.html", Value::Object(context), &trouble),
        None => Outcome::page("security.html", Value::Object(context)),
    })
}

/// One of the forms.
pub async fn send(visit: &Visit) -> Result<Outcome, Trouble> {
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
            Err(trouble) if trouble.code == "SIGN_IN_FAILED" => {
                page(visit, begun(&form.get("secret").into(), &form.get("uri").into()), Some(trouble)).await
            }
            Err(trouble) => Err(trouble),
        },
        "app-remove" => {
            visit.ask("accounts.totp_remove", json!({})).await?;
            Ok(Outcome::go(format!("{}?done=app-remove", visit.path)))
        }
        _ => Err(Trouble::not_found()),
    }
}

/// An app that is being set up: its secret, its address, and the same as a QR code for the camera of a telephone.
fn begun(secret: &Value, uri: &Value) -> Value {
    // Only what authenticator apps open: the address comes back by a form when a code was wrong.
    let uri = uri.as_str().filter(|uri| uri.starts_with("otpauth://totp/")).unwrap_or_default();
    let code = qr::draw(uri).map(|code| json!({ "size": code.size, "path": code.path }));
    json!({ "state": "begun", "secret": secret, "uri": uri, "qr": code })
}

async fn settle(visit: &Visit, asked: Result<Value, Trouble>, app: Value) -> Result<Outcome, Trouble> {
    match asked {
        Ok(_) => Ok(Outcome::go(format!("{}?done={}", visit.path, visit.form.get("act")))),
        Err(trouble) if trouble.code == "NOT_SIGNED_IN" => Err(trouble),
        Err(trouble) => page(visit, app, Some(trouble)).await,
    }
}
