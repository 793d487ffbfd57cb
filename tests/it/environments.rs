//! Tests that test and live data are separate.

use http::StatusCode;
use serde_json::json;

use super::support::{Server, server::BOUNDLESS};

#[tokio::test]
async fn test_data_is_invisible_to_a_live_key() {
    let server = Server::start(BOUNDLESS);
    let (test, live) = (server.all(), server.client("live", "all"));
    let project = test.project("only a test").await;
    let contact = test.contact(&project, "ada@example.com").await;
    assert_eq!(live.data("projects.list", json!({})).await["total"], 0);
    let input = json!({ "id": contact, "projectId": project });
    live.call("contacts.get", input.clone()).await.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
    live.call("contacts.delete", input.clone()).await.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
    let list = json!({ "projectId": project, "search": "ada", "refresh": true });
    live.call("contacts.list", list.clone()).await.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
    assert_eq!(test.data("contacts.list", list).await["total"], 1);

    // Test keys do not see live data either.
    let real = live.project("real").await;
    live.contact(&real, "ada@example.com").await;
    assert_eq!(test.data("projects.list", json!({})).await["total"], 1);
    test.call("projects.get", json!({ "projectId": real })).await.refused(StatusCode::NOT_FOUND, "RESOURCE_NOT_FOUND");
    assert_eq!(test.data("contacts.get", input).await["email"], "ada@example.com");
}
