//! A seeded simulation of mailings: the disk fails, connections break, the relay's replies are random, and the process may end at any
//! moment. [`SimulatedWorld::judge`] checks the result of every run.
//!
//! All code that writes rows is production code: creation, planning, claims, replies, recovery and retries. Only the disk, the clock, the
//! connections and the order of events are simulated. Each run uses one thread and one seed.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::dispatch::in_handoff;
use super::model::{
    Address, Content, Counter, DIRECT, Delivery, Event, GROUPS, MailingKind, NewMailing, Plan, Policy, Recipient, Schedule,
    Sender, To, Tracking,
};
use super::recipient_writer::{self, RecipientUpdate, RowUpdate, Rules, UpdateResult};
use super::{control, planning, store};
use crate::base::clock::{ManualClock, Timestamp};
use crate::engine::access::keys::SendingLimits;
use crate::engine::store::Store;
use crate::engine::store::seal::Seal;
use crate::engine::store::testing::{Dice, Disk};
use crate::features::sending::store::send_queue;
use crate::features::suppressions::Digester;
use crate::vocab::ids::{AccountId, MailingId};
use crate::vocab::limits;

const START: Timestamp = Timestamp(1_767_225_600_000);
const ACCOUNT: AccountId = AccountId::from_bytes([1; 12]);
const MINUTE: i64 = 60_000;
const SEEDS: u64 = 1_000;

enum ConnectionState {
    /// The message has been sent except for its final dot.
    Body { mailing: MailingId, number: u32 },
    /// The final dot was sent; the relay has the message or will reject it.
    Dot { mailing: MailingId, number: u32 },
}

struct SimulatedWorld {
    dice: Dice,
    disk: Disk,
    clock: Arc<ManualClock>,
    store: Option<Arc<Store>>,
    rules: Rules,
    epoch: u64,
    connections: usize,
    /// The number of emails per day that the plan allows.
    daily: u64,
    open: Vec<ConnectionState>,
    /// The updates that the writer has not stored yet.
    marks: Vec<RecipientUpdate>,
    /// How many times the relay accepted each message.
    accepted: BTreeMap<(MailingId, u32), u32>,
    /// The recipients for whom a user requested a resend.
    wished: BTreeSet<(MailingId, u32)>,
    mailings: Vec<MailingId>,
    crashes: u64,
}

fn rules(epoch: u64, daily: u64) -> Rules {
    Rules {
        epoch,
        schedule: Schedule { first_pause_ms: 30 * MINUTE, give_up_ms: 6 * 60 * MINUTE },
        digester: Digester::new(&Seal::from_key(&[7; 32])),
        limits: Box::new(move |_| SendingLimits { recipients_per_second: Some(1_000), daily: Some(daily), monthly: None }),
    }
}

