//! Finds sentences without an initial capital or an end mark, names of days and months in the wrong case, and unpaired brackets and
//! quotation marks.

use super::amounts::is_day_or_month;
use super::class_table::{BASE_VERB, PAST};
use super::findings::FindingKind;
use super::patterns::Hit;
use super::reading::{before, has, has_verb, is_auxiliary, is_pronoun, lower, next_word, word};
use super::rules::{RuleHit, capitalized};
use super::text::Block;
use super::tokens::{Token, TokenKind};

fn hit<'r>(first: usize, end: usize, rule: &'static str, suggestions: Vec<String>, confidence: f32) -> RuleHit<'r> {
    RuleHit { hit: Hit { first, end }, rule, kind: FindingKind::Grammar, suggestions, confidence }
}

fn is_lowercase(token: &Token<'_>) -> bool {
    token.is_word() && token.text.chars().all(|c| !c.is_uppercase())
}

fn ends_sentence(token: &Token<'_>) -> bool {
    token.kind == TokenKind::Mark && matches!(token.text, "." | "!" | "?")
}

/// The writing style of a sender, derived from the blocks in an email.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Style {
    /// Whether the sender writes everything in lowercase.
    lowercase: bool,
    /// Whether at least three quarters of the long blocks end with a punctuation mark.
    ends_long_blocks: bool,
}

/// The minimum number of words in a long block.
const LONG_BLOCK_WORDS: usize = 9;

impl Style {
    pub fn of<'t, 'a: 't>(blocks: impl Iterator<Item = &'t [Token<'a>]> + Clone) -> Self {
        let long = blocks.clone().filter(|tokens| tokens.iter().filter(|token| token.is_word()).count() >= LONG_BLOCK_WORDS);
        let (mut all, mut ended) = (0, 0);
        for tokens in long {
            all += 1;
            ended += usize::from(tokens.last().is_some_and(|last| last.kind == TokenKind::Mark));
        }
        Self { lowercase: is_lowercase_style(blocks), ends_long_blocks: ended >= 3 && ended * 4 >= all * 3 }
    }
}

/// Returns whether a block continues the sentence of the previous block, because the sender broke a paragraph into lines. In German, a
/// block after a greeting that ends with a comma counts as a continuation, because it also starts in lowercase.
pub(super) fn continues(tokens: &[Token<'_>], previous: Option<&[Token<'_>]>, code: &str) -> bool {
    let unfinished = |previous: &[Token<'_>]| {
        previous.last().is_some_and(|last| last.kind != TokenKind::Mark)
            && previous.iter().filter(|token| token.is_word()).nth(6).is_some()
            || code == "de" && previous.last().is_some_and(|last| last.text == ",")
    };
    tokens.first().is_some_and(is_lowercase) && previous.is_some_and(unfinished)
}

/// Returns whether so many blocks start in lowercase that the sender writes everything in lowercase.
fn is_lowercase_style<'t, 'a: 't>(blocks: impl Iterator<Item = &'t [Token<'a>]>) -> bool {
    let (mut sentences, mut lowercase) = (0, 0);
    for tokens in blocks.filter(|tokens| tokens.last().is_some_and(ends_sentence)) {
        sentences += 1;
        lowercase += usize::from(tokens.first().is_some_and(is_lowercase));
    }
    lowercase > 2 && lowercase * 3 > sentences
}

/// A block with an end mark counts as a sentence if it has at least this many words.
const SENTENCE_WORDS_MIN: usize = 5;

