//! Behavior specific to Word: its own properties, and sizes in attributes, which do not grow with the Windows scale factor.

use super::super::css::{Declaration, Owner};
use super::super::view::View;
use super::Edit;

/// Adds the edits that replace Word's own properties, which start with `mso-`, with standard properties that have the same effect.
pub fn own_properties(view: &View<'_>, edits: &mut Vec<Edit>) {
    for declaration in &view.sheets.declarations {
        let name = declaration.name.of(view.source).to_ascii_lowercase();
        let Some(name) = name.strip_prefix("mso-") else { continue };
        let value = view.value_text(declaration);
        let same = match name {
            "hide" if value.eq_ignore_ascii_case("all") => Some("display:none !important".to_owned()),
            "padding-alt" if is_in_cells(view, declaration) => Some(format!("padding:{value} !important")),
            "margin-top-alt" | "margin-bottom-alt" if !value.eq_ignore_ascii_case("auto") => {
                Some(format!("{}:{value} !important", name.trim_end_matches("-alt")))
            }
            _ => None,
        };
        edits.extend(same.map(|same| Edit::replace(declaration.span, same)));
    }
}

/// Returns whether a declaration applies only to table cells, which are the only elements with padding in Word.
fn is_in_cells(view: &View<'_>, declaration: &Declaration) -> bool {
    let is_cell = |index: u32| view.element(index).is_some_and(|element| matches!(&*element.name, "td" | "th"));
    match declaration.owner {
        Owner::Element(index) => is_cell(index),
        Owner::Rule(_) => view.touched(declaration).iter().all(|index| is_cell(*index)),
        Owner::AtRule(_) => false,
    }
}

/// Adds the edits for the Windows scale factor. At a higher factor, Word enlarges all sizes except those in attributes. The whole picture
/// is enlarged later, so the sizes in attributes are reduced here.
pub fn keep_attribute_sizes(view: &View<'_>, scale: f32, edits: &mut Vec<Edit>) {
    for element in &view.document.elements {
        if !matches!(&*element.name, "table" | "td" | "th" | "img") {
            continue;
        }
        let style = view.document.attribute(view.source, element, "style").unwrap_or_default().to_ascii_lowercase();
        for attribute in view.document.attributes_of(element) {
            let is_size = matches!(&*attribute.name, "width" | "height");
            // A size in the `style` attribute overrides the HTML attribute, except for images: Word ignores sizes in the `style` attribute
            // of an image.
            let is_styled = element.name != "img" && style.split(';').any(|one| one.trim_start().starts_with(&*attribute.name));
            if !is_size || is_styled {
                continue;
            }
            let pixels = attribute.value.of(view.source).trim().trim_end_matches("px").parse::<f32>();
            let pixels = pixels.ok().filter(|pixels| pixels.is_finite() && *pixels > 0.0);
            edits.extend(pixels.map(|pixels| Edit::replace(attribute.value, (pixels / scale).round().to_string())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::apply;
    use super::*;

    #[test]
    fn properties_of_word_replace_those_of_others() {
        let html = "<style>td.a{mso-padding-alt:4px}</style><td class=a style=\"padding:9px;mso-padding-alt:2px 4px;mso-line-height-rule:exactly\">\
                    <a style=\"mso-padding-alt:0px\">x</a><div style=\"mso-hide:all\">y</div></td>";
        let view = View::parse(html, true);
        let mut edits = Vec::new();
        own_properties(&view, &mut edits);
        let out = apply(html, edits);
        assert!(
            out.contains("td.a{padding:4px !important}") && out.contains("padding:9px;padding:2px 4px !important;mso-line"),
            "{out}"
        );
        assert!(out.contains("<a style=\"mso-padding-alt:0px\">") && out.contains("display:none !important\">y"), "{out}");
    }

    #[test]
    fn attributes_do_not_grow_with_the_resolution() {
        let html = "<table width=600><td width=\"50%\" height=100 style=\"height:100px\"><img width=200px height=50 style=\"width:100%\">";
        let mut edits = Vec::new();
        keep_attribute_sizes(&View::parse(html, true), 1.25, &mut edits);
        let expected =
            "<table width=480><td width=\"50%\" height=100 style=\"height:100px\"><img width=160 height=40 style=\"width:100%\">";
        assert_eq!(apply(html, edits), expected);
    }
}
