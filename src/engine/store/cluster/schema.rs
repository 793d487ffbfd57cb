//! The tables of the cluster in its database, which `mailmill cluster init` creates.
//!
//! The version is in a table of its own, because a program must be able to read it before it knows the other tables.

use tokio_postgres::types::Type;

use super::database::Link;
use super::{Error, Result};
use crate::engine::store::commit_log::StoreName;

/// The version of these tables, and of the records in them.
pub const VERSION: i64 = 1;

/// The definitions of the tables. All times in them come from the database's clock.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS mailmill_cluster (
    version bigint PRIMARY KEY, installation text NOT NULL, key_check text NOT NULL);
CREATE TABLE IF NOT EXISTS mailmill_log (
    log text NOT NULL, seq bigint NOT NULL, epoch bigint NOT NULL, batch bytea NOT NULL, at timestamptz NOT NULL, PRIMARY KEY (log, seq));
CREATE TABLE IF NOT EXISTS mailmill_lease (
    log text PRIMARY KEY, epoch bigint NOT NULL, holder text NOT NULL, node text NOT NULL, address text NOT NULL, \
    expires timestamptz NOT NULL);
CREATE TABLE IF NOT EXISTS mailmill_snapshot (
    log text NOT NULL, seq bigint NOT NULL, part bigint NOT NULL, body bytea NOT NULL, complete boolean NOT NULL, \
    PRIMARY KEY (log, seq, part));
";

/// Turns off PostgreSQL's own compression of these columns, because their content is already compressed. Other databases may reject
/// this option.
const STORAGE: &str = "
ALTER TABLE mailmill_log ALTER COLUMN batch SET STORAGE EXTERNAL;
ALTER TABLE mailmill_snapshot ALTER COLUMN body SET STORAGE EXTERNAL;
";

/// The row that identifies the cluster's installation, with the check value of its master key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    pub installation: String,
    pub key_check: String,
}

/// Creates the missing tables and the rows of the lease, but not the row of [`Schema`], so that an interrupted initialization can be
/// repeated.
pub async fn create(link: &mut Link) -> Result<()> {
    link.define(TABLES).await?;
    // If the database rejects the option, it compresses the content a second time, which only costs time.
    let _ = link.define(STORAGE).await;
    for store in StoreName::ALL {
        let insert = "INSERT INTO mailmill_lease (log, epoch, holder, node, address, expires) VALUES ($1, 0, '', '', '', now()) \
                      ON CONFLICT (log) DO NOTHING";
        link.execute(insert, &[(&store.word(), Type::TEXT)]).await?;
    }
    Ok(())
}

/// Adds the row of [`Schema`], which completes the initialization. Fails if the row exists already.
pub async fn complete(link: &mut Link, schema: &Schema) -> Result<()> {
    let insert = "INSERT INTO mailmill_cluster (version, installation, key_check) VALUES ($1, $2, $3)";
    let values = [(&VERSION as _, Type::INT8), (&schema.installation as _, Type::TEXT), (&schema.key_check as _, Type::TEXT)];
    link.execute(insert, &values).await?;
    Ok(())
}

/// Reads the row of [`Schema`]. Fails if there is no cluster, or if a newer program initialized it.
pub async fn read(link: &mut Link) -> Result<Schema> {
    let rows = link.query("SELECT version, installation, key_check FROM mailmill_cluster ORDER BY version DESC", &[]).await?;
    let row = rows.first().ok_or(Error::NotInitialized)?;
    match row.get::<_, i64>(0) {
        VERSION => Ok(Schema { installation: row.get(1), key_check: row.get(2) }),
        _ => Err(Error::Newer),
    }
}
