//! Computes the parts of an element's style that edits need: backgrounds, text colors, font sizes and visibility.
//!
//! Inline styles, rules that select an element by its tag, class or ID, and presentational attributes such as `bgcolor` are read. Rules for
//! small screens and dark mode, and the specificity of selectors, are ignored: emails usually have the relevant styles inline.

use std::collections::HashMap;

use super::dom::Dom;
use crate::base::color::{self, AlphaColor};
use crate::base::text::Color;
use crate::engine::render::css::{self, CssRule};

/// The default font size in pixels.
const SIZE: f32 = 16.0;

/// The inline styles of the elements, and the simple rules of the style sheets.
#[derive(Debug, Default)]
pub struct ComputedStyles {
    own: Vec<Vec<(String, String)>>,
    rules: Vec<Rule>,
    by_name: HashMap<String, Vec<usize>>,
    /// Whether the ancestors in a selector must match too. Approximate styles are enough for edits, but checks need exact styles.
    is_exact: bool,
}

/// A rule with a simple selector: `tag.class#id { … }`.
#[derive(Debug)]
struct Rule {
    tag: Option<String>,
    classes: Vec<String>,
    id: Option<String>,
    /// The selectors of ancestors, outermost first.
    above: Vec<Self>,
    declarations: Vec<(String, String)>,
}

impl Rule {
    fn fits(&self, name: &str, id: Option<&str>, classes: &[&str]) -> bool {
        self.tag.as_ref().is_none_or(|tag| tag == name)
            && self.id.as_deref().is_none_or(|wanted| id == Some(wanted))
            && self.classes.iter().all(|class| classes.contains(&class.as_str()))
    }

    /// Returns whether the node has ancestors that match these selectors in order. Other ancestors may be in between.
    fn fits_above(&self, dom: &Dom, node: usize) -> bool {
        let mut wanted = self.above.iter().rev().peekable();
        let mut at = node;
        while let Some(rule) = wanted.peek() {
            at = dom.parent(at);
            if dom.name(at).is_empty() {
                return false;
            }
            if rule.fits(dom.name(at), dom.attribute(at, "id"), &classes(dom, at)) {
                wanted.next();
            }
        }
        true
    }
}

fn classes(dom: &Dom, node: usize) -> Vec<&str> {
    dom.attribute(node, "class").map(|all| all.split_whitespace().collect()).unwrap_or_default()
}

/// Parses the selectors of ancestors. Returns `None` if there is a sibling combinator, or if a selector is not supported.
fn ancestors(selectors: &str) -> Option<Vec<Rule>> {
    if selectors.contains(['+', '~']) {
        return None;
    }
    // A child combinator (`>`) is treated like a descendant combinator.
    selectors.split(|c: char| c.is_whitespace() || c == '>').filter(|part| !part.is_empty()).map(simple).collect()
}

impl ComputedStyles {
    /// Computes the styles of an email in its current state.
    pub fn of(dom: &Dom) -> Self {
        Self::computed(dom, false)
    }

    /// Computes the styles like [`ComputedStyles::of`], but only with rules whose whole selector matches.
    pub fn exact(dom: &Dom) -> Self {
        Self::computed(dom, true)
    }

    fn computed(dom: &Dom, is_exact: bool) -> Self {
        let own = |node| {
            let own = css::declarations(dom.attribute(node, "style").unwrap_or_default());
            own.into_iter().map(|one| (one.name, one.value.to_owned())).collect()
        };
        let mut looks = Self { own: (0..dom.numbers().end).map(own).collect(), is_exact, ..Self::default() };
        for sheet in dom.numbers().filter(|node| dom.name(*node) == "style") {
            for text in dom.children(sheet) {
                for piece in css::pieces(dom.text(*text)) {
                    if let CssRule::Rule { selectors, body } = piece {
                        looks.add(selectors, body, |_| true);
                    }
                }
            }
        }
        looks
    }

