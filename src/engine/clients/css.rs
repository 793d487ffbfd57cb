//! Reads style sheets and `style` attributes into at-rules, rules, selectors and declarations with the byte ranges of all parts.
//!
//! cssparser splits the text into tokens. The structure is read from the tokens, at any nesting level up to a limit.

use cssparser::{ParseError, Parser, Token};

use super::source::Span;

/// The nesting depth of blocks and functions from which content is skipped.
const DEPTH_MAX: u8 = 40;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Ident,
    AtKeyword,
    Hash,
    Text,
    Url,
    Number,
    Percentage,
    Dimension,
    Space,
    Comment,
    Colon,
    Semicolon,
    Comma,
    Delim(char),
    /// `~=`, `|=`, `^=`, `$=` or `*=`.
    Match(char),
    Function,
    Parenthesis,
    Square,
    Curly,
    Close,
    Bad,
}

/// A token of a style sheet.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub kind: Kind,
    pub span: Span,
    /// The value of a number, percentage (from 0 to 1) or dimension.
    pub number: f32,
    /// For an opening token, the position of the token that closes it.
    pub close: u32,
}

impl Piece {
    /// Returns the name of an identifier, at-keyword or function.
    pub fn name<'s>(&self, source: &'s str) -> &'s str {
        let text = self.span.of(source);
        match self.kind {
            Kind::AtKeyword | Kind::Hash => text.get(1..).unwrap_or_default(),
            Kind::Function => text.strip_suffix('(').unwrap_or(text),
            _ => text,
        }
    }

    /// Whether the token is an identifier, at-keyword or function of this name.
    pub fn is(&self, source: &str, name: &str) -> bool {
        self.name(source).eq_ignore_ascii_case(name)
    }

    /// Returns the unit of a dimension.
    pub fn unit<'s>(&self, source: &'s str) -> &'s str {
        let text = self.span.of(source);
        let digits = text.trim_start_matches(|one: char| one.is_ascii_digit() || matches!(one, '.' | '+' | '-'));
        match digits.strip_prefix(['e', 'E']) {
            // The exponent of a number such as 1e3px.
            Some(rest) if rest.starts_with(|one: char| one.is_ascii_digit() || matches!(one, '+' | '-')) => {
                rest.trim_start_matches(|one: char| one.is_ascii_digit() || matches!(one, '+' | '-'))
            }
            _ => digits,
        }
    }
}

/// What a declaration belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A position in [`Sheets::rules`].
    Rule(u32),
    /// A position in [`Sheets::at_rules`], such as `@font-face`.
    AtRule(u32),
    /// The element whose `style` attribute contains it.
    Element(u32),
}

/// `!important`.
#[derive(Clone, Copy, Debug)]
pub struct Important {
    pub span: Span,
    pub space_before: bool,
    pub lowercase: bool,
}

/// A declaration `name: value`.
#[derive(Clone, Debug)]
pub struct Declaration {
    pub name: Span,
    pub span: Span,
    /// The positions of the value's tokens in [`Sheets::pieces`].
    pub value: Span,
    pub important: Option<Important>,
    pub owner: Owner,
}

/// A style rule.
#[derive(Clone, Debug)]
pub struct Rule {
    pub span: Span,
    pub prelude: Span,
    /// The positions of its selectors in [`Sheets::selectors`].
    pub selectors: Span,
    /// The innermost at-rule around it.
    pub at_rule: Option<u32>,
    /// The rule in which it is nested.
    pub nested_in: Option<u32>,
    /// The element whose content or attribute the sheet is.
    pub element: u32,
    /// The positions of its declarations in [`Sheets::declarations`].
    pub declarations: Span,
}

/// An at-rule.
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

/// A part of a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Type,
    Universal,
    Class,
    Id,
    /// The operator is a space if there is none.
    Attribute(char),
    PseudoClass,
    PseudoElement,
    Nesting,
    Descendant,
    Child,
    AdjacentSibling,
    GeneralSibling,
}

/// A part of a selector, with its range. The range of a class, ID or pseudo-class includes its punctuation.
#[derive(Clone, Copy, Debug)]
pub struct SelectorPart {
    pub part: Part,
    pub span: Span,
    /// The name of a type, class, ID, attribute or pseudo-class.
    pub name: Span,
    /// The value of an attribute selector.
    pub value: Span,
}

/// A selector without commas.
#[derive(Clone, Debug)]
pub struct Selector {
    pub span: Span,
    /// The positions of its parts in [`Sheets::parts`].
    pub parts: Span,
}

