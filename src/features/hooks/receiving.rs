//! Handles a request in one transaction: checks the signature, stores the contact or event, and records the delivery.

use bytes::Bytes;
use http::HeaderMap;
use serde_json::Value;

use super::model::{Hook, HookKind, RequestOutcome};
use super::{mapping, signature, store};
use crate::base::email::EmailAddress;
use crate::engine::access::idempotency::{IdempotentRequest, Lookup};
use crate::engine::api::{Engine, Failure};
use crate::engine::store::{Read, WriteTx};
use crate::features::contacts::{self, FieldError, UpsertSettings, Upserted};
use crate::features::suppressions::{self, Digester};
use crate::features::tags::TagName;
use crate::features::{contact_records, events, projects, topics};
use crate::vocab::codes::Code;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::KeyId;

/// A request whose body was read and parsed.
pub struct Incoming {
    pub headers: HeaderMap,
    pub bytes: Bytes,
    pub body: Result<Value, FieldError>,
    pub idempotency_key: Option<String>,
}

struct Refusal {
    code: Code,
    at: FieldError,
}

impl From<FieldError> for Refusal {
    fn from(at: FieldError) -> Self {
        Self { code: Code::InvalidRequest, at }
    }
}

/// Handles a request and records its delivery. The inner result is the response to the request, which may be a rejection. The outer result
/// is an error only if the store fails.
pub fn handle(
    tx: &mut WriteTx<'_>,
    engine: &Engine,
    hook: &Hook,
    incoming: Incoming,
) -> Result<Result<RequestOutcome, Failure>, Failure> {
    let input = incoming.body.as_ref().ok().map(|body| mapping::input(hook, body));
    let refusal = match stored(tx, engine, hook, (incoming, input.as_ref()))? {
        Ok(outcome) => {
            store::record(tx, hook.id, &outcome)?;
            return Ok(Ok(outcome));
        }
        Err(refusal) => refusal,
    };
    let FieldError { field, reason, .. } = refusal.at;
    let failure = Failure { code: refusal.code, ..Failure::field(&field, &reason) };
    let reason = input.iter().fold(reason, without_values);
    store::record(tx, hook.id, &RequestOutcome::Rejected { field: field.into_owned(), reason })?;
    Ok(Err(failure))
}

/// Replaces each text of the input that the reason quotes with `this value`, because reasons are stored and the texts may be personal data.
fn without_values(reason: String, input: &Value) -> String {
    match input {
        Value::String(text) if !text.is_empty() => {
            reason.replace(&format!("{text:?}"), "this value").replace(&format!("\"{text}\""), "this value")
        }
        Value::Array(items) => items.iter().fold(reason, without_values),
        Value::Object(fields) => fields.values().fold(reason, without_values),
        _ => reason,
    }
}

fn stored(
    tx: &mut WriteTx<'_>,
    engine: &Engine,
    hook: &Hook,
    (incoming, input): (Incoming, Option<&Value>),
) -> Result<Result<RequestOutcome, Refusal>, Failure> {
    if let Err(at) = signature::check(&engine.seal, hook, &incoming.headers, &incoming.bytes) {
        return Ok(Err(Refusal { code: Code::InvalidSignature, at }));
    }
    let request = incoming.idempotency_key.map(|key| {
        // Idempotency keys are scoped to the webhook. For other operations, they are scoped to the API key.
        IdempotentRequest::new(KeyId::from_bytes(hook.id.0), key.as_bytes(), "hooks.receive", "", &incoming.bytes)
    });
    if let Some(request) = &request {
        match request.look_up(tx, tx.now())? {
            Lookup::New => {}
            Lookup::Answered(_) | Lookup::Erased => return Ok(Ok(RequestOutcome::Unchanged)),
            Lookup::Conflict => {
                let at =
                    FieldError::new("Idempotency-Key", "an earlier request used this key with a different body; use a new key");
                return Ok(Err(Refusal { code: Code::IdempotencyConflict, at }));
            }
        }
    }
    let input = match (incoming.body, input) {
        (Ok(_), Some(input)) => input,
        (Err(at), _) => return Ok(Err(at.into())),
        (Ok(_), None) => unreachable!("a parsed body has an input"),
    };
    if projects::find(tx, hook.account, hook.project)?.is_none() {
        let at = FieldError::new("", "this webhook's brand was deleted; create a webhook in another brand");
        return Ok(Err(at.into()));
    }
    if let Err(at) = mapping::check_exact(input) {
        return Ok(Err(at.into()));
    }
    let saved = match hook.kind {
        HookKind::Contacts => contact(tx, engine, hook, input)?,
        HookKind::Events => events::record_json(tx, hook.project, &input.to_string())?
            .map(|is_new| if is_new { RequestOutcome::Recorded } else { RequestOutcome::Unchanged }),
    };
    if let (Ok(_), Some(request)) = (&saved, request) {
        // Only accepted requests are stored, so that a rejected request can be sent again after the mapping is corrected.
        request.store(tx, 200, &[]);
    }
    Ok(saved.map_err(Refusal::from))
}

