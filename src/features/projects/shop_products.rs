//! The products that a connected store reports. They become products of the brand under the same rules as products from a site: values that
//! users set are kept, and a product whose URL or name is already known is not added again.

use super::brand::BrandProduct;
use super::products::{Product, StoreLink};
use super::stored_products;
use crate::base::clock::Timestamp;
use crate::engine::store::{Read, Result, WriteTx};
use crate::vocab::ids::{ProductId, ProjectId, StoreId};
use crate::vocab::limits;

/// A product as a store reports it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoreProduct {
    /// The ID of the product in the store.
    pub external_id: String,
    pub product: BrandProduct,
    /// When the store last changed the product.
    pub changed_at: Option<Timestamp>,
    /// The number of units in stock; `None` if the store does not count them.
    pub stock: Option<i64>,
    pub sold_out: bool,
    /// Whether it is unknown if the store counts the product's units, because the report does not state this. If so, `stock` and `sold_out`
    /// apply only if the store counts them.
    pub stock_if_counted: bool,
    /// The names of the product's collections; `None` if this report does not contain them.
    pub collections: Option<Vec<String>>,
}

/// Stores products that a store reports. Returns how many were left out because the brand has the maximum number of products. If a report
/// is older than the stored report on the same product, only the time of the last report changes.
pub fn put(tx: &mut WriteTx<'_>, project: ProjectId, store: StoreId, reported: Vec<StoreProduct>) -> Result<u64> {
    let mut known = stored_products::all(tx, project)?;
    let mut left_out = 0;
    for reported in reported {
        let place = place_of(&known, store, &reported);
        let before = place.map(|place| &known[place]);
        let link = before.and_then(|before| before.store.as_ref());
        let seen_at = tx.now();
        if let (Some(before), Some(link)) = (before, link)
            && link.changed_at > reported.changed_at
        {
            let link = StoreLink { seen_at, ..link.clone() };
            stored_products::save(tx, project, &Product { store: Some(link), ..before.clone() });
            continue;
        }
        let StoreProduct { external_id, product, changed_at, stock, sold_out, stock_if_counted, collections } = reported;
        let (stock, sold_out) = match link {
            // The last import found that the store does not count the product's units.
            Some(link) if stock_if_counted && link.stock.is_none() => (None, link.sold_out),
            // A new product with no units in stock is treated as available until the next import finds that its units are counted.
            None if stock_if_counted && stock <= Some(0) => (None, false),
            _ => (stock, sold_out),
        };
        let mut collections = collections.unwrap_or_else(|| link.map(|link| link.collections.clone()).unwrap_or_default());
        collections.truncate(limits::STORE_COLLECTIONS_PER_PRODUCT_MAX);
        let link = StoreLink { store, external_id, changed_at, seen_at, stock, sold_out, collections };
        let after = match before {
            Some(before) => Product { imported: Some(product), store: Some(link), ..before.clone() },
            None if known.len() >= limits::PRODUCTS_MAX => {
                left_out += 1;
                continue;
            }
            None => {
                let position = known.iter().map(|product| product.position + 1).max().unwrap_or_default();
                let id = ProductId::make(tx.now(), tx.random());
                Product { store: Some(link), ..Product::imported(id, product, position) }
            }
        };
        stored_products::save(tx, project, &after);
        match place {
            Some(place) => known[place] = after,
            None => known.push(after),
        }
    }
    Ok(left_out)
}

/// Returns the index of the product that a report is about: the product linked to the reported ID or, if there is none, a product
/// without a store that has the same URL or name.
fn place_of(known: &[Product], store: StoreId, reported: &StoreProduct) -> Option<usize> {
    let is_linked = |product: &Product| product.store.as_ref().is_some_and(|link| is_of(link, store, &reported.external_id));
    let is_same = |product: &Product| product.store.is_none() && product.is_like(&reported.product);
    known.iter().position(is_linked).or_else(|| known.iter().position(is_same))
}

fn is_of(link: &StoreLink, store: StoreId, external_id: &str) -> bool {
    link.store == store && link.external_id == external_id
}

/// Removes the product with this ID in a store.
pub fn remove(tx: &mut WriteTx<'_>, project: ProjectId, store: StoreId, external_id: &str) -> Result<()> {
    remove_where(tx, project, |link| is_of(link, store, external_id))
}

/// Removes a store's products that the store has not reported since `since`.
pub fn remove_unseen(tx: &mut WriteTx<'_>, project: ProjectId, store: StoreId, since: Timestamp) -> Result<()> {
    remove_where(tx, project, |link| link.store == store && link.seen_at < since)
}

pub fn remove_all(tx: &mut WriteTx<'_>, project: ProjectId, store: StoreId) -> Result<()> {
    remove_where(tx, project, |link| link.store == store)
}

/// Keeps a disconnected store's products as products of the brand.
pub fn keep_all(tx: &mut WriteTx<'_>, project: ProjectId, store: StoreId) -> Result<()> {
    for product in of(tx, project, |link| link.store == store)? {
        stored_products::save(tx, project, &Product { store: None, ..product });
    }
    Ok(())
}

pub fn count(tx: &impl Read, project: ProjectId, store: StoreId) -> Result<u64> {
    Ok(of(tx, project, |link| link.store == store)?.len() as u64)
}

/// Removes a store's products. Keeps products that users changed, without their link to the store.
fn remove_where(tx: &mut WriteTx<'_>, project: ProjectId, is_meant: impl Fn(&StoreLink) -> bool) -> Result<()> {
    for product in of(tx, project, is_meant)? {
        match product.is_changed() {
            true => stored_products::save(tx, project, &Product { store: None, ..product }),
            false => stored_products::delete(tx, project, product.id),
        }
    }
    Ok(())
}

fn of(tx: &impl Read, project: ProjectId, is_meant: impl Fn(&StoreLink) -> bool) -> Result<Vec<Product>> {
    let all = stored_products::all(tx, project)?;
    Ok(all.into_iter().filter(|product| product.store.as_ref().is_some_and(&is_meant)).collect())
}
