//! Fits the softmax of the categories by gradient descent, and its temperature on folds that the fit did not see.

use mailmill::engine::deliverability::category::{FEATURE_COUNT, Signals, Weights, features};

use super::Sample;
use super::tokens::FOLDS;
use crate::corpus::Source;

const STEPS: usize = 4_000;
const RATE: f64 = 0.3;
/// The penalty on large weights.
const PENALTY: f64 = 0.004;

/// The numbers of the emails in the folder `generated` that inform and do not advertise.
const NOTICES: [&str; 7] = ["04", "14", "15", "18", "21", "27", "28"];

struct Case {
    fold: u8,
    features: [f64; FEATURE_COUNT],
    class: usize,
    weight: f64,
    is_gmail: bool,
}

/// Returns the class of a sample: 0 for inbox, 1 for promotions, 2 for spam.
fn class(sample: &Sample) -> Option<(usize, f64)> {
    match sample.source {
        Source::GmailInbox => Some((0, 1.0)),
        Source::GmailPromotions => Some((1, 1.0)),
        Source::GmailSpam => Some((2, 1.0)),
        Source::Template => {
            let name = &sample.name;
            if let Some(number) = name.strip_prefix("generated/") {
                // These emails get a higher weight, because they are few and the most similar to what Mailmill sends.
                return Some((usize::from(!NOTICES.contains(&number)), 3.0));
            }
            let promotes = ["special_sale", "news_feed", "digest", "example", "base", "different_languages"];
            let is_promotion = promotes.iter().any(|kind| name.contains(kind));
            // The sets contain each template in several variants, so each variant gets a lower weight.
            let weight = if name.ends_with("/content") { 0.17 } else { 0.5 };
            (!name.contains("example") && !name.ends_with("base")).then_some((usize::from(is_promotion), weight))
        }
        _ => None,
    }
}

fn fit(cases: &[&Case]) -> Weights {
    let mut weights = [[0.0; FEATURE_COUNT + 1]; 3];
    let total: f64 = cases.iter().map(|case| case.weight).sum();
    for _ in 0..STEPS {
        let current = to_weights(&weights, 1.0);
        let mut gradient = [[0.0; FEATURE_COUNT + 1]; 3];
        for case in cases {
            let probabilities = current.probabilities(&case.features);
            for (index, gradient) in gradient.iter_mut().enumerate() {
                let error = case.weight * (probabilities[index] - f64::from(u8::from(case.class == index)));
                gradient[0] += error;
                for (slot, value) in gradient.iter_mut().skip(1).zip(case.features) {
                    *slot += error * value;
                }
            }
        }
        for (weights, gradient) in weights.iter_mut().zip(gradient) {
            for (index, (weight, gradient)) in weights.iter_mut().zip(gradient).enumerate() {
                let penalty = if index == 0 { 0.0 } else { PENALTY * *weight };
                *weight -= RATE * (gradient / total + penalty);
            }
        }
    }
    to_weights(&weights, 1.0)
}

fn to_weights(weights: &[[f64; FEATURE_COUNT + 1]; 3], temperature: f64) -> Weights {
    let rounded = |weights: &[f64]| weights.iter().map(|weight| (weight * 1e4).round() / 1e4).collect();
    Weights { inbox: rounded(&weights[0]), promotions: rounded(&weights[1]), spam: rounded(&weights[2]), temperature }
}

fn log_loss(predicted: &[([f64; 3], &Case)]) -> f64 {
    let total: f64 = predicted.iter().map(|(_, case)| case.weight).sum();
    predicted.iter().map(|(probabilities, case)| -case.weight * probabilities[case.class].max(1e-9).ln()).sum::<f64>() / total
}

pub fn train(samples: &[Sample]) {
    let cases: Vec<Case> = samples
        .iter()
        .filter_map(|sample| {
            let (class, weight) = class(sample)?;
            let features = features(&sample.message, &Signals::of(&sample.message));
            let is_gmail = sample.source != Source::Template;
            Some(Case { fold: sample.fold, features, class, weight, is_gmail })
        })
        .collect();
    // Each fold of 0 to 7 is predicted by weights from the others; the temperature with the least loss wins.
    let rounds: Vec<(Weights, Vec<&Case>)> = (0..FOLDS)
        .map(|fold| {
            let others: Vec<&Case> = cases.iter().filter(|case| case.fold < FOLDS && case.fold != fold).collect();
            (fit(&others), cases.iter().filter(|case| case.fold == fold).collect())
        })
        .collect();
    let predict = |temperature: f64| -> Vec<([f64; 3], &Case)> {
        rounds
            .iter()
            .flat_map(|(weights, cases)| {
                let weights = Weights { temperature, ..weights.clone() };
                cases.iter().map(move |case| (weights.probabilities(&case.features), *case)).collect::<Vec<_>>()
            })
            .collect()
    };
    let temperatures = (5..80).map(|tenth| f64::from(tenth) / 10.0);
    let best = temperatures.min_by(|one, other| log_loss(&predict(*one)).total_cmp(&log_loss(&predict(*other)))).unwrap_or(1.0);
    println!("temperature {best}, loss {:.3}", log_loss(&predict(best)));
    report("cross-validation in the folds 0 to 7, senders disjoint", &predict(best));
    let training: Vec<&Case> = cases.iter().filter(|case| case.fold < FOLDS).collect();
    let weights = Weights { temperature: best, ..fit(&training) };
    let held_out: Vec<_> =
        cases.iter().filter(|case| case.fold >= FOLDS).map(|case| (weights.probabilities(&case.features), case)).collect();
    report("held out: the folds 8 and 9", &held_out);
    let text = format!(
        "# Written by `tests/accuracy/training`. Per class a bias, then a weight per feature of `category.rs`; model-card.md describes the data.\n{}",
        toml::to_string(&weights).expect("TOML")
    );
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/deliverability/category.toml"), text).expect("a writable file");
}

fn report(title: &str, predicted: &[([f64; 3], &Case)]) {
    println!("{title}");
    for is_gmail in [true, false] {
        let mut table = [[0; 2]; 3];
        let mut bands = [[0.0_f64; 3]; 10];
        for (probabilities, case) in predicted.iter().filter(|(_, case)| case.is_gmail == is_gmail) {
            let chosen = usize::from(probabilities[1] > probabilities[0]);
            table[case.class][chosen] += 1;
            let confidence = probabilities[chosen].min(0.8);
            let band = &mut bands[(confidence * 10.0) as usize];
            band[0] += 1.0;
            band[1] += confidence;
            band[2] += f64::from(u8::from(chosen == case.class));
        }
        println!(
            "Gmail {is_gmail}: inbox → (inbox, promotions) {:?}, promotions → {:?}, spam → {:?}",
            table[0], table[1], table[2]
        );
        for band in bands.iter().filter(|band| band[0] > 0.0) {
            println!("  confidence {:.2} right {:.2} of {}", band[1] / band[0], band[2] / band[0], band[0]);
        }
    }
}
