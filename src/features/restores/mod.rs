//! Restores of one brand from the continuous backup into the running installation.
//!
//! ```text
//! start ── preparing ──────────── ready ───────── copying ────────── completed
//!   a time   the state at that      users choose    go_live::copier,
//!            time, in a temporary   a brand, see    in transactions that
//!            folder beside the      a preview       also store the
//!            data                                   progress
//! ```
//!
//! An installation has at most one restore at a time, so the disk must have room for only one more copy of the data. The worker removes the
//! temporary folder when the restore has ended or was discarded, and after a restart. A restore ends if no brand is chosen within an hour.
//! If a restart interrupts a copy, the worker restores the same state again and continues the copy from the progress in the environment's
//! store.
//!
//! # What comes back
//!
//! The brand with its knowledge base, images, products, saved blocks, tags, topics, segments, finished emails and, unless the user excludes
//! them, contacts. Campaigns, messages, events and statistics do not come back: they describe what has happened, and a restored campaign
//! could be sent again. A restore therefore sends nothing.
//!
//! Decisions that people made after the backup take precedence over the backup: existing contacts keep their status and their topic
//! choices, and [`contacts::copy`](super::contacts::copy) decides which deleted contacts come back, and how.
//!
//! # Access
//!
//! Like the other operations on the continuous backup, these operations are available only to the owner and the admins of the
//! installation's own account, and restore only this account's brands. A restore takes disk space that all accounts share, so owners and
//! admins of other accounts must ask the operator, who can restore every brand on the command line.

mod brands;
mod copying;
mod model;
pub mod ops;
mod requests;
mod store;
pub mod views;
pub mod worker;
