//! Edits an email's HTML. Edits refer to nodes by the numbers of the email's [`Outline`](super::Outline).
//!
//! Elements that an edit leaves empty are also removed, and so are their ancestors without other visible content. New content copies the
//! markup of similar content in the same email. The result is sanitized afterward.

use serde::{Deserialize, Serialize};

use super::colors;
use super::dom::Dom;
use super::recolor::{self, ColorTarget};
use super::visible::{is_filler, shows, shows_nothing_but};
use crate::base::color::{is_vivid, readable_on};
use crate::base::text::Color;
use crate::engine::render::html_limits::HtmlRefusal;
use crate::engine::render::tree::is_cell;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// Replaces or removes the text of a piece. `\n` is a line break.
    Words {
        node: usize,
        text: String,
    },
    /// Adds text after a link, outside the link.
    Behind {
        link: usize,
        text: String,
    },
    Link {
        element: usize,
        address: String,
    },
    Image {
        element: usize,
        address: String,
        alt: Option<String>,
    },
    Alt {
        element: usize,
        words: String,
    },
    /// Sets the preheader of an email that has none yet.
    Preheader(String),
    Title(String),
    Remove {
        nodes: Vec<usize>,
    },
    /// Inserts content before or after the nodes `beside`, or at the end of the email if `beside` is empty. The content copies the markup
    /// of the nodes `pattern`.
    Insert {
        beside: Vec<usize>,
        before: bool,
        new: New,
        pattern: Vec<usize>,
    },
    Move {
        nodes: Vec<usize>,
        beside: Vec<usize>,
        before: bool,
    },
    Paint {
        surface: ColorTarget,
        color: Color,
    },
    Recolor {
        from: Vec<Color>,
        to: Color,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum New {
    Paragraph(String),
    Heading(String),
    Button { words: String, address: String },
    Image { address: String, alt: String },
}

/// The inline style that hides a preheader. It combines several properties, because some email clients ignore `display:none`.
const HIDDEN: &str =
    "display:none;font-size:1px;line-height:1px;max-height:0px;max-width:0px;opacity:0;overflow:hidden;mso-hide:all";
/// The width of inserted images, in pixels. It suits emails with the usual width of 600 pixels.
const IMAGE_WIDTH: &str = "560";

/// The padding of a new table row without an image, if the neighboring cell specifies none.
const ROW_PADDING: &str = "16px 24px";

/// Applies edits in order, and returns the edited HTML. Edits to nodes that no longer exist are skipped.
pub fn edited(html: &str, changes: &[Change]) -> Result<String, HtmlRefusal> {
    let mut dom = Dom::read(html)?;
    let known = dom.numbers();
    for change in changes {
        make(&mut dom, change, &|node| known.contains(&node));
    }
    Ok(dom.write())
}

fn make(dom: &mut Dom, change: &Change, is_known: &dyn Fn(usize) -> bool) {
    let there = |dom: &Dom, nodes: &[usize]| -> Vec<usize> {
        nodes.iter().copied().filter(|node| is_known(*node) && dom.is_attached(*node)).collect()
    };
    let is_there = |dom: &Dom, node: usize| is_known(node) && dom.is_attached(node);
    match change {
        Change::Words { node, text } if is_there(dom, *node) => say(dom, *node, text),
        Change::Behind { link, text } if is_there(dom, *link) => {
            let (parent, place) = (dom.parent(*link), dom.place(*link) + 1);
            hang_text(dom, text, parent, place);
        }
        Change::Link { element, address } if is_there(dom, *element) => dom.set_attribute(*element, "href", Some(address)),
        Change::Image { element, address, alt } if is_there(dom, *element) => exchange(dom, *element, address, alt.as_deref()),
        Change::Alt { element, words } if is_there(dom, *element) => dom.set_attribute(*element, "alt", Some(words)),
        Change::Preheader(text) => hide_at_the_top(dom, text),
        Change::Title(text) => entitle(dom, text),
        Change::Remove { nodes } => {
            for root in roots(dom, &there(dom, nodes)) {
                take_out(dom, root);
            }
        }
        Change::Insert { beside, before, new, pattern } => {
            let (beside, pattern) = (there(dom, beside), there(dom, pattern));
            let type_ = roots(dom, &pattern).first().map(|root| inherited_type(dom, *root)).unwrap_or_default();
            let made = made(dom, new, &pattern);
            put(dom, made, &beside, *before);
            keep_type(dom, made, type_);
        }
        Change::Move { nodes, beside, before } => {
            let (nodes, beside) = (there(dom, nodes), there(dom, beside));
            if let (Some(root), false) = (roots(dom, &nodes).first().copied(), beside.is_empty()) {
                let (copy, _) = dom.copy(root);
                let type_ = inherited_type(dom, root);
                take_out(dom, root);
                let copy = out_of_cell(dom, copy);
                put(dom, copy, &beside, *before);
                keep_type(dom, copy, type_);
            }
        }
        Change::Paint { surface, color } => recolor::paint(dom, *surface, *color),
        Change::Recolor { from, to } => recolor::recolor(dom, from, *to),
        Change::Words { .. } | Change::Behind { .. } | Change::Link { .. } | Change::Image { .. } | Change::Alt { .. } => {}
    }
}

/// Replaces the text of a text node. If the text is empty or the node is a `br` element, removes the node with all inline ancestors
/// that show nothing else.
fn say(dom: &mut Dom, node: usize, text: &str) {
    if !dom.is_text(node) || text.is_empty() {
        let mut empty = node;
        for above in dom.above(node).collect::<Vec<_>>() {
            if !dom.is_inline(above) || !shows_nothing_but(dom, above, &[node]) {
                break;
            }
            empty = above;
        }
        dom.remove(empty);
        return;
    }
    // Keep the filler characters, which stop message lists from showing the text after the preheader.
    let old = dom.text(node).to_owned();
    let filler = &old[old.trim_end_matches(is_filler).len()..];
    let filler = if shows(filler) || !filler.contains(|c: char| !c.is_whitespace()) { "" } else { filler };
    let mut lines = text.split('\n');
    let first = lines.next().unwrap_or_default();
    dom.set_text(node, first);
    let (parent, mut place) = (dom.parent(node), dom.place(node) + 1);
    let mut last = node;
    for line in lines {
        let end = dom.make("br", &[]);
        dom.hang(end, parent, place);
        last = dom.make_text(line);
        dom.hang(last, parent, place + 1);
        place += 2;
    }
    if !filler.is_empty() {
        let whole = format!("{}{filler}", dom.text(last));
        dom.set_text(last, &whole);
    }
}

fn hang_text(dom: &mut Dom, text: &str, parent: usize, mut place: usize) {
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            let end = dom.make("br", &[]);
            dom.hang(end, parent, place);
            place += 1;
        }
        let line = dom.make_text(line);
        dom.hang(line, parent, place);
        place += 1;
    }
}

