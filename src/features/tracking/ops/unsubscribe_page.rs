//! Returns the page that asks whether to unsubscribe. Viewing the page does not unsubscribe, because mail software also follows links.

use serde_json::{Value, json};

use crate::engine::api::http_types::Reply;
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, public};
use crate::features::sending::token::Purpose;
use crate::features::tracking::link_visit::{self, LinkVisit};
use crate::features::tracking::links::MessageLink;
use crate::features::tracking::pages::RecipientPage;
use crate::features::tracking::unsubscribe;

pub struct UnsubscribePage;

impl Operation for UnsubscribePage {
    const SPEC: Spec = Spec::get("tracking.unsubscribe_page", "/u/{token}", public())
        .summary("Show the unsubscribe page")
        .about("The unsubscribe link in a message opens this page. Opening the page does not unsubscribe the recipient.");
    type Input = MessageLink;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "token": "BGY50c2rT0a1kLm9pQxYzAAAAB0w2ZkV1c3RPZg" }), Bare)
    }
}

impl Raw for UnsubscribePage {
    const MEDIA: Media = Media::PAGE;

    async fn run(context: Context, input: MessageLink, request: RawRequest) -> Result<Reply, Failure> {
        let random = context.engine.random.clone();
        let Some(LinkVisit { recipient, tx, reader, .. }) =
            link_visit::resolve(&context, &input.token, &[Purpose::Unsubscribe], &request.headers)?
        else {
            return Ok(link_visit::gone(&context, &request.headers));
        };
        let topic = unsubscribe::list(&tx, &recipient)?.map(|topic| topic.name);
        Ok(RecipientPage::Ask { topic }.reply(&reader, random.as_ref()))
    }
}
