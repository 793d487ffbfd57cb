//! The speed of the checks of an email. The targets: compatibility below 5 ms for 100 KB of HTML, spelling below 50 ms for 500 words with
//! suggestions after the dictionary is loaded, deliverability below 10 ms without DNS.
//!
//! ```text
//! cargo bench --bench validation
//! ```

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use mailmill::engine::clients::findings::Checker;
use mailmill::engine::clients::report;
use mailmill::engine::deliverability::message::Input;
use mailmill::engine::deliverability::result::analyze;
use mailmill::engine::spelling::dictionaries::Dictionaries;
use mailmill::engine::spelling::{Options, check_html};

const RECEIPT: &str = include_str!("../tests/samples/validation/compatibility/receipt.html");
const NEWSLETTER: &str = include_str!("../tests/samples/validation/deliverability/newsletter.html");
const SENTENCES: &str = include_str!("../tests/samples/validation/blind/spelling.txt");

/// Returns the receipt with its body repeated until it has 100 KB.
fn large_email() -> String {
    let (head, rest) = RECEIPT.split_once("<body").expect("the receipt has a body");
    let (body, tail) = rest.rsplit_once("</body>").expect("the body ends");
    let (start, content) = body.split_once('>').expect("the tag ends");
    let copies = (100 * 1024 - head.len()).div_ceil(content.len());
    format!("{head}<body{start}>{}</body>{tail}", content.repeat(copies))
}

/// Returns 500 words of English sentences, a third of them with a mistake.
fn text_with_mistakes() -> String {
    let english = SENTENCES.lines().filter_map(|line| line.strip_prefix("en-US\t")).map(|line| line.replace(['[', ']'], ""));
    let mut words = 0;
    let sentences = english.take_while(|line| {
        words += line.split_whitespace().count();
        words <= 500
    });
    sentences.map(|sentence| format!("<p>{}</p>", sentence.replace('&', "&amp;"))).collect()
}

fn compatibility(c: &mut Criterion) {
    let email = large_email();
    let checker = Checker::embedded();
    c.bench_function("validation/compatibility of 100 KB in all clients", |b| {
        b.iter(|| report::check(checker, black_box(&email), &[]).summary.total_errors);
    });
    let six = ["gmail.desktop-webmail", "gmail.ios", "apple-mail.ios", "outlook.windows", "outlook.outlook-com", "yahoo.ios"];
    let six = six.map(String::from);
    c.bench_function("validation/compatibility of 100 KB in six clients", |b| {
        b.iter(|| report::check(checker, black_box(&email), &six).summary.total_errors);
    });
}

fn spelling(c: &mut Criterion) {
    let text = text_with_mistakes();
    let dictionaries = Dictionaries::new(None, 10);
    let options = Options { grammar: true, ..Options::default() };
    c.bench_function("validation/spelling of 500 words", |b| {
        b.iter(|| check_html(black_box(&text), &options, &dictionaries, 0).errors.len());
    });
}

fn deliverability(c: &mut Criterion) {
    for (name, html) in [("a newsletter", NEWSLETTER.to_owned()), ("100 KB", large_email())] {
        c.bench_function(&format!("validation/deliverability of {name}"), |b| {
            let input = Input { html: &html, subject: Some("Three new glazes for autumn"), ..Input::default() };
            b.iter(|| analyze(black_box(&input), None).spam_score.score);
        });
    }
}

criterion_group!(benches, compatibility, spelling, deliverability);
criterion_main!(benches);
