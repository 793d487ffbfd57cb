//! Finds the URLs in a page, style sheet, sitemap or robots.txt file that are worth fetching next. This module uses no store, clock or
//! network.

use quick_xml::Reader;
use quick_xml::events::Event;
use texting_robots::Robot;
use url::Url;

use super::css;
use super::page::{Page, is_within, text_of};
use super::{Raw, charset};
use crate::engine::fetch::ROBOT_NAME;

/// The maximum number of links that are read from a page.
const LINKS_MAX: usize = 400;
/// The maximum number of URLs that are read from a sitemap.
const SITEMAP_MAX: usize = 2_000;

/// The files and pages that a page refers to.
#[derive(Debug, Default)]
pub struct Outline {
    pub styles: Vec<Url>,
    pub manifest: Option<Url>,
    pub links: Vec<Link>,
    /// The target of a `meta refresh` element that redirects within five seconds.
    pub refresh: Option<Url>,
}

#[derive(Debug, PartialEq)]
pub struct Link {
    pub url: Url,
    pub text: String,
    /// Whether the link is in the navigation, header or footer of the page, where sites link to their main pages.
    pub in_frame: bool,
}

pub fn outline(raw: &Raw<'_>) -> Outline {
    let page = Page::parse(raw);
    let is_shown =
        |link: &scraper::ElementRef<'_>| css::applies(link.attr("media").unwrap_or_default()) || link.attr("onload").is_some();
    let late = page.links("preload").into_iter().filter(|link| link.attr("as") == Some("style"));
    let styles = page.links("stylesheet").into_iter().chain(late).filter(is_shown);
    let styles = styles.filter_map(|link| page.address(link.attr("href")?)).collect();
    let manifest = page.links("manifest").into_iter().find_map(|link| page.address(link.attr("href")?));
    let links = page.all("a[href]").into_iter().take(LINKS_MAX).filter_map(|link| {
        let url = page.address(link.attr("href")?)?;
        let in_frame = is_within(link, &["nav", "header", "footer"], &["nav", "menu", "header", "footer"]);
        Some(Link { url, text: text_of(link), in_frame })
    });
    let refresh = page.all("meta[http-equiv]").into_iter().find_map(|meta| {
        let is_refresh = meta.attr("http-equiv")?.eq_ignore_ascii_case("refresh");
        let (delay, target) = meta.attr("content")?.split_once([';', ','])?;
        let target = target.trim();
        let target = if target.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("url=")) { &target[4..] } else { target };
        let is_soon = delay.trim().parse::<f32>().is_ok_and(|seconds| seconds <= 5.0);
        (is_refresh && is_soon).then(|| page.address(css::unquoted(target)))?
    });
    Outline { styles, manifest, links: links.collect(), refresh }
}

/// Returns the URLs of the style sheets that a style sheet imports.
pub fn included(url: &Url, bytes: &[u8], content_type: &str) -> Vec<Url> {
    let (text, _) = charset::decode(bytes, content_type);
    css::parse(&text, None)
        .imports
        .iter()
        .filter_map(|address| url.join(address).ok())
        .filter(|url| url.scheme().starts_with("http"))
        .collect()
}

