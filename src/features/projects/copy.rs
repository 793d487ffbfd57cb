//! Reads the parts of a brand and writes their copies to another store or to the same store.
//!
//! This file opens no store: the caller passes transactions.

use serde::{Deserialize, Serialize};

use super::brand::{Brand, BrandGuidelines};
use super::image_files;
use super::model::{Logos, Project, ProjectStatus};
use super::overrides::BrandOverrides;
use super::products::Product;
use super::store::{self, images, knowledge, products as stored_products};
use crate::engine::api::Engine;
use crate::engine::store::{Read, Record, Result, WriteTx};
use crate::vocab::ids::{AccountId, BlobId, CopyIds, KnowledgeId, PictureId, ProductId, ProjectId};

/// A project and the values of its brand, without the knowledge-base entries, images and products.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrandCopy {
    project: Project,
    brand: Option<Brand>,
    overrides: BrandOverrides,
    guidelines: BrandGuidelines,
}

impl Record for BrandCopy {}

impl BrandCopy {
    pub fn read(tx: &impl Read, project: Project) -> Result<Self> {
        Ok(Self {
            brand: store::brand(tx, project.id)?,
            overrides: store::overrides(tx, project.id)?,
            guidelines: store::guidelines(tx, project.id)?,
            project,
        })
    }

    pub fn named(mut self, name: String) -> Self {
        self.overrides.name = Some(name.clone());
        self.project.name = name;
        self
    }

    /// Returns the IDs of the logos that are uploaded files.
    pub fn files(&self, engine: &Engine) -> Vec<BlobId> {
        self.project.logos.all().filter_map(|url| image_files::upload(engine, url)).collect()
    }

    /// Replaces the URLs of uploaded files with the URLs of their copies.
    pub fn with_files(mut self, engine: &Engine, ids: CopyIds) -> Self {
        let Logos { primary, secondary, favicon } = &mut self.project.logos;
        for url in [primary, secondary, favicon].into_iter().flatten() {
            *url = linked(engine, url, ids);
        }
        self
    }

    /// Writes the brand as the project with the ID `id`.
    pub fn write(self, tx: &mut WriteTx<'_>, account: AccountId, id: ProjectId) {
        let Self { project, brand, overrides, guidelines } = self;
        store::save(tx, account, &Project { id, status: ProjectStatus::Active, error: None, updated_at: tx.now(), ..project });
        if let Some(brand) = brand {
            store::save_brand(tx, id, &brand);
        }
        store::save_overrides(tx, id, &overrides);
        store::save_guidelines(tx, id, &guidelines);
    }
}

/// A knowledge-base entry, an image or a product of a brand.
#[derive(Clone, Debug, PartialEq)]
pub enum BrandPart {
    Knowledge(knowledge::Entry),
    Image(images::ProjectImage),
    Product(Box<Product>),
}

impl BrandPart {
    /// Returns all knowledge-base entries, images and products of a brand.
    pub fn all(tx: &impl Read, project: ProjectId) -> Result<Vec<Self>> {
        let mut parts: Vec<Self> = knowledge::all(tx, project)?.into_iter().map(Self::Knowledge).collect();
        parts.extend(images::all(tx, project)?.into_iter().map(Self::Image));
        parts.extend(stored_products::all(tx, project)?.into_iter().map(Box::new).map(Self::Product));
        Ok(parts)
    }

    /// Returns the copy of this part in a project; `None` if the project has no copy.
    pub fn copy_in(&self, tx: &impl Read, project: ProjectId, ids: CopyIds) -> Result<Option<Self>> {
        Ok(match self {
            Self::Knowledge(entry) => knowledge::find(tx, project, ids.of(entry.id))?.map(Self::Knowledge),
            Self::Product(product) => {
                stored_products::find(tx, project, ids.of(product.id))?.map(|found| Self::Product(Box::new(found)))
            }
            Self::Image(image) => {
                let found = match images::find(tx, project, ids.of(image.id))? {
                    // A project contains each image only once. If a user has added the image again, that image counts as the copy.
                    None if ids == CopyIds::Same => images::at(tx, project, &image.image.url)?,
                    found => found,
                };
                found.map(Self::Image)
            }
        })
    }

    /// Writes the copy of this part to a project.
    pub fn write(self, tx: &mut WriteTx<'_>, project: ProjectId, ids: CopyIds) -> Result<()> {
        match self {
            Self::Knowledge(entry) => {
                let id: KnowledgeId = ids.of(entry.id);
                knowledge::save(tx, project, &knowledge::Entry { id, ..entry });
            }
            Self::Image(image) => {
                let id: PictureId = match ids {
                    CopyIds::Same => images::at(tx, project, &image.image.url)?.map_or(image.id, |known| known.id),
                    CopyIds::OtherEnvironment | CopyIds::Beside(_) => ids.of(image.id),
                };
                images::save(tx, project, &images::ProjectImage { id, ..image });
            }
            Self::Product(product) => {
                let id: ProductId = ids.of(product.id);
                // A connected store belongs to one brand in one environment, so a copy of a product in another environment or in another
                // brand is not linked to the store.
                let store = product.store.clone().filter(|_| ids == CopyIds::Same);
                stored_products::save(tx, project, &Product { id, store, ..*product });
            }
        }
        Ok(())
    }

    /// Returns the kind and the name of this part, for users.
    pub fn label(&self) -> String {
        match self {
            Self::Knowledge(entry) => format!("The knowledge-base entry {}", entry.title),
            Self::Image(image) => format!("The image {}", image.image.url),
            Self::Product(product) => format!("The product {}", product.shown().name),
        }
    }

    /// Replaces the URL of an uploaded file with the URL of its copy.
    pub fn with_file(self, engine: &Engine, ids: CopyIds) -> Self {
        match self {
            Self::Image(mut image) => {
                image.image.url = linked(engine, &image.image.url, ids);
                Self::Image(image)
            }
            part @ (Self::Knowledge(_) | Self::Product(_)) => part,
        }
    }

    /// Returns the ID of this part's uploaded file, if it has one.
    pub fn file(&self, engine: &Engine) -> Option<BlobId> {
        match self {
            Self::Image(image) => image_files::upload(engine, &image.image.url),
            Self::Knowledge(_) | Self::Product(_) => None,
        }
    }
}

/// Returns the ID of the copy of an uploaded file. A copy as a second brand in the same environment needs separate files, because either
/// brand can delete its files. A copy in the other environment keeps the file's ID, so the URLs in emails stay valid if the original is
/// deleted.
pub fn file_id(file: BlobId, ids: CopyIds) -> BlobId {
    match ids {
        CopyIds::Beside(_) => ids.of(file),
        CopyIds::Same | CopyIds::OtherEnvironment => file,
    }
}

fn linked(engine: &Engine, url: &str, ids: CopyIds) -> String {
    match image_files::upload(engine, url) {
        Some(file) if file_id(file, ids) != file => image_files::link(engine, file_id(file, ids)),
        _ => url.to_owned(),
    }
}
