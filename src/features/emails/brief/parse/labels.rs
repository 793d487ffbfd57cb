//! Reads the labeled parts of a prompt, such as the subject, the preheader, the headline, the button and the signature.

use super::super::{CallToAction, ConstraintKind, Signature};
use super::classify::{Class, Classifier, Fragment};
use super::clauses::Sentence;
use super::facts::has_value;
use super::lexicon::List;
use super::note_model;
use super::prompt::{Prompt, Range};
use super::tokens::Kind;
use crate::base::text::capitalized;

/// The labels for a subject that need no punctuation after them. Other labels, such as "title", can also start a statement.
const SUBJECTS: [&str; 7] = ["subject", "subj", "betreff", "objet", "asunto", "oggetto", "onderwerp"];

impl Classifier<'_> {
    /// Reads the labeled part that starts at a fragment, such as the subject or the signature. Returns the number of fragments that it
    /// contains, and the part with its class.
    pub(super) fn field(&mut self, sentence: &Sentence, at: usize) -> Option<(usize, Fragment)> {
        let start = self.start(sentence.fragments[at]);
        let rest = Range::of(start, sentence.range.to);
        let (list, value) = self.label(rest, sentence)?;
        let left = sentence.fragments.len() - at;
        let all = Range::of(sentence.fragments[at].from, sentence.range.to);
        let class = match list {
            // The subject of a forwarded email can be a request: "Subject: spanish email pls".
            List::LabelSubject if self.fields.is_forwarded && self.requests_email(value) => Class::Note,
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
                return Some((taken, Fragment { range, class: Class::Field }));
            }
            // A label can state that there is no button: "CTA: none really".
            List::LabelButton if self.prompt.is(List::Not, value.from) && !self.prompt.words.is_capital(value.from) => {
                Class::Note
            }
            List::LabelButton => {
                self.button(value, start);
                Class::Field
            }
            List::LabelSign => {
                return Some(self.signed(sentence, at, value));
            }
            List::LabelAudience => {
                // A statement can follow the recipients: "Target: former pickers, tell them they have priority until 15 July".
                let later = sentence.fragments[at..]
                    .iter()
                    .find(|fragment| fragment.from > value.from && has_value(self.prompt, **fragment));
                if let Some(later) = later {
                    let value = self.prompt.trim(Range::of(value.from, later.from));
                    self.fields.audience = Some(self.part(value));
                    let taken = sentence.fragments[at..].iter().take_while(|fragment| fragment.from < later.from).count().max(1);
                    return Some((taken, Fragment { range: Range::of(all.from, later.from), class: Class::Note }));
                }
                self.fields.audience = Some(self.part(value));
                // A value with a name or a number but no word for recipients does not describe the audience: "Who: Coach Dele".
                let names =
                    (value.from..value.to).any(|at| self.prompt.words.is_capital(at) || self.prompt.kind(at) == Kind::Number);
                if names && !self.prompt.has(List::Readers, value) { Class::Unclear } else { Class::Note }
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
            // "Notes:" can also introduce content: "Notes: black cherry, cocoa, clove".
            List::LabelNote if note_model::states(self.prompt, value) => Class::Unclear,
            List::LabelNote => Class::Note,
            _ => return None,
        };
        Some((left, Fragment { range: all, class }))
    }

    fn requests_email(&self, value: Range) -> bool {
        let asks = |at: usize| self.prompt.is(List::Please, at) || self.prompt.is(List::Language, at);
        self.prompt.has(List::Email, value) && (value.from..value.to).any(asks)
    }

    /// Reads a signature: the name, and the title in the next fragment.
    fn signed(&mut self, sentence: &Sentence, at: usize, value: Range) -> (usize, Fragment) {
        let fragments = &sentence.fragments[at..];
        let first = fragments.iter().position(|fragment| fragment.to > value.from).unwrap_or(0);
        let has_title = |fragment: &&Range| {
            let title = self.inner(**fragment);
            title.len() <= 8
                && !self.prompt.is(List::NoteStart, self.start(**fragment))
                && !self.prompt.is(List::Without, self.start(**fragment))
                && !self.prompt.is(List::Not, self.start(**fragment))
                && !self.is_limit(title)
                && !self.prompt.has(List::Finite, title)
        };
        let title = fragments.get(first + 1).filter(has_title).is_some();
        let taken = first + 1 + usize::from(title);
        let end = fragments[taken - 1].to;
        let all = Range::of(fragments[0].from, end);
        self.signature(Range::of(value.from, end.min(value.to).max(value.from)), all);
        (taken, Fragment { range: all, class: Class::Field })
    }

    /// Returns the label at the start of a range, and its value.
    pub(super) fn label(&self, rest: Range, sentence: &Sentence) -> Option<(List, Range)> {
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
            let is = prompt.end(L::LabelIs, end).or_else(|| prompt.end(L::Please, end)).unwrap_or(end);
            let is = if prompt.fold(end) == "(" {
                prompt.sign(")", Range::of(end, rest.to)).map_or(is, |close| close + 1)
            } else {
                is
            };
            // A label can contain the name of the colleague who has the task: "Action Franz: photo of the kitchen".
            let is_named = list == L::LabelNote
                && matches!(prompt.fold(rest.from), "todo" | "action" | "actie" | "tarea")
                && prompt.words.is_capital(is)
                && prompt.fold(is + 1) == ":";
            let is = if is_named { is + 1 } else { is };
            let is_marked = matches!(prompt.fold(is), ":" | "=" | "→") || prompt.fold(is) == "-" && !prompt.words.is_glued(is);
            let is_quoted = prompt.is_quote(is) || prompt.fold(is) == "," && prompt.is_quote(is + 1);
            let follows = prompt.words.is_capital(is) || prompt.is(L::Article, is);
            let is_bare = match list {
                // A line can consist of the label and the subject: "betreff Unser Sommerfest".
                L::LabelSubject if SUBJECTS.contains(&prompt.fold(rest.from)) && rest.from == sentence.range.from => {
                    is_quoted || prompt.words.is_capital(is) || sentence.is_line_start && prompt.kind(is) == Kind::Number
                }
                L::LabelSubject | L::LabelPreheader | L::LabelHeadline => is_quoted || is > end && prompt.words.is_capital(is),
                L::LabelButton => {
                    is_quoted || prompt.words.is_capital(is) && prompt.kind(is) == Kind::Word && !is_all_capitals(prompt, is)
                }
                L::LabelSign if is_quoted || end > rest.from + 1 && rest.len() <= 8 && prompt.kind(end) == Kind::Word => true,
                L::LabelSign if self.signs_plainly(Range::of(is, rest.to), rest.from, sentence) => true,
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
            // In the first sentence of a longer prompt, "firma" without a colon is a book signing, not a signature: "Firma de Nuria
            // Casaldueño, viernes 27".
            let is_event = prompt.fold(rest.from) == "firma" && !is_marked && self.seen == 1 && self.count > 2;
            if (is_marked || is_bare) && !is_event {
                let value = prompt.trim(Range::of(if is_marked { is + 1 } else { is }, rest.to));
                return (!value.is_empty()).then_some((list, value));
            }
        }
        None
    }

    /// Shortens the value of a label so that it ends before the next fragment with a label or a limit.
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
            matches!(prompt.fold(*at), "→" | "(" | "," | "]")
                || prompt.fold(*at) == "-" && (prompt.fold(at + 1) == ">" || !prompt.words.is_glued(at + 1))
                || prompt.kind(*at) == Kind::Link
        });
        let mut label = match quote {
            Some((open, close)) => Range::of(open + 1, close),
            None => prompt.trim(Range::of(value.from, stop.unwrap_or(value.to))),
        };
        // The words between the label and the address of a button are not part of the label: "button Order flowers linking to
        // https://…".
        let is_linked = quote.is_none() && stop.is_some_and(|stop| prompt.kind(stop) == Kind::Link);
        while is_linked && label.len() > 1 && LINKS.contains(&prompt.fold(label.to - 1)) {
            label.to -= 1;
        }
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

    pub(super) fn signature(&mut self, value: Range, all: Range) {
        let prompt = self.prompt;
        let mut value = self.unquoted(prompt.trim(value));
        // Thanks after the name are not part of the signature: "sign it from Karen thx".
        while let Some(thanks) = prompt.before(List::Thanks, value.to).filter(|thanks| *thanks > value.from) {
            value = prompt.trim(Range::of(value.from, thanks));
        }
        let comma = prompt.sign(",", value).or_else(|| prompt.sign("(", value));
        let cut = (value.from + 1..value.to).find(|at| {
            matches!(prompt.fold(*at), "aus" | "vom" | "della" | "on" | "from" | "at") && prompt.kind(at - 1) == Kind::Word
        });
        let (mut name, mut title) = match comma.or(cut) {
            Some(at) if Some(at) == comma => (Range::of(value.from, at), Range::of(at + 1, value.to)),
            Some(at) if matches!(prompt.fold(at), "on" | "from" | "at") => {
                (Range::of(value.from, at), Range::of(at + 1, value.to))
            }
            Some(at) => (Range::of(value.from, at), Range::of(at, value.to)),
            // The title can follow the name directly: "priya cto".
            None if value.len() > 1 && SHORT_TITLES.contains(&prompt.fold(value.to - 1)) => {
                (Range::of(value.from, value.to - 1), Range::of(value.to - 1, value.to))
            }
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
        let is_plain = self.is_plain_name(name);
        let (mut name, mut title) = (text(name), text(title));
        if SHORT_TITLES.contains(&title.as_str()) {
            title = title.to_uppercase();
        }
        if is_plain {
            name = name.split(' ').map(capitalized).collect::<Vec<_>>().join(" ");
        }
        if !name.is_empty() {
            self.fields.signature =
                Some(Signature { name, title: Some(title).filter(|title| !title.is_empty()), span: Some(prompt.span(all)) });
        }
    }

    /// Returns a range without the quotation marks around it, or without its final period.
    pub(super) fn unquoted(&self, range: Range) -> Range {
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
}

/// The titles that are written in capitals.
const SHORT_TITLES: [&str; 5] = ["ceo", "cto", "coo", "cfo", "md"];

/// The words between the label of a button and its address.
const LINKS: [&str; 24] = [
    "linking", "links", "link", "to", "at", "goes", "going", "pointing", "opens", "with", "url", "zu", "zur", "auf", "nach",
    "mit", "vers", "avec", "lien", "a", "al", "con", "naar", "met",
];

fn is_all_capitals(prompt: &Prompt<'_>, at: usize) -> bool {
    prompt.raw(at).chars().count() > 1 && prompt.raw(at).chars().all(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use crate::features::emails::brief::parse::parse;
    use crate::features::projects::brand::Brand;

    #[test]
    fn a_subject_needs_no_sign_after_its_label() {
        for (prompt, subject) in [
            (
                "Betreff 11.11. gehts los\nwann: do 11.11 um 11 uhr 11 marktplatz\nwas: maskenabstauben + neue hästräger vorstellen, \
                 danach gulaschsuppe 5€ im zunftheim\nkinder bitte mit verkleidung",
                "11.11. gehts los",
            ),
            (
                "oye haz un mail corto: revisión completa 45 en vez de 60 hasta final de mes, recogida a domicilio gratis en el \
                 barrio. solo socios (num de socio al pedir). asunto Tu bici a punto. firma Rubén",
                "Tu bici a punto",
            ),
        ] {
            let brief = parse(prompt, &Brand::default(), None, date(2027, 10, 11));
            assert_eq!(brief.subject.map(|part| part.text).as_deref(), Some(subject), "{prompt}");
        }
    }
}
