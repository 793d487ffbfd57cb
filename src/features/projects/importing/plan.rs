//! Chooses the files that an import fetches and their order. This module uses no store, clock or network.
//!
//! The robots.txt files come first, then the pages that the caller named, then the files that these pages refer to. After that, additional
//! pages of the same site are chosen: a few pages of each kind that describes a brand.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use url::{Position, Url};

use super::{FetchOutcome, FetchTask, File, FileRole, Import};
use crate::features::projects::reading::Raw;
use crate::features::projects::reading::outline::{self, Link, Rules};
use crate::vocab::limits::{SITE_IMPORT_PAGES_MAX, SITE_IMPORT_SITEMAPS_MAX, SITE_IMPORT_STYLES_MAX};

/// File extensions of addresses that are not pages.
const NO_PAGES: [&str; 30] = [
    ".jpg", ".jpeg", ".png", ".gif", ".webp", ".svg", ".avif", ".ico", ".pdf", ".zip", ".gz", ".mp3", ".mp4", ".webm", ".mov",
    ".xml", ".rss", ".json", ".css", ".js", ".doc", ".docx", ".xls", ".xlsx", ".ppt", ".pptx", ".ics", ".vcf", ".exe", ".dmg",
];
/// Words in page addresses that indicate that the page contains no information about the brand.
const NO_WORDS: [&str; 33] = [
    "login",
    "log-in",
    "signin",
    "sign-in",
    "signup",
    "sign-up",
    "register",
    "account",
    "konto",
    "cart",
    "basket",
    "warenkorb",
    "panier",
    "carrito",
    "checkout",
    "kasse",
    "wishlist",
    "search",
    "suche",
    "cookie",
    "datenschutz",
    "privacy",
    "terms",
    "agb",
    "cgv",
    "feed",
    "wp-json",
    "wp-admin",
    "wp-login",
    "/tag/",
    "/author/",
    "/page/",
    "download",
];

/// The maximum number of pages of an unknown kind that an import fetches.
const OTHERS_MAX: usize = 8;

/// The minimum length, in bytes, at which a word in [`NO_WORDS`] also matches inside other words. Shorter words match only whole words,
/// unless they contain `/` or `-`.
const LONG_WORD: usize = 6;

/// A kind of page that describes a brand: the words that identify such pages, their score, and the maximum number to read.
struct PageSort {
    words: &'static [&'static str],
    worth: u32,
    pages_max: usize,
}

const SORTS: [PageSort; 7] = [
    PageSort {
        words: &[
            "about",
            "ueber",
            "uber-uns",
            "über",
            "story",
            "mission",
            "unternehmen",
            "company",
            "team",
            "qui-sommes",
            "a-propos",
            "à propos",
            "chi-siamo",
            "quienes",
            "sobre",
            "nosotros",
            "over-ons",
            "who-we-are",
            "philosophie",
            "redaktion",
            "会社",
            "私たち",
        ],
        worth: 90,
        pages_max: 3,
    },
    PageSort {
        words: &[
            "impressum",
            "imprint",
            "legal-notice",
            "mentions",
            "aviso-legal",
            "note-legali",
            "colofon",
            "contact",
            "kontakt",
            "contatti",
            "contacto",
            "contato",
            "お問い合わせ",
        ],
        worth: 80,
        pages_max: 2,
    },
    PageSort {
        words: &["/product/", "/products/", "/produkt/", "/produkte/", "/produit/", "/producto/", "/prodotto/", "/item/", "/p/"],
        worth: 70,
        pages_max: 8,
    },
    PageSort {
        words: &[
            "return",
            "refund",
            "rückgabe",
            "rueckgabe",
            "ruckgabe",
            "retoure",
            "rücksend",
            "ruecksend",
            "umtausch",
            "widerruf",
            "retour",
            "rembours",
            "devoluc",
            "reembols",
            "rimbors",
            "devoluç",
            "shipping",
            "delivery",
            "versand",
            "lieferung",
            "livraison",
            "envio",
            "envío",
            "spedizion",
            "consegna",
            "entrega",
            "verzend",
            "bezorg",
            "opening",
            "hours",
            "öffnungszeit",
            "oeffnungszeit",
            "offnungszeit",
            "horaire",
            "orari",
            "horario",
            "horário",
            "openingstijd",
            "reserv",
            "booking",
            "prenot",
            "visit",
            "besuch",
            "anfahrt",
            "find-us",
            "営業時間",
        ],
        worth: 72,
        pages_max: 5,
    },
    PageSort {
        words: &[
            "shop",
            "store",
            "boutique",
            "tienda",
            "negozio",
            "winkel",
            "products",
            "produkte",
            "produits",
            "productos",
            "prodotti",
            "collection",
            "kollektion",
            "catalog",
            "katalog",
            "sortiment",
            "menu",
            "speisekarte",
            "karte",
            "carta",
            "carte",
            "angebot",
            "メニュー",
        ],
        worth: 75,
        pages_max: 3,
    },
    PageSort {
        words: &[
            "pricing",
            "preise",
            "tarif",
            "precios",
            "prezzi",
            "prijzen",
            "plans",
            "features",
            "funktionen",
            "solutions",
            "leistungen",
            "services",
            "service",
        ],
        worth: 65,
        pages_max: 3,
    },
    PageSort {
        words: &["faq", "hilfe", "help", "press", "presse", "jobs", "career", "karriere", "blog", "news", "journal", "magazin"],
        worth: 40,
        pages_max: 3,
    },
];

