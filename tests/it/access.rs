//! Authentication and permissions: 401 and 403 for every operation.

use std::str::FromStr;

use http::StatusCode;
use mailmill::engine::api::Access;
use mailmill::vocab::permissions::Permission;

use super::support::client::Call;
use super::support::{Client, NO_PROJECT, example, keyed, shared};

/// Returns a key of this environment that has a valid checksum but does not exist here, like one of another installation.
fn foreign_key(environment: &str) -> String {
    let environment = environment.parse().expect("an environment");
    let random = mailmill::base::random::SeededRandom::new(7);
    mailmill::engine::access::token::create(environment, &random).expose().clone()
}

async fn refused_everywhere(client: &Client, challenge: &str) {
    for entry in keyed() {
        let reply =
            client.send(Call::new(entry, example(entry, NO_PROJECT))).await.refused(StatusCode::UNAUTHORIZED, "INVALID_API_KEY");
        assert_eq!(reply.error(), "Invalid or missing API key", "{}", entry.spec.id);
        let given = reply.header("www-authenticate").expect("a challenge");
        assert!(given.starts_with(challenge) && given.ends_with("/.well-known/oauth-protected-resource\""), "{given}");
        assert_eq!(reply.header("x-ratelimit-limit"), None, "{}", entry.spec.id);
    }
}

const NO_KEY: &str = r#"Bearer realm="mailmill", resource_metadata=""#;
const WRONG_KEY: &str = r#"Bearer realm="mailmill", error="invalid_token", resource_metadata=""#;

#[tokio::test]
async fn without_a_key_every_request_is_refused() {
    refused_everywhere(&shared().client().with_key(None), NO_KEY).await;
}

#[tokio::test]
async fn a_malformed_key_is_refused_everywhere() {
    let shared = shared();
    let mut mistyped = shared.key.clone();
    mistyped.replace_range(20..21, if &mistyped[20..21] == "x" { "y" } else { "x" });
    for key in ["sk_test_", "nonsense", mistyped.as_str()] {
        refused_everywhere(&shared.client().with_key(Some(key)), WRONG_KEY).await;
    }
}

#[tokio::test]
async fn a_key_of_another_installation_or_environment_is_refused_everywhere() {
    let shared = shared();
    let other_environment = shared.key.replacen("test", "live", 1);
    for key in [foreign_key("test"), foreign_key("live"), other_environment] {
        refused_everywhere(&shared.client().with_key(Some(&key)), WRONG_KEY).await;
    }
}

#[tokio::test]
async fn a_revoked_key_fails_with_the_next_request() {
    let server = &shared().server;
    let client = server.client("test", "all");
    client.data("projects.list", serde_json::json!({})).await;
    let listed = server.run(&["keys", "list"]);
    let listed = String::from_utf8(listed.stdout).expect("text");
    // Collect the IDs of the keys that already exist.
    let mut ids = Vec::new();
    for line in listed.lines().skip(1) {
        ids.push(line.split_whitespace().next().expect("an id").to_owned());
    }
    let before = ids.len();
    let key = server.key("test", "all");
    let listed = String::from_utf8(server.run(&["keys", "list"]).stdout).expect("text");
    let now: Vec<&str> = listed.lines().skip(1).map(|line| line.split_whitespace().next().expect("an id")).collect();
    let new: Vec<&&str> = now.iter().filter(|id| !ids.iter().any(|old| old == **id)).collect();
    assert!(now.len() > before && !new.is_empty());
    let client = client.with_key(Some(&key));
    client.data("projects.list", serde_json::json!({})).await;
    for id in new {
        assert!(server.run(&["keys", "revoke", id]).status.success());
    }
    refused_everywhere(&client, WRONG_KEY).await;
}

#[tokio::test]
async fn a_key_is_accepted_in_each_of_its_three_forms() {
    let shared = shared();
    let anonymous = shared.client().with_key(None);
    let entry = super::support::operation("projects.list");
    for (name, value) in [
        ("authorization", format!("Bearer {}", shared.key)),
        ("authorization", format!("bearer mm_{}", shared.key)),
        ("authorization", format!("ApiKey {}", shared.key)),
        ("x-api-key", shared.key.clone()),
    ] {
        let call = Call::new(entry, serde_json::json!({})).header(name, value.clone());
        assert_eq!(anonymous.send(call).await.status, 200, "{name}: {}", value.len());
    }
}

#[tokio::test]
async fn a_key_with_every_permission_but_the_required_one_is_refused() {
    let server = &shared().server;
    for permission in Permission::ALL {
        let needing: Vec<_> = keyed()
            .filter(|entry| match entry.spec.access {
                Access::Needs(needed) => needed == permission,
                Access::NeedsOne(needed) => needed[0] == permission,
                Access::Public | Access::Person | Access::Manager | Access::Operator => false,
            })
            .collect();
        if needing.is_empty() {
            continue;
        }
        for entry in needing {
            let enough = |other: &Permission| match entry.spec.access {
                Access::Needs(needed) => needed == *other,
                Access::NeedsOne(needed) => needed.contains(other),
                Access::Public | Access::Person | Access::Manager | Access::Operator => false,
            };
            let others: Vec<&str> = Permission::ALL.iter().filter(|other| !enough(other)).map(|other| other.word()).collect();
            // Every permission is enough for some operations, such as the list of projects.
            if others.is_empty() {
                continue;
            }
            let client = server.client("test", &others.join(","));
            let call = Call::new(entry, example(entry, NO_PROJECT));
            let reply = client.send(call).await.refused(StatusCode::FORBIDDEN, "INSUFFICIENT_PERMISSIONS");
            let challenge = reply.header("www-authenticate").expect("a challenge");
            let named =
                challenge.split("scope=\"").nth(1).and_then(|rest| rest.strip_suffix('"')).expect("it names the permission");
            assert!(Permission::from_str(named).is_ok_and(|named| enough(&named)), "{}: {challenge}", entry.spec.id);
            // A request without the permission is rejected, but counts against the budget.
            assert!(reply.header("x-ratelimit-remaining").is_some(), "{}", entry.spec.id);
        }
    }
}
