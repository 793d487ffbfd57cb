//! Restores the three stores from a target into a folder: downloads a snapshot, compares it with its manifest, and applies the log up to
//! the chosen time.
//!
//! Downloads run ahead of the thread that writes the files. The files are complete only if the restore returns no error; otherwise, the
//! caller removes the files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::{StreamExt, stream};
use tokio::sync::mpsc;

use super::catalog::{Catalog, Plan};
use super::epochs;
use super::names::{Epoch, PartName, SnapshotName};
use super::part;
use super::snapshot::Manifest;
use super::target::SealedTarget;
use super::{Error, Result};
use crate::base::clock::Timestamp;
use crate::engine::store::commit_log::{Record, StoreName};
use crate::engine::store::rebuild::Rebuild;
use crate::vocab::limits;

/// The maximum number of downloaded parts that are waiting for the thread that writes them.
const PARTS_WAITING: usize = 2;

/// A summary of the restored state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The number of rows in all stores.
    pub rows: u64,
    /// The time of the last restored commit.
    pub until: Timestamp,
    /// The number of commits that were applied after the snapshot.
    pub commits: u64,
}

/// The progress of a restore, as a number of downloaded objects.
#[derive(Debug, Default)]
pub struct Progress {
    pub done: AtomicU64,
    /// The number of objects to download; 0 until it is known.
    pub total: AtomicU64,
}

enum Step {
    SnapshotPart {
        object: String,
        content: Vec<u8>,
    },
    /// All parts of the snapshot have been received. Its rows are compared with its manifest.
    Compare,
    LogPart {
        object: String,
        content: Vec<u8>,
        is_last: bool,
    },
}

/// Returns the paths of the three files in a restored folder: control, test and live.
pub fn files(folder: &Path) -> [PathBuf; 3] {
    StoreName::ALL.map(|store| folder.join(format!("{}.redb", store.word())))
}

/// Returns the latest time up to which the log is known to be complete in this epoch; `None` if the epoch's server reported no such time.
/// The time is only displayed, so an unreadable heartbeat is treated as missing.
pub async fn complete_until(sealed: &SealedTarget, epoch: Epoch) -> Option<Timestamp> {
    epochs::heartbeat(sealed, epoch).await.ok().flatten().map(|heartbeat| heartbeat.complete_until)
}

/// Restores the newest state, or the state at a given time, into `folder`, as `control.redb`, `test.redb` and `live.redb`.
pub async fn restore(sealed: &SealedTarget, at: Option<Timestamp>, folder: &Path) -> Result<(Plan, Restored)> {
    restore_with(sealed, at, folder, &Progress::default()).await
}

/// Restores like [`restore`], and also reports the progress.
pub async fn restore_with(
    sealed: &SealedTarget,
    at: Option<Timestamp>,
    folder: &Path,
    progress: &Progress,
) -> Result<(Plan, Restored)> {
    restore_from(sealed, plan(sealed, at).await?, folder, progress).await
}

/// Restores the state that `plan` selects. If the backup was thinned after the plan was made, makes a new plan for the same time and starts
/// again.
pub(super) async fn restore_from(
    sealed: &SealedTarget,
    mut plan: Plan,
    folder: &Path,
    progress: &Progress,
) -> Result<(Plan, Restored)> {
    loop {
        let error = match run(sealed, &plan, folder, progress).await {
            Ok(restored) => return Ok((plan, restored)),
            Err(error @ Error::Damaged { .. }) => error,
            Err(error) => return Err(error),
        };
        let next = self::plan(sealed, plan.until).await?;
        // If the new plan still has every object of the old plan, thinning is not the cause: an object is missing or damaged for another
        // reason.
        if next.snapshot == plan.snapshot && plan.parts.iter().all(|part| next.parts.contains(part)) {
            return Err(error);
        }
        for file in files(folder) {
            // If a file cannot be removed, the next attempt reports the problem.
            let _ = fs::remove_file(file);
        }
        progress.done.store(0, Ordering::Relaxed);
        plan = next;
    }
}

/// Returns what a restore would read, without reading it. Fails if the backup has no state for the given time, or was made with another
/// key.
pub async fn plan(sealed: &SealedTarget, at: Option<Timestamp>) -> Result<Plan> {
    let catalog = Catalog::load(&sealed.target).await?;
    let plan = catalog.plan(at)?;
    let is_right = |epoch| catalog.epochs.get(epoch).is_none_or(|start| start.key_check == *sealed.key_check());
    if ![&plan.snapshot.epoch, &plan.epoch].into_iter().all(is_right) {
        return Err(Error::WrongKey);
    }
    Ok(plan)
}

