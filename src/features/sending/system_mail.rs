//! System mail to users of the installation: invitations, password-reset links, and messages about the backup.
//!
//! The emails are sent immediately and are not stored, so they need no mailing and no recipient rows.

use std::sync::Arc;

use data_encoding::HEXLOWER;

use super::signing::signer;
use super::transport::{MailRoute, route};
use crate::base::email::EmailAddress;
use crate::engine::api::{Engine, Failure};
use crate::engine::mail::body::Encoded;
use crate::engine::mail::delivery::{BeforeDot, DeliveryOutcome, DotDecision, Envelope, Handoff};
use crate::engine::mail::headers::Mailbox;
use crate::engine::mail::message::OutgoingMessage;
use crate::features::accounts;
use crate::features::domains::{self, Stream};
use crate::vocab::environment::Environment;

pub struct SystemEmail {
    pub to: EmailAddress,
    pub subject: String,
    pub text: String,
}

/// Sends an email. The inner error states why the email could not be sent.
pub async fn send(engine: &Arc<Engine>, email: SystemEmail) -> Result<Result<(), String>, Failure> {
    let Some(from) = engine.settings.accounts.mail_from.clone() else {
        return Ok(Err("the setting accounts.mail_from is missing; set it to the sender's address".into()));
    };
    let MailRoute::Transport(transport) = route(engine, Environment::Live) else {
        return Ok(Err("no mail transport is in use; set mail.relay or mail.direct, and do not set mail.development".into()));
    };
    let signer = match accounts::installation(engine)? {
        Some(account) => {
            let tx = engine.data(Environment::Live).store.read();
            let domain = domains::for_sender(&tx, &engine.seal, account, &from, Stream::Transactional)?;
            domain.as_ref().map(signer).transpose()?
        }
        None => None,
    };
    let now = engine.clock.now();
    let id = format!("{}@{}", HEXLOWER.encode(&engine.random.bytes::<16>()), from.domain_ascii());
    let text = Encoded::new(&email.text);
    let outgoing = OutgoingMessage {
        from: Mailbox { name: "Mailmill", address: &from },
        to: Mailbox { name: "", address: &email.to },
        reply_to: None,
        subject: &email.subject,
        text: Some(&text),
        html: None,
        images: &[],
        message_id: &id,
        date: now,
        list: None,
        feedback_id: None,
        is_automatic: true,
        extra: &[],
    };
    let mut message = outgoing.write();
    if let Some(signer) = signer {
        let signatures = signer.sign(&message.bytes, now);
        message.put_first(&signatures);
    }
    let envelope = Envelope { sender: from.as_str().to_owned(), recipient: email.to, smtputf8: message.needs_smtputf8 };
    Ok(match transport.deliver(&envelope, &message.bytes, &mut GoAhead).await {
        DeliveryOutcome::Accepted { .. } => Ok(()),
        DeliveryOutcome::Deferred { cause, .. } | DeliveryOutcome::Unknown { cause } => Err(cause.to_string()),
        DeliveryOutcome::Refused { reply, .. } => Err(reply.to_string()),
        DeliveryOutcome::Abandoned => Err("the delivery was stopped before the message was sent; try again".into()),
    })
}

/// A [`BeforeDot`] that always lets the dot be sent, because system mail needs no claim.
struct GoAhead;

impl BeforeDot for GoAhead {
    async fn ready(&mut self, _: &Handoff) -> DotDecision {
        DotDecision::Go
    }
}
