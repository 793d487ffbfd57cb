//! Connects a store to a project.

use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use crate::base::secret::Secret;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::{ReadTx, WriteTx};
use crate::features::projects;
use crate::features::storefront::connecting::{New, keep, test};
use crate::features::storefront::keys::{self, Keys};
use crate::features::storefront::model::{CustomerImport, Store, Sync};
use crate::features::storefront::views::StorefrontConnection;
use crate::features::storefront::{address, connect_url, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, StoreId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::storefronts::Storefront;

pub struct Connect;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = key_groups)]
pub struct ConnectStore {
    /// The ID of the project to which the products and customers are added.
    pub project_id: ProjectId,
    /// The store's URL: for Shopify, the myshopify.com domain; for WooCommerce, the URL of the site.
    #[serde(alias = "shopifyStoreUrl", alias = "woocommerceStoreUrl")]
    #[schemars(length(min = 1, max = limits::STORE_URL_CHARACTERS_MAX))]
    pub storefront_store_url: String,
    /// Shopify: the client ID of an app in the Dev Dashboard that is installed on the store. Mailmill requests access tokens with it.
    #[schemars(length(min = 1, max = limits::CONNECTION_KEY_CHARACTERS_MAX))]
    pub client_id: Option<Secret>,
    /// Shopify, instead of a client ID: the Admin API access token of an app that was created in the Shopify admin before 2026.
    #[schemars(length(min = 1, max = limits::CONNECTION_KEY_CHARACTERS_MAX))]
    pub access_token: Option<Secret>,
    /// Shopify: the client secret of the same app, with which Shopify signs webhooks. It is stored encrypted and never shown again,
    /// like all keys.
    #[serde(alias = "clientSecret")]
    #[schemars(length(min = 1, max = limits::CONNECTION_KEY_CHARACTERS_MAX))]
    pub api_secret: Option<Secret>,
    /// WooCommerce: the consumer key of a REST API key with the permission Read/Write.
    #[schemars(length(min = 1, max = limits::CONNECTION_KEY_CHARACTERS_MAX))]
    pub consumer_key: Option<Secret>,
    /// WooCommerce: the consumer secret of the same key.
    #[schemars(length(min = 1, max = limits::CONNECTION_KEY_CHARACTERS_MAX))]
    pub consumer_secret: Option<Secret>,
    /// Which customers are imported. If absent, a store that was connected before keeps its setting, and a new store gets
    /// `subscribed-only`.
    pub customers: Option<CustomerImport>,
    /// The ID of the connected store whose keys are used if the request contains no keys. Required if the store is connected to several
    /// other projects.
    pub connection_id: Option<StoreId>,
}

/// The fields of a request that contain keys.
const KEY_FIELDS: [&str; 5] = ["clientId", "accessToken", "apiSecret", "consumerKey", "consumerSecret"];
/// A key is printable ASCII without spaces. Surrounding spaces are removed.
const KEY_PATTERN: &str = r"^[\t-\r ]*[!-~]+[\t-\r ]*$";

/// Describes in the schema which keys belong together.
fn key_groups(schema: &mut Schema) {
    let groups: [&[&str]; 4] =
        [&[], &["clientId", "apiSecret"], &["accessToken", "apiSecret"], &["consumerKey", "consumerSecret"]];
    let group = |own: &[&str]| {
        let field = |name: &str| match own.contains(&name) {
            true => json!({ "type": "string", "pattern": KEY_PATTERN }),
            false => json!({ "type": "null" }),
        };
        let fields: Map<String, Value> = KEY_FIELDS.into_iter().map(|name| (name.to_owned(), field(name))).collect();
        json!({ "required": own, "properties": fields })
    };
    schema.insert("anyOf".to_owned(), groups.into_iter().map(group).collect());
}

