//! Checks the input of the operations on scheduled imports.

use std::collections::BTreeMap;

use url::Url;

use super::model::{FileSource, Source, Target};
use crate::engine::api::Failure;
use crate::features::contacts::jobs::files::{delimiter, wrong_delimiter};
use crate::features::hooks;
use crate::features::tags::TagName;
use crate::vocab::limits;

/// Checks that the fields in the request apply to the source.
pub fn check_fields(source: &Source, given: &[(&str, bool)]) -> Result<(), Failure> {
    let (what, own): (&str, &[&str]) = match source {
        Source::File(FileSource { target: Target::Contacts(_), .. }) => {
            ("imports of contacts from a file", &["url", "delimiter", "columnMap", "onConflict", "tags", "status", "consentMode"])
        }
        Source::File(FileSource { target: Target::Events(_), .. }) => {
            ("imports of events from a file", &["url", "delimiter", "mapping", "eventName"])
        }
        Source::Platform(_) => ("imports from a platform", &["connectionId", "sources", "consentMode", "fieldMap"]),
    };
    match given.iter().find(|(field, is_given)| *is_given && !own.contains(field)) {
        Some((field, _)) => Err(Failure::field(field, format_args!("does not apply to {what}; omit it"))),
        None => Ok(()),
    }
}

/// Checks the mapping of event fields to headers.
pub fn mapping(mapping: BTreeMap<String, String>) -> Result<BTreeMap<String, String>, Failure> {
    if mapping.len() > limits::SCHEDULED_IMPORT_FIELDS_MAX {
        return Err(Failure::field("mapping", format_args!("map at most {} fields", limits::SCHEDULED_IMPORT_FIELDS_MAX)));
    }
    let checked = mapping.into_iter().map(|(field, header)| {
        if !hooks::is_event_field(&field) {
            return Err(Failure::from(hooks::no_event_field(&field)));
        }
        let header = header.trim();
        if header.is_empty() || header.len() > limits::SCHEDULED_IMPORT_HEADER_CHARACTERS_MAX {
            let max = limits::SCHEDULED_IMPORT_HEADER_CHARACTERS_MAX;
            return Err(Failure::field(
                &format!("mapping.{field}"),
                format_args!("enter the column header for this field; use at most {max} bytes"),
            ));
        }
        Ok((field, header.to_owned()))
    });
    checked.collect()
}

/// Checks the URL of a file. Whether Mailmill may contact the URL's address is checked separately, each time it requests the file.
pub fn url(text: &str) -> Result<String, Failure> {
    let text = text.trim();
    let refused = |why: &str| Err(Failure::field("url", why));
    let Ok(url) = Url::parse(text) else {
        return refused("must be the URL of a CSV file, like https://acme.example/contacts.csv");
    };
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return refused("must be a URL that starts with http:// or https://");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refused("remove the user name and password; use a URL that works without signing in");
    }
    if url.as_str().len() > limits::URL_CHARACTERS_MAX {
        let max = limits::URL_CHARACTERS_MAX;
        return refused(&format!("the URL is longer than {max} characters after percent-encoding; use a shorter URL"));
    }
    Ok(url.into())
}

/// Returns the delimiter as a byte, or `None` if the import detects the delimiter.
pub fn separator(text: Option<&str>) -> Result<Option<u8>, Failure> {
    text.filter(|text| !text.is_empty()).map(|text| delimiter(text).ok_or_else(wrong_delimiter)).transpose()
}

/// Returns the names of the tags. Fails if there are too many tags.
pub fn tags(tags: &[TagName]) -> Result<Vec<String>, Failure> {
    if tags.len() > limits::TAGS_PER_CONTACT_MAX {
        let (max, found) = (limits::TAGS_PER_CONTACT_MAX, tags.len());
        return Err(Failure::field("tags", format_args!("list at most {max} tags; this list has {found}")));
    }
    Ok(tags.iter().map(|name| name.to_string()).collect())
}
