//! Finds the uses of features in an email, in one pass over its elements and declarations.

use std::ops::Range;

use super::super::css::{AtRule, CssToken, Declaration, Owner, Part, Rule, Selector, TokenKind};
use super::super::html::{Attribute, Element};
use super::super::matching::is_combinator;
use super::super::view::View;
use super::{FeatureId, Pattern, TABLE, images, known};
use crate::base::source::Span;

/// The maximum number of uses that are collected in an email. A newsletter of 100 KB has about 10,000.
const USES_MAX: usize = 500_000;

/// The place where a feature is used. Numbers are positions in the lists of a [`View`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    Element(u32),
    /// An attribute of the element at this position, with the attribute's range in the source.
    Attribute(u32, Span),
    Declaration(u32),
    /// A selector of a rule.
    Selector(u32, u32),
    Rule(u32),
    AtRule(u32),
    CssComment(u32),
    Document,
}

#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub feature: FeatureId,
    pub span: Span,
    pub site: Site,
}

/// Returns the uses of features in an email, up to a limit.
pub fn uses(view: &View<'_>) -> Vec<Use> {
    let mut found = Found { uses: Vec::new(), view };
    for (index, element) in (0_u32..).zip(&view.document.elements) {
        found.element(index, element);
    }
    found.declarations();
    for (index, rule) in (0_u32..).zip(&view.sheets.rules) {
        found.rule(index, rule);
    }
    for (index, at_rule) in (0_u32..).zip(&view.sheets.at_rules) {
        found.at_rule(index, at_rule);
    }
    for (index, (span, _)) in (0_u32..).zip(&view.sheets.comments) {
        found.special("css-comment", *span, Site::CssComment(index));
    }
    for span in &view.document.comments {
        found.special("html-comment", *span, Site::Document);
    }
    if let Some(span) = view.document.doctype
        && span.of(view.source).to_ascii_lowercase().split_whitespace().collect::<String>() == "<!doctypehtml>"
    {
        found.special("doctype", span, Site::Document);
    }
    found.uses
}

struct Found<'v, 'a> {
    uses: Vec<Use>,
    view: &'v View<'a>,
}

impl Found<'_, '_> {
    fn add(&mut self, features: &[FeatureId], span: Span, site: Site) {
        if self.uses.len() < USES_MAX {
            self.uses.extend(features.iter().map(|feature| Use { feature: *feature, span, site }));
        }
    }

    fn special(&mut self, name: &str, span: Span, site: Site) {
        self.add(known(&TABLE.special, name), span, site);
    }

    fn element(&mut self, index: u32, element: &Element<'_>) {
        for (pattern, feature) in known(&TABLE.elements, &element.name) {
            if self.matches(pattern, element) {
                self.add(&[*feature], element.start_tag, Site::Element(index));
            }
        }
        // The attributes of SVG elements differ in meaning from HTML attributes with the same names.
        if element.in_svg || element.name == "svg" {
            return;
        }
        // The attributes of VML elements also differ in meaning from HTML attributes with the same names.
        let is_vml = element.name.contains(':');
        let view = self.view;
        for attribute in view.document.attributes_of(element) {
            let site = Site::Attribute(index, attribute.span);
            for (pattern, feature) in known(&TABLE.attributes, &attribute.name) {
                if pattern.tag.as_deref().is_none_or(|tag| element.name == tag) && !is_vml {
                    self.add(&[*feature], attribute.span, site);
                }
            }
            self.url_attribute(element, attribute, site);
        }
    }

    fn matches(&self, pattern: &Pattern, element: &Element<'_>) -> bool {
        let Some(name) = &pattern.attribute else { return true };
        let value = self.view.document.attribute(self.view.source, element, name);
        // The default type of an `input` is `text`, and that of a `button` is `submit`.
        let value = match (&*element.name, &**name) {
            ("input", "type") => Some(value.unwrap_or("text")),
            ("button", "type") => Some(value.unwrap_or("submit")),
            _ => value,
        };
        match &pattern.value {
            None => value.is_some(),
            Some(wanted) => value.is_some_and(|value| value.eq_ignore_ascii_case(wanted)),
        }
    }

