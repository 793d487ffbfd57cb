//! Processes image files: converts them for emails, scales them down and measures them.
//!
//! The files are untrusted, and a few hundred bytes can decode to gigabytes. Therefore a worker process ([`super::pixels`]) decodes them,
//! and only as many pixels as the process-wide budget grants. The server itself reads only the dimensions in a file's header ([`pixels`]).

mod measure;
mod svg;

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType as PngFilter, PngEncoder};
use image::imageops::{self, FilterType};
use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits, RgbImage};
use serde::{Deserialize, Serialize};

pub use self::measure::{Ground, ImageMeasurements, is_drawing};
use crate::base::text::Color;
use crate::vocab::limits::{
    DECODED_IMAGE_BYTES_MAX, DECODED_IMAGE_PIXELS_MAX, DECODED_IMAGE_SIDE_MAX, PREVIEW_DRAWING_BYTES_MAX, PREVIEW_SIDE_MAX,
    UPLOADED_ANIMATION_BYTES_MAX, UPLOADED_IMAGE_WIDTH_MAX,
};

/// The JPEG quality of uploaded images. Higher values make photos much larger.
const UPLOAD_QUALITY: u8 = 88;
const PREVIEW_QUALITY: u8 = 80;
/// The maximum ratio of height to width for a thumbnail that shows only the top of an image.
const THUMBNAIL_PROPORTION: f32 = 1.4;

const DAMAGED: &str = "the image is damaged; use a new copy";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Task {
    /// Convert an uploaded image for emails, cropped if `crop` is set, and measure the result.
    Upload { crop: Option<Crop> },
    /// Measure an image that was served with this content type.
    Measure { content_type: String },
    /// Create a small copy for lists.
    Preview,
    /// Draw an SVG logo as PNG, on a background or, if `background` is `None`, transparent, and measure the result.
    DrawLogo { background: Option<Color> },
    /// Create a PNG of this width that shows the whole image if `is_full` is set, or else only its top.
    Thumbnail { width: u32, is_full: bool },
}

/// The part of an image to keep: the largest part with the aspect ratio `width` to `height`, as close as possible to the focus point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crop {
    pub width: u32,
    pub height: u32,
    /// The distance of the focus point from the left side, in percent.
    pub x: u32,
    /// The distance of the focus point from the top, in percent.
    pub y: u32,
}

/// The result of a task, without the bytes of the new file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TaskResult {
    pub measured: Option<ImageMeasurements>,
    pub format: Option<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    Png,
    Jpeg,
    Gif,
    Svg,
}

impl Format {
    /// Returns the format's name in a `Content-Type` header.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Svg => "image/svg+xml",
        }
    }

    pub const fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::Gif => "gif",
            Self::Svg => "svg",
        }
    }
}

/// An encoded image with its file format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFile {
    pub bytes: Vec<u8>,
    pub format: Format,
}

/// Returns the number of pixels that a file decodes to, according to the dimensions in its header. A file with an unreadable header is
/// treated as the largest allowed image. Files that are not decoded (SVG and unknown formats) have no pixels.
pub fn pixels(file: &[u8]) -> u64 {
    let decoded = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP, ImageFormat::Ico];
    if !image::guess_format(file).is_ok_and(|format| decoded.contains(&format)) {
        return 0;
    }
    imagesize::blob_size(file).map_or(DECODED_IMAGE_PIXELS_MAX, |size| (size.width as u64).saturating_mul(size.height as u64))
}

/// Returns why an image with this many pixels is rejected, or `None` if it is allowed.
pub fn refusal(pixels: u64) -> Option<String> {
    (pixels > DECODED_IMAGE_PIXELS_MAX).then(|| {
        let (found, most) = (pixels.div_ceil(1_000_000), DECODED_IMAGE_PIXELS_MAX / 1_000_000);
        format!("the image has {found} million pixels, but at most {most} million are allowed; reduce its width and height")
    })
}

/// Runs a task. `granted` is the number of pixels that may be decoded. The error contains the reason, for display.
pub fn perform(task: &Task, file: &[u8], granted: u64) -> Result<(TaskResult, Vec<u8>), String> {
    let of_made = |made: ImageFile| (TaskResult { measured: None, format: Some(made.format) }, made.bytes);
    match task {
        Task::Upload { crop } => {
            let (made, measured) = upload(file, *crop, granted)?;
            Ok((TaskResult { measured: Some(measured), format: Some(made.format) }, made.bytes))
        }
        Task::Measure { content_type } => {
            let measured = measure(file, content_type, granted)?;
            Ok((TaskResult { measured: Some(measured), format: None }, Vec::new()))
        }
        Task::Preview => preview(file, granted).map(of_made),
        Task::DrawLogo { background } => {
            let drawn = DynamicImage::from(svg::draw(file, *background)?);
            let mut out = Cursor::new(Vec::new());
            drawn.write_to(&mut out, ImageFormat::Png).map_err(|_| "the drawn logo cannot be encoded")?;
            Ok((TaskResult { measured: Some(measure::measure(&drawn)), format: Some(Format::Png) }, out.into_inner()))
        }
        Task::Thumbnail { width, is_full } => {
            let picture = decode(file, granted)?.into_rgb8();
            Ok(of_made(ImageFile { bytes: thumbnail(&picture, *width, *is_full)?, format: Format::Png }))
        }
    }
}

