//! Recipients and their delivery states. All functions are pure: they use no store, clock or network.
//!
//! A recipient is one row of a mailing. One table, [`Delivery::after`], defines all transitions; no other code changes a row's state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::store::Record;
use crate::vocab::limits;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    pub email: String,
    pub name: Option<String>,
}

/// One recipient of a mailing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipient {
    /// The address from the request; absent if the row's number is a contact's number.
    pub address: Option<Address>,
    pub delivery: Delivery,
    /// The index of the recipient's translation. It never changes, so that retries and resends have the same content and link targets.
    pub translation: u8,
}

impl Record for Recipient {}

impl Recipient {
    /// Creates a queued row for a contact.
    pub fn contact() -> Self {
        Self { address: None, delivery: Delivery::Queued, translation: 0 }
    }

    /// Creates the row of a contact who receives the message only at `due`, when the mailing's local time is reached in the contact's time
    /// zone. The retry limit is counted from `due`.
    pub fn later(due: Timestamp) -> Self {
        let delivery = Delivery::Deferred { attempts: 0, since: due, next_at: due, reply: String::new() };
        Self { address: None, delivery, translation: 0 }
    }

    /// Creates the row of a contact who is skipped.
    pub fn skipped(why: Skip) -> Self {
        Self { address: None, delivery: Delivery::Skipped { why }, translation: 0 }
    }
}

/// The delivery state of one recipient.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Delivery {
    Queued,
    /// The message is being handed over: this state is stored before the final dot is sent, so the mail server may already have the
    /// message.
    Handoff {
        epoch: u64,
        attempt: u16,
        since: Option<Timestamp>,
        at: Timestamp,
    },
    /// The next mail server accepted the message.
    Sent {
        at: Timestamp,
        reply: String,
    },
    /// The message will be retried or, after an unknown delivery, sent again; or the message is waiting for the recipient's local time. The
    /// retry limit is counted from `since`.
    Deferred {
        attempts: u16,
        since: Timestamp,
        next_at: Timestamp,
        reply: String,
    },
    /// The message was rejected permanently, or deferred for too long.
    Failed {
        at: Timestamp,
        reply: String,
    },
    /// It is uncertain whether the message was accepted.
    Unknown {
        attempt: u16,
        why: UnknownReason,
        at: Timestamp,
    },
    /// The message will not be sent to this recipient.
    Skipped {
        why: Skip,
    },
}

/// Why a delivery is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnknownReason {
    /// The process ended after the handoff and before the reply was recorded.
    Crash,
    /// After the final dot, the connection broke or the reply was invalid.
    Disconnected,
    /// The mail server did not reply in time.
    Timeout,
    /// The service stopped before the mail server replied.
    Stopped,
}

impl UnknownReason {
    /// Returns the wire name of the reason.
    pub fn word(self) -> &'static str {
        match self {
            UnknownReason::Crash => "crash",
            UnknownReason::Disconnected => "disconnected",
            UnknownReason::Timeout => "timeout",
            UnknownReason::Stopped => "stopped",
        }
    }
}

/// Why a recipient is skipped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Skip {
    Suppressed,
    Unsubscribed,
    Bounced,
    NotSubscribed,
    TopicUnsubscribed,
    InvalidAddress,
    DuplicateAddress,
    /// A merge field has no usable value and no default.
    MissingField(String),
    /// The contact was deleted.
    Erased,
    /// The mailing was canceled or failed before the message was sent to this recipient.
    Cancelled,
    /// The message cannot be written, for example because it becomes too long with this recipient's values. Contains the error.
    MergeFailed(String),
}

impl Skip {
    /// All reasons, in the order of their numbers in the table of counts, with empty field names and errors.
    pub const ALL: [Skip; 11] = [
        Skip::Suppressed,
        Skip::Unsubscribed,
        Skip::Bounced,
        Skip::NotSubscribed,
        Skip::TopicUnsubscribed,
        Skip::InvalidAddress,
        Skip::DuplicateAddress,
        Skip::MissingField(String::new()),
        Skip::Erased,
        Skip::Cancelled,
        Skip::MergeFailed(String::new()),
    ];

