//! Returns one segment.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::projects;
use crate::features::segments::store;
use crate::features::segments::views::{SegmentView, segment_view, with_count};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProjectId, SegmentId};
use crate::vocab::permissions::Permission;

pub struct Get;

/// Identifies a segment.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SegmentRef {
    /// The segment's ID.
    pub id: SegmentId,
    /// The ID of the segment's project.
    pub project_id: ProjectId,
}

/// The segment to return, and whether to count its contacts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GetSegment {
    /// The segment's ID.
    pub id: SegmentId,
    /// The ID of the segment's project.
    pub project_id: ProjectId,
    /// Whether to count the segment's contacts. The default is true. If the project has very many contacts, the count can take a moment.
    pub count: Option<bool>,
}

impl Operation for Get {
    const SPEC: Spec = Spec::get("segments.get", "/v1/segments/{id}", needs(Permission::AudienceRead))
        .also_at(&["/v1/audiences/{id}"])
        .summary("Get a segment")
        .about(
            "Includes the number of contacts that match the filter now, unless `count` is false. GET /v1/contacts with segmentId lists \
             these contacts.",
        )
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = GetSegment;
    type Output = Done<SegmentView>;

    fn example() -> (Value, Self::Output) {
        let segment = SegmentView::sample();
        (json!({ "id": segment.id, "projectId": "66f1a2b3d4e5f60718293a4b" }), Done(segment))
    }
}

impl Query for Get {
    fn run(view: &View<'_>, input: GetSegment) -> Result<Self::Output, Failure> {
        projects::require(view.tx, view.caller.account(), input.project_id)?;
        let segment = store::require(view.tx, input.project_id, input.id)?;
        Ok(Done(match input.count {
            Some(false) => with_count(segment, None)?,
            Some(true) | None => segment_view(view.tx, input.project_id, segment, view.now)?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn the_count_follows_every_change_of_a_contact() {
        let app = TestApp::new();
        let contact = |email: &str, plan: &str| {
            let body = json!({ "email": email, "customFields": { "plan": plan } });
            format!("/v1/contacts/{}", app.post_in("/v1/contacts", body).data()["id"].as_str().expect("the contact has an ID"))
        };
        contact("ada@example.com", "pro");
        let bob = contact("bob@example.com", "free");
        let filters = json!({ "fields": [{ "key": "plan", "mode": "is", "values": ["Pro"] }] });
        let made = app.post_in("/v1/segments", json!({ "name": "pro", "filters": filters })).data();
        let path = format!("/v1/segments/{}", made["id"].as_str().expect("the segment has an ID"));
        let count = || app.get_in(&path).data()["count"].clone();
        assert_eq!((&made["count"], count()), (&json!(1), json!(1)));
        app.patch_in(&bob, json!({ "customFields": { "plan": "PRO" } })).data();
        assert_eq!(count(), 2);
        app.delete_in(&bob).data();
        assert_eq!(count(), 1);
    }

    #[test]
    fn contacts_are_listed_by_segment() {
        let app = TestApp::new();
        for email in ["ada@example.com", "bob@example.org"] {
            app.post_in("/v1/contacts", json!({ "email": email })).data();
        }
        let filters = json!({ "fields": [{ "key": "email", "mode": "ends_with", "values": ["@example.org"] }] });
        let made = app.post_in("/v1/segments", json!({ "name": "org", "filters": filters })).data();
        let id = made["id"].as_str().expect("the segment has an ID");
        let data = app.get_in(&format!("/v1/contacts?segmentId={id}")).data();
        assert_eq!((&data["total"], &data["contacts"][0]["email"]), (&json!(1), &json!("bob@example.org")));
        let unknown = app.get_in("/v1/contacts?segmentId=66f1a2b3e5f60718293a4b5c");
        assert_eq!(unknown.refusal().0, 404);
    }

    #[test]
    fn count_false_skips_the_count() {
        let app = TestApp::new();
        let made = app.post_in("/v1/segments", json!({ "name": "all" })).data();
        let path = format!("/v1/segments/{}", made["id"].as_str().expect("the segment has an ID"));
        assert_eq!(app.get_in(&format!("{path}?count=false")).data()["count"], json!(null));
        assert_eq!(app.get_in("/v1/segments?count=false").data()["segments"][0]["count"], json!(null));
        assert_eq!(app.get_in(&format!("{path}?count=true")).data()["count"], 0);
    }

    #[test]
    fn another_projects_segment_is_not_found() {
        let app = TestApp::new();
        let made = app.post_in("/v1/segments", json!({ "name": "all" })).data();
        let path = format!("/v1/segments/{}", made["id"].as_str().expect("the segment has an ID"));
        let other = app.another_project();
        assert_eq!(app.get(&format!("{path}?projectId={other}")).refusal().1, "RESOURCE_NOT_FOUND");
    }
}
