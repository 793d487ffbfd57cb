//! The flat input of an operation: the path parameters, then the query or the JSON body, deserialized directly into the operation's type.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use http::{HeaderMap, HeaderName};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{self, DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, Visitor};
use serde_json::{Value, json};
use serde_path_to_error as path_error;

use super::failure::Failure;
use super::spec::Spec;
use crate::base::serde_str;
use crate::base::strict_objects::Objects;
use crate::vocab::codes::Code;
use crate::vocab::limits;

pub const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Returns the value of `Idempotency-Key`, if the request has one.
pub fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, Failure> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else { return Ok(None) };
    // `to_str` also accepts tabs, which keys must not contain.
    let text = value.to_str().ok().filter(|text| !text.contains('\t'));
    let text = text.ok_or_else(|| {
        Failure::because(
            Code::IdempotencyKeyInvalid,
            "Idempotency-Key has a character that is not allowed; use visible ASCII characters and spaces.",
        )
    })?;
    if text.is_empty() || text.chars().count() > limits::IDEMPOTENCY_KEY_CHARACTERS_MAX {
        return Err(Code::IdempotencyKeyInvalid.into());
    }
    Ok(Some(text))
}

type Pair<'a> = (Cow<'a, str>, Cow<'a, str>);

/// The caller's input for one operation, before it is decoded.
pub struct Arguments<'a> {
    pub spec: &'static Spec,
    pub path: Vec<(&'a str, Cow<'a, str>)>,
    /// The raw query string, without the question mark.
    pub query: &'a str,
    /// The JSON body, for operations that accept one.
    pub body: &'a [u8],
    /// The decoded input of a call from within the process, used in place of `path`, `query` and `body`.
    pub given: Option<&'a GivenInput>,
}

/// The input of a call from within the process. The input can be taken only once.
pub struct GivenInput(Mutex<Option<Box<dyn Any + Send>>>);

impl GivenInput {
    pub fn new(input: impl Any + Send) -> Self {
        Self(Mutex::new(Some(Box::new(input))))
    }

    fn take<T: Any>(&self) -> Result<T, Failure> {
        let given = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let given = given.and_then(|given| given.downcast::<T>().ok());
        given
            .map(|given| *given)
            .ok_or_else(|| Failure::internal("an operation received another operation's input; report this bug"))
    }
}

impl Arguments<'_> {
    pub fn decode<T: DeserializeOwned + 'static>(&self) -> Result<T, Failure> {
        if let Some(given) = self.given {
            return given.take();
        }
        if self.spec.verb.has_body() { self.decode_body() } else { self.decode_query() }
    }

    fn decode_query<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        let pairs = self.pairs()?;
        let mut track = path_error::Track::new();
        let map = MapAccessDeserializer::new(Pairs { pairs: pairs.iter(), value: None });
        T::deserialize(path_error::Deserializer::new(map, &mut track))
            .map_err(|error: TextError| wrong(&track.path().to_string(), &serde_str::plain(&error.0)))
    }

    /// Returns the path parameters, then the query parameters; multiple values of one query parameter become a comma-separated list.
    fn pairs(&self) -> Result<Vec<Pair<'_>>, Failure> {
        let mut pairs: Vec<Pair<'_>> =
            self.path.iter().map(|(name, value)| (Cow::Borrowed(*name), Cow::Borrowed(value.as_ref()))).collect();
        let in_path = pairs.len();
        if self.query.is_empty() {
            return Ok(pairs);
        }
        let query: Vec<Pair<'_>> = serde_urlencoded::from_str(self.query).map_err(|_| {
            Failure::because(Code::InvalidRequest, "The query string cannot be parsed; write it as name=value&name=value.")
        })?;
        for (name, value) in query {
            let Some(seen) = pairs.iter().position(|(seen, _)| *seen == name) else {
                pairs.push((name, value));
                continue;
            };
            if seen < in_path {
                return Err(Failure::field(&name, "the path already sets this field; remove the field from the query"));
            }
            let joined = format!("{},{value}", pairs[seen].1);
            pairs[seen].1 = Cow::Owned(joined);
        }
        Ok(pairs)
    }

    fn decode_body<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        if !self.query.is_empty() {
            let name = self.query.split(['=', '&']).next().unwrap_or_default().to_owned();
            return Err(Failure::field(
                &name,
                "this operation accepts no query parameters; remove the query, and send the fields in the body",
            ));
        }
        let body = if self.body.iter().all(u8::is_ascii_whitespace) { b"{}" } else { self.body };
        let mut track = path_error::Track::new();
        let mut json = serde_json::Deserializer::from_slice(body);
        let flat = Flat { path: &self.path, json: &mut json };
        let read = T::deserialize(path_error::Deserializer::new(Objects(flat), &mut track));
        match read.and_then(|value| json.end().map(|()| value)) {
            Ok(value) => Ok(value),
            Err(error) => Err(broken(body).unwrap_or_else(|| refused(&track.path().to_string(), &error))),
        }
    }
}

