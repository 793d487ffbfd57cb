//! Marks the parts of an email that users can edit on a platform.
//!
//! Text cells are table cells that start with a `<div>` with a font, which is how MJML renders text. Cells that contain `unsubscribe` or
//! `UNSUB` are not marked, so that users do not remove an unsubscribe link by accident.

use std::ops::Range;

use crate::base::html_scanner::{Scanner, Tag, TokenKind};
use crate::vocab::limits;

/// The width of emails, in pixels. Klaviyo's editor requires it for blocks.
const WIDTH_PX: u32 = 600;

/// A text cell, with the byte positions in the HTML at which marks can be inserted.
struct TextCell {
    /// The byte position where the attributes of the cell start.
    cell: usize,
    /// The byte position where the attributes of the `<div>` start.
    text: usize,
    /// The byte position where the value of the `<div>`'s `class` attribute starts; `None` if the `<div>` has no class.
    class: Option<usize>,
    content: Range<usize>,
}

/// The byte position of an insertion in the HTML, and the text to insert.
type Insertion = (usize, String);

/// Makes the longest text cell a region of Klaviyo's drag-and-drop editor. In the region, users can also add blocks above and below the
/// text. Klaviyo recommends one region per template. HTML without a text cell gets an empty region at its end.
pub fn klaviyo(html: &str) -> String {
    let cells = text_cells(html);
    let marks = format!(" data-klaviyo-region=\"true\" data-klaviyo-region-width-pixels=\"{WIDTH_PX}\"");
    let block = "klaviyo-block klaviyo-text-block";
    let Some(longest) = cells.into_iter().max_by_key(|cell| (cell.content.len(), usize::MAX - cell.cell)) else {
        let region = format!(
            "<table role=\"presentation\" align=\"center\" width=\"{WIDTH_PX}\"><tr><td align=\"center\"{marks}><div class=\"{block}\">\
             &nbsp;</div></td></tr></table>"
        );
        return inserted(html, vec![(body_end(html), region)]);
    };
    let class = match longest.class {
        Some(value) => (value, format!("{block} ")),
        None => (longest.text, format!(" class=\"{block}\"")),
    };
    inserted(html, vec![(longest.cell, marks), class])
}

/// Makes text and images editable in Mailchimp. Each region has a unique name, and regions are not nested. HTML without a text cell becomes
/// one region.
pub fn mailchimp(html: &str) -> String {
    let mut cells = text_cells(html);
    cells.truncate(limits::EXPORT_REGIONS_MAX);
    if cells.is_empty() {
        return whole_body(html);
    }
    let mut insertions: Vec<Insertion> =
        cells.iter().enumerate().map(|(number, cell)| (cell.text, format!(" mc:edit=\"text_{}\"", number + 1))).collect();
    let images = Scanner::new(html).filter_map(|piece| match piece.kind {
        TokenKind::Open(tag) if tag.name.eq_ignore_ascii_case("img") && is_content(&tag) => {
            Some(piece.start + 1 + tag.name.len())
        }
        _ => None,
    });
    let outside = images.filter(|at| !cells.iter().any(|cell| cell.content.contains(at)));
    let named = outside.take(limits::EXPORT_REGIONS_MAX).enumerate();
    insertions.extend(named.map(|(number, at)| (at, format!(" mc:edit=\"image_{}\"", number + 1))));
    inserted(html, insertions)
}

/// Returns whether an image is part of the content, rather than a tracking pixel or a spacer.
fn is_content(image: &Tag<'_>) -> bool {
    let size = |name: &str| image.attribute(name).and_then(|size| size.value.trim_end_matches("px").parse::<u32>().ok());
    image.attribute("src").is_some() && ["width", "height"].into_iter().all(|name| size(name).is_none_or(|size| size > 2))
}

/// Makes the content of the body a single editable region in Mailchimp.
fn whole_body(html: &str) -> String {
    let body = Scanner::new(html).find_map(|piece| match piece.kind {
        TokenKind::Open(tag) if tag.name.eq_ignore_ascii_case("body") => Some(piece.end),
        _ => None,
    });
    let start = body.unwrap_or(0);
    inserted(html, vec![(start, "<div mc:edit=\"body\">".to_owned()), (body_end(html).max(start), "</div>".to_owned())])
}

/// Returns the position of the last `</body>`, or the end of the HTML if there is none.
pub fn body_end(html: &str) -> usize {
    html.to_ascii_lowercase().rfind("</body>").unwrap_or(html.len())
}

