//! Connects a store to a project.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use crate::base::secret::{Secret, random_base62};
use crate::engine::access::url_token::UrlToken;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::{ReadTx, WriteTx};
use crate::features::connections::PlatformError;
use crate::features::projects;
use crate::features::storefront::client::Client;
use crate::features::storefront::keys::{self, Keys};
use crate::features::storefront::model::{CustomerImport, Store, Sync};
use crate::features::storefront::platform::{self, Shop};
use crate::features::storefront::views::StorefrontConnection;
use crate::features::storefront::{address, connect_url, store};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, ProjectId, StoreId, kinds};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::storefronts::{StoreTool, Storefront};

/// The length of the secret that signs the webhooks of WooCommerce.
const SIGNING_SECRET_CHARACTERS: usize = 43;

pub struct Connect;

/// The store to connect.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectStore {
    /// The project whose brand gets the products, and whose audience gets the customers.
    pub project_id: ProjectId,
    /// The URL of the store: for Shopify the myshopify.com domain, for WooCommerce the URL of the site.
    #[serde(alias = "shopifyStoreUrl", alias = "woocommerceStoreUrl")]
    #[schemars(length(min = 1, max = limits::STORE_URL_CHARACTERS_MAX))]
    pub storefront_store_url: String,
    /// Shopify: the client ID of an app in the Dev Dashboard that is installed on the store. Mailmill requests access tokens with it.
    #[schemars(length(min = 1, max = limits::CONNECTION_KEY_CHARACTERS_MAX))]
    pub client_id: Option<Secret>,
    /// Shopify: the Admin API access token of an app that was created in the Shopify admin before 2026, in place of a client ID.
    #[schemars(length(min = 1, max = limits::CONNECTION_KEY_CHARACTERS_MAX))]
    pub access_token: Option<Secret>,
    /// Shopify: the secret of the same app, with which Shopify signs webhooks. Stored encrypted and never shown again, like all keys.
    #[serde(alias = "clientSecret")]
    #[schemars(length(min = 1, max = limits::CONNECTION_KEY_CHARACTERS_MAX))]
    pub api_secret: Option<Secret>,
    /// WooCommerce: the consumer key of a REST API key with the permission Read/Write.
    #[schemars(length(min = 1, max = limits::CONNECTION_KEY_CHARACTERS_MAX))]
    pub consumer_key: Option<Secret>,
    /// WooCommerce: the consumer secret of the same key.
    #[schemars(length(min = 1, max = limits::CONNECTION_KEY_CHARACTERS_MAX))]
    pub consumer_secret: Option<Secret>,
    /// Which customers are imported; `subscribed-only` if absent.
    pub customers: Option<CustomerImport>,
    /// Without keys: the connected store whose keys are used, if the store is connected to several other projects.
    pub connection_id: Option<StoreId>,
}

impl Operation for Connect {
    const SPEC: Spec = Spec::post("storefront.connect", "/v1/storefront/connect", needs(Permission::EmailRead))
        .also_at(&["/v1/shopify/connect", "/v1/woocommerce/connect"])
        .summary("Connect a store to a project")
        .about(
            "With keys, tests them with the store, stores them encrypted, and starts to import; this also needs the permission \
             project:write. Keys replace those of a store that is already connected to the project. Without keys, connects a store with \
             the keys with which it is connected to another project of the account. An app in Shopify needs the scope \
             read_products; with read_orders, orders become customer events, and with read_customers, customers are imported.",
        )
        .replay(Replay::Keyed)
        .fails(&[
            Code::NotFound,
            Code::LimitReached,
            Code::IntegrationAccountRequired,
            Code::ProviderNotConnected,
            Code::ProviderReconnectRequired,
            Code::ProviderUnavailable,
        ]);
    type Input = ConnectStore;
    type Output = Done<StorefrontConnection>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "storefrontStoreUrl": "https://acme.myshopify.com" });
        (input, Done(StorefrontConnection::sample()))
    }
}

