//! Notices about problems that need attention. Each has a short message and a link to a page that helps. The functions are pure.

use serde_json::{Value, json};

use super::AccountOverview;
use crate::engine::api::response::WireTime;
use crate::vocab::environment::Environment;
use crate::vocab::limits;

/// The bounce rates, in percent, for a warning and for a severe notice. Above the first rate, mailbox providers may start to distrust a
/// sender; above the second, they may reject the sender's mail.
pub const BOUNCES_WARN: f64 = 2.0;
pub const BOUNCES_BAD: f64 = 5.0;
/// The complaint rates, in percent, for a warning and for a severe notice. Large mailbox providers require a rate below the first, and may
/// reject mail from senders that reach the second.
pub const COMPLAINTS_WARN: f64 = 0.1;
pub const COMPLAINTS_BAD: f64 = 0.3;
/// The minimum number of sent messages for a notice about rates. With fewer messages, a single bounce would look like a problem.
const MESSAGES_MIN: u64 = 100;
/// The share of a quota at which a notice warns that the quota is nearly used up.
const QUOTA_SHARE: f64 = 0.8;
/// How long the page reports a failed brand import.
const FAILED_IMPORTS_SHOWN_MS: i64 = 7 * limits::DAY_MS;
/// The maximum number of failed imports that are reported separately. If there are more, one notice reports their number.
const FAILED_IMPORTS_MAX: usize = 3;
/// The maximum number of notices on the home page.
const LINES_MAX: usize = 12;

/// Returns the notices about problems with the installation, the account and its sending; severe notices come first.
pub fn of(environment: Environment, known: &AccountOverview) -> Vec<Value> {
    let mut found = Vec::new();
    if known.service["readOnly"] == true {
        let text = "The server's disk is almost full, so most changes are rejected and nothing is sent. Unsubscribe links still \
                    work. Everything resumes automatically after the server operator frees up disk space.";
        found.push(line("bad", text.into(), ("/settings/system".into(), "Open the System page")));
    }
    if let Some(cause) = &known.hold {
        let text = format!(
            "Work that was already in progress or scheduled is on hold: {cause}. This includes campaigns, retries, and webhook \
             deliveries. New campaigns are sent as usual."
        );
        found.push(line("bad", text, ("/settings/system".into(), "Review and resume")));
    }
    if let Some(problem) = known.backup["problem"].as_str() {
        found.push(line("bad", problem.into(), ("/settings/system".into(), "View backup")));
    }
    sending_problems(environment, known, &mut found);
    campaigns(known, &mut found);
    rates(known, &mut found);
    quotas(known, &mut found);
    failed_imports(known, &mut found);
    failed_jobs(known, &mut found);
    for webhook in known.webhooks.iter().filter(|webhook| !webhook["pausedUntil"].is_null() || webhook["pauseReason"] == "gone") {
        let url = webhook["url"].as_str().unwrap_or_default();
        let reason = match webhook["pauseReason"].as_str() {
            Some("rate_limited") => "the endpoint is rate limiting requests",
            Some("gone") => "the endpoint returned 410 Gone",
            _ => "the endpoint keeps failing",
        };
        let text = format!("Deliveries to the webhook {url} are paused: {reason}.");
        let path = format!("/settings/webhooks/{}", webhook["id"].as_str().unwrap_or_default());
        found.push(line("warn", text, (path, "View deliveries")));
    }
    found.sort_by_key(|line| line["level"] != "bad");
    found.truncate(LINES_MAX);
    found
}

/// Returns two sample notices: one about a failed job, which users can dismiss, and one that is not about a job.
#[cfg(test)]
pub fn samples() -> Vec<Value> {
    let mut failed = line("bad", "An import failed.".into(), ("/contacts/jobs".into(), "View details"));
    failed["job"] = "66f1a2b3d4e5f60718293a4b".into();
    vec![failed, line("warn", "The disk is almost full.".into(), ("/settings/system".into(), "Open the System page"))]
}

fn line(level: &str, text: String, (path, label): (String, &str)) -> Value {
    json!({ "level": level, "text": text, "path": path, "label": label, "job": null })
}

fn name(of: &Value) -> &str {
    of["name"].as_str().filter(|name| !name.is_empty()).unwrap_or("a brand")
}

