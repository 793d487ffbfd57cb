//! Whether a link that was handed to somebody still works: asked by its page before anybody fills it in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::secret::sha256;
use crate::engine::api::{Context, Done, Failure, Operation, Outward, Spec, operator};
use crate::features::accounts::{members, people_store, store};
use crate::vocab::codes::Code;

/// `accounts.link_look`
pub struct LinkLook;

/// Which link.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WhichLink")]
pub struct Which {
    pub purpose: Purpose,
    /// The last part of the link.
    pub token: String,
}

/// What a link is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "LinkPurpose")]
pub enum Purpose {
    /// An invitation.
    Join,
    /// A new password.
    Reset,
}

/// A link that works.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WorkingLink")]
pub struct Working {
    /// Whom it is for.
    pub email: String,
}

impl Operation for LinkLook {
    const SPEC: Spec = Spec::post("accounts.link_look", "/admin/links/look", operator())
        .summary("Look whether a link works")
        .about("Uses nothing up.")
        .fails(&[Code::NotFound]);
    type Input = Which;
    type Output = Done<Working>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "purpose": "join", "token": "0123456789abcdefghijABCDEFGHIJ01" });
        (input, Done(Working { email: "bob@example.com".into() }))
    }
}

impl Outward for LinkLook {
    async fn run(context: Context, input: Which) -> Result<Self::Output, Failure> {
        let (digest, now) = (sha256(input.token.as_bytes()), context.now());
        let tx = context.engine.control.read();
        let email = match input.purpose {
            Purpose::Join => people_store::invitation_by_digest(&tx, digest, now)?.map(|invitation| invitation.email),
            Purpose::Reset => match people_store::reset_link(&tx, digest, now)? {
                Some(link) => store::user(&tx, link.user)?.map(|user| user.email),
                None => None,
            },
        };
        Ok(Done(Working { email: email.ok_or_else(members::dead_link)? }))
    }
}
