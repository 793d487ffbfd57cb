//! Checks a signed sample event in the same way as a request from the mail service, and returns the result.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::get::MailServiceRef;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::engine::mail::feedback::Refusal;
use crate::engine::mail::feedback::sample::{Content, Sample, sample};
use crate::features::mail_feedback::ingest::{self, Incoming, Rejected, SampleKey};
use crate::features::mail_feedback::model::MailFeedback;
use crate::features::mail_feedback::require;
use crate::features::sending::token::{Purpose, Token, Tokens};
use crate::vocab::codes::Code;
use crate::vocab::ids::MailingId;
use crate::vocab::permissions::Permission;

pub struct Test;

/// The result of checking a sample event.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MailServiceTested {
    /// Whether the signature was valid and the reference to a message was found.
    pub success: bool,
    /// Why the request was rejected.
    pub reason: Option<Refusal>,
    /// The checks that passed, or the problem and its remedy.
    pub message: String,
    /// Whether the sample was signed with a temporary key, because only the mail service has the key for real requests.
    pub temporary_key: bool,
}

impl Operation for Test {
    const SPEC: Spec = Spec::post(
        "mail_feedback.test",
        "/v1/mail-services/{mailServiceId}/test",
        needs(Permission::WebhookWrite),
    )
    .client("mail_services.test")
    .summary("Test a mail service")
    .about(
        "Sends a sample hard bounce through the checks for real requests. The sample has the service's format, and is signed like the \
         service's requests. It refers to no message, so it has no effect. The call itself succeeds even if the test fails.",
    )
    .fails(&[Code::NotFound]);
    type Input = MailServiceRef;
    type Output = Done<MailServiceTested>;

    fn example() -> (Value, Self::Output) {
        let tested = MailServiceTested { success: true, reason: None, message: passed(false).into(), temporary_key: false };
        (json!({ "mailServiceId": "66f1a2b3000000097a1b2c3d" }), Done(tested))
    }
}

impl Async for Test {
    async fn run(context: Context, input: MailServiceRef) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        let source = require(&context.data().store.read(), account, input.mail_service_id)?;
        let made = make(&context, &source).await?;
        let temporary_key = made.secret.is_some() || made.key.is_some();
        let sample_key = match (made.secret, made.key) {
            (Some(secret), _) => SampleKey::Secret(secret),
            (None, Some(key)) => SampleKey::Certificate(key),
            (None, None) => SampleKey::Configured,
        };
        let service = source.service;
        let needs_secret = source.service.info().needs_secret && source.sealed_secret.is_none();
        let incoming = Incoming {
            environment: context.caller.environment(),
            source,
            headers: made.headers,
            body: made.body.into(),
            sample: Some(sample_key),
        };
        let (reason, message) = match ingest::receive(&context.engine, incoming).await {
            // A sample signed with a temporary key is accepted even if the secret is missing, so the missing secret is reported here.
            Ok(_) if needs_secret => (Some(Refusal::SecretMissing), Refusal::SecretMissing.sentence(service)),
            Ok(accepted) if accepted.recognized > 0 => (None, passed(temporary_key)),
            Ok(_) => (Some(Refusal::Malformed), Refusal::Malformed.sentence(service)),
            Err(Rejected::Refused(refusal)) => (Some(refusal), refusal.sentence(service)),
            Err(Rejected::Failed(failure)) => return Err(failure),
        };
        Ok(Done(MailServiceTested { success: reason.is_none(), reason, message: message.into(), temporary_key }))
    }
}

const fn passed(temporary_key: bool) -> &'static str {
    if temporary_key {
        "Mailmill checked the signature of the sample with a temporary key, read the bounce, and found its reference. Only an event \
         from the mail service itself can test the real key."
    } else {
        "Mailmill checked the sample like a request from the mail service, read the bounce, and found its reference."
    }
}

/// Creates the signed sample request on a thread for blocking tasks.
async fn make(context: &Context, source: &MailFeedback) -> Result<Sample, Failure> {
    let engine = &context.engine;
    // No mailing has this ID, so the sample refers to no message.
    let nothing = MailingId::from_bytes([0; 12]);
    let token = Token { environment: context.caller.environment(), mailing: nothing, number: 0, purpose: Purpose::Message };
    let token = Tokens::new(&engine.seal).local_part(token);
    // If the secret is unreadable, checking the sample reports the problem.
    let (secret, now) = (ingest::secret(engine, source).unwrap_or_default(), engine.clock.now());
    let id = MailingId::make(now, engine.random.as_ref()).to_string();
    let (service, topic) = (source.service, source.topics.first().cloned().unwrap_or_default());
    let making = tokio::task::spawn_blocking(move || {
        let secret = secret.as_ref().map(|secret| secret.expose().as_str());
        sample(service, secret, &Content { token: &token, id: &id, topic: &topic, now })
    });
    making.await.map_err(Failure::internal)
}
