//! Creates a password-reset link for a member.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Created, Failure, Operation, Spec, manager};
use crate::engine::store::WriteTx;
use crate::features::accounts::user_views::LinkView;
use crate::features::accounts::{members, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::UserId;
use crate::vocab::roles::Role;

pub struct MemberReset;

/// Selects the member for whom the password-reset link is created.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberResetRequest {
    pub id: UserId,
}

impl Operation for MemberReset {
    const SPEC: Spec = Spec::post("accounts.member_reset", "/v1/account/members/{id}/reset", manager())
        .summary("Create a password-reset link")
        .about(
            "Needs a recent sign-in. Returns a one-time link for you to pass on; no mail is sent. Only the owner, or the operator with \
             `mailmill reset-link`, can create a link for the owner.",
        )
        .fails(&[Code::NotFound, Code::WrongState, Code::FreshSignInRequired]);
    type Input = MemberResetRequest;
    type Output = Created<LinkView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "id": "666666666666666666666666" }), Created(LinkView::sample("reset")))
    }
}

impl Async for MemberReset {
    async fn run(context: Context, input: MemberResetRequest) -> Result<Self::Output, Failure> {
        let own = context.caller.proven(context.now())?.user.clone();
        let account = own.account.id;
        let (token, digest) = members::new_link(&context.engine);
        let write = move |tx: &mut WriteTx<'_>| {
            let user = store::user(tx, input.id)?.filter(|user| user.account == account).ok_or(Code::NotFound)?;
            if user.role == Role::Owner && user.id != own.id {
                return Err(Failure::because(
                    Code::WrongState,
                    "Only the owner or the operator can create a password-reset link for the owner. Ask the operator to run \
                     `mailmill reset-link`.",
                ));
            }
            let expires_at = members::save_reset(tx, user.id, digest)?;
            Ok((user, expires_at))
        };
        let (user, expires_at) = context.write(&Self::SPEC, write).await?;
        Ok(Created(members::reset_view(&context.engine, &token, user, expires_at)))
    }
}
