//! Tests the parser with the prompts in `tests/samples/prompts`, and tests properties that hold for any prompt.

use std::collections::BTreeMap;

use jiff::civil::date;
use proptest::prelude::*;
use serde::Deserialize;

use super::super::{ConstraintKind, Fact, FactKind, FactRole};
use super::*;
use crate::features::projects::brand::BrandProduct;

const BRANDS: &str = include_str!("../../../../../tests/samples/prompts/brands.json");
const PROMPTS: [(&str, &str); 13] = [
    ("de-community", include_str!("../../../../../tests/samples/prompts/first/de-community.json")),
    ("de-hurried", include_str!("../../../../../tests/samples/prompts/first/de-hurried.json")),
    ("de-local", include_str!("../../../../../tests/samples/prompts/first/de-local.json")),
    ("de-practices", include_str!("../../../../../tests/samples/prompts/first/de-practices.json")),
    ("en-community", include_str!("../../../../../tests/samples/prompts/first/en-community.json")),
    ("en-hurried", include_str!("../../../../../tests/samples/prompts/first/en-hurried.json")),
    ("en-services", include_str!("../../../../../tests/samples/prompts/first/en-services.json")),
    ("en-shops", include_str!("../../../../../tests/samples/prompts/first/en-shops.json")),
    ("en-software", include_str!("../../../../../tests/samples/prompts/first/en-software.json")),
    ("es", include_str!("../../../../../tests/samples/prompts/first/es.json")),
    ("fr", include_str!("../../../../../tests/samples/prompts/first/fr.json")),
    ("long-and-mixed", include_str!("../../../../../tests/samples/prompts/first/long-and-mixed.json")),
    ("others", include_str!("../../../../../tests/samples/prompts/first/others.json")),
];

#[derive(Deserialize)]
struct SampleBrand {
    id: String,
    language: String,
    products: Vec<SampleProduct>,
}

#[derive(Deserialize)]
struct SampleProduct {
    name: String,
}

#[derive(Deserialize)]
struct Sample {
    id: String,
    brand: String,
    language: String,
    purpose: String,
    today: String,
    prompt: String,
    facts: Vec<SampleFact>,
    constraints: Vec<SampleConstraint>,
    signature: Option<SampleSignature>,
    subject: Option<String>,
    button: Option<String>,
    link: Option<String>,
    forbidden: Vec<String>,
}

#[derive(Deserialize)]
struct SampleFact {
    kind: String,
    role: Option<String>,
    span: String,
    shows: Vec<String>,
}

#[derive(Deserialize)]
struct SampleConstraint {
    kind: String,
    value: Option<serde_json::Value>,
    span: String,
}

#[derive(Deserialize)]
struct SampleSignature {
    name: String,
}

fn samples() -> Vec<Sample> {
    PROMPTS
        .iter()
        .flat_map(|(name, text)| serde_json::from_str::<Vec<Sample>>(text).unwrap_or_else(|error| panic!("{name}: {error}")))
        .collect()
}

fn brands() -> BTreeMap<String, Brand> {
    let brands: Vec<SampleBrand> = serde_json::from_str(BRANDS).expect("the brands are JSON");
    let product = |product: SampleProduct| BrandProduct { name: product.name, ..BrandProduct::default() };
    let brand = |sample: SampleBrand| {
        let products = sample.products.into_iter().map(product).collect();
        (sample.id, Brand { languages: vec![sample.language], products, ..Brand::default() })
    };
    brands.into_iter().map(brand).collect()
}

