//! Splits CSS into tokens with positions in the source.

use cssparser::{ParseError, Parser, Token};

use super::{DEPTH_MAX, Owner, Sheets};
use crate::base::source::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
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
    /// A match operator of attribute selectors: `~=`, `|=`, `^=`, `$=` or `*=`.
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
pub struct CssToken {
    pub kind: TokenKind,
    pub span: Span,
    /// The value of a number, percentage (from 0 to 1) or dimension.
    pub number: f32,
    /// For an opening token, the index in `Sheets::pieces` of the token that closes it; otherwise 0.
    pub close: u32,
}

impl CssToken {
    /// Returns the name of an identifier, at-keyword or function.
    pub fn name<'s>(&self, source: &'s str) -> &'s str {
        let text = self.span.of(source);
        match self.kind {
            TokenKind::AtKeyword | TokenKind::Hash => text.get(1..).unwrap_or_default(),
            TokenKind::Function => text.strip_suffix('(').unwrap_or(text),
            _ => text,
        }
    }

    /// Returns whether the token is an identifier, at-keyword or function of this name.
    pub fn is(&self, source: &str, name: &str) -> bool {
        self.name(source).eq_ignore_ascii_case(name)
    }

    pub fn unit<'s>(&self, source: &'s str) -> &'s str {
        let text = self.span.of(source);
        let digits = text.trim_start_matches(|one: char| one.is_ascii_digit() || matches!(one, '.' | '+' | '-'));
        match digits.strip_prefix(['e', 'E']) {
            // Skip the exponent of a number such as 1e3px.
            Some(rest) if rest.starts_with(|one: char| one.is_ascii_digit() || matches!(one, '+' | '-')) => {
                rest.trim_start_matches(|one: char| one.is_ascii_digit() || matches!(one, '+' | '-'))
            }
            _ => digits,
        }
    }
}

/// Adds the tokens of `input` to `sheets`. The content of a block follows the token that opens the block.
pub(super) fn flatten(input: &mut Parser<'_>, offset: &impl Fn(u32) -> u32, sheets: &mut Sheets, owner: Owner, depth: u8) {
    loop {
        let start = input.position().byte_index();
        let Ok(token) = input.next_including_whitespace_and_comments() else { return };
        let (kind, number) = kind(token);
        let end = input.position().byte_index();
        let at = |index: usize| offset(u32::try_from(index).unwrap_or(u32::MAX));
        let span = Span { start: at(start), end: at(end) };
        if kind == TokenKind::Comment {
            sheets.comments.push((span, owner));
        }
        let index = sheets.pieces.len();
        sheets.pieces.push(CssToken { kind, span, number, close: 0 });
        if !matches!(kind, TokenKind::Function | TokenKind::Parenthesis | TokenKind::Square | TokenKind::Curly) {
            continue;
        }
        if depth < DEPTH_MAX {
            let _: Result<(), ParseError<()>> = input.parse_nested_block(|inner| {
                flatten(inner, offset, sheets, owner, depth + 1);
                Ok(())
            });
        } else {
            // This call makes the parser skip the rest of the block.
            input.skip_whitespace();
        }
        let closed = input.position().byte_index();
        let close = u32::try_from(sheets.pieces.len()).unwrap_or(u32::MAX);
        let closing = Span { start: at(closed.saturating_sub(1).max(end)), end: at(closed.max(end)) };
        sheets.pieces.push(CssToken { kind: TokenKind::Close, span: closing, number: 0.0, close: 0 });
        if let Some(piece) = sheets.pieces.get_mut(index) {
            piece.close = close;
        }
    }
}

fn kind(token: &Token<'_>) -> (TokenKind, f32) {
    let kind = match token {
        Token::Ident(_) => TokenKind::Ident,
        Token::AtKeyword(_) => TokenKind::AtKeyword,
        Token::Hash(_) | Token::IDHash(_) => TokenKind::Hash,
        Token::QuotedString(_) => TokenKind::Text,
        Token::UnquotedUrl(_) => TokenKind::Url,
        Token::Delim(one) => TokenKind::Delim(*one),
        Token::Number { value, .. } => return (TokenKind::Number, *value),
        Token::Percentage { unit_value, .. } => return (TokenKind::Percentage, *unit_value),
        Token::Dimension { value, .. } => return (TokenKind::Dimension, *value),
        Token::WhiteSpace(_) | Token::CDO | Token::CDC => TokenKind::Space,
        Token::Comment(_) => TokenKind::Comment,
        Token::Colon => TokenKind::Colon,
        Token::Semicolon => TokenKind::Semicolon,
        Token::Comma => TokenKind::Comma,
        Token::IncludeMatch => TokenKind::Match('~'),
        Token::DashMatch => TokenKind::Match('|'),
        Token::PrefixMatch => TokenKind::Match('^'),
        Token::SuffixMatch => TokenKind::Match('$'),
        Token::SubstringMatch => TokenKind::Match('*'),
        Token::Function(_) => TokenKind::Function,
        Token::ParenthesisBlock => TokenKind::Parenthesis,
        Token::SquareBracketBlock => TokenKind::Square,
        Token::CurlyBracketBlock => TokenKind::Curly,
        Token::BadUrl(_)
        | Token::BadString(_)
        | Token::CloseParenthesis
        | Token::CloseSquareBracket
        | Token::CloseCurlyBracket => TokenKind::Bad,
    };
    (kind, 0.0)
}

/// Decodes the character references that are common in `style` attributes. Returns the decoded text, and pairs that map offsets in the
/// decoded text to offsets in `text`.
pub(super) fn decode(text: &str) -> (String, Vec<(u32, u32)>) {
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

pub(super) fn source_offset(offsets: &[(u32, u32)], offset: u32) -> u32 {
    let index = offsets.partition_point(|(decoded, _)| *decoded <= offset).saturating_sub(1);
    offsets.get(index).map_or(offset, |(decoded, source)| source + (offset - decoded.min(&offset)))
}
