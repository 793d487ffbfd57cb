//! The built-in writer: converts the material of a conversation to the input of the composer.

use std::borrow::Cow;

use jiff::civil::Date;

use super::material::Material;
use super::{Brief, Draft, EditRequest, EditResult, ImportedEditRequest, ImportedEditResult, PlannedSeries};
use crate::base::locale::LanguageTag;
use crate::features::emails::brief;
use crate::features::emails::composer::edit::{self, EditResources, NotUnderstood, Origin};
use crate::features::emails::composer::{self, Knowledge, Request};
use crate::features::emails::document::{Email, ImageUrl, Picture};
use crate::features::emails::finding::{Finding, FindingKind};
use crate::features::emails::model::{COMPOSER, GenerationRequest, Plan, PlannedSlot, Source};

/// The inputs that the composer's request borrows.
struct RequestInputs<'a> {
    images: Vec<Picture>,
    knowledge: Vec<Knowledge<'a>>,
}

impl<'a> RequestInputs<'a> {
    fn of(material: &'a Material) -> Self {
        let urls = material.given_images.iter().filter_map(|url| ImageUrl::parse(url).ok());
        let images = urls.map(|src| Picture { src, alt: None, width: None, height: None, href: None }).collect();
        let text = |entry: &'a crate::features::projects::knowledge::Entry| Knowledge {
            title: &entry.title,
            text: &entry.content,
            url: entry.url.as_deref(),
        };
        // Pages that the request links to are more relevant than general knowledge about the brand, so the pages come first.
        let pages = material.pages.iter().map(|page| Knowledge { title: &page.title, text: &page.content, url: Some(&page.url) });
        Self { images, knowledge: pages.chain(material.knowledge.iter().map(text)).collect() }
    }

    fn request<'b>(&'b self, material: &'b Material, brief: &'b brief::Brief, seed: u64, today: Date) -> Request<'b> {
        let site = Some(material.site.as_str()).filter(|site| !site.is_empty());
        Request { brief, images: &self.images, reference: None, site, seed, today }
    }
}

/// Returns the language to write in if the request names no language.
pub fn language(prompt: &str, material: &Material, today: Date) -> String {
    brief::parse(prompt, &material.brand, None, today).language.as_str().to_owned()
}

/// Plans the emails of a conversation.
pub fn plan(wanted: &GenerationRequest, material: &Material, language: &str, seed: u64, today: Date) -> PlannedSeries {
    let given = RequestInputs::of(material);
    let brief = typed(wanted, material, language, today);
    let request = given.request(material, &brief, seed, today);
    let plan = composed_plan(&request, material, language, wanted.count.map(usize::from));
    // The composer counts days from the sale or event, but a series counts days from its first email.
    let first = plan.slots.first().map_or(0, |slot| slot.send_offset_days);
    let slots = plan
        .slots
        .iter()
        .map(|slot| PlannedSlot { purpose: slot.job.replace('.', ": "), send_offset_days: slot.send_offset_days - first });
    let is_series = plan.slots.len() > 1;
    PlannedSeries { title: plan.name.clone(), plan: is_series.then(|| Plan { name: plan.name, slots: slots.collect() }) }
}

fn composed_plan(request: &Request<'_>, material: &Material, language: &str, count: Option<usize>) -> composer::Plan {
    let has_knowledge = !material.knowledge.is_empty();
    composer::plan(request, &material.brand, has_knowledge, &tag(language), count)
}

/// Parses a language. Languages were checked on input or come from the brand; an invalid language is replaced with English.
fn tag(language: &str) -> LanguageTag {
    LanguageTag::parse(language).unwrap_or_else(|_| composer::Language::En.tag())
}

/// Returns the typed brief of a conversation, in the conversation's first language.
fn typed<'b>(wanted: &'b GenerationRequest, material: &Material, language: &str, today: Date) -> Cow<'b, brief::Brief> {
    match &wanted.brief {
        Some(brief) => Cow::Borrowed(brief),
        None => Cow::Owned(brief::parse(&wanted.prompt, &material.brand, Some(&tag(language)), today)),
    }
}

fn first_language(brief: &Brief) -> &str {
    brief.wanted.languages.first().unwrap_or(&brief.language)
}

