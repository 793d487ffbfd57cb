//! Returns a document like [`super::resource_metadata`] for the tool server at `/mcp`, because a document must name its own resource (RFC
//! 9728 §3.3).

use http::StatusCode;
use serde_json::{Value, json};

use super::resource_metadata::metadata;
use crate::engine::api::http_types::Reply;
use crate::engine::api::{Bare, Context, Failure, Media, NoInput, Operation, Raw, RawRequest, Spec, public};
use crate::features::accounts::agents::oauth;

pub struct ToolMetadata;

impl Operation for ToolMetadata {
    const SPEC: Spec = Spec::get("accounts.tool_metadata", "/.well-known/oauth-protected-resource/mcp", public())
        .summary("Get the protected resource metadata of the tool server")
        .about("OAuth 2.0 Protected Resource Metadata (RFC 9728) of the tool server.");
    type Input = NoInput;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({}), Bare)
    }
}

impl Raw for ToolMetadata {
    const MEDIA: Media = Media { takes: crate::engine::api::operation::Takes::Nothing, ..Media::JSON };

    async fn run(context: Context, _: NoInput, _: RawRequest) -> Result<Reply, Failure> {
        Ok(oauth::document(StatusCode::OK, &metadata(context.engine.base_url(), "/mcp"), "public, max-age=300"))
    }
}