/// All style sheets and `style` attributes of an email.
#[derive(Debug, Default)]
pub struct Sheets {
    pub pieces: Vec<Piece>,
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
    pub fn value(&self, declaration: &Declaration) -> &[Piece] {
        slice(&self.pieces, declaration.value)
    }

    pub fn prelude(&self, at_rule: &AtRule) -> &[Piece] {
        slice(&self.pieces, at_rule.prelude)
    }

    pub fn selectors_of(&self, rule: &Rule) -> &[Selector] {
        slice(&self.selectors, rule.selectors)
    }

    pub fn parts_of(&self, selector: &Selector) -> &[SelectorPart] {
        slice(&self.parts, selector.parts)
    }

    pub fn declarations_of(&self, rule: &Rule) -> &[Declaration] {
        slice(&self.declarations, rule.declarations)
    }

    /// Reads the content of a `style` element.
    pub fn add_sheet(&mut self, source: &str, content: Span, element: u32) {
        let range = self.tokens(content.of(source), |offset| content.start + offset, Owner::Element(element));
        let context = Context { source, element, at_rule: None, rule: None };
        self.rules(range, context, 0);
    }

    /// Reads the value of a `style` attribute.
    pub fn add_attribute(&mut self, source: &str, value: Span, element: u32) {
        let text = value.of(source);
        let owner = Owner::Element(element);
        let range = if text.contains('&') {
            let (decoded, offsets) = decode(text);
            self.tokens(&decoded, |offset| value.start + source_offset(&offsets, offset), owner)
        } else {
            self.tokens(text, |offset| value.start + offset, owner)
        };
        let mut at = range.start;
        while at < range.end {
            let end = self.until(at, range.end, |kind| kind == Kind::Semicolon);
            self.declaration(source, Span { start: at, end }, owner);
            at = end + 1;
        }
    }

    fn tokens(&mut self, text: &str, offset: impl Fn(u32) -> u32, owner: Owner) -> Span {
        let start = self.pieces.len();
        flatten(&mut Parser::new(text), &offset, self, owner, 0);
        Span::new(start, self.pieces.len())
    }

    fn piece(&self, at: u32) -> Option<Piece> {
        self.pieces.get(at as usize).copied()
    }