impl SimulatedWorld {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let connections = 1 + dice.below(6) as usize;
        // In some runs, the quota is low enough to be used up from time to time.
        let daily = if dice.percent(25) { 20 } else { 1_000_000 };
        let mut world = Self {
            dice,
            disk: Disk::default(),
            clock: Arc::new(ManualClock::at(START)),
            store: None,
            rules: rules(0, daily),
            epoch: 0,
            connections,
            daily,
            open: Vec::new(),
            marks: Vec::new(),
            accepted: BTreeMap::new(),
            wished: BTreeSet::new(),
            mailings: Vec::new(),
            crashes: 0,
        };
        world.begin();
        world
    }

    /// Starts a process on the disk of the previous process.
    fn begin(&mut self) {
        let store = Arc::new(self.disk.open(self.clock.clone()));
        self.epoch = store.write_blocking(store::next_epoch).expect("the store can be written").expect("the store can be read");
        self.rules = rules(self.epoch, self.daily);
        let waiting = |lane| send_queue::queued(&store.read(), lane, None, 1_000).expect("the store can be read");
        for id in send_queue::LANES.into_iter().flat_map(waiting) {
            loop {
                let found = in_handoff(&store, id).expect("the store can be read");
                if found.is_empty() {
                    break;
                }
                let rules = rules(self.epoch, self.daily);
                store
                    .write_blocking(move |tx| recipient_writer::recover(tx, id, &found, &rules))
                    .expect("the store can be written")
                    .expect("the store can be read");
            }
        }
        self.store = Some(store);
    }

    /// Ends the process and discards its memory. Messages in flight may still arrive.
    fn crash(&mut self) {
        self.crashes += 1;
        for at in std::mem::take(&mut self.open) {
            if let ConnectionState::Dot { mailing, number } = at
                && self.dice.percent(50)
            {
                *self.accepted.entry((mailing, number)).or_default() += 1;
            }
        }
        self.marks.clear();
        if let Some(store) = self.store.take().and_then(Arc::into_inner) {
            store.close();
        }
        self.begin();
    }

    fn store(&self) -> Arc<Store> {
        self.store.clone().expect("a process is running")
    }

    /// Creates a mailing. If the disk fails during the write, it is uncertain whether the mailing was created; a real client would check
    /// whether it exists.
    fn take_on(&mut self) {
        let many = 1 + self.dice.below(30);
        let to = (0..many).map(|number| Address { email: format!("p{number}@example.com"), name: None }).collect();
        let unknown = if self.dice.percent(20) { Policy::Resend } else { Policy::Hold };
        let new = NewMailing {
            account: ACCOUNT,
            project: None,
            kind: if self.dice.percent(50) {
                MailingKind::Single
            } else {
                MailingKind::Campaign(crate::vocab::ids::CampaignId::from_bytes([3; 12]))
            },
            contents: vec![Content { subject: "Hello".into(), html: "<p>Hello</p>".into(), ..Content::default() }],
            from: Sender { address: "a@example.com".into(), name: None, reply_to: None },
            to: To::Addresses(to),
            transactional: true,
            topic: None,
            local: None,
            variables: serde_json::Map::new(),
            tracking: Tracking::default(),
            utm: None,
            campaign_name: None,
            unknown,
        };
        match self.store().write_blocking(move |tx| super::create(tx, new)) {
            Ok(opened) => self.mailings.push(opened.expect("the mailing is valid")),
            Err(_) => self.crash(),
        }
    }

    /// Writes updates. If the write fails, the simulated process ends, as a real process would.
    fn write(&mut self, orders: Vec<RecipientUpdate>) -> Option<Vec<UpdateResult>> {
        let rules = rules(self.epoch, self.daily);
        match self.store().write_blocking(move |tx| recipient_writer::write(tx, &rules, &orders)) {
            Ok(answers) => Some(answers.expect("the store can be read")),
            Err(_) => {
                self.crash();
                None
            }
        }
    }

    fn in_the_air(&self, mailing: MailingId, number: u32) -> bool {
        let open = self.open.iter().any(|at| match at {
            ConnectionState::Body { mailing: id, number: n } | ConnectionState::Dot { mailing: id, number: n } => {
                (*id, *n) == (mailing, number)
            }
        });
        open || self.marks.iter().any(|mark| (mark.mailing, mark.number) == (mailing, number))
    }

    /// Starts a delivery to a waiting recipient.
    fn pick(&mut self) {
        if self.open.len() == self.connections {
            return;
        }
        let tx = self.store().read();
        let now = crate::base::clock::Clock::now(self.clock.as_ref());
        let mut waiting = Vec::new();
        for lane in [DIRECT, GROUPS] {
            let due = send_queue::due(
                &tx,
                (lane, None),
                now,
                now.plus_ms(limits::RETRY_AHEAD_MS_MAX),
                &send_queue::Held::new(),
                |_| false,
            )
            .expect("the store can be read")
            .mailings;
            let queued = send_queue::queued(&tx, lane, None, 1_000).expect("the store can be read");
            for id in due.into_iter().chain(queued) {
                let mailing = store::by_id(&tx, id).expect("the store can be read").expect("the row exists");
                assert!(mailing.state.may_send(), "a mailing that may not be sent is in another queue: {mailing:?}");
                let from = store::cursor(&tx, id).expect("the store can be read");
                store::visit_counted(
                    &tx,
                    id,
                    from,
                    |counter| counter == Counter::QUEUED,
                    |number, recipient| {
                        waiting.extend(recipient.map(|_| (id, number)));
                        Ok(std::ops::ControlFlow::Continue(()))
                    },
                )
                .expect("the store can be read");
                let retries = send_queue::retries(&tx, id, now, 1_000).expect("the store can be read");
                waiting.extend(retries.into_iter().map(|number| (id, number)));
            }
        }
        waiting.retain(|(mailing, number)| !self.in_the_air(*mailing, *number));
        if waiting.is_empty() {
            return;
        }
        let (mailing, number) = waiting[self.dice.below(waiting.len() as u64) as usize];
        self.open.push(ConnectionState::Body { mailing, number });
    }

    /// Advances a random open connection by one step.
    fn advance(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let place = self.dice.below(self.open.len() as u64) as usize;
        match self.open.swap_remove(place) {
            ConnectionState::Body { mailing, number } => match self.dice.below(10) {
                // The relay replied before the dot, so the outcome is certain.
                0 => self.mark(mailing, number, Event::Deferred { reply: "421 busy".into(), schedule: self.rules.schedule }),
                1 => self.mark(mailing, number, Event::Refused { reply: "550 no such user".into() }),
                // The connection broke before the claim, so the recipient's row is unchanged.
                2 => {}
                _ => {
                    let claim = RecipientUpdate { mailing, number, update: RowUpdate::Claim };
                    if let Some(answers) = self.write(vec![claim])
                        && answers == [UpdateResult::Done]
                    {
                        self.open.push(ConnectionState::Dot { mailing, number });
                    }
                }
            },
            ConnectionState::Dot { mailing, number } => match self.dice.below(20) {
                0 => self.mark(mailing, number, Event::Deferred { reply: "451 later".into(), schedule: self.rules.schedule }),
                1 => self.mark(mailing, number, Event::Refused { reply: "554 no".into() }),
                // The connection breaks, whether or not the relay has accepted the message.
                2 => {
                    let took = self.dice.percent(50);
                    *self.accepted.entry((mailing, number)).or_default() += u32::from(took);
                    self.mark(mailing, number, Event::Lost { why: super::UnknownReason::Disconnected });
                }
                _ => {
                    *self.accepted.entry((mailing, number)).or_default() += 1;
                    self.mark(mailing, number, Event::Accepted { reply: "250 ok".into() });
                }
            },
        }
    }

    fn mark(&mut self, mailing: MailingId, number: u32, event: Event) {
        self.marks.push(RecipientUpdate { mailing, number, update: RowUpdate::Event(event) });
    }

    fn write_marks(&mut self) {
        let marks = std::mem::take(&mut self.marks);
        if !marks.is_empty() {
            self.write(marks);
        }
    }

    /// Simulates a user who pauses, resumes or cancels a mailing, or requests a resend to recipients whose delivery is unknown.
    fn meddle(&mut self) {
        if self.mailings.is_empty() {
            return;
        }
        let id = self.mailings[self.dice.below(self.mailings.len() as u64) as usize];
        let what = self.dice.below(10);
        if what == 9 {
            let mut unknown = Vec::new();
            store::visit_recipients(&self.store().read(), id, 0, |number, recipient| {
                if matches!(recipient.delivery, Delivery::Unknown { .. }) {
                    unknown.push((id, number));
                }
                Ok(std::ops::ControlFlow::Continue(()))
            })
            .expect("the store can be read");
            self.wished.extend(unknown);
        }
        let done = self.store().write_blocking(move |tx| {
            // The operation is refused in some states and then has no effect.
            match what {
                0..4 => drop(control::pause(tx, ACCOUNT, id)),
                4..8 => drop(control::resume(tx, ACCOUNT, id)),
                8 => drop(control::cancel(tx, ACCOUNT, id)),
                _ => drop(control::resend_unknown(tx, ACCOUNT, id)),
            }
            Ok::<_, crate::engine::store::Error>(())
        });
        if done.is_err() {
            self.crash();
        }
    }

    fn plan(&mut self) {
        let digester = self.rules.digester.clone();
        if planning::step(&self.store(), &digester).is_err() {
            self.crash();
        }
    }

    fn step(&mut self) {
        match self.dice.below(100) {
            0..3 => self.take_on(),
            3..40 => self.pick(),
            40..80 => self.advance(),
            80..90 => self.write_marks(),
            90..93 => self.meddle(),
            93..96 => self.plan(),
            96 => self.clock.advance_ms(20 * MINUTE),
            97 => self.crash(),
            98 => {
                let (commits, keeps) = (self.dice.below(4), self.dice.percent(50));
                self.disk.fail_after(commits, keeps);
            }
            _ => {}
        }
    }

    /// Runs until all mailings have ended.
    fn finish(&mut self) {
        self.disk.fail_after(u64::MAX, false);
        for _ in 0..3_000 {
            let tx = self.store().read();
            let is_over = |id: &MailingId| {
                let counts = store::counts(&tx, *id).expect("the store can be read");
                let paused =
                    store::by_id(&tx, *id).expect("the store can be read").is_some_and(|mailing| mailing.word() == "paused");
                !paused && counts.open() == 0
            };
            // A mailing may be stored although the disk failed before the response. `self.mailings` does not contain such a mailing, so
            // wait until all queues are empty.
            let is_empty = |lane| send_queue::queued(&tx, lane, None, 1_000).expect("the store can be read").is_empty();
            let rests = send_queue::LANES.into_iter().all(is_empty) && send_queue::is_empty(&tx).expect("the store can be read");
            if rests && self.open.is_empty() && self.marks.is_empty() && self.mailings.iter().all(is_over) {
                return;
            }
            for id in self.mailings.clone() {
                let resumed = self.store().write_blocking(move |tx| {
                    drop(control::resume(tx, ACCOUNT, id));
                    Ok::<_, crate::engine::store::Error>(())
                });
                resumed.expect("the store can be written").expect("the store can be read");
            }
            for _ in 0..50 {
                self.pick();
                self.advance();
            }
            self.write_marks();
            let settle =
                |id: &MailingId| RecipientUpdate { mailing: *id, number: 0, update: RowUpdate::CheckFinished { cursor: None } };
            self.write(self.mailings.iter().map(settle).collect());
            self.plan();
            self.clock.advance_ms(180 * MINUTE);
        }
        let tx = self.store().read();
        for id in &self.mailings {
            println!("{:?} {:?}", store::by_id(&tx, *id), store::counts(&tx, *id));
        }
        panic!("the simulation does not end");
    }

    fn judge(&self, seed: u64, totals: &mut Totals) {
        let tx = self.store().read();
        let mut unknown = 0;
        for id in &self.mailings {
            let mailing = store::by_id(&tx, *id).expect("the store can be read").expect("a created mailing exists");
            assert_eq!(mailing.plan, Plan::Done, "seed {seed}");
            let mut by_word: HashMap<&str, u64> = HashMap::new();
            store::visit_recipients(&tx, *id, 0, |number, recipient: Recipient| {
                *by_word.entry(recipient.delivery.word()).or_default() += 1;
                let taken = self.accepted.get(&(*id, number)).copied().unwrap_or(0);
                let wished = self.wished.contains(&(*id, number)) || mailing.unknown == Policy::Resend;
                let place = format!("seed {seed}: {id}/{number} was taken {taken} times and is {:?}", recipient.delivery);
                assert!(taken <= 1 || wished, "repeated: {place}");
                match recipient.delivery {
                    Delivery::Sent { .. } => assert!(taken >= 1, "sent without acceptance: {place}"),
                    Delivery::Unknown { .. } => unknown += 1,
                    Delivery::Failed { .. } | Delivery::Skipped { .. } => assert!(taken == 0 || wished, "{place}"),
                    Delivery::Queued | Delivery::Handoff { .. } | Delivery::Deferred { .. } => panic!("lost: {place}"),
                }
                totals.recipients += 1;
                Ok(std::ops::ControlFlow::Continue(()))
            })
            .expect("the store can be read");
            // The counts must match the rows.
            let counts = store::counts(&tx, *id).expect("the store can be read");
            let rows = |word: &str| by_word.get(word).copied().unwrap_or(0);
            let counted = [counts.sent, counts.failed, counts.unknown, counts.skipped_total(), counts.open()];
            assert_eq!(counted, [rows("sent"), rows("failed"), rows("unknown"), rows("skipped"), 0], "seed {seed}");
        }
        for lane in send_queue::LANES {
            assert!(send_queue::queued(&tx, lane, None, 1_000).expect("the store can be read").is_empty(), "seed {seed}");
        }
        assert!(send_queue::is_empty(&tx).expect("the store can be read"), "seed {seed}: every retry has a recipient");
        totals.crashes += self.crashes;
        totals.unknown += unknown;
    }
}

