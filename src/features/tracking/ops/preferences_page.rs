//! Returns the page on which a recipient chooses which mail to receive.

use serde_json::{Value, json};

use crate::engine::api::http_types::Reply;
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, public};
use crate::engine::store::Read;
use crate::features::sending::token::Purpose;
use crate::features::tracking::link_visit::{self, LinkVisit};
use crate::features::tracking::links::MessageLink;
use crate::features::tracking::pages::RecipientPage;
use crate::features::tracking::recipient::MessageRecipient;
use crate::features::tracking::unsubscribe;
use crate::vocab::contact_status::Status;

pub struct PreferencesPage;

/// The purposes of tokens that open the preferences page: the page's own purpose, and the purpose of the unsubscribe page, which links
/// to the preferences page.
pub const PURPOSES: [Purpose; 2] = [Purpose::Preferences, Purpose::Unsubscribe];

impl Operation for PreferencesPage {
    const SPEC: Spec = Spec::get("tracking.preferences_page", "/u/{token}/preferences", public())
        .summary("Show a recipient's choices")
        .about("Shows the project's public topics, and the private topics that the recipient is subscribed to. Opening the page changes no data.");
    type Input = MessageLink;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "token": "BmY50c2rT0a1kLm9pQxYzAAAAB0w2ZkV1c3RPZg" }), Bare)
    }
}

impl Raw for PreferencesPage {
    const MEDIA: Media = Media::PAGE;

    async fn run(context: Context, input: MessageLink, request: RawRequest) -> Result<Reply, Failure> {
        let Some(LinkVisit { recipient, reader, tx, .. }) =
            link_visit::resolve(&context, &input.token, &PURPOSES, &request.headers)?
        else {
            return Ok(link_visit::gone(&context, &request.headers));
        };
        Ok(page(&tx, &recipient, false)?.reply(&reader, context.engine.random.as_ref()))
    }
}

/// Returns the preferences page with the recipient's current choices.
pub fn page(tx: &impl Read, recipient: &MessageRecipient, is_saved: bool) -> Result<RecipientPage, Failure> {
    let status = recipient.contact.as_ref().map(|contact| contact.status);
    Ok(RecipientPage::Preferences {
        topics: unsubscribe::choices(tx, recipient)?,
        is_out: status != Some(Status::Subscribed),
        may_return: status == Some(Status::Unsubscribed),
        is_saved,
    })
}
