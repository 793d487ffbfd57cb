//! TABLE: the tools, with the operations that they call and the hints that clients show.
//!
//! A tool's name, title, description and schemas come from its operation, through the OpenAPI document. The table has the operations that
//! agents need for the work of a marketer, and none that manage the account, its keys or its members.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::engine::api::flat_schemas::{FlatInput, FlatSchemas};
use crate::engine::api::{Access, Entry, Replay, Spec};
use crate::vocab::limits;
use crate::vocab::permissions::PermissionSet;

/// The argument with the idempotency key of a tool whose operation supports one.
pub const IDEMPOTENCY_KEY: &str = "idempotency_key";
/// The argument with which clients without elicitation confirm a call.
pub const CONFIRM: &str = "confirm";
/// The argument that makes a tool wait for the end of the work that it starts.
pub const WAIT: &str = "wait";

/// What a tool does to data or to people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Adds or changes data.
    Write,
    /// Deletes data or stops a send. Needs a confirmation.
    Delete,
    /// Sends email. Needs a confirmation.
    Send,
}

impl Effect {
    /// Returns whether a call needs the user's confirmation.
    pub fn needs_confirmation(self) -> bool {
        matches!(self, Effect::Delete | Effect::Send)
    }

    /// Returns the word for this effect in `get_capabilities`.
    pub fn word(self) -> &'static str {
        match self {
            Effect::Read => "read",
            Effect::Write => "write",
            Effect::Delete => "delete",
            Effect::Send => "send",
        }
    }
}

/// Whether a tool contacts systems other than this service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Only this service's own data.
    Closed,
    /// Also websites, recipients or platforms.
    Open,
}

/// How a tool waits for the end of the work that it starts.
#[derive(Clone, Copy, Debug)]
pub struct Follow {
    /// The operation that returns the status of the work.
    pub status: &'static str,
    /// The fields of the first response that are inputs of the status operation.
    pub fields: &'static [&'static str],
    /// The values of `status` that end the work.
    pub ends: &'static [&'static str],
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The ID of the operation.
    pub operation: &'static str,
    pub effect: Effect,
    pub reach: Reach,
    pub follow: Option<&'static Follow>,
}

const fn row(operation: &'static str, effect: Effect, reach: Reach) -> Row {
    Row { operation, effect, reach, follow: None }
}

const fn followed(operation: &'static str, reach: Reach, follow: &'static Follow) -> Row {
    Row { operation, effect: Effect::Write, reach, follow: Some(follow) }
}

const GENERATION: Follow = Follow { status: "emails.status", fields: &["conversationId"], ends: &["completed", "failed"] };
const BRAND_IMPORT: Follow = Follow { status: "projects.import_status", fields: &["projectId"], ends: &["active", "error"] };
const BULK: Follow = Follow { status: "contacts.bulk_status", fields: &["jobId", "projectId"], ends: &["completed", "failed"] };
const CONTACT_IMPORT: Follow =
    Follow { status: "contacts.import_status", fields: &["id", "projectId"], ends: &["completed", "failed", "cancelled"] };

use Effect::{Delete, Read, Send, Write};
use Reach::{Closed, Open};

/// All tools that call an operation. `get_capabilities` is in addition to them.
pub const ROWS: &[Row] = &[
    // Brands.
    row("projects.list", Read, Closed),
    row("projects.get", Read, Closed),
    followed("projects.import", Open, &BRAND_IMPORT),
    row("projects.import_status", Read, Closed),
    row("contacts.field_catalog", Read, Closed),
    // Emails.
    followed("emails.generate", Open, &GENERATION),
    row("emails.status", Read, Closed),
    row("emails.list", Read, Closed),
    row("emails.get", Read, Closed),
    row("emails.edit", Write, Open),
    row("emails.edit_status", Read, Closed),
    row("emails.checks", Read, Closed),
    row("tracking.metrics", Read, Closed),
    row("tracking.logs", Read, Closed),
    row("validation.all", Read, Open),
    row("validation.links", Read, Open),
    row("validation.deliverability", Read, Open),
    row("exports.html", Read, Closed),
    row("exports.mjml", Read, Closed),
    row("exports.pdf", Read, Closed),
    row("exports.png", Read, Closed),
    row("exports.platform_a", Write, Open),
    row("exports.platform_b", Write, Open),
    row("exports.platform_c", Write, Open),
    // The audience.
    row("contacts.list", Read, Closed),
    row("contacts.create", Write, Closed),
    row("contacts.get", Read, Closed),
    row("contacts.update", Write, Closed),
    row("contacts.delete", Delete, Closed),
    followed("contacts.bulk", Closed, &BULK),
    row("contacts.bulk_status", Read, Closed),
    row("contacts.bulk_delete", Delete, Closed),
    row("connections.sources", Read, Open),
    followed("connections.import", Open, &CONTACT_IMPORT),
    row("contacts.import_status", Read, Closed),
    row("tags.list", Read, Closed),
    row("tags.create", Write, Closed),
    row("tags.delete", Delete, Closed),
    row("segments.list", Read, Closed),
    row("segments.create", Write, Closed),
    row("segments.preview", Read, Closed),
    row("segments.delete", Delete, Closed),
    // Sending.
    row("sending.send", Send, Open),
    row("sending.test", Send, Open),
    row("sending.metrics", Read, Closed),
    row("sending.plan", Read, Closed),
    row("campaigns.create", Write, Closed),
    row("campaigns.list", Read, Closed),
    row("campaigns.get", Read, Closed),
    row("campaigns.dry_run", Read, Closed),
    row("campaigns.send", Send, Open),
    row("campaigns.schedule", Send, Open),
    row("campaigns.cancel", Delete, Closed),
    row("campaigns.archive", Write, Closed),
    row("campaigns.unarchive", Write, Closed),
    row("campaigns.stats", Read, Closed),
    row("campaigns.logs", Read, Closed),
    row("domains.list", Read, Closed),
    row("domains.setup", Write, Closed),
    row("domains.stream_create", Write, Closed),
    row("domains.verify", Write, Open),
    // Webhooks.
    row("webhooks.list", Read, Closed),
    row("webhooks.create", Write, Open),
    row("webhooks.delete", Delete, Closed),
    row("webhooks.test", Write, Open),
];

