//! Extracts logos drawn directly in the page (inline SVG) as standalone SVG files.
//!
//! An inline drawing depends on the rest of the page: on style sheets, the text color, and symbols defined elsewhere. The standalone file
//! contains copies of what the drawing uses.

use data_encoding::BASE64;
use scraper::{ElementRef, Node};

use super::cascade::Styles;
use super::page::Page;
use crate::base::color;

/// The maximum number of drawings to check in a page.
const DRAWINGS_MAX: usize = 200;
/// The maximum number of elements in a logo; a drawing with more elements is an illustration.
const ELEMENTS_MAX: usize = 1_500;
/// The maximum size of a logo in bytes.
const BYTES_MAX: usize = 100 * 1024;
/// The maximum nesting depth of elements in a logo.
const DEPTH_MAX: usize = 32;
/// The maximum number of elements outside a drawing that the drawing may refer to.
const REFERENCES_MAX: usize = 20;
/// Elements that are omitted: scripts, embedded content, animations and invisible text.
const OMITTED: [&str; 8] = ["script", "foreignobject", "image", "title", "desc", "metadata", "animate", "set"];
/// The color properties that style sheets can set on drawings.
const PAINTS: [&str; 3] = ["fill", "stroke", "color"];
/// The start of the data URL of a logo that was drawn in a page.
const START: &str = "data:image/svg+xml;base64,";

/// Returns the drawing as the data URL of an SVG file; returns `None` if it has no size, contains nothing or is too large for a logo.
pub fn drawn_logo(svg: ElementRef<'_>, page: &Page, styles: &Styles) -> Option<String> {
    let mut writer = Writer { styles, out: String::new(), elements: 0, references: Vec::new(), ids: Vec::new() };
    let size = size_of(svg, page)?;
    let ink =
        styles.inherited(svg, "color").or_else(|| svg.attr("color").map(str::to_owned)).unwrap_or_else(|| "#000".to_owned());
    writer.out.push_str("<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"");
    writer.out.push_str(&size);
    writer.attribute("color", &plain_paint(&ink));
    writer.attributes(svg, &["width", "height", "viewBox", "color", "x", "y"]);
    writer.out.push('>');
    for child in svg.child_elements() {
        writer.element(child, 1)?;
    }
    writer.definitions(page)?;
    writer.out.push_str("</svg>");
    (writer.elements > 0 && writer.out.len() <= BYTES_MAX).then(|| format!("{START}{}", BASE64.encode(writer.out.as_bytes())))
}

/// Returns the drawings in a page, in document order.
pub fn drawings(page: &Page) -> Vec<ElementRef<'_>> {
    page.all("svg").into_iter().take(DRAWINGS_MAX).collect()
}

/// Returns the SVG file in a data URL that `drawn_logo` returned; returns `None` for any other URL.
pub fn bytes_of(url: &str) -> Option<Vec<u8>> {
    BASE64.decode(url.strip_prefix(START)?.as_bytes()).ok()
}

/// Returns the `width`, `height` and `viewBox` attributes for the drawing's SVG file. If the drawing has no `viewBox`, uses that of the
/// symbol that the drawing shows. Returns `None` if the size is unknown.
fn size_of(svg: ElementRef<'_>, page: &Page) -> Option<String> {
    let number =
        |text: &str| text.trim().trim_end_matches("px").parse::<f32>().ok().filter(|side| side.is_finite() && *side >= 1.0);
    let side = |name: &str| svg.attr(name).and_then(number);
    let symbol = || {
        let used = svg.descendent_elements().find(|inner| inner.value().name() == "use")?;
        by_id(page, reference(used)?)?.attr("viewBox").map(str::to_owned)
    };
    let view = svg.attr("viewBox").map(str::to_owned).or_else(symbol);
    let sides: Vec<f32> =
        view.iter().flat_map(|view| view.split([' ', ','])).filter_map(|part| part.trim().parse().ok()).collect();
    let view = view.filter(|_| sides.len() == 4 && sides[2] > 0.0 && sides[3] > 0.0);
    let (width, height) = match (side("width"), side("height"), &view) {
        (Some(width), Some(height), _) => (width, height),
        (None, Some(height), Some(_)) => (height * sides[2] / sides[3], height),
        (Some(width), None, Some(_)) => (width, width * sides[3] / sides[2]),
        (None, None, Some(_)) => (sides[2], sides[3]),
        _ => return None,
    };
    let view =
        view.map_or_else(|| format!("0 0 {width} {height}"), |_| sides.iter().map(f32::to_string).collect::<Vec<_>>().join(" "));
    Some(format!(" width=\"{width}\" height=\"{height}\" viewBox=\"{view}\""))
}

fn by_id<'a>(page: &'a Page, id: &str) -> Option<ElementRef<'a>> {
    page.all("[id]").into_iter().find(|element| element.attr("id") == Some(id))
}

/// Returns the ID that a `use` element or a gradient refers to.
fn reference<'a>(element: ElementRef<'a>) -> Option<&'a str> {
    let value = element.value().attrs().find(|(name, _)| *name == "href" || *name == "xlink:href").map(|(_, value)| value);
    value.and_then(|value| value.strip_prefix('#'))
}

/// Returns an opaque color as `#RRGGBB`, which SVG renderers support; returns any other value unchanged.
fn plain_paint(value: &str) -> String {
    color::parse(value).filter(|paint| paint.alpha >= 1.0).map_or_else(|| value.to_owned(), |paint| paint.color.to_string())
}

struct Writer<'a> {
    styles: &'a Styles,
    out: String,
    elements: usize,
    /// The IDs that written elements refer to.
    references: Vec<String>,
    /// The IDs of written elements.
    ids: Vec<String>,
}

