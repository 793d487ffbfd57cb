//! Parses the order of a receipt: the order number, the lines and the total.

use super::Prompt;
use super::money::{Money, money_at};
use crate::features::emails::composer::tokens::{Kind, number};
use crate::vocab::limits;

/// One line of an order.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderItem {
    pub quantity: u32,
    pub name: String,
    pub price: Option<Money>,
}

/// The order in a prompt.
#[derive(Clone, Debug, Default)]
pub struct Order {
    pub number: Option<String>,
    pub items: Vec<OrderItem>,
    pub total: Option<Money>,
    /// The ranges of words that belong to the order.
    covered: Vec<(usize, usize)>,
}

impl Order {
    /// Returns whether this word belongs to the order.
    pub fn covers(&self, at: usize) -> bool {
        self.covered.iter().any(|(from, to)| (*from..*to).contains(&at))
    }
}

/// The maximum quantity of an item. A larger number is not a quantity.
const QUANTITY_MAX: f64 = 999.0;
/// The maximum number of words in an item's name.
const NAME_WORDS_MAX: usize = 8;

pub fn read(prompt: &Prompt<'_>) -> Order {
    let mut order = Order { number: order_number(prompt), ..Order::default() };
    let words = prompt.words;
    let mut at = 0;
    while at < words.len() && order.items.len() < limits::EMAIL_TABLE_ROWS_MAX - 1 {
        match item(prompt, at) {
            Some((item, end)) => {
                order.items.push(item);
                order.covered.push((at, end));
                at = end;
            }
            None => at += 1,
        }
    }
    if let Some((at, taken)) = words.find(0, &prompt.lexicon.total) {
        let from = at + taken;
        let amounts = (from..from + 4).take_while(|at| !prompt.is_end(*at));
        if let Some((at, (value, taken))) = amounts.into_iter().find_map(|at| money_at(prompt, at).map(|money| (at, money))) {
            order.total = Some(value);
            order.covered.push((at, at + taken));
        }
    }
    order
}

/// Parses an order line such as `2 x Green tea 12.50 €`; also returns where the line ends.
fn item(prompt: &Prompt<'_>, at: usize) -> Option<(OrderItem, usize)> {
    let words = prompt.words;
    let times = matches!(words.fold(at + 1), "x" | "×");
    if words.kind(at) != Kind::Number || !times {
        return None;
    }
    let quantity = number(words.raw(at)).filter(|value| (1.0..=QUANTITY_MAX).contains(value))?;
    let first = at + 2;
    let mut end = first;
    let continues = |at: usize| {
        let word = matches!(words.kind(at), Kind::Word | Kind::Number) || matches!(words.fold(at), "-" | "'" | "&" | "’");
        let next = words.kind(at) == Kind::Number && matches!(words.fold(at + 1), "x" | "×");
        let joins = words.raw(at).eq_ignore_ascii_case(&super::super::language::Bank::of(prompt.language).format.and);
        word && !next && !joins && money_at(prompt, at).is_none()
    };
    while end < first + NAME_WORDS_MAX && continues(end) && words.any(end, &prompt.lexicon.range).is_none() {
        end += 1;
    }
    let mut name = words.slice(first, end).trim();
    for word in ["for", "at", "für", "zu", "à", "a", "por", "per", "voor", "je"] {
        name = name.strip_suffix(word).filter(|name| name.ends_with(' ')).map_or(name, str::trim);
    }
    if name.is_empty() {
        return None;
    }
    while matches!(words.fold(end), "(" | "," | ":" | "–" | "-" | "@") && money_at(prompt, end + 1).is_some() {
        end += 1;
    }
    let price = money_at(prompt, end);
    let end = price.as_ref().map_or(end, |(_, taken)| end + taken);
    let item = OrderItem { quantity: quantity as u32, name: name.to_owned(), price: price.map(|(price, _)| price) };
    Some((item, end))
}

/// Parses an order number: `#10234`, or a number after the word for an order.
fn order_number(prompt: &Prompt<'_>) -> Option<String> {
    let words = prompt.words;
    let mut from = 0;
    while let Some((at, taken)) = words.find(from, &prompt.lexicon.order) {
        let mut next = at + taken;
        while matches!(words.fold(next), "#" | ":" | "." | "n" | "no" | "nr" | "°" | "º" | "num" | "numero" | "number" | "nummer")
        {
            next += 1;
        }
        let start = words.tokens.get(next).map_or(words.text.len(), |token| token.start);
        let rest = &words.text[start..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))).unwrap_or(rest.len());
        let number = rest[..end].trim_end_matches('-');
        let digits = number.chars().filter(char::is_ascii_digit).count();
        if digits >= 3 && number.len() <= 24 && money_at(prompt, next).is_none() {
            let hash = words.fold(next.saturating_sub(1)) == "#";
            return Some(if hash { format!("#{number}") } else { number.to_owned() });
        }
        from = at + 1;
    }
    None
}
