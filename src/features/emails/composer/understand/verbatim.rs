//! Finds the parts of a prompt that an email should contain in the prompt's own words: sentences for the recipient, points to mention, a
//! quotation and a subject.
//!
//! Prompts mix instructions ("use a friendly tone") with content ("we open on Sunday"). Emails must not contain the instructions.

use super::{Prompt, names, news};
use crate::features::emails::composer::language::Language;
use crate::features::emails::composer::tokens::{Kind, Tokens};
use crate::features::emails::document::Purpose;
use crate::vocab::limits;

/// A quotation from a customer or the press, given in the prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Praise {
    pub text: String,
    pub author: Option<String>,
}

/// The parts of the prompt that the email should contain in the prompt's own words.
#[derive(Clone, Debug, Default)]
pub struct Verbatim {
    pub statements: Vec<String>,
    pub clause: Option<String>,
    pub points: Vec<String>,
    pub praise: Option<Praise>,
    pub unused: Vec<String>,
}

/// The minimum number of words in a statement. Fewer words are a fragment, not a sentence.
const STATEMENT_WORDS_MIN: usize = 4;
/// The maximum length of a point. A longer text contains several points.
const POINT_CHARACTERS_MAX: usize = 160;

/// Returns the subject that the prompt dictates, and the prompt without it.
pub fn subject(prompt: &Prompt<'_>) -> (Option<String>, String) {
    let words = prompt.words;
    let mut from = 0;
    while let Some((at, taken)) = words.find(from, &prompt.lexicon.subject) {
        from = at + 1;
        let mut start = at + taken;
        let has_colon = words.fold(start) == ":";
        start += usize::from(has_colon);
        let quoted = names::quotations(words).into_iter().find(|(open, _)| *open == start);
        let (text, end) = match quoted {
            Some((_, text)) => (text, words.text.find(text).map_or(words.text.len(), |at| at + text.len())),
            None if has_colon => {
                let rest = words.tokens.get(start).map_or("", |token| &words.text[token.start..]);
                let line = rest.lines().next().unwrap_or_default();
                // Further instructions may follow on the same line.
                let text = line.split(". ").next().unwrap_or_default().trim();
                (text, words.text.len() - rest.len() + text.len())
            }
            None => continue,
        };
        if !text.is_empty() {
            let first = words.tokens[at].start;
            let rest = words.text[end..].trim_start_matches(['"', '”', '“', '»', '.']);
            return (Some(text.to_owned()), format!("{}{rest}", &words.text[..first]));
        }
    }
    (None, words.text.to_owned())
}

pub fn read(prompt: &Prompt<'_>, purpose: Purpose, code: &Option<String>) -> Verbatim {
    let mut said = Verbatim { praise: praise(prompt), ..Verbatim::default() };
    for (index, line) in lines(prompt.words.text, prompt.language).into_iter().enumerate() {
        match line {
            Line::Point(text) => said.points.push(point(prompt, text)),
            Line::Sentence(text) => sentence(prompt, purpose, text, index == 0, &mut said),
        }
    }
    let mentions_code = |text: &String| code.as_ref().is_some_and(|code| text.contains(code.as_str()));
    let in_praise = |text: &String| said.praise.as_ref().is_some_and(|praise| text.contains(praise.text.as_str()));
    let offers = matches!(
        purpose,
        Purpose::Sale | Purpose::Seasonal | Purpose::Welcome | Purpose::WinBack | Purpose::Referral | Purpose::CartReminder
    );
    // The email already contains the figures of an offer.
    let repeats = |text: &String| offers && text.contains('%');
    said.statements.retain(|text| !mentions_code(text) && !repeats(text) && !in_praise(text));
    said.points.retain(|text| !mentions_code(text) && !repeats(text) && text.chars().count() <= POINT_CHARACTERS_MAX);
    said.unused.retain(|text| !mentions_code(text));
    let of_order = |text: &String| purpose == Purpose::Receipt && text.chars().any(|c| c.is_ascii_digit());
    said.statements.retain(|text| !of_order(text));
    said.points.truncate(limits::COMPOSER_LIST_MAX);
    said.statements.truncate(limits::COMPOSER_LIST_MAX);
    said
}

