//! A campaign and its rules, as pure functions that use no store, clock or HTTP.
//!
//! A campaign is an email, its recipients and a start time. The table behind [`after`] defines the actions that are allowed in each status,
//! and the status after each action. A mailing sends the messages, and the campaign's status follows the mailing until the mailing
//! finishes.

use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::base::zone::Zone;
use crate::engine::hold::HoldNumber;
use crate::engine::store::Record;
use crate::features::domains::Utm;
use crate::features::sending::LocalTime;
use crate::vocab::ids::{CampaignId, ConversationId, EmailId, MailingId, ProjectId, RecipientId, SegmentId, TagId, TopicId};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Campaign {
    pub id: CampaignId,
    pub project: ProjectId,
    pub plan: Plan,
    pub status: CampaignStatus,
    /// The scheduled start; kept after the campaign has started on schedule.
    pub schedule: Option<Schedule>,
    /// The mailing that sends the campaign, once the campaign has started.
    pub mailing: Option<MailingId>,
    /// When the worker next tries to start the campaign; `None` unless the campaign is scheduled.
    pub check_at: Option<Timestamp>,
    /// The number of the last hold on sending that started before the campaign was scheduled; 0 if there was none.
    pub hold_number: HoldNumber,
    pub started_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    /// Why the campaign failed or is waiting, as a sentence for users.
    pub error: Option<String>,
    pub archived_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Record for Campaign {}

/// The part of a campaign that users set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub name: String,
    pub conversation: ConversationId,
    /// The emails to send, one per language; never empty. The first email also goes to recipients whose language has no email.
    pub emails: Vec<EmailId>,
    /// The campaign's own subject, for all languages. If absent, each email's own subject is used.
    pub subject: Option<String>,
    /// The campaign's own preheader, for all languages. If absent, each email's own preheader is used.
    pub preheader: Option<String>,
    pub from: String,
    pub from_name: String,
    pub reply_to: Option<String>,
    pub recipients: Recipients,
    pub topic: Option<TopicId>,
    /// The transport that the client named; stored but not used.
    pub provider: Option<String>,
    /// Merge field values for all recipients, as the JSON text of an object.
    pub variables: String,
    /// UTM parameters for links. If absent, the setting of the From address's domain applies.
    pub utm: Option<Utm>,
    pub minimum_score: Option<u8>,
    /// What to do with recipients whose delivery is unknown. If absent, the installation's setting applies.
    pub unknown: Option<Unknown>,
}

