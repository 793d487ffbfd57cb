//! The envelope of responses, written directly as bytes.

use std::any::Any;

use http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::failure::Failure;
use crate::base::clock::Timestamp;
use crate::base::optional::WithoutNone;

/// The values of the envelope's `metadata`, and whether fields without a value are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    pub timestamp: Timestamp,
    pub request: RequestId,
    /// Whether fields without a value are written as `null` instead of omitted. The templates of pages need every field.
    pub keeps_nulls: bool,
}

/// The ID of a request: a random number that the process chose at startup, and the sequence number of the request since then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId {
    pub boot: u32,
    pub number: u64,
}

impl RequestId {
    /// Returns the ID as text: `req_` and 20 hexadecimal digits.
    pub fn text(self) -> [u8; 24] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = *b"req_00000000000000000000";
        let value = (u128::from(self.boot) << 48) | u128::from(self.number & 0xFFFF_FFFF_FFFF);
        for (index, digit) in text[4..].iter_mut().rev().enumerate() {
            *digit = DIGITS[(value >> (4 * index)) as usize & 15];
        }
        text
    }
}

impl std::fmt::Display for RequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(std::str::from_utf8(&self.text()).expect("hexadecimal digits are ASCII"))
    }
}

/// A time in requests and responses. Responses contain it as ISO 8601 in UTC, with milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireTime(pub Timestamp);

impl WireTime {
    /// Returns the time used in the examples of the documentation.
    pub fn sample() -> Self {
        Self(Timestamp(1_767_225_600_000))
    }
}

impl Serialize for WireTime {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// Parses an ISO 8601 date-time, or a date, which is read as midnight. Values without an offset or a time zone are read as UTC.
impl std::str::FromStr for WireTime {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let expected = "must be a time like 2026-01-31T09:30:00Z or a date like 2026-01-31";
        let instant: Result<jiff::Timestamp, _> = text.parse();
        let instant = instant.or_else(|_| {
            // A value with a zone name is local time in that zone; parsing it as a date-time without a zone would ignore the name.
            if text.contains('[') {
                return text.parse::<jiff::Zoned>().map(|zoned| zoned.timestamp());
            }
            // The value is parsed as a `DateTime`, because parsing it as a `Date` would ignore its time of day.
            let moment: jiff::civil::DateTime = text.parse()?;
            moment.to_zoned(jiff::tz::TimeZone::UTC).map(|moment| moment.timestamp())
        });
        instant.map(|instant| Self(Timestamp(instant.as_millisecond()))).map_err(|_| expected)
    }
}

impl<'de> serde::Deserialize<'de> for WireTime {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        crate::base::serde_str::deserialize(deserializer, "a time")
    }
}

impl JsonSchema for WireTime {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Moment".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// A notice for the caller about a successful request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ResponseWarning")]
pub struct Warning {
    /// A constant code for programs, such as `FIRST_EMAIL_OF_SERIES`.
    pub code: &'static str,
    /// What happens, and how the caller can change that.
    pub message: String,
}

/// A response as bytes or, if the input was given as a value, the operation's output as a value.
#[derive(Debug)]
pub struct Encoded {
    pub status: StatusCode,
    pub body: Vec<u8>,
    pub output: Option<Box<dyn Any + Send>>,
}

pub trait SuccessResponse {
    const STATUS: u16;
    /// Encodes the complete envelope with this response inside.
    fn encode(&self, envelope: &Envelope) -> Encoded;
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

/// A response with status 200 and `data`.
pub struct Done<T>(pub T);

/// A response with status 201 and `data`: a new object was created.
pub struct Created<T>(pub T);

impl<T: Serialize + JsonSchema> SuccessResponse for Done<T> {
    const STATUS: u16 = 200;

    fn encode(&self, envelope: &Envelope) -> Encoded {
        success(StatusCode::OK, &self.0, None, envelope)
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        success_schema(generator.subschema_for::<T>(), false)
    }
}

impl<T: Serialize + JsonSchema> SuccessResponse for Created<T> {
    const STATUS: u16 = 201;

    fn encode(&self, envelope: &Envelope) -> Encoded {
        success(StatusCode::CREATED, &self.0, None, envelope)
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        success_schema(generator.subschema_for::<T>(), false)
    }
}

/// A response with status 200, `data` and the top-level `count` of an unpaged list.
pub struct Counted<T> {
    pub data: T,
    pub count: usize,
}

impl<T: Serialize + JsonSchema> SuccessResponse for Counted<T> {
    const STATUS: u16 = 200;

    fn encode(&self, envelope: &Envelope) -> Encoded {
        success(StatusCode::OK, &self.data, Some(self.count as u64), envelope)
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        success_schema(generator.subschema_for::<T>(), true)
    }
}

/// The output type of raw operations that write their own response. `SUCCESS` is the status of a successful response.
pub struct Bare<const SUCCESS: u16 = 200>;

impl<const SUCCESS: u16> SuccessResponse for Bare<SUCCESS> {
    const STATUS: u16 = SUCCESS;

    fn encode(&self, _: &Envelope) -> Encoded {
        Encoded { status: StatusCode::OK, body: Vec::new(), output: None }
    }

    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!(true)
    }
}

