//! The built-in writer: converts the material of a conversation to input for the composer.

use std::borrow::Cow;

use jiff::civil::Date;

use super::brief_update;
use super::material::Material;
use super::{Brief, Draft, EditRequest, EditResult, ImportedEditRequest, ImportedEditResult, PlannedSeries};
use crate::base::locale::LanguageTag;
use crate::features::emails::brief;
use crate::features::emails::composer::edit::{self, EditResources, NotApplied};
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

pub fn plan(wanted: &GenerationRequest, material: &Material, language: &str, seed: u64, today: Date) -> PlannedSeries {
    let given = RequestInputs::of(material);
    let brief = typed(wanted, material, language, today);
    let request = given.request(material, &brief, seed, today);
    let plan = composed_plan(&request, material, language, wanted.count.map(usize::from));
    // The composer counts days from the sale or event, whereas a series counts days from its first email.
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

/// Parses a language tag. An invalid tag, which can come from the brand, is replaced with English.
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
            format!("The composer cannot translate “{text}”, so the email does not contain it. Add it in the email's language."),
        ),
        false => (FindingKind::Unclear, format!("The email does not contain “{text}”. Add it if recipients need it.")),
    };
    Finding::new(kind, message).about(text, part.span)
}

pub fn edit(wish: &EditRequest, material: &Material) -> Result<EditResult, String> {
    let (brief, before) = (&wish.brief, &wish.document);
    let given = RequestInputs::of(material);
    let lost = |before: &Email, after: &Email| brief.lost(before, after, material);
    let site = Some(material.site.as_str()).filter(|site| !site.is_empty());
    let means = EditResources { brand: &material.brand, site, knowledge: &given.knowledge, today: wish.today, lost: &lost };
    let edited = edit::apply(before, &wish.prompt, &means).map_err(reasons_text)?;
    let document = sound(edited.email)?;
    let own = brief.wanted.brief.as_ref();
    let changed = own.map(|own| brief_update::updated(own, brief, (before, &document), &edited.replaced, material));
    let changed = changed.filter(|changed| Some(changed) != own);
    // The composer's notes apply only if the emails were generated from a prompt and the request named the composer as the writer.
    let has_notes = brief.wanted.model == COMPOSER && brief.wanted.source == Source::Prompt;
    let notes = if has_notes { notes(brief, changed.as_ref(), &document, material) } else { Vec::new() };
    let (done, not_done) = (edited.done, edited.not_done);
    Ok(EditResult { document, written_by: COMPOSER.to_owned(), done, not_done, brief: changed, notes })
}

/// Returns the composer's warnings about a changed document.
fn notes(brief: &Brief, changed: Option<&brief::Brief>, document: &Email, material: &Material) -> Vec<String> {
    let given = RequestInputs::of(material);
    let typed = match changed {
        Some(changed) => Cow::Borrowed(changed),
        None => typed(&brief.wanted, material, first_language(brief), brief.today),
    };
    let (request, plan) = with_plan(&given, brief, &typed, material);
    composer::notes(&request, &material.brand, &plan, brief.slot, document)
}

pub fn edit_imported(wish: &ImportedEditRequest, material: &Material) -> Result<ImportedEditResult, String> {
    let site = Some(material.site.as_str()).filter(|site| !site.is_empty());
    let given = RequestInputs::of(material);
    // Imported HTML has no brief.
    let lost = |_: &Email, _: &Email| Vec::new();
    let means = EditResources { brand: &material.brand, site, knowledge: &given.knowledge, today: wish.today, lost: &lost };
    let edited = edit::imported::apply(&wish.imported, &wish.prompt, &means).map_err(reasons_text)?;
    let (done, not_done) = (edited.done, edited.not_done);
    Ok(ImportedEditResult { imported: edited.imported, written_by: COMPOSER.to_owned(), done, not_done })
}

fn reasons_text(NotApplied(reasons): NotApplied) -> String {
    reasons.join(" ")
}

/// Rejects an invalid document from the composer. An invalid document indicates a bug and must not be sent.
fn sound(document: Email) -> Result<Email, String> {
    match document.check().into_iter().next() {
        None => Ok(document),
        Some(violation) => Err(format!("The composer produced an invalid email ({violation}). Rephrase the prompt.")),
    }
}
