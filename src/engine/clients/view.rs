//! An email as Word or the other clients read it: its elements, its style sheets, and the elements that each rule matches.

use std::collections::{HashMap, HashSet};

use super::conditional;
use super::css::{Declaration, Owner, Place, Rule, Sheets};
use super::html::{self, Document, Element};
use super::matching::{self, Reach};
use crate::base::source::Span;

pub struct View<'a> {
    pub source: &'a str,
    pub document: Document<'a>,
    pub sheets: Sheets,
    /// The elements that each rule of [`Sheets::rules`] matches.
    pub reach: Vec<Reach>,
    /// The `style` elements, in source order.
    pub style_elements: Vec<u32>,
    /// The bytes in all `style` elements.
    pub style_bytes: usize,
    /// The names in `<a name>` elements.
    pub anchor_names: HashSet<&'a str>,
    pub has_local_anchor: bool,
    /// Maps the text of a `style` attribute to the place in `sheets` of the first attribute with this text.
    attributes: HashMap<&'a str, Place>,
}

impl<'a> View<'a> {
    /// Parses the HTML that Word reads (if `word` is true) or that other clients read.
    pub fn parse(source: &'a str, word: bool) -> Self {
        Self::parse_like(source, word, None)
    }

    /// Like [`View::parse`], but copies the `style` attributes that `other` also has instead of reading them again.
    pub fn parse_like(source: &'a str, word: bool, other: Option<&View<'_>>) -> Self {
        let document = html::parse(source, word);
        let mut sheets = Sheets::default();
        let mut style_elements = Vec::new();
        let mut style_bytes = 0;
        let mut anchor_names = HashSet::new();
        let mut has_local_anchor = false;
        let mut attributes: HashMap<&str, Place> = HashMap::new();
        for (index, element) in (0_u32..).zip(&document.elements) {
            if element.name == "style" {
                sheets.add_sheet(source, element.content(), index);
                style_elements.push(index);
                style_bytes += element.content().of(source).len();
            } else if element.name == "a" {
                anchor_names.extend(document.attribute(source, element, "name"));
                has_local_anchor |= document.attribute(source, element, "href").is_some_and(|href| href.starts_with('#'));
            }
            if let Some(style) = document.attributes_of(element).iter().find(|attribute| attribute.name == "style") {
                let (text, start) = (style.value.of(source), style.value.start);
                let place = if let Some(place) = attributes.get(text) {
                    sheets.copy_attribute(None, *place, start, index)
                } else if let Some((other, place)) = other.and_then(|other| Some((other, other.attributes.get(text)?))) {
                    sheets.copy_attribute(Some(&other.sheets), *place, start, index)
                } else {
                    sheets.add_attribute(source, style.value, index)
                };
                attributes.entry(text).or_insert(place);
            }
        }
        let reach = matching::reach(source, &document, &sheets);
        Self { source, document, sheets, reach, style_elements, style_bytes, anchor_names, has_local_anchor, attributes }
    }

    pub fn element(&self, index: u32) -> Option<&Element<'a>> {
        self.document.elements.get(index as usize)
    }

    pub fn rule(&self, index: u32) -> Option<&Rule> {
        self.sheets.rules.get(index as usize)
    }

    /// Returns the elements that the rule of a declaration matches; none for a declaration outside of rules.
    pub fn touched<'s>(&'s self, declaration: &Declaration) -> &'s [u32] {
        match declaration.owner {
            Owner::Rule(rule) => self.reach.get(rule as usize).map_or(&[], |reach| &reach.elements),
            _ => &[],
        }
    }

    /// Returns the declarations of the same owner: up to 64 before this one, and up to 64 starting with this one.
    pub fn siblings(&self, declaration: &Declaration) -> impl Iterator<Item = &Declaration> {
        let owner = declaration.owner;
        let at = self.sheets.declarations.partition_point(|one| one.span.start < declaration.span.start);
        let all = &self.sheets.declarations;
        let before = all.get(..at).unwrap_or_default().iter().rev().take(64).take_while(move |one| one.owner == owner);
        let after = all.get(at..).unwrap_or_default().iter().take(64).take_while(move |one| one.owner == owner);
        before.chain(after)
    }

    pub fn value_text(&self, declaration: &Declaration) -> &'a str {
        let pieces = self.sheets.value(declaration);
        let start = pieces.first().map_or(0, |piece| piece.span.start);
        Span { start, end: pieces.last().map_or(start, |piece| piece.span.end) }.of(self.source)
    }
}

/// The two versions of an email's HTML: one for Word, and one for all other clients.
pub struct Texts<'a> {
    pub source: &'a str,
    word: Option<String>,
}

impl<'a> Texts<'a> {
    pub fn new(source: &'a str) -> Self {
        Self { source, word: conditional::word_view(source) }
    }

    /// Returns the HTML that Word reads, if it differs from the source.
    pub fn word(&self) -> Option<&str> {
        self.word.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copied_attributes_are_like_those_that_were_read() {
        let html = include_str!("../../../tests/samples/validation/compatibility/receipt.html");
        let texts = Texts::new(html);
        let word = texts.word().expect("the email has a conditional comment");
        let (others, read) = (View::parse(html, false), View::parse(word, true));
        let copied = View::parse_like(word, true, Some(&others));
        assert_eq!(format!("{:?}", copied.sheets), format!("{:?}", read.sheets));
        assert!(read.sheets.declarations.iter().any(|one| one.repeats.is_some()), "some attributes have the same text");
    }
}
