//! Ensures that structs are deserialized only from JSON objects.
//!
//! By default, serde also reads a struct from a list of its fields in order, so a client could send `[]` in place of an object. The API
//! does not allow such lists: at any depth, a list in place of an object is rejected. Numbers with a magnitude of 2^63 or more that the
//! parser read as floating-point numbers are also rejected: the parser silently rounds integers beyond 64 bits, and an order number that
//! lost its last digits belongs to a different order. Values that serde buffers before their kind is determined (tagged enums) are read
//! from the buffer and not checked here.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};

/// A wrapper around a deserializer, visitor, seed or accessor that also wraps every value inside it.
pub struct Objects<T>(pub T);

/// The error for a number that cannot be stored exactly.
pub const ROUNDED: &str = "the number is too large to store exactly; send a smaller number, or a string if the field accepts one";

/// Returns whether a floating-point number can be an integer that the parser rounded. The parser reads integers that fit in 64 bits as
/// integers.
pub fn is_rounded(value: f64) -> bool {
    const BEYOND_I64: f64 = 9_223_372_036_854_775_808.0;
    value.abs() >= BEYOND_I64
}

/// The schema of free-form JSON, as read through [`Objects`].
pub enum AnyJson {}

impl JsonSchema for AnyJson {
    fn schema_name() -> Cow<'static, str> {
        "AnyJson".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let inside = generator.subschema_for::<Self>();
        json_schema!({
            "type": ["null", "boolean", "number", "string", "array", "object"], "minimum": i64::MIN, "maximum": i64::MAX,
            "items": inside, "additionalProperties": inside,
        })
    }
}

macro_rules! readers {
    ($($method:ident($($name:ident: $kind:ty),*);)*) => {$(
        fn $method<V: Visitor<'de>>(self, $($name: $kind,)* visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method($($name,)* Objects(visitor))
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Objects<D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Objects(visitor))
    }

    readers! {
        deserialize_any();
        deserialize_bool();
        deserialize_i8();
        deserialize_i16();
        deserialize_i32();
        deserialize_i64();
        deserialize_i128();
        deserialize_u8();
        deserialize_u16();
        deserialize_u32();
        deserialize_u64();
        deserialize_u128();
        deserialize_f32();
        deserialize_f64();
        deserialize_char();
        deserialize_str();
        deserialize_string();
        deserialize_bytes();
        deserialize_byte_buf();
        deserialize_option();
        deserialize_unit();
        deserialize_unit_struct(name: &'static str);
        deserialize_newtype_struct(name: &'static str);
        deserialize_seq();
        deserialize_tuple(len: usize);
        deserialize_tuple_struct(name: &'static str, len: usize);
        deserialize_map();
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
        deserialize_identifier();
        deserialize_ignored_any();
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

macro_rules! visits {
    ($($method:ident($kind:ty);)*) => {$(
        fn $method<E: serde::de::Error>(self, value: $kind) -> Result<V::Value, E> {
            self.0.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Objects<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<V::Value, E> {
        if is_rounded(value) { Err(E::custom(ROUNDED)) } else { self.0.visit_f64(value) }
    }

    visits! {
        visit_bool(bool);
        visit_i8(i8);
        visit_i16(i16);
        visit_i32(i32);
        visit_i64(i64);
        visit_i128(i128);
        visit_u8(u8);
        visit_u16(u16);
        visit_u32(u32);
        visit_u64(u64);
        visit_u128(u128);
        visit_f32(f32);
        visit_char(char);
        visit_str(&str);
        visit_borrowed_str(&'de str);
        visit_string(String);
        visit_bytes(&[u8]);
        visit_borrowed_bytes(&'de [u8]);
        visit_byte_buf(Vec<u8>);
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, reader: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Objects(reader))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, reader: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Objects(reader))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Objects(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Objects(entries))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(Objects(variant))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Objects<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Objects(reader))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Objects<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Objects(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Objects<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Objects(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Objects<A> {
    type Error = A::Error;
    type Variant = Objects<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        self.0.variant_seed(seed).map(|(value, variant)| (value, Objects(variant)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Objects<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(Objects(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(len, Objects(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, Objects(visitor))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Whole {
        one: One,
        #[serde(default)]
        other: Option<One>,
        #[serde(default)]
        list: Vec<One>,
        #[serde(default)]
        named: BTreeMap<String, One>,
        #[serde(default)]
        kind: Option<Kind>,
        #[serde(default)]
        pair: Option<(u8, Wrapped)>,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct One {
        number: u8,
        text: String,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Wrapped(One);

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Word,
        With(One),
        Two(u8, One),
    }

    fn read(json: &str) -> Result<Whole, serde_json::Error> {
        let mut reader = serde_json::Deserializer::from_str(json);
        Whole::deserialize(Objects(&mut reader))
    }

    #[test]
    fn objects_are_accepted_at_every_depth() {
        let json = r#"{"one":{"number":1},"other":null,"list":[{},{"text":"ä\n"}],"named":{"a":{"number":2}},
            "kind":{"two":[3,{"number":4}]},"pair":[5,{}]}"#;
        let with = |number| One { number, ..One::default() };
        let whole = Whole {
            one: with(1),
            other: None,
            list: vec![with(0), One { text: "ä\n".to_owned(), ..One::default() }],
            named: BTreeMap::from([("a".to_owned(), with(2))]),
            kind: Some(Kind::Two(3, with(4))),
            pair: Some((5, Wrapped(with(0)))),
        };
        assert_eq!(read(json).expect("the input is valid"), whole);
        assert_eq!(read(r#"{"one":{},"kind":"word"}"#).expect("the input is valid").kind, Some(Kind::Word));
        assert_eq!(
            read(r#"{"one":{},"kind":{"with":{"number":9}}}"#).expect("the input is valid").kind,
            Some(Kind::With(with(9)))
        );
    }

    #[test]
    fn integers_are_exact_up_to_64_bits_and_rejected_beyond() {
        let number = |json: &str| {
            let mut reader = serde_json::Deserializer::from_str(json);
            serde_json::Value::deserialize(Objects(&mut reader)).map(|value| value.to_string()).map_err(|error| error.to_string())
        };
        for exact in ["9007199254740993", "-9223372036854775808", "18446744073709551615", "0.5", "1e3"] {
            let value: serde_json::Value = serde_json::from_str(exact).expect("the number is valid");
            assert_eq!(number(exact), Ok(value.to_string()));
        }
        for rounded in ["18446744073709551616", "-9223372036854775809", "1e19", "123456789012345678901234567890"] {
            let error = number(rounded).expect_err(rounded);
            assert!(error.starts_with(ROUNDED), "{rounded}: {error}");
        }
    }

    #[test]
    fn a_list_in_place_of_an_object_is_rejected_at_every_depth() {
        for json in [
            "[{}]",
            r#"{"one":[]}"#,
            r#"{"one":[1,"a"]}"#,
            r#"{"one":{},"other":[]}"#,
            r#"{"one":{},"list":[{},[]]}"#,
            r#"{"one":{},"named":{"a":[1]}}"#,
            r#"{"one":{},"kind":{"with":[]}}"#,
            r#"{"one":{},"kind":{"two":[1,[]]}}"#,
            r#"{"one":{},"pair":[1,[]]}"#,
        ] {
            let error = read(json).expect_err(json).to_string();
            assert!(error.starts_with("invalid type: sequence, expected struct"), "{json}: {error}");
        }
    }
}
