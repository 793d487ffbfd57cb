//! Writes the main button, with a label that suits its link.

use super::sections::{Writer, place};
use super::text::{addresses, capital, folded, tidy, unquoted};
use crate::features::emails::brief::{Fact, FactKind};
use crate::features::emails::document::*;

/// The maximum length, in characters, of a label that the composer chooses, which must fit on one line on a phone.
const BUTTON_CHARACTERS_MAX: usize = 28;
/// The maximum number of characters between a label and its link, such as ": ".
const LABEL_GAP: u32 = 3;

impl Writer<'_> {
    /// Returns the main button, with the label that the brief prescribes or that suits its link.
    pub fn action(&mut self) -> Option<Action> {
        let cta = self.content.brief.cta.as_ref();
        let asked =
            cta.and_then(|cta| cta.label.as_ref()).map(|label| tidy(unquoted(&label.text))).filter(|label| !label.is_empty());
        let is_given = asked.is_some() || self.target.as_ref() != self.site.as_ref();
        if self.has_button || !(self.shape.calls || is_given || self.job.starts_with("general.")) {
            return None;
        }
        let href = self.target.clone()?;
        let own = place(&self.book, self.job, "button");
        let places = match href.as_str().split(':').next() {
            Some("mailto") => ["common.button_mail", "common.default_button"],
            Some("tel") => ["common.button_call", "common.default_button"],
            // A label that names the brand, such as "Visit Leaf & Stone", is only for the home page.
            _ if self.target != self.site && self.book.bank().phrases(&own).iter().all(|label| label.contains("{brand}")) => {
                ["common.default_button", "common.default_button"]
            }
            _ => [own.as_str(), "common.default_button"],
        };
        let named = self.label_of_link(&href);
        let named = named.or_else(|| self.label_of_product());
        let mut phrase = || places.into_iter().find_map(|place| self.book.line_within(place, BUTTON_CHARACTERS_MAX));
        let label = asked.or(named).or_else(&mut phrase)?;
        self.has_button = true;
        Some(Action { label: Line::cut(&capital(&label)), href })
    }

    /// Returns the label of a button that links news about a product to the product's page.
    fn label_of_product(&mut self) -> Option<String> {
        if !(self.content.announces_product(self.shape) || self.presents_product()) {
            return None;
        }
        self.book.line_within("common.button_product", BUTTON_CHARACTERS_MAX)
    }

    /// Returns the label of a link. The prompt's words about the link or, without a match, the words of its address select a
    /// phrase: "Book now" for "Reservations: https://example.com/table". Without a suitable phrase, the label in the prompt is
    /// used.
    fn label_of_link(&self, href: &Link) -> Option<String> {
        let said = self.words_before(href).unwrap_or_default();
        let path = href.as_str().split_once("://").map_or("", |(_, rest)| rest);
        let host = path.split('/').next().unwrap_or_default();
        let is_home = self.site.as_ref() == Some(href);
        // A subdomain can name a page: "status.example.com". The rest of the host is the name of the brand.
        let path = path.replacen(host, host.split('.').next().filter(|_| host.matches('.').count() > 1).unwrap_or_default(), 1);
        let known = |text: &str| self.book.bank().action(&folded(text)).map(|place| self.book.label(&place));
        let found = known(&said).or_else(|| known(&path.replace(['-', '_', '/'], " ")));
        let own = said.strip_suffix(':').map(tidy).filter(|own| self.content.prints(own) && own.contains(' '));
        let own = own.filter(|own| own.chars().count() <= BUTTON_CHARACTERS_MAX && !self.book.bank().has_word("words.link", own));
        found.or(own).filter(|label| !is_home && !label.is_empty())
    }

    /// Returns the words before a link or a contact in the prompt: the start of the statement that contains it, or the label before it.
    fn words_before(&self, href: &Link) -> Option<String> {
        let content = self.content;
        let opens = |text: &str| super::material::link(text).or_else(|| super::material::contact(text)).as_ref() == Some(href);
        let is_it =
            |at: &usize| matches!(content.fact(*at).kind, FactKind::Link | FactKind::Contact) && opens(&content.fact(*at).text);
        let at = (0..content.brief.facts.len()).find(is_it)?;
        let fact = content.fact(at);
        let is_around = |other: &&Fact| other.kind == FactKind::Sentence && other.text.contains(&fact.text);
        if let Some(text) = content.brief.facts.iter().find(is_around).map(|other| &other.text) {
            return text.find(&fact.text).map(|at| text[..at].trim().to_owned());
        }
        let start = fact.span?.start;
        let notes = content.brief.instructions.iter();
        let label = notes.filter(|note| {
            note.span
                .is_some_and(|span| span.end <= start && start - span.end <= LABEL_GAP || span.start <= start && start < span.end)
        });
        label.map(|note| addresses(&note.text).iter().fold(note.text.clone(), |text, own| text.replace(own, ""))).next()
    }
}
