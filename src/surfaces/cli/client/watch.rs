//! `mailmill watch campaign ID`: a live view of a campaign.

use std::io::IsTerminal;
use std::time::Duration;

use clap::ArgMatches;
use serde_json::{Value, json};

use super::super::problem::{Exit, Problem};
use super::super::terminal::{harmless_json, print};
use super::arguments::one;
use super::output::Format;
use super::session::Session;
use super::table::cell;

const PAUSE: Duration = Duration::from_secs(2);
const BAR_CELLS: u64 = 30;
/// TABLE: the numbers in the view, each with its label, its field in the statistics, and whether it is also shown as a share of the
/// recipients.
const NUMBERS: [(&str, &str, bool); 11] = [
    ("Delivered", "totalDelivered", true),
    ("Queued", "queued", true),
    ("Deferred", "deferred", true),
    ("Failed", "failed", true),
    ("Unknown", "unknown", true),
    ("Skipped", "skipped", false),
    ("Opened", "uniqueOpens", true),
    ("Clicked", "uniqueClicks", true),
    ("Bounced", "bounces", true),
    ("Complaints", "complaints", true),
    ("Unsubscribed", "unsubscribes", true),
];

/// Shows the campaign until it is complete or cancelled, has failed or awaits review, or until the command is interrupted.
pub async fn run(session: &Session, matches: &ArgMatches) -> Result<u8, Problem> {
    let id = one(matches, "id").unwrap_or_default();
    tokio::select! {
        result = show_all(session, &id) => result,
        _ = tokio::signal::ctrl_c() => Err(Problem::new(Exit::Interrupted, "interrupted; the campaign is not affected")),
    }
}

async fn show_all(session: &Session, id: &str) -> Result<u8, Problem> {
    let redraws = session.output.format == Format::Table && std::io::stdout().is_terminal();
    let mut last = String::new();
    loop {
        let campaign = session.call_patiently("campaigns.get", json!({ "id": id })).await?;
        let stats = session.call_patiently("campaigns.stats", json!({ "id": id })).await?;
        let view = match session.output.format {
            Format::Json | Format::Lines => format!("{}\n", harmless_json(&json!({ "campaign": campaign, "stats": stats }))),
            Format::Quiet => format!("{}\n", cell(&campaign["status"])),
            Format::Table => view(&campaign, &stats),
        };
        // Ignore the time in the statistics, which changes even if nothing else does.
        let changed = without_times(&view) != without_times(&last);
        if redraws {
            let above = last.lines().count();
            let start = if above > 0 { format!("\x1b[{above}F\x1b[J") } else { String::new() };
            print(&format!("{start}{view}"));
        } else if changed {
            print(&view);
        }
        last = view;
        if let Some(code) = end(&campaign)? {
            return Ok(code);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn without_times(view: &str) -> String {
    let mut value: Value = match serde_json::from_str(view) {
        Ok(value) => value,
        Err(_) => return view.to_owned(),
    };
    value["stats"]["lastUpdated"] = Value::Null;
    value.to_string()
}

/// Returns the exit code if the campaign is complete or cancelled, an error if it has failed or awaits review, and otherwise `None`.
fn end(campaign: &Value) -> Result<Option<u8>, Problem> {
    match campaign["status"].as_str().unwrap_or_default() {
        "failed" | "pending_review" => {
            let reason = campaign["error"].as_str().map_or_else(
                || "the campaign failed or could not start; check it in the dashboard".to_owned(),
                |_| cell(&campaign["error"]),
            );
            Err(Problem::new(Exit::Failed, reason))
        }
        "cancelled" => Ok(Some(0)),
        // A sent campaign is not complete while Mailmill still retries deferred recipients.
        "sent" if campaign["completedAt"].is_string() => Ok(Some(0)),
        _ => Ok(None),
    }
}

/// Returns the number of recipients that are neither queued nor deferred, and the total number of recipients.
pub fn settled(stats: &Value) -> (u64, u64) {
    let number = |name: &str| stats[name].as_u64().unwrap_or_default();
    let recipients = number("recipients");
    (recipients.saturating_sub(number("queued") + number("deferred")), recipients)
}

fn view(campaign: &Value, stats: &Value) -> String {
    let number = |name: &str| stats[name].as_u64().unwrap_or_default();
    let (done, recipients) = settled(stats);
    let share = |part: u64, whole: u64| (part * 100).checked_div(whole).unwrap_or(0);
    let full = (share(done, recipients) * BAR_CELLS / 100).min(BAR_CELLS) as usize;
    let mut out = format!("{}  {}\n", cell(&campaign["name"]), cell(&campaign["status"]));
    if campaign["scheduledAt"].is_string() && campaign["sentAt"].is_null() {
        out.push_str(&format!("Starts at {} UTC\n", cell(&campaign["scheduledAt"])));
    }
    out.push_str(&format!(
        "[{}{}] {:>3}%  {done} of {recipients} recipients\n",
        "#".repeat(full),
        "-".repeat(BAR_CELLS as usize - full),
        share(done, recipients)
    ));
    for (label, name, is_share) in NUMBERS {
        let count = number(name);
        let percent = if is_share && recipients > 0 { format!("  {:>3}%", share(count, recipients)) } else { String::new() };
        out.push_str(format!("{label:<13}{count:>9}{percent}").trim_end());
        out.push('\n');
    }
    // A sent campaign is not complete until the retries end, so the view says why the command continues.
    if campaign["status"] == "sent" && campaign["completedAt"].is_null() {
        match number("deferred") {
            0 => {}
            1 => out.push_str("Delivery to 1 recipient is still being retried; press Ctrl-C to stop\n"),
            count => out.push_str(&format!("Delivery to {count} recipients is still being retried; press Ctrl-C to stop\n")),
        }
    }
    if let Some(revenue) = stats["conversion"]["revenue"].as_f64().filter(|revenue| *revenue > 0.0) {
        out.push_str(&format!("{:<13}{revenue:>9.2}  {}\n", "Revenue", cell(&stats["conversion"]["currency"])));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_view_shows_progress_and_shares() {
        let campaign = json!({ "name": "Winter", "status": "sending", "sentAt": "2026-01-01T00:00:00.000Z" });
        let stats =
            json!({ "recipients": 200, "queued": 90, "deferred": 10, "totalDelivered": 95, "failed": 5, "uniqueOpens": 20 });
        let text = view(&campaign, &stats);
        assert_eq!(settled(&stats), (100, 200));
        assert!(text.starts_with("Winter  sending\n[###############---------------]  50%  100 of 200 recipients\n"), "{text}");
        assert!(text.contains("\nDelivered           95   47%\n"), "{text}");
        assert!(text.lines().all(|line| line.len() <= 80) && !text.contains("retried"));
        let sent = view(&json!({ "name": "Winter", "status": "sent" }), &json!({ "recipients": 9, "deferred": 2 }));
        assert!(sent.contains("\nDelivery to 2 recipients is still being retried;"), "{sent}");
    }

    #[test]
    fn a_campaign_ends_when_no_recipient_is_retried() {
        let of = |value: Value| end(&value);
        assert_eq!(of(json!({ "status": "sending" })), Ok(None));
        assert_eq!(of(json!({ "status": "sent" })), Ok(None));
        assert_eq!(of(json!({ "status": "sent", "completedAt": "2026-01-01T00:00:00.000Z" })), Ok(Some(0)));
        assert!(
            of(json!({ "status": "failed", "error": "No transport." }))
                .is_err_and(|problem| problem.to_string() == "No transport.")
        );
    }
}
