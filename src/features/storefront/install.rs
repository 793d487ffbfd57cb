//! Installs this server's Shopify app, which is configured in the settings, on a shop. Uses Shopify's authorization code grant and expiring
//! offline tokens.
//!
//! The user starts in the dashboard, grants the scopes in the shop, and returns to the callback page. Three checks protect the callback:
//! the state in the URL is sealed and names the session, so that only the session that started the installation can finish it; Shopify
//! signs the parameters in the URL with the app's secret; and the shop must be the shop for which the user started the installation, and
//! must have a valid domain. Access tokens expire after an hour. Shopify replaces the refresh token with each use, and accepts the previous
//! refresh token until the new one is used.

use data_encoding::{BASE64URL_NOPAD, HEXLOWER_PERMISSIVE};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use super::client::{Client, TOKEN_RESERVE_MS};
use super::keys::{self, Keys};
use super::model::{CustomerImport, Store};
use super::{scopes, store};
use crate::base::clock::Timestamp;
use crate::base::secret::Secret;
use crate::engine::api::{Engine, Failure};
use crate::engine::store::{Error as StoreError, WriteTx};
use crate::features::connections::PlatformError;
use crate::features::connections::oauth::REFRESH_HELD;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{ProjectId, SessionId};
use crate::vocab::limits;
use crate::vocab::settings::Connections;
use crate::vocab::storefronts::Storefront;

/// The remedy in the error that `oauth::session` returns to API clients, which have no signed-in user.
pub const CONNECT_WITH_TOKEN: &str = "connect the store with its own app or token: POST /v1/storefront/connect";

/// The error if a user starts to install the app, but the server's settings contain no Shopify app.
pub const NO_APP: &str = "this server has no Shopify app; ask the operator to set connections.shopify_client_id and \
                          connections.shopify_client_secret, or connect the store with its own app or token";

/// Returns the context for sealing the state parameter. A sealed state can be opened only with the same context, so only in the same
/// environment.
fn place(environment: Environment) -> Vec<u8> {
    format!("stores/state/{environment}").into_bytes()
}

/// This server's Shopify app, from the settings.
pub struct App<'s> {
    id: &'s str,
    secret: &'s Secret,
}

impl App<'_> {
    /// Returns the secret with which Shopify signs the app's webhooks.
    pub fn secret(&self) -> &str {
        self.secret.expose()
    }
}

/// Returns the app in the settings; returns `None` if the settings contain no app.
pub fn app(settings: &Connections) -> Option<App<'_>> {
    Some(App { id: settings.shopify_client_id.as_deref()?, secret: settings.shopify_client_secret.as_ref()? })
}

/// Returns the callback URL, to which Shopify redirects the user. It must be registered with the app.
pub fn redirect_url(engine: &Engine) -> String {
    format!("{}/connections/shopify/callback", engine.base_url())
}

/// An installation of the app that is in progress, as stored in the sealed state parameter.
#[derive(Debug, Serialize, Deserialize)]
pub struct Install {
    pub session: SessionId,
    pub project: ProjectId,
    /// The shop's myshopify.com domain.
    pub shop: String,
    pub customers: Option<CustomerImport>,
    pub expires_at: Timestamp,
}

impl Install {
    /// Returns the installation as a sealed state parameter, which starts with the name of the environment.
    pub fn to_state(&self, engine: &Engine, environment: Environment) -> String {
        let text = serde_json::to_vec(self).expect("the state can be written as JSON");
        format!("{environment}.{}", BASE64URL_NOPAD.encode(&engine.seal.seal(&place(environment), &text, engine.random.as_ref())))
    }

    /// Opens a sealed state. Returns `None` if this server did not seal the state in this environment, or if the installation has expired.
    pub fn of_state(engine: &Engine, environment: Environment, state: &str) -> Option<Self> {
        let sealed = state.strip_prefix(environment.word())?.strip_prefix('.')?;
        let bytes = engine.seal.open(&place(environment), &BASE64URL_NOPAD.decode(sealed.as_bytes()).ok()?)?;
        let install: Self = serde_json::from_slice(&bytes).ok()?;
        (engine.clock.now() < install.expires_at).then_some(install)
    }
}

