//! Tests rendering by the program's worker processes: their output, and what hostile emails can do to them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mailmill::engine::render::pixels::chromium;
use mailmill::engine::render::pixels::{
    HtmlPage, Options, Paper, Pixels, RenderError, ScreenshotOptions, Thumbnails, Warning, Workers,
};
use tokio::time::Instant;

use super::support::missing;

fn pixels() -> Pixels {
    Pixels::embedded(Workers::new(Options { program: Some(PathBuf::from(env!("CARGO_BIN_EXE_mailmill"))), ..Options::default() }))
}

fn page(html: &str) -> HtmlPage {
    HtmlPage { html: html.to_owned(), ..HtmlPage::default() }
}

const LETTER: &str = "<body style='margin:0;background:#fff'><div style='height:100px;background:#f00'></div><p>Ünïcode 日本 😀 \
                      <img src='https://x.example/a.png' alt='boots'></p></body>";

#[tokio::test]
async fn an_email_is_rendered_at_several_widths_with_thumbnails_and_warnings() {
    let look = ScreenshotOptions {
        thumbnails: Thumbnails { top_width: Some(100), full_width: None },
        ..ScreenshotOptions::of(&[600, 375])
    };
    let drawn = pixels().screenshots(&page(LETTER), &look).await.expect("it can be drawn");
    for (shot, width) in drawn.made.iter().zip([600, 375]) {
        let picture = image::load_from_memory(&shot.png).expect("a picture").into_rgb8();
        assert_eq!((picture.width(), picture.height()), (width, shot.height_px));
        assert_eq!(picture.get_pixel(5, 5).0, [255, 0, 0]);
        assert_eq!(picture.get_pixel(width - 1, 140).0, [255, 255, 255]);
        let small = image::load_from_memory(shot.thumbnail.as_ref().expect("it was asked for")).expect("a picture");
        assert_eq!(small.width(), 100);
    }
    let [Warning::ImagesAbsent { count: 1, .. }, Warning::GlyphsMissing { examples, .. }] = drawn.warnings.as_slice() else {
        panic!("{:?}", drawn.warnings)
    };
    assert_eq!(examples, "日本");
}

#[tokio::test]
async fn an_email_becomes_a_pdf_with_its_text() {
    for paper in [Paper::A4, Paper::Letter, Paper::Roll { width: 600 }] {
        let drawn = pixels().pdf(&page(LETTER), paper, "A letter").await.expect("it can be written");
        assert!(drawn.made.starts_with(b"%PDF-") && drawn.made.len() > 1_000, "{paper:?}");
    }
}

#[tokio::test]
async fn slow_rendering_is_ended_and_others_are_not_affected() {
    let pixels = pixels();
    let shadows = "0 0 400px 90px red,".repeat(30);
    let box_ = format!("<div style='width:9000px;height:9000px;box-shadow:{}'>x</div>", shadows.trim_end_matches(','));
    let costly = page(&box_.repeat(60));
    let began = Instant::now();
    let (plain, look) = (page("<p>x"), ScreenshotOptions::of(&[600]));
    let (costly, plain) = tokio::join!(pixels.screenshots(&costly, &look), pixels.screenshots(&plain, &look));
    assert!(plain.is_ok());
    assert!(began.elapsed() < Duration::from_secs(20));
    assert!(matches!(costly, Ok(_) | Err(RenderError::TooCostly | RenderError::Failed(_))), "{costly:?}");
}

#[tokio::test]
async fn an_abandoned_rendering_ends_with_its_process() {
    let pixels = pixels();
    let page = page(&"<p>x".repeat(20_000));
    for _ in 0..5 {
        let look = ScreenshotOptions::of(&[600]);
        let drawing = pixels.screenshots(&page, &look);
        assert!(tokio::time::timeout(Duration::from_millis(1), drawing).await.is_err());
    }
    let drawn = pixels.screenshots(&self::page("<p>x"), &ScreenshotOptions::of(&[600])).await;
    assert!(drawn.is_ok(), "their turns are free again");
}

#[tokio::test]
async fn a_missing_or_wrong_program_is_reported() {
    for program in ["/no/such/program", "/bin/true"] {
        let options = Options { program: Some(PathBuf::from(program)), ..Options::default() };
        let drawn = Pixels::embedded(Workers::new(options)).screenshots(&page("x"), &ScreenshotOptions::of(&[600])).await;
        assert!(matches!(drawn, Err(RenderError::Unavailable(_))), "{drawn:?}");
    }
}

