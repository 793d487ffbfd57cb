//! Parses percentages, amounts and codes in a prompt, and determines the meaning of each.

use super::order::Order;
use super::{Prompt, Scope, names};
use crate::features::emails::composer::language::Language;
use crate::features::emails::composer::tokens::{Kind, number};

/// An amount in a currency.
#[derive(Clone, Debug, PartialEq)]
pub struct Money {
    pub amount: f64,
    /// The ISO 4217 code of the currency.
    pub currency: &'static str,
}

/// The amount or percentage that the recipient saves.
#[derive(Clone, Debug, PartialEq)]
pub enum Saving {
    Percent { value: f64, up_to: bool },
    Amount { value: Money, up_to: bool },
}

/// The amounts in a prompt, by meaning.
#[derive(Clone, Debug, Default)]
pub struct Amounts {
    pub saving: Option<Saving>,
    pub threshold: Option<Money>,
    pub price: Option<Money>,
    pub price_is_least: bool,
}

/// The maximum distance between an amount and the word that gives its meaning.
const REACH: usize = 3;

/// Currency symbols and words in all languages.
const CURRENCIES: [(&str, &str); 26] = [
    ("€", "EUR"),
    ("eur", "EUR"),
    ("euro", "EUR"),
    ("euros", "EUR"),
    ("$", "USD"),
    ("usd", "USD"),
    ("dollar", "USD"),
    ("dollars", "USD"),
    ("dolares", "USD"),
    ("dollari", "USD"),
    ("£", "GBP"),
    ("gbp", "GBP"),
    ("pound", "GBP"),
    ("pounds", "GBP"),
    ("pfund", "GBP"),
    ("libras", "GBP"),
    ("chf", "CHF"),
    ("franken", "CHF"),
    ("sfr", "CHF"),
    ("reais", "BRL"),
    ("brl", "BRL"),
    ("¥", "JPY"),
    ("jpy", "JPY"),
    ("sek", "SEK"),
    ("dkk", "DKK"),
    ("pln", "PLN"),
];

/// Reads every amount except those of an order's lines.
pub fn read(prompt: &Prompt<'_>, order: &Order) -> Amounts {
    let mut found = Amounts::default();
    let (words, lexicon) = (prompt.words, prompt.lexicon);
    for at in 0..words.len() {
        if let Some(value) = percent(prompt, at) {
            let up_to = words.before(at, &lexicon.up_to).is_some();
            found.saving.get_or_insert(Saving::Percent { value, up_to });
        }
    }
    let orders_and_conditions = prompt.says(&lexicon.shipping) || found.saving.is_some();
    let mut at = 0;
    while at < words.len() {
        let Some((value, taken)) = money_at(prompt, at) else {
            at += 1;
            continue;
        };
        let (start, end) = (at, at + taken);
        at = end;
        if order.covers(start) {
            continue;
        }
        let up_to = words.before(start, &lexicon.up_to).is_some();
        let over = words.before(start, &lexicon.over).is_some();
        let saves = near_after(prompt, end, &lexicon.off) || (!over && near_before(prompt, start, &lexicon.off));
        let conditional = orders_and_conditions || matches!(found.saving, Some(Saving::Amount { .. }));
        match () {
            () if saves && found.saving.is_none() => found.saving = Some(Saving::Amount { value, up_to }),
            () if over && conditional => found.threshold = found.threshold.or(Some(value)),
            () if found.price.is_none() => (found.price, found.price_is_least) = (Some(value), over || least(prompt, start)),
            () => {}
        }
    }
    found
}

/// Returns whether "from" precedes a price, so that the price is the lowest of several.
fn least(prompt: &Prompt<'_>, at: usize) -> bool {
    prompt.words.before(at, &prompt.lexicon.start).is_some()
}

fn near_after(prompt: &Prompt<'_>, at: usize, phrases: &[Vec<String>]) -> bool {
    let reach = (at..at + REACH).take_while(|at| !prompt.is_end(*at) && money_at(prompt, *at).is_none());
    reach.into_iter().any(|at| prompt.words.any(at, phrases).is_some())
}

fn near_before(prompt: &Prompt<'_>, at: usize, phrases: &[Vec<String>]) -> bool {
    let reach = (at.saturating_sub(REACH)..at).rev().take_while(|at| !prompt.is_end(*at) && prompt.words.fold(*at) != ",");
    reach.into_iter().any(|at| prompt.words.any(at, phrases).is_some())
}

/// Parses a percentage that is a saving, unlike "100 % cotton".
fn percent(prompt: &Prompt<'_>, at: usize) -> Option<f64> {
    let words = prompt.words;
    if words.kind(at) != Kind::Number {
        return None;
    }
    let value = number(words.raw(at)).filter(|value| (1.0..=100.0).contains(value))?;
    let taken = if words.fold(at + 1) == "%" { 1 } else { words.any(at + 1, &prompt.lexicon.percent)? };
    let after = at + 1 + taken;
    let saves = near_after(prompt, after, &prompt.lexicon.off) || near_before(prompt, at, &prompt.lexicon.off);
    let stands_alone = words.kind(after) != Kind::Word || words.any(after, &prompt.lexicon.phrase_ends).is_some();
    (saves || (value < 100.0 && stands_alone)).then_some(value)
}

