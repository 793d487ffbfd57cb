//! An email imported as HTML, in the form that edits need: subject, text, buttons, links and images, and the changes so far.
//!
//! This module determines what can be changed and collects the changes. The code that parses imported HTML applies the changes to the HTML.
//! The composer or a language model writes the new text.

pub mod merge_fields;
mod rewrite;
#[cfg(test)]
pub mod tests;

use std::collections::HashMap;

use crate::base::locale::LanguageTag;
use crate::base::text::Color;
use crate::engine::render::imported_html::{
    Change, ColorTarget, Image, ImportedHtml, Link, New, Outline, Part, TextPart, TextPartKind,
};
use crate::features::emails::finding::Finding;
use crate::features::emails::model::Facts;
use crate::vocab::limits;

/// An imported email with the changes to make.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedEmail {
    pub subject: String,
    pub language: LanguageTag,
    preheader: Option<TextPart>,
    /// The original parts in order. A removed part is `None`, so that the indexes of other parts stay valid.
    parts: Vec<Option<Part>>,
    links: Vec<Link>,
    pub colors: Vec<Color>,
    /// The new preheader of an email that had none.
    new_preheader: Option<String>,
    changes: Vec<Change>,
}

/// The minimum length, in characters, of a paragraph. Shorter pieces of text are usually captions or menu items.
const PROSE_CHARACTERS: usize = 25;
/// The maximum font size of small print, in pixels.
const SMALL: u16 = 13;
/// The maximum width of icons, in pixels.
const ICON_WIDTH: u32 = 48;
/// The minimum width of images that are content, in pixels.
const PICTURE_WIDTH: u32 = 200;
/// The error for a part that is not an image.
const NOT_AN_IMAGE: &str = "This part is not an image, or an earlier change removed it; choose another image.";
/// Words in unsubscribe links, in the languages that the composer fully supports.
const UNSUBSCRIBE: [&str; 12] = [
    "unsubscribe",
    "opt out",
    "opt-out",
    "abmelden",
    "abbestellen",
    "désabonn",
    "désinscri",
    "darse de baja",
    "cancelar",
    "disiscri",
    "afmelden",
    "uitschrijven",
];

impl ImportedEmail {
    /// Creates an imported email from the outline of sanitized HTML.
    pub fn new(subject: &str, language: LanguageTag, outline: Outline) -> Self {
        let Outline { preheader, parts, links, colors, .. } = outline;
        let parts = parts.into_iter().map(Some).collect();
        Self { subject: subject.to_owned(), language, preheader, parts, links, colors, new_preheader: None, changes: Vec::new() }
    }

    /// Returns the changes to make to the HTML.
    pub fn changes(self) -> Vec<Change> {
        self.changes
    }

    /// Returns the number of changes so far.
    pub fn changed(&self) -> usize {
        self.changes.len()
    }

    /// Returns the preheader, which inboxes show after the subject.
    pub fn preheader(&self) -> String {
        self.new_preheader.clone().or_else(|| self.preheader.as_ref().map(TextPart::text)).unwrap_or_default()
    }

    /// Returns the parts that have not been removed, with their indexes.
    pub fn parts(&self) -> impl Iterator<Item = (usize, &Part)> {
        self.parts.iter().enumerate().filter_map(|(place, part)| Some((place, part.as_ref()?)))
    }

    pub fn part(&self, place: usize) -> Option<&Part> {
        self.parts.get(place)?.as_ref()
    }

    fn text_part(&self, place: usize) -> Option<&TextPart> {
        self.part(place)?.text_part()
    }

    /// Returns the plain text of a part: its own text or, for an image, the alt text.
    pub fn text(&self, place: usize) -> String {
        match self.part(place) {
            Some(Part::Text(text_part)) => text_part.text(),
            Some(Part::Image(image)) => image.alt.clone(),
            None => String::new(),
        }
    }

    pub fn of_kind(&self, kind: TextPartKind) -> Vec<usize> {
        self.parts()
            .filter(|(_, part)| part.text_part().is_some_and(|text_part| text_part.kind == kind))
            .map(|(place, _)| place)
            .collect()
    }

