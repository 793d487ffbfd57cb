//! Contacts: the people of a project.

pub mod fields;
mod model;
mod store;
pub mod tags;
