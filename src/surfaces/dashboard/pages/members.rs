//! Members: the users of the account, their roles, and links for invitations and password resets.

use serde_json::{Value, json};

use super::permissions;
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit, entered};

/// Its pages.
pub const ROUTES: &[Route] =
    &[closed("/{environment}/settings/members").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(send(visit)))];

/// The list and the form.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    page(visit, Value::Null, None).await
}

async fn page(visit: &Visit, link: Value, error: Option<PageError>) -> Result<Outcome, PageError> {
    let data = visit.ask("accounts.members_list", json!({})).await?;
    let mut context = entered(&visit.form, &["email", "role", "act"], error.as_ref());
    let own = visit.who.as_ref().map(|who| who.user.id.to_string());
    let is_sent = visit.form.get("act") == "role";
    context.insert("changing".into(), changing(visit, &data["members"], own.as_deref()));
    context.insert("title".into(), "Members".into());
    context.insert("members".into(), data["members"].clone());
    context.insert("invitations".into(), data["invitations"].clone());
    context.insert("permissions".into(), permissions(&if is_sent { Vec::new() } else { visit.form.all("permission") }));
    context.insert("link".into(), link);
    context.insert("own".into(), own.into());
    context.insert("done".into(), visit.query.get("done").into());
    Ok(match error {
        Some(error) => Outcome::again("members.html", Value::Object(context), &error),
        None => Outcome::page("members.html", Value::Object(context)),
    })
}

/// Returns the member whose role is being changed, with the selected role: the submitted one, else the current one. Users cannot change
/// their own role or the owner's.
fn changing(visit: &Visit, members: &Value, own: Option<&str>) -> Value {
    let form = &visit.form;
    let is_sent = form.get("act") == "role";
    let id = if is_sent { form.get("id") } else { visit.query.get("member") };
    let is_it = |member: &&Value| member["id"] == id && member["id"].as_str() != own && member["role"] != "owner";
    let Some(member) = members.as_array().and_then(|members| members.iter().find(is_it)) else { return Value::Null };
    let held = || member["permissions"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let chosen: Vec<&str> = if is_sent { form.all("permission") } else { held() };
    let role = if is_sent { form.get("role") } else { member["role"].as_str().unwrap_or_default() };
    json!({
        "id": member["id"], "email": member["email"], "name": member["name"], "role": role, "permissions": permissions(&chosen),
    })
}

/// Handles the forms.
pub async fn send(visit: &Visit) -> Result<Outcome, PageError> {
    let form = &visit.form;
    let id = form.get("id");
    let custom = (form.get("role") == "custom").then(|| form.all("permission"));
    let asked = match form.get("act") {
        "invite" => {
            let input = json!({ "email": form.get("email"), "role": form.get("role"), "permissions": custom });
            visit.ask("accounts.member_invite", input).await
        }
        "reset" => visit.ask("accounts.member_reset", json!({ "id": id })).await,
        "role" => visit.ask("accounts.member_update", json!({ "id": id, "role": form.get("role"), "permissions": custom })).await,
        "remove" => visit.ask("accounts.member_remove", json!({ "id": id })).await,
        "withdraw" => visit.ask("accounts.invitation_remove", json!({ "id": id })).await,
        _ => return Err(PageError::not_found()),
    };
    match (asked, form.get("act")) {
        (Ok(link), act @ ("invite" | "reset")) => page(visit, mailed(visit, link, act).await, None).await,
        (Ok(_), done) => Ok(Outcome::go(format!("{}?done={done}", visit.path))),
        (Err(error), _) if matches!(error.status.as_u16(), 400 | 409) => page(visit, Value::Null, Some(error)).await,
        (Err(error), _) => Err(error),
    }
}

/// Emails the link to its recipient if possible; `mailed` and `reason` hold the result.
async fn mailed(visit: &Visit, mut link: Value, act: &str) -> Value {
    if visit.mails_links() {
        let purpose = if act == "invite" { "invitation" } else { "reset" };
        let input = json!({ "to": link["email"], "purpose": purpose, "link": link["link"] });
        let told = visit.ask_inside("system.mail_link", input).await;
        let told = told.unwrap_or_else(|error| json!({ "mailed": false, "reason": error.message }));
        link["mailed"] = told["mailed"].clone();
        link["reason"] = told["reason"].clone();
    }
    link
}
