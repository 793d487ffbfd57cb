//! Determines the roles of the numbers and dates in a prompt, and the purpose of the email.

use super::super::{FactKind, FactRole, Goal};
use super::facts::{Bound, Found, has_value};
use super::lexicon::{List, goal_of, lexicons};
use super::prompt::{Prompt, Range};
use super::times;
use super::tokens::Kind;

/// The word lists (cues) that give a date its role, most specific first.
const CUES: [(List, FactRole); 10] = [
    (List::CueOrder, FactRole::OrderBy),
    (List::CueReopens, FactRole::Reopens),
    (List::CueClosed, FactRole::Closed),
    (List::CueDelivery, FactRole::Delivery),
    (List::CuePrice, FactRole::PriceChanges),
    (List::CueHappened, FactRole::Happened),
    (List::CueStarts, FactRole::OfferStarts),
    (List::CueEvent, FactRole::Event),
    (List::CueOther, FactRole::Other),
    (List::CueOffer, FactRole::Offer),
];

/// The beginnings of words for an invitation.
const INVITES: [&str; 7] = ["invit", "einlad", "lade", "conv", "uitnod", "nodig", "save"];

/// The weight of an invitation at the start of the prompt.
const INVITATION_WEIGHT: f32 = 2.5;

/// The first words of apologies.
pub const SORRY: [&str; 9] =
    ["sorry", "desole", "desolee", "perdon", "scusa", "scusate", "desculpa", "desculpem", "entschuldige"];

/// The beginnings of words for the length or the mistakes of a prompt.
const PROMPT_FLAWS: [&str; 22] = [
    "typo",
    "long",
    "novel",
    "essay",
    "rambl",
    "handwriting",
    "spelling",
    "grammar",
    "lang",
    "tippfehler",
    "schreibfehler",
    "roman",
    "kuddelmuddel",
    "faute",
    "coquille",
    "largo",
    "rollo",
    "faltas",
    "lungo",
    "refus",
    "textao",
    "typefout",
];

/// The maximum number of words in an apology for the prompt.
const FLAW_WORDS_MAX: usize = 9;

/// Returns whether a short passage apologizes for the length or the mistakes of the prompt: "sorry its long".
pub fn excuses_prompt(prompt: &Prompt<'_>, range: Range) -> bool {
    let range = prompt.trim(range);
    // The word for a flaw must be the last word, or the last word before "email": "Sorry for the long wait" is for the recipients.
    let is_end = |at: usize| at == range.to || prompt.end(List::Email, at) == Some(range.to);
    let is_flaw = |at: usize| is_end(at + 1) && PROMPT_FLAWS.iter().any(|flaw| prompt.fold(at).starts_with(flaw));
    (2..=FLAW_WORDS_MAX).contains(&range.len())
        && SORRY.contains(&prompt.fold(range.from))
        && (range.from + 1..range.to).any(is_flaw)
        && !has_value(prompt, range)
}

