//! The features that emails are searched for. `assets/email_clients/features.toml` has one entry for each feature of the support tables.

pub mod detect;
mod images;

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// What a reader loses if a client does not support a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "CompatibilityEffect")]
pub enum Effect {
    /// Nothing that the reader notices.
    Nothing,
    /// Decoration or typography.
    Cosmetic,
    /// Sizes, spacing or positions.
    Layout,
    /// Text or images.
    Content,
    /// A link or form does not work.
    Link,
    /// The client drops the whole `style` attribute.
    DropsAttribute,
    /// The client drops the whole `style` element.
    DropsStyleElement,
}

impl Effect {
    /// Returns the share of an element's presentation that is lost, from 0 to 1.
    pub fn weight(self) -> f64 {
        match self {
            Self::Nothing => 0.0,
            Self::Cosmetic => 0.05,
            Self::Layout => 0.15,
            Self::DropsAttribute => 0.3,
            Self::Content | Self::Link | Self::DropsStyleElement => 0.6,
        }
    }
}

/// The position of a feature in [`Table::entries`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeatureId(pub u16);

/// A feature, with the code that its detector searches for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Entry {
    #[serde(skip)]
    pub slug: String,
    property: Vec<String>,
    value: Vec<String>,
    keyword: Vec<String>,
    function: Vec<String>,
    unit: Vec<String>,
    at: Vec<String>,
    media: Vec<String>,
    pseudo: Vec<String>,
    selector: Vec<String>,
    element: Vec<String>,
    attribute: Vec<String>,
    image: Vec<String>,
    special: Option<String>,
    /// Why the feature has no detector; `None` if it has one.
    pub undetectable: Option<String>,
    pub effect: Option<Effect>,
    /// What to use instead of the feature.
    pub fix: Option<String>,
    example: Option<String>,
}

impl Entry {
    pub fn effect(&self) -> Effect {
        self.effect.unwrap_or(Effect::Nothing)
    }

    /// Returns a snippet that uses the feature, if there is one.
    pub fn example(&self) -> Option<String> {
        if self.undetectable.is_some() || self.example.is_some() {
            return self.example.clone();
        }
        let first = |names: &[String]| names.first().cloned();
        let styled = |style: String| format!("<p style=\"{style}\">x</p>");
        first(&self.property)
            .map(|name| styled(format!("{name}: inherit")))
            .or_else(|| first(&self.value).map(styled))
            .or_else(|| first(&self.unit).map(|unit| styled(format!("text-indent: 1{unit}"))))
            .or_else(|| first(&self.function).map(|name| styled(format!("text-indent: {name}(1px, 2px)"))))
            .or_else(|| first(&self.at).map(|name| format!("<style>@{name} screen {{ p {{ color: red }} }}</style><p>x</p>")))
            .or_else(|| first(&self.media).map(|name| format!("<style>@media ({name}) {{ p {{ color: red }} }}</style><p>x</p>")))
            .or_else(|| first(&self.pseudo).map(|name| format!("<style>p:{name} {{ color: red }}</style><p>x</p>")))
            .or_else(|| first(&self.element).map(|pattern| element_example(&pattern)))
            .or_else(|| first(&self.attribute).map(|pattern| attribute_example(&pattern)))
            .or_else(|| first(&self.image).map(|name| format!("<img src=\"https://example.com/a.{name}\" alt=\"x\">")))
    }
}

fn element_example(pattern: &str) -> String {
    let (tag, rest) = pattern.split_once('[').unwrap_or((pattern, ""));
    let attribute = rest.trim_end_matches(']');
    let space = if attribute.is_empty() { "" } else { " " };
    let end = if super::html::VOID.contains(&tag) { String::new() } else { format!("x</{tag}>") };
    format!("<{tag}{space}{attribute}>{end}")
}

fn attribute_example(pattern: &str) -> String {
    let pattern = Pattern::parse(pattern);
    let tag = pattern.tag.as_deref().unwrap_or("p");
    let end = if super::html::VOID.contains(&tag) { String::new() } else { format!("x</{tag}>") };
    format!("<{tag} {}=\"a\">{end}", pattern.attribute.as_deref().unwrap_or_default())
}

/// An element or attribute to find: `tag`, `tag[attribute]` or `tag[attribute=value]`.
#[derive(Clone, Debug)]
struct Pattern {
    tag: Option<String>,
    attribute: Option<String>,
    value: Option<String>,
}

