//! Merge fields: a template and one recipient's data become the text that this recipient gets.
//!
//! The language is the part of Jinja that an email needs: `{{ first_name | default("there") }}`, `{% if … %}` and
//! `{% for … in … %}`. Nothing else is taken: templates come from whoever holds a key, data from whoever signed up to a list, and
//! neither may take the sender's memory or time, or put markup, links or headers where the other did not.
//!
//! - [`Template::compile`] refuses what it does not know, with the line and what to write instead.
//! - [`Template::render_into`] counts every step and every byte. The common template is literals and fields, which are copied one
//!   after the other; literals keep their numbers, so that a [`Sink`] can copy what it encoded before.
//! - A field without value and without guard is [`MergeError::Missing`]; [`Template::missing`] finds it before anything is sent.
//!
//! Why not the library that draws our pages: it can neither tell a template's syntax tree nor in which place of the HTML a value
//! stands, and it would let a template double a text thirty times before it counts. Our tests hold the two against each other.
//!
//! It does not know which fields exist, nor what a message is.

mod ast;
mod dates;
mod escape;
mod eval;
mod filters;
mod lexer;
mod parse;
mod required;
#[cfg(test)]
mod tests;
mod value;

use std::fmt;

use ast::{Node, Path};
use dates::Language;
pub use value::{Fields, Value};

use crate::vocab::limits;

/// What the text is for, which decides how values are made harmless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// HTML: values are escaped, and a value that is a whole link leads nowhere if it is no plain address.
    Html,
    /// Plain text: values stand as they are.
    Text,
    /// One line, like a subject: line breaks and other control characters become spaces.
    Header,
}

/// Why a template cannot be used, or why one recipient's text cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeError {
    /// The template says something that emails cannot.
    Syntax { line: usize, problem: String },
    /// The template is too long.
    SourceTooLong,
    /// The recipient has no value for this field, and the template no default.
    Missing(String),
    /// The field's value is nothing that can stand here.
    Unsuitable { field: String, problem: String },
    /// The text for this recipient is too long.
    OutputTooLong,
    /// Loops and filters take too much work.
    TooMuchWork,
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Syntax { line, problem } => write!(f, "line {line}: {problem}"),
            MergeError::SourceTooLong => {
                write!(f, "the template is longer than {} KiB; shorten it", limits::MERGE_SOURCE_BYTES_MAX / 1024)
            }
            MergeError::Missing(field) => {
                write!(f, "there is no value for {field}; give one, or write {{{{ {field} | default(\"…\") }}}}")
            }
            MergeError::Unsuitable { field, problem } => write!(f, "{field} {problem}"),
            MergeError::OutputTooLong => {
                write!(f, "the text is too long once its fields are filled; shorten its loops or values")
            }
            MergeError::TooMuchWork => write!(f, "the template takes too much work; shorten its loops or the lists given to it"),
        }
    }
}

impl std::error::Error for MergeError {}

/// Where the parts of a filled template go.
pub trait Sink {
    /// The literal with this number of [`Template::literals`].
    fn literal(&mut self, number: usize, text: &str);
    /// A value, made harmless already.
    fn value(&mut self, text: &str);
}

impl Sink for String {
    fn literal(&mut self, _: usize, text: &str) {
        self.push_str(text);
    }

    fn value(&mut self, text: &str) {
        self.push_str(text);
    }
}

/// A template that was checked and can be filled any number of times.
#[derive(Debug)]
pub struct Template {
    kind: Kind,
    literals: Vec<String>,
    nodes: Vec<Node>,
    /// Fields without guard, each once, in order of use.
    unguarded: Vec<Path>,
    /// What its dates are written in; unknown: the reader's own, as the field `language` says it.
    date_language: Option<Language>,
}

impl Template {
    /// Check and split a template.
    pub fn compile(source: &str, kind: Kind) -> Result<Self, MergeError> {
        if source.len() > limits::MERGE_SOURCE_BYTES_MAX {
            return Err(MergeError::SourceTooLong);
        }
        let (literals, mut nodes) = parse::parse(source, kind)?;
        if kind == Kind::Html {
            escape::settle(&mut nodes, &literals)?;
        }
        let unguarded = required::required_fields(&nodes);
        Ok(Self { kind, literals, nodes, unguarded, date_language: None })
    }

    /// The template with its dates in the language that the rest of it is in. Languages whose names of months are not known change nothing.
    pub fn in_language(self, tag: Option<&str>) -> Self {
        Self { date_language: tag.and_then(Language::of), ..self }
    }

    /// The texts between the fields, by number.
    pub fn literals(&self) -> &[String] {
        &self.literals
    }

    /// The fields that every recipient must have: those used without `default(…)` and outside of an `if` about them.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.unguarded.iter().map(|path| &*path.text)
    }

    /// The first of [`fields`](Self::fields) for which this recipient has no value.
    pub fn missing(&self, fields: &dyn Fields) -> Option<&str> {
        self.unguarded.iter().find(|path| value::look_up(fields, &path.words).is_missing()).map(|path| &*path.text)
    }

    /// The text for one recipient.
    pub fn render(&self, fields: &dyn Fields) -> Result<String, MergeError> {
        let mut text = String::with_capacity(self.literals.iter().map(String::len).sum());
        self.render_into(fields, &mut text)?;
        Ok(text)
    }

    /// The text for one recipient, part by part. After an error the sink holds a part of it.
    pub fn render_into(&self, fields: &dyn Fields, sink: &mut impl Sink) -> Result<(), MergeError> {
        eval::run(self, fields, sink)
    }
}
