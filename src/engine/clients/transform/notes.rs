//! Notes about what a reader may miss, for example because images are blocked.

use serde::{Deserialize, Serialize};

use crate::base::color;
use crate::base::html_scanner::{Scanner, TokenKind as Markup};
use crate::base::source::Lines;
use crate::engine::clients::css::{Declaration, Owner, TokenKind};
use crate::engine::clients::view::View;

/// An email with fewer words than this says almost nothing without its images.
const WORDS_MIN: usize = 20;
/// The maximum number of lines that a note lists.
const LINES_MAX: usize = 20;
/// The maximum width or height, in pixels, of an image that counts as a spacer or a tracking pixel.
const SPACER_PX: f32 = 2.0;

/// A note about something that a reader with this client may miss.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "PreviewNote")]
pub struct Note {
    /// The rule: `image_alt_missing`, `few_words`, `background_without_color`, `dark_image`, `images_absent`, `image_unsound`,
    /// `glyphs_missing`, `not_drawn` or `cut_off`.
    pub rule: String,
    /// The problem and the remedy.
    pub message: String,
    /// The lines of the email that the note refers to.
    pub lines: Vec<u32>,
}

impl Note {
    pub fn new(rule: &str, message: impl Into<String>) -> Self {
        Self { rule: rule.to_owned(), message: message.into(), lines: Vec::new() }
    }
}

/// Returns the notes about an email whose images are blocked.
pub fn without_images(view: &View<'_>) -> Vec<Note> {
    let lines = Lines::new(view.source);
    let mut notes = Vec::new();
    let mut note = |rule: &str, message: String, places: &[u32]| {
        let mut listed: Vec<u32> = places.iter().map(|start| lines.position(*start).0).collect();
        listed.sort_unstable();
        listed.dedup();
        listed.truncate(LINES_MAX);
        notes.push(Note { lines: listed, ..Note::new(rule, message) });
    };
    let bare = images_without_alt(view);
    if !bare.is_empty() {
        let count = bare.len();
        let images = if count == 1 { "One image has".into() } else { format!("{count} images have") };
        note(
            "image_alt_missing",
            format!("{images} no alt text, so readers who block images see an empty box. Add the alt text."),
            &bare,
        );
    }
    let words = word_count(view.source);
    if words < WORDS_MIN {
        let count = if words == 1 { "1 word".into() } else { format!("{words} words") };
        let message = format!("Without images, the email has {count}. Write the message as text, not only in images.");
        note("few_words", message, &[]);
    }
    let backgrounds = backgrounds_without_color(view);
    if !backgrounds.is_empty() {
        let message =
            "A background image has no background color, so text over it may be illegible without the image. Set a color too.";
        note("background_without_color", message.into(), &backgrounds);
    }
    notes
}

/// Returns the offsets of images without an `alt` attribute, except spacers.
fn images_without_alt(view: &View<'_>) -> Vec<u32> {
    let images = view.document.elements.iter().filter(|element| element.name == "img");
    let attribute = |element, name| view.document.attribute(view.source, element, name);
    let is_spacer = |element| {
        let pixels = |name| attribute(element, name).and_then(|size| size.trim_end_matches("px").parse::<f32>().ok());
        [pixels("width"), pixels("height")].into_iter().flatten().any(|size| size <= SPACER_PX)
    };
    images
        .filter(|element| attribute(element, "alt").is_none() && !is_spacer(element))
        .map(|element| element.start_tag.start)
        .collect()
}

/// Returns the number of words in an email's text. Hidden text is also counted: it is usually a preheader, which has few words.
fn word_count(source: &str) -> usize {
    let mut words = 0;
    let mut in_title = false;
    for piece in Scanner::new(source) {
        match piece.kind {
            Markup::Open(tag) => in_title |= tag.name.eq_ignore_ascii_case("title"),
            Markup::Close(name) => in_title &= !name.eq_ignore_ascii_case("title"),
            Markup::Text if !in_title => {
                let text = source.get(piece.start..piece.end).unwrap_or_default();
                let is_word = |word: &&str| word.chars().any(char::is_alphanumeric) && !word.starts_with('&');
                words += text.split_whitespace().filter(is_word).count();
            }
            _ => {}
        }
    }
    words
}

