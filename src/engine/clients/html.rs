//! Reads the HTML of an email into a tree of elements with the byte ranges of all tags and attributes.
//!
//! The tokenizer follows the WHATWG standard. It is not html5ever, because html5ever reports no columns, but a test compares the two. The
//! parser closes elements whose end tags may be omitted. The tree is used only to match selectors and to find ancestors, so the parser
//! leaves out the standard's foster parenting and adoption agency algorithm.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::base::source::Span;

/// The maximum nesting depth of elements, as in browsers.
const DEPTH_MAX: usize = 512;

/// The maximum number of attributes that are read from an element.
const ATTRIBUTES_MAX: usize = 256;

#[derive(Clone, Debug)]
pub struct Attribute<'a> {
    /// The name in lowercase.
    pub name: Cow<'a, str>,
    /// The range of the value as written, without quotes and with character references.
    pub value: Span,
    /// The range of the name, the equals sign and the value.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Element<'a> {
    /// The name in lowercase.
    pub name: Cow<'a, str>,
    pub start_tag: Span,
    pub end_tag: Option<Span>,
    /// The range of the element's attributes in [`Document::attributes`].
    attributes: Span,
    pub parent: Option<u32>,
    pub previous: Option<u32>,
    pub content_end: u32,
    /// Whether browsers put the element in the head.
    pub in_head: bool,
    pub in_svg: bool,
    /// Whether the element or a descendant is a table.
    pub has_table: bool,
}

impl Element<'_> {
    /// Returns the range of the element, including its tags.
    pub fn span(&self) -> Span {
        let end = self.end_tag.map_or(self.content_end, |tag| tag.end);
        Span { start: self.start_tag.start, end: end.max(self.start_tag.end) }
    }

    /// Returns the range between the tags.
    pub fn content(&self) -> Span {
        Span { start: self.start_tag.end, end: self.content_end.max(self.start_tag.end) }
    }
}

/// The parsed HTML of an email.
#[derive(Debug, Default)]
pub struct Document<'a> {
    pub elements: Vec<Element<'a>>,
    pub attributes: Vec<Attribute<'a>>,
    /// The comments, except conditional comments.
    pub comments: Vec<Span>,
    pub doctype: Option<Span>,
}

impl<'a> Document<'a> {
    /// Returns the attributes of an element. If an attribute is repeated, browsers use the first one.
    pub fn attributes_of(&self, element: &Element<'_>) -> &[Attribute<'a>] {
        self.attributes.get(element.attributes.start as usize..element.attributes.end as usize).unwrap_or_default()
    }

    /// Returns the value of an element's attribute, without surrounding whitespace. Character references are not decoded.
    pub fn attribute<'s>(&self, source: &'s str, element: &Element<'_>, name: &str) -> Option<&'s str> {
        let found = self.attributes_of(element).iter().find(|attribute| attribute.name == name)?;
        Some(found.value.of(source).trim())
    }

