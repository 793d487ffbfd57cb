//! The brand's postal address: from structured data, or as pages write it.

use serde_json::Value;

use super::contact::is_imprint;
use super::page::{Page, lines_of};
use super::structured::{list, text};
use super::{Site, clean};

const STREET_WORDS: [&str; 36] = [
    "straße",
    "strasse",
    "str.",
    "gasse",
    "weg",
    "platz",
    "allee",
    "ring",
    "ufer",
    "damm",
    "street",
    "st.",
    "road",
    "rd",
    "avenue",
    "ave",
    "lane",
    "drive",
    "square",
    "suite",
    "rue",
    "boulevard",
    "place",
    "quai",
    "calle",
    "plaza",
    "avenida",
    "via",
    "piazza",
    "corso",
    "rua",
    "largo",
    "straat",
    "laan",
    "gracht",
    "plein",
];
/// Elements of one page that are called an address and looked at.
const MARKED_MAX: usize = 20;
const ADDRESS_CHARACTERS_MAX: usize = 200;

/// The postal address in one line.
pub fn address(site: &Site) -> Option<String> {
    site.organizations().flat_map(|node| list(node, "address")).find_map(postal).or_else(|| written_address(site))
}

/// A postal address in one line.
fn postal(address: &Value) -> Option<String> {
    if let Value::String(line) = address {
        return Some(clean(line)).filter(|line| line.len() > 8);
    }
    let part = |name: &str| text(address, name);
    let city = [part("postalCode"), part("addressLocality")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let country = part("addressCountry");
    // English-speaking countries put the code last.
    let code_last = country.as_deref().is_some_and(|country| ["US", "GB", "UK", "IE", "AU", "CA", "NZ", "IN"].contains(&country));
    let city = if code_last {
        let region = [part("addressRegion"), part("postalCode")].into_iter().flatten().collect::<Vec<_>>().join(" ");
        [part("addressLocality"), Some(region)]
            .into_iter()
            .flatten()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    } else {
        city
    };
    let parts = [part("streetAddress"), Some(city), country.map(|code| country_name(&code).to_owned())];
    let line = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
    Some(line).filter(|line| line.len() > 8)
}

fn country_name(code: &str) -> &str {
    const NAMES: [(&str, &str); 22] = [
        ("DE", "Deutschland"),
        ("AT", "Österreich"),
        ("CH", "Schweiz"),
        ("US", "USA"),
        ("GB", "United Kingdom"),
        ("UK", "United Kingdom"),
        ("IE", "Ireland"),
        ("FR", "France"),
        ("ES", "España"),
        ("IT", "Italia"),
        ("PT", "Portugal"),
        ("BR", "Brasil"),
        ("NL", "Nederland"),
        ("BE", "België"),
        ("LU", "Luxembourg"),
        ("DK", "Danmark"),
        ("SE", "Sverige"),
        ("NO", "Norge"),
        ("PL", "Polska"),
        ("CA", "Canada"),
        ("AU", "Australia"),
        ("JP", "日本"),
    ];
    NAMES.iter().find(|(known, _)| *known == code).map_or(code, |(_, name)| name)
}

/// An address as pages write it: in `<address>`, in the imprint, or in a footer.
fn written_address(site: &Site) -> Option<String> {
    let marked = site
        .pages
        .iter()
        .flat_map(|page| page.all("address, [itemprop=address], [class*=address]").into_iter().take(MARKED_MAX))
        .map(lines_of);
    let footers = site.pages.iter().map(Page::footer_lines);
    let imprints =
        site.pages.iter().filter(|page| is_imprint(page)).map(|page| page.first("body").map(lines_of).unwrap_or_default());
    marked.chain(imprints).chain(footers).find_map(|lines| address_in(&lines))
}

/// The line with street and number, with the line with code and city.
fn address_in(lines: &[String]) -> Option<String> {
    // One line may hold all of it, with its parts between commas or bars.
    let parts: Vec<&str> = lines
        .iter()
        .flat_map(|line| line.split([',', '|', '·', '•', '–']))
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    let city = parts.iter().position(|part| has_city(part))?;
    // Japanese addresses begin with their code and end with their street.
    if let Some(whole) = parts[city].find('〒').map(|at| &parts[city][at..]).filter(|whole| whole.chars().count() > 12) {
        return (whole.len() <= ADDRESS_CHARACTERS_MAX).then(|| whole.to_owned());
    }
    let street = (city.saturating_sub(3)..city).find(|place| is_street(parts[*place]));
    let inside = || {
        let part = parts[city];
        let words = part.to_lowercase();
        (STREET_WORDS.iter().any(|street| words.contains(street)) && part.len() <= ADDRESS_CHARACTERS_MAX)
            .then(|| part.to_owned())
    };
    let Some(street) = street else { return inside() };
    let mut line = parts[street..=city].join(", ");
    // A state and its code, or a country, stand behind the city.
    if let Some(next) = parts.get(city + 1).filter(|next| is_place_name(next)) {
        line = format!("{line}, {next}");
    }
    (line.len() <= ADDRESS_CHARACTERS_MAX).then_some(line)
}

fn is_place_name(text: &str) -> bool {
    const COUNTRIES: [&str; 24] = [
        "deutschland",
        "germany",
        "österreich",
        "austria",
        "schweiz",
        "suisse",
        "switzerland",
        "usa",
        "united states",
        "united kingdom",
        "uk",
        "england",
        "scotland",
        "ireland",
        "france",
        "españa",
        "spain",
        "italia",
        "italy",
        "portugal",
        "nederland",
        "netherlands",
        "日本",
        "japan",
    ];
    COUNTRIES.contains(&text.to_lowercase().as_str())
}

/// Whether a text looks like a street with a number: `Lange Straße 5`, `12 Mill Lane`.
fn is_street(text: &str) -> bool {
    let lowered = text.to_lowercase();
    let has_number = text.chars().any(|character| character.is_ascii_digit());
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_short = words.len() <= 8 && text.chars().count() <= 60;
    let named = STREET_WORDS.iter().any(|street| {
        lowered.split(|c: char| c.is_whitespace() || c == ',').any(|word| word.ends_with(street) || word == *street)
    });
    let ends_with_number = words.len() >= 2
        && words.last().is_some_and(|word| word.chars().next().is_some_and(|c| c.is_ascii_digit()) && word.len() <= 5);
    has_number
        && is_short
        && (named || ends_with_number)
        && !lowered.contains('@')
        && !lowered.contains("tel")
        && !lowered.contains('©')
}

/// Whether a text holds a postal code with a city: `20095 Hamburg`, `M1 2AB`, `Austin TX 78701`, `〒150-0001`.
fn has_city(text: &str) -> bool {
    if text.contains('〒') {
        return true;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let digits = |word: &str, count: usize| word.len() == count && word.chars().all(|character| character.is_ascii_digit());
    let is_code = |word: &str| {
        let bare = word.trim_start_matches("D-").trim_start_matches("A-").trim_start_matches("CH-").trim_start_matches("F-");
        digits(bare, 5)
            || digits(bare, 4)
            || bare.len() == 8 && bare.split_once('-').is_some_and(|(a, b)| digits(a, 4) && digits(b, 3))
    };
    let is_name = |word: &str| word.chars().next().is_some_and(char::is_uppercase) && word.chars().count() >= 3;
    let code_first = words.windows(2).any(|pair| is_code(pair[0]) && is_name(pair[1]));
    let dutch = words.windows(3).any(|three| {
        digits(three[0], 4) && three[1].len() == 2 && three[1].chars().all(|c| c.is_ascii_uppercase()) && is_name(three[2])
    });
    let american = words.windows(2).any(|pair| {
        pair[0].len() == 2
            && pair[0].chars().all(|c| c.is_ascii_uppercase())
            && digits(pair[1].split('-').next().unwrap_or_default(), 5)
    });
    let british = words.windows(2).any(|pair| is_british(pair[0], pair[1]));
    // A year is no code: `2024 Acme` stands in every footer.
    let is_copyright = text.contains('©') || text.to_lowercase().contains("copyright");
    (code_first || dutch || american || british) && !is_copyright
}

/// `SW1A 1AA`
fn is_british(outward: &str, inward: &str) -> bool {
    let upper = |c: char| c.is_ascii_uppercase();
    let inward: Vec<char> = inward.trim_end_matches([',', '.']).chars().collect();
    let good_inward = inward.len() == 3 && inward[0].is_ascii_digit() && upper(inward[1]) && upper(inward[2]);
    let good_outward =
        (2..=4).contains(&outward.len()) && outward.starts_with(upper) && outward.chars().any(|c| c.is_ascii_digit());
    good_inward && good_outward && outward.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Option<String> {
        address_in(&text.lines().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn addresses_of_different_countries_are_found_in_lines() {
        for (text, expected) in [
            ("Acme GmbH\nLange Straße 5\n20095 Hamburg\nTel. 040 123", Some("Lange Straße 5, 20095 Hamburg")),
            ("Acme, 12 Mill Lane, Leeds LS1 4AB, United Kingdom", Some("12 Mill Lane, Leeds LS1 4AB, United Kingdom")),
            ("500 Main Street, Suite 4\nAustin, TX 78701", Some("500 Main Street, Suite 4, Austin, TX 78701")),
            ("10 rue des Lilas · 75011 Paris", Some("10 rue des Lilas, 75011 Paris")),
            ("Prinsengracht 12\n1015 DV Amsterdam", Some("Prinsengracht 12, 1015 DV Amsterdam")),
            ("© 2024 Acme. All rights reserved.", None),
            ("Over 20000 Happy customers", None),
        ] {
            assert_eq!(lines(text).as_deref(), expected, "{text}");
        }
    }
}
