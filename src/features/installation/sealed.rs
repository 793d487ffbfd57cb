//! What is sealed with the master key, and whether a key is the one.
//!
//! A store from before check values is tested by what depends on its key: authenticator apps, DKIM keys, webhook secrets, and the keyed
//! hashes of suppressed addresses. Links in sent mail and the hashes of erased people depend on the key too but cannot test it, because
//! neither the links nor the addresses are kept.

use crate::engine::store::seal::{Seal, Sealed};
use crate::engine::store::{Read, Result, StoreFile};
use crate::features::{accounts, domains, suppressions, webhooks};

/// Whether a key is the one that stores are sealed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    Right,
    Wrong,
    /// Nothing in the stores can tell.
    Untested,
}

/// Try a key where no check value says whether it is the right one. The files are control, test and live.
pub fn try_key([control, worlds @ ..]: &[StoreFile; 3], seal: &Seal) -> Result<Fit> {
    let mut all = accounts::sealed(&control.read()?, seal)?;
    for world in worlds {
        let tx = world.read()?;
        all = all.with(domains::sealed(&tx, seal)?).with(webhooks::sealed(&tx, seal)?);
        if let Some(matches) = suppressions::is_hashed_with(&tx, seal)? {
            all = all.with(Sealed::one(matches));
        }
    }
    // After a rekey some secrets stay closed until people replace them, so one that opens is proof.
    Ok(match all {
        Sealed { total: 0, .. } => Fit::Untested,
        Sealed { total, closed } if closed < total => Fit::Right,
        _ => Fit::Wrong,
    })
}

/// What of one store a key does not open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Closed {
    pub domains: u64,
    pub webhooks: u64,
}

/// What of a world's secrets a key does not open.
pub fn closed(tx: &impl Read, seal: &Seal) -> Result<Closed> {
    let of = |sealed: Sealed| sealed.closed;
    Ok(Closed { domains: of(domains::sealed(tx, seal)?), webhooks: of(webhooks::sealed(tx, seal)?) })
}
