//! The service's own JSON Web Tokens (RFC 7519, hardened by RFC 8725): one algorithm, one token type and one key for each purpose.
//!
//! Only tokens that this service created are accepted, so the header is compared and never interpreted: a token with a different algorithm,
//! with the algorithm `none`, with a different type or with an embedded key is invalid. A token only refers to a record, so access can be
//! revoked. JWT libraries are not used, because they support more algorithms and read the system clock.

use crate::base::clock::Timestamp;
use crate::vocab::limits;
use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// The issuer: the URL of this service.
    pub iss: String,
    /// The purpose of the token.
    pub aud: String,
    /// The ID of the record that the token refers to.
    pub sub: String,
    /// The environment that the token is valid for, if it is limited to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<String>,
    /// When the token was issued, in Unix seconds.
    pub iat: i64,
    /// When the token expires, in Unix seconds.
    pub exp: i64,
}

/// Creates and reads the tokens for one purpose.
pub struct Tokens {
    key: [u8; 32],
    /// The encoded header, which is the same in all tokens for this purpose.
    header: String,
    audience: &'static str,
}

impl Tokens {
    /// Creates a signer and verifier of tokens. `key` must have no other purpose. `kind` is the header's `typ`; `audience` is the claim
    /// `aud`.
    pub fn new(key: [u8; 32], kind: &str, audience: &'static str) -> Self {
        let header = BASE64URL_NOPAD.encode(format!(r#"{{"alg":"HS256","typ":"{kind}"}}"#).as_bytes());
        Self { key, header, audience }
    }

    /// Creates a token for `subject` that is valid from now for `life_ms`.
    pub fn sign(&self, issuer: &str, subject: String, env: Option<&str>, (now, life_ms): (Timestamp, i64)) -> String {
        let claims = Claims {
            iss: issuer.to_owned(),
            aud: self.audience.to_owned(),
            sub: subject,
            env: env.map(str::to_owned),
            iat: now.seconds(),
            exp: now.plus_ms(life_ms).seconds(),
        };
        self.seal(&claims)
    }

    fn seal(&self, claims: &impl Serialize) -> String {
        let body = serde_json::to_vec(claims).expect("claims are text and numbers");
        let signed = format!("{}.{}", self.header, BASE64URL_NOPAD.encode(&body));
        let sum = self.sum(&signed).finalize().into_bytes();
        format!("{signed}.{}", BASE64URL_NOPAD.encode(&sum))
    }

    fn sum(&self, signed: &str) -> Hmac<Sha256> {
        let mut sum = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC accepts keys of any length");
        sum.update(signed.as_bytes());
        sum
    }

    /// Returns the claims of a token if this service created the token for this purpose at this URL. The caller checks the expiry.
    pub fn read(&self, issuer: &str, text: &str) -> Option<Claims> {
        if text.len() > limits::TOKEN_BYTES_MAX {
            return None;
        }
        let (signed, sum) = text.rsplit_once('.')?;
        let (header, body) = signed.split_once('.')?;
        if header != self.header {
            return None;
        }
        self.sum(signed).verify_slice(&BASE64URL_NOPAD.decode(sum.as_bytes()).ok()?).ok()?;
        let claims: Claims = parse(&BASE64URL_NOPAD.decode(body.as_bytes()).ok()?)?;
        (claims.iss == issuer && claims.aud == self.audience).then_some(claims)
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Option<T> {
    serde_json::from_slice(body).ok()
}

impl Claims {
    pub fn is_over(&self, now: Timestamp) -> bool {
        now.seconds() >= self.exp
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_767_225_600_000);
    const HERE: &str = "https://mail.example.com";

    fn tokens() -> Tokens {
        Tokens::new([1; 32], "at+jwt", "api")
    }

    fn with_header(header: &str, token: &str) -> String {
        let (_, rest) = token.split_once('.').expect("a token has three parts");
        format!("{}.{rest}", BASE64URL_NOPAD.encode(header.as_bytes()))
    }

    #[test]
    fn a_token_returns_its_claims_until_it_expires() {
        let token = tokens().sign(HERE, "someone".into(), Some("live"), (NOW, 60_000));
        let claims = tokens().read(HERE, &token).expect("the service's own token is valid");
        assert_eq!((claims.sub.as_str(), claims.env.as_deref()), ("someone", Some("live")));
        assert!(!claims.is_over(NOW.plus_ms(59_999)) && claims.is_over(NOW.plus_ms(60_000)));
    }

    #[test]
    fn another_purpose_issuer_audience_or_type_is_rejected() {
        let token = tokens().sign(HERE, "someone".into(), None, (NOW, 60_000));
        assert_eq!(tokens().read("https://other.example.com", &token), None);
        assert_eq!(Tokens::new([2; 32], "at+jwt", "api").read(HERE, &token), None);
        assert_eq!(Tokens::new([1; 32], "claim+jwt", "api").read(HERE, &token), None);
        assert_eq!(Tokens::new([1; 32], "at+jwt", "claims").read(HERE, &token), None);
    }

    #[test]
    fn no_other_algorithm_is_accepted() {
        let token = tokens().sign(HERE, "someone".into(), None, (NOW, 60_000));
        for header in [
            r#"{"alg":"none","typ":"at+jwt"}"#,
            r#"{"alg":"None"}"#,
            r#"{"typ":"at+jwt","alg":"HS256"}"#,
            r#"{"alg":"HS512","typ":"at+jwt"}"#,
            r#"{"alg":"RS256","typ":"at+jwt"}"#,
            r#"{"alg":"HS256","typ":"at+jwt","jwk":{"kty":"oct","k":""}}"#,
        ] {
            let forged = with_header(header, &token);
            assert_eq!(tokens().read(HERE, &forged), None, "{header}");
            let (unsigned, _) = forged.rsplit_once('.').expect("a token has three parts");
            assert_eq!(tokens().read(HERE, &format!("{unsigned}.")), None, "{header}");
            assert_eq!(tokens().read(HERE, unsigned), None, "{header}");
        }
    }

    #[test]
    fn any_changed_character_is_detected() {
        let token = tokens().sign(HERE, "someone".into(), None, (NOW, 60_000));
        for place in 0..token.len() {
            let mut changed = token.clone().into_bytes();
            changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).expect("the text is ASCII");
            assert_eq!(tokens().read(HERE, &changed), None, "{changed}");
        }
        assert_eq!(tokens().read(HERE, &"x".repeat(1_000_000)), None);
    }
}