/// Returns the purpose that the prompt's words indicate: the one with the greatest weight. Earlier words weigh more.
pub fn goal(prompt: &Prompt<'_>) -> Option<Goal> {
    let mut weights: Vec<(Goal, f32)> = Vec::new();
    let whole = Range::of(0, prompt.words.len());
    for mark in prompt.all(List::Goal, whole) {
        let goal = lexicons()[usize::from(mark.language)].goal(mark.value);
        // After another kind of email, "reminder" does not name a separate kind: "cart reminder".
        let follows = || weights.iter().any(|_| prompt.before(List::Goal, mark.from).is_some());
        if goal == Goal::Reminder && follows() {
            continue;
        }
        let is_sent = prompt.is(List::Yesterday, mark.to) || prompt.before(List::Yesterday, mark.from).is_some();
        if goal == Goal::Digest && (is_sent || prompt.before(List::Past, mark.from).is_some()) {
            continue;
        }
        let early = if mark.from < 12 {
            2.0
        } else if mark.from < 30 {
            1.3
        } else {
            1.0
        };
        // An apology at the end of a long prompt is about the prompt itself: "désolé j'écris du train".
        let is_late = mark.from >= LATE_WORDS && mark.from + LAST_WORDS > prompt.words.len();
        if goal == Goal::Apology && is_late && mark.to == mark.from + 1 {
            continue;
        }
        // An apology for the length or mistakes of the prompt is not for the recipients: "Sorry its long".
        let end = (mark.to..prompt.words.len()).find(|at| !matches!(prompt.kind(*at), Kind::Word)).unwrap_or(prompt.words.len());
        if goal == Goal::Apology && excuses_prompt(prompt, Range::of(mark.from, end)) {
            continue;
        }
        // An apology or offer after "without" is not requested: "senza scuse infinite" ("without endless apologies").
        let is_denied = mark.from > 0 && prompt.is(List::Without, mark.from - 1);
        if is_denied && matches!(goal, Goal::Apology | Goal::Sale | Goal::Voucher) {
            continue;
        }
        // The topic of a survey says nothing about the goal: "survey about the opening hours".
        let is_topic =
            (mark.from.saturating_sub(ABOUT_WORDS_MAX)..mark.from).any(|at| prompt.is(List::About, at) && surveys(prompt, at));
        let early = if is_topic { 0.0 } else { early };
        let long = if mark.to > mark.from + 1 { 1.5 } else { 1.0 };
        // A phrase that states what kind of email it is counts more than other phrases: "Welcome email with 10% off" is not a sale.
        let early = if mark.from < 12 && (goal != Goal::Digest || mark.from < 2) && names_email(prompt, mark.from, mark.to) {
            early * 3.0
        } else {
            early
        };
        match weights.iter_mut().find(|(other, _)| *other == goal) {
            Some((_, weight)) => *weight += early * long * 0.7,
            None => weights.push((goal, early * long)),
        }
    }
    // An invitation counts as an event: "Invite members to our winter meet".
    let invites = (0..3.min(prompt.words.len())).any(|at| INVITES.iter().any(|stem| prompt.fold(at).starts_with(stem)));
    if invites && prompt.mentions(List::Month) {
        match weights.iter_mut().find(|(goal, _)| *goal == Goal::Event) {
            Some((_, weight)) => *weight += INVITATION_WEIGHT,
            None => weights.push((Goal::Event, INVITATION_WEIGHT)),
        }
    }
    let goal = weights.into_iter().rev().max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(goal, _)| goal);
    // "Bring a friend" in a prompt with a date but no reward is about an event, not a referral: "free but bring a friend".
    let is_dated = [List::Month, List::Weekday, List::ShortWeekday].into_iter().any(|list| prompt.mentions(list));
    let rewards = [List::Currency, List::Percent, List::Given].into_iter().any(|list| prompt.mentions(list));
    let goal = if goal == Some(Goal::Referral) && is_dated && !rewards { Some(Goal::Event) } else { goal };
    // An email about a canceled event is a service notice, not an invitation.
    let is_canceled =
        matches!(goal, Some(Goal::Event | Goal::Webinar | Goal::Launch)) && prompt.has(List::Canceled, start(prompt));
    if is_canceled { Some(Goal::ServiceNotice) } else { goal }
}

/// An apology is about the prompt itself if at least `LATE_WORDS` words precede it and it starts in the last `LAST_WORDS` words.
const LATE_WORDS: usize = 20;
const LAST_WORDS: usize = 8;

/// The maximum number of words from the word for a survey to "about", and from "about" to the topic.
const ABOUT_WORDS_MAX: usize = 4;

/// Returns whether one of the [`ABOUT_WORDS_MAX`] words before an index asks for a survey.
fn surveys(prompt: &Prompt<'_>, at: usize) -> bool {
    prompt.all(List::Goal, Range::of(at.saturating_sub(ABOUT_WORDS_MAX), at)).any(|mark| goal_of(mark) == Goal::Survey)
}

/// The number of words at the start of a prompt that say what the email is about. Only these words are searched for a cancellation.
const START_WORDS: usize = 25;

