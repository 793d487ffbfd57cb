//! The log of a campaign or other mailing: one row per recipient, with the delivery and the recipient's activity.

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::api::response::WireTime;
use crate::engine::store::{Read, Result};
use crate::features::contact_records;
use crate::features::engagement::{self, Engagement};
use crate::features::sending::{self, Audience, Delivery, Mailing, Recipient, Skip, UnknownReason};
use crate::vocab::ids::{AccountId, CampaignId, ContactId, ConversationId, MailingId};
use crate::vocab::limits;

/// The state of the message to one recipient.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CampaignLog {
    pub id: String,
    /// The ID of the send that the message belongs to.
    pub tracking_id: MailingId,
    /// The account's ID.
    pub user_id: AccountId,
    /// The sender's domain.
    pub domain: String,
    pub from_email: String,
    /// The recipient's email address; absent if the contact was deleted.
    pub to_email: Option<String>,
    /// The recipient's contact ID; absent if the contact was deleted, or if the message was sent to a plain address.
    pub subscriber_id: Option<ContactId>,
    /// The subject as written, before merge fields are replaced with values.
    pub subject: String,
    pub status: CampaignLogStatus,
    pub opened_at: Option<WireTime>,
    pub clicked_at: Option<WireTime>,
    pub open_count: u32,
    pub click_count: u32,
    /// The kind of bounce: `hard`, `soft`, `policy` or `content`.
    pub bounce_type: Option<String>,
    /// The type of complaint that the feedback report states; `abuse` if the report states no type.
    pub complaint_type: Option<String>,
    /// A code that states why the recipient was skipped.
    pub suppression_type: Option<&'static str>,
    /// A sentence that explains why the recipient was skipped.
    pub suppression_reason: Option<String>,
    pub conversation_id: Option<ConversationId>,
    /// The campaign's ID; absent if the message does not belong to a campaign.
    pub campaign_id: Option<CampaignId>,
    pub created_at: WireTime,
    /// When the next mail server, such as a relay, accepted the message.
    pub sent_at: Option<WireTime>,
    /// When the next delivery attempt is due, if one is planned.
    pub next_attempt_at: Option<WireTime>,
    /// The mail server's last reply, Mailmill's own description of the result, or why the delivery is unknown.
    pub reply: Option<String>,
}

/// The status of a message: its delivery state or, once the message was sent, the most significant recorded event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CampaignLogStatus {
    /// The message has not been sent yet, or is in flight.
    Queued,
    /// The message is waiting for a retry or for the start time in the recipient's time zone.
    Deferred,
    /// The next mail server accepted the message, and the message did not bounce.
    Delivered,
    Opened,
    Clicked,
    /// The message bounced after it was sent.
    Bounced,
    /// The recipient reported the message as spam.
    Complained,
    /// A mail server rejected the message permanently or deferred it for too long.
    Failed,
    /// It is uncertain whether the message was delivered.
    Unknown,
    /// The recipient was skipped; the log states the reason.
    Skipped,
}

impl CampaignLogStatus {
    fn of(delivery: &Delivery, engagement: &Engagement) -> Self {
        match delivery {
            Delivery::Queued | Delivery::Handoff { .. } => Self::Queued,
            Delivery::Deferred { .. } => Self::Deferred,
            Delivery::Failed { .. } => Self::Failed,
            Delivery::Unknown { .. } => Self::Unknown,
            Delivery::Skipped { .. } => Self::Skipped,
            Delivery::Sent { .. } if engagement.complained_at.is_some() => Self::Complained,
            Delivery::Sent { .. } if engagement.clicks > 0 => Self::Clicked,
            Delivery::Sent { .. } if engagement.opens > 0 => Self::Opened,
            Delivery::Sent { .. } if engagement.bounced_at.is_some() => Self::Bounced,
            Delivery::Sent { .. } => Self::Delivered,
        }
    }

    /// Returns whether a filter for this status includes a recipient. For example, a filter for `Delivered` also includes a recipient who
    /// clicked.
    fn covers(self, delivery: &Delivery, engagement: &Engagement) -> bool {
        let sent = matches!(delivery, Delivery::Sent { .. });
        match self {
            Self::Delivered => sent && engagement.bounced_at.is_none(),
            Self::Opened => engagement.opens > 0,
            Self::Clicked => engagement.clicks > 0,
            Self::Bounced => engagement.bounced_at.is_some() || matches!(delivery, Delivery::Failed { .. }),
            Self::Complained => engagement.complained_at.is_some(),
            Self::Queued | Self::Deferred | Self::Failed | Self::Unknown | Self::Skipped => {
                self == Self::of(delivery, engagement)
            }
        }
    }

