//! The headers of a delivery (`assets/docs/webhooks.md`). A webhook's custom headers cannot replace the headers that Mailmill sets.

use std::collections::BTreeMap;

use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};

use schemars::Schema;
use serde_json::json;

use super::signature::Signer;
use crate::base::clock::Timestamp;
use crate::engine::api::Failure;
use crate::vocab::limits;

/// The default word in the names of Mailmill's headers, such as `X-Service-Signature`; the setting `webhooks.header_word` changes
/// the word.
const STANDARD_WORD: &str = "service";

/// The placeholder for header values in responses. Responses never contain the values, because they are often credentials. If a request
/// contains the placeholder, the stored value stays unchanged.
pub const HIDDEN: &str = "********";

/// Header names that custom headers cannot have, because they are reserved for the connection, the body or Mailmill. `RESERVED_PREFIXES`
/// reserves all names with a prefix.
const RESERVED: [&str; 9] =
    ["host", "connection", "transfer-encoding", "te", "trailer", "upgrade", "expect", "keep-alive", "user-agent"];
const RESERVED_PREFIXES: [&str; 3] = ["content-", "proxy-", "webhook-"];

/// Adds the rules for custom headers to the JSON schema. The schema assumes the default word in the names of Mailmill's headers
/// (`x-service-…`), even if the settings change that word.
pub fn describe(schema: &mut Schema) {
    let any_case = |word: &str| -> String {
        let one = |character: char| match character.is_ascii_alphabetic() {
            true => format!("[{}{character}]", character.to_ascii_uppercase()),
            false => character.to_string(),
        };
        word.chars().map(one).collect()
    };
    let taken: Vec<String> = RESERVED.into_iter().map(|name| format!("{}$", any_case(name))).collect();
    let ours = format!("x-{STANDARD_WORD}-");
    let started: Vec<String> = RESERVED_PREFIXES.into_iter().chain([ours.as_str()]).map(any_case).collect();
    let names = json!({
        "maxLength": limits::WEBHOOK_HEADER_NAME_BYTES_MAX,
        "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
        "not": { "pattern": format!("^({}|({})[!-~]*$)", taken.join("|"), started.join("|")) },
    });
    schema.insert("maxProperties".to_owned(), limits::WEBHOOK_HEADERS_MAX.into());
    schema.insert("propertyNames".to_owned(), names);
    let value = json!({
        "type": "string", "maxLength": limits::WEBHOOK_HEADER_VALUE_BYTES_MAX, "pattern": "^([!-~]([ -~]*[!-~])?)?$",
    });
    schema.insert("additionalProperties".to_owned(), value);
}

/// Checks the custom headers of a webhook.
pub fn check(given: &BTreeMap<String, String>, word: &str) -> Result<(), Failure> {
    let field = |name: &str| format!("customHeaders.{name}");
    if given.len() > limits::WEBHOOK_HEADERS_MAX {
        let detail = format!("add at most {} headers; this request has {}", limits::WEBHOOK_HEADERS_MAX, given.len());
        return Err(Failure::field("customHeaders", detail));
    }
    let mut seen: Vec<String> = Vec::new();
    for (name, value) in given {
        let low = name.to_ascii_lowercase();
        if name.len() > limits::WEBHOOK_HEADER_NAME_BYTES_MAX || HeaderName::from_bytes(name.as_bytes()).is_err() {
            let shown: String = name.chars().filter(|character| !character.is_control()).take(40).collect();
            let detail = format!(
                "\"{shown}\" is not a valid header name; use 1 to {} letters, digits and hyphens",
                limits::WEBHOOK_HEADER_NAME_BYTES_MAX
            );
            return Err(Failure::field("customHeaders", detail));
        }
        if is_reserved(&low, word) {
            return Err(Failure::field(&field(name), "this header is reserved; choose a different name"));
        }
        if seen.contains(&low) {
            return Err(Failure::field(&field(name), "this name is used twice with different capitalization; use it once"));
        }
        if value.len() > limits::WEBHOOK_HEADER_VALUE_BYTES_MAX {
            let detail = format!("the value is longer than {} bytes; shorten it", limits::WEBHOOK_HEADER_VALUE_BYTES_MAX);
            return Err(Failure::field(&field(name), detail));
        }
        let is_visible = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if !is_visible || value.trim() != value {
            return Err(Failure::field(
                &field(name),
                "use only visible ASCII characters and spaces, with no spaces at the start or end",
            ));
        }
        seen.push(low);
    }
    let bytes: usize = given.iter().map(|(name, value)| name.len() + value.len()).sum();
    if bytes > limits::WEBHOOK_HEADERS_BYTES_MAX {
        let detail = format!("all headers together are longer than {} bytes; shorten them", limits::WEBHOOK_HEADERS_BYTES_MAX);
        return Err(Failure::field("customHeaders", detail));
    }
    Ok(())
}

