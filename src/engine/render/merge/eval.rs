//! Renders a template. Steps and bytes are counted, so that neither a template nor its data can use too many resources.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::{Map, Value as Json};

use super::ast::{Chain, Comparison, Condition, Constant, EscapeContext, Filter, Node, Operand, Path};
use super::dates::Language;
use super::filters::FilterError;
use super::value::{Fields, Value, look_up};
use super::{MergeError, OutputKind, Sink, Template};
use crate::base::text::one_line;
use crate::vocab::limits;

/// The number of bytes that take as long to process as one step.
const BYTES_PER_STEP: usize = 32;
/// The cost, in steps, of a list or map that had to be built for one lookup instead of being borrowed.
const STEPS_PER_COPY: usize = 500;

/// The URL schemes that a value may use.
const SCHEMES: [&str; 6] = ["https", "http", "mailto", "tel", "sms", "cid"];

/// The starts of URLs that browsers execute.
const EXECUTED: [&str; 3] = ["javascript:", "vbscript:", "data:text/"];
/// The maximum number of characters at the start of a URL that are compared with [`EXECUTED`].
const EXECUTED_CHARACTERS_MAX: usize = 16;

pub fn run<'a>(template: &'a Template, fields: &'a dyn Fields, sink: &mut impl Sink) -> Result<(), MergeError> {
    let bytes_max = match template.kind {
        OutputKind::Html | OutputKind::Text => limits::MERGE_OUTPUT_BYTES_MAX,
        OutputKind::Header => limits::MERGE_HEADER_BYTES_MAX,
    };
    let mut run = Evaluator {
        template,
        fields,
        locals: Vec::new(),
        steps: limits::MERGE_STEPS_MAX,
        bytes: bytes_max,
        scratch: String::new(),
        address: None,
        sink,
    };
    run.nodes(&template.nodes)
}

struct Evaluator<'a, 's, S: Sink> {
    template: &'a Template,
    fields: &'a dyn Fields,
    locals: Vec<(&'a str, Local<'a>)>,
    /// The number of remaining steps.
    steps: usize,
    /// The number of remaining bytes of output.
    bytes: usize,
    /// The buffer for escaped values.
    scratch: String,
    /// In plain text, the start of the URL in parentheses that is being written, to find out whether browsers execute the URL; `None`
    /// outside such a URL. Plain text that is derived from HTML shows the URL of each link in parentheses.
    address: Option<String>,
    sink: &'s mut S,
}

/// The value of a name that a loop defines.
enum Local<'a> {
    Item(Value<'a>),
    /// The variable `loop`: the number of the iteration, and the number of iterations.
    Round {
        index: usize,
        count: usize,
    },
}