/// Normalizes text for comparison, as the samples' `README.md` describes.
fn plain(text: &str) -> String {
    let text: String = text
        .to_lowercase()
        .chars()
        .map(|c| {
            if matches!(c, '“' | '”' | '„' | '«' | '»') {
                '"'
            } else if matches!(c, '’' | '‘') {
                '\''
            } else {
                c
            }
        })
        .collect();
    text.split(|c: char| c.is_whitespace() || c == '\u{a0}' || c == '\u{202f}')
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns whether the text contains `form` other than as part of a longer word or number.
fn shows(text: &str, form: &str) -> bool {
    let (text, form) = (plain(text), plain(form));
    let mut from = 0;
    while let Some(at) = text[from..].find(&form).map(|at| at + from) {
        let before = text[..at].chars().next_back();
        let after = &text[at + form.len()..];
        let first = form.chars().next().is_some_and(char::is_alphanumeric);
        let last = form.chars().next_back();
        let starts = !first || before.is_none_or(|c| !c.is_alphanumeric());
        let next = after.chars().next();
        let decimals = last.is_some_and(|c| c.is_ascii_digit())
            && matches!(next, Some('.' | ',' | ':'))
            && after.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
        let ends = !last.is_some_and(char::is_alphanumeric) || next.is_none_or(|c| !c.is_alphanumeric()) && !decimals;
        if starts && ends {
            return true;
        }
        from = at + form.chars().next().map_or(1, char::len_utf8);
    }
    false
}

/// Returns the value of a fact in the notations that emails use.
fn notations(fact: &Fact) -> String {
    use super::super::FactValue;
    const MONTHS: [[&str; 12]; 2] = [
        [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ],
        ["Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"],
    ];
    let day = |date: &jiff::civil::Date| {
        let month = usize::from(date.month().unsigned_abs()) - 1;
        format!("{0} {1} / {0}. {2} / {0}.{3}.", date.day(), MONTHS[0][month], MONTHS[1][month], date.month())
    };
    match &fact.value {
        Some(FactValue::Days { first, last: Some(last) }) => {
            let name = |date: &jiff::civil::Date| MONTHS[0][usize::from(date.month().unsigned_abs()) - 1];
            format!("{} {} to {} {} / {} / {}", first.day(), name(first), last.day(), name(last), day(first), day(last))
        }
        Some(FactValue::Days { first, last: None }) => day(first),
        Some(FactValue::Clock { start, end }) => {
            let end = end.map_or(String::new(), |end| {
                format!(
                    "{}:{:02}–{}:{:02} / {}–{}",
                    start.hour(),
                    start.minute(),
                    end.hour(),
                    end.minute(),
                    start.hour(),
                    end.hour()
                )
            });
            format!("{}:{:02} {:02}:{:02} {end}", start.hour(), start.minute(), start.hour(), start.minute())
        }
        Some(FactValue::Percent { percent }) => format!("{percent}%"),
        Some(FactValue::Money { amount, .. }) => format!("{amount}"),
        Some(FactValue::Count { count }) => format!("{count}"),
        None => String::new(),
    }
}

/// Returns all text of a brief that an email prints.
fn printed(brief: &Brief) -> Vec<String> {
    let facts = brief.facts.iter().map(|fact| fact.text.clone());
    let parts = [&brief.subject, &brief.preheader, &brief.headline].into_iter().flatten().map(|part| part.text.clone());
    let stories = brief
        .stories
        .iter()
        .flat_map(|story| [Some(story.text.text.clone()), story.heading.as_ref().map(|part| part.text.clone())])
        .flatten();
    let label = brief.cta.iter().filter_map(|cta| Some(cta.label.as_ref()?.text.clone()));
    let signature =
        brief.signature.iter().map(|signature| format!("{} {}", signature.name, signature.title.as_deref().unwrap_or_default()));
    facts.chain(parts).chain(stories).chain(label).chain(signature).collect()
}

fn word(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).expect("the value is JSON").as_str().unwrap_or_default().to_owned()
}

/// The numbers of facts, constraints and fields in the samples, and how many of them the parser recognizes.
#[derive(Default, Debug)]
struct Score {
    facts: usize,
    shown: usize,
    typed: usize,
    typed_right: usize,
    roles: usize,
    roles_right: usize,
    leaks: usize,
    constraints: usize,
    constraints_right: usize,
    fields: usize,
    fields_right: usize,
    languages_right: usize,
    purposes_right: usize,
    prompts: usize,
}

fn is_typed(kind: &str) -> bool {
    !matches!(kind, "sentence" | "condition" | "place" | "person" | "product" | "capacity")
}

fn measure(sample: &Sample, brief: &Brief, score: &mut Score, misses: &mut Vec<String>) {
    let printed = printed(brief);
    let id = &sample.id;
    score.prompts += 1;
    for fact in &sample.facts {
        score.facts += 1;
        let shows_it = |text: &str| fact.shows.iter().any(|form| shows(text, form));
        let has = |own: &&Fact| {
            shows_it(&own.text) || own.value.is_some() && shows_it(&notations(own)) || shows_it(&own.text.replace('.', ":"))
        };
        let links = brief
            .cta
            .iter()
            .filter_map(|cta| cta.link.as_deref())
            .chain(brief.facts.iter().filter(|own| own.kind == FactKind::Link).map(|own| own.text.as_str()));
        let is_shown = printed.iter().any(|text| shows_it(text))
            || brief.facts.iter().any(|own| has(&own))
            || fact.kind == "link" && links.into_iter().any(shows_it);
        if is_shown {
            score.shown += 1;
        } else {
            misses.push(format!("{id} LOST {} {:?}", fact.kind, fact.span));
        }
        let same_kind = |own: &&Fact| {
            word(own.kind) == fact.kind
                || matches!((fact.kind.as_str(), own.kind), ("date", FactKind::Period) | ("period", FactKind::Date))
        };
        if is_typed(&fact.kind) {
            score.typed += 1;
            if brief.facts.iter().any(|own| same_kind(&own) && has(&own)) {
                score.typed_right += 1;
            } else {
                misses.push(format!("{id} TYPE {} {:?}", fact.kind, fact.span));
            }
        }
        if let Some(role) = &fact.role {
            score.roles += 1;
            let own: Vec<String> = brief.facts.iter().filter(|own| has(own)).filter_map(|own| own.role.map(word)).collect();
            if own.contains(role) {
                score.roles_right += 1;
            } else {
                misses.push(format!("{id} ROLE {} {:?} {role} {own:?}", fact.kind, fact.span));
            }
        }
    }
    measure_limits(sample, brief, &printed, score, misses);
}