/// Returns the first words of sentences that do not start with a capital letter.
pub(super) fn lowercase_starts<'r>(tokens: &[Token<'_>], style: Style, continues: bool) -> Vec<RuleHit<'r>> {
    if style.lowercase {
        return Vec::new();
    }
    let words = tokens.iter().filter(|token| token.is_word()).count();
    let check = |(at, token): (usize, &Token<'_>)| {
        if !is_lowercase(token)
            || !token.starts_sentence
            || lower(tokens, at + 1) == "-"
            || token.text.chars().count() < 2 && token.text != "a"
        {
            return None;
        }
        let starts = match at.checked_sub(1).and_then(|at| tokens.get(at)) {
            Some(mark) => {
                let before = at.checked_sub(2).and_then(|at| tokens.get(at));
                // After a name such as "Yahoo!" or an abbreviation such as "etc.", the sentence may continue in lowercase.
                let word =
                    before.is_some_and(|before| is_lowercase(before) && before.text.chars().count() > 2 && before.lower != "etc");
                ends_sentence(mark) && !mark.spaced && token.spaced && !token.new_line && word
            }
            None => !continues && words >= SENTENCE_WORDS_MIN && tokens.last().is_some_and(ends_sentence),
        };
        starts.then(|| hit(at, at + 1, "SENTENCE_CAPITAL", vec![capitalized(token.text)], 0.75))
    };
    tokens.iter().enumerate().filter_map(check).collect()
}

/// The minimum number of words in a sentence that needs an end mark.
const UNENDED_WORDS_MIN: usize = 4;

/// Returns whether text that ends with this word is incomplete, because the next block continues it.
fn is_unfinished(word: &str) -> bool {
    matches!(
        word,
        "a" | "an"
            | "the"
            | "and"
            | "or"
            | "of"
            | "to"
            | "for"
            | "with"
            | "all"
            | "have"
            | "your"
            | "our"
            | "my"
            | "their"
            | "its"
            | "in"
            | "on"
            | "by"
            | "from"
            | "at"
            | "t"
            | "that"
            | "is"
            | "are"
    ) || word.ends_with("'s")
}

/// Returns the last word if the last sentence has no end mark. In most cases, this is reported only if the earlier sentences have end
/// marks.
pub(super) fn missing_end<'r>(tokens: &[Token<'_>], block: &Block, code: &str, style: Style) -> Option<RuleHit<'r>> {
    let last = tokens.last().filter(|last| last.is_word() || last.kind == TokenKind::Number)?;
    let Some(mark) = tokens.iter().rposition(ends_sentence) else {
        let words = tokens.iter().filter(|token| token.is_word());
        let subject = words.clone().any(|token| is_pronoun(&token.lower)) && has_verb(tokens, 0, tokens.len());
        let plain = tokens
            .iter()
            .all(|token| token.kind != TokenKind::Code && !token.new_line && !matches!(token.text, "|" | "•" | "·" | "©"));
        let long = words.clone().count() >= LONG_BLOCK_WORDS
            && tokens.iter().any(|token| token.text == ",")
            && words.clone().skip(1).any(is_lowercase);
        let ends = is_lowercase(last) && !is_unfinished(&last.lower);
        let wrong = code == "en" && style.ends_long_blocks && subject && plain && long && ends && !block.ends_with_link;
        return wrong.then(|| hit(tokens.len() - 1, tokens.len(), "END_MARK_MISSING", vec![format!("{}.", last.text)], 0.6));
    };
    let ended = mark > 2
        && mark
            .checked_sub(1)
            .and_then(|at| tokens.get(at))
            .is_some_and(|token| is_lowercase(token) && token.text.chars().count() > 1);
    let rest = tokens.get(mark + 1..)?;
    let words = rest.iter().filter(|token| token.is_word()).count();
    let plain = rest.iter().all(|token| {
        token.kind != TokenKind::Code && !matches!(token.text, "|" | "•" | "·" | "→" | ">" | "»" | "©") && !token.new_line
    });
    let starts = rest.first().is_some_and(|first| first.is_capitalized() && first.starts_sentence);
    let is_sentence = if code == "en" { has_verb(tokens, mark + 1, tokens.len()) } else { words > UNENDED_WORDS_MIN };
    // Text that ends with a link, such as a button or a reference, needs no mark.
    let wrong = ended
        && plain
        && starts
        && words >= UNENDED_WORDS_MIN
        && is_sentence
        && !block.ends_with_link
        && !last.is_capitalized()
        && !is_unfinished(&last.lower);
    wrong.then(|| hit(tokens.len() - 1, tokens.len(), "END_MARK_MISSING", vec![format!("{}.", last.text)], 0.7))
}