    /// Returns the position of the next token of a kind, outside of blocks, or `end`.
    fn until(&self, from: u32, end: u32, stop: impl Fn(Kind) -> bool) -> u32 {
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

    /// Returns the range of tokens without spaces and comments at both ends.
    fn trim(&self, mut range: Span) -> Span {
        let blank = |at: u32| self.piece(at).is_some_and(|piece| matches!(piece.kind, Kind::Space | Kind::Comment));
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
                Kind::Space | Kind::Comment | Kind::Semicolon | Kind::Bad | Kind::Close => at += 1,
                Kind::AtKeyword => at = self.at_rule(at, range.end, context, depth),
                _ => {
                    let open = self.until(at, range.end, |kind| kind == Kind::Curly);
                    let Some(block) = self.piece(open).filter(|_| open < range.end) else { return };
                    self.rule(Span { start: at, end: open }, block.close, context, depth);
                    at = block.close.max(open) + 1;
                }
            }
        }
    }

    fn at_rule(&mut self, start: u32, end: u32, context: Context<'_>, depth: u8) -> u32 {
        let stop = self.until(start + 1, end, |kind| matches!(kind, Kind::Semicolon | Kind::Curly));
        let block = self.piece(stop).filter(|piece| stop < end && piece.kind == Kind::Curly);
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
                // The blocks of keyframes have declarations, but their selectors are percentages.
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
            let open = self.until(at, range.end, |kind| kind == Kind::Curly);
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
            declarations: Span::default(),
        });
        let first = self.declarations.len();
        let open = self.until(prelude.end, close, |kind| kind == Kind::Curly);
        let inner = Context { rule: Some(index), ..context };
        self.body(Span { start: open + 1, end: close }, Owner::Rule(index), inner, depth + 1);
        let declarations = Span::new(first, self.declarations.len());
        if let Some(rule) = self.rules.get_mut(index as usize) {
            rule.declarations = declarations;
        }
    }

    /// Reads the body of a rule: declarations, at-rules and nested rules.
    fn body(&mut self, range: Span, owner: Owner, context: Context<'_>, depth: u8) {
        let mut at = range.start;
        while at < range.end && depth < DEPTH_MAX {
            let Some(piece) = self.piece(at) else { return };
            match piece.kind {
                Kind::Space | Kind::Comment | Kind::Semicolon => at += 1,
                Kind::AtKeyword => at = self.at_rule(at, range.end, context, depth),
                _ => {
                    let custom = piece.span.of(context.source).starts_with("--");
                    let stop = self.until(at, range.end, |kind| kind == Kind::Semicolon || (kind == Kind::Curly && !custom));
                    match self.piece(stop).filter(|piece| stop < range.end && piece.kind == Kind::Curly) {
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
        let Some(name) = self.piece(range.start).filter(|piece| piece.kind == Kind::Ident && range.start < range.end) else {
            return;
        };
        let mut colon = range.start + 1;
        while self.piece(colon).is_some_and(|piece| matches!(piece.kind, Kind::Space | Kind::Comment)) {
            colon += 1;
        }
        if colon >= range.end || self.piece(colon).is_none_or(|piece| piece.kind != Kind::Colon) {
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
        self.declarations.push(Declaration { name: name.span, span: self.covered(range), value, important, owner });
    }

    /// Returns `!important` at the end of a value, and the position of the exclamation mark.
    fn important(&self, source: &str, value: Span) -> Option<(u32, Important)> {
        let last = self.piece(value.end - 1).filter(|last| last.kind == Kind::Ident && last.is(source, "important"))?;
        let mut at = value.end - 1;
        while at > value.start {
            at -= 1;
            let piece = self.piece(at)?;
            match piece.kind {
                Kind::Space | Kind::Comment => {}
                Kind::Delim('!') => {
                    let before = at.checked_sub(1).and_then(|before| self.piece(before));
                    return Some((
                        at,
                        Important {
                            span: Span { start: piece.span.start, end: last.span.end },
                            space_before: before.is_some_and(|before| before.kind == Kind::Space),
                            lowercase: last.span.of(source) == "important",
                        },
                    ));
                }
                _ => return None,
            }
        }
        None
    }

    fn selectors(&mut self, source: &str, prelude: Span) -> Span {
        let first = self.selectors.len();
        let mut at = prelude.start;
        while at < prelude.end {
            let comma = self.until(at, prelude.end, |kind| kind == Kind::Comma);
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
                Kind::Comment => (None, at + 1),
                Kind::Space => (after_compound.then_some((Part::Descendant, piece.span)), at + 1),
                Kind::Delim('>') => (Some((Part::Child, piece.span)), at + 1),
                Kind::Delim('+') => (Some((Part::AdjacentSibling, piece.span)), at + 1),
                Kind::Delim('~') => (Some((Part::GeneralSibling, piece.span)), at + 1),
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

    /// Reads a type, class, ID, attribute or pseudo-class at a position, and returns the position after it.
    fn simple(&mut self, source: &str, at: u32, end: u32) -> u32 {
        let Some(piece) = self.piece(at) else { return end };
        let following = |offset: u32| self.piece(at + offset).filter(|_| at + offset < end);
        let name_of = |piece: Piece| Span {
            start: piece.span.start,
            end: piece.span.start + u32::try_from(piece.name(source).len()).unwrap_or(0),
        };
        let mut value = Span::default();
        let (part, name, next) = match piece.kind {
            Kind::Ident => (Part::Type, piece.span, at + 1),
            Kind::Delim('*') => (Part::Universal, piece.span, at + 1),
            Kind::Delim('&') => (Part::Nesting, piece.span, at + 1),
            Kind::Hash => (Part::Id, Span { start: piece.span.start + 1, end: piece.span.end }, at + 1),
            Kind::Delim('.') => match following(1) {
                Some(class) if class.kind == Kind::Ident => (Part::Class, class.span, at + 2),
                _ => return at + 1,
            },
            Kind::Square => {
                let (name, operator, text) = self.attribute_selector(Span { start: at + 1, end: piece.close });
                value = text;
                (Part::Attribute(operator), name, piece.close.max(at) + 1)
            }
            Kind::Colon => {
                let double = following(1).is_some_and(|piece| piece.kind == Kind::Colon);
                let offset = if double { 2 } else { 1 };
                let Some(named) = following(offset).filter(|piece| matches!(piece.kind, Kind::Ident | Kind::Function)) else {
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
                Kind::Ident if name == Span::default() => name = piece.span,
                Kind::Delim('=') => operator = '=',
                Kind::Match(one) => operator = one,
                Kind::Ident if operator != ' ' => return (name, operator, piece.span),
                Kind::Text if operator != ' ' => {
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

#[derive(Clone, Copy)]
struct Context<'a> {
    source: &'a str,
    element: u32,
    at_rule: Option<u32>,
    rule: Option<u32>,
}

/// Adds the tokens of a text, with the content of blocks after the token that opens them.
fn flatten(input: &mut Parser<'_>, offset: &impl Fn(u32) -> u32, sheets: &mut Sheets, owner: Owner, depth: u8) {
    loop {
        let start = input.position().byte_index();
        let Ok(token) = input.next_including_whitespace_and_comments() else { return };
        let (kind, number) = kind(token);
        let end = input.position().byte_index();
        let at = |index: usize| offset(u32::try_from(index).unwrap_or(u32::MAX));
        let span = Span { start: at(start), end: at(end) };
        if kind == Kind::Comment {
            sheets.comments.push((span, owner));
        }
        let index = sheets.pieces.len();
        sheets.pieces.push(Piece { kind, span, number, close: 0 });
        if !matches!(kind, Kind::Function | Kind::Parenthesis | Kind::Square | Kind::Curly) {
            continue;
        }
        if depth < DEPTH_MAX {
            let _: Result<(), ParseError<()>> = input.parse_nested_block(|inner| {
                flatten(inner, offset, sheets, owner, depth + 1);
                Ok(())
            });
        } else {
            // The parser skips the block before the next token.
            input.skip_whitespace();
        }
        let closed = input.position().byte_index();
        let close = u32::try_from(sheets.pieces.len()).unwrap_or(u32::MAX);
        let closing = Span { start: at(closed.saturating_sub(1).max(end)), end: at(closed.max(end)) };
        sheets.pieces.push(Piece { kind: Kind::Close, span: closing, number: 0.0, close: 0 });
        if let Some(piece) = sheets.pieces.get_mut(index) {
            piece.close = close;
        }
    }
}

fn kind(token: &Token<'_>) -> (Kind, f32) {
    let kind = match token {
        Token::Ident(_) => Kind::Ident,
        Token::AtKeyword(_) => Kind::AtKeyword,
        Token::Hash(_) | Token::IDHash(_) => Kind::Hash,
        Token::QuotedString(_) => Kind::Text,
        Token::UnquotedUrl(_) => Kind::Url,
        Token::Delim(one) => Kind::Delim(*one),
        Token::Number { value, .. } => return (Kind::Number, *value),
        Token::Percentage { unit_value, .. } => return (Kind::Percentage, *unit_value),
        Token::Dimension { value, .. } => return (Kind::Dimension, *value),
        Token::WhiteSpace(_) | Token::CDO | Token::CDC => Kind::Space,
        Token::Comment(_) => Kind::Comment,
        Token::Colon => Kind::Colon,
        Token::Semicolon => Kind::Semicolon,
        Token::Comma => Kind::Comma,
        Token::IncludeMatch => Kind::Match('~'),
        Token::DashMatch => Kind::Match('|'),
        Token::PrefixMatch => Kind::Match('^'),
        Token::SuffixMatch => Kind::Match('$'),
        Token::SubstringMatch => Kind::Match('*'),
        Token::Function(_) => Kind::Function,
        Token::ParenthesisBlock => Kind::Parenthesis,
        Token::SquareBracketBlock => Kind::Square,
        Token::CurlyBracketBlock => Kind::Curly,
        Token::BadUrl(_)
        | Token::BadString(_)
        | Token::CloseParenthesis
        | Token::CloseSquareBracket
        | Token::CloseCurlyBracket => Kind::Bad,
    };
    (kind, 0.0)
}

/// Replaces the character references that occur in `style` attributes. Returns the text, and pairs of an offset in it and in the source.
fn decode(text: &str) -> (String, Vec<(u32, u32)>) {
    let mut decoded = String::with_capacity(text.len());
    let mut offsets = vec![(0, 0)];
    let mut rest = text;
    while let Some(found) = rest.find('&') {
        let (before, reference) = rest.split_at(found);
        decoded.push_str(before);
        let known = [
            ("&quot;", '"'),
            ("&#34;", '"'),
            ("&#39;", '\''),
            ("&#x27;", '\''),
            ("&apos;", '\''),
            ("&amp;", '&'),
            ("&lt;", '<'),
            ("&gt;", '>'),
            ("&nbsp;", ' '),
        ];
        let (length, character) = known
            .iter()
            .find(|(name, _)| reference.starts_with(name))
            .map_or((1, '&'), |(name, character)| (name.len(), *character));
        decoded.push(character);
        rest = reference.get(length..).unwrap_or_default();
        let pair = (decoded.len(), text.len() - rest.len());
        offsets.push((u32::try_from(pair.0).unwrap_or(u32::MAX), u32::try_from(pair.1).unwrap_or(u32::MAX)));
    }
    decoded.push_str(rest);
    (decoded, offsets)
}

fn source_offset(offsets: &[(u32, u32)], offset: u32) -> u32 {
    let index = offsets.partition_point(|(decoded, _)| *decoded <= offset).saturating_sub(1);
    offsets.get(index).map_or(offset, |(decoded, source)| source + (offset - decoded.min(&offset)))
}