/// Converts an uploaded image for emails: upright, not too wide, and without camera metadata such as the location. A GIF is stored
/// unchanged, because it may be an animation.
fn upload(file: &[u8], crop: Option<Crop>, granted: u64) -> Result<(ImageFile, ImageMeasurements), String> {
    let format = image::guess_format(file)
        .map_err(|_| "the image format is unknown or not supported; upload a PNG, JPEG, WebP or GIF file")?;
    let picture = match format {
        ImageFormat::Gif if file.len() > UPLOADED_ANIMATION_BYTES_MAX => {
            return Err("a GIF can be at most 3 MiB; upload a smaller file".to_owned());
        }
        ImageFormat::Gif if crop.is_some() => {
            return Err("a GIF cannot be cropped; upload a PNG, JPEG or WebP file".to_owned());
        }
        ImageFormat::Gif => {
            let measured = measure::measure(&decode(file, granted)?);
            return Ok((ImageFile { bytes: file.to_vec(), format: Format::Gif }, measured));
        }
        ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP => decode(file, granted)?,
        _ => return Err("many email clients do not support this image format; upload a PNG, JPEG, WebP or GIF file".to_owned()),
    };
    let picture = crop.map(|crop| cropped(&picture, crop)).unwrap_or(picture);
    let picture = match picture.width() > UPLOADED_IMAGE_WIDTH_MAX {
        true => picture.resize(UPLOADED_IMAGE_WIDTH_MAX, u32::MAX, FilterType::Lanczos3),
        false => picture,
    };
    Ok((encode(&picture, UPLOAD_QUALITY)?, measure::measure(&picture)))
}

fn cropped(picture: &DynamicImage, crop: Crop) -> DynamicImage {
    let (wide, high) = (f64::from(picture.width()), f64::from(picture.height()));
    let ratio = f64::from(crop.width) / f64::from(crop.height);
    let (width, height) = (wide.min(high * ratio), high.min(wide / ratio));
    let start = |side: f64, kept: f64, focus: u32| (side * f64::from(focus) / 100.0 - kept / 2.0).clamp(0.0, side - kept) as u32;
    let (left, top) = (start(wide, width, crop.x), start(high, height, crop.y));
    picture.crop_imm(left, top, (width.round() as u32).max(1), (height.round() as u32).max(1))
}

fn measure(file: &[u8], content_type: &str, granted: u64) -> Result<ImageMeasurements, String> {
    if measure::is_drawing(file, content_type) {
        return Ok(measure::measure_drawing(&String::from_utf8_lossy(file))?);
    }
    Ok(measure::measure(&decode(file, granted)?))
}

fn preview(file: &[u8], granted: u64) -> Result<ImageFile, String> {
    // An SVG file is not converted: as an image in a page, it runs no scripts and loads no files.
    if measure::is_drawing(file, "") {
        return match file.len() <= PREVIEW_DRAWING_BYTES_MAX {
            true => Ok(ImageFile { bytes: file.to_vec(), format: Format::Svg }),
            false => Err(format!("the SVG file is larger than {} KiB; use a smaller file", PREVIEW_DRAWING_BYTES_MAX / 1024)),
        };
    }
    let picture = decode(file, granted)?;
    let is_large = picture.width().max(picture.height()) > PREVIEW_SIDE_MAX;
    let picture = if is_large { picture.thumbnail(PREVIEW_SIDE_MAX, PREVIEW_SIDE_MAX) } else { picture };
    encode(&picture, PREVIEW_QUALITY)
}