/// Verbs that start a question if a pronoun follows. "Should" and "had" are not in the list, because they can start a condition.
const ASKING: [&str; 19] = [
    "do", "does", "did", "are", "is", "was", "were", "can", "could", "would", "will", "have", "has", "don't", "didn't", "isn't",
    "aren't", "can't", "won't",
];

/// Words that start a question if a verb in [`ASKING`] and its subject follow.
const QUESTION_WORDS: [&str; 6] = ["what", "how", "why", "where", "when", "who"];

/// Returns the periods that end English questions: "Do you have questions about it."
pub(super) fn missing_question_marks<'r>(tokens: &[Token<'_>]) -> Vec<RuleHit<'r>> {
    let is_subject = |at: usize| matches!(lower(tokens, at), "you" | "we" | "they" | "i" | "he" | "she");
    let asks = |at: usize| ASKING.contains(&lower(tokens, at)) && is_subject(at + 1);
    let starts = |at: usize| {
        let at = at + usize::from(matches!(lower(tokens, at), "so" | "and" | "but" | "or"));
        asks(at) || QUESTION_WORDS.contains(&lower(tokens, at)) && asks(at + 1)
    };
    let check = |(at, token): (usize, &Token<'_>)| {
        if !token.starts_sentence || !token.is_capitalized() || !starts(at) {
            return None;
        }
        let rest = tokens.get(at..)?;
        let end = at + rest.iter().position(ends_sentence)?;
        // Only questions without a comma or another mark are reported, because a comma can separate a condition or an aside from a
        // statement.
        let plain = tokens.get(at..end)?.iter().all(|token| !token.new_line || token.starts_sentence)
            && !tokens.get(at..end)?.iter().any(|token| token.kind == TokenKind::Mark && token.text != "-" && token.text != "'");
        let last = tokens.get(end.checked_sub(1)?).filter(|last| last.kind != TokenKind::Mark)?;
        let wrong =
            plain && lower(tokens, end) == "." && end > at + 3 && !tokens.get(end)?.spaced && lower(tokens, end + 1) != ".";
        wrong.then(|| hit(end - 1, end + 1, "QUESTION_MARK_MISSING", vec![format!("{}?", last.text)], 0.75))
    };
    tokens.iter().enumerate().filter_map(check).collect()
}

/// Returns a bracket or quotation mark that is not closed: "(available 24/7.".
pub(super) fn unbalanced<'r>(tokens: &[Token<'_>]) -> Option<RuleHit<'r>> {
    let mark = |text: &'static str| tokens.iter().enumerate().filter(move |(_, token)| token.text == text).map(|(at, _)| at);
    let (open, close) = (mark("(").count(), mark(")").count());
    if open == close + 1 {
        let at = mark("(").next_back()?;
        let text = word(tokens, at + 1).or_else(|| tokens.get(at + 1).filter(|next| next.kind == TokenKind::Number))?;
        // The bracket is not reported if it is a part of an emoticon: ":(".
        let face = matches!(before(tokens, at), ":" | ";" | "-") && !tokens.get(at)?.spaced;
        return (!face && !text.spaced).then(|| hit(at, at + 2, "BRACKET_MISSING", Vec::new(), 0.75));
    }
    let quotes = mark("\"")
        .filter(|at| at.checked_sub(1).and_then(|at| tokens.get(at)).is_none_or(|token| token.kind != TokenKind::Number))
        .count();
    let curly = tokens.iter().any(|token| matches!(token.text, "“" | "”" | "„" | "«" | "»"));
    if quotes == 1 && mark("\"").count() == 1 && !curly {
        let at = mark("\"").next()?;
        let opens = word(tokens, at + 1).is_some_and(|next| !next.spaced) && tokens.get(at)?.spaced;
        return opens.then(|| hit(at, at + 2, "QUOTE_MISSING", Vec::new(), 0.7));
    }
    None
}