/// This test needs Chromium.
#[tokio::test]
async fn a_chromium_renders_the_same_and_makes_no_requests() {
    let program = PathBuf::from("/usr/bin/chromium");
    if !program.exists() {
        return missing("there is no /usr/bin/chromium (Debian: chromium)");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let workers = Workers::new(Options { program: Some(PathBuf::from(env!("CARGO_BIN_EXE_mailmill"))), ..Options::default() });
    let options = chromium::Options { program, folder: folder.path().to_owned(), fonts: None, unconfined: true };
    let pixels = Pixels::with_chromium(options, workers);
    let (host, calls) = super::hostile::listener();
    let html = format!(
        "<style>body{{margin:0}}@media(prefers-color-scheme:dark){{div{{background:#00f!important}}}}</style><link rel=preconnect \
         href=http://{host}><link rel=stylesheet href=http://{host}/a.css><script>document.body.innerHTML=''</script>\
         <div style='height:100px;background:#f00'><img src=http://{host}/b.png></div><img src='https://x.example/c d.png' style='display:block' width=50 \
         height=50><iframe src=http://{host}/e></iframe><meta http-equiv=refresh content='0;url=http://{host}/f'>"
    );
    let mut green = std::io::Cursor::new(Vec::new());
    image::RgbImage::from_pixel(2, 2, image::Rgb([0, 255, 0])).write_to(&mut green, image::ImageFormat::Png).expect("a picture");
    let page = HtmlPage { html, images: [("https://x.example/c d.png".to_owned(), Arc::new(green.into_inner()))].into() };
    for (dark, color) in [(false, [255, 0, 0]), (true, [0, 0, 255])] {
        let look = ScreenshotOptions {
            dark,
            thumbnails: Thumbnails { top_width: Some(60), full_width: None },
            ..ScreenshotOptions::of(&[600, 375])
        };
        let drawn = pixels.screenshots(&page, &look).await.expect("it can be drawn");
        for (shot, width) in drawn.made.iter().zip([600, 375]) {
            let picture = image::load_from_memory(&shot.png).expect("a picture").into_rgb8();
            assert_eq!((picture.width(), picture.height()), (width, shot.height_px));
            assert_eq!((picture.get_pixel(300, 80).0, picture.get_pixel(20, 120).0), (color, [0, 255, 0]));
            assert!(shot.thumbnail.is_some());
        }
        assert!(matches!(drawn.warnings.as_slice(), [Warning::ImagesAbsent { .. }]), "{:?}", drawn.warnings);
    }
    let drawn = pixels.pdf(&page, Paper::Roll { width: 600 }, "x").await.expect("it can be written");
    assert!(drawn.made.starts_with(b"%PDF-"));
    assert_eq!(calls.load(std::sync::atomic::Ordering::SeqCst), 0);
}

const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/emails");
const PICTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/pictures");
/// The width of stored pictures: enough to see the layout.
const KEPT_WIDTH_PX: u32 = 150;
/// The mean difference per color channel, of 255, that rounding and antialiasing may cause.
const DIFFERENCE_MAX: f64 = 1.5;

/// The rendering engine is young and is updated often, and this test detects changes in its output. Update the pictures with
/// `SNAPSHOTS=write cargo test --test it the_sample_emails`, then check them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sample_emails_look_as_they_did() {
    let write = std::env::var_os("SNAPSHOTS").is_some_and(|word| word == "write");
    let pixels = pixels();
    let mut changed = Vec::new();
    let mut samples: Vec<_> =
        std::fs::read_dir(SAMPLES).expect("readable").map(|entry| entry.expect("readable").path()).collect();
    samples.sort();
    for path in samples {
        let text = std::fs::read_to_string(&path).expect("readable");
        let name = path.file_name().expect("files have names").to_string_lossy().into_owned();
        let html = match name.ends_with(".mjml") {
            true => mrml::parse(&text).expect("MJML").element.render(&Default::default()).expect("it can be rendered"),
            false => text,
        };
        let mut gray = std::io::Cursor::new(Vec::new());
        image::RgbImage::from_pixel(600, 300, image::Rgb([110, 130, 150]))
            .write_to(&mut gray, image::ImageFormat::Png)
            .expect("a picture");
        let addresses = pixels.image_addresses(&html).await.expect("it can be read");
        let images = addresses.into_iter().map(|address| (address, Arc::new(gray.get_ref().clone()))).collect();
        let drawn =
            pixels.screenshots(&HtmlPage { html, images }, &ScreenshotOptions::of(&[600])).await.expect("it can be drawn");
        let picture = image::load_from_memory(&drawn.made[0].png).expect("a picture").into_rgb8();
        let height = picture.height() * KEPT_WIDTH_PX / picture.width();
        let small = image::imageops::resize(&picture, KEPT_WIDTH_PX, height, image::imageops::FilterType::Triangle);
        let kept = PathBuf::from(PICTURES).join(format!("{name}.png"));
        if write {
            small.save(&kept).expect("it can be written");
        } else if let Some(difference) = difference(&small, &kept) {
            changed.push(format!("{name}: {difference}"));
        }
    }
    assert!(changed.is_empty(), "{}", changed.join("\n"));
}

/// Returns how a picture differs from the stored one.
fn difference(picture: &image::RgbImage, kept: &std::path::Path) -> Option<String> {
    let Ok(kept) = image::open(kept) else { return Some("there is no picture of it".to_owned()) };
    let kept = kept.into_rgb8();
    if kept.dimensions() != picture.dimensions() {
        return Some(format!("{:?} instead of {:?}", picture.dimensions(), kept.dimensions()));
    }
    let sum: u64 = picture.iter().zip(kept.iter()).map(|(one, other)| u64::from(one.abs_diff(*other))).sum();
    let mean = sum as f64 / picture.len() as f64;
    (mean > DIFFERENCE_MAX).then(|| format!("differs by {mean:.2}"))
}
