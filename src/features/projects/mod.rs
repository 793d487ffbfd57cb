//! Projects: the brands of an account. Contacts, segments, campaigns and emails live inside one.
//!
//! A project begins as a list of addresses; `importing` fetches what is there, `reading` understands it, and what comes out is the
//! [`brand`] that emails are made of. Images, logos, texts and rules that people give stand beside it and win over it.
//!
//! Invariant: a project's row stands under its account, so a look-up with another account's key finds nothing, and the answer is
//! the same as for a project that never was.

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
pub mod worker;

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

/// Any of these lets a key read projects: no permission is for that alone. To list them, and so to find their ids, any permission is enough.
const READERS: &[Permission] =
    &[Permission::EmailRead, Permission::ProjectWrite, Permission::AudienceRead, Permission::CampaignRead];

/// Make sure that the account has this project. Costs one look-up of a key and reads no row.
pub fn require(tx: &impl Read, account: AccountId, project: ProjectId) -> Result<(), Failure> {
    if store::exists(tx, account, project)? { Ok(()) } else { Err(not_found()) }
}

/// Make this the project's default sender if it has none.
pub fn suggest_sender(tx: &mut WriteTx<'_>, account: AccountId, project: ProjectId, sender: DefaultSender) -> StoreResult<()> {
    match store::find(tx, account, project)? {
        Some(project) if project.sender.is_none() => {
            store::save(tx, account, &Project { sender: Some(sender), ..project });
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The account's project with this id.
pub fn find(tx: &impl Read, account: AccountId, project: ProjectId) -> StoreResult<Option<Project>> {
    store::find(tx, account, project)
}

/// The account's project that has something. Costs a look at each project, newest first, until it is found: for what is rare.
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

/// A project of the account with everything that is known of its brand: what its sites say, and what people gave.
pub fn brand(tx: &impl Read, account: AccountId, project: ProjectId) -> StoreResult<Option<(Project, Brand)>> {
    let Some(project) = store::find(tx, account, project)? else { return Ok(None) };
    let mut brand = store::brand(tx, project.id)?.unwrap_or_default();
    brand.logos = with_given(brand.logos, &project.logos);
    brand.images = images::all(tx, project.id)?.into_iter().map(|picture| picture.image).collect();
    brand.guidelines = store::guidelines(tx, project.id)?;
    store::look(tx, project.id)?.put_over(&mut brand);
    Ok(Some((project, brand)))
}

/// The logos with the given ones in front. What was measured of one stays with it.
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

/// The failure for a project that the account does not have, whether or not another has it.
fn not_found() -> Failure {
    Failure::because(Code::NotFound, "There is no such project; GET /v1/projects lists those of this key.")
}