impl Async for Connect {
    async fn run(context: Context, input: ConnectStore) -> Result<Self::Output, Failure> {
        let (account, project) = (context.caller.account(), input.project_id);
        let url = address::parse(&input.storefront_store_url)?;
        let keys = given_keys(&input)?;
        if keys.is_some() && !context.caller.principal.permissions().contains(Permission::ProjectWrite) {
            return Err(Failure::because(
                Code::InsufficientPermissions,
                "To enter keys of a store, the permission project:write is needed.",
            ));
        }
        let reading = move |tx: &ReadTx| {
            projects::require(tx, account, project)?;
            Ok::<_, Failure>(store::all(tx, account)?)
        };
        let known = context.read(reading).await?;
        let (keys, address) = match keys {
            Some(given) => {
                let address = match given.platform() {
                    Storefront::Shopify => address::of_shopify(&url)?,
                    Storefront::WooCommerce => address::of_site(&context.engine, &url)?,
                };
                (given, address)
            }
            None => {
                let page = connect_url(&context.engine, context.caller.environment());
                let chosen = choose(known, &url, &input, &page)?;
                let mut keys = keys::open(&context.engine.seal, &chosen).ok_or_else(|| {
                    reconnect(&chosen, "the stored keys cannot be decrypted with the current master key", &page)
                })?;
                if chosen.project == project {
                    return shown(&context, &chosen);
                }
                // Each connection has its own URL, and with WooCommerce its own secret for webhooks.
                keys.url_token.clear();
                if chosen.platform == Storefront::WooCommerce {
                    keys.signing_secret.clear();
                }
                (keys, chosen.address)
            }
        };
        let New { keys, shop } = test(&context, keys, &address).await?;
        let (engine, environment, customers) = (context.engine.clone(), context.caller.environment(), input.customers);
        let write = move |tx: &mut WriteTx<'_>| {
            projects::require(tx, account, project)?;
            keep(tx, &engine.seal, environment, (account, project), (keys, shop, customers))
        };
        let (made, sync) = context.write(&Self::SPEC, write).await?;
        Ok(Done(StorefrontConnection::of(&made, &sync)))
    }
}

/// Returns the keys in a request, or `None` if there are none.
fn given_keys(input: &ConnectStore) -> Result<Option<Keys>, Failure> {
    let text = |field: &str, secret: &Option<Secret>| -> Result<Option<String>, Failure> {
        let Some(secret) = secret else { return Ok(None) };
        let text = secret.expose().trim();
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
        if text.is_empty() || text.len() > limits::CONNECTION_KEY_CHARACTERS_MAX || !is_plain {
            return Err(Failure::field(field, "enter the key exactly as the platform shows it, without spaces"));
        }
        Ok(Some(text.to_owned()))
    };
    let client_id = text("clientId", &input.client_id)?;
    let token = text("accessToken", &input.access_token)?;
    let api_secret = text("apiSecret", &input.api_secret)?;
    let key = text("consumerKey", &input.consumer_key)?;
    let secret = text("consumerSecret", &input.consumer_secret)?;
    let missing = |field: &str, why: &str| Err(Failure::field(field, why));
    match (client_id, token, api_secret, key, secret) {
        (None, None, None, None, None) => Ok(None),
        (Some(id), None, Some(secret), None, None) => Ok(Some(Keys::of_app(id, secret))),
        (None, Some(token), Some(secret), None, None) => Ok(Some(Keys::of_token(token, secret))),
        (None, None, None, Some(key), Some(secret)) => Ok(Some(Keys::of_woocommerce(key, secret))),
        (Some(_), Some(_), ..) => missing("accessToken", "enter either a client ID or an access token"),
        (Some(_), _, None, None, None) | (_, Some(_), None, None, None) => {
            missing("apiSecret", "enter the secret of the app too; Shopify signs webhooks with it")
        }
        (None, None, Some(_), None, None) => missing("clientId", "enter the client ID of the app too"),
        (None, None, None, Some(_), None) => missing("consumerSecret", "enter the consumer secret too"),
        (None, None, None, None, Some(_)) => missing("consumerKey", "enter the consumer key too"),
        _ => missing("consumerKey", "enter either the keys of Shopify or those of WooCommerce"),
    }
}

/// Returns the connected store to use for a request without keys: the one in `connectionId`, or else the project's own store, or else the
/// only store with this URL.
fn choose(known: Vec<Store>, url: &Url, input: &ConnectStore, page: &str) -> Result<Store, Failure> {
    let mut usable: Vec<Store> = known.into_iter().filter(|store| address::is_of(url, store)).collect();
    if usable.is_empty() {
        let detail = format!("This store is not connected. Connect it at {page}.");
        return Err(Failure::because(Code::ProviderNotConnected, detail).with(json!({ "connectUrl": page })));
    }
    if let Some(own) = usable.iter().position(|store| store.project == input.project_id && input.connection_id.is_none()) {
        usable = vec![usable.swap_remove(own)];
    }
    if let Some(id) = input.connection_id {
        usable.retain(|store| store.id == id);
    }
    let chosen = match usable.len() {
        0 => {
            let absent =
                Failure::because(Code::NotFound, "No connected store with this URL has this ID.").in_field("connectionId");
            return Err(absent.see("storefront.list", "GET /v1/storefront/stores lists the connected stores"));
        }
        1 => usable.swap_remove(0),
        many => {
            let detail = format!("This store is connected to {many} other projects; name one of the connections in connectionId");
            let shown: Vec<_> = usable.iter().map(|found| json!({ "id": found.id, "name": found.name })).collect();
            let several = Failure::because(Code::IntegrationAccountRequired, detail).with(json!({ "connections": shown }));
            return Err(several.see("storefront.list", "GET /v1/storefront/stores lists them"));
        }
    };
    match &chosen.rejected {
        Some(reason) => Err(reconnect(&chosen, reason, page)),
        None => Ok(chosen),
    }
}

