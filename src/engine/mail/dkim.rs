//! DKIM signatures (RFC 6376) and their key pairs.
//!
//! A domain has an RSA key, which receivers commonly support, and an Ed25519 key (RFC 8463), which is small and fast. Messages are signed
//! with each key. Headers such as From, Subject and List-Unsubscribe are signed once more than they occur, so that adding another one
//! invalidates the signature.
//!
//! The main callers are `features/domains`, which seals and stores the keys and checks the DNS records, and `features/sending/signing.rs`.

use std::fmt;

use crate::base::clock::Timestamp;
use crate::base::secret::Secret;
use data_encoding::BASE64;
use mail_auth::common::crypto::{Algorithm as Named, Ed25519Key, HashContext, HashImpl, RsaKey, Sha256, SigningKey};
use mail_auth::common::headers::{Writable, Writer};
use mail_auth::dkim::canonicalize::BodyHasher;
use mail_auth::dkim::generate::DkimKeyPair;
use mail_auth::dkim::{Canonicalization, Signature};
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs1KeyDer};
use serde::{Deserialize, Serialize};

/// The length of RSA keys, in bits. RFC 8301 recommends at least 2048 bits, and receivers reject keys of less than 1024.
const RSA_BITS: usize = 2048;

/// The DER prefix that turns a 2048-bit public key in PKCS#1 into a SubjectPublicKeyInfo, the format of RSA keys in DKIM records.
const RSA_PREFIX: [u8; 24] = [
    0x30, 0x82, 0x01, 0x22, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00, 0x03, 0x82,
    0x01, 0x0f, 0x00,
];
/// The length of the PKCS#1 public key that must follow [`RSA_PREFIX`], in bytes.
const RSA_PUBLIC_BYTES: usize = 270;

/// The headers that are signed if they are present, in this order.
const SIGNED: [&str; 12] = [
    "From",
    "To",
    "Reply-To",
    "Subject",
    "Date",
    "Message-ID",
    "List-Unsubscribe",
    "List-Unsubscribe-Post",
    "List-ID",
    "Feedback-ID",
    "MIME-Version",
    "Content-Type",
];

/// The headers in [`SIGNED`] that are signed once more than they occur, so that adding another one invalidates the signature.
const CLOSED: [&str; 6] = ["From", "To", "Reply-To", "Subject", "List-Unsubscribe", "List-Unsubscribe-Post"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Algorithm {
    Rsa,
    Ed25519,
}

pub struct KeyPair {
    /// The private key in DER: PKCS#1 for RSA, PKCS#8 for Ed25519. Seal the key before storing it.
    pub private: Secret<Vec<u8>>,
    /// The content of the TXT record that publishes the public key.
    pub record: String,
}

impl KeyPair {
    /// Creates a key pair. An RSA key takes up to several seconds of processor time.
    ///
    /// The randomness comes from the operating system, because the libraries accept no other source for keys, and because keys must not be
    /// repeatable.
    pub fn generate(algorithm: Algorithm) -> Self {
        let made = match algorithm {
            Algorithm::Rsa => DkimKeyPair::generate_rsa(RSA_BITS),
            Algorithm::Ed25519 => DkimKeyPair::generate_ed25519(),
        };
        let (private, public) = made.expect("the operating system's random source works").into_inner();
        let record = match algorithm {
            Algorithm::Rsa => {
                assert_eq!(public.len(), RSA_PUBLIC_BYTES, "the key has 2048 bits and the usual exponent");
                format!("v=DKIM1; k=rsa; p={}", BASE64.encode(&[RSA_PREFIX.as_slice(), &public].concat()))
            }
            Algorithm::Ed25519 => format!("v=DKIM1; k=ed25519; p={}", BASE64.encode(&public)),
        };
        Self { private: Secret::new(private), record }
    }
}

/// A private key, with its algorithm and its selector.
pub struct SigningKeyOf<'a> {
    /// The selector: the name before `._domainkey.`.
    pub selector: &'a str,
    pub algorithm: Algorithm,
    /// The private key, as created by [`KeyPair`].
    pub private: &'a [u8],
}

/// The error for stored bytes that are not a key of the expected algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyError;

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a stored DKIM key cannot be read; create new keys for the domain")
    }
}

impl std::error::Error for KeyError {}

/// Signs the messages of one domain with each of its keys.
pub struct Signer {
    keys: Vec<(Key, Signature)>,
}

enum Key {
    Rsa(Box<RsaKey<Sha256>>),
    Ed25519(Box<Ed25519Key>),
}