    /// Adds a rule for each selector in a list, with only the declarations that `wanted` accepts. `wanted` receives whether the declaration
    /// is `!important`.
    fn add(&mut self, selectors: &str, body: &str, wanted: fn(bool) -> bool) {
        for selector in selectors.split(',').map(str::trim) {
            let last = selector.rsplit([' ', '>', '+', '~', '\n', '\t']).next().unwrap_or_default();
            let is_whole = last.len() == selector.len();
            let Some(mut rule) =
                simple(last).filter(|rule| self.is_exact || is_whole || !rule.classes.is_empty() || rule.id.is_some())
            else {
                continue;
            };
            let above = &selector[..selector.len() - last.len()];
            if self.is_exact && !is_whole {
                let Some(compounds) = ancestors(above) else { continue };
                rule.above = compounds;
            }
            let own = css::declarations(body).into_iter().filter(|one| wanted(one.important));
            rule.declarations = own.map(|one| (one.name, one.value.to_owned())).collect();
            let key = rule.id.as_ref().map(|id| format!("#{id}"));
            let key = key.or_else(|| rule.classes.first().map(|class| format!(".{class}"))).or_else(|| rule.tag.clone());
            self.by_name.entry(key.unwrap_or_default()).or_default().push(self.rules.len());
            self.rules.push(rule);
        }
    }

    /// Returns the value of a property on the element itself, without inheritance.
    pub fn value(&self, dom: &Dom, node: usize, property: &str) -> Option<String> {
        let last = |all: &[(String, String)]| all.iter().rev().find(|(name, _)| name == property).map(|(_, value)| value.clone());
        self.declared(dom, node, last)
    }

    /// Returns the element's own background color, as it appears where background images and gradients are not shown.
    pub fn ground_without_pictures(&self, dom: &Dom, node: usize) -> Option<AlphaColor> {
        let color = |(name, value): &(String, String)| match name.as_str() {
            "background" | "background-color" => color::first_in(&without_pictures(value)),
            _ => None,
        };
        // An earlier declaration applies in clients that ignore a later one with a gradient.
        self.declared(dom, node, |all: &[(String, String)]| all.iter().rev().find_map(color))
    }

    /// Returns what `pick` finds in the element's own declarations, or else in the last rule that matches the element and in which `pick`
    /// finds something.
    fn declared<T>(&self, dom: &Dom, node: usize, pick: impl Fn(&[(String, String)]) -> Option<T>) -> Option<T> {
        if let Some(found) = self.own.get(node).and_then(|own| pick(own)) {
            return Some(found);
        }
        let classes = classes(dom, node);
        let id = dom.attribute(node, "id");
        let name = dom.name(node);
        let keys = classes.iter().map(|class| format!(".{class}")).chain(id.map(|id| format!("#{id}")));
        let keys = keys.chain([name.to_owned()]);
        let rules = keys.filter_map(|key| self.by_name.get(&key)).flatten().map(|rule| (*rule, &self.rules[*rule]));
        let found = rules
            .filter(|(_, rule)| rule.fits(name, id, &classes) && rule.fits_above(dom, node))
            .filter_map(|(place, rule)| Some((place, pick(&rule.declarations)?)));
        found.max_by_key(|(place, _)| *place).map(|(_, found)| found)
    }

    fn painted(&self, dom: &Dom, node: usize, properties: &[&str], attribute: &str) -> Option<Color> {
        let value = properties.iter().find_map(|property| self.value(dom, node, property));
        let value = value.as_deref().and_then(color::first_in).filter(|painted| painted.alpha >= 0.5);
        let old = || dom.attribute(node, attribute).and_then(old_color);
        value.or_else(old).map(|painted| painted.color)
    }

    /// Returns the background color of the element itself, without inheritance.
    pub fn ground(&self, dom: &Dom, node: usize) -> Option<Color> {
        self.painted(dom, node, &["background-color", "background"], "bgcolor")
    }

    /// Returns the text color of the element itself, without inheritance.
    pub fn ink(&self, dom: &Dom, node: usize) -> Option<Color> {
        let attribute = if dom.name(node) == "body" { "text" } else { "color" };
        self.painted(dom, node, &["color"], attribute)
    }

    /// Returns whether an element's styles hide it, either from all readers or, with `mso-hide`, only from readers who use Outlook on
    /// Windows.
    pub fn is_hidden(&self, dom: &Dom, node: usize) -> bool {
        let is = |property: &str, values: &[&str]| {
            self.value(dom, node, property).is_some_and(|value| values.contains(&value.trim().to_ascii_lowercase().as_str()))
        };
        let nothing = ["0", "0px", "0em", "0%"];
        is("display", &["none"])
            || is("visibility", &["hidden"])
            || is("mso-hide", &["all"])
            || is("opacity", &nothing)
            || (is("overflow", &["hidden"]) && (is("max-height", &nothing) || is("height", &nothing)))
    }

