//! Reads style sheets and `style` attributes into at-rules, rules, selectors and declarations with the byte ranges of all parts.
//!
//! The cssparser library splits the text into tokens. This module reads the structure from the tokens, up to a maximum nesting depth.

mod selectors;
mod tokens;

use cssparser::Parser;

use crate::base::source::Span;

pub use tokens::{CssToken, TokenKind};
use tokens::{decode, flatten, source_offset};

/// The maximum nesting depth of blocks and functions. Deeper content is skipped.
const DEPTH_MAX: u8 = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A position in [`Sheets::rules`].
    Rule(u32),
    /// The position in [`Sheets::at_rules`] of an at-rule with declarations, such as `@font-face`.
    AtRule(u32),
    /// The element whose `style` attribute contains the declaration.
    Element(u32),
}

#[derive(Clone, Copy, Debug)]
pub struct Important {
    pub span: Span,
    pub space_before: bool,
    pub lowercase: bool,
}

#[derive(Clone, Debug)]
pub struct Declaration {
    pub name: Span,
    pub span: Span,
    /// The positions of the value's tokens in [`Sheets::pieces`].
    pub value: Span,
    pub important: Option<Important>,
    pub owner: Owner,
    /// The position in [`Sheets::declarations`] of the original, if this declaration is a copy of another one in the same sheets.
    pub repeats: Option<u32>,
}

/// The tokens, declarations and comments of a `style` attribute, as ranges of the lists in [`Sheets`].
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The offset of the attribute's value in the source.
    start: u32,
    pieces: Span,
    declarations: Span,
    comments: Span,
}

#[derive(Clone, Debug)]
pub struct Rule {
    pub span: Span,
    pub prelude: Span,
    /// The positions of the rule's selectors in [`Sheets::selectors`].
    pub selectors: Span,
    /// The innermost at-rule that contains the rule.
    pub at_rule: Option<u32>,
    /// The rule that contains this nested rule.
    pub nested_in: Option<u32>,
    /// The `style` element that contains the rule.
    pub element: u32,
}

#[derive(Clone, Debug)]
pub struct AtRule {
    pub name: Span,
    pub span: Span,
    /// The positions of the prelude's tokens in [`Sheets::pieces`].
    pub prelude: Span,
    pub has_block: bool,
    pub at_rule: Option<u32>,
    pub nested_in: Option<u32>,
    pub element: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Type,
    Universal,
    Class,
    Id,
    /// An attribute selector, with the first character of its operator: `=`, `~`, `|`, `^`, `$` or `*`; a space if it has no operator.
    Attribute(char),
    PseudoClass,
    PseudoElement,
    Nesting,
    Descendant,
    Child,
    AdjacentSibling,
    GeneralSibling,
}

/// A part of a selector, with its range. The range of a class, ID, pseudo-class or pseudo-element includes its punctuation.
#[derive(Clone, Copy, Debug)]
pub struct SelectorPart {
    pub part: Part,
    pub span: Span,
    /// The name of a type, class, ID, attribute, pseudo-class or pseudo-element.
    pub name: Span,
    /// The value of an attribute selector.
    pub value: Span,
}

/// One selector of a comma-separated list.
#[derive(Clone, Debug)]
pub struct Selector {
    pub span: Span,
    /// The positions of the selector's parts in [`Sheets::parts`].
    pub parts: Span,
}

/// All style sheets and `style` attributes of an email.
#[derive(Debug, Default)]
pub struct Sheets {
    pub pieces: Vec<CssToken>,
    pub declarations: Vec<Declaration>,
    pub rules: Vec<Rule>,
    pub at_rules: Vec<AtRule>,
    pub selectors: Vec<Selector>,
    pub parts: Vec<SelectorPart>,
    pub comments: Vec<(Span, Owner)>,
}

fn slice<T>(all: &[T], span: Span) -> &[T] {
    all.get(span.start as usize..span.end as usize).unwrap_or_default()
}

impl Sheets {
    pub fn value(&self, declaration: &Declaration) -> &[CssToken] {
        slice(&self.pieces, declaration.value)
    }

    pub fn prelude(&self, at_rule: &AtRule) -> &[CssToken] {
        slice(&self.pieces, at_rule.prelude)
    }

