//! Finds numbers, dates, times, codes, names and links in the email that are neither in the brief nor in the brand data.

use std::collections::HashSet;

use jiff::civil::Date;

use super::Terms;
use super::facts::minutes;
use super::lexicon::Words;
use super::mentions::{self, Value};
use super::outline::{Passage, Place};
use super::reading::{Reading, is_clock, is_day, number_of};
use super::text::{fold, sentences, words};
use crate::features::emails::brief::{Brief, FactValue};
use crate::features::emails::finding::{Finding, FindingKind};
use crate::features::emails::writing::KnownAddresses;
use crate::features::emails::writing::material::Material;

/// The values and words that an email may contain, collected from the brief, the prompt and the brand.
pub struct Sources {
    values: Vec<Value>,
    numbers: Vec<f64>,
    dates: Vec<Date>,
    weekdays: Vec<i8>,
    /// The digits of each source text, without other characters. Spaces separate the sources.
    digits: String,
    words: HashSet<String>,
}

impl Sources {
    pub fn of(terms: &Terms<'_>, language: &'static Words) -> Self {
        let mut sources = Self {
            values: Vec::new(),
            numbers: Vec::new(),
            dates: Vec::new(),
            weekdays: Vec::new(),
            digits: String::new(),
            words: HashSet::new(),
        };
        sources.text(terms.prompt, language, terms.today);
        for text in brief_texts(terms.brief).chain(brand_texts(terms.material)) {
            sources.text(&text, language, terms.today);
        }
        for value in terms.brief.facts.iter().filter_map(|fact| fact.value.as_ref()) {
            sources.value(value);
        }
        sources
    }

    fn text(&mut self, text: &str, language: &'static Words, today: Date) {
        let folded = fold(text);
        self.words.extend(words(&folded).map(str::to_owned));
        // Abbreviations of days count, even if they are also other words, because emails spell them out: "on Saturday" for "on sat".
        self.weekdays.extend(words(&folded).filter_map(|word| language.weekday(word)));
        self.digits.extend(folded.chars().filter(char::is_ascii_digit));
        self.digits.push(' ');
        let own = Words::language_of(&folded).filter(|own| own.code != language.code);
        let english = Some(Words::of("en")).filter(|english| english.code != language.code);
        for words in [Some(language), own, english].into_iter().flatten() {
            for mention in mentions::read(text, words) {
                self.mention(mention.value, today);
            }
        }
    }

    fn mention(&mut self, value: Value, today: Date) {
        match &value {
            Value::Day { day, month, year, weekday, other } => {
                self.numbers.push(f64::from(*day));
                self.numbers.extend(year.map(f64::from));
                self.numbers.extend(other.map(|(day, _)| f64::from(day)));
                self.weekdays.extend(*weekday);
                for year in [today.year(), today.year() + 1] {
                    self.weekdays.extend(Date::new(year, *month, *day).map(|date| date.weekday().to_monday_one_offset()));
                }
            }
            Value::Weekday(day) => self.weekdays.push(*day),
            Value::Clock { minutes, .. } | Value::Hour { minutes, .. } => self.clock(*minutes),
            Value::Today => self.date(today),
            Value::Tomorrow => {
                if let Ok(tomorrow) = today.tomorrow() {
                    self.date(tomorrow);
                }
            }
            other => self.numbers.extend(number_of(other)),
        }
        self.values.push(value);
    }

    fn clock(&mut self, minutes: u16) {
        let (hour, minute) = (f64::from(minutes / 60), f64::from(minutes % 60));
        self.numbers.extend([hour, if hour > 12.0 { hour - 12.0 } else { hour + 12.0 }, minute]);
    }

    fn date(&mut self, date: Date) {
        self.weekdays.push(date.weekday().to_monday_one_offset());
        self.numbers.extend([f64::from(date.day()), f64::from(date.year())]);
        self.dates.push(date);
    }

    fn value(&mut self, value: &FactValue) {
        match value {
            FactValue::Percent { percent } => self.values.push(Value::Percent(*percent)),
            FactValue::Money { amount, .. } => self.values.push(Value::Money { amount: *amount, currency: None }),
            FactValue::Days { first, last } => std::iter::once(first).chain(last).for_each(|date| self.date(*date)),
            FactValue::Clock { start, end } => {
                for time in std::iter::once(start).chain(end) {
                    self.clock(minutes(*time));
                    self.values.push(Value::Clock { minutes: minutes(*time), vague: false });
                }
            }
            FactValue::Count { count } => self.numbers.push(*count as f64),
        }
    }

