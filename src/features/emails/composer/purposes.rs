//! Determines the purpose of an email from its facts if the words of the prompt leave it open: an evening with a time and a price is an
//! invitation, and an email about a closed shop is not a seasonal greeting.

use super::language::{Bank, Language};
use super::text::{folded, tidy};
use crate::features::emails::brief::{Brief, Event, Fact, FactKind, FactRole, FactValue, Goal, Part};

/// The minimum number of days, and of times, in a notice of opening hours.
const HOURS_DAYS_MIN: usize = 2;
/// The maximum number of words in the title of an event.
const TITLE_WORDS_MAX: usize = 4;
/// The maximum number of words before a date that can be the name of an event.
const EVENT_WORDS_MAX: usize = 7;

pub fn count(text: &str) -> usize {
    text.split_whitespace().count()
}

pub fn is_statement(fact: &Fact) -> bool {
    matches!(fact.kind, FactKind::Sentence | FactKind::Condition) && fact.story.is_none()
}

/// Corrects the purpose of a brief, based on its facts.
pub fn correct_by_facts(brief: &mut Brief, language: Language) {
    if brief.purpose == Goal::Seasonal {
        brief.purpose = dated_purpose(brief);
        if brief.purpose == Goal::Event && brief.event.is_none() {
            brief.event = seasonal_event(brief, language);
        }
    }
    // A price increase is not a sale: "Shipping costs €4.90 instead of €3.90".
    if brief.purpose == Goal::Sale && !sells(brief) && raises_price(brief) {
        brief.purpose = Goal::PriceChange;
        brief.offer = None;
    }
    // A reminder of an offer with a code becomes a sale email, so that it has a coupon and a button.
    let offers = has_role(brief, FactRole::Offer) || has_role(brief, FactRole::OfferEnds);
    if brief.purpose == Goal::Reminder && offers && has(brief, &[FactKind::Code]) {
        brief.purpose = Goal::Sale;
    }
    let is_open = matches!(brief.purpose, Goal::Announcement | Goal::Seasonal | Goal::Unclear);
    if is_open && !sells(brief) && has_role(brief, FactRole::Closed) && !has(brief, &[FactKind::Price, FactKind::OldPrice]) {
        brief.purpose = Goal::Closing;
    }
    if matches!(brief.purpose, Goal::Announcement | Goal::Unclear) {
        invite(brief, language);
    }
}

fn has(brief: &Brief, kinds: &[FactKind]) -> bool {
    brief.facts.iter().any(|fact| fact.story.is_none() && kinds.contains(&fact.kind))
}

fn has_role(brief: &Brief, role: FactRole) -> bool {
    brief.facts.iter().any(|fact| fact.story.is_none() && fact.role == Some(role))
}

fn sells(brief: &Brief) -> bool {
    has(brief, &[FactKind::Percentage, FactKind::Amount, FactKind::Code]) || has_role(brief, FactRole::OfferEnds)
}

/// Returns whether the brief has exactly one old price, and its first other price is higher.
fn raises_price(brief: &Brief) -> bool {
    let amounts = |kind: FactKind| {
        let own = brief.facts.iter().filter(move |fact| fact.kind == kind && fact.story.is_none());
        own.filter_map(|fact| match fact.value {
            Some(FactValue::Money { amount, .. }) => Some(amount),
            _ => None,
        })
    };
    let old: Vec<f64> = amounts(FactKind::OldPrice).collect();
    // The first price is taken as the new price; other prices, such as a minimum, are unrelated.
    let first = amounts(FactKind::Price).next();
    matches!((first, old.as_slice()), (Some(new), [old]) if new > *old)
}

