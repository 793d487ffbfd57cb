//! Returns a message as a web page, for recipients who prefer to read the message in a browser.

use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, public};
use crate::features::sending;
use crate::features::sending::token::{Purpose, Tokens};
use crate::features::tracking::link_visit::{self, LinkVisit};
use crate::features::tracking::links::MessageLink;

pub struct View;

impl Operation for View {
    const SPEC: Spec = Spec::get("tracking.view", "/v/{token}", public()).summary("Show a message as a page").about(
        "The link that the merge field `view_url` adds to a message opens this page. The page shows the message's HTML with the \
         recipient's merge fields filled in, without scripts. Opening the page does not count as an open.",
    );
    type Input = MessageLink;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "token": "CGY50c2rT0a1kLm9pQxYzAAAAB0w2ZkV1c3RPZg" }), Bare)
    }
}

impl Raw for View {
    const MEDIA: Media = Media::PAGE;

    async fn run(context: Context, input: MessageLink, request: RawRequest) -> Result<Reply, Failure> {
        let Some(LinkVisit { token, recipient, tx, .. }) =
            link_visit::resolve(&context, &input.token, &[Purpose::View], &request.headers)?
        else {
            return Ok(link_visit::gone(&context, &request.headers));
        };
        let (seal, base) = (Tokens::new(&context.engine.seal), context.engine.base_url().trim_end_matches('/').to_owned());
        // Rendering a long template takes milliseconds, so it runs outside the async executor.
        let draw = move || {
            let page = sending::web::page(
                &tx,
                (&seal, &base, token.environment),
                &recipient.mailing,
                token.number,
                &recipient.recipient,
            );
            page.map_err(Failure::from)
        };
        let html = tokio::task::spawn_blocking(draw).await.map_err(Failure::internal)??;
        Ok(html.map_or_else(|| link_visit::gone(&context, &request.headers), reply))
    }
}

fn reply(html: String) -> Reply {
    let mut headers = HeaderMap::with_capacity(3);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    // The page shows customer content on Mailmill's domain, so it must not run scripts or submit forms. Its links may be opened.
    let policy = "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src https: data:; style-src 'unsafe-inline'";
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(html.into()) }
}
