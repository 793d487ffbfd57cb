//! Checks whether an invitation, password-reset or setup link still works. The page behind the link calls this operation before it
//! shows its form.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::secret::sha256;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, operator};
use crate::features::accounts::members;
use crate::features::accounts::store::{self, sign_in};
use crate::vocab::codes::Code;

pub struct LinkCheck;

/// Selects a link by its token.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkRef {
    pub purpose: LinkPurpose,
    /// The token, which is the last part of the link.
    pub token: String,
}

/// The purpose of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LinkPurpose {
    /// The link accepts an invitation.
    Join,
    /// The link resets a password.
    Reset,
    /// The link sets up the owner of a new installation.
    Setup,
}

/// A link that still works.
#[derive(Serialize, JsonSchema)]
pub struct WorkingLink {
    /// The email of the user whom the link is for. Absent for the setup link.
    pub email: Option<String>,
}

impl Operation for LinkCheck {
    const SPEC: Spec = Spec::post("accounts.link_check", "/admin/links/check", operator())
        .summary("Check a link")
        .about("Checking a link does not use it up.")
        .fails(&[Code::NotFound]);
    type Input = LinkRef;
    type Output = Done<WorkingLink>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "purpose": "join", "token": "0123456789abcdefghijABCDEFGHIJ01" });
        (input, Done(WorkingLink { email: Some("bob@example.com".into()) }))
    }
}

impl Query for LinkCheck {
    fn run(view: &View<'_>, input: LinkRef) -> Result<Self::Output, Failure> {
        let (digest, now) = (sha256(input.token.as_bytes()), view.now);
        let tx = view.tx;
        let email = match input.purpose {
            LinkPurpose::Setup if store::setup_link_works(tx, digest, now)? => return Ok(Done(WorkingLink { email: None })),
            LinkPurpose::Setup => None,
            LinkPurpose::Join => sign_in::invitation_by_digest(tx, digest, now)?.map(|invitation| invitation.email),
            LinkPurpose::Reset => match sign_in::reset_link(tx, digest, now)? {
                Some(link) => store::user(tx, link.user)?.map(|user| user.email),
                None => None,
            },
        };
        Ok(Done(WorkingLink { email: Some(email.ok_or_else(members::link_not_found)?) }))
    }
}
