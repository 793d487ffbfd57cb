//! Puts the brief together from the classified fragments of a prompt.

use jiff::civil::Date;

use super::super::{Brief, ConstraintKind, Fact, FactKind, FactRole, FactValue, Goal, Part};
use super::classify::{Class, Classifier, Fields, Piece};
use super::clauses;
use super::contradictions;
use super::dates;
use super::facts::{self, Bound, Found};
use super::lexicon::List;
use super::names::{self, Products};
use super::parts;
use super::prompt::{Prompt, Range};
use super::reading::{Read, label_end};
use super::roles::{self, Around};
use super::statement::{self, Form};
use super::talk;
use super::times;
use super::tokens::{Kind, fold};
use crate::base::locale::LanguageTag;
use crate::features::projects::brand::Brand;

/// The maximum number of corrections that are read: a prompt has one or two.
const CORRECTIONS_MAX: usize = 20;

pub fn brief(text: &str, brand: &Brand, language: Option<&LanguageTag>, today: Date) -> Brief {
    let prompt = Prompt::read(text, brand);
    let sentences = clauses::sentences(&prompt);
    let fields = Fields { is_forwarded: is_forwarded(&prompt), ..Fields::default() };
    let mut classifier = Classifier {
        prompt: &prompt,
        fields,
        asks: false,
        carries: false,
        rules: false,
        attacked: false,
        closes: false,
        situates: false,
        reports: false,
        seen: 0,
        count: sentences.len(),
    };
    let products = Products::of(brand);
    let is_shouted = is_shouted(text);
    let mut reads: Vec<Read> = Vec::new();
    for sentence in sentences {
        let pieces = classifier.sentence(&sentence);
        reads.push(Read { sentence, pieces, found: Vec::new() });
    }
    let fields = classifier.fields;
    introductions(&prompt, &mut reads);
    talk::withdraw(&prompt, &mut reads);
    for read in &mut reads {
        leave_out(&prompt, &fields, &mut read.pieces);
        for piece in joined(&read.pieces) {
            scan(&prompt, piece.range, piece.class, &products, today, is_shouted, &mut read.found);
        }
        dates::follow(&prompt, &mut read.found);
    }
    contradictions::mark(&prompt, &mut reads);
    let has_list = reads.iter().any(|read| read.sentence.item == Some(1));
    let goal = if has_list && roles::is_digest(&prompt) { Some(Goal::Digest) } else { roles::goal(&prompt) };
    let mut cut = corrections(&prompt, &mut reads);
    let corrected = cut.len();
    cut.extend(prompt.all(List::Filler, Range::of(0, prompt.words.len())).map(|mark| Range::of(mark.from, mark.to)));
    let mut brief = Brief {
        purpose: goal.unwrap_or(Goal::Announcement),
        audience: fields.audience,
        language: tag(&prompt, fields.language.as_deref(), language),
        subject: fields.subject,
        preheader: fields.preheader,
        headline: fields.headline,
        facts: Vec::new(),
        stories: Vec::new(),
        offer: None,
        event: None,
        cta: fields.cta,
        signature: fields.signature,
        tone: fields.tone,
        constraints: fields.constraints,
        instructions: Vec::new(),
        unclear: Vec::new(),
    };
    if is_gibberish(&prompt) {
        brief.unclear.push(Part { text: text.trim().to_owned(), span: Some(prompt.span(Range::of(0, prompt.words.len()))) });
        brief.purpose = Goal::Unclear;
        return brief;
    }
    let mut gaps = cut.clone();
    gaps.sort_by_key(|gap| gap.from);
    for read in &reads {
        add(&mut brief, &prompt, read, &gaps);
    }
    let subject = brief.subject.as_ref().and_then(|part| part.span);
    if subject.is_some_and(|span| {
        cut[..corrected].iter().any(|gap| prompt.span(*gap).start <= span.end && prompt.span(*gap).end > span.start)
    }) {
        brief.subject = None;
    }
    parts::finish(&mut brief, &prompt, &reads, goal);
    leftovers(&mut brief, &prompt);
    brief
}

