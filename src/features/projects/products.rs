//! The products of a brand and their rules. This module uses no store, clock or network.
//!
//! A product is a row with the values of the last import, the values that users set, and the product's position. Imports change only the
//! imported values, so imports never change the values that users set. Imported products are recognized by their URL, then by their name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::brand::BrandProduct;
use crate::base::clock::Timestamp;
use crate::base::text::fold;
use crate::engine::store::Record;
use crate::vocab::ids::{ProductId, StoreId};

/// A product as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Product {
    pub id: ProductId,
    /// The product as last imported; `None` if a user added it.
    pub imported: Option<BrandProduct>,
    pub overrides: ProductOverrides,
    /// Whether emails leave the product out.
    pub hidden: bool,
    /// The position among the brand's products, starting at 0.
    pub position: u32,
    /// The keys of the products that users merged into this one. Imports recognize those products as this one.
    pub merged: Vec<ProductKey>,
    /// The connected store that the product comes from; `None` for products from a site or a user.
    pub store: Option<StoreLink>,
}

impl Record for Product {}

/// A product's ID, state and stock in a connected store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreLink {
    pub store: StoreId,
    /// The ID of the product in the store.
    pub external_id: String,
    /// When the store last changed the product.
    pub changed_at: Option<Timestamp>,
    /// When the store last reported the product.
    pub seen_at: Timestamp,
    /// The number of units in stock; `None` if the store does not track stock.
    pub stock: Option<i64>,
    /// Whether the product is currently unavailable in the store.
    pub sold_out: bool,
    pub collections: Vec<String>,
}

/// The values of a product that users set. An empty string removes the imported value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProductOverrides {
    pub name: Option<String>,
    pub url: Option<String>,
    pub image: Option<String>,
    pub description: Option<String>,
    /// The current price in major units, such as `19.90`.
    pub price: Option<String>,
    /// The original price, before a discount.
    pub price_before: Option<String>,
    /// The currency as an ISO 4217 code.
    pub currency: Option<String>,
}

impl ProductOverrides {
    /// Replaces values of `product` with the values that users set.
    pub fn put_over(&self, product: &mut BrandProduct) {
        if let Some(name) = &self.name {
            product.name.clone_from(name);
        }
        let values = [
            (&self.url, &mut product.url),
            (&self.image, &mut product.image),
            (&self.description, &mut product.description),
            (&self.price, &mut product.price),
            (&self.price_before, &mut product.price_before),
            (&self.currency, &mut product.currency),
        ];
        for (given, own) in values {
            if let Some(given) = given {
                *own = Some(given.clone()).filter(|text| !text.is_empty());
            }
        }
    }

    /// Stores every value of `product` as a user-set value, so that imports no longer change how emails show the product.
    pub fn keep(&mut self, product: &BrandProduct) {
        let text = |value: &Option<String>| Some(value.clone().unwrap_or_default());
        *self = Self {
            name: Some(product.name.clone()),
            url: text(&product.url),
            image: text(&product.image),
            description: text(&product.description),
            price: text(&product.price),
            price_before: text(&product.price_before),
            currency: text(&product.currency),
        };
    }
}

/// The URL and the name by which imports recognize a product.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProductKey {
    url: Option<String>,
    name: String,
}

impl ProductKey {
    fn of(product: &BrandProduct) -> Self {
        Self { url: product.url.as_deref().map(plain_url), name: fold(product.name.trim()) }
    }
}

/// Normalizes a URL for comparison: removes the scheme, `www.`, the fragment and trailing slashes, and converts the rest to lowercase.
fn plain_url(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let url = url.split_once("://").map_or(url, |(_, rest)| rest);
    url.strip_prefix("www.").unwrap_or(url).trim_end_matches('/').to_lowercase()
}

impl Product {
    pub fn imported(id: ProductId, product: BrandProduct, position: u32) -> Self {
        let overrides = ProductOverrides::default();
        Self { id, imported: Some(product), overrides, hidden: false, position, merged: Vec::new(), store: None }
    }

    /// Returns whether emails can show the product: users have not hidden the product, and it is available in its store.
    pub fn is_offered(&self) -> bool {
        !self.hidden && !self.store.as_ref().is_some_and(|link| link.sold_out)
    }

    /// Returns whether an import that finds `other` recognizes it as this product: by its URL or its name, or as a product merged into this
    /// one.
    pub fn is_like(&self, other: &BrandProduct) -> bool {
        let key = ProductKey::of(other);
        let mut all = self.keys().chain(self.merged.iter().cloned());
        all.any(|own| (own.url.is_some() && own.url == key.url) || own.name == key.name)
    }

