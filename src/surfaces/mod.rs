//! The surfaces of the service: HTTP, dashboard, documentation, MCP server and command line. They contain no business rules.

pub mod cli;
pub mod dashboard;
pub(crate) mod demo;
pub mod docs;
mod docs_links;
pub mod http;
pub(crate) mod internal_call;
pub mod leader;
pub mod mcp;
pub(crate) mod subject;
