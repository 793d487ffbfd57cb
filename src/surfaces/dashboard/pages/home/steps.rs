//! The first steps of newcomers: what comes next, with its button and the request that does the same.

use serde_json::{Value, json};

use super::Known;
use crate::surfaces::dashboard::visit::Visit;
use crate::vocab::environment::Environment;

/// The steps, or nothing once a campaign was sent.
pub async fn of(visit: &Visit, known: &Known) -> Value {
    let has_sent = known.campaigns.iter().any(|row| !row["campaign"]["batchId"].is_null());
    if has_sent {
        return Value::Null;
    }
    let brand = known.projects.iter().find(|project| project["status"] == "active").or(known.projects.first());
    let id = brand.and_then(|brand| brand["id"].as_str()).unwrap_or("…");
    let of_brand = json!({ "projectId": id, "limit": 1 });
    let (mut emails, mut contacts) = (0, 0);
    if brand.is_some() {
        let total = |answer: Value| answer["total"].as_u64().unwrap_or(0);
        emails = visit.ask("emails.list", of_brand.clone()).await.map_or(0, total);
        contacts = visit.ask("contacts.list", of_brand).await.map_or(0, total);
    }
    let address = visit.api.0.base_url();
    let request = |path: &str, body: String| {
        format!(
            "curl -X POST '{address}{path}' \\\n  -H 'Authorization: Bearer sk_{}_…' \\\n  -H 'Content-Type: application/json' \\\n  -d '{body}'",
            visit.environment
        )
    };
    let mut steps = vec![
        step(
            ("Bring in your brand", "Name your web site: its colours, logos, words and products are read from it."),
            ("/brands", "Add a brand", "project_write"),
            brand.is_some(),
            request("/v1/projects/import", r#"{"urls":["https://example.com"],"name":"My brand"}"#.into()),
        ),
        step(
            ("Write an email", "Say in a sentence what it is about. It comes in your brand’s look, ready to be sent."),
            ("/emails", "Write an email", "email_write"),
            emails > 0,
            request("/v1/projects/emails/generate", format!(r#"{{"projectId":"{id}","prompt":"Our autumn teas are here"}}"#)),
        ),
        step(
            ("Add people", "One by one, or all at once from a CSV file."),
            ("/contacts", "Add contacts", "audience_write"),
            contacts > 0,
            request("/v1/contacts", format!(r#"{{"projectId":"{id}","email":"ada@example.com","firstName":"Ada"}}"#)),
        ),
    ];
    if visit.environment == Environment::Live {
        steps.push(step(
            ("Show that the domain is yours", "A few DNS records, so that mailbox providers trust what you send."),
            ("/domains", "Add a domain", "domain_write"),
            known.domains.iter().any(|domain| domain["isVerified"] == true),
            request("/v1/domains", r#"{"domain":"news.example.com"}"#.into()),
        ));
    }
    let campaign = known.campaigns.first().and_then(|row| row["campaign"]["id"].as_str()).unwrap_or("…");
    let about = match visit.environment {
        Environment::Test => "Choose whom it is for and send it. Test mail stays in the built-in inbox, where you can open it.",
        Environment::Live => "Choose whom it is for, see exactly who gets it, and send it or give it a time.",
    };
    steps.push(step(
        ("Send a campaign", about),
        (if known.campaigns.is_empty() { "/campaigns/new" } else { "/campaigns" }, "Go to campaigns", "campaign_write"),
        false,
        request(&format!("/v1/campaigns/{campaign}/send"), "{}".into()),
    ));
    let next = steps.iter().position(|step| step["done"] == false).unwrap_or(0);
    steps[next]["next"] = true.into();
    let done = steps.iter().filter(|step| step["done"] == true).count();
    json!({ "steps": steps, "done": done })
}

/// A step; `needs` is the permission that it takes, as templates name it.
fn step((title, about): (&str, &str), (path, label, needs): (&str, &str, &str), done: bool, curl: String) -> Value {
    json!({
        "title": title, "about": about, "path": path, "label": label, "needs": needs, "done": done, "next": false, "curl": curl,
    })
}
