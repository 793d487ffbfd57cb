//! The product's nouns, in order of dependence.