impl Signer {
    /// Parses the keys of `domain`, which must be an ASCII name.
    pub fn new(domain: &str, keys: &[SigningKeyOf<'_>]) -> Result<Self, KeyError> {
        let read = |given: &SigningKeyOf<'_>| {
            let (key, algorithm) = match given.algorithm {
                Algorithm::Rsa => {
                    let der = PrivateKeyDer::Pkcs1(PrivatePkcs1KeyDer::from(given.private));
                    (Key::Rsa(Box::new(RsaKey::from_key_der(der).map_err(|_| KeyError)?)), Named::RsaSha256)
                }
                Algorithm::Ed25519 => (
                    Key::Ed25519(Box::new(Ed25519Key::from_pkcs8_der(given.private).map_err(|_| KeyError)?)),
                    Named::Ed25519Sha256,
                ),
            };
            let form = Signature {
                v: 1,
                a: algorithm,
                d: domain.to_owned(),
                s: given.selector.to_owned(),
                ch: Canonicalization::Relaxed,
                cb: Canonicalization::Relaxed,
                ..Signature::default()
            };
            Ok((key, form))
        };
        Ok(Self { keys: keys.iter().map(read).collect::<Result<_, _>>()? })
    }

    /// Returns the `DKIM-Signature` headers to put before `message`, one for each key.
    pub fn sign(&self, message: &[u8], at: Timestamp) -> Vec<u8> {
        let end = message.windows(4).position(|four| four == b"\r\n\r\n").map_or(message.len(), |at| at + 2);
        let (head, body) = message.split_at(end);
        let (names, headers) = chosen(head);
        let mut hash = BodyHasher::new(Sha256::hasher(), Canonicalization::Relaxed, 0);
        hash.write(body.strip_prefix(b"\r\n").unwrap_or(body));
        let hash = hash.finish().0.complete();
        let mut signatures = Vec::with_capacity(1_500);
        for (key, form) in &self.keys {
            let mut signature = form.clone();
            signature.h.clone_from(&names);
            signature.bh = hash.as_ref().to_vec();
            signature.t = u64::try_from(at.seconds()).unwrap_or_default();
            let signed = SignatureInput { headers: &headers, signature: &signature };
            let bytes = match key {
                Key::Rsa(key) => key.sign(signed),
                Key::Ed25519(key) => key.sign(signed),
            };
            signature.b = bytes.expect("a valid key can sign any message");
            signature.write(&mut signatures, true);
        }
        signatures
    }
}

/// The input of a signature: the chosen headers, and the signature header itself with an empty `b=`.
struct SignatureInput<'a> {
    headers: &'a [u8],
    signature: &'a Signature,
}

impl Writable for SignatureInput<'_> {
    fn write(self, writer: &mut impl Writer) {
        writer.write(self.headers);
        self.signature.write(writer, false);
    }
}

/// Returns the header names for `h=`, and the canonicalized headers in the same order.
fn chosen(head: &[u8]) -> (Vec<String>, Vec<u8>) {
    let all = headers(head);
    let mut names = Vec::with_capacity(SIGNED.len() + CLOSED.len());
    let mut canonical = Vec::with_capacity(head.len());
    for name in SIGNED {
        // If several headers have the same name, the last one is signed first (RFC 6376 §5.4.2).
        let found = all.iter().rev().filter(|(other, _)| other.eq_ignore_ascii_case(name.as_bytes()));
        let before = names.len();
        names.extend(found.clone().map(|_| name.to_owned()));
        Canonicalization::Relaxed.canonicalize_headers(found.copied(), &mut canonical);
        let closed = CLOSED.contains(&name);
        debug_assert!(name != "From" || names.len() > before, "a message has a From header");
        names.extend(closed.then(|| name.to_owned()));
    }
    (names, canonical)
}

