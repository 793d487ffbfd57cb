//! Finds the replacements that an email has for features that a client does not support.

use super::css::{Declaration, Owner, TokenKind};
use super::features::detect::Site;
use super::features::{FeatureId, TABLE};
use super::html::{BLOCKS, Element};
use super::profile::DARK_QUERY;
use super::side::{Hit, Side, is_shape};
use super::view::View;
use crate::base::source::Span;

/// The maximum number of hits that are checked.
const HITS_MAX: usize = 200;
/// The maximum number of elements that are checked for each hit.
const ELEMENTS_MAX: usize = 500;
/// The maximum number of earlier declarations that are checked for each declaration.
const EARLIER_MAX: usize = 64;

/// The attributes that give an element a style of its own.
const STYLING: [&str; 9] = ["style", "width", "height", "align", "valign", "bgcolor", "color", "cellpadding", "background"];
/// The features that a table cell around an element can replace in Word.
const SIZES: [&str; 11] = [
    "css-width",
    "css-max-width",
    "css-min-width",
    "css-height",
    "css-min-height",
    "css-max-height",
    "css-margin",
    "css-float",
    "css-display",
    "css-display-flex",
    "css-display-grid",
];
/// The features that a VML shape can replace in Word.
const SHAPES: [&str; 7] = [
    "css-background",
    "css-background-image",
    "css-border-radius",
    "css-linear-gradient",
    "css-radial-gradient",
    "css-conic-gradient",
    "html-background",
];

