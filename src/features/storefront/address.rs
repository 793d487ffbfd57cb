//! Parses store addresses as users enter them.

use url::Url;

use super::model::Store;
use crate::engine::api::{Engine, Failure};
use crate::vocab::limits;

const FIELD: &str = "storefrontStoreUrl";

/// Parses the URL of a store. If the scheme is missing, `https` is assumed.
pub fn parse(text: &str) -> Result<Url, Failure> {
    let text = text.trim();
    let expected = || Failure::field(FIELD, "must be the store's URL, like https://acme.myshopify.com");
    if text.is_empty() || text.len() > limits::STORE_URL_CHARACTERS_MAX {
        return Err(expected());
    }
    let full = if text.contains("://") { text.to_owned() } else { format!("https://{text}") };
    let mut url = Url::parse(&full).map_err(|_| expected())?;
    let is_web = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
    if !is_web {
        return Err(expected());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Failure::field(FIELD, "the URL contains a user name or password; remove both"));
    }
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

/// Returns the shop's myshopify.com domain, given the URL of the shop or of the shop's page in Shopify's admin.
pub fn shopify_domain(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    let name = match host.strip_suffix(".myshopify.com") {
        Some(name) => name,
        None if host == "admin.shopify.com" => url.path().strip_prefix("/store/")?.split('/').next()?,
        None => return None,
    };
    // The name becomes part of the URL to which keys are sent, so it may contain only letters, digits and hyphens.
    let is_plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_plain.then(|| format!("{}.myshopify.com", name.to_ascii_lowercase()))
}

/// Returns the shop's myshopify.com domain. Mailmill sends the app's keys to this domain. Fails if the domain cannot be determined from the
/// URL.
pub fn of_shopify(url: &Url) -> Result<String, Failure> {
    let wrong =
        "must be the shop's myshopify.com domain, like https://acme.myshopify.com; Shopify shows it under Settings, Domains";
    shopify_domain(url).ok_or_else(|| Failure::field(FIELD, wrong))
}

/// Returns the address of a WooCommerce site. Fails for an unencrypted URL unless the operator has allowed its network, because keys are
/// sent to the URL.
pub fn of_site(engine: &Engine, url: &Url) -> Result<String, Failure> {
    if url.scheme() != "https" && !engine.fetch.is_in_allowed_network(url) {
        return Err(Failure::field(FIELD, "the URL must start with https://, because keys are sent to it"));
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

/// Returns whether a URL is this store's address, its page in Shopify's admin, or a page of its site.
pub fn is_of(url: &Url, store: &Store) -> bool {
    let plain = |host: &str| host.strip_prefix("www.").unwrap_or(host).to_owned();
    let place = |url: &Url| (url.host_str().map(plain), url.port());
    let is_site =
        |text: &str| Url::parse(text).is_ok_and(|site| place(&site) == place(url) && url.path().starts_with(site.path()));
    shopify_domain(url).is_some_and(|domain| domain == store.address) || is_site(&store.address) || is_site(&store.site)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_domain_of_shopify_becomes_an_address() {
        for (text, domain) in [
            ("acme.myshopify.com", Some("acme.myshopify.com")),
            ("https://ACME-2.myshopify.com/admin/products?x=1", Some("acme-2.myshopify.com")),
            ("https://admin.shopify.com/store/acme/settings", Some("acme.myshopify.com")),
            ("https://admin.shopify.com/store/evil.example%2F", None),
            ("https://a.b.myshopify.com", None),
            ("https://acme.myshopify.com.evil.example", None),
            ("https://www.acme.example", None),
        ] {
            let url = parse(text).expect(text);
            assert_eq!(shopify_domain(&url).as_deref(), domain, "{text}");
        }
        for text in ["", "ftp://acme.myshopify.com", "https://user:key@acme.myshopify.com", "https://"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
