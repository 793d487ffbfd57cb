//! Form submissions, and the check that they come from the dashboard's own forms.
//!
//! There are two independent checks: the browser's report of the request's origin, and a token that only the dashboard's pages contain.

use std::convert::Infallible;

use bytes::Bytes;
use data_encoding::HEXLOWER;
use futures_util::stream;
use hmac::{Hmac, KeyInit, Mac};
use http::header::{CONTENT_TYPE, HOST, HeaderMap, ORIGIN};
use http::{StatusCode, Uri};
use multer::Multipart;
use sha2::Sha256;

use super::cookies::Jar;
use super::error::PageError;
use crate::base::secret::same;
use crate::engine::api::Engine;
use crate::engine::api::http_types::{Body, BodyError};
use crate::vocab::limits;

/// TABLE: lowercase words. A form field whose name contains one of these words can contain a secret.
const SECRET: [&str; 9] = ["auth", "code", "current", "header", "key", "password", "secret", "token", "uri"];
/// The form fields that users do not see.
const HIDDEN: [&str; 7] = ["act", "brief", "csrf", "do", "given", "next", "version"];

/// The prefix that marks the fields of another form in the sign-in form, which keeps them while the user signs in.
pub const CARRIED: &str = "carried.";
/// The prefix of the fields for confirming the password, in forms that require the password.
pub const CONFIRM: &str = "confirm-";

/// The names and values of a form's fields, in order; a name may occur several times.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    values: Vec<(String, String)>,
    files: Vec<(String, File)>,
}

#[derive(Clone, Debug)]
pub struct File {
    /// The file's name on the user's machine: untrusted text.
    pub name: String,
    pub bytes: Bytes,
}

impl Fields {
    /// Parses the fields from URL-encoded text. If the text is invalid, there are no fields.
    pub fn read(text: &[u8]) -> Self {
        Self { values: serde_urlencoded::from_bytes(text).unwrap_or_default(), files: Vec::new() }
    }

    pub fn of(values: Vec<(String, String)>) -> Self {
        Self { values, files: Vec::new() }
    }

    /// Reads the fields from the body of a submitted form. If `files` is given, the form may contain files of up to this many bytes in
    /// total.
    pub async fn collect(headers: &HeaderMap, body: Body, files: Option<usize>) -> Result<Self, PageError> {
        let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_plain = content_type.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded");
        let boundary = multer::parse_boundary(content_type).ok().filter(|_| files.is_some());
        if !is_plain && boundary.is_none() {
            return Err(PageError::plain(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "The form was sent in an unexpected format, so nothing was changed. Go back, reload the form, and submit it again.",
            ));
        }
        let body = body.collect(files.unwrap_or(limits::DASHBOARD_FORM_BYTES_MAX)).await.map_err(|error| match error {
            BodyError::TooLarge => PageError::plain(
                StatusCode::PAYLOAD_TOO_LARGE,
                "The form is too large. Shorten its text or upload a smaller file.",
            ),
            BodyError::TooSlow => {
                PageError::plain(StatusCode::REQUEST_TIMEOUT, "The form took too long to arrive. Submit it again.")
            }
            BodyError::Broken => PageError::broken_form(),
        })?;
        match boundary {
            Some(boundary) => Self::parts(body, boundary).await.map_err(|_| PageError::broken_form()),
            None => Ok(Self::read(&body)),
        }
    }

    async fn parts(body: Bytes, boundary: String) -> multer::Result<Self> {
        let chunks = stream::iter([Ok::<_, Infallible>(body)]);
        let mut parts = Multipart::new(chunks, boundary);
        let mut fields = Self::default();
        while let Some(part) = parts.next_field().await? {
            let Some(name) = part.name().map(ToOwned::to_owned) else { continue };
            match part.file_name().map(ToOwned::to_owned) {
                // If no file was chosen, browsers send a part with an empty file name.
                Some(file_name) if file_name.is_empty() => {}
                Some(file_name) => {
                    fields.files.push((name, File { name: file_name, bytes: part.bytes().await? }));
                }
                None => fields.values.push((name, part.text().await?)),
            }
        }
        Ok(fields)
    }

