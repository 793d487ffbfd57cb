//! Lists the products of a project.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engine::api::{Failure, Limit, Offset, Operation, Page, PageNumber, Query, Spec, View, Window, needs_one};
use crate::features::projects::views::ProductView;
use crate::features::projects::{READERS, require, stored_products};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;

pub struct ProductsList;

/// The page of products to return.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListProducts {
    pub project_id: ProjectId,
    #[serde(default)]
    pub limit: Limit,
    /// The number of products to skip.
    pub offset: Option<Offset>,
    /// The number of the page to return, starting at 1. Use it instead of `offset`; if both are set, `offset` is ignored.
    pub page: Option<PageNumber>,
}

impl Operation for ProductsList {
    const SPEC: Spec = Spec::get("projects.products_list", "/v1/projects/{projectId}/products", needs_one(READERS))
        .client("projects.products.list")
        .summary("List a project's products")
        .about("Lists the products by position, including hidden products, which new emails leave out.")
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = ListProducts;
    type Output = Page<ProductView>;

    fn example() -> (Value, Self::Output) {
        let window = Window { limit: 20, offset: 0, paged: false };
        let page = Page { items: vec![ProductView::sample()], total: 1, window };
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "limit": 20 }), page)
    }
}

impl Query for ProductsList {
    fn run(view: &View<'_>, input: ListProducts) -> Result<Self::Output, Failure> {
        require(view.tx, view.caller.account(), input.project_id)?;
        let window = Window::new(input.limit, input.offset, input.page);
        let all = stored_products::all(view.tx, input.project_id)?;
        let total = all.len() as u64;
        Ok(Page { items: window.cut(all).into_iter().map(Into::into).collect(), total, window })
    }
}
