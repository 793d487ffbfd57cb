//! Patterns of tokens, in which the rule files are written.
//!
//! A pattern is a line of elements, with the part to report, the core, between "<" and ">": `they|we <is> @adjective`. An element is one or
//! more alternatives separated by "|":
//!
//! | Alternative | Matches |
//! |---|---|
//! | `word` | this word in any case |
//! | `@class` | a word of the class |
//! | `@class+s` | a word of the class with the ending of the third person or of the plural |
//! | `~ing` | a word with this ending and at least two letters before it |
//! | `*` | any word |
//! | `#` | a number |
//! | `%capital` | a capitalized word that does not start a sentence |
//! | `%code` | a merge field, an address, or other text that is not language |
//! | `%noun`, `%nouns` | an English word that can be a noun, or the plural of one ([`super::classes`]) |
//! | `%verb`, `%verbs`, `%past`, `%participle`, `%ing` | an English word that can be this form of a verb |
//! | `%adjective`, `%comparative`, `%superlative`, `%adverb` | an English word of this class |
//! | `%only-noun` | an English word that can only be a noun; the other classes work in the same way |
//! | `^` | the start of a sentence, before the next token |
//! | `$` | the end of a sentence or of the block |
//! | `,` or another mark | this mark |
//!
//! `!` before an element negates it, so that it matches any other token, or no token. `?` after an element makes it optional.

use std::collections::HashMap;
use std::collections::HashSet;

use super::classes::Class;
use super::inflection::add_s;
use super::tokens::{Token, TokenKind};

/// Named sets of words.
pub(super) type Classes = HashMap<String, Members>;

/// The members of a named set: words and word classes.
#[derive(Debug, Clone, Default)]
pub(super) struct Members {
    pub words: HashSet<String>,
    pub classes: Vec<Class>,
}

