//! API keys: creating one, which is shown once, and revoking.

use serde_json::{Value, json};

use super::permissions;
use crate::surfaces::dashboard::charts::{self, Chart, Series, Shape};
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit, entered};

/// Its pages.
pub const ROUTES: &[Route] =
    &[closed("/{environment}/settings/keys").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(send(visit)))];

/// The list and the form.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    page(visit, Value::Null, None).await
}

async fn page(visit: &Visit, made: Value, error: Option<PageError>) -> Result<Outcome, PageError> {
    let data = visit.ask("accounts.key_list", json!({})).await?;
    let mut context = entered(&visit.form, &["name", "environment"], error.as_ref());
    let chosen = visit.form.all("permission");
    context.insert("title".into(), "API keys".into());
    let usage = visit.ask("accounts.key_usage", json!({})).await?;
    let used = usage["keys"].as_array().map_or(&[][..], Vec::as_slice);
    let keys: Vec<Value> = data["keys"].as_array().into_iter().flatten().map(|key| with_usage(key, used)).collect();
    context.insert("usage".into(), chart(visit.query.get("usage"), &keys, used));
    context.insert("keys".into(), keys.into());
    context.insert("permissions".into(), permissions(&chosen));
    context.insert("made".into(), made);
    context.insert("done".into(), visit.query.get("done").into());
    context.insert("base".into(), visit.api.0.base_url().into());
    Ok(match error {
        Some(error) => Outcome::again("keys.html", Value::Object(context), &error),
        None => Outcome::page("keys.html", Value::Object(context)),
    })
}

fn days<'u>(id: &str, used: &'u [Value]) -> &'u [Value] {
    let found = used.iter().find(|usage| usage["id"] == id).and_then(|usage| usage["days"].as_array());
    found.map_or(&[][..], Vec::as_slice)
}

/// Returns a key with its daily requests as a sparkline, and their sum.
fn with_usage(key: &Value, used: &[Value]) -> Value {
    let days = days(key["id"].as_str().unwrap_or_default(), used);
    let requests: Vec<u64> = days.iter().map(|day| day["requests"].as_u64().unwrap_or(0)).collect();
    let mut key = key.clone();
    key["recent"] = requests.iter().sum::<u64>().into();
    key["spark"] = charts::spark(&requests).into();
    key
}

/// Returns the chart of one key, if requested.
fn chart(id: &str, keys: &[Value], used: &[Value]) -> Value {
    let Some(key) = keys.iter().find(|key| key["id"] == id) else { return Value::Null };
    let days = days(id, used);
    let values = days.iter().map(|day| day["requests"].as_f64().unwrap_or(0.0)).collect();
    let dates = days.iter().map(|day| day["date"].as_str().unwrap_or_default().to_owned()).collect();
    let series = vec![Series { label: "Requests".into(), values }];
    let chart = Chart { id: "usage", title: "Requests by day", unit: "", shape: Shape::Bars, dates, series };
    json!({ "key": key, "chart": chart.draw() })
}

/// Creates or revokes a key.
pub async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    let form = &visit.form;
    if form.get("act") == "revoke" {
        visit.ask("accounts.key_revoke", json!({ "id": form.get("id") })).await?;
        return Ok(Outcome::go(format!("{}?done=revoked", visit.path)));
    }
    let input =
        json!({ "name": form.get("name"), "environment": form.get("environment"), "permissions": form.all("permission") });
    match visit.ask("accounts.key_create", input).await {
        Ok(made) => page(visit, made, None).await,
        Err(error) if error.status == http::StatusCode::BAD_REQUEST => page(visit, Value::Null, Some(error)).await,
        Err(error) => Err(error),
    }
}
