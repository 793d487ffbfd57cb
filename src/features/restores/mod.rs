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
//! An installation has one restore at a time, so the disk needs room for its data only once more. The worker removes the folder when the
//! restore has ended, when no user continues it, and after a restart. A restart continues a copy: the worker restores the same state again,
//! and the progress in the environment's store says what is left to do.
//!
//! # What comes back
//!
//! The brand with its knowledge base, images, products, tags, topics, segments, emails and contacts. Campaigns, messages, events and
//! statistics do not: they describe what has happened, and a restored campaign could be sent again. So a restore sends nothing.
//!
//! What people decided since the backup counts more than the backup: contacts that exist keep their status and their choices of topics, and
//! [`contacts::copy`](super::contacts::copy) decides which deleted contacts come back, and how.
//!
//! # Access
//!
//! Like the other operations on the continuous backup, the operations belong to the owner and the admins of the installation's own account,
//! and only to its brands. A restore takes the disk space of all accounts, so managers of other accounts ask the operator, who can restore
//! every brand on the command line.

mod brands;
mod copying;
mod model;
pub mod ops;
mod requests;
mod store;
pub mod views;
pub mod worker;
