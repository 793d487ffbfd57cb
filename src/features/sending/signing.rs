//! Creates the DKIM signer of a verified domain.

use crate::engine::api::Failure;
use crate::engine::mail::dkim::{Algorithm, Signer, SigningKeyOf};
use crate::features::domains::{KeyKind, SendingDomain};

/// Returns the signer of a domain. Reading the domain's keys is slow, so the dispatcher caches the signer.
pub fn signer(domain: &SendingDomain) -> Result<Signer, Failure> {
    let keys: Vec<SigningKeyOf<'_>> = domain
        .keys
        .iter()
        .map(|key| SigningKeyOf {
            selector: &key.selector,
            algorithm: match key.kind {
                KeyKind::Rsa => Algorithm::Rsa,
                KeyKind::Ed25519 => Algorithm::Ed25519,
            },
            private: key.private_der.expose(),
        })
        .collect();
    Signer::new(&domain.domain, &keys).map_err(|error| Failure::internal(format_args!("{}: {error}", domain.domain)))
}