/// Adds notices if there is no mail transport or no verified sending domain.
fn sending_problems(environment: Environment, known: &AccountOverview, found: &mut Vec<Value>) {
    if environment == Environment::Live && known.plan.is_object() && known.plan["provider"].is_null() {
        let text = "Live sending isn't set up. Ask the server operator to configure a mail relay or direct delivery.";
        found.push(line("bad", text.into(), ("/settings/system".into(), "Open the System page")));
    }
    let verified = |domain: &&Value| domain["isVerified"] == true;
    if environment == Environment::Live
        && known.plan["provider"] == "smtp"
        && known.needs_verified_domain
        && !known.domains.iter().any(|domain| verified(&domain))
    {
        let text = "No sending domain is verified. Until you verify one, Mailmill or the recipients' mail servers can reject \
                    live emails.";
        found.push(line("bad", text.into(), ("/domains".into(), "Verify a domain")));
    }
    for domain in known.domains.iter().filter(|domain| domain["status"] == "failed") {
        let (domain, why) = (domain["domain"].as_str().unwrap_or_default(), domain["statusReason"].as_str().unwrap_or_default());
        let text = format!("The domain {domain} isn't verified. {why}");
        found.push(line("warn", text, (format!("/domains/{domain}"), "View DNS records")));
    }
}

/// Adds notices about campaigns that need the user's attention.
fn campaigns(known: &AccountOverview, found: &mut Vec<Value>) {
    for row in &known.campaigns {
        let (campaign, unknown) = (&row["campaign"], row["stats"]["unknown"].as_u64().unwrap_or(0));
        let (name, error) = (name(campaign), campaign["error"].as_str().unwrap_or_default());
        let path = format!("/campaigns/{}", campaign["id"].as_str().unwrap_or_default());
        let said = match campaign["status"].as_str().unwrap_or_default() {
            "pending_review" => Some(("bad", format!("The campaign “{name}” was due but couldn't start. {error}"), "Fix it")),
            "failed" => Some(("bad", format!("The campaign “{name}” failed. {error}"), "View details")),
            "throttled" => Some(("warn", format!("The campaign “{name}” is waiting. {error}"), "View campaign")),
            "sent" | "cancelled" | "paused" if unknown > 0 => {
                let recipients = if unknown == 1 { "recipient" } else { "recipients" };
                let text = format!("Delivery of the campaign “{name}” is uncertain for {unknown} {recipients}.");
                Some(("warn", text, "Wait or resend"))
            }
            _ => None,
        };
        found.extend(said.map(|(level, text, label)| line(level, text, (path, label))));
    }
}

/// Adds notices about recently failed brand imports.
fn failed_imports(known: &AccountOverview, found: &mut Vec<Value>) {
    let is_recent = |project: &&Value| {
        let at: Option<WireTime> = project["updatedAt"].as_str().and_then(|at| at.parse().ok());
        at.is_none_or(|at| known.now.ms_since(at.0) < FAILED_IMPORTS_SHOWN_MS)
    };
    let failed: Vec<&Value> = known.projects.iter().filter(|project| project["status"] == "error").filter(is_recent).collect();
    if failed.len() > FAILED_IMPORTS_MAX {
        let text = format!("{} brand imports failed.", failed.len());
        return found.push(line("warn", text, ("/brands".into(), "View brands")));
    }
    for project in failed {
        let why = project["error"].as_str().unwrap_or("The website couldn't be read.");
        let path = format!("/brands/{}", project["id"].as_str().unwrap_or_default());
        found.push(line("warn", format!("The brand import for {} failed. {why}", name(project)), (path, "View import")));
    }
}

/// Adds notices about failed contact jobs. Omits jobs whose notice the user has dismissed, and jobs that were followed by another of the
/// same kind for the same brand.
fn failed_jobs(known: &AccountOverview, found: &mut Vec<Value>) {
    for (at, job) in known.jobs.iter().enumerate().filter(|(_, job)| job["status"] == "failed" && job["seen"] == false) {
        let is_again = |later: &&Value| {
            later["kind"] == job["kind"] && later["projectId"] == job["projectId"] && later["status"] != "uploaded"
        };
        if known.jobs[..at].iter().any(|later| is_again(&later)) {
            continue;
        }
        let (id, project) = (job["id"].as_str().unwrap_or_default(), job["projectId"].as_str().unwrap_or_default());
        let (what, path) = match job["kind"].as_str().unwrap_or_default() {
            "import" => ("A contact import", format!("/contacts/import/{id}")),
            "export" => ("A contact export", format!("/contacts/jobs/export/{id}")),
            "change" => ("A bulk change of contacts", format!("/contacts/jobs/change/{id}")),
            _ => ("A contact import through the API", format!("/contacts/jobs/bulk/{id}")),
        };
        let brand = known.projects.iter().find(|brand| brand["id"] == project).map_or("a brand", name);
        let text = format!("{what} for {brand} failed. {}", job["error"].as_str().unwrap_or_default());
        let mut notice = line("bad", text, (format!("{path}?brand={project}"), "View details"));
        notice["job"] = id.into();
        found.push(notice);
    }
}

