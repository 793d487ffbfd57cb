//! TABLE: the tools, with the operations that they call and the hints that clients show.
//!
//! A tool's name, title, description and schemas come from its operation through the OpenAPI document; `schemas.rs` shortens them. The
//! table has the operations that agents need for marketing work, and none that manage the account, its keys or its members.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::schemas;
use crate::engine::api::flat_schemas::{FlatInput, FlatSchemas};
use crate::engine::api::spec::Verb;
use crate::engine::api::{Access, Entry, Replay, Spec};
use crate::vocab::limits;
use crate::vocab::permissions::PermissionSet;

/// The argument for an idempotency key, in tools whose operation supports one.
pub const IDEMPOTENCY_KEY: &str = "idempotency_key";
/// The argument that confirms a call, for clients that do not support elicitation and therefore cannot ask the user.
pub const CONFIRM: &str = "confirm";
/// The argument of list operations for a page number. Tools do not accept it, because they use offsets and cursors.
pub const PAGE: &str = "page";
/// The argument that makes a tool wait until the work that it started has ended.
pub const WAIT: &str = "wait";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Read,
    Write,
    /// Deletes data or stops a send; requires confirmation.
    Delete,
    /// Sends email; requires confirmation.
    Send,
    /// Lets data or email leave this server through a webhook or a sending domain; requires confirmation, because text from other
    /// people could mislead an assistant into sending data away.
    Connect,
}

impl Effect {
    pub fn needs_confirmation(self) -> bool {
        matches!(self, Effect::Delete | Effect::Send | Effect::Connect)
    }

    /// Returns the name of this effect in `get_capabilities`.
    pub fn word(self) -> &'static str {
        match self {
            Effect::Read => "read",
            Effect::Write => "write",
            Effect::Delete => "delete",
            Effect::Send => "send",
            Effect::Connect => "connect",
        }
    }
}

/// The systems that a tool contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The tool uses only this service's data.
    Closed,
    /// The tool also contacts websites, mail servers or platforms.
    Open,
}

/// How a tool waits for the end of the work that it starts.
#[derive(Clone, Copy, Debug)]
pub struct Follow {
    /// The ID of the operation that returns the status of the work.
    pub status: &'static str,
    /// The fields to pass to the status operation. Their values come from the first response or from the arguments.
    pub fields: &'static [&'static str],
    /// The values of `status` that mean that the work has ended.
    pub ends: &'static [&'static str],
}

#[derive(Clone, Copy, Debug)]
pub struct Row {
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
const EDIT: Follow = Follow { status: "emails.edit_status", fields: &["emailId", "editId"], ends: &["completed", "failed"] };
const BRAND_IMPORT: Follow = Follow { status: "projects.import_status", fields: &["projectId"], ends: &["active", "error"] };
const BULK: Follow = Follow { status: "contacts.bulk_status", fields: &["jobId", "projectId"], ends: &["completed", "failed"] };
const CONTACT_IMPORT: Follow =
    Follow { status: "contacts.import_status", fields: &["id", "projectId"], ends: &["completed", "failed", "cancelled"] };

use Effect::{Connect, Delete, Read, Send, Write};
use Reach::{Closed, Open};

/// The tools that call an operation; `get_capabilities` is not one of them.
pub const ROWS: &[Row] = &[
    row("projects.list", Read, Closed),
    row("projects.get", Read, Closed),
    followed("projects.import", Open, &BRAND_IMPORT),
    row("projects.import_status", Read, Closed),
    row("contacts.field_catalog", Read, Closed),
    followed("emails.generate", Open, &GENERATION),
    row("emails.status", Read, Closed),
    row("emails.list", Read, Closed),
    row("emails.get", Read, Closed),
    followed("emails.edit", Open, &EDIT),
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
    row("domains.setup", Connect, Open),
    row("domains.stream_create", Connect, Open),
    row("domains.verify", Write, Open),
    row("webhooks.list", Read, Closed),
    row("webhooks.create", Connect, Open),
    row("webhooks.delete", Delete, Closed),
    row("webhooks.test", Write, Open),
];

/// Fields with a large structure that another tool already describes: the operation, the field, and the description that replaces the
/// structure.
const DESCRIBED_ELSEWHERE: [(&str, &str, &str); 2] = [
    ("segments.create", "filters", "The filter, as for segments_preview. If absent, the segment contains every contact."),
    ("emails.generate", "brief", "A brief as emails_get returns it. To correct a fact, change its text and omit its value."),
];

/// A tool with its operation, ready to be listed and called.
pub struct Definition {
    pub row: &'static Row,
    pub spec: &'static Spec,
    pub tool: Tool,
    pub required: Vec<String>,
    /// Whether the operation returns pages of a list, with the page size in the argument `limit`.
    pub is_paged: bool,
}

impl Definition {
    /// Returns whether a caller with these permissions may call the tool.
    pub fn is_for(&self, permissions: PermissionSet) -> bool {
        match self.spec.access {
            Access::Needs(permission) => permissions.contains(permission),
            Access::NeedsOne(any) => any.iter().any(|permission| permissions.contains(*permission)),
            Access::Public => true,
            Access::Person | Access::Manager | Access::Operator => false,
        }
    }

