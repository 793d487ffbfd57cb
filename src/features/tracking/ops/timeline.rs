//! Everything that happened with one contact, in one list.

use std::cmp::Reverse;
use std::collections::HashMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::clock::Timestamp;
use crate::engine::api::answer::Moment;
use crate::engine::api::{Done, Failure, Limit, Operation, Query, Spec, View, needs};
use crate::engine::store::ReadTx;
use crate::features::contacts::activity::{self, Deed};
use crate::features::contacts::condition::Action;
use crate::features::contacts::{self, Contact, EventView, journal};
use crate::features::projects;
use crate::features::sending::{self, Mailing, engagement};
use crate::features::tracking::person::row_of;
use crate::vocab::codes::Code;
use crate::vocab::ids::{CampaignId, ContactId, EventId, MailingId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

/// `tracking.timeline`
pub struct Timeline;

/// Whose time line, and which part of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Whose {
    /// The contact's id.
    pub id: ContactId,
    /// The project it belongs to.
    pub project_id: ProjectId,
    #[serde(default)]
    pub limit: Limit,
    /// `nextCursor` of the part before.
    pub cursor: Option<String>,
}

/// A part of a time line.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TimelinePart")]
pub struct Part {
    /// The newest first.
    pub entries: Vec<Happened>,
    /// Where the next part begins; absent if there is none.
    pub next_cursor: Option<String>,
    pub has_more: bool,
}

/// One thing that happened.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "TimelineEntry")]
pub struct Happened {
    pub at: Moment,
    pub kind: Kind,
    /// The mailing it belongs to.
    pub send_id: Option<MailingId>,
    /// The campaign that the mailing is of.
    pub campaign_id: Option<CampaignId>,
    /// The subject of the message.
    pub subject: Option<String>,
    /// What a mail server said.
    pub detail: Option<String>,
    /// With `event`: what was reported.
    pub event: Option<EventView>,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "TimelineKind")]
pub enum Kind {
    /// The contact was added.
    Created,
    /// A message was sent to it.
    Sent,
    /// It opened a message.
    Opened,
    /// It clicked a link in a message.
    Clicked,
    /// A message came back.
    Bounced,
    /// It called a message spam.
    Complained,
    /// It unsubscribed, or somebody did that for it.
    Unsubscribed,
    /// It was reported with POST /v1/events.
    Event,
}

impl Operation for Timeline {
    const SPEC: Spec = Spec::get("tracking.timeline", "/v1/contacts/{id}/timeline", needs(Permission::AudienceRead))
        .also_at(&["/v1/subscribers/{id}/timeline"])
        .summary("List everything that happened with a contact")
        .about(
            "The newest first: messages, opens and clicks by people, bounces, complaints, unsubscriptions and reported events. Of a \
                contact with very many messages, what came back is told of the newest 500 only.",
        )
        .heavy()
        .fails(&[Code::NotFound]);
    type Input = Whose;
    type Output = Done<Part>;

    fn example() -> (Value, Self::Output) {
        let send_id = MailingId::parse("66f1a2b3d4e5f60718293a61");
        let opened = Happened {
            kind: Kind::Opened,
            send_id,
            subject: Some("Spring is here".into()),
            ..Happened::at(Moment::sample().0, Kind::Opened)
        };
        let event = Happened { event: Some(EventView::sample()), ..Happened::at(Moment::sample().0, Kind::Event) };
        let part = Part { entries: vec![event, opened], next_cursor: None, has_more: false };
        (json!({ "id": "66f1a2b30000000a5c3e9d71", "projectId": "66f1a2b3d4e5f60718293a4b", "limit": 2 }), Done(part))
    }
}

impl Happened {
    fn at(at: Timestamp, kind: Kind) -> Self {
        Self { at: Moment(at), kind, send_id: None, campaign_id: None, subject: None, detail: None, event: None }
    }

