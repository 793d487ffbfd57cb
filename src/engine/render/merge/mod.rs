//! Merge fields: renders a template with one recipient's data.
//!
//! The syntax is the subset of Jinja that emails need: `{{ first_name | default("there") }}`, `{% if … %}` and `{% for … in … %}`. Other
//! syntax is rejected. Templates come from anyone with an API key, and data from anyone who signs up to a list; neither can exhaust the
//! server's memory or time, or inject markup, script URLs or headers.
//!
//! - [`Template::compile`] rejects unknown syntax with an error that names the line and the remedy.
//! - [`Template::render_into`] counts steps and bytes. A typical template consists of literals and fields, which are copied one after the
//!   other. Literals keep their numbers, so that a [`Sink`] can reuse what it has already encoded.
//! - A field that has no value, and no guard (a default, or an `if` that checks it), causes [`MergeError::Missing`]. [`Template::missing`]
//!   finds such a field before any message is sent.
//!
//! The library that renders pages is not used here, because it exposes neither a template's syntax tree nor the HTML context of a value,
//! and would let a template double a string thirty times before counting its length. Tests compare both implementations.

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
pub use lexer::decoded;
pub use value::{Fields, Value};

use crate::vocab::limits;

/// What the rendered text is used for, which determines how values are escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
    /// HTML: values are escaped. A value at the start of a URL is replaced by `#` if its scheme is not allowed.
    Html,
    /// Plain text: values are inserted unchanged, except that `#` replaces a value that would complete an executable URL in parentheses,
    /// such as `(javascript:…)`.
    Text,
    /// A single line, such as a subject: line breaks and other control characters become spaces.
    Header,
}

/// Why a template is invalid, or cannot be rendered for a recipient.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeError {
    /// The template has unsupported syntax.
    Syntax {
        line: usize,
        problem: String,
    },
    SourceTooLong,
    /// The recipient has no value for this field, and the template has no default for it.
    Missing(String),
    /// The field's value has the wrong type or format for its use in the template.
    Unsuitable {
        field: String,
        problem: String,
    },
    /// The template, rendered for this recipient, is too long.
    OutputTooLong,
    /// The template's loops and filters need too many steps.
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
                write!(
                    f,
                    "the field {field} has no value; add a value, or write {{{{ {field} | default(\"…\") }}}} or \
                     {{% if {field} %}}"
                )
            }
            MergeError::Unsuitable { field, problem } => write!(f, "{field} {problem}"),
            MergeError::OutputTooLong => {
                write!(f, "the rendered template is too long; shorten the template or its values")
            }
            MergeError::TooMuchWork => {
                write!(f, "the template needs too many steps; shorten its loops, or the lists and strings passed to it")
            }
        }
    }
}

impl std::error::Error for MergeError {}

/// Receives the parts of a rendered template.
pub trait Sink {
    /// Receives the literal that has this number in [`Template::literals`].
    fn literal(&mut self, number: usize, text: &str);
    /// Receives an escaped value.
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
    kind: OutputKind,
    literals: Vec<String>,
    nodes: Vec<Node>,
    /// The fields that every recipient must have, because neither a default nor an `if` guards them: each once, in order of use.
    unguarded: Vec<Path>,
    /// The language of the template's dates. If it is unknown, each recipient's field `language` determines the language of the dates.
    date_language: Option<Language>,
}

impl Template {
    pub fn compile(source: &str, kind: OutputKind) -> Result<Self, MergeError> {
        if source.len() > limits::MERGE_SOURCE_BYTES_MAX {
            return Err(MergeError::SourceTooLong);
        }
        let (literals, mut nodes) = parse::parse(source, kind)?;
        if kind == OutputKind::Html {
            escape::settle(&mut nodes, &literals)?;
        }
        let unguarded = required::required_fields(&nodes);
        Ok(Self { kind, literals, nodes, unguarded, date_language: None })
    }

    /// Sets the language of the template's dates. A language without known month names has no effect.
    pub fn in_language(self, tag: Option<&str>) -> Self {
        Self { date_language: tag.and_then(Language::of), ..self }
    }

    /// Returns the literals: the text between fields and blocks. The number of a literal is its index.
    pub fn literals(&self) -> &[String] {
        &self.literals
    }

    /// Returns the fields that every recipient must have: those used without `default(…)` and outside an `if` that checks them.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.unguarded.iter().map(|path| &*path.text)
    }

    /// Returns the first of [`fields`](Self::fields) that has no value for this recipient.
    pub fn missing(&self, fields: &dyn Fields) -> Option<&str> {
        self.unguarded.iter().find(|path| value::look_up(fields, &path.words).is_missing()).map(|path| &*path.text)
    }

    pub fn render(&self, fields: &dyn Fields) -> Result<String, MergeError> {
        let mut text = String::with_capacity(self.literals.iter().map(String::len).sum());
        self.render_into(fields, &mut text)?;
        Ok(text)
    }

    /// Renders the template for one recipient, part by part. After an error, the sink has received only a part of the output.
    pub fn render_into(&self, fields: &dyn Fields, sink: &mut impl Sink) -> Result<(), MergeError> {
        eval::run(self, fields, sink)
    }
}
