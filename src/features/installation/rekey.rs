//! Replaces the master key after every copy of the old key has been lost. Counts what is lost with the old key, and adapts or replaces the
//! data that depends on it.
//!
//! These functions must not be called on a runtime thread, because they wait for writes.

use std::fmt;

use crate::engine::store::seal::Seal;
use crate::engine::store::{ReadTx, Result, Store};
use crate::features::{accounts, domains, suppressions};
use crate::vocab::tables;

/// TABLE: the kinds of data that can be lost with the master key, as the command line describes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    Links,
    Dkim,
    Webhooks,
    IncomingWebhooks,
    MailServices,
    Connections,
    Authenticators,
    Erased,
    Replays,
}

impl Loss {
    /// All kinds of loss, most serious first.
    pub const ALL: [Self; 9] = [
        Self::Erased,
        Self::Links,
        Self::Dkim,
        Self::Webhooks,
        Self::IncomingWebhooks,
        Self::MailServices,
        Self::Connections,
        Self::Authenticators,
        Self::Replays,
    ];

    /// Returns the name of this kind of loss on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Links => "links",
            Self::Dkim => "dkim",
            Self::Webhooks => "webhooks",
            Self::IncomingWebhooks => "incoming",
            Self::MailServices => "mail-services",
            Self::Connections => "connections",
            Self::Authenticators => "authenticators",
            Self::Erased => "erased",
            Self::Replays => "replays",
        }
    }

    /// Returns a description of what is lost, for the command line.
    pub fn means(self) -> &'static str {
        match self {
            Self::Links => "sends and campaigns: their unsubscribe and tracking links return 404 from now on",
            Self::Dkim => {
                "sending domains: their DKIM keys are replaced, and mail from them is refused until you add the new DNS records"
            }
            Self::Webhooks => {
                "webhooks: their secrets and custom headers are lost; each webhook needs a new secret before it delivers again"
            }
            Self::IncomingWebhooks => {
                "incoming webhooks: the secrets of their signatures are lost; their requests are rejected until you enter the secrets again"
            }
            Self::MailServices => {
                "mail services: their secrets are lost; their bounces and complaints are rejected until you enter the secrets again"
            }
            Self::Connections => "connected accounts and stores: their keys are lost; connect each of them again",
            Self::Authenticators => {
                "users: they sign in with only their password until they set up their authenticator app again"
            }
            Self::Erased => {
                "erased contacts: their addresses can no longer be recognized, and get mail again if you import them again"
            }
            Self::Replays => "stored responses for Idempotency-Key: repeated requests fail for up to 24 hours",
        }
    }
}

/// The number of losses of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses([u64; Loss::ALL.len()]);

impl Losses {
    pub fn of(&self, loss: Loss) -> u64 {
        self.0[loss as usize]
    }

    /// Returns the kinds that have losses, most serious first.
    pub fn kinds(&self) -> impl Iterator<Item = Loss> {
        Loss::ALL.into_iter().filter(|loss| self.of(*loss) > 0)
    }

    /// Returns only the losses of secrets. All other data that depends on the key keeps working with the old key.
    pub fn of_secrets(mut self) -> Self {
        for loss in [Loss::Links, Loss::Erased, Loss::Replays] {
            self.0[loss as usize] = 0;
        }
        self
    }

    /// Counts what is lost if `seal` has the only remaining key. The stores are control, test and live.
    pub fn count([control, environments @ ..]: [&ReadTx; 3], seal: &Seal) -> Result<Self> {
        let mut losses = Self::default();
        let mut add = |loss: Loss, many: u64| losses.0[loss as usize] += many;
        add(Loss::Authenticators, accounts::sealed(control, seal)?.closed);
        for tx in environments {
            let closed = super::sealed::unreadable(tx, seal)?;
            add(Loss::Dkim, closed.domains);
            add(Loss::Webhooks, closed.webhooks);
            add(Loss::IncomingWebhooks, closed.incoming_webhooks);
            add(Loss::MailServices, closed.mail_services);
            add(Loss::Connections, closed.connections);
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

/// Deletes the authenticator apps and replaces the DKIM keys that the new key cannot decrypt, and hashes suppressed addresses with the new
/// key. Can be repeated safely after a crash, even with a different new key.
pub fn rekey([control, environments @ ..]: &[std::sync::Arc<Store>; 3], seal: &Seal) -> Result<()> {
    let new = seal.duplicate();
    control.write_blocking(move |tx| accounts::drop_closed(tx, &new))??;
    for data in environments {
        suppressions::rehash(data, seal)?;
        domains::reissue(data, seal)?;
    }
    Ok(())
}
