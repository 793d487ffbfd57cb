//! Stores what was sent to contacts and what contacts did in response. Filters use these records to find contacts by activity and time, and
//! all records about a contact can be shown or erased.
//!
//! Each activity is one row under its contact. In addition, sets contain the contacts with an activity at any time, on a given day, or in a
//! given hour, both overall and per campaign. A query about a period uses the sets for whole days and hours and reads rows only for
//! contacts with an activity in the incomplete hours at the two ends of the period. Sending and tracking write here; this file does not
//! depend on their rules.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use roaring::RoaringBitmap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::base::period::Period;
use crate::engine::store::bitmap::{self, Block, Delta};
use crate::engine::store::key::Key;
use crate::engine::store::time_buckets;
use crate::engine::store::{Order, Read, Record, Result, RowCheck, Span, Table, WriteTx};
use crate::features::contact_sets::{Facet, add_count};
use crate::vocab::ids::{CampaignId, MailingId, ProjectId};
use crate::vocab::tables;

/// The activities, keyed by contact and time.
const ACTIVITY: Table<Place, ActivityRow> = Table::new(tables::CONTACT_ACTIVITY);
/// Sets of contacts, keyed by action and campaign ([`ANY`] for actions in any campaign or in none), then by time bucket.
const CONTACTS: Table<(ProjectId, Scope, u32, u16), Block> = Table::new(tables::ACTIVITY_BITS);
/// Contacts whose orders need to be attributed again because their clicks have changed, each with the position to start from. An empty
/// position means the beginning. `features/events` defines what a position contains.
const CLICK_CHANGES: Table<ContactKey, Vec<u8>> = Table::new(tables::CLICK_CHANGES);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(ACTIVITY), RowCheck::of(CONTACTS), RowCheck::of(CLICK_CHANGES)];

/// A project and the number of one of its contacts.
pub type ContactKey = (ProjectId, u32);

/// The key of an activity: contact, time, and the action with its mailing.
type Place = (ProjectId, u32, Timestamp, (u8, MailingId));

/// The part of a set's key that selects the actions: the kind of action and its campaign.
type Scope = (u8, CampaignId);

/// A special campaign ID: its sets contain the contacts with an action in any campaign or in none.
const ANY: CampaignId = CampaignId::from_bytes([0; 12]);

/// The part of an activity that its key does not contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ActivityRow {
    campaign: Option<CampaignId>,
}

impl Record for ActivityRow {}

/// An action: an email was sent to a contact, or the contact opened it or clicked a link in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ContactAction")]
pub enum Action {
    /// An email was sent to the contact.
    Sent,
    /// The contact opened an email.
    Opened,
    /// The contact clicked a link in an email.
    Clicked,
}

impl Action {
    /// All actions, in the order of their stored numbers.
    pub const ALL: [Self; 3] = [Self::Sent, Self::Opened, Self::Clicked];
}

/// One action of one contact, with its mailing and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activity {
    pub action: Action,
    pub mailing: MailingId,
    /// The campaign of the mailing, if the mailing belongs to one.
    pub campaign: Option<CampaignId>,
    pub at: Timestamp,
}

/// Records activities of contacts in one project. Recording many activities in one call costs little more than recording one.
pub fn note(tx: &mut WriteTx<'_>, project: ProjectId, activities: &[(u32, Activity)]) -> Result<()> {
    if activities.is_empty() {
        return Ok(());
    }
    let mut sets: BTreeMap<(Scope, u32), Delta> = BTreeMap::new();
    for (number, activity) in activities {
        let kind = activity.action as u8;
        tx.put(
            ACTIVITY,
            &(project, *number, activity.at, (kind, activity.mailing)),
            &ActivityRow { campaign: activity.campaign },
        );
        for campaign in std::iter::once(ANY).chain(activity.campaign) {
            for bucket in time_buckets::of(activity.at) {
                sets.entry(((kind, campaign), bucket)).or_default().add.insert(*number);
            }
        }
        if activity.action == Action::Clicked {
            tx.put(CLICK_CHANGES, &(project, *number), &Vec::new());
        }
    }
    for ((scope, bucket), delta) in &sets {
        bitmap::apply(tx, CONTACTS, |block| (project, *scope, *bucket, block), delta)?;
    }
    add_count(tx, project, Facet::Activity, activities.len() as i64)
}

