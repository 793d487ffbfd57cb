//! TABLE: the kinds of blocks and their fields, for the editor's forms and its script.

use serde::Serialize;
use serde_json::{Value, json};

use crate::vocab::limits;

#[derive(Debug, Serialize)]
pub struct BlockKind {
    /// The block's `type` in documents.
    pub name: &'static str,
    pub label: &'static str,
    pub fields: &'static [Field],
    pub lists: &'static [List],
    /// Whether users can insert, move, duplicate and remove blocks of this kind. An email always has its header and footer.
    pub free: bool,
    /// Whether columns can contain blocks of this kind.
    pub in_columns: bool,
}

/// A list field of a block, such as its products.
#[derive(Debug, Serialize)]
pub struct List {
    /// The path of the list within the block.
    pub path: &'static str,
    /// The label of each item in the list.
    pub label: &'static str,
    pub max: usize,
    pub fields: &'static [Field],
}

/// A field of a block or of an item in a list.
#[derive(Debug, Serialize)]
pub struct Field {
    /// The path within the block or item, such as `button.label`.
    pub path: &'static str,
    pub label: &'static str,
    pub control: Control,
    /// The maximum length in characters, or the maximum of a number; 0 for choices and check boxes.
    pub max: usize,
    /// The values of a choice with their labels; the first value is the default.
    pub choices: &'static [(&'static str, &'static str)],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Control {
    /// One line of plain text.
    Line,
    /// Text with bold, italic, links and line breaks.
    Prose,
    Link,
    /// The URL of an image.
    Image,
    Choice,
    Check,
    /// A number from 1 to the maximum.
    Number,
    /// A list of strings, separated by `|`.
    Cells,
}

const fn field(path: &'static str, label: &'static str, control: Control, max: usize) -> Field {
    Field { path, label, control, max, choices: &[] }
}

const fn line(path: &'static str, label: &'static str, max: usize) -> Field {
    field(path, label, Control::Line, max)
}

const fn prose(path: &'static str, label: &'static str, max: usize) -> Field {
    field(path, label, Control::Prose, max)
}

const fn link(path: &'static str, label: &'static str) -> Field {
    field(path, label, Control::Link, limits::URL_CHARACTERS_MAX)
}

const fn image(path: &'static str, label: &'static str) -> Field {
    field(path, label, Control::Image, limits::URL_CHARACTERS_MAX)
}

const fn choice(path: &'static str, label: &'static str, choices: &'static [(&'static str, &'static str)]) -> Field {
    Field { path, label, control: Control::Choice, max: 0, choices }
}

const fn kind(name: &'static str, label: &'static str, fields: &'static [Field], lists: &'static [List]) -> BlockKind {
    BlockKind { name, label, fields, lists, free: true, in_columns: false }
}

const TITLE: usize = limits::EMAIL_TITLE_CHARACTERS_MAX;
const LABEL: usize = limits::EMAIL_LABEL_CHARACTERS_MAX;
const SENTENCE: usize = limits::EMAIL_SENTENCE_CHARACTERS_MAX;
const PARAGRAPH: usize = limits::EMAIL_PARAGRAPH_CHARACTERS_MAX;
const PROSE: usize = limits::EMAIL_PROSE_CHARACTERS_MAX;

/// The length of a color, such as `#1F6B52`.
const COLOR: usize = 7;

const LINKS: &[Field] = &[line("label", "Text", LABEL), link("href", "Link")];

