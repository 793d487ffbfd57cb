//! The pages, one file per feature. A page calls operations and names a template; it contains no business rules.

pub mod agent;
pub mod approvals;
pub mod audience;
pub mod audit;
pub mod brand_parts;
pub mod brands;
pub mod campaigns;
pub mod contact;
pub mod contact_jobs;
pub mod contacts;
pub mod demo;
pub mod domains;
pub mod email;
pub mod emails;
pub mod home;
pub mod imports;
pub mod inbox;
pub mod keys;
pub mod links;
pub mod members;
pub mod plan;
pub mod security;
pub mod segment_form;
pub mod segments;
pub mod sign_in;
pub mod suppressions;
pub mod system;
pub mod tags;
pub mod topics;
pub mod webhooks;

use serde_json::{Value, json};

use crate::vocab::permissions::Permission;

/// Returns every permission with its description, for forms; `chosen` ones are selected.
pub fn permissions(chosen: &[&str]) -> Value {
    Permission::ALL
        .map(|permission| {
            let word = permission.word();
            json!({ "word": word, "allows": permission.allows(), "chosen": chosen.contains(&word) })
        })
        .into_iter()
        .collect()
}
