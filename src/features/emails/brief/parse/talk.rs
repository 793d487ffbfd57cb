//! Recognizes what the people who plan the email say to each other, and statements that they withdraw: "the landlord wanted 45% more, but
//! keep that out".

use super::super::Goal;
use super::classify::{Class, Classifier};
use super::clauses::{Chat, Sentence};
use super::facts::has_value;
use super::lexicon::List;
use super::prompt::{Prompt, Range};
use super::reading::Read;
use super::roles;
use super::tokens::Kind;

/// Marks withdrawn text and remarks in brackets as unclear, so that their facts are not read.
pub fn withdraw(prompt: &Prompt<'_>, reads: &mut [Read]) {
    for at in 0..reads.len() {
        let marks: Vec<usize> = prompt
            .all(List::Withdrawn, reads[at].sentence.range)
            .filter(|mark| ends(prompt, mark.to))
            .map(|mark| mark.from)
            .collect();
        for mark in prompt.all(List::Remark, reads[at].sentence.range) {
            if let Some(scope) = bracket(prompt, &reads[at].sentence.fragments, mark.from) {
                take_back(&mut reads[at], scope);
            }
        }
        for mark in marks {
            match scope(prompt, &reads[at].sentence.fragments, mark) {
                // If only a remark precedes the withdrawing phrase in its sentence, the phrase also withdraws the previous sentence: "SHRM
                // credit yes (1 hr??) hmm not confirmed leave that out".
                Some(scope) if at > 0 && is_remark(prompt, reads[at].sentence.range, mark) => {
                    let before = reads[at - 1].sentence.range;
                    take_back(&mut reads[at - 1], before);
                    take_back(&mut reads[at], scope);
                }
                Some(scope) => take_back(&mut reads[at], scope),
                None if at > 0 => {
                    let before = reads[at - 1].sentence.range;
                    let open = (before.from..before.to).rev().find(|at| matches!(prompt.fold(*at), "(" | "[" | ")" | "]"));
                    let open = open.filter(|at| matches!(prompt.fold(*at), "(" | "["));
                    let before = Range::of(open.unwrap_or(before.from), before.to);
                    take_back(&mut reads[at - 1], before);
                    take_back(&mut reads[at], Range::of(mark, mark + 1));
                }
                None => {}
            }
        }
        leave_reasons(prompt, &mut reads[at]);
    }
}

/// The first words of a reason for a withdrawal.
const REASON_STARTS: [&str; 16] =
    ["it", "they", "he", "she", "that", "this", "es", "das", "er", "sie", "ca", "cela", "eso", "esto", "dat", "het"];

/// Marks the reason for a withdrawal as unclear: "please do not write that, it scared people last time".
fn leave_reasons(prompt: &Prompt<'_>, read: &mut Read) {
    for at in 1..read.pieces.len() {
        let (before, own) = (read.pieces[at - 1], read.pieces[at]);
        let is_withdrawal = before.class != Class::Content && prompt.has(List::Withdrawn, before.range);
        let is_reason = REASON_STARTS.contains(&prompt.fold(prompt.trim(own.range).from)) && !has_value(prompt, own.range);
        if is_withdrawal && is_reason && own.class == Class::Content {
            read.pieces[at].class = Class::Unclear;
        }
    }
}

/// The maximum number of words in a question that the prompt itself answers.
const QUESTION_WORDS_MAX: usize = 8;

/// Marks a question as unclear if the next sentence answers "no": "Vouchers for Father's Day? Nah, Mother's Day".
pub fn leave_denied(prompt: &Prompt<'_>, reads: &mut [Read]) {
    for at in 1..reads.len() {
        let (question, answer) = (reads[at - 1].sentence.range, reads[at].sentence.range);
        let first = (answer.from..answer.to).find(|at| prompt.kind(*at) != Kind::Sign).unwrap_or(answer.from);
        let denies = matches!(prompt.fold(first), "nah" | "nope" | "nee" | "ne" | "nein") && answer.len() > 1;
        if denies && question.len() <= QUESTION_WORDS_MAX && prompt.fold(question.to - 1) == "?" {
            take_back(&mut reads[at - 1], question);
            // An answer after an arrow is for the writer: "5 % with the card? -> ne, the till can't do that".
            if prompt.fold(answer.from) == "-" && prompt.fold(answer.from + 1) == ">" && !has_value(prompt, answer) {
                take_back(&mut reads[at], answer);
            }
        }
    }
}

/// The maximum number of words in a sentence that is marked as unclear because it expresses doubt.
const DOUBT_WORDS_MAX: usize = 40;

/// The words at the end of the line before a quoted email: "Julian wrote:".
const WROTE: [&str; 7] = ["wrote", "schrieb", "ecrit", "escribio", "scritto", "schreef", "escreveu"];