    /// Returns whether the sources contain the value.
    fn knows(&self, value: &Value, text: &str, today: Date) -> bool {
        match value {
            Value::Percent(percent) => {
                let is_percent = |own: &Value| matches!(own, Value::Percent(known) if known == percent);
                self.values.iter().any(is_percent)
            }
            Value::Money { amount, currency } => self.values.iter().any(|own| match own {
                Value::Money { amount: known, currency: own } => {
                    known == amount && (own == currency || own.is_none() || currency.is_none())
                }
                Value::Number(known) => known == amount,
                _ => false,
            }),
            Value::Day { day, month, other, .. } => {
                let same = |own: &Value| match own {
                    Value::Day { day: known, month: in_month, other: second, .. } => {
                        (known, in_month) == (day, month)
                            || other.is_some_and(|other| other == (*known, *in_month))
                            || second.is_some_and(|second| second == (*day, *month))
                    }
                    _ => false,
                };
                self.dates.iter().any(|date| is_day(value, *date)) || self.values.iter().any(same)
            }
            Value::Weekday(day) => self.weekdays.contains(day),
            Value::Clock { minutes, vague } => self.values.iter().any(|own| {
                is_clock(own, *minutes) || *vague && is_clock(own, (minutes + 720) % 1440) || is_clock(value, clock_of(own))
            }),
            Value::Number(number) => self.numbers.contains(number) || self.has_digits(text),
            Value::Phone(digits) => self.digits.split(' ').any(|known| known.contains(digits.as_str())) || self.has_digits(text),
            Value::Mixed(word) => self.words.contains(word),
            Value::Today => self.dates.contains(&today) || self.values.contains(&Value::Today),
            // These values are too ambiguous to check. In several languages, for example, the word for tomorrow also means the morning.
            Value::Hour { .. } | Value::Worded(_) | Value::Tomorrow => true,
        }
    }

    /// Returns whether each run of digits in the text is also in the sources. The text "94/100" has two runs.
    fn has_digits(&self, text: &str) -> bool {
        let mut rows = text.split(|c: char| !c.is_ascii_digit()).filter(|row| !row.is_empty());
        rows.all(|row| self.words.contains(row))
    }

    fn has_name(&self, name: &str) -> bool {
        let folded = fold(name);
        words(&folded).all(|word| self.words.iter().any(|known| super::text::alike(known, word)))
    }
}

fn clock_of(value: &Value) -> u16 {
    match value {
        Value::Clock { minutes, .. } | Value::Hour { minutes, .. } => *minutes,
        _ => u16::MAX,
    }
}

fn brief_texts(brief: &Brief) -> impl Iterator<Item = String> {
    let parts = [&brief.subject, &brief.preheader, &brief.headline, &brief.audience].into_iter().flatten();
    let stories = brief.stories.iter().flat_map(|story| story.heading.iter().chain([&story.text]));
    let offer = brief.offer.iter().flat_map(|offer| offer.scope.iter().chain(&offer.gift));
    let event = brief.event.iter().map(|event| &event.name);
    let label = brief.cta.iter().filter_map(|cta| cta.label.as_ref());
    let texts = parts.chain(stories).chain(offer).chain(event).chain(label).map(|part| part.text.clone());
    let signature = brief.signature.iter().flat_map(|own| std::iter::once(own.name.clone()).chain(own.title.clone()));
    let links =
        brief.cta.iter().filter_map(|cta| cta.link.clone()).chain(brief.stories.iter().filter_map(|own| own.link.clone()));
    let facts = brief.facts.iter().map(|fact| fact.text.clone());
    texts.chain(signature).chain(links).chain(facts).collect::<Vec<_>>().into_iter()
}

/// Returns the text and addresses of the brand, without its knowledge base.
pub fn brand_texts(material: &Material) -> impl Iterator<Item = String> {
    let brand = &material.brand;
    let contact = &brand.contact;
    let own =
        [&brand.name, &brand.tagline, &brand.description, &contact.company, &contact.address, &contact.email, &contact.phone];
    let products = brand.products.iter().flat_map(|product| {
        let currency = product.currency.as_deref().unwrap_or_default();
        let money = |price: &Option<String>| price.as_ref().map(|price| format!("{price} {currency} {price}"));
        let prices = [money(&product.price), money(&product.price_before)];
        [Some(product.name.clone()), product.description.clone(), product.url.clone()].into_iter().chain(prices).flatten()
    });
    let images = brand.images.iter().filter_map(|image| image.description.clone());
    let words = brand.voice.words.iter().cloned();
    let social = brand.social.iter().map(|link| link.url.clone());
    let given = own.into_iter().flatten().cloned().chain([material.name.clone(), material.site.clone()]);
    let all = given.chain(material.guidelines.clone()).chain(products).chain(images).chain(words);
    all.chain(social).collect::<Vec<_>>().into_iter()
}

