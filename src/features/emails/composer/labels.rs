//! Removes from statements the labels that are notes to the writer: "Why: …", "Link: https://example.com", "Recall stoneware mugs may
//! crack".

use super::content::{Content, same_address};
use super::language::Bank;
use super::text::{addresses, capital, folded, tidy, typographic};
use crate::features::emails::brief::{Fact, FactKind};

/// The maximum number of words in a label before a link.
const LABEL_WORDS_MAX: usize = 3;
/// The minimum number of words before a colon for them to stand alone as a statement. Fewer words are a label.
const HEAD_WORDS_MIN: usize = LABEL_WORDS_MAX + 1;
/// The minimum number of words after the kind of email for them to stand alone as a statement.
const REST_WORDS_MIN: usize = 5;
impl Content<'_> {
    /// Returns the text of a fact as the email prints it. A label at the start of a statement is removed: "Why: we doubled our hours".
    pub fn text(&self, at: usize) -> String {
        self.printed(self.fact(at))
    }

    pub(super) fn printed(&self, fact: &Fact) -> String {
        let text = typographic(&tidy(&fact.text));
        if !matches!(fact.kind, FactKind::Sentence | FactKind::Condition) {
            return text;
        }
        let bank = Bank::of(self.language);
        let labels = bank.phrases("words.labels").iter().chain(bank.phrases("words.openers"));
        let is_label = |head: &str| {
            let head = folded(head);
            labels.clone().any(|label| match label.strip_suffix('*') {
                Some(start) => head.starts_with(&folded(start)),
                None => head == folded(label),
            })
        };
        let rest = [": ", " - ", " – "].into_iter().filter_map(|mark| text.split_once(mark)).find(|(head, _)| is_label(head));
        let text = rest.map_or_else(|| text.clone(), |(_, rest)| capital(rest.trim()));
        self.without_address(fact, &self.without_announcing(&self.without_opener(&text)))
    }

    /// Returns a statement without the kind of email at its start. Users in a hurry type the kind without a colon: "Recall stoneware mugs
    /// may crack".
    fn without_opener(&self, text: &str) -> String {
        let bank = Bank::of(self.language);
        let lower = text.to_lowercase();
        let starts = |words: &&String| lower.strip_prefix(words.as_str()).is_some_and(|rest| rest.starts_with(' '));
        let Some(opener) = bank.phrases("words.openers").iter().filter(starts).max_by_key(|words| words.len()) else {
            return text.to_owned();
        };
        let rest = text.get(opener.len()..).unwrap_or_default().trim_start();
        let first = folded(rest.split(' ').next().unwrap_or_default());
        let is_common = bank.phrases("words.common").iter().any(|own| own == first.trim());
        if is_common || rest.split(' ').count() < REST_WORDS_MIN { text.to_owned() } else { capital(rest) }
    }

    /// Returns a statement without the verb that announces it: "Launching our flower subscription: …".
    fn without_announcing(&self, text: &str) -> String {
        let lower = text.to_lowercase();
        let verbs = Bank::of(self.language).phrases("words.announces");
        let verb = verbs.iter().filter(|verb| lower.strip_prefix(verb.as_str()).is_some_and(|rest| rest.starts_with(' ')));
        let rest = verb.max_by_key(|verb| verb.len()).and_then(|verb| text.get(verb.len()..)).map(str::trim_start);
        rest.filter(|rest| rest.contains(' ')).map_or_else(|| text.to_owned(), capital)
    }

    /// Returns a statement without the address of the main button at its end: "Registration until 7 December: https://example.com".
    fn without_address(&self, fact: &Fact, text: &str) -> String {
        let [address] = addresses(&fact.text)[..] else { return text.to_owned() };
        let head = text.trim_end_matches('.').strip_suffix(address).map(str::trim_end).and_then(|head| head.strip_suffix(':'));
        match head {
            Some(head) if self.is_main_link(address) && head.split(' ').count() >= HEAD_WORDS_MIN => format!("{head}."),
            _ => text.to_owned(),
        }
    }

    /// Returns whether this address is the one in the brief to which the main button leads.
    fn is_main_link(&self, address: &str) -> bool {
        let given = self.brief.cta.as_ref().and_then(|cta| cta.link.as_deref());
        given.or_else(|| self.only(FactKind::Link).map(|fact| fact.text.as_str())).is_some_and(|own| same_address(own, address))
    }

    /// Returns whether a statement is only the label of a link: "RSVP link: https://example.com", "Button to https://example.com", "Book at
    /// https://example.com". The button replaces such a statement.
    pub(super) fn is_link_label(&self, fact: &Fact) -> bool {
        let [address] = addresses(&fact.text)[..] else { return false };
        let (head, rest) = fact.text.split_once(address).unwrap_or((&fact.text, ""));
        let is_button = Bank::of(self.language).has_word("words.button", head);
        let last = folded(head.split_whitespace().last().unwrap_or_default());
        let leads = || Bank::of(self.language).has_word("words.joints", last.trim()) && self.is_main_link(address);
        let is_label = (head.trim_end().ends_with(':') || is_button || leads())
            && !head.contains(',')
            && !head.contains(|c: char| c.is_ascii_digit())
            && head.split_whitespace().count() <= LABEL_WORDS_MAX;
        is_label && !rest.contains(char::is_alphanumeric)
    }
}
