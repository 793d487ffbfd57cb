//! Writes text from the prompt as markup: dates and codes are bold, and web addresses, email addresses and phone numbers are links.

use std::ops::Range;

use super::material;
use super::phrases::escape;
use super::sections::Writer;
use super::text::{addresses, bare_address, capital, ended, folded, tidy};
use crate::features::emails::brief::{FactKind, FactRole, Goal};

/// The markup of a passage.
enum Mark {
    Bold,
    /// A link: its target and the text that it shows.
    Link(String, String),
}

impl Writer<'_> {
    /// Returns a statement as a sentence in markup, without its first words if they are the title.
    pub fn sentence(&self, at: usize) -> String {
        let text = self.content.text(at);
        let marks = [", ", ": ", " – ", " - "];
        let told = marks.into_iter().filter_map(|mark| text.split_once(mark));
        let told = told.into_iter().find(|(head, rest)| self.is_title(head) && rest.contains(' '));
        // A number can follow the words of the title without punctuation: "Vouchers for Christmas 25, 50 or 100 euros".
        let number = text.find(|c: char| c.is_ascii_digit()).filter(|at| folded(&text[..*at]) == self.title);
        let rest = told.map(|(_, rest)| rest).or_else(|| number.map(|at| &text[at..]));
        let text = rest.unwrap_or(text.as_str());
        self.marked(&ended(&capital(text)), &self.content.facts_in(at))
    }

    /// Returns whether the title has all words of the start of a statement, except common words: "Réveillon du 31 décembre" for the
    /// title "Réveillon, le 31 décembre".
    pub fn is_title(&self, head: &str) -> bool {
        let common = self.book.bank().phrases("words.common");
        let head = folded(head);
        let mut words = head.split_whitespace().filter(|word| !common.iter().any(|own| folded(own).trim() == *word)).peekable();
        // A start with several numbers must equal the title, because the title writes several days in its own form.
        let numbers = head.split_whitespace().filter(|word| word.starts_with(|c: char| c.is_ascii_digit())).count();
        head == self.title
            || numbers < 2
                && self.goal == Goal::Event
                && words.peek().is_some()
                && words.all(|word| self.title.contains(&format!(" {word} ")))
    }

    /// Returns text from the prompt as markup with its links. The dates and codes of `facts` are bold.
    pub fn marked(&self, text: &str, facts: &[usize]) -> String {
        let text = if self.content.rules.no_exclamation { text.replace('!', ".") } else { text.to_owned() };
        let mut marks = self.links_in(&text);
        for fact in facts.iter().map(|at| self.content.fact(*at)) {
            let words = tidy(fact.text.trim_end_matches('.'));
            // A day that has no number and is not a deadline is part of a routine or a name: "every Friday", "between Christmas and New
            // Year".
            let is_vague = fact.kind == FactKind::Date
                && matches!(fact.role, None | Some(FactRole::Event | FactRole::Other))
                && !words.contains(|c: char| c.is_ascii_digit());
            let is_bold = matches!(fact.kind, FactKind::Date | FactKind::Code) && words.len() > 2 && !is_vague;
            let found = is_bold.then(|| free(&text, &words, &marks)).flatten();
            marks.extend(found.map(|range| (range, Mark::Bold)));
        }
        marks.sort_by_key(|(range, _)| range.start);
        let mut markup = String::with_capacity(text.len() + 32);
        let mut from = 0;
        for (range, mark) in marks {
            markup.push_str(&escape(&text[from..range.start]));
            let words = escape(&text[range.clone()]);
            match mark {
                Mark::Bold => markup.push_str(&format!("**{words}**")),
                Mark::Link(href, shown) => markup.push_str(&format!("[{}]({href})", escape(&shown))),
            }
            from = range.end;
        }
        markup.push_str(&escape(&text[from..]));
        // Merges adjacent bold passages.
        markup.replace("** **", " ")
    }

    fn links_in(&self, text: &str) -> Vec<(Range<usize>, Mark)> {
        let mut marks = Vec::new();
        for address in addresses(text) {
            let full = if address.starts_with("www.") { format!("https://{address}") } else { address.to_owned() };
            let (Some(link), Some(range)) = (material::link(&full), free(text, address, &marks)) else { continue };
            marks.push((range, Mark::Link(link.to_string(), bare_address(address).to_owned())));
        }
        let contacts = self.content.brief.facts.iter().filter(|fact| fact.kind == FactKind::Contact);
        for contact in contacts.map(|fact| tidy(&fact.text)) {
            let (Some(link), Some(range)) = (material::contact(&contact), free(text, &contact, &marks)) else { continue };
            marks.push((range, Mark::Link(link.to_string(), contact)));
        }
        marks
    }
}

/// Returns the first range of the text that contains these whole words and overlaps no marked passage.
fn free(text: &str, words: &str, marks: &[(Range<usize>, Mark)]) -> Option<Range<usize>> {
    let is_whole = |range: &Range<usize>| {
        let joins = |one: Option<char>, other: Option<char>| {
            one.zip(other).is_some_and(|(one, other)| one.is_alphanumeric() && other.is_alphanumeric())
        };
        !joins(text[..range.start].chars().next_back(), words.chars().next())
            && !joins(words.chars().next_back(), text[range.end..].chars().next())
    };
    let places = text.match_indices(words).map(|(at, _)| at..at + words.len());
    let is_free = |range: &Range<usize>| marks.iter().all(|(own, _)| range.end <= own.start || own.end <= range.start);
    places.filter(|range| !words.is_empty() && is_whole(range)).find(is_free)
}
