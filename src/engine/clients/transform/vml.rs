//! Converts VML shapes, which Word shows, to HTML boxes.
//!
//! Emails use VML mainly for two things: buttons with rounded corners (`v:roundrect`) and background images (`v:rect` with `v:fill`).

use super::super::html::Element;
use super::super::view::View;
use super::Edit;

/// Adds the edits that replace VML shapes with boxes, and that remove the tags of other elements with a namespace prefix.
pub fn draw(view: &View<'_>, edits: &mut Vec<Edit>) {
    for (index, element) in (0_u32..).zip(&view.document.elements) {
        let Some((space, name)) = element.name.split_once(':') else { continue };
        let is_shape = space == "v" && matches!(name, "rect" | "roundrect" | "oval" | "shape" | "image");
        if is_shape {
            shape(view, index, element, name, edits);
        } else if space == "v" && name == "textbox" {
            edits.push(Edit::replace(element.start_tag, format!("<div style=\"padding:{}\">", inset(view, element))));
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
    let anchor = match size("v-text-anchor").map(str::to_ascii_lowercase).as_deref() {
        Some("middle" | "middle-center") => ";display:inline-flex;flex-direction:column;justify-content:center",
        Some("bottom") => ";display:inline-flex;flex-direction:column;justify-content:flex-end",
        _ => ";display:inline-block",
    };
    let align = if name == "roundrect" { "center" } else { "left" };
    let mut css = format!("box-sizing:border-box;text-align:{align}{anchor}");
    let is_full = size("mso-width-percent")
        .is_some_and(|share| share.trim_end_matches('%').parse::<f32>().is_ok_and(|share| share >= 1000.0));
    if let Some(width) = if is_full { Some("100%") } else { size("width") } {
        css.push_str(&format!(";width:{width}"));
    }
    if let Some(height) = size("height") {
        // A shape grows if the content of its text box is taller, so the height is a minimum.
        css.push_str(&format!(";min-height:{height}"));
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
    // Earlier edits remove the `src` of an image whose format the client does not show. Such an image is not drawn.
    let is_removed = |fill: &Element<'_>| {
        let own = view.document.attributes_of(fill).iter().find(|attribute| &*attribute.name == "src");
        own.is_some_and(|own| edits.iter().any(|edit| edit.span == own.span))
    };
    let image = of_fill("src")
        .filter(|_| !fill.is_some_and(is_removed))
        .or_else(|| Some(attribute("src")).filter(|src| name == "image" && !src.is_empty()));
    if let Some(image) = image {
        let repeat = repeat(of_fill("type"), of_fill("aspect"));
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

/// Returns the CSS that determines how an image fills a shape. Without `aspect`, Word stretches the image to the shape.
fn repeat(kind: Option<&str>, aspect: Option<&str>) -> &'static str {
    match (kind, aspect) {
        (Some("tile"), _) => "repeat",
        (_, Some("atleast")) => "no-repeat;background-size:cover",
        (_, Some("atmost")) => "no-repeat;background-size:contain",
        _ => "no-repeat;background-size:100% 100%",
    }
}

/// Returns the padding of a text box. Without `inset`, Word leaves a tenth of an inch at the left and right, and half of that at the top
/// and bottom.
fn inset(view: &View<'_>, element: &Element<'_>) -> String {
    let given = view.document.attribute(view.source, element, "inset").unwrap_or_default();
    let mut sides = ["0.1in", "0.05in", "0.1in", "0.05in"].map(str::to_owned);
    for (side, value) in sides.iter_mut().zip(given.split(',').map(str::trim)) {
        let (number, unit) = value.split_at(value.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(value.len()));
        let unit = if ["px", "pt", "in", "cm", "mm"].contains(&unit) { unit } else { "px" };
        if number.parse::<f32>().is_ok() {
            *side = format!("{number}{unit}");
        }
    }
    let [left, top, right, bottom] = sides;
    format!("{top} {right} {bottom} {left}")
}

pub fn property<'s>(style: &'s str, name: &str) -> Option<&'s str> {
    let declarations = style.split(';').filter_map(|declaration| declaration.split_once(':'));
    declarations.into_iter().find(|(property, _)| property.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// Returns the CSS for the corner radius of a shape. `arc`, the arc size in VML, is a fraction of the shorter side.
fn radius(arc: &str, width: Option<&str>, height: Option<&str>) -> String {
    let pixels = |size: Option<&str>| size.and_then(|size| size.trim_end_matches("px").parse::<f32>().ok());
    let share = match arc.strip_suffix('%') {
        Some(percent) => percent.parse::<f32>().ok().map(|percent| percent / 100.0),
        // By default, Word uses a corner radius of 20 percent of the shorter side.
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
        assert!(
            out.contains("justify-content:center;width:200px;min-height:40px;background-color:#2F6F4F;border-radius:4px"),
            "{out}"
        );
        assert!(out.starts_with("<a href=\"https://example.com/\"") && out.ends_with("<center>Buy</center></div></a>"), "{out}");
    }

    #[test]
    fn an_image_is_stretched_unless_the_fill_keeps_its_shape() {
        for (aspect, size) in [("", "100% 100%"), (" aspect=\"atleast\"", "cover"), (" aspect=\"atmost\"", "contain")] {
            let html = format!(
                "<v:rect style=\"width:600px\"><v:fill type=\"frame\" src=\"https://example.com/a.png\"{aspect}/></v:rect>"
            );
            let view = View::parse(&html, true);
            let mut edits = Vec::new();
            draw(&view, &mut edits);
            let out = apply(&html, edits);
            assert!(out.contains(&format!("background-size:{size}")), "{out}");
        }
    }

    #[test]
    fn a_filled_rectangle_keeps_its_image() {
        let html = concat!(
            "<v:rect fill=\"true\" stroke=\"false\" style=\"width:600px\"><v:fill type=\"tile\" ",
            "src=\"https://example.com/a.png\" color=\"#fff\"/><v:textbox inset=\"0,0,0,0\">x</v:textbox></v:rect>"
        );
        let view = View::parse(html, true);
        let mut edits = Vec::new();
        draw(&view, &mut edits);
        let out = apply(html, edits);
        assert!(
            out.contains("background-image:url('https://example.com/a.png')")
                && out.contains("<div style=\"padding:0px 0px 0px 0px\">x</div></div>"),
            "{out}"
        );
    }
}
