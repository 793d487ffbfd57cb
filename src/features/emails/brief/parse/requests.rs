//! Recognizes requests to the writer: "Write an email about …", "Tell them that …", "Ask for …".

use super::super::Goal;
use super::classify::Classifier;
use super::clauses::Sentence;
use super::facts::has_value;
use super::lexicon::{List, Mark, goal_of, names_kind};
use super::prompt::Range;
use super::tokens::Kind;

/// The maximum number of words from "thank" to the people who are thanked.
const THANKED_WORDS_MAX: usize = 7;

/// The minimum number of words in the content that follows a request without punctuation.
const CONTENT_WORDS_MIN: usize = 6;

impl Classifier<'_> {
    /// Recognizes a request to write about something. Returns the content in it, which is empty if the request has none.
    #[expect(clippy::too_many_lines, reason = "the order of these rules is their meaning: the first that fits decides")]
    pub(super) fn request(&mut self, fragment: Range, start: usize, sentence: &Sentence, is_start: bool) -> Option<Range> {
        let prompt = self.prompt;
        let to = fragment.to;
        let none = Range::of(to, to);
        if let Some(end) = self.email_request(fragment, start, sentence, is_start) {
            self.asks = true;
            return Some(Range::of(end, to));
        }
        let writes = prompt.end(List::Write, start);
        if let Some(that) = writes.and_then(|end| prompt.find(List::That, Range::of(end, (end + 7).min(to)))) {
            let middle = Range::of(writes.unwrap_or(start), that.from);
            if prompt.has(List::Readers, middle) && !prompt.has(List::Email, middle) {
                return Some(Range::of(that.to, to));
            }
        }
        if let Some(that) = prompt.end(List::That, start).filter(|_| self.reports) {
            return Some(Range::of(that, to));
        }
        // The verb can follow an introduction: "We need to tell them that …".
        let verb = prompt
            .end(List::Write, start)
            .map(|end| prompt.end(List::ToVerb, end).unwrap_or(end))
            .filter(|verb| prompt.is(List::Report, *verb));
        let start = verb.unwrap_or(start);
        let asks = prompt.end(List::Ask, start);
        if let Some(end) = prompt.end(List::Report, start).filter(|end| asks.is_none_or(|asks| asks <= *end)) {
            // If the words also start a longer phrase for notes, such as "Say sorry once", they are a note to the writer, not content.
            if prompt.at(List::NoteStart, start).any(|mark| mark.to > end) {
                return Some(none);
            }
            self.reports = true;
            let mut end = prompt.end(List::Readers, end).unwrap_or(end);
            while let Some(next) =
                prompt.end(List::Please, end).or_else(|| prompt.end(List::And, end)).filter(|next| *next > end && *next < to)
            {
                end = next;
            }
            if let Some(that) = prompt.end(List::That, end).or_else(|| prompt.end(List::ToVerb, end)) {
                return Some(Range::of(that, to));
            }
            let is_back = prompt.is(List::Tail, start) || end + 1 >= to && prompt.end(List::That, end).is_some();
            if prompt.fold(end) == ":" || end >= to || is_back {
                return Some(none);
            }
            if prompt.fold(end) == "," {
                return prompt.end(List::That, end + 1).map(|that| Range::of(that, to.max(that))).or(Some(none));
            }
            let is_name = prompt.words.is_capital(end) && prompt.fold(end - 1) == "tell";
            if prompt.is(List::Question, end) && sentence.item.is_none() {
                return Some(none);
            }
            let end = prompt.end(List::Of, end).unwrap_or(end);
            let is_item = sentence.item.is_some() && end == start + 1;
            // One request can follow another: "Say thanks and mention we deliver".
            return (!is_name && !is_item && (is_start || end > start + 1 || self.requests)).then(|| Range::of(end, to));
        }
        // A first word that was skipped as "please" can also mean "ask", and then belongs to the request: "Bitte um Bewertung".
        let from = self.inner(fragment).from;
        let start = if prompt.is(List::Ask, from) { from } else { start };
        let is_person =
            prompt.end(List::Ask, start).is_some_and(|end| prompt.words.is_capital(end) && prompt.fold(end - 1) == "for");
        if prompt.is(List::Ask, start)
            && !is_person
            && (is_start || prompt.end(List::Ask, start).is_some_and(|end| end > start + 1))
        {
            self.asks = true;
            self.carries = true;
            let thanks = ["thank", "dank", "bedank"].iter().any(|word| prompt.fold(start).starts_with(word));
            if let Some(readers) = self.thanked(start, to).filter(|_| thanks) {
                return Some(Range::of(readers, to));
            }
            let about = (start + 1..to).find_map(|at| {
                let reason = prompt.end(List::For, at).filter(|_| thanks && matches!(prompt.fold(at), "for" | "fur"));
                if reason.is_some() {
                    return reason;
                }
                prompt
                    .end(List::About, at)
                    .filter(|end| end - at > 1 || matches!(prompt.fold(at), "about" | "uber" | "sobre" | "sur" | "su" | "over"))
            });
            return Some(about.map_or(none, |about| Range::of(about, to)));
        }
        let end = self.inner(fragment).to;
        // A verb such as "hinweisen" can also end the request, after the topic: "bitte auf die Öffnungszeiten hinweisen".
        (start..end).any(|at| prompt.at(List::ReportEnd, at).any(|mark| mark.to == end)).then_some(none)
    }

    /// Returns the position of the first word for the people who are thanked for something: "thank everyone who came", "danke an alle,
    /// die …".
    fn thanked(&self, start: usize, to: usize) -> Option<usize> {
        const WHO: [&str; 7] = ["who", "that", "die", "qui", "che", "que", "wie"];
        let prompt = self.prompt;
        let readers = prompt.find(List::Readers, Range::of(start, (start + THANKED_WORDS_MAX).min(to)))?;
        let who = readers.to + usize::from(prompt.fold(readers.to) == ",");
        let is_known = matches!(prompt.lexicon().code, "en" | "de");
        (is_known && WHO.contains(&prompt.fold(who)) && who + 2 < to).then_some(readers.from)
    }

    /// Recognizes "Write an email about …" and "Welcome email for …". Returns the end of the request.
    fn email_request(&mut self, fragment: Range, start: usize, sentence: &Sentence, is_start: bool) -> Option<usize> {
        let prompt = self.prompt;
        let writes = prompt.end(List::Write, start);
        let near = Range::of(writes.unwrap_or(start), (start + if writes.is_some() { 10 } else { 6 }).min(fragment.to));
        let goal = writes.and_then(|end| prompt.find(List::Goal, Range::of(end, (end + 4).min(fragment.to))));
        // The recipients can follow the kind of email: "Reminder for people who …".
        let kind = prompt.all(List::Goal, Range::of(start, (start + 3).min(fragment.to))).find(|mark| {
            let readers = Range::of(mark.to, (mark.to + 4).min(fragment.to));
            (names_kind(*mark) || matches!(goal_of(*mark), Goal::Survey | Goal::Review))
                && goal_of(*mark) != Goal::Webinar
                && prompt.is(List::AudienceStart, mark.to)
                && prompt.has(List::Readers, readers)
        });
        let kind = kind.filter(|_| is_start && sentence.is_line_start).map(|mark| Range::of(mark.from, mark.to));
        // Words such as "after" can follow the kind of email: "Quick survey after a repair". So can "for", if no other text follows: "Cart
        // reminder for the Aurora lamp".
        let is_whole = fragment.from == 0 && fragment.to == prompt.words.len();
        let follows = prompt.all(List::Goal, Range::of(start, (start + 4).min(fragment.to))).any(|mark| {
            let is_kind = names_kind(mark) || matches!(goal_of(mark), Goal::Survey | Goal::Review);
            is_kind && (prompt.is(List::Moment, mark.to) || is_whole && prompt.is(List::For, mark.to))
        });
        if follows && is_start && sentence.is_line_start && !prompt.has(List::Finite, fragment) && !has_value(prompt, fragment) {
            return Some(fragment.to);
        }
        let Some(email) = prompt.find(List::Email, near).or(goal).or(kind) else {
            let about = writes.and_then(|end| (end..(end + 5).min(fragment.to)).find_map(|at| prompt.end(List::About, at)));
            return about.filter(|_| is_start);
        };
        // Words that name the kind of email are not verbs: "Abandoned cart email".
        let is_kind = |mark: Mark| names_kind(mark) && mark.from <= start + 1 && mark.to >= email.from;
        let named = Range::of(start, email.from);
        let is_title = is_start
            && sentence.is_line_start
            && (!prompt.has(List::Finite, named) || prompt.all(List::Goal, named).any(is_kind))
            && sentence.item.is_none();
        let has_contact = (fragment.from..fragment.to).any(|at| matches!(prompt.kind(at), Kind::Mail));
        if has_contact || writes.is_none() && !is_title {
            return None;
        }
        let mut at = email.to;
        if let Some(that) =
            prompt.find(List::That, Range::of(at, fragment.to)).filter(|that| !prompt.has(List::Finite, Range::of(at, that.from)))
        {
            // The words after "that" are not content if there are at most two: "with this that they forward me".
            let is_short = self.inner(Range::of(that.to, fragment.to)).len() <= 2;
            return Some(if is_short { fragment.to } else { that.to });
        }
        while at < fragment.to {
            if prompt.is(List::AudienceStart, at) {
                let rest = self.inner(Range::of(at, fragment.to));
                if self.audience(rest, at) {
                    let about = (at + 1..fragment.to)
                        .find_map(|at| prompt.end(List::About, at).filter(|end| *end > at + 1 || prompt.fold(at) == "about"));
                    let readers = prompt.find(List::Readers, rest).map(|readers| Range::of(readers.to, fragment.to));
                    let follows = || readers.and_then(|rest| self.rest_of_request(rest)).filter(|_| writes.is_some());
                    return Some(about.or_else(follows).unwrap_or(fragment.to));
                }
            }
            let about = prompt.end(List::About, at).or_else(|| prompt.end(List::For, at).filter(|_| at == email.to));
            if let Some(end) = about {
                return Some(end);
            }
            at += 1;
        }
        let rest = Range::of(email.to, fragment.to);
        Some(self.unpunctuated(email, rest, fragment, is_title, writes.is_some()).unwrap_or(fragment.to))
    }

    /// Returns the start of the content that follows the kind of email without "about" or punctuation between them: "Reminder Christmas
    /// concert, …".
    fn unpunctuated(&self, email: Range, rest: Range, fragment: Range, is_title: bool, is_asked: bool) -> Option<usize> {
        let prompt = self.prompt;
        let mut goals = prompt.all(List::Goal, Range::of(email.from, email.from + 1));
        let is_reminder = is_title && goals.any(|mark| goal_of(mark) == Goal::Reminder);
        let is_name = is_reminder && prompt.fold(fragment.to - 1) == "," && self.inner(rest).len() >= 2;
        if is_name && self.starts_content(rest) {
            return Some(rest.from);
        }
        self.rest_of_request(rest).filter(|_| is_asked || is_reminder)
    }

    /// Returns the start of the content that follows a request without punctuation: "can you do a quick mail studio closed from 24 Dec".
    fn rest_of_request(&self, rest: Range) -> Option<usize> {
        let prompt = self.prompt;
        // The verb of the request can be at its end: "kannst du eine Mail an alle Patienten machen wir haben …".
        let fillers = [List::Tone, List::ToneFill, List::Please, List::Write];
        let is_tone = |at: usize| fillers.into_iter().find_map(|list| prompt.end(list, at));
        let mut at = rest.from;
        while let Some(end) = is_tone(at).filter(|end| *end < rest.to) {
            at = end;
        }
        let content = Range::of(at, rest.to);
        (self.starts_content(content) && content.len() >= CONTENT_WORDS_MIN && has_value(prompt, content)).then_some(at)
    }

    /// Returns whether the words after a request are content, and not a preposition or relative pronoun that continues the request.
    fn starts_content(&self, content: Range) -> bool {
        let prompt = self.prompt;
        let at = content.from;
        let lists = [
            List::For,
            List::With,
            List::To,
            List::That,
            List::And,
            List::AudienceStart,
            List::InLanguage,
            List::At,
            List::Email,
        ];
        let continues = prompt.kind(at) != Kind::Word || lists.into_iter().any(|list| prompt.is(list, at));
        let relates = matches!(prompt.fold(at), "die" | "der" | "welche" | "deren" | "who" | "whose" | "which" | "qui" | "que");
        !continues && !relates
    }
}
