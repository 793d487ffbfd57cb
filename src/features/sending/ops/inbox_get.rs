//! Returns a parsed message from the built-in inbox.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::engine::mail::dkim_verify::{SignatureCheck, SignatureResult, verify};
use crate::engine::mail::parsed::ParsedMessage;
use crate::features::domains;
use crate::features::sending::inbox;
use crate::features::sending::template::links;
use crate::features::sending::views::MessageView;
use crate::vocab::codes::Code;
use crate::vocab::ids::MessageId;
use crate::vocab::permissions::Permission;

pub struct InboxGet;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MessageRef {
    pub id: MessageId,
}

/// A parsed message from the built-in inbox.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WholeMessage {
    pub message: MessageView,
    /// The envelope sender, to which bounces would be returned.
    pub envelope_from: String,
    /// The headers, in the order in which they appear in the message.
    pub headers: Vec<MessageHeader>,
    pub text: Option<String>,
    pub html: Option<String>,
    /// The targets of the links in the HTML, without duplicates.
    pub links: Vec<String>,
    /// The result of each DKIM signature (RFC 6376), verified with the keys of this account's sending domains, without DNS queries. Empty
    /// if the message has no signature, because its From domain is not verified.
    pub dkim: Vec<DkimSignature>,
}

/// A DKIM signature on a message.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DkimSignature {
    /// The domain that signed the message (`d=`).
    pub domain: String,
    /// The selector of the domain's key (`s=`).
    pub selector: String,
    /// The signature algorithm: `rsa-sha256` or `ed25519-sha256`.
    pub algorithm: &'static str,
    /// The result: `pass`, `fail`, or `no_key` if the signing key was removed after the message was signed.
    pub result: &'static str,
    /// Why the signature is invalid, if `result` is `fail`.
    pub reason: Option<String>,
}

impl From<SignatureCheck> for DkimSignature {
    fn from(verdict: SignatureCheck) -> Self {
        let (result, reason) = match verdict.holds {
            SignatureResult::Yes => ("pass", None),
            SignatureResult::No(reason) => ("fail", Some(reason)),
            SignatureResult::NoKey => ("no_key", None),
        };
        Self { domain: verdict.domain, selector: verdict.selector, algorithm: verdict.algorithm, result, reason }
    }
}

/// A header of a message.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessageHeader {
    pub name: String,
    pub value: String,
}

impl Operation for InboxGet {
    const SPEC: Spec = Spec::get("sending.inbox_get", "/v1/inbox/{id}", needs(Permission::EmailRead))
        .client("inbox.get")
        .summary("Get a message from the built-in inbox")
        .fails(&[Code::NotFound]);
    type Input = MessageRef;
    type Output = Done<WholeMessage>;

    fn example() -> (Value, Self::Output) {
        let message = WholeMessage {
            message: MessageView::sample(),
            envelope_from: "b+aaaa@bounces.example.com".into(),
            headers: vec![MessageHeader { name: "Subject".into(), value: "Your order".into() }],
            text: Some("It is on its way.".into()),
            html: Some("<p>It is <a href=\"https://example.com/t/c/AAAA\">on its way</a>.</p>".into()),
            links: vec!["https://example.com/t/c/AAAA".into()],
            dkim: vec![DkimSignature {
                domain: "example.com".into(),
                selector: "mm1r".into(),
                algorithm: "rsa-sha256",
                result: "pass",
                reason: None,
            }],
        };
        (json!({ "id": "666666666666666666666666" }), Done(message))
    }
}

impl Async for InboxGet {
    async fn run(context: Context, input: MessageRef) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        let (head, bytes, keys) = context
            .read(move |tx| {
                let head = inbox::require(tx, account, input.id)?;
                let bytes = inbox::body(tx, input.id)?;
                Ok((head, bytes, domains::public_keys(tx, account)?))
            })
            .await?;
        let dkim = verify(&bytes, &keys).await.into_iter().map(DkimSignature::from).collect();
        let ParsedMessage { headers, html, text } = ParsedMessage::of(&bytes);
        let headers = headers.into_iter().map(|(name, value)| MessageHeader { name, value }).collect();
        let links = html.as_deref().map(|html| links::rewrite(html).links).unwrap_or_default();
        let envelope_from = head.sender.clone();
        Ok(Done(WholeMessage { message: head.into(), envelope_from, headers, text, html, links, dkim }))
    }
}
