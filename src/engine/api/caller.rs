//! Who calls, and what an operation gets to know of the world around it.

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

/// Who is behind a request.
#[derive(Clone)]
pub enum Principal {
    /// Nobody in particular: a public operation.
    Anonymous,
    /// The operator of the machine.
    Operator,
    /// The holder of an API key.
    Key(Arc<ApiKey>),
    /// Somebody who is signed in.
    User(UserSession),
}

impl Principal {
    /// The account that the call counts for, if it is somebody's.
    pub fn account_limits(&self) -> Option<&Arc<AccountLimits>> {
        match self {
            Principal::Key(key) => Some(&key.account),
            Principal::User(who) => Some(&who.user.account),
            Principal::Anonymous | Principal::Operator => None,
        }
    }

    /// Its last writes; none for anonymous callers and the operator: many can be behind them.
    pub fn last_writes(&self) -> Option<&LastWrites> {
        match self {
            Principal::Key(key) => Some(&key.last_writes),
            Principal::User(who) => Some(&who.session.last_writes),
            Principal::Anonymous | Principal::Operator => None,
        }
    }

    /// What it may do.
    pub fn permissions(&self) -> PermissionSet {
        match self {
            Principal::Key(key) => key.permissions,
            Principal::User(who) => who.user.role.permissions(),
            Principal::Anonymous | Principal::Operator => PermissionSet::NONE,
        }
    }
}

impl fmt::Display for Principal {
    /// For the log: ids, which open nothing and name no one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Principal::Anonymous => f.write_str("anonymous"),
            Principal::Operator => f.write_str("operator"),
            Principal::Key(key) => write!(f, "key {}", key.id),
            Principal::User(who) => write!(f, "member {}", who.user.id),
        }
    }
}

/// Who calls, and where.
#[derive(Clone)]
pub struct Caller {
    pub principal: Principal,
    pub request: RequestId,
    /// Where the call comes from.
    pub peer: Peer,
    /// The engine that serves the call: for what is neither in the store nor in the input, like settings and addresses.
    pub engine: Arc<Engine>,
}

impl Caller {
    /// The account the call belongs to.
    pub fn account(&self) -> AccountId {
        let account_limits = self.principal.account_limits();
        account_limits.expect("operations that need an account are declared so, and then there is a key or a person").id
    }

    /// Who is signed in.
    pub fn user_session(&self) -> Result<&UserSession, Failure> {
        match &self.principal {
            Principal::User(who) => Ok(who),
            Principal::Anonymous | Principal::Operator | Principal::Key(_) => Err(Code::NotSignedIn.into()),
        }
    }

    /// Who is signed in and has proved a moment ago that it is they.
    pub fn proven(&self, now: Timestamp) -> Result<&UserSession, Failure> {
        let who = self.user_session()?;
        if who.session.is_fresh(now) { Ok(who) } else { Err(Code::FreshSignInRequired.into()) }
    }

    /// The audit row of this call.
    pub fn act(&self, operation: &str) -> AuditRecord {
        let user = match &self.principal {
            Principal::User(who) => Some(who.user.id),
            Principal::Anonymous | Principal::Operator | Principal::Key(_) => None,
        };
        let account = self.principal.account_limits().map(|account_limits| account_limits.id);
        AuditRecord { operation: operation.into(), key: self.key(), user, account, request: self.request.to_string() }
    }

    /// The key, if there is one.
    pub fn key(&self) -> Option<KeyId> {
        match &self.principal {
            Principal::Key(key) => Some(key.id),
            Principal::Anonymous | Principal::Operator | Principal::User(_) => None,
        }
    }

    /// The environment of the caller's key, or the one that the person has chosen.
    pub fn environment(&self) -> Environment {
        match &self.principal {
            Principal::Key(key) => key.environment,
            Principal::User(who) => who.environment,
            Principal::Anonymous | Principal::Operator => Environment::Test,
        }
    }
}

/// What operations that may wait get.
#[derive(Clone)]
pub struct Context {
    pub engine: Arc<Engine>,
    pub caller: Caller,
    pub envelope: Envelope,
}

impl Context {
    /// The environment of the caller's key.
    pub fn data(&self) -> &Arc<EnvironmentData> {
        self.engine.data(self.caller.environment())
    }

    /// The time of the request.
    pub fn now(&self) -> Timestamp {
        self.envelope.timestamp
    }

    /// Look at the newest commit, on a thread that may be kept busy.
    pub async fn read<T, F>(&self, look: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnOnce(&ReadTx) -> Result<T, Failure> + Send + 'static,
    {
        let store = self.data().store.clone();
        let looking = tokio::task::spawn_blocking(move || look(&store.read()));
        looking.await.unwrap_or_else(|panic| Err(Failure::internal(panic)))
    }

    /// Write, with the audit row that a command has.
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

    /// Where an operation's data is.
    pub fn store(&self, spec: &Spec) -> &Arc<Store> {
        match spec.access {
            Access::Operator | Access::Person | Access::Manager => &self.engine.control,
            Access::Public | Access::Needs(_) | Access::NeedsOne(_) => &self.data().store,
        }
    }
}
