//! The product's nouns, in order of dependence.

pub mod contacts;
