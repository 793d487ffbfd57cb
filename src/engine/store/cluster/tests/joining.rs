//! Tests of the files of a new node.

use super::*;

/// The import takes the first snapshot before it marks its own files, so that an interrupted import can be repeated.
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