/// Returns the URLs of the pages and nested sitemaps that a sitemap lists. Also accepts a plain list of URLs, which some sites use.
pub fn sitemap(bytes: &[u8]) -> (Vec<Url>, Vec<Url>) {
    let (mut pages, mut sitemaps) = (Vec::new(), Vec::new());
    let text = String::from_utf8_lossy(bytes);
    if !text.trim_start().starts_with('<') {
        pages.extend(text.lines().take(SITEMAP_MAX).filter_map(|line| line.trim().parse().ok()));
        return (pages, sitemaps);
    }
    let mut reader = Reader::from_str(&text);
    reader.config_mut().check_end_names = false;
    let (mut in_location, mut in_sitemap, mut location) = (false, false, String::new());
    while pages.len() + sitemaps.len() < SITEMAP_MAX {
        match reader.read_event() {
            Ok(Event::Start(tag)) => match tag.local_name().as_ref() {
                "loc" => in_location = true,
                "sitemap" => in_sitemap = true,
                "url" => in_sitemap = false,
                _ => {}
            },
            Ok(Event::Text(piece)) if in_location => location.push_str(&piece),
            Ok(Event::CData(piece)) if in_location => location.push_str(&piece),
            Ok(Event::GeneralRef(name)) if in_location && name.as_ref() == "amp" => location.push('&'),
            Ok(Event::End(tag)) if tag.local_name().as_ref() == "loc" => {
                in_location = false;
                if let Ok(url) = location.trim().parse() {
                    if in_sitemap { sitemaps.push(url) } else { pages.push(url) }
                }
                location.clear();
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    (pages, sitemaps)
}

/// The rules for this service in a site's robots.txt.
pub struct Rules(Option<Robot>);

impl Rules {
    /// Parses a robots.txt file. A file that cannot be parsed does not forbid anything.
    pub fn parse(bytes: &[u8]) -> Self {
        Self(Robot::new(ROBOT_NAME, bytes).ok())
    }

    pub fn allow(&self, url: &Url) -> bool {
        self.0.as_ref().is_none_or(|robot| robot.allowed(url.as_str()))
    }

    /// Returns the URLs of the sitemaps that the robots.txt file lists.
    pub fn sitemaps(&self) -> Vec<Url> {
        self.0.iter().flat_map(|robot| &robot.sitemaps).filter_map(|text| text.parse().ok()).collect()
    }

    /// Returns the pause in seconds that the rules require between two requests.
    pub fn delay(&self) -> Option<f32> {
        self.0.as_ref().and_then(|robot| robot.delay).filter(|delay| delay.is_finite() && *delay > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls(found: Vec<Url>) -> Vec<String> {
        found.into_iter().map(String::from).collect()
    }

    #[test]
    fn sitemaps_contain_pages_and_further_sitemaps() {
        let text = r#"<?xml version="1.0"?><urlset xmlns="x"><url><loc> https://a.example/x?a=1&amp;b=2 </loc><image:image><image:loc>https://a.example/i.jpg</image:loc></image:image></url>
            <url><loc><![CDATA[https://a.example/y]]></loc></url><url><loc>not one</loc></url>"#;
        let (pages, _) = sitemap(text.as_bytes());
        assert!(urls(pages).starts_with(&["https://a.example/x?a=1&b=2".to_owned()]));
        let (pages, sitemaps) = sitemap(b"<sitemapindex><sitemap><loc>https://a.example/s.xml</loc></sitemap></sitemapindex>");
        assert_eq!((pages.len(), urls(sitemaps)), (0, vec!["https://a.example/s.xml".to_owned()]));
        assert_eq!(urls(sitemap(b"https://a.example/1\n\nhttps://a.example/2\n").0).len(), 2);
    }

    #[test]
    fn robots_rules_are_applied() {
        let rules = Rules::parse(b"User-agent: *\nDisallow: /private\nSitemap: https://a.example/map.xml\n\nUser-agent: mailmill\nDisallow: /shop\nCrawl-delay: 2\n");
        let allow = |path: &str| rules.allow(&format!("https://a.example{path}").parse().expect("the address is valid"));
        assert!(allow("/private") && !allow("/shop/x") && allow("/"));
        assert_eq!((urls(rules.sitemaps()), rules.delay()), (vec!["https://a.example/map.xml".to_owned()], Some(2.0)));
    }

    #[test]
    fn styles_manifest_links_and_refresh_of_a_page_are_found() {
        let html = r#"<base href="/en/"><link rel=stylesheet href="a.css"><link rel=stylesheet media=print href="p.css">
            <link rel="preload" as="style" href="late.css"><link rel=manifest href=/m.json>
            <meta http-equiv=refresh content="0; URL='/start'"><nav><a href="about#x">About us</a></nav><a href="mailto:a@b.example">m</a>"#;
        let url: Url = "https://a.example/".parse().expect("the address is valid");
        let outline = outline(&Raw { url: &url, given: true, content_type: "text/html", language: "", bytes: html.as_bytes() });
        assert_eq!(urls(outline.styles), ["https://a.example/en/a.css", "https://a.example/en/late.css"]);
        assert_eq!(outline.manifest.map(String::from).as_deref(), Some("https://a.example/m.json"));
        assert_eq!(outline.refresh.map(String::from).as_deref(), Some("https://a.example/start"));
        let about = Link {
            url: "https://a.example/en/about".parse().expect("the address is valid"),
            text: "About us".into(),
            in_frame: true,
        };
        assert_eq!(outline.links, [about]);
    }
}
