//! Replaces the master key when every copy of the old one is lost: what is lost with it, and what can be kept.
//!
//! Nothing here may run on a runtime thread, because it waits for its writes.

use std::fmt;

use crate::engine::store::seal::Seal;
use crate::engine::store::{ReadTx, Result, Store};
use crate::features::{accounts, domains, suppressions};
use crate::vocab::tables;

/// TABLE: what can be lost with the master key, in the wording of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    Links,
    Dkim,
    Webhooks,
    Authenticators,
    Erased,
    Replays,
}

impl Loss {
    /// All kinds, the gravest first.
    pub const ALL: [Self; 6] = [Self::Erased, Self::Links, Self::Dkim, Self::Webhooks, Self::Authenticators, Self::Replays];

    /// The name on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Links => "links",
            Self::Dkim => "dkim",
            Self::Webhooks => "webhooks",
            Self::Authenticators => "authenticators",
            Self::Erased => "erased",
            Self::Replays => "replays",
        }
    }

    /// The consequence.
    pub fn means(self) -> &'static str {
        match self {
            Self::Links => "sends and campaigns: their unsubscribe and tracking links answer 404 from now on",
            Self::Dkim => {
                "sending domains: their DKIM keys are replaced, and their mail is refused until you add the new DNS records"
            }
            Self::Webhooks => {
                "webhooks: their secrets and custom headers are lost; give each a new secret before it delivers again"
            }
            Self::Authenticators => "users who sign in with only their password until they set up their authenticator app again",
            Self::Erased => "erased contacts: they can no longer be recognized, and get mail again if you import them again",
            Self::Replays => "responses kept for Idempotency-Key: a repeat of such a request fails for up to 24 hours",
        }
    }
}

/// How many of each kind are lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses([u64; Loss::ALL.len()]);

impl Losses {
    /// The number of losses of a kind.
    pub fn of(&self, loss: Loss) -> u64 {
        self.0[loss as usize]
    }

    /// The kinds with losses, the gravest first.
    pub fn kinds(&self) -> impl Iterator<Item = Loss> {
        Loss::ALL.into_iter().filter(|loss| self.of(*loss) > 0)
    }

    /// Only the secrets: everything else that depends on the key keeps working with the key it was made with.
    pub fn of_secrets(mut self) -> Self {
        for loss in [Loss::Links, Loss::Erased, Loss::Replays] {
            self.0[loss as usize] = 0;
        }
        self
    }

    /// Counts what is lost if `seal` is the only key. The stores are control, test and live.
    pub fn count([control, worlds @ ..]: [&ReadTx; 3], seal: &Seal) -> Result<Self> {
        let mut losses = Self::default();
        let mut add = |loss: Loss, many: u64| losses.0[loss as usize] += many;
        add(Loss::Authenticators, accounts::sealed(control, seal)?.closed);
        for tx in worlds {
            let closed = super::sealed::unreadable(tx, seal)?;
            add(Loss::Dkim, closed.domains);
            add(Loss::Webhooks, closed.webhooks);
            add(Loss::Links, tx.rows(tables::MAILINGS)?);
            add(Loss::Erased, suppressions::named_by_hash_alone(tx)?);
            add(Loss::Replays, tx.rows(tables::REPLAYS)?);
        }
        Ok(losses)
    }
}

impl fmt::Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kinds().try_for_each(|loss| writeln!(f, "  {:<15} {:>8} {}", loss.word(), self.of(loss), loss.means()))
    }
}

/// Moves everything that can be kept to the new key, and replaces the rest. Safe to repeat after a crash, with any key.
pub fn rekey([control, worlds @ ..]: &[std::sync::Arc<Store>; 3], seal: &Seal) -> Result<()> {
    let new = seal.duplicate();
    control.write_blocking(move |tx| accounts::drop_closed(tx, &new))??;
    for data in worlds {
        suppressions::rehash(data, seal)?;
        domains::reissue(data, seal)?;
    }
    Ok(())
}