/// Returns the language of the brief.
fn tag(prompt: &Prompt<'_>, asked: Option<&str>, given: Option<&LanguageTag>) -> LanguageTag {
    let own = LanguageTag::parse(asked.unwrap_or(prompt.lexicon().code)).or_else(|_| LanguageTag::parse("en"));
    given.copied().unwrap_or_else(|| own.expect("the codes of the word lists are language tags"))
}

/// Returns whether the prompt is written in capitals.
fn is_shouted(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let upper = letters.clone().filter(|c| c.is_uppercase()).count();
    upper * 10 > letters.count() * 6
}

/// Returns whether the prompt quotes a mail.
fn is_forwarded(prompt: &Prompt<'_>) -> bool {
    (0..prompt.words.len()).any(|at| prompt.fold(at) == ">" && (at == 0 || prompt.kind(at - 1) == Kind::End))
}

/// Returns whether the prompt is random letters or words: few words, none of them common or with a meaning for an email, words without
/// vowels, or rows of the same letter.
fn is_gibberish(prompt: &Prompt<'_>) -> bool {
    let words: Vec<usize> = (0..prompt.words.len()).filter(|at| prompt.kind(*at) == Kind::Word).collect();
    let latin = |at: &&usize| prompt.fold(**at).chars().all(|c| c.is_ascii_alphabetic()) && prompt.fold(**at).len() >= 3;
    let has_no_vowel =
        |at: &&usize| !prompt.fold(**at).contains(['a', 'e', 'i', 'o', 'u', 'y']) && !prompt.words.is_capital(**at);
    let odd = words.iter().filter(latin).filter(has_no_vowel).count();
    let known = words.iter().filter(|at| prompt.is(List::Common, **at)).count();
    let has_run = |at: &&usize| {
        let letters: Vec<char> = prompt.fold(**at).chars().collect();
        letters.windows(4).any(|row| row.iter().all(|letter| *letter == row[0]))
    };
    let meanings =
        [List::Goal, List::Finite, List::Readers, List::Email, List::Percent, List::Currency, List::Month, List::Weekday];
    let means = meanings.iter().any(|list| prompt.mentions(*list));
    words.len() <= 12
        && (odd >= 2 && known == 0 || words.iter().any(|at| has_run(&at)) || known == 0 && !means && words.len() >= 4)
}

/// Turns the words before a list that only announce it into a note: "three stories:".
fn introductions(prompt: &Prompt<'_>, reads: &mut [Read]) {
    for at in 1..reads.len() {
        let starts =
            reads[at].sentence.item == Some(0) && reads[at - 1].sentence.item.is_none() && reads[at].sentence.is_line_start;
        let last = reads[at - 1].sentence.range.to - 1;
        if let Some(piece) =
            reads[at - 1].pieces.last_mut().filter(|piece| starts && prompt.fold(last) == ":" && piece.range.len() <= 7)
        {
            piece.class = if piece.class == Class::Content { Class::Topic } else { piece.class };
        }
    }
}

/// Turns content with a word that the email must not contain into a note.
fn leave_out(prompt: &Prompt<'_>, fields: &Fields, pieces: &mut [Piece]) {
    let words = fields.constraints.iter().filter(|constraint| constraint.kind == ConstraintKind::AvoidWord);
    let avoided: Vec<String> =
        words.filter_map(|constraint| constraint.value.as_deref().map(fold)).filter(|word| word.len() > 2).collect();
    for piece in pieces.iter_mut().filter(|piece| piece.class == Class::Content) {
        let text = fold(prompt.text(piece.range));
        if avoided.iter().any(|word| text.contains(word.as_str())) {
            piece.class = Class::Note;
        }
    }
}

/// Joins adjoining pieces of the same class: a fact may contain the comma between them.
fn joined(pieces: &[Piece]) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::new();
    for piece in pieces {
        match joined.last_mut().filter(|last| last.class == piece.class && last.range.to == piece.range.from) {
            Some(last) => last.range.to = piece.range.to,
            None => joined.push(*piece),
        }
    }
    joined
}

