//! Parses prices in text, and finds the list price next to a sale price.

use scraper::ElementRef;

use super::cascade::{Styles, parent};
use super::page::text_of;

/// Currency signs, each with the code of its currency. A dollar sign without a country is interpreted as US dollars, the most common dollar
/// currency.
const SIGNS: [(&str, &str); 14] = [
    ("€", "EUR"),
    ("£", "GBP"),
    ("US$", "USD"),
    ("C$", "CAD"),
    ("A$", "AUD"),
    ("R$", "BRL"),
    ("$", "USD"),
    ("¥", "JPY"),
    ("円", "JPY"),
    ("CHF", "CHF"),
    ("zł", "PLN"),
    ("Kč", "CZK"),
    ("₹", "INR"),
    ("₺", "TRY"),
];

/// Words in the CSS classes of a list price next to a sale price, such as `price--compare` and `was-price`.
const BEFORE_WORDS: [&str; 10] =
    ["compare", "was-", "was_", "old", "strike", "crossed", "list-price", "before", "rrp", "streich"];
/// Words that precede a list price, such as `was`.
const BEFORE_TEXTS: [&str; 12] = [
    "was",
    "rrp",
    "list price",
    "uvp",
    "statt",
    "vorher",
    "bisher",
    "before",
    "au lieu de",
    "antes",
    "invece di",
    "regular price",
];
/// The maximum number of elements to check for a strikethrough: the price and its nearest ancestors.
const STRUCK_LEVELS_MAX: usize = 3;

/// A price and, for a product on sale, the higher list price.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Price {
    pub price: String,
    pub before: Option<String>,
    pub currency: Option<String>,
}

impl Price {
    /// Sets the list price if it is higher than the price.
    pub fn with_before(self, before: Option<String>) -> Self {
        let number = |text: &str| text.parse::<f64>().unwrap_or_default();
        let before = before.filter(|before| number(before) > number(&self.price) && number(&self.price) > 0.0);
        Self { before, ..self }
    }
}

/// Returns the price of the product to which these elements belong: the first price that is not struck through, and the first list price.
/// `whole` is the text of the product.
pub fn price_in<'a>(elements: impl Iterator<Item = ElementRef<'a>>, styles: &Styles, whole: &str) -> Option<Price> {
    let (mut current, mut before): (Vec<(String, Option<String>)>, Option<String>) = (Vec::new(), None);
    for element in elements {
        let text = text_of(element);
        let amounts = amounts(&text);
        let Some((first, currency)) = amounts.first().cloned() else { continue };
        let is_before = is_struck(element, styles) || is_named_before(element, &text);
        if is_before {
            before = before.or(Some(first));
            if let [_, second, ..] = amounts.as_slice() {
                current.push(second.clone());
            }
        } else if !current.iter().any(|(other, _)| *other == first) {
            current.push((first, currency));
        }
    }
    // The sale price can be plain text next to an element with the list price.
    let bare = || amounts(whole).into_iter().find(|(amount, _)| before.as_ref().is_some_and(|before| before != amount));
    let price = current.iter().find(|(amount, _)| Some(amount) != before.as_ref()).or(current.first()).cloned().or_else(bare);
    let (price, currency) = price.or_else(|| before.clone().map(|before| (before, None)))?;
    Some(Price { price, before: None, currency }.with_before(before))
}

/// Returns whether the element, a nearby ancestor, or an amount in the element is struck through.
fn is_struck(element: ElementRef<'_>, styles: &Styles) -> bool {
    let strikes = |element: ElementRef<'_>| {
        let line = |property: &str| styles.own(element, property).is_some_and(|value| value.contains("line-through"));
        matches!(element.value().name(), "s" | "del" | "strike") || line("text-decoration") || line("text-decoration-line")
    };
    let around = std::iter::successors(Some(element), |element| parent(*element)).take(STRUCK_LEVELS_MAX);
    let mut whole = element.descendent_elements().filter(|inner| amount(&text_of(*inner)).is_some());
    around.into_iter().any(strikes) || whole.any(strikes)
}

fn is_named_before(element: ElementRef<'_>, text: &str) -> bool {
    let classes = element.attr("class").unwrap_or_default().to_ascii_lowercase();
    let lowered = text.to_lowercase();
    BEFORE_WORDS.iter().any(|word| classes.contains(word))
        || BEFORE_TEXTS.iter().any(|word| lowered.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', ':', '.'])))
}

/// Returns all amounts in the text, each with its currency if the text names one.
fn amounts(text: &str) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = start + rest[start..].find(|c: char| !is_part(c)).unwrap_or(rest.len() - start);
        found.extend(amount(&rest[start..end]).map(|(amount, _)| (amount, sign_in(text))));
        rest = &rest[end..];
    }
    found
}

