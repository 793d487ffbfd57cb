//! The images of a project: images found on its pages and images added by users.
//!
//! The image analysis later fills in missing descriptions and tags; the table `QUEUE` is its queue. Values that users set always take
//! precedence.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::store::{Order, Read, Record, Result, RowCheck, Span, Table, WriteTx};
use crate::features::projects::brand::BrandImage;
use crate::vocab::ids::{AccountId, PictureId, ProjectId};
use crate::vocab::tables;

const PICTURES: Table<(ProjectId, PictureId), ProjectImage> = Table::new(tables::PROJECT_IMAGES);
const QUEUE: Table<(ProjectId, PictureId), PendingAnalysis> = Table::new(tables::PROJECT_IMAGE_QUEUE);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(PICTURES), RowCheck::of(QUEUE)];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProjectImage {
    pub id: PictureId,
    pub image: BrandImage,
    pub origin: Origin,
    /// The text around the image on its page.
    pub context: Option<String>,
    /// Whether a user set the description.
    pub own_description: bool,
    /// Whether a user set the tags.
    pub own_tags: bool,
    /// Why the image could not be analyzed, if analysis failed.
    pub problem: Option<String>,
    pub created_at: Timestamp,
}

impl Record for ProjectImage {}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// The image was added by a user.
    Given,
    /// The image was found on the project's pages.
    Found,
    /// The image was found on the project's pages, and a user removed it. The row keeps the next import from adding the image
    /// again.
    Removed,
}

/// An image or logo that is waiting for analysis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingAnalysis {
    pub account: AccountId,
    /// The URL of the logo to analyze. If absent, the image whose ID is in the row's key is analyzed.
    pub logo: Option<String>,
    pub tries: u8,
    /// The earliest time of the next attempt.
    pub due: Timestamp,
}

impl Record for PendingAnalysis {}

/// Returns all images of a project: first the images that users added, newest first; then the images found on pages, best first.
pub fn all(tx: &impl Read, project: ProjectId) -> Result<Vec<ProjectImage>> {
    let shown = all_with_removed(tx, project)?.into_iter().filter(|picture| picture.origin != Origin::Removed);
    let (mut given, found): (Vec<ProjectImage>, Vec<ProjectImage>) = shown.partition(|picture| picture.origin == Origin::Given);
    given.reverse();
    given.extend(found);
    Ok(given)
}

/// Returns all images of a project, including removed images that were found on its pages.
pub fn all_with_removed(tx: &impl Read, project: ProjectId) -> Result<Vec<ProjectImage>> {
    let rows = tx.list(PICTURES, &PICTURES.under(&(project,)), Order::Forward, usize::MAX)?;
    Ok(rows.into_iter().map(|(_, picture)| picture).collect())
}

/// Returns the image with this URL, if it exists.
pub fn at(tx: &impl Read, project: ProjectId, url: &str) -> Result<Option<ProjectImage>> {
    Ok(all(tx, project)?.into_iter().find(|picture| picture.image.url == url))
}

pub fn find(tx: &impl Read, project: ProjectId, id: PictureId) -> Result<Option<ProjectImage>> {
    Ok(tx.get(PICTURES, &(project, id))?.filter(|picture| picture.origin != Origin::Removed))
}

pub fn save(tx: &mut WriteTx<'_>, project: ProjectId, picture: &ProjectImage) {
    tx.put(PICTURES, &(project, picture.id), picture);
}

pub fn delete(tx: &mut WriteTx<'_>, project: ProjectId, id: PictureId) {
    tx.delete(PICTURES, &(project, id));
    tx.delete(QUEUE, &(project, id));
}

/// Removes an image from a project. If the image was found on the project's pages, the next import does not add it again.
pub fn remove(tx: &mut WriteTx<'_>, project: ProjectId, picture: &ProjectImage) {
    delete(tx, project, picture.id);
    if picture.origin == Origin::Found {
        save(tx, project, &ProjectImage { origin: Origin::Removed, ..picture.clone() });
    }
}

/// Queues an image, or the logo with the URL `logo`, for analysis.
pub fn request_analysis(tx: &mut WriteTx<'_>, (account, project): (AccountId, ProjectId), id: PictureId, logo: Option<String>) {
    let pending = PendingAnalysis { account, logo, tries: 0, due: tx.now() };
    tx.put(QUEUE, &(project, id), &pending);
}

/// Returns up to `limit` queued analyses that are due.
pub fn waiting(tx: &impl Read, now: Timestamp, limit: usize) -> Result<Vec<((ProjectId, PictureId), PendingAnalysis)>> {
    let mut due = Vec::new();
    tx.visit(QUEUE, &Span::default(), Order::Forward, |key, pending: PendingAnalysis| {
        if pending.due <= now {
            due.push((key, pending));
        }
        let enough = due.len() >= limit;
        Ok(if enough { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) })
    })?;
    Ok(due)
}

pub fn analysis_done(tx: &mut WriteTx<'_>, key: (ProjectId, PictureId)) {
    tx.delete(QUEUE, &key);
}

pub fn retry_analysis(tx: &mut WriteTx<'_>, key: (ProjectId, PictureId), pending: &PendingAnalysis) {
    tx.put(QUEUE, &key, pending);
}
