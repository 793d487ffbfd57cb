//! Analyzes images and logos: fetches and measures them, and fills in missing descriptions and tags.
//!
//! If a user adds an image without a description and a vision model is configured, the model describes the image. In other cases, or if the
//! model fails, the description and tags are based on the measurements, the file name and the text on the page.

use std::sync::{Arc, LazyLock};

use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::brand::{BrandLogo, BrandLogoBackground, BrandLogoSource};
use super::image_files;
use super::images::{self, PendingAnalysis, ProjectImage};
use super::reading::describe::{self, Words};
use super::reading::{drawn_logo_bytes, shortened};
use super::store;
use crate::base::color::{WHITE, luminance};
use crate::base::text::Color;
use crate::engine::api::{Engine, EnvironmentData, Failure};
use crate::engine::fetch::{Limits, OversizePolicy, ResponseMemory};
use crate::engine::language_model::{AnswerSchema, ModelRequest, Picture as Shown, Speaker, Turn};
use crate::engine::render::images::{Ground, ImageFile, ImageMeasurements, is_drawing};
use crate::engine::render::pixels::RenderError;
use crate::engine::render::texts::Texts;
use crate::engine::store::{Result as StoreResult, WriteTx};
use crate::features::models::{MeteredModel, Payer};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, PictureId, ProjectId};
use crate::vocab::limits::{
    IMAGE_ATTEMPTS_MAX, IMAGE_DESCRIPTION_CHARACTERS_MAX, IMAGE_TAG_CHARACTERS_MAX, IMAGE_TAGS_MAX, IMAGES_AT_ONCE,
    SITE_IMPORT_FETCH_TIME, SITE_IMPORT_IMAGE_BYTES_MAX,
};

/// The pause, in milliseconds, before the second attempt. Each later pause is four times the previous one.
const RETRY_PAUSE_MS: i64 = 30_000;

/// An image with its measurements, description and tags.
pub struct AnalyzedImage {
    pub measured: ImageMeasurements,
    pub described: ImageDescription,
    bytes: Arc<[u8]>,
    /// The PNG files of an SVG logo, with the transparent file first.
    pub drawn: Vec<(ImageFile, ImageMeasurements)>,
    is_drawing: bool,
}

impl AnalyzedImage {
    pub fn without_file(self) -> Self {
        Self { bytes: Arc::default(), ..self }
    }
}

pub struct ImageDescription {
    pub description: String,
    pub tags: Vec<String>,
}

#[derive(Deserialize)]
struct ModelAnswer {
    description: String,
    tags: Vec<String>,
}

/// The prompts for the vision model.
static PROMPTS: LazyLock<Texts> =
    LazyLock::new(|| Texts::new(&[("describe", include_str!("../../../assets/prompts/describe.txt"))]));

pub struct AnalysisFailure {
    /// The reason, worded for users.
    pub reason: String,
    /// Whether a later attempt might succeed.
    pub is_passing: bool,
}

/// Fetches and measures an image, and describes it.
pub async fn analyze(
    engine: &Arc<Engine>,
    url: &str,
    alt: Option<&str>,
    context: Option<&str>,
) -> Result<AnalyzedImage, AnalysisFailure> {
    let lasting = |reason: String| AnalysisFailure { reason, is_passing: false };
    let (bytes, content_type, _memory) = match (image_files::uploaded(engine, url), drawn_logo_bytes(url)) {
        (Some(own), _) => (own.as_slice().into(), String::new(), ResponseMemory::default()),
        (None, Some(drawing)) => (drawing.into(), "image/svg+xml".to_owned(), ResponseMemory::default()),
        (None, None) => fetched(engine, url).await?,
    };
    let measured = engine.pixels.measure_image(&bytes, &content_type).await.map_err(|fault| match fault {
        RenderError::Image(reason) => lasting(format!("The image cannot be used: {reason}.")),
        other => AnalysisFailure {
            reason: format!("The image could not be decoded, but a later attempt may succeed: {other}"),
            is_passing: true,
        },
    })?;
    let described = described(Words { url, alt, context }, &measured);
    let is_drawing = is_drawing(&bytes, &content_type);
    Ok(AnalyzedImage { measured, described, bytes, drawn: Vec::new(), is_drawing })
}

