//! Records a click on a link in a message, and redirects the visitor to the link's destination.

use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, HeaderMap, HeaderValue, LOCATION};
use serde_json::{Value, json};

use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, public};
use crate::engine::store::ReadTx;
use crate::features::sending::token::{Purpose, Token};
use crate::features::tracking::link_target;
use crate::features::tracking::links::{self, MessageLink};
use crate::features::tracking::pages::{Reader, RecipientPage};
use crate::vocab::ids::MailingId;

pub struct Click;

impl Operation for Click {
    const SPEC: Spec = Spec::get("tracking.click", "/t/c/{token}", public()).summary("Follow a link in a message").about(
        "Redirects to the stored address of the link, with the recipient's merge fields filled in. The destination never comes \
                from the request, so this is not an open redirect.",
    );
    type Input = MessageLink;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "token": "AmY50c2rT0a1kLm9pQxYzAAAAB0w2AAJkV1c3RPZg" }), Bare)
    }
}

impl Raw for Click {
    const MEDIA: Media = Media::PAGE;

    async fn run(context: Context, input: MessageLink, request: RawRequest) -> Result<Reply, Failure> {
        let Some((token, link)) = links::read(&context.engine, &input.token).and_then(clicked) else {
            return Ok(gone(&context, &request));
        };
        let tx: ReadTx = context.engine.data(token.environment).store.read();
        let Some(target) = target(&tx, token.mailing, token.number, link)? else { return Ok(gone(&context, &request)) };
        links::note(&context.engine, token, Some(link), context.now(), &request);
        let mut headers = HeaderMap::with_capacity(3);
        headers.insert(LOCATION, HeaderValue::from_str(&target).map_err(Failure::internal)?);
        headers.insert(CONTENT_LENGTH, HeaderValue::from(0));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        Ok(Reply { status: StatusCode::FOUND, headers, body: ReplyBody::Whole(Default::default()) })
    }
}

fn clicked(token: Token) -> Option<(Token, u16)> {
    if let Purpose::Click(link) = token.purpose { Some((token, link)) } else { None }
}

fn target(tx: &ReadTx, mailing: MailingId, number: u32, link: u16) -> Result<Option<String>, Failure> {
    Ok(link_target::of(tx, mailing, number, link)?)
}

fn gone(context: &Context, request: &RawRequest) -> Reply {
    RecipientPage::Gone.reply(&Reader::anonymous(&request.headers), context.engine.random.as_ref())
}
