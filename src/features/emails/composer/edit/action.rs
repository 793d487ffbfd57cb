//! The actions that an instruction can request, and the parts of an email that they refer to.

use serde::Deserialize;

use super::color_names::Named;
use crate::base::text::Color;
use crate::features::emails::composer::language::Language;
use crate::features::emails::document::{Corners, Layout, Link};

/// The part of an email that an instruction refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    Subject,
    Preheader,
    Eyebrow,
    Title,
    Lead,
    Text,
    Sentence,
    Heading,
    Button,
    /// The text of a button.
    Label,
    Image,
    Alt,
    Coupon,
    Divider,
    Products,
    Quote,
    List,
    Countdown,
    Social,
    Table,
    Story,
    Closing,
    /// A box with a filled background.
    Box,
    Background,
    Accent,
    Email,
}

/// Which of several parts of one kind an instruction selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// The instruction does not say which part. It then refers to the first part or, for some actions, to all parts.
    Unsaid,
    Nth(usize),
    Last,
    All,
}

/// A part as an instruction names it: "the second turquoise box".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartName {
    pub target: Target,
    pub which: Which,
    /// The part's current color, if the instruction names it.
    pub was: Option<Named>,
}

/// The place in the email where an instruction puts a part.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    Up,
    Down,
    Top,
    Bottom,
    /// After the signature.
    End,
    Before(Anchor),
    After(Anchor),
}

/// The reference point of a position.
#[derive(Clone, Debug, PartialEq)]
pub enum Anchor {
    Part(PartName),
    /// A part that contains these words.
    Words(String),
}

/// A topic that instructions can name. The text about it comes from the brand's knowledge base or contact data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    Returns,
    Shipping,
    Hours,
    Warranty,
    /// The brand's email address and telephone number.
    Contact,
}

/// The content of a part that the instruction adds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// The text of the part, exactly as given.
    pub text: Option<String>,
    pub url: Option<String>,
    pub author: Option<String>,
    pub code: Option<String>,
    /// The day of a countdown, in the user's words.
    pub date: Option<String>,
}

/// The action that a part of an instruction requests.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Replaces words. If `to` is empty, removes them.
    Replace {
        from: String,
        to: String,
    },
    Set {
        part: PartName,
        value: String,
    },
    /// Changes the target of links whose text contains `of` or whose address is `of`. If `of` is `None`, changes the target of buttons.
    Lead {
        which: Which,
        link: Link,
        of: Option<String>,
    },
    Paint {
        part: PartName,
        color: Color,
    },
    /// Replaces a color wherever the email uses it.
    Recolor {
        from: Named,
        to: Color,
    },
    Round(Corners),
    Arrange(Layout),
    Emoji(bool),
    Formality(bool),
    Translate(Language),
    Shorten(PartName),
    Lengthen,
    Add {
        target: Target,
        details: Details,
        place: Option<Place>,
    },
    /// Adds what the brand's knowledge base contains about a topic.
    Inform {
        topic: Topic,
        place: Option<Place>,
    },
    /// Removes the parts of a kind that contain `words`. If `words` is `None`, removes the named part.
    Remove {
        part: PartName,
        words: Option<String>,
    },
    RemoveProduct(String),
    Move {
        part: PartName,
        to: Place,
    },
    /// Replaces a picture with the picture at `url` or with the brand's picture that `words` describes. If both are `None`, uses a picture
    /// of the brand that the email does not show yet.
    Swap {
        which: Which,
        url: Option<String>,
        words: Option<String>,
    },
    Columns(u8),
    Sign(String),
    Bold(String),
}

impl Action {
    /// Returns whether the check for lost facts is skipped after the action. It is skipped if the user asked to remove or change facts, or
    /// if the action itself keeps them. A translation keeps all text that it cannot translate.
    pub fn may_lose_facts(&self) -> bool {
        let asked = matches!(self, Self::Replace { .. } | Self::Set { .. } | Self::Lead { .. } | Self::Remove { .. });
        let checked = matches!(self, Self::Shorten(_) | Self::Translate(_) | Self::Formality(_));
        asked || checked || matches!(self, Self::RemoveProduct(_) | Self::Sign(_))
    }
}
