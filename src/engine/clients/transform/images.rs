//! Replaces blocked images with boxes of the same size that show the alt text.

use super::super::css::TokenKind;
use super::super::html::Element;
use super::super::view::View;
use super::{Edit, apply};

/// Replaces images with boxes, and removes tracking pixels and background images.
pub fn block(html: &str) -> String {
    let view = View::parse(html, false);
    let mut edits = Vec::new();
    for element in &view.document.elements {
        if element.name == "img" {
            edits.push(Edit::replace(element.start_tag, placeholder(&view, element)));
        }
        let background = view.document.attributes_of(element).iter().find(|attribute| attribute.name == "background");
        edits.extend(background.map(|attribute| Edit::remove(attribute.span)));
    }
    for declaration in &view.sheets.declarations {
        for piece in view.sheets.value(declaration) {
            let is_url = piece.kind == TokenKind::Url || (piece.kind == TokenKind::Function && piece.is(view.source, "url"));
            if is_url {
                let end = view.sheets.pieces.get(piece.close as usize).filter(|_| piece.kind == TokenKind::Function);
                let end = end.map_or(piece.span.end, |close| close.span.end);
                edits.push(Edit::replace(super::Span { start: piece.span.start, end }, "none"));
            }
        }
    }
    apply(html, edits)
}

fn placeholder(view: &View<'_>, element: &Element<'_>) -> String {
    let attribute = |name: &str| view.document.attribute(view.source, element, name).unwrap_or_default();
    let pixels = |name: &str| attribute(name).trim_end_matches("px").parse::<f32>().ok().filter(|size| *size > 0.0);
    let size = |name: &str| pixels(name).map(|size| format!("{name}:{size}px;")).unwrap_or_default();
    let style = attribute("style").replace('"', "&quot;");
    let alt = attribute("alt").replace('<', "&lt;");
    let is_pixel = pixels("width").is_some_and(|size| size <= 2.0) || pixels("height").is_some_and(|size| size <= 2.0);
    if is_pixel {
        return String::new();
    }
    let is_block = super::vml::property(&style, "display").is_some_and(|display| display.eq_ignore_ascii_case("block"));
    let display = if is_block { "block" } else { "inline-block" };
    format!(
        "<span style=\"{}{}{style};display:{display};box-sizing:border-box;border:1px solid #c8c8c8;overflow:hidden\">{alt}</span>",
        size("width"),
        size("height")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_become_boxes_with_their_text() {
        let images = "<img src=\"c.png\" alt='A \"cup\"' width=20><img src=d width=1>";
        let out = block(&format!("<td background=\"a.png\" style=\"background:red url(b.png)\">{images}</td>"));
        assert!(!out.contains(".png") && !out.contains("<img"), "{out}");
        assert!(out.contains("width:20px;") && out.contains(">A \"cup\"</span></td>") && out.contains("red none"), "{out}");
    }
}
