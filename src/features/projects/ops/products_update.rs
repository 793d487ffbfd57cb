//! Changes a product of a project.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::amount::Amount;
use crate::base::bounded::Bounded;
use crate::base::currency::Currency;
use crate::base::patch::Patch;
use crate::base::text::{LongText, Name, ShortText};
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::{Read, WriteTx};
use crate::features::projects::model::Site;
use crate::features::projects::products::{Product, ProductOverrides};
use crate::features::projects::views::ProductView;
use crate::features::projects::{require, stored_products};
use crate::vocab::codes::Code;
use crate::vocab::ids::{ProductId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct ProductsUpdate;

pub type ProductName = Name<{ limits::PRODUCT_NAME_CHARACTERS_MAX }>;
pub type ProductText = LongText<{ limits::DESCRIPTION_CHARACTERS_MAX }>;
/// A price as a string; empty to remove the price.
pub type Price = ShortText<{ limits::PRICE_CHARACTERS_MAX }>;
/// Matches a price as a decimal number in major units, or an empty string.
pub const PRICE_PATTERN: &str = r"^([0-9]{1,9}([.,][0-9]{1,3})?)?$";

/// The changes to a product. Omitted fields stay unchanged; for an imported product, `null` restores the imported value, except in `hidden`
/// and `position`, where it changes nothing. An empty string in `description`, `price` or `priceBefore` removes the value.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProductPatch {
    pub project_id: ProjectId,
    pub product_id: ProductId,
    #[serde(default)]
    pub name: Patch<ProductName>,
    /// The URL of the product's page.
    #[serde(default)]
    pub url: Patch<Site>,
    /// The URL of an image of the product.
    #[serde(default)]
    pub image: Patch<Site>,
    #[serde(default)]
    pub description: Patch<ProductText>,
    /// The current price in major units, such as `19.90`.
    #[schemars(extend("pattern" = PRICE_PATTERN))]
    #[serde(default)]
    pub price: Patch<Price>,
    /// The original price before a discount. Emails show it struck through. It must be higher than the price.
    #[schemars(extend("pattern" = PRICE_PATTERN))]
    #[serde(default)]
    pub price_before: Patch<Price>,
    /// The currency as an ISO 4217 code.
    #[schemars(extend("pattern" = "^[A-Za-z]{3}$"))]
    #[serde(default)]
    pub currency: Patch<ShortText<3>>,
    /// Whether emails leave the product out.
    pub hidden: Option<bool>,
    /// The new position among the project's products, starting at 0. The other products are renumbered.
    pub position: Option<Bounded<0, { limits::PRODUCTS_MAX as u64 }>>,
}

/// The product values that a caller can set.
pub struct ProductValues {
    pub name: Patch<ProductName>,
    pub url: Patch<Site>,
    pub image: Patch<Site>,
    pub description: Patch<ProductText>,
    pub price: Patch<Price>,
    pub price_before: Patch<Price>,
    pub currency: Patch<ShortText<3>>,
}

impl ProductValues {
    /// Checks the values and sets them.
    pub fn apply(self, kept: &mut ProductOverrides) -> Result<(), Failure> {
        self.name.map(|name| name.to_string()).apply(&mut kept.name);
        self.url.map(|url| url.as_str().to_owned()).apply(&mut kept.url);
        self.image.map(|url| url.as_str().to_owned()).apply(&mut kept.image);
        self.description.map(|text| text.to_string()).apply(&mut kept.description);
        price(self.price, "price")?.apply(&mut kept.price);
        price(self.price_before, "priceBefore")?.apply(&mut kept.price_before);
        let currency = match self.currency {
            Patch::Value(code) => {
                let code: Currency = code.parse().map_err(|error| Failure::field("currency", error))?;
                Patch::Value(code.as_str().to_owned())
            }
            Patch::Null => Patch::Null,
            Patch::Absent => Patch::Absent,
        };
        currency.apply(&mut kept.currency);
        Ok(())
    }
}

/// Checks a price and replaces a decimal comma with a point. An empty string removes the price.
fn price(patch: Patch<Price>, field: &str) -> Result<Patch<String>, Failure> {
    let patch = patch.map(|price| price.replace(',', "."));
    if let Patch::Value(price) = &patch
        && !price.is_empty()
    {
        let is_plain = price.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if !is_plain {
            return Err(Failure::field(field, "must be a number like 19.90, without a sign or a currency"));
        }
        Amount::parse(price).map_err(|error| Failure::field(field, error))?;
    }
    Ok(patch)
}

/// Returns an error if there is an original price but no lower current price.
pub fn check_prices(product: &Product) -> Result<(), Failure> {
    let shown = product.shown();
    let amount = |price: &Option<String>| price.as_deref().and_then(|price| Amount::parse(price).ok());
    match (&shown.price_before, amount(&shown.price), amount(&shown.price_before)) {
        (Some(_), None, _) if shown.price.is_none() => {
            Err(Failure::field("priceBefore", "the product has no current price; set `price`, or remove `priceBefore`"))
        }
        (_, Some(price), Some(before)) if before <= price => {
            Err(Failure::field("priceBefore", "the original price must be higher than the current price"))
        }
        _ => Ok(()),
    }
}