    /// Returns the wire name of the reason.
    pub fn word(&self) -> &'static str {
        match self {
            Skip::Suppressed => "suppressed",
            Skip::Unsubscribed => "unsubscribed",
            Skip::Bounced => "bounced",
            Skip::NotSubscribed => "not_subscribed",
            Skip::TopicUnsubscribed => "topic_unsubscribed",
            Skip::InvalidAddress => "invalid_address",
            Skip::DuplicateAddress => "duplicate_address",
            Skip::MissingField(_) => "missing_field",
            Skip::Erased => "erased",
            Skip::Cancelled => "cancelled",
            Skip::MergeFailed(_) => "merge_failed",
        }
    }

    fn place(&self) -> u8 {
        match self {
            Skip::Suppressed => 0,
            Skip::Unsubscribed => 1,
            Skip::Bounced => 2,
            Skip::NotSubscribed => 3,
            Skip::TopicUnsubscribed => 4,
            Skip::InvalidAddress => 5,
            Skip::DuplicateAddress => 6,
            Skip::MissingField(_) => 7,
            Skip::Erased => 8,
            Skip::Cancelled => 9,
            Skip::MergeFailed(_) => 10,
        }
    }
}

/// Identifies a counter of recipients: there is one for each state and, for skipped recipients, one for each reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Counter(pub u8);

impl Counter {
    pub const QUEUED: Self = Self(0);
    pub const HANDOFF: Self = Self(1);
    pub const SENT: Self = Self(2);
    pub const DEFERRED: Self = Self(3);
    pub const FAILED: Self = Self(4);
    pub const UNKNOWN: Self = Self(5);
    /// The counter of the first reason for skipping; the counters of the other reasons follow.
    pub const SKIPPED: Self = Self(16);

    /// Returns the counter of the state with this number on disk, which is the index of the state in [`Delivery`]. Returns `None` if the
    /// state alone does not determine the counter.
    pub fn of_state(state: u8) -> Option<Self> {
        (state <= Self::UNKNOWN.0).then_some(Self(state))
    }
}

impl Delivery {
    pub fn counter(&self) -> Counter {
        match self {
            Delivery::Queued => Counter::QUEUED,
            Delivery::Handoff { .. } => Counter::HANDOFF,
            Delivery::Sent { .. } => Counter::SENT,
            Delivery::Deferred { .. } => Counter::DEFERRED,
            Delivery::Failed { .. } => Counter::FAILED,
            Delivery::Unknown { .. } => Counter::UNKNOWN,
            Delivery::Skipped { why } => Counter(Counter::SKIPPED.0 + why.place()),
        }
    }

    /// Returns the wire name of the state.
    pub fn word(&self) -> &'static str {
        match self {
            Delivery::Queued => "queued",
            Delivery::Handoff { .. } => "handoff",
            Delivery::Sent { .. } => "sent",
            Delivery::Deferred { .. } => "deferred",
            Delivery::Failed { .. } => "failed",
            Delivery::Unknown { .. } => "unknown",
            Delivery::Skipped { .. } => "skipped",
        }
    }

    /// Returns the number of attempts if another attempt is still possible; otherwise returns 0.
    fn attempts(&self) -> u16 {
        match self {
            Delivery::Handoff { attempt, .. } | Delivery::Unknown { attempt, .. } => *attempt,
            Delivery::Deferred { attempts, .. } => *attempts,
            _ => 0,
        }
    }

    /// Returns the time from which the retry limit is counted, if the message was deferred or was waiting for a local time.
    fn since(&self) -> Option<Timestamp> {
        match self {
            Delivery::Handoff { since, .. } => *since,
            Delivery::Deferred { since, .. } => Some(*since),
            _ => None,
        }
    }
}

/// An event that changes a recipient's state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The transport claims the recipient: it has sent the message except for the final dot.
    Claim { epoch: u64 },
    /// The next mail server accepted the message.
    Accepted { reply: String },
    /// The next mail server certainly did not accept the message, but a retry may succeed.
    Deferred { reply: String, schedule: Schedule },
    /// No attempt was made, because the next mail server was unreachable or overloaded. Deliveries to it are paused until this time.
    Postponed { reply: String, until: Timestamp, schedule: Schedule },
    /// The next mail server rejected the message permanently.
    Refused { reply: String },
    /// The mail server did not send a valid reply to the final dot.
    Lost { why: UnknownReason },
    /// A new process with this epoch found the row in the handoff state.
    Recovered { epoch: u64 },
    /// The recipient must be skipped.
    Skip { why: Skip },
    /// There is evidence that the recipient has the message.
    Evidence { what: &'static str },
    /// A user requests a resend, at the risk of sending a second copy.
    Resend,
    /// The mailing's policy for unknown deliveries requests a resend. The first resend is immediate; later ones follow after increasing
    /// pauses. After [`limits::RESEND_ATTEMPTS_MAX`] attempts, the message is not sent again.
    AutoResend { schedule: Schedule },
    /// The time of the retry is so far in the future that the clock must have been wrong when it was stored.
    Misdated { schedule: Schedule },
}

