//! The installation's data as a whole: what the master key decrypts, what would be lost without it, and the work that waits during a hold.
//!
//! It is the last of the features because it uses all of them. It does not know how a hold starts: `app` checks the data folder.

pub mod held_work;
pub mod ops;
pub mod rekey;
pub mod sealed;
