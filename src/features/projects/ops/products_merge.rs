//! Merges duplicate products of a project.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::products_update::{find, renumber};
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects::views::ProductView;
use crate::features::projects::{require, stored_products};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProductId, ProjectId};
use crate::vocab::limits::PRODUCTS_MERGED_MAX;
use crate::vocab::permissions::Permission;

pub struct ProductsMerge;

/// The products to merge.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MergeProducts {
    pub project_id: ProjectId,
    /// The product that remains. Its values do not change.
    pub product_id: ProductId,
    /// The products to merge into `productId`.
    #[schemars(length(min = 1, max = PRODUCTS_MERGED_MAX))]
    pub product_ids: Vec<ProductId>,
}

impl Operation for ProductsMerge {
    const SPEC: Spec = Spec::post(
        "projects.products_merge",
        "/v1/projects/{projectId}/products/{productId}/merge",
        needs(Permission::ProjectWrite),
    )
    .client("projects.products.merge")
    .summary("Merge products")
    .about("The other products are deleted. Imports then recognize their URLs and names as the product that stays.")
    .replay(Replay::Keyed)
    .fails(&[Code::NotFound]);
    type Input = MergeProducts;
    type Output = Done<ProductView>;

    fn example() -> (Value, Self::Output) {
        let product = ProductView::sample();
        let input = json!({
            "projectId": "66f1a2b3d4e5f60718293a4b", "productId": product.id, "productIds": ["66f1a2b3d4e5f60718293a4d"],
        });
        (input, Done(product))
    }
}

impl Command for ProductsMerge {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: MergeProducts) -> Result<Self::Output, Failure> {
        let (project, max) = (input.project_id, PRODUCTS_MERGED_MAX);
        require(tx, caller.account(), project)?;
        if !(1..=max).contains(&input.product_ids.len()) {
            let found = input.product_ids.len();
            return Err(Failure::field("productIds", format_args!("list 1 to {max} products; this list has {found}")));
        }
        let mut product = find(tx, project, input.product_id)?;
        for (index, &id) in input.product_ids.iter().enumerate() {
            if input.product_ids[..index].contains(&id) {
                return Err(Failure::field(&format!("productIds[{index}]"), "this product is listed twice; list it once"));
            }
            if id == product.id {
                return Err(Failure::field(
                    &format!("productIds[{index}]"),
                    "a product cannot be merged into itself; remove its ID",
                ));
            }
            let other = find(tx, project, id).map_err(|failure| failure.in_field(&format!("productIds[{index}]")))?;
            stored_products::delete(tx, project, other.id);
            product.merge(other);
        }
        stored_products::save(tx, project, &product);
        let all = stored_products::all(tx, project)?;
        renumber(tx, project, all);
        Ok(Done(find(tx, project, product.id)?.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn the_other_products_are_gone_and_repeats_are_rejected() {
        let app = TestApp::new();
        let path = format!("/v1/projects/{}/products", app.project);
        let add = |name: &str| app.post(&path, json!({ "name": name })).data()["id"].clone();
        let (bowl, other) = (add("Bowl"), add("Bowl – Acme"));
        let merge = |ids: Value| {
            let id = bowl.as_str().expect("a product has an id");
            app.post(&format!("{path}/{id}/merge"), json!({ "productIds": ids }))
        };
        assert_eq!(merge(json!([other])).data()["name"], "Bowl");
        assert_eq!(app.get(&path).data()["total"], 1);
        assert_eq!(
            (merge(json!([other])).refusal().0, merge(json!([])).refusal().0, merge(json!([bowl])).refusal().0),
            (404, 400, 400)
        );
    }
}
