//! Pages of lists. `data` has one of the two shapes that clients expect: an object with the collection, or only the array. In both cases,
//! the response has a top-level `count`.

use http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::response::{Encoded, Envelope, SuccessResponse, success, success_schema};
use crate::base::bounded::Bounded;
use crate::vocab::limits;

/// The sort direction of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SortOrder {
    Asc,
    #[default]
    Desc,
}

/// The parameter `limit`: the maximum number of items, from 1 to 100. The default is 20.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(pub u64);

impl Default for Limit {
    fn default() -> Self {
        Self(limits::PAGE_LIMIT_DEFAULT)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = u64::deserialize(deserializer)?;
        let max = limits::PAGE_LIMIT_MAX;
        if !(1..=max).contains(&value) {
            return Err(D::Error::custom(format_args!("must be a number from 1 to {max}, not {value}")));
        }
        Ok(Self(value))
    }
}

impl JsonSchema for Limit {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Limit".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": limits::PAGE_LIMIT_MAX, "default": limits::PAGE_LIMIT_DEFAULT })
    }
}

/// The parameter `offset`: the number of items to skip.
pub type Offset = Bounded<0, { limits::PAGE_OFFSET_MAX }>;
/// The parameter `page`: the page number, starting at 1. A page number overrides `offset`.
pub type PageNumber = Bounded<1, { limits::PAGE_OFFSET_MAX / limits::PAGE_LIMIT_MAX }>;

/// The requested part of a list, and the shape of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub limit: usize,
    pub offset: usize,
    /// Whether the caller uses page numbers. If so, `data` is only the array, for lists that support that shape.
    pub paged: bool,
}

impl Window {
    /// Returns the window selected by `page` or, if `page` is missing, by `offset`.
    pub fn new(limit: Limit, offset: Option<Offset>, page: Option<PageNumber>) -> Self {
        let skipped = match page {
            Some(page) => (page.get() - 1) * limit.0,
            None => offset.map_or(0, Offset::get),
        };
        Self { limit: limit.0 as usize, offset: skipped as usize, paged: page.is_some() }
    }

    /// Returns the items of `all` that are inside this window.
    pub fn cut<T>(&self, all: Vec<T>) -> Vec<T> {
        all.into_iter().skip(self.offset).take(self.limit).collect()
    }
}

/// A type whose values are the items of lists.
pub trait Listed: Serialize + JsonSchema {
    /// The key of the collection in `data`.
    const PLURAL: &'static str;
    /// Whether `data` is only the array if the request has a page number.
    const ARRAY_WHEN_PAGED: bool;
}

pub struct Page<T> {
    pub items: Vec<T>,
    pub total: u64,
    pub window: Window,
}

impl<T: Listed> SuccessResponse for Page<T> {
    const STATUS: u16 = 200;

    fn encode(&self, envelope: &Envelope) -> Encoded {
        if T::ARRAY_WHEN_PAGED && self.window.paged {
            return success(StatusCode::OK, &self.items, Some(self.total), envelope);
        }
        success(StatusCode::OK, &Named(self), Some(self.total), envelope)
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let items = generator.subschema_for::<T>();
        let number = json_schema!({ "type": "integer", "minimum": 0 });
        let named = json_schema!({
            "type": "object",
            "properties": {
                (T::PLURAL): { "type": "array", "items": items },
                "total": number,
                "limit": number,
                "offset": number,
                "pagination": { "$ref": "#/components/schemas/Pagination" },
            },
            "required": [T::PLURAL, "total", "limit", "offset", "pagination"],
            "additionalProperties": false,
        });
        if !T::ARRAY_WHEN_PAGED {
            return success_schema(named, true);
        }
        success_schema(json_schema!({ "oneOf": [named, { "type": "array", "items": items }] }), true)
    }
}

struct Named<'a, T>(&'a Page<T>);

/// Which part of a list a response contains.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pagination {
    pub total: u64,
    pub limit: usize,
    pub offset: usize,
    pub page: usize,
    pub has_more: bool,
}

impl Pagination {
    /// Returns the second of three pages, for tests of templates.
    pub fn sample() -> Self {
        Self { total: 120, limit: 50, offset: 50, page: 2, has_more: true }
    }
}

impl<T> Page<T> {
    pub fn pagination(&self) -> Pagination {
        let Page { items, total, window } = self;
        let has_more = (window.offset + items.len()) < *total as usize;
        let page = window.offset / window.limit + 1;
        Pagination { total: *total, limit: window.limit, offset: window.offset, page, has_more }
    }
}

impl<T: Listed> Serialize for Named<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let Page { items, total, window } = self.0;
        let mut map = serializer.serialize_map(Some(5))?;
        map.serialize_entry(T::PLURAL, items)?;
        map.serialize_entry("total", total)?;
        map.serialize_entry("limit", &window.limit)?;
        map.serialize_entry("offset", &window.offset)?;
        map.serialize_entry("pagination", &self.0.pagination())?;
        map.end()
    }
}
