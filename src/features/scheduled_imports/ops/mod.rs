//! The operations on scheduled imports, one file per verb.

pub mod create;
pub mod delete;
pub mod get;
pub mod list;
pub mod run;
pub mod update;