/// Returns a request to the composer, with the composer's plan.
fn with_plan<'b>(
    given: &'b RequestInputs<'b>,
    brief: &'b Brief,
    typed: &'b brief::Brief,
    material: &'b Material,
) -> (Request<'b>, composer::Plan) {
    let mut request = given.request(material, typed, brief.seed, brief.today);
    request.reference = brief.pattern.as_ref();
    let count = brief.plan.as_ref().map_or(1, |plan| plan.slots.len());
    let plan = composed_plan(&request, material, first_language(brief), Some(count));
    (request, plan)
}

/// Writes an email.
pub fn write(brief: &Brief, material: &Material) -> Result<Draft, String> {
    let given = RequestInputs::of(material);
    let typed = typed(&brief.wanted, material, first_language(brief), brief.today);
    let (request, plan) = with_plan(&given, brief, &typed, material);
    let composed = composer::compose(&request, &material.brand, &given.knowledge, &plan, brief.slot, &tag(&brief.language));
    let unused = composed.unused.iter().map(|part| not_used(part, composed.untranslated.contains(part)));
    let warnings = unused.chain(composed.warnings.into_iter().map(Finding::note)).collect();
    Ok(Draft { document: sound(composed.email)?, written_by: COMPOSER.to_owned(), warnings })
}

/// Returns the warning about a part of the brief that the email does not contain.
fn not_used(part: &brief::Part, is_foreign: bool) -> Finding {
    let text = &part.text;
    let (kind, message) = match is_foreign {
        true => (
            FindingKind::NotTranslated,
            format!("The composer cannot translate “{text}”, so the email does not say it. Add it in the email's language."),
        ),
        false => (FindingKind::Unclear, format!("The email does not contain “{text}”. Add it if it belongs there.")),
    };
    Finding::new(kind, message).about(text, part.span)
}

/// Edits an email.
pub fn edit(wish: &EditRequest, material: &Material) -> Result<EditResult, String> {
    let given = RequestInputs::of(material);
    let typed = typed(&wish.brief.wanted, material, first_language(&wish.brief), wish.brief.today);
    let (request, plan) = with_plan(&given, &wish.brief, &typed, material);
    let origin = Origin { request: &request, knowledge: &given.knowledge, plan: &plan, place: wish.brief.slot };
    // The composer can rewrite only emails that it wrote from a prompt.
    let wanted = &wish.brief.wanted;
    let origin = (wanted.model == COMPOSER && wanted.source == Source::Prompt).then_some(origin);
    let means = EditResources { brand: &material.brand, site: request.site, origin, today: wish.today };
    let edited = edit::apply(&wish.document, &wish.prompt, &means).map_err(told)?;
    Ok(EditResult { document: sound(edited.email)?, written_by: COMPOSER.to_owned(), done: all(edited.done, edited.not_done) })
}

/// Edits an email that was imported as HTML.
pub fn edit_imported(wish: &ImportedEditRequest, material: &Material) -> Result<ImportedEditResult, String> {
    let site = Some(material.site.as_str()).filter(|site| !site.is_empty());
    let means = EditResources { brand: &material.brand, site, origin: None, today: wish.today };
    let edited = edit::imported::apply(&wish.imported, &wish.prompt, &means).map_err(told)?;
    Ok(ImportedEditResult { imported: edited.imported, written_by: COMPOSER.to_owned(), done: all(edited.done, edited.not_done) })
}

fn told(misunderstood: NotUnderstood) -> String {
    format!("{} Possible edits: {}.", misunderstood.reasons.join(" "), misunderstood.can.join("; "))
}

/// Returns descriptions of the changes, followed by the instructions that were not applied.
fn all(done: Vec<String>, not_done: Vec<String>) -> Vec<String> {
    done.into_iter().chain(not_done.into_iter().map(|what| format!("Not applied: {what}"))).collect()
}

/// Rejects an invalid document from the composer. Such a document is the result of a bug and must not be sent.
fn sound(document: Email) -> Result<Email, String> {
    match document.check().into_iter().next() {
        None => Ok(document),
        Some(violation) => Err(format!("The composer produced an invalid email ({violation}). Rephrase the prompt.")),
    }
}
