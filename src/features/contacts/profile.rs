//! Changes to a contact's profile and custom fields. Given values replace existing values, `null` clears a value, and custom fields are
//! merged. Customer events contain profiles of this form; updates by ID use this file only to merge custom fields.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::write::{ContactInput, FieldError};
use crate::base::email::EmailAddress;
use crate::features::contact_records::fields::{self, FieldValue};
use crate::features::contact_records::{Contact, merge_fields};
use crate::vocab::contact_fields::{Profile, with_profile_fields};
use crate::vocab::contact_status::Status;

with_profile_fields! { patch
/// The profile fields to change. Omitted fields stay unchanged; `null` clears a field.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContactProfile {
} profile {
    /// Custom fields to merge: omitted fields stay unchanged, `null` removes a field, and an empty object removes all fields.
    #[schemars(transform = fields::describe)]
    #[serde(default, deserialize_with = "fields::given")]
    pub custom_fields: Option<BTreeMap<String, FieldValue>>,
} }

impl ContactProfile {
    /// Applies the profile to a contact. The caller sets the time of the update.
    pub fn apply(mut self, contact: &mut Contact) -> Result<(), FieldError> {
        self.patch_profile(&mut contact.profile);
        merge_custom_fields(contact, self.custom_fields)
    }

    /// Returns the input for a new contact with this profile.
    pub fn into_input(mut self, email: EmailAddress, status: Status) -> Result<ContactInput, FieldError> {
        let mut profile = Profile::default();
        self.patch_profile(&mut profile);
        let input = ContactInput {
            profile,
            custom_fields: self.custom_fields.unwrap_or_default(),
            status: Some(status),
            ..ContactInput::of(email)
        };
        input.check()?;
        Ok(input)
    }
}

/// Merges custom fields into a contact; `None` changes nothing.
pub fn merge_custom_fields(contact: &mut Contact, given: Option<BTreeMap<String, FieldValue>>) -> Result<(), FieldError> {
    let Some(given) = given else { return Ok(()) };
    merge_fields(&mut contact.custom_fields, given);
    match fields::refusal(&contact.custom_fields) {
        Some(reason) => Err(FieldError::new("customFields", reason)),
        None => Ok(()),
    }
}
