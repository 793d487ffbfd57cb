//! Changes an email according to instructions in plain words, without a language model.
//!
//! The composer supports a fixed set of instructions in seven languages. A prompt may contain several instructions. An instruction that is
//! not understood makes no changes; the response reports the instruction and lists the possible edits. The functions are pure.

mod blocks;
pub mod imported;
mod parse;
#[cfg(test)]
mod tests;
mod texts;
mod vocabulary;
mod whole_email;

use super::{Knowledge, Plan, Request};
use crate::base::text::Color;
use crate::features::emails::composer::language::Language;
use crate::features::emails::document::{Corners, Email, Layout, Link};
use crate::features::projects::brand::Brand;

/// The inputs from which the composer wrote an email.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    pub request: &'a Request<'a>,
    pub knowledge: &'a [Knowledge<'a>],
    pub plan: &'a Plan,
    /// The email's slot in the plan.
    pub place: usize,
}

/// The resources for applying an instruction.
#[derive(Clone, Copy, Debug)]
pub struct EditResources<'a> {
    pub brand: &'a Brand,
    /// The brand's home page, the default target of new buttons.
    pub site: Option<&'a str>,
    pub origin: Option<Origin<'a>>,
    /// The day on which the instruction was written.
    pub today: jiff::civil::Date,
}

/// An email after an edit.
#[derive(Clone, Debug, PartialEq)]
pub struct Edited {
    pub email: Email,
    /// One sentence for each change that was made.
    pub done: Vec<String>,
    /// One sentence for each change that was not made, with the reason and the user's own words.
    pub not_done: Vec<String>,
}

/// The failure of an edit: no part of the instruction could be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotUnderstood {
    /// The reasons, one sentence for each part of the instruction.
    pub reasons: Vec<String>,
    /// The instructions that the composer supports.
    pub can: &'static [&'static str],
}

/// The supported instructions, as examples that work.
pub const CAN: [&str; 12] = [
    "Change \"old words\" to \"new words\"",
    "Change the subject (preheader, headline, intro, button text) to \"…\"",
    "Shorten the text, or make it longer",
    "Link the button to https://…",
    "Make the button (background, accent color) #1A73E8, or red",
    "Use the layout letter (bold, minimal, editorial, cards, showcase, midnight, bulletin), or round corners",
    "Move the coupon up (down, to the top, before the products)",
    "Add a button (image, text \"…\", heading, divider, products, list, quote, countdown, social links, coupon with code …)",
    "Remove the coupon (second image, products, the text with \"some words\", the last sentence, …)",
    "Swap the image, or use the image https://…",
    "Make it formal, or informal; add emoji, or remove them",
    "Translate it into German (English, French, Spanish, Italian, Portuguese, Dutch)",
];

/// The part of an email that an instruction refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    Image,
    /// The alt text of an image.
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
}

/// The part that an instruction selects from several parts of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    /// The instruction does not say which part. It refers to the first part or, if it implies all parts, to all parts.
    Unsaid,
    Nth(usize),
    Last,
    All,
}

/// A position in the email.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Up,
    Down,
    Top,
    Bottom,
    Before(Anchor),
    After(Anchor),
}

/// The reference point of a position.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Anchor {
    Target(Target, Which),
    /// A part that contains these words.
    Words(String),
}

/// The part of the email to color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Surface {
    Button,
    Background,
    Accent,
    Text,
    Headings,
}

/// The action that one instruction requests.
#[derive(Clone, Debug, PartialEq)]
enum Action {
    Replace {
        from: String,
        to: String,
    },
    Set {
        target: Target,
        which: Which,
        value: String,
    },
    /// Changes the target of links whose text contains `of` or whose address is `of`. If `of` is `None`, changes the target of buttons.
    Lead {
        which: Which,
        link: Link,
        of: Option<String>,
    },
    Paint {
        surface: Surface,
        color: Color,
    },
    /// Replaces a color. If the color was given as a number, `exact` is true. Otherwise, all colors with the same name are replaced in
    /// imported HTML.
    Recolor {
        from: Color,
        exact: bool,
        to: Color,
    },
    Round(Corners),
    Arrange(Layout),
    Emoji(bool),
    Formality(bool),
    Translate(Language),
    Shorten {
        target: Option<Target>,
        which: Which,
    },
    Lengthen,
    Add {
        target: Target,
        clause: String,
        place: Option<Place>,
    },
    /// Removes the part with the given words, or one part of a kind.
    Remove {
        target: Target,
        which: Which,
        words: Option<String>,
    },
    Move {
        target: Target,
        which: Which,
        to: Place,
    },
    Swap {
        which: Which,
        url: Option<String>,
        clause: String,
    },
}

