//! Tests of statements that the database rolls back because of another transaction.

use super::*;

/// Distributed SQL databases are serializable by default, and roll back a statement whose rows another transaction has changed.
#[test]
fn a_statement_is_repeated_after_a_serialization_failure() {
    let Some(server) = server() else { return };
    let url = format!("{}&options=-c%20default_transaction_isolation%3Dserializable", server.database());
    let (shared, runtime) = shared_of(&url);
    let [mut first, mut second, mut third] = [(); 3].map(|()| Link::new(shared.database.clone()));
    let changed = runtime.block_on(async {
        schema::create(&mut first).await.expect("the tables can be created");
        first.define("BEGIN; UPDATE mailmill_lease SET epoch = 7").await.expect("the database works");
        let commit = async {
            let waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
            while third.query(waiting, &[]).await.expect("the database works").is_empty() {
                tokio::time::sleep(limits::CLUSTER_POLL_PAUSE).await;
            }
            first.define("COMMIT").await.expect("the database works");
        };
        tokio::join!(second.execute("UPDATE mailmill_lease SET epoch = epoch + 1", &[]), commit).0
    });
    assert_eq!(changed.expect("the statement is repeated"), StoreName::ALL.len());
    assert_eq!(server.query(&url, "SELECT max(epoch) FROM mailmill_lease").trim(), "8");
}