/// Analyzes a logo. Few email clients show SVG, so an SVG logo is also drawn as two PNG files: one is transparent, and one has a background
/// that makes the logo visible. The background is `paper`, the background of the brand's site, if the logo is visible on it.
pub async fn analyze_logo(engine: &Arc<Engine>, url: &str, paper: Option<Color>) -> Result<AnalyzedImage, AnalysisFailure> {
    let mut seen = analyze(engine, url, None, None).await?;
    if !seen.is_drawing {
        return Ok(seen);
    }
    match engine.pixels.draw_logo(&seen.bytes, None).await {
        Ok((made, measured)) => {
            let ground = plate(measured.ground, paper);
            seen.drawn.push((made, measured));
            // The version with a background is optional. If it cannot be drawn, only the transparent version is used.
            seen.drawn.extend(engine.pixels.draw_logo(&seen.bytes, Some(ground)).await);
            Ok(seen)
        }
        Err(RenderError::Image(reason)) => {
            tracing::debug!(url = for_log(url), reason, "an SVG logo could not be drawn");
            Ok(seen)
        }
        Err(other) => Err(AnalysisFailure {
            reason: format!("The logo could not be rendered, but a later attempt may succeed: {other}"),
            is_passing: true,
        }),
    }
}

/// Returns the part of a URL that may appear in the log: without the query, which may contain a signature, and without the contents of a
/// data URL.
fn for_log(url: &str) -> &str {
    url.split(['?', '#', ',']).next().unwrap_or_default()
}

/// Returns the color to draw behind a logo that is visible on this kind of background: `paper` if it is light or dark enough, otherwise
/// white or nearly black.
fn plate(ground: Ground, paper: Option<Color>) -> Color {
    const NIGHT: Color = Color { red: 0x12, green: 0x12, blue: 0x12 };
    let is_light = |color: &Color| luminance(*color) > 0.5;
    match ground {
        Ground::Light | Ground::Any => paper.filter(is_light).unwrap_or(WHITE),
        Ground::Dark => paper.filter(|paper| luminance(*paper) < 0.05).unwrap_or(NIGHT),
    }
}

/// Stores the PNG files of an SVG logo and returns them as logos.
pub fn keep_drawn(
    tx: &mut WriteTx<'_>,
    engine: &Engine,
    project: ProjectId,
    source: BrandLogoSource,
    drawn: &[(ImageFile, ImageMeasurements)],
) -> Vec<BrandLogo> {
    let keep = |(made, measured): &(ImageFile, ImageMeasurements)| BrandLogo {
        url: image_files::link(engine, image_files::keep(tx, project, made)),
        source,
        width: Some(measured.width),
        height: Some(measured.height),
        background: measured.ground.into(),
    };
    drawn.iter().map(keep).collect()
}

/// Fetches the file at a URL. Returns its bytes and content type.
async fn fetched(engine: &Engine, url: &str) -> Result<(Arc<[u8]>, String, ResponseMemory), AnalysisFailure> {
    let lasting = |reason: String| AnalysisFailure { reason, is_passing: false };
    let address: Url = url.parse().map_err(|_| lasting("The URL of the image is invalid.".to_owned()))?;
    let limits = Limits {
        head: SITE_IMPORT_FETCH_TIME,
        total: SITE_IMPORT_FETCH_TIME,
        body_bytes: SITE_IMPORT_IMAGE_BYTES_MAX,
        overlong: OversizePolicy::Refuse,
    };
    let accepted = "image/png,image/jpeg,image/gif,image/webp;q=0.9,image/svg+xml;q=0.9,*/*;q=0.5";
    let fetched = engine.fetch.get(&address, accepted, &limits).await;
    let fetched = fetched.map_err(|error| AnalysisFailure { reason: error.to_string(), is_passing: error.is_passing() })?;
    let status = fetched.status;
    if !status.is_success() {
        let reason = format!("The image could not be fetched: its server responded with status {}.", status.as_u16());
        return Err(AnalysisFailure { reason, is_passing: status.is_server_error() || status.as_u16() == 429 });
    }
    let content_type = fetched.header("content-type").unwrap_or_default().to_owned();
    Ok((fetched.body.into(), content_type, fetched.memory))
}