/// Decodes an operation's input from JSON that was built within the process. The JSON contains the path parameters and the fields of the
/// query or the body. If the method has no body, `null` fields are left out.
pub fn from_json<T: DeserializeOwned>(spec: &Spec, input: Value) -> Result<T, Failure> {
    let Value::Object(mut fields) = input else {
        return Err(Failure::internal("the input of an operation is not a JSON object; report this bug"));
    };
    fields.retain(|_, value| spec.verb.has_body() || !value.is_null());
    let body = Value::Object(fields).to_string();
    let mut track = path_error::Track::new();
    let mut json = serde_json::Deserializer::from_str(&body);
    T::deserialize(path_error::Deserializer::new(Objects(&mut json), &mut track))
        .map_err(|error| refused(&track.path().to_string(), &error))
}

/// Returns the syntax error of a body that is not valid JSON. Syntax errors are reported before missing fields.
fn broken(body: &[u8]) -> Option<Failure> {
    if let Err(error) = std::str::from_utf8(body) {
        let before = &body[..error.valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
        return Some(malformed("the text is not valid UTF-8; encode the body as UTF-8", (line, column)));
    }
    match serde_json::from_slice::<de::IgnoredAny>(body) {
        Err(error) => Some(malformed(in_plain_words(sentence(&error.to_string())), (error.line(), error.column()))),
        Ok(_) => None,
    }
}

/// Returns the parser's message, without its position in the text.
fn sentence(message: &str) -> &str {
    message.rfind(" at line ").map_or(message, |end| &message[..end])
}

/// Rewrites a JSON parser's message for users who write JSON by hand.
fn in_plain_words(message: &str) -> &str {
    match message {
        "key must be a string" => "a name in double quotes is missing; quote the name, or remove the comma before it",
        "trailing comma" => "there is a comma before the closing bracket; remove it",
        "expected value" => "a value is missing, or is text without double quotes",
        "trailing characters" => "there is text after the end of the JSON value; remove it",
        "lone leading surrogate in hex escape" | "unexpected end of hex escape" => {
            "an escape such as \\ud83d is only half of a character; send both halves or the character itself"
        }
        message if message.starts_with("EOF while parsing") => "the text ends too early; a quote or bracket is not closed",
        message => message,
    }
}

fn malformed(what: &str, (line, column): (usize, usize)) -> Failure {
    Failure::because(Code::MalformedJson, format!("The body is not valid JSON at line {line}, column {column}: {what}."))
        .with(json!({ "line": line, "column": column }))
}

fn wrong(path: &str, message: &str) -> Failure {
    let (field, message) = serde_str::placed(path, message);
    if field.is_empty() { Failure::because(Code::InvalidRequest, message) } else { Failure::field(&field, message) }
}

/// Explains why a JSON body does not match the operation's input.
fn refused(path: &str, error: &serde_json::Error) -> Failure {
    if error.is_data() {
        return wrong(path, &serde_str::plain(&error.to_string()));
    }
    // The body is valid JSON, but the parser reports some unsuitable values as syntax errors, such as a list in place of a string.
    let message = error.to_string();
    wrong(
        path,
        match sentence(&message) {
            "number out of range" => "the number is out of range; use a number closer to 0",
            "recursion limit exceeded" => "the value is nested too deeply; flatten it",
            escape @ ("lone leading surrogate in hex escape" | "unexpected end of hex escape") => in_plain_words(escape),
            _ => "the value has the wrong type; see /openapi.json for the expected type",
        },
    )
}

/// The path parameters, followed by the fields of the JSON body, as one map.
struct Flat<'a, 'b, 'de> {
    path: &'a [(&'a str, Cow<'a, str>)],
    json: &'b mut serde_json::Deserializer<serde_json::de::SliceRead<'de>>,
}