    /// Returns the ancestors of an element, from its parent outward.
    pub fn ancestors(&self, element: &Element<'a>) -> impl Iterator<Item = &Element<'a>> {
        std::iter::successors(self.parent(element), |one| self.parent(one))
    }

    pub fn parent(&self, element: &Element<'a>) -> Option<&Element<'a>> {
        self.elements.get(element.parent? as usize)
    }
}

/// Parses HTML. If `xml` is true, a tag such as `<v:fill/>` closes itself, as in Word.
pub fn parse(source: &str, xml: bool) -> Document<'_> {
    let mut builder = Builder {
        document: Document::default(),
        open: Vec::new(),
        counts: HashMap::new(),
        svg: 0,
        last: Vec::new(),
        last_root: None,
        body: false,
        xml,
    };
    let mut at = 0;
    while let Some(found) = find(source, b'<', at) {
        builder.text(source.get(at..found).unwrap_or_default());
        at = tag(source, found, &mut builder);
    }
    builder.finish(source.len())
}

fn find(source: &str, byte: u8, from: usize) -> Option<usize> {
    let rest = source.as_bytes().get(from..)?;
    rest.iter().position(|one| *one == byte).map(|found| from + found)
}

fn byte(source: &str, at: usize) -> u8 {
    source.as_bytes().get(at).copied().unwrap_or_default()
}

/// Reads the tag or comment that starts with the `<` at `start`, and returns the offset after it.
fn tag<'a>(source: &'a str, start: usize, builder: &mut Builder<'a>) -> usize {
    match (byte(source, start + 1), byte(source, start + 2)) {
        (b'a'..=b'z' | b'A'..=b'Z', _) => start_tag(source, start, builder),
        (b'/', b'a'..=b'z' | b'A'..=b'Z') => {
            let name_end = name_end(source, start + 2);
            let (_, end, _) = attributes(source, name_end);
            if let Some(end) = end {
                let name = lowercase(source.get(start + 2..name_end).unwrap_or_default());
                builder.close(&name, Span::new(start, end));
            }
            end.unwrap_or(source.len())
        }
        (b'/', b'>') => start + 3,
        (b'!', b'-') if byte(source, start + 3) == b'-' => {
            let end = comment_end(source, start + 4);
            let span = Span::new(start, end);
            if !is_conditional(span.of(source)) {
                builder.document.comments.push(span);
            }
            end
        }
        (b'!' | b'?' | b'/', _) => {
            let end = find(source, b'>', start + 2).map_or(source.len(), |end| end + 1);
            let is_doctype = source.get(start + 2..start + 9).is_some_and(|word| word.eq_ignore_ascii_case("doctype"));
            if is_doctype && builder.document.doctype.is_none() {
                builder.document.doctype = Some(Span::new(start, end));
            }
            end
        }
        _ => {
            builder.text("<");
            start + 1
        }
    }
}

fn name_end(source: &str, from: usize) -> usize {
    let rest = source.as_bytes().get(from..).unwrap_or_default();
    from + rest.iter().position(|one| one.is_ascii_whitespace() || matches!(one, b'/' | b'>')).unwrap_or(rest.len())
}

fn lowercase(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|one| one.is_ascii_uppercase()) { name.to_ascii_lowercase().into() } else { name.into() }
}

/// Returns the offset after the comment whose text starts at `from`.
fn comment_end(source: &str, from: usize) -> usize {
    let bytes = source.as_bytes();
    if bytes.get(from) == Some(&b'>') {
        return from + 1;
    }
    if bytes.get(from..from + 2) == Some(b"->") {
        return from + 2;
    }
    let mut at = from;
    while let Some(found) = find(source, b'>', at) {
        if found >= from + 2 && bytes.get(found - 2..found) == Some(b"--") {
            return found + 1;
        }
        if found >= from + 3 && bytes.get(found - 3..found) == Some(b"--!") {
            return found + 1;
        }
        at = found + 1;
    }
    source.len()
}

/// Returns whether a comment is a marker such as `<!--[if …]><!-->` or `<!--<![endif]-->`, or hides content that only Word shows.
fn is_conditional(comment: &str) -> bool {
    let inside = comment.strip_prefix("<!--").unwrap_or(comment).trim_start();
    inside.starts_with("[if") || inside.starts_with("<![endif]") || inside.starts_with("[endif]")
}

type Attributes<'a> = (Vec<Attribute<'a>>, Option<usize>, bool);

/// Returns the attributes of a tag, the offset after the tag, and whether the tag ends with `/>`. If the source ends inside the tag, there
/// is no offset.
fn attributes(source: &str, from: usize) -> Attributes<'_> {
    let mut found = Vec::new();
    let mut at = from;
    let mut slash = false;
    loop {
        match byte(source, at) {
            b'>' => return (found, Some(at + 1), slash),
            b'/' => {
                slash = true;
                at += 1;
                continue;
            }
            one if one.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            _ if at >= source.len() => return (found, None, false),
            _ => slash = false,
        }
        let Some((attribute, end)) = attribute(source, at) else { return (found, None, false) };
        if found.len() < ATTRIBUTES_MAX {
            found.push(attribute);
        }
        at = end;
    }
}

