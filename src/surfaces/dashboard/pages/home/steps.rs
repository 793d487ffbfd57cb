//! The getting-started steps for new users. The next step has a button and the equivalent API request.

use serde_json::{Value, json};

use super::AccountOverview;
use crate::features::{contacts, emails};
use crate::surfaces::dashboard::visit::Visit;
use crate::vocab::environment::Environment;
use crate::vocab::permissions::Permission;

/// Returns the getting-started steps for which the user has the permissions. Returns null if a campaign has been started, data could not be
/// read, or all steps are completed.
pub async fn of(visit: &Visit, known: &AccountOverview) -> Value {
    let has_sent = known.campaigns.iter().any(|row| !row["campaign"]["batchId"].is_null());
    if has_sent || known.error.is_some() {
        return Value::Null;
    }
    let BrandProgress { brand, has_emails, has_contacts } = BrandProgress::of(visit, known).await;
    let id = brand.unwrap_or("…");
    let address = visit.api.0.base_url();
    let request = |path: &str, body: String| {
        format!(
            "curl -X POST '{address}{path}' \\\n  -H 'Authorization: Bearer sk_{}_…' \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'",
            visit.environment
        )
    };
    let mut steps = vec![
        step(
            &[Permission::ProjectWrite],
            ("Import your brand", "Enter your website, and Mailmill reads your colors, logos, text, and products from it."),
            ("/brands", "Import a brand"),
            brand.is_some(),
            request("/v1/projects/import", r#"{"urls":["https://example.com"],"name":"My brand"}"#.into()),
        ),
        step(
            &[Permission::EmailRead, Permission::EmailWrite],
            ("Write an email", "Describe the email in a sentence. Mailmill writes it in your brand's style, ready to send."),
            ("/emails", "Write an email"),
            has_emails,
            request("/v1/projects/emails/generate", format!(r#"{{"projectId":"{id}","prompt":"Our autumn teas are here"}}"#)),
        ),
        step(
            &[Permission::AudienceRead, Permission::AudienceWrite],
            ("Add contacts", "Import contacts from a CSV file or another platform, or add them one by one."),
            ("/contacts", "Add contacts"),
            has_contacts,
            request("/v1/contacts", format!(r#"{{"projectId":"{id}","email":"ada@example.com","firstName":"Ada"}}"#)),
        ),
    ];
    if visit.environment == Environment::Live {
        steps.push(step(
            &[Permission::DomainRead, Permission::DomainWrite],
            ("Verify your domain", "Add a few DNS records so that mailbox providers trust your emails."),
            ("/domains", "Add a domain"),
            known.domains.iter().any(|domain| domain["isVerified"] == true),
            request("/v1/domains", r#"{"domain":"news.example.com"}"#.into()),
        ));
    }
    let about = match visit.environment {
        Environment::Test => {
            "Choose the recipients and send the campaign. Test emails stay in the built-in inbox, where you can open them."
        }
        Environment::Live => "Choose the recipients, check how many contacts will get the campaign, and send or schedule it.",
    };
    steps.push(step(
        &[Permission::CampaignRead, Permission::CampaignWrite],
        ("Send a campaign", about),
        if known.campaigns.is_empty() { ("/campaigns/new", "Create a campaign") } else { ("/campaigns", "Go to campaigns") },
        false,
        to_send(known, id, request),
    ));
    steps.retain(|(needed, _)| needed.iter().all(|permission| visit.may(*permission)));
    let mut steps: Vec<Value> = steps.into_iter().map(|(_, step)| step).collect();
    let Some(next) = steps.iter().position(|step| step["done"] == false) else { return Value::Null };
    steps[next]["next"] = true.into();
    let done = steps.iter().filter(|step| step["done"] == true).count();
    json!({ "steps": steps, "done": done })
}

/// Returns the API request that sends the newest campaign. If there is no campaign, returns the request that creates one.
fn to_send(known: &AccountOverview, brand: &str, request: impl Fn(&str, String) -> String) -> String {
    match known.campaigns.first().and_then(|row| row["campaign"]["id"].as_str()) {
        Some(campaign) => request(&format!("/v1/campaigns/{campaign}/send"), "{}".into()),
        None => request(
            "/v1/campaigns",
            format!(
                r#"{{"projectId":"{brand}","name":"Hello","conversationId":"CONVERSATION","from":"news@example.com","fromName":"Ada","recipientType":"audience"}}"#
            ),
        ),
    }
}

struct BrandProgress<'k> {
    /// The ID of an active brand, or of any brand if none is active; `None` if there are no brands.
    brand: Option<&'k str>,
    has_emails: bool,
    has_contacts: bool,
}

impl<'k> BrandProgress<'k> {
    async fn of(visit: &Visit, known: &'k AccountOverview) -> Self {
        let ready = known.projects.iter().find(|project| project["status"] == "active");
        let Some(brand) = ready.or(known.projects.first()).and_then(|brand| brand["id"].as_str()) else {
            return Self { brand: None, has_emails: false, has_contacts: false };
        };
        let of_brand = json!({ "projectId": brand, "limit": 1 });
        let emails = visit.ask::<emails::ops::list::List>(of_brand.clone()).await;
        let contacts = visit.ask::<contacts::ops::list::List>(of_brand).await;
        Self {
            brand: Some(brand),
            has_emails: emails.is_ok_and(|found| found.total > 0),
            has_contacts: contacts.is_ok_and(|found| found.total > 0),
        }
    }
}

/// Returns two sample steps: a completed step, and the next step.
#[cfg(test)]
pub fn sample() -> Value {
    let sample = |done| step(&[], ("Add contacts", "One by one."), ("/contacts", "Add contacts"), done, "curl".into()).1;
    let mut next = sample(false);
    next["next"] = true.into();
    json!({ "steps": [sample(true), next], "done": 0 })
}

/// A step, preceded by the permissions that it requires.
type Step = (&'static [Permission], Value);

fn step(
    needed: &'static [Permission],
    (title, about): (&str, &str),
    (path, label): (&str, &str),
    done: bool,
    curl: String,
) -> Step {
    let step = json!({ "title": title, "about": about, "path": path, "label": label, "done": done, "next": false, "curl": curl });
    (needed, step)
}
