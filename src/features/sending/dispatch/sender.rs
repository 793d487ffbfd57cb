//! Makes one delivery: renders the message, sends it, and submits the result to the recipient writer.
//!
//! The data that all messages of a mailing share is prepared once and cached. Messages are rendered on blocking threads, at most one per
//! processor at a time.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use tokio::sync::Semaphore;

use super::Rules;
use crate::base::clock::Timestamp;
use crate::base::email::EmailAddress;
use crate::engine::api::{Engine, Failure};
use crate::engine::hold::OnHold;
use crate::engine::mail::delivery::{BeforeDot, Cause, DeliveryOutcome, DotDecision, Envelope, Handoff, Stage};
use crate::engine::mail::dkim::Signer;
use crate::engine::mail::transport::Transport;
use crate::engine::store::{ReadTx, Store};
use crate::features::domains::{self, SendingDomain, Stream};
use crate::features::sending::message::{MailingContext, RenderedMessage};
use crate::features::sending::model::{
    ContentId, Delivery, Event, Mailing, Plan, Recipient, Schedule, Skip, State, Translation, UnknownReason, WaitReason,
};
use crate::features::sending::quota::{self, QuotaLeft};
use crate::features::sending::recipient_writer::{RecipientWriter, RowUpdate, UpdateResult};
use crate::features::sending::service_headers::relay_services;
use crate::features::sending::signing;
use crate::features::sending::template::{self, Compiled, RenderMode};
use crate::features::sending::token::Tokens;
use crate::features::sending::transport::{self, MailRoute};
use crate::features::sending::{eligibility, merge_data, store};
use crate::features::tags::TagNames;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, MailingId};
use crate::vocab::limits;
use crate::vocab::mail_services::MailService;

/// The input of a delivery.
pub struct SendJob {
    pub context: Arc<MailingContext>,
    pub number: u32,
    pub recipient: Recipient,
}

/// How a delivery ended, with the details that the scheduler needs.
pub enum SendOutcome {
    /// The result is stored, or was submitted to the recipient writer.
    Recorded,
    /// The message was not sent. The recipient's row shows whether it will be retried.
    NotSent,
    /// The mailing is stopped for now, and this recipient is unchanged.
    Stopped(Box<Recipient>),
    /// The transport failed before a server replied about this recipient.
    TransportFailed(Box<Recipient>),
}

/// Renders and sends the messages of one environment.
pub struct MessageSender {
    engine: Arc<Engine>,
    environment: Environment,
    store: Arc<Store>,
    writer: RecipientWriter,
    rules: Arc<Rules>,
    tokens: Tokens,
    services: Vec<MailService>,
    route: MailRoute,
    renderers: Semaphore,
    slots: usize,
    prepared: Mutex<PreparedCache>,
}

/// The result of rendering a message.
enum RenderResult {
    Message(Box<RenderedMessage>),
    Skipped(Skip),
    /// Deliveries to the recipient's mail server are paused.
    Deferred(Cause),
}

/// Content and senders that were prepared recently.
#[derive(Default)]
struct PreparedCache {
    contents: HashMap<(ContentId, RenderMode), Arc<Compiled>>,
    senders: HashMap<(AccountId, String, bool), (Arc<SenderIdentity>, Timestamp)>,
}

/// The sending domain of a From address, with its keys.
struct SenderIdentity {
    domain: String,
    signer: Option<Arc<Signer>>,
    bounce_domain: Option<String>,
    base: Option<String>,
    opens: bool,
    clicks: bool,
}

impl MessageSender {
    pub fn new(
        engine: Arc<Engine>,
        environment: Environment,
        writer: RecipientWriter,
        rules: Arc<Rules>,
    ) -> Result<Self, Failure> {
        let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let connections = engine.settings.mail.connections.count();
        Ok(Self {
            environment,
            store: engine.data(environment).store.clone(),
            writer,
            rules,
            tokens: Tokens::new(&engine.seal),
            services: relay_services(&engine.settings),
            route: transport::route(&engine, environment),
            renderers: Semaphore::new(cores),
            slots: slots(connections, cores, engine.settings.mail.direct),
            prepared: Mutex::default(),
            engine,
        })
    }

    pub fn slots(&self) -> usize {
        self.slots
    }

    pub fn now(&self) -> Timestamp {
        self.engine.clock.now()
    }

    pub fn hold(&self) -> Option<OnHold> {
        self.engine.hold.current()
    }

    /// Waits until sending is not on hold.
    pub async fn released(&self) {
        self.engine.hold.released().await;
    }

    pub fn schedule(&self) -> Schedule {
        self.rules.schedule
    }

    /// Returns how far in the future a retry can be. A stored retry time beyond this limit is invalid.
    pub fn retry_ahead_ms_max(&self) -> i64 {
        self.rules.schedule.ahead_ms_max()
    }

