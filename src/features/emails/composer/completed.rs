//! Completes a brief before it becomes an email.
//!
//! The parser of prompts separates words whose meaning is unclear. If such words are inside a sentence that the email prints, the sentence
//! would be incomplete without them, so they are joined with it.

use super::language::{Bank, Language};
use super::text::{capital, folded, tidy};
use crate::features::emails::brief::{Brief, Event, Fact, FactKind, FactRole, FactValue, Goal, Part, Span, Story};

/// The maximum number of words of a passage that is a label: "New in the shop: …".
const LABEL_WORDS_MAX: usize = 4;
/// The maximum number of words of a label that is the name of a product.
const NAME_WORDS_MAX: usize = 3;
/// The maximum number of characters between two parts of a sentence: a comma or a colon, and a space. A period ends a sentence.
const SIGN_GAP: u32 = 2;
/// The minimum number of days with a time in a notice of opening hours.
const HOURS_DAYS_MIN: usize = 2;

/// Returns the brief with incomplete sentences completed, titles assigned to stories, limits removed, and a seasonal purpose replaced by
/// the one that its facts show.
pub fn completed(brief: &Brief, language: Language) -> Brief {
    let mut brief = brief.clone();
    for part in std::mem::take(&mut brief.unclear) {
        let is_joined = part.span.is_some_and(|span| {
            joins_statement(&mut brief, &part, span, language)
                || leads_to_contact(&mut brief, &part, span)
                || ends_story(&mut brief, &part, span)
                || names_product(&mut brief, &part, span, language)
        });
        if !is_joined {
            brief.unclear.push(part);
        }
    }
    title_stories(&mut brief);
    drop_limits(&mut brief, language);
    if brief.purpose == Goal::Seasonal {
        brief.purpose = dated_purpose(&brief);
        if brief.purpose == Goal::Event && brief.event.is_none() {
            brief.event = evening(&brief, language);
        }
    }
    brief
}

fn count(text: &str) -> usize {
    text.split_whitespace().count()
}

fn is_statement(fact: &Fact) -> bool {
    matches!(fact.kind, FactKind::Sentence | FactKind::Condition) && fact.story.is_none()
}

/// Returns the statement that starts at most `gap` characters after a position.
fn statement_after(brief: &Brief, end: u32, gap: u32) -> Option<usize> {
    let follows = |fact: &Fact| fact.span.and_then(|span| span.start.checked_sub(end)).is_some_and(|own| own <= gap);
    brief.facts.iter().position(|fact| is_statement(fact) && follows(fact))
}

/// Joins an unclear part with the statements next to it if it is in the middle of a sentence: "New in the shop: the tweed from Saxony, 100
/// g for €14.90", "We sent the wrong links (orders 10 to 20)". At the start of a sentence, such words are often a note to the writer.
fn joins_statement(brief: &mut Brief, part: &Part, span: Span, language: Language) -> bool {
    let Some(at) = statement_after(brief, span.end, 1) else { return false };
    let is_sentence =
        part.text.starts_with(char::is_uppercase) && !part.text.trim_end().ends_with(['.', '!', '?', ':', ';', ',']);
    let is_aside = brief.facts[at].text.starts_with('(') && is_sentence;
    let is_label = |fact: &Fact| count(&fact.text) <= LABEL_WORDS_MAX;
    let ends = |fact: &Fact| fact.span.is_some_and(|own| own.end + SIGN_GAP == span.start) && is_label(fact);
    let before = brief.facts.iter().position(|fact| is_statement(fact) && ends(fact));
    let before = before.filter(|_| part.text.trim_end().ends_with(',') && count(&part.text) > NAME_WORDS_MAX);
    if !is_aside && before.is_none() {
        return false;
    }
    let mut text = format!("{} {}", part.text.trim(), lowered(brief, at, language));
    let whole = Span { start: span.start, end: brief.facts[at].span.map_or(span.end, |own| own.end) };
    (brief.facts[at].text, brief.facts[at].span) = (capital(&text), Some(whole));
    if let Some(before) = before {
        let head = tidy(&brief.facts[before].text);
        text = format!("{}: {text}", head.trim_end_matches('.'));
        let start = brief.facts[before].span.map_or(span.start, |own| own.start);
        (brief.facts[at].text, brief.facts[at].span) = (capital(&text), Some(Span { start, ..whole }));
        brief.facts.remove(before);
    }
    true
}

