//! Signing in to the platforms: OAuth 2 with an authorization code (RFC 6749), and with PKCE (RFC 7636) if the platform supports it.
//!
//! The user starts in the dashboard, consents on the platform, and returns to the callback page with a code. The `state` parameter is
//! sealed and names the session, so that only the session that started the sign-in can complete it. Mailchimp supports neither PKCE nor
//! scopes, and its tokens do not expire; a separate endpoint returns the data center of an account.

use bytes::Bytes;
use data_encoding::{BASE64, BASE64URL_NOPAD};
use http::Method;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use url::Url;

use super::client::{LIMITS, message};
use super::credentials::{Credentials, Tokens, open, seal};
use super::error::PlatformError;
use super::model::Connection;
use super::response::retry_after;
use super::{platform, store};
use crate::base::clock::Timestamp;
use crate::base::secret::{Secret, sha256};
use crate::engine::api::{Caller, Engine, Failure};
use crate::engine::fetch::CallRequest;
use crate::engine::store::{Error as StoreError, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{ConnectionId, ProjectId, SessionId};
use crate::vocab::limits;
use crate::vocab::providers::{ConnectionUse, Provider};
use crate::vocab::settings::Connections;

/// The scope that HubSpot requires every app to request, with its purpose.
const HUBSPOT_APP: (&str, &str) = ("oauth", "HubSpot requires this scope of every app.");

/// The error if tokens are not refreshed because sending is on hold: a platform that replaces the refresh token at each refresh would
/// disconnect the original installation.
pub const REFRESH_HELD: &str = "Sending is on hold because this data was restored or copied, so the access tokens are not refreshed: \
                                the original installation may still use them. Resume sending first.";

/// The context for sealing `state` parameters. Bytes that were sealed with another context cannot be opened as a `state`.
const STATE: &[u8] = b"connections/state";

/// This installation's registration as an OAuth client of a platform.
pub struct App<'s> {
    id: &'s str,
    secret: &'s Secret,
    /// The origin of the pages on which users sign in.
    login: &'s str,
}

/// Returns the OAuth client that the settings contain for this platform; `None` if they contain none.
pub fn app(settings: &Connections, provider: Provider) -> Option<App<'_>> {
    let (id, secret, login) = match provider {
        Provider::Klaviyo => (&settings.klaviyo_client_id, &settings.klaviyo_client_secret, &settings.klaviyo_login_url),
        Provider::Mailchimp => (&settings.mailchimp_client_id, &settings.mailchimp_client_secret, &settings.mailchimp_login_url),
        Provider::HubSpot => (&settings.hubspot_client_id, &settings.hubspot_client_secret, &settings.hubspot_login_url),
    };
    Some(App { id: id.as_deref()?, secret: secret.as_ref()?, login })
}

/// The end of [`session`]'s error message: how API clients connect an account without a signed-in user.
pub const CONNECT_WITH_KEY: &str = "connect the account with an API key of the platform: POST /v1/connections/{provider}";

/// Returns the session of the signed-in user, who has to consent on the platform. The error for other callers ends with `alternative`:
/// how API clients connect the account or store instead.
pub fn session(caller: &Caller, alternative: &str) -> Result<SessionId, Failure> {
    let user = caller.user_session().map_err(|_| {
        let detail = format!(
            "A Mailmill API key cannot start or complete a sign-in to another platform. Sign in to the dashboard, or {alternative}."
        );
        Failure::because(Code::InsufficientPermissions, detail)
    })?;
    Ok(user.session.id)
}

/// Returns the scopes that users grant for these uses, each with its purpose. Mailchimp has no scopes: its tokens have all permissions of
/// the user.
pub fn scopes(provider: Provider, uses: &[ConnectionUse]) -> Vec<(&'static str, &'static str)> {
    let app = (provider == Provider::HubSpot).then_some(HUBSPOT_APP);
    let mut all: Vec<_> = app.into_iter().chain(platform::account_scope(provider)).collect();
    for one in ConnectionUse::ALL.into_iter().filter(|one| uses.contains(one)) {
        let needed = match one {
            ConnectionUse::Imports => platform::scopes(provider),
            ConnectionUse::Exports => platform::export_scopes(provider),
        };
        all.extend(needed.iter().filter(|scope| Some(**scope) != platform::account_scope(provider)));
    }
    all
}