/// Reads the typed facts in a range, each word once. Unclear text has none, notes only name products, and other fields only contain links.
fn scan(
    prompt: &Prompt<'_>,
    range: Range,
    class: Class,
    products: &Products,
    today: Date,
    is_shouted: bool,
    found: &mut Vec<Found>,
) {
    let mut at = if class == Class::Unclear { range.to } else { range.from };
    while class == Class::Field && at < range.to {
        found.extend(names::link(prompt, at));
        at += 1;
    }
    while class == Class::Note && at < range.to {
        let product = products.find(prompt, at).filter(|product| product.range.len() > 1);
        at = product.as_ref().map_or(at + 1, |product| product.range.to);
        found.extend(product);
    }
    while at < range.to {
        let next = names::link(prompt, at)
            .or_else(|| names::contact(prompt, at))
            .or_else(|| facts::code(prompt, at, is_shouted))
            .or_else(|| products.find(prompt, at))
            .or_else(|| facts::percentage(prompt, at))
            .or_else(|| facts::money(prompt, at))
            .or_else(|| facts::bare_price(prompt, at))
            .or_else(|| times::time(prompt, at).filter(|time| !is_date_too(prompt, at, time, today)))
            .or_else(|| dates::date(prompt, at, today))
            .or_else(|| facts::duration(prompt, at))
            .or_else(|| facts::capacity(prompt, at))
            .or_else(|| names::person(prompt, at, is_shouted))
            .or_else(|| names::place(prompt, at));
        match next.filter(|next| next.range.to <= range.to && !next.range.is_empty()) {
            Some(next) => {
                at = next.range.to.max(at + 1);
                found.push(next);
            }
            None => at += 1,
        }
    }
}

/// Returns whether the words of a time without a mark are better read as a date: "24.12.".
fn is_date_too(prompt: &Prompt<'_>, at: usize, time: &Found, today: Date) -> bool {
    dates::date(prompt, at, today).is_some_and(|date| {
        date.range.to > time.range.to || date.range.to == time.range.to && prompt.has(List::Month, date.range)
    })
}

/// Finds values that the prompt takes back ("20%, sorry, 25%") and returns the ranges to leave out.
fn corrections(prompt: &Prompt<'_>, reads: &mut [Read]) -> Vec<Range> {
    let mut cut = Vec::new();
    let mut all: Vec<Found> = reads.iter().flat_map(|read| read.found.clone()).collect();
    let fields = reads.iter().flat_map(|read| &read.pieces).filter(|piece| piece.class == Class::Field);
    for piece in fields {
        all.extend(
            (piece.range.from..piece.range.to)
                .filter_map(|at| facts::percentage(prompt, at).or_else(|| facts::money(prompt, at))),
        );
    }
    all.sort_by_key(|found| found.range.from);
    for mark in prompt.all(List::Correction, Range::of(0, prompt.words.len())).take(CORRECTIONS_MAX) {
        // "nicht 8 sondern 12 %": the phrase contains the wrong value.
        if (mark.from..mark.to).any(|at| prompt.kind(at) == Kind::Number) {
            cut.push(Range::of(mark.from, mark.to));
            continue;
        }
        let cuts = cut.len();
        for (index, wrong) in all.iter().enumerate().rev() {
            // "1.290 € statt 1.190 €. No, 1.250 €!" corrects the new price.
            let is_old = |found: &Found| found.kind == FactKind::Price && prompt.before(List::Old, found.range.from).is_some();
            let has_new = index > 0 && all[index - 1].kind == wrong.kind && wrong.range.from - all[index - 1].range.to <= 2;
            if is_old(wrong) && has_new {
                continue;
            }
            let near = wrong.range.to <= mark.from && mark.from - wrong.range.to <= 6;
            let is_near = |right: &&Found| {
                let is_day = matches!(right.kind, FactKind::Date | FactKind::Period | FactKind::Time);
                !is_day || (mark.to + 1..right.range.from).all(|at| !ends_sentence(prompt, at))
            };
            let right = all[index + 1..]
                .iter()
                .find(|right| right.range.from >= mark.to && right.kind == wrong.kind && right.range.from - mark.to <= 14);
            // "No" also denies ("no booking"): it only corrects the value right before it by the one right after it.
            let denies = mark.to == mark.from + 1 && prompt.is(List::Not, mark.from);
            let touches = |right: &&Found| {
                let signs = |from: usize, to: usize| (from..to).all(|at| prompt.kind(at) == Kind::Sign);
                signs(wrong.range.to, mark.from) && signs(mark.to, right.range.from)
            };
            if let Some(right) = right.filter(|_| near).filter(is_near).filter(|right| !denies || touches(right)) {
                cut.push(Range::of(wrong.range.from, right.range.from));
                break;
            }
        }
        let own = Range::of(mark.from, mark.to);
        if cut.len() == cuts {
            let value = replaced(prompt, &all, own).or_else(|| retraction(prompt, &all, own).filter(|_| own.len() > 1));
            cut.extend(value.or_else(|| taken_back(prompt, reads, &all, own).filter(|_| own.len() > 1)));
        }
    }
    cut.dedup();
    for read in reads {
        let is_old = |found: &Found| found.kind == FactKind::Price && prompt.before(List::Old, found.range.from).is_some();
        read.found.retain(|found| is_old(found) || !cut.iter().any(|gap| gap.overlaps(found.range)));
    }
    cut
}

