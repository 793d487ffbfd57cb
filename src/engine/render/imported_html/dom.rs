//! The HTML of an email as a tree that can be edited and serialized.
//!
//! Nodes are numbered in document order, so that identical HTML always has identical numbers. For edits, the input is already sanitized,
//! and the output is sanitized again. Inspections read HTML that is not sanitized.

use scraper::ElementRef;

use super::outlook;
use crate::engine::render::css;
use crate::engine::render::html_limits::HtmlRefusal;
use crate::engine::render::tree::{
    Descend, Visitor, is_block, is_cell, is_void, parse, push_attribute, push_text, raw_text, walk,
};

#[derive(Clone, Debug)]
pub enum Node {
    Element {
        name: String,
        attributes: Vec<(String, String)>,
    },
    Text(String),
    /// The text of a conditional comment.
    Comment(String),
}

#[derive(Debug, Default)]
pub struct Dom {
    nodes: Vec<Node>,
    parents: Vec<usize>,
    children: Vec<Vec<usize>>,
}

/// The number of the document root, which contains no text itself.
const ROOT: usize = 0;

impl Dom {
    pub fn read(html: &str) -> Result<Self, HtmlRefusal> {
        let mut reader = Reader { dom: Self::default(), at: ROOT };
        reader.dom.push(Node::Text(String::new()), ROOT);
        walk(&parse(html), &mut reader)?;
        Ok(reader.dom)
    }

    fn push(&mut self, node: Node, parent: usize) -> usize {
        let number = self.nodes.len();
        self.nodes.push(node);
        self.parents.push(parent);
        self.children.push(Vec::new());
        if number != ROOT {
            self.children[parent].push(number);
        }
        number
    }

    /// Returns the numbers of all nodes that were ever parsed or created, whether attached or not.
    pub fn numbers(&self) -> std::ops::Range<usize> {
        1..self.nodes.len()
    }

    pub fn parent(&self, node: usize) -> usize {
        self.parents[node]
    }

    pub fn children(&self, node: usize) -> &[usize] {
        &self.children[node]
    }

    /// Returns an element's name; empty for a text node or a comment.
    pub fn name(&self, node: usize) -> &str {
        match &self.nodes[node] {
            Node::Element { name, .. } => name,
            Node::Text(_) | Node::Comment(_) => "",
        }
    }

    /// Returns the text of a text node; empty for an element or a comment.
    pub fn text(&self, node: usize) -> &str {
        match &self.nodes[node] {
            Node::Element { .. } | Node::Comment(_) => "",
            Node::Text(text) => text,
        }
    }

    pub fn is_text(&self, node: usize) -> bool {
        node != ROOT && matches!(self.nodes[node], Node::Text(_))
    }

    pub fn attributes(&self, node: usize) -> &[(String, String)] {
        match &self.nodes[node] {
            Node::Element { attributes, .. } => attributes,
            Node::Text(_) | Node::Comment(_) => &[],
        }
    }

    pub fn attribute(&self, node: usize, wanted: &str) -> Option<&str> {
        self.attributes(node).iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }

    /// Sets an attribute, or removes it if `value` is `None`.
    pub fn set_attribute(&mut self, node: usize, wanted: &str, value: Option<&str>) {
        let Node::Element { attributes, .. } = &mut self.nodes[node] else { return };
        match (attributes.iter().position(|(name, _)| name == wanted), value) {
            (Some(place), Some(value)) => attributes[place].1 = value.to_owned(),
            (Some(place), None) => _ = attributes.remove(place),
            (None, Some(value)) => attributes.push((wanted.to_owned(), value.to_owned())),
            (None, None) => {}
        }
    }

    pub fn set_text(&mut self, node: usize, text: &str) {
        if let Node::Text(own) = &mut self.nodes[node] {
            *own = text.to_owned();
        }
    }

    /// Returns the value of a property in the element's own `style` attribute.
    pub fn own_style(&self, node: usize, property: &str) -> Option<String> {
        let declarations = css::declarations(self.attribute(node, "style")?);
        declarations.iter().rev().find(|one| one.name == property).map(|one| one.value.to_owned())
    }

