//! Converts between a campaign's form and the API's input.
//!
//! The form has a string for each field. An empty field is null in the API. This module is independent of how pages are rendered.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::surfaces::dashboard::forms::Fields;
use crate::surfaces::dashboard::visit::PageError;

/// The fields whose value is a single string, each with its name in the form and its name in the API.
const TEXTS: [(&str, &str); 8] = [
    ("name", "name"),
    ("from", "from"),
    ("from_name", "fromName"),
    ("reply_to", "replyTo"),
    ("subject", "subject"),
    ("preheader", "preheaderText"),
    ("topic", "topicId"),
    ("unknown", "unknown"),
];
/// The fields that need conversion, each with its name in the form and its name in the API. `providerType` has no form field: its value is
/// kept for clients that set it, and it has no effect.
const OTHERS: [(&str, &str); 9] = [
    ("audience", "recipientId"),
    ("variables", "variables"),
    ("minimum_score", "minimumScore"),
    ("utm", "utm"),
    ("utm_source", "utm.source"),
    ("utm_medium", "utm.medium"),
    ("utm_campaign", "utm.campaign"),
    ("utm_term", "utm.term"),
    ("utm_content", "utm.content"),
];
/// The names of the UTM parameters, without the prefix `utm_`.
const MARKS: [&str; 5] = ["source", "medium", "campaign", "term", "content"];

/// Returns the submitted values by form field name.
pub fn filled(form: &Fields) -> BTreeMap<String, String> {
    TEXTS.iter().chain(&OTHERS).map(|(field, _)| ((*field).to_owned(), form.get(field).to_owned())).collect()
}

/// Replaces the API's field name in an error with the name of the form field.
pub fn in_form(error: PageError) -> PageError {
    let field = match error.field.as_str() {
        "recipientType" => "recipientId",
        field if field.starts_with("variables") => "variables",
        field => field,
    };
    let own = TEXTS.iter().chain(&OTHERS).find(|(_, name)| *name == field).map_or(field, |(own, _)| own);
    PageError { field: (*own).to_owned(), ..error }
}

/// Returns the values that prefill a campaign's form, without values that equal those of its email.
pub fn shown(campaign: &Value, email: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut fields: Vec<(String, String)> =
        TEXTS.iter().map(|(field, name)| ((*field).to_owned(), text(&campaign[*name]))).collect();
    for (field, value) in &mut fields {
        // A value that equals the email's value is left out, because the campaign uses the email's value if the field is empty.
        let own = match field.as_str() {
            "subject" => &email["subject"],
            "preheader" => &email["preheader"],
            _ => continue,
        };
        if own.as_str() == Some(value) {
            value.clear();
        }
    }
    let utm = &campaign["utm"];
    let marked = match (utm.is_null(), utm["enabled"] == false) {
        (true, _) => "",
        (false, true) => "no",
        (false, false) => "yes",
    };
    fields.extend([
        ("audience".into(), chosen(campaign)),
        ("variables".into(), lines(&campaign["variables"])),
        ("minimum_score".into(), campaign["minimumScore"].as_u64().map(|score| score.to_string()).unwrap_or_default()),
        ("utm".into(), marked.into()),
    ]);
    fields.extend(MARKS.map(|mark| (format!("utm_{mark}"), text(&utm[mark]))));
    fields
}

/// Returns the option in the recipient select that represents the campaign's recipients.
pub fn chosen(campaign: &Value) -> String {
    match campaign["recipientType"].as_str() {
        Some("audience") if campaign["recipientId"] == campaign["projectId"] => "everyone".into(),
        kind => format!("{}:{}", kind.unwrap_or("segment"), campaign["recipientId"].as_str().unwrap_or_default()),
    }
}

/// Returns the form's values by API name; empty values are null.
pub fn entries(form: &Fields, project: &Value) -> Result<Map<String, Value>, PageError> {
    let text = |field: &str| form.some(field).map_or(Value::Null, Value::from);
    let mut input: Map<String, Value> = TEXTS.iter().map(|(field, name)| ((*name).to_owned(), text(field))).collect();
    let (kind, id) = form.get("audience").split_once(':').unwrap_or((form.get("audience"), ""));
    let (kind, id) = if kind == "everyone" { ("audience", project.clone()) } else { (kind, id.into()) };
    let score = match form.some("minimum_score") {
        None => Value::Null,
        // If the score is not a number, it is passed on as a string, so that the API reports the error.
        Some(score) => score.parse::<i64>().map_or(score.into(), Value::from),
    };
    input.extend([
        ("recipientType".to_owned(), kind.into()),
        ("recipientId".to_owned(), id),
        ("variables".to_owned(), variables(form.get("variables"))?),
        ("minimumScore".to_owned(), score),
        ("utm".to_owned(), utm(form)),
    ]);
    Ok(input)
}

/// Returns the values in `given` that differ from `before`. If the recipient type or ID differs, returns both.
pub fn changes(mut given: Map<String, Value>, before: &Map<String, Value>) -> Map<String, Value> {
    let to = ["recipientType", "recipientId"];
    let is_for_others = to.iter().any(|name| given.get(*name) != before.get(*name));
    given.retain(|name, value| if to.contains(&name.as_str()) { is_for_others } else { before.get(name) != Some(value) });
    given
}

