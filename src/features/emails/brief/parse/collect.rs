//! Puts the brief together from the classified fragments of a prompt.

use jiff::civil::Date;

use super::super::{Brief, CallToAction, Event, Fact, FactKind, FactRole, FactValue, Goal, Offer, Part, Story};
use super::classify::{Class, Classifier, Fields, Piece};
use super::clauses::{self, Sentence};
use super::dates;
use super::facts::{self, Bound, Found};
use super::lexicon::List;
use super::names::{self, Products};
use super::prompt::{Prompt, Range};
use super::roles::{self, Around};
use super::statement::{self, Form};
use super::words::Kind;
use crate::base::locale::LanguageTag;
use crate::features::projects::brand::Brand;

/// A sentence with its parts and the facts in it.
struct Read {
    sentence: Sentence,
    pieces: Vec<Piece>,
    found: Vec<Found>,
}

pub fn brief(text: &str, brand: &Brand, language: Option<&LanguageTag>, today: Date) -> Brief {
    let prompt = Prompt::read(text, brand);
    let sentences = clauses::sentences(&prompt);
    let fields = Fields { is_forwarded: is_forwarded(&prompt), ..Fields::default() };
    let mut classifier = Classifier { prompt: &prompt, fields, seen: 0, count: sentences.len() };
    let products = Products::of(brand);
    let is_shouted = is_shouted(text);
    let mut reads = Vec::new();
    for sentence in sentences {
        let pieces = classifier.sentence(&sentence);
        let mut found = Vec::new();
        for piece in &pieces {
            if matches!(piece.class, Class::Content | Class::Topic) {
                scan(&prompt, piece.range, &products, today, is_shouted, &mut found);
            }
        }
        reads.push(Read { sentence, pieces, found });
    }
    let fields = classifier.fields;
    let goal = roles::goal(&prompt);
    let cut = corrections(&prompt, &mut reads);
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
    for read in &reads {
        add(&mut brief, &prompt, read, &cut);
    }
    finish(&mut brief, goal);
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

/// Returns whether the prompt is random letters: a word without vowels among few words.
fn is_gibberish(prompt: &Prompt<'_>) -> bool {
    let words: Vec<usize> = (0..prompt.words.len()).filter(|at| prompt.kind(*at) == Kind::Word).collect();
    let latin = |at: &&usize| prompt.fold(**at).chars().all(|c| c.is_ascii_alphabetic()) && prompt.fold(**at).len() >= 3;
    let has_no_vowel =
        |at: &&usize| !prompt.fold(**at).contains(['a', 'e', 'i', 'o', 'u', 'y']) && !prompt.words.is_capital(**at);
    let odd = words.iter().filter(latin).filter(has_no_vowel).count();
    let known = words.iter().filter(|at| prompt.is(List::Common, **at)).count();
    words.len() <= 12 && odd >= 2 && known == 0
}

/// Reads the typed facts in a range, each word once.
fn scan(prompt: &Prompt<'_>, range: Range, products: &Products, today: Date, is_shouted: bool, found: &mut Vec<Found>) {
    let mut at = range.from;
    while at < range.to {
        let next = names::link(prompt, at)
            .or_else(|| names::contact(prompt, at))
            .or_else(|| facts::code(prompt, at, is_shouted))
            .or_else(|| products.find(prompt, at))
            .or_else(|| facts::percentage(prompt, at))
            .or_else(|| facts::money(prompt, at))
            .or_else(|| facts::bare_price(prompt, at))
            .or_else(|| dates::time(prompt, at).filter(|time| !is_date_too(prompt, at, time, today)))
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
    let all: Vec<Found> = reads.iter().flat_map(|read| read.found.clone()).collect();
    for mark in prompt.all(List::Correction, Range::of(0, prompt.words.len())) {
        for (index, wrong) in all.iter().enumerate().rev() {
            let near = wrong.range.to <= mark.from && mark.from - wrong.range.to <= 6;
            let right = all[index + 1..]
                .iter()
                .find(|right| right.range.from >= mark.to && right.kind == wrong.kind && right.range.from - mark.to <= 8);
            if let Some(right) = right.filter(|_| near) {
                cut.push(Range::of(wrong.range.from, right.range.from));
                break;
            }
        }
    }
    cut.dedup();
    for read in reads {
        read.found.retain(|found| !cut.iter().any(|gap| gap.overlaps(found.range)));
    }
    cut
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
    let rest = Range::of(
        cut.iter()
            .filter(|gap| gap.from <= trimmed.from && gap.to > trimmed.from)
            .map(|gap| gap.to)
            .max()
            .unwrap_or(trimmed.from),
        trimmed.to,
    );
    let label = label_end(prompt, rest);
    if label > rest.from {
        note(brief, prompt, Range::of(rest.from, label));
    }
    let body = prompt.trim(Range::of(label, rest.to));
    let text = statement::sentence(prompt, body, form, cut);
    if text.chars().any(char::is_alphanumeric) && says_more(prompt, read, body) {
        let kind = if prompt.has(List::Condition, body) { FactKind::Condition } else { FactKind::Sentence };
        brief.facts.push(Fact { kind, role: None, text, value: None, story: None, span: Some(prompt.span(body)) });
    } else if !body.is_empty() && !read.found.iter().any(|found| body.overlaps(found.range)) {
        note(brief, prompt, body);
    }
    typed(brief, prompt, read, range, read.sentence.range);
}

/// Returns the end of a label such as "Body:" that the email does not print.
fn label_end(prompt: &Prompt<'_>, range: Range) -> usize {
    let lists = [List::LabelBody, List::LabelLink, List::LabelWhen, List::LabelWhere, List::LabelCode];
    let ends = lists
        .into_iter()
        .filter_map(|list| prompt.end(list, range.from))
        .filter(|end| *end < range.to && prompt.fold(*end) == ":");
    ends.max().map_or(range.from, |end| end + 1)
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
        let role = roles::role(&around, &found).or_else(|| time_role(&around, read, &found));
        let text = match kind {
            FactKind::Link | FactKind::Contact | FactKind::Code => prompt.text(found.range).to_owned(),
            _ => prompt.text(found.range).split_whitespace().collect::<Vec<_>>().join(" "),
        };
        let value = found.value.clone();
        brief.facts.push(Fact { kind, role, text, value, story: None, span: Some(prompt.span(found.range)) });
    }
}

/// Returns the role of the nearest date in the sentence for a time.
fn time_role(around: &Around<'_>, read: &Read, found: &Found) -> Option<FactRole> {
    if found.kind != FactKind::Time {
        return None;
    }
    let is_day = |other: &&Found| matches!(other.kind, FactKind::Date | FactKind::Period) && other.value.is_some();
    let near = read.found.iter().filter(is_day).min_by_key(|other| other.range.from.abs_diff(found.range.from));
    near.and_then(|near| roles::role(around, near))
}

/// Returns what a sum of money is: a price, an old price, a minimum or an amount.
fn money_kind(around: &Around<'_>, found: &Found) -> FactKind {
    if found.kind != FactKind::Price {
        return found.kind;
    }
    let prompt = around.prompt;
    let Range { from, to } = found.range;
    let near = Range::of(from.saturating_sub(4).max(around.sentence.from), (to + 3).min(around.sentence.to));
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
    if roles::is_off(around, found.range) || prompt.has(List::Given, near) {
        return FactKind::Amount;
    }
    FactKind::Price
}

/// Fills in the parts that follow from the facts.
fn finish(brief: &mut Brief, goal: Option<Goal>) {
    let has_offer = brief
        .facts
        .iter()
        .any(|fact| matches!(fact.role, Some(FactRole::Offer | FactRole::OfferEnds)) || fact.kind == FactKind::Code);
    if has_offer {
        brief.offer = Some(Offer::default());
    }
    if goal.is_none() && has_offer {
        brief.purpose = Goal::Sale;
    }
    if goal.is_none() && brief.facts.is_empty() {
        brief.purpose = Goal::Unclear;
    }
    let only: Vec<&Fact> = brief.facts.iter().filter(|fact| fact.kind == FactKind::Link).collect();
    if let [link] = only[..] {
        let address = link.text.clone();
        let cta = brief.cta.get_or_insert(CallToAction { label: None, link: None });
        cta.link.get_or_insert(address);
    }
    let _: (Option<Event>, Option<Story>, Option<FactValue>, Bound) = (None, None, None, Bound::None);
}
