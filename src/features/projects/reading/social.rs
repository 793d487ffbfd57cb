//! Finds the brand's profiles on social networks.

use scraper::ElementRef;
use url::Url;

use super::Site;
use super::page::{Page, is_within};
use super::structured::{is_a, list, nodes};
use crate::features::projects::brand::BrandSocialLink;

/// The hosts of social networks, each with the name of the network.
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
/// Paths that do not lead to profiles: links that share the current page, and pages of the network itself.
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

/// Returns the brand's profiles on social networks, one per network.
pub fn social(site: &Site) -> Vec<BrandSocialLink> {
    let mut found: Vec<BrandSocialLink> = Vec::new();
    let mut add = |url: Url| {
        if let Some(network) = network_of(&url)
            && !found.iter().any(|link| link.network == network)
        {
            found.push(BrandSocialLink { network: network.to_owned(), url: without_tracking(url) });
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

/// Returns whether the page is an article. Articles also link to profiles of other people and companies.
fn is_article(page: &Page) -> bool {
    page.meta("og:type").as_deref() == Some("article")
        || nodes(page).iter().any(|node| is_a(node, &["NewsArticle", "BlogPosting", "Article"]))
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

    #[test]
    fn profiles_are_distinguished_from_share_links() {
        let network = |url: &str| network_of(&url.parse().expect("the address is valid"));
        assert_eq!(network("https://www.instagram.com/acme/"), Some("instagram"));
        assert_eq!(network("https://twitter.com/intent/tweet?text=x"), None);
        assert_eq!(network("https://www.facebook.com/sharer/sharer.php?u=x"), None);
        assert_eq!(network("https://notfacebook.com/acme"), None);
        assert_eq!(
            without_tracking("https://instagram.com/a?igsh=1&utm_source=x".parse().expect("the address is valid")),
            "https://instagram.com/a"
        );
    }
}
