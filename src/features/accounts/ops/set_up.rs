//! Creates the owner of the installation from the command line. In a browser, the owner is created with the setup link instead.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::email::EmailAddress;
use crate::engine::api::{Async, Context, Created, Envelope, Failure, Operation, Spec, operator};
use crate::engine::store::WriteTx;
use crate::features::accounts::model::{Password, PasswordHash, User};
use crate::features::accounts::{api_keys, members, password_hash, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, UserId};
use crate::vocab::roles::Role;

pub struct SetUp;

/// The email and password of the new owner.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewOwner {
    pub email: EmailAddress,
    pub password: Password,
}

/// The owner and their account.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Owner {
    pub account_id: AccountId,
    pub user_id: UserId,
    pub email: String,
}

impl Operation for SetUp {
    const SPEC: Spec =
        Spec::post("accounts.set_up", "/admin/setup", operator()).summary("Create the owner").fails(&[Code::AlreadySetUp]);
    type Input = NewOwner;
    type Output = Created<Owner>;

    fn example() -> (Value, Self::Output) {
        let owner = Owner {
            account_id: AccountId::parse("66f1a2b3d4e5f60718293a4b").expect("the id has 24 hexadecimal characters"),
            user_id: UserId::parse("66f1a2b3d4e5f60718293a4c").expect("the id has 24 hexadecimal characters"),
            email: "owner@example.com".into(),
        };
        (json!({ "email": "owner@example.com", "password": "correct horse battery" }), Created(owner))
    }
}

impl Async for SetUp {
    async fn run(context: Context, input: NewOwner) -> Result<Self::Output, Failure> {
        if store::has_user(&context.engine.control.read())? {
            // Fail before the costly password hashing if an owner exists; the transaction checks this again.
            return Err(Code::AlreadySetUp.into());
        }
        let password = password_hash::hash(input.password, input.email.as_str(), context.engine.random.as_ref()).await?;
        let plan = context.engine.settings.accounts.owner_plan.clone();
        let envelope = context.envelope;
        let write = move |tx: &mut WriteTx<'_>| create_owner(tx, &plan, &input.email, password, envelope);
        let _turn = api_keys::CACHE_LOCK.lock().await;
        let (owner, user) = context.engine.control.write(write).await??;
        members::update_cache(&context.engine, &user)?;
        Ok(Created(owner))
    }
}

/// Creates the owner, and the account if it does not exist. After the commit, the caller must call [`members::update_cache`].
pub fn create_owner(
    tx: &mut WriteTx<'_>,
    plan: &str,
    email: &EmailAddress,
    password: PasswordHash,
    envelope: Envelope,
) -> Result<(Owner, User), Failure> {
    if store::has_user(tx)? {
        return Err(Code::AlreadySetUp.into());
    }
    let account = store::ensure_account(tx, plan)?.id;
    let id = UserId::make(tx.now(), tx.random());
    let (email_text, created_at) = (email.as_str().to_owned(), tx.now());
    let user = User { id, account, email: email_text, name: String::new(), role: Role::Owner, password, created_at };
    store::save_user(tx, &user, &email.normalized());
    api_keys::note_audit(tx, SetUp::SPEC.id, Some(&user), envelope);
    Ok((Owner { account_id: account, user_id: id, email: user.email.clone() }, user))
}
