//! Predicts the folder: inbox, promotions or spam.
//!
//! A softmax over 40 features gives the probabilities of the three folders. Its weights were trained on mail with Gmail's labels and on
//! templates labeled by kind. Content alone cannot predict what Gmail treats as spam, because the sender's reputation is decisive. The
//! probability of spam is therefore used only to lower the confidence in the other two folders. An email is classified as spam only if its
//! spam score reaches 5.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::content::{amount, is_emoji};
use super::links::{registrable, unsubscribes};
use super::message::Message;
use super::phrases::Phrases;

/// The folder that a mailbox provider puts an email into.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, Hash, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "DeliverabilityCategory")]
pub enum Category {
    Inbox,
    Promotions,
    Spam,
}

/// The spam score from which an email is classified as spam, as in SpamAssassin.
pub const SPAM_SCORE: f64 = 5.0;

pub const FEATURE_COUNT: usize = 40;
/// The names that `reasoning` uses for the features, in the order of [`features`].
pub const FEATURES: [&str; FEATURE_COUNT] = [
    "the length of the text",
    "the number of links",
    "links per word",
    "the number of images",
    "images per word",
    "the number of tables",
    "the number of headings",
    "short links that look like buttons",
    "linked images",
    "the number of linked domains",
    "an unsubscribe link",
    "percentages",
    "prices",
    "exclamation marks",
    "question marks",
    "words in capitals",
    "the length of the subject",
    "a percentage in the subject",
    "an exclamation mark in the subject",
    "a question in the subject",
    "emoji in the subject",
    "capitals in the subject",
    "words typical of offers",
    "words typical of orders and payments",
    "words typical of account and security notices",
    "words typical of newsletters",
    "calls to action",
    "personal words",
    "words typical of events",
    "offers in the subject",
    "orders or payments in the subject",
    "an account matter in the subject",
    "a call to action in the subject",
    "merge tags",
    "a preheader",
    "hidden text",
    "links to social networks",
    "a sender's address typical of bulk mail",
    "a sender's address that looks personal",
    "plain layout",
];

/// The phrases of `signals.toml` that an email contains, by group.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    /// The number of occurrences of each group's phrases in the text.
    counts: BTreeMap<&'static str, usize>,
    subject_counts: BTreeMap<&'static str, usize>,
    words: BTreeMap<&'static str, BTreeSet<&'static str>>,
}

static SIGNALS: LazyLock<Phrases> = LazyLock::new(|| Phrases::read(include_str!("../../../assets/deliverability/signals.toml")));

impl Signals {
    pub fn of(message: &Message) -> Self {
        let mut signals = Self::default();
        for at in 0..message.words.len() {
            for phrase in SIGNALS.at(message.words.get(at..).unwrap_or_default()) {
                *signals.counts.entry(&phrase.group).or_default() += 1;
                signals.words.entry(&phrase.group).or_default().insert(&phrase.text);
            }
        }
        for at in 0..message.subject_words.len() {
            for phrase in SIGNALS.at(message.subject_words.get(at..).unwrap_or_default()) {
                *signals.subject_counts.entry(&phrase.group).or_default() += 1;
                signals.words.entry(&phrase.group).or_default().insert(&phrase.text);
            }
        }
        signals
    }

    /// Returns up to ten distinct phrases of a group that the email contains.
    pub fn words(&self, group: &str) -> Vec<String> {
        self.words.get(group).into_iter().flatten().take(10).map(|word| word.trim_end_matches('*').to_owned()).collect()
    }

    fn per_word(&self, group: &str, words: f64) -> f64 {
        (self.counts.get(group).copied().unwrap_or_default() as f64 / words * 30.0).min(2.0)
    }

    fn in_subject(&self, group: &str) -> f64 {
        flag(self.subject_counts.get(group).is_some_and(|count| *count > 0))
    }
}

fn flag(value: bool) -> f64 {
    f64::from(u8::from(value))
}

fn logarithm(count: usize) -> f64 {
    (count as f64).ln_1p() / 3.0
}

