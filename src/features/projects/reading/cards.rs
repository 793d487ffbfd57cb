//! Finds products with prices in the layout of pages: product cards, price plans, menus and price lists.

use std::collections::HashSet;

use ego_tree::NodeId;
use scraper::ElementRef;

use super::cascade::{Styles, parent};
use super::page::{Page, is_within, lines_of, selector, text_of};
use super::price::{Price, amount, price_in, sign_in};
use super::{clean, shortened};
use crate::features::projects::brand::BrandProduct;

pub const NAME_CHARACTERS_MAX: usize = 150;
pub const DESCRIPTION_CHARACTERS_MAX: usize = 400;
/// The maximum number of product cards per page to check.
const CARDS_MAX: usize = 300;
/// The maximum number of elements per page to check for prices in lists.
const ELEMENTS_MAX: usize = 4_000;
/// The maximum length, in characters, of text that is only a price, such as `from £12 per person and month`.
const PRICE_CHARACTERS_MAX: usize = 40;
/// The maximum length, in characters, of an entry in a list. Longer elements contain several entries or running text.
const ENTRY_CHARACTERS_MAX: usize = 900;
const ENTRY_NAME_CHARACTERS_MAX: usize = 80;
/// The maximum number of levels between a price and its list entry, and between the entry and its row.
const ENTRY_LEVELS_MAX: usize = 6;
/// The minimum number of entries in a list. A single price in text is not a list.
const ENTRIES_MIN: usize = 2;
/// Words in the paths and titles of pages that list plans, services or dishes with prices.
const LIST_PAGES: [&str; 26] = [
    "pricing",
    "price",
    "plans",
    "preise",
    "preisliste",
    "tarif",
    "precios",
    "prezzi",
    "prijzen",
    "menu",
    "menü",
    "speisekarte",
    "karte",
    "carta",
    "carte",
    "listino",
    "gerichte",
    "dishes",
    "food",
    "drinks",
    "getränke",
    "treatments",
    "leistungen",
    "services",
    "kurse",
    "classes",
];
/// Words in the classes, ids and roles of elements whose prices are not product prices.
const NO_LISTS: [&str; 14] = [
    "cookie",
    "cart",
    "announcement",
    "shipping",
    "breadcrumb",
    "newsletter",
    "filter",
    "footer",
    "review",
    "faq",
    "modal",
    "banner",
    "testimonial",
    "quote",
];
/// Words that indicate that the amount after them is a condition, not a price, as in `orders over £40`.
const CONDITIONS: [&str; 26] = [
    "from",
    "von",
    "over",
    "above",
    "under",
    "than",
    "least",
    "orders",
    "save",
    "off",
    "über",
    "unter",
    "ab",
    "mindestens",
    "bestellwert",
    "sparen",
    "versand",
    "versandkosten",
    "shipping",
    "delivery",
    "postage",
    "livraison",
    "dès",
    "desde",
    "envío",
    "spedizione",
];

/// Returns the products in product cards: elements whose class marks a product and that contain a name and a price with a currency.
pub fn from_cards(page: &Page, styles: &Styles) -> Vec<BrandProduct> {
    let cards = "[class*=product-card], [class*=product-item], [class*=product-tile], [class*=product__card], li.product, div.product, \
                 article.product, [class*=productCard], [class*=ProductItem], [class*=ProductList-item], [class*=menu-item], \
                 [class*=menu__item], [class*=card-wrapper]";
    let price = selector("[class*=price], [class*=preis], [class*=amount], data[value], del, s, ins");
    let name = selector("h2, h3, h4, [class*=title], [class*=name]");
    let mut found: Vec<BrandProduct> = Vec::new();
    for card in page.all(cards).into_iter().take(CARDS_MAX) {
        let prices = leaves(card.select(&price).collect());
        let Some(price) = price_in(prices.into_iter(), styles, &text_of(card)) else { continue };
        let Some(name) = card.select(&name).map(text_of).find(|name| (2..=NAME_CHARACTERS_MAX).contains(&name.chars().count()))
        else {
            continue;
        };
        // A number without a currency sign is not treated as a price.
        let Some(currency) = price.currency.clone().or_else(|| sign_in(&text_of(card))) else { continue };
        let url = first_attr(card, "a[href]", "href").filter(|href| !href.starts_with('#')).and_then(|href| page.address(href));
        let description =
            card.select(&selector("p")).map(text_of).find(|text| text.chars().count() >= 15 && amount(text).is_none());
        found.push(BrandProduct {
            name,
            url: url.map(|url| url.to_string()),
            image: image(card, page),
            description: description.map(|text| shortened(&text, DESCRIPTION_CHARACTERS_MAX)),
            price: Some(price.price),
            price_before: price.before,
            currency: Some(currency),
        });
    }
    found
}

