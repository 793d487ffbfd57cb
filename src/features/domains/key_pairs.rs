//! Creates and seals the DKIM keys of a domain: when the domain is added, when its keys are rotated, and after the loss of the master key.

use data_encoding::HEXLOWER;

use super::model::{DomainKey, KeyKind, Phase, place};
use crate::base::random::Random;
use crate::base::secret::Secret;
use crate::engine::api::Failure;
use crate::engine::mail::dkim::{Algorithm, KeyPair};
use crate::engine::store::seal::Seal;
use crate::vocab::ids::AccountId;

/// Generates one key pair of each kind, not yet bound to a domain. Takes seconds of CPU time.
pub async fn make_pairs() -> Result<[(KeyKind, KeyPair); 2], Failure> {
    tokio::task::spawn_blocking(pairs).await.map_err(Failure::internal)
}

/// Generates one key pair of each kind, like [`make_pairs`], but on the current thread.
pub fn pairs() -> [(KeyKind, KeyPair); 2] {
    [(KeyKind::Rsa, KeyPair::generate(Algorithm::Rsa)), (KeyKind::Ed25519, KeyPair::generate(Algorithm::Ed25519))]
}

/// Seals the private keys of new pairs, and returns the keys for the domain.
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
