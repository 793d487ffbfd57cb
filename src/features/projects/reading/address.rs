//! Finds the brand's postal address in structured data or in the text of pages.

use serde_json::Value;

use super::company::without_legal_form;
use super::page::{Page, lines_of};
use super::structured::{list, text};
use super::{Site, clean};
use crate::base::postal_code::has_sure_code;

const STREET_WORDS: [&str; 71] = [
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
    "markt",
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
    "row",
    "terrace",
    "court",
    "crescent",
    "gardens",
    "mews",
    "yard",
    "wharf",
    "quay",
    "parade",
    "way",
    "highway",
    "blvd",
    "parkway",
    "pier",
    "rue",
    "boulevard",
    "place",
    "quai",
    "chemin",
    "impasse",
    "route",
    "cours",
    "calle",
    "plaza",
    "avenida",
    "paseo",
    "camino",
    "carrer",
    "via",
    "viale",
    "vicolo",
    "piazza",
    "corso",
    "strada",
    "rua",
    "largo",
    "travessa",
    "straat",
    "laan",
    "gracht",
    "plein",
    "kade",
    "singel",
    "ulica",
    "ul.",
    "gatan",
    "vägen",
    "gade",
    "vej",
];
/// Street words that also occur at the end of longer words, as in `Dorfstraße` and `Keizersgracht`.
const STREET_ENDINGS: [&str; 13] =
    ["straße", "strasse", "str.", "gasse", "weg", "platz", "allee", "ufer", "damm", "straat", "laan", "gracht", "plein"];
/// Country names that can come at the end of an address.
const COUNTRIES: [&str; 94] = [
    "deutschland",
    "germany",
    "österreich",
    "austria",
    "schweiz",
    "suisse",
    "svizzera",
    "switzerland",
    "liechtenstein",
    "usa",
    "u.s.a.",
    "us",
    "united states",
    "united states of america",
    "canada",
    "mexico",
    "méxico",
    "united kingdom",
    "uk",
    "u.k.",
    "great britain",
    "england",
    "scotland",
    "wales",
    "northern ireland",
    "ireland",
    "republic of ireland",
    "éire",
    "france",
    "españa",
    "spain",
    "italia",
    "italy",
    "portugal",
    "nederland",
    "netherlands",
    "the netherlands",
    "belgië",
    "belgique",
    "belgien",
    "belgium",
    "luxembourg",
    "luxemburg",
    "danmark",
    "denmark",
    "sverige",
    "sweden",
    "norge",
    "norway",
    "suomi",
    "finland",
    "ísland",
    "iceland",
    "eesti",
    "estonia",
    "latvija",
    "latvia",
    "lietuva",
    "lithuania",
    "polska",
    "poland",
    "česko",
    "czechia",
    "czech republic",
    "slovensko",
    "slovakia",
    "magyarország",
    "hungary",
    "slovenija",
    "slovenia",
    "hrvatska",
    "croatia",
    "românia",
    "romania",
    "bulgaria",
    "ελλάδα",
    "greece",
    "κύπρος",
    "cyprus",
    "malta",
    "türkiye",
    "turkey",
    "україна",
    "ukraine",
    "australia",
    "new zealand",
    "japan",
    "日本",
    "brasil",
    "brazil",
    "india",
    "singapore",
    "israel",
    "south africa",
];
/// The maximum number of elements marked as an address that are checked per page.
const MARKED_MAX: usize = 20;
const ADDRESS_CHARACTERS_MAX: usize = 200;
/// The maximum number of parts before the postal code that can belong to an address: premises, street, town, county.
const PARTS_BEFORE_CODE_MAX: usize = 4;

/// Returns the postal address on one line. `names` are the names of the brand and its company, which are excluded from the address.
pub fn address(site: &Site, names: &[&str]) -> Option<String> {
    site.organizations().flat_map(|node| list(node, "address")).find_map(postal).or_else(|| written_address(site, names))
}

