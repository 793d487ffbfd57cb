//! Copies the chosen brand from the restored state. Image files are copied first. Each transaction that copies other objects also stores
//! the progress, so after a crash, the copy continues where it stopped, and its report counts each object once.

use std::sync::Arc;

use super::model::{CopyProgress, Order, Restore, RestoreMode, Stage};
use super::{brands, store};
use crate::base::clock::Timestamp;
use crate::engine::api::{Engine, Failure};
use crate::engine::store::{Result as StoreResult, WriteTx};
use crate::features::contacts::copy::{self as contacts, ContactsCopy, ReturnRule};
use crate::features::go_live::copier::{BrandCopier, CopiedPart, CopyRule};
use crate::features::go_live::{CopyCounts, CopyKind};
use crate::features::projects;
use crate::features::suppressions::Digester;
use crate::vocab::ids::{ConversationId, ProjectId};
use crate::vocab::limits;

/// Copies the next part of the brand. Returns whether more parts may remain.
pub async fn step(engine: &Arc<Engine>, restore: &Restore) -> Result<bool, Failure> {
    let (Some(order), Some(copy)) = (restore.order, engine.restored.copy()) else { return Ok(false) };
    let into = engine.data(order.environment).store.clone();
    let progress = store::progress(&into.read(), restore.id)?;
    let rule = match order.mode {
        RestoreMode::Replace => CopyRule::Replace,
        RestoreMode::Missing | RestoreMode::Copy => CopyRule::Missing,
    };
    let copier = BrandCopier {
        engine: engine.clone(),
        account: order.account,
        from: copy.store(order.environment).clone(),
        project: order.project,
        into,
        ids: order.ids(restore.id),
        rule,
    };
    let task = CopyTask { copier, order, target: order.target(restore.id) };
    match progress.stage {
        Stage::Brand => task.brand(progress, restore).await?,
        Stage::Audience => task.audience(progress).await?,
        Stage::Emails(after) => task.emails(progress, after).await?,
        Stage::Contacts(after) => task.contacts(progress, after).await?,
        Stage::Done => return Ok(false),
    }
    Ok(true)
}

/// The input of one step of a copy: the copier, the user's choices, and the target brand.
struct CopyTask {
    copier: BrandCopier,
    order: Order,
    target: ProjectId,
}

