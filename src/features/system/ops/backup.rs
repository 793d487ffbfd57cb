//! Makes a backup of all data while the service is running.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::machine;
use crate::engine::api::{Async, Context, Created, Engine, Failure, Operation, Spec, operator};
use crate::features::system::backup;
use crate::features::system::store::{self, LastBackup};
use crate::vocab::codes::Code;
use crate::vocab::limits;

pub struct Backup;

/// The target folder of a backup.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackupRequest {
    /// The full path of a folder that does not exist yet or is empty.
    pub to: String,
}

/// The result of a backup.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupView {
    pub folder: String,
    /// The number of rows in all files of the backup.
    pub rows: u64,
    /// The path of the master key file, which is not in the backup. Encrypted secrets cannot be decrypted without this file.
    pub master_key: String,
}

impl Operation for Backup {
    const SPEC: Spec = Spec::post("system.backup", "/admin/backups", operator())
        .summary("Make a backup")
        .about(
            "Each file is a consistent snapshot of its store. A backup never contains the master key, but this operation checks that \
                the key file is valid.",
        )
        .fails(&[Code::WrongState]);
    type Input = BackupRequest;
    type Output = Created<BackupView>;

    fn example() -> (Value, Self::Output) {
        let folder = "/var/backups/mailmill/monday".to_owned();
        let view = BackupView { folder: folder.clone(), rows: 1_000, master_key: "/var/lib/mailmill/master.key".into() };
        (json!({ "to": folder }), Created(view))
    }
}

impl Async for Backup {
    async fn run(context: Context, input: BackupRequest) -> Result<Self::Output, Failure> {
        let target = PathBuf::from(&input.to);
        if !target.is_absolute() {
            return Err(Failure::field("to", "this path is relative; enter the full path of the folder"));
        }
        let (engine, now) = (context.engine.clone(), context.now());
        let making = move || {
            require_room(&engine, &target)?;
            backup::make(&engine, &target, now).map_err(|error| Failure::field("to", error))
        };
        let made = tokio::task::spawn_blocking(making).await;
        let manifest = made.map_err(Failure::internal)??;
        let last = LastBackup { at: now, folder: input.to.clone(), rows: manifest.rows() };
        // A follower of a cluster can back up its own data to its own machine, but only the leader can record the backup.
        if context.engine.cluster.as_ref().is_none_or(|member| member.leads()) {
            context.engine.control.write_essential(move |tx| store::note_backup(tx, &last)).await??;
        }
        if let Err(trouble) = context.engine.check_key() {
            let detail = format!("The backup in {} is complete, but {trouble}. {}", input.to, trouble.remedy());
            return Err(Failure::because(Code::WrongState, detail));
        }
        let master_key = context.engine.control.file().with_file_name("master.key");
        Ok(Created(BackupView { folder: input.to, rows: manifest.rows(), master_key: master_key.display().to_string() }))
    }
}

/// Before a backup, checks whether it fits on the disk of `target`. On the disk of the data folder, the backup must also leave enough free
/// space for the service, which would otherwise become read-only.
fn require_room(engine: &Engine, target: &Path) -> Result<(), Failure> {
    let files = [&engine.control].into_iter().chain(engine.environments().map(|data| &data.store)).map(|store| store.file());
    // Use the allocated size, because the files are sparse: parts of them were never written.
    let needed: u64 = files.filter_map(|file| fs::metadata(file).ok()).map(|found| found.blocks().saturating_mul(512)).sum();
    let Some(folder) = target.ancestors().find(|folder| folder.is_dir()) else { return Ok(()) };
    let Ok(free) = machine::free_bytes(folder) else { return Ok(()) };
    let device = |path: &Path| fs::metadata(path).map(|found| found.dev()).ok();
    let shared = device(folder) == engine.control.file().parent().and_then(device);
    let kept = if shared { engine.control.space().status().free_min } else { 0 };
    if free >= needed.saturating_add(kept) {
        return Ok(());
    }
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    let reserve = format!(", and the setting data.free_mib_min keeps another {} MiB free", mib(kept));
    let detail = format!(
        "The backup needs up to {} MiB{}, but the disk that contains {} has only {} MiB free. Free up space, or choose a folder on \
         another disk.",
        mib(needed),
        if shared { reserve.as_str() } else { "" },
        folder.display(),
        free >> 20,
    );
    Err(Failure::because(Code::StorageFull, detail).after_seconds(limits::STORAGE_FULL_RETRY_SECONDS))
}
