//! The pages, one file for each feature of theirs. A page asks operations and names a template; rules are none of its business.

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

/// Every permission with what it allows, for forms that choose some; `chosen` are ticked.
pub fn permissions(chosen: &[&str]) -> Value {
    Permission::ALL
        .map(|permission| {
            let word = permission.word();
            json!({ "word": word, "allows": permission.allows(), "chosen": chosen.contains(&word) })
        })
        .into_iter()
        .collect()
}