/// Adds notices if the bounce or complaint rate of the last 30 days is too high.
fn rates(known: &AccountOverview, found: &mut Vec<Value>) {
    let summary = &known.timeline["summary"];
    let many = |name: &str| summary[name].as_u64().unwrap_or(0);
    if many("delivered") + many("bounced") < MESSAGES_MIN {
        return;
    }
    let (bounces, complaints) = (summary["bounceRate"].as_f64().unwrap_or(0.0), summary["complaintRate"].as_f64().unwrap_or(0.0));
    if bounces >= BOUNCES_WARN {
        let level = if bounces >= BOUNCES_BAD { "bad" } else { "warn" };
        let text =
            format!("{bounces}% of emails bounced in the last 30 days. Mailbox providers expect less than {BOUNCES_WARN}%.");
        found.push(line(level, text, ("/suppressions?reason=bounce_hard".into(), "View hard bounces")));
    }
    if complaints >= COMPLAINTS_WARN {
        let level = if complaints >= COMPLAINTS_BAD { "bad" } else { "warn" };
        let text = format!(
            "{complaints}% of emails were reported as spam in the last 30 days. Large mailbox providers expect less than {COMPLAINTS_WARN}%."
        );
        found.push(line(level, text, ("/suppressions?reason=complaint".into(), "View complaints")));
    }
}

