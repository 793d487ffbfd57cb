//! Copies contacts of a brand: a batch is read from one store and merged by email into another.
//!
//! The copy to the live environment follows the rules of an import: given values replace existing ones, and a contact that has unsubscribed
//! stays unsubscribed. A restore from a backup ([`ContactsCopy::restore`]) keeps the status of contacts that still exist, and does not
//! resubscribe a missing contact that unsubscribed, bounced or complained since the backup.

use std::collections::HashMap;
use std::ops::AddAssign;

use super::batch::{self, Batch, BatchOutcome, Counts, OnConflict};
use super::webhook_events::Source;
use super::write::{ContactInput, ContactTimes};
use crate::base::email::EmailAddress;
use crate::base::text::fold;
use crate::engine::store::{Read, Result, WriteTx};
use crate::features::contact_records;
use crate::features::contact_sets::{self, Facet};
use crate::features::suppressions::{self, Digester, Reason};
use crate::features::tags::{TagName, TagNames};
use crate::features::topics;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{AccountId, ContactId, ProjectId, TopicId};

/// A batch of contacts to merge into another project.
#[derive(Default)]
pub struct ContactsCopy {
    rows: Vec<(u32, ContactInput)>,
    /// The IDs and the times of the contacts, by number.
    ids: HashMap<u32, (ContactId, ContactTimes)>,
    /// The contacts' explicit choices of topics: the hash of the email, the topic, and the choice.
    choices: Vec<([u8; 16], TopicId, bool)>,
    /// The number of the last contact in the batch if more contacts follow; `None` at the end.
    pub next: Option<u32>,
}

pub fn count(tx: &impl Read, project: ProjectId) -> Result<u64> {
    contact_sets::count(tx, project, Facet::All)
}

/// Returns the smallest number that has never been assigned to a contact in a project.
pub fn next_number(tx: &impl Read, project: ProjectId) -> Result<u32> {
    Ok(contact_sets::count(tx, project, Facet::NextContact)?.try_into().unwrap_or(u32::MAX))
}

/// Reserves the numbers below `next` in a project that has had no contacts, so that restored contacts can keep their IDs.
pub fn reserve_numbers(tx: &mut WriteTx<'_>, project: ProjectId, next: u32) -> Result<()> {
    contact_sets::next_number(tx, project, Facet::NextContact, next).map(drop)
}

/// The rules for restoring contacts from a backup.
pub struct ReturnRule {
    pub account: AccountId,
    /// The project that contained the contacts at the time of the backup.
    pub original: ProjectId,
    /// Whether the original project was missing before the restore. If it was, contacts can keep their IDs, and no missing contact
    /// counts as deleted.
    pub is_fresh: bool,
    /// Whether to restore contacts that have been deleted since the backup. Deleting a contact erases a person's data, perhaps at their
    /// request.
    pub with_deleted: bool,
    /// Whether the values from the backup replace the values of contacts that still exist.
    pub replaces: bool,
    /// The folded names of the tags that were missing before the restore. Contacts that still exist get these tags back.
    pub tags: Vec<String>,
    pub digester: Digester,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// The project has a contact with this address.
    Exists,
    /// The contact is missing and is restored with this status.
    Returns(Status),
    Deleted,
    /// The person's data was erased, and at that time the contact had unsubscribed, bounced or complained, or the address was suppressed
    /// for another reason.
    Erased,
}

/// The results of a restore of contacts. A contact that cannot be written is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReturnCounts {
    /// The number of contacts that are restored.
    pub created: u64,
    /// The number of contacts that still exist and change.
    pub updated: u64,
    /// The number of contacts that still exist and do not change.
    pub unchanged: u64,
    /// The number of contacts that stay deleted.
    pub deleted: u64,
    /// The number of contacts that stay erased.
    pub erased: u64,
}

impl AddAssign for ReturnCounts {
    fn add_assign(&mut self, other: Self) {
        self.created += other.created;
        self.updated += other.updated;
        self.unchanged += other.unchanged;
        self.deleted += other.deleted;
        self.erased += other.erased;
    }
}