/// Whether an email has a replacement for a use of a feature.
enum Replacement {
    /// The use affects no element, so readers miss nothing.
    Unneeded,
    Found(&'static str),
    Missing,
}

/// Returns what replaces a feature in the email, or `None` if a checked hit lacks a replacement that it needs or if no hit needs one.
pub fn of(side: &Side<'_>, feature: FeatureId, hits: &[Hit]) -> Option<&'static str> {
    let slug = TABLE.entry(feature)?.slug.as_str();
    if slug == DARK_QUERY {
        return Some("the design for light mode");
    }
    let lost = hits.iter().filter_map(|hit| match hit.used.site {
        Site::Declaration(index) => Some(index),
        _ => None,
    });
    // The hits and the declarations are in source order, so sorting takes little time.
    let mut lost: Vec<u32> = lost.collect();
    lost.sort_unstable();
    let search = Search { side, view: &side.view, slug, lost };
    let mut found = None;
    for hit in hits.iter().take(HITS_MAX) {
        match search.site(hit.used.site) {
            Replacement::Unneeded => {}
            Replacement::Found(text) => found = Some(text),
            Replacement::Missing => return None,
        }
    }
    found
}

struct Search<'s, 'a> {
    side: &'s Side<'a>,
    view: &'s View<'a>,
    slug: &'static str,
    /// The declarations that the client does not support, sorted.
    lost: Vec<u32>,
}

impl Search<'_, '_> {
    fn site(&self, site: Site) -> Replacement {
        let sheets = &self.view.sheets;
        match site {
            Site::Declaration(index) => {
                sheets.declarations.get(index as usize).map_or(Replacement::Missing, |one| self.declaration(one))
            }
            Site::Attribute(index, span) => self.attribute(index, span).map_or(Replacement::Missing, Replacement::Found),
            Site::Selector(rule, _) | Site::Rule(rule) => self.styled(self.reached(rule), "the style attributes"),
            Site::AtRule(index) => match sheets.at_rules.get(index as usize) {
                Some(at_rule) if is_query(at_rule.name.of(self.view.source)) => {
                    self.styled_within(at_rule.span, "the styles without a condition")
                }
                _ => Replacement::Missing,
            },
            Site::Element(index) => match self.view.element(index) {
                Some(element) if element.name == "style" => self.styled_within(element.content(), "the style attributes"),
                _ => Replacement::Missing,
            },
            Site::CssComment(_) | Site::Document => Replacement::Missing,
        }
    }

    /// Returns the elements that a rule matches.
    fn reached(&self, rule: u32) -> &[u32] {
        self.view.reach.get(rule as usize).map_or(&[][..], |reach| &reach.elements)
    }

    /// Returns `text` as the replacement if each of the elements is hidden or has an attribute of its own that sets its style. Styles from
    /// rules do not count, because the client can drop those rules too, and because the removal of a rule must not lower the score.
    fn styled(&self, elements: &[u32], text: &'static str) -> Replacement {
        if elements.is_empty() {
            return Replacement::Unneeded;
        }
        let is_styled = |index: &u32| {
            self.is_hidden(*index)
                || self.view.element(*index).is_none_or(|element| {
                    let attributes = self.view.document.attributes_of(element);
                    attributes.iter().any(|attribute| STYLING.contains(&&*attribute.name))
                })
        };
        if elements.iter().take(ELEMENTS_MAX).all(is_styled) { Replacement::Found(text) } else { Replacement::Missing }
    }

    /// Checks the elements of all rules in this part of the source: returns `text` as the replacement if each of these elements is hidden
    /// or has an attribute of its own that sets its style.
    fn styled_within(&self, span: Span, text: &'static str) -> Replacement {
        let rules = &self.view.sheets.rules;
        let first = rules.partition_point(|rule| rule.span.start < span.start);
        let inside = rules.iter().enumerate().skip(first).take_while(|(_, rule)| rule.span.start < span.end);
        let mut result = Replacement::Unneeded;
        for (rule, _) in inside {
            match self.styled(self.reached(u32::try_from(rule).unwrap_or(u32::MAX)), text) {
                Replacement::Unneeded => {}
                Replacement::Found(text) => result = Replacement::Found(text),
                Replacement::Missing => return Replacement::Missing,
            }
        }
        result
    }

    fn is_hidden(&self, index: u32) -> bool {
        self.side.hidden.get(index as usize).copied().unwrap_or_default()
    }

    fn declaration(&self, declaration: &Declaration) -> Replacement {
        let elements: &[u32] = match &declaration.owner {
            Owner::Element(element) => std::slice::from_ref(element),
            Owner::Rule(_) => self.view.touched(declaration),
            Owner::AtRule(_) => return Replacement::Missing,
        };
        if self.is_in_query(declaration)
            && let Replacement::Found(text) = self.styled(elements, "the styles without a condition")
        {
            return Replacement::Found(text);
        }
        let mut result = Replacement::Unneeded;
        for index in elements.iter().take(ELEMENTS_MAX) {
            match self.of_element(declaration, *index) {
                Some(text) => result = Replacement::Found(text),
                None => return Replacement::Missing,
            }
        }
        result
    }

    /// Returns whether a declaration is in a media query or in another conditional at-rule.
    fn is_in_query(&self, declaration: &Declaration) -> bool {
        let Owner::Rule(rule) = declaration.owner else { return false };
        let at_rule = self.view.rule(rule).and_then(|rule| self.view.sheets.at_rules.get(rule.at_rule? as usize));
        at_rule.is_some_and(|at_rule| is_query(at_rule.name.of(self.view.source)))
    }

    /// Returns what replaces a declaration for one of the elements to which it applies.
    fn of_element(&self, declaration: &Declaration, index: u32) -> Option<&'static str> {
        let element = self.view.element(index)?;
        if self.is_hidden(index) && self.slug != "css-display-none" {
            return Some("display: none");
        }
        if is_default(self.view, declaration, element) {
            return Some("the default value");
        }
        let other = || self.of_word(index, element).or_else(|| of_declaration(self.view, self.slug, declaration, element));
        other().or_else(|| self.has_earlier_value(declaration).then_some("an earlier declaration of the same property"))
    }

    /// Returns what replaces the feature for an element in conditional comments, which only Word shows: a table or a VML shape.
    fn of_word(&self, index: u32, element: &Element<'_>) -> Option<&'static str> {
        let word = &self.side.word_only;
        let around = std::iter::successors(element.parent, |index| self.view.element(*index)?.parent);
        let mut around = around.take_while(|index| word.elements.contains(index)).filter_map(|index| self.view.element(index));
        if SIZES.contains(&self.slug) {
            let is_cell = |element: &Element<'_>| matches!(&*element.name, "td" | "th") || is_shape(element);
            // Word reads the size of an image from the image's attributes, so a table around an image does not replace its size.
            let is_replaced = element.name != "img"
                && (around.any(is_cell) || self.slug.starts_with("css-display") && word.tables.contains(&index));
            return is_replaced.then_some("a table for Outlook on Windows");
        }
        let is_replaced = SHAPES.contains(&self.slug) && (around.any(is_shape) || word.shapes.contains(&index));
        is_replaced.then_some("VML for Outlook on Windows")
    }

    /// Returns whether the client supports an earlier declaration of the same property. If the feature is a kind of value, such as a
    /// function or a unit, the earlier declaration must have a plain value.
    fn has_earlier_value(&self, declaration: &Declaration) -> bool {
        let (source, sheets) = (self.view.source, &self.view.sheets);
        let is_value = self.slug.starts_with("css-function-")
            || self.slug.starts_with("css-unit-")
            || ["css-variables", "css-modern-color", "css-rgb", "css-rgba", "css-intrinsic-size"].contains(&self.slug);
        let is_plain = |other: &Declaration| {
            sheets.value(other).iter().all(|piece| match piece.kind {
                TokenKind::Function => false,
                TokenKind::Dimension => matches!(piece.unit(source), "px" | "pt" | "em"),
                _ => true,
            })
        };
        let name = declaration.name.of(source);
        let at = sheets.declarations.partition_point(|one| one.span.start < declaration.span.start);
        let first = at.saturating_sub(EARLIER_MAX);
        let before = (first..).zip(sheets.declarations.get(first..at).unwrap_or_default());
        let mut same =
            before.filter(|(_, other)| other.owner == declaration.owner && other.name.of(source).eq_ignore_ascii_case(name));
        let is_lost = |index: usize| u32::try_from(index).is_ok_and(|index| self.lost.binary_search(&index).is_ok());
        same.any(|(index, other)| !is_lost(index) && (!is_value || is_plain(other)))
    }

    /// Returns what replaces an attribute, usually a declaration in the element's `style` attribute.
    fn attribute(&self, index: u32, span: Span) -> Option<&'static str> {
        let element = self.view.element(index)?;
        let source = self.view.source;
        let attribute = self.view.document.attributes_of(element).iter().find(|attribute| attribute.span == span)?;
        let has = |names: &[&str]| inline(self.view, element).any(|one| is_named(source, one, names));
        let value = attribute.value.of(source).trim();
        let is_replaced = match &*attribute.name {
            "dir" if value.eq_ignore_ascii_case("ltr") && !source.contains("rtl") => return Some("the default direction"),
            "background" => {
                return self
                    .of_word(index, element)
                    .or_else(|| has(&["background-image", "background"]).then_some("the style attribute"));
            }
            "width" => has(&["width"]),
            "height" => has(&["height"]),
            "align" => has(&["text-align", "margin", "float"]),
            "valign" => has(&["vertical-align"]),
            "bgcolor" => has(&["background", "background-color"]),
            "border" => has(&["border"]),
            "cellspacing" => has(&["border-spacing", "border-collapse"]),
            _ => false,
        };
        is_replaced.then_some("the style attribute")
    }
}

fn is_query(name: &str) -> bool {
    ["@media", "@supports"].iter().any(|query| name.eq_ignore_ascii_case(query))
}

fn is_named(source: &str, declaration: &Declaration, names: &[&str]) -> bool {
    names.iter().any(|name| declaration.name.of(source).eq_ignore_ascii_case(name))
}

/// Returns the declarations in the `style` attribute of an element.
fn inline<'v>(view: &'v View<'_>, element: &Element<'_>) -> impl Iterator<Item = &'v Declaration> {
    let tag = element.start_tag;
    let all = &view.sheets.declarations;
    let first = all.partition_point(|one| one.span.start < tag.start);
    all.get(first..).unwrap_or_default().iter().take_while(move |one| one.span.start < tag.end)
}

