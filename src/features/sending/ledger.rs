//! Writing into the ledger: many entries in one transaction, each with everything it depends on read in that transaction.
//!
//! One task writes for all connections of an environment. What waits while a commit is on its way goes into the next one together, so
//! that a commit costs the same for one connection and for five hundred. Claims are answered once they are durable; outcomes are only
//! put down. It does not know how messages are made or carried.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use super::inbox::{self, Kept};
use super::model::{Counter, Delivery, Event, Mailing, Plan, Recipient, Schedule, Skip, State, Wait};
use super::quota::{self, Room, Tally};
use super::{engagement, notices, person, sendable, store, turns};
use crate::base::clock::Timestamp;
use crate::engine::access::keys::SendingLimits;
use crate::engine::store::{Error, Result, Store, WriteTx};
use crate::features::contacts::activity::{self, Deed};
use crate::features::contacts::condition::Action;
use crate::features::suppressions::Digester;
use crate::features::topics::{self, Topic};
use crate::vocab::ids::{AccountId, MailingId, ProjectId};
use crate::vocab::limits;
use crate::vocab::webhook_events::WebhookEvent;

/// What entries are judged by.
pub struct Rules {
    /// The epoch of this process.
    pub epoch: u64,
    pub schedule: Schedule,
    pub digester: Digester,
    /// How much an account may send.
    pub limits: Box<dyn Fn(AccountId) -> SendingLimits + Send + Sync>,
}

/// One entry, and whoever waits for it.
pub struct Entry {
    pub mailing: MailingId,
    pub number: u32,
    pub what: What,
    pub answer: Option<oneshot::Sender<Answer>>,
}

/// What an entry says.
#[derive(Debug)]
pub enum What {
    /// The message stands before its final dot: may it go?
    Claim,
    /// What became of it.
    Mark(Event),
    /// The built-in inbox takes the message: claim and outcome in one.
    Keep(Box<Kept>),
    /// The way out does not work for the mailing until then.
    Hold { until: Timestamp },
    /// Nothing is under way for the mailing: see whether it is finished, and move the cursor from one number to another.
    Settle { cursor: Option<(u32, u32)> },
}

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Written, durable.
    Done,
    /// The recipient is not sent to, now or ever; the row says so.
    Refused,
    /// The mailing does not go on for now.
    Stopped,
    /// Nobody knows whether it was written: the store failed.
    Lost,
}

/// Where entries are handed in.
#[derive(Clone)]
pub struct Ledger {
    entries: mpsc::Sender<Entry>,
}

impl Ledger {
    /// A ledger and what [`write_down`] takes entries from.
    pub fn new(room: usize) -> (Self, mpsc::Receiver<Entry>) {
        let (entries, waiting) = mpsc::channel(room);
        (Self { entries }, waiting)
    }

    /// Hand in an entry and wait until it is durable.
    pub async fn ask(&self, mailing: MailingId, number: u32, what: What) -> Answer {
        let (answer, answered) = oneshot::channel();
        if self.entries.send(Entry { mailing, number, what, answer: Some(answer) }).await.is_err() {
            return Answer::Lost;
        }
        answered.await.unwrap_or(Answer::Lost)
    }

    /// Hand in an entry.
    pub async fn tell(&self, mailing: MailingId, number: u32, what: What) {
        // If nobody writes any more the store has failed, and the next start finds the row as it is.
        let _ = self.entries.send(Entry { mailing, number, what, answer: None }).await;
    }
}

/// Write entries down until nobody can hand any in, or until the store has failed.
pub async fn write_down(store: Arc<Store>, rules: Arc<Rules>, mut entries: mpsc::Receiver<Entry>) {
    let mut batch = Vec::new();
    while entries.recv_many(&mut batch, limits::LEDGER_ENTRIES_PER_COMMIT).await > 0 {
        wait_for_claims(&mut entries, &mut batch).await;
        let (mut orders, mut waiting) = (Vec::with_capacity(batch.len()), Vec::with_capacity(batch.len()));
        for Entry { mailing, number, what, answer } in batch.drain(..) {
            orders.push(Order { mailing, number, what });
            waiting.push(answer);
        }
        let answers = match write_when_free(&store, &rules, Arc::new(orders)).await {
            Ok(Ok(answers)) => answers,
            Err(error @ (Error::Io(_) | Error::Closed)) => {
                // The store takes nothing more, and the process ends by it. Who waits, or still comes, is told by the end of this.
                tracing::error!(%error, entries = waiting.len(), "entries of the ledger could not be written; nothing more is sent");
                return;
            }
            Ok(Err(error)) | Err(error) => {
                tracing::error!(%error, entries = waiting.len(), "entries of the ledger could not be written");
                vec![Answer::Lost; waiting.len()]
            }
        };
        for (answer, waiting) in answers.into_iter().zip(waiting) {
            if let Some(waiting) = waiting {
                let _ = waiting.send(answer);
            }
        }
    }
}

