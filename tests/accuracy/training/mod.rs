//! Trains the weights of the deliverability check. Run it when the tokens or the features change:
//!
//! ```text
//! DELIVERABILITY_CORPUS=folder cargo test --release --test accuracy train_ -- --ignored --nocapture
//! ```
//!
//! `assets/deliverability/model-card.md` says what the folder contains.

mod category;
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