async fn run(sealed: &SealedTarget, plan: &Plan, folder: &Path, progress: &Progress) -> Result<Restored> {
    let object = plan.snapshot.manifest();
    let text = sealed.require(&object).await?;
    let damaged = |error: serde_json::Error| Error::Damaged { object: object.clone(), found: error.to_string() };
    let manifest: Manifest = serde_json::from_slice(&text).map_err(damaged)?;
    let parts = manifest.parts;
    progress.total.store(parts + plan.parts.len() as u64, Ordering::Relaxed);
    let (steps, received) = mpsc::channel(PARTS_WAITING);
    let (name, until, folder) = (plan.snapshot, plan.until, folder.to_path_buf());
    let writing = tokio::task::spawn_blocking(move || Writing::create(name, manifest, until, folder)?.run(received));
    let downloading = async {
        let snapshot = (0..parts).map(|index| plan.snapshot.part(index));
        let log = plan.parts.iter().map(PartName::object);
        let counted = (&steps, progress);
        download(sealed, snapshot.collect(), |object, content, _| Step::SnapshotPart { object, content }, counted).await?;
        if steps.send(Step::Compare).await.is_err() {
            return Ok(());
        }
        download(sealed, log.collect(), |object, content, is_last| Step::LogPart { object, content, is_last }, counted).await
    };
    let downloaded = downloading.await;
    drop(steps);
    let written = writing
        .await
        .map_err(|_| Error::Local("the restored files could not be written; search the log for the cause".to_owned()))?;
    // A failed download leaves the files incomplete, so its error is returned first. If writing fails, the downloads end without an
    // error.
    downloaded?;
    written
}

/// Downloads objects and sends them to the thread that writes, in order.
async fn download(
    sealed: &SealedTarget,
    objects: Vec<String>,
    step: impl Fn(String, Vec<u8>, bool) -> Step,
    (steps, progress): (&mpsc::Sender<Step>, &Progress),
) -> Result<()> {
    let last = objects.len().saturating_sub(1);
    let requests = objects.into_iter().map(|object| async move { Ok::<_, Error>((sealed.require(&object).await?, object)) });
    let mut found = std::pin::pin!(stream::iter(requests).buffered(limits::BACKUP_PARTS_AHEAD).enumerate());
    while let Some((index, done)) = found.next().await {
        let (content, object) = done?;
        if steps.send(step(object, content, index == last)).await.is_err() {
            // The writing thread has failed, and its own result contains the error.
            return Ok(());
        }
        progress.done.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// The store files that the restore is writing.
struct Writing {
    name: SnapshotName,
    manifest: Manifest,
    until: Option<Timestamp>,
    files: [Rebuild; 3],
    is_compared: bool,
    last: Timestamp,
    commits: u64,
}

impl Writing {
    fn create(name: SnapshotName, manifest: Manifest, until: Option<Timestamp>, folder: PathBuf) -> Result<Self> {
        let create = |store: StoreName, file: &Path| Rebuild::create(store, file, manifest.positions.get(store).unwrap_or(0));
        let [control, test, live] = &files(&folder);
        let files = [create(StoreName::Control, control)?, create(StoreName::Test, test)?, create(StoreName::Live, live)?];
        Ok(Self { name, manifest, until, files, is_compared: false, last: name.at, commits: 0 })
    }

    fn run(mut self, mut steps: mpsc::Receiver<Step>) -> Result<Restored> {
        while let Some(step) = steps.blocking_recv() {
            match step {
                Step::SnapshotPart { object, content } => {
                    let (_, records) = part::unpack(&object, &content)?;
                    let mut records = records.as_slice();
                    while let Some(record) = part::next_record(&object, &mut records)? {
                        self.files[index(record.store)].fill(record)?;
                    }
                }
                Step::Compare => self.compare()?,
                Step::LogPart { object, content, is_last } => self.apply(&object, &content, is_last)?,
            }
        }
        if !self.is_compared {
            return Err(Error::Nothing("the download of the snapshot was interrupted; start the restore again".to_owned()));
        }
        let Self { files, last, commits, .. } = self;
        let mut rows = 0;
        for mut file in files {
            // If a node of a cluster wrote the backup, the file contains links between the records of the cluster's log. The store of a
            // single machine must not contain these links.
            file.leave_cluster();
            rows += file.finish()?;
        }
        Ok(Restored { rows, until: last, commits })
    }

    /// Compares the rows of the snapshot with its manifest.
    fn compare(&mut self) -> Result<()> {
        for store in StoreName::ALL {
            let found = self.files[index(store)].digests()?;
            let expected = self.manifest.stores.get(store.word());
            if expected != Some(&found) {
                let found = format!("the rows of the {} store differ from the manifest", store.word());
                return Err(Error::Damaged { object: self.name.manifest(), found });
            }
        }
        self.is_compared = true;
        Ok(())
    }

    /// Applies the records of a part. In the last part, stops after the last record at or before the chosen time.
    fn apply(&mut self, object: &str, content: &[u8], is_last: bool) -> Result<()> {
        let (_, records) = part::unpack(object, content)?;
        let mut rest = records.as_slice();
        let mut all: Vec<Record> = Vec::new();
        while let Some(record) = part::next_record(object, &mut rest)? {
            all.push(record);
        }
        if let Some(until) = self.until.filter(|_| is_last) {
            let count = all.iter().rposition(|record| record.at <= until).map_or(0, |last| last + 1);
            all.truncate(count);
        }
        for record in all {
            let at = record.at;
            let file = &mut self.files[index(record.store)];
            if record.position > file.position() + 1 {
                let (store, known, next) = (record.store.word(), file.position(), record.position);
                let found = format!("the log lacks the commits of the {store} store between positions {known} and {next}");
                return Err(Error::Damaged { object: object.to_owned(), found });
            }
            if file.apply(record)? {
                self.commits += 1;
                self.last = at;
            }
        }
        Ok(())
    }
}

fn index(store: StoreName) -> usize {
    match store {
        StoreName::Control => 0,
        StoreName::Test => 1,
        StoreName::Live => 2,
    }
}