/// Outcomes that nobody waits for go into the next commit that somebody does wait for, if there is one before long: a connection then
/// waits for one commit per message instead of two. No more than one outcome of each connection waits so: its next claim comes after it.
async fn wait_for_claims(entries: &mut mpsc::Receiver<Entry>, batch: &mut Vec<Entry>) {
    let deadline = Instant::now() + limits::LEDGER_PATIENCE;
    let mut seen = 0;
    while batch.len() < limits::LEDGER_ENTRIES_PER_COMMIT && batch[seen..].iter().all(|entry| entry.answer.is_none()) {
        seen = batch.len();
        let room = limits::LEDGER_ENTRIES_PER_COMMIT - seen;
        match timeout_at(deadline, entries.recv_many(batch, room)).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
    }
}

/// Write orders down, also when the store has too much to do at first: what became of a message must not be forgotten for that.
async fn write_when_free(store: &Store, rules: &Arc<Rules>, orders: Arc<Vec<Order>>) -> Result<Result<Vec<Answer>>> {
    loop {
        let (rules, orders) = (rules.clone(), orders.clone());
        match store.write_essential(move |tx| write(tx, &rules, &orders)).await {
            // Nothing was written. It ends with the rush, or with the store.
            Err(Error::Busy) => tokio::time::sleep(limits::LEDGER_BUSY_PAUSE).await,
            written => return written,
        }
    }
}

/// An entry without whoever waits for it.
#[derive(Debug)]
pub struct Order {
    pub mailing: MailingId,
    pub number: u32,
    pub what: What,
}

/// Write orders down, in their order; says what became of each.
pub fn write(tx: &mut WriteTx<'_>, rules: &Rules, orders: &[Order]) -> Result<Vec<Answer>> {
    let mut book = Book { rules, open: HashMap::new(), deeds: Vec::new() };
    let mut answers = Vec::with_capacity(orders.len());
    for order in orders {
        answers.push(book.enter(tx, order)?);
    }
    book.close(tx)?;
    Ok(answers)
}

/// The mailings that one transaction writes of.
struct Book<'r> {
    rules: &'r Rules,
    open: HashMap<MailingId, Option<Page>>,
    /// Contacts that were sent to.
    deeds: Vec<(ProjectId, u32, Deed)>,
}

struct Page {
    mailing: Mailing,
    topic: Option<Topic>,
    /// Whether a webhook wants to know of deliveries.
    tells: bool,
    changed: bool,
    /// The latest time of a deferral written here.
    next_at: Option<Timestamp>,
}

impl Book<'_> {
    fn enter(&mut self, tx: &mut WriteTx<'_>, order: &Order) -> Result<Answer> {
        let Order { mailing: id, number, what } = order;
        if !self.open.contains_key(id) {
            let page = Page::open(tx, *id)?;
            self.open.insert(*id, page);
        }
        let Some(page) = self.open.get_mut(id).expect("just put there") else { return Ok(Answer::Refused) };
        if let What::Settle { cursor } = what {
            if let Some((from, to)) = cursor
                && store::cursor(tx, *id)? == *from
            {
                store::set_cursor(tx, *id, *to);
            }
            return Ok(Answer::Done);
        }
        if let What::Hold { until } = what {
            if page.mailing.state.may_send() {
                let now = tx.now();
                page.set_state(State::Waiting { reason: Wait::Transport, until: *until }, now);
            }
            return Ok(Answer::Done);
        }
        let Some(recipient) = store::recipient(tx, *id, *number)? else { return Ok(Answer::Refused) };
        match what {
            What::Claim => {
                page.claim(tx, self.rules, *number, &recipient).map(|claimed| claimed.map_or_else(|no| no, |_| Answer::Done))
            }
            What::Mark(event) => {
                let done = page.mark(tx, self.rules, *number, &recipient, event.clone())?;
                if done {
                    self.deeds.extend(page.deed(tx, *number, &recipient)?);
                }
                Ok(Answer::Done)
            }
            What::Keep(kept) => {
                let handed = match page.claim(tx, self.rules, *number, &recipient)? {
                    Ok(delivery) => Recipient { delivery, ..recipient.clone() },
                    Err(answer) => return Ok(answer),
                };
                let event = inbox::take(tx, &page.mailing, *number, kept, self.rules.schedule, &handed)?;
                let done = page.mark(tx, self.rules, *number, &handed, event)?;
                if done {
                    self.deeds.extend(page.deed(tx, *number, &recipient)?);
                }
                Ok(Answer::Done)
            }
            What::Hold { .. } | What::Settle { .. } => Ok(Answer::Done),
        }
    }

    fn close(self, tx: &mut WriteTx<'_>) -> Result<()> {
        for page in self.open.into_values().flatten() {
            page.close(tx)?;
        }
        let mut by_project: HashMap<_, Vec<(u32, Deed)>> = HashMap::new();
        for (project, number, deed) in self.deeds {
            by_project.entry(project).or_default().push((number, deed));
        }
        for (project, deeds) in by_project {
            activity::note(tx, project, &deeds)?;
        }
        Ok(())
    }
}

