//! Lists the fields of a project's contacts that can be used in merge fields and filters, with their types and how many contacts have them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use roaring::RoaringBitmap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::bounded::Bounded;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::engine::store::Read;
use crate::features::contact_records::fields::FieldValue;
use crate::features::contact_records::{self, ContactRow};
use crate::features::contacts::selection::Filters;
use crate::features::{projects, segments};
use crate::vocab::codes::Code;
use crate::vocab::contact_fields::{CONTACT_FIELDS, ContactField, FieldSource};
use crate::vocab::ids::{ProjectId, SegmentId};
use crate::vocab::permissions::Permission;
use crate::vocab::{limits, tables};

pub struct FieldCatalog;

/// Selects the contacts to examine.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListFields {
    pub project_id: ProjectId,
    /// Examines only contacts in this segment.
    pub segment_id: Option<SegmentId>,
    /// Examines only contacts that have the tag with this name.
    pub tag: Option<String>,
    /// The maximum number of contacts to examine, newest first. The default is 50,000.
    pub examine: Option<Bounded<1, { limits::FIELD_CATALOG_CONTACTS_MAX }>>,
}

/// The fields of the examined contacts.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "FieldCatalog")]
pub struct Catalog {
    /// The fields: first standard fields, then custom fields, most common first.
    pub entries: Vec<CatalogField>,
    /// The number of contacts selected.
    pub total_subscribers: u64,
    /// The number of contacts examined: the newest of the selected contacts, up to `examine`.
    pub examined: u64,
    pub computed_at: WireTime,
}

/// A contact field.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CatalogField {
    /// The name in merge fields and filters.
    pub key: String,
    /// The display name.
    pub label: String,
    #[serde(rename = "type")]
    pub kind: FieldKind,
    /// The share of the examined contacts that have the field, from 0 to 1.
    pub fill_rate: f64,
    /// A few different values of the field.
    pub sample: Vec<String>,
    /// Whether the field is a standard field rather than a custom field.
    pub auto: bool,
}

/// The type of a field's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FieldKind {
    String,
    Number,
    Boolean,
    Date,
    Url,
    /// The values are lists or objects, or there are no values.
    Unknown,
}

/// Returns the standard contact fields whose values are text.
fn own_fields() -> impl Iterator<Item = &'static ContactField> {
    CONTACT_FIELDS.iter().filter(|field| field.is_text())
}

/// The maximum number of example values per field; this many are enough to recognize what a field contains.
const SAMPLES: usize = 3;

impl Operation for FieldCatalog {
    const SPEC: Spec =
        Spec::get("contacts.field_catalog", "/v1/projects/{projectId}/field-catalog", needs(Permission::AudienceRead))
            .summary("List the contact fields")
            .about("Examines at most the newest 50,000 contacts of the project, segment or tag.")
            .blocking()
            .fails(&[Code::NotFound]);
    type Input = ListFields;
    type Output = Done<Catalog>;

    fn example() -> (Value, Self::Output) {
        let entry = |key: &str, label: &str, sample: &str, auto| CatalogField {
            key: key.into(),
            label: label.into(),
            kind: FieldKind::String,
            fill_rate: 1.0,
            sample: vec![sample.into()],
            auto,
        };
        let entries = vec![entry("email", "Email", "ada@example.com", true), entry("plan", "plan", "pro", false)];
        let catalog = Catalog { entries, total_subscribers: 1, examined: 1, computed_at: WireTime::sample() };
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b" }), Done(catalog))
    }
}

impl Query for FieldCatalog {
    fn run(view: &View<'_>, input: ListFields) -> Result<Self::Output, Failure> {
        let (tx, project) = (view.tx, input.project_id);
        projects::require(tx, view.caller.account(), project)?;
        let tags: Vec<String> = input.tag.into_iter().collect();
        let filters =
            Filters { status: None, tags: &tags, created_from: None, created_to: None, updated_from: None, updated_to: None };
        let mut wanted = filters.select(tx, project)?;
        if let Some(segment) = input.segment_id {
            wanted &= segments::require(tx, project, segment)?.filter()?.members(tx, project, view.now)?.as_ref();
        }
        let total_subscribers = wanted.len();
        // Examine the contacts with the highest numbers, because they are the newest.
        let examine = input.examine.map_or(limits::FIELD_CATALOG_CONTACTS_MAX, Bounded::get);
        let surplus = total_subscribers.saturating_sub(examine) as u32;
        if surplus > 0
            && let Some(first) = wanted.select(surplus)
        {
            wanted.remove_range(..first);
        }
        let tally = FieldCounts::of(tx, project, &wanted)?;
        let entries = tally.entries(wanted.len());
        Ok(Done(Catalog { entries, total_subscribers, examined: wanted.len(), computed_at: WireTime(view.now) }))
    }
}

