//! Assembles the brief from the classified fragments of a prompt.

use jiff::civil::Date;

use super::super::{Brief, Fact, FactKind, FactRole, FactValue, Goal, Part, Span};
use super::classify::{Class, Classifier, Fields, Fragment};
use super::clauses::{self, Chat};
use super::contradictions;
use super::corrections::{Cuts, corrections};
use super::dates;
use super::day_names;
use super::facts::{self, Bound, Found};
use super::lexicon::List;
use super::names::{self, Products};
use super::note_model;
use super::parts;
use super::prices;
use super::prompt::{Prompt, Range};
use super::reading::{Read, filler_end, label_end};
use super::relative_days;
use super::residue;
use super::roles::{self, Around};
use super::screening;
use super::spoken;
use super::statement::{self, Form};
use super::talk;
use super::times;
use super::tokens::Kind;
use crate::base::locale::LanguageTag;
use crate::features::projects::brand::Brand;

pub fn brief(text: &str, brand: &Brand, language: Option<&LanguageTag>, today: Date) -> Brief {
    let prompt = Prompt::read(text, brand);
    let Some(written) = spoken::written(&prompt) else { return read(prompt, brand, language, today) };
    let mut brief = read(Prompt::read(&written, brand), brand, language, today);
    spoken::close_gaps(&mut brief);
    brief
}

fn read(prompt: Prompt<'_>, brand: &Brand, language: Option<&LanguageTag>, today: Date) -> Brief {
    let text = prompt.words.text;
    let sentences = clauses::sentences(&prompt);
    let fields = Fields { is_forwarded: is_forwarded(&prompt), ..Fields::default() };
    let purpose = roles::goal(&prompt);
    let mut classifier = Classifier {
        prompt: &prompt,
        fields,
        asks: false,
        carries: false,
        rules: false,
        hires: purpose == Some(Goal::Hiring),
        recalls: purpose == Some(Goal::Recall),
        attacked: false,
        disclaims: false,
        closes: false,
        situates: false,
        relates: false,
        reports: false,
        requests: false,
        outlines: false,
        seen: 0,
        count: sentences.len(),
    };
    let products = Products::of(brand);
    let is_shouted = is_shouted(text);
    let mut reads: Vec<Read> = Vec::new();
    classifier.series();
    for sentence in sentences {
        let pieces = classifier.sentence(&sentence);
        reads.push(Read { sentence, pieces, found: Vec::new() });
    }
    let fields = classifier.fields;
    screen(&prompt, &mut reads);
    for read in &mut reads {
        screening::leave_out(&prompt, &fields, &mut read.pieces);
        // The time of a chat message is not a fact.
        let scanned = if read.sentence.chat == Chat::Speaker { Vec::new() } else { joined(&read.pieces) };
        for piece in scanned {
            scan(&prompt, piece.range, piece.class, &products, today, is_shouted, &mut read.found);
        }
        relative_days::follow(&prompt, &mut read.found);
    }
    relative_days::correct(&prompt, &mut reads);
    contradictions::mark(&prompt, &mut reads);
    let has_list = reads.iter().any(|read| read.sentence.item == Some(1));
    let goal = if has_list && roles::is_digest(&prompt) { Some(Goal::Digest) } else { purpose };
    let mut cuts = corrections(&prompt, &mut reads);
    let corrected = cuts.gaps.clone();
    cuts.gaps.extend(prompt.all(List::Sound, Range::of(0, prompt.words.len())).map(|mark| Range::of(mark.from, mark.to)));
    let language = tag(&prompt, fields.language.as_deref(), language);
    let mut brief = empty(fields, goal.unwrap_or(Goal::Announcement), language);
    if is_gibberish(&prompt) {
        brief.unclear.push(Part { text: text.trim().to_owned(), span: Some(prompt.span(Range::of(0, prompt.words.len()))) });
        brief.purpose = Goal::Unclear;
        return brief;
    }
    prices::add_currency(&mut reads, &prompt, brand);
    cuts.gaps.sort_by_key(|gap| gap.from);
    for read in &reads {
        add(&mut brief, &prompt, read, &cuts);
    }
    let overlaps = |span: Span, gap: Range| prompt.span(gap).start <= span.end && prompt.span(gap).end > span.start;
    let is_corrected = |span| corrected.iter().any(|gap| overlaps(span, *gap));
    brief.subject = brief.subject.filter(|part| !part.span.is_some_and(is_corrected));
    parts::keep_weekdays(&mut brief);
    parts::recall_weekdays(&mut brief, &prompt, today);
    parts::finish(&mut brief, &prompt, &reads, goal);
    residue::leftovers(&mut brief, &prompt);
    residue::report(&mut brief, &prompt, &reads);
    brief
}

