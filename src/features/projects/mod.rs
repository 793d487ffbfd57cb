//! Projects: the brands in an account. Every contact, segment, campaign and email belongs to a project.
//!
//! A new project consists of a list of addresses. `importing` fetches the pages, and `reading` extracts the [`brand`] that emails are based
//! on. Images, logos, knowledge-base entries and guidelines that users add are stored separately and take precedence over data found on the
//! sites.
//!
//! Invariant: the key of a project's row starts with the ID of its account. A lookup with a different account's key therefore finds no row,
//! and the response is the same as for a project that never existed.

pub mod brand;
pub mod copy;
mod fetch_page;
mod image_analysis;
mod image_files;
pub mod importing;
mod model;
pub mod ops;
mod overrides;
mod products;
mod reading;
mod remote;
pub mod shop_products;
mod site_key;
mod store;
pub mod views;
pub mod worker;

pub use fetch_page::fetch_page;
pub use image_analysis::step as analyze_images;
pub use image_files::file as image_file;
pub use image_files::{file as picture_file, keep as keep_picture, link as picture_link};
pub use importing::run_task as run_site_task;
pub use model::{DefaultSender, Logos, Project, ProjectStatus, Site};
pub use overrides::BrandOverrides;
pub use reading::Text as PageText;
pub use reading::{font_stack, shortened};
pub use remote::{each_image, proxied as images_through_here};
pub use store::ROW_CHECKS;
pub use store::images::ROW_CHECKS as IMAGE_ROW_CHECKS;
pub use store::imports::ROW_CHECKS as IMPORT_ROW_CHECKS;
pub use store::knowledge;
pub use store::products::ROW_CHECKS as PRODUCT_ROW_CHECKS;
pub use views::{OwningProject, ProjectView};

