//! Mailings and their rules. All functions are pure: they use no store, clock or network.
//!
//! A mailing sends content in one or more languages to one audience, as a direct send, a batch, a test send, or a campaign. Its recipients
//! are defined in `delivery.rs`.

use serde::{Deserialize, Serialize};

pub use super::delivery::{Address, Counter, Counts, Delivery, Event, Recipient, Refusal, Schedule, Skip, UnknownReason};
use super::local_time::LocalTime;
use crate::base::clock::Timestamp;
use crate::base::locale::best_match;
use crate::engine::hold::HoldNumber;
use crate::engine::store::Record;
use crate::features::domains::Utm;
use crate::features::emails::ReadyEmail;
use crate::features::engagement::StatsMailing;
use crate::vocab::ids::{AccountId, CampaignId, ConversationId, EmailId, MailingId, ProjectId, SegmentId, TagId, TopicId};
use crate::vocab::settings::UnknownPolicy;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mailing {
    pub id: MailingId,
    pub account: AccountId,
    pub project: Option<ProjectId>,
    pub kind: MailingKind,
    pub state: State,
    pub plan: Plan,
    pub from: Sender,
    pub conversation: Option<ConversationId>,
    /// The content in each language; never empty. Recipients whose language has no translation receive the first translation.
    pub translations: Vec<Translation>,
    pub audience: Audience,
    /// Whether the mailing ignores the recipients' subscriptions and has no unsubscribe headers.
    pub transactional: bool,
    pub topic: Option<TopicId>,
    /// The merge fields shared by all recipients, as a JSON object.
    pub variables: String,
    pub tracking: Tracking,
    pub utm: Option<Utm>,
    pub unknown: Policy,
    /// The local time at which recipients receive the message, if the mailing is scheduled for a local time.
    pub local: Option<LocalTime>,
    /// The number of the last hold that began before the mailing was created.
    pub hold_number: HoldNumber,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Mailing {}

/// The content of a mailing in one language.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Translation {
    /// The language as a BCP 47 tag; absent if the content is not a stored email.
    pub language: Option<String>,
    pub email: Option<EmailId>,
    pub subject: String,
    /// The key of the stored templates and links, which are shared by mailings with the same content.
    pub content: ContentId,
}

/// A hash of the account's ID and the content: the key of the stored templates and links.
pub type ContentId = [u8; 16];

/// The queue of direct sends, which have priority over sends to audiences.
pub const DIRECT: u8 = 0;
/// The queue of sends to audiences: batches and campaigns.
pub const GROUPS: u8 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MailingKind {
    /// A direct send to one address, optionally with copies.
    Single,
    /// A send to an audience, outside a campaign.
    Batch,
    Test,
    Campaign(CampaignId),
}

impl MailingKind {
    /// Returns the dispatcher's queue for this kind of mailing. Direct sends have priority over sends to audiences.
    pub fn lane(self) -> u8 {
        match self {
            MailingKind::Single | MailingKind::Test => DIRECT,
            MailingKind::Batch | MailingKind::Campaign(_) => GROUPS,
        }
    }

    /// Returns whether the API shows this mailing as a batch.
    pub fn is_group(self) -> bool {
        matches!(self, MailingKind::Batch | MailingKind::Campaign(_))
    }

