//! Tests of a database that has lost commits, for example because it was restored.

use super::*;

#[test]
fn a_node_notices_that_the_database_has_lost_or_replaced_records() {
    let Some(server) = server() else { return };
    let cluster = Cluster::init(server);
    let one = cluster.node("one");
    one.lead();
    (0..5).for_each(|row| one.put(row).expect("the leader accepts writes"));
    let two = cluster.node("two");
    assert_equal(&[&one, &two]);
    two.stop();
    // Simulate that a standby without the newest record is promoted while the leader runs.
    server.query(
        &cluster.url,
        "DELETE FROM mailmill_log WHERE log = 'live' AND seq = (SELECT max(seq) FROM mailmill_log WHERE log = 'live')",
    );
    one.put(9).expect_err("the leader does not continue");
    // The leader stops, because it detects the lost commits.
    one.wait("fails", |_| one.live().failure().borrow().is_some());
    let failure = one.live().failure().borrow().clone();
    assert!(
        matches!(&failure, Some(crate::engine::store::Error::CommitsLost(text)) if text.contains("lost commits")),
        "{failure:?}"
    );
    // No node continues until the operator accepts the loss.
    let loss = || server.query(&cluster.url, "SELECT loss FROM mailmill_cluster");
    one.wait("reports the loss", |_| loss() == "one");
    one.stop();
    let three = cluster.node("three");
    std::thread::sleep(LEASE * 2);
    assert!(!three.member.has_leader(), "a node without the lost record does not lead either");
    three.stop();
    let accept = || {
        let runtime = Runtime::new().expect("a runtime");
        let database = Database::new(&cluster.url, None, runtime.handle().clone()).expect("a database");
        runtime.block_on(lease::accept_loss(&mut Link::new(database))).expect("the loss is accepted")
    };
    assert_eq!((accept(), accept(), loss()), (true, false, String::new()));
    let lost = cluster.try_node("two").err().expect("the follower does not start");
    assert!(matches!(lost, Error::Lost { store: StoreName::Live, .. }), "{lost:?}");
    // Node four appends a different record at the position of the lost record.
    let four = cluster.node("four");
    four.lead();
    four.put(30).expect("a node without the lost record continues the log");
    four.stop();
    let diverged = cluster.try_node("two").err().expect("the follower does not start");
    assert!(matches!(diverged, Error::Diverged { store: StoreName::Live, .. }), "{diverged:?}");
}

/// The tables that tests replace with an earlier state.
const REPLACED: [&str; 3] = ["log", "lease", "cluster"];

/// Returns statements that save a copy of the tables.
fn keep(name: &str) -> String {
    REPLACED.map(|table| format!("CREATE TABLE {name}_{table} AS SELECT * FROM mailmill_{table}; ")).concat()
}

/// Returns statements that replace the tables with the saved copy.
fn replace_with(name: &str) -> String {
    let replace = |table| format!("DELETE FROM mailmill_{table}; INSERT INTO mailmill_{table} SELECT * FROM {name}_{table}; ");
    REPLACED.map(replace).concat()
}

#[test]
fn no_node_takes_the_lease_or_appends_after_the_database_was_replaced_by_an_older_state() {
    let Some(server) = server() else { return };
    let (cluster, one, two) = Cluster::led_and_followed(server);
    server.query(&cluster.url, &keep("older"));
    one.shared_runtime(|member| async move { member.resign().await });
    two.lead();
    two.put(2).expect("the new leader accepts writes");
    one.follow("two");
    one.reach(&two);
    server.query(&cluster.url, &keep("newer"));
    server.query(&cluster.url, &replace_with("older"));
    for node in [&one, &two] {
        node.wait("stops", |_| node.live().failure().borrow().is_some());
        let failure = node.live().failure().borrow().clone();
        assert!(
            matches!(&failure, Some(crate::engine::store::Error::CommitsLost(text)) if text.contains("lost commits")),
            "{failure:?}"
        );
        assert!(matches!(*node.member.role().borrow(), Role::Follower { .. }));
    }
    // Wait until the lease of the older state would have expired.
    std::thread::sleep(LEASE);
    let changed = "SELECT (SELECT count(*) FROM mailmill_log) - (SELECT count(*) FROM older_log), \
                   (SELECT max(epoch) FROM mailmill_lease) - (SELECT max(epoch) FROM older_lease)";
    assert_eq!(server.query(&cluster.url, changed), "0|0", "the older database has no new commit and no new lease");
    one.stop();
    two.stop();
    // When the database has the newer state again, the nodes start with the same folders.
    server.query(&cluster.url, &replace_with("newer"));
    let one = cluster.node("one");
    one.lead();
    one.put(3).expect("the leader accepts writes");
    let two = cluster.node("two");
    assert_equal(&[&one, &two]);
    one.stop();
    two.stop();
}

#[test]
fn a_node_stops_when_the_database_has_forgotten_its_lease_and_starts_again_if_no_commit_is_missing() {
    let Some(server) = server() else { return };
    let (cluster, one) = Cluster::led(server);
    let forget = "UPDATE mailmill_lease SET epoch = epoch - 1, holder = 'other', expires = now() - INTERVAL '1 second'";
    server.query(&cluster.url, forget);
    one.wait("stops", |_| one.live().failure().borrow().is_some());
    let failure = one.live().failure().borrow().clone();
    assert!(
        matches!(&failure, Some(crate::engine::store::Error::Cluster(text)) if text.contains("different lease")),
        "{failure:?}"
    );
    one.stop();
    let again = cluster.node("one");
    again.lead();
    again.put(2).expect("the leader accepts writes");
    again.stop();
}
