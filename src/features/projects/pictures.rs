//! The files of pictures: those that people uploaded, which mail programs load from here, and small previews for lists.
//!
//! It does not know what a picture is used for, nor what is said of it.

use std::io::Cursor;
use std::sync::Arc;
use std::time::Duration;

use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader};
use url::Url;

use super::reading::sight;
use crate::base::clock::Timestamp;
use crate::base::secret::sha256;
use crate::engine::api::{Engine, Failure};
use crate::engine::fetch::{Limits, Overlong};
use crate::engine::store::blobs::{self, Head};
use crate::engine::store::{ReadTx, Result as StoreResult, WriteTx};
use crate::vocab::ids::{BlobId, ProjectId};
use crate::vocab::limits::{
    DRAWN_IMAGE_BYTES_MAX, DRAWN_IMAGE_MS_MAX, PREVIEW_DRAWING_BYTES_MAX, PREVIEW_KEPT_MS, PREVIEW_SIDE_MAX,
    UPLOADED_ANIMATION_BYTES_MAX, UPLOADED_IMAGE_KEPT_MS, UPLOADED_IMAGE_WIDTH_MAX,
};

/// Under which path uploaded files stand.
const PATH: &str = "/v1/images/";
/// A link to an uploaded file works as long as the file is there: until the last second that tokens can name.
const NEVER: Timestamp = Timestamp(253_402_300_799_000);
/// Photographs: no difference can be seen, and a third of the bytes.
const UPLOAD_QUALITY: u8 = 88;
const PREVIEW_QUALITY: u8 = 80;

/// A picture in the form in which it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub bytes: Vec<u8>,
    pub content_type: &'static str,
    ending: &'static str,
}

impl Made {
    fn of(picture: &DynamicImage, quality: u8) -> Result<Self, &'static str> {
        let mut out = Cursor::new(Vec::new());
        let is_clear = picture.color().has_alpha() && picture.to_rgba8().pixels().any(|pixel| pixel.0[3] < 255);
        let written = match is_clear {
            true => picture.write_to(&mut out, ImageFormat::Png),
            false => picture.to_rgb8().write_with_encoder(JpegEncoder::new_with_quality(&mut out, quality)),
        };
        written.map_err(|_| "it cannot be written")?;
        let (content_type, ending) = if is_clear { ("image/png", "png") } else { ("image/jpeg", "jpg") };
        Ok(Self { bytes: out.into_inner(), content_type, ending })
    }
}

/// An uploaded picture as emails show it: upright, not too wide, and without what cameras write into files, like the place.
pub fn prepared(bytes: Vec<u8>) -> Result<Made, &'static str> {
    let format = image::guess_format(&bytes).map_err(|_| "its format is not known; give a PNG, JPEG or GIF file")?;
    match format {
        ImageFormat::Gif if bytes.len() > UPLOADED_ANIMATION_BYTES_MAX => Err("an animation has at most 3 MB"),
        ImageFormat::Gif => {
            sight::decoder(&bytes)?.decode().map_err(|_| sight::DAMAGED)?;
            Ok(Made { bytes, content_type: "image/gif", ending: "gif" })
        }
        ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP => {
            let picture = upright(sight::decoder(&bytes)?)?;
            let picture = match picture.width() > UPLOADED_IMAGE_WIDTH_MAX {
                true => picture.resize(UPLOADED_IMAGE_WIDTH_MAX, u32::MAX, image::imageops::FilterType::Lanczos3),
                false => picture,
            };
            Made::of(&picture, UPLOAD_QUALITY)
        }
        _ => Err("mail programs do not show files of its format; give a PNG, JPEG or GIF file"),
    }
}

fn upright(reader: ImageReader<Cursor<&[u8]>>) -> Result<DynamicImage, &'static str> {
    let mut decoder = reader.into_decoder().map_err(|_| sight::DAMAGED)?;
    let orientation = decoder.orientation().map_err(|_| sight::DAMAGED)?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|_| sight::DAMAGED)?;
    picture.apply_orientation(orientation);
    Ok(picture)
}