/// Returns the callback URL that the platform redirects the user to. The URL must be registered with the platform.
pub fn redirect_url(engine: &Engine, provider: Provider) -> String {
    format!("{}/connections/{}/callback", engine.base_url(), provider.alias())
}

/// A sign-in in progress, as sealed in the `state` parameter.
#[derive(Debug, Serialize, Deserialize)]
pub struct SignIn {
    pub session: SessionId,
    pub provider: Provider,
    pub project: Option<ProjectId>,
    /// The connection to reconnect; `None` to connect a new account.
    pub connection: Option<ConnectionId>,
    pub name: Option<String>,
    /// What the user allows the connection to do.
    pub uses: Vec<ConnectionUse>,
    pub verifier: String,
    pub expires_at: Timestamp,
}

impl SignIn {
    /// Returns a new code verifier: 43 characters with 256 random bits.
    pub fn verifier(engine: &Engine) -> String {
        BASE64URL_NOPAD.encode(&engine.random.bytes::<32>())
    }

    /// Returns the sealed state, which starts with the name of the environment.
    pub fn to_state(&self, engine: &Engine, environment: Environment) -> String {
        let text = serde_json::to_vec(self).expect("the state can be written as JSON");
        format!("{environment}.{}", BASE64URL_NOPAD.encode(&engine.seal.seal(STATE, &text, engine.random.as_ref())))
    }

    /// Opens the `state` parameter of a sign-in in this environment, even if the sign-in has expired; returns `None` if this installation
    /// did not seal it.
    pub fn of_state(engine: &Engine, environment: Environment, state: &str) -> Option<Self> {
        let sealed = state.strip_prefix(environment.word())?.strip_prefix('.')?;
        let bytes = engine.seal.open(STATE, &BASE64URL_NOPAD.decode(sealed.as_bytes()).ok()?)?;
        serde_json::from_slice(&bytes).ok()
    }

    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires_at <= now
    }
}

/// Returns the digest that identifies a sign-in by its state.
pub fn digest(state: &str) -> [u8; 16] {
    *sha256(state.as_bytes()).first_chunk().expect("a SHA-256 digest has 32 bytes")
}

/// Returns the environment that a state names.
pub fn environment_of(state: &str) -> Option<Environment> {
    state.split_once('.')?.0.parse().ok()
}

/// Returns the URL of the platform's page on which the user consents.
pub fn consent_url(engine: &Engine, app: &App<'_>, sign_in: &SignIn, state: &str) -> Result<String, PlatformError> {
    let provider = sign_in.provider;
    let path = match provider {
        Provider::Klaviyo | Provider::HubSpot => "/oauth/authorize",
        Provider::Mailchimp => "/oauth2/authorize",
    };
    let mut url = address(app.login, path)?;
    let redirect = redirect_url(engine, provider);
    let mut query = url.query_pairs_mut();
    query.extend_pairs([("response_type", "code"), ("client_id", app.id), ("redirect_uri", redirect.as_str()), ("state", state)]);
    if provider != Provider::Mailchimp {
        let scopes: Vec<&str> = scopes(provider, &sign_in.uses).into_iter().map(|(scope, _)| scope).collect();
        let challenge = BASE64URL_NOPAD.encode(&sha256(sign_in.verifier.as_bytes()));
        let pkce = [("scope", scopes.join(" ")), ("code_challenge", challenge), ("code_challenge_method", "S256".to_owned())];
        query.extend_pairs(pkce);
    }
    drop(query);
    Ok(url.into())
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: Secret,
    refresh_token: Option<Secret>,
    expires_in: Option<i64>,
    /// The granted scopes, as Klaviyo returns them (RFC 6749 §5.1).
    scope: Option<String>,
    /// The granted scopes, as HubSpot returns them.
    scopes: Option<Vec<String>>,
}

