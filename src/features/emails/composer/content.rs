//! Sorts the content of a brief into statements, which the email prints in the prompt's words, and facts, which the composer states in
//! its own words.
//!
//! Statements are printed only in emails in their language. Numbers, dates and names are used in emails in any language.

use std::collections::HashSet;

use jiff::civil::{Date, Time};

use super::format::{Money, Saving};
use super::language::{Bank, Format, Language};
use super::rules::Rules;
use super::text::{folded, is_in, own_place, tidy};
use crate::features::emails::brief::{Brief, Fact, FactKind, FactRole, FactValue, Goal, Part, Span, zone};
use crate::features::projects::brand::Brand;

/// The content of a brief, sorted for one email. Facts and stories are identified by their positions in the brief.
pub struct Content<'a> {
    pub brief: &'a Brief,
    pub rules: Rules,
    pub language: Language,
    pub format: &'static Format,
    pub today: Date,
    /// The statements outside of stories that the email prints in the prompt's words.
    pub statements: Vec<usize>,
    /// The stories that the email prints.
    pub stories: Vec<usize>,
    /// The facts that the email still has to state, because no printed statement or story contains them.
    pub loose: Vec<usize>,
    /// The products of the brand that the brief names, with their prices.
    pub cards: Vec<Card>,
    /// The language of the brief's words; `None` if it is unknown.
    spoken: Option<Language>,
    saving: Option<Saving>,
    /// For each fact, whether it is a statement that only repeats other facts.
    pub(super) bare: Vec<bool>,
}

/// A product of the brand that the brief names.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// The position of the product among the brand's products.
    pub product: usize,
    pub fact: usize,
    pub price: Option<usize>,
    pub old_price: Option<usize>,
    /// Whether the email shows the product. Products that are sold as a set are hidden, because their cards would show the shop's prices
    /// instead of the price of the set.
    pub shown: bool,
}

/// The maximum number of words in a name before a price.
const PRICED_WORDS_MAX: usize = 9;
/// The number of words before an amount that are checked for words such as "over" and "from".
const OVER_WORDS_MAX: usize = 2;
/// The maximum total length, in characters, of the statements that fit into the opening.
const LITTLE_CHARACTERS: usize = 140;
/// The number of characters between two list items in the prompt: a line break, a list mark and a space, possibly with a period or
/// indentation.
const ITEM_GAP: std::ops::RangeInclusive<u32> = 3..=7;
/// Words for "up to" in the languages of the composer.
const UP_TO: [&str; 8] = ["up to", "bis zu", "jusqu", "hasta", "fino a", "ate ", "tot ", "maximaal"];

/// The minimum number of common words of another language that show that a brief is not in its email's language.
const FOREIGN_SCORE_MIN: usize = 3;

/// Returns the language of a brief's words: the email's language, unless the words are clearly in another language.
fn spoken(brief: &Brief) -> Option<Language> {
    let own = Language::of(&brief.language);
    let texts = brief.facts.iter().filter(|fact| fact.kind == FactKind::Sentence).map(|fact| fact.text.as_str());
    let notes = brief.instructions.iter().chain(&brief.audience).map(|part| part.text.as_str());
    let text = folded(&texts.chain(notes).collect::<Vec<_>>().join(" "));
    let score = |language: Language| {
        let common = super::language::Bank::of(language).phrases("words.common");
        text.split_whitespace().filter(|word| common.iter().any(|own| own == word)).count()
    };
    let best = Language::SPOKEN.into_iter().rev().max_by_key(|language| score(*language))?;
    let least = own.filter(|own| own.is_complete()).map_or(0, score) * 2 + 1;
    // The brief must contain clearly more common words of another language than of the email's language, because several languages share
    // short words such as "a".
    if score(best) > least.max(FOREIGN_SCORE_MIN - 1) { Some(best) } else { own }
}

