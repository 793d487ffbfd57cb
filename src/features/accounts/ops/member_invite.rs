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
use crate::vocab::ids::{AccountId, InvitationId};
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
            let (replaced, others) = open_invitations(sign_in::invitations(tx, tx.now())?, account, &normalized);
            if others >= limits::MEMBERS_MAX {
                return Err(Failure::because(
                    Code::LimitReached,
                    "The account has too many pending invitations. Cancel an invitation first.",
                ));
            }
            for before in replaced {
                sign_in::delete_invitation(tx, before);
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

/// Returns the account's open invitations for this email, which a new invitation replaces, and the number of the account's other open
/// invitations.
fn open_invitations(open: Vec<Invitation>, account: AccountId, normalized: &str) -> (Vec<InvitationId>, usize) {
    let own = open.into_iter().filter(|invitation| invitation.account == account);
    let is_same =
        |invitation: &Invitation| EmailAddress::parse(&invitation.email).is_ok_and(|email| email.normalized() == normalized);
    let (replaced, others): (Vec<Invitation>, Vec<Invitation>) = own.partition(is_same);
    (replaced.into_iter().map(|invitation| invitation.id).collect(), others.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Timestamp;
    use crate::vocab::ids::UserId;
    use crate::vocab::roles::Role;

    /// Regression test: an account with the maximum number of invitations could not replace one of them.
    #[test]
    fn an_invitation_that_is_replaced_does_not_count() {
        let account = |number: u8| AccountId::from_bytes([number; 12]);
        let invitation = |number: u8, of: u8, email: &str| Invitation {
            id: InvitationId::from_bytes([number; 12]),
            account: account(of),
            email: email.to_owned(),
            role: Role::Viewer,
            digest: [0; 32],
            invited_by: UserId::from_bytes([1; 12]),
            created_at: Timestamp(0),
            expires_at: Timestamp(1),
        };
        let open =
            vec![invitation(1, 1, "Ada@example.com"), invitation(2, 1, "bob@example.com"), invitation(3, 2, "ada@example.com")];
        let (replaced, others) = open_invitations(open, account(1), "ada@example.com");
        assert_eq!((replaced, others), (vec![InvitationId::from_bytes([1; 12])], 1));
    }
}
