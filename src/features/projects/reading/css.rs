//! Parses the rules of style sheets that are needed to read a brand. Accepts any input.
//!
//! Keeps only what a wide screen in light mode shows. The selector matcher handles states such as hovering.

/// The assumed width of the screen.
const SCREEN_WIDTH: f32 = 1280.0;
/// The maximum depth of nested blocks.
const DEPTH_MAX: u8 = 8;
/// The maximum number of rules in a sheet. The largest frameworks have about 10,000.
const RULES_MAX: usize = 20_000;

/// A style sheet.
#[derive(Debug, Default)]
pub struct Sheet {
    pub rules: Vec<Rule>,
    /// The URLs of sheets that this one imports, as written.
    pub imports: Vec<String>,
    /// The font families that it defines.
    pub families: Vec<String>,
}

/// Declarations and the selectors they apply to.
#[derive(Debug, PartialEq)]
pub struct Rule {
    pub selectors: Vec<String>,
    pub declarations: Vec<Declaration>,
}

/// A property with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// In lowercase, unless it is a variable.
    pub name: String,
    pub value: String,
    pub important: bool,
}

/// Parses a style sheet.
pub fn parse(text: &str) -> Sheet {
    let text = without_comments(text);
    let mut sheet = Sheet::default();
    rules(&text, &mut sheet, 0);
    sheet
}

/// Parses the content of a `style` attribute or of a block.
pub fn declarations(text: &str) -> Vec<Declaration> {
    let mut found = Vec::new();
    for part in split(text, ';') {
        // A nested rule is not a declaration.
        let Some((name, value)) = part.split_once(':').filter(|(name, _)| !name.contains('{')) else { continue };
        let name = name.trim();
        let name = if name.starts_with("--") { name.to_owned() } else { name.to_ascii_lowercase() };
        let value = value.trim();
        let bare = value.rfind('!').filter(|at| value[at + 1..].trim().eq_ignore_ascii_case("important"));
        let important = bare.is_some();
        let value = bare.map_or(value, |at| value[..at].trim_end());
        if !name.is_empty() && !value.is_empty() && !name.contains(char::is_whitespace) {
            found.push(Declaration { name, value: value.to_owned(), important });
        }
    }
    found
}

fn rules(text: &str, sheet: &mut Sheet, depth: u8) {
    let mut rest = text;
    while sheet.rules.len() < RULES_MAX {
        rest = rest.trim_start().trim_start_matches(['}', ';']).trim_start();
        if rest.is_empty() {
            return;
        }
        let end = find(rest, |character| matches!(character, '{' | ';'));
        let prelude = rest[..end].trim();
        if rest[end..].starts_with('{') {
            let close = block_end(rest, end);
            block(prelude, &rest[end + 1..close], sheet, depth);
            rest = rest.get(close + 1..).unwrap_or_default();
        } else {
            if let Some(import) = prelude.strip_prefix("@import") {
                sheet.imports.extend(import_address(import));
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
    }
}

fn block(prelude: &str, inside: &str, sheet: &mut Sheet, depth: u8) {
    let Some(at_rule) = prelude.strip_prefix('@') else {
        let selectors = split(prelude, ',').into_iter().map(|one| one.trim().to_owned()).filter(|one| !one.is_empty()).collect();
        sheet.rules.push(Rule { selectors, declarations: declarations(inside) });
        return;
    };
    let name = at_rule.split(|character: char| !character.is_ascii_alphabetic() && character != '-').next().unwrap_or_default();
    let condition = &at_rule[name.len()..];
    match name.to_ascii_lowercase().as_str() {
        "media" if applies(condition) && depth < DEPTH_MAX => rules(inside, sheet, depth + 1),
        "supports" | "layer" | "container" if depth < DEPTH_MAX => rules(inside, sheet, depth + 1),
        "font-face" => {
            let family = declarations(inside).into_iter().find(|declaration| declaration.name == "font-family");
            sheet.families.extend(family.map(|family| unquoted(&family.value).to_owned()));
        }
        _ => {}
    }
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

/// Returns the text without its quotation marks.
pub fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

/// Splits `text` at every `mark` outside of strings and brackets.
pub fn split(text: &str, mark: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let end = find(rest, |character| character == mark);
        parts.push(&rest[..end]);
        match rest.get(end + mark.len_utf8()..) {
            Some(next) if end < rest.len() => rest = next,
            _ => return parts,
        }
    }
}

/// Returns the position of the first wanted character outside of strings and of round or square brackets (also outside of curly ones,
/// unless they are wanted).
fn find(text: &str, wanted: impl Fn(char) -> bool) -> usize {
    let mut depth = 0_u32;
    let mut quote = None;
    let mut escaped = false;
    let seeks_blocks = wanted('{');
    for (at, character) in text.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        match (character, quote) {
            ('\\', _) => escaped = true,
            (_, Some(open)) if character == open => quote = None,
            // A string ends at the end of its line at the latest, so a missing quote loses only one line.
            ('\n', Some(_)) => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(character),
            _ if depth == 0 && wanted(character) => return at,
            ('(' | '[', None) => depth += 1,
            ('{', None) if !seeks_blocks => depth += 1,
            (')' | ']', None) => depth = depth.saturating_sub(1),
            ('}', None) if !seeks_blocks => depth = depth.saturating_sub(1),
            // A block that opens or closes inside a bracket: the bracket was never closed.
            ('{' | '}', None) if seeks_blocks => return at,
            _ => {}
        }
    }
    text.len()
}

/// Returns the position at which the block that opens at `open` closes, or the end of the text if it never does.
fn block_end(text: &str, open: usize) -> usize {
    let mut depth = 0_u32;
    let mut quote = None;
    let mut escaped = false;
    for (at, character) in text[open..].char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        match (character, quote) {
            ('\\', _) => escaped = true,
            (_, Some(end)) if character == end => quote = None,
            ('\n', Some(_)) => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(character),
            ('{', None) => depth += 1,
            ('}', None) => {
                depth -= 1;
                if depth == 0 {
                    return open + at;
                }
            }
            _ => {}
        }
    }
    text.len()
}

fn without_comments(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut rest = text.trim_start_matches('\u{feff}');
    while let Some(start) = rest.find("/*") {
        bare.push_str(&rest[..start]);
        bare.push(' ');
        rest = rest[start + 2..].split_once("*/").map_or("", |(_, after)| after);
    }
    bare.push_str(rest);
    // Old pages hide their styles from older browsers.
    bare.replace("<!--", " ").replace("-->", " ")
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
            ("a { color: 'red\n } b { top: 0 }", vec!["a {color='red}", "b {top=0}"]),
            ("a:not(.b { color: red } c { top: 0 }", vec!["a:not(.b {color=red}", "c {top=0}"]),
            ("<!-- a { color: red } -->", vec!["a {color=red}"]),
            ("", vec![]),
            ("@media", vec![]),
            ("{}{}{{{", vec![" {}", " {}", " {}"]),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }
}