/// Returns the URL of the shop's page on which the user installs the app.
pub fn authorize_url(engine: &Engine, app: &App<'_>, shop: &str, state: &str) -> Result<String, PlatformError> {
    let mut url = shop_client(engine, shop)?.url("/admin/oauth/authorize");
    let scopes: Vec<&str> = scopes(Storefront::Shopify).iter().map(|(scope, _)| *scope).collect();
    // Without grant options, Shopify issues an offline token.
    url.query_pairs_mut().extend_pairs([
        ("client_id", app.id),
        ("scope", scopes.join(",").as_str()),
        ("redirect_uri", redirect_url(engine).as_str()),
        ("state", state),
    ]);
    Ok(url.into())
}

fn shop_client<'e>(engine: &'e Engine, shop: &str) -> Result<Client<'e>, PlatformError> {
    Client::new(engine, Storefront::Shopify, shop, &Keys::default()).map_err(PlatformError::Unreachable)
}

/// The parameters that Shopify added when it redirected the user back.
#[derive(Debug, PartialEq, Eq)]
pub struct Returned {
    pub code: String,
    pub shop: String,
    pub state: String,
}

/// Parses the query of the callback, which Shopify must have signed for this server's app. Also returns the app.
pub fn returned<'s>(settings: &'s Connections, query: &str) -> Result<(Returned, App<'s>), Failure> {
    let Some(app) = app(settings) else { return Err(Failure::field("query", NO_APP)) };
    let max = limits::STORE_INSTALL_QUERY_BYTES_MAX;
    if query.len() > max {
        return Err(Failure::field("query", format_args!("the query is longer than {max} bytes; start the installation again")));
    }
    let Some(returned) = verified(&app, query) else {
        let reason = "Shopify did not sign this query for this server's app; start the installation again";
        return Err(Failure::field("query", reason));
    };
    Ok((returned, app))
}

/// Parses the query of the callback; returns `None` unless Shopify signed it with the app's secret. The signature is the hexadecimal
/// HMAC-SHA256 of all other parameters, sorted by name.
pub fn verified(app: &App<'_>, query: &str) -> Option<Returned> {
    let mut pairs: Vec<(String, String)> =
        url::form_urlencoded::parse(query.trim_start_matches('?').as_bytes()).into_owned().collect();
    let at = pairs.iter().position(|(name, _)| name == "hmac")?;
    let (_, given) = pairs.remove(at);
    pairs.sort();
    // A repeated parameter is ambiguous.
    if pairs.windows(2).any(|two| two[0].0 == two[1].0) {
        return None;
    }
    sum(app, &pairs)?.verify_slice(&HEXLOWER_PERMISSIVE.decode(given.as_bytes()).ok()?).ok()?;
    let get = |name: &str| pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    Some(Returned { code: get("code")?, shop: get("shop")?, state: get("state")? })
}

/// Computes the HMAC of the parameters, which must be sorted by name.
fn sum(app: &App<'_>, pairs: &[(String, String)]) -> Option<Hmac<Sha256>> {
    let signed = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
    let mut mac = Hmac::<Sha256>::new_from_slice(app.secret.expose().as_bytes()).ok()?;
    mac.update(signed.as_bytes());
    Some(mac)
}

/// Parses a query as given, and again with a valid signature. This is a fuzz target.
#[cfg(any(test, fuzzing))]
pub fn read_query(query: &str) -> Option<Returned> {
    let secret = Secret::new("secret".to_owned());
    let app = App { id: "client", secret: &secret };
    assert_eq!(verified(&app, query), None, "a forged query: {query}");
    let mut pairs: Vec<(String, String)> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    pairs.retain(|(name, _)| name != "hmac");
    pairs.sort();
    let signature = HEXLOWER_PERMISSIVE.encode(&sum(&app, &pairs)?.finalize().into_bytes());
    pairs.push(("hmac".to_owned(), signature));
    verified(&app, &url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&pairs).finish())
}

