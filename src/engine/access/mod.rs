//! Who may do what: the text of API keys.

pub mod token;
