//! The operations of language models.

pub mod metrics;
