//! The clients that request access from users. A client either registers here (RFC 7591), or its ID is the HTTPS URL of a document with
//! its metadata.
//!
//! A registration is not stored: the client ID itself contains it, sealed with the installation's key. Registrations therefore need no
//! limit on their number, survive restarts and restores, and cannot fill the disk. All clients are public: they have no secret, and PKCE
//! binds each code to the client that requested it.

use std::fmt;

use bytes::Bytes;
use data_encoding::BASE64URL_NOPAD;
use http::header::{ACCEPT, HeaderMap, HeaderValue};
use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use url::{Host, Url};

use crate::base::text::{Name, TextError, is_invisible};
use crate::engine::api::Engine;
use crate::engine::fetch::{CallRequest, Limits, OversizePolicy};
use crate::vocab::limits;

/// The start of the ID of every registered client.
const PREFIX: &str = "mm_client_";
/// The request parameter that contains the client ID.
const CLIENT_ID: &str = "client_id";
/// The context for sealing client IDs. Sealed bytes open only with the same context.
const PLACE: &[u8] = b"oauth client v1";

/// An OAuth client: a program that asks users for access.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// The name that the client chose.
    pub name: String,
    pub redirect_uris: Vec<String>,
    /// The host that published the metadata document. It proves where the client comes from, unlike the client's name. `None` for a
    /// registered client.
    #[serde(skip)]
    pub host: Option<String>,
}

/// An invalid parameter, or an invalid field in a client's metadata. The error text is a sentence whose subject is the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    pub field: &'static str,
    /// The part of the sentence after the field's name: what is wrong, and the remedy.
    pub problem: String,
}

impl Invalid {
    fn new(field: &'static str, problem: impl Into<String>) -> Self {
        Self { field, problem: problem.into() }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}.", self.field, self.problem)
    }
}

impl Client {
    /// Creates a client from the name and the redirect URIs in its registration; fails if either is invalid.
    pub fn new(name: Option<&str>, redirect_uris: Vec<String>) -> Result<Self, Invalid> {
        let name = name.map(str::trim).filter(|name| !name.is_empty()).unwrap_or("Unnamed program");
        let name = Name::<{ limits::AGENT_NAME_CHARACTERS_MAX }>::parse(name);
        let name = name.map_err(|error| Invalid::new("client_name", problem_of(error)))?;
        // The user decides on the basis of this name, so it must not hide or reverse the text around it.
        if name.chars().any(is_invisible) {
            return Err(Invalid::new("client_name", "contains an invisible character; remove it"));
        }
        let refused = |problem: String| Err(Invalid::new("redirect_uris", problem));
        let count = redirect_uris.len();
        if count == 0 || count > limits::REDIRECT_URIS_MAX {
            return refused(format!("must have 1 to {} entries", limits::REDIRECT_URIS_MAX));
        }
        if redirect_uris.iter().map(String::len).sum::<usize>() > limits::REDIRECT_URIS_BYTES_MAX {
            return refused(format!("must have at most {} bytes in total; shorten the URIs", limits::REDIRECT_URIS_BYTES_MAX));
        }
        if let Some(wrong) = redirect_uris.iter().find(|uri| !is_redirect_uri(uri)) {
            let wrong: String = wrong.chars().filter(|character| !character.is_control() && !is_invisible(*character)).collect();
            return refused(format!(
                "must not contain {wrong}; use an https URI, an http URI with a loopback address, or a URI with a custom scheme. \
                 A URI must not have a fragment, a user name, a password, spaces or invisible characters"
            ));
        }
        Ok(Self { name: name.to_string(), redirect_uris, host: None })
    }

    /// Returns the ID that contains this registration.
    pub fn id(&self, engine: &Engine) -> String {
        let text = serde_json::to_vec(self).expect("a client is text");
        format!("{PREFIX}{}", BASE64URL_NOPAD.encode(&engine.seal.seal(PLACE, &text, engine.random.as_ref())))
    }

    /// Returns whether the client may receive codes at this URI. The URI must equal a registered URI, but a loopback URI may have any port,
    /// because clients listen on a free port (RFC 8252 §7.3).
    pub fn accepts(&self, redirect_uri: &str) -> bool {
        is_redirect_uri(redirect_uri)
            && self.redirect_uris.iter().any(|registered| {
                registered == redirect_uri
                    || without_port(registered).is_some_and(|own| without_port(redirect_uri).is_some_and(|given| own == given))
            })
    }
}

/// Returns a loopback URI without its port; `None` for other URIs.
fn without_port(uri: &str) -> Option<Url> {
    let mut url = Url::parse(uri).ok().filter(is_loopback)?;
    url.set_port(None).ok()?;
    Some(url)
}

