//! Whether a link that was handed to somebody still works: asked by its page before anybody fills it in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::secret::sha256;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, operator};
use crate::features::accounts::{members, store, user_store};
use crate::vocab::codes::Code;

/// `accounts.link_check`
pub struct LinkCheck;

/// Which link.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkRef {
    pub purpose: LinkPurpose,
    /// The last part of the link.
    pub token: String,
}

/// What a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinkPurpose {
    /// An invitation.
    Join,
    /// A new password.
    Reset,
}

/// A link that works.
#[derive(Serialize, JsonSchema)]
pub struct WorkingLink {
    /// Whom it is for.
    pub email: String,
}

impl Operation for LinkCheck {
    const SPEC: Spec = Spec::post("accounts.link_check", "/admin/links/check", operator())
        .summary("Look whether a link works")
        .about("Uses nothing up.")
        .fails(&[Code::NotFound]);
    type Input = LinkRef;
    type Output = Done<WorkingLink>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "purpose": "join", "token": "0123456789abcdefghijABCDEFGHIJ01" });
        (input, Done(WorkingLink { email: "bob@example.com".into() }))
    }
}

impl Query for LinkCheck {
    fn run(view: &View<'_>, input: LinkRef) -> Result<Self::Output, Failure> {
        let (digest, now) = (sha256(input.token.as_bytes()), view.now);
        let tx = view.tx;
        let email = match input.purpose {
            LinkPurpose::Join => user_store::invitation_by_digest(tx, digest, now)?.map(|invitation| invitation.email),
            LinkPurpose::Reset => match user_store::reset_link(tx, digest, now)? {
                Some(link) => store::user(tx, link.user)?.map(|user| user.email),
                None => None,
            },
        };
        Ok(Done(WorkingLink { email: email.ok_or_else(members::link_not_found)? }))
    }
}
