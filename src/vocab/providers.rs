//! TABLE: the platforms that users can connect to an account.
//!
//! In the API, each platform has a neutral name. Where the API accepts that name, it also accepts the platform's own name as an alias.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::base::serde_str;

/// A platform that users can connect to an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provider {
    Klaviyo,
    Mailchimp,
    HubSpot,
}

struct Names {
    /// The neutral name in the API and on disk.
    word: &'static str,
    /// The platform's own name, accepted in the API as an alias.
    alias: &'static str,
    /// The platform's name as shown to users.
    label: &'static str,
}

/// The names of all platforms, in the order of declaration.
const TABLE: [Names; 3] = [
    Names { word: "platform_a", alias: "klaviyo", label: "Klaviyo" },
    Names { word: "platform_b", alias: "mailchimp", label: "Mailchimp" },
    Names { word: "platform_c", alias: "hubspot", label: "HubSpot" },
];

impl Provider {
    pub const ALL: [Self; 3] = [Self::Klaviyo, Self::Mailchimp, Self::HubSpot];

    /// Returns the platform's neutral name in the API.
    pub const fn word(self) -> &'static str {
        TABLE[self as usize].word
    }

    /// Returns the platform's own name, which the API accepts as an alias.
    pub const fn alias(self) -> &'static str {
        TABLE[self as usize].alias
    }

    /// Returns the platform's name as shown to users.
    pub const fn label(self) -> &'static str {
        TABLE[self as usize].label
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// The error for text that is not the name of a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderError;

impl fmt::Display for ProviderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be `platform_a` (or `klaviyo`), `platform_b` (or `mailchimp`) or `platform_c` (or `hubspot`)")
    }
}

impl FromStr for Provider {
    type Err = ProviderError;

    fn from_str(given: &str) -> Result<Self, ProviderError> {
        let is_named = |provider: &Self| provider.word() == given || provider.alias() == given;
        Self::ALL.into_iter().find(is_named).ok_or(ProviderError)
    }
}

impl Serialize for Provider {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Provider {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "the name of a provider")
    }
}

impl JsonSchema for Provider {
    fn schema_name() -> Cow<'static, str> {
        "ConnectionProvider".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = Self::ALL.into_iter().flat_map(|provider| [provider.word(), provider.alias()]).collect();
        json_schema!({
            "type": "string",
            "enum": names,
            "description": "The provider: platform_a is Klaviyo, platform_b is Mailchimp, platform_c is HubSpot. Requests accept both \
                            names; responses contain the neutral one.",
        })
    }
}

/// The kind of a set of contacts on a platform, such as a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ProviderSourceType")]
pub enum SourceKind {
    Audience,
    List,
    Segment,
    Tag,
}

/// What a connection may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConnectionUse {
    /// Read contacts, to import them.
    Imports,
    /// Create and update templates and drafts.
    Exports,
}

impl ConnectionUse {
    pub const ALL: [Self; 2] = [Self::Imports, Self::Exports];

    /// Returns the use's name in the API.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Imports => "imports",
            Self::Exports => "exports",
        }
    }
}

/// Whether an import from a platform includes contacts who have neither subscribed nor unsubscribed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConsentMode {
    /// Only contacts who subscribed, unsubscribed, or cannot be mailed.
    #[default]
    SubscribedOnly,
    /// All contacts. Contacts who never subscribed on the platform get the status `non-subscribed` if they are new; existing ones keep
    /// their status.
    IncludeAll,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_has_the_same_name_everywhere() {
        for one in ConnectionUse::ALL {
            assert_eq!(serde_json::to_value(one).expect("a use can be written as JSON"), one.word());
        }
    }

    #[test]
    fn a_provider_has_a_neutral_name_and_an_alias() {
        for (index, provider) in Provider::ALL.into_iter().enumerate() {
            assert_eq!(provider as usize, index);
            for name in [provider.word(), provider.alias()] {
                assert_eq!(serde_json::from_value::<Provider>(name.into()).expect(name), provider);
            }
            assert_eq!(serde_json::to_value(provider).expect("a provider can be written as JSON"), provider.word());
        }
        assert_eq!("Klaviyo".parse::<Provider>(), Err(ProviderError));
    }
}
