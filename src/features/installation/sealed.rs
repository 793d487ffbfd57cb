//! What is sealed with the master key, and whether a key opens it.

use crate::engine::store::seal::{Seal, Sealed};
use crate::engine::store::{Read, Result, StoreFile};
use crate::features::{accounts, domains, webhooks};

/// Whether a key is the one that the stores' secrets are sealed with, where no check value says so: it opens one of them, or there is none.
/// The files are those of control, test and live.
pub fn opens_with([control, worlds @ ..]: &[StoreFile; 3], seal: &Seal) -> Result<bool> {
    let mut all = accounts::sealed(&control.read()?, seal)?;
    for world in worlds {
        let tx = world.read()?;
        all = all.with(domains::sealed(&tx, seal)?).with(webhooks::sealed(&tx, seal)?);
    }
    Ok(all.total == 0 || all.closed < all.total)
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
