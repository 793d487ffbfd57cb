//! Writes sentences for the recipients from the words of a prompt.

use super::super::{Fact, FactKind};
use super::day_names::spelled;
use super::lexicon::List;
use super::prompt::{Prompt, Range};
use super::sentences;
use super::tokens::Kind;
use crate::base::text::capitalized;

/// The grammatical form of a statement in the prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    #[default]
    Sentence,
    /// A clause after "that", whose verb is at the end in German and Dutch.
    Clause,
}

/// Returns the sentence for a range of the prompt without the ranges in `cut`. The sentence is empty if no words remain.
pub fn sentence(prompt: &Prompt<'_>, range: Range, form: Form, cut: &[Range]) -> String {
    let range = prompt.trim(range);
    let mut text = match form {
        // A clause with a withdrawn part keeps its word order, because [`reordered`] would return the whole clause, with that part.
        Form::Clause if is_verb_last(prompt) && !cut.iter().any(|gap| gap.overlaps(range)) => {
            reordered(prompt, range).unwrap_or_else(|| pieces(prompt, range, cut))
        }
        _ => pieces(prompt, range, cut),
    };
    if prompt.lexicon().code == "en" {
        text = without_sorry(&addressed(&asked(&text))).to_owned();
    }
    // Symbols that are common in notes are replaced: "X = Y" becomes "X: Y", and "X -> Y" becomes "X → Y".
    text = corrected(prompt, &text).replace(" = ", ": ").replace("->", "→");
    let text = balanced(text.trim().trim_end_matches([',', ';', ':', '-', '–', '(', '[', '/']).trim());
    sentences::completed(prompt.lexicon(), &ended(&capitalized(unbracketed(&text))))
}

/// The units of measurement that are the same in most languages.
const UNITS: [&str; 12] = ["mm", "cm", "m", "km", "ml", "cl", "l", "g", "kg", "kw", "kwh", "m²"];

/// The maximum number of words in a name in quotation marks.
const NAME_WORDS_MAX: usize = 5;

/// Returns the quoted names and the measurements in text that is not in the email's language.
pub fn names(prompt: &Prompt<'_>, range: Range) -> Vec<Fact> {
    let fact = |own: Range| Fact {
        kind: FactKind::Sentence,
        role: None,
        text: prompt.text(own).to_owned(),
        value: None,
        story: None,
        span: Some(prompt.span(own)),
    };
    let mut found = Vec::new();
    let mut at = range.from;
    while at < range.to {
        if let Some(close) = prompt.quote_end(at, range.to) {
            let own = Range::of(at + 1, close);
            let is_name = own.len() <= NAME_WORDS_MAX && (own.from..own.to).any(|at| prompt.words.is_capital(at));
            found.extend(is_name.then(|| fact(Range::of(at, close + 1))));
            at = close;
        } else if prompt.kind(at) == Kind::Number && UNITS.contains(&prompt.fold(at + 1)) {
            found.push(fact(Range::of(at, at + 2)));
        }
        at += 1;
    }
    found
}

