//! The caller of an operation, and the operation's access to the engine.

use std::fmt;
use std::sync::Arc;

use super::engine::{Engine, EnvironmentData};
use super::failure::Failure;
use super::http_types::Peer;
use super::response::{Envelope, RequestId};
use super::spec::{Access, Spec};
use crate::base::clock::Timestamp;
use crate::engine::access::audit::{self, AuditRecord};
use crate::engine::access::keys::{AccountLimits, ApiKey};
use crate::engine::access::last_writes::LastWrites;
use crate::engine::access::session_cache::UserSession;
use crate::engine::store::{ReadTx, Store, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, KeyId};
use crate::vocab::permissions::PermissionSet;

/// The identity of a request's caller.
#[derive(Clone)]
pub enum Principal {
    Anonymous,
    Operator,
    Key(Arc<ApiKey>),
    User(UserSession),
}

impl Principal {
    /// Returns the limits of the account that the caller belongs to, if there is one.
    pub fn account_limits(&self) -> Option<&Arc<AccountLimits>> {
        match self {
            Principal::Key(key) => Some(&key.account),
            Principal::User(who) => Some(&who.user.account),
            Principal::Anonymous | Principal::Operator => None,
        }
    }

    /// Returns the caller's last writes; `None` for anonymous callers and the operator, because several callers can share these identities.
    pub fn last_writes(&self) -> Option<&LastWrites> {
        match self {
            Principal::Key(key) => Some(&*key.last_writes),
            Principal::User(who) => Some(&who.session.last_writes),
            Principal::Anonymous | Principal::Operator => None,
        }
    }

    /// Returns the permissions of the caller; anonymous callers and the operator have none.
    pub fn permissions(&self) -> PermissionSet {
        match self {
            Principal::Key(key) => key.permissions,
            Principal::User(who) => who.user.role.permissions(),
            Principal::Anonymous | Principal::Operator => PermissionSet::NONE,
        }
    }
}

impl fmt::Display for Principal {
    /// Formats the caller for the log: with IDs, which give no access and contain no personal data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Principal::Anonymous => f.write_str("anonymous"),
            Principal::Operator => f.write_str("operator"),
            Principal::Key(key) => write!(f, "key {}", key.id),
            Principal::User(who) => write!(f, "member {}", who.user.id),
        }
    }
}

/// The caller of an operation, with its request, its connection and the engine.
#[derive(Clone)]
pub struct Caller {
    pub principal: Principal,
    pub request: RequestId,
    pub peer: Peer,
    /// The engine that serves the call, for data outside the store and the input, such as settings and addresses.
    pub engine: Arc<Engine>,
}

impl Caller {
    /// Returns the ID of the caller's account. Panics if the caller is anonymous or the operator.
    pub fn account(&self) -> AccountId {
        let account_limits = self.principal.account_limits();
        account_limits.expect("an operation that needs an account declares so, and its caller is a key or a user").id
    }

    /// Returns the signed-in user, or an error for other callers.
    pub fn user_session(&self) -> Result<&UserSession, Failure> {
        match &self.principal {
            Principal::User(who) => Ok(who),
            Principal::Anonymous | Principal::Operator | Principal::Key(_) => Err(Code::NotSignedIn.into()),
        }
    }

    /// Returns the signed-in user if they confirmed their password recently.
    pub fn proven(&self, now: Timestamp) -> Result<&UserSession, Failure> {
        let who = self.user_session()?;
        if who.session.is_fresh(now) { Ok(who) } else { Err(Code::FreshSignInRequired.into()) }
    }

    pub fn act(&self, operation: &str) -> AuditRecord {
        let user = match &self.principal {
            Principal::User(who) => Some(who.user.id),
            Principal::Anonymous | Principal::Operator | Principal::Key(_) => None,
        };
        let account = self.principal.account_limits().map(|account_limits| account_limits.id);
        AuditRecord { operation: operation.into(), key: self.key(), user, account, request: self.request.to_string() }
    }

    pub fn key(&self) -> Option<KeyId> {
        match &self.principal {
            Principal::Key(key) => Some(key.id),
            Principal::Anonymous | Principal::Operator | Principal::User(_) => None,
        }
    }

    /// Returns the environment of the caller's key, or the environment that the user has chosen; `Test` for other callers.
    pub fn environment(&self) -> Environment {
        match &self.principal {
            Principal::Key(key) => key.environment,
            Principal::User(who) => who.environment,
            Principal::Anonymous | Principal::Operator => Environment::Test,
        }
    }
}

/// The engine, the caller and the envelope that an operation gets if it may wait.
#[derive(Clone)]
pub struct Context {
    pub engine: Arc<Engine>,
    pub caller: Caller,
    pub envelope: Envelope,
}

impl Context {
    pub fn data(&self) -> &Arc<EnvironmentData> {
        self.engine.data(self.caller.environment())
    }

    pub fn now(&self) -> Timestamp {
        self.envelope.timestamp
    }

    /// Runs `query` on the newest commit, on a thread that may block.
    pub async fn read<T, F>(&self, query: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnOnce(&ReadTx) -> Result<T, Failure> + Send + 'static,
    {
        let store = self.data().store.clone();
        let reading = tokio::task::spawn_blocking(move || query(&store.read()));
        reading.await.unwrap_or_else(|panic| Err(Failure::internal(panic)))
    }

    /// Runs `change` in a transaction that also writes the operation's audit row.
    pub async fn write<T, F>(&self, spec: &'static Spec, change: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnOnce(&mut WriteTx<'_>) -> Result<T, Failure> + Send + 'static,
    {
        let act = self.caller.act(spec.id);
        let number = self.envelope.request.number;
        let changing = move |tx: &mut WriteTx<'_>| {
            let changed = change(tx)?;
            audit::note(tx, number, &act);
            Ok(changed)
        };
        self.store(spec).write(changing).await?
    }

    /// Returns the control store for account and operator operations, and the store of the caller's environment for other operations.
    pub fn store(&self, spec: &Spec) -> &Arc<Store> {
        match spec.access {
            Access::Operator | Access::Person | Access::Manager => &self.engine.control,
            Access::Public | Access::Needs(_) | Access::NeedsOne(_) => &self.data().store,
        }
    }
}