/// Exchanges the code from the callback for the shop's keys.
pub async fn exchange(engine: &Engine, app: &App<'_>, shop: &str, code: &str) -> Result<Keys, PlatformError> {
    let fields = [("client_id", app.id), ("client_secret", app.secret.expose().as_str()), ("code", code), ("expiring", "1")];
    let tokens = shop_client(engine, shop)?.request_tokens(&fields).await?;
    Ok(Keys::of_installation(tokens, app.secret.expose().clone()))
}

/// Returns a client for a connected store. Refreshes and stores the tokens of an installed app if they expire soon.
pub async fn client<'e>(engine: &'e Engine, environment: Environment, of: &mut Store) -> Result<Client<'e>, PlatformError> {
    if needs_refresh(engine, of)? {
        if engine.hold.is_on() {
            return Err(PlatformError::Unreachable(REFRESH_HELD.to_owned()));
        }
        refresh(engine, environment, of, needs_refresh).await?;
    }
    Client::of(engine, of)
}

/// Refreshes the tokens of an installed app after the shop rejected the access token before its expiry. Returns whether the store has new
/// tokens now.
pub async fn refresh_rejected(engine: &Engine, environment: Environment, of: &mut Store) -> Result<bool, PlatformError> {
    if engine.hold.is_on() || keys::open(&engine.seal, of).is_none_or(|keys| !keys.is_installed()) {
        return Ok(false);
    }
    let rejected = of.sealed_keys.clone();
    refresh(engine, environment, of, |_, of| Ok(of.sealed_keys == rejected)).await?;
    Ok(of.sealed_keys != rejected)
}

fn needs_refresh(engine: &Engine, of: &Store) -> Result<bool, PlatformError> {
    let keys = keys::open(&engine.seal, of).ok_or(PlatformError::KeyLost)?;
    Ok(keys.expires_before(engine.clock.now().plus_ms(TOKEN_RESERVE_MS)))
}

/// Refreshes a store's tokens, in only one task at a time. A task that waited while another task refreshed the tokens uses the new tokens.
async fn refresh(
    engine: &Engine,
    environment: Environment,
    of: &mut Store,
    is_due: impl Fn(&Engine, &Store) -> Result<bool, PlatformError>,
) -> Result<(), PlatformError> {
    let mut key = [b's'; 13];
    key[1..].copy_from_slice(&of.id.0);
    let _turn = engine.key_locks.take(key).await;
    let data = engine.data(environment);
    let stored = store::find(&data.store.read(), of.account, of.id).map_err(not_stored)?;
    // The store may have been deleted while this task was waiting.
    *of = stored.ok_or(PlatformError::Missing)?;
    if !is_due(engine, of)? {
        return Ok(());
    }
    let app = app(&engine.settings.connections).ok_or_else(|| {
        let why = "The Shopify app's client ID or secret is no longer in the settings; the operator must set \
                   connections.shopify_client_id and connections.shopify_client_secret again.";
        PlatformError::Unreachable(why.to_owned())
    })?;
    let mut keys = keys::open(&engine.seal, of).ok_or(PlatformError::KeyLost)?;
    let fresh = {
        let fields = [
            ("client_id", app.id),
            ("client_secret", app.secret.expose().as_str()),
            ("grant_type", "refresh_token"),
            ("refresh_token", keys.refresh.as_str()),
        ];
        shop_client(engine, &of.address)?.request_tokens(&fields).await?
    };
    keys.renew(fresh);
    let sealed = keys::seal(&engine.seal, (of.account, of.id), &keys, engine.random.as_ref());
    let before = of.clone();
    let saving = move |tx: &mut WriteTx<'_>| -> Result<Option<Store>, StoreError> { store::renew(tx, &before, sealed) };
    // The old tokens may no longer work, so the new ones must be stored even if the disk is almost full.
    let renewed = data.store.write_essential(saving).await.and_then(|written| written).map_err(not_stored)?;
    *of = renewed.ok_or(PlatformError::Missing)?;
    Ok(())
}

fn not_stored(error: StoreError) -> PlatformError {
    PlatformError::Unreachable(format!("The tokens could not be read or stored: {error}."))
}
