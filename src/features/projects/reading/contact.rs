//! How to reach the brand: company, postal address, email, telephone, social networks.

use scraper::ElementRef;
use serde_json::Value;
use url::Url;

use super::page::{Page, is_within, lines_of, text_of};
use super::structured::{is_a, list, text};
use super::{Site, clean};
use crate::base::email::EmailAddress;
use crate::base::phone::Phone;
use crate::features::projects::brand::{Contact, SocialLink};

/// Hosts of social networks, and the word for each.
const NETWORKS: [(&str, &str); 28] = [
    ("instagram.com", "instagram"),
    ("facebook.com", "facebook"),
    ("fb.com", "facebook"),
    ("x.com", "x"),
    ("twitter.com", "x"),
    ("linkedin.com", "linkedin"),
    ("youtube.com", "youtube"),
    ("youtu.be", "youtube"),
    ("tiktok.com", "tiktok"),
    ("pinterest.com", "pinterest"),
    ("pinterest.de", "pinterest"),
    ("pinterest.fr", "pinterest"),
    ("pinterest.co.uk", "pinterest"),
    ("threads.net", "threads"),
    ("threads.com", "threads"),
    ("bsky.app", "bluesky"),
    ("github.com", "github"),
    ("vimeo.com", "vimeo"),
    ("t.me", "telegram"),
    ("wa.me", "whatsapp"),
    ("discord.gg", "discord"),
    ("discord.com", "discord"),
    ("reddit.com", "reddit"),
    ("medium.com", "medium"),
    ("xing.com", "xing"),
    ("twitch.tv", "twitch"),
    ("snapchat.com", "snapchat"),
    ("mastodon.social", "mastodon"),
];
/// Paths that share the page that one is on, or belong to the network itself.
const NO_PROFILES: [&str; 15] = [
    "/share",
    "/sharer",
    "/intent",
    "/home",
    "/dialog",
    "/pin/create",
    "/submit",
    "/login",
    "/privacy",
    "/policies",
    "/watch",
    "/embed",
    "/plugins",
    "/hashtag",
    "/explore",
];
/// Ends of names that a company in law has.
const LEGAL_FORMS: [&str; 40] = [
    "GmbH & Co. KG",
    "GmbH & Co KG",
    "gGmbH",
    "GmbH",
    "AG",
    "UG (haftungsbeschränkt)",
    "UG",
    "OHG",
    "KG",
    "e.K.",
    "e. K.",
    "e.V.",
    "eG",
    "SE",
    "Ltd.",
    "Ltd",
    "Limited",
    "LLC",
    "L.L.C.",
    "Inc.",
    "Inc",
    "Corp.",
    "PLC",
    "LLP",
    "SARL",
    "S.A.R.L.",
    "SAS",
    "S.A.S.",
    "SA",
    "S.A.",
    "S.L.",
    "S.r.l.",
    "Srl",
    "S.p.A.",
    "SpA",
    "B.V.",
    "BV",
    "N.V.",
    "Lda.",
    "株式会社",
];
/// Forms that may stand in front of the name.
const FORMS_IN_FRONT: [&str; 4] = ["SARL", "SAS", "S.A.R.L.", "株式会社"];
/// What stands before a company's name in footers and imprints.
const BEFORE_COMPANIES: [&str; 7] = ["Copyright", "Inhaberin", "Inhaber", "Inh.", "Owner:", "Company:", "by "];
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
const ADDRESS_CHARACTERS_MAX: usize = 200;

/// How to reach the brand.
pub fn contact(site: &Site, company: Option<String>, name: Option<&str>) -> Contact {
    let organizations: Vec<&Value> = site.organizations().collect();
    let said = |field: &str| organizations.iter().find_map(|node| text(node, field));
    let points = || organizations.iter().flat_map(|node| list(node, "contactPoint"));
    let address = organizations.iter().flat_map(|node| list(node, "address")).find_map(postal).or_else(|| written_address(site));
    let email = said("email").or_else(|| points().find_map(|point| text(point, "email")));
    let email = email.and_then(|email| checked_email(&email)).or_else(|| linked_email(site));
    let phone = said("telephone").or_else(|| points().find_map(|point| text(point, "telephone")));
    let phone = phone.and_then(|phone| checked_phone(&phone)).or_else(|| linked_phone(site));
    let company = company.or_else(|| written_company(site)).filter(|company| Some(company.as_str()) != name);
    Contact { company, address, email, phone }
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
    let marked = site.pages.iter().flat_map(|page| page.all("address, [itemprop=address], [class*=address]")).map(lines_of);
    let footers = site.pages.iter().map(Page::footer_lines);
    let imprints =
        site.pages.iter().filter(|page| is_imprint(page)).map(|page| page.first("body").map(lines_of).unwrap_or_default());
    marked.chain(imprints).chain(footers).find_map(|lines| address_in(&lines))
}

