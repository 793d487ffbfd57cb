//! Extracts the brand's contact details: company, postal address, email address and telephone number.

use serde_json::Value;

use super::Site;
use super::address::address;
use super::company::written_company;
use super::page::{Page, lines_of, text_of};
use super::structured::{list, text};
use crate::base::email::EmailAddress;
use crate::base::phone::Phone;
use crate::features::projects::brand::BrandContact;

pub fn contact(site: &Site, company: Option<String>, name: Option<&str>) -> BrandContact {
    let organizations: Vec<&Value> = site.organizations().collect();
    let said = |field: &str| organizations.iter().find_map(|node| text(node, field));
    let points = || organizations.iter().flat_map(|node| list(node, "contactPoint"));
    let email = said("email").or_else(|| points().find_map(|point| text(point, "email")));
    let email = email.and_then(|email| checked_email(&email)).or_else(|| linked_email(site));
    let phone = said("telephone").or_else(|| points().find_map(|point| text(point, "telephone")));
    let phone = phone.and_then(|phone| checked_phone(&phone)).or_else(|| linked_phone(site)).or_else(|| written_phone(site));
    let company = company.or_else(|| written_company(site)).filter(|company| Some(company.as_str()) != name);
    let names: Vec<&str> = name.into_iter().chain(company.as_deref()).collect();
    let address = address(site, &names);
    BrandContact { company, address, email, phone }
}

fn checked_email(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches("mailto:").split('?').next().unwrap_or_default();
    let address = EmailAddress::parse(text).ok()?;
    let is_sample = ["example.com", "domain.com", "email.com", "sentry.io", "wixpress.com"].contains(&address.domain());
    (!is_sample).then(|| address.into_string())
}

fn checked_phone(text: &str) -> Option<String> {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    if !(6..=16).contains(&digits) { None } else { Phone::parse(text.trim()).ok().map(Phone::into_string) }
}

fn linked_email(site: &Site) -> Option<String> {
    let linked = site.pages.iter().flat_map(|page| page.all("a[href]")).filter_map(|link| {
        let href = link.attr("href")?.trim();
        let address = href.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("mailto:")).map(|_| &href[7..])?;
        checked_email(&percent_decoded(address))
    });
    let written = site.pages.iter().flat_map(Page::footer_lines).filter_map(|line| {
        line.split_whitespace()
            .find(|word| word.contains('@'))
            .and_then(|word| checked_email(word.trim_matches(['(', ')', ',', '.', ':', '<', '>'])))
    });
    best_email(linked.collect(), site).or_else(|| written.into_iter().next())
}

/// Returns the best email address. Prefers addresses at the site's own domain, and general addresses over department addresses.
fn best_email(mut found: Vec<String>, site: &Site) -> Option<String> {
    let host = site.host_word();
    let rank = |email: &String| {
        let (local, domain) = email.split_once('@').unwrap_or_default();
        let general = ["hello", "info", "hallo", "contact", "kontakt", "mail", "office", "bonjour", "hola", "ciao", "support"];
        (!domain.contains(&host), !general.contains(&local))
    };
    found.sort_by_key(rank);
    found.into_iter().next()
}

fn percent_decoded(text: &str) -> String {
    let pairs = format!("a={}", text.replace('+', "%2B"));
    serde_urlencoded::from_str::<Vec<(String, String)>>(&pairs)
        .ok()
        .and_then(|pairs| pairs.into_iter().next())
        .map_or_else(String::new, |(_, value)| value)
}

fn linked_phone(site: &Site) -> Option<String> {
    site.pages.iter().flat_map(|page| page.all("a[href^='tel:'], a[href^='TEL:']")).find_map(|link| {
        let shown = text_of(link);
        checked_phone(&shown).or_else(|| checked_phone(&percent_decoded(&link.attr("href")?[4..])))
    })
}

/// Returns a telephone number from footers and contact pages. The number must be labeled as a telephone number or have a typical format.
fn written_phone(site: &Site) -> Option<String> {
    let footers = site.pages.iter().flat_map(Page::footer_lines);
    let contacts =
        site.pages.iter().filter(|page| page.is_imprint()).flat_map(|page| page.first("body").map(lines_of).unwrap_or_default());
    footers.chain(contacts).find_map(|line| phone_in(&line))
}