/// Returns those of the elements that contain none of the others. This excludes wrappers around several prices.
fn leaves(elements: Vec<ElementRef<'_>>) -> Vec<ElementRef<'_>> {
    let ids: HashSet<NodeId> = elements.iter().map(|element| element.id()).collect();
    let contains_other = |element: &ElementRef<'_>| {
        element.descendent_elements().any(|inner| inner.id() != element.id() && ids.contains(&inner.id()))
    };
    elements.into_iter().filter(|element| !contains_other(element)).collect()
}

fn first_attr<'a>(element: ElementRef<'a>, css: &str, name: &str) -> Option<&'a str> {
    element.select(&selector(css)).find_map(|inner| inner.attr(name))
}

fn image(card: ElementRef<'_>, page: &Page) -> Option<String> {
    let source = first_attr(card, "img[data-src]", "data-src").or_else(|| first_attr(card, "img[src]", "src"));
    source.filter(|src| !src.starts_with("data:")).and_then(|src| page.address(src)).map(|url| url.to_string())
}

/// Returns whether the page's path or title suggests that it lists plans, services or dishes with prices.
pub fn is_list_page(page: &Page) -> bool {
    let path = page.url.path().to_lowercase();
    let title = page.title().unwrap_or_default().to_lowercase();
    let words = path.split(|c: char| !c.is_alphanumeric()).chain(title.split(|c: char| !c.is_alphanumeric()));
    words.into_iter().any(|word| LIST_PAGES.contains(&word))
}

/// An entry of a price list, menu or plan overview, with its name.
struct Listed<'a> {
    entry: ElementRef<'a>,
    name: String,
    /// The line with the name and the price, if one line contains both.
    line: Option<String>,
}

/// Returns the entries of price plans, menus and price lists: repeated elements that contain one name and one price each.
pub fn from_lists(page: &Page, styles: &Styles) -> Vec<BrandProduct> {
    let mut entries: Vec<Listed<'_>> = Vec::new();
    let mut seen = HashSet::new();
    let prices: Vec<ElementRef<'_>> = page.all("body *").into_iter().take(ELEMENTS_MAX).filter(|one| shows_price(*one)).collect();
    for price in leaves(prices) {
        if is_within(price, &["nav", "footer", "form", "aside", "blockquote", "del", "s"], &NO_LISTS) {
            continue;
        }
        if let Some(listed) = entry_of(price)
            && seen.insert(listed.entry.id())
        {
            entries.push(listed);
        }
    }
    let found: Vec<BrandProduct> = entries.into_iter().filter_map(|entry| product(entry, page, styles)).collect();
    if found.len() >= ENTRIES_MIN { found } else { Vec::new() }
}

