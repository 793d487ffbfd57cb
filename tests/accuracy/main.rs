//! Measures the checks of `engine/clients`, `engine/spelling` and `engine/deliverability` on labeled samples, and their bounds on
//! hostile input.
//!
//! `tests/samples/validation` has the samples. The mail that the deliverability check is measured with is not in the repository:
//! `DELIVERABILITY_CORPUS` names its folder, which `assets/deliverability/model-card.md` describes. To see the figures:
//!
//! ```text
//! DELIVERABILITY_CORPUS=folder cargo test --release --test accuracy -- --nocapture
//! ```

mod blind;
mod blind_sentences;
mod compatibility;
mod corpus;
mod deliverability;
mod hostile;
mod spelling;
mod spelling_emails;
mod training;
