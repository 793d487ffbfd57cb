//! Applies style sheets to elements, using only the part of the CSS cascade that is needed for colors, fonts and corners.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use ego_tree::NodeId;
use scraper::{ElementRef, Selector};

use super::css::{self, Declaration, Sheet};

/// The maximum depth of variables that refer to other variables. Deeper references are assumed to be circular.
const VARIABLES_DEPTH_MAX: u8 = 12;
/// The maximum length of a value. Longer values are useless here, including values that grow when variables are expanded.
const VALUE_BYTES_MAX: usize = 4096;

/// The maximum length of a selector. Longer selectors are generated for single elements.
const SELECTOR_BYTES_MAX: usize = 300;

/// The properties to read, in addition to variables.
const PROPERTIES: [&str; 8] = [
    "color",
    "background",
    "background-color",
    "background-image",
    "font",
    "font-family",
    "border-radius",
    "border-top-left-radius",
];
/// The maximum number of comparisons between elements and rules. The home page of a large shop needs two million; a page that needs more
/// than the maximum is hostile.
const MATCHES_MAX: u64 = 20_000_000;

type Own = Rc<HashMap<String, String>>;

/// All CSS rules of a page.
pub struct Styles {
    rules: Vec<Matched>,
    seen: RefCell<HashMap<NodeId, Own>>,
    /// The number of comparisons that are still allowed.
    matches_left: Cell<u64>,
}

struct Matched {
    selector: Selector,
    /// The weight of the rule: the specificity of its selector, and its position among all rules.
    weight: (u32, usize),
    declarations: Rc<Vec<Declaration>>,
}

impl Styles {
    /// Collects the rules in these style sheets, which are in order of increasing priority.
    pub fn new(sheets: &[Sheet]) -> Self {
        let mut rules = Vec::new();
        for rule in sheets.iter().flat_map(|sheet| &sheet.rules) {
            let wanted = |one: &&Declaration| {
                let is_known = one.name.starts_with("--") || PROPERTIES.contains(&one.name.as_str());
                is_known && one.value.len() <= VALUE_BYTES_MAX
            };
            let declarations: Vec<Declaration> = rule.declarations.iter().filter(wanted).cloned().collect();
            if declarations.is_empty() {
                continue;
            }
            let declarations = Rc::new(declarations);
            for text in &rule.selectors {
                let text = if text == ":host" || text.starts_with(":root") { "html" } else { text };
                // The matcher rejects pseudo-elements and states, which are not needed here. `:has()` is too expensive on untrusted pages.
                let is_cheap = text.len() <= SELECTOR_BYTES_MAX && !text.contains(":has(");
                if is_cheap && let Ok(selector) = Selector::parse(text) {
                    let weight = (specificity(text), rules.len());
                    rules.push(Matched { selector, weight, declarations: declarations.clone() });
                }
            }
        }
        Self { rules, seen: RefCell::default(), matches_left: Cell::new(MATCHES_MAX) }
    }

    /// Returns whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the value that is set for the property on the element itself, with variables resolved.
    pub fn own(&self, element: ElementRef<'_>, property: &str) -> Option<String> {
        let value = self.declared(element).get(property)?.clone();
        self.resolved(element, &value, 0)
    }

    /// Returns the value of the property on the element or, if not set there, on the nearest ancestor that sets it.
    pub fn inherited(&self, element: ElementRef<'_>, property: &str) -> Option<String> {
        let mut at = Some(element);
        while let Some(element) = at {
            match self.own(element, property) {
                Some(value) if value != "inherit" => return Some(value),
                _ => at = parent(element),
            }
        }
        None
    }

    /// Returns the variables defined on the root element and on `body`, sorted by name, with other variables in their values resolved.
    pub fn root_variables(&self, root: ElementRef<'_>, body: Option<ElementRef<'_>>) -> Vec<(String, String)> {
        let mut found = Vec::new();
        for element in [Some(root), body].into_iter().flatten() {
            for (name, value) in self.declared(element).iter().filter(|(name, _)| name.starts_with("--")) {
                found.extend(self.resolved(element, value, 0).map(|value| (name.clone(), value)));
            }
        }
        found.sort();
        found
    }

