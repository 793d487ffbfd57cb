//! Returns a metadata document (RFC 8414). It describes how OAuth clients get access on behalf of a user and, in the object `agent_auth`,
//! how agents get a key.

use http::StatusCode;
use serde_json::{Value, json};

use crate::engine::api::http_types::Reply;
use crate::engine::api::{Bare, Context, Failure, Media, NoInput, Operation, Raw, RawRequest, Spec, public};
use crate::features::accounts::agents::{self, oauth};
use crate::vocab::permissions::Permission;

pub struct AgentMetadata;

impl Operation for AgentMetadata {
    const SPEC: Spec = Spec::get("accounts.agent_metadata", "/.well-known/oauth-authorization-server", public())
        .summary("Get the metadata for agents and OAuth clients")
        .about("OAuth 2.0 Authorization Server Metadata (RFC 8414), with the endpoints of agent registration under agent_auth.");
    type Input = NoInput;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({}), Bare)
    }
}

impl Raw for AgentMetadata {
    const MEDIA: Media = Media { takes: crate::engine::api::operation::Takes::Nothing, ..Media::JSON };

    async fn run(context: Context, _: NoInput, _: RawRequest) -> Result<Reply, Failure> {
        let base = context.engine.base_url();
        let grant = agents::grant_type(&context.engine);
        let document = json!({
            "issuer": base,
            "authorization_endpoint": format!("{base}/oauth2/authorize"),
            "token_endpoint": format!("{base}/oauth2/token"),
            "registration_endpoint": format!("{base}/oauth2/register"),
            "revocation_endpoint": format!("{base}/oauth2/revoke"),
            "token_endpoint_auth_methods_supported": ["none"],
            "revocation_endpoint_auth_methods_supported": ["none"],
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "code_challenge_methods_supported": ["S256"],
            "client_id_metadata_document_supported": true,
            "authorization_response_iss_parameter_supported": true,
            "grant_types_supported": ["authorization_code", "refresh_token", grant],
            "scopes_supported": Permission::ALL.map(Permission::word),
            "service_documentation": format!("{base}/auth.md"),
            "agent_auth": {
                "identity_endpoint": format!("{base}/agent/identity"),
                "claim_endpoint": format!("{base}/agent/identity/claim"),
                "token_endpoint": format!("{base}/oauth2/token"),
                "verification_uri": format!("{base}/agent"),
                "identity_types_supported": ["service_auth"],
                "grant_type": grant,
                "default_scope": agents::model::DEFAULT_SCOPE.to_string(),
            },
        });
        Ok(oauth::document(StatusCode::OK, &document, "public, max-age=300"))
    }
}