/// Adds notices about quotas that are used up or nearly used up.
fn quotas(known: &AccountOverview, found: &mut Vec<Value>) {
    for (quota, words) in [("daily", "today"), ("monthly", "this month")] {
        let (used, limit) =
            (known.plan[quota]["used"].as_f64().unwrap_or(0.0), known.plan[quota]["limit"].as_f64().unwrap_or(0.0));
        if limit > 0.0 && used >= limit {
            let text = format!(
                "The plan's email quota for {words} is used up. Campaigns and batches continue automatically when the quota resets."
            );
            found.push(line("bad", text, ("/settings/plan".into(), "View plan")));
        } else if limit > 0.0 && used / limit >= QUOTA_SHARE {
            let text = format!("{:.0}% of the plan's email quota for {words} is used.", (used / limit * 100.0).floor());
            found.push(line("warn", text, ("/settings/plan".into(), "View plan")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Timestamp;

    const NOW: Timestamp = Timestamp(1_767_225_600_000);

    fn nothing() -> AccountOverview {
        let plan = json!({ "provider": "smtp", "daily": { "used": 0, "limit": 100 }, "monthly": { "used": 0, "limit": 1000 } });
        let domains = vec![json!({ "domain": "acme.example", "isVerified": true, "status": "verified" })];
        AccountOverview {
            projects: vec![],
            domains,
            webhooks: vec![],
            jobs: vec![],
            campaigns: vec![],
            timeline: Value::Null,
            service: Value::Null,
            plan,
            error: None,
            backup: Value::Null,
            hold: None,
            needs_verified_domain: true,
            now: NOW,
        }
    }

    fn texts(environment: Environment, known: &AccountOverview) -> Vec<String> {
        of(environment, known)
            .iter()
            .map(|line| format!("{}: {}", line["level"].as_str().unwrap_or_default(), line["text"]))
            .collect()
    }

    #[test]
    fn no_notice_is_shown_without_problems_or_without_permissions() {
        assert_eq!(texts(Environment::Live, &nothing()), [""; 0]);
        let blind = AccountOverview { plan: Value::Null, domains: vec![], ..nothing() };
        assert_eq!(texts(Environment::Live, &blind), [""; 0]);
    }

    #[test]
    fn a_problem_of_the_backup_is_urgent() {
        let known = AccountOverview { backup: json!({ "problem": "The backup is 2 h old." }), ..nothing() };
        assert_eq!(texts(Environment::Test, &known), ["bad: \"The backup is 2 h old.\""]);
    }

    #[test]
    fn a_missing_domain_is_reported_only_if_live_mail_requires_one() {
        let known = |needs_verified_domain| AccountOverview { domains: vec![], needs_verified_domain, ..nothing() };
        let notices = texts(Environment::Live, &known(true));
        assert!(notices.len() == 1 && notices[0].contains("No sending domain is verified."), "{notices:?}");
        assert_eq!(texts(Environment::Live, &known(false)), [""; 0]);
        assert_eq!(texts(Environment::Test, &known(true)), [""; 0]);
    }

    #[test]
    fn a_hold_on_sending_is_shown_in_both_environments() {
        let known = AccountOverview { hold: Some("this data folder is a copy: x".into()), ..nothing() };
        for environment in Environment::ALL {
            let notices = texts(environment, &known);
            assert!(
                notices.len() == 1 && notices[0].contains("scheduled is on hold: this data folder is a copy: x."),
                "{notices:?}"
            );
        }
    }

    #[test]
    fn the_most_severe_comes_first() {
        let campaign = |status: &str, unknown: u64| json!({ "campaign": { "id": "1", "name": "Teas", "status": status, "error": null }, "stats": { "unknown": unknown } });
        let known = AccountOverview {
            domains: vec![],
            projects: vec![json!({ "id": "1", "name": "Acme", "status": "error", "error": "No answer." })],
            webhooks: vec![
                json!({ "url": "https://a.example", "pausedUntil": "2026-01-31T00:00:00Z", "pauseReason": "failing" }),
            ],
            jobs: vec![],
            campaigns: vec![campaign("sent", 3), campaign("sent", 0), campaign("pending_review", 0)],
            timeline: json!({ "summary": { "delivered": 940, "bounced": 60, "bounceRate": 6.0, "complaintRate": 0.1 } }),
            plan: json!({ "provider": "smtp", "daily": { "used": 85, "limit": 100 }, "monthly": { "used": 1000, "limit": 1000 } }),
            service: json!({ "readOnly": true }),
            error: None,
            backup: Value::Null,
            hold: None,
            needs_verified_domain: true,
            now: NOW,
        };
        let notices = texts(Environment::Live, &known);
        assert_eq!(notices.len(), 10, "{notices:#?}");
        assert_eq!(notices.iter().take_while(|line| line.starts_with("bad")).count(), 5, "{notices:#?}");
        // Test mail does not require a sending domain.
        assert_eq!(texts(Environment::Test, &known).len(), 9);
    }

    #[test]
    fn a_failed_job_is_shown_until_it_is_dismissed_or_repeated() {
        let job = |id: &str, kind: &str, status: &str, seen: bool| json!({ "id": id, "projectId": "1", "kind": kind, "status": status, "seen": seen, "error": "No room." });
        let notices = |jobs: Vec<Value>| {
            let known =
                AccountOverview { jobs, projects: vec![json!({ "id": "1", "name": "Acme", "status": "active" })], ..nothing() };
            of(Environment::Live, &known)
        };
        let failed = || job("a", "import", "failed", false);
        let one = notices(vec![job("b", "export", "completed", false), failed()]);
        assert_eq!(one.len(), 1, "{one:?}");
        assert_eq!((&one[0]["path"], &one[0]["job"]), (&json!("/contacts/import/a?brand=1"), &json!("a")));
        assert_eq!(one[0]["text"], "A contact import for Acme failed. No room.");
        assert_eq!(
            notices(vec![job("b", "import", "uploaded", false), failed()]).len(),
            1,
            "an upload without matched columns does not clear the failed import"
        );
        for later in ["completed", "processing", "pending"] {
            assert!(notices(vec![job("b", "import", later, false), failed()]).is_empty(), "{later}");
        }
        let twice = notices(vec![job("b", "import", "failed", false), failed()]);
        assert_eq!((twice.len(), &twice[0]["job"]), (1, &json!("b")), "only the last of several failures is shown");
        assert!(notices(vec![job("a", "import", "failed", true)]).is_empty());
    }

    #[test]
    fn one_bounce_of_a_few_messages_is_not_a_problem() {
        let summary = json!({ "delivered": 9, "bounced": 1, "bounceRate": 10.0, "complaintRate": 0.0 });
        assert_eq!(texts(Environment::Live, &AccountOverview { timeline: json!({ "summary": summary }), ..nothing() }), [""; 0]);
    }

    #[test]
    fn failed_imports_are_shown_for_a_week_and_combined_if_many() {
        let failed = |at: &str| json!({ "id": "1", "name": "Acme", "status": "error", "error": "No answer.", "updatedAt": at });
        let notices = |projects: Vec<Value>| texts(Environment::Live, &AccountOverview { projects, ..nothing() });
        let (recent, old) = (failed("2025-12-26T00:00:00.000Z"), failed("2025-12-24T00:00:00.000Z"));
        assert_eq!(notices(vec![recent.clone(), old]), ["warn: \"The brand import for Acme failed. No answer.\""]);
        assert_eq!(notices(vec![recent; 4]), ["warn: \"4 brand imports failed.\""]);
    }
}
