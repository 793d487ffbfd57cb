//! The compatibility score: how much of an email its readers see, from 0 to 100.
//!
//! Each finding for a client takes a fraction of the client's score. The fraction grows with the effect, the certainty and the number of
//! affected elements; each feature counts once. A client's score is the product of the fractions that remain after its findings, multiplied
//! by the fraction of the HTML that the client shows before it clips the message. The email's score is the mean of the clients' scores,
//! weighted by the clients' shares of opens.
//!
//! A fix must not lower the score. The number of affected elements is therefore not divided by the number of all elements: otherwise, the
//! removal of an element would increase the fractions that the remaining findings take.

use super::conditions::Applies;
use super::features::Effect;
use super::findings::{Finding, Support};

/// The number of affected elements at which a finding has half of its maximum weight.
const HALF: f64 = 10.0;

/// Returns the share of a client's score that remains after a finding.
pub fn remainder(finding: &Finding, effect: Effect) -> f64 {
    let certainty = match (finding.support, finding.applies()) {
        (Support::None, _) => 1.0,
        (_, Applies::True) => 0.5,
        _ => 0.05,
    };
    let replaced = if finding.fallback.is_some() { 0.25 } else { 1.0 };
    let reach = f64::from(u32::try_from(finding.reach).unwrap_or(u32::MAX));
    1.0 - effect.weight() * certainty * replaced * reach / (reach + HALF)
}

/// Returns the score of a client from the shares that remain after its findings, and from `shown`, the share of the HTML that the
/// client shows.
pub fn of_client(remainders: impl Iterator<Item = f64>, shown: f64) -> f64 {
    100.0 * shown.clamp(0.0, 1.0) * remainders.product::<f64>()
}

/// Returns the score of an email. Each pair contains a client's share of opens and its score.
pub fn of_email(scores: &[(f64, f64)]) -> f64 {
    let shares: f64 = scores.iter().map(|(share, _)| share).sum();
    if shares <= 0.0 {
        return 100.0;
    }
    scores.iter().map(|(share, score)| share * score).sum::<f64>() / shares
}