    /// Returns whether a mailing that is waiting for its account's quota may continue early, because the plan was upgraded or because the
    /// clock was wrong when the mailing stopped.
    pub fn has_room_again(&self, tx: &ReadTx, mailing: &Mailing) -> Result<bool, Failure> {
        let waits = matches!(mailing.state, State::Waiting { reason: WaitReason::Quota, .. }) && mailing.plan == Plan::Done;
        let account = mailing.account;
        Ok(waits && matches!(quota::left(tx, account, (self.rules.limits)(account), self.now())?, QuotaLeft::Left(..)))
    }

    /// Returns the account's maximum number of recipients per second, if the plan sets a limit.
    pub fn per_second(&self, account: AccountId) -> Option<u64> {
        (self.rules.limits)(account).recipients_per_second
    }

    /// Stops accepting messages, and lets the deliveries in flight finish within the grace period in the settings.
    pub async fn close(&self) {
        if let MailRoute::Transport(transport) = &self.route {
            let closed = transport.close(self.engine.settings.mail.stop_seconds.seconds()).await;
            if closed.cut > 0 {
                tracing::warn!(
                    deliveries = closed.cut,
                    "deliveries were interrupted; if the final dot was sent, the outcome is unknown"
                );
            }
        }
    }

    /// Closes idle connections while the service runs.
    pub async fn maintain(&self) {
        if let MailRoute::Transport(transport) = &self.route {
            transport.maintain().await;
        }
    }

    /// Returns the data that all messages of a mailing share, or `None` if the mailing cannot be sent now.
    pub async fn context(self: &Arc<Self>, tx: &ReadTx, mailing: Mailing) -> Result<Option<Arc<MailingContext>>, Failure> {
        let (sender, tx) = (self.clone(), tx.clone());
        let making = tokio::task::spawn_blocking(move || sender.prepare(&tx, mailing));
        making.await.map_err(Failure::internal)?
    }

    fn prepare(&self, tx: &ReadTx, mailing: Mailing) -> Result<Option<Arc<MailingContext>>, Failure> {
        if matches!(self.route, MailRoute::None) {
            tracing::warn!(mailing = %mailing.id, "no transport for live mail is configured; see [mail] in the settings");
            return Ok(None);
        }
        let Ok(from) = EmailAddress::parse(&mailing.from.address) else {
            tracing::error!(mailing = %mailing.id, "the From address of a mailing is invalid");
            return Ok(None);
        };
        let sender = self.sender(tx, &mailing, &from)?;
        let must_be_verified = self.environment == Environment::Live && self.engine.settings.mail.require_verified_domain;
        if must_be_verified && matches!(self.route, MailRoute::Transport(_)) && sender.signer.is_none() {
            tracing::warn!(mailing = %mailing.id, domain = from.domain(), "the sending domain is no longer verified; its mail stays queued until the domain is verified again");
            return Ok(None);
        }
        let mut mode = RenderMode::of(mailing.tracking, mailing.transactional);
        mode.opens &= sender.opens;
        mode.clicks &= sender.clicks;
        mode.utm = mailing.utm.clone().filter(|_| !mode.clicks);
        let translations = mailing.translations.iter();
        let compiled = translations.map(|translation| self.compiled(tx, &mailing, translation, &mode));
        let compiled = compiled.collect::<Result<_, _>>()?;
        let reply_to = mailing.from.reply_to.as_deref().and_then(|address| EmailAddress::parse(address).ok());
        let base = sender.base.clone().unwrap_or_else(|| self.engine.base_url().trim_end_matches('/').to_owned());
        Ok(Some(Arc::new(MailingContext {
            variables: mailing.variables(),
            compiled,
            from,
            reply_to,
            signer: sender.signer.clone(),
            domain: sender.domain.clone(),
            bounce_domain: sender.bounce_domain.clone(),
            base,
            environment: self.environment,
            services: self.services.clone(),
            mailing,
        })))
    }

    fn compiled(
        &self,
        tx: &ReadTx,
        mailing: &Mailing,
        translation: &Translation,
        mode: &RenderMode,
    ) -> Result<Arc<Compiled>, Failure> {
        let key = (translation.content, mode.clone());
        if let Some(known) = self.prepared().contents.get(&key) {
            return Ok(known.clone());
        }
        let compiled = Arc::new(template::compile(&store::content(tx, mailing, translation)?, mode.clone())?);
        let mut prepared = self.prepared();
        let weight: usize = prepared.contents.values().map(|content| content.weight).sum();
        if weight + compiled.weight > limits::CONTENTS_KEPT_BYTES {
            // Clear the whole cache. Active mailings keep their own references, and other content is prepared again when needed.
            prepared.contents.clear();
        }
        prepared.contents.insert(key, compiled.clone());
        Ok(compiled)
    }

