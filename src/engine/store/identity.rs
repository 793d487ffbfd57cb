//! The identity of a store: a row in each file with the installation, the store's name and a check value of the key that seals its secrets.
//! On a single machine, another row counts how many times the folder was opened.
//!
//! A file that is missing, swapped, from a different installation or from a different time is detected before anything is written. `app`
//! decides the consequence: it refuses to start, or puts sending on hold.

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};

use super::Result;
use super::key::Key;
use super::port::Overlay;
use super::seal::{KeyCheck, Seal};
use super::tx::{Read, Table, WriteTx};
use crate::base::random::Random;
use crate::vocab::tables::{self, TableId};

const META: Table<String, Vec<u8>> = Table::new(tables::META);
const IDENTITY: &str = "identity";
const BOOTS: &str = "boots";

/// The ID of an installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Installation(String);

impl Installation {
    pub fn new(random: &dyn Random) -> Self {
        let bytes: [u8; 16] = random.bytes();
        Self(HEXLOWER.encode(&bytes))
    }

    /// Returns the installation's ID in hexadecimal.
    pub fn name(&self) -> &str {
        &self.0
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    pub installation: Installation,
    /// The name of the store: `control`, `test` or `live`.
    pub store: String,
    /// The check value of the master key that seals the store's secrets.
    pub key_check: KeyCheck,
}

impl Identity {
    pub fn new(installation: &Installation, store: &str, seal: &Seal) -> Self {
        Self { installation: installation.clone(), store: store.to_owned(), key_check: seal.check_value() }
    }
}

/// Returns the stored identity; `None` if the store was created before stores had identities.
pub fn identity(tx: &impl Read) -> Result<Option<Identity>> {
    let Some(bytes) = tx.get(META, &IDENTITY.to_owned())? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|_| tx.corrupt(tables::META))
}

pub fn set_identity(tx: &mut WriteTx<'_>, identity: &Identity) {
    let bytes = serde_json::to_vec(identity).expect("the value is text");
    tx.put(META, &IDENTITY.to_owned(), &bytes);
}

/// Returns how many times the folder of this store was opened, according to this store.
pub fn boots(tx: &impl Read) -> Result<u64> {
    let Some(bytes) = tx.get(META, &BOOTS.to_owned())? else { return Ok(0) };
    bytes.try_into().map(u64::from_le_bytes).map_err(|_| tx.corrupt(tables::META))
}

pub fn set_boots(tx: &mut WriteTx<'_>, boots: u64) {
    tx.put(META, &BOOTS.to_owned(), &boots.to_le_bytes().to_vec());
}

/// Removes the row that counts how many times the folder was opened, because nodes of a cluster do not count this.
pub(super) fn forget_boots(batch: &mut Overlay) {
    batch.set(tables::META, BOOTS.to_owned().to_bytes().into(), None);
}

/// Returns whether a row is omitted when the store is copied into a backup. The omitted row counts how many times the folder was opened, so
/// a store without this row is recognized as a copy in any folder.
pub fn stays_behind(table: TableId, key: &[u8]) -> bool {
    table == tables::META && key == BOOTS.to_owned().to_bytes()
}
