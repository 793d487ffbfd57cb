//! Returns the metadata of the MCP server (RFC 9728), such as the address of the server that issues its access tokens.

use http::StatusCode;
use serde_json::{Value, json};

use crate::engine::access::access_tokens;
use crate::engine::api::http_types::Reply;
use crate::engine::api::operation::Takes;
use crate::engine::api::{Bare, Context, Failure, Media, NoInput, Operation, Raw, RawRequest, Spec, public};
use crate::features::accounts::agents::oauth;
use crate::vocab::permissions::Permission;

pub struct ToolMetadata;

impl Operation for ToolMetadata {
    const SPEC: Spec = Spec::get("accounts.tool_metadata", "/.well-known/oauth-protected-resource/mcp", public())
        .summary("Get the metadata of the MCP server")
        .about("OAuth 2.0 Protected Resource Metadata (RFC 9728) of the MCP server at /mcp, whose 401 responses link to this document.");
    type Input = NoInput;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({}), Bare)
    }
}

impl Raw for ToolMetadata {
    const MEDIA: Media = Media { takes: Takes::Nothing, ..Media::JSON };

    async fn run(context: Context, _: NoInput, _: RawRequest) -> Result<Reply, Failure> {
        let base = context.engine.base_url();
        let metadata = json!({
            "resource": access_tokens::resource(base),
            "resource_name": "Mailmill",
            "authorization_servers": [base],
            "scopes_supported": Permission::ALL.map(Permission::word),
            "bearer_methods_supported": ["header"],
        });
        Ok(oauth::document(StatusCode::OK, &metadata, "public, max-age=300"))
    }
}
