//! Optional fields of responses: a field without a value is omitted. A field that must remain in the response as `null` is [`Nullable`].
//!
//! The fields are omitted by the serializer of responses and not by the `Serialize` implementation of each type, because some types are
//! also stored, and the store needs every field.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::{self, Impossible};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// The schema extension of a field that can be `null`. It is removed when the OpenAPI document is generated.
pub const STAYS_NULL: &str = "x-stays-null";

/// A response field that is `null` instead of omitted when it has no value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nullable<T>(pub Option<T>);

impl<T> From<Option<T>> for Nullable<T> {
    fn from(value: Option<T>) -> Self {
        Self(value)
    }
}

impl<T: Serialize> Serialize for Nullable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(value) => serializer.serialize_some(value),
            None => serializer.serialize_unit(),
        }
    }
}

impl<T: JsonSchema> JsonSchema for Nullable<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Option::<T>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Option::<T>::json_schema(generator);
        schema.insert(STAYS_NULL.to_owned(), true.into());
        schema
    }
}

/// A value whose fields are omitted, at any depth, if they are `None`. List items that are `None` remain, and so does a `null` in
/// free-form JSON, where it is a value.
pub struct WithoutNone<'a, T: ?Sized>(pub &'a T);

impl<T: Serialize + ?Sized> Serialize for WithoutNone<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(Leaving(serializer))
    }
}

/// Removes fields that are `null`, at any depth, from JSON that was written with every field.
pub fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            fields.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn is_none<T: Serialize + ?Sized>(value: &T) -> bool {
    value.serialize(IsNone).unwrap_or(false)
}

/// Wraps a serializer, or the serializer of a list or an object, and omits fields that are `None`.
struct Leaving<S>(S);

macro_rules! pass_on {
    ($($name:ident($kind:ty))*) => {$(
        fn $name(self, value: $kind) -> Result<S::Ok, S::Error> {
            self.0.$name(value)
        }
    )*};
}

impl<S: Serializer> Serializer for Leaving<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Leaving<S::SerializeSeq>;
    type SerializeTuple = Leaving<S::SerializeTuple>;
    type SerializeTupleStruct = Leaving<S::SerializeTupleStruct>;
    type SerializeTupleVariant = Leaving<S::SerializeTupleVariant>;
    type SerializeMap = Leaving<S::SerializeMap>;
    type SerializeStruct = Leaving<S::SerializeStruct>;
    type SerializeStructVariant = Leaving<S::SerializeStructVariant>;

    pass_on! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128) serialize_f32(f32)
        serialize_f64(f64) serialize_char(char) serialize_str(&str) serialize_bytes(&[u8]) serialize_unit_struct(&'static str)
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_none()
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&WithoutNone(value))
    }

    fn serialize_unit_variant(self, name: &'static str, index: u32, variant: &'static str) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit_variant(name, index, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(name, &WithoutNone(value))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_variant(name, index, variant, &WithoutNone(value))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        self.0.serialize_seq(length).map(Leaving)
    }

    fn serialize_tuple(self, length: usize) -> Result<Self::SerializeTuple, S::Error> {
        self.0.serialize_tuple(length).map(Leaving)
    }

    fn serialize_tuple_struct(self, name: &'static str, length: usize) -> Result<Self::SerializeTupleStruct, S::Error> {
        self.0.serialize_tuple_struct(name, length).map(Leaving)
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        self.0.serialize_tuple_variant(name, index, variant, length).map(Leaving)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        self.0.serialize_map(length).map(Leaving)
    }

    fn serialize_struct(self, name: &'static str, length: usize) -> Result<Self::SerializeStruct, S::Error> {
        self.0.serialize_struct(name, length).map(Leaving)
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        self.0.serialize_struct_variant(name, index, variant, length).map(Leaving)
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

impl<C: ser::SerializeSeq> ser::SerializeSeq for Leaving<C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        self.0.serialize_element(&WithoutNone(value))
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.0.end()
    }
}

impl<C: ser::SerializeTuple> ser::SerializeTuple for Leaving<C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        self.0.serialize_element(&WithoutNone(value))
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.0.end()
    }
}

impl<C: ser::SerializeTupleStruct> ser::SerializeTupleStruct for Leaving<C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        self.0.serialize_field(&WithoutNone(value))
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.0.end()
    }
}

impl<C: ser::SerializeTupleVariant> ser::SerializeTupleVariant for Leaving<C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        self.0.serialize_field(&WithoutNone(value))
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.0.end()
    }
}

impl<C: ser::SerializeMap> ser::SerializeMap for Leaving<C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), C::Error> {
        self.0.serialize_key(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        self.0.serialize_value(&WithoutNone(value))
    }

    // serde serializes flattened fields with `serialize_entry`.
    fn serialize_entry<K: Serialize + ?Sized, T: Serialize + ?Sized>(&mut self, key: &K, value: &T) -> Result<(), C::Error> {
        if is_none(value) { Ok(()) } else { self.0.serialize_entry(key, &WithoutNone(value)) }
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.0.end()
    }
}

impl<C: ser::SerializeStruct> ser::SerializeStruct for Leaving<C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), C::Error> {
        if is_none(value) { self.0.skip_field(key) } else { self.0.serialize_field(key, &WithoutNone(value)) }
    }

    fn skip_field(&mut self, key: &'static str) -> Result<(), C::Error> {
        self.0.skip_field(key)
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.0.end()
    }
}

