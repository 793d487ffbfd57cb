//! What a template is once it was read: the shapes of its parts, and nothing that happens to them.

use serde_json::Number;

use super::dates::Language;

/// One name of a path, in the spelling of the template and in the other one: `firstName` and `first_name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    pub given: Box<str>,
    pub other: Option<Box<str>>,
}

impl Word {
    /// A name with its other spelling.
    pub fn new(given: &str) -> Self {
        let snake = snake_case(given);
        let other = if snake == given { camel_case(given) } else { snake };
        Self { given: given.into(), other: (other != given).then(|| other.into()) }
    }
}

/// A field: `order.total`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    pub words: Vec<Word>,
    /// As the template wrote it.
    pub text: Box<str>,
    /// In one spelling, to tell whether two fields are the same.
    pub same: Box<str>,
}

impl Path {
    /// A path of names joined by dots.
    pub fn new(text: &str) -> Self {
        let words = text.split('.').map(Word::new).collect();
        Self { words, text: text.into(), same: snake_case(text).into() }
    }
}

/// `firstName` → `first_name`; what is spelled so already stays.
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

/// `first_name` → `firstName`.
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

/// A value written in the template.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    Text(String),
    Number(Number),
    Truth(bool),
}

/// Where a value comes from.
#[derive(Debug)]
pub enum Operand {
    Path(Path),
    Constant(Constant),
}

/// What is done to a value.
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
    /// The form, and the language that the template itself names.
    Date(String, Option<Language>),
}

/// A value and what is done to it, in order.
#[derive(Debug)]
pub struct Chain {
    pub operand: Operand,
    pub filters: Vec<Filter>,
    pub line: usize,
}

impl Chain {
    /// The field it begins with.
    pub fn path(&self) -> Option<&Path> {
        match &self.operand {
            Operand::Path(path) => Some(path),
            Operand::Constant(_) => None,
        }
    }

    /// Whether it has a value whatever the data say.
    pub fn has_default(&self) -> bool {
        self.filters.iter().any(|filter| matches!(filter, Filter::Default(_)))
    }
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
    /// The left value is an item of the right list, or a part of the right text.
    Within,
}

/// What an `if` asks.
#[derive(Debug)]
pub enum Condition {
    Holds(Chain),
    Defined(Chain),
    Compares(Comparison, Chain, Chain),
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
}

/// What surrounds a value, which decides how it is made harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapeContext {
    /// Plain text.
    Text,
    /// One line.
    Line,
    /// Text of an element, or in the quotes of an attribute.
    Markup,
    /// The beginning of an address, which decides where it leads.
    Link,
    /// Within an address, before it is decided where it leads.
    LinkPart,
}

/// One `if`, `elif` or `else` with what it holds; an `else` has no condition.
#[derive(Debug)]
pub struct Branch {
    pub condition: Option<Condition>,
    pub nodes: Vec<Node>,
    pub line: usize,
}

/// A part of a template.
#[derive(Debug)]
pub enum Node {
    /// The literal with this number.
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
