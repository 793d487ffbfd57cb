//! Chooses the connection for a request, and converts errors from platforms into failures.

use serde_json::json;

use super::client::Client;
use super::credentials::open;
use super::error::PlatformError;
use super::model::Connection;
use super::views::{ConnectionView, connection_view};
use super::{oauth, store};
use crate::base::clock::Timestamp;
use crate::engine::api::{Context, Engine, Failure};
use crate::engine::store::Read;
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, ConnectionId, ProjectId};
use crate::vocab::providers::{ConnectionUse, Provider};

/// The error codes of the operations that send requests through a connection.
pub const FAILURES: [Code; 5] = [
    Code::NotFound,
    Code::IntegrationAccountRequired,
    Code::ProviderNotConnected,
    Code::ProviderReconnectRequired,
    Code::ProviderUnavailable,
];

/// The part of a request that selects a connection.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionChoice {
    pub account: AccountId,
    pub provider: Provider,
    pub project: ProjectId,
    /// The connection to use; required if several connections fit the request.
    pub connection: Option<ConnectionId>,
    /// What the request uses the connection for.
    pub purpose: ConnectionUse,
}

/// Returns the connection that a request uses. `page` is the URL of the page on which users connect accounts.
pub fn choose(tx: &impl Read, choice: ConnectionChoice, page: &str) -> Result<Connection, Failure> {
    let ConnectionChoice { account, provider, project, connection, purpose } = choice;
    let is_usable = |connection: &Connection| connection.provider == provider && connection.serves(Some(project));
    let mut usable = store::all(tx, account)?;
    usable.retain(is_usable);
    if usable.is_empty() {
        let detail = format!("This brand has no connection to {provider}. Connect an account at {page}.");
        return Err(Failure::because(Code::ProviderNotConnected, detail).with(json!({ "connectUrl": page })));
    }
    if let Some(id) = connection {
        usable.retain(|connection| connection.id == id);
        if usable.is_empty() {
            let detail = format!("This brand has no connection to {provider} with this ID.");
            let absent = Failure::because(Code::NotFound, detail).in_field("connectionId");
            return Err(absent.see("connections.list", "GET /v1/connections lists the connections"));
        }
    }
    // Leave out connections that do not allow the requested use, so that they do not make the choice ambiguous.
    if usable.iter().any(|connection| connection.may(purpose)) {
        usable.retain(|connection| connection.may(purpose));
    }
    let chosen = match usable.len() {
        1 => usable.remove(0),
        many => {
            let detail = format!(
                "This brand can use {many} connections to {provider}; set connectionId to one of the IDs in data.connections."
            );
            let shown: Vec<_> = usable.iter().map(|found| json!({ "id": found.id, "name": found.name })).collect();
            let several = Failure::because(Code::IntegrationAccountRequired, detail).with(json!({ "connections": shown }));
            return Err(several.see("connections.list", "GET /v1/connections lists the connections"));
        }
    };
    match &chosen.rejected {
        Some(reason) => Err(reconnect(&chosen, reason, page)),
        None if !chosen.may(purpose) => Err(not_allowed(&chosen, purpose, page)),
        None => Ok(chosen),
    }
}

/// Returns the error for a connection that is not allowed to do what the request requires.
fn not_allowed(connection: &Connection, purpose: ConnectionUse, page: &str) -> Failure {
    let (Connection { provider, name, .. }, word) = (connection, purpose.word());
    let what = match purpose {
        ConnectionUse::Imports => "import contacts",
        ConnectionUse::Exports => "export emails",
    };
    let detail = format!(
        "The connection \"{name}\" to {provider} does not have permission to {what}. Reconnect the account at {page} and allow {word}."
    );
    let scopes: Vec<&str> = oauth::scopes(*provider, &[purpose]).into_iter().map(|(scope, _)| scope).collect();
    let data = json!({ "connectUrl": page, "connectionId": connection.id, "missingUse": word, "scopes": scopes });
    Failure::because(Code::ProviderReconnectRequired, detail).in_field("connectionId").with(data)
}

