//! Checks the input of the operations on scheduled imports.

use url::Url;

use crate::engine::api::Failure;
use crate::features::contacts::jobs::files::{delimiter, wrong_delimiter};
use crate::features::tags::TagName;
use crate::vocab::limits;

/// Checks the URL of a file. Each request checks separately whether the URL's address may be contacted.
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
        return refused("remove the user name and the password; use a URL that works without signing in");
    }
    if url.as_str().len() > limits::URL_CHARACTERS_MAX {
        return refused(&format!("the URL is longer than {} characters; shorten it", limits::URL_CHARACTERS_MAX));
    }
    Ok(url.into())
}

/// Returns the delimiter as a byte, or `None` if it is detected.
pub fn separator(text: Option<&str>) -> Result<Option<u8>, Failure> {
    text.filter(|text| !text.is_empty()).map(|text| delimiter(text).ok_or_else(wrong_delimiter)).transpose()
}

/// Returns the names of the tags.
pub fn tags(tags: &[TagName]) -> Result<Vec<String>, Failure> {
    if tags.len() > limits::TAGS_PER_CONTACT_MAX {
        return Err(Failure::field("tags", format_args!("use at most {} tags", limits::TAGS_PER_CONTACT_MAX)));
    }
    Ok(tags.iter().map(|name| name.to_string()).collect())
}