/// Returns whether a declaration only sets the element's default value, so that the element does not change if a client ignores the
/// declaration.
fn is_default(view: &View<'_>, declaration: &Declaration, element: &Element<'_>) -> bool {
    let name = declaration.name.of(view.source).to_ascii_lowercase();
    let value = view.value_text(declaration).to_ascii_lowercase();
    let tag = &*element.name;
    let is_block = BLOCKS.contains(&tag) && tag != "table";
    let is_zero = || {
        let mut lengths = view.sheets.value(declaration).iter().filter(|piece| piece.kind != TokenKind::Space);
        lengths.all(|piece| matches!(piece.kind, TokenKind::Number | TokenKind::Dimension) && piece.number.abs() < f32::EPSILON)
    };
    match name.as_str() {
        "display" => match value.as_str() {
            "block" => is_block || tag == "img",
            "inline" => matches!(tag, "span" | "a" | "b" | "strong" | "i" | "em" | "img"),
            "inline-block" => {
                let is_sized = view.siblings(declaration).any(|other| is_named(view.source, other, &["width", "height"]));
                tag == "img" || matches!(tag, "span" | "a") && !is_sized
            }
            _ => false,
        },
        "width" => value == "auto" || value == "100%" && is_block,
        "height" | "min-width" | "min-height" => value == "auto",
        "max-width" => value == "none" || value == "100%" && is_block,
        "max-height" | "float" => value == "none",
        "margin" => matches!(tag, "span" | "body" | "div" | "a" | "td" | "table" | "img") && is_zero(),
        "padding" => matches!(tag, "span" | "body" | "div" | "a" | "p" | "img") && is_zero(),
        "word-spacing" | "letter-spacing" | "white-space" | "line-height" => value == "normal",
        _ => false,
    }
}