/// Returns the first tasks of an import.
pub fn first(urls: &[String]) -> Vec<FetchTask> {
    let parsed: Vec<Url> = urls.iter().filter_map(|url| url.parse().ok()).collect();
    let mut plan: Vec<FetchTask> = Vec::new();
    for url in &parsed {
        let robots = FetchTask { url: format!("{}/robots.txt", &url[..Position::BeforePath]), kind: FileRole::Robots };
        if !plan.contains(&robots) {
            plan.push(robots);
        }
    }
    plan.extend(parsed.iter().map(|url| FetchTask { url: url.to_string(), kind: FileRole::Given }));
    plan
}

/// Returns the files that `new` files refer to and that are not yet planned.
pub fn further(import: &Import, new: &[File]) -> Vec<FetchTask> {
    let mut plan = Extended { import, added: Vec::new() };
    for file in new {
        let (Ok(url), FetchOutcome::Fetched { bytes, content_type, .. }) = (file.found_at.parse::<Url>(), &file.outcome) else {
            continue;
        };
        match file.kind {
            FileRole::Robots => {
                let named = Rules::parse(bytes).sitemaps();
                let usual = url.join("/sitemap.xml").ok();
                let wanted = if named.is_empty() { usual.into_iter().collect() } else { named };
                wanted.into_iter().for_each(|url| plan.add(url, FileRole::Sitemap, SITE_IMPORT_SITEMAPS_MAX));
            }
            FileRole::Given => refer(&mut plan, file, &url),
            FileRole::Style => {
                outline::included(&url, bytes, content_type)
                    .into_iter()
                    .for_each(|url| plan.add(url, FileRole::Style, SITE_IMPORT_STYLES_MAX));
            }
            FileRole::Sitemap => {
                let (_, sitemaps) = outline::sitemap(bytes);
                sitemaps.into_iter().for_each(|url| plan.add(url, FileRole::Sitemap, SITE_IMPORT_SITEMAPS_MAX));
            }
            FileRole::Page | FileRole::Manifest => {}
        }
    }
    for file in new.iter().filter(|file| file.kind == FileRole::Robots && file.outcome == FetchOutcome::Absent) {
        if let Ok(url) = file.url.parse::<Url>().and_then(|url| url.join("/sitemap.xml")) {
            plan.add(url, FileRole::Sitemap, SITE_IMPORT_SITEMAPS_MAX);
        }
    }
    plan.added
}

struct Extended<'a> {
    import: &'a Import,
    added: Vec<FetchTask>,
}

impl Extended<'_> {
    /// Adds this URL to the plan, unless it is already planned or the plan contains the maximum number of files of this kind.
    fn add(&mut self, url: Url, kind: FileRole, most: usize) {
        // Do not fetch style sheets from Google Fonts: it serves WOFF2 files only to browsers, and the URLs of its style sheets already
        // contain the families and weights.
        if kind == FileRole::Style && url.host_str() == Some("fonts.googleapis.com") {
            return;
        }
        let planned = || self.import.plan.iter().chain(&self.added);
        let is_new = !planned().any(|task| task.url == url.as_str());
        if is_new && planned().filter(|task| task.kind == kind).count() < most {
            self.added.push(FetchTask { url: url.to_string(), kind });
        }
    }
}