    pub fn is_keyed(&self) -> bool {
        self.spec.replay == Replay::Keyed
    }
}

pub fn name(spec: &Spec) -> String {
    let client_name = spec.client_name();
    client_name.unwrap_or_else(|| panic!("{} is not for clients", spec.id)).replace('.', "_")
}

/// Builds all tools from the OpenAPI document of `operations`.
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
    let mut flat = schemas.input(spec.id);
    // The page number is removed: with it, some lists have a different response format, and a smaller `limit` would select different items.
    flat.properties.remove(PAGE);
    for (_, field, about) in DESCRIBED_ELSEWHERE.iter().filter(|(operation, ..)| *operation == spec.id) {
        flat.properties.insert((*field).into(), json!({ "type": "object", "description": about }));
    }
    let FlatInput { mut properties, required, definitions } = schemas::input(flat, spec.verb == Verb::Patch);
    let is_paged = properties.contains_key("limit");
    for (name, schema) in own_arguments(row, spec) {
        assert!(properties.insert(name.into(), schema).is_none(), "{}: the input already has a field {name}", spec.id);
    }
    let mut input = object(json!({ "type": "object", "properties": properties }));
    if !required.is_empty() {
        input.insert("required".into(), required.clone().into());
    }
    if !definitions.is_empty() {
        input.insert("$defs".into(), definitions.into());
    }
    let repeats = match row.effect {
        Effect::Read | Effect::Delete => true,
        Effect::Write | Effect::Connect => spec.replay == Replay::Keyed,
        Effect::Send => false,
    };
    let annotations = ToolAnnotations::new()
        .read_only(row.effect == Effect::Read)
        .destructive(row.effect.needs_confirmation())
        .idempotent(repeats)
        .open_world(row.reach == Reach::Open);
    let tool = Tool::new(name(spec), description(row, spec), Arc::new(input))
        .with_title(spec.summary)
        .with_raw_output_schema(Arc::new(output(row, schemas)))
        .with_annotations(annotations);
    Definition { row, spec, tool, required, is_paged }
}

/// Returns the arguments that a tool has in addition to those of its operation, with their schemas.
fn own_arguments(row: &Row, spec: &Spec) -> Vec<(&'static str, Value)> {
    let mut own = Vec::new();
    if spec.replay == Replay::Keyed {
        let about = "With the same key and arguments, the work is done once. Use one fixed value per task.";
        let characters = limits::IDEMPOTENCY_KEY_CHARACTERS_MAX;
        own.push((IDEMPOTENCY_KEY, json!({ "type": "string", "maxLength": characters, "description": about })));
    }
    if row.effect.needs_confirmation() {
        let about = "Set to true only after the user has agreed to exactly this call.";
        own.push((CONFIRM, json!({ "type": "boolean", "description": about })));
    }
    if row.follow.is_some() {
        let about = "Wait for the end of the work, and return its final status.";
        own.push((WAIT, json!({ "type": "boolean", "description": about })));
    }
    own
}

