//! Determines the HTML context of each value, and thereby how the value is escaped.
//!
//! The literals are parsed as in a browser, but only to find elements, attributes and their quotes, and the attributes that contain URLs.
//! Values are allowed in text and in quoted attributes. A template is rejected if a value is in a place where escaping does not help: in a
//! script, a style sheet, an attribute name, an unquoted attribute or an event handler.

use super::MergeError;
use super::ast::{EscapeContext, Node};
use super::lexer::refuse;

/// The attributes that contain URLs.
const ADDRESSES: [&str; 12] =
    ["href", "src", "action", "formaction", "background", "poster", "cite", "data", "longdesc", "usemap", "xlink:href", "srcset"];

/// The elements whose content is not HTML.
const RAW: [&str; 2] = ["script", "style"];

/// Determines the context of every value, or rejects the template.
pub fn settle(nodes: &mut [Node], literals: &[String]) -> Result<(), MergeError> {
    walk(nodes, literals, State::Text).map(|_| ())
}

/// What the part of a URL before a position contains, and whether it already determines the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Address {
    /// The URL is empty so far: the value determines the target.
    Start,
    /// The URL has characters from the template, but too few to determine the target.
    Letters,
    /// The URL has characters from a field, and nothing in the template determines the target yet.
    Field,
    /// The template has written the URL's scheme, host or path, which determines the target.
    Decided,
    /// The attribute does not contain a URL.
    None,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Text,
    /// After `<`, in the element's name, which starts with `/` in an end tag.
    Element(String),
    /// In a tag, between attributes.
    Tag {
        element: String,
    },
    /// In the name of an attribute.
    Attribute {
        element: String,
        name: String,
    },
    /// After the `=` of an attribute.
    Equals {
        element: String,
        name: String,
    },
    /// In a quoted attribute value.
    Quoted {
        element: String,
        name: String,
        quote: char,
        address: Address,
    },
    /// In an unquoted attribute value.
    Bare {
        element: String,
    },
    /// In a comment `<!-- … -->`. Contains the number of characters of `-->` that have been read.
    Comment(u8),
    /// In a declaration `<! … >` that is not a comment, such as an Outlook condition or the document type.
    Declaration(String),
    /// In a script or style sheet; `end` contains the characters of its end tag that have been read.
    Raw {
        element: String,
        end: String,
    },
}

fn walk(nodes: &mut [Node], literals: &[String], mut state: State) -> Result<State, MergeError> {
    for node in nodes {
        match node {
            Node::Literal(number) => state = state.read(&literals[*number])?,
            Node::Output { chain, place } => (*place, state) = state.value(chain.line)?,
            Node::If(branches) => {
                let line = branches.first().map_or(0, |branch| branch.line);
                let has_else = branches.last().is_some_and(|branch| branch.condition.is_none());
                let mut joined = (!has_else).then(|| state.clone());
                for branch in branches {
                    let end = walk(&mut branch.nodes, literals, state.clone())?;
                    joined = Some(match joined {
                        None => end,
                        Some(other) => other.join(end, line)?,
                    });
                }
                state = joined.unwrap_or(State::Text);
            }
            Node::For { list, nodes, .. } => {
                // Walk through the loop's content from the state before the loop. If an iteration changes the state, walk through it again
                // from the join of both states.
                let line = list.line;
                let once = walk(nodes, literals, state.clone())?;
                if once != state {
                    // One more walk is enough, even for nested loops: afterward, the state no longer changes.
                    let either = state.join(once, line)?;
                    let again = walk(nodes, literals, either.clone())?;
                    state = either.join(again, line)?;
                }
            }
        }
    }
    Ok(state)
}

