//! Adds a product to a project.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::products_update::{PRICE_PATTERN, Price, ProductName, ProductText, ProductValues, check_prices};
use crate::base::patch::Patch;
use crate::base::text::ShortText;
use crate::engine::api::{Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects::model::Site;
use crate::features::projects::products::{Product, ProductOverrides};
use crate::features::projects::views::ProductView;
use crate::features::projects::{require, stored_products};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProductId, ProjectId};
use crate::vocab::limits::PRODUCTS_MAX;
use crate::vocab::permissions::Permission;

pub struct ProductsAdd;

/// A product to add.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewProduct {
    pub project_id: ProjectId,
    pub name: ProductName,
    /// The URL of the product's page.
    pub url: Option<Site>,
    /// The URL of an image of the product.
    pub image: Option<Site>,
    pub description: Option<ProductText>,
    /// The current price in major units, such as `19.90`.
    #[schemars(extend("pattern" = PRICE_PATTERN))]
    pub price: Option<Price>,
    /// The original price before a discount. Emails show it struck through. It must be higher than the price.
    #[schemars(extend("pattern" = PRICE_PATTERN))]
    pub price_before: Option<Price>,
    /// The currency as an ISO 4217 code.
    #[schemars(extend("pattern" = "^[A-Za-z]{3}$"))]
    pub currency: Option<ShortText<3>>,
}

impl Operation for ProductsAdd {
    const SPEC: Spec = Spec::post("projects.products_add", "/v1/projects/{projectId}/products", needs(Permission::ProjectWrite)).client("projects.products.create")
        .summary("Add a product to a project")
        .about("The product is added after the project's other products. Imports do not change it unless they find a product with its URL or name.")
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::LimitReached]);
    type Input = NewProduct;
    type Output = Created<ProductView>;

    fn example() -> (Value, Self::Output) {
        let input = json!({
            "projectId": "66f1a2b3d4e5f60718293a4b", "name": "Ember bowl", "url": "https://www.acme.example/bowl", "price": "42.00",
            "currency": "GBP",
        });
        (input, Created(ProductView::sample()))
    }
}

impl Command for ProductsAdd {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: NewProduct) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        require(tx, caller.account(), project)?;
        let all = stored_products::all(tx, project)?;
        if all.len() >= PRODUCTS_MAX {
            let detail = format!("A brand can have at most {PRODUCTS_MAX} products. Remove a product first.");
            return Err(Failure::because(Code::LimitReached, detail));
        }
        let mut overrides = ProductOverrides::default();
        let NewProduct { name, url, image, description, price, price_before, currency, .. } = input;
        let values = ProductValues {
            name: Patch::Value(name),
            url: given(url),
            image: given(image),
            description: given(description),
            price: given(price),
            price_before: given(price_before),
            currency: given(currency),
        };
        values.apply(&mut overrides)?;
        let product = Product {
            id: ProductId::make(tx.now(), tx.random()),
            imported: None,
            overrides,
            hidden: false,
            position: all.iter().map(|product| product.position + 1).max().unwrap_or_default(),
            merged: Vec::new(),
            store: None,
        };
        check_prices(&product)?;
        stored_products::save(tx, project, &product);
        Ok(Created(product.into()))
    }
}

fn given<T>(value: Option<T>) -> Patch<T> {
    value.map_or(Patch::Absent, Patch::Value)
}