fn contact(
    tx: &mut WriteTx<'_>,
    engine: &Engine,
    hook: &Hook,
    input: &Value,
) -> Result<Result<RequestOutcome, FieldError>, Failure> {
    let email = input["email"].as_str().and_then(|email| EmailAddress::parse(email).ok());
    let is_suppressed = match &email {
        Some(email) => suppressions::reason(tx, &Digester::new(&engine.seal), hook.account, &email.normalized())?.is_some(),
        None => false,
    };
    // A submitted form does not prove that the owner of a suppressed address wants to receive mail again.
    let consent_source = hook.consent_source.as_deref().filter(|_| !is_suppressed);
    let tags: Vec<TagName> = hook.tags.iter().filter_map(|name| TagName::parse(name).ok()).collect();
    let settings = UpsertSettings { tags: &tags, consent_source };
    let upserted = match contacts::upsert_json(tx, (hook.account, hook.project), &input.to_string(), settings)? {
        Ok(upserted) => upserted,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if let (Some(email), Some(_)) = (email, consent_source) {
        subscribe_to_topic(tx, hook, &email)?;
    }
    Ok(Ok(match upserted {
        Upserted::Created => RequestOutcome::Created,
        Upserted::Updated => RequestOutcome::Updated,
        Upserted::Unchanged => RequestOutcome::Unchanged,
    }))
}

/// Subscribes a contact to the webhook's topic. Called only if the contact has consented to marketing email. Contacts who have already
/// chosen for or against the topic and contacts who may not be mailed stay unchanged.
fn subscribe_to_topic(tx: &mut WriteTx<'_>, hook: &Hook, email: &EmailAddress) -> Result<(), Failure> {
    let Some(topic) = hook.topic else { return Ok(()) };
    let contact = contact_records::find_by_email(tx, hook.project, &email.normalized())?;
    let Some(contact) = contact.filter(|contact| contact.status == Status::Subscribed) else { return Ok(()) };
    let number = contact.id.number();
    if topics::look_up(tx, hook.project, topic)?.is_some() && topics::choice(tx, hook.project, topic, number)?.is_none() {
        topics::choose(tx, hook.project, topic, number, true)?;
    }
    Ok(())
}

/// Converts a body to input. Returns the input and, if it would be rejected, the error. Runs only the checks that need no stored data.
pub fn try_body(hook: &Hook, body: &Value) -> (Value, Result<(), FieldError>) {
    let input = mapping::input(hook, body);
    let json = input.to_string();
    let checked = mapping::check_exact(&input).and_then(|()| match hook.kind {
        HookKind::Contacts => contacts::check_json(&json),
        HookKind::Events => events::check_json(&json),
    });
    (input, checked)
}

/// Returns the webhook that the token in a URL belongs to, if the URL is current and the webhook is active.
pub fn active(tx: &impl Read, token: &super::Token) -> Result<Option<Hook>, Failure> {
    let hook = store::find(tx, token.account, token.id)?;
    Ok(hook.filter(|hook| hook.active && token.matches(&hook.url_hash)))
}
