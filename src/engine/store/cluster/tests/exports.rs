//! Tests that an export of a cluster is consistent across the stores.

use super::*;
use crate::vocab::tables::META;

const MARKS: Table<String, Vec<u8>> = Table::new(META);

/// A request can write to the control store and then to another store. An export with the second write must also contain the first.
#[test]
fn an_export_of_a_cluster_in_use_has_no_commit_without_the_commits_before_it() {
    let Some(server) = server() else { return };
    let (_cluster, one) = Cluster::led(server);
    let stores = one.stores.as_ref().expect("the node runs");
    let mark = |tx: &mut crate::engine::store::WriteTx<'_>| {
        tx.put(MARKS, &"mark".to_owned(), &vec![7]);
        Ok::<_, ()>(())
    };
    let out = tempfile::tempdir().expect("a temporary folder");
    let file_of = |store: StoreName| {
        if store == StoreName::Live {
            // This closure runs on a thread of the runtime, which must not wait for a write, so another thread writes.
            let write = || {
                for store in [&stores[0], &stores[2]] {
                    store.write_blocking(mark).expect("the leader accepts writes").expect("the change succeeds");
                }
            };
            std::thread::scope(|scope| scope.spawn(write).join()).expect("the writes succeed");
        }
        out.path().join(format!("{}.redb", store.word()))
    };
    let shared = one.member.shared();
    shared.runtime.block_on(export(&shared.database, file_of)).expect("the export succeeds");
    let [control, live] = ["control", "live"].map(|name| {
        let file = out.path().join(format!("{name}.redb"));
        let file = StoreFile::open(Space::unlimited(), &file, CACHE_BYTES).expect("the file opens");
        file.read().expect("readable").get(MARKS, &"mark".to_owned()).expect("readable").is_some()
    });
    assert!(live && control, "live: {live}, control: {control}");
    one.stop();
}