fn ends_sentence(prompt: &Prompt<'_>, at: usize) -> bool {
    prompt.kind(at) == Kind::End || matches!(prompt.fold(at), "." | "!" | "?") && !prompt.words.is_glued(at + 1)
}

/// Returns the value that a bare number replaces: "900 bottles, no 600".
fn replaced(prompt: &Prompt<'_>, all: &[Found], mark: Range) -> Option<Range> {
    let last = (0..mark.from).rev().find(|at| prompt.kind(*at) != Kind::Sign)?;
    let wrong = all.iter().find(|found| found.range.to == last + 1 && prompt.kind(found.range.from) == Kind::Number)?;
    let is_apart = prompt.kind(mark.to + 1) != Kind::Word && all.iter().all(|found| found.range.from != mark.to);
    (prompt.kind(mark.to) == Kind::Number && is_apart).then(|| Range::of(wrong.range.from, mark.to))
}

/// Returns what a phrase such as "no wait" takes back if the values around it have different kinds: a bare number before a value
/// ("20, no wait, 25%"), or a value that nothing replaces ("code TEN, no wait, that is last year's").
fn retraction(prompt: &Prompt<'_>, all: &[Found], mark: Range) -> Option<Range> {
    let is_sign = |at: usize| prompt.kind(at) == Kind::Sign;
    let last = (0..mark.from).rev().find(|at| !is_sign(*at))?;
    // "No wait, make that": the phrases follow each other.
    let mut to = mark.to;
    while let Some(next) = prompt.end(List::Correction, to + usize::from(prompt.fold(to) == ",")) {
        to = next;
    }
    let right = (to..prompt.words.len()).find(|at| !is_sign(*at)).filter(|right| {
        prompt.kind(*right) == Kind::Number || all.iter().any(|found| found.range.from <= *right && *right < found.range.to)
    });
    if let Some(right) = right {
        // The number before the phrase, or a row such as "25th to 28th".
        let number = |at: usize| {
            let at = if prompt.is(List::Ordinal, at) { at.checked_sub(1)? } else { at };
            (prompt.kind(at) == Kind::Number).then_some(at)
        };
        let mut start = number(last)?;
        while let Some(before) = start.checked_sub(2).filter(|_| prompt.is(List::To, start - 1)).and_then(number) {
            start = before;
        }
        return Some(Range::of(start, right));
    }
    let wrong = all.iter().find(|found| found.range.to == last + 1)?;
    let end = (mark.to..prompt.words.len())
        .find(|at| prompt.kind(*at) == Kind::End || matches!(prompt.fold(*at), "," | "." | "!" | "?" | ";"));
    Some(Range::of(wrong.range.from, end.unwrap_or(prompt.words.len())))
}

