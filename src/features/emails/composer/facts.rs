//! The facts that phrases can be filled with: from the prompt and the brand, in the email's language.
//!
//! Free words of the prompt are facts only in an email of the prompt's language; figures, days and proper names are in all.

use jiff::civil::Date;

use super::language::{Bank, Language};
use super::phrases::Facts;
use super::understand::{Saving, Scope, Understood};
use crate::features::emails::document::Purpose;
use crate::features::projects::brand::Brand;

/// What the facts of one email depend on.
pub struct Source<'a> {
    pub understood: &'a Understood,
    pub brand: &'a Brand,
    pub language: Language,
    pub today: Date,
    pub region: Option<&'a str>,
    /// Whether the email shows several products.
    pub has_grid: bool,
    /// Whether it is sent on the day on which something begins: a teaser has told of it before.
    pub has_begun: bool,
    /// The product that this email is about.
    pub product: Option<&'a str>,
}

/// A name longer than this breaks titles and subjects.
const NAME_CHARACTERS_MAX: usize = 60;

impl Source<'_> {
    /// Whether the prompt's own words can be used.
    pub fn prompt_speaks(&self) -> bool {
        self.understood.language == self.language
    }

    /// Every fact that is known.
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::new();
        let mut know = |name: &'static str, value: Option<String>| {
            let value = value.map(|value| tidy(&value)).filter(|value| !value.is_empty());
            if let Some(value) = value {
                facts.insert(name, value);
            }
        };
        let (understood, brand) = (self.understood, self.brand);
        know("brand", brand.name.clone().filter(|name| name.chars().count() <= NAME_CHARACTERS_MAX));
        know("email", brand.contact.email.clone());
        know("phone", brand.contact.phone.clone());
        know("product", self.product());
        know("order", understood.order.clone());
        know("code", understood.code.clone());
        let flag = |holds: bool| holds.then(|| "✓".to_owned());
        know("shipping", flag(understood.free_shipping));
        know("grid", flag(self.has_grid));
        know("shop", flag(brand.products.iter().any(|product| product.price.is_some())));
        know("article", flag(understood.product_has_article));
        let exact =
            |saving: &Saving| matches!(saving, Saving::Percent { up_to: false, .. } | Saving::Amount { up_to: false, .. });
        know("exact", flag(understood.saving.as_ref().is_some_and(exact)));
        let season = understood.season.as_ref().map(|season| format!("season.{season}.name"));
        know("season", season.and_then(|place| Bank::of(self.language).phrases(&place).first().cloned()));
        let spoken = |text: &Option<String>| text.clone().filter(|_| self.prompt_speaks());
        know("topic", spoken(&understood.topic).filter(|topic| topic.chars().count() <= NAME_CHARACTERS_MAX));
        know("audience", spoken(&understood.audience));
        know("venue", understood.venue.as_ref().and_then(|venue| spoken(&venue.phrase)));
        know("event", self.event());
        self.know_offer(&mut facts);
        self.know_days(&mut facts);
        facts
    }

    fn product(&self) -> Option<String> {
        let name =
            self.understood.name.as_ref().filter(|name| name.is_proper || self.prompt_speaks()).map(|name| name.text.as_str());
        self.product.or(name).filter(|name| name.chars().count() <= NAME_CHARACTERS_MAX).map(str::to_owned)
    }

    /// The name of an event: what is quoted, or the prompt's noun for it.
    fn event(&self) -> Option<String> {
        let quoted = self.understood.name.as_ref().filter(|name| name.is_proper && self.understood.purpose == Purpose::Event);
        let noun = || self.understood.event.clone().filter(|_| self.prompt_speaks());
        // English says "our tea tasting"; where nouns have a gender, the noun stands by itself.
        let noun = || match (self.language, noun()) {
            (Language::En, Some(event)) => Some(format!("our {event}")),
            (_, event) => event,
        };
        quoted.map(|name| name.text.clone()).or_else(noun)
    }

    fn know_offer(&self, facts: &mut Facts) {
        let format = Bank::of(self.language).format(self.region);
        let understood = self.understood;
        if let Some(saving) = &understood.saving {
            let scoped = |offer: String| match &understood.scope {
                Some(Scope::Everything) => format.deal_all.replace("{offer}", &offer),
                Some(Scope::Words(scope)) if self.prompt_speaks() => {
                    format.deal.replace("{offer}", &offer).replace("{scope}", &tidy(scope))
                }
                Some(Scope::Words(_)) | None => offer,
            };
            facts.insert("saving", format.saving(saving));
            facts.insert("offer", format.offer(saving));
            facts.insert("bare_deal", scoped(format.offer(saving)));
            facts.insert("deal", scoped(format.deal(saving)));
        }
        if let Some(threshold) = &understood.threshold {
            facts.insert("threshold", format.money(threshold));
        }
        if let Some(price) = understood.price.as_ref().filter(|_| !understood.price_is_least) {
            facts.insert("price", format.money(price));
        }
        if let Some(total) = &understood.total {
            facts.insert("total", format.money(total));
        }
    }

    fn know_days(&self, facts: &mut Facts) {
        let format = Bank::of(self.language).format(self.region);
        let understood = self.understood;
        let is_event = understood.purpose == Purpose::Event;
        let starts = understood.starts.or(understood.on.filter(|_| !is_event));
        if is_event {
            if let Some(when) = understood.on.or(understood.starts) {
                facts.insert("when", format.date(when, self.today));
                facts.insert("when_day", format.day(when, self.today));
            }
        } else if let Some(starts) = starts.filter(|_| !self.has_begun) {
            facts.insert("starts", format.date(starts, self.today));
            facts.insert("starts_day", format.day(starts, self.today));
        }
        if let Some(ends) = understood.ends {
            facts.insert("ends", format.date(ends, self.today));
            facts.insert("ends_day", format.day(ends, self.today));
        }
        match (understood.time, understood.time_end) {
            (Some(from), Some(to)) => facts.insert("time", format.times(from, to)),
            (Some(from), None) => facts.insert("time", format.time(from)),
            (None, _) => None,
        };
    }
}

/// Text of others on one line, without what the merge language or the eye would stumble over.
pub fn tidy(text: &str) -> String {
    let kept = |letter: &char| !matches!(letter, '{' | '}') && !crate::base::text::is_invisible(*letter);
    let spaced = |letter: char| if letter.is_control() { ' ' } else { letter };
    let text: String = text.chars().filter(kept).map(spaced).collect();
    text.split([' ', '\u{a0}']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