fn refer(plan: &mut Extended<'_>, file: &File, url: &Url) {
    let Some(raw) = raw(file, url) else { return };
    let outline = outline::outline(&raw);
    outline.styles.into_iter().for_each(|url| plan.add(url, FileRole::Style, SITE_IMPORT_STYLES_MAX));
    outline.manifest.into_iter().for_each(|url| plan.add(url, FileRole::Manifest, 2));
    outline.refresh.into_iter().for_each(|url| plan.add(url, FileRole::Given, SITE_IMPORT_PAGES_MAX));
}

/// Returns a fetched file in the form that `reading` requires.
pub fn raw<'a>(file: &'a File, url: &'a Url) -> Option<Raw<'a>> {
    let FetchOutcome::Fetched { content_type, language, bytes } = &file.outcome else { return None };
    Some(Raw { url, given: file.kind == FileRole::Given, content_type, language, bytes })
}

/// Returns additional pages of the site to which the caller's pages belong, most informative first.
pub fn choose(import: &Import, files: &[File]) -> Vec<FetchTask> {
    let given: Vec<Url> =
        files.iter().filter(|file| file.kind == FileRole::Given).filter_map(|file| file.found_at.parse().ok()).collect();
    let Some(home) = given.first() else { return Vec::new() };
    let rules = rules(files);
    let mut candidates: HashMap<String, (u32, usize, Url)> = HashMap::new();
    let mut offer = |link: &Link, named_by_map: bool| {
        let is_fit = is_of_site(&link.url, &given) && !is_shut(&link.url) && is_same_language(&link.url, home);
        if !is_fit || !allows(&rules, &link.url) {
            return;
        }
        if let Some((worth, sort)) = worth(link, named_by_map) {
            let entry = candidates.entry(key(&link.url)).or_insert((0, sort, link.url.clone()));
            if worth > entry.0 {
                (entry.0, entry.1) = (worth, sort);
            }
        }
    };
    for file in files {
        let (Ok(url), FetchOutcome::Fetched { bytes, .. }) = (file.found_at.parse::<Url>(), &file.outcome) else { continue };
        match file.kind {
            FileRole::Given => {
                raw(file, &url).into_iter().flat_map(|raw| outline::outline(&raw).links).for_each(|link| offer(&link, false))
            }
            FileRole::Sitemap => {
                for url in outline::sitemap(bytes).0 {
                    offer(&Link { url, text: String::new(), in_frame: false }, true);
                }
            }
            FileRole::Robots | FileRole::Page | FileRole::Manifest | FileRole::Style => {}
        }
    }
    let planned: Vec<String> =
        import.plan.iter().filter_map(|task| task.url.parse().ok()).chain(given.iter().cloned()).map(|url| key(&url)).collect();
    let mut ranked: Vec<(u32, usize, Url)> =
        candidates.into_iter().filter(|(key, _)| !planned.contains(key)).map(|(_, candidate)| candidate).collect();
    ranked.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.2.as_str().cmp(other.2.as_str())));
    let mut taken = [0_usize; SORTS.len() + 1];
    let room = SITE_IMPORT_PAGES_MAX.saturating_sub(given.len());
    let fits = |(_, sort, _): &(u32, usize, Url)| {
        taken[*sort] += 1;
        taken[*sort] <= SORTS.get(*sort).map_or(OTHERS_MAX, |sort| sort.pages_max)
    };
    ranked
        .into_iter()
        .filter(fits)
        .take(room)
        .map(|(_, _, url)| FetchTask { url: url.to_string(), kind: FileRole::Page })
        .collect()
}

/// Returns the score of a page and the index of its [`PageSort`]; `None` if the page is not worth reading.
fn worth(link: &Link, named_by_map: bool) -> Option<(u32, usize)> {
    let path = decoded(link.url.path());
    let text = link.text.to_lowercase();
    let depth = path.split('/').filter(|part| !part.is_empty()).count() as u32;
    if path.len() <= 1 || depth > 5 {
        return None;
    }
    let sort = SORTS
        .iter()
        .position(|sort| sort.words.iter().any(|word| path.contains(word) || !word.contains('/') && text.contains(word)));
    let base = sort.map_or(if link.in_frame { 30 } else { 10 }, |sort| SORTS[sort].worth);
    let from_map = if named_by_map && sort.is_none() { 5 } else { 0 };
    let in_frame = if link.in_frame { 8 } else { 0 };
    Some(((base + in_frame).saturating_sub(depth * 3 + from_map), sort.unwrap_or(SORTS.len())))
}

