//! A campaign, or any other mailing, recipient by recipient: the rows of the ledger with what each recipient did.

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::api::response::WireTime;
use crate::engine::store::{Read, Result};
use crate::features::contacts;
use crate::features::sending::engagement::{self, Engagement};
use crate::features::sending::{self, Audience, Delivery, Mailing, Recipient, Skip};
use crate::vocab::ids::{AccountId, CampaignId, ContactId, ConversationId, MailingId};
use crate::vocab::limits;

/// What has become of the message to one recipient.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CampaignLog {
    pub id: String,
    /// The send that the message belongs to.
    pub tracking_id: MailingId,
    /// The account.
    pub user_id: AccountId,
    /// The sender's domain.
    pub domain: String,
    pub from_email: String,
    /// Absent if the contact was deleted.
    pub to_email: Option<String>,
    /// Absent if the contact was deleted.
    pub subscriber_id: Option<ContactId>,
    /// With its merge fields.
    pub subject: String,
    pub status: CampaignLogStatus,
    pub opened_at: Option<WireTime>,
    pub clicked_at: Option<WireTime>,
    pub open_count: u32,
    pub click_count: u32,
    /// `hard`, `soft`, `policy` or `content`.
    pub bounce_type: Option<String>,
    /// What a feedback report called it.
    pub complaint_type: Option<String>,
    /// Why nothing is sent to a skipped recipient, in one word.
    pub suppression_type: Option<&'static str>,
    /// The same in words.
    pub suppression_reason: Option<String>,
    pub conversation_id: Option<ConversationId>,
    /// Absent if it was no campaign's.
    pub campaign_id: Option<CampaignId>,
    pub created_at: WireTime,
    /// When the next mail server took the message over.
    pub sent_at: Option<WireTime>,
    /// When it is tried next, if it is to be tried later.
    pub next_attempt_at: Option<WireTime>,
    /// What a mail server said last, or why nobody knows.
    pub reply: Option<String>,
}

/// What has become of a message, in one word: the most telling one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CampaignLogStatus {
    /// To be sent, or with a server this moment.
    Queued,
    /// To be tried again later, or when it is time where the recipient is.
    Deferred,
    /// Taken over by the next mail server, and not come back.
    Delivered,
    Opened,
    Clicked,
    /// Come back.
    Bounced,
    /// Called spam by the recipient.
    Complained,
    /// Refused for good by a server, or deferred for too long.
    Failed,
    /// Nobody knows whether the recipient has it.
    Unknown,
    /// Nothing is sent to this recipient, for a reason.
    Skipped,
}

impl CampaignLogStatus {
    /// The word for what happened.
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

    /// Whether a recipient belongs to those who are asked for by this word: who clicked has it delivered, too.
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

    /// Whether only recipients can belong to it of whom something is recorded.
    fn is_recorded(self) -> bool {
        matches!(self, Self::Opened | Self::Clicked | Self::Complained)
    }
}

/// Why nothing is sent to a recipient.
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
        }
    }
}

/// A part of the log.
#[derive(Clone, Debug, Default)]
pub struct LogPage {
    pub rows: Vec<(u32, Recipient, Engagement)>,
    /// Where the next part begins, if there may be one.
    pub next: Option<u32>,
}

/// Up to `limit` rows from recipient number `from` on.
pub fn page(tx: &impl Read, id: MailingId, from: u32, limit: usize, wanted: Option<CampaignLogStatus>) -> Result<LogPage> {
    match wanted.filter(|wanted| wanted.is_recorded()) {
        Some(wanted) => recorded(tx, id, from, limit, wanted),
        None => any(tx, id, from, limit, wanted),
    }
}

/// The same of those who get nothing for this reason.
pub fn skipped(tx: &impl Read, id: MailingId, from: u32, limit: usize, reason: SkipReason) -> Result<LogPage> {
    let fits = |_, delivery: &Delivery| matches!(delivery, Delivery::Skipped { why } if SkipReason::of(why) == reason);
    let found = sending::recipients(tx, id, from, limit, fits)?;
    let with_deeds = |(number, recipient)| Ok((number, recipient, engagement::of(tx, id, number)?));
    Ok(LogPage { rows: found.rows.into_iter().map(with_deeds).collect::<Result<_>>()?, next: found.next })
}