    /// Returns the fields as a URL query, with `name` set to this value.
    pub fn with(&self, name: &str, value: &str) -> String {
        let others = self.values.iter().map(|(name, value)| (name.as_str(), value.as_str())).filter(|(other, _)| *other != name);
        serde_urlencoded::to_string(others.chain([(name, value)]).collect::<Vec<_>>()).unwrap_or_default()
    }

    /// Returns what the user entered, with readable field names, for a page that cannot show the form itself. Omits secrets, IDs and hidden
    /// fields.
    pub fn entries(&self) -> Vec<(String, String)> {
        let is_id = |value: &str| value.len() == 24 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_hidden = |name: &str| HIDDEN.contains(&name) || name.starts_with("was.");
        let seen = self.values.iter().filter(|(name, value)| {
            !value.trim().is_empty() && !is_secret(name) && !is_hidden(name.as_str()) && !is_id(value.as_str())
        });
        seen.map(|(name, value)| (name.replace(['_', '.', '-'], " "), value.clone())).collect()
    }

    /// Returns the fields for submitting the form again; none if the form contains a secret or a file.
    pub fn repeatable(&self) -> Vec<(String, String)> {
        let has_secret = self.values.iter().any(|(name, value)| is_secret(name) && !value.is_empty());
        if has_secret || !self.files.is_empty() {
            return Vec::new();
        }
        self.values.iter().filter(|(name, _)| name != "csrf").cloned().collect()
    }

    /// Returns the fields for the sign-in form, with the prefix [`CARRIED`], without secrets and files. Returns no fields if their total
    /// size exceeds the limit.
    pub fn to_carry(&self) -> Vec<(String, String)> {
        let fields = self.values.iter().filter(|(name, _)| name != "csrf" && !is_secret(name));
        let carried: Vec<_> = fields.map(|(name, value)| (format!("{CARRIED}{name}"), value.clone())).collect();
        let bytes = serde_urlencoded::to_string(&carried).map_or(usize::MAX, |text| text.len());
        if bytes <= limits::DASHBOARD_CARRIED_BYTES_MAX { carried } else { Vec::new() }
    }

    /// Returns the fields whose names start with `prefix`, and removes the prefix from the names.
    pub fn under(&self, prefix: &str) -> Self {
        let own = |(name, value): &(String, String)| Some((name.strip_prefix(prefix)?.to_owned(), value.clone()));
        Self::of(self.values.iter().filter_map(own).collect())
    }

    /// Removes the fields whose names start with `prefix`.
    pub fn remove(&mut self, prefix: &str) {
        self.values.retain(|(name, _)| !name.starts_with(prefix));
    }

    /// Returns the file uploaded under this name.
    pub fn file(&self, name: &str) -> Option<&File> {
        self.files.iter().find(|(other, _)| other == name).map(|(_, file)| file)
    }

    /// Returns the first value under this name, trimmed; empty if there is none.
    pub fn get(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// Returns the first value under this name without trimming it, for passwords.
    pub fn raw(&self, name: &str) -> &str {
        self.values.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value)
    }

    /// Returns the first value under this name, if it is not empty.
    pub fn some(&self, name: &str) -> Option<&str> {
        Some(self.get(name)).filter(|value| !value.is_empty())
    }

    pub fn pairs(&self) -> &[(String, String)] {
        &self.values
    }

    pub fn has(&self, name: &str) -> bool {
        self.values.iter().any(|(other, _)| other == name)
    }

    pub fn all(&self, name: &str) -> Vec<&str> {
        self.values.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str()).collect()
    }
}

/// Returns whether a field with this name can contain a secret, which no page may show.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET.iter().any(|part| name.contains(part))
}

/// Returns the CSRF token of this browser's forms. The token is secret and changes with every sign-in.
pub fn token(engine: &Engine, jar: &Jar, is_signed_in: bool) -> String {
    // A session token that is not valid is ignored: an attacker may have set it, and could derive the form token from it.
    match (jar.session().filter(|_| is_signed_in), jar.guest()) {
        (Some(session), _) => session_token(engine, session),
        (None, Some(guest)) => bound_token(engine, "guest", guest),
        (None, None) => String::new(),
    }
}

/// Returns the CSRF token for a session's forms.
pub fn session_token(engine: &Engine, session: &str) -> String {
    bound_token(engine, "session", session)
}

