//! The editable content of an email's HTML: its text, buttons, links and images in order, each with the number that a
//! [`Change`](super::Change) refers to. It contains no markup.

use serde::{Deserialize, Serialize};

use super::colors;
use super::computed_style::{ComputedStyles, TextColors, pixels};
use super::dom::Dom;
use super::visible::{is_filler, is_tiny, shows, shows_nothing_but};
use crate::base::color::{BLACK, WHITE, contrast};
use crate::base::text::Color;
use crate::engine::render::html_limits::HtmlRefusal;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// The preheader: hidden text that message lists show after the subject.
    pub preheader: Option<TextPart>,
    /// The visible parts, from top to bottom.
    pub parts: Vec<Part>,
    pub links: Vec<Link>,
    /// The colors of the email, most used first.
    pub colors: Vec<Color>,
    /// Up to `FAINT_MAX` text parts that are hardly visible on their background, shortened.
    pub faint: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Part {
    Text(TextPart),
    Image(Image),
}

/// A separate paragraph, heading, list item or button.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextPart {
    pub kind: TextPartKind,
    /// The pieces of the text; there is at least one.
    pub pieces: Vec<TextRun>,
    /// The font size in pixels.
    pub size: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextPartKind {
    Heading,
    Paragraph,
    Item,
    Button,
}

/// Text in one style, or a line break as `\n`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextRun {
    /// The number of the text node or of the `br` element.
    pub node: usize,
    pub text: String,
    /// The node number of the link element, if the piece is part of a link.
    pub link: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub element: usize,
    pub address: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    pub element: usize,
    /// The image's URL; truncated if the image is embedded.
    pub address: String,
    pub alt: String,
    /// The width in pixels, if the HTML states it.
    pub width: Option<u32>,
    pub link: Option<usize>,
}

/// The minimum font size, in pixels, at which text outside a heading element is treated as a heading. Text longer than
/// [`HEADING_CHARACTERS_MAX`] is treated as a heading only in a heading element.
const HEADING_SIZE: f32 = 20.0;
const HEADING_CHARACTERS_MAX: usize = 120;
const BUTTON_CHARACTERS_MAX: usize = 60;
const ADDRESS_CHARACTERS_MAX: usize = 2048;
/// The contrast below which text is practically invisible.
const FAINT: f64 = 1.5;
const FAINT_MAX: usize = 5;
const FAINT_CHARACTERS_MAX: usize = 60;

impl TextPart {
    pub fn text(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// Returns the number of the part's first node.
    pub fn node(&self) -> usize {
        self.pieces.first().map_or(0, |piece| piece.node)
    }

    /// Returns the node number of the first link in the part, if there is one.
    pub fn link(&self) -> Option<usize> {
        self.pieces.iter().find_map(|piece| piece.link)
    }
}

impl Part {
    /// Returns the number of the part's first node.
    pub fn node(&self) -> usize {
        match self {
            Self::Text(text_part) => text_part.node(),
            Self::Image(image) => image.element,
        }
    }

    /// Returns the numbers of all nodes of the part.
    pub fn nodes(&self) -> Vec<usize> {
        match self {
            Self::Text(text_part) => text_part.pieces.iter().map(|piece| piece.node).collect(),
            Self::Image(image) => vec![image.element],
        }
    }

    pub fn text_part(&self) -> Option<&TextPart> {
        if let Self::Text(text_part) = self { Some(text_part) } else { None }
    }

    pub fn image(&self) -> Option<&Image> {
        if let Self::Image(image) = self { Some(image) } else { None }
    }
}

impl Outline {
    pub fn read(html: &str) -> Result<Self, HtmlRefusal> {
        let dom = Dom::read(html)?;
        Ok(Self::of(&dom, &ComputedStyles::of(&dom)))
    }

    pub(super) fn of(dom: &Dom, looks: &ComputedStyles) -> Self {
        let mut reader = Reader { dom, looks, shades: looks.all(dom), outline: Self::default(), line: None };
        if let Some(body) = dom.first("body") {
            reader.visit(body, Around::default());
        }
        reader.end_line();
        reader.outline.colors = colors::colors(dom);
        reader.outline
    }

    /// Returns the text parts, without the preheader.
    pub fn text_parts(&self) -> impl Iterator<Item = &TextPart> {
        self.parts.iter().filter_map(Part::text_part)
    }

    pub fn images(&self) -> impl Iterator<Item = &Image> {
        self.parts.iter().filter_map(Part::image)
    }

    pub fn buttons(&self) -> impl Iterator<Item = &TextPart> {
        self.text_parts().filter(|text_part| text_part.kind == TextPartKind::Button)
    }

