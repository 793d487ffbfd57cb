//! The stores' keys, which are stored only in sealed form.

use serde::{Deserialize, Serialize};
use zeroize::Zeroize;

use super::model::Store;
use crate::base::clock::Timestamp;
use crate::base::random::Random;
use crate::base::secret::Secret;
use crate::engine::store::seal::Seal;
use crate::vocab::ids::{AccountId, StoreId};
use crate::vocab::storefronts::Storefront;

#[derive(Clone, Default, Serialize, Deserialize)]
pub struct Keys {
    /// Shopify: the access token for the Admin API, which is empty if there is a client ID. WooCommerce: the consumer key.
    pub key: String,
    /// Shopify: the client ID of the store's own app, with which Mailmill requests access tokens; empty for other connections.
    pub client_id: String,
    /// WooCommerce: the consumer secret; empty for Shopify.
    pub secret: String,
    /// The secret that signs webhooks. Shopify: the secret of the app. WooCommerce: a secret that Mailmill created.
    pub signing_secret: String,
    /// The token in the webhook URL.
    pub url_token: String,
    /// Shopify: the refresh token of a store on which this server's app is installed; empty for other stores.
    pub refresh: String,
    /// Shopify: when the access token expires; zero if it does not expire.
    pub expires_at_ms: i64,
}

/// The tokens that give an app access to a shop.
pub struct AppTokens {
    pub access: Secret,
    /// The refresh token; `None` if Shopify did not issue one.
    pub refresh: Option<Secret>,
    pub expires_at: Option<Timestamp>,
}

impl Keys {
    /// Creates the keys for an app that was created in Shopify's Dev Dashboard.
    pub fn of_app(client_id: String, signing_secret: String) -> Self {
        let mut keys = Self::default();
        (keys.client_id, keys.signing_secret) = (client_id, signing_secret);
        keys
    }

    /// Creates the keys for an app that was created in the Shopify admin.
    pub fn of_token(key: String, signing_secret: String) -> Self {
        let mut keys = Self::default();
        (keys.key, keys.signing_secret) = (key, signing_secret);
        keys
    }

    /// Creates the keys for a store on which this server's app is installed.
    pub fn of_installation(tokens: AppTokens, signing_secret: String) -> Self {
        let mut keys = Self::of_token(tokens.access.expose().clone(), signing_secret);
        keys.renew(tokens);
        keys
    }

    /// Replaces an installed app's tokens.
    pub fn renew(&mut self, tokens: AppTokens) {
        self.key.zeroize();
        self.key = tokens.access.expose().clone();
        if let Some(refresh) = tokens.refresh {
            self.refresh.zeroize();
            self.refresh = refresh.expose().clone();
        }
        self.expires_at_ms = tokens.expires_at.map_or(0, |at| at.0);
    }

    /// Returns whether the access token of an installed app expires before `time`.
    pub fn expires_before(&self, time: Timestamp) -> bool {
        self.is_installed() && self.expires_at_ms != 0 && self.expires_at_ms < time.0
    }

    /// Returns whether the keys are tokens of this server's app. Only such keys include a refresh token.
    pub fn is_installed(&self) -> bool {
        !self.refresh.is_empty()
    }

    /// Creates the keys from a WooCommerce REST API key.
    pub fn of_woocommerce(key: String, secret: String) -> Self {
        let mut keys = Self::default();
        (keys.key, keys.secret) = (key, secret);
        keys
    }

    /// Returns only the parts of the keys that are needed to check webhooks, without the parts that give access to the store.
    pub fn without_access(&self) -> Self {
        let mut keys = Self::default();
        (keys.signing_secret, keys.url_token) = (self.signing_secret.clone(), self.url_token.clone());
        keys
    }

    pub fn platform(&self) -> Storefront {
        if self.secret.is_empty() { Storefront::Shopify } else { Storefront::WooCommerce }
    }

    /// Returns the name of the request field that contains the keys.
    pub fn field(&self) -> &'static str {
        match self.platform() {
            Storefront::Shopify if !self.client_id.is_empty() => "clientId",
            Storefront::Shopify if self.is_installed() => "query",
            Storefront::Shopify => "accessToken",
            Storefront::WooCommerce => "consumerKey",
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        let Self { key, client_id, secret, signing_secret, url_token, refresh, expires_at_ms: _ } = self;
        [key, client_id, secret, signing_secret, url_token, refresh].into_iter().for_each(Zeroize::zeroize);
    }
}

fn place(account: AccountId, id: StoreId) -> Vec<u8> {
    [b"stores/".as_slice(), &account.0, &id.0].concat()
}

/// Encrypts the keys of a store with the master key.
pub fn seal(seal: &Seal, (account, id): (AccountId, StoreId), keys: &Keys, random: &dyn Random) -> Vec<u8> {
    let mut text = serde_json::to_vec(keys).expect("keys can be written as JSON");
    let sealed = seal.seal(&place(account, id), &text, random);
    text.zeroize();
    sealed
}

/// Decrypts the keys of a store. Returns `None` if they were sealed with a different master key.
pub fn open(seal: &Seal, store: &Store) -> Option<Keys> {
    let mut text = seal.open(&place(store.account, store.id), &store.sealed_keys)?;
    let keys = serde_json::from_slice(&text).ok();
    text.zeroize();
    keys
}