fn description(row: &Row, spec: &Spec) -> String {
    let mut text = schemas::description(spec.summary, spec.about);
    if spec.answers_secret {
        text.push_str(" The result contains a secret.");
    }
    match row.effect {
        Effect::Send => text.push_str(" Sends email, so the user must confirm the call."),
        Effect::Delete => text.push_str(" The user must confirm the call."),
        Effect::Connect => text.push_str(" Data or email can leave this way, so the user must confirm the call."),
        Effect::Read | Effect::Write => {}
    }
    text
}

/// Returns the schema of a tool's structured result. It lists the fields only for reading tools: other tools return the changed object,
/// whose fields a reading tool describes.
fn output(row: &Row, all: &FlatSchemas<'_>) -> JsonObject {
    let data = |operation: &str, lists_fields| {
        let mut data = all.data(operation);
        let definitions = all.embed(&mut data);
        schemas::output(&data, &definitions, lists_fields)
    };
    let mut properties = json!({ "data": data(row.operation, row.effect == Effect::Read) });
    if let Some(follow) = row.follow {
        properties["finalStatus"] = data(follow.status, false);
    }
    object(json!({ "type": "object", "properties": properties, "required": ["data"] }))
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
    use crate::base::clock::Timestamp;
    use crate::engine::api::openapi;
    use crate::engine::api::response::{Envelope, RequestId};
    use crate::operations::OPERATIONS;

    fn all() -> Vec<Definition> {
        definitions(OPERATIONS, &openapi::document(OPERATIONS, None))
    }

    /// Checks that a schema avoids features that some clients reject: several types in one place, values without a type, and
    /// Boolean schemas.
    fn check_dialect(tool: &str, schema: &Value) {
        const TYPED: [&str; 4] = ["type", "$ref", "anyOf", "enum"];
        let members = schema.as_object().unwrap_or_else(|| panic!("{tool}: {schema} is not an object"));
        assert!(TYPED.iter().any(|name| members.contains_key(*name)), "{tool}: {schema} has no type");
        assert!(!schema["type"].is_array(), "{tool}: {schema} has several types");
        for name in ["properties", "$defs"] {
            members.get(name).and_then(Value::as_object).into_iter().flatten().for_each(|(_, part)| check_dialect(tool, part));
        }
        for name in ["items", "additionalProperties"] {
            members.get(name).into_iter().for_each(|part| check_dialect(tool, part));
        }
        members.get("anyOf").and_then(Value::as_array).into_iter().flatten().for_each(|part| check_dialect(tool, part));
    }

    #[test]
    fn every_schema_is_valid_and_small_enough_for_agents() {
        let all = all();
        for definition in &all {
            let tool = &definition.tool;
            let input = Value::Object(tool.input_schema.as_ref().clone());
            let output = Value::Object(tool.output_schema.clone().expect("every tool has an output schema").as_ref().clone());
            for schema in [&input, &output] {
                jsonschema::meta::validate(schema).unwrap_or_else(|error| panic!("{}: {error}", tool.name));
                jsonschema::validator_for(schema).unwrap_or_else(|error| panic!("{}: {error}", tool.name));
                check_dialect(&tool.name, schema);
            }
            for name in ["anyOf", "allOf", "oneOf"] {
                assert!(!input.as_object().is_some_and(|input| input.contains_key(name)), "{}", tool.name);
            }
            assert!(
                tool.name.len() <= 64 && tool.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
                "{}",
                tool.name
            );
            let size = serde_json::to_string(tool).expect("a tool is JSON").len();
            assert!(size <= 7_000, "{}: the tool has {size} bytes", tool.name);
        }
        // A model reads the definitions of all tools before its first call, so their total size is limited. A token has about four bytes.
        let tools: Vec<&Tool> = all.iter().map(|definition| &definition.tool).collect();
        let bytes = serde_json::to_string(&tools).expect("tools are JSON").len();
        assert!(bytes <= 95_000, "the tools have {bytes} bytes");
        assert!((50..=70).contains(&all.len()), "{} tools", all.len());
    }

    /// The example responses of all operations must match the output schemas of their tools.
    #[test]
    fn results_are_valid_according_to_the_output_schemas() {
        let envelope = Envelope { timestamp: Timestamp(0), request: RequestId { boot: 0, number: 1 }, keeps_nulls: false };
        for definition in all() {
            let entry = OPERATIONS.iter().find(|entry| entry.spec.id == definition.spec.id).expect("the operation exists");
            let (_, response) = (entry.example)(&envelope);
            let schema = Value::Object(definition.tool.output_schema.clone().expect("a schema").as_ref().clone());
            let validator = jsonschema::validator_for(&schema).expect("the schema is valid");
            let result = json!({ "data": response["data"], "requestId": "req", "replayed": true });
            validator.validate(&result).unwrap_or_else(|error| panic!("{}: {error}", definition.tool.name));
        }
    }

    #[test]
    fn only_used_definitions_are_in_an_input() {
        for definition in all() {
            let input = Value::Object(definition.tool.input_schema.as_ref().clone());
            let text = input.to_string();
            for name in input["$defs"].as_object().into_iter().flatten().map(|(name, _)| name) {
                assert!(text.contains(&format!("\"#/$defs/{name}\"")), "{}: {name}", definition.tool.name);
            }
        }
    }

    /// An assistant misled by text from other people must not open a way for data to leave the server without the user's consent.
    #[test]
    fn tools_that_connect_other_systems_need_a_confirmation() {
        const HARMLESS: [&str; 3] = ["connections.import", "domains.verify", "webhooks.test"];
        let outward = ["webhooks", "hooks", "domains", "connections", "scheduled_imports", "storefront", "mail_feedback"];
        for definition in all() {
            let Definition { row, spec, tool, .. } = &definition;
            if outward.contains(&spec.noun()) && spec.verb != Verb::Get && !HARMLESS.contains(&spec.id) {
                assert!(row.effect.needs_confirmation(), "{}", spec.id);
                assert!(tool.input_schema["properties"][CONFIRM].is_object(), "{}", spec.id);
            }
        }
        let secret = all().into_iter().find(|definition| definition.spec.answers_secret).expect("a tool returns a secret");
        assert!(secret.tool.description.expect("a description").contains("a secret"));
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
        for id in ["emails.generate", "emails.edit", "projects.import", "contacts.bulk", "connections.import"] {
            assert!(names(id).contains(&WAIT.to_owned()), "{id}");
        }
        assert_eq!(of("contacts.create").required, ["projectId", "email"]);
        assert!(of("contacts.list").is_paged && !of("contacts.get").is_paged);
        assert!(all.iter().all(|definition| definition.tool.input_schema["properties"].get(PAGE).is_none()));
    }

    /// The tools that agents expect from an email marketing server, with their effects.
    #[test]
    fn every_usual_task_has_a_tool() {
        let all = all();
        let effect =
            |name: &str| all.iter().find(|definition| definition.tool.name == name).map(|definition| definition.row.effect);
        for (expected, names) in [
            (
                Read,
                "projects_list projects_get contacts_field_catalog contacts_list contacts_get contacts_imports_get tags_list \
                 segments_list emails_list emails_get emails_status emails_metrics emails_logs campaigns_list campaigns_stats \
                 campaigns_logs domains_list webhooks_list metrics_sending validation_all validation_links \
                 validation_deliverability exports_html exports_mjml exports_pdf",
            ),
            (
                Write,
                "projects_imports_create contacts_create contacts_bulk_create connections_import_contacts tags_create \
                 segments_create emails_generate emails_edits_create campaigns_create campaigns_archive campaigns_unarchive \
                 domains_verify webhooks_test exports_klaviyo exports_mailchimp exports_hubspot",
            ),
            (Send, "emails_send emails_send_test campaigns_send campaigns_schedule"),
            (Delete, "contacts_delete contacts_bulk_delete tags_delete segments_delete campaigns_cancel webhooks_delete"),
            (Connect, "domains_setup domains_create_stream webhooks_create"),
        ] {
            for name in names.split_whitespace() {
                assert_eq!(effect(name), Some(expected), "{name}");
            }
        }
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
            assert!(hints.open_world_hint.is_some() && hints.idempotent_hint.is_some() && definition.tool.title.is_some());
        }
    }
}
