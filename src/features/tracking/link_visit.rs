//! Resolves the token in a link to the recipient who visits the page, and to the recipient's language.

use http::HeaderMap;

use super::links;
use super::pages::{Reader, RecipientPage};
use super::recipient::MessageRecipient;
use crate::engine::api::http_types::Reply;
use crate::engine::api::{Context, Failure};
use crate::engine::store::ReadTx;
use crate::features::projects;
use crate::features::sending::token::{Purpose, Token, Tokens};

/// A recipient's visit to a page through a link in a message.
pub struct LinkVisit {
    pub token: Token,
    pub recipient: MessageRecipient,
    pub reader: Reader,
    pub tx: ReadTx,
}

/// Returns the visit of the recipient whom the token `text` identifies, if the token is valid for one of these purposes and the recipient
/// still exists.
pub fn resolve(context: &Context, text: &str, purposes: &[Purpose], headers: &HeaderMap) -> Result<Option<LinkVisit>, Failure> {
    let Some(token) = links::read(&context.engine, text).filter(|token| purposes.contains(&token.purpose)) else {
        return Ok(None);
    };
    let tx = context.engine.data(token.environment).store.read();
    let Some(recipient) = MessageRecipient::find(&tx, token.mailing, token.number)? else { return Ok(None) };
    let Some(email) = recipient.email().map(str::to_owned) else { return Ok(None) };
    let brand = match recipient.owner() {
        (account, Some(project)) => projects::find(&tx, account, project)?.map(|project| project.name).unwrap_or_default(),
        (_, None) => recipient.mailing.from.name.clone().unwrap_or_default(),
    };
    let brand = if brand.is_empty() { recipient.mailing.from.address.clone() } else { brand };
    let choices = Token { purpose: Purpose::Preferences, ..token };
    let reader = Reader {
        brand,
        email,
        language: recipient.contact.as_ref().and_then(|contact| contact.profile.language.clone()),
        token: text.to_owned(),
        preferences: recipient.contact.as_ref().map(|_| Tokens::new(&context.engine.seal).link(choices)),
        ..Reader::anonymous(headers)
    };
    Ok(Some(LinkVisit { token, recipient, reader, tx }))
}

/// Returns the page that explains that a link is no longer valid.
pub fn gone(context: &Context, headers: &HeaderMap) -> Reply {
    RecipientPage::Gone.reply(&Reader::anonymous(headers), context.engine.random.as_ref())
}
