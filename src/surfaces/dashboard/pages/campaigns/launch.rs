//! A dry run of a campaign, and the forms that send or schedule it.
//!
//! The page checks every recipient as sending does: with many recipients this takes a moment, and the count is exact.

use http::StatusCode;
use serde_json::{Value, json};

use super::{around, audience, base, campaign, wall};
use crate::base::zone::Zone;
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit, entered};

/// The fields of the schedule form.
const FIELDS: [&str; 4] = ["date", "time", "zone", "local"];

/// Shows the dry run.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    page(visit, None).await
}

async fn page(visit: &Visit, error: Option<PageError>) -> Result<Outcome, PageError> {
    let campaign = campaign(visit).await?;
    // If even the dry run is refused, the campaign's own page explains why, and allows to fix it.
    let (outlook, refused) = match visit.ask("campaigns.dry_run", json!({ "id": visit.name("id") })).await {
        Ok(outlook) => (outlook, String::new()),
        Err(refused) if is_about_it(&refused) => (Value::Null, refused.message),
        Err(refused) => return Err(refused),
    };
    let plan = visit.ask("sending.plan", json!({})).await.unwrap_or_default();
    let mut context = entered(&visit.form, &FIELDS, error.as_ref());
    if visit.form.get("act") != "schedule" {
        let (day, time) = wall(&campaign).unwrap_or_default();
        context.insert("date".into(), day.into());
        context.insert("time".into(), time.into());
        context.insert("zone".into(), campaign["scheduledTimezone"].as_str().unwrap_or_default().into());
        context.insert("local".into(), if campaign["timezoneMode"] == "recipient" { "yes" } else { "" }.into());
    }
    let field = error.as_ref().map_or("", |error| match error.field.as_str() {
        "scheduledAt" => "date",
        "scheduledTimezone" => "zone",
        other => other,
    });
    context.insert("wrong_field".into(), field.into());
    context.extend(around(&campaign, "launch"));
    context.insert("here".into(), format!("{}/{}", base(visit), visit.name("id")).into());
    context.insert("audience".into(), audience(visit, &campaign).await);
    context.insert("reasons".into(), reasons(&outlook["skippedReasons"]));
    // Shows the message only once.
    if error.as_ref().is_some_and(|error| error.message == refused) {
        context.insert("wrong".into(), "".into());
    }
    context.insert("refused".into(), refused.into());
    context.insert("outlook".into(), outlook);
    context.insert("plan".into(), plan);
    context.insert("zones".into(), Zone::names().into());
    Ok(match error {
        Some(error) => Outcome::again("campaign_launch.html", Value::Object(context), &error),
        None => Outcome::page("campaign_launch.html", Value::Object(context)),
    })
}

/// Returns why recipients are skipped, most frequent reason first.
pub fn reasons(of: &Value) -> Value {
    let mut reasons: Vec<(&String, u64)> =
        of.as_object().into_iter().flatten().map(|(reason, many)| (reason, many.as_u64().unwrap_or(0))).collect();
    reasons.sort_by_key(|(_, many)| std::cmp::Reverse(*many));
    reasons.into_iter().map(|(reason, many)| json!({ "word": reason, "many": many, "why": why(reason) })).collect()
}

/// Returns the text for a reason.
pub fn why(reason: &str) -> &str {
    match reason {
        "suppressed" => "On the suppression list",
        "unsubscribed" => "Unsubscribed",
        "bounced" => "Bounced before",
        "not_subscribed" => "Never subscribed",
        "topic_unsubscribed" => "Not subscribed to this topic",
        "invalid_address" => "Invalid address",
        "duplicate_address" => "Duplicate address",
        "missing_field" => "Missing a required merge field",
        "erased" => "Deleted",
        "cancelled" => "Campaign canceled before sending",
        other => other,
    }
}

/// Sends or schedules it.
pub async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    let (id, form) = (visit.name("id"), &visit.form);
    let asked = match form.get("act") {
        "send" => visit.ask("campaigns.send", json!({ "id": id })).await,
        "schedule" => {
            let mode = if form.get("local") == "yes" { "recipient" } else { "campaign" };
            let at = format!("{}T{}", form.get("date"), form.get("time"));
            let input = json!({
                "id": id, "scheduledAt": at, "scheduledTimezone": form.some("zone").unwrap_or("UTC"), "timezoneMode": mode,
            });
            visit.ask("campaigns.schedule", input).await
        }
        _ => return Err(PageError::not_found()),
    };
    match asked {
        Ok(_) => Ok(Outcome::go(format!("{}/{id}?done={}", base(visit), form.get("act")))),
        Err(error) if is_about_it(&error) => page(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// Returns whether the error concerns the campaign or the input, not the user or the service.
fn is_about_it(error: &PageError) -> bool {
    let is_about_who = matches!(error.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    error.status.is_client_error() && !is_about_who
}