impl TokenResponse {
    /// Returns the requested uses whose scopes were all granted. A response without scopes grants what was requested.
    fn granted(&self, provider: Provider, requested: &[ConnectionUse]) -> Vec<ConnectionUse> {
        let requested = ConnectionUse::ALL.into_iter().filter(|one| requested.contains(one));
        let of_text = |text: &String| text.split([' ', ',']).map(str::to_owned).collect();
        let Some(granted) = self.scopes.clone().or_else(|| self.scope.as_ref().map(of_text)) else {
            return requested.collect();
        };
        let has_all = |one: &ConnectionUse| {
            scopes(provider, &[*one]).iter().all(|(scope, _)| granted.iter().any(|granted| granted == scope))
        };
        requested.filter(has_all).collect()
    }

    fn into_tokens(self, now: Timestamp) -> Tokens {
        // Zero means that the token does not expire.
        let expires_at = self.expires_in.filter(|seconds| *seconds > 0);
        let expires_at = expires_at.map(|seconds| now.plus_ms(seconds.saturating_mul(1_000)));
        Tokens { access: self.access_token, refresh: self.refresh_token, expires_at, region: String::new() }
    }
}

/// The tokens of an account, and what they allow.
pub struct Granted {
    pub tokens: Tokens,
    pub uses: Vec<ConnectionUse>,
}

#[derive(Deserialize)]
struct Metadata {
    dc: String,
}

/// Exchanges an authorization code for tokens.
pub async fn exchange(engine: &Engine, sign_in: &SignIn, code: &str) -> Result<Granted, PlatformError> {
    let redirect = redirect_url(engine, sign_in.provider);
    let mut fields = vec![("grant_type", "authorization_code"), ("code", code), ("redirect_uri", redirect.as_str())];
    if sign_in.provider != Provider::Mailchimp {
        fields.push(("code_verifier", sign_in.verifier.as_str()));
    }
    let response = request_tokens(engine, sign_in.provider, fields).await?;
    let uses = response.granted(sign_in.provider, &sign_in.uses);
    if uses.is_empty() {
        return Err(PlatformError::Rejected("the permissions that Mailmill needs were not granted".to_owned()));
    }
    let mut tokens = response.into_tokens(engine.clock.now());
    if sign_in.provider == Provider::Mailchimp {
        let Some(app) = app(&engine.settings.connections, sign_in.provider) else { return Err(not_set_up(sign_in.provider)) };
        let url = address(app.login, "/oauth2/metadata")?;
        let authorization = format!("OAuth {}", tokens.access.expose());
        let metadata: Metadata = call(engine, Method::GET, &url, Some(&authorization), &[]).await?;
        tokens.region = metadata.dc;
    }
    Ok(Granted { tokens, uses })
}

/// Refreshes the tokens of a connection if they expire soon.
pub async fn refresh_if_needed(engine: &Engine, environment: Environment, used: &mut Connection) -> Result<(), PlatformError> {
    match needs_refresh(engine, used)? {
        true => refresh(engine, environment, used, needs_refresh).await,
        false => Ok(()),
    }
}

/// Refreshes a token that the platform rejected before its expiry. Returns whether the connection now has a different token. Keys cannot be
/// refreshed.
pub async fn refresh_rejected(engine: &Engine, environment: Environment, used: &mut Connection) -> Result<bool, PlatformError> {
    let Some(Credentials::Tokens(Tokens { refresh: Some(_), .. })) = open(&engine.seal, used) else { return Ok(false) };
    let rejected = used.sealed_key.clone();
    refresh(engine, environment, used, |_, used| Ok(used.sealed_key == rejected)).await?;
    Ok(used.sealed_key != rejected)
}

