//! Backups of a cluster: the continuous backup, which each leader takes, and the backup folders of nodes.

use std::path::Path;

use mailmill::base::clock::{Clock, SystemClock};
use serde_json::json;

use super::nodes::{Cluster, LEASE_SECONDS, database};
use crate::continuous_backup::{Vault, catch_up};
use crate::delivery::until;
use crate::support::server::{BOUNDLESS, PROGRAM};
use crate::support::{Client, Server};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_leader_backs_up_and_a_restored_folder_serves_as_a_single_machine() {
    let Some(postgres) = database() else { return };
    let (url, outer) = (postgres.database(), tempfile::tempdir().expect("a temporary folder"));
    let target = outer.path().join("target").display().to_string();
    let more = format!("[backup]\nurl = '{target}'\ninterval_seconds = 1\ndrill_days = 0\n");
    let mut cluster = Cluster::start(&postgres, &url, (2, LEASE_SECONDS), &more).await;
    let leader = cluster.leader().await;
    let project = cluster.project("backup").await;
    cluster.contact(&project, "first@example.com").await;
    catch_up(&cluster.client(leader)).await;
    let vault = Vault::new(&cluster.nodes[leader], target);
    let before = SystemClock.now();
    cluster.nodes[leader].kill();
    cluster.publish();
    let next = cluster.leader().await;
    cluster.contact(&project, "second@example.com").await;
    catch_up(&cluster.client(next)).await;
    let emails = |at| vault.contacts(&cluster.nodes[next], &project, at).into_keys().collect::<Vec<_>>();
    assert_eq!(emails(None), ["first@example.com", "second@example.com"]);
    assert_eq!(emails(Some(before)), ["first@example.com"]);
    let copy = vault.restore(&cluster.nodes[next], &[]);
    let mut single = Server::stopped(BOUNDLESS);
    std::fs::rename(copy, single.data()).expect("the folder can be moved");
    single.serve();
    let client = Client::new(single.address(), Some(cluster.key.clone()));
    until(async || {
        let contacts = client.data("contacts.list", json!({ "projectId": project })).await["contacts"].clone();
        contacts.as_array().map(Vec::len) == Some(2)
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_folder_of_a_node_is_restored_as_a_single_machine() {
    let Some(postgres) = database() else { return };
    let (url, outer) = (postgres.database(), tempfile::tempdir().expect("a temporary folder"));
    let mut cluster = Cluster::start_plain(&url, (1, LEASE_SECONDS), Path::new(PROGRAM), "").await;
    let project = cluster.project("backup").await;
    let contact = cluster.contact(&project, "first@example.com").await;
    let backup = outer.path().join("backup");
    let backup = backup.to_str().expect("text");
    let made = cluster.nodes[0].run(&["backup", "--to", backup]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    cluster.end(0);
    let key = cluster.nodes[0].data().join("master.key");
    let mut single = Server::stopped(BOUNDLESS);
    let restored = single.run(&["restore", backup, "--master-key", key.to_str().expect("text")]);
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
    single.serve();
    let client = Client::new(single.address(), Some(cluster.key.clone()));
    client.data("contacts.get", json!({ "projectId": project, "id": contact })).await;
}
