//! The keys of connected accounts, which are stored only in sealed form.

use super::model::Connection;
use crate::base::random::Random;
use crate::base::secret::Secret;
use crate::engine::store::seal::Seal;
use crate::vocab::ids::{AccountId, ConnectionId};

fn place(account: AccountId, id: ConnectionId) -> Vec<u8> {
    [b"connections/".as_slice(), &account.0, &id.0].concat()
}

/// Returns the key of a connection in sealed form.
pub fn seal(seal: &Seal, (account, id): (AccountId, ConnectionId), key: &Secret, random: &dyn Random) -> Vec<u8> {
    seal.seal(&place(account, id), key.expose().as_bytes(), random)
}

/// Opens the key of a connection; returns `None` if it was sealed with a different master key.
pub fn open(seal: &Seal, connection: &Connection) -> Option<Secret> {
    let bytes = seal.open(&place(connection.account, connection.id), &connection.sealed_key)?;
    String::from_utf8(bytes).ok().map(Secret::new)
}