/// The maximum number of words of a clause that a correction takes back.
const TAKEN_BACK_WORDS_MAX: usize = 6;

/// Returns what a correction without values takes back: "a fault of the bank - no, rubbish, our fault".
fn taken_back(prompt: &Prompt<'_>, reads: &[Read], all: &[Found], mark: Range) -> Option<Range> {
    let is_content = |piece: &Piece| piece.class == Class::Content;
    let at = reads.iter().position(|read| read.sentence.range.contains(mark))?;
    let read = &reads[at];
    read.pieces.iter().find(|piece| is_content(piece) && piece.range.contains(mark))?;
    let before = read.sentence.fragments.iter().rev().find(|fragment| fragment.to <= mark.from);
    let before = before.or_else(|| reads[..at].last().and_then(|read| read.sentence.fragments.last()))?;
    let is_near = mark.from - before.to <= 1 && prompt.line_start(before.from) == prompt.line_start(mark.from);
    let is_soft = |kind: FactKind| matches!(kind, FactKind::Person | FactKind::Period | FactKind::Date | FactKind::Capacity);
    let is_fact = all.iter().any(|found| found.range.overlaps(*before) && !is_soft(found.kind));
    let takes = is_near && !is_fact && before.len() <= TAKEN_BACK_WORDS_MAX + 2;
    Some(if takes { Range::of(before.from, mark.to) } else { mark })
}

/// Adds the parts of a sentence to the brief.
fn add(brief: &mut Brief, prompt: &Prompt<'_>, read: &Read, cut: &[Range]) {
    let whole = read.sentence.range;
    let mut run: Option<(Range, Form)> = None;
    for (index, piece) in read.pieces.iter().enumerate() {
        if piece.class == Class::Content {
            let is_clause = index > 0
                && read.pieces[index - 1].class == Class::Topic
                && piece.range.from > 0
                && prompt.before(List::That, piece.range.from).is_some();
            let form = if is_clause { Form::Clause } else { Form::Sentence };
            run = Some(run.map_or((piece.range, form), |(range, form)| (Range::of(range.from, piece.range.to), form)));
            continue;
        }
        if let Some((range, form)) = run.take() {
            statement(brief, prompt, read, range, form, cut);
        }
        match piece.class {
            Class::Note | Class::Topic => note(brief, prompt, piece.range),
            Class::Unclear => brief.unclear.push(part(prompt, piece.range)),
            Class::Field | Class::Content => {}
        }
        typed(brief, prompt, read, piece.range, whole);
    }
    if let Some((range, form)) = run {
        statement(brief, prompt, read, range, form, cut);
    }
}

fn part(prompt: &Prompt<'_>, range: Range) -> Part {
    Part { text: prompt.text(range).trim().to_owned(), span: Some(prompt.span(range)) }
}

fn note(brief: &mut Brief, prompt: &Prompt<'_>, range: Range) {
    if !range.is_empty() {
        brief.instructions.push(part(prompt, range));
    }
}

/// Adds a statement and the facts in it.
fn statement(brief: &mut Brief, prompt: &Prompt<'_>, read: &Read, range: Range, form: Form, cut: &[Range]) {
    let trimmed = prompt.trim(range);
    for gap in cut.iter().filter(|gap| gap.overlaps(trimmed)) {
        note(brief, prompt, Range::of(gap.from.max(trimmed.from), gap.to.min(trimmed.to)));
    }
    if cut.iter().any(|gap| gap.contains(trimmed)) {
        return;
    }
    let rest = Range::of(
        cut.iter()
            .filter(|gap| gap.from <= trimmed.from && gap.to > trimmed.from)
            .map(|gap| gap.to)
            .max()
            .unwrap_or(trimmed.from),
        trimmed.to,
    );
    let label = label_end(prompt, Range::of(lead_end(prompt, rest), rest.to));
    if label > rest.from {
        note(brief, prompt, Range::of(rest.from, label));
    }
    let body = prompt.trim(Range::of(label, rest.to));
    let text = statement::sentence(prompt, body, form, cut);
    if prompt.is_foreign(body, brief.language.primary()) {
        // The email prints its facts, but not its words.
        brief.unclear.push(part(prompt, body));
    } else if text.chars().any(char::is_alphanumeric) && says_more(prompt, read, body) {
        let kind = if prompt.has(List::Condition, body) { FactKind::Condition } else { FactKind::Sentence };
        brief.facts.push(Fact { kind, role: None, text, value: None, story: None, span: Some(prompt.span(body)) });
    } else if !body.is_empty() && !read.found.iter().any(|found| body.overlaps(found.range)) {
        let has_number = (body.from..body.to).any(|at| prompt.kind(at) == Kind::Number);
        if has_number { brief.unclear.push(part(prompt, body)) } else { note(brief, prompt, body) }
    }
    typed(brief, prompt, read, range, read.sentence.range);
}

