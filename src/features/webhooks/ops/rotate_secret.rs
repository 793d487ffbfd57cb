//! Rotates a webhook's secret.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::bounded::Bounded;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::webhooks::model::PreviousSecret;
use crate::features::webhooks::signature::Signer;
use crate::features::webhooks::views::{WebhookView, WebhookWithSecret, webhook_view};
use crate::features::webhooks::{require, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::WebhookId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

const HOUR_MS: i64 = 60 * 60 * 1000;

pub struct RotateSecret;

/// The webhook, and the grace period of its current secret.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RotateSecretRequest {
    /// The ID of the webhook.
    pub webhook_id: WebhookId,
    /// The number of hours for which the old secret continues to be used for signing. The default is 24. Use 0 if the old secret was
    /// leaked.
    pub grace_hours: Option<Bounded<0, { limits::WEBHOOK_GRACE_HOURS_MAX }>>,
}

impl Operation for RotateSecret {
    const SPEC: Spec =
        Spec::post("webhooks.rotate_secret", "/v1/webhooks/{webhookId}/rotate-secret", needs(Permission::WebhookWrite))
            .summary("Rotate a webhook's secret")
            .about(
                "Only this response shows the new secret. Until previousSecretExpiresAt, both secrets sign: X-Service-Signature \
                 and X-Service-Signature-Alternate contain one digest each, and webhook-signature contains both. Some receivers have \
                 only one of the secrets and check only X-Service-Signature. For them, the first attempt signs this header with the \
                 secret that last succeeded at the endpoint (initially the old secret), the second attempt with the new secret, and the \
                 third attempt with the old secret. A test signs this header with the new secret. If you rotate again during the \
                 grace period, the oldest secret stops signing.",
            )
            .replay(Replay::Keyed)
            .answers_secret()
            .fails(&[Code::NotFound]);
    type Input = RotateSecretRequest;
    type Output = Done<WebhookWithSecret>;

    fn example() -> (Value, Self::Output) {
        let expires = WireTime(WireTime::sample().0.plus_ms(24 * HOUR_MS));
        let webhook = WebhookView { previous_secret_expires_at: Some(expires), ..WebhookView::sample() };
        let secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDC2FVsBQIhrs=".into();
        (json!({ "webhookId": webhook.id, "graceHours": 24 }), Done(WebhookWithSecret { webhook, secret }))
    }
}

impl Command for RotateSecret {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: RotateSecretRequest) -> Result<Self::Output, Failure> {
        let engine = caller.engine.as_ref();
        let before = require(tx, caller.account(), input.webhook_id)?;
        let (now, mut after) = (tx.now(), before.clone());
        let hours = input.grace_hours.map_or(limits::WEBHOOK_GRACE_HOURS_DEFAULT, Bounded::get);
        let signer = Signer::new(tx.random());
        after.sealed_secret = signer.seal(&engine.seal, after.account, after.id, tx.random());
        let until = now.plus_ms(i64::try_from(hours).unwrap_or(0) * HOUR_MS);
        after.previous = (hours > 0).then(|| PreviousSecret { sealed: before.sealed_secret.clone(), until });
        after.updated_at = now;
        store::save(tx, Some(&before), &after)?;
        let secret = signer.text().expose().clone();
        Ok(Done(WebhookWithSecret { webhook: webhook_view(tx, engine, &after, now)?, secret }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn the_new_secret_differs_and_the_old_one_has_a_grace_period() {
        let app = TestApp::new();
        let made = app.post("/v1/webhooks", json!({ "url": "https://a.example/", "events": ["email.opened"] })).data();
        let path = format!("/v1/webhooks/{}", made["id"].as_str().expect("the value is an ID"));
        let rotate = |body: Value| app.post(&format!("{path}/rotate-secret"), body).data();
        let rotated = rotate(json!({}));
        assert_ne!(rotated["secret"], made["secret"]);
        assert_eq!(rotated["previousSecretExpiresAt"], "2026-01-02T00:00:00.000Z");
        app.clock.advance_ms(24 * HOUR_MS);
        assert_eq!(app.get(&path).data()["previousSecretExpiresAt"], json!(null));
        assert_eq!(rotate(json!({ "graceHours": 0 }))["previousSecretExpiresAt"], json!(null));
        assert_eq!(app.post(&format!("{path}/rotate-secret"), json!({ "graceHours": 169 })).refusal().0, 400);
    }
}