/// Percent-decodes a path and converts it to lowercase.
fn decoded(path: &str) -> String {
    percent_decode_str(path).decode_utf8_lossy().to_lowercase()
}

fn is_of_site(url: &Url, given: &[Url]) -> bool {
    let bare = |url: &Url| url.host_str().map(|host| host.trim_start_matches("www.").to_owned());
    given.iter().any(|other| bare(other) == bare(url) && other.port_or_known_default() == url.port_or_known_default())
}

fn is_shut(url: &Url) -> bool {
    let whole = url[Position::BeforePath..].to_ascii_lowercase();
    let path = url.path().to_ascii_lowercase();
    // Match short words only as whole words: `cart` is also the start of `carte`, a French menu.
    let has = |word: &str| {
        let is_part = word.len() >= LONG_WORD || word.contains(['/', '-']);
        let mut words = whole.split(|c: char| !c.is_ascii_alphanumeric());
        if is_part {
            whole.contains(word)
        } else {
            words.any(|one| one.strip_suffix('s').unwrap_or(one) == word.trim_end_matches('s'))
        }
    };
    NO_PAGES.iter().any(|end| path.ends_with(end))
        || NO_WORDS.iter().any(|word| has(word))
        || url.query().is_some_and(|query| query.len() > 60)
}

/// Returns whether the page's path starts with no language code or with the same code as the home page's path. Translated pages would only
/// repeat the same content.
fn is_same_language(url: &Url, home: &Url) -> bool {
    let code = |url: &Url| {
        let first = url.path_segments()?.next()?.to_ascii_lowercase();
        let is_code = matches!(first.len(), 2 | 5)
            && first.chars().take(2).all(|c| c.is_ascii_lowercase())
            && (first.len() == 2 || first.as_bytes()[2] == b'-' || first.as_bytes()[2] == b'_');
        is_code.then_some(first)
    };
    code(url).is_none_or(|code_of_page| code(home) == Some(code_of_page))
}

/// Returns an address without `www.`, index file names and trailing slashes, so that variants of one page's address are equal.
fn key(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default().trim_start_matches("www.");
    let path = url.path().trim_end_matches("index.html").trim_end_matches("index.php").trim_end_matches('/');
    format!("{host}{path}?{}", url.query().unwrap_or_default())
}

/// Returns the rules from all robots.txt files, each with the origin of its site.
pub fn rules(files: &[File]) -> Vec<(String, Rules)> {
    let robots = files.iter().filter(|file| file.kind == FileRole::Robots);
    let parsed = robots.filter_map(|file| {
        let FetchOutcome::Fetched { bytes, .. } = &file.outcome else { return None };
        Some((origin(&file.url.parse().ok()?), Rules::parse(bytes)))
    });
    parsed.collect()
}

pub fn allows(rules: &[(String, Rules)], url: &Url) -> bool {
    let own = origin(url);
    rules.iter().filter(|(origin, _)| *origin == own).all(|(_, rules)| rules.allow(url))
}

/// Returns the pause, in seconds, that robots.txt requires between two requests to this origin.
pub fn delay(rules: &[(String, Rules)], url: &Url) -> Option<f32> {
    let own = origin(url);
    rules.iter().find(|(origin, _)| *origin == own).and_then(|(_, rules)| rules.delay())
}

fn origin(url: &Url) -> String {
    url[..Position::BeforePath].to_owned()
}