impl<'a, S: Sink> Evaluator<'a, '_, S> {
    fn nodes(&mut self, nodes: &'a [Node]) -> Result<(), MergeError> {
        for node in nodes {
            self.take(1)?;
            match node {
                Node::Literal(number) => {
                    let text = &self.template.literals[*number];
                    self.write(text.len())?;
                    self.sink.literal(*number, text);
                    if self.template.kind == OutputKind::Text {
                        self.follow(text);
                    }
                }
                Node::Output { chain, place } => self.output(chain, *place)?,
                Node::If(branches) => {
                    for branch in branches {
                        let taken = match &branch.condition {
                            Some(condition) => self.holds(condition)?,
                            None => true,
                        };
                        if taken {
                            self.nodes(&branch.nodes)?;
                            break;
                        }
                    }
                }
                Node::For { name, list, nodes } => self.repeat(name, list, nodes)?,
            }
        }
        Ok(())
    }

    fn repeat(&mut self, name: &'a str, list: &'a Chain, nodes: &'a [Node]) -> Result<(), MergeError> {
        let items: Vec<Value<'a>> = match self.chain(list)? {
            Value::List(Cow::Borrowed(items)) => {
                self.take(items.len())?;
                items.iter().map(Value::from).collect()
            }
            Value::List(Cow::Owned(items)) => {
                self.take(items.len())?;
                items.into_iter().map(Value::from).collect()
            }
            Value::Missing => return Err(missing(list)),
            _ => return Err(unsuitable(list, "is not a list; a loop needs a list")),
        };
        let count = items.len();
        for (index, item) in items.into_iter().enumerate() {
            self.take(1)?;
            self.locals.push((name, Local::Item(item)));
            self.locals.push(("loop", Local::Round { index, count }));
            self.nodes(nodes)?;
            self.locals.truncate(self.locals.len() - 2);
        }
        Ok(())
    }

    fn output(&mut self, chain: &'a Chain, place: EscapeContext) -> Result<(), MergeError> {
        let text = match self.chain(chain)? {
            Value::Missing => return Err(missing(chain)),
            value => value
                .into_text()
                .ok_or_else(|| unsuitable(chain, "is a list or an object; write one of its fields, or use a loop"))?,
        };
        let harmless = match place {
            EscapeContext::Text => self.unexecuted(text),
            EscapeContext::Line => match one_line(&text) {
                Cow::Borrowed(_) => text,
                Cow::Owned(line) => Cow::Owned(line),
            },
            EscapeContext::Markup => text,
            EscapeContext::Link if leads_elsewhere(&text) => Cow::Borrowed("#"),
            EscapeContext::Link => text,
            EscapeContext::LinkPart => without_scheme(text),
        };
        if matches!(place, EscapeContext::Text | EscapeContext::Line) || !harmless.contains(SPECIAL) {
            self.write(harmless.len())?;
            self.sink.value(&harmless);
            return Ok(());
        }
        self.take(harmless.len() / BYTES_PER_STEP)?;
        // Escaping makes text up to six times longer, so the length of the unescaped text is checked before memory is allocated.
        if harmless.len() > self.bytes {
            return Err(MergeError::OutputTooLong);
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        escape(&harmless, &mut scratch);
        let written = self.write(scratch.len());
        if written.is_ok() {
            self.sink.value(&scratch);
        }
        self.scratch = scratch;
        written
    }

    /// Records a literal of plain text, so that it is known whether the next value belongs to the start of a URL in parentheses.
    fn follow(&mut self, literal: &str) {
        match literal.rfind(|c: char| matches!(c, '(' | ')') || c.is_whitespace()) {
            Some(at) => self.address = literal[at..].strip_prefix('(').map(str::to_owned),
            None => self.address.iter_mut().for_each(|address| address.push_str(literal)),
        }
    }

    /// Returns the value for plain text, or `#` if the value completes a URL that browsers execute.
    fn unexecuted<'v>(&mut self, value: Cow<'v, str>) -> Cow<'v, str> {
        let Some(address) = &mut self.address else { return value };
        // Browsers ignore some invisible characters, even inside the scheme.
        let shown = |c: &char| !c.is_control() && !c.is_whitespace();
        let start: String = address.chars().chain(value.chars().filter(shown)).take(EXECUTED_CHARACTERS_MAX).collect();
        if EXECUTED.iter().any(|executed| start.to_ascii_lowercase().starts_with(executed)) {
            return Cow::Borrowed("#");
        }
        *address = start;
        value
    }

    fn chain(&mut self, chain: &'a Chain) -> Result<Value<'a>, MergeError> {
        let mut value = match &chain.operand {
            Operand::Path(path) => self.value(path)?,
            Operand::Constant(constant) => constant.value(),
        };
        for filter in &chain.filters {
            self.take(1 + weight(&value, filter) / BYTES_PER_STEP)?;
            let date_language = || self.template.date_language.or_else(|| reader(self.fields)).unwrap_or_else(Language::english);
            value = filter.apply(value, date_language).map_err(|unfit| match unfit {
                FilterError::Value(problem) => unsuitable(chain, problem),
                FilterError::Long => MergeError::OutputTooLong,
            })?;
        }
        Ok(value)
    }

    fn value(&mut self, path: &'a Path) -> Result<Value<'a>, MergeError> {
        let (first, rest) = path.words.split_first().expect("a path has a first name");
        let local = self.locals.iter().rev().find(|(name, _)| *name == &*first.given);
        let value = match local {
            Some((_, Local::Item(item))) => {
                if let Value::List(Cow::Owned(_)) | Value::Map(Cow::Owned(_)) = item {
                    let item = item.clone();
                    self.take(STEPS_PER_COPY)?;
                    return Ok(item.descend(rest));
                }
                item.clone().descend(rest)
            }
            Some((_, Local::Round { index, count })) => round(*index, *count, rest.first().map(|word| &*word.given)),
            None => look_up(self.fields, &path.words),
        };
        if let Value::List(Cow::Owned(_)) | Value::Map(Cow::Owned(_)) = value {
            self.take(STEPS_PER_COPY)?;
        }
        Ok(value)
    }

    fn holds(&mut self, condition: &'a Condition) -> Result<bool, MergeError> {
        self.take(1)?;
        Ok(match condition {
            Condition::Holds(chain) => self.chain(chain)?.holds(),
            Condition::Defined(chain) => !self.chain(chain)?.is_missing(),
            Condition::Not(inner) => !self.holds(inner)?,
            Condition::All(all) => {
                for one in all {
                    if !self.holds(one)? {
                        return Ok(false);
                    }
                }
                true
            }
            Condition::Any(any) => {
                for one in any {
                    if self.holds(one)? {
                        return Ok(true);
                    }
                }
                false
            }
            Condition::Compares(comparison, left, right) => {
                let (left, right) = (self.chain(left)?, self.chain(right)?);
                self.take((size(&left) + size(&right)) / BYTES_PER_STEP)?;
                compare(*comparison, &left, &right)
            }
        })
    }

    fn take(&mut self, steps: usize) -> Result<(), MergeError> {
        self.steps = self.steps.checked_sub(steps).ok_or(MergeError::TooMuchWork)?;
        Ok(())
    }

    fn write(&mut self, bytes: usize) -> Result<(), MergeError> {
        self.bytes = self.bytes.checked_sub(bytes).ok_or(MergeError::OutputTooLong)?;
        Ok(())
    }
}

fn reader(fields: &dyn Fields) -> Option<Language> {
    fields.field("language").into_text().and_then(|tag| Language::of(&tag))
}

fn name(chain: &Chain) -> String {
    match &chain.operand {
        Operand::Path(path) => path.text.to_string(),
        Operand::Constant(Constant::Text(text)) => format!("{text:?}"),
        Operand::Constant(constant) => constant.value().into_text().unwrap_or_default().into_owned(),
    }
}

fn missing(chain: &Chain) -> MergeError {
    MergeError::Missing(name(chain))
}

fn unsuitable(chain: &Chain, problem: &str) -> MergeError {
    MergeError::Unsuitable { field: name(chain), problem: problem.to_owned() }
}

/// Returns the cost of processing a value, as an equivalent number of bytes of text.
fn size(value: &Value<'_>) -> usize {
    match value {
        Value::Text(text) => text.len(),
        // An item costs as much as a short string.
        Value::List(items) => items.len().saturating_mul(BYTES_PER_STEP),
        Value::Missing | Value::Number(_) | Value::Truth(_) | Value::Map(_) => 0,
    }
}

/// Returns the cost of applying a filter, as an equivalent number of bytes of text, including the text that the filter adds.
fn weight(value: &Value<'_>, filter: &Filter) -> usize {
    match filter {
        Filter::Default(_) | Filter::Round(_) | Filter::Date(..) => 0,
        Filter::Replace { from, to } => size(value).saturating_mul(1 + to.len() / from.len()),
        Filter::Join(between) => match value {
            Value::List(items) => {
                let texts: usize = items.iter().map(|item| item.as_str().map_or(8, str::len)).sum();
                size(value).saturating_add(texts).saturating_add(items.len().saturating_mul(between.len()))
            }
            _ => 0,
        },
        _ => size(value),
    }
}

fn round<'a>(index: usize, count: usize, word: Option<&str>) -> Value<'a> {
    match word {
        Some("index") => Value::Number((index + 1).into()),
        Some("index0") => Value::Number(index.into()),
        Some("first") => Value::Truth(index == 0),
        Some("last") => Value::Truth(index + 1 == count),
        Some("length") => Value::Number(count.into()),
        _ => Value::Missing,
    }
}

fn compare(comparison: Comparison, left: &Value<'_>, right: &Value<'_>) -> bool {
    match comparison {
        Comparison::Equal => same(left, right),
        Comparison::Unequal => !same(left, right),
        Comparison::Less => order(left, right) == Some(Ordering::Less),
        Comparison::AtMost => matches!(order(left, right), Some(Ordering::Less | Ordering::Equal)),
        Comparison::More => order(left, right) == Some(Ordering::Greater),
        Comparison::AtLeast => matches!(order(left, right), Some(Ordering::Greater | Ordering::Equal)),
        Comparison::Within => match (left, right) {
            (Value::Text(part), Value::Text(whole)) => whole.contains(&**part),
            (left, Value::List(items)) => items.iter().any(|item| same(left, &Value::from(item))),
            (Value::Text(key), Value::Map(entries)) => has_key(entries, key),
            _ => false,
        },
    }
}

fn has_key(entries: &Map<String, Json>, key: &str) -> bool {
    entries.get(key).is_some_and(|value| !value.is_null())
}

/// Returns whether two values are equal. A missing value is not equal to any value.
fn same(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Missing, _) | (_, Value::Missing) => false,
        (Value::Text(left), Value::Text(right)) => left == right,
        (Value::Truth(left), Value::Truth(right)) => left == right,
        // Lists and maps are never equal: their depth depends on the data, so comparing them could overflow the stack.
        (Value::List(_) | Value::Map(_), _) | (_, Value::List(_) | Value::Map(_)) => false,
        (left, right) => order(left, right) == Some(Ordering::Equal),
    }
}

