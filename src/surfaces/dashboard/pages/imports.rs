//! Contact imports from a file: the user uploads it and maps its columns, then the page shows the progress.
//!
//! Between the steps the service stores the file under the id of its import, so the user can leave the page at any time.

use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use serde_json::{Map, Value, json};

use super::audience::{self, Audience};
use super::contacts::STATUSES;
use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::surfaces::dashboard::forms::Fields;
use crate::surfaces::dashboard::layout;
use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

/// Its pages.
pub const ROUTES: &[Route] = &[
    closed("/{environment}/contacts/import").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(upload(visit))).stream(),
    closed("/{environment}/contacts/import/{id}").get(|visit| Box::pin(one(visit))).post(|visit| Box::pin(start(visit))),
    closed("/{environment}/contacts/import/{id}/errors.csv").get(|visit| Box::pin(errors(visit))),
];

/// The fields a column can be mapped to, with their labels.
const FIELDS: [(&str, &str); 10] = [
    ("email", "Email"),
    ("firstName", "First name"),
    ("lastName", "Last name"),
    ("name", "First and last name"),
    ("phone", "Phone"),
    ("country", "Country"),
    ("language", "Language"),
    ("tags", "Tags"),
    ("status", "Status"),
    ("custom", "Custom field"),
];
/// Columns of our own exports that cannot be imported.
const OWN: [&str; 4] = ["id", "created_at", "updated_at", "unsubscribed_at"];
/// The separators between cells, with their labels.
const DELIMITERS: [(&str, &str); 4] = [(",", "Comma (,)"), (";", "Semicolon (;)"), ("\\t", "Tab"), ("|", "Vertical bar (|)")];
/// Rejected rows per page.
const ERRORS: u64 = 50;
const JOBS: u64 = 10;

/// Shows the upload form, and recent imports.
async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Ok(audience::none(visit, "Import contacts")) };
    page(visit, &audience, None).await
}

async fn page(visit: &Visit, audience: &Audience, error: Option<&PageError>) -> Result<Outcome, PageError> {
    let recent = visit.ask("contacts.jobs", json!({ "projectId": audience.id, "limit": JOBS })).await?;
    let mut context = audience.context(visit, "Import contacts");
    context.insert("jobs".into(), recent["jobs"].clone());
    context.insert("rows_max".into(), limits::IMPORT_ROWS_MAX.into());
    context.insert("bytes_max".into(), visit.api.0.settings.limits.upload_bytes_max.get().into());
    Ok(audience.page(visit, "import.html", context, error))
}

/// Receives a file and stores it.
async fn upload(visit: &Visit) -> Result<Outcome, PageError> {
    match visit.ask_with_rest("contacts.import").await {
        Ok(kept) => {
            let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
            let path = format!("{}/{}", visit.path, kept["id"].as_str().unwrap_or_default());
            Ok(Outcome::go(audience.path(&path, &[])))
        }
        Err(error) if audience::can_correct(&error) || error.status == StatusCode::PAYLOAD_TOO_LARGE => {
            let Some(audience) = Audience::of(visit).await? else { return Err(error) };
            page(visit, &audience, Some(&error)).await
        }
        Err(error) => Err(error),
    }
}

/// Shows one import: its columns, or its progress.
async fn one(visit: &Visit) -> Result<Outcome, PageError> {
    let Some(audience) = Audience::having(visit, "contacts.job").await? else { return Err(PageError::not_found()) };
    let status = visit.ask("contacts.import_status", json!({ "id": visit.name("id"), "projectId": audience.id })).await?;
    match status["status"].as_str() {
        Some("uploaded") => {
            visit.need(Permission::AudienceWrite)?;
            columns(visit, &audience, None).await
        }
        _ => progress(visit, &audience, status).await,
    }
}