impl Page {
    fn open(tx: &WriteTx<'_>, id: MailingId) -> Result<Option<Self>> {
        let Some(mailing) = store::by_id(tx, id)? else { return Ok(None) };
        let topic = match (mailing.topic, mailing.project) {
            // A topic that was deleted since restricts nobody any more.
            (Some(topic), Some(project)) => topics::find(tx, project, topic).ok(),
            _ => None,
        };
        let tells = notices::is_wanted(tx, &mailing, WebhookEvent::EmailDelivered)?;
        Ok(Some(Self { mailing, topic, tells, changed: false, next_at: None }))
    }

    /// Whether the message of this recipient may go; if so its row is in the handoff.
    fn claim(
        &mut self,
        tx: &mut WriteTx<'_>,
        rules: &Rules,
        number: u32,
        recipient: &Recipient,
    ) -> Result<std::result::Result<Delivery, Answer>> {
        if !self.mailing.state.may_send() {
            return Ok(Err(Answer::Stopped));
        }
        let person = person::load(tx, &self.mailing, number, recipient)?;
        let skip = match &person {
            Some(person) => sendable::refusal(tx, &rules.digester, &self.mailing, self.topic.as_ref(), person)?,
            None => Some(Skip::Erased),
        };
        if let Some(why) = skip {
            // Refused also where the row is settled already: then this changes nothing.
            let _ = store::advance(tx, &self.mailing, number, recipient, Event::Skip { why })?;
            return Ok(Err(Answer::Refused));
        }
        let account = self.mailing.account;
        let now = tx.now();
        if let Room::UsedUp { until } = quota::room(tx, account, (rules.limits)(account), now)? {
            self.set_state(State::Waiting { reason: Wait::Quota, until }, now);
            return Ok(Err(Answer::Stopped));
        }
        match store::advance(tx, &self.mailing, number, recipient, Event::Claim { epoch: rules.epoch })? {
            Ok(delivery) => {
                quota::count(tx, account, Tally::Taken, 1)?;
                if matches!(recipient.delivery, Delivery::Deferred { .. }) {
                    // A mailing that only waited for retries had left the queue, where a new process looks for handoffs.
                    turns::enqueue(tx, &self.mailing);
                }
                if matches!(self.mailing.state, State::Waiting { reason: Wait::Quota | Wait::Transport, .. }) {
                    self.set_state(State::Sending, now);
                }
                Ok(Ok(delivery))
            }
            Err(_) => Ok(Err(Answer::Refused)),
        }
    }