impl Operation for Connect {
    const SPEC: Spec = Spec::post("storefront.connect", "/v1/storefront/connect", needs(Permission::EmailRead))
        .also_at(&["/v1/shopify/connect", "/v1/woocommerce/connect"])
        .summary("Connect a store to a project")
        .about(
            "With keys, tests them with the store, stores them encrypted, and starts the import; this also needs the permission \
             project:write. Keys replace those of a store that is already connected to the project. Without keys, connects a store that is \
             already connected to another project of the account, with the same keys. An app in Shopify needs the scope read_products; \
             with read_orders, orders become customer events, and with read_customers, customers are imported.",
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
                "Entering a store's keys requires the permission project:write.",
            ));
        }
        let reading = move |tx: &ReadTx| {
            projects::require(tx, account, project)?;
            Ok::<_, Failure>(store::all(tx, account)?)
        };
        let known = context.read(reading).await?;
        let (keys, address, stored) = match keys {
            Some(given) => {
                let address = match given.platform() {
                    Storefront::Shopify => address::of_shopify(&url)?,
                    Storefront::WooCommerce => address::of_site(&context.engine, &url)?,
                };
                (given, address, None)
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
                if keys.is_installed() {
                    let detail = format!(
                        "\"{}\" is connected to another brand through an installed app, which can serve only one brand. To connect it here \
                         too, enter the client ID and secret of a separate app at {page}.",
                        chosen.name
                    );
                    return Err(Failure::because(Code::ProviderNotConnected, detail).with(json!({ "connectUrl": page })));
                }
                // Each connection has its own webhook URL and, for WooCommerce, its own webhook secret.
                keys.url_token.clear();
                if chosen.platform == Storefront::WooCommerce {
                    keys.signing_secret.clear();
                }
                (keys, chosen.address.clone(), Some(chosen))
            }
        };
        let (platform, field) = (keys.platform(), keys.field());
        let New { keys, shop } = test(&context, keys, &address).await.map_err(|error| match (&stored, error.rejection()) {
            // The request contains no keys, so the error must not name the fields for keys.
            (Some(chosen), Some(reason)) => {
                reconnect(chosen, &reason, &connect_url(&context.engine, context.caller.environment()))
            }
            _ => error.of_entered(platform, field),
        })?;
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
        (Some(_), Some(_), ..) => missing("accessToken", "enter either a client ID or an access token, not both"),
        (Some(_), _, None, None, None) | (_, Some(_), None, None, None) => {
            missing("apiSecret", "enter the app's secret too; Shopify signs webhooks with it")
        }
        (None, None, Some(_), None, None) => missing("clientId", "enter the app's client ID or access token too"),
        (None, None, None, Some(_), None) => missing("consumerSecret", "enter the consumer secret too"),
        (None, None, None, None, Some(_)) => missing("consumerKey", "enter the consumer key too"),
        (_, _, _, Some(_), _) => missing("consumerKey", "enter the keys of either Shopify or WooCommerce, not both"),
        _ => missing("consumerSecret", "enter the keys of either Shopify or WooCommerce, not both"),
    }
}

/// Returns the connected store whose keys are used for a request without keys: the store in `connectionId`; otherwise, the project's own
/// store; otherwise, the only store with this URL.
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
            let absent = Failure::because(Code::NotFound, "No connection to this store has this ID.").in_field("connectionId");
            return Err(absent.see("storefront.list", "GET /v1/storefront/stores lists the connected stores"));
        }
        1 => usable.swap_remove(0),
        many => {
            let detail = format!(
                "This store is connected to {many} other brands; set connectionId to one of the IDs in data.connections."
            );
            let shown: Vec<_> = usable.iter().map(|found| json!({ "id": found.id, "name": found.name })).collect();
            let several = Failure::because(Code::IntegrationAccountRequired, detail).with(json!({ "connections": shown }));
            return Err(several.see("storefront.list", "GET /v1/storefront/stores lists the connected stores"));
        }
    };
    match &chosen.rejected {
        Some(reason) => Err(reconnect(&chosen, reason, page)),
        None => Ok(chosen),
    }
}

fn reconnect(chosen: &Store, reason: &str, page: &str) -> Failure {
    let Store { platform, name, .. } = chosen;
    let detail =
        format!("The saved keys of the {platform} store \"{name}\" no longer work ({reason}). Enter new keys at {page}.");
    Failure::because(Code::ProviderReconnectRequired, detail).with(json!({ "connectUrl": page, "connectionId": chosen.id }))
}

fn shown(context: &Context, of: &Store) -> Result<Done<StorefrontConnection>, Failure> {
    let sync = store::sync(&context.data().store.read(), (of.account, of.id))?;
    Ok(Done(StorefrontConnection::of(of, &sync.unwrap_or_else(|| Sync::new(of.created_at)))))
}
