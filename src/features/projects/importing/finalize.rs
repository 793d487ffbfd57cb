//! The reading stage, which stores a draft of the brand, and the end of the import, which saves the measured draft as the brand.

use std::sync::Arc;

use super::changes::{self, ChangeState, ImportChange, ImportChanges};
use super::{Import, Stage, close, files, find, forget_files, give_up, save, tasks};
use crate::engine::api::{Engine, EnvironmentData, Failure};
use crate::engine::store::{Read, Result as StoreResult, WriteTx};
use crate::features::projects::brand::{Brand, BrandProduct};
use crate::features::projects::images::{self, Origin, ProjectImage};
use crate::features::projects::knowledge::{self, Entry};
use crate::features::projects::model::{Project, ProjectStatus};
use crate::features::projects::products::{self, Product, ProductChange};
use crate::features::projects::reading::{self, Draft};
use crate::features::projects::store::imports;
use crate::features::projects::{store, stored_products, with_given};
use crate::vocab::ids::{KnowledgeId, PictureId, ProductId, ProjectId};
use crate::vocab::limits::{KNOWLEDGE_ENTRIES_MAX, PRODUCTS_MAX, SITE_IMPORT_CHANGES_MAX};

/// The progress of the import after the files have been read, in percent.
const PERCENT_READ: u8 = 70;

/// Reads the fetched files and stores the draft of the brand.
pub async fn read(engine: &Engine, data: &Arc<EnvironmentData>, project: ProjectId) -> Result<(), Failure> {
    let _turn = tasks::turn().await;
    let known = files(&data.store.read(), project)?;
    let Some(draft) = tasks::draft(&engine.pixels, &known).await? else { return give_up(data, project).await };
    drop(known);
    data.store.write(move |tx| record(tx, project, draft)).await??;
    Ok(())
}

fn record(tx: &mut WriteTx<'_>, project: ProjectId, mut draft: Draft) -> StoreResult<()> {
    let Some(mut import) = find(tx, project)?.filter(|import| import.stage == Stage::Reading) else { return Ok(()) };
    if let Some(owner) = store::find(tx, import.account, project)? {
        draft.brand.logos = with_given(std::mem::take(&mut draft.brand.logos), &owner.logos);
    }
    import.metrics.notes.append(&mut draft.notes);
    import.stage = Stage::Measuring;
    import.percentage = PERCENT_READ;
    import.plan = Vec::new();
    import.next = 0;
    import.draft = Some(draft);
    import.failures = 0;
    save(tx, project, &import);
    forget_files(tx, project)
}

/// Saves the draft as the brand with its products, images and knowledge-base entries, in one transaction.
pub fn complete(tx: &mut WriteTx<'_>, project: ProjectId, mut import: Import, seen: Vec<ProjectImage>) -> StoreResult<()> {
    let draft = import.draft.take().unwrap_or_default();
    let account = import.account;
    let Some(mut owner) = store::find(tx, account, project)? else { return close(tx, project, import, Stage::Failed) };
    let Draft { mut brand, texts, .. } = draft;
    let products = std::mem::take(&mut brand.products);
    settle_images(tx, project, seen)?;
    let entries = settle_texts(tx, project, texts)?;
    import.metrics.products_found = products.len() as u32;
    let (brand, changes) = compare(tx, project, brand, &products)?;
    let is_open = changes.iter().any(|change| change.state() == ChangeState::Pending);
    let changes = ImportChanges { found_at: tx.now(), changes };
    imports::save_changes(tx, project, is_open.then_some(&changes));
    import.metrics.knowledge_entries = entries;
    import.metrics.missing = reading::missing(&brand, !images::all(tx, project)?.is_empty(), !products.is_empty());
    rename(tx, &mut owner, &brand)?;
    owner.status = ProjectStatus::Active;
    owner.error = None;
    owner.updated_at = tx.now();
    store::save(tx, account, &owner);
    store::save_brand(tx, project, &brand);
    close(tx, project, import, Stage::Completed)
}

/// Renames the project to the name of its brand, unless a user set the project's name.
fn rename(tx: &impl Read, owner: &mut Project, brand: &Brand) -> StoreResult<()> {
    if let (None, Some(name)) = (store::overrides(tx, owner.id)?.name, &brand.name) {
        owner.name = name.clone();
    }
    Ok(())
}