fn pieces(prompt: &Prompt<'_>, range: Range, cut: &[Range]) -> String {
    let mut text = String::new();
    let mut at = range.from;
    for gap in cut.iter().filter(|gap| gap.overlaps(range)) {
        if gap.from > at {
            text.push_str(spelled(prompt, Range::of(at, gap.from)).trim_end_matches([',', ' ']));
            text.push(' ');
        }
        at = at.max(gap.to);
    }
    text.push_str(&spelled(prompt, Range::of(at, range.to)));
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The minimum number of words before a "sorry" that is removed.
const SORRY_WORDS_MIN: usize = 3;

/// Removes a "sorry" that follows a statement but is not part of it: "we go up sorry".
fn without_sorry(text: &str) -> &str {
    let bare = text.trim_end_matches(['.', '!', ' ']);
    let rest = bare.strip_suffix(" sorry").map(|rest| rest.trim_end_matches([',', ' '])).unwrap_or(bare);
    let last = rest.split(' ').next_back().unwrap_or_default().to_lowercase();
    let is_own = rest.len() == bare.len()
        || matches!(
            last.as_str(),
            "are" | "am" | "is" | "so" | "very" | "really" | "be" | "say" | "truly" | "we're" | "i'm" | "feel"
        );
    if is_own || rest.split(' ').count() < SORRY_WORDS_MIN { text } else { rest }
}

fn is_verb_last(prompt: &Prompt<'_>) -> bool {
    matches!(prompt.lexicon().code, "de" | "nl")
}

/// Moves the verb of a clause to the position after its subject: "die Rückgabe 30 Tage kostenlos ist" becomes "die Rückgabe ist 30 Tage
/// kostenlos".
fn reordered(prompt: &Prompt<'_>, range: Range) -> Option<String> {
    let mut end = range.to;
    while end > range.from && prompt.kind(end - 1) == Kind::Sign {
        end -= 1;
    }
    let verb = end
        .checked_sub(1)
        .filter(|verb| *verb > range.from && prompt.kind(*verb) == Kind::Word && !prompt.words.is_capital(*verb))?;
    let own = prompt.fold(verb);
    if !prompt.is(List::Finite, verb) && !own.ends_with('t') && !own.ends_with("en") {
        return None;
    }
    let subject = subject_end(prompt, Range::of(range.from, verb))?;
    let (front, tail) = (spelled(prompt, Range::of(range.from, subject)), spelled(prompt, Range::of(subject, verb)));
    let rest = prompt.text(Range::of(end, range.to));
    Some(format!("{front} {} {tail}{rest}", prompt.raw(verb)))
}

/// Returns the end of the subject at the start of a clause: a pronoun, or an article with its noun.
fn subject_end(prompt: &Prompt<'_>, range: Range) -> Option<usize> {
    let start = range.from;
    let is_german = prompt.lexicon().code == "de";
    let Some(noun) = prompt.end(List::Article, start) else {
        // A subject without an article can be the name of a person: "Joost Hendriks".
        let is_name = |at: &usize| !is_german && prompt.words.is_capital(start) && prompt.words.is_capital(*at);
        let end = (start + 1..range.to).find(|at| !is_name(at)).unwrap_or(range.to);
        return (end < range.to).then_some(end);
    };
    if !is_german {
        return (noun + 1 < range.to).then_some(noun + 1);
    }
    (noun..(noun + 4).min(range.to)).find(|at| prompt.words.is_capital(*at)).map(|at| at + 1)
}

/// Turns what "people" should do into a request to the recipients: "so people should use the car park" becomes "so please use the
/// car park".
fn asked(text: &str) -> String {
    const ASKED: [(&str, &str); 6] = [
        ("people should not ", "please do not "),
        ("people shouldn't ", "please don't "),
        ("people shouldnt ", "please don't "),
        ("people should ", "please "),
        ("people need to ", "you need to "),
        ("people don't need to ", "you don't need to "),
    ];
    let start = |rest: &str| {
        let found = |(old, _): &&(&str, &str)| rest.get(..old.len()).is_some_and(|own| own.eq_ignore_ascii_case(old));
        ASKED.iter().find(found).map(|(old, new)| format!("{new}{}", &rest[old.len()..]))
    };
    let clause = text.find(" so ").and_then(|at| Some((&text[..at + 4], start(&text[at + 4..])?)));
    let whole = start(text).or_else(|| clause.map(|(before, rest)| format!("{before}{rest}")));
    whole.unwrap_or_else(|| text.to_owned())
}

/// Changes the third person for the recipients to the second: "If they do nothing" becomes "If you do nothing".
fn addressed(text: &str) -> String {
    const OPENERS: [(&str, &str); 16] = [
        ("they needn't ", "you needn't "),
        ("they don't have to ", "you don't have to "),
        ("they don't need to ", "you don't need to "),
        ("they only have to ", "you only have to "),
        ("they simply ", "you simply "),
        ("since they ", "since you "),
        ("their ", "your "),
        ("if they ", "if you "),
        ("when they ", "when you "),
        ("once they ", "once you "),
        ("until they ", "until you "),
        ("they can ", "you can "),
        ("they may ", "you may "),
        ("they get ", "you get "),
        ("they need ", "you need "),
        ("they should ", "you should "),
    ];
    let lower = text.to_lowercase();
    let is_plain = lower.len() == text.len();
    let starts = OPENERS.iter().any(|(own, _)| lower.starts_with(own))
        || lower.contains("if they ")
        || lower.contains("when they ")
        || lower.contains("since they ")
        || ["call", "contact", "reach", "book", "write to", "reply"]
            .iter()
            .any(|verb| lower.contains(&format!("they can {verb} ")))
        || names_only_readers(&lower);
    if !is_plain || !starts {
        return text.to_owned();
    }
    let words = text.split(' ').map(|word| {
        let bare = word.trim_end_matches([',', '.', '!', '?', ':']);
        let tail = &word[bare.len()..];
        let own = match bare {
            "they" => "you",
            "They" => "You",
            "their" => "your",
            "Their" => "Your",
            "them" => "you",
            "they're" => "you're",
            "they've" => "you've",
            _ => bare,
        };
        format!("{own}{tail}")
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns whether "their" can only mean the recipients, because no plural noun that it could also refer to precedes it: "10% off their
/// next order".
fn names_only_readers(lower: &str) -> bool {
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    let Some(at) = words.iter().position(|word| *word == "their").filter(|_| !words.contains(&"them")) else { return false };
    let is_noun =
        |word: &&str| word.ends_with('s') && word.len() > 3 || *word == "and" || *word == "people" || *word == "children";
    at <= 6 && !words[..at].iter().any(is_noun)
}

/// Returns the words of a range with typos corrected and with single spaces.
pub fn written(prompt: &Prompt<'_>, range: Range) -> String {
    corrected(prompt, &spelled(prompt, range).split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Corrects typos and writes short forms in full.
fn corrected(prompt: &Prompt<'_>, text: &str) -> String {
    let lexicon = prompt.lexicon();
    let word = |word: &str| {
        let bare = word.trim_end_matches([',', '!', '?', ':', ';', ')']);
        let whole = bare.trim_end_matches('.');
        // A short form can follow its number without a space: "6mths".
        let unit = bare.trim_start_matches(|c: char| c.is_ascii_digit());
        if let Some(own) = lexicon.rewritten(unit).filter(|_| unit.len() < bare.len() && unit.len() > 1) {
            return format!("{} {own}{}", &bare[..bare.len() - unit.len()], &word[bare.len()..]);
        }
        let found = lexicon
            .rewritten(bare)
            .map(|own| (own, &word[bare.len()..]))
            .or_else(|| lexicon.rewritten(whole).map(|own| (own, &word[whole.len()..])));
        if let Some((own, tail)) = found {
            return format!("{own}{tail}");
        }
        match lexicon.spelled(whole) {
            Some(own) => format!("{own}{}", &word[whole.len()..]),
            None => word.to_owned(),
        }
    };
    // A slash can separate two short forms: "32 hrs/wk".
    let both = |whole: &str| {
        let own = word(whole);
        let is_pair = own == whole && whole.contains('/') && !whole.contains("://");
        if is_pair { whole.split('/').map(word).collect::<Vec<_>>().join("/") } else { own }
    };
    let mut written: Vec<String> = Vec::new();
    let mut words = text.split(' ').peekable();
    while let Some(own) = words.next() {
        // After a number, "w" stands for watts, not for "with": "60 w".
        if own == "w" && written.last().is_some_and(|last: &String| last.ends_with(|c: char| c.is_ascii_digit())) {
            written.push(own.to_owned());
            continue;
        }
        // Some pairs of words are shorthand: "needs 2" becomes "needs to".
        match words.peek().and_then(|next| lexicon.rewritten(&format!("{own} {next}"))) {
            Some(pair) => {
                words.next();
                written.push(pair.to_owned());
            }
            None => written.push(both(own)),
        }
    }
    written.join(" ")
}

/// Removes unpaired brackets and quotation marks.
fn balanced(text: &str) -> String {
    let mut text = text.to_owned();
    for (open, close) in [('(', ')'), ('[', ']')] {
        if text.matches(open).count() != text.matches(close).count() {
            text = text.replace([open, close], "");
        }
    }
    if text.matches('"').count() % 2 == 1 {
        text = text.replace('"', "");
    }
    text
}

/// Removes the brackets around the text if they enclose all of it.
fn unbracketed(text: &str) -> &str {
    let bare = text.trim_end_matches(['.', ' ']);
    let inside = [('(', ')'), ('[', ']')].into_iter().find_map(|(open, close)| bare.strip_prefix(open)?.strip_suffix(close));
    inside.filter(|inside| !inside.contains(['(', ')', '[', ']'])).map_or(text, str::trim)
}

/// Returns the text with one question mark, exclamation mark or period at its end, unless one precedes a closing quotation mark or
/// bracket.
fn ended(text: &str) -> String {
    let bare = text.trim_end_matches(['!', '.', '?', '…', ' ']);
    if bare.is_empty() {
        return String::new();
    }
    let tail = &text[bare.len()..];
    let closes = bare.ends_with(['"', '“', '”', '»', ')']) && tail.is_empty();
    let sign = match tail {
        _ if tail.contains('?') => "?",
        _ if tail.contains('!') => "!",
        _ if closes && bare.trim_end_matches(['"', '“', '”', '»', ')']).ends_with(['.', '!', '?']) => "",
        _ => ".",
    };
    format!("{bare}{sign}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_should_do_is_asked_of_the_recipients() {
        for (text, own) in [
            ("There is no parking, so people should use the car park.", "There is no parking, so please use the car park."),
            ("People should not feed the ducks.", "please do not feed the ducks."),
            ("people need to bring a coat", "you need to bring a coat"),
            ("Some people should know.", "Some people should know."),
        ] {
            assert_eq!(asked(text), own);
        }
    }

    #[test]
    fn a_statement_in_brackets_loses_them() {
        assert_eq!(unbracketed("(labels 3-6 and 6-9 months were swapped)"), "labels 3-6 and 6-9 months were swapped");
        assert_eq!(unbracketed("(a) and (b)"), "(a) and (b)");
        assert_eq!(unbracketed("Bring a coat (it is cold)."), "Bring a coat (it is cold).");
    }
}