/// Compares two strings by their characters, and other values as numbers. A numeric string counts as a number if the other value is a
/// number.
fn order(left: &Value<'_>, right: &Value<'_>) -> Option<Ordering> {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => Some(left.cmp(right)),
        (left, right) => left.as_number()?.partial_cmp(&right.as_number()?),
    }
}

const SPECIAL: [char; 5] = ['&', '<', '>', '"', '\''];

fn escape(text: &str, into: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(SPECIAL) {
        into.push_str(&rest[..at]);
        into.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            _ => "&#x27;",
        });
        rest = &rest[at + 1..];
    }
    into.push_str(rest);
}

/// Returns whether a browser would read this URL as one with a disallowed scheme, such as `javascript:`.
fn leads_elsewhere(address: &str) -> bool {
    let mut scheme = String::new();
    // Browsers ignore invisible characters, even inside the scheme.
    for c in address.chars().filter(|c| !c.is_control() && !c.is_whitespace()) {
        match c {
            ':' => return !SCHEMES.contains(&scheme.as_str()),
            '/' | '?' | '#' => return false,
            c => scheme.push(c.to_ascii_lowercase()),
        }
    }
    false
}

/// Returns a part of a URL, encoded so that it cannot complete a scheme.
fn without_scheme(part: Cow<'_, str>) -> Cow<'_, str> {
    let end = part.find(['/', '?', '#']).unwrap_or(part.len());
    match part[..end].contains(':') {
        true => Cow::Owned(part[..end].replace(':', "%3A") + &part[end..]),
        false => part,
    }
}
