//! Cancels an invitation.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, manager};
use crate::engine::store::WriteTx;
use crate::features::accounts::store::sign_in;
use crate::features::accounts::user_views::Ack;
use crate::vocab::codes::Code;
use crate::vocab::ids::InvitationId;

pub struct InvitationRemove;

/// Selects an invitation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InvitationRef {
    pub id: InvitationId,
}

impl Operation for InvitationRemove {
    const SPEC: Spec = Spec::delete("accounts.invitation_remove", "/v1/account/invitations/{id}", manager())
        .summary("Cancel an invitation")
        .fails(&[Code::NotFound]);
    type Input = InvitationRef;
    type Output = Done<Ack>;

    fn example() -> (Value, Self::Output) {
        (json!({ "id": "676767676767676767676767" }), Done(Ack::DONE))
    }
}

impl Async for InvitationRemove {
    async fn run(context: Context, input: InvitationRef) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        let write = move |tx: &mut WriteTx<'_>| {
            let open = sign_in::invitations(tx, tx.now())?;
            let found = open.iter().find(|invitation| invitation.id == input.id && invitation.account == account);
            sign_in::delete_invitation(tx, found.ok_or(Code::NotFound)?.id);
            Ok(())
        };
        context.write(&Self::SPEC, write).await?;
        Ok(Done(Ack::DONE))
    }
}
