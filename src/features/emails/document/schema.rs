//! The blocks' JSON Schemas for language models, and a parser that reports the violations in each block.
//!
//! The schema follows the rules of structured output: every property is required (null means an absent value), no other properties are
//! allowed, the variants of `anyOf` have a constant `type`, and there is no recursion.

use std::sync::LazyLock;

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

use super::*;
use crate::base::serde_str;

/// The kinds of blocks that writers choose from, between the header and the footer.
pub const CONTENT_KINDS: [&str; 14] = [
    "hero",
    "text",
    "heading",
    "image",
    "button",
    "columns",
    "products",
    "quote",
    "list",
    "coupon",
    "countdown",
    "table",
    "divider",
    "social",
];

/// Returns the JSON Schema of a content block's fields, without the IDs; `None` for an unknown kind.
pub fn block_schema(kind: &str) -> Option<&'static Json> {
    static SCHEMAS: LazyLock<Vec<Json>> = LazyLock::new(|| CONTENT_KINDS.map(fields_of).into());
    let place = CONTENT_KINDS.iter().position(|known| *known == kind)?;
    SCHEMAS.get(place)
}

fn fields_of(kind: &str) -> Json {
    match kind {
        "hero" => strict::<Hero>(),
        "text" => strict::<Text>(),
        "heading" => strict::<Heading>(),
        "image" => strict::<Image>(),
        "button" => strict::<Button>(),
        "columns" => strict::<Columns>(),
        "products" => strict::<Products>(),
        "quote" => strict::<Quote>(),
        "list" => strict::<List>(),
        "coupon" => strict::<Coupon>(),
        "countdown" => strict::<Countdown>(),
        "table" => strict::<Table>(),
        "divider" => strict::<Divider>(),
        _ => strict::<Social>(),
    }
}

fn strict<T: JsonSchema>() -> Json {
    // The schema for serialization is used, because it marks every property as required.
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(Strict);
    let mut json = Json::from(settings.into_generator().into_root_schema_for::<T>());
    if let Some(object) = json.as_object_mut() {
        object.remove("title");
    }
    json
}

/// Describes the fields of each kind of block on one line, for the prompts that edit or repair an email. `?` marks fields that may be null.
pub fn notation() -> &'static str {
    static NOTATION: LazyLock<String> = LazyLock::new(|| {
        let line = |kind: &str| {
            let schema = block_schema(kind).unwrap_or(&Json::Null);
            format!("{kind}: {}\n", shape(schema, schema))
        };
        let frame = "header: {id, name, logo?, href?, links: [{label, href}]}\n\
                     footer: {id, sender, address?, reason?, links: [{label, href}], unsubscribe, view?}\n";
        CONTENT_KINDS.iter().map(|kind| line(kind)).chain([frame.to_owned()]).collect()
    });
    &NOTATION
}

/// Describes a value as `{name, name?}`, `[item]`, or its allowed words. A string is the most common value and has no description.
fn shape(schema: &Json, root: &Json) -> String {
    if let Some(path) = schema["$ref"].as_str() {
        let found = path.strip_prefix('#').and_then(|path| root.pointer(path));
        return found.map(|found| shape(found, root)).unwrap_or_default();
    }
    if let Some(kinds) = schema["anyOf"].as_array() {
        let kinds: Vec<String> = kinds
            .iter()
            .filter(|kind| kind["type"] != "null")
            .map(|kind| shape(kind, root))
            .filter(|kind| !kind.is_empty())
            .collect();
        return kinds.join("|");
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().filter_map(Json::as_str).collect::<Vec<_>>().join("|");
    }
    if let Some(word) = schema["const"].as_str() {
        return word.to_owned();
    }
    if schema["items"].is_object() {
        return format!("[{}]", shape(&schema["items"], root));
    }
    let Some(fields) = schema["properties"].as_object() else { return String::new() };
    let field = |(name, value): (&String, &Json)| {
        let may_be_null = |kind: &Json| kind["type"] == "null";
        let is_null = value["anyOf"].as_array().is_some_and(|kinds| kinds.iter().any(may_be_null))
            || value["type"].as_array().is_some_and(|kinds| kinds.contains(&"null".into()));
        let inner = shape(value, root);
        let inner = if inner.is_empty() { inner } else { format!(": {inner}") };
        format!("{name}{}{inner}", if is_null { "?" } else { "" })
    };
    format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
}