enum Line<'a> {
    /// A point: the text after a bullet or a number.
    Point(&'a str),
    Sentence(&'a str),
}

/// Splits a prompt into bullets and sentences.
fn lines(text: &str, language: Language) -> Vec<Line<'_>> {
    let mut found = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let bullet = ["- ", "• ", "* ", "– ", "· "].iter().find_map(|mark| line.strip_prefix(mark));
        let numbered = line.split_once([')', '.']).filter(|(number, rest)| {
            (1..=2).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit()) && rest.starts_with(' ')
        });
        match bullet.or(numbered.map(|(_, rest)| rest)).map(str::trim).filter(|rest| !rest.is_empty()) {
            Some(point) if !is_month_first(point) || bullet.is_some() => found.push(Line::Point(point.trim_end_matches('.'))),
            _ => found.extend(sentences(line).into_iter().flat_map(|text| after_label(text, language)).map(Line::Sentence)),
        }
    }
    found
}

/// Returns whether the text starts with the name of a month, so that a number before it is a day: "27. November".
fn is_month_first(text: &str) -> bool {
    let first = super::super::tokens::plain(text.split_whitespace().next().unwrap_or_default());
    Language::SPOKEN.into_iter().any(|language| {
        super::super::lexicon::of(language).months.iter().flat_map(|names| names.iter()).any(|name| name.first() == Some(&first))
    })
}

