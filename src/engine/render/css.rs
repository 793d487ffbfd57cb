//! Splits style sheets into rules and declarations, and replaces URLs and colors in values, according to the CSS syntax.
//!
//! This module handles the syntax, not the meaning of properties: callers decide what to keep or change. Invalid syntax is dropped, as in
//! browsers.

use cssparser::{Delimiter, ParseError, Parser, Token, serialize_string};

use crate::base::color;
use crate::base::text::Color;

/// An at-rule or a style rule of a style sheet.
#[derive(Debug, PartialEq)]
pub enum CssRule<'a> {
    /// An at-rule `@name prelude;` or `@name prelude { body }`, with the name in lowercase.
    At {
        name: String,
        prelude: &'a str,
        body: Option<&'a str>,
    },
    Rule {
        selectors: &'a str,
        body: &'a str,
    },
}

/// A declaration `name: value`. The name is in lowercase, unless it is the name of a custom property.
#[derive(Debug, PartialEq)]
pub struct Declaration<'a> {
    pub name: String,
    pub value: &'a str,
    pub important: bool,
}

type Nothing = Result<(), ParseError<()>>;

/// Returns the style rules and at-rules of a style sheet or of an at-rule's body, such as the body of `@media`.
pub fn pieces(css: &str) -> Vec<CssRule<'_>> {
    let mut input = Parser::new(css);
    let mut pieces = Vec::new();
    loop {
        input.skip_whitespace();
        let start = input.position();
        let name = match input.next() {
            Err(_) => return pieces,
            Ok(Token::CDO | Token::CDC | Token::Semicolon) => continue,
            Ok(Token::AtKeyword(name)) => Some(name.to_ascii_lowercase()),
            Ok(Token::CurlyBracketBlock) => {
                block(&mut input);
                continue;
            }
            Ok(_) => None,
        };
        let Some(name) = name else {
            let _: Nothing = input.parse_until_before(Delimiter::CurlyBracketBlock, drain);
            let selectors = input.slice_from(start).trim();
            if input.next().is_ok() {
                pieces.push(CssRule::Rule { selectors, body: block(&mut input) });
            }
            continue;
        };
        let start = input.position();
        let _: Nothing = input.parse_until_before(Delimiter::Semicolon | Delimiter::CurlyBracketBlock, drain);
        let prelude = input.slice_from(start).trim();
        let opens = matches!(input.next(), Ok(Token::CurlyBracketBlock));
        let body = opens.then(|| block(&mut input));
        pieces.push(CssRule::At { name, prelude, body });
    }
}

fn drain(input: &mut Parser<'_>) -> Nothing {
    while input.next_including_whitespace_and_comments().is_ok() {}
    Ok(())
}

/// Returns the content of the block whose opening bracket was just read.
fn block<'a>(input: &mut Parser<'a>) -> &'a str {
    let inside = input.parse_nested_block(|inner| -> Result<&'a str, ParseError<()>> {
        let start = inner.position();
        drain(inner)?;
        Ok(inner.slice_from(start))
    });
    inside.unwrap_or_default()
}

/// Returns the declarations of a rule's body or of a `style` attribute, excluding nested rules.
pub fn declarations(body: &str) -> Vec<Declaration<'_>> {
    let mut input = Parser::new(body);
    let mut found = Vec::new();
    while !input.is_exhausted() {
        let one = input.parse_until_after(Delimiter::Semicolon, |input| -> Result<Declaration<'_>, ParseError<()>> {
            let name = input.expect_ident_cloned()?;
            input.expect_colon()?;
            input.skip_whitespace();
            let start = input.position();
            loop {
                match input.next_including_whitespace_and_comments() {
                    Ok(Token::CurlyBracketBlock | Token::BadString(_) | Token::BadUrl(_)) => {
                        return Err(ParseError::unexpected_token());
                    }
                    Ok(_) => {}
                    Err(_) => break,
                }
            }
            let (value, important) = without_important(input.slice_from(start).trim());
            let name = if name.starts_with("--") { name.to_string() } else { name.to_ascii_lowercase() };
            Ok(Declaration { name, value, important })
        });
        found.extend(one.ok().filter(|one| !one.value.is_empty()));
    }
    found
}

