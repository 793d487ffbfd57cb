//! Counts the tokens of the training folds and writes their log-odds.

use std::collections::HashMap;

use mailmill::engine::deliverability::tokens::{self, Evidence, LOG_ODDS_MAX, Model};

use super::Sample;
use crate::corpus::Source;

/// The strength of the prior in Robinson's formula: for a token that was seen this often, the prior has half of the weight.
const PRIOR: f64 = 0.5;
/// The minimum number of messages that contain a token. Rarer tokens are dropped.
const COUNT_MIN: f64 = 3.0;
/// The maximum number of tokens, whose weights take 150 KB.
const ENTRIES_MAX: usize = 30_000;
/// Modern mail is rare in the corpus, so each of its messages counts this many times.
const MODERN_WEIGHT: f64 = 6.0;
/// The number of folds for training. The folds 8 and 9 are held out.
pub const FOLDS: u8 = 8;

fn weight(sample: &Sample) -> (bool, f64) {
    match sample.source {
        Source::Spam => (true, 1.0),
        Source::EasyLegitimate => (false, 1.0),
        Source::HardLegitimate => (false, 4.0),
        Source::Template => (false, MODERN_WEIGHT),
        Source::GmailInbox | Source::GmailPromotions => (false, MODERN_WEIGHT),
        // Gmail treats this mail as spam because of its sender, not because of its text, so it is not counted.
        Source::GmailSpam => (false, 0.0),
    }
}

pub fn count(samples: &[Sample], uses: impl Fn(&Sample) -> bool) -> Vec<u8> {
    let mut counts: HashMap<String, (f64, f64)> = HashMap::new();
    let (mut spam_total, mut legitimate_total) = (0.0, 0.0);
    for sample in samples.iter().filter(|sample| uses(sample)) {
        let (is_spam, weight) = weight(sample);
        if weight == 0.0 {
            continue;
        }
        *(if is_spam { &mut spam_total } else { &mut legitimate_total }) += weight;
        for token in tokens::tokens(&sample.message) {
            let entry = counts.entry(token).or_default();
            *(if is_spam { &mut entry.0 } else { &mut entry.1 }) += weight;
        }
    }
    let mut entries: Vec<(f64, u32, i8)> = counts
        .into_iter()
        .filter(|(_, (spam, legitimate))| spam + legitimate >= COUNT_MIN)
        .filter_map(|(token, (spam, legitimate))| {
            let share = (spam / spam_total) / (spam / spam_total + legitimate / legitimate_total);
            let count = spam + legitimate;
            let probability = (PRIOR * 0.5 + count * share) / (PRIOR + count);
            let log_odds = (probability / (1.0 - probability)).ln();
            let byte = (log_odds / LOG_ODDS_MAX * 127.0).round().clamp(-127.0, 127.0) as i8;
            let deviation = (probability - 0.5).abs();
            (deviation >= tokens::DEVIATION_MIN).then(|| (deviation * count.ln(), tokens::hash(&token), byte))
        })
        .collect();
    println!("{} tokens are frequent", entries.len());
    entries.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    entries.truncate(ENTRIES_MAX);
    entries.sort_by_key(|(_, hash, _)| *hash);
    entries.dedup_by_key(|(_, hash, _)| *hash);
    entries.iter().flat_map(|(_, hash, byte)| hash.to_le_bytes().into_iter().chain(byte.to_le_bytes())).collect()
}

pub fn train(samples: &[Sample]) {
    // Four rounds of cross-validation choose the points; the shipped weights are those of all training folds.
    let mut evaluated = Vec::new();
    for round in 0..4 {
        let model = Model::read(&count(samples, |sample| sample.fold < FOLDS && sample.fold / 2 != round));
        evaluated.extend(
            samples.iter().filter(|sample| sample.fold / 2 == round).map(|sample| (sample, model.evidence(&sample.message))),
        );
    }
    println!("cross-validation in the folds 0 to 7");
    report(&evaluated);
    let bytes = count(samples, |sample| sample.fold < FOLDS);
    let model = Model::read(&bytes);
    let held_out: Vec<_> =
        samples.iter().filter(|sample| sample.fold >= FOLDS).map(|sample| (sample, model.evidence(&sample.message))).collect();
    println!("held out: the folds 8 and 9");
    report(&held_out);
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/deliverability/tokens.weights"), &bytes)
        .expect("a writable file");
    println!("wrote {} bytes", bytes.len());
}

fn report(evaluated: &[(&Sample, Evidence)]) {
    let is_corpus = |sample: &Sample| matches!(sample.source, Source::Spam | Source::EasyLegitimate | Source::HardLegitimate);
    for points in [0.0, 1.0, 1.3, 1.6, 2.0, 2.5] {
        for band in [0.0, 1.0] {
            let score = |sample: &Sample, evidence: &Evidence| {
                let strength = if band == 0.0 { evidence.strength.abs() + 1.0 } else { evidence.strength.abs().max(1.0) };
                sample.rule_points + (points * strength.ln()).copysign(evidence.strength)
            };
            let scored: Vec<(f64, &Sample)> =
                evaluated.iter().map(|(sample, evidence)| (score(sample, evidence), *sample)).collect();
            let labeled: Vec<(f64, bool)> = scored
                .iter()
                .filter(|(_, sample)| is_corpus(sample))
                .map(|(score, sample)| (*score, sample.source == Source::Spam))
                .collect();
            print!("points {points} band {band}: AUC {:.4}", auc(labeled));
            for threshold in [3.0, 4.0, 5.0] {
                let share = |source: Source| {
                    let all: Vec<_> = scored.iter().filter(|(_, sample)| sample.source == source).collect();
                    format!("{}/{}", all.iter().filter(|(score, _)| *score >= threshold).count(), all.len())
                };
                use Source::{EasyLegitimate, GmailInbox, GmailPromotions, GmailSpam, HardLegitimate, Spam, Template};
                let shares = [Spam, EasyLegitimate, HardLegitimate, Template, GmailInbox, GmailPromotions, GmailSpam].map(share);
                print!(" | {threshold}: {}", shares.join(" "));
            }
            println!();
        }
    }
}

/// Returns the area under the ROC curve.
pub fn auc(mut scored: Vec<(f64, bool)>) -> f64 {
    scored.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (mut rank_sum, mut spam, mut at) = (0.0, 0.0, 0);
    while at < scored.len() {
        let end = at + scored[at..].iter().take_while(|one| one.0 == scored[at].0).count();
        let rank = (at + end + 1) as f64 / 2.0;
        let count = scored[at..end].iter().filter(|one| one.1).count() as f64;
        rank_sum += rank * count;
        spam += count;
        at = end;
    }
    (rank_sum - spam * (spam + 1.0) / 2.0) / (spam * (scored.len() as f64 - spam))
}