/// Returns words with two spaces between them.
pub(super) fn wide_spaces<'r>(tokens: &[Token<'_>], block: &Block) -> Vec<RuleHit<'r>> {
    let wide = |(at, token): (usize, &Token<'_>)| {
        let first = at.checked_sub(1)?;
        let previous = tokens.get(first).filter(|previous| previous.is_word() || previous.text == ",")?;
        let is_wide =
            token.is_word() && token.start.checked_sub(1).is_some_and(|space| block.wide_spaces.binary_search(&space).is_ok());
        is_wide.then(|| hit(first, at + 1, "DOUBLE_SPACE", vec![format!("{} {}", previous.text, token.text)], 0.7))
    };
    if block.wide_spaces.is_empty() { Vec::new() } else { tokens.iter().enumerate().filter_map(wide).collect() }
}

/// Names of months that are also other words.
const AMBIGUOUS_MONTHS: [&str; 3] = ["may", "march", "august"];

/// Words that precede a month.
const BEFORE_MONTHS: [&str; 12] = ["in", "of", "since", "until", "by", "last", "next", "this", "every", "early", "late", "on"];

/// Returns lowercase names of months ("in may"), and the pronoun "i" before a verb.
pub(super) fn lowercase_names<'r>(tokens: &[Token<'_>]) -> Vec<RuleHit<'r>> {
    let has_capitals = tokens.iter().any(Token::is_capitalized);
    let check = |(at, token): (usize, &Token<'_>)| {
        if !is_lowercase(token) || !has_capitals {
            return None;
        }
        let next = tokens.get(at + 1);
        let number =
            next.is_some_and(|next| next.kind == TokenKind::Number && next.text.parse::<u32>().is_ok_and(|day| day <= 31));
        let ends = next.is_none_or(|next| {
            next.kind == TokenKind::Mark
                || next.kind == TokenKind::Number
                || matches!(next.lower.as_str(), "and" | "or" | "when" | "for" | "with")
        });
        let month = AMBIGUOUS_MONTHS.contains(&token.text)
            && (BEFORE_MONTHS.contains(&before(tokens, at)) && ends
                || number && matches!(before(tokens, at), "on" | "by" | "until" | "before" | "," | "from"));
        let verb = next_word(tokens, at + 1).is_some_and(|next| has(next, BASE_VERB | PAST) || is_auxiliary(&next.lower));
        let pronoun = token.text == "i"
            && token.spaced
            && verb
            && matches!(
                before(tokens, at),
                "and"
                    | "but"
                    | "when"
                    | "what"
                    | "that"
                    | "if"
                    | "because"
                    | ","
                    | "where"
                    | "as"
                    | "so"
                    | "how"
                    | "while"
                    | "before"
                    | "after"
            );
        (month || pronoun)
            .then(|| hit(at, at + 1, if pronoun { "SMALL_I" } else { "MONTH_CAPITAL" }, vec![capitalized(token.text)], 0.85))
    };
    tokens.iter().enumerate().filter_map(check).collect()
}

const GERMAN_DAYS: [&str; 16] = [
    "montag",
    "dienstag",
    "mittwoch",
    "donnerstag",
    "freitag",
    "samstag",
    "sonntag",
    "januar",
    "februar",
    "juni",
    "juli",
    "september",
    "oktober",
    "november",
    "dezember",
    "mitternacht",
];

/// Words before a day or month inside a sentence, in French and Spanish.
const BEFORE_DAYS: [&str; 17] =
    ["ce", "le", "du", "au", "en", "de", "chaque", "el", "los", "del", "al", "este", "cada", "hasta", "dès", "d'ici", "pasado"];