/// Splits a line after periods, exclamation marks and question marks, except those of abbreviations and days.
fn sentences(line: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, sign) in line.char_indices().filter(|(_, sign)| matches!(sign, '.' | '!' | '?')) {
        let after = &line[at + sign.len_utf8()..];
        let before = &line[start..at];
        let word = before.rsplit([' ', '.']).next().unwrap_or_default();
        let is_day = word.chars().count() <= 2 || word.chars().all(|c| c.is_ascii_digit());
        let short = sign == '.' && is_day && !after.is_empty();
        let starts_item = after.trim_start().starts_with(|next: char| next.is_uppercase() || !next.is_alphanumeric());
        if after.starts_with(' ') && starts_item && (!short || word.is_empty()) {
            parts.push(line[start..at + sign.len_utf8()].trim());
            start = at + sign.len_utf8();
        }
    }
    parts.push(line[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

fn sentence(prompt: &Prompt<'_>, purpose: Purpose, text: &str, is_first: bool, said: &mut Verbatim) {
    let words = Tokens::read(text);
    let lexicon = prompt.lexicon;
    if told(prompt, &words, said) {
        return;
    }
    if let Some((at, taken)) = words.find(0, &lexicon.mention) {
        mentioned(prompt, &words, at + taken, said);
        return;
    }
    let count = words.tokens.iter().filter(|token| token.kind == Kind::Word).count();
    let is_instruction = (0..2).any(|at| words.any(at, &lexicon.verbs).is_some() && words.kind(at) == Kind::Word && at == 0)
        || words.find(0, &lexicon.meta).is_some()
        || text.ends_with(':');
    let speaks = is_spoken(prompt, &words) || (purpose == Purpose::Announcement && is_fact(prompt, &words));
    // "Launch of our new lamp" only names the purpose, whereas an announcement states its news.
    let names_purpose =
        purpose != Purpose::Announcement && lexicon.purposes.values().any(|phrases| words.any(0, phrases).is_some());
    if is_instruction && let Some(aside) = aside(prompt, &words) {
        said.statements.push(aside);
    }
    if is_instruction || count < STATEMENT_WORDS_MIN || (is_first && (!speaks || names_purpose)) || text.contains("http") {
        return;
    }
    match addressed(prompt, &words, text) {
        Some(text) => said.statements.push(ended(&capital(&text))),
        None => said.unused.push(text.to_owned()),
    }
}

/// Returns whether a sentence is in the brand's voice: it contains "we", starts with "our", or contains "our" and is a statement.
fn is_spoken(prompt: &Prompt<'_>, words: &Tokens<'_>) -> bool {
    let own = prompt.language.first_person();
    let is_own = |at: &usize| own.contains(&words.fold(*at));
    let is_pronoun =
        |at: usize| matches!(words.fold(at), "we" | "wir" | "nous" | "nosotros" | "noi" | "nos" | "wij" | "us" | "uns");
    let Some(first) = (0..words.len()).find(is_own) else { return false };
    first == 0 || (0..words.len()).any(is_pronoun) || is_fact(prompt, words)
}

/// Returns whether the words are a statement: they contain a verb that is not the first word.
fn is_fact(prompt: &Prompt<'_>, words: &Tokens<'_>) -> bool {
    words.find(1, &prompt.lexicon.finite).is_some()
}

/// Returns the description directly after a name: `Launch "Swap Board", nurses can now trade shifts`.
fn aside(prompt: &Prompt<'_>, words: &Tokens<'_>) -> Option<String> {
    let (open, text) = names::quotations(words).into_iter().next()?;
    let inner = words.tokens.get(open + 1)?.start + text.len();
    let close = (open + 1..words.len()).find(|at| words.tokens[*at].start >= inner)?;
    let first = close + 2;
    let lexicon = prompt.lexicon;
    let lists = [
        &lexicon.phrase_ends,
        &lexicon.verbs,
        &lexicon.start,
        &lexicon.until,
        &lexicon.meta,
        &lexicon.venue_label,
        &lexicon.code,
    ];
    let continues = words.fold(close + 1) == "," && words.kind(first) == Kind::Word;
    let is_other = lists.into_iter().any(|list| words.any(first, list).is_some());
    let rest = words.slice(first, words.len());
    let is_statement =
        continues && !is_other && rest.split(' ').count() >= STATEMENT_WORDS_MIN && !rest.contains(['€', '$', '%', ':']);
    is_statement.then(|| ended(&capital(rest)))
}

/// Rewrites a sentence about "customers" to address the customers; returns `None` if other words would have to be inflected.
fn addressed(prompt: &Prompt<'_>, words: &Tokens<'_>, text: &str) -> Option<String> {
    let Some((at, taken)) = words.find(0, &prompt.lexicon.readers) else { return Some(text.to_owned()) };
    let speaks = words.tokens.iter().any(|token| prompt.language.first_person().contains(&token.fold.as_str()));
    if prompt.language == Language::En
        && at == 0
        && matches!(words.fold(taken), "get" | "receive" | "can" | "will" | "save" | "have")
    {
        return Some(format!("You {}", &text[words.tokens[taken].start..]));
    }
    // "We care for our customers" can be used as written, but "Kunden erhalten …" cannot.
    (speaks && at > 1).then(|| text.to_owned())
}

/// Parses "Announce that …" and "tell them that …". Returns whether the sentence has this form.
fn told(prompt: &Prompt<'_>, words: &Tokens<'_>, said: &mut Verbatim) -> bool {
    let lexicon = prompt.lexicon;
    let Some((at, taken)) = words.find(0, &lexicon.announce) else { return false };
    let reach = at + taken..(at + taken + 5).min(words.len());
    let Some(clause) = reach.into_iter().find(|at| words.any(*at, &lexicon.clause).is_some()) else {
        return prompt.language == Language::En && bare_told(prompt, words, at + taken, said);
    };
    let rest = words.slice(clause + 1, words.len()).trim().trim_end_matches('.');
    if rest.is_empty() {
        return false;
    }
    match news::main_clause(prompt, rest) {
        Some(sentence) => {
            let inner = Tokens::read(&sentence);
            let to_reader = addressed(prompt, &inner, &sentence).unwrap_or_else(|| sentence.clone());
            said.statements.push(ended(&capital(&to_reader)));
        }
        None => {
            said.clause.get_or_insert_with(|| rest.to_owned());
        }
    }
    true
}

/// Parses "Tell our customers we are moving", where English omits "that".
fn bare_told(prompt: &Prompt<'_>, words: &Tokens<'_>, from: usize, said: &mut Verbatim) -> bool {
    let mut at = from;
    while words.any(at, &prompt.lexicon.readers).is_some()
        || words.any(at, &prompt.lexicon.determiners).is_some() && words.fold(at) != "the"
    {
        at += 1;
    }
    let is_sentence = |at: usize| words.fold(at) == "our" && words.find(at, &prompt.lexicon.finite).is_some();
    // In "Tell customers our prices will rise", "our" was skipped as an article, so it is restored.
    let before = at.saturating_sub(1);
    if is_sentence(before) {
        at = before;
    } else if !matches!(words.fold(at), "we" | "i" | "there") {
        return false;
    }
    said.statements.push(ended(&capital(words.slice(at, words.len()).trim_end_matches('.'))));
    true
}

/// Parses "Mention our free returns and the new showroom"; each mentioned thing becomes a point.
fn mentioned(prompt: &Prompt<'_>, words: &Tokens<'_>, from: usize, said: &mut Verbatim) {
    let rest = words.slice(from, words.len()).trim_end_matches(['.', '!']);
    let joiner = format!(" {} ", super::super::language::Bank::of(prompt.language).format.and);
    let clause = words.any(from, &prompt.lexicon.clause);
    if let Some(taken) = clause {
        let text = words.slice(from + taken, words.len()).trim_end_matches(['.', '!']);
        if prompt.language == Language::En {
            said.statements.push(ended(&capital(text)));
        } else {
            said.clause.get_or_insert_with(|| text.to_owned());
        }
        return;
    }
    let parts = rest.split([',', ';']).flat_map(|part| part.split(joiner.as_str()));
    for part in parts.map(str::trim) {
        let inner = Tokens::read(part);
        let skipped = inner.any(0, &prompt.lexicon.clause).unwrap_or(0);
        let part = inner.slice(skipped, inner.len()).trim_start_matches(':').trim();
        let of_the_email = inner.find(0, &prompt.lexicon.meta).is_some() || inner.find(0, &prompt.lexicon.code).is_some();
        if part.chars().count() >= 4 && !of_the_email && inner.any(skipped, &prompt.lexicon.verbs).is_none() {
            said.points.push(point(prompt, part));
        }
    }
}

/// Returns a single point without its German article, which may be inflected: "den Aufbau" becomes "Aufbau".
fn point(prompt: &Prompt<'_>, text: &str) -> String {
    let bare = match (prompt.language, text.split_once(' ')) {
        (Language::De, Some(("den" | "die" | "das" | "einen" | "eine" | "ein" | "der" | "dem", rest))) => {
            let first = super::super::tokens::plain(rest.split(' ').next().unwrap_or_default());
            let is_number = prompt.lexicon.numbers.iter().any(|word| word.first() == Some(&first));
            Some(rest).filter(|rest| is_number || rest.starts_with(|first: char| first.is_uppercase() || first.is_ascii_digit()))
        }
        _ => None,
    };
    capital(bare.unwrap_or(text))
}

/// Splits a sentence such as "Newsletter: we have …" into a label and a sentence.
fn after_label(sentence: &str, language: Language) -> Vec<&str> {
    // A sentence such as "We have new opening hours: …" has no label.
    let speaks =
        |label: &str| Tokens::read(label).tokens.iter().any(|token| language.first_person().contains(&token.fold.as_str()));
    match sentence.split_once(": ") {
        Some((label, rest))
            if !speaks(label)
                && label.split(' ').count() <= LABEL_WORDS_MAX
                && rest.split(' ').count() >= STATEMENT_WORDS_MIN =>
        {
            vec![label, rest]
        }
        _ => vec![sentence],
    }
}

/// The maximum number of words in a label before a colon, which only names the kind of email.
const LABEL_WORDS_MAX: usize = 4;

/// Returns the quoted passage that the prompt identifies as a quotation, with its author.
fn praise(prompt: &Prompt<'_>) -> Option<Praise> {
    let words = prompt.words;
    let near = |at: usize| (at.saturating_sub(6)..at).any(|at| words.any(at, &prompt.lexicon.quote).is_some());
    let (open, text) = names::quotations(words).into_iter().find(|(at, _)| near(*at))?;
    let close = (open + 1..words.len()).find(|at| words.tokens[*at].start >= words.tokens[open].end + text.len())?;
    let mut at = close + 1;
    while matches!(words.fold(at), "," | "-" | "–" | "—" | "(") {
        at += 1;
    }
    let by = words.any(at, &prompt.lexicon.quote_by);
    let start = at + by.unwrap_or(0);
    let marked = by.is_some() || at > close + 1;
    let capital = |at: &usize| words.raw(*at).starts_with(char::is_uppercase);
    let end = (start..start + 3).take_while(capital).last().map_or(start, |last| last + 1);
    let author = (marked && end > start).then(|| {
        let point = words.fold(end) == "." && words.raw(end - 1).chars().count() == 1;
        words.slice(start, end + usize::from(point)).to_owned()
    });
    Some(Praise { text: text.to_owned(), author })
}

/// Capitalizes the first letter of the text.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Adds a period if the text has no punctuation at its end.
pub fn ended(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?', '…', ':', '"', '”', '“', '»']) { text.to_owned() } else { format!("{text}.") }
}