    /// Sets a property in the element's own `style` attribute. An existing property keeps its position.
    pub fn set_style(&mut self, node: usize, property: &str, value: &str) {
        let own = self.attribute(node, "style").unwrap_or_default().to_owned();
        let mut out = String::new();
        let mut is_set = false;
        for one in css::declarations(&own) {
            let important = if one.important { " !important" } else { "" };
            if one.name != property {
                out.push_str(&format!("{}:{}{important};", one.name, one.value));
            } else if !is_set {
                is_set = true;
                out.push_str(&format!("{property}:{value}{important};"));
            }
        }
        if !is_set {
            out.push_str(&format!("{property}:{value};"));
        }
        self.set_attribute(node, "style", Some(&out));
    }

    /// Returns the first element with this name that is still in the document.
    pub fn first(&self, name: &str) -> Option<usize> {
        self.numbers().find(|node| self.name(*node) == name && self.is_attached(*node))
    }

    pub fn is_attached(&self, node: usize) -> bool {
        node == ROOT || self.children[self.parents[node]].contains(&node) && self.is_attached(self.parents[node])
    }

    /// Returns the ancestors of a node, nearest first, up to but not including the body.
    pub fn above(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let up = move |at: &usize| Some(self.parents[*at]);
        std::iter::successors(Some(self.parents[node]), up).take_while(|at| *at != ROOT && self.name(*at) != "body")
    }

    /// Returns a node and its descendants, in document order.
    pub fn within(&self, node: usize) -> Vec<usize> {
        let (mut found, mut open) = (Vec::new(), vec![node]);
        while let Some(at) = open.pop() {
            found.push(at);
            open.extend(self.children[at].iter().rev());
        }
        found
    }

    /// Returns the index of a node among its parent's children.
    pub fn place(&self, node: usize) -> usize {
        self.children[self.parents[node]].iter().position(|other| *other == node).unwrap_or_default()
    }

    /// Creates a detached element.
    pub fn make(&mut self, name: &str, attributes: &[(&str, &str)]) -> usize {
        let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.loose(Node::Element { name: name.to_owned(), attributes })
    }

    /// Creates a detached text node.
    pub fn make_text(&mut self, text: &str) -> usize {
        self.loose(Node::Text(text.to_owned()))
    }

    fn loose(&mut self, node: Node) -> usize {
        let number = self.push(node, ROOT);
        self.children[ROOT].pop();
        number
    }

    /// Attaches a detached node to a parent, at an index among its children.
    pub fn hang(&mut self, node: usize, parent: usize, place: usize) {
        let place = place.min(self.children[parent].len());
        self.children[parent].insert(place, node);
        self.parents[node] = parent;
    }

    /// Attaches a detached node after a parent's last child.
    pub fn append(&mut self, node: usize, parent: usize) {
        self.hang(node, parent, usize::MAX);
    }

    pub fn remove(&mut self, node: usize) {
        self.children[self.parents[node]].retain(|other| *other != node);
    }

    /// Returns a detached copy of a node with its descendants, and the mapping from original to copied nodes. The copies have no `id`
    /// attributes.
    pub fn copy(&mut self, node: usize) -> (usize, Vec<(usize, usize)>) {
        let mut copies: Vec<(usize, usize)> = Vec::new();
        for from in self.within(node) {
            let mut twin = self.nodes[from].clone();
            if let Node::Element { attributes, .. } = &mut twin {
                attributes.retain(|(name, _)| name != "id");
            }
            let to = self.loose(twin);
            if let Some((_, parent)) = copies.iter().find(|(original, _)| *original == self.parents[from]).copied() {
                self.append(to, parent);
            }
            copies.push((from, to));
        }
        (copies[0].1, copies)
    }

