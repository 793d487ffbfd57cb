//! Finds the brand's products and their prices in structured data, OpenGraph, product cards, price lists and menus.

use serde_json::Value;
use url::Url;

use super::cards::{DESCRIPTION_CHARACTERS_MAX, NAME_CHARACTERS_MAX, from_cards, from_lists, is_list_page};
use super::cascade::Styles;
use super::identity::SEPARATORS;
use super::page::{Page, text_of};
use super::price::{Price, amount, in_currency};
use super::structured::{is_a, list, nodes, plain, text};
use super::{Site, shortened};
use crate::features::projects::brand::BrandProduct;

/// The maximum number of products that are read from a site. A shop usually lists its most important products first.
const PRODUCTS_MAX: usize = 60;
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
/// Query parameters that do not select a different product. A name that ends with `_` matches all parameters that start with that name.
const TRACKING: [&str; 12] =
    ["utm_", "gclid", "fbclid", "msclkid", "srsltid", "ref", "source", "variant", "_pos", "_sid", "_ss", "_psq"];

/// The source of a price, most reliable first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Evidence {
    /// Structured data, which search engines check.
    Data,
    OpenGraph,
    Card,
    List,
}

/// The products found so far.
#[derive(Default)]
struct ProductList(Vec<Entry>);

struct Entry {
    product: BrandProduct,
    evidence: Evidence,
    /// The product's normalized URL.
    key: Option<String>,
}

/// Returns the products of the site. `name` is the brand's name, which is removed from product names.
pub fn products(site: &Site, styles: &Styles, name: Option<&str>) -> Vec<BrandProduct> {
    let mut found = ProductList::default();
    let mut without: Vec<&Page> = Vec::new();
    for page in &site.pages {
        let nodes = nodes(page);
        let structured: Vec<BrandProduct> =
            nodes.iter().filter(|node| is_a(node, &KINDS)).filter_map(|node| from_node(node, page)).collect();
        let only_one = structured.len() == 1;
        let mut count = structured.len();
        for product in structured {
            // If a linked page describes a single product and states no URL for it, use the URL of the page.
            let url = product.url.clone().or_else(|| (only_one && !page.given).then(|| page.url.to_string()));
            found.add(BrandProduct { url, ..product }, Evidence::Data, name);
        }
        for (product, evidence) in from_open_graph(page)
            .map(|product| (product, Evidence::OpenGraph))
            .into_iter()
            .chain(from_cards(page, styles).into_iter().map(|product| (product, Evidence::Card)))
        {
            count += 1;
            found.add(product, evidence, name);
        }
        if count == 0 {
            without.push(page);
        }
    }
    // Shops also list other prices, such as shipping costs, so price lists are read only on pages without products. If other pages of the
    // site have products, the path or title of the page must also mark it as a price list.
    let is_bare = found.0.is_empty();
    for page in without.into_iter().filter(|page| is_bare || is_list_page(page)) {
        for product in from_lists(page, styles) {
            found.add(product, Evidence::List, name);
        }
    }
    found.0.into_iter().map(|entry| entry.product).collect()
}

impl ProductList {
    /// Adds a product to the list, or fills in a product that is already in the list. A price from a more reliable source replaces a price
    /// from a less reliable one.
    fn add(&mut self, product: BrandProduct, evidence: Evidence, brand: Option<&str>) {
        let name = own_name(&product.name, brand);
        let url = product.url.as_deref().and_then(canonical);
        let key = url.as_ref().map(key);
        let written = |price: Option<String>| price.map(|price| in_currency(price, product.currency.as_deref()));
        let (price, price_before) = (written(product.price.clone()), written(product.price_before.clone()));
        let product = BrandProduct { name, url: url.map(String::from), price, price_before, ..product };
        let Some(place) = self.known(&product, key.as_ref()) else {
            if self.0.len() < PRODUCTS_MAX {
                self.0.push(Entry { product, evidence, key });
            }
            return;
        };
        let Entry { product: other, evidence: known, key: known_key } = &mut self.0[place];
        if other.url.is_none() {
            (other.url, *known_key) = (product.url, key);
        }
        other.image = other.image.take().or(product.image);
        other.description = other.description.take().or(product.description);
        let before = other.price_before.take().or(product.price_before);
        if product.price.is_some() && (other.price.is_none() || evidence < *known) {
            (other.price, *known) = (product.price, evidence);
            other.currency = product.currency.or(other.currency.take());
        }
        let price = Price { price: other.price.clone().unwrap_or_default(), before: None, currency: None };
        other.price_before = price.with_before(before).before;
    }