fn bound_token(engine: &Engine, kind: &str, tied_to: &str) -> String {
    let key = engine.seal.derive("mailmill dashboard forms v1");
    let mut sum = Hmac::<Sha256>::new_from_slice(&key).expect("HMAC accepts keys of any length");
    sum.update(format!("{kind}\0{tied_to}").as_bytes());
    HEXLOWER.encode(&sum.finalize().into_bytes())
}

/// Returns whether a form contains this browser's token.
pub fn is_right(token: &str, given: &str) -> bool {
    !token.is_empty() && same(token.as_bytes(), given.as_bytes())
}

/// Returns whether the browser reports that the request comes from one of the dashboard's pages. All current browsers send `Sec-Fetch-Site`
/// or `Origin` with a form; a request without both headers is rejected.
pub fn is_own(engine: &Engine, uri: &Uri, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text("sec-fetch-site") {
        return site == "same-origin";
    }
    let Some(origin) = text(ORIGIN.as_str()) else { return false };
    let host = text(HOST.as_str()).or_else(|| uri.authority().map(|authority| authority.as_str()));
    let origin_host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    origin == engine.base_url() || (origin_host.is_some() && origin_host == host)
}

/// Returns `given` if it is a path on this site of at most `bytes_max` bytes. Anything else could redirect to another site.
pub fn own_path(given: &str, bytes_max: usize) -> Option<&str> {
    let is_plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    let is_own = given.starts_with('/') && !given.starts_with("//") && given.len() <= bytes_max && given.bytes().all(is_plain);
    is_own.then_some(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_paths_are_accepted() {
        for right in ["/", "/test/settings/keys", "/agent?code=BCDF-GHJK"] {
            assert_eq!(own_path(right, 500), Some(right));
        }
        for wrong in [
            "",
            "//evil.example",
            "https://evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "javascript:alert(1)",
            "/\tevil",
            "/a\r\nSet-Cookie: x",
            "evil.example",
            " /x",
            "///evil.example",
            "/é",
        ] {
            assert_eq!(own_path(wrong, 500), None, "{wrong}");
        }
        assert_eq!(own_path(&format!("/{}", "x".repeat(500)), 500), None);
    }

    #[test]
    fn entries_contain_no_secrets_and_a_form_with_a_secret_is_not_repeated() {
        let id = "66f1a2b3d4e5f60718293a4b";
        let form = Fields::read(format!("csrf=1&act=save&from_name=Ada+B&brand={id}&note=").as_bytes());
        assert_eq!(form.entries(), [("from name".to_owned(), "Ada B".to_owned())]);
        let names: Vec<String> = form.repeatable().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["act", "from_name", "brand", "note"]);
        let form = Fields::read(b"name=Shop&apiSecret=hidden");
        assert_eq!((form.entries().len(), form.repeatable().len()), (1, 0));
    }

    #[test]
    fn the_sign_in_form_carries_fields_without_secrets_up_to_a_limit() {
        let form = Fields::read(b"csrf=1&act=save&name=Ada&apiSecret=hidden&name=Bob");
        let carried = Fields::of(form.to_carry());
        assert_eq!(carried.under(CARRIED).repeatable(), Fields::read(b"act=save&name=Ada&name=Bob").repeatable());
        assert!(carried.under(CONFIRM).pairs().is_empty());
        let text = "a".repeat(limits::DASHBOARD_CARRIED_BYTES_MAX);
        assert!(Fields::of(vec![("name".into(), text)]).to_carry().is_empty());
    }

    #[test]
    fn every_password_field_is_known_to_be_secret() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/dashboard");
        let mut found = 0;
        for file in std::fs::read_dir(folder).expect("the folder exists") {
            let path = file.expect("the folder is readable").path();
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let inputs = text.split("<input ").skip(1).filter_map(|rest| rest.split_once('>').map(|(input, _)| input));
            for input in inputs.filter(|input| input.contains("type=\"password\"")) {
                let name = input.split("name=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("the field has a name");
                assert!(is_secret(name), "{}: {name}", path.display());
                found += 1;
            }
        }
        assert!(found > 8, "{found}");
    }

    #[test]
    fn an_empty_token_is_never_valid() {
        assert!(!is_right("", "") && !is_right("a", "") && !is_right("a", "b") && is_right("a", "a"));
    }
}
