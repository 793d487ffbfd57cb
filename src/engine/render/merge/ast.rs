//! The syntax tree of a template.

use serde_json::Number;

use super::dates::Language;

/// One name of a path, in the template's spelling and in its alternative spelling, such as `firstName` and `first_name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub given: Box<str>,
    pub other: Option<Box<str>>,
}

impl Word {
    pub fn new(given: &str) -> Self {
        let snake = snake_case(given);
        let other = if snake == given { camel_case(given) } else { snake };
        Self { given: given.into(), other: (other != given).then(|| other.into()) }
    }
}

/// The path of a field, such as `order.total`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    pub words: Vec<Word>,
    /// The path in the template's spelling.
    pub text: Box<str>,
    /// The path in snake case, by which fields are compared.
    pub same: Box<str>,
}

impl Path {
    /// Creates a path from names joined by dots.
    pub fn new(text: &str) -> Self {
        let words = text.split('.').map(Word::new).collect();
        Self { words, text: text.into(), same: snake_case(text).into() }
    }
}

/// Converts a name to snake case: `firstName` → `first_name`. Snake case stays unchanged.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() && !snake.ends_with(['_', '.']) {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// Converts a name to camel case: `first_name` → `firstName`.
fn camel_case(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut raise = false;
    for c in name.chars() {
        match c {
            '_' if !camel.is_empty() => raise = true,
            c if raise => {
                camel.push(c.to_ascii_uppercase());
                raise = false;
            }
            c => camel.push(c),
        }
    }
    camel
}

#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    Text(String),
    Number(Number),
    Truth(bool),
}

/// The source of a value: a field or a constant.
#[derive(Debug)]
pub enum Operand {
    Path(Path),
    Constant(Constant),
}

#[derive(Debug)]
pub enum Filter {
    Default(Constant),
    Upper,
    Lower,
    Title,
    Capitalize,
    Trim,
    Truncate(usize),
    Replace {
        from: String,
        to: String,
    },
    Round(usize),
    Join(String),
    Length,
    /// The date format, and the language if the template sets one.
    Date(String, Option<Language>),
}

/// A value with its filters, in order.
#[derive(Debug)]
pub struct Chain {
    pub operand: Operand,
    pub filters: Vec<Filter>,
    pub line: usize,
}

impl Chain {
    /// Returns the path of the field at the start of the chain, if it starts with a field.
    pub fn path(&self) -> Option<&Path> {
        match &self.operand {
            Operand::Path(path) => Some(path),
            Operand::Constant(_) => None,
        }
    }

    /// Returns whether the chain always has a value, because of a `default` filter.
    pub fn has_default(&self) -> bool {
        self.filters.iter().any(|filter| matches!(filter, Filter::Default(_)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
    /// The left value is an item of the list on the right, a substring of the text on the right, or a key of the map on the right.
    Within,
}

#[derive(Debug)]
pub enum Condition {
    Holds(Chain),
    Defined(Chain),
    Compares(Comparison, Chain, Chain),
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

/// The context of a value, which determines how the value is escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapeContext {
    /// In plain text.
    Text,
    /// On a single line of text.
    Line,
    /// In the text of an element, or in a quoted attribute.
    Markup,
    /// At the start of a URL, where the value determines the target of the URL.
    Link,
    /// Inside a URL, before the target of the URL is determined.
    LinkPart,
}

/// One `if`, `elif` or `else` with its content. An `else` has no condition.
#[derive(Debug)]
pub struct Branch {
    pub condition: Option<Condition>,
    pub nodes: Vec<Node>,
    pub line: usize,
}

#[derive(Debug)]
pub enum Node {
    /// Text outside braces: its index in the list of literals.
    Literal(usize),
    Output {
        chain: Chain,
        place: EscapeContext,
    },
    If(Vec<Branch>),
    For {
        name: Box<str>,
        list: Chain,
        nodes: Vec<Node>,
    },
}
