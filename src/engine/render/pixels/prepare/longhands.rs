//! Expands CSS shorthands with `!important`, because the engine supports `!important` only for longhands.
//!
//! The shorthands that emails use are covered: backgrounds, borders, fonts, decorations and list markers. Others stay unchanged.

use cssparser::{ParseError, Parser, Token};

/// Returns the top-level tokens of a value. A function with its arguments is one token, and so is a slash.
fn words(value: &str) -> Vec<&str> {
    let mut input = Parser::new(value);
    let mut found = Vec::new();
    loop {
        input.skip_whitespace();
        let start = input.position();
        let Ok(token) = input.next().cloned() else { return found };
        if matches!(token, Token::Function(_) | Token::ParenthesisBlock) {
            let _ = input.parse_nested_block(|inner| -> Result<(), ParseError<()>> {
                while inner.next().is_ok() {}
                Ok(())
            });
        }
        found.push(input.slice_from(start).trim());
    }
}

fn is_one_of(word: &str, list: &[&str]) -> bool {
    list.iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn begins_with(word: &str, list: &[&str]) -> bool {
    let lower = word.to_ascii_lowercase();
    list.iter().any(|known| lower.starts_with(known))
}

fn is_length(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-')) || begins_with(word, &["calc("])
}

/// Returns the longhands for `name: value`, if it is a shorthand that can be expanded.
pub fn expand(name: &str, value: &str) -> Option<Vec<(String, String)>> {
    let words = words(value);
    if words.len() == 1 && is_one_of(words[0], &["inherit", "initial", "unset", "revert"]) {
        return None;
    }
    match name {
        "background" => background(&words),
        "border" | "border-top" | "border-right" | "border-bottom" | "border-left" | "outline" => Some(edge(name, &words)),
        "font" => font(&words),
        "text-decoration" => Some(decoration(&words)),
        "list-style" => Some(list(&words)),
        _ => None,
    }
}

fn named(parts: impl IntoIterator<Item = (&'static str, String)>) -> Vec<(String, String)> {
    parts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn background(words: &[&str]) -> Option<Vec<(String, String)>> {
    // Multiple backgrounds are not expanded, because emails do not use them with `!important`.
    if words.contains(&",") {
        return None;
    }
    const REPEAT: [&str; 6] = ["repeat", "no-repeat", "repeat-x", "repeat-y", "space", "round"];
    const PLACE: [&str; 5] = ["left", "right", "top", "bottom", "center"];
    let (mut color, mut image) = ("transparent".to_owned(), "none".to_owned());
    let (mut repeat, mut place, mut size) = (Vec::new(), Vec::new(), Vec::new());
    let mut after_slash = false;
    for word in words {
        if *word == "/" {
            after_slash = true;
        } else if begins_with(word, &["url(", "linear-", "radial-", "conic-", "repeating-"]) {
            image = (*word).to_owned();
        } else if is_one_of(word, &REPEAT) {
            repeat.push(*word);
        } else if is_one_of(word, &["none", "scroll", "fixed", "local", "border-box", "padding-box", "content-box"]) {
            after_slash = false;
        } else if after_slash && (is_length(word) || is_one_of(word, &["cover", "contain", "auto"])) {
            size.push(*word);
        } else if is_length(word) || is_one_of(word, &PLACE) {
            place.push(*word);
        } else {
            color = (*word).to_owned();
        }
    }
    let mut parts = named([("background-color", color), ("background-image", image)]);
    for (name, words) in [("background-repeat", repeat), ("background-position", place), ("background-size", size)] {
        if !words.is_empty() {
            parts.push((name.to_owned(), words.join(" ")));
        }
    }
    Some(parts)
}

fn edge(name: &str, words: &[&str]) -> Vec<(String, String)> {
    const STYLES: [&str; 10] = ["none", "hidden", "dotted", "dashed", "solid", "double", "groove", "ridge", "inset", "outset"];
    let (mut width, mut style, mut color) = ("medium", "none", "currentcolor");
    for word in words {
        if is_one_of(word, &STYLES) {
            style = word;
        } else if is_length(word) || is_one_of(word, &["thin", "medium", "thick"]) {
            width = word;
        } else {
            color = word;
        }
    }
    [("width", width), ("style", style), ("color", color)]
        .map(|(part, value)| (format!("{name}-{part}"), value.to_owned()))
        .into()
}

fn font(words: &[&str]) -> Option<Vec<(String, String)>> {
    const SIZES: [&str; 9] = ["xx-small", "x-small", "small", "medium", "large", "x-large", "xx-large", "smaller", "larger"];
    let is_weight = |word: &str| word.len() == 3 && word.ends_with("00") && word.bytes().all(|byte| byte.is_ascii_digit());
    let at = words.iter().position(|word| (is_length(word) && !is_weight(word)) || is_one_of(word, &SIZES))?;
    let (mut style, mut weight) = ("normal", "normal");
    for word in &words[..at] {
        if is_one_of(word, &["italic", "oblique"]) {
            style = word;
        } else if is_weight(word) || is_one_of(word, &["bold", "bolder", "lighter"]) {
            weight = word;
        }
    }
    let (height, families) = match words.get(at + 1) {
        Some(&"/") => (*words.get(at + 2)?, words.get(at + 3..)?),
        _ => ("normal", &words[at + 1..]),
    };
    let family = families.join(" ").replace(" ,", ",");
    if family.is_empty() {
        return None;
    }
    let parts = [("style", style), ("weight", weight), ("size", words[at]), ("family", family.as_str())];
    let mut parts: Vec<_> = parts.map(|(part, value)| (format!("font-{part}"), value.to_owned())).into();
    parts.push(("line-height".to_owned(), height.to_owned()));
    Some(parts)
}

fn decoration(words: &[&str]) -> Vec<(String, String)> {
    let (mut lines, mut style, mut color) = (Vec::new(), "solid", "currentcolor");
    for word in words {
        if is_one_of(word, &["none", "underline", "overline", "line-through"]) {
            lines.push(*word);
        } else if is_one_of(word, &["solid", "double", "dotted", "dashed", "wavy"]) {
            style = word;
        } else if !is_length(word) {
            color = word;
        }
    }
    let line = if lines.is_empty() { "none".to_owned() } else { lines.join(" ") };
    named([
        ("text-decoration-line", line),
        ("text-decoration-style", style.to_owned()),
        ("text-decoration-color", color.to_owned()),
    ])
}

fn list(words: &[&str]) -> Vec<(String, String)> {
    let (mut kind, mut position, mut image) = ("disc", "outside", "none");
    for word in words {
        if begins_with(word, &["url("]) {
            image = word;
        } else if is_one_of(word, &["inside", "outside"]) {
            position = word;
        } else {
            kind = word;
        }
    }
    named([
        ("list-style-type", kind.to_owned()),
        ("list-style-position", position.to_owned()),
        ("list-style-image", image.to_owned()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(name: &str, value: &str) -> String {
        let parts = expand(name, value).unwrap_or_default();
        parts.iter().map(|(name, value)| format!("{name}:{value};")).collect()
    }

    #[test]
    fn shorthands_are_expanded() {
        for (name, value, parts) in [
            ("background", "#101418", "background-color:#101418;background-image:none;"),
            (
                "background",
                "rgb(1, 2, 3) url(a) no-repeat center top / cover",
                "background-color:rgb(1, 2, 3);background-image:url(a);background-repeat:no-repeat;\
                 background-position:center top;background-size:cover;",
            ),
            ("background", "none", "background-color:transparent;background-image:none;"),
            ("border", "0", "border-width:0;border-style:none;border-color:currentcolor;"),
            ("border-top", "2px SOLID #fff", "border-top-width:2px;border-top-style:SOLID;border-top-color:#fff;"),
            (
                "font",
                "italic 700 14px/1.5 Arial, 'Open Sans', sans-serif",
                "font-style:italic;font-weight:700;font-size:14px;font-family:Arial, 'Open Sans', sans-serif;line-height:1.5;",
            ),
            (
                "text-decoration",
                "none",
                "text-decoration-line:none;text-decoration-style:solid;text-decoration-color:currentcolor;",
            ),
            ("list-style", "none", "list-style-type:none;list-style-position:outside;list-style-image:none;"),
        ] {
            assert_eq!(expanded(name, value), parts);
        }
    }

    #[test]
    fn other_shorthands_stay() {
        for (name, value) in [("margin", "0 auto"), ("border", "inherit"), ("font", "caption"), ("background", "red, url(a)")] {
            assert_eq!(expand(name, value), None, "{name}: {value}");
        }
    }
}
