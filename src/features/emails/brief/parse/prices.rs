//! Adds the currency to prices that the prompt writes without one: "klein 29,50 groot 45".

use super::super::{FactKind, FactValue};
use super::facts::Found;
use super::lexicon::List;
use super::prompt::{Prompt, Range};
use super::reading::Read;
use crate::features::projects::brand::Brand;

/// Gives prices without a currency the first currency in the prompt, or otherwise the brand's.
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
        let is_shared = |other: &Found| Some(other.range.from) == to && other.range.len() > 1;
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