    fn prepared(&self) -> std::sync::MutexGuard<'_, PreparedCache> {
        self.prepared.lock().expect("no holder of this lock panics")
    }

    fn sender(&self, tx: &ReadTx, mailing: &Mailing, from: &EmailAddress) -> Result<Arc<SenderIdentity>, Failure> {
        let key = (mailing.account, from.domain_ascii().to_ascii_lowercase(), mailing.transactional);
        let now = self.now();
        if let Some((known, at)) = self.prepared().senders.get(&key)
            // A time in the future is also invalid, because the clock was wrong when it was stored.
            && (0..limits::SENDER_KEPT_MS).contains(&now.ms_since(*at))
        {
            return Ok(known.clone());
        }
        let stream = if mailing.transactional { Stream::Transactional } else { Stream::Marketing };
        let found = domains::for_sender(tx, &self.engine.seal, mailing.account, from, stream)?;
        let own = self.engine.settings.mail.bounce_domain.clone();
        let sender = Arc::new(SenderIdentity::new(found, &key.1, own)?);
        let mut prepared = self.prepared();
        if prepared.senders.len() >= limits::SENDERS_KEPT_MAX {
            prepared.senders.clear();
        }
        prepared.senders.insert(key, (sender.clone(), now));
        Ok(sender)
    }

    /// Renders one message, sends it, and submits the result to the recipient writer.
    pub async fn deliver(self: Arc<Self>, job: SendJob) -> SendOutcome {
        let (id, number) = (job.context.mailing.id, job.number);
        let rendered = match self.make(&job).await {
            Ok(rendered) => rendered,
            Err(failure) => {
                tracing::error!(mailing = %id, number, cause = ?failure.cause, "failed to render a message");
                let reply = "The message could not be rendered.".to_owned();
                self.writer
                    .submit_and_wait(id, number, RowUpdate::Event(Event::Deferred { reply, schedule: self.rules.schedule }))
                    .await;
                return SendOutcome::NotSent;
            }
        };
        let message = match rendered {
            RenderResult::Message(message) => *message,
            RenderResult::Skipped(why) => {
                self.writer.submit_and_wait(id, number, RowUpdate::Event(Event::Skip { why })).await;
                return SendOutcome::NotSent;
            }
            RenderResult::Deferred(cause) => {
                self.writer.submit_and_wait(id, number, RowUpdate::Event(self.deferral(&cause))).await;
                return SendOutcome::NotSent;
            }
        };
        let recipient = Box::new(job.recipient);
        match &self.route {
            MailRoute::Inbox => match self.writer.submit_and_wait(id, number, RowUpdate::StoreInInbox(Box::new(message))).await {
                UpdateResult::Done => SendOutcome::Recorded,
                UpdateResult::Refused | UpdateResult::Lost => SendOutcome::NotSent,
                UpdateResult::Stopped => SendOutcome::Stopped(recipient),
            },
            MailRoute::Transport(transport) => self.transmit(transport, id, number, message, recipient).await,
            MailRoute::None => SendOutcome::TransportFailed(recipient),
        }
    }

    async fn make(self: &Arc<Self>, job: &SendJob) -> Result<RenderResult, Failure> {
        let _turn = self.renderers.acquire().await.map_err(Failure::internal)?;
        let (sender, context) = (self.clone(), job.context.clone());
        let (number, recipient) = (job.number, job.recipient.clone());
        let making = tokio::task::spawn_blocking(move || sender.write(&context, number, &recipient));
        making.await.map_err(Failure::internal)?
    }

    fn write(&self, context: &MailingContext, number: u32, recipient: &Recipient) -> Result<RenderResult, Failure> {
        let tx = self.store.read();
        let mailing = &context.mailing;
        let Some(profile) = merge_data::load(&tx, mailing, number, recipient)? else {
            return Ok(RenderResult::Skipped(Skip::Erased));
        };
        // The handoff repeats this check. Skipping the recipient here avoids rendering the message.
        if let Some(why) = eligibility::skip_reason(&tx, &self.rules.digester, mailing, None, &profile)? {
            return Ok(RenderResult::Skipped(why));
        }
        if let (MailRoute::Transport(transport), Ok(email)) = (&self.route, EmailAddress::parse(&profile.email))
            && let Some(cause) = transport.left_alone(&email.domain_ascii().to_ascii_lowercase())
        {
            return Ok(RenderResult::Deferred(cause));
        }
        let tags = match (&profile.contact, mailing.project) {
            (Some(contact), Some(project)) => TagNames::new(&tx, project).of(&contact.tags)?,
            _ => Vec::new(),
        };
        let written = context.render(&self.tokens, (&profile, &tags), (number, recipient.translation), self.now());
        Ok(written.map_or_else(RenderResult::Skipped, |message| RenderResult::Message(Box::new(message))))
    }

    /// Returns the event for a message that the server certainly did not accept.
    fn deferral(&self, cause: &Cause) -> Event {
        let (reply, schedule) = (cause.to_string(), self.rules.schedule);
        match cause {
            Cause::LeftAlone { rest, .. } => {
                let rest = i64::try_from(rest.as_millis()).unwrap_or(i64::MAX).max(limits::POSTPONED_MS_MIN);
                Event::Postponed { reply, until: self.now().plus_ms(rest), schedule }
            }
            _ => Event::Deferred { reply, schedule },
        }
    }

    async fn transmit(
        &self,
        transport: &Transport,
        id: MailingId,
        number: u32,
        message: RenderedMessage,
        recipient: Box<Recipient>,
    ) -> SendOutcome {
        let RenderedMessage { sender, recipient: address, needs_smtputf8, bytes, .. } = message;
        let envelope = Envelope { sender, recipient: address, smtputf8: needs_smtputf8 };
        let mut claim = Claim { engine: &self.engine, writer: &self.writer, id, number, answer: None };
        let outcome = transport.deliver(&envelope, &bytes, &mut claim).await;
        let claimed = claim.answer;
        let event = match outcome {
            DeliveryOutcome::Accepted { reply } => Event::Accepted { reply: reply.to_string() },
            DeliveryOutcome::Refused { reply, .. } => Event::Refused { reply: reply.to_string() },
            DeliveryOutcome::Unknown { cause } => Event::Lost { why: unknown_reason(&cause) },
            DeliveryOutcome::Abandoned => {
                return match claimed {
                    Some(UpdateResult::Stopped) => SendOutcome::Stopped(recipient),
                    _ => SendOutcome::NotSent,
                };
            }
            DeliveryOutcome::Deferred { stage, cause } if claimed.is_none() && self.is_transport_fault(stage, &cause) => {
                return SendOutcome::TransportFailed(recipient);
            }
            DeliveryOutcome::Deferred { cause, .. } => self.deferral(&cause),
        };
        let mark = RowUpdate::Event(event);
        match recipient.delivery {
            // Until this update is written, the recipient stays in the list of retries. Wait for it, so that the recipient is not read from
            // the list again before that.
            Delivery::Deferred { .. } => drop(self.writer.submit_and_wait(id, number, mark).await),
            // Later updates are written after this one, so there is no need to wait for the disk here.
            _ => self.writer.submit(id, number, mark).await,
        }
        SendOutcome::Recorded
    }

    /// Returns whether other recipients' messages would fail too, because the failure is unrelated to this recipient.
    fn is_transport_fault(&self, stage: Stage, cause: &Cause) -> bool {
        if *cause == Cause::Stopping {
            return true;
        }
        // With direct delivery, each recipient's server is a separate route, so messages to other servers are not affected. This message is
        // deferred, as after a temporary error reply, or postponed if deliveries to this server are paused.
        let has_one_route = !self.engine.settings.mail.direct;
        has_one_route && stage < Stage::Sender
    }
}