/// All kinds of blocks, in the order of the palette.
pub const KINDS: &[BlockKind] = &[
    BlockKind { in_columns: true, ..kind("text", "Text", &[prose("text", "Text", PROSE)], &[]) },
    BlockKind {
        in_columns: true,
        ..kind(
            "heading",
            "Heading",
            &[
                line("text", "Text", TITLE),
                choice("level", "Level", &[("section", "Section heading"), ("title", "Title"), ("small", "Small heading")]),
            ],
            &[],
        )
    },
    BlockKind {
        in_columns: true,
        ..kind(
            "image",
            "Image",
            &[
                image("image.src", "Image"),
                line("image.alt", "Alt text", SENTENCE),
                link("image.href", "Link"),
                line("caption", "Caption", SENTENCE),
                choice("width", "Width", &[("content", "Text width"), ("full", "Full width"), ("half", "Half width")]),
            ],
            &[],
        )
    },
    BlockKind {
        in_columns: true,
        ..kind(
            "button",
            "Button",
            &[
                line("label", "Label", LABEL),
                link("href", "Link"),
                choice("emphasis", "Style", &[("primary", "Filled"), ("secondary", "Outlined"), ("quiet", "Text link")]),
            ],
            &[],
        )
    },
    BlockKind {
        in_columns: true,
        ..kind(
            "list",
            "List",
            &[choice("marks", "Style", &[("bullets", "Bullets"), ("numbers", "Numbers"), ("checks", "Check marks")])],
            &[List {
                path: "items",
                label: "Item",
                max: limits::EMAIL_LIST_ITEMS_MAX,
                fields: &[line("title", "Bold opening words", LABEL), prose("text", "Text", PARAGRAPH)],
            }],
        )
    },
    kind("columns", "Columns", &[], &[]),
    kind(
        "hero",
        "Hero",
        &[
            line("eyebrow", "Line above the title", LABEL),
            line("title", "Title", TITLE),
            prose("text", "Text", PARAGRAPH),
            image("image.src", "Image"),
            line("image.alt", "Alt text", SENTENCE),
            line("button.label", "Button label", LABEL),
            link("button.href", "Button link"),
        ],
        &[],
    ),
    kind(
        "products",
        "Products",
        &[line("title", "Title", TITLE), field("columns", "Products per row", Control::Number, limits::EMAIL_COLUMNS_MAX)],
        &[List {
            path: "products",
            label: "Product",
            max: limits::EMAIL_PRODUCTS_MAX,
            fields: &[
                line("name", "Name", LABEL),
                link("href", "Link"),
                image("image.src", "Image"),
                line("image.alt", "Alt text", SENTENCE),
                line("text", "Text", SENTENCE),
                line("price", "Price", LABEL),
                line("priceBefore", "Original price", LABEL),
                line("button", "Button label", LABEL),
            ],
        }],
    ),
    kind(
        "coupon",
        "Coupon",
        &[
            line("title", "Offer", TITLE),
            line("code", "Code", LABEL),
            prose("text", "Conditions", PARAGRAPH),
            line("button.label", "Button label", LABEL),
            link("button.href", "Button link"),
        ],
        &[],
    ),
    kind(
        "countdown",
        "Deadline",
        &[
            line("title", "Event", TITLE),
            line("date", "Displayed date", LABEL),
            line("until", "Date (YYYY-MM-DD)", limits::EMAIL_DEADLINE_CHARACTERS_MAX),
            prose("text", "Text", PARAGRAPH),
        ],
        &[],
    ),
    kind(
        "quote",
        "Quote",
        &[
            prose("text", "Quote", PARAGRAPH),
            line("author", "Author", LABEL),
            line("role", "Role or place", LABEL),
            image("image.src", "Portrait"),
            line("image.alt", "Alt text", SENTENCE),
            field("stars", "Stars", Control::Number, 5),
        ],
        &[],
    ),
    kind(
        "table",
        "Table",
        &[line("title", "Title", TITLE), field("head", "Column headings (separate with |)", Control::Cells, PARAGRAPH)],
        &[List {
            path: "rows",
            label: "Row",
            max: limits::EMAIL_TABLE_ROWS_MAX,
            fields: &[
                field("cells", "Cells (separate with |)", Control::Cells, PROSE),
                field("strong", "Bold", Control::Check, 0),
            ],
        }],
    ),
    kind(
        "social",
        "Social links",
        &[line("title", "Title", LABEL)],
        &[List {
            path: "links",
            label: "Profile",
            max: limits::EMAIL_SOCIAL_LINKS_MAX,
            fields: &[line("name", "Network", LABEL), link("href", "Link")],
        }],
    ),
    BlockKind {
        in_columns: true,
        ..kind("divider", "Divider", &[choice("look", "Style", &[("line", "Line"), ("space", "Space")])], &[])
    },
    BlockKind {
        free: false,
        ..kind(
            "header",
            "Header",
            &[line("name", "Name", LABEL), image("logo", "Logo"), link("href", "Link")],
            &[List { path: "links", label: "Menu link", max: limits::EMAIL_HEADER_LINKS_MAX, fields: LINKS }],
        )
    },
    BlockKind {
        free: false,
        ..kind(
            "footer",
            "Footer",
            &[
                line("sender", "Company or brand name", LABEL),
                line("address", "Postal address", SENTENCE),
                prose("reason", "Why recipients get this email", PARAGRAPH),
                line("unsubscribe", "Unsubscribe link text", LABEL),
                line("view", "“View in browser” link text", LABEL),
            ],
            &[List { path: "links", label: "Link", max: limits::EMAIL_FOOTER_LINKS_MAX, fields: LINKS }],
        )
    },
];