/// A tool that is ready to be listed and called.
pub struct Definition {
    pub row: &'static Row,
    pub spec: &'static Spec,
    /// The tool as clients see it.
    pub tool: Tool,
    /// The arguments that a call must have.
    pub required: Vec<String>,
    /// Whether the operation returns pages of a list, whose size the argument `limit` sets.
    pub is_paged: bool,
}

impl Definition {
    /// Returns whether a caller with these permissions can call the tool.
    pub fn is_for(&self, permissions: PermissionSet) -> bool {
        match self.spec.access {
            Access::Needs(permission) => permissions.contains(permission),
            Access::NeedsOne(any) => any.iter().any(|permission| permissions.contains(*permission)),
            Access::Public => true,
            Access::Person | Access::Manager | Access::Operator => false,
        }
    }

    /// Returns whether the tool accepts an idempotency key.
    pub fn is_keyed(&self) -> bool {
        self.spec.replay == Replay::Keyed
    }
}

/// Returns the name of the operation's tool.
pub fn name(spec: &Spec) -> String {
    let client_name = spec.client_name();
    client_name.unwrap_or_else(|| panic!("{} is not for clients", spec.id)).replace('.', "_")
}

/// Builds all tools from the OpenAPI document of these operations.
pub fn definitions(operations: &'static [Entry], document: &Value) -> Vec<Definition> {
    let schemas = FlatSchemas::new(document);
    ROWS.iter()
        .map(|row| {
            let entry = operations.iter().find(|entry| entry.spec.id == row.operation);
            let entry = entry.unwrap_or_else(|| panic!("there is no operation {}", row.operation));
            definition(row, entry.spec, &schemas)
        })
        .collect()
}

fn definition(row: &'static Row, spec: &'static Spec, schemas: &FlatSchemas<'_>) -> Definition {
    let FlatInput { mut properties, required, definitions } = schemas.input(spec.id);
    let is_paged = properties.contains_key("limit");
    for (name, schema) in own_arguments(row, spec) {
        assert!(properties.insert(name.into(), schema).is_none(), "{}: the input already has a field {name}", spec.id);
    }
    let mut input = object(json!({ "type": "object", "properties": properties, "additionalProperties": false }));
    if !required.is_empty() {
        input.insert("required".into(), required.clone().into());
    }
    if !definitions.is_empty() {
        input.insert("$defs".into(), definitions.into());
    }
    let annotations = ToolAnnotations::with_title(spec.summary)
        .read_only(row.effect == Effect::Read)
        .destructive(row.effect.needs_confirmation())
        .idempotent(row.effect != Effect::Send && (row.effect != Effect::Write || spec.replay == Replay::Keyed))
        .open_world(row.reach == Reach::Open);
    let tool = Tool::new(name(spec), description(row, spec), Arc::new(input))
        .with_title(spec.summary)
        .with_raw_output_schema(Arc::new(output(spec, row.follow, schemas)))
        .with_annotations(annotations);
    Definition { row, spec, tool, required, is_paged }
}

/// Returns the arguments that a tool has in addition to the input of its operation.
fn own_arguments(row: &Row, spec: &Spec) -> Vec<(&'static str, Value)> {
    let mut own = Vec::new();
    if spec.replay == Replay::Keyed {
        let about = "Makes retries safe: the same key with the same arguments returns the first result and does the work once. Use one \
                     fixed value per task, such as the campaign's ID.";
        let characters = limits::IDEMPOTENCY_KEY_CHARACTERS_MAX;
        own.push((IDEMPOTENCY_KEY, json!({ "type": "string", "minLength": 1, "maxLength": characters, "description": about })));
    }
    if row.effect.needs_confirmation() {
        let about = "Set to true only after the user has agreed to exactly this call. If the client supports elicitation, the user is \
                     asked in any case.";
        own.push((CONFIRM, json!({ "type": "boolean", "description": about })));
    }
    if row.follow.is_some() {
        let about = "Wait for the end of the work, with progress notifications, and return its final status.";
        own.push((WAIT, json!({ "type": "boolean", "description": about })));
    }
    own
}