/// Returns the offsets of background images for which the same rule or element sets no background color.
fn backgrounds_without_color(view: &View<'_>) -> Vec<u32> {
    let mut found = Vec::new();
    for declaration in view.sheets.declarations.iter().filter(|declaration| has_image(view, declaration)) {
        let has_color = has_color(view, declaration) || view.siblings(declaration).any(|other| has_color(view, other));
        if !has_color && !of_element(view, declaration).is_some_and(|index| has_bgcolor(view, index)) {
            found.push(declaration.span.start);
        }
    }
    for (index, element) in (0_u32..).zip(&view.document.elements) {
        let image = view.document.attributes_of(element).iter().find(|attribute| attribute.name == "background");
        let Some(image) = image.filter(|image| image.value.start < image.value.end) else { continue };
        let in_style = view.sheets.declarations.iter().any(|one| one.owner == Owner::Element(index) && has_color(view, one));
        if !in_style && !has_bgcolor(view, index) {
            found.push(image.span.start);
        }
    }
    found
}

fn of_element(view: &View<'_>, declaration: &Declaration) -> Option<u32> {
    match declaration.owner {
        Owner::Element(element) => Some(element),
        Owner::Rule(_) => view.touched(declaration).first().copied(),
        Owner::AtRule(_) => None,
    }
}

fn has_bgcolor(view: &View<'_>, index: u32) -> bool {
    view.element(index).is_some_and(|element| view.document.attribute(view.source, element, "bgcolor").is_some())
}

fn is_background(view: &View<'_>, declaration: &Declaration, names: &[&str]) -> bool {
    names.iter().any(|name| declaration.name.of(view.source).eq_ignore_ascii_case(name))
}

fn has_image(view: &View<'_>, declaration: &Declaration) -> bool {
    is_background(view, declaration, &["background", "background-image"])
        && view
            .sheets
            .value(declaration)
            .iter()
            .any(|piece| piece.kind == TokenKind::Url || (piece.kind == TokenKind::Function && piece.is(view.source, "url")))
}

fn has_color(view: &View<'_>, declaration: &Declaration) -> bool {
    is_background(view, declaration, &["background", "background-color"])
        && color::first_in(view.value_text(declaration)).is_some_and(|painted| painted.alpha > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(html: &str) -> Vec<(String, Vec<u32>)> {
        without_images(&View::parse(html, false)).into_iter().map(|note| (note.rule, note.lines)).collect()
    }

    #[test]
    fn an_email_of_images_alone_gets_notes() {
        let html = "<title>Not part of the text</title>\n<img src=a.png>\n<img src=b.png alt=''><img src=c.png width=1>\n\
                    <td style=\"background-image:url(d.png)\">Hello</td>";
        assert_eq!(
            rules(html),
            [
                ("image_alt_missing".to_owned(), vec![2]),
                ("few_words".to_owned(), vec![]),
                ("background_without_color".to_owned(), vec![4])
            ]
        );
    }

    #[test]
    fn an_email_with_text_alternatives_and_colors_gets_none() {
        let text = "word ".repeat(WORDS_MIN);
        for html in [
            "<td style=\"background:#eee url(d.png)\">",
            "<td bgcolor=#eee style=\"background-image:url(d.png)\">",
            "<td background=d.png bgcolor=#eee>",
            "<td background=d.png style=\"background-color:red\">",
            "<img src=a.png alt=Boots>",
        ] {
            assert_eq!(rules(&format!("{html}{text}")), [], "{html}");
        }
        assert_eq!(rules(&format!("<td background=d.png>{text}")).len(), 1);
        assert_eq!(rules("one two &nbsp; <b>three</b>").len(), 1);
    }
}