/// Returns the first word of a statement after words that only lead into it, and after the greeting of the prompt.
fn lead_end(prompt: &Prompt<'_>, range: Range) -> usize {
    let greets = prompt.end(List::Greeting, range.from).filter(|end| range.from == 0 && prompt.is(List::Lead, *end));
    let start = greets.unwrap_or(range.from);
    let end = prompt.end(List::Lead, start).filter(|end| prompt.fold(*end) != ":" || *end > start + 1).unwrap_or(start);
    let end = if prompt.fold(end) == "," { end + 1 } else { end };
    if end < range.to { end } else { range.from }
}

/// Returns whether a statement has words besides its typed facts.
fn says_more(prompt: &Prompt<'_>, read: &Read, range: Range) -> bool {
    let is_typed = |at: usize| {
        read.found.iter().any(|found| found.kind != FactKind::Product && found.range.from <= at && at < found.range.to)
    };
    let fillers =
        [List::Article, List::Code, List::UntilWord, List::FromWord, List::OnWord, List::And, List::At, List::LabelLink];
    let words = (range.from..range.to)
        .filter(|at| prompt.kind(*at) == Kind::Word && !is_typed(*at) && !fillers.iter().any(|list| prompt.is(*list, *at)));
    words.count() >= 1
}

/// Adds the typed facts in a range.
fn typed(brief: &mut Brief, prompt: &Prompt<'_>, read: &Read, range: Range, sentence: Range) {
    for found in read.found.iter().filter(|found| range.contains(found.range)) {
        let fragment = read.sentence.fragments.iter().copied().find(|fragment| fragment.contains(found.range)).unwrap_or(range);
        let around = Around { prompt, goal: brief.purpose, sentence, fragment };
        let kind = money_kind(&around, found);
        let found = Found { kind, ..found.clone() };
        let role = roles::role(&around, &found).or_else(|| time_role(brief, &around, read, &found));
        let text = match kind {
            FactKind::Link | FactKind::Contact | FactKind::Code => prompt.text(found.range).to_owned(),
            _ => statement::written(prompt, found.range),
        };
        if let Some(both) = bounds(prompt, &found, role) {
            brief.facts.extend(both);
            continue;
        }
        let value = found.value.clone();
        brief.facts.push(Fact { kind, role, text, value, story: None, span: Some(prompt.span(found.range)) });
    }
}

/// Returns the start and the end of an offer with two dates: "from 25 November to 9 December".
fn bounds(prompt: &Prompt<'_>, found: &Found, role: Option<FactRole>) -> Option<[Fact; 2]> {
    let Some(FactValue::Days { first, last: Some(last) }) = found.value.clone() else { return None };
    let is_offer = matches!(role, Some(FactRole::OfferStarts | FactRole::OfferEnds))
        && found.bound == Bound::From
        && found.kind == FactKind::Period;
    let to = prompt.find(List::To, Range::of(found.range.from + 2, found.range.to)).filter(|_| is_offer)?;
    let fact = |range: Range, role: FactRole, day: Date| Fact {
        kind: FactKind::Date,
        role: Some(role),
        text: statement::written(prompt, range),
        value: Some(FactValue::Days { first: day, last: None }),
        story: None,
        span: Some(prompt.span(range)),
    };
    let (start, end) = (Range::of(found.range.from, to.from), Range::of(to.from, found.range.to));
    Some([fact(start, FactRole::OfferStarts, first), fact(end, FactRole::OfferEnds, last)])
}

