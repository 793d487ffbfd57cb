//! Extracts the purpose of a prompt and every fact that the prompt states, with pure, deterministic functions.
//!
//! The parsers invent no facts: a fact that the prompt does not state is `None`.

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

/// The parsed facts of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedPrompt {
    pub purpose: Purpose,
    /// The occasion, if it is more specific than the purpose.
    pub occasion: Option<Occasion>,
    /// The news of an announcement as a title, in the prompt's words.
    pub news: Option<News>,
    /// The item that is back in stock, in the prompt's words: "our most popular item".
    pub item: Option<String>,
    /// The number of years for which the email says thank you.
    pub years: Option<usize>,
    /// The language of the prompt.
    pub language: Language,
    /// The requested languages.
    pub languages: Vec<Language>,
    /// The requested number of emails, if the prompt gives one.
    pub count: Option<usize>,
    /// Whether the prompt requests several emails, with or without a number.
    pub is_series: bool,
    pub season: Option<String>,
    pub saving: Option<Saving>,
    /// The amounts that a friend gets and that the recipient gets for recommending the friend.
    pub gifts: Option<(Money, Money)>,
    pub scope: Option<Scope>,
    pub free_shipping: bool,
    /// The minimum order value of the offer.
    pub threshold: Option<Money>,
    pub price: Option<Money>,
    /// Whether the price is the lowest of several.
    pub price_is_least: bool,
    pub code: Option<String>,
    pub starts: Option<Date>,
    pub ends: Option<Date>,
    /// A day that is neither the start nor the end of a period.
    pub on: Option<Date>,
    /// Whether the days are a weekend.
    pub is_weekend: bool,
    /// Whether the prompt refers to this evening.
    pub is_tonight: bool,
    /// Whether the end is the order deadline for timely delivery.
    pub is_order_day: bool,
    pub time: Option<Clock>,
    pub time_end: Option<Clock>,
    /// The indexes of the brand's products that the prompt names, in the order of the prompt.
    pub products: Vec<usize>,
    /// Whether the prompt gives the first named product an article: "the Clay Pot".
    pub product_has_article: bool,
    /// The name of the new or featured item, in the prompt's words: in quotation marks, or after "new".
    pub name: Option<Name>,
    pub topic: Option<String>,
    pub event: Option<String>,
    /// The topic of an event: the text after a colon.
    pub event_topic: Option<String>,
    pub venue: Option<Venue>,
    pub audience: Option<String>,
    /// Sentences for the recipient, in the prompt's words.
    pub statements: Vec<String>,
    /// The clause after "that", if the language's word order requires it to stay a clause.
    pub clause: Option<String>,
    /// The points to mention, in the prompt's words.
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
    /// Notes for the author of the prompt about ambiguous facts.
    pub notes: Vec<String>,
    /// Sentences of the prompt that are not suitable for the recipient as written, so the email does not contain them.
    pub unused: Vec<String>,
}

/// The scope of an offer, such as a range of products.
#[derive(Clone, Debug, PartialEq)]
pub enum Scope {
    Everything,
    /// The scope in the prompt's words: "all teas".
    Words(String),
}

/// A name from the prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Name {
    pub text: String,
    /// Whether the name is used unchanged in every language, because it is quoted or capitalized as a proper name.
    pub is_proper: bool,
}

/// The place of an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Venue {
    /// The name of the place on its own: "The Old Mill".
    pub name: String,
    /// The place in a sentence: "at the Old Mill"; `None` if the prompt gave only the name.
    pub phrase: Option<String>,
}

/// A prompt in the form that all parsers of facts use.
struct Prompt<'a> {
    words: &'a Tokens<'a>,
    lexicon: &'static Lexicon,
    language: Language,
    today: Date,
}

/// Parses a prompt. Days such as "this Friday" are relative to `today`.
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
    // A code such as SUMMER20 does not name a season, so the code is masked.
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
    // In "Tell them our shop closes", the apparent topic is the start of the news.
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

/// Returns the brand's main language or, if prompts in that language are not understood, English.
fn own_language(brand: &Brand) -> Language {
    let tag = brand.languages.first().and_then(|tag| LanguageTag::parse(tag).ok());
    tag.and_then(|tag| Language::of(&tag)).filter(|language| language.is_complete()).unwrap_or(Language::En)
}

impl Prompt<'_> {
    /// Returns whether the prompt contains any of these phrases.
    fn says(&self, phrases: &[Phrase]) -> bool {
        self.words.find(0, phrases).is_some()
    }

    /// Returns whether a sentence or line ends at this position.
    fn is_end(&self, at: usize) -> bool {
        match self.words.kind(at) {
            Kind::End => true,
            // A period between characters without a following space belongs to an address or a number.
            Kind::Sign => match self.words.fold(at) {
                "!" | "?" | ";" => true,
                "." => !self.words.joined(at),
                _ => false,
            },
            Kind::Word | Kind::Number => false,
        }
    }
}

/// Returns a prompt cut to the maximum length, without invisible characters and without braces, which have a meaning in the merge language.
pub fn clean(prompt: &str) -> String {
    let kept = |c: &char| {
        let braces = matches!(c, '{' | '}');
        !braces && !crate::base::text::is_invisible(*c) && (!c.is_control() || *c == '\n')
    };
    let tabs = |c| if c == '\t' { ' ' } else { c };
    prompt.chars().take(limits::COMPOSER_PROMPT_CHARACTERS_MAX).map(tabs).filter(kept).collect()
}

/// Returns every web address in a text, without the punctuation at the end of a sentence.
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

/// Returns a color written as `#1A73E8`.
fn color(words: &Tokens<'_>) -> Option<Color> {
    let marks = words.text.match_indices('#');
    marks.filter_map(|(at, _)| words.text.get(at..at + "#RRGGBB".len())?.parse().ok()).next()
}

#[cfg(test)]
mod tests;
