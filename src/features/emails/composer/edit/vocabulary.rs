//! The words, forms and replies of edits in each of the seven languages, read once from `assets/composer/edits`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use super::action::{Target, Topic};
use super::reply::{Fact, Reply};
use crate::base::text::Color;
use crate::features::emails::composer::language::Language;
use crate::features::emails::composer::text::{Phrases, capital};
use crate::features::emails::composer::tokens::{Tokens, plain};
use crate::features::emails::document::Layout;

/// The kind of change that a form requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    Add,
    Bold,
    Columns,
    Correct,
    Emoji,
    NoEmoji,
    Formal,
    Informal,
    Inform,
    Layout,
    Lead,
    Lengthen,
    Move,
    Paint,
    Postscript,
    Recolor,
    Remove,
    Replace,
    Round,
    Sharp,
    Soft,
    Set,
    Shorten,
    Sign,
    Swap,
    Translate,
}

/// The patterns of instructions with the same intent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormTable {
    pub intent: Intent,
    patterns: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    pub kind: ElementKind,
    pub is_optional: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElementKind {
    /// A phrase of a class: `@change`.
    Class(String),
    Slot(Slot),
    /// A punctuation mark such as a colon.
    Sign(String),
}

/// A gap of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    Part,
    /// Any text, or a quotation.
    Value,
    /// New text that starts with an uppercase letter.
    Label,
    Quote,
    /// Text that the email contains.
    Said,
    /// The words that describe a corrected value.
    Any,
    Name,
    Color,
    Place,
    Language,
    Url,
    /// The second web address in an instruction.
    OtherUrl,
    Number,
    Product,
    Topic,
    Layout,
}

/// A parsed pattern with its intent.
#[derive(Debug)]
pub struct Form {
    pub intent: Intent,
    pub elements: Vec<Element>,
}

/// A common request that the composer cannot carry out, and the key of the reply that suggests an alternative.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    pub words: Phrases,
    pub reply: String,
}

/// The colors and forms that all languages share.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shared {
    colors: BTreeMap<String, Color>,
    forms: Vec<FormTable>,
}

/// The vocabulary of one language for edits.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vocabulary {
    /// Words that do not change the meaning of an instruction, such as articles.
    pub filler: Phrases,
    /// The endings of inflected adjectives.
    pub endings: Vec<String>,
    /// Words that show that a sentence only expresses a feeling.
    pub feelings: Phrases,
    pub classes: BTreeMap<String, Phrases>,
    pub ordinals: Vec<Phrases>,
    pub numbers: Vec<Phrases>,
    pub parts: BTreeMap<Target, Phrases>,
    pub names: BTreeMap<Target, String>,
    pub topics: BTreeMap<Topic, Phrases>,
    pub layouts: BTreeMap<Layout, Phrases>,
    pub languages: BTreeMap<String, Phrases>,
    /// The words for each color, keyed by the color's key in the shared table.
    colors: BTreeMap<String, Vec<String>>,
    pub wishes: Vec<Wish>,
    #[serde(default)]
    forms: Vec<FormTable>,
    messages: BTreeMap<String, String>,
    #[serde(skip)]
    pub read_forms: Vec<Form>,
    #[serde(skip)]
    pub named_colors: Vec<(Vec<String>, Color)>,
}