fn reconnect(chosen: &Store, reason: &str, page: &str) -> Failure {
    let Store { platform, name, .. } = chosen;
    let detail = format!("The stored keys of \"{name}\" in {platform} cannot be used ({reason}). Enter new keys at {page}.");
    Failure::because(Code::ProviderReconnectRequired, detail).with(json!({ "connectUrl": page, "connectionId": chosen.id }))
}

fn shown(context: &Context, of: &Store) -> Result<Done<StorefrontConnection>, Failure> {
    let sync = store::sync(&context.data().store.read(), (of.account, of.id))?;
    Ok(Done(StorefrontConnection::of(of, &sync.unwrap_or_else(|| Sync::new(of.created_at)))))
}

/// Keys that the store accepted.
struct New {
    keys: Keys,
    shop: Shop,
}

/// Tests keys with the store. The URL token and a missing secret for webhooks are added later.
async fn test(context: &Context, keys: Keys, address: &str) -> Result<New, Failure> {
    let (platform, field) = (keys.platform(), keys.field());
    let client = Client::new(&context.engine, platform, address, &keys).map_err(|reason| Failure::field(field, reason))?;
    client.forget();
    let mut attempt = 1;
    let shop = loop {
        match platform::shop(&client).await {
            Err(PlatformError::Unavailable(_)) if attempt < limits::PROVIDER_ATTEMPTS_MAX => {
                tokio::time::sleep(Duration::from_millis(limits::PROVIDER_RETRY_MS << (attempt - 1))).await;
                attempt += 1;
            }
            ended => break ended.map_err(|error| untested(&keys, error))?,
        }
    };
    if !shop.tools.contains(&StoreTool::Products) {
        let reason = match field {
            "clientId" => "the app needs the scope read_products; add it in a new version of the app, then try again",
            _ => "the token needs the scope read_products; add it to the app and enter the new token",
        };
        return Err(Failure::field(field, reason));
    }
    Ok(New { keys, shop })
}

/// Returns the failure for keys that could not be tested.
fn untested(keys: &Keys, error: PlatformError) -> Failure {
    let platform = keys.platform();
    match &error {
        PlatformError::Rejected(said) => {
            let scopes: Vec<&str> = platform::scopes(platform).iter().map(|(scope, _)| *scope).collect();
            let check = match keys.field() {
                "clientId" => "check the client ID and the secret, and that the app is installed on this store".to_owned(),
                _ => format!("check the key and its scopes: {}", scopes.join(", ")),
            };
            Failure::field(keys.field(), format_args!("{platform} rejected this key ({said}); {check}"))
        }
        PlatformError::Missing => {
            Failure::field("storefrontStoreUrl", format_args!("there is no store with {platform} at this address; check it"))
        }
        PlatformError::Busy { ms, .. } => {
            let detail =
                format!("{platform} is currently rate limiting this store, so the keys could not be tested. Try again later.");
            Failure::because(Code::ProviderUnavailable, detail).after_seconds(ms.div_ceil(1000).max(1))
        }
        _ => {
            let detail = format!("The keys could not be tested. {platform}: {error} Nothing was stored; try again later.");
            Failure::because(Code::ProviderUnavailable, detail).after_seconds(60)
        }
    }
}

/// Saves a store with its keys, and starts its import.
fn keep(
    tx: &mut WriteTx<'_>,
    seal: &crate::engine::store::seal::Seal,
    environment: Environment,
    (account, project): (AccountId, ProjectId),
    (mut keys, shop, customers): (Keys, Shop, Option<CustomerImport>),
) -> Result<(Store, Sync), Failure> {
    let all = store::all(tx, account)?;
    let known = all.iter().find(|known| known.project == project && known.address == shop.address);
    if known.is_none() && all.len() >= limits::STORES_MAX {
        let detail = format!("An account can have at most {} stores. Disconnect a store first.", limits::STORES_MAX);
        return Err(Failure::because(Code::LimitReached, detail));
    }
    let id = known.map_or_else(|| StoreId::make(tx.now(), tx.random()), |known| known.id);
    // If the store was connected before, its URL is kept, because the store already sends webhooks there.
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
