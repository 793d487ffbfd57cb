//! Hashes passwords with Argon2id. Hashing is slow on purpose, so it never runs on a thread that serves other requests, and at most two
//! hashes are computed concurrently.

use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::model::{Password, PasswordHash};
use crate::base::random::Random;
use crate::base::secret::{Secret, same};
use crate::engine::api::Failure;
use crate::vocab::codes::Code;
use crate::vocab::limits;

/// The memory for Argon2id in KiB. OWASP's minimum for two passes and one lane is 19 MiB.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Allows two hashes at a time: each takes 19 MiB and occupies a core for tens of milliseconds, and the smallest supported machine has two
/// cores.
static HASHING: Semaphore = Semaphore::const_new(2);

/// Limits how many requests hash a password or wait for their turn; additional requests receive status 503.
static WAITING: Semaphore = Semaphore::const_new(limits::PASSWORDS_WAITING_MAX);

/// The hash to verify against if the user does not exist, so that the verification takes as long as for an existing user. No password
/// matches this hash.
const DUMMY: PasswordHash =
    PasswordHash { memory_kib: MEMORY_KIB, passes: PASSES, lanes: LANES, salt: *b"no user has this", hash: [0; 32] };

async fn turn() -> Result<(SemaphorePermit<'static>, SemaphorePermit<'static>), Failure> {
    let place = WAITING.try_acquire().map_err(|_| Failure::new(Code::Unavailable).after_seconds(2))?;
    Ok((place, HASHING.acquire().await.map_err(Failure::internal)?))
}

/// Returns whether `given` is the password with the hash `known`. If `known` is `None`, returns false, but hashes `given` anyway, so that
/// the call takes the same time.
pub async fn verify(given: Secret, known: Option<PasswordHash>) -> Result<bool, Failure> {
    let exists = known.is_some();
    let known = known.unwrap_or(DUMMY);
    let turn = turn().await?;
    let work = move || {
        // Hash even input that cannot be a password, up to the maximum length, so that every attempt takes the same time.
        let end =
            (0..=given.expose().len().min(limits::PASSWORD_BYTES_MAX)).rev().find(|end| given.expose().is_char_boundary(*end));
        let bytes = &given.expose().as_bytes()[..end.unwrap_or(0)];
        let hash = sum(bytes, &known.salt, (known.memory_kib, known.passes, known.lanes));
        drop(turn);
        same(&hash, &known.hash) && given.expose().len() <= limits::PASSWORD_BYTES_MAX
    };
    Ok(tokio::task::spawn_blocking(work).await.map_err(Failure::internal)? && exists)
}

/// Returns the hash of a user's password; fails if the password is their email or the part before its `@`.
pub async fn hash(password: Password, email: &str, random: &dyn Random) -> Result<PasswordHash, Failure> {
    password.fits(email).map_err(|error| Failure::field("password", error))?;
    let salt = random.bytes();
    let _turn = turn().await?;
    let work = move || {
        let hash = sum(password.bytes(), &salt, (MEMORY_KIB, PASSES, LANES));
        PasswordHash { memory_kib: MEMORY_KIB, passes: PASSES, lanes: LANES, salt, hash }
    };
    tokio::task::spawn_blocking(work).await.map_err(Failure::internal)
}

fn sum(password: &[u8], salt: &[u8; 16], (memory_kib, passes, lanes): (u32, u32, u32)) -> [u8; 32] {
    let params = Params::new(memory_kib, passes, lanes, Some(32)).expect("stored parameters are valid");
    let mut hash = [0; 32];
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(password, salt, &mut hash)
        .expect("the lengths are within the algorithm's limits");
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SeededRandom;

    fn password(text: &str) -> Password {
        text.parse().expect("the password is long enough")
    }

    #[tokio::test]
    async fn a_password_matches_only_its_own_hash_and_no_two_hashes_are_equal() {
        let random = SeededRandom::new(1);
        let first = hash(password("correct horse battery"), "ada@example.com", &random).await.expect("hashing succeeds");
        let second = hash(password("correct horse battery"), "ada@example.com", &random).await.expect("hashing succeeds");
        assert_ne!((first.salt, first.hash), (second.salt, second.hash));
        let costs = (first.memory_kib, first.passes, first.lanes);
        assert_eq!(sum(b"correct horse battery", &first.salt, costs), first.hash);
        assert_ne!(sum(b"correct horse batterY", &first.salt, costs), first.hash);
        let given = |text: &str| Secret::new(text.to_owned());
        assert!(verify(given("correct horse battery"), Some(first.clone())).await.expect("verifying succeeds"));
        assert!(!verify(given("correct horse batterY"), Some(first)).await.expect("verifying succeeds"));
        for text in ["", "correct horse battery", &"é".repeat(500)] {
            assert!(!verify(given(text), None).await.expect("verifying succeeds"), "no password matches a missing user");
        }
    }
}
