//! The import of contacts from a file: the user uploads the file and maps its columns, and then sees the progress.
//!
//! The service stores the uploaded file under the ID of its import, so the user can leave the pages and continue later.

use bytes::Bytes;
use http::StatusCode;
use http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::audience::{self, Audience, AudienceContext};
use super::contact_form::STATUSES;
use crate::engine::api::Done;
use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::page::Pagination;
use crate::engine::api::response::WireTime;
use crate::features::contacts;
use crate::features::contacts::ops::import_errors::ImportError;
use crate::features::contacts::ops::import_preview::{ImportColumn, ImportPreviewed};
use crate::features::contacts::ops::import_status::ImportProgress;
use crate::features::contacts::ops::jobs::ContactJob;
use crate::surfaces::dashboard::forms::Fields;
use crate::surfaces::dashboard::headers;
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::codes::Code;
use crate::vocab::contact_fields::CONTACT_FIELDS;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

/// Returns the fields that a column can be mapped to, with their labels.
fn fields() -> Vec<(&'static str, &'static str)> {
    let own = CONTACT_FIELDS.iter().filter(|field| field.importable).map(|field| (field.key, field.label));
    own.chain([("name", "First and last name"), ("custom", "Custom field")]).collect()
}

/// Returns whether Mailmill's own exports contain this column but imports ignore it.
fn is_export_only(header: &str) -> bool {
    CONTACT_FIELDS.iter().any(|field| !field.importable && field.column == header)
}
/// The delimiters between cells, with their labels.
const DELIMITERS: [(&str, &str); 4] = [(",", "Comma (,)"), (";", "Semicolon (;)"), ("\\t", "Tab"), ("|", "Vertical bar (|)")];
/// The number of rejected rows that a page lists.
const ERRORS: u64 = 50;
const JOBS: u64 = 10;

#[derive(Serialize)]
pub struct ImportPage {
    #[serde(flatten)]
    audience: AudienceContext,
    jobs: Vec<ContactJob>,
    rows_max: u64,
    bytes_max: u64,
}

page_context!(ImportPage, "import.html", {
    use crate::engine::api::Operation;

    let jobs = || contacts::ops::jobs::Jobs::example().1.0.jobs;
    let kinds = ["import", "export", "change", "bulk"];
    let of_kind = |kind| jobs().into_iter().map(move |job| ContactJob { kind, status: "uploaded", ..job });
    let page = |jobs| Self { audience: AudienceContext::sample("Import contacts"), jobs, rows_max: 100_000, bytes_max: 1 << 20 };
    vec![page(kinds.into_iter().flat_map(of_kind).collect()), page(Vec::new())]
});

/// The data of the page where users map a file's columns to contact fields.
#[derive(Serialize)]
pub struct ImportColumnsPage {
    #[serde(flatten)]
    audience: AudienceContext,
    columns: Vec<ColumnChoice>,
    #[serde(rename = "fileName")]
    file_name: String,
    bytes: u64,
    #[serde(rename = "expiresAt")]
    expires_at: WireTime,
    delimiter: String,
    delimiters: &'static [(&'static str, &'static str)],
    fields: Vec<(&'static str, &'static str)>,
    statuses: &'static [(&'static str, &'static str)],
    #[serde(flatten)]
    options: ImportOptions,
}

#[derive(Serialize)]
struct ColumnChoice {
    header: String,
    samples: Vec<String>,
    field: String,
    custom: String,
}

#[derive(Serialize)]
struct ImportOptions {
    tags: String,
    status: String,
    existing: String,
    tag_names: Vec<String>,
}

