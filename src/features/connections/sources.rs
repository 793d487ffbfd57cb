//! The sources that callers choose for imports.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::base::bounded::Bounded;
use crate::base::text::Name;
use crate::engine::api::Failure;
use crate::features::contacts::jobs::ProviderSource;
use crate::vocab::limits;
use crate::vocab::providers::SourceKind;

/// A source to import.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceRef {
    #[schemars(length(min = 1, max = limits::PROVIDER_SOURCE_ID_CHARACTERS_MAX))]
    pub id: String,
    #[serde(rename = "type")]
    pub kind: SourceKind,
    pub name: Name<{ limits::PROVIDER_SOURCE_NAME_CHARACTERS_MAX }>,
    /// The number of contacts, as in the list of sources. The import ignores this field; it is accepted so that clients can pass a listed
    /// source unchanged.
    #[allow(dead_code, reason = "the API accepts it")]
    #[serde(default)]
    pub count: Option<Bounded<0, { u32::MAX as u64 }>>,
}

/// Checks the sources. A source that is listed twice is read once.
pub fn checked(given: Vec<SourceRef>) -> Result<Vec<ProviderSource>, Failure> {
    if !(1..=limits::PROVIDER_IMPORT_SOURCES_MAX).contains(&given.len()) {
        let max = limits::PROVIDER_IMPORT_SOURCES_MAX;
        return Err(Failure::field("sources", format_args!("list 1 to {max} sources; this list has {}", given.len())));
    }
    let mut sources: Vec<ProviderSource> = Vec::with_capacity(given.len());
    for (at, SourceRef { id, kind, name, .. }) in given.into_iter().enumerate() {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/');
        if id.is_empty() || id.len() > limits::PROVIDER_SOURCE_ID_CHARACTERS_MAX || !id.bytes().all(allowed) {
            let failure = Failure::field(&format!("sources[{at}].id"), "must be the ID of a source in the connected account");
            let hint = "GET /v1/contacts/imports/providers/{provider}/sources lists the sources";
            return Err(failure.see("connections.sources", hint));
        }
        if !sources.iter().any(|known| known.id == id && known.kind == kind) {
            sources.push(ProviderSource { id, kind, name: name.to_string() });
        }
    }
    Ok(sources)
}
