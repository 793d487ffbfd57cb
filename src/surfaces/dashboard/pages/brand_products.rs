//! The tab with a brand's products, which users can add, edit, order, hide and merge.

use serde::Serialize;
use serde_json::{Value, json};

use super::brand_parts::{done_here, is_shown, prepare};
use super::brands::{BrandHead, picture_path};
use crate::engine::api::page::Pagination;
use crate::features::projects;
use crate::features::projects::views::ProductView;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};

/// The number of products on a page. The number is small because each product has its own form.
const PRODUCTS_PER_PAGE: u64 = 12;

/// The API's names for the product values that users can change.
const VALUES: [&str; 7] = ["name", "url", "image", "description", "price", "priceBefore", "currency"];

#[derive(Serialize)]
pub struct ProductsPage {
    #[serde(flatten)]
    head: BrandHead,
    products: Vec<ProductTile>,
    /// The values in the form for a new product.
    new: ProductForm,
    pagination: Pagination,
}

#[derive(Serialize)]
struct ProductTile {
    id: String,
    name: String,
    price: Option<String>,
    #[serde(rename = "priceBefore")]
    price_before: Option<String>,
    currency: String,
    hidden: bool,
    /// Whether a user added the product. Only products that users added can be removed; imported products can be hidden.
    added: bool,
    /// Whether a user changed the product.
    edited: bool,
    picture: Option<String>,
    position: u64,
    is_first: bool,
    is_last: bool,
    form: ProductForm,
    /// The values before the edit, so that only changed values are saved.
    was: ProductForm,
    /// Whether the form is open, because it shows an error.
    open: bool,
}

#[derive(Default, Serialize)]
struct ProductForm {
    name: String,
    url: String,
    image: String,
    description: String,
    price: String,
    #[serde(rename = "priceBefore")]
    price_before: String,
    currency: String,
}

impl ProductForm {
    fn of(product: &ProductView) -> Self {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        Self {
            name: product.name.clone(),
            url: text(&product.url),
            image: text(&product.image),
            description: text(&product.description),
            price: text(&product.price),
            price_before: text(&product.price_before),
            currency: text(&product.currency),
        }
    }

    fn submitted(visit: &Visit) -> Self {
        let sent = |name: &str| visit.form.get(name).to_owned();
        Self {
            name: sent("name"),
            url: sent("url"),
            image: sent("image"),
            description: sent("description"),
            price: sent("price"),
            price_before: sent("priceBefore"),
            currency: sent("currency"),
        }
    }
}

page_context!(ProductsPage, "brand_products.html", {
    let tile = |hidden, added| {
        let product = ProductView { hidden, ..ProductView::sample() };
        ProductTile { added, edited: hidden, open: hidden, picture: Some("/test/picture".into()), ..tile(&product, None, 3) }
    };
    let page = |products| Self {
        head: BrandHead::sample("products", "active"),
        products,
        new: ProductForm::default(),
        pagination: Pagination::sample(),
    };
    vec![page(vec![tile(false, false), tile(true, true)]), page(Vec::new())]
});

fn tile(product: &ProductView, picture: Option<String>, total: u64) -> ProductTile {
    let position = u64::from(product.position);
    ProductTile {
        id: product.id.to_string(),
        name: product.name.clone(),
        price: product.price.clone(),
        price_before: product.price_before.clone(),
        currency: product.currency.clone().unwrap_or_default(),
        hidden: product.hidden,
        added: product.origin == "added",
        edited: product.edited,
        picture,
        position,
        is_first: position == 0,
        is_last: position + 1 >= total,
        form: ProductForm::of(product),
        was: ProductForm::of(product),
        open: false,
    }
}

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    draw(visit, None).await
}

async fn draw(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let id = visit.path_parameter("id");
    let (_, head) = prepare(visit, "products").await?;
    let input = json!({ "projectId": id, "limit": PRODUCTS_PER_PAGE, "page": visit.page() });
    let found = visit.ask::<projects::ops::products_list::ProductsList>(input).await?;
    let wrong = error.as_ref().map(|_| visit.form.get("product")).unwrap_or_default();
    let tiles = found.items.iter().map(|product| {
        let picture = product.image.as_ref().map(|url| picture_path(visit, id, url));
        let tile = tile(product, picture, found.total);
        match tile.id == wrong {
            true => ProductTile { form: ProductForm::submitted(visit), open: true, ..tile },
            false => tile,
        }
    });
    let context = ProductsPage {
        head,
        products: tiles.collect(),
        new: if visit.form.get("act") == "add" { ProductForm::submitted(visit) } else { ProductForm::default() },
        pagination: found.pagination(),
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let input = |more: Value| {
        let mut input = json!({ "projectId": visit.path_parameter("id"), "productId": form.get("product") });
        input.as_object_mut().expect("an object was just created").extend(more.as_object().cloned().unwrap_or_default());
        input
    };
    let update = async |more: Value| visit.ask::<projects::ops::products_update::ProductsUpdate>(input(more)).await.map(drop);
    let (asked, word) = match form.get("act") {
        "add" => (add(visit).await, "added"),
        "save" => (save(visit).await, "saved"),
        "hide" => (update(json!({ "hidden": true })).await, "hidden"),
        "show" => (update(json!({ "hidden": false })).await, "shown"),
        "move" => (update(json!({ "position": form.get("to").parse::<u64>().unwrap_or_default() })).await, "moved"),
        "restore" => (update(VALUES.map(|name| (name, Value::Null)).into_iter().collect()).await, "restored"),
        "remove" => (visit.ask::<projects::ops::products_remove::ProductsRemove>(input(json!({}))).await.map(drop), "removed"),
        "merge" => (merge(visit).await, "merged"),
        _ => return Err(PageError::unknown_action()),
    };
    match asked {
        Ok(()) => Ok(done_here(visit, word)),
        Err(error) if is_shown(&error) => draw(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

async fn add(visit: &Visit) -> Result<(), PageError> {
    let form = &visit.form;
    let input = json!({
        "projectId": visit.path_parameter("id"), "name": form.get("name"), "url": form.some("url"), "image": form.some("image"),
        "description": form.some("description"), "price": form.some("price"), "priceBefore": form.some("priceBefore"),
        "currency": form.some("currency"),
    });
    visit.ask::<projects::ops::products_add::ProductsAdd>(input).await.map(drop)
}

/// Saves the values that the user changed. Clearing a field removes its value; clearing the name, the URL, the image or the currency
/// restores the imported value.
async fn save(visit: &Visit) -> Result<(), PageError> {
    let (id, form) = (visit.path_parameter("id"), &visit.form);
    let mut input = json!({ "projectId": id, "productId": form.get("product") });
    for name in VALUES {
        let (sent, known) = (form.get(name).trim().replace("\r\n", "\n"), form.get(&format!("was.{name}")).replace("\r\n", "\n"));
        if sent != known {
            let restores = sent.is_empty() && matches!(name, "name" | "url" | "image" | "currency");
            input[name] = if restores { Value::Null } else { sent.into() };
        }
    }
    visit.ask::<projects::ops::products_update::ProductsUpdate>(input).await.map(drop)
}

/// Merges the selected products into the first of them.
async fn merge(visit: &Visit) -> Result<(), PageError> {
    let selected = visit.form.all("selected");
    let Some((first, others)) = selected.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Err(PageError::plain(http::StatusCode::BAD_REQUEST, "Select at least two products to merge."));
    };
    let input = json!({ "projectId": visit.path_parameter("id"), "productId": first, "productIds": others });
    visit.ask::<projects::ops::products_merge::ProductsMerge>(input).await.map(drop)
}