fn is_loopback(url: &Url) -> bool {
    let host = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    url.scheme() == "http" && host
}

/// URI schemes that a redirect URI must not have: schemes whose content a browser would run or show, and well-known schemes of other
/// programs, such as `mailto`.
const REFUSED_SCHEMES: [&str; 14] = [
    "javascript",
    "data",
    "vbscript",
    "file",
    "filesystem",
    "blob",
    "about",
    "view-source",
    "chrome",
    "ftp",
    "ws",
    "wss",
    "mailto",
    "tel",
];

fn is_redirect_uri(uri: &str) -> bool {
    let Ok(url) = Url::parse(uri) else { return false };
    let is_plain = url.fragment().is_none() && url.username().is_empty() && url.password().is_none();
    let has_hidden = uri.chars().any(|character| character.is_control() || character.is_whitespace() || is_invisible(character));
    let is_allowed = match url.scheme() {
        "https" => url.host().is_some(),
        "http" => is_loopback(&url),
        scheme => !REFUSED_SCHEMES.contains(&scheme),
    };
    is_plain && !has_hidden && is_allowed
}

/// Returns what is wrong with a name, as the end of a sentence whose subject is the field.
fn problem_of(error: TextError) -> String {
    match error {
        TextError::Empty => "is empty; enter at least one character".into(),
        TextError::TooLong { characters_max } => format!("is longer than {characters_max} characters; shorten it"),
        TextError::ControlCharacter(character) => {
            format!("contains the control character U+{:04X}; remove it", u32::from(character))
        }
    }
}

/// Returns the client with this ID. The error is shown to the user, because the client opened the consent page in the user's browser with
/// this ID.
pub async fn find(engine: &Engine, client_id: &str) -> Result<Client, Invalid> {
    if client_id.len() > limits::CLIENT_ID_BYTES_MAX {
        let problem = format!("is longer than {} bytes; report this to the program's developer", limits::CLIENT_ID_BYTES_MAX);
        return Err(Invalid::new(CLIENT_ID, problem));
    }
    if client_id.starts_with("https://") {
        return fetched(engine, client_id).await;
    }
    let sealed = client_id.strip_prefix(PREFIX).and_then(|text| BASE64URL_NOPAD.decode(text.as_bytes()).ok());
    let opened = sealed.and_then(|sealed| engine.seal.open(PLACE, &sealed));
    opened.and_then(|text| serde_json::from_slice(&text).ok()).ok_or_else(|| {
        Invalid::new(
            CLIENT_ID,
            "is unknown to this server; in the program that you are connecting, remove this server and add it again",
        )
    })
}

/// Fetches the metadata document of a client whose ID is the document's URL.
async fn fetched(engine: &Engine, client_id: &str) -> Result<Client, Invalid> {
    let refused = |problem: String| Invalid::new(CLIENT_ID, problem);
    let url = Url::parse(client_id).map_err(|_| refused("is not a valid URL; report this to the program's developer".into()))?;
    if url.path() == "/" || url.fragment().is_some() || url.query().is_some() || url.as_str() != client_id {
        return Err(refused(
            "must be a normalized URL with a path, without a query or a fragment; report this to the program's developer".into(),
        ));
    }
    let limits = Limits {
        head: limits::CLIENT_METADATA_TIME,
        total: limits::CLIENT_METADATA_TIME,
        body_bytes: limits::CLIENT_METADATA_BYTES_MAX,
        overlong: OversizePolicy::Refuse,
    };
    let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
    // Redirects are not followed, because another party may control the document at the target.
    let call = CallRequest { method: Method::GET, url: &url, headers, body: Bytes::new(), limits: &limits };
    let fetched = engine.fetch.call(call).await;
    let fetched = fetched.map_err(|error| {
        refused(format!(
            "points to metadata that cannot be read. {error} If the problem continues, report it to the program's developer."
        ))
    })?;
    match fetched.status {
        StatusCode::OK => described(client_id, &url, &fetched.body),
        status if status.is_redirection() => Err(refused(format!(
            "redirects (status {}), which is not allowed; report this to the program's developer",
            status.as_u16()
        ))),
        status => {
            let status = status.as_u16();
            Err(refused(format!(
                "points to metadata that cannot be read: the server returned status {status} instead of 200; try again later, or \
                 report this to the program's developer"
            )))
        }
    }
}