/// Replaces an image. Keeps the width, if it is set, and lets the height adapt.
fn exchange(dom: &mut Dom, image: usize, address: &str, alt: Option<&str>) {
    dom.set_attribute(image, "src", Some(address));
    if let Some(alt) = alt {
        dom.set_attribute(image, "alt", Some(alt));
    }
    let has_width = dom.attribute(image, "width").is_some() || dom.own_style(image, "width").is_some();
    if has_width && dom.attribute(image, "height").is_some() {
        dom.set_attribute(image, "height", None);
    }
    if has_width && dom.own_style(image, "height").is_some() {
        dom.set_style(image, "height", "auto");
    }
}

fn hide_at_the_top(dom: &mut Dom, text: &str) {
    let Some(body) = dom.first("body") else { return };
    let hidden = dom.make("div", &[("style", HIDDEN)]);
    hang_text(dom, text, hidden, 0);
    dom.hang(hidden, body, 0);
}

fn entitle(dom: &mut Dom, text: &str) {
    let Some(title) = dom.first("title") else { return };
    for child in dom.children(title).to_vec() {
        dom.remove(child);
    }
    hang_text(dom, text, title, 0);
}

/// Returns the largest elements that show nothing except these nodes.
fn roots(dom: &Dom, nodes: &[usize]) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    for node in nodes {
        let mut root = *node;
        for above in dom.above(*node).collect::<Vec<_>>() {
            if dom.name(above) == "html" || !shows_nothing_but(dom, above, nodes) || dom.has_picture(above) {
                break;
            }
            root = above;
        }
        if !found.contains(&root) {
            found.push(root);
        }
    }
    found
}

/// Removes an element. A table cell is only emptied, so that its row keeps the same number of columns.
fn take_out(dom: &mut Dom, root: usize) {
    if is_cell(dom.name(root)) {
        for child in dom.children(root).to_vec() {
            dom.remove(child);
        }
        return;
    }
    dom.remove(root);
}

