//! The table of products, and all access to it.

use crate::engine::store::{Order, Read, Result, RowCheck, Table, WriteTx};
use crate::features::projects::products::Product;
use crate::vocab::ids::{ProductId, ProjectId};
use crate::vocab::tables;

const PRODUCTS: Table<(ProjectId, ProductId), Product> = Table::new(tables::PRODUCTS);

/// The check that decodes every row of this table.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(PRODUCTS)];

/// Returns all products of a project by position, including hidden ones. There are at most [`crate::vocab::limits::PRODUCTS_MAX`].
pub fn all(tx: &impl Read, project: ProjectId) -> Result<Vec<Product>> {
    let rows = tx.list(PRODUCTS, &PRODUCTS.under(&(project,)), Order::Forward, usize::MAX)?;
    let mut products: Vec<Product> = rows.into_iter().map(|(_, product)| product).collect();
    products.sort_by_key(|product| product.position);
    Ok(products)
}

pub fn find(tx: &impl Read, project: ProjectId, id: ProductId) -> Result<Option<Product>> {
    tx.get(PRODUCTS, &(project, id))
}

pub fn save(tx: &mut WriteTx<'_>, project: ProjectId, product: &Product) {
    tx.put(PRODUCTS, &(project, product.id), product);
}

pub fn delete(tx: &mut WriteTx<'_>, project: ProjectId, id: ProductId) {
    tx.delete(PRODUCTS, &(project, id));
}