fn is_reserved(low: &str, word: &str) -> bool {
    let ours =
        |word: &str| low.strip_prefix("x-").and_then(|rest| rest.strip_prefix(word)).is_some_and(|rest| rest.starts_with('-'));
    RESERVED.contains(&low)
        || RESERVED_PREFIXES.iter().any(|beginning| low.starts_with(beginning))
        || ours(STANDARD_WORD)
        || ours(&word.to_ascii_lowercase())
}

/// The values in the headers of one attempt.
pub struct DeliveryHeaders<'a> {
    /// The word in the names of Mailmill's headers.
    pub word: &'a str,
    pub event_type: &'a str,
    pub event: &'a str,
    pub attempt: &'a str,
    pub is_test: bool,
    pub at: Timestamp,
    pub body: &'a [u8],
    /// The secrets used for signing. The first secret is used for `X-Service-Signature`; the second secret, if there is one, is used for
    /// the alternate header.
    pub signers: &'a [&'a Signer],
    /// Whether the Standard Webhooks headers are also sent.
    pub standard: bool,
}

/// Writes the headers of one attempt. Custom headers are written first, so that Mailmill's headers overwrite any with the same name.
pub fn write(custom: &BTreeMap<String, String>, delivery_headers: &DeliveryHeaders<'_>) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(custom.len() + 12);
    for (name, value) in custom {
        if let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
            headers.insert(name, value);
        }
    }
    let DeliveryHeaders { word, event_type, event, attempt, is_test, at, body, signers, standard } = *delivery_headers;
    let mut put = |name: String, value: &str| {
        let name =
            HeaderName::from_bytes(name.to_ascii_lowercase().as_bytes()).expect("the settings allow only a valid header word");
        headers.insert(name, HeaderValue::from_str(value).expect("IDs, digests and event types are ASCII"));
    };
    put(format!("x-{word}-event-type"), event_type);
    put(format!("x-{word}-event-id"), event);
    put(format!("x-{word}-delivery-id"), attempt);
    for (signer, name) in signers.iter().zip(["signature", "signature-alternate"]) {
        put(format!("x-{word}-{name}"), &signer.digest(body));
    }
    if is_test {
        put(format!("x-{word}-test"), "true");
    }
    if standard {
        let seconds = at.seconds();
        let signatures: Vec<String> = signers.iter().map(|signer| signer.standard(event, seconds, body)).collect();
        put("webhook-id".into(), event);
        put("webhook-timestamp".into(), &seconds.to_string());
        put("webhook-signature".into(), &signatures.join(" "));
    }
    put(USER_AGENT.to_string(), &format!("{word}-Webhooks/1.0"));
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SeededRandom;

    fn checked(name: &str, value: &str) -> Result<(), String> {
        let given = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        check(&given, "Acme").map_err(|failure| failure.text())
    }

    #[test]
    fn custom_headers_are_accepted() {
        let long = "v".repeat(limits::WEBHOOK_HEADER_VALUE_BYTES_MAX);
        for (name, value) in
            [("Authorization", "Bearer abc"), ("X-Shop", ""), ("X-Servicer", "~"), ("accept", "*/*"), ("A", long.as_str())]
        {
            assert_eq!(checked(name, value), Ok(()), "{name}");
        }
    }

    #[test]
    fn headers_that_break_the_request_or_replace_ours_are_refused_by_name() {
        for name in [
            "Host",
            "CONNECTION",
            "Content-Type",
            "content-length",
            "Transfer-Encoding",
            "TE",
            "Trailer",
            "Upgrade",
            "Expect",
            "Keep-Alive",
            "Proxy-Authorization",
            "User-Agent",
            "X-Service-Signature",
            "x-acme-event-id",
            "Webhook-Id",
        ] {
            let refusal = checked(name, "x").expect_err(name);
            assert!(refusal.starts_with(&format!("customHeaders.{name}: ")), "{refusal}");
        }
        for name in ["", "a b", "a:b", "a\r\nb", "ü", "a\0"] {
            assert!(checked(name, "x").expect_err(name).starts_with("customHeaders: "), "{name:?}");
        }
        let long = "v".repeat(limits::WEBHOOK_HEADER_VALUE_BYTES_MAX + 1);
        for value in ["a\r\nX-Other: b", "a\nb", "a\rb", "a\0b", "ü", "\t", " a", "a ", "\u{7f}", long.as_str()] {
            assert!(checked("X-Shop", value).is_err(), "{value:?}");
        }
    }

    #[test]
    fn the_header_limit_applies_and_each_name_appears_once() {
        let many = |count: usize| (0..count).map(|number| (format!("X-{number}"), String::new())).collect::<BTreeMap<_, _>>();
        assert!(check(&many(limits::WEBHOOK_HEADERS_MAX), "Service").is_ok());
        assert!(check(&many(limits::WEBHOOK_HEADERS_MAX + 1), "Service").is_err());
        let whole = |more: usize| {
            let half = limits::WEBHOOK_HEADERS_BYTES_MAX / 2 - 1;
            BTreeMap::from([("A".to_owned(), "v".repeat(half)), ("B".to_owned(), "v".repeat(half + more))])
        };
        assert!(check(&whole(0), "Service").is_ok());
        assert!(check(&whole(1), "Service").is_err());
        let twice = BTreeMap::from(["X-Shop", "x-shop"].map(|name| (name.to_owned(), String::new())));
        assert!(check(&twice, "Service").is_err());
    }

    #[test]
    fn the_headers_match_the_reference() {
        let (one, two) = (Signer::new(&SeededRandom::new(1)), Signer::new(&SeededRandom::new(2)));
        let signers = [&one, &two];
        let mut delivery_headers = DeliveryHeaders {
            word: "Service",
            event_type: "subscriber.added",
            event: "e1",
            attempt: "d1-1",
            is_test: false,
            at: Timestamp(1_700_000_000_999),
            body: b"{}",
            signers: &signers[..1],
            standard: false,
        };
        let text = |headers: &HeaderMap, name: &str| {
            headers.get(name).map(|value| value.to_str().expect("the text is ASCII").to_owned())
        };
        let custom = BTreeMap::from([("X-Shop".to_owned(), "7".to_owned())]);
        let headers = write(&custom, &delivery_headers);
        assert_eq!(headers.len(), 7);
        for (name, value) in [
            ("content-type", "application/json"),
            ("user-agent", "Service-Webhooks/1.0"),
            ("x-service-signature", one.digest(b"{}").as_str()),
            ("x-service-event-type", "subscriber.added"),
            ("x-service-event-id", "e1"),
            ("x-service-delivery-id", "d1-1"),
            ("x-shop", "7"),
        ] {
            assert_eq!(text(&headers, name).as_deref(), Some(value), "{name}");
        }
        delivery_headers = DeliveryHeaders { is_test: true, standard: true, signers: &signers, word: "Acme", ..delivery_headers };
        let headers = write(&BTreeMap::new(), &delivery_headers);
        assert_eq!(text(&headers, "x-acme-test").as_deref(), Some("true"));
        assert_eq!(text(&headers, "x-acme-signature-alternate"), Some(two.digest(b"{}")));
        assert_eq!(text(&headers, "webhook-id").as_deref(), Some("e1"));
        assert_eq!(text(&headers, "webhook-timestamp").as_deref(), Some("1700000000"));
        let both = format!("{} {}", one.standard("e1", 1_700_000_000, b"{}"), two.standard("e1", 1_700_000_000, b"{}"));
        assert_eq!(text(&headers, "webhook-signature"), Some(both));
        assert_eq!(text(&headers, "user-agent").as_deref(), Some("Acme-Webhooks/1.0"));
    }
}
