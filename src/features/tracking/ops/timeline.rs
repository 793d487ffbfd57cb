//! Returns the timeline of one contact: messages, opens, clicks, bounces, complaints, unsubscribes and customer events in one list.

use std::cmp::Reverse;
use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::clock::Timestamp;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Limit, Operation, Query, Spec, View, needs};
use crate::engine::store::ReadTx;
use crate::features::contact_records::activity::{self, Action, Activity};
use crate::features::contact_records::{self, Contact};
use crate::features::customer_events::{self, CustomerEvent};
use crate::features::sending::{self, Mailing};
use crate::features::{engagement, projects};
use crate::vocab::codes::Code;
use crate::vocab::ids::{CampaignId, ContactId, EventId, MailingId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Timeline;

/// The contact, and the part of the timeline to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListTimeline {
    /// The contact's ID.
    pub id: ContactId,
    /// The ID of the contact's project.
    pub project_id: ProjectId,
    #[serde(default)]
    pub limit: Limit,
    /// The `nextCursor` of the previous response.
    pub cursor: Option<String>,
}

/// A page of a timeline.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelinePart {
    /// The entries, newest first.
    pub entries: Vec<TimelineEntry>,
    /// The cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    pub has_more: bool,
}

/// One entry of the timeline.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimelineEntry {
    pub at: WireTime,
    pub kind: TimelineKind,
    /// The ID of the send or batch that the entry belongs to.
    pub send_id: Option<MailingId>,
    /// The ID of the campaign that the entry belongs to.
    pub campaign_id: Option<CampaignId>,
    /// The subject of the message.
    pub subject: Option<String>,
    /// The mail server's response to a bounced message, or the type of a complaint.
    pub detail: Option<String>,
    /// The customer event, if the kind is `event`.
    pub event: Option<CustomerEvent>,
}

/// The kind of a timeline entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimelineKind {
    /// The contact was added.
    Created,
    /// A message was sent to the contact.
    Sent,
    /// The contact opened a message.
    Opened,
    /// The contact clicked a link in a message.
    Clicked,
    /// A message bounced.
    Bounced,
    /// The contact reported a message as spam.
    Complained,
    /// The contact unsubscribed, or a user unsubscribed the contact.
    Unsubscribed,
    /// A customer event was reported, for example with POST /v1/events.
    Event,
}

impl Operation for Timeline {
    const SPEC: Spec = Spec::get("tracking.timeline", "/v1/contacts/{id}/timeline", needs(Permission::AudienceRead))
        .client("contacts.timeline")
        .also_at(&["/v1/subscribers/{id}/timeline"])
        .summary("Get the timeline of a contact")
        .about(
            "Lists, newest first: messages, bounces, complaints, unsubscribes, customer events, and opens and clicks by people. \
                For a contact with very many messages, bounces and complaints are listed only for the newest 500.",
        )
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = ListTimeline;
    type Output = Done<TimelinePart>;

    fn example() -> (Value, Self::Output) {
        let send_id = MailingId::parse("66f1a2b3d4e5f60718293a61");
        let opened = TimelineEntry {
            kind: TimelineKind::Opened,
            send_id,
            subject: Some("Spring is here".into()),
            ..TimelineEntry::at(WireTime::sample().0, TimelineKind::Opened)
        };
        let event = TimelineEntry {
            event: Some(CustomerEvent::sample()),
            ..TimelineEntry::at(WireTime::sample().0, TimelineKind::Event)
        };
        let part = TimelinePart { entries: vec![event, opened], next_cursor: None, has_more: false };
        (json!({ "id": "66f1a2b30000000a5c3e9d71", "projectId": "66f1a2b3d4e5f60718293a4b", "limit": 2 }), Done(part))
    }
}

impl TimelineEntry {
    fn at(at: Timestamp, kind: TimelineKind) -> Self {
        Self { at: WireTime(at), kind, send_id: None, campaign_id: None, subject: None, detail: None, event: None }
    }

    /// Returns the sort key, which puts the newest entries first. Entries with the same time are ordered by kind, with the later step of a
    /// message first, and then by ID, latest first. The store returns the entries of each kind in this order too, so the newest entries
    /// overall are among the newest entries of each kind.
    fn sort_key(&self) -> Reverse<(Timestamp, TimelineKind, Option<MailingId>, Option<EventId>)> {
        Reverse((self.at.0, self.kind, self.send_id, self.event.as_ref().map(|event| event.event_id)))
    }
}

/// Where a page of the timeline starts: a time, and the number of entries with this time to skip.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Cursor {
    at: Timestamp,
    behind: usize,
}

