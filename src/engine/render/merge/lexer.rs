//! Splits a template into literals, and into the tokens inside braces.

use serde_json::Number;

use super::{MergeError, OutputKind};

/// One word or sign inside braces.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Name(String),
    Text(String),
    Number(Number),
    Sign(&'static str),
}

pub enum TemplatePart {
    Literal(String),
    /// An output `{{ … }}`.
    Output {
        tokens: Vec<Token>,
        line: usize,
    },
    /// A block `{% … %}`.
    Block {
        tokens: Vec<Token>,
        line: usize,
    },
}

pub fn refuse<T>(line: usize, problem: impl Into<String>) -> Result<T, MergeError> {
    Err(MergeError::Syntax { line, problem: problem.into() })
}

/// Splits a template into its pieces, in order.
pub fn pieces(source: &str, kind: OutputKind) -> Result<Vec<TemplatePart>, MergeError> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = source;
    let mut line = 1;
    let mut comments = Comments::default();
    while let Some(at) = rest.find('{') {
        let (before, after) = rest.split_at(at);
        literal.push_str(before);
        line += lines(before);
        let close = match after.as_bytes().get(1) {
            Some(b'{') => "}}",
            Some(b'%') => "%}",
            Some(b'#') => {
                comments.refuse(after, line)?;
                ""
            }
            _ => "",
        };
        if close.is_empty() {
            literal.push('{');
            rest = &after[1..];
            continue;
        }
        let Some(end) = after[2..].find(close) else {
            return refuse(line, format!("{} has no matching {close}; close it or remove it", &after[..2]));
        };
        let inside = &after[2..2 + end];
        rest = &after[2 + end + 2..];
        let (inside, trims_before) = match inside.strip_prefix('-') {
            Some(inside) => (inside, true),
            None => (inside, false),
        };
        let (inside, trims_after) = match inside.strip_suffix('-') {
            Some(inside) => (inside, true),
            None => (inside, false),
        };
        if trims_before {
            literal.truncate(literal.trim_end().len());
        }
        if !literal.is_empty() {
            pieces.push(TemplatePart::Literal(std::mem::take(&mut literal)));
        }
        if close == "%}" {
            refuse_block(inside, line)?;
        }
        let tokens = tokens(inside, kind, line)?;
        pieces.push(if close == "}}" { TemplatePart::Output { tokens, line } } else { TemplatePart::Block { tokens, line } });
        line += lines(inside);
        if trims_after {
            let kept = rest.trim_start();
            line += lines(&rest[..rest.len() - kept.len()]);
            rest = kept;
        }
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(TemplatePart::Literal(literal));
    }
    Ok(pieces)
}

fn lines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// Detects comments. Style sheets often contain `{#`, so a comment is rejected only if it ends on the line on which it starts.
#[derive(Default)]
struct Comments {
    /// The length of the rest of the source after the last line that was checked.
    seen: Option<usize>,
}

impl Comments {
    fn refuse(&mut self, after: &str, line: usize) -> Result<(), MergeError> {
        if self.seen.is_some_and(|seen| after.len() > seen) {
            return Ok(());
        }
        let this_line = after.lines().next().unwrap_or_default();
        if this_line.contains("#}") {
            return refuse(line, "a comment {# … #} would be sent to recipients; remove it");
        }
        self.seen = Some(after.len() - this_line.len());
        Ok(())
    }
}

/// The entities that HTML editors also write inside braces, and their characters.
const ENTITIES: [(&str, char); 10] = [
    ("&quot;", '"'),
    ("&#34;", '"'),
    ("&#x22;", '"'),
    ("&apos;", '\''),
    ("&#39;", '\''),
    ("&#x27;", '\''),
    ("&lt;", '<'),
    ("&gt;", '>'),
    ("&nbsp;", ' '),
    ("&amp;", '&'),
];