impl<'a> Content<'a> {
    pub fn of(brief: &'a Brief, brand: &Brand, language: Language, format: &'static Format, today: Date) -> Self {
        let rules = Rules::of(brief);
        let mut content = Self {
            brief,
            rules,
            language,
            format,
            today,
            statements: Vec::new(),
            stories: Vec::new(),
            loose: Vec::new(),
            cards: Vec::new(),
            spoken: spoken(brief),
            saving: None,
            bare: Vec::new(),
        };
        content.saving = content.find_saving();
        content.bare = (0..brief.facts.len()).map(|at| content.repeats_facts(at)).collect();
        content.stories = (0..brief.stories.len()).filter(|at| content.prints(&brief.stories[*at].text.text)).collect();
        content.statements = content.statements();
        content.loose = content.loose();
        content.cards = content.cards(brand);
        content
    }

    pub fn fact(&self, at: usize) -> &'a Fact {
        &self.brief.facts[at]
    }

    /// Returns whether a statement only lists products, which the email shows as cards: "The Tide Vase and the Salt Pig".
    pub fn is_list_of_products(&self, at: usize) -> bool {
        let fact = self.fact(at);
        let products = self.brief.facts.iter().filter(|other| other.kind == FactKind::Product && other.story.is_none());
        let names: Vec<String> = products.map(|other| folded(&other.text)).collect();
        let text = folded(&fact.text);
        let rest = names.iter().fold(text.clone(), |text, name| text.replacen(name.as_str(), " ", 1));
        let common = Bank::of(self.language).phrases("words.common");
        rest != text && rest.split_whitespace().all(|word| common.iter().any(|own| own == word))
    }

    /// Returns whether the email can print text from the prompt: the text is in the email's language and contains no avoided words.
    pub fn prints(&self, text: &str) -> bool {
        !tidy(text).is_empty() && self.rules.allow(text) && !self.is_foreign(text)
    }

    /// Returns whether text from the prompt is in a language other than the email's.
    pub fn is_foreign(&self, text: &str) -> bool {
        !is_in(text, self.language, self.spoken)
    }

    /// Returns the indexes of the printable statements outside of printed stories. Bare statements, labels of links and statements
    /// contained in other statements are left out.
    fn statements(&self) -> Vec<usize> {
        let is_statement = |fact: &Fact| matches!(fact.kind, FactKind::Sentence | FactKind::Condition);
        let all: Vec<usize> = (0..self.brief.facts.len())
            .filter(|at| is_statement(self.fact(*at)) && !self.is_in_story(self.fact(*at)) && self.prints(&self.fact(*at).text))
            .filter(|at| !self.is_bare(*at) && !self.is_link_label(self.fact(*at)))
            .collect();
        let texts: Vec<String> = all.iter().map(|at| folded(&self.fact(*at).text)).collect();
        let repeats = |at: usize| {
            let longer =
                |other: usize| texts[other].len() > texts[at].len() || (texts[other].len() == texts[at].len() && other < at);
            (0..texts.len()).any(|other| other != at && longer(other) && texts[other].contains(&texts[at]))
        };
        (0..all.len()).filter(|at| !repeats(*at)).map(|at| all[at]).collect()
    }

    pub fn is_in_story(&self, fact: &Fact) -> bool {
        fact.story.is_some_and(|story| self.stories.contains(&usize::from(story)))
    }

    /// Returns the indexes of the facts that the printed statements and stories do not contain, except the signer's name, bare
    /// statements and labels of links.
    fn loose(&self) -> Vec<usize> {
        let brief = self.brief;
        let mut said = String::new();
        for at in &self.statements {
            said.push_str(&folded(&self.fact(*at).text));
        }
        for at in &self.stories {
            said.push_str(&folded(&brief.stories[*at].text.text));
        }
        let signed = brief.signature.as_ref().map(|signature| folded(&signature.name)).unwrap_or_default();
        let is_loose = |at: &usize| {
            let fact = self.fact(*at);
            let is_signer = fact.kind == FactKind::Person && signed.contains(&folded(&fact.text));
            !self.statements.contains(at)
                && !self.is_bare(*at)
                && !self.is_link_label(fact)
                && !self.is_in_story(fact)
                && !is_signer
                && !self.is_said(fact, &said)
        };
        (0..brief.facts.len()).filter(is_loose).collect()
    }

    /// Returns whether folded text contains a fact, in the prompt's words or in the format of the email's language.
    pub fn is_said(&self, fact: &Fact, said: &str) -> bool {
        let shown = |form: &String| said.contains(&folded(form));
        // A relative day such as "Sunday" is enough for a class on Sundays, but not for the end of an offer.
        let ends = matches!(fact.role, Some(FactRole::OfferStarts | FactRole::OfferEnds | FactRole::OrderBy));
        // An offer that starts today needs no date: "Available today".
        let is_now = |first: Date| first == self.today && fact.role == Some(FactRole::OfferStarts);
        let is_day =
            fact.kind == FactKind::Date && matches!(fact.value, Some(FactValue::Days { first, last: None }) if !is_now(first));
        let relative = ends && is_day && !fact.text.contains(|c: char| c.is_ascii_digit());
        let told = folded(&self.printed(fact));
        let literal = !relative && !told.trim().is_empty() && said.contains(&told);
        // In a table, the number follows its label: "Places: 12".
        let counted = match fact.value {
            Some(FactValue::Count { count }) if fact.kind == FactKind::Capacity => {
                let label = Bank::of(self.language).phrases("common.label_places").first();
                label.is_some_and(|label| said.contains(&format!("{}{}", folded(label), folded(&count.to_string()))))
            }
            _ => false,
        };
        let is_place = fact.kind == FactKind::Place && said.contains(&folded(own_place(fact.text.trim(), self.language)));
        // A date is stated if its number is, and a price without a currency is stated if its amount is: "It closes on 10 December" states
        // "closes 10 December", and "from 200 to 150 euros" states "200".
        let number = fact.text.find(|c: char| c.is_ascii_digit()).map(|at| folded(&fact.text[at..]));
        let is_dated = fact.kind == FactKind::Date && number.is_some_and(|number| said.contains(number.trim_end()));
        let is_amount = matches!(fact.kind, FactKind::Price | FactKind::OldPrice)
            && is_bare(&fact.text)
            && said.split(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').any(|word| word == fact.text.trim());
        literal || counted || is_place || is_dated || is_amount || self.forms(fact).iter().any(shown)
    }

    /// Returns the forms in which the email's language writes the value of a fact.
    fn forms(&self, fact: &Fact) -> Vec<String> {
        let format = self.format;
        match &fact.value {
            Some(FactValue::Percent { percent }) => vec![format.percent(*percent)],
            Some(FactValue::Money { amount, currency }) => vec![format.amount(*amount, currency)],
            Some(FactValue::Days { first, last: None }) => vec![format.day(*first, self.today), format.date(*first, self.today)],
            Some(FactValue::Days { first, last: Some(last) }) => vec![format.days(*first, *last, self.today)],
            Some(FactValue::Clock { start, end: None }) => vec![format.time(*start)],
            Some(FactValue::Clock { start, end: Some(end) }) => vec![format.times(*start, *end)],
            Some(FactValue::Count { .. }) | None => Vec::new(),
        }
    }

    /// Returns a fact as the email prints it outside of statements; `None` if its words are not in the email's language.
    pub fn shown(&self, fact: &Fact) -> Option<String> {
        let format = self.format;
        let is_name = matches!(
            fact.kind,
            FactKind::Code | FactKind::Person | FactKind::Contact | FactKind::Link | FactKind::Place | FactKind::Product
        );
        // A place in lowercase, such as "town hall", is not a name.
        let is_name =
            is_name && (fact.kind != FactKind::Place || fact.text.contains(|c: char| c.is_uppercase() || c.is_ascii_digit()));
        let words = || Some(tidy(&fact.text)).filter(|text| !text.is_empty() && (is_name || self.prints(text)));
        match &fact.value {
            Some(FactValue::Days { first, last: None }) if self.is_second_day(fact, *first) => Some(format.weekday(*first)),
            Some(FactValue::Days { first, last: None }) => Some(format.date(*first, self.today)),
            Some(FactValue::Days { first, last: Some(last) }) => Some(format.days(*first, *last, self.today)),
            Some(FactValue::Clock { start, .. }) if self.is_half_open(&fact.text, *start) => Some(tidy(&fact.text)),
            Some(FactValue::Clock { start, end }) => {
                let time = end.map_or_else(|| format.time(*start), |end| format.times(*start, end));
                Some(zone(&fact.text).map_or_else(|| time.clone(), |zone| format!("{time} {zone}")))
            }
            Some(FactValue::Money { amount, currency }) if is_bare(&fact.text) => Some(format.amount(*amount, currency)),
            _ => words(),
        }
    }

    /// Returns whether a time could be in the morning or in the evening: the email's language uses the 12-hour clock, and the
    /// text contains neither a word such as "pm" nor a leading zero.
    fn is_half_open(&self, text: &str, start: Time) -> bool {
        let is_named = Bank::of(self.language).phrases("words.halves").iter().any(|half| folded(text).contains(half.as_str()));
        self.format.is_halved() && (1..12).contains(&start.hour()) && !is_named && !text.trim_start().starts_with('0')
    }

    fn cards(&self, brand: &Brand) -> Vec<Card> {
        let mut cards: Vec<Card> = Vec::new();
        for (at, fact) in self.brief.facts.iter().enumerate().filter(|(_, fact)| fact.story.is_none()) {
            match fact.kind {
                FactKind::Product => {
                    let name = folded(&fact.text);
                    let is_it = |product: &crate::features::projects::brand::BrandProduct| folded(&product.name) == name;
                    let near = |product: &crate::features::projects::brand::BrandProduct| folded(&product.name).contains(&name);
                    let found = brand.products.iter().position(is_it).or_else(|| brand.products.iter().position(near));
                    if let Some(product) = found.filter(|found| cards.iter().all(|card| card.product != *found)) {
                        cards.push(Card { product, fact: at, price: None, old_price: None, shown: true });
                    }
                }
                // A price belongs to the product before it, if both are in the same statement or in none. It is the price of a set if it
                // follows several products without a price.
                FactKind::Price | FactKind::OldPrice => {
                    let statement = self.statement_of(at);
                    let mut own: Vec<&mut Card> =
                        cards.iter_mut().filter(|card| self.statement_of(card.fact) == statement).collect();
                    if fact.kind == FactKind::OldPrice {
                        own.last_mut().into_iter().for_each(|card| _ = card.old_price.get_or_insert(at));
                        continue;
                    }
                    own.retain(|card| card.price.is_none());
                    match own.as_mut_slice() {
                        [card] => card.price = Some(at),
                        set => set.iter_mut().for_each(|card| card.shown = false),
                    }
                }
                _ => {}
            }
        }
        self.hide_parts(cards)
    }

    /// Hides the products that have no price of their own if the brief has a price that belongs to no product, because that price is for
    /// the set.
    fn hide_parts(&self, mut cards: Vec<Card>) -> Vec<Card> {
        let mut prices = (0..self.brief.facts.len()).filter(|at| {
            let fact = self.fact(*at);
            fact.kind == FactKind::Price && fact.story.is_none()
        });
        let is_set = prices.any(|at| cards.iter().all(|card| card.price != Some(at)));
        if is_set && cards.len() > 1 {
            cards.iter_mut().for_each(|card| card.shown &= card.price.is_some());
        }
        // An invitation only mentions a product, and its button does not lead to the product.
        if matches!(self.brief.purpose, Goal::Event | Goal::Webinar) {
            cards.retain(|card| card.price.is_some());
        }
        cards
    }

    /// Returns the index of the printed statement that contains a fact.
    pub fn statement_of(&self, at: usize) -> Option<usize> {
        let span = self.fact(at).span?;
        let within = |outer: Span| outer.start <= span.start && span.end <= outer.end;
        self.statements.iter().copied().find(|other| *other != at && self.fact(*other).span.is_some_and(within))
    }

    /// Returns whether the words right before an amount, in its statement, exclude the amount itself: "over €50".
    pub fn says_over(&self, amount: &Fact) -> bool {
        Bank::of(self.language).has_word("words.over", &self.before(amount))
    }

    /// Returns the words right before an amount in its statement.
    pub fn before(&self, amount: &Fact) -> String {
        let Some(span) = amount.span else { return String::new() };
        let statement = self.brief.facts.iter().find_map(|fact| {
            let own =
                fact.span.filter(|own| fact.kind == FactKind::Sentence && own.start <= span.start && span.end <= own.end)?;
            Some(fact.text.chars().take((span.start - own.start) as usize).collect::<String>())
        });
        let before = statement.unwrap_or_default();
        let last: Vec<&str> = before.split_whitespace().rev().take(OVER_WORDS_MAX).collect();
        last.into_iter().rev().collect::<Vec<_>>().join(" ")
    }

    /// Returns the indexes of the facts inside a statement.
    pub fn facts_in(&self, statement: usize) -> Vec<usize> {
        (0..self.brief.facts.len()).filter(|at| *at != statement && self.statement_of(*at) == Some(statement)).collect()
    }

    /// Returns the indexes of the facts of a story, except links.
    pub fn facts_of_story(&self, story: usize) -> Vec<usize> {
        let own = |fact: &Fact| fact.story.map(usize::from) == Some(story) && fact.kind != FactKind::Link;
        (0..self.brief.facts.len()).filter(|at| own(self.fact(*at))).collect()
    }

    /// Returns the facts outside of stories with one of these kinds and this role.
    fn with(&self, kinds: &[FactKind], role: FactRole) -> impl Iterator<Item = &'a Fact> {
        let facts = self.brief.facts.iter().filter(move |fact| fact.story.is_none() && fact.role == Some(role));
        let kinds = kinds.to_vec();
        facts.filter(move |fact| kinds.contains(&fact.kind))
    }

    /// Returns the percentage or amount that recipients save with the offer; `None` if the brief has no offer or several different ones.
    pub fn saving(&self) -> Option<Saving> {
        self.saving.clone()
    }

    fn find_saving(&self) -> Option<Saving> {
        let saving = |fact: &Fact| {
            let text = super::tokens::plain(&fact.text);
            let up_to = UP_TO.iter().any(|words| text.contains(words)) || self.is_up_to(fact);
            match &fact.value {
                Some(FactValue::Percent { percent }) => Some(Saving::Percent { value: *percent, up_to }),
                Some(FactValue::Money { amount, currency }) => {
                    Some(Saving::Amount { value: Money { amount: *amount, currency: currency.clone() }, up_to })
                }
                _ => None,
            }
        };
        let mut all = self.with(&[FactKind::Percentage, FactKind::Amount], FactRole::Offer).filter_map(saving);
        let first = all.next()?;
        all.all(|other| other == first).then_some(first)
    }

    /// Returns whether the offer has a condition, other than a minimum order, in its statement: "10% off from the third ball". A title with
    /// only the number would promise too much.
    pub fn has_condition(&self) -> bool {
        let is_offer = |at: &usize| {
            let fact = self.fact(*at);
            matches!(fact.kind, FactKind::Percentage | FactKind::Amount) && fact.role == Some(FactRole::Offer)
        };
        let statements = (0..self.brief.facts.len()).filter(is_offer).filter_map(|at| self.statement_of(at));
        let bank = Bank::of(self.language);
        let has_minimum = |at: usize| self.facts_in(at).iter().any(|at| self.fact(*at).kind == FactKind::Minimum);
        statements.into_iter().any(|at| !has_minimum(at) && bank.has_word("words.conditions", &self.text(at)))
    }

    /// Returns whether the offer is secondary: the first statement does not mention it, and it has a condition.
    pub fn is_news_with_offer(&self) -> bool {
        let is_number = |at: &usize| matches!(self.fact(*at).kind, FactKind::Percentage | FactKind::Amount | FactKind::Code);
        let is_first = |at: &usize| self.facts_in(*at).iter().any(is_number);
        self.has_condition() && self.statements.first().is_some_and(|at| !is_first(at))
    }

    /// Returns whether the statement or instruction that contains a number says "up to" before the number.
    fn is_up_to(&self, fact: &Fact) -> bool {
        let Some(span) = fact.span else { return false };
        let brief = self.brief;
        let contains = |outer: Option<Span>| outer.is_some_and(|outer| outer.start <= span.start && span.end <= outer.end);
        let statements = brief.facts.iter().filter(|other| matches!(other.kind, FactKind::Sentence | FactKind::Condition));
        let statements = statements.filter(|other| contains(other.span)).map(|other| &other.text);
        let texts = statements.chain(brief.instructions.iter().filter(|part| contains(part.span)).map(|part| &part.text));
        let own = super::tokens::plain(&fact.text);
        let says = |text: &String| {
            let text = super::tokens::plain(text);
            text.find(&own).is_some_and(|at| {
                let before: Vec<&str> = text[..at].split_whitespace().rev().take(2).collect();
                let before = before.into_iter().rev().collect::<Vec<_>>().join(" ") + " ";
                UP_TO.iter().any(|words| before.contains(words))
            })
        };
        texts.into_iter().any(says)
    }

    /// Returns the offers' amounts of money, in the order of the brief.
    pub fn amounts(&self) -> Vec<Money> {
        let money = |fact: &Fact| match &fact.value {
            Some(FactValue::Money { amount, currency }) => Some(Money { amount: *amount, currency: currency.clone() }),
            _ => None,
        };
        self.with(&[FactKind::Amount], FactRole::Offer).filter_map(money).collect()
    }

    /// Returns the date or period with this role; `None` if the brief has no date with this role, or several different ones.
    pub fn days(&self, role: FactRole) -> Option<(Date, Option<Date>, &'a Fact)> {
        let days = |fact: &'a Fact| match &fact.value {
            Some(FactValue::Days { first, last }) => Some((*first, *last, fact)),
            _ => None,
        };
        let mut all = self.with(&[FactKind::Date, FactKind::Period], role).filter_map(days);
        let first = all.next()?;
        all.all(|other| (other.0, other.1) == (first.0, first.1)).then_some(first)
    }

    /// Returns the time with this role; `None` if the brief has no time with this role, or several different ones.
    pub fn time(&self, role: FactRole) -> Option<(Time, Option<Time>)> {
        let time = |fact: &Fact| match &fact.value {
            Some(FactValue::Clock { start, end }) => Some((*start, *end)),
            _ => None,
        };
        let mut all = self.with(&[FactKind::Time], role).filter_map(time);
        let first = all.next()?;
        all.all(|other| other == first).then_some(first)
    }

    /// Returns a fact of this kind about the event. The fact must be in the same statement as the date of the event or, if no statement
    /// contains the date, outside of statements. If there are several, returns the first one after the date or, if there is none, the
    /// first one before it.
    pub fn beside_event(&self, kind: FactKind) -> Option<&'a Fact> {
        let days = |fact: &&Fact| matches!(fact.kind, FactKind::Date | FactKind::Period) && fact.role == Some(FactRole::Event);
        let position = |fact: &Fact| self.brief.facts.iter().position(|other| std::ptr::eq(other, fact));
        let date = self.brief.facts.iter().filter(|fact| fact.story.is_none()).find(days).and_then(position)?;
        let same = |at: &usize| self.statement_of(*at) == self.statement_of(date) && self.fact(*at).story.is_none();
        let role = |fact: &Fact| fact.role.is_none_or(|role| role == FactRole::Event);
        let found = (0..self.brief.facts.len()).filter(|at| self.fact(*at).kind == kind && role(self.fact(*at)) && same(at));
        found.min_by_key(|at| (*at < date, *at)).map(|at| self.fact(at))
    }

    /// Returns whether a statement can be a title: it contains no contact and no link, and does not end with a price.
    pub fn is_title(&self, at: usize) -> bool {
        let text = self.text(at);
        let odd = |fact: &Fact| match fact.kind {
            FactKind::Contact | FactKind::Link => true,
            FactKind::Price => text.trim_end_matches('.').ends_with(fact.text.trim()),
            _ => false,
        };
        !text.contains("http") && !self.facts_in(at).iter().any(|fact| odd(self.fact(*fact)))
    }

    /// Returns the name and the price of a statement that consists of a name and, at its end, one price.
    pub fn priced(&self, at: usize) -> Option<(String, String)> {
        let text = self.text(at);
        let text = text.trim_end_matches('.');
        let is_price = |at: &&usize| self.fact(**at).kind == FactKind::Price;
        let facts = self.facts_in(at);
        // A statement with an old price is a price change, not a name with its price: "Starter €12 → €14".
        if facts.iter().any(|at| self.fact(*at).kind == FactKind::OldPrice) {
            return None;
        }
        let price = facts.iter().filter(is_price).map(|at| self.text(*at)).find(|price| text.ends_with(price.as_str()))?;
        let name = text.strip_suffix(price.as_str())?.trim_end_matches([' ', ':', ',', '–', '—', '-', '…', '.', '(', '|', '=']);
        // A copula is not part of the name: "A basic tune-up is $85".
        let bank = Bank::of(self.language);
        let (head, last) = name.rsplit_once(' ').unwrap_or(("", name));
        let is_copula = bank.phrases("words.costs").iter().any(|own| own == last);
        let name = if is_copula { head } else { name };
        // A name that ends with a common word is incomplete: "Lote de libros de 100 €".
        let is_cut = bank.phrases("words.common").iter().any(|own| own == name.rsplit(' ').next().unwrap_or_default());
        let plain =
            !is_cut && name.chars().count() > 2 && !name.contains(['.', '!', '?']) && name.split(' ').count() <= PRICED_WORDS_MAX;
        (plain && facts.iter().filter(is_price).count() == 1).then(|| (super::text::capital(name), price))
    }

    /// Returns the first fact of a kind outside of stories.
    pub fn first(&self, kind: FactKind) -> Option<&'a Fact> {
        self.brief.facts.iter().find(|fact| fact.kind == kind && fact.story.is_none())
    }

    /// Returns the only fact of this kind outside of stories; `None` if there are several or none.
    pub fn only(&self, kind: FactKind) -> Option<&'a Fact> {
        let mut all = self.brief.facts.iter().filter(|fact| fact.kind == kind && fact.story.is_none());
        all.next().filter(|_| all.next().is_none())
    }

    /// Returns whether the brief has nothing that the email prints in the prompt's words.
    pub fn is_thin(&self) -> bool {
        self.statements.is_empty() && self.stories.is_empty()
    }

    /// Returns whether the brief has no printed stories and its statements fit into the opening.
    pub fn says_little(&self) -> bool {
        let length: usize = self.statements.iter().map(|at| self.text(*at).chars().count()).sum();
        self.stories.is_empty() && length <= LITTLE_CHARACTERS
    }

    /// Returns whether a statement follows another as the next item of a list. The gap between two sentences is a period and a space; a
    /// list mark makes the gap between items longer.
    pub fn follows_as_item(&self, before: usize, at: usize) -> bool {
        let (Some(before), Some(span)) = (self.fact(before).span, self.fact(at).span) else { return false };
        span.start.checked_sub(before.end).is_some_and(|gap| ITEM_GAP.contains(&gap))
    }

    /// Returns the text of the brief that is matched against the brand's pictures, products, knowledge base entries and pages.
    pub fn topic(&self) -> String {
        let brief = self.brief;
        let parts = [&brief.subject, &brief.headline].into_iter().flatten().chain(&brief.instructions).map(|part| &part.text);
        let facts = brief.facts.iter().filter(|fact| fact.story.is_none()).map(|fact| &fact.text);
        let event = brief.event.iter().map(|event| &event.name.text);
        let scope = brief.offer.iter().flat_map(|offer| &offer.scope).map(|scope| &scope.text);
        parts.chain(facts).chain(event).chain(scope).map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    /// Returns the prescribed subject and headline, the name of the event and the scope of the offer.
    pub fn title_words(&self) -> String {
        let brief = self.brief;
        let event = brief.event.iter().map(|event| &event.name);
        let scope = brief.offer.iter().flat_map(|offer| &offer.scope);
        let parts = [&brief.subject, &brief.headline].into_iter().flatten().chain(event).chain(scope);
        parts.map(|part| part.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// Returns the parts of the brief that the email does not contain. `said` is the folded text of the email; `links` are its links.
    pub fn missing(&self, said: &str, links: &HashSet<String>) -> Vec<Part> {
        let brief = self.brief;
        let mut missing: Vec<Part> = Vec::new();
        for (at, fact) in brief.facts.iter().enumerate() {
            let addresses = if self.is_link_label(fact) { super::text::addresses(&fact.text) } else { vec![fact.text.as_str()] };
            let is_link = fact.kind == FactKind::Link || self.is_link_label(fact);
            let linked = || is_link && addresses.iter().all(|own| links.iter().any(|link| same_address(link, own)));
            let is_tabled = || matches!(brief.purpose, Goal::Event | Goal::Webinar) && self.is_covered(at, said);
            if !self.is_said(fact, said) && !linked() && !self.is_bare(at) && !self.is_listed(at, said) && !is_tabled() {
                missing.push(Part { text: fact.text.clone(), span: fact.span });
            }
        }
        let parts = brief.stories.iter().map(|story| &story.text);
        let parts = parts.chain(brief.offer.iter().flat_map(|offer| &offer.gift)).chain(&brief.unclear);
        for part in parts {
            let known = missing.iter().any(|other| other.span.is_some() && other.span == part.span);
            // The email prints the link with a separate label, so only the other words are compared.
            let words = super::text::addresses(&part.text).iter().fold(part.text.clone(), |text, own| text.replace(own, " "));
            if !known && !contains_words(said, &words) {
                missing.push(part.clone());
            }
        }
        let covers = |outer: &Part, inner: &Part| match (outer.span, inner.span) {
            (Some(outer), Some(inner)) => outer.start <= inner.start && inner.end <= outer.end,
            _ => outer.text.contains(&inner.text),
        };
        let scope = self.lost_scope(said).filter(|scope| !missing.iter().any(|other| covers(other, scope)));
        missing.extend(scope.cloned());
        missing
    }
}

/// Returns whether folded text contains every clause of `text`, in any order.
fn contains_words(said: &str, text: &str) -> bool {
    let text_of_pieces = text.replace(" - ", "\n").replace(" – ", "\n");
    let pieces = text_of_pieces.split(['.', '!', '?', '\n', ':', ',', ';']).map(folded).filter(|piece| !piece.trim().is_empty());
    said.contains(&folded(text)) || pieces.into_iter().all(|piece| said.contains(&piece))
}

/// Returns whether two spellings of a web or email address have the same target.
pub fn same_address(one: &str, other: &str) -> bool {
    let bare = |text: &str| {
        let text = text.trim().to_lowercase();
        let text = text.trim_start_matches("https://").trim_start_matches("http://").trim_start_matches("mailto:");
        text.trim_start_matches("www.").trim_end_matches(['/', '.', ',']).to_owned()
    };
    bare(one) == bare(other)
}

/// Returns whether the text contains no words except a currency.
fn is_bare(text: &str) -> bool {
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words
        .into_iter()
        .all(|word| word.len() == 3 && word.chars().all(|c| c.is_ascii_uppercase()) || word.eq_ignore_ascii_case("euro"))
}
