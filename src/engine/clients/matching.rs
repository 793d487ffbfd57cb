//! Finds the elements that the rules of an email match.
//!
//! A pseudo-class is assumed to match every element that the rest of the selector matches. For states such as `:hover`, the reason is that
//! their styles can apply to the element at some time. For structural pseudo-classes such as `:first-child`, the reason is that the removal
//! of an element must not lower a score.

use std::collections::HashMap;

use super::css::{Part, Selector, SelectorPart, Sheets};
use super::html::{Document, Element};

/// The maximum number of steps that matching may take for an email. A newsletter of 100 KB takes about 20,000.
const STEPS_MAX: usize = 3_000_000;

/// The elements that a rule matches.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    pub elements: Vec<u32>,
    /// Whether the search ended early at the limit of steps.
    pub is_cut: bool,
}

struct Matcher<'a> {
    source: &'a str,
    document: &'a Document<'a>,
    names: HashMap<&'a str, Vec<u32>>,
    classes: HashMap<&'a str, Vec<u32>>,
    ids: HashMap<&'a str, Vec<u32>>,
    all: Vec<u32>,
    steps: usize,
}

/// Returns the elements of the body that each rule matches.
pub fn reach(source: &str, document: &Document<'_>, sheets: &Sheets) -> Vec<Reach> {
    if sheets.rules.is_empty() {
        return Vec::new();
    }
    let mut matcher = Matcher::new(source, document);
    let rules = sheets.rules.iter().map(|rule| {
        let mut elements = Vec::new();
        for selector in sheets.selectors_of(rule) {
            matcher.add(sheets, selector, &mut elements);
        }
        elements.sort_unstable();
        elements.dedup();
        Reach { elements, is_cut: matcher.steps >= STEPS_MAX }
    });
    rules.collect()
}

impl<'a> Matcher<'a> {
    fn new(source: &'a str, document: &'a Document<'a>) -> Self {
        let mut matcher = Self {
            source,
            document,
            names: HashMap::new(),
            classes: HashMap::new(),
            ids: HashMap::new(),
            all: Vec::new(),
            steps: 0,
        };
        for (index, element) in (0_u32..).zip(&document.elements) {
            if element.in_head || matches!(&*element.name, "html" | "head") {
                continue;
            }
            matcher.all.push(index);
            matcher.names.entry(&element.name).or_default().push(index);
            for attribute in document.attributes_of(element) {
                let value = attribute.value.of(source);
                match &*attribute.name {
                    "class" => {
                        value.split_ascii_whitespace().for_each(|class| matcher.classes.entry(class).or_default().push(index))
                    }
                    "id" => matcher.ids.entry(value.trim()).or_default().push(index),
                    _ => {}
                }
            }
        }
        matcher
    }

    fn add(&mut self, sheets: &Sheets, selector: &Selector, found: &mut Vec<u32>) {
        if self.steps >= STEPS_MAX {
            return;
        }
        let parts = sheets.parts_of(selector);
        let start = parts.iter().rposition(|part| is_combinator(part.part)).map_or(0, |at| at + 1);
        let last = parts.get(start..).unwrap_or_default();
        let name = |part: &SelectorPart| part.name.of(self.source);
        let key = |wanted: Part| last.iter().find(|part| part.part == wanted).map(name);
        let lowercase;
        let candidates: Option<Vec<u32>> = if let Some(id) = key(Part::Id) {
            self.ids.get(id).cloned()
        } else if let Some(class) = key(Part::Class) {
            self.classes.get(class).cloned()
        } else if let Some(tag) = key(Part::Type) {
            lowercase = tag.to_ascii_lowercase();
            self.names.get(&*lowercase).cloned()
        } else if last.is_empty() {
            None
        } else {
            Some(self.all.clone())
        };
        for index in candidates.unwrap_or_default() {
            if self.steps >= STEPS_MAX {
                return;
            }
            self.steps += 1;
            if self.matches(parts, index) {
                found.push(index);
            }
        }
    }

    fn matches(&mut self, parts: &[SelectorPart], index: u32) -> bool {
        self.steps += 1;
        let Some(element) = self.document.elements.get(index as usize) else { return false };
        if self.steps >= STEPS_MAX {
            return false;
        }
        let combinator = parts.iter().rposition(|part| is_combinator(part.part));
        let compound = combinator.map_or(parts, |at| parts.get(at + 1..).unwrap_or_default());
        self.steps += compound.len();
        if !compound.iter().all(|part| self.part_matches(part, element)) {
            return false;
        }
        let Some(at) = combinator else { return true };
        let left = parts.get(..at).unwrap_or_default();
        if left.is_empty() {
            // In a nested rule such as `> a`, nothing precedes the combinator, so nothing else needs to match.
            return true;
        }
        let (next, once): (fn(&Element<'_>) -> Option<u32>, bool) = match parts.get(at).map(|part| part.part) {
            Some(Part::Child) => (|element| element.parent, true),
            Some(Part::AdjacentSibling) => (|element| element.previous, true),
            Some(Part::GeneralSibling) => (|element| element.previous, false),
            _ => (|element| element.parent, false),
        };
        let mut current = next(element);
        while let Some(index) = current {
            if self.matches(left, index) {
                return true;
            }
            if once || self.steps >= STEPS_MAX {
                return false;
            }
            current = self.document.elements.get(index as usize).and_then(next);
        }
        false
    }

    fn part_matches(&self, part: &SelectorPart, element: &Element<'_>) -> bool {
        let name = part.name.of(self.source);
        let attribute = |name: &str| self.document.attribute(self.source, element, name);
        match part.part {
            Part::Type => element.name.eq_ignore_ascii_case(name),
            Part::Class => attribute("class").is_some_and(|value| value.split_ascii_whitespace().any(|class| class == name)),
            Part::Id => attribute("id") == Some(name),
            Part::Attribute(operator) => {
                let wanted = part.value.of(self.source);
                let lowercase = name.to_ascii_lowercase();
                attribute(&lowercase).is_some_and(|value| attribute_matches(value, operator, wanted))
            }
            _ => true,
        }
    }
}

fn attribute_matches(value: &str, operator: char, wanted: &str) -> bool {
    match operator {
        '=' => value == wanted,
        '~' => value.split_ascii_whitespace().any(|word| word == wanted),
        '|' => value.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')),
        '^' => !wanted.is_empty() && value.starts_with(wanted),
        '$' => !wanted.is_empty() && value.ends_with(wanted),
        '*' => !wanted.is_empty() && value.contains(wanted),
        _ => true,
    }
}

pub fn is_combinator(part: Part) -> bool {
    matches!(part, Part::Descendant | Part::Child | Part::AdjacentSibling | Part::GeneralSibling)
}