impl ImportColumnsPage {
    fn new(audience: AudienceContext, preview: ImportPreviewed, sent: Vec<(String, String)>, options: ImportOptions) -> Self {
        let choice = |(at, column): (usize, ImportColumn)| {
            let (field, custom) = sent.get(at).cloned().unwrap_or_else(|| seems(&column));
            ColumnChoice { header: column.header, samples: column.samples, field, custom }
        };
        Self {
            audience,
            columns: preview.columns.into_iter().enumerate().map(choice).collect(),
            file_name: preview.file_name,
            bytes: preview.bytes,
            expires_at: preview.expires_at,
            delimiter: if preview.delimiter == "\t" { "\\t".into() } else { preview.delimiter },
            delimiters: &DELIMITERS,
            fields: fields(),
            statuses: &STATUSES,
            options,
        }
    }
}

page_context!(ImportColumnsPage, "import_columns.html", {
    use crate::engine::api::Operation;

    let preview = || contacts::ops::import_preview::ImportPreview::example().1.0;
    let options = |existing: &str| ImportOptions {
        tags: "vip".into(),
        status: "subscribed".into(),
        existing: existing.into(),
        tag_names: vec!["vip".into()],
    };
    let audience = || AudienceContext::sample("Match your columns");
    vec![
        Self::new(audience(), preview(), Vec::new(), options("")),
        Self::new(audience(), preview(), vec![("email".into(), String::new())], options("skip")),
    ]
});

#[derive(Serialize)]
pub struct ImportProgressPage {
    #[serde(flatten)]
    audience: AudienceContext,
    pages_base: String,
    open: bool,
    import: ImportProgress,
    errors: Vec<ImportError>,
    pagination: Pagination,
}

page_context!(ImportProgressPage, "import_progress.html", {
    use crate::engine::api::Operation;

    let import = || contacts::ops::import_status::ImportStatus::example().1.0;
    let page = |open, import, errors| Self {
        audience: AudienceContext::sample("Contact import"),
        pages_base: "/test/contacts/import/66f1a2b3d4e5f60718293a4b?".into(),
        open,
        import,
        errors,
        pagination: Pagination::sample(),
    };
    let failed = ImportProgress { error: Some("The file was deleted.".into()), ..import() };
    let waiting = ImportProgress {
        provider: Some(crate::vocab::providers::Provider::Klaviyo),
        excluded: Some(3),
        waiting: Some("The import waits.".into()),
        ..import()
    };
    vec![
        page(true, import(), Vec::new()),
        page(true, waiting, Vec::new()),
        page(false, failed, contacts::ops::import_errors::ImportErrors::example().1.items),
    ]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Ok(audience::none("Import contacts")) };
    page(visit, &audience, None).await
}

async fn page(visit: &Visit, audience: &Audience, error: Option<&PageError>) -> Result<PageResponse, PageError> {
    let input = json!({ "projectId": audience.id, "limit": JOBS });
    let Done(recent) = visit.ask::<contacts::ops::jobs::Jobs>(input).await?;
    let context = ImportPage {
        audience: audience.context(visit, "Import contacts"),
        jobs: recent.jobs,
        rows_max: limits::CONTACT_IMPORT_ROWS_MAX,
        bytes_max: visit.api.0.settings.limits.upload_bytes_max.get(),
    };
    Ok(audience.finish(visit, PageResponse::draw_with(&context, error)))
}

pub async fn upload(visit: &Visit) -> Result<PageResponse, PageError> {
    match visit.json_with_rest::<contacts::ops::import::Import>().await {
        Ok(kept) => {
            let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
            let path = format!("{}/{}", visit.path, kept["id"].as_str().unwrap_or_default());
            Ok(PageResponse::redirect(audience.path(&path, &[])))
        }
        Err(error) if audience::can_correct(&error) || error.status == StatusCode::PAYLOAD_TOO_LARGE => {
            let Some(audience) = Audience::of(visit).await? else { return Err(error) };
            page(visit, &audience, Some(&error)).await
        }
        Err(error) => Err(error),
    }
}