/// Decodes a file to its pixels, upright. Only the first frame of an animation is decoded.
fn decode(file: &[u8], granted: u64) -> Result<DynamicImage, String> {
    let start = String::from_utf8_lossy(&file[..file.len().min(1024)]);
    if start.trim_start().to_ascii_lowercase().starts_with("<!doctype html") || start.trim_start().starts_with("<html") {
        return Err("the file is an HTML page; use an image file".to_owned());
    }
    let mut reader = ImageReader::new(Cursor::new(file)).with_guessed_format().map_err(|_| "the image format is unknown")?;
    if reader.format().is_none() {
        return Err("the image format is unknown; use a PNG, JPEG, GIF, WebP, ICO or SVG file".to_owned());
    }
    let mut limits = Limits::default();
    limits.max_image_width = Some(DECODED_IMAGE_SIDE_MAX);
    limits.max_image_height = Some(DECODED_IMAGE_SIDE_MAX);
    limits.max_alloc = Some(DECODED_IMAGE_BYTES_MAX);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|_| "the image is damaged or too large; use a new or smaller copy")?;
    // The dimensions are read from the decoder, because another parser can read different dimensions from a crafted header.
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > granted || decoder.total_bytes() > DECODED_IMAGE_BYTES_MAX {
        return Err(format!("the image is too large at {width} × {height} pixels; reduce its width and height"));
    }
    let orientation = decoder.orientation().map_err(|_| DAMAGED)?;
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|_| DAMAGED)?;
    picture.apply_orientation(orientation);
    Ok(picture)
}

fn encode(picture: &DynamicImage, quality: u8) -> Result<ImageFile, String> {
    let mut out = Cursor::new(Vec::new());
    let is_clear = picture.color().has_alpha() && picture.to_rgba8().pixels().any(|pixel| pixel.0[3] < 255);
    let written = match is_clear {
        true => picture.write_to(&mut out, ImageFormat::Png),
        false => picture.to_rgb8().write_with_encoder(JpegEncoder::new_with_quality(&mut out, quality)),
    };
    written.map_err(|_| "the converted image cannot be encoded")?;
    Ok(ImageFile { bytes: out.into_inner(), format: if is_clear { Format::Png } else { Format::Jpeg } })
}

pub fn png(picture: &RgbImage) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    // Flat areas and text compress well at any compression level. Photos do not, and a higher level would take a long time.
    let encoder = PngEncoder::new_with_quality(&mut out, CompressionType::Fast, PngFilter::Adaptive);
    picture.write_with_encoder(encoder).map_err(|error| error.to_string())?;
    Ok(out)
}

/// Returns the background on which an image is visible, or `None` if the image cannot be decoded.
pub fn ground(file: &[u8], granted: u64) -> Option<Ground> {
    measure(file, "", granted).ok().map(|measured| measured.ground)
}

/// Returns the top of an image, or the whole image, scaled down, as PNG.
pub fn thumbnail(picture: &RgbImage, width: u32, is_full: bool) -> Result<Vec<u8>, String> {
    let (wide, high) = picture.dimensions();
    let most = if is_full { high } else { (wide as f32 * THUMBNAIL_PROPORTION) as u32 };
    let kept = high.min(most).max(1);
    let top = imageops::crop_imm(picture, 0, 0, wide, kept).to_image();
    let width = width.min(wide).max(1);
    let height = ((kept as f32 * width as f32 / wide as f32).round() as u32).max(1);
    png(&imageops::resize(&top, width, height, FilterType::Triangle))
}

#[cfg(test)]
mod tests {
    use image::{Rgba, RgbaImage};

    use super::*;

    const MOST: u64 = DECODED_IMAGE_PIXELS_MAX;

    fn file(width: u32, height: u32, alpha: u8, format: ImageFormat) -> Vec<u8> {
        let picture = DynamicImage::from(RgbaImage::from_pixel(width, height, Rgba([200, 30, 40, alpha])));
        let mut out = Cursor::new(Vec::new());
        let picture = if format == ImageFormat::Jpeg { picture.to_rgb8().into() } else { picture };
        picture.write_to(&mut out, format).expect("the image can be written");
        out.into_inner()
    }

    fn size(made: &ImageFile) -> (u32, u32, &'static str) {
        let picture = image::load_from_memory(&made.bytes).expect("the image can be read");
        (picture.width(), picture.height(), made.format.content_type())
    }

    #[test]
    fn an_upload_has_the_width_that_emails_need_and_keeps_transparency() {
        let (wide, measured) = upload(&file(3_200, 400, 255, ImageFormat::Png), None, MOST).expect("the image can be read");
        assert_eq!(size(&wide), (1_600, 200, "image/jpeg"));
        assert_eq!((measured.width, measured.height, measured.ground), (1_600, 200, Ground::Any));
        let (clear, _) = upload(&file(300, 100, 90, ImageFormat::Png), None, MOST).expect("the image can be read");
        assert_eq!(size(&clear), (300, 100, "image/png"));
        let (moving, _) = upload(&file(20, 10, 255, ImageFormat::Gif), None, MOST).expect("the image can be read");
        assert_eq!(size(&moving), (20, 10, "image/gif"));
    }