    /// Returns the indexes of the paragraphs and list items before the small print. If any of these are long and not in small type, returns
    /// only those.
    pub fn paragraphs(&self) -> Vec<usize> {
        let end = self.footer();
        let kinds = [TextPartKind::Paragraph, TextPartKind::Item];
        let body = |(place, part): &(usize, &Part)| {
            *place < end && part.text_part().is_some_and(|text_part| kinds.contains(&text_part.kind))
        };
        let is_prose = |part: &Part| {
            part.text_part()
                .is_some_and(|text_part| text_part.text().chars().count() >= PROSE_CHARACTERS && text_part.size >= SMALL)
        };
        let prose: Vec<usize> = self.parts().filter(body).filter(|(_, part)| is_prose(part)).map(|(place, _)| place).collect();
        if prose.is_empty() { self.parts().filter(body).map(|(place, _)| place).collect() } else { prose }
    }

    /// Returns the index of the main heading, which is the first heading with the largest font size.
    pub fn title(&self) -> Option<usize> {
        let headings = self.of_kind(TextPartKind::Heading);
        let size = |place: &usize| self.text_part(*place).map_or(0, |text_part| text_part.size);
        headings.iter().copied().max_by_key(|place| (size(place), std::cmp::Reverse(*place)))
    }

    /// Returns the indexes of the images, with content images before logos and icons.
    pub fn images(&self) -> Vec<usize> {
        let images = || self.parts().filter_map(|(place, part)| Some((place, part.image()?)));
        let is_picture = |image: &Image| {
            let text = format!("{} {}", image.alt, image.address).to_lowercase();
            image.width.is_none_or(|width| width >= PICTURE_WIDTH) && !text.contains("logo") && !text.contains("icon")
        };
        let pictures: Vec<usize> = images().filter(|(_, image)| is_picture(image)).map(|(place, _)| place).collect();
        let others = images().map(|(place, _)| place).filter(|place| !pictures.contains(place)).collect::<Vec<_>>();
        pictures.into_iter().chain(others).collect()
    }

    /// Returns the index of the first part of the small print at the end of the email.
    fn footer(&self) -> usize {
        let is_small = |part: &Part| match part {
            Part::Image(image) => image.width.is_some_and(|width| width <= ICON_WIDTH),
            Part::Text(text_part) => {
                text_part.kind != TextPartKind::Button && (text_part.size <= SMALL || self.ends_subscription(text_part))
            }
        };
        let small = self.parts.iter().rev().take_while(|part| part.as_ref().is_none_or(is_small)).count();
        self.parts.len() - small
    }

    fn ends_subscription(&self, text_part: &TextPart) -> bool {
        let addresses = text_part.pieces.iter().filter_map(|piece| self.address(piece.link?));
        let text = format!("{} {}", text_part.text(), addresses.collect::<Vec<_>>().join(" ")).to_lowercase();
        UNSUBSCRIBE.iter().any(|word| text.contains(word))
    }

    /// Returns the links in the order in which they appear, each with its text. The text of a linked image is its alt text.
    pub fn links(&self) -> Vec<(usize, String, &str)> {
        let mut said: HashMap<usize, String> = HashMap::new();
        for (_, part) in self.parts() {
            match part {
                Part::Image(image) => {
                    image.link.into_iter().for_each(|link| _ = said.entry(link).or_insert_with(|| image.alt.clone()))
                }
                Part::Text(text_part) => {
                    for (link, text) in text_part.pieces.iter().filter_map(|piece| Some((piece.link?, &piece.text))) {
                        said.entry(link).or_default().push_str(text);
                    }
                }
            }
        }
        let words = |link: &Link| said.remove(&link.element).unwrap_or_default();
        self.links.iter().map(words).zip(&self.links).map(|(words, link)| (link.element, words, link.address.as_str())).collect()
    }

    fn address(&self, link: usize) -> Option<&str> {
        self.links.iter().find(|other| other.element == link).map(|link| link.address.as_str())
    }

    /// Returns the URL of the first button.
    pub fn button_address(&self) -> Option<&str> {
        let first = self.of_kind(TextPartKind::Button).into_iter().next()?;
        self.address(self.text_part(first)?.link()?)
    }

    fn make(&mut self, change: Change) -> Result<(), String> {
        if self.changes.len() >= limits::IMPORTED_EMAIL_CHANGES_MAX {
            return Err(format!(
                "One instruction can make at most {} changes. Use another instruction for the remaining changes.",
                limits::IMPORTED_EMAIL_CHANGES_MAX
            ));
        }
        self.changes.push(change);
        Ok(())
    }

