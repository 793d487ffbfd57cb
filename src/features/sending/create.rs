//! Creates mailings: turns a request into durable rows.

use std::collections::HashSet;

use serde_json::json;

use super::merge_data::{self, MergeData, RecipientProfile};
use super::model::{
    Address, Audience, Content, Delivery, Kind, Mailing, NewMailing, Plan, Policy, Recipient, Skip, State, To, Translation,
};
use super::template::{self, RenderMode, links};
use super::{eligibility, engagement, planning, store};
use crate::base::clock::Timestamp;
use crate::base::email::EmailAddress;
use crate::engine::api::Failure;
use crate::engine::hold;
use crate::engine::render::merge::{self, Template};
use crate::engine::store::{Read, WriteTx};
use crate::features::contacts::tags::TagNames;
use crate::features::domains::{self, Stream, Utm};
use crate::features::suppressions::Digester;
use crate::features::topics;
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, MailingId};

/// Creates a mailing. Once this transaction commits, the mailing is durable and will be sent.
pub fn create(tx: &mut WriteTx<'_>, new: NewMailing) -> Result<MailingId, Failure> {
    let id = MailingId::make(tx.now(), tx.random());
    let mut mailing = draft(&new, id, tx.now());
    mailing.hold_number = hold::last_number(tx)?;
    mailing.utm = utm(tx, &new)?;
    for (translation, content) in mailing.translations.iter().zip(&new.contents) {
        if store::keep_content(tx, translation.content, content)? {
            // Templates compile once for all mailings with this content, so that errors surface before the first recipient.
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
    store::save(tx, &mailing)?;
    Ok(id)
}

/// Rejects a direct send whose first recipient would be skipped, so that the caller learns of it at once.
pub fn require_sendable(tx: &impl Read, digester: &Digester, id: MailingId) -> Result<(), Failure> {
    let (Some(mailing), Some(recipient)) = (store::by_id(tx, id)?, store::recipient(tx, id, 0)?) else {
        return Err(Failure::internal("a mailing that was just created has its first recipient"));
    };
    let Some(profile) = merge_data::load(tx, &mailing, 0, &recipient)? else { return Ok(()) };
    let topic = match (mailing.topic, mailing.project) {
        (Some(topic), Some(project)) => Some(topics::find(tx, project, topic)?),
        _ => None,
    };
    if let Some(why) = eligibility::skip_reason(tx, digester, &mailing, topic.as_ref(), &profile)? {
        let detail = format!("recipientEmail: this address cannot be mailed: {}.", why.word().replace('_', " "));
        return Err(Failure::because(Code::RecipientNotSendable, detail).with(json!({ "reason": why.word() })));
    }
    let needs = store::needs(tx, mailing.translation_for(&recipient).content)?;
    let needs = Template::compile(&needs, merge::Kind::Text).map_err(Failure::internal)?;
    let variables = planning::variables(&mailing);
    let tags = match (&profile.contact, mailing.project) {
        (Some(contact), Some(project)) => TagNames::new(tx, project).of(&contact.tags)?,
        _ => Vec::new(),
    };
    let values = MergeData { profile: &profile, variables: &variables, tags: &tags, links: None };
    match needs.missing(&values) {
        Some(field) => {
            let detail = format!("no value for {field}: set one, or write {{{{ {field} | default(\"…\") }}}}");
            Err(Failure::field("variables", detail))
        }
        None => Ok(()),
    }
}

/// Builds the mailing for this request.
pub fn draft(new: &NewMailing, id: MailingId, now: Timestamp) -> Mailing {
    let audience = new.to.audience();
    let direct = audience == Audience::Addresses;
    Mailing {
        id,
        account: new.account,
        project: new.project,
        kind: new.kind,
        state: if direct { State::Sending } else { State::Planning },
        plan: if direct { Plan::Done } else { Plan::Selecting },
        from: new.from.clone(),
        conversation: new.contents.first().and_then(|content| content.conversation),
        translations: new.contents.iter().map(|content| translation(new.account, content)).collect(),
        audience,
        transactional: new.transactional,
        topic: new.topic,
        variables: serde_json::Value::Object(new.variables.clone()).to_string(),
        tracking: new.tracking,
        utm: None,
        // A direct send never goes out twice, whatever the setting for campaigns is.
        unknown: if matches!(new.kind, Kind::Campaign(_)) { new.unknown } else { Policy::Hold },
        local: new.local.clone(),
        hold_number: 0,
        created_at: now,
        updated_at: now,
    }
}

fn translation(account: AccountId, content: &Content) -> Translation {
    Translation {
        language: content.language.clone(),
        email: content.email,
        subject: content.subject.clone(),
        content: store::content_id(account, content),
    }
}

/// Returns the UTM parameters for links. They are fixed here, so later changes to the domain's settings do not affect this mailing.
fn utm(tx: &impl Read, new: &NewMailing) -> Result<Option<Utm>, Failure> {
    let Ok(from) = EmailAddress::parse(&new.from.address) else { return Ok(None) };
    let stream = if new.transactional { Stream::Transactional } else { Stream::Marketing };
    let usual = domains::usual_utm(tx, new.account, &from, stream)?;
    Ok(Utm::resolve(new.utm.as_ref(), usual.as_ref(), from.domain(), new.campaign_name.as_deref()))
}

/// Adds a row for every address. Duplicates and invalid addresses get a row with the reason they are skipped.
fn add_addresses(tx: &mut WriteTx<'_>, mailing: &Mailing, addresses: Vec<Address>) -> Result<(), Failure> {
    let mut seen = HashSet::new();
    for (number, address) in addresses.into_iter().enumerate() {
        let delivery = match EmailAddress::parse(&address.email) {
            Err(_) => Delivery::Skipped { why: Skip::InvalidAddress },
            Ok(email) if !seen.insert(email.normalised()) => Delivery::Skipped { why: Skip::DuplicateAddress },
            Ok(_) => Delivery::Queued,
        };
        store::count(tx, mailing, delivery.counter(), 1)?;
        let number = u32::try_from(number).expect("a request has few addresses");
        let mut recipient = Recipient { address: Some(address), delivery, translation: 0 };
        if mailing.translations.len() > 1 {
            let profile = merge_data::load(tx, mailing, number, &recipient)?;
            recipient.translation = mailing.translation_in(profile.as_ref().and_then(RecipientProfile::language));
        }
        store::add(tx, mailing.id, number, &recipient);
    }
    Ok(())
}
