//! Decides whether conditions on at-rules, rules and selectors apply.

use super::super::css::{AtRule, CssToken, Part, SelectorPart, TokenKind};
use super::super::features::detect::{Site, Use, media_features};
use super::super::html::Element;
use super::super::matching::is_combinator;
use super::super::view::View;
use super::{Condition, Test};
use crate::base::source::Span;

/// The maximum number of parts that are read before and after a part to find its compound selector.
const COMPOUND_MAX: usize = 32;

/// Returns whether the condition applies to a use in an at-rule, a rule or a selector.
pub fn decide(condition: &Condition, view: &View<'_>, one: &Use) -> bool {
    match one.site {
        Site::AtRule(index) => {
            view.sheets.at_rules.get(index as usize).is_some_and(|at_rule| decide_at_rule(condition, view, index, at_rule))
        }
        Site::Selector(rule, selector) => {
            let parts = view.sheets.selectors.get(selector as usize).map_or(&[][..], |selector| view.sheets.parts_of(selector));
            decide_selector(condition, view, one, rule, parts)
        }
        Site::Rule(index) => decide_rule(condition, view, index),
        _ => false,
    }
}

fn decide_rule(condition: &Condition, view: &View<'_>, index: u32) -> bool {
    let Some(rule) = view.rule(index) else { return false };
    let starts = |part: Part| {
        view.sheets
            .selectors_of(rule)
            .iter()
            .any(|selector| view.sheets.parts_of(selector).first().is_some_and(|first| first.part == part))
    };
    match condition.test {
        Test::NestingImplicit => starts(Part::Type),
        Test::TypeSelector => starts(Part::Type),
        Test::InSheet => true,
        _ => false,
    }
}

fn decide_at_rule(condition: &Condition, view: &View<'_>, index: u32, at_rule: &AtRule) -> bool {
    let source = view.source;
    let prelude = view.sheets.prelude(at_rule);
    match condition.test {
        Test::NestedAtRule => {
            at_rule.at_rule.is_some()
                || view.sheets.at_rules.get(index as usize + 1).is_some_and(|next| next.at_rule == Some(index))
        }
        Test::MediaIn => media_features(prelude).any(|piece| condition.has(piece.name(source))),
        Test::MediaNotIn => {
            media_features(prelude).any(|piece| !condition.has(piece.name(source)))
                || media_types(source, prelude).any(|word| !condition.has(word))
        }
        Test::MediaValue => prelude.iter().any(|piece| piece.kind == TokenKind::Ident && condition.has(piece.name(source))),
        Test::KeyframePercent => at_rule.span.of(source).contains('%'),
        Test::Touches => touched_by(view, index).any(|element| condition.has(&element.name)),
        Test::InSheet => true,
        _ => false,
    }
}

/// Returns the media types of a query, such as `screen`.
fn media_types<'s>(source: &'s str, prelude: &'s [CssToken]) -> impl Iterator<Item = &'s str> {
    let mut depth = 0_usize;
    let words = prelude.iter().filter(move |piece| {
        match piece.kind {
            TokenKind::Parenthesis | TokenKind::Function => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && piece.kind == TokenKind::Ident
    });
    words
        .map(|piece| piece.name(source))
        .filter(|word| !["and", "or", "not", "only"].iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// Returns the elements that the rules inside an at-rule match.
fn touched_by<'v, 'a>(view: &'v View<'a>, at_rule: u32) -> impl Iterator<Item = &'v Element<'a>> {
    let span = view.sheets.at_rules.get(at_rule as usize).map(|at_rule| at_rule.span).unwrap_or_default();
    let first = view.sheets.rules.partition_point(|rule| rule.span.start < span.start);
    let rules = view.sheets.rules.iter().zip(&view.reach).skip(first).take_while(move |(rule, _)| rule.span.start < span.end);
    rules.flat_map(|(_, reach)| &reach.elements).filter_map(|index| view.element(*index))
}

fn decide_selector(condition: &Condition, view: &View<'_>, one: &Use, rule: u32, parts: &[SelectorPart]) -> bool {
    let source = view.source;
    let this = position(parts, one.span).and_then(|at| parts.get(at));
    let operator = this.map_or(' ', |part| if let Part::Attribute(operator) = part.part { operator } else { ' ' });
    let name = this.map_or("", |part| part.name.of(source));
    match condition.test {
        Test::NotTypeSelector => {
            let compound = compound(parts, one.span);
            !compound.iter().any(|part| part.part == Part::Type)
                || compound.iter().any(|part| matches!(part.part, Part::Class | Part::Id | Part::Attribute(_)))
        }
        Test::TypeSelector => parts.iter().any(|part| part.part == Part::Type),
        Test::AttributeWithClass => compound(parts, one.span).iter().any(|part| matches!(part.part, Part::Class | Part::Id)),
        Test::AttributeOperatorNotIn => !condition.words.iter().any(|word| word.starts_with(operator)),
        Test::AttributeNameIn => condition.has(name),
        Test::AttributeGmail => operator != '~' || !name.eq_ignore_ascii_case("class"),
        Test::TouchesNot => {
            let elements = view.reach.get(rule as usize).map_or(&[][..], |reach| &reach.elements);
            elements.iter().filter_map(|index| view.element(*index)).any(|element| !condition.has(&element.name))
        }
        Test::InSheet => true,
        _ => false,
    }
}

fn position(parts: &[SelectorPart], span: Span) -> Option<usize> {
    parts.binary_search_by_key(&span.start, |part| part.span.start).ok()
}

/// Returns the compound selector, the part between two combinators, that contains a span.
fn compound(parts: &[SelectorPart], span: Span) -> &[SelectorPart] {
    let at = position(parts, span).unwrap_or_default();
    let near = parts.get(at.saturating_sub(COMPOUND_MAX)..at).unwrap_or_default();
    let start = at - near.iter().rev().take_while(|part| !is_combinator(part.part)).count();
    let rest = parts.get(at..).unwrap_or_default();
    let end = at + rest.iter().take(COMPOUND_MAX).take_while(|part| !is_combinator(part.part)).count();
    parts.get(start..end).unwrap_or_default()
}