/// Shows an import: before it starts, the columns of the file; afterward, the progress.
pub async fn one(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::having::<contacts::ops::job::Job>(visit, |Done(it)| it.project_id).await? else {
        return Err(PageError::not_found());
    };
    let input = json!({ "id": visit.path_parameter("id"), "projectId": audience.id });
    let Done(status) = visit.ask::<contacts::ops::import_status::ImportStatus>(input).await?;
    match status.status {
        "uploaded" => {
            visit.need(Permission::AudienceWrite)?;
            columns(visit, &audience, None).await
        }
        _ => progress(visit, &audience, status).await,
    }
}

async fn progress(visit: &Visit, audience: &Audience, status: ImportProgress) -> Result<PageResponse, PageError> {
    let input = json!({ "id": visit.path_parameter("id"), "limit": ERRORS, "offset": audience::offset(visit, ERRORS) });
    let errors = visit.ask::<contacts::ops::import_errors::ImportErrors>(input).await?;
    let context = ImportProgressPage {
        audience: audience.context(visit, "Contact import"),
        pages_base: audience.pages_base(visit, &[]),
        open: matches!(status.status, "pending" | "processing"),
        import: status,
        pagination: errors.pagination(),
        errors: errors.items,
    };
    Ok(audience.finish(visit, PageResponse::draw(&context)))
}

/// Shows the columns of an uploaded file, with the mapping that the user submitted, if any.
async fn columns(visit: &Visit, audience: &Audience, error: Option<&PageError>) -> Result<PageResponse, PageError> {
    let form = &visit.form;
    let delimiter = form.some("delimiter").or(visit.query.some("delimiter"));
    let preview = async |delimiter: Option<&str>| {
        let input = json!({ "id": visit.path_parameter("id"), "projectId": audience.id, "delimiter": delimiter, "rows": 3 });
        visit.ask::<contacts::ops::import_preview::ImportPreview>(input).await
    };
    let Done(preview) = match preview(delimiter).await {
        // The chosen delimiter does not fit the file, so the preview uses the suggested one.
        Err(PageError { status: StatusCode::BAD_REQUEST, .. }) => preview(None).await?,
        response => response?,
    };
    let (chosen, names) = (form.all("column"), form.all("custom"));
    let sent = chosen.into_iter().zip(names).map(|(field, name)| (field.to_owned(), name.to_owned())).collect();
    let options = ImportOptions {
        tags: form.get("tags").to_owned(),
        status: form.get("status").to_owned(),
        existing: form.get("existing").to_owned(),
        tag_names: audience::tag_names(visit, &audience.id).await?.0,
    };
    let context = audience.context(visit, "Match your columns");
    let context = ImportColumnsPage::new(context, preview, sent, options);
    Ok(audience.finish(visit, PageResponse::draw_with(&context, error)))
}

/// Returns the suggested field for a column, and the name if the field is a custom field. If the import suggests no field, a column with a
/// header and content becomes a custom field, unless it is one of the columns in Mailmill's own exports that imports ignore.
fn seems(column: &ImportColumn) -> (String, String) {
    let header = column.header.as_str();
    let filled = column.samples.iter().any(|sample| !sample.is_empty());
    match column.guess.as_deref() {
        Some(guess) => match guess.strip_prefix("customFields.") {
            Some(name) => ("custom".into(), name.into()),
            None => (guess.into(), String::new()),
        },
        None if filled && !header.is_empty() && !is_export_only(header) => ("custom".into(), header.into()),
        None => (String::new(), String::new()),
    }
}

