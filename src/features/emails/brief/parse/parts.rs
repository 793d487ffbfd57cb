//! Fills in the parts of a brief that follow from the whole prompt: the offer, the event, the stories, the button's link, and a missing
//! purpose or signature.

use jiff::ToSpan;
use jiff::civil::Date;

use super::super::{Brief, CallToAction, Event, Fact, FactKind, FactRole, FactValue, Goal, Offer, Part, Signature, Story};
use super::classify::Class;
use super::lexicon::List;
use super::prompt::{Prompt, Range};
use super::reading::Read;
use super::tokens::Kind;

/// The maximum number of words in the name of an event. A name in quotation marks can have three more words.
const EVENT_WORDS_MAX: usize = 8;

pub fn finish(brief: &mut Brief, prompt: &Prompt<'_>, reads: &[Read], goal: Option<Goal>) {
    brief.offer = offer(brief, prompt, reads);
    if goal.is_none() {
        let is_vague = brief
            .facts
            .iter()
            .all(|fact| fact.kind == FactKind::Sentence && !fact.text.contains(' ') || fact.kind == FactKind::Link);
        brief.purpose = if brief.offer.is_some() {
            Goal::Sale
        } else if is_vague {
            Goal::Unclear
        } else {
            Goal::Announcement
        };
    }
    if matches!(brief.purpose, Goal::Event | Goal::Webinar) {
        brief.event = event(prompt, reads);
    }
    if brief.purpose == Goal::Digest {
        stories(brief, prompt, reads);
    }
    link(brief);
    if brief.signature.is_none() {
        brief.signature = introduction(prompt);
    }
}

/// If something happened on a weekday, moves the date of that weekday back by a week, into the past: "sorry that no one answered on
/// Saturday". In an apology, removes the date of an event whose weekday can refer to either a past or a future day.
pub fn recall_weekdays(brief: &mut Brief, prompt: &Prompt<'_>, today: Date) {
    let apologizes = brief.purpose == Goal::Apology;
    for fact in &mut brief.facts {
        let is_named = !fact.text.contains(|c: char| c.is_ascii_digit());
        let Some(FactValue::Days { first, last: None }) = &mut fact.value else { continue };
        let is_next = today.until(*first).is_ok_and(|span| (1..=7).contains(&span.get_days()));
        if fact.role == Some(FactRole::Happened) && is_named && is_next && !prompt.mentions(List::Tomorrow) {
            *first = first.checked_sub(7.days()).unwrap_or(*first);
        } else if apologizes && is_named && is_next && fact.role == Some(FactRole::Event) {
            (fact.value, fact.role) = (None, Some(FactRole::Other));
        }
    }
}

/// Removes the date of a deadline that is only a weekday if the event is a week or more later, because "until Thursday" can then mean the
/// Thursday before the event.
pub fn keep_weekdays(brief: &mut Brief) {
    let day = |fact: &Fact| match fact.value {
        Some(FactValue::Days { first, last: None }) => Some(first),
        _ => None,
    };
    let is_named = |fact: &Fact| !fact.text.contains(|c: char| c.is_ascii_digit());
    let events = brief.facts.iter().filter(|fact| fact.role == Some(FactRole::Event) && !is_named(fact));
    let Some(event) = events.filter_map(day).min() else { return };
    for fact in brief.facts.iter_mut().filter(|fact| fact.role == Some(FactRole::OrderBy) && is_named(fact)) {
        let is_far = day(fact).and_then(|first| first.until(event).ok()).is_some_and(|span| span.get_days() > 6);
        if is_far {
            fact.value = None;
        }
    }
}