impl<'de> Deserializer<'de> for Flat<'_, '_, 'de> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        self.json.deserialize_map(FlatVisitor { path: self.path, inner: visitor })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}

struct FlatVisitor<'a, V> {
    path: &'a [(&'a str, Cow<'a, str>)],
    inner: V,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for FlatVisitor<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(FlatMap { path: self.path.iter(), value: None, map })
    }
}

struct FlatMap<'a, A> {
    path: std::slice::Iter<'a, (&'a str, Cow<'a, str>)>,
    value: Option<&'a str>,
    map: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for FlatMap<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.path.next() {
            Some((name, value)) => {
                self.value = Some(value);
                seed.deserialize(StrDeserializer::new(name)).map(Some)
            }
            None => self.map.next_key_seed(seed),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        match self.value.take() {
            // The text is converted to the type of the field, for example to a number.
            Some(value) => seed.deserialize(TextValue(value)).map_err(de::Error::custom),
            None => self.map.next_value_seed(seed),
        }
    }
}

#[derive(Debug)]
struct TextError(String);

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for TextError {}
impl de::Error for TextError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

struct Pairs<'a> {
    pairs: std::slice::Iter<'a, Pair<'a>>,
    value: Option<&'a str>,
}

impl<'de> MapAccess<'de> for Pairs<'_> {
    type Error = TextError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, TextError> {
        let Some((name, value)) = self.pairs.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(StrDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, TextError> {
        let value = self.value.take().expect("serde requests a key before its value");
        seed.deserialize(TextValue(value))
    }
}

/// The value of a path or query parameter, converted to the type that the field needs.
struct TextValue<'a>(&'a str);

impl<'a> TextValue<'a> {
    fn number<T: std::str::FromStr>(&self, what: &str) -> Result<T, TextError> {
        self.0.parse().map_err(|_| TextError::custom(format_args!("must be {what}, not \"{}\"", self.0)))
    }

    /// Returns the items in a list, which is written as comma-separated values or, if values contain commas, as a JSON array of strings.
    fn parts(&self) -> Vec<Cow<'a, str>> {
        if self.0.starts_with('[')
            && let Ok(parts) = serde_json::from_str::<Vec<String>>(self.0)
        {
            return parts.into_iter().map(Cow::Owned).collect();
        }
        self.0.split(',').map(str::trim).filter(|part| !part.is_empty()).map(Cow::Borrowed).collect()
    }
}