    pub fn selectors_of(&self, rule: &Rule) -> &[Selector] {
        slice(&self.selectors, rule.selectors)
    }

    pub fn parts_of(&self, selector: &Selector) -> &[SelectorPart] {
        slice(&self.parts, selector.parts)
    }

    /// Reads the content of a `style` element.
    pub fn add_sheet(&mut self, source: &str, content: Span, element: u32) {
        let range = self.tokens(content.of(source), |offset| content.start + offset, Owner::Element(element));
        let context = Context { source, element, at_rule: None, rule: None };
        self.rules(range, context, 0);
    }

    /// Reads the value of a `style` attribute, and returns its place.
    pub fn add_attribute(&mut self, source: &str, value: Span, element: u32) -> Place {
        let text = value.of(source);
        let owner = Owner::Element(element);
        let (first, first_comment) = (self.declarations.len(), self.comments.len());
        let range = if text.contains('&') {
            let (decoded, offsets) = decode(text);
            self.tokens(&decoded, |offset| value.start + source_offset(&offsets, offset), owner)
        } else {
            self.tokens(text, |offset| value.start + offset, owner)
        };
        let mut at = range.start;
        while at < range.end {
            let end = self.until(at, range.end, |kind| kind == TokenKind::Semicolon);
            self.declaration(source, Span { start: at, end }, owner);
            at = end + 1;
        }
        Place {
            start: value.start,
            pieces: range,
            declarations: Span::new(first, self.declarations.len()),
            comments: Span::new(first_comment, self.comments.len()),
        }
    }

    /// Copies the `style` attribute at `place` in `from` (in these sheets if `from` is `None`) to an element whose attribute has the same
    /// text, and returns the place of the copy. `start` is the offset of the copy's value in the source. Many elements of an email share
    /// the same styles, and copying is much faster than reading.
    pub fn copy_attribute(&mut self, from: Option<&Self>, place: Place, start: u32, element: u32) -> Place {
        let owner = Owner::Element(element);
        let moved = |span: Span| Span { start: span.start - place.start + start, end: span.end - place.start + start };
        let (pieces, declarations, comments) = (self.pieces.len(), self.declarations.len(), self.comments.len());
        let first_piece = u32::try_from(pieces).unwrap_or(u32::MAX);
        let position = |at: u32| at - place.pieces.start + first_piece;
        for at in place.pieces.start..place.pieces.end {
            let Some(piece) = from.unwrap_or(&*self).piece(at) else { break };
            let close = if piece.close == 0 { 0 } else { position(piece.close) };
            self.pieces.push(CssToken { span: moved(piece.span), close, ..piece });
        }
        for at in place.declarations.start..place.declarations.end {
            let Some(one) = from.unwrap_or(&*self).declarations.get(at as usize).cloned() else { break };
            self.declarations.push(Declaration {
                name: moved(one.name),
                span: moved(one.span),
                value: Span { start: position(one.value.start), end: position(one.value.end) },
                important: one.important.map(|important| Important { span: moved(important.span), ..important }),
                owner,
                repeats: if from.is_none() { one.repeats.or(Some(at)) } else { None },
            });
        }
        for at in place.comments.start..place.comments.end {
            let Some((span, _)) = from.unwrap_or(&*self).comments.get(at as usize).copied() else { break };
            self.comments.push((moved(span), owner));
        }
        Place {
            start,
            pieces: Span::new(pieces, self.pieces.len()),
            declarations: Span::new(declarations, self.declarations.len()),
            comments: Span::new(comments, self.comments.len()),
        }
    }

    fn tokens(&mut self, text: &str, offset: impl Fn(u32) -> u32, owner: Owner) -> Span {
        let start = self.pieces.len();
        flatten(&mut Parser::new(text), &offset, self, owner, 0);
        Span::new(start, self.pieces.len())
    }

    fn piece(&self, at: u32) -> Option<CssToken> {
        self.pieces.get(at as usize).copied()
    }

