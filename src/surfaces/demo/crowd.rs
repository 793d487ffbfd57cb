//! The demo's contacts: made-up names at inbox addresses with simulated behavior.

use std::fmt::Write;

/// The domain of simulated recipients.
const SIMULATOR: &str = "simulator.mailmill.example";

/// The number of contacts.
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

/// The most common behavior of each group of twelve; a few behave differently.
const USUAL: [&str; 12] = [
    "open",
    "delivered",
    "click",
    "open",
    "delivered",
    "open",
    "delivered",
    "click",
    "delivered",
    "open",
    "delivered",
    "delivered",
];
const RARE: [(usize, &str); 6] =
    [(17, "unsubscribe"), (41, "hard-bounce"), (58, "deferred"), (77, "soft-bounce"), (93, "unsubscribe"), (104, "deferred")];

fn behaviour(number: usize) -> &'static str {
    RARE.iter().find(|(at, _)| *at == number).map_or(USUAL[number % USUAL.len()], |(_, rare)| rare)
}

/// Returns how many of them click.
pub fn clickers() -> usize {
    (0..SIZE).filter(|number| behaviour(*number) == "click").count()
}

/// Returns all of them as a CSV file like a shop's export, plus the reader.
pub fn csv(reader: &str) -> String {
    let mut text = String::from("email,first name,last name,country,tags,favorite\n");
    for number in 0..SIZE {
        let (first, last) = (FIRST[number % FIRST.len()], LAST[(number * 7 + number / FIRST.len()) % LAST.len()]);
        let country = COUNTRIES[(number * 5) % COUNTRIES.len()];
        let tags = if number % 5 == 0 { "VIP;Newsletter" } else { "Newsletter" };
        let favorite = ["green tea", "black tea", "teaware"][number % 3];
        let _ = writeln!(text, "{}+{number:03}@{SIMULATOR},{first},{last},{country},{tags},{favorite}", behaviour(number));
    }
    let _ = writeln!(text, "{reader},You,,DE,Newsletter,green tea");
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_contact_has_a_unique_address_and_some_click() {
        let text = csv("you@example.com");
        let addresses: HashSet<&str> = text.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
        assert_eq!(addresses.len(), SIZE + 1);
        assert!(text.lines().all(|line| line.split(',').count() == 6));
        assert_eq!(clickers(), text.matches("\nclick+").count());
        assert!((10..40).contains(&clickers()));
    }
}