fn any(tx: &impl Read, id: MailingId, from: u32, limit: usize, wanted: Option<CampaignLogStatus>) -> Result<LogPage> {
    // A row that cannot be read is shown rather than left out; the read below then says what is wrong.
    let fits = |number, delivery: &Delivery| {
        wanted.is_none_or(|wanted| engagement::of(tx, id, number).map_or(true, |did| wanted.covers(delivery, &did)))
    };
    let found = sending::recipients(tx, id, from, limit, fits)?;
    let with_deeds = |(number, recipient)| Ok((number, recipient, engagement::of(tx, id, number)?));
    Ok(LogPage { rows: found.rows.into_iter().map(with_deeds).collect::<Result<_>>()?, next: found.next })
}

fn recorded(tx: &impl Read, id: MailingId, from: u32, limit: usize, wanted: CampaignLogStatus) -> Result<LogPage> {
    let mut part = LogPage::default();
    let (mut looked, mut numbers) = (0, Vec::new());
    engagement::visit(tx, id, from, |number, did| {
        if numbers.len() == limit || looked == limits::RECIPIENT_ROWS_SCANNED_MAX {
            part.next = Some(number);
            return Ok(ControlFlow::Break(()));
        }
        looked += 1;
        // None of the words that lead here asks for the state of the delivery.
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

/// A row as callers see it.
pub fn row(tx: &impl Read, mailing: &Mailing, (number, recipient, did): (u32, Recipient, Engagement)) -> Result<CampaignLog> {
    let subject = mailing.translation_for(&recipient).subject.clone();
    let contact = match mailing.project.filter(|_| mailing.audience != Audience::Addresses) {
        Some(project) => contacts::by_number(tx, project, number)?,
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

/// When it was sent, when it is tried next, and what was said last.
fn progress(delivery: &Delivery) -> Progress {
    let said = |reply: &String| Some(reply.clone()).filter(|reply| !reply.is_empty());
    match delivery {
        Delivery::Queued | Delivery::Handoff { .. } | Delivery::Skipped { .. } => (None, None, None),
        Delivery::Sent { at, reply } => (Some(*at), None, said(reply)),
        Delivery::Deferred { next_at, reply, .. } => (None, Some(*next_at), said(reply)),
        Delivery::Failed { reply, .. } => (None, None, said(reply)),
        Delivery::Unknown { why, .. } => (None, None, Some(format!("No reply was recorded: {}.", why.word()))),
    }
}

/// Why nothing is sent to somebody, for people.
pub fn reason(skip: &Skip) -> String {
    let words = match skip {
        Skip::Suppressed => "The address is on the suppression list.",
        Skip::Unsubscribed => "The contact has unsubscribed.",
        Skip::Bounced => "The address does not take mail: an earlier message came back.",
        Skip::NotSubscribed => "The contact is known but has never subscribed.",
        Skip::TopicUnsubscribed => "The contact does not want this topic.",
        Skip::InvalidAddress => "The address is none that mail can be delivered to.",
        Skip::DuplicateAddress => "Another recipient has the same address.",
        Skip::Erased => "The contact was deleted.",
        Skip::Cancelled => "The campaign was cancelled before it was the contact's turn.",
        Skip::MissingField(field) => {
            return format!("The email needs the merge field {field}, which the contact lacks and which has no default.");
        }
    };
    words.to_owned()
}

impl CampaignLog {
    /// An example for the documents.
    pub fn sample() -> Self {
        let campaign = super::views::CampaignView::sample();
        let mailing = MailingId::parse("66f1a2b3d4e5f60718293a61").expect("24 hexadecimal characters");
        Self {
            id: format!("{mailing}{:08x}", 41),
            tracking_id: mailing,
            user_id: AccountId::parse("66f1a2b3d4e5f60718293a01").expect("24 hexadecimal characters"),
            domain: "acme.example".into(),
            from_email: campaign.from,
            to_email: Some("ada@example.com".into()),
            subscriber_id: Some(ContactId::parse("66f1a2b3000000295c3e9d71").expect("24 hexadecimal characters")),
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
    use crate::features::sending::UnknownReason;

    #[test]
    fn reasons_are_asked_for_by_the_words_that_stats_name() {
        let skips = [Skip::Suppressed, Skip::Unsubscribed, Skip::Bounced, Skip::NotSubscribed, Skip::TopicUnsubscribed];
        let more = [Skip::InvalidAddress, Skip::DuplicateAddress, Skip::MissingField("a".into()), Skip::Erased, Skip::Cancelled];
        for skip in skips.iter().chain(&more) {
            assert_eq!(serde_json::to_value(SkipReason::of(skip)).expect("a word"), skip.word());
        }
    }

    #[test]
    fn the_most_telling_word_wins_and_each_filter_finds_all_it_covers() {
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