    /// Returns the position of the next token outside nested blocks that satisfies `stop`, or `end` if there is none.
    fn until(&self, from: u32, end: u32, stop: impl Fn(TokenKind) -> bool) -> u32 {
        let mut at = from;
        while at < end {
            let Some(piece) = self.piece(at) else { return end };
            if stop(piece.kind) {
                return at;
            }
            at = piece.close.max(at) + 1;
        }
        end
    }

    /// Returns the range of tokens without the spaces and comments at both ends.
    fn trim(&self, mut range: Span) -> Span {
        let blank = |at: u32| self.piece(at).is_some_and(|piece| matches!(piece.kind, TokenKind::Space | TokenKind::Comment));
        while range.start < range.end && blank(range.start) {
            range.start += 1;
        }
        while range.end > range.start && blank(range.end - 1) {
            range.end -= 1;
        }
        range
    }

    /// Returns the part of the source that a range of tokens covers.
    fn covered(&self, range: Span) -> Span {
        let start = self.piece(range.start).map_or(0, |piece| piece.span.start);
        let end = range.end.checked_sub(1).and_then(|at| self.piece(at)).map_or(start, |piece| piece.span.end);
        Span { start, end: end.max(start) }
    }

    /// Reads a list of rules: a sheet, or the block of an at-rule.
    fn rules(&mut self, range: Span, context: Context<'_>, depth: u8) {
        let mut at = range.start;
        while at < range.end && depth < DEPTH_MAX {
            let Some(piece) = self.piece(at) else { return };
            match piece.kind {
                TokenKind::Space | TokenKind::Comment | TokenKind::Semicolon | TokenKind::Bad | TokenKind::Close => at += 1,
                TokenKind::AtKeyword => at = self.at_rule(at, range.end, context, depth),
                _ => {
                    let open = self.until(at, range.end, |kind| kind == TokenKind::Curly);
                    let Some(block) = self.piece(open).filter(|_| open < range.end) else { return };
                    self.rule(Span { start: at, end: open }, block.close, context, depth);
                    at = block.close.max(open) + 1;
                }
            }
        }
    }

    fn at_rule(&mut self, start: u32, end: u32, context: Context<'_>, depth: u8) -> u32 {
        let stop = self.until(start + 1, end, |kind| matches!(kind, TokenKind::Semicolon | TokenKind::Curly));
        let block = self.piece(stop).filter(|piece| stop < end && piece.kind == TokenKind::Curly);
        let last = block.map_or(stop.min(end.saturating_sub(1)), |block| block.close.max(stop));
        let index = u32::try_from(self.at_rules.len()).unwrap_or(u32::MAX);
        let name = self.piece(start).map(|piece| piece.span).unwrap_or_default();
        let prelude = self.trim(Span { start: start + 1, end: stop });
        self.at_rules.push(AtRule {
            name,
            span: self.covered(Span { start, end: last + 1 }),
            prelude,
            has_block: block.is_some(),
            at_rule: context.at_rule,
            nested_in: context.rule,
            element: context.element,
        });
        if block.is_some() {
            let inside = Span { start: stop + 1, end: last };
            let inner = Context { at_rule: Some(index), ..context };
            match name.of(context.source).to_ascii_lowercase().as_str() {
                "@font-face" | "@page" | "@property" | "@counter-style" => {
                    self.body(inside, Owner::AtRule(index), inner, depth + 1)
                }
                // The blocks in `@keyframes` contain declarations, as rules do, but have percentages instead of selectors.
                name if name.ends_with("keyframes") => self.keyframes(inside, index, inner, depth + 1),
                _ if context.rule.is_some() => {
                    self.body(inside, context.rule.map_or(Owner::AtRule(index), Owner::Rule), inner, depth + 1)
                }
                _ => self.rules(inside, inner, depth + 1),
            }
        }
        last + 1
    }

    fn keyframes(&mut self, range: Span, at_rule: u32, context: Context<'_>, depth: u8) {
        let mut at = range.start;
        while at < range.end {
            let open = self.until(at, range.end, |kind| kind == TokenKind::Curly);
            let Some(block) = self.piece(open).filter(|_| open < range.end) else { return };
            self.body(Span { start: open + 1, end: block.close.max(open + 1) }, Owner::AtRule(at_rule), context, depth + 1);
            at = block.close.max(open) + 1;
        }
    }