fn attribute(source: &str, start: usize) -> Option<(Attribute<'_>, usize)> {
    let bytes = source.as_bytes();
    // An equals sign at the start of an attribute belongs to the attribute's name (HTML standard).
    let rest = bytes.get(start + 1..)?;
    let stop = |one: &u8| one.is_ascii_whitespace() || matches!(one, b'/' | b'>' | b'=');
    let name_end = start + 1 + rest.iter().position(stop).unwrap_or(rest.len());
    let name = lowercase(source.get(start..name_end)?);
    let skip =
        |from: usize| from + bytes.get(from..).unwrap_or_default().iter().take_while(|one| one.is_ascii_whitespace()).count();
    let equals = skip(name_end);
    if byte(source, equals) != b'=' {
        let span = Span::new(start, name_end);
        return Some((Attribute { name, value: Span::new(name_end, name_end), span }, name_end));
    }
    let value = skip(equals + 1);
    match byte(source, value) {
        quote @ (b'"' | b'\'') => {
            let end = find(source, quote, value + 1)?;
            Some((Attribute { name, value: Span::new(value + 1, end), span: Span::new(start, end + 1) }, end + 1))
        }
        b'>' => Some((Attribute { name, value: Span::new(value, value), span: Span::new(start, value) }, value)),
        _ => {
            let rest = bytes.get(value..)?;
            let end = value + rest.iter().position(|one| one.is_ascii_whitespace() || *one == b'>')?;
            Some((Attribute { name, value: Span::new(value, end), span: Span::new(start, end) }, end))
        }
    }
}

fn start_tag<'a>(source: &'a str, start: usize, builder: &mut Builder<'a>) -> usize {
    let name_end = name_end(source, start + 1);
    let name = lowercase(source.get(start + 1..name_end).unwrap_or_default());
    let (attributes, end, slash) = attributes(source, name_end);
    let Some(end) = end else { return source.len() };
    let raw = !builder.in_svg()
        && matches!(&*name, "style" | "script" | "title" | "textarea" | "xmp" | "iframe" | "noembed" | "noframes");
    let raw_name = raw.then(|| name.clone());
    builder.open(name, attributes, Span::new(start, end), slash);
    let Some(name) = raw_name else { return end };
    let mut at = end;
    while let Some(found) = find(source, b'<', at) {
        let after = found + 2 + name.len();
        let matches = source.get(found + 2..after).is_some_and(|word| word.eq_ignore_ascii_case(&name));
        if byte(source, found + 1) == b'/'
            && matches
            && matches!(byte(source, after), b'>' | b'/' | b' ' | b'\t' | b'\n' | b'\r' | 0x0C)
        {
            return found;
        }
        at = found + 1;
    }
    source.len()
}

struct Builder<'a> {
    document: Document<'a>,
    /// The open elements, outermost first.
    open: Vec<u32>,
    /// The number of open elements with each name, so that an end tag without a start tag needs no search.
    counts: HashMap<Cow<'a, str>, u32>,
    /// The number of open `svg` elements.
    svg: u32,
    /// For each element, its last child so far.
    last: Vec<Option<u32>>,
    last_root: Option<u32>,
    body: bool,
    xml: bool,
}

impl<'a> Builder<'a> {
    fn text(&mut self, text: &str) {
        if !self.body && text.bytes().any(|one| !one.is_ascii_whitespace()) && !self.in_head_container() {
            self.body = true;
        }
    }

    /// Returns whether an open element, such as `noscript`, lets text or an unknown element stay in the head.
    fn in_head_container(&self) -> bool {
        ["xml", "noscript", "template"].iter().any(|name| self.is_open(name))
    }

    fn is_open(&self, name: &str) -> bool {
        self.counts.get(name).is_some_and(|count| *count > 0)
    }

    fn in_svg(&self) -> bool {
        self.svg > 0
    }

    fn name(&self, index: u32) -> &str {
        self.document.elements.get(index as usize).map_or("", |element| &element.name)
    }