/// Changes the classes of pieces based on the text around them.
fn screen(prompt: &Prompt<'_>, reads: &mut [Read]) {
    screening::introductions(prompt, reads);
    talk::withdraw(prompt, reads);
    talk::leave_older(prompt, reads);
    talk::leave_denied(prompt, reads);
    talk::hide_comments(prompt, reads);
    note_model::screen(prompt, reads);
    screening::hearsay(prompt, reads);
    screening::asides(prompt, reads);
    screening::thanks(prompt, reads);
    screening::labels(prompt, reads);
}

/// Returns a brief without facts.
fn empty(fields: Fields, purpose: Goal, language: LanguageTag) -> Brief {
    Brief {
        audience: fields.audience,
        subject: fields.subject,
        preheader: fields.preheader,
        headline: fields.headline,
        cta: fields.cta,
        signature: fields.signature,
        tone: fields.tone,
        constraints: fields.constraints,
        ..Brief::empty(purpose, language)
    }
}

/// Returns the language of the brief: `given` if present, otherwise the language that the prompt requests, otherwise the language in
/// which the prompt is written.
fn tag(prompt: &Prompt<'_>, asked: Option<&str>, given: Option<&LanguageTag>) -> LanguageTag {
    let own = LanguageTag::parse(asked.unwrap_or(prompt.lexicon().code)).or_else(|_| LanguageTag::parse("en"));
    given.copied().unwrap_or_else(|| own.expect("the codes of the word lists are language tags"))
}

/// Returns whether more than 60% of the prompt's letters are uppercase.
fn is_shouted(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let upper = letters.clone().filter(|c| c.is_uppercase()).count();
    upper * 10 > letters.count() * 6
}

/// Returns whether the prompt quotes an email.
fn is_forwarded(prompt: &Prompt<'_>) -> bool {
    (0..prompt.words.len()).any(|at| prompt.fold(at) == ">" && (at == 0 || prompt.kind(at - 1) == Kind::End))
}

/// Returns whether a short prompt consists of random letters or words. Such a prompt contains words without vowels, consists only of words
/// that are neither common nor relevant to an email, or contains a word with four identical letters in a row.
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

/// Joins adjoining pieces of the same class, because a fact can contain the comma between them.
fn joined(pieces: &[Fragment]) -> Vec<Fragment> {
    let mut joined: Vec<Fragment> = Vec::new();
    for piece in pieces {
        match joined.last_mut().filter(|last| last.class == piece.class && last.range.to == piece.range.from) {
            Some(last) => last.range.to = piece.range.to,
            None => joined.push(*piece),
        }
    }
    joined
}

/// Reads the typed facts in a range. Facts do not overlap. Unclear text is skipped, notes are searched only for products, and fields only
/// for links.
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
    let is_event = || matches!(roles::goal(prompt), Some(Goal::Event | Goal::Webinar));
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
            .or_else(|| prices::of_product(prompt, at, found))
            .or_else(|| times::time(prompt, at).filter(|time| !is_date_too(prompt, at, time, today)))
            .or_else(|| dates::date(prompt, at, today))
            .or_else(|| facts::duration(prompt, at))
            .or_else(|| facts::capacity(prompt, at))
            .or_else(|| names::person(prompt, at, is_shouted))
            .or_else(|| {
                names::place(prompt, at).filter(|place| !prompt.has(List::Readers, place.range)).map(|place| ours(prompt, place))
            })
            .or_else(|| names::town(prompt, at).filter(|_| is_event()));
        match next.filter(|next| next.range.to <= range.to && !next.range.is_empty()) {
            Some(next) => {
                at = next.range.to.max(at + 1);
                found.push(next);
            }
            None => at += 1,
        }
    }
}

/// Extends a place to include the possessive before it: "our shop" rather than "shop".
fn ours(prompt: &Prompt<'_>, place: Found) -> Found {
    const OURS: [&str; 9] = ["our", "notre", "nuestra", "nuestro", "nostra", "nostro", "nossa", "nosso", "onze"];
    let Range { from, to } = place.range;
    let is_plain = to == from + 1 && !prompt.words.is_capital(from);
    let start = from.checked_sub(1).filter(|before| is_plain && OURS.contains(&prompt.fold(*before)));
    Found { range: Range::of(start.unwrap_or(from), to), ..place }
}