impl<C: ser::SerializeStructVariant> ser::SerializeStructVariant for Leaving<C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), C::Error> {
        if is_none(value) { self.0.skip_field(key) } else { self.0.serialize_field(key, &WithoutNone(value)) }
    }

    fn skip_field(&mut self, key: &'static str) -> Result<(), C::Error> {
        self.0.skip_field(key)
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.0.end()
    }
}

/// A serializer that determines whether a value is `None` without writing the value: the first method that the value calls on the
/// serializer shows the result.
struct IsNone;

/// The error type of [`IsNone`]. An error means that the value is not `None`.
#[derive(Debug)]
struct NotNone;

impl fmt::Display for NotNone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value is not None")
    }
}

impl std::error::Error for NotNone {}

impl ser::Error for NotNone {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

macro_rules! not_none {
    ($($name:ident($($kind:ty),*))*) => {$(
        fn $name(self, $(_: $kind),*) -> Result<bool, NotNone> {
            Ok(false)
        }
    )*};
}

macro_rules! not_none_either {
    ($($name:ident($($kind:ty),*))*) => {$(
        fn $name(self, $(_: $kind),*) -> Result<Impossible<bool, NotNone>, NotNone> {
            Err(NotNone)
        }
    )*};
}

impl Serializer for IsNone {
    type Ok = bool;
    type Error = NotNone;
    type SerializeSeq = Impossible<bool, NotNone>;
    type SerializeTuple = Impossible<bool, NotNone>;
    type SerializeTupleStruct = Impossible<bool, NotNone>;
    type SerializeTupleVariant = Impossible<bool, NotNone>;
    type SerializeMap = Impossible<bool, NotNone>;
    type SerializeStruct = Impossible<bool, NotNone>;
    type SerializeStructVariant = Impossible<bool, NotNone>;

    not_none! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128) serialize_f32(f32)
        serialize_f64(f64) serialize_char(char) serialize_str(&str) serialize_bytes(&[u8]) serialize_unit()
        serialize_unit_struct(&'static str) serialize_unit_variant(&'static str, u32, &'static str)
    }
    not_none_either! {
        serialize_seq(Option<usize>) serialize_tuple(usize) serialize_tuple_struct(&'static str, usize)
        serialize_tuple_variant(&'static str, u32, &'static str, usize) serialize_map(Option<usize>)
        serialize_struct(&'static str, usize) serialize_struct_variant(&'static str, u32, &'static str, usize)
    }

    fn serialize_none(self) -> Result<bool, NotNone> {
        Ok(true)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<bool, NotNone> {
        Ok(false)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<bool, NotNone> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<bool, NotNone> {
        Ok(false)
    }

    // The default implementation of `collect_str` would format the value, although its text is not needed.
    fn collect_str<T: fmt::Display + ?Sized>(self, _: &T) -> Result<bool, NotNone> {
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;
    use serde_json::value::RawValue;

    use super::*;

    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Outer {
        name: String,
        nothing: Option<String>,
        nullable: Nullable<u8>,
        inner: Option<Inner>,
        all: Vec<Option<Inner>>,
        free: Value,
        raw: Box<RawValue>,
        variant: Variant,
        #[serde(flatten)]
        more: Inner,
        fields: BTreeMap<String, Option<u8>>,
    }

    #[derive(Serialize)]
    struct Inner {
        a: Option<u8>,
        b: Option<u8>,
    }

    #[derive(Serialize)]
    enum Variant {
        With { x: Option<u8>, y: (u8, Option<u8>) },
    }

    #[derive(Serialize)]
    struct Wrapped(Option<u8>);

    #[test]
    fn a_field_without_a_value_is_omitted_at_any_depth() {
        let outer = Outer {
            name: "Ada".into(),
            nothing: None,
            nullable: Nullable(None),
            inner: Some(Inner { a: Some(1), b: None }),
            all: vec![None, Some(Inner { a: None, b: None })],
            free: json!({ "left": null, "list": [null] }),
            raw: RawValue::from_string(r#"{"as":null,"it":"is"}"#.into()).expect("the value can be written as JSON"),
            variant: Variant::With { x: None, y: (7, None) },
            more: Inner { a: None, b: Some(2) },
            fields: BTreeMap::from([("gone".into(), None), ("there".into(), Some(3))]),
        };
        assert_eq!(
            serde_json::to_string(&WithoutNone(&outer)).expect("the value can be written as JSON"),
            r#"{"name":"Ada","nullable":null,"inner":{"a":1},"all":[null,{}],"free":{"left":null,"list":[null]},"raw":{"as":null,"it":"is"},"variant":{"With":{"y":[7,null]}},"b":2,"fields":{"there":3}}"#
        );
    }

    #[test]
    fn a_nullable_field_shows_its_value() {
        let shown = serde_json::to_value(WithoutNone(&json!({ "n": Nullable(Some(5)), "w": Wrapped(None) })));
        assert_eq!(shown.expect("the value can be written as JSON"), json!({ "n": 5, "w": null }), "free-form JSON is unchanged");
        #[derive(Serialize)]
        struct Two {
            number: Nullable<u8>,
            wrapped: Wrapped,
        }
        let two = Two { number: Some(5).into(), wrapped: Wrapped(None) };
        assert_eq!(serde_json::to_value(WithoutNone(&two)).expect("the value can be written as JSON"), json!({ "number": 5 }));
    }
}