fn inserted(html: &str, mut insertions: Vec<Insertion>) -> String {
    insertions.sort_by_key(|(at, _)| *at);
    let mut out = String::with_capacity(html.len() + 64 * insertions.len());
    let mut done = 0;
    for (at, text) in insertions {
        out.push_str(&html[done..at]);
        out.push_str(&text);
        done = at;
    }
    out.push_str(&html[done..]);
    out
}

fn text_cells(html: &str) -> Vec<TextCell> {
    let mut cells = Vec::new();
    // The position after the tag name of the last `<td>`, if only whitespace follows its start tag so far.
    let mut opened: Option<usize> = None;
    let mut current: Option<(TextCell, u32)> = None;
    for piece in Scanner::new(html) {
        if let Some((mut cell, depth)) = current.take() {
            let depth = match piece.kind {
                TokenKind::Open(tag) if tag.name.eq_ignore_ascii_case("div") => depth + 1,
                TokenKind::Close(name) if name.eq_ignore_ascii_case("div") => depth - 1,
                _ => depth,
            };
            if depth == 0 {
                cell.content.end = piece.start;
                cells.push(cell);
            } else {
                current = Some((cell, depth));
            }
            continue;
        }
        match piece.kind {
            TokenKind::Text if html[piece.start..piece.end].trim().is_empty() => {}
            TokenKind::Open(tag) if tag.name.eq_ignore_ascii_case("td") => opened = Some(piece.start + 1 + tag.name.len()),
            TokenKind::Open(tag) if tag.name.eq_ignore_ascii_case("div") && is_styled_text(&tag) => {
                if let Some(cell) = opened.take() {
                    let (text, class) = (piece.start + 1 + tag.name.len(), tag.attribute("class").map(|class| class.value_start));
                    current = Some((TextCell { cell, text, class, content: piece.end..piece.end }, 1));
                }
            }
            _ => opened = None,
        }
    }
    cells.retain(|cell| {
        let content = &html[cell.content.clone()];
        !content.trim().is_empty() && !["unsubscribe", "UNSUB"].iter().any(|link| content.contains(link))
    });
    cells
}

fn is_styled_text(tag: &Tag<'_>) -> bool {
    tag.attribute("style").is_some_and(|style| style.value.contains("font-family"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<html><body><table><tr><td style=\"padding:1px\">\n<div style=\"font-family:Arial\">Hi <div>you</div></div></td></tr>\
                        <tr><td><img src=\"a.png\" width=\"100\"></td></tr><tr><td><div style=\"font-family:Arial\">The longest text of all \
                        <img src=\"b.png\"></div></td></tr><tr><td><div style=\"font-family:Arial\"><a href=\"*|UNSUB|*\">Unsubscribe from \
                        every one of our emails</a></div></td></tr></table><img src=\"pixel.gif\" width=\"1\" height=\"1\"></body></html>";

    #[test]
    fn the_longest_text_becomes_the_region_of_klaviyo() {
        let made = klaviyo(PAGE);
        let region = "<td data-klaviyo-region=\"true\" data-klaviyo-region-width-pixels=\"600\"><div class=\"klaviyo-block \
                      klaviyo-text-block\" style=\"font-family:Arial\">The longest";
        assert!(made.contains(region), "{made}");
        assert_eq!(made.matches("data-klaviyo-region=").count(), 1);
        let with_class = klaviyo("<td><div class=\"x\" style=\"font-family:a\">Hi</div></td>");
        assert!(with_class.contains("class=\"klaviyo-block klaviyo-text-block x\""), "{with_class}");
        let without = klaviyo("<body><p>Hi</p></body>");
        assert!(without.contains("data-klaviyo-region=\"true\"") && without.ends_with("</table></body>"), "{without}");
    }

    #[test]
    fn texts_and_images_are_regions_of_mailchimp_with_names_of_their_own() {
        let made = mailchimp(PAGE);
        for region in ["<div mc:edit=\"text_1\"", "<div mc:edit=\"text_2\"", "<img mc:edit=\"image_1\" src=\"a.png\""] {
            assert_eq!(made.matches(region).count(), 1, "{made}");
        }
        assert_eq!(
            made.matches("mc:edit").count(),
            3,
            "neither the footer, the pixel nor an image in a text is a region: {made}"
        );
        assert_eq!(mailchimp("<body><p>Hi</p></body>"), "<body><div mc:edit=\"body\"><p>Hi</p></div></body>");
        assert_eq!(mailchimp("Hi"), "<div mc:edit=\"body\">Hi</div>");
    }

    #[test]
    fn broken_markup_has_no_text_cells() {
        for html in
            ["<td><div style=\"font-family:a\">open", "<td>text<div style=\"font-family:a\">x</div>", "</div></td><td", ""]
        {
            assert!(text_cells(html).is_empty(), "{html}");
        }
    }
}
