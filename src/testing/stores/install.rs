//! Simulates the installation of the app in a shop: Shopify's authorization code grant with expiring offline tokens. Each code works once,
//! and each refresh token is replaced when it is used.

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use super::{SHOP, SHOPIFY_CLIENT, SHOPIFY_SECRET};

/// The state of the app's installation: the pending code and the issued tokens.
#[derive(Default)]
pub struct Installs {
    consents: u32,
    /// The code that can still be exchanged for tokens.
    code: Option<String>,
    issued: u32,
}

impl Installs {
    /// Installs the app, as a user would on the authorization page with this URL. Returns the signed callback URL.
    pub fn consent(&mut self, url: &str) -> String {
        let (address, query) = url.split_once('?').expect("the URL has a query");
        assert!(address.ends_with("/admin/oauth/authorize"), "{address}");
        let query: Vec<(String, String)> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let get = |name: &str| query.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str());
        assert_eq!((get("client_id"), get("scope")), (SHOPIFY_CLIENT, "read_products,read_orders,read_customers"));
        assert!(query.iter().all(|(name, _)| !name.starts_with("grant_options")), "the token is an offline one");
        self.consents += 1;
        let code = format!("code{}", self.consents);
        self.code = Some(code.clone());
        let pairs =
            [("code", code.as_str()), ("host", "YWRtaW4"), ("shop", SHOP), ("state", get("state")), ("timestamp", "1767225600")];
        format!("{}?{}", get("redirect_uri"), signed(&pairs))
    }

    pub fn access(&self) -> String {
        format!("shpat_installed_{}", self.issued)
    }

    fn refresh(&self) -> String {
        format!("shprt_{}", self.issued)
    }

    /// Exchanges the code or refresh token in the form for new tokens. Returns the new access token and the response, or `None` if the form
    /// is invalid.
    pub fn tokens(&mut self, form: &str, scopes: &str) -> Option<(String, Value)> {
        let front = format!("client_id={SHOPIFY_CLIENT}&client_secret={SHOPIFY_SECRET}&");
        let rest = form.strip_prefix(&front)?;
        let is_code = self.code.as_ref().is_some_and(|code| rest == format!("code={code}&expiring=1"));
        let is_refresh = rest == format!("grant_type=refresh_token&refresh_token={}", self.refresh());
        if is_code {
            self.code = None;
        } else if !is_refresh {
            return None;
        }
        self.issued += 1;
        let answer = json!({
            "access_token": self.access(), "scope": scopes, "expires_in": 3_600, "refresh_token": self.refresh(),
            "refresh_token_expires_in": 7_776_000,
        });
        Some((self.access(), answer))
    }
}

/// Returns the query string with Shopify's signature appended as `hmac`.
pub fn signed(pairs: &[(&str, &str)]) -> String {
    let mut sorted = pairs.to_vec();
    sorted.sort_unstable();
    let text = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(sorted).finish();
    let mut mac = Hmac::<Sha256>::new_from_slice(SHOPIFY_SECRET.as_bytes()).expect("HMAC accepts keys of any length");
    mac.update(text.as_bytes());
    format!("{text}&hmac={}", data_encoding::HEXLOWER.encode(&mac.finalize().into_bytes()))
}