pub async fn start(visit: &Visit) -> Result<PageResponse, PageError> {
    let Some(audience) = Audience::of(visit).await? else { return Err(PageError::not_found()) };
    let form = &visit.form;
    let asked = match mapping(form) {
        Ok(map) => {
            let input = json!({
                "id": visit.path_parameter("id"), "projectId": audience.id, "columnMap": map, "delimiter": form.some("delimiter"),
                "onConflict": if form.get("existing") == "skip" { "skip" } else { "upsert" },
                "tags": audience::names(form.get("tags")), "status": form.some("status"),
            });
            visit.ask::<contacts::ops::import_start::ImportStart>(input).await
        }
        Err(error) => Err(error),
    };
    match asked {
        Ok(_) => Ok(PageResponse::redirect(audience.path(&visit.path, &[]))),
        // The import has already started, for example after a double click, so the page shows its progress.
        Err(error) if error.code == Some(Code::WrongState) => Ok(PageResponse::redirect(audience.path(&visit.path, &[]))),
        Err(error) if audience::can_correct(&error) => columns(visit, &audience, Some(&error)).await,
        Err(error) => Err(error),
    }
}

/// Returns the form's mapping of column headers to contact fields.
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
                return wrong(&format!("Two columns are imported as the custom field “{name}”. Import only one of them."));
            }
            "custom" => drop(custom.insert(name.to_owned(), header.into())),
            field if map.contains_key(field) => {
                let label = fields().into_iter().find(|(word, _)| *word == field).map_or(field, |(_, label)| label);
                return wrong(&format!("Two columns are imported as “{label}”. Import only one of them."));
            }
            field => drop(map.insert(field.to_owned(), header.into())),
        }
    }
    if !map.contains_key("email") {
        return wrong("Choose the column that contains the email address. Every contact needs an email address.");
    }
    map.insert("customFields".into(), custom.into());
    Ok(map.into())
}

/// Serves the problems of the rejected rows as a CSV file.
pub async fn errors(visit: &Visit) -> Result<PageResponse, PageError> {
    let mut file = String::from("row,email,field,error\r\n");
    let limit = limits::PAGE_LIMIT_MAX;
    for part in 0..limits::BULK_ERRORS_SHOWN_MAX as u64 / limit {
        let input = json!({ "id": visit.path_parameter("id"), "limit": limit, "offset": part * limit });
        let errors = visit.ask::<contacts::ops::import_errors::ImportErrors>(input).await?;
        for ImportError { row, email, field, error } in &errors.items {
            let email = cell(email.as_deref().unwrap_or_default());
            file.push_str(&format!("{row},{email},{},{}\r\n", cell(field), cell(error)));
        }
        if !errors.pagination().has_more {
            break;
        }
    }
    let mut headers = headers::headers();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(file.len()));
    headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment; filename=\"import-errors.csv\""));
    Ok(PageResponse::Forwarded(Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(Bytes::from(file)) }))
}

/// Returns the text as a CSV cell. Text that a spreadsheet would run as a formula gets a leading apostrophe.
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
        assert_eq!(right.expect("the columns are valid"), json!({ "email": "E", "customFields": { "shoe": "S" } }));
        for (wrong, part) in [
            ("header=A&column=phone&custom=", "Every contact needs an email address"),
            ("header=A&column=email&custom=&header=B&column=email&custom=", "Two columns are imported as “Email”"),
            ("header=A&column=email&custom=&header=B&column=custom&custom=", "name for the column “B”"),
        ] {
            assert!(form(wrong).expect_err(wrong).message.contains(part), "{wrong}");
        }
    }

    #[test]
    fn an_unknown_column_with_content_becomes_a_custom_field() {
        let column = |header: &str, guess: Option<&str>, sample: &str| ImportColumn {
            header: header.into(),
            guess: guess.map(str::to_owned),
            samples: vec![sample.into()],
        };
        let of = |field: &str, name: &str| (field.to_owned(), name.to_owned());
        assert_eq!(seems(&column("Shoe", None, "38")), of("custom", "Shoe"));
        assert_eq!(seems(&column("Shoe", None, "")), of("", ""));
        assert_eq!(seems(&column("id", None, "1")), of("", ""));
        assert_eq!(seems(&column("custom.x", Some("customFields.x"), "")), of("custom", "x"));
        assert_eq!(seems(&column("Mail", Some("email"), "")), of("email", ""));
    }
}