impl Operation for ProductsUpdate {
    const SPEC: Spec =
        Spec::patch("projects.products_update", "/v1/projects/{projectId}/products/{productId}", needs(Permission::ProjectWrite))
            .client("projects.products.update")
            .summary("Change a product")
            .about("Values that you set take precedence over imported values, even after another import.")
            .fails(&[Code::NotFound]);
    type Input = ProductPatch;
    type Output = Done<ProductView>;

    fn example() -> (Value, Self::Output) {
        let product = ProductView::sample();
        let input = json!({
            "projectId": "66f1a2b3d4e5f60718293a4b", "productId": product.id, "price": "36.00", "priceBefore": "42.00",
        });
        (input, Done(product))
    }
}

impl Command for ProductsUpdate {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: ProductPatch) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        require(tx, caller.account(), project)?;
        let mut product = find(tx, project, input.product_id)?;
        let ProductPatch { name, url, image, description, price, price_before, currency, .. } = input;
        let name_is_cleared = name == Patch::Null;
        ProductValues { name, url, image, description, price, price_before, currency }.apply(&mut product.overrides)?;
        if name_is_cleared && product.imported.is_none() {
            return Err(Failure::field("name", "this product was not imported, so its name cannot be removed; enter a name"));
        }
        product.hidden = input.hidden.unwrap_or(product.hidden);
        check_prices(&product)?;
        stored_products::save(tx, project, &product);
        if let Some(position) = input.position {
            product.position = move_to(tx, project, product.id, position.count())?;
        }
        Ok(Done(product.into()))
    }
}

/// Moves a product to a position and renumbers the others. Returns the new position.
fn move_to(tx: &mut WriteTx<'_>, project: ProjectId, id: ProductId, position: usize) -> Result<u32, Failure> {
    let (mut moved, mut others): (Vec<Product>, Vec<Product>) =
        stored_products::all(tx, project)?.into_iter().partition(|product| product.id == id);
    let position = position.min(others.len());
    others.splice(position..position, moved.drain(..));
    renumber(tx, project, others);
    Ok(position as u32)
}

/// Numbers the products in the given order, and stores those whose position changes.
pub fn renumber(tx: &mut WriteTx<'_>, project: ProjectId, products: Vec<Product>) {
    for (position, product) in products.into_iter().enumerate() {
        if product.position != position as u32 {
            stored_products::save(tx, project, &Product { position: position as u32, ..product });
        }
    }
}

/// Returns the product with this ID, or a not-found failure.
pub fn find(tx: &impl Read, project: ProjectId, id: ProductId) -> Result<Product, Failure> {
    let absent = || {
        Failure::because(Code::NotFound, "The brand has no product with this ID.")
            .see("projects.products_list", "GET /v1/projects/{projectId}/products lists the products")
    };
    stored_products::find(tx, project, id)?.ok_or_else(absent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn prices_are_checked_and_products_move() {
        let app = TestApp::new();
        let path = format!("/v1/projects/{}/products", app.project);
        let add = |name: &str| app.post(&path, json!({ "name": name, "price": "42", "currency": "eur" })).data();
        let ids: Vec<String> =
            ["Bowl", "Cup", "Jug"].map(|name| add(name)["id"].as_str().expect("a product has an id").to_owned()).into();
        let patch = |id: &str, body: Value| app.patch(&format!("{path}/{id}"), body);
        let sale = patch(&ids[0], json!({ "price": "36,50", "priceBefore": "42", "url": "https://acme.example/bowl" })).data();
        assert_eq!((&sale["price"], &sale["priceBefore"], &sale["currency"]), (&json!("36.50"), &json!("42"), &json!("EUR")));
        for (body, field) in [
            (json!({ "priceBefore": "30" }), "priceBefore"),
            (json!({ "price": "cheap" }), "price"),
            (json!({ "price": "-1" }), "price"),
            (json!({ "price": "" }), "priceBefore"),
            (json!({ "currency": "XXX" }), "currency"),
            (json!({ "name": null }), "name"),
            (json!({ "url": "acme" }), "url"),
        ] {
            let answer = patch(&ids[0], body.clone());
            let refused = answer.refusal();
            assert!(refused.0 == 400 && refused.2.starts_with(field), "{body}: {refused:?}");
        }
        patch(&ids[2], json!({ "position": 0 })).data();
        patch(&ids[1], json!({ "hidden": true })).data();
        let names = |products: &Value| -> Vec<String> {
            let all = products.as_array().expect("the value is an array").iter();
            all.map(|product| product["name"].as_str().unwrap_or_default().to_owned()).collect()
        };
        assert_eq!(names(&app.get(&path).data()["products"]), ["Jug", "Bowl", "Cup"]);
        let brand = app.get(&format!("/v1/projects/{}", app.project)).data()["brand"].clone();
        assert_eq!(names(&brand["products"]), ["Jug", "Bowl"], "emails leave hidden products out");
        assert_eq!(brand["products"][1]["priceBefore"], "42");
        let other = app.another_project();
        assert_eq!(app.patch(&format!("/v1/projects/{other}/products/{}", ids[0]), json!({})).refusal().0, 404);
    }
}