    pub fn address(&self, link: usize) -> Option<&str> {
        self.links.iter().find(|other| other.element == link).map(|link| link.address.as_str())
    }
}

/// The context that a node inherits from its ancestors.
#[derive(Clone, Copy, Debug, Default)]
struct Around {
    link: Option<usize>,
    size: f32,
    heading: bool,
    item: bool,
    button: bool,
    hidden: bool,
}

struct Reader<'a> {
    dom: &'a Dom,
    looks: &'a ComputedStyles,
    shades: Vec<TextColors>,
    outline: Outline,
    /// The line of text that is being read, and the context at its beginning.
    line: Option<(Around, Vec<TextRun>)>,
}

impl Reader<'_> {
    fn visit(&mut self, node: usize, around: Around) {
        if self.dom.is_text(node) {
            self.text(node, around);
            return;
        }
        let name = self.dom.name(node);
        match name {
            "style" => return,
            "br" => {
                self.piece(TextRun { node, text: "\n".to_owned(), link: around.link }, around);
                return;
            }
            "img" => {
                self.end_line();
                self.image(node, around);
                return;
            }
            "hr" => {
                self.end_line();
                return;
            }
            _ => {}
        }
        let mut own = Around { size: self.looks.size(self.dom, node, around.size), ..around };
        own.heading |= matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6");
        own.item |= name == "li";
        own.hidden |= self.looks.is_hidden(self.dom, node);
        if let Some(address) = self.dom.attribute(node, "href").filter(|_| name == "a") {
            let address = address.chars().take(ADDRESS_CHARACTERS_MAX).collect();
            self.outline.links.push(Link { element: node, address });
            own.link = Some(node);
            own.button = is_button(self.dom, self.looks, node);
        }
        let stands_alone = !self.dom.is_inline(node) || (own.button && name == "a");
        if stands_alone {
            self.end_line();
        }
        for child in self.dom.children(node) {
            self.visit(*child, own);
        }
        if stands_alone {
            self.end_line();
        }
    }

    fn text(&mut self, node: usize, around: Around) {
        let raw = self.dom.text(node);
        let before = self.line.as_ref().and_then(|(_, pieces)| pieces.last()).map(|piece| piece.text.as_str());
        let mut spaced = before.is_none_or(|text| text.ends_with([' ', '\n']));
        let mut text = String::with_capacity(raw.len());
        for c in raw.chars() {
            let is_space = matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}');
            if !is_space {
                text.push(c);
            } else if !spaced {
                text.push(' ');
            }
            spaced = is_space;
        }
        if !text.is_empty() {
            self.piece(TextRun { node, text, link: around.link }, around);
        }
    }

    fn piece(&mut self, piece: TextRun, around: Around) {
        self.line.get_or_insert_with(|| (around, Vec::new())).1.push(piece);
    }

    /// Ends the line. Unless the line is empty, it becomes a text part.
    fn end_line(&mut self) {
        let Some((around, mut pieces)) = self.line.take() else { return };
        let is_empty = |piece: &TextRun| piece.text.trim_matches([' ', '\n']).is_empty();
        while pieces.last().is_some_and(is_empty) {
            pieces.pop();
        }
        let first = pieces.iter().position(|piece| !is_empty(piece)).unwrap_or_default();
        pieces.drain(..first);
        if let Some(last) = pieces.last_mut() {
            last.text.truncate(last.text.trim_end().len());
        }
        if !pieces.iter().any(|piece| shows(&piece.text)) {
            return;
        }
        let characters: usize = pieces.iter().map(|piece| piece.text.chars().count()).sum();
        let is_large = around.size >= HEADING_SIZE && characters <= HEADING_CHARACTERS_MAX;
        let kind = match around {
            Around { button: true, .. } => TextPartKind::Button,
            Around { heading: true, .. } => TextPartKind::Heading,
            Around { item: true, .. } => TextPartKind::Item,
            _ if is_large => TextPartKind::Heading,
            _ => TextPartKind::Paragraph,
        };
        let mut text_part = TextPart { kind, pieces, size: around.size.round() as u16 };
        if around.hidden && self.outline.parts.is_empty() && self.outline.preheader.is_none() {
            for piece in &mut text_part.pieces {
                piece.text.truncate(piece.text.trim_end_matches(is_filler).len());
            }
            text_part.pieces.retain(|piece| shows(&piece.text));
            self.outline.preheader = Some(text_part);
            return;
        }
        if !around.hidden && self.outline.faint.len() < FAINT_MAX && text_part.pieces.iter().any(|piece| self.is_faint(piece)) {
            self.outline.faint.push(text_part.text().chars().take(FAINT_CHARACTERS_MAX).collect());
        }
        self.outline.parts.push(Part::Text(text_part));
    }

    /// Returns whether a piece is hardly visible with the styles of its element and ancestors.
    fn is_faint(&self, piece: &TextRun) -> bool {
        let TextColors { ground, ink } = self.shades[piece.node];
        let stands_on_picture = self.dom.above(piece.node).any(|above| self.dom.has_picture(above));
        let ink = ink.unwrap_or(BLACK);
        shows(&piece.text) && !stands_on_picture && contrast(ink, ground.unwrap_or(WHITE)) < FAINT
    }

    fn image(&mut self, node: usize, around: Around) {
        let Some(address) = self.dom.attribute(node, "src").filter(|_| !is_tiny(self.dom, node)) else { return };
        let most = if address.starts_with("data:") { 22 } else { ADDRESS_CHARACTERS_MAX };
        let width = self.dom.attribute(node, "width").and_then(|width| width.trim().trim_end_matches("px").parse().ok());
        let width = width.or_else(|| Some(pixels(&self.dom.own_style(node, "width")?, 0.0)? as u32)).filter(|width| *width > 0);
        self.outline.parts.push(Part::Image(Image {
            element: node,
            address: address.chars().take(most).collect(),
            alt: self.dom.attribute(node, "alt").unwrap_or_default().to_owned(),
            width,
            link: around.link,
        }));
    }
}

