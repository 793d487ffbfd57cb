//! Finds the topic words in requests to the writer, such as "peaceful holiday" in "Wish everyone a peaceful holiday". The parser reads
//! these words neither as wording of the request nor as facts. If the email does not contain them, a warning reports them.

use super::super::{Brief, Goal, Part, Span};
use super::classify::{Class, Fragment};
use super::lexicon::{List, Mark, goal_of};
use super::prompt::{Prompt, Range};
use super::reading::Read;
use super::tokens::Kind;

/// The lists whose phrases make up a request.
const REQUESTS: [List; 44] = [
    List::Write,
    List::About,
    List::Report,
    List::Ask,
    List::ReportEnd,
    List::Tail,
    List::NoteStart,
    List::NoteAny,
    List::NoteWhole,
    List::Tone,
    List::ToneFill,
    List::Greeting,
    List::Closing,
    List::Email,
    List::Emails,
    List::Series,
    List::Readers,
    List::Please,
    List::And,
    List::For,
    List::With,
    List::That,
    List::ToVerb,
    List::Article,
    List::Common,
    List::AudienceStart,
    List::InLanguage,
    List::Language,
    List::Version,
    List::Moment,
    List::Header,
    List::LabelSubject,
    List::LabelBody,
    List::LabelLink,
    List::LabelNote,
    List::LabelIs,
    List::Filler,
    List::Sound,
    List::Question,
    List::Not,
    List::Finite,
    List::At,
    List::Of,
    List::Goal,
];

/// The minimum number of letters in a word that a warning reports. Shorter words are mostly prepositions and pronouns.
const LETTERS_MIN: usize = 5;

/// The minimum number of letters in a single word in lowercase that a warning reports.
const LONE_LETTERS_MIN: usize = 6;

/// The minimum number of letters in a word that a warning reports together with a longer word before it.
const RUN_LETTERS_MIN: usize = 4;

/// The maximum number of words between the start of a topic and the first word to report. If there are more, the reported text starts at
/// that word instead of at the start of the topic.
const TOPIC_WORDS_MAX: usize = 4;

/// Marks words as unclear: the words of request topics that nothing else in the brief contains, and the names in descriptions of the
/// recipients, as in "everyone who ordered The Glass Orchard".
pub fn report(brief: &mut Brief, prompt: &Prompt<'_>, reads: &[Read]) {
    let spans: Vec<Span> = kept(brief).collect();
    let names_subject = SUBJECTS.contains(&brief.purpose);
    let readers: Vec<Span> = brief.audience.iter().filter_map(|part| part.span).collect();
    for read in reads {
        for piece in read.pieces.iter().filter(|piece| matches!(piece.class, Class::Topic | Class::Note)) {
            let forbids = FORBIDS.iter().any(|list| prompt.has(*list, piece.range));
            let is_described = |at: usize| {
                let own = prompt.span(Range::of(at, at + 1));
                readers.iter().any(|span| span.start <= own.start && own.end <= span.end)
            };
            let is_name = |at: usize| {
                let is_start = at == piece.range.from || prompt.kind(at - 1) == Kind::Sign;
                is_described(at) && prompt.words.is_capital(at) && !is_start && prompt.lexicon().code != "de"
            };
            let is_open = |at: usize| {
                is_name(at)
                    || piece.class == Class::Topic && !is_described(at)
                    || names_subject && !forbids && is_unknown(prompt, brief.purpose, at)
            };
            let Some(range) = residue(prompt, read, piece, (spans.as_slice(), brief.purpose), is_open) else { continue };
            let text = prompt.text(range).to_owned();
            brief.unclear.push(Part { text, span: Some(prompt.span(range)) });
        }
    }
}

/// The lists whose phrases forbid something. The words of a prohibition must not be added to the email.
const FORBIDS: [List; 3] = [List::Not, List::Avoid, List::Without];