impl Plan {
    /// Returns the first email, which also goes to recipients whose language has no email.
    pub fn first_email(&self) -> EmailId {
        *self.emails.first().expect("a campaign has at least one email")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Recipients {
    /// Every contact in the project.
    Everyone,
    /// A segment that the client specified with the recipient type `audience` instead of `segment`.
    Audience(SegmentId),
    Segment(SegmentId),
    Tag(TagId),
}

/// The kinds of recipients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "CampaignTo")]
pub enum RecipientType {
    /// Every contact in the project or, with a segment's ID, the contacts in that segment.
    Audience,
    Segment,
    Tag,
}

impl Recipients {
    /// Creates the recipients from their kind and ID. On error, returns the name of the invalid field and the reason.
    pub fn new(kind: RecipientType, id: Option<RecipientId>, project: ProjectId) -> Result<Self, (&'static str, &'static str)> {
        match (kind, id) {
            (RecipientType::Audience, None) => Ok(Self::Everyone),
            (RecipientType::Audience, Some(id)) if id.0 == project.0 => Ok(Self::Everyone),
            (RecipientType::Audience, Some(id)) => Ok(Self::Audience(SegmentId::from_bytes(id.0))),
            (RecipientType::Segment, Some(id)) => Ok(Self::Segment(SegmentId::from_bytes(id.0))),
            (RecipientType::Tag, Some(id)) => Ok(Self::Tag(TagId::from_bytes(id.0))),
            (RecipientType::Segment, None) => Err(("recipientId", "set the segment's ID; GET /v1/segments lists the segments")),
            (RecipientType::Tag, None) => Err(("recipientId", "set the tag's ID; GET /v1/tags lists the tags")),
        }
    }

    /// Returns the kind and ID of the recipients. `Everyone` becomes an audience with the project's ID.
    pub fn kind_and_id(self, project: ProjectId) -> (RecipientType, RecipientId) {
        match self {
            Self::Everyone => (RecipientType::Audience, RecipientId::from_bytes(project.0)),
            Self::Audience(id) => (RecipientType::Audience, RecipientId::from_bytes(id.0)),
            Self::Segment(id) => (RecipientType::Segment, RecipientId::from_bytes(id.0)),
            Self::Tag(id) => (RecipientType::Tag, RecipientId::from_bytes(id.0)),
        }
    }
}

/// What to do with recipients whose delivery is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "UnknownPolicy")]
pub enum Unknown {
    /// Do not send again until a user decides or evidence shows whether the message was delivered.
    Hold,
    /// Send again, at the risk that the recipient gets a second copy.
    Resend,
}

/// When a campaign starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// The instant at which the local time in the campaign's time zone is the start time.
    pub at: Timestamp,
    /// The IANA name of the time zone.
    pub zone: String,
    pub mode: TimezoneMode,
    /// A notice for users about the start time, for example that this local time does not exist because clocks are set forward.
    pub notice: Option<String>,
}

/// The time zone in which the start time applies: the campaign's time zone, or each recipient's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimezoneMode {
    /// Sending starts for all recipients at the same moment, when the local time in the campaign's time zone is the start time.
    #[default]
    Campaign,
    /// Each recipient gets the campaign at the start time in the recipient's own time zone.
    Recipient,
}

/// The UTC offset of the easternmost time zone, UTC+14, in milliseconds. This zone reaches every local time first.
const EARLIEST_CLOCK_MS: i64 = 14 * 60 * 60 * 1000;

impl Schedule {
    /// Returns the start time as the local time in the campaign's time zone, encoded as if this time were in UTC.
    fn wall(&self) -> Timestamp {
        let zone = Zone::parse(&self.zone).unwrap_or_else(|_| Zone::utc());
        zone.shows(self.at).to_zoned(TimeZone::UTC).map_or(self.at, |wall| Timestamp(wall.timestamp().as_millisecond()))
    }

    /// Returns the local start time if it applies in each recipient's own time zone; `None` if it applies in the campaign's time zone.
    pub fn local_time(&self) -> Option<LocalTime> {
        (self.mode == TimezoneMode::Recipient).then(|| LocalTime { wall: self.wall(), zone: self.zone.clone() })
    }

    /// Returns when sending starts. If each recipient's time zone applies, sending starts when the easternmost zone reaches the start time.
    pub fn begins_at(&self) -> Timestamp {
        match self.mode {
            TimezoneMode::Campaign => self.at,
            TimezoneMode::Recipient => self.wall().plus_ms(-EARLIEST_CLOCK_MS),
        }
    }
}

/// The status of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CampaignStatus {
    /// The campaign has been neither scheduled nor started.
    Draft,
    /// The campaign was due but could not start; `error` explains why. A user must act.
    PendingReview,
    /// The campaign starts automatically at `scheduledAt`.
    Scheduled,
    /// The campaign is being sent.
    Sending,
    /// Sending is waiting for the plan's quota or for a transport, and continues automatically.
    Throttled,
    /// A user paused the campaign and can resume it.
    Paused,
    /// Delivery was attempted for every recipient who was not skipped. Mailmill retries deferred recipients until `completedAt`.
    Sent,
    /// Sending the campaign failed and cannot continue.
    Failed,
    /// A user canceled the campaign.
    Cancelled,
}

