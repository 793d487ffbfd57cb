//! One profile per client: its column in the support tables, and behavior that the tables cannot express.
//!
//! The compatibility report and the previews use the same profiles.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::conditions::Assumptions;
use super::data::Data;
use super::features::Effect;

/// The assumed share of opens for a client whose share is unknown.
pub(super) const SMALL_SHARE: f64 = 0.001;

/// The slug of the feature for dark-mode media queries.
pub const DARK_QUERY: &str = "css-at-media-prefers-color-scheme";

/// What a client does in dark mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DarkMode {
    /// Shows the email in its own colors.
    #[default]
    None,
    /// Applies the styles that the email declares for dark mode.
    OptIn,
    /// Changes the lightness of light backgrounds and dark text.
    Partial,
    /// Changes the lightness of all colors.
    Full,
}

/// How closely a preview matches the client's own rendering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "PreviewTier")]
pub enum Tier {
    /// The client removes almost nothing, and renders like a browser.
    NearBrowser,
    /// A browser engine draws the parts of the email that the client keeps.
    #[default]
    Filtered,
    /// The client has its own rendering engine, which the preview approximates.
    Approximated,
}

/// A construct that makes a client drop a whole `style` element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drop {
    NestedAtRule,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Row {
    name: Option<String>,
    aliases: Vec<String>,
    base: Option<String>,
    foreign_account: Option<bool>,
    share: Option<f64>,
    tier: Tier,
    word: bool,
    dark: DarkMode,
    font: Option<String>,
    clips_at: Option<usize>,
    style_bytes: Option<usize>,
    drops: Vec<Drop>,
    body_to_div: bool,
    effects: HashMap<String, Effect>,
    renames: HashMap<String, String>,
}

#[derive(Clone, Debug)]
pub struct Profile {
    /// The key, such as `gmail.ios`.
    pub key: String,
    /// Other keys of the client.
    pub aliases: Vec<String>,
    /// The client's display name.
    pub name: String,
    /// The position of the client in [`Data::clients`].
    pub column: usize,
    pub assumptions: Assumptions,
    /// The assumed share of opens, from 0 to 1.
    pub share: f64,
    pub tier: Tier,
    /// Whether the client renders emails with Word, and so reads conditional comments.
    pub word: bool,
    pub dark: DarkMode,
    /// The client's default font, for text whose font the email does not set.
    pub font: String,
    /// The number of bytes of HTML that the client shows before it clips the message.
    pub clips_at: Option<usize>,
    /// The maximum total size of the `style` elements that the client reads, in bytes.
    pub style_bytes: Option<usize>,
    pub drops: Vec<Drop>,
    pub body_to_div: bool,
    /// Maps the slug of a feature to the feature's effect in this client, if that differs from the usual effect.
    pub effects: HashMap<String, Effect>,
    /// For properties that the client renames instead of dropping: maps the slug of the property's feature to the new name of the property.
    pub renames: HashMap<String, String>,
}

static ROWS: LazyLock<HashMap<String, Row>> = LazyLock::new(|| {
    toml::from_str(include_str!("../../../assets/email_clients/clients.toml")).expect("a test parses the embedded file")
});

/// Returns the profiles of all clients: first the clients of the tables, in the order of the tables, then their variants.
pub fn all(data: &Data) -> Vec<Profile> {
    let listed = data.clients.iter().enumerate().map(|(column, client)| profile(&client.key, &client.name, column));
    let mut variants: Vec<Profile> = ROWS
        .iter()
        .filter_map(|(key, row)| {
            let column = data.client(row.base.as_deref()?)?;
            Some(profile(key, key, column))
        })
        .collect();
    variants.sort_by(|one, other| one.key.cmp(&other.key));
    listed.chain(variants).collect()
}

/// Returns the schema of a client's key. Its examples are the clients in the embedded tables; newer tables can have more.
pub fn key_schema() -> Value {
    let profiles = all(Data::embedded());
    let keys: Vec<&String> = profiles.iter().flat_map(|profile| std::iter::once(&profile.key).chain(&profile.aliases)).collect();
    json!({ "type": "string", "examples": keys })
}

fn profile(key: &str, name: &str, column: usize) -> Profile {
    let row = ROWS.get(key).cloned().unwrap_or_default();
    Profile {
        key: key.to_owned(),
        aliases: row.aliases,
        name: row.name.unwrap_or_else(|| name.to_owned()),
        column,
        assumptions: Assumptions { foreign_account: row.foreign_account },
        share: row.share.unwrap_or(SMALL_SHARE),
        tier: row.tier,
        word: row.word,
        dark: row.dark,
        font: row.font.unwrap_or_else(|| "Arial, sans-serif".to_owned()),
        clips_at: row.clips_at,
        style_bytes: row.style_bytes,
        drops: row.drops,
        body_to_div: row.body_to_div,
        effects: row.effects,
        renames: row.renames,
    }
}

impl Profile {
    /// Returns whether a key names this client.
    pub fn is(&self, key: &str) -> bool {
        self.key == key || self.aliases.iter().any(|alias| alias == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_rules_for_dark_mode_matter_only_in_clients_with_a_dark_mode() {
        use crate::engine::clients::findings::Checker;
        use crate::engine::clients::report;

        let html =
            "<style>@media (prefers-color-scheme: dark) { p { color: #eeeeee } }</style><p style=\"color:#222222\">Hello</p>";
        let effect = |client: &str| {
            let report = report::check(Checker::embedded(), html, &[client.to_owned()]);
            let issues = report.client_issues.iter().flat_map(|client| client.issues.iter().chain(&client.warnings));
            let found: Vec<_> = issues.filter(|issue| *issue.slug == *DARK_QUERY).map(|one| (one.effect, one.fallback)).collect();
            assert_eq!(found.len(), 1, "{client}");
            found[0]
        };
        assert_eq!(effect("gmail.desktop-webmail").0, Effect::Nothing);
        assert_eq!(effect("gmail.ios"), (Effect::Cosmetic, Some("the design for light mode")));
    }

    #[test]
    fn the_schema_of_a_key_accepts_clients_of_newer_tables() {
        let schema = key_schema();
        assert_eq!((&schema["type"], schema.get("enum")), (&json!("string"), None));
        assert!(schema["examples"].as_array().expect("a list").contains(&json!("gmail.ios")));
    }

    #[test]
    fn every_row_is_a_client_of_the_tables_or_a_variant_of_one() {
        let data = Data::embedded();
        let profiles = all(data);
        assert_eq!(profiles.len(), 49);
        for (key, row) in ROWS.iter() {
            assert!(data.client(row.base.as_deref().unwrap_or(key)).is_some(), "{key}");
        }
        let imap = profiles.iter().find(|profile| profile.key == "gmail.imap").expect("the variant exists");
        assert_eq!(imap.assumptions.foreign_account, Some(true));
    }
}
