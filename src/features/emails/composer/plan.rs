//! Plans a series: the number of emails, their order, the days between them, and their jobs.
//!
//! The plan depends on the brief, the requested number of emails and the brand's material.

use serde::{Deserialize, Serialize};

use super::content::Content;
use super::goals;
use crate::features::emails::brief::{Fact, FactKind, FactRole, Goal};
use crate::features::emails::document::Purpose;
use crate::features::projects::brand::Brand;
use crate::vocab::limits;

/// The emails in a series; a single email is a series of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The name of the series, in the language of the first email.
    pub name: String,
    pub slots: Vec<Slot>,
}

/// The place of one email in a series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// The job of the email: a key in the phrase banks, such as `sale.teaser`.
    pub job: String,
    /// The number of days after the occasion of the series, such as the sign-up, the start of a sale or the event; negative for days before
    /// it.
    pub send_offset_days: i32,
}

/// The number of days between additional emails in a long series.
const FURTHER_DAYS: i32 = 4;
/// The maximum number of days from the start of an offer to its last reminder.
const PERIOD_DAYS_MAX: i32 = 60;

/// Plans a series. `count` is the number of emails that the caller requests. If absent, the brief determines the number, which is 1 by
/// default.
pub fn slots(goal: Goal, content: &Content<'_>, brand: &Brand, has_knowledge: bool, count: Option<usize>) -> Vec<Slot> {
    let count = count.or(content.rules.emails).unwrap_or(1).clamp(1, limits::EMAILS_PER_SERIES_MAX);
    let shape = goals::shape(goal);
    let has_offer = shape.sells && content.saving().is_some();
    let own = own(shape.purpose, has_offer, period(content));
    let mut slots: Vec<Slot> = chosen(&own, count).into_iter().map(|(job, days)| slot(key(shape.purpose), job, days)).collect();
    if let Some(main) = slots.iter_mut().find(|slot| slot.job.ends_with(".main")) {
        // A sale with discounts is about the discounts, even if it also has free delivery.
        let is_rate = |fact: &Fact| matches!(fact.kind, FactKind::Percentage | FactKind::Amount);
        let discounts = content.brief.facts.iter().any(|fact| is_rate(fact) && fact.role == Some(FactRole::Offer));
        let delivers = content.brief.offer.as_ref().is_some_and(|offer| offer.free_delivery) && !has_offer && !discounts;
        let is_sale = goal == Goal::Sale;
        main.job = format!("{}.main", if is_sale && delivers { "shipping" } else { shape.key });
    }
    let mut further = further(&own, has_offer, shape.purpose, brand, has_knowledge).into_iter();
    // If the series has a closing email, additional emails precede it. Each additional email is sent some days after the email before it.
    let closes = slots.len() > 1 && slots.last().is_some_and(|slot| slot.job.ends_with(".last"));
    while slots.len() < count {
        let at = slots.len() - usize::from(closes);
        let before = slots[at - 1].send_offset_days;
        let Some(job) = further.next() else { break };
        slots.insert(at, Slot { job: job.to_owned(), send_offset_days: before + FURTHER_DAYS });
        if closes {
            let last = slots.len() - 1;
            slots[last].send_offset_days = slots[last].send_offset_days.max(before + FURTHER_DAYS + 1);
        }
    }
    if let [only] = slots.as_mut_slice() {
        only.send_offset_days = 0;
    }
    slots
}

fn slot(key: &str, job: &str, days: i32) -> Slot {
    let job = if job.contains('.') { job.to_owned() } else { format!("{key}.{job}") };
    Slot { job, send_offset_days: days }
}

/// Returns the name of a purpose in the phrase banks.
pub fn key(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Welcome => "welcome",
        Purpose::Sale => "sale",
        Purpose::Launch => "launch",
        Purpose::Newsletter => "newsletter",
        Purpose::Event => "event",
        Purpose::CartReminder => "cart",
        Purpose::WinBack => "winback",
        Purpose::ReviewRequest => "review",
        Purpose::Receipt => "receipt",
        Purpose::Seasonal => "seasonal",
        Purpose::Referral => "referral",
        Purpose::Announcement => "announcement",
    }
}

