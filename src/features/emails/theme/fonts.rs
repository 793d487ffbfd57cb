//! Font stacks for emails: the brand's families first, then common fonts of the same kind for email clients that do not load web fonts.

use crate::features::projects::brand::{BrandWebFont, FontKind};

pub const SANS: &str = "'Helvetica Neue', Helvetica, Arial, sans-serif";
pub const SERIF: &str = "Georgia, 'Times New Roman', Times, serif";
pub const MONO: &str = "'SFMono-Regular', Menlo, Consolas, 'Courier New', monospace";

/// Words that occur in the names of serif families.
const SERIFS: [&str; 22] = [
    "georgia",
    "times",
    "garamond",
    "baskerville",
    "didot",
    "bodoni",
    "playfair",
    "merriweather",
    "lora",
    "caslon",
    "palatino",
    "cambria",
    "cormorant",
    "tiempos",
    "canela",
    "fraunces",
    "freight text",
    "noto serif",
    "roboto slab",
    "slab",
    "minion",
    "crimson",
];

pub fn kind(stack: &str) -> FontKind {
    let small = stack.to_ascii_lowercase();
    let last = small.rsplit(',').next().unwrap_or_default().trim();
    match last {
        "monospace" => return FontKind::Mono,
        "sans-serif" | "system-ui" => return FontKind::Sans,
        "serif" => return FontKind::Serif,
        _ => {}
    }
    let first = small.split(',').next().unwrap_or_default();
    let is_serif = !first.contains("sans") && (SERIFS.iter().any(|name| first.contains(name)) || first.contains("serif"));
    if is_serif {
        FontKind::Serif
    } else if first.contains("mono") {
        FontKind::Mono
    } else {
        FontKind::Sans
    }
}

/// Returns the brand's font stack with fallbacks; `None` if no font family is usable. A name with characters other than letters, digits,
/// spaces, hyphens and underscores is left out, so that the stack is safe in double-quoted attributes.
pub fn stack(given: Option<&str>) -> Option<String> {
    const FAMILIES_MAX: usize = 4;
    let given = given?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let names = given.split(',').map(|name| name.trim().trim_matches(['"', '\'']).trim());
    let generic = ["sans-serif", "serif", "monospace", "system-ui", "cursive", "fantasy", "inherit", "initial", "unset"];
    let names = names.filter(|name| !name.is_empty() && name.len() < 60 && name.chars().all(plain));
    let names: Vec<&str> =
        names.filter(|name| !generic.contains(&name.to_ascii_lowercase().as_str())).take(FAMILIES_MAX).collect();
    if names.is_empty() {
        return None;
    }
    let fallback = match kind(given) {
        FontKind::Sans => SANS,
        FontKind::Serif => SERIF,
        FontKind::Mono => MONO,
    };
    let known: Vec<String> = fallback.split(", ").map(|name| name.trim_matches('\'').to_ascii_lowercase()).collect();
    let own = names.into_iter().filter(|name| !known.contains(&name.to_ascii_lowercase()));
    let quoted = own.map(|name| if name.contains(' ') { format!("'{name}'") } else { name.to_owned() });
    Some(quoted.chain([fallback.to_owned()]).collect::<Vec<_>>().join(", "))
}

/// Returns the web fonts of the first family in each stack, except those that are not safe in a style sheet.
pub fn loaded(web_fonts: &[BrandWebFont], stacks: [&String; 2]) -> Vec<BrandWebFont> {
    let first = |stack: &String| stack.split(',').next().unwrap_or_default().trim().trim_matches('\'').to_owned();
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || " +-,;:.@?".contains(c));
    let is_safe = |url: &str| {
        let path = url.strip_prefix("https://");
        path.is_some_and(|path| path.chars().all(|c| c.is_ascii_alphanumeric() || "/.-_~%+:;,@?=".contains(c)))
    };
    let is_used = |font: &&BrandWebFont| stacks.into_iter().any(|stack| first(stack).eq_ignore_ascii_case(&font.family));
    let is_plain = |font: &&BrandWebFont| {
        is_safe(&font.url) && plain(&font.family) && plain(&font.weight) && font.characters.as_deref().is_none_or(plain)
    };
    web_fonts.iter().filter(is_used).filter(is_plain).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_ends_with_safe_families() {
        assert_eq!(stack(Some("Inter, sans-serif")).as_deref(), Some("Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif"));
        assert_eq!(
            stack(Some("\"Playfair Display\"")).as_deref(),
            Some("'Playfair Display', Georgia, 'Times New Roman', Times, serif")
        );
        assert_eq!(stack(Some("Arial")).as_deref(), Some(SANS));
    }

    #[test]
    fn a_stack_cannot_break_out_of_an_attribute() {
        assert_eq!(stack(Some("a\";color:red, b}c, <d>")), None);
        assert_eq!(stack(None), None);
    }

    #[test]
    fn kinds_of_fonts_are_distinguished() {
        for (given, expected) in [
            ("'Source Serif Pro', serif", FontKind::Serif),
            ("Georgia", FontKind::Serif),
            ("Open Sans", FontKind::Sans),
            ("'JetBrains Mono'", FontKind::Mono),
            ("'PT Sans', sans-serif", FontKind::Sans),
        ] {
            assert_eq!(kind(given), expected, "{given}");
        }
    }
}
