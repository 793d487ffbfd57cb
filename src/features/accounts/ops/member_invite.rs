//! Creates a link that invites a user to become a member.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::email::EmailAddress;
use crate::base::secret::{random_base62, sha256};
use crate::engine::api::response::WireTime;
use crate::engine::api::{Async, Context, Created, Failure, Operation, Spec, manager};
use crate::engine::store::WriteTx;
use crate::features::accounts::members;
use crate::features::accounts::model::{Invitation, LINK_TOKEN_CHARACTERS};
use crate::features::accounts::store::sign_in;
use crate::features::accounts::user_views::{LinkView, MemberRole, role};
use crate::vocab::codes::Code;
use crate::vocab::ids::InvitationId;
use crate::vocab::limits;
use crate::vocab::permissions::PermissionSet;

pub struct MemberInvite;

/// The email and role of the user to invite.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewMember {
    pub email: EmailAddress,
    pub role: MemberRole,
    /// The permissions; only for the role `custom`.
    pub permissions: Option<PermissionSet>,
}

impl Operation for MemberInvite {
    const SPEC: Spec = Spec::post("accounts.member_invite", "/v1/account/members", manager())
        .summary("Invite a member")
        .about("Returns a one-time link for you to pass on. A second invitation for the same email replaces the first.")
        .fails(&[Code::NameTaken, Code::LimitReached]);
    type Input = NewMember;
    type Output = Created<LinkView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "email": "bob@example.com", "role": "viewer" }), Created(LinkView::sample("join")))
    }
}

impl Async for MemberInvite {
    async fn run(context: Context, input: NewMember) -> Result<Self::Output, Failure> {
        let role = role(input.role, input.permissions)?;
        let person = &context.caller.user_session()?.user;
        let (account, invited_by) = (person.account.id, person.id);
        let engine = &context.engine;
        let token = random_base62(engine.random.as_ref(), LINK_TOKEN_CHARACTERS);
        let digest = sha256(token.as_bytes());
        let write = move |tx: &mut WriteTx<'_>| {
            members::require_room(tx, account)?;
            let normalized = members::free_email(tx, input.email.as_str(), "use a different email")?;
            let open = sign_in::invitations(tx, tx.now())?;
            let own = open.iter().filter(|invitation| invitation.account == account);
            if own.clone().count() >= limits::MEMBERS_MAX {
                return Err(Failure::because(
                    Code::LimitReached,
                    "The account has too many pending invitations. Cancel an invitation first.",
                ));
            }
            let is_same = |email: &str| EmailAddress::parse(email).is_ok_and(|email| email.normalized() == normalized);
            for before in own.filter(|invitation| is_same(&invitation.email)) {
                sign_in::delete_invitation(tx, before.id);
            }
            let (id, created_at) = (InvitationId::make(tx.now(), tx.random()), tx.now());
            let expires_at = created_at.plus_ms(limits::INVITATION_MS);
            let email = input.email.into_string();
            let invitation = Invitation { id, account, email, role, digest, invited_by, created_at, expires_at };
            sign_in::save_invitation(tx, &invitation);
            Ok(invitation)
        };
        let invitation = context.write(&Self::SPEC, write).await?;
        let link = format!("{}/join/{token}", engine.base_url());
        Ok(Created(LinkView { link, email: invitation.email, expires_at: WireTime(invitation.expires_at) }))
    }
}
