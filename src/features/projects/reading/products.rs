//! Finds the brand's products with prices in structured data, OpenGraph and product cards.

use scraper::ElementRef;
use serde_json::Value;

use super::page::{Page, selector, text_of};
use super::structured::{is_a, list, nodes, plain, text};
use super::{Site, shortened};
use crate::features::projects::brand::BrandProduct;

/// The maximum number of products for one brand. A shop usually lists its most important products first.
const PRODUCTS_MAX: usize = 60;
/// The maximum number of a page's product cards to check.
const CARDS_MAX: usize = 300;
const NAME_CHARACTERS_MAX: usize = 150;
const DESCRIPTION_CHARACTERS_MAX: usize = 400;
const KINDS: [&str; 9] = [
    "Product",
    "ProductGroup",
    "IndividualProduct",
    "ProductModel",
    "MenuItem",
    "SoftwareApplication",
    "WebApplication",
    "MobileApplication",
    "Course",
];

/// Currency signs. A dollar sign is read as US dollars, the most common dollar.
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

/// Returns all products of the site.
pub fn products(site: &Site) -> Vec<BrandProduct> {
    let mut found = Vec::new();
    for page in &site.pages {
        let nodes = nodes(page);
        let told: Vec<BrandProduct> =
            nodes.iter().filter(|node| is_a(node, &KINDS)).filter_map(|node| from_node(node, page)).collect();
        let only_one = told.len() == 1;
        for product in told {
            // A product without an explicit URL gets the URL of its page.
            let url = product.url.clone().or_else(|| (only_one && !page.given).then(|| page.url.to_string()));
            add(&mut found, BrandProduct { url, ..product });
        }
        if let Some(product) = from_open_graph(page) {
            add(&mut found, product);
        }
        for product in from_cards(page) {
            add(&mut found, product);
        }
    }
    found
}

/// Adds a product to the list, or adds missing facts to a product that is already in the list.
fn add(found: &mut Vec<BrandProduct>, product: BrandProduct) {
    // Compare names, because a page may contain several products, and a product has nearly the same name everywhere.
    let alike = |other: &BrandProduct| {
        let (one, other) = (product.name.to_lowercase(), other.name.to_lowercase());
        one.contains(&other) || other.contains(&one)
    };
    let same_url = |other: &BrandProduct| product.url.is_some() && other.url == product.url && alike(other);
    let same_name = |other: &BrandProduct| {
        other.name.eq_ignore_ascii_case(&product.name)
            && (other.url.is_none() || product.url.is_none() || other.url == product.url)
    };
    let known = found.iter().position(|other| same_url(other) || same_name(other));
    match known {
        None if found.len() < PRODUCTS_MAX => found.push(product),
        None => {}
        Some(place) => {
            let other = &mut found[place];
            other.url = other.url.take().or(product.url);
            other.image = other.image.take().or(product.image);
            other.description = other.description.take().or(product.description);
            if other.price.is_none() {
                (other.price, other.currency) = (product.price, product.currency);
            }
        }
    }
}

fn from_node(node: &Value, page: &Page) -> Option<BrandProduct> {
    let name = text(node, "name").map(|name| shortened(&name, NAME_CHARACTERS_MAX))?;
    let variants = list(node, "hasVariant");
    let offers = list(node, "offers").into_iter().chain(variants.iter().flat_map(|variant| list(variant, "offers")));
    let offer = offers.flat_map(|offer| std::iter::once(offer).chain(list(offer, "offers"))).find_map(price_of);
    let (price, currency) = offer.unzip();
    let address = |value: Option<String>| value.and_then(|href| page.address(&href)).map(|url| url.to_string());
    let url = address(text(node, "url").or_else(|| list(node, "offers").into_iter().find_map(|offer| text(offer, "url"))));
    let image = address(
        list(node, "image").into_iter().chain(variants.iter().flat_map(|variant| list(variant, "image"))).find_map(picture),
    );
    let description = text(node, "description").map(|text| shortened(&text, DESCRIPTION_CHARACTERS_MAX));
    Some(BrandProduct { name, url, image, description, price, price_before: None, currency: currency.flatten() })
}

/// Returns the URL of an image that is given as a string or as an object.
fn picture(value: &Value) -> Option<String> {
    match value {
        Value::Object(fields) => ["contentUrl", "url", "@id"].iter().find_map(|name| fields.get(*name).and_then(plain)),
        other => plain(other),
    }
}

fn price_of(offer: &Value) -> Option<(String, Option<String>)> {
    let specification = list(offer, "priceSpecification");
    let found =
        ["price", "lowPrice"].iter().find_map(|name| text(offer, name)).map(|price| (price, text(offer, "priceCurrency")));
    let specified = || specification.iter().find_map(|one| Some((text(one, "price")?, text(one, "priceCurrency"))));
    let (price, currency) = found.or_else(specified)?;
    let (price, shown) = amount(&price)?;
    let currency = currency.filter(|code| code.len() == 3).map(|code| code.to_ascii_uppercase());
    Some((price, currency.or(shown)))
}