/// The fields of an email's style.
pub const STYLE: BlockKind = kind(
    "style",
    "Email style",
    &[
        choice(
            "layout",
            "Layout",
            &[
                ("", "Automatic"),
                ("editorial", "Editorial"),
                ("bold", "Bold"),
                ("showcase", "Showcase"),
                ("letter", "Letter"),
                ("minimal", "Minimal"),
                ("cards", "Cards"),
                ("midnight", "Midnight"),
                ("bulletin", "Bulletin"),
            ],
        ),
        choice(
            "corners",
            "Corners",
            &[("", "Same as the brand's theme"), ("sharp", "Sharp"), ("soft", "Soft"), ("round", "Round")],
        ),
        line("primary", "Main color (#RRGGBB)", COLOR),
        line("button", "Button color (#RRGGBB)", COLOR),
        line("boxes", "Box color (#RRGGBB)", COLOR),
        line("background", "Background color (#RRGGBB)", COLOR),
    ],
    &[],
);

pub fn kind_of(name: &str) -> Option<&'static BlockKind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// Returns a new block of this kind with placeholder text for users to replace. Its links lead to `site`.
pub fn new_block(name: &str, site: &str) -> Option<Value> {
    let action = json!({ "label": "Read more", "href": site });
    let text = |text: &str| json!({ "type": "text", "text": text });
    Some(match name {
        "text" => text("Write your text here."),
        "heading" => json!({ "type": "heading", "text": "Heading" }),
        "button" => json!({ "type": "button", "label": "Read more", "href": site }),
        "list" => json!({ "type": "list", "items": [{ "text": "First point" }, { "text": "Second point" }] }),
        "columns" => json!({ "type": "columns", "columns": [
            { "blocks": [{ "type": "heading", "text": "Left", "level": "small" }, text("Write your text here.")] },
            { "blocks": [{ "type": "heading", "text": "Right", "level": "small" }, text("Write your text here.")] },
        ] }),
        "hero" => json!({ "type": "hero", "title": "Your headline", "text": "One or two sentences.", "button": action }),
        "products" => json!({ "type": "products", "products": [{ "name": "Product", "href": site }] }),
        "coupon" => json!({ "type": "coupon", "title": "Your offer", "code": "CODE" }),
        "countdown" => {
            json!({ "type": "countdown", "title": "The offer ends", "date": "1 January 2030", "until": "2030-01-01" })
        }
        "quote" => json!({ "type": "quote", "text": "What the customer said.", "author": "Name" }),
        "table" => json!({ "type": "table", "rows": [{ "cells": ["Name", "Value"] }, { "cells": ["Name", "Value"] }] }),
        "social" => json!({ "type": "social", "links": [{ "name": "Instagram", "href": site }] }),
        "divider" => json!({ "type": "divider" }),
        _ => return None,
    })
}

/// Returns the JSON value at a path of field names separated by dots, such as `button.label`; null if it is absent.
pub fn at<'a>(json: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(json, |at, name| &at[name])
}

/// Sets the JSON value at a path of field names separated by dots; null removes the field.
fn set(json: &mut Value, path: &str, value: Value) {
    let (name, inside) = path.split_once('.').map_or((path, None), |(name, inside)| (name, Some(inside)));
    let Some(fields) = json.as_object_mut() else { return };
    match inside {
        None if value.is_null() => _ = fields.remove(name),
        None => _ = fields.insert(name.to_owned(), value),
        Some(inside) => {
            let child = fields.entry(name).or_insert_with(|| json!({}));
            if child.is_null() {
                *child = json!({});
            }
            set(child, inside, value);
        }
    }
}

