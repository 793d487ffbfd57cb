//! `kill -9` under load: after the restart every acknowledged write exists, and none exists in part.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::delivery::until;
use super::support::client::Call;
use super::support::server::BOUNDLESS;
use super::support::{Client, Server, operation};

const WRITERS: usize = 16;
const ROUNDS: usize = 3;
const LOAD: Duration = Duration::from_millis(1200);
const TAGS: [&str; 3] = ["red", "green", "blue"];

/// Writes contacts until the server is killed. Returns what was acknowledged: each contact's ID, email and tag, or nothing if the
/// contact was deleted again.
async fn write(
    client: Client,
    project: String,
    (round, writer): (usize, usize),
    count: Arc<AtomicUsize>,
) -> BTreeMap<String, Option<(String, &'static str)>> {
    let mut acknowledged = BTreeMap::new();
    for number in 0.. {
        let email = format!("w{writer}-r{round}-n{number}@example.com");
        let tag = TAGS[number % TAGS.len()];
        let input = json!({ "projectId": project, "email": email, "tags": [tag], "firstName": format!("Name{number}") });
        let Ok(reply) = client.try_send(Call::new(operation("contacts.create"), input)).await else { break };
        if reply.status != 201 || reply.bytes.is_empty() {
            break;
        }
        let id = reply.json()["data"]["id"].as_str().expect("an id").to_owned();
        acknowledged.insert(id.clone(), Some((email, tag)));
        count.fetch_add(1, Ordering::Relaxed);
        if number % 5 == 4 {
            // Until the response arrives, its state is uncertain.
            let kept = acknowledged.remove(&id);
            let call = Call::new(operation("contacts.delete"), json!({ "id": id, "projectId": project }));
            match client.try_send(call).await {
                Ok(reply) if reply.status == 200 && !reply.bytes.is_empty() => {
                    assert!(kept.is_some());
                    acknowledged.insert(id, None);
                }
                _ => break,
            }
        }
    }
    acknowledged
}

/// Returns every contact of the project, page by page.
async fn everything(client: &Client, project: &str) -> Vec<Value> {
    let mut all = Vec::new();
    loop {
        let page = client.data("contacts.list", json!({ "projectId": project, "limit": 100, "offset": all.len() })).await;
        let contacts = page["contacts"].as_array().expect("a list").clone();
        if contacts.is_empty() {
            assert_eq!(page["total"], all.len(), "the count is that of the list");
            return all;
        }
        all.extend(contacts);
    }
}

async fn check(client: &Client, project: &str, acknowledged: &BTreeMap<String, Option<(String, &'static str)>>) {
    let all = everything(client, project).await;
    let ids: BTreeSet<&str> = all.iter().map(|contact| contact["id"].as_str().expect("an id")).collect();
    let emails: BTreeSet<&str> = all.iter().map(|contact| contact["email"].as_str().expect("an email")).collect();
    assert_eq!((ids.len(), emails.len()), (all.len(), all.len()), "nothing is there twice");
    for (id, state) in acknowledged {
        match state {
            Some((email, tag)) => {
                let contact = client.data("contacts.get", json!({ "id": id, "projectId": project })).await;
                assert_eq!((contact["email"].as_str(), &contact["tags"]), (Some(email.as_str()), &json!([tag])));
                assert!(ids.contains(id.as_str()), "{id} was acknowledged and is not in the list");
            }
            None => assert!(!ids.contains(id.as_str()), "{id} was deleted and is in the list"),
        }
    }
    // All derived data agrees with the rows: status sets, tag sets, the search index.
    let subscribed = json!({ "projectId": project, "status": "subscribed" });
    assert_eq!(client.total(subscribed).await, all.len() as u64);
    for tag in TAGS {
        let tagged = all.iter().filter(|contact| contact["tags"] == json!([tag])).count() as u64;
        assert_eq!(client.total(json!({ "projectId": project, "tags": [tag] })).await, tagged, "{tag}");
        let found = client.total(json!({ "projectId": project, "search": tag, "refresh": true, "status": "subscribed" })).await;
        assert_eq!(found, tagged, "what search finds for {tag}");
    }
    assert_eq!(client.total(json!({ "projectId": project, "search": "example.com", "refresh": true })).await, all.len() as u64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_write_survives_a_kill_and_none_exists_in_part() {
    let mut server = Server::start(BOUNDLESS);
    let key = server.key("test", "all");
    let project = Client::new(server.address(), Some(key.clone())).project("crash").await;
    let mut acknowledged = BTreeMap::new();
    for round in 0..ROUNDS {
        let (mut writers, count) = (JoinSet::new(), Arc::new(AtomicUsize::new(0)));
        for writer in 0..WRITERS {
            let client = Client::new(server.address(), Some(key.clone()));
            writers.spawn(write(client, project.clone(), (round, writer), count.clone()));
        }
        tokio::time::sleep(LOAD).await;
        // The outcome of the last request of each writer can be unknown.
        until(async || count.load(Ordering::Relaxed) > 2 * WRITERS).await;
        server.kill();
        let before = acknowledged.len();
        for written in writers.join_all().await {
            acknowledged.extend(written);
        }
        assert!(acknowledged.len() > before + WRITERS, "the load was too small to prove anything");
        server.serve();
        check(&Client::new(server.address(), Some(key.clone())), &project, &acknowledged).await;
    }
}
