//! One declaration per operation and one pipeline for all operations.
//!
//! A feature implements [`operation::Operation`] and one of the traits for the four kinds of operations. `src/operations.rs` contains the
//! table of all operations. The router, the checks, the documents and the tests that cover every operation read that table.

pub mod attempts;
mod authentication;
pub mod bodies;
pub mod call;
pub mod caller;
pub mod engine;
pub mod failure;
pub mod file;
pub mod flat_schemas;
pub mod http_types;
pub mod input;
pub mod openapi;
pub mod operation;
pub mod page;
mod portable_schemas;
pub mod response;
mod router;
pub mod schema_reader;
pub mod spec;
pub mod untrusted_html;

pub use caller::{Caller, Context, Principal};
pub use engine::{Engine, EnvironmentData};
pub use failure::Failure;
pub use operation::{
    Async, Command, Entry, Freshness, Media, NoInput, Operation, Query, Raw, RawRequest, View, asynchronous, command, query, raw,
};
pub use page::{Limit, Listed, Offset, Page, PageNumber, SortOrder, Window};
pub use response::{Bare, Counted, Created, Done, Envelope, SuccessResponse};
pub use spec::{Access, BodySize, Replay, Spec, manager, needs, needs_one, operator, public, signed_in};
