//! The operations that check emails.

pub mod all;
pub mod compatibility;
pub mod deliverability;
pub mod links;
pub mod spelling;
