//! Tests customer events through the request pipeline, and that attribution does not depend on the sequence of arrival.

mod attribution;
mod identifiers;
mod order_of_arrival;
mod record;
mod refunds;
mod retention;

use serde_json::{Value, json};

use crate::testing::{START, TestApp, TestResponse};

/// A test app with one project. Its methods send the requests that an online shop sends.
struct Shop {
    app: TestApp,
}

impl Shop {
    fn new() -> Self {
        Self { app: TestApp::new() }
    }

    fn report(&self, event: Value) -> TestResponse {
        self.app.post_in("/v1/events", event)
    }

    /// Reports an event that must be stored. Returns the event's ID.
    #[track_caller]
    fn stored(&self, event: Value) -> String {
        let response = self.report(event).data();
        assert_eq!(response["stored"], true, "{response}");
        response["eventId"].as_str().expect("the field is a string").to_owned()
    }

    fn batch(&self, events: Value) -> TestResponse {
        self.app.post_in("/v1/events/batch", json!({ "events": events }))
    }

    fn contact(&self, id: &str) -> Value {
        self.app.get_in(&format!("/v1/contacts/{id}")).data()
    }

    fn add(&self, email: &str) -> String {
        self.app.post_in("/v1/contacts", json!({ "email": email })).data()["id"]
            .as_str()
            .expect("the field is a string")
            .to_owned()
    }

    fn by_email(&self, email: &str) -> Option<Value> {
        let all = self.app.get_in("/v1/contacts?limit=100").data();
        all["contacts"].as_array().expect("the field is a list").iter().find(|contact| contact["email"] == email).cloned()
    }

    fn events_of(&self, id: &str) -> Vec<Value> {
        let listed = self.app.get_in(&format!("/v1/contacts/{id}/events?limit=100")).data();
        listed["events"].as_array().expect("the field is a list").clone()
    }

    /// Creates a segment with these filters. Returns the number of contacts in the segment.
    fn segment(&self, filters: Value) -> u64 {
        let name = filters.to_string().chars().take(100).collect::<String>();
        let made = self.app.post_in("/v1/segments", json!({ "name": name, "filters": filters })).data();
        made["count"].as_u64().expect("the field is a number")
    }
}

/// Returns the time this many milliseconds after the start of the tests' clock.
fn at(ms: i64) -> String {
    START.plus_ms(ms).to_string()
}