/// Splits a list at the commas outside strings and brackets.
pub fn split(list: &str) -> Vec<&str> {
    let mut input = Parser::new(list);
    let mut parts = Vec::new();
    loop {
        input.skip_whitespace();
        let start = input.position();
        let _: Nothing = input.parse_until_before(Delimiter::Comma, drain);
        parts.push(input.slice_from(start).trim());
        if input.next().is_err() {
            return parts;
        }
    }
}

fn without_important(value: &str) -> (&str, bool) {
    match value.rsplit_once('!') {
        Some((before, word)) if word.trim().eq_ignore_ascii_case("important") => (before.trim_end(), true),
        _ => (value, false),
    }
}

/// Returns `value` with each URL in `url(…)` replaced by the result of `replace`. Comments are dropped.
pub fn with_urls(value: &str, replace: &mut dyn FnMut(&str) -> String) -> String {
    let mut out = String::with_capacity(value.len());
    copy(&mut Parser::new(value), &mut out, replace);
    out
}

fn copy(input: &mut Parser<'_>, out: &mut String, replace: &mut dyn FnMut(&str) -> String) {
    loop {
        let start = input.position();
        let Ok(token) = input.next_including_whitespace_and_comments().cloned() else { return };
        match token {
            Token::UnquotedUrl(url) => push_url(&replace(&url), out),
            Token::Function(name) if name.eq_ignore_ascii_case("url") => {
                let inside = input.parse_nested_block(|inner| -> Result<String, ParseError<()>> {
                    Ok(inner.expect_string()?.as_ref().to_owned())
                });
                push_url(&replace(&inside.unwrap_or_default()), out);
            }
            Token::Function(_) | Token::ParenthesisBlock | Token::SquareBracketBlock | Token::CurlyBracketBlock => {
                out.push_str(input.slice_from(start));
                let _: Nothing = input.parse_nested_block(|inner| {
                    copy(inner, out, replace);
                    Ok(())
                });
                out.push(match token {
                    Token::SquareBracketBlock => ']',
                    Token::CurlyBracketBlock => '}',
                    _ => ')',
                });
            }
            Token::Comment(_) => out.push(' '),
            Token::BadUrl(_) | Token::BadString(_) => {}
            _ => out.push_str(input.slice_from(start)),
        }
    }
}

/// Returns `value` with each color replaced by the color that `replace` returns for it, if any. Colors can be names, hexadecimal numbers,
/// `rgb(…)` or `hsl(…)`. Comments are dropped.
pub fn with_colors(value: &str, replace: &mut dyn FnMut(Color) -> Option<Color>) -> String {
    let mut out = String::with_capacity(value.len());
    copy_colors(&mut Parser::new(value), &mut out, replace);
    out
}

fn copy_colors(input: &mut Parser<'_>, out: &mut String, replace: &mut dyn FnMut(Color) -> Option<Color>) {
    loop {
        let start = input.position();
        let Ok(token) = input.next_including_whitespace_and_comments().cloned() else { return };
        match token {
            Token::Function(name) if is_color_function(&name) => {
                let _: Nothing = input.parse_nested_block(drain);
                push_color(input.slice_from(start), out, replace);
            }
            Token::Function(_) | Token::ParenthesisBlock | Token::SquareBracketBlock | Token::CurlyBracketBlock => {
                out.push_str(input.slice_from(start));
                let _: Nothing = input.parse_nested_block(|inner| {
                    copy_colors(inner, out, replace);
                    Ok(())
                });
                out.push(match token {
                    Token::SquareBracketBlock => ']',
                    Token::CurlyBracketBlock => '}',
                    _ => ')',
                });
            }
            Token::Hash(_) | Token::IDHash(_) | Token::Ident(_) => push_color(input.slice_from(start), out, replace),
            Token::Comment(_) => out.push(' '),
            Token::BadUrl(_) | Token::BadString(_) => {}
            _ => out.push_str(input.slice_from(start)),
        }
    }
}

