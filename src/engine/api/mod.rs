//! One declaration per operation and one pipeline for all of them.

pub mod wire;
