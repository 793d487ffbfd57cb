//! Checks the input of the operations on incoming webhooks.

use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::model::{Hook, HookKind};
use super::{Token, mapping};
use crate::base::secret::Secret;
use crate::base::text::NOT_BLANK;
use crate::engine::api::{Engine, Failure};
use crate::engine::store::Read;
use crate::features::topics;
use crate::vocab::codes::Code;
use crate::vocab::limits;

/// How another system signs its requests: with the HMAC-SHA256 of the body, in hexadecimal or Base64, with or without the prefix `sha256=`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenSignature {
    /// The header with the signature, such as `Typeform-Signature`.
    pub header: String,
    /// The secret that you entered in the other system, or that the other system shows. It is stored encrypted and never shown
    /// again.
    pub secret: Secret<String>,
}

/// The pattern for the URL of the page to which browsers are redirected. Blank text means no page.
pub const PAGE_PATTERN: &str = r"^(?:[\t-\r ]*| *[Hh][Tt][Tt][Pp][Ss]?:[^\x00-\x1f\x7f-\x9f]+)$";

/// Adds schema rules for the fields that contact webhooks and event webhooks can have.
pub fn by_kind(schema: &mut Schema) {
    let fields = |pattern: String| {
        json!({
            "type": ["object", "null"], "maxProperties": limits::HOOK_FIELDS_MAX, "propertyNames": { "pattern": pattern },
            "additionalProperties": { "pattern": mapping::PATH_PATTERN },
        })
    };
    let (mut of_contacts, of_events) = (fields(mapping::contact_fields_pattern()), fields(mapping::event_fields_pattern()));
    of_contacts["anyOf"] = json!([{ "maxProperties": 0 }, { "required": ["email"] }]);
    let (contacts, absent) = (json!({ "enum": ["contacts", null] }), json!({ "type": "null" }));
    let alternatives = json!([
        { "properties": { "kind": contacts, "mapping": of_contacts, "eventName": absent, "topicId": absent } },
        { "required": ["consentSource"],
          "properties": { "kind": contacts, "mapping": of_contacts, "eventName": absent,
            "consentSource": { "type": "string", "pattern": NOT_BLANK } } },
        { "required": ["kind"],
          "properties": { "kind": { "const": "events" }, "mapping": of_events, "tags": { "type": ["array", "null"], "maxItems": 0 },
            "topicId": absent, "consentSource": { "type": ["string", "null"], "pattern": r"^[\t-\r ]*$" } } },
    ]);
    schema.insert("anyOf".to_owned(), alternatives);
}

/// Checks a new or changed webhook. `before` is the webhook before the change. An unchanged topic is not checked, so a webhook whose topic
/// was deleted can still be changed, for example turned off.
pub fn check(tx: &impl Read, before: Option<&Hook>, hook: &Hook) -> Result<(), Failure> {
    mapping::check(hook.kind, &hook.mapping)?;
    if hook.tags.len() > limits::HOOK_TAGS_MAX {
        let (max, found) = (limits::HOOK_TAGS_MAX, hook.tags.len());
        return Err(Failure::field("tags", format_args!("list at most {max} tags; this list has {found}")));
    }
    if let Some(text) = &hook.redirect_url {
        let is_page = Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some());
        if !is_page || text.chars().any(char::is_control) {
            return Err(Failure::field("redirectUrl", "must be a URL that starts with http:// or https://"));
        }
        if text.len() > limits::URL_CHARACTERS_MAX {
            let max = limits::URL_CHARACTERS_MAX;
            return Err(Failure::field("redirectUrl", format_args!("the URL is longer than {max} bytes; use a shorter URL")));
        }
    }
    if hook.kind == HookKind::Events
        && let Some(field) = field_of_contacts(hook)
    {
        let reason = "only a webhook with the kind `contacts` sets tags, topics and consent; omit this field";
        return Err(Failure::field(field, reason));
    }
    match hook.kind {
        HookKind::Contacts if hook.event_name.is_some() => {
            Err(Failure::field("eventName", "only a webhook with the kind `events` has an event name; omit this field"))
        }
        HookKind::Contacts if hook.topic.is_some() && hook.consent_source.is_none() => {
            Err(Failure::field("consentSource", "enter where the contacts agreed to receive emails about the topic"))
        }
        HookKind::Contacts | HookKind::Events => {
            match hook.topic.filter(|_| before.is_none_or(|before| before.topic != hook.topic)) {
                Some(topic) if topics::look_up(tx, hook.project, topic)?.is_none() => {
                    Err(Failure::because(Code::NotFound, "The brand has no topic with this ID.").in_field("topicId"))
                }
                _ => Ok(()),
            }
        }
    }
}

/// Returns the first field that is set although only contact webhooks can have it.
fn field_of_contacts(hook: &Hook) -> Option<&'static str> {
    let fields =
        [("tags", !hook.tags.is_empty()), ("topicId", hook.topic.is_some()), ("consentSource", hook.consent_source.is_some())];
    fields.into_iter().find_map(|(field, is_used)| is_used.then_some(field))
}

/// Returns the public URL of an incoming webhook, which contains its secret token.
pub fn url(engine: &Engine, token: &Token) -> String {
    format!("{}/v1/hooks/{}", engine.base_url().trim_end_matches('/'), token.text().expose())
}
