//! Draws the shapes of VML, which Word shows, as boxes of HTML.
//!
//! Emails use VML for two things: buttons with round corners (`v:roundrect`) and background images (`v:rect` with `v:fill`).

use super::super::html::Element;
use super::super::view::View;
use super::Edit;

/// Adds the edits that replace VML by boxes.
pub fn draw(view: &View<'_>, edits: &mut Vec<Edit>) {
    for (index, element) in (0_u32..).zip(&view.document.elements) {
        let Some((space, name)) = element.name.split_once(':') else { continue };
        let is_shape = space == "v" && matches!(name, "rect" | "roundrect" | "oval" | "shape" | "image");
        if is_shape {
            shape(view, index, element, name, edits);
        } else if space == "v" && name == "textbox" {
            edits.push(Edit::replace(element.start_tag, "<div>"));
            edits.extend(element.end_tag.map(|tag| Edit::replace(tag, "</div>")));
        } else {
            edits.push(Edit::remove(element.start_tag));
            edits.extend(element.end_tag.map(Edit::remove));
        }
    }
}

fn shape(view: &View<'_>, index: u32, element: &Element<'_>, name: &str, edits: &mut Vec<Edit>) {
    let attribute = |name: &str| view.document.attribute(view.source, element, name).unwrap_or_default();
    let style = attribute("style");
    let size = |name: &str| property(style, name);
    let mut css = String::from("display:inline-block;text-align:center;box-sizing:border-box");
    for side in ["width", "height"] {
        if let Some(value) = size(side) {
            css.push_str(&format!(";{side}:{value}"));
        }
    }
    let fill = view
        .document
        .elements
        .iter()
        .skip(index as usize + 1)
        .take(8)
        .find(|child| child.name == "v:fill" && child.parent == Some(index));
    let of_fill =
        |name: &str| fill.and_then(|fill| view.document.attribute(view.source, fill, name)).filter(|value| !value.is_empty());
    let is_false = |value: &str| value == "f" || value == "false";
    let color = of_fill("color").or_else(|| Some(attribute("fillcolor")).filter(|color| !color.is_empty()));
    if let Some(color) = color.filter(|_| !is_false(attribute("fill")) && !is_false(attribute("filled"))) {
        css.push_str(&format!(";background-color:{color}"));
    }
    let image = of_fill("src").or_else(|| Some(attribute("src")).filter(|src| name == "image" && !src.is_empty()));
    if let Some(image) = image {
        let repeat = if of_fill("type") == Some("tile") { "repeat" } else { "no-repeat;background-size:cover" };
        css.push_str(&format!(";background-image:url('{}');background-repeat:{repeat}", image.replace('\'', "%27")));
    }
    if !is_false(attribute("stroke")) && !is_false(attribute("stroked")) && name != "image" {
        let color = Some(attribute("strokecolor")).filter(|color| !color.is_empty()).unwrap_or("#000000");
        let weight = Some(attribute("strokeweight")).filter(|weight| !weight.is_empty()).unwrap_or("1px");
        css.push_str(&format!(";border:{weight} solid {color}"));
    }
    match name {
        "oval" => css.push_str(";border-radius:50%"),
        "roundrect" => css.push_str(&radius(attribute("arcsize"), size("width"), size("height"))),
        _ => {}
    }
    let href = attribute("href").replace('"', "&quot;");
    let css = css.replace('"', "&quot;").replace('<', "");
    let (open, close) = if href.is_empty() {
        (format!("<div style=\"{css}\">"), "</div>")
    } else {
        (format!("<a href=\"{href}\" style=\"text-decoration:none\"><div style=\"{css}\">"), "</div></a>")
    };
    let is_empty = element.end_tag.is_none();
    edits.push(Edit::replace(element.start_tag, if is_empty { format!("{open}{close}") } else { open }));
    edits.extend(element.end_tag.map(|tag| Edit::replace(tag, close)));
}

/// Returns a property of a style attribute.
fn property<'s>(style: &'s str, name: &str) -> Option<&'s str> {
    let declarations = style.split(';').filter_map(|declaration| declaration.split_once(':'));
    declarations.into_iter().find(|(property, _)| property.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// Returns the round corners of a shape. The size of an arc is a share of the shorter side.
fn radius(arc: &str, width: Option<&str>, height: Option<&str>) -> String {
    let pixels = |size: Option<&str>| size.and_then(|size| size.trim_end_matches("px").parse::<f32>().ok());
    let share = match arc.strip_suffix('%') {
        Some(percent) => percent.parse::<f32>().ok().map(|percent| percent / 100.0),
        // Without a size, Word rounds by 20 percent.
        None => arc.parse::<f32>().ok().or(Some(0.2)),
    };
    let shorter = [pixels(width), pixels(height)].into_iter().flatten().min_by(f32::total_cmp);
    match (share, shorter) {
        (Some(share), Some(shorter)) => format!(";border-radius:{}px", (share * shorter).round().clamp(0.0, 1000.0)),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::apply;
    use super::*;

    #[test]
    fn a_button_becomes_a_box_with_round_corners() {
        let html = concat!(
            "<v:roundrect href=\"https://example.com/\" style=\"height:40px;v-text-anchor:middle;width:200px\" arcsize=\"10%\" ",
            "stroke=\"f\" fillcolor=\"#2F6F4F\"><w:anchorlock/><center>Buy</center></v:roundrect>"
        );
        let view = View::parse(html, true);
        let mut edits = Vec::new();
        draw(&view, &mut edits);
        let out = apply(html, edits);
        assert!(out.contains("width:200px;height:40px;background-color:#2F6F4F;border-radius:4px"), "{out}");
        assert!(out.starts_with("<a href=\"https://example.com/\"") && out.ends_with("<center>Buy</center></div></a>"), "{out}");
    }

    #[test]
    fn a_filled_rectangle_keeps_its_image() {
        let html = concat!(
            "<v:rect fill=\"true\" stroke=\"false\" style=\"width:600px\"><v:fill type=\"tile\" ",
            "src=\"https://example.com/a.png\" color=\"#fff\"/><v:textbox>x</v:textbox></v:rect>"
        );
        let view = View::parse(html, true);
        let mut edits = Vec::new();
        draw(&view, &mut edits);
        let out = apply(html, edits);
        assert!(out.contains("background-image:url('https://example.com/a.png')") && out.contains("<div>x</div></div>"), "{out}");
    }
}
