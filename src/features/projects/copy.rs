//! Copies the parts of a brand to the live environment: they are read in one environment and written in the other.
//!
//! This file does not depend on which environment is which, and has no handle to either: the caller passes transactions.

use serde::{Deserialize, Serialize};

use super::brand::{Brand, BrandGuidelines};
use super::image_files;
use super::model::{Project, ProjectStatus};
use super::overrides::BrandOverrides;
use super::products::Product;
use super::store::{self, images, knowledge, products as stored_products};
use crate::engine::api::Engine;
use crate::engine::store::{Read, Record, Result, WriteTx};
use crate::vocab::ids::{AccountId, BlobId, KnowledgeId, PictureId, ProductId, ProjectId};

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
    /// Reads a project's brand.
    pub fn read(tx: &impl Read, project: Project) -> Result<Self> {
        Ok(Self {
            brand: store::brand(tx, project.id)?,
            overrides: store::overrides(tx, project.id)?,
            guidelines: store::guidelines(tx, project.id)?,
            project,
        })
    }

    /// Writes the brand as the project `id`.
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

    /// Returns whether the copy of this part exists in a project.
    pub fn is_in(&self, tx: &impl Read, project: ProjectId) -> Result<bool> {
        Ok(match self {
            Self::Knowledge(entry) => knowledge::find(tx, project, entry.id.copied())?.is_some(),
            Self::Image(image) => images::find(tx, project, image.id.copied())?.is_some(),
            Self::Product(product) => stored_products::find(tx, project, product.id.copied())?.is_some(),
        })
    }

    /// Writes the copy of this part to a project.
    pub fn write(self, tx: &mut WriteTx<'_>, project: ProjectId) {
        match self {
            Self::Knowledge(entry) => {
                let id: KnowledgeId = entry.id.copied();
                knowledge::save(tx, project, &knowledge::Entry { id, ..entry });
            }
            Self::Image(image) => {
                let id: PictureId = image.id.copied();
                images::save(tx, project, &images::ProjectImage { id, ..image });
            }
            Self::Product(product) => {
                let id: ProductId = product.id.copied();
                // A store belongs to one environment, so the copy has no link to the store.
                stored_products::save(tx, project, &Product { id, store: None, ..*product });
            }
        }
    }

    /// Returns the ID of this part's uploaded file, if it has one. The copied part keeps the URL of the file, so the copied file has the
    /// same ID.
    pub fn file(&self, engine: &Engine) -> Option<BlobId> {
        match self {
            Self::Image(image) => image_files::upload(engine, &image.image.url),
            Self::Knowledge(_) | Self::Product(_) => None,
        }
    }
}