/// Returns the offer; `None` if the prompt has no fact with an offer role, no code and no free delivery.
fn offer(brief: &Brief, prompt: &Prompt<'_>, reads: &[Read]) -> Option<Offer> {
    let is_offer = |role: Option<FactRole>| matches!(role, Some(FactRole::Offer | FactRole::OfferEnds));
    let has_offer = brief.facts.iter().any(|fact| is_offer(fact.role) || fact.kind == FactKind::Code);
    let contents = || {
        reads
            .iter()
            .flat_map(|read| &read.pieces)
            .filter(|piece| matches!(piece.class, Class::Content | Class::Topic))
            .map(|piece| piece.range)
    };
    // Free delivery is an offer only if it is new, unlike "Shipping stays free over €40".
    let is_free = |range: &Range| {
        prompt.has(List::Free, *range) && prompt.has(List::Delivery, *range) && !prompt.has(List::Unchanged, *range)
    };
    let free = contents().find(is_free);
    if !has_offer && free.is_none() {
        return None;
    }
    let percentage = reads
        .iter()
        .find_map(|read| read.found.iter().find(|found| found.kind == FactKind::Percentage).map(|found| (read, found)));
    let scope = percentage.and_then(|(read, found)| {
        let fragment = read.sentence.fragments.iter().copied().find(|fragment| fragment.contains(found.range))?;
        let next = read.found.iter().filter(|other| other.kind != FactKind::Product).map(|other| other.range.from);
        let next = next.filter(|from| *from >= found.range.to).min().unwrap_or(fragment.to);
        let near = Range::of(found.range.to, (found.range.to + 3).min(fragment.to));
        // In some languages, a preposition introduces the scope: "20 % auf alle Leuchten".
        let joint = Range::of(near.from, near.from + 1);
        let is_joint = |at: usize| matches!(prompt.fold(at), "auf" | "sur" | "en" | "su" | "op" | "em" | "on");
        let joint = Some(joint).filter(|_| is_joint(near.from));
        let off = prompt.find(List::Off, near).or(joint)?;
        let start = prompt.end(List::About, off.to).unwrap_or(off.to);
        // The scope can list several products: "auf Tische und Regale".
        let is_product = |at: usize| read.found.iter().any(|other| other.kind == FactKind::Product && other.range.from == at);
        let joins = |at: usize| prompt.is(List::And, at) && is_product(at + 1);
        let stop = (start..next.min(fragment.to))
            .filter(|at| !joins(*at))
            .find(|at| [List::With, List::Code, List::UntilWord, List::FromWord].iter().any(|list| prompt.is(*list, *at)));
        let range = prompt.trim(Range::of(start, stop.unwrap_or(next.min(fragment.to))));
        // After a word such as "en", a place is the scope of the offer: "en toda la tienda".
        let place = read.found.iter().find(|other| other.kind == FactKind::Place && other.range.from == range.to);
        let range = match place {
            Some(place) if range.len() == 1 && is_joint(range.from) => place.range,
            _ => range,
        };
        (1..=6)
            .contains(&range.len())
            .then(|| Part { text: prompt.text(range).trim_end_matches('.').to_owned(), span: Some(prompt.span(range)) })
    });
    Some(Offer { scope, free_delivery: free.is_some(), gift: None })
}

/// Returns the event: the name in quotation marks, or the words before the first date, time, place or price.
fn event(prompt: &Prompt<'_>, reads: &[Read]) -> Option<Event> {
    let named = |range: Range| {
        // Leave out an opening bracket, because its closing bracket can follow the date, which is not part of the name.
        let is_open = matches!(prompt.fold(range.from), "(" | "[");
        let range = Range::of(range.from + usize::from(is_open), range.to);
        Event { name: Part { text: super::statement::written(prompt, range), span: Some(prompt.span(range)) } }
    };
    let contents: Vec<(&Read, Range)> = reads
        .iter()
        .flat_map(|read| read.pieces.iter().filter(|piece| piece.class == Class::Content).map(move |piece| (read, piece.range)))
        .collect();
    let quote = |range: Range| {
        let open = (range.from..range.to).find(|at| prompt.is_quote(*at))?;
        let close = prompt.quote_end(open, range.to)?;
        (close - open <= EVENT_WORDS_MAX + 4).then(|| Range::of(open + 1, close))
    };
    let requests =
        reads.iter().flat_map(|read| &read.pieces).filter(|piece| piece.class == Class::Topic).map(|piece| piece.range);
    if let Some(range) = requests.chain(contents.iter().map(|(_, range)| *range)).take(3).find_map(quote) {
        return Some(named(range));
    }
    let topics: Vec<(&Read, Range)> = reads
        .iter()
        .flat_map(|read| read.pieces.iter().filter(|piece| piece.class == Class::Topic).map(move |piece| (read, piece.range)))
        .filter_map(|(read, range)| Some((read, invited(prompt, range)?)))
        .collect();
    topics.iter().chain(&contents).find_map(|(read, range)| {
        let typed = [FactKind::Date, FactKind::Period, FactKind::Time, FactKind::Place, FactKind::Price];
        let first = read
            .found
            .iter()
            // A place at the start of the range is the event itself, not its venue: "a un taller" (to a workshop).
            .filter(|found| typed.contains(&found.kind) && found.range.from >= range.from)
            .filter(|found| found.kind != FactKind::Place || found.range.from > range.from)
            .map(|found| found.range.from)
            .min();
        let mut end = first.unwrap_or(range.to).min(range.to);
        let joins = [List::OnWord, List::FromWord, List::At, List::Article, List::LabelIs, List::With, List::TimeAt];
        while end > range.from && (prompt.kind(end - 1) == Kind::Sign || joins.iter().any(|list| prompt.is(*list, end - 1))) {
            end -= 1;
        }
        let whole = prompt.trim(*range);
        let start = super::reading::label_end(prompt, Range::of(super::reading::filler_end(prompt, whole), whole.to));
        let start = prompt.end(List::Article, start).filter(|end| *end < range.to).unwrap_or(start);
        let name = prompt.trim(Range::of(start.max(range.from), end));
        let is_named = name.len() > 1 || prompt.words.is_capital(name.from) || prompt.has(List::Goal, name);
        let has_address = (name.from..name.to).any(|at| matches!(prompt.kind(at), Kind::Mail | Kind::Link));
        let is_name = is_named && !has_address && !prompt.has(List::Finite, name) && (1..=EVENT_WORDS_MAX).contains(&name.len());
        // The name can be a question: "Is a battery worth it? Wednesday 7pm".
        let asks = prompt.fold(name.to) == "?" && name.to < range.to;
        is_name.then(|| named(Range::of(name.from, name.to + usize::from(asks))))
    })
}