    fn open(&mut self, name: Cow<'a, str>, attributes: Vec<Attribute<'a>>, start_tag: Span, slash: bool) {
        if !self.body && !HEAD.contains(&&*name) && !self.in_head_container() {
            self.body = true;
        }
        if !self.in_svg() {
            self.close_implied(&name, start_tag.start);
        }
        let first = self.document.attributes.len();
        self.document.attributes.extend(attributes);
        let index = u32::try_from(self.document.elements.len()).unwrap_or(u32::MAX);
        let parent = self.open.last().copied();
        let in_svg = self.in_svg();
        let last = match parent {
            Some(parent) => self.last.get_mut(parent as usize),
            None => Some(&mut self.last_root),
        };
        let previous = last.and_then(|last| last.replace(index));
        self.last.push(None);
        if &*name == "table" {
            self.mark_tables();
        }
        let closes = VOID.contains(&&*name) || (slash && (in_svg || &*name == "svg" || (self.xml && name.contains(':'))));
        self.document.elements.push(Element {
            has_table: &*name == "table",
            name: name.clone(),
            start_tag,
            end_tag: None,
            attributes: Span::new(first, self.document.attributes.len()),
            parent,
            previous,
            content_end: start_tag.end,
            in_head: !self.body && !matches!(&*name, "html" | "head"),
            in_svg,
        });
        if !closes && self.open.len() < DEPTH_MAX {
            self.open.push(index);
            self.svg += u32::from(&*name == "svg");
            *self.counts.entry(name).or_default() += 1;
        }
    }

    fn mark_tables(&mut self) {
        for index in self.open.iter().rev() {
            let Some(element) = self.document.elements.get_mut(*index as usize) else { return };
            if std::mem::replace(&mut element.has_table, true) {
                return;
            }
        }
    }

    /// Closes the open elements that the start tag of an element with this name ends implicitly.
    fn close_implied(&mut self, name: &str, at: u32) {
        let (closed, within): (&[&str], &[&str]) = match name {
            "li" => (&["li"], &["ul", "ol", "menu", "table", "td", "th"]),
            "dd" | "dt" => (&["dd", "dt"], &["dl", "table", "td", "th"]),
            "option" | "optgroup" => (&["option"], &["select"]),
            "td" | "th" => (&["td", "th"], &["tr", "table"]),
            "tr" => (&["tr"], &["tbody", "thead", "tfoot", "table"]),
            "tbody" | "thead" | "tfoot" => (&["tbody", "thead", "tfoot", "caption", "colgroup"], &["table"]),
            "body" => (&["head"], &["html"]),
            _ if BLOCKS.contains(&name) => (&["p"], &["table", "td", "th", "button", "caption", "object", "marquee"]),
            _ => return,
        };
        if !closed.iter().any(|name| self.is_open(name)) {
            return;
        }
        for depth in (0..self.open.len()).rev() {
            let Some(index) = self.open.get(depth).copied() else { return };
            if closed.contains(&self.name(index)) {
                self.close_from(depth, at, None);
                return;
            }
            if within.contains(&self.name(index)) {
                return;
            }
        }
    }

    fn close(&mut self, name: &str, tag: Span) {
        if !self.is_open(name) {
            return;
        }
        let table_part = matches!(name, "table" | "tbody" | "thead" | "tfoot" | "tr" | "td" | "th" | "body" | "html");
        let formatting = FORMATTING.contains(&name);
        for depth in (0..self.open.len()).rev() {
            let Some(index) = self.open.get(depth).copied() else { return };
            let open = self.name(index);
            if open == name {
                self.close_from(depth, tag.start, Some(tag));
                return;
            }
            let outside = !table_part && matches!(open, "table" | "td" | "th" | "caption");
            if outside
                || (table_part && open == "table" && name != "body" && name != "html")
                || (formatting && BLOCKS.contains(&open))
            {
                return;
            }
        }
    }