/// Makes an announcement an invitation if it has exactly one day, a time, a price or a number of places, and a statement that asks the
/// recipients to reserve, register or book: "Dinner with wines of Liguria on 17 December at 19:30. Only 24 places. Reservations: …".
fn invite(brief: &mut Brief, language: Language) {
    let may_be = |fact: &Fact| fact.story.is_none() && matches!(fact.role, None | Some(FactRole::Event | FactRole::Other));
    let is_day = |fact: &Fact| may_be(fact) && matches!(fact.value, Some(FactValue::Days { .. }));
    let is_time = |fact: &Fact| may_be(fact) && matches!(fact.value, Some(FactValue::Clock { .. }));
    let days: Vec<usize> = (0..brief.facts.len()).filter(|at| is_day(&brief.facts[*at])).collect();
    let [day] = days[..] else { return };
    let bank = Bank::of(language);
    let reserves = |fact: &Fact| {
        let action = bank.action(&folded(&fact.text)).unwrap_or_default();
        is_statement(fact) && ["action.reserve.button", "action.register.button", "action.book.button"].contains(&action.as_str())
    };
    let is_invitation = brief.facts.iter().any(is_time)
        && has(brief, &[FactKind::Price, FactKind::Capacity])
        && !has(brief, &[FactKind::Percentage, FactKind::Code, FactKind::OldPrice])
        && brief.stories.is_empty()
        && brief.facts.iter().any(reserves);
    let Some(name) = name_before(brief, day, language).filter(|_| is_invitation) else { return };
    for fact in brief.facts.iter_mut().filter(|fact| is_day(fact) || is_time(fact)) {
        fact.role = Some(FactRole::Event);
    }
    brief.event.get_or_insert(Event { name: Part { text: name, span: None } });
    brief.purpose = Goal::Event;
}

/// Returns the words of the first statement before its date, without common words such as prepositions at their end.
fn name_before(brief: &Brief, day: usize, language: Language) -> Option<String> {
    let first = brief.facts.iter().find(|fact| is_statement(fact))?;
    let text = tidy(&first.text);
    let (before, _) = text.split_once(tidy(&brief.facts[day].text).as_str())?;
    let common = Bank::of(language).phrases("words.common");
    let mut words: Vec<&str> = before.split_whitespace().collect();
    while words.last().is_some_and(|word| common.iter().any(|own| folded(own) == folded(word))) {
        words.pop();
    }
    let name = words.join(" ");
    let name = name.trim_end_matches([',', ':', '–', '-', ' ']);
    let fits = (1..=EVENT_WORDS_MAX).contains(&count(name)) && !name.contains(['.', '!', '?', ':', ',']);
    (fits && name.starts_with(char::is_uppercase)).then(|| name.to_owned())
}

/// Returns the purpose of a seasonal email, based on its facts: several days with times mean opening hours, and one day with a time and a
/// price, a deadline or a number of places means an invitation.
fn dated_purpose(brief: &Brief) -> Goal {
    let own = |fact: &&Fact| fact.story.is_none() && fact.role == Some(FactRole::Event);
    let days = brief.facts.iter().filter(own).filter(|fact| matches!(fact.value, Some(FactValue::Days { .. }))).count();
    let times = brief.facts.iter().filter(own).filter(|fact| matches!(fact.value, Some(FactValue::Clock { .. }))).count();
    let is_priced = has(brief, &[FactKind::Price, FactKind::Capacity]);
    let invites = is_priced || has_role(brief, FactRole::OrderBy);
    match (days, times) {
        _ if sells(brief) => Goal::Seasonal,
        (HOURS_DAYS_MIN.., HOURS_DAYS_MIN..) if !is_priced => Goal::OpeningHours,
        (1, 1..) if invites => Goal::Event,
        _ => Goal::Seasonal,
    }
}

/// Returns the event that a seasonal brief names: the title before its first statement, if that title contains a season; otherwise, the
/// name of the season.
fn seasonal_event(brief: &Brief, language: Language) -> Option<Event> {
    let bank = Bank::of(language);
    let first = brief.facts.iter().find(|fact| is_statement(fact)).and_then(|fact| fact.span)?;
    let is_title = |part: &&Part| {
        let is_before = part.span.is_some_and(|span| span.end <= first.start && first.start - span.end <= 1);
        let is_short = count(&part.text) <= TITLE_WORDS_MAX;
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