    /// The newest first; of one moment, the later step of a message's life first. Of each kind in the order in which the store has it from
    /// behind, so that the newest of all are among the newest of each.
    fn place(&self) -> Reverse<(Timestamp, Kind, Option<MailingId>, Option<EventId>)> {
        Reverse((self.at.0, self.kind, self.send_id, self.event.as_ref().map(|event| event.event_id)))
    }
}

/// Where a part begins: at this time, behind so many of that very moment.
#[derive(Clone, Copy)]
struct Place {
    at: Timestamp,
    behind: usize,
}

impl Query for Timeline {
    fn run(ask: &View<'_>, input: Whose) -> Result<Self::Output, Failure> {
        projects::require(ask.tx, ask.caller.account(), input.project_id)?;
        let contact = contacts::find(ask.tx, input.project_id, input.id)?.ok_or(Code::NotFound)?;
        let place = input.cursor.as_deref().map(place).transpose()?.unwrap_or(Place { at: Timestamp(i64::MAX - 1), behind: 0 });
        let limit = input.limit.0 as usize;
        let mut story = Story { tx: ask.tx, project: input.project_id, contact: &contact, mailings: HashMap::new() };
        let mut all = story.until(place.at, place.behind + limit + 1)?;
        all.sort_by_key(Happened::place);
        let mut entries: Vec<Happened> = all.into_iter().skip(place.behind).take(limit + 1).collect();
        let has_more = entries.len() > limit;
        entries.truncate(limit);
        let next_cursor = entries.last().filter(|_| has_more).map(|last| {
            let same = entries.iter().filter(|entry| entry.at.0 == last.at.0).count();
            let before = if last.at.0 == place.at { place.behind } else { 0 };
            format!("{}.{}", last.at.0.0, same + before)
        });
        Ok(Done(Part { entries, next_cursor, has_more }))
    }
}

fn place(cursor: &str) -> Result<Place, Failure> {
    let read = cursor.split_once('.').and_then(|(at, behind)| {
        let behind = behind.parse().ok().filter(|behind| *behind <= limits::TIMELINE_DEEDS_MAX)?;
        Some(Place { at: Timestamp(at.parse().ok().filter(|at| (0..i64::MAX).contains(at))?), behind })
    });
    read.ok_or_else(|| Failure::field("cursor", "expected the nextCursor of the part before, as it was given"))
}

/// What is known of one contact.
struct Story<'t> {
    tx: &'t ReadTx,
    project: ProjectId,
    contact: &'t Contact,
    mailings: HashMap<MailingId, Option<Mailing>>,
}

