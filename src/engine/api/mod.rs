//! One declaration per operation and one pipeline for all of them.
//!
//! A feature implements [`operation::Operation`] and one of its four kinds; `src/operations.rs` lists them; everything else that
//! speaks of operations (the router, the checks, the documents, the sweeping tests) reads that table.

pub mod answer;
pub mod bodies;
pub mod call;
pub mod caller;
pub mod engine;
pub mod failure;
pub mod file;
pub mod foreign;
pub mod guesses;
pub mod input;
pub mod openapi;
pub mod operation;
pub mod page;
mod router;
pub mod spec;
pub mod wire;

pub use answer::{Answer, Bare, Created, Done, Envelope};
pub use caller::{Caller, Context, Principal};
pub use engine::{Engine, World};
pub use failure::Failure;
pub use operation::{Command, Entry, Media, Operation, Outward, Query, Raw, RawRequest, View, command, outward, query, raw};
pub use page::{Limit, Listed, Offset, Page, PageNumber, Window};
pub use spec::{Access, BodySize, Replay, Spec, manager, needs, needs_one, operator, public, signed_in};
