//! The images of a project: those its pages show, and those that people added.
//!
//! A description or tags that nobody gave are filled in afterwards by who looks at images; `Looks` is their queue. What people give
//! always wins.

use serde::{Deserialize, Serialize};

use super::brand::BrandImage;
use crate::base::clock::Timestamp;
use crate::engine::store::{Order, Read, Record, Result, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, PictureId, ProjectId};
use crate::vocab::tables;

const PICTURES: Table<(ProjectId, PictureId), ProjectImage> = Table::new(tables::PROJECT_IMAGES);
const LOOKS: Table<(ProjectId, PictureId), PendingAnalysis> = Table::new(tables::PROJECT_IMAGE_QUEUE);

/// An image as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProjectImage {
    pub id: PictureId,
    pub image: BrandImage,
    pub origin: Origin,
    /// Words around it on its page.
    pub context: Option<String>,
    /// Whether a person gave the description.
    pub own_description: bool,
    /// Whether a person gave the tags.
    pub own_tags: bool,
    /// Why it could not be looked at.
    pub problem: Option<String>,
    pub created_at: Timestamp,
}

impl Record for ProjectImage {}

/// Where an image is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// Added by a person.
    Given,
    /// Seen on the project's pages.
    Found,
}

/// Something waiting to be looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingAnalysis {
    pub account: AccountId,
    /// An image by its id in the key, or a logo by this address.
    pub logo: Option<String>,
    pub tries: u8,
    /// Not before.
    pub due: Timestamp,
}

impl Record for PendingAnalysis {}

/// All images: given ones first, newest first; then found ones, best first.
pub fn all(tx: &impl Read, project: ProjectId) -> Result<Vec<ProjectImage>> {
    let rows = tx.list(PICTURES, &PICTURES.under(&(project,)), Order::Forward, usize::MAX)?;
    let (mut given, found): (Vec<ProjectImage>, Vec<ProjectImage>) =
        rows.into_iter().map(|(_, picture)| picture).partition(|picture| picture.origin == Origin::Given);
    given.reverse();
    given.extend(found);
    Ok(given)
}

/// The image at this address.
pub fn at(tx: &impl Read, project: ProjectId, url: &str) -> Result<Option<ProjectImage>> {
    Ok(all(tx, project)?.into_iter().find(|picture| picture.image.url == url))
}

/// The image with this id.
pub fn find(tx: &impl Read, project: ProjectId, id: PictureId) -> Result<Option<ProjectImage>> {
    tx.get(PICTURES, &(project, id))
}

/// Write an image.
pub fn save(tx: &mut WriteTx<'_>, project: ProjectId, picture: &ProjectImage) {
    tx.put(PICTURES, &(project, picture.id), picture);
}

/// Remove an image.
pub fn delete(tx: &mut WriteTx<'_>, project: ProjectId, id: PictureId) {
    tx.delete(PICTURES, &(project, id));
    tx.delete(LOOKS, &(project, id));
}

/// Let an image be looked at.
pub fn request_analysis(tx: &mut WriteTx<'_>, (account, project): (AccountId, ProjectId), id: PictureId, logo: Option<String>) {
    let look = PendingAnalysis { account, logo, tries: 0, due: tx.now() };
    tx.put(LOOKS, &(project, id), &look);
}

/// What waits to be looked at and is due, at most `limit`.
pub fn waiting(tx: &impl Read, now: Timestamp, limit: usize) -> Result<Vec<((ProjectId, PictureId), PendingAnalysis)>> {
    let mut due = Vec::new();
    tx.visit(LOOKS, &Span::default(), Order::Forward, |key, look: PendingAnalysis| {
        if look.due <= now {
            due.push((key, look));
        }
        let enough = due.len() >= limit;
        Ok(if enough { std::ops::ControlFlow::Break(()) } else { std::ops::ControlFlow::Continue(()) })
    })?;
    Ok(due)
}

/// The look is over.
pub fn analysis_done(tx: &mut WriteTx<'_>, key: (ProjectId, PictureId)) {
    tx.delete(LOOKS, &key);
}

/// Look again later.
pub fn retry_analysis(tx: &mut WriteTx<'_>, key: (ProjectId, PictureId), look: &PendingAnalysis) {
    tx.put(LOOKS, &key, look);
}
