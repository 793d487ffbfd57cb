//! Finds text in the prompt that is neither in the email nor in a warning. The check ignores short words, common words, and most words of
//! instructions that the parser understood.

use std::collections::{HashMap, HashSet};

use super::Terms;
use super::facts::states;
use super::lexicon::Words;
use super::mentions::Value;
use super::reading::Reading;
use super::text::{alike, fold, words};
use crate::features::emails::brief::{self, Brief, Class, FactKind, Span};
use crate::features::emails::finding::{Finding, FindingKind};

/// The minimum number of letters of a word that is reported. Shorter words are mostly prepositions.
const LETTERS_MIN: usize = 4;
/// The number of initial letters that two forms of a word share.
const STEM_LETTERS: usize = 4;
/// The maximum number of characters between two words for one warning to report both.
const GAP_MAX: u32 = 12;

/// Returns a warning for each passage in the prompt that is neither in the email nor in `others`, the warnings about the email so far.
pub fn check(email: &Reading, terms: &Terms<'_>, others: &[Finding]) -> Vec<Finding> {
    let brief = terms.brief;
    // If the facts in a brief have no spans, the brief was not parsed from this prompt, so the two cannot be compared.
    if brief.facts.iter().all(|fact| fact.span.is_none()) && brief.unclear.is_empty() {
        return Vec::new();
    }
    let shown = Shown::of(email);
    let covered = covered(email, brief, others, terms.prompt);
    let classes = brief::coverage(brief, terms.prompt);
    let mut class = classes.iter().peekable();
    let mut lost: Vec<Span> = Vec::new();
    let mut before = "";
    for (span, word) in tokens(terms.prompt) {
        let is_line_start = starts_line(terms.prompt, word);
        while class.peek().is_some_and(|(own, _)| own.end <= span.start) {
            class.next();
        }
        let is_instruction = class.peek().is_some_and(|(_, class)| *class == Class::Instruction);
        let is_covered = covered[span.start as usize..span.end as usize].iter().any(|covered| *covered);
        let is_name = !is_line_start && !word.ends_with(':') && !before.ends_with(ENDS) && is_name(brief, word);
        // A number after a weekday or month is a date, even in an instruction that was not understood: "mercredi 9".
        let is_day = email.words.weekday(&fold(before)).is_some() || email.words.month(&fold(before)).is_some();
        let is_dated = is_day && word.starts_with(|c: char| c.is_ascii_digit());
        before = word;
        let is_content = match is_instruction {
            true => is_name || is_dated || is_value(word) || email.words.weekday(&fold(word)).is_some(),
            false => is_content(email.words, word),
        };
        // In an instruction, small numbers are compared as dates and short names as whole words, because both can also occur inside other
        // numbers and words.
        let is_shown = match is_instruction {
            true if is_dated => says_day(email, word),
            true if is_name => shown.has(word) && shown.says(word),
            _ => shown.has(word),
        };
        if is_covered || !is_content || is_shown {
            continue;
        }
        match lost.last_mut().filter(|last| span.start - last.end <= GAP_MAX && !is_instruction) {
            Some(last) => last.end = span.end,
            None => lost.push(span),
        }
    }
    let characters: Vec<char> = terms.prompt.chars().collect();
    let text = |span: &Span| characters[span.start as usize..span.end as usize].iter().collect::<String>();
    let report = |span: Span| {
        let text = text(&span);
        let text = text.trim_matches(|c: char| !c.is_alphanumeric());
        let message = format!("The email does not contain {text:?}. Add it, or ignore this warning.");
        Finding::new(FindingKind::Unclear, message).about(text, Some(span))
    };
    lost.into_iter().map(report).collect()
}

/// The marks after which a capital letter does not necessarily start a name.
const ENDS: [char; 9] = ['.', ':', '!', '?', '-', '–', '"', '“', '('];

/// Returns whether the email mentions the day of the month that a word such as "7." states.
fn says_day(email: &Reading, word: &str) -> bool {
    let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
    email.mentions(|value| matches!(value, Value::Day { day, .. } if digits.parse() == Ok(*day)))
}

/// Returns whether the word, a slice of the prompt, is the first on its line. Labels such as "Button:" start a line.
fn starts_line(prompt: &str, word: &str) -> bool {
    let before = &prompt[..word.as_ptr() as usize - prompt.as_ptr() as usize];
    before.trim_end_matches([' ', '\t']).chars().next_back().is_none_or(|c| c == '\n')
}

/// Returns whether a word in the middle of a sentence is a name: "reply to Tom". In German, nouns are capitalized too, so no word counts as
/// a name.
fn is_name(brief: &Brief, word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    let is_capital =
        bare.starts_with(char::is_uppercase) && bare.chars().skip(1).all(|c| c.is_lowercase() || c == '\'' || c == '’');
    let is_other = brief.language.primary() == "de" || bare.chars().count() < LETTERS_MIN - 1;
    let own = Words::of(brief.language.primary());
    let is_day = own.month(&fold(bare)).is_some() || own.weekday(&fold(bare)).is_some();
    is_capital && !is_other && !is_day && !own.is_stop(&fold(bare))
}