impl Field {
    /// Returns the field's value as text for its form control.
    pub fn text(&self, json: &Value) -> String {
        match at(json, self.path) {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(true) => "yes".to_owned(),
            Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | "),
            _ => self.choices.first().map_or("", |(value, _)| value).to_owned(),
        }
    }

    fn read(&self, json: &mut Value, text: &str) {
        let value = match self.control {
            Control::Check => json!(!text.is_empty()),
            // Empty text becomes an empty list, because an empty list of headings is valid. Empty cells are kept, because a table row may
            // contain them.
            Control::Cells if text.trim().is_empty() => json!([]),
            Control::Cells => text.split('|').map(str::trim).collect(),
            _ if text.trim().is_empty() => Value::Null,
            Control::Number => text.trim().parse::<u8>().map_or_else(|_| json!(text), Value::from),
            _ => json!(text.replace('\r', "").trim()),
        };
        if self.control == Control::Image && *at(json, self.path) != value {
            // The stored width and height belong to the previous image, so they are removed.
            for side in ["width", "height"] {
                if let Some((image, _)) = self.path.rsplit_once('.') {
                    set(json, &format!("{image}.{side}"), Value::Null);
                }
            }
        }
        set(json, self.path, value);
    }
}

/// The objects in a block that are removed if all of their listed fields are empty.
const PARTS: [(&str, &[&str]); 2] = [("image", &["src"]), ("button", &["label", "href"])];

fn tidy(json: &mut Value) {
    for (part, fields) in PARTS {
        if json[part].is_object() && fields.iter().all(|field| json[part][field].is_null()) {
            set(json, part, Value::Null);
        }
    }
}

impl BlockKind {
    /// Returns `block` with the form's values applied. `value` returns the text of a form field, or `None` if the form has no such
    /// field.
    pub fn read(&self, block: &Value, value: impl Fn(&str) -> Option<String>) -> Value {
        let mut block = block.clone();
        for field in self.fields {
            if let Some(text) = value(field.path) {
                field.read(&mut block, &text);
            }
        }
        tidy(&mut block);
        for list in self.lists {
            let old = block[list.path].as_array().cloned().unwrap_or_default();
            let mut items = Vec::new();
            for index in 0..=list.max {
                let mut item = old.get(index).cloned().unwrap_or_else(|| json!({}));
                let mut is_given = false;
                for field in list.fields {
                    let name = format!("{}.{index}.{}", list.path, field.path);
                    let text = value(&name);
                    // Browsers do not submit an unchecked check box.
                    if let Some(text) = text.or((field.control == Control::Check).then(String::new)) {
                        is_given |= !text.trim().is_empty();
                        field.read(&mut item, &text);
                    }
                }
                tidy(&mut item);
                items.extend(is_given.then_some(item));
            }
            set(&mut block, list.path, Value::Array(items));
        }
        block
    }

    /// Returns the names of the form fields for images, including the fields of list items.
    pub fn images(&self) -> impl Iterator<Item = String> {
        let is_image = |field: &&Field| field.control == Control::Image;
        let own = self.fields.iter().filter(is_image).map(|field| field.path.to_owned());
        let items = self.lists.iter().flat_map(move |list| {
            let all = list.fields.iter().filter(is_image);
            all.flat_map(move |field| (0..=list.max).map(move |index| format!("{}.{index}.{}", list.path, field.path)))
        });
        own.chain(items)
    }

