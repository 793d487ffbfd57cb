//! The keys of stores, which are stored only in sealed form.

use serde::{Deserialize, Serialize};
use zeroize::Zeroize;

use super::model::Store;
use crate::base::random::Random;
use crate::engine::store::seal::Seal;
use crate::vocab::ids::{AccountId, StoreId};
use crate::vocab::storefronts::Storefront;

/// The keys of a store.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Keys {
    /// Shopify: the access token of the Admin API, or empty with a client ID. WooCommerce: the consumer key.
    pub key: String,
    /// Shopify: the client ID of the app, which requests access tokens; or empty.
    pub client_id: String,
    /// WooCommerce: the consumer secret; empty for Shopify.
    pub secret: String,
    /// The secret that signs webhooks. Shopify: the secret of the app. WooCommerce: a secret that Mailmill created.
    pub signing_secret: String,
    /// The token in the URL for webhooks.
    pub url_token: String,
}

impl Keys {
    /// Creates the keys of an app in Shopify's Dev Dashboard.
    pub fn of_app(client_id: String, signing_secret: String) -> Self {
        let mut keys = Self::default();
        (keys.client_id, keys.signing_secret) = (client_id, signing_secret);
        keys
    }

    /// Creates the keys of an app that was created in the Shopify admin.
    pub fn of_token(key: String, signing_secret: String) -> Self {
        let mut keys = Self::default();
        (keys.key, keys.signing_secret) = (key, signing_secret);
        keys
    }

    /// Creates the keys from a REST API key of WooCommerce.
    pub fn of_woocommerce(key: String, secret: String) -> Self {
        let mut keys = Self::default();
        (keys.key, keys.secret) = (key, secret);
        keys
    }

    /// Returns the platform that these keys are for.
    pub fn platform(&self) -> Storefront {
        if self.secret.is_empty() { Storefront::Shopify } else { Storefront::WooCommerce }
    }

    /// Returns the field in which users enter the key.
    pub fn field(&self) -> &'static str {
        match self.platform() {
            Storefront::Shopify if !self.client_id.is_empty() => "clientId",
            Storefront::Shopify => "accessToken",
            Storefront::WooCommerce => "consumerKey",
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let Self { key, client_id, secret, signing_secret, url_token } = self;
        [key, client_id, secret, signing_secret, url_token].into_iter().for_each(Zeroize::zeroize);
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
