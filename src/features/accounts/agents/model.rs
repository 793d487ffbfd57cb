//! The states of an agent's request for an API key, from registration to end. This module uses no clock and no store.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::base::secret::same;
use crate::engine::store::Record;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, ClaimId, KeyId, UserId};
use crate::vocab::limits;
use crate::vocab::permissions::{Permission, PermissionSet};

/// The permissions for an agent that requests no scope: read-only access to some kinds of data.
pub const DEFAULT_SCOPE: PermissionSet = PermissionSet::of(&[
    Permission::AudienceRead,
    Permission::EmailRead,
    Permission::CampaignRead,
    Permission::WebhookRead,
    Permission::DomainRead,
]);

/// The permissions that a user can grant only after a recent sign-in, because they allow sending mail.
pub const SENSITIVE: [Permission; 2] = [Permission::EmailSend, Permission::CampaignWrite];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub id: ClaimId,
    /// The name that the agent chose.
    pub agent_name: String,
    /// The normalized email of the only user who can grant the request.
    pub login_hint: String,
    pub requested: PermissionSet,
    /// SHA-256 of the token that the agent polls with.
    pub token: [u8; 32],
    /// SHA-256 of the code that the user enters.
    pub code: [u8; 32],
    pub code_expires_at: Timestamp,
    /// The number of codes issued for this request so far.
    pub codes: u32,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub state: State,
}

impl Record for Claim {}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    Waiting,
    /// The request was denied or revoked, or the user who granted it could no longer grant it when the agent fetched the key.
    Denied(Decision),
    /// The request was granted. The key is created when the agent fetches it.
    Approved(Decision, KeyTerms),
    KeyIssued(Decision, KeyTerms, KeyId),
}

/// A user's decision about a request: who decided, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub account: AccountId,
    pub user: UserId,
    pub at: Timestamp,
}

/// The terms of the key that a user granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyTerms {
    pub permissions: PermissionSet,
    pub environment: Environment,
    pub key_name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PollResult {
    Pending,
    /// The code has expired. The agent can request a new code.
    Expired,
    /// The registration is no longer valid.
    Over,
    /// The request was granted, and the caller must now create the key.
    Grant(Decision, KeyTerms),
}

impl Claim {
    /// Returns whether `token` is the hash of the token issued for this request.
    pub fn is_of(&self, token: &[u8; 32]) -> bool {
        same(&self.token, token)
    }

    pub fn poll(&self, now: Timestamp) -> PollResult {
        if now >= self.expires_at {
            return PollResult::Over;
        }
        match &self.state {
            State::Waiting if now >= self.code_expires_at => PollResult::Expired,
            State::Waiting => PollResult::Pending,
            State::Approved(decision, granted) => PollResult::Grant(decision.clone(), granted.clone()),
            State::Denied(_) | State::KeyIssued(..) => PollResult::Over,
        }
    }

    /// Returns whether a user can still decide on the request with this code.
    pub fn is_open(&self, code: &[u8; 32], now: Timestamp) -> bool {
        self.state == State::Waiting && now < self.expires_at && now < self.code_expires_at && same(&self.code, code)
    }

    /// Returns the request with a new code; `None` if the request is no longer pending or too many codes were issued for it.
    pub fn with_code(&self, code: [u8; 32], now: Timestamp) -> Option<Self> {
        let may = self.state == State::Waiting && now < self.expires_at && self.codes < limits::CLAIM_CODES_MAX;
        let code_expires_at = now.plus_ms(limits::CLAIM_CODE_MS).min(self.expires_at);
        may.then(|| Self { code, code_expires_at, codes: self.codes + 1, ..self.clone() })
    }

    pub fn decision(&self) -> Option<&Decision> {
        match &self.state {
            State::Waiting => None,
            State::Denied(decision) | State::Approved(decision, _) | State::KeyIssued(decision, ..) => Some(decision),
        }
    }

    /// Returns the terms that the user granted, if the user granted the request.
    pub fn granted(&self) -> Option<&KeyTerms> {
        match &self.state {
            State::Approved(_, granted) | State::KeyIssued(_, granted, _) => Some(granted),
            State::Waiting | State::Denied(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_767_225_600_000);

    fn claim() -> Claim {
        Claim {
            id: ClaimId::from_bytes([1; 12]),
            agent_name: "Helper".into(),
            login_hint: "ada@example.com".into(),
            requested: DEFAULT_SCOPE,
            token: [1; 32],
            code: [2; 32],
            code_expires_at: NOW.plus_ms(limits::CLAIM_CODE_MS),
            codes: 1,
            created_at: NOW,
            expires_at: NOW.plus_ms(limits::CLAIM_MS),
            state: State::Waiting,
        }
    }

    #[test]
    fn a_code_expires_after_ten_minutes_and_the_registration_after_an_hour() {
        let claim = claim();
        assert_eq!(claim.poll(NOW.plus_ms(599_999)), PollResult::Pending);
        assert_eq!(claim.poll(NOW.plus_ms(600_000)), PollResult::Expired);
        assert_eq!(claim.poll(NOW.plus_ms(3_600_000)), PollResult::Over);
        let renewed = claim.with_code([3; 32], NOW.plus_ms(3_300_000)).expect("the request has not expired");
        assert_eq!(renewed.code_expires_at, renewed.expires_at, "no code outlives its registration");
        assert!(renewed.is_open(&[3; 32], NOW.plus_ms(3_300_000)) && !renewed.is_open(&[2; 32], NOW.plus_ms(3_300_000)));
        assert_eq!(claim.with_code([3; 32], NOW.plus_ms(3_600_000)), None);
        assert_eq!(Claim { codes: limits::CLAIM_CODES_MAX, ..claim }.with_code([3; 32], NOW), None);
    }

    #[test]
    fn a_decided_request_is_no_longer_open() {
        let decision = Decision { account: AccountId::from_bytes([9; 12]), user: UserId::from_bytes([8; 12]), at: NOW };
        let denied = Claim { state: State::Denied(decision), ..claim() };
        assert_eq!((denied.poll(NOW), denied.is_open(&[2; 32], NOW)), (PollResult::Over, false));
        assert_eq!(denied.with_code([3; 32], NOW), None);
    }
}