    pub fn campaign(self) -> Option<CampaignId> {
        if let MailingKind::Campaign(id) = self { Some(id) } else { None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// The recipient rows are being written.
    Planning,
    Sending,
    /// A user paused the mailing and can resume it.
    Paused,
    /// Sending is interrupted because of `reason`, and continues automatically at `until`.
    Waiting {
        reason: WaitReason,
        until: Timestamp,
    },
    /// No recipients are left to send to.
    Finished {
        at: Timestamp,
    },
    Cancelled {
        at: Timestamp,
    },
    /// The mailing cannot be sent. `reason` is a sentence for users.
    Failed {
        reason: String,
        at: Timestamp,
    },
}

impl State {
    /// Returns whether the mailing is finished, canceled or failed.
    pub fn is_final(&self) -> bool {
        matches!(self, State::Finished { .. } | State::Cancelled { .. } | State::Failed { .. })
    }

    /// Returns whether recipients may be claimed. If the mailing is waiting, the scheduler checks whether it may continue.
    pub fn may_send(&self) -> bool {
        matches!(self, State::Sending | State::Waiting { .. })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WaitReason {
    /// The plan's email quota for this day or month is used up.
    Quota,
    /// No transport is configured, its servers cannot be reached, or the From domain is no longer verified.
    Transport,
    /// All remaining recipients are deferred.
    Deferred,
}

impl WaitReason {
    /// Returns the wire name of the reason.
    pub fn word(self) -> &'static str {
        match self {
            WaitReason::Quota => "quota",
            WaitReason::Transport => "transport",
            WaitReason::Deferred => "deferred",
        }
    }
}

/// The progress of planning a mailing's audience.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Plan {
    Selecting,
    /// The audience is stored, but contacts from this number on have no row yet.
    From(u32),
    /// All recipients have a row.
    Done,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    pub address: String,
    pub name: Option<String>,
    pub reply_to: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Audience {
    /// Addresses from the request, which are stored in the recipient rows.
    Addresses,
    /// Every contact in the project.
    Everyone,
    Segment(SegmentId),
    Tag(TagId),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tracking {
    pub opens: bool,
    pub clicks: bool,
}

/// The policy for recipients whose delivery is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Policy {
    Hold,
    Resend,
}

impl From<UnknownPolicy> for Policy {
    fn from(setting: UnknownPolicy) -> Self {
        match setting {
            UnknownPolicy::Hold => Policy::Hold,
            UnknownPolicy::Resend => Policy::Resend,
        }
    }
}

/// A request for a new mailing.
#[derive(Clone, Debug)]
pub struct NewMailing {
    pub account: AccountId,
    pub project: Option<ProjectId>,
    pub kind: MailingKind,
    /// The content in each language: at least one language, and at most `limits::EMAIL_LANGUAGES_MAX`. Recipients whose language has no
    /// content receive the first.
    pub contents: Vec<Content>,
    pub from: Sender,
    pub to: To,
    pub transactional: bool,
    pub topic: Option<TopicId>,
    /// The merge fields shared by all recipients.
    pub variables: serde_json::Map<String, serde_json::Value>,
    pub tracking: Tracking,
    /// The UTM parameters for links. If absent, the domain's setting applies.
    pub utm: Option<Utm>,
    /// The campaign name to use in UTM parameters.
    pub campaign_name: Option<String>,
    pub unknown: Policy,
    /// The local time at which recipients receive the message. It does not apply to addresses from a request.
    pub local: Option<LocalTime>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum To {
    Addresses(Vec<Address>),
    Everyone,
    Segment(SegmentId),
    Tag(TagId),
}

impl To {
    pub fn audience(&self) -> Audience {
        match self {
            To::Addresses(_) => Audience::Addresses,
            To::Everyone => Audience::Everyone,
            To::Segment(id) => Audience::Segment(*id),
            To::Tag(id) => Audience::Tag(*id),
        }
    }
}

/// The templates in one language, and the stored email that they come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The language as a BCP 47 tag, if the content is a stored email.
    pub language: Option<String>,
    pub email: Option<EmailId>,
    pub conversation: Option<ConversationId>,
    pub subject: String,
    /// The preview text, unless it is already part of the HTML.
    pub preheader: Option<String>,
    pub html: String,
    /// The plain text. If absent, it is generated from the HTML.
    pub text: Option<String>,
}

impl From<ReadyEmail> for Content {
    fn from(email: ReadyEmail) -> Self {
        Self {
            language: Some(email.language),
            email: Some(email.id),
            conversation: Some(email.conversation),
            subject: email.subject,
            preheader: None,
            html: email.html,
            text: Some(email.text).filter(|text| !text.is_empty()),
        }
    }
}

impl Mailing {
    pub fn for_stats(&self) -> StatsMailing {
        let is_campaign = self.kind.campaign().is_some();
        StatsMailing { id: self.id, account: self.account, is_campaign, created_at: self.created_at }
    }

    /// Returns the IDs of the stored emails that the mailing sends.
    pub fn emails(&self) -> impl Iterator<Item = EmailId> {
        self.translations.iter().filter_map(|translation| translation.email)
    }

    /// Returns the merge fields shared by all recipients of the mailing.
    pub fn variables(&self) -> serde_json::Map<String, serde_json::Value> {
        serde_json::from_str(&self.variables).expect("`create` writes only a JSON object")
    }

    /// Returns the first translation, which is also used for recipients whose language has no translation.
    pub fn first(&self) -> &Translation {
        self.translations.first().expect("a mailing has at least one translation")
    }

    pub fn translation_for(&self, recipient: &Recipient) -> &Translation {
        self.translations.get(usize::from(recipient.translation)).unwrap_or_else(|| self.first())
    }

    /// Returns the index of the translation that fits a recipient's language best, or 0 if none fits.
    pub fn translation_in(&self, language: Option<&str>) -> u8 {
        if self.translations.len() < 2 {
            return 0;
        }
        let offered: Vec<&str> =
            self.translations.iter().map(|translation| translation.language.as_deref().unwrap_or_default()).collect();
        let found = language.and_then(|language| best_match(language, &offered)).unwrap_or(0);
        u8::try_from(found).expect("an email has few translations")
    }

    /// Pauses the mailing; audience planning continues. Returns false if the state does not allow a pause.
    pub fn pause(&mut self) -> bool {
        let may_pause = matches!(self.state, State::Planning | State::Sending | State::Waiting { .. });
        if may_pause {
            self.state = State::Paused;
        }
        may_pause
    }

    /// Resumes a paused mailing. Returns false if the mailing is not paused.
    pub fn resume(&mut self) -> bool {
        let is_paused = matches!(self.state, State::Paused);
        if is_paused {
            self.state = if self.plan == Plan::Done { State::Sending } else { State::Planning };
        }
        is_paused
    }

    /// Cancels the mailing. Returns false if the mailing has already ended.
    pub fn cancel(&mut self, now: Timestamp) -> bool {
        let is_open = !self.state.is_final();
        if is_open {
            self.state = State::Cancelled { at: now };
        }
        is_open
    }

    /// Returns the name of the mailing's state in the log. The API's statuses also depend on the recipients (`views::status`).
    pub fn word(&self) -> &'static str {
        match self.state {
            State::Planning => "queued",
            State::Sending => "sending",
            State::Paused => "paused",
            State::Waiting { .. } => "waiting",
            State::Finished { .. } => "finished",
            State::Cancelled { .. } => "cancelled",
            State::Failed { .. } => "failed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_767_225_600_000);

    fn mailing(state: State, plan: Plan) -> Mailing {
        Mailing {
            id: MailingId::from_bytes([1; 12]),
            account: AccountId::from_bytes([1; 12]),
            project: None,
            kind: MailingKind::Batch,
            state,
            plan,
            from: Sender { address: "a@example.com".into(), name: None, reply_to: None },
            conversation: None,
            translations: vec![Translation::default()],
            audience: Audience::Everyone,
            transactional: false,
            topic: None,
            local: None,
            variables: "{}".into(),
            tracking: Tracking::default(),
            utm: None,
            unknown: Policy::Hold,
            hold_number: 0,
            created_at: NOW,
            updated_at: NOW,
        }
    }

    #[test]
    fn recipients_get_their_language_or_else_the_first() {
        let translation = |language: &str| Translation { language: Some(language.into()), ..Translation::default() };
        let translations = ["en", "de", "pt-BR"].map(translation).to_vec();
        let several = Mailing { translations, ..mailing(State::Planning, Plan::Selecting) };
        for (language, index) in [
            (None, 0),
            (Some("en"), 0),
            (Some("de"), 1),
            (Some("de-AT"), 1),
            (Some("DE-ch-1996"), 1),
            (Some("pt"), 2),
            (Some("pt-PT"), 2),
            (Some("fr"), 0),
            (Some(""), 0),
        ] {
            assert_eq!(several.translation_in(language), index, "{language:?}");
        }
        assert_eq!(mailing(State::Planning, Plan::Selecting).translation_in(Some("de")), 0);
    }

    #[test]
    fn a_mailing_resumes_where_it_was_paused_and_never_after_its_end() {
        for (plan, after) in [(Plan::Selecting, State::Planning), (Plan::From(7), State::Planning), (Plan::Done, State::Sending)]
        {
            let mut paused = mailing(State::Planning, plan);
            assert!(paused.pause(), "a running mailing can be paused");
            assert!(!paused.pause());
            assert!(!paused.state.may_send());
            assert!(paused.resume(), "a paused mailing can be resumed");
            assert_eq!(paused.state, after);
        }
        let ends = [State::Finished { at: NOW }, State::Cancelled { at: NOW }, State::Failed { reason: String::new(), at: NOW }];
        for end in ends {
            let mut over = mailing(end.clone(), Plan::Done);
            assert!(!over.pause() && !over.resume() && !over.cancel(NOW));
            assert_eq!(over.state, end);
        }
    }
}