/// Returns days and months in the wrong case: German ones without a capital, French and Spanish ones with a capital.
pub(super) fn day_case<'r>(tokens: &[Token<'_>], code: &str) -> Vec<RuleHit<'r>> {
    let check = |(at, token): (usize, &Token<'_>)| {
        let follows = tokens.get(at.checked_sub(1)?)?;
        let german =
            code == "de" && is_lowercase(token) && GERMAN_DAYS.contains(&token.text) && tokens.iter().any(Token::is_capitalized);
        let other = token.is_capitalized()
            && !token.is_all_capitals()
            && !token.starts_sentence
            && matches!(code, "fr" | "es")
            && is_day_or_month(&token.lower, code)
            && (is_lowercase(follows) && BEFORE_DAYS.contains(&follows.text) || follows.kind == TokenKind::Number);
        let name = if german { capitalized(token.text) } else { token.lower.clone() };
        (german || other).then(|| hit(at, at + 1, "DAY_CASE", vec![name], 0.85))
    };
    tokens.iter().enumerate().filter_map(check).collect()
}

#[cfg(test)]
mod tests {
    use super::super::text::html_blocks;
    use super::super::tokens::tokens;
    use super::*;

    fn rules(text: &str, code: &str) -> Vec<&'static str> {
        let blocks = html_blocks(&format!("<p>{text}</p>"));
        let tokens = tokens(&blocks[0].text);
        let style = Style { lowercase: false, ends_long_blocks: true };
        let mut hits = lowercase_starts(&tokens, style, false);
        hits.extend(missing_end(&tokens, &blocks[0], code, style));
        hits.extend(unbalanced(&tokens));
        hits.extend(missing_question_marks(&tokens));
        hits.extend(wide_spaces(&tokens, &blocks[0]));
        hits.extend(lowercase_names(&tokens));
        hits.extend(day_case(&tokens, code));
        hits.into_iter().map(|hit| hit.rule).collect()
    }

    #[test]
    fn finds_mistakes_of_sentences() {
        for (text, code, rule) in [
            ("mark your calendar for the market.", "en", "SENTENCE_CAPITAL"),
            ("The market is back. bring a bag.", "en", "SENTENCE_CAPITAL"),
            ("Thank you for your order. We will send it when it is ready", "en", "END_MARK_MISSING"),
            ("The parking lot is small, so please walk to us if you can", "en", "END_MARK_MISSING"),
            ("Call us today (available around the clock.", "en", "BRACKET_MISSING"),
            ("Get the \"green bag while it lasts.", "en", "QUOTE_MISSING"),
            ("Bring a bag  and get coffee.", "en", "DOUBLE_SPACE"),
            ("Do you have questions about this invoice.", "en", "QUESTION_MARK_MISSING"),
            ("So what are you waiting for.", "en", "QUESTION_MARK_MISSING"),
            ("We met in may, in Boise.", "en", "MONTH_CAPITAL"),
            ("The kids were home and i forgot lunch.", "en", "SMALL_I"),
            ("Wir sehen uns am freitag.", "de", "DAY_CASE"),
            ("Il arrive ce Samedi.", "fr", "DAY_CASE"),
            ("Llega el Jueves.", "es", "DAY_CASE"),
        ] {
            assert_eq!(rules(text, code), [rule], "{text}");
        }
    }

    #[test]
    fn accepts_right_sentences() {
        for (text, code) in [
            ("shop now", "en"),
            ("We are open from 9 a.m. to 5 p.m. on Friday.", "en"),
            ("Thank you for your order. <a href='x'>Read what we have written about it</a>", "en"),
            ("See you soon. The team", "en"),
            ("A 12\" record (new) is here.", "en"),
            ("You may 3 times.", "en"),
            ("Am Freitag", "de"),
            ("Café Samedi", "fr"),
            ("One.\n  Two spaces of a template", "en"),
        ] {
            assert_eq!(rules(text, code), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn a_style_without_capitals_is_recognized() {
        let lowercase = tokens("hello you.");
        let capital = tokens("Hello you.");
        assert!(Style::of([&lowercase[..], &lowercase, &lowercase, &capital].into_iter()).lowercase);
        assert!(!Style::of([&lowercase[..], &capital, &capital, &capital].into_iter()).lowercase);
        let unfinished = tokens("We have a long list of topics for the tour");
        assert!(continues(&lowercase, Some(&unfinished), "en"));
        assert!(!continues(&lowercase, Some(&capital), "en") && !continues(&lowercase, None, "en"));
    }
}