    /// Returns the position of a product in the list. A page can contain several products, so two products with the same URL are the same
    /// only if their names are also similar.
    fn known(&self, product: &BrandProduct, key: Option<&String>) -> Option<usize> {
        let folded = fold(&product.name);
        let is_at = |entry: &Entry| {
            let other = fold(&entry.product.name);
            key.is_some() && entry.key.as_ref() == key && (folded.contains(&other) || other.contains(&folded))
        };
        let is_named = |entry: &Entry| {
            fold(&entry.product.name) == folded && (entry.key.is_none() || key.is_none() || entry.key.as_ref() == key)
        };
        self.0.iter().position(is_at).or_else(|| self.0.iter().position(is_named))
    }
}

/// Returns the name of a product without the brand's name before or after a separator, as in `Stoneware Mug – Acme`.
fn own_name(name: &str, brand: Option<&str>) -> String {
    let Some(brand) = brand.map(fold) else { return name.to_owned() };
    let parts =
        SEPARATORS.iter().flat_map(|mark| [name.rsplit_once(mark), name.split_once(mark).map(|(brand, own)| (own, brand))]);
    let own = parts.flatten().find(|(own, other)| fold(other) == brand && own.trim().chars().count() >= 2);
    own.map_or(name, |(own, _)| own.trim()).to_owned()
}

