//! Finds punctuation marks with missing or extra spaces ("Anna , welcome", "now,get", "days.No"), and doubled marks ("done..").

use super::findings::FindingKind;
use super::patterns::Hit;
use super::rules::RuleHit;
use super::tokens::{Token, TokenKind};

/// Languages that write a space before "!" and "?".
const SPACED_MARKS: [&str; 1] = ["fr"];

/// Returns the punctuation mistakes in text.
pub(super) fn spacing<'r>(tokens: &[Token<'_>], code: &str) -> Vec<RuleHit<'r>> {
    (1..tokens.len())
        .filter_map(|at| {
            let spaces = space_before(tokens, at, code).or_else(|| comma_before_word(tokens, at));
            spaces.or_else(|| no_space_after(tokens, at)).or_else(|| doubled(tokens, at))
        })
        .collect()
}

fn is_mark(token: Option<&Token<'_>>, marks: &str) -> bool {
    token.is_some_and(|token| token.kind == TokenKind::Mark && marks.contains(token.text))
}

fn hit<'r>(first: usize, end: usize, rule: &'static str, suggestion: String) -> RuleHit<'r> {
    RuleHit { hit: Hit { first, end }, rule, kind: FindingKind::Grammar, suggestions: vec![suggestion], confidence: 0.8 }
}

/// Finds an extra space before a mark: "Anna , welcome".
fn space_before<'r>(tokens: &[Token<'_>], at: usize, code: &str) -> Option<RuleHit<'r>> {
    let (before, mark, after) = (tokens.get(at - 1)?, tokens.get(at)?, tokens.get(at + 1));
    let marks = if SPACED_MARKS.contains(&code) { ",." } else { ",.!?" };
    // The space is intended before a mark that is joined to the next word, or before several marks: ".NET", " ...", ". . .".
    let stands_alone = after.is_none_or(|after| after.spaced) && !is_mark(after, ",.!?…");
    let counts = before.is_word() || before.kind == TokenKind::Number && mark.text == ",";
    let is_wrong = is_mark(Some(mark), marks) && mark.spaced && !mark.new_line && counts && stands_alone;
    is_wrong.then(|| hit(at - 1, at + 1, "SPACE_BEFORE_MARK", format!("{}{}", before.text, mark.text)))
}

/// Finds a comma with its space on the wrong side: "noon ,and".
fn comma_before_word<'r>(tokens: &[Token<'_>], at: usize) -> Option<RuleHit<'r>> {
    let (before, mark, after) = (tokens.get(at - 1)?, tokens.get(at)?, tokens.get(at + 1)?);
    let is_wrong = mark.text == "," && mark.spaced && !mark.new_line && before.is_word() && after.is_word() && !after.spaced;
    is_wrong.then(|| hit(at - 1, at + 2, "SPACE_BEFORE_MARK", format!("{}, {}", before.text, after.text)))
}

/// Finds a missing space after a mark: "now,get" and "days.No".
fn no_space_after<'r>(tokens: &[Token<'_>], at: usize) -> Option<RuleHit<'r>> {
    let (before, mark, after) = (tokens.get(at - 1)?, tokens.get(at)?, tokens.get(at + 1)?);
    let words = before.is_word() && after.is_word() && !mark.spaced && !after.spaced && !after.new_line;
    let long = |token: &Token<'_>| token.text.chars().count() > 1;
    // A period ends a sentence only between a lowercase word and a capitalized word, unlike in the names "Ph.D" and "Node.JS".
    let ends_sentence =
        long(before) && !before.is_capitalized() && long(after) && after.is_capitalized() && !after.has_inner_capital();
    let is_wrong = words && (is_mark(Some(mark), ",;") && long(after) || is_mark(Some(mark), ".!?") && ends_sentence);
    is_wrong.then(|| hit(at - 1, at + 2, "NO_SPACE_AFTER_MARK", format!("{}{} {}", before.text, mark.text, after.text)))
}

/// Finds doubled marks: "done.." and "well,, then".
fn doubled<'r>(tokens: &[Token<'_>], at: usize) -> Option<RuleHit<'r>> {
    let (before, mark, after) = (tokens.get(at - 1)?, tokens.get(at)?, tokens.get(at + 1)?);
    let same = is_mark(Some(mark), ",.;") && after.text == mark.text && !mark.spaced && !after.spaced;
    let is_wrong = same && before.is_word() && !is_mark(tokens.get(at + 2), ",.;…");
    is_wrong.then(|| hit(at - 1, at + 2, "REPEATED_MARK", format!("{}{}", before.text, mark.text)))
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    #[test]
    fn finds_wrong_spaces() {
        for (text, code, suggestion) in [
            ("Hello Anna , welcome.", "en", "Anna,"),
            ("Any questions ?", "en", "questions?"),
            ("Spend $75 , and save.", "en", "75,"),
            ("Order now,get it soon.", "en", "now, get"),
            ("Order by noon ,and save.", "en", "noon, and"),
            ("Return it in 30 days.No questions.", "en", "days. No"),
            ("Thank you..", "en", "you."),
            ("Bonjour , voici", "fr", "Bonjour,"),
        ] {
            let found = spacing(&tokens(text), code);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert_eq!(found[0].suggestions, [suggestion], "{text}");
        }
    }

    #[test]
    fn accepts_what_is_meant() {
        for (text, code) in [
            ("Wait ... what? Wait... yes!", "en"),
            ("Learn .NET and Node.JS at 3.5 or 1,000.", "en"),
            ("See e.g. U.S. stores, Ph.D. theses, and example.com.", "en"),
            ("Vous aimez ? Oui !", "fr"),
            ("Really?! Yes!!", "en"),
            ("Hi {{name}}, welcome. Total: $5,00 .", "en"),
            ("One\n. Two", "en"),
        ] {
            assert_eq!(spacing(&tokens(text), code), [], "{text}");
        }
    }
}
