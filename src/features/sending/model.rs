//! Mailings and their rules: pure, without store, clock or network.
//!
//! A mailing is one content, in one or more languages, to one audience: a direct send, a batch, a test send, or a campaign. Its recipients
//! are in `delivery.rs`.

use serde::{Deserialize, Serialize};

pub use super::delivery::{Address, Counter, Counts, Delivery, Event, Recipient, Refusal, Schedule, Skip, UnknownReason};
use super::local_time::LocalTime;
use crate::base::clock::Timestamp;
use crate::base::locale::best_match;
use crate::engine::hold::HoldNumber;
use crate::engine::store::Record;
use crate::features::domains::Utm;
use crate::features::emails::Finished;
use crate::vocab::ids::{AccountId, CampaignId, ConversationId, EmailId, MailingId, ProjectId, SegmentId, TagId, TopicId};
use crate::vocab::settings::UnknownPolicy;

/// A mailing: its content, audience and state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mailing {
    pub id: MailingId,
    pub account: AccountId,
    pub project: Option<ProjectId>,
    pub kind: Kind,
    pub state: State,
    pub plan: Plan,
    pub from: Sender,
    pub conversation: Option<ConversationId>,
    /// The content, once per language; never empty. The first is for recipients whose language has no translation.
    pub translations: Vec<Translation>,
    pub audience: Audience,
    /// Ignores the recipient's subscriptions, and has no unsubscribe headers.
    pub transactional: bool,
    pub topic: Option<TopicId>,
    /// Merge fields shared by all recipients, as the JSON text of an object.
    pub variables: String,
    pub tracking: Tracking,
    /// The UTM parameters for links, if any.
    pub utm: Option<Utm>,
    pub unknown: Policy,
    /// The local time at which recipients get it, if it is sent by local time.
    pub local: Option<LocalTime>,
    /// The last hold before it was created.
    pub hold_number: HoldNumber,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Mailing {}

/// The content of a mailing in one language.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Translation {
    /// A BCP 47 tag; absent if the content is not a stored email.
    pub language: Option<String>,
    pub email: Option<EmailId>,
    pub subject: String,
    /// The key of its texts and links; mailings with the same content share them.
    pub content: ContentId,
}

/// The key of texts and links: a digest of them.
pub type ContentId = [u8; 16];

/// The queue of direct sends.
pub const DIRECT: u8 = 0;
/// The queue of sends to audiences.
pub const GROUPS: u8 = 1;

/// What created a mailing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A direct send to one address, with or without copies.
    Single,
    /// A direct send to an audience.
    Batch,
    /// A test of an email.
    Test,
    /// A campaign's send.
    Campaign(CampaignId),
}

impl Kind {
    /// Returns the dispatcher's queue for this kind: direct sends overtake groups.
    pub fn lane(self) -> u8 {
        match self {
            Kind::Single | Kind::Test => DIRECT,
            Kind::Batch | Kind::Campaign(_) => GROUPS,
        }
    }

    /// Returns whether the API returns it as a batch.
    pub fn is_group(self) -> bool {
        matches!(self, Kind::Batch | Kind::Campaign(_))
    }

    /// Returns the campaign, if there is one.
    pub fn campaign(self) -> Option<CampaignId> {
        if let Kind::Campaign(id) = self { Some(id) } else { None }
    }
}

/// The state of a mailing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// Its recipient rows are being written.
    Planning,
    Sending,
    /// A user paused it and may resume it.
    Paused,
    /// It continues automatically.
    Waiting {
        reason: WaitReason,
        until: Timestamp,
    },
    /// No recipients are left.
    Finished {
        at: Timestamp,
    },
    Cancelled {
        at: Timestamp,
    },
    /// It cannot be sent; the reason is a sentence for people.
    Failed {
        reason: String,
        at: Timestamp,
    },
}

impl State {
    /// Returns whether nothing more is sent.
    pub fn is_final(&self) -> bool {
        matches!(self, State::Finished { .. } | State::Cancelled { .. } | State::Failed { .. })
    }

    /// Returns whether recipients may be claimed. The scheduler itself checks what a waiting mailing waits for.
    pub fn may_send(&self) -> bool {
        matches!(self, State::Sending | State::Waiting { .. })
    }
}

/// What a mailing waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WaitReason {
    /// The plan's emails for this day or month are used up.
    Quota,
    /// No transport is configured, or none of its servers can be reached.
    Transport,
    /// All remaining recipients are deferred.
    Deferred,
}

impl WaitReason {
    /// The wire name.
    pub fn word(self) -> &'static str {
        match self {
            WaitReason::Quota => "quota",
            WaitReason::Transport => "transport",
            WaitReason::Deferred => "deferred",
        }
    }
}

