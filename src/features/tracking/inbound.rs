//! Handles inbound mail about sent messages: a signed token identifies the recipient, and the tables in `model.rs` define the effects.
//!
//! The content of inbound mail is unverified. Mail without a token of a sent message is ignored. Mail with a token can report only what a
//! reader of the message could report: that the message bounced, that it is spam, or that the reader wants to unsubscribe.

use super::bounces::{self, SuppressionList};
use super::recipient::MessageRecipient;
use super::unsubscribe::{self, Scope};
use crate::engine::api::{Engine, Failure};
use crate::engine::mail::inbound::{self, Action, Envelope, Incoming, Mark, MessageKind, RecipientReport};
use crate::engine::store::{Result as StoreResult, WriteTx};
use crate::features::contacts::Source;
use crate::features::sending;
use crate::features::sending::token::{Purpose, Token, Tokens};
use crate::features::suppressions::Source as SaidBy;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// The inbound message is about a message to one of this installation's recipients, and was handled.
    Handled,
    /// The inbound message has no effect: for example, it has no valid token, is an automatic reply, or was written by a person.
    Ignored,
}

/// Returns whether this installation receives mail for an address. Mail to any other address is rejected.
pub fn is_ours(engine: &Engine, address: &str) -> bool {
    inbound::Token::of_address(address).is_some_and(|token| token_of(engine, &token).is_some())
}

/// Handles a raw inbound message. Its effects are on disk when this function returns.
pub async fn receive(engine: &Engine, raw: &[u8], envelope: &Envelope<'_>) -> Result<Received, Failure> {
    let ignored = |why: &'static str| {
        tracing::debug!(bytes = raw.len(), why, "inbound message ignored");
        Ok(Received::Ignored)
    };
    let Ok(incoming) = inbound::read(raw, envelope) else {
        // Accept an unreadable message, because it would also be unreadable at the next attempt.
        return ignored("not readable");
    };
    let Some((mark, token)) = incoming.tokens.iter().find_map(|text| Some((text.mark, token_of(engine, text)?))) else {
        return ignored("no token of this installation");
    };
    let (list, kind) = (SuppressionList::new(engine), incoming.nature.word());
    let take = move |tx: &mut WriteTx<'_>| {
        let Some(recipient) = MessageRecipient::find(tx, token.mailing, token.number)? else { return Ok(Received::Ignored) };
        handle(tx, &list, &recipient, (mark, token.purpose), &incoming)
    };
    let received = engine.data(token.environment).store.write(take).await??;
    tracing::debug!(mailing = %token.mailing, number = token.number, kind, ?received, "inbound message");
    Ok(received)
}

/// Parses the token in an address. Returns the token if this installation signed it and its purpose matches the kind of the address, which
/// is for bounces or for unsubscribing.
fn token_of(engine: &Engine, text: &inbound::Token) -> Option<Token> {
    let token = Tokens::new(&engine.seal).read_local_part(&text.text)?;
    let fits = match text.mark {
        Mark::Bounce => token.purpose == Purpose::Bounce,
        Mark::Unsubscribe => token.purpose == Purpose::Unsubscribe,
    };
    fits.then_some(token)
}

fn handle(
    tx: &mut WriteTx<'_>,
    list: &SuppressionList,
    recipient: &MessageRecipient,
    (mark, purpose): (Mark, Purpose),
    incoming: &Incoming,
) -> StoreResult<Received> {
    match &incoming.nature {
        MessageKind::Report(outcomes) => {
            // A report applies to the message's only recipient, even if a forwarding server reports a different address.
            let worst = outcomes.iter().find(|outcome| outcome.action == Action::Failed).or(outcomes.first());
            worst.map_or(Ok(Received::Ignored), |outcome| report(tx, list, recipient, outcome))
        }
        MessageKind::Complaint(complaint) => {
            sending::evidence(tx, recipient.mailing.id, recipient.number, "a complaint")?;
            bounces::complained(tx, list, recipient, (&complaint.kind, SaidBy::Inbound))?;
            Ok(Received::Handled)
        }
        MessageKind::Other if mark == Mark::Unsubscribe && purpose == Purpose::Unsubscribe => {
            unsubscribe::leave(tx, list, recipient, Scope::List, Source::Mailto)?;
            Ok(Received::Handled)
        }
        MessageKind::Automatic | MessageKind::Other => Ok(Received::Ignored),
    }
}

fn report(
    tx: &mut WriteTx<'_>,
    list: &SuppressionList,
    recipient: &MessageRecipient,
    outcome: &RecipientReport,
) -> StoreResult<Received> {
    // A report about the message shows that the server received the message.
    sending::evidence(tx, recipient.mailing.id, recipient.number, "a report")?;
    if outcome.action != Action::Failed {
        return Ok(Received::Handled);
    }
    bounces::bounced(tx, list, recipient, (outcome.class.into(), SaidBy::Inbound), &outcome.diagnostic)?;
    Ok(Received::Handled)
}
