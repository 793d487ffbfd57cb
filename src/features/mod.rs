//! The features. Each feature is listed after the features that it depends on. A blank line between two features keeps the formatter from
//! sorting them.
//!
//! Each feature has the same structure; parts that would be empty are omitted.
//!
//! | Part | Content |
//! |---|---|
//! | `mod.rs` | what the feature is about, its invariants, and what other features may use |
//! | `model.rs` | types and rules that use no store, clock or network |
//! | `store.rs` or `store/` | the feature's tables; the only module that opens them |
//! | `views.rs` | what the API returns, with samples |
//! | `ops/` | one file for each operation, named after its verb |
//! | `worker.rs` | background work, in steps that can be repeated |
//!
//! Every other file implements one larger process of the feature. `tests/tidy` checks the order of the features, their access to stores,
//! and that no feature uses the `store` or `ops` of another.

pub(crate) mod accounts;

pub mod models;

pub mod projects;

pub(crate) mod domains;

pub mod suppressions;

pub mod contact_sets;

pub mod tags;

pub(crate) mod topics;

pub(crate) mod customer_events;

pub mod contact_records;

pub mod filters;

pub(crate) mod segments;

pub mod contacts;

pub(crate) mod connections;

pub mod checks;

pub mod emails;

pub(crate) mod saved_blocks;

pub mod validation;

pub mod previews;

pub(crate) mod exports;

pub(crate) mod engagement;

pub(crate) mod revenue;

pub mod sending;

pub(crate) mod campaigns;

pub(crate) mod go_live;

pub(crate) mod tracking;

pub(crate) mod mail_feedback;

pub mod events;

pub(crate) mod hooks;

pub(crate) mod scheduled_imports;

pub(crate) mod storefront;

pub(crate) mod system;

pub(crate) mod restores;

pub mod webhooks;

pub mod installation;
