//! The installation's data as a whole: what its master key opens, what would be lost without it, and what waits while sending is on hold.
//!
//! It is the last of the features, because it asks all of them. It does not know how a hold comes about: `app` looks at the data folder.

pub mod held_work;
pub mod ops;
pub mod rekey;
pub mod sealed;
