//! A kept file, for whoever has its link: screenshots, exports of emails.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::file::{self, Disposition};
use crate::engine::api::http_types::Reply;
use crate::engine::api::operation::Media;
use crate::engine::api::{Bare, Context, Failure, Operation, Raw, RawRequest, Spec, public};
use crate::vocab::codes::Code;
use crate::vocab::ids::BlobId;

/// `system.file`
pub struct File;

/// The link, taken apart.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileLink {
    pub file_id: BlobId,
    /// What makes the link work, for a day or two.
    pub token: Option<String>,
}

impl Operation for File {
    const SPEC: Spec = Spec::get("system.file", "/v1/files/{fileId}", public())
        .summary("Get a file by its link")
        .about(
            "Without a key: the link itself is the permission, and works for one to two days. Answers with the file in its own type, \
                like image/png.",
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
        // The link does not say of which environment it is; an id is in one of them only.
        for data in context.engine.environments() {
            if let Some(reply) = file::send(data.store.read(), input.file_id, Disposition::Inline)? {
                return Ok(reply);
            }
        }
        Err(gone())
    }
}

fn gone() -> Failure {
    Failure::because(Code::NotFound, "This link is not valid, or its time is over; ask again for what it was a part of.")
}
