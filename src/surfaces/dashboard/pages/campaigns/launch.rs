//! The page with a campaign's dry run and the forms that send or schedule the campaign.
//!
//! The dry run applies the checks of a send to the current recipients, which takes a while if there are many.

use std::collections::BTreeMap;

use http::StatusCode;
use serde::Serialize;
use serde_json::json;

use super::{AudienceName, CampaignHead, audience, base, campaign, wall};
use crate::base::zone::Zone;
use crate::engine::api::Done;
use crate::features::campaigns::model::TimezoneMode;
use crate::features::campaigns::ops::dry_run::CampaignDryRun;
use crate::features::sending::ops::plan::AccountPlan;
use crate::features::{campaigns, sending};
use crate::surfaces::dashboard::error::for_users;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::codes::Code;

#[derive(Serialize)]
pub struct LaunchPage {
    #[serde(flatten)]
    head: CampaignHead,
    date: String,
    time: String,
    zone: String,
    local: &'static str,
    audience: AudienceName,
    reasons: Vec<LeftOut>,
    /// Why the dry run was rejected; empty if it succeeded.
    refused: String,
    outlook: Option<CampaignDryRun>,
    /// Whether an email's score is missing or below the campaign's minimum.
    is_score_low: bool,
    plan: Option<AccountPlan>,
    zones: &'static [String],
}

/// A skip reason, and the number of recipients skipped for it.
#[derive(Serialize)]
pub struct LeftOut {
    word: String,
    many: u64,
    why: String,
}