fn start(prompt: &Prompt<'_>) -> Range {
    Range::of(0, prompt.words.len().min(START_WORDS))
}

/// Returns whether a phrase states what kind of email it is: "welcome series", "cart reminder emails", "Willkommensmail".
fn names_email(prompt: &Prompt<'_>, from: usize, to: usize) -> bool {
    let is_email = |at: usize| prompt.is(List::Email, at) || prompt.is(List::Series, at);
    let next = prompt.all(List::Goal, Range::of(to, to + 1)).map(|mark| mark.to).max().unwrap_or(to);
    is_email(to) || is_email(next) || is_email(from)
}

/// Returns whether the prompt requests a newsletter in its first ten words.
pub fn is_digest(prompt: &Prompt<'_>) -> bool {
    let start = Range::of(0, prompt.words.len().min(10));
    prompt.all(List::Goal, start).any(|mark| lexicons()[usize::from(mark.language)].goal(mark.value) == Goal::Digest)
}

/// The context that determines the role of a fact.
pub struct Around<'a> {
    pub prompt: &'a Prompt<'a>,
    pub goal: Goal,
    pub sentence: Range,
    pub fragment: Range,
}

/// Returns the role of a percentage, an amount, a date, a period or an offer's price; `None` for other facts.
pub fn role(around: &Around<'_>, found: &Found) -> Option<FactRole> {
    match found.kind {
        FactKind::Percentage => Some(if is_offer(around, found) { FactRole::Offer } else { FactRole::Other }),
        FactKind::Amount => Some(if is_off(around, found.range) { FactRole::Offer } else { FactRole::Other }),
        FactKind::Date | FactKind::Period => Some(day_role(around, found)),
        FactKind::Price => (matches!(around.goal, Goal::Sale | Goal::WinBack | Goal::Seasonal) && has_old_price(around))
            .then_some(FactRole::Offer),
        _ => None,
    }
}

fn has_old_price(around: &Around<'_>) -> bool {
    around.prompt.has(List::Old, around.sentence)
}

/// Returns whether a number is next to words for a reduction.
pub fn is_off(around: &Around<'_>, range: Range) -> bool {
    let prompt = around.prompt;
    let after = Range::of(range.to, (range.to + 3).min(around.fragment.to));
    let before = Range::of(range.from.saturating_sub(3).max(around.fragment.from), range.from);
    // After a percentage, "off" belongs to the percentage, not to the price: "40% off $11.99".
    let off = prompt.find(List::Off, after).filter(|off| !is_sum(prompt, off.to));
    off.is_some() || prompt.find(List::Off, before).is_some_and(|off| off.from == 0 || !prompt.is(List::Percent, off.from - 1))
}

/// Returns whether there is a number other than a percentage at an index, with or without a currency before it: "12", "€12".
fn is_sum(prompt: &Prompt<'_>, at: usize) -> bool {
    let next = at + usize::from(prompt.is(List::Currency, at) || prompt.fold(at) == ":");
    let is_number = |at: usize| prompt.kind(at) == Kind::Number || prompt.at(List::Numeral, at).any(|mark| mark.value > 1);
    is_number(next) && !prompt.is(List::Percent, next + 1)
}

fn is_offer(around: &Around<'_>, found: &Found) -> bool {
    let prompt = around.prompt;
    // A plus sign before a value marks an increase, not an offer: "Kupfer +18 %".
    if found.range.from > 0 && prompt.fold(found.range.from - 1) == "+" && prompt.words.is_glued(found.range.from) {
        return false;
    }
    let after = Range::of(found.range.to, (found.range.to + 3).min(around.sentence.to));
    if prompt.has(List::Off, Range::of(found.range.to, (found.range.to + 2).min(around.sentence.to)))
        && !prompt.has(List::NotOffer, after)
    {
        return true;
    }
    if prompt.has(List::HalfPrice, found.range) {
        return true;
    }
    if prompt.has(List::NotOffer, around.sentence) {
        return false;
    }
    let has_minimum = prompt.has(List::Minimum, around.fragment) || prompt.has(List::MinimumFrom, around.fragment);
    let is_selling = matches!(
        around.goal,
        Goal::Sale
            | Goal::WinBack
            | Goal::Welcome
            | Goal::Voucher
            | Goal::Cart
            | Goal::Seasonal
            | Goal::Referral
            | Goal::Apology
            | Goal::ThankYou
    );
    is_selling || has_minimum || is_off(around, found.range) || prompt.has(List::Code, around.sentence)
}