fn from_open_graph(page: &Page) -> Option<BrandProduct> {
    let price = page.meta("product:price:amount").or_else(|| page.meta("og:price:amount"))?;
    let name = page.meta("og:title").or_else(|| page.first("h1").map(text_of))?;
    let currency = page.meta("product:price:currency").or_else(|| page.meta("og:price:currency"));
    let (price, shown) = amount(&price)?;
    let description = page.meta("og:description").map(|text| shortened(&text, DESCRIPTION_CHARACTERS_MAX));
    let image = page.meta("og:image").and_then(|href| page.address(&href)).map(|url| url.to_string());
    let url = page.meta("og:url").and_then(|href| page.address(&href)).unwrap_or_else(|| page.url.clone());
    let name = shortened(&name, NAME_CHARACTERS_MAX);
    Some(BrandProduct {
        name,
        url: Some(url.to_string()),
        image,
        description,
        price: Some(price),
        price_before: None,
        currency: currency.or(shown),
    })
}

/// Returns the products in lists: elements whose class names a product and that contain a price with a currency and a name.
fn from_cards(page: &Page) -> Vec<BrandProduct> {
    let cards = "[class*=product-card], [class*=product-item], [class*=product-tile], [class*=product__card], li.product, div.product, \
                 article.product, [class*=productCard], [class*=menu-item], [class*=menu__item]";
    let price = selector("[class*=price], [class*=preis], [class*=amount], data[value]");
    let name = selector("h2, h3, h4, [class*=title], [class*=name]");
    let mut found = Vec::new();
    for card in page.all(cards).into_iter().take(CARDS_MAX) {
        let Some((price, currency)) = card.select(&price).find_map(|element| amount(&text_of(element))) else { continue };
        let Some(name) = card.select(&name).map(text_of).find(|name| (2..=NAME_CHARACTERS_MAX).contains(&name.chars().count()))
        else {
            continue;
        };
        // A number without a currency sign is not treated as a price.
        let Some(currency) = currency.or_else(|| currency_near(card)) else { continue };
        let url = first_attr(card, "a[href]", "href").filter(|href| !href.starts_with('#')).and_then(|href| page.address(href));
        let image = first_attr(card, "img[src]", "src").and_then(|src| page.address(src));
        let description =
            card.select(&selector("p")).map(text_of).find(|text| text.chars().count() >= 15 && amount(text).is_none());
        found.push(BrandProduct {
            name,
            url: url.map(|url| url.to_string()),
            image: image.map(|url| url.to_string()),
            description: description.map(|text| shortened(&text, DESCRIPTION_CHARACTERS_MAX)),
            price: Some(price),
            price_before: None,
            currency: Some(currency),
        });
    }
    found
}

fn first_attr<'a>(element: ElementRef<'a>, css: &str, name: &str) -> Option<&'a str> {
    element.select(&selector(css)).find_map(|inner| inner.attr(name))
}

fn currency_near(card: ElementRef<'_>) -> Option<String> {
    sign_in(&text_of(card))
}

fn sign_in(text: &str) -> Option<String> {
    let coded = ["EUR", "USD", "GBP", "CHF", "SEK", "NOK", "DKK", "JPY", "PLN", "CAD", "AUD"]
        .into_iter()
        .find(|code| text.contains(code));
    coded.or_else(|| SIGNS.iter().find(|(sign, _)| text.contains(sign)).map(|(_, code)| *code)).map(str::to_owned)
}

/// Returns the first amount in a string, with a decimal point, and the currency next to it.
pub fn amount(text: &str) -> Option<(String, Option<String>)> {
    let start = text.find(|character: char| character.is_ascii_digit())?;
    let digits: String = text[start..]
        .chars()
        .take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '\'' | '’' | '\u{a0}' | '\u{202f}'))
        .collect();
    let digits = digits.trim_end_matches(['.', ',', '\'', '’', '\u{a0}', '\u{202f}']);
    if digits.is_empty() || digits.len() > 15 {
        return None;
    }
    let last = digits.rfind(['.', ',']);
    let kinds = usize::from(digits.contains('.')) + usize::from(digits.contains(','));
    let same = last.map_or(0, |at| digits.matches(&digits[at..=at]).count());
    // The last separator is the decimal separator, unless exactly three digits follow and no other sign indicates decimals.
    let decimals = last.filter(|at| {
        let following = digits.len() - at - 1;
        same == 1 && (following != 3 || kinds == 2 || digits.starts_with("0"))
    });
    let bare = |part: &str| part.chars().filter(char::is_ascii_digit).collect::<String>();
    let amount = match decimals {
        Some(at) => format!("{}.{}", bare(&digits[..at]), bare(&digits[at + 1..])),
        None => bare(digits),
    };
    let whole = amount.trim_start_matches('0');
    let amount = if whole.is_empty() || whole.starts_with('.') { format!("0{whole}") } else { whole.to_owned() };
    Some((amount, sign_in(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_parsed_in_all_notations() {
        for (text, expected, currency) in [
            ("19.90", "19.90", None),
            ("€ 1.299,00", "1299.00", Some("EUR")),
            ("1,299.00 USD", "1299.00", Some("USD")),
            ("$5", "5", Some("USD")),
            ("ab 24,5 €", "24.5", Some("EUR")),
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