/// Returns the text of the brand's knowledge base and of the pages that the request links to. This text can be long.
pub fn long_texts(material: &Material) -> impl Iterator<Item = String> {
    let pages = material.pages.iter().flat_map(|page| [page.title.clone(), page.content.clone()]);
    let knowledge = material.knowledge.iter().flat_map(|entry| [entry.title.clone(), entry.content.clone()]);
    pages.chain(knowledge).collect::<Vec<_>>().into_iter()
}

pub fn check(email: &Reading, terms: &Terms<'_>) -> Vec<Finding> {
    let mut sources = Sources::of(terms, email.words);
    let mut found = inventions(email, terms, &sources);
    if !found.is_empty() {
        // The long sources are read only if no other source contains a value, which is rare.
        for text in long_texts(terms.material) {
            sources.text(&text, email.words, terms.today);
        }
        found = inventions(email, terms, &sources);
    }
    found.extend(links(email, terms));
    found
}

fn inventions(email: &Reading, terms: &Terms<'_>, sources: &Sources) -> Vec<Finding> {
    let mut found = Vec::new();
    for (passage, mentions) in email.passages() {
        for mention in mentions {
            let text = fold(&passage.text);
            let stated = text.get(mention.range.clone()).filter(|stated| !stated.is_empty()).unwrap_or(&text).trim();
            let stated = without_period(stated, &mention.value);
            if !sources.knows(&mention.value, stated, email.today) {
                found.push(strange(kind_of(&mention.value), stated, passage));
            } else if let Some(finding) = wrong_weekday(&mention.value, terms.brief, stated, passage) {
                found.push(finding);
            }
        }
        found.extend(names(email, passage, sources).into_iter().map(|name| strange("name", name, passage)));
    }
    found
}

/// Returns the text of a date without the period after the month, which ends a sentence or marks an abbreviation: "4 december.".
fn without_period<'a>(stated: &'a str, value: &Value) -> &'a str {
    let date = stated.strip_suffix('.').filter(|date| date.ends_with(char::is_alphabetic));
    date.filter(|_| matches!(value, Value::Day { .. })).unwrap_or(stated)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Percent(_) => "percentage",
        Value::Money { .. } => "price or amount",
        Value::Day { .. } | Value::Today | Value::Tomorrow => "date",
        Value::Weekday(_) => "weekday",
        Value::Clock { .. } | Value::Hour { .. } => "time",
        Value::Number(_) | Value::Worded(_) => "number",
        Value::Phone(_) => "phone number",
        Value::Mixed(_) => "code",
    }
}

fn strange(kind: &str, text: &str, passage: &Passage) -> Finding {
    let whole = passage.text.trim();
    let message = format!(
        "The {kind} {text:?} in {whole:?} is neither in the brief nor in the brand's content. Remove it, or add it to the brief."
    );
    let finding = Finding::new(FindingKind::NotInBrief, message).about(text, None).in_block(passage.block.as_deref());
    match passage.place {
        // The brief does not prescribe the alternative text of images, the header or the footer, so the finding does not offer to add their
        // text to the brief.
        Place::Alt | Place::Frame => finding,
        Place::Subject | Place::Preheader => finding.acceptable(whole),
        _ => {
            let sentence = sentences(whole).into_iter().find(|sentence| fold(sentence).contains(&fold(text)));
            finding.acceptable(sentence.unwrap_or(whole))
        }
    }
}

fn wrong_weekday(value: &Value, brief: &Brief, text: &str, passage: &Passage) -> Option<Finding> {
    let Value::Day { weekday: Some(weekday), .. } = value else { return None };
    let dates = brief.facts.iter().filter_map(|fact| match &fact.value {
        Some(FactValue::Days { first, last }) => Some(std::iter::once(*first).chain(*last)),
        _ => None,
    });
    let mut same = dates.flatten().filter(|date| is_day(value, *date)).peekable();
    same.peek()?;
    if same.any(|date| date.weekday().to_monday_one_offset() == *weekday) {
        return None;
    }
    let message = format!(
        "The weekday before {text:?} in {:?} does not match this date. Correct the weekday or the date.",
        passage.text.trim()
    );
    Some(Finding::new(FindingKind::NotInBrief, message).about(text, None).in_block(passage.block.as_deref()))
}

