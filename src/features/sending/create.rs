//! Creates mailings: stores a request as a mailing and its recipient rows.

use std::collections::HashSet;

use serde_json::json;

use super::draft::draft;
use super::merge_data::{self, MergeData, RecipientProfile};
use super::model::{Address, Delivery, Mailing, NewMailing, Recipient, Skip, To};
use super::template::{self, RenderMode, links};
use super::{eligibility, recipients, store};
use crate::base::email::EmailAddress;
use crate::engine::api::Failure;
use crate::engine::hold;
use crate::engine::render::merge::{self, Template};
use crate::engine::store::{Read, WriteTx};
use crate::features::domains::{self, Stream, Utm};
use crate::features::suppressions::Digester;
use crate::features::tags::TagNames;
use crate::features::{engagement, topics};
use crate::vocab::codes::Code;
use crate::vocab::ids::MailingId;

/// Creates a mailing. The mailing is on disk once this transaction commits.
pub fn create(tx: &mut WriteTx<'_>, new: NewMailing) -> Result<MailingId, Failure> {
    let id = MailingId::make(tx.now(), tx.random());
    let mut mailing = draft(&new, id, tx.now());
    mailing.hold_number = hold::last_number(tx)?;
    mailing.utm = utm(tx, &new)?;
    for (translation, content) in mailing.translations.iter().zip(&new.contents) {
        if store::keep_content(tx, translation.content, content)? {
            // Compile the content now, once for all mailings that share it, so that errors appear before the first message is sent.
            let compiled = template::compile(content, RenderMode::of(new.tracking, new.transactional))?;
            store::keep_needs(tx, translation.content, &compiled.needs());
            store::keep_links(tx, translation.content, &links::rewrite(&template::shown(content)).links);
        }
        if let Some(email) = translation.email {
            engagement::note_mailing(tx, email, id);
        }
    }
    if let To::Addresses(addresses) = new.to {
        add_addresses(tx, &mailing, addresses)?;
    }
    recipients::save(tx, &mailing)?;
    Ok(id)
}

/// Rejects a direct send if its recipient would be skipped, so that the caller learns the reason immediately. `field` is the name of the
/// request field that contains the address.
pub fn require_sendable(tx: &impl Read, digester: &Digester, id: MailingId, number: u32, field: &str) -> Result<(), Failure> {
    let (Some(mailing), Some(recipient)) = (store::by_id(tx, id)?, store::recipient(tx, id, number)?) else {
        return Err(Failure::internal("a mailing that was just created, or its recipient, is missing; report this bug"));
    };
    let Some(profile) = merge_data::load(tx, &mailing, number, &recipient)? else { return Ok(()) };
    let topic = match (mailing.topic, mailing.project) {
        (Some(topic), Some(project)) => Some(topics::find(tx, project, topic)?),
        _ => None,
    };
    if let Some(why) = eligibility::skip_reason(tx, digester, &mailing, topic.as_ref(), &profile)? {
        let detail = format!("{} cannot be emailed: {}.", profile.email, why.word().replace('_', " "));
        let failure = Failure::because(Code::RecipientNotSendable, detail).in_field(field);
        return Err(failure.with(json!({ "reason": why.word() })));
    }
    let needs = store::needs(tx, mailing.translation_for(&recipient).content)?;
    let needs = Template::compile(&needs, merge::OutputKind::Text).map_err(Failure::internal)?;
    let variables = mailing.variables();
    let tags = match (&profile.contact, mailing.project) {
        (Some(contact), Some(project)) => TagNames::new(tx, project).of(&contact.tags)?,
        _ => Vec::new(),
    };
    let values = MergeData { profile: &profile, variables: &variables, tags: &tags, links: None };
    match needs.missing(&values) {
        Some(field) => {
            let detail = format!(
                "the field {field} has no value for {}; set a value, or write {{{{ {field} | default(\"…\") }}}}",
                profile.email
            );
            Err(Failure::field("variables", detail))
        }
        None => Ok(()),
    }
}

/// Returns the UTM parameters for links. They are stored with the mailing, so later changes to the domain's settings do not affect it.
fn utm(tx: &impl Read, new: &NewMailing) -> Result<Option<Utm>, Failure> {
    let Ok(from) = EmailAddress::parse(&new.from.address) else { return Ok(None) };
    let stream = if new.transactional { Stream::Transactional } else { Stream::Marketing };
    let usual = domains::usual_utm(tx, new.account, &from, stream)?;
    Ok(Utm::resolve(new.utm.as_ref(), usual.as_ref(), from.domain(), new.campaign_name.as_deref()))
}

/// Adds a row for every address. If an address is a duplicate or invalid, its row states why it is skipped.
fn add_addresses(tx: &mut WriteTx<'_>, mailing: &Mailing, addresses: Vec<Address>) -> Result<(), Failure> {
    let mut seen = HashSet::new();
    for (number, address) in addresses.into_iter().enumerate() {
        let delivery = match EmailAddress::parse(&address.email) {
            Err(_) => Delivery::Skipped { why: Skip::InvalidAddress },
            Ok(email) if !seen.insert(email.normalized()) => Delivery::Skipped { why: Skip::DuplicateAddress },
            Ok(_) => Delivery::Queued,
        };
        recipients::count(tx, mailing, delivery.counter(), 1)?;
        let number = u32::try_from(number).expect("a request has few addresses");
        let mut recipient = Recipient { address: Some(address), delivery, translation: 0 };
        if mailing.translations.len() > 1 {
            let profile = merge_data::load(tx, mailing, number, &recipient)?;
            recipient.translation = mailing.translation_in(profile.as_ref().and_then(RecipientProfile::language));
        }
        recipients::add(tx, mailing.id, number, &recipient);
    }
    Ok(())
}