/// Returns whether fetching a robots.txt file failed. In that case, only the pages that the caller named are read.
pub fn is_closed(files: &[File]) -> bool {
    files.iter().any(|file| file.kind == FileRole::Robots && matches!(file.outcome, FetchOutcome::Failed(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Timestamp;
    use crate::features::projects::importing::{ImportMetrics, Stage};
    use crate::vocab::ids::AccountId;

    fn import(urls: &[&str]) -> Import {
        let urls: Vec<String> = urls.iter().map(|url| (*url).to_owned()).collect();
        Import {
            account: AccountId::from_bytes([1; 12]),
            stage: Stage::Fetching,
            percentage: 0,
            plan: first(&urls),
            next: 0,
            chosen: false,
            draft: None,
            failures: 0,
            metrics: ImportMetrics::default(),
            started_at: Timestamp(0),
        }
    }

    fn file(url: &str, kind: FileRole, text: &str) -> File {
        let outcome =
            FetchOutcome::Fetched { content_type: "text/html".into(), language: String::new(), bytes: text.as_bytes().to_vec() };
        File { url: url.into(), found_at: url.into(), kind, outcome }
    }

    fn paths(tasks: &[FetchTask]) -> Vec<&str> {
        tasks.iter().map(|task| task.url.trim_start_matches("https://a.example")).collect()
    }

    #[test]
    fn robots_files_come_first_and_once_per_origin() {
        let plan = first(&["https://a.example/".into(), "https://a.example/shop".into(), "https://b.example/".into()]);
        let urls: Vec<&str> = plan.iter().map(|task| task.url.as_str()).collect();
        assert_eq!(
            urls,
            [
                "https://a.example/robots.txt",
                "https://b.example/robots.txt",
                "https://a.example/",
                "https://a.example/shop",
                "https://b.example/"
            ]
        );
    }

    #[test]
    fn referenced_files_are_planned_once() {
        let import = import(&["https://a.example/"]);
        let page = file(
            "https://a.example/",
            FileRole::Given,
            "<link rel=stylesheet href=/a.css><link rel=stylesheet href=/a.css><link rel=manifest href=/m.json>",
        );
        let robots = file("https://a.example/robots.txt", FileRole::Robots, "Sitemap: https://a.example/map.xml");
        assert_eq!(paths(&further(&import, &[robots, page])), ["/map.xml", "/a.css", "/m.json"]);
    }

    #[test]
    fn informative_pages_of_the_same_site_and_language_are_chosen_unless_disallowed() {
        let import = import(&["https://a.example/"]);
        let links = [
            "/about",
            "/login",
            "/de/ueber-uns",
            "/products/red-shoe",
            "/private/about",
            "https://b.example/about",
            "/kontakt",
            "/file.pdf",
            "/",
        ];
        let links: String = links.iter().map(|href| format!("<a href='{href}'>x</a>")).collect();
        let files = [
            file("https://a.example/robots.txt", FileRole::Robots, "User-agent: *\nDisallow: /private"),
            file("https://a.example/", FileRole::Given, &format!("<nav>{links}</nav>")),
            file(
                "https://a.example/sitemap.xml",
                FileRole::Sitemap,
                "<urlset><url><loc>https://a.example/imprint</loc></url></urlset>",
            ),
        ];
        assert_eq!(paths(&choose(&import, &files)), ["/about", "/kontakt", "/imprint", "/products/red-shoe"]);
    }

    #[test]
    fn pages_about_returns_shipping_and_opening_hours_are_chosen_in_every_language() {
        let import = import(&["https://a.example/"]);
        for (href, text) in [
            ("/pages/shipping-returns", "Shipping"),
            ("/policies/refund-policy", "Refunds"),
            ("/r%C3%BCckgabe", "Rückgabe"),
            ("/info/12", "Versand & Lieferung"),
            ("/reservieren.html", "Tisch reservieren"),
            ("/seite7", "Öffnungszeiten"),
            ("/horaires", "Horaires"),
            ("/la-carte", "La carte"),
        ] {
            let others: String = (0..40).map(|number| format!("<a href='/other/{number}'>x</a>")).collect();
            let page = format!("<footer><a href='{href}'>{text}</a></footer>{others}");
            let chosen = choose(&import, &[file("https://a.example/", FileRole::Given, &page)]);
            assert_eq!(paths(&chosen).first(), Some(&href), "{text}");
        }
        let shut = ["/cart", "/account/login", "/search?q=a", "/agb", "/cookies", "/datenschutzerklaerung"];
        let links: String = shut.iter().map(|href| format!("<a href='{href}'>x</a>")).collect();
        assert_eq!(paths(&choose(&import, &[file("https://a.example/", FileRole::Given, &links)])), [""; 0]);
    }

    #[test]
    fn the_number_of_pages_of_each_sort_is_limited() {
        let import = import(&["https://a.example/"]);
        let links: String = (0..50).map(|number| format!("<a href='/products/{number}'>x</a>")).collect();
        let chosen = choose(&import, &[file("https://a.example/", FileRole::Given, &links)]);
        assert_eq!(chosen.len(), SORTS[2].pages_max);
    }
}