/// Counts the forbidden passages that the email would print, and compares the brief's constraints, fields, language and purpose with the
/// sample.
fn measure_limits(sample: &Sample, brief: &Brief, printed: &[String], score: &mut Score, misses: &mut Vec<String>) {
    let id = &sample.id;
    for text in &sample.forbidden {
        if let Some(own) = printed.iter().find(|own| plain(own).contains(&plain(text))) {
            score.leaks += 1;
            misses.push(format!("{id} LEAK {text:?} in {own:?}"));
        }
    }
    for constraint in
        sample.constraints.iter().filter(|constraint| !matches!(constraint.kind.as_str(), "tone" | "audience" | "length"))
    {
        score.constraints += 1;
        let value = constraint.value.as_ref().map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        let is_value = |own: &Option<String>| {
            !matches!(constraint.kind.as_str(), "word_limit" | "avoid_word")
                || own.as_deref().map(plain) == value.as_deref().map(plain)
        };
        if brief.constraints.iter().any(|own| word(own.kind) == constraint.kind && is_value(&own.value)) {
            score.constraints_right += 1;
        } else {
            misses.push(format!("{id} CONSTRAINT {} {:?} {:?}", constraint.kind, constraint.span, brief.constraints));
        }
    }
    let label = brief.cta.as_ref().and_then(|cta| Some(cta.label.as_ref()?.text.clone()));
    let fields = [
        (
            "signature",
            sample.signature.as_ref().map(|own| own.name.clone()),
            brief.signature.as_ref().map(|own| own.name.clone()),
        ),
        ("subject", sample.subject.clone(), brief.subject.as_ref().map(|own| own.text.clone())),
        ("button", sample.button.clone(), label),
        ("link", sample.link.clone(), brief.cta.as_ref().and_then(|cta| cta.link.clone())),
    ];
    for (name, wanted, own) in fields {
        let Some(wanted) = wanted else { continue };
        score.fields += 1;
        if own.as_deref() == Some(wanted.as_str()) {
            score.fields_right += 1;
        } else {
            misses.push(format!("{id} FIELD {name} {wanted:?} {own:?}"));
        }
    }
    if brief.language.primary() == sample.language {
        score.languages_right += 1;
    } else {
        misses.push(format!("{id} LANGUAGE {} {}", sample.language, brief.language.as_str()));
    }
    if word(brief.purpose) == sample.purpose {
        score.purposes_right += 1;
    } else {
        misses.push(format!("{id} PURPOSE {} {}", sample.purpose, word(brief.purpose)));
    }
}

#[test]
fn facts_of_the_sample_prompts_are_kept() {
    let brands = brands();
    let mut score = Score::default();
    let mut misses = Vec::new();
    for sample in samples() {
        let brief = parse(&sample.prompt, &brands[&sample.brand], None, sample.today.parse().expect("a date"));
        measure(&sample, &brief, &mut score, &mut misses);
    }
    for miss in &misses {
        println!("{miss}");
    }
    println!("{score:#?}");
    let share = |part: usize, all: usize| part as f64 / all as f64;
    assert!(share(score.shown, score.facts) >= 0.99, "{score:?}");
    assert!(share(score.typed_right, score.typed) >= 0.97, "{score:?}");
    assert!(share(score.roles_right, score.roles) >= 0.89, "{score:?}");
    assert!(score.leaks <= 6, "{score:?}");
    assert!(share(score.constraints_right, score.constraints) >= 0.95, "{score:?}");
    assert!(share(score.fields_right, score.fields) >= 0.97, "{score:?}");
    assert!(share(score.languages_right, score.prompts) >= 0.99, "{score:?}");
    assert!(share(score.purposes_right, score.prompts) >= 0.92, "{score:?}");
}

