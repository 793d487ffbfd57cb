//! Writes recipient rows for an audience, in steps that can be repeated. A dry run performs the same checks but writes nothing.
//!
//! The contacts in a mailing's audience are selected once and stored as a set. Rows are then written in the order of contact numbers. Each
//! transaction writes one chunk of rows, and the number at which the next chunk starts, so an interrupted step resumes where the last
//! transaction ended. Later changes to a contact's status or subscriptions take effect when its message is sent.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use roaring::RoaringBitmap;
use serde_json::{Map, Value as Json};

use super::local_time::Clocks;
use super::merge_data::{MergeData, RecipientProfile};
use super::model::{Audience, Content, Counter, Mailing, NewMailing, Plan, Recipient, Skip, State, To};
use super::template::{self, Compiled, RenderMode};
use super::{control, draft, eligibility, recipients, store};
use crate::base::clock::Timestamp;
use crate::base::email::EmailAddress;
use crate::engine::api::Failure;
use crate::engine::store::{Read, ReadTx, Result as StoreResult, Store, Value, WriteTx};
use crate::features::contact_records::{self, Contact};
use crate::features::contact_sets::{self, Facet};
use crate::features::sending::store::send_queue;
use crate::features::suppressions::{Checker, Digester};
use crate::features::tags::{self, TagNames};
use crate::features::{segments, topics};
use crate::vocab::codes::Code;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{MailingId, ProjectId};
use crate::vocab::limits;

/// Does a limited amount of work on the mailings in the planning queue: selects an audience, writes rows, or skips recipients of
/// canceled and failed mailings. Returns true if there may be more work.
pub fn step(store: &Store, digester: &Digester) -> Result<bool, Failure> {
    let tx = store.read();
    let mut failed = None;
    for id in send_queue::queued(&tx, send_queue::PLANNING, None, limits::MAILINGS_SCANNED_MAX)? {
        match advance(store, &tx, digester, id) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            // The next step tries this mailing again. It must not block the mailings of other campaigns and accounts.
            Err(failure) => {
                failed.get_or_insert((id, failure));
            }
        }
    }
    let Some((id, failure)) = failed else { return Ok(false) };
    tracing::error!(mailing = %id, "a mailing could not be planned and will be retried");
    Err(failure)
}

/// Does a limited amount of work on one mailing. Returns true if it did any work.
fn advance(store: &Store, tx: &ReadTx, digester: &Digester, id: MailingId) -> Result<bool, Failure> {
    let Some(mailing) = store::by_id(tx, id)? else { return Ok(false) };
    match (&mailing.state, mailing.plan) {
        (State::Cancelled { .. } | State::Failed { .. }, _) => close(store, tx, &mailing),
        (_, Plan::Selecting) => select(store, tx, &mailing),
        (_, Plan::From(next)) => fill(store, tx, digester, &mailing, next),
        (_, Plan::Done) => Ok(false),
    }
}

/// Selects the contacts in a mailing's audience and stores their numbers. If the segment or tag no longer exists, the mailing fails.
fn select(store: &Store, tx: &ReadTx, mailing: &Mailing) -> Result<bool, Failure> {
    let found = members(tx, mailing.project, mailing.audience, mailing.updated_at);
    let id = mailing.id;
    let members = match found {
        Ok(members) => members,
        // The segment or tag was deleted after the mailing was created.
        Err(failure) if failure.code == Code::NotFound => {
            let what = if matches!(mailing.audience, Audience::Tag(_)) { "tag" } else { "segment" };
            let reason = format!("The {what} was deleted before its contacts were selected. Send to a different {what}.");
            return write(store, move |tx| {
                change(tx, id, |mailing, now| {
                    mailing.plan = Plan::Done;
                    mailing.state = State::Failed { reason, at: now };
                })
            });
        }
        Err(failure) => return Err(failure),
    };
    write(store, move |tx| {
        let Some(mailing) = store::by_id(tx, id)?.filter(|mailing| mailing.plan == Plan::Selecting) else { return Ok(()) };
        if mailing.state.is_final() {
            return Ok(());
        }
        store::keep_audience(tx, id, members)?;
        change(tx, id, |mailing, _| mailing.plan = Plan::From(0))
    })
}

