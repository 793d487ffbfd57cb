//! Generates the OpenAPI 3.1 document from the table of operations.
//!
//! The document is built only from the declarations, without special cases for operations. The same table produces the same bytes.

use std::collections::{BTreeMap, BTreeSet};

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::operation::{Entry, Media, Takes};
use super::response::{Envelope, RequestId};
use super::spec::{Access, Replay, Spec};
use crate::base::clock::Timestamp;
use crate::base::optional::STAYS_NULL;
use crate::vocab::codes::Code;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

/// The version of the API, which is independent of the version of the program.
pub const INTERFACE_VERSION: &str = "1.0.0";
const SCHEMAS: &str = "#/components/schemas/";
/// The temporary location of input schemas, until [`Writer::settle`] has compared them with the output schemas.
const INPUTS: &str = "#/components/inputs/";
/// The envelope used in the examples.
const EXAMPLE: Envelope =
    Envelope { timestamp: Timestamp(1_767_225_600_000), request: RequestId { boot: 0x6950_5d80, number: 1 }, keeps_nulls: false };

/// Generates the document for API clients, which contains neither HTML pages nor operations for the operator. `base_url` is the URL of the
/// service; if it is missing, the server URL is `/`.
pub fn document(operations: &[Entry], base_url: Option<&str>) -> Value {
    let mut writer = Writer::new();
    let mut paths = Map::new();
    let mut tags: Vec<&str> = Vec::new();
    for entry in operations.iter().filter(|entry| entry.spec.access != Access::Operator && entry.media.documented) {
        if !tags.contains(&entry.spec.noun()) {
            tags.push(entry.spec.noun());
        }
        for (path, operation) in writer.operations(entry) {
            let place = paths.entry(path).or_insert_with(|| json!({}));
            place[entry.spec.verb.name().to_ascii_lowercase()] = operation;
        }
    }
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Mailmill",
            "version": INTERFACE_VERSION,
            "description": ABOUT,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": base_url.unwrap_or("/") }],
        "tags": tags.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>(),
        "paths": paths,
    });
    writer.settle(&mut document);
    document["components"] = writer.components(&document);
    super::portable_schemas::rewrite(&mut document);
    document
}

const ABOUT: &str = "JSON responses are envelopes, except those of the OAuth operations, `/.well-known` and `/openapi.json`. A success \
    contains `success: true`, `data`, `error: null` and, for some lists, `count`. An error contains `success: false`, `error` with the \
    message, `code`, optional details in `data` and, with status 429, `retryAfter`. Both contain `metadata` with a `timestamp` and a \
    `requestId`, which is also in the header `X-Request-Id`. Field names are in camelCase, times in ISO 8601 in UTC. In `data`, fields \
    without a value are omitted, unless their schema allows `null`. Unknown fields and parameters are rejected, and the error names them. \
    Keys that start with `sk_test_` access only test data; keys that start with `sk_live_` access only live data. Requests with a key \
    count against a budget per minute, account and group of operations: `X-RateLimit-Limit`, `X-RateLimit-Remaining` and \
    `X-RateLimit-Reset` (Unix seconds) report the state of the budget. Requests of signed-in users, on pages or with a token, count \
    against separate budgets that are ten times as large.";

struct Writer {
    /// Generates input schemas: what the server must accept.
    inputs: SchemaGenerator,
    /// Generates output schemas: fields that are always present are required.
    outputs: SchemaGenerator,
    responses: BTreeMap<String, Value>,
    /// All schemas, once their names are final.
    schemas: Map<String, Value>,
}

impl Writer {
    fn new() -> Self {
        let settings = |place: &str| {
            let place = place.trim_matches(['#', '/']);
            SchemaSettings::draft2020_12().with(|settings| {
                settings.definitions_path = format!("/{place}").into();
                settings.meta_schema = None;
            })
        };
        let inputs = settings(INPUTS).for_deserialize().into_generator();
        let outputs = settings(SCHEMAS).for_serialize().into_generator();
        Self { inputs, outputs, responses: BTreeMap::new(), schemas: Map::new() }
    }

