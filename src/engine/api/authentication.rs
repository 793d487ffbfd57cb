//! Authentication and authorization: which principal a request comes from, and whether that principal may call an operation.

use std::sync::Arc;

use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderName, HeaderValue, WWW_AUTHENTICATE};

use super::caller::Principal;
use super::engine::Engine;
use super::failure::{Failure, Refusal};
use super::spec::{Access, Spec};
use crate::base::clock::Timestamp;
use crate::engine::access::keys::ApiKey;
use crate::engine::access::{access_tokens, token};
use crate::vocab::codes::Code;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Returns the principal of a request, or an error if the operation does not accept the request's credentials. If the surface has already
/// authenticated the caller, `known` is the caller's principal.
pub(super) fn authenticate(
    engine: &Engine,
    now: Timestamp,
    spec: &Spec,
    headers: &HeaderMap,
    known: Option<Principal>,
) -> Result<Principal, Refusal> {
    match spec.access {
        Access::Public => Ok(Principal::Anonymous),
        Access::Operator => Ok(Principal::Operator),
        Access::Needs(_) | Access::NeedsOne(_) | Access::Person | Access::Manager => {
            match known {
                Some(Principal::User(who)) => return Ok(Principal::User(who)),
                Some(Principal::Key(key)) if !spec.access.is_personal() => return Ok(Principal::Key(key)),
                _ => {}
            }
            let presented = presented(headers);
            let found = presented.and_then(|text| find(engine, now, spec, text));
            found.ok_or_else(|| unauthorized(engine, spec, presented))
        }
    }
}

/// Returns the principal that this key or token authenticates, if the operation accepts this kind of credential.
fn find(engine: &Engine, now: Timestamp, spec: &Spec, presented: &str) -> Option<Principal> {
    match token::parse(presented) {
        Ok(_) if spec.access.is_personal() => None,
        Ok(key) => engine.keys.find(&key).map(Principal::Key),
        Err(_) if spec.takes_tokens => engine.signed_in(presented, now).map(Principal::User),
        Err(_) => None,
    }
}

/// Returns the API key of a request to the MCP server: the key itself, or the key that an access token for the MCP server stands for.
pub(super) fn tool_key(engine: &Engine, headers: &HeaderMap) -> Option<Arc<ApiKey>> {
    let presented = presented(headers)?;
    if let Ok(key) = token::parse(presented) {
        return engine.keys.find(&key);
    }
    let resource = access_tokens::resource(engine.base_url());
    let token = engine.access_tokens.find(presented, &resource, engine.clock.now())?;
    Some(engine.keys.by_hash(&token.key)?.limited_to(token.permissions))
}

fn unauthorized(engine: &Engine, spec: &Spec, presented: Option<&str>) -> Refusal {
    let failure = match (spec.access.is_personal(), presented) {
        (true, Some(key)) if token::parse(key).is_ok() => {
            let detail = "This operation requires a signed-in user, not an API key; get a token with POST /v1/auth/login.";
            Failure::because(Code::NotSignedIn, detail)
        }
        (true, _) => Code::NotSignedIn.into(),
        (false, _) => Code::InvalidApiKey.into(),
    };
    let error = if presented.is_some() { r#", error="invalid_token""# } else { "" };
    Refusal { failure, header: Some(Box::new((WWW_AUTHENTICATE, challenge(engine, error)))) }
}

/// Returns the authentication challenge. The challenge has no error code if no credentials were sent (RFC 6750 §3.1), and it names the
/// metadata in which agents find further instructions (RFC 9728 §5.1).
pub(super) fn challenge(engine: &Engine, error: &str) -> HeaderValue {
    let metadata = format!("{}/.well-known/oauth-protected-resource", engine.base_url());
    let challenge = format!(r#"Bearer realm="mailmill"{error}, resource_metadata="{metadata}""#);
    HeaderValue::from_str(&challenge).unwrap_or(HeaderValue::from_static(r#"Bearer realm="mailmill""#))
}

/// Returns the API key or token of the request, from `Authorization: Bearer`, `Authorization: ApiKey` or `X-API-Key`.
fn presented(headers: &HeaderMap) -> Option<&str> {
    if let Some(value) = headers.get(AUTHORIZATION) {
        let (scheme, key) = value.to_str().ok()?.split_once(' ')?;
        let known = scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("apikey");
        return known.then(|| key.trim());
    }
    headers.get(API_KEY)?.to_str().ok()
}

/// Checks that the principal has the role or permission that the operation requires, or, if the operation accepts several permissions, at
/// least one of them.
pub(super) fn authorize(spec: &Spec, principal: &Principal) -> Result<(), Refusal> {
    let granted = principal.permissions();
    let (allowed, scope) = match spec.access {
        Access::Needs(permission) => (granted.contains(permission), permission.word()),
        Access::NeedsOne(permissions) => {
            (permissions.iter().any(|permission| granted.contains(*permission)), permissions[0].word())
        }
        Access::Manager => return manages(principal),
        Access::Public | Access::Person | Access::Operator => (true, ""),
    };
    if allowed {
        return Ok(());
    }
    let challenge = format!(r#"Bearer realm="mailmill", error="insufficient_scope", scope="{scope}""#);
    let header = HeaderValue::from_str(&challenge).expect("permission names are ASCII");
    let failure = Failure::new(Code::InsufficientPermissions).with(serde_json::json!({ "permission": scope }));
    Err(Refusal { failure, header: Some(Box::new((WWW_AUTHENTICATE, header))) })
}

fn manages(principal: &Principal) -> Result<(), Refusal> {
    match principal {
        Principal::User(who) if who.user.role.manages() => Ok(()),
        _ => Err(Failure::because(
            Code::InsufficientPermissions,
            "Only the account's owner and admins can use this operation; sign in as one of them.",
        )
        .into()),
    }
}
