//! The page that asks whether to unsubscribe. Looking at it changes nothing: mail software follows links too.

use serde_json::{Value, json};

use crate::engine::api::wire::Reply;
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, public};
use crate::features::sending::token::Purpose;
use crate::features::tracking::leaving;
use crate::features::tracking::links::Link;
use crate::features::tracking::pages::Page;
use crate::features::tracking::visitors::{self, Guest};

/// `tracking.unsubscribe_page`
pub struct UnsubscribePage;

impl Operation for UnsubscribePage {
    const SPEC: Spec = Spec::get("tracking.unsubscribe_page", "/u/{token}", public())
        .summary("Ask whether to unsubscribe")
        .about("The page behind the link to unsubscribe in a message. Changes nothing.");
    type Input = Link;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "token": "BGY50c2rT0a1kLm9pQxYzAAAAB0w2ZkV1c3RPZg" }), Bare)
    }
}

impl Raw for UnsubscribePage {
    const MEDIA: Media = Media::PAGE;

    async fn run(context: Context, input: Link, request: RawRequest) -> Result<Reply, Failure> {
        let random = context.engine.random.clone();
        let Some(Guest { person, tx, reader, .. }) =
            visitors::guest(&context, &input.token, &[Purpose::Unsubscribe], &request.headers)?
        else {
            return Ok(visitors::gone(&context, &request.headers));
        };
        let topic = leaving::list(&tx, &person)?.map(|topic| topic.name);
        Ok(Page::Ask { topic }.reply(&reader, random.as_ref()))
    }
}