fn made(dom: &mut Dom, new: &New, pattern: &[usize]) -> usize {
    let root = roots(dom, pattern).first().copied().filter(|root| !dom.is_text(*root));
    if let (New::Button { words, address }, Some(link)) = (new, root.filter(|root| dom.is_inline(*root))) {
        let copy = copy_saying(dom, link, pattern, words, Some(address));
        let around = dom.make("div", &[("style", "padding:16px 0;")]);
        dom.append(copy, around);
        return around;
    }
    let root = root.filter(|root| !dom.is_inline(*root));
    match (new, root) {
        (New::Paragraph(words) | New::Heading(words), Some(root)) => copy_saying(dom, root, pattern, words, None),
        (New::Button { words, address }, Some(root)) => copy_saying(dom, root, pattern, words, Some(address)),
        (New::Image { address, alt }, Some(root)) => copy_showing(dom, root, pattern, address, alt),
        (New::Paragraph(words), None) => plain(dom, "p", "margin:16px 0;", words),
        (New::Heading(words), None) => plain(dom, "h2", "margin:24px 0 12px 0;", words),
        (New::Button { words, address }, None) => plain_button(dom, words, address),
        (New::Image { address, alt }, None) => {
            let image = plain_image(dom, address, alt);
            let around = dom.make("div", &[]);
            dom.append(image, around);
            around
        }
    }
}

/// Returns a copy of the markup of a text part, with different text.
fn copy_saying(dom: &mut Dom, root: usize, pattern: &[usize], words: &str, address: Option<&str>) -> usize {
    let (copy, copies) = dom.copy(root);
    let twins: Vec<usize> = copies.iter().filter(|(original, _)| pattern.contains(original)).map(|(_, twin)| *twin).collect();
    let is_linked = |dom: &Dom, node: usize| dom.above(node).any(|above| dom.name(above) == "a");
    // The new text replaces the longest piece. Pieces inside a link take precedence if the new text has a link, and pieces outside links if
    // it has none.
    let texts = twins.iter().copied().filter(|node| dom.is_text(*node));
    let longest = texts.max_by_key(|node| (address.is_some() == is_linked(dom, *node), dom.text(*node).chars().count()));
    for twin in twins {
        if Some(twin) != longest {
            say(dom, twin, "");
        }
    }
    if let Some(longest) = longest {
        say(dom, longest, words);
        let link = dom.above(longest).find(|above| dom.name(*above) == "a");
        match (link, address) {
            (Some(link), Some(address)) => dom.set_attribute(link, "href", Some(address)),
            // If the new text has no link, a link around the copied text is removed.
            (Some(link), None) => unwrap(dom, link),
            (None, _) => {}
        }
    }
    out_of_cell(dom, copy)
}

/// Returns a copy of an image's markup that shows a different image and has no link.
fn copy_showing(dom: &mut Dom, root: usize, pattern: &[usize], address: &str, alt: &str) -> usize {
    let (copy, copies) = dom.copy(root);
    let twin = copies.iter().find(|(original, _)| pattern.contains(original)).map(|(_, twin)| *twin);
    if let Some(twin) = twin {
        exchange(dom, twin, address, Some(alt));
        let link = dom.above(twin).find(|above| dom.name(*above) == "a");
        link.into_iter().for_each(|link| unwrap(dom, link));
    }
    out_of_cell(dom, copy)
}

/// Replaces an element with its children.
fn unwrap(dom: &mut Dom, element: usize) {
    let (parent, place) = (dom.parent(element), dom.place(element));
    for (number, child) in dom.children(element).to_vec().into_iter().enumerate() {
        dom.remove(child);
        dom.hang(child, parent, place + number);
    }
    dom.remove(element);
}

/// Returns the font styles that an element inherits, except the styles of the body, which apply to all elements.
fn inherited_type(dom: &Dom, root: usize) -> Vec<(&'static str, String)> {
    let all = ["font", "font-family", "font-size", "line-height", "color"];
    let nearest = |property: &'static str| {
        let value = dom.above(root).find_map(|above| dom.own_style(above, property))?;
        Some((property, value))
    };
    all.into_iter().filter_map(nearest).collect()
}

