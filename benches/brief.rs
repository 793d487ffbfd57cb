//! The speed of reading a brief from a prompt: the longest prompt of the samples, and all of them. The target is 5 ms for the longest.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use jiff::civil::Date;
use mailmill::features::emails::brief::parse;
use mailmill::features::projects::brand::{Brand, BrandProduct};

const TODAY: Date = Date::constant(2026, 11, 16);

/// Returns the prompts of the samples, and a brand with the products of all sample brands.
fn samples() -> (Vec<String>, Brand) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/prompts");
    let read = |path: &std::path::Path| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(path).expect("the samples are in tests/samples")).expect("the samples are JSON")
    };
    let list = |value: serde_json::Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &serde_json::Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let files = std::fs::read_dir(format!("{folder}/first")).expect("the samples are in tests/samples");
    let prompts = files.flatten().flat_map(|file| list(read(&file.path()))).map(|sample| text(&sample, "prompt")).collect();
    let brands = list(read(format!("{folder}/brands.json").as_ref()));
    let products = brands.iter().flat_map(|brand| list(brand["products"].clone()));
    let product = |product: serde_json::Value| BrandProduct { name: text(&product, "name"), ..BrandProduct::default() };
    (prompts, Brand { products: products.map(product).collect(), ..Brand::default() })
}

fn reading(c: &mut Criterion) {
    let (prompts, brand) = samples();
    let longest = prompts.iter().max_by_key(|prompt| prompt.len()).expect("there are samples");
    c.bench_function("brief/longest prompt", |b| b.iter(|| parse(black_box(longest), &brand, None, TODAY)));
    c.bench_function("brief/all sample prompts", |b| {
        b.iter(|| prompts.iter().map(|prompt| parse(black_box(prompt), &brand, None, TODAY).facts.len()).sum::<usize>());
    });
}

criterion_group!(benches, reading);
criterion_main!(benches);