/// Refreshes the tokens of a connection. Only one task at a time refreshes them. A task that waited uses the new tokens if the refresh
/// succeeded.
async fn refresh(
    engine: &Engine,
    environment: Environment,
    used: &mut Connection,
    is_due: impl Fn(&Engine, &Connection) -> Result<bool, PlatformError>,
) -> Result<(), PlatformError> {
    if engine.hold.is_on() {
        return Err(PlatformError::Unreachable(REFRESH_HELD.to_owned()));
    }
    let mut key = [b'r'; 13];
    key[1..].copy_from_slice(&used.id.0);
    let _turn = engine.key_locks.take(key).await;
    let data = engine.data(environment);
    let stored = store::find(&data.store.read(), used.account, used.id).map_err(not_stored)?;
    // The connection was removed after it was read.
    let Some(stored) = stored else { return Err(PlatformError::Missing) };
    *used = stored;
    if !is_due(engine, used)? {
        return Ok(());
    }
    let now = engine.clock.now();
    if let Some(until) = used.pause_at(now) {
        return Err(PlatformError::Busy { until, ms: until.ms_since(now).unsigned_abs() });
    }
    let Some(Credentials::Tokens(Tokens { refresh: Some(refresh), region, .. })) = open(&engine.seal, used) else {
        return Err(PlatformError::KeyLost);
    };
    let fields = vec![("grant_type", "refresh_token"), ("refresh_token", refresh.expose().as_str())];
    let fresh = request_tokens(engine, used.provider, fields).await?.into_tokens(engine.clock.now());
    // If the refresh token stays valid, the platform may omit it.
    let fresh = Tokens { refresh: Some(fresh.refresh.unwrap_or(refresh)), region, ..fresh };
    let sealed = seal(&engine.seal, (used.account, used.id), &Credentials::Tokens(fresh), engine.random.as_ref());
    let before = used.clone();
    let saving = move |tx: &mut WriteTx<'_>| -> Result<Option<Connection>, StoreError> { store::renew(tx, &before, sealed) };
    // The platform may have invalidated the old tokens, so the new tokens must be stored even if the disk is almost full.
    let renewed = data.store.write_essential(saving).await.and_then(|written| written).map_err(not_stored)?;
    *used = renewed.ok_or(PlatformError::Missing)?;
    Ok(())
}

fn needs_refresh(engine: &Engine, used: &Connection) -> Result<bool, PlatformError> {
    match open(&engine.seal, used).ok_or(PlatformError::KeyLost)? {
        Credentials::Tokens(Tokens { refresh: Some(_), expires_at: Some(expires_at), .. }) => {
            Ok(expires_at <= engine.clock.now().plus_ms(limits::PROVIDER_TOKEN_MARGIN_MS))
        }
        _ => Ok(false),
    }
}

fn not_stored(error: StoreError) -> PlatformError {
    PlatformError::Unavailable(format!("the tokens could not be stored: {error}"))
}

fn not_set_up(provider: Provider) -> PlatformError {
    PlatformError::Unreachable(format!(
        "Sign-in to {provider} is not set up; ask the operator to set up the sign-in under [connections] in the settings."
    ))
}

/// Revokes a connection's tokens; returns whether the platform revoked them. Mailchimp has no endpoint for revocation. While sending is
/// on hold, nothing is revoked, because the original installation may use the same tokens.
pub async fn revoke(engine: &Engine, used: &Connection) -> Result<bool, PlatformError> {
    if engine.hold.is_on() {
        return Ok(false);
    }
    let Some(Credentials::Tokens(Tokens { access, refresh, .. })) = open(&engine.seal, used) else { return Ok(false) };
    let (Some(app), settings) = (app(&engine.settings.connections, used.provider), &engine.settings.connections) else {
        return Ok(false);
    };
    let (token, hint) = match &refresh {
        Some(refresh) => (refresh, "refresh_token"),
        None => (&access, "access_token"),
    };
    let url = match used.provider {
        Provider::Klaviyo => address(&settings.klaviyo_url, "/oauth/revoke")?,
        Provider::HubSpot => address(&settings.hubspot_url, "/oauth/2026-03/token/revoke")?,
        Provider::Mailchimp => return Ok(false),
    };
    let fields = vec![("token", token.expose().as_str()), ("token_type_hint", hint)];
    let _: serde::de::IgnoredAny = post(engine, used.provider, &app, &url, fields).await?;
    Ok(true)
}