/// The retry backoff of deferred mail. The settings are `mail.retry_minutes` and `mail.give_up_hours`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The pause before the first retry. The pause doubles with each later retry, up to [`limits::RETRY_PAUSE_MS_MAX`], or up to the first
    /// pause if that is longer.
    pub first_pause_ms: i64,
    /// The retry limit: a delivery fails if its next retry would be more than this time after `since`.
    pub give_up_ms: i64,
}

impl Schedule {
    fn pause_ms(&self, attempts: u16) -> i64 {
        let doubled = self.first_pause_ms.saturating_mul(1_i64 << attempts.saturating_sub(1).min(20));
        doubled.min(limits::RETRY_PAUSE_MS_MAX.max(self.first_pause_ms))
    }

    /// Returns how far in the future a retry can be. If a recipient with at least one attempt has a retry later than that, the stored time
    /// of the retry is wrong.
    pub fn ahead_ms_max(&self) -> i64 {
        limits::RETRY_AHEAD_MS_MAX.max(self.first_pause_ms)
    }
}

/// Why an event does not change a recipient's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The event does not apply to the recipient's state, which is usually final.
    Settled,
    /// The recipient is deferred, and the retry is not due yet.
    NotDue,
    /// The event is valid only during a handoff, and the recipient is not in that state. Either this is a bug, or the handoff belongs to
    /// another process.
    NotHandedOver,
    /// The handoff belongs to this process, which will record the server's reply.
    InFlight,
}

impl Delivery {
    /// TABLE: the transitions of a recipient's state. Any other combination of state and event is refused and changes nothing.
    ///
    /// Invariants: a recipient becomes `Sent` only if a server accepted the message, or if there is evidence that a server did. After
    /// `Handoff` or `Unknown`, the message is sent again only if it was certainly not accepted, or on [`Event::Resend`] or
    /// [`Event::AutoResend`]. `Sent`, `Failed` and `Skipped` are final.
    pub fn after(&self, event: Event, now: Timestamp) -> Result<Delivery, Refusal> {
        use Delivery as D;
        let next = match (self, event) {
            (D::Queued, Event::Claim { epoch }) => D::Handoff { epoch, attempt: 1, since: None, at: now },
            (D::Deferred { next_at, .. }, Event::Claim { .. }) if *next_at > now => return Err(Refusal::NotDue),
            (D::Deferred { attempts, since, .. }, Event::Claim { epoch }) => {
                D::Handoff { epoch, attempt: attempts.saturating_add(1), since: Some(*since), at: now }
            }

            (D::Handoff { .. }, Event::Accepted { reply }) => D::Sent { at: now, reply },
            (D::Handoff { .. }, Event::Lost { why }) => D::Unknown { attempt: self.attempts(), why, at: now },
            (D::Handoff { epoch: own, .. }, Event::Recovered { epoch }) if *own == epoch => return Err(Refusal::InFlight),
            (D::Handoff { attempt, .. }, Event::Recovered { .. }) => {
                D::Unknown { attempt: *attempt, why: UnknownReason::Crash, at: now }
            }

            // The attempt failed before the final dot, or the server deferred the message in its reply to the dot. The message was
            // certainly not accepted.
            (D::Queued | D::Deferred { .. } | D::Handoff { .. }, Event::Deferred { reply, schedule }) => {
                self.deferred(reply, schedule, now)
            }
            (D::Queued | D::Deferred { .. }, Event::Postponed { reply, until, schedule }) => {
                self.postponed(reply, until.max(now), schedule, now)
            }
            (D::Queued | D::Deferred { .. } | D::Handoff { .. }, Event::Refused { reply }) => D::Failed { at: now, reply },

            (D::Queued | D::Deferred { .. }, Event::Skip { why }) => D::Skipped { why },
            (D::Unknown { .. }, Event::Resend) => D::Queued,
            (D::Unknown { attempt, .. }, Event::AutoResend { schedule }) if *attempt < limits::RESEND_ATTEMPTS_MAX => {
                let pause_ms = if *attempt > 1 { schedule.pause_ms(*attempt - 1) } else { 0 };
                let reply = "It is not known whether the message was delivered, so it is sent again.".to_owned();
                D::Deferred { attempts: *attempt, since: now, next_at: now.plus_ms(pause_ms), reply }
            }
            // Recipients without an attempt are excluded, because their time may be the scheduled start, which may be far in the future.
            (D::Deferred { attempts: attempts @ 1.., since, next_at, reply }, Event::Misdated { schedule })
                if next_at.ms_since(now) > schedule.ahead_ms_max() =>
            {
                let next_at = now.plus_ms(schedule.pause_ms(*attempts));
                D::Deferred { attempts: *attempts, since: (*since).min(now), next_at, reply: reply.clone() }
            }
            // Evidence is accepted even before the mail server's reply is recorded. If the process then ends without recording the reply,
            // it is still known that the message was delivered.
            (D::Unknown { .. } | D::Handoff { .. }, Event::Evidence { what }) => {
                D::Sent { at: now, reply: format!("known from {what}") }
            }

            (D::Queued | D::Deferred { .. } | D::Unknown { .. }, Event::Accepted { .. } | Event::Lost { .. }) => {
                return Err(Refusal::NotHandedOver);
            }
            _ => return Err(Refusal::Settled),
        };
        Ok(next)
    }

