//! Replaces the master key after every copy of the old key has been lost. Counts the data that is lost with the old key, and adapts or
//! replaces data that depends on the key.
//!
//! [`rekey`] must not be called on a runtime thread, because it waits for writes.

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
    Backup,
}

impl Loss {
    /// All kinds of loss, most serious first.
    pub const ALL: [Self; 10] = [
        Self::Erased,
        Self::Links,
        Self::Backup,
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
            Self::Backup => "backup",
        }
    }

    /// Returns a description of the loss, for the command line.
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
            Self::Backup => "continuous backups: they can no longer restore any state from before the next start of the service",
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

    /// Returns the kinds with at least one loss, most serious first.
    pub fn kinds(&self) -> impl Iterator<Item = Loss> {
        Loss::ALL.into_iter().filter(|loss| self.of(*loss) > 0)
    }

    /// Returns only the losses of secrets. If an interrupted rekey goes back to the old key, nothing else is lost, because all other data
    /// still depends on that key.
    pub fn of_secrets(mut self) -> Self {
        for loss in [Loss::Links, Loss::Erased, Loss::Replays] {
            self.0[loss as usize] = 0;
        }
        self
    }

    /// Adds the loss of the continuous backup, whose objects are sealed with a key derived from the master key.
    pub fn with_backup(mut self) -> Self {
        self.0[Loss::Backup as usize] = 1;
        self
    }

    /// Counts what would be lost from the stores if the key in `seal` were the only remaining key. The stores are given in the order
    /// control, test, live.
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

/// Deletes authenticator apps and replaces DKIM keys if the new key cannot decrypt them. Hashes suppressed addresses with the new key.
/// After a crash, this function can be called again safely, even with a different new key.
pub fn rekey([control, environments @ ..]: &[std::sync::Arc<Store>; 3], seal: &Seal) -> Result<()> {
    let new = seal.duplicate();
    control.write_blocking(move |tx| accounts::drop_closed(tx, &new))??;
    for data in environments {
        suppressions::rehash(data, seal)?;
        domains::reissue(data, seal)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::store::WriteTx;
    use crate::features::suppressions::Digester;
    use crate::testing::TestApp;
    use crate::testing::platforms::{KLAVIYO_KEY, Platforms};
    use crate::vocab::environment::Environment;

    fn losses(app: &TestApp, seal: &Seal) -> Losses {
        let read = |environment| app.engine().data(environment).store.read();
        let (control, test, live) = (app.engine().control.read(), read(Environment::Test), read(Environment::Live));
        Losses::count([&control, &test, &live], seal).expect("the stores can be read")
    }

    /// Regression test: after the key was lost, a person who had unsubscribed and been erased received mail after an import.
    #[test]
    fn each_kind_of_loss_is_counted_and_an_erased_contact_is_recognized_only_with_the_old_key() {
        let peer = Platforms::start(0);
        let app = TestApp::with(|settings| {
            settings.outbound.allow_networks = vec!["127.0.0.0/8".parse().expect("the network is valid")];
            settings.connections.klaviyo_url = peer.url();
        });
        app.post("/v1/suppressions", json!({ "email": "ada@example.com" })).data();
        let (digester, account) = (Digester::new(&app.engine().seal), app.account());
        let erase = move |tx: &mut WriteTx<'_>| suppressions::erase(tx, &digester, account, "ada@example.com");
        app.wait(app.data().store.write(erase)).expect("the store is open").expect("the address can be erased");
        let send = json!({
            "recipientType": "email", "recipientEmail": "bob@example.com", "from": "a@example.com", "subject": "Hi",
            "template": "<p>Hi</p>", "transactional": true,
        });
        app.post_keyed("/v1/sending", "once", send).data();
        app.post("/v1/domains", json!({ "domain": "acme.example" })).data();
        app.post("/v1/webhooks", json!({ "url": "https://a.example/", "events": ["subscriber.added"] })).data();
        let signature = json!({ "header": "Typeform-Signature", "secret": "key of the form" });
        let form = json!({ "projectId": app.project, "name": "Form", "signature": signature });
        app.post("/v1/incoming-webhooks", form).data();
        app.post("/v1/mail-services", json!({ "service": "mailgun", "secret": "key-1" })).data();
        app.post("/v1/connections/klaviyo", json!({ "apiKey": KLAVIYO_KEY })).data();

        let new = Seal::from_key(&[8; 32]);
        let lost = losses(&app, &new);
        let counts = Loss::ALL.map(|loss| (loss.word(), lost.of(loss)));
        assert_eq!(
            counts,
            [
                ("erased", 1),
                ("links", 1),
                ("backup", 0),
                ("dkim", 1),
                ("webhooks", 1),
                ("incoming", 1),
                ("mail-services", 1),
                ("connections", 1),
                ("authenticators", 0),
                ("replays", 1)
            ]
        );
        assert_eq!(losses(&app, &app.engine().seal).of_secrets(), Losses::default(), "the old key opens every secret");
        // With the right key, the erased address is still suppressed if it is added again.
        let again = app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data();
        assert_eq!(again["suppression"], "erased");
        let reason = |seal: &Seal| suppressions::reason(&app.read(), &Digester::new(seal), account, "ada@example.com");
        assert!(reason(&app.engine().seal).expect("the store can be read").is_some());
        assert_eq!(reason(&new), Ok(None));
    }
}
