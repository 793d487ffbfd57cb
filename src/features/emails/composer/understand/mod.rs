//! What a prompt asks for: its purpose, and every fact it states. Pure, and the same for the same prompt.
//!
//! It invents nothing: what the prompt does not say is `None`. It does not know how emails are written.

mod dates;
mod money;
mod names;
mod news;
mod occasion;
mod order;
mod purpose;
mod verbatim;

pub use dates::Clock;
pub use money::{Money, Saving};
pub use names::quotations;
pub use news::News;
pub use order::OrderItem;
pub use verbatim::{Praise, capital, ended};

use jiff::civil::Date;

use super::language::Language;
use super::lexicon::{self, Lexicon, Occasion, Phrase};
use super::tokens::{Kind, Tokens};
use crate::base::locale::LanguageTag;
use crate::base::text::Color;
use crate::features::emails::document::{Layout, Purpose};
use crate::features::projects::brand::Brand;
use crate::vocab::limits;

/// A prompt as far as it is understood.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedPrompt {
    pub purpose: Purpose,
    /// What it tells of, where that is closer than the purpose.
    pub occasion: Option<Occasion>,
    /// The fact that an announcement is about, as a title. In the prompt's words.
    pub news: Option<News>,
    /// What is back in stock, in the prompt's words: "our most popular item".
    pub item: Option<String>,
    /// For how many years somebody is thanked.
    pub years: Option<usize>,
    /// The language of the prompt.
    pub language: Language,
    /// Languages the prompt asks for.
    pub languages: Vec<Language>,
    /// How many emails it asks for; none: it does not say.
    pub count: Option<usize>,
    /// Whether it asks for several, perhaps without saying how many.
    pub is_series: bool,
    pub season: Option<String>,
    pub saving: Option<Saving>,
    /// What a friend gets and what the reader gets for it.
    pub gifts: Option<(Money, Money)>,
    pub scope: Option<Scope>,
    pub free_shipping: bool,
    /// From which order value on something holds.
    pub threshold: Option<Money>,
    pub price: Option<Money>,
    /// Whether the price is the lowest of several.
    pub price_is_least: bool,
    pub code: Option<String>,
    pub starts: Option<Date>,
    pub ends: Option<Date>,
    /// The day of something that neither begins nor ends a period.
    pub on: Option<Date>,
    /// Whether the days are a weekend's.
    pub is_weekend: bool,
    /// Whether the prompt means the evening of today.
    pub is_tonight: bool,
    /// Whether the end is the last day on which orders arrive in time.
    pub is_order_day: bool,
    pub time: Option<Clock>,
    pub time_end: Option<Clock>,
    /// Places of the brand's products that it names, in the order of the prompt.
    pub products: Vec<usize>,
    /// Whether the prompt gives the first of them an article: "the Clay Pot".
    pub product_has_article: bool,
    /// The name of what is new or meant: quoted, or after "new". In the prompt's words.
    pub name: Option<Name>,
    pub topic: Option<String>,
    pub event: Option<String>,
    /// What an event is about, after its colon.
    pub event_topic: Option<String>,
    pub venue: Option<Venue>,
    pub audience: Option<String>,
    /// Sentences meant for the reader, in the prompt's words.
    pub statements: Vec<String>,
    /// What is told after "that", where the language's word order lets it stand only there.
    pub clause: Option<String>,
    /// Things to mention, in the prompt's words.
    pub points: Vec<String>,
    pub praise: Option<Praise>,
    pub subject: Option<String>,
    pub links: Vec<String>,
    pub order: Option<String>,
    pub items: Vec<OrderItem>,
    pub total: Option<Money>,
    pub formal: Option<bool>,
    pub emoji: Option<bool>,
    pub short: bool,
    pub layout: Option<Layout>,
    pub color: Option<Color>,
    /// What was read in one of two ways, for the writer of the prompt.
    pub notes: Vec<String>,
    /// Sentences that could not be told to the reader as they are.
    pub unused: Vec<String>,
}

/// What an offer covers.
#[derive(Clone, Debug, PartialEq)]
pub enum Scope {
    Everything,
    /// In the prompt's words: "all teas".
    Words(String),
}

/// A name from the prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    pub text: String,
    /// Whether it is the same in every language: quoted, or written as a proper name.
    pub is_proper: bool,
}

/// Where something takes place.
#[derive(Clone, Debug, PartialEq)]
pub struct Venue {
    /// By itself: "The Old Mill".
    pub name: String,
    /// In a sentence: "at the Old Mill"; none if the prompt gave only the name.
    pub phrase: Option<String>,
}

/// What the parts of understanding read from.
struct Prompt<'a> {
    words: &'a Tokens<'a>,
    lexicon: &'static Lexicon,
    language: Language,
    today: Date,
}

