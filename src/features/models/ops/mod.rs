//! The operations on language models.

pub mod metrics;
