//! Finds the images of an email by URL, checks them before the engine receives them, and counts their pixels against the limits.
//!
//! Only valid PNG, JPEG, GIF and WebP images of reasonable size are used; others are omitted and reported. This module fetches no images.

use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;

use data_url::DataUrl;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ImageFormat, ImageReader, Limits};
use takumi::prelude::ImageSource;

use super::GivenImages;
use crate::engine::render::html_limits::stood_in;
use crate::vocab::limits::{DECODED_IMAGE_BYTES_MAX, URL_CHARACTERS_MAX};

/// The key of a missing image.
pub const MISSING: &str = "image:none";

pub struct EmailImages<'a> {
    given: &'a GivenImages<'a>,
    embedded: &'a [&'a str],
    /// The images for the engine, by the keys in the prepared HTML.
    pub sources: HashMap<Arc<str>, ImageSource>,
    known: HashMap<String, Option<String>>,
    pixels_left: u64,
    /// The URLs of images without a file, in document order.
    pub absent: Vec<String>,
    /// The URLs of files that cannot be drawn.
    pub unsound: Vec<String>,
    /// The files of the images that are embedded in the HTML, each with its shortened URL.
    pub contained: Vec<(String, Arc<[u8]>)>,
}

impl<'a> EmailImages<'a> {
    /// Creates the images of an email. They come from `given`, whose files are keyed by URL, and from the images that are embedded in the
    /// HTML.
    pub fn new(given: &'a GivenImages<'a>, embedded: &'a [&'a str]) -> Self {
        Self {
            given,
            embedded,
            sources: HashMap::new(),
            known: HashMap::new(),
            pixels_left: given.pixels,
            absent: Vec::new(),
            unsound: Vec::new(),
            contained: Vec::new(),
        }
    }

    /// Returns the key of the image at this URL, if the image can be drawn.
    pub fn key(&mut self, address: &str) -> Option<String> {
        let address = address.trim();
        if let Some(known) = self.known.get(address) {
            return known.clone();
        }
        let key = self.options(address);
        self.known.insert(address.to_owned(), key.clone());
        key
    }

    fn options(&mut self, address: &str) -> Option<String> {
        let embedded = stood_in(address).and_then(|number| self.embedded.get(number).copied());
        let is_data = address.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("data:"));
        let given = match self.given.files.get(address) {
            Some(bytes) => Some(Arc::from(bytes.as_slice())),
            None => embedded.or(is_data.then_some(address)).map(|data| decode(data).unwrap_or_default()),
        };
        let Some(bytes): Option<Arc<[u8]>> = given else {
            if !address.is_empty() && address.len() <= URL_CHARACTERS_MAX {
                self.absent.push(address.to_owned());
            }
            return None;
        };
        let Some(source) = self.sound(&bytes) else {
            self.unsound.push(shortened(embedded.unwrap_or(address)));
            return None;
        };
        if embedded.is_some() || is_data {
            self.contained.push((shortened(embedded.unwrap_or(address)), bytes));
        }
        let key = format!("image:{}", self.sources.len());
        self.sources.insert(key.as_str().into(), source);
        Some(key)
    }

    fn sound(&mut self, bytes: &[u8]) -> Option<ImageSource> {
        let reader = || {
            let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().ok()?;
            let mut limits = Limits::default();
            limits.max_alloc = Some(DECODED_IMAGE_BYTES_MAX);
            reader.limits(limits);
            Some(reader)
        };
        let format = reader()?.format()?;
        let (width, height) = reader()?.into_dimensions().ok()?;
        let pixels = u64::from(width) * u64::from(height);
        self.pixels_left = self.pixels_left.checked_sub(pixels)?;
        match format {
            ImageFormat::Png | ImageFormat::Jpeg => ImageSource::from_bytes(bytes).ok(),
            // The engine cannot read WebP, and would decode all frames of a GIF although it shows only one, so both formats are converted
            // to PNG.
            ImageFormat::WebP | ImageFormat::Gif => {
                let drawn = reader()?.decode().ok()?.into_rgba8();
                let mut png = Vec::new();
                let encoder = PngEncoder::new_with_quality(&mut png, CompressionType::Fast, FilterType::NoFilter);
                drawn.write_with_encoder(encoder).ok()?;
                ImageSource::from_bytes(&png).ok()
            }
            _ => None,
        }
    }
}

fn decode(data: &str) -> Option<Arc<[u8]>> {
    let url = DataUrl::process(data).ok()?;
    Some(url.decode_to_vec().ok()?.0.into())
}

/// Truncates a URL to 80 characters, for a warning.
fn shortened(address: &str) -> String {
    match address.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &address[..end]),
        None => address.to_owned(),
    }
}

#[cfg(test)]
pub mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const PIXELS: u64 = 1_000_000;

    /// Returns the file of an image with a single color.
    pub fn file(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let mut out = Cursor::new(Vec::new());
        let picture = image::RgbImage::from_pixel(width, height, image::Rgb([0, 128, 255]));
        picture.write_to(&mut out, format).expect("the image can be written");
        out.into_inner()
    }

    #[test]
    fn valid_images_get_keys_and_others_are_reported() {
        let formats = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP];
        let mut given: BTreeMap<String, Vec<u8>> =
            formats.iter().map(|format| (format!("https://x.example/{format:?}"), file(3, 2, *format))).collect();
        given.insert("bad".into(), b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec());
        given.insert("cut".into(), file(50, 50, ImageFormat::Png)[..60].to_vec());
        let given = GivenImages { files: &given, pixels: PIXELS };
        let mut pictures = EmailImages::new(&given, &[]);
        for format in formats {
            assert!(pictures.key(&format!(" https://x.example/{format:?}\n")).is_some(), "{format:?}");
        }
        assert_eq!(pictures.sources.len(), 4);
        assert_eq!(pictures.key("bad").or(pictures.key("cut")).or(pictures.key("data:image/svg+xml,<svg/>")), None);
        assert_eq!(pictures.key("https://elsewhere.example/a.png").or(pictures.key("https://elsewhere.example/a.png")), None);
        assert_eq!(pictures.absent, ["https://elsewhere.example/a.png"]);
        assert_eq!(pictures.unsound, ["bad", "cut", "data:image/svg+xml,<svg/>"]);
    }

    #[test]
    fn an_image_with_huge_declared_dimensions_is_not_decoded() {
        let mut bomb = file(1, 1, ImageFormat::Png);
        bomb[16..24].copy_from_slice(&[0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30]);
        let given = BTreeMap::from([("bomb".to_owned(), bomb)]);
        assert_eq!(EmailImages::new(&GivenImages { files: &given, pixels: PIXELS }, &[]).key("bomb"), None);
    }

    #[test]
    fn images_beyond_the_granted_pixels_are_omitted() {
        let given = ["a", "b"].map(|name| (name.to_owned(), file(30, 10, ImageFormat::Png))).into();
        let given = GivenImages { files: &given, pixels: 599 };
        let mut pictures = EmailImages::new(&given, &[]);
        assert!(pictures.key("a").is_some() && pictures.key("b").is_none());
    }
}
