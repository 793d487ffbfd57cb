//! Removes a member.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::email::EmailAddress;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, manager};
use crate::engine::store::WriteTx;
use crate::features::accounts::store::{self, sign_in};
use crate::features::accounts::user_views::Ack;
use crate::features::accounts::{api_keys, authorization, members, sessions};
use crate::vocab::codes::Code;
use crate::vocab::ids::UserId;

pub struct MemberRemove;

/// Selects a member of the account.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemberRef {
    pub id: UserId,
}

impl Operation for MemberRemove {
    const SPEC: Spec = Spec::delete("accounts.member_remove", "/v1/account/members/{id}", manager())
        .summary("Remove a member")
        .about(
            "Ends all of the member's sessions immediately, and the access of the OAuth clients that the member connected. API keys that \
             the member created or granted to agents belong to the account and keep working; revoke these keys separately. Grants that no \
             agent has fetched yet are denied. The audit log shows the member's email until the member's last entry expires, after 90 \
             days.",
        )
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = MemberRef;
    type Output = Done<Ack>;

    fn example() -> (Value, Self::Output) {
        (json!({ "id": "666666666666666666666666" }), Done(Ack::DONE))
    }
}

impl Async for MemberRemove {
    async fn run(context: Context, input: MemberRef) -> Result<Self::Output, Failure> {
        let (account, own) = (context.caller.account(), context.caller.user_session()?.user.id);
        let engine = context.engine.clone();
        let _turn = api_keys::CACHE_LOCK.lock().await;
        let write = move |tx: &mut WriteTx<'_>| {
            let user = members::changeable(tx, account, own, input.id)?;
            let address = EmailAddress::stored(&user.email);
            let address =
                address.ok_or_else(|| Failure::internal("the stored email address of a member is not valid; report this bug"))?;
            let normalized = address.normalized();
            sessions::end(tx, &engine, user.id, |_| true);
            sign_in::delete_second_factor(tx, user.id);
            sign_in::delete_reset_links(tx, user.id)?;
            let ended = authorization::end_all_of_user(tx, &engine, account, user.id)?;
            store::delete_user(tx, &user, &normalized);
            Ok(ended)
        };
        let ended = context.write(&Self::SPEC, write).await?;
        authorization::forget(&context.engine, &ended);
        context.engine.sessions.remove_user(input.id);
        Ok(Done(Ack::DONE))
    }
}
