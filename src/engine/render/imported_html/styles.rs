//! Decides which styles may stay in imported HTML: known properties whose values consist of allowed tokens. Rules inside media queries are
//! checked in the same way.
//!
//! Kept values are serialized from their tokens, so that email clients parse them in the same way as this check.

use cssparser::{ParseError, Parser, ToCss, Token};

use super::RemovedCounts;
use super::addresses;
use crate::engine::render::css::{self, CssRule};

/// The maximum nesting depth of media queries.
const LEVELS_MAX: usize = 2;
const VALUE_BYTES_MAX: usize = 4 * 1024;
const SELECTORS_BYTES_MAX: usize = 4 * 1024;

/// The allowed properties, in addition to those that start with a prefix in [`FAMILIES`].
const PROPERTIES: [&str; 62] = [
    "align-items",
    "align-self",
    "aspect-ratio",
    "bottom",
    "box-shadow",
    "box-sizing",
    "caption-side",
    "clear",
    "color",
    "color-scheme",
    "column-gap",
    "cursor",
    "direction",
    "display",
    "empty-cells",
    "flex",
    "flex-basis",
    "flex-direction",
    "flex-grow",
    "flex-shrink",
    "flex-wrap",
    "float",
    "gap",
    "height",
    "hyphens",
    "justify-content",
    "left",
    "letter-spacing",
    "line-break",
    "line-height",
    "max-height",
    "max-width",
    "min-height",
    "min-width",
    "object-fit",
    "object-position",
    "opacity",
    "order",
    "orphans",
    "overflow-wrap",
    "position",
    "quotes",
    "right",
    "row-gap",
    "supported-color-schemes",
    "tab-size",
    "table-layout",
    "top",
    "unicode-bidi",
    "vertical-align",
    "visibility",
    "white-space",
    "widows",
    "width",
    "word-break",
    "word-spacing",
    "word-wrap",
    "writing-mode",
    "z-index",
    "zoom",
    "-webkit-text-size-adjust",
    "-ms-text-size-adjust",
];
/// The prefixes of allowed property names.
const FAMILIES: [&str; 13] = [
    "background",
    "border",
    "font",
    "list-style",
    "margin",
    "mso-",
    "outline",
    "overflow",
    "padding",
    "page-break-",
    "text-",
    "-webkit-font-",
    "-moz-osx-font-",
];
const FUNCTIONS: [&str; 18] = [
    "rgb",
    "rgba",
    "hsl",
    "hsla",
    "url",
    "calc",
    "min",
    "max",
    "clamp",
    "linear-gradient",
    "radial-gradient",
    "conic-gradient",
    "repeating-linear-gradient",
    "repeating-radial-gradient",
    "translate",
    "hwb",
    "lab",
    "oklch",
];

pub struct Styles<'a> {
    pub removed: &'a mut RemovedCounts,
    /// Returns the URL to use for an image, or `None` to remove the image.
    pub image: &'a mut dyn FnMut(&str) -> Option<String>,
}

impl Styles<'_> {
    /// Returns the allowed declarations of a `style` attribute.
    pub fn declarations(&mut self, body: &str) -> String {
        let mut out = String::new();
        for one in css::declarations(body) {
            let Some(value) = self.value(&one.name, one.value) else { continue };
            let important = if one.important { " !important" } else { "" };
            out.push_str(&format!("{}:{value}{important};", one.name));
        }
        out
    }

    /// Returns the allowed rules of a style sheet.
    pub fn sheet(&mut self, text: &str) -> String {
        let mut out = String::new();
        self.push_sheet(text, 0, &mut out);
        // Escape `<`, so that no text inside a `style` element looks like a tag.
        out.replace('<', "\\3c ")
    }

    fn push_sheet(&mut self, text: &str, level: usize, out: &mut String) {
        for piece in css::pieces(text) {
            match piece {
                CssRule::Rule { selectors, body } => {
                    let sound = |c: char| !c.is_control() || c.is_whitespace();
                    if selectors.is_empty() || selectors.len() > SELECTORS_BYTES_MAX || !selectors.chars().all(sound) {
                        self.removed.note("style rule without valid selectors");
                        continue;
                    }
                    let kept = self.declarations(body);
                    if !kept.is_empty() {
                        out.push_str(&format!("{selectors}{{{kept}}}\n"));
                    }
                }
                CssRule::At { name, prelude, body: Some(body) } if name == "media" && level < LEVELS_MAX && is_query(prelude) => {
                    let mut inner = String::new();
                    self.push_sheet(body, level + 1, &mut inner);
                    if !inner.is_empty() {
                        out.push_str(&format!("@media {prelude}{{\n{inner}}}\n"));
                    }
                }
                CssRule::At { name, .. } if name == "charset" => {}
                CssRule::At { name, .. } => self.removed.note(&format!("style rule @{}", shortened(&name))),
            }
        }
    }

    fn value(&mut self, name: &str, value: &str) -> Option<String> {
        let known = PROPERTIES.contains(&name) || FAMILIES.iter().any(|family| name.starts_with(family));
        let sound = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        if !known || !sound || value.len() > VALUE_BYTES_MAX {
            self.removed.note(&format!("style property {}", shortened(name)));
            return None;
        }
        let mut out = String::new();
        let fits = self.copy(&mut Parser::new(value), &mut out).is_some();
        let placed = name != "position" || matches!(out.trim(), "static" | "relative");
        if !fits || !placed {
            self.removed.note(&format!("style property {name} with a value that is not allowed in email"));
            return None;
        }
        Some(out.trim().to_owned())
    }

    /// Copies the tokens of a value to `out`. Returns `None` at the first token that is not allowed.
    fn copy(&mut self, input: &mut Parser<'_>, out: &mut String) -> Option<()> {
        loop {
            let Ok(token) = input.next_including_whitespace_and_comments().cloned() else { return Some(()) };
            match &token {
                Token::UnquotedUrl(address) => self.push_url(address, out)?,
                Token::Function(name) if name.eq_ignore_ascii_case("url") => {
                    let inside = input.parse_nested_block(|inner| -> Result<String, ParseError<()>> {
                        Ok(inner.expect_string()?.as_ref().to_owned())
                    });
                    self.push_url(&inside.ok()?, out)?;
                }
                Token::Function(name) => {
                    if !FUNCTIONS.iter().any(|known| name.eq_ignore_ascii_case(known)) {
                        return None;
                    }
                    self.block(&token, ")", input, out)?;
                }
                Token::ParenthesisBlock => self.block(&token, ")", input, out)?,
                Token::Comment(_) => out.push(' '),
                Token::WhiteSpace(_) => out.push(' '),
                Token::Ident(_)
                | Token::Hash(_)
                | Token::IDHash(_)
                | Token::QuotedString(_)
                | Token::Number { .. }
                | Token::Percentage { .. }
                | Token::Dimension { .. }
                | Token::Comma => token.to_css(out).ok()?,
                Token::Delim('/' | '+' | '-' | '*' | '.') => token.to_css(out).ok()?,
                _ => return None,
            }
        }
    }

    fn block(&mut self, open: &Token<'_>, close: &str, input: &mut Parser<'_>, out: &mut String) -> Option<()> {
        open.to_css(out).ok()?;
        let inside = input.parse_nested_block(|inner| -> Result<Option<()>, ParseError<()>> { Ok(self.copy(inner, out)) });
        inside.ok()??;
        out.push_str(close);
        Some(())
    }

    fn push_url(&mut self, address: &str, out: &mut String) -> Option<()> {
        let address = addresses::image(address).and_then(|address| (self.image)(&address))?;
        out.push_str("url(");
        cssparser::serialize_string(&address, out).ok()?;
        out.push(')');
        Some(())
    }
}

