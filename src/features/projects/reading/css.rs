//! Parses the style-sheet rules that are needed to extract a brand. Accepts any input.
//!
//! Keeps only the rules that apply to a wide screen in light mode. The selector matcher rejects states such as `:hover`.

use url::Url;

use crate::engine::render::css::{self, CssRule};

/// The assumed width of the screen in pixels.
const SCREEN_WIDTH: f32 = 1280.0;
/// The maximum nesting depth of blocks.
const DEPTH_MAX: u8 = 8;
/// The maximum number of rules in a style sheet. The largest frameworks have about 10,000.
const RULES_MAX: usize = 20_000;

#[derive(Debug, Default)]
pub struct Sheet {
    pub rules: Vec<Rule>,
    /// The URLs of style sheets that this style sheet imports, as written.
    pub imports: Vec<String>,
    /// The font files that this style sheet defines.
    pub faces: Vec<FontFace>,
}

/// A font file in a format that email clients load (WOFF2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FontFace {
    pub family: String,
    pub url: String,
    /// The weight as written; `400` if the rule sets none.
    pub weight: String,
    pub italic: bool,
    /// The characters in the file (a CSS `unicode-range`), if the file contains only some.
    pub characters: Option<String>,
}

#[derive(Debug, PartialEq)]
pub struct Rule {
    pub selectors: Vec<String>,
    pub declarations: Vec<Declaration>,
}

/// A declaration: a property with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// The name of the property, in lowercase unless the property is a variable.
    pub name: String,
    pub value: String,
    pub important: bool,
}

/// Parses a style sheet. If the URL of the style sheet is given, URLs of background images and fonts become absolute.
pub fn parse(text: &str, base: Option<&Url>) -> Sheet {
    let mut sheet = Sheet::default();
    rules(text.trim_start_matches('\u{feff}'), &mut sheet, 0);
    if let Some(base) = base {
        sheet.resolve(base);
    }
    sheet
}

impl Sheet {
    fn resolve(&mut self, base: &Url) {
        let absolute = |address: &str| base.join(address).map_or_else(|_| address.to_owned(), String::from);
        let declarations = self.rules.iter_mut().flat_map(|rule| &mut rule.declarations);
        for one in declarations.filter(|one| one.name.starts_with("background") && one.value.contains("url(")) {
            one.value = css::with_urls(&one.value, &mut |url| absolute(url));
        }
        for face in &mut self.faces {
            face.url = absolute(&face.url);
        }
    }
}

/// Parses the declarations in a `style` attribute or in the block of a rule.
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
            CssRule::Rule { selectors, body } => {
                // Remove extra closing braces, which do not belong to a selector.
                let selectors = bare(selectors.trim_start_matches(|c: char| c == '}' || c.is_whitespace()));
                let selectors = css::split(&selectors).into_iter().filter(|one| !one.is_empty()).map(str::to_owned).collect();
                sheet.rules.push(Rule { selectors, declarations: declarations(body) });
            }
            CssRule::At { name, prelude, body: None } if name == "import" => sheet.imports.extend(import_address(prelude)),
            CssRule::At { body: None, .. } => {}
            CssRule::At { name, prelude, body: Some(body) } => match name.as_str() {
                "media" if applies(prelude) && depth < DEPTH_MAX => rules(body, sheet, depth + 1),
                "supports" | "layer" | "container" if depth < DEPTH_MAX => rules(body, sheet, depth + 1),
                "font-face" => sheet.faces.extend(font_face(body)),
                _ => {}
            },
        }
    }
}

/// Returns the font file in the body of a `@font-face` rule.
fn font_face(body: &str) -> Option<FontFace> {
    let declared = declarations(body);
    let value = |name: &str| declared.iter().find(|one| one.name == name).map(|one| one.value.as_str());
    let sources = declared.iter().filter(|one| one.name == "src").flat_map(|one| css::split(&one.value));
    let url = sources.filter_map(|source| {
        let mut url = None;
        css::with_urls(source, &mut |address| {
            url = Some(address.to_owned());
            String::new()
        });
        let path = url.as_deref()?.split(['?', '#']).next()?.to_ascii_lowercase();
        url.filter(|url| !url.starts_with("data:") && (path.ends_with(".woff2") || source.contains("woff2")))
    });
    Some(FontFace {
        family: unquoted(value("font-family")?).to_owned(),
        url: { url }.next()?,
        weight: value("font-weight").unwrap_or("400").to_owned(),
        italic: value("font-style").is_some_and(|style| style.contains("italic") || style.contains("oblique")),
        characters: value("unicode-range").map(str::to_owned),
    })
}

/// Returns the string without CSS comments and surrounding whitespace.
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

/// Returns the string without surrounding whitespace and quotation marks.
pub fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let rules = parse(text, None).rules;
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
            @font-face { font-family: "Inter"; src: url(inter.woff) format("woff"), url("fonts/inter.woff2") format("woff2"); font-weight: 100 900 }
            @font-face { font-family: Old; src: url(old.ttf) }
            .hero { background: #123 url(img/hero.jpg) center }
            @keyframes spin { from { top: 0 } to { top: 1px } }
        "#;
        assert_eq!(
            shown(text),
            [
                ":root {--Brand=#0a7}",
                "a:hover | .btn | h1::before {color=red!; background=url(\"a;b}.png\")}",
                "body {color=green}",
                ".x {margin=0}",
                ".hero {background=#123 url(img/hero.jpg) center}",
            ]
        );
        let base = "https://a.example/css/main.css".parse().expect("the URL is valid");
        let sheet = parse(text, Some(&base));
        assert_eq!(sheet.imports, ["base.css"]);
        let faces: Vec<_> =
            sheet.faces.iter().map(|face| (face.family.as_str(), face.url.as_str(), face.weight.as_str())).collect();
        assert_eq!(faces, [("Inter", "https://a.example/css/fonts/inter.woff2", "100 900")], "clients load only WOFF2");
        let hero = sheet.rules.last().map(|rule| rule.declarations[0].value.as_str());
        assert_eq!(hero, Some("#123 url(\"https://a.example/css/img/hero.jpg\") center"));
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