use self::brand::{Brand, BrandLogo, BrandLogoBackground, BrandLogoSource};
use crate::engine::api::Failure;
use crate::engine::store::{Read, Result as StoreResult, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use store::{images, products as stored_products};

/// A key with any of these permissions can read projects. There is no separate permission for reading projects. A key with any permission
/// can list projects, which reveals their IDs.
const READERS: &[Permission] =
    &[Permission::EmailRead, Permission::ProjectWrite, Permission::AudienceRead, Permission::CampaignRead];

/// Returns a failure unless the account has this project. Checks only whether the project's row exists, without decoding the row.
pub fn require(tx: &impl Read, account: AccountId, project: ProjectId) -> Result<(), Failure> {
    if store::exists(tx, account, project)? { Ok(()) } else { Err(not_found()) }
}

/// Sets the project's default sender to `sender` if the project has none.
pub fn suggest_sender(tx: &mut WriteTx<'_>, account: AccountId, project: ProjectId, sender: DefaultSender) -> StoreResult<()> {
    match store::find(tx, account, project)? {
        Some(project) if project.sender.is_none() => {
            store::save(tx, account, &Project { sender: Some(sender), ..project });
            Ok(())
        }
        _ => Ok(()),
    }
}

pub fn find(tx: &impl Read, account: AccountId, project: ProjectId) -> StoreResult<Option<Project>> {
    store::find(tx, account, project)
}

/// Returns the account's projects, newest first.
pub fn list(tx: &impl Read, account: AccountId) -> StoreResult<Vec<Project>> {
    store::list(tx, account, None)
}

/// Returns the account that has this project. Visits all projects, so this function is suitable only for rare calls.
pub fn owner(tx: &impl Read, project: ProjectId) -> StoreResult<Option<AccountId>> {
    store::owner(tx, project)
}

/// Returns a failure if the account has the maximum number of projects. `remedy` is the last sentence of the failure's message.
pub fn require_room(tx: &impl Read, account: AccountId, remedy: &str) -> Result<(), Failure> {
    if store::count(tx, account)? < limits::PROJECTS_MAX {
        return Ok(());
    }
    let detail = format!("An account can have at most {} brands. {remedy}", limits::PROJECTS_MAX);
    Err(Failure::because(Code::LimitReached, detail))
}

/// Returns the import error of a project that has no brand: its import failed, no earlier import succeeded, and users have set neither a
/// name nor other values.
pub fn import_failure(tx: &impl Read, account: AccountId, project: ProjectId) -> StoreResult<Option<String>> {
    let is_bare = |project: &Project| project.status == ProjectStatus::Error && project.name == project.domain;
    let Some(failed) = store::find(tx, account, project)?.filter(is_bare) else { return Ok(None) };
    let has_brand = store::brand(tx, project)?.is_some() || store::overrides(tx, project)? != BrandOverrides::default();
    Ok(failed.error.filter(|_| !has_brand))
}

/// Returns the account's newest project that was imported from the site at `url`.
pub fn with_site(tx: &impl Read, account: AccountId, url: &str) -> StoreResult<Option<Project>> {
    Ok(store::list(tx, account, None)?.into_iter().find(|project| site_key::same_site(project, url)))
}

/// Returns the account's newest project for which `has` is true. Checks the projects one by one, so this function is suitable only for rare
/// calls.
pub fn having<R: Read>(
    tx: &R,
    account: AccountId,
    has: impl Fn(&R, ProjectId) -> StoreResult<bool>,
) -> StoreResult<Option<ProjectId>> {
    for project in store::ids(tx, account)? {
        if has(tx, project)? {
            return Ok(Some(project));
        }
    }
    Ok(None)
}

/// Returns a project in the account with its whole brand: the values that users set and, for all other values, those found on its sites.
/// Products that emails leave out are not included.
pub fn brand(tx: &impl Read, account: AccountId, project: ProjectId) -> StoreResult<Option<(Project, Brand)>> {
    let Some(project) = store::find(tx, account, project)? else { return Ok(None) };
    let mut brand = corrected(tx, project.id)?;
    brand.logos = with_given(brand.logos, &project.logos);
    brand.images = images::all(tx, project.id)?.into_iter().map(|picture| picture.image).collect();
    let products = stored_products::all(tx, project.id)?;
    brand.products = products.iter().filter(|product| product.is_offered()).map(|product| product.shown()).collect();
    brand.guidelines = store::guidelines(tx, project.id)?;
    Ok(Some((project, brand)))
}

/// Returns the postal address of a project's brand. The caller must have checked that the project belongs to the account.
pub fn postal_address(tx: &impl Read, project: ProjectId) -> StoreResult<Option<String>> {
    Ok(corrected(tx, project)?.contact.address)
}

/// Returns the imported brand with the values that users set, but without images, products, guidelines, and the logos that users set.
fn corrected(tx: &impl Read, project: ProjectId) -> StoreResult<Brand> {
    let mut brand = store::brand(tx, project)?.unwrap_or_default();
    store::overrides(tx, project)?.put_over(&mut brand);
    Ok(brand)
}

/// Returns the logos, with those set by users first. If a logo that a user set is among the known logos, it keeps its measurements.
fn with_given(mut logos: Vec<BrandLogo>, given: &Logos) -> Vec<BrandLogo> {
    for url in [&given.favicon, &given.secondary, &given.primary].into_iter().flatten() {
        let known = logos.iter().position(|logo| logo.url == *url).map(|place| logos.remove(place));
        let unknown = || BrandLogo {
            url: url.clone(),
            source: BrandLogoSource::Given,
            width: None,
            height: None,
            background: BrandLogoBackground::Unknown,
        };
        let logo = known.unwrap_or_else(unknown);
        logos.insert(0, BrandLogo { source: BrandLogoSource::Given, ..logo });
    }
    logos
}

/// Returns the failure for a project that the account does not have. The failure is the same whether or not another account has the
/// project.
pub fn not_found() -> Failure {
    Failure::because(Code::NotFound, "The account has no brand with this ID.")
        .see("projects.list", "GET /v1/projects lists the projects that this key can use")
}