async fn progress(visit: &Visit, audience: &Audience, status: Value) -> Result<Outcome, PageError> {
    let offset = audience::offset(visit, ERRORS);
    let told = visit.ask("contacts.import_errors", json!({ "id": visit.name("id"), "limit": ERRORS, "offset": offset })).await?;
    let mut context = audience.context(visit, "Contact import");
    let open = matches!(status["status"].as_str(), Some("pending" | "processing"));
    let path = audience.path(&visit.path, &[]);
    context.insert("pages_base".into(), format!("{path}{}", if path.contains('?') { "&" } else { "?" }).into());
    context.insert("open".into(), open.into());
    context.insert("import".into(), status);
    context.insert("errors".into(), told["errors"].clone());
    context.insert("pagination".into(), told["pagination"].clone());
    Ok(audience.page(visit, "import_progress.html", context, None))
}

/// Shows the columns of an uploaded file. Submitted choices are kept.
async fn columns(visit: &Visit, audience: &Audience, error: Option<&PageError>) -> Result<Outcome, PageError> {
    let form = &visit.form;
    let delimiter = form.some("delimiter").or(visit.query.some("delimiter"));
    let input = json!({ "id": visit.name("id"), "projectId": audience.id, "delimiter": delimiter, "rows": 3 });
    let looked = visit.ask("contacts.import_preview", input).await;
    let preview = match looked {
        // The delimiter does not fit, so the suggested one is used.
        Err(PageError { status: StatusCode::BAD_REQUEST, .. }) => {
            visit.ask("contacts.import_preview", json!({ "id": visit.name("id"), "projectId": audience.id, "rows": 3 })).await?
        }
        looked => looked?,
    };
    let (chosen, names) = (form.all("column"), form.all("custom"));
    let rows = preview["columns"].as_array().into_iter().flatten().enumerate().map(|(at, column)| {
        let (field, custom) = match (chosen.get(at), names.get(at)) {
            (Some(field), Some(name)) => ((*field).to_owned(), (*name).to_owned()),
            _ => seems(column),
        };
        json!({ "header": column["header"], "samples": column["samples"], "field": field, "custom": custom })
    });
    let rows: Vec<Value> = rows.collect();
    let mut context = audience.context(visit, "Match your columns");
    context.insert("columns".into(), rows.into());
    for name in ["fileName", "bytes", "expiresAt"] {
        context.insert(name.into(), preview[name].clone());
    }
    let delimiter = preview["delimiter"].as_str().map_or(",", |found| if found == "\t" { "\\t" } else { found }).to_owned();
    context.insert("delimiter".into(), delimiter.into());
    context.insert("delimiters".into(), json!(DELIMITERS));
    context.insert("fields".into(), json!(FIELDS));
    context.insert("statuses".into(), json!(STATUSES));
    for name in ["tags", "status", "existing"] {
        context.insert(name.into(), form.get(name).into());
    }
    context.insert("tag_names".into(), audience::tag_names(visit, &audience.id).await?.0.into());
    Ok(audience.page(visit, "import_columns.html", context, error))
}

/// Guesses a column's field, and the name if it is a custom one. No column with a name and content is skipped automatically.
fn seems(column: &Value) -> (String, String) {
    let header = column["header"].as_str().unwrap_or_default();
    let filled = column["samples"].as_array().is_some_and(|samples| samples.iter().any(|sample| sample != ""));
    match column["guess"].as_str() {
        Some(guess) => match guess.strip_prefix("customFields.") {
            Some(name) => ("custom".into(), name.into()),
            None => (guess.into(), String::new()),
        },
        None if filled && !header.is_empty() && !OWN.contains(&header) => ("custom".into(), header.into()),
        None => (String::new(), String::new()),
    }
}

/// Starts the import.
async fn start(visit: &Visit) -> Result<Outcome, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    let form = &visit.form;
    let asked = match mapping(form) {
        Ok(map) => {
            let input = json!({
                "id": visit.name("id"), "projectId": audience.id, "columnMap": map, "delimiter": form.some("delimiter"),
                "onConflict": if form.get("existing") == "skip" { "skip" } else { "upsert" },
                "tags": audience::names(form.get("tags")), "status": form.some("status"),
            });
            visit.ask("contacts.import_start", input).await
        }
        Err(error) => Err(error),
    };
    match asked {
        Ok(_) => Ok(Outcome::go(audience.path(&visit.path, &[]))),
        // It has already started, perhaps by a second click, so show its progress.
        Err(error) if error.code == "WRONG_STATE" => Ok(Outcome::go(audience.path(&visit.path, &[]))),
        Err(error) if audience::can_correct(&error) => columns(visit, &audience, Some(&error)).await,
        Err(error) => Err(error),
    }
}

