//! Handles a request from a mail service: checks the request, finds the message that each event refers to, and stores the effects of the
//! events.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use url::Url;

use super::model::{Counts, MailFeedback, Rejection, secret_context};
use super::store::{self, Arrival};
use crate::base::clock::Timestamp;
use crate::base::secret::Secret;
use crate::engine::api::{Engine, Failure};
use crate::engine::fetch::{Limits, OversizePolicy, Response};
use crate::engine::mail::feedback::sns::{Message, MessageType, PublicKey};
use crate::engine::mail::feedback::{self, EventKind, Refusal, Report, Request};
use crate::engine::store::{Error as StoreError, Store, WriteTx};
use crate::features::accounts;
use crate::features::sending::token::{Purpose, Token, Tokens};
use crate::features::tracking::{self, Recorded, SuppressionList};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::AccountId;
use crate::vocab::limits;
use crate::vocab::mail_services::MailService;

/// How many words at the start of a text are tried as a token. This is enough for a list of addresses, one of which contains the token.
const WORDS_TRIED_MAX: usize = 16;
const CERTIFICATE_MISSING: &str = "The signing certificate of Amazon SNS could not be fetched.";

/// A request to the webhook URL of a mail service.
#[derive(Clone)]
pub struct Incoming {
    pub environment: Environment,
    pub source: MailFeedback,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// The key for verifying a sample request; `None` for all other requests. A sample request changes no counts.
    pub sample: Option<SampleKey>,
}

