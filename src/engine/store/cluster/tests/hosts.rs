//! Tests of a database with several servers.

use super::*;

const NAME: &str = "standby";

/// Regression test: a first server that did not respond used up the time to connect, so that the other servers in the URL were not tried.
#[test]
fn a_server_that_does_not_respond_does_not_prevent_a_connection_to_another_one() {
    let Some(server) = server() else { return };
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = server.address().to_string();
    let (shared, runtime) =
        shared_of(&server.database().replace(&address, &format!("{},{address}", silent.local_addr().expect("bound"))));
    let answers = || {
        let mut link = Link::new(shared.database.clone());
        let asked = async { tokio::time::timeout(Duration::from_secs(1), link.query("SELECT 1", &[])).await };
        runtime.block_on(asked).is_ok_and(|answer| answer.is_ok())
    };
    assert!((0..30).any(|_| answers()), "the servers are tried in a random order");
}

/// Regression test: the append was acknowledged because its record was visible on the primary server, although the primary server could
/// fail before the standby had the record.
#[test]
fn an_append_without_a_response_is_acknowledged_only_when_the_synchronous_standby_has_it() {
    let Some(primary) = Postgres::start() else { return };
    let url = primary.database();
    let (shared, runtime) = shared_of(&url);
    let epoch = runtime.block_on(async {
        let mut link = Link::new(shared.database.clone());
        schema::create(&mut link).await.expect("the tables can be created");
        link.define(FIRST).await.expect("the log can start");
        acquire(&mut link, "leader", Duration::from_secs(3_600)).await
    });
    let standby = primary.standby(NAME);
    primary.wait_for_commits_of(NAME);
    standby.stop();
    let mut log = SharedLog::new(StoreName::Live, shared.database.clone());
    std::thread::scope(|scope| {
        let appending = scope.spawn(|| runtime.block_on(log.append(1, epoch, b"record", || false)));
        // The connection ends while the commit waits for the standby.
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        while primary.query(&url, end) == "0" {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_secs(1));
        assert!(!appending.is_finished(), "the standby does not have the record");
        standby.resume();
        assert_eq!(appending.join().expect("no panic"), Ok(Appended::Done));
    });
}