fn day_role(around: &Around<'_>, found: &Found) -> FactRole {
    let cued = nearest_cue(around, found);
    if found.value.is_none() && around.prompt.has(List::Unit, found.range) {
        let own = Around { sentence: around.fragment, ..*around };
        return match nearest_cue(&own, found) {
            Some(role @ (FactRole::Delivery | FactRole::Happened)) => role,
            _ => FactRole::Other,
        };
    }
    if around.prompt.has(List::Past, found.range) {
        return FactRole::Happened;
    }
    let has_offer = around.prompt.has(List::CueOffer, around.sentence) && around.goal == Goal::Sale;
    let cued = match (around.goal, cued) {
        (Goal::Hiring | Goal::Survey | Goal::Review, Some(FactRole::OfferStarts | FactRole::Closed | FactRole::Offer)) => {
            Some(FactRole::Other)
        }
        (Goal::Event | Goal::Webinar | Goal::Digest, Some(FactRole::OfferStarts | FactRole::Offer))
            if found.bound == Bound::None =>
        {
            Some(FactRole::Event)
        }
        (Goal::Launch | Goal::Event | Goal::OpeningHours, Some(FactRole::Reopens)) => Some(FactRole::Event),
        (_, Some(FactRole::Happened)) if is_moved_to(around.prompt, found) => None,
        (_, Some(FactRole::OrderBy)) if has_offer && found.bound == Bound::Until => Some(FactRole::OfferEnds),
        (_, cued) => cued,
    };
    match cued {
        Some(FactRole::Offer | FactRole::OfferStarts) if found.bound == Bound::Until => FactRole::OfferEnds,
        Some(FactRole::Offer) if found.bound == Bound::From => FactRole::OfferStarts,
        Some(FactRole::Offer) => by_goal(around.goal, found.bound),
        // The role of other cues does not depend on words such as "until": "Closed until 10 January", "closes on 10 January".
        Some(role) => role,
        // A day without a month recurs every month: "The invoice is due on the 5th".
        None if is_bare_day(around.prompt, found) => FactRole::Other,
        // In a sale, weekdays without a word such as "until" recur every week: "Beans roasted on Tuesday, posted on Wednesday".
        None if found.bound == Bound::None && around.goal == Goal::Sale && is_weekday(around.prompt, found) => FactRole::Other,
        None if is_happening(around.goal) && is_end(around.prompt, found) => FactRole::Event,
        None => by_goal(around.goal, found.bound),
    }
}

/// Returns whether something was moved to this day: "wurde auf Samstag verschoben".
fn is_moved_to(prompt: &Prompt<'_>, found: &Found) -> bool {
    let from = found.range.from;
    let is_led = |at: usize| matches!(prompt.fold(at), "auf" | "naar" | "to");
    is_led(from) || from > 0 && is_led(from - 1)
}

/// Returns whether an email with this purpose is about an event.
fn is_happening(goal: Goal) -> bool {
    matches!(goal, Goal::Event | Goal::Webinar | Goal::Reminder)
}

/// The maximum number of words in a time: "9 p.m. CET".
const TIME_WORDS_MAX: usize = 6;

/// Returns whether a day ends a period whose start includes a time: "Friday 9pm to Saturday 6am".
fn is_end(prompt: &Prompt<'_>, found: &Found) -> bool {
    let Range { from, to } = found.range;
    let ends = |at: usize| times::time(prompt, at).is_some_and(|time| time.range.to == from);
    found.bound == Bound::Until && times::time(prompt, to).is_some() && (from.saturating_sub(TIME_WORDS_MAX)..from).any(ends)
}

