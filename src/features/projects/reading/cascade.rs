//! Applies style sheets to elements. Implements only the parts of the CSS cascade that colors, fonts and corners require.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use scraper::node::Element;
use scraper::{ElementRef, Selector};

use super::css::{self, Declaration, FontFace, Sheet};

/// The maximum depth of variables that refer to other variables. Deeper references are assumed to be circular.
const VARIABLES_DEPTH_MAX: u8 = 12;
/// The maximum length, in bytes, of a property's value. Longer values do not describe a color, font or corner. This limit also stops values
/// that grow when variables are expanded.
const VALUE_BYTES_MAX: usize = 4096;

/// The maximum length, in bytes, of a selector. Longer selectors are generated for single elements.
const SELECTOR_BYTES_MAX: usize = 300;

/// The properties to read, in addition to variables.
const PROPERTIES: [&str; 32] = [
    "color",
    "background",
    "background-color",
    "background-image",
    "font",
    "font-family",
    "font-size",
    "border-radius",
    "border-top-left-radius",
    "border",
    "border-color",
    "border-top",
    "border-top-color",
    "border-right",
    "border-bottom",
    "border-bottom-color",
    "border-left",
    "border-left-color",
    "display",
    "visibility",
    "fill",
    "height",
    "padding",
    "padding-block",
    "padding-bottom",
    "padding-inline",
    "padding-left",
    "padding-right",
    "padding-top",
    "stroke",
    "text-decoration",
    "text-decoration-line",
];
/// The maximum number of comparisons between elements and rules. The home page of a large shop requires two million comparisons. A page
/// that exceeds the maximum is probably hostile.
const MATCHES_MAX: u64 = 20_000_000;

type Own = Rc<HashMap<String, String>>;

/// The CSS rules of a home page that affect colors, fonts and corners. They are also applied to other pages of the site.
pub struct Styles {
    /// The font files that the style sheets define.
    pub faces: Vec<FontFace>,
    /// The URLs that the style sheets import, as written.
    pub imports: Vec<String>,
    rules: Vec<WeightedRule>,
    /// A cache of each element's declarations. The key is the element's memory address, because node IDs are unique only within a page and
    /// a site has several pages. All pages must outlive the styles.
    seen: RefCell<HashMap<*const Element, Own>>,
    /// The number of remaining comparisons.
    matches_left: Cell<u64>,
    usages: HashMap<String, Usage>,
}

/// How a style sheet uses a variable that contains only numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Usage {
    /// The style sheet passes the variable to this color function.
    Within(&'static str),
    /// The style sheet assigns the variable to this other variable.
    As(String),
}

struct WeightedRule {
    selector: Selector,
    /// The weight of the rule: the specificity of its selector and its position among all rules.
    weight: (u32, usize),
    declarations: Rc<Vec<Declaration>>,
}

