//! Creates sending domains; several operations share this code.

use std::sync::Arc;

use super::key_pairs::{keys, make_pairs};
use super::model::Domain;
use super::store;
use crate::engine::api::{Context, Engine, Failure, Spec};
use crate::engine::store::{Read, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::ids::AccountId;
use crate::vocab::limits;

/// Returns the domain with this name. If the domain does not exist, creates it with the changes that `shape` makes. Concurrent calls create
/// only one domain.
pub async fn ensure(
    context: &Context,
    spec: &'static Spec,
    name: String,
    shape: impl FnOnce(&mut Domain) + Send + 'static,
) -> Result<Domain, Failure> {
    let account = context.caller.account();
    let wanted = name.clone();
    let known = context.read(move |tx| {
        let known = store::find(tx, account, &wanted)?;
        if known.is_none() {
            check_room(tx, account)?;
        }
        Ok(known)
    });
    if let Some(known) = known.await? {
        return Ok(known);
    }
    let pairs = make_pairs().await?;
    let engine: Arc<Engine> = context.engine.clone();
    let write = move |tx: &mut WriteTx<'_>| {
        if let Some(known) = store::find(tx, account, &name)? {
            return Ok(known);
        }
        check_room(tx, account)?;
        let keys = keys(&engine.seal, account, &name, &pairs, tx.random());
        let mut domain = Domain::new(name, keys, tx.now());
        shape(&mut domain);
        store::save(tx, account, None, &domain);
        Ok(domain)
    };
    context.write(spec, write).await
}

fn check_room(tx: &impl Read, account: AccountId) -> Result<(), Failure> {
    if store::all(tx, account)?.len() < limits::DOMAINS_MAX {
        return Ok(());
    }
    let detail = format!("An account can have at most {} sending domains. Delete a domain first.", limits::DOMAINS_MAX);
    Err(Failure::because(Code::LimitReached, detail))
}
