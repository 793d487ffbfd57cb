//! What recipients do with messages, and the measures that statistics count.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::base::day;
use crate::engine::store::Record;
use crate::vocab::ids::{AccountId, MailingId};
use crate::vocab::limits;

/// What one recipient did with one message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engagement {
    /// The number of opens by the recipient, excluding opens by detected bots and privacy proxies.
    pub opens: u32,
    pub clicks: u32,
    /// The number of opens by scanners and other bots.
    pub machine_opens: u32,
    pub machine_clicks: u32,
    /// The number of opens by privacy proxies, which load images whether or not the recipient reads the email.
    pub proxy_opens: u32,
    pub first_opened_at: Option<Timestamp>,
    pub last_opened_at: Option<Timestamp>,
    pub first_clicked_at: Option<Timestamp>,
    pub last_clicked_at: Option<Timestamp>,
    pub unsubscribed_at: Option<Timestamp>,
    pub complained_at: Option<Timestamp>,
    /// The complaint type from the feedback report.
    pub complaint: Option<String>,
    pub bounced_at: Option<Timestamp>,
    pub bounce: Option<Bounce>,
    /// Whether the recipient's only open is implied by a click, because no request for the tracking pixel was recorded.
    pub open_is_implied: bool,
    /// The number of clicks right after delivery that were attributed to the recipient. Many early clicks in a short time indicate a
    /// scanner.
    pub early_clicks: u32,
    /// The links of the early clicks.
    pub early_links: Vec<u16>,
}

impl Record for Engagement {}

/// The class of a bounce and the response of the mail server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounce {
    pub hard: bool,
    /// The class of the bounce: `hard`, `soft`, `policy` or `content`.
    pub class: String,
    pub detail: String,
}

/// A delivery event that has yet to be processed. It was either reported by a mail server or simulated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeliveryEvent {
    /// A mail server rejected the message during delivery with this response.
    Refused {
        reply: String,
    },
    /// The mail server of a simulated recipient bounces the message.
    Bounce {
        hard: bool,
    },
    Complaint,
    Open,
    Click,
    Unsubscribe,
}

impl Record for DeliveryEvent {}

/// An action or delivery result that statistics count. The keys of rows contain the measures' numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    Opens = 0,
    UniqueOpens = 1,
    Clicks = 2,
    UniqueClicks = 3,
    MachineOpens = 4,
    MachineClicks = 5,
    ProxyOpens = 6,
    Unsubscribes = 7,
    Complaints = 8,
    /// Hard bounces of messages that the next server had first accepted. Messages that it rejected count as [`Measure::Failed`].
    HardBounces = 9,
    /// All other bounces of messages that the next server had first accepted.
    SoftBounces = 10,
    /// Sent messages. They are counted by day only, because the recipient rows in `sending` already record to whom a message was sent.
    Sent = 11,
    /// Messages that the next server rejected permanently or deferred for too long. They are counted by day only, like [`Measure::Sent`].
    Failed = 12,
}

impl Measure {
    /// Every measure, at the index that equals its stored number.
    pub const ALL: [Self; 13] = [
        Self::Opens,
        Self::UniqueOpens,
        Self::Clicks,
        Self::UniqueClicks,
        Self::MachineOpens,
        Self::MachineClicks,
        Self::ProxyOpens,
        Self::Unsubscribes,
        Self::Complaints,
        Self::HardBounces,
        Self::SoftBounces,
        Self::Sent,
        Self::Failed,
    ];
}

/// The data that statistics require about a mailing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatsMailing {
    pub id: MailingId,
    pub account: AccountId,
    pub is_campaign: bool,
    pub created_at: Timestamp,
}

impl StatsMailing {
    /// Returns the scopes whose statistics the mailing contributes to: its account, and the mailing itself if it belongs to a
    /// campaign and `day` is less than `limits::CAMPAIGN_DAYS` days after the mailing was created.
    pub fn scopes(self, day: u32) -> impl Iterator<Item = StatsScope> {
        let has_own_days = self.is_campaign && day < day::of(self.created_at) + limits::CAMPAIGN_DAYS;
        [Some(StatsScope::Account(self.account)), has_own_days.then_some(StatsScope::Mailing(self.id))].into_iter().flatten()
    }
}

/// The scope of daily statistics: an account or a mailing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatsScope {
    Account(AccountId),
    Mailing(MailingId),
}

impl StatsScope {
    /// Returns the prefix of a row's key that identifies the scope: a number for the kind of scope, then its ID.
    pub fn key(self) -> (u8, [u8; 12]) {
        match self {
            StatsScope::Account(id) => (0, id.0),
            StatsScope::Mailing(id) => (1, id.0),
        }
    }
}