impl<'de> Deserializer<'de> for TextValue<'_> {
    type Error = TextError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        visitor.visit_str(self.0)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        match self.0 {
            "true" | "1" => visitor.visit_bool(true),
            "false" | "0" => visitor.visit_bool(false),
            other => Err(TextError::custom(format_args!("must be true or false, not \"{other}\""))),
        }
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        visitor.visit_i64(self.number("a whole number from -9223372036854775808 to 9223372036854775807")?)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        visitor.visit_u16(self.number("a whole number from 0 to 65535")?)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        visitor.visit_u32(self.number("a whole number from 0 to 4294967295")?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        visitor.visit_u64(self.number("a whole number from 0 to 18446744073709551615")?)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        visitor.visit_f64(self.number("a number")?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        // Only an absent parameter is unset: `?status=` sets an empty status, as documented.
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, TextError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TextError> {
        visitor.visit_enum(IntoDeserializer::<TextError>::into_deserializer(self.0))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        visitor.visit_seq(Parts(self.parts().into_iter()))
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 u8 f32 char str string bytes byte_buf unit unit_struct tuple tuple_struct map struct identifier ignored_any
    }
}

struct Parts<I>(I);

impl<'de, 'a, I: Iterator<Item = Cow<'a, str>>> de::SeqAccess<'de> for Parts<I> {
    type Error = TextError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, TextError> {
        self.0.next().map(|part| seed.deserialize(TextValue(&part))).transpose()
    }
}

/// Returns whether each alternative of a schema (`anyOf`) requires a field, so that an empty input is invalid.
pub fn needs_a_field(schema: &serde_json::Value) -> bool {
    let requires = |one: &serde_json::Value| one["required"].as_array().is_some_and(|names| !names.is_empty());
    schema["anyOf"].as_array().is_some_and(|all| all.iter().all(requires))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::super::spec::public;
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Input {
        id: String,
        project_id: Option<String>,
        limit: Option<u32>,
        bytes: Option<u64>,
        offset: Option<i64>,
        tags: Option<Vec<String>>,
        deep: Option<Deep>,
        all: Option<bool>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Deep {
        numbers: Vec<u8>,
    }

    static READ: Spec = Spec::get("things.get", "/v1/things/{id}", public());
    static WRITE: Spec = Spec::patch("things.update", "/v1/things/{id}", public());

    fn read(query: &str) -> Result<Input, Failure> {
        Arguments { spec: &READ, path: vec![("id", "7".into())], query, body: b"", given: None }.decode()
    }

    fn write(body: &str) -> Result<Input, Failure> {
        Arguments { spec: &WRITE, path: vec![("id", "7".into())], query: "", body: body.as_bytes(), given: None }.decode()
    }

    fn refusal<T: fmt::Debug>(result: Result<T, Failure>) -> (Code, String) {
        let failure = result.expect_err("the operation is rejected");
        (failure.code, failure.text())
    }

    #[test]
    fn path_and_query_become_one_typed_input() {
        let input = read("projectId=a%20b&limit=5&tags=x,y&tags=z&all=true").expect("the input is valid");
        assert_eq!(input.id, "7");
        assert_eq!(input.project_id.as_deref(), Some("a b"));
        assert_eq!(input.limit, Some(5));
        assert_eq!(input.tags, Some(vec!["x".into(), "y".into(), "z".into()]));
        assert_eq!(input.all, Some(true));
        let input = read("tags=%5B%22x,%20y%22,%22z%22%5D").expect("the input is valid");
        assert_eq!(input.tags, Some(vec!["x, y".into(), "z".into()]), "values in a JSON array may contain commas");
    }

    #[test]
    fn path_and_body_become_one_typed_input() {
        let input = write(r#"{"projectId":"p","deep":{"numbers":[1,2]}}"#).expect("the input is valid");
        assert_eq!((input.id.as_str(), input.project_id.as_deref()), ("7", Some("p")));
        assert_eq!(input.deep, Some(Deep { numbers: vec![1, 2] }));
        assert_eq!(write("").expect("an empty body is an empty object").id, "7");
    }

    #[test]
    fn a_wrong_value_is_named_by_its_path_and_what_was_expected() {
        let (code, detail) = refusal(write(r#"{"deep":{"numbers":[1,"two"]}}"#));
        assert_eq!(code, Code::InvalidRequest);
        assert!(
            detail.starts_with("deep.numbers[1]: ")
                && detail.contains("must be a whole number from 0 to 255, not the text \"two\""),
            "{detail}"
        );
        let (_, detail) = refusal(read("limit=many"));
        assert_eq!(detail, "limit: must be a whole number from 0 to 4294967295, not \"many\"");
        let (_, detail) = refusal(read("bytes=18446744073709551616"));
        assert_eq!(detail, "bytes: must be a whole number from 0 to 18446744073709551615, not \"18446744073709551616\"");
        let (_, detail) = refusal(read("offset=9223372036854775808"));
        assert!(
            detail.starts_with("offset: must be a whole number from -9223372036854775808 to 9223372036854775807, "),
            "{detail}"
        );
    }

    #[test]
    fn a_value_of_another_type_is_not_malformed_json() {
        #[derive(Debug, Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum Word {
            Yes,
        }
        #[derive(Debug, Deserialize)]
        #[expect(dead_code, reason = "the test only deserializes the fields")]
        struct Choice {
            id: String,
            word: Option<Word>,
        }
        let choose = |body: &str| {
            Arguments { spec: &WRITE, path: vec![("id", "7".into())], query: "", body: body.as_bytes(), given: None }
                .decode::<Choice>()
        };
        assert!(matches!(choose(r#"{"word":"yes"}"#).expect("the input is valid").word, Some(Word::Yes)));
        let failure = choose(r#"{"word":[[{}]]}"#).expect_err("a list is not a word");
        assert_eq!(failure.code, Code::InvalidRequest);
        assert!(failure.text().starts_with("word: "));
        assert_eq!(choose(r#"{"word":[[{}]}"#).expect_err("a bracket is missing").code, Code::MalformedJson);
        let query = Arguments { spec: &READ, path: vec![("id", "7".into())], query: "word=no", body: b"", given: None };
        assert_eq!(query.decode::<Choice>().expect_err("no is not a word").text(), "word: must be yes; \"no\" is not allowed");
    }

    #[test]
    fn a_list_is_not_accepted_as_an_object_at_any_depth() {
        #[derive(Debug, Default, Deserialize)]
        #[serde(default)]
        struct Inside {
            word: Option<String>,
        }
        #[derive(Debug, Deserialize)]
        #[expect(dead_code, reason = "the test only deserializes the fields")]
        struct Outside {
            id: String,
            #[serde(default)]
            inside: Vec<Inside>,
        }
        let give = |body: &str| {
            Arguments { spec: &WRITE, path: vec![("id", "7".into())], query: "", body: body.as_bytes(), given: None }
                .decode::<Outside>()
        };
        assert_eq!(give(r#"{"inside":[{},{"word":"a"}]}"#).expect("the input is valid").inside.len(), 2);
        let (code, detail) = refusal(give(r#"{"inside":[{},[null]]}"#));
        assert_eq!((code, detail.as_str()), (Code::InvalidRequest, "inside[1]: must be an object, not a list"));
    }

    #[test]
    fn an_unknown_field_is_refused_by_name() {
        assert!(refusal(write(r#"{"hue":1}"#)).1.contains("unknown field `hue`"));
        assert!(refusal(read("hue=1")).1.contains("unknown field `hue`"));
    }

    #[test]
    fn broken_json_is_refused_with_line_and_column() {
        let (code, detail) = refusal(write("{\n  \"limit\": 5,,\n}"));
        assert_eq!(code, Code::MalformedJson);
        assert!(detail.contains("line 2, column 14"), "{detail}");
        assert_eq!(refusal(write("{} x")).0, Code::MalformedJson);
        assert_eq!(refusal(write(r#"{"limit":1"#)).0, Code::MalformedJson);
        // A syntax error is reported first, even if an earlier part of the body is also invalid.
        assert_eq!(refusal(write(r#"{"hue":}"#)).0, Code::MalformedJson);
        assert_eq!(refusal(write(r#"{"hue":1 "x"}"#)).0, Code::MalformedJson);
        let bytes = b"{\n\"id\": \"\xff\"}";
        let arguments = Arguments { spec: &WRITE, path: vec![], query: "", body: bytes, given: None };
        let (code, detail) = refusal(arguments.decode::<Input>());
        assert_eq!(code, Code::MalformedJson);
        assert!(detail.contains("line 2, column 8: the text is not valid UTF-8"), "{detail}");
    }

    #[test]
    fn a_missing_field_is_named_by_its_path() {
        let arguments = Arguments { spec: &WRITE, path: vec![], query: "", body: b"{}", given: None };
        assert_eq!(refusal(arguments.decode::<Input>()).1, "id: the field is required");
    }

    #[test]
    fn a_body_that_is_not_an_object_and_a_query_beside_a_body_are_refused() {
        assert!(refusal(write("[1]")).1.contains("a JSON object"));
        let arguments = Arguments { spec: &WRITE, path: vec![("id", "7".into())], query: "limit=1", body: b"{}", given: None };
        assert!(refusal(arguments.decode::<Input>()).1.starts_with("limit: this operation accepts no query parameters"));
    }

    #[test]
    fn a_name_given_twice_is_refused() {
        assert!(refusal(write(r#"{"limit":1,"limit":2}"#)).1.contains("limit: the field occurs twice"));
        assert!(refusal(write(r#"{"id":"8"}"#)).1.contains("id: the field occurs twice"));
        assert!(refusal(read("id=8")).1.contains("the path already sets this field"));
    }
}