    fn declared(&self, element: ElementRef<'_>) -> Own {
        if let Some(own) = self.seen.borrow().get(&element.id()) {
            return own.clone();
        }
        let mut winning: HashMap<&str, (bool, u32, usize, &str)> = HashMap::new();
        let inline = css::declarations(element.attr("style").filter(|style| style.len() <= VALUE_BYTES_MAX).unwrap_or_default());
        let left = self.matches_left.get();
        // After too many comparisons, only inline styles are used.
        let rules = if left >= self.rules.len() as u64 { self.rules.as_slice() } else { &[] };
        self.matches_left.set(left - rules.len() as u64);
        let from_rules = rules.iter().filter(|rule| rule.selector.matches(&element));
        let all = from_rules
            .flat_map(|rule| rule.declarations.iter().map(move |one| (one, rule.weight)))
            .chain(inline.iter().map(|one| (one, (u32::MAX, usize::MAX))));
        for (one, (specificity, order)) in all {
            // A shorthand property also sets the properties that it contains.
            let (name, value) = match one.name.as_str() {
                "background" => ("background-color", Some(one.value.as_str())),
                "border-top-left-radius" => ("border-radius", Some(one.value.as_str())),
                "font" => ("font-family", family_of(&one.value)),
                name => (name, Some(one.value.as_str())),
            };
            let Some(value) = value else { continue };
            let rank = (one.important, specificity, order, value);
            let place = winning.entry(name).or_insert(rank);
            if (rank.0, rank.1, rank.2) >= (place.0, place.1, place.2) {
                *place = rank;
            }
        }
        let own: Own = Rc::new(winning.into_iter().map(|(name, rank)| (name.to_owned(), rank.3.to_owned())).collect());
        self.seen.borrow_mut().insert(element.id(), own.clone());
        own
    }

    /// Returns the value with its variables resolved; returns `None` if a variable is undefined.
    fn resolved(&self, element: ElementRef<'_>, value: &str, depth: u8) -> Option<String> {
        let Some(start) = value.find("var(") else { return Some(value.to_owned()) };
        if depth > VARIABLES_DEPTH_MAX || value.len() > VALUE_BYTES_MAX {
            return None;
        }
        let inside_start = start + "var(".len();
        let end = inside_start + closing(&value[inside_start..])?;
        let (name, fallback) = match value[inside_start..end].split_once(',') {
            Some((name, fallback)) => (name.trim(), Some(fallback.trim())),
            None => (value[inside_start..end].trim(), None),
        };
        let found = self.variable(element, name).and_then(|(place, found)| self.resolved(place, &found, depth + 1));
        let put_in = found.or_else(|| fallback.and_then(|fallback| self.resolved(element, fallback, depth + 1)))?;
        self.resolved(element, &format!("{}{put_in}{}", &value[..start], &value[end + 1..]), depth + 1)
    }

    /// Returns the value of a variable and the element that sets it. Variables in the value are resolved in the scope of that element.
    fn variable<'a>(&self, element: ElementRef<'a>, name: &str) -> Option<(ElementRef<'a>, String)> {
        let mut at = Some(element);
        while let Some(element) = at {
            if let Some(value) = self.declared(element).get(name) {
                return Some((element, value.clone()));
            }
            at = parent(element);
        }
        None
    }
}

/// Returns the font families in a `font` value such as `italic 16px/1.5 Inter, sans-serif`: the part after the size.
fn family_of(font: &str) -> Option<&str> {
    let is_size = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit() || c == '.') && word.contains(|c: char| c.is_ascii_alphabetic() || c == '%')
    };
    let size = font.split_whitespace().find(|word| is_size(word))?;
    let rest = font[font.find(size)? + size.len()..].trim_start();
    // Skip a line height with spaces around the slash, as in `16px / 1.5 Inter`.
    let rest = rest
        .strip_prefix('/')
        .map_or(rest, |rest| rest.trim_start().split_once(char::is_whitespace).map_or("", |(_, rest)| rest));
    Some(rest.trim()).filter(|rest| !rest.is_empty())
}

