//! The writer that is built in: what a conversation has gathered, in the form that the composer takes.

use jiff::civil::Date;

use super::material::Material;
use super::{Brief, Draft, EditRequest, EditResult, ImportedEditRequest, ImportedEditResult, PlannedSeries};
use crate::base::locale::LanguageTag;
use crate::features::emails::composer::edit::{self, EditResources, NotUnderstood, Origin};
use crate::features::emails::composer::{self, Knowledge};
use crate::features::emails::document::{Email, ImageUrl, Picture};
use crate::features::emails::model::{COMPOSER, GenerationRequest, Plan, PlannedSlot};

/// What was given, in forms that a brief can borrow.
struct BriefInputs<'a> {
    images: Vec<Picture>,
    knowledge: Vec<Knowledge<'a>>,
}

impl<'a> BriefInputs<'a> {
    fn of(material: &'a Material) -> Self {
        let urls = material.given_images.iter().filter_map(|url| ImageUrl::parse(url).ok());
        let images = urls.map(|src| Picture { src, alt: None, width: None, height: None, href: None }).collect();
        let text = |entry: &'a crate::features::projects::knowledge::Entry| Knowledge {
            title: &entry.title,
            text: &entry.content,
            url: entry.url.as_deref(),
        };
        // What the request links to is nearer to it than what the brand says in general.
        let pages = material.pages.iter().map(|page| Knowledge { title: &page.title, text: &page.content, url: Some(&page.url) });
        Self { images, knowledge: pages.chain(material.knowledge.iter().map(text)).collect() }
    }

    fn brief<'b>(&'b self, material: &'b Material, prompt: &'b str, seed: u64, today: Date) -> composer::Brief<'b> {
        let site = Some(material.site.as_str()).filter(|site| !site.is_empty());
        composer::Brief { prompt, images: &self.images, reference: None, site, seed, today }
    }
}

/// The language to write in where none is asked for.
pub fn language(prompt: &str, material: &Material, today: Date) -> String {
    composer::language(prompt, &material.brand, today).as_str().to_owned()
}

/// Decide how many emails there are.
pub fn plan(wanted: &GenerationRequest, material: &Material, language: &str, seed: u64, today: Date) -> PlannedSeries {
    let given = BriefInputs::of(material);
    let brief = given.brief(material, &wanted.prompt, seed, today);
    let plan = composed_plan(&brief, material, language, wanted.count.map(usize::from));
    // The composer counts from the day of the sale or the event; a series is counted from its first email.
    let first = plan.slots.first().map_or(0, |slot| slot.send_offset_days);
    let slots = plan
        .slots
        .iter()
        .map(|slot| PlannedSlot { purpose: slot.job.replace('.', ": "), send_offset_days: slot.send_offset_days - first });
    let is_series = plan.slots.len() > 1;
    PlannedSeries { title: plan.name.clone(), plan: is_series.then(|| Plan { name: plan.name, slots: slots.collect() }) }
}

fn composed_plan(brief: &composer::Brief<'_>, material: &Material, language: &str, count: Option<usize>) -> composer::Plan {
    let has_knowledge = !material.knowledge.is_empty();
    composer::plan(brief, &material.brand, has_knowledge, &tag(language), count)
}

/// Languages were checked when they came in, or are the brand's own; one that is none is written in English.
fn tag(language: &str) -> LanguageTag {
    LanguageTag::parse(language).unwrap_or_else(|_| composer::Language::En.tag())
}

/// A brief for the composer with the plan that it stands in.
fn with_plan<'b>(given: &'b BriefInputs<'b>, brief: &'b Brief, material: &'b Material) -> (composer::Brief<'b>, composer::Plan) {
    let mut own = given.brief(material, &brief.wanted.prompt, brief.seed, brief.today);
    own.reference = brief.pattern.as_ref();
    let first = brief.wanted.languages.first().unwrap_or(&brief.language);
    let count = brief.plan.as_ref().map_or(1, |plan| plan.slots.len());
    let plan = composed_plan(&own, material, first, Some(count));
    (own, plan)
}

/// Write an email.
pub fn write(brief: &Brief, material: &Material) -> Result<Draft, String> {
    let given = BriefInputs::of(material);
    let (own, plan) = with_plan(&given, brief, material);
    let composed = composer::compose(&own, &material.brand, &given.knowledge, &plan, brief.slot, &tag(&brief.language));
    Ok(Draft { document: sound(composed.email)?, warnings: composed.warnings })
}

/// Change an email.
pub fn edit(wish: &EditRequest, material: &Material) -> Result<EditResult, String> {
    let given = BriefInputs::of(material);
    let (own, plan) = with_plan(&given, &wish.brief, material);
    let origin = Origin { brief: &own, knowledge: &given.knowledge, plan: &plan, place: wish.brief.slot };
    // What a model has written, the composer cannot write anew.
    let origin = (wish.brief.wanted.model == COMPOSER).then_some(origin);
    let means = EditResources { brand: &material.brand, site: own.site, origin, today: wish.today };
    let edited = edit::apply(&wish.document, &wish.prompt, &means).map_err(told)?;
    Ok(EditResult { document: sound(edited.email)?, done: all(edited.done, edited.not_done) })
}

/// Change an email that was handed in as HTML.
pub fn edit_imported(wish: &ImportedEditRequest, material: &Material) -> Result<ImportedEditResult, String> {
    let site = Some(material.site.as_str()).filter(|site| !site.is_empty());
    let means = EditResources { brand: &material.brand, site, origin: None, today: wish.today };
    let edited = edit::imported::apply(&wish.imported, &wish.prompt, &means).map_err(told)?;
    Ok(ImportedEditResult { imported: edited.imported, done: all(edited.done, edited.not_done) })
}

fn told(misunderstood: NotUnderstood) -> String {
    format!("{} What can be done: {}.", misunderstood.reasons.join(" "), misunderstood.can.join("; "))
}

/// What was done, and what was not.
fn all(done: Vec<String>, not_done: Vec<String>) -> Vec<String> {
    done.into_iter().chain(not_done.into_iter().map(|what| format!("Not done: {what}"))).collect()
}

/// What the composer makes is right, or a mistake of ours that must not go out.
fn sound(document: Email) -> Result<Email, String> {
    match document.check().into_iter().next() {
        None => Ok(document),
        Some(violation) => Err(format!("The composer has made something that breaks a rule ({violation}); say it another way.")),
    }
}