/// The progress of planning the audience.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Plan {
    /// The audience is not selected yet.
    Selecting,
    /// The audience is stored; contacts from this number on have no row yet.
    From(u32),
    /// All recipients have a row.
    Done,
}

/// The sender.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    pub address: String,
    pub name: Option<String>,
    pub reply_to: Option<String>,
}

/// The audience of a mailing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Audience {
    /// Addresses from the request; they are in the recipient rows.
    Addresses,
    /// Every contact of the project.
    Everyone,
    Segment(SegmentId),
    Tag(TagId),
}

/// Which recipient activity is tracked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tracking {
    pub opens: bool,
    pub clicks: bool,
}

/// What to do with recipients whose delivery is unknown.
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
    pub kind: Kind,
    /// One per language; never empty, and at most `limits::EMAIL_LANGUAGES_MAX`. The first is for recipients whose language has none.
    pub contents: Vec<Content>,
    pub from: Sender,
    pub to: To,
    pub transactional: bool,
    pub topic: Option<TopicId>,
    /// Merge fields shared by all recipients.
    pub variables: serde_json::Map<String, serde_json::Value>,
    pub tracking: Tracking,
    /// The UTM parameters for links; the domain's setting applies if absent.
    pub utm: Option<Utm>,
    /// The name to use in UTM parameters.
    pub campaign_name: Option<String>,
    pub unknown: Policy,
    /// The local time at which recipients get it. Addresses from a request have no local time.
    pub local: Option<LocalTime>,
}

/// The recipients of a new mailing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum To {
    Addresses(Vec<Address>),
    Everyone,
    Segment(SegmentId),
    Tag(TagId),
}

impl To {
    /// Returns the audience as the mailing stores it.
    pub fn audience(&self) -> Audience {
        match self {
            To::Addresses(_) => Audience::Addresses,
            To::Everyone => Audience::Everyone,
            To::Segment(id) => Audience::Segment(*id),
            To::Tag(id) => Audience::Tag(*id),
        }
    }
}

/// Texts with merge fields, and their source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// A BCP 47 tag, if it is a stored email.
    pub language: Option<String>,
    pub email: Option<EmailId>,
    pub conversation: Option<ConversationId>,
    pub subject: String,
    /// The preview text, if it is not already part of the HTML.
    pub preheader: Option<String>,
    pub html: String,
    /// Generated from the HTML if absent.
    pub text: Option<String>,
}

impl From<Finished> for Content {
    fn from(email: Finished) -> Self {
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
    /// Returns the translation for recipients whose language has none.
    pub fn first(&self) -> &Translation {
        self.translations.first().expect("a mailing has at least one translation")
    }

    /// Returns the translation that a recipient gets.
    pub fn translation_for(&self, recipient: &Recipient) -> &Translation {
        self.translations.get(usize::from(recipient.translation)).unwrap_or_else(|| self.first())
    }

    /// Returns the index of the translation for a recipient with this language.
    pub fn translation_in(&self, language: Option<&str>) -> u8 {
        if self.translations.len() < 2 {
            return 0;
        }
        let offered: Vec<&str> =
            self.translations.iter().map(|translation| translation.language.as_deref().unwrap_or_default()).collect();
        let found = language.and_then(|language| best_match(language, &offered)).unwrap_or(0);
        u8::try_from(found).expect("an email has few translations")
    }

    /// Pauses it. Planning of its audience continues.
    pub fn pause(&mut self) -> Result<(), &'static str> {
        match self.state {
            State::Planning | State::Sending | State::Waiting { .. } => {
                self.state = State::Paused;
                Ok(())
            }
            _ => Err(self.word()),
        }
    }

    /// Resumes it.
    pub fn resume(&mut self) -> Result<(), &'static str> {
        match self.state {
            State::Paused => {
                self.state = if self.plan == Plan::Done { State::Sending } else { State::Planning };
                Ok(())
            }
            _ => Err(self.word()),
        }
    }

    /// Cancels it.
    pub fn cancel(&mut self, now: Timestamp) -> Result<(), &'static str> {
        if self.state.is_final() {
            return Err(self.word());
        }
        self.state = State::Cancelled { at: now };
        Ok(())
    }

    /// The wire name of the state.
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
            kind: Kind::Batch,
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
            paused.pause().expect("it was under way");
            assert_eq!(paused.pause(), Err("paused"));
            assert!(!paused.state.may_send());
            paused.resume().expect("it was paused");
            assert_eq!(paused.state, after);
        }
        let ends = [State::Finished { at: NOW }, State::Cancelled { at: NOW }, State::Failed { reason: String::new(), at: NOW }];
        for end in ends {
            let mut over = mailing(end.clone(), Plan::Done);
            assert!(over.pause().is_err() && over.resume().is_err() && over.cancel(NOW).is_err());
            assert_eq!(over.state, end);
        }
    }
}
