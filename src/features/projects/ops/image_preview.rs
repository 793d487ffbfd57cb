//! Returns a small copy of a project's image from this server, for lists that must not load files from other servers.

use http::header::{CACHE_CONTROL, HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::file::{self, Disposition};
use crate::engine::api::http_types::Reply;
use crate::engine::api::operation::Media;
use crate::engine::api::{Bare, Context, Failure, Operation, Raw, RawRequest, Spec, needs_one};
use crate::engine::store::{ReadTx, WriteTx, blobs};
use crate::features::projects::brand::Brand;
use crate::features::projects::products::Product;
use crate::features::projects::{READERS, Site, brand, image_files, not_found, stored_products};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;

pub struct ImagePreview;

/// The image to return.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PreviewImage {
    pub project_id: ProjectId,
    /// The URL of one of the project's images, logos or product images.
    pub image_url: Site,
}

impl Operation for ImagePreview {
    const SPEC: Spec = Spec::get("projects.image_preview", "/v1/projects/{projectId}/images/preview", needs_one(READERS)).client("projects.images.preview")
        .summary("Get a small copy of a project's image")
        .about(
            "Returns a PNG or JPEG image of at most 480 pixels per side, or an SVG image unchanged. The image is fetched once from its \
             server, then cached for two weeks.",
        )
        .fails(&[Code::NotFound, Code::NotExportable]);
    type Input = PreviewImage;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        let url = "https://www.acme.example/images/roastery.jpg";
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "imageUrl": url }), Bare)
    }
}

impl Raw for ImagePreview {
    const MEDIA: Media = Media::gives("image/*");

    async fn run(context: Context, input: PreviewImage, _: RawRequest) -> Result<Reply, Failure> {
        let (account, project) = (context.caller.account(), input.project_id);
        let url = input.image_url.as_str().to_owned();
        let id = image_files::preview_id(project, &url);
        let wanted = url.clone();
        let query = move |tx: &ReadTx| {
            let (_, brand) = brand(tx, account, project)?.ok_or_else(not_found)?;
            // Search all products, because users also see products that emails leave out.
            let is_of = |product: &Product| product.shown().image.as_ref() == Some(&wanted);
            if !shows(&brand, &wanted) && !stored_products::all(tx, project)?.iter().any(is_of) {
                return Err(Failure::because(
                    Code::NotFound,
                    "The brand has no image, logo or product image with this URL. Use the current URL of one of the brand's images, logos \
                     or product images.",
                ));
            }
            Ok(blobs::head(tx, id)?.is_some())
        };
        if !context.read(query).await? {
            let made = image_files::preview(&context.engine, &url).await?;
            let keep = move |tx: &mut WriteTx<'_>| -> Result<(), Failure> {
                image_files::keep_preview(tx, id, &made);
                Ok(())
            };
            // This write only caches a preview, so the audit log does not record it as a change.
            context.data().store.write(keep).await??;
        }
        let gone = || Failure::because(Code::NotFound, "The preview of this image was just removed. Try again.");
        let mut reply = file::send(context.data().store.read(), id, Disposition::Inline)?.ok_or_else(gone)?;
        reply.headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, max-age=86400"));
        Ok(reply)
    }
}

/// Returns whether the brand has an image or a logo with this URL.
fn shows(brand: &Brand, url: &str) -> bool {
    brand.images.iter().any(|image| image.url == url) || brand.logos.iter().any(|logo| logo.url == url)
}

#[cfg(test)]
mod tests {
    use data_encoding::BASE64;

    use super::*;
    use crate::testing::TestApp;

    fn app() -> TestApp {
        let app = TestApp::new();
        app.engine().set_base_url("https://mail.example.com".into());
        app
    }

    fn preview(app: &TestApp, url: &str) -> (u16, Vec<u8>) {
        let query = serde_urlencoded::to_string([("imageUrl", url)]).expect("the URL fits into a query");
        let (status, _, bytes) = app.download(&format!("/v1/projects/{}/images/preview?{query}", app.project));
        (status, bytes)
    }

    #[test]
    fn only_images_of_the_project_have_a_preview() {
        let app = app();
        let mut out = std::io::Cursor::new(Vec::new());
        let picture = image::RgbImage::from_pixel(1_000, 500, image::Rgb([0, 90, 0]));
        picture.write_to(&mut out, image::ImageFormat::Png).expect("writing to memory succeeds");
        let path = format!("/v1/projects/{}/images", app.project);
        let made = app.post(&format!("{path}/upload"), json!({ "file": BASE64.encode(&out.into_inner()) })).data();
        for _ in 0..2 {
            let (status, bytes) = preview(&app, made["url"].as_str().expect("the response has a link"));
            let small = image::load_from_memory(&bytes).expect("the file is an image");
            assert_eq!((status, small.width(), small.height()), (200, 480, 240));
        }
        assert_eq!(preview(&app, "https://elsewhere.example/a.png").0, 404);
        app.post(&path, json!({ "url": "https://acme.invalid/a.jpg", "description": "A cup" })).data();
        assert_eq!(preview(&app, "https://acme.invalid/a.jpg").0, 409);
    }
}
