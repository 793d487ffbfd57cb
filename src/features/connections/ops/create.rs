//! Connects an account on another platform, or reconnects it with a new key.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::secret::Secret;
use crate::base::text::Name;
use crate::engine::api::{Async, Context, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::{ReadTx, WriteTx};
use crate::features::connections::client::Client;
use crate::features::connections::credentials::{Credentials, seal};
use crate::features::connections::error::PlatformError;
use crate::features::connections::model::Connection;
use crate::features::connections::platform::{self, ExternalAccount};
use crate::features::connections::store;
use crate::features::connections::views::{ConnectionView, connection_view};
use crate::features::contacts::jobs::provider::resume;
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, ConnectionId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::providers::{ConnectionUse, Provider};

pub struct Create;

/// The account to connect.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewConnection {
    pub provider: Provider,
    /// The account's private API key: for Klaviyo a key that starts with pk_, for Mailchimp a key that ends with its data center, for
    /// HubSpot the access token of a private app. It is stored encrypted and never shown again.
    #[schemars(length(min = 1, max = limits::CONNECTION_KEY_CHARACTERS_MAX))]
    pub api_key: Secret,
    /// A name for the connection. If absent, a connection to reconnect keeps its name, and a new connection gets the account's name on the
    /// platform.
    pub name: Option<Name<{ limits::CONNECTION_NAME_CHARACTERS_MAX }>>,
    /// The only project that can use the connection. If absent, every project of the account can.
    pub project_id: Option<ProjectId>,
    /// The connection to reconnect. The key must belong to the same account. The connection's project does not change.
    pub connection_id: Option<ConnectionId>,
}

impl Operation for Create {
    const SPEC: Spec = Spec::post("connections.create", "/v1/connections/{provider}", needs(Permission::ProjectWrite))
        .summary("Connect an account on another platform")
        .about(
            "Tests the key with the platform before it is stored. If the account is already connected for the same project, or if \
             connectionId names its connection, the operation replaces the key and resumes imports that are waiting for the \
             connection. The key needs only these scopes: for Klaviyo `accounts:read`, `lists:read`, `segments:read` and \
             `profiles:read`; for HubSpot `crm.lists.read`, `crm.objects.contacts.read` and \
             `communication_preferences.statuses.batch.read`. For exports, also: for Klaviyo `templates:read`, `templates:write`, \
             `images:read` and `images:write`; for HubSpot `content` and `files`.",
        )
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::LimitReached, Code::ProviderUnavailable]);
    type Input = NewConnection;
    type Output = Created<ConnectionView>;

    fn example() -> (Value, Self::Output) {
        let connection = ConnectionView::sample();
        (json!({ "provider": "platform_a", "apiKey": "pk_0123456789", "name": connection.name }), Created(connection))
    }
}

impl Async for Create {
    async fn run(context: Context, input: NewConnection) -> Result<Self::Output, Failure> {
        let NewConnection { provider, api_key, name, project_id: project, connection_id: connection } = input;
        let account = NewAccount { provider, project, connection, name: name.map(|name| name.to_string()) };
        let account = account.checked(&context).await?;
        let text = api_key.expose().trim();
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
        if text.is_empty() || text.len() > limits::CONNECTION_KEY_CHARACTERS_MAX || !is_plain {
            return Err(Failure::field("apiKey", "enter the key exactly as the platform shows it, without spaces"));
        }
        let credentials = Credentials::Key(Secret::new(text.to_owned()));
        let access = Access { credentials, uses: ConnectionUse::ALL.into(), sign_in: None };
        connect(&context, &Self::SPEC, account, access).await.map(Created)
    }
}

/// The account to connect or to reconnect.
pub struct NewAccount {
    pub provider: Provider,
    pub project: Option<ProjectId>,
    /// The connection to reconnect; `None` to connect a new account.
    pub connection: Option<ConnectionId>,
    pub name: Option<String>,
}

/// A request to connect an account, after the project and the connection to reconnect have been checked.
pub struct CheckedAccount {
    new: NewAccount,
    /// The connection to reconnect; `None` to connect a new account.
    pub known: Option<Connection>,
}

/// The credentials of an account and what they allow. For tokens, also the digest of the sign-in's state.
pub struct Access {
    pub credentials: Credentials,
    pub uses: Vec<ConnectionUse>,
    pub sign_in: Option<[u8; 16]>,
}

impl NewAccount {
    /// Checks that the project and the connection to reconnect exist and belong together.
    pub async fn checked(mut self, context: &Context) -> Result<CheckedAccount, Failure> {
        let (account, provider) = (context.caller.account(), self.provider);
        let (given, reconnected) = (self.project, self.connection);
        let reading = move |tx: &ReadTx| {
            given.map_or(Ok(()), |project| projects::require(tx, account, project))?;
            reconnected.map(|id| reconnectable(tx, account, provider, id)).transpose()
        };
        let known = context.read(reading).await?;
        self.project = known.as_ref().map_or(given, |known| known.project);
        if given.is_some() && given != self.project {
            return Err(Failure::field("projectId", "must be the project of the connection; correct or omit this field"));
        }
        Ok(CheckedAccount { new: self, known })
    }
}

