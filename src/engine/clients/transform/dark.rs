//! Applies dark modes: changes the lightness of colors in OKLab, and keeps their hue.
//!
//! Clients do not publish their formulas. It is known which colors each kind of dark mode changes, but the resulting colors are
//! approximate: white becomes nearly black, and black becomes white.

use crate::base::color::{self, Oklch};
use crate::base::text::Color;

use super::super::css::{CssToken, TokenKind};
use super::super::profile::DarkMode;
use super::super::view::View;
use super::{Edit, apply};
use crate::base::source::Span;

/// The lightness to which dark mode changes a white background, similar to that of #121212.
const DARKEST: f32 = 0.18;
/// The lightness that limits partial dark mode: darker backgrounds and lighter text are not changed.
const THRESHOLD: f32 = 0.55;

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Background,
    Text,
}

/// Returns the email as a client shows it in dark mode.
pub fn darken(html: &str, mode: DarkMode) -> String {
    let view = View::parse(html, false);
    let mut edits = dark_queries(&view);
    if mode != DarkMode::OptIn {
        recolor(&view, mode, &mut edits);
    }
    apply(html, edits)
}

/// Returns the style of the window around an email in dark mode. In a client that only applies the email's own dark styles, the window is
/// dark if the email supports dark mode or sets no colors.
pub fn canvas(html: &str, mode: DarkMode) -> &'static str {
    let is_dark = match mode {
        DarkMode::None => false,
        DarkMode::Partial | DarkMode::Full => true,
        DarkMode::OptIn => {
            let view = View::parse(html, false);
            supports_dark(&view) || !has_colors(&view)
        }
    };
    if is_dark { "html,body{background-color:#121212;color:#FFFFFF}a{color:#8AB4F8}" } else { "" }
}

/// Returns whether an email declares that it supports dark mode: with a media query, with `color-scheme`, or in a `meta` element.
fn supports_dark(view: &View<'_>) -> bool {
    let names_dark = |text: &str| text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word.eq_ignore_ascii_case("dark"));
    let in_query = view.sheets.at_rules.iter().any(|at_rule| {
        let pieces = view.sheets.prelude(at_rule);
        pieces.iter().any(|piece| piece.is(view.source, "prefers-color-scheme"))
            && pieces.iter().any(|piece| piece.kind == TokenKind::Ident && piece.is(view.source, "dark"))
    });
    let in_style = view.sheets.declarations.iter().any(|declaration| {
        let name = declaration.name.of(view.source);
        ["color-scheme", "supported-color-schemes"].iter().any(|one| name.eq_ignore_ascii_case(one))
            && names_dark(view.value_text(declaration))
    });
    let in_meta = view.document.elements.iter().filter(|element| element.name == "meta").any(|element| {
        let attribute = |name: &str| view.document.attribute(view.source, element, name).unwrap_or_default();
        ["color-scheme", "supported-color-schemes"].iter().any(|one| attribute("name").eq_ignore_ascii_case(one))
            && names_dark(attribute("content"))
    });
    in_query || in_style || in_meta
}

fn has_colors(view: &View<'_>) -> bool {
    let in_style = view.sheets.declarations.iter().any(|declaration| {
        let name = declaration.name.of(view.source);
        ["color", "background", "background-color"].iter().any(|one| name.eq_ignore_ascii_case(one))
    });
    let is_color = |name: &str| matches!(name, "bgcolor" | "color" | "text");
    in_style || view.document.attributes.iter().any(|attribute| is_color(&attribute.name))
}

/// Makes media queries for the dark color scheme match, and those for the light color scheme fail.
fn dark_queries(view: &View<'_>) -> Vec<Edit> {
    let mut edits = Vec::new();
    for at_rule in &view.sheets.at_rules {
        let pieces = view.sheets.prelude(at_rule);
        for (index, piece) in pieces.iter().enumerate() {
            let rest = pieces.get(index + 1..).unwrap_or_default();
            if piece.kind != TokenKind::Ident || !piece.is(view.source, "prefers-color-scheme") {
                continue;
            }
            let Some(value) =
                rest.iter().take_while(|piece| piece.kind != TokenKind::Close).find(|piece| piece.kind == TokenKind::Ident)
            else {
                continue;
            };
            let span = Span { start: piece.span.start, end: value.span.end };
            edits.push(Edit::replace(span, if value.is(view.source, "dark") { "min-width:0px" } else { "max-width:0px" }));
        }
    }
    edits
}