/// Returns the mapping of headers to fields in the form.
fn mapping(form: &Fields) -> Result<Value, PageError> {
    let wrong =
        |message: &str| Err(PageError { field: "columnMap".into(), ..PageError::plain(StatusCode::BAD_REQUEST, message) });
    let (mut map, mut custom) = (Map::new(), Map::new());
    let rows = form.all("header").into_iter().zip(form.all("column")).zip(form.all("custom"));
    for ((header, field), name) in rows {
        let name = name.trim();
        match field {
            "" => {}
            "custom" if name.is_empty() => return wrong(&format!("Enter a custom field name for the column “{header}”.")),
            "custom" if custom.contains_key(name) => {
                return wrong(&format!("Two columns use the custom field “{name}”. Choose one of them."));
            }
            "custom" => drop(custom.insert(name.to_owned(), header.into())),
            field if map.contains_key(field) => {
                let label = FIELDS.iter().find(|(word, _)| *word == field).map_or(field, |(_, label)| label);
                return wrong(&format!("Two columns are imported as “{label}”. Choose one of them."));
            }
            field => drop(map.insert(field.to_owned(), header.into())),
        }
    }
    if !map.contains_key("email") {
        return wrong("Choose the column that contains the email address. Every contact needs one.");
    }
    map.insert("customFields".into(), custom.into());
    Ok(map.into())
}

/// Returns the rejected rows as a file.
async fn errors(visit: &Visit) -> Result<Outcome, PageError> {
    let mut file = String::from("row,email,field,error\r\n");
    let limit = limits::PAGE_LIMIT_MAX;
    for part in 0..limits::BULK_ERRORS_SHOWN_MAX as u64 / limit {
        let input = json!({ "id": visit.name("id"), "limit": limit, "offset": part * limit });
        let told = visit.ask("contacts.import_errors", input).await?;
        for error in told["errors"].as_array().into_iter().flatten() {
            let text = |field: &str| cell(error[field].as_str().unwrap_or_default());
            file.push_str(&format!("{},{},{},{}\r\n", error["row"], text("email"), text("field"), text("error")));
        }
        if told["pagination"]["hasMore"] != true {
            break;
        }
    }
    let mut headers = layout::headers();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(file.len()));
    headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment; filename=\"import-errors.csv\""));
    Ok(Outcome::HandedOn(Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(Bytes::from(file)) }))
}

/// Returns text as a CSV cell, never as a formula.
fn cell(text: &str) -> String {
    let mark = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { "'" } else { "" };
    format!("\"{mark}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_become_a_mapping_and_errors_are_named() {
        let form = |text: &str| mapping(&Fields::read(text.as_bytes()));
        let right = form("header=E&column=email&custom=&header=S&column=custom&custom=shoe&header=X&column=&custom=");
        assert_eq!(right.expect("right"), json!({ "email": "E", "customFields": { "shoe": "S" } }));
        for (wrong, part) in [
            ("header=A&column=phone&custom=", "Every contact needs one"),
            ("header=A&column=email&custom=&header=B&column=email&custom=", "Two columns are imported as “Email”"),
            ("header=A&column=email&custom=&header=B&column=custom&custom=", "name for the column “B”"),
        ] {
            assert!(form(wrong).expect_err(wrong).message.contains(part), "{wrong}");
        }
    }

    #[test]
    fn an_unknown_column_with_content_becomes_a_custom_field() {
        let column = |header: &str, guess: Value, sample: &str| json!({ "header": header, "guess": guess, "samples": [sample] });
        let of = |field: &str, name: &str| (field.to_owned(), name.to_owned());
        assert_eq!(seems(&column("Shoe", Value::Null, "38")), of("custom", "Shoe"));
        assert_eq!(seems(&column("Shoe", Value::Null, "")), of("", ""));
        assert_eq!(seems(&column("id", Value::Null, "1")), of("", ""));
        assert_eq!(seems(&column("custom.x", json!("customFields.x"), "")), of("custom", "x"));
        assert_eq!(seems(&column("Mail", json!("email"), "")), of("email", ""));
    }
}
