//! The page behind the one-time set-up link.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::secret::sha256;
use crate::engine::api::http_types::Reply;
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, public};
use crate::features::accounts::pages::{Form, Page};
use crate::features::accounts::store;

pub struct SetUpPage;

/// The link.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetUpLink {
    /// The one-time token of the link.
    pub token: String,
}

impl Operation for SetUpPage {
    const SPEC: Spec = Spec::get("accounts.set_up_page", "/setup/{token}", public()).summary("Show the set-up page").about(
        "The HTML page behind the link that the first start prints. It works once and for 24 hours; afterwards it returns 404.",
    );
    type Input = SetUpLink;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "token": "0123456789abcdefghijABCDEFGHIJ01" }), Bare)
    }
}

impl Raw for SetUpPage {
    const MEDIA: Media = Media::PAGE;

    async fn run(context: Context, input: SetUpLink, _: RawRequest) -> Result<Reply, Failure> {
        let page = if link_works(&context, &input.token)? { Page::Form(Form::default()) } else { Page::Gone };
        Ok(page.reply(context.engine.random.as_ref()))
    }
}

/// Returns whether the link can still be used: it exists, has not expired, and there is no owner yet.
pub fn link_works(context: &Context, token: &str) -> Result<bool, Failure> {
    let tx = context.engine.control.read();
    Ok(store::link_works(&tx, sha256(token.as_bytes()), context.now())? && !store::has_user(&tx)?)
}
