//! Mail that came back, handed over by whoever received it on this machine: our own listener, or a mail server's pipe.

use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::call::body_failure;
use crate::engine::api::operation::Takes;
use crate::engine::api::wire::{Reply, ReplyBody};
use crate::engine::api::{Answer, Context, Done, Failure, Media, Operation, Raw, RawRequest, Spec, operator};
use crate::engine::mail::inbound::Envelope;
use crate::features::tracking::inbound::{self, Received};
use crate::vocab::codes::Code;
use crate::vocab::limits;

/// `tracking.receive`
pub struct Receive;

/// In which header the sender of the envelope stands; absent or empty is the null sender.
const SENDER: &str = "x-envelope-sender";

/// Whom the message is for.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToUs {
    /// The recipient of the envelope.
    pub recipient: String,
}

/// What became of the message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ReceivedMail")]
pub struct Outcome {
    /// Whether it was about one of our recipients: a report, a complaint, or somebody who leaves. Anything else is dropped.
    pub taken: bool,
}

impl Operation for Receive {
    const SPEC: Spec = Spec::post("tracking.receive", "/admin/mail/{recipient}", operator())
        .summary("Take in a message that came back")
        .about(
            "The body is the message as it came; the header X-Envelope-Sender names its envelope sender. Only addresses that we have put \
                into messages ourselves are known (404 for all others).",
        )
        .fails(&[Code::NotFound]);
    type Input = ToUs;
    type Output = Done<Outcome>;

    fn example() -> (Value, Self::Output) {
        (json!({ "recipient": "b+kbtooo2ru4ngwszyaaaaaad2gbx6yv2q2lu@bounces.acme.example" }), Done(Outcome { taken: true }))
    }
}

impl Raw for Receive {
    const MEDIA: Media = Media { takes: Takes::Nothing, gives: Media::JSON_TYPE, documented: false };

    async fn run(context: Context, input: ToUs, request: RawRequest) -> Result<Reply, Failure> {
        if !inbound::is_ours(&context.engine, &input.recipient) {
            return Err(Failure::because(
                Code::NotFound,
                "This is none of the addresses that bounces and unsubscribing return to.",
            ));
        }
        let sender = request.headers.get(SENDER).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        let max = limits::INBOUND_BYTES_MAX;
        let raw = request.body.collect(max).await.map_err(|error| body_failure(error, max))?;
        let envelope = Envelope { sender: &sender, recipient: &input.recipient };
        let received = inbound::receive(&context.engine, &raw, &envelope).await?;
        let encoded = Done(Outcome { taken: received == Received::Taken }).encode(&context.envelope);
        let mut headers = HeaderMap::with_capacity(2);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(Media::JSON_TYPE));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(encoded.body.len()));
        Ok(Reply { status: encoded.status, headers, body: ReplyBody::Whole(encoded.body.into()) })
    }
}
