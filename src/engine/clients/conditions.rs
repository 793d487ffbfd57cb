//! Decides whether the notes of the support tables apply to a use of a feature.
//!
//! The notes describe the limits of partial support in prose, for example "negative values are not supported".
//! `assets/email_clients/conditions.toml` names a test for each note; this module contains the tests. A test reads the email and, in some
//! cases, an assumption about the reader's account. If the result depends on anything else, it is [`Applies::Unknown`].

mod attributes;
mod declarations;
mod selectors;

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::css::{Declaration, Owner};
use super::data::{Data, Feature};
use super::features::Effect;
use super::features::detect::{Site, Use};
use super::html::Element;
use super::view::View;

/// The maximum number of matching elements that are examined for each rule.
const STYLED_MAX: usize = 500;

/// Whether a note applies to a use of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "CompatibilityApplies")]
pub enum Applies {
    False,
    Unknown,
    True,
}

impl From<bool> for Applies {
    fn from(applies: bool) -> Self {
        if applies { Self::True } else { Self::False }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Test {
    Always,
    Never,
    Reader,
    Account,
    GoogleAccount,
    AccountValues,
    AccountSheet,
    // Conditions on declarations.
    Negative,
    NegativeLiteral,
    WordIn,
    WordNotIn,
    SeveralWords,
    SeveralValues,
    Slash,
    ImageValue,
    ListStyleMore,
    InlineImageProperty,
    CursorNotIn,
    UnitIn,
    RelativeSize,
    NumberNotIn,
    PropertyIn,
    BorderWide,
    MarginBackground,
    RowPadding,
    LineHeight,
    DisplayTables,
    DisplayWord,
    SpacedColor,
    AlphaColor,
    TextContentEscape,
    ImportantUppercase,
    ImportantLowercase,
    ImportantTight,
    ImportantTightBackground,
    Inline,
    InSheet,
    // Conditions on at-rules and selectors.
    NestedAtRule,
    MediaIn,
    MediaNotIn,
    MediaValue,
    KeyframePercent,
    NestingImplicit,
    NotTypeSelector,
    TypeSelector,
    AttributeWithClass,
    AttributeOperatorNotIn,
    AttributeNameIn,
    AttributeGmail,
    Touches,
    TouchesNot,
    // Conditions on elements and attributes.
    ElementIn,
    ElementNotIn,
    HasAttribute,
    LacksAttribute,
    AttributeValueIn,
    AttributeValueNotIn,
    AttributeUnquoted,
    AlignTable,
    AnchorId,
    LocalAnchors,
    ImagePercent,
    Inside,
    BodyWithoutBackground,
    ResourceIn,
    ListValue,
    MailtoParameter,
    StyleInBody,
    StyleLate,
    Base64In,
    Base64NotIn,
    Animated,
}

/// A test that decides whether a note applies, and the effect of the note.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    test: Test,
    #[serde(default)]
    words: Vec<String>,
    /// The effect of the note, if it differs from the effect of the feature.
    #[serde(default)]
    pub effect: Option<Effect>,
    /// Whether the client removes the code that uses the feature, instead of showing it differently.
    #[serde(default = "yes")]
    pub cuts: bool,
    /// Whether readers lose nothing from a use that does not meet the condition, even if the client does not support the feature.
    #[serde(default)]
    pub excuses: bool,
    #[serde(default)]
    notes: Vec<String>,
    /// The part of the condition that depends on the email, if the condition also depends on the account.
    #[serde(skip)]
    email: Option<Box<Condition>>,
}

fn yes() -> bool {
    true
}

static CONDITIONS: LazyLock<HashMap<String, Condition>> = LazyLock::new(|| {
    let text = include_str!("../../../assets/email_clients/conditions.toml");
    parse(text).expect("a test parses the embedded file")
});

/// The features of the embedded tables, by slug.
static FEATURES: LazyLock<HashMap<&str, &Feature>> =
    LazyLock::new(|| Data::embedded().features.iter().map(|feature| (&*feature.slug, feature)).collect());

fn parse(text: &str) -> Result<HashMap<String, Condition>, toml::de::Error> {
    #[derive(Deserialize)]
    struct File {
        condition: Vec<Condition>,
    }
    let mut found = HashMap::new();
    for mut condition in toml::from_str::<File>(text)?.condition {
        condition.email = match condition.test {
            Test::AccountValues => Some(Box::new(condition.of(Test::WordIn))),
            Test::AccountSheet => Some(Box::new(condition.of(Test::InSheet))),
            _ => None,
        };
        for note in std::mem::take(&mut condition.notes) {
            found.insert(note, condition.clone());
        }
    }
    Ok(found)
}

/// Returns the condition of a note. Returns `None` if the note has no condition, or if its text has changed since the condition was
/// written.
pub fn of_note(feature: &Feature, number: u16) -> Option<&'static Condition> {
    let condition = CONDITIONS.get(&format!("{}#{number}", feature.slug))?;
    let known = FEATURES.get(&*feature.slug);
    known.is_some_and(|known| known.note(number) == feature.note(number)).then_some(condition)
}

