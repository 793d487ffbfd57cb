//! Starter designs: emails that contain no facts about a brand and that users complete.
//!
//! A design is a file in `assets/designs`: a document without header, footer and IDs. The brand's header and footer, and the IDs, are added
//! later. Text that users must replace is in brackets. Some values are placeholders for brand data: `$site` for the brand's site, `$image`
//! for its next image, `$products:3` for up to three of its products, and `$soon` for the date two weeks from now. A brand without a site
//! or products gets an example site and products in brackets; any other block or field for which the brand has no data is left out.

use std::sync::LazyLock;

use jiff::civil::Date;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::composer;
use super::document::{
    Block, Direction, Email as Document, ImageUrl, Layout, Line, Purpose, Sentence, Style, VERSION, name_blocks,
};
use crate::base::locale::LanguageTag;
use crate::engine::api::Failure;
use crate::engine::store::Read;
use crate::features::projects;
use crate::features::projects::brand::{Brand, BrandImage};
use crate::vocab::ids::{AccountId, ProjectId};

/// The name of the design that is used if the request names none.
pub const BLANK: &str = "blank";

/// The target of links if the brand has no site.
const EXAMPLE: &str = "https://example.com/";
/// The number of placeholder products in designs for brands without products.
const PRODUCTS: usize = 3;
/// The number of days until the deadline in a design.
const DAYS: i64 = 14;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Design {
    /// The name of the design in requests: its file name without the extension.
    #[serde(skip)]
    pub name: &'static str,
    /// The name that users see.
    pub title: String,
    /// A one-sentence description of the content.
    pub about: String,
    purpose: Purpose,
    style: Style,
    subject: String,
    preheader: String,
    blocks: Vec<Value>,
}

macro_rules! designs {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../assets/designs/", $name)))),*]
    };
}

/// The files of the designs, in the order of the gallery.
const FILES: &[(&str, &str)] = designs![
    "blank.json",
    "welcome.json",
    "welcome-offer.json",
    "sale.json",
    "flash-sale.json",
    "launch.json",
    "preorder.json",
    "digest.json",
    "note.json",
    "event.json",
    "webinar.json",
    "reminder.json",
    "order.json",
    "delivery.json",
    "apology.json",
    "service.json",
    "survey.json",
    "review.json",
    "win-back.json",
    "cart.json",
    "referral.json",
    "season.json",
    "gift-guide.json",
    "milestone.json",
    "price-change.json",
];

/// Returns all designs, in the order of the gallery.
pub fn all() -> &'static [Design] {
    static ALL: LazyLock<Vec<Design>> = LazyLock::new(|| {
        let read = |&(file, text): &(&'static str, &'static str)| {
            let design: Design = serde_json::from_str(text).expect("a test reads every design");
            Design { name: file.trim_end_matches(".json"), ..design }
        };
        FILES.iter().map(read).collect()
    });
    &ALL
}

pub fn name_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": all().iter().map(|design| design.name).collect::<Vec<_>>() })
}

/// Returns the document of a design for the project's brand.
pub fn written(
    tx: &impl Read,
    account: AccountId,
    project: ProjectId,
    name: &str,
    language: Option<LanguageTag>,
    today: Date,
) -> Result<Document, Failure> {
    let design = all().iter().find(|design| design.name == name).ok_or_else(|| {
        let names: Vec<&str> = all().iter().map(|design| design.name).collect();
        Failure::field("design", format_args!("the design {name:?} does not exist; use one of {}", names.join(", ")))
    })?;
    let found = projects::brand(tx, account, project)?;
    let (project, brand) = found.ok_or_else(|| Failure::internal("the project of a design is missing; report this bug"))?;
    let brand = Brand { name: brand.name.or(Some(project.name)), ..brand };
    let site = project.urls.first().map(String::as_str);
    design.write(&brand, site, language, today).map_err(Failure::internal)
}

/// The data that replaces the placeholders in a design.
struct Filling<'a> {
    site: &'a str,
    images: std::slice::Iter<'a, BrandImage>,
    products: Vec<Value>,
    soon: String,
}