fn phone_in(line: &str) -> Option<String> {
    let lowered = line.to_lowercase();
    let is_called = ["tel", "phone", "fon", "call", "mobil", "☎", "電話"].iter().any(|word| lowered.contains(word));
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, ' ' | '(' | ')' | '-' | '.' | '/' | '+' | '\u{a0}');
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit() || matches!(c, '+' | '(')) {
        let end = rest[start..].find(|c: char| !is_part(c)).map_or(rest.len(), |end| start + end);
        let number = rest[start..end].trim_end_matches([' ', '(', '-', '.', '/', '+', '\u{a0}']);
        let digits = number.chars().filter(char::is_ascii_digit).count();
        let is_written_so = number.starts_with('+') || number.starts_with('(') && number.contains(')') || is_grouped(number);
        let is_other = is_other_number(&rest[..start]);
        let fits = is_written_so || is_called && number.starts_with(['0', '1', '(', '+']);
        if (7..=15).contains(&digits) && fits && !is_other {
            return checked_phone(number);
        }
        rest = &rest[end.max(start + 1)..];
    }
    None
}

/// Returns whether the digits are grouped like those of a telephone number: `01736 555 014`, `802-555-0134` or `01 23 45 67 89`.
fn is_grouped(number: &str) -> bool {
    let groups: Vec<usize> =
        number.split([' ', '-', '.', '/', '\u{a0}']).filter(|group| !group.is_empty()).map(str::len).collect();
    let digits: usize = groups.iter().sum();
    let is_plain = number.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '-' | '.' | '/' | '\u{a0}'));
    let is_american = groups == [3, 3, 4] || groups == [1, 3, 3, 4] && number.starts_with('1');
    // National numbers start with a zero. Dates have short groups, and serial numbers have only one group.
    let is_national = number.starts_with('0') && (9..=12).contains(&digits) && groups.len() >= 2;
    let is_date = groups.len() == 3 && groups[0] <= 2 && groups[1] <= 2 && matches!(groups[2], 2 | 4);
    is_plain && (is_american || is_national) && !is_date
}

/// Returns whether the words before a number show that it is not a telephone number.
fn is_other_number(before: &str) -> bool {
    const OTHERS: [&str; 18] = [
        "fax",
        "telefax",
        "iban",
        "vat",
        "ust",
        "uid",
        "hrb",
        "hra",
        "reg",
        "company",
        "registered",
        "siret",
        "siren",
        "kvk",
        "cif",
        "nif",
        "btw",
        "abn",
    ];
    // Words farther away belong to another number, as in `Tel. 04131 558210, Fax 04131 558211`.
    const WORDS_BEFORE: usize = 2;
    let lowered = before.to_lowercase();
    let words: Vec<&str> = lowered.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).collect();
    words.iter().rev().take(WORDS_BEFORE).any(|word| OTHERS.contains(word) || word.starts_with("steuernummer"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_telephone_numbers_if_labeled_or_formatted_so() {
        for (line, expected) in [
            ("help@a.example • (802) 555-0134", Some("(802) 555-0134")),
            ("Tel. 04131 / 55 82 10", Some("04131 / 55 82 10")),
            ("+44 1843 555 0142 (newsroom)", Some("+44 1843 555 0142")),
            ("HRB 154321 · 22765 Hamburg", None),
            ("© 2019-2026 Acme", None),
            ("The Net Loft, St Ives, Cornwall TR26 1NP · 01736 555 014", Some("01736 555 014")),
            ("802-555-0134", Some("802-555-0134")),
            ("01 23 45 67 89", Some("01 23 45 67 89")),
            ("Fax 0431 555 0143, Tel. 0431 555 0142", Some("0431 555 0142")),
            ("Company No. 09876543, VAT no 123 4567 89", None),
            ("IBAN DE02 1203 0000 0000 2020 51", None),
            ("01.12.2026", None),
        ] {
            assert_eq!(phone_in(line).as_deref(), expected, "{line}");
        }
    }
}