/// The assumptions about the reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assumptions {
    /// Whether the mailbox and the app belong to different providers, if known.
    pub foreign_account: Option<bool>,
}

impl Condition {
    /// Decides whether the condition applies to a use.
    pub fn applies(&self, view: &View<'_>, one: &Use, assumptions: Assumptions) -> Applies {
        let foreign = match assumptions.foreign_account {
            None => Applies::Unknown,
            Some(foreign) => foreign.into(),
        };
        match self.test {
            Test::Always => Applies::True,
            Test::Never => Applies::False,
            Test::Reader => Applies::Unknown,
            Test::Account => foreign,
            Test::GoogleAccount => match assumptions.foreign_account {
                None => Applies::Unknown,
                Some(foreign) => (!foreign).into(),
            },
            // The condition applies only if both the account and the email match.
            Test::AccountValues | Test::AccountSheet => {
                foreign.min(self.email.as_ref().is_some_and(|email| email.decide(view, one)).into())
            }
            Test::Animated => attributes::animated(view, one),
            _ => self.decide(view, one).into(),
        }
    }

    /// Returns whether the condition depends on the reader's account.
    pub fn is_account(&self) -> bool {
        matches!(self.test, Test::Account | Test::GoogleAccount | Test::AccountValues | Test::AccountSheet)
    }

    fn of(&self, test: Test) -> Self {
        Self { test, words: self.words.clone(), effect: None, cuts: true, excuses: false, notes: Vec::new(), email: None }
    }

    fn decide(&self, view: &View<'_>, one: &Use) -> bool {
        match one.site {
            Site::Declaration(index) => {
                let declaration = view.sheets.declarations.get(index as usize);
                declaration.is_some_and(|declaration| declarations::decide(self, view, one, declaration))
            }
            Site::Selector(..) | Site::Rule(_) | Site::AtRule(_) => selectors::decide(self, view, one),
            Site::Element(_) | Site::Attribute(..) => attributes::decide(self, view, one),
            Site::CssComment(index) => {
                let comment = view.sheets.comments.get(index as usize);
                let inline = comment.is_some_and(|(_, owner)| is_inline(view, *owner));
                match self.test {
                    Test::Inline => inline,
                    Test::InSheet => !inline,
                    _ => false,
                }
            }
            Site::Document => false,
        }
    }

    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|one| one.eq_ignore_ascii_case(word))
    }
}

/// Returns whether declarations with this owner are in a `style` attribute.
fn is_inline(view: &View<'_>, owner: Owner) -> bool {
    matches!(owner, Owner::Element(element) if view.element(element).is_some_and(|element| element.name != "style"))
}

/// Returns the elements that a declaration applies to, at most [`STYLED_MAX`].
fn styled<'v, 'a>(view: &'v View<'a>, declaration: &Declaration) -> impl Iterator<Item = &'v Element<'a>> + use<'v, 'a> {
    let own = match declaration.owner {
        Owner::Element(element) => view.element(element),
        _ => None,
    };
    let ruled = view.touched(declaration).iter().take(STYLED_MAX).filter_map(move |element| view.element(*element));
    own.into_iter().chain(ruled)
}

#[cfg(test)]
mod tests {
    use super::super::data::SupportLevel;
    use super::*;

    #[test]
    fn every_note_behind_a_partial_answer_has_a_condition() {
        let mut missing = Vec::new();
        for feature in &Data::embedded().features {
            let partly = feature.cells.iter().filter(|cell| cell.answer == SupportLevel::Partly);
            let notes = partly.flat_map(|cell| &cell.notes);
            missing
                .extend(notes.filter(|note| of_note(feature, **note).is_none()).map(|note| format!("{}#{note}", feature.slug)));
        }
        missing.sort();
        missing.dedup();
        assert_eq!(missing, ["css-pseudo-class-link#1"]);
    }

    #[test]
    fn conditions_name_only_notes_that_exist() {
        for name in CONDITIONS.keys() {
            let (slug, number) = name.split_once('#').expect("the name has a number");
            let feature = Data::embedded().features.iter().find(|one| &*one.slug == slug);
            let number = number.parse().expect("the number is valid");
            assert!(feature.is_some_and(|feature| feature.note(number).is_some()), "{name}");
        }
    }

    #[test]
    fn a_note_whose_text_changed_has_no_condition() {
        let mut feature =
            Data::embedded().features.iter().find(|one| &*one.slug == "css-margin").expect("the feature exists").clone();
        assert!(of_note(&feature, 1).is_some());
        feature.notes.iter_mut().for_each(|note| note.text = "Partial. Something else.".into());
        assert!(of_note(&feature, 1).is_none());
    }
}