/// Marks text as unclear if it is an email quoted below the forwarded email, last year's text, or a sentence that expresses doubt about
/// which value is right.
pub fn leave_older(prompt: &Prompt<'_>, reads: &mut [Read]) {
    let mut has_values = false;
    let mut is_older = false;
    let mut old_until = 0;
    for read in reads {
        let Range { from, to } = read.sentence.range;
        let is_quoted = prompt.fold(prompt.line_start(from)) == ">";
        let wrote = (from..to).any(|at| WROTE.contains(&prompt.fold(at)) && prompt.fold(at + 1) == ":");
        is_older = has_values && (is_older && is_quoted || wrote);
        if prompt.has(List::OldText, read.sentence.range) && prompt.sign(":", read.sentence.range).is_some() {
            let blank = (from..prompt.words.len()).find(|at| prompt.kind(*at) == Kind::End && prompt.kind(at + 1) == Kind::End);
            old_until = blank.unwrap_or(prompt.words.len());
        }
        let doubts = to - from <= DOUBT_WORDS_MAX && prompt.has(List::Unsure, read.sentence.range);
        if is_older || from < old_until || doubts {
            take_back(read, Range::of(from, to));
        }
        has_values |= read.pieces.iter().any(|piece| piece.class == Class::Content && has_value(prompt, piece.range));
    }
}

/// Classifies HTML comments as notes, because readers of a web page do not see the comments.
pub fn hide_comments(prompt: &Prompt<'_>, reads: &mut [Read]) {
    let is_open = |at: usize| prompt.fold(at) == "<" && prompt.fold(at + 1) == "!" && prompt.words.is_glued(at + 1);
    let is_close = |at: usize| prompt.fold(at) == ">" && at > 1 && prompt.fold(at - 1) == "-" && prompt.words.is_glued(at);
    let mut at = 0;
    while at < prompt.words.len() {
        if !is_open(at) {
            at += 1;
            continue;
        }
        let end = (at..prompt.words.len()).find(|at| is_close(*at)).map_or(prompt.words.len(), |close| close + 1);
        let comment = Range::of(at, end);
        for piece in reads.iter_mut().flat_map(|read| &mut read.pieces).filter(|piece| comment.contains(piece.range)) {
            piece.class = Class::Note;
        }
        at = end;
    }
}

/// The maximum number of words in a remark before a withdrawal.
const REMARK_WORDS_MAX: usize = 4;

/// Returns whether only a remark without a value precedes a withdrawal in its sentence: "hmm not confirmed leave that out".
fn is_remark(prompt: &Prompt<'_>, sentence: Range, mark: usize) -> bool {
    let own = Range::of(sentence.from, mark);
    let lists = [List::Sound, List::Remark, List::Filler, List::Unsure];
    (1..=REMARK_WORDS_MAX).contains(&own.len()) && !has_value(prompt, own) && lists.into_iter().any(|list| prompt.has(list, own))
}

fn take_back(read: &mut Read, scope: Range) {
    let printed = |piece: &&mut super::classify::Fragment| matches!(piece.class, Class::Content | Class::Topic);
    read.pieces.iter_mut().filter(printed).filter(|piece| scope.overlaps(piece.range)).for_each(|piece| {
        piece.class = Class::Unclear;
    });
}

/// Returns the range that a phrase withdraws: the brackets around the phrase, or its fragment. If the phrase starts its fragment, the range
/// includes the previous fragment. Returns `None` if the phrase starts its sentence.
fn scope(prompt: &Prompt<'_>, fragments: &[Range], mark: usize) -> Option<Range> {
    let own = fragments.iter().position(|fragment| fragment.from <= mark && mark < fragment.to)?;
    let is_alone = |fragment: Range| (fragment.from..mark).all(|at| is_lead(prompt, at));
    let is_own = !is_alone(fragments[own]);
    let bracket = bracket(prompt, fragments, mark).filter(|bracket| is_own || bracket.from < fragments[own].from);
    if bracket.is_some() {
        return bracket;
    }
    let first = if is_own { own } else { own.checked_sub(1)? };
    Some(Range::of(fragments[first].from, fragments[own].to))
}

/// Returns the range from the opening to the closing bracket around a word.
fn bracket(prompt: &Prompt<'_>, fragments: &[Range], at: usize) -> Option<Range> {
    let own = fragments.iter().position(|fragment| fragment.from <= at && at < fragment.to)?;
    let opens = |at: &usize| matches!(prompt.fold(fragments[*at].from), "(" | "[");
    let closes = |at: usize| (fragments[at].from..fragments[at].to).any(|at| matches!(prompt.fold(at), ")" | "]"));
    let open = (0..=own).rev().find(opens).filter(|open| !(*open..own).any(closes))?;
    let close = (own..fragments.len()).find(|at| closes(*at)).unwrap_or(fragments.len() - 1);
    Some(Range::of(fragments[open].from, fragments[close].to))
}

/// Returns whether a phrase that ends before an index can withdraw text: a line end or a punctuation mark is at the index or one word later
/// ("leave that out please"), or a reason starts at the index.
fn ends(prompt: &Prompt<'_>, at: usize) -> bool {
    let stops = |at: usize| prompt.kind(at) == Kind::End || prompt.kind(at) == Kind::Sign && prompt.fold(at) != "\"";
    stops(at) || stops(at + 1) || prompt.is(List::Because, at)
}

