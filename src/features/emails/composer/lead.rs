//! Writes the opening of an email below its title.

use super::groups::Group;
use super::sections::{LEAD_CHARACTERS, Writer, place};
use super::text::folded;
use crate::features::emails::brief::{FactKind, FactRole};
use crate::vocab::limits;

/// When a phrase is checked for repeating the email's statements, words with fewer characters are ignored.
const TOLD_CHARACTERS_MIN: usize = 4;

impl Writer<'_> {
    /// Returns the text of the opening: a phrase, the first statements, or both.
    pub fn lead(&mut self) -> String {
        let content = self.content;
        let season = self.season_phrase().filter(|_| !self.presents_product());
        if self.job.starts_with("general.") {
            return self.markup("lead").unwrap_or_default();
        }
        let offers = self.book.facts.contains_key("offer")
            && content.loose.iter().any(|at| {
                let fact = content.fact(*at);
                matches!(fact.kind, FactKind::Percentage | FactKind::Amount) && fact.role == Some(FactRole::Offer)
            });
        let deal = if offers { self.book.text("common.deal_sentence") } else { None };
        let is_main = self.job.ends_with(".main") || self.job == "plain";
        let told = format!("{}.told", self.job);
        // If a statement names the day of the mistake, a phrase must not repeat the day.
        let names = |day: &String| self.statements.iter().any(|at| folded(&self.content.text(*at)).contains(&folded(day)));
        if self.book.facts.get("happened_day").is_some_and(names) {
            self.book.facts.remove("happened_day");
        }
        // If a statement apologizes, a phrase must not repeat the apology.
        let apologizes = ["apology.main", "outage.main"].contains(&self.job) && {
            // The title is ignored if the day of the mistake is known, because a phrase with that day contains more
            // information than the title.
            let title = Some(self.said.clone()).filter(|_| !self.book.facts.contains_key("happened_day"));
            let said = self.statements.iter().map(|at| self.content.text(*at)).chain(title);
            self.book.bank().has_word("words.sorry", &said.collect::<Vec<_>>().join(" "))
        };
        if self.presents_product() && deal.is_none() {
            return String::new();
        }
        if self.is_stated && deal.is_none() && season.is_none() && self.book.has(&told) && !apologizes {
            return self.book.text(&told).unwrap_or_default();
        }
        let is_stated =
            content.items().is_empty() && self.statements.iter().any(|at| !self.has_code(*at)) || !content.stories.is_empty();
        let mut after = None;
        let intro = match (!is_stated, deal) {
            (true, deal) => match season {
                Some(season) => self.with_deal(season, deal),
                None => self.lead_with(deal),
            },
            (false, Some(deal)) => {
                after = Some(deal);
                String::new()
            }
            (false, None) if is_main && apologizes => String::new(),
            (false, None) if is_main => self.markup("ask").filter(|ask| !self.repeats_statements(ask)).unwrap_or_default(),
            (false, None) => self.markup("lead").unwrap_or_default(),
        };
        let intro = self.without_title(&intro);
        let mut parts: Vec<String> = Vec::from_iter(Some(intro).filter(|intro| !intro.is_empty()));
        self.said.push_str(&folded(&parts.join(" ")));
        self.said.push_str(&after.as_deref().map(folded).unwrap_or_default());
        let is_prose = content.items().is_empty() && !self.tells_stories();
        if let Some(Group::Paragraph(first)) = self.groups().into_iter().next().filter(|_| is_prose) {
            let length = |parts: &[String]| parts.iter().map(|part| part.chars().count()).sum::<usize>();
            for at in first {
                let sentence = self.sentence(at);
                let fits = length(&parts) + sentence.chars().count() <= LEAD_CHARACTERS || parts.is_empty();
                if !fits || sentence.chars().count() > limits::EMAIL_PARAGRAPH_CHARACTERS_MAX {
                    break;
                }
                parts.push(sentence);
                self.statements.retain(|other| *other != at);
            }
        }
        parts.extend(after);
        parts.join(" ")
    }

    /// Returns whether a seasonal email only presents a product: its title is the news, and a card shows the product. Such an email omits
    /// the season's wishes, because they would not be about the product.
    pub fn presents_product(&self) -> bool {
        self.job == "seasonal.main" && self.is_stated && self.shows_cards()
    }

    /// Returns a phrase without the sentence that repeats the title: only "Good to have you with us." for the phrase "Thank you for signing
    /// up. Good to have you with us."
    fn without_title(&self, phrase: &str) -> String {
        let all = super::knowledge::split(phrase);
        let others: Vec<&str> = all.iter().copied().filter(|sentence| folded(sentence) != self.title).collect();
        if others.len() == all.len() { phrase.to_owned() } else { others.join(" ").trim().to_owned() }
    }

    /// Returns whether the statements contain most of the information in a phrase's first sentence: "You left something in your cart".
    fn repeats_statements(&self, phrase: &str) -> bool {
        let told: String = self.statements.iter().map(|at| folded(&self.content.text(*at))).collect();
        let first = super::knowledge::split(phrase).first().map_or_else(|| phrase.to_owned(), |first| (*first).to_owned());
        let first = folded(&first);
        let words: Vec<&str> = first.split_whitespace().filter(|word| word.chars().count() >= TOLD_CHARACTERS_MIN).collect();
        let same = words.iter().filter(|word| told.contains(&format!(" {word} "))).count();
        words.len() > 1 && same * 5 >= words.len() * 3
    }

    fn lead_with(&mut self, deal: Option<String>) -> String {
        let lead = self.markup("lead").unwrap_or_default();
        self.with_deal(lead, deal)
    }

    /// Returns an opening phrase followed by the offer, unless the phrase or the body states the offer.
    fn with_deal(&self, lead: String, deal: Option<String>) -> String {
        let Some(deal) = deal else { return lead };
        let saving = self.book.facts.get("saving").map(|saving| folded(saving)).unwrap_or_default();
        let body = place(&self.book, self.job, "body");
        let has_deal = self.book.bank().phrases(&body).iter().any(|phrase| phrase.contains("{deal}"));
        let is_in_body = has_deal && self.content.is_thin();
        if is_in_body || folded(&lead).contains(saving.trim()) { lead } else { format!("{lead} {deal}").trim().to_owned() }
    }

    /// Returns the season's own phrase for the opening.
    fn season_phrase(&mut self) -> Option<String> {
        let season = self.book.season.clone().filter(|_| matches!(self.job, "seasonal.main" | "sale.main"))?;
        let kind = if self.book.facts.contains_key("grid") { "lead" } else { "wish" };
        self.book.text(&format!("season.{season}.{kind}"))
    }
}
