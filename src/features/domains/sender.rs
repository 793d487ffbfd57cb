//! Functions for features that send mail. They return facts about the sending domain that applies to a From address.

use super::model::{Domain, KeyKind, Purpose, Status, Stream, Tracking, place};
use super::utm::Utm;
use super::{records, store};
use crate::base::domain::parents;
use crate::base::email::EmailAddress;
use crate::base::secret::Secret;
use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::engine::store::seal::Seal;
use crate::vocab::ids::AccountId;

/// A verified domain that signs for a From address.
pub struct SendingDomain {
    /// The domain that is named in signatures (`d=`).
    pub domain: String,
    /// The signing keys, at least one. Unsealing and parsing keys is slow, so keep this value for a whole mailing.
    pub keys: Vec<SigningKey>,
    /// The domain for envelope senders, unless the installation has a shared bounce domain. `None` if the return path is not verified;
    /// bounces then go to the shared bounce domain or, if there is none, to the From address.
    pub return_path: Option<String>,
    /// The host in the URLs of tracked links and tracking pixels. If `None`, this installation's host is used.
    pub tracking_host: Option<String>,
    pub tracking: Tracking,
}

pub struct SigningKey {
    pub selector: String,
    pub kind: KeyKind,
    /// The private key: PKCS#1 for RSA, PKCS#8 for Ed25519.
    pub private_der: Secret<Vec<u8>>,
}

/// Returns the verified domain that signs for this From address: the domain after the @ or, if that is not verified, a parent domain or a
/// subdomain that signs for the root, preferably the subdomain for `stream`. DMARC accepts the signature of a parent domain or a subdomain,
/// because it has the same organizational domain (RFC 7489 §3.1.1), unless the DMARC record requires the signing domain to equal the From
/// domain.
pub fn for_sender(
    tx: &impl Read,
    seal: &Seal,
    account: AccountId,
    from: &EmailAddress,
    stream: Stream,
) -> Result<Option<SendingDomain>, Failure> {
    let found = domain_for(tx, account, from, stream, |domain| domain.status == Status::Verified)?;
    found.map(|domain| unsealed(seal, account, &domain)).transpose()
}

/// Returns the name of the verified domain that mail from this address uses.
pub fn verified_for(tx: &impl Read, account: AccountId, from: &EmailAddress, stream: Stream) -> Result<Option<String>, Failure> {
    Ok(domain_for(tx, account, from, stream, |domain| domain.status == Status::Verified)?.map(|domain| domain.name))
}

/// Returns the name of the domain that mail from this address will use once the domain is verified. Without an address, returns the name of
/// the account's first domain.
pub fn added_for(
    tx: &impl Read,
    account: AccountId,
    from: Option<&EmailAddress>,
    stream: Stream,
) -> Result<Option<String>, Failure> {
    let found = match from {
        Some(from) => domain_for(tx, account, from, stream, |_| true)?,
        None => store::all(tx, account)?.into_iter().next(),
    };
    Ok(found.map(|domain| domain.name))
}

/// Returns the name and content of the DNS record for each DKIM key of the account's domains. Retiring keys are included, because they are
/// needed to verify mail that they signed.
pub fn public_keys(tx: &impl Read, account: AccountId) -> Result<Vec<(String, String)>, Failure> {
    let named =
        |domain: Domain| domain.keys.iter().map(|key| (records::key_name(&domain, key), key.record.clone())).collect::<Vec<_>>();
    Ok(store::all(tx, account)?.into_iter().flat_map(named).collect())
}

/// Returns the default UTM parameters for mail from this address, even if its domain is not verified.
pub fn usual_utm(tx: &impl Read, account: AccountId, from: &EmailAddress, stream: Stream) -> Result<Option<Utm>, Failure> {
    Ok(domain_for(tx, account, from, stream, |_| true)?.and_then(|domain| domain.utm))
}

fn domain_for(
    tx: &impl Read,
    account: AccountId,
    from: &EmailAddress,
    stream: Stream,
    counts: impl Fn(&Domain) -> bool,
) -> Result<Option<Domain>, Failure> {
    let name = from.domain_ascii().into_owned();
    let known =
        |name: &str| -> Result<Option<Domain>, Failure> { Ok(store::find(tx, account, name)?.filter(|domain| counts(domain))) };
    if let Some(domain) = known(&name)? {
        return Ok(Some(domain));
    }
    for parent in parents(&name) {
        if let Some(domain) = known(parent)?.filter(|domain| !domain.wants_exact_signer) {
            return Ok(Some(domain));
        }
    }
    let other = match stream {
        Stream::Transactional => Stream::Marketing,
        Stream::Marketing => Stream::Transactional,
    };
    for stream in [stream, other] {
        let subdomain = known(&format!("{}.{name}", stream.label()))?;
        if let Some(domain) = subdomain.filter(|domain| domain.signs_for_root && !domain.wants_exact_signer) {
            return Ok(Some(domain));
        }
    }
    Ok(None)
}

fn unsealed(seal: &Seal, account: AccountId, domain: &Domain) -> Result<SendingDomain, Failure> {
    let mut keys = Vec::new();
    for key in domain.signing_keys() {
        let private = seal.open(&place(account, &domain.name, &key.selector), &key.sealed);
        let private = private.ok_or_else(|| {
            Failure::internal(format!(
                "the DKIM key {} of {} could not be decrypted; check whether the master key has changed",
                key.selector, domain.name
            ))
        })?;
        keys.push(SigningKey { selector: key.selector.clone(), kind: key.kind, private_der: Secret::new(private) });
    }
    let tracked = domain.tracking.branded && domain.has(&Purpose::Tracking);
    Ok(SendingDomain {
        domain: domain.name.clone(),
        keys,
        return_path: domain.has(&Purpose::ReturnPath).then(|| records::return_host(domain)),
        tracking_host: tracked.then(|| records::link_host(domain)),
        tracking: domain.tracking,
    })
}