    /// Returns the font size of an element in pixels; `around` is the font size of its parent.
    pub fn size(&self, dom: &Dom, node: usize, around: f32) -> f32 {
        let own = self.value(dom, node, "font-size").and_then(|value| pixels(&value, around));
        let own = own.or_else(|| self.value(dom, node, "font").and_then(|value| first_size(&value, around)));
        own.unwrap_or(match dom.name(node) {
            "h1" => 2.0 * SIZE,
            "h2" => 1.5 * SIZE,
            "h3" => 1.17 * SIZE,
            "body" => SIZE,
            _ => around,
        })
    }

    /// Returns the background and text color of every node, indexed by the node's number. Inherited colors are included; a color that is
    /// not set is `None`.
    pub fn all(&self, dom: &Dom) -> Vec<TextColors> {
        let mut shades = vec![TextColors::default(); dom.numbers().end];
        let roots: Vec<usize> = dom.first("html").into_iter().collect();
        for node in roots.into_iter().flat_map(|root| dom.within(root)) {
            let around = shades[dom.parent(node)];
            let own = |found: Option<Color>, around| found.or(around);
            shades[node] = match dom.is_text(node) {
                true => around,
                false => {
                    TextColors { ground: own(self.ground(dom, node), around.ground), ink: own(self.ink(dom, node), around.ink) }
                }
            };
        }
        shades
    }
}

/// The style rules of an email that apply only in dark mode.
#[derive(Debug, Default)]
pub struct DarkRules {
    /// The declarations with `!important`, which take precedence over inline styles.
    important: ComputedStyles,
    other: ComputedStyles,
}

impl DarkRules {
    pub fn of(dom: &Dom) -> Self {
        let exact = || ComputedStyles { is_exact: true, ..ComputedStyles::default() };
        let mut rules = Self { important: exact(), other: exact() };
        for sheet in dom.numbers().filter(|node| dom.name(*node) == "style") {
            for text in dom.children(sheet) {
                for piece in css::pieces(dom.text(*text)) {
                    if let CssRule::At { prelude, body: Some(body), .. } = piece
                        && is_for_dark_mode(prelude)
                    {
                        rules.add(body);
                    }
                }
            }
        }
        rules
    }

