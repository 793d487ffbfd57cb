//! Tests of leases that a process releases or abandons.

use super::*;

/// Makes appends wait until the transaction of the returned connection ends. The log can still be read.
async fn hold_appends(shared: &Shared) -> Link {
    let mut lock = Link::new(shared.database.clone());
    lock.define("BEGIN; LOCK TABLE mailmill_log IN SHARE MODE").await.expect("the database works");
    lock
}

/// Waits until an append is blocked.
async fn wait_for_append(shared: &Shared) {
    let mut link = Link::new(shared.database.clone());
    let appending = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database() \
                     AND query LIKE '%INSERT INTO mailmill_log%'";
    while link.query(appending, &[]).await.expect("the database works").is_empty() {
        tokio::time::sleep(limits::CLUSTER_POLL_PAUSE).await;
    }
}

/// Writes a row whose append waits until `meanwhile` has run, and returns the outcome of the write.
fn put_blocked(cluster: &Cluster, node: &Node, meanwhile: impl FnOnce(&Runtime)) -> crate::engine::store::Result<()> {
    let (shared, runtime) = shared_of(&cluster.url);
    std::thread::scope(|scope| {
        let mut lock = runtime.block_on(hold_appends(&shared));
        let written = scope.spawn(|| node.put(2));
        runtime.block_on(wait_for_append(&shared));
        meanwhile(&runtime);
        runtime.block_on(lock.define("COMMIT")).expect("the database works");
        written.join().expect("the writer ends")
    })
}

/// The command that makes a node stop leading waits only for a limited time, and an append with an unknown outcome can take longer.
#[test]
fn a_node_that_did_not_wait_for_the_end_of_its_lead_leads_again() {
    let Some(server) = server() else { return };
    let (cluster, one) = Cluster::led(server);
    let Role::Leader { epoch: former } = one.member.role().borrow().clone() else { panic!("the node leads") };
    // The result is ignored: on a busy machine, the lease may have ended before the append.
    let _ = put_blocked(&cluster, &one, |runtime| {
        let resigned = runtime.block_on(async { tokio::time::timeout(limits::CLUSTER_RETRY_PAUSE, one.member.resign()).await });
        assert!(resigned.is_err(), "the lead ends after the append");
        // Without this call, the node would leave the lease to other nodes for a while.
        one.member.rejoin();
    });
    one.wait("leads again", |member| matches!(*member.role().borrow(), Role::Leader { epoch } if epoch > former));
    one.put(3).expect("the leader accepts writes");
    one.stop();
}

/// In an earlier version, a node that waited for its append forwarded no requests to the next leader, and answered read requests with old
/// data.
#[test]
fn a_node_whose_append_does_not_end_follows_the_next_leader() {
    let Some(server) = server() else { return };
    let (cluster, one, two) = Cluster::led_and_followed(server);
    let outcome = put_blocked(&cluster, &one, |runtime| {
        let resigned = runtime.block_on(async { tokio::time::timeout(LEASE * 2, one.member.resign()).await });
        assert!(resigned.is_ok(), "the node waits for its append");
        one.follow("two");
    });
    assert_eq!(outcome, Err(crate::engine::store::Error::NotLeader));
    two.lead();
    two.put(3).expect("the leader accepts writes");
    assert_equal(&[&two, &one]);
    one.stop();
    two.stop();
}

/// After a process has taken the lease, it applies the rest of the log and migrates its rows before it leads, which can take a long time.
#[test]
fn a_process_that_is_drained_before_it_is_ready_to_lead_gives_up_the_lease() {
    let Some(server) = server() else { return };
    let cluster = Cluster::init(server);
    let (shared, runtime) = shared_of(&cluster.url);
    let mut link = Link::new(shared.database.clone());
    // Without stores, the process is never ready.
    let (slow, _) = cluster.connect("slow").expect("the database works");
    slow.start();
    runtime.block_on(async {
        while lease::read(&mut link).await.expect("the database works").remaining_ms <= 0 {
            tokio::time::sleep(limits::CLUSTER_POLL_PAUSE).await;
        }
        let drained = tokio::time::timeout(limits::CLUSTER_RETRY_PAUSE, slow.drain()).await;
        assert!(drained.is_err(), "the service reports the end of the lead, and no service runs here");
    });
    let one = cluster.node("one");
    one.lead();
    one.stop();
    slow.stop();
    slow.close();
}

/// The clock of a promoted standby can be behind the clock of the former primary server. In an earlier version, the cluster then had no
/// leader until the clock had caught up.
#[test]
fn a_lease_that_ends_too_late_to_be_right_is_taken_if_no_process_renews_it() {
    let Some(server) = server() else { return };
    let (cluster, one) = Cluster::led(server);
    one.stop();
    server.query(&cluster.url, "UPDATE mailmill_lease SET expires = now() + INTERVAL '1 hour'");
    let two = cluster.node("two");
    two.lead();
    two.put(2).expect("the leader accepts writes");
    two.stop();
}
