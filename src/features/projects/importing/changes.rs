//! The changes that a repeated import finds. For each change, users accept the new value or keep the current value.
//!
//! A changed value is not used until a user accepts it. If a user keeps the current value, it counts as set by the user, and later imports
//! do not ask about it again. Imports also do not ask about values that users set, or about products that users hid: these are kept. If the
//! site's value differs from a value that a user set, the list shows the change with the state `Kept`. Logos, images and the knowledge base
//! are not part of the list: an import updates them directly, and users manage them on separate pages.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::clock::Timestamp;
use crate::engine::store::Record;
use crate::features::projects::brand::{Brand, BrandProduct};
use crate::features::projects::overrides::BrandOverrides;
use crate::features::projects::products::ProductChange;
use crate::vocab::ids::ProductId;

/// The changes that the last import found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImportChanges {
    pub found_at: Timestamp,
    pub changes: Vec<ImportChange>,
}

impl Record for ImportChanges {}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ImportChange {
    Field {
        field: String,
        /// The old value as JSON.
        before: String,
        /// The new value as JSON.
        now: String,
        state: ChangeState,
    },
    Product {
        /// The ID of the product or, for a new product, the ID that the product will have.
        id: ProductId,
        change: Box<ProductChange>,
    },
}

/// Whether a change waits for a user's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ChangeState {
    /// A user still has to decide whether to use the new value.
    Pending,
    /// A user set the current value, so it stays.
    Kept,
}

/// A brand field that imports can change.
struct Field {
    name: &'static str,
    label: &'static str,
    /// The JSON pointer to the value in a [`Brand`].
    brand: &'static str,
    /// The JSON pointer to the value in [`BrandOverrides`].
    own: &'static str,
}

const fn field(name: &'static str, label: &'static str, brand: &'static str, own: &'static str) -> Field {
    Field { name, label, brand, own }
}

/// TABLE: the fields whose changes users decide on.
const FIELDS: &[Field] = &[
    field("name", "Name", "/name", "/name"),
    field("tagline", "Tagline", "/tagline", "/tagline"),
    field("description", "Description", "/description", "/description"),
    field("company", "Company", "/contact/company", "/company"),
    field("address", "Postal address", "/contact/address", "/address"),
    field("email", "Email", "/contact/email", "/email"),
    field("phone", "Phone", "/contact/phone", "/phone"),
    field("social", "Social profiles", "/social", "/social"),
    field("voice.person", "Point of view", "/voice/person", "/voice/person"),
    field("voice.formality", "Formality", "/voice/formality", "/voice/formality"),
    field("voice.words", "Words to use", "/voice/words", "/voice/words"),
    field("palette.primary", "Primary color", "/palette/primary", "/palette/primary"),
    field("palette.accent", "Accent color", "/palette/accent", "/palette/accent"),
    field("palette.button", "Button color", "/palette/button", "/palette/button"),
    field("palette.buttonText", "Button text color", "/palette/buttonText", "/palette/buttonText"),
    field("palette.background", "Background color", "/palette/background", "/palette/background"),
    field("palette.text", "Text color", "/palette/text", "/palette/text"),
    field("fonts.heading", "Heading font", "/fonts/heading", "/fonts/heading"),
    field("fonts.body", "Text font", "/fonts/body", "/fonts/body"),
    field("cornerRadius", "Corner radius", "/cornerRadius", "/cornerRadius"),
];

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("a brand can be written as JSON")
}

fn at<'v>(value: &'v Value, pointer: &str) -> &'v Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

fn put(value: &mut Value, pointer: &str, new: Value) {
    if let Some(place) = value.pointer_mut(pointer) {
        *place = new;
    }
}

/// Compares the stored brand with an imported one. Returns the brand to store, in which fields with pending changes keep their old values,
/// and the changes.
pub fn compare(old: &Brand, new: Brand, overrides: &BrandOverrides) -> (Brand, Vec<ImportChange>) {
    let (before, mut now, own) = (json(old), json(&new), json(overrides));
    let mut changes = Vec::new();
    for field in FIELDS {
        let (old, new) = (at(&before, field.brand).clone(), at(&now, field.brand).clone());
        if old == new {
            continue;
        }
        let is_own = !at(&own, field.own).is_null();
        changes.push(ImportChange::Field {
            field: field.name.to_owned(),
            before: if is_own { at(&own, field.own).to_string() } else { old.to_string() },
            now: new.to_string(),
            state: if is_own { ChangeState::Kept } else { ChangeState::Pending },
        });
        if !is_own {
            put(&mut now, field.brand, old);
        }
    }
    (serde_json::from_value(now).unwrap_or(new), changes)
}

/// Sets the field `name` of the imported brand to the new value `now`, which is JSON.
pub fn accept(brand: Brand, name: &str, now: &str) -> Brand {
    let mut value = json(&brand);
    if let (Some(field), Ok(now)) = (find(name), serde_json::from_str(now)) {
        put(&mut value, field.brand, now);
    }
    serde_json::from_value(value).unwrap_or(brand)
}

/// Removes a field's value from the overrides. A user may have set the value after the import, but has now chosen the site's value.
pub fn forget(overrides: BrandOverrides, name: &str) -> BrandOverrides {
    let mut value = json(&overrides);
    if let Some(field) = find(name) {
        put(&mut value, field.own, Value::Null);
    }
    serde_json::from_value(value).unwrap_or(overrides)
}

