//! An email as Word or the other clients read it, and its uses of features.

use std::collections::HashSet;

use super::conditions::Applies;
use super::css::Owner;
use super::features::detect::{self, Site, Use};
use super::features::{Effect, FeatureId, TABLE};
use super::html::{Document, Element};
use super::view::View;

/// The maximum number of uses that are read for each feature.
const USES_OF_FEATURE_MAX: usize = 5_000;
/// The maximum number of matching elements that are counted for each rule.
pub const REACH_MAX: usize = 5_000;

/// A use of a feature that a client does not support.
#[derive(Clone, Copy, Debug)]
pub struct Hit {
    pub used: Use,
    pub applies: Applies,
    pub effect: Effect,
    /// Whether the client removes the code that uses the feature.
    pub cuts: bool,
}

/// The text of an email as Word or the other clients read it, with its uses of features, grouped by feature.
pub struct Side<'a> {
    pub view: View<'a>,
    /// The uses of each feature that the email uses.
    pub groups: Vec<(FeatureId, Vec<Use>)>,
    /// For each element, whether it is hidden, like a preheader. The loss of a feature has no effect on hidden elements.
    pub hidden: Vec<bool>,
    /// The elements that only Word shows; none for the other clients.
    pub word_only: WordOnly,
}

impl<'a> Side<'a> {
    pub fn new(source: &'a str) -> Self {
        Self::of(View::parse(source, false))
    }

    /// Reads the text for Word. `others` is the email as the other clients read it.
    pub fn for_word(text: &'a str, others: &Side<'_>) -> Self {
        let side = Self::of(View::parse_like(text, true, Some(&others.view)));
        let word_only = WordOnly::of(&side.view.document, &others.view.document);
        Self { word_only, ..side }
    }

    fn of(view: View<'a>) -> Self {
        let mut groups: Vec<(FeatureId, Vec<Use>)> = (0..).map(FeatureId).zip(TABLE.entries.iter().map(|_| Vec::new())).collect();
        for one in detect::uses(&view) {
            if let Some((_, group)) = groups.get_mut(usize::from(one.feature.0)) {
                group.push(one);
            }
        }
        groups.retain(|(_, group)| !group.is_empty());
        for (_, group) in &mut groups {
            // Two detectors can find the same use, for example as an element and as its attribute.
            group.sort_by_key(|one| (one.span, site_order(one.site)));
            group.dedup_by_key(|one| one.span);
            group.truncate(USES_OF_FEATURE_MAX);
        }
        let hidden = hidden(&view);
        Self { view, groups, hidden, word_only: WordOnly::default() }
    }
}

/// Returns, for each element, whether it is hidden with `display: none` outside of at-rules. Images, and elements that contain tables, are
/// not treated as hidden, because Word shows them. `video` and `audio` elements are not treated as hidden either.
fn hidden(view: &View<'_>) -> Vec<bool> {
    let mut hidden = vec![false; view.document.elements.len()];
    for declaration in &view.sheets.declarations {
        let hides = declaration.name.of(view.source).eq_ignore_ascii_case("display")
            && view.value_text(declaration).eq_ignore_ascii_case("none");
        if !hides {
            continue;
        }
        let inline = match declaration.owner {
            Owner::Element(element) => Some(element),
            _ => None,
        };
        let in_rule =
            matches!(declaration.owner, Owner::Rule(rule) if view.rule(rule).is_some_and(|rule| rule.at_rule.is_none()));
        let touched = if in_rule { view.touched(declaration) } else { &[] };
        for index in touched.iter().take(REACH_MAX).copied().chain(inline) {
            let Some(element) = view.element(index).filter(|element| !element.has_table && element.name != "img") else {
                continue;
            };
            if let Some(mark) = hidden.get_mut(index as usize) {
                *mark = !matches!(&*element.name, "video" | "audio");
            }
        }
    }
    hidden
}

fn site_order(site: Site) -> u8 {
    match site {
        Site::Element(_) => 0,
        Site::Attribute(..) => 1,
        Site::Rule(_) => 2,
        Site::Selector(..) => 3,
        _ => 4,
    }
}

/// The elements that only Word shows, because they are in conditional comments, and the other elements that contain them.
#[derive(Default)]
pub struct WordOnly {
    pub elements: HashSet<u32>,
    /// The elements that all clients show and that contain a table only for Word.
    pub tables: HashSet<u32>,
    /// The elements that all clients show and that contain a VML shape only for Word.
    pub shapes: HashSet<u32>,
}

impl WordOnly {
    /// Compares the document that Word reads with the document that other clients read.
    fn of(word: &Document<'_>, others: &Document<'_>) -> Self {
        let mut found = Self::default();
        for (index, element) in (0_u32..).zip(&word.elements) {
            let start = element.start_tag.start;
            if others.elements.binary_search_by_key(&start, |other| other.start_tag.start).is_err() {
                found.elements.insert(index);
            }
        }
        for element in found.elements.iter().filter_map(|index| word.elements.get(*index as usize)) {
            let mut around = std::iter::successors(element.parent, |index| word.elements.get(*index as usize)?.parent);
            let Some(container) = around.find(|index| !found.elements.contains(index)) else { continue };
            if is_shape(element) {
                found.shapes.insert(container);
            } else if element.name == "table" {
                found.tables.insert(container);
            }
        }
        found
    }
}

/// Returns whether an element is a VML shape.
pub fn is_shape(element: &Element<'_>) -> bool {
    matches!(&*element.name, "v:rect" | "v:roundrect" | "v:shape" | "v:image" | "v:background" | "v:oval")
}