impl State {
    /// Returns the state after two branches that end in the states `self` and `other`, or an error if values after the branches
    /// would need different escaping.
    fn join(self, other: State, line: usize) -> Result<State, MergeError> {
        if self == other {
            return Ok(self);
        }
        match (self, other) {
            (
                State::Quoted { element, name, quote, address: one },
                State::Quoted { element: element_2, name: name_2, quote: quote_2, address: two },
            ) if (&element, &name, quote) == (&element_2, &name_2, quote_2) => {
                let address = if one == two { one } else { Address::Field };
                Ok(State::Quoted { element, name, quote, address })
            }
            // Both branches end inside the same kind of element, so the state after them is the same.
            (State::Raw { element, .. }, State::Raw { element: same, .. }) if element == same => {
                Ok(State::Raw { element, end: String::new() })
            }
            _ => refuse(
                line,
                "an if or for block contains only the start or the end of a tag, attribute, comment, script or style; put the start \
                 and the end inside the block",
            ),
        }
    }

    /// Returns the context of a value at this position, and the state after the value.
    fn value(self, line: usize) -> Result<(EscapeContext, State), MergeError> {
        match self {
            State::Text => Ok((EscapeContext::Markup, State::Text)),
            State::Comment(_) => Ok((EscapeContext::Markup, State::Comment(0))),
            State::Quoted { element, name, quote, address } => {
                if name.starts_with("on") || name == "srcdoc" {
                    return refuse(
                        line,
                        format!(
                            "a merge field is not allowed in the attribute {name}; put it between tags or in another attribute"
                        ),
                    );
                }
                let (place, address) = match address {
                    Address::Start => (EscapeContext::Link, Address::Field),
                    Address::Letters | Address::Field => (EscapeContext::LinkPart, Address::Field),
                    decided => (EscapeContext::Markup, decided),
                };
                Ok((place, State::Quoted { element, name, quote, address }))
            }
            State::Raw { element, .. } => {
                let text = format!(
                    "a merge field is not allowed in <{element}>; put it between other tags or in a quoted attribute value"
                );
                refuse(line, text)
            }
            State::Equals { .. } | State::Bare { .. } => {
                refuse(line, "a merge field in an attribute value needs quotes around the value, like href=\"{{ url }}\"")
            }
            State::Element(_) | State::Tag { .. } | State::Attribute { .. } | State::Declaration(_) => {
                let text =
                    "a merge field is not allowed at this position in a tag; put it between tags or in a quoted attribute value";
                refuse(line, text)
            }
        }
    }

    fn read(mut self, literal: &str) -> Result<State, MergeError> {
        let mut rest = literal;
        loop {
            // Skip to the next character that can change the state. Most of an email is text and attributes, where only a few characters
            // can change it.
            let stop: &[char] = match &self {
                State::Text => &['<'],
                State::Quoted { quote: '"', address: Address::None | Address::Decided, .. } => &['"'],
                State::Quoted { quote: '\'', address: Address::None | Address::Decided, .. } => &['\''],
                _ => &[],
            };
            if !stop.is_empty() {
                let Some(at) = rest.find(stop) else { return Ok(self) };
                rest = &rest[at..];
            }
            let Some(character) = rest.chars().next() else { return Ok(self) };
            rest = &rest[character.len_utf8()..];
            self = self.after(character)?;
        }
    }

