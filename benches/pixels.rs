//! The similarity of the built-in rendering engine to Chromium: a table of similarity and height per email.
//!
//! ```text
//! cargo bench --bench pixels -- [--chromium PROGRAM] [--samples FOLDER] [--out FOLDER]
//! ```
//!
//! Draws the emails of `tests/samples/emails`, and those of a folder of your own, at 600 and 375 pixels with both engines, without
//! any network: every image is a picture of one color, whether its address is whole, relative, a merge field, or missing.
//! Similarity is the SSIM of the colors at half size; 1 means that the pictures are equal. With `--out`, both pictures and their
//! difference are saved side by side. Requires Chromium.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use image::imageops::{self, FilterType};
use image::{ImageFormat, Rgb, RgbImage};
use mailmill::engine::render::pixels::chromium;
use mailmill::engine::render::pixels::{HtmlPage, Options, Pixels, ScreenshotOptions, Workers};
use tokio::time::Instant;

const WIDTHS: [u32; 2] = [600, 375];
/// The target: average similarity, and the share of pictures whose heights differ by at most this many pixels.
const LIKENESS_MIN: f64 = 0.98;
const SAME_HEIGHT_MIN: f64 = 0.97;
const HEIGHT_PX: u32 = 2;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (mut program, mut folders) = (PathBuf::from("/usr/bin/chromium"), vec![PathBuf::from("tests/samples/emails")]);
    let mut out = None;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--chromium" => program = arguments.next().expect("a program").into(),
            "--samples" => folders.push(arguments.next().expect("a folder").into()),
            "--out" => out = Some(PathBuf::from(arguments.next().expect("a folder"))),
            _ => {}
        }
    }
    if !program.exists() {
        println!("There is no Chromium at {}: nothing to compare with.", program.display());
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(compare(program, &folders, out.as_deref()));
}

async fn compare(program: PathBuf, folders: &[PathBuf], out: Option<&Path>) {
    let own = Options { program: Some(env!("CARGO_BIN_EXE_mailmill").into()), ..Options::default() };
    let folder = tempfile::tempdir().expect("a folder");
    let options = chromium::Options { program, folder: folder.path().to_owned(), fonts: None, unconfined: true };
    let ours = Pixels::embedded(Workers::new(own.clone()));
    let theirs = Pixels::with_chromium(options, Workers::new(own));
    let (mut likeness, mut same, mut worst) = (Vec::new(), 0, Vec::new());
    println!("{:<32} {:>5} {:>7} {:>7} {:>7} {:>6}", "email", "width", "height", "theirs", "SSIM", "ms");
    for (name, html) in folders.iter().flat_map(|folder| emails(folder)) {
        for dark in [false, true].into_iter().take(if html.contains("prefers-color-scheme") { 2 } else { 1 }) {
            let addresses = ours.image_addresses(&html).await.unwrap_or_else(|fault| panic!("{name}: {fault}"));
            let page = HtmlPage { html: html.clone(), images: addresses.into_iter().map(placeholder).collect() };
            let look = ScreenshotOptions { dark, ..ScreenshotOptions::of(&WIDTHS) };
            let began = Instant::now();
            let drawn = ours.screenshots(&page, &look).await.unwrap_or_else(|fault| panic!("{name}: {fault}"));
            let time = began.elapsed().as_millis();
            let reference = theirs.screenshots(&page, &look).await.unwrap_or_else(|fault| panic!("{name}: {fault}"));
            for (mine, other) in drawn.made.iter().zip(&reference.made) {
                let (left, right) = (read(&mine.png), read(&other.png));
                let alike = ssim(&left, &right);
                let name = if dark { format!("{name} (dark)") } else { name.clone() };
                println!("{name:<32} {:>5} {:>7} {:>7} {alike:>7.4} {time:>6}", mine.width, left.height(), right.height());
                same += usize::from(left.height().abs_diff(right.height()) <= HEIGHT_PX);
                likeness.push(alike);
                worst.push((alike, format!("{name} {}", mine.width)));
                if let Some(out) = out {
                    fs::create_dir_all(out).expect("a folder");
                    let file = out.join(format!("{name}-{}.png", mine.width).replace(' ', ""));
                    side_by_side(&left, &right).save(file).expect("a picture");
                }
            }
        }
    }
    let count = likeness.len() as f64;
    let mean = likeness.iter().sum::<f64>() / count;
    let share = same as f64 / count;
    worst.sort_by(|one, other| one.0.total_cmp(&other.0));
    println!(
        "\n{count} pictures: mean SSIM {mean:.4} (target {LIKENESS_MIN}), same height {:.1} % (target {:.0} %)",
        share * 100.0,
        SAME_HEIGHT_MIN * 100.0
    );
    println!(
        "least alike: {}",
        worst.iter().take(8).map(|(alike, name)| format!("{name} {alike:.3}")).collect::<Vec<_>>().join(", ")
    );
    let met = mean >= LIKENESS_MIN && share >= SAME_HEIGHT_MIN;
    println!("{}", if met { "The target is met." } else { "The target is NOT met." });
}