impl Members {
    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.classes.is_empty()
    }

    fn extend(&mut self, other: Self) {
        self.words.extend(other.words);
        self.classes.extend(other.classes);
    }

    /// Returns whether the set contains the token. Numbers count as words here.
    fn has(&self, token: &Token<'_>) -> bool {
        self.classes.iter().any(|class| class.has(token.word_classes))
            || !self.words.is_empty() && self.words.contains(&token.lower)
    }

    fn with_s(&self) -> Self {
        Self {
            words: self.words.iter().map(|word| add_s(word)).collect(),
            classes: self.classes.iter().filter_map(|class| class.with_s()).collect(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Pattern {
    before: Vec<Element>,
    core: Vec<Element>,
    after: Vec<Element>,
}

#[derive(Debug)]
struct Element {
    /// The alternatives that are words or classes of words.
    members: Members,
    others: Vec<Alternative>,
    /// Whether the element matches the position before a token, without consuming the token.
    is_anchor: bool,
    /// Whether the start of a sentence is an alternative.
    starts: bool,
    negated: bool,
    optional: bool,
}

#[derive(Debug)]
enum Alternative {
    Mark(String),
    Ending(String),
    AnyWord,
    Number,
    Capital,
    Code,
    SentenceStart,
    SentenceEnd,
}

/// The range of the tokens that a pattern's core matches. `end` is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    pub first: usize,
    pub end: usize,
}

impl Pattern {
    /// Parses a line of a rule file.
    pub fn parse(line: &str, classes: &Classes) -> Result<Self, String> {
        let (before, rest) = line.split_once('<').ok_or_else(|| format!("the pattern \"{line}\" has no \"<\""))?;
        let (core, after) = rest.split_once('>').ok_or_else(|| format!("the pattern \"{line}\" has no \">\""))?;
        let elements =
            |part: &str| part.split_whitespace().map(|text| Element::parse(text, classes)).collect::<Result<Vec<_>, _>>();
        let pattern = Self { before: elements(before)?, core: elements(core)?, after: elements(after)? };
        if pattern.core.is_empty() {
            return Err(format!("the pattern \"{line}\" has no words between \"<\" and \">\""));
        }
        Ok(pattern)
    }

    /// Returns the words with which the core can start, or `None` if it can start with any word.
    pub fn first_words(&self) -> Option<Vec<&str>> {
        let first = self.core.first().filter(|first| !first.negated && !first.optional && first.others.is_empty())?;
        first.members.classes.is_empty().then(|| first.members.words.iter().map(String::as_str).collect())
    }

    /// Returns the tokens of the core if the pattern matches with its core at token `at`.
    pub fn matches(&self, tokens: &[Token<'_>], at: usize) -> Option<Hit> {
        let end = forward(&self.core, tokens, at, at)?;
        forward(&self.after, tokens, end, at)?;
        backward(&self.before, tokens, at).then_some(Hit { first: at, end })
    }
}

impl Element {
    fn parse(text: &str, classes: &Classes) -> Result<Self, String> {
        let (negated, rest) = text.strip_prefix('!').filter(|rest| !rest.is_empty()).map_or((false, text), |rest| (true, rest));
        let (optional, rest) = match rest.strip_suffix('?') {
            Some(rest) if !rest.is_empty() => (true, rest),
            _ => (false, rest),
        };
        let mut element =
            Self { members: Members::default(), others: Vec::new(), is_anchor: false, starts: false, negated, optional };
        for part in rest.split('|') {
            element.add(part, classes)?;
        }
        let is_position = |other: &Alternative| matches!(other, Alternative::SentenceStart | Alternative::SentenceEnd);
        element.is_anchor = element.members.is_empty() && element.others.iter().all(is_position);
        element.starts = element.others.iter().any(|other| matches!(other, Alternative::SentenceStart));
        Ok(element)
    }

    fn add(&mut self, text: &str, classes: &Classes) -> Result<(), String> {
        let other = match text {
            "" => return Err("an element of the pattern is empty".to_owned()),
            "*" => Alternative::AnyWord,
            "#" => Alternative::Number,
            "^" => Alternative::SentenceStart,
            "$" => Alternative::SentenceEnd,
            "%capital" => Alternative::Capital,
            "%code" => Alternative::Code,
            _ => match (text.strip_prefix('@'), text.strip_prefix('~'), text.strip_prefix('%').filter(|name| !name.is_empty())) {
                (Some(name), ..) => {
                    let (name, has_s) = name.strip_suffix("+s").map_or((name, false), |name| (name, true));
                    let class = classes.get(name).ok_or_else(|| format!("the class \"@{name}\" does not exist"))?;
                    self.members.extend(if has_s { class.with_s() } else { class.clone() });
                    return Ok(());
                }
                (_, Some(ending), _) => Alternative::Ending(ending.to_owned()),
                (.., Some(name)) => {
                    let class = Class::named(name).ok_or_else(|| format!("the class \"%{name}\" does not exist"))?;
                    self.members.classes.push(class);
                    return Ok(());
                }
                _ if text.chars().any(char::is_alphanumeric) => {
                    self.members.words.insert(text.to_lowercase());
                    return Ok(());
                }
                _ => Alternative::Mark(text.to_owned()),
            },
        };
        self.others.push(other);
        Ok(())
    }

    /// Returns whether the element matches a token. `adjacent` is true if only a space or nothing separates the token from its neighbor in
    /// the pattern.
    fn accepts(&self, tokens: &[Token<'_>], at: Option<usize>, adjacent: bool) -> bool {
        let token = at.and_then(|at| tokens.get(at));
        let is_member = adjacent && token.is_some_and(|token| self.members.has(token));
        let found = is_member
            || self.others.iter().any(|other| match other {
                Alternative::SentenceStart => self.is_anchor && starts_sentence(tokens, at),
                other => other.accepts(token, adjacent),
            });
        found != self.negated
    }
}

impl Alternative {
    fn accepts(&self, token: Option<&Token<'_>>, adjacent: bool) -> bool {
        match self {
            Self::SentenceEnd => {
                token.is_none_or(|token| token.new_line || matches!(token.text, "." | "!" | "?" | "…" | ":" | ";"))
            }
            _ => token.is_some_and(|token| adjacent && self.accepts_token(token)),
        }
    }

    fn accepts_token(&self, token: &Token<'_>) -> bool {
        match self {
            Self::Mark(mark) => token.text == mark,
            Self::Ending(ending) => {
                token.is_word() && token.lower.len() >= ending.len() + 2 && token.lower.ends_with(ending.as_str())
            }
            Self::AnyWord => token.is_word(),
            Self::Number => token.kind == TokenKind::Number,
            Self::Capital => token.is_word() && token.is_capitalized() && !token.starts_sentence,
            Self::Code => token.kind == TokenKind::Code,
            Self::SentenceStart | Self::SentenceEnd => false,
        }
    }
}

/// Matches `elements`, starting at token `at`, and returns the position after the last matched token. `first` is the first token of the
/// pattern's core.
fn forward(elements: &[Element], tokens: &[Token<'_>], at: usize, first: usize) -> Option<usize> {
    let Some((element, rest)) = elements.split_first() else { return Some(at) };
    if element.is_anchor {
        return element.accepts(tokens, Some(at), true).then(|| forward(rest, tokens, at, first))?;
    }
    let adjacent = at == first || is_adjacent(tokens, at);
    if element.accepts(tokens, Some(at), adjacent)
        && let Some(end) = forward(rest, tokens, at + 1, first)
    {
        return Some(end);
    }
    if element.optional { forward(rest, tokens, at, first) } else { None }
}

/// Matches `elements` backward against the tokens before token `at`, starting with the last element.
fn backward(elements: &[Element], tokens: &[Token<'_>], at: usize) -> bool {
    let Some((element, rest)) = elements.split_last() else { return true };
    if element.is_anchor {
        return element.accepts(tokens, Some(at), true) && backward(rest, tokens, at);
    }
    // An element such as "^|and" can also match the start of a sentence, which consumes no token.
    if element.starts && !element.negated && starts_sentence(tokens, Some(at)) && backward(rest, tokens, at) {
        return true;
    }
    let adjacent = is_adjacent(tokens, at);
    let previous = at.checked_sub(1);
    if element.accepts(tokens, previous, adjacent) && backward(rest, tokens, previous.unwrap_or(0)) {
        return true;
    }
    element.optional && backward(rest, tokens, at)
}

fn starts_sentence(tokens: &[Token<'_>], at: Option<usize>) -> bool {
    at.and_then(|at| tokens.get(at)).is_some_and(|token| token.starts_sentence || token.new_line)
}

/// Returns whether a space, but no line break, separates the token from the previous one. Punctuation marks need no space.
fn is_adjacent(tokens: &[Token<'_>], at: usize) -> bool {
    let follows_mark =
        at.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|token| matches!(token.text, "¿" | "¡" | "(" | "\""));
    tokens.get(at).is_some_and(|token| !token.new_line && (token.spaced || token.kind == TokenKind::Mark || follows_mark))
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn hits(pattern: &str, text: &str) -> Vec<String> {
        let words = HashSet::from(["offer".to_owned(), "try".to_owned()]);
        let classes = Classes::from([("verb".to_owned(), Members { words, classes: Vec::new() })]);
        let pattern = Pattern::parse(pattern, &classes).expect("a pattern");
        let tokens = tokens(text);
        let hits = (0..tokens.len()).filter_map(|at| pattern.matches(&tokens, at));
        hits.map(|hit| text[tokens[hit.first].start..tokens[hit.end - 1].end].to_owned()).collect()
    }

    #[test]
    fn each_kind_of_element_matches_what_its_row_says() {
        for (pattern, text, expected) in [
            ("<its> a|the", "Its a day, its color.", vec!["Its"]),
            ("she|he <@verb>", "She offer it. We offer it.", vec!["offer"]),
            ("we <@verb+s>", "We tries. We try.", vec!["tries"]),
            ("<your> ~ing", "your going, your ring", vec!["your"]),
            ("^ <then>", "Then go. Now then.", vec!["Then"]),
            ("<then> $", "Then go. Now then.", vec!["then"]),
            ("!of <items> is", "of items is; Items is", vec!["Items"]),
            ("<to> very? much", "to much, to very much, to go", vec!["to", "to"]),
            ("<less> than # *", "less than 10 items, less than that", vec!["less"]),
            ("<hi> , %code", "Hi, {{ name }}", vec!["Hi"]),
            ("<in> %capital", "in Paris, in here", vec!["in"]),
            ("a <%only-nouns>", "a shoes, a shoe, a ships", vec!["shoes"]),
            ("to <%ing>", "to baking, to bake", vec!["baking"]),
        ] {
            assert_eq!(hits(pattern, text), expected, "{pattern}");
        }
    }

    #[test]
    fn patterns_do_not_reach_across_lines_and_hyphens() {
        assert_eq!(hits("<to> much", "to\nmuch to-much to much").len(), 1);
    }

    #[test]
    fn wrong_patterns_name_the_problem() {
        for (pattern, problem) in
            [("its a", "no \"<\""), ("<its a", "no \">\""), ("a <> b", "no words"), ("<@zzz>", "@zzz"), ("<a||b>", "empty")]
        {
            let error = Pattern::parse(pattern, &Classes::new()).expect_err("an error");
            assert!(error.contains(problem), "{error}");
        }
    }
}
