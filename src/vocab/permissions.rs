//! The permissions of API keys and members.
//!
//! The API documentation defines their names and meaning. The declaration of an operation states which permission the operation
//! requires.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    AudienceRead,
    AudienceWrite,
    EmailRead,
    EmailWrite,
    EmailSend,
    EmailValidate,
    EmailPreview,
    DomainRead,
    DomainWrite,
    CampaignRead,
    CampaignWrite,
    ProjectWrite,
    WebhookRead,
    WebhookWrite,
}

/// All permissions in the order of declaration, with the name in the API and a description of what the permission allows.
#[rustfmt::skip]
const TABLE: [(Permission, &str, &str); 14] = [
    (Permission::AudienceRead,  "audience:read",  "View contacts, tags, topics, segments, and suppressions."),
    (Permission::AudienceWrite, "audience:write", "Add, import, and edit contacts, manage tags, topics, segments, and suppressions, and report customer events."),
    (Permission::EmailRead,     "email:read",     "View emails, the built-in inbox, and the sending history."),
    (Permission::EmailWrite,    "email:write",    "Create, import, and edit emails."),
    (Permission::EmailSend,     "email:send",     "Send test and live emails."),
    (Permission::EmailValidate, "email:validate", "Check the compatibility, links, spelling, and deliverability of emails."),
    (Permission::EmailPreview,  "email:preview",  "Preview emails on devices."),
    (Permission::DomainRead,    "domain:read",    "View sending domains and their verification status."),
    (Permission::DomainWrite,   "domain:write",   "Add, verify, edit, and delete sending domains."),
    (Permission::CampaignRead,  "campaign:read",  "View campaigns, their statistics, and their recipients."),
    (Permission::CampaignWrite, "campaign:write", "Create, edit, send, schedule, cancel, and archive campaigns."),
    (Permission::ProjectWrite,  "project:write",  "Import and edit brands with their logos, images, products, and knowledge base, and manage connections."),
    (Permission::WebhookRead,   "webhook:read",   "View webhooks and mail services."),
    (Permission::WebhookWrite,  "webhook:write",  "Create, edit, and delete webhooks and mail services."),
];

impl Permission {
    pub const ALL: [Self; 14] = {
        let mut all = [Self::AudienceRead; 14];
        let mut index = 0;
        while index < TABLE.len() {
            all[index] = TABLE[index].0;
            index += 1;
        }
        all
    };

    /// Returns the permission's name in the API, like `audience:read`.
    pub const fn word(self) -> &'static str {
        TABLE[self as usize].1
    }

    /// Returns what the permission allows, as one sentence.
    pub const fn allows(self) -> &'static str {
        TABLE[self as usize].2
    }
}

/// The word that stands for all permissions in lists of permissions that users write as text.
const ALL_WORD: &str = "all";

/// A set of permissions. In the API and on disk, it is a list of names, so that stored keys do not depend on the order of declaration.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct PermissionSet(u16);

impl PermissionSet {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self((1 << TABLE.len()) - 1);

    pub const fn of(permissions: &[Permission]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < permissions.len() {
            bits |= 1 << permissions[index] as u16;
            index += 1;
        }
        Self(bits)
    }

    pub const fn contains(self, permission: Permission) -> bool {
        self.0 >> permission as u16 & 1 == 1
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the union of both sets.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the permissions in this set, in the order of [`TABLE`].
    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.into_iter().filter(move |&permission| self.contains(permission))
    }

    fn of_word(word: &str) -> Result<Self, PermissionError> {
        if word == ALL_WORD { Ok(Self::ALL) } else { word.parse().map(|permission| Self::of(&[permission])) }
    }
}

/// If an unknown name differs from the most similar permission by at most this many typing errors, the error message suggests that
/// permission. A name with more errors is probably a different word (`contacts:read` does not mean `domain:read`), so the message lists all
/// permissions.
const TYPING_ERRORS_MAX: usize = 3;

/// The maximum length of an unknown name that is compared with the permissions. Longer names are not compared, because the time grows with
/// the length.
const COMPARED_BYTES_MAX: usize = 64;

/// The error for text that is not the name of a permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionError(String);

impl fmt::Display for PermissionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let distance = |permission: Permission| strsim::damerau_levenshtein(permission.word(), &self.0);
        let all = Permission::ALL.into_iter().filter(|_| self.0.len() <= COMPARED_BYTES_MAX);
        let near = all.min_by_key(|permission| distance(*permission));
        if let Some(nearest) = near.filter(|nearest| distance(*nearest) <= TYPING_ERRORS_MAX) {
            return write!(f, "Unknown permission {:?}; did you mean {nearest}?", self.0);
        }
        let all: Vec<&str> = Permission::ALL.into_iter().map(Permission::word).collect();
        write!(
            f,
            "Unknown permission {:?}; the permissions are {}, and \"all\" stands for every permission",
            self.0,
            all.join(", ")
        )
    }
}

impl std::error::Error for PermissionError {}

impl FromStr for Permission {
    type Err = PermissionError;

