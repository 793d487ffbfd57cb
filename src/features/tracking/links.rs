//! Parses the links in messages when a client requests them, and records the visits.

use std::net::IpAddr;

use http::HeaderMap;
use http::header::USER_AGENT;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::base::clock::Timestamp;
use crate::engine::access::visit_buffer::Visit;
use crate::engine::api::http_types::Peer;
use crate::engine::api::{Engine, RawRequest};
use crate::features::sending::token::{Token, Tokens};
use crate::vocab::limits;

/// A link in a message.
///
/// Query parameters that other services append (`?fbclid=…`) are ignored.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub struct MessageLink {
    /// The signed token in the link.
    pub token: String,
}

/// Parses a token. Returns `None` if this installation did not sign it.
pub fn read(engine: &Engine, token: &str) -> Option<Token> {
    Tokens::new(&engine.seal).read_link(token)
}

/// The headers with which clients announce a prefetch: `Sec-Purpose`, which the Fetch standard defines, and its predecessors.
const PURPOSES: [&str; 4] = ["sec-purpose", "purpose", "x-purpose", "x-moz"];

fn is_prefetch(headers: &HeaderMap) -> bool {
    let says = |name: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        ["prefetch", "preview", "prerender"].iter().any(|word| value.to_ascii_lowercase().contains(word))
    };
    PURPOSES.iter().any(|name| says(name))
}

/// Records a visit in memory. The visit is written later, so that the response does not wait for the write.
pub fn note(engine: &Engine, token: Token, link: Option<u16>, at: Timestamp, request: &RawRequest) {
    let agent = request.headers.get(USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let agent: String = agent.chars().take(limits::VISIT_AGENT_CHARACTERS_MAX).collect();
    let client = client(request.peer, &agent);
    let visit = Visit {
        mailing: token.mailing,
        recipient: token.number,
        link,
        at,
        agent,
        is_head: request.is_head,
        is_prefetch: is_prefetch(&request.headers),
    };
    engine.data(token.environment).visits.note(visit, &client);
}

/// Returns bytes that identify a client well enough to recognize immediate repeats of a visit.
fn client(peer: Peer, agent: &str) -> Vec<u8> {
    let mut client = match peer {
        Peer::Network { address: IpAddr::V4(address), .. } => address.octets().to_vec(),
        Peer::Network { address: IpAddr::V6(address), .. } => address.octets().to_vec(),
        Peer::Operator => Vec::new(),
    };
    client.extend_from_slice(agent.as_bytes());
    client
}
