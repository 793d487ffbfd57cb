//! Access tokens that platforms issue for a day or less, for each connected account.
//!
//! The tokens are kept only in memory: after a restart, a new token is requested, which is harmless because earlier tokens stay valid.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::clock::Timestamp;
use crate::base::secret::Secret;

/// At this number of accounts, expired tokens are removed before another is stored; if none has expired, all tokens are removed.
const ACCOUNTS_KEPT: usize = 1_000;

/// The current token of each account.
#[derive(Default)]
pub struct PlatformTokens(Mutex<HashMap<[u8; 12], (Secret, Timestamp)>>);

impl PlatformTokens {
    /// Returns the token of an account, unless it has expired.
    pub fn get(&self, account: &[u8; 12], now: Timestamp) -> Option<Secret> {
        self.all().get(account).filter(|(_, until)| *until > now).map(|(token, _)| token.clone())
    }

    /// Stores a token that is valid until the time `until`.
    pub fn put(&self, account: [u8; 12], token: Secret, until: Timestamp, now: Timestamp) {
        let mut all = self.all();
        if all.len() >= ACCOUNTS_KEPT {
            all.retain(|_, (_, until)| *until > now);
        }
        if all.len() >= ACCOUNTS_KEPT {
            all.clear();
        }
        all.insert(account, (token, until));
    }

    /// Forgets the token of an account, because the platform rejected it.
    pub fn forget(&self, account: &[u8; 12]) {
        self.all().remove(account);
    }

    fn all(&self) -> MutexGuard<'_, HashMap<[u8; 12], (Secret, Timestamp)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_returned_until_it_expires_and_the_number_of_tokens_is_bounded() {
        let tokens = PlatformTokens::default();
        let account = |number: usize| {
            let mut key = [0; 12];
            key[..8].copy_from_slice(&number.to_be_bytes());
            key
        };
        let token = |number: usize, now| tokens.get(&account(number), Timestamp(now)).map(|token| token.expose().clone());
        for number in 0..2 * ACCOUNTS_KEPT {
            tokens.put(account(number), Secret::new(format!("t{number}")), Timestamp(100), Timestamp(0));
        }
        assert!(tokens.all().len() <= ACCOUNTS_KEPT);
        let last = 2 * ACCOUNTS_KEPT - 1;
        assert_eq!((token(last, 99), token(last, 100)), (Some(format!("t{last}")), None));
        tokens.forget(&account(last));
        assert_eq!(token(last, 0), None);
    }
}
