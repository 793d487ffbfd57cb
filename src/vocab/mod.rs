//! The words all layers share: tables without logic and without input or output.

pub mod codes;
pub mod environment;
pub mod ids;
pub mod tables;
