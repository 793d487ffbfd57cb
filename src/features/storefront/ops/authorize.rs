//! Starts installing the app on a shop. When the installation completes, the shop is connected to a project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::response::WireTime;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::engine::store::ReadTx;
use crate::features::connections::oauth;
use crate::features::projects;
use crate::features::storefront::install::{self, Install};
use crate::features::storefront::model::CustomerImport;
use crate::features::storefront::{address, scopes};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::storefronts::Storefront;

pub struct Authorize;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BeginInstall {
    /// The ID of the project to which the products and customers are added.
    pub project_id: ProjectId,
    /// The shop's myshopify.com domain.
    #[schemars(length(min = 1, max = limits::STORE_URL_CHARACTERS_MAX))]
    pub storefront_store_url: String,
    /// Which customers are imported. If absent, a store that was connected before keeps its setting, and a new store gets
    /// `subscribed-only`.
    pub customers: Option<CustomerImport>,
}

/// The link to the shop's page for installing the app.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstallPage {
    /// The URL of the shop's installation page. Open it in the signed-in user's browser.
    pub authorize_url: String,
    /// When the link expires. The user must complete the installation before this time.
    pub expires_at: WireTime,
    /// The scopes that the user is asked to grant.
    pub scopes: Vec<InstallScope>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "StoreScope")]
pub struct InstallScope {
    pub scope: &'static str,
    pub purpose: &'static str,
}

impl Operation for Authorize {
    const SPEC: Spec = Spec::post("storefront.authorize", "/v1/storefront/authorize", needs(Permission::ProjectWrite))
        .summary("Start the installation of the app on a Shopify store")
        .about(
            "Returns the URL of the shop's page on which the signed-in user installs this server's Shopify app (OAuth 2, authorization \
             code grant with an offline token). Shopify then sends the user back to Mailmill, which connects the store. Needs a client ID and \
             secret of a Shopify app in the settings; without them, connect the store with its own app or token.",
        )
        .fails(&[Code::NotFound]);
    type Input = BeginInstall;
    type Output = Done<InstallPage>;

    fn example() -> (Value, Self::Output) {
        let page = InstallPage {
            authorize_url: "https://acme.myshopify.com/admin/oauth/authorize?client_id=3b1f0c7e".into(),
            expires_at: WireTime::sample(),
            scopes: vec![InstallScope {
                scope: "read_products",
                purpose: "Import products and collections, and keep them up to date.",
            }],
        };
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "storefrontStoreUrl": "https://acme.myshopify.com" });
        (input, Done(page))
    }
}

impl Async for Authorize {
    async fn run(context: Context, input: BeginInstall) -> Result<Self::Output, Failure> {
        let (engine, environment, account) = (&context.engine, context.caller.environment(), context.caller.account());
        let BeginInstall { project_id: project, storefront_store_url, customers } = input;
        context.read(move |tx: &ReadTx| projects::require(tx, account, project)).await?;
        let session = oauth::session(&context.caller, install::CONNECT_WITH_TOKEN)?;
        let shop = address::of_shopify(&address::parse(&storefront_store_url)?)?;
        let Some(app) = install::app(&engine.settings.connections) else {
            return Err(Failure::field("storefrontStoreUrl", install::NO_APP));
        };
        let expires_at = context.now().plus_ms(limits::PROVIDER_SIGN_IN_MS);
        let started = Install { session, project, shop, customers, expires_at };
        let state = started.to_state(engine, environment);
        let authorize_url = install::authorize_url(engine, &app, &started.shop, &state).map_err(Failure::internal)?;
        let scopes = scopes(Storefront::Shopify).iter().map(|(scope, purpose)| InstallScope { scope, purpose }).collect();
        Ok(Done(InstallPage { authorize_url, expires_at: WireTime(expires_at), scopes }))
    }
}
