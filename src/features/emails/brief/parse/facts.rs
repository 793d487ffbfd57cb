//! Recognizes the codes and the numbers in a prompt: percentages, money, counts and lengths of time.

use super::super::{FactKind, FactValue};
use super::lexicon::List;
use super::prompt::{Prompt, Range};
use super::tokens::{Kind, number};

/// A fact that the parser found in the prompt, with the range of its words.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub kind: FactKind,
    pub range: Range,
    pub value: Option<FactValue>,
    /// The bound that a date or a time has because of the words before it, such as "until" or "from".
    pub bound: Bound,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    #[default]
    None,
    From,
    Until,
}

impl Found {
    pub fn new(kind: FactKind, range: Range, value: Option<FactValue>) -> Self {
        Self { kind, range, value, bound: Bound::None }
    }
}

/// Returns the number that starts at a word, in digits or as a numeral, and its end. Thousands can be separated by spaces.
pub fn quantity(prompt: &Prompt<'_>, at: usize) -> Option<(f64, usize)> {
    if prompt.kind(at) == Kind::Number {
        let is_group =
            |at: usize| prompt.kind(at) == Kind::Number && prompt.raw(at).split(',').next().is_some_and(|part| part.len() == 3);
        if prompt.raw(at).len() <= 3 && is_group(at + 1) && !prompt.words.is_glued(at + 1) && prompt.fold(at + 1) != "000"
            || prompt.fold(at + 1) == "000" && prompt.raw(at).len() <= 3
        {
            let joined = format!("{}{}", prompt.raw(at), prompt.raw(at + 1));
            return number(&joined).map(|value| (value, at + 2));
        }
        return number(prompt.raw(at)).map(|value| (value, at + 1));
    }
    let mark = prompt.at(List::Numeral, at).max_by_key(|mark| mark.to)?;
    Some((f64::from(mark.value), mark.to))
}

/// Recognizes a percentage, or words for "half price".
pub fn percentage(prompt: &Prompt<'_>, at: usize) -> Option<Found> {
    if let Some(end) = prompt.end(List::HalfPrice, at) {
        return Some(Found::new(FactKind::Percentage, Range::of(at, end), Some(FactValue::Percent { percent: 50.0 })));
    }
    if prompt.kind(at) != Kind::Number {
        return None;
    }
    let percent = number(prompt.raw(at))?;
    let end = prompt.end(List::Percent, at + 1)?;
    Some(Found::new(FactKind::Percentage, Range::of(at, end), Some(FactValue::Percent { percent })))
}

/// Recognizes a sum of money with its currency.
pub fn money(prompt: &Prompt<'_>, at: usize) -> Option<Found> {
    let (currency, number) = match prompt.end(List::Currency, at) {
        Some(end) if prompt.kind(at) == Kind::Sign || prompt.raw(at).chars().all(char::is_uppercase) => (Some(at), end),
        _ => (None, at),
    };
    if prompt.kind(number) != Kind::Number || prompt.raw(number).contains(':') {
        return None;
    }
    let (amount, mut end) = quantity(prompt, number)?;
    let sign = match currency {
        Some(sign) => sign,
        None => {
            // A dash can replace the cents: "21,- €" and "€ 14,-".
            let dash = if prompt.fold(end) == "," && prompt.fold(end + 1) == "-" { end + 2 } else { end };
            prompt.end(List::Currency, dash).filter(|_| !prompt.is(List::Percent, dash)).map(|after| {
                end = after;
                dash
            })?
        }
    };
    if currency.is_some() && prompt.fold(end) == "," && prompt.fold(end + 1) == "-" {
        end += 2;
    }
    // A second number after a hyphen belongs to the same sum: "$28-32".
    let is_range =
        prompt.fold(end) == "-" && prompt.words.is_glued(end) && prompt.kind(end + 1) == Kind::Number && currency.is_some();
    let end = if is_range { end + 2 } else { end };
    let value = FactValue::Money { amount, currency: currency_code(prompt.fold(sign)).to_owned() };
    Some(Found::new(FactKind::Price, Range::of(currency.unwrap_or(at), end), Some(value)))
}