/// Understand a prompt. `today` is the day on which "this Friday" was said.
#[allow(clippy::too_many_lines, reason = "one line for each thing that is read")]
pub fn parse_prompt(prompt: &str, brand: &Brand, today: Date) -> ParsedPrompt {
    let text = clean(prompt);
    let words = Tokens::read(&text);
    let language = lexicon::language_of(&words, own_language(brand));
    let prompt = Prompt { words: &words, lexicon: lexicon::of(language), language, today };
    let links = links(&text);
    let (subject, rest) = verbatim::subject(&prompt);
    let words = Tokens::read(&rest);
    let prompt = Prompt { words: &words, ..prompt };
    let code = money::code(&prompt);
    // A code like SUMMER20 says nothing about the season.
    let masked = code.as_ref().map_or_else(|| rest.clone(), |code| rest.replace(code.as_str(), "·"));
    let masked = Tokens::read(&masked);
    let bare = Prompt { words: &masked, ..prompt };
    let season = purpose::season(&bare);
    let products = names::products(&words, brand);
    let order = order::read(&prompt);
    let money = money::read(&prompt, &order);
    let dates = dates::read(&prompt);
    let name = names::name(&prompt);
    let purpose = purpose::purpose(&bare, &season, &money, name.is_some(), !products.is_empty());
    let said = verbatim::read(&prompt, purpose, &code);
    let free_shipping = words.find(0, &prompt.lexicon.shipping).is_some();
    let occasion = occasion::read(&prompt, purpose, money.saving.is_some(), free_shipping);
    let topic = names::topic(&prompt).or_else(|| occasion::tips_title(&prompt, occasion));
    // "Tell them our shop closes": what looks like a topic is how the news begin.
    let begins = |news: &News, topic: &String| news.title.to_lowercase().starts_with(&topic.to_lowercase());
    let news =
        news::news(&prompt, purpose, &said.statements).filter(|news| topic.as_ref().is_none_or(|topic| begins(news, topic)));
    let topic = topic.filter(|_| news.is_none());
    let gifts = money::gifts(&prompt).filter(|_| purpose == Purpose::Referral && money.saving.is_none());
    let has_own_article = names::needs_article(&prompt, &name) && products.is_empty();
    let (count, is_series) = purpose::count(&prompt);
    ParsedPrompt {
        purpose,
        occasion,
        news,
        item: occasion::item(&prompt, occasion),
        years: occasion::years(&prompt, occasion),
        language,
        languages: purpose::languages(&prompt),
        count,
        is_series,
        season,
        saving: money.saving,
        gifts,
        scope: money::scope(&prompt),
        free_shipping,
        threshold: money.threshold,
        price: money.price,
        price_is_least: money.price_is_least,
        code,
        starts: dates.starts,
        ends: dates.ends,
        on: dates.on,
        is_weekend: dates.is_weekend,
        is_tonight: prompt.says(&prompt.lexicon.tonight),
        is_order_day: prompt.says(&prompt.lexicon.order_by),
        time: dates.time,
        time_end: dates.time_end,
        product_has_article: has_own_article || names::has_article(&prompt, brand, &products),
        products,
        name,
        topic,
        event: names::event(&prompt),
        event_topic: names::event_topic(&prompt).filter(|_| purpose == Purpose::Event),
        venue: names::venue(&prompt),
        audience: names::audience(&prompt),
        statements: said.statements,
        clause: said.clause,
        points: said.points,
        praise: said.praise,
        subject,
        links,
        order: order.number,
        items: order.items,
        total: order.total,
        formal: prompt.says(&prompt.lexicon.formal).then_some(true).or(prompt.says(&prompt.lexicon.informal).then_some(false)),
        emoji: prompt.says(&prompt.lexicon.no_emoji).then_some(false).or(prompt.says(&prompt.lexicon.emoji).then_some(true)),
        short: prompt.says(&prompt.lexicon.short),
        layout: layout(&prompt),
        color: color(&words),
        notes: dates.notes,
        unused: said.unused,
    }
}

/// The brand's main language, if prompts can be in it.
fn own_language(brand: &Brand) -> Language {
    let tag = brand.languages.first().and_then(|tag| LanguageTag::parse(tag).ok());
    tag.and_then(|tag| Language::of(&tag)).filter(|language| language.is_complete()).unwrap_or(Language::En)
}

impl Prompt<'_> {
    /// Whether any of these phrases stands anywhere.
    fn says(&self, phrases: &[Phrase]) -> bool {
        self.words.find(0, phrases).is_some()
    }

    /// Whether a sentence or line ends at this place.
    fn is_end(&self, at: usize) -> bool {
        match self.words.kind(at) {
            Kind::End => true,
            // A point between letters and digits without space after it belongs to an address or a number.
            Kind::Sign => match self.words.fold(at) {
                "!" | "?" | ";" => true,
                "." => !self.words.joined(at),
                _ => false,
            },
            Kind::Word | Kind::Number => false,
        }
    }
}

/// A prompt of bounded length, without characters that are invisible or mean something to the merge language.
pub fn clean(prompt: &str) -> String {
    let kept = |c: &char| {
        let braces = matches!(c, '{' | '}');
        !braces && !crate::base::text::is_invisible(*c) && (!c.is_control() || *c == '\n')
    };
    let tabs = |c| if c == '\t' { ' ' } else { c };
    prompt.chars().take(limits::COMPOSER_PROMPT_CHARACTERS_MAX).map(tabs).filter(kept).collect()
}

/// Every web address, without the punctuation that ends the sentence.
pub fn links(text: &str) -> Vec<String> {
    let is_link = |word: &&str| word.starts_with("https://") || word.starts_with("http://") || word.starts_with("www.");
    let bare = |word: &str| {
        let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '"', '\'', '>', '”', '“', '»']);
        if word.starts_with("www.") { format!("https://{word}") } else { word.to_owned() }
    };
    let words = text.split_whitespace().map(|word| word.trim_start_matches(['(', '[', '"', '\'', '<', '„', '“', '«']));
    words.filter(is_link).map(bare).take(limits::COMPOSER_LIST_MAX).collect()
}

fn layout(prompt: &Prompt<'_>) -> Option<Layout> {
    let asked = |layout: &Layout| prompt.lexicon.layouts.get(layout).is_some_and(|phrases| prompt.says(phrases));
    Layout::ALL.into_iter().find(asked)
}

/// A colour written as `#1A73E8`.
fn color(words: &Tokens<'_>) -> Option<Color> {
    let marks = words.text.match_indices('#');
    marks.filter_map(|(at, _)| words.text.get(at..at + "#RRGGBB".len())?.parse().ok()).next()
}

#[cfg(test)]
mod tests;
