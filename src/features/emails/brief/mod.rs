//! Briefs: the typed content of prompts, from which the composer and language models write emails.

mod model;
mod parse;

pub use model::*;
pub use parse::{ABBREVIATIONS, Class, coverage, is_greeting, parse, zone};