    #[test]
    fn a_cropped_upload_keeps_the_part_at_its_focus_point() {
        let mut picture = RgbImage::from_pixel(400, 200, image::Rgb([200, 30, 40]));
        for (x, _, pixel) in picture.enumerate_pixels_mut() {
            *pixel = if x < 100 { image::Rgb([0, 0, 250]) } else { *pixel };
        }
        let file = png(&picture).expect("the image can be written");
        for (crop, size_of, is_blue) in [
            (Crop { width: 1, height: 1, x: 0, y: 50 }, (200, 200), true),
            (Crop { width: 1, height: 1, x: 100, y: 0 }, (200, 200), false),
            (Crop { width: 4, height: 1, x: 50, y: 100 }, (400, 100), true),
        ] {
            let (made, measured) = upload(&file, Some(crop), MOST).expect("the image can be read");
            let picture = image::load_from_memory(&made.bytes).expect("the image can be read").into_rgb8();
            assert_eq!((picture.dimensions(), (measured.width, measured.height)), (size_of, size_of), "{crop:?}");
            assert_eq!(picture.get_pixel(20, 50).0[2] > 200, is_blue, "{crop:?}");
        }
        assert!(
            upload(&self::file(20, 10, 255, ImageFormat::Gif), Some(Crop { width: 1, height: 1, x: 0, y: 0 }), MOST).is_err()
        );
    }

    #[test]
    fn an_upload_that_email_clients_do_not_show_is_rejected() {
        let cut = file(50, 50, 255, ImageFormat::Jpeg)[..200].to_vec();
        for wrong in [b"<svg></svg>".to_vec(), b"nonsense".to_vec(), cut, file(9, 9, 255, ImageFormat::Ico)] {
            assert!(upload(&wrong, None, MOST).is_err());
        }
    }

    #[test]
    fn a_preview_is_small_and_a_drawing_is_used_as_is() {
        let small = preview(&file(2_000, 1_000, 255, ImageFormat::Jpeg), MOST).expect("the image can be read");
        assert_eq!(size(&small), (480, 240, "image/jpeg"));
        let drawing = b"<svg viewBox=\"0 0 1 1\"></svg>";
        assert_eq!(preview(drawing, 0).expect("the SVG can be read").format, Format::Svg);
        assert!(preview(b"<!doctype html>", MOST).is_err());
    }

    #[test]
    fn the_dimensions_are_read_from_the_header_of_every_format() {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP, ImageFormat::Ico] {
            let file = file(40, 30, 255, format);
            assert_eq!(pixels(&file), 1_200, "{format:?}");
            // The header is enough to read the dimensions.
            let header = &file[..file.len().min(if format == ImageFormat::Jpeg { 400 } else { 64 })];
            assert_eq!(pixels(header), 1_200, "{format:?}");
        }
        assert_eq!(pixels(b"\x89PNG\r\n\x1a\nnonsense"), DECODED_IMAGE_PIXELS_MAX);
        assert_eq!((pixels(b"<svg/>"), pixels(b"")), (0, 0));
    }

    /// An ICO file lists the dimensions of its images in a directory, but the PNG inside has its own dimensions. In an earlier version, 256
    /// × 256 pixels were granted, but 10,000 × 10,000 were decoded.
    #[test]
    fn more_pixels_than_were_granted_are_not_decoded() {
        let mut png = file(300, 300, 255, ImageFormat::Png);
        assert!(decode(&png, 300 * 300).is_ok());
        assert!(decode(&png, 300 * 300 - 1).is_err());
        let mut icon = b"\0\0\x01\0\x01\0\0\0\0\0\x01\0\x20\0".to_vec();
        icon.extend_from_slice(&(png.len() as u32).to_le_bytes());
        icon.extend_from_slice(&22_u32.to_le_bytes());
        icon.append(&mut png);
        assert_eq!(pixels(&icon), 256 * 256);
        assert!(decode(&icon, pixels(&icon)).is_err());
    }

    #[test]
    fn an_image_over_the_limit_is_rejected_with_its_size() {
        let reason = refusal(100_000_000).expect("the image is too large");
        assert_eq!(reason, "the image has 100 million pixels, but at most 50 million are allowed; reduce its width and height");
        assert_eq!(refusal(DECODED_IMAGE_PIXELS_MAX), None);
    }

    #[test]
    fn a_file_that_is_not_an_image_is_reported() {
        let html = measure(b"<!doctype html><p>not found", "image/png", MOST).expect_err("the file is HTML");
        assert_eq!(html, "the file is an HTML page; use an image file");
        assert!(measure(b"nonsense", "image/png", MOST).is_err());
        let half = file(50, 50, 255, ImageFormat::Png);
        assert!(measure(&half[..half.len() / 2], "image/png", MOST).is_err());
    }
}
