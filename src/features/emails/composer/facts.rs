//! Collects the facts from the prompt and the brand that fill phrases, in the email's language.
//!
//! The prompt's own words are used only in an email in the prompt's language. Numbers, dates and proper names are used in every language.

use jiff::civil::Date;

use super::language::{Bank, Language};
use super::phrases::Facts;
use super::understand::{ParsedPrompt, Saving, Scope};
use crate::features::emails::document::Purpose;
use crate::features::projects::brand::Brand;

/// The inputs that determine the facts of one email.
pub struct Source<'a> {
    pub understood: &'a ParsedPrompt,
    pub brand: &'a Brand,
    pub language: Language,
    pub today: Date,
    pub region: Option<&'a str>,
    /// Whether the email shows several products.
    pub has_grid: bool,
    /// Whether an earlier email of the series has announced the start.
    pub has_started: bool,
    /// The product that this email is about.
    pub product: Option<&'a str>,
}

/// The maximum length of a name, because longer names do not fit into titles and subjects.
const NAME_CHARACTERS_MAX: usize = 60;

impl Source<'_> {
    /// Returns whether the prompt's own words can be used, which requires an email in the prompt's language.
    pub fn prompt_speaks(&self) -> bool {
        self.understood.language == self.language
    }

    /// Returns all known facts.
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::new();
        let mut know = |name: &'static str, value: Option<String>| {
            let value = value.map(|value| tidy(&value)).filter(|value| !value.is_empty());
            if let Some(value) = value {
                facts.insert(name, value);
            }
        };
        let (understood, brand) = (self.understood, self.brand);
        let name = brand.name.as_deref().map(without_legal_form);
        know("brand", name.filter(|name| name.chars().count() <= NAME_CHARACTERS_MAX).map(str::to_owned));
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
        know("news", spoken(&understood.news.as_ref().map(|news| news.title.clone())));
        know("item", spoken(&understood.item).filter(|item| item.chars().count() <= NAME_CHARACTERS_MAX));
        know("event_topic", spoken(&understood.event_topic).map(|topic| super::understand::capital(&topic)));
        know("event_name", self.event_name());
        know("order_day", flag(understood.is_order_day));
        know("link", flag(!understood.links.is_empty()));
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

    /// Returns the name of an event without "our", such as "tea tasting".
    fn event_name(&self) -> Option<String> {
        let own = self.event()?;
        Some(own.strip_prefix("our ").filter(|_| self.language == Language::En).map_or(own.clone(), str::to_owned))
    }

    /// Returns the name of an event: the quoted name or, without one, the prompt's noun for the event.
    fn event(&self) -> Option<String> {
        let quoted = self.understood.name.as_ref().filter(|name| name.is_proper && self.understood.purpose == Purpose::Event);
        let noun = || self.understood.event.clone().filter(|_| self.prompt_speaks());
        // The English name is "our tea tasting"; in languages with grammatical gender, the noun has no article.
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
        if let Some((give, get)) = &understood.gifts {
            facts.insert("give", format.money(give));
            facts.insert("get", format.money(get));
        }
        if let Some(years) = understood.years {
            let place = if years == 1 { "common.year_one" } else { "common.years_many" };
            let words = Bank::of(self.language).phrases(place).first();
            facts.extend(words.map(|words| ("years", words.replace("{n}", &years.to_string()))));
        }
        if let Some(total) = &understood.total {
            facts.insert("total", format.money(total));
        }
    }

    /// Returns the key of the phrase for an end today or tomorrow.
    fn near_end(&self, ends: Date) -> Option<&'static str> {
        match ends {
            _ if ends == self.today && self.understood.is_tonight => Some("common.moment_tonight"),
            _ if ends == self.today => Some("common.moment_today"),
            _ if Some(ends) == self.today.tomorrow().ok() => Some("common.moment_tomorrow"),
            _ => None,
        }
    }

    /// Adds the facts about when an offer applies and ends, in everyday words such as "tonight" or "this weekend".
    fn know_moments(&self, facts: &mut Facts) {
        let bank = Bank::of(self.language);
        let said = |place: &str, day: &str| bank.phrases(place).first().map(|words| words.replace("{day}", day));
        let understood = self.understood;
        let day = |name: &str, facts: &Facts| facts.get(name).cloned();
        let ending = understood.ends.and_then(|ends| match (self.near_end(ends), day("ends_day", facts)) {
            (Some(place), _) => said(place, ""),
            (None, Some(day)) => said("common.moment_on", &day),
            (None, None) => None,
        });
        let holding = match (day("starts_day", facts), day("ends_day", facts), understood.on) {
            _ if understood.is_weekend => said("common.moment_weekend", ""),
            (None, Some(until), _) => said("common.moment_until", &until),
            (Some(on), None, Some(_)) => said("common.moment_on", &on),
            // A period of several days is stated in a sentence of its own.
            (Some(_), _, _) if understood.ends.is_some() => None,
            (Some(from), None, None) => said("common.moment_from", &from),
            _ => ending.clone(),
        };
        facts.extend(ending.map(|ending| ("ending", ending)));
        facts.extend(holding.map(|holding| ("holding", holding)));
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
        } else if let Some(starts) = starts.filter(|_| !self.has_started) {
            facts.insert("starts", format.date(starts, self.today));
            facts.insert("starts_day", format.day(starts, self.today));
        }
        if let Some(ends) = understood.ends {
            facts.insert("ends", format.date(ends, self.today));
            // "Tonight" is more helpful than the date.
            if self.near_end(ends).is_none() {
                facts.insert("ends_day", format.day(ends, self.today));
            }
        }
        self.know_moments(facts);
        match (understood.time, understood.time_end) {
            (Some(from), Some(to)) => facts.insert("time", format.times(from, to)),
            (Some(from), None) => facts.insert("time", format.time(from)),
            (None, _) => None,
        };
    }
}

/// Returns a company name without its legal form: "Ledgerly" for "Ledgerly, Inc.".
pub fn without_legal_form(name: &str) -> &str {
    const FORMS: [&str; 34] = [
        "gmbh & co. kg",
        "gmbh & co kg",
        "gmbh",
        "ggmbh",
        "ug (haftungsbeschränkt)",
        "ug",
        "e.k.",
        "e. k.",
        "ohg",
        "gbr",
        "kg",
        "ag",
        "se",
        "inc.",
        "inc",
        "llc",
        "ltd.",
        "ltd",
        "limited",
        "plc",
        "corp.",
        "corp",
        "co.",
        "s.a.",
        "sas",
        "sarl",
        "s.a.r.l.",
        "s.l.",
        "s.r.l.",
        "srl",
        "s.p.a.",
        "lda.",
        "b.v.",
        "bv",
    ];
    let name = name.trim();
    let cut = FORMS.iter().filter_map(|form| {
        let at = name.len().checked_sub(form.len())?;
        let same = name.get(at..)?.eq_ignore_ascii_case(form);
        let before = name.get(..at)?;
        let stem = before.trim_end_matches([' ', ',']);
        // Letters without a space or comma before them are the end of a word, not a legal form.
        (same && stem.len() < before.len() && stem.chars().count() >= 2).then_some(stem)
    });
    cut.min_by_key(|stem| stem.len()).unwrap_or(name)
}

/// Returns untrusted text on one line, without characters that would break the merge language or the layout.
pub fn tidy(text: &str) -> String {
    let kept = |c: &char| !matches!(c, '{' | '}') && !crate::base::text::is_invisible(*c);
    let spaced = |c: char| if c.is_control() { ' ' } else { c };
    let text: String = text.chars().filter(kept).map(spaced).collect();
    text.split([' ', '\u{a0}']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
