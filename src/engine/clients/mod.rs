//! Determines what email clients support, what they remove from an email, and how the email looks in them.

pub mod autofix;
pub mod conditional;
pub mod conditions;
pub mod css;
pub mod data;
pub mod devices;
pub mod fallback;
pub mod features;
pub mod findings;
pub mod html;
pub mod matching;
pub mod profile;
pub mod report;
pub mod score;
pub mod side;
pub mod transform;
pub mod view;