/// Normalizes a name for comparison: lowercase, without hyphens, dashes and quotation marks.
fn fold(name: &str) -> String {
    let plain = name.to_lowercase().replace(['–', '—', '-', '’', '\'', '"', '“', '”'], " ");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a product's URL without tracking parameters and without its fragment.
fn canonical(url: &str) -> Option<Url> {
    let mut url: Url = url.parse().ok()?;
    let is_kept = |name: &str| !TRACKING.iter().any(|word| name == *word || word.ends_with('_') && name.starts_with(word));
    let kept: Vec<(String, String)> =
        url.query_pairs().filter(|(name, _)| is_kept(name)).map(|(a, b)| (a.into(), b.into())).collect();
    if url.query_pairs().count() > kept.len() {
        url.set_query(None);
        if !kept.is_empty() {
            url.query_pairs_mut().extend_pairs(kept);
        }
    }
    url.set_fragment(None);
    Some(url)
}

/// Normalizes a URL for comparison. Removes the path of a collection, because shops show a product under each of its collections.
fn key(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default().trim_start_matches("www.");
    let path = url.path().trim_end_matches("index.html").trim_end_matches('/');
    let path = path.find("/products/").filter(|_| path.contains("/collections/")).map_or(path, |at| &path[at..]);
    format!("{host}{path}?{}", url.query().unwrap_or_default())
}

fn from_node(node: &Value, page: &Page) -> Option<BrandProduct> {
    let name = text(node, "name").map(|name| shortened(&name, NAME_CHARACTERS_MAX))?;
    let variants = list(node, "hasVariant");
    let offers = list(node, "offers").into_iter().chain(variants.iter().flat_map(|variant| list(variant, "offers")));
    let offer = offers.flat_map(|offer| std::iter::once(offer).chain(list(offer, "offers"))).find_map(price_of);
    let address = |value: Option<String>| value.and_then(|href| page.address(&href)).map(|url| url.to_string());
    let url = address(text(node, "url").or_else(|| list(node, "offers").into_iter().find_map(|offer| text(offer, "url"))));
    let image = address(
        list(node, "image").into_iter().chain(variants.iter().flat_map(|variant| list(variant, "image"))).find_map(picture),
    );
    let description = text(node, "description").map(|text| shortened(&text, DESCRIPTION_CHARACTERS_MAX));
    let Price { price, before, currency } = offer.clone().unwrap_or_default();
    Some(BrandProduct { name, url, image, description, price: offer.map(|_| price), price_before: before, currency })
}

/// Returns the URL of an image that is given as a string or as an object.
fn picture(value: &Value) -> Option<String> {
    match value {
        Value::Object(fields) => ["contentUrl", "url", "@id"].iter().find_map(|name| fields.get(*name).and_then(plain)),
        other => plain(other),
    }
}

/// Returns the price of an offer. The `priceType` of its price specifications distinguishes the sale price from the list price.
fn price_of(offer: &Value) -> Option<Price> {
    let specifications = list(offer, "priceSpecification");
    let kind = |one: &Value| text(one, "priceType").unwrap_or_default().to_ascii_lowercase();
    let is_before =
        |one: &Value| ["listprice", "strikethrough", "srp", "msrp", "regular"].iter().any(|word| kind(one).contains(word));
    let specified = |before: bool| {
        let fitting = specifications.iter().filter(move |one| is_before(one) == before);
        fitting.filter_map(|one| Some((text(one, "price")?, text(one, "priceCurrency")))).next()
    };
    let plain = ["price", "lowPrice"].iter().find_map(|name| Some((text(offer, name)?, text(offer, "priceCurrency"))));
    let (price, currency) = plain.or_else(|| specified(false)).or_else(|| specified(true))?;
    let (price, shown) = amount(&price)?;
    let currency = currency.or_else(|| specified(false)?.1).filter(|code| code.len() == 3).map(|code| code.to_ascii_uppercase());
    let (sale, before) =
        (specified(false).and_then(|(price, _)| amount(&price)), specified(true).and_then(|(price, _)| amount(&price)));
    // Some shops repeat the list price as the price of the offer.
    let is_list = before.as_ref().is_some_and(|(before, _)| *before == price);
    let price = sale.filter(|_| is_list).map_or(price, |(sale, _)| sale);
    Some(Price { price, before: None, currency: currency.or(shown) }.with_before(before.map(|(before, _)| before)))
}

fn from_open_graph(page: &Page) -> Option<BrandProduct> {
    let meta = |name: &str| page.meta(&format!("product:{name}")).or_else(|| page.meta(&format!("og:{name}")));
    let listed = meta("price:amount").or_else(|| page.meta("product:original_price:amount"))?;
    let name = page.meta("og:title").or_else(|| page.first("h1").map(text_of))?;
    let currency = meta("price:currency");
    let (listed, shown) = amount(&listed)?;
    let sale = meta("sale_price:amount").and_then(|price| amount(&price)).map(|(price, _)| price);
    let before = page.meta("product:original_price:amount").and_then(|price| amount(&price)).map(|(price, _)| price);
    let before = before.or_else(|| sale.as_ref().map(|_| listed.clone()));
    let price = Price { price: sale.unwrap_or(listed), before: None, currency: currency.or(shown) }.with_before(before);
    let description = page.meta("og:description").map(|text| shortened(&text, DESCRIPTION_CHARACTERS_MAX));
    let image = page.meta("og:image").and_then(|href| page.address(&href)).map(|url| url.to_string());
    let url = page.meta("og:url").and_then(|href| page.address(&href)).unwrap_or_else(|| page.url.clone());
    let name = shortened(&name, NAME_CHARACTERS_MAX);
    let Price { price, before, currency } = price;
    Some(BrandProduct {
        name,
        url: Some(url.to_string()),
        image,
        description,
        price: Some(price),
        price_before: before,
        currency,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Raw, Sources, read};
    use super::*;

    fn found(pages: &[(&str, &str)]) -> Vec<(String, Option<String>, Option<String>)> {
        let urls: Vec<Url> = pages.iter().map(|(url, _)| url.parse().expect("the URL is valid")).collect();
        let sources = urls.iter().zip(pages).enumerate().map(|(place, (url, (_, text)))| Raw {
            url,
            given: place == 0,
            content_type: "text/html",
            language: "",
            bytes: text.as_bytes(),
        });
        let sources = Sources { pages: sources.collect(), ..Sources::default() };
        read(&sources).brand.products.into_iter().map(|product| (product.name, product.price, product.price_before)).collect()
    }

    fn sold(name: &str, price: &str, before: Option<&str>) -> (String, Option<String>, Option<String>) {
        (name.to_owned(), Some(price.to_owned()), before.map(str::to_owned))
    }

    /// Regression test: the struck-through list price came first in the card and was mistaken for the price.
    #[test]
    fn a_sale_price_is_distinguished_from_the_list_price() {
        let dawn =
            "<div class='card product-card'><h3><a href='/products/bowl'>Ramen Bowl</a></h3><div class='price price--on-sale'>
            <div class='price__regular'><span class='price-item price-item--regular'>£42.00</span></div><div class='price__sale'>
            <span>Regular price</span> <s class='price-item price-item--regular'>£42.00</s>
            <span>Sale price</span> <span class='price-item price-item--sale'>£36.00</span></div></div></div>";
        let woo = "<ul><li class='product'><h2>Kanne</h2><span class='price'><del><span class=amount>49,00 €</span></del>
            <ins><span class=amount>39,00 €</span></ins></span></li></ul>";
        let inline =
            "<div class='product-item'><h3>Tasse</h3><span class='price' style='text-decoration: line-through'>20 €</span>
            <span class='price'>15 €</span></div>";
        for (page, expected) in [
            (dawn, sold("Ramen Bowl", "36.00", Some("42.00"))),
            (woo, sold("Kanne", "39.00", Some("49.00"))),
            (inline, sold("Tasse", "15", Some("20"))),
            (
                "<div class=product-item><h3>Tasse</h3><div class=price>15 € <s>20 €</s></div></div>",
                sold("Tasse", "15", Some("20")),
            ),
        ] {
            assert_eq!(found(&[("https://acme.example/", page)]), [expected], "{page}");
        }
    }

    #[test]
    fn structured_data_states_the_sale_price_and_takes_precedence_over_cards() {
        let data = |offer: &str| {
            format!(
                "<script type='application/ld+json'>{{\"@type\":\"Product\",\"name\":\"Ramen Bowl\",\"offers\":{{\"@type\":\"Offer\",{offer}}}}}</script>"
            )
        };
        let both = r#""priceSpecification":[{"price":42,"priceCurrency":"GBP","priceType":"https://schema.org/ListPrice"},{"price":36,"priceCurrency":"GBP"}]"#;
        for offer in [both, &format!(r#""price":"36","priceCurrency":"GBP",{both}"#), &format!(r#""price":"42",{both}"#)] {
            assert_eq!(found(&[("https://acme.example/", &data(offer))]), [sold("Ramen Bowl", "36", Some("42"))], "{offer}");
        }
        let card = "<div class='product-card'><a href='/products/bowl'><h3>Ramen Bowl</h3></a><span class=price>£42</span></div>";
        let page = data(r#""price":"36","priceCurrency":"GBP""#);
        let pages = [("https://acme.example/", card), ("https://acme.example/products/bowl", &*page)];
        assert_eq!(found(&pages), [sold("Ramen Bowl", "36", None)], "the card does not say that its price is a list price");
    }

    #[test]
    fn products_that_differ_by_a_slash_a_parameter_or_a_title_suffix_are_one() {
        let card = "<title>Kiln &amp; Tide – Pottery</title><meta property='og:site_name' content='Kiln &amp; Tide'>
            <div class='product-card'><a href='/products/mug?utm_source=home&variant=12'><h3>Stoneware Mug</h3></a><span class=price>£24</span></div>";
        let page = "<meta property='og:title' content='Stoneware Mug – Kiln &amp; Tide'><meta property='og:price:amount' content='24.00'>
            <meta property='og:price:currency' content='GBP'>";
        let pages = [
            ("https://acme.example/", card),
            ("https://acme.example/products/mug/", page),
            ("https://acme.example/collections/all/products/mug", page),
        ];
        assert_eq!(found(&pages), [sold("Stoneware Mug", "24.00", None)]);
    }
}
