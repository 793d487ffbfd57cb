//! Lists the topics of a project.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::text::fold;
use crate::engine::api::{Failure, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs};
use crate::features::projects;
use crate::features::topics;
use crate::features::topics::views::{TopicView, topic_view};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::permissions::Permission;

pub struct List;

/// The filters, and the page of topics to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListTopics {
    /// The ID of the project whose topics are listed.
    pub project_id: ProjectId,
    /// Whether to include inactive topics.
    #[serde(default)]
    pub include_inactive: bool,
    #[serde(default)]
    pub limit: Limit,
    /// The number of topics to skip.
    pub offset: Option<Offset>,
    /// The page number, starting at 1. Use it instead of `offset`. If set, the response's `data` is the array of topics instead of an
    /// object that contains the array. `count` is the total number of topics.
    pub page: Option<PageNumber>,
}

impl Operation for List {
    const SPEC: Spec = Spec::get("topics.list", "/v1/topics", needs(Permission::AudienceRead))
        .summary("List topics")
        .about("Topics are ordered by displayOrder, then by name.")
        .fails(&[Code::NotFound]);
    type Input = ListTopics;
    type Output = Page<TopicView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "includeInactive": true });
        (input, Page { items: vec![TopicView::sample()], total: 1, window })
    }
}

impl Query for List {
    fn run(view: &View<'_>, input: ListTopics) -> Result<Self::Output, Failure> {
        projects::require(view.tx, view.caller.account(), input.project_id)?;
        let window = Window::new(input.limit, input.offset, input.page);
        let mut wanted = topics::all(view.tx, input.project_id)?;
        wanted.retain(|topic| topic.is_active || input.include_inactive);
        wanted.sort_by_cached_key(|topic| (topic.display_order, fold(&topic.name)));
        let total = wanted.len() as u64;
        let items = window.cut(wanted).into_iter().map(|topic| topic_view(view.tx, input.project_id, topic));
        Ok(Page { items: items.collect::<Result<_, _>>()?, total, window })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    fn names(data: &Value) -> Vec<&str> {
        data.as_array()
            .expect("the topics are an array")
            .iter()
            .map(|topic| topic["name"].as_str().expect("a topic has a name"))
            .collect()
    }

    #[test]
    fn lists_by_display_order_then_name_without_inactive_topics() {
        let app = TestApp::new();
        for (name, order) in [("late", 9), ("Beta", 1), ("alpha", 1), ("off", 0)] {
            let made = app.post_in("/v1/topics", json!({ "name": name, "displayOrder": order })).data();
            if name == "off" {
                let path = format!("/v1/topics/{}", made["id"].as_str().expect("the topic has an ID"));
                app.patch_in(&path, json!({ "isActive": false })).data();
            }
        }
        assert_eq!(names(&app.get_in("/v1/topics").data()["topics"]), ["alpha", "Beta", "late"]);
        let answer = app.get_in("/v1/topics?includeInactive=true&page=1&limit=2");
        assert_eq!(answer.body["count"], 4);
        assert_eq!(names(&answer.data()), ["off", "alpha"]);
    }
}