impl Writer<'_> {
    /// Writes an element with its content; returns `None` if the drawing is too large.
    fn element(&mut self, element: ElementRef<'_>, depth: usize) -> Option<()> {
        let name = element.value().name();
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric());
        if !is_name
            || OMITTED.contains(&name.to_ascii_lowercase().as_str())
            || self.styles.own(element, "display").as_deref() == Some("none")
        {
            return Some(());
        }
        self.elements += 1;
        if self.elements > ELEMENTS_MAX || depth > DEPTH_MAX || self.out.len() > BYTES_MAX {
            return None;
        }
        self.out.push('<');
        self.out.push_str(name);
        self.attributes(element, &[]);
        self.out.push('>');
        for child in element.children() {
            match child.value() {
                Node::Text(text) => escape(text, &mut self.out),
                Node::Element(_) => self.element(ElementRef::wrap(child)?, depth + 1)?,
                _ => {}
            }
        }
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push('>');
        Some(())
    }

    fn attributes(&mut self, element: ElementRef<'_>, without: &[&str]) {
        let mut written: Vec<&str> = without.to_vec();
        for property in PAINTS.into_iter().filter(|name| !without.contains(name)) {
            // A value in a style sheet takes precedence over the attribute.
            let value = self.styles.own(element, property).or_else(|| self.styles.expanded(element, element.attr(property)?));
            if let Some(value) = value {
                self.attribute(property, &plain_paint(value.trim()));
                written.push(property);
            }
        }
        for (name, value) in element.value().attrs() {
            let name = name.strip_prefix("xlink:").unwrap_or(name);
            let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
                && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
            let is_other = name.starts_with("on") || name.starts_with("xmlns") || name == "xlink" || name.starts_with("data-");
            let leads_out = name == "href" && !value.starts_with('#');
            if is_name && !is_other && !leads_out && !written.contains(&name) {
                let value =
                    if name == "style" { self.styles.expanded(element, value).unwrap_or_default() } else { value.to_owned() };
                self.attribute(name, &value);
                written.push(name);
            }
        }
    }

    fn attribute(&mut self, name: &str, value: &str) {
        if name == "id" {
            self.ids.push(value.to_owned());
        }
        if name == "href" {
            self.references.extend(value.strip_prefix('#').map(str::to_owned));
        }
        for (at, _) in value.match_indices("url(#") {
            let id = &value[at + "url(#".len()..];
            self.references.extend(id.split(')').next().map(str::to_owned));
        }
        self.out.push_str(&format!(" {name}=\""));
        escape(value, &mut self.out);
        self.out.push('"');
    }

    /// Writes the elements outside the drawing that the drawing refers to.
    fn definitions(&mut self, page: &Page) -> Option<()> {
        for _ in 0..REFERENCES_MAX {
            let missing = self.references.iter().find(|id| !self.ids.contains(id)).cloned();
            let Some(id) = missing else { break };
            if let Some(element) = by_id(page, &id) {
                self.out.push_str("<defs>");
                self.element(element, 1)?;
                self.out.push_str("</defs>");
            }
            self.ids.push(id);
        }
        Some(())
    }
}

fn escape(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' => out.push(' '),
            control if control.is_control() || matches!(control, '\u{fffe}' | '\u{ffff}') => {}
            plain => out.push(plain),
        }
    }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::super::{Raw, css};
    use super::*;

    fn drawn(html: &str, sheet: &str) -> Option<String> {
        let url: Url = "https://acme.example/".parse().expect("the URL is valid");
        let page = Page::parse(&Raw { url: &url, given: true, content_type: "text/html", language: "", bytes: html.as_bytes() });
        let styles = Styles::new(&[css::parse(sheet, None)]);
        let url = drawn_logo(drawings(&page)[0], &page, &styles)?;
        String::from_utf8(bytes_of(&url)?).ok()
    }

    #[test]
    fn a_drawing_keeps_the_colors_and_shapes_of_its_page() {
        let page = "<a class=brand href=/><svg class=h-8 viewBox='0 0 120 32' aria-label=Tallyhook onclick='x()'><title>Logo</title>
            <script>x()</script><path class=mark d='M0 0h32v32z'/><path fill=currentColor d='M40 0h80v32z'/><use href='#dot'/>
            <use href='https://evil.example/a.svg#x'/></svg></a><svg hidden><symbol id=dot viewBox='0 0 4 4'><circle r=2 fill='var(--c)'/></symbol></svg>";
        let svg = drawn(page, ":root{--c:#10b981}.brand{color:rgb(79 70 229)}.mark{fill:oklch(0.628 0.2577 29.23)}")
            .expect("the logo is found");
        assert!(svg.contains("width=\"120\" height=\"32\" viewBox=\"0 0 120 32\" color=\"#4F46E5\""), "{svg}");
        assert!(
            svg.contains("fill=\"#FF0000\"") && svg.contains("fill=\"currentColor\"") && svg.contains("fill=\"#10B981\""),
            "{svg}"
        );
        assert!(svg.contains("<symbol") && !svg.contains("evil") && !svg.contains("script") && !svg.contains("onclick"), "{svg}");
    }

    #[test]
    fn a_drawing_without_a_size_or_content_is_not_a_logo() {
        assert_eq!(drawn("<svg width=20><path d=''/></svg>", ""), None);
        assert_eq!(drawn("<svg viewBox='0 0 2 2'></svg>", ""), None);
        assert_eq!(drawn(&format!("<svg viewBox='0 0 2 2'>{}</svg>", "<g>".repeat(40)), ""), None);
    }
}
