//! Ingests events: finds the contact of each event, applies the event's changes and stores the event.
//!
//! An event is checked completely before any part of it is written, so that a rejected row of a batch has no effect.

use super::input::{EventIdentifiers, EventRow, ExternalId, Money};
use super::reattribution;
use crate::base::clock::Timestamp;
use crate::engine::api::Failure;
use crate::engine::store::{Error, Read, WriteTx};
use crate::features::contact_records::{self, Contact};
use crate::features::contacts::FieldError;
use crate::features::contacts::upsert_by_email::{self, ContactResolver, NewContact};
use crate::features::customer_events::external_ids::{self, Digest, ExternalIdKind};
use crate::features::customer_events::{EventWriter, NewEvent};
use crate::features::revenue::{self, Order, PaymentFact};
use crate::vocab::codes::Code;
use crate::vocab::ids::{EventId, ProjectId};
use crate::vocab::limits;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IngestOutcome {
    Stored(EventId),
    /// The event's key was already used by the earlier event with this ID.
    Duplicate(EventId),
}

#[derive(Debug)]
pub enum IngestError {
    Field(FieldError),
    NoContact(FieldError),
    Store(Error),
}

impl From<Error> for IngestError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<FieldError> for IngestError {
    fn from(refusal: FieldError) -> Self {
        Self::Field(refusal)
    }
}

impl From<IngestError> for Failure {
    fn from(denied: IngestError) -> Self {
        match denied {
            IngestError::Field(refusal) => refusal.into(),
            IngestError::NoContact(refusal) => Self { code: Code::NotFound, ..refusal.into() },
            IngestError::Store(error) => error.into(),
        }
    }
}