/// Compares an import with the brand and its products. Returns the brand to store and the changes that users decide on. A product change is
/// stored immediately if it would not be visible in emails or if the list of changes is full. The first import has no changes to decide on.
fn compare(
    tx: &mut WriteTx<'_>,
    project: ProjectId,
    found: Brand,
    found_products: &[BrandProduct],
) -> StoreResult<(Brand, Vec<ImportChange>)> {
    // If a logo was analyzed before the first import finished, the stored brand has neither a name nor a language and is ignored.
    let old = store::brand(tx, project)?.filter(|old| !old.languages.is_empty() || old.name.is_some());
    let (brand, mut open) = match &old {
        Some(old) => changes::compare(old, found, &store::overrides(tx, project)?),
        None => (found, Vec::new()),
    };
    let mut known = stored_products::all(tx, project)?;
    for change in products::changes(&known, found_products) {
        if old.is_some() && change.is_visible(&known) && open.len() < SITE_IMPORT_CHANGES_MAX {
            let id = change.id.unwrap_or_else(|| ProductId::make(tx.now(), tx.random()));
            open.push(ImportChange::Product { id, change: Box::new(change) });
        } else {
            apply(tx, project, &mut known, &change);
        }
    }
    Ok((brand, open))
}

/// Stores a change to a product. Ignores a new product if the project has the maximum number of products.
fn apply(tx: &mut WriteTx<'_>, project: ProjectId, known: &mut Vec<Product>, change: &ProductChange) {
    match change.applied(known, ProductId::make(tx.now(), tx.random())) {
        Some(product) if change.id.is_some() || known.len() < PRODUCTS_MAX => {
            stored_products::save(tx, project, &product);
            known.retain(|other| other.id != product.id);
            known.push(product);
        }
        Some(_) => {}
        None => change.id.into_iter().for_each(|id| stored_products::delete(tx, project, id)),
    }
}

/// Replaces the images from the previous import with the images from this import. Keeps images that users added, and descriptions and tags
/// that users set. Leaves out images that users removed.
fn settle_images(tx: &mut WriteTx<'_>, project: ProjectId, seen: Vec<ProjectImage>) -> StoreResult<()> {
    let known = images::all_with_removed(tx, project)?;
    for picture in known.iter().filter(|picture| picture.origin == Origin::Found) {
        images::delete(tx, project, picture.id);
    }
    let is_settled = |url: &str| known.iter().any(|picture| picture.origin != Origin::Found && picture.image.url == url);
    for (place, picture) in seen.into_iter().enumerate() {
        if !is_settled(&picture.image.url) {
            // The number in the ID keeps the images in order.
            let id = PictureId::numbered(tx.now(), place as u32, tx.random());
            let own = known.iter().find(|other| other.image.url == picture.image.url);
            let mut picture = ProjectImage { id, ..picture };
            if let Some(own) = own.filter(|own| own.own_description) {
                (picture.image.description, picture.own_description) = (own.image.description.clone(), true);
            }
            if let Some(own) = own.filter(|own| own.own_tags) {
                (picture.image.tags, picture.own_tags) = (own.image.tags.clone(), true);
            }
            images::save(tx, project, &picture);
        }
    }
    Ok(())
}

/// Replaces the knowledge-base entries from the site with the entries that this import found, and returns their number. Keeps entries that
/// users wrote or changed. Leaves out entries that users removed.
fn settle_texts(tx: &mut WriteTx<'_>, project: ProjectId, texts: Vec<reading::Text>) -> StoreResult<u32> {
    let known = knowledge::all_with_removed(tx, project)?;
    let is_read = |entry: &Entry| entry.origin == knowledge::KnowledgeOrigin::Website && !entry.is_removed();
    let (read, own): (Vec<Entry>, Vec<Entry>) = known.into_iter().partition(is_read);
    for entry in read {
        knowledge::delete(tx, project, entry.id);
    }
    let room = KNOWLEDGE_ENTRIES_MAX.saturating_sub(own.iter().filter(|entry| !entry.is_removed()).count());
    // Do not add an entry for a page whose entry a user has edited or removed.
    let is_own = |url: &str| own.iter().any(|entry| entry.url.as_deref() == Some(url));
    let mut count = 0;
    for text in texts.into_iter().filter(|text| !is_own(&text.url)).take(room) {
        let entry = Entry {
            id: KnowledgeId::numbered(tx.now(), u32::MAX - count, tx.random()),
            title: text.title,
            content: text.content,
            origin: knowledge::KnowledgeOrigin::Website,
            url: Some(text.url),
            source_file_name: None,
            preview_html: None,
            thumbnail_url: None,
            screenshot_url: None,
            date: tx.now(),
        };
        knowledge::save(tx, project, &entry);
        count += 1;
    }
    Ok(count)
}
