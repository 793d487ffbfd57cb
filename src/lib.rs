//! Mailmill: a team's own AI email marketing service in one binary.

pub mod base;
pub mod engine;
pub mod features;
pub mod operations;
pub mod surfaces;
pub mod vocab;