/// The purposes of emails whose topic can be in the description of the recipients: "the people who bought a coffee table".
const SUBJECTS: [Goal; 7] = [Goal::Cart, Goal::Review, Goal::Survey, Goal::Welcome, Goal::ThankYou, Goal::Apology, Goal::Outage];

/// Returns whether a word is in no word list, so that it probably names the subject of the email: "survey about the friday timetable".
fn is_unknown(prompt: &Prompt<'_>, purpose: Goal, at: usize) -> bool {
    let before = Range::of(at.saturating_sub(PHRASE_WORDS_MAX), (at + PHRASE_WORDS_MAX).min(prompt.words.len()));
    let is_known = |mark: Mark| {
        mark.from <= at
            && at < mark.to
            && !matches!(mark.list, List::Spelling | List::PastVerb)
            && !is_topic(prompt, mark, purpose)
    };
    prompt.kind(at) == Kind::Word && !prompt.marks(before).any(is_known)
}

/// Returns whether a phrase that names a purpose also names a topic: "survey about the new opening hours", "ask for a Google review".
fn is_topic(prompt: &Prompt<'_>, mark: Mark, purpose: Goal) -> bool {
    let is_compound = mark.to > mark.from + 1 || prompt.raw(mark.from).contains('-');
    let names = |goal: Goal| purpose == goal && mark.list == List::Goal;
    names(Goal::Survey) && goal_of(mark) != purpose || names(Goal::Review) && goal_of(mark) == purpose && is_compound
}

/// The maximum number of words in a phrase in the word lists.
const PHRASE_WORDS_MAX: usize = 8;

/// Adds to the brief the words of the prompt that no part of the brief contains. Text of up to three words, such as a label or a list
/// number, becomes an instruction, and longer text becomes unclear text.
pub fn leftovers(brief: &mut Brief, prompt: &Prompt<'_>) {
    let mut covered = vec![false; prompt.span(Range::of(0, prompt.words.len())).end as usize];
    for (span, _) in super::spans(brief) {
        covered[span.start as usize..span.end as usize].fill(true);
    }
    let whole = |at: usize| {
        let own = prompt.span(Range::of(at, at + 1));
        covered[own.start as usize..own.end as usize].iter().all(|covered| *covered)
    };
    let inside: Vec<bool> = (0..prompt.words.len()).map(whole).collect();
    let mut at = 0;
    while at < inside.len() {
        let end = (at..inside.len()).find(|at| inside[*at] || prompt.kind(*at) == Kind::End).unwrap_or(inside.len());
        let range = Range::of(at, end);
        let words =
            (at..end).filter(|at| matches!(prompt.kind(*at), Kind::Word | Kind::Number | Kind::Link | Kind::Mail)).count();
        let part = || Part { text: prompt.text(range).trim().to_owned(), span: Some(prompt.span(range)) };
        match words {
            0 => {}
            1..=3 => brief.instructions.push(part()),
            _ => brief.unclear.push(part()),
        }
        at = end + 1;
    }
}

/// Returns the spans of the text that the email contains or that a warning already reports.
fn kept(brief: &Brief) -> impl Iterator<Item = Span> + '_ {
    let parts = brief.unclear.iter().chain(&brief.tone).filter_map(|part| part.span);
    let facts = brief.facts.iter().filter_map(|fact| fact.span);
    let event = brief.event.iter().filter_map(|event| event.name.span);
    let scope = brief.offer.iter().filter_map(|offer| offer.scope.as_ref()?.span);
    let limits = brief.constraints.iter().filter_map(|constraint| constraint.span);
    let signature = brief.signature.iter().filter_map(|signature| signature.span);
    parts.chain(facts).chain(event).chain(scope).chain(limits).chain(signature)
}

