//! The data that the installation stores about itself, and the lengths of its queues.

use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::engine::store::{Read, ReadTx, Result, Table, WriteTx};
use crate::features::contacts::jobs;
use crate::vocab::limits;
use crate::vocab::tables::{self, TableId};

const META: Table<String, Vec<u8>> = Table::new(tables::META);
/// The keys in [`META`] of the control store: for the newest backup, for the newest restore drill, and for the open problem of the
/// continuous backup.
const LAST_BACKUP: &str = "last backup";
const LAST_DRILL: &str = "last restore drill";
const INCIDENT: &str = "backup incident";

/// The newest completed backup. Its folder may no longer exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastBackup {
    pub at: Timestamp,
    pub folder: String,
    pub rows: u64,
}

pub fn note_backup(tx: &mut WriteTx<'_>, backup: &LastBackup) -> Result<()> {
    let bytes = serde_json::to_vec(backup).expect("a backup record can be written as JSON");
    tx.put(META, &LAST_BACKUP.to_owned(), &bytes);
    Ok(())
}

pub fn last_backup(tx: &impl Read) -> Result<Option<LastBackup>> {
    // Ignore an entry that cannot be read: a later version may have written it, and the status must still be shown.
    Ok(tx.get(META, &LAST_BACKUP.to_owned())?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// The result of the newest restore drill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drill {
    pub at: Timestamp,
    pub rows: u64,
    /// The time of the newest restored commit; `None` if the restore failed.
    pub until: Option<Timestamp>,
    pub seconds: i64,
    /// Why the restore failed; `None` if it succeeded.
    pub error: Option<String>,
}

pub fn note_drill(tx: &mut WriteTx<'_>, drill: &Drill) -> Result<()> {
    let bytes = serde_json::to_vec(drill).expect("the result of a drill can be written as JSON");
    tx.put(META, &LAST_DRILL.to_owned(), &bytes);
    Ok(())
}

/// Returns the newest drill, if there is one. An entry that cannot be read, for example from a later version, is ignored.
pub fn last_drill(tx: &impl Read) -> Result<Option<Drill>> {
    Ok(tx.get(META, &LAST_DRILL.to_owned())?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// An open problem with the continuous backup. It is deleted when the problem ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incident {
    pub since: Timestamp,
    pub reason: String,
    /// When Mailmill last tried to email the owner and admins about the problem.
    pub tried_at: Timestamp,
    pub is_mailed: bool,
}

/// Stores the open problem; `None` deletes it.
pub fn set_incident(tx: &mut WriteTx<'_>, incident: Option<&Incident>) -> Result<()> {
    match incident {
        Some(incident) => {
            let bytes = serde_json::to_vec(incident).expect("an incident can be written as JSON");
            tx.put(META, &INCIDENT.to_owned(), &bytes);
        }
        None => tx.delete(META, &INCIDENT.to_owned()),
    }
    Ok(())
}

pub fn incident(tx: &impl Read) -> Result<Option<Incident>> {
    Ok(tx.get(META, &INCIDENT.to_owned())?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// TABLE: an environment's queues, with their display names. In the tables of these queues, every row is a waiting entry.
const QUEUES: &[(&str, TableId)] = &[
    ("Brands being imported", tables::PROJECT_IMPORT_QUEUE),
    ("Images to analyze", tables::PROJECT_IMAGE_QUEUE),
    ("Emails being generated", tables::CONVERSATION_QUEUE),
    ("Emails being edited", tables::EMAIL_EDIT_QUEUE),
    ("Campaigns scheduled or being sent", tables::CAMPAIGN_QUEUE),
    ("Mailings being sent", tables::MAILING_QUEUE),
    ("Messages to retry later", tables::RECIPIENT_RETRIES),
    ("Mailings that continue later", tables::MAILING_TURNS),
    ("Simulated bounces, complaints, opens, and clicks", tables::SIMULATIONS),
    ("Events for webhooks", tables::OUTBOX_QUEUE),
    ("Webhook deliveries", tables::WEBHOOK_DUE),
    ("Orders to attribute again", tables::CLICK_CHANGES),
    ("Deleted contacts to erase", tables::ERASURES),
];

/// Returns the display name and length of each queue.
pub fn queues(tx: &ReadTx) -> Result<Vec<(&'static str, u64)>> {
    let mut queues = vec![("Imports and exports of contacts", jobs::open_count(tx, limits::OPEN_JOBS_COUNTED)? as u64)];
    for (name, table) in QUEUES {
        queues.push((name, tx.rows(*table)?));
    }
    Ok(queues)
}
