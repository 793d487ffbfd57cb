//! The editor's forms: one for each block, including the blocks inside columns.

use serde::Serialize;
use serde_json::Value;

use super::fields::{BlockKind, Control, Field, STYLE, kind_of};
use crate::features::emails::document::ViolationKind;

#[derive(Serialize)]
pub struct BlockForm {
    id: String,
    kind: &'static str,
    label: &'static str,
    /// Whether the block can be moved, duplicated and removed.
    free: bool,
    /// Whether another block can be inserted after this block.
    insert: bool,
    in_column: bool,
    can_move_up: bool,
    can_move_down: bool,
    fields: Vec<FieldForm>,
    lists: Vec<ListForm>,
    columns: Vec<Vec<BlockForm>>,
    /// Whether the form has a field for an image, which users can upload.
    has_image: bool,
}

#[derive(Serialize)]
pub struct FieldForm {
    name: String,
    label: &'static str,
    control: Control,
    value: String,
    max: usize,
    choices: &'static [(&'static str, &'static str)],
}

#[derive(Serialize)]
struct ListForm {
    label: &'static str,
    items: Vec<Vec<FieldForm>>,
}

impl FieldForm {
    fn new(field: &'static Field, json: &Value, prefix: &str) -> Self {
        Self {
            name: format!("{prefix}{}", field.path),
            label: field.label,
            control: field.control,
            value: field.text(json),
            max: field.max,
            choices: field.choices,
        }
    }
}

fn items(json: &Value) -> impl Iterator<Item = &Value> {
    json.as_array().into_iter().flatten()
}

/// Returns the forms of a document's blocks. `submitted` is the ID of a submitted block and the block's submitted content, which replaces
/// the stored content.
pub fn blocks(document: &Value, submitted: Option<(&str, &Value)>) -> Vec<BlockForm> {
    let last = items(&document["blocks"]).count().saturating_sub(1);
    let form = |(index, block): (usize, &Value)| {
        // The header stays first and the footer stays last, so no block moves above the header or below the footer.
        let moves = (index > 1 && index < last, index > 0 && index + 1 < last);
        form(block, submitted, moves, false).map(|form| BlockForm { insert: index < last, ..form })
    };
    items(&document["blocks"]).enumerate().filter_map(form).collect()
}

/// Shows the submitted values in a block's form. The block itself does not keep all of them: for example, it loses an alt text that was
/// entered without an image.
pub fn show_submitted(blocks: &mut [BlockForm], id: &str, submitted: &dyn Fn(&str) -> Option<String>) {
    for block in blocks {
        if block.id == id {
            let items = block.lists.iter_mut().flat_map(|list| list.items.iter_mut().flatten());
            for field in block.fields.iter_mut().chain(items).filter(|field| field.control != Control::Check) {
                field.value = submitted(&field.name).unwrap_or_else(|| std::mem::take(&mut field.value));
            }
        }
        block.columns.iter_mut().for_each(|column| show_submitted(column, id, submitted));
    }
}

/// Returns the form fields of an email's style.
pub fn style(style: &Value) -> Vec<FieldForm> {
    STYLE.fields.iter().map(|field| FieldForm::new(field, style, "")).collect()
}

fn form(block: &Value, submitted: Option<(&str, &Value)>, moves: (bool, bool), in_column: bool) -> Option<BlockForm> {
    let id = block["id"].as_str()?;
    let kind = kind_of(block["type"].as_str()?)?;
    let shown = submitted.filter(|(other, _)| *other == id).map_or(block, |(_, block)| block);
    let list = |list: &'static super::fields::List| {
        let values: Vec<&Value> = items(&shown[list.path]).collect();
        // The list ends with an empty item, which users fill in to add an item.
        let count = (values.len() + 1).min(list.max);
        let item = |index: usize| {
            let prefix = format!("{}.{index}.", list.path);
            let value = values.get(index).copied().unwrap_or(&Value::Null);
            list.fields.iter().map(|field| FieldForm::new(field, value, &prefix)).collect()
        };
        ListForm { label: list.label, items: (0..count).map(item).collect() }
    };
    let column = |column: &Value| {
        let count = items(&column["blocks"]).count();
        let cell = |(index, cell): (usize, &Value)| form(cell, submitted, (index > 0, index + 1 < count), true);
        items(&column["blocks"]).enumerate().filter_map(cell).collect()
    };
    Some(BlockForm {
        id: id.to_owned(),
        kind: kind.name,
        label: kind.label,
        free: kind.free,
        insert: true,
        in_column,
        can_move_up: moves.0,
        can_move_down: moves.1,
        fields: kind.fields.iter().map(|field| FieldForm::new(field, shown, "")).collect(),
        lists: kind.lists.iter().map(list).collect(),
        columns: items(&block["columns"]).map(column).collect(),
        has_image: kind.images().next().is_some(),
    })
}