impl ReturnRule {
    /// Returns what a restore does with a contact in the backup, based on what has happened to the contact's address since the backup.
    fn standing(&self, tx: &impl Read, into: ProjectId, (number, input): (u32, &ContactInput)) -> Result<Standing> {
        let digest = contact_records::email_digest_of(&input.email);
        if contact_records::number_by_digest(tx, into, digest)?.is_some() {
            return Ok(Standing::Exists);
        }
        let mut status = input.status.unwrap_or(Status::NonSubscribed);
        match suppressions::reason(tx, &self.digester, self.account, &input.email.normalized())? {
            Some(Reason::Erased) => return Ok(Standing::Erased),
            Some(Reason::Unsubscribe | Reason::Complaint) => status = Status::Unsubscribed,
            Some(Reason::BounceHard) if status != Status::Unsubscribed => status = Status::Bounced,
            Some(Reason::BounceHard | Reason::Manual) | None => {}
        }
        let now = match contact_records::number_by_digest(tx, self.original, digest)? {
            Some(now) => contact_records::by_number(tx, self.original, now)?,
            None => None,
        };
        match now.map(|now| now.status) {
            Some(left @ (Status::Unsubscribed | Status::Bounced)) => status = left,
            Some(_) => {}
            // The original project has already assigned this number, so the contact existed and was deleted.
            None if !self.is_fresh && !self.with_deleted && number < next_number(tx, self.original)? => {
                return Ok(Standing::Deleted);
            }
            None => {}
        }
        Ok(Standing::Returns(status))
    }
}

impl ContactsCopy {
    /// Reads up to `limit` contacts with a number greater than `after`.
    pub fn read(tx: &impl Read, project: ProjectId, after: Option<u32>, limit: usize) -> Result<Self> {
        let all = contact_sets::set(tx, project, Facet::All)?;
        let from = after.map_or(Some(0), |after| after.checked_add(1));
        let mut numbers: Vec<u32> = from.into_iter().flat_map(|from| all.range(from..)).take(limit + 1).collect();
        let mut copy = Self::default();
        if numbers.len() > limit {
            numbers.truncate(limit);
            copy.next = numbers.last().copied();
        }
        let topics = topics::all(tx, project)?;
        let mut names = TagNames::new(tx, project);
        for number in numbers {
            let Some(contact) = contact_records::by_number(tx, project, number)? else { continue };
            let Ok(email) = EmailAddress::parse(&contact.email) else { continue };
            let digest = contact_records::email_digest_of(&email);
            for topic in &topics {
                let choice = topics::choice(tx, project, topic.id, number)?;
                copy.choices.extend(choice.map(|choice| (digest, topic.id, choice)));
            }
            let tags = names.of(&contact.tags)?;
            let input = ContactInput {
                email,
                profile: contact.profile,
                tags: tags.iter().filter_map(|name| TagName::parse(name).ok()).collect(),
                custom_fields: contact.custom_fields,
                status: Some(contact.status),
            };
            let times = ContactTimes { created_at: contact.created_at, unsubscribed_at: contact.unsubscribed_at };
            copy.ids.insert(number, (contact.id, times));
            copy.rows.push((number, input));
        }
        Ok(copy)
    }

    /// Merges the contacts into a project; `topic` maps a topic to its copy, if there is one.
    pub fn write(
        self,
        tx: &mut WriteTx<'_>,
        (account, project): (AccountId, ProjectId),
        source: Source,
        topic: impl Fn(TopicId) -> Option<TopicId>,
    ) -> Result<BatchOutcome> {
        let outcome = batch::apply(tx, (account, project), Batch::new(self.rows), (OnConflict::Upsert, &[]), source)?;
        for (digest, chosen, choice) in self.choices {
            let contact = contact_records::number_by_digest(tx, project, digest)?;
            if let (Some(contact), Some(topic)) = (contact, topic(chosen)) {
                topics::choose(tx, project, topic, contact, choice)?;
            }
        }
        Ok(outcome)
    }

