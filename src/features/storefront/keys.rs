//! The keys of stores, which are stored only in sealed form.

use serde::{Deserialize, Serialize};
use zeroize::Zeroize;

use super::model::Store;
use crate::base::random::Random;
use crate::engine::store::seal::Seal;
use crate::vocab::ids::{AccountId, StoreId};

/// The keys of a store.
#[derive(Clone, Serialize, Deserialize)]
pub struct Keys {
    /// Shopify: the access token of the Admin API. WooCommerce: the consumer key.
    pub key: String,
    /// WooCommerce: the consumer secret; empty for Shopify.
    pub secret: String,
    /// The secret that signs webhooks. Shopify: the API secret key of the app. WooCommerce: a secret that Mailmill created.
    pub signing_secret: String,
    /// The token in the URL for webhooks.
    pub url_token: String,
}

impl Drop for Keys {
    fn drop(&mut self) {
        let Self { key, secret, signing_secret, url_token } = self;
        [key, secret, signing_secret, url_token].into_iter().for_each(Zeroize::zeroize);
    }
}

fn place(account: AccountId, id: StoreId) -> Vec<u8> {
    [b"stores/".as_slice(), &account.0, &id.0].concat()
}

/// Returns the keys of a store in sealed form.
pub fn seal(seal: &Seal, (account, id): (AccountId, StoreId), keys: &Keys, random: &dyn Random) -> Vec<u8> {
    let mut text = serde_json::to_vec(keys).expect("keys can be written as JSON");
    let sealed = seal.seal(&place(account, id), &text, random);
    text.zeroize();
    sealed
}

/// Opens the keys of a store; returns `None` if they were sealed with a different master key.
pub fn open(seal: &Seal, store: &Store) -> Option<Keys> {
    let mut text = seal.open(&place(store.account, store.id), &store.sealed_keys)?;
    let keys = serde_json::from_slice(&text).ok();
    text.zeroize();
    keys
}