/// Returns the client that a metadata document describes.
fn described(client_id: &str, url: &Url, body: &[u8]) -> Result<Client, Invalid> {
    let document: Map<String, Value> = serde_json::from_slice(body).map_err(|_| {
        Invalid::new(CLIENT_ID, "points to metadata that is not a JSON object; report this to the program's developer")
    })?;
    let wrong = |field, problem: &str| Invalid::new(field, format!("is invalid in the program's metadata: it {problem}"));
    if document.get("client_id").and_then(Value::as_str) != Some(client_id) {
        return Err(wrong(CLIENT_ID, "must match the URL of the metadata; report this to the program's developer"));
    }
    if document.contains_key("client_secret") {
        return Err(wrong(
            "client_secret",
            "must be absent, because this server supports only clients without a secret; report this to the program's developer",
        ));
    }
    let method = document.get("token_endpoint_auth_method").and_then(Value::as_str);
    if method.is_some_and(|method| method != "none") {
        return Err(wrong(
            "token_endpoint_auth_method",
            "must be `none`, because this server supports only clients without a secret; report this to the program's developer",
        ));
    }
    let uris = document.get("redirect_uris").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let uris = uris.iter().filter_map(|uri| uri.as_str().map(str::to_owned)).collect();
    let client = Client::new(document.get("client_name").and_then(Value::as_str), uris);
    let client = client.map_err(|invalid| wrong(invalid.field, &invalid.problem))?;
    Ok(Client { host: url.host_str().map(str::to_owned), ..client })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn client(uris: &[&str]) -> Client {
        Client::new(Some("Agent"), uris.iter().map(|uri| (*uri).to_owned()).collect()).expect("the client is valid")
    }

    #[test]
    fn a_redirect_uri_must_match_exactly_except_for_a_loopback_port() {
        let one = client(&["https://app.example/callback", "http://127.0.0.1:3000/back?a=1", "cursor://agent/callback"]);
        for right in [
            "https://app.example/callback",
            "http://127.0.0.1:3000/back?a=1",
            "http://127.0.0.1:51234/back?a=1",
            "cursor://agent/callback",
        ] {
            assert!(one.accepts(right), "{right}");
        }
        for wrong in [
            "https://app.example/callback/",
            "https://app.example/callback?x",
            "https://app.example:444/callback",
            "https://app.example.evil/callback",
            "https://user@app.example/callback",
            "http://app.example/callback",
            "http://127.0.0.1:3000/other",
            "http://localhost:3000/back?a=1",
            "http://127.0.0.1:3000/back",
            "http://127.0.0.1.evil:3000/back?a=1",
            "https://app.example/callback#x",
            "cursor://agent/other",
            "",
        ] {
            assert!(!one.accepts(wrong), "{wrong}");
        }
    }

    #[test]
    fn dangerous_redirect_uris_cannot_be_registered() {
        for wrong in [
            "javascript:alert(1)",
            "data:text/html,x",
            "http://app.example/callback",
            "https://a.example/#x",
            "file:///etc/passwd",
            "relative",
            "https://a:b@a.example/",
            "//a.example/x",
            "https://a.example/\u{202e}x",
            "https://a.example/a b",
        ] {
            assert!(Client::new(None, vec![wrong.to_owned()]).is_err(), "{wrong}");
        }
        assert!(Client::new(None, Vec::new()).is_err());
        assert!(Client::new(None, vec!["https://a.example/".into(); limits::REDIRECT_URIS_MAX + 1]).is_err());
        let error =
            Client::new(Some("A\u{200b}gent"), vec!["https://a.example/".into()]).expect_err("the name hides a character");
        assert_eq!(error.to_string(), "client_name contains an invisible character; remove it.");
        let error = Client::new(Some(&"x".repeat(200)), Vec::new()).expect_err("the name is too long");
        assert_eq!(error.to_string(), "client_name is longer than 100 characters; shorten it.");
    }

    #[test]
    fn a_metadata_document_must_name_its_own_url_and_have_no_secret() {
        let id = "https://app.example/oauth/client.json";
        let url = Url::parse(id).expect("a URL");
        let document = json!({ "client_id": id, "client_name": "App", "redirect_uris": ["https://app.example/callback"] });
        let read = |document: &Value| described(id, &url, document.to_string().as_bytes());
        let client = read(&document).expect("the document is valid");
        assert_eq!((client.name.as_str(), client.host.as_deref()), ("App", Some("app.example")));
        for (field, value) in [
            ("client_id", json!("https://evil.example/client.json")),
            ("client_secret", json!("x")),
            ("token_endpoint_auth_method", json!("client_secret_basic")),
            ("redirect_uris", json!([])),
            ("redirect_uris", json!(["http://app.example/"])),
        ] {
            let mut wrong = document.clone();
            wrong[field] = value;
            let error = read(&wrong).expect_err("the document is not valid");
            assert!(error.to_string().starts_with(&format!("{field} is invalid in the program's metadata: it must ")), "{error}");
        }
        assert!(described(id, &url, b"[]").is_err());
    }
}