impl Query for Timeline {
    fn run(view: &View<'_>, input: ListTimeline) -> Result<Self::Output, Failure> {
        projects::require(view.tx, view.caller.account(), input.project_id)?;
        let contact = contact_records::find(view.tx, input.project_id, input.id)?.ok_or(Code::NotFound)?;
        let cursor =
            input.cursor.as_deref().map(parse_cursor).transpose()?.unwrap_or(Cursor { at: Timestamp(i64::MAX - 1), behind: 0 });
        let limit = input.limit.0 as usize;
        let mut reader = TimelineReader { tx: view.tx, project: input.project_id, contact: &contact, mailings: HashMap::new() };
        let mut all = reader.until(cursor.at, cursor.behind + limit + 1)?;
        all.sort_by_key(TimelineEntry::sort_key);
        let mut entries: Vec<TimelineEntry> = all.into_iter().skip(cursor.behind).take(limit + 1).collect();
        let has_more = entries.len() > limit;
        entries.truncate(limit);
        let next_cursor = entries.last().filter(|_| has_more).map(|last| {
            let same = entries.iter().filter(|entry| entry.at.0 == last.at.0).count();
            let before = if last.at.0 == cursor.at { cursor.behind } else { 0 };
            to_cursor(Cursor { at: last.at.0, behind: same + before })
        });
        Ok(Done(TimelinePart { entries, next_cursor, has_more }))
    }
}

fn to_cursor(Cursor { at, behind }: Cursor) -> String {
    format!("{}.{behind}", at.0)
}

/// Parses a cursor, writes its position as a cursor again, and returns whether both cursors have the same position. This is a fuzz target.
#[cfg(any(test, fuzzing))]
pub fn reread_cursor(cursor: &str) -> Result<bool, Failure> {
    let position = parse_cursor(cursor)?;
    // `until` adds one millisecond to the cursor's time, so the sum must not overflow.
    assert!(position.at.0.checked_add(1).is_some(), "a time that cannot be increased: {cursor}");
    Ok(parse_cursor(&to_cursor(position))? == position)
}

fn parse_cursor(cursor: &str) -> Result<Cursor, Failure> {
    let read = cursor.split_once('.').and_then(|(at, behind)| {
        let behind = behind.parse().ok().filter(|behind| *behind <= limits::TIMELINE_ACTIVITIES_MAX)?;
        Some(Cursor { at: Timestamp(at.parse().ok().filter(|at| (0..i64::MAX).contains(at))?), behind })
    });
    read.ok_or_else(|| Failure::field("cursor", "is not a cursor of this list; use the nextCursor of the previous page"))
}

/// Reads one contact's history.
struct TimelineReader<'t> {
    tx: &'t ReadTx,
    project: ProjectId,
    contact: &'t Contact,
    mailings: HashMap<MailingId, Option<Mailing>>,
}