/// Returns the number of days from an offer's start to its end, from 1 to [`PERIOD_DAYS_MAX`]; 3 if the brief contains no end.
fn period(content: &Content<'_>) -> i32 {
    let starts = content.days(FactRole::OfferStarts).map_or(content.today, |(first, ..)| first);
    let ends = content.days(FactRole::OfferEnds).map(|(first, last, _)| last.unwrap_or(first));
    let days = ends.and_then(|ends| starts.until(ends).ok()).map_or(3, |span| span.get_days());
    days.clamp(1, PERIOD_DAYS_MAX)
}

/// Returns the jobs of a purpose, each with its day and the minimum length of a series that includes it.
fn own(purpose: Purpose, has_offer: bool, period: i32) -> Vec<(&'static str, i32, usize)> {
    match purpose {
        Purpose::Welcome if has_offer => {
            vec![("main", 0, 1), ("general.story", 2, 3), ("reminder", 5, 2), ("general.picks", 9, 4)]
        }
        Purpose::Welcome => vec![("main", 0, 1), ("general.story", 2, 2), ("general.picks", 5, 3), ("general.help", 9, 4)],
        Purpose::Sale => vec![("teaser", -2, 3), ("main", 0, 1), ("reminder", (period / 2).max(1), 4), ("last", period, 2)],
        Purpose::Launch => vec![("teaser", -3, 3), ("main", 0, 1), ("reminder", 2, 2), ("general.spotlight", 6, 4)],
        Purpose::Newsletter => {
            vec![("main", 0, 1), ("general.knowledge", 7, 2), ("general.picks", 14, 3), ("general.story", 21, 4)]
        }
        Purpose::Event => vec![("main", -14, 1), ("reminder", -3, 2), ("last", -1, 3)],
        Purpose::CartReminder => vec![("main", 0, 1), ("second", 1, 2), ("last", 3, 3)],
        Purpose::WinBack => vec![("main", 0, 1), ("second", 4, 2), ("last", 10, 3)],
        Purpose::ReviewRequest => vec![("main", 0, 1), ("reminder", 5, 2), ("general.help", 10, 3)],
        Purpose::Receipt => vec![("main", 0, 1), ("review.main", 10, 2), ("general.help", 4, 3)],
        Purpose::Seasonal => vec![("teaser", -7, 3), ("main", 0, 1), ("last", period, 2)],
        Purpose::Referral => vec![("main", 0, 1), ("reminder", 5, 2), ("general.social", 10, 3)],
        Purpose::Announcement => vec![("main", 0, 1), ("reminder", 4, 2), ("general.help", 8, 3)],
    }
}

/// Returns the jobs in a series of this length, sorted by day.
fn chosen(own: &[(&'static str, i32, usize)], count: usize) -> Vec<(&'static str, i32)> {
    let mut chosen: Vec<_> = own.iter().filter(|(_, _, from)| *from <= count).map(|(job, days, _)| (*job, *days)).collect();
    chosen.sort_by_key(|(_, days)| *days);
    chosen
}

/// Returns the additional jobs for a long series: first each job that has material, then the repeatable jobs in turn.
fn further(
    own: &[(&'static str, i32, usize)],
    has_offer: bool,
    purpose: Purpose,
    brand: &Brand,
    has_knowledge: bool,
) -> Vec<&'static str> {
    let own: Vec<&str> = own.iter().map(|(job, ..)| *job).collect();
    let has_offer_reminder = !has_offer && purpose == Purpose::Welcome;
    let once = [
        ("general.knowledge", has_knowledge),
        ("general.spotlight", !brand.products.is_empty()),
        ("general.story", brand.description.is_some()),
        ("general.social", !brand.social.is_empty()),
        ("general.picks", brand.products.len() > 1),
        ("general.help", true),
        ("welcome.reminder", has_offer_reminder),
    ];
    let again = ["general.spotlight", "general.knowledge", "general.picks"];
    let first = once.iter().filter(|(job, known)| *known && !own.contains(job)).map(|(job, _)| *job);
    first.chain(again.into_iter().cycle()).take(limits::EMAILS_PER_SERIES_MAX * 2).collect()
}
