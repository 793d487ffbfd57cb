//! The speed of rendering: MJML from the document, HTML from the MJML, plain text; the speed of the composer; and the time of a screenshot,
//! including its worker process.
//!
//! The targets: 5 ms for an email of twelve blocks, 20 ms for a composed one with its HTML, 150 ms for a screenshot. If the environment
//! variable `MJML_FOLDER` names a folder with the npm package `mjml` (`npm install mjml`), Node.js renders the same MJML in one warm
//! process, and the ratio of the times is printed; the target is 20.

use std::hint::black_box;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use mailmill::base::locale::LanguageTag;
use mailmill::engine::render::mjml;
use mailmill::engine::render::pixels::{self, HtmlPage, Options, Pixels, Workers};
use mailmill::features::emails::brief;
use mailmill::features::emails::composer::{Knowledge, Request, compose, plan};
use mailmill::features::emails::document::{Email, Layout, Style};
use mailmill::features::emails::render::{render, text, to_mjml};
use mailmill::features::emails::theme::Theme;
use mailmill::features::projects::brand::{Brand, BrandContact, BrandProduct};

const BLOCKS: usize = 12;

/// Returns an email with twelve blocks of the sample: the first eleven and the footer.
fn typical(layout: Layout) -> (Email, Theme) {
    let mut email = Email { style: Style { layout: Some(layout), ..Style::default() }, ..Email::sample() };
    let last = email.blocks.len() - 1;
    email.blocks.drain(BLOCKS - 1..last);
    let look = Theme::new(&Brand::default(), &email, 0);
    (email, look)
}

fn drawing(c: &mut Criterion) {
    let (email, look) = typical(Layout::Showcase);
    let source = to_mjml(&email, &look);
    c.bench_function("email/document to mjml, html and text", |b| b.iter(|| render(black_box(&email), &look)));
    c.bench_function("email/document to mjml", |b| b.iter(|| to_mjml(black_box(&email), &look)));
    c.bench_function("email/mjml to html", |b| b.iter(|| mjml::to_html(black_box(&source))));
    c.bench_function("email/document to text", |b| b.iter(|| text(black_box(&email))));
    let cards = typical(Layout::Cards);
    c.bench_function("email/document to all, on cards", |b| b.iter(|| render(black_box(&cards.0), &cards.1)));
}

/// A Node.js script that renders the MJML on its standard input: thirty times as warm-up, then thirty measured times. It prints the
/// milliseconds of one rendering.
const SCRIPT: &str = "
const mjml = require('mjml'); const draw = mjml.default || mjml;
const source = require('fs').readFileSync(0, 'utf8'); const rounds = 30;
(async () => {
  let drawn; for (let i = 0; i < rounds; i++) drawn = await draw(source, { validationLevel: 'soft' });
  if (!drawn.html.includes('Warm hands')) throw new Error('nothing was drawn');
  const from = process.hrtime.bigint();
  for (let i = 0; i < rounds; i++) await draw(source, { validationLevel: 'soft' });
  console.log(Number(process.hrtime.bigint() - from) / 1e6 / rounds);
})();
";

/// Renders the same MJML with the npm package, if it is installed.
#[expect(clippy::disallowed_methods, reason = "a comparison is measured by the clock")]
fn comparing(_: &mut Criterion) {
    let (email, look) = typical(Layout::Showcase);
    let source = &to_mjml(&email, &look);
    const ROUNDS: u32 = 200;
    let Some(folder) = std::env::var_os("MJML_FOLDER") else {
        println!("email/npm mjml: MJML_FOLDER names no folder with the npm package mjml; not compared");
        return;
    };
    let node = Command::new("node").args(["-e", SCRIPT]).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut node = node.expect("node can be started");
    let mut stdin = node.stdin.take().expect("piped");
    stdin.write_all(source.as_bytes()).expect("node reads");
    drop(stdin);
    let output = node.wait_with_output().expect("node ends");
    let theirs: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().expect("node prints milliseconds");
    let from = Instant::now();
    for _ in 0..ROUNDS {
        black_box(mjml::to_html(black_box(source))).expect("our own MJML is valid");
    }
    let ours = from.elapsed().as_secs_f64() * 1000.0 / f64::from(ROUNDS);
    println!("email/npm mjml: {theirs:.2} ms, ours {ours:.3} ms: {:.0} times as fast", theirs / ours);
}

/// Returns a brand like an imported one.
fn brand() -> Brand {
    let product = |number: u32| BrandProduct {
        name: format!("Oolong {number}"),
        url: Some(format!("https://leaf.example/teas/{number}")),
        image: Some(format!("https://leaf.example/teas/{number}.jpg")),
        description: Some("Dark, nutty and calm. Roasted twice over charcoal.".into()),
        price: Some("14.50".into()),
        price_before: None,
        currency: Some("GBP".into()),
    };
    Brand {
        name: Some("Leaf & Stone".into()),
        description: Some("A small tea house. We buy directly from eleven gardens and pack every order by hand.".into()),
        languages: vec!["en".into()],
        products: (1..=12).map(product).collect(),
        contact: BrandContact { address: Some("12 Harbour Lane, Bristol".into()), ..BrandContact::default() },
        ..Brand::default()
    }
}

/// Measures the composer: from a brief to a document, and to all texts of the email.
fn composing(c: &mut Criterion) {
    let brand = brand();
    let prompt = "Summer sale: 25% off everything with code SUN25 until Sunday 29 November";
    let site = Some("https://leaf.example/");
    let today = jiff::civil::date(2026, 11, 21);
    let language = LanguageTag::parse("en").expect("a language");
    let brief = brief::parse(prompt, &brand, Some(&language), today);
    let request = Request { brief: &brief, images: &[], reference: None, site, seed: 7, today };
    let knowledge = [Knowledge { title: "Brewing", text: "Warm the pot. Use three grams for each cup.", url: None }];
    let planned = plan(&request, &brand, true, &language, Some(1));
    c.bench_function("email/composed", |b| {
        b.iter(|| compose(black_box(&request), &brand, &knowledge, &planned, 0, &language));
    });
    c.bench_function("email/composed, with mjml, html and text", |b| {
        b.iter(|| {
            let composed = compose(black_box(&request), &brand, &knowledge, &planned, 0, &language);
            render(&composed.email, &Theme::new(&brand, &composed.email, 7))
        });
    });
}

/// Measures a screenshot of an email, including the start of its worker process.
fn shooting(c: &mut Criterion) {
    let (email, look) = typical(Layout::Showcase);
    let html = render(&email, &look).html;
    let drawer =
        Pixels::embedded(Workers::new(Options { program: Some(env!("CARGO_BIN_EXE_mailmill").into()), ..Options::default() }));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let page = HtmlPage { html, ..HtmlPage::default() };
    let shot = pixels::ScreenshotOptions::of(&[600]);
    c.bench_function("email/screenshot at 600 px, worker process included", |b| {
        b.to_async(&runtime).iter(|| async { drawer.screenshots(&page, &shot).await.expect("drawn") });
    });
}

criterion_group!(benches, drawing, composing, shooting, comparing);
criterion_main!(benches);