fn recolor(view: &View<'_>, mode: DarkMode, edits: &mut Vec<Edit>) {
    for declaration in &view.sheets.declarations {
        let name = declaration.name.of(view.source).to_ascii_lowercase();
        let role = match name.as_str() {
            "color" | "-webkit-text-fill-color" => Role::Text,
            name if name.starts_with("background") || name.starts_with("border") => Role::Background,
            _ => continue,
        };
        let in_dark_query = view.sheets.rules.get(owner_rule(declaration.owner)).and_then(|rule| rule.at_rule);
        let in_dark_query = in_dark_query.and_then(|index| view.sheets.at_rules.get(index as usize));
        if in_dark_query
            .is_some_and(|at_rule| view.sheets.prelude(at_rule).iter().any(|piece| piece.is(view.source, "prefers-color-scheme")))
        {
            continue;
        }
        let mut depth_end = 0;
        for piece in view.sheets.value(declaration) {
            if piece.span.start >= depth_end {
                depth_end = recolor_piece(view, piece, role, mode, edits);
            }
        }
    }
    for element in &view.document.elements {
        for attribute in view.document.attributes_of(element) {
            let role = match &*attribute.name {
                "bgcolor" => Role::Background,
                "color" | "text" => Role::Text,
                _ => continue,
            };
            let new = color::parse(attribute.value.of(view.source)).and_then(|painted| changed(painted.color, role, mode));
            edits.extend(new.map(|new| Edit::replace(attribute.value, new.to_string())));
        }
    }
}

fn owner_rule(owner: super::Owner) -> usize {
    match owner {
        super::Owner::Rule(rule) => rule as usize,
        _ => usize::MAX,
    }
}

/// Recolors a token, and returns the offset after it.
fn recolor_piece(view: &View<'_>, piece: &CssToken, role: Role, mode: DarkMode, edits: &mut Vec<Edit>) -> u32 {
    let is_color = match piece.kind {
        TokenKind::Hash | TokenKind::Ident => true,
        TokenKind::Function => ["rgb", "rgba", "hsl", "hsla"].iter().any(|name| piece.is(view.source, name)),
        _ => false,
    };
    if !is_color {
        return piece.span.end;
    }
    let end = view.sheets.pieces.get(piece.close as usize).filter(|_| piece.kind == TokenKind::Function);
    let span = Span { start: piece.span.start, end: end.map_or(piece.span.end, |close| close.span.end) };
    let painted = color::parse(span.of(view.source)).filter(|painted| painted.alpha > 0.0);
    if let Some((new, alpha)) = painted.and_then(|painted| Some((changed(painted.color, role, mode)?, painted.alpha))) {
        let Color { red, green, blue } = new;
        let written = if alpha >= 1.0 { new.to_string() } else { format!("rgba({red},{green},{blue},{alpha})") };
        edits.push(Edit::replace(span, written));
    }
    span.end
}

fn changed(color: Color, role: Role, mode: DarkMode) -> Option<Color> {
    let seen = color::seen(color);
    let flips = match (mode, role) {
        (DarkMode::Full, _) => true,
        (DarkMode::Partial, Role::Background) => seen.lightness > THRESHOLD,
        (DarkMode::Partial, Role::Text) => seen.lightness < THRESHOLD,
        _ => false,
    };
    flips.then(|| of_seen(Oklch { lightness: 1.0 - (1.0 - DARKEST) * seen.lightness, ..seen }))
}