/// Tests the credentials of an account and stores them.
pub async fn connect(
    context: &Context,
    spec: &'static Spec,
    CheckedAccount { new, known }: CheckedAccount,
    Access { credentials, uses, sign_in }: Access,
) -> Result<ConnectionView, Failure> {
    let (engine, account) = (context.engine.clone(), context.caller.account());
    let NewAccount { provider, project, connection: reconnected, name: named } = new;
    let is_oauth = matches!(credentials, Credentials::Tokens(_));
    let field = if is_oauth { "code" } else { "apiKey" };
    let client = Client::new(&engine, provider, &credentials).map_err(|reason| Failure::field(field, reason))?;
    let external = platform::account(provider, &client).await.map_err(|error| untested(provider, field, error))?;
    if let Some(known) = known.filter(|known| known.external_id != external.id) {
        let (found, wanted) = (&external.name, &known.external_name);
        let reason = match is_oauth {
            true => format!("this sign-in belongs to the account \"{found}\"; sign in to the account \"{wanted}\" instead"),
            false => format!("this key belongs to the account \"{found}\"; use a key for the account \"{wanted}\""),
        };
        return Err(Failure::field(field, reason));
    }
    client.forget_pause();
    client.of_account(&external.id).forget_pause();
    let now = context.now();
    let write = move |tx: &mut WriteTx<'_>| {
        let new = New { account, provider, project, named, external, is_oauth, uses, sign_in };
        let known = new.matching(tx)?.map(|known| known.id);
        if reconnected.is_some() && known != reconnected {
            return Err(absent());
        }
        let id = known.unwrap_or_else(|| ConnectionId::make(tx.now(), tx.random()));
        let sealed = seal(&engine.seal, (account, id), &credentials, tx.random());
        keep(tx, new, id, sealed)
    };
    let made = context.write(spec, write).await?;
    Ok(connection_view(&made, now))
}

/// Returns the provider's connection to reconnect.
fn reconnectable(tx: &ReadTx, account: AccountId, provider: Provider, id: ConnectionId) -> Result<Connection, Failure> {
    store::find(tx, account, id)?.filter(|known| known.provider == provider).ok_or_else(absent)
}

fn absent() -> Failure {
    Failure::because(Code::NotFound, "The account has no connection with this ID for this provider.")
        .in_field("connectionId")
        .see("connections.list", "GET /v1/connections lists the connections")
}

/// A connection whose credentials the platform accepted.
struct New {
    account: AccountId,
    provider: Provider,
    project: Option<ProjectId>,
    named: Option<String>,
    external: ExternalAccount,
    is_oauth: bool,
    uses: Vec<ConnectionUse>,
    sign_in: Option<[u8; 16]>,
}

impl New {
    /// Returns the existing connection to the same account on the platform for the same project.
    fn matching(&self, tx: &WriteTx<'_>) -> Result<Option<Connection>, Failure> {
        let is_same = |known: &Connection| {
            known.provider == self.provider && known.external_id == self.external.id && known.project == self.project
        };
        Ok(store::all(tx, self.account)?.into_iter().find(is_same))
    }
}

fn keep(tx: &mut WriteTx<'_>, new: New, id: ConnectionId, sealed_key: Vec<u8>) -> Result<Connection, Failure> {
    if let Some(project) = new.project {
        projects::require(tx, new.account, project)?;
    }
    let known = new.matching(tx)?;
    if known.is_none() && store::all(tx, new.account)?.len() >= limits::CONNECTIONS_MAX {
        let detail = format!("An account can have at most {} connections. Remove a connection first.", limits::CONNECTIONS_MAX);
        return Err(Failure::because(Code::LimitReached, detail));
    }
    let New { account, provider, project, named, external, is_oauth, uses, sign_in } = new;
    let ExternalAccount { id: external_id, name } = external;
    let external_name = if name.trim().is_empty() { provider.label().to_owned() } else { name };
    let shown = |text: &str| text.chars().take(limits::CONNECTION_NAME_CHARACTERS_MAX).collect::<String>();
    let name = named.or_else(|| known.as_ref().map(|known| known.name.clone())).unwrap_or_else(|| shown(&external_name));
    let connection = Connection {
        id,
        account,
        provider,
        name,
        external_id,
        external_name: shown(&external_name),
        project,
        sealed_key,
        is_oauth,
        uses,
        sign_in,
        rejected: None,
        paused_until: None,
        created_at: known.map_or(tx.now(), |known| known.created_at),
        connected_at: tx.now(),
    };
    store::save(tx, &connection);
    resume(tx, id)?;
    Ok(connection)
}

/// Returns the error for credentials that the platform rejected or that could not be tested.
pub fn untested(provider: Provider, field: &str, error: PlatformError) -> Failure {
    match &error {
        PlatformError::Rejected(said) | PlatformError::Forbidden(said) => {
            let scopes: Vec<&str> = platform::scopes(provider).iter().map(|(scope, _)| *scope).collect();
            let needs = if scopes.is_empty() { String::new() } else { format!("; it needs the scopes {}", scopes.join(", ")) };
            if field == "code" {
                return Failure::field(
                    field,
                    format_args!("the sign-in to {provider} failed ({said}); connect the account again, and allow access"),
                );
            }
            Failure::field(field, format_args!("{provider} rejected this key ({said}); check the key{needs}"))
        }
        PlatformError::Busy { ms, .. } => {
            let detail = format!(
                "{provider} is down or is rate limiting this account, so the account could not be connected. Try again later."
            );
            Failure::because(Code::ProviderUnavailable, detail).after_seconds(ms.div_ceil(1000).max(1))
        }
        _ => {
            let detail = format!("The account could not be connected, and nothing was stored. {provider}: {error}");
            Failure::because(Code::ProviderUnavailable, detail).after_seconds(60)
        }
    }
}
