//! Receives a request from a mail service.

use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::secret::Secret;
use crate::engine::access::url_token::UrlToken;
use crate::engine::api::call::body_failure;
use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::operation::Takes;
use crate::engine::api::{Context, Done, Failure, Media, Operation, Raw, RawRequest, Spec, SuccessResponse, public};
use crate::engine::mail::feedback::Refusal;
use crate::features::mail_feedback::ingest::{self, Incoming, Rejected};
use crate::features::mail_feedback::model::MailFeedback;
use crate::features::mail_feedback::store;
use crate::vocab::codes::Code;
use crate::vocab::ids::kinds;
use crate::vocab::limits;
use crate::vocab::mail_services::MailService;

pub struct Receive;

/// The secret part of a webhook's URL.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedbackUrl {
    /// The token in the URL.
    pub token: Secret<String>,
}

/// The result of a request from a mail service.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FeedbackReceived {
    /// The number of events in the request.
    pub events: usize,
    /// The number of events that match no message and therefore had no effect.
    pub unmatched: u64,
    /// Whether the same request has arrived before. A repeated request has no effect.
    pub repeated: bool,
}

impl Operation for Receive {
    const SPEC: Spec = Spec::post("mail_feedback.receive", "/feedback/{token}", public())
        .summary("Receive events from a mail service")
        .about(
            "Called by the services that relay mail. The request's signature or secret is checked as the service's documentation \
             specifies. The response is sent after the effects are stored.",
        )
        .fails(&[Code::InvalidSignature, Code::NotFound, Code::NeverAccepted]);
    type Input = FeedbackUrl;
    type Output = Done<FeedbackReceived>;

    fn example() -> (Value, Self::Output) {
        (
            json!({ "token": "AWbxorMAAAABehssPWbxorMAAAAJehssPcsHq1ZyM8lD3kVvW0nQ2tY5eR7u" }),
            Done(FeedbackReceived { events: 2, unmatched: 1, repeated: false }),
        )
    }
}

impl Raw for Receive {
    const MEDIA: Media = Media { takes: Takes::Nothing, gives: Media::JSON_TYPE, documented: false };

    async fn run(context: Context, input: FeedbackUrl, request: RawRequest) -> Result<Reply, Failure> {
        let engine = &context.engine;
        let token = UrlToken::parse(input.token.expose()).ok_or_else(ingest::url_unknown)?;
        let source = find(&context, &token)?.ok_or_else(ingest::url_unknown)?;
        // `_room` keeps the memory for the body reserved until the request has been handled.
        let service = source.service;
        let limit = body_bytes_max(service);
        let _room = engine.bodies.room(&request.body, limit).await?;
        let body = request.body.collect(limit).await.map_err(|error| body_failure(error, limit))?;
        let incoming = Incoming { environment: token.environment, source, headers: request.headers, body, sample: None };
        match ingest::receive(engine, incoming).await {
            Ok(accepted) => {
                let counts = accepted.counts;
                let received =
                    FeedbackReceived { events: accepted.events, unmatched: counts.unmatched, repeated: counts.repeated > 0 };
                Ok(reply(&context, received))
            }
            Err(Rejected::Refused(refusal)) => Err(Failure::because(code(service, refusal), refusal.sentence(service))),
            Err(Rejected::Failed(failure)) => Err(failure),
        }
    }
}

/// Returns the error code for a rejected request. Mailgun repeats a rejected request for eight hours unless the status is 406, so this
/// status is returned if the request can never succeed. A request with a wrong signature can succeed later, after the secret is corrected.
fn code(service: MailService, refusal: Refusal) -> Code {
    match (service, refusal) {
        (MailService::Mailgun, Refusal::Malformed | Refusal::Replayed) => Code::NeverAccepted,
        (_, Refusal::Malformed) => Code::InvalidRequest,
        _ => Code::InvalidSignature,
    }
}

/// Returns the maximum size of one request. SendGrid and Brevo send batches, and Postmark can include the bounce message.
fn body_bytes_max(service: MailService) -> usize {
    match service {
        MailService::Sendgrid | MailService::Brevo | MailService::Postmark => limits::MAIL_FEEDBACK_BODY_BYTES_MAX,
        MailService::AmazonSes | MailService::Mailgun | MailService::Resend => limits::MAIL_FEEDBACK_EVENT_BYTES_MAX,
    }
}

/// Returns the mail service whose URL has this token.
fn find(context: &Context, token: &UrlToken<kinds::MailFeedback>) -> Result<Option<MailFeedback>, Failure> {
    let tx = context.engine.data(token.environment).store.read();
    let row = store::find(&tx, token.account, token.id)?;
    Ok(row.filter(|row| token.matches(&row.url_hash)))
}

fn reply(context: &Context, received: FeedbackReceived) -> Reply {
    let encoded = Done(received).encode(&context.envelope);
    let mut headers = HeaderMap::with_capacity(2);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(Media::JSON_TYPE));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(encoded.body.len()));
    Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(encoded.body.into()) }
}