    /// Describes the operation at its path and at each of its aliases.
    fn operations(&mut self, entry: &Entry) -> Vec<(&'static str, Value)> {
        let spec = entry.spec;
        let mut all = vec![(spec.path, self.operation(entry))];
        for (index, alias) in spec.aliases.iter().enumerate() {
            let mut same = all[0].1.clone();
            same["operationId"] = format!("{}.alias{}", spec.id, index + 1).into();
            same["description"] = format!("An alias of `{} {}`.\n\n{}", spec.verb.name(), spec.path, describe(spec)).into();
            same["x-alias-of"] = spec.id.into();
            all.push((*alias, same));
        }
        if let Some(name) = spec.client_name() {
            all[0].1["x-client-name"] = name.into();
        }
        all
    }

    fn operation(&mut self, entry: &Entry) -> Value {
        let spec = entry.spec;
        let (input, output) = (entry.example)(&EXAMPLE);
        let mut operation = json!({
            "operationId": spec.id,
            "tags": [spec.noun()],
            "summary": spec.summary,
            "description": describe(spec),
            "security": security(spec),
        });
        let shape = self.shape(entry);
        let parameters = parameters(entry, &shape, &input);
        if !parameters.is_empty() {
            operation["parameters"] = parameters.into();
        }
        if let Some(body) = self.body(entry, shape, &input) {
            operation["requestBody"] = body;
        }
        let mut responses = Map::new();
        responses.insert(entry.status.to_string(), self.success(entry, output));
        for (status, codes) in by_status(&spec.codes()) {
            let failure = match status {
                400 if spec.speaks_oauth => oauth_failure(),
                _ => self.failure(status, &codes, is_counted(spec)),
            };
            responses.insert(status.to_string(), failure);
        }
        operation["responses"] = responses.into();
        operation
    }

    /// Returns the schema of the input as an object schema, even if the input is a named component.
    fn shape(&mut self, entry: &Entry) -> Value {
        let schema = (entry.input)(&mut self.inputs).to_value();
        let named = schema.get("$ref").and_then(Value::as_str).and_then(|at| at.strip_prefix(INPUTS));
        named.and_then(|name| self.inputs.definitions().get(name)).cloned().unwrap_or(schema)
    }

