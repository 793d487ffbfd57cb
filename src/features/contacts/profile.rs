//! Profile fields of a contact, other than its address, tags and status: given values replace, `null` clears, custom fields are merged.
//! Used both for updates by id and for profiles sent with an event.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::fields::{self, FieldValue};
use super::model::{Contact, Status, merge_fields};
use super::write::{ContactInput, FieldError, PersonName};
use crate::base::email::EmailAddress;
use crate::base::locale::{CountryCode, LanguageTag};
use crate::base::patch::Patch;
use crate::base::phone::Phone;

/// The fields to change. Fields that are not given stay as they are; `null` clears a field.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContactProfile {
    #[serde(default)]
    pub first_name: Patch<PersonName>,
    #[serde(default)]
    pub last_name: Patch<PersonName>,
    /// Free-form.
    #[serde(default)]
    pub phone: Patch<Phone>,
    /// ISO 3166-1 alpha-2.
    #[serde(default)]
    pub country: Patch<CountryCode>,
    /// ISO 639-1 or BCP 47.
    #[serde(default)]
    pub language: Patch<LanguageTag>,
    /// Merged into the existing fields: fields that are not included stay, `null` removes one, an empty object removes all.
    #[schemars(transform = fields::describe)]
    #[serde(default, deserialize_with = "fields::given")]
    pub custom_fields: Option<BTreeMap<String, FieldValue>>,
}

impl ContactProfile {
    /// Applies the profile to a contact; the caller sets the update time.
    pub fn apply(self, contact: &mut Contact) -> Result<(), FieldError> {
        self.first_name.map(PersonName::into_string).apply(&mut contact.first_name);
        self.last_name.map(PersonName::into_string).apply(&mut contact.last_name);
        self.phone.map(Phone::into_string).apply(&mut contact.phone);
        self.country.map(|country| country.as_str().to_owned()).apply(&mut contact.country);
        self.language.map(|language| language.as_str().to_owned()).apply(&mut contact.language);
        for name in [&mut contact.first_name, &mut contact.last_name] {
            // An empty name counts as absent.
            *name = name.take().filter(|name| !name.is_empty());
        }
        if let Some(given) = self.custom_fields {
            merge_fields(&mut contact.custom_fields, given);
            if let Some(reason) = fields::refusal(&contact.custom_fields) {
                return Err(FieldError::new("customFields", reason));
            }
        }
        Ok(())
    }

    /// Returns the input for a new contact with this profile.
    pub fn into_input(self, email: EmailAddress, status: Status) -> Result<ContactInput, FieldError> {
        fn given<T>(patch: Patch<T>) -> Option<T> {
            let mut value = None;
            patch.apply(&mut value);
            value
        }
        let input = ContactInput {
            first_name: given(self.first_name),
            last_name: given(self.last_name),
            phone: given(self.phone),
            country: given(self.country),
            language: given(self.language),
            custom_fields: self.custom_fields.unwrap_or_default(),
            status: Some(status),
            ..ContactInput::of(email)
        };
        input.check()?;
        Ok(input)
    }
}