impl Pattern {
    fn parse(text: &str) -> Self {
        let (tag, rest) = text.split_once('[').unwrap_or(("", text));
        let inside = rest.trim_end_matches(']');
        let (attribute, value) = inside.split_once('=').map_or((inside, None), |(name, value)| (name, Some(value.to_owned())));
        Self { tag: (!tag.is_empty()).then(|| tag.to_owned()), attribute: Some(attribute.to_owned()), value }
    }
}

type Index<T> = HashMap<String, Vec<T>, BuildHasherDefault<NameHasher>>;

/// A fast hash of short names (FNV-1a). Emails cannot slow it down with colliding names, because they add no names to an index.
struct NameHasher(u64);

impl Default for NameHasher {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// All features, with an index for each kind of detector.
#[derive(Debug, Default)]
pub struct Table {
    pub entries: Vec<Entry>,
    slugs: HashMap<String, FeatureId>,
    properties: Index<FeatureId>,
    values: Index<(String, FeatureId)>,
    keywords: Index<FeatureId>,
    functions: Index<FeatureId>,
    units: Index<FeatureId>,
    at_rules: Index<FeatureId>,
    media: Index<FeatureId>,
    pseudo: Index<FeatureId>,
    selectors: Index<FeatureId>,
    elements: Index<(Pattern, FeatureId)>,
    attributes: Index<(Pattern, FeatureId)>,
    images: Index<FeatureId>,
    special: Index<FeatureId>,
}

/// The table that is embedded in the program.
pub static TABLE: LazyLock<Table> = LazyLock::new(|| {
    Table::parse(include_str!("../../../../assets/email_clients/features.toml")).expect("a test parses the embedded file")
});

impl Table {
    fn parse(text: &str) -> Result<Self, toml::de::Error> {
        let entries: std::collections::BTreeMap<String, Entry> = toml::from_str(text)?;
        let mut table = Self::default();
        for (slug, entry) in entries {
            let id = FeatureId(u16::try_from(table.entries.len()).unwrap_or(u16::MAX));
            table.add(&Entry { slug, ..entry }, id);
        }
        Ok(table)
    }

    fn add(&mut self, entry: &Entry, id: FeatureId) {
        let fill = |index: &mut Index<FeatureId>, names: &[String]| {
            for name in names {
                index.entry(name.clone()).or_default().push(id);
            }
        };
        fill(&mut self.properties, &entry.property);
        fill(&mut self.keywords, &entry.keyword);
        fill(&mut self.functions, &entry.function);
        fill(&mut self.units, &entry.unit);
        fill(&mut self.at_rules, &entry.at);
        fill(&mut self.media, &entry.media);
        fill(&mut self.pseudo, &entry.pseudo);
        fill(&mut self.selectors, &entry.selector);
        fill(&mut self.images, &entry.image);
        fill(&mut self.special, entry.special.as_slice());
        for value in &entry.value {
            if let Some((property, keyword)) = value.split_once(':') {
                self.values.entry(property.trim().to_owned()).or_default().push((keyword.trim().to_owned(), id));
            }
        }
        for text in &entry.element {
            let pattern = if text.contains('[') {
                Pattern::parse(text)
            } else {
                Pattern { tag: Some(text.clone()), attribute: None, value: None }
            };
            self.elements.entry(pattern.tag.clone().unwrap_or_default()).or_default().push((pattern, id));
        }
        for text in &entry.attribute {
            let pattern = Pattern::parse(text);
            self.attributes.entry(pattern.attribute.clone().unwrap_or_default()).or_default().push((pattern, id));
        }
        self.slugs.insert(entry.slug.clone(), id);
        self.entries.push(entry.clone());
    }

    pub fn get(&self, slug: &str) -> Option<FeatureId> {
        self.slugs.get(slug).copied()
    }

    pub fn entry(&self, id: FeatureId) -> Option<&Entry> {
        self.entries.get(usize::from(id.0))
    }
}

fn known<'t, T>(index: &'t Index<T>, name: &str) -> &'t [T] {
    let mut small = [0_u8; 40];
    let found = match small.get_mut(..name.len()) {
        // Names are compared in lowercase, without allocating memory.
        Some(copy) => {
            copy.copy_from_slice(name.as_bytes());
            copy.make_ascii_lowercase();
            std::str::from_utf8(copy).ok().and_then(|name| index.get(name))
        }
        None => None,
    };
    found.map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_a_detector_or_a_reason() {
        assert_eq!(TABLE.entries.len(), 307);
        for entry in &TABLE.entries {
            assert_ne!(entry.example().is_some(), entry.undetectable.is_some(), "{}", entry.slug);
            assert_ne!(entry.effect.is_some(), entry.undetectable.is_some(), "{}", entry.slug);
        }
    }
}