/// Encodes the success envelope around `data`, with `count` at the top level if it is given.
pub fn success<T: Serialize>(status: StatusCode, data: &T, count: Option<u64>, envelope: &Envelope) -> Encoded {
    let mut body = Vec::with_capacity(512);
    body.extend_from_slice(br#"{"success":true,"data":"#);
    let written = if envelope.keeps_nulls {
        serde_json::to_writer(&mut body, data)
    } else {
        serde_json::to_writer(&mut body, &WithoutNone(data))
    };
    written.expect("views contain only JSON values");
    if let Some(count) = count {
        body.extend_from_slice(br#","count":"#);
        serde_json::to_writer(&mut body, &count).expect("a number is JSON");
    }
    body.extend_from_slice(br#","error":null"#);
    finish(&mut body, envelope);
    Encoded { status, body, output: None }
}

pub fn failure(failure: &Failure, envelope: &Envelope) -> Encoded {
    let info = failure.code.info();
    let mut fields = Map::new();
    fields.insert("error".into(), failure.text().into());
    fields.insert("code".into(), info.wire.into());
    let mut data = failure.data.as_deref().cloned();
    if let Some(field) = &failure.field {
        data.get_or_insert_with(|| json!({}))["field"] = field.as_ref().into();
    }
    if let Some(data) = data {
        fields.insert("data".into(), data);
    }
    if info.status == 429
        && let Some(seconds) = failure.retry_after
    {
        fields.insert("retryAfter".into(), seconds.into());
    }
    let mut body = Vec::with_capacity(256);
    body.extend_from_slice(br#"{"success":false,"#);
    let rest = serde_json::to_vec(&Value::Object(fields)).expect("a map of values is JSON");
    body.extend_from_slice(&rest[1..rest.len() - 1]);
    finish(&mut body, envelope);
    Encoded { status: StatusCode::from_u16(info.status).expect("the table holds valid statuses"), body, output: None }
}

fn finish(body: &mut Vec<u8>, envelope: &Envelope) {
    use std::io::Write;
    body.extend_from_slice(br#","metadata":{"timestamp":""#);
    write!(body, "{}", envelope.timestamp).expect("writing to memory cannot fail");
    body.extend_from_slice(br#"","requestId":""#);
    body.extend_from_slice(&envelope.request.text());
    body.extend_from_slice(br#""}}"#);
}

/// Returns the schema of a success envelope around `data`, with the top-level `count` for a list.
pub fn success_schema(data: Schema, with_count: bool) -> Schema {
    let mut schema = json_schema!({
        "type": "object",
        "properties": {
            "success": { "const": true },
            "data": data,
            "error": { "type": "null" },
            "metadata": { "$ref": "#/components/schemas/Metadata" },
        },
        "required": ["success", "data", "error", "metadata"],
        "additionalProperties": false,
    });
    if with_count {
        let count = json!({ "type": "integer", "minimum": 0, "description": "The total number of items in the list." });
        let properties =
            schema.get_mut("properties").and_then(Value::as_object_mut).expect("the properties were created above as an object");
        properties.insert("count".into(), count);
        let required =
            schema.get_mut("required").and_then(Value::as_array_mut).expect("the required names were created above as a list");
        required.push("count".into());
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::codes::Code;

    fn envelope() -> Envelope {
        Envelope { timestamp: Timestamp(0), request: RequestId { boot: 0xAB, number: 0x12 }, keeps_nulls: false }
    }

    #[test]
    fn a_time_without_an_offset_is_in_utc_and_keeps_its_hours() {
        let read = |text: &str| text.parse::<WireTime>().map(|moment| moment.0.to_string());
        for (text, expected) in [
            ("2026-11-22", "2026-11-22T00:00:00.000Z"),
            ("2026-11-22T15:30:05", "2026-11-22T15:30:05.000Z"),
            ("2026-11-22 15:30:05.25", "2026-11-22T15:30:05.250Z"),
            ("2026-11-22T15:30:05Z", "2026-11-22T15:30:05.000Z"),
            ("2026-11-22T15:30:05+05:30", "2026-11-22T10:00:05.000Z"),
            ("2026-11-22T15:30:05[Europe/Berlin]", "2026-11-22T14:30:05.000Z"),
            ("2026-11-22T15:30:05+01:00[Europe/Berlin]", "2026-11-22T14:30:05.000Z"),
            ("2026-11-22T23:59:60Z", "2026-11-22T23:59:59.000Z"),
        ] {
            assert_eq!(read(text), Ok(expected.to_owned()), "{text}");
        }
        for text in ["", "now", "15:30", "2026-02-30", "2026-11-22T25:00:00", "1763773200", "2026-11-22T15:30:05[Nowhere/City]"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn success_is_data_null_error_and_metadata() {
        let encoded = Done(json!({ "a": 1 })).encode(&envelope());
        assert_eq!(
            String::from_utf8(encoded.body).expect("the text is UTF-8"),
            r#"{"success":true,"data":{"a":1},"error":null,"metadata":{"timestamp":"1970-01-01T00:00:00.000Z","requestId":"req_000000ab000000000012"}}"#
        );
    }

    #[test]
    fn only_a_rate_limit_has_retry_after_in_its_body() {
        let limited = failure(&Failure::new(Code::RateLimitExceeded).after_seconds(7), &envelope());
        let body: Value = serde_json::from_slice(&limited.body).expect("the body is JSON");
        assert_eq!(body["retryAfter"], 7);
        let busy = failure(&Failure::new(Code::Unavailable).after_seconds(7), &envelope());
        let body: Value = serde_json::from_slice(&busy.body).expect("the body is JSON");
        assert_eq!(body.get("retryAfter"), None);
        assert_eq!(body["code"], "SERVICE_UNAVAILABLE");
    }
}