impl Vocabulary {
    pub fn of(language: Language) -> &'static Self {
        static ALL: OnceLock<BTreeMap<&'static str, Vocabulary>> = OnceLock::new();
        let all = ALL.get_or_init(|| {
            let shared: Shared =
                toml::from_str(include_str!("../../../../../assets/composer/edits/all.toml")).expect("a test parses the forms");
            Language::SPOKEN.into_iter().map(|language| (language.code(), Self::read(language, &shared))).collect()
        });
        all.get(language.code()).or_else(|| all.get("en")).expect("the tables have English")
    }

    fn read(language: Language, shared: &Shared) -> Self {
        let mut own: Self = toml::from_str(table(language)).expect("a test parses every vocabulary of edits");
        let forms = own.forms.iter().chain(&shared.forms);
        own.read_forms = forms
            .flat_map(|table| {
                table.patterns.iter().map(move |pattern| Form { intent: table.intent, elements: elements(pattern) })
            })
            .collect();
        let named = own.colors.iter().filter_map(|(name, words)| Some((words, *shared.colors.get(name)?)));
        own.named_colors = named.flat_map(|(words, color)| words.iter().map(move |word| (folded(word), color))).collect();
        own.named_colors.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
        own
    }

    /// Returns the phrases of a class; empty if the language has none.
    pub fn class(&self, name: &str) -> &[Vec<String>] {
        self.classes.get(name).map_or(&[], |phrases| phrases.0.as_slice())
    }

    /// Returns whether a folded word is an inflected form of this folded adjective.
    pub fn is_form(&self, word: &str, name: &str) -> bool {
        let Some(rest) = word.strip_prefix(name.trim_end_matches(['a', 'e', 'o'])) else { return false };
        word == name || word.strip_prefix(name).is_some_and(|end| self.endings.iter().any(|own| own == end)) || {
            let is_stem = name.ends_with(['a', 'e', 'o']) && name.len() > 3;
            is_stem && self.endings.iter().any(|own| own == rest)
        }
    }

    /// Returns how many words of an instruction are in this vocabulary.
    pub fn known(&self, words: &Tokens<'_>) -> usize {
        let lists = self.classes.values().chain(self.parts.values()).chain(self.topics.values()).chain(self.languages.values());
        let lists = lists.chain([&self.filler]).chain(self.wishes.iter().map(|wish| &wish.words)).chain(self.layouts.values());
        let lists: Vec<_> = lists.collect();
        let mut covered = vec![false; words.len()];
        for at in 0..words.len() {
            let own = lists.iter().filter_map(|list| words.any(at, list)).max().unwrap_or(0);
            let color = self.named_colors.iter().any(|(name, _)| name.len() == 1 && self.is_form(words.fold(at), &name[0]));
            covered[at..(at + own.max(usize::from(color))).min(words.len())].fill(true);
        }
        covered.into_iter().filter(|covered| *covered).count()
    }

    /// Returns the sentences of a reply.
    pub fn tell(&self, reply: &Reply) -> String {
        let first = capital(&self.fill(reply));
        reply.then.iter().fold(first, |out, then| format!("{out} {}", self.tell(then)))
    }

    /// Returns the first sentence of a reply without capitalizing it, for use inside another sentence.
    pub fn fill(&self, reply: &Reply) -> String {
        let mut out = self.messages.get(reply.key).cloned().unwrap_or_else(|| reply.key.to_owned());
        for (name, fact) in &reply.facts {
            let text = match fact {
                Fact::Text(text) => text.clone(),
                Fact::Part(target) => self.name(*target).to_owned(),
                Fact::Parts(targets) => targets.iter().map(|target| self.name(*target)).collect::<Vec<_>>().join(", "),
                Fact::Message(key) => self.messages.get(key).cloned().unwrap_or_else(|| key.clone()),
            };
            out = out.replace(&format!("{{{name}}}"), &text);
        }
        out
    }

    pub fn wish(&'static self, key: &'static str) -> Reply {
        Reply::new(key)
    }

    pub fn name(&self, target: Target) -> &str {
        self.names.get(&target).map_or("", String::as_str)
    }

    /// Returns the first name of each color, for the reply to an unknown color name.
    pub fn color_names(&self) -> String {
        self.colors.values().filter_map(|words| words.first().cloned()).collect::<Vec<_>>().join(", ")
    }
}

fn table(language: Language) -> &'static str {
    match language {
        Language::De => include_str!("../../../../../assets/composer/edits/de.toml"),
        Language::Fr => include_str!("../../../../../assets/composer/edits/fr.toml"),
        Language::Es => include_str!("../../../../../assets/composer/edits/es.toml"),
        Language::It => include_str!("../../../../../assets/composer/edits/it.toml"),
        Language::Pt => include_str!("../../../../../assets/composer/edits/pt.toml"),
        Language::Nl => include_str!("../../../../../assets/composer/edits/nl.toml"),
        Language::En | Language::Ar | Language::He => include_str!("../../../../../assets/composer/edits/en.toml"),
    }
}

