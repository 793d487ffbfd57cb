//! TABLE: the platforms whose stores can be connected to a project, and the functions that a connected store provides.
//!
//! In the API, Shopify has the neutral name `storefront`. Where the API accepts that name, it also accepts the platform's own name as an
//! alias.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::base::serde_str;

/// A platform of online stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Storefront {
    Shopify,
    WooCommerce,
}

struct Names {
    /// The name in the API and on disk.
    word: &'static str,
    /// The platform's own name, accepted in the API as an alias.
    alias: &'static str,
    /// The platform's name as shown to users.
    label: &'static str,
}

/// The names of all platforms, in the order of declaration.
const TABLE: [Names; 2] = [
    Names { word: "storefront", alias: "shopify", label: "Shopify" },
    Names { word: "woocommerce", alias: "woocommerce", label: "WooCommerce" },
];

impl Storefront {
    pub const ALL: [Self; 2] = [Self::Shopify, Self::WooCommerce];

    /// Returns the platform's name in the API.
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

impl fmt::Display for Storefront {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.label())
    }
}

/// The error for text that is not the name of a store platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorefrontError;

impl fmt::Display for StorefrontError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be `storefront` (or `shopify`) or `woocommerce`")
    }
}

impl FromStr for Storefront {
    type Err = StorefrontError;

    fn from_str(given: &str) -> Result<Self, StorefrontError> {
        let is_named = |platform: &Self| platform.word() == given || platform.alias() == given;
        Self::ALL.into_iter().find(is_named).ok_or(StorefrontError)
    }
}

impl Serialize for Storefront {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl<'de> Deserialize<'de> for Storefront {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_str::deserialize(deserializer, "the name of a platform for stores")
    }
}

impl JsonSchema for Storefront {
    fn schema_name() -> Cow<'static, str> {
        "StorePlatform".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut names: Vec<&str> = Self::ALL.into_iter().flat_map(|platform| [platform.word(), platform.alias()]).collect();
        names.dedup();
        json_schema!({
            "type": "string",
            "enum": names,
            "description": "The platform of a store: storefront is Shopify. Requests accept both names; responses contain the neutral one.",
        })
    }
}

/// What a connected store provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StoreTool {
    /// Products are imported into the brand and kept up to date.
    Products,
    /// The collections of each product are imported.
    Collections,
    /// Customers are imported, with the marketing consent that the store recorded for them.
    Customers,
    /// Paid and cancelled orders are recorded as customer events.
    Orders,
    /// Refunds are recorded as customer events.
    Refunds,
    /// Started checkouts are recorded as customer events.
    Checkouts,
    /// The platform's privacy requests are handled.
    Privacy,
}

impl StoreTool {
    pub const ALL: [Self; 7] =
        [Self::Products, Self::Collections, Self::Customers, Self::Orders, Self::Refunds, Self::Checkouts, Self::Privacy];

    /// Returns whether this function requires webhooks from the store.
    pub const fn needs_webhooks(self) -> bool {
        matches!(self, Self::Orders | Self::Refunds | Self::Checkouts | Self::Privacy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_platform_has_a_neutral_name_and_an_alias() {
        for (index, platform) in Storefront::ALL.into_iter().enumerate() {
            assert_eq!(platform as usize, index);
            for name in [platform.word(), platform.alias()] {
                assert_eq!(serde_json::from_value::<Storefront>(name.into()).expect(name), platform);
            }
            assert_eq!(serde_json::to_value(platform).expect("a platform can be written as JSON"), platform.word());
        }
        assert_eq!("Shopify".parse::<Storefront>(), Err(StorefrontError));
    }
}
