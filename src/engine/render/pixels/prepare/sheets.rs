//! Converts the style sheets of emails for the engine: replaces image URLs with keys, evaluates media queries that the engine cannot
//! evaluate, and drops rules without effect.

use crate::engine::render::css::{self, CssRule};

use super::images::{EmailImages, MISSING};
use super::longhands;

/// The maximum length of a value. A gradient of twenty colors takes 500 bytes.
const VALUE_BYTES_MAX: usize = 8 * 1024;
/// The maximum number of shadows. The engine draws each shadow over the whole box, which takes a long time. Designs have up to six.
const SHADOWS_MAX: usize = 8;
/// The maximum nesting depth of at-rules.
const LEVELS_MAX: usize = 8;

/// The properties of the medium that media queries test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Medium {
    pub dark: bool,
    /// Whether the medium is a PDF. The engine treats a PDF as print, but emails are designed for screens, so media queries for screens are
    /// made to match a PDF.
    pub paper: bool,
    /// The number of device pixels per CSS pixel.
    pub density: f32,
}

/// Converts a style sheet for the engine.
pub fn sheet(text: &str, medium: Medium, pictures: &mut EmailImages<'_>) -> String {
    let mut out = String::with_capacity(text.len());
    push_sheet(text, medium, pictures, 0, &mut out);
    out
}

fn push_sheet(text: &str, medium: Medium, pictures: &mut EmailImages<'_>, level: usize, out: &mut String) {
    if level > LEVELS_MAX {
        return;
    }
    for piece in css::pieces(text) {
        match piece {
            CssRule::Rule { selectors, body } if !selectors.is_empty() => {
                let selectors = untouched(selectors);
                if selectors.is_empty() {
                    continue;
                }
                let made = declarations(body, pictures);
                // As in browsers, the background color of the body fills the whole window.
                if selectors.split(',').any(|selector| selector.trim().eq_ignore_ascii_case("body")) {
                    out.push_str(&canvas(&made).map_or(String::new(), |rule| format!(":where(html){rule}\n")));
                }
                out.push_str(&format!("{selectors}{{{made}}}\n"));
            }
            CssRule::At { name, prelude, body: Some(body) } if matches!(name.as_str(), "media" | "supports" | "layer") => {
                let prelude = if name == "media" { query(prelude, medium) } else { prelude.to_owned() };
                out.push_str(&format!("@{name} {prelude}{{"));
                push_sheet(body, medium, pictures, level + 1, out);
                out.push_str("}\n");
            }
            // All other rules are dropped: imports, external fonts, page rules, animations, and rules for individual email clients.
            CssRule::Rule { .. } | CssRule::At { .. } => {}
        }
    }
}

/// Returns a selector list in the engine's syntax. Selectors that depend on user interaction, such as `:hover`, and selectors with a
/// Mozilla pseudo-element are removed.
fn untouched(selectors: &str) -> String {
    const TOUCHED: [&str; 6] = [":visited", ":hover", ":active", ":focus", "::selection", "::-moz"];
    let kept: Vec<String> = selectors
        .split(',')
        .filter(|selector| !TOUCHED.iter().any(|state| selector.to_ascii_lowercase().contains(state)))
        .map(|selector| selector.trim().replace(":link", "[href]"))
        .collect();
    // If the split at commas broke a list inside parentheses, keep the original selectors.
    let whole = kept.iter().all(|selector| selector.matches('(').count() == selector.matches(')').count());
    if whole { kept.join(", ") } else { selectors.to_owned() }
}

/// Returns declarations in the engine's syntax.
pub fn declarations(body: &str, pictures: &mut EmailImages<'_>) -> String {
    let mut out = String::with_capacity(body.len());
    for one in css::declarations(body) {
        let costly = one.value.len() > VALUE_BYTES_MAX
            || (one.name.ends_with("-shadow") && one.value.matches(',').count() > SHADOWS_MAX * 4);
        if costly || one.name.starts_with("mso-") {
            continue;
        }
        let value = if one.value.contains('(') {
            css::with_urls(one.value, &mut |address| pictures.key(address).unwrap_or_else(|| MISSING.to_owned()))
        } else {
            one.value.to_owned()
        };
        if !one.important {
            out.push_str(&format!("{}:{value};", one.name));
            continue;
        }
        match longhands::expand(&one.name, &value) {
            Some(parts) => parts.iter().for_each(|(name, value)| out.push_str(&format!("{name}:{value} !important;"))),
            None => out.push_str(&format!("{}:{value} !important;", one.name)),
        }
    }
    out
}

/// Returns the `{ … }` block of a rule that gives the whole window the background color from these declarations of the `body` element.
pub fn canvas(declarations: &str) -> Option<String> {
    let mut colors = Vec::new();
    for one in css::declarations(declarations) {
        let color = match one.name.as_str() {
            "background-color" => Some(one.value.to_owned()),
            "background" => {
                let parts = longhands::expand("background", one.value).unwrap_or_default();
                parts.into_iter().find(|(name, _)| name == "background-color").map(|(_, value)| value)
            }
            _ => None,
        };
        let important = if one.important { " !important" } else { "" };
        colors.extend(color.map(|color| format!("background-color:{color}{important};")));
    }
    (!colors.is_empty()).then(|| format!("{{{}}}", colors.concat()))
}

