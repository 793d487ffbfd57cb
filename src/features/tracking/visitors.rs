//! Whoever opens a page behind a link in a message: the recipient that the token names, and how to speak to them.

use http::HeaderMap;

use super::links;
use super::pages::{Page, Reader};
use super::person::Person;
use crate::engine::api::wire::Reply;
use crate::engine::api::{Context, Failure};
use crate::engine::store::ReadTx;
use crate::features::projects;
use crate::features::sending::token::{Purpose, Token, Tokens};

/// A recipient at a page.
pub struct Guest {
    pub token: Token,
    pub person: Person,
    pub reader: Reader,
    pub tx: ReadTx,
}

/// The recipient that `text` names, if it is a token for one of these purposes and the recipient is still there.
pub fn guest(context: &Context, text: &str, purposes: &[Purpose], headers: &HeaderMap) -> Result<Option<Guest>, Failure> {
    let Some(token) = links::read(&context.engine, text).filter(|token| purposes.contains(&token.purpose)) else {
        return Ok(None);
    };
    let tx = context.engine.world(token.environment).store.read();
    let Some(person) = Person::find(&tx, token.mailing, token.number)? else { return Ok(None) };
    let Some(email) = person.email().map(str::to_owned) else { return Ok(None) };
    let brand = match person.place() {
        (account, Some(project)) => projects::find(&tx, account, project)?.map(|project| project.name).unwrap_or_default(),
        (_, None) => person.mailing.from.name.clone().unwrap_or_default(),
    };
    let brand = if brand.is_empty() { person.mailing.from.address.clone() } else { brand };
    let choices = Token { purpose: Purpose::Preferences, ..token };
    let reader = Reader {
        brand,
        email,
        language: person.contact.as_ref().and_then(|contact| contact.language.clone()),
        token: text.to_owned(),
        preferences: person.contact.as_ref().map(|_| Tokens::new(&context.engine.seal).link(choices)),
        ..Reader::stranger(headers)
    };
    Ok(Some(Guest { token, person, reader, tx }))
}

/// The page for a link that leads nowhere.
pub fn gone(context: &Context, headers: &HeaderMap) -> Reply {
    Page::Gone.reply(&Reader::stranger(headers), context.engine.random.as_ref())
}
