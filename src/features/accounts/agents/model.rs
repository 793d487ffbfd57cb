//! An agent's request for a key, from its registration to its end: pure, without a clock or a store.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::base::secret::same;
use crate::engine::store::Record;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, ClaimId, KeyId, UserId};
use crate::vocab::limits;
use crate::vocab::permissions::{Permission, PermissionSet};

/// What an agent gets that names no scope: reading, and little of it.
pub const DEFAULT_SCOPE: PermissionSet = PermissionSet::of(&[
    Permission::AudienceRead,
    Permission::EmailRead,
    Permission::CampaignRead,
    Permission::WebhookRead,
    Permission::DomainRead,
]);

/// What is not granted without a sign-in of the last minutes: with these, mail goes out.
pub const SENSITIVE: [Permission; 2] = [Permission::EmailSend, Permission::CampaignWrite];

/// An agent asks somebody for a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub id: ClaimId,
    /// As the agent calls itself.
    pub agent_name: String,
    /// The normalised email of the only person who may grant it.
    pub login_hint: String,
    pub requested: PermissionSet,
    /// SHA-256 of the token that the agent polls with.
    pub token: [u8; 32],
    /// SHA-256 of the code that the person enters.
    pub code: [u8; 32],
    pub code_expires_at: Timestamp,
    /// How many codes it has had.
    pub codes: u32,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub state: State,
}

impl Record for Claim {}

/// How far it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    Waiting,
    /// Denied, or granted by somebody who might not grant it any more when the agent came for the key.
    Denied(Decision),
    /// Granted; the key is made when the agent fetches it.
    Approved(Decision, KeyTerms),
    /// The agent has its key.
    KeyIssued(Decision, KeyTerms, KeyId),
}

/// Who decided, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    pub account: AccountId,
    pub user: UserId,
    pub at: Timestamp,
}

/// What was granted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyTerms {
    pub permissions: PermissionSet,
    pub environment: Environment,
    pub key_name: String,
}

/// What a poll is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PollResult {
    Pending,
    /// The code is over; a new one is to be had.
    Expired,
    /// Nothing more comes of this registration.
    Over,
    /// The key is to be made now.
    Grant(Decision, KeyTerms),
}

impl Claim {
    /// Whether `token` is the one this was answered with.
    pub fn is_of(&self, token: &[u8; 32]) -> bool {
        same(&self.token, token)
    }

    /// What the agent is told now.
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

    /// Whether somebody can still decide, and with this code.
    pub fn is_open(&self, code: &[u8; 32], now: Timestamp) -> bool {
        self.state == State::Waiting && now < self.expires_at && now < self.code_expires_at && same(&self.code, code)
    }

    /// The same with another code; `None` where nothing waits any more or it had enough of them.
    pub fn with_code(&self, code: [u8; 32], now: Timestamp) -> Option<Self> {
        let may = self.state == State::Waiting && now < self.expires_at && self.codes < limits::CLAIM_CODES_MAX;
        let code_expires_at = now.plus_ms(limits::CLAIM_CODE_MS).min(self.expires_at);
        may.then(|| Self { code, code_expires_at, codes: self.codes + 1, ..self.clone() })
    }

    /// Who decided, if somebody did.
    pub fn decision(&self) -> Option<&Decision> {
        match &self.state {
            State::Waiting => None,
            State::Denied(decision) | State::Approved(decision, _) | State::KeyIssued(decision, ..) => Some(decision),
        }
    }

    /// What was granted, if something was.
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
    fn a_code_is_over_after_ten_minutes_and_the_registration_after_an_hour() {
        let claim = claim();
        assert_eq!(claim.poll(NOW.plus_ms(599_999)), PollResult::Pending);
        assert_eq!(claim.poll(NOW.plus_ms(600_000)), PollResult::Expired);
        assert_eq!(claim.poll(NOW.plus_ms(3_600_000)), PollResult::Over);
        let renewed = claim.with_code([3; 32], NOW.plus_ms(3_300_000)).expect("within the hour");
        assert_eq!(renewed.code_expires_at, renewed.expires_at, "no code outlives its registration");
        assert!(renewed.is_open(&[3; 32], NOW.plus_ms(3_300_000)) && !renewed.is_open(&[2; 32], NOW.plus_ms(3_300_000)));
        assert_eq!(claim.with_code([3; 32], NOW.plus_ms(3_600_000)), None);
        assert_eq!(Claim { codes: limits::CLAIM_CODES_MAX, ..claim }.with_code([3; 32], NOW), None);
    }

    #[test]
    fn what_is_decided_is_not_open_any_more() {
        let decision = Decision { account: AccountId::from_bytes([9; 12]), user: UserId::from_bytes([8; 12]), at: NOW };
        let denied = Claim { state: State::Denied(decision), ..claim() };
        assert_eq!((denied.poll(NOW), denied.is_open(&[2; 32], NOW)), (PollResult::Over, false));
        assert_eq!(denied.with_code([3; 32], NOW), None);
    }
}
