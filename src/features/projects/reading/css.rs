//! Style sheets: their rules as far as a reader of brands needs them. Tolerant of everything.
//!
//! Only what a wide screen in light mode shows is kept; states like hovering are left to who matches selectors.

/// The width of the screen that pages are looked at with.
const SCREEN_WIDTH: f32 = 1280.0;
/// Blocks within blocks: deeper ones are nonsense.
const DEPTH_MAX: u8 = 8;
/// Rules of one sheet. The largest frameworks have about 10,000.
const RULES_MAX: usize = 20_000;

/// A style sheet.
#[derive(Debug, Default)]
pub struct Sheet {
    pub rules: Vec<Rule>,
    /// Addresses of sheets that this one includes, as written.
    pub imports: Vec<String>,
    /// Families that it brings along.
    pub families: Vec<String>,
}

/// Declarations and what they hold for.
#[derive(Debug, PartialEq)]
pub struct Rule {
    pub selectors: Vec<String>,
    pub declarations: Vec<Declaration>,
}

/// One property.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// In small letters, unless it is a variable.
    pub name: String,
    pub value: String,
    pub important: bool,
}

/// Read a style sheet.
pub fn parse(text: &str) -> Sheet {
    let text = without_comments(text);
    let mut sheet = Sheet::default();
    rules(&text, &mut sheet, 0);
    sheet
}

/// Read the inside of a `style` attribute or of a block.
pub fn declarations(text: &str) -> Vec<Declaration> {
    let mut found = Vec::new();
    for part in split(text, ';') {
        // A nested rule is no declaration.
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

/// Whether a media query holds for a wide screen in light mode.
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

/// Text without the quotation marks around it.
pub fn unquoted(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

/// `text` cut at every `mark` outside of strings and brackets.
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

/// Where the first wanted character is outside of strings and round or square brackets (and curly ones, if those are not wanted).
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
            // A string does not go over the end of its line: who forgot its end loses one line only.
            ('\n', Some(_)) => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(character),
            _ if depth == 0 && wanted(character) => return at,
            ('(' | '[', None) => depth += 1,
            ('{', None) if !seeks_blocks => depth += 1,
            (')' | ']', None) => depth = depth.saturating_sub(1),
            ('}', None) if !seeks_blocks => depth = depth.saturating_sub(1),
            // A block that opens or closes inside a bracket: somebody forgot to close it.
            ('{' | '}', None) if seeks_blocks => return at,
            _ => {}
        }
    }
    text.len()
}

/// Where the block that opens at `open` closes; the end if it never does.
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
    fn rules_are_read_and_what_a_wide_light_screen_does_not_show_is_left_out() {
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
    fn what_is_broken_costs_no_more_than_itself() {
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