/// Returns the words after "Invite our customers to" in a request to the writer.
fn invited(prompt: &Prompt<'_>, range: Range) -> Option<Range> {
    let ask = (range.from..range.to).find(|at| {
        prompt.is(List::Ask, *at)
            || prompt.all(List::Goal, Range::of(*at, *at + 1)).next().is_some() && prompt.is(List::Email, *at)
    })?;
    let asked = prompt.end(List::Ask, ask).unwrap_or(ask + 1);
    let is_reader = |start: usize| prompt.has(List::Readers, Range::of(start, (start + 2).min(range.to)));
    let start = (asked.saturating_sub(1)..(asked + INVITED_WORDS_MAX).min(range.to))
        .filter_map(|at| prompt.end(List::For, at).or_else(|| prompt.end(List::About, at)))
        .find(|start| !is_reader(*start))?;
    let start = prompt.end(List::Article, start).unwrap_or(start);
    (start < range.to).then(|| Range::of(start, range.to))
}

/// The maximum number of words between "invite" and "to".
const INVITED_WORDS_MAX: usize = 5;

/// Converts each item of a list to a story, unless there is only one item.
fn stories(brief: &mut Brief, prompt: &Prompt<'_>, reads: &[Read]) {
    let mut last = None;
    for read in reads {
        let Some(item) = read.sentence.item else { continue };
        let contents: Vec<Range> =
            read.pieces.iter().filter(|piece| piece.class == Class::Content).map(|piece| piece.range).collect();
        let (Some(first), Some(end)) = (contents.first(), contents.last()) else { continue };
        let range = prompt.trim(Range::of(first.from, end.to));
        if range.is_empty() || brief.stories.len() >= usize::from(u8::MAX) {
            continue;
        }
        let span = prompt.span(range);
        let inside: Vec<usize> = (0..brief.facts.len())
            .filter(|at| brief.facts[*at].span.is_some_and(|own| span.start <= own.start && own.end <= span.end))
            .collect();
        let whole = |at: &&usize| matches!(brief.facts[**at].kind, FactKind::Sentence | FactKind::Condition);
        let text = inside.iter().filter(whole).map(|at| brief.facts[*at].text.clone()).collect::<Vec<_>>().join(" ");
        let text = if text.is_empty() { prompt.text(range).to_owned() } else { text };
        let link = inside.iter().find(|at| brief.facts[**at].kind == FactKind::Link).map(|at| brief.facts[*at].text.clone());
        if last != Some(item) {
            brief.stories.push(Story {
                heading: heading(prompt, range),
                text: Part { text: String::new(), span: Some(span) },
                link: None,
            });
            last = Some(item);
        }
        let index = brief.stories.len() - 1;
        let story = &mut brief.stories[index];
        story.text.text = format!("{} {text}", story.text.text).trim().to_owned();
        story.text.span = story.text.span.map(|own| super::Span { start: own.start.min(span.start), end: own.end.max(span.end) });
        story.link = story.link.take().or(link);
        inside.iter().for_each(|at| brief.facts[*at].story = Some(index as u8));
    }
    if brief.stories.len() < 2 {
        brief.stories.clear();
        brief.facts.iter_mut().for_each(|fact| fact.story = None);
    }
}

/// Returns the words before an item's colon; `None` unless there are one to five words and none of them is a finite verb.
fn heading(prompt: &Prompt<'_>, range: Range) -> Option<Part> {
    let colon = prompt.sign(":", range).filter(|colon| (1..=5).contains(&(colon - range.from)))?;
    let range = Range::of(range.from, colon);
    let text = super::statement::written(prompt, range);
    (!prompt.has(List::Finite, range)).then(|| Part { text, span: Some(prompt.span(range)) })
}

/// Sets the link of the button if the prompt has exactly one link.
fn link(brief: &mut Brief) {
    let mut links = brief.facts.iter().filter(|fact| fact.kind == FactKind::Link);
    if let (Some(link), None) = (links.next().map(|link| link.text.clone()), links.next()) {
        let cta = brief.cta.get_or_insert(CallToAction { label: None, link: None });
        cta.link.get_or_insert(link);
    }
}

/// If the prompt introduces the person who wrote it, returns that person's name as the signature: "I'm Sjoerd from onboarding".
fn introduction(prompt: &Prompt<'_>) -> Option<Signature> {
    let at = (1..prompt.words.len()).find(|at| prompt.is(List::Introduction, *at))?;
    let name = prompt.end(List::Introduction, at)?;
    let is_name = prompt.kind(name) == Kind::Word && prompt.words.is_capital(name);
    is_name.then(|| Signature { name: prompt.raw(name).to_owned(), title: None, span: None })
}