impl Styles {
    /// Collects the rules in these style sheets, which must be in order of increasing priority.
    pub fn new(sheets: &[Sheet]) -> Self {
        let mut rules = Vec::new();
        let usages = usages(sheets);
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
                    rules.push(WeightedRule { selector, weight, declarations: declarations.clone() });
                }
            }
        }
        let faces = sheets.iter().flat_map(|sheet| sheet.faces.iter().cloned()).collect();
        let imports = sheets.iter().flat_map(|sheet| sheet.imports.iter().cloned()).collect();
        Self { faces, imports, rules, seen: RefCell::default(), matches_left: Cell::new(MATCHES_MAX), usages }
    }

    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Returns the value of a variable as the style sheets use it: `180,85,45` becomes `rgb(180,85,45)` if they contain `rgb(var(--name))`.
    pub fn as_used(&self, name: &str, value: &str) -> String {
        let is_bare = value.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
        if !is_bare {
            return value.to_owned();
        }
        let mut name = name;
        for _ in 0..VARIABLES_DEPTH_MAX {
            match self.usages.get(name) {
                Some(Usage::Within(function)) => return format!("{function}({value})"),
                Some(Usage::As(other)) => name = other,
                None => break,
            }
        }
        // If the value contains percentages, it is an HSL color, as stored by libraries such as shadcn. Otherwise, the numbers are RGB
        // channels.
        format!("{}({value})", if value.contains('%') { "hsl" } else { "rgb" })
    }

    /// Returns a value with its variables resolved for this element.
    pub fn expanded(&self, element: ElementRef<'_>, value: &str) -> Option<String> {
        self.resolved(element, value, 0)
    }

    /// Returns whether the styles hide the element or one of its ancestors.
    pub fn hides(&self, element: ElementRef<'_>) -> bool {
        let mut at = Some(element);
        while let Some(element) = at {
            let has = |property: &str, value: &str| self.own(element, property).is_some_and(|own| own.trim() == value);
            if has("display", "none") || has("visibility", "hidden") || element.attr("hidden").is_some() {
                return true;
            }
            at = parent(element);
        }
        false
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
        let key = std::ptr::from_ref(element.value());
        if let Some(own) = self.seen.borrow().get(&key) {
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
            // Map shorthand properties and the radius of one corner to the properties that this module reads.
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
        self.seen.borrow_mut().insert(key, own.clone());
        own
    }

    /// Returns the value with its variables resolved; `None` if a variable is undefined and has no fallback, or if variables are nested too
    /// deeply.
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

/// Returns how style sheets use their variables. Use in a color function takes precedence over use in another variable.
fn usages(sheets: &[Sheet]) -> HashMap<String, Usage> {
    const FUNCTIONS: [(&str, &str); 6] =
        [("rgba(", "rgb"), ("rgb(", "rgb"), ("hsla(", "hsl"), ("hsl(", "hsl"), ("oklch(", "oklch"), ("oklab(", "oklab")];
    let mut found = HashMap::new();
    let declarations = sheets.iter().flat_map(|sheet| &sheet.rules).flat_map(|rule| &rule.declarations);
    for one in declarations.filter(|one| one.value.len() <= VALUE_BYTES_MAX) {
        for (at, _) in one.value.match_indices("var(") {
            let name = one.value[at + "var(".len()..].trim_start();
            let name = &name[..name.find([',', ')', ' ']).unwrap_or(name.len())];
            let before = one.value[..at].trim_end();
            let function = FUNCTIONS.iter().find(|(start, _)| before.ends_with(start));
            if let Some((_, function)) = function {
                found.insert(name.to_owned(), Usage::Within(function));
            } else if one.name.starts_with("--") && before.is_empty() {
                found.entry(name.to_owned()).or_insert_with(|| Usage::As(one.name.clone()));
            }
        }
    }
    found
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

pub fn parent(element: ElementRef<'_>) -> Option<ElementRef<'_>> {
    element.parent().and_then(ElementRef::wrap)
}

/// Returns the position of the closing parenthesis whose opening parenthesis comes before the start of the string.
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
        let styles = Styles::new(&[css::parse(styles, None)]);
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
    fn elements_of_different_pages_have_their_own_declarations() {
        let pages = ["a", "b", "c"].map(|class| Html::parse_document(&format!("<body><p class={class}>x</p>")));
        let styles = Styles::new(&[css::parse(".a { color: red } .b { color: blue }", None)]);
        let selector = Selector::parse("p").expect("the selector is valid");
        let colors = pages.each_ref().map(|page| page.select(&selector).next().and_then(|element| styles.own(element, "color")));
        assert_eq!(colors, [Some("red".to_owned()), Some("blue".to_owned()), None]);
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
    fn bare_numbers_are_read_as_the_style_sheets_use_them() {
        let sheet = ":root { --a: 180,85,45; --b: var(--a); --c: 20 14% 4%; --d: 30 80 90 } .x { color: rgba(var(--b), 0.9) }
                     .y { color: hsl( var(--d) / 0.5 ) } .z { color: var(--e) }";
        let styles = Styles::new(&[css::parse(sheet, None)]);
        assert_eq!(styles.as_used("--a", "180,85,45"), "rgb(180,85,45)", "also if another variable is used");
        assert_eq!(styles.as_used("--d", "30 80 90"), "hsl(30 80 90)");
        assert_eq!(styles.as_used("--c", "20 14% 4%"), "hsl(20 14% 4%)", "unused variables are read by their form");
        assert_eq!(styles.as_used("--e", "#123456"), "#123456");
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