/// Returns the ISO 4217 code of a folded currency sign or word, by default `EUR`.
fn currency_code(word: &str) -> &str {
    match word {
        "$" | "dollar" | "dollars" | "usd" | "bucks" | "dolar*" | "dollari" => "USD",
        "£" | "pound" | "pounds" | "gbp" | "quid" | "pfund" | "livres" | "libras" | "sterline" | "pond" => "GBP",
        "¥" => "JPY",
        "₪" | "שקל" | "שקלים" => "ILS",
        "دينار" => "JOD",
        "cad" => "CAD",
        "aud" => "AUD",
        "nzd" => "NZD",
        "chf" | "franken" | "francs" | "franchi" => "CHF",
        "sek" => "SEK",
        "nok" => "NOK",
        "dkk" => "DKK",
        "zł" => "PLN",
        "kc" => "CZK",
        _ => "EUR",
    }
}

/// Recognizes a price without a currency by the words and symbols around it: "85 → 95", "was 19.99", "instead of 240".
pub fn bare_price(prompt: &Prompt<'_>, at: usize) -> Option<Found> {
    if prompt.kind(at) != Kind::Number || prompt.raw(at).contains(':') {
        return None;
    }
    let is_arrow = |at: usize| prompt.fold(at) == "→" || prompt.fold(at) == "-" && prompt.fold(at + 1) == ">";
    let after_arrow = at > 0 && (is_arrow(at - 1) || at > 1 && is_arrow(at - 2) && prompt.fold(at - 2) == "-");
    if is_dotted_day(prompt, at) {
        return None;
    }
    let amount = number(prompt.raw(at))?;
    let is_counted = prompt.is(List::Unit, at + 1)
        || prompt.is(List::Places, at + 1)
        || prompt.is(List::Percent, at + 1)
        || prompt.is(List::Month, at + 1)
        // The number in "Over 25s only" is an age, not a price.
        || prompt.fold(at + 1) == "s" && prompt.words.is_glued(at + 1);
    let value = |amount| Some(FactValue::Money { amount, currency: String::new() });
    if is_arrow(at + 1) && prompt.kind(at + 2 + usize::from(prompt.fold(at + 1) == "-")) == Kind::Number {
        return Some(Found::new(FactKind::OldPrice, Range::of(at, at + 1), value(amount)));
    }
    if after_arrow && at > 2 && (0..3).any(|back| prompt.kind(at - 1 - back.min(at - 1)) == Kind::Number) {
        return Some(Found::new(FactKind::Price, Range::of(at, at + 1), value(amount)));
    }
    // In a price change, the first of two prices is the old price: "de 15 a 17 €".
    let next = prompt.end(List::To, at + 1).filter(|_| !prompt.is(List::And, at + 1) && prompt.fold(at + 1) != "-");
    if next.is_some_and(|next| money(prompt, next).is_some())
        && ((at.saturating_sub(8)..at).any(|at| prompt.is(List::CuePrice, at)) || is_raised(prompt, at, next))
    {
        return Some(Found::new(FactKind::OldPrice, Range::of(at, at + 1), value(amount)));
    }
    if let Some(kind) = changed(prompt, at).filter(|_| !is_counted) {
        return Some(Found::new(kind, Range::of(at, at + 1), value(amount)));
    }
    // The minimum order value of an offer can be a price without a currency: "10 quid off orders over 50".
    if prompt.before(List::Minimum, at).is_some() && !is_counted && is_price_near(prompt, at) {
        return Some(Found::new(FactKind::Price, Range::of(at, at + 1), value(amount)));
    }
    // The second of two prices is the new price: "pasa de 12,50 a 11".
    let before = prompt.before(List::To, at).filter(|to| !prompt.is(List::And, *to) && prompt.fold(*to) != "-");
    let changes =
        before.is_some_and(|to| to > 0 && prompt.kind(to - 1) == Kind::Number && prompt.raw(to - 1).contains([',', '.']));
    if changes
        && !is_counted
        && (at.saturating_sub(8)..at).any(|at| prompt.is(List::CuePrice, at))
        && prompt.mentions(List::Currency)
    {
        return Some(Found::new(FactKind::Price, Range::of(at, at + 1), value(amount)));
    }
    let is_decimal = prompt.raw(at).rsplit_once(',').is_some_and(|(_, cents)| cents.len() == 2);
    if is_decimal && !is_counted && (prompt.mentions(List::Currency) || prompt.kind(at + 1) != Kind::Word) {
        return Some(Found::new(FactKind::Price, Range::of(at, at + 1), value(amount)));
    }
    if has_bare_cents(prompt, at) {
        return Some(Found::new(FactKind::Price, Range::of(at, at + 1), value(amount)));
    }
    // A number is a price if "each" follows, or if it has two decimals and is too large for a time: "19.50 each", "178.50".
    let (whole, cents) = prompt.raw(at).split_once('.').unwrap_or_default();
    let has_cents = cents.len() == 2 && whole.parse::<u32>().is_ok_and(|whole| whole > 24 && whole < 10_000);
    let is_measured = prompt.kind(at + 1) == Kind::Word && prompt.raw(at + 1).len() <= 3 && !prompt.is(List::Common, at + 1);
    if !is_counted && (prompt.is(List::Each, at + 1) || has_cents && !is_measured && prompt.fold(at + 1) != ".") {
        return Some(Found::new(FactKind::Price, Range::of(at, at + 1), value(amount)));
    }
    // A word such as "stays at" marks a price without a currency: "the single class stays at 18".
    let ends = !matches!(prompt.kind(at + 1), Kind::Word | Kind::Number) && prompt.fold(at + 1) != "-";
    if ends && !is_counted && prompt.before(List::Costs, at).is_some() {
        return Some(Found::new(FactKind::Price, Range::of(at, at + 1), value(amount)));
    }
    let kind = Some(at).filter(|_| !is_counted).and_then(|at| compared(prompt, at))?;
    Some(Found::new(kind, Range::of(at, at + 1), value(amount)))
}

