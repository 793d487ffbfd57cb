//! Briefs: the typed content of a prompt, which the composer and language models write from.

mod model;

pub use model::*;