/// Returns the role of the nearest date in the sentence for a time.
fn time_role(brief: &Brief, around: &Around<'_>, read: &Read, found: &Found) -> Option<FactRole> {
    if found.kind != FactKind::Time {
        return None;
    }
    let is_day = |other: &&Found| matches!(other.kind, FactKind::Date | FactKind::Period) && other.value.is_some();
    let near = read.found.iter().filter(is_day).min_by_key(|other| other.range.from.abs_diff(found.range.from));
    let before =
        || brief.facts.iter().rev().find(|fact| matches!(fact.kind, FactKind::Date | FactKind::Period) && fact.role.is_some());
    near.and_then(|near| roles::role(around, near))
        .or_else(|| before().and_then(|fact| fact.role).filter(|role| *role == FactRole::Event))
}

/// Returns what a sum of money is: a price, an old price, a minimum or an amount.
fn money_kind(around: &Around<'_>, found: &Found) -> FactKind {
    let prompt = around.prompt;
    let is_least = prompt.before(List::Minimum, found.range.from).is_some()
        || prompt.before(List::MinimumFrom, found.range.from).is_some()
        || prompt.is(List::MinimumAfter, found.range.to);
    if found.kind == FactKind::Capacity || found.kind == FactKind::Period && found.value.is_none() {
        let is_minimum = is_least
            && !prompt.has(List::Limited, Range::of(found.range.from.saturating_sub(1), found.range.from))
            && prompt.kind(found.range.to) != Kind::Number;
        return if is_minimum && found.bound == Bound::None { FactKind::Minimum } else { found.kind };
    }
    if found.kind != FactKind::Price {
        return found.kind;
    }
    let Range { from, to } = found.range;
    let start = (from.saturating_sub(5).max(around.sentence.from)..from)
        .rev()
        .find(|at| prompt.fold(*at) == ",")
        .map_or(from.saturating_sub(5).max(around.sentence.from), |at| at + 1);
    let end =
        (to..(to + 4).min(around.sentence.to)).find(|at| prompt.fold(*at) == ",").unwrap_or((to + 4).min(around.sentence.to));
    let near = Range::of(start, end);
    if prompt.before(List::Old, from).is_some() || prompt.is(List::OldAfter, to) {
        return FactKind::OldPrice;
    }
    let is_raise =
        matches!(around.goal, Goal::PriceChange | Goal::Sale | Goal::Digest) || prompt.has(List::CuePrice, around.sentence);
    if is_raise
        && prompt.end(List::To, to).is_some_and(|next| prompt.kind(next) == Kind::Number || prompt.is(List::Currency, next))
        && prompt.fold(to) != "&"
        && !prompt.is(List::And, to)
    {
        return FactKind::OldPrice;
    }
    if prompt.before(List::Minimum, from).is_some() || prompt.is(List::MinimumAfter, to) {
        return FactKind::Minimum;
    }
    let orders = prompt.has(List::Delivery, around.fragment)
        || roles::is_off(around, Range::of(from.saturating_sub(8).max(around.fragment.from), from));
    if prompt.before(List::MinimumFrom, from).is_some() && (orders || around.goal == Goal::Voucher) {
        return FactKind::Minimum;
    }
    if roles::is_off(around, found.range)
        || prompt.has(List::Given, near)
        || around.goal == Goal::ThankYou && prompt.has(List::Given, around.sentence)
    {
        return FactKind::Amount;
    }
    FactKind::Price
}

/// Adds the words that no part of the brief contains: labels and numbers of lists as instructions, and longer texts as unclear.
fn leftovers(brief: &mut Brief, prompt: &Prompt<'_>) {
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
        match words {
            0 => {}
            1..=3 => brief.instructions.push(part(prompt, range)),
            _ => brief.unclear.push(part(prompt, range)),
        }
        at = end + 1;
    }
}