/// Returns a statement as the continuation of a sentence: its first letter becomes lowercase, unless it starts with a name or a German
/// noun.
fn lowered(brief: &Brief, at: usize, language: Language) -> String {
    let fact = &brief.facts[at];
    let start = fact.span.map(|span| span.start);
    let is_name = |other: &Fact| {
        matches!(other.kind, FactKind::Person | FactKind::Product | FactKind::Place) && other.span.map(|span| span.start) == start
    };
    let mut letters = fact.text.chars();
    let first = letters.next();
    let is_spelled = letters.clone().next().is_none_or(|second| !second.is_lowercase());
    let word = folded(fact.text.split(' ').next().unwrap_or_default());
    let is_common = Bank::of(language).phrases("words.common").iter().any(|own| own == word.trim());
    if is_spelled || brief.facts.iter().any(is_name) || language == Language::De && !is_common {
        return fact.text.clone();
    }
    first.map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// Turns a passage before an address or a telephone number into a statement: "You can order vouchers by mail: hello@example.com".
fn leads_to_contact(brief: &mut Brief, part: &Part, span: Span) -> bool {
    if !part.text.trim_end().ends_with(':') || count(&part.text) <= LABEL_WORDS_MAX {
        return false;
    }
    let follows = |fact: &Fact| fact.span.and_then(|own| own.start.checked_sub(span.end)).is_some_and(|gap| gap <= 1);
    let is_it = |fact: &Fact| fact.kind == FactKind::Contact && fact.story.is_none() && follows(fact);
    let Some(at) = brief.facts.iter().position(is_it) else { return false };
    let text = format!("{} {}", capital(part.text.trim()), brief.facts[at].text.trim());
    let end = brief.facts[at].span.map_or(span.end, |own| own.end);
    let whole = Some(Span { start: span.start, end });
    brief.facts.insert(at, Fact { kind: FactKind::Sentence, role: None, text, value: None, story: None, span: whole });
    true
}

/// Adds an unclear part to the story whose last sentence it completes.
fn ends_story(brief: &mut Brief, part: &Part, span: Span) -> bool {
    let ends = |own: Span| own.end + SIGN_GAP == span.start && count(&part.text) > LABEL_WORDS_MAX;
    let Some(story) = brief.stories.iter_mut().find(|story| story.text.span.is_some_and(ends)) else { return false };
    let text = tidy(&story.text.text);
    story.text.text = format!("{}, {}", text.trim_end_matches('.'), part.text.trim());
    story.text.span = story.text.span.map(|own| Span { end: span.end, ..own });
    true
}

/// Puts a name before a statement if the name precedes it in the prompt and is also on the button: "Budgets: set a cap".
fn names_product(brief: &mut Brief, part: &Part, span: Span, language: Language) -> bool {
    let name = tidy(&part.text);
    let label = brief.cta.as_ref().and_then(|cta| cta.label.as_ref()).map(|label| folded(&label.text)).unwrap_or_default();
    let is_name = name.starts_with(char::is_uppercase) && count(&name) <= NAME_WORDS_MAX && label.contains(&folded(&name));
    let after = |fact: &Fact| is_statement(fact) && fact.span.is_some_and(|own| own.start >= span.end);
    let Some(at) = brief.facts.iter().position(after).filter(|_| is_name) else { return false };
    let is_first = brief.facts.iter().position(is_statement) == Some(at);
    if !is_first || folded(&brief.facts[at].text).contains(&folded(&name)) {
        return false;
    }
    brief.facts[at].text = format!("{name}: {}", lowered(brief, at, language));
    true
}

/// Gives stories the titles that precede them: "Malin's journey: we fetched 200 kilos of wool". A title of all stories is not used for a
/// single one.
fn title_stories(brief: &mut Brief) {
    let titles =
        brief.instructions.iter().filter(|part| part.text.trim_end().ends_with(':') && count(&part.text) > NAME_WORDS_MAX);
    let titles: Vec<(Part, Span)> = titles.filter_map(|part| Some((part.clone(), part.span?))).collect();
    for (title, span) in titles.into_iter().filter(|(_, span)| span.start > 0) {
        let follows = |own: Span| own.start.checked_sub(span.end).is_some_and(|gap| gap <= 1);
        let is_it = |story: &&mut Story| story.heading.is_none() && story.text.span.is_some_and(follows);
        if let Some(story) = brief.stories.iter_mut().find(is_it) {
            let text = title.text.trim().trim_end_matches(':').to_owned();
            story.heading = Some(Part { text, span: title.span });
        }
    }
}

/// Removes numbers of characters, words and lines, because they limit the email itself: "max 40 characters".
fn drop_limits(brief: &mut Brief, language: Language) {
    let bank = Bank::of(language);
    brief.facts.retain(|fact| fact.kind != FactKind::Capacity || !bank.has_word("words.limits", &fact.text));
}

/// Returns the purpose of a seasonal email according to its facts: several days with times are opening hours; one day with a time and a
/// price, a deadline or a number of places is an invitation.
fn dated_purpose(brief: &Brief) -> Goal {
    let own = |fact: &&Fact| fact.story.is_none() && fact.role == Some(FactRole::Event);
    let days = brief.facts.iter().filter(own).filter(|fact| matches!(fact.value, Some(FactValue::Days { .. }))).count();
    let times = brief.facts.iter().filter(own).filter(|fact| matches!(fact.value, Some(FactValue::Clock { .. }))).count();
    let has = |kinds: &[FactKind]| brief.facts.iter().any(|fact| fact.story.is_none() && kinds.contains(&fact.kind));
    let has_role = |role: FactRole| brief.facts.iter().any(|fact| fact.story.is_none() && fact.role == Some(role));
    let sells = has(&[FactKind::Percentage, FactKind::Amount, FactKind::Code]) || has_role(FactRole::OfferEnds);
    let invites = has(&[FactKind::Price, FactKind::Capacity]) || has_role(FactRole::OrderBy);
    match (days, times) {
        _ if sells => Goal::Seasonal,
        (HOURS_DAYS_MIN.., HOURS_DAYS_MIN..) if !has(&[FactKind::Price, FactKind::Capacity]) => Goal::OpeningHours,
        (1, 1..) if invites => Goal::Event,
        _ => Goal::Seasonal,
    }
}

/// Returns the event of a seasonal invitation. Its name is the title before the first statement, or the name of the season.
fn evening(brief: &Brief, language: Language) -> Option<Event> {
    let bank = Bank::of(language);
    let first = brief.facts.iter().find(|fact| is_statement(fact)).and_then(|fact| fact.span)?;
    let is_title = |part: &&Part| {
        let is_before = part.span.is_some_and(|span| span.end <= first.start && first.start - span.end <= 1);
        let is_short = count(&part.text) <= LABEL_WORDS_MAX;
        is_before && is_short && part.text.trim_end().ends_with(':') && bank.season(&folded(&part.text)).is_some()
    };
    if let Some(title) = brief.instructions.iter().find(is_title) {
        let text = title.text.trim().trim_end_matches(':').to_owned();
        return Some(Event { name: Part { text, span: title.span } });
    }
    let texts = brief.facts.iter().map(|fact| fact.text.as_str()).collect::<Vec<_>>().join(" ");
    let season = bank.season(&folded(&texts))?;
    let name = bank.phrases(&format!("season.{season}.name")).first()?;
    Some(Event { name: Part { text: name.clone(), span: None } })
}
