//! Verifies the DKIM signatures of a message (RFC 6376) with public keys that the caller provides.
//!
//! The verification sends no DNS queries, so viewing a message neither waits for DNS nor reveals that the message is being viewed. If the
//! caller provides no key for a signature, the signature's result is `NoKey`.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Instant;

use mail_auth::common::cache::NoCache;
use mail_auth::common::crypto::Algorithm as Named;
use mail_auth::common::parse::TxtRecordParser;
use mail_auth::common::verify::{DomainKey, VerifySignature};
use mail_auth::{AuthenticatedMessage, DkimResult, MX, MessageAuthenticator, Parameters, RecordSet, ResolverCache, Txt};

use super::dns::silent;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureCheck {
    /// The domain that signed the message (`d=`).
    pub domain: String,
    /// The selector of the domain's key (`s=`).
    pub selector: String,
    /// The signature algorithm, such as `rsa-sha256`.
    pub algorithm: &'static str,
    pub holds: SignatureResult,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignatureResult {
    Yes,
    /// The signature is invalid. Contains the reason.
    No(String),
    /// No valid public key was provided for the signature.
    NoKey,
}

/// Verifies every signature that can be parsed, in the order of the headers. `records` contains the name, such as
/// `m1._domainkey.example.com`, and the content of each TXT record.
pub async fn verify(message: &[u8], records: &[(String, String)]) -> Vec<SignatureCheck> {
    let Some(message) = AuthenticatedMessage::parse(message) else { return Vec::new() };
    let known = FetchedKeys::new(records);
    let question: Question<'_> = Parameters {
        params: &message,
        cache_txt: Some(&known),
        cache_mx: None,
        cache_ptr: None,
        cache_ipv4: None,
        cache_ipv6: None,
    };
    let outputs = MessageAuthenticator(silent()).verify_dkim(question).await;
    let judged = outputs.iter().filter_map(|output| {
        let signature = output.signature()?;
        let has_key = known.0.contains_key(&*signature.domain_key());
        let holds = match output.result() {
            DkimResult::Pass => SignatureResult::Yes,
            _ if !has_key => SignatureResult::NoKey,
            DkimResult::Neutral(error)
            | DkimResult::Fail(error)
            | DkimResult::PermError(error)
            | DkimResult::TempError(error) => SignatureResult::No(error.to_string()),
            DkimResult::None => SignatureResult::No("the signature cannot be read".into()),
        };
        let algorithm = match signature.a {
            Named::RsaSha1 => "rsa-sha1",
            Named::RsaSha256 => "rsa-sha256",
            Named::Ed25519Sha256 => "ed25519-sha256",
        };
        Some(SignatureCheck { domain: signature.d.clone(), selector: signature.s.clone(), algorithm, holds })
    });
    judged.collect()
}

/// The public keys that the caller provided, keyed by the names of their DNS records.
struct FetchedKeys(HashMap<Box<str>, Txt>);

impl FetchedKeys {
    fn new(records: &[(String, String)]) -> Self {
        let parsed = records.iter().filter_map(|(name, record)| {
            let key = DomainKey::parse(record.as_bytes()).ok()?;
            Some((format!("{}.", name.trim_end_matches('.')).into_boxed_str(), Txt::DomainKey(Arc::new(key))))
        });
        Self(parsed.collect())
    }
}

impl ResolverCache<Box<str>, Txt> for FetchedKeys {
    fn get<Q: Hash + Eq + ?Sized>(&self, name: &Q) -> Option<Txt>
    where
        Box<str>: Borrow<Q>,
    {
        self.0.get(name).cloned()
    }

    fn remove<Q: Hash + Eq + ?Sized>(&self, _: &Q) -> Option<Txt>
    where
        Box<str>: Borrow<Q>,
    {
        None
    }

    fn insert(&self, _: Box<str>, _: Txt, _: Instant) {}
}

type Question<'x> = Parameters<
    'x,
    &'x AuthenticatedMessage<'x>,
    FetchedKeys,
    NoCache<Box<str>, RecordSet<MX>>,
    NoCache<Box<str>, RecordSet<Ipv4Addr>>,
    NoCache<Box<str>, RecordSet<Ipv6Addr>>,
    NoCache<IpAddr, RecordSet<Box<str>>>,
>;