async fn request_tokens(engine: &Engine, provider: Provider, fields: Vec<(&str, &str)>) -> Result<TokenResponse, PlatformError> {
    let settings = &engine.settings.connections;
    let app = app(settings, provider).ok_or_else(|| not_set_up(provider))?;
    let url = match provider {
        Provider::Klaviyo => address(&settings.klaviyo_url, "/oauth/token")?,
        Provider::HubSpot => address(&settings.hubspot_url, "/oauth/2026-03/token")?,
        Provider::Mailchimp => address(app.login, "/oauth2/token")?,
    };
    post(engine, provider, &app, &url, fields).await
}

/// Posts a form with the client's credentials: for Klaviyo in a header, for Mailchimp and HubSpot in the form.
async fn post<'f, T: DeserializeOwned>(
    engine: &Engine,
    provider: Provider,
    app: &App<'f>,
    url: &Url,
    mut fields: Vec<(&'f str, &'f str)>,
) -> Result<T, PlatformError> {
    let basic = match provider {
        Provider::Klaviyo => Some(format!("Basic {}", BASE64.encode(format!("{}:{}", app.id, app.secret.expose()).as_bytes()))),
        Provider::Mailchimp | Provider::HubSpot => {
            fields.extend([("client_id", app.id), ("client_secret", app.secret.expose().as_str())]);
            None
        }
    };
    call(engine, Method::POST, url, basic.as_deref(), &fields).await
}

/// The code of an error (RFC 6749 §5.2).
#[derive(Deserialize)]
struct OAuthError {
    error: String,
}

async fn call<T: DeserializeOwned>(
    engine: &Engine,
    method: Method,
    url: &Url,
    authorization: Option<&str>,
    fields: &[(&str, &str)],
) -> Result<T, PlatformError> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    if let Some(text) = authorization {
        let mut value = HeaderValue::from_str(text)
            .map_err(|_| PlatformError::Malformed("the token contains invalid characters".to_owned()))?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    let body = serde_urlencoded::to_string(fields).map_err(|error| {
        PlatformError::Unreachable(format!("The request to the platform cannot be encoded: {error}; report this bug."))
    })?;
    let request = CallRequest { method, url, headers, body: Bytes::from(body), limits: &LIMITS };
    let response = engine.fetch.call(request).await.map_err(|error| match error.is_passing() {
        true => PlatformError::Unavailable(error.to_string()),
        false => PlatformError::Unreachable(error.to_string()),
    })?;
    let status = response.status;
    if !status.is_success() {
        let now = engine.clock.now();
        let pause = response.header(RETRY_AFTER.as_str()).and_then(|text| retry_after(text, now));
        if let Some(pause) = pause.filter(|_| matches!(status.as_u16(), 429 | 503)) {
            let ms = pause.as_millis().max(1) as u64;
            return Err(PlatformError::Busy { until: now.plus_ms(ms as i64), ms });
        }
        let said = message(&response.body);
        let is_code = |code: &str| serde_json::from_slice::<OAuthError>(&response.body).is_ok_and(|body| body.error == code);
        // The statuses 400, 401 and 403 mean that the platform rejects the client, the code or the refresh token.
        return Err(match status.as_u16() {
            // The platform rejected the OAuth client, not the tokens. The tokens may be valid, so users do not need to sign in again.
            400 | 401 if is_code("invalid_client") => PlatformError::Unreachable(format!(
                "The platform does not accept the client ID and secret in the settings ({said}); the operator must correct them under \
                 [connections]."
            )),
            400 | 401 | 403 => PlatformError::Rejected(said),
            _ => PlatformError::Unavailable(format!("status {}: {said}", status.as_u16())),
        });
    }
    let read = if response.body.is_empty() { b"null" } else { response.body.as_slice() };
    // The error is dropped, because its text could quote a token.
    serde_json::from_slice(read).map_err(|_| PlatformError::Malformed("it is not valid JSON, or lacks fields".to_owned()))
}

fn address(origin: &str, path: &str) -> Result<Url, PlatformError> {
    let reason = "The address of this platform in the settings is not a URL; the operator must correct it under [connections].";
    Url::parse(origin).and_then(|url| url.join(path)).map_err(|_| PlatformError::Unreachable(reason.to_owned()))
}
