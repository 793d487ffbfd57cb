//! Tests searching right after writing, like a program that verifies its own writes.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::support::Server;
use super::support::server::BOUNDLESS;

/// Contacts that are added, changed and deleted.
const CONTACTS: usize = 30;
/// How long a search waits for the index before it returns the results that the index has.
const WAIT: Duration = Duration::from_millis(200);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_right_after_a_write_finds_it_or_waited_for_it() {
    let server = Server::start(BOUNDLESS);
    let client = server.all();
    let project = client.project("search").await;
    let mut found = 0;
    let mut search = async |text: &str, expected: u64| {
        let began = Instant::now();
        let total = client.total(json!({ "projectId": project, "search": text })).await;
        let took = began.elapsed();
        assert!(total == expected || took >= WAIT, "{text} was not found after {took:?} already");
        found += usize::from(total == expected);
    };
    for number in 0..CONTACTS {
        let (email, name) = (format!("writer{number}@example.com"), format!("Zora{number}x"));
        let id = client.contact(&project, &email).await;
        search(&email, 1).await;
        client.data("contacts.update", json!({ "id": id, "projectId": project, "firstName": name })).await;
        search(&name, 1).await;
        client.data("contacts.delete", json!({ "id": id, "projectId": project })).await;
        search(&name, 0).await;
    }
    assert!(found > CONTACTS, "only {found} of {} searches saw what was written", 3 * CONTACTS);
    println!("{found} of {} searches saw what was written", 3 * CONTACTS);
}