    /// Write down what became of a recipient; says whether its message was accepted.
    fn mark(&mut self, tx: &mut WriteTx<'_>, rules: &Rules, number: u32, recipient: &Recipient, event: Event) -> Result<bool> {
        let event = within_bounds(event, rules.schedule);
        let was_taken = matches!(recipient.delivery, Delivery::Handoff { .. });
        let account = self.mailing.account;
        let Ok(next) = store::advance(tx, &self.mailing, number, recipient, event)? else { return Ok(false) };
        match &next {
            Delivery::Sent { .. } => {
                quota::count(tx, account, Tally::Sent, 1)?;
                if self.tells {
                    notices::delivered(tx, &self.mailing, number, recipient)?;
                }
            }
            Delivery::Failed { reply, .. } => {
                quota::count(tx, account, Tally::Refused, 1)?;
                let happening = engagement::Happening::Refused { reply: reply.clone() };
                let now = tx.now();
                engagement::happens(tx, now, self.mailing.id, number, &happening);
            }
            Delivery::Deferred { next_at, .. } => self.next_at = self.next_at.max(Some(*next_at)),
            Delivery::Queued | Delivery::Handoff { .. } | Delivery::Unknown { .. } | Delivery::Skipped { .. } => {}
        }
        if was_taken && matches!(next, Delivery::Deferred { .. } | Delivery::Failed { .. }) {
            quota::count(tx, account, Tally::Taken, -1)?;
        }
        if let (Delivery::Unknown { .. }, super::model::Policy::Resend) = (&next, self.mailing.unknown) {
            let doubtful = Recipient { delivery: next, ..recipient.clone() };
            let again = store::advance(tx, &self.mailing, number, &doubtful, Event::Resend)?;
            again.expect("an unknown recipient can be sent to again");
            let cursor = store::cursor(tx, self.mailing.id)?.min(number);
            store::set_cursor(tx, self.mailing.id, cursor);
            return Ok(false);
        }
        Ok(matches!(next, Delivery::Sent { .. }))
    }

    /// What is kept of a contact that was sent to, also where the request named it by its address.
    fn deed(&self, tx: &WriteTx<'_>, number: u32, recipient: &Recipient) -> Result<Option<(ProjectId, u32, Deed)>> {
        let Some(project) = self.mailing.project else { return Ok(None) };
        let number = match &recipient.address {
            None => Some(number),
            Some(_) => person::load(tx, &self.mailing, number, recipient)?
                .and_then(|person| person.contact)
                .map(|contact| contact.id.number()),
        };
        let campaign = self.mailing.kind.campaign();
        let deed = Deed { action: Action::Sent, mailing: self.mailing.id, campaign, at: tx.now() };
        Ok(number.map(|number| (project, number, deed)))
    }

    fn set_state(&mut self, state: State, now: Timestamp) {
        if self.mailing.state != state {
            let from = self.mailing.word();
            self.mailing.state = state;
            tracing::debug!(mailing = %self.mailing.id, from, to = self.mailing.word(), "mailing");
            self.mailing.updated_at = now;
            self.changed = true;
        }
    }

    /// See whether the mailing is finished, and write it if it changed.
    fn close(mut self, tx: &mut WriteTx<'_>) -> Result<()> {
        let id = self.mailing.id;
        let mut rests = false;
        if self.mailing.plan == Plan::Done && self.mailing.state.may_send() {
            let many = |counter| store::counted(tx, id, counter);
            let under_way = many(Counter::QUEUED)? + many(Counter::HANDOFF)?;
            let deferred = many(Counter::DEFERRED)?;
            let now = tx.now();
            if under_way == 0 {
                let state = match (deferred, &self.mailing.state, self.next_at) {
                    (0, _, _) => State::Finished { at: now },
                    (_, _, Some(until)) => State::Waiting { reason: Wait::Deferred, until },
                    (_, State::Waiting { reason: Wait::Deferred, until }, None) => {
                        State::Waiting { reason: Wait::Deferred, until: *until }
                    }
                    (_, _, None) => State::Waiting { reason: Wait::Deferred, until: now },
                };
                self.set_state(state, now);
                rests = true;
            }
        }
        if self.changed {
            store::save(tx, &self.mailing)?;
        }
        if rests { turns::dequeue(tx, id) } else { Ok(()) }
    }
}

/// What servers say is foreign text: no more of it is kept than a log shows, and nothing that could break a line.
fn within_bounds(event: Event, schedule: Schedule) -> Event {
    let cut = |reply: String| -> String {
        let line = reply.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
        line.take(limits::REPLY_CHARACTERS_KEPT).collect()
    };
    match event {
        Event::Accepted { reply } => Event::Accepted { reply: cut(reply) },
        Event::Refused { reply } => Event::Refused { reply: cut(reply) },
        Event::Deferred { reply, .. } => Event::Deferred { reply: cut(reply), schedule },
        Event::Postponed { reply, until, .. } => Event::Postponed { reply: cut(reply), until, schedule },
        other => other,
    }
}

/// Begin a new epoch and settle what earlier ones left in the handoff: nobody knows what became of it.
pub fn recover(tx: &mut WriteTx<'_>, id: MailingId, numbers: &[(u32, Recipient)], rules: &Rules) -> Result<()> {
    let Some(mut page) = Page::open(tx, id)? else { return Ok(()) };
    for (number, recipient) in numbers {
        page.mark(tx, rules, *number, recipient, Event::Recovered { epoch: rules.epoch })?;
    }
    page.close(tx)
}
