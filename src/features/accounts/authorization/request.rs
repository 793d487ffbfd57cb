//! A client's request for a user's consent (OAuth 2.1 §4.1.1): the parameters of the consent page, and their checks.
//!
//! For an invalid request, the user sees an error, and the browser is not redirected: otherwise, an attacker could use this server as an
//! open redirect. The browser returns to the client only with the user's decision.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

use super::clients::{self, Client};
use super::model;
use crate::base::secret::sha256;
use crate::engine::access::access_tokens;
use crate::engine::api::{Engine, Failure};
use crate::features::accounts::agents::model::DEFAULT_SCOPE;
use crate::vocab::limits;
use crate::vocab::permissions::PermissionSet;

/// The parameters with which a client asks for consent.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuthorizationRequest {
    /// Always `code`.
    pub response_type: String,
    /// The ID from the registration, or the URL of the client's metadata document.
    pub client_id: String,
    /// The URI that the browser returns to. Optional if the client has exactly one redirect URI.
    pub redirect_uri: Option<String>,
    /// The requested permissions, separated by spaces. If absent, the client requests permission to read contacts, emails, campaigns,
    /// webhooks and domains.
    pub scope: Option<String>,
    /// A value that is returned to the client with the decision.
    pub state: Option<String>,
    /// The SHA-256 hash of the verifier, in base64url (RFC 7636).
    pub code_challenge: String,
    /// Always `S256`.
    pub code_challenge_method: String,
    /// The URL of the resource to access (RFC 8707), which must be the URL of the MCP server. This URL is also the default.
    pub resource: Option<String>,
}

/// A request that passed all checks.
pub struct CheckedRequest {
    pub client: Client,
    pub redirect_uri: Url,
    /// The redirect URI exactly as the client wrote it. The client must repeat it when it exchanges the code.
    pub given_redirect_uri: String,
    pub requested: PermissionSet,
    pub challenge: [u8; 32],
    pub binding: model::Binding,
    pub state: Option<String>,
}

impl AuthorizationRequest {
    /// Checks the request. Reads the client's metadata document, if its ID is a URL.
    pub async fn check(self, engine: &Engine) -> Result<CheckedRequest, Failure> {
        if self.response_type != "code" {
            return Err(Failure::field("response_type", "must be \"code\"; update the program"));
        }
        if self.code_challenge_method != "S256" {
            return Err(Failure::field("code_challenge_method", "must be S256; report this to the program's developer"));
        }
        let challenge = model::challenge(&self.code_challenge);
        let challenge = challenge.ok_or_else(|| {
            Failure::field("code_challenge", "must be a SHA-256 hash in base64url; report this to the program's developer")
        })?;
        let resource = access_tokens::resource(engine.base_url());
        if self.resource.is_some_and(|wanted| !is_same_url(&wanted, &resource)) {
            return Err(Failure::field("resource", format_args!("must be {resource}; connect the program to exactly this URL")));
        }
        if self.state.as_ref().is_some_and(|state| state.len() > limits::OAUTH_STATE_BYTES_MAX) {
            return Err(Failure::field(
                "state",
                format_args!("is longer than {} bytes; report this to the program's developer", limits::OAUTH_STATE_BYTES_MAX),
            ));
        }
        let requested: PermissionSet = match self.scope.as_deref().map(str::trim).filter(|scope| !scope.is_empty()) {
            None => DEFAULT_SCOPE,
            Some(scope) => scope.parse().map_err(|error| Failure::field("scope", format_args!("is not valid: {error}")))?,
        };
        let client = clients::find(engine, &self.client_id).await;
        let client = client.map_err(|invalid| Failure::field(invalid.field, invalid.problem))?;
        let given_redirect_uri = match (self.redirect_uri, client.redirect_uris.as_slice()) {
            (Some(given), _) => given,
            (None, [only]) => only.clone(),
            (None, _) => {
                return Err(Failure::field(
                    "redirect_uri",
                    "is required, because the program registered several redirect URIs; report this to the program's developer",
                ));
            }
        };
        let redirect_uri = Url::parse(&given_redirect_uri).ok().filter(|_| client.accepts(&given_redirect_uri));
        let redirect_uri = redirect_uri.ok_or_else(|| {
            Failure::field(
                "redirect_uri",
                "is not registered for this program; in the program that you are connecting, remove this server and add it again, or \
                 report this to the program's developer",
            )
        })?;
        let binding = model::Binding { client: sha256(self.client_id.as_bytes()), resource };
        Ok(CheckedRequest { client, redirect_uri, given_redirect_uri, requested, challenge, binding, state: self.state })
    }
}

/// Returns whether two URLs name the same resource. Clients can write the host in uppercase, or add a slash.
pub fn is_same_url(left: &str, right: &str) -> bool {
    let plain = |text: &str| Url::parse(text).ok().map(|url| url.as_str().trim_end_matches('/').to_owned());
    plain(left).is_some_and(|left| plain(right).is_some_and(|right| left == right))
}

impl CheckedRequest {
    /// Returns the URL at which the browser returns to the client: the redirect URI with these parameters, the state, and the issuer (RFC
    /// 9207).
    pub fn back(&self, engine: &Engine, parameters: &[(&str, &str)]) -> String {
        let mut url = self.redirect_uri.clone();
        let mut query = url.query_pairs_mut();
        query.extend_pairs(parameters);
        if let Some(state) = &self.state {
            query.append_pair("state", state);
        }
        query.append_pair("iss", engine.base_url());
        drop(query);
        url.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_is_compared_as_a_url() {
        let own = "https://mail.example.com/mcp";
        for same in ["https://mail.example.com/mcp", "https://MAIL.example.com/mcp/", "https://mail.example.com:443/mcp"] {
            assert!(is_same_url(same, own), "{same}");
        }
        for other in ["https://mail.example.com", "http://mail.example.com/mcp", "https://mail.example.com/mcp?x", "mcp", ""] {
            assert!(!is_same_url(other, own), "{other}");
        }
    }
}