/// Returns how many deliveries may run in parallel: one per connection, plus some that render messages in advance for connections that
/// become free. With direct delivery, there are more, because a delivery also waits for a slot at its server, and deliveries to a slow
/// server must not block deliveries to other servers.
fn slots(connections: usize, cores: usize, direct: bool) -> usize {
    let ahead = connections.min(limits::MESSAGES_AHEAD_MAX).max(2 * cores);
    if direct { 4 * connections + ahead } else { connections + ahead }
}

impl SenderIdentity {
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

/// Claims the recipient just before the final dot is sent.
struct Claim<'a> {
    engine: &'a Engine,
    writer: &'a RecipientWriter,
    id: MailingId,
    number: u32,
    answer: Option<UpdateResult>,
}

impl BeforeDot for Claim<'_> {
    async fn ready(&mut self, _: &Handoff) -> DotDecision {
        let answer = self.writer.submit_and_wait(self.id, self.number, RowUpdate::Claim).await;
        self.answer = Some(answer);
        // A cluster node that was suspended after the claim must not send: another node may be the leader now and may have recorded the
        // message as unknown.
        let is_sender = self.engine.cluster.as_ref().is_none_or(|member| member.leads());
        if answer == UpdateResult::Done && is_sender { DotDecision::Go } else { DotDecision::Abandon }
    }
}

fn unknown_reason(cause: &Cause) -> UnknownReason {
    match cause {
        Cause::TimedOut(_) => UnknownReason::Timeout,
        Cause::Stopping => UnknownReason::Stopped,
        _ => UnknownReason::Disconnected,
    }
}
