//! Lists the tags of a project.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::text::fold;
use crate::engine::api::SortOrder;
use crate::engine::api::{Failure, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs};
use crate::features::projects;
use crate::features::tags::views::{TagView, tag_view};
use crate::features::tags::{self, Tag};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::permissions::Permission;

pub struct List;

/// The filters, the order, and the page of tags to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListTags {
    /// The ID of the project whose tags are listed.
    pub project_id: ProjectId,
    /// Return only tags whose name contains this string, ignoring case.
    pub search: Option<String>,
    #[serde(default)]
    pub sort_by: TagSortBy,
    #[serde(default)]
    pub sort_order: SortOrder,
    #[serde(default)]
    pub limit: Limit,
    /// The number of tags to skip.
    pub offset: Option<Offset>,
    /// The page number, starting at 1. Use it instead of `offset`. If set, the response's `data` is the array of tags instead of an object
    /// that contains the array. `count` is the total number of tags.
    pub page: Option<PageNumber>,
}

/// The field by which tags are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TagSortBy {
    #[default]
    CreatedAt,
    /// Sort by name, ignoring case.
    Name,
}

impl Operation for List {
    const SPEC: Spec = Spec::get("tags.list", "/v1/tags", needs(Permission::AudienceRead))
        .summary("List tags")
        .about(
            "Lists tags. By default, sortBy is createdAt and sortOrder is desc, so the newest tag is first. With sortBy=name alone, names \
             are sorted from Z to A.",
        )
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = ListTags;
    type Output = Page<TagView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "search": "news", "sortBy": "name", "sortOrder": "asc" });
        (input, Page { items: vec![TagView::sample()], total: 1, window })
    }
}

impl Query for List {
    fn run(view: &View<'_>, input: ListTags) -> Result<Self::Output, Failure> {
        let (tx, project) = (view.tx, input.project_id);
        projects::require(tx, view.caller.account(), project)?;
        let window = Window::new(input.limit, input.offset, input.page);
        let mut wanted = tags::all(tx, project)?;
        if let Some(search) = input.search.as_deref().map(fold) {
            wanted.retain(|tag| fold(&tag.name).contains(search.trim()));
        }
        sort(&mut wanted, input.sort_by, input.sort_order);
        let total = wanted.len() as u64;
        let items = window.cut(wanted).into_iter().map(|tag| tag_view(tx, project, tag)).collect::<Result<_, _>>()?;
        Ok(Page { items, total, window })
    }
}

fn sort(tags: &mut [Tag], by: TagSortBy, order: SortOrder) {
    match by {
        // Order by number, because numbers are assigned in order of creation.
        TagSortBy::CreatedAt => tags.sort_by_key(Tag::number),
        TagSortBy::Name => tags.sort_by_cached_key(|tag| fold(&tag.name)),
    }
    if order == SortOrder::Desc {
        tags.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    fn names(data: &Value) -> Vec<&str> {
        data.as_array()
            .expect("the tags are an array")
            .iter()
            .map(|tag| tag["name"].as_str().expect("a tag has a name"))
            .collect()
    }

    fn app() -> TestApp {
        let app = TestApp::new();
        for name in ["beta", "Alpha", "gamma", "Zoë news"] {
            app.post_in("/v1/tags", json!({ "name": name })).data();
        }
        app
    }

    #[test]
    fn lists_newest_first_or_by_name_in_any_case() {
        let app = app();
        assert_eq!(names(&app.get_in("/v1/tags").data()["tags"]), ["Zoë news", "gamma", "Alpha", "beta"]);
        assert_eq!(
            names(&app.get_in("/v1/tags?sortBy=name&sortOrder=asc").data()["tags"]),
            ["Alpha", "beta", "gamma", "Zoë news"]
        );
    }

    #[test]
    fn finds_text_in_names_in_any_case() {
        let data = app().get_in("/v1/tags?search=ZO%C3%8B").data();
        assert_eq!(names(&data["tags"]), ["Zoë news"]);
        assert_eq!(data["total"], 1);
    }

    #[test]
    fn pages_come_in_both_shapes() {
        let app = app();
        let answer = app.get_in("/v1/tags?sortBy=name&sortOrder=asc&limit=3&page=2");
        assert_eq!(answer.body["count"], 4);
        assert_eq!(names(&answer.data()), ["Zoë news"]);
        let data = app.get_in("/v1/tags?limit=3&offset=3").data();
        assert_eq!(names(&data["tags"]), ["beta"]);
        assert_eq!(data["pagination"]["hasMore"], false);
    }
}