/// The maximum length, in bytes, of a pattern in the schema. Longer patterns are removed, because they do not help a language model.
const PATTERN_BYTES_MAX: usize = 100;

/// Makes a schema strict, as required by structured output.
#[derive(Clone, Debug)]
struct Strict;

impl Transform for Strict {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        // The schema contains no IDs of blocks, because the program assigns them.
        if let Some(fields) = object.get_mut("properties").and_then(Json::as_object_mut) {
            fields.retain(|name, _| name != "id");
        }
        for word in ["format", "default", "$schema"] {
            object.remove(word);
        }
        if object.get("pattern").and_then(Json::as_str).is_some_and(|pattern| pattern.len() > PATTERN_BYTES_MAX) {
            object.remove("pattern");
        }
        if let Some(kinds) = object.remove("oneOf") {
            object.insert("anyOf".into(), kinds);
        }
        if let Some(names) = object.get("properties").and_then(Json::as_object).map(|all| all.keys().cloned().collect::<Vec<_>>())
        {
            object.insert("required".into(), names.into());
            object.insert("additionalProperties".into(), false.into());
        }
    }
}

/// Parses a document block by block, so that an error in one block does not hide errors in other blocks.
pub fn read(json: &Json) -> Result<Email, Vec<Violation>> {
    let Some(object) = json.as_object() else {
        return Err(vec![violation("", "is not an object; write a complete email document".to_owned())]);
    };
    let mut found = Vec::new();
    let mut rest = object.clone();
    let listed = match rest.insert("blocks".into(), Json::Array(Vec::new())) {
        Some(Json::Array(blocks)) if blocks.len() <= limits::EMAIL_BLOCKS_MAX => blocks,
        Some(Json::Array(blocks)) => {
            let problem =
                format!("has {} blocks, but 2 to {} are allowed: remove blocks", blocks.len(), limits::EMAIL_BLOCKS_MAX);
            return Err(vec![violation("blocks", problem)]);
        }
        _ => return Err(vec![violation("blocks", "must be a list of blocks".to_owned())]),
    };
    let mut blocks = Vec::with_capacity(listed.len());
    for (index, block) in listed.iter().enumerate() {
        let path = format!("blocks[{index}]");
        blocks.extend(read_block(block, &path, &mut found));
    }
    let frame = read_part::<Frame>(&Json::Object(rest), "", &mut found);
    let Some(Frame(mut email)) = frame.filter(|_| found.is_empty()) else { return Err(found) };
    email.blocks = blocks;
    let violations = email.check();
    if violations.is_empty() { Ok(email) } else { Err(violations) }
}

/// A document without its blocks.
#[derive(Deserialize)]
struct Frame(Email);

fn violation(path: &str, problem: String) -> Violation {
    Violation { path: path.to_owned(), kind: ViolationKind::Invalid, problem }
}

/// Parses one value. If this fails, adds a violation with the path of the field to `found`.
fn read_part<T: DeserializeOwned>(json: &Json, path: &str, found: &mut Vec<Violation>) -> Option<T> {
    match serde_path_to_error::deserialize(json) {
        Ok(value) => Some(value),
        Err(error) => {
            let place = error.path().to_string();
            let said = error.into_inner().to_string();
            // The parser states the kind of an error only in the error message.
            let is_missing = said.starts_with("missing field");
            let kind = if is_missing { ViolationKind::Missing } else { ViolationKind::Rejected };
            let (inner, problem) = serde_str::placed(&place, &said);
            let parted = !path.is_empty() && !inner.is_empty() && !inner.starts_with('[');
            let path = format!("{path}{}{inner}", if parted { "." } else { "" });
            found.push(Violation { path, kind, problem });
            None
        }
    }
}

