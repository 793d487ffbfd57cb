//! What sending needs to know of the domain behind a From address. The public face of this feature.

use super::model::{Domain, KeyKind, Purpose, Status, Stream, Tracking, place};
use super::{records, store};
use crate::base::domain::parents;
use crate::base::email::EmailAddress;
use crate::base::secret::Secret;
use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::engine::store::seal::Seal;
use crate::vocab::ids::AccountId;

/// A verified domain that stands for a From address.
pub struct SendingDomain {
    /// The domain in signatures (`d=`).
    pub domain: String,
    /// With what to sign, at least one. Unsealing and reading them costs time: keep this for a whole mailing.
    pub keys: Vec<SigningKey>,
    /// The domain of envelope senders. None: its return path is not verified, and an installation without a bounce domain of its own
    /// can only let bounces return to the From address.
    pub return_path: Option<String>,
    /// The host of links and pixels. None: that of this installation.
    pub tracking_host: Option<String>,
    pub tracking: Tracking,
}

/// A key that signs.
pub struct SigningKey {
    pub selector: String,
    pub kind: KeyKind,
    /// PKCS#1 for RSA, PKCS#8 for Ed25519.
    pub private_der: Secret<Vec<u8>>,
}

/// The verified domain that stands for this From address: the one after its @, else one above that, else the part of it that was made
/// for this stream with From addresses at the root (RFC 7489 §3.1.1: a signature counts if both have the same organisational domain).
pub fn for_sender(
    tx: &impl Read,
    seal: &Seal,
    account: AccountId,
    from: &EmailAddress,
    stream: Stream,
) -> Result<Option<SendingDomain>, Failure> {
    let name = from.domain_ascii().into_owned();
    let verified = |name: &str| -> Result<Option<Domain>, Failure> {
        Ok(store::find(tx, account, name)?.filter(|domain| domain.status == Status::Verified))
    };
    if let Some(domain) = verified(&name)? {
        return unsealed(seal, account, &domain).map(Some);
    }
    for parent in parents(&name) {
        if let Some(domain) = verified(parent)?.filter(|domain| !domain.wants_exact_signer) {
            return unsealed(seal, account, &domain).map(Some);
        }
    }
    let other = match stream {
        Stream::Transactional => Stream::Marketing,
        Stream::Marketing => Stream::Transactional,
    };
    for stream in [stream, other] {
        let part = verified(&format!("{}.{name}", stream.label()))?;
        if let Some(domain) = part.filter(|domain| domain.signs_for_root && !domain.wants_exact_signer) {
            return unsealed(seal, account, &domain).map(Some);
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
                "the DKIM key {} of {} does not open: is this the right master key?",
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