    fn rule(&mut self, prelude: Span, close: u32, context: Context<'_>, depth: u8) {
        let index = u32::try_from(self.rules.len()).unwrap_or(u32::MAX);
        let prelude = self.trim(prelude);
        let selectors = self.selectors(context.source, prelude);
        self.rules.push(Rule {
            span: self.covered(Span { start: prelude.start, end: close + 1 }),
            prelude: self.covered(prelude),
            selectors,
            at_rule: context.at_rule,
            nested_in: context.rule,
            element: context.element,
        });
        let open = self.until(prelude.end, close, |kind| kind == TokenKind::Curly);
        let inner = Context { rule: Some(index), ..context };
        self.body(Span { start: open + 1, end: close }, Owner::Rule(index), inner, depth + 1);
    }

    /// Reads the body of a rule: declarations, at-rules and nested rules.
    fn body(&mut self, range: Span, owner: Owner, context: Context<'_>, depth: u8) {
        let mut at = range.start;
        while at < range.end && depth < DEPTH_MAX {
            let Some(piece) = self.piece(at) else { return };
            match piece.kind {
                TokenKind::Space | TokenKind::Comment | TokenKind::Semicolon => at += 1,
                TokenKind::AtKeyword => at = self.at_rule(at, range.end, context, depth),
                _ => {
                    let custom = piece.span.of(context.source).starts_with("--");
                    let stop =
                        self.until(at, range.end, |kind| kind == TokenKind::Semicolon || (kind == TokenKind::Curly && !custom));
                    match self.piece(stop).filter(|piece| stop < range.end && piece.kind == TokenKind::Curly) {
                        Some(block) => {
                            self.rule(Span { start: at, end: stop }, block.close, context, depth);
                            at = block.close.max(stop) + 1;
                        }
                        None => {
                            self.declaration(context.source, Span { start: at, end: stop }, owner);
                            at = stop + 1;
                        }
                    }
                }
            }
        }
    }

    fn declaration(&mut self, source: &str, range: Span, owner: Owner) {
        let range = self.trim(range);
        let Some(name) = self.piece(range.start).filter(|piece| piece.kind == TokenKind::Ident && range.start < range.end) else {
            return;
        };
        let mut colon = range.start + 1;
        while self.piece(colon).is_some_and(|piece| matches!(piece.kind, TokenKind::Space | TokenKind::Comment)) {
            colon += 1;
        }
        if colon >= range.end || self.piece(colon).is_none_or(|piece| piece.kind != TokenKind::Colon) {
            return;
        }
        let value = self.trim(Span { start: colon + 1, end: range.end });
        if value.start >= value.end {
            return;
        }
        let important = self.important(source, value);
        let value = match important {
            Some((at, _)) => self.trim(Span { start: value.start, end: at }),
            None => value,
        };
        let important = important.map(|(_, important)| important);
        let span = self.covered(range);
        self.declarations.push(Declaration { name: name.span, span, value, important, owner, repeats: None });
    }

    /// Returns the `!important` annotation at the end of a value, and the position of its exclamation mark.
    fn important(&self, source: &str, value: Span) -> Option<(u32, Important)> {
        let last = self.piece(value.end - 1).filter(|last| last.kind == TokenKind::Ident && last.is(source, "important"))?;
        let mut at = value.end - 1;
        while at > value.start {
            at -= 1;
            let piece = self.piece(at)?;
            match piece.kind {
                TokenKind::Space | TokenKind::Comment => {}
                TokenKind::Delim('!') => {
                    let before = at.checked_sub(1).and_then(|before| self.piece(before));
                    return Some((
                        at,
                        Important {
                            span: Span { start: piece.span.start, end: last.span.end },
                            space_before: before.is_some_and(|before| before.kind == TokenKind::Space),
                            lowercase: last.span.of(source) == "important",
                        },
                    ));
                }
                _ => return None,
            }
        }
        None
    }
}

