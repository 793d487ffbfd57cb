//! One delivery: the message is made, carried, and what became of it is handed to the ledger.
//!
//! What messages of a mailing share is prepared once and kept for a while; messages are made on threads that may be kept busy, as many at
//! a time as there are processors.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use tokio::sync::Semaphore;

use super::Rules;
use crate::base::clock::Timestamp;
use crate::base::email::EmailAddress;
use crate::engine::api::{Engine, Failure};
use crate::engine::hold::OnHold;
use crate::engine::mail::delivery::{BeforeDot, Cause, Envelope, Handoff, Outcome, Stage, Verdict};
use crate::engine::mail::dkim::Signer;
use crate::engine::mail::transport::Transport;
use crate::engine::store::{ReadTx, Store};
use crate::features::contacts::tags::Names;
use crate::features::domains::{self, SendingDomain, Stream};
use crate::features::sending::ledger::{Answer, Ledger, What};
use crate::features::sending::letter::{Posted, Secrets, Stationery};
use crate::features::sending::model::{ContentId, Delivery, Doubt, Event, Mailing, Plan, Recipient, Schedule, Skip, State, Wait};
use crate::features::sending::quota::{self, Room};
use crate::features::sending::signing;
use crate::features::sending::template::{self, Compiled, Manner};
use crate::features::sending::token::Tokens;
use crate::features::sending::transport::{self, Way};
use crate::features::sending::{person, planning, sendable, store};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, MailingId};
use crate::vocab::limits;

/// What a delivery is given.
pub struct Job {
    pub stationery: Arc<Stationery>,
    pub number: u32,
    pub recipient: Recipient,
}

/// What a delivery came to, as far as the round is concerned.
pub enum Fate {
    /// The ledger has it.
    Settled,
    /// The recipient was not sent to, and will not be.
    NotSent,
    /// The mailing does not go on for now; nothing happened to this recipient.
    Stopped(Box<Recipient>),
    /// The way out failed before anything was said of this recipient.
    WayFailed(Box<Recipient>),
}

/// Makes and carries messages of one environment.
pub struct Post {
    engine: Arc<Engine>,
    environment: Environment,
    store: Arc<Store>,
    book: Ledger,
    rules: Arc<Rules>,
    secrets: Secrets,
    way: Way,
    makers: Semaphore,
    slots: usize,
    kept: Mutex<Kept>,
}

/// What making a message comes to.
enum Made {
    Message(Box<Posted>),
    Skipped(Skip),
    /// The recipient's server is left alone for now.
    Untimely(Cause),
}

/// What was prepared lately.
#[derive(Default)]
struct Kept {
    contents: HashMap<(ContentId, Manner), Arc<Compiled>>,
    senders: HashMap<(AccountId, String, bool), (Arc<Sender>, Timestamp)>,
}

/// What a From address stands for.
struct Sender {
    domain: String,
    signer: Option<Arc<Signer>>,
    bounce_domain: Option<String>,
    base: Option<String>,
    opens: bool,
    clicks: bool,
}

impl Post {
    /// A post office of an environment.
    pub fn new(engine: Arc<Engine>, environment: Environment, book: Ledger, rules: Arc<Rules>) -> Result<Self, Failure> {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let connections = engine.settings.mail.connections.count();
        let secrets = Secrets { tokens: Tokens::new(&engine.seal), message_ids: engine.seal.derive("mailmill message ids v1") };
        Ok(Self {
            environment,
            store: engine.world(environment).store.clone(),
            book,
            rules,
            secrets,
            way: transport::way(&engine, environment),
            makers: Semaphore::new(cores),
            slots: slots(connections, cores, engine.settings.mail.direct),
            kept: Mutex::default(),
            engine,
        })
    }

    /// How many deliveries may be under way.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The time.
    pub fn now(&self) -> Timestamp {
        self.engine.clock.now()
    }

    /// The hold on sending, if there is one.
    pub fn hold(&self) -> Option<OnHold> {
        self.engine.hold.current()
    }

    /// Ends when sending is not on hold.
    pub async fn released(&self) {
        self.engine.hold.released().await;
    }

    /// When deferred mail is tried again.
    pub fn schedule(&self) -> Schedule {
        self.rules.schedule
    }

    /// No retry is further away than this.
    pub fn retry_ahead_ms_max(&self) -> i64 {
        self.rules.schedule.ahead_ms_max()
    }

