//! Finds the replacements that an email has for features that a client does not support.

use super::css::{Declaration, Kind, Owner};
use super::features::detect::Site;
use super::features::{FeatureId, TABLE};
use super::findings::{Hit, Side};
use super::html::Element;
use super::profile::DARK_QUERY;
use super::view::View;

/// The maximum number of hits that are checked.
const HITS_MAX: usize = 200;

/// Returns the replacement that the email has for a feature, if the email has a replacement for every hit.
pub fn of(side: &Side<'_>, feature: FeatureId, hits: &[Hit]) -> Option<&'static str> {
    let slug = TABLE.entry(feature)?.slug.as_str();
    if slug == DARK_QUERY {
        return Some("the design for light mode");
    }
    let mut found = None;
    for hit in hits.iter().take(HITS_MAX) {
        let Site::Declaration(index) = hit.used.site else { return None };
        let declaration = side.view.sheets.declarations.get(index as usize)?;
        found = Some(of_declaration(&side.view, slug, declaration)?);
    }
    found
}

fn of_declaration(view: &View<'_>, slug: &str, declaration: &Declaration) -> Option<&'static str> {
    let source = view.source;
    let element = match declaration.owner {
        Owner::Element(element) => view.element(element),
        _ => view.touched(declaration).first().and_then(|element| view.element(*element)),
    };
    let has = |name: &str| element.is_some_and(|element: &Element<'_>| view.document.attribute(source, element, name).is_some());
    let sibling = |names: &[&str]| {
        view.siblings(declaration).any(|other| names.iter().any(|name| other.name.of(source).eq_ignore_ascii_case(name)))
    };
    let is_color = |other: &Declaration| {
        let name = other.name.of(source);
        (name.eq_ignore_ascii_case("background-color") || name.eq_ignore_ascii_case("background"))
            && other.span != declaration.span
            && view.sheets.value(other).iter().any(|piece| matches!(piece.kind, Kind::Hash | Kind::Ident))
    };
    match slug {
        "css-linear-gradient" | "css-radial-gradient" | "css-conic-gradient" | "css-background-image" | "css-background" => {
            if has("bgcolor") {
                return Some("the bgcolor attribute");
            }
            view.siblings(declaration).any(is_color).then_some("a background color")
        }
        "css-background-color" => has("bgcolor").then_some("the bgcolor attribute"),
        "css-width" | "css-max-width" | "css-min-width" => has("width").then_some("the width attribute"),
        "css-height" | "css-min-height" | "css-max-height" => has("height").then_some("the height attribute"),
        "css-border-spacing" => has("cellspacing").then_some("the cellspacing attribute"),
        "css-vertical-align" => has("valign").then_some("the valign attribute"),
        "css-text-align" | "css-float" => has("align").then_some("the align attribute"),
        "css-margin" => has("align").then_some("the align attribute"),
        "css-direction" => has("dir").then_some("the dir attribute"),
        "css-display-none" | "css-display" => sibling(&["mso-hide"]).then_some("mso-hide"),
        _ => earlier_value(view, slug, declaration).then_some("an earlier declaration of the same property"),
    }
}

/// Returns whether an earlier declaration of the same property has a value that every client supports.
fn earlier_value(view: &View<'_>, slug: &str, declaration: &Declaration) -> bool {
    let is_value = slug.starts_with("css-function-")
        || slug.starts_with("css-unit-")
        || ["css-variables", "css-modern-color", "css-rgb", "css-rgba", "css-intrinsic-size"].contains(&slug);
    let name = declaration.name.of(view.source);
    let plain = |other: &Declaration| {
        let pieces = view.sheets.value(other);
        other.span.start < declaration.span.start
            && other.name.of(view.source).eq_ignore_ascii_case(name)
            && pieces.iter().all(|piece| match piece.kind {
                Kind::Function => false,
                Kind::Dimension => matches!(piece.unit(view.source), "px" | "pt" | "em"),
                _ => true,
            })
    };
    is_value && view.siblings(declaration).any(plain)
}