    /// Returns the product as emails show it: the imported values, replaced by the values that users set.
    pub fn shown(&self) -> BrandProduct {
        let mut product = self.imported.clone().unwrap_or_default();
        self.overrides.put_over(&mut product);
        product
    }

    /// Returns whether users have changed the product.
    pub fn is_changed(&self) -> bool {
        self.hidden || self.overrides != ProductOverrides::default() || !self.merged.is_empty()
    }

    /// Returns the keys of the product itself, excluding the keys of merged products.
    fn keys(&self) -> impl Iterator<Item = ProductKey> {
        self.imported.iter().map(ProductKey::of).chain([ProductKey::of(&self.shown())])
    }

    /// Merges another product into this one. Imports then recognize the other product as this one.
    pub fn merge(&mut self, other: Product) {
        self.merged.extend(other.keys());
        self.merged.extend(other.merged);
        self.merged.dedup();
    }
}

/// A difference between a brand's products and the products found by an import.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProductChange {
    /// The ID of the changed product; `None` if the import found a new product.
    pub id: Option<ProductId>,
    pub before: Option<BrandProduct>,
    /// The product as found; `None` if the site no longer contains the product.
    pub now: Option<BrandProduct>,
}

/// Returns the differences between the products of a brand and the products that an import found on a site. Leaves out products of a
/// connected store, because the store's data is more reliable than the site's.
pub fn changes(known: &[Product], found: &[BrandProduct]) -> Vec<ProductChange> {
    let mut partners: Vec<Option<usize>> = vec![None; found.len()];
    let is_free = |partners: &[Option<usize>], index: usize| !partners.contains(&Some(index));
    let by_url = |one: &ProductKey, other: &ProductKey| one.url.is_some() && one.url == other.url;
    let by_name = |one: &ProductKey, other: &ProductKey| one.name == other.name;
    for is_same in [by_url as fn(&ProductKey, &ProductKey) -> bool, by_name] {
        for (place, product) in found.iter().enumerate() {
            let key = ProductKey::of(product);
            let partner =
                (0..known.len()).find(|index| is_free(&partners, *index) && known[*index].keys().any(|own| is_same(&own, &key)));
            partners[place] = partners[place].or(partner);
        }
    }
    let mut changes = Vec::new();
    for (product, partner) in found.iter().zip(&partners) {
        let key = ProductKey::of(product);
        let is_same = |other: &ProductKey| by_url(other, &key) || by_name(other, &key);
        let is_merged = partner.is_none() && known.iter().any(|known| known.merged.iter().any(is_same));
        if is_merged {
            continue;
        }
        let known = partner.map(|index| &known[index]);
        if known.is_some_and(|known| known.store.is_some()) {
            continue;
        }
        let before = known.and_then(|known| known.imported.clone());
        if before.as_ref() != Some(product) {
            changes.push(ProductChange { id: known.map(|known| known.id), before, now: Some(product.clone()) });
        }
    }
    let is_gone = |index, known: &Product| is_free(&partners, index) && known.imported.is_some() && known.store.is_none();
    let gone = known.iter().enumerate().filter(|(index, known)| is_gone(*index, known));
    changes.extend(gone.map(|(_, known)| ProductChange { id: Some(known.id), before: known.imported.clone(), now: None }));
    changes
}

impl ProductChange {
    /// Returns whether the change would be visible in emails. Changes to hidden products, and to values that users have overridden, are not
    /// visible.
    pub fn is_visible(&self, known: &[Product]) -> bool {
        let Some(product) = known.iter().find(|product| Some(product.id) == self.id) else { return true };
        let changed = Product { imported: self.now.clone(), ..product.clone() };
        match &self.now {
            Some(_) => !product.hidden && changed.shown() != product.shown(),
            None => !product.is_changed(),
        }
    }

    /// Returns the product after the change; `None` if the product must be deleted. A product that users changed is kept even if the site
    /// no longer contains it.
    pub fn applied(&self, known: &[Product], new_id: ProductId) -> Option<Product> {
        let position = known.iter().map(|product| product.position + 1).max().unwrap_or_default();
        match (known.iter().find(|product| Some(product.id) == self.id), &self.now) {
            (Some(product), Some(now)) => Some(Product { imported: Some(now.clone()), ..product.clone() }),
            (Some(product), None) => product.is_changed().then(|| product.clone()),
            (None, Some(now)) => Some(Product::imported(new_id, now.clone(), position)),
            (None, None) => None,
        }
    }

