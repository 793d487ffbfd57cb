//! Changes an incoming webhook.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::patch::Patch;
use crate::base::text::{Name, ShortText};
use crate::engine::access::url_token::UrlToken;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::customer_events::EventName;
use crate::features::hooks::input::GivenSignature;
use crate::features::hooks::views::{HookWithUrl, hook_view};
use crate::features::hooks::{input, require, signature, store};
use crate::features::tags::TagName;
use crate::vocab::codes::Code;
use crate::vocab::ids::{HookId, TopicId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Update;

/// The changes to an incoming webhook. An omitted field stays unchanged, and `null` clears a field.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HookPatch {
    /// The ID of the incoming webhook.
    pub hook: HookId,
    pub name: Option<Name<{ limits::HOOK_NAME_CHARACTERS_MAX }>>,
    /// The path of each field's value in the body. The new mapping replaces the whole previous mapping.
    pub mapping: Option<BTreeMap<String, String>>,
    /// How the other system signs its requests. If given, requests without a valid signature are rejected.
    #[serde(default)]
    pub signature: Patch<GivenSignature>,
    /// The name that every event receives.
    #[serde(default)]
    pub event_name: Patch<EventName>,
    /// The tags to add to every contact. They replace all previous tags.
    pub tags: Option<Vec<TagName>>,
    /// The topic to which contacts are subscribed.
    #[serde(default)]
    pub topic_id: Patch<TopicId>,
    /// Where the contacts agreed to marketing email.
    #[serde(default)]
    pub consent_source: Patch<ShortText<{ limits::DESCRIPTION_CHARACTERS_MAX }>>,
    /// The page to which browsers are redirected after they submit a form.
    #[serde(default)]
    #[schemars(extend("pattern" = input::PAGE_PATTERN))]
    pub redirect_url: Patch<String>,
    /// Whether requests are accepted.
    pub active: Option<bool>,
    /// Whether to create a new URL, which is shown only in this response. The current URL stops working immediately.
    pub new_url: Option<bool>,
}

impl Operation for Update {
    const SPEC: Spec = Spec::patch("hooks.update", "/v1/incoming-webhooks/{hook}", needs(Permission::WebhookWrite))
        .client("incoming_webhooks.update")
        .summary("Change an incoming webhook")
        .about("The changes apply to requests that arrive later.")
        .answers_secret()
        .fails(&[Code::NotFound]);
    type Input = HookPatch;
    type Output = Done<HookWithUrl>;

    fn example() -> (Value, Self::Output) {
        let mut answer = HookWithUrl { url: None, ..HookWithUrl::sample() };
        answer.hook.active = false;
        (json!({ "hook": answer.hook.id, "active": false }), Done(answer))
    }
}

impl Command for Update {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, patch: HookPatch) -> Result<Self::Output, Failure> {
        let (account, engine) = (caller.account(), caller.engine.as_ref());
        let before = require(tx, account, patch.hook)?;
        let mut after = before.clone();
        if let Some(name) = patch.name {
            after.name = name.to_string();
        }
        if let Some(mapping) = patch.mapping {
            after.mapping = mapping;
        }
        if let Some(tags) = patch.tags {
            after.tags = tags.iter().map(|tag| tag.to_string()).collect();
        }
        match patch.signature {
            Patch::Absent => {}
            Patch::Null => after.signature = None,
            Patch::Value(given) => {
                after.signature = Some(signature::sealed(&engine.seal, (account, after.id), &given, tx.random())?);
            }
        }
        patch.event_name.map(|name| name.to_string()).apply(&mut after.event_name);
        patch.topic_id.apply(&mut after.topic);
        patch.consent_source.map(|text| text.to_string()).apply(&mut after.consent_source);
        after.consent_source = after.consent_source.filter(|text| !text.is_empty());
        patch.redirect_url.apply(&mut after.redirect_url);
        after.redirect_url = after.redirect_url.filter(|url| !url.trim().is_empty());
        after.active = patch.active.unwrap_or(after.active);
        let token = (patch.new_url == Some(true)).then(|| UrlToken::new(caller.environment(), account, after.id, tx.random()));
        if let Some(token) = &token {
            after.url_hash = token.hash();
        }
        if after != before {
            input::check(tx, Some(&before), &after)?;
            after.updated_at = tx.now();
            store::save(tx, &after);
        }
        let url = token.as_ref().map(|token| input::url(engine, token));
        Ok(Done(HookWithUrl { hook: hook_view(tx, &after)?, url }))
    }
}