/// Ingests parsed events of one project, in order. `each` receives the result of each event and can abort the whole batch with an error.
pub fn ingest(
    tx: &mut WriteTx<'_>,
    project: ProjectId,
    events: Vec<Result<EventRow, FieldError>>,
    mut each: impl FnMut(Result<(IngestOutcome, Option<String>), IngestError>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let rows: Vec<Result<Row, FieldError>> = events.into_iter().map(|event| event.map(Row::new)).collect();
    upsert_by_email::resolve(tx, project, |tx, resolver| {
        let valid = || rows.iter().flatten();
        // Look up the addresses and keys of all rows together, in key order.
        resolver.look_up(tx, valid().filter_map(|row| row.address).collect())?;
        let writer = EventWriter::new(tx, project, rows.len(), valid().filter_map(|row| row.key).collect())?;
        let mut ingest = Ingest { project, now: tx.now(), resolver, writer };
        for row in rows {
            let outcome = row.map_err(IngestError::Field).and_then(|row| {
                let key = row.event.dedupe_key.as_ref().map(|key| key.to_string());
                Ok((ingest.ingest_one(tx, row)?, key))
            });
            each(outcome)?;
        }
        Ok(ingest.writer.finish(tx)?)
    })
}

/// Records the event in `json`, which has the format of a row of a batch. Returns whether the event is new, or why it is rejected.
pub fn record_json(tx: &mut WriteTx<'_>, project: ProjectId, json: &str) -> Result<Result<bool, FieldError>, Failure> {
    let mut recorded = Ok(false);
    ingest(tx, project, vec![EventRow::read(json)], |outcome| {
        recorded = match outcome {
            Ok((outcome, _)) => Ok(matches!(outcome, IngestOutcome::Stored(_))),
            Err(IngestError::Field(refusal) | IngestError::NoContact(refusal)) => Err(refusal),
            Err(IngestError::Store(error)) => return Err(error.into()),
        };
        Ok(())
    })?;
    Ok(recorded)
}

/// Checks the event in `json`, except for rules that require stored data.
pub fn check_json(json: &str) -> Result<(), FieldError> {
    EventRow::read(json)?.check().map(drop)
}

/// An event, with the hashes by which its contact and its duplicates are found.
struct Row {
    event: EventRow,
    /// The hash of the event's email address.
    address: Option<[u8; 16]>,
    /// The hash of the event's dedupeKey.
    key: Option<Digest>,
}

impl Row {
    fn new(event: EventRow) -> Self {
        let address = event.identifiers.email.as_ref().map(upsert_by_email::address_digest);
        let key = event.dedupe_key.as_ref().map(|key| external_ids::digest(key));
        Self { event, address, key }
    }
}

struct Ingest<'r, 'c> {
    project: ProjectId,
    now: Timestamp,
    resolver: &'r mut ContactResolver<'c>,
    writer: EventWriter,
}

/// The contact that an event concerns.
enum Subject {
    Known(u32),
    /// A contact to be created with this profile and address.
    New(Box<NewContact>),
}

impl Ingest<'_, '_> {
    fn ingest_one(&mut self, tx: &mut WriteTx<'_>, row: Row) -> Result<IngestOutcome, IngestError> {
        let Row { mut event, address, key } = row;
        let money = event.check()?;
        if let Some(first) = key.and_then(|key| self.writer.used(&key)) {
            return Ok(IngestOutcome::Duplicate(first));
        }
        // The key is checked before the time, because a stored event that is sent again is a duplicate even if it is too old by then.
        event.check_time(self.now)?;
        if !self.writer.accepts_name(tx, &event.name)? {
            let max = limits::EVENT_NAMES_PER_PROJECT_MAX;
            let reason =
                format_args!("a brand can have at most {max} event names; move the variable parts of names into properties");
            return Err(FieldError::new("name", reason).into());
        }
        let mut order = self.order(tx, &event.identifiers)?;
        let subject = self.subject(tx, &mut event, address, order.as_ref())?;
        let fact = money.map(|money| self.fact(money, event.occurred_at.map(|at| at.0), key));
        if let (None, Some(fact), Subject::Known(number)) = (&order, &fact, &subject) {
            order = Some(self.order_of_refund(tx, *number, fact.occurred_at)?);
        }
        if let (Some(known), Some(fact)) = (&order, &fact) {
            has_room_for(&known.order, fact, &subject, event.identifiers.external_order_id.is_some())?;
        }
        let change = match (&subject, event.profile.take()) {
            (Subject::Known(number), Some(profile)) => self.resolver.becomes(tx, *number, profile)?.map_err(in_profile)?,
            _ => None,
        };
        // From here on, the event can no longer be rejected.
        let number = self.write_contact(tx, subject, change)?;
        self.remember(tx, &event.identifiers, number)?;
        if let (None, Some(fact)) = (&order, &fact) {
            order = Some(self.order_of_refund(tx, number, fact.occurred_at)?);
        }
        let has_order = match order {
            Some(order) => self.add_to(tx, order, number, fact.map(|fact| PaymentFact { contact: Some(number), ..fact }))?,
            None => None,
        };
        Ok(IngestOutcome::Stored(self.writer.note(tx, number, new_event(event, has_order))?))
    }

    /// Returns the contact that an event concerns. If the event has an email address, this is the contact with that address, or a new one.
    /// Otherwise, it is the contact of the first identifier that matches, in the documented order.
    fn subject(
        &self,
        tx: &WriteTx<'_>,
        event: &mut EventRow,
        address: Option<[u8; 16]>,
        order: Option<&KnownOrder>,
    ) -> Result<Subject, IngestError> {
        let EventIdentifiers { email, subscriber_id, external_customer_id, external_checkout_id, .. } = &event.identifiers;
        if let (Some(email), Some(address)) = (email, address) {
            return match self.resolver.find(tx, address)? {
                Some(number) => Ok(Subject::Known(number)),
                None => {
                    let profile = event.profile.take().unwrap_or_default();
                    Ok(Subject::New(Box::new(upsert_by_email::new_contact(email.clone(), profile).map_err(in_profile)?)))
                }
            };
        }
        if let Some(id) = subscriber_id
            && let Some(contact) = contact_records::find(tx, self.project, *id)?
        {
            return Ok(Subject::Known(contact.id.number()));
        }
        let customer = self.named(tx, ExternalIdKind::Customer, external_customer_id.as_ref())?;
        let checkout = self.named(tx, ExternalIdKind::Checkout, external_checkout_id.as_ref())?;
        let named = [customer, checkout, order.and_then(|order| order.order.named)];
        for number in named.into_iter().flatten() {
            // The contact that the identifier refers to may have been deleted.
            if contact_records::by_number(tx, self.project, number)?.is_some() {
                return Ok(Subject::Known(number));
            }
        }
        let field = match (subscriber_id, external_customer_id, external_checkout_id) {
            (Some(_), ..) => "identifiers.subscriberId",
            (_, Some(_), _) => "identifiers.externalCustomerId",
            (.., Some(_)) => "identifiers.externalCheckoutId",
            _ => "identifiers.externalOrderId",
        };
        let reason = match subscriber_id {
            Some(_) => "no contact in the brand has this ID; correct the ID, or set `email` to create a contact",
            None => {
                "no contact in the brand is linked to this ID; set `email` to create a contact, or first report an event that \
                 has this ID and either `email` or `subscriberId`"
            }
        };
        Err(IngestError::NoContact(FieldError::new(field, reason)))
    }

    fn named(&self, tx: &impl Read, kind: ExternalIdKind, id: Option<&ExternalId>) -> Result<Option<u32>, Error> {
        match id {
            Some(id) => external_ids::find(tx, self.project, kind, external_ids::digest(id)),
            None => Ok(None),
        }
    }

    /// Returns the order that the event identifies, with the facts known so far.
    fn order(&self, tx: &impl Read, identifiers: &EventIdentifiers) -> Result<Option<KnownOrder>, Error> {
        let Some(id) = &identifiers.external_order_id else { return Ok(None) };
        self.known(tx, external_ids::digest(id)).map(Some)
    }

    /// Returns the order for refunds without an order ID. Refunds to the same contact at the same time share an order, so that repeats are
    /// recognized. The hashed text starts with a control character, so it never equals an order ID from a caller, which contains no control
    /// characters.
    fn order_of_refund(&self, tx: &impl Read, contact: u32, occurred_at: Timestamp) -> Result<KnownOrder, Error> {
        self.known(tx, external_ids::digest(&format!("\0{contact} {}", occurred_at.0)))
    }

    fn known(&self, tx: &impl Read, digest: Digest) -> Result<KnownOrder, Error> {
        Ok(KnownOrder { digest, order: revenue::find(tx, self.project, digest)?.unwrap_or_default() })
    }

    /// Returns the payment or refund as a fact of an order. The contact is set later.
    fn fact(&self, money: Money, occurred_at: Option<Timestamp>, key: Option<Digest>) -> PaymentFact {
        let Money { amount, currency, is_refund } = money;
        // A refund with neither a time nor a key gets a unique key, because refunds in one batch arrive at the same time but are separate.
        // The control character in the key avoids conflicts with keys from callers, which contain no control characters.
        let own = || occurred_at.is_none().then(|| external_ids::digest(&format!("\0{}", self.writer.next())));
        let key = if is_refund { key.or_else(own) } else { None };
        PaymentFact { occurred_at: occurred_at.unwrap_or(self.now), currency, amount, is_refund, contact: None, key }
    }

    fn write_contact(
        &mut self,
        tx: &mut WriteTx<'_>,
        subject: Subject,
        change: Option<(Contact, Contact)>,
    ) -> Result<u32, Error> {
        match subject {
            Subject::New(new_contact) => self.resolver.add(tx, *new_contact),
            Subject::Known(number) => {
                if let Some(change) = &change {
                    self.resolver.replace(tx, change);
                }
                Ok(number)
            }
        }
    }

    fn remember(&self, tx: &mut WriteTx<'_>, identifiers: &EventIdentifiers, number: u32) -> Result<(), Error> {
        let external = [
            (ExternalIdKind::Customer, &identifiers.external_customer_id),
            (ExternalIdKind::Checkout, &identifiers.external_checkout_id),
        ];
        for (kind, id) in external {
            if let Some(id) = id {
                external_ids::remember(tx, self.project, (kind, external_ids::digest(id)), number)?;
            }
        }
        Ok(())
    }

    /// Adds a fact to the order. Returns the order's hash if this changes the order.
    fn add_to(
        &self,
        tx: &mut WriteTx<'_>,
        known: KnownOrder,
        number: u32,
        fact: Option<PaymentFact>,
    ) -> Result<Option<Digest>, Error> {
        let KnownOrder { digest, order: before } = known;
        let mut after = before.clone();
        after.named = Some(number);
        if let Some(fact) = fact
            && let Err(place) = after.facts.binary_search(&fact)
        {
            after.facts.insert(place, fact);
        }
        if after == before {
            return Ok(None);
        }
        reattribution::reattribute(tx, self.project, digest, (&before, after))?;
        Ok(Some(digest))
    }
}

/// The hash of an order's ID, and the order before the event is applied.
struct KnownOrder {
    digest: Digest,
    order: Order,
}

/// Rejects a fact if the order already has the maximum number of facts. A repeated fact is accepted, because it is not added again.
/// `is_named` is false for the order of refunds without an order ID.
fn has_room_for(order: &Order, fact: &PaymentFact, subject: &Subject, is_named: bool) -> Result<(), FieldError> {
    let is_known = |number| order.facts.binary_search(&PaymentFact { contact: Some(number), ..*fact }).is_ok();
    let max = limits::ORDER_FACTS_MAX;
    if order.facts.len() < max || matches!(subject, Subject::Known(number) if is_known(*number)) {
        return Ok(());
    }
    if !is_named {
        let reason = format_args!(
            "the contact already has the maximum of {max} refunds that have this time and no externalOrderId; set \
             externalOrderId or occurredAt"
        );
        return Err(FieldError::new("identifiers", reason));
    }
    let reason = format_args!("this order already has the maximum of {max} payments and refunds; omit this event");
    Err(FieldError::new("identifiers.externalOrderId", reason))
}

fn new_event(event: EventRow, has_order: Option<Digest>) -> NewEvent {
    let text = |id: Option<ExternalId>| id.map(|id| id.to_string());
    let identifiers = event.identifiers;
    NewEvent {
        name: event.name.to_string(),
        occurred_at: event.occurred_at.map(|at| at.0),
        customer: text(identifiers.external_customer_id),
        checkout: text(identifiers.external_checkout_id),
        order: text(identifiers.external_order_id),
        dedupe_key: text(event.dedupe_key),
        properties: event.properties.map(|properties| properties.json),
        has_order,
    }
}

/// Prefixes the field of a profile error with `profile.`, its path in the event.
fn in_profile(refusal: FieldError) -> FieldError {
    FieldError::new(format!("profile.{}", refusal.field), refusal.reason)
}