/// Parses a pattern such as `@change {part} @to? {value}`.
fn elements(pattern: &str) -> Vec<Element> {
    let element = |word: &str| {
        let (word, is_optional) = word.strip_suffix('?').map_or((word, false), |word| (word, true));
        let kind = match (word.strip_prefix('@'), word.strip_prefix('{').and_then(|word| word.strip_suffix('}'))) {
            (Some(class), _) => ElementKind::Class(class.to_owned()),
            (_, Some(slot)) => ElementKind::Slot(slot_of(slot)),
            _ => ElementKind::Sign(plain(word)),
        };
        Element { kind, is_optional }
    };
    pattern.split(' ').map(element).collect()
}

/// Returns the words of a name, folded.
fn folded(name: &str) -> Vec<String> {
    plain(name).split_whitespace().map(str::to_owned).collect()
}

fn slot_of(name: &str) -> Slot {
    let name = toml::Value::String(name.to_owned());
    name.try_into().expect("a test parses every form")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_language_has_the_same_tables() {
        let english = Vocabulary::of(Language::En);
        let classes: BTreeSet<_> = english.classes.keys().collect();
        for language in Language::SPOKEN {
            let own = Vocabulary::of(language);
            assert_eq!((own.ordinals.len(), own.numbers.len()), (4, 4), "{language:?}");
            let keys: BTreeSet<_> = own.messages.keys().collect();
            let differing: Vec<_> =
                english.messages.keys().collect::<BTreeSet<_>>().symmetric_difference(&keys).copied().collect();
            assert_eq!(differing, [""; 0], "{language:?}");
            let differing: Vec<_> = classes.symmetric_difference(&own.classes.keys().collect()).copied().collect();
            assert_eq!(differing, [""; 0], "{language:?}");
            assert_eq!(own.names.keys().collect::<Vec<_>>(), english.names.keys().collect::<Vec<_>>(), "{language:?}");
            assert_eq!(own.parts.keys().collect::<Vec<_>>(), english.parts.keys().collect::<Vec<_>>(), "{language:?}");
            assert_eq!(own.colors.keys().collect::<Vec<_>>(), english.colors.keys().collect::<Vec<_>>(), "{language:?}");
            assert!(own.wishes.iter().all(|wish| own.messages.contains_key(&wish.reply)), "{language:?}");
            let gaps =
                |text: &str| text.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect::<BTreeSet<_>>().len();
            for (key, text) in &own.messages {
                assert_eq!(gaps(text), gaps(&english.messages[key]), "{language:?} {key}: {text}");
            }
        }
    }

    #[test]
    fn every_class_of_a_form_exists_and_every_reply_has_a_sentence() {
        let english = Vocabulary::of(Language::En);
        for form in Language::SPOKEN.into_iter().flat_map(|language| &Vocabulary::of(language).read_forms) {
            for element in &form.elements {
                if let ElementKind::Class(class) = &element.kind {
                    assert!(english.classes.contains_key(class), "{class}");
                }
            }
        }
        let sources = [
            include_str!("mod.rs"),
            include_str!("add.rs"),
            include_str!("blocks.rs"),
            include_str!("style.rs"),
            include_str!("texts.rs"),
            include_str!("shorten.rs"),
            include_str!("translate.rs"),
            include_str!("nearest.rs"),
            include_str!("imported/mod.rs"),
        ];
        for source in sources {
            for start in ["Reply::new(\"", "Reply::about(\""] {
                for key in source.split(start).skip(1).filter_map(|rest| rest.split('"').next()) {
                    assert!(english.messages.contains_key(key), "{key}");
                }
            }
        }
    }

    #[test]
    fn pages_of_the_dashboard_have_their_english_names() {
        let english = Vocabulary::of(Language::En);
        let page =
            |text: &str| text.split_once("Brands → ").map(|(_, rest)| rest.split([';', ',', '.', ' ']).next().map(str::to_owned));
        for language in Language::SPOKEN {
            for (key, text) in &Vocabulary::of(language).messages {
                assert_eq!(page(text), page(&english.messages[key]), "{language:?} {key}: {text}");
            }
        }
    }

    #[test]
    fn inflected_adjectives_are_recognized() {
        let german = Vocabulary::of(Language::De);
        for (word, name, is_form) in [("turkisen", "turkis", true), ("rote", "rot", true), ("rotwein", "rot", false)] {
            assert_eq!(german.is_form(word, name), is_form, "{word}");
        }
        assert!(Vocabulary::of(Language::Es).is_form("rojas", "rojo"));
    }
}