    /// Returns whether only recipients with recorded activity can have this status.
    fn is_recorded(self) -> bool {
        matches!(self, Self::Opened | Self::Clicked | Self::Complained)
    }
}

/// Why a recipient was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    Suppressed,
    Unsubscribed,
    Bounced,
    NotSubscribed,
    TopicUnsubscribed,
    InvalidAddress,
    DuplicateAddress,
    MissingField,
    Erased,
    Cancelled,
    MergeFailed,
}

impl SkipReason {
    fn of(skip: &Skip) -> Self {
        match skip {
            Skip::Suppressed => Self::Suppressed,
            Skip::Unsubscribed => Self::Unsubscribed,
            Skip::Bounced => Self::Bounced,
            Skip::NotSubscribed => Self::NotSubscribed,
            Skip::TopicUnsubscribed => Self::TopicUnsubscribed,
            Skip::InvalidAddress => Self::InvalidAddress,
            Skip::DuplicateAddress => Self::DuplicateAddress,
            Skip::MissingField(_) => Self::MissingField,
            Skip::Erased => Self::Erased,
            Skip::Cancelled => Self::Cancelled,
            Skip::MergeFailed(_) => Self::MergeFailed,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct LogPage {
    pub rows: Vec<(u32, Recipient, Engagement)>,
    /// The recipient number that the next page starts with; `None` on the last page.
    pub next: Option<u32>,
}

/// Returns up to `limit` rows of the log that match `wanted`, starting at recipient number `from`.
pub fn page(tx: &impl Read, id: MailingId, from: u32, limit: usize, wanted: Option<CampaignLogStatus>) -> Result<LogPage> {
    match wanted.filter(|wanted| wanted.is_recorded()) {
        Some(wanted) => recorded(tx, id, from, limit, wanted),
        None => any(tx, id, from, limit, wanted),
    }
}

/// Returns up to `limit` recipients who were skipped for `reason`, starting at recipient number `from`.
pub fn skipped(tx: &impl Read, id: MailingId, from: u32, limit: usize, reason: SkipReason) -> Result<LogPage> {
    let fits = |_, delivery: &Delivery| matches!(delivery, Delivery::Skipped { why } if SkipReason::of(why) == reason);
    let found = sending::recipients(tx, id, from, limit, fits)?;
    let with_activity = |(number, recipient)| Ok((number, recipient, engagement::of(tx, id, number)?));
    Ok(LogPage { rows: found.rows.into_iter().map(with_activity).collect::<Result<_>>()?, next: found.next })
}

fn any(tx: &impl Read, id: MailingId, from: u32, limit: usize, wanted: Option<CampaignLogStatus>) -> Result<LogPage> {
    // A recipient whose activity cannot be read passes the filter, so that the read below returns the error.
    let fits = |number, delivery: &Delivery| {
        wanted.is_none_or(|wanted| engagement::of(tx, id, number).map_or(true, |did| wanted.covers(delivery, &did)))
    };
    let found = sending::recipients(tx, id, from, limit, fits)?;
    let with_activity = |(number, recipient)| Ok((number, recipient, engagement::of(tx, id, number)?));
    Ok(LogPage { rows: found.rows.into_iter().map(with_activity).collect::<Result<_>>()?, next: found.next })
}

fn recorded(tx: &impl Read, id: MailingId, from: u32, limit: usize, wanted: CampaignLogStatus) -> Result<LogPage> {
    let mut part = LogPage::default();
    let (mut scanned, mut numbers) = (0, Vec::new());
    engagement::visit(tx, id, from, |number, did| {
        if numbers.len() == limit || scanned == limits::RECIPIENT_ROWS_SCANNED_MAX {
            part.next = Some(number);
            return Ok(ControlFlow::Break(()));
        }
        scanned += 1;
        // For `Opened`, `Clicked` and `Complained`, `covers` ignores the delivery state, so any state can be passed.
        if wanted.covers(&Delivery::Queued, &did) {
            numbers.push((number, did));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    for (number, did) in numbers {
        if let Some(recipient) = sending::recipient(tx, id, number)? {
            part.rows.push((number, recipient, did));
        }
    }
    Ok(part)
}

/// Returns a log row in the form that the API returns.
pub fn row(tx: &impl Read, mailing: &Mailing, (number, recipient, did): (u32, Recipient, Engagement)) -> Result<CampaignLog> {
    let subject = mailing.translation_for(&recipient).subject.clone();
    let contact = match mailing.project.filter(|_| mailing.audience != Audience::Addresses) {
        Some(project) => contact_records::by_number(tx, project, number)?,
        None => None,
    };
    let named = recipient.address.map(|address| address.email).filter(|email| !email.is_empty());
    let from = &mailing.from.address;
    let skip = if let Delivery::Skipped { why } = &recipient.delivery { Some(why) } else { None };
    let (sent_at, next_attempt_at, reply) = progress(&recipient.delivery);
    Ok(CampaignLog {
        id: format!("{}{number:08x}", mailing.id),
        tracking_id: mailing.id,
        user_id: mailing.account,
        domain: from.rsplit_once('@').map_or("", |(_, domain)| domain).to_owned(),
        from_email: from.clone(),
        to_email: named.or(contact.as_ref().map(|contact| contact.email.clone())),
        subscriber_id: contact.map(|contact| contact.id),
        subject,
        status: CampaignLogStatus::of(&recipient.delivery, &did),
        opened_at: did.first_opened_at.map(WireTime),
        clicked_at: did.first_clicked_at.map(WireTime),
        open_count: did.opens,
        click_count: did.clicks,
        bounce_type: did.bounce.map(|bounce| bounce.class),
        complaint_type: did.complaint.or(did.complained_at.map(|_| "abuse".to_owned())),
        suppression_type: skip.map(Skip::word),
        suppression_reason: skip.map(reason),
        conversation_id: mailing.conversation,
        campaign_id: mailing.kind.campaign(),
        created_at: WireTime(mailing.created_at),
        sent_at: sent_at.map(WireTime),
        next_attempt_at: next_attempt_at.map(WireTime),
        reply,
    })
}

type Progress = (Option<Timestamp>, Option<Timestamp>, Option<String>);

/// Returns when the message was sent, when it will be retried, and the last reply.
fn progress(delivery: &Delivery) -> Progress {
    let said = |reply: &String| Some(reply.clone()).filter(|reply| !reply.is_empty());
    match delivery {
        Delivery::Queued | Delivery::Handoff { .. } | Delivery::Skipped { .. } => (None, None, None),
        Delivery::Sent { at, reply } => (Some(*at), None, said(reply)),
        Delivery::Deferred { next_at, reply, .. } => (None, Some(*next_at), said(reply)),
        Delivery::Failed { reply, .. } => (None, None, said(reply)),
        Delivery::Unknown { why, .. } => (None, None, Some(unknown(*why).to_owned())),
    }
}

/// Returns a sentence that explains why it is not known whether a message was delivered.
fn unknown(why: UnknownReason) -> &'static str {
    match why {
        UnknownReason::Crash => "It is not known whether the message was delivered, because the service stopped unexpectedly.",
        UnknownReason::Disconnected => {
            "It is not known whether the message was delivered, because the mail server sent no valid final reply."
        }
        UnknownReason::Timeout => {
            "It is not known whether the message was delivered, because the mail server sent no final reply in time."
        }
        UnknownReason::Stopped => "It is not known whether the message was delivered, because the service was stopped.",
    }
}

/// Returns a sentence that explains why a recipient was skipped.
pub fn reason(skip: &Skip) -> String {
    let words = match skip {
        Skip::Suppressed => "The address is on the suppression list.",
        Skip::Unsubscribed => "The contact is unsubscribed.",
        Skip::Bounced => "The contact has the status “bounced”.",
        Skip::NotSubscribed => "The contact is not subscribed.",
        Skip::TopicUnsubscribed => "The contact is not subscribed to the message's topic.",
        Skip::InvalidAddress => "The address is not a valid email address.",
        Skip::DuplicateAddress => "Another recipient has the same address.",
        Skip::Erased => "The contact was deleted.",
        Skip::Cancelled => "The send was canceled or failed before the message for this recipient was sent.",
        Skip::MergeFailed(error) => return format!("The message could not be created: {error}."),
        Skip::MissingField(field) => {
            return format!("The contact has no usable value for the merge field {field}.");
        }
    };
    words.to_owned()
}

impl CampaignLog {
    pub fn sample() -> Self {
        let campaign = super::views::CampaignView::sample();
        let mailing = MailingId::parse("66f1a2b3d4e5f60718293a61").expect("the sample ID is valid");
        Self {
            id: format!("{mailing}{:08x}", 41),
            tracking_id: mailing,
            user_id: AccountId::parse("66f1a2b3d4e5f60718293a01").expect("the sample ID is valid"),
            domain: "acme.example".into(),
            from_email: campaign.from,
            to_email: Some("ada@example.com".into()),
            subscriber_id: Some(ContactId::parse("66f1a2b3000000295c3e9d71").expect("the sample ID is valid")),
            subject: campaign.subject,
            status: CampaignLogStatus::Opened,
            opened_at: Some(WireTime::sample()),
            clicked_at: None,
            open_count: 1,
            click_count: 0,
            bounce_type: None,
            complaint_type: None,
            suppression_type: None,
            suppression_reason: None,
            conversation_id: Some(campaign.conversation_id),
            campaign_id: Some(campaign.id),
            created_at: WireTime::sample(),
            sent_at: Some(WireTime::sample()),
            next_attempt_at: None,
            reply: Some("250 2.0.0 Ok: queued".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skip_reasons_match_the_names_in_stats() {
        let skips = [Skip::Suppressed, Skip::Unsubscribed, Skip::Bounced, Skip::NotSubscribed, Skip::TopicUnsubscribed];
        let more = [Skip::InvalidAddress, Skip::DuplicateAddress, Skip::MissingField("a".into()), Skip::Erased, Skip::Cancelled];
        for skip in skips.iter().chain(&more).chain([&Skip::MergeFailed("b".into())]) {
            assert_eq!(serde_json::to_value(SkipReason::of(skip)).expect("the value serializes to JSON"), skip.word());
        }
    }

    // Regression test: a missing field whose name contains a space was explained as an error.
    #[test]
    fn a_missing_field_and_an_error_are_explained_differently() {
        let missing = reason(&Skip::MissingField("shoe size".into()));
        assert!(missing.starts_with("The contact has no usable value for the merge field shoe size"), "{missing}");
        assert_eq!(reason(&Skip::MergeFailed("it is too long".into())), "The message could not be created: it is too long.");
    }

    #[test]
    fn the_most_significant_status_wins_and_each_filter_matches_all_it_covers() {
        let sent = Delivery::Sent { at: Timestamp(1), reply: "250 ok".into() };
        let did = |opens, clicks, complained: bool, bounced: bool| Engagement {
            opens,
            clicks,
            complained_at: complained.then_some(Timestamp(2)),
            bounced_at: bounced.then_some(Timestamp(2)),
            ..Engagement::default()
        };
        use CampaignLogStatus as L;
        for (did, word, covered) in [
            (did(0, 0, false, false), L::Delivered, vec![L::Delivered]),
            (did(1, 0, false, false), L::Opened, vec![L::Delivered, L::Opened]),
            (did(1, 1, false, false), L::Clicked, vec![L::Delivered, L::Opened, L::Clicked]),
            (did(1, 0, true, false), L::Complained, vec![L::Delivered, L::Opened, L::Complained]),
            (did(0, 0, false, true), L::Bounced, vec![L::Bounced]),
        ] {
            assert_eq!(CampaignLogStatus::of(&sent, &did), word);
            let filters = [L::Queued, L::Delivered, L::Opened, L::Clicked, L::Bounced, L::Complained, L::Failed, L::Skipped];
            let covering: Vec<_> = filters.into_iter().filter(|filter| filter.covers(&sent, &did)).collect();
            assert_eq!(covering, covered, "{did:?}");
        }
        let failed = Delivery::Failed { at: Timestamp(1), reply: "550 no".into() };
        let nothing = Engagement::default();
        assert!(L::Bounced.covers(&failed, &nothing) && L::Failed.covers(&failed, &nothing));
        let unknown = Delivery::Unknown { attempt: 1, why: UnknownReason::Crash, at: Timestamp(1) };
        assert_eq!(CampaignLogStatus::of(&unknown, &nothing), L::Unknown);
    }
}
