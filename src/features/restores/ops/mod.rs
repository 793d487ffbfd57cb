//! The operations on restores, one file for each.

pub mod apply;
pub mod discard;
pub mod get;
pub mod operate;
pub mod preview;
pub mod start;