impl Story<'_> {
    /// At least the newest `many` things up to this moment, in no order.
    fn until(&mut self, at: Timestamp, many: usize) -> Result<Vec<Happened>, Failure> {
        let number = self.contact.id.number();
        let after = Timestamp(at.0 + 1);
        let mut all = self.outcomes()?;
        for deed in activity::before(self.tx, self.project, number, after, many)? {
            all.push(self.deed(&deed)?);
        }
        let events = journal::of(self.tx, self.project, number, Some((after, EventId::from_bytes([0; 12]))), many)?;
        all.extend(events.into_iter().map(|(id, event)| {
            let at = event.occurred_at;
            Happened { event: Some(EventView::of((id, event))), ..Happened::at(at, Kind::Event) }
        }));
        all.push(Happened::at(self.contact.created_at, Kind::Created));
        all.retain(|entry| entry.at.0 <= at);
        Ok(all)
    }

    fn mailing(&mut self, id: MailingId) -> Result<Option<&Mailing>, Failure> {
        if !self.mailings.contains_key(&id) {
            self.mailings.insert(id, sending::by_id(self.tx, id)?);
        }
        Ok(self.mailings.get(&id).and_then(Option::as_ref))
    }

    fn deed(&mut self, deed: &Deed) -> Result<Happened, Failure> {
        let kind = match deed.action {
            Action::Sent => Kind::Sent,
            Action::Opened => Kind::Opened,
            Action::Clicked => Kind::Clicked,
        };
        let subject = self.mailing(deed.mailing)?.map(|mailing| mailing.subject.clone());
        Ok(Happened { send_id: Some(deed.mailing), campaign_id: deed.campaign, subject, ..Happened::at(deed.at, kind) })
    }

    /// What became of the newest messages, and that the contact is unsubscribed, where no message tells of it.
    fn outcomes(&mut self) -> Result<Vec<Happened>, Failure> {
        let number = self.contact.id.number();
        let deeds = activity::of(self.tx, self.project, number, limits::TIMELINE_DEEDS_MAX)?;
        let mut outcomes = Vec::new();
        let sent = deeds.into_iter().filter(|deed| deed.action == Action::Sent).take(limits::TIMELINE_SENDS_MAX);
        for deed in sent {
            let (tx, email) = (self.tx, self.contact.email.as_str());
            let Some(mailing) = self.mailing(deed.mailing)? else { continue };
            let Some((row, _)) = row_of(tx, mailing, number, email)? else { continue };
            let did = engagement::of(tx, deed.mailing, row)?;
            let bounce = did.bounce.map(|bounce| bounce.detail);
            for (at, kind, detail) in [
                (did.bounced_at, Kind::Bounced, bounce),
                (did.complained_at, Kind::Complained, did.complaint),
                (did.unsubscribed_at, Kind::Unsubscribed, None),
            ] {
                let Some(at) = at else { continue };
                let subject = Some(mailing.subject.clone());
                let of = Happened { send_id: Some(deed.mailing), campaign_id: deed.campaign, subject, ..Happened::at(at, kind) };
                outcomes.push(Happened { detail, ..of });
            }
        }
        if let Some(at) = self.contact.unsubscribed_at {
            let is_told = |entry: &Happened| entry.kind == Kind::Unsubscribed && entry.at.0.ms_since(at).abs() < SAME_MS;
            if !outcomes.iter().any(is_told) {
                outcomes.push(Happened::at(at, Kind::Unsubscribed));
            }
        }
        Ok(outcomes)
    }
}

/// The same leaving is written at the message and at the contact.
const SAME_MS: i64 = 2_000;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::Mill;

    fn kinds(part: &Value) -> Vec<String> {
        let entries = part["entries"].as_array().expect("a list");
        let name = |entry: &Value| match entry["event"]["name"].as_str() {
            Some(name) => name.to_owned(),
            None => entry["kind"].as_str().expect("text").to_owned(),
        };
        entries.iter().map(name).collect()
    }

    #[test]
    fn a_time_line_is_told_newest_first_in_parts_and_nothing_twice() {
        let mill = Mill::new();
        let id = mill.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data()["id"].clone();
        mill.clock.advance_ms(1_000);
        for name in ["a", "b", "c", "d"] {
            let event = json!({ "name": name, "identifiers": { "email": "ada@example.com" }, "dedupeKey": name });
            assert_eq!(mill.post_in("/v1/events", event).status, 200, "{name}");
        }
        mill.clock.advance_ms(5_000);
        let change = json!({ "email": "ada@example.com", "status": "unsubscribed" });
        mill.post_in("/v1/contacts/status", change).data();
        let path = format!("/v1/contacts/{}/timeline", id.as_str().expect("an id"));
        let all = kinds(&mill.get_in(&path).data());
        assert_eq!((all.first().map(String::as_str), all.last().map(String::as_str)), (Some("unsubscribed"), Some("created")));
        assert_eq!(all.len(), 6);
        let (mut told, mut cursor) = (Vec::new(), String::new());
        loop {
            let part = mill.get_in(&format!("{path}?limit=2{cursor}")).data();
            told.extend(kinds(&part));
            let Some(next) = part["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(told, all);
        assert_eq!(mill.get_in(&format!("{path}?cursor=x")).refusal().0, 400);
    }
}