    fn deferred(&self, reply: String, schedule: Schedule, now: Timestamp) -> Delivery {
        let since = self.since().unwrap_or(now);
        // A handoff has already been counted as an attempt.
        let attempts = match self {
            Delivery::Handoff { attempt, .. } => *attempt,
            other => other.attempts().saturating_add(1),
        };
        let next_at = now.plus_ms(schedule.pause_ms(attempts));
        Self::again(reply, (attempts, since), next_at, schedule, now)
    }

    /// Returns the state after a postponement. A postponement does not count as an attempt, so that the mail server's pause does not
    /// lengthen the retry backoff.
    fn postponed(&self, reply: String, until: Timestamp, schedule: Schedule, now: Timestamp) -> Delivery {
        Self::again(reply, (self.attempts(), self.since().unwrap_or(now)), until, schedule, now)
    }

    fn again(
        reply: String,
        (attempts, since): (u16, Timestamp),
        next_at: Timestamp,
        schedule: Schedule,
        now: Timestamp,
    ) -> Delivery {
        if next_at.ms_since(since) > schedule.give_up_ms {
            return Delivery::Failed { at: now, reply };
        }
        Delivery::Deferred { attempts, since, next_at, reply }
    }
}

/// The number of recipients in each state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub total: u64,
    pub queued: u64,
    pub handoff: u64,
    pub sent: u64,
    pub deferred: u64,
    pub failed: u64,
    pub unknown: u64,
    /// The number of skipped recipients for each reason, by the reason's wire name.
    pub skipped: BTreeMap<&'static str, u64>,
}

impl Counts {
    /// Adds a number of recipients to a counter.
    pub fn note(&mut self, counter: Counter, many: u64) {
        self.total += many;
        match counter {
            Counter::QUEUED => self.queued += many,
            Counter::HANDOFF => self.handoff += many,
            Counter::SENT => self.sent += many,
            Counter::DEFERRED => self.deferred += many,
            Counter::FAILED => self.failed += many,
            Counter::UNKNOWN => self.unknown += many,
            Counter(place) => {
                let reasons = Skip::ALL;
                let reason = reasons.get(usize::from(place.saturating_sub(Counter::SKIPPED.0)));
                *self.skipped.entry(reason.map_or("other", Skip::word)).or_default() += many;
            }
        }
    }

    /// Returns the total number of skipped recipients.
    pub fn skipped_total(&self) -> u64 {
        self.skipped.values().sum()
    }

    /// Returns how many recipients are queued, in handoff or deferred.
    pub fn open(&self) -> u64 {
        self.queued + self.handoff + self.deferred
    }
}

#[cfg(test)]
mod tests;
