//! A copy of all data, made while it is used.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Context, Created, Failure, Operation, Outward, Spec, operator};
use crate::features::system::backup;
use crate::features::system::store::{self, LastBackup};
use crate::vocab::codes::Code;

pub struct Backup;

/// Where to.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// The full path of a folder that does not exist yet, or is empty.
    pub to: String,
}

/// A backup that is complete.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BackupView {
    pub folder: String,
    /// Rows in all its files.
    pub rows: u64,
    /// The file that is not in it and that sealed secrets cannot be opened without.
    pub master_key: String,
}

impl Operation for Backup {
    const SPEC: Spec = Spec::post("system.backup", "/admin/backups", operator())
        .summary("Make a backup")
        .about(
            "Each file is one moment of its store. The master key is never in a backup; that its file still holds the key is verified.",
        )
        .fails(&[Code::WrongState]);
    type Input = Wanted;
    type Output = Created<BackupView>;

    fn example() -> (Value, Self::Output) {
        let folder = "/var/backups/mailmill/monday".to_owned();
        let view = BackupView { folder: folder.clone(), rows: 1_000, master_key: "/var/lib/mailmill/master.key".into() };
        (json!({ "to": folder }), Created(view))
    }
}

impl Outward for Backup {
    async fn run(context: Context, input: Wanted) -> Result<Self::Output, Failure> {
        let target = PathBuf::from(&input.to);
        if !target.is_absolute() {
            return Err(Failure::field("to", "give the full path of the folder"));
        }
        let (engine, now) = (context.engine.clone(), context.now());
        let made = tokio::task::spawn_blocking(move || backup::make(&engine, &target, now)).await;
        let manifest = made.map_err(Failure::internal)?.map_err(|error| Failure::field("to", error))?;
        let last = LastBackup { at: now, folder: input.to.clone(), rows: manifest.rows() };
        context.engine.control.write(move |tx| store::note_backup(tx, &last)).await??;
        if let Err(trouble) = context.engine.check_key() {
            let detail = format!(
                "The backup in {} is complete, but {trouble}. Put your copy of the key back before the service stops: the next start is \
                 refused without it.",
                input.to
            );
            return Err(Failure::because(Code::WrongState, detail));
        }
        let master_key = context.engine.control.file().with_file_name("master.key");
        Ok(Created(BackupView { folder: input.to, rows: manifest.rows(), master_key: master_key.display().to_string() }))
    }
}