    fn add(&mut self, body: &str) {
        for piece in css::pieces(body) {
            if let CssRule::Rule { selectors, body } = piece {
                self.important.add(selectors, body, |important| important);
                self.other.add(selectors, body, |important| !important);
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.important.rules.is_empty() && self.other.rules.is_empty()
    }

    /// Returns the value of a property in dark mode; `light` is its value in light mode.
    pub fn value(&self, dom: &Dom, node: usize, property: &str, light: Option<String>) -> Option<String> {
        let important = self.important.value(dom, node, property);
        let is_inline = || dom.own_style(node, property).is_some();
        important.or_else(|| self.other.value(dom, node, property).filter(|_| !is_inline())).or(light)
    }
}

/// Returns whether a media query selects readers who prefer dark colors.
fn is_for_dark_mode(prelude: &str) -> bool {
    let plain: String = prelude.chars().filter(|c| !c.is_whitespace()).collect();
    plain.to_ascii_lowercase().contains("prefers-color-scheme:dark")
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextColors {
    pub ground: Option<Color>,
    pub ink: Option<Color>,
}

/// Returns the value of a background without its images and gradients.
fn without_pictures(value: &str) -> String {
    let mut kept = String::new();
    let mut rest = value;
    while let Some(open) = rest.find('(') {
        let (before, inside) = rest.split_at(open);
        let start = before.rfind([' ', ',', '\t', '\n']).map_or(0, |at| at + 1);
        let name = before[start..].to_ascii_lowercase();
        let (inside, after) = inside.split_at(closing(inside));
        if ["url", "gradient", "image-set"].iter().any(|picture| name.ends_with(picture)) {
            kept.push_str(&before[..start]);
        } else {
            kept.push_str(before);
            kept.push_str(inside);
        }
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// Returns the offset after the parenthesis that closes the first parenthesis in `text`.
fn closing(text: &str) -> usize {
    let mut depth = 0_u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth <= 1 => return at + 1,
            ')' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Parses the color in an attribute such as `bgcolor`, where the `#` may be missing.
pub fn old_color(value: &str) -> Option<AlphaColor> {
    color::parse(value).or_else(|| color::parse(&format!("#{value}")))
}

/// Parses a selector; returns `None` for selectors with combinators, pseudo-classes or attributes.
fn simple(selector: &str) -> Option<Rule> {
    let sound = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '#');
    if selector.is_empty() || !selector.chars().all(sound) {
        return None;
    }
    let mut rule = Rule { tag: None, classes: Vec::new(), id: None, above: Vec::new(), declarations: Vec::new() };
    let mut start = 0;
    let ends = selector.char_indices().skip(1).filter(|(_, c)| matches!(c, '.' | '#')).map(|(at, _)| at);
    for end in ends.chain([selector.len()]) {
        let part = &selector[start..end];
        match part.chars().next()? {
            '.' => rule.classes.push(part[1..].to_owned()),
            '#' => rule.id = Some(part[1..].to_owned()),
            _ => rule.tag = Some(part.to_ascii_lowercase()),
        }
        start = end;
    }
    Some(rule)
}

/// Converts a length to pixels; `em` and `%` refer to the font size `around`.
pub fn pixels(value: &str, around: f32) -> Option<f32> {
    let value = value.trim().to_ascii_lowercase();
    let units = [("px", 1.0), ("pt", 4.0 / 3.0), ("rem", SIZE), ("em", around), ("%", around / 100.0)];
    let (number, scale) = units.into_iter().find_map(|(unit, scale)| Some((value.strip_suffix(unit)?.to_owned(), scale)))?;
    number.trim().parse().ok().map(|number: f32| number * scale).filter(|size| (0.0..1000.0).contains(size))
}

/// Returns the font size in a value of the shorthand `font`.
fn first_size(value: &str, around: f32) -> Option<f32> {
    value.split_whitespace().find_map(|part| pixels(part.split('/').next().unwrap_or(part), around))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_styles_rules_and_old_attributes_are_read() {
        let html = "<style>.btn{background:#0a7b5c}a.btn{color:#fff} .x p{color:red} td:hover{color:blue}</style><body text=333333>\
                    <table bgcolor=f4f4f4><tr><td style=\"font:14px/20px Arial\"><a class=btn>Go</a><p>x</p>\
                    <div style=\"display:none\">y</div></td></tr></table>";
        let dom = Dom::read(html).expect("the HTML is small enough");
        let looks = ComputedStyles::of(&dom);
        let one = |name: &str| dom.first(name).expect("the element exists");
        let color = |text: &str| Some(text.parse::<Color>().expect("the color is valid"));
        assert_eq!((looks.ground(&dom, one("a")), looks.ink(&dom, one("a"))), (color("#0A7B5C"), color("#FFFFFF")));
        let shades = looks.all(&dom);
        assert_eq!(shades[one("p")], TextColors { ground: color("#F4F4F4"), ink: color("#333333") });
        assert_eq!((looks.size(&dom, one("td"), 16.0), looks.is_hidden(&dom, one("div"))), (14.0, true));
    }

    #[test]
    fn the_background_without_pictures_is_the_color_next_to_them() {
        for (style, wanted) in [
            ("background:#0A7B5C url('a(1).png')", Some("#0A7B5C")),
            ("background:url('a.png') no-repeat rgb(10,123,92)", Some("#0A7B5C")),
            ("background:#0A7B5C;background:linear-gradient(#111111,rgba(2,2,2,.5))", Some("#0A7B5C")),
            ("background-image:url(a.png);background-color:#0A7B5C", Some("#0A7B5C")),
            ("background:linear-gradient(#111111,#222222)", None),
            ("background:url(#111111", None),
        ] {
            let dom = Dom::read(&format!("<p style=\"{style}\">x</p>")).expect("the HTML is small enough");
            let node = dom.first("p").expect("the element exists");
            let found = ComputedStyles::exact(&dom).ground_without_pictures(&dom, node);
            assert_eq!(found.map(|painted| painted.color.to_string()).as_deref(), wanted, "{style}");
        }
    }

    #[test]
    fn exact_styles_match_ancestors() {
        let html = "<style>.x p{color:red}.y p{color:blue}div>.z{color:#0a0}[data-dark] .z{color:#111}p+b{color:#222}</style>\
                    <div class=x><p>a<b class=z>b</b></p></div>";
        let dom = Dom::read(html).expect("the HTML is small enough");
        let looks = ComputedStyles::exact(&dom);
        let ink = |name: &str| looks.ink(&dom, dom.first(name).expect("the element exists")).map(|color| color.to_string());
        assert_eq!((ink("p").as_deref(), ink("b").as_deref()), (Some("#FF0000"), Some("#00AA00")));
    }
}
