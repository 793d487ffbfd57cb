//! Stores a field of a record as JSON, with `#[serde(with = "json_bytes")]`.
//!
//! The record format stores field values without names, so it supports neither omitted fields nor free-form JSON. JSON supports both.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub fn serialize<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let json = serde_json::to_vec(value).map_err(serde::ser::Error::custom)?;
    json.serialize(serializer)
}

pub fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let json = Vec::<u8>::deserialize(deserializer)?;
    serde_json::from_slice(&json).map_err(serde::de::Error::custom)
}