    fn url_attribute(&mut self, element: &Element<'_>, attribute: &Attribute<'_>, site: Site) {
        let value = attribute.value.of(self.view.source).trim();
        match (&*element.name, &*attribute.name) {
            ("a" | "area", "href") => {
                let scheme = value.get(..7).unwrap_or_default();
                if value.len() > 1 && value.starts_with('#') {
                    self.special("anchor-link", attribute.span, site);
                } else if scheme.eq_ignore_ascii_case("mailto:") {
                    self.special("mailto-link", attribute.span, site);
                }
            }
            ("img" | "input", "src")
            | ("body" | "table" | "td" | "th" | "tr", "background")
            | ("v:fill" | "v:imagedata", "src") => {
                self.image(value, attribute.span, site);
            }
            ("video", "poster") => self.image(value, attribute.span, site),
            ("img" | "source", "srcset") => images::srcset(value).for_each(|url| self.image(url, attribute.span, site)),
            ("source", "type") => {
                let in_picture = self.view.document.parent(element).is_some_and(|parent| parent.name == "picture");
                if let Some(kind) = images::of_media_type(value).filter(|_| in_picture) {
                    self.add(known(&TABLE.images, kind), attribute.span, site);
                }
            }
            _ => {}
        }
    }

    fn image(&mut self, url: &str, span: Span, site: Site) {
        if let Some(kind) = images::kind(url) {
            self.add(known(&TABLE.images, kind), span, site);
        }
        if images::is_base64(url) {
            self.special("base64", span, site);
        }
    }

    fn declarations(&mut self) {
        let view = self.view;
        let all = &view.sheets.declarations;
        // For each declaration so far, the range of its uses in `self.uses`.
        let mut ranges: Vec<Range<usize>> = Vec::with_capacity(all.len());
        for (index, declaration) in (0_u32..).zip(all) {
            let start = self.uses.len();
            let first = declaration.repeats.map(|first| first as usize);
            match first.and_then(|first| Some((all.get(first)?, ranges.get(first)?.clone()))) {
                Some((first, uses)) => self.repeat(uses, first.span.start, declaration.span.start, index),
                None => self.declaration(index, declaration),
            }
            ranges.push(start..self.uses.len());
        }
    }

    /// Copies the uses at the positions `uses` from an earlier declaration to the declaration at the position `index`, which has the same
    /// text. The offsets of the two declarations are `first` and `start`.
    fn repeat(&mut self, uses: Range<usize>, first: u32, start: u32, index: u32) {
        for at in uses {
            let Some(Use { feature, span, .. }) = self.uses.get(at).copied().filter(|_| self.uses.len() < USES_MAX) else {
                return;
            };
            let span = Span { start: span.start - first + start, end: span.end - first + start };
            self.uses.push(Use { feature, span, site: Site::Declaration(index) });
        }
    }

    fn declaration(&mut self, index: u32, declaration: &Declaration) {
        let view = self.view;
        let site = Site::Declaration(index);
        let name = declaration.name.of(view.source);
        if name.starts_with("--") {
            self.special("variable", declaration.span, site);
        }
        let properties = known(&TABLE.properties, name);
        // `src` and the other descriptors of `@font-face` are part of the at-rule and do not count as properties.
        let is_descriptor = matches!(declaration.owner, Owner::AtRule(at) if self.at_rule_is(at, "@font-face"));
        if is_descriptor {
            return;
        }
        self.add(properties, declaration.span, site);
        if let Some(important) = declaration.important {
            self.special("important", important.span, site);
        }
        let values = known(&TABLE.values, name);
        let mut color_end = 0;
        for piece in view.sheets.value(declaration) {
            self.piece(piece, (name, values), site, color_end);
            if piece.kind == TokenKind::Function && is_color_function(piece.name(view.source)) {
                color_end = view.sheets.pieces.get(piece.close as usize).map_or(0, |close| close.span.end);
            }
        }
    }

    fn at_rule_is(&self, index: u32, name: &str) -> bool {
        let at_rule = self.view.sheets.at_rules.get(index as usize);
        at_rule.is_some_and(|at_rule| at_rule.name.of(self.view.source).eq_ignore_ascii_case(name))
    }

    fn piece(&mut self, piece: &CssToken, (name, values): (&str, &[(String, FeatureId)]), site: Site, color_end: u32) {
        let source = self.view.source;
        match piece.kind {
            TokenKind::Ident => {
                let word = piece.name(source);
                for (wanted, feature) in values {
                    if word.eq_ignore_ascii_case(wanted) {
                        self.add(&[*feature], piece.span, site);
                    }
                }
                self.add(known(&TABLE.keywords, word), piece.span, site);
            }
            TokenKind::Function => {
                let end = self.view.sheets.pieces.get(piece.close as usize).map_or(piece.span.end, |close| close.span.end);
                let span = Span { start: piece.span.start, end };
                self.add(known(&TABLE.functions, piece.name(source)), span, site);
                if piece.is(source, "url") {
                    let url = span.of(source).get(4..).unwrap_or_default();
                    self.image(url.trim_end_matches(')').trim().trim_matches(['"', '\'']), span, site);
                }
            }
            TokenKind::Url => {
                let url = piece.span.of(source).get(4..).unwrap_or_default();
                self.image(url.trim_end_matches(')'), piece.span, site);
            }
            // Percentages in colors are not sizes.
            TokenKind::Percentage if piece.span.start >= color_end => self.add(known(&TABLE.units, "%"), piece.span, site),
            TokenKind::Dimension if !name.starts_with("--") || piece.span.start >= color_end => {
                self.add(known(&TABLE.units, piece.unit(source)), piece.span, site);
            }
            _ => {}
        }
    }

