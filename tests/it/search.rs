//! Searching right after writing, as a program does that checks what it has just done.

use serde_json::json;

use super::support::Server;
use super::support::server::BOUNDLESS;

/// Contacts that are added, changed and deleted.
const CONTACTS: usize = 30;
/// A machine that is busy with other tests may take longer than a search waits.
const SLOW_MAX: usize = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_right_after_a_write_finds_it_for_the_writer() {
    let server = Server::start(BOUNDLESS);
    let client = server.all();
    let project = client.project("search").await;
    let mut missed = [0; 3];
    for number in 0..CONTACTS {
        let found = async |text: &str| client.total(json!({ "projectId": project, "search": text })).await;
        let id = client.contact(&project, &format!("writer{number}@example.com")).await;
        missed[0] += usize::from(found(&format!("writer{number}@example.com")).await != 1);
        let name = format!("Zora{number}x");
        client.data("contacts.update", json!({ "id": id, "projectId": project, "firstName": name })).await;
        missed[1] += usize::from(found(&name).await != 1);
        client.data("contacts.delete", json!({ "id": id, "projectId": project })).await;
        missed[2] += usize::from(found(&name).await != 0);
    }
    assert!(missed.iter().all(|many| *many <= SLOW_MAX), "not found after adding, changing, deleting: {missed:?} of {CONTACTS}");
    println!("not found after adding, changing, deleting: {missed:?} of {CONTACTS}");
}
