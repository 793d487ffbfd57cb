//! Tests natural-language instructions on the emails of two brands (`tests/samples/edits`).
//!
//! `tests/samples/edits.toml` lists instructions with all changes and replies. `SNAPSHOTS=write` rewrites the file; review the diff.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::civil::Date;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::*;
use crate::features::emails::brief::Brief;
use crate::features::emails::composer::Knowledge;
use crate::features::emails::contract::{self, Terms};
use crate::features::emails::finding::FindingKind;
use crate::features::emails::writing::material::Material;
use crate::features::projects::brand::{Brand, BrandContact, BrandImage, BrandPalette, BrandProduct};

const TODAY: Date = Date::constant(2026, 11, 23);

const RETURNS: Knowledge<'_> = Knowledge {
    title: "Refund policy",
    text: "Returns are free for 30 days. Send the pot back in its box, and we refund the full price. Shipping within the UK costs £4.",
    url: Some("https://pottery.example/policies/refund/"),
};
const RETOUREN: Knowledge<'_> = Knowledge {
    title: "Versand und Rückgabe",
    text: "Wir versenden innerhalb von zwei Werktagen. Du kannst unbenutzte Wolle innerhalb von 30 Tagen zurückgeben. Die Rückgabe ist \
           kostenlos.",
    url: Some("https://wool.example/versand/"),
};

