//! Returns a remote image of an email through a signed link, for viewers who chose to load images.

use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, StatusCode};
use image::ImageFormat;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::operation::Media;
use crate::engine::api::{Bare, Context, Failure, Operation, Raw, RawRequest, Spec, public};
use crate::features::projects::{image_files, remote};
use crate::vocab::codes::Code;

pub struct ImageRemote;

/// The parts of the link to a remote image.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RemoteImage {
    /// The token that signs the link.
    pub token: String,
    /// The URL of the image.
    pub image_url: String,
}

impl Operation for ImageRemote {
    const SPEC: Spec = Spec::get("projects.image_remote", "/v1/images/remote/{token}", public())
        .summary("Get a remote image of an email")
        .about(
            "Needs no API key: emails shown with images=true contain these signed links, which work for one hour. The service fetches the \
             image, so its server gets no data about the viewer. Supports PNG, JPEG, GIF and WebP.",
        )
        .fails(&[Code::NotFound]);
    type Input = RemoteImage;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "token": "253402300799.5d41", "imageUrl": "https://www.acme.example/images/roastery.jpg" }), Bare)
    }
}

impl Raw for ImageRemote {
    const MEDIA: Media = Media::gives("image/*");

    async fn run(context: Context, input: RemoteImage, _: RawRequest) -> Result<Reply, Failure> {
        let gone = |detail: &str| Failure::because(Code::NotFound, detail.to_owned());
        let url: Option<Url> = input.image_url.parse().ok();
        let url = url.filter(|_| remote::opens(&context.engine, &input.image_url, &input.token));
        let url = url.ok_or_else(|| gone("The image link is incomplete or has expired. Load the email again."))?;
        let bytes = image_files::file(&context.engine, &url)
            .await
            .ok_or_else(|| gone("The image could not be fetched from its server."))?;
        let kind = match image::guess_format(&bytes) {
            Ok(kind @ (ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::Gif | ImageFormat::WebP)) => kind.to_mime_type(),
            // Reject other formats, because email clients do not support them either, and an SVG that is opened directly could run scripts.
            _ => return Err(gone("The image is not a PNG, JPEG, GIF or WebP file; use an image in one of these formats.")),
        };
        let mut headers = HeaderMap::with_capacity(4);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, max-age=3600"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
        Ok(Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(bytes.to_vec().into()) })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::TestApp;

    #[test]
    fn only_signed_links_load_an_image() {
        let app = TestApp::new();
        let query = "imageUrl=https%3A%2F%2Facme.example%2Fa.png";
        for token in ["x", "253402300799.5d41"] {
            assert_eq!(app.download(&format!("/v1/images/remote/{token}?{query}")).0, 404);
        }
    }
}