impl TimelineReader<'_> {
    /// Returns entries up to the time `at`, unordered. The result includes the newest `many` entries.
    fn until(&mut self, at: Timestamp, many: usize) -> Result<Vec<TimelineEntry>, Failure> {
        let number = self.contact.id.number();
        let after = Timestamp(at.0 + 1);
        let mut all = self.outcomes()?;
        for activity in activity::before(self.tx, self.project, number, after, many)? {
            all.push(self.activity(&activity)?);
        }
        let events = customer_events::of(self.tx, self.project, number, Some((after, EventId::from_bytes([0; 12]))), many)?;
        all.extend(events.into_iter().map(|(id, event)| {
            let at = event.occurred_at;
            TimelineEntry { event: Some(CustomerEvent::of((id, event))), ..TimelineEntry::at(at, TimelineKind::Event) }
        }));
        all.push(TimelineEntry::at(self.contact.created_at, TimelineKind::Created));
        all.retain(|entry| entry.at.0 <= at);
        Ok(all)
    }

    fn mailing(&mut self, id: MailingId) -> Result<Option<&Mailing>, Failure> {
        if !self.mailings.contains_key(&id) {
            self.mailings.insert(id, sending::by_id(self.tx, id)?);
        }
        Ok(self.mailings.get(&id).and_then(Option::as_ref))
    }

    /// Returns the subject of the email that the contact received from a mailing.
    fn subject(&mut self, id: MailingId) -> Result<Option<String>, Failure> {
        let (tx, number, email) = (self.tx, self.contact.id.number(), self.contact.email.as_str());
        let Some(mailing) = self.mailing(id)? else { return Ok(None) };
        let row = if mailing.translations.len() > 1 { sending::row_of(tx, mailing, number, email)? } else { None };
        let translation = row.map_or_else(|| mailing.first(), |(_, recipient)| mailing.translation_for(&recipient));
        Ok(Some(translation.subject.clone()))
    }

    fn activity(&mut self, activity: &Activity) -> Result<TimelineEntry, Failure> {
        let kind = match activity.action {
            Action::Sent => TimelineKind::Sent,
            Action::Opened => TimelineKind::Opened,
            Action::Clicked => TimelineKind::Clicked,
        };
        let subject = self.subject(activity.mailing)?;
        Ok(TimelineEntry {
            send_id: Some(activity.mailing),
            campaign_id: activity.campaign,
            subject,
            ..TimelineEntry::at(activity.at, kind)
        })
    }

    /// Returns the bounces, complaints and unsubscribes recorded for the newest messages. Adds the unsubscribe that is stored with the
    /// contact, unless it was recorded for one of these messages.
    fn outcomes(&mut self) -> Result<Vec<TimelineEntry>, Failure> {
        let number = self.contact.id.number();
        let activities = activity::of(self.tx, self.project, number, limits::TIMELINE_ACTIVITIES_MAX)?;
        let mut outcomes = Vec::new();
        let sent = activities.into_iter().filter(|activity| activity.action == Action::Sent).take(limits::TIMELINE_SENDS_MAX);
        for activity in sent {
            let (tx, email) = (self.tx, self.contact.email.as_str());
            let Some(mailing) = self.mailing(activity.mailing)? else { continue };
            let Some((row, recipient)) = sending::row_of(tx, mailing, number, email)? else { continue };
            let subject = &mailing.translation_for(&recipient).subject;
            let did = engagement::of(tx, activity.mailing, row)?;
            let bounce = did.bounce.map(|bounce| bounce.detail);
            for (at, kind, detail) in [
                (did.bounced_at, TimelineKind::Bounced, bounce),
                (did.complained_at, TimelineKind::Complained, did.complaint),
                (did.unsubscribed_at, TimelineKind::Unsubscribed, None),
            ] {
                let Some(at) = at else { continue };
                let subject = Some(subject.clone());
                let of = TimelineEntry {
                    send_id: Some(activity.mailing),
                    campaign_id: activity.campaign,
                    subject,
                    ..TimelineEntry::at(at, kind)
                };
                outcomes.push(TimelineEntry { detail, ..of });
            }
        }
        if let Some(at) = self.contact.unsubscribed_at {
            let is_shown =
                |entry: &TimelineEntry| entry.kind == TimelineKind::Unsubscribed && entry.at.0.ms_since(at).abs() < SAME_MS;
            if !outcomes.iter().any(is_shown) {
                outcomes.push(TimelineEntry::at(at, TimelineKind::Unsubscribed));
            }
        }
        Ok(outcomes)
    }
}

/// The maximum difference in milliseconds between the two stored times of the same unsubscribe, one stored with the message and one with
/// the contact.
const SAME_MS: i64 = 2_000;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::TestApp;

    fn kinds(part: &Value) -> Vec<String> {
        let entries = part["entries"].as_array().expect("the field is a list");
        let name = |entry: &Value| match entry["event"]["name"].as_str() {
            Some(name) => name.to_owned(),
            None => entry["kind"].as_str().expect("the field is a string").to_owned(),
        };
        entries.iter().map(name).collect()
    }

    #[test]
    fn a_timeline_is_listed_newest_first_in_parts_without_repeats() {
        let app = TestApp::new();
        let id = app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data()["id"].clone();
        app.clock.advance_ms(1_000);
        for name in ["a", "b", "c", "d"] {
            let event = json!({ "name": name, "identifiers": { "email": "ada@example.com" }, "dedupeKey": name });
            assert_eq!(app.post_in("/v1/events", event).status, 200, "{name}");
        }
        app.clock.advance_ms(5_000);
        let change = json!({ "email": "ada@example.com", "status": "unsubscribed" });
        app.post_in("/v1/contacts/status", change).data();
        let path = format!("/v1/contacts/{}/timeline", id.as_str().expect("the field is a string"));
        let all = kinds(&app.get_in(&path).data());
        assert_eq!((all.first().map(String::as_str), all.last().map(String::as_str)), (Some("unsubscribed"), Some("created")));
        assert_eq!(all.len(), 6);
        let (mut paged, mut cursor) = (Vec::new(), String::new());
        loop {
            let part = app.get_in(&format!("{path}?limit=2{cursor}")).data();
            paged.extend(kinds(&part));
            let Some(next) = part["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(paged, all);
        assert_eq!(app.get_in(&format!("{path}?cursor=x")).refusal().0, 400);
    }
}
