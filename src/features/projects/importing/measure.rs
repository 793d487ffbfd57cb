//! The last stage of an import: fetches and analyzes logos and images, a few at a time.

use std::sync::Arc;

use futures_util::future::join_all;

use super::finalize::complete;
use super::{Import, Stage, find, save};
use crate::base::text::Color;
use crate::engine::api::{Engine, EnvironmentData, Failure};
use crate::engine::store::{Result as StoreResult, WriteTx};
use crate::features::projects::brand::{Brand, BrandImage, BrandLogo, BrandLogoSource};
use crate::features::projects::image_analysis::{self, AnalyzedImage};
use crate::features::projects::images::{Origin, ProjectImage};
use crate::features::projects::reading::{Draft, ImageCandidate, MeasuredImage as MeasuredSight, color_by_logo};
use crate::vocab::ids::{PictureId, ProjectId};
use crate::vocab::limits::{SITE_IMPORT_FETCHES_AT_ONCE, SITE_IMPORT_TIME_MAX_MS};

/// The progress of the import, in percent, at the start and at the end of the measuring stage.
const PERCENT_FROM: usize = 70;
const PERCENT_TO: usize = 98;
/// The minimum side length of images, in pixels. Smaller images are probably icons.
const IMAGE_SIDE_MIN: u32 = 100;
/// The minimum side length of logos, in pixels. Smaller logos are unusable.
const LOGO_SIDE_MIN: u32 = 12;

pub async fn step(engine: &Arc<Engine>, data: &Arc<EnvironmentData>, project: ProjectId, import: Import) -> Result<(), Failure> {
    let Some(draft) = import.draft.clone() else {
        return Err(Failure::internal("the draft of an import in the measuring stage is missing; report this bug"));
    };
    let from = import.next as usize;
    let is_over = engine.clock.now().ms_since(import.started_at) > SITE_IMPORT_TIME_MAX_MS;
    let wanted = if is_over { Vec::new() } else { wanted(&draft, from) };
    if wanted.is_empty() {
        data.store.write(move |tx| finish(tx, project)).await??;
        return Ok(());
    }
    let paper = draft.brand.palette.background.as_deref().and_then(|color| color.parse().ok());
    let analyzed = join_all(wanted.iter().map(|wanted| analyze(engine, wanted, paper))).await;
    let engine = engine.clone();
    data.store.write(move |tx| record(tx, &engine, project, from, analyzed)).await??;
    Ok(())
}

/// An image to measure.
#[derive(Clone)]
enum Candidate {
    Logo(BrandLogo),
    Sight(ImageCandidate),
}

async fn analyze(
    engine: &Arc<Engine>,
    wanted: &Candidate,
    paper: Option<Color>,
) -> Result<AnalyzedImage, image_analysis::AnalysisFailure> {
    let analyzed = match wanted {
        Candidate::Logo(logo) if is_shown_in_emails(logo) => image_analysis::analyze_logo(engine, &logo.url, paper).await,
        Candidate::Logo(logo) => image_analysis::analyze(engine, &logo.url, None, None).await,
        Candidate::Sight(sight) => {
            image_analysis::analyze(engine, &sight.url, sight.alt.as_deref(), sight.context.as_deref()).await
        }
    };
    // Drop the file now. Otherwise, the files of several images would use a lot of memory until the last image has been analyzed.
    analyzed.map(AnalyzedImage::without_file)
}

/// Returns whether emails can show this logo. They do not show icons or images for sharing.
fn is_shown_in_emails(logo: &BrandLogo) -> bool {
    matches!(logo.source, BrandLogoSource::Given | BrandLogoSource::Header | BrandLogoSource::StructuredData)
}

/// Returns the next few images to measure: first the logos, then the other images.
fn wanted(draft: &Draft, from: usize) -> Vec<Candidate> {
    let logos = draft.brand.logos.iter().cloned().map(Candidate::Logo);
    let sights = draft.sights.iter().cloned().map(Candidate::Sight);
    logos.chain(sights).skip(from).take(SITE_IMPORT_FETCHES_AT_ONCE).collect()
}

