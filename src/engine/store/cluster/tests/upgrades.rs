//! Tests of clusters whose nodes have different versions.

use super::*;
use crate::vocab::tables::META;

/// The table with the version of the rows.
const VERSIONS: Table<String, Vec<u8>> = Table::new(META);

/// An older version of the program created `mailmill_cluster` without the column for the check value of the secret.
#[test]
fn a_node_adds_the_columns_that_an_older_version_did_not_create() {
    let Some(server) = server() else { return };
    let cluster = Cluster::init(server);
    server.query(&cluster.url, "ALTER TABLE mailmill_cluster DROP COLUMN secret_check");
    let (shared, runtime) = shared_of(&cluster.url);
    let mut link = Link::new(shared.database.clone());
    let older = runtime.block_on(schema::read(&mut link));
    assert_eq!(older, Err(Error::OlderTables), "other commands change nothing");
    let one = cluster.node("one");
    one.lead();
    one.put(1).expect("the leader accepts writes");
    let upgraded = runtime.block_on(schema::read(&mut link)).expect("the column exists");
    assert_eq!(upgraded.secret_check, "");
    // The statements of the older version still work.
    let older = "INSERT INTO mailmill_cluster (version, installation, key_check) VALUES (0, 'x', 'y'); \
                 SELECT version, installation, key_check FROM mailmill_cluster WHERE version = 0";
    assert!(server.query(&cluster.url, older).ends_with("0|x|y"));
    one.stop();
}

#[test]
fn a_node_of_an_older_version_does_not_join_a_newer_cluster() {
    let Some(server) = server() else { return };
    let cluster = Cluster::init(server);
    server.query(&cluster.url, "UPDATE mailmill_cluster SET version = version + 1");
    let refused = cluster.try_node("one").err().expect("the tables are newer");
    assert_eq!(refused, Error::Newer);
}

/// Waits until the live store of a node has stopped because of data from a newer version.
fn stops_at_newer_data(node: &Node) {
    node.wait("stops", |_| node.live().failure().borrow().is_some());
    let failure = node.live().failure().borrow().clone();
    assert!(
        matches!(&failure, Some(crate::engine::store::Error::Cluster(text)) if text.contains("a newer version of Mailmill")),
        "{failure:?}"
    );
}

#[test]
fn a_follower_stops_at_a_record_of_a_newer_version_and_says_so() {
    let Some(server) = server() else { return };
    let (cluster, one, two) = Cluster::led_and_followed(server);
    let newer = "INSERT INTO mailmill_log SELECT log, seq + 1, epoch, '\\x02'::bytea, now() FROM mailmill_log WHERE log = 'live' \
                 ORDER BY seq DESC LIMIT 1";
    server.query(&cluster.url, newer);
    stops_at_newer_data(&two);
    two.stop();
    one.stop();
}

/// When a newer program starts to lead, it migrates the rows. An older program cannot read the migrated rows.
#[test]
fn a_node_stops_at_a_migration_that_it_does_not_know_and_says_so() {
    let Some(server) = server() else { return };
    let (cluster, one, two) = Cluster::led_and_followed(server);
    let migrate = |tx: &mut crate::engine::store::WriteTx<'_>| {
        tx.put(VERSIONS, &"schema-version".to_owned(), &u32::MAX.to_le_bytes().to_vec());
        Ok::<_, ()>(())
    };
    one.live().write_blocking(migrate).expect("the leader accepts writes").expect("the change succeeds");
    stops_at_newer_data(&two);
    two.stop();
    assert_eq!(cluster.try_node("two").err(), Some(Error::Newer));
    // A new node finds the migrated rows in a snapshot.
    let (read, shared) = (one.live().read(), one.member.shared().clone());
    let mut link = Link::new(shared.database.clone());
    shared.runtime.block_on(snapshots::take(&mut link, StoreName::Live, read)).expect("the snapshot can be taken");
    assert_eq!(cluster.try_node("three").err(), Some(Error::Newer));
    one.stop();
}
