//! Sending domains: adding one, its records and their state in the DNS, tracking, keys.

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit, entered};
use crate::vocab::permissions::Permission;

/// Its pages.
pub const ROUTES: &[Route] = &[
    closed("/{environment}/domains").get(|visit| Box::pin(show_all(visit))).post(|visit| Box::pin(add(visit))),
    closed("/{environment}/domains/{domain}").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(send(visit))),
];

/// The UTM parameters, as the form names them.
const MARKS: [&str; 5] = ["source", "medium", "campaign", "term", "content"];

/// Shows the list and the form for a new one.
pub async fn show_all(visit: &Visit) -> Result<Outcome, PageError> {
    all(visit, None).await
}

async fn all(visit: &Visit, error: Option<PageError>) -> Result<Outcome, PageError> {
    let mut context = fields(visit, &["domain", "from_name", "root"], error.as_ref());
    context.insert("title".into(), "Sending domains".into());
    context.insert("domains".into(), visit.ask("domains.list", json!({})).await?);
    context.insert("base".into(), visit.api.0.base_url().into());
    Ok(drawn("domains.html", context, error))
}

/// Adds a domain, or both parts of one.
pub async fn add(visit: &Visit) -> Result<Outcome, PageError> {
    let form = &visit.form;
    let (asked, name) = match form.get("act") {
        "setup" => {
            let (root, from_name) = (form.get("domain"), form.some("from_name"));
            let input = json!({ "rootDomain": root, "fromName": from_name, "vanityRootFrom": form.get("root") == "yes" });
            (visit.ask("domains.setup", input).await, "/marketing/domain")
        }
        "create" => (visit.ask("domains.create", json!({ "domain": form.get("domain") })).await, "/domain"),
        _ => return Err(PageError::not_found()),
    };
    match asked {
        Ok(made) => {
            let name = made.pointer(name).and_then(Value::as_str).unwrap_or_default();
            Ok(Outcome::go(format!("{}/{name}?done={}", visit.path, form.get("act"))))
        }
        Err(error) if is_to_correct(&error) => all(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// Shows one domain.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    one(visit, None).await
}

async fn one(visit: &Visit, error: Option<PageError>) -> Result<Outcome, PageError> {
    let name = visit.name("domain");
    let domain = visit.ask("domains.get", json!({ "domain": name })).await?;
    let mut context = fields(visit, &["act", "utm"], error.as_ref());
    let sent = visit.form.get("act") == "tracking";
    let utm = &domain["utm"];
    if !sent {
        context.insert("utm".into(), if utm.is_object() && utm["enabled"] != false { "yes" } else { "" }.into());
    }
    for mark in MARKS {
        let value = if sent { visit.form.get(mark) } else { utm[mark].as_str().unwrap_or_default() };
        context.insert(mark.into(), value.into());
    }
    // While it waits, the page refreshes.
    context.insert("waits".into(), (domain["status"] == "pending" || domain["rotating"] == true).into());
    context.insert("title".into(), domain["domain"].clone());
    context.insert("domain".into(), domain);
    Ok(drawn("domain.html", context, error))
}

/// Handles the forms.
pub async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    let which = json!({ "domain": visit.name("domain") });
    let act = visit.form.get("act");
    let asked = match act {
        "verify" => visit.ask("domains.verify", which).await,
        "rotate" => visit.ask("domains.rotate", which).await,
        "tracking" => visit.ask("domains.update", tracking(visit)).await,
        "delete" => {
            visit.ask("domains.delete", which).await?;
            return Ok(Outcome::go(format!("/{}/domains?done=delete", visit.environment)));
        }
        _ => return Err(PageError::not_found()),
    };
    match asked {
        Ok(_) => Ok(Outcome::go(format!("{}?done={act}", visit.path))),
        Err(error) if is_to_correct(&error) => one(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

fn tracking(visit: &Visit) -> Value {
    let form = &visit.form;
    let is_ticked = |name: &str| form.get(name) == "yes";
    let utm = match is_ticked("utm") {
        true => MARKS.iter().filter_map(|mark| Some(((*mark).to_owned(), Value::from(form.some(mark)?)))).collect(),
        false => Value::Null,
    };
    json!({
        "domain": visit.name("domain"), "openTracking": is_ticked("opens"), "clickTracking": is_ticked("clicks"),
        "brandedTracking": is_ticked("branded"), "utm": utm,
    })
}

fn fields(visit: &Visit, names: &[&str], error: Option<&PageError>) -> Map<String, Value> {
    let mut context = entered(&visit.form, names, error);
    context.insert("done".into(), visit.query.get("done").into());
    let may_write = visit.who.as_ref().is_some_and(|who| who.user.role.permissions().contains(Permission::DomainWrite));
    context.insert("may_write".into(), may_write.into());
    context
}

/// Returns whether the page can show how to correct the error.
fn is_to_correct(error: &PageError) -> bool {
    matches!(error.status, StatusCode::BAD_REQUEST | StatusCode::CONFLICT)
}

fn drawn(template: &'static str, context: Map<String, Value>, error: Option<PageError>) -> Outcome {
    match error {
        Some(error) => Outcome::again(template, Value::Object(context), &error),
        None => Outcome::page(template, Value::Object(context)),
    }
}