    fn body(&mut self, entry: &Entry, shape: Value, example: &Value) -> Option<Value> {
        let spec = entry.spec;
        let (content_type, mut schema) = match entry.media.takes {
            Takes::Json if spec.verb.has_body() => (Media::JSON_TYPE, shape),
            Takes::Form(fields) => ("multipart/form-data", fields(&mut self.inputs).to_value()),
            Takes::Json | Takes::Nothing => return None,
        };
        let in_path: Vec<&str> = spec.path_names().collect();
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.retain(|name, _| !in_path.contains(&name.as_str()));
            if properties.is_empty() && content_type == Media::JSON_TYPE {
                return None;
            }
        }
        let mut required = false;
        if let Some(names) = schema.get_mut("required").and_then(Value::as_array_mut) {
            names.retain(|name| !name.as_str().is_some_and(|name| in_path.contains(&name)));
            required = !names.is_empty();
            if names.is_empty() {
                schema.as_object_mut().expect("an object schema has members").remove("required");
            }
        }
        required |= matches!(entry.media.takes, Takes::Form(_)) || super::input::needs_a_field(&schema);
        let mut example = example.clone();
        if let Some(members) = example.as_object_mut() {
            members.retain(|name, _| !in_path.contains(&name.as_str()));
        }
        let content = json!({ content_type: { "schema": schema, "example": example } });
        Some(json!({ "required": required, "content": content }))
    }

    fn success(&mut self, entry: &Entry, example: Value) -> Value {
        let content_type = entry.media.gives;
        let mut content = if content_type == Media::JSON_TYPE {
            let mut schema = (entry.output)(&mut self.outputs).to_value();
            leave_out_nulls(&mut schema);
            if schema == json!(true) { json!({ "schema": { "type": "object" } }) } else { json!({ "schema": schema }) }
        } else {
            json!({ "schema": { "type": "string" } })
        };
        if !example.is_null() {
            content["example"] = example;
        }
        let mut headers = json!({ "X-Request-Id": header("X-Request-Id") });
        if is_counted(entry.spec) {
            for name in RATE_HEADERS {
                headers[name] = header(name);
            }
        }
        if entry.spec.replay == Replay::Keyed {
            headers[REPLAYED] = header(REPLAYED);
        }
        let description = if entry.status == 201 { "The object was created." } else { "The operation succeeded." };
        json!({ "description": description, "headers": headers, "content": { content_type: content } })
    }

    /// Returns a reference to the response for these error codes.
    fn failure(&mut self, status: u16, codes: &[Code], keyed: bool) -> Value {
        let words: Vec<&str> = codes.iter().map(|code| code.info().wire).collect();
        // Responses to uncounted requests, such as those without valid credentials, have no rate-limit headers.
        let is_let_in = status != 401 || codes.contains(&Code::SignInFailed);
        let counted = keyed && is_let_in && status != 405;
        let name = format!("{}{status}.{}", if counted { "Counted." } else { "" }, words.join("."));
        self.responses.entry(name.clone()).or_insert_with(|| failure(status, codes, &words, counted));
        json!({ "$ref": format!("#/components/responses/{name}") })
    }

    /// Gives every schema its final name: if the input and output schemas of a type differ, the input schema gets the suffix `Input`.
    fn settle(&mut self, document: &mut Value) {
        let mut schemas = self.outputs.take_definitions(true);
        schemas.values_mut().for_each(leave_out_nulls);
        let mut inputs = self.inputs.take_definitions(true);
        let mut apart: BTreeSet<String> = BTreeSet::new();
        loop {
            // Renaming a schema changes the schemas that refer to it, so the comparison is repeated until it finds no further difference.
            let named = |name: &String| if apart.contains(name) { format!("{name}Input") } else { name.clone() };
            let differs = |(name, schema): &(&String, &Value)| {
                let mut schema = (*schema).clone();
                rename(&mut schema, &named);
                !apart.contains(*name) && schemas.get(*name).is_some_and(|other| *other != schema)
            };
            let more: Vec<String> = inputs.iter().filter(differs).map(|(name, _)| name.clone()).collect();
            if more.is_empty() {
                inputs.values_mut().for_each(|schema| rename(schema, &named));
                rename(document, &named);
                schemas.extend(inputs.into_iter().map(|(name, schema)| (named(&name), schema)));
                break;
            }
            apart.extend(more);
        }
        schemas.insert("Metadata".into(), metadata());
        schemas.insert("Pagination".into(), pagination());
        schemas.insert("Error".into(), error());
        self.schemas = schemas;
    }

    /// Returns the components: the schemas that `document` refers to, directly or indirectly, and the shared responses, headers, parameters
    /// and security schemes.
    fn components(self, document: &Value) -> Value {
        let mut schemas = self.schemas;
        let mut wanted = BTreeSet::new();
        references(document, &mut wanted);
        references(&json!(self.responses), &mut wanted);
        let mut seen = BTreeSet::new();
        while let Some(name) = wanted.pop_first() {
            if seen.insert(name.clone()) {
                let schema = schemas.get(&name).unwrap_or_else(|| panic!("the schema {name} is referenced but not defined"));
                references(schema, &mut wanted);
            }
        }
        schemas.retain(|name, _| seen.contains(name));
        schemas.sort_keys();
        json!({
            "schemas": schemas,
            "responses": self.responses,
            "headers": headers(),
            "parameters": { "IdempotencyKey": idempotency_key() },
            "securitySchemes": {
                "bearer": {
                    "type": "http", "scheme": "bearer",
                    "description": "`Authorization: Bearer sk_…`. `Authorization: ApiKey sk_…` is also accepted.",
                },
                "apiKey": { "type": "apiKey", "in": "header", "name": "X-API-Key" },
                "signedIn": {
                    "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
                    "description": "`Authorization: Bearer …` with the token that `POST /v1/auth/login` returns.",
                },
            },
        })
    }
}