/// Returns the names of people that are in the passage but not in the sources.
fn names<'a>(email: &Reading, passage: &'a Passage, sources: &Sources) -> Vec<&'a str> {
    let text = passage.text.as_str();
    match passage.place {
        Place::Author => Some(text.trim()).filter(|name| !sources.has_name(name)).into_iter().collect(),
        // In German, only signatures are searched, because all nouns are capitalized.
        Place::Body if email.words.code == "de" => signer(text).filter(|name| !sources.has_name(name)).into_iter().collect(),
        Place::Body => {
            let runs = sentences(text).into_iter().flat_map(capitalized);
            let is_known = |name: &str| sources.has_name(name) || sources.has_name(before_day(email.words, name));
            runs.chain(signer(text)).filter(|name| !is_known(name) && !is_calendar(email.words, name)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns a name without the weekday or month at the end: "The Salt Road" for "The Salt Road Thursday".
fn before_day<'a>(language: &Words, name: &'a str) -> &'a str {
    let is_day = |word: &str| language.month(&fold(word)).is_some() || language.weekday(&fold(word)).is_some();
    name.rsplit_once(' ').filter(|(_, last)| is_day(last)).map_or(name, |(before, _)| before)
}

fn is_calendar(language: &Words, name: &str) -> bool {
    let folded = fold(name);
    words(&folded).all(|word| language.month(word).is_some() || language.weekday(word).is_some() || language.is_stop(word))
}

/// Returns the runs of two or more capitalized words in a sentence, except at its start.
fn capitalized(sentence: &str) -> Vec<&str> {
    let mut runs = Vec::new();
    let mut run: Option<(usize, usize, usize)> = None;
    let mut at = 0;
    for (place, word) in sentence.split(' ').enumerate() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_name = place > 0
            && bare.chars().count() > 1
            && bare.starts_with(char::is_uppercase)
            && bare.chars().skip(1).all(|c| c.is_lowercase() || matches!(c, '\'' | '’' | '-') || c.is_uppercase())
            && bare.chars().skip(1).any(char::is_lowercase);
        let ends = word.ends_with([',', '.', ';', ':', '!', '?', ')']);
        run = match (run, is_name) {
            (Some((start, _, count)), true) => Some((start, at + word.len(), count + 1)),
            (None, true) => Some((at, at + word.len(), 1)),
            (run, false) => {
                runs.extend(run);
                None
            }
        };
        if ends {
            runs.extend(run.take());
        }
        at += word.len() + 1;
    }
    runs.extend(run);
    let of = |(start, end, count): (usize, usize, usize)| {
        (count >= 2).then(|| sentence[start..end].trim_matches(|c: char| !c.is_alphanumeric()))
    };
    runs.into_iter().filter_map(of).collect()
}

/// The maximum number of words in a person's name in a signature.
const SIGNER_WORDS_MAX: usize = 3;

/// Returns the name in the signature at the end of the text: the last line, if the line above it ends with a comma. A sentence below a
/// greeting, such as "Great, you made it.", is not a signature.
fn signer(text: &str) -> Option<&str> {
    let mut lines = text.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let last = lines.next()?;
    let name = last.split([',', '(']).next().unwrap_or_default().trim();
    let is_sentence = name.len() < last.len() && last.ends_with(['.', '!', '?', '…']);
    let is_closing = !is_sentence && lines.next().is_some_and(|line| line.ends_with(','));
    let mut parts = name.split(' ');
    let count = name.split(' ').count();
    let is_name = (1..=SIGNER_WORDS_MAX).contains(&count) && parts.all(|word| word.starts_with(char::is_uppercase));
    (is_closing && is_name).then_some(name)
}

fn links(email: &Reading, terms: &Terms<'_>) -> Vec<Finding> {
    let brief = terms.brief;
    let own =
        brief.cta.iter().filter_map(|cta| cta.link.as_deref()).chain(brief.stories.iter().filter_map(|own| own.link.as_deref()));
    let texts = brief.facts.iter().map(|fact| fact.text.as_str());
    let known: Vec<&str> = own.chain(texts).collect();
    let addresses = KnownAddresses::of_prompt(terms.material, terms.prompt);
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let is_known = |href: &str| {
        if let Some(number) = href.strip_prefix("tel:") {
            let number = digits(number);
            let phone = terms.material.brand.contact.phone.iter().map(String::as_str);
            return phone.chain(known.iter().copied()).chain([terms.prompt]).any(|text| digits(text).contains(&number));
        }
        if let Some(address) = href.strip_prefix("mailto:") {
            let address = fold(address.split('?').next().unwrap_or_default());
            let own = terms.material.brand.contact.email.iter().map(String::as_str);
            return own.chain(known.iter().copied()).chain([terms.prompt]).any(|text| fold(text).contains(&address));
        }
        let bare =
            |text: &str| text.trim_start_matches("https://").trim_start_matches("http://").trim_end_matches('/').to_owned();
        addresses.knows_link(href)
            || known.iter().any(|own| super::text::same_address(own, href))
            || fold(terms.prompt).contains(&fold(&bare(href)))
    };
    let strange = email.outline.links.iter().filter(|(_, href)| !is_known(href));
    strange
        .map(|(block, href)| {
            let message =
                format!("The link {href} is neither in the brief nor in the brand's content. Remove it, or add it to the brief.");
            Finding::new(FindingKind::NotInBrief, message).about(href, None).in_block(Some(block)).acceptable(href)
        })
        .collect()
}