/// Returns the features of an email, in the order of [`FEATURES`].
pub fn features(message: &Message, signals: &Signals) -> [f64; FEATURE_COUNT] {
    let words = message.words.len().max(1) as f64;
    let images = message.images.iter().filter(|image| !image.is_invisible()).count();
    let links = message.links.len();
    let subject = message.subject.as_deref().unwrap_or_default();
    let share = |count: usize, factor: f64| (count as f64 / words * factor).min(2.0);
    let capitals = message
        .words
        .iter()
        .filter(|word| {
            message.text.get(word.start..word.end).is_some_and(|text| text.len() >= 3 && !text.chars().any(char::is_lowercase))
        })
        .count();
    let is_button = |text: &str| (1..=4).contains(&text.split_whitespace().count());
    let subject_letters = subject.chars().filter(|c| c.is_alphabetic()).count().max(1);
    let subject_capitals = subject.chars().filter(|c| c.is_uppercase()).count();
    let ends_with_percent = |words: &[super::message::Word]| words.iter().filter(|word| word.folded.ends_with('%')).count();
    let (mass_address, personal_address) = address_kind(message);
    [
        logarithm(message.words.len()),
        logarithm(links),
        share(links, 10.0),
        logarithm(images),
        share(images, 10.0),
        logarithm(message.table_count),
        logarithm(message.heading_count),
        logarithm(message.links.iter().filter(|link| is_button(&link.text)).count()),
        logarithm(message.links.iter().filter(|link| link.has_image).count()),
        logarithm(domains(message).len()),
        flag(message.links.iter().any(unsubscribes)),
        share(ends_with_percent(&message.words), 30.0),
        share(message.words.iter().filter(|word| amount(&word.folded).is_some()).count(), 30.0),
        share(message.text.matches('!').count(), 30.0),
        share(message.text.matches('?').count(), 30.0),
        share(capitals, 5.0),
        (subject.chars().count() as f64 / 60.0).min(2.0),
        flag(ends_with_percent(&message.subject_words) > 0),
        flag(subject.contains('!')),
        flag(subject.contains('?')),
        flag(subject.chars().any(is_emoji)),
        subject_capitals as f64 / subject_letters as f64,
        signals.per_word("offer", words),
        signals.per_word("transaction", words),
        signals.per_word("account", words),
        signals.per_word("newsletter", words),
        signals.per_word("appeal", words),
        signals.per_word("personal", words),
        signals.per_word("event", words),
        signals.in_subject("offer"),
        signals.in_subject("transaction"),
        signals.in_subject("account"),
        signals.in_subject("appeal"),
        flag(message.text.contains("{{") || message.text.contains("*|")),
        flag(message.hidden.iter().any(|hidden| hidden.is_preheader)),
        flag(message.hidden.iter().any(|hidden| !hidden.is_preheader)),
        logarithm(domains(message).iter().filter(|domain| SOCIAL.contains(&domain.as_str())).count()),
        mass_address,
        personal_address,
        flag(images == 0 && message.table_count == 0),
    ]
}

const SOCIAL: [&str; 8] =
    ["facebook.com", "twitter.com", "x.com", "instagram.com", "linkedin.com", "youtube.com", "pinterest.com", "tiktok.com"];

fn domains(message: &Message) -> BTreeSet<String> {
    let hosts = message.links.iter().filter_map(|link| link.address.split_once("://")?.1.split(['/', '?', '#', ':']).next());
    hosts.map(|host| registrable(&host.to_ascii_lowercase())).collect()
}

/// Returns two features: whether the sender's address is typical of mass mail, and whether it looks like a person's address.
fn address_kind(message: &Message) -> (f64, f64) {
    let local = message.from_email.as_deref().and_then(|email| email.split('@').next()).unwrap_or_default().to_ascii_lowercase();
    let mass =
        ["news", "info", "offers", "marketing", "hello", "contact", "mail", "email", "noreply", "no-reply", "updates", "team"];
    let is_mass = mass.iter().any(|word| local.starts_with(word));
    (flag(is_mass), flag(!is_mass && local.contains('.')))
}

/// The weights of the softmax: for each class, the bias and a weight per feature.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    pub inbox: Vec<f64>,
    pub promotions: Vec<f64>,
    pub spam: Vec<f64>,
    /// The divisor of the logits, which makes the probabilities match the observed shares (temperature scaling).
    pub temperature: f64,
}

static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../assets/deliverability/category.toml")).expect("a test parses the embedded weights")
});

