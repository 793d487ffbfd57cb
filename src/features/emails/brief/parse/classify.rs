//! Decides for each fragment of a sentence whether the email prints it.

use super::super::{CallToAction, Constraint, ConstraintKind, Part, Signature};
use super::clauses::Sentence;
use super::lexicon::{List, lexicons};
use super::prompt::{Prompt, Range};
use super::words::Kind;

/// What a fragment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Text for the recipients.
    Content,
    /// A request to the writer that names the topic: its numbers and names are facts.
    Topic,
    /// A request to the writer.
    Note,
    Unclear,
    /// A part of the brief with its own field, such as the subject.
    Field,
}

/// A classified part of a sentence.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub range: Range,
    pub class: Class,
}

/// The parts of a brief that the classification finds.
#[derive(Debug, Default)]
pub struct Fields {
    pub language: Option<String>,
    pub audience: Option<Part>,
    pub subject: Option<Part>,
    pub preheader: Option<Part>,
    pub headline: Option<Part>,
    pub cta: Option<CallToAction>,
    pub signature: Option<Signature>,
    pub tone: Vec<Part>,
    pub constraints: Vec<Constraint>,
    /// Whether the prompt is a forwarded mail or greets the writer, whose closing line is not the email's signature.
    pub is_forwarded: bool,
}

/// The limits whose phrases need no value.
const LIMITS: [(List, ConstraintKind); 6] = [
    (List::NoImages, ConstraintKind::NoImages),
    (List::NoProducts, ConstraintKind::NoProducts),
    (List::NoExclamation, ConstraintKind::NoExclamation),
    (List::NoEmoji, ConstraintKind::NoEmoji),
    (List::Plain, ConstraintKind::PlainLayout),
    (List::OneButton, ConstraintKind::OneButton),
];

/// The maximum number of words of a short fragment, which a note is in most cases.
const SHORT_WORDS: usize = 7;

pub struct Classifier<'a> {
    pub prompt: &'a Prompt<'a>,
    pub fields: Fields,
    /// The number of sentences that were classified.
    pub seen: usize,
    pub count: usize,
}

