//! The words all layers share: tables without logic and without input or output.

pub mod environment;
