//! One campaign: what it is, how far it is, and what can be done with it.

use http::StatusCode;
use serde_json::{Value, json};

use super::{around, audience, base, brand, campaign};
use crate::surfaces::dashboard::charts;
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};

/// The campaign.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    page(visit, None).await
}

async fn page(visit: &Visit, error: Option<PageError>) -> Result<Outcome, PageError> {
    let campaign = campaign(visit).await?;
    let mut context = around(&campaign, "campaign");
    let has_begun = context["has_begun"] == true;
    let stats = match has_begun {
        true => visit.ask("campaigns.stats", json!({ "id": visit.name("id") })).await?,
        false => Value::Null,
    };
    let topic = match &campaign["topicId"] {
        Value::Null => Value::Null,
        id => visit.ask("topics.get", json!({ "id": id, "projectId": campaign["projectId"] })).await.unwrap_or_default()["name"]
            .take(),
    };
    context.insert("base".into(), base(visit).into());
    context.insert("here".into(), format!("{}/{}", base(visit), visit.name("id")).into());
    context.insert("images".into(), visit.wants_images().into());
    context.insert("audience".into(), audience(visit, &campaign).await);
    context.insert("brand".into(), brand(visit, &campaign["projectId"]).await);
    context.insert("topic".into(), topic);
    context.insert("is_moving".into(), matches!(campaign["status"].as_str(), Some("sending" | "throttled")).into());
    context.insert("progress".into(), progress(&stats));
    context.insert("stats".into(), stats);
    context.insert("own".into(), visit.who.as_ref().map_or("", |who| who.user.email.as_str()).into());
    context.insert("emails".into(), visit.form.get("emails").into());
    context.insert("wrong".into(), error.as_ref().map_or("", |error| error.message.as_str()).into());
    context.insert("wrong_field".into(), error.as_ref().map_or("", |error| error.field.as_str()).into());
    context.insert("done".into(), visit.query.get("done").into());
    context.insert("many".into(), visit.query.get("many").parse::<u64>().unwrap_or(0).into());
    Ok(match error {
        Some(error) => Outcome::again("campaign.html", Value::Object(context), &error),
        None => Outcome::page("campaign.html", Value::Object(context)),
    })
}

/// How far it is, as parts of a bar.
fn progress(stats: &Value) -> Value {
    let many = |name: &str| stats[name].as_u64().unwrap_or(0);
    charts::parts(&[
        ("sent", "Sent", many("totalSent")),
        ("failed", "Failed", many("failed")),
        ("unknown", "Delivery uncertain", many("unknown")),
        ("skipped", "Left out", many("skipped")),
        ("deferred", "Retrying", many("deferred")),
        ("queued", "Queued", many("queued")),
    ])
}

/// One of the forms.
pub async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    let (id, act) = (visit.name("id"), visit.form.get("act"));
    let here = format!("{}/{id}", base(visit));
    let which = json!({ "id": id });
    let asked = match act {
        "pause" | "resume" | "cancel" | "archive" | "unarchive" | "unschedule" => {
            visit.ask(&format!("campaigns.{act}"), which).await.map(|_| format!("{here}?done={act}"))
        }
        "resend" => {
            let resent = visit.ask("campaigns.resend_unknown", which).await;
            resent.map(|resent| format!("{here}?done=resend&many={}", resent["resent"].as_u64().unwrap_or(0)))
        }
        "duplicate" => {
            let made = visit.ask("campaigns.duplicate", which).await;
            made.map(|made| format!("{}/{}/edit", base(visit), made["id"].as_str().unwrap_or_default()))
        }
        "delete" => visit.ask("campaigns.delete", which).await.map(|_| format!("{}?done=deleted", base(visit))),
        "test" => {
            let emails: Vec<&str> =
                visit.form.get("emails").split([',', ';', ' ', '\n', '\r']).filter(|part| !part.is_empty()).collect();
            let asked = visit.ask("campaigns.test", json!({ "id": id, "emails": emails })).await;
            asked.map(|_| format!("{here}?done=test&many={}", emails.len()))
        }
        _ => return Err(PageError::not_found()),
    };
    match asked {
        Ok(to) => Ok(Outcome::go(to)),
        Err(error) if matches!(error.status, StatusCode::BAD_REQUEST | StatusCode::CONFLICT) => page(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// The email, as a document for a frame: with what its merge fields may say.
pub async fn frame(visit: &Visit) -> Result<Outcome, PageError> {
    let campaign = campaign(visit).await?;
    visit.hand_on("emails.html", json!({ "emailId": campaign["emailId"], "images": visit.wants_images() })).await
}