/// Returns whether calls to the operation count against an account's request budget.
fn is_counted(spec: &Spec) -> bool {
    matches!(spec.access, Access::Needs(_) | Access::NeedsOne(_) | Access::Person | Access::Manager)
}

fn security(spec: &Spec) -> Value {
    let mut ways = Vec::new();
    if matches!(spec.access, Access::Needs(_) | Access::NeedsOne(_)) {
        ways.extend([json!({ "bearer": [] }), json!({ "apiKey": [] })]);
    }
    if spec.takes_tokens {
        ways.push(json!({ "signedIn": [] }));
    }
    ways.into()
}

/// Returns the description of an operation: what callers need to know beyond the types, and rules such as required permissions.
pub fn describe(spec: &Spec) -> String {
    let mut parts: Vec<String> = Vec::new();
    if !spec.about.is_empty() {
        parts.push(spec.about.to_owned());
    }
    match spec.access {
        Access::Public => parts.push("Requires no API key.".into()),
        Access::Needs(permission) => parts.push(format!("Requires the permission `{}`.", permission.word())),
        Access::NeedsOne(permissions) if permissions.len() == Permission::ALL.len() => {
            parts.push("Works with any permission.".into());
        }
        Access::NeedsOne(permissions) => {
            let words: Vec<String> = permissions.iter().map(|permission| format!("`{}`", permission.word())).collect();
            parts.push(format!("Requires one of the permissions {}.", words.join(", ")));
        }
        Access::Person => parts.push("For signed-in users; API keys are rejected.".into()),
        Access::Manager => parts.push("For the account's signed-in owner and admins; API keys are rejected.".into()),
        Access::Operator => {}
    }
    if spec.takes_tokens && !spec.access.is_personal() {
        parts
            .push("The token of a signed-in user is accepted in place of a key, with the permissions of the user's role.".into());
    }
    if is_counted(spec) {
        parts.push(format!("Counts against the request budget `{}`.", spec.rate.word()));
    }
    if spec.replay == Replay::Keyed {
        let hours = limits::IDEMPOTENCY_WINDOW_MS / (60 * 60 * 1000);
        parts.push(format!(
            "With an `Idempotency-Key`, the first response is stored for {hours} hours. If the same request is sent again with \
             the same API key, it gets the stored response, with `Idempotent-Replayed: true`. A different request with the \
             same `Idempotency-Key` is rejected with 409 `IDEMPOTENCY_CONFLICT`. Responses with 429 and 5xx are not stored."
        ));
    }
    parts.join("\n\n")
}

/// Describes the path parameters, the query parameters (if the input is not in a body), and the idempotency key.
fn parameters(entry: &Entry, shape: &Value, example: &Value) -> Vec<Value> {
    let spec = entry.spec;
    let empty = Map::new();
    let properties = shape.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required =
        |name: &str| shape.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|other| other == name));
    let mut parameters = Vec::new();
    for name in spec.path_names() {
        let schema = properties.get(name).unwrap_or_else(|| panic!("{}: the input has no field named {name}", spec.id));
        parameters.push(parameter(name, "path", true, schema, example.get(name)));
    }
    let in_path: Vec<&str> = spec.path_names().collect();
    if !spec.verb.has_body() {
        for (name, schema) in properties.iter().filter(|(name, _)| !in_path.contains(&name.as_str())) {
            parameters.push(parameter(name, "query", required(name), schema, example.get(name)));
        }
    }
    if spec.replay == Replay::Keyed {
        parameters.push(json!({ "$ref": "#/components/parameters/IdempotencyKey" }));
    }
    parameters
}

fn parameter(name: &str, place: &str, required: bool, schema: &Value, example: Option<&Value>) -> Value {
    let mut schema = without_null(schema.clone());
    let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
    let mut parameter = json!({ "name": name, "in": place, "required": required });
    if let Some(description) = description {
        parameter["description"] = description;
    }
    if schema.get("type").is_some_and(|kind| kind == "array") {
        parameter["style"] = "form".into();
        parameter["explode"] = false.into();
    }
    parameter["schema"] = schema;
    if let Some(example) = example.filter(|example| !example.is_null()) {
        parameter["example"] = example.clone();
    }
    parameter
}

