//! The operations that check emails.

pub mod links;
