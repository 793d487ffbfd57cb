//! Changes a segment.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::create::SegmentName;
use crate::base::patch::Patch;
use crate::base::text::LongText;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::filters::FilterTree;
use crate::features::projects;
use crate::features::segments::store::{self, Segment};
use crate::features::segments::views::{SegmentView, segment_view};
use crate::features::segments::{check_name, count_given};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, ProjectId, SegmentId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct Update;

/// The changes to a segment. Omitted fields stay unchanged; `null` clears the description.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SegmentPatch {
    /// The segment's ID.
    pub id: SegmentId,
    /// The ID of the segment's project.
    pub project_id: ProjectId,
    /// The new name of the segment. Unique in the project, ignoring case.
    pub name: Option<SegmentName>,
    /// A description of the segment's purpose.
    #[serde(default)]
    pub description: Patch<LongText<{ limits::DESCRIPTION_CHARACTERS_MAX }>>,
    /// The complete new filter, which replaces the current filter.
    pub filters: Option<FilterTree>,
}

impl Operation for Update {
    const SPEC: Spec = Spec::patch("segments.update", "/v1/segments/{id}", needs(Permission::AudienceWrite))
        .also_at(&["/v1/audiences/{id}"])
        .summary("Change a segment")
        .fails(&[Code::NotFound, Code::NameTaken]);
    type Input = SegmentPatch;
    type Output = Done<SegmentView>;

    fn example() -> (Value, Self::Output) {
        let segment = SegmentView { name: "Customers".into(), ..SegmentView::sample() };
        (json!({ "id": segment.id, "projectId": "66f1a2b3d4e5f60718293a4b", "name": "Customers" }), Done(segment))
    }
}

impl Async for Update {
    async fn run(context: Context, input: SegmentPatch) -> Result<Self::Output, Failure> {
        let (account, project, now) = (context.caller.account(), input.project_id, context.now());
        let (id, given) = (input.id, input.filters.clone());
        // Count before the write, because counting can fail or take a long time. The response can then use the cached count.
        let counted = context.read(move |tx| {
            projects::require(tx, account, project)?;
            let segment = store::require(tx, project, id)?;
            match given {
                Some(filters) => count_given(tx, project, &filters, now),
                None => Ok(segment.filter()?.count(tx, project, now)?),
            }
        });
        counted.await?;
        let changed = context.write(&Self::SPEC, move |tx| change(tx, account, input)).await?;
        Ok(Done(context.read(move |tx| segment_view(tx, project, changed, now)).await?))
    }
}

fn change(tx: &mut WriteTx<'_>, account: AccountId, input: SegmentPatch) -> Result<Segment, Failure> {
    let project = input.project_id;
    projects::require(tx, account, project)?;
    let before = store::require(tx, project, input.id)?;
    let mut after = before.clone();
    if let Some(name) = input.name {
        check_name(&store::all(tx, project)?, &name, Some(before.id))?;
        after.name = name.to_string();
    }
    input.description.map(|text| text.to_string()).apply(&mut after.description);
    after.description = after.description.filter(|text| !text.is_empty());
    if let Some(filters) = input.filters {
        after.set_filters(&filters);
    }
    if after != before {
        after.updated_at = tx.now();
        store::save(tx, project, &after);
    }
    Ok(after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    fn segment(app: &TestApp, name: &str) -> String {
        let filters = json!({ "status": "bounced" });
        let made = app.post_in("/v1/segments", json!({ "name": name, "description": "Old", "filters": filters })).data();
        format!("/v1/segments/{}", made["id"].as_str().expect("the segment has an ID"))
    }

    #[test]
    fn a_new_filter_replaces_the_old_one_and_is_counted() {
        let app = TestApp::new();
        app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data();
        let path = segment(&app, "some");
        let after = app.patch_in(&path, json!({ "filters": { "match": "any", "status": "subscribed" } })).data();
        assert_eq!((&after["filters"], &after["count"]), (&json!({ "match": "any", "status": "subscribed" }), &json!(1)));
        assert_eq!(app.get_in(&path).data(), after);
    }

    #[test]
    fn only_given_fields_change_and_the_time_only_if_something_does() {
        let app = TestApp::new();
        let path = segment(&app, "some");
        let before = app.get_in(&path).data();
        app.clock.advance_ms(1_000);
        let same = json!({ "name": "some", "filters": { "match": "all", "status": "bounced" } });
        assert_eq!(app.patch_in(&path, same).data(), before);
        let after = app.patch_in(&path, json!({ "description": null })).data();
        assert_eq!((&after["description"], &after["filters"]), (&json!(null), &before["filters"]));
        assert_ne!(after["updatedAt"], before["updatedAt"]);
    }

    #[test]
    fn a_name_can_change_its_case_but_not_duplicate_another_and_an_invalid_filter_changes_nothing() {
        let app = TestApp::new();
        let (path, _) = (segment(&app, "some"), segment(&app, "other"));
        assert_eq!(app.patch_in(&path, json!({ "name": "SOME" })).data()["name"], "SOME");
        assert_eq!(app.patch_in(&path, json!({ "name": "Other" })).refusal().1, "NAME_TAKEN");
        let wrong = app.patch_in(&path, json!({ "name": "new", "filters": { "groups": [{}] } }));
        assert!(wrong.refusal().2.starts_with("filters.groups[0]: "), "{wrong:?}");
        assert_eq!(app.get_in(&path).data()["name"], "SOME");
    }

    #[test]
    fn a_segment_whose_tag_was_deleted_can_still_be_renamed() {
        let app = TestApp::new();
        let tag = app.post_in("/v1/tags", json!({ "name": "vip" })).data()["id"].clone();
        let made = app.post_in("/v1/segments", json!({ "name": "VIPs", "filters": { "tags": [tag] } })).data();
        app.delete_in(&format!("/v1/tags/{}", tag.as_str().expect("the tag has an ID"))).data();
        let path = format!("/v1/segments/{}", made["id"].as_str().expect("the segment has an ID"));
        let after = app.patch_in(&path, json!({ "name": "Empty" })).data();
        assert_eq!((&after["name"], &after["count"]), (&json!("Empty"), &json!(0)));
    }
}
