//! The email document: the content of an email, block by block, independent of its rendering.
//!
//! The document is the source of truth: users, the composer and language models write documents, edits change them, and MJML, HTML and
//! plain text are rendered from them. The types of a document accept text of any length, and [`Email::check`] reports text that is too
//! long, so that writers see the violations together. Addresses are checked when they are parsed, so that a document cannot contain an
//! address that is unsafe in a web page.
//!
//! The document contains the author's choices of colors and layout, but not the brand's.

mod block;
mod change;
mod check;
mod line;
mod link;
mod rich;
mod sample;
mod schema;

pub use block::*;
pub use change::{Change, ChangeError, ChangeKind, changed, forget_names, name_blocks};
pub use check::{Violation, ViolationKind};
pub use line::Line;
pub use link::{ImageUrl, Link, LinkError};
pub use rich::{Rich, RichError, Span};
pub use schema::{CONTENT_KINDS, block_schema, notation};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::base::locale::LanguageTag;
use crate::base::text::Color;
use crate::engine::store::Record;
use crate::vocab::limits;

/// The version that this program writes.
pub const VERSION: u8 = 1;

/// A whole email.
// The derives use `remote` because a document is stored in a different form. See the implementation of `Record` below.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, remote = "Self")]
#[schemars(rename = "Email")]
pub struct Email {
    /// The version of the document format: 1.
    #[schemars(range(min = 1, max = 1))]
    pub version: u8,
    /// The language of the email's text: a BCP 47 tag like `en` or `pt-BR`.
    pub language: LanguageTag,
    /// The writing direction of the email's language.
    pub direction: Direction,
    /// The purpose of the email.
    pub purpose: Purpose,
    /// What the inbox shows in bold: 30 to 60 characters, no shouting.
    pub subject: Line<{ limits::EMAIL_SUBJECT_CHARACTERS_MAX }>,
    /// What the inbox shows after the subject: 40 to 110 characters that continue it and do not repeat it.
    pub preheader: Line<{ limits::EMAIL_PREHEADER_CHARACTERS_MAX }>,
    /// The author's choices about the theme; the brand decides the rest.
    pub style: Style,
    /// The blocks from top to bottom: first a header, last a footer.
    #[schemars(length(min = 2, max = limits::EMAIL_BLOCKS_MAX))]
    pub blocks: Vec<Block>,
}

/// The direction of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Direction {
    #[default]
    Ltr,
    Rtl,
}

/// The purpose of an email.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Purpose {
    Welcome,
    Sale,
    Launch,
    Newsletter,
    Event,
    CartReminder,
    WinBack,
    ReviewRequest,
    Receipt,
    Seasonal,
    Referral,
    Announcement,
}

/// Choices about the theme. Null leaves a choice to the brand and the purpose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Style {
    /// The arrangement of the whole email.
    #[serde(default)]
    pub layout: Option<Layout>,
    /// The main color, used instead of the brand's, as `#RRGGBB`.
    #[serde(default)]
    pub primary: Option<Color>,
    /// The color of buttons, used instead of the brand's, as `#RRGGBB`.
    #[serde(default)]
    pub button: Option<Color>,
    /// The background of filled boxes, such as the coupon, used instead of the main color, as `#RRGGBB`.
    #[serde(default)]
    pub boxes: Option<Color>,
    /// The background of the text, used instead of the brand's, as `#RRGGBB`.
    #[serde(default)]
    pub background: Option<Color>,
    /// The corners of buttons, cards and pictures: sharp, soft or round.
    #[serde(default)]
    pub corners: Option<Corners>,
}

/// The arrangement of an email: positions and sizes, not colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Layout {
    /// Like a magazine: large serif titles, hairlines, wide margins.
    Editorial,
    /// A colored field with a very large title: one loud message.
    Bold,
    /// Pictures first, from edge to edge; products in a tight grid.
    Showcase,
    /// Like a personal letter: minimal decoration, everything aligned to the start of the line.
    Letter,
    /// Centered, with much white space and small type.
    Minimal,
    /// Each part on its own card over a tinted background.
    Cards,
    /// A dark background from top to bottom, with light type.
    Midnight,
    /// Sections with colored bars and numbers, for reports and newsletters.
    Bulletin,
}

/// The shape of corners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Corners {
    Sharp,
    Soft,
    Round,
}

