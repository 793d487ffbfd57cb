//! Accepts an invitation and creates the member.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::secret::sha256;
use crate::base::text::ShortText;
use crate::engine::api::{Async, Context, Created, Failure, Operation, Spec, public};
use crate::engine::store::WriteTx;
use crate::features::accounts::model::{Password, User};
use crate::features::accounts::store::{self, sign_in};
use crate::features::accounts::user_views::MemberView;
use crate::features::accounts::{api_keys, members, password_hash};
use crate::vocab::codes::Code;
use crate::vocab::ids::UserId;
use crate::vocab::limits;

pub struct Join;

/// The token from the invitation link, and the new member's details.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct JoinRequest {
    pub token: String,
    /// The display name of the new member.
    pub name: Option<ShortText<{ limits::MEMBER_NAME_CHARACTERS_MAX }>>,
    pub password: Password,
}

impl Operation for Join {
    const SPEC: Spec = Spec::post("accounts.join", "/v1/auth/join", public())
        .summary("Accept an invitation")
        .about("The token is the last part of the invitation link. Each link works once.")
        .fails(&[Code::NotFound, Code::NameTaken, Code::LimitReached]);
    type Input = JoinRequest;
    type Output = Created<MemberView>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "token": "0123456789abcdefghijABCDEFGHIJ01", "name": "Ada", "password": "correct horse battery" });
        (input, Created(MemberView::sample()))
    }
}

impl Async for Join {
    async fn run(context: Context, input: JoinRequest) -> Result<Self::Output, Failure> {
        let digest = sha256(input.token.as_bytes());
        let engine = &context.engine;
        // Check the link before the costly password hashing; the transaction checks the link again.
        let invited = sign_in::invitation_by_digest(&engine.control.read(), digest, context.now())?;
        let email = invited.ok_or_else(members::link_not_found)?.email;
        let password = password_hash::hash(input.password, &email, engine.random.as_ref()).await?;
        let name = input.name.map(ShortText::into_string).unwrap_or_default();
        let envelope = context.envelope;
        let _turn = api_keys::CACHE_LOCK.lock().await;
        let write = move |tx: &mut WriteTx<'_>| {
            let invitation = sign_in::invitation_by_digest(tx, digest, tx.now())?.ok_or_else(members::link_not_found)?;
            members::require_room(tx, invitation.account)?;
            let normalized =
                members::free_email(tx, &invitation.email, "sign in, or ask for an invitation to a different email")?;
            let id = UserId::make(tx.now(), tx.random());
            let (account, email, role) = (invitation.account, invitation.email, invitation.role);
            let user = User { id, account, email, name, role, password, created_at: tx.now() };
            store::save_user(tx, &user, &normalized);
            sign_in::delete_invitation(tx, invitation.id);
            api_keys::note_audit(tx, Self::SPEC.id, Some(&user), envelope);
            Ok::<_, Failure>(user)
        };
        let user = engine.control.write(write).await??;
        members::update_cache(engine, &user)?;
        Ok(Created(MemberView::new(&user, false)))
    }
}
