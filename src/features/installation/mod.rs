//! The installation's data as a whole: which data the master key decrypts, which data would be lost without the key, which rows cannot be
//! read, and which work waits during a hold.
//!
//! This feature comes last in `features/mod.rs`, because it uses most of the other features. It does not start holds: `app` starts them
//! when it checks the data folder.

pub mod held_work;
pub mod ops;
pub mod rekey;
pub mod row_checks;
pub mod sealed;
