//! Hashing passwords with Argon2id. Slow on purpose, so never on a thread that serves others, and never many at a time.

use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;

use super::model::{Password, PasswordHash};
use crate::base::random::Random;
use crate::engine::api::Failure;

/// The least that is recommended for Argon2id with two passes (OWASP): 19 MiB of memory, 2 passes, 1 lane.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;

/// Two at a time: each takes 19 MiB and a core for some tens of milliseconds, and the smallest machine has two cores.
static HASHING: Semaphore = Semaphore::const_new(2);

/// Hash a password.
pub async fn hash(password: Password, random: &dyn Random) -> Result<PasswordHash, Failure> {
    let salt = random.bytes();
    let _turn = HASHING.acquire().await.map_err(Failure::internal)?;
    let work = move || {
        let hash = sum(&password, &salt, (MEMORY_KIB, PASSES, LANES));
        PasswordHash { memory_kib: MEMORY_KIB, passes: PASSES, lanes: LANES, salt, hash }
    };
    tokio::task::spawn_blocking(work).await.map_err(Failure::internal)
}

fn sum(password: &Password, salt: &[u8; 16], (memory_kib, passes, lanes): (u32, u32, u32)) -> [u8; 32] {
    let params = Params::new(memory_kib, passes, lanes, Some(32)).expect("only parameters of ours are kept");
    let mut hash = [0; 32];
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
        .hash_password_into(password.bytes(), salt, &mut hash)
        .expect("the lengths are within the algorithm's limits");
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::SeededRandom;

    fn password(text: &str) -> Password {
        text.parse().expect("long enough")
    }

    #[tokio::test]
    async fn a_password_fits_its_own_hash_only_and_no_two_hashes_are_alike() {
        let random = SeededRandom::new(1);
        let first = hash(password("correct horse battery"), &random).await.expect("hashes");
        let second = hash(password("correct horse battery"), &random).await.expect("hashes");
        assert_ne!((first.salt, first.hash), (second.salt, second.hash));
        let costs = (first.memory_kib, first.passes, first.lanes);
        assert_eq!(sum(&password("correct horse battery"), &first.salt, costs), first.hash);
        assert_ne!(sum(&password("correct horse batterY"), &first.salt, costs), first.hash);
    }
}