fn description(row: &Row, spec: &Spec) -> String {
    let mut text = format!("{}.", spec.summary);
    if !spec.about.is_empty() {
        text.push(' ');
        text.push_str(spec.about);
    }
    match row.effect {
        Effect::Send => text.push_str(" Sends email, so the user must confirm the call."),
        Effect::Delete => text.push_str(" The user must confirm the call."),
        Effect::Read | Effect::Write => {}
    }
    text
}

/// Returns the schema of a tool's structured result.
fn output(spec: &Spec, follow: Option<&Follow>, schemas: &FlatSchemas<'_>) -> JsonObject {
    let mut properties = json!({
        "data": schemas.data(spec.id),
        "requestId": { "type": "string" },
        "replayed": { "type": "boolean" },
    });
    if let Some(follow) = follow {
        properties["finalStatus"] = schemas.data(follow.status);
    }
    let mut definitions = schemas.embed(&mut properties);
    shorten(&mut properties);
    definitions.values_mut().for_each(shorten);
    let mut output = json!({ "type": "object", "properties": properties, "required": ["data", "requestId"] });
    if !definitions.is_empty() {
        output["$defs"] = definitions.into();
    }
    object(output)
}

/// Removes the descriptions from an output schema: clients check results with the schema, but do not show its text.
fn shorten(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            // A property can be named `description`; then its value is a schema, not text.
            if members.get("description").is_some_and(Value::is_string) {
                members.remove("description");
            }
            members.values_mut().for_each(shorten);
        }
        Value::Array(items) => items.iter_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(members) => members,
        _ => unreachable!("the value was created as an object"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::api::openapi;
    use crate::operations::OPERATIONS;

    fn all() -> Vec<Definition> {
        definitions(OPERATIONS, &openapi::document(OPERATIONS, None))
    }

    #[test]
    fn every_schema_is_valid_and_small_enough_for_agents() {
        let all = all();
        let mut bytes = 0;
        for definition in &all {
            let tool = &definition.tool;
            let input = Value::Object(tool.input_schema.as_ref().clone());
            jsonschema::meta::validate(&input).unwrap_or_else(|error| panic!("{}: {error}", tool.name));
            jsonschema::validator_for(&input).unwrap_or_else(|error| panic!("{}: {error}", tool.name));
            let output = tool.output_schema.clone().expect("every tool has an output schema");
            jsonschema::validator_for(&Value::Object(output.as_ref().clone()))
                .unwrap_or_else(|error| panic!("{}: {error}", tool.name));
            for name in ["anyOf", "allOf", "oneOf"] {
                assert!(!input.as_object().is_some_and(|input| input.contains_key(name)), "{}", tool.name);
            }
            assert!(
                tool.name.len() <= 64 && tool.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
                "{}",
                tool.name
            );
            let size = input.to_string().len();
            assert!(size <= 20_000, "{}: the input schema has {size} bytes", tool.name);
            bytes += size + tool.description.as_ref().map_or(0, |text| text.len());
        }
        assert!(bytes <= 160_000, "the tools have {bytes} bytes");
        assert!((50..=70).contains(&all.len()), "{} tools", all.len());
    }

    #[test]
    fn the_arguments_of_a_tool_are_the_input_of_its_operation_and_its_own() {
        let all = all();
        let of = |id: &str| all.iter().find(|definition| definition.spec.id == id).expect("the tool exists");
        let names = |id: &str| {
            let properties = of(id).tool.input_schema["properties"].as_object().expect("an object");
            properties.keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(names("campaigns.send"), ["id", "projectId", IDEMPOTENCY_KEY, CONFIRM]);
        assert_eq!(of("campaigns.send").required, ["id"]);
        assert!(names("emails.generate").contains(&WAIT.to_owned()));
        assert_eq!(of("contacts.create").required, ["projectId", "email"]);
        assert!(of("contacts.list").is_paged && !of("contacts.get").is_paged);
    }

    #[test]
    fn hints_follow_the_effect_of_a_tool() {
        for definition in all() {
            let hints = definition.tool.annotations.clone().expect("every tool has hints");
            let (effect, verb) = (definition.row.effect, definition.spec.verb.name());
            assert_eq!(hints.read_only_hint, Some(effect == Effect::Read), "{}", definition.spec.id);
            assert_eq!(hints.destructive_hint, Some(effect.needs_confirmation()), "{}", definition.spec.id);
            assert!(verb != "DELETE" || effect == Effect::Delete, "{}", definition.spec.id);
            assert!(!matches!(verb, "PUT" | "PATCH") || effect == Effect::Write, "{}", definition.spec.id);
            assert!(hints.title.is_some() && hints.open_world_hint.is_some() && hints.idempotent_hint.is_some());
        }
    }
}
