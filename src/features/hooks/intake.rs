//! Stores the contact or the event of a request, and records the delivery.

use serde_json::Value;

use super::mapping;
use super::model::{Hook, HookKind, Verdict};
use super::store;
use crate::base::email::EmailAddress;
use crate::engine::api::Failure;
use crate::engine::store::WriteTx;
use crate::features::contact_records;
use crate::features::contacts::{self, Admission, FieldError, Upserted};
use crate::features::tags::TagName;
use crate::features::topics;
use crate::features::{events, projects};
use crate::vocab::contact_status::Status;

/// Handles a parsed body in the transaction of the request. A rejected body is recorded, too; only failures of the store are errors.
pub fn handle(tx: &mut WriteTx<'_>, hook: &Hook, body: Result<Value, FieldError>) -> Result<Verdict, Failure> {
    let input = body.map(|body| mapping::input(hook, &body));
    let stored = match &input {
        Ok(_) if projects::find(tx, hook.account, hook.project)?.is_none() => {
            Err(FieldError::new("", "the project of this webhook was deleted; create a webhook in another project"))
        }
        Ok(input) => save(tx, hook, input)?,
        Err(refusal) => Err(FieldError::new(refusal.field.clone(), &refusal.reason)),
    };
    let verdict = stored.unwrap_or_else(|mut refusal| {
        input.iter().for_each(|input| remove_values(&mut refusal.reason, input));
        Verdict::Rejected { field: refusal.field.into_owned(), reason: refusal.reason }
    });
    store::record(tx, hook.id, &verdict)?;
    Ok(verdict)
}

/// Removes the values of the input from a reason, because reasons are stored and values may be personal data.
fn remove_values(reason: &mut String, input: &Value) {
    match input {
        Value::String(text) if !text.is_empty() => *reason = reason.replace(&format!("{text:?}"), "this value"),
        Value::Array(items) => items.iter().for_each(|item| remove_values(reason, item)),
        Value::Object(fields) => fields.values().for_each(|value| remove_values(reason, value)),
        _ => {}
    }
}

fn save(tx: &mut WriteTx<'_>, hook: &Hook, input: &Value) -> Result<Result<Verdict, FieldError>, Failure> {
    match hook.kind {
        HookKind::Contacts => contact(tx, hook, input),
        HookKind::Events => {
            let recorded = events::record_json(tx, hook.project, &input.to_string())?;
            Ok(recorded.map(|is_new| if is_new { Verdict::Recorded } else { Verdict::Unchanged }))
        }
    }
}

fn contact(tx: &mut WriteTx<'_>, hook: &Hook, input: &Value) -> Result<Result<Verdict, FieldError>, Failure> {
    let tags: Vec<TagName> = hook.tags.iter().filter_map(|name| TagName::parse(name).ok()).collect();
    let admission = Admission { tags: &tags, consent_source: hook.consent_source.as_deref() };
    let upserted = match contacts::upsert_json(tx, (hook.account, hook.project), &input.to_string(), admission)? {
        Ok(upserted) => upserted,
        Err(refusal) => return Ok(Err(refusal)),
    };
    subscribe_to_topic(tx, hook, input)?;
    Ok(Ok(match upserted {
        Upserted::Created => Verdict::Created,
        Upserted::Updated => Verdict::Updated,
        Upserted::Unchanged => Verdict::Unchanged,
    }))
}

/// Subscribes a contact with consent to the topic of the webhook. Keeps the choice of a contact who already chose, and ignores contacts who
/// may not be mailed.
fn subscribe_to_topic(tx: &mut WriteTx<'_>, hook: &Hook, input: &Value) -> Result<(), Failure> {
    let (Some(topic), Some(_), Some(email)) = (hook.topic, &hook.consent_source, input["email"].as_str()) else { return Ok(()) };
    let Ok(email) = EmailAddress::parse(email) else { return Ok(()) };
    let contact = contact_records::find_by_email(tx, hook.project, &email.normalized())?;
    let Some(contact) = contact.filter(|contact| contact.status == Status::Subscribed) else { return Ok(()) };
    let number = contact.id.number();
    if topics::look_up(tx, hook.project, topic)?.is_some() && topics::choice(tx, hook.project, topic, number)?.is_none() {
        topics::choose(tx, hook.project, topic, number, true)?;
    }
    Ok(())
}
