//! TABLE: every operation, in the order of the documentation.
//!
//! A row here is all it takes for an operation to be routed, checked, documented, offered on the command line and swept by tests.

use crate::engine::api::Entry;

/// Every operation.
pub const OPERATIONS: &[Entry] = &[];
