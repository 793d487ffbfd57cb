//! The caller of an MCP request. The transport attaches the caller to the request.

use std::sync::Arc;

use crate::engine::access::keys::ApiKey;
use crate::engine::api::http_types::Peer;

/// The caller of a request: its authenticated key and its network address.
#[derive(Clone)]
pub struct ToolCaller {
    pub key: Arc<ApiKey>,
    pub peer: Peer,
}