    pub fn write(&self) -> String {
        enum Step {
            Node(usize),
            End(usize),
        }
        let mut out = "<!doctype html>".to_owned();
        let mut steps: Vec<Step> = self.children[ROOT].iter().rev().map(|child| Step::Node(*child)).collect();
        while let Some(step) = steps.pop() {
            match step {
                Step::End(node) => out.push_str(&format!("</{}>", self.name(node))),
                Step::Node(node) => match &self.nodes[node] {
                    Node::Text(text) if self.name(self.parents[node]) == "style" => out.push_str(text),
                    Node::Text(text) => push_text(text, &mut out),
                    Node::Comment(text) => out.push_str(&format!("<!--{text}-->")),
                    Node::Element { name, attributes } => {
                        out.push('<');
                        out.push_str(name);
                        attributes.iter().for_each(|(name, value)| push_attribute(name, value, &mut out));
                        out.push('>');
                        if !is_void(name) {
                            steps.push(Step::End(node));
                            steps.extend(self.children[node].iter().rev().map(|child| Step::Node(*child)));
                        }
                    }
                },
            }
        }
        out
    }

    /// Returns whether an element has a background image.
    pub fn has_picture(&self, node: usize) -> bool {
        let mut values = ["background-image", "background"].into_iter().filter_map(|property| self.own_style(node, property));
        self.attribute(node, "background").is_some() || values.any(|value| value.contains("url("))
    }

    /// Returns whether an element is displayed inline, as part of a line of text.
    pub fn is_inline(&self, node: usize) -> bool {
        let name = self.name(node);
        if is_block(name) || is_cell(name) || matches!(name, "html" | "head" | "col" | "colgroup") {
            return false;
        }
        let display = self.own_style(node, "display").unwrap_or_default();
        !matches!(display.trim(), "block" | "table" | "table-cell" | "flex")
    }
}

struct Reader {
    dom: Dom,
    at: usize,
}

impl Visitor for Reader {
    fn open(&mut self, element: ElementRef<'_>) -> Descend {
        let value = element.value();
        let attributes = value.attrs().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let node = self.dom.push(Node::Element { name: value.name().to_owned(), attributes }, self.at);
        if value.name() == "style" {
            self.dom.push(Node::Text(raw_text(element)), node);
        }
        if value.name() == "style" || is_void(value.name()) {
            return Descend::Past;
        }
        self.at = node;
        Descend::Into
    }

    fn close(&mut self, _: &str) {
        self.at = self.dom.parents[self.at];
    }

    fn text(&mut self, text: &str) {
        self.dom.push(Node::Text(text.to_owned()), self.at);
    }

    fn comment(&mut self, text: &str) {
        if outlook::is_conditional(text) {
            self.dom.push(Node::Comment(text.to_owned()), self.at);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::clean;
    use super::*;

    #[test]
    fn sanitized_html_is_serialized_unchanged() {
        let source = "<html lang=en><title>A &amp; B</title><style>a > b{color:red} @media (max-width:3px){p{margin:0}}</style>\
                      <body bgcolor=#fff><table><tr><td style=\"color:red;font-family:'X &amp; Y'\">1 &lt; 2&nbsp;<b>x</b><br><img \
                      src=https://x.example/a.png></table><ul><li>a<li>b</ul><a href=\"{{ unsubscribe_url }}\">Stop</a>";
        let safe = clean::html(source, &HashMap::new()).expect("the HTML is small enough").html;
        let written = Dom::read(&safe).expect("the HTML is small enough").write();
        assert_eq!(written.len(), safe.len(), "{written}");
        assert_eq!(clean::html(&written, &HashMap::new()).expect("the HTML is small enough").html, safe);
    }

    #[test]
    fn a_copy_is_complete_and_has_no_ids() {
        let mut dom = Dom::read("<div id=a><p id=b>x<b>y</b></p></div>").expect("the HTML is small enough");
        let div = dom.first("div").expect("the element exists");
        let (copy, copies) = dom.copy(div);
        assert_eq!(copies.len(), 5);
        let body = dom.first("body").expect("the element exists");
        dom.append(copy, body);
        dom.set_style(copy, "color", "red");
        assert!(dom.write().ends_with("</div><div style=\"color:red;\"><p>x<b>y</b></p></div></body></html>"), "{}", dom.write());
    }
}