/// Applies the parts of an instruction that are understood.
pub fn apply(email: &Email, instruction: &str, means: &EditResources<'_>) -> Result<Edited, NotUnderstood> {
    let mut edited = Edited { email: email.clone(), done: Vec::new(), not_done: Vec::new() };
    let reading = parse::Reading { language: &email.language, contains: &|words| texts::contains(email, words) };
    for (clause, action) in parse::instructions(instruction, reading) {
        let Some(action) = action else {
            edited.not_done.push(format!("The instruction \"{clause}\" was not understood."));
            continue;
        };
        match carry_out(&mut edited.email, &action, means) {
            Ok(done) => edited.done.push(done),
            Err(reason) => edited.not_done.push(reason),
        }
    }
    if edited.not_done.is_empty() && edited.done.is_empty() {
        edited.not_done.push("The instruction is empty.".to_owned());
    }
    // A change that makes the document invalid is discarded.
    if let Some(violation) = edited.email.check().first() {
        edited.done.clear();
        edited.not_done.push(format!("The change would break the email: {violation}."));
    }
    if edited.done.is_empty() { Err(NotUnderstood { reasons: edited.not_done, can: &CAN }) } else { Ok(edited) }
}

/// Applies one instruction. Returns a description of the change, or the reason why the instruction failed.
fn carry_out(email: &mut Email, action: &Action, means: &EditResources<'_>) -> Result<String, String> {
    match action {
        Action::Replace { from, to } => texts::replace(email, from, to),
        Action::Set { target, which, value } => texts::set(email, *target, *which, value),
        Action::Lead { which, link, of } => texts::lead(email, *which, link, of.as_deref()),
        Action::Paint { surface, color } => Ok(paint(email, *surface, *color)),
        Action::Recolor { from, to, .. } => recolor(email, *from, *to),
        Action::Round(corners) => {
            email.style.corners = Some(*corners);
            Ok(format!("Made the corners {}.", format!("{corners:?}").to_lowercase()))
        }
        Action::Arrange(layout) => {
            email.style.layout = Some(*layout);
            Ok(format!("Changed the layout to {}.", format!("{layout:?}").to_lowercase()))
        }
        Action::Emoji(on) => texts::emoji(email, *on),
        Action::Formality(formal) => whole_email::formality(email, *formal, means),
        Action::Translate(language) => whole_email::translate(email, *language, means),
        Action::Shorten { target, which } => texts::shorten(email, *target, *which),
        Action::Lengthen => whole_email::lengthen(email, means),
        Action::Add { target, clause, place } => blocks::add(email, *target, clause, place.as_ref(), means),
        Action::Remove { target: Target::Sentence, which, words } => texts::remove_sentence(email, *which, words.as_deref()),
        Action::Remove { target, words: Some(words), .. } => blocks::remove_saying(email, *target, words),
        Action::Remove { target, which, words: None } => blocks::remove(email, *target, *which),
        Action::Move { target, which, to } => blocks::shift(email, *target, *which, to),
        Action::Swap { which, url, clause } => blocks::swap(email, *which, url.as_deref(), clause, means),
    }
}

fn paint(email: &mut Email, surface: Surface, color: Color) -> String {
    let (place, name) = match surface {
        Surface::Button => (&mut email.style.button, "buttons"),
        Surface::Background => (&mut email.style.background, "background"),
        Surface::Accent | Surface::Text | Surface::Headings => (&mut email.style.primary, "accent color"),
    };
    *place = Some(color);
    format!("Made the {name} {color}.")
}

/// Replaces one of the email's colors with another.
fn recolor(email: &mut Email, from: Color, to: Color) -> Result<String, String> {
    let style = &mut email.style;
    let given = [&mut style.button, &mut style.background, &mut style.primary];
    let count = given.into_iter().filter_map(Option::as_mut).filter(|color| **color == from).map(|color| *color = to).count();
    match count {
        0 => Err(format!("The email does not use the color {from}. Name the button, the background or the accent instead.")),
        _ => Ok(format!("Changed the color {from} to {to}.")),
    }
}

impl Target {
    /// Returns the target's name for users.
    fn name(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Preheader => "preheader",
            Self::Eyebrow => "line above the headline",
            Self::Title => "headline",
            Self::Lead => "intro",
            Self::Text => "text",
            Self::Sentence => "sentence",
            Self::Heading => "heading",
            Self::Button => "button",
            Self::Image => "image",
            Self::Alt => "alt text",
            Self::Coupon => "coupon",
            Self::Divider => "divider",
            Self::Products => "product grid",
            Self::Quote => "quote",
            Self::List => "list",
            Self::Countdown => "countdown",
            Self::Social => "social links",
            Self::Table => "table",
            Self::Story => "text about the brand",
            Self::Closing => "closing",
        }
    }
}
