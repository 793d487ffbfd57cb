//! Parses the rules in style sheets that are needed to read a brand. Accepts any input.
//!
//! Keeps only the rules that apply to a wide screen in light mode. The selector matcher handles states such as `:hover`.

use crate::engine::render::css::{self, Piece};

/// The assumed width of the screen.
const SCREEN_WIDTH: f32 = 1280.0;
/// The maximum nesting depth of blocks.
const DEPTH_MAX: u8 = 8;
/// The maximum number of rules in a style sheet. The largest frameworks have about 10,000.
const RULES_MAX: usize = 20_000;

/// A parsed style sheet.
#[derive(Debug, Default)]
pub struct Sheet {
    pub rules: Vec<Rule>,
    /// The URLs of style sheets that this style sheet imports, as written.
    pub imports: Vec<String>,
    /// The font families that this style sheet defines.
    pub families: Vec<String>,
}

/// A rule: declarations, and the selectors that they apply to.
#[derive(Debug, PartialEq)]
pub struct Rule {
    pub selectors: Vec<String>,
    pub declarations: Vec<Declaration>,
}

/// A declaration: a property with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// The name of the property, in lowercase unless it is a variable.
    pub name: String,
    pub value: String,
    pub important: bool,
}

/// Parses a style sheet.
pub fn parse(text: &str) -> Sheet {
    let mut sheet = Sheet::default();
    rules(text.trim_start_matches('\u{feff}'), &mut sheet, 0);
    sheet
}

/// Parses the content of a `style` attribute or of a block.
pub fn declarations(text: &str) -> Vec<Declaration> {
    let owned = |one: css::Declaration<'_>| Declaration { name: one.name, value: bare(one.value), important: one.important };
    css::declarations(text).into_iter().map(owned).collect()
}

fn rules(text: &str, sheet: &mut Sheet, depth: u8) {
    for piece in css::pieces(text) {
        if sheet.rules.len() == RULES_MAX {
            return;
        }
        match piece {
            Piece::Rule { selectors, body } => {
                // Remove extra closing brackets, which do not belong to a selector.
                let selectors = bare(selectors.trim_start_matches(|c: char| c == '}' || c.is_whitespace()));
                let selectors = css::split(&selectors).into_iter().filter(|one| !one.is_empty()).map(str::to_owned).collect();
                sheet.rules.push(Rule { selectors, declarations: declarations(body) });
            }
            Piece::At { name, prelude, body: None } if name == "import" => sheet.imports.extend(import_address(prelude)),
            Piece::At { body: None, .. } => {}
            Piece::At { name, prelude, body: Some(body) } => match name.as_str() {
                "media" if applies(prelude) && depth < DEPTH_MAX => rules(body, sheet, depth + 1),
                "supports" | "layer" | "container" if depth < DEPTH_MAX => rules(body, sheet, depth + 1),
                "font-face" => {
                    let family = declarations(body).into_iter().find(|declaration| declaration.name == "font-family");
                    sheet.families.extend(family.map(|family| unquoted(&family.value).to_owned()));
                }
                _ => {}
            },
        }
    }
}

/// Returns the style sheet without comments.
fn bare(text: &str) -> String {
    let mut parts = text.split("/*");
    let first = parts.next().unwrap_or_default().to_owned();
    let text = parts.fold(first, |text, part| text + " " + part.split_once("*/").map_or("", |(_, after)| after));
    text.trim().to_owned()
}

/// Returns whether a media query applies to a wide screen in light mode.
pub fn applies(query: &str) -> bool {
    let query = query.trim().to_ascii_lowercase();
    query.is_empty() || query.split(',').any(one_applies)
}

fn one_applies(query: &str) -> bool {
    let query = query.trim();
    if query.starts_with("print")
        || query.starts_with("speech")
        || query.starts_with("not screen")
        || query.starts_with("not all")
    {
        return false;
    }
    let is_dark = query.contains("prefers-color-scheme") && query.contains("dark");
    let is_other =
        query.contains("prefers-contrast") || query.contains("forced-colors") || query.contains("orientation: portrait");
    let pixels = |name: &str| {
        let at = query.find(name)? + name.len();
        let value: String =
            query[at..].trim_start_matches([' ', ':']).chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let unit = &query[at..];
        let factor = if unit.contains("em") && !unit.contains("px") { 16.0 } else { 1.0 };
        value.parse::<f32>().ok().map(|number| number * factor)
    };
    let wide_enough = pixels("min-width").is_none_or(|least| least <= SCREEN_WIDTH);
    let narrow_enough = pixels("max-width").is_none_or(|most| most >= SCREEN_WIDTH);
    !is_dark && !is_other && wide_enough && narrow_enough
}

fn import_address(text: &str) -> Option<String> {
    let text = text.trim();
    let address = match text.strip_prefix("url(") {
        Some(inside) => inside.split(')').next()?,
        None => {
            let quote = text.chars().next().filter(|character| matches!(character, '"' | '\''))?;
            text[1..].split(quote).next()?
        }
    };
    let conditions = text.split([')', '"', '\'']).next_back().unwrap_or_default();
    let address = unquoted(address.trim());
    (!address.is_empty() && applies(conditions.split("layer").next().unwrap_or_default())).then(|| address.to_owned())
}

/// Returns the string without its quotation marks.
pub fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let rules = parse(text).rules;
        let line = |rule: Rule| {
            let declarations: Vec<String> = rule
                .declarations
                .iter()
                .map(|one| format!("{}={}{}", one.name, one.value, if one.important { "!" } else { "" }))
                .collect();
            format!("{} {{{}}}", rule.selectors.join(" | "), declarations.join("; "))
        };
        rules.into_iter().map(line).collect()
    }

    #[test]
    fn only_rules_for_a_wide_light_screen_are_read() {
        let text = r#"
            @charset "utf-8"; @import url("base.css"); @import 'print.css' print;
            :root { --Brand: #0a7; /* the } brand */ --b: ; }
            a:hover, .btn , h1::before { COLOR : red !important; background:url("a;b}.png") }
            @media (max-width: 600px) { body { color: blue } }
            @media screen and (min-width: 48em) { body { color: green } }
            @media (prefers-color-scheme: dark) { body { background: black } }
            @media print { body { color: black } }
            @supports (display: grid) { .x { margin: 0 } }
            @font-face { font-family: "Inter"; src: url(inter.woff2) }
            @keyframes spin { from { top: 0 } to { top: 1px } }
        "#;
        assert_eq!(
            shown(text),
            [
                ":root {--Brand=#0a7}",
                "a:hover | .btn | h1::before {color=red!; background=url(\"a;b}.png\")}",
                "body {color=green}",
                ".x {margin=0}",
            ]
        );
        let sheet = parse(text);
        assert_eq!((sheet.imports, sheet.families), (vec!["base.css".to_owned()], vec!["Inter".to_owned()]));
    }

    #[test]
    fn broken_rules_do_not_affect_others() {
        for (text, expected) in [
            ("a { color: red", vec!["a {color=red}"]),
            ("a { color: red } } b { color: blue }", vec!["a {color=red}", "b {color=blue}"]),
            ("a { color: 'red\n } b { top: 0 }", vec!["a {}", "b {top=0}"]),
            // As in browsers, an unclosed bracket makes the parser ignore the rest.
            ("b { top: 0 } a:not(.b { color: red } c { top: 0 }", vec!["b {top=0}"]),
            ("<!-- a { color: red } -->", vec!["a {color=red}"]),
            ("", vec![]),
            ("@media", vec![]),
            ("{}{}{{{", vec![]),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}
