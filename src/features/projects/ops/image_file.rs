//! Returns the file of an uploaded image to anyone who has the image's link, such as an email client.

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

pub struct ImageFile;

/// The parts of the link to an uploaded image.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImageLink {
    pub file_id: BlobId,
    /// The token that signs the link.
    pub token: Option<String>,
}

impl Operation for ImageFile {
    const SPEC: Spec = Spec::get("projects.image_file", "/v1/images/{fileId}", public())
        .summary("Get the file of an uploaded image")
        .about(
            "Needs no API key: the signed URL of an uploaded image grants access. Returns the file, for example as image/jpeg.",
        )
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
        let gone =
            || Failure::because(Code::NotFound, "This image does not exist, or the link is incomplete. Copy the whole link.");
        if !image_files::opens(&context.engine, input.file_id, &input.token.unwrap_or_default()) {
            return Err(gone());
        }
        // Search both environments, because the link does not name the environment. If both have a file with this ID because the brand went
        // live, the files are identical.
        for data in context.engine.environments() {
            if let Some(mut reply) = file::send(data.store.read(), input.file_id, Disposition::Inline)? {
                // Let caches keep the file, because uploaded files never change.
                reply.headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
                return Ok(reply);
            }
        }
        Err(gone())
    }
}