/// Returns the range from the first to the last word in a piece that belongs neither to the request nor to a fact.
fn residue(
    prompt: &Prompt<'_>,
    read: &Read,
    piece: &Fragment,
    (spans, purpose): (&[Span], Goal),
    is_open: impl Fn(usize) -> bool,
) -> Option<Range> {
    let Range { from, to } = piece.range;
    let mut is_open: Vec<bool> = (from..to).map(is_open).collect();
    let mut close = |range: Range| {
        for at in range.from.max(from)..range.to.min(to) {
            is_open[at - from] = false;
        }
    };
    for at in from..to {
        for list in REQUESTS {
            let marks = prompt.at(list, at).filter(|mark| !is_topic(prompt, *mark, purpose));
            marks.for_each(|mark| close(Range::of(mark.from, mark.to)));
        }
        let own = prompt.span(Range::of(at, at + 1));
        if spans.iter().any(|span| span.start <= own.start && own.end <= span.end) {
            close(Range::of(at, at + 1));
        }
    }
    read.found.iter().for_each(|found| close(found.range));
    let is_said = |at: &usize| {
        let is_word = prompt.kind(*at) == Kind::Word && prompt.raw(*at).chars().count() >= LETTERS_MIN;
        is_open[at - from] && (is_word || matches!(prompt.kind(*at), Kind::Number | Kind::Link | Kind::Mail))
    };
    let first = (from..to).find(is_said)?;
    let last = (first..to).rev().find(is_said)?;
    // A single short word is usually an adjective of the request: "a decent invitation".
    let is_short = prompt.kind(first) == Kind::Word
        && !prompt.words.is_capital(first)
        && prompt.raw(first).chars().count() < LONE_LETTERS_MIN;
    // The whole topic is clearer than a part of it: "the timetable of the Friday classes".
    let topic = (from..first).rev().find_map(|at| prompt.end(List::About, at)).filter(|topic| *topic <= first);
    let start = topic.filter(|topic| first - topic <= TOPIC_WORDS_MAX).unwrap_or(first);
    let is_open_word =
        |at: &usize| is_open[at - from] && prompt.kind(*at) == Kind::Word && prompt.raw(*at).chars().count() >= RUN_LETTERS_MIN;
    let end = (last + 1..to).rev().find(is_open_word).unwrap_or(last);
    (end > first || !is_short).then_some(Range::of(start, end + 1))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use crate::features::emails::brief::parse::parse;
    use crate::features::projects::brand::Brand;

    #[test]
    fn words_that_a_request_leaves_over_are_unclear() {
        for (prompt, left) in [
            ("We are closed until 4 January. Wish everyone a peaceful holiday.", "peaceful holiday"),
            ("Apologise to everyone who preordered The Glass Orchard: the books arrive on 3 December.", "Glass Orchard"),
            ("Ask our customers for a Google review. It takes 2 minutes.", "Google"),
        ] {
            let brief = parse(prompt, &Brand::default(), None, date(2026, 11, 16));
            assert!(brief.unclear.iter().any(|part| part.text == left), "{prompt}: {:?}", brief.unclear);
        }
        let brief =
            parse("Write an email to our customers about the new opening hours.", &Brand::default(), None, date(2026, 11, 16));
        assert!(brief.unclear.is_empty(), "{:?}", brief.unclear);
    }

    #[test]
    fn the_topic_of_a_survey_is_reported_even_if_it_names_a_purpose() {
        let prompt = "Encuesta para los socios sobre el nuevo horario de tarde: siete preguntas, tres minutos, en \
                      https://gimnasio-toral.example/encuesta. Se cierra el domingo 26 de septiembre.";
        let brief = parse(prompt, &Brand::default(), None, date(2027, 9, 13));
        let texts = brief.unclear.iter().chain(brief.subject.iter()).map(|part| &part.text);
        let texts: Vec<&String> = texts.chain(brief.facts.iter().map(|fact| &fact.text)).collect();
        assert!(texts.iter().any(|text| text.contains("horario")), "{brief:?}");
    }
}