/// Returns whether words that look like a time are more likely a date: "24.12.".
fn is_date_too(prompt: &Prompt<'_>, at: usize, time: &Found, today: Date) -> bool {
    dates::date(prompt, at, today).is_some_and(|date| {
        let is_dotted = || (time.range.from..time.range.to).any(|at| facts::is_dotted_day(prompt, at));
        date.range.to > time.range.to || date.range.to == time.range.to && (prompt.has(List::Month, date.range) || is_dotted())
    })
}

/// Adds the parts of a sentence to the brief.
fn add(brief: &mut Brief, prompt: &Prompt<'_>, read: &Read, cuts: &Cuts) {
    let whole = read.sentence.range;
    let mut run: Option<(Range, Form)> = None;
    for (index, piece) in read.pieces.iter().enumerate() {
        if piece.class == Class::Content {
            let is_clause = index > 0
                && read.pieces[index - 1].class == Class::Topic
                && piece.range.from > 0
                && prompt.before(List::That, piece.range.from).is_some();
            let is_reason = index > 0 && read.pieces[index - 1].class == Class::Topic && run.is_none();
            if let Some(start) = reason(prompt, piece.range.from).filter(|_| is_reason && !read.sentence.range.is_empty()) {
                let first = brief.facts.len();
                statement(brief, prompt, read, piece.range, form_of(is_clause), cuts);
                if let Some(fact) = brief.facts.get_mut(first).filter(|fact| fact.kind == FactKind::Sentence) {
                    let body = statement::written(prompt, prompt.trim(piece.range));
                    let end = if start.starts_with("Would") { '?' } else { '.' };
                    fact.text = format!("{start} {}{end}", body.trim_end_matches(['.', ',', ':', '?']));
                }
                continue;
            }
            let form = form_of(is_clause);
            run = Some(run.map_or((piece.range, form), |(range, form)| (Range::of(range.from, piece.range.to), form)));
            continue;
        }
        if let Some((range, form)) = run.take() {
            statement(brief, prompt, read, range, form, cuts);
        }
        match piece.class {
            Class::Note if loses_value(prompt, brief, piece.range) || note_model::states(prompt, piece.range) => {
                brief.unclear.push(part(prompt, piece.range));
            }
            Class::Note | Class::Topic => note(brief, prompt, piece.range),
            Class::Unclear => brief.unclear.push(part(prompt, piece.range)),
            Class::Field | Class::Content => {}
        }
        // In a request, the date of something that the recipients did, or of yesterday's newsletter, is not a fact for the email. A date
        // with a number and a month is a fact even there, as in a recall: "everyone who bought it between 1 and 20 October".
        let is_request = matches!(piece.class, Class::Note | Class::Topic);
        let describes = is_request && describes_readers(prompt, piece.range);
        let is_past = is_request && prompt.has(List::Yesterday, piece.range);
        let is_old = |found: &Found| {
            let is_day = matches!(found.kind, FactKind::Date | FactKind::Period | FactKind::Time);
            let has_number = (found.range.from..found.range.to).any(|at| prompt.kind(at) == Kind::Number);
            is_day && (describes || is_past) && !(has_number && prompt.has(List::Month, found.range))
        };
        if is_request && read.found.iter().any(|found| piece.range.contains(found.range) && is_old(found)) {
            let found = read.found.iter().filter(|found| !is_old(found)).cloned().collect();
            let read = Read { sentence: read.sentence.clone(), pieces: read.pieces.clone(), found };
            typed(brief, prompt, &read, piece.range, whole);
        } else {
            typed(brief, prompt, read, piece.range, whole);
        }
    }
    if let Some((range, form)) = run {
        statement(brief, prompt, read, range, form, cuts);
    }
}

/// Returns whether a request ends with words that state what the recipients did: "ask the people who were here in January". A date in such
/// a request is usually not a fact for the email.
fn describes_readers(prompt: &Prompt<'_>, range: Range) -> bool {
    const WHO: [&str; 6] = ["who", "die", "qui", "che", "que", "wie"];
    let is_who = |at: usize| WHO.contains(&prompt.fold(at)) && prompt.before(List::Readers, at).is_some();
    let who = (range.from..range.to).find(|at| is_who(*at));
    who.is_some_and(|who| !(who..range.to).any(|at| matches!(prompt.kind(at), Kind::Link | Kind::Mail)))
}

