//! Edits imported HTML with a language model. The model receives a numbered list of the parts and links in an email, and returns changes to
//! items in the list. The changes are validated.

use serde::Deserialize;
use serde_json::{Value, json};

use super::material::Material;
use super::model::{BrandPrompt, KnownAddresses, ModelConversation, PROMPTS};
use super::{ImportedEditRequest, ImportedEditResult, patch};
use crate::base::text::Color;
use crate::engine::language_model::{AnswerSchema, Usage};
use crate::engine::render::imported_html::{ColorTarget, Image, New, Part, TextPartKind};
use crate::features::emails::document::{ImageUrl, Link};
use crate::features::emails::imported::ImportedEmail;
use crate::features::models::MeteredModel;
use crate::vocab::limits;

/// An item in the list that the model receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListedPart {
    Part(usize),
    Link(usize),
}

/// The list for the model: the items, numbered from 1, and the text of the list.
struct Listing {
    entries: Vec<ListedPart>,
    text: String,
}

impl Listing {
    fn of(imported: &ImportedEmail) -> Self {
        let mut listing = Self { entries: Vec::new(), text: String::new() };
        listing.text.push_str(&format!("subject: {}\npreheader: {}\n", imported.subject, imported.preheader()));
        let links = imported.links();
        for (place, part) in imported.parts() {
            if listing.text.len() > limits::IMPORTED_EMAIL_PROMPT_BYTES_MAX {
                listing.text.push_str("(the rest is omitted: the email is too long)\n");
                break;
            }
            listing.part(place, part, &links);
        }
        let colors: Vec<String> = imported.colors.iter().map(ToString::to_string).collect();
        listing.text.push_str(&format!("colors, the most used first: {}\n", colors.join(", ")));
        listing
    }

    fn push(&mut self, entry: ListedPart, line: &str) {
        self.entries.push(entry);
        self.text.push_str(&format!("{} {line}\n", self.entries.len()));
    }

    fn part(&mut self, place: usize, part: &Part, links: &[(usize, String, &str)]) {
        let address = |link: usize| links.iter().find(|(other, ..)| *other == link).map_or("", |(_, _, address)| address);
        match part {
            Part::Image(Image { address, alt, width, link, .. }) => {
                let width = width.map(|width| format!(", {width} pixels wide")).unwrap_or_default();
                self.push(ListedPart::Part(place), &format!("image{width}, alt {}: {address}", json!(alt)));
                if let Some(link) = link {
                    self.link(*link, "of this image", links);
                }
            }
            Part::Text(text_part) if text_part.kind == TextPartKind::Button => {
                let leads = text_part.link().map(address).unwrap_or_default();
                self.push(ListedPart::Part(place), &format!("button {}: {leads}", json!(text_part.text())));
            }
            Part::Text(text_part) => {
                let kind = match text_part.kind {
                    TextPartKind::Heading => "heading",
                    TextPartKind::Item => "list item",
                    TextPartKind::Paragraph | TextPartKind::Button => "text",
                };
                self.push(ListedPart::Part(place), &format!("{kind}: {}", json!(text_part.text())));
                let mut own: Vec<usize> = text_part.pieces.iter().filter_map(|piece| piece.link).collect();
                own.dedup();
                for link in own {
                    let said = links.iter().find(|(other, ..)| *other == link).map_or("", |(_, said, _)| said);
                    self.link(link, &format!("in this text, {}", json!(said)), links);
                }
            }
        }
    }

    fn link(&mut self, link: usize, what: &str, links: &[(usize, String, &str)]) {
        let address = links.iter().find(|(other, ..)| *other == link).map_or("", |(_, _, address)| address);
        self.push(ListedPart::Link(link), &format!("link {what}: {address}"));
    }