    pub fn set_subject(&mut self, text: &str) -> Result<(), String> {
        self.subject = cut(text, limits::EMAIL_SUBJECT_CHARACTERS_MAX);
        self.make(Change::Title(self.subject.clone()))
    }

    pub fn set_preheader(&mut self, text: &str) -> Result<(), String> {
        let text = cut(text, limits::EMAIL_PREHEADER_CHARACTERS_MAX);
        let Some(text_part) = &mut self.preheader else {
            // A second change to the preheader replaces the first.
            self.changes.retain(|change| !matches!(change, Change::Preheader(_)));
            self.new_preheader = Some(text.clone());
            return self.make(Change::Preheader(text));
        };
        for change in rewrite::rewrite(text_part, &text) {
            self.make(change)?;
        }
        Ok(())
    }

    /// Replaces the text of a part. If the new text is empty, the part is removed.
    pub fn say(&mut self, place: usize, text: &str) -> Result<(), String> {
        let text = text.trim();
        if text.is_empty() {
            return self.remove(place);
        }
        if text.chars().count() > limits::IMPORTED_EMAIL_TEXT_CHARACTERS_MAX {
            return Err(format!(
                "The text can have at most {} characters. Shorten it.",
                limits::IMPORTED_EMAIL_TEXT_CHARACTERS_MAX
            ));
        }
        let Some(Some(Part::Text(text_part))) = self.parts.get_mut(place) else {
            return Err("This part is not text, or an earlier change removed it; choose another part.".to_owned());
        };
        for change in rewrite::rewrite(text_part, text) {
            self.make(change)?;
        }
        Ok(())
    }

    pub fn lead(&mut self, link: usize, address: &str) -> Result<(), String> {
        let found = self.links.iter_mut().find(|other| other.element == link);
        found.ok_or("This link no longer exists; choose another link.")?.address = address.to_owned();
        self.make(Change::Link { element: link, address: address.to_owned() })
    }

    /// Changes the URL of each button among the given parts and returns the number of changed buttons.
    pub fn lead_buttons(&mut self, places: &[usize], address: &str) -> Result<usize, String> {
        let links: Vec<usize> = places.iter().filter_map(|place| self.text_part(*place)?.link()).collect();
        for link in &links {
            self.lead(*link, address)?;
        }
        Ok(links.len())
    }

    /// Replaces the address of an image and, if given, its alt text.
    pub fn show(&mut self, place: usize, address: &str, alt: Option<&str>) -> Result<(), String> {
        let Some(Some(Part::Image(image))) = self.parts.get_mut(place) else {
            return Err(NOT_AN_IMAGE.to_owned());
        };
        let element = image.element;
        image.address = address.to_owned();
        image.alt = alt.map_or_else(|| image.alt.clone(), str::to_owned);
        self.make(Change::Image { element, address: address.to_owned(), alt: alt.map(str::to_owned) })
    }

    pub fn describe(&mut self, place: usize, words: &str) -> Result<(), String> {
        let words = cut(words, limits::EMAIL_SENTENCE_CHARACTERS_MAX);
        let Some(Some(Part::Image(image))) = self.parts.get_mut(place) else {
            return Err(NOT_AN_IMAGE.to_owned());
        };
        let element = image.element;
        image.alt.clone_from(&words);
        self.make(Change::Alt { element, words })
    }

    pub fn remove(&mut self, place: usize) -> Result<(), String> {
        let part = self
            .parts
            .get_mut(place)
            .and_then(Option::take)
            .ok_or("This part of the email no longer exists; choose another part.")?;
        self.make(Change::Remove { nodes: part.nodes() })
    }

    /// Inserts a new part next to the part with the index in `beside`: before that part if the flag is true, and otherwise after it. If
    /// `beside` is `None`, the new part is inserted at the end of the content.
    pub fn insert(&mut self, beside: Option<(usize, bool)>, new: New) -> Result<(), String> {
        let is_like = |part: &Part| match (&new, part) {
            (New::Paragraph(_), Part::Text(text_part)) => text_part.kind == TextPartKind::Paragraph && text_part.size >= SMALL,
            (New::Heading(_), Part::Text(text_part)) => text_part.kind == TextPartKind::Heading,
            (New::Button { .. }, Part::Text(text_part)) => text_part.kind == TextPartKind::Button,
            (New::Image { .. }, Part::Image(image)) => image.width.is_none_or(|width| width >= PICTURE_WIDTH),
            _ => false,
        };
        let (anchor, before) = beside.or_else(|| Some((self.last()?, false))).unwrap_or((0, false));
        let distance = |place: usize| place.abs_diff(anchor);
        let prose = self.paragraphs();
        // The new part copies the style of the nearest part of the same kind. Paragraphs take precedence over captions, and wider images
        // over narrower images.
        let like = self.parts().filter(|(_, part)| is_like(part)).min_by_key(|(place, part)| {
            let is_caption =
                part.text_part().is_some_and(|text_part| text_part.kind == TextPartKind::Paragraph) && !prose.contains(place);
            let width = part.image().and_then(|image| image.width);
            (is_caption, std::cmp::Reverse(width), distance(*place))
        });
        let pattern = like.map(|(_, part)| part.nodes()).unwrap_or_default();
        let beside = self.part(anchor).map(Part::nodes).unwrap_or_default();
        self.make(Change::Insert { beside, before, new, pattern })
    }