/// Returns every list of blocks in a document: the document's own list, and the list of each column.
fn lists(document: &Value) -> impl Iterator<Item = &Value> {
    let columns = items(&document["blocks"]).flat_map(|block| items(&block["columns"]));
    std::iter::once(&document["blocks"]).chain(columns.map(|column| &column["blocks"]))
}

pub fn find<'d>(document: &'d Value, id: &str) -> Option<&'d Value> {
    lists(document).flat_map(items).find(|block| block["id"] == id)
}

/// Returns the IDs of all blocks in the list that contains the block with this ID, including that block.
pub fn siblings(document: &Value, id: &str) -> Option<Vec<String>> {
    let list = lists(document).find(|list| items(list).any(|block| block["id"] == id))?;
    Some(items(list).filter_map(|block| block["id"].as_str().map(str::to_owned)).collect())
}

/// Describes a violation in a document as a sentence for users that names the field by its label instead of its path.
pub fn problem_text(block: Option<&BlockKind>, path: &str, kind: ViolationKind, problem: &str) -> String {
    // Strip the path up to the index of the innermost block, so that the rest names a field of the block.
    let inside = path.rsplit_once("blocks[").and_then(|(_, rest)| rest.split_once(']')).map_or(path, |(_, rest)| rest);
    let field = inside.trim_start_matches('.');
    let own = match field {
        "subject" => Some("Subject".to_owned()),
        "preheader" => Some("Preheader".to_owned()),
        _ if field.starts_with("style.") => STYLE.label_of(&field["style.".len()..]),
        _ => block.and_then(|block| block.label_of(field)),
    };
    let label = own.or_else(|| block.map(|block| block.label.to_owned())).unwrap_or_else(|| "The email".to_owned());
    let end = if problem.ends_with(['.', '!', '?']) { "" } else { "." };
    match kind {
        ViolationKind::Missing => format!("{label} is empty. Fill in the field."),
        ViolationKind::Invalid => format!("{label} {problem}{end}"),
        ViolationKind::Rejected => format!("{label}: {problem}{end}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::emails::document::Email;

    #[test]
    fn blocks_in_columns_have_forms_and_siblings() {
        let document = Email::sample().to_json();
        let forms = blocks(&document, None);
        let columns = forms.iter().find(|form| form.id == "services").expect("the sample has columns");
        assert_eq!(columns.columns[0][0].id, "left-title");
        assert!(columns.columns[0][0].can_move_down && !columns.columns[0][0].can_move_up);
        assert_eq!(siblings(&document, "left-text").expect("the block exists"), ["left-title", "left-text"]);
        assert!(find(&document, "right-text").is_some() && find(&document, "nothing").is_none());
        assert!(!forms[0].can_move_down && !forms[1].can_move_up && forms[1].can_move_down);
    }

    #[test]
    fn a_violation_names_the_label_of_its_field() {
        use ViolationKind::{Invalid, Missing, Rejected};
        let hero = kind_of("hero");
        for (block, path, kind, problem, sentence) in [
            (hero, "blocks[1].title", Invalid, "is empty; write some text", "Title is empty; write some text."),
            (
                hero,
                "blocks[1].button.href",
                Rejected,
                "The URL does not start with https://.",
                "Button link: The URL does not start with https://.",
            ),
            (hero, "blocks[1].button.href", Missing, "the field is required", "Button link is empty. Fill in the field."),
            (kind_of("text"), "blocks[2].columns[0].blocks[1].text", Invalid, "is empty", "Text is empty."),
            (kind_of("list"), "blocks[2].items[0].text", Invalid, "is empty", "Item 1, text is empty."),
            (None, "style.primary", Rejected, "is not a color", "Main color (#RRGGBB): is not a color."),
            (None, "subject", Invalid, "has 200 characters", "Subject has 200 characters."),
            (None, "blocks", Invalid, "has 41 items", "The email has 41 items."),
        ] {
            assert_eq!(problem_text(block, path, kind, problem), sentence);
        }
    }
}