    /// Returns the label of a field by its path in the block, such as `items[2].text`.
    pub fn label_of(&self, path: &str) -> Option<String> {
        if let Some(field) = self.fields.iter().find(|field| field.path == path) {
            return Some(field.label.to_owned());
        }
        let list =
            self.lists.iter().find(|list| path.strip_prefix(list.path).is_some_and(|rest| rest.starts_with(['[', '.'])))?;
        let (index, rest) = path[list.path.len()..].strip_prefix('[')?.split_once(']')?;
        let number = index.parse::<usize>().ok()? + 1;
        let rest = rest.trim_start_matches('.');
        let field = list.fields.iter().find(|field| rest.starts_with(field.path)).map(|field| field.label.to_lowercase());
        Some(match field {
            Some(field) => format!("{} {number}, {field}", list.label),
            None => format!("{} {number}", list.label),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::emails::document::{CONTENT_KINDS, Email, block_schema};

    #[test]
    fn every_kind_of_block_and_every_field_is_listed() {
        for name in CONTENT_KINDS {
            let kind = kind_of(name).unwrap_or_else(|| panic!("{name} is missing"));
            let schema = block_schema(name).expect("the kind has a schema");
            for field in schema["properties"].as_object().expect("a block has fields").keys() {
                let is_known = ["id", "type", "columns"].contains(&field.as_str())
                    || kind.fields.iter().any(|known| known.path.split('.').next() == Some(field.as_str()))
                    || kind.lists.iter().any(|list| list.path == field);
                assert!(is_known, "{name}: {field} is missing");
            }
        }
    }

    #[test]
    fn a_form_that_is_sent_unchanged_changes_nothing() {
        let mut json = Email::sample().to_json();
        crate::base::optional::remove_nulls(&mut json);
        for block in json["blocks"].as_array().expect("the document has blocks") {
            let kind = kind_of(block["type"].as_str().expect("a block has a type")).expect("every kind is listed");
            let value = |name: &str| {
                let fields = kind.fields.iter().map(|field| (field.path.to_owned(), field.text(block)));
                let items = kind.lists.iter().flat_map(|list| {
                    let items = block[list.path].as_array().into_iter().flatten().enumerate();
                    items.flat_map(move |(index, item)| {
                        list.fields.iter().map(move |field| (format!("{}.{index}.{}", list.path, field.path), field.text(item)))
                    })
                });
                fields.chain(items).find(|(known, _)| known == name).map(|(_, text)| text)
            };
            let mut read = kind.read(block, value);
            let mut kept = block.clone();
            for json in [&mut read, &mut kept] {
                // An empty list is equivalent to an absent list.
                if let Some(fields) = json.as_object_mut() {
                    fields.retain(|_, value| value.as_array().is_none_or(|items| !items.is_empty()));
                }
            }
            assert_eq!(read, kept);
        }
    }

    #[test]
    fn new_blocks_are_valid() {
        for kind in KINDS.iter().filter(|kind| kind.free && kind.name != "image") {
            let block = new_block(kind.name, "https://acme.example/").expect("the kind can be inserted");
            let mut json = Email::sample().to_json();
            let blocks = json["blocks"].as_array_mut().expect("the document has blocks");
            blocks.retain(|block| block["type"] != "hero");
            let mut block = block;
            block["id"] = json!("new");
            for (number, cell) in block.get_mut("columns").and_then(Value::as_array_mut).into_iter().flatten().enumerate() {
                for (at, cell) in cell["blocks"].as_array_mut().into_iter().flatten().enumerate() {
                    cell["id"] = json!(format!("new-{number}-{at}"));
                }
            }
            blocks.insert(1, block);
            assert_eq!(Email::from_json(&json).map(drop), Ok(()), "{}", kind.name);
        }
    }

    #[test]
    fn an_emptied_item_or_part_is_removed_and_a_new_image_has_no_size() {
        let hero = json!({ "type": "hero", "id": "h", "title": "A", "button": { "label": "B", "href": "https://a.example/" },
            "image": { "src": "https://a.example/a.jpg", "width": 10, "height": 10 } });
        let read = kind_of("hero").expect("the kind exists").read(&hero, |name| match name {
            "button.label" | "button.href" => Some(String::new()),
            "image.src" => Some("https://a.example/b.jpg".into()),
            _ => None,
        });
        assert_eq!(read, json!({ "type": "hero", "id": "h", "title": "A", "image": { "src": "https://a.example/b.jpg" } }));
        let list = json!({ "type": "list", "id": "l", "items": [{ "text": "a" }, { "text": "b" }] });
        let read = kind_of("list").expect("the kind exists").read(&list, |name| match name {
            "items.0.title" | "items.0.text" => Some(String::new()),
            "items.1.text" => Some("b\r\n".into()),
            "items.2.text" => Some("c".into()),
            _ => None,
        });
        assert_eq!(read["items"], json!([{ "text": "b" }, { "text": "c" }]));
        assert_eq!(kind_of("list").expect("the kind exists").label_of("items[1].text").as_deref(), Some("Item 2, text"));
    }
}