/// Returns the kind of a number without a currency next to a word such as "instead of": a price or an old price.
fn compared(prompt: &Prompt<'_>, at: usize) -> Option<FactKind> {
    let is_old = prompt.before(List::Old, at).is_some_and(|from| prompt.fold(from) != "not");
    // The price before an old price is the new price: "140 statt 120 €".
    let is_sum = |at: usize| prompt.kind(at) == Kind::Number && prompt.raw(at).len() > 2 && !prompt.raw(at).contains(':');
    let is_new = prompt.end(List::Old, at + 1).is_some_and(|end| {
        let is_pair = is_sum(end) && is_sum(at) || prompt.kind(end) == Kind::Number && is_counting_money(prompt, end + 1);
        money(prompt, end).is_some() || is_pair && is_price_near(prompt, at)
    });
    if is_new {
        return Some(FactKind::Price);
    }
    (is_old && (prompt.raw(at).contains(['.', ',']) || is_price_near(prompt, at))).then_some(FactKind::OldPrice)
}

/// Returns the kind of a number that is the old or the new price in a change without a currency: "the blend goes from 12 to 13.50".
fn changed(prompt: &Prompt<'_>, at: usize) -> Option<FactKind> {
    let pair = |first: usize| {
        let second =
            prompt.end(List::To, first + 1).filter(|_| !prompt.is(List::And, first + 1) && prompt.fold(first + 1) != "-")?;
        let from = prompt.before(List::FromWord, first)?;
        let ends = |at: usize| !matches!(prompt.kind(at), Kind::Number) && !prompt.raw(at).contains(':');
        let units = [List::Hour, List::Am, List::Pm, List::Month, List::Percent, List::Unit, List::Places, List::Currency];
        let is_plain = |at: usize| prompt.kind(at) == Kind::Number && !prompt.raw(at).contains(':');
        let is_price = (from.saturating_sub(1)..=from).any(|at| prompt.is(List::CuePrice, at));
        let fits = is_price && is_plain(first) && is_plain(second) && ends(second + 1);
        (fits && !units.into_iter().any(|list| prompt.is(list, second + 1))).then_some(second)
    };
    if pair(at).is_some() {
        return Some(FactKind::OldPrice);
    }
    (at.saturating_sub(3)..at).any(|first| pair(first) == Some(at)).then_some(FactKind::Price)
}

