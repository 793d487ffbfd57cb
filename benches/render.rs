//! How fast a document becomes an email: MJML from the document, HTML from the MJML, plain text.
//!
//! The bar is 5 ms for an email of twelve blocks. Where Node.js has the npm package `mjml` (`npm install mjml` in a folder, and that
//! folder as `MJML_FOLDER` in the environment), the same MJML is drawn by it too, in one process that is warm, and the ratio is
//! printed; the bar is 20 times.

use std::hint::black_box;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Instant;

use criterion::{Criterion, criterion_group, criterion_main};
use mailmill::engine::render::mjml;
use mailmill::features::emails::document::{Email, Layout, Style};
use mailmill::features::emails::look::Look;
use mailmill::features::emails::render::{render, text, to_mjml};
use mailmill::features::projects::brand::Brand;

const BLOCKS: usize = 12;

/// Twelve blocks of the sample: the first eleven and the footer.
fn typical(layout: Layout) -> (Email, Look) {
    let mut email = Email { style: Style { layout: Some(layout), ..Style::default() }, ..Email::sample() };
    let last = email.blocks.len() - 1;
    email.blocks.drain(BLOCKS - 1..last);
    let look = Look::new(&Brand::default(), &email, 0);
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
    compare(&source);
}

/// Draws the MJML that it reads, thirty times to get warm and thirty times by the clock; prints milliseconds of one.
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

/// The same MJML through the npm package, where there is one.
#[expect(clippy::disallowed_methods, reason = "a comparison is measured by the clock")]
fn compare(source: &str) {
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

criterion_group!(benches, drawing);
criterion_main!(benches);