const ALWAYS: &str = "(min-width:0px)";
const NEVER: &str = "(min-width:1000000px)";

/// Returns a media query without the features that this module knows but the engine does not support: each is replaced by a condition that
/// is always or never true.
pub fn query(prelude: &str, medium: Medium) -> String {
    let mut out = String::with_capacity(prelude.len());
    let mut rest = prelude;
    while let Some(open) = rest.find('(') {
        push_types(&rest[..open], medium, &mut out);
        let inside = &rest[open + 1..];
        let end = inside.find(['(', ')']).unwrap_or(inside.len());
        if !inside[end..].starts_with(')') {
            // This is a nested condition: only the innermost conditions are features.
            out.push('(');
            rest = inside;
            continue;
        }
        out.push_str(&feature(&inside[..end], medium));
        rest = &inside[end + 1..];
    }
    push_types(rest, medium, &mut out);
    out
}

/// Writes media types. The engine treats paper as print, but emails are designed for screens, so for paper, `screen` is replaced by a type
/// that matches, and `print` by one that does not.
fn push_types(text: &str, medium: Medium, out: &mut String) {
    if !medium.paper {
        out.push_str(text);
        return;
    }
    for word in text.split_inclusive(|c: char| !c.is_ascii_alphabetic()) {
        let end = word.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(word.len());
        let (name, after) = word.split_at(end);
        out.push_str(match name.to_ascii_lowercase().as_str() {
            "screen" => "all",
            "print" => "tty",
            _ => name,
        });
        out.push_str(after);
    }
}

fn feature(inside: &str, medium: Medium) -> String {
    let compact: String = inside.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
    let (name, value) = compact.split_once(':').unwrap_or((&compact, ""));
    let answer = match name {
        "prefers-color-scheme" => value.is_empty() || (value == "dark") == medium.dark && matches!(value, "dark" | "light"),
        "prefers-reduced-motion" | "prefers-contrast" | "prefers-reduced-transparency" => value == "no-preference",
        "-webkit-min-device-pixel-ratio" | "min--moz-device-pixel-ratio" => {
            value.parse::<f32>().is_ok_and(|least| least <= medium.density)
        }
        "-webkit-max-device-pixel-ratio" => value.parse::<f32>().is_ok_and(|most| most >= medium.density),
        "hover" | "any-hover" => matches!(value, "hover" | ""),
        "pointer" | "any-pointer" => matches!(value, "fine" | ""),
        "forced-colors" | "inverted-colors" => value == "none",
        _ => return format!("({})", inside.replace("device-width", "width")),
    };
    if answer { ALWAYS } else { NEVER }.to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const LIGHT: Medium = Medium { dark: false, paper: false, density: 1.0 };

    #[test]
    fn color_schemes_are_evaluated() {
        let dark = Medium { dark: true, ..LIGHT };
        for (text, in_light, in_dark) in [
            ("(prefers-color-scheme:dark)", NEVER, ALWAYS),
            ("( prefers-color-scheme : LIGHT )", ALWAYS, NEVER),
            ("(prefers-color-scheme: sepia)", NEVER, NEVER),
        ] {
            assert_eq!((query(text, LIGHT).as_str(), query(text, dark).as_str()), (in_light, in_dark), "{text}");
        }
        assert_eq!(
            query("only screen and (max-device-width: 480px) and (not (prefers-color-scheme: dark))", LIGHT),
            format!("only screen and (max-width: 480px) and (not {NEVER})")
        );
    }

    #[test]
    fn on_paper_screen_rules_apply() {
        let paper = Medium { paper: true, ..LIGHT };
        assert_eq!(query("only screen and (min-width:480px), print", paper), "only all and (min-width:480px), tty");
        assert_eq!(query("Screen", LIGHT), "Screen");
    }

    #[test]
    fn selectors_without_interaction_are_kept() {
        assert_eq!(untouched("a:link, a:visited,b:HOVER , c"), "a[href], c");
        assert_eq!(untouched("a:is(b, c) d"), "a:is(b, c) d");
        assert_eq!(untouched("a:visited"), "");
    }

    #[test]
    fn rules_for_the_engine_are_kept_and_others_dropped() {
        let given = BTreeMap::from([("a.png".to_owned(), super::super::images::tests::file(1, 1, image::ImageFormat::Png))]);
        let given = super::super::GivenImages { files: &given, pixels: 1 };
        let mut pictures = EmailImages::new(&given, &[]);
        let text = "@import url(x.css); @font-face{src:url(f.woff)} @keyframes a{from{top:0}} .a, .b > c {color:red;mso-x:1;\
                    background:url(a.png) url('b.png')} @media print{@media screen{i{top:1px!important}}}";
        let made = sheet(text, LIGHT, &mut pictures);
        let expected = ".a, .b > c{color:red;background:url(\"image:0\") url(\"image:none\");}\n\
                        @media print{@media screen{i{top:1px !important;}\n}\n}\n";
        assert_eq!(made, expected);
        assert_eq!(pictures.absent, ["b.png"]);
        let shadows = format!("box-shadow:{}", vec!["0 0 9px red"; 40].join(","));
        assert_eq!(declarations(&shadows, &mut pictures), "");
        assert_eq!(sheet(&format!("{}a{{b:c}}", "@media all{".repeat(50)), LIGHT, &mut pictures).matches("b:c").count(), 0);
    }
}