/// Returns whether a price rises from this number to the number at `next`, in a prompt about prices: "the tin from 24 to 27 euro".
fn is_raised(prompt: &Prompt<'_>, at: usize, next: Option<usize>) -> bool {
    let higher = next.and_then(|next| quantity(prompt, next)).map(|(amount, _)| amount);
    let own = number(prompt.raw(at));
    prompt.before(List::FromWord, at).is_some() && prompt.mentions(List::CuePrice) && own < higher
}

/// Returns whether a number with two decimals is a price although its digits can be a time: no word for a time is next to it, and the
/// prompt names a currency.
fn has_bare_cents(prompt: &Prompt<'_>, at: usize) -> bool {
    let lists = [List::TimeAt, List::UntilWord, List::FromWord, List::OnWord, List::Between, List::To, List::Weekday];
    let is_led = lists.into_iter().any(|list| prompt.before(list, at).is_some());
    let units = [List::Hour, List::Am, List::Pm, List::To, List::Zone, List::Unit, List::Places, List::Percent, List::Month];
    let is_timed = units.into_iter().any(|list| prompt.is(list, at + 1));
    let has_cents = prompt.raw(at).split_once('.').is_some_and(|(_, cents)| cents.len() == 2 && !cents.contains('.'));
    let is_noun = at > 0 && prompt.kind(at - 1) == Kind::Word && prompt.before(List::ShortWeekday, at).is_none();
    let is_day = (at.saturating_sub(3)..at).any(|at| prompt.is(List::Weekday, at) || prompt.is(List::ShortWeekday, at));
    let hour = prompt.raw(at).split('.').next().and_then(|hour| hour.parse::<u8>().ok());
    let is_quarter = is_day && prompt.raw(at).ends_with(['0', '5']) && hour.is_some_and(|hour| hour < 24);
    has_cents && is_noun && !is_quarter && !is_led && !is_timed && prompt.fold(at + 1) != "." && prompt.mentions(List::Currency)
}

/// Returns whether a currency is within eight words of a number.
fn is_price_near(prompt: &Prompt<'_>, at: usize) -> bool {
    (at.saturating_sub(8)..at + 8).any(|at| prompt.is(List::Currency, at))
}

/// Returns whether no word, unit or period follows a number, so that the number can be an amount of money: "29 statt 27, ". `at` is the
/// index after the number.
fn is_counting_money(prompt: &Prompt<'_>, at: usize) -> bool {
    let units = [List::Unit, List::Places, List::Percent, List::Month, List::Hour, List::Am, List::Pm];
    prompt.kind(at) != Kind::Word && !units.into_iter().any(|list| prompt.is(list, at)) && prompt.fold(at) != "."
        || prompt.kind(at) == Kind::End
}

/// Recognizes a length of time: "48 hours", "8 to 10 working days".
pub fn duration(prompt: &Prompt<'_>, at: usize) -> Option<Found> {
    let (_, mut end) = quantity(prompt, at)?;
    if prompt.is(List::To, end) {
        let second = prompt.end(List::To, end).unwrap_or(end);
        if let Some((_, after)) = quantity(prompt, second) {
            end = after;
        }
    }
    if prompt.fold(end) == "-" && prompt.words.is_glued(end) {
        end += 1;
    }
    let end = prompt.end(List::Unit, end)?;
    Some(Found::new(FactKind::Period, Range::of(at, end), None))
}

/// Recognizes a count of places, people or items: "8 places", "max 18 people", "the first 100".
pub fn capacity(prompt: &Prompt<'_>, at: usize) -> Option<Found> {
    let (count, end) = quantity(prompt, at)?;
    let limit = prompt.before(List::Limited, at);
    let noun = prompt
        .end(List::Places, end)
        .or_else(|| prompt.end(List::Places, end + 1).filter(|_| prompt.kind(end) == Kind::Word && limit.is_some()));
    let is_whole = count.fract() == 0.0 && (1.0..1e9).contains(&count);
    if !is_whole
        || prompt.is(List::Currency, end)
        || prompt.is(List::Percent, end)
        || prompt.is(List::Unit, end)
        || prompt.is(List::Month, end)
    {
        return None;
    }
    let value = Some(FactValue::Count { count: count as u64 });
    if let Some(noun) = noun {
        let noun = prompt.end(List::Limited, noun).unwrap_or(noun);
        return Some(Found::new(FactKind::Capacity, Range::of(at, noun), value));
    }
    let is_counted = limit.is_some() && prompt.kind(end) == Kind::Word && prompt.kind(at) == Kind::Number;
    is_counted.then(|| Found::new(FactKind::Capacity, Range::of(at, end + 1), value))
}

