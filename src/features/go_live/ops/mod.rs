//! The operations for going live, one file for each.

pub mod checklist;
pub mod copy;
