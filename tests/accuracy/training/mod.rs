//! Trains the weights of the deliverability check. Run it when the tokens or the features change:
//!
//! ```text
//! DELIVERABILITY_CORPUS=folder cargo test --release --test accuracy train_ -- --ignored --nocapture
//! ```
//!
//! `assets/deliverability/model-card.md` says what the folder contains. The counts of the spelling check come from a list in the
//! Python package symspellpy:
//!
//! ```text
//! pip download --no-deps symspellpy==6.10.1 && unzip -o symspellpy-*.whl
//! BIGRAMS=symspellpy/frequency_bigramdictionary_en_243_342.txt cargo test --test accuracy train_pairs -- --ignored --nocapture
//! ```

mod category;
mod pairs;
mod tokens;

use mailmill::engine::deliverability::message::{Input, Message};
use mailmill::engine::deliverability::rules;

use crate::corpus::{self, Document, Source};

/// A message of the corpus, with what the rules say about it.
pub struct Sample {
    pub source: Source,
    pub fold: u8,
    pub message: Message,
    pub rule_points: f64,
    pub name: String,
}

fn sample(document: &Document) -> Sample {
    let input = Input {
        html: &document.html,
        subject: Some(&document.subject),
        from_name: Some(document.from_name.as_str()).filter(|name| !name.is_empty()),
        from_email: Some(document.from_email.as_str()).filter(|email| !email.is_empty()),
        ..Input::default()
    };
    let message = Message::of(&input);
    let rule_points = rules::check(&message, &document.html).iter().map(|finding| finding.points).sum();
    Sample { source: document.source, fold: document.fold, message, rule_points, name: document.name.clone() }
}

#[test]
#[ignore = "writes the token weights"]
fn train_tokens() {
    let folder = corpus::folder().expect("DELIVERABILITY_CORPUS is the folder of the corpus");
    let samples: Vec<Sample> = corpus::load(&folder).iter().map(sample).collect();
    tokens::train(&samples);
}

#[test]
#[ignore = "writes the category weights"]
fn train_category() {
    let folder = corpus::folder().expect("DELIVERABILITY_CORPUS is the folder of the corpus");
    let samples: Vec<Sample> = corpus::load(&folder).iter().map(sample).collect();
    category::train(&samples);
}

#[test]
#[ignore = "writes the counts of confused words"]
fn train_pairs() {
    let list = std::env::var_os("BIGRAMS").expect("BIGRAMS is the list of pairs of words");
    pairs::train(&std::fs::read_to_string(list).expect("a readable list"));
}