/// Returns whether a word in an instruction contains a number with at least two digits, a percentage or a price, or is an address. The
/// timestamp of a chat message, as in "[15.11.26, 19:02]", is not a value.
fn is_value(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let is_stamp = word.starts_with('[') || word.ends_with(']');
    let is_amount = digits > 0 && word.contains(['%', '€', '$', '£']);
    word.contains("://") || word.contains('@') || !is_stamp && (digits > 1 || is_amount)
}

/// Returns whether a word must occur in the email or in a warning.
fn is_content(own: &Words, word: &str) -> bool {
    let folded = fold(word);
    let has_digit = folded.contains(|c: char| c.is_ascii_digit());
    let is_long = |word: &str| word.chars().count() >= LETTERS_MIN && !own.is_stop(word);
    has_digit || is_value(&folded) || words(&folded).any(is_long)
}

/// Returns the words of a prompt, split at spaces, with their spans.
fn tokens(prompt: &str) -> impl Iterator<Item = (Span, &str)> {
    let mut count = 0;
    let mut at = 0;
    prompt.split_whitespace().map(move |word| {
        let start = word.as_ptr() as usize - prompt.as_ptr() as usize;
        count += prompt[at..start].chars().count() as u32;
        let from = count;
        count += word.chars().count() as u32;
        at = start + word.len();
        (Span { start: from, end: count }, word)
    })
}

/// Returns, for each character of the prompt, whether no further warning is needed: an existing warning reports it, it is part of a value
/// that the email states, of a constraint or of prescribed text, or the brief's statement replaces its word, for example to correct the
/// spelling.
fn covered(email: &Reading, brief: &Brief, others: &[Finding], prompt: &str) -> Vec<bool> {
    let mut covered = vec![false; prompt.chars().count()];
    let mut cover = |span: Span| {
        let end = (span.end as usize).min(covered.len());
        covered[(span.start as usize).min(end)..end].fill(true);
    };
    others.iter().filter_map(|finding| finding.span).for_each(&mut cover);
    let is_statement = |kind: FactKind| matches!(kind, FactKind::Sentence | FactKind::Condition);
    let stated = brief.facts.iter().filter(|fact| !is_statement(fact.kind) && states(email, fact));
    stated.filter_map(|fact| fact.span).for_each(&mut cover);
    let limits = brief.constraints.iter().map(|constraint| constraint.span);
    let parts = [&brief.subject, &brief.preheader, &brief.headline].into_iter().flatten().map(|part| part.span);
    let signature = brief.signature.iter().map(|signature| signature.span);
    let label = brief.cta.iter().filter_map(|cta| cta.label.as_ref()).map(|part| part.span);
    limits.chain(parts).chain(signature).chain(label).flatten().for_each(&mut cover);
    // Misspelled words of a statement count as covered, because the email prints them in corrected form.
    let characters: Vec<char> = prompt.chars().collect();
    for fact in brief.facts.iter().filter(|fact| is_statement(fact.kind)) {
        let Some(span) = fact.span.filter(|span| span.end as usize <= characters.len() && span.start < span.end) else {
            continue;
        };
        let typed: String = characters[span.start as usize..span.end as usize].iter().collect();
        let folded = fold(&fact.text);
        let own: HashSet<&str> = words(&folded).collect();
        for (within, word) in tokens(&typed) {
            let is_rewritten = words(&fold(word)).all(|word| !own.contains(word));
            if is_rewritten && !word.contains(|c: char| c.is_ascii_digit()) {
                cover(Span { start: span.start + within.start, end: span.start + within.end });
            }
        }
    }
    covered
}

/// The words that readers see and the addresses of the links.
struct Shown<'a> {
    words: HashSet<&'a str>,
    by_stem: HashMap<String, Vec<&'a str>>,
    links: String,
}

impl<'a> Shown<'a> {
    fn of(email: &'a Reading) -> Self {
        let words: HashSet<&str> = email.outline.passages.iter().flat_map(|passage| words(&passage.folded)).collect();
        let mut by_stem: HashMap<String, Vec<&str>> = HashMap::new();
        for word in &words {
            by_stem.entry(stem(word)).or_default().push(word);
        }
        let links = email.outline.links.iter().map(|(_, href)| fold(href)).collect::<Vec<_>>().join(" ");
        Self { words, by_stem, links }
    }

    /// Returns whether the email contains all parts of a word in exactly this form, even short parts.
    fn says(&self, word: &str) -> bool {
        words(&fold(word)).all(|word| self.words.contains(word))
    }

    /// Returns whether the email contains the parts of a word, possibly inflected, or a link that contains the word.
    fn has(&self, word: &str) -> bool {
        let folded = fold(word);
        let bare = folded.trim_matches(|c: char| !c.is_alphanumeric());
        let is_linked = bare.len() > STEM_LETTERS && (bare.contains('.') || bare.contains('@')) && self.links.contains(bare);
        let is_form = |word: &str| self.by_stem.get(&stem(word)).is_some_and(|all| all.iter().any(|own| alike(own, word)));
        let is_shown = |word: &str| {
            let is_small = word.chars().count() < LETTERS_MIN && !word.contains(|c: char| c.is_ascii_digit());
            is_small || self.words.contains(word) || is_form(word)
        };
        is_linked || words(&folded).all(is_shown)
    }
}

fn stem(word: &str) -> String {
    word.chars().take(STEM_LETTERS).collect()
}