/// Returns whether a note that sets no limit contains a date, a time, a sum of money, a percentage or an email address. Such a note is left
/// out of the email and reported in a warning.
fn loses_value(prompt: &Prompt<'_>, brief: &Brief, range: Range) -> bool {
    let units = [List::Currency, List::Percent, List::Month, List::Am, List::Pm, List::Hour];
    let is_value = (range.from..range.to).any(|at| {
        let is_number = prompt.kind(at) == Kind::Number;
        is_number && units.into_iter().any(|list| prompt.is(list, at + 1))
            || is_number && at > range.from && prompt.is(List::Currency, at - 1)
            || prompt.kind(at) == Kind::Mail
            || prompt.is(List::Noon, at)
            || prompt.is(List::Midnight, at)
    });
    let span = prompt.span(range);
    let overlaps = |own: Span| own.start < span.end && span.start < own.end;
    let mut limits = brief
        .constraints
        .iter()
        .filter_map(|constraint| constraint.span)
        .chain(brief.audience.iter().filter_map(|part| part.span));
    is_value && !limits.any(overlaps)
}

fn form_of(is_clause: bool) -> Form {
    if is_clause { Form::Clause } else { Form::Sentence }
}

/// Returns the first words of a sentence to the recipients, such as "Thank you for", if the words before the index are a request such as
/// "apologize for", "thank our customers for" or "ask customers if they want to".
fn reason(prompt: &Prompt<'_>, at: usize) -> Option<&'static str> {
    let before = at.checked_sub(1)?;
    // The recipients can follow the thanks: "thank everyone who came to the walk", "thank you mail to everyone who …".
    let names_readers = prompt.is(List::Readers, at);
    let thanks = |stem: &str| (at.saturating_sub(THANKED_WORDS_MAX)..at).any(|at| prompt.fold(at).starts_with(stem));
    match (prompt.lexicon().code, prompt.fold(before)) {
        ("en", _) if names_readers && thanks("thank") => return Some("Thank you to"),
        ("de", _) if names_readers && (thanks("dank") || thanks("bedank")) => return Some("Danke an"),
        _ => {}
    }
    let verb = Some(before).filter(|last| matches!(prompt.fold(*last), "for" | "fur" | "to" | "bei" | "aupres"))?;
    if asks_whether(prompt, verb) {
        return Some("Would you like to");
    }
    // An apology can name the recipients: "Apologize to the subscribers whose boxes were late".
    if let Some(start) = apology_to(prompt, verb) {
        return Some(start);
    }
    let verb = Some(verb).filter(|verb| matches!(prompt.fold(*verb), "for" | "fur"))?;
    let words = || (verb.saturating_sub(5)..verb).map(|at| prompt.fold(at));
    let has = |start: &str| words().any(|word| word.starts_with(start));
    match prompt.lexicon().code {
        "en" if has("apologi") => Some("We are sorry about"),
        "en" if has("thank") => Some("Thank you for"),
        "de" if has("entschuldig") => Some("Wir entschuldigen uns für"),
        "de" if has("dank") || has("bedank") => Some("Danke für"),
        _ => None,
    }
}

/// The maximum number of words from "thank" to the people who are thanked.
const THANKED_WORDS_MAX: usize = 7;

/// Returns whether words such as "ask customers if they want" precede the word "to" at the index `to`.
fn asks_whether(prompt: &Prompt<'_>, to: usize) -> bool {
    let start = to.saturating_sub(WHETHER_WORDS_MAX);
    let find = |words: &[&str]| (start..to).find(|at| words.contains(&prompt.fold(*at)));
    let is_wish = to > 0 && matches!(prompt.fold(to - 1), "want" | "like" | "wish");
    let asks = (start..to).any(|at| prompt.fold(at) == "ask") && find(&["if", "whether"]).is_some() && find(&["they"]).is_some();
    prompt.lexicon().code == "en" && prompt.fold(to) == "to" && is_wish && asks
}

/// The maximum number of words from "ask" to the verb of the question.
const WHETHER_WORDS_MAX: usize = 10;

fn apology_to(prompt: &Prompt<'_>, preposition: usize) -> Option<&'static str> {
    let has = |start: &str| (preposition.saturating_sub(3)..preposition).any(|at| prompt.fold(at).starts_with(start));
    match (prompt.lexicon().code, prompt.fold(preposition)) {
        ("en", "to") if has("apologi") => Some("We apologize to"),
        ("de", "bei") if has("entschuldig") => Some("Wir entschuldigen uns bei"),
        _ => None,
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
fn statement(brief: &mut Brief, prompt: &Prompt<'_>, read: &Read, range: Range, form: Form, cuts: &Cuts) {
    let trimmed = prompt.trim(range);
    let cut = cuts.gaps.as_slice();
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
    let label = label_end(prompt, Range::of(filler_end(prompt, rest), rest.to));
    if label > rest.from {
        note(brief, prompt, Range::of(rest.from, label));
    }
    let mut body = prompt.trim(Range::of(label, rest.to));
    // If the second half of the sentence is a note, as in "We make 80 and then that's it", the "and" before the note is also
    // removed.
    while rest.to < read.sentence.range.to && body.len() > 2 && prompt.before(List::And, body.to) == Some(body.to - 1) {
        body = prompt.trim(Range::of(body.from, body.to - 1));
    }
    let text = statement::sentence(prompt, body, form, cut);
    let swaps = cuts.swaps.iter().filter(|(wrong, right)| body.contains(*wrong) && body.contains(*right));
    let text =
        swaps.fold(text, |text, (wrong, right)| text.replacen(prompt.text(*wrong), prompt.text(*right), 1).replace(" ,", ","));
    let text = prices::with_currency(text, prompt, read, body, brief.language.primary());
    if prompt.is_foreign(body, brief.language.primary()) {
        // If the statement is not in the brief's language, the email prints only its facts and names.
        brief.facts.extend(statement::names(prompt, body));
        brief.unclear.push(part(prompt, body));
    } else if text.chars().any(char::is_alphanumeric) && says_more(prompt, read, body) {
        if prompt.lexicon().code != brief.language.primary() {
            brief.facts.extend(statement::names(prompt, body));
        }
        let kind = if prompt.has(List::Condition, body) { FactKind::Condition } else { FactKind::Sentence };
        brief.facts.push(Fact { kind, role: None, text, value: None, story: None, span: Some(prompt.span(body)) });
    } else if !body.is_empty() && !read.found.iter().any(|found| body.overlaps(found.range)) {
        let has_number = (body.from..body.to).any(|at| prompt.kind(at) == Kind::Number);
        if has_number { brief.unclear.push(part(prompt, body)) } else { note(brief, prompt, body) }
    }
    typed(brief, prompt, read, range, read.sentence.range);
}

/// Returns whether a statement contains words other than filler words and its typed facts.
fn says_more(prompt: &Prompt<'_>, read: &Read, range: Range) -> bool {
    let is_typed = |at: usize| {
        // A duration such as "4 years" states something only together with the words around it.
        let is_typed =
            |found: &Found| found.kind != FactKind::Product && (found.kind != FactKind::Period || found.value.is_some());
        read.found.iter().any(|found| is_typed(found) && found.range.from <= at && at < found.range.to)
    };
    let fillers =
        [List::Article, List::Code, List::UntilWord, List::FromWord, List::OnWord, List::And, List::At, List::LabelLink];
    let is_open = |at: usize| !is_typed(at) && !fillers.iter().any(|list| prompt.is(*list, at));
    // A number that is not part of a typed fact, such as the hours in "24/12 7-13", says more only if the statement also contains a typed
    // fact.
    (range.from..range.to).any(|at| match prompt.kind(at) {
        Kind::Word => is_open(at),
        Kind::Number => is_open(at) && read.found.iter().any(|found| range.contains(found.range)),
        _ => false,
    })
}

/// Adds the typed facts in a range to the brief.
fn typed(brief: &mut Brief, prompt: &Prompt<'_>, read: &Read, range: Range, sentence: Range) {
    for found in read.found.iter().filter(|found| range.contains(found.range)) {
        let fragment = read.sentence.fragments.iter().copied().find(|fragment| fragment.contains(found.range)).unwrap_or(range);
        let around = Around { prompt, goal: brief.purpose, sentence, fragment };
        let kind = money_kind(&around, found);
        let found = Found { kind, ..found.clone() };
        let role = roles::role(&around, &found).or_else(|| time_role(brief, &around, read, &found));
        let text = match kind {
            FactKind::Link | FactKind::Contact | FactKind::Code => prompt.text(found.range).to_owned(),
            FactKind::Date if found.value.is_none() => {
                day_names::timetable_days(prompt, found.range).unwrap_or_else(|| statement::written(prompt, found.range))
            }
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

/// Returns the role of a time: the role of the nearest date in the sentence. If the sentence contains no date, returns `Event` if the last
/// date in the brief so far has this role.
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

/// Refines the kind of a fact. A `Price` can become an `OldPrice`, a `Minimum` or an `Amount`, and a `Capacity` can become a `Minimum`;
/// other facts keep their kind.
fn money_kind(around: &Around<'_>, found: &Found) -> FactKind {
    let prompt = around.prompt;
    let is_least = prompt.before(List::Minimum, found.range.from).is_some()
        || prompt.before(List::MinimumFrom, found.range.from).is_some()
        || prompt.is(List::MinimumAfter, found.range.to);
    if found.kind == FactKind::Capacity {
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
        || around.goal == Goal::Referral
        || around.goal == Goal::ThankYou && prompt.has(List::Given, around.sentence)
    {
        return FactKind::Amount;
    }
    FactKind::Price
}
