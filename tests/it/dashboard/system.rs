//! Tests the System page: the status of the installation, which only the owner and admins of its own account can see.

use serde_json::json;

use crate::support::browser::Browser;
use crate::support::server::BOUNDLESS;
use crate::users::{OWNER, PASSWORD, anonymous, member, owned, signed_in};

const PATH: &str = "/live/settings/system";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_owner_sees_sizes_queues_jobs_the_last_backup_and_the_log() {
    let server = owned(&BOUNDLESS.replace("level = \"warn\"", "level = \"info\""));
    let mut browser = Browser::new(&server);
    browser.sign_in("/").await;
    let page = browser.get(PATH).await;
    for shown in ["No backup yet", ">search index</th>", "Webhook deliveries", "control", env!("CARGO_PKG_VERSION")] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    assert_eq!(page.text.matches(">search index</th>").count(), 1, "a job of both environments is one line");
    let target = server.data().with_file_name("backup");
    let output = server.run(&["backup", "--to", target.to_str().expect("UTF-8")]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = browser.get(PATH).await;
    assert!(page.text.contains(target.to_str().expect("UTF-8")) && !page.text.contains("No backup yet"), "{}", page.text);
    let status = signed_in(&server, OWNER, "test").await.data("system.status", json!({})).await;
    let workers = status["workers"].as_array().expect("workers");
    assert!(workers.len() > 20 && workers.iter().any(|worker| worker["steps"].as_u64() > Some(0)), "{status}");
    assert!(status["stores"].as_array().expect("files").iter().all(|file| file["bytes"].as_u64() > Some(0)), "{status}");
}

#[tokio::test]
async fn no_one_else_sees_it_not_even_the_owner_of_another_account() {
    let server = owned(&BOUNDLESS.replace("[accounts]", "[accounts]\nsign_up = true"));
    let owner = signed_in(&server, OWNER, "test").await;
    member(&server, &owner, "editor@example.com", json!({ "role": "editor" })).await;
    member(&server, &owner, "admin@example.com", json!({ "role": "admin" })).await;
    anonymous(&server).data("accounts.sign_up", json!({ "email": "other@example.com", "password": PASSWORD })).await;
    for (email, status) in [("editor@example.com", 403), ("admin@example.com", 200), ("other@example.com", 403)] {
        let mut browser = Browser::new(&server);
        browser.sign_in_as(email, PASSWORD, "/").await;
        assert_eq!(browser.get(PATH).await.status, status, "{email}");
    }
}
