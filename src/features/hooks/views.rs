//! Incoming webhooks as the API returns them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::model::{Hook, HookDelivery, HookKind, RequestOutcome};
use super::store;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Failure, Listed};
use crate::engine::store::Read;
use crate::vocab::ids::{HookId, ProjectId, TopicId};

/// An incoming webhook, without its URL.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookView {
    pub id: HookId,
    pub project_id: ProjectId,
    pub name: String,
    /// What the bodies contain.
    pub kind: HookKind,
    /// The header with the signature of each request. If absent, signatures are not checked.
    pub signature_header: Option<String>,
    /// The path of each field's value in the body. If there are no paths, each field gets the value with the same name in the body.
    pub mapping: BTreeMap<String, String>,
    /// The name that every event receives. If absent, the name comes from the body.
    pub event_name: Option<String>,
    /// The tags to add to every contact.
    pub tags: Vec<String>,
    /// The topic to which contacts with consent are subscribed.
    pub topic_id: Option<TopicId>,
    /// Where the contacts agreed to marketing email. If absent, new contacts are non-subscribed.
    pub consent_source: Option<String>,
    /// The page to which browsers are redirected after they submit a form.
    pub redirect_url: Option<String>,
    /// Whether requests are accepted.
    pub active: bool,
    pub accepted_count: u64,
    pub rejected_count: u64,
    /// When the last request arrived.
    pub last_received_at: Option<WireTime>,
    pub created_at: WireTime,
    pub updated_at: WireTime,
}

impl Listed for HookView {
    const PLURAL: &'static str = "hooks";
    const ARRAY_WHEN_PAGED: bool = false;
}

pub fn hook_view(tx: &impl Read, hook: &Hook) -> Result<HookView, Failure> {
    let standing = store::standing(tx, hook.id)?;
    Ok(HookView {
        id: hook.id,
        project_id: hook.project,
        name: hook.name.clone(),
        kind: hook.kind,
        signature_header: hook.signature.as_ref().map(|check| check.header.clone()),
        mapping: hook.mapping.clone(),
        event_name: hook.event_name.clone(),
        tags: hook.tags.clone(),
        topic_id: hook.topic,
        consent_source: hook.consent_source.clone(),
        redirect_url: hook.redirect_url.clone(),
        active: hook.active,
        accepted_count: standing.accepted,
        rejected_count: standing.rejected,
        last_received_at: standing.last_at.map(WireTime),
        created_at: WireTime(hook.created_at),
        updated_at: WireTime(hook.updated_at),
    })
}

/// A request that an incoming webhook received, with its result. Contains no text from the request body.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookDeliveryView {
    pub at: WireTime,
    /// `created`, `updated` or `unchanged` for contacts, `recorded` or `unchanged` for events, or `rejected`.
    #[schemars(extend("enum" = ["created", "updated", "unchanged", "recorded", "rejected"]))]
    pub result: &'static str,
    /// The field that cannot be used.
    pub field: Option<String>,
    /// Why the field cannot be used.
    pub reason: Option<String>,
}

pub fn delivery_view(delivery: HookDelivery) -> HookDeliveryView {
    let result = delivery.outcome.word();
    let (field, reason) = match delivery.outcome {
        RequestOutcome::Rejected { field, reason } => (Some(field), Some(reason)),
        _ => (None, None),
    };
    HookDeliveryView { at: WireTime(delivery.at), result, field, reason }
}

/// An incoming webhook, with its URL if this response shows it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookWithUrl {
    #[serde(flatten)]
    pub hook: HookView,
    /// The URL to enter in the other system. It contains a secret and is shown only in this response.
    pub url: Option<String>,
}

impl HookView {
    /// Returns an incoming webhook for the examples in the API documentation.
    pub fn sample() -> Self {
        Self {
            id: HookId::parse("66f1a2b30000000a7a1b2c3d").expect("the ID has 24 hexadecimal characters"),
            project_id: ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the ID has 24 hexadecimal characters"),
            name: "Newsletter form".into(),
            kind: HookKind::Contacts,
            signature_header: None,
            mapping: BTreeMap::from([
                ("email".to_owned(), "data.email".to_owned()),
                ("firstName".to_owned(), "data.first_name".to_owned()),
            ]),
            event_name: None,
            tags: vec!["newsletter".into()],
            topic_id: None,
            consent_source: Some("Form on acme.example/newsletter".into()),
            redirect_url: Some("https://acme.example/thanks".into()),
            active: true,
            accepted_count: 310,
            rejected_count: 2,
            last_received_at: Some(WireTime::sample()),
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
        }
    }
}

impl HookWithUrl {
    /// Returns an incoming webhook with its URL for the examples in the API documentation.
    pub fn sample() -> Self {
        let url = "https://mail.acme.example/v1/hooks/AWbxorMAAAABehssPWbxorMAAAAKehssPcsHq1ZyM8lD3kVvW0nQ2tY5eR7u".into();
        Self { hook: HookView::sample(), url: Some(url) }
    }
}