    fn after(self, character: char) -> Result<State, MergeError> {
        Ok(match self {
            State::Text if character == '<' => State::Element(String::new()),
            State::Text => State::Text,
            State::Element(name) => in_element_name(name, character),
            State::Tag { element } => in_tag(element, character),
            State::Attribute { element, mut name } => match character {
                '=' => State::Equals { element, name },
                '>' | '/' => in_tag(element, character),
                // An `=` may follow after white space; any other character starts the next attribute.
                character if character.is_ascii_whitespace() => State::Attribute { element, name: name + " " },
                character => {
                    if name.ends_with(' ') {
                        name.clear();
                    }
                    name.push(character.to_ascii_lowercase());
                    State::Attribute { element, name }
                }
            },
            State::Equals { element, name } => match character {
                character if character.is_ascii_whitespace() => State::Equals { element, name },
                '"' | '\'' => {
                    let name = name.trim_end().to_owned();
                    let address = if ADDRESSES.contains(&name.as_str()) { Address::Start } else { Address::None };
                    State::Quoted { element, name, quote: character, address }
                }
                '>' => after_tag(element),
                _ => State::Bare { element },
            },
            State::Quoted { element, quote, .. } if character == quote => State::Tag { element },
            State::Quoted { element, name, quote, address } => {
                State::Quoted { element, name, quote, address: in_address(address, character)? }
            }
            State::Bare { element } => match character {
                '>' => after_tag(element),
                character if character.is_ascii_whitespace() => State::Tag { element },
                _ => State::Bare { element },
            },
            State::Comment(seen) => match (character, seen) {
                ('>', 2) => State::Text,
                ('!', 2) => State::Comment(2),
                ('-', seen) => State::Comment((seen + 1).min(2)),
                _ => State::Comment(0),
            },
            State::Declaration(start) => in_declaration(start, character),
            State::Raw { element, end } => in_raw(element, end, character),
        })
    }
}

fn in_element_name(mut name: String, character: char) -> State {
    match character {
        '!' | '?' if name.is_empty() => State::Declaration(String::new()),
        '>' => after_tag(name),
        character if character.is_ascii_whitespace() && !name.is_empty() => State::Tag { element: name },
        character if character.is_ascii_alphabetic() || !name.is_empty() || character == '/' => {
            name.push(character.to_ascii_lowercase());
            State::Element(name)
        }
        // In `<<`, the first `<` is text, and the second may start an element.
        '<' => State::Element(String::new()),
        _ => State::Text,
    }
}

fn in_tag(element: String, character: char) -> State {
    match character {
        '>' => after_tag(element),
        '/' => State::Tag { element },
        character if character.is_ascii_whitespace() => State::Tag { element },
        character => State::Attribute { element, name: character.to_ascii_lowercase().to_string() },
    }
}

fn after_tag(element: String) -> State {
    if RAW.contains(&element.as_str()) { State::Raw { element, end: String::new() } } else { State::Text }
}

/// Reads the start of a declaration. `<!--` starts a comment, unless an Outlook condition follows, which contains HTML.
fn in_declaration(mut start: String, character: char) -> State {
    match (start.as_str(), character) {
        ("--", '[') => State::Declaration("[".to_owned()),
        ("--", '-') => State::Comment(2),
        ("--", '>') => State::Text,
        ("--", _) => State::Comment(0),
        ("" | "-", '-') => {
            start.push('-');
            State::Declaration(start)
        }
        (_, '>') => State::Text,
        _ => State::Declaration("[".to_owned()),
    }
}

fn in_raw(element: String, mut end: String, character: char) -> State {
    if character == '<' {
        return State::Raw { element, end: "<".to_owned() };
    }
    if !end.is_empty() {
        end.push(character.to_ascii_lowercase());
        let closes = end.strip_prefix("</").is_some_and(|name| name == element);
        if closes {
            return State::Tag { element: format!("/{element}") };
        }
        let continues = end.len() < 2 + element.len() && format!("</{element}").starts_with(&end);
        if !continues {
            end.clear();
        }
    }
    State::Raw { element, end }
}