/// Removes `null` from output schemas: fields without a value are omitted; only fields that are declared nullable can be `null`.
pub fn leave_out_nulls(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let mut optional = Vec::new();
            if let Some(Value::Object(fields)) = members.get_mut("properties") {
                for (name, field) in fields {
                    let stays = field.as_object_mut().and_then(|field| field.remove(STAYS_NULL)).is_some();
                    if !stays && is_option(field) {
                        *field = without_null(field.take());
                        optional.push(name.clone());
                    }
                }
            }
            if let Some(Value::Array(required)) = members.get_mut("required") {
                required.retain(|name| !optional.iter().any(|other| name == other));
            }
            members.values_mut().for_each(leave_out_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(leave_out_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns whether the schema describes an optional value: `null` or one other type or schema.
fn is_option(schema: &Value) -> bool {
    let is_null = |choice: &Value| choice.get("type").is_some_and(|kind| kind == "null");
    let kinds = schema.get("type").and_then(Value::as_array);
    let choices = schema.get("anyOf").and_then(Value::as_array);
    kinds.is_some_and(|kinds| kinds.len() == 2 && kinds.iter().any(|kind| kind == "null"))
        || choices.is_some_and(|choices| choices.len() == 2 && choices.iter().any(is_null))
}

/// Adapts a schema to form fields, which are text: optional fields are omitted, and no field is `null`.
pub fn form_fields(schema: &mut Schema) {
    let fields = schema.get_mut("properties").and_then(Value::as_object_mut);
    for field in fields.into_iter().flat_map(|fields| fields.values_mut()) {
        *field = without_null(field.take());
    }
}

/// Removes `null` from a schema: parameters, form fields and most output fields are omitted when they have no value.
fn without_null(mut schema: Value) -> Value {
    let Some(members) = schema.as_object_mut() else { return schema };
    if let Some(kinds) = members.get_mut("type").and_then(Value::as_array_mut) {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            members.insert("type".into(), kind);
        }
    }
    if let Some(values) = members.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|value| !value.is_null());
    }
    if members.get("default").is_some_and(Value::is_null) {
        members.remove("default");
    }
    let Some(Value::Array(mut choices)) = members.remove("anyOf") else { return schema };
    choices.retain(|choice| choice.get("type").is_none_or(|kind| kind != "null"));
    match choices.as_mut_slice() {
        [Value::Object(only)] => {
            for (name, value) in std::mem::take(only) {
                members.entry(name).or_insert(value);
            }
        }
        _ => {
            members.insert("anyOf".into(), choices.into());
        }
    }
    schema
}

fn by_status(codes: &[Code]) -> BTreeMap<u16, Vec<Code>> {
    let mut groups: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in codes {
        groups.entry(code.info().status).or_default().push(*code);
    }
    groups
}

fn failure(status: u16, codes: &[Code], words: &[&str], counted: bool) -> Value {
    let lines: Vec<String> = codes.iter().map(|code| format!("`{}`: {}", code.info().wire, code.info().message)).collect();
    let mut headers = json!({ "X-Request-Id": header("X-Request-Id") });
    let mut also = |name: &str| headers[name] = header(name);
    match status {
        401 | 403 => also("WWW-Authenticate"),
        405 => also("Allow"),
        429 | 503 => also("Retry-After"),
        _ => {}
    }
    if counted {
        RATE_HEADERS.into_iter().for_each(&mut also);
    }
    if codes.contains(&Code::IdempotencyConflict) || (400..=409).contains(&status) && counted {
        also(REPLAYED);
    }
    let schema = json!({
        "allOf": [{ "$ref": format!("{SCHEMAS}Error") }, { "properties": { "code": { "enum": words } } }],
    });
    json!({ "description": lines.join("\n\n"), "headers": headers, "content": { Media::JSON_TYPE: { "schema": schema } } })
}

