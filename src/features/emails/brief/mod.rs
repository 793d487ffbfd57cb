//! Briefs: the typed content of a prompt, which the composer and language models write from.

mod model;
mod parse;

pub use model::*;
pub use parse::{ABBREVIATIONS, Class, coverage, is_greeting, parse, zone};