fn write(store: &Store, command: impl FnOnce(&mut WriteTx<'_>) -> StoreResult<()> + Send + 'static) -> Result<bool, Failure> {
    store.write_blocking(command)??;
    Ok(true)
}

fn change(tx: &mut WriteTx<'_>, id: MailingId, change: impl FnOnce(&mut Mailing, Timestamp)) -> StoreResult<()> {
    let Some(mut mailing) = store::by_id(tx, id)? else { return Ok(()) };
    let now = tx.now();
    change(&mut mailing, now);
    mailing.updated_at = now;
    recipients::save(tx, &mailing)
}

/// Returns the numbers of the contacts in an audience.
fn members(tx: &ReadTx, project: Option<ProjectId>, audience: Audience, now: Timestamp) -> Result<RoaringBitmap, Failure> {
    let Some(project) = project else { return Ok(RoaringBitmap::new()) };
    match audience {
        Audience::Addresses => Ok(RoaringBitmap::new()),
        Audience::Everyone => Ok(contact_sets::set(tx, project, Facet::All)?),
        Audience::Segment(id) => Ok(segments::require(tx, project, id)?.filter()?.select(tx, project, now)?),
        Audience::Tag(id) => {
            let tag = tags::by_id(tx, project, id)?.ok_or(Code::NotFound)?;
            Ok(contact_sets::set(tx, project, Facet::Tag(tag.number()))?)
        }
    }
}

/// Writes a limited number of chunks of recipient rows, starting at contact number `next`.
fn fill(store: &Store, tx: &ReadTx, digester: &Digester, mailing: &Mailing, next: u32) -> Result<bool, Failure> {
    let members = store::audience(tx, mailing.id)?;
    let check = EligibilityCheck::new(tx, digester, mailing)?;
    let mut clocks = mailing.local.clone().map(Clocks::new);
    let mut next = next;
    for _ in 0..limits::PLAN_CHUNKS_PER_STEP {
        let numbers: Vec<u32> = members.range(next..).take(limits::PLAN_CHUNK_RECIPIENTS).collect();
        let planned = check.all(&numbers, clocks.as_mut())?;
        let after = match numbers.last() {
            Some(last) if numbers.len() == limits::PLAN_CHUNK_RECIPIENTS => last.checked_add(1),
            _ => None,
        };
        if !put_rows(store, mailing.id, next, after, planned)? {
            return Ok(true);
        }
        match after {
            Some(after) => next = after,
            None => return Ok(true),
        }
    }
    Ok(true)
}

/// Writes one chunk of rows, unless the mailing has ended or another step has already written the chunk. Returns whether it wrote the
/// chunk.
fn put_rows(
    store: &Store,
    id: MailingId,
    from: u32,
    after: Option<u32>,
    planned: Vec<(u32, PlannedRecipient)>,
) -> Result<bool, Failure> {
    let written = store.write_blocking(move |tx| -> StoreResult<bool> {
        let waits = |mailing: &Mailing| mailing.plan == Plan::From(from) && !mailing.state.is_final();
        let Some(mut mailing) = store::by_id(tx, id)?.filter(waits) else { return Ok(false) };
        let mut counts: BTreeMap<Counter, i64> = BTreeMap::new();
        for (number, planned) in planned {
            let row = planned.row(tx.now());
            tracing::debug!(mailing = %id, number, to = row.delivery.word(), reason = recipients::reason(&row.delivery), "planned");
            *counts.entry(row.delivery.counter()).or_default() += 1;
            recipients::add(tx, id, number, &row);
        }
        for (counter, many) in counts {
            recipients::count(tx, &mailing, counter, many)?;
        }
        match after {
            Some(after) => mailing.plan = Plan::From(after),
            None => {
                mailing.plan = Plan::Done;
                store::drop_audience(tx, id)?;
                if mailing.state == State::Planning {
                    mailing.state = State::Sending;
                }
            }
        }
        mailing.updated_at = tx.now();
        recipients::save(tx, &mailing)?;
        Ok(true)
    });
    Ok(written??)
}

/// Skips a limited number of queued or deferred recipients of a canceled or failed mailing. Returns false if it must wait for messages
/// that are being handed over.
fn close(store: &Store, tx: &ReadTx, mailing: &Mailing) -> Result<bool, Failure> {
    let waits = |counter| matches!(counter, Counter::QUEUED | Counter::DEFERRED);
    let left = store::counted(tx, mailing.id, Counter::QUEUED)? + store::counted(tx, mailing.id, Counter::DEFERRED)?;
    let mut numbers = Vec::new();
    if left > 0 {
        store::visit_counted(tx, mailing.id, 0, waits, |number, recipient| {
            numbers.extend(recipient.map(|_| number));
            let enough = numbers.len() == limits::PLAN_CHUNK_RECIPIENTS || numbers.len() as u64 == left;
            Ok(if enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
    }
    let under_way = store::counted(tx, mailing.id, Counter::HANDOFF)?;
    if numbers.is_empty() && under_way > 0 {
        return Ok(false);
    }
    let id = mailing.id;
    let is_last = numbers.len() as u64 == left && under_way == 0;
    write(store, move |tx| {
        control::skip(tx, id, &numbers, &Skip::Cancelled)?;
        if is_last {
            store::drop_audience(tx, id)?;
            send_queue::dequeue(tx, id)?;
        }
        Ok(())
    })
}

struct PlannedRecipient {
    skip: Option<Skip>,
    /// When the message is due for the contact, if the mailing is scheduled for a local time.
    due: Option<Timestamp>,
    /// The index of the contact's translation.
    translation: u8,
}

impl PlannedRecipient {
    /// Returns the contact's new row: skipped, waiting if the message is due after `now`, or queued.
    fn row(self, now: Timestamp) -> Recipient {
        let row = match (self.skip, self.due) {
            (Some(why), _) => Recipient::skipped(why),
            (None, Some(due)) if due > now => Recipient::later(due),
            (None, _) => Recipient::contact(),
        };
        Recipient { translation: self.translation, ..row }
    }
}

/// Checks within one snapshot of the store which contacts may receive a mailing.
struct EligibilityCheck<'t> {
    tx: &'t ReadTx,
    mailing: &'t Mailing,
    all: RoaringBitmap,
    by_status: Vec<(Status, RoaringBitmap)>,
    topic: Option<RoaringBitmap>,
    suppressed: Checker,
    /// The compiled templates, one for each translation.
    compiled: Vec<Compiled>,
    variables: Map<String, Json>,
}

impl<'t> EligibilityCheck<'t> {
    fn new(tx: &'t ReadTx, digester: &Digester, mailing: &'t Mailing) -> Result<Self, Failure> {
        let contents = mailing.translations.iter().map(|translation| store::content(tx, mailing, translation));
        Self::with(tx, digester, mailing, &contents.collect::<StoreResult<Vec<_>>>()?)
    }

    fn with(tx: &'t ReadTx, digester: &Digester, mailing: &'t Mailing, contents: &[Content]) -> Result<Self, Failure> {
        let mode = RenderMode::of(mailing.tracking, mailing.transactional);
        let compiled = contents.iter().map(|content| template::compile(content, mode.clone())).collect::<Result<_, _>>()?;
        let mut by_status = Vec::new();
        let (mut all, mut topic) = (RoaringBitmap::new(), None);
        if let Some(project) = mailing.project {
            all = contact_sets::set(tx, project, Facet::All)?;
            for status in Status::ALL {
                if eligibility::by_status(status, mailing.transactional).is_some() {
                    by_status.push((status, contact_sets::set(tx, project, Facet::Status(status))?));
                }
            }
            // As in the recipient writer, a topic that was deleted after the mailing was created no longer restricts the recipients.
            if let (Some(id), false) = (mailing.topic, mailing.transactional)
                && let Some(found) = topics::look_up(tx, project, id)?
            {
                topic = Some(topics::subscribers(tx, project, &found)?);
            }
        }
        Ok(Self {
            tx,
            mailing,
            all,
            by_status,
            topic,
            suppressed: Checker::load(tx, digester, mailing.account)?,
            compiled,
            variables: mailing.variables(),
        })
    }

    /// Returns the planning result for each contact: whether and why it is skipped, its translation and, if `clocks` is given, when its
    /// message is due.
    fn all(&self, numbers: &[u32], mut clocks: Option<&mut Clocks>) -> Result<Vec<(u32, PlannedRecipient)>, Failure> {
        let by_sets = |number: &u32| (*number, PlannedRecipient { skip: self.by_sets(*number), due: None, translation: 0 });
        let mut planned: Vec<(u32, PlannedRecipient)> = numbers.iter().map(by_sets).collect();
        let (Some(project), Some(first), Some(last)) = (self.mailing.project, numbers.first(), numbers.last()) else {
            return Ok(planned);
        };
        let is_same_for_all = matches!(self.compiled.as_slice(), [only] if only.needs_nothing());
        if self.suppressed.is_empty() && is_same_for_all && clocks.is_none() {
            return Ok(planned);
        }
        let mut names = TagNames::new(self.tx, project);
        let mut rest = planned.iter_mut().filter(|(_, planned)| planned.skip.is_none()).peekable();
        contact_records::visit_rows(self.tx, project, *first..=*last, |number, bytes| {
            while rest.next_if(|(waiting, _)| *waiting < number).is_some() {}
            let Some((_, planned)) = rest.next_if(|(waiting, _)| *waiting == number) else {
                return Ok(if rest.peek().is_some() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) });
            };
            let contact = Contact::decode(bytes).ok_or_else(|| self.tx.corrupt(crate::vocab::tables::CONTACTS))?;
            let tags = names.of(&contact.tags)?;
            planned.due = clocks.as_mut().map(|clocks| clocks.due_for(&contact));
            let profile = RecipientProfile { email: contact.email.clone(), name: None, contact: Some(contact) };
            planned.translation = self.mailing.translation_in(profile.language());
            planned.skip = self.by_row(&profile, &tags, planned.translation)?;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(planned)
    }

    fn by_sets(&self, number: u32) -> Option<Skip> {
        if !self.all.contains(number) {
            return Some(Skip::Erased);
        }
        let status = self.by_status.iter().find(|(_, set)| set.contains(number));
        if let Some((status, _)) = status {
            return eligibility::by_status(*status, self.mailing.transactional);
        }
        let unsubscribed = self.topic.as_ref().is_some_and(|topic| !topic.contains(number));
        unsubscribed.then_some(Skip::TopicUnsubscribed)
    }

    fn by_row(&self, profile: &RecipientProfile, tags: &[String], translation: u8) -> StoreResult<Option<Skip>> {
        let Ok(email) = EmailAddress::parse(&profile.email) else { return Ok(Some(Skip::InvalidAddress)) };
        let reason = self.suppressed.reason(&email.normalized())?;
        if reason.is_some_and(|reason| !self.mailing.transactional || reason.stops_transactional()) {
            return Ok(Some(Skip::Suppressed));
        }
        let values = MergeData { profile, variables: &self.variables, tags, links: None };
        let compiled = &self.compiled[usize::from(translation)];
        Ok(compiled.missing(&values).map(|field| Skip::MissingField(field.to_owned())))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DryRun {
    pub total: u64,
    pub will_receive: u64,
    /// The number of skipped recipients by the wire name of the reason.
    pub skipped: BTreeMap<&'static str, u64>,
    /// For each merge field, the number of recipients who are skipped because it has no value. A recipient is counted only for the first
    /// such field.
    pub missing_fields: BTreeMap<String, u64>,
    /// For each translation, the number of recipients who receive it.
    pub translations: Vec<u64>,
}

impl DryRun {
    fn note(&mut self, skip: Option<Skip>, translation: u8) {
        self.total += 1;
        match skip {
            None => {
                self.will_receive += 1;
                self.translations[usize::from(translation)] += 1;
            }
            Some(why) => {
                *self.skipped.entry(why.word()).or_default() += 1;
                if let Skip::MissingField(field) = why {
                    *self.missing_fields.entry(field).or_default() += 1;
                }
            }
        }
    }
}

/// Performs the same checks as the planning of a new mailing, but writes nothing.
pub fn dry_run(tx: &ReadTx, digester: &Digester, new: &NewMailing, now: Timestamp) -> Result<DryRun, Failure> {
    let mailing = draft::draft(new, MailingId::from_bytes([0; 12]), now);
    let check = EligibilityCheck::with(tx, digester, &mailing, &new.contents)?;
    let mut dry_run = DryRun { translations: vec![0; new.contents.len()], ..DryRun::default() };
    if let To::Addresses(addresses) = &new.to {
        let mut seen = HashSet::new();
        for (number, address) in addresses.iter().enumerate() {
            let number = u32::try_from(number).expect("a request has few addresses");
            let recipient = Recipient { address: Some(address.clone()), ..Recipient::contact() };
            let profile = super::merge_data::load(tx, &mailing, number, &recipient)?;
            let translation = mailing.translation_in(profile.as_ref().and_then(RecipientProfile::language));
            let skip = match (profile, EmailAddress::parse(&address.email)) {
                (Some(_), Ok(email)) if !seen.insert(email.normalized()) => Some(Skip::DuplicateAddress),
                (Some(profile), Ok(_)) => match profile.contact.as_ref().and_then(|contact| check.by_sets(contact.id.number())) {
                    Some(skip) => Some(skip),
                    None => check.by_row(&profile, &[], translation)?,
                },
                _ => Some(Skip::InvalidAddress),
            };
            dry_run.note(skip, translation);
        }
        return Ok(dry_run);
    }
    let members = members(tx, new.project, mailing.audience, now)?;
    let mut next = Some(0);
    while let Some(from) = next {
        let numbers: Vec<u32> = members.range(from..).take(limits::PLAN_CHUNK_RECIPIENTS).collect();
        next = numbers.last().and_then(|last| last.checked_add(1));
        check.all(&numbers, None)?.into_iter().for_each(|(_, planned)| dry_run.note(planned.skip, planned.translation));
    }
    Ok(dry_run)
}