/// The key for verifying a sample request.
#[derive(Clone)]
pub enum SampleKey {
    Configured,
    Secret(String),
    Certificate(PublicKey),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IngestResult {
    pub events: usize,
    /// The number of events whose token belongs to a message from this environment.
    pub recognized: usize,
    pub counts: Counts,
    /// Whether the request made Mailmill confirm a subscription to an SNS topic.
    pub confirmed: bool,
}

#[derive(Debug)]
pub enum Rejected {
    Refused(Refusal),
    /// The request failed for another reason: for example, a certificate could not be fetched.
    Failed(Failure),
}

impl From<Refusal> for Rejected {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Failure> for Rejected {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<StoreError> for Rejected {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

/// Handles a request. When this function returns, the request's effects are on disk.
pub async fn receive(engine: &Arc<Engine>, incoming: Incoming) -> Result<IngestResult, Rejected> {
    let (report, confirmed) = match check(engine, &incoming).await {
        Ok(checked) => checked,
        Err(Rejected::Refused(reason)) => {
            note_rejection(engine, &incoming, reason).await?;
            return Err(reason.into());
        }
        Err(failed) => return Err(failed),
    };
    let tokens = Tokens::new(&engine.seal);
    let events = report.events.into_iter().map(|event| (token_of(&tokens, incoming.environment, &event.texts), event.kind));
    let account = incoming.source.account;
    let mut request = CheckedRequest {
        id: report.id,
        events: events.collect(),
        confirmed,
        // All accounts send through the installation's relays. The mail services of the installation's own account can therefore report
        // events about mail of every account.
        only: if accounts::is_installations(&engine.control.read(), account)? { None } else { Some(account) },
        list: SuppressionList::new(engine),
        incoming,
    };
    let store = engine.data(request.incoming.environment).store.clone();
    let mut recorded = request.record(&store).await;
    if matches!(&recorded, Err(Rejected::Failed(failure)) if failure.code == Code::Internal)
        && request.leave_out_damaged(&store).await?
    {
        recorded = request.record(&store).await;
    }
    let accepted = match recorded {
        Err(Rejected::Refused(reason)) => {
            note_rejection(engine, &request.incoming, reason).await?;
            return Err(reason.into());
        }
        recorded => recorded?,
    };
    let IngestResult { events, recognized, confirmed, .. } = accepted;
    tracing::debug!(events, recognized, confirmed, "request from a mail service");
    Ok(accepted)
}

/// Checks a request. Returns the events, and whether the request made Mailmill confirm a subscription to an SNS topic.
async fn check(engine: &Arc<Engine>, incoming: &Incoming) -> Result<(Report, bool), Rejected> {
    let (source, now) = (&incoming.source, engine.clock.now());
    if source.service == MailService::AmazonSes {
        return check_sns(engine, incoming, now).await;
    }
    let secret = match &incoming.sample {
        Some(SampleKey::Secret(secret)) => Some(Secret::new(secret.clone())),
        _ => secret(engine, source)?,
    };
    let request = Request { headers: &incoming.headers, body: &incoming.body, now };
    Ok((feedback::read(source.service, &request, secret.as_ref().map(|secret| secret.expose().as_str()))?, false))
}

/// Returns the secret of a mail service, if it has one. After a rekey, the secret is unreadable until a user enters it again. Until then,
/// requests are rejected, even if the service does not require a secret.
pub fn secret(engine: &Engine, source: &MailFeedback) -> Result<Option<Secret<String>>, Refusal> {
    let Some(sealed) = &source.sealed_secret else { return Ok(None) };
    let opened = engine.seal.open(&secret_context(source.account, source.id), sealed);
    let text = opened.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or(Refusal::SecretMissing)?;
    Ok(Some(Secret::new(text)))
}

async fn check_sns(engine: &Arc<Engine>, incoming: &Incoming, now: Timestamp) -> Result<(Report, bool), Rejected> {
    let message = Message::parse(&incoming.body)?;
    if !incoming.source.topics.contains(&message.topic_arn) {
        return Err(Refusal::TopicUnknown.into());
    }
    let key = match &incoming.sample {
        Some(SampleKey::Certificate(key)) => key.clone(),
        _ => certificate(engine, &message.certificate_url()?, now).await?,
    };
    message.verify(&key, now)?;
    match message.kind {
        MessageType::Notification => Ok((message.report()?, false)),
        MessageType::UnsubscribeConfirmation => Ok((Report::default(), false)),
        MessageType::SubscriptionConfirmation => {
            let response = fetch(engine, &message.confirmation_url()?).await?;
            if response.status != StatusCode::OK {
                return Err(unavailable(
                    "Amazon SNS did not confirm the subscription; request the confirmation again in the SNS console.",
                    response.status,
                )
                .into());
            }
            Ok((Report::default(), true))
        }
    }
}

/// Returns a certificate's key, from the cache or from Amazon. The cache also remembers which certificates are absent or invalid, so that
/// repeated requests with the same fake certificate do not each cause a fetch.
pub async fn certificate(engine: &Engine, url: &Url, now: Timestamp) -> Result<PublicKey, Rejected> {
    if let Some(known) = known_certificate(engine, url, now) {
        return known;
    }
    let turn = engine.sns_certificates.turn_within(limits::SNS_TIME).await;
    let _turn = turn.ok_or_else(|| unavailable("Other fetches of Amazon SNS certificates took too long.", url))?;
    // Another request may have fetched the certificate in the meantime.
    if let Some(known) = known_certificate(engine, url, now) {
        return known;
    }
    let response = fetch(engine, url).await?;
    if response.status != StatusCode::OK {
        if response.status.is_client_error() {
            engine.sns_certificates.put(url.as_str(), None, now);
        }
        return Err(unavailable(CERTIFICATE_MISSING, response.status).into());
    }
    let pem = Arc::new(response.body);
    engine.sns_certificates.put(url.as_str(), Some(pem.clone()), now);
    Ok(PublicKey::of_certificate(&pem, now)?)
}

/// Returns the cached result for a certificate, if any.
fn known_certificate(engine: &Engine, url: &Url, now: Timestamp) -> Option<Result<PublicKey, Rejected>> {
    Some(match engine.sns_certificates.get(url.as_str(), now)? {
        Some(pem) => PublicKey::of_certificate(&pem, now).map_err(Rejected::from),
        None => Err(unavailable(CERTIFICATE_MISSING, "a recent request for the certificate failed").into()),
    })
}

/// Fetches a URL of Amazon SNS. A redirect is an error, because only the original URL has been checked.
async fn fetch(engine: &Engine, url: &Url) -> Result<Response, Failure> {
    let limits = Limits {
        head: limits::SNS_TIME,
        total: limits::SNS_TIME,
        body_bytes: limits::SNS_RESPONSE_BYTES_MAX,
        overlong: OversizePolicy::Refuse,
    };
    let response = engine.fetch.get(url, "*/*", &limits).await;
    let response = response.map_err(|error| unavailable("Amazon SNS could not be reached.", error))?;
    if response.url == *url { Ok(response) } else { Err(unavailable("Amazon SNS redirected the request.", &response.url)) }
}

/// Returns the error for a URL that belongs to no mail service.
pub fn url_unknown() -> Failure {
    Failure::because(
        Code::NotFound,
        "No mail service in Mailmill has this webhook URL. Copy the whole URL, or create a new URL on the service's page in Mailmill.",
    )
}

/// Returns an error that makes SNS send the message again.
fn unavailable(message: &'static str, cause: impl std::fmt::Display) -> Failure {
    Failure { cause: Some(cause.to_string()), ..Failure::because(Code::Unavailable, message).after_seconds(1) }
}

/// Returns the first token in these strings that belongs to a message of this environment.
fn token_of(tokens: &Tokens, environment: Environment, texts: &[String]) -> Option<Token> {
    let words = texts.iter().flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric()).take(WORDS_TRIED_MAX));
    let read = |word: &str| tokens.read_local_part(word).filter(|token| token.environment == environment);
    words.filter_map(read).find(|token| matches!(token.purpose, Purpose::Message | Purpose::Bounce))
}

/// A checked request whose effects have not been stored yet.
#[derive(Clone)]
struct CheckedRequest {
    incoming: Incoming,
    /// The ID of the request, if the service gives its requests IDs.
    id: Option<String>,
    /// The events, each with the token of its message if a token was found.
    events: Vec<(Option<Token>, EventKind)>,
    confirmed: bool,
    /// The account to which the messages must belong; `None` allows all accounts.
    only: Option<AccountId>,
    list: SuppressionList,
}

impl CheckedRequest {
    /// Stores the effects of the request in one transaction.
    async fn record(&self, store: &Store) -> Result<IngestResult, Rejected> {
        let request = self.clone();
        store.write(move |tx| record(tx, &request)).await?
    }