/// Keep an upload. The same picture in the same project is the same file, and its removal is taken back.
pub fn keep(tx: &mut WriteTx<'_>, project: ProjectId, made: &Made) -> BlobId {
    let sum = sha256(&made.bytes);
    let id = derived(&[b"upload", &project.0, &sum]);
    put(tx, id, made, "image", None);
    id
}

/// The file of an upload is needed by emails that were sent only.
pub fn let_go(tx: &mut WriteTx<'_>, engine: &Engine, url: &str) -> StoreResult<()> {
    match upload(engine, url) {
        Some(file) => blobs::expire(tx, file, tx.now().plus_ms(UPLOADED_IMAGE_KEPT_MS)),
        None => Ok(()),
    }
}

fn put(tx: &mut WriteTx<'_>, id: BlobId, made: &Made, name: &str, expires_at: Option<Timestamp>) {
    let name = format!("{name}.{}", made.ending);
    let head = Head { complete: true, bytes: 0, content_type: made.content_type.to_owned(), name, expires_at };
    blobs::put_as(tx, id, head, &made.bytes);
}

fn derived(parts: &[&[u8]]) -> BlobId {
    BlobId::from_bytes(sha256(&parts.concat())[..12].try_into().expect("a digest has more bytes"))
}

/// Where mail programs find an uploaded file.
pub fn link(engine: &Engine, file: BlobId) -> String {
    let path = format!("{PATH}{file}");
    format!("{}{path}?token={}", engine.base_url(), engine.links.sign(&path, NEVER))
}

/// Whether `token` opens this upload.
pub fn opens(engine: &Engine, file: BlobId, token: &str) -> bool {
    engine.links.check(&format!("{PATH}{file}"), token, engine.clock.now())
}

/// The upload that an address of ours leads to.
fn upload(engine: &Engine, url: &str) -> Option<BlobId> {
    let (file, token) = url.strip_prefix(engine.base_url())?.strip_prefix(PATH)?.split_once("?token=")?;
    BlobId::parse(file).filter(|file| opens(engine, *file, token))
}

/// The file of an uploaded picture by its address, without a way through the network.
pub fn uploaded(engine: &Engine, url: &str) -> Option<Arc<Vec<u8>>> {
    let file = upload(engine, url)?;
    // The address does not say of which environment it is; an id is in one of them only.
    engine.worlds().iter().find_map(|world| bytes_of(world.store.read(), file).ok().flatten()).map(Arc::new)
}

fn bytes_of(tx: ReadTx, file: BlobId) -> StoreResult<Option<Vec<u8>>> {
    let Some(mut reader) = blobs::Reader::open(tx, file, 0)? else { return Ok(None) };
    let mut bytes = Vec::new();
    loop {
        match reader.next_bytes()? {
            [] => return Ok(Some(bytes)),
            more => bytes.extend_from_slice(more),
        }
    }
}

/// The file of a picture: our own, one from a moment ago, or from its server.
pub async fn file(engine: &Engine, url: &Url) -> Option<Arc<Vec<u8>>> {
    if let Some(own) = uploaded(engine, url.as_str()) {
        return Some(own);
    }
    if let Some(known) = engine.recent_images.get(url.as_str(), engine.clock.now()) {
        return known;
    }
    let total = Duration::from_millis(DRAWN_IMAGE_MS_MAX);
    let limits = Limits { head: total, total, body_bytes: DRAWN_IMAGE_BYTES_MAX, overlong: Overlong::Refuse };
    let accepted = "image/png,image/jpeg,image/gif,image/webp,image/svg+xml;q=0.5";
    let fetched = engine.fetch.get(url, accepted, &limits).await.ok();
    let body = fetched.filter(|fetched| fetched.status.is_success()).map(|fetched| Arc::new(fetched.body));
    engine.recent_images.put(url.as_str(), body.clone(), engine.clock.now());
    body
}

/// The identifier of the preview of the picture at this address.
pub fn preview_id(project: ProjectId, url: &str) -> BlobId {
    derived(&[b"preview", &project.0, url.as_bytes()])
}