#[derive(Clone, Copy)]
struct Context<'a> {
    source: &'a str,
    element: u32,
    at_rule: Option<u32>,
    rule: Option<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet(source: &str) -> Sheets {
        let mut sheets = Sheets::default();
        sheets.add_sheet(source, Span::new(0, source.len()), 0);
        sheets
    }

    #[test]
    fn rules_at_any_level_have_their_declarations() {
        let source = concat!(
            "@media screen { @supports (a: b) { p > .a, b { color: red; & i { margin: 0 ! Important } top: 1px } } } ",
            "q { --x: {}; left: 0 }"
        );
        let sheets = sheet(source);
        let preludes: Vec<&str> = sheets.rules.iter().map(|rule| rule.prelude.of(source)).collect();
        assert_eq!(preludes, ["p > .a, b", "& i", "q"]);
        let declarations: Vec<(&str, Owner)> = sheets.declarations.iter().map(|one| (one.span.of(source), one.owner)).collect();
        let expected = [
            ("color: red", Owner::Rule(0)),
            ("margin: 0 ! Important", Owner::Rule(1)),
            ("top: 1px", Owner::Rule(0)),
            ("--x: {}", Owner::Rule(2)),
            ("left: 0", Owner::Rule(2)),
        ];
        assert_eq!(declarations, expected);
        let important = sheets.declarations[1].important.expect("the declaration is important");
        assert!(important.space_before && !important.lowercase);
        assert_eq!((sheets.at_rules[1].at_rule, sheets.rules[0].at_rule, sheets.rules[1].nested_in), (Some(0), Some(1), Some(0)));
    }

    #[test]
    fn selectors_are_split_into_parts() {
        let source = "a.b#c:hover > [d^='e'] ~ *::before, f + g:not(.h) i { }";
        let sheets = sheet(source);
        let parts = |index: usize| {
            let parts = sheets.parts_of(&sheets.selectors[index]).iter();
            parts.map(|part| (part.part, part.name.of(source))).collect::<Vec<_>>()
        };
        let first = [
            (Part::Type, "a"),
            (Part::Class, "b"),
            (Part::Id, "c"),
            (Part::PseudoClass, "hover"),
            (Part::Child, ">"),
            (Part::Attribute('^'), "d"),
            (Part::GeneralSibling, "~"),
            (Part::Universal, "*"),
            (Part::PseudoElement, "before"),
        ];
        assert_eq!(parts(0), first);
        let second = [
            (Part::Type, "f"),
            (Part::AdjacentSibling, "+"),
            (Part::Type, "g"),
            (Part::PseudoClass, "not"),
            (Part::Descendant, " "),
            (Part::Type, "i"),
        ];
        assert_eq!(parts(1), second);
    }

    #[test]
    fn character_references_in_attributes_keep_positions() {
        let source = "font-family:&quot;A;B&quot;;color:red";
        let mut sheets = Sheets::default();
        sheets.add_attribute(source, Span::new(0, source.len()), 0);
        let declarations: Vec<&str> = sheets.declarations.iter().map(|one| one.span.of(source)).collect();
        assert_eq!(declarations, ["font-family:&quot;A;B&quot;", "color:red"]);
    }

    #[test]
    fn a_copied_attribute_is_like_one_that_was_read() {
        let text = "font-family:&quot;A;B&quot;;color:rgb(1 2 calc(3)) !important;/* x */ background:url(a.png)";
        let source = format!("{text} {text}");
        let (first, second) = (Span::new(0, text.len()), Span::new(text.len() + 1, source.len()));
        let mut read = Sheets::default();
        read.add_attribute(&source, first, 0);
        let place = read.add_attribute(&source, second, 1);
        let expected = format!("{read:?}");
        let mut copied = Sheets::default();
        let own = copied.add_attribute(&source, first, 0);
        copied.copy_attribute(None, own, second.start, 1);
        let repeats: Vec<Option<u32>> = copied.declarations.iter().map(|one| one.repeats).collect();
        assert_eq!(repeats, [None, None, None, Some(0), Some(1), Some(2)]);
        copied.declarations.iter_mut().for_each(|one| one.repeats = None);
        assert_eq!(format!("{copied:?}"), expected);
        let mut other = Sheets::default();
        other.copy_attribute(Some(&read), place, first.start, 0);
        other.copy_attribute(Some(&read), place, second.start, 1);
        assert_eq!(format!("{other:?}"), expected);
    }
}
