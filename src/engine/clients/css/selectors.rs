//! Splits selectors into their parts.

use super::{CssToken, Part, Selector, SelectorPart, Sheets, TokenKind};
use crate::base::source::Span;

impl Sheets {
    /// Reads the selectors of a rule, and returns their positions in [`Sheets::selectors`].
    pub(super) fn selectors(&mut self, source: &str, prelude: Span) -> Span {
        let first = self.selectors.len();
        let mut at = prelude.start;
        while at < prelude.end {
            let comma = self.until(at, prelude.end, |kind| kind == TokenKind::Comma);
            let range = self.trim(Span { start: at, end: comma });
            let parts_start = self.parts.len();
            self.selector(source, range);
            self.selectors.push(Selector { span: self.covered(range), parts: Span::new(parts_start, self.parts.len()) });
            at = comma + 1;
        }
        Span::new(first, self.selectors.len())
    }

    fn selector(&mut self, source: &str, range: Span) {
        let mut at = range.start;
        let mut combinator: Option<SelectorPart> = None;
        let mut after_compound = false;
        while at < range.end {
            let Some(piece) = self.piece(at) else { return };
            let (part, next) = match piece.kind {
                TokenKind::Comment => (None, at + 1),
                TokenKind::Space => (after_compound.then_some((Part::Descendant, piece.span)), at + 1),
                TokenKind::Delim('>') => (Some((Part::Child, piece.span)), at + 1),
                TokenKind::Delim('+') => (Some((Part::AdjacentSibling, piece.span)), at + 1),
                TokenKind::Delim('~') => (Some((Part::GeneralSibling, piece.span)), at + 1),
                _ => {
                    self.parts.extend(combinator.take());
                    after_compound = true;
                    at = self.simple(source, at, range.end);
                    continue;
                }
            };
            if let Some((part, span)) = part {
                let found = SelectorPart { part, span, name: span, value: Span::default() };
                if part != Part::Descendant || combinator.is_none() {
                    combinator = Some(found);
                }
            }
            at = next;
        }
    }

    /// Reads a type, class, ID, attribute or pseudo-class selector at a position, and returns the position after it.
    fn simple(&mut self, source: &str, at: u32, end: u32) -> u32 {
        let Some(piece) = self.piece(at) else { return end };
        let following = |offset: u32| self.piece(at + offset).filter(|_| at + offset < end);
        let name_of = |piece: CssToken| Span {
            start: piece.span.start,
            end: piece.span.start + u32::try_from(piece.name(source).len()).unwrap_or(0),
        };
        let mut value = Span::default();
        let (part, name, next) = match piece.kind {
            TokenKind::Ident => (Part::Type, piece.span, at + 1),
            TokenKind::Delim('*') => (Part::Universal, piece.span, at + 1),
            TokenKind::Delim('&') => (Part::Nesting, piece.span, at + 1),
            TokenKind::Hash => (Part::Id, Span { start: piece.span.start + 1, end: piece.span.end }, at + 1),
            TokenKind::Delim('.') => match following(1) {
                Some(class) if class.kind == TokenKind::Ident => (Part::Class, class.span, at + 2),
                _ => return at + 1,
            },
            TokenKind::Square => {
                let (name, operator, text) = self.attribute_selector(Span { start: at + 1, end: piece.close });
                value = text;
                (Part::Attribute(operator), name, piece.close.max(at) + 1)
            }
            TokenKind::Colon => {
                let double = following(1).is_some_and(|piece| piece.kind == TokenKind::Colon);
                let offset = if double { 2 } else { 1 };
                let Some(named) = following(offset).filter(|piece| matches!(piece.kind, TokenKind::Ident | TokenKind::Function))
                else {
                    return at + 1;
                };
                let legacy = ["before", "after", "first-line", "first-letter"].iter().any(|name| named.is(source, name));
                let part = if double || legacy { Part::PseudoElement } else { Part::PseudoClass };
                (part, name_of(named), named.close.max(at + offset) + 1)
            }
            _ => return piece.close.max(at) + 1,
        };
        let span = self.covered(Span { start: at, end: next });
        self.parts.push(SelectorPart { part, span, name, value });
        next
    }

    fn attribute_selector(&self, inside: Span) -> (Span, char, Span) {
        let mut name = Span::default();
        let mut operator = ' ';
        for at in inside.start..inside.end.max(inside.start) {
            let Some(piece) = self.piece(at) else { break };
            match piece.kind {
                TokenKind::Ident if name == Span::default() => name = piece.span,
                TokenKind::Delim('=') => operator = '=',
                TokenKind::Match(one) => operator = one,
                TokenKind::Ident if operator != ' ' => return (name, operator, piece.span),
                TokenKind::Text if operator != ' ' => {
                    let inner =
                        Span { start: piece.span.start + 1, end: piece.span.end.saturating_sub(1).max(piece.span.start + 1) };
                    return (name, operator, inner);
                }
                _ => {}
            }
        }
        (name, operator, Span::default())
    }
}