impl Email {
    /// Parses a document and checks it (see [`Email::check`]), or returns the violations.
    pub fn from_json(json: &serde_json::Value) -> Result<Self, Vec<Violation>> {
        schema::read(json)
    }

    /// Returns the document as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("all keys of a document are strings")
    }

    /// Returns the block with this ID, and the block's index. Does not search columns.
    pub fn find(&self, id: &str) -> Option<(usize, &Block)> {
        self.blocks.iter().enumerate().find(|(_, block)| block.id().as_str() == id)
    }

    /// Returns an unused ID for a new block of this kind, such as `text-3`.
    pub fn free_id(&self, kind: &str) -> BlockId {
        let taken = |id: &str| {
            self.blocks.iter().any(|block| block.id().as_str() == id || block.cells().any(|cell| cell.id().as_str() == id))
        };
        let numbers = 1..=limits::EMAIL_BLOCKS_MAX * (1 + limits::EMAIL_COLUMNS_MAX * limits::EMAIL_COLUMN_BLOCKS_MAX) + 1;
        let free = numbers.map(|number| format!("{kind}-{number}")).find(|id| !taken(id));
        Line::new(&free.expect("some number is not used as a block ID"))
    }
}

impl Direction {
    /// Returns the usual writing direction of a language.
    pub fn of(language: &LanguageTag) -> Self {
        let tag = language.as_str();
        let script = tag.split('-').skip(1).find(|part| part.len() == 4);
        let rtl = match script {
            Some(script) => matches!(script, "Arab" | "Hebr" | "Thaa" | "Syrc" | "Nkoo" | "Adlm"),
            None => matches!(language.primary(), "ar" | "he" | "iw" | "fa" | "ur" | "ps" | "sd" | "ug" | "yi" | "dv" | "ckb"),
        };
        if rtl { Self::Rtl } else { Self::Ltr }
    }

    /// Returns the value of the HTML attribute `dir`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ltr => "ltr",
            Self::Rtl => "rtl",
        }
    }
}

impl Layout {
    pub const ALL: [Self; 8] =
        [Self::Editorial, Self::Bold, Self::Showcase, Self::Letter, Self::Minimal, Self::Cards, Self::Midnight, Self::Bulletin];
}

impl Purpose {
    pub const ALL: [Self; 12] = [
        Self::Welcome,
        Self::Sale,
        Self::Launch,
        Self::Newsletter,
        Self::Event,
        Self::CartReminder,
        Self::WinBack,
        Self::ReviewRequest,
        Self::Receipt,
        Self::Seasonal,
        Self::Referral,
        Self::Announcement,
    ];
}

/// A document can be part of any record. The record format stores fields in order without names. It does not support serde's tagged enums,
/// which need a self-describing format. A record therefore stores a document as JSON text, which also keeps old documents readable by
/// humans and by later versions of the program.
impl Record for Email {}

impl Serialize for Email {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return Self::serialize(self, serializer);
        }
        let mut json = Vec::new();
        Self::serialize(self, &mut serde_json::Serializer::new(&mut json)).map_err(serde::ser::Error::custom)?;
        serializer.serialize_bytes(&json)
    }
}

impl<'de> Deserialize<'de> for Email {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return Self::deserialize(deserializer);
        }
        let json = Vec::<u8>::deserialize(deserializer)?;
        Self::deserialize(&mut serde_json::Deserializer::from_slice(&json)).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::store::Value;

    #[test]
    fn a_document_survives_the_store_and_json() {
        let email = Email::sample();
        let mut bytes = Vec::new();
        email.encode(&mut bytes);
        assert_eq!(Email::decode(&bytes).as_ref(), Some(&email));
        assert_eq!(Email::from_json(&email.to_json()), Ok(email));
    }

    #[test]
    fn languages_have_their_direction() {
        for (tag, direction) in [("ar", "rtl"), ("he-IL", "rtl"), ("en", "ltr"), ("az-Arab", "rtl"), ("ar-Latn", "ltr")] {
            assert_eq!(Direction::of(&LanguageTag::parse(tag).expect(tag)).as_str(), direction, "{tag}");
        }
    }

    #[test]
    fn a_used_name_is_not_free() {
        let mut email = Email::sample();
        let first = email.free_id("divider");
        email.blocks.push(Block::Divider(Divider { id: first.clone(), look: Pause::Line }));
        assert_ne!(email.free_id("divider"), first);
    }
}
