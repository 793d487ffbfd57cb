//! Shows an email as a page without an API key: public emails to anyone, unlisted emails to anyone who has the signed link.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::clock::Timestamp;
use crate::engine::api::http_types::Reply;
use crate::engine::api::operation::Media;
use crate::engine::api::{Bare, Context, Engine, Failure, Operation, Raw, RawRequest, Spec, public, untrusted_html};
use crate::engine::store::ReadTx;
use crate::features::emails::model::{Part, Visibility};
use crate::features::emails::{postal_address, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, EmailId};

pub struct Page;

/// The parts of the link to an email's page.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PageLink {
    pub account_id: AccountId,
    pub email_id: EmailId,
    /// The token from the link; required for an unlisted email.
    pub token: Option<String>,
}

/// The expiry time in the links to unlisted emails. It is the latest time that a token can contain, so that a link works as long as the
/// email exists.
const NEVER: Timestamp = Timestamp(253_402_300_799_000);

impl Operation for Page {
    const SPEC: Spec = Spec::get("emails.page", "/v1/shared/{accountId}/{emailId}", public())
        .summary("Show a shared email as a page")
        .about("Needs no API key. Shows emails with the visibility `public` or `unlisted`. The link is the email's `shareUrl`.")
        .fails(&[Code::NotFound]);
    type Input = PageLink;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        let input = json!({
            "accountId": "66f1a2b3d4e5f60718293a40", "emailId": "66f1a2b3d4e5f60718293a4e", "token": "253402300799.5d41",
        });
        (input, Bare)
    }
}

impl Raw for Page {
    const MEDIA: Media = Media::gives("text/html; charset=utf-8");

    async fn run(context: Context, input: PageLink, _: RawRequest) -> Result<Reply, Failure> {
        // The link does not name the environment, so both are searched. An ID exists in only one of them.
        for data in context.engine.environments() {
            if let Some(html) = html(&data.store.read(), &context.engine, &input)? {
                return Ok(untrusted_html::document(&html, "private, max-age=60", untrusted_html::Images::Everywhere));
            }
        }
        Err(Failure::because(
            Code::NotFound,
            "The email does not exist, is not ready or is not shared, or the link is incomplete. Copy the whole link, or ask the \
             sender for a new one.",
        ))
    }
}

fn html(tx: &ReadTx, engine: &Engine, link: &PageLink) -> Result<Option<String>, Failure> {
    let Some(email) = store::email(tx, link.account_id, link.email_id)? else { return Ok(None) };
    let is_open = match email.visibility {
        Visibility::Public => true,
        Visibility::Unlisted => {
            let token = link.token.as_deref().unwrap_or_default();
            engine.links.check(&path(link.account_id, link.email_id), token, engine.clock.now())
        }
        Visibility::Private => false,
    };
    if !is_open {
        return Ok(None);
    }
    let html = store::text(tx, email.id, email.version, Part::Html)?;
    Ok(html.map(|html| postal_address::in_markup(tx, email.project, html)).transpose()?)
}

fn path(account: AccountId, email: EmailId) -> String {
    format!("/v1/shared/{account}/{email}")
}

/// Returns the URL that shows an email without an API key; `None` if the email is private.
pub fn share_url(engine: &Engine, account: AccountId, email: EmailId, visibility: Visibility) -> Option<String> {
    let path = path(account, email);
    match visibility {
        Visibility::Private => None,
        Visibility::Public => Some(format!("{}{path}", engine.base_url())),
        Visibility::Unlisted => Some(format!("{}{path}?token={}", engine.base_url(), engine.links.sign(&path, NEVER))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::emails::generation;
    use crate::testing::TestApp;
    use crate::vocab::environment::Environment;

    #[test]
    fn the_visibility_determines_who_can_see_an_email_without_a_key() {
        let app = TestApp::new();
        for (visibility, with_token, without) in [("private", 404, 404), ("unlisted", 200, 404), ("public", 200, 200)] {
            let wanted = json!({ "prompt": "Hello", "languages": ["en"], "count": 1, "visibility": visibility });
            let started = app.post_in("/v1/projects/emails/generate", wanted).data();
            app.clock.advance_ms(crate::vocab::limits::SITE_IMPORT_AWAITED_MS);
            while app.wait(generation::step(app.engine().clone(), Environment::Test)).expect("the stage succeeds") {}
            let status = app
                .get(&format!(
                    "/v1/projects/emails/{}/status",
                    started["conversationId"].as_str().expect("the field is a string")
                ))
                .data();
            let email = &status["result"]["emails"][0];
            let id = EmailId::parse(email["id"].as_str().expect("the field is a string")).expect("the ID is valid");
            let account = app.account();
            let engine = app.engine();
            let token = engine.links.sign(&path(account, id), NEVER);
            assert_eq!(app.download(&format!("{}?token={token}", path(account, id))).0, with_token, "{visibility}");
            assert_eq!(app.download(&path(account, id)).0, without, "{visibility}");
            assert_eq!(
                email["shareUrl"].as_str(),
                share_url(engine, account, id, serde_json::from_value(json!(visibility)).expect("the visibility is valid"))
                    .as_deref()
            );
        }
    }
}