    /// Whether a mailing that waits for its account's quota need not: the plan has grown, or the clock was wrong when it stopped.
    pub fn has_room_again(&self, tx: &ReadTx, mailing: &Mailing) -> Result<bool, Failure> {
        let waits = matches!(mailing.state, State::Waiting { reason: Wait::Quota, .. }) && mailing.plan == Plan::Done;
        let account = mailing.account;
        Ok(waits && matches!(quota::room(tx, account, (self.rules.limits)(account), self.now())?, Room::Left(_)))
    }

    /// How many recipients an account may send to in a second, if its plan limits that.
    pub fn per_second(&self, account: AccountId) -> Option<u64> {
        (self.rules.limits)(account).recipients_per_second
    }

    /// Take nothing new on the wire, and end what is on it within the grace of the settings.
    pub async fn close(&self) {
        if let Way::Out(transport) = &self.way {
            let closed = transport.close(self.engine.settings.mail.stop_seconds.seconds()).await;
            if closed.cut > 0 {
                tracing::warn!(deliveries = closed.cut, "deliveries were cut off; what became of them is not known");
            }
        }
    }

    /// Close connections at rest, as long as the service runs.
    pub async fn tend(&self) {
        if let Way::Out(transport) = &self.way {
            transport.tend().await;
        }
    }

    /// What all messages of a mailing share; `None` if it cannot be sent at present.
    pub async fn stationery(self: &Arc<Self>, tx: &ReadTx, mailing: Mailing) -> Result<Option<Arc<Stationery>>, Failure> {
        let (post, tx) = (self.clone(), tx.clone());
        let making = tokio::task::spawn_blocking(move || post.prepare(&tx, mailing));
        making.await.map_err(Failure::internal)?
    }

    fn prepare(&self, tx: &ReadTx, mailing: Mailing) -> Result<Option<Arc<Stationery>>, Failure> {
        if matches!(self.way, Way::Nowhere) {
            tracing::warn!(mailing = %mailing.id, "there is no way out for live mail; see [mail] in the settings");
            return Ok(None);
        }
        let Ok(from) = EmailAddress::parse(&mailing.from.address) else {
            tracing::error!(mailing = %mailing.id, "the From address of a mailing cannot be read");
            return Ok(None);
        };
        let sender = self.sender(tx, &mailing, &from)?;
        let must_be_verified = self.environment == Environment::Live && self.engine.settings.mail.require_verified_domain;
        if must_be_verified && matches!(self.way, Way::Out(_)) && sender.signer.is_none() {
            tracing::warn!(mailing = %mailing.id, domain = from.domain(), "the domain is not verified any more; its mail waits");
            return Ok(None);
        }
        let mut manner = Manner::of(mailing.tracking, mailing.transactional);
        manner.opens &= sender.opens;
        manner.clicks &= sender.clicks;
        manner.utm = mailing.utm.clone().filter(|_| !manner.clicks);
        let compiled = self.compiled(tx, &mailing, manner)?;
        let reply_to = mailing.from.reply_to.as_deref().and_then(|address| EmailAddress::parse(address).ok());
        let base = sender.base.clone().unwrap_or_else(|| self.engine.base_url().trim_end_matches('/').to_owned());
        Ok(Some(Arc::new(Stationery {
            variables: planning::variables(&mailing),
            compiled,
            from,
            reply_to,
            signer: sender.signer.clone(),
            domain: sender.domain.clone(),
            bounce_domain: sender.bounce_domain.clone(),
            base,
            environment: self.environment,
            mailing,
        })))
    }

    fn compiled(&self, tx: &ReadTx, mailing: &Mailing, manner: Manner) -> Result<Arc<Compiled>, Failure> {
        let key = (mailing.content, manner.clone());
        if let Some(known) = self.kept().contents.get(&key) {
            return Ok(known.clone());
        }
        let compiled = Arc::new(template::compile(&store::content(tx, mailing)?, manner)?);
        let mut kept = self.kept();
        let weight: usize = kept.contents.values().map(|content| content.weight).sum();
        if weight + compiled.weight > limits::CONTENTS_KEPT_BYTES {
            // Mailings under way hold theirs; what is needed again is made again.
            kept.contents.clear();
        }
        kept.contents.insert(key, compiled.clone());
        Ok(compiled)
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().expect("no holder of this lock panics")
    }