/// Recognizes a code after a word such as "code", or a word in capitals after "with".
pub fn code(prompt: &Prompt<'_>, at: usize, is_shouted: bool) -> Option<Found> {
    if let Some(end) = code_end(prompt, at).filter(|end| *end == at + 2 && !is_shouted) {
        // In a prompt about a code, a word in capitals with digits is a code even without a word such as "code" before it: "Right one:
        // SPRING15".
        let (letters, digits) = (prompt.raw(at), prompt.raw(at + 1));
        let is_code = letters.chars().count() >= 4
            && letters.chars().all(char::is_uppercase)
            && digits.len() <= 4
            && prompt.kind(at + 1) == Kind::Number;
        if is_code && prompt.mentions(List::Code) {
            return Some(Found::new(FactKind::Code, Range::of(at, end), None));
        }
    }
    let after = prompt.end(List::Code, at);
    let with = prompt.end(List::CodeWith, at);
    let mut start = after.or(with)?;
    if after.is_some() {
        while prompt.is(List::LabelIs, start) || matches!(prompt.fold(start), ":" | "\"" | "=" | "'") {
            start += 1;
        }
    }
    let end = code_end(prompt, start)?;
    let text = prompt.words.slice(start, end);
    let letters = text.chars().filter(|c| c.is_alphabetic());
    let is_upper = letters.clone().all(char::is_uppercase) && letters.count() >= 2;
    let has_digit = text.chars().any(|c| c.is_ascii_digit());
    let fits = match after {
        Some(_) => (is_upper && !is_shouted || has_digit && text.chars().any(char::is_alphabetic)) && text.len() >= 3,
        None => is_upper && text.chars().count() >= if has_digit { 5 } else { 6 } && !is_shouted,
    };
    fits.then(|| Found::new(FactKind::Code, Range::of(start, end), None))
}

/// Returns the end of the letters, digits and hyphens that start at a word and have no spaces between them.
fn code_end(prompt: &Prompt<'_>, start: usize) -> Option<usize> {
    if !matches!(prompt.kind(start), Kind::Word | Kind::Number) {
        return None;
    }
    let mut end = start + 1;
    while prompt.words.is_glued(end)
        && (matches!(prompt.kind(end), Kind::Word | Kind::Number) || prompt.fold(end) == "-" && prompt.words.is_glued(end + 1))
    {
        end += 1;
    }
    Some(end)
}

/// Returns whether a range contains a number, a link, an email address, a weekday, a month, or a word such as "code".
pub fn has_value(prompt: &Prompt<'_>, range: Range) -> bool {
    (range.from..range.to).any(|at| {
        matches!(prompt.kind(at), Kind::Number | Kind::Link | Kind::Mail)
            || [List::Month, List::Weekday, List::Code].into_iter().any(|list| prompt.is(list, at))
    })
}

/// Returns whether a number is a German day and month without a period at its end: "bis 6.12". Prices have a comma in German. If
/// the part after the period is a multiple of five, the number can be a time unless a word for a day precedes it.
pub fn is_dotted_day(prompt: &Prompt<'_>, at: usize) -> bool {
    let parts = prompt.raw(at).split_once('.').and_then(|(day, month)| Some((day.parse().ok()?, month.parse().ok()?)));
    let Some((1..=31, month @ 1..=12)) = parts.filter(|_: &(u8, u8)| prompt.lexicon().code == "de") else { return false };
    let is_led = prompt.before(List::Weekday, at).is_some()
        || prompt.before(List::ShortWeekday, at).is_some()
        || at > 0 && matches!(prompt.fold(at - 1), "den" | "dem" | "am" | "vom");
    let units = [List::Hour, List::Currency, List::Percent, List::Unit];
    let is_unit = units.into_iter().any(|list| prompt.is(list, at + 1));
    (is_led || month % 5 != 0) && !is_unit && prompt.fold(at + 1) != "-"
}