fn is_color_function(name: &str) -> bool {
    ["rgb", "rgba", "hsl", "hsla"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Writes a part of a value that can be a color. If it is a color for which `replace` returns a new one, writes the new color with the old
/// opacity.
fn push_color(written: &str, out: &mut String, replace: &mut dyn FnMut(Color) -> Option<Color>) {
    let painted = color::parse(written).filter(|painted| painted.alpha > 0.0);
    match painted.and_then(|painted| Some((replace(painted.color)?, painted.alpha))) {
        None => out.push_str(written),
        Some((new, alpha)) if alpha >= 1.0 => out.push_str(&new.to_string()),
        Some((Color { red, green, blue }, alpha)) => out.push_str(&format!("rgba({red},{green},{blue},{alpha})")),
    }
}

fn push_url(url: &str, out: &mut String) {
    out.push_str("url(");
    serialize_string(url, out).expect("writing to a string cannot fail");
    out.push(')');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_is_split_into_its_rules() {
        let css =
            "<!-- @import 'x.css'; a > b { color: red } /* c */ @media screen and (max-width: 3px) { p { margin: 0 } } } i{";
        let found = pieces(css);
        assert_eq!(found.len(), 4, "{found:?}");
        assert_eq!(found[0], CssRule::At { name: "import".into(), prelude: "'x.css'", body: None });
        assert_eq!(found[1], CssRule::Rule { selectors: "a > b", body: " color: red " });
        let CssRule::At { name, prelude, body: Some(body) } = &found[2] else { panic!("{found:?}") };
        assert_eq!((name.as_str(), *prelude, pieces(body).len()), ("media", "screen and (max-width: 3px)", 1));
    }

    #[test]
    fn lists_are_cut_at_commas_outside_of_strings_and_brackets() {
        assert_eq!(split("a:is(b, c) , \"d,e\",f[g=','] "), ["a:is(b, c)", "\"d,e\"", "f[g=',']"]);
        assert_eq!(split(""), [""]);
    }

    #[test]
    fn valid_declarations_are_kept() {
        let found = declarations("COLOR: red ! important; ; bad; margin:0 auto;background:url(a;b.png); x{y:z}; width: 1px");
        let names: Vec<(&str, &str, bool)> = found.iter().map(|one| (one.name.as_str(), one.value, one.important)).collect();
        let expected =
            [("color", "red", true), ("margin", "0 auto", false), ("background", "url(a;b.png)", false), ("width", "1px", false)];
        assert_eq!(names, expected);
    }

    #[test]
    fn colors_are_replaced_in_any_notation() {
        let red = "#FF0000".parse().expect("the color is valid");
        let mut to = |color: Color| (color == red).then_some(Color { red: 0, green: 0, blue: 255 });
        for (value, new) in [
            ("1px solid #F00", "1px solid #0000FF"),
            ("red url(red.png) no-repeat", "#0000FF url(red.png) no-repeat"),
            ("linear-gradient(90deg,rgb(255, 0, 0) 0%,rgba(255,0,0,0.5))", "linear-gradient(90deg,#0000FF 0%,rgba(0,0,255,0.5))"),
            ("transparent", "transparent"),
            ("#0f0", "#0f0"),
        ] {
            assert_eq!(with_colors(value, &mut to), new);
        }
    }

    #[test]
    fn urls_are_replaced_wherever_they_occur() {
        let mut seen = Vec::new();
        let new = with_urls("linear-gradient(red, blue), u\\72l( \"a\\62 c\" ) /* x */ no-repeat, url(plain.png)", &mut |url| {
            seen.push(url.to_owned());
            "k\"1".to_owned()
        });
        assert_eq!(seen, ["abc", "plain.png"]);
        assert_eq!(new, "linear-gradient(red, blue), url(\"k\\\"1\")   no-repeat, url(\"k\\\"1\")");
    }
}
