//! Saves a filter as a segment.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::text::{LongText, Name};
use crate::engine::api::{Async, Context, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::filters::FilterTree;
use crate::features::projects;
use crate::features::segments::store::Segment;
use crate::features::segments::views::{SegmentView, with_count};
use crate::features::segments::{add, count_given};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Create;

pub type SegmentName = Name<{ limits::SEGMENT_NAME_CHARACTERS_MAX }>;

/// A new segment.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateSegment {
    /// The ID of the segment's project.
    pub project_id: ProjectId,
    /// The name of the segment. Unique in the project, ignoring case.
    pub name: SegmentName,
    /// A description of the segment's purpose.
    pub description: Option<LongText<{ limits::DESCRIPTION_CHARACTERS_MAX }>>,
    /// The filter that selects the segment's contacts. If absent, the segment contains every contact.
    pub filters: Option<FilterTree>,
}

impl Operation for Create {
    const SPEC: Spec = Spec::post("segments.create", "/v1/segments", needs(Permission::AudienceWrite))
        .also_at(&["/v1/audiences"])
        .summary("Create a segment")
        .about(
            "Returns 409 if a segment in the project has this name; data.id is then the ID of that segment. Text comparisons ignore \
             case. The modes `is_not` and `not_contains` also match contacts without the field. A list in a custom field matches if one \
             of its items matches. Number conditions accept numbers and numeric text; date conditions accept UTC days and times.",
        )
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::NameTaken, Code::LimitReached]);
    type Input = CreateSegment;
    type Output = Created<SegmentView>;

    fn example() -> (Value, Self::Output) {
        let segment = SegmentView::sample();
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "name": segment.name, "filters": segment.filters });
        (input, Created(segment))
    }
}

impl Async for Create {
    async fn run(context: Context, input: CreateSegment) -> Result<Self::Output, Failure> {
        let (account, project, now) = (context.caller.account(), input.project_id, context.now());
        let filters = input.filters.clone().unwrap_or_default();
        let counted = context.read(move |tx| {
            projects::require(tx, account, project)?;
            count_given(tx, project, &filters, now)
        });
        let count = counted.await?;
        let made = context.write(&Self::SPEC, move |tx| make(tx, account, input)).await?;
        Ok(Created(with_count(made, Some(count))?))
    }
}

fn make(tx: &mut WriteTx<'_>, account: AccountId, input: CreateSegment) -> Result<Segment, Failure> {
    let project = input.project_id;
    projects::require(tx, account, project)?;
    let description = input.description.filter(|text| !text.is_empty()).map(|text| text.to_string());
    add(tx, project, (input.name.to_string(), description), input.filters.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn returns_the_filter_as_given_and_the_current_count() {
        let app = TestApp::new();
        for (email, tags) in [("ada@example.com", json!(["vip"])), ("bob@example.com", json!([]))] {
            app.post_in("/v1/contacts", json!({ "email": email, "tags": tags })).data();
        }
        let tag = app.get_in("/v1/tags").data()["tags"][0]["id"].clone();
        let filters =
            json!({ "match": "any", "tags": [tag], "groups": [{ "match": "all", "excludeTags": [tag], "status": "bounced" }] });
        let answer = app.post_in("/v1/audiences", json!({ "name": "VIPs", "description": "Best", "filters": filters }));
        assert_eq!(answer.status, 201);
        let made = answer.data();
        assert_eq!((&made["filters"], &made["count"], &made["description"]), (&filters, &json!(1), &json!("Best")));
        let everyone = app.post_in("/v1/segments", json!({ "name": "Everyone" })).data();
        assert_eq!((&everyone["filters"], &everyone["count"]), (&json!({ "match": "all" }), &json!(2)));
    }

    #[test]
    fn a_repeated_request_creates_no_second_segment_and_returns_the_first_id() {
        let app = TestApp::new();
        let id = app.post_in("/v1/segments", json!({ "name": "VIPs" })).data()["id"].clone();
        let again = app.post_in("/v1/segments", json!({ "name": "vips" }));
        assert_eq!((again.refusal().0, again.refusal().1, &again.body["data"]["id"]), (409, "NAME_TAKEN", &id));
        assert_eq!(app.get_in("/v1/segments").data()["total"], 1);
        let keyed = || app.post_keyed("/v1/segments", "once", app.with_project(json!({ "name": "Readers" })));
        assert_eq!((keyed().status, keyed().status), (201, 201), "with an idempotency key, a repeat gets the first response");
        assert_eq!(app.get_in("/v1/segments").data()["total"], 2);
    }

    #[test]
    fn an_invalid_filter_is_refused_and_nothing_is_saved() {
        let app = TestApp::new();
        for (filters, path) in [
            (
                json!({ "groups": [{ "fields": [{ "key": "age", "mode": "number_gt", "values": ["old"] }] }] }),
                "filters.groups[0].fields[0].values[0]: must be a number",
            ),
            (
                json!({ "groups": [{ "fields": [{ "key": "age", "mode": "like", "values": [1] }] }] }),
                "filters.groups[0].fields[0].mode: ",
            ),
            (json!({ "groups": [{ "hue": 1 }] }), "filters.groups[0].hue: unknown field `hue`"),
            (
                json!({ "tags": ["66f1a2b3000000015c3e9d71"] }),
                "filters: the brand has no tag with the ID 66f1a2b3000000015c3e9d71",
            ),
        ] {
            let answer = app.post_in("/v1/segments", json!({ "name": "a", "filters": filters }));
            assert_eq!(answer.refusal().0, 400, "{answer:?}");
            assert!(answer.refusal().2.starts_with(path), "{answer:?}");
        }
        assert_eq!(app.get_in("/v1/segments").data()["total"], 0);
    }
}