    /// Returns the item with this number. `field` is the field of the response that contains the number.
    fn entry(&self, field: &str, number: Option<usize>) -> Result<ListedPart, String> {
        let entry = number.and_then(|number| self.entries.get(number.checked_sub(1)?)).copied();
        entry.ok_or_else(|| {
            format!("`{field}` is {}, but the listed numbers are 1 to {}", number_text(number), self.entries.len())
        })
    }

    fn place(&self, field: &str, number: Option<usize>) -> Result<usize, String> {
        match self.entry(field, number)? {
            ListedPart::Part(place) => Ok(place),
            ListedPart::Link(_) => {
                Err(format!("`{field}` is {}, which is a link; use the number of a text part or an image", number_text(number)))
            }
        }
    }
}

fn number_text(number: Option<usize>) -> String {
    number.map_or_else(|| "missing".to_owned(), |number| number.to_string())
}

/// The model's response to an edit request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EditResponse {
    summary: String,
    #[serde(default)]
    skipped: Vec<String>,
    changes: Vec<ModelChange>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelChange {
    op: Operation,
    #[serde(default)]
    number: Option<usize>,
    #[serde(default)]
    after: Option<usize>,
    #[serde(default)]
    kind: Option<NewKind>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    alt: Option<String>,
    #[serde(default)]
    address: Option<String>,
    #[serde(default)]
    from: Option<Color>,
    #[serde(default)]
    to: Option<Color>,
    #[serde(default)]
    surface: Option<ColoredPart>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Operation {
    Subject,
    Preheader,
    Text,
    Link,
    Image,
    Alt,
    Remove,
    Insert,
    Move,
    Color,
    Paint,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum NewKind {
    Paragraph,
    Heading,
    Button,
    Image,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ColoredPart {
    Buttons,
    Background,
    Text,
    Headings,
}

fn schema(count: usize) -> Value {
    let number = json!({ "type": ["integer", "null"], "minimum": 1, "maximum": count });
    let text = json!({ "type": ["string", "null"], "maxLength": limits::IMPORTED_EMAIL_TEXT_CHARACTERS_MAX });
    let color = json!({ "type": ["string", "null"], "pattern": "^#[0-9A-Fa-f]{6}$" });
    json!({
        "type": "object",
        "properties": {
            "summary": { "type": "string", "description": "What was changed, or why nothing can be, in one sentence." },
            "skipped": patch::skipped(),
            "changes": {
                "type": "array", "maxItems": limits::IMPORTED_EMAIL_CHANGES_MAX,
                "items": {
                    "type": "object",
                    "properties": {
                        "op": { "enum": [
                            "subject", "preheader", "text", "link", "image", "alt", "remove", "insert", "move", "color", "paint",
                        ] },
                        "number": number, "after": number,
                        "kind": { "enum": ["paragraph", "heading", "button", "image", null] },
                        "text": text, "alt": text, "address": { "type": ["string", "null"] },
                        "from": color, "to": color,
                        "surface": { "enum": ["buttons", "background", "text", "headings", null] },
                    },
                    "required": ["op"], "additionalProperties": false,
                },
            },
        },
        "required": ["summary", "changes"], "additionalProperties": false,
    })
}

/// Edits an email that was imported as HTML.
pub async fn edit(
    model: &MeteredModel,
    wish: &ImportedEditRequest,
    material: &Material,
) -> (Result<ImportedEditResult, String>, Usage) {
    let ImportedEditRequest { imported, prompt, .. } = wish;
    let brand = BrandPrompt::of(material);
    let system =
        PROMPTS.write("edit_html", &json!({ "brand": brand, "images": material.images(), "links": material.site_links() }));
    let listing = Listing::of(imported);
    let request = format!("The email:\n{}\n<request>\n{prompt}\n</request>", listing.text);
    let about = "The changes to the email.";
    let schema = AnswerSchema { name: "edit_html_email", about, schema: schema(listing.entries.len()) };
    let shown = imported.parts().filter_map(|(_, part)| part.image()).map(|image| image.address.as_str());
    let known = KnownAddresses::of_prompt(material, prompt).with_images(shown);
    let links = imported.links();
    let known = known.with_links(links.iter().map(|(_, _, address)| *address));
    let read = |json: &Value| -> Result<(Option<ImportedEmail>, EditResponse), Vec<String>> {
        let answer: EditResponse = serde_path_to_error::deserialize(json).map_err(|error| vec![format!("{error}")])?;
        if answer.changes.is_empty() {
            return Ok((None, answer));
        }
        changed(imported, &listing, &known, &answer.changes).map(|imported| (Some(imported), answer))
    };
    let (answer, usage) = ModelConversation::new(model, system, request, schema).until(read).await;
    let edited = answer.and_then(|(changed, answer)| match changed {
        Some(imported) => {
            let written_by = model.client().name().to_owned();
            Ok(ImportedEditResult { imported, written_by, done: vec![answer.summary], not_done: answer.skipped })
        }
        None => Err(format!("Nothing was changed: {}", answer.summary)),
    });
    (edited, usage)
}

/// Applies the changes, or returns the errors in them.
fn changed(
    imported: &ImportedEmail,
    listing: &Listing,
    known: &KnownAddresses,
    changes: &[ModelChange],
) -> Result<ImportedEmail, Vec<String>> {
    let mut changed = imported.clone();
    let mut errors = Vec::new();
    for (index, wanted) in changes.iter().enumerate() {
        if let Err(error) = (CheckedChange { listing, known, wanted }).make(&mut changed) {
            errors.push(format!("changes[{index}]: {error}"));
        }
    }
    if errors.is_empty() { Ok(changed) } else { Err(errors) }
}

/// A change and the data needed to validate it.
struct CheckedChange<'a> {
    listing: &'a Listing,
    known: &'a KnownAddresses,
    wanted: &'a ModelChange,
}

impl CheckedChange<'_> {
    fn make(&self, imported: &mut ImportedEmail) -> Result<(), String> {
        let wanted = self.wanted;
        let place = || self.listing.place("number", wanted.number);
        match wanted.op {
            Operation::Subject => imported.set_subject(&self.text()?),
            Operation::Preheader => imported.set_preheader(&self.text()?),
            Operation::Text => imported.say(place()?, &self.text()?),
            Operation::Alt => imported.describe(place()?, &self.text()?),
            Operation::Remove => imported.remove(place()?),
            Operation::Link => match self.listing.entry("number", wanted.number)? {
                ListedPart::Link(link) => imported.lead(link, &self.link()?),
                ListedPart::Part(place) => match imported.lead_buttons(&[place], &self.link()?)? {
                    0 => Err(format!(
                        "number {} is neither a link nor a button; use the number of a link or button",
                        number_text(wanted.number)
                    )),
                    _ => Ok(()),
                },
            },
            Operation::Image => {
                let text = || wanted.text.as_deref().map(|text| plain("text", text));
                let alt = wanted.alt.as_deref().map(|alt| plain("alt", alt)).or_else(text).transpose()?;
                imported.show(place()?, &self.image()?, alt.as_deref())
            }
            Operation::Insert => {
                let beside = self.listing.place("after", wanted.after)?;
                let new = match wanted.kind.ok_or("the `insert` operation requires a `kind`")? {
                    NewKind::Paragraph => New::Paragraph(self.text()?),
                    NewKind::Heading => New::Heading(self.text()?),
                    NewKind::Button => New::Button { words: self.text()?, address: self.link()? },
                    NewKind::Image => New::Image { address: self.image()?, alt: self.text()? },
                };
                imported.insert(Some((beside, false)), new)
            }
            Operation::Move => {
                let beside = self.listing.place("after", wanted.after)?;
                imported.shift(place()?, beside, false)
            }
            Operation::Color => {
                let (from, to) = wanted.from.zip(wanted.to).ok_or("the `color` operation requires `from` and `to`")?;
                if !imported.colors.contains(&from) {
                    return Err(format!("the email has no color {from}; use one of the listed colors"));
                }
                imported.recolor(vec![from], to)
            }
            Operation::Paint => {
                let (surface, to) = wanted.surface.zip(wanted.to).ok_or("the `paint` operation requires `surface` and `to`")?;
                let surface = match surface {
                    ColoredPart::Buttons => ColorTarget::Buttons,
                    ColoredPart::Background => ColorTarget::Ground,
                    ColoredPart::Text => ColorTarget::Text,
                    ColoredPart::Headings => ColorTarget::Headings,
                };
                imported.paint(surface, to)
            }
        }
    }

    fn text(&self) -> Result<String, String> {
        plain("text", self.wanted.text.as_deref().ok_or("`text` is missing; set it to the new text")?)
    }

    fn link(&self) -> Result<String, String> {
        let address = self.wanted.address.as_deref().ok_or("`address` is missing; set it to the URL of the link")?;
        let link = Link::parse(address).map_err(|error| format!("address: {error}"))?;
        match self.known.knows_link(link.as_str()) || self.known.knows_link(address) {
            true => Ok(link.to_string()),
            false => Err(format!("address: {link} is not among the links you may use; use one of the listed links")),
        }
    }

    fn image(&self) -> Result<String, String> {
        let address = self.wanted.address.as_deref().ok_or("`address` is missing; set it to the URL of the image")?;
        let image = ImageUrl::parse(address).map_err(|error| format!("address: {error}"))?;
        match self.known.knows_image(image.as_str()) || self.known.knows_image(address) {
            true => Ok(image.to_string()),
            false => Err(format!("address: {image} is not among the images you may use; use one of the listed images")),
        }
    }
}

/// Returns the trimmed text without control characters other than line breaks. Returns an error if the text contains HTML, is empty or is
/// too long.
fn plain(field: &str, text: &str) -> Result<String, String> {
    let text = text.trim();
    let most = limits::IMPORTED_EMAIL_TEXT_CHARACTERS_MAX;
    let is_tag = |rest: &str| rest[1..].trim_start_matches('/').starts_with(|c: char| c.is_ascii_alphabetic());
    if text.match_indices('<').any(|(at, _)| is_tag(&text[at..]) && text[at..].contains('>')) {
        return Err(format!("`{field}` contains HTML; use plain text"));
    }
    match text.chars().count() {
        0 => Err(format!("`{field}` is empty; write some text, or remove the part with the `remove` operation")),
        count if count > most => {
            Err(format!("`{field}` has {count} characters, but at most {most} characters are allowed; shorten it"))
        }
        _ => Ok(text.chars().filter(|c| !c.is_control() || *c == '\n').collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::render::imported_html;
    use crate::features::emails::imported::tests::{NEWSLETTER, imported, safe};

    fn answered(changes: Value) -> Result<String, Vec<String>> {
        let imported_html = safe(NEWSLETTER);
        let imported = imported(&imported_html, "en");
        let listing = Listing::of(&imported);
        let wanted: Vec<ModelChange> = serde_json::from_value(changes).expect("the JSON is a list of changes");
        let links = imported.links();
        let known =
            KnownAddresses::of_prompt(&Material::default(), "see https://given.example/page and https://given.example/a.jpg");
        let known = known.with_links(links.iter().map(|(_, _, address)| *address));
        let changed = changed(&imported, &listing, &known, &wanted)?;
        Ok(imported_html::revise(&imported_html.html, &changed.changes()).expect("the HTML is within the limits").html)
    }

    /// Returns the item number at the start of the first line in the list that contains `words`.
    fn number(words: &str) -> usize {
        let text = Listing::of(&imported(&safe(NEWSLETTER), "en")).text;
        let line = text.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}: {text}"));
        line.split(' ').next().and_then(|number| number.parse().ok()).expect("the line starts with a number")
    }

    #[test]
    fn the_list_contains_everything_and_no_markup() {
        let text = Listing::of(&imported(&safe(NEWSLETTER), "en")).text;
        for line in [
            "subject: Autumn teas are here",
            "preheader: Three new blends, and free shipping until Sunday.",
            "heading: \"Autumn teas are here\"",
            "link in this text, \"growers we have known for years\": https://teas.example/growers",
            "button \"Shop now\": https://teas.example/autumn",
            "image, 600 pixels wide, alt \"A pot of tea on a windowsill\": https://teas.example/pot.jpg",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(!text.contains('<') && text.len() < 3_000, "{text}");
    }

    #[test]
    fn every_kind_of_change_works() {
        let html = answered(json!([
            { "op": "subject", "text": "Winter teas" },
            { "op": "preheader", "text": "Soon" },
            { "op": "text", "number": number("Until Sunday"), "text": "Until Monday you save 20% on all of them." },
            { "op": "link", "number": number("growers we have"), "address": "https://given.example/page" },
            { "op": "link", "number": number("Shop now"), "address": "https://teas.example/tins" },
            { "op": "image", "number": number("pot.jpg"), "address": "https://given.example/a.jpg", "alt": "A cup" },
            { "op": "alt", "number": number("tin.jpg"), "text": "A red tin" },
            { "op": "remove", "number": number("The new tins") },
            { "op": "insert", "after": number("Until Sunday"), "kind": "paragraph", "text": "Hello <3 you" },
            { "op": "move", "number": number("button \"See the tins\""), "after": number("pot.jpg") },
            { "op": "color", "from": "#F4F1EA", "to": "#FFFFFF" },
            { "op": "paint", "surface": "buttons", "to": "#2E7D32" },
        ]));
        let html = html.expect("the changes are valid");
        for part in [
            "<title>Winter teas</title>",
            ">Soon&nbsp;",
            "<strong>save 20%</strong> on all of them.",
            "given.example/page\"",
            "alt=\"A cup\"",
            "alt=\"A red tin\"",
            "Hello &lt;3 you",
            "bgcolor=\"#FFFFFF\"",
            "#2E7D32",
        ] {
            assert!(html.contains(part), "{part}\n{html}");
        }
        assert!(
            !html.contains("The new tins")
                && html.find("See the tins").expect("the HTML contains the text")
                    < html.find("The evenings").expect("the HTML contains the text")
        );
    }

    #[test]
    fn every_error_is_reported() {
        let errors = answered(json!([
            { "op": "text", "number": 99, "text": "x" },
            { "op": "text", "number": number("Until Sunday"), "text": "<b>Hi</b>" },
            { "op": "text", "number": number("Until Sunday"), "text": "x".repeat(limits::IMPORTED_EMAIL_TEXT_CHARACTERS_MAX + 1) },
            { "op": "link", "number": number("Shop now"), "address": "https://evil.example/" },
            { "op": "link", "number": number("The new tins"), "address": "https://teas.example/tins" },
            { "op": "image", "number": number("pot.jpg"), "address": "https://evil.example/a.jpg" },
            { "op": "text", "number": number("growers we have known for years\":"), "text": "x" },
            { "op": "insert", "after": 1, "text": "x" },
            { "op": "color", "from": "#123456", "to": "#000000" },
            { "op": "subject" },
        ]));
        let errors = errors.expect_err("the changes have ten errors");
        assert_eq!(errors.len(), 10, "{errors:?}");
        for (index, words) in [
            "numbers are 1 to",
            "HTML",
            "characters",
            "links you may",
            "neither",
            "images you may",
            "is a link",
            "a `kind`",
            "no color",
            "missing",
        ]
        .iter()
        .enumerate()
        {
            assert!(errors[index].contains(words), "{words}: {}", errors[index]);
        }
    }
}