    /// Removes the tokens of messages whose rows are damaged, so that the other events of the request can be recorded. Called after the
    /// transaction with all events failed because of a damaged row. Returns whether any rows were damaged.
    async fn leave_out_damaged(&mut self, store: &Store) -> Result<bool, Rejected> {
        let mut found = false;
        for (token, event) in &mut self.events {
            let Some(Token { mailing, number, .. }) = *token else { continue };
            let (list, only, event) = (self.list.clone(), self.only, event.clone());
            let tried = store.write(move |tx| {
                let tried = tracking::record_feedback(tx, &list, (mailing, number), only, &event);
                tx.roll_back();
                tried.map(drop)
            });
            match tried.await.and_then(|tried| tried) {
                Ok(()) => {}
                Err(error @ (StoreError::Damaged { .. } | StoreError::Panicked)) => {
                    tracing::error!(%error, %mailing, number, "an event of a mail service could not be recorded");
                    (*token, found) = (None, true);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(found)
    }
}

fn record(tx: &mut WriteTx<'_>, request: &CheckedRequest) -> Result<IngestResult, Rejected> {
    let CheckedRequest { incoming, events, confirmed, only, list, .. } = request;
    let (source, now) = (&incoming.source, tx.now());
    let key = (source.account, source.id);
    let recognized = events.iter().filter(|(token, _)| token.is_some()).count();
    let mut accepted = IngestResult { events: events.len(), recognized, confirmed: *confirmed, ..IngestResult::default() };
    if incoming.sample.is_some() {
        return Ok(accepted);
    }
    // The mail service may have been deleted, or its URL replaced, since the request arrived.
    if !store::is_current(tx, source)? {
        return Err(url_unknown().into());
    }
    let mut standing = store::standing(tx, key)?;
    let arrival = match &request.id {
        Some(id) => store::remember(tx, source.id, &mut standing, (id, incoming.body.as_ref()))?,
        None => Arrival::First,
    };
    match arrival {
        // The error rolls back the transaction, so the rejected request has no effect.
        Arrival::Reused => return Err(Refusal::Replayed.into()),
        Arrival::Repeated => accepted.counts.repeated = 1,
        Arrival::First => {
            for (token, event) in events {
                let found = match token {
                    Some(token) => tracking::record_feedback(tx, list, (token.mailing, token.number), *only, event)?,
                    None => Recorded::NoMessage,
                };
                match found {
                    Recorded::NoMessage => accepted.counts.unmatched += 1,
                    Recorded::New | Recorded::Known => accepted.counts.add(event),
                }
            }
        }
    }
    standing.counts.merge(&accepted.counts);
    standing.last_request_at = Some(now);
    if *confirmed {
        standing.confirmed_at = Some(now);
    }
    store::save_standing(tx, key, &standing);
    Ok(accepted)
}

/// Stores why a request was rejected, so that the mail service's page can show the reason.
pub async fn note_rejection(engine: &Engine, incoming: &Incoming, reason: Refusal) -> Result<(), Failure> {
    let (source, store) = (incoming.source.clone(), &engine.data(incoming.environment).store);
    let key = (source.account, source.id);
    let standing = store::standing(&store.read(), key)?;
    if incoming.sample.is_some() || !standing.notes_rejection(engine.clock.now()) {
        return Ok(());
    }
    let write = move |tx: &mut WriteTx<'_>| -> Result<(), Failure> {
        let mut standing = store::standing(tx, key)?;
        if store::is_current(tx, &source)? && standing.notes_rejection(tx.now()) {
            standing.last_rejection = Some(Rejection { at: tx.now(), reason });
            store::save_standing(tx, key, &standing);
        }
        Ok(())
    };
    store.write(write).await?
}
