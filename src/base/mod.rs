//! Small general tools with no product words in them.

pub mod clock;
pub mod random;