    /// Returns the product after a user rejects the change: its current values are stored as user-set values. A new product is hidden.
    pub fn rejected(&self, known: &[Product], new_id: ProductId) -> Option<Product> {
        match known.iter().find(|product| Some(product.id) == self.id) {
            Some(product) => {
                let mut product = product.clone();
                product.overrides.keep(&product.shown());
                product.imported = self.now.clone().or(product.imported);
                Some(product)
            }
            None => self.applied(known, new_id).map(|product| Product { hidden: true, ..product }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, url: &str, price: &str) -> BrandProduct {
        BrandProduct { name: name.into(), url: Some(url.into()), price: Some(price.into()), ..BrandProduct::default() }
    }

    fn id(number: u8) -> ProductId {
        ProductId::from_bytes([number; 12])
    }

    fn known(number: u8, product: BrandProduct) -> Product {
        Product::imported(id(number), product, u32::from(number))
    }

    #[test]
    fn products_are_recognized_by_url_then_by_name() {
        let rows = [
            known(1, found("Bowl", "https://acme.example/bowl/", "42")),
            known(2, found("Cup", "https://acme.example/cup", "14")),
            known(3, found("Vase", "https://acme.example/vase", "60")),
        ];
        let now = [
            found("Ember Bowl", "http://www.acme.example/bowl", "36"),
            found("CUP", "https://acme.example/shop/cup", "14"),
            found("Jug", "https://acme.example/jug", "25"),
        ];
        let found: Vec<(Option<ProductId>, Option<String>)> =
            changes(&rows, &now).into_iter().map(|change| (change.id, change.now.map(|now| now.name))).collect();
        let name = |name: &str| Some(name.to_owned());
        assert_eq!(
            found,
            [(Some(id(1)), name("Ember Bowl")), (Some(id(2)), name("CUP")), (None, name("Jug")), (Some(id(3)), None)]
        );
        assert_eq!(changes(&rows, &rows.iter().map(Product::shown).collect::<Vec<_>>()), []);
    }

    #[test]
    fn values_of_users_survive_and_make_a_change_invisible() {
        let mut bowl = known(1, found("Bowl", "https://acme.example/bowl", "42"));
        bowl.overrides.price = Some("36".into());
        bowl.overrides.price_before = Some("42".into());
        let rows = [bowl];
        let change = &changes(&rows, &[found("Bowl", "https://acme.example/bowl", "45")])[0];
        assert!(!change.is_visible(&rows));
        let after = change.applied(&rows, id(9)).expect("the product stays");
        assert_eq!(
            (after.shown().price.as_deref(), after.imported.and_then(|one| one.price).as_deref()),
            (Some("36"), Some("45"))
        );
        let renamed = &changes(&rows, &[found("Big bowl", "https://acme.example/bowl", "42")])[0];
        assert!(renamed.is_visible(&rows));
        let gone = &changes(&rows, &[])[0];
        assert!(!gone.is_visible(&rows) && gone.applied(&rows, id(9)).is_some(), "a product that a user edited stays");
    }

    #[test]
    fn a_rejected_change_is_not_proposed_again() {
        let rows = [
            known(1, found("Bowl", "https://acme.example/bowl", "42")),
            known(2, found("Cup", "https://acme.example/cup", "14")),
        ];
        let now = [found("Bowl", "https://acme.example/bowl", "36"), found("Jug", "https://acme.example/jug", "25")];
        let all = changes(&rows, &now);
        let after: Vec<Product> = all.iter().filter_map(|change| change.rejected(&rows, id(9))).collect();
        assert_eq!(after.iter().map(|product| product.shown().price.unwrap_or_default()).collect::<Vec<_>>(), ["42", "25", "14"]);
        assert_eq!(after.iter().map(|product| product.hidden).collect::<Vec<_>>(), [false, true, false]);
        assert!(changes(&after, &now).iter().all(|change| !change.is_visible(&after)));
    }

    #[test]
    fn a_merged_product_does_not_come_back() {
        let mut bowl = known(1, found("Bowl", "https://acme.example/bowl", "42"));
        bowl.merge(known(2, found("Bowl – Acme", "https://acme.example/bowl-2", "42")));
        let now = [found("Bowl", "https://acme.example/bowl", "42"), found("Bowl – Acme", "https://acme.example/bowl-2", "42")];
        assert_eq!(changes(&[bowl], &now), []);
    }
}
