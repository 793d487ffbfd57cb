//! Replacements that resolve a finding and change little or nothing in other clients.

use super::css::{Declaration, Owner, TokenKind};
use super::features::detect::{Site, Use};
use super::features::{FeatureId, TABLE};
use super::view::View;
use crate::base::source::Span;

/// Text that replaces a span of the email's source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    pub span: Span,
    pub replacement: String,
}

/// Returns the replacement for a use of a feature, if a safe one exists. `word` states whether the client renders with Word.
pub fn of(view: &View<'_>, feature: FeatureId, used: &Use, word: bool) -> Option<Patch> {
    let slug = TABLE.entry(feature)?.slug.as_str();
    match used.site {
        Site::CssComment(_) if slug == "css-comments" => Some(Patch { span: used.span, replacement: String::new() }),
        Site::Declaration(index) => declaration(view, slug, used, word, view.sheets.declarations.get(index as usize)?),
        _ => None,
    }
}

fn declaration(view: &View<'_>, slug: &str, used: &Use, word: bool, declaration: &Declaration) -> Option<Patch> {
    let source = view.source;
    let replaced = |span: Span, replacement: &str| Some(Patch { span, replacement: replacement.to_owned() });
    let at_start = |text: &str| {
        let start = declaration.span.start;
        replaced(Span { start, end: start }, text)
    };
    match slug {
        "css-important" => {
            let important = declaration.important?;
            if important.lowercase && important.space_before {
                return None;
            }
            replaced(used.span, if important.space_before { "!important" } else { " !important" })
        }
        "css-line-height" => at_start("mso-line-height-rule: exactly; "),
        "css-display-none" | "css-display" => {
            let inline = matches!(declaration.owner, Owner::Element(_));
            let hides = view.value_text(declaration).eq_ignore_ascii_case("none");
            // Only Word reads `mso-hide`, so the property does not help in other clients.
            let helps = word && !view.siblings(declaration).any(|other| other.name.of(source).eq_ignore_ascii_case("mso-hide"));
            if inline && hides && helps { at_start("mso-hide: all; ") } else { None }
        }
        "css-text-align" => {
            let value = view.sheets.value(declaration).first().filter(|piece| piece.kind == TokenKind::Ident)?;
            let side = if value.is(source, "start") {
                "left"
            } else if value.is(source, "end") {
                "right"
            } else {
                return None;
            };
            // In right-to-left text, `start` is the right side, so emails with such text get no replacement.
            let is_rtl = source.contains("rtl");
            if is_rtl { None } else { replaced(value.span, side) }
        }
        "css-rgb" | "css-rgba" => replaced(used.span, &hexadecimal(used.span.of(source))?),
        "css-unit-rem" | "css-font-size" => rem(view, declaration),
        "css-font-weight" => {
            let weight = view.sheets.value(declaration).first().filter(|piece| piece.kind == TokenKind::Number)?;
            replaced(weight.span, if weight.number < 600.0 { "400" } else { "700" })
        }
        _ => None,
    }
}

/// Returns an opaque color such as `rgb(0 128 0)` in hexadecimal notation. Transparent colors have no replacement, because clients that do
/// not support `rgba` cannot show them in any notation.
fn hexadecimal(color: &str) -> Option<String> {
    let inside = color.split_once('(')?.1.strip_suffix(')')?;
    let parts: Vec<&str> = inside.split([' ', '/', ',']).filter(|part| !part.is_empty()).collect();
    let [red, green, blue, alpha @ ..] = parts.as_slice() else { return None };
    let channel = |text: &str| match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f32>().ok().map(|percent| percent * 2.55),
        None => text.parse::<f32>().ok(),
    };
    let byte = |text: &str| channel(text).filter(|value| (0.0..=255.0).contains(value)).map(|value| value.round() as u8);
    let (red, green, blue) = (byte(red)?, byte(green)?, byte(blue)?);
    let opaque = match alpha {
        [] => true,
        [alpha] => match alpha.strip_suffix('%') {
            Some(percent) => percent.parse::<f32>().is_ok_and(|percent| percent >= 100.0),
            None => alpha.parse::<f32>().is_ok_and(|alpha| alpha >= 1.0),
        },
        _ => false,
    };
    opaque.then(|| format!("#{red:02X}{green:02X}{blue:02X}"))
}

/// Returns the patch that replaces a `rem` value with its value in `px`, unless the email changes the font size of the root element.
fn rem(view: &View<'_>, declaration: &Declaration) -> Option<Patch> {
    let value = view.sheets.value(declaration);
    let rem =
        value.iter().find(|piece| piece.kind == TokenKind::Dimension && piece.unit(view.source).eq_ignore_ascii_case("rem"))?;
    let html = view.document.elements.iter().find(|element| element.name == "html");
    let styled = html.is_some_and(|html| view.document.attribute(view.source, html, "style").is_some());
    let in_rule = view.sheets.rules.iter().any(|rule| {
        let prelude = rule.prelude.of(view.source);
        prelude.contains("html") || prelude.contains(":root")
    });
    let pixels = (rem.number * 16.0 * 100.0).round() / 100.0;
    (!styled && !in_rule).then(|| Patch { span: rem.span, replacement: format!("{pixels}px") })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the replacements for the uses of a feature.
    fn replacements(html: &str, slug: &str, word: bool) -> Vec<String> {
        let view = View::parse(html, word);
        let feature = TABLE.get(slug).expect("the feature exists");
        let uses = super::super::features::detect::uses(&view).into_iter().filter(|used| used.feature == feature);
        uses.filter_map(|used| of(&view, feature, &used, word)).map(|patch| patch.replacement).collect()
    }

    #[test]
    fn only_opaque_colors_have_a_replacement() {
        assert_eq!(hexadecimal("rgb(0 128 0)").as_deref(), Some("#008000"));
        assert_eq!(hexadecimal("rgba(0, 128, 0, 1)").as_deref(), Some("#008000"));
        assert_eq!(hexadecimal("rgb(0 128 0 / 100%)").as_deref(), Some("#008000"));
        for color in ["rgba(0,0,0,.12)", "rgba(0 128 0 / 50%)", "rgb(none 1 2)", "rgb(var(--a))"] {
            assert_eq!(hexadecimal(color), None, "{color}");
        }
    }

    #[test]
    fn mso_hide_is_added_once_and_only_for_word() {
        let hidden = "<div style=\"display:none\"><table><tr><td>x</td></tr></table></div>";
        assert_eq!(replacements(hidden, "css-display-none", true), ["mso-hide: all; "]);
        assert_eq!(replacements(hidden, "css-display-none", false), [""; 0]);
        let fixed = hidden.replace("display", "mso-hide:all;display");
        assert_eq!(replacements(&fixed, "css-display-none", true), [""; 0]);
    }
}