    /// Estimates the counts that [`ContactsCopy::restore`] would return: contacts that exist count as updated if values are replaced, and
    /// otherwise as unchanged.
    pub fn preview(&self, tx: &impl Read, into: ProjectId, rule: &ReturnRule) -> Result<ReturnCounts> {
        let mut counts = ReturnCounts::default();
        for (number, input) in &self.rows {
            let count = match rule.standing(tx, into, (*number, input))? {
                Standing::Exists if rule.replaces => &mut counts.updated,
                Standing::Exists => &mut counts.unchanged,
                Standing::Returns(_) => &mut counts.created,
                Standing::Deleted => &mut counts.deleted,
                Standing::Erased => &mut counts.erased,
            };
            *count += 1;
        }
        Ok(counts)
    }

    /// Restores the contacts into the project `into`; `topic` maps a topic to its copy, if there is one. Keeps the status of a contact that
    /// exists, and every choice of topics that has been made since the backup.
    pub fn restore(
        self,
        tx: &mut WriteTx<'_>,
        into: ProjectId,
        rule: &ReturnRule,
        topic: impl Fn(TopicId) -> Option<TopicId>,
    ) -> Result<(ReturnCounts, Option<String>)> {
        let mut counts = ReturnCounts::default();
        let mut rows = Vec::with_capacity(self.rows.len());
        for (number, mut input) in self.rows {
            match rule.standing(tx, into, (number, &input))? {
                Standing::Deleted => counts.deleted += 1,
                Standing::Erased => counts.erased += 1,
                Standing::Returns(status) => rows.push((number, ContactInput { status: Some(status), ..input })),
                Standing::Exists if rule.replaces => rows.push((number, ContactInput { status: None, ..input })),
                Standing::Exists => {
                    input.tags.retain(|name| rule.tags.contains(&fold(name)));
                    rows.push((number, ContactInput { tags: input.tags, ..ContactInput::of(input.email) }));
                }
            }
        }
        let keeps_ids = rule.is_fresh && into == rule.original;
        let batch = Batch::new(rows).with_ids(if keeps_ids { self.ids } else { HashMap::new() });
        let done = batch::apply(tx, (rule.account, into), batch, (OnConflict::Upsert, &[]), Source::Api)?;
        for (digest, chosen, choice) in self.choices {
            let contact = contact_records::number_by_digest(tx, into, digest)?;
            if let (Some(contact), Some(topic)) = (contact, topic(chosen))
                && topics::choice(tx, into, topic, contact)?.is_none()
            {
                topics::choose(tx, into, topic, contact, choice)?;
            }
        }
        let Counts { created, updated, skipped: unchanged, .. } = done.counts;
        Ok((ReturnCounts { created, updated, unchanged, ..counts }, done.failures("restored")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::store::ReadTx;
    use crate::testing::TestApp;
    use crate::vocab::limits;

    fn app_with(emails: &[&str]) -> TestApp {
        let app = TestApp::new();
        for email in emails {
            app.post_in("/v1/contacts", json!({ "email": email, "firstName": "Then", "tags": ["VIP"] })).data();
        }
        app
    }

    fn delete(app: &TestApp, email: &str) {
        let found = contact_records::find_by_email(&app.read(), app.project, email).expect("the store can be read");
        app.delete_in(&format!("/v1/contacts/{}", found.expect("the contact exists").id)).data();
    }

    fn rule(app: &TestApp) -> ReturnRule {
        ReturnRule {
            account: app.account(),
            original: app.project,
            is_fresh: false,
            with_deleted: false,
            replaces: false,
            tags: Vec::new(),
            digester: Digester::new(&app.engine().seal),
        }
    }

    /// Restores the contacts in the snapshot `then`, and checks that the preview predicted how many are restored, stay deleted, and stay
    /// erased.
    fn restore(app: &TestApp, then: &ReadTx, into: ProjectId, rule: ReturnRule) -> ReturnCounts {
        let copy = ContactsCopy::read(then, app.project, None, 100).expect("the store can be read");
        let announced = copy.preview(&app.read(), into, &rule).expect("the store can be read");
        let write = move |tx: &mut WriteTx<'_>| copy.restore(tx, into, &rule, Some);
        let done = app.wait(app.data().store.write(write)).expect("the store is open").expect("the contacts can be restored");
        let (done, failures) = done;
        assert_eq!(failures, None);
        assert_eq!((announced.created, announced.deleted, announced.erased), (done.created, done.deleted, done.erased));
        done
    }

    fn statuses(app: &TestApp, project: ProjectId, emails: &[&str]) -> Vec<Option<Status>> {
        let tx = app.read();
        let find = |email: &&str| contact_records::find_by_email(&tx, project, email).expect("the store can be read");
        emails.iter().map(find).map(|found| found.map(|found| found.status)).collect()
    }

    const EMAILS: [&str; 4] = ["a@example.com", "b@example.com", "c@example.com", "d@example.com"];

    #[test]
    fn people_who_left_stay_away_and_deleted_contacts_come_back_only_on_request() {
        let app = app_with(&EMAILS);
        let then = app.read();
        app.post_in("/v1/contacts/unsubscribe", json!({ "email": "b@example.com" })).data();
        delete(&app, "c@example.com");
        app.post("/v1/suppressions", json!({ "email": "d@example.com", "reason": "complaint" })).data();
        delete(&app, "d@example.com");
        let done = restore(&app, &then, app.project, rule(&app));
        assert_eq!(done, ReturnCounts { unchanged: 2, deleted: 2, ..ReturnCounts::default() });
        let done = restore(&app, &then, app.project, ReturnRule { with_deleted: true, ..rule(&app) });
        assert_eq!(done, ReturnCounts { created: 2, unchanged: 2, ..ReturnCounts::default() });
        let (here, left) = (Some(Status::Subscribed), Some(Status::Unsubscribed));
        assert_eq!(statuses(&app, app.project, &EMAILS), [here, left, here, left], "who has complained is not subscribed again");
    }

    #[test]
    fn an_erased_contact_never_comes_back_not_even_in_a_second_brand() {
        let app = app_with(&EMAILS[..1]);
        let then = app.read();
        let erase = {
            let (digester, account) = (Digester::new(&app.engine().seal), app.account());
            move |tx: &mut WriteTx<'_>| suppressions::erase(tx, &digester, account, "a@example.com")
        };
        delete(&app, "a@example.com");
        app.wait(app.data().store.write(erase)).expect("the store is open").expect("the address can be suppressed");
        for into in [app.project, app.another_project()] {
            let done = restore(&app, &then, into, ReturnRule { with_deleted: true, ..rule(&app) });
            assert_eq!(done, ReturnCounts { erased: 1, ..ReturnCounts::default() });
        }
    }

    #[test]
    fn existing_contacts_change_only_on_request_and_keep_their_status() {
        let app = app_with(&EMAILS[..1]);
        let then = app.read();
        let changed = json!({ "email": "a@example.com", "firstName": "Now" });
        app.post_in("/v1/contacts/bulk", json!({ "subscribers": [changed] })).data();
        app.post_in("/v1/contacts/unsubscribe", json!({ "email": "a@example.com" })).data();
        let name = || {
            let found = contact_records::find_by_email(&app.read(), app.project, "a@example.com").expect("the store can be read");
            found.and_then(|found| found.profile.first_name).expect("the contact has a name")
        };
        assert_eq!(restore(&app, &then, app.project, rule(&app)).unchanged, 1);
        assert_eq!(name(), "Now");
        assert_eq!(restore(&app, &then, app.project, ReturnRule { replaces: true, ..rule(&app) }).updated, 1);
        assert_eq!((name().as_str(), statuses(&app, app.project, &EMAILS[..1])), ("Then", vec![Some(Status::Unsubscribed)]));
    }

    #[test]
    fn contacts_that_cannot_be_copied_are_reported_and_not_counted_as_unchanged() {
        let app = app_with(&EMAILS[..2]);
        let then = app.read();
        let found = contact_records::find_by_email(&then, app.project, EMAILS[0]).expect("the store can be read");
        let tags: Vec<String> = (0..limits::TAGS_PER_CONTACT_MAX).map(|number| format!("tag {number}")).collect();
        let path = format!("/v1/contacts/{}", found.expect("the contact exists").id);
        app.patch_in(&path, json!({ "tags": tags })).data();
        let copy = ContactsCopy::read(&then, app.project, None, 100).expect("the store can be read");
        let (project, rule) = (app.project, ReturnRule { tags: vec!["vip".into()], ..rule(&app) });
        let write = move |tx: &mut WriteTx<'_>| copy.restore(tx, project, &rule, Some);
        let (counts, failures) =
            app.wait(app.data().store.write(write)).expect("the store is open").expect("the other contact can be restored");
        assert_eq!(counts, ReturnCounts { unchanged: 1, ..ReturnCounts::default() });
        let failures = failures.expect("a contact cannot have more tags");
        assert!(failures.starts_with("1 contact was not restored. First error: a@example.com, tags: "), "{failures}");
    }

    // Regression test: the first note was given as the reason for the failures, although it could be about a contact that was copied and
    // kept its status.
    #[test]
    fn the_reason_of_a_failure_is_not_a_note_on_another_contact() {
        let app = app_with(&EMAILS[..2]);
        let then = app.read();
        app.post_in("/v1/contacts/unsubscribe", json!({ "email": EMAILS[0] })).data();
        let found = contact_records::find_by_email(&then, app.project, EMAILS[1]).expect("the store can be read");
        let tags: Vec<String> = (0..limits::TAGS_PER_CONTACT_MAX).map(|number| format!("tag {number}")).collect();
        let path = format!("/v1/contacts/{}", found.expect("the contact exists").id);
        app.patch_in(&path, json!({ "tags": tags })).data();
        let copy = ContactsCopy::read(&then, app.project, None, 100).expect("the store can be read");
        let place = (app.account(), app.project);
        let write = move |tx: &mut WriteTx<'_>| copy.write(tx, place, Source::Api, Some);
        let outcome =
            app.wait(app.data().store.write(write)).expect("the store is open").expect("the other contact can be copied");
        assert_eq!((outcome.counts.failed, outcome.notes[0].field.as_str()), (1, "status"));
        let failures = outcome.failures("copied").expect("a contact cannot have more tags");
        let start = format!("1 contact was not copied. First error: {}, tags: ", EMAILS[1]);
        assert!(failures.starts_with(&start), "{failures}");
    }

    #[test]
    fn the_contacts_of_a_lost_brand_keep_their_ids_and_times() {
        let app = app_with(&EMAILS);
        let then = app.read();
        let lost = app.another_project();
        let copy = ContactsCopy::read(&then, app.project, None, 100).expect("the store can be read");
        let rule = ReturnRule { original: lost, is_fresh: true, ..rule(&app) };
        let next = next_number(&then, app.project).expect("the store can be read");
        let write = move |tx: &mut WriteTx<'_>| {
            reserve_numbers(tx, lost, next)?;
            copy.restore(tx, lost, &rule, Some)
        };
        let done = app.wait(app.data().store.write(write)).expect("the store is open").expect("the contacts can be restored");
        assert_eq!(done.0.created, 4);
        let tx = app.read();
        for email in EMAILS {
            let [one, other] = [app.project, lost].map(|project| {
                contact_records::find_by_email(&tx, project, email).expect("the store can be read").expect("the contact exists")
            });
            assert_eq!((one.id, one.created_at), (other.id, other.created_at));
        }
        assert_eq!(next_number(&tx, lost), next_number(&tx, app.project));
    }
}