fn is_imprint(page: &Page) -> bool {
    let path = page.url.path().to_ascii_lowercase();
    ["impressum", "imprint", "legal", "contact", "kontakt", "mentions", "aviso", "about"].iter().any(|word| path.contains(word))
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

/// An address of the site's own domain before others, and one for everybody before those of departments.
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

/// The company in law as footers and imprints write it.
fn written_company(site: &Site) -> Option<String> {
    let footers = site.pages.iter().flat_map(Page::footer_lines);
    let imprints =
        site.pages.iter().filter(|page| is_imprint(page)).flat_map(|page| page.first("body").map(lines_of).unwrap_or_default());
    imprints.chain(footers).find_map(|line| company_in(&line))
}

fn company_in(line: &str) -> Option<String> {
    if line.chars().count() > 160 {
        return None;
    }
    let line =
        line.split(['|', '·', '•', ',', '–', '（', '）', '(', ')']).map(str::trim).find(|part| legal_form(part).is_some())?;
    let start = line.rfind('©').map_or(0, |at| at + '©'.len_utf8());
    let mut company = line[start..].trim();
    for before in BEFORE_COMPANIES {
        company = company.strip_prefix(before).unwrap_or(company).trim();
    }
    let company = company.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '-' | '–' | ' ' | ':'));
    let (at, form) = legal_form(company)?;
    // What follows the legal form is another sentence; a form in front belongs to the name behind it.
    let company = if at == 0 { company.split(". ").next().unwrap_or(company) } else { &company[..at + form.len()] };
    let company = company.split(": ").last().unwrap_or(company).trim();
    (company.split_whitespace().count() <= 8 && company.chars().count() > form.chars().count() + 1).then(|| company.to_owned())
}

/// A company's name without its legal form; nothing if it has none.
pub fn without_legal_form(name: &str) -> Option<String> {
    let (at, form) = legal_form(name).filter(|(at, form)| *at > 0 && at + form.len() == name.len())?;
    debug_assert!(name.ends_with(form));
    Some(name[..at].trim_end_matches([' ', ',']).to_owned()).filter(|bare| bare.chars().count() >= 2)
}

/// The legal form in a text, and where.
fn legal_form(text: &str) -> Option<(usize, &'static str)> {
    let stands_alone = |at: usize, form: &str| {
        let before = text[..at].chars().next_back();
        let after = text[at + form.len()..].chars().next();
        let may_come_first = FORMS_IN_FRONT.contains(&form);
        let ends = after.is_none_or(|c| !c.is_alphanumeric()) || !form.is_ascii() && may_come_first;
        ends && (before == Some(' ') || before.is_none() && may_come_first || !form.is_ascii() && may_come_first)
    };
    LEGAL_FORMS
        .iter()
        .find_map(|form| text.match_indices(form).find(|(at, _)| stands_alone(*at, form)).map(|(at, _)| (at, *form)))
}

/// The brand's profiles in social networks, each network once.
pub fn social(site: &Site) -> Vec<SocialLink> {
    let mut found: Vec<SocialLink> = Vec::new();
    let mut add = |url: Url| {
        if let Some(network) = network_of(&url)
            && !found.iter().any(|link| link.network == network)
        {
            found.push(SocialLink { network: network.to_owned(), url: without_tracking(url) });
        }
    };
    for node in site.organizations() {
        list(node, "sameAs").into_iter().filter_map(|url| url.as_str()?.trim().parse().ok()).for_each(&mut add);
    }
    let is_frame = |link: &ElementRef<'_>| is_within(*link, &["header", "footer", "nav"], &["footer", "social", "header"]);
    for page in &site.pages {
        page.all("a[href]").into_iter().filter(is_frame).filter_map(|link| page.address(link.attr("href")?)).for_each(&mut add);
    }
    for page in site.pages.iter().filter(|page| !is_article(page)) {
        page.all("a[href]").into_iter().filter_map(|link| page.address(link.attr("href")?)).for_each(&mut add);
    }
    found
}

/// Articles link to the profiles of others.
fn is_article(page: &Page) -> bool {
    page.meta("og:type").as_deref() == Some("article")
        || super::structured::nodes(page).iter().any(|node| is_a(node, &["NewsArticle", "BlogPosting", "Article"]))
}

fn network_of(url: &Url) -> Option<&'static str> {
    let host = url.host_str()?;
    let is_at = |known: &str| host == known || host.strip_suffix(known).is_some_and(|rest| rest.ends_with('.'));
    let (_, network) = NETWORKS.iter().find(|(known, _)| is_at(known))?;
    let path = url.path();
    let is_profile = path.len() > 1 && !NO_PROFILES.iter().any(|other| path.starts_with(other)) && !path.contains("sharing");
    is_profile.then_some(*network)
}

fn without_tracking(mut url: Url) -> String {
    let is_tracking =
        |name: &str| name.starts_with("utm_") || matches!(name, "igsh" | "igshid" | "fbclid" | "ref" | "hl" | "lang" | "si");
    let kept: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(name, _)| !is_tracking(name))
        .map(|(name, value)| (name.into_owned(), value.into_owned()))
        .collect();
    if kept.is_empty() {
        url.set_query(None);
    } else {
        url.query_pairs_mut().clear().extend_pairs(kept);
    }
    url.to_string()
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

    #[test]
    fn companies_are_known_by_their_legal_form() {
        for (line, expected) in [
            ("© 2024 Nordlicht Fahrräder GmbH. Alle Rechte vorbehalten.", Some("Nordlicht Fahrräder GmbH")),
            ("Copyright 2020–2024 Acme Labs, Inc. All rights reserved", None),
            ("© 2025 Acme Labs Inc. All rights reserved", Some("Acme Labs Inc.")),
            ("Angaben gemäß § 5 TMG: Blatt & Bohne OHG", Some("Blatt & Bohne OHG")),
            ("Made in Incheon", None),
        ] {
            assert_eq!(company_in(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn profiles_are_told_from_sharing() {
        let network = |url: &str| network_of(&url.parse().expect("an address"));
        assert_eq!(network("https://www.instagram.com/acme/"), Some("instagram"));
        assert_eq!(network("https://twitter.com/intent/tweet?text=x"), None);
        assert_eq!(network("https://www.facebook.com/sharer/sharer.php?u=x"), None);
        assert_eq!(network("https://notfacebook.com/acme"), None);
        assert_eq!(
            without_tracking("https://instagram.com/a?igsh=1&utm_source=x".parse().expect("an address")),
            "https://instagram.com/a"
        );
    }
}
