//! The page about members: the users of the account, their roles, and links for invitations and password resets.

use serde::Serialize;
use serde_json::json;

use super::{PermissionChoice, permissions};
use crate::engine::api::{Created, Done};
use crate::features::accounts::user_views::{InvitationView, LinkView, MemberRole, MemberView};
use crate::features::{accounts, system};
use crate::surfaces::dashboard::template::{self, page_context};
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

#[derive(Serialize)]
pub struct MembersPage {
    email: String,
    role: String,
    members: Vec<MemberView>,
    invitations: Vec<InvitationView>,
    /// The member whose role is being changed.
    changing: Option<RoleChange>,
    permissions: Vec<PermissionChoice>,
    link: Option<NewLink>,
    /// The ID of the signed-in user.
    own: String,
}

#[derive(Serialize)]
struct RoleChange {
    id: String,
    email: String,
    name: String,
    role: String,
    permissions: Vec<PermissionChoice>,
}

/// A new invitation or reset link, and whether it was emailed.
#[derive(Serialize)]
struct NewLink {
    #[serde(flatten)]
    link: LinkView,
    mailed: bool,
    reason: Option<String>,
}

page_context!(MembersPage, "members.html", {
    let member = MemberView::sample;
    let changing = || RoleChange {
        id: member().id.to_string(),
        email: member().email,
        name: String::new(),
        role: "custom".into(),
        permissions: permissions(|_| true),
    };
    let link =
        |mailed, reason: Option<&str>| NewLink { link: LinkView::sample("join"), mailed, reason: reason.map(str::to_owned) };
    let full = || Self {
        email: String::new(),
        role: String::new(),
        members: vec![member(), MemberView { name: String::new(), role: MemberRole::Custom, second_factor: true, ..member() }],
        invitations: vec![InvitationView::sample()],
        changing: None,
        permissions: permissions(|_| false),
        link: None,
        own: String::new(),
    };
    vec![
        full(),
        Self { link: Some(link(true, None)), own: member().id.to_string(), ..full() },
        Self { link: Some(link(false, Some("The server refused it."))), invitations: Vec::new(), ..full() },
        Self { changing: Some(changing()), role: "custom".into(), ..full() },
    ]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    draw(visit, None, None).await
}

async fn draw(visit: &Visit, link: Option<NewLink>, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let Done(data) = visit.ask::<accounts::ops::member_list::MemberList>(json!({})).await?;
    let own = visit.session.as_ref().map(|session| session.user.id.to_string()).unwrap_or_default();
    let is_sent = visit.form.get("act") == "role";
    // After success, the form is empty again, so that the user does not submit it twice.
    let chosen = if is_sent || link.is_some() { Vec::new() } else { visit.form.all("permission") };
    let entered = |name: &str| if link.is_some() { String::new() } else { visit.form.get(name).to_owned() };
    let context = MembersPage {
        email: entered("email"),
        role: entered("role"),
        changing: changing(visit, &data.members, &own),
        members: data.members,
        invitations: data.invitations,
        permissions: permissions(|permission| chosen.contains(&permission.word())),
        link,
        own,
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

/// Returns the member whose role is being changed, with the submitted role or the current one. Users cannot change their own role or
/// the owner's role.
fn changing(visit: &Visit, members: &[MemberView], own: &str) -> Option<RoleChange> {
    let form = &visit.form;
    let is_sent = form.get("act") == "role";
    let id = if is_sent { form.get("id") } else { visit.query.get("member") };
    let is_it = |member: &&MemberView| member.id.to_string() == id && id != own && member.role != MemberRole::Owner;
    let member = members.iter().find(is_it)?;
    let sent = form.all("permission");
    let role = match is_sent {
        true => form.get("role").to_owned(),
        false => template::context(&member.role).as_str().unwrap_or_default().to_owned(),
    };
    Some(RoleChange {
        id: id.to_owned(),
        email: member.email.clone(),
        name: member.name.clone(),
        role,
        permissions: permissions(|permission| match is_sent {
            true => sent.contains(&permission.word()),
            false => member.permissions.contains(permission),
        }),
    })
}

pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let id = form.get("id");
    let custom = (form.get("role") == "custom").then(|| form.all("permission"));
    let done = match form.get("act") {
        "invite" => {
            let input = json!({ "email": form.get("email"), "role": form.get("role"), "permissions": custom });
            visit.ask::<accounts::ops::member_invite::MemberInvite>(input).await.map(|Created(link)| Some((link, "invitation")))
        }
        "reset" => {
            let made = visit.ask::<accounts::ops::member_reset::MemberReset>(json!({ "id": id })).await;
            made.map(|Created(link)| Some((link, "reset")))
        }
        "role" => {
            let input = json!({ "id": id, "role": form.get("role"), "permissions": custom });
            visit.ask::<accounts::ops::member_update::MemberUpdate>(input).await.map(|_| None)
        }
        "remove" => visit.ask::<accounts::ops::member_remove::MemberRemove>(json!({ "id": id })).await.map(|_| None),
        "withdraw" => visit.ask::<accounts::ops::invitation_remove::InvitationRemove>(json!({ "id": id })).await.map(|_| None),
        _ => return Err(PageError::unknown_action()),
    };
    match done {
        Ok(Some((link, purpose))) => draw(visit, Some(mailed(visit, link, purpose).await), None).await,
        Ok(None) => Ok(PageResponse::redirect(format!("{}?done={}", visit.path, form.get("act")))),
        Err(error) if matches!(error.status.as_u16(), 400 | 409) => draw(visit, None, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// Emails the link to the address that it was created for, if links can be emailed.
async fn mailed(visit: &Visit, link: LinkView, purpose: &str) -> NewLink {
    if !visit.mails_links() {
        return NewLink { link, mailed: false, reason: None };
    }
    let input = json!({ "to": link.email, "purpose": purpose, "link": link.link });
    match visit.ask_inside::<system::ops::mail_link::MailLink>(input).await {
        Ok(Done(sent)) => NewLink { link, mailed: sent.mailed, reason: sent.reason },
        Err(error) => NewLink { link, mailed: false, reason: Some(error.message) },
    }
}
