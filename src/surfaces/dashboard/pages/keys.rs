//! API keys: making one, which is shown once, and revoking.

use serde_json::{Value, json};

use super::permissions;
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, Trouble, Visit, entered};

/// Its pages.
pub const ROUTES: &[Route] =
    &[closed("/{environment}/settings/keys").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(send(visit)))];

/// The list and the form.
pub async fn show(visit: &Visit) -> Result<Outcome, Trouble> {
    page(visit, Value::Null, None).await
}

async fn page(visit: &Visit, made: Value, trouble: Option<Trouble>) -> Result<Outcome, Trouble> {
    let data = visit.ask("accounts.key_list", json!({})).await?;
    let mut context = entered(&visit.form, &["name"], trouble.as_ref());
    let chosen = visit.form.all("permission");
    context.insert("title".into(), "API keys".into());
    context.insert("keys".into(), data["keys"].clone());
    context.insert("permissions".into(), permissions(&chosen));
    context.insert("made".into(), made);
    context.insert("done".into(), visit.query.get("done").into());
    context.insert("base".into(), visit.api.0.base_url().into());
    Ok(match trouble {
        Some(trouble) => Outcome::again("keys.html", Value::Object(context), &trouble),
        None => Outcome::page("keys.html", Value::Object(context)),
    })
}

/// A new key, or one revoked.
pub async fn send(visit: &Visit) -> Result<Outcome, Trouble> {
    let form = &visit.form;
    if form.get("act") == "revoke" {
        visit.ask("accounts.key_revoke", json!({ "id": form.get("id") })).await?;
        return Ok(Outcome::go(format!("{}?done=revoked", visit.path)));
    }
    let input =
        json!({ "name": form.get("name"), "environment": form.get("environment"), "permissions": form.all("permission") });
    match visit.ask("accounts.key_create", input).await {
        Ok(made) => page(visit, made, None).await,
        Err(trouble) if trouble.status == http::StatusCode::BAD_REQUEST => page(visit, Value::Null, Some(trouble)).await,
        Err(trouble) => Err(trouble),
    }
}