/// Sets these font styles on a moved or inserted element, unless the element sets or inherits them already.
fn keep_type(dom: &mut Dom, root: usize, type_: Vec<(&'static str, String)>) {
    let has_own_cells = matches!(dom.name(root), "tr" | "tbody" | "table" | "li");
    let here = inherited_type(dom, root);
    for (property, value) in type_ {
        let is_set = dom.own_style(root, property).is_some() || dom.own_style(root, "font").is_some() && property != "color";
        if !has_own_cells && !is_set && !dom.is_text(root) && !here.contains(&(property, value.clone())) {
            dom.set_style(root, property, &value);
        }
    }
}

/// Replaces a table cell with a `div` that has the style and content of the cell. Returns any other element unchanged.
fn out_of_cell(dom: &mut Dom, copy: usize) -> usize {
    if !is_cell(dom.name(copy)) {
        return copy;
    }
    let style = dom.attribute(copy, "style").unwrap_or_default().to_owned();
    let around = dom.make("div", &[("style", &style)]);
    for child in dom.children(copy).to_vec() {
        dom.remove(child);
        dom.append(child, around);
    }
    around
}

fn plain(dom: &mut Dom, name: &str, style: &str, words: &str) -> usize {
    let element = dom.make(name, &[("style", style)]);
    hang_text(dom, words, element, 0);
    element
}

fn plain_button(dom: &mut Dom, words: &str, address: &str) -> usize {
    let vivid = colors::colors(dom).into_iter().find(|color| is_vivid(*color));
    let ground = vivid.unwrap_or(Color { red: 0x22, green: 0x22, blue: 0x22 });
    let style = format!(
        "display:inline-block;padding:12px 24px;background-color:{ground};color:{};border-radius:4px;text-decoration:none;\
         font-weight:bold;",
        readable_on(ground)
    );
    let link = dom.make("a", &[("href", address), ("style", &style)]);
    hang_text(dom, words, link, 0);
    let around = dom.make("div", &[("style", "padding:16px 0;")]);
    dom.append(link, around);
    around
}

fn plain_image(dom: &mut Dom, address: &str, alt: &str) -> usize {
    let style = "display:block;width:100%;max-width:560px;height:auto;border:0;";
    dom.make("img", &[("src", address), ("alt", alt), ("width", IMAGE_WIDTH), ("style", style)])
}

/// Attaches new content before or after these nodes, or at the end of the email, wrapped in the elements that the position requires.
fn put(dom: &mut Dom, new: usize, beside: &[usize], before: bool) {
    let all = roots(dom, beside);
    let Some(mut anchor) = (if before { all.first() } else { all.last() }).copied() else {
        if let Some(body) = dom.first("body") {
            let new = fitting(dom, new, "body", None);
            dom.append(new, body);
        }
        return;
    };
    // New content next to inline text is placed before or after the whole line.
    while dom.is_inline(anchor) && dom.is_inline(dom.parent(anchor)) && dom.name(dom.parent(anchor)) != "body" {
        anchor = dom.parent(anchor);
    }
    if is_cell(dom.name(anchor)) {
        let name = dom.name(anchor).to_owned();
        let new = fitting(dom, new, &name, None);
        dom.hang(new, anchor, if before { 0 } else { usize::MAX });
        return;
    }
    // Lists can contain only list items.
    let parent = dom.parent(anchor);
    if matches!(dom.name(parent), "ul" | "ol" | "menu") && dom.name(new) != "li" {
        anchor = parent;
    }
    // Block elements do not belong inside paragraphs, headings and links.
    let parent = dom.parent(anchor);
    if matches!(dom.name(parent), "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "a") {
        anchor = parent;
    }
    let (parent, place) = (dom.parent(anchor), dom.place(anchor) + usize::from(!before));
    let name = dom.name(parent).to_owned();
    let new = fitting(dom, new, &name, Some(anchor));
    dom.hang(new, parent, place);
}

/// Wraps new content as a parent element with this name requires: a row outside a table gets a table, a list item outside a list gets a
/// list, and other content inside a table gets a row and a cell.
fn fitting(dom: &mut Dom, new: usize, around: &str, beside: Option<usize>) -> usize {
    let takes_rows = matches!(around, "table" | "tbody" | "thead" | "tfoot");
    let new = match dom.name(new) {
        "li" if !matches!(around, "ul" | "ol" | "menu") => {
            let list = dom.make("ul", &[]);
            dom.append(new, list);
            list
        }
        _ => new,
    };
    let is_rows = matches!(dom.name(new), "tbody" | "thead" | "tfoot");
    if is_rows && around == "table" || dom.name(new) == "tr" && takes_rows {
        return new;
    }
    if is_rows || dom.name(new) == "tr" {
        let whole = [("role", "presentation"), ("width", "100%"), ("cellpadding", "0"), ("cellspacing", "0"), ("border", "0")];
        let table = dom.make("table", &whole);
        let rows = if is_rows { table } else { dom.make("tbody", &[]) };
        if rows != table {
            dom.append(rows, table);
        }
        dom.append(new, rows);
        return fitting(dom, table, around, beside);
    }
    if !takes_rows {
        return new;
    }
    let row = dom.make("tr", &[]);
    let cell = dom.make("td", &[]);
    // The new cell gets the padding and font of the neighboring cell.
    let like = beside.and_then(|beside| dom.within(beside).into_iter().find(|node| is_cell(dom.name(*node))));
    for (name, value) in like.map(|like| dom.attributes(like).to_vec()).unwrap_or_default() {
        if matches!(name.as_str(), "align" | "style" | "class" | "colspan" | "bgcolor" | "valign") {
            dom.set_attribute(cell, &name, Some(&value));
        }
    }
    // An image may fill its row, but text needs some padding.
    if dom.own_style(cell, "padding").is_none()
        && dom.name(new) != "img"
        && !dom.within(new).iter().any(|node| dom.name(*node) == "img")
    {
        dom.set_style(cell, "padding", ROW_PADDING);
    }
    dom.append(new, cell);
    dom.append(cell, row);
    row
}