/// Returns the names and values of the headers, still folded.
fn headers(head: &[u8]) -> Vec<(&[u8], &[u8])> {
    let mut headers: Vec<(&[u8], &[u8])> = Vec::with_capacity(20);
    let mut rest = head;
    while !rest.is_empty() {
        let mut end = 0;
        // A line that starts with white space continues the previous header.
        loop {
            end += rest[end..].iter().position(|byte| *byte == b'\n').map_or(rest.len() - end, |at| at + 1);
            if !matches!(rest.get(end), Some(b' ' | b'\t')) {
                break;
            }
        }
        let (header, after) = rest.split_at(end);
        if let Some(colon) = header.iter().position(|byte| *byte == b':') {
            headers.push((&header[..colon], &header[colon + 1..]));
        }
        rest = after;
    }
    headers
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::base::email::EmailAddress;
    use crate::engine::mail::body::Encoded;
    use crate::engine::mail::dkim_verify::SignatureResult;
    use crate::engine::mail::headers::Mailbox;
    use crate::engine::mail::message::{ListHeaders, OutgoingMessage};

    static RSA: LazyLock<KeyPair> = LazyLock::new(|| KeyPair::generate(Algorithm::Rsa));
    static ED25519: LazyLock<KeyPair> = LazyLock::new(|| KeyPair::generate(Algorithm::Ed25519));

    const MESSAGE: &str = "From: Ana <ana@example.com>\r\nTo: bo@example.org\r\nSubject:  Hello\r\n\tagain \r\n\
        Date: Sat, 21 Nov 2026 10:00:00 +0000\r\nMessage-ID: <1@example.com>\r\n\
        List-Unsubscribe: <https://example.com/u/1>\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n\
        MIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\nOne  line \r\n\r\nand another\r\n\r\n\r\n";

    fn signer() -> Signer {
        let keys = [
            SigningKeyOf { selector: "m1r", algorithm: Algorithm::Rsa, private: RSA.private.expose() },
            SigningKeyOf { selector: "m1e", algorithm: Algorithm::Ed25519, private: ED25519.private.expose() },
        ];
        Signer::new("example.com", &keys).expect("new keys can be read")
    }

    fn signed(message: &str) -> String {
        let signatures = signer().sign(message.as_bytes(), Timestamp(1_795_000_000_000));
        String::from_utf8(signatures).expect("signatures are ASCII") + message
    }

    /// Returns, for each signature, whether a third-party verifier accepts it.
    fn verdicts(message: &str) -> Vec<bool> {
        let zone = [("m1r", &RSA), ("m1e", &ED25519)]
            .map(|(name, pair)| (format!("{name}._domainkey.example.com"), pair.record.clone()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime can be created");
        let verdicts = runtime.block_on(crate::engine::mail::dkim_verify::verify(message.as_bytes(), &zone));
        verdicts.into_iter().map(|verdict| verdict.holds == SignatureResult::Yes).collect()
    }

    #[test]
    fn both_signatures_are_valid() {
        assert_eq!(verdicts(&signed(MESSAGE)), [true, true]);
        let bare = "From: a@example.com\r\nTo: b@example.org\r\n\r\n";
        assert_eq!(verdicts(&signed(bare)), [true, true]);
        assert_eq!(verdicts(&signed(&(bare.to_owned() + "\r\n\r\n"))), [true, true]);
    }

    /// Returns a message like those of a campaign: with encoded words, folded headers and two parts.
    fn message() -> String {
        let address = |text| EmailAddress::parse(text).expect("the address is valid");
        let (from, to) = (address("news@example.com"), address("zoe@bücher.example"));
        let html = Encoded::new(&"<td style=\"color:#333\">  Grüße,   Zoë </td>\n\n".repeat(200));
        let text = Encoded::new("Grüße \n\n\n");
        let message = OutgoingMessage {
            from: Mailbox { name: "Blätter & Steine", address: &from },
            to: Mailbox { name: "Zoë", address: &to },
            reply_to: None,
            subject: "A subject that is long enough to be folded more than once, with a Größe in it and an end that is far away",
            text: Some(&text),
            html: Some(&html),
            images: &[],
            message_id: "0123456789abcdef@example.com",
            date: Timestamp(1_795_000_000_000),
            list: Some(ListHeaders {
                unsubscribe_url: "https://mail.example.com/u/0123456789abcdef0123456789abcdef0123456789abcdef",
                unsubscribe_mailto: Some("mailto:u+0123456789abcdef@example.com?subject=unsubscribe"),
                one_click: true,
                list_id: Some("news.example.com"),
            }),
            feedback_id: Some("a:b:c:mailmill"),
            is_automatic: false,
            extra: &[],
        };
        String::from_utf8(message.write().bytes).expect("the message is ASCII")
    }

    #[test]
    fn a_complete_message_is_signed() {
        let message = signed(&message());
        assert_eq!(verdicts(&message), [true, true]);
        assert_eq!(verdicts(&message.replace("news.example.com", "new.example.com")), [false, false]);
        assert_eq!(verdicts(&message.replacen("=20", "=21", 1)), [false, false]);
    }

    #[test]
    fn spaces_and_folding_may_change_in_transit() {
        let message = signed(MESSAGE);
        let changed =
            message.replace("Subject:  Hello\r\n\tagain \r\n", "subject: Hello   again\r\n").replace("One  line ", "One line");
        assert_ne!(message, changed);
        assert_eq!(verdicts(&changed), [true, true]);
    }

    #[test]
    fn visible_content_must_not_change() {
        let message = signed(MESSAGE);
        for (what, with) in [
            ("bo@example.org", "eve@example.org"),
            ("another", "other"),
            ("https://example.com/u/1", "https://example.com/u/2"),
            ("=One-Click", "=Two-Clicks"),
        ] {
            assert_eq!(verdicts(&message.replace(what, with)), [false, false], "{what}");
        }
    }

    #[test]
    fn no_second_header_can_be_added() {
        for header in [
            "From: Eve <eve@example.net>\r\n",
            "Subject: Sale\r\n",
            "To: c@example.net\r\n",
            "Reply-To: eve@example.net\r\n",
            "List-Unsubscribe: <https://example.net>\r\n",
            "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n",
        ] {
            let message = signed(MESSAGE);
            for message in [format!("{header}{message}"), message.replace("MIME-Version", &format!("{header}MIME-Version"))] {
                assert!(!verdicts(&message).contains(&true), "{header}");
            }
        }
    }

    #[test]
    fn all_required_headers_are_signed() {
        let message = signed(MESSAGE).replace("\r\n\t", "");
        let list = message.split("h=").nth(1).and_then(|rest| rest.split(';').next()).expect("the signature lists its headers");
        assert_eq!(
            list,
            "From:From:To:To:Reply-To:Subject:Subject:Date:Message-ID:List-Unsubscribe:List-Unsubscribe:\
             List-Unsubscribe-Post:List-Unsubscribe-Post:MIME-Version:Content-Type"
        );
        assert!(message.contains("a=rsa-sha256;") && message.contains("a=ed25519-sha256;"));
        assert!(message.contains("c=relaxed/relaxed;") && message.contains("t=1795000000;") && !message.contains("l="));
        assert!(signed(MESSAGE).lines().all(|line| line.len() <= 80), "{}", signed(MESSAGE));
    }

    #[test]
    fn records_have_the_format_that_other_verifiers_read() {
        // OpenSSL, and therefore OpenDKIM, reads a public key only if the key names its algorithm (SubjectPublicKeyInfo).
        assert!(RSA.record.starts_with("v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA"), "{}", RSA.record);
        assert_eq!(ED25519.record.len(), "v=DKIM1; k=ed25519; p=".len() + 44);
    }

    #[test]
    fn invalid_keys_are_rejected() {
        for (algorithm, private) in [(Algorithm::Rsa, ED25519.private.expose()), (Algorithm::Ed25519, RSA.private.expose())] {
            let key = SigningKeyOf { selector: "a", algorithm, private };
            assert_eq!(Signer::new("example.com", &[key]).err(), Some(KeyError));
        }
    }

    /// A Python program that verifies both signatures with dkimpy and prints the results as a line of JSON.
    const FOREIGN: &str = "
import sys, json, dkim
given = json.load(sys.stdin)
zone = {name.encode(): record.encode() for name, record in given['zone'].items()}
checker = dkim.DKIM(given['message'].encode())
print(json.dumps([checker.verify(idx=number, dnsfunc=lambda name, timeout=5: zone.get(name)) for number in range(2)]))
";

    #[test]
    fn a_third_party_verifier_agrees() {
        use std::io::Write;
        use std::process::{Command, Stdio};
        // Use Python from the CI tools if it is installed there, or else the machine's own.
        let own = concat!(env!("CARGO_MANIFEST_DIR"), "/target/ci-tools/python/bin/python3");
        let has_dkim = |python: &&str| {
            let found = Command::new(python).args(["-c", "import dkim, nacl"]).stderr(Stdio::null()).status();
            found.is_ok_and(|status| status.success())
        };
        let Some(python) = [own, "python3"].into_iter().find(has_dkim) else {
            println!("no Python with dkimpy and pynacl: signatures are not checked by a third-party verifier");
            return;
        };
        let zone = serde_json::json!({
            "m1r._domainkey.example.com.": RSA.record,
            "m1e._domainkey.example.com.": ED25519.record,
        });
        for (message, expected) in [
            (signed(MESSAGE), "[true, true]"),
            (signed(&message()), "[true, true]"),
            (format!("Subject: b\r\n{}", signed(MESSAGE)), "[false, false]"),
        ] {
            let python = Command::new(python).args(["-c", FOREIGN]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
            let mut python = python.expect("Python starts");
            let mut stdin = python.stdin.take().expect("the pipe was requested");
            write!(stdin, "{}", serde_json::json!({ "zone": zone, "message": message })).expect("Python reads its input");
            drop(stdin);
            let output = python.wait_with_output().expect("Python finishes");
            assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected);
        }
    }
}
