//! Receives a webhook from a store: checks the signature, and stores the effects on disk before the response is sent.

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;

use super::apply::apply;
use super::model::{Applied, Store};
use super::platform::{self, Change, Delivery, Site, Unreadable};
use super::{install, keys, store};
use crate::engine::api::{Engine, Failure};
use crate::engine::store::WriteTx;
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;

/// The result of handling a webhook. If a webhook takes effect in several stores, the greatest of their results is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Received {
    /// The webhook has no effect.
    Ignored,
    /// The same webhook was received before.
    Repeated,
    Applied,
}

/// Handles a webhook that arrived at the URL of this store. A privacy webhook about another shop takes effect only in the stores with that
/// shop's address.
pub async fn receive(
    engine: &Arc<Engine>,
    environment: Environment,
    of: Store,
    (headers, body): (HeaderMap, Bytes),
) -> Result<Received, Failure> {
    let Some(delivery) = verified(engine, &of, &headers, &body) else {
        let detail = "The webhook's signature does not match this store's secret. Connect the store again with its current keys.";
        return Err(Failure::because(Code::InvalidSignature, detail));
    };
    // If an app is installed on several shops, Shopify sends the privacy webhooks of all these shops to the one URL in the app's settings.
    let stores = match &delivery.shop {
        Some(shop) if *shop != of.address => {
            let mut stores = store::at(&engine.data(environment).store.read(), shop)?;
            stores.retain(|known| known.platform == of.platform && verified(engine, known, &headers, &body).is_some());
            stores
        }
        _ => vec![of],
    };
    let mut received = Received::Ignored;
    for of in stores {
        let site = Site { url: &of.site, currency: of.currency.as_deref() };
        let mut change = platform::read(of.platform, &delivery.topic, &body, &site).map_err(|Unreadable| {
            let detail = format!("The webhook {} does not match {}'s documented format.", delivery.topic, of.platform);
            Failure::because(Code::InvalidRequest, detail)
        })?;
        if let Change::Customer(customer) = &mut change
            && customer.changed_at.or(customer.consent_at).is_none()
        {
            customer.consent_at = delivery.triggered_at;
        }
        let delivery = delivery.clone();
        let written = engine.data(environment).store.write(move |tx| record(tx, &of, &delivery, change)).await;
        received = received.max(written??);
    }
    Ok(received)
}

/// Returns the ID and topic of a webhook if it is signed with this store's secret or, for an installed app, with the app's current secret,
/// or if it is WooCommerce's unsigned test request.
fn verified(engine: &Engine, of: &Store, headers: &HeaderMap, body: &[u8]) -> Option<Delivery> {
    let keys = keys::open(&engine.seal, of)?;
    let verify = |secret: &str| platform::verify(of.platform, headers, body, secret);
    verify(&keys.signing_secret).or_else(|| {
        // The operator may have replaced the app's secret since the app was installed.
        let app = install::app(&engine.settings.connections).filter(|_| keys.is_installed())?;
        verify(app.secret())
    })
}

fn record(tx: &mut WriteTx<'_>, of: &Store, delivery: &Delivery, change: Change) -> Result<Received, Failure> {
    let key = (of.account, of.id);
    // The store may have been disconnected, or its URL replaced, since the webhook arrived.
    let current = store::find(tx, of.account, of.id)?.filter(|known| known.url_hash == of.url_hash);
    let (Some(current), Some(mut sync)) = (current, store::sync(tx, key)?) else { return Err(url_unknown()) };
    if current.disconnected_at.is_some() && !change.is_privacy_request() {
        return Err(url_unknown());
    }
    let now = tx.now();
    sync.last_webhook_at = Some(now);
    if !store::remember(tx, of.id, &mut sync, &delivery.id)? {
        sync.webhooks.repeated += 1;
        store::save_sync(tx, key, &sync)?;
        return Ok(Received::Repeated);
    }
    let applied = apply(tx, &current, &mut sync, change)?;
    let received = match applied {
        Applied::Done => {
            sync.webhooks.applied += 1;
            Received::Applied
        }
        Applied::Ignored => {
            sync.webhooks.ignored += 1;
            Received::Ignored
        }
    };
    store::save_sync(tx, key, &sync)?;
    Ok(received)
}

pub fn url_unknown() -> Failure {
    Failure::because(Code::NotFound, "No connected store has this webhook URL. Connect the store again.")
}
