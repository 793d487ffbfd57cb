//! The file of an uploaded image, for whoever has its link: mail programs show it.

use http::header::{CACHE_CONTROL, HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::file::{self, Disposition};
use crate::engine::api::http_types::Reply;
use crate::engine::api::operation::Media;
use crate::engine::api::{Bare, Context, Failure, Operation, Raw, RawRequest, Spec, public};
use crate::features::projects::image_files;
use crate::vocab::codes::Code;
use crate::vocab::ids::BlobId;

/// `projects.image_file`
pub struct ImageFile;

/// The link, taken apart.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImageLink {
    pub file_id: BlobId,
    /// What makes the link work.
    pub token: Option<String>,
}

impl Operation for ImageFile {
    const SPEC: Spec = Spec::get("projects.image_file", "/v1/images/{fileId}", public())
        .summary("Get the file of an uploaded image")
        .about("Without a key: the url of an uploaded image is the permission. Answers with the file, like image/jpeg.")
        .fails(&[Code::NotFound]);
    type Input = ImageLink;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "fileId": "66f1a2b3d4e5f60718293a4c", "token": "253402300799.5d41" }), Bare)
    }
}

impl Raw for ImageFile {
    const MEDIA: Media = Media::gives("image/*");

    async fn run(context: Context, input: ImageLink, _: RawRequest) -> Result<Reply, Failure> {
        let gone = || Failure::because(Code::NotFound, "There is no such image, or its link is not whole.");
        if !image_files::opens(&context.engine, input.file_id, &input.token.unwrap_or_default()) {
            return Err(gone());
        }
        // The link does not say of which environment it is; an id is in one of them only.
        for data in context.engine.environments() {
            if let Some(mut reply) = file::send(data.store.read(), input.file_id, Disposition::Inline)? {
                // An upload never changes under its address, and those who serve mail programs may keep it.
                reply.headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
                return Ok(reply);
            }
        }
        Err(gone())
    }
}
