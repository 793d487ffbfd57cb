//! What sending needs to know about the domain behind a From address. The public API of this feature.

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
    /// The domain in signatures (`d=`).
    pub domain: String,
    /// The signing keys, at least one. Unsealing and reading them is slow, so keep this for a whole mailing.
    pub keys: Vec<SigningKey>,
    /// The domain of envelope senders. `None` if the return path is not verified and the installation has no shared bounce domain: bounces
    /// then return to the From address.
    pub return_path: Option<String>,
    /// The host of links and pixels. `None` uses this installation's host.
    pub tracking_host: Option<String>,
    pub tracking: Tracking,
}

/// A signing key.
pub struct SigningKey {
    pub selector: String,
    pub kind: KeyKind,
    /// PKCS#1 for RSA, PKCS#8 for Ed25519.
    pub private_der: Secret<Vec<u8>>,
}

/// Returns the verified domain that signs for this From address: the one after its @, else a parent domain, else the part of it for this
/// stream that signs for the root (RFC 7489 §3.1.1: a signature counts if both have the same organizational domain).
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

/// Returns the names and texts of the records with the public keys of the account's domains. Includes retired keys, because mail that they
/// signed is verified with them.
pub fn public_keys(tx: &impl Read, account: AccountId) -> Result<Vec<(String, String)>, Failure> {
    let named =
        |domain: Domain| domain.keys.iter().map(|key| (records::key_name(&domain, key), key.record.clone())).collect::<Vec<_>>();
    Ok(store::all(tx, account)?.into_iter().flat_map(named).collect())
}

/// Returns the default UTM parameters for mail from this address, whether or not its domain is verified.
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
        let part = known(&format!("{}.{name}", stream.label()))?;
        if let Some(domain) = part.filter(|domain| domain.signs_for_root && !domain.wants_exact_signer) {
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
                "the DKIM key {} of {} could not be decrypted; is this the right master key?",
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
