//! Recomputes the figures of the model card from the shipped weights, on the folds that the training did not see.
//!
//! The corpus is not in the repository. `DELIVERABILITY_CORPUS` names its folder; without it, only the emails in
//! `tests/samples/validation/deliverability` are checked.

use std::collections::BTreeMap;

use mailmill::engine::deliverability::category::{Category, SPAM_SCORE};
use mailmill::engine::deliverability::message::Input;
use mailmill::engine::deliverability::result::{Analysis, analyze};

use crate::corpus::{self, Document, Source};

/// The folds that the weights were not trained on.
const HELD_OUT: [u8; 2] = [8, 9];

fn analysis(document: &Document) -> Analysis {
    let input = Input {
        html: &document.html,
        subject: Some(&document.subject),
        from_name: Some(document.from_name.as_str()).filter(|name| !name.is_empty()),
        from_email: Some(document.from_email.as_str()).filter(|email| !email.is_empty()),
        ..Input::default()
    };
    analyze(&input, None)
}

/// Returns the area under the ROC curve: how often spam has a higher score than legitimate mail.
pub fn auc(spam: &[f64], legitimate: &[f64]) -> f64 {
    let pairs = spam.iter().flat_map(|spam| legitimate.iter().map(move |other| (spam, other)));
    let wins: f64 = pairs.map(|(spam, other)| if spam > other { 1.0 } else { f64::from(u8::from(spam == other)) / 2.0 }).sum();
    wins / (spam.len() * legitimate.len()) as f64
}

#[test]
fn the_shipped_weights_reach_the_figures_of_the_model_card() {
    let Some(folder) = corpus::folder() else {
        println!("skipped: DELIVERABILITY_CORPUS is not set");
        return;
    };
    let mut scores: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    // The number of messages by Gmail's folder and the predicted folder, and below it the sums of the confidence and of the right
    // predictions.
    let mut placed: BTreeMap<(&str, String), u32> = BTreeMap::new();
    let mut confidence = (0.0, 0.0);
    for document in corpus::load(&folder).iter().filter(|document| HELD_OUT.contains(&document.fold)) {
        let name = match document.source {
            Source::Spam => "spam",
            Source::EasyLegitimate => "easy",
            Source::HardLegitimate => "hard",
            Source::Template | Source::GmailInbox | Source::GmailPromotions => "modern",
            Source::GmailSpam => "Gmail spam",
        };
        let analysis = analysis(document);
        if matches!(document.source, Source::GmailInbox | Source::GmailPromotions) {
            let label = if document.source == Source::GmailInbox { "inbox" } else { "promotions" };
            let predicted = format!("{:?}", analysis.prediction.category).to_lowercase();
            let right = u32::from(predicted == label);
            confidence.0 += analysis.prediction.confidence;
            confidence.1 += f64::from(right);
            *placed.entry((label, predicted)).or_default() += 1;
        }
        let is_spam = analysis.prediction.category == Category::Spam;
        assert_eq!(is_spam, analysis.spam_score.score >= SPAM_SCORE);
        scores.entry(name).or_default().push(analysis.spam_score.score);
    }
    let of = |name: &str| scores.get(name).cloned().unwrap_or_default();
    let share = |name: &str| {
        let all = of(name);
        (all.iter().filter(|score| **score >= SPAM_SCORE).count(), all.len())
    };
    for name in scores.keys() {
        println!("{name}: {:?} classified as spam", share(name));
    }
    for ((label, predicted), count) in &placed {
        println!("Gmail {label}, predicted {predicted}: {count}");
    }
    let all = f64::from(placed.values().sum::<u32>()).max(1.0);
    println!("mean confidence {:.2}, right {:.2}", confidence.0 / all, confidence.1 / all);
    assert!(confidence.0 <= confidence.1 + all * 0.15, "the confidence is too high");
    let area = auc(&of("spam"), &[of("easy"), of("hard")].concat());
    println!("AUC {area:.4}");
    assert!(area >= 0.985, "AUC {area}");
    let (found, all) = share("spam");
    assert!(found * 100 >= all * 70, "recall {found}/{all}");
    let (alarms, all) = share("hard");
    assert!(alarms * 30 <= all, "hard legitimate mail classified as spam: {alarms}/{all}");
    let (alarms, all) = share("modern");
    assert!(alarms * 50 <= all, "modern legitimate mail classified as spam: {alarms}/{all}");
}

/// Writes each message to a file for other spam filters: the content that the check receives, with neutral headers.
#[test]
#[ignore = "writes the messages for tests/accuracy/peers/deliverability.sh"]
fn export_for_peers() {
    let folder = corpus::folder().expect("DELIVERABILITY_CORPUS is the folder of the corpus");
    let out = folder.join("peers");
    for (number, document) in corpus::load(&folder).into_iter().enumerate() {
        let (set, class) = match document.source {
            Source::Spam => (true, "spam"),
            Source::EasyLegitimate => (true, "easy"),
            Source::HardLegitimate => (true, "hard"),
            Source::Template | Source::GmailInbox | Source::GmailPromotions => (true, "modern"),
            Source::GmailSpam => (false, ""),
        };
        if !set {
            continue;
        }
        let part = if HELD_OUT.contains(&document.fold) { "test" } else { "train" };
        let target = out.join(part).join(class);
        std::fs::create_dir_all(&target).expect("a writable folder");
        let line = |text: &str| text.replace(['\r', '\n'], " ");
        let mail = format!(
            "From: \"{}\" <{}>\nTo: <ada@example.com>\nDate: Mon, 5 Aug 2024 10:00:00 +0000\nMessage-ID: <1@example.com>\nSubject: {}\n\
             MIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{}\n",
            line(&document.from_name).replace('"', ""),
            line(&document.from_email),
            line(&document.subject),
            document.html
        );
        std::fs::write(target.join(format!("{number}-{}", document.name.replace('/', "-"))), mail).expect("a writable file");
    }
}

#[test]
fn the_sample_scores_as_the_card_says() {
    let spam = include_str!("../samples/validation/deliverability/spam.html");
    let found = analyze(&Input { html: spam, subject: Some("EARN $5,000 A WEEK FROM HOME!!!"), ..Input::default() }, None);
    assert_eq!(found.prediction.category, Category::Spam, "{}", found.spam_score.score);
    let newsletter = include_str!("../samples/validation/deliverability/newsletter.html");
    let found = analyze(&Input { html: newsletter, subject: Some("Three new glazes for autumn"), ..Input::default() }, None);
    assert_ne!(found.prediction.category, Category::Spam);
    assert!(found.prediction.score >= 95.0, "{:?}", found.spam_score.triggers);
}
