//! The OAuth endpoints of the simulated platforms: consent, tokens and revocation.
//!
//! They check the code verifier (RFC 7636), accept a code once, and accept only the newest access token of a grant.

use std::collections::BTreeMap;

use data_encoding::{BASE64, BASE64URL_NOPAD};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Platforms, Request, State, pairs};

/// The OAuth client that is registered with the platforms.
pub const CLIENT_ID: &str = "client-0b8c2f64";
pub const CLIENT_SECRET: &str = "secret-5d41402abc4b2a76";

/// A user's consent to give an app access.
#[derive(Clone, Debug, Default)]
pub struct Grant {
    platform: &'static str,
    code: String,
    redirect: String,
    challenge: String,
    pub scope: String,
    is_used: bool,
    pub is_revoked: bool,
    pub issued: usize,
}

impl Grant {
    fn access(&self) -> String {
        format!("access-{}-{}", self.code, self.issued)
    }

    fn refresh(&self) -> String {
        format!("refresh-{}", self.code)
    }
}

impl Platforms {
    /// Limits the newest consent to these scopes.
    pub fn grant_only(&self, scopes: &str) {
        if let Some(grant) = self.state().grants.last_mut() {
            grant.scope = scopes.to_owned();
        }
    }

    /// Invalidates all access tokens, but no refresh tokens.
    pub fn end_tokens(&self) {
        self.state().grants.iter_mut().for_each(|grant| grant.issued += 1);
    }
}

/// Consents as a user on the authorization page with this URL. Returns the callback URL.
pub fn consent(state: &mut State, url: &str) -> String {
    let (address, query) = url.split_once('?').expect("the URL has a query");
    let query = pairs(query);
    let get = |name: &str| query.get(name).cloned().unwrap_or_default();
    let redirect = get("redirect_uri");
    let platform =
        ["klaviyo", "mailchimp", "hubspot"].into_iter().find(|name| redirect.ends_with(&format!("/connections/{name}/callback")));
    let platform = platform.expect("the redirect URL is registered");
    assert!(address.ends_with(if platform == "mailchimp" { "/oauth2/authorize" } else { "/oauth/authorize" }), "{address}");
    assert_eq!((get("response_type").as_str(), get("client_id").as_str()), ("code", CLIENT_ID));
    assert_eq!(get("code_challenge").is_empty(), platform == "mailchimp", "Mailchimp has no PKCE");
    if platform != "mailchimp" {
        assert_eq!(get("code_challenge_method"), "S256");
    }
    let code = format!("code{}", state.grants.len() + 1);
    let (challenge, scope) = (get("code_challenge"), get("scope"));
    let back = format!("{redirect}?code={code}&state={}", get("state"));
    state.grants.push(Grant { platform, code, redirect, challenge, scope, ..Grant::default() });
    back
}

/// Returns whether the `Authorization` header contains a valid token of the platform that the path belongs to.
pub fn accepts(state: &State, path: &[&str], authorization: &str) -> bool {
    let platform = match path.first() {
        Some(&"api") => "klaviyo",
        Some(&"3.0") => "mailchimp",
        _ => "hubspot",
    };
    state.grants.iter().any(|grant| {
        grant.platform == platform
            && !grant.is_revoked
            && grant.issued > 0
            && authorization == format!("Bearer {}", grant.access())
    })
}

/// Answers requests for tokens and revocation; returns `None` for other paths.
pub fn answer(state: &mut State, path: &str, request: &Request<'_>) -> Option<(u16, Value)> {
    let (platform, is_revocation) = match path {
        "/oauth/token" => ("klaviyo", false),
        "/oauth/revoke" => ("klaviyo", true),
        "/oauth/2026-03/token" => ("hubspot", false),
        "/oauth/2026-03/token/revoke" => ("hubspot", true),
        "/oauth2/token" => ("mailchimp", false),
        "/oauth2/metadata" => return Some(metadata(state, request)),
        _ => return None,
    };
    let form = pairs(&request.asked.body);
    let is_form = request.asked.headers.get("content-type").map(String::as_str) == Some("application/x-www-form-urlencoded");
    if request.asked.method != "POST" || !is_form {
        return Some(refused("invalid_request"));
    }
    if !is_client(platform, request, &form) {
        return Some((401, json!({ "error": "invalid_client" })));
    }
    let answer = if is_revocation { revoke(state, platform, &form) } else { token(state, platform, &form) };
    Some(answer)
}

fn refused(error: &str) -> (u16, Value) {
    (400, json!({ "error": error, "error_description": format!("{error}: the test server refuses this") }))
}

fn is_client(platform: &str, request: &Request<'_>, form: &BTreeMap<String, String>) -> bool {
    let in_form = form.get("client_id").map(String::as_str) == Some(CLIENT_ID)
        && form.get("client_secret").map(String::as_str) == Some(CLIENT_SECRET);
    let basic = format!("Basic {}", BASE64.encode(format!("{CLIENT_ID}:{CLIENT_SECRET}").as_bytes()));
    let in_header = request.asked.headers.get("authorization") == Some(&basic);
    if platform == "klaviyo" { in_header } else { in_form }
}

fn token(state: &mut State, platform: &str, form: &BTreeMap<String, String>) -> (u16, Value) {
    let get = |name: &str| form.get(name).cloned().unwrap_or_default();
    let mut grants = state.grants.iter_mut().filter(|grant| grant.platform == platform && !grant.is_revoked);
    let found = match get("grant_type").as_str() {
        "authorization_code" => {
            let challenge = BASE64URL_NOPAD.encode(&Sha256::digest(get("code_verifier").as_bytes()));
            let found = grants.find(|grant| grant.code == get("code") && !grant.is_used && grant.redirect == get("redirect_uri"));
            found.filter(|grant| platform == "mailchimp" || grant.challenge == challenge)
        }
        "refresh_token" if platform != "mailchimp" => grants.find(|grant| grant.refresh() == get("refresh_token")),
        _ => return refused("unsupported_grant_type"),
    };
    let Some(grant) = found else { return refused("invalid_grant") };
    grant.is_used = true;
    grant.issued += 1;
    let (access, refresh) = (grant.access(), grant.refresh());
    let mut answer = json!({ "access_token": access, "refresh_token": refresh, "token_type": "bearer" });
    match platform {
        "mailchimp" => answer = json!({ "access_token": access, "expires_in": 0, "scope": null }),
        "klaviyo" => (answer["expires_in"], answer["scope"]) = (3_600.into(), grant.scope.clone().into()),
        _ => {
            let scopes: Vec<&str> = grant.scope.split(' ').collect();
            (answer["expires_in"], answer["scopes"]) = (1_800.into(), json!(scopes));
        }
    }
    (200, answer)
}

fn revoke(state: &mut State, platform: &str, form: &BTreeMap<String, String>) -> (u16, Value) {
    let token = form.get("token").cloned().unwrap_or_default();
    let found = state.grants.iter_mut().find(|grant| grant.platform == platform && grant.refresh() == token);
    if let Some(grant) = found {
        grant.is_revoked = true;
    }
    (200, json!({}))
}

fn metadata(state: &State, request: &Request<'_>) -> (u16, Value) {
    let authorization = request.asked.headers.get("authorization").cloned().unwrap_or_default();
    let is_known = state.grants.iter().any(|grant| authorization == format!("OAuth {}", grant.access()));
    if is_known {
        (200, json!({ "dc": "us21", "role": "owner", "accountname": "Acme" }))
    } else {
        (401, json!({ "error": "invalid_token" }))
    }
}