/// Returns the kind and the fields of a tagged value.
fn untag(json: &Json, path: &str, found: &mut Vec<Violation>) -> Option<(String, Json)> {
    let mut fields: Map<String, Json> = match json.as_object() {
        Some(fields) => fields.clone(),
        None => {
            found.push(violation(path, "is not an object; write the block as an object with a `type`".to_owned()));
            return None;
        }
    };
    match fields.remove("type") {
        Some(Json::String(kind)) => Some((kind, Json::Object(fields))),
        _ => {
            found.push(violation(&format!("{path}.type"), "must be the block's type, such as `text`".to_owned()));
            None
        }
    }
}

fn read_block(json: &Json, path: &str, found: &mut Vec<Violation>) -> Option<Block> {
    let (kind, fields) = untag(json, path, found)?;
    Some(match kind.as_str() {
        "header" => Block::Header(read_part(&fields, path, found)?),
        "hero" => Block::Hero(read_part(&fields, path, found)?),
        "text" => Block::Text(read_part(&fields, path, found)?),
        "heading" => Block::Heading(read_part(&fields, path, found)?),
        "image" => Block::Image(read_part(&fields, path, found)?),
        "button" => Block::Button(read_part(&fields, path, found)?),
        "columns" => Block::Columns(read_columns(&fields, path, found)?),
        "products" => Block::Products(read_part(&fields, path, found)?),
        "quote" => Block::Quote(read_part(&fields, path, found)?),
        "list" => Block::List(read_part(&fields, path, found)?),
        "coupon" => Block::Coupon(read_part(&fields, path, found)?),
        "countdown" => Block::Countdown(read_part(&fields, path, found)?),
        "table" => Block::Table(read_part(&fields, path, found)?),
        "divider" => Block::Divider(read_part(&fields, path, found)?),
        "social" => Block::Social(read_part(&fields, path, found)?),
        "footer" => Block::Footer(read_part(&fields, path, found)?),
        _ => {
            let known = "header, hero, text, heading, image, button, columns, products, quote, list, coupon, countdown, table, \
                         divider, social, footer";
            found.push(violation(
                &format!("{path}.type"),
                format!("is \"{kind}\", which is not a block type; use one of {known}"),
            ));
            return None;
        }
    })
}

/// Parses columns. The tagged values in columns are parsed one by one, because serde would report an error in such a value only with the
/// path of the whole block.
fn read_columns(fields: &Json, path: &str, found: &mut Vec<Violation>) -> Option<Columns> {
    let mut bare = fields.clone();
    let mut cells = Vec::new();
    if let Some(columns) = bare.get_mut("columns").and_then(Json::as_array_mut) {
        for (at, column) in columns.iter_mut().enumerate().take(limits::EMAIL_COLUMNS_MAX) {
            let Some(blocks) = column.get_mut("blocks").and_then(Json::as_array_mut) else { continue };
            let given = std::mem::take(blocks);
            let each = given.iter().enumerate().take(limits::EMAIL_COLUMN_BLOCKS_MAX + 1);
            let read: Vec<Cell> = each
                .filter_map(|(index, cell)| read_cell(cell, &format!("{path}.columns[{at}].blocks[{index}]"), found))
                .collect();
            cells.push((at, read));
        }
    }
    let mut columns: Columns = read_part(&bare, path, found)?;
    for (at, read) in cells {
        columns.columns[at].blocks = read;
    }
    Some(columns)
}