/// Returns whether a media query is short and contains only letters, digits, white space, parentheses and other harmless characters.
fn is_query(prelude: &str) -> bool {
    let sound = |c: char| c.is_ascii_alphanumeric() || c.is_ascii_whitespace() || "(),:.%/->=_".contains(c);
    !prelude.is_empty() && prelude.len() < 500 && prelude.chars().all(sound)
}

fn shortened(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_graphic()).take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(work: impl FnOnce(&mut Styles<'_>) -> String) -> (String, Vec<String>) {
        let mut removed = RemovedCounts::default();
        let mut image = |address: &str| Some(address.to_owned());
        let out = work(&mut Styles { removed: &mut removed, image: &mut image });
        (out, removed.list())
    }

    fn kept(body: &str) -> String {
        cleaned(|styles| styles.declarations(body)).0
    }

    #[test]
    fn common_email_styles_stay() {
        for body in [
            "color:#333;font:14px/1.5 \"Open Sans\",Arial,sans-serif;margin:0 auto !important;",
            "background:url(\"https://x.example/a.png\") no-repeat center/cover,linear-gradient(90deg,#fff 0%,rgba(0,0,0,0.5) 100%);",
            "width:calc(100% - 2px);mso-line-height-rule:exactly;position:relative;",
        ] {
            assert_eq!(kept(body), body);
        }
    }

    #[test]
    fn active_covering_or_tracking_styles_are_removed() {
        for body in [
            "width:expression(alert(1))",
            "width:e\\78 pression(alert(1))",
            "behavior:url(x.htc)",
            "-moz-binding:url(http://x.example/x.xml#x)",
            "position:fixed",
            "position:f\\69xed",
            "position:absolute",
            "background:url(javascript:alert(1))",
            "background:url('data:image/svg+xml;base64,AA')",
            "background:image-set('x.png' 1x)",
            "color:var(--x)",
            "--x:1",
            "content:'x'",
            "animation:x 1s",
            "filter:url(#x)",
            "color:red}body{color:blue",
            "color:@import",
            "co\\6cor/**/:red;}",
        ] {
            let out = kept(body);
            assert!(out.is_empty() || out == "color:red;", "{body}: {out}");
        }
    }

    #[test]
    fn sheets_keep_rules_and_media_queries_only() {
        let text = "@import url(x.css);@font-face{src:url(f)}a{color:red;behavior:x}b{behavior:x}\
                    @media only screen and (max-width:480px){.c{width:100%!important}@media print{d{color:red}}}\
                    @supports (x:y){e{color:red}} f{font-family:\"</style><script>\"}";
        let (out, removed) = cleaned(|styles| styles.sheet(text));
        let expected = "a{color:red;}\n@media only screen and (max-width:480px){\n.c{width:100% !important;}\n@media print{\nd{color:red;}\n}\n}\n\
                        f{font-family:\"\\3c /style>\\3c script>\";}\n";
        assert_eq!(out, expected);
        assert!(removed.iter().any(|one| one.starts_with("style rule @import")), "{removed:?}");
    }
}