/// Returns the currency whose sign or code occurs in the text.
pub fn sign_in(text: &str) -> Option<String> {
    let coded = ["EUR", "USD", "GBP", "CHF", "SEK", "NOK", "DKK", "JPY", "PLN", "CAD", "AUD"]
        .into_iter()
        .find(|code| text.contains(code));
    coded.or_else(|| SIGNS.iter().find(|(sign, _)| text.contains(sign)).map(|(_, code)| *code)).map(str::to_owned)
}

fn is_part(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '.' | ',' | '\'' | '’' | '\u{a0}' | '\u{202f}')
}

/// Returns the first amount in a string, with a decimal point, and the currency if the string names one.
pub fn amount(text: &str) -> Option<(String, Option<String>)> {
    let start = text.find(|character: char| character.is_ascii_digit())?;
    let digits: String = text[start..].chars().take_while(|c| is_part(*c)).collect();
    let digits = digits.trim_end_matches(['.', ',', '\'', '’', '\u{a0}', '\u{202f}']);
    if digits.is_empty() || digits.len() > 15 {
        return None;
    }
    let last = digits.rfind(['.', ',']);
    let kinds = usize::from(digits.contains('.')) + usize::from(digits.contains(','));
    let same = last.map_or(0, |at| digits.matches(&digits[at..=at]).count());
    // The last separator is the decimal separator, unless it occurs more than once, or exactly three digits follow and nothing else
    // indicates decimals.
    let decimals = last.filter(|at| {
        let following = digits.len() - at - 1;
        same == 1 && (following != 3 || kinds == 2 || digits.starts_with("0"))
    });
    let bare = |part: &str| part.chars().filter(char::is_ascii_digit).collect::<String>();
    let amount = match decimals {
        Some(at) => format!("{}.{}", bare(&digits[..at]), decimals_of(&bare(&digits[at + 1..]))),
        None => bare(digits),
    };
    let whole = amount.trim_start_matches('0');
    let amount = if whole.is_empty() || whole.starts_with('.') { format!("0{whole}") } else { whole.to_owned() };
    Some((amount, sign_in(text)))
}

/// Returns the decimals of a price as shops write them: at least two digits. Structured data also contains prices such as `189.0` and
/// `49.000000`.
fn decimals_of(digits: &str) -> String {
    let needed = digits.trim_end_matches('0');
    let length = if digits.len() == 3 { 3 } else { needed.len().max(2) };
    format!("{needed:0<length$}")
}

/// Formats an amount in the usual format of its currency: `480.00` in yen becomes `480`.
pub fn in_currency(amount: String, currency: Option<&str>) -> String {
    const WITHOUT_DECIMALS: [&str; 6] = ["JPY", "KRW", "VND", "CLP", "ISK", "XOF"];
    let has_none = currency.is_some_and(|code| WITHOUT_DECIMALS.contains(&code));
    match amount.split_once('.') {
        Some((whole, decimals)) if has_none && decimals.chars().all(|digit| digit == '0') => whole.to_owned(),
        _ => amount,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_the_decimals_of_their_currency() {
        for (text, expected) in
            [("189.0", "189.00"), ("49.000000", "49.00"), ("9.9500", "9.95"), ("12", "12"), ("0.125", "0.125")]
        {
            assert_eq!(amount(text).map(|(amount, _)| amount).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(in_currency("480.00".into(), Some("JPY")), "480");
        assert_eq!(
            (in_currency("480.50".into(), Some("JPY")), in_currency("4.00".into(), Some("EUR"))),
            ("480.50".into(), "4.00".into())
        );
    }

    #[test]
    fn amounts_are_parsed_in_all_notations() {
        for (text, expected, currency) in [
            ("19.90", "19.90", None),
            ("€ 1.299,00", "1299.00", Some("EUR")),
            ("1,299.00 USD", "1299.00", Some("USD")),
            ("$5", "5", Some("USD")),
            ("ab 24,5 €", "24.50", Some("EUR")),
            ("1'250.– CHF", "1250", Some("CHF")),
            ("¥12,800", "12800", Some("JPY")),
            ("1 299", "1", None),
            ("0,500", "0.500", None),
        ] {
            assert_eq!(amount(text), Some((expected.to_owned(), currency.map(str::to_owned))), "{text}");
        }
        assert_eq!(amount("free"), None);
    }
}