/// Deletes recorded actions of one contact in one mailing, because they turned out to be misclassified.
pub fn take_back(tx: &mut WriteTx<'_>, project: ProjectId, number: u32, mailing: MailingId, actions: &[Action]) -> Result<()> {
    let mut mistaken = Vec::new();
    let mut rest = Vec::new();
    tx.visit(ACTIVITY, &ACTIVITY.under(&(project, number)), Order::Forward, |(_, _, at, (kind, of)), row| {
        let wrong = of == mailing && actions.iter().any(|action| *action as u8 == kind);
        if wrong { &mut mistaken } else { &mut rest }.push((at, (kind, of), row.campaign));
        Ok(ControlFlow::Continue(()))
    })?;
    if mistaken.iter().any(|(_, (kind, _), _)| *kind == Action::Clicked as u8) {
        tx.put(CLICK_CHANGES, &(project, number), &Vec::new());
    }
    for (at, (kind, of), campaign) in &mistaken {
        tx.delete(ACTIVITY, &(project, number, *at, (*kind, *of)));
        for scope in std::iter::once(ANY).chain(*campaign) {
            for bucket in time_buckets::of(*at) {
                let stays = rest.iter().any(|(at, (other, _), campaign)| {
                    other == kind && (scope == ANY || *campaign == Some(scope)) && time_buckets::of(*at).contains(&bucket)
                });
                if !stays {
                    let delta = Delta { remove: RoaringBitmap::from_iter([number]), ..Delta::default() };
                    bitmap::apply(tx, CONTACTS, |block| (project, (*kind, scope), bucket, block), &delta)?;
                }
            }
        }
    }
    add_count(tx, project, Facet::Activity, mistaken.len() as i64)
}

/// Returns the numbers of the contacts that have an action of this kind in the period. Some of these contacts may have been deleted.
pub fn who(
    tx: &impl Read,
    project: ProjectId,
    action: Action,
    campaign: Option<CampaignId>,
    period: Period,
) -> Result<RoaringBitmap> {
    let index = ActivityIndex { tx, project, action, campaign };
    time_buckets::who(period, |first, end| index.between(first, end), |number| index.has(number, period))
}

/// Returns the time and mailing of a contact's last click in a period. If two clicks have the same time, the click in the newer mailing is
/// returned.
pub fn last_click(tx: &impl Read, project: ProjectId, number: u32, period: Period) -> Result<Option<(Timestamp, MailingId)>> {
    let place = |at: Timestamp| (project, number, Timestamp(at.0.max(0))).to_bytes();
    let span = Span { from: place(period.from), to: Some(place(period.to)) };
    let mut last = None;
    tx.visit(ACTIVITY, &span, Order::Backward, |(_, _, at, (kind, mailing)), _| {
        if kind != Action::Clicked as u8 {
            return Ok(ControlFlow::Continue(()));
        }
        last = Some((at, mailing));
        Ok(ControlFlow::Break(()))
    })?;
    Ok(last)
}

/// Returns up to `limit` contacts whose orders need to be attributed again.
pub fn click_changes(tx: &impl Read, limit: usize) -> Result<Vec<ContactKey>> {
    Ok(tx.list(CLICK_CHANGES, &Span::default(), Order::Forward, limit)?.into_iter().map(|(contact, _)| contact).collect())
}

/// Returns the position from which a contact's orders need to be attributed again; returns `None` if no order needs to be.
pub fn credit_again_from(tx: &impl Read, contact: ContactKey) -> Result<Option<Vec<u8>>> {
    tx.get(CLICK_CHANGES, &contact)
}

/// Schedules a contact's orders to be attributed again from this position; `None` records that the work is done.
pub fn set_credit_again_from(tx: &mut WriteTx<'_>, contact: ContactKey, place: Option<Vec<u8>>) {
    match place {
        Some(place) => tx.put(CLICK_CHANGES, &contact, &place),
        None => tx.delete(CLICK_CHANGES, &contact),
    }
}

/// Returns up to `limit` activities of a contact, newest first.
pub fn of(tx: &impl Read, project: ProjectId, number: u32, limit: usize) -> Result<Vec<Activity>> {
    let rows = tx.list(ACTIVITY, &ACTIVITY.under(&(project, number)), Order::Backward, limit)?;
    Ok(activities(rows))
}

