//! Stores the images that imported HTML contains as data URLs, and links to them.
//!
//! Gmail removes images with data URLs. Data URLs can also make the HTML larger than the size at which Gmail clips it.

use data_url::forgiving_base64;

use crate::engine::api::Engine;
use crate::engine::render::images::ImageFile;
use crate::engine::render::pixels::RenderError;
use crate::engine::store::WriteTx;
use crate::features::projects;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits::IMPORTED_IMAGES_STORED_MAX;

/// An image from the HTML, in the form in which it is stored.
pub struct EmbeddedImage {
    data_url: String,
    file: ImageFile,
}

/// Converts the embedded images of the HTML in the same way as uploads. Images that cannot be converted are left out.
pub async fn convert(engine: &Engine, html: &str) -> Result<Vec<EmbeddedImage>, RenderError> {
    let mut images = Vec::new();
    for data_url in data_urls(html) {
        let data = data_url.split_once(BASE64).map(|(_, data)| data).unwrap_or_default();
        let Ok(file) = forgiving_base64::decode_to_vec(data.as_bytes()) else { continue };
        match engine.pixels.prepare_upload(&file, None).await {
            Ok((file, _)) => images.push(EmbeddedImage { data_url: data_url.to_owned(), file }),
            Err(fault @ (RenderError::Busy | RenderError::Unavailable(_))) => return Err(fault),
            Err(_) => {}
        }
    }
    Ok(images)
}

/// Stores the images and returns the HTML with their URLs in place of the data URLs.
pub fn linked(tx: &mut WriteTx<'_>, engine: &Engine, project: ProjectId, html: String, images: &[EmbeddedImage]) -> String {
    images.iter().fold(html, |html, image| {
        let url = projects::picture_link(engine, projects::keep_picture(tx, project, &image.file));
        html.replace(&image.data_url, &url)
    })
}

const EMBEDDED: &str = "data:image/";
const BASE64: &str = ";base64,";

/// Returns the distinct data URLs of images in sanitized HTML. If one URL is a prefix of another, the longer one comes first, so that
/// replacing the shorter one does not break the longer one.
fn data_urls(html: &str) -> Vec<&str> {
    let is_data = |c: &u8| c.is_ascii_alphanumeric() || b"+/=".contains(c);
    let mut found: Vec<&str> = html
        .match_indices(EMBEDDED)
        .filter_map(|(at, _)| {
            let kind = at + EMBEDDED.len();
            let kind_end = kind + html[kind..].bytes().take_while(u8::is_ascii_alphanumeric).count();
            let data = html[kind_end..].strip_prefix(BASE64)?;
            let length = data.bytes().take_while(is_data).count();
            Some(&html[at..kind_end + BASE64.len() + length])
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.reverse();
    found.truncate(IMPORTED_IMAGES_STORED_MAX);
    found
}

#[cfg(test)]
mod tests {
    use data_encoding::BASE64 as ENCODER;
    use serde_json::json;

    use super::*;
    use crate::features::emails::generation;
    use crate::testing::TestApp;
    use crate::vocab::environment::Environment;

    #[test]
    fn data_urls_are_found_once_and_longer_ones_first() {
        let html = "<img src=\"data:image/png;base64,QUJD\">\
                    <p style=\"background:url(&quot;data:image/png;base64,QUJDREVG&quot;);\">\
                    <img src=\"data:image/png;base64,QUJD\"> data:image/none, data:image/x y;base64,QQ==";
        assert_eq!(data_urls(html), ["data:image/png;base64,QUJDREVG", "data:image/png;base64,QUJD"]);
    }

    #[test]
    fn the_attached_images_of_an_imported_message_are_stored_and_linked() {
        let app = TestApp::new();
        app.engine().set_base_url("https://mail.example.com".into());
        let mut png = std::io::Cursor::new(Vec::new());
        let pixels = image::RgbImage::from_pixel(2, 1, image::Rgb([250, 0, 0]));
        pixels.write_to(&mut png, image::ImageFormat::Png).expect("writing to memory succeeds");
        let file = ENCODER.encode(&png.into_inner());
        let source = format!(
            "Subject: Hi\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b\r\n\
             Content-Type: text/html\r\n\r\n<p>Hello</p><img src=\"cid:p1\" alt=\"Red\">\r\n--b\r\nContent-Type: image/png\r\n\
             Content-ID: <p1>\r\nContent-Transfer-Encoding: base64\r\n\r\n{file}\r\n--b--\r\n"
        );
        let started =
            app.post_in("/v1/projects/emails/import-html", json!({ "htmls": [{ "name": "Hi", "source": source }] })).data();
        while app.wait(generation::step(app.engine().clone(), Environment::Test)).expect("the step succeeds") {}
        let conversation = started["conversationId"].as_str().expect("an ID");
        let status = app.get(&format!("/v1/projects/emails/{conversation}/status")).data();
        let id = status["result"]["emails"][0]["id"].as_str().expect("an ID");
        let shown = app.get(&format!("/v1/emails/{id}")).data();
        let html = shown["html"].as_str().expect("the email has HTML");
        assert!(!html.contains("data:image"), "{html}");
        let rest = html.split_once("src=\"https://mail.example.com").map(|(_, rest)| rest).unwrap_or_else(|| panic!("{html}"));
        let path = rest.split('"').next().expect("the attribute ends");
        assert_eq!(app.download(path).0, 200);
    }
}
