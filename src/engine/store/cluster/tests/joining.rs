//! Tests of the files of a node: the files that a new node creates, and files with which a node must not join the cluster.

use super::*;

/// The first snapshot lacks the mark of a file that belongs to a cluster: the import takes the snapshot before it marks the files, so that
/// an interrupted import can be repeated. A new node must therefore mark its own files.
#[test]
fn the_files_of_a_new_node_are_marked_before_the_first_commit_of_their_stores() {
    let Some(server) = server() else { return };
    let (cluster, one) = Cluster::led(server);
    one.stop();
    for store in StoreName::ALL {
        let path = cluster.folder.path().join(format!("one/{}.redb", store.word()));
        let file = StoreFile::open(Space::unlimited(), &path, CACHE_BYTES).expect("the file opens");
        let links = commit_log::links(&file.read().expect("the file is readable")).expect("the row is readable");
        assert!(links.is_some(), "{} could be used by a single machine", store.word());
    }
}

/// Returns the path of a store's file in a folder.
fn file_in(folder: &Path, store: StoreName) -> PathBuf {
    folder.join(format!("{}.redb", store.word()))
}

/// Exports the cluster of a node to a folder.
fn export_to(folder: &Path, node: &Node) {
    let shared = node.member.shared();
    let exported = shared.runtime.block_on(export(&shared.database, |store| file_in(folder, store)));
    assert!(exported.expect("the export succeeds") > 0);
}

/// Takes a snapshot of the node's live store, and deletes all records before the previous snapshot.
fn truncate(node: &Node) {
    let (read, shared) = (node.live().read(), node.member.shared().clone());
    let done = shared.runtime.block_on(async {
        let mut link = Link::new(shared.database.clone());
        snapshots::take(&mut link, StoreName::Live, read).await?;
        link.define("UPDATE mailmill_log SET at = at - INTERVAL '1 hour'").await?;
        snapshots::truncate(&mut link, StoreName::Live).await
    });
    done.expect("the database works");
}

/// In an earlier version, a restored or exported folder that was behind the log was replaced with the data of the cluster.
#[test]
fn the_folder_of_a_single_machine_is_refused_and_kept() {
    let Some(server) = server() else { return };
    let (cluster, one) = Cluster::led(server);
    let folder = cluster.folder.path().join("two");
    std::fs::create_dir(&folder).expect("a folder");
    export_to(&folder, &one);
    for row in 2..4 {
        one.put(row).expect("the leader accepts writes");
        truncate(&one);
    }
    let before = StoreName::ALL.map(|store| std::fs::read(file_in(&folder, store)).expect("the file is readable"));
    let refused = cluster.try_node("two").err().expect("the folder may have data that the cluster does not have");
    assert!(matches!(&refused, Error::Single { file } if file.ends_with("control.redb")), "{refused:?}");
    let after = StoreName::ALL.map(|store| std::fs::read(file_in(&folder, store)).expect("the file is readable"));
    assert!(before[2] == after[2], "the file of the store that is behind the log is unchanged");
    one.stop();
}

/// A cluster that was imported from an export of another cluster has the same installation and positions as the other cluster, but the
/// changes can differ: for example, one of them can have a hold.
#[test]
fn a_node_of_another_cluster_does_not_lead_the_cluster_that_was_imported_from_it() {
    let Some(server) = server() else { return };
    let (former, one) = Cluster::led(server);
    let cluster = Cluster { url: server.database(), folder: tempfile::tempdir().expect("a temporary folder") };
    export_to(cluster.folder.path(), &one);
    one.stop();
    let open = |store| StoreFile::open(Space::unlimited(), &file_in(cluster.folder.path(), store), CACHE_BYTES);
    let files = StoreName::ALL.map(|store| open(store).expect("the file opens"));
    let (shared, runtime) = shared_of(&cluster.url);
    runtime.block_on(import(&shared.database, &files)).expect("an empty database accepts the installation");
    drop(files);
    std::fs::rename(former.folder.path().join("one"), cluster.folder.path().join("one")).expect("the folder can be moved");
    let refused = cluster.try_node("one").err().expect("the folder has a commit of the other log");
    assert_eq!(refused, Error::Diverged { store: StoreName::Live, position: 1 });
    let two = cluster.node("two");
    two.lead();
    two.put(2).expect("the leader accepts writes");
    two.stop();
}

/// A process that was suspended for longer than its lease can write the last parts of a snapshot after the next leader has deleted the
/// first parts.
#[test]
fn a_snapshot_with_missing_parts_is_never_complete() {
    let Some(server) = server() else { return };
    let (cluster, one) = Cluster::led(server);
    for row in 2..5 {
        let put = move |tx: &mut crate::engine::store::WriteTx<'_>| {
            tx.put(ROWS, &row, &vec![7; limits::CLUSTER_PART_BYTES]);
            Ok::<_, ()>(())
        };
        one.live().write_blocking(put).expect("the leader accepts writes").expect("the change succeeds");
    }
    server.query(
        &cluster.url,
        "CREATE FUNCTION remove() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         DELETE FROM mailmill_snapshot WHERE log = NEW.log AND seq = NEW.seq AND part = 0; RETURN NEW; END $$; \
         CREATE TRIGGER remove AFTER INSERT ON mailmill_snapshot FOR EACH ROW WHEN (NEW.part = 1) EXECUTE FUNCTION remove()",
    );
    let (read, shared) = (one.live().read(), one.member.shared().clone());
    let mut link = Link::new(shared.database.clone());
    let taken = shared.runtime.block_on(snapshots::take(&mut link, StoreName::Live, read));
    assert_eq!(taken, Err(Error::SnapshotReplaced { store: StoreName::Live }));
    let status = shared.runtime.block_on(snapshots::status(&mut link, StoreName::Live)).expect("the status can be read");
    assert_eq!(status.snapshots, [0], "only the snapshot of the import is complete");
    let two = cluster.node("two");
    assert_equal(&[&one, &two]);
    one.stop();
    two.stop();
}

/// `leave` deletes a node's data, so it must recognize commits that only this node has, and must keep them.
#[test]
fn a_file_with_a_lost_commit_is_recognized_after_the_log_has_grown_past_it() {
    let Some(server) = server() else { return };
    let (cluster, one) = Cluster::led(server);
    one.put(2).expect("the leader accepts writes");
    one.stop();
    server.query(&cluster.url, "DELETE FROM mailmill_log WHERE log = 'live' AND seq = 2");
    let two = cluster.node("two");
    two.lead();
    (3..6).for_each(|row| two.put(row).expect("the leader accepts writes"));
    two.stop();
    let (shared, runtime) = shared_of(&cluster.url);
    for (name, expected) in [("one", false), ("two", true)] {
        let file = file_in(&cluster.folder.path().join(name), StoreName::Live);
        let file = StoreFile::open(Space::unlimited(), &file, CACHE_BYTES).expect("the file opens");
        let tx = file.read().expect("the file is readable");
        assert_eq!(runtime.block_on(has_commits(&shared.database, StoreName::Live, &tx)), Ok(expected), "{name}");
    }
}