/// Parses an amount that starts at this position; also returns the amount's length in words.
pub fn money_at(prompt: &Prompt<'_>, at: usize) -> Option<(Money, usize)> {
    let words = prompt.words;
    let currency = |at: usize| CURRENCIES.iter().find(|(word, _)| *word == words.fold(at)).map(|(_, code)| *code);
    let amount = |at: usize| {
        let is_number = words.kind(at) == Kind::Number;
        is_number.then(|| number(words.raw(at))).flatten()
    };
    if words.fold(at) == "r" && words.fold(at + 1) == "$" {
        return Some((Money { amount: amount(at + 2)?, currency: "BRL" }, 3));
    }
    if let (Some(amount), Some(currency)) = (amount(at), currency(at + 1)) {
        return Some((Money { amount, currency }, 2));
    }
    // Parses `19,- €` and `19.– CHF`.
    if let (Some(amount), Some(currency), true) = (amount(at), currency(at + 3), matches!(words.fold(at + 1), "," | ".")) {
        return matches!(words.fold(at + 2), "-" | "–" | "—").then_some((Money { amount, currency }, 4));
    }
    let (amount, currency) = (amount(at + 1)?, currency(at)?);
    Some((Money { amount, currency }, 2))
}

/// Parses "Give 5 €, get 5 €", which must be the only two amounts in a prompt.
pub fn gifts(prompt: &Prompt<'_>) -> Option<(Money, Money)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < prompt.words.len() && found.len() < 3 {
        match money_at(prompt, at) {
            Some((money, taken)) => {
                found.push(money);
                at += taken;
            }
            None => at += 1,
        }
    }
    let [give, get] = found.try_into().ok()?;
    Some((give, get))
}

/// Parses a discount code, which follows the word for "code" or has the form of a code.
pub fn code(prompt: &Prompt<'_>) -> Option<String> {
    let words = prompt.words;
    let mut from = 0;
    while let Some((at, taken)) = words.find(from, &prompt.lexicon.code) {
        let mut next = at + taken;
        while matches!(words.fold(next), ":" | "\"" | "'" | "„" | "“" | "”" | "«" | "*" | "‚" | "-")
            || words.any(next, &prompt.lexicon.code_fill).is_some() && !is_code(words.raw(next))
        {
            next += 1;
        }
        if let Some(code) = whole_code(prompt, next).filter(|code| is_code(code)) {
            return Some(code);
        }
        from = at + 1;
    }
    let by_looks = |word: &&str| {
        let has = |test: fn(&char) -> bool| word.chars().filter(test).count();
        is_code(word) && has(char::is_ascii_digit) >= 1 && has(char::is_ascii_uppercase) >= 3
    };
    let all = words.text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()));
    all.into_iter().find(by_looks).map(str::to_owned)
}

/// Returns a code with its hyphens, up to the next space.
fn whole_code(prompt: &Prompt<'_>, at: usize) -> Option<String> {
    let start = prompt.words.tokens.get(at)?.start;
    let rest = &prompt.words.text[start..];
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))).unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches(['-', '_']).to_owned())
}

/// Returns whether a word consists of uppercase letters and digits, like the codes of shops.
fn is_code(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    (3..=24).contains(&word.len()) && word.chars().all(plain) && word.chars().any(|c| c.is_ascii_uppercase())
}

/// Rewrites "their first order" and "the first order" for the recipient.
fn addressed(prompt: &Prompt<'_>, text: String) -> String {
    if prompt.language != Language::En {
        return text;
    }
    let own = ["their ", "the first ", "first "].into_iter().find_map(|start| Some((start, text.strip_prefix(start)?)));
    match own {
        Some(("their ", rest)) => format!("your {rest}"),
        Some((_, rest)) => format!("your first {rest}"),
        None => text,
    }
}

/// Returns the scope of an offer, in the prompt's words.
pub fn scope(prompt: &Prompt<'_>) -> Option<Scope> {
    if prompt.says(&prompt.lexicon.everything) {
        return Some(Scope::Everything);
    }
    let words = prompt.words;
    for at in 0..words.len() {
        let Some(taken) = words.any(at, &prompt.lexicon.scope) else { continue };
        let from = at + taken;
        // "20% off for new customers" and "$10 off orders over $50" do not name product ranges.
        let first = from + words.any(from, &prompt.lexicon.determiners).unwrap_or(0);
        let is_other =
            words.any(first, &prompt.lexicon.phrase_ends).is_some() || words.any(first, &prompt.lexicon.over).is_some();
        if is_other || words.kind(first) != Kind::Word || words.kind(from) != Kind::Word {
            continue;
        }
        let Some(text) = names::phrase(prompt, first) else { continue };
        let article = words.slice(from, first);
        let text = if article.is_empty() { text } else { format!("{article} {text}") };
        return Some(Scope::Words(addressed(prompt, text)));
    }
    None
}