    /// Returns the index of the last part before the small print.
    pub fn last(&self) -> Option<usize> {
        let end = self.footer();
        self.parts().map(|(place, _)| place).take_while(|place| *place < end).last()
    }

    /// Returns the index where the content starts: the first heading, paragraph or image.
    pub fn first(&self) -> Option<usize> {
        let pictures = self.images().into_iter().find(|place| {
            self.part(*place).and_then(Part::image).is_some_and(|image| image.width.is_none_or(|width| width >= PICTURE_WIDTH))
        });
        [self.of_kind(TextPartKind::Heading).first().copied(), self.paragraphs().first().copied(), pictures]
            .into_iter()
            .flatten()
            .min()
    }

    /// Moves a part before or after another part.
    pub fn shift(&mut self, place: usize, beside: usize, before: bool) -> Result<(), String> {
        let gone = "This part of the email no longer exists; choose another part.";
        let beside = self.part(beside).ok_or(gone)?.nodes();
        // Later changes cannot address a moved part, because its markup at the new position is a copy.
        let part = self.parts.get_mut(place).and_then(Option::take).ok_or(gone)?;
        self.make(Change::Move { nodes: part.nodes(), beside, before })
    }

    pub fn paint(&mut self, surface: ColorTarget, color: Color) -> Result<(), String> {
        self.make(Change::Paint { surface, color })
    }

    /// Replaces these colors with one color.
    pub fn recolor(&mut self, from: Vec<Color>, to: Color) -> Result<(), String> {
        self.colors.retain(|color| !from.contains(color));
        self.colors.insert(0, to);
        self.make(Change::Recolor { from, to })
    }
}

/// Returns the text as one line, truncated to `most` characters.
fn cut(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(most).collect()
}

/// The maximum number of colors reported for an email.
const COLORS_LISTED: usize = 8;

/// Returns the measured properties of imported HTML.
pub fn facts(imported_html: &ImportedHtml) -> Facts {
    let Outline { colors, .. } = &imported_html.outline;
    Facts {
        images: imported_html.outline.images().count() as u32,
        buttons: imported_html.outline.buttons().count() as u32,
        length: imported_html.text.chars().count() as u32,
        colors: colors.iter().take(COLORS_LISTED).map(ToString::to_string).collect(),
    }
}

/// Returns the preheader, which inboxes show after the subject.
pub fn preheader(imported_html: &ImportedHtml) -> String {
    let hidden = imported_html.outline.preheader.as_ref().map(TextPart::text).unwrap_or_default();
    cut(&hidden, limits::EMAIL_PREHEADER_CHARACTERS_MAX)
}

pub fn warnings(imported_html: &ImportedHtml) -> Vec<Finding> {
    let mut warnings: Vec<String> = imported_html.removed.iter().map(|what| format!("Removed: {what}.")).collect();
    if imported_html.html.len() > limits::EMAIL_HTML_BYTES_MAX {
        let kib = imported_html.html.len() / 1024;
        warnings.push(format!("The HTML is {kib} KB. Gmail clips emails that are larger than 102 KB, so shorten the email."));
    }
    let faint = &imported_html.outline.faint;
    if let Some(first) = faint.first() {
        let first = first.trim();
        warnings.push(match faint.len() {
            1 => format!("The color of \"{first}\" is almost the same as the background, so the text is hard to read."),
            _ => format!(
                "The colors of \"{first}\" and other text are almost the same as the background, so the text is hard to read."
            ),
        });
    }
    warnings.into_iter().map(Finding::note).collect()
}