    fn sender(&self, tx: &ReadTx, mailing: &Mailing, from: &EmailAddress) -> Result<Arc<Sender>, Failure> {
        let key = (mailing.account, from.domain_ascii().to_ascii_lowercase(), mailing.transactional);
        let now = self.now();
        if let Some((known, at)) = self.kept().senders.get(&key)
            // Not from a time that is still to come either: the clock was wrong then.
            && (0..limits::SENDER_KEPT_MS).contains(&now.ms_since(*at))
        {
            return Ok(known.clone());
        }
        let stream = if mailing.transactional { Stream::Transactional } else { Stream::Marketing };
        let found = domains::for_sender(tx, &self.engine.seal, mailing.account, from, stream)?;
        let own = self.engine.settings.mail.bounce_domain.clone();
        let sender = Arc::new(Sender::new(found, &key.1, own)?);
        let mut kept = self.kept();
        if kept.senders.len() >= limits::SENDERS_KEPT_MAX {
            kept.senders.clear();
        }
        kept.senders.insert(key, (sender.clone(), now));
        Ok(sender)
    }

    /// Make one message, carry it, and hand what became of it to the ledger.
    pub async fn deliver(self: Arc<Self>, job: Job) -> Fate {
        let (id, number) = (job.stationery.mailing.id, job.number);
        let made = match self.make(&job).await {
            Ok(made) => made,
            Err(failure) => {
                tracing::error!(mailing = %id, number, cause = ?failure.cause, "a message could not be made");
                let reply = "The message could not be made here.".to_owned();
                self.book.ask(id, number, What::Mark(Event::Deferred { reply, schedule: self.rules.schedule })).await;
                return Fate::NotSent;
            }
        };
        let posted = match made {
            Made::Message(posted) => *posted,
            Made::Skipped(why) => {
                self.book.ask(id, number, What::Mark(Event::Skip { why })).await;
                return Fate::NotSent;
            }
            Made::Untimely(cause) => {
                self.book.ask(id, number, What::Mark(self.put_off(&cause))).await;
                return Fate::NotSent;
            }
        };
        let recipient = Box::new(job.recipient);
        match &self.way {
            Way::Inbox => match self.book.ask(id, number, What::Keep(Box::new(posted))).await {
                Answer::Done => Fate::Settled,
                Answer::Refused | Answer::Lost => Fate::NotSent,
                Answer::Stopped => Fate::Stopped(recipient),
            },
            Way::Out(transport) => self.carry(transport, id, number, posted, recipient).await,
            Way::Nowhere => Fate::WayFailed(recipient),
        }
    }

    async fn make(self: &Arc<Self>, job: &Job) -> Result<Made, Failure> {
        let _turn = self.makers.acquire().await.map_err(Failure::internal)?;
        let (post, stationery) = (self.clone(), job.stationery.clone());
        let (number, recipient) = (job.number, job.recipient.clone());
        let making = tokio::task::spawn_blocking(move || post.write(&stationery, number, &recipient));
        making.await.map_err(Failure::internal)?
    }

    fn write(&self, stationery: &Stationery, number: u32, recipient: &Recipient) -> Result<Made, Failure> {
        let tx = self.store.read();
        let mailing = &stationery.mailing;
        let Some(person) = person::load(&tx, mailing, number, recipient)? else { return Ok(Made::Skipped(Skip::Erased)) };
        // Asked again at the handoff; whoever is known not to be sent to needs no message.
        if let Some(why) = sendable::refusal(&tx, &self.rules.digester, mailing, None, &person)? {
            return Ok(Made::Skipped(why));
        }
        if let (Way::Out(transport), Ok(email)) = (&self.way, EmailAddress::parse(&person.email))
            && let Some(cause) = transport.left_alone(&email.domain_ascii().to_ascii_lowercase())
        {
            return Ok(Made::Untimely(cause));
        }
        let tags = match (&person.contact, mailing.project) {
            (Some(contact), Some(project)) => Names::new(&tx, project).of(&contact.tags)?,
            _ => Vec::new(),
        };
        let written = stationery.write(&self.secrets, &person, number, &tags, self.now());
        Ok(written.map_or_else(Made::Skipped, |posted| Made::Message(Box::new(posted))))
    }

