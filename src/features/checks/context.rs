//! The context in which a check runs, in a request or in a worker: the engine, the data, and the account.

use std::sync::Arc;

use crate::engine::api::{Context, Engine, EnvironmentData, Failure};
use crate::engine::store::ReadTx;
use crate::vocab::ids::AccountId;

/// The engine, the data of one environment, and the account that owns the email.
#[derive(Clone)]
pub struct CheckContext {
    pub engine: Arc<Engine>,
    pub data: Arc<EnvironmentData>,
    pub account: AccountId,
}

impl From<&Context> for CheckContext {
    fn from(context: &Context) -> Self {
        Self { engine: context.engine.clone(), data: context.data().clone(), account: context.caller.account() }
    }
}

impl CheckContext {
    /// Runs `query` on the latest commit, on a thread for blocking work.
    pub async fn read<T, F>(&self, query: F) -> Result<T, Failure>
    where
        T: Send + 'static,
        F: FnOnce(&ReadTx) -> Result<T, Failure> + Send + 'static,
    {
        let store = self.data.store.clone();
        let reading = tokio::task::spawn_blocking(move || query(&store.read()));
        reading.await.unwrap_or_else(|panic| Err(Failure::internal(panic)))
    }
}
