//! Predicts how mailbox providers judge an email.
//!
//! [`rules`] look for about 100 signs of spam; [`tokens`] compare the words with those of known mail; [`category`] predicts the folder;
//! [`authentication`] checks the DNS records of the sender's domain. [`result`] puts the answers together.
//!
//! `assets/deliverability/model-card.md` describes the training data, the figures and their limits.
//!
//! Content does not show the sender's reputation, which decides most. The result says so, and its confidence never exceeds 0.8.

pub mod authentication;
pub mod category;
mod content;
mod impersonation;
mod links;
pub mod message;
mod phrases;
mod references;
pub mod result;
pub mod rules;
mod sender;
mod style;
pub mod tokens;

use crate::base::html_scanner as html;
