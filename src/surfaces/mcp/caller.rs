//! The caller of a request. The transport attaches it to the request.

use std::sync::Arc;

use crate::engine::access::keys::ApiKey;
use crate::engine::api::http_types::Peer;

/// The caller of a request, as the transport has authenticated it.
#[derive(Clone)]
pub struct ToolCaller {
    pub key: Arc<ApiKey>,
    pub peer: Peer,
}
