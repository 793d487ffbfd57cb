//! Creates an incoming webhook.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::text::{Name, ShortText};
use crate::engine::access::url_token::UrlToken;
use crate::engine::api::{Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::customer_events::EventName;
use crate::features::hooks::input::GivenSignature;
use crate::features::hooks::model::{Hook, HookKind};
use crate::features::hooks::views::{HookWithUrl, hook_view};
use crate::features::hooks::{input, signature, store};
use crate::features::projects;
use crate::features::tags::TagName;
use crate::vocab::codes::Code;
use crate::vocab::ids::{HookId, ProjectId, TopicId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Create;

/// The incoming webhook to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = input::by_kind)]
pub struct NewHook {
    /// The project to which the contacts or events are added.
    pub project_id: ProjectId,
    /// The name of the webhook, such as the name of the form.
    pub name: Name<{ limits::HOOK_NAME_CHARACTERS_MAX }>,
    /// What the request bodies contain. The default is `contacts`.
    pub kind: Option<HookKind>,
    /// The path of each field's value in the body, such as `contact.email`. Without a mapping, each field gets the value with the same name
    /// in the body, and other values are ignored. The fields for contacts are `email`, the other contact fields, and `customFields.NAME`.
    /// The fields for events are `name`, `occurredAt`, `dedupeKey`, the identifiers of an event, `properties.NAME` and `profile.FIELD`.
    pub mapping: Option<BTreeMap<String, String>>,
    /// How the other system signs its requests. If given, requests without a valid signature are rejected.
    pub signature: Option<GivenSignature>,
    /// The name that every event receives. If absent, the name comes from the body.
    pub event_name: Option<EventName>,
    /// The tags to add to every contact.
    pub tags: Option<Vec<TagName>>,
    /// The topic to which contacts are subscribed. Requires `consentSource`.
    pub topic_id: Option<TopicId>,
    /// Where the contacts agreed to marketing email, such as the form. If given, new contacts are subscribed, and the text is stored in
    /// their custom field `consentSource`. If absent, new contacts are non-subscribed. A contact who unsubscribed stays unsubscribed.
    pub consent_source: Option<ShortText<{ limits::DESCRIPTION_CHARACTERS_MAX }>>,
    /// The page to which browsers are redirected after they submit a form.
    #[schemars(extend("pattern" = input::PAGE_PATTERN))]
    pub redirect_url: Option<String>,
}

impl Operation for Create {
    const SPEC: Spec = Spec::post("hooks.create", "/v1/incoming-webhooks", needs(Permission::WebhookWrite)).client("incoming_webhooks.create")
        .summary("Create an incoming webhook")
        .about(
            "Only this response shows the URL. Other systems send contacts or customer events to it, as JSON or as a form, without a key: \
             the URL itself is the secret.",
        )
        .replay(Replay::Keyed)
        .answers_secret()
        .fails(&[Code::NotFound, Code::LimitReached]);
    type Input = NewHook;
    type Output = Created<HookWithUrl>;

    fn example() -> (Value, Self::Output) {
        let made = HookWithUrl::sample();
        let input = json!({
            "projectId": made.hook.project_id, "name": made.hook.name, "mapping": made.hook.mapping, "tags": made.hook.tags,
            "consentSource": made.hook.consent_source, "redirectUrl": made.hook.redirect_url,
        });
        (input, Created(made))
    }
}

impl Command for Create {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, given: NewHook) -> Result<Self::Output, Failure> {
        let (account, engine) = (caller.account(), caller.engine.as_ref());
        projects::require(tx, account, given.project_id)?;
        if store::all(tx, account)?.len() >= limits::HOOKS_MAX {
            let detail = format!("An account can have at most {} incoming webhooks. Delete one first.", limits::HOOKS_MAX);
            return Err(Failure::because(Code::LimitReached, detail));
        }
        let id = HookId::make(tx.now(), tx.random());
        let token = UrlToken::new(caller.environment(), account, id, tx.random());
        let hook = Hook {
            id,
            account,
            project: given.project_id,
            name: given.name.to_string(),
            kind: given.kind.unwrap_or(HookKind::Contacts),
            url_hash: token.hash(),
            signature: given
                .signature
                .map(|given| signature::sealed(&engine.seal, (account, id), &given, tx.random()))
                .transpose()?,
            mapping: given.mapping.unwrap_or_default(),
            event_name: given.event_name.map(|name| name.to_string()),
            tags: given.tags.unwrap_or_default().iter().map(|tag| tag.to_string()).collect(),
            topic: given.topic_id,
            consent_source: given.consent_source.filter(|text| !text.is_empty()).map(|text| text.to_string()),
            redirect_url: given.redirect_url.filter(|url| !url.trim().is_empty()),
            active: true,
            created_at: tx.now(),
            updated_at: tx.now(),
        };
        input::check(tx, None, &hook)?;
        store::save(tx, &hook);
        let url = Some(input::url(engine, &token));
        Ok(Created(HookWithUrl { hook: hook_view(tx, &hook)?, url }))
    }
}