/// Returns a vision model's description; `None` if no such model is configured, or if the request failed or its response is unusable.
async fn described_by_model(
    engine: &Arc<Engine>,
    data: &EnvironmentData,
    seen: &AnalyzedImage,
    (account, project): (AccountId, ProjectId),
) -> Option<ImageDescription> {
    let payer = Payer { account, project, environment: data.environment };
    let model = MeteredModel::new(engine.models.seeing()?.clone(), engine, payer);
    let brand = store::brand(&data.store.read(), project).ok().flatten().unwrap_or_default();
    let language = brand.languages.first().map_or("en", String::as_str);
    let context = json!({ "language": language, "tags": IMAGE_TAGS_MAX });
    let question = ModelRequest {
        system: PROMPTS.write("describe", &context),
        turns: vec![Turn { speaker: Speaker::User, text: "Describe this picture.".into() }],
        picture: Some(Shown::of(&seen.bytes)?),
        schema: Some(AnswerSchema {
            name: "describe_picture",
            about: "A description and tags.",
            schema: json!({
                "type": "object",
                "properties": {
                    "description": { "type": "string" },
                    "tags": { "type": "array", "items": { "type": "string" }, "maxItems": IMAGE_TAGS_MAX },
                },
                "required": ["description", "tags"], "additionalProperties": false,
            }),
        }),
    };
    let answer = match model.ask(&question).await.0 {
        Ok(reply) => reply.text,
        Err(trouble) => {
            tracing::warn!(%project, %trouble, "the language model could not describe an image");
            return None;
        }
    };
    let ModelAnswer { description, tags } = serde_json::from_str(&answer).ok()?;
    let description = shortened(description.trim(), IMAGE_DESCRIPTION_CHARACTERS_MAX);
    let tag = |tag: &String| shortened(tag.trim(), IMAGE_TAG_CHARACTERS_MAX);
    let tags = tags.iter().map(tag).filter(|tag| !tag.is_empty()).take(IMAGE_TAGS_MAX).collect();
    (!description.is_empty()).then_some(ImageDescription { description, tags })
}

/// Describes an image based on its measurements and the text around it.
fn described(words: Words<'_>, measured: &ImageMeasurements) -> ImageDescription {
    ImageDescription { description: describe::description(words, measured), tags: describe::tags(words, measured) }
}

/// Analyzes some of the queued images and logos that are due. Returns whether more may be due.
pub async fn step(engine: &Arc<Engine>, environment: Environment) -> Result<bool, Failure> {
    let data = engine.data(environment).clone();
    let tx = data.store.read();
    let waiting = images::waiting(&tx, engine.clock.now(), IMAGES_AT_ONCE)?;
    let mut turns = Vec::new();
    for ((project, id), entry) in waiting {
        let picture = images::find(&tx, project, id)?;
        turns.push(turn(engine, &data, (project, id), entry, picture));
    }
    drop(tx);
    let more = turns.len() == IMAGES_AT_ONCE;
    for outcome in join_all(turns).await {
        outcome?;
    }
    Ok(more)
}

async fn turn(
    engine: &Arc<Engine>,
    data: &Arc<EnvironmentData>,
    key: (ProjectId, PictureId),
    entry: PendingAnalysis,
    picture: Option<ProjectImage>,
) -> Result<(), Failure> {
    let (url, alt, context) = match (&entry.logo, &picture) {
        (Some(logo), _) => (logo.as_str(), None, None),
        (None, Some(picture)) => {
            let alt = picture.image.description.as_deref().filter(|_| picture.own_description);
            (picture.image.url.as_str(), alt, picture.context.as_deref())
        }
        // Skip an image that was removed in the meantime.
        (None, None) => {
            let forget = move |tx: &mut WriteTx<'_>| -> StoreResult<()> {
                images::analysis_done(tx, key);
                Ok(())
            };
            return Ok(data.store.write(forget).await??);
        }
    };
    let mut seen = match &entry.logo {
        Some(_) => analyze_logo(engine, url, None).await,
        None => analyze(engine, url, alt, context).await,
    };
    if let (Ok(seen), None, None) = (&mut seen, alt, &entry.logo)
        && let Some(described) = described_by_model(engine, data, seen, (entry.account, key.0)).await
    {
        seen.described = described;
    }
    let engine = engine.clone();
    Ok(data.store.write(move |tx| record(tx, &engine, key, entry, seen)).await??)
}

