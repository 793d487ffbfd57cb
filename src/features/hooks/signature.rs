//! Request signatures: a header with the HMAC-SHA256 of the body. Many form services send such a header.

use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, HeaderName};
use sha2::Sha256;

use super::input::GivenSignature;
use super::model::{Hook, SignatureCheck};
use crate::base::random::Random;
use crate::engine::api::Failure;
use crate::engine::store::seal::Seal;
use crate::features::contacts::FieldError;
use crate::vocab::ids::{AccountId, HookId};
use crate::vocab::limits;

/// The text before the signature in some headers.
const PREFIX: &str = "sha256=";

/// Returns the context for sealing a secret. Sealed bytes open only with the same context.
fn place(account: AccountId, id: HookId) -> Vec<u8> {
    [b"hooks/".as_slice(), &account.0, &id.0].concat()
}

/// Returns the settings for checking signatures, with the secret sealed.
pub fn sealed(
    seal: &Seal,
    (account, id): (AccountId, HookId),
    given: &GivenSignature,
    random: &dyn Random,
) -> Result<SignatureCheck, Failure> {
    let secret = given.secret.expose().trim();
    let header = given.header.trim();
    if header.len() > limits::HOOK_NAME_CHARACTERS_MAX || HeaderName::try_from(header).is_err() {
        let max = limits::HOOK_NAME_CHARACTERS_MAX;
        let expected = format_args!("must be the name of an HTTP header, like Typeform-Signature, in at most {max} characters");
        return Err(Failure::field("signature.header", expected));
    }
    if secret.is_empty() || secret.len() > limits::HOOK_SECRET_BYTES_MAX {
        let max = limits::HOOK_SECRET_BYTES_MAX;
        return Err(Failure::field("signature.secret", format_args!("must be 1 to {max} bytes long")));
    }
    let sealed_secret = seal.seal(&place(account, id), secret.as_bytes(), random);
    Ok(SignatureCheck { header: header.to_owned(), sealed_secret })
}

/// Returns the secret of a webhook, or `None` if it was sealed with a different master key.
pub fn secret(seal: &Seal, hook: &Hook, check: &SignatureCheck) -> Option<Vec<u8>> {
    seal.open(&place(hook.account, hook.id), &check.sealed_secret)
}

/// Checks the signature of a request if the webhook requires signatures.
pub fn check(seal: &Seal, hook: &Hook, headers: &HeaderMap, body: &[u8]) -> Result<(), FieldError> {
    let Some(check) = &hook.signature else { return Ok(()) };
    let refused = |reason: &str| Err(FieldError::new(check.header.clone(), reason));
    let Some(secret) = secret(seal, hook, check) else {
        return refused("the master key was replaced; enter this webhook's signature secret again");
    };
    let Some(given) = headers.get(&check.header) else {
        return refused(
            "the request has no signature in this header; turn on signatures in the sending system, or correct the header's name",
        );
    };
    // A header value that is not ASCII counts as a wrong signature.
    let given = given.to_str().unwrap_or_default().trim();
    let given = given.strip_prefix(PREFIX).unwrap_or(given);
    let sum = HEXLOWER_PERMISSIVE.decode(given.as_bytes()).or_else(|_| BASE64.decode(given.as_bytes()));
    let mut expected = Hmac::<Sha256>::new_from_slice(&secret).expect("HMAC accepts keys of any length");
    expected.update(body);
    // The comparison takes constant time, so its duration reveals nothing about the expected signature.
    match sum.is_ok_and(|sum| expected.verify_slice(&sum).is_ok()) {
        true => Ok(()),
        false => refused(
            "the signature is not the HMAC-SHA256 of the body; check that this webhook has the same secret as the sending system",
        ),
    }
}