#[test]
fn avoided_words_are_constraints() {
    let brief =
        parse("Write a short mail, don't use the word \"cheap\".", &Brand::default(), None, jiff::civil::date(2026, 11, 23));
    assert!(
        brief.constraints.iter().any(|own| own.kind == ConstraintKind::AvoidWord && own.value.as_deref() == Some("cheap")),
        "{brief:#?}"
    );
}

fn partitions(prompt: &str) {
    let brief = parse(prompt, &Brand::default(), None, jiff::civil::date(2026, 11, 23));
    let spans = coverage(&brief, prompt);
    let mut end = 0;
    for (span, _) in spans {
        assert!(span.start == end && span.end > span.start, "{prompt:?}");
        end = span.end;
    }
    assert_eq!(end as usize, prompt.chars().count(), "{prompt:?}");
}

fn accounts_for_every_word(prompt: &str) {
    let brief = parse(prompt, &Brand::default(), None, jiff::civil::date(2026, 11, 23));
    let json = serde_json::to_value(&brief).expect("the brief is JSON");
    let mut inside = vec![false; prompt.chars().count()];
    mark(&json, &mut inside);
    let words = prompt.chars().zip(inside).filter(|(c, inside)| c.is_alphabetic() && !inside);
    let lost: String = words.map(|(c, _)| c).collect();
    assert!(lost.is_empty(), "{lost:?} of {prompt:?}: {brief:#?}");
}

fn mark(value: &serde_json::Value, inside: &mut [bool]) {
    if let Some(span) = value.get("span").filter(|span| span.is_object()) {
        let at = |name: &str| span[name].as_u64().expect("a number") as usize;
        inside[at("start")..at("end")].fill(true);
    }
    match value {
        serde_json::Value::Array(items) => items.iter().for_each(|item| mark(item, inside)),
        serde_json::Value::Object(fields) => fields.values().for_each(|field| mark(field, inside)),
        _ => {}
    }
}

#[test]
fn every_word_of_the_sample_prompts_is_accounted_for() {
    for sample in samples() {
        partitions(&sample.prompt);
        accounts_for_every_word(&sample.prompt);
    }
}

/// Words and symbols that the parser treats specially.
const WORDS: &[&str] = &[
    "20",
    "%",
    "£",
    "off",
    "until",
    "Sunday",
    "24.12.",
    "18h30",
    "\n",
    "- ",
    ".",
    ", ",
    ": ",
    "(",
    ")",
    "\"",
    "code",
    "LOFT25",
    "Subject",
    "mention that",
    "keep it short",
    "1)",
    "2)",
    "first",
    "sorry",
    "a@b.example",
    "https://a.example",
    "from",
    "to",
    "+44",
    "0117",
    "496",
    "Dr",
    "ß",
    "é",
    "Button",
    "sign as",
    "in German please",
    "75 words",
    "→",
    "[System:",
    "don't use",
];

/// Chats, remarks, reasons for rules, and withdrawn parts of a prompt are not facts.
#[test]
fn talk_is_no_fact() {
    let cases: [(&str, &[&str], &[&str]); 9] = [
        (
            "[09:14] Ann: the pool is closed on Friday\n[09:15] Bo: all day?\n[09:16] Ann: yes",
            &["pool"],
            &["Ann", "09:14", "all day"],
        ),
        ("Free entry on Friday. The landlord wanted 45% more but keep that out.", &["Free entry"], &["landlord", "45%"]),
        ("4.7 stars so far, the gym next door has 4.1 (leave that out).", &["4.7"], &["4.1"]),
        ("Dogs are welcome lol. Doors open at 6pm, I guess that works.", &["Dogs"], &["lol", "guess"]),
        ("The hall opens on Monday. Please no jokes, the treasurer is still upset.", &["hall"], &["treasurer"]),
        ("closed 25th to 28th, no sorry 25 to 27 december", &["25 to 27 December"], &["28th", "no sorry"]),
        ("ride sunday 8am no 9am, no booking", &["9am", "no booking"], &["8am"]),
        ("English version please for the expats. The tour starts at 5pm.", &["tour"], &["version", "expats"]),
        ("Welcome series, 10% off the first order with HELLO10", &["10% off the first order with HELLO10"], &["Welcome series"]),
    ];
    let language = LanguageTag::parse("en").expect("a tag");
    for (prompt, kept, dropped) in cases {
        let brief = parse(prompt, &Brand::default(), Some(&language), Date::constant(2026, 11, 19));
        let facts = brief.facts.iter().map(|fact| fact.text.as_str()).collect::<Vec<_>>().join("\n");
        for text in kept {
            assert!(facts.contains(text), "{prompt}: {text} is not in {facts}");
        }
        for text in dropped {
            assert!(!facts.contains(text), "{prompt}: {text} is in {facts}");
        }
    }
}