/// Returns whether a link looks like a button: because of its class or role, or because the link, or an element that contains only
/// the link, is a box with its own color.
fn is_button(dom: &Dom, looks: &ComputedStyles, link: usize) -> bool {
    let within = dom.within(link);
    let text: String = within.iter().map(|node| dom.text(*node)).collect();
    let characters = text.split_whitespace().map(|word| word.chars().count()).sum::<usize>();
    if !shows(&text) || characters > BUTTON_CHARACTERS_MAX || within.iter().any(|node| dom.name(*node) == "img") {
        return false;
    }
    let class = dom.attribute(link, "class").unwrap_or_default().to_ascii_lowercase();
    let mut classes = class.split_whitespace();
    let is_named = classes.any(|class| class.contains("button") || class.contains("btn") || class == "cta");
    if is_named || dom.attribute(link, "role") == Some("button") {
        return true;
    }
    let has = |node: usize, property: &str| looks.value(dom, node, property).is_some();
    let is_box = |node: usize| {
        let display = looks.value(dom, node, "display").unwrap_or_default();
        has(node, "padding") || has(node, "border-radius") || matches!(display.trim(), "block" | "inline-block")
    };
    if is_box(link) && (looks.ground(dom, link).is_some() || has(link, "border")) {
        return true;
    }
    // The box of a button is often the table cell around the link.
    let alone = dom.above(link).take(3).take_while(|above| shows_nothing_but(dom, *above, &[link]));
    let around = |node: usize| dom.above(node).find_map(|above| looks.ground(dom, above));
    alone.into_iter().any(|above| {
        let ground = looks.ground(dom, above);
        let has_box = has(above, "border-radius") || is_box(link);
        ground.is_some() && ground != around(above) && has_box
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summaries(html: &str) -> Vec<String> {
        let outline = Outline::read(html).expect("the HTML is small enough");
        let part = |part: &Part| match part {
            Part::Text(text_part) => format!("{:?} {}", text_part.kind, text_part.text()),
            Part::Image(image) => format!("Image {} {:?}", image.alt, image.width),
        };
        outline.parts.iter().map(part).collect()
    }

    #[test]
    fn texts_buttons_and_images_are_in_order() {
        let html = "<body><div style=\"display:none\">Only today &zwnj;&nbsp;&zwnj;</div><table><tr><td><img src=https://x.example/l.png \
                    alt=Logo width=120></td><td>View  in <a href=https://x.example/v>browser</a></td></tr></table><h1>Hello\n <b>you</b></h1>\
                    <p>One<br>two</p><ul><li>First</li></ul><table><tr><td bgcolor=#00aa00 style=\"border-radius:4px\">\
                    <a href=https://x.example/b style=\"color:#fff\">Buy</a></td></tr></table><a class=btn-main href=https://x.example/c>Go</a>\
                    <p style=\"font-size:28px\">Big words</p><img src=https://x.example/t.gif width=1 height=1>";
        let expected = [
            "Image Logo Some(120)",
            "Paragraph View in browser",
            "Heading Hello you",
            "Paragraph One\ntwo",
            "Item First",
            "Button Buy",
            "Button Go",
            "Heading Big words",
        ];
        assert_eq!(summaries(html), expected);
        let outline = Outline::read(html).expect("the HTML is small enough");
        assert_eq!(outline.preheader.map(|text_part| text_part.text()).as_deref(), Some("Only today"));
        assert_eq!(outline.links.len(), 3);
    }

    #[test]
    fn a_link_alone_in_a_bar_is_not_a_button() {
        let html =
            "<table><tr><td bgcolor=#222222><a href=https://x.example/v style=\"color:#fff\">View online</a></td></tr></table>";
        assert_eq!(summaries(html), ["Paragraph View online"]);
    }
}