impl CampaignStatus {
    /// Every status, in the order of the columns of `TABLE`.
    #[cfg(test)]
    pub const ALL: [Self; 9] = [
        Self::Draft,
        Self::PendingReview,
        Self::Scheduled,
        Self::Sending,
        Self::Throttled,
        Self::Paused,
        Self::Sent,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Returns the name of the status in the API.
    pub fn word(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::PendingReview => "pending_review",
            Self::Scheduled => "scheduled",
            Self::Sending => "sending",
            Self::Throttled => "throttled",
            Self::Paused => "paused",
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns whether the campaign was sent, failed or was canceled.
    #[cfg(test)]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Sent | Self::Failed | Self::Cancelled)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Update,
    Delete,
    Send,
    Schedule,
    Reschedule,
    Unschedule,
    Pause,
    Resume,
    Cancel,
    ResendUnknown,
    /// The campaign's start time has arrived.
    Start,
    /// The campaign's start time has arrived, but the campaign cannot start.
    Hold,
    /// The campaign's mailing is waiting.
    Wait,
    /// The campaign's mailing continues.
    Flow,
    /// The campaign's mailing has attempted delivery to every recipient.
    Finish,
    /// The campaign's mailing cannot continue.
    Fail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    To(CampaignStatus),
    /// The action is refused. The reason completes an error sentence that starts with the campaign's status.
    No(&'static str),
}

const STARTED: &str =
    "a campaign that has started can no longer be changed or deleted; cancel the campaign, or duplicate it and change the copy";
const OVER: &str = "duplicate the campaign, and change or send the copy";
const ENDED: &str = "the campaign has finished, so this action would have no effect";
const RECORD: &str = "a campaign that has ended cannot be deleted, because its log is kept; archive the campaign instead";
const NOT_STARTED: &str =
    "this action is possible only after the campaign has started; send or schedule it, or wait until its scheduled time";
const NOT_PLANNED: &str = "the campaign has no start time; schedule it first";
const ONCE: &str =
    "a campaign can be sent only once, and this campaign has already started; duplicate the campaign to send it again";
const DRAFT: &str = "a draft cannot be canceled; delete the campaign if you do not need it";
const WAITING: &str = "the campaign has not started; unschedule or cancel it instead";
const RUNNING: &str = "the campaign has already started";
const NO_MAILING: &str = "the campaign is not being sent";

/// The result of every action in every status. Pausing, resuming, unscheduling or canceling a campaign again is accepted and has no
/// effect, because clients repeat requests whose response was lost.
#[rustfmt::skip]
const TABLE: [(Action, [Transition; 9]); 16] = {
    use Action as A;
    use Transition::{No, To};
    use CampaignStatus::*;
    [
        // Status:          draft              pending_review     scheduled          sending            throttled          paused             sent               failed             cancelled
        (A::Update,        [To(Draft),         To(PendingReview), To(Scheduled),     No(STARTED),       No(STARTED),       No(STARTED),       No(OVER),          No(OVER),          No(OVER)]),
        (A::Delete,        [To(Draft),         To(PendingReview), No(WAITING),       No(STARTED),       No(STARTED),       No(STARTED),       No(RECORD),        No(RECORD),        No(RECORD)]),
        (A::Send,          [To(Sending),       To(Sending),       To(Sending),       No(ONCE),          No(ONCE),          No(ONCE),          No(OVER),          No(OVER),          No(OVER)]),
        (A::Schedule,      [To(Scheduled),     To(Scheduled),     To(Scheduled),     No(ONCE),          No(ONCE),          No(ONCE),          No(OVER),          No(OVER),          No(OVER)]),
        (A::Reschedule,    [No(NOT_PLANNED),   To(Scheduled),     To(Scheduled),     No(ONCE),          No(ONCE),          No(ONCE),          No(OVER),          No(OVER),          No(OVER)]),
        (A::Unschedule,    [To(Draft),         To(Draft),         To(Draft),         No(STARTED),       No(STARTED),       No(STARTED),       No(ENDED),         No(ENDED),         No(ENDED)]),
        (A::Pause,         [No(NOT_STARTED),   No(NOT_STARTED),   No(WAITING),       To(Paused),        To(Paused),        To(Paused),        No(ENDED),         No(ENDED),         No(ENDED)]),
        (A::Resume,        [No(NOT_STARTED),   No(NOT_STARTED),   No(NOT_STARTED),   To(Sending),       To(Throttled),     To(Sending),       No(ENDED),         No(ENDED),         No(ENDED)]),
        (A::Cancel,        [No(DRAFT),         To(Cancelled),     To(Cancelled),     To(Cancelled),     To(Cancelled),     To(Cancelled),     No(ENDED),         No(ENDED),         To(Cancelled)]),
        (A::ResendUnknown, [No(NOT_STARTED),   No(NOT_STARTED),   No(NOT_STARTED),   To(Sending),       To(Throttled),     To(Paused),        To(Sending),       No(OVER),          No(OVER)]),
        (A::Start,         [No(NOT_PLANNED),   No(NOT_PLANNED),   To(Sending),       No(RUNNING),       No(RUNNING),       No(RUNNING),       No(RUNNING),       No(RUNNING),       No(RUNNING)]),
        (A::Hold,          [No(NOT_PLANNED),   No(NOT_PLANNED),   To(PendingReview), No(RUNNING),       No(RUNNING),       No(RUNNING),       No(RUNNING),       No(RUNNING),       No(RUNNING)]),
        (A::Wait,          [No(NO_MAILING),    No(NO_MAILING),    No(NO_MAILING),    To(Throttled),     To(Throttled),     No(NO_MAILING),    No(NO_MAILING),    No(NO_MAILING),    No(NO_MAILING)]),
        (A::Flow,          [No(NO_MAILING),    No(NO_MAILING),    No(NO_MAILING),    To(Sending),       To(Sending),       No(NO_MAILING),    No(NO_MAILING),    No(NO_MAILING),    No(NO_MAILING)]),
        (A::Finish,        [No(NO_MAILING),    No(NO_MAILING),    No(NO_MAILING),    To(Sent),          To(Sent),          To(Sent),          No(NO_MAILING),    No(NO_MAILING),    No(NO_MAILING)]),
        (A::Fail,          [No(NO_MAILING),    No(NO_MAILING),    No(NO_MAILING),    To(Failed),        To(Failed),        To(Failed),        No(NO_MAILING),    No(NO_MAILING),    No(NO_MAILING)]),
    ]
};

pub fn after(status: CampaignStatus, action: Action) -> Transition {
    TABLE[action as usize].1[status as usize]
}

impl Campaign {
    /// Returns the time by which the campaign is sorted in the worker's queue. For a scheduled campaign, this is the time of the next start
    /// attempt; for a campaign whose status follows the progress of its mailing, a time in the past. Returns `None` for campaigns that are
    /// not in the queue.
    pub fn queued_at(&self) -> Option<Timestamp> {
        match self.status {
            CampaignStatus::Scheduled => self.check_at,
            _ if self.is_synced() => Some(Timestamp(0)),
            _ => None,
        }
    }

    /// Returns whether a running mailing can change the campaign's status.
    pub fn is_synced(&self) -> bool {
        matches!(self.status, CampaignStatus::Sending | CampaignStatus::Throttled | CampaignStatus::Paused) || self.has_retries()
    }

    /// Returns whether the campaign has been sent and its mailing still retries some recipients.
    fn has_retries(&self) -> bool {
        self.status == CampaignStatus::Sent && self.completed_at.is_none()
    }

    /// Returns the status that determines which actions are allowed: `Sending` for a sent campaign with retries left, which can therefore
    /// be paused and canceled; otherwise the campaign's own status.
    pub fn working_status(&self) -> CampaignStatus {
        if self.has_retries() { CampaignStatus::Sending } else { self.status }
    }

    pub fn is_archived(&self) -> bool {
        self.archived_at.is_some()
    }
}

/// Returns `Ok` if the email's score is at least the campaign's minimum score, or if the campaign has none; otherwise returns why the
/// campaign may not be sent. `score` is `None` if the email has no score yet.
pub fn check_minimum_score(minimum: Option<u8>, score: Option<u32>) -> Result<(), String> {
    let Some(minimum) = minimum else { return Ok(()) };
    match score {
        Some(score) if score >= u32::from(minimum) => Ok(()),
        Some(score) => Err(format!(
            "The email's score is {score}, and the campaign requires at least {minimum}. Fix the problems that the checks \
             found, or lower the required score."
        )),
        None => Err(format!(
            "The campaign requires a score of at least {minimum}, and this version of the email has no score yet. The checks run \
             in the background; try again in a few seconds."
        )),
    }
}

/// Returns `part` as a percentage of `whole`, with two decimals; 0 if `whole` is 0.
pub fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    // Limit the result to 100: while deliveries are unknown, more recipients can open an email than are confirmed to have received it.
    ((part as f64 / whole as f64 * 10_000.0).round() / 100.0).min(100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACTIONS: [Action; 16] = [
        Action::Update,
        Action::Delete,
        Action::Send,
        Action::Schedule,
        Action::Reschedule,
        Action::Unschedule,
        Action::Pause,
        Action::Resume,
        Action::Cancel,
        Action::ResendUnknown,
        Action::Start,
        Action::Hold,
        Action::Wait,
        Action::Flow,
        Action::Finish,
        Action::Fail,
    ];

    fn all() -> impl Iterator<Item = (CampaignStatus, Action, Transition)> {
        CampaignStatus::ALL
            .into_iter()
            .flat_map(|status| ACTIONS.into_iter().map(move |action| (status, action, after(status, action))))
    }

    #[test]
    fn the_table_follows_the_order_of_declaration() {
        for (index, action) in ACTIONS.into_iter().enumerate() {
            assert_eq!((action as usize, TABLE[index].0), (index, action));
        }
        for (index, status) in CampaignStatus::ALL.into_iter().enumerate() {
            assert_eq!(status as usize, index);
            assert_eq!(serde_json::to_value(status).expect("the value serializes to JSON"), status.word());
        }
    }

    #[test]
    fn a_second_send_is_refused_in_every_state() {
        let unsent = [CampaignStatus::Draft, CampaignStatus::PendingReview, CampaignStatus::Scheduled];
        for status in CampaignStatus::ALL {
            for action in [Action::Send, Action::Schedule, Action::Start] {
                let sends = matches!(after(status, action), Transition::To(_));
                assert!(!sends || unsent.contains(&status), "{action:?} in {status:?}");
            }
        }
        assert_eq!(CampaignStatus::ALL.map(|status| matches!(after(status, Action::Start), Transition::To(_))), {
            let mut only_scheduled = [false; 9];
            only_scheduled[CampaignStatus::Scheduled as usize] = true;
            only_scheduled
        });
    }

    #[test]
    fn only_a_resend_to_unknown_recipients_leaves_a_final_state() {
        for (status, action, outcome) in all().filter(|(status, ..)| status.is_over()) {
            match outcome {
                Transition::To(next) if next == status => {}
                Transition::To(next) => {
                    assert_eq!((status, action, next), (CampaignStatus::Sent, Action::ResendUnknown, CampaignStatus::Sending));
                }
                Transition::No(_) => {}
            }
        }
    }

    #[test]
    fn a_campaign_being_sent_is_never_changed_or_deleted() {
        let unsent = [CampaignStatus::Draft, CampaignStatus::PendingReview, CampaignStatus::Scheduled];
        for status in CampaignStatus::ALL.into_iter().filter(|status| !unsent.contains(status)) {
            for action in [Action::Update, Action::Delete, Action::Unschedule, Action::Reschedule] {
                assert!(matches!(after(status, action), Transition::No(_)), "{action:?} in {status:?}");
            }
        }
    }

    #[test]
    fn only_users_or_the_end_of_sending_change_a_paused_campaign() {
        for action in [Action::Wait, Action::Flow, Action::Start, Action::Hold] {
            assert!(matches!(after(CampaignStatus::Paused, action), Transition::No(_)), "{action:?}");
        }
        assert_eq!(after(CampaignStatus::Paused, Action::Resume), Transition::To(CampaignStatus::Sending));
        assert_eq!(after(CampaignStatus::Paused, Action::Cancel), Transition::To(CampaignStatus::Cancelled));
        assert_eq!(after(CampaignStatus::Paused, Action::Finish), Transition::To(CampaignStatus::Sent));
    }

    #[test]
    fn repeating_a_successful_change_is_not_refused() {
        for action in [Action::Schedule, Action::Unschedule, Action::Pause, Action::Resume, Action::Cancel] {
            for status in CampaignStatus::ALL {
                if let Transition::To(next) = after(status, action) {
                    assert_eq!(after(next, action), Transition::To(next), "{action:?} twice from {status:?}");
                }
            }
        }
    }

    #[test]
    fn every_state_is_reachable_from_draft_and_every_started_campaign_can_end() {
        let mut reached = vec![CampaignStatus::Draft];
        while let Some(next) =
            reached.iter().flat_map(|status| ACTIONS.map(|action| after(*status, action))).find_map(|outcome| {
                if let Transition::To(next) = outcome { (!reached.contains(&next)).then_some(next) } else { None }
            })
        {
            reached.push(next);
        }
        assert_eq!(reached.len(), CampaignStatus::ALL.len());
        for status in [CampaignStatus::Sending, CampaignStatus::Throttled, CampaignStatus::Paused] {
            for (action, end) in [
                (Action::Finish, CampaignStatus::Sent),
                (Action::Fail, CampaignStatus::Failed),
                (Action::Cancel, CampaignStatus::Cancelled),
            ] {
                assert_eq!(after(status, action), Transition::To(end));
            }
        }
    }

    #[test]
    fn every_refusal_suggests_an_alternative() {
        for (status, action, outcome) in all() {
            if let Transition::No(reason) = outcome {
                assert!(reason.len() > 10 && !reason.ends_with('.'), "{action:?} in {status:?}: {reason}");
            }
        }
    }

    #[test]
    fn everyone_is_the_audience_with_the_projects_id() {
        let project = ProjectId::from_bytes([1; 12]);
        let id = |byte| Some(RecipientId::from_bytes([byte; 12]));
        assert_eq!(Recipients::new(RecipientType::Audience, None, project), Ok(Recipients::Everyone));
        assert_eq!(Recipients::new(RecipientType::Audience, id(1), project), Ok(Recipients::Everyone));
        for (kind, id) in [(RecipientType::Audience, id(2)), (RecipientType::Segment, id(1)), (RecipientType::Tag, id(3))] {
            let recipients = Recipients::new(kind, id, project).expect("the recipients are valid");
            assert_eq!(recipients.kind_and_id(project), (kind, id.expect("the case has an ID")));
        }
        assert_eq!(Recipients::new(RecipientType::Tag, None, project).map_err(|(field, _)| field), Err("recipientId"));
    }

    #[test]
    fn local_time_sending_starts_with_the_earliest_zone() {
        let at = Timestamp("2026-06-01T07:00:00Z".parse::<jiff::Timestamp>().expect("the time is valid").as_millisecond());
        let schedule = |mode| Schedule { at, zone: "Europe/Berlin".into(), mode, notice: None };
        assert_eq!(schedule(TimezoneMode::Campaign).begins_at(), at);
        // 09:00 local time on Kiritimati is 19:00 UTC on the previous day.
        assert_eq!(schedule(TimezoneMode::Recipient).begins_at().to_string(), "2026-05-31T19:00:00.000Z");
    }

    #[test]
    fn a_required_score_is_never_guessed() {
        assert_eq!(check_minimum_score(None, None), Ok(()));
        assert_eq!(check_minimum_score(Some(80), Some(80)), Ok(()));
        for (minimum, score, word) in [(81, Some(80), "score is 80"), (1, None, "no score yet")] {
            let reason = check_minimum_score(Some(minimum), score).expect_err("the check rejects the email");
            assert!(reason.contains(word), "{reason}");
        }
    }

    #[test]
    fn rates_are_percentages_with_two_decimals_and_zero_if_the_whole_is_zero() {
        assert_eq!(
            [percent(0, 0), percent(1, 3), percent(2, 3), percent(5, 5), percent(7, 5)],
            [0.0, 33.33, 66.67, 100.0, 100.0]
        );
    }
}