    /// Closes the open elements at this depth and deeper.
    fn close_from(&mut self, depth: usize, at: u32, tag: Option<Span>) {
        for (offset, index) in self.open.split_off(depth).into_iter().enumerate() {
            if let Some(element) = self.document.elements.get_mut(index as usize) {
                element.content_end = at;
                element.end_tag = tag.filter(|_| offset == 0);
                self.svg = self.svg.saturating_sub(u32::from(element.name == "svg"));
                if let Some(count) = self.counts.get_mut(&element.name) {
                    *count = count.saturating_sub(1);
                }
            }
        }
    }

    fn finish(mut self, end: usize) -> Document<'a> {
        self.close_from(0, Span::new(end, end).start, None);
        self.document
    }
}

/// Void elements, which have no content and no end tag.
pub const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr", "basefont",
    "bgsound",
];
const HEAD: &[&str] = &[
    "html", "head", "title", "meta", "link", "base", "style", "script", "noscript", "template", "basefont", "bgsound", "xml",
    "noembed",
];
const FORMATTING: &[&str] = &["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];
/// Elements whose start tag closes an open paragraph.
pub const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "center",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "pre",
    "search",
    "section",
    "summary",
    "table",
    "ul",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_and_attributes_have_positions() {
        let source = "<DIV Id='a\"b' hidden data-x=1>é<br/></div >";
        let document = parse(source, false);
        let div = &document.elements[0];
        assert_eq!(
            (&*div.name, div.start_tag.of(source), div.end_tag.map(|tag| tag.of(source))),
            ("div", "<DIV Id='a\"b' hidden data-x=1>", Some("</div >"))
        );
        let attributes: Vec<(&str, &str, &str)> =
            document.attributes_of(div).iter().map(|one| (&*one.name, one.value.of(source), one.span.of(source))).collect();
        assert_eq!(attributes, [("id", "a\"b", "Id='a\"b'"), ("hidden", "", "hidden"), ("data-x", "1", "data-x=1")]);
        assert_eq!(div.content().of(source), "é<br/>");
    }

    #[test]
    fn omitted_end_tags_close_their_elements() {
        let parents = |source: &str| {
            let document = parse(source, false);
            let name =
                |index: Option<u32>| index.map_or("-".to_owned(), |index| document.elements[index as usize].name.to_string());
            document
                .elements
                .iter()
                .map(|element| format!("{}<{}", element.name, name(element.parent)))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(parents("<ul><li>a<li>b</ul><p>c<div>d"), "ul<- li<ul li<ul p<- div<-");
        assert_eq!(parents("<table><tr><td>a<td>b<tr><td>c</table>"), "table<- tr<table td<tr td<tr tr<table td<tr");
        assert_eq!(parents("<td><table><tr><td></b></p></table><i>x"), "td<- table<td tr<table td<tr i<td");
        assert_eq!(parents("<style><p></style><title><b></title><textarea><i></textarea>"), "style<- title<- textarea<-");
    }

    #[test]
    fn a_style_element_is_in_the_head_until_the_body_starts() {
        let in_head = |source: &str| {
            let document = parse(source, false);
            document.elements.iter().find(|element| element.name == "style").map(|element| element.in_head)
        };
        assert_eq!(in_head("<html><head><title>a</title><style></style>"), Some(true));
        assert_eq!(in_head("<!-- c --><style></style><p>"), Some(true));
        assert_eq!(in_head("<p>a</p><style></style>"), Some(false));
        assert_eq!(in_head("a<style></style>"), Some(false));
        assert_eq!(in_head("<head></head><body><style></style>"), Some(false));
    }

    #[test]
    fn comments_end_as_in_browsers() {
        let source = "<!-- a > b --><!--><p><!-- c --!><!---><!-- [if mso] --><!--[if mso]>x<![endif]--><!doctype html><!-- d";
        let document = parse(source, false);
        let comments: Vec<&str> = document.comments.iter().map(|span| span.of(source)).collect();
        assert_eq!(comments, ["<!-- a > b -->", "<!-->", "<!-- c --!>", "<!--->", "<!-- d"]);
        assert_eq!(document.doctype.map(|span| span.of(source)), Some("<!doctype html>"));
    }
}