impl Classifier<'_> {
    /// Returns the parts of a sentence in order. They contain every fragment.
    pub fn sentence(&mut self, sentence: &Sentence) -> Vec<Piece> {
        self.seen += 1;
        let whole = self.prompt.trim(sentence.range);
        if whole.is_empty() || self.is_header(sentence, whole) || self.is_attack(whole) {
            return vec![Piece { range: sentence.range, class: Class::Note }];
        }
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < sentence.fragments.len() {
            let range = sentence.fragments[at];
            if let Some((taken, piece)) = self.field(sentence, at) {
                pieces.push(piece);
                at += taken;
                continue;
            }
            let is_start = at == 0;
            self.fragment(range, sentence, is_start, &mut pieces);
            at += 1;
        }
        pieces
    }

    fn is_header(&mut self, sentence: &Sentence, whole: Range) -> bool {
        let Some(end) = self.prompt.end(List::Header, whole.from).filter(|_| sentence.is_line_start) else { return false };
        let is_mail = self.prompt.fold(end - 1) != ":" || whole.len() <= end - whole.from + 8;
        self.fields.is_forwarded |= is_mail;
        is_mail
    }

    fn is_attack(&self, whole: Range) -> bool {
        self.prompt.has(List::Attack, whole)
    }

    /// Reads a labeled part, such as the subject or the signature, that starts with a fragment. Returns the number of its fragments.
    fn field(&mut self, sentence: &Sentence, at: usize) -> Option<(usize, Piece)> {
        let start = self.start(sentence.fragments[at]);
        let rest = Range::of(start, sentence.range.to);
        let (list, value) = self.label(rest, sentence)?;
        let left = sentence.fragments.len() - at;
        let all = Range::of(sentence.fragments[at].from, sentence.range.to);
        let class = match list {
            List::LabelSubject | List::LabelHeadline | List::LabelPreheader => {
                let range = self.without_notes(sentence, at, value);
                let part = Some(self.part(self.unquoted(range)));
                match list {
                    List::LabelSubject => self.fields.subject = part,
                    List::LabelHeadline => self.fields.headline = part,
                    _ => self.fields.preheader = part,
                }
                let range = Range::of(all.from, range.to.max(value.from));
                let taken = sentence.fragments[at..].iter().take_while(|fragment| fragment.from < range.to).count().max(1);
                return Some((taken, Piece { range, class: Class::Field }));
            }
            List::LabelButton => {
                self.button(value, start);
                Class::Field
            }
            List::LabelSign => {
                self.signature(value, all);
                Class::Field
            }
            List::LabelAudience => {
                self.fields.audience = Some(self.part(value));
                Class::Note
            }
            List::LabelTone => {
                for fragment in &sentence.fragments[at..] {
                    let range = self.prompt.trim(Range::of(fragment.from.max(value.from), fragment.to));
                    self.limits(range, true);
                    self.language(range, true);
                }
                self.fields.tone.push(self.part(value));
                Class::Note
            }
            List::LabelNote => Class::Note,
            _ => return None,
        };
        Some((left, Piece { range: all, class }))
    }

    /// Returns the label at a word and its value.
    fn label(&self, rest: Range, sentence: &Sentence) -> Option<(List, Range)> {
        use List as L;
        let lists = [
            L::LabelSubject,
            L::LabelPreheader,
            L::LabelHeadline,
            L::LabelButton,
            L::LabelSign,
            L::LabelAudience,
            L::LabelTone,
            L::LabelNote,
        ];
        let prompt = self.prompt;
        for list in lists {
            let Some(end) = prompt.end(list, rest.from).filter(|end| *end < rest.to) else { continue };
            let is = prompt.end(L::LabelIs, end).unwrap_or(end);
            let is = if prompt.fold(end) == "(" {
                prompt.sign(")", Range::of(end, rest.to)).map_or(is, |close| close + 1)
            } else {
                is
            };
            let is_marked = matches!(prompt.fold(is), ":" | "=" | "→") || prompt.fold(is) == "-" && !prompt.words.is_glued(is);
            let is_quoted = prompt.is_quote(is) || prompt.fold(is) == "," && prompt.is_quote(is + 1);
            let follows = prompt.words.is_capital(is) || prompt.is(L::Article, is);
            let is_bare = match list {
                L::LabelSubject | L::LabelPreheader | L::LabelHeadline => is_quoted,
                L::LabelButton => {
                    is_quoted || prompt.words.is_capital(is) && prompt.kind(is) == Kind::Word && !is_all_capitals(prompt, is)
                }
                L::LabelSign => {
                    follows
                        && (is > end
                            || end > rest.from + 1
                            || rest.from == sentence.range.from
                            || prompt.fold(rest.from - 1) == ",")
                        && prompt.kind(is) == Kind::Word
                }
                _ => false,
            };
            if is_marked || is_bare {
                let value = prompt.trim(Range::of(if is_marked { is + 1 } else { is }, rest.to));
                return (!value.is_empty()).then_some((list, value));
            }
        }
        None
    }

    /// Shortens the value of a label to the fragments before a note to the writer.
    fn without_notes(&mut self, sentence: &Sentence, at: usize, value: Range) -> Range {
        for fragment in sentence.fragments[at..].iter().filter(|fragment| fragment.from > value.from) {
            let range = self.prompt.trim(*fragment);
            if self.label(Range::of(range.from, sentence.range.to), sentence).is_some() || self.is_limit(range) {
                return Range::of(value.from, fragment.from);
            }
        }
        value
    }

    fn button(&mut self, value: Range, start: usize) {
        let prompt = self.prompt;
        let quote = (value.from..value.to)
            .find(|at| prompt.is_quote(*at))
            .and_then(|open| Some((open, prompt.quote_end(open, value.to)?)));
        let stop = (value.from..value.to).find(|at| {
            matches!(prompt.fold(*at), "→" | "(" | ",")
                || prompt.fold(*at) == "-" && (prompt.fold(at + 1) == ">" || !prompt.words.is_glued(at + 1))
                || prompt.kind(*at) == Kind::Link
        });
        let label = match quote {
            Some((open, close)) => Range::of(open + 1, close),
            None => prompt.trim(Range::of(value.from, stop.unwrap_or(value.to))),
        };
        let label = self.unquoted(label);
        if prompt.has(List::OneButton, Range::of(start, value.from)) {
            self.constrain(ConstraintKind::OneButton, None, Range::of(start, value.to));
        }
        let link = (value.from..value.to).find(|at| prompt.kind(*at) == Kind::Link).map(|at| prompt.raw(at).to_owned());
        let label = (!label.is_empty()).then(|| self.part(label));
        let cta = self.fields.cta.get_or_insert(CallToAction { label: None, link: None });
        cta.label = label.or(cta.label.take());
        cta.link = link.or(cta.link.take());
    }

    fn signature(&mut self, value: Range, all: Range) {
        let prompt = self.prompt;
        let value = self.unquoted(prompt.trim(value));
        let comma = prompt.sign(",", value).or_else(|| prompt.sign("(", value));
        let cut = (value.from + 1..value.to)
            .find(|at| matches!(prompt.fold(*at), "aus" | "vom" | "della") && prompt.words.is_capital(at - 1));
        let (mut name, mut title) = match comma.or(cut) {
            Some(at) if Some(at) == comma => (Range::of(value.from, at), Range::of(at + 1, value.to)),
            Some(at) => (Range::of(value.from, at), Range::of(at, value.to)),
            None => (value, Range::of(value.to, value.to)),
        };
        let article = prompt.end(List::Article, name.from);
        if article.is_some_and(|article| !title.is_empty() && !prompt.words.is_capital(article))
            && prompt.words.is_capital(title.from)
        {
            (name, title) = (title, name);
        }
        let title = Range::of(prompt.end(List::Article, title.from).unwrap_or(title.from), title.to);
        let text =
            |range: Range| prompt.text(self.unquoted(prompt.trim(range))).trim_end_matches(['.', '!', ')', ' ']).to_owned();
        let (name, title) = (text(name), text(title));
        if !name.is_empty() {
            self.fields.signature =
                Some(Signature { name, title: Some(title).filter(|title| !title.is_empty()), span: Some(prompt.span(all)) });
        }
    }

    /// Returns a range without quotation marks around it and without the period of a label's value.
    fn unquoted(&self, range: Range) -> Range {
        let prompt = self.prompt;
        let mut range = prompt.trim(range);
        while range.len() > 1 && prompt.fold(range.to - 1) == "." && !prompt.is_quote(range.from) {
            range.to -= 1;
        }
        if range.len() > 2 && prompt.is_quote(range.from) {
            let end = prompt.quote_end(range.from, range.to).unwrap_or(range.to);
            return Range::of(range.from + 1, end);
        }
        range
    }

    pub fn part(&self, range: Range) -> Part {
        Part { text: self.prompt.text(range).trim().to_owned(), span: Some(self.prompt.span(range)) }
    }

    /// Returns the first word of a fragment that is not a sign, "and" or "please".
    fn start(&self, fragment: Range) -> usize {
        let mut at = self.prompt.trim(fragment).from;
        loop {
            let next = self.prompt.end(List::Please, at).or_else(|| self.prompt.end(List::And, at));
            let sign = matches!(self.prompt.fold(at), "(" | "[" | "," | ":").then_some(at + 1);
            match next.or(sign).filter(|next| *next < fragment.to) {
                Some(next) => at = next,
                None => return at,
            }
        }
    }

    /// Classifies one fragment.
    fn fragment(&mut self, fragment: Range, sentence: &Sentence, is_start: bool, pieces: &mut Vec<Piece>) {
        let range = self.inner(fragment);
        if range.is_empty() {
            pieces.push(Piece { range: fragment, class: Class::Content });
            return;
        }
        let start = self.start(fragment);
        if self.closing(range, sentence, is_start)
            || self.greeting(range, sentence, is_start)
            || self.limits(range, false)
            || self.language(range, false)
        {
            pieces.push(Piece { range: fragment, class: Class::Note });
            return;
        }
        if let Some(content) = self.request(fragment, start, sentence, is_start) {
            let class = Class::Topic;
            pieces.push(Piece { range: Range::of(fragment.from, content.from), class });
            if !content.is_empty() {
                pieces.push(Piece { range: content, class: Class::Content });
            }
            return;
        }
        if self.audience(range, start) || self.tone(range) || self.is_note(range, start) {
            pieces.push(Piece { range: fragment, class: Class::Note });
            return;
        }
        pieces.push(Piece { range: fragment, class: Class::Content });
    }

    /// Returns a fragment without signs and brackets at its ends.
    fn inner(&self, fragment: Range) -> Range {
        let mut range = self.prompt.trim(fragment);
        while !range.is_empty() && matches!(self.prompt.fold(range.from), "(" | "[" | ",") {
            range.from += 1;
        }
        while !range.is_empty() && matches!(self.prompt.fold(range.to - 1), ")" | "]" | "." | "!" | "?" | ";" | "," | ":") {
            range.to -= 1;
        }
        range
    }

    /// Reads a greeting to the writer in the first sentences.
    fn greeting(&mut self, range: Range, sentence: &Sentence, is_start: bool) -> bool {
        let is_early = self.seen <= 3 && is_start && sentence.is_line_start || self.seen <= 2 && range.from < 4;
        let greets = self.prompt.is(List::Greeting, range.from) && range.len() <= 6 && is_early;
        self.fields.is_forwarded |= greets;
        greets
    }

    /// Reads the closing line of the prompt, which may be the signature.
    fn closing(&mut self, range: Range, sentence: &Sentence, is_start: bool) -> bool {
        let Some(end) = self.prompt.end(List::Closing, range.from).filter(|_| self.seen + 2 >= self.count) else { return false };
        let rest = Range::of(end, sentence.range.to);
        let names = self.prompt.trim(rest);
        let is_name = !names.is_empty()
            && names.len() <= 5
            && (self.prompt.words.is_capital(names.from) || self.prompt.is(List::Article, names.from));
        if is_name && !self.fields.is_forwarded && self.fields.signature.is_none() {
            self.signature(names, Range::of(range.from, sentence.range.to));
        }
        is_start && (names.is_empty() || is_name) || is_name && names.len() <= 3
    }

    /// Reads the limits in a fragment. Returns whether the fragment is about limits.
    fn limits(&mut self, range: Range, is_labeled: bool) -> bool {
        let mut is_limit = false;
        for (list, kind) in LIMITS {
            if let Some(found) = self.prompt.find(list, range).filter(|found| self.is_near_start(range, *found) || is_labeled) {
                self.constrain(kind, None, found);
                is_limit = true;
            }
        }
        if let Some(found) = self.prompt.find(List::WordLimit, range) {
            let number =
                (found.from..found.to).find(|at| self.prompt.kind(*at) == Kind::Number).map(|at| self.prompt.raw(at).to_owned());
            self.constrain(ConstraintKind::WordLimit, number, range);
            is_limit = true;
        }
        is_limit |= self.avoided(range);
        is_limit | self.address(range, is_labeled)
    }

    fn is_limit(&self, range: Range) -> bool {
        LIMITS.iter().any(|(list, _)| self.prompt.find(*list, range).is_some_and(|found| self.is_near_start(range, found)))
            || self.prompt.has(List::WordLimit, range)
    }

    /// Returns whether a phrase makes up most of a fragment.
    fn is_near_start(&self, range: Range, found: Range) -> bool {
        found.from <= range.from + 3 && found.to + 5 >= range.to || found.from == self.start(range)
    }

    /// Reads the form of address that a short fragment asks for.
    fn address(&mut self, range: Range, is_labeled: bool) -> bool {
        for (list, kind) in [(List::Informal, ConstraintKind::Informal), (List::Formal, ConstraintKind::Formal)] {
            let Some(found) = self.prompt.find(list, range) else { continue };
            let rest = (range.from..range.to)
                .filter(|at| (*at < found.from || *at >= found.to) && !self.is_fill(*at) && self.prompt.kind(*at) == Kind::Word)
                .count();
            let has_note = self.prompt.has(List::NoteAny, range) || self.prompt.is(List::NoteStart, self.start(range));
            if is_labeled || rest <= 2 && range.len() <= 10 || has_note {
                self.constrain(kind, None, found);
                if rest > 0 && self.prompt.has(List::Tone, range) {
                    self.fields.tone.push(self.part(range));
                }
                return true;
            }
        }
        false
    }

    fn is_fill(&self, at: usize) -> bool {
        [List::ToneFill, List::Tone, List::Please, List::And, List::Article].into_iter().any(|list| self.prompt.is(list, at))
    }

    /// Reads the words that the email must not contain.
    fn avoided(&mut self, range: Range) -> bool {
        let prompt = self.prompt;
        let start = self.start(range);
        let Some(found) = prompt.find(List::Avoid, range).filter(|found| found.from <= start + 3) else { return false };
        let end = prompt.end(List::Avoid, found.from).unwrap_or(found.to);
        let is_weak = end == found.from + 1;
        let mut at = end;
        let mut words = Vec::new();
        while at < range.to {
            if let Some(close) = prompt.quote_end(at, range.to + 1) {
                words.push(Range::of(at + 1, close.min(range.to)));
                at = close;
            }
            at += 1;
        }
        if words.is_empty() && !is_weak && found.from <= start {
            let rest = Range::of(prompt.end(List::Article, end).unwrap_or(end), range.to);
            let rest = Range::of(
                rest.from,
                prompt.find(List::NoteAny, rest).or_else(|| prompt.find(List::At, rest)).map_or(rest.to, |stop| stop.from),
            );
            if (1..=3).contains(&rest.len()) {
                words.push(rest);
            }
        }
        for word in &words {
            self.constrain(ConstraintKind::AvoidWord, Some(prompt.text(*word).to_owned()), range);
        }
        !words.is_empty() || !is_weak && found.from <= start
    }

    fn constrain(&mut self, kind: ConstraintKind, value: Option<String>, range: Range) {
        let constraint = Constraint { kind, value, span: Some(self.prompt.span(range)) };
        if !self.fields.constraints.iter().any(|other| other.kind == kind && other.value == constraint.value) {
            self.fields.constraints.push(constraint);
        }
    }

    /// Reads a request for a language: "in German, please".
    fn language(&mut self, range: Range, is_labeled: bool) -> bool {
        let prompt = self.prompt;
        let Some(mark) = prompt.all(List::Language, range).next() else { return false };
        let is_led = prompt.before(List::InLanguage, mark.from).is_some();
        let has_please = prompt.has(List::Please, range)
            || prompt.has(List::Please, Range::of(range.to, (range.to + 2).min(prompt.words.len())));
        let has_email = prompt.has(List::Email, range)
            || prompt.is(List::Write, self.start(range))
            || prompt.is(List::NoteStart, self.start(range));
        let is_first = prompt.is(List::InLanguage, self.start(range)) && mark.from <= self.start(range) + 2;
        let is_short = range.len() <= SHORT_WORDS;
        let asks = is_labeled
            || is_led && is_short && (has_please || has_email || is_first && range.len() <= 4)
            || has_please && range.len() <= 3
            || is_led && is_first && range.from < 4
            || is_led && prompt.is(List::Write, self.start(range)) && prompt.has(List::Email, range);
        if asks {
            self.fields.language = Some(lexicons()[usize::from(mark.language)].language(mark.value).to_owned());
        }
        asks && (is_labeled || !prompt.has(List::About, Range::of(mark.to, range.to)))
    }

    /// Reads "for customers who …".
    fn audience(&mut self, range: Range, start: usize) -> bool {
        let prompt = self.prompt;
        let Some(end) = prompt.end(List::AudienceStart, start) else { return false };
        let near = Range::of(end, (end + 5).min(range.to));
        let Some(readers) = prompt.find(List::Readers, near) else { return false };
        let is_strong = end > start + 1;
        let has_contact = (range.from..range.to).any(|at| matches!(prompt.kind(at), Kind::Mail | Kind::Link));
        if has_contact
            || !is_strong
                && (range.len() > 12
                    || prompt.has(List::Finite, Range::of(end, readers.from))
                    || prompt.fold(range.to) != ":" && prompt.is(List::And, range.to))
        {
            return false;
        }
        self.fields
            .audience
            .get_or_insert(Part { text: prompt.text(Range::of(end, range.to)).to_owned(), span: Some(prompt.span(range)) });
        true
    }

    /// Reads a note that consists of words about the tone.
    fn tone(&mut self, range: Range) -> bool {
        let words = (range.from..range.to).filter(|at| self.prompt.kind(*at) == Kind::Word);
        let mut covered = range.from;
        for at in words {
            if at < covered {
                continue;
            }
            let end = [List::Tone, List::ToneFill, List::Please, List::And]
                .into_iter()
                .filter_map(|list| self.prompt.end(list, at))
                .max();
            match end {
                Some(end) => covered = end,
                None => return false,
            }
        }
        let is_tone = self.prompt.has(List::Tone, range)
            && range.len() <= 12
            && (range.from..range.to).all(|at| self.prompt.kind(at) != Kind::Number);
        if is_tone {
            self.fields.tone.push(self.part(range));
        }
        is_tone
    }

    /// Returns whether a fragment is a note to the writer.
    fn is_note(&mut self, range: Range, start: usize) -> bool {
        let prompt = self.prompt;
        let has_contact = (range.from..range.to).any(|at| matches!(prompt.kind(at), Kind::Mail | Kind::Link));
        let is_whole =
            prompt.at(List::NoteWhole, range.from).chain(prompt.at(List::NoteWhole, start)).any(|mark| mark.to >= range.to);
        let is_start = (prompt.is(List::NoteStart, start) || prompt.is(List::NoteStart, range.from)) && !has_contact;
        let is_note = is_whole || is_start || prompt.has(List::NoteAny, range);
        if is_note && prompt.has(List::Tone, range) {
            self.fields.tone.push(self.part(range));
        }
        is_note
    }

    /// Recognizes a request to write about something. Returns the content in it, which is empty if the request has none.
    fn request(&mut self, fragment: Range, start: usize, sentence: &Sentence, is_start: bool) -> Option<Range> {
        let prompt = self.prompt;
        let to = fragment.to;
        let none = Range::of(to, to);
        if let Some(end) = self.email_request(fragment, start, sentence, is_start) {
            return Some(Range::of(end, to));
        }
        if let Some(end) = prompt.end(List::Report, start) {
            let end = prompt.end(List::Readers, end).unwrap_or(end);
            if let Some(that) = prompt.end(List::That, end) {
                return Some(Range::of(that, to));
            }
            if prompt.fold(end) == ":" || end >= to {
                return Some(none);
            }
            if prompt.fold(end) == "," {
                return prompt.end(List::That, end + 1).map(|that| Range::of(that, to.max(that))).or(Some(none));
            }
            let is_name = prompt.words.is_capital(end) && prompt.fold(end - 1) == "tell";
            if prompt.is(List::Question, end) && sentence.item.is_none() {
                return Some(none);
            }
            let is_item = sentence.item.is_some() && end == start + 1;
            return (!is_name && !is_item && (is_start || end > start + 1)).then(|| Range::of(end, to));
        }
        if prompt.is(List::Ask, start) && (is_start || prompt.end(List::Ask, start).is_some_and(|end| end > start + 1)) {
            return Some(none);
        }
        let end = self.inner(fragment).to;
        if let Some(at) = (start..end).find(|at| prompt.at(List::ReportEnd, *at).any(|mark| mark.to == end)) {
            // "bitte auf die Öffnungszeiten hinweisen": the verb ends the request, and its object is the topic.
            let _ = at;
            return Some(none);
        }
        None
    }

    /// Recognizes "Write an email about …" and "Welcome email for …". Returns the end of the request.
    fn email_request(&mut self, fragment: Range, start: usize, sentence: &Sentence, is_start: bool) -> Option<usize> {
        let prompt = self.prompt;
        let writes = prompt.end(List::Write, start);
        let near = Range::of(writes.unwrap_or(start), (start + if writes.is_some() { 10 } else { 6 }).min(fragment.to));
        let email = prompt.find(List::Email, near)?;
        let is_title = is_start
            && sentence.is_line_start
            && !prompt.has(List::Finite, Range::of(start, email.from))
            && sentence.item.is_none();
        let has_contact = (fragment.from..fragment.to).any(|at| matches!(prompt.kind(at), Kind::Mail));
        if has_contact || writes.is_none() && !is_title {
            return None;
        }
        let mut at = email.to;
        if let Some(that) =
            prompt.find(List::That, Range::of(at, fragment.to)).filter(|that| !prompt.has(List::Finite, Range::of(at, that.from)))
        {
            return Some(that.to);
        }
        while at < fragment.to {
            if let Some(end) = prompt.end(List::About, at) {
                return Some(end);
            }
            if prompt.is(List::AudienceStart, at) {
                let rest = self.inner(Range::of(at, fragment.to));
                if self.audience(rest, at) {
                    let about = (at + 1..fragment.to)
                        .find_map(|at| prompt.end(List::About, at).filter(|end| *end > at + 1 || prompt.fold(at) == "about"));
                    return Some(about.unwrap_or(fragment.to));
                }
            }
            at += 1;
        }
        Some(fragment.to)
    }
}

fn is_all_capitals(prompt: &Prompt<'_>, at: usize) -> bool {
    prompt.raw(at).chars().count() > 1 && prompt.raw(at).chars().all(char::is_uppercase)
}
