//! The dashboard's cookies: the session, the form token of visitors without a session, and the last environment and brand.

use http::header::{COOKIE, HeaderMap, HeaderValue};

use crate::vocab::environment::Environment;
use crate::vocab::ids::ProjectId;

/// The dashboard's cookies in a request. The methods also create the cookies that a response sets.
pub struct Jar {
    session: Option<String>,
    guest: Option<String>,
    environment: Option<Environment>,
    brand: Option<String>,
    /// Whether the browser uses TLS. If so, cookie names have a prefix that no other host and no plain-HTTP page can set.
    tls: bool,
}

const SESSION: &str = "mailmill-session";
const GUEST: &str = "mailmill-guest";
const ENVIRONMENT: &str = "mailmill-environment";
const BRAND: &str = "mailmill-brand";
const HOST: &str = "__Host-";
const YEAR_SECONDS: i64 = 365 * 24 * 60 * 60;

impl Jar {
    /// Reads the cookies. If a name occurs more than once, every cookie with that name is ignored, because another site may have set one.
    pub fn read(headers: &HeaderMap, tls: bool) -> Self {
        let find = |name: &str| {
            let name = if tls { format!("{HOST}{name}") } else { name.to_owned() };
            let lines = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
            let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
            let mut values = pairs.filter(|(other, _)| *other == name).map(|(_, value)| value.to_owned());
            values.next().filter(|_| values.next().is_none())
        };
        let environment = find(ENVIRONMENT).and_then(|word| word.parse().ok());
        Self { session: find(SESSION), guest: find(GUEST), environment, brand: find(BRAND), tls }
    }

    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Returns the token that the forms of a visitor without a session are bound to.
    pub fn guest(&self) -> Option<&str> {
        self.guest.as_deref()
    }

    pub fn set_guest(&mut self, value: String) {
        self.guest = Some(value);
    }

    /// Returns the environment that the browser used last; the test environment by default.
    pub fn environment(&self) -> Environment {
        self.environment.unwrap_or(Environment::Test)
    }

    /// Returns the brand that the browser used last. The value is untrusted, so callers must check access to the brand.
    pub fn brand(&self) -> Option<&str> {
        self.brand.as_deref()
    }

    /// Returns a cookie that stores the last brand.
    pub fn keep_brand(&self, id: ProjectId) -> HeaderValue {
        self.line(BRAND, &id.to_string(), YEAR_SECONDS)
    }

    /// Returns a cookie that stores the session token for this many seconds.
    pub fn keep_session(&self, token: &str, seconds: i64) -> HeaderValue {
        self.line(SESSION, token, seconds)
    }

    /// Returns a cookie that deletes the session token.
    pub fn drop_session(&self) -> HeaderValue {
        self.line(SESSION, "", 0)
    }

    /// Returns a cookie that binds the forms of a visitor without a session to this browser for one hour.
    pub fn keep_guest(&self, value: &str) -> HeaderValue {
        self.line(GUEST, value, 60 * 60)
    }

    /// Returns a cookie that stores the last environment, unless the browser already stores it.
    pub fn keep_environment(&self, environment: Environment) -> Option<HeaderValue> {
        (self.environment != Some(environment)).then(|| self.line(ENVIRONMENT, environment.word(), YEAR_SECONDS))
    }

    fn line(&self, name: &str, value: &str, seconds: i64) -> HeaderValue {
        let (host, secure) = if self.tls { (HOST, "; Secure") } else { ("", "") };
        // Lax instead of strict: users follow links to the dashboard on other sites, such as links that agents show, and the browser must
        // send the session cookie with these requests.
        let line = format!("{host}{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
        HeaderValue::from_str(&line).expect("cookie names and values are ASCII")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jar(line: &str, tls: bool) -> Jar {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, HeaderValue::from_str(line).expect("the header value is ASCII"));
        Jar::read(&headers, tls)
    }

    #[test]
    fn over_tls_only_cookies_that_other_hosts_cannot_set_count() {
        assert_eq!(jar("__Host-mailmill-session=abc", true).session(), Some("abc"));
        assert_eq!(jar("mailmill-session=abc", true).session(), None);
        assert_eq!(jar("a=b; mailmill-session=abc", false).session(), Some("abc"));
        assert_eq!(jar("mailmill-session=abc; mailmill-session=def", false).session(), None);
    }

    #[test]
    fn cookies_are_hidden_from_scripts_and_other_hosts() {
        let line = jar("", true).keep_session("abc", 60);
        assert_eq!(line, "__Host-mailmill-session=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure");
        assert_eq!(jar("", false).drop_session(), "mailmill-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
    }
}