/// Returns HTML text with its [`ENTITIES`] decoded.
pub fn decoded(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let known =
            ENTITIES.iter().find(|(name, _)| rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)));
        let (length, c) = known.map_or((1, '&'), |(name, c)| (name.len(), *c));
        plain.push(c);
        rest = &rest[length..];
    }
    plain.push_str(rest);
    plain
}

/// Rejects blocks that are not supported in emails, before their other content is checked.
fn refuse_block(inside: &str, line: usize) -> Result<(), MergeError> {
    let words = inside.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let word = words.into_iter().find(|word| !word.is_empty()).unwrap_or_default();
    let instead = match word {
        "" | "if" | "elif" | "else" | "endif" | "for" | "endfor" => return Ok(()),
        "set" | "with" | "do" => "pass the value as a variable",
        "include" | "import" | "from" | "extends" | "block" => "put the whole email into one template",
        "macro" | "call" => "write the part where it is needed",
        "filter" => "write the filter after each field, like {{ name | upper }}",
        "raw" | "verbatim" => "write braces as text, like {{ \"{{\" }}",
        _ => "the blocks are if, elif, else, endif, for and endfor",
    };
    refuse(line, format!("{{% {word} %}} is not supported in emails; {instead}"))
}

/// The operators and punctuation marks, longer ones first, so that `<=` is not read as `<`.
const SIGNS: [&str; 11] = ["==", "!=", "<=", ">=", "<", ">", "|", "(", ")", ",", "."];

fn tokens(inside: &str, kind: OutputKind, line: usize) -> Result<Vec<Token>, MergeError> {
    let decoded = if kind == OutputKind::Html { decoded(inside) } else { inside.to_owned() };
    if kind == OutputKind::Html && (inside.contains("</") || inside.contains("/>")) {
        return refuse(
            line,
            "a merge field contains HTML inside its braces; apply bold or other styles to the whole field, not to a part of it",
        );
    }
    let mut tokens = Vec::new();
    let mut rest = decoded.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Token::Sign(sign), sign.len())
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
            (Token::Name(rest[..length].to_owned()), length)
        } else if matches!(first, '"' | '\'') {
            quoted(rest, first, line)?
        } else if first.is_ascii_digit() || (first == '-' && rest[1..].starts_with(|next: char| next.is_ascii_digit())) {
            number(rest, line)?
        } else {
            return refuse(line, strange(first));
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// Reads a quoted string, in which a backslash escapes a quote or a backslash, or writes `\n` and `\t`.
fn quoted(rest: &str, quote: char, line: usize) -> Result<(Token, usize), MergeError> {
    let mut text = String::new();
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            c if c == quote => return Ok((Token::Text(text), at + 1)),
            '\\' => match characters.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, escaped @ ('"' | '\'' | '\\'))) => text.push(escaped),
                _ => return refuse(line, "a backslash in a quoted string is allowed only before a quote, a backslash, n or t"),
            },
            c => text.push(c),
        }
    }
    refuse(
        line,
        format!(
            "the string that starts with {quote} is not closed before the closing braces; close the string, or remove \
             the braces inside it"
        ),
    )
}

fn number(rest: &str, line: usize) -> Result<(Token, usize), MergeError> {
    let length = rest[1..].find(|c: char| !(c.is_ascii_digit() || c == '.')).map_or(rest.len(), |at| at + 1);
    match rest[..length].parse::<Number>() {
        Ok(number) => Ok((Token::Number(number), length)),
        Err(_) => refuse(
            line,
            format!("{} is not a valid number; write it like 2.5, without leading zeros, or put it in quotes", &rest[..length]),
        ),
    }
}

fn strange(c: char) -> String {
    match c {
        '~' | '+' => format!("{c} is not supported in emails; write the fields one after the other"),
        '*' | '/' | '%' | '-' => format!("{c} is not supported in emails; pass the result as a variable"),
        '[' | ']' | '{' | '}' => format!("{c} is not supported in emails; write order.total, or loop over a list"),
        _ => format!("{c:?} is not allowed in a merge field; write a field like {{{{ first_name }}}}"),
    }
}