/// Returns name and HTML of each email in a folder, in order. MJML that does not parse is reported and skipped.
fn emails(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    let mut emails = Vec::new();
    for path in paths {
        let name = path.file_name().expect("files have names").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("readable");
        let is_mjml = path.extension().is_some_and(|extension| extension == "mjml");
        let html = if is_mjml { from_mjml(&text) } else { Ok(text) };
        match html {
            Ok(html) => emails.push((name, with_addresses(&html))),
            Err(why) => println!("{name}: {why}"),
        }
    }
    emails
}

/// Returns the HTML with a URL for every image without one. Without a URL, one engine shows a box and the other the image's text, which
/// would make the lines around it incomparable.
fn with_addresses(html: &str) -> String {
    let mut out = html.replace("src=\"\"", "src=\"missing.png\"").replace("src=''", "src='missing.png'");
    let mut at = 0;
    while let Some(open) = out[at..].to_ascii_lowercase().find("<img").map(|found| at + found) {
        let end = out[open..].find('>').map_or(out.len(), |end| open + end);
        at = open + 4;
        if !out[open..end].to_ascii_lowercase().contains("src=") {
            out.insert_str(at, " src=\"missing.png\"");
        }
    }
    out
}

fn from_mjml(text: &str) -> Result<String, String> {
    let parsed = mrml::parse(text).map_err(|error| error.to_string())?;
    parsed.element.render(&mrml::prelude::render::RenderOptions::default()).map_err(|error| error.to_string())
}

/// Returns a picture of one color, which depends on the URL.
fn placeholder(address: String) -> (String, Arc<Vec<u8>>) {
    let sum = address.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let color = [sum, sum >> 8, sum >> 16].map(|part| 80 + (part % 150) as u8);
    let mut file = Cursor::new(Vec::new());
    RgbImage::from_pixel(600, 300, Rgb(color)).write_to(&mut file, ImageFormat::Png).expect("a picture can be written");
    (address, Arc::new(file.into_inner()))
}

fn read(png: &[u8]) -> RgbImage {
    image::load_from_memory(png).expect("a picture").into_rgb8()
}

/// Returns the picture on white, extended to this size.
fn padded(picture: &RgbImage, width: u32, height: u32) -> RgbImage {
    let mut out = RgbImage::from_pixel(width, height, Rgb([255; 3]));
    imageops::replace(&mut out, picture, 0, 0);
    out
}

/// Returns the structural similarity (SSIM) of the three color channels at half size, over windows of 8 × 8 pixels at every fourth pixel.
fn ssim(left: &RgbImage, right: &RgbImage) -> f64 {
    let (width, height) = (left.width().max(right.width()), left.height().max(right.height()));
    let half = |picture: &RgbImage| {
        imageops::resize(&padded(picture, width, height), (width / 2).max(8), (height / 2).max(8), FilterType::Triangle)
    };
    let (left, right) = (half(left), half(right));
    let (mut sum, mut windows) = (0.0, 0.0);
    for y in (0..=left.height() - 8).step_by(4) {
        for x in (0..=left.width() - 8).step_by(4) {
            for color in 0..3 {
                sum += window(&left, &right, (x, y), color);
                windows += 1.0;
            }
        }
    }
    sum / windows
}

fn window(left: &RgbImage, right: &RgbImage, (x, y): (u32, u32), color: usize) -> f64 {
    const STEADY_MEAN: f64 = (0.01 * 255.0) * (0.01 * 255.0);
    const STEADY_SPREAD: f64 = (0.03 * 255.0) * (0.03 * 255.0);
    let (mut a, mut b, mut aa, mut bb, mut ab) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (dx, dy) in (0..64).map(|number| (number % 8, number / 8)) {
        let one = f64::from(left.get_pixel(x + dx, y + dy).0[color]);
        let other = f64::from(right.get_pixel(x + dx, y + dy).0[color]);
        (a, b, aa, bb, ab) = (a + one, b + other, aa + one * one, bb + other * other, ab + one * other);
    }
    let n = 64.0;
    let (a, b) = (a / n, b / n);
    let (aa, bb, ab) = (aa / n - a * a, bb / n - b * b, ab / n - a * b);
    (2.0 * a * b + STEADY_MEAN) * (2.0 * ab + STEADY_SPREAD) / ((a * a + b * b + STEADY_MEAN) * (aa + bb + STEADY_SPREAD))
}

/// Returns one picture with both pictures and their difference side by side.
fn side_by_side(left: &RgbImage, right: &RgbImage) -> RgbImage {
    let (width, height) = (left.width().max(right.width()), left.height().max(right.height()));
    let (left, right) = (padded(left, width, height), padded(right, width, height));
    let mut out = RgbImage::from_pixel(width * 3 + 20, height, Rgb([90; 3]));
    imageops::replace(&mut out, &left, 0, 0);
    imageops::replace(&mut out, &right, i64::from(width) + 10, 0);
    for (x, y, pixel) in left.enumerate_pixels() {
        let other = right.get_pixel(x, y);
        let differ: [u8; 3] = std::array::from_fn(|color| 255 - pixel.0[color].abs_diff(other.0[color]));
        out.put_pixel(x + width * 2 + 20, y, Rgb(differ));
    }
    out
}