/// Describes the error format of RFC 6749, section 5.2.
fn oauth_failure() -> Value {
    let schema = json!({
        "type": "object",
        "required": ["error"],
        "properties": { "error": { "type": "string" }, "error_description": { "type": "string" } },
    });
    json!({ "description": "`error` is an OAuth error code.", "content": { Media::JSON_TYPE: { "schema": schema } } })
}

const RATE_HEADERS: [&str; 3] = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"];
const REPLAYED: &str = "Idempotent-Replayed";

fn header(name: &str) -> Value {
    json!({ "$ref": format!("#/components/headers/{name}") })
}

fn headers() -> Value {
    let number = |description: &str| json!({ "description": description, "schema": { "type": "integer", "minimum": 0 } });
    let text = |description: &str| json!({ "description": description, "schema": { "type": "string" } });
    json!({
        "X-Request-Id": {
            "description": "The request ID, as in `metadata.requestId`.",
            "required": true,
            "schema": { "type": "string", "pattern": "^req_[0-9a-f]{20}$" },
        },
        "X-RateLimit-Limit": number("The number of requests that this operation's group allows in 60 seconds."),
        "X-RateLimit-Remaining": number("The number of requests left in the current 60 seconds."),
        "X-RateLimit-Reset": number("The end of the current 60 seconds, in Unix seconds."),
        "Retry-After": number("The number of seconds to wait before retrying."),
        "Idempotent-Replayed": {
            "description": "Present only on a response that is replayed for the same `Idempotency-Key`.",
            "schema": { "const": "true" },
        },
        "WWW-Authenticate": text("The challenge defined in RFC 6750. With status 403, its `scope` names a missing permission."),
        "Allow": text("The methods that this path supports."),
    })
}

fn idempotency_key() -> Value {
    json!({
        "name": "Idempotency-Key",
        "in": "header",
        "required": false,
        "description": "Makes retries safe; see the description of the operation.",
        "schema": {
            "type": "string", "minLength": 1, "maxLength": limits::IDEMPOTENCY_KEY_CHARACTERS_MAX, "pattern": "^[!-~]([ -~]*[!-~])?$",
        },
    })
}

fn metadata() -> Value {
    json!({
        "type": "object",
        "properties": {
            "timestamp": { "type": "string", "format": "date-time", "description": "The time when the request was received." },
            "requestId": { "type": "string", "pattern": "^req_[0-9a-f]{20}$", "description": "Identifies the request in the log." },
        },
        "required": ["timestamp", "requestId"],
        "additionalProperties": false,
    })
}

fn pagination() -> Value {
    let number = |least: u64| json!({ "type": "integer", "minimum": least });
    json!({
        "type": "object",
        "properties": {
            "total": number(0), "limit": number(1), "offset": number(0), "page": number(1), "hasMore": { "type": "boolean" },
        },
        "required": ["total", "limit", "offset", "page", "hasMore"],
        "additionalProperties": false,
    })
}

fn error() -> Value {
    json!({
        "type": "object",
        "properties": {
            "success": { "const": false },
            "error": { "type": "string", "description": "The error message." },
            "code": { "type": "string", "description": "The error code." },
            "data": { "type": "object", "description": "Details, such as the `field` with the invalid value." },
            "retryAfter": { "type": "integer", "minimum": 1, "description": "Only with status 429: the seconds in `Retry-After`." },
            "metadata": { "$ref": format!("{SCHEMAS}Metadata") },
        },
        "required": ["success", "error", "code", "metadata"],
        "additionalProperties": false,
    })
}

/// Rewrites each `$ref` to an input schema to the schema's final component name.
fn rename(value: &mut Value, named: &impl Fn(&String) -> String) {
    match value {
        Value::Object(members) => {
            for (key, member) in members.iter_mut() {
                let name = member.as_str().filter(|_| key == "$ref").and_then(|at| at.strip_prefix(INPUTS)).map(str::to_owned);
                match name {
                    Some(name) => *member = format!("{SCHEMAS}{}", named(&name)).into(),
                    None => rename(member, named),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, named)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            if let Some(name) = members.get("$ref").and_then(Value::as_str).and_then(|at| at.strip_prefix(SCHEMAS)) {
                found.insert(name.to_owned());
            }
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
