//! Creates a new account, if sign-up is open.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::email::EmailAddress;
use crate::base::text::ShortText;
use crate::engine::access::throttle::Rule;
use crate::engine::api::{Async, Context, Created, Failure, Operation, Spec, attempts, public};
use crate::engine::store::WriteTx;
use crate::features::accounts::model::{Account, Password, User};
use crate::features::accounts::user_views::MemberView;
use crate::features::accounts::{api_keys, members, password_hash, sessions, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, UserId};
use crate::vocab::limits;
use crate::vocab::roles::Role;

/// Limits sign-up attempts from one network address.
const BY_ADDRESS: Rule = Rule { name: "sign-up", free: limits::CLAIMS_PER_HOUR, window_ms: 60 * 60 * 1000, wait_max_ms: 0 };

pub struct SignUp;

/// The details of the new account's owner.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignUpRequest {
    pub email: EmailAddress,
    /// The display name of the owner.
    pub name: Option<ShortText<{ limits::MEMBER_NAME_CHARACTERS_MAX }>>,
    pub password: Password,
}

impl Operation for SignUp {
    const SPEC: Spec = Spec::post("accounts.sign_up", "/v1/auth/sign-up", public())
        .summary("Create an account")
        .about(
            "Requires the setting accounts.sign_up. The account has its own brands, contacts, members and keys, separate from other \
             accounts.",
        )
        .fails(&[Code::SignUpClosed, Code::NameTaken, Code::RateLimitExceeded]);
    type Input = SignUpRequest;
    type Output = Created<MemberView>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "email": "ada@example.com", "name": "Ada", "password": "correct horse battery" });
        (input, Created(MemberView::sample()))
    }
}

impl Async for SignUp {
    async fn run(context: Context, input: SignUpRequest) -> Result<Self::Output, Failure> {
        let engine = &context.engine;
        if !engine.settings.accounts.sign_up {
            return Err(Code::SignUpClosed.into());
        }
        let address = sessions::throttle_name(context.caller.peer).unwrap_or_default();
        attempts::count(engine, &[(&BY_ADDRESS, address)]).await?;
        let password = password_hash::hash(input.password, input.email.as_str(), engine.random.as_ref()).await?;
        let name = input.name.map(ShortText::into_string).unwrap_or_default();
        let (envelope, plan, email) = (context.envelope, engine.settings.accounts.plan.clone(), input.email);
        let _turn = api_keys::CACHE_LOCK.lock().await;
        let write = move |tx: &mut WriteTx<'_>| {
            // Refuse if no user exists: the first account belongs to the operator, and its owner is created with the setup link.
            if !store::has_user(tx)? {
                let detail =
                    "This installation has no owner yet. Create the owner first, with the setup link or `mailmill setup`.";
                return Err(Failure::because(Code::SignUpClosed, detail));
            }
            let normalized = members::free_email(tx, email.as_str(), "sign in, or use a different email")?;
            let account = Account { id: AccountId::make(tx.now(), tx.random()), plan, created_at: tx.now() };
            store::save_account(tx, &account);
            let (id, created_at) = (UserId::make(tx.now(), tx.random()), tx.now());
            let email = email.into_string();
            let user = User { id, account: account.id, email, name, role: Role::Owner, password, created_at };
            store::save_user(tx, &user, &normalized);
            api_keys::note_audit(tx, Self::SPEC.id, Some(&user), envelope);
            Ok::<_, Failure>(user)
        };
        let user = engine.control.write(write).await??;
        members::update_cache(engine, &user)?;
        Ok(Created(MemberView::new(&user, false)))
    }
}