/// Keep a preview for some days.
pub fn keep_preview(tx: &mut WriteTx<'_>, id: BlobId, made: &Made) {
    put(tx, id, made, "preview", Some(tx.now().plus_ms(PREVIEW_KEPT_MS)));
}

/// The picture at this address, small.
pub async fn preview(engine: &Engine, url: &str) -> Result<Made, Failure> {
    let gone = |reason: &str| Failure::because(crate::vocab::codes::Code::NotExportable, format!("The image {reason}."));
    let address: Url = url.parse().map_err(|_| gone("has an address that cannot be read"))?;
    let bytes = file(engine, &address).await.ok_or_else(|| gone("cannot be fetched now"))?;
    let shrunk = tokio::task::spawn_blocking(move || shrunk(&bytes)).await.map_err(Failure::internal)?;
    shrunk.map_err(|reason| gone(&format!("cannot be shown: {reason}")))
}

fn shrunk(bytes: &[u8]) -> Result<Made, &'static str> {
    // A drawing is small as it is; as an image in a page it runs nothing and loads nothing.
    if sight::is_drawing(bytes, "") {
        return match bytes.len() <= PREVIEW_DRAWING_BYTES_MAX {
            true => Ok(Made { bytes: bytes.to_vec(), content_type: "image/svg+xml", ending: "svg" }),
            false => Err("the drawing is too large"),
        };
    }
    let picture = upright(sight::decoder(bytes)?)?;
    let is_large = picture.width().max(picture.height()) > PREVIEW_SIDE_MAX;
    let picture = if is_large { picture.thumbnail(PREVIEW_SIDE_MAX, PREVIEW_SIDE_MAX) } else { picture };
    Made::of(&picture, PREVIEW_QUALITY)
}

#[cfg(test)]
mod tests {
    use image::{Rgba, RgbaImage};

    use super::*;

    fn file(width: u32, height: u32, alpha: u8, format: ImageFormat) -> Vec<u8> {
        let picture = DynamicImage::from(RgbaImage::from_pixel(width, height, Rgba([200, 30, 40, alpha])));
        let mut out = Cursor::new(Vec::new());
        let picture = if format == ImageFormat::Jpeg { picture.to_rgb8().into() } else { picture };
        picture.write_to(&mut out, format).expect("memory");
        out.into_inner()
    }

    fn size(made: &Made) -> (u32, u32, &'static str) {
        let picture = image::load_from_memory(&made.bytes).expect("a picture");
        (picture.width(), picture.height(), made.content_type)
    }

    #[test]
    fn an_upload_is_made_as_wide_as_emails_need_it_and_keeps_what_is_clear() {
        let wide = prepared(file(3_200, 400, 255, ImageFormat::Png)).expect("a picture");
        assert_eq!(size(&wide), (1_600, 200, "image/jpeg"));
        let clear = prepared(file(300, 100, 90, ImageFormat::Png)).expect("a picture");
        assert_eq!(size(&clear), (300, 100, "image/png"));
        let moving = prepared(file(20, 10, 255, ImageFormat::Gif)).expect("a picture");
        assert_eq!(size(&moving), (20, 10, "image/gif"));
    }

    #[test]
    fn what_mail_programs_do_not_show_is_refused() {
        for wrong in [b"<svg></svg>".to_vec(), b"nonsense".to_vec(), file(50, 50, 255, ImageFormat::Jpeg)[..200].to_vec()] {
            assert!(prepared(wrong).is_err());
        }
    }

    #[test]
    fn a_preview_is_small_and_a_drawing_is_its_own() {
        let small = shrunk(&file(2_000, 1_000, 255, ImageFormat::Jpeg)).expect("a picture");
        assert_eq!(size(&small), (480, 240, "image/jpeg"));
        let drawing = b"<svg viewBox=\"0 0 1 1\"></svg>";
        assert_eq!(shrunk(drawing).expect("a drawing").content_type, "image/svg+xml");
        assert!(shrunk(b"<!doctype html>").is_err());
    }
}
