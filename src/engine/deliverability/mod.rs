//! Predicts how mailbox providers judge an email.
//!
//! [`rules`] searches for more than 100 signs of spam; [`tokens`] compares the words with the words of known mail; [`category`] predicts
//! the folder; [`authentication`] checks the DNS records of the sender's domain. [`result`] combines the results.
//!
//! `assets/deliverability/model-card.md` describes the training data, the measured accuracy and its limits.
//!
//! The sender's reputation matters most, but the content does not show it. The result therefore states this limit, and its confidence is at
//! most 0.8.

pub mod authentication;
pub mod category;
mod content;
mod impersonation;
mod links;
pub mod message;
pub mod observations;
mod phrases;
mod postal_address;
mod references;
pub mod result;
pub mod rules;
mod sender;
mod style;
pub mod tokens;

use crate::base::html_scanner as html;

/// Returns the first `bytes_max` bytes of `text`, or fewer so that no character is split.
fn bounded(text: &str, bytes_max: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes_max)).unwrap_or_default()
}
