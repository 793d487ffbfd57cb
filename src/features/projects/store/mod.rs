//! The tables of projects, brands, values that users set, and brand guidelines, and all access to them.

pub mod images;
pub mod imports;
pub mod knowledge;
pub mod products;

use std::ops::ControlFlow;

use crate::engine::store::key::Key;
use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::features::projects::brand::{Brand, BrandGuidelines};
use crate::features::projects::model::{Project, ProjectStatus};
use crate::features::projects::overrides::BrandOverrides;
use crate::vocab::ids::{AccountId, ProjectId};
use crate::vocab::tables;

const PROJECTS: Table<(AccountId, ProjectId), Project> = Table::new(tables::PROJECTS);
const BRANDS: Table<ProjectId, Brand> = Table::new(tables::PROJECT_BRANDS);
const OVERRIDES: Table<ProjectId, BrandOverrides> = Table::new(tables::PROJECT_OVERRIDES);
const GUIDELINES: Table<ProjectId, BrandGuidelines> = Table::new(tables::PROJECT_GUIDELINES);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] =
    &[RowCheck::of(PROJECTS), RowCheck::of(BRANDS), RowCheck::of(OVERRIDES), RowCheck::of(GUIDELINES)];

pub fn exists(tx: &impl Read, account: AccountId, project: ProjectId) -> Result<bool> {
    let mut key = [0; 24];
    key[..12].copy_from_slice(&account.0);
    key[12..].copy_from_slice(&project.0);
    Ok(tx.get_bytes(PROJECTS.id, &key)?.is_some())
}

pub fn find(tx: &impl Read, account: AccountId, project: ProjectId) -> Result<Option<Project>> {
    tx.get(PROJECTS, &(account, project))
}

pub fn save(tx: &mut WriteTx<'_>, account: AccountId, project: &Project) {
    tx.put(PROJECTS, &(account, project.id), project);
}

/// Returns the brand as read from the project's sites; returns `None` until an import has completed or a logo has been analyzed.
pub fn brand(tx: &impl Read, project: ProjectId) -> Result<Option<Brand>> {
    tx.get(BRANDS, &project)
}

/// Saves the brand as read from the sites. Images, products and guidelines are saved in separate tables.
pub fn save_brand(tx: &mut WriteTx<'_>, project: ProjectId, brand: &Brand) {
    debug_assert!(
        brand.images.is_empty() && brand.products.is_empty() && brand.guidelines == BrandGuidelines::default(),
        "images, products and guidelines have their own tables"
    );
    tx.put(BRANDS, &project, brand);
}

pub fn guidelines(tx: &impl Read, project: ProjectId) -> Result<BrandGuidelines> {
    Ok(tx.get(GUIDELINES, &project)?.unwrap_or_default())
}

pub fn save_guidelines(tx: &mut WriteTx<'_>, project: ProjectId, guidelines: &BrandGuidelines) {
    tx.put(GUIDELINES, &project, guidelines);
}

/// Returns the brand values that users set.
pub fn overrides(tx: &impl Read, project: ProjectId) -> Result<BrandOverrides> {
    Ok(tx.get(OVERRIDES, &project)?.unwrap_or_default())
}

pub fn save_overrides(tx: &mut WriteTx<'_>, project: ProjectId, overrides: &BrandOverrides) {
    tx.put(OVERRIDES, &project, overrides);
}

/// Returns the account that owns this project.
pub fn owner(tx: &impl Read, project: ProjectId) -> Result<Option<AccountId>> {
    let mut owner = None;
    tx.visit_bytes(PROJECTS.id, &Span::default(), Order::Forward, &mut |mut key, _| {
        let (account, id): (AccountId, ProjectId) = Key::read(&mut key).ok_or_else(|| tx.corrupt(tables::PROJECTS))?;
        if id == project {
            owner = Some(account);
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(owner)
}

pub fn count(tx: &impl Read, account: AccountId) -> Result<u64> {
    let mut count = 0;
    tx.visit_bytes(PROJECTS.id, &PROJECTS.under(&(account,)), Order::Forward, &mut |_, _| {
        count += 1;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(count)
}

/// Returns the IDs of the account's projects, newest first. There are at most [`crate::vocab::limits::PROJECTS_MAX`].
pub fn ids(tx: &impl Read, account: AccountId) -> Result<Vec<ProjectId>> {
    let mut ids = Vec::new();
    tx.visit_bytes(PROJECTS.id, &PROJECTS.under(&(account,)), Order::Backward, &mut |mut key, _| {
        let (_, id): (AccountId, ProjectId) = Key::read(&mut key).ok_or_else(|| tx.corrupt(tables::PROJECTS))?;
        ids.push(id);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(ids)
}

/// Returns the account's projects, newest first. If `status` is given, returns only projects with this status. There are at most
/// [`crate::vocab::limits::PROJECTS_MAX`].
pub fn list(tx: &impl Read, account: AccountId, status: Option<ProjectStatus>) -> Result<Vec<Project>> {
    let mut projects = Vec::new();
    tx.visit(PROJECTS, &PROJECTS.under(&(account,)), Order::Backward, |_, project| {
        if status.is_none_or(|status| project.status == status) {
            projects.push(project);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(projects)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Timestamp;
    use crate::features::projects::model::{Logos, Site};

    #[test]
    fn the_key_that_exists_builds_is_the_tables_key() {
        let (account, project) = (AccountId::from_bytes([7; 12]), ProjectId::from_bytes([9; 12]));
        let mut short = [7; 24];
        short[12..].copy_from_slice(&[9; 12]);
        assert_eq!((account, project).to_bytes(), short);
    }

    #[test]
    fn a_record_reads_back() {
        use crate::engine::store::Value;
        let site: Site = "https://example.com".parse().expect("the input is valid");
        let logos = Logos { primary: Some("https://example.com/logo.png".into()), ..Logos::default() };
        let project = Project::pending(ProjectId::from_bytes([1; 12]), &[site], Some("Acme"), logos, Timestamp(5));
        let mut bytes = Vec::new();
        project.encode(&mut bytes);
        assert_eq!(Project::decode(&bytes), Some(project));
    }
}