/// Returns up to `limit` activities of a contact before the time `end`, newest first.
pub fn before(tx: &impl Read, project: ProjectId, number: u32, end: Timestamp, limit: usize) -> Result<Vec<Activity>> {
    let mut span = ACTIVITY.under(&(project, number));
    span.to = Some((project, number, Timestamp(end.0.max(0))).to_bytes());
    Ok(activities(tx.list(ACTIVITY, &span, Order::Backward, limit)?))
}

fn activities(rows: Vec<(Place, ActivityRow)>) -> Vec<Activity> {
    let activity = |((_, _, at, (kind, mailing)), row): (Place, ActivityRow)| {
        Some(Activity { action: action(kind)?, mailing, campaign: row.campaign, at })
    };
    rows.into_iter().filter_map(activity).collect()
}

/// Erases up to `limit` rows of a deleted contact; returns whether there may be more. The contact's number stays in the sets, which is
/// harmless because numbers are never reused.
pub fn forget(tx: &mut WriteTx<'_>, project: ProjectId, number: u32, limit: usize) -> Result<bool> {
    Ok(tx.delete_span(ACTIVITY, &ACTIVITY.under(&(project, number)), limit)? == limit)
}

fn action(kind: u8) -> Option<Action> {
    Action::ALL.into_iter().find(|action| *action as u8 == kind)
}

/// The index of one kind of action, either in one campaign or regardless of the campaign.
struct ActivityIndex<'t, R> {
    tx: &'t R,
    project: ProjectId,
    action: Action,
    campaign: Option<CampaignId>,
}

