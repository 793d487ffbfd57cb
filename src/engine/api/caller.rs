//! Who calls, and what an operation gets to know of the world around it.

use std::sync::Arc;

use super::answer::{Envelope, RequestId};
use super::engine::{Engine, World};
use super::failure::Failure;
use super::spec::Spec;
use crate::base::clock::Timestamp;
use crate::engine::access::audit::{self, Act};
use crate::engine::access::keys::Grant;
use crate::engine::store::{ReadTx, WriteTx};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, KeyId};

/// Who is behind a request.
#[derive(Clone)]
pub enum Principal {
    /// Nobody in particular: a public operation.
    Anonymous,
    /// The operator of the machine.
    Operator,
    /// The holder of an API key.
    Key(Arc<Grant>),
}

/// Who calls, and where.
#[derive(Clone)]
pub struct Caller {
    pub principal: Principal,
    pub request: RequestId,
    /// The engine that serves the call: for what is neither in the store nor in the input, like settings and addresses.
    pub engine: Arc<Engine>,
}

impl Caller {
    /// The account the call belongs to.
    pub fn account(&self) -> AccountId {
        match &self.principal {
            Principal::Key(grant) => grant.account.id,
            Principal::Anonymous | Principal::Operator => {
                panic!("operations that need an account are declared with a permission, and then there is a key")
            }
        }
    }

    /// The key, if there is one.
    pub fn key(&self) -> Option<KeyId> {
        match &self.principal {
            Principal::Key(grant) => Some(grant.id),
            Principal::Anonymous | Principal::Operator => None,
        }
    }

    /// The environment of the caller's key.
    pub fn environment(&self) -> Environment {
        match &self.principal {
            Principal::Key(grant) => grant.environment,
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
    pub fn world(&self) -> &Arc<World> {
        self.engine.world(self.caller.environment())
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
        let store = self.world().store.clone();
        let looking = tokio::task::spawn_blocking(move || look(&store.read()));
        looking.await.unwrap_or_else(|panic| Err(Failure::internal(panic)))
    }

    /// Write, with the audit row that a command has.
    pub async fn write<T, F>(&self, spec: &'static Spec, change: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnOnce(&mut WriteTx<'_>) -> Result<T, Failure> + Send + 'static,
    {
        let act = Act { operation: spec.id.into(), key: self.caller.key(), request: self.envelope.request.to_string() };
        let number = self.envelope.request.number;
        let changing = move |tx: &mut WriteTx<'_>| {
            let changed = change(tx)?;
            audit::note(tx, number, &act);
            Ok(changed)
        };
        self.world().store.write(changing).await?
    }
}