/// Returns the UTM settings in the form, or null to use the sending domain's settings.
fn utm(form: &Fields) -> Value {
    let marks: Map<String, Value> =
        MARKS.iter().filter_map(|mark| Some(((*mark).to_owned(), form.some(&format!("utm_{mark}"))?.into()))).collect();
    let enabled = match form.get("utm") {
        "yes" => json!(true),
        "no" => json!(false),
        _ if marks.is_empty() => return Value::Null,
        // The user neither enabled nor disabled UTM tagging, but a submitted UTM parameter enables it.
        _ => json!(true),
    };
    let mut utm = Map::from_iter([("enabled".to_owned(), enabled)]);
    utm.extend(marks);
    Value::Object(utm)
}

/// Parses the values of merge fields, one per line, as `name = value`. Returns null if there are none.
fn variables(text: &str) -> Result<Value, PageError> {
    let mut fields = Map::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once('=').map(|(name, value)| (name.trim(), value.trim())).unwrap_or((line, ""));
        let wrong = match (line.contains('='), name.is_empty(), fields.contains_key(name)) {
            (false, ..) => "Enter each value as name = value, for example, code = TEA10.",
            (_, true, _) => "Start each line with the field name, for example, code = TEA10.",
            (_, _, true) => "Set each field only once.",
            _ => {
                fields.insert(name.to_owned(), meant(value));
                continue;
            }
        };
        return Err(PageError { field: "variables".into(), ..PageError::plain(StatusCode::BAD_REQUEST, wrong) });
    }
    Ok(if fields.is_empty() { Value::Null } else { Value::Object(fields) })
}

/// Converts the text of a merge field to JSON. The text becomes a string, unless it is a JSON array, object or string, or another JSON
/// value in canonical form.
fn meant(text: &str) -> Value {
    let plain = || Value::from(text);
    let Ok(value) = serde_json::from_str::<Value>(text) else { return plain() };
    let written = value.to_string();
    if written == text || matches!(value, Value::Array(_) | Value::Object(_) | Value::String(_)) { value } else { plain() }
}

/// Formats merge field values as lines of `name = value`, which [`variables`] parses.
fn lines(variables: &Value) -> String {
    let line = |(name, value): (&String, &Value)| {
        let plain = value.as_str().filter(|text| meant(text) == *value && text.trim() == *text && !text.contains(['\n', '\r']));
        format!("{name} = {}", plain.map_or_else(|| value.to_string(), ToOwned::to_owned))
    };
    variables.as_object().into_iter().flatten().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(fields: &[(&str, &str)]) -> Fields {
        Fields::of(fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    fn campaign() -> Value {
        json!({
            "projectId": "p", "name": "Teas", "from": "a@b.example", "fromName": "A", "replyTo": null, "subject": "Of the email",
            "preheaderText": "Own", "recipientType": "tag", "recipientId": "t", "topicId": "x", "unknown": "hold",
            "variables": { "code": "TEA10", "price": 10.5, "sum": "10.50", "year": "2026", "on": true, "list": [1, "a"], "two": "a\nb" },
            "utm": { "enabled": true, "source": "news" }, "minimumScore": 80,
        })
    }

    #[test]
    fn a_campaigns_values_survive_the_form() {
        let (campaign, email) = (campaign(), json!({ "subject": "Of the email", "preheader": "Of the email" }));
        let read = entries(&Fields::of(shown(&campaign, &email)), &campaign["projectId"]).expect("the form is valid");
        for name in
            ["name", "from", "preheaderText", "recipientType", "recipientId", "topicId", "variables", "utm", "minimumScore"]
        {
            assert_eq!(read[name], campaign[name], "{name}");
        }
        assert_eq!((&read["subject"], &read["replyTo"]), (&Value::Null, &Value::Null));
    }

    #[test]
    fn only_changes_are_sent_and_the_recipients_as_a_whole() {
        let (campaign, email) = (campaign(), json!({}));
        let mut fields = shown(&campaign, &email);
        let before = entries(&Fields::of(fields.clone()), &campaign["projectId"]).expect("the form is valid");
        assert_eq!(changes(before.clone(), &before), Map::new());
        for (field, value) in &mut fields {
            match field.as_str() {
                "audience" => *value = "tag:other".into(),
                "preheader" => value.clear(),
                _ => {}
            }
        }
        let after = entries(&Fields::of(fields), &campaign["projectId"]).expect("the form is valid");
        let expected = json!({ "recipientType": "tag", "recipientId": "other", "preheaderText": null });
        assert_eq!(Value::Object(changes(after, &before)), expected);
    }

    #[test]
    fn merge_fields_are_strings_unless_written_as_json() {
        let given =
            "code = 007\r\n\r\nprice=10.50\nmany = 3\nyes = true\nlist = [1, 2]\ntext = \"3\"\nlink = https://a.example/?b=c";
        let expected = json!({
            "code": "007", "price": "10.50", "many": 3, "yes": true, "list": [1, 2], "text": "3", "link": "https://a.example/?b=c",
        });
        assert_eq!(variables(given).expect("the values are valid"), expected);
        assert_eq!(variables(" \n").expect("the values are valid"), Value::Null);
        for wrong in ["code", "= 3", "a = 1\na = 2"] {
            assert_eq!(variables(wrong).expect_err("the values are rejected").field, "variables", "{wrong}");
        }
    }

    #[test]
    fn utm_parameters_are_sent_only_if_enabled() {
        for (fields, expected) in [
            (vec![], Value::Null),
            (vec![("utm", "yes")], json!({ "enabled": true })),
            (vec![("utm", "no"), ("utm_source", "news")], json!({ "enabled": false, "source": "news" })),
            (vec![("utm_term", "tea")], json!({ "enabled": true, "term": "tea" })),
        ] {
            assert_eq!(utm(&form(&fields)), expected, "{fields:?}");
        }
    }
}