    fn rule(&mut self, index: u32, rule: &Rule) {
        let view = self.view;
        if rule.nested_in.is_some() {
            self.special("nesting", rule.prelude, Site::Rule(index));
        }
        let selectors = view.sheets.selectors_of(rule);
        if selectors.len() > 1 {
            self.add(known(&TABLE.selectors, "grouping"), rule.prelude, Site::Rule(index));
        }
        for (selector_index, selector) in (rule.selectors.start..).zip(selectors) {
            self.selector(selector, Site::Selector(index, selector_index));
        }
    }

    fn selector(&mut self, selector: &Selector, site: Site) {
        let view = self.view;
        let mut chained = 0;
        let mut chain_start = selector.span.start;
        for part in view.sheets.parts_of(selector) {
            let kind = match part.part {
                Part::Type => "type",
                Part::Universal => "universal",
                Part::Class => "class",
                Part::Id => "id",
                Part::Attribute(_) => "attribute",
                Part::Descendant => "descendant",
                Part::Child => "child",
                Part::AdjacentSibling => "adjacent-sibling",
                Part::GeneralSibling => "general-sibling",
                Part::Nesting => continue,
                Part::PseudoClass | Part::PseudoElement => {
                    self.add(known(&TABLE.pseudo, part.name.of(view.source)), part.span, site);
                    continue;
                }
            };
            self.add(known(&TABLE.selectors, kind), part.span, site);
            if is_combinator(part.part) {
                chained = 0;
            } else if matches!(part.part, Part::Class | Part::Id) {
                if chained == 0 {
                    chain_start = part.span.start;
                }
                chained += 1;
                if chained == 2 {
                    let span = Span { start: chain_start, end: part.span.end };
                    self.add(known(&TABLE.selectors, "chaining"), span, site);
                }
            }
        }
    }

    fn at_rule(&mut self, index: u32, at_rule: &AtRule) {
        let view = self.view;
        let site = Site::AtRule(index);
        let name = at_rule.name.of(view.source).get(1..).unwrap_or_default();
        let prelude = view.sheets.prelude(at_rule);
        let end = prelude.last().map_or(at_rule.name.end, |piece| piece.span.end);
        self.add(known(&TABLE.at_rules, name), Span { start: at_rule.name.start, end }, site);
        if !name.eq_ignore_ascii_case("media") {
            return;
        }
        for feature in media_features(prelude) {
            self.add(known(&TABLE.media, feature.name(view.source)), feature.span, site);
        }
    }
}

fn is_color_function(name: &str) -> bool {
    ["rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color-mix"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known))
}

/// Returns the tokens that name the media features in a media query.
pub fn media_features(prelude: &[CssToken]) -> impl Iterator<Item = &CssToken> {
    let mut depth = 0_usize;
    let mut expects_name = false;
    prelude.iter().filter(move |piece| {
        match piece.kind {
            TokenKind::Parenthesis => {
                depth += 1;
                expects_name = true;
            }
            TokenKind::Close => depth = depth.saturating_sub(1),
            TokenKind::Ident if depth > 0 && expects_name => {
                expects_name = false;
                return true;
            }
            _ => {}
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_style_has_the_same_uses_at_its_own_place() {
        let style = "padding: 4px; color: rgb(1 2 3) !important; background: url(a.webp)";
        let html = format!("<p style=\"{style}\">a</p><p style=\"{style}\">b</p><p style=\" {style}\">c</p>");
        let view = View::parse(&html, false);
        let found = uses(&view);
        let of = |nth: u32| {
            let place = html.match_indices(style).nth(nth as usize).map_or(0, |(at, _)| u32::try_from(at).unwrap_or_default());
            let own = found.iter().filter(|one| matches!(one.site, Site::Declaration(index) if index / 3 == nth));
            own.map(|one| (one.feature, one.span.start - place, one.span.end - place)).collect::<Vec<_>>()
        };
        assert_eq!(view.sheets.declarations.iter().filter(|one| one.repeats.is_some()).count(), 3);
        assert!(of(0).len() >= 5, "{:?}", of(0));
        assert_eq!((of(1), of(2)), (of(0), of(0)));
    }
}