/// The fields found in the examined contacts.
struct FieldCounts {
    own: Vec<(&'static ContactField, FieldUse)>,
    custom: BTreeMap<String, FieldUse>,
}

/// How many of the examined contacts have one field, with the types of its values and a few examples.
#[derive(Default)]
struct FieldUse {
    filled: u64,
    kinds: BTreeMap<FieldKind, u64>,
    sample: BTreeSet<String>,
}

impl FieldUse {
    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.add(kind_of(text), text);
        }
    }

    fn value(&mut self, value: &FieldValue) {
        match value {
            FieldValue::Null => {}
            FieldValue::Text(text) => self.text(text),
            FieldValue::Whole(_) | FieldValue::Number(_) => self.add(FieldKind::Number, &value.as_text().unwrap_or_default()),
            FieldValue::Bool(_) => self.add(FieldKind::Boolean, &value.as_text().unwrap_or_default()),
            FieldValue::List(_) | FieldValue::Map(_) => self.add(FieldKind::Unknown, ""),
        }
    }

    fn add(&mut self, kind: FieldKind, text: &str) {
        self.filled += 1;
        *self.kinds.entry(kind).or_default() += 1;
        if self.sample.len() < SAMPLES && !text.is_empty() {
            self.sample.insert(text.to_owned());
        }
    }

    fn entry(&self, key: &str, label: &str, auto: bool, of: u64) -> CatalogField {
        let kind = match self.kinds.keys().copied().collect::<Vec<_>>().as_slice() {
            [] => FieldKind::Unknown,
            [kind] => *kind,
            // A field with values of several types is a string field.
            _ => FieldKind::String,
        };
        let fill_rate = if of == 0 { 0.0 } else { (self.filled as f64 / of as f64 * 1e4).round() / 1e4 };
        CatalogField {
            key: key.into(),
            label: label.into(),
            kind,
            fill_rate,
            sample: self.sample.iter().cloned().collect(),
            auto,
        }
    }
}

impl FieldCounts {
    fn of(tx: &impl Read, project: ProjectId, wanted: &RoaringBitmap) -> Result<Self, Failure> {
        let own = own_fields().map(|field| (field, FieldUse::default())).collect();
        let mut tally = Self { own, custom: BTreeMap::new() };
        if let (Some(first), Some(last)) = (wanted.min(), wanted.max()) {
            contact_records::visit_rows(tx, project, first..=last, |number, bytes| {
                if wanted.contains(number) {
                    tally.add(&ContactRow::read(bytes).ok_or_else(|| tx.corrupt(tables::CONTACTS))?);
                }
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(tally)
    }

    fn add(&mut self, row: &ContactRow<'_>) {
        for (field, seen) in &mut self.own {
            let text = match field.place {
                FieldSource::Profile(field) => row.profile.get(field).copied(),
                _ => Some(row.email),
            };
            text.inspect(|text| seen.text(text));
        }
        for (key, value) in &row.custom_fields {
            if let Some(seen) = self.custom.get_mut(*key) {
                seen.value(value);
            } else if self.custom.len() < limits::EXPORT_CUSTOM_COLUMNS_MAX {
                self.custom.entry((*key).to_owned()).or_default().value(value);
            }
        }
    }

    fn entries(&self, of: u64) -> Vec<CatalogField> {
        let own = self.own.iter().map(|(field, seen)| seen.entry(field.key, field.label, true, of));
        let mut custom: Vec<(&String, &FieldUse)> = self.custom.iter().collect();
        custom.sort_by_key(|(_, seen)| std::cmp::Reverse(seen.filled));
        own.chain(custom.into_iter().map(|(key, seen)| seen.entry(key, key, false, of))).collect()
    }
}

fn kind_of(text: &str) -> FieldKind {
    if text.parse::<WireTime>().is_ok() {
        FieldKind::Date
    } else if text.starts_with("https://") || text.starts_with("http://") {
        FieldKind::Url
    } else {
        FieldKind::String
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn standard_fields_come_first_then_custom_fields_by_frequency() {
        let app = TestApp::new();
        for (number, fields) in [
            json!({ "plan": "pro", "age": 31, "site": "https://a.example", "since": "2026-01-31" }),
            json!({ "plan": "free", "age": 45, "vip": true }),
            json!({ "plan": "2026-01-31" }),
        ]
        .into_iter()
        .enumerate()
        {
            let contact = json!({ "email": format!("p{number}@example.com"), "firstName": "P", "tags": [format!("t{number}")], "customFields": fields });
            app.post_in("/v1/contacts", contact).data();
        }
        let catalog = app.get(&format!("/v1/projects/{}/field-catalog", app.project)).data();
        assert_eq!((&catalog["totalSubscribers"], &catalog["examined"]), (&json!(3), &json!(3)));
        let listed: Vec<(&str, &str, f64)> = catalog["entries"]
            .as_array()
            .expect("the entries are an array")
            .iter()
            .map(|entry| {
                (
                    entry["key"].as_str().expect("the value is a string"),
                    entry["type"].as_str().expect("the value is a string"),
                    entry["fillRate"].as_f64().expect("the value is a number"),
                )
            })
            .collect();
        assert_eq!(listed[..2], [("email", "string", 1.0), ("firstName", "string", 1.0)]);
        assert_eq!(
            listed[own_fields().count()..],
            [
                ("plan", "string", 1.0),
                ("age", "number", 0.6667),
                ("since", "date", 0.3333),
                ("site", "url", 0.3333),
                ("vip", "boolean", 0.3333)
            ]
        );
        let tagged = app.get(&format!("/v1/projects/{}/field-catalog?tag=t1", app.project)).data();
        assert_eq!(tagged["totalSubscribers"], 1);
    }
}
