//! The first step of writing with a language model: the outline, which lists the blocks in the email and the content of each.

use serde::Deserialize;
use serde_json::{Value, json};

use super::material::Material;
use crate::base::locale::LanguageTag;
use crate::engine::language_model::AnswerSchema;
use crate::features::emails::document::{
    self, Block, CONTENT_KINDS, Direction, Email, ImageUrl, Layout, Link, Purpose, Violation,
};
use crate::vocab::limits;

/// A parsed outline: the planned blocks, and the parts of the email that are already complete.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The document without its content blocks.
    pub frame: Value,
    pub header: Value,
    pub footer: Value,
    pub blocks: Vec<PlannedBlock>,
}

/// A content block before it is written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedBlock {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: String,
    /// What the block will say, on one line.
    pub says: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutlineAnswer {
    subject: String,
    preheader: String,
    #[serde(default)]
    purpose: Option<Value>,
    #[serde(default)]
    layout: Option<Value>,
    #[serde(default)]
    blocks: Vec<PlannedBlock>,
    footer: FooterTexts,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FooterTexts {
    reason: String,
    unsubscribe: String,
    view: String,
}

/// Returns the schema of an outline. A translation keeps the blocks of its original, so its outline has none.
pub fn schema(is_translation: bool) -> AnswerSchema {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let mut fields = json!({
        "subject": text("What the inbox shows in bold: 30 to 60 characters that state the news."),
        "preheader": text("What the inbox shows after the subject: 40 to 110 characters that continue it and do not repeat it."),
        "footer": {
            "type": "object",
            "properties": {
                "reason": text("Why the reader gets this email, in one sentence."),
                "unsubscribe": text("The text of the unsubscribe link."),
                "view": text("The text of the link to the email in a browser."),
            },
            "required": ["reason", "unsubscribe", "view"], "additionalProperties": false,
        },
    });
    if !is_translation {
        fields["purpose"] = json!({ "enum": Purpose::ALL });
        let layouts: Vec<Value> = Layout::ALL.iter().map(|layout| json!(layout)).chain([Value::Null]).collect();
        fields["layout"] = json!({ "enum": layouts, "description": "Null leaves the layout to the brand." });
        fields["blocks"] = json!({
            "type": "array", "minItems": 1, "maxItems": BLOCKS_MAX,
            "items": {
                "type": "object",
                "properties": {
                    "id": text("A short name that no other block has, like intro."),
                    "type": { "enum": CONTENT_KINDS },
                    "says": text("What this block says, on one line, with the facts that belong here."),
                },
                "required": ["id", "type", "says"], "additionalProperties": false,
            },
        });
    }
    let required: Vec<&String> = fields.as_object().map(|fields| fields.keys().collect()).unwrap_or_default();
    let schema = json!({ "type": "object", "properties": fields, "required": required, "additionalProperties": false });
    AnswerSchema { name: "outline_email", about: "The outline of the email.", schema }
}

/// The maximum number of content blocks. All blocks of an email except the header and the footer are content blocks.
const BLOCKS_MAX: usize = limits::EMAIL_BLOCKS_MAX - 2;

/// Reads an outline, or returns the errors in it. A translation has the structure of its original.
pub fn read(json: &Value, language: &str, material: &Material, original: Option<&Email>) -> Result<Outline, Vec<String>> {
    let answer: OutlineAnswer = serde_path_to_error::deserialize(json).map_err(|error| vec![format!("{error}")])?;
    let direction = language.parse::<LanguageTag>().map(|language| Direction::of(&language)).unwrap_or_default();
    let outline = match original {
        Some(original) => translated(&answer, language, direction, original),
        None => Outline {
            frame: json!({
                "version": document::VERSION, "language": language, "direction": direction, "subject": answer.subject,
                "preheader": answer.preheader, "purpose": answer.purpose.unwrap_or(json!(Purpose::Announcement)),
                "style": { "layout": answer.layout.unwrap_or_default() },
            }),
            header: header(material),
            footer: footer(material, &answer.footer),
            blocks: answer.blocks,
        },
    };
    let errors = errors(&outline);
    if errors.is_empty() { Ok(outline) } else { Err(errors) }
}

fn translated(answer: &OutlineAnswer, language: &str, direction: Direction, original: &Email) -> Outline {
    let mut frame = original.to_json();
    let blocks = frame.as_object_mut().and_then(|fields| fields.remove("blocks"));
    let mut blocks = blocks.and_then(|blocks| blocks.as_array().cloned()).unwrap_or_default();
    let mut footer = blocks.pop().unwrap_or_default();
    let header = if blocks.is_empty() { Value::Null } else { blocks.remove(0) };
    for (name, value) in [("language", json!(language)), ("direction", json!(direction)), ("subject", json!(answer.subject))] {
        frame[name] = value;
    }
    frame["preheader"] = json!(answer.preheader);
    let FooterTexts { reason, unsubscribe, view } = &answer.footer;
    for (name, text) in [("reason", reason), ("unsubscribe", unsubscribe), ("view", view)] {
        if !footer[name].is_null() {
            footer[name] = json!(text);
        }
    }
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let planned =
        |block: &Value| PlannedBlock { id: word(&block["id"]), kind: word(&block["type"]), says: "as in the original".into() };
    Outline { frame, header, footer, blocks: blocks.iter().map(planned).collect() }
}

fn header(material: &Material) -> Value {
    let logo = material.brand.logos.iter().find_map(|logo| ImageUrl::parse(&logo.url).ok());
    let site = Link::parse(&material.site).ok();
    json!({ "type": "header", "id": "header", "name": document::Label::cut(&material.name), "logo": logo, "href": site, "links": [] })
}

fn footer(material: &Material, texts: &FooterTexts) -> Value {
    let contact = &material.brand.contact;
    let sender = contact.company.as_deref().filter(|name| !name.trim().is_empty()).unwrap_or(&material.name);
    let address = contact.address.as_deref().filter(|address| !address.trim().is_empty()).map(document::Sentence::cut);
    let FooterTexts { reason, unsubscribe, view } = texts;
    json!({
        "type": "footer", "id": "footer", "sender": document::Label::cut(sender), "address": address, "reason": reason, "links": [],
        "unsubscribe": unsubscribe, "view": view,
    })
}

/// Returns the errors in the list of planned blocks and in the frame of the document.
fn errors(outline: &Outline) -> Vec<String> {
    let mut errors: Vec<String> = Vec::new();
    if outline.blocks.is_empty() || outline.blocks.len() > BLOCKS_MAX {
        errors.push(format!("blocks has {} items, but 1 to {BLOCKS_MAX} are allowed", outline.blocks.len()));
    }
    for (index, block) in outline.blocks.iter().enumerate() {
        if !CONTENT_KINDS.contains(&block.kind.as_str()) {
            let known = CONTENT_KINDS.join(", ");
            errors.push(format!("blocks[{index}].type is {:?}; use one of {known}", block.kind));
        }
        if outline.blocks[..index].iter().any(|other| other.id == block.id) || matches!(&*block.id, "header" | "footer") {
            errors.push(format!("blocks[{index}].id is {:?}, which is already used", block.id));
        }
    }
    if outline.blocks.iter().filter(|block| block.kind == "hero").count() > 1 {
        errors.push("blocks has more than one hero; keep the first one".to_owned());
    }
    // Here, a text block with placeholder text stands in for each planned block, so that the document check covers all other fields.
    let text = |block: &PlannedBlock| json!({ "type": "text", "id": block.id, "text": "…" });
    let content: Vec<Value> = outline.blocks.iter().take(BLOCKS_MAX).map(text).collect();
    errors.extend(outline.check(&content, |_| Vec::new()));
    errors
}

impl Outline {
    /// Returns the document: the frame, the header, these content blocks, and the footer.
    pub fn document(&self, content: Vec<Value>) -> Value {
        let mut json = self.frame.clone();
        let blocks = std::iter::once(self.header.clone()).chain(content).chain([self.footer.clone()]);
        json["blocks"] = blocks.collect();
        json
    }

    /// Returns the errors in the document that consists of the frame and these content blocks. If the document is valid, returns the errors
    /// that `more` finds. An error in a content block names the block by its ID.
    pub fn check(&self, content: &[Value], more: impl Fn(&Email) -> Vec<String>) -> Vec<String> {
        let named = |error: String| {
            let place = |(index, block): (usize, &Value)| {
                let id = block["id"].as_str()?;
                error.strip_prefix(&format!("blocks[{}]", index + 1)).map(|rest| format!("{id}{rest}"))
            };
            content.iter().enumerate().find_map(place).unwrap_or(error)
        };
        let errors = match Email::from_json(&self.document(content.to_vec())) {
            Ok(email) => more(&email),
            Err(found) => found.iter().map(Violation::to_string).collect(),
        };
        errors.into_iter().map(named).collect()
    }
}

/// Returns the content blocks in a document as JSON, for a translation.
pub fn content(original: &Email) -> impl Iterator<Item = Value> {
    let is_content = |block: &&Block| !matches!(block, Block::Header(_) | Block::Footer(_));
    original.blocks.iter().filter(is_content).map(|block| json!(block))
}
