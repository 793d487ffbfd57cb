//! Projects: the brands of an account. Contacts, segments, campaigns and emails live inside one.
//!
//! A project starts as a list of addresses. `importing` fetches the pages, and `reading` extracts the [`brand`] that emails are made of.
//! Images, logos, texts and rules that users add are stored separately and take precedence over what the sites show.
//!
//! Invariant: the key of a project's row starts with its account, so a lookup with another account's key finds nothing and gets the same
//! response as for a project that never existed.

pub mod brand;
mod fetch_page;
mod image_analysis;
mod image_files;
mod images;
pub mod importing;
pub mod knowledge;
mod model;
pub mod ops;
mod reading;
mod remote;
mod store;
mod views;

pub use fetch_page::fetch_page;
pub use image_analysis::step as look;
pub use image_files::file as picture_file;
pub use model::{DefaultSender, Logos, Project, ProjectStatus, Site};
pub use reading::Text as PageText;
pub use remote::proxied as images_through_here;
pub use views::{Belongs, ProjectView};

use self::brand::{Brand, BrandLogo, BrandLogoBackground, BrandLogoSource};
use crate::engine::api::Failure;
use crate::engine::store::{Read, Result as StoreResult, WriteTx};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, ProjectId};
use crate::vocab::permissions::Permission;

/// Any of these permissions lets a key read projects; there is no separate permission for it. Listing projects, and so finding their ids,
/// needs any permission at all.
const READERS: &[Permission] =
    &[Permission::EmailRead, Permission::ProjectWrite, Permission::AudienceRead, Permission::CampaignRead];

/// Fails unless the account has this project. Costs one key lookup and reads no row.
pub fn require(tx: &impl Read, account: AccountId, project: ProjectId) -> Result<(), Failure> {
    if store::exists(tx, account, project)? { Ok(()) } else { Err(not_found()) }
}

/// Makes this the project's default sender if it has none.
pub fn suggest_sender(tx: &mut WriteTx<'_>, account: AccountId, project: ProjectId, sender: DefaultSender) -> StoreResult<()> {
    match store::find(tx, account, project)? {
        Some(project) if project.sender.is_none() => {
            store::save(tx, account, &Project { sender: Some(sender), ..project });
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns the account's project with this id.
pub fn find(tx: &impl Read, account: AccountId, project: ProjectId) -> StoreResult<Option<Project>> {
    store::find(tx, account, project)
}

/// Returns the account's newest project for which `has` is true. Checks one project after the other, so use it only for rare calls.
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

/// Returns a project of the account with its whole brand: what its sites show, overlaid with what users set.
pub fn brand(tx: &impl Read, account: AccountId, project: ProjectId) -> StoreResult<Option<(Project, Brand)>> {
    let Some(project) = store::find(tx, account, project)? else { return Ok(None) };
    let mut brand = store::brand(tx, project.id)?.unwrap_or_default();
    brand.logos = with_given(brand.logos, &project.logos);
    brand.images = images::all(tx, project.id)?.into_iter().map(|picture| picture.image).collect();
    brand.guidelines = store::guidelines(tx, project.id)?;
    store::look(tx, project.id)?.put_over(&mut brand);
    Ok(Some((project, brand)))
}

/// Returns the logos with the ones set by users first. Keeps the measurements of a logo that is already known.
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

/// The failure for a project that the account does not have, whether or not another account has it.
fn not_found() -> Failure {
    Failure::because(Code::NotFound, "There is no such project. GET /v1/projects lists the projects that this key can use.")
}
