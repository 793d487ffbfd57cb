//! Adds the currency to prices that the prompt writes without one: "klein 29,50 groot 45".

use super::super::{FactKind, FactValue};
use super::facts::Found;
use super::lexicon::List;
use super::prompt::{Prompt, Range};
use super::reading::Read;
use super::tokens::{Kind, number};
use crate::features::projects::brand::Brand;

/// Sets the currency of prices without a currency: the first currency in the prompt or, if there is none, the first currency of the
/// brand's products.
pub fn add_currency(reads: &mut [Read], prompt: &Prompt<'_>, brand: &Brand) {
    let code = |found: &Found| match &found.value {
        Some(FactValue::Money { currency, .. }) if !currency.is_empty() => Some(currency.clone()),
        _ => None,
    };
    let own = reads.iter().flat_map(|read| &read.found).find_map(code);
    let Some(code) = own.or_else(|| brand.products.iter().find_map(|product| product.currency.clone())) else { return };
    let is_bare = |found: &Found| !(found.range.from..found.range.to).any(|at| prompt.is(List::Currency, at));
    for found in reads.iter_mut().flat_map(|read| &mut read.found).filter(|found| is_bare(found)) {
        if let Some(FactValue::Money { currency, .. }) = found.value.as_mut().filter(|_| found.kind != FactKind::Amount) {
            currency.clone_from(&code);
        }
    }
}

/// The lowest price without a currency that is recognized after a product. Lower numbers are usually part of the product's name.
const PRICE_MIN: f64 = 5.0;

/// The words for "now" and "for" that can stand between a product and its price.
const NOW: [&str; 11] = ["now", "jetzt", "nu", "maintenant", "ahora", "ora", "adesso", "agora", "for", "fur", "voor"];

/// The lowest number that is read as a year rather than a price.
const YEAR_MIN: f64 = 1900.0;

/// Recognizes a price without a currency after a product's name, and an old price without a currency after that price: "Duero sofa 690
/// instead of 890".
pub fn of_product(prompt: &Prompt<'_>, at: usize, before: &[Found]) -> Option<Found> {
    let last = before.last()?;
    let units = [List::Unit, List::Places, List::Percent, List::Month, List::Hour, List::Am, List::Pm, List::To];
    let is_sum = prompt.kind(at) == Kind::Number
        && !prompt.raw(at).contains(':')
        && !prompt.words.is_glued(at)
        && !units.into_iter().any(|list| prompt.is(list, at + 1))
        && !prompt.words.is_glued(at + 1).then(|| prompt.kind(at + 1)).is_some_and(|kind| kind == Kind::Word);
    // Small numbers and years belong to names, and are not prices: "Moth Lantern 2.0", "Pinot noir 2022".
    let amount = number(prompt.raw(at)).filter(|amount| is_sum && (PRICE_MIN..YEAR_MIN).contains(amount))?;
    let between = prompt.trim(Range::of(last.range.to, at));
    let is_joint = |at: usize| prompt.is(List::Costs, at) || NOW.contains(&prompt.fold(at));
    let is_name = last.kind == FactKind::Product && (between.is_empty() || between.len() == 1 && is_joint(between.from));
    let is_pair = last.kind == FactKind::Price && last.range.len() == 1;
    let is_old = is_pair && prompt.before(List::Old, at).is_some_and(|from| from <= last.range.to + 1);
    let kind = match (is_name, is_old) {
        (true, _) => FactKind::Price,
        (_, true) => FactKind::OldPrice,
        _ => return None,
    };
    let value = FactValue::Money { amount, currency: String::new() };
    Some(Found::new(kind, Range::of(at, at + 1), Some(value)))
}

/// Returns a statement with the currency signs that its prices lack: "klein 29,50 €".
pub fn with_currency(text: String, prompt: &Prompt<'_>, read: &Read, body: Range, language: &str) -> String {
    let mut text = text;
    for found in read.found.iter().filter(|found| body.contains(found.range) && found.range.len() == 1) {
        let Some(FactValue::Money { currency, .. }) = &found.value else { continue };
        let sign = match currency.as_str() {
            "EUR" => "€",
            "GBP" => "£",
            "USD" => "$",
            _ => continue,
        };
        // A currency after the second price belongs to both prices: "from 12 to 13.50 euros".
        let to = prompt.end(List::To, found.range.to);
        let is_word = |at: usize| prompt.is(List::Currency, at) && prompt.kind(at) == Kind::Word;
        let is_shared = |other: &Found| {
            Some(other.range.from) == to && other.range.len() > 1 && (other.range.from..other.range.to).any(is_word)
        };
        if read.found.iter().any(is_shared) {
            continue;
        }
        let number = prompt.raw(found.range.from);
        let is_whole = |at: &usize| {
            let (before, after) = (text[..*at].chars().next_back(), text[at + number.len()..].chars().next());
            let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '€' | '£' | '$' | '-' | ':'));
            let continues = text[at + number.len()..].starts_with([',', '.'])
                && text[at + number.len() + 1..].starts_with(|c: char| c.is_ascii_digit());
            !is_part(before) && !is_part(after) && !continues
        };
        let mut places = text.match_indices(number).map(|(at, _)| at).filter(is_whole);
        if let (Some(at), None) = (places.next(), places.next()) {
            let priced = if language == "en" { format!("{sign}{number}") } else { format!("{number} {sign}") };
            text.replace_range(at..at + number.len(), &priced);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use crate::features::emails::brief::FactKind;
    use crate::features::emails::brief::parse::parse;
    use crate::features::projects::brand::{Brand, BrandProduct};

    #[test]
    fn numbers_after_products_are_prices() {
        let product =
            |name: &str| BrandProduct { name: name.to_owned(), currency: Some("EUR".to_owned()), ..BrandProduct::default() };
        let brand = Brand { products: vec![product("Sofá Duero"), product("Moth Lantern")], ..Brand::default() };
        let brief = parse("Sale: sofá Duero 690 instead of 890.", &brand, None, date(2027, 2, 22));
        for (kind, text) in [(FactKind::Price, "690"), (FactKind::OldPrice, "890")] {
            let found = brief.facts.iter().find(|fact| fact.kind == kind).map(|fact| fact.text.as_str());
            assert_eq!(found, Some(text));
        }
        let brief = parse("Moth Lantern 2.0 is out on 5 March, and we are proud of it.", &brand, None, date(2027, 2, 22));
        assert!(brief.facts.iter().all(|fact| fact.kind != FactKind::Price), "{:?}", brief.facts);
    }
}
