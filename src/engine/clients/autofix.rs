//! Replacements that resolve a finding without changing what other clients show.

use super::css::{Declaration, Kind, Owner};
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

/// Returns the replacement for a use of a feature, if a safe one exists.
pub fn of(view: &View<'_>, feature: FeatureId, used: &Use) -> Option<Patch> {
    let slug = TABLE.entry(feature)?.slug.as_str();
    match used.site {
        Site::CssComment(_) if slug == "css-comments" => Some(Patch { span: used.span, replacement: String::new() }),
        Site::Declaration(index) => declaration(view, slug, used, view.sheets.declarations.get(index as usize)?),
        _ => None,
    }
}

fn declaration(view: &View<'_>, slug: &str, used: &Use, declaration: &Declaration) -> Option<Patch> {
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
            if inline && hides { at_start("mso-hide: all; ") } else { None }
        }
        "css-text-align" => {
            let value = view.sheets.value(declaration).first().filter(|piece| piece.kind == Kind::Ident)?;
            let side = if value.is(source, "start") {
                "left"
            } else if value.is(source, "end") {
                "right"
            } else {
                return None;
            };
            // In right-to-left text, the start is the right side.
            let is_rtl = source.contains("rtl");
            if is_rtl { None } else { replaced(value.span, side) }
        }
        "css-rgb" | "css-rgba" => replaced(used.span, &with_commas(used.span.of(source))?),
        "css-unit-rem" | "css-font-size" => rem(view, declaration),
        "css-font-weight" => {
            let weight = view.sheets.value(declaration).first().filter(|piece| piece.kind == Kind::Number)?;
            replaced(weight.span, if weight.number < 600.0 { "400" } else { "700" })
        }
        _ => None,
    }
}

/// Returns a color such as `rgb(0 128 0 / 50%)` written with commas, or as a hexadecimal number if it is opaque.
fn with_commas(color: &str) -> Option<String> {
    let inside = color.split_once('(')?.1.strip_suffix(')')?;
    let parts: Vec<&str> = inside.split([' ', '/', ',']).filter(|part| !part.is_empty()).collect();
    let [red, green, blue, alpha @ ..] = parts.as_slice() else { return None };
    let channel = |text: &str| match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f32>().ok().map(|percent| percent * 2.55),
        None => text.parse::<f32>().ok(),
    };
    let byte = |text: &str| channel(text).filter(|value| (0.0..=255.0).contains(value)).map(|value| format!("{value:.0}"));
    let (red, green, blue) = (byte(red)?, byte(green)?, byte(blue)?);
    match alpha {
        [] => {
            let [red, green, blue] = [red.parse::<u8>().ok()?, green.parse::<u8>().ok()?, blue.parse::<u8>().ok()?];
            Some(format!("#{red:02X}{green:02X}{blue:02X}"))
        }
        [alpha] => {
            let alpha = match alpha.strip_suffix('%') {
                Some(percent) => percent.parse::<f32>().ok()? / 100.0,
                None => alpha.parse::<f32>().ok()?,
            };
            Some(format!("rgba({red}, {green}, {blue}, {alpha})"))
        }
        _ => None,
    }
}

/// Returns the patch that replaces a `rem` value with its value in `px`, unless the email changes the font size of the root element.
fn rem(view: &View<'_>, declaration: &Declaration) -> Option<Patch> {
    let value = view.sheets.value(declaration);
    let rem = value.iter().find(|piece| piece.kind == Kind::Dimension && piece.unit(view.source).eq_ignore_ascii_case("rem"))?;
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

    #[test]
    fn colors_get_commas() {
        assert_eq!(with_commas("rgb(0 128 0)").as_deref(), Some("#008000"));
        assert_eq!(with_commas("rgba(0 128 0 / 50%)").as_deref(), Some("rgba(0, 128, 0, 0.5)"));
        assert_eq!(with_commas("rgb(0, 128, 0, .5)").as_deref(), Some("rgba(0, 128, 0, 0.5)"));
        assert_eq!(with_commas("rgb(none 1 2)"), None);
        assert_eq!(with_commas("rgb(var(--a))"), None);
    }
}