/// Adds the current value of a field to the overrides, as if a user had set it. Missing text becomes an empty string, so that imports do
/// not fill it in. If a user has set a value since the import, that value already is the current value and stays.
pub fn keep(overrides: BrandOverrides, name: &str, before: &str, now: &str) -> BrandOverrides {
    let mut value = json(&overrides);
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    if let Some(field) = find(name).filter(|field| at(&value, field.own).is_null()) {
        let is_removable =
            !["palette.", "fonts.", "voice.person", "voice.formality", "cornerRadius"].iter().any(|kind| name.starts_with(kind));
        let kept = match (parsed(before), parsed(now)) {
            (Value::Null, Value::String(_)) if is_removable => "".into(),
            (before, _) => before,
        };
        put(&mut value, field.own, kept);
    }
    serde_json::from_value(value).unwrap_or(overrides)
}

fn find(name: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|field| field.name == name)
}

impl ImportChange {
    /// Returns the change's ID in the API: the field name, or `product.` followed by the product ID.
    pub fn id(&self) -> String {
        match self {
            Self::Field { field, .. } => field.clone(),
            Self::Product { id, .. } => format!("product.{id}"),
        }
    }

    pub fn state(&self) -> ChangeState {
        match self {
            Self::Field { state, .. } => *state,
            Self::Product { .. } => ChangeState::Pending,
        }
    }

    /// Returns what changed, in words for users.
    pub fn label(&self) -> String {
        match self {
            Self::Field { field, .. } => find(field).map_or(field.as_str(), |field| field.label).to_owned(),
            Self::Product { change, .. } => {
                let product = change.before.as_ref().or(change.now.as_ref());
                let what = match (&change.before, &change.now) {
                    (None, _) => "New product",
                    (_, None) => "Removed product",
                    (Some(_), Some(_)) => "Product",
                };
                format!("{what}: {}", product.map_or("", |product| &product.name))
            }
        }
    }

    /// Returns the old and the new value as text for users.
    pub fn values(&self) -> (Option<String>, Option<String>) {
        match self {
            Self::Field { before, now, .. } => (shown(before), shown(now)),
            Self::Product { change, .. } => (change.before.as_ref().map(described), change.now.as_ref().map(described)),
        }
    }
}

/// Returns a JSON value as text for users; `None` if the value is empty.
fn shown(json: &str) -> Option<String> {
    let one = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Object(link) => link.get("url").and_then(Value::as_str).unwrap_or_default().to_owned(),
        other => other.to_string(),
    };
    let text = match serde_json::from_str(json).ok()? {
        Value::Null => return None,
        Value::Array(items) => items.iter().map(one).collect::<Vec<_>>().join(", "),
        value => one(&value),
    };
    Some(text).filter(|text| !text.is_empty())
}

fn described(product: &BrandProduct) -> String {
    let currency = product.currency.as_deref().unwrap_or_default();
    let price = product.price.as_ref().map(|price| format!("{price} {currency}").trim().to_owned());
    let before = product.price_before.as_ref().map(|before| format!("before {before} {currency}").trim().to_owned());
    let parts =
        [Some(product.name.clone()), price, before, product.url.clone(), product.image.clone(), product.description.clone()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::projects::brand::BrandPalette;

    fn brand(tagline: Option<&str>, primary: &str) -> Brand {
        let palette = BrandPalette { primary: Some(primary.into()), ..BrandPalette::default() };
        Brand { tagline: tagline.map(str::to_owned), palette, ..Brand::default() }
    }

    #[test]
    fn changed_values_wait_and_values_of_users_stay() {
        let own = BrandOverrides { tagline: Some("Ours".into()), ..BrandOverrides::default() };
        let (stored, changes) = compare(&brand(Some("Old"), "#111111"), brand(Some("New"), "#222222"), &own);
        assert_eq!((stored.tagline.as_deref(), stored.palette.primary.as_deref()), (Some("New"), Some("#111111")));
        let shown: Vec<_> = changes.iter().map(|change| (change.id(), change.values(), change.state())).collect();
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            shown,
            [
                ("tagline".to_owned(), (text("Ours"), text("New")), ChangeState::Kept),
                ("palette.primary".to_owned(), (text("#111111"), text("#222222")), ChangeState::Pending),
            ]
        );
        let accepted = accept(stored.clone(), "palette.primary", "\"#222222\"");
        assert_eq!(accepted.palette.primary.as_deref(), Some("#222222"));
        let kept = keep(own, "palette.primary", "\"#111111\"", "\"#222222\"");
        assert_eq!((kept.palette.primary.as_deref(), kept.tagline.as_deref()), (Some("#111111"), Some("Ours")));
        let (_, again) = compare(&stored, brand(Some("New"), "#222222"), &kept);
        assert_eq!(
            again.iter().map(ImportChange::state).collect::<Vec<_>>(),
            [ChangeState::Kept],
            "a kept value is not asked about"
        );
    }

    /// Regression test: if a user set a value after the import, keeping the current value restored the earlier value, and accepting the
    /// site's value had no effect.
    #[test]
    fn a_value_that_a_user_set_after_the_import_is_the_current_value() {
        let own = BrandOverrides { tagline: Some("Ours".into()), phone: Some("112".into()), ..BrandOverrides::default() };
        let kept = keep(own.clone(), "tagline", "\"Old\"", "\"New\"");
        assert_eq!(kept, own);
        let forgotten = forget(own, "tagline");
        assert_eq!((forgotten.tagline, forgotten.phone.as_deref()), (None, Some("112")));
    }

    #[test]
    fn a_value_that_was_missing_can_stay_missing() {
        let (stored, changes) = compare(&brand(None, "#111111"), brand(Some("New"), "#111111"), &BrandOverrides::default());
        assert_eq!((stored.tagline, changes.len()), (None, 1));
        let kept = keep(BrandOverrides::default(), "tagline", "null", "\"New\"");
        assert_eq!(kept.tagline.as_deref(), Some(""));
    }
}