fn of_declaration(view: &View<'_>, slug: &str, declaration: &Declaration, element: &Element<'_>) -> Option<&'static str> {
    let source = view.source;
    let has = |name: &str| view.document.attribute(source, element, name).is_some();
    let sibling = |names: &[&str]| view.siblings(declaration).any(|other| is_named(source, other, names));
    let is_color = |other: &Declaration| {
        is_named(source, other, &["background-color", "background"])
            && other.span != declaration.span
            && view.sheets.value(other).iter().any(|piece| matches!(piece.kind, TokenKind::Hash | TokenKind::Ident))
    };
    // In Outlook on Windows, the padding of a button is set on the cell around it, with `mso-padding-alt`.
    let has_cell_padding = || {
        let cell = view.document.parent(element);
        cell.is_some_and(|cell| inline(view, cell).any(|one| is_named(source, one, &["mso-padding-alt"])))
    };
    match slug {
        "css-linear-gradient" | "css-radial-gradient" | "css-conic-gradient" | "css-background-image" | "css-background" => {
            if has("bgcolor") {
                return Some("the bgcolor attribute");
            }
            view.siblings(declaration).any(is_color).then_some("a background color")
        }
        "css-background-color" => has("bgcolor").then_some("the bgcolor attribute"),
        "css-width" | "css-max-width" | "css-min-width" => has("width").then_some("the width attribute"),
        "css-height" | "css-min-height" | "css-max-height" if has("height") => Some("the height attribute"),
        // A `line-height` with the same value gives the element the same height.
        "css-height" => {
            let value = view.value_text(declaration);
            let is_same = |other: &Declaration| is_named(source, other, &["line-height"]) && view.value_text(other) == value;
            view.siblings(declaration).any(is_same).then_some("line-height")
        }
        "css-border-spacing" => has("cellspacing").then_some("the cellspacing attribute"),
        "css-vertical-align" => has("valign").then_some("the valign attribute"),
        "css-text-align" | "css-float" => has("align").then_some("the align attribute"),
        "css-margin" => has("align").then_some("the align attribute"),
        "css-padding" => has_cell_padding().then_some("mso-padding-alt"),
        "css-direction" => has("dir").then_some("the dir attribute"),
        "css-display-none" | "css-display" => sibling(&["mso-hide"]).then_some("mso-hide"),
        // With `border-radius`, `overflow` only clips the content at the rounded corners. Square corners need no clipping.
        "css-overflow" => sibling(&["border-radius"]).then_some("square corners"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::clients::findings::Checker;
    use crate::engine::clients::report;

    /// Returns the replacement for a feature that a client does not support.
    fn replacement(html: &str, client: &str, slug: &str) -> Option<&'static str> {
        let report = report::check(Checker::embedded(), html, &[client.to_owned()]);
        let mut issues = report.client_issues.iter().flat_map(|client| client.issues.iter().chain(&client.warnings));
        issues.find(|issue| *issue.slug == *slug).unwrap_or_else(|| panic!("{slug} is not reported in {html}")).fallback
    }

    #[test]
    fn a_table_for_word_replaces_sizes() {
        let block = "<div style=\"max-width:600px;width:50%;display:inline-block\">x</div>";
        let html =
            format!("<!--[if mso]><table><tr><td width=\"600\"><![endif]-->{block}<!--[if mso]></td></tr></table><![endif]-->");
        for slug in ["css-max-width", "css-width", "css-display"] {
            assert_eq!(replacement(&html, "outlook.windows", slug), Some("a table for Outlook on Windows"), "{slug}");
            assert_eq!(replacement(block, "outlook.windows", slug), None, "{slug}");
        }
    }

    /// Regression test: the email's own VML was not taken into account.
    #[test]
    fn vml_replaces_a_background_image() {
        let cell = "<td style=\"background-image:url(a.png)\">x</td>";
        let vml = "<!--[if gte mso 9]><v:rect><v:fill src=\"a.png\"/><v:textbox><![endif]-->x\
                   <!--[if gte mso 9]></v:textbox></v:rect><![endif]-->";
        let inside = cell.replace(">x<", &format!(">{vml}<"));
        let around = vml.replacen("-->x", "--><div style=\"background-image:url(a.png)\">x</div>", 1);
        for html in [inside, around] {
            let found = replacement(&html, "outlook.windows", "css-background-image");
            assert_eq!(found, Some("VML for Outlook on Windows"), "{html}");
        }
        let elsewhere = format!("{cell}{vml}");
        assert_eq!(replacement(&elsewhere, "outlook.windows", "css-background-image"), None);
    }

    #[test]
    fn an_earlier_declaration_replaces_a_later_one() {
        let flex = |style: &str| replacement(&format!("<ul style=\"{style}\">x</ul>"), "outlook.windows", "css-display-flex");
        assert_eq!(flex("display:block;display:flex"), Some("an earlier declaration of the same property"));
        assert_eq!(flex("display:flex;display:block"), None);
        // Because of the unsupported color, Gmail drops the whole `style` attribute, including the earlier color.
        let color = "<p style=\"color:#008000;color:rgb(0 128 0)\">x</p>";
        assert_eq!(replacement(color, "gmail.ios", "css-rgb"), None);
    }

    #[test]
    fn elements_with_own_styles_need_no_media_query() {
        let html = "<style>@media (max-width:480px){.a{width:100% !important}}</style><td class=a style=\"width:50%\">x</td>";
        let query = |html: &str| replacement(html, "gmail.mobile-webmail", "css-at-media");
        assert_eq!(query(html), Some("the styles without a condition"));
        assert_eq!(query(&html.replace(" style=\"width:50%\"", "")), None);
        assert_eq!(replacement(html, "gmail.mobile-webmail", "html-style"), Some("the style attributes"));
    }

    #[test]
    fn lost_styles_of_hidden_elements_are_replaced() {
        let hidden = "<div style=\"display:none;overflow:hidden\">x</div>";
        assert_eq!(replacement(hidden, "outlook.windows", "css-overflow"), Some("display: none"));
        assert_eq!(replacement(&hidden.replace("display:none;", ""), "outlook.windows", "css-overflow"), None);
    }
}
