//! Connections and sources as the API returns them.

use schemars::JsonSchema;
use serde::Serialize;

use super::model::Connection;
use super::platform::Source;
use crate::base::clock::Timestamp;
use crate::engine::api::response::WireTime;
use crate::vocab::ids::{ConnectionId, ProjectId};
use crate::vocab::providers::{ConnectionUse, Provider, SourceKind};

/// A connected account on another platform. Its credentials are never returned.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConnectionView {
    pub id: ConnectionId,
    pub provider: Provider,
    /// The platform's name for display.
    #[schemars(extend("enum" = ["Klaviyo", "Mailchimp", "HubSpot"]))]
    pub provider_name: &'static str,
    /// The connection's name: the name that a user gave it or, by default, the account's name on the platform.
    pub name: String,
    /// The connected account's ID on the platform.
    pub external_id: String,
    /// The connected account's name on the platform.
    pub external_name: String,
    /// The only project that can use the connection; absent if every project of the account can.
    pub project_id: Option<ProjectId>,
    /// `key` for an API key; `oauth` if the user signed in to the platform.
    #[schemars(extend("enum" = ["key", "oauth"]))]
    pub method: &'static str,
    /// What the connection may do: what the user allowed at sign-in or, for a key, imports and exports, even if the key's scopes do not
    /// allow both.
    pub uses: Vec<ConnectionUse>,
    /// `reconnect_required` if the credentials cannot be used; `rate_limited` until `rateLimitedUntil`; otherwise `connected`.
    #[schemars(extend("enum" = ["connected", "reconnect_required", "rate_limited"]))]
    pub status: &'static str,
    /// Why the connection must be reconnected: the platform's own message, or a note that the credentials cannot be decrypted.
    pub error: Option<String>,
    /// When the platform accepts requests again.
    pub rate_limited_until: Option<WireTime>,
    pub created_at: WireTime,
    /// When the account was connected or last reconnected.
    pub connected_at: WireTime,
}

pub fn connection_view(connection: &Connection, now: Timestamp) -> ConnectionView {
    let limited = connection.pause_at(now).filter(|_| connection.rejected.is_none());
    ConnectionView {
        id: connection.id,
        provider: connection.provider,
        provider_name: connection.provider.label(),
        name: connection.name.clone(),
        external_id: connection.external_id.clone(),
        external_name: connection.external_name.clone(),
        project_id: connection.project,
        method: if connection.is_oauth { "oauth" } else { "key" },
        uses: connection.uses.clone(),
        status: match (&connection.rejected, limited) {
            (Some(_), _) => "reconnect_required",
            (None, Some(_)) => "rate_limited",
            (None, None) => "connected",
        },
        error: connection.rejected.clone(),
        rate_limited_until: limited.map(WireTime),
        created_at: WireTime(connection.created_at),
        connected_at: WireTime(connection.connected_at),
    }
}

impl ConnectionView {
    pub fn sample() -> Self {
        Self {
            id: ConnectionId::parse("66f1a2b3d4e5f60718293a60").expect("the ID has 24 hexadecimal characters"),
            provider: Provider::Klaviyo,
            provider_name: Provider::Klaviyo.label(),
            name: "Acme shop".into(),
            external_id: "XyZ123".into(),
            external_name: "Acme".into(),
            project_id: None,
            method: "key",
            uses: ConnectionUse::ALL.into(),
            status: "connected",
            error: None,
            rate_limited_until: None,
            created_at: WireTime::sample(),
            connected_at: WireTime::sample(),
        }
    }
}

/// A set of contacts that can be imported from a platform.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourceView {
    /// The source's ID on the platform. Pass it unchanged to the import.
    pub id: String,
    #[serde(rename = "type")]
    pub kind: SourceKind,
    pub name: String,
    /// The number of contacts, if the platform states it.
    pub count: Option<u64>,
}

impl From<Source> for SourceView {
    fn from(source: Source) -> Self {
        let Source { id, kind, name, count } = source;
        Self { id, kind, name, count }
    }
}

impl SourceView {
    pub fn sample() -> Self {
        Self { id: "Y6nRLr".into(), kind: SourceKind::List, name: "Newsletter".into(), count: None }
    }
}
