//! Uploads an image to a project.

use data_url::forgiving_base64;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::images_add::{self, ImageDescription, ImageTag, checked_tags};
use crate::base::bounded::Bounded;
use crate::engine::api::{Async, BodySize, Context, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::render::images::Crop;
use crate::engine::render::pixels::RenderError;
use crate::engine::store::WriteTx;
use crate::features::projects::views::ProjectImageView;
use crate::features::projects::{image_files, require};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits::{IMAGE_RATIO_SIDE_MAX, IMAGE_TAGS_MAX};
use crate::vocab::permissions::Permission;

pub struct ImagesUpload;

/// The image to upload.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewUpload {
    pub project_id: ProjectId,
    /// The PNG, JPEG, WebP or GIF file as base64.
    #[schemars(length(min = 4), extend("pattern" = r"^[A-Za-z0-9+/\s]*={0,2}\s*$", "contentEncoding" = "base64"))]
    pub file: String,
    /// A description of what the image shows. If absent, it is filled in automatically.
    pub description: Option<ImageDescription>,
    /// Tags for finding the image. If absent, they are filled in automatically.
    #[schemars(length(max = IMAGE_TAGS_MAX))]
    pub tags: Option<Vec<ImageTag>>,
    /// The part of the image to keep. The default is the whole image. A GIF cannot be cropped.
    pub crop: Option<ImageCrop>,
}

/// The crop of an image: the largest area with the given aspect ratio, centered as closely as possible on a focus point.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImageCrop {
    /// The width in the aspect ratio, such as 3 in 3:2.
    pub width: Bounded<1, IMAGE_RATIO_SIDE_MAX>,
    /// The height in the aspect ratio, such as 2 in 3:2.
    pub height: Bounded<1, IMAGE_RATIO_SIDE_MAX>,
    /// The distance of the focus point from the left side, as a percentage of the image's width. The default is 50.
    pub x: Option<Bounded<0, 100>>,
    /// The distance of the focus point from the top, as a percentage of the image's height. The default is 50.
    pub y: Option<Bounded<0, 100>>,
}

impl From<ImageCrop> for Crop {
    fn from(ImageCrop { width, height, x, y }: ImageCrop) -> Self {
        let focus = |point: Option<Bounded<0, 100>>| point.map_or(50, |point| point.get() as u32);
        Self { width: width.get() as u32, height: height.get() as u32, x: focus(x), y: focus(y) }
    }
}

impl Operation for ImagesUpload {
    const SPEC: Spec =
        Spec::post("projects.images_upload", "/v1/projects/{projectId}/images/upload", needs(Permission::ProjectWrite)).client("projects.images.upload")
            .summary("Upload an image to a project")
            .about(
                "Use this operation for images that are not on the web yet. A GIF is stored unchanged; other files are stored upright, at \
                 most 1600 pixels wide, without camera metadata. Email clients load the file from the returned `url`. Uploading the \
                 same file again returns the same image. After an image is removed, its file is kept for a year for the emails that \
                 contain it.",
            )
            .replay(Replay::Keyed)
            .body(BodySize::Bulk)
            .fails(&[Code::NotFound, Code::LimitReached]);
    type Input = NewUpload;
    type Output = Created<ProjectImageView>;

    fn example() -> (Value, Self::Output) {
        let url = "https://mail.example.com/v1/images/66f1a2b3d4e5f60718293a4c?token=253402300799.5d41";
        let image = ProjectImageView { url: url.into(), width: Some(1), height: Some(1), ..ProjectImageView::sample() };
        // A GIF file with one transparent pixel, as base64.
        let file = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "file": file, "description": image.description }), Created(image))
    }
}

impl Async for ImagesUpload {
    async fn run(context: Context, input: NewUpload) -> Result<Self::Output, Failure> {
        let (account, project) = (context.caller.account(), input.project_id);
        context.read(move |tx| require(tx, account, project)).await?;
        let tags = input.tags.map(checked_tags).transpose()?;
        let description = input.description.map(|text| text.to_string()).filter(|text| !text.is_empty());
        let file = forgiving_base64::decode_to_vec(input.file.as_bytes()).ok().filter(|file| !file.is_empty());
        let file = file.ok_or_else(|| Failure::field("file", "must be an image file encoded as base64"))?;
        drop(input.file);
        let (made, measured) =
            context.engine.pixels.prepare_upload(&file, input.crop.map(Crop::from)).await.map_err(|fault| match fault {
                RenderError::Image(reason) => Failure::field("file", reason),
                other => image_files::failure(other),
            })?;
        drop(file);
        let engine = context.engine.clone();
        let keep = move |tx: &mut WriteTx<'_>| {
            let url = image_files::link(&engine, image_files::keep(tx, project, &made));
            images_add::add(tx, (account, project), images_add::GivenImage { url, description, tags, measured: Some(measured) })
        };
        Ok(Created(context.write(&Self::SPEC, keep).await?.into()))
    }
}