fn in_address(address: Address, character: char) -> Result<Address, MergeError> {
    Ok(match (address, character) {
        (Address::None, _) => Address::None,
        (Address::Decided, _) => Address::Decided,
        (Address::Start, character) if character.is_ascii_whitespace() => Address::Start,
        (_, '/' | '?' | '#') => Address::Decided,
        (Address::Field, ':') => Address::Field,
        (_, ':') => Address::Decided,
        (Address::Field, _) => Address::Field,
        (Address::Start | Address::Letters, _) => Address::Letters,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{OutputKind, Template};
    use super::*;

    fn places(source: &str) -> Vec<EscapeContext> {
        let template = Template::compile(source, OutputKind::Html).unwrap_or_else(|error| panic!("{source}: {error}"));
        fn of(nodes: &[Node], found: &mut Vec<EscapeContext>) {
            for node in nodes {
                match node {
                    Node::Literal(_) => {}
                    Node::Output { place, .. } => found.push(*place),
                    Node::If(branches) => branches.iter().for_each(|branch| of(&branch.nodes, found)),
                    Node::For { nodes, .. } => of(nodes, found),
                }
            }
        }
        let mut found = Vec::new();
        of(&template.nodes, &mut found);
        found
    }

    #[test]
    fn values_are_allowed_in_texts_attributes_and_links() {
        use EscapeContext::{Link, LinkPart, Markup};
        for (source, expected) in [
            ("{{ a }}<p>{{ a }}</p>{{ a }}", vec![Markup, Markup, Markup]),
            ("<a href=\"{{ a }}\">{{ a }}</a>", vec![Link, Markup]),
            ("<A HREF = ' {{ a }}'>{{ a }}</a>", vec![Link, Markup]),
            ("<a title=\"{{ a }}\" href='{{ a }}' id=\"{{ a }}\">", vec![Markup, Link, Markup]),
            ("<a href=\"https://x/{{ a }}\">", vec![Markup]),
            ("<a href=\"https:{{ a }}\">", vec![Markup]),
            ("<a href=\"{{ a }}{{ a }}/{{ a }}\">", vec![Link, LinkPart, Markup]),
            ("<a href=\"java{{ a }}\">", vec![LinkPart]),
            ("<a href=\"?q={{ a }}\">", vec![Markup]),
            ("<img disabled src=\"{{ a }}\"/>{{ a }}", vec![Link, Markup]),
            ("a < b {{ a }} <3 {{ a }}", vec![Markup, Markup]),
            ("<!-- {{ a }} --><a href=\"{{ a }}\">", vec![Markup, Link]),
            ("<!---><a href=\"{{ a }}\"><!-- - --!><a href=\"{{ a }}\">", vec![Link, Link]),
            ("<!--[if mso]><v:rect href=\"{{ a }}\"/><![endif]-->{{ a }}", vec![Link, Markup]),
            ("<!--[if !mso]><!-->{{ a }}<a href='{{ a }}'><!--<![endif]-->{{ a }}", vec![Markup, Link, Markup]),
            ("<!doctype html><style>a > b { c: \"{\" } </b></STYLE >{{ a }}", vec![Markup]),
            ("<a href=\"{% if a %}https://x/{% else %}{{ b }}{% endif %}{{ c }}\">", vec![Link, LinkPart]),
            ("<a href=\"{% for x in xs %}{{ x }}{% endfor %}\">", vec![LinkPart]),
            ("<td {% if a %}class=\"b\"{% else %}id='c'{% endif %}>{{ a }}", vec![Markup]),
        ] {
            assert_eq!(places(source), expected, "{source}");
        }
    }

    #[test]
    fn values_are_rejected_where_they_cannot_be_escaped() {
        for (source, word) in [
            ("<script>{{ a }}</script>", "<script>"),
            ("<style>\n</styl>{{ a }}</style>", "<style>"),
            ("<a href={{ a }}>", "quotes"),
            ("<a href=x{{ a }}>", "quotes"),
            ("<a {{ a }}>", "tag"),
            ("<{{ a }}>", "tag"),
            ("<a hr{{ a }}=\"x\">", "tag"),
            ("<a onclick=\"go('{{ a }}')\">", "onclick"),
            ("<iframe srcdoc='{{ a }}'>", "srcdoc"),
            ("{% if a %}<a href=\"{% endif %}{{ b }}", "put the start and the end inside"),
            ("{% for a in b %}<a title='{% endfor %}", "put the start and the end inside"),
            ("<a{% if a %} href=\"x{% else %} id=\"x{% endif %}\">", "put the start and the end inside"),
        ] {
            let refused = Template::compile(source, OutputKind::Html).expect_err(source).to_string();
            assert!(refused.contains(word) && !refused.contains("a field"), "{source}: {refused}");
        }
    }
}
