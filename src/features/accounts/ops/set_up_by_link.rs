//! Creates the owner of the installation with the one-time link that the first start prints.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::set_up::{Owner, create_owner};
use crate::base::email::EmailAddress;
use crate::base::secret::sha256;
use crate::engine::api::{Async, Context, Created, Failure, Operation, Spec, operator};
use crate::engine::store::WriteTx;
use crate::features::accounts::model::Password;
use crate::features::accounts::{api_keys, members, password_hash, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, UserId};

pub struct SetUpByLink;

/// The token of the setup link, and the new owner's details.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkedOwner {
    /// The token, which is the last part of the link.
    pub token: String,
    pub email: EmailAddress,
    pub password: Password,
}

impl Operation for SetUpByLink {
    const SPEC: Spec = Spec::post("accounts.set_up_by_link", "/admin/setup/link", operator())
        .summary("Create the owner with the setup link")
        .about("The link can be used once, within 24 hours.")
        .fails(&[Code::NotFound, Code::AlreadySetUp]);
    type Input = LinkedOwner;
    type Output = Created<Owner>;

    fn example() -> (Value, Self::Output) {
        let owner = Owner {
            account_id: AccountId::parse("66f1a2b3d4e5f60718293a4b").expect("the id has 24 hexadecimal characters"),
            user_id: UserId::parse("66f1a2b3d4e5f60718293a4c").expect("the id has 24 hexadecimal characters"),
            email: "owner@example.com".into(),
        };
        let input = json!({
            "token": "0123456789abcdefghijABCDEFGHIJ01", "email": "owner@example.com", "password": "correct horse battery",
        });
        (input, Created(owner))
    }
}

impl Async for SetUpByLink {
    async fn run(context: Context, input: LinkedOwner) -> Result<Self::Output, Failure> {
        let digest = sha256(input.token.as_bytes());
        let engine = &context.engine;
        // Check the link before the costly password hashing; the transaction checks the link again.
        if !store::setup_link_works(&engine.control.read(), digest, context.now())? {
            return Err(members::link_not_found());
        }
        let password = password_hash::hash(input.password, input.email.as_str(), engine.random.as_ref()).await?;
        let plan = engine.settings.accounts.owner_plan.clone();
        let envelope = context.envelope;
        let write = move |tx: &mut WriteTx<'_>| {
            // Check again inside the transaction: of two concurrent uses of the link, only the first still finds it.
            if !store::setup_link_works(tx, digest, tx.now())? {
                return Err(members::link_not_found());
            }
            store::delete_link(tx, digest);
            create_owner(tx, &plan, &input.email, password, envelope)
        };
        let _turn = api_keys::CACHE_LOCK.lock().await;
        let (owner, user) = engine.control.write(write).await??;
        members::update_cache(engine, &user)?;
        Ok(Created(owner))
    }
}