fn record(
    tx: &mut WriteTx<'_>,
    engine: &Engine,
    project: ProjectId,
    from: usize,
    analyzed: Vec<Result<AnalyzedImage, image_analysis::AnalysisFailure>>,
) -> StoreResult<()> {
    let Some(mut import) = find(tx, project)?.filter(|import| import.stage == Stage::Measuring && import.next as usize == from)
    else {
        return Ok(());
    };
    let Some(draft) = &mut import.draft else { return Ok(()) };
    let count = analyzed.len();
    for (place, seen) in analyzed.into_iter().enumerate() {
        if seen.is_ok() {
            import.metrics.images_measured += 1;
        }
        draft.measured.push(match seen {
            Ok(seen) => MeasuredSight {
                drawn: match draft.brand.logos.get(from + place) {
                    Some(logo) => image_analysis::keep_drawn(tx, engine, project, logo.source, &seen.drawn),
                    None => Vec::new(),
                },
                width: seen.measured.width,
                height: seen.measured.height,
                colors: seen.measured.colors.iter().map(Color::to_string).collect(),
                background: seen.measured.ground.into(),
                description: seen.described.description,
                tags: seen.described.tags,
                problem: None,
            },
            Err(unseen) => MeasuredSight { problem: Some(unseen.reason), ..MeasuredSight::default() },
        });
    }
    let all = (draft.brand.logos.len() + draft.sights.len()).max(1);
    import.next = (from + count) as u32;
    let share = (from + count) * (PERCENT_TO - PERCENT_FROM) / all;
    import.percentage = import.percentage.max((PERCENT_FROM + share).min(PERCENT_TO) as u8);
    import.failures = 0;
    save(tx, project, &import);
    Ok(())
}

/// Adds the measurements to the draft and completes the import. Called after the last image is measured or the time limit is reached.
fn finish(tx: &mut WriteTx<'_>, project: ProjectId) -> StoreResult<()> {
    let Some(mut import) = find(tx, project)?.filter(|import| import.stage == Stage::Measuring) else { return Ok(()) };
    let draft = import.draft.get_or_insert_default();
    let measured = std::mem::take(&mut draft.measured);
    let logos_count = draft.brand.logos.len();
    let (of_logos, of_sights) = measured.split_at(logos_count.min(measured.len()));
    let unshown_primary = draft.unshown_primary.take().and_then(|color| color.parse().ok());
    settle_logos(&mut draft.brand, of_logos, unshown_primary);
    let now = tx.now();
    let pictures: Vec<ProjectImage> = draft
        .sights
        .iter()
        .zip(of_sights)
        .filter(|(_, seen)| seen.problem.is_none() && seen.width.min(seen.height) >= IMAGE_SIDE_MIN)
        .map(|(sight, seen)| ProjectImage {
            id: PictureId::from_bytes([0; 12]),
            image: BrandImage {
                url: sight.url.clone(),
                description: Some(seen.description.clone()),
                tags: seen.tags.clone(),
                width: Some(seen.width),
                height: Some(seen.height),
                colors: seen.colors.clone(),
            },
            origin: Origin::Found,
            context: sight.context.clone(),
            own_description: false,
            own_tags: false,
            problem: None,
            created_at: now,
        })
        .collect();
    complete(tx, project, import, pictures)
}

/// Stores the measured size and background of each logo. Removes logos that could not be analyzed or are too small, unless a user added
/// them. Fills in missing brand colors from the logos.
fn settle_logos(brand: &mut Brand, measured: &[MeasuredSight], unshown_primary: Option<Color>) {
    let logos = std::mem::take(&mut brand.logos);
    let mut colors = Vec::new();
    for (place, logo) in logos.into_iter().enumerate() {
        let is_given = logo.source == BrandLogoSource::Given;
        match measured.get(place) {
            Some(seen) if seen.problem.is_none() && (is_given || seen.width.min(seen.height) >= LOGO_SIDE_MIN) => {
                if logo.source != BrandLogoSource::Share {
                    colors.extend(seen.colors.iter().filter_map(|color| color.parse::<Color>().ok()));
                }
                let (width, height) = (Some(seen.width), Some(seen.height));
                // Emails show the first logo in a format that email clients support, so the PNG files drawn from an SVG logo come before
                // the SVG file, unless a user chose the SVG file.
                let (before, after) = if is_given { (Vec::new(), seen.drawn.clone()) } else { (seen.drawn.clone(), Vec::new()) };
                let is_file = !logo.url.starts_with("data:");
                let file = is_file.then_some(BrandLogo { width, height, background: seen.background, ..logo });
                brand.logos.extend(before.into_iter().chain(file).chain(after));
            }
            Some(_) if !is_given => {}
            None if logo.url.starts_with("data:") => {}
            Some(_) | None => brand.logos.push(logo),
        }
    }
    color_by_logo(&mut brand.palette, &colors, unshown_primary);
}