/// Returns whether the text of an element is a price with a currency, or contains a line that ends with such a price, as in a menu.
fn shows_price(element: ElementRef<'_>) -> bool {
    if matches!(element.value().name(), "script" | "style" | "option" | "button" | "a" | "svg" | "input") {
        return false;
    }
    // Skip elements without a number in their own text, which keeps the check cheap on deeply nested pages.
    let own: String = element.children().filter_map(|child| child.value().as_text().map(|text| text.to_string())).collect();
    if !own.contains(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let text = text_of(element);
    let length = text.chars().count();
    is_priced(&text) && (length <= PRICE_CHARACTERS_MAX || length <= ENTRY_CHARACTERS_MAX && priced_line(element).is_some())
}

/// Returns an element's first line that contains a name and ends with a price.
fn priced_line(element: ElementRef<'_>) -> Option<String> {
    lines_of(element).into_iter().find(|line| ending_price(line).is_some())
}

/// Splits a line such as `Tagliatelle al ragù … 14,50 €` into the name and the price at the end.
fn ending_price(line: &str) -> Option<(&str, &str)> {
    let digits = line.rfind(|c: char| c.is_ascii_digit())?;
    let rest = line[digits + 1..].trim();
    let is_end = rest.chars().count() <= 4 && rest.chars().all(|c| !c.is_alphanumeric() || c.is_ascii_uppercase());
    let start = line[..=digits].rfind(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ',')))?;
    let head = &line[..start + line[start..].chars().next()?.len_utf8()];
    let name = head.trim_end_matches(|c: char| c.is_whitespace() || "€£$.…·–—-:|".contains(c));
    let name = name.strip_suffix("EUR").or(name.strip_suffix("CHF")).or(name.strip_suffix("GBP")).unwrap_or(name).trim_end();
    let price = &line[name.len()..];
    let is_name = (2..=ENTRY_NAME_CHARACTERS_MAX).contains(&name.chars().count()) && name.contains(char::is_alphabetic);
    (is_end && is_name && sign_in(price).is_some() && !is_condition(name)).then_some((name, price))
}

/// Returns whether the text before an amount shows that the amount is not a price. This is the case if the text is a condition, such as
/// `Free delivery on orders over`, or running text.
fn is_condition(before: &str) -> bool {
    let lowered = before.to_lowercase();
    let last = lowered.split_whitespace().next_back().unwrap_or_default();
    let ends_sentence = before.split_whitespace().count() > 9 || before.contains(". ");
    ends_sentence || CONDITIONS.contains(&last.trim_matches(|c: char| !c.is_alphanumeric()))
}

