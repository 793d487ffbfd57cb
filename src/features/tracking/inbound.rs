//! Mail that comes back: whom it is about is told by a token of ours in it, what it leads to by the tables of this feature.
//!
//! Everything in such mail is a claim by a stranger. Without a token that only the message held, nothing is believed; with one, only
//! what the sender of that message could say of it anyway: that it bounced, that it was called spam, that its reader leaves.

use super::bounces::{self, SuppressionList};
use super::recipient::MessageRecipient;
use super::unsubscribe::{self, Scope};
use crate::engine::api::{Engine, Failure};
use crate::engine::mail::inbound::{self, Action, Envelope, Incoming, Mark, MessageKind, Outcome};
use crate::engine::store::{Result as StoreResult, WriteTx};
use crate::features::contacts::Source;
use crate::features::sending;
use crate::features::sending::token::{Purpose, Token, Tokens};
use crate::features::suppressions::Source as SaidBy;

/// What became of a message that came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// It was about a recipient of ours, and is taken care of.
    Handled,
    /// It says nothing that concerns us: no token of ours, an automatic reply, a person's letter.
    Ignored,
}

/// Whether an address is one of ours: mail to any other is not taken in.
pub fn is_ours(engine: &Engine, address: &str) -> bool {
    inbound::Token::of_address(address).is_some_and(|token| token_of(engine, &token).is_some())
}

/// Take in a message as it came. When this returns, what it leads to is durable.
pub async fn receive(engine: &Engine, raw: &[u8], envelope: &Envelope<'_>) -> Result<Received, Failure> {
    let ignored = |why: &'static str| {
        tracing::debug!(bytes = raw.len(), why, "inbound message ignored");
        Ok(Received::Ignored)
    };
    let Ok(incoming) = inbound::read(raw, envelope) else {
        // What cannot be read would not be readable at the next try either.
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

/// The token, if it is one of ours for what its address says.
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
            // A report on one message is about its one recipient, whatever address a forwarding server had in the end.
            let worst = outcomes.iter().find(|outcome| outcome.action == Action::Failed).or(outcomes.first());
            worst.map_or(Ok(Received::Ignored), |outcome| report(tx, list, recipient, outcome))
        }
        MessageKind::Complaint(complaint) => {
            sending::evidence(tx, recipient.mailing.id, recipient.number, "a complaint")?;
            bounces::complained(tx, list, recipient, &complaint.kind)?;
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
    outcome: &Outcome,
) -> StoreResult<Received> {
    // Whoever reports on the message has had it.
    sending::evidence(tx, recipient.mailing.id, recipient.number, "a report")?;
    if outcome.action != Action::Failed {
        return Ok(Received::Handled);
    }
    bounces::bounced(tx, list, recipient, (outcome.class.into(), SaidBy::Inbound), &outcome.diagnostic)?;
    Ok(Received::Handled)
}