#[derive(Deserialize)]
struct Sample {
    prompt: String,
    brief: Brief,
    document: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    email: String,
    instruction: String,
    /// Every field that changes, with its new value.
    #[serde(default)]
    changed: Vec<String>,
    #[serde(default)]
    done: Vec<String>,
    #[serde(default)]
    not_done: Vec<String>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Cases {
    edit: Vec<Case>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/samples")
}

fn sample(name: &str) -> (Sample, Email) {
    let path = folder().join(format!("edits/{name}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let sample: Sample = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let email = Email::from_json(&sample.document).unwrap_or_else(|found| panic!("{name}: {found:?}"));
    (sample, email)
}

fn product(name: &str, site: &str, price: &str) -> BrandProduct {
    BrandProduct {
        name: name.to_owned(),
        url: Some(format!("{site}products/{}/", name.to_lowercase().replace(' ', "-"))),
        image: Some(format!("{site}cdn/{}.jpg", name.to_lowercase().replace(' ', "-"))),
        description: None,
        price: Some(price.to_owned()),
        price_before: None,
        currency: Some("GBP".to_owned()),
    }
}

fn image(url: &str, description: &str) -> BrandImage {
    let (width, height) = (Some(1600), Some(900));
    BrandImage {
        url: url.to_owned(),
        description: Some(description.to_owned()),
        tags: Vec::new(),
        width,
        height,
        colors: Vec::new(),
    }
}

fn material(name: &str) -> Material {
    let is_wool = name.starts_with("de");
    let site = if is_wool { "https://wool.example/" } else { "https://pottery.example/" };
    let brand = Brand {
        name: Some(if is_wool { "Maschenhaus" } else { "Marl & Tide" }.to_owned()),
        languages: vec![if is_wool { "de" } else { "en" }.to_owned()],
        palette: BrandPalette {
            primary: Some("#B4532A".to_owned()),
            button: Some("#C9A227".to_owned()),
            ..BrandPalette::default()
        },
        products: match is_wool {
            true => vec![product("Lama Lace", site, "18.00"), product("Bambusnadeln", site, "14.50")],
            false => vec![product("Salt Pig", site, "28.00"), product("Tide Vase", site, "58.00")],
        },
        images: vec![
            image(&format!("{site}cdn/studio.jpg"), "The studio with shelves of drying mugs"),
            image(&format!("{site}cdn/weide.jpg"), "Schafe auf einer Weide im Nebel"),
            image(&format!("{site}cdn/meadow.jpg"), "Sheep in a meadow in the mist"),
        ],
        contact: BrandContact {
            email: Some(if is_wool { "post@wool.example" } else { "hello@pottery.example" }.to_owned()),
            phone: Some(if is_wool { "0341 555 01 88" } else { "01736 555 014" }.to_owned()),
            ..BrandContact::default()
        },
        ..Brand::default()
    };
    Material { name: brand.name.clone().unwrap_or_default(), site: site.to_owned(), brand, ..Material::default() }
}

fn lost(sample: &Sample, material: &Material, before: &Email, after: &Email) -> Vec<String> {
    let terms = Terms { brief: &sample.brief, prompt: &sample.prompt, material, today: TODAY };
    let missing = |document: &Email| {
        let found = contract::check(document, &terms).into_iter().filter(|finding| finding.kind == FindingKind::FactMissing);
        found.filter_map(|finding| finding.text).collect::<Vec<String>>()
    };
    let known = missing(before);
    missing(after).into_iter().filter(|text| !known.contains(text)).collect()
}

/// Applies an instruction to a sample. Returns the email before and after, with the replies.
fn run(name: &str, instruction: &str) -> (Email, Email, Vec<String>, Vec<String>) {
    let (sample, email) = sample(name);
    let material = material(name);
    let knowledge = [if name.starts_with("de") { RETOUREN } else { RETURNS }];
    let lost = |before: &Email, after: &Email| lost(&sample, &material, before, after);
    let means =
        EditResources { brand: &material.brand, site: Some(&material.site), knowledge: &knowledge, today: TODAY, lost: &lost };
    match apply(&email, instruction, &means) {
        Ok(edited) => {
            assert_eq!(edited.email.check(), [], "{instruction}");
            (email, edited.email, edited.done, edited.not_done)
        }
        Err(NotApplied(reasons)) => (email.clone(), email, Vec::new(), reasons),
    }
}

/// Returns every field that differs, with its new value. Blocks are named by their IDs, and their order is a field.
fn changes(before: &Email, after: &Email) -> Vec<String> {
    let (old, new) = (fields(before), fields(after));
    let set = new.iter().filter(|(path, value)| old.get(*path) != Some(value)).map(|(path, value)| format!("{path} = {value}"));
    let gone = old.keys().filter(|path| !new.contains_key(*path)).map(|path| format!("{path} is gone"));
    set.chain(gone).collect()
}

fn fields(email: &Email) -> BTreeMap<String, String> {
    let mut json = email.to_json();
    let mut found = BTreeMap::new();
    let blocks = json["blocks"].take();
    flatten("", &json, &mut found);
    let mut order = Vec::new();
    for block in blocks.as_array().into_iter().flatten() {
        let id = block["id"].as_str().unwrap_or_default().to_owned();
        flatten(&id, block, &mut found);
        order.push(id);
    }
    found.insert("order".to_owned(), order.join(" "));
    found
}

fn flatten(path: &str, value: &Value, found: &mut BTreeMap<String, String>) {
    let join = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| flatten(&join(name), value, found)),
        Value::Array(items) => items.iter().enumerate().for_each(|(at, item)| flatten(&join(&at.to_string()), item, found)),
        Value::Null => {}
        Value::String(text) => {
            found.insert(path.to_owned(), text.clone());
        }
        other => {
            found.insert(path.to_owned(), other.to_string());
        }
    }
}

#[test]
fn instructions_change_what_they_say_and_nothing_else() {
    let path = folder().join("edits.toml");
    let text = std::fs::read_to_string(&path).expect("the table exists");
    let expected: Cases = toml::from_str(&text).expect("the table is valid");
    assert!(expected.edit.len() >= 150, "{}", expected.edit.len());
    let found = expected.edit.iter().map(|case| {
        let (before, after, done, not_done) = run(&case.email, &case.instruction);
        let Case { email, instruction, .. } = case.clone();
        Case { email, instruction, changed: changes(&before, &after), done, not_done }
    });
    let found = Cases { edit: found.collect() };
    if std::env::var_os("SNAPSHOTS").is_some_and(|word| word == "write") {
        std::fs::write(&path, toml::to_string(&found).expect("a table can be written")).expect("the table can be written");
        return;
    }
    for (case, found) in expected.edit.iter().zip(&found.edit) {
        assert_eq!(found, case, "{}", case.instruction);
    }
}

/// The fields that an edit may change, by the first words of the sentence that reports the edit.
const ALLOWED: [(&str, &[&str]); 17] = [
    ("Changed the subject", &["subject"]),
    ("Changed the headline", &["hero.title"]),
    ("Changed the button", &[".label"]),
    ("Changed the coupon", &["coupon.code", "coupon.title", "coupon.text", "subject", "preheader", "hero.t", "text."]),
    ("Changed the color of: button", &["style.button"]),
    ("Changed the color of: background", &["style.background"]),
    ("Changed the boxes", &["style.boxes"]),
    ("Changed the layout", &["style.layout"]),
    ("Moved", &["order"]),
    ("Removed:", &["is gone", "order"]),
    ("Removed the product", &["products."]),
    ("Replaced", &["subject", "preheader", ".title", ".text", ".name", ".alt", ".label", ".items", ".rows"]),
    ("Put", &[".columns"]),
    ("Signed as", &["text-", "order"]),
    ("Shortened the headline", &["hero.title", "hero.text"]),
    ("Shortened the subject", &["subject"]),
    ("Added:", &["order", "-1."]),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn an_applied_edit_changes_only_what_it_says_and_loses_no_fact(
        verb in prop::sample::select(vec!["change", "make", "remove", "move", "add", "shorten", "put", "use", "sign as", "swap", ""]),
        part in prop::sample::select(vec!["the subject", "the headline", "the button", "the coupon", "the products", "the background",
            "the boxes", "the divider", "a divider", "the Salt Pig", "two products", "the bold layout", "Piran", "the frobnicator"]),
        value in prop::sample::select(vec!["to \"Winter\"", "green", "to the top", "to the bottom", "shorter", "side by side", "mauvish",
            "\"Come by.\"", "with sprinkles", "Shop Now", ""]),
        email in prop::sample::select(vec!["en_sale", "en_news", "en_turq", "en_event"]),
    ) {
        let instruction = format!("{verb} {part} {value}");
        let (before, after, done, not_done) = run(email, &instruction);
        prop_assert!(!done.is_empty() || !not_done.is_empty(), "{}", instruction);
        let changed = changes(&before, &after);
        prop_assert_eq!(done.is_empty(), changed.is_empty(), "{}: {:?} {:?}", instruction, done, changed);
        for change in &changed {
            let allows = |sentence: &String| {
                let kinds = ALLOWED.iter().find(|(start, _)| sentence.starts_with(start)).map(|(_, kinds)| *kinds);
                kinds.is_some_and(|kinds| kinds.iter().any(|kind| change.contains(kind)))
            };
            prop_assert!(done.iter().any(allows), "{}: {} is not in {:?}", instruction, change, done);
        }
        let (sample, material) = (sample(email).0, material(email));
        let asked = done.iter().any(|sentence| ["Removed", "Changed the", "Replaced", "Signed"].iter().any(|start| sentence.starts_with(start)));
        let lost = lost(&sample, &material, &before, &after);
        prop_assert!(asked || lost.is_empty(), "{}: {:?} loses {:?}", instruction, done, lost);
    }
}

#[test]
fn merge_fields_of_an_instruction_become_merge_fields() {
    let (before, after, done, _) = run("en_sale", "Add the sentence \"Dear {{ firstName }}, welcome.\" at the end");
    let changed = changes(&before, &after).join("\n");
    assert!(changed.contains("Dear {{ first_name }}, welcome."), "{changed} {done:?}");
    let (_, after, ..) = run("en_sale", "Change the subject to \"Hello {{ firstName }}\"");
    let json = after.to_json();
    assert_eq!(json["subject"], "Hello {{ first_name }}");
}

#[test]
fn a_replacement_changes_only_whole_words() {
    for (text, expected) in [
        ("Hello, use HELLO10", "X, use HELLO10"),
        ("[Hello](https://example.com/hello) hello@example.com", "[X](https://example.com/hello) hello@example.com"),
        ("HELLO-10 and Hello", "HELLO-10 and X"),
    ] {
        assert_eq!(passages::with_replaced(text, "Hello", "X").0, expected);
    }
    assert_eq!(passages::with_replaced("Use HELLO10.", "HELLO10", "X").0, "Use X.");
}

#[test]
fn refused_instructions_get_no_nonsense_advice() {
    let (before, after, _, reasons) = run("en_sale", "Change the subject to \"\"");
    assert!(before == after && !reasons.is_empty(), "{reasons:?}");
    for instruction in ["Make the button purple with yellow text", "change the link of the button to javascript:alert(1)"] {
        let (before, after, _, reasons) = run("en_sale", instruction);
        let said = reasons.join(" ");
        assert!(before == after && !said.contains("to \"to ") && !said.contains("to \"purple"), "{said}");
    }
}