impl<R: Read> ActivityIndex<'_, R> {
    /// Returns the contacts in the time buckets from `first` (inclusive) to `end` (exclusive).
    fn between(&self, first: u32, end: u32) -> Result<RoaringBitmap> {
        let scope = (self.action as u8, self.campaign.unwrap_or(ANY));
        let place = |bucket: u32| (self.project, scope, bucket).to_bytes();
        bitmap::load_span(self.tx, CONTACTS, &Span { from: place(first), to: Some(place(end)) })
    }

    /// Returns whether the rows of the contact contain the action in the period.
    fn has(&self, number: u32, period: Period) -> Result<bool> {
        let place = |at: Timestamp| (self.project, number, Timestamp(at.0.max(0))).to_bytes();
        let span = Span { from: place(period.from), to: Some(place(period.to)) };
        let mut found = false;
        self.tx.visit(ACTIVITY, &span, Order::Forward, |(_, _, _, (kind, _)), row| {
            found = kind == self.action as u8 && (self.campaign.is_none() || self.campaign == row.campaign);
            Ok(if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{START, TestApp};
    use crate::vocab::environment::Environment;

    const HOUR_MS: i64 = 60 * 60 * 1000;
    const CAMPAIGN: CampaignId = CampaignId::from_bytes([1; 12]);
    const MAILING: MailingId = MailingId::from_bytes([2; 12]);

    fn noted(activities: &[(u32, Action, Option<CampaignId>, i64)]) -> TestApp {
        let app = TestApp::new();
        let project = app.project;
        let activities: Vec<(u32, Activity)> = activities
            .iter()
            .map(|(number, action, campaign, after)| {
                (*number, Activity { action: *action, mailing: MAILING, campaign: *campaign, at: START.plus_ms(*after) })
            })
            .collect();
        let store = &app.engine().data(Environment::Test).store;
        store
            .write_blocking(move |tx| note(tx, project, &activities))
            .expect("the store works")
            .expect("the activities are recorded");
        app
    }

    fn asked(app: &TestApp, action: Action, campaign: Option<CampaignId>, from: i64, to: i64) -> Vec<u32> {
        let period = Period { from: START.plus_ms(from), to: START.plus_ms(to) };
        who(&app.read(), app.project, action, campaign, period).expect("the store is readable").iter().collect()
    }

    #[test]
    fn a_period_is_exact_to_the_millisecond_at_both_ends() {
        let day = 24 * HOUR_MS;
        let activities =
            [(1, 100), (2, HOUR_MS - 1), (3, HOUR_MS), (4, 30 * HOUR_MS), (5, 5 * day), (6, 5 * day + 1), (70_000, 3 * day)];
        let activities: Vec<_> = activities.map(|(number, at)| (number, Action::Opened, None, at)).to_vec();
        let app = noted(&activities);
        assert_eq!(asked(&app, Action::Opened, None, 100, 5 * day), [1, 2, 3, 4, 70_000]);
        assert_eq!(asked(&app, Action::Opened, None, 101, 5 * day + 1), [2, 3, 4, 5, 70_000]);
        assert_eq!(asked(&app, Action::Opened, None, 100, 101), [1], "both ends in one hour");
        assert_eq!(asked(&app, Action::Opened, None, HOUR_MS, 2 * HOUR_MS), [3]);
        assert!(asked(&app, Action::Opened, None, 200, 300).is_empty());
        assert!(asked(&app, Action::Clicked, None, 0, 10 * day).is_empty());
        let ever = who(&app.read(), app.project, Action::Opened, None, Period::ALWAYS).expect("the store is readable");
        assert_eq!(ever.len(), 7);
        let until = Period { to: START.plus_ms(101), ..Period::ALWAYS };
        assert_eq!(who(&app.read(), app.project, Action::Opened, None, until).expect("the store is readable").len(), 1);
    }

    #[test]
    fn activities_are_distinguished_by_campaign() {
        let app =
            noted(&[(1, Action::Sent, Some(CAMPAIGN), 0), (2, Action::Sent, None, 0), (2, Action::Clicked, Some(CAMPAIGN), 5)]);
        assert_eq!(asked(&app, Action::Sent, None, 0, 1), [1, 2]);
        assert_eq!(asked(&app, Action::Sent, Some(CAMPAIGN), 0, 1), [1]);
        assert_eq!(asked(&app, Action::Clicked, Some(CAMPAIGN), 0, HOUR_MS), [2]);
        assert!(asked(&app, Action::Clicked, Some(CampaignId::from_bytes([9; 12])), 0, HOUR_MS).is_empty());
    }

    #[test]
    fn only_misclassified_activities_are_deleted() {
        let other = MailingId::from_bytes([3; 12]);
        let app = noted(&[
            (1, Action::Clicked, Some(CAMPAIGN), 0),
            (1, Action::Sent, Some(CAMPAIGN), 0),
            (2, Action::Clicked, None, 0),
        ]);
        let project = app.project;
        let later = Activity { action: Action::Clicked, mailing: other, campaign: None, at: START.plus_ms(2 * HOUR_MS) };
        let store = &app.engine().data(Environment::Test).store;
        let change = move |tx: &mut WriteTx<'_>| {
            note(tx, project, &[(1, later)])?;
            take_back(tx, project, 1, MAILING, &[Action::Opened, Action::Clicked])
        };
        store.write_blocking(change).expect("the store works").expect("the action is deleted");
        assert_eq!(asked(&app, Action::Clicked, None, 0, HOUR_MS), [2]);
        assert_eq!(asked(&app, Action::Clicked, None, 0, 48 * HOUR_MS), [1, 2], "the second click on that day stays");
        assert!(asked(&app, Action::Clicked, Some(CAMPAIGN), 0, 48 * HOUR_MS).is_empty());
        assert_eq!(asked(&app, Action::Sent, Some(CAMPAIGN), 0, 48 * HOUR_MS), [1]);
    }

    #[test]
    fn activities_of_one_contact_are_listed_and_erased() {
        let app = noted(&[(1, Action::Sent, None, 0), (1, Action::Opened, None, 7), (2, Action::Sent, None, 0)]);
        let project = app.project;
        let known = of(&app.read(), project, 1, 10).expect("the store is readable");
        assert_eq!(known.iter().map(|activity| activity.action).collect::<Vec<_>>(), [Action::Opened, Action::Sent]);
        let store = &app.engine().data(Environment::Test).store;
        let more = store
            .write_blocking(move |tx| forget(tx, project, 1, 10))
            .expect("the store works")
            .expect("the activities are deleted");
        assert!(!more && of(&app.read(), project, 1, 10).expect("the store is readable").is_empty());
        assert_eq!(of(&app.read(), project, 2, 10).expect("the store is readable").len(), 1);
    }
}
