//! Lists the segments of a project.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Failure, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs};
use crate::features::projects;
use crate::features::segments::store;
use crate::features::segments::views::{SegmentView, segment_view, with_count};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::permissions::Permission;

pub struct List;

/// The project, the page of segments to return, and whether to count their contacts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListSegments {
    /// The ID of the project whose segments are listed.
    pub project_id: ProjectId,
    /// Whether to count the contacts of each segment. The default is true. If the project has very many contacts, the counts can take a
    /// moment.
    pub count: Option<bool>,
    #[serde(default)]
    pub limit: Limit,
    /// The number of segments to skip.
    pub offset: Option<Offset>,
    /// The number of the page to return, starting at 1. Use it instead of `offset`; if both are set, `offset` is ignored. If given, the
    /// response's `data` is the array itself, and `count` is the total.
    pub page: Option<PageNumber>,
}

impl Operation for List {
    const SPEC: Spec = Spec::get("segments.list", "/v1/segments", needs(Permission::AudienceRead))
        .also_at(&["/v1/audiences"])
        .summary("List segments")
        .about(
            "Lists segments, newest first. Unless `count` is false, each segment includes the number of contacts that currently \
             match its filter.",
        )
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = ListSegments;
    type Output = Page<SegmentView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b" });
        (input, Page { items: vec![SegmentView::sample()], total: 1, window })
    }
}

impl Query for List {
    fn run(view: &View<'_>, input: ListSegments) -> Result<Self::Output, Failure> {
        let (tx, project) = (view.tx, input.project_id);
        projects::require(tx, view.caller.account(), project)?;
        let window = Window::new(input.limit, input.offset, input.page);
        let mut wanted = store::all(tx, project)?;
        wanted.reverse();
        let total = wanted.len() as u64;
        let items = window.cut(wanted).into_iter().map(|segment| match input.count {
            Some(false) => with_count(segment, None),
            Some(true) | None => segment_view(tx, project, segment, view.now),
        });
        Ok(Page { items: items.collect::<Result<_, _>>()?, total, window })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn lists_newest_first_with_current_counts_in_both_shapes_and_under_both_names() {
        let app = TestApp::new();
        for name in ["first", "second", "third"] {
            app.post_in("/v1/segments", json!({ "name": name, "filters": { "status": "subscribed" } })).data();
            app.clock.advance_ms(1_000);
        }
        app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data();
        let data = app.get_in("/v1/segments").data();
        let of = |field: &str| {
            data["segments"].as_array().expect("the segments are an array").iter().map(|s| s[field].clone()).collect::<Vec<_>>()
        };
        assert_eq!(of("name"), ["third", "second", "first"]);
        assert_eq!(of("count"), [1, 1, 1]);
        let paged = app.get_in("/v1/audiences?page=2&limit=2");
        assert_eq!(paged.body["count"], 3);
        assert_eq!(paged.data()[0]["name"], "first");
    }
}
