//! The operations for going live, one file per operation.

pub mod checklist;
pub mod copy;