/// English-speaking countries, where the postal code comes last.
const CODE_LAST: [&str; 17] = [
    "US",
    "GB",
    "UK",
    "IE",
    "AU",
    "CA",
    "NZ",
    "IN",
    "USA",
    "United States",
    "United Kingdom",
    "England",
    "Scotland",
    "Wales",
    "Northern Ireland",
    "Ireland",
    "Australia",
];

/// Formats a postal address from structured data on one line.
fn postal(address: &Value) -> Option<String> {
    if let Value::String(line) = address {
        return Some(clean(line)).filter(|line| line.len() > 8);
    }
    let part = |name: &str| text(address, name);
    let city = [part("postalCode"), part("addressLocality")].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let country = part("addressCountry");
    // If there is no country, the format of the region and the postal code shows whether the code comes last.
    let by_form =
        || has_sure_code(&[part("addressRegion"), part("postalCode")].into_iter().flatten().collect::<Vec<_>>().join(" "));
    let code_last = country.as_deref().map_or_else(by_form, |country| CODE_LAST.contains(&country));
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

/// Returns an address from the text of pages: from an `<address>` element, the imprint or a footer.
fn written_address(site: &Site, names: &[&str]) -> Option<String> {
    let marked = site
        .pages
        .iter()
        .flat_map(|page| page.all("address, [itemprop=address], [class*=address]").into_iter().take(MARKED_MAX))
        .map(|element| (lines_of(element), true));
    let footers = site.pages.iter().map(Page::footer_lines);
    let imprints =
        site.pages.iter().filter(|page| page.is_imprint()).map(|page| page.first("body").map(lines_of).unwrap_or_default());
    let unmarked = imprints.chain(footers).map(|lines| (lines, false));
    let all: Vec<String> = marked.chain(unmarked).filter_map(|(lines, is_marked)| address_in(&lines, is_marked, names)).collect();
    let first = all.first()?;
    // Another part of the site may contain the same address with the country.
    let whole = all.iter().find(|other| other.strip_prefix(first.as_str()).is_some_and(|rest| rest.starts_with(", ")));
    Some(whole.unwrap_or(first).clone())
}

/// Returns the address in these lines: the parts from the street to the city with its postal code, and the country if it comes next,
/// separated by commas. If the page marks the lines as an address, parts on earlier lines can belong to the address even if no street is
/// recognized.
fn address_in(lines: &[String], is_marked: bool, names: &[&str]) -> Option<String> {
    // A single line may contain the whole address, with parts separated by commas or bars.
    let split = |(number, line): (usize, &String)| {
        let parts = line.split([',', '|', '·', '•', '–']).map(str::trim).filter(|part| !part.is_empty());
        parts.map(|part| (number, part.to_owned())).collect::<Vec<_>>()
    };
    let (numbers, parts): (Vec<usize>, Vec<String>) = lines.iter().enumerate().flat_map(split).unzip();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let city = parts.iter().position(|part| has_city(part))?;
    // Japanese addresses start with the postal code and end with the street.
    if let Some(whole) = parts[city].find('〒').map(|at| &parts[city][at..]).filter(|whole| whole.chars().count() > 12) {
        return (whole.len() <= ADDRESS_CHARACTERS_MAX).then(|| whole.to_owned());
    }
    let street = (city.saturating_sub(3)..city).find(|place| is_street(parts[*place]));
    let street = street.or_else(|| {
        let is_own = |part: &&str| names.iter().any(|name| part.to_lowercase().starts_with(&name.to_lowercase()));
        let before = city.saturating_sub(PARTS_BEFORE_CODE_MAX);
        let run = (before..city).rev().take_while(|place| is_premises(parts[*place]) && !is_own(&parts[*place]));
        let run: Vec<usize> = run.collect();
        // If the name of the brand or its company starts the address, all parts after the name belong to the address.
        let follows_name = run.last().and_then(|first| first.checked_sub(1)).is_some_and(|before| is_own(&parts[before]));
        start_without_number(&parts, city, &run, |place| is_marked || follows_name || numbers[place] == numbers[city])
    });
    let inside = || (is_named_street(parts[city]) && parts[city].len() <= ADDRESS_CHARACTERS_MAX).then(|| parts[city].to_owned());
    let Some(street) = street else { return inside() };
    let mut line = parts[street..=city].join(", ");
    // A country can follow the city.
    if let Some(next) = parts.get(city + 1).filter(|next| is_place_name(next)) {
        line = format!("{line}, {next}");
    }
    (line.len() <= ADDRESS_CHARACTERS_MAX).then_some(line)
}

/// Returns the position where an address without a house number starts. `run` contains the positions of the parts before the city that can
/// belong to the address, nearest first. `is_near` returns whether a part belongs to the address even if no part names a street.
///
/// A number with four or five digits before a word is not always a postal code. With such a number, the part directly before the city must
/// be a street. Other postal codes are unambiguous, so the address starts with the earliest near part or, if an earlier part names a
/// street, with that street.
fn start_without_number(parts: &[&str], city: usize, run: &[usize], is_near: impl Fn(usize) -> bool) -> Option<usize> {
    let is_named = |place: &usize| is_named_street(parts[*place]);
    if !has_sure_code(parts[city]) {
        return run.first().copied().filter(|place| is_named(place) && is_whole_city(parts[city]));
    }
    let near = run.iter().copied().take_while(|place| is_near(*place)).last();
    // The parts come before the city, so the lower position gives the longer address.
    near.into_iter().chain(run.iter().copied().rfind(is_named)).min()
}

/// Returns whether the string looks like a house, street, town or county, such as `The Net Loft`, `St Ives` or `Co. Clare`.
fn is_premises(text: &str) -> bool {
    const SMALL_WORDS: [&str; 20] = [
        "of", "the", "upon", "on", "in", "by", "and", "le", "la", "les", "de", "du", "des", "del", "da", "am", "an", "der",
        "den", "na",
    ];
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_capital = |word: &&str| word.starts_with(char::is_uppercase) || SMALL_WORDS.contains(word);
    let is_plain = text.chars().all(|c| c.is_alphabetic() || c.is_whitespace() || "-'’./".contains(c));
    words.len() <= 5
        && is_plain
        && words.iter().all(is_capital)
        && text.starts_with(char::is_uppercase)
        && without_legal_form(text).is_none()
}

/// Returns whether the string consists only of a postal code with its city, such as `24357 Fleckeby`. A year is not a postal code.
fn is_whole_city(text: &str) -> bool {
    let Some((code, city)) = text.split_once(' ') else { return false };
    // Italian addresses end with the province, as in `20121 Milano (MI)`.
    let province = city.rsplit_once(' ').filter(|(_, last)| {
        let bare = last.trim_matches(['(', ')']);
        bare.len() == 2 && bare.chars().all(|c| c.is_ascii_uppercase())
    });
    let city = province.map_or(city, |(city, _)| city);
    let is_year = code.len() == 4 && (code.starts_with("19") || code.starts_with("20"));
    !is_year && is_premises(city) && city.split_whitespace().count() <= 3
}

fn is_place_name(text: &str) -> bool {
    COUNTRIES.contains(&text.trim_end_matches('.').to_lowercase().as_str())
}

/// Returns whether the string looks like a street with a number, such as `Lange Straße 5` or `12 Mill Lane`.
fn is_street(text: &str) -> bool {
    let lowered = text.to_lowercase();
    let has_number = text.chars().any(|character| character.is_ascii_digit());
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_short = words.len() <= 8 && text.chars().count() <= 60;
    let mut all = lowered.split(|c: char| !c.is_alphabetic());
    let is_phone =
        all.any(|word| word == "tel" || word.starts_with("telef") || word.starts_with("téléph") || word == "telephone");
    let named = lowered
        .split(|c: char| c.is_whitespace() || c == ',')
        .any(|word| STREET_WORDS.iter().any(|street| word.ends_with(street)));
    let ends_with_number = words.len() >= 2
        && words.last().is_some_and(|word| word.chars().next().is_some_and(|c| c.is_ascii_digit()) && word.len() <= 5);
    has_number && is_short && (named || ends_with_number) && !lowered.contains('@') && !is_phone && !lowered.contains('©')
}

/// Returns whether the string names a street, with or without a number.
fn is_named_street(text: &str) -> bool {
    let lowered = text.to_lowercase();
    let mut words = lowered.split(|c: char| c.is_whitespace() || c == ',');
    words.any(|word| STREET_WORDS.contains(&word) || STREET_ENDINGS.iter().any(|ending| word.ends_with(ending)))
}

/// Returns whether the string contains a postal code with a city, such as `20095 Hamburg` or `Austin TX 78701`, or a code that needs no
/// city, such as `M1 2AB`, `〒150-0001` or an Eircode.
fn has_city(text: &str) -> bool {
    if text.contains('〒') {
        return true;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let digits = |word: &str, count: usize| word.len() == count && word.chars().all(|character| character.is_ascii_digit());
    let is_code = |word: &str| {
        let prefixed = word
            .split_once('-')
            .filter(|(country, _)| (1..=2).contains(&country.len()) && country.chars().all(|c| c.is_ascii_uppercase()));
        let bare = prefixed.map_or(word, |(_, bare)| bare);
        let is_split =
            |first: usize, second: usize| bare.split_once('-').is_some_and(|(a, b)| digits(a, first) && digits(b, second));
        digits(bare, 5) || digits(bare, 4) || is_split(4, 3) || is_split(2, 3)
    };
    let is_name = |word: &str| word.chars().next().is_some_and(char::is_uppercase) && word.chars().count() >= 3;
    let code_first = words.windows(2).any(|pair| is_code(pair[0]) && is_name(pair[1]))
        // Swedish, Czech and Greek codes contain a space.
        || words.windows(3).any(|three| digits(three[0], 3) && digits(three[1], 2) && is_name(three[2]));
    // Exclude copyright lines such as `© 2024 Acme`, whose year looks like a postal code.
    let is_copyright = text.contains('©') || text.to_lowercase().contains("copyright");
    (code_first || has_sure_code(text)) && !is_copyright
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Option<String> {
        address_in(&text.lines().map(str::to_owned).collect::<Vec<_>>(), false, &["Acme"])
    }

    fn marked(text: &str) -> Option<String> {
        address_in(&text.lines().map(str::to_owned).collect::<Vec<_>>(), true, &["Acme"])
    }

    #[test]
    fn addresses_of_different_countries_are_found_in_lines() {
        for (text, expected) in [
            ("Acme GmbH\nLange Straße 5\n20095 Hamburg\nTel. 040 123", Some("Lange Straße 5, 20095 Hamburg")),
            ("Acme, 12 Mill Lane, Leeds LS1 4AB, United Kingdom", Some("12 Mill Lane, Leeds LS1 4AB, United Kingdom")),
            ("500 Main Street, Suite 4\nAustin, TX 78701", Some("500 Main Street, Suite 4, Austin, TX 78701")),
            ("10 rue des Lilas · 75011 Paris", Some("10 rue des Lilas, 75011 Paris")),
            ("20 King Street West\nToronto, ON M5X 1C9, Canada", Some("20 King Street West, Toronto, ON M5X 1C9, Canada")),
            ("Prinsengracht 12\n1015 DV Amsterdam", Some("Prinsengracht 12, 1015 DV Amsterdam")),
            ("© 2024 Acme. All rights reserved.", None),
            ("Over 20000 Happy customers", None),
        ] {
            assert_eq!(lines(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn addresses_without_a_house_number_are_found() {
        for (text, expected) in [
            (
                "Acme, The Net Loft, Back Road West, St Ives, Cornwall TR26 1NP, United Kingdom\n01736 555 014",
                Some("The Net Loft, Back Road West, St Ives, Cornwall TR26 1NP, United Kingdom"),
            ),
            ("Acme Ltd · Mill Lane · Stow-on-the-Wold · GL54 1AB", Some("Mill Lane, Stow-on-the-Wold, GL54 1AB")),
            ("Acme\nMill Lane\nLeeds LS1 4AB\nTel. 0113 496 0000", Some("Mill Lane, Leeds LS1 4AB")),
            ("Dorfstraße\n24357 Fleckeby", Some("Dorfstraße, 24357 Fleckeby")),
            ("Acme, Place du Marché, 14600 Honfleur", Some("Place du Marché, 14600 Honfleur")),
            ("About us\nContact\nWe ship to TR26 1NP", None),
            ("Shop all in one place\n10000 Happy customers", None),
            ("Milk Lane\n2024 Acme", None),
            ("Acme\nThe Net Loft\nSt Ives\nCornwall TR26 1NP\n01736 555 014", Some("The Net Loft, St Ives, Cornwall TR26 1NP")),
            ("Main Street\nBrattleboro, VT 05301\nUSA", Some("Main Street, Brattleboro, VT 05301, USA")),
            ("Via Roma, 20121 Milano (MI), Italia", Some("Via Roma, 20121 Milano (MI), Italia")),
            ("Telliskivi 60a, 10412 Tallinn, Estonia", Some("Telliskivi 60a, 10412 Tallinn, Estonia")),
            ("Storgatan 4, 411 22 Göteborg, Sverige", Some("Storgatan 4, 411 22 Göteborg, Sverige")),
            ("ul. Nowa 3, 00-950 Warszawa, Polska", Some("ul. Nowa 3, 00-950 Warszawa, Polska")),
        ] {
            assert_eq!(lines(text).as_deref(), expected, "{text}");
        }
        let in_lines = "Acme Pottery\nThe Old Creamery\nSt Ives\nCornwall\nTR26 1NP";
        assert_eq!(marked(in_lines).as_deref(), Some("The Old Creamery, St Ives, Cornwall, TR26 1NP"));
        assert_eq!(lines("Shop\nContact\nSt Ives TR26 1NP"), None, "footers also contain menus");
    }

    #[test]
    fn addresses_with_an_eircode_are_found() {
        for (text, expected) in [
            (
                "Acme, Main Street, Dingle, Co. Kerry, V92 X2Y3, Ireland",
                Some("Main Street, Dingle, Co. Kerry, V92 X2Y3, Ireland"),
            ),
            ("Acme, 14 Parnell Street, Ennis, Co. Clare V95 E8KT", Some("14 Parnell Street, Ennis, Co. Clare V95 E8KT")),
            (
                "Acme, The Old Creamery, Ballyvaughan, Co. Clare, H91 X4C8",
                Some("The Old Creamery, Ballyvaughan, Co. Clare, H91 X4C8"),
            ),
            ("Unit 3, Grand Canal Quay\nDublin 2\nD02AF30", Some("Unit 3, Grand Canal Quay, Dublin 2, D02AF30")),
            ("Acme, Harold's Cross Road, Dublin D6W XW27, Éire", Some("Harold's Cross Road, Dublin D6W XW27, Éire")),
            ("New, The Sofa, Model A52 PLUS", None),
            ("News, In Brief, Version A92 2024", None),
        ] {
            assert_eq!(lines(text).as_deref(), expected, "{text}");
        }
        let postal = postal(&serde_json::json!({
            "streetAddress": "Main Street", "addressLocality": "Dingle", "addressRegion": "Co. Kerry", "postalCode": "V92 X2Y3",
            "addressCountry": "Ireland",
        }));
        assert_eq!(postal.as_deref(), Some("Main Street, Dingle, Co. Kerry V92 X2Y3, Ireland"));
        let american = super::postal(&serde_json::json!({
            "streetAddress": "88 Creamery Road", "addressLocality": "Brattleboro", "addressRegion": "VT", "postalCode": "05301",
        }));
        assert_eq!(american.as_deref(), Some("88 Creamery Road, Brattleboro, VT 05301"));
    }
}
