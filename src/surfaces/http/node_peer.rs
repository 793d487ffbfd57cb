//! The header in which a node names the client of a forwarded request. On the listener for nodes, only nodes can send it.

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::engine::api::http_types::Peer;

const HEADER: HeaderName = HeaderName::from_static("x-mailmill-node-peer");
const OPERATOR: &str = "operator";

/// Sets the header that names the client of a forwarded request. It replaces a header of the same name that the client sent.
pub fn write(headers: &mut HeaderMap, peer: Peer) {
    let text = match peer {
        Peer::Operator => OPERATOR.to_owned(),
        Peer::Network { address, tls } => format!("{address} {}", if tls { "tls" } else { "plain" }),
    };
    headers.insert(HEADER, HeaderValue::from_str(&text).expect("an address is ASCII"));
}

/// Returns whether the request has the header that marks forwarded requests. A client that forges the header only prevents its own request
/// from being forwarded.
pub fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.contains_key(HEADER)
}

/// Returns the client that a forwarded request names. If it names none, returns the forwarding node.
pub fn read(headers: &HeaderMap, node: Peer) -> Peer {
    let text = headers.get(HEADER).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if text == OPERATOR {
        return Peer::Operator;
    }
    let Some((address, protocol)) = text.split_once(' ') else { return node };
    address.parse().map_or(node, |address| Peer::Network { address, tls: protocol == "tls" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_is_that_of_the_forwarding_node_and_never_what_the_client_claims() {
        let node = Peer::Network { address: [10, 0, 0, 2].into(), tls: true };
        let mut headers = HeaderMap::new();
        assert_eq!(read(&headers, node), node);
        headers.insert(HEADER, HeaderValue::from_static(OPERATOR));
        for peer in [Peer::Network { address: [192, 0, 2, 7].into(), tls: false }, Peer::Operator] {
            write(&mut headers, peer);
            assert_eq!(read(&headers, node), peer);
            assert_eq!(headers.len(), 1);
        }
        headers.insert(HEADER, HeaderValue::from_static("nonsense tls"));
        assert_eq!(read(&headers, node), node);
    }
}