/// Returns the list entry that a price belongs to: the element with the price if one of its lines also contains a name, otherwise the
/// nearest ancestor with a name, unless that ancestor contains more than one price.
fn entry_of(price: ElementRef<'_>) -> Option<Listed<'_>> {
    if let Some(line) = priced_line(price) {
        let name = clean(ending_price(&line)?.0);
        return Some(Listed { entry: row_of(price), name, line: Some(line) });
    }
    let mut at = parent(price)?;
    for _ in 0..ENTRY_LEVELS_MAX {
        if text_of(at).chars().count() > ENTRY_CHARACTERS_MAX || matches!(at.value().name(), "body" | "main" | "html") {
            return None;
        }
        if let Some(name) = name_in(at) {
            return (prices_in(at) <= 1).then(|| Listed { entry: row_of(at), name, line: None });
        }
        at = parent(at)?;
    }
    None
}

/// Returns the outermost element around an entry, such as a row, that contains no second price and no additional heading. Returns the entry
/// itself if there is no such element.
fn row_of(entry: ElementRef<'_>) -> ElementRef<'_> {
    let headings = selector("h1, h2, h3, h4, h5, h6");
    let mut at = entry;
    for _ in 0..ENTRY_LEVELS_MAX {
        let is_frame = |name: &str| matches!(name, "body" | "main" | "html" | "table" | "tbody" | "ul" | "ol" | "dl");
        let Some(next) = parent(at).filter(|next| !is_frame(next.value().name())) else { break };
        let is_larger = next.select(&headings).count() > at.select(&headings).count().max(1)
            || at.select(&headings).next().is_none() && next.select(&headings).next().is_some();
        if is_larger || prices_in(next) > 1 || text_of(next).chars().count() > ENTRY_CHARACTERS_MAX {
            break;
        }
        at = next;
    }
    at
}

/// Returns the number of prices in an element, excluding the list prices of products on sale.
fn prices_in(element: ElementRef<'_>) -> usize {
    let priced = element.descendent_elements().take(ELEMENTS_MAX).filter(|one| shows_price(*one)).collect();
    let current = |one: &ElementRef<'_>| !is_within(*one, &["del", "s", "strike"], &["compare", "old-price", "was-price"]);
    leaves(priced).into_iter().filter(current).count()
}

/// Returns the name in an entry: its heading or bold text or, if there is none, its first line that is not a price.
fn name_in(entry: ElementRef<'_>) -> Option<String> {
    let fits = |name: &String| {
        let length = name.chars().count();
        (2..=ENTRY_NAME_CHARACTERS_MAX).contains(&length)
            && name.contains(char::is_alphabetic)
            && !is_priced(name)
            && !is_label(name)
    };
    let marked = ["h1, h2, h3, h4, h5, h6, dt", "[class*=name], [class*=title]", "strong, b"];
    let marked = marked.iter().find_map(|css| entry.select(&selector(css)).map(text_of).find(fits));
    marked.or_else(|| lines_of(entry).into_iter().find(|line| !is_priced(line)).filter(fits))
}

fn is_priced(text: &str) -> bool {
    amount(text).is_some() && sign_in(text).is_some()
}

/// Returns whether the text is a label on a card, such as `Most popular`, or the period of a price.
fn is_label(text: &str) -> bool {
    const LABELS: [&str; 24] = [
        "most popular",
        "popular",
        "recommended",
        "best value",
        "beliebt",
        "empfohlen",
        "neu",
        "new",
        "sale",
        "per month",
        "/month",
        "/mo",
        "/ month",
        "monthly",
        "pro monat",
        "from",
        "ab",
        "vegan",
        "vegetarisch",
        "per user",
        "per year",
        "best seller",
        "bestseller",
        "hot",
    ];
    LABELS.contains(&text.to_lowercase().trim())
}

fn product(listed: Listed<'_>, page: &Page, styles: &Styles) -> Option<BrandProduct> {
    let Listed { entry, name, line } = listed;
    let priced: Vec<ElementRef<'_>> = entry.descendent_elements().filter(|one| shows_price(*one) || is_old(*one)).collect();
    let leaves = leaves(priced);
    let Price { price, before, currency } = match line.as_deref().and_then(ending_price) {
        Some((_, price)) => amount(price).map(|(price, currency)| Price { price, before: None, currency })?,
        None => price_in(leaves.iter().copied(), styles, &text_of(entry))?,
    };
    let is_page = |href: &&str| !href.starts_with('#') && !href.contains("mailto:") && !href.contains("tel:");
    let url = first_attr(entry, "a[href]", "href").filter(is_page).and_then(|href| page.address(href));
    Some(BrandProduct {
        description: description(entry, &name, line.as_deref()),
        name,
        // Omit URLs with a query string, because the buttons of all plans usually lead to the same sign-up page.
        url: url.filter(|url| url.query().is_none() && *url != page.url).map(|url| url.to_string()),
        image: image(entry, page),
        price: Some(price),
        price_before: before,
        currency: Some(currency.or_else(|| sign_in(&text_of(entry)))?),
    })
}

fn is_old(element: ElementRef<'_>) -> bool {
    matches!(element.value().name(), "del" | "s" | "strike") && amount(&text_of(element)).is_some()
}

/// Returns the text of an entry without the name and the price. The period of a price, such as `/month`, comes first.
fn description(entry: ElementRef<'_>, name: &str, line: Option<&str>) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    let buttons: Vec<String> = entry.select(&selector("a, button")).map(text_of).collect();
    for text in lines_of(entry).into_iter().filter(|one| Some(one.as_str()) != line) {
        if is_priced(&text) {
            let after = text.rfind(|c: char| c.is_ascii_digit()).map_or("", |at| &text[at + 1..]);
            let period = after.trim_start_matches(|c: char| !c.is_alphabetic() && c != '/');
            let is_period = period.chars().count() >= 3 && sign_in(period).is_none();
            parts.splice(0..0, is_period.then(|| period.trim().to_owned()));
            continue;
        }
        let text = text.strip_prefix(name).unwrap_or(&text).trim_matches([' ', '–', '-', '·', ':']).to_owned();
        let is_other = !buttons.contains(&text) && (text.starts_with('/') || !is_label(&text));
        if is_other && text.chars().count() >= 3 && !parts.contains(&text) {
            parts.push(text);
        }
    }
    let whole = parts.into_iter().reduce(|text, part| {
        let joint = if text.ends_with(['.', '!', '?', ',', ';', ':']) { " " } else { ", " };
        format!("{text}{joint}{part}")
    });
    whole.map(|text| shortened(&text, DESCRIPTION_CHARACTERS_MAX))
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::super::Raw;
    use super::*;

    fn found(path: &str, html: &str) -> Vec<(String, String, String, String)> {
        let url: Url = format!("https://acme.example{path}").parse().expect("the URL is valid");
        let page = Page::parse(&Raw { url: &url, given: true, content_type: "text/html", language: "", bytes: html.as_bytes() });
        let text = |text: Option<String>| text.unwrap_or_default();
        let products = from_lists(&page, &Styles::new(&[])).into_iter();
        products.map(|one| (one.name, text(one.price), text(one.currency), text(one.description))).collect()
    }

    fn expect(path: &str, html: &str, expected: &[(&str, &str, &str, &str)]) {
        let own = |(a, b, c, d): &(&str, &str, &str, &str)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned(), (*d).to_owned());
        assert_eq!(found(path, html), expected.iter().map(own).collect::<Vec<_>>(), "{html}");
    }

    #[test]
    fn price_plans_are_products() {
        let plan = |name: &str, price: &str, label: &str| {
            format!(
                "<div class='rounded-2xl p-8'>{label}<h3>{name}</h3><p class='mt-4'><span class='text-4xl'>{price}</span><span>/month</span></p>
                 <ul><li>Unlimited invoices</li><li>Reminders</li></ul><a href='/signup?plan=x'>Start</a></div>"
            )
        };
        let page = format!(
            "<div class=grid>{}{}{}</div>",
            plan("Solo", "$12", ""),
            plan("Studio", "$29", "<p>Most popular</p>"),
            plan("Agency", "$79", "")
        );
        let about = "/month, Unlimited invoices, Reminders";
        expect(
            "/pricing",
            &page,
            &[("Solo", "12", "USD", about), ("Studio", "29", "USD", about), ("Agency", "79", "USD", about)],
        );
    }

    #[test]
    fn dishes_in_lists_tables_and_lines_are_products() {
        let expected = [("Burrata", "12.50", "EUR", "mit Tomaten"), ("Vitello tonnato", "14.00", "EUR", "kalt serviert")];
        for page in [
            "<ul><li><b>Burrata</b> <span>12,50 €</span><br>mit Tomaten</li><li><b>Vitello tonnato</b> <span>14,00 €</span><br>kalt serviert</li></ul>",
            "<table><tr><td>Burrata<br><small>mit Tomaten</small></td><td>12,50 €</td></tr>
             <tr><td>Vitello tonnato<br><small>kalt serviert</small></td><td>14,00 €</td></tr></table>",
            "<div><div style='display:flex'><div><h4>Burrata</h4><p>mit Tomaten</p></div><div style='color:#b08d57'>€ 12,50</div></div>
             <div style='display:flex'><div><h4>Vitello tonnato</h4><p>kalt serviert</p></div><div style='color:#b08d57'>€ 14,00</div></div></div>",
            "<div><p>Burrata ..... 12,50 €<br><i>mit Tomaten</i></p><p>Vitello tonnato ..... 14,00 €<br><i>kalt serviert</i></p></div>",
        ] {
            expect("/speisekarte", page, &expected);
        }
    }

    #[test]
    fn amounts_that_are_not_prices_of_products_are_ignored() {
        for page in [
            "<p>Free delivery on orders over £40.</p><p>Free returns on orders over £60</p>",
            "<p>We raised $3 million in 2021.</p>",
            "<footer><p>Gift card £10</p><p>Gift card £20</p></footer>",
            "<ul><li>12 lamps</li><li>14 chairs</li></ul>",
            "<div><h3>One plan</h3><p>$5</p></div>",
        ] {
            expect("/", page, &[]);
        }
    }
}