#[cfg(test)]
mod tests {
    use data_encoding::BASE64;

    use std::time::Duration;

    use http::HeaderValue;
    use tokio::time::Instant;

    use super::*;
    use crate::engine::render::pixels::Workers;
    use crate::testing::TestApp;

    fn app() -> TestApp {
        let app = TestApp::new();
        app.engine().set_base_url("https://mail.example.com".into());
        app
    }

    /// Returns a PNG file with two red pixels.
    fn file() -> Vec<u8> {
        let mut out = std::io::Cursor::new(Vec::new());
        image::RgbImage::from_pixel(2, 1, image::Rgb([250, 0, 0]))
            .write_to(&mut out, image::ImageFormat::Png)
            .expect("writing to memory succeeds");
        out.into_inner()
    }

    fn path(app: &TestApp) -> String {
        format!("/v1/projects/{}/images", app.project)
    }

    #[test]
    fn anyone_with_the_link_can_load_an_upload() {
        let app = app();
        let body = json!({ "file": BASE64.encode(&file()), "description": "Red", "tags": ["red"] });
        let made = app.post(&format!("{}/upload", path(&app)), body.clone()).data();
        assert_eq!((&made["width"], &made["height"], &made["description"]), (&json!(2), &json!(1), &json!("Red")));
        let url = made["url"]
            .as_str()
            .expect("the response has a link")
            .strip_prefix(app.engine().base_url())
            .expect("the link leads to this server");
        let (status, disposition, bytes) = app.download(url);
        assert_eq!((status, disposition.as_str()), (200, "inline; filename=\"image.jpg\""));
        assert!(image::load_from_memory(&bytes).is_ok());
        assert_eq!(app.download(url.split('?').next().expect("the link has a path")).0, 404);
        assert_eq!(app.post(&format!("{}/upload", path(&app)), body).data()["url"], made["url"]);
        assert_eq!(app.get(&path(&app)).data()["total"], 1);
    }

    #[test]
    fn a_removed_upload_still_loads_in_sent_emails() {
        let app = app();
        let made = app.post(&format!("{}/upload", path(&app)), json!({ "file": BASE64.encode(&file()) })).data();
        let url = made["url"].as_str().expect("the response has a link");
        let query = serde_urlencoded::to_string([("imageUrl", url)]).expect("the URL fits into a query");
        app.delete(&format!("{}?{query}", path(&app))).data();
        assert_eq!(app.get(&path(&app)).data()["total"], 0);
        assert_eq!(app.download(url.strip_prefix(app.engine().base_url()).expect("the link leads to this server")).0, 200);
    }

    #[test]
    fn an_upload_gets_503_when_all_image_workers_are_busy() {
        let wait = Duration::from_millis(100);
        let app = TestApp::with_workers(Workers::used_up(wait));
        let began = Instant::now();
        let reply = app.reply_to_post(&format!("{}/upload", path(&app)), &json!({ "file": BASE64.encode(&file()) }));
        assert!(began.elapsed() >= wait);
        assert_eq!((reply.status.as_u16(), &reply.headers["retry-after"]), (503, &HeaderValue::from_static("5")));
        let answer = app.post(&format!("{}/upload", path(&app)), json!({ "file": BASE64.encode(&file()) }));
        let (_, code, said) = answer.refusal();
        assert_eq!(
            (code, said),
            ("SERVICE_UNAVAILABLE", "Too many emails and images are being rendered. Try again in a few seconds.")
        );
    }

    #[test]
    fn a_part_of_an_image_is_uploaded() {
        let app = app();
        let upload =
            |crop: Value| app.post(&format!("{}/upload", path(&app)), json!({ "file": BASE64.encode(&file()), "crop": crop }));
        let made = upload(json!({ "width": 1, "height": 1, "x": 0 })).data();
        assert_eq!((&made["width"], &made["height"]), (&json!(1), &json!(1)));
        for wrong in [json!({ "width": 0, "height": 1 }), json!({ "width": 1, "height": 1, "x": 101 }), json!({ "width": 1 })] {
            assert_eq!(upload(wrong).refusal().0, 400);
        }
    }

    #[test]
    fn files_that_are_not_images_are_rejected() {
        let app = app();
        for wrong in ["", "é", "PHN2Zz48L3N2Zz4="] {
            let answer = app.post(&format!("{}/upload", path(&app)), json!({ "file": wrong }));
            let (status, _, detail) = answer.refusal();
            assert!(status == 400 && detail.starts_with("file"), "{detail}");
        }
    }
}
