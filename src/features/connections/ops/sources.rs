//! Lists the sets of contacts in a connected account that can be imported.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::features::connections::choice::{self, ConnectionChoice, FAILURES, choose, connect_url};
use crate::features::connections::error::PlatformError;
use crate::features::connections::model::Connection;
use crate::features::connections::platform::{self, Source};
use crate::features::connections::views::SourceView;
use crate::features::projects;
use crate::vocab::ids::{ConnectionId, ProjectId};
use crate::vocab::permissions::Permission;
use crate::vocab::providers::{ConnectionUse, Provider};
use crate::vocab::rates::RouteGroup;

pub struct Sources;

/// The account whose sources to list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListSources {
    pub provider: Provider,
    /// The project into which the contacts would be imported.
    pub project_id: ProjectId,
    /// The connection to use. Required if the brand can use several connections to the provider.
    pub connection_id: Option<ConnectionId>,
}

/// The sources of a connected account.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ImportSources {
    /// At most a thousand sources, in the platform's order. For Klaviyo and HubSpot, the first source contains the suppressed contacts, who
    /// unsubscribed or bounced.
    pub sources: Vec<SourceView>,
}

impl Operation for Sources {
    const SPEC: Spec = Spec::get(
        "connections.sources",
        "/v1/contacts/imports/providers/{provider}/sources",
        needs(Permission::AudienceRead),
    )
    .summary("List the import sources of a platform")
    .about("Returns the lists, segments, tags and audiences of the connected account, with their sizes if the platform reports them.")
    .rate(RouteGroup::Imports)
    .fails(&FAILURES);
    type Input = ListSources;
    type Output = Done<ImportSources>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "provider": "platform_a", "projectId": "66f1a2b3d4e5f60718293a4b" });
        (input, Done(ImportSources { sources: vec![SourceView::sample()] }))
    }
}

impl Async for Sources {
    async fn run(context: Context, input: ListSources) -> Result<Self::Output, Failure> {
        let (account, environment) = (context.caller.account(), context.caller.environment());
        let ListSources { provider, project_id: project, connection_id: connection } = input;
        let page = connect_url(&context.engine, environment, provider);
        let choosing = move |tx: &crate::engine::store::ReadTx| {
            projects::require(tx, account, project)?;
            choose(tx, ConnectionChoice { account, provider, project, connection, purpose: ConnectionUse::Imports }, &page)
        };
        let mut used = context.read(choosing).await?;
        let mut listed = list(&context, &mut used).await;
        if let Err(error) = &mut listed
            && choice::renewed(&context.engine, environment, &mut used, error).await
        {
            listed = list(&context, &mut used).await;
        }
        match listed {
            Ok(sources) => Ok(Done(ImportSources { sources: sources.into_iter().map(SourceView::from).collect() })),
            Err(error) => Err(choice::failure(&context, &used, error).await),
        }
    }
}

async fn list(context: &Context, used: &mut Connection) -> Result<Vec<Source>, PlatformError> {
    let client = choice::client(&context.engine, context.caller.environment(), used).await?;
    platform::sources(used.provider, &client).await
}