/// Converts OKLCH to sRGB. Reduces the chroma until the color exists in sRGB.
fn of_seen(seen: Oklch) -> Color {
    let mut chroma = seen.chroma;
    loop {
        let channels = linear_channels(Oklch { chroma, ..seen });
        if chroma < 0.002 || channels.iter().all(|channel| (-0.001..=1.001).contains(channel)) {
            let [red, green, blue] = channels.map(encode);
            return Color { red, green, blue };
        }
        chroma *= 0.95;
    }
}

/// Converts OKLCH to linear sRGB with the matrices of Björn Ottosson's OKLab.
fn linear_channels(seen: Oklch) -> [f32; 3] {
    let (a, b) = (seen.chroma * seen.hue.to_radians().cos(), seen.chroma * seen.hue.to_radians().sin());
    let l = (seen.lightness + 0.396_337_78 * a + 0.215_803_76 * b).powi(3);
    let m = (seen.lightness - 0.105_561_346 * a - 0.063_854_17 * b).powi(3);
    let s = (seen.lightness - 0.089_484_18 * a - 1.291_485_5 * b).powi(3);
    [
        4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
        -1.268_438 * l + 2.609_757_4 * m - 0.341_319_38 * s,
        -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
    ]
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the value is clamped to 0 to 255")]
fn encode(linear: f32) -> u8 {
    let linear = linear.clamp(0.0, 1.0);
    let share = if linear <= 0.003_130_8 { linear * 12.92 } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
    (share * 255.0).round().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(color: &str, role: Role, mode: DarkMode) -> String {
        let color = color.parse().expect("the color is valid");
        changed(color, role, mode).map_or_else(|| "same".into(), |color| color.to_string())
    }

    #[test]
    fn white_turns_dark_and_hues_stay() {
        let full = |color: &str| after(color, Role::Background, DarkMode::Full);
        assert_eq!((full("#FFFFFF").as_str(), full("#000000").as_str()), ("#121212", "#FFFFFF"));
        assert_eq!(full("#FFFFFE"), "#121211");
        let before = color::seen("#2F6F4F".parse().expect("the color is valid"));
        let new = color::seen(full("#2F6F4F").parse().expect("the color is valid"));
        assert!((before.hue - new.hue).abs() < 3.0 && new.lightness > before.lightness, "{before:?} {new:?}");
    }

    #[test]
    fn a_partial_dark_mode_keeps_dark_areas_and_light_text() {
        let partial = |color: &str, role| after(color, role, DarkMode::Partial);
        assert_eq!(partial("#222222", Role::Background), "same");
        assert_eq!(partial("#FFFFFF", Role::Text), "same");
        assert_ne!(partial("#FFFFFF", Role::Background), "same");
        assert_ne!(partial("#333333", Role::Text), "same");
    }

    #[test]
    fn the_window_is_dark_if_the_email_supports_it_or_has_no_colors() {
        let is_dark = |html: &str, mode| !canvas(html, mode).is_empty();
        for html in [
            "<style>@media (prefers-color-scheme: dark) { p { color: white } }</style>",
            "<meta name=color-scheme content=\"light dark\"><p style=\"color:red\">x",
            "<style>:root{color-scheme:light dark}</style><p bgcolor=red>x",
            "<p>x",
        ] {
            assert!(is_dark(html, DarkMode::OptIn), "{html}");
        }
        assert!(!is_dark("<p style=\"color:#222\">x", DarkMode::OptIn));
        assert!(!is_dark("<meta name=color-scheme content=\"light only\"><td bgcolor=white>", DarkMode::OptIn));
        assert!(is_dark("<td bgcolor=white>", DarkMode::Partial) && !is_dark("<p>x", DarkMode::None));
    }

    #[test]
    fn opt_in_applies_only_the_styles_for_dark_mode() {
        let html = "<style>@media (prefers-color-scheme: dark) { p { color: white } }</style><p style=\"color:#000\">x</p>";
        let out = darken(html, DarkMode::OptIn);
        assert_eq!(out, html.replace("prefers-color-scheme: dark", "min-width:0px"));
        let full = darken(html, DarkMode::Full);
        assert!(full.contains("color:#FFFFFF\">x") && full.contains("p { color: white }"), "{full}");
    }
}
