//! Completes the app's installation on a shop: exchanges the code for tokens, and connects the shop.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::clock::Timestamp;
use crate::base::secret::Secret;
use crate::engine::api::{Async, Context, Created, Failure, Operation, Spec, needs};
use crate::engine::store::{ReadTx, WriteTx};
use crate::features::connections::{PlatformError, oauth};
use crate::features::projects;
use crate::features::storefront::connecting::{New, keep, test};
use crate::features::storefront::install::{self, Install, Returned};
use crate::features::storefront::model::{Store, Sync};
use crate::features::storefront::views::StorefrontConnection;
use crate::features::storefront::{keys, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Complete;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CompleteInstall {
    /// The complete, unchanged query of the URL to which Shopify redirected the user. Shopify signs the parameters in the query.
    #[schemars(length(min = 1, max = limits::STORE_INSTALL_QUERY_BYTES_MAX))]
    pub query: Secret,
}

impl Operation for Complete {
    const SPEC: Spec = Spec::post("storefront.complete", "/v1/storefront/complete", needs(Permission::ProjectWrite))
        .summary("Complete the installation of the app on a Shopify store")
        .about(
            "Checks Shopify's signature (hmac) and the state, exchanges the code for an offline token, stores it encrypted, and starts the \
             import. Only the session that started the installation can complete it, within ten minutes. A second call returns the \
             connected store. The dashboard calls this operation when the user returns.",
        )
        .fails(&[Code::NotFound, Code::LimitReached, Code::ProviderUnavailable]);
    type Input = CompleteInstall;
    type Output = Created<StorefrontConnection>;

    fn example() -> (Value, Self::Output) {
        let query = "code=0907a61c&hmac=700e2dad&shop=acme.myshopify.com&state=5d414";
        (json!({ "query": query }), Created(StorefrontConnection::sample()))
    }
}

impl Async for Complete {
    async fn run(context: Context, input: CompleteInstall) -> Result<Self::Output, Failure> {
        let session = oauth::session(&context.caller, install::CONNECT_WITH_TOKEN)?;
        let (engine, environment, account) = (context.engine.clone(), context.caller.environment(), context.caller.account());
        let (Returned { code, shop, state }, app) = install::returned(&engine.settings.connections, input.query.expose())?;
        let started = Install::of_state(&engine, environment, &state);
        let Some(started) = started.filter(|started| started.session == session && started.shop == shop) else {
            let reason =
                "this installation expired, or was started in another session or for another store; connect the store again";
            return Err(Failure::field("query", reason));
        };
        let Install { project, customers, expires_at, .. } = started;
        let since = expires_at.plus_ms(-limits::PROVIDER_SIGN_IN_MS);
        if let Some(made) = completed(&context, project, &shop, since).await? {
            return Ok(Created(made));
        }
        let seal = engine.clone();
        let (mine, there) = (shop.clone(), project);
        let checking = move |tx: &ReadTx| {
            projects::require(tx, account, there)?;
            let is_taken = |known: &Store| {
                known.address == mine
                    && known.project != there
                    && keys::open(&seal.seal, known).is_some_and(|keys| keys.is_installed())
            };
            Ok::<_, Failure>(store::all(tx, account)?.into_iter().find(is_taken))
        };
        if let Some(taken) = context.read(checking).await? {
            let reason = format!("\"{}\" is connected to another brand; disconnect it there first", taken.name);
            return Err(Failure::field("query", reason));
        }
        let keys = install::exchange(&engine, &app, &shop, &code).await.map_err(refused)?;
        let (platform, field) = (keys.platform(), keys.field());
        let New { keys, shop } = test(&context, keys, &shop).await.map_err(|error| error.of_entered(platform, field))?;
        let engine = context.engine.clone();
        let write = move |tx: &mut WriteTx<'_>| {
            projects::require(tx, account, project)?;
            keep(tx, &engine.seal, environment, (account, project), (keys, shop, customers))
        };
        let (made, sync) = context.write(&Self::SPEC, write).await?;
        Ok(Created(StorefrontConnection::of(&made, &sync)))
    }
}

/// Returns the store if the installation that started at `since` has been completed. Shopify accepts a code only once, so a second call,
/// for example after a lost response, cannot exchange it again.
async fn completed(
    context: &Context,
    project: ProjectId,
    shop: &str,
    since: Timestamp,
) -> Result<Option<StorefrontConnection>, Failure> {
    let (account, engine, shop) = (context.caller.account(), context.engine.clone(), shop.to_owned());
    let reading = move |tx: &ReadTx| {
        projects::require(tx, account, project)?;
        let is_it = |known: &Store| {
            let is_usable = known.rejected.is_none() && known.connected_at >= since;
            let is_own = known.project == project && known.address == shop;
            is_usable && is_own && keys::open(&engine.seal, known).is_some_and(|keys| keys.is_installed())
        };
        let Some(made) = store::all(tx, account)?.into_iter().find(is_it) else { return Ok::<_, Failure>(None) };
        let sync = store::sync(tx, (account, made.id))?.unwrap_or_else(|| Sync::new(made.created_at));
        Ok(Some(StorefrontConnection::of(&made, &sync)))
    };
    context.read(reading).await
}

/// Converts an error of the code exchange into a failure of the request.
fn refused(error: PlatformError) -> Failure {
    match error {
        PlatformError::Rejected(said) | PlatformError::Forbidden(said) => {
            Failure::field("query", format_args!("Shopify rejected the installation ({said}); connect the store again"))
        }
        PlatformError::Missing => Failure::field("query", "there is no Shopify store with this domain; connect the store again"),
        other => {
            let detail = format!("The store could not be connected, and nothing was stored. Shopify: {other}");
            Failure::because(Code::ProviderUnavailable, detail).after_seconds(60)
        }
    }
}
