//! Lists and searches contacts.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::SortOrder;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Failure, Freshness, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs};
use crate::features::contact_records::{self, ContactView, Viewer};
use crate::features::contacts::selection::{Filters, SortBy, page};
use crate::features::{projects, segments};
use crate::vocab::codes::Code;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{ProjectId, SegmentId};
use crate::vocab::permissions::Permission;

pub struct List;

/// The filters, the order, and the page of contacts to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListContacts {
    /// The project whose contacts are listed.
    pub project_id: ProjectId,
    /// Words to find in a contact's email, names, company, phone, city, tags and custom fields. Matches the beginnings of words and
    /// tolerates small typos.
    pub search: Option<String>,
    /// If true, a search waits until the search index contains every write that was completed before this request; if this takes more than
    /// 5 seconds, the response is 503. If false, a search waits up to 200 ms for the writes that the caller made in the last second. Has no
    /// effect without `search`.
    #[serde(default)]
    pub refresh: bool,
    /// Returns only contacts with this status.
    pub status: Option<Status>,
    /// Returns only contacts that have at least one of these tags. Give tag names separated by commas, or as a JSON array if a name
    /// contains a comma.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Returns only contacts in this segment.
    pub segment_id: Option<SegmentId>,
    /// Returns only contacts created at or after this time.
    pub created_after: Option<WireTime>,
    /// Returns only contacts created before this time.
    pub created_before: Option<WireTime>,
    /// Returns only contacts last changed at or after this time.
    pub updated_after: Option<WireTime>,
    /// Returns only contacts last changed before this time.
    pub updated_before: Option<WireTime>,
    /// The field to sort by. If absent, a search returns the best match first.
    pub sort_by: Option<SortBy>,
    #[serde(default)]
    pub sort_order: SortOrder,
    #[serde(default)]
    pub limit: Limit,
    /// The number of contacts to skip.
    pub offset: Option<Offset>,
    /// The number of the page to return, starting at 1. Use it instead of `offset`, which is ignored if both are set. If given, the
    /// response's `data` is the array of contacts itself, and `count` is the total number of matching contacts.
    pub page: Option<PageNumber>,
}

impl Operation for List {
    const SPEC: Spec = Spec::get("contacts.list", "/v1/contacts", needs(Permission::AudienceRead))
        .also_at(&["/v1/subscribers"])
        .summary("List and search contacts")
        .about(
            "All filters must match. Lists the newest first, unless a search ranks the contacts or sortBy is set. A search right after a \
             write by the same key or session usually finds what was written; add refresh=true to find all earlier writes.",
        )
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = ListContacts;
    type Output = Page<ContactView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "search": "ada", "status": "subscribed" });
        (input, Page { items: vec![ContactView::sample()], total: 1, window })
    }
}

impl Query for List {
    fn run(view: &View<'_>, input: ListContacts) -> Result<Self::Output, Failure> {
        let (tx, project) = (view.tx, input.project_id);
        projects::require(tx, view.caller.account(), project)?;
        let window = Window::new(input.limit, input.offset, input.page);
        let time = |moment: Option<WireTime>| moment.map(|WireTime(at)| at);
        let filters = Filters {
            status: input.status,
            tags: &input.tags,
            created_from: time(input.created_after),
            created_to: time(input.created_before),
            updated_from: time(input.updated_after),
            updated_to: time(input.updated_before),
        };
        let mut wanted = filters.select(tx, project)?;
        if let Some(segment) = input.segment_id {
            wanted &= segments::require(tx, project, segment)?.filter()?.members(tx, project, view.now)?.as_ref();
        }
        let search = input.search.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let (numbers, total) = match (search, input.sort_by) {
            (Some(text), None) => {
                let hits = view.search.search(&project.0, text, &wanted, window.offset, window.limit);
                let hits = hits.map_err(Failure::internal)?;
                (hits.numbers, hits.total)
            }
            (text, sort_by) => {
                if let Some(text) = text {
                    wanted &= view.search.matching(&project.0, text).map_err(Failure::internal)?;
                }
                let order = (sort_by.unwrap_or_default(), input.sort_order);
                (page(tx, project, &wanted, order, window)?, wanted.len())
            }
        };
        let mut viewer = Viewer::new(tx, view.caller, project);
        let mut items = Vec::with_capacity(numbers.len());
        for number in numbers {
            // Every number is also in `wanted`, so its contact exists in this snapshot.
            if let Some(contact) = contact_records::by_number(tx, project, number)? {
                items.push(viewer.view(contact)?);
            }
        }
        Ok(Page { items, total, window })
    }

    fn freshness(input: &ListContacts) -> Freshness {
        match (&input.search, input.refresh) {
            (None, _) => Freshness::Indexed,
            (Some(_), false) => Freshness::OwnWrites,
            (Some(_), true) => Freshness::AllWrites,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use crate::features::contacts::indexing;
    use crate::testing::TestApp;

    /// Regression test: a search right after a write did not find the contact, because the index lagged by a moment.
    #[test]
    fn a_search_right_after_a_write_waits_until_the_index_has_it() {
        let app = TestApp::new();
        let total = |email: &str| app.get_in(&format!("/v1/contacts?search={email}")).data()["total"].as_u64();
        // Try several times, because on a busy machine indexing may take longer than the search waits.
        let found = (0..60).any(|number| {
            let email = format!("p{number}@example.com");
            app.post_in("/v1/contacts", json!({ "email": email })).data();
            let data = app.data().clone();
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    std::thread::sleep(Duration::from_millis(30));
                    while indexing::step(&data).expect("the indexing step succeeds") {}
                });
                total(&email) == Some(1)
            })
        });
        assert!(found, "no search waited for the index");

        app.post_in("/v1/contacts", json!({ "email": "late@example.com" })).data();
        assert_eq!(total("late@example.com"), Some(0), "a search returns even if the index does not catch up");
    }
}
