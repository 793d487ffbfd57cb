//! Returns a file, such as a screenshot or an export of an email, by its signed link.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::file::{self, Disposition};
use crate::engine::api::http_types::Reply;
use crate::engine::api::operation::Media;
use crate::engine::api::{Bare, Context, Failure, Operation, Raw, RawRequest, Spec, public};
use crate::vocab::codes::Code;
use crate::vocab::ids::BlobId;

pub struct File;

/// The parts of the link to a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileLink {
    pub file_id: BlobId,
    /// The token in the link. It is valid for one to two days.
    pub token: Option<String>,
}

impl Operation for File {
    const SPEC: Spec = Spec::get("system.file", "/v1/files/{fileId}", public())
        .summary("Get a file by its link")
        .about(
            "Requires no key: the link itself grants access for one to two days. Returns the file with its own content type, \
                such as image/png.",
        )
        .fails(&[Code::NotFound]);
    type Input = FileLink;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "fileId": "66f1a2b3d4e5f60718293a4c", "token": "1767229200.5d41" }), Bare)
    }
}

impl Raw for File {
    const MEDIA: Media = Media::gives("*/*");

    async fn run(context: Context, input: FileLink, _: RawRequest) -> Result<Reply, Failure> {
        if !context.engine.opens_file(input.file_id, &input.token.unwrap_or_default()) {
            return Err(gone());
        }
        // Search both environments, because the link does not name the environment. An ID exists in only one of them.
        for data in context.engine.environments() {
            if let Some(reply) = file::send(data.store.read(), input.file_id, Disposition::Inline)? {
                return Ok(reply);
            }
        }
        Err(gone())
    }
}

fn gone() -> Failure {
    Failure::because(Code::NotFound, "This link is invalid or has expired, or its file was deleted. Request a new link.")
}