fn read_cell(json: &Json, path: &str, found: &mut Vec<Violation>) -> Option<Cell> {
    let (kind, fields) = untag(json, path, found)?;
    Some(match kind.as_str() {
        "text" => Cell::Text(read_part(&fields, path, found)?),
        "heading" => Cell::Heading(read_part(&fields, path, found)?),
        "image" => Cell::Image(read_part(&fields, path, found)?),
        "button" => Cell::Button(read_part(&fields, path, found)?),
        "list" => Cell::List(read_part(&fields, path, found)?),
        "divider" => Cell::Divider(read_part(&fields, path, found)?),
        _ => {
            let known = "text, heading, image, button, list, divider";
            found.push(violation(&format!("{path}.type"), format!("is \"{kind}\", but a column can contain only {known}")));
            return None;
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn without_ids(json: &mut Json) {
        match json {
            Json::Object(fields) => {
                fields.remove("id");
                fields.values_mut().for_each(without_ids);
            }
            Json::Array(items) => items.iter_mut().for_each(without_ids),
            _ => {}
        }
    }

    #[test]
    fn the_sample_fits_the_schemas_and_the_schemas_are_strict() {
        let mut kinds = 0;
        for block in Email::sample().to_json()["blocks"].as_array().expect("the field is a list") {
            let mut fields = block.clone();
            let kind = fields.as_object_mut().and_then(|fields| fields.remove("type")).expect("a block has a type");
            let Some(schema) = block_schema(kind.as_str().expect("the type is a word")) else { continue };
            without_ids(&mut fields);
            assert!(jsonschema::is_valid(schema, &fields), "{kind}: {fields}");
            let text = schema.to_string();
            assert!(!text.contains("oneOf") && !text.contains("\"default\"") && !text.contains("patternProperties"), "{text}");
            kinds += 1;
        }
        assert_eq!(kinds, CONTENT_KINDS.len(), "the sample has every kind");
    }

    #[test]
    fn the_notation_has_every_kind_and_its_fields() {
        let text = notation();
        assert_eq!(text.lines().count(), CONTENT_KINDS.len() + 2, "{text}");
        assert!(text.contains("button: {label, href, emphasis: primary|secondary|quiet}"), "{text}");
        assert!(text.contains("hero: {eyebrow?, title, text?, image?: {src, alt?"), "{text}");
        assert!(text.contains("list: {marks: bullets|numbers|checks, items: [{title?, text}]}"), "{text}");
    }

    #[test]
    fn every_mistake_is_reported_with_its_path() {
        let mut json = Email::sample().to_json();
        json["blocks"][1]["button"]["href"] = json!("javascript:alert(1)");
        json["blocks"][2] = json!({ "type": "carousel", "id": "x" });
        json["blocks"][3]["hue"] = json!("red");
        json["language"] = json!("xx");
        let found = Email::from_json(&json).expect_err("the document has four errors");
        let places: Vec<&str> = found.iter().map(|violation| violation.path.as_str()).collect();
        assert_eq!(places, ["blocks[1].button.href", "blocks[2].type", "blocks[3].hue", "language"], "{found:#?}");
    }

    #[test]
    fn a_missing_field_is_reported_with_its_own_path() {
        let mut json = Email::sample().to_json();
        json["blocks"][1]["button"].as_object_mut().expect("the hero has a button").remove("href");
        let found = Email::from_json(&json).expect_err("a field is missing");
        let expected = ("blocks[1].button.href", ViolationKind::Missing, "the field is required");
        assert_eq!((found[0].path.as_str(), found[0].kind, found[0].problem.as_str()), expected);
    }

    #[test]
    fn a_mistake_in_a_column_is_reported_with_its_path() {
        let mut json = Email::sample().to_json();
        let columns = json!({ "type": "columns", "id": "c", "columns": [
            { "blocks": [{ "type": "text", "id": "c1", "text": "a" }] },
            { "blocks": [{ "type": "image", "id": "c2", "image": { "src": "nowhere" } }, { "type": "hero", "id": "c3" }] },
        ] });
        json["blocks"].as_array_mut().expect("the field is a list").insert(2, columns);
        let found = Email::from_json(&json).expect_err("the document has two errors");
        let places: Vec<&str> = found.iter().map(|violation| violation.path.as_str()).collect();
        assert_eq!(places, ["blocks[2].columns[1].blocks[0].image.src", "blocks[2].columns[1].blocks[1].type"]);
    }
}
