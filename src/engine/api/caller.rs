//! Who calls, and what an operation gets to know of the world around it.

use std::sync::Arc;

use super::answer::{Envelope, RequestId};
use super::engine::{Engine, World};
use crate::base::clock::Timestamp;
use crate::engine::access::keys::Grant;
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
}
