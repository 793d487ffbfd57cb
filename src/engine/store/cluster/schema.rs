//! The tables of the cluster in its database, which `mailmill cluster init` and `mailmill cluster import` create.
//!
//! The version is in a table of its own, because a program must be able to read it before it knows the other tables.

use tokio_postgres::types::Type;

use super::database::Link;
use super::{Error, Result, lease};
use crate::engine::store::commit_log::StoreName;
use crate::vocab::limits;

/// The version of these tables, and of the records in them.
pub const VERSION: i64 = 1;

/// The definitions of the tables. All times in them come from the database's clock.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS mailmill_cluster (
    version bigint PRIMARY KEY, installation text NOT NULL, key_check text NOT NULL, \
    secret_check text NOT NULL DEFAULT '', loss text NOT NULL DEFAULT '', \
    losses_accepted bigint NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS mailmill_log (
    log text NOT NULL, seq bigint NOT NULL, epoch bigint NOT NULL, batch bytea NOT NULL, at timestamptz NOT NULL, PRIMARY KEY (log, seq));
CREATE TABLE IF NOT EXISTS mailmill_lease (
    log text PRIMARY KEY, epoch bigint NOT NULL, holder text NOT NULL, node text NOT NULL, address text NOT NULL, \
    expires timestamptz NOT NULL);
CREATE TABLE IF NOT EXISTS mailmill_snapshot (
    log text NOT NULL, seq bigint NOT NULL, part bigint NOT NULL, body bytea NOT NULL, complete boolean NOT NULL, \
    PRIMARY KEY (log, seq, part));
";

/// Adds the columns that later versions of this program added to the original tables. A column is added only with a default value, so that
/// programs of the previous version, which ignore it, can use the same tables during an upgrade. A change that they cannot ignore needs a
/// new [`VERSION`].
const ADDED: &str = "
ALTER TABLE mailmill_cluster ADD COLUMN IF NOT EXISTS secret_check text NOT NULL DEFAULT '';
ALTER TABLE mailmill_cluster ADD COLUMN IF NOT EXISTS loss text NOT NULL DEFAULT '';
ALTER TABLE mailmill_cluster ADD COLUMN IF NOT EXISTS losses_accepted bigint NOT NULL DEFAULT 0;
";

/// Turns off PostgreSQL's own compression of these columns, because their content is already compressed. Other databases may reject
/// this option.
const STORAGE: &str = "
ALTER TABLE mailmill_log ALTER COLUMN batch SET STORAGE EXTERNAL;
ALTER TABLE mailmill_snapshot ALTER COLUMN body SET STORAGE EXTERNAL;
";

/// The row that identifies the cluster's installation, with the check values of the master key and of the nodes' secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    pub installation: String,
    pub key_check: String,
    /// Empty until the first node has started.
    pub secret_check: String,
    /// How many losses of commits the operator has accepted.
    pub losses_accepted: i64,
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

/// Reads the row of [`Schema`], like [`read`], and adds missing columns if an older program created the tables.
pub async fn upgrade(link: &mut Link) -> Result<Schema> {
    match read(link).await {
        Err(Error::OlderTables) => {
            link.define(ADDED).await?;
            tracing::info!("added columns to the tables of the cluster, which an older version created");
            read(link).await
        }
        known => known,
    }
}

/// Reads the row of [`Schema`]. Fails if there is no cluster, if a newer program has changed the tables, or if a table lacks a column.
pub async fn read(link: &mut Link) -> Result<Schema> {
    let select =
        "SELECT version, installation, key_check, secret_check, losses_accepted FROM mailmill_cluster ORDER BY version DESC";
    let rows = link.query(select, &[]).await?;
    let row = rows.first().ok_or(Error::NotInitialized)?;
    match row.get::<_, i64>(0) {
        VERSION => {
            Ok(Schema { installation: row.get(1), key_check: row.get(2), secret_check: row.get(3), losses_accepted: row.get(4) })
        }
        _ => Err(Error::Newer),
    }
}

/// Compares check values to verify that this node has the same `cluster.secret` as the other nodes. The first node sets the secret of the
/// cluster, and so does a node that starts after all nodes have been stopped for a minute.
pub async fn check_secret(link: &mut Link, own: &str) -> Result<()> {
    let known = read(link).await?.secret_check;
    if known == own {
        return Ok(());
    }
    let idle_ms = -lease::read(link).await?.remaining_ms;
    if known.is_empty() || idle_ms >= limits::CLUSTER_SECRET_IDLE_MS {
        // Set the end of the lease to now, so that two nodes with different secrets cannot replace each other's secret within a minute.
        link.execute("UPDATE mailmill_lease SET expires = now() WHERE expires < now()", &[]).await?;
        let update = "UPDATE mailmill_cluster SET secret_check = $2 WHERE secret_check = $1";
        link.execute(update, &[(&known as _, Type::TEXT), (&own as _, Type::TEXT)]).await?;
        // Another node may have set a secret at the same time.
        if read(link).await?.secret_check == own {
            tracing::info!("this node sets the secret of the cluster (cluster.secret)");
            return Ok(());
        }
    }
    Err(Error::Settings(
        "cluster.secret differs from the secret of the other nodes; set the same secret on all nodes. To change the secret, stop \
         all nodes, wait a minute, and start them with the new secret"
            .to_owned(),
    ))
}
