//! The words all layers share: tables without logic and without input or output.

pub mod codes;
pub mod ids;
pub mod tables;
