//! Recognizes different URLs of the same website, to avoid importing a brand twice. This module uses no store, clock or network.

use super::model::Project;

/// Returns whether the first site of the project is the site at `url`. Ignores the scheme, `www.` and the usual file names of home pages,
/// but compares paths, because a host can have several brands.
pub fn same_site(project: &Project, url: &str) -> bool {
    project.urls.first().is_some_and(|own| key(own) == key(url))
}

fn key(url: &str) -> String {
    let url = url.split_once("://").map_or(url, |(_, rest)| rest);
    let url = url.strip_prefix("www.").unwrap_or(url);
    let url = ["index.html", "index.htm", "index.php"].into_iter().find_map(|page| url.strip_suffix(page)).unwrap_or(url);
    url.trim_end_matches('/').to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_address_are_one_site() {
        for url in ["http://www.acme.example", "https://acme.example/", "https://ACME.example/index.html"] {
            assert_eq!(key(url), "acme.example", "{url}");
        }
        assert_ne!(key("https://acme.example/uk"), key("https://acme.example/us"));
        assert_ne!(key("http://127.0.0.1:8080/"), key("http://127.0.0.1:9090/"));
    }
}
