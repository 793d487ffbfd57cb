//! Changes a member's role.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, manager};
use crate::engine::store::WriteTx;
use crate::features::accounts::model::User;
use crate::features::accounts::user_views::{MemberRole, MemberView, role};
use crate::features::accounts::{api_keys, members, second_factor, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::UserId;
use crate::vocab::permissions::PermissionSet;

pub struct MemberUpdate;

/// The member, and the role to assign.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewRole {
    pub id: UserId,
    pub role: MemberRole,
    /// The permissions; only for the role `custom`.
    pub permissions: Option<PermissionSet>,
}

impl Operation for MemberUpdate {
    const SPEC: Spec = Spec::patch("accounts.member_update", "/v1/account/members/{id}", manager())
        .summary("Change a member's role")
        .about("Takes effect with the member's next request. You cannot change the owner's role or your own.")
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = NewRole;
    type Output = Done<MemberView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "id": "666666666666666666666666", "role": "editor" }), Done(MemberView::sample()))
    }
}

impl Async for MemberUpdate {
    async fn run(context: Context, input: NewRole) -> Result<Self::Output, Failure> {
        let role = role(input.role, input.permissions)?;
        let (account, own) = (context.caller.account(), context.caller.user_session()?.user.id);
        let _turn = api_keys::CACHE_LOCK.lock().await;
        let write = move |tx: &mut WriteTx<'_>| {
            let user = members::changeable(tx, account, own, input.id)?;
            let user = User { role, ..user };
            store::update_user(tx, &user);
            let second_factor = second_factor::is_used(tx, user.id)?;
            Ok((user, second_factor))
        };
        let (user, second_factor) = context.write(&Self::SPEC, write).await?;
        members::update_cache(&context.engine, &user)?;
        Ok(Done(MemberView::new(&user, second_factor)))
    }
}
