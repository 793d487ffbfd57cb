//! The demo's contacts: fictional readers, and when they open, click or unsubscribe after the campaign is sent.

use std::fmt::Write;

/// The domain of the built-in simulated recipients.
const SIMULATOR: &str = "simulator.mailmill.example";

/// The number of contacts in the demo.
pub const SIZE: usize = 120;

const FIRST: [&str; 24] = [
    "Ada", "Grace", "Zoë", "Noah", "Mila", "Jonas", "Amélie", "Luca", "Sofía", "Emil", "Freya", "Oskar", "Inès", "Mateo", "Lena",
    "Elias", "Maja", "Hugo", "Clara", "Tomás", "Nora", "Felix", "Yuki", "Anton",
];
const LAST: [&str; 20] = [
    "Berg", "Rossi", "Novák", "Martin", "García", "Lind", "Weber", "Dubois", "Kowalska", "Silva", "Hansen", "Moreau", "Conti",
    "Schäfer", "Virtanen", "Jansen", "Costa", "Meyer", "Petit", "Larsen",
];
const COUNTRIES: [&str; 8] = ["DE", "FR", "IT", "ES", "NL", "SE", "AT", "PL"];
/// Domains that are reserved for examples and have no mailboxes (RFC 2606).
const DOMAINS: [&str; 3] = ["example.com", "example.org", "example.net"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behavior {
    Ignores,
    Opens,
    Clicks,
    Unsubscribes,
    /// The reader has the address of the simulated recipient with this name, such as `hard-bounce`.
    Simulated(&'static str),
}

/// The behaviors of twelve readers. They repeat for all readers except those in [`RARE`].
const USUAL: [Behavior; 12] = {
    use Behavior::{Clicks, Ignores, Opens};
    [Opens, Ignores, Clicks, Opens, Ignores, Opens, Ignores, Clicks, Ignores, Opens, Ignores, Ignores]
};
const RARE: [(usize, Behavior); 6] = [
    (17, Behavior::Unsubscribes),
    (41, Behavior::Simulated("hard-bounce")),
    (58, Behavior::Simulated("mailbox-full")),
    (77, Behavior::Simulated("soft-bounce")),
    (93, Behavior::Unsubscribes),
    (104, Behavior::Simulated("mailbox-full")),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReaderStep {
    Open,
    Click,
    Unsubscribe,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReaderAction {
    /// The time between the send and the action.
    pub after_ms: i64,
    pub email: String,
    pub action: ReaderStep,
}

fn behavior(number: usize) -> Behavior {
    RARE.iter().find(|(at, _)| *at == number).map_or(USUAL[number % USUAL.len()], |(_, rare)| *rare)
}

fn names(number: usize) -> (&'static str, &'static str) {
    (FIRST[number % FIRST.len()], LAST[(number * 7 + number / FIRST.len()) % LAST.len()])
}

fn email(number: usize) -> String {
    if let Behavior::Simulated(mailbox) = behavior(number) {
        return format!("{mailbox}+{number:03}@{SIMULATOR}");
    }
    let (first, last) = names(number);
    format!("{}.{}@{}", ascii(first), ascii(last), DOMAINS[number % DOMAINS.len()])
}

/// Converts a name to ASCII for an email address.
fn ascii(name: &str) -> String {
    let plain = |letter: char| match letter {
        'á' | 'ä' => 'a',
        'é' | 'è' | 'ë' => 'e',
        'í' => 'i',
        other => other.to_ascii_lowercase(),
    };
    name.chars().map(plain).collect()
}

/// Returns the demo's contacts, followed by the user, as a CSV file that looks like a shop's export.
pub fn csv(user: &str) -> String {
    let mut text = String::from("email,first name,last name,country,tags,favorite\n");
    for number in 0..SIZE {
        let (first, last) = names(number);
        let country = COUNTRIES[(number * 5) % COUNTRIES.len()];
        let tags = if number % 5 == 0 { "VIP;Newsletter" } else { "Newsletter" };
        let favorite = ["green tea", "black tea", "teaware"][number % 3];
        let _ = writeln!(text, "{},{first},{last},{country},{tags},{favorite}", email(number));
    }
    let _ = writeln!(text, "{user},You,,DE,Newsletter,green tea");
    text
}

/// The half-life of opens: in each interval of this length, half of the remaining opens happen.
const HALF_LIFE_MS: f64 = 12.0 * 60.0 * 60.0 * 1000.0;
const MINUTE_MS: i64 = 60 * 1000;

/// Returns the time between the send and the first open by reader `number`. Most readers open the campaign soon, and a few open it days
/// later.
fn opens_after_ms(number: usize) -> i64 {
    // 53 and the number of readers are coprime, so each reader has a different place in the distribution.
    let place = ((number * 53 + 17) % SIZE) as f64 + 0.5;
    let left = 1.0 - place / SIZE as f64;
    (HALF_LIFE_MS * -left.log2()) as i64 + MINUTE_MS
}

/// Returns the actions of all readers in chronological order. A reader opens a message before clicking or unsubscribing.
pub fn actions() -> Vec<ReaderAction> {
    let mut actions = Vec::new();
    for number in 0..SIZE {
        let (opened, pause) = (opens_after_ms(number), (1 + number as i64 % 6) * MINUTE_MS);
        let acts: &[(i64, ReaderStep)] = match behavior(number) {
            Behavior::Ignores | Behavior::Simulated(_) => &[],
            Behavior::Opens => &[(opened, ReaderStep::Open)],
            Behavior::Clicks => &[(opened, ReaderStep::Open), (opened + pause, ReaderStep::Click)],
            Behavior::Unsubscribes => &[(opened, ReaderStep::Open), (opened + pause, ReaderStep::Unsubscribe)],
        };
        actions.extend(acts.iter().map(|(after_ms, action)| ReaderAction {
            after_ms: *after_ms,
            email: email(number),
            action: *action,
        }));
    }
    actions.sort_by_key(|action| action.after_ms);
    actions
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashSet};

    use super::*;
    use crate::vocab::limits;

    #[test]
    fn every_contact_has_a_unique_address() {
        let text = csv("you@example.com");
        let addresses: HashSet<&str> = text.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
        assert_eq!(addresses.len(), SIZE + 1);
        assert!(addresses.iter().all(|address| address.is_ascii()), "{text}");
        assert!(text.lines().all(|line| line.split(',').count() == 6));
    }

    #[test]
    fn what_readers_do_spreads_over_hours_and_days_and_fades() {
        let actions = actions();
        let last = actions.last().expect("there is at least one action").after_ms;
        assert!(last < limits::DEMO_PAST_MS, "every action is in the past: {last}");
        let count = |step| actions.iter().filter(|one| one.action == step).count();
        assert!(
            (10..40).contains(&count(ReaderStep::Click))
                && count(ReaderStep::Unsubscribe) == 2
                && count(ReaderStep::Open) > count(ReaderStep::Click)
        );
        let mut by_day: BTreeMap<i64, usize> = BTreeMap::new();
        let mut hours = HashSet::new();
        for action in &actions {
            *by_day.entry(action.after_ms / limits::DAY_MS).or_default() += 1;
            hours.insert(action.after_ms / (60 * MINUTE_MS));
        }
        let by_day: Vec<usize> = by_day.into_values().collect();
        assert!(by_day.len() >= 3 && by_day.is_sorted_by(|one, next| one > next), "{by_day:?}");
        assert!(hours.len() > 20, "{hours:?}");
    }
}