impl Filling<'_> {
    /// Returns the value with its placeholders filled in; `None` if the brand has no data for it.
    fn fill(&mut self, value: Value) -> Option<Value> {
        Some(match value {
            Value::String(text) if text == "$soon" => self.soon.clone().into(),
            Value::String(text) if text.starts_with("$products:") => {
                let count = text.split(':').nth(1).and_then(|count| count.parse().ok()).unwrap_or(1);
                self.products.iter().take(count).cloned().collect()
            }
            Value::String(text) => text.replace("$site", self.site).into(),
            Value::Array(items) => items.into_iter().filter_map(|item| self.fill(item)).collect(),
            Value::Object(fields) if fields.get("src").is_some_and(|src| src == "$image") => self.image()?,
            Value::Object(fields) => {
                let is_image = fields.get("type").is_some_and(|kind| kind == "image");
                let filled = fields.into_iter().filter_map(|(name, value)| Some((name, self.fill(value)?)));
                let filled: Map<String, Value> = filled.collect();
                if is_image && !filled.contains_key("image") {
                    return None;
                }
                filled.into()
            }
            other => other,
        })
    }

    fn image(&mut self) -> Option<Value> {
        let image = self.images.find(|image| ImageUrl::parse(&image.url).is_ok())?;
        let alt: Option<Sentence> = image.description.as_deref().and_then(composer::alt).map(|text| Line::cut(&text));
        Some(json!({ "src": image.url, "alt": alt, "width": image.width, "height": image.height }))
    }
}

impl Design {
    /// Returns the design as a document of this brand.
    fn write(&self, brand: &Brand, site: Option<&str>, language: Option<LanguageTag>, today: Date) -> Result<Document, String> {
        let own = || brand.languages.first().and_then(|tag| LanguageTag::parse(tag).ok());
        let language = language.or_else(own).unwrap_or_else(|| composer::Language::En.tag());
        let layout = self.style.layout.unwrap_or(Layout::Minimal);
        let (header, footer) = composer::frame(brand, site, &language, layout, self.purpose);
        let mut json = json!({
            "version": VERSION, "language": language, "direction": Direction::of(&language), "purpose": self.purpose,
            "subject": self.subject, "preheader": self.preheader, "style": self.style, "blocks": [Block::Header(header)],
        });
        let mut products: Vec<Value> =
            composer::products(brand, site, &language).into_iter().map(|product| json!(product)).collect();
        let site = site.unwrap_or(EXAMPLE);
        if products.is_empty() {
            products.extend(
                (1..=PRODUCTS).map(|number| json!({ "name": format!("[Product {number}]"), "href": site, "price": "[price]" })),
            );
        }
        let soon = today.saturating_add(jiff::ToSpan::days(DAYS)).to_string();
        let mut filling = Filling { site, images: brand.images.iter(), products, soon };
        let own: Vec<Value> = self.blocks.iter().filter_map(|block| filling.fill(block.clone())).collect();
        for block in own.into_iter().chain([json!(Block::Footer(footer))]) {
            let mut block = block;
            name_blocks(&json, &mut block);
            json["blocks"].as_array_mut().expect("the blocks are a list").push(block);
        }
        Document::from_json(&json).map_err(|found| found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn today() -> Date {
        jiff::civil::date(2026, 11, 23)
    }

    #[test]
    fn the_gallery_has_24_designs_of_different_arrangements() {
        let designs = &all()[1..];
        assert_eq!(designs.len(), 24);
        let arrangement = |design: &Design| {
            let kinds: Vec<&str> = design.blocks.iter().filter_map(|block| block["type"].as_str()).collect();
            kinds.join(" ")
        };
        assert_eq!(designs.iter().map(arrangement).collect::<HashSet<_>>().len(), 24);
        assert_eq!(designs.iter().map(|design| &design.title).collect::<HashSet<_>>().len(), 24);
    }

    #[test]
    fn every_design_is_a_valid_email_for_any_brand() {
        let image = |number: u32| BrandImage {
            url: format!("https://acme.example/{number}.jpg"),
            description: Some(format!("Image {number}")),
            ..BrandImage::default()
        };
        let full = Brand { name: Some("Acme".into()), images: (0..6).map(image).collect(), ..Brand::default() };
        for design in all() {
            for (brand, site) in [(&full, Some("https://acme.example/")), (&Brand::default(), None)] {
                for language in ["en", "de", "ar"] {
                    let language = LanguageTag::parse(language).expect("the tag is valid");
                    let written = design.write(brand, site, Some(language), today());
                    let document = written.unwrap_or_else(|error| panic!("{}: {error}", design.name));
                    let text = document.to_json().to_string();
                    assert!(!text.contains('$'), "{}: {text}", design.name);
                    let has_images = design.blocks.iter().any(|block| block.to_string().contains("$image"));
                    assert_eq!(text.contains("/0.jpg"), has_images && site.is_some(), "{}", design.name);
                }
            }
        }
    }

    #[test]
    fn what_a_design_leaves_to_users_is_in_brackets() {
        for design in all() {
            assert!(
                design.subject.contains('[') || design.blocks.iter().any(|block| block.to_string().contains('[')),
                "{}",
                design.name
            );
            // Designs do not state numbers as facts.
            let text = format!("{} {}", design.subject, design.preheader);
            let outside = text.split('[').map(|part| part.rsplit(']').next().unwrap_or(part)).collect::<String>();
            assert!(!outside.chars().any(|c| c.is_ascii_digit()), "{}: {outside}", design.name);
        }
    }
}