page_context!(LaunchPage, "campaign_launch.html", {
    use crate::engine::api::Operation;
    use crate::features::campaigns::model::CampaignStatus;
    use crate::features::campaigns::views::CampaignView;

    let outlook = || campaigns::ops::dry_run::DryRun::example().1.0;
    let page = |campaign, outlook: Option<CampaignDryRun>| Self {
        head: CampaignHead::sample(campaign, "launch"),
        date: "2026-01-31".into(),
        time: "09:00".into(),
        zone: "Europe/Berlin".into(),
        local: "yes",
        audience: AudienceName { kind: "everyone", name: "All of the brand's contacts".into() },
        reasons: outlook.as_ref().map(|outlook| reasons(&outlook.skipped_reasons)).unwrap_or_default(),
        refused: if outlook.is_none() { "The email is not ready.".into() } else { String::new() },
        is_score_low: outlook.as_ref().is_some_and(is_score_low),
        outlook,
        plan: Some(sending::ops::plan::Plan::example().1.0),
        zones: Zone::names(),
    };
    let ready = CampaignDryRun { ready: true, recipients: 10, estimated_seconds: Some(9_000), ..outlook() };
    let none = CampaignDryRun { ready: true, recipients: 0, skipped_reasons: BTreeMap::new(), ..outlook() };
    let mut stopped = CampaignDryRun { ready: false, ..outlook() };
    for warning in &mut stopped.warnings {
        (warning.code, warning.stops) = (Code::NotValidated.info().wire, true);
    }
    vec![
        page(CampaignView::sample(), Some(ready)),
        page(CampaignView::sample_scheduled(), Some(none)),
        page(CampaignView::sample(), Some(stopped)),
        page(CampaignView::sample(), None),
        page(CampaignView::sample_in(CampaignStatus::Sent), Some(outlook())),
    ]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    draw(visit, None).await
}

async fn draw(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let campaign = campaign(visit).await?;
    // If the dry run itself is rejected, the page shows the reason and a link to the form that fixes the problem.
    let tried = visit.ask::<campaigns::ops::dry_run::DryRun>(json!({ "id": visit.path_parameter("id") })).await;
    let (outlook, refused) = match tried {
        Ok(Done(outlook)) => (Some(with_user_messages(outlook)), String::new()),
        Err(refused) if is_about_it(&refused) => (None, refused.message),
        Err(refused) => return Err(refused),
    };
    let plan = visit.ask::<sending::ops::plan::Plan>(json!({})).await.ok().map(|Done(plan)| plan);
    let is_sent = visit.form.get("act") == "schedule";
    let sent = |name: &str| visit.form.get(name).to_owned();
    let (date, time) = if is_sent { (sent("date"), sent("time")) } else { wall(&campaign).unwrap_or_default() };
    let zone = if is_sent { sent("zone") } else { campaign.scheduled_timezone.clone().unwrap_or_default() };
    let is_local = match is_sent {
        true => visit.form.get("local") == "yes",
        false => campaign.timezone_mode == Some(TimezoneMode::Recipient),
    };
    let error = error.map(|error| match error.field.as_str() {
        // The page already shows this message as the reason for the rejected dry run.
        _ if error.message == refused => PageError { message: String::new(), ..error },
        "scheduledAt" => error.in_field("date"),
        "scheduledTimezone" => error.in_field("zone"),
        _ => error,
    });
    let context = LaunchPage {
        date,
        time,
        zone,
        local: if is_local { "yes" } else { "" },
        audience: audience(visit, &campaign).await,
        reasons: outlook.as_ref().map(|outlook| reasons(&outlook.skipped_reasons)).unwrap_or_default(),
        refused,
        is_score_low: outlook.as_ref().is_some_and(is_score_low),
        outlook,
        plan,
        zones: Zone::names(),
        head: CampaignHead::of(visit, campaign, "launch"),
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

/// Replaces the API's messages for problems that pages explain differently.
fn with_user_messages(mut outlook: CampaignDryRun) -> CampaignDryRun {
    for warning in &mut outlook.warnings {
        let message = std::mem::take(&mut warning.message);
        warning.message = for_users(warning.code, warning.see.unwrap_or_default(), message);
    }
    outlook
}

fn is_score_low(outlook: &CampaignDryRun) -> bool {
    outlook.warnings.iter().any(|warning| warning.code == Code::NotValidated.info().wire)
}

/// Returns the skip reasons with the number of recipients skipped for each, most frequent reason first.
pub fn reasons(of: &BTreeMap<impl AsRef<str>, u64>) -> Vec<LeftOut> {
    let reason = |word: &str, many| LeftOut { word: word.to_owned(), many, why: why(word).to_owned() };
    let mut reasons: Vec<LeftOut> = of.iter().map(|(word, many)| reason(word.as_ref(), *many)).collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.many));
    reasons
}

pub fn why(reason: &str) -> &str {
    match reason {
        "suppressed" => "On the suppression list",
        "unsubscribed" => "Unsubscribed",
        "bounced" => "Bounced earlier",
        "not_subscribed" => "Not subscribed",
        "topic_unsubscribed" => "Not subscribed to this topic",
        "invalid_address" => "Invalid address",
        "duplicate_address" => "Duplicate address",
        "missing_field" => "No value for a required merge field",
        "erased" => "Contact deleted",
        "cancelled" => "Campaign canceled before sending",
        "merge_failed" => "Message couldn't be created",
        other => other,
    }
}

pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let (id, form) = (visit.path_parameter("id"), &visit.form);
    let asked = match form.get("act") {
        "send" => visit.ask::<campaigns::ops::send::Send>(json!({ "id": id })).await.map(drop),
        "schedule" if form.get("date").is_empty() || form.get("time").is_empty() => {
            Err(PageError::plain(StatusCode::BAD_REQUEST, "Choose a date and time.").in_field("scheduledAt"))
        }
        "schedule" => {
            let mode = if form.get("local") == "yes" { "recipient" } else { "campaign" };
            let at = format!("{}T{}", form.get("date"), form.get("time"));
            let input = json!({
                "id": id, "scheduledAt": at, "scheduledTimezone": form.some("zone").unwrap_or("UTC"), "timezoneMode": mode,
            });
            visit.ask::<campaigns::ops::schedule::Schedule>(input).await.map(drop)
        }
        _ => return Err(PageError::unknown_action()),
    };
    match asked {
        Ok(_) => Ok(PageResponse::redirect(format!("{}/{id}?done={}", base(visit), form.get("act")))),
        Err(error) if is_about_it(&error) => draw(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// Returns whether the error is about the campaign or the input, rather than about the user's session or role, or about the service.
fn is_about_it(error: &PageError) -> bool {
    let is_about_who = matches!(error.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    error.status.is_client_error() && !is_about_who
}