/// Returns whether a date consists only of weekdays.
fn is_weekday(prompt: &Prompt<'_>, found: &Found) -> bool {
    let has_number = (found.range.from..found.range.to).any(|at| prompt.kind(at) == Kind::Number);
    let has_day = prompt.has(List::Weekday, found.range) || prompt.has(List::ShortWeekday, found.range);
    has_day && !has_number && !prompt.has(List::Month, found.range)
}

/// Returns whether a date names neither a month nor a weekday.
fn is_bare_day(prompt: &Prompt<'_>, found: &Found) -> bool {
    let named = [List::Month, List::Weekday, List::ShortWeekday, List::NamedDay, List::Today, List::Tomorrow, List::Yesterday];
    let numbers = (found.range.from..found.range.to).filter(|at| prompt.kind(*at) == Kind::Number);
    let plain = numbers.clone().count() == 1 && numbers.into_iter().all(|at| prompt.raw(at).len() <= 2);
    found.bound == Bound::None && plain && !named.into_iter().any(|list| prompt.has(list, found.range))
}

/// Returns the role that the nearest cue in the sentence indicates. Cues in the same fragment and before the date are preferred.
fn nearest_cue(around: &Around<'_>, found: &Found) -> Option<FactRole> {
    let prompt = around.prompt;
    let mut best: Option<(usize, FactRole)> = None;
    for (rank, (list, role)) in CUES.into_iter().enumerate() {
        for mark in prompt.all(list, around.sentence) {
            let own = Range::of(mark.from, mark.to);
            let is_outside = !around.fragment.contains(own);
            // The distance in words. A cue after the date counts as more than twice as far away, and a cue inside the date has the distance
            // 0.
            let distance = if mark.to <= found.range.from {
                found.range.from - mark.to
            } else if mark.from >= found.range.to {
                (mark.from - found.range.to) * 2 + 1
            } else {
                0
            };
            let other_day =
                (mark.to..found.range.from).any(|at| prompt.kind(at) == Kind::Number && prompt.is(List::Month, at + 1));
            let score = distance * 4 + rank + if is_outside { 16 } else { 0 } + if other_day { 12 } else { 0 };
            if best.is_none_or(|(least, _)| score < least) {
                best = Some((score, role));
            }
        }
    }
    best.filter(|(score, _)| *score < 72).map(|(_, role)| role)
}

/// Returns the role that a date without a cue has in an email with this purpose.
fn by_goal(goal: Goal, bound: Bound) -> FactRole {
    use Bound as B;
    use FactRole as R;
    match (goal, bound) {
        (Goal::Sale | Goal::Voucher | Goal::WinBack | Goal::Welcome | Goal::Seasonal | Goal::Cart | Goal::Referral, B::Until) => {
            R::OfferEnds
        }
        (Goal::Sale | Goal::Launch, B::From) => R::OfferStarts,
        (Goal::Sale, B::None) => R::OfferEnds,
        (Goal::Launch, B::None) => R::OfferStarts,
        (Goal::Event | Goal::Webinar | Goal::Reminder | Goal::Hiring | Goal::OrderDeadline, B::Until) => R::OrderBy,
        (Goal::OrderDeadline, B::From) => R::Other,
        (Goal::OrderDeadline, B::None) => R::OrderBy,
        (
            Goal::Event
            | Goal::Webinar
            | Goal::Reminder
            | Goal::Waitlist
            | Goal::Digest
            | Goal::ThankYou
            | Goal::OpeningHours
            | Goal::Seasonal,
            _,
        ) => R::Event,
        (Goal::ServiceNotice, B::None) => R::Closed,
        (Goal::PriceChange | Goal::Legal, _) => R::PriceChanges,
        (Goal::Closing, B::From) => R::Reopens,
        (Goal::Closing, _) => R::Closed,
        (Goal::Apology | Goal::Outage | Goal::Recall, B::None) => R::Happened,
        _ => R::Other,
    }
}
