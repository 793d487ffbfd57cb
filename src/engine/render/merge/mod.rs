//! Merge fields: renders a template with one recipient's data.
//!
//! The language is the part of Jinja that an email needs: `{{ first_name | default("there") }}`, `{% if … %}` and `{% for … in … %}`.
//! Everything else is rejected: templates come from any key holder, data from anyone who signs up to a list, and neither may exhaust the
//! sender's memory or time, or inject markup, links or headers.
//!
//! - [`Template::compile`] rejects unknown syntax, with the line and the remedy.
//! - [`Template::render_into`] counts every step and every byte. The common template is literals and fields, which are copied one
//!   after the other; literals keep their numbers, so that a [`Sink`] can copy what it encoded before.
//! - A field without value and without guard is [`MergeError::Missing`]; [`Template::missing`] finds it before anything is sent.
//!
//! The library that renders our pages is not used, because it exposes neither a template's syntax tree nor the HTML context of a value, and
//! would let a template double a text thirty times before it counts. Our tests compare the two.

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

/// The use of the text, which decides how values are escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// HTML: values are escaped, and a value that is a whole link leads nowhere unless it is a plain URL.
    Html,
    /// Plain text: values are inserted unchanged.
    Text,
    /// One line, like a subject: line breaks and other control characters become spaces.
    Header,
}

/// Why a template is invalid, or cannot be rendered for a recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeError {
    /// The template has unsupported syntax.
    Syntax { line: usize, problem: String },
    /// The template is too long.
    SourceTooLong,
    /// The recipient has no value for this field, and the template no default.
    Missing(String),
    /// The field's value does not fit at its position.
    Unsuitable { field: String, problem: String },
    /// The text for this recipient is too long.
    OutputTooLong,
    /// Loops and filters need too much work.
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
                write!(f, "there is no value for {field}; add one, or write {{{{ {field} | default(\"…\") }}}}")
            }
            MergeError::Unsuitable { field, problem } => write!(f, "{field} {problem}"),
            MergeError::OutputTooLong => {
                write!(f, "the text is too long once its fields are filled in; shorten its loops or values")
            }
            MergeError::TooMuchWork => write!(f, "the template needs too much work; shorten its loops or the lists passed to it"),
        }
    }
}

impl std::error::Error for MergeError {}

/// The receiver of the parts of a rendered template.
pub trait Sink {
    /// The literal with this number of [`Template::literals`].
    fn literal(&mut self, number: usize, text: &str);
    /// An escaped value.
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

/// A compiled template, which can be rendered any number of times.
#[derive(Debug)]
pub struct Template {
    kind: Kind,
    literals: Vec<String>,
    nodes: Vec<Node>,
    /// Fields without guard, each once, in order of use.
    unguarded: Vec<Path>,
    /// The language of its dates; if unknown, the reader's own, from the field `language`.
    date_language: Option<Language>,
}

impl Template {
    /// Parses and checks a template.
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

    /// The template with its dates in the language of its text. Languages without known month names have no effect.
    pub fn in_language(self, tag: Option<&str>) -> Self {
        Self { date_language: tag.and_then(Language::of), ..self }
    }

    /// The texts between the fields, by number.
    pub fn literals(&self) -> &[String] {
        &self.literals
    }

    /// The fields that every recipient must have: those used without `default(…)` and outside an `if` about them.
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

    /// Renders the text for one recipient, part by part. After an error the sink has a part of it.
    pub fn render_into(&self, fields: &dyn Fields, sink: &mut impl Sink) -> Result<(), MergeError> {
        eval::run(self, fields, sink)
    }
}
