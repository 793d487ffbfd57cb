//! Counts the contacts that match an unsaved filter and returns some of these contacts, for users who are writing a filter.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::bounded::Bounded;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::contact_records::{self, ContactView};
use crate::features::filters::FilterTree;
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Preview;

/// The filter, the project whose contacts it selects, and the number of contacts to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PreviewSegment {
    /// The ID of the project whose contacts are filtered.
    pub project_id: ProjectId,
    /// The filter to preview. If absent, every contact matches.
    pub filters: Option<FilterTree>,
    /// The maximum number of contacts to return. The default is 10.
    pub limit: Option<Bounded<0, { limits::SEGMENT_PREVIEW_MAX as u64 }>>,
}

/// The contacts that currently match the filter.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SegmentPreview {
    /// The number of matching contacts, regardless of their status.
    pub count: u64,
    /// The newest matching contacts.
    pub contacts: Vec<ContactView>,
}

/// The number of contacts returned by default.
const SHOWN: u64 = 10;

impl Operation for Preview {
    const SPEC: Spec = Spec::post("segments.preview", "/v1/segments/preview", needs(Permission::AudienceRead))
        .also_at(&["/v1/audiences/preview"])
        .summary("Preview a filter without saving it")
        .about(
            "Returns the number of matching contacts and some of them. The filter has the same form as in POST /v1/segments. \
                The filter is not stored.",
        )
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = PreviewSegment;
    type Output = Done<SegmentPreview>;

    fn example() -> (Value, Self::Output) {
        let input = json!({
            "projectId": "66f1a2b3d4e5f60718293a4b",
            "filters": { "status": "subscribed", "fields": [{ "key": "plan", "mode": "is", "values": ["pro"] }] },
            "limit": 1,
        });
        (input, Done(SegmentPreview { count: 318, contacts: vec![ContactView::sample()] }))
    }
}

impl Query for Preview {
    fn run(view: &View<'_>, input: PreviewSegment) -> Result<Self::Output, Failure> {
        let (tx, project) = (view.tx, input.project_id);
        projects::require(tx, view.caller.account(), project)?;
        let filter = input.filters.unwrap_or_default().check("filters")?;
        filter.check_names(tx, project, "filters")?;
        let members = filter.members(tx, project, view.now)?;
        let shown = input.limit.map_or(SHOWN, Bounded::get);
        let mut viewer = contact_records::Viewer::new(tx, view.caller, project);
        let mut contacts = Vec::new();
        // Contacts are numbered in the order of their creation, so the highest numbers belong to the newest contacts.
        for number in members.iter().rev().take(shown as usize) {
            if let Some(contact) = contact_records::by_number(tx, project, number)? {
                contacts.push(viewer.view(contact)?);
            }
        }
        Ok(Done(SegmentPreview { count: members.len(), contacts }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::TestApp;

    #[test]
    fn counts_and_shows_the_newest_and_stores_nothing() {
        let app = TestApp::new();
        for (email, plan) in [("ada@example.com", "pro"), ("bob@example.com", "free"), ("eve@example.com", "pro")] {
            app.post_in("/v1/contacts", json!({ "email": email, "customFields": { "plan": plan } })).data();
        }
        let filters = json!({ "fields": [{ "key": "plan", "mode": "is", "values": ["pro"] }] });
        let preview = app.post_in("/v1/segments/preview", json!({ "filters": filters, "limit": 1 })).data();
        assert_eq!((&preview["count"], &preview["contacts"][0]["email"]), (&json!(2), &json!("eve@example.com")));
        assert_eq!(preview["contacts"].as_array().map(Vec::len), Some(1));
        assert_eq!(app.post_in("/v1/audiences/preview", json!({})).data()["count"], 3);
        assert_eq!(app.get_in("/v1/segments").data()["total"], 0);
    }

    #[test]
    fn an_invalid_filter_is_refused_with_its_path() {
        let app = TestApp::new();
        let filters = json!({ "fields": [{ "key": "age", "mode": "number_gt", "values": ["old"] }] });
        let refused = app.post_in("/v1/segments/preview", json!({ "filters": filters }));
        assert!(refused.refusal().2.starts_with("filters.fields[0].values[0]: "), "{refused:?}");
    }
}