/// Returns whether a word only connects a phrase to the text before it.
fn is_lead(prompt: &Prompt<'_>, at: usize) -> bool {
    let is_sign = prompt.kind(at) == Kind::Sign;
    is_sign || [List::And, List::Please, List::Not].into_iter().any(|list| prompt.is(list, at))
}

/// The maximum number of words in an apology at the end of a prompt.
const EXCUSE_WORDS_MAX: usize = 9;

impl Classifier<'_> {
    /// Returns whether the last sentence of a prompt apologizes for the prompt itself: "sorry for the typos", "désolé j'écris du train".
    pub(super) fn excuses(&self, range: Range) -> bool {
        let is_last = self.seen > 2 && self.seen == self.count && (2..=EXCUSE_WORDS_MAX).contains(&range.len());
        let is_apology = roles::goal(self.prompt) == Some(Goal::Apology);
        is_last && !is_apology && roles::SORRY.contains(&self.prompt.fold(range.from)) && !has_value(self.prompt, range)
    }

    /// Returns whether a sentence is the disclaimer of a forwarded email.
    pub(super) fn is_disclaimer(&self, whole: Range) -> bool {
        let stems = ["confiden", "vertraulich", "riservat", "vertrouwelijk"];
        let is_secret = |at: usize| stems.iter().any(|stem| self.prompt.fold(at).starts_with(stem));
        let names_email = self.prompt.has(List::Email, whole)
            || (whole.from..whole.to).any(|at| matches!(self.prompt.fold(at), "message" | "nachricht" | "mensaje" | "messaggio"));
        names_email && (whole.from..whole.to).any(is_secret)
    }

    /// Returns whether a sentence of a chat is a short answer to the other people in the chat: "none lol".
    pub(super) fn is_answer(&self, sentence: &Sentence, whole: Range) -> bool {
        let lists = [List::NoteWhole, List::Not, List::Please, List::And, List::Sound, List::Remark];
        let answers = (whole.from..whole.to).any(|at| lists.iter().any(|list| self.prompt.is(*list, at)));
        sentence.chat == Chat::Line && whole.len() <= 3 && answers && !has_value(self.prompt, whole)
    }

    /// Returns whether a sentence tries to give orders to a language model, or follows such an attempt and starts with an order.
    pub(super) fn is_attack(&mut self, whole: Range) -> bool {
        let start = self.start(whole);
        let orders =
            [List::Write, List::Report].into_iter().any(|list| self.prompt.is(list, start) || self.prompt.is(list, start + 1));
        let is_attack = self.prompt.has(List::Attack, whole) || self.attacked && orders;
        self.attacked |= is_attack;
        is_attack
    }

    /// Returns the words at the end of a request that name the recipients: "announce the new plans to existing customers".
    pub(super) fn readers_at_end(&self, content: Range) -> Range {
        let end = self.inner(content).to;
        let is_end = |at: &usize| {
            let readers = self.prompt.find(List::Readers, Range::of(*at, end));
            self.prompt.fold(*at) == "to" && readers.is_some_and(|readers| readers.to == end && readers.from <= at + 3)
        };
        (content.from + 1..end).find(is_end).map_or(Range::of(content.to, content.to), |from| Range::of(from, content.to))
    }

    /// Returns whether a short fragment only names the email: "the sorry mail".
    pub(super) fn names_email(&self, range: Range) -> bool {
        let prompt = self.prompt;
        let ends = |list: List| (range.from..range.to).any(|at| prompt.at(list, at).any(|mark| mark.to == range.to));
        // A word for email after "by" names a means of delivery, not an email: "vouchers by mail". A series consists of emails only if a
        // kind of email precedes the word, as in "welcome series"; other series are products.
        let is_way =
            range.to > range.from + 1 && matches!(prompt.fold(range.to - 2), "per" | "by" | "via" | "par" | "por" | "tramite");
        let names = ends(List::Email) && !is_way || ends(List::Series) && prompt.has(List::Goal, range);
        // Words that end in "-ed", such as "abandoned", are participles here, not verbs.
        let speaks = (range.from..range.to).any(|at| prompt.is(List::Finite, at) && !prompt.fold(at).ends_with("ed"));
        names && (2..=4).contains(&range.len()) && !speaks && !has_value(prompt, range)
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use crate::features::emails::brief::parse::parse;
    use crate::features::projects::brand::Brand;

    #[test]
    fn withdrawn_text_is_unclear() {
        for (prompt, withdrawn) in [
            ("Vouchers for Father's Day? Nah, Mother's Day. They cost £25.", "Vouchers for Father's Day?"),
            ("Nachholtermin am 7. März. Julian war krank (letzteres nicht schreiben).", "Julian war krank"),
        ] {
            let brief = parse(prompt, &Brand::default(), None, date(2027, 2, 22));
            assert!(brief.unclear.iter().any(|part| part.text == withdrawn), "{prompt}: {:?}", brief.unclear);
        }
    }
}