fn record(
    tx: &mut WriteTx<'_>,
    engine: &Engine,
    key: (ProjectId, PictureId),
    mut entry: PendingAnalysis,
    seen: Result<AnalyzedImage, AnalysisFailure>,
) -> StoreResult<()> {
    if let Err(unseen) = &seen
        && unseen.is_passing
        && entry.tries + 1 < IMAGE_ATTEMPTS_MAX
    {
        entry.due = tx.now().plus_ms(RETRY_PAUSE_MS << (2 * entry.tries));
        entry.tries += 1;
        images::retry_analysis(tx, key, &entry);
        return Ok(());
    }
    images::analysis_done(tx, key);
    match entry.logo.clone() {
        Some(url) => record_logo(tx, engine, key.0, &entry, url, seen),
        None => record_picture(tx, key, seen),
    }
}

fn record_picture(
    tx: &mut WriteTx<'_>,
    (project, id): (ProjectId, PictureId),
    seen: Result<AnalyzedImage, AnalysisFailure>,
) -> StoreResult<()> {
    let Some(mut picture) = images::find(tx, project, id)? else { return Ok(()) };
    match seen {
        Ok(AnalyzedImage { measured, described, .. }) => {
            picture.image.width = Some(measured.width);
            picture.image.height = Some(measured.height);
            picture.image.colors = measured.colors.iter().map(ToString::to_string).collect();
            picture.problem = None;
            // Keep a description that a user has set in the meantime.
            if !picture.own_description {
                picture.image.description = Some(described.description);
            }
            if !picture.own_tags {
                picture.image.tags = described.tags;
            }
        }
        Err(unseen) => picture.problem = Some(unseen.reason),
    }
    images::save(tx, project, &picture);
    Ok(())
}

fn record_logo(
    tx: &mut WriteTx<'_>,
    engine: &Engine,
    project: ProjectId,
    entry: &PendingAnalysis,
    url: String,
    seen: Result<AnalyzedImage, AnalysisFailure>,
) -> StoreResult<()> {
    let is_there = store::exists(tx, entry.account, project)?;
    let Some(AnalyzedImage { measured, drawn, .. }) = seen.ok().filter(|_| is_there) else { return Ok(()) };
    let mut brand = store::brand(tx, project)?.unwrap_or_default();
    let place = brand.logos.iter().position(|logo| logo.url == url).unwrap_or_else(|| {
        let background = BrandLogoBackground::Unknown;
        brand
            .logos
            .insert(0, BrandLogo { url: url.clone(), source: BrandLogoSource::Given, width: None, height: None, background });
        0
    });
    let logo = &mut brand.logos[place];
    (logo.width, logo.height, logo.background) = (Some(measured.width), Some(measured.height), measured.ground.into());
    let drawn = keep_drawn(tx, engine, project, BrandLogoSource::Given, &drawn);
    brand.logos.retain(|logo| !drawn.iter().any(|other| other.url == logo.url));
    let after = brand.logos.iter().position(|logo| logo.url == url).map_or(0, |place| place + 1);
    brand.logos.splice(after..after, drawn);
    store::save_brand(tx, project, &brand);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_has_neither_signatures_nor_files() {
        for (url, shown) in [
            ("https://acme.example/a.svg?signature=1#x", "https://acme.example/a.svg"),
            ("data:image/svg+xml;base64,PHN2Zz4=", "data:image/svg+xml;base64"),
        ] {
            assert_eq!(for_log(url), shown);
        }
    }
}