/// Returns the element's parent.
pub fn parent(element: ElementRef<'_>) -> Option<ElementRef<'_>> {
    element.parent().and_then(ElementRef::wrap)
}

/// Returns the position of the bracket that closes a bracket opened before the start of the string.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the approximate specificity of a selector: 10,000 per id, 100 per class, attribute or pseudo-class, and 1 per element name.
fn specificity(selector: &str) -> u32 {
    let mut total = 0;
    let mut before = ' ';
    for character in selector.chars() {
        total += match character {
            '#' => 10_000,
            '.' | '[' => 100,
            ':' if before != ':' => 100,
            letter if letter.is_ascii_alphabetic() && (before.is_whitespace() || matches!(before, '>' | '+' | '~')) => 1,
            _ => 0,
        };
        before = character;
    }
    total
}

#[cfg(test)]
mod tests {
    use scraper::Html;

    use super::*;

    fn own(styles: &str, html: &str, css: &str, property: &str) -> Option<String> {
        let html = Html::parse_document(html);
        let styles = Styles::new(&[css::parse(styles)]);
        let selector = Selector::parse(css).expect("the selector is valid");
        let element = html.select(&selector).next().expect("the page contains the element");
        styles.own(element, property)
    }

    #[test]
    fn specificity_and_order_decide_and_important_beats_both() {
        let page = r#"<body><a id="i" class="b" style="border-radius: 3px">x</a>"#;
        for (styles, expected) in [
            ("a { color: red } .b { color: blue } a { color: green }", "blue"),
            (".b { color: red } .b { color: blue }", "blue"),
            ("#i { color: red } a { color: green !important }", "green"),
            (".b:hover { color: red } .b { color: blue }", "blue"),
        ] {
            assert_eq!(own(styles, page, "a", "color").as_deref(), Some(expected), "{styles}");
        }
        assert_eq!(own("a { border-radius: 9px }", page, "a", "border-radius").as_deref(), Some("3px"));
    }

    #[test]
    fn a_font_shorthand_sets_the_families() {
        for (font, expected) in [
            ("1rem/1.6 'Work Sans', Arial", Some("'Work Sans', Arial")),
            ("italic bold .8em / 1.2 Lora, serif", Some("Lora, serif")),
            ("inherit", None),
            ("var(--body)", None),
        ] {
            assert_eq!(family_of(font), expected, "{font}");
        }
    }

    #[test]
    fn variables_resolve_in_the_nearest_scope_and_cycles_end() {
        let styles = ":root { --a: var(--b); --b: #123; --c: var(--d); --d: var(--c); --hsl: 210 50% 40% }
                      .t { --b: #456 } .x { color: var(--a); } .y { color: var(--none, rgb(1, 2, var(--three, 3))) }
                      .z { color: var(--c) } .l { color: var(--b) } .h { color: hsl(var(--hsl)) }";
        let page = r#"<body><p class=x></p><p class=y></p><p class=z></p><p class=h></p><div class=t><b class="x k"></b><b class=l></b></div>"#;
        let value = |css: &str| own(styles, page, css, "color");
        assert_eq!(value(".x").as_deref(), Some("#123"));
        assert_eq!(value(".k").as_deref(), Some("#123"), "variables resolve where they are set");
        assert_eq!(value(".l").as_deref(), Some("#456"));
        assert_eq!(value(".y").as_deref(), Some("rgb(1, 2, 3)"));
        assert_eq!(value(".z"), None);
        assert_eq!(value(".h").as_deref(), Some("hsl(210 50% 40%)"));
    }
}
