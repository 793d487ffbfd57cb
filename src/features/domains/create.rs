//! Creates sending domains and their keys; several operations share this code.

use std::sync::Arc;

use data_encoding::HEXLOWER;

use super::model::{Domain, DomainKey, KeyKind, Phase, place};
use super::store;
use crate::base::random::Random;
use crate::base::secret::Secret;
use crate::engine::api::{Context, Engine, Failure};
use crate::engine::mail::dkim::{Algorithm, KeyPair};
use crate::engine::store::seal::Seal;
use crate::engine::store::{Read, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::ids::AccountId;
use crate::vocab::limits;

/// Generates one key pair of each kind, not yet bound to a domain. Takes seconds of CPU time.
pub async fn make_pairs() -> Result<[(KeyKind, KeyPair); 2], Failure> {
    tokio::task::spawn_blocking(pairs).await.map_err(Failure::internal)
}

/// Generates the same pairs as [`make_pairs`], but on the current thread.
pub fn pairs() -> [(KeyKind, KeyPair); 2] {
    [(KeyKind::Rsa, KeyPair::generate(Algorithm::Rsa)), (KeyKind::Ed25519, KeyPair::generate(Algorithm::Ed25519))]
}

/// Seals new pairs as keys of a domain.
pub fn keys(
    seal: &Seal,
    account: AccountId,
    domain: &str,
    pairs: &[(KeyKind, KeyPair); 2],
    random: &dyn Random,
) -> Vec<DomainKey> {
    // Both selectors contain this value, so that users see which keys belong together. The value is random, because a selector must never
    // be reused.
    let mark: [u8; 3] = random.bytes();
    let mark = HEXLOWER.encode(&mark);
    let key = |(number, (kind, pair)): (usize, &(KeyKind, KeyPair))| {
        let selector = format!("mm{}-{mark}", number + 1);
        let private: &Secret<Vec<u8>> = &pair.private;
        let sealed = seal.seal(&place(account, domain, &selector), private.expose(), random);
        DomainKey { selector, kind: *kind, sealed, record: pair.record.clone(), phase: Phase::Pending }
    };
    pairs.iter().enumerate().map(key).collect()
}

/// Returns the domain with this name. If the domain does not exist, creates it after applying `shape`. Concurrent calls create only
/// one domain.
pub async fn ensure(
    context: &Context,
    spec: &'static crate::engine::api::Spec,
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