impl CopyTask {
    async fn brand(&self, progress: CopyProgress, restore: &Restore) -> Result<(), Failure> {
        let (account, project, target) = (self.order.account, self.order.project, self.target);
        let now = self.copier.into.read();
        let name = match self.order.mode {
            RestoreMode::Missing | RestoreMode::Replace => None,
            RestoreMode::Copy => {
                let found = projects::find(&self.copier.from.read(), account, project)?.ok_or_else(projects::not_found)?;
                let brands = projects::list(&now, account)?;
                Some(second_name(&found.name, restore.at, |name| brands.iter().any(|brand| brand.name == name)))
            }
        };
        // Check the original brand even if a second brand is created, because only the original brand shows which contacts were deleted.
        let is_fresh = brands::is_fresh(&now, account, project)?;
        drop(now);
        let next = contacts::next_number(&self.copier.from.read(), project)?;
        let keeps_numbers = is_fresh && target == project;
        let note = move |tx: &mut WriteTx<'_>, piece: &CopiedPart| {
            if keeps_numbers {
                contacts::reserve_numbers(tx, project, next)?;
            }
            save(tx, CopyProgress { is_fresh, ..progress }, piece, Stage::Audience)
        };
        self.copier.brand(target, name, note).await.map(drop)
    }

    async fn audience(&self, progress: CopyProgress) -> Result<(), Failure> {
        let note = move |tx: &mut WriteTx<'_>, piece: &CopiedPart| save(tx, progress, piece, Stage::Emails(None));
        self.copier.audience(self.target, note).await.map(drop)
    }

    async fn emails(&self, progress: CopyProgress, after: Option<ConversationId>) -> Result<(), Failure> {
        let ids = self.copier.conversations()?;
        let done = after.and_then(|after| ids.iter().position(|id| *id == after)).map_or(0, |place| place + 1);
        let rest = &ids[done..];
        for id in rest.iter().take(limits::RESTORE_WRITES_PER_STEP).copied() {
            let restore = progress.restore;
            let note = move |tx: &mut WriteTx<'_>, piece: &CopiedPart| {
                let progress = store::progress(tx, restore)?;
                save(tx, progress, piece, Stage::Emails(Some(id)))
            };
            self.copier.conversation(self.target, id, note).await?;
        }
        if rest.len() > limits::RESTORE_WRITES_PER_STEP {
            return Ok(());
        }
        let restore = progress.restore;
        let next = if self.order.contacts { Stage::Contacts(None) } else { Stage::Done };
        let finish = move |tx: &mut WriteTx<'_>| {
            let mut progress = store::progress(tx, restore)?;
            if progress.unfinished > 0 {
                let reason = "Series that were not restored, because some of their emails were unfinished or had failed";
                progress.skipped.push(format!("{reason}: {}.", progress.unfinished));
            }
            save(tx, progress, &CopiedPart::default(), next)?;
            Ok::<_, Failure>(())
        };
        self.copier.into.write(finish).await?
    }

    async fn contacts(&self, progress: CopyProgress, mut after: Option<u32>) -> Result<(), Failure> {
        let (project, target, restore) = (self.order.project, self.target, progress.restore);
        let rule = Arc::new(ReturnRule {
            account: self.order.account,
            original: project,
            is_fresh: progress.is_fresh,
            with_deleted: self.order.deleted_contacts,
            replaces: self.order.mode == RestoreMode::Replace,
            tags: progress.new_tags,
            digester: Digester::new(&self.copier.engine.seal),
        });
        let topics = Arc::new(self.copier.topics(target)?);
        for _ in 0..limits::RESTORE_WRITES_PER_STEP {
            let from = self.copier.from.clone();
            let reading = tokio::task::spawn_blocking(move || {
                ContactsCopy::read(&from.read(), project, after, limits::RESTORE_CONTACTS_PER_WRITE)
            });
            let batch = reading.await.map_err(Failure::internal)??;
            let (next, rule, topics) = (batch.next, rule.clone(), topics.clone());
            let write = move |tx: &mut WriteTx<'_>| {
                let (counts, failures) = batch.restore(tx, target, &rule, |topic| topics.get(&topic).copied())?;
                let mut progress = store::progress(tx, restore)?;
                progress.deleted += counts.deleted;
                progress.erased += counts.erased;
                let (created, updated, unchanged) = (counts.created, counts.updated, counts.unchanged);
                let counts = vec![CopyCounts { kind: CopyKind::Contacts, created, updated, unchanged }];
                let stage = next.map_or(Stage::Done, |next| Stage::Contacts(Some(next)));
                let skipped = failures.into_iter().collect();
                save(tx, progress, &CopiedPart { counts, skipped, ..CopiedPart::default() }, stage)?;
                Ok::<_, Failure>(())
            };
            self.copier.into.write(write).await??;
            if next.is_none() {
                return Ok(());
            }
            after = next;
        }
        Ok(())
    }
}

/// Returns the name of a second brand: the name of the first brand followed by the day of the restored state and, if a brand already has
/// this name, a number.
fn second_name(name: &str, at: Timestamp, is_taken: impl Fn(&str) -> bool) -> String {
    let day = &at.to_string()[..10];
    let mut second = format!("{name} ({day})");
    let mut number = 2;
    while is_taken(&second) {
        second = format!("{name} ({day}, {number})");
        number += 1;
    }
    second
}

/// Adds the result of copying one part to the progress, and saves the progress.
fn save(tx: &mut WriteTx<'_>, mut progress: CopyProgress, piece: &CopiedPart, stage: Stage) -> StoreResult<()> {
    progress.count(piece.counts.iter().cloned());
    progress.unfinished += u64::from(piece.is_unfinished);
    progress.new_tags.extend(piece.new_tags.iter().cloned());
    progress.skipped.extend(piece.skipped.iter().cloned());
    progress.skipped.truncate(limits::RESTORE_NOTES_MAX);
    progress.stage = stage;
    store::save_progress(tx, &progress);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_second_brand_has_a_name_of_its_own() {
        let mut names: Vec<String> = Vec::new();
        for _ in 0..3 {
            let name = second_name("Leaf & Stone", Timestamp(0), |name| names.iter().any(|taken| taken == name));
            names.push(name);
        }
        assert_eq!(names, ["Leaf & Stone (1970-01-01)", "Leaf & Stone (1970-01-01, 2)", "Leaf & Stone (1970-01-01, 3)"]);
    }
}
