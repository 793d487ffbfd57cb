//! Returns the metadata of this API (RFC 9728), such as the address of the server that issues its keys.

use http::StatusCode;
use serde_json::{Value, json};

use crate::engine::api::http_types::Reply;
use crate::engine::api::{Bare, Context, Failure, Media, NoInput, Operation, Raw, RawRequest, Spec, public};
use crate::features::accounts::agents::oauth;
use crate::vocab::permissions::Permission;

pub struct ResourceMetadata;

impl Operation for ResourceMetadata {
    const SPEC: Spec = Spec::get("accounts.resource_metadata", "/.well-known/oauth-protected-resource", public())
        .summary("Get the protected resource metadata")
        .about("OAuth 2.0 Protected Resource Metadata (RFC 9728). A response with the status 401 links to this document.");
    type Input = NoInput;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({}), Bare)
    }
}

impl Raw for ResourceMetadata {
    const MEDIA: Media = Media { takes: crate::engine::api::operation::Takes::Nothing, ..Media::JSON };

    async fn run(context: Context, _: NoInput, _: RawRequest) -> Result<Reply, Failure> {
        let base = context.engine.base_url();
        let metadata = json!({
            "resource": base,
            "authorization_servers": [base],
            "scopes_supported": Permission::ALL.map(Permission::word),
            "bearer_methods_supported": ["header"],
        });
        Ok(oauth::document(StatusCode::OK, &metadata, "public, max-age=300"))
    }
}