#[derive(Default)]
struct Totals {
    recipients: u64,
    crashes: u64,
    unknown: u64,
}

impl Totals {
    fn plus(self, other: Self) -> Self {
        Self {
            recipients: self.recipients + other.recipients,
            crashes: self.crashes + other.crashes,
            unknown: self.unknown + other.unknown,
        }
    }
}

#[test]
fn no_recipient_is_lost_or_sent_to_twice_in_a_thousand_runs() {
    let live = |seeds: &mut dyn Iterator<Item = u64>| {
        let mut totals = Totals::default();
        for seed in seeds {
            let mut world = SimulatedWorld::new(seed);
            let steps = 200 + world.dice.below(400);
            for _ in 0..steps {
                world.step();
            }
            world.finish();
            world.judge(seed, &mut totals);
        }
        totals
    };
    // The runs are independent of each other, so execute them in parallel.
    let totals = std::thread::scope(|scope| {
        let threads = [0, 1, 2, 3].map(|first| {
            let builder = std::thread::Builder::new().name(format!("lives {first}"));
            builder.spawn_scoped(scope, move || live(&mut (first..SEEDS).step_by(4))).expect("the thread can be created")
        });
        threads.into_iter().map(|builder| builder.join().expect("no simulation panics")).fold(Totals::default(), Totals::plus)
    });
    assert!(totals.crashes > SEEDS && totals.recipients > 10 * SEEDS, "the runs contain enough crashes and recipients");
}

#[test]
fn a_crash_leaves_at_most_two_unknown_recipients_per_connection() {
    for seed in 0..SEEDS {
        let mut world = SimulatedWorld::new(seed ^ 0xC0FFEE);
        world.take_on();
        for _ in 0..world.dice.below(120) {
            match world.dice.below(10) {
                0..5 => world.pick(),
                5..9 => world.advance(),
                _ => world.write_marks(),
            }
            // The real writer writes pending updates with the next commit, so no connection can have two replies that are not yet stored.
            if world.marks.len() > world.connections {
                world.write_marks();
            }
        }
        let counted = |world: &SimulatedWorld| -> u64 {
            let tx = world.store().read();
            world.mailings.iter().map(|id| store::counted(&tx, *id, Counter::UNKNOWN).expect("the store can be read")).sum()
        };
        let before = counted(&world);
        let broken = world.marks.iter().filter(|mark| matches!(mark.update, RowUpdate::Event(Event::Lost { .. }))).count();
        let connections = world.connections;
        world.crash();
        let after = counted(&world);
        assert!(after - before <= 2 * connections as u64, "seed {seed}: {before} {after} {broken} of {connections} connections");
    }
}