    fn from_str(given: &str) -> Result<Self, PermissionError> {
        // The quoted text is truncated, so that a long input does not produce a long error message.
        let unknown = || PermissionError(given.chars().take(40).collect());
        Self::ALL.into_iter().find(|permission| permission.word() == given).ok_or_else(unknown)
    }
}

impl FromStr for PermissionSet {
    type Err = PermissionError;

    /// Parses permission names separated by commas or spaces; `all` means every permission.
    fn from_str(given: &str) -> Result<Self, PermissionError> {
        let words = given.split([',', ' ']).filter(|word| !word.is_empty());
        words.map(Self::of_word).try_fold(Self::NONE, |set, word| Ok(set.and(word?)))
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl fmt::Display for PermissionSet {
    /// Formats the set as names separated by spaces, as in an OAuth scope.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, permission) in self.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { " " })?;
            f.write_str(permission.word())?;
        }
        Ok(())
    }
}

impl fmt::Debug for PermissionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{self}]")
    }
}

impl Serialize for Permission {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl Serialize for PermissionSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Compact formats write the number of elements first, so the set is collected into a list.
        let permissions: Vec<_> = self.iter().collect();
        permissions.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Permission {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::base::serde_str::deserialize(deserializer, "a permission, like audience:read")
    }
}

impl<'de> Deserialize<'de> for PermissionSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words;
        impl<'de> Visitor<'de> for Words {
            type Value = PermissionSet;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of permissions, like [\"audience:read\"]")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut words: A) -> Result<PermissionSet, A::Error> {
                let mut set = PermissionSet::NONE;
                while let Some(word) = words.next_element::<Cow<'de, str>>()? {
                    set = set.and(PermissionSet::of_word(&word).map_err(A::Error::custom)?);
                }
                Ok(set)
            }
        }
        deserializer.deserialize_seq(Words)
    }
}

impl JsonSchema for Permission {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Permission".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Permission::ALL.map(Permission::word) })
    }
}

impl JsonSchema for PermissionSet {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "PermissionSet".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<Permission>();
        json_schema!({ "type": "array", "items": { "anyOf": [one, { "const": ALL_WORD }] } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_declaration() {
        for (index, permission) in Permission::ALL.into_iter().enumerate() {
            assert_eq!(permission as usize, index, "{permission}");
            assert_eq!(permission.word().parse(), Ok(permission));
            assert!(permission.allows().ends_with('.'));
        }
        assert_eq!(PermissionSet::ALL, PermissionSet::of(&Permission::ALL));
    }

    #[test]
    fn a_set_is_read_from_a_line_of_words() {
        let set: PermissionSet = "email:send,audience:read email:send".parse().expect("the permissions are valid");
        assert_eq!(set, PermissionSet::of(&[Permission::AudienceRead, Permission::EmailSend]));
        assert_eq!(set.to_string(), "audience:read email:send");
        assert!(set.contains(Permission::EmailSend) && !set.contains(Permission::EmailRead));
        assert_eq!("all".parse(), Ok(PermissionSet::ALL));
        assert_eq!("".parse(), Ok(PermissionSet::NONE));
    }

    #[test]
    fn an_unknown_word_is_named_with_the_nearest() {
        let error = "audience:raed".parse::<PermissionSet>().expect_err("a misspelled permission is rejected").to_string();
        assert_eq!(error, "Unknown permission \"audience:raed\"; did you mean audience:read?");
        let error = "contacts:read".parse::<PermissionSet>().expect_err("an unknown permission is rejected").to_string();
        assert!(error.starts_with("Unknown permission \"contacts:read\"; the permissions are audience:read, "), "{error}");
        let error = "x".repeat(10_000).parse::<Permission>().expect_err("an overlong permission is rejected").to_string();
        assert!(error.len() < 400, "{error}");
    }

    #[test]
    fn a_set_is_a_list_of_words_on_the_wire() {
        let set = PermissionSet::of(&[Permission::WebhookRead, Permission::AudienceRead]);
        let json = serde_json::to_string(&set).expect("a permission set can be written as JSON");
        assert_eq!(json, r#"["audience:read","webhook:read"]"#);
        assert_eq!(serde_json::from_str::<PermissionSet>(&json).expect("the JSON is a valid permission set"), set);
        assert_eq!(
            serde_json::from_str::<PermissionSet>(r#"["all"]"#).expect("\"all\" is a valid permission set"),
            PermissionSet::ALL
        );
        assert!(serde_json::from_str::<PermissionSet>(r#"["all","none"]"#).is_err());
        // The escapes in the JSON text force the name to be deserialized as an owned string.
        assert_eq!(
            serde_json::from_str::<PermissionSet>(r#"["\u0061ll"]"#).expect("an escaped permission is valid"),
            PermissionSet::ALL
        );
    }

    #[test]
    fn a_set_survives_the_compact_format_of_the_store() {
        let config = bincode::config::standard();
        let bytes = bincode::serde::encode_to_vec(PermissionSet::ALL, config).expect("a permission set can be encoded");
        let (set, read): (PermissionSet, usize) =
            bincode::serde::decode_from_slice(&bytes, config).expect("a permission set can be decoded");
        assert_eq!((set, read), (PermissionSet::ALL, bytes.len()));
    }
}