impl Weights {
    /// Returns the probabilities of inbox, promotions and spam.
    pub fn probabilities(&self, features: &[f64]) -> [f64; 3] {
        let logit = |weights: &[f64]| {
            let (bias, weights) = weights.split_first().unwrap_or((&0.0, &[]));
            (bias + weights.iter().zip(features).map(|(weight, value)| weight * value).sum::<f64>()) / self.temperature
        };
        let logits = [logit(&self.inbox), logit(&self.promotions), logit(&self.spam)];
        let largest = logits.iter().copied().fold(f64::MIN, f64::max);
        let powers = logits.map(|logit| (logit - largest).exp());
        let sum: f64 = powers.iter().sum();
        powers.map(|power| power / sum)
    }
}

/// The maximum confidence. The placement also depends on the sender's reputation, which the content does not show.
const CONFIDENCE_MAX: f64 = 0.8;

#[derive(Clone, Debug)]
pub struct Placement {
    pub category: Category,
    pub confidence: f64,
    /// The features that contributed most to the choice between inbox and promotions, strongest first.
    pub reasons: Vec<&'static str>,
}

/// Predicts the folder of an email with this spam score.
pub fn predict(message: &Message, signals: &Signals, spam_score: f64) -> Placement {
    let features = features(message, signals);
    let [inbox, promotions, _] = WEIGHTS.probabilities(&features);
    let (category, confidence) = match (spam_score >= SPAM_SCORE, inbox >= promotions) {
        // The confidence that an email is spam is a logistic function of its spam score: 0.5 at the threshold.
        (true, _) => (Category::Spam, 1.0 / (1.0 + (SPAM_SCORE - spam_score).exp())),
        (false, true) => (Category::Inbox, inbox),
        (false, false) => (Category::Promotions, promotions),
    };
    let (chosen, other) =
        if promotions > inbox { (&WEIGHTS.promotions, &WEIGHTS.inbox) } else { (&WEIGHTS.inbox, &WEIGHTS.promotions) };
    let mut reasons: Vec<(f64, &str)> = chosen
        .iter()
        .skip(1)
        .zip(other.iter().skip(1))
        .zip(features)
        .zip(FEATURES)
        .map(|(((chosen, other), value), name)| ((chosen - other) * value, name))
        .filter(|(effect, _)| *effect > 0.0)
        .collect();
    reasons.sort_by(|one, other| other.0.total_cmp(&one.0));
    let reasons = reasons.into_iter().take(3).map(|(_, name)| name).collect();
    Placement { category, confidence: confidence.min(CONFIDENCE_MAX), reasons }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::deliverability::message::Input;

    fn placement(subject: &str, html: &str) -> Placement {
        let message = Message::of(&Input { html, subject: Some(subject), ..Input::default() });
        predict(&message, &Signals::of(&message), 0.0)
    }

    #[test]
    fn the_weights_have_a_bias_and_a_weight_per_feature() {
        for weights in [&WEIGHTS.inbox, &WEIGHTS.promotions, &WEIGHTS.spam] {
            assert_eq!(weights.len(), FEATURE_COUNT + 1);
        }
        let sum: f64 = WEIGHTS.probabilities(&[0.5; FEATURE_COUNT]).iter().sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_password_reset_goes_to_the_inbox_and_a_sale_to_promotions() {
        let reset = placement(
            "Reset your password",
            "<p>Hi Ada,</p><p>You asked us to reset the password of your account. Use the button below; it expires in 24 hours.</p>\
             <p><a href='https://app.example/reset'>Reset your password</a></p><p>If you did not ask for this, contact our support team.</p>",
        );
        assert_eq!(reset.category, Category::Inbox);
        let products = "<td><a href='https://shop.example/a'><img src=a.png alt=Vase></a><h3>Vase</h3><p>Now €20 instead of €25, save 20%</p>\
             <a href='https://shop.example/a'>Shop now</a></td>"
            .repeat(6);
        let sale = placement(
            "Up to 50% off everything!",
            &format!("<table><tr>{products}</tr></table><a href='https://shop.example/unsubscribe'>Unsubscribe</a>"),
        );
        assert_eq!(sale.category, Category::Promotions);
        assert!(sale.confidence <= 0.8 && !sale.reasons.is_empty());
    }
}
