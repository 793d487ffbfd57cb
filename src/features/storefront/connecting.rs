//! Tests the keys of a store, stores them, and starts the store's import.

use std::time::Duration;

use super::client::Client;
use super::keys::{self, Keys};
use super::model::{CustomerImport, Store, Sync};
use super::platform::{self, Shop};
use super::store;
use crate::base::secret::random_base62;
use crate::engine::access::url_token::UrlToken;
use crate::engine::api::{Context, Failure};
use crate::engine::store::WriteTx;
use crate::engine::store::seal::Seal;
use crate::features::connections::PlatformError;
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, ProjectId, StoreId, kinds};
use crate::vocab::limits;
use crate::vocab::storefronts::{StoreTool, Storefront};

/// The length of the secret that signs WooCommerce webhooks: 43 characters of base64url encode 256 bits.
const SIGNING_SECRET_CHARACTERS: usize = 43;

/// Keys that the store accepted, and the store's information about itself.
pub struct New {
    pub keys: Keys,
    pub shop: Shop,
}

/// Why keys cannot be used with a store.
#[derive(Debug)]
pub enum Unusable {
    /// The keys or the address cannot be used in a request. Contains the reason.
    Invalid(String),
    /// The keys do not give access to the products.
    NoProducts,
    Platform(PlatformError),
}

/// Tests keys with the store. `keep` later adds the URL token and, if it is missing, the secret for webhooks.
pub async fn test(context: &Context, keys: Keys, address: &str) -> Result<New, Unusable> {
    let client = Client::new(&context.engine, keys.platform(), address, &keys).map_err(Unusable::Invalid)?;
    client.forget();
    let mut attempt = 1;
    let shop = loop {
        match platform::shop(&client).await {
            Err(PlatformError::Unavailable(_)) if attempt < limits::PROVIDER_ATTEMPTS_MAX => {
                tokio::time::sleep(Duration::from_millis(limits::PROVIDER_RETRY_MS << (attempt - 1))).await;
                attempt += 1;
            }
            ended => break ended.map_err(Unusable::Platform)?,
        }
    };
    if !shop.tools.contains(&StoreTool::Products) {
        return Err(Unusable::NoProducts);
    }
    Ok(New { keys, shop })
}

impl Unusable {
    /// Returns why the keys must be replaced, or `None` if they need not be.
    pub fn rejection(&self) -> Option<String> {
        match self {
            Self::Invalid(reason) => Some(reason.clone()),
            Self::NoProducts => Some("they lack the scope read_products".to_owned()),
            Self::Platform(error) => error.rejection(),
        }
    }

    /// Returns the error for keys that the request contains in `field`.
    pub fn of_entered(self, platform: Storefront, field: &'static str) -> Failure {
        let reason = match self {
            Self::Platform(error) => return untested(platform, field, &error),
            Self::Invalid(reason) => reason,
            Self::NoProducts => match field {
                "clientId" => "the app needs the scope read_products; add this scope in a new version of the app, then try again",
                "query" => "the app needs the scope read_products; install the app again and allow this scope",
                _ => "the token needs the scope read_products; add this scope to the app, and enter the new token",
            }
            .to_owned(),
        };
        Failure::field(field, reason)
    }
}

fn untested(platform: Storefront, field: &'static str, error: &PlatformError) -> Failure {
    match error {
        PlatformError::Rejected(said) | PlatformError::Forbidden(said) => {
            let scopes: Vec<&str> = platform::scopes(platform).iter().map(|(scope, _)| *scope).collect();
            let check = match field {
                "query" => "install the app again".to_owned(),
                "clientId" => {
                    "check the client ID and the secret, and make sure that the app is installed on this store".to_owned()
                }
                "consumerKey" => format!("check the consumer key, its secret and its permission ({})", scopes.join(", ")),
                _ => format!("check the access token and its scopes: {}", scopes.join(", ")),
            };
            Failure::field(field, format_args!("{platform} rejected the keys ({said}); {check}"))
        }
        PlatformError::Missing => match field {
            "query" => Failure::field("query", "there is no Shopify store with this domain; connect the store again"),
            "consumerKey" => Failure::field(
                "storefrontStoreUrl",
                "there is no WooCommerce REST API at this URL; check the URL, and set the site's permalinks to a structure other than \
                 \"Plain\"",
            ),
            _ => Failure::field("storefrontStoreUrl", "there is no Shopify store at this URL; check the URL"),
        },
        PlatformError::Busy { ms, .. } => {
            let detail = format!(
                "{platform} is unavailable or limits the requests from Mailmill, so the keys could not be tested. Try again later."
            );
            Failure::because(Code::ProviderUnavailable, detail).after_seconds(ms.div_ceil(1000).max(1))
        }
        _ => {
            let detail = format!("The keys could not be tested, and nothing was stored. {platform}: {error}");
            Failure::because(Code::ProviderUnavailable, detail).after_seconds(60)
        }
    }
}

/// Saves a store with its keys, and starts its import.
pub fn keep(
    tx: &mut WriteTx<'_>,
    seal: &Seal,
    environment: Environment,
    (account, project): (AccountId, ProjectId),
    (mut keys, shop, customers): (Keys, Shop, Option<CustomerImport>),
) -> Result<(Store, Sync), Failure> {
    let all = store::with_disconnected(tx, account)?;
    let known = all.iter().find(|known| known.project == project && known.address == shop.address);
    let is_connected = |known: &Store| known.disconnected_at.is_none();
    if !known.is_some_and(is_connected) && all.iter().filter(|known| is_connected(known)).count() >= limits::STORES_MAX {
        let detail = format!("An account can have at most {} stores. Disconnect a store first.", limits::STORES_MAX);
        return Err(Failure::because(Code::LimitReached, detail));
    }
    let id = known.map_or_else(|| StoreId::make(tx.now(), tx.random()), |known| known.id);
    // If the store was connected before, keep its webhook URL, because the store may still send webhooks there.
    let before = known.and_then(|known| keys::open(seal, known));
    let token = before.as_ref().and_then(|before| UrlToken::<kinds::Store>::parse(&before.url_token));
    let token = token.unwrap_or_else(|| UrlToken::new(environment, account, id, tx.random()));
    keys.url_token = token.text().expose().clone();
    if keys.signing_secret.is_empty() {
        let made = || random_base62(tx.random(), SIGNING_SECRET_CHARACTERS);
        keys.signing_secret = before.map_or_else(made, |before| before.signing_secret.clone());
    }
    let platform = keys.platform();
    let Shop { address, site, name, currency, tools } = shop;
    let store = Store {
        id,
        account,
        project,
        platform,
        address,
        site,
        name: name.chars().take(limits::CONNECTION_NAME_CHARACTERS_MAX).collect(),
        currency,
        sealed_keys: keys::seal(seal, (account, id), &keys, tx.random()),
        url_hash: token.hash(),
        tools,
        rejected: None,
        customers: customers.unwrap_or_else(|| known.map(|known| known.customers).unwrap_or_default()),
        created_at: known.map_or(tx.now(), |known| known.created_at),
        connected_at: tx.now(),
        disconnected_at: None,
    };
    store::save(tx, &store);
    let now = tx.now();
    let mut sync = store::sync(tx, (account, id))?.unwrap_or_else(|| Sync::new(now));
    if sync.stage != Sync::new(now).stage {
        sync.start(now);
    }
    sync.due_at = now;
    store::save_sync(tx, (account, id), &sync)?;
    Ok((store, sync))
}
