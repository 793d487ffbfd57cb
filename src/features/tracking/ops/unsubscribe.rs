//! Unsubscribes a recipient with one request, sent by the unsubscribe button of an email client (RFC 8058) or by a button on the
//! unsubscribe page.

use bytes::Bytes;
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::engine::api::call::body_failure;
use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::{Bare, Context, Failure, Media, Operation, Raw, RawRequest, Spec, public};
use crate::engine::store::WriteTx;
use crate::features::contacts::Source;
use crate::features::sending::token::Purpose;
use crate::features::tracking::bounces::SuppressionList;
use crate::features::tracking::link_visit::{self, LinkVisit};
use crate::features::tracking::links::MessageLink;
use crate::features::tracking::pages::RecipientPage;
use crate::features::tracking::recipient::MessageRecipient;
use crate::features::tracking::unsubscribe::{self, Scope};
use crate::vocab::limits;

pub struct Unsubscribe;

impl Operation for Unsubscribe {
    const SPEC: Spec = Spec::post("tracking.unsubscribe", "/u/{token}", public())
        .summary("Unsubscribe with one click")
        .about(
            "Email clients send this request for one-click unsubscribe (List-Unsubscribe-Post, RFC 8058). The body is a URL-encoded form \
             or multipart/form-data. The request needs no cookie or key, and is never redirected. For a mailing with a topic, the \
             request unsubscribes the recipient from that topic; for any other mailing, from everything. It takes effect before \
             the response, including for queued messages.",
        );
    type Input = MessageLink;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "token": "BGY50c2rT0a1kLm9pQxYzAAAAB0w2ZkV1c3RPZg" }), Bare)
    }
}

/// The button that the recipient used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Button {
    /// The button of the email client.
    OneClick,
    /// A button on the unsubscribe page, with the mail that it unsubscribes from.
    Page(Scope),
}

impl Raw for Unsubscribe {
    const MEDIA: Media = Media::PAGE;

    async fn run(context: Context, input: MessageLink, request: RawRequest) -> Result<Reply, Failure> {
        // If the token is invalid, the body is not read.
        let visit = link_visit::resolve(&context, &input.token, &[Purpose::Unsubscribe], &request.headers)?;
        let Some(LinkVisit { token, recipient, reader, tx }) = visit else {
            return Ok(link_visit::gone(&context, &request.headers));
        };
        let max = limits::CHOICES_FORM_BYTES_MAX;
        let body = request.body.collect(max).await.map_err(|error| body_failure(error, max))?;
        let button = button(&body);
        let topic = unsubscribe::list(&tx, &recipient)?.map(|topic| topic.name);
        drop(tx);
        let (scope, source) = match button {
            Button::OneClick => (Scope::List, Source::OneClick),
            Button::Page(scope) => (scope, Source::Link),
        };
        let list = SuppressionList::new(&context.engine);
        let leave = move |tx: &mut WriteTx<'_>| -> Result<(), Failure> {
            // Load the recipient again inside the transaction, so that the change applies to the current state.
            let Some(recipient) = MessageRecipient::find(tx, token.mailing, token.number)? else { return Ok(()) };
            Ok(unsubscribe::leave(tx, &list, &recipient, scope, source)?)
        };
        context.engine.data(token.environment).store.write_essential(leave).await??;
        if button == Button::OneClick {
            return Ok(done());
        }
        let topic = topic.filter(|_| scope == Scope::List);
        Ok(RecipientPage::Left { topic }.reply(&reader, context.engine.random.as_ref()))
    }
}

/// Returns the button that sent the body. Only Mailmill's own page sends a `scope`. Any other body, even an invalid one, is treated as a
/// request from an email client's button: asking a recipient again after a clear request would be worse than accepting an unusual body.
fn button(body: &[u8]) -> Button {
    let fields: Vec<(String, String)> = serde_urlencoded::from_bytes(body).unwrap_or_default();
    match fields.iter().find(|(name, _)| name == "scope").map(|(_, value)| value.as_str()) {
        Some("topic") => Button::Page(Scope::List),
        Some(_) => Button::Page(Scope::Everything),
        None => Button::OneClick,
    }
}

fn done() -> Reply {
    const TEXT: &str = "Unsubscribed.\n";
    let mut headers = HeaderMap::with_capacity(3);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(TEXT.len()));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(Bytes::from_static(TEXT.as_bytes())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_page_sends_a_scope() {
        let multipart = b"--x\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--x--\r\n";
        for (body, expected) in [
            (b"List-Unsubscribe=One-Click".as_slice(), Button::OneClick),
            (multipart, Button::OneClick),
            (b"", Button::OneClick),
            (b"\xff%%%", Button::OneClick),
            (b"scope=topic", Button::Page(Scope::List)),
            (b"scope=all", Button::Page(Scope::Everything)),
        ] {
            assert_eq!(button(body), expected);
        }
    }
}