proptest! {
    #[test]
    // The letters of Linear A encode merge fields, so they are removed from prompts, and the generated text does not contain them.
    fn any_text_is_partitioned(prompt in "[\\PC--[\\u{10600}-\\u{1077F}]]{0,200}") {
        partitions(&prompt);
        accounts_for_every_word(&prompt);
    }

    #[test]
    fn any_row_of_prompt_words_is_partitioned(words in proptest::collection::vec(proptest::sample::select(WORDS), 0..60)) {
        let prompt = words.join(" ");
        partitions(&prompt);
        accounts_for_every_word(&prompt);
    }
}

#[test]
fn a_shop_reopens_on_the_day_after_back() {
    let days = |prompt: &str| {
        let brief = parse(prompt, &Brand::default(), None, date(2026, 11, 16));
        brief.facts.into_iter().filter(|fact| fact.role.is_some()).map(|fact| (fact.text, fact.role)).collect::<Vec<_>>()
    };
    let [closed, back] = [Some(FactRole::Closed), Some(FactRole::Reopens)];
    let found = days("closed 24 dec till 4 jan, back tues 5 jan\nhappy christmas from all of us");
    assert_eq!(found, [("24 December till 4 January".into(), closed), ("Tuesday 5 January".into(), back)]);
    let found = days("We are closed from 24 to 26 December and on 28 December.");
    assert_eq!(found.iter().map(|(_, role)| *role).collect::<Vec<_>>(), [closed, closed], "{found:?}");
}

#[test]
fn sentences_end_after_times_and_ranges_of_hours() {
    for (prompt, text) in [
        ("Open again on Friday from 8.30. anyone in pain can ring us.", "Anyone in pain can ring us."),
        ("Wir haben samstags 8-12. hunde dürfen mit in den Laden.", "Hunde dürfen mit in den Laden."),
    ] {
        let brief = parse(prompt, &Brand::default(), None, date(2027, 2, 22));
        assert!(brief.facts.iter().any(|fact| fact.text == text), "{prompt}: {:?}", brief.facts);
    }
}

#[test]
fn hours_are_not_a_phone_number() {
    let brief = parse("Maintenance on Sunday 7 March, 0200-0430 UTC.", &Brand::default(), None, date(2027, 2, 22));
    assert!(brief.facts.iter().all(|fact| fact.kind != FactKind::Contact), "{:?}", brief.facts);
}

#[test]
fn reduced_tickets_are_no_discount() {
    let brief =
        parse("Karten für die Premiere am 12. März kosten 20 Euro, ermäßigt 12.", &Brand::default(), None, date(2027, 2, 22));
    assert_eq!(brief.offer, None, "{:?}", brief.facts);
}

#[test]
fn weekdays_of_every_week_do_not_end_an_offer() {
    let prompt = "They get 10% off with HELLO10. Beans roasted every Tuesday, posted Wednesday.";
    let brief = parse(prompt, &Brand::default(), None, date(2027, 2, 22));
    assert!(brief.facts.iter().all(|fact| fact.role != Some(FactRole::OfferEnds)), "{:?}", brief.facts);
}

#[test]
fn a_weekday_with_an_article_after_closed_is_no_date() {
    let brands = brands();
    let today = "2027-09-13".parse().expect("a date");
    for prompt in ["Menù del tartufo da venerdì 8 ottobre. Solo la sera, chiuso il lunedì.", "Brunch dès 10 h, fermé le lundi."]
    {
        let brief = parse(prompt, &brands["kiln"], None, today);
        let weekday = brief.facts.iter().find(|fact| fact.text.contains("lun")).expect("the weekday is a fact");
        assert_eq!(weekday.value, None, "{prompt}");
    }
}

#[test]
fn a_button_before_an_address_has_only_its_label() {
    let prompt = "Orders close on 4 March. button Order flowers linking to https://a.example/orders";
    let brief = parse(prompt, &Brand::default(), None, date(2027, 2, 22));
    let label = brief.cta.and_then(|cta| cta.label).map(|label| label.text);
    assert_eq!(label.as_deref(), Some("Order flowers"));
}

#[test]
fn a_denied_form_of_address_is_the_other_form() {
    let brief =
        parse("Reifenwechsel ab 8. März für 35 Euro. Kunden duzen bitte nicht.", &Brand::default(), None, date(2027, 2, 22));
    assert_eq!(brief.constraints.first().map(|constraint| constraint.kind), Some(ConstraintKind::Formal));
}
