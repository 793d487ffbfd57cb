//! Lets the operator create a password-reset link, as the last resort for a user who has lost access.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::email::EmailAddress;
use crate::engine::api::{Async, Context, Created, Failure, Operation, Spec, operator};
use crate::engine::store::WriteTx;
use crate::features::accounts::user_views::LinkView;
use crate::features::accounts::{members, store};
use crate::vocab::codes::Code;

pub struct ResetLink;

/// Selects the user for whom the password-reset link is created.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResetLinkRequest {
    pub email: EmailAddress,
}

impl Operation for ResetLink {
    const SPEC: Spec = Spec::post("accounts.reset_link", "/admin/reset-link", operator())
        .summary("Create a password-reset link")
        .fails(&[Code::NotFound]);
    type Input = ResetLinkRequest;
    type Output = Created<LinkView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "email": "bob@example.com" }), Created(LinkView::sample("reset")))
    }
}

impl Async for ResetLink {
    async fn run(context: Context, input: ResetLinkRequest) -> Result<Self::Output, Failure> {
        let (token, digest) = members::new_link(&context.engine);
        let write = move |tx: &mut WriteTx<'_>| {
            let not_found = || Failure::because(Code::NotFound, "No user has this email; check its spelling.");
            let user = store::user_by_email(tx, &input.email.normalized())?.ok_or_else(not_found)?;
            let expires_at = members::save_reset(tx, user.id, digest)?;
            Ok((user, expires_at))
        };
        let (user, expires_at) = context.write(&Self::SPEC, write).await?;
        Ok(Created(members::reset_view(&context.engine, &token, user, expires_at)))
    }
}