/// Returns the connections that a brand can use or, without a brand, all connections of the account.
pub fn usable(
    tx: &impl Read,
    account: AccountId,
    project: Option<ProjectId>,
    now: Timestamp,
) -> Result<Vec<ConnectionView>, Failure> {
    let all = store::all(tx, account)?;
    Ok(all.iter().filter(|connection| connection.serves(project)).map(|connection| connection_view(connection, now)).collect())
}

/// Returns the error for an operation whose connection must be reconnected.
pub fn reconnect(connection: &Connection, reason: &str, page: &str) -> Failure {
    let Connection { provider, name, .. } = connection;
    let detail = format!(
        "The saved credentials of the {provider} connection \"{name}\" no longer work ({reason}). Reconnect the account at {page}."
    );
    Failure::because(Code::ProviderReconnectRequired, detail).with(json!({ "connectUrl": page, "connectionId": connection.id }))
}

/// Returns the URL of the page on which users connect accounts of a provider.
pub fn connect_url(engine: &Engine, environment: Environment, provider: Provider) -> String {
    format!("{}/{environment}/settings/connections?provider={}", engine.base_url(), provider.alias())
}

/// Returns a client with the credentials of a connection. Tokens that expire soon are refreshed, which changes the connection.
pub async fn client<'e>(
    engine: &'e Engine,
    environment: Environment,
    used: &mut Connection,
) -> Result<Client<'e>, PlatformError> {
    oauth::refresh_if_needed(engine, environment, used).await?;
    let credentials = open(&engine.seal, used).ok_or(PlatformError::KeyLost)?;
    Client::new(engine, used.provider, &credentials)
        .map(|client| client.of_account(&used.external_id))
        .map_err(|reason| PlatformError::Unreachable(format!("The request to the platform cannot be sent: {reason}.")))
}

/// If the platform rejected the access token before its expiry, refreshes the token. Returns whether the connection now has a different
/// token, so that the failed request can be retried. If the refresh fails, replaces `error` with the error of the refresh.
pub async fn renewed(engine: &Engine, environment: Environment, used: &mut Connection, error: &mut PlatformError) -> bool {
    // If the connection is already marked as rejected, do not refresh its token again with every request.
    if !matches!(error, PlatformError::Rejected(_)) || used.rejected.is_some() {
        return false;
    }
    match oauth::refresh_rejected(engine, environment, used).await {
        Ok(is_new) => is_new,
        Err(refused) => {
            *error = refused;
            false
        }
    }
}

/// If the error shows that the connection must be reconnected or that the platform asked for a pause, records this in the connection.
pub async fn note(engine: &Engine, environment: Environment, used: &Connection, error: &PlatformError) -> Result<(), Failure> {
    let (used, data) = (used.clone(), engine.data(environment));
    if let Some(reason) = error.rejection() {
        data.store.write(move |tx| store::reject(tx, &used, &reason)).await??;
    } else if let PlatformError::Busy { until, .. } = *error {
        data.store.write(move |tx| store::limit(tx, &used, until)).await??;
    }
    Ok(())
}

/// Converts an error from a platform into an operation's failure. If the error affects the connection, records this in the connection.
pub async fn failure(context: &Context, used: &Connection, error: PlatformError) -> Failure {
    let (engine, environment) = (&context.engine, context.caller.environment());
    if let Err(failure) = note(engine, environment, used, &error).await {
        return failure;
    }
    if let Some(reason) = error.rejection() {
        return reconnect(used, &reason, &connect_url(engine, environment, used.provider));
    }
    let detail = format!("{}: {error}", used.provider);
    match error {
        PlatformError::Missing => Failure::because(Code::NotFound, detail),
        PlatformError::Busy { ms, .. } => {
            Failure::because(Code::ProviderUnavailable, detail).after_seconds(ms.div_ceil(1000).max(1))
        }
        _ => Failure::because(Code::ProviderUnavailable, detail).after_seconds(60),
    }
}
