//! Removes a product from a project.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::products_update::find;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects::products::Product;
use crate::features::projects::views::RemovalResult;
use crate::features::projects::{require, stored_products};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProductId, ProjectId};
use crate::vocab::permissions::Permission;

pub struct ProductsRemove;

/// Identifies a product of a project.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProductRef {
    pub project_id: ProjectId,
    pub product_id: ProductId,
}

impl Operation for ProductsRemove {
    const SPEC: Spec = Spec::delete(
        "projects.products_remove",
        "/v1/projects/{projectId}/products/{productId}",
        needs(Permission::ProjectWrite),
    )
    .client("projects.products.delete")
    .summary("Remove a product from a project")
    .about("An imported product is hidden instead of deleted, so that the next import does not add it again.")
    .fails(&[Code::NotFound]);
    type Input = ProductRef;
    type Output = Done<RemovalResult>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "productId": "66f1a2b3d4e5f60718293a4c" });
        (input, Done(RemovalResult { message: message("Ember bowl", false) }))
    }
}

impl Command for ProductsRemove {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: ProductRef) -> Result<Self::Output, Failure> {
        require(tx, caller.account(), input.project_id)?;
        let product = find(tx, input.project_id, input.product_id)?;
        let (name, is_imported) = (product.shown().name, product.imported.is_some());
        match is_imported {
            true => stored_products::save(tx, input.project_id, &Product { hidden: true, ..product }),
            false => stored_products::delete(tx, input.project_id, product.id),
        }
        Ok(Done(RemovalResult { message: message(&name, is_imported) }))
    }
}

fn message(name: &str, is_hidden: bool) -> String {
    match is_hidden {
        true => format!("The product {name} was imported, so it was hidden. New emails leave it out."),
        false => format!("The product {name} was removed."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn an_added_product_is_removed() {
        let app = TestApp::new();
        let path = format!("/v1/projects/{}/products", app.project);
        let made = app.post(&path, json!({ "name": "Bowl" })).data();
        let one = format!("{path}/{}", made["id"].as_str().expect("a product has an id"));
        assert_eq!(app.delete(&one).data()["message"], message("Bowl", false));
        assert_eq!((app.delete(&one).refusal().0, &app.get(&path).data()["total"]), (404, &json!(0)));
    }
}