    /// The event of a server that certainly has not taken a message.
    fn put_off(&self, cause: &Cause) -> Event {
        let (reply, schedule) = (cause.to_string(), self.rules.schedule);
        match cause {
            Cause::LeftAlone { rest, .. } => {
                let rest = i64::try_from(rest.as_millis()).unwrap_or(i64::MAX).max(limits::POSTPONED_MS_MIN);
                Event::Postponed { reply, until: self.now().plus_ms(rest), schedule }
            }
            _ => Event::Deferred { reply, schedule },
        }
    }

    async fn carry(&self, transport: &Transport, id: MailingId, number: u32, posted: Posted, recipient: Box<Recipient>) -> Fate {
        let Posted { sender, recipient: address, needs_smtputf8, bytes, .. } = posted;
        let envelope = Envelope { sender, recipient: address, smtputf8: needs_smtputf8 };
        let mut claim = Claim { book: &self.book, id, number, answer: None };
        let outcome = transport.deliver(&envelope, &bytes, &mut claim).await;
        let claimed = claim.answer;
        let event = match outcome {
            Outcome::Accepted { reply } => Event::Accepted { reply: reply.to_string() },
            Outcome::Refused { reply, .. } => Event::Refused { reply: reply.to_string() },
            Outcome::Unknown { cause } => Event::Lost { why: doubt(&cause) },
            Outcome::Abandoned => {
                return match claimed {
                    Some(Answer::Stopped) => Fate::Stopped(recipient),
                    _ => Fate::NotSent,
                };
            }
            Outcome::Deferred { stage, cause } if claimed.is_none() && self.is_the_ways_fault(stage, &cause) => {
                return Fate::WayFailed(recipient);
            }
            Outcome::Deferred { cause, .. } => self.put_off(&cause),
        };
        let mark = What::Mark(event);
        match recipient.delivery {
            // Retries stay listed until this is written: only then may they be looked at again.
            Delivery::Deferred { .. } => drop(self.book.ask(id, number, mark).await),
            // Whoever comes after this is written after it: nothing waits for the disk a second time.
            _ => self.book.tell(id, number, mark).await,
        }
        Fate::Settled
    }

    /// Whether nothing was said of the recipient and another would have fared the same.
    fn is_the_ways_fault(&self, stage: Stage, cause: &Cause) -> bool {
        if *cause == Cause::Stopping {
            return true;
        }
        // Of the recipients' own servers each is a way of its own: that one is tried again like a reply of it.
        let has_one_way = !self.engine.settings.mail.direct;
        has_one_way && stage < Stage::Sender
    }
}

/// How many deliveries may be under way: those on the wire, and beside them enough finished messages that no connection waits for one.
/// Deliveries to the recipients' own servers wait for a turn there too, and those to a slow one must not keep the others from theirs.
fn slots(connections: usize, cores: usize, direct: bool) -> usize {
    let ahead = connections.min(limits::MESSAGES_AHEAD_MAX).max(2 * cores);
    if direct { 4 * connections + ahead } else { connections + ahead }
}

impl Sender {
    fn new(found: Option<SendingDomain>, from_domain: &str, own_bounces: Option<String>) -> Result<Self, Failure> {
        let Some(found) = found else {
            let domain = from_domain.to_owned();
            return Ok(Self { domain, signer: None, bounce_domain: own_bounces, base: None, opens: true, clicks: true });
        };
        let signer = signing::signer(&found)?;
        Ok(Self {
            signer: Some(Arc::new(signer)),
            bounce_domain: own_bounces.or(found.return_path),
            base: found.tracking_host.map(|host| format!("https://{host}")),
            opens: found.tracking.opens,
            clicks: found.tracking.clicks,
            domain: found.domain,
        })
    }
}

/// Asks the ledger at the moment before the final dot.
struct Claim<'a> {
    book: &'a Ledger,
    id: MailingId,
    number: u32,
    answer: Option<Answer>,
}

impl BeforeDot for Claim<'_> {
    async fn ready(&mut self, _: &Handoff) -> Verdict {
        let answer = self.book.ask(self.id, self.number, What::Claim).await;
        self.answer = Some(answer);
        if answer == Answer::Done { Verdict::Go } else { Verdict::Abandon }
    }
}

fn doubt(cause: &Cause) -> Doubt {
    match cause {
        Cause::TimedOut(_) => Doubt::Timeout,
        Cause::Stopping => Doubt::Stopped,
        _ => Doubt::Disconnected,
    }
}
