//! Imports contacts from a CSV file.

use bytes::Bytes;
use futures_util::stream;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use http::{HeaderMap, StatusCode};
use multer::{Constraints, Field, Multipart, SizeLimit};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::engine::api::call::body_failure;
use crate::engine::api::http_types::{Body, BodyError, Reply, ReplyBody};
use crate::engine::api::openapi::form_fields;
use crate::engine::api::operation::Media;
use crate::engine::api::{
    BodySize, Context, Created, Failure, NoInput, Operation, Raw, RawRequest, Spec, SuccessResponse, needs,
};
use crate::engine::store::blobs;
use crate::features::contacts::jobs::files::{self, DELIMITER_PATTERN, delimiter, wrong_delimiter};
use crate::features::contacts::jobs::{self, ColumnMap, Columns, Encoding, OnConflict, Sniffer};
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{BlobId, JobId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Import;

/// The fields of the form. The file is processed while it arrives.
#[derive(Debug, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(transform = form_fields)]
pub struct ContactImportForm {
    /// The CSV file with a header row, encoded in UTF-8, UTF-16 with a byte order mark, or Windows-1252.
    #[schemars(extend("format" = "binary"))]
    pub file: String,
    /// The project to which the contacts are added.
    pub project_id: ProjectId,
    /// JSON that maps fields to headers. Keys: email (required), name, firstName, lastName, company, phone, city, country, language, tags,
    /// status, customFields {name: header}. If absent, the mapping is guessed from common headers, and unrecognized columns are ignored.
    pub column_map: Option<String>,
    /// `upsert` (the default) updates existing contacts with values from the file; `skip` leaves them unchanged.
    #[schemars(extend("enum" = ["upsert", "skip"]))]
    pub on_conflict: Option<String>,
    /// The separator between cells: one ASCII character. The default is a comma. `\t` is a tab.
    #[schemars(extend("pattern" = DELIMITER_PATTERN))]
    pub delimiter: Option<String>,
    /// Names of tags to add to every contact in the file, as a JSON array or separated by commas.
    pub tags: Option<String>,
    /// The status for contacts whose row has no status. If absent, new contacts are subscribed.
    pub status: Option<Status>,
    /// Whether to store the file for a day without importing it; POST /v1/contacts/imports/{id}/start imports it. If `true`, the import's
    /// settings in this form are ignored.
    pub hold: Option<bool>,
}

/// The import that was started.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ImportStarted {
    /// Always `contact_import`.
    pub object: &'static str,
    pub id: JobId,
    #[schemars(extend("enum" = ["processing", "uploaded"]))]
    pub status: &'static str,
}

impl Operation for Import {
    const SPEC: Spec = Spec::post("contacts.import", "/v1/contacts/imports", needs(Permission::AudienceWrite)).client("contacts.imports.create")
        .summary("Import contacts from a CSV file")
        .about(
            "Accepts multipart/form-data. Returns once the file has been stored; GET /v1/contacts/imports/{id} returns the progress. \
                An invalid row does not affect the others. An existing status changes only if that does not override the contact's own \
                choice. Emits subscriber.unsubscribed for each contact that becomes unsubscribed, and subscriber.bulk_imported once, \
                when all rows have been processed.",
        )
        .rate(RouteGroup::Imports)
        .body(BodySize::Upload)
        .fails(&[Code::NotFound, Code::LimitReached]);
    type Input = NoInput;
    type Output = Created<ImportStarted>;

    fn example() -> (Value, Self::Output) {
        let id = JobId::parse("66f1a2b3d4e5f60718293a4c").expect("the id has 24 hexadecimal characters");
        (json!({}), Created(ImportStarted { object: "contact_import", id, status: "processing" }))
    }
}

impl Raw for Import {
    const MEDIA: Media = Media::form::<ContactImportForm>();

    async fn run(context: Context, _: NoInput, request: RawRequest) -> Result<Reply, Failure> {
        let mut upload = Upload::default();
        let read = upload.read(&context, request).await;
        let started = match read {
            Ok(()) => upload.start(&context).await,
            Err(failure) => Err(failure),
        };
        if started.is_err()
            && let Some(file) = upload.blob
        {
            // A failure here is harmless, because the file expires anyway.
            let _ = context.data().store.write(move |tx| blobs::expire(tx, file, tx.now())).await;
        }
        let status = if upload.hold { "uploaded" } else { "processing" };
        let started = Created(ImportStarted { object: "contact_import", id: started?, status });
        let encoded = started.encode(&context.envelope);
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(encoded.body.len()));
        Ok(Reply { status: StatusCode::CREATED, headers, body: ReplyBody::Whole(encoded.body.into()) })
    }
}

/// The fields of the form that have arrived so far.
#[derive(Default)]
struct Upload {
    blob: Option<BlobId>,
    bytes: u64,
    /// The start of the file, which contains its headers.
    head: Vec<u8>,
    encoding: Option<Encoding>,
    project: Option<ProjectId>,
    mapping: Option<ColumnMap>,
    on_conflict: OnConflict,
    delimiter: Option<u8>,
    tags: Vec<String>,
    status: Option<Status>,
    hold: bool,
}

impl Upload {
    async fn read(&mut self, context: &Context, request: RawRequest) -> Result<(), Failure> {
        let content_type = request.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let boundary = multer::parse_boundary(content_type).map_err(|error| {
            let detail = match error {
                multer::Error::NoBoundary => "The Content-Type header has no boundary; let the HTTP client set this header.",
                _ => "Send the form as multipart/form-data, with the file in the field \"file\".",
            };
            Failure::because(Code::UnsupportedMediaType, detail)
        })?;
        let max = context.engine.settings.limits.upload_bytes_max.get();
        let sizes = SizeLimit::new()
            .whole_stream(max.saturating_add(1024 * 1024))
            .per_field(limits::CONTACT_UPLOAD_FIELD_BYTES_MAX as u64)
            .for_field("file", max);
        let mut form = Multipart::with_constraints(chunks(request.body), boundary, Constraints::new().size_limit(sizes));
        while let Some(field) = form.next_field().await.map_err(|error| refused(error, max))? {
            let name = field.name().unwrap_or_default().to_owned();
            if name == "file" {
                self.file(context, field, max).await?;
                continue;
            }
            let text = field.text().await.map_err(|error| refused(error, max))?;
            // Do not trim a delimiter, because a tab is whitespace.
            self.field(&name, if name == "delimiter" { &text } else { text.trim() })?;
        }
        Ok(())
    }

    fn field(&mut self, name: &str, text: &str) -> Result<(), Failure> {
        match name {
            "projectId" => {
                let id = ProjectId::parse(text);
                self.project = Some(id.ok_or_else(|| Failure::field(name, "must be an ID: 24 hexadecimal characters"))?);
            }
            "columnMap" if text.is_empty() => {}
            "columnMap" => {
                let mut reader = serde_json::Deserializer::from_str(text);
                let mapping = serde_path_to_error::deserialize(&mut reader)
                    .map_err(|error| Failure::field(name, format_args!("{}: {}", error.path(), error.inner())))?;
                self.mapping = Some(mapping);
            }
            "onConflict" => {
                self.on_conflict = match text {
                    "upsert" | "" => OnConflict::Upsert,
                    "skip" => OnConflict::Skip,
                    other => return Err(Failure::field(name, format_args!("must be `upsert` or `skip`, not \"{other}\""))),
                }
            }
            "delimiter" => self.delimiter = Some(delimiter(text).ok_or_else(wrong_delimiter)?),
            "tags" => {
                let names = jobs::tag_names(text).map_err(|error| Failure::field(name, error))?;
                if names.len() > limits::TAGS_PER_CONTACT_MAX {
                    let (max, found) = (limits::TAGS_PER_CONTACT_MAX, names.len());
                    return Err(Failure::field(name, format_args!("list at most {max} tags; this list has {found}")));
                }
                self.tags = names.iter().map(|name| name.to_string()).collect();
            }
            "status" if text.is_empty() => {}
            "status" => {
                let found = Status::ALL.into_iter().find(|status| status.word() == text);
                let words = || Status::ALL.map(Status::word).join(", ");
                let refused = || Failure::field(name, format_args!("must be one of {}, not \"{text}\"", words()));
                self.status = Some(found.ok_or_else(refused)?);
            }
            "hold" => {
                self.hold = match text {
                    "true" => true,
                    "false" | "" => false,
                    other => return Err(Failure::field(name, format_args!("must be true or false, not \"{other}\""))),
                }
            }
            other => {
                let known = "file, projectId, columnMap, onConflict, delimiter, tags, status, hold";
                return Err(Failure::field(other, format_args!("unknown field; the fields are {known}")));
            }
        }
        Ok(())
    }

    /// Stores the file chunk by chunk, so that only a few chunks of a long file are in memory at a time.
    async fn file(&mut self, context: &Context, mut field: Field<'_>, max: u64) -> Result<(), Failure> {
        if self.blob.is_some() {
            return Err(Failure::field("file", "the form contains more than one file; send only one file"));
        }
        let store = &context.data().store;
        let name: String = field.file_name().unwrap_or("contacts.csv").chars().take(200).collect();
        let id = store.write(move |tx| Ok::<_, Failure>(files::begin(tx, name))).await??;
        self.blob = Some(id);
        let (mut sniffer, mut kept, mut number) = (Sniffer::default(), Vec::new(), 0);
        let enough = files::BYTES_PER_WRITE;
        loop {
            let part = field.chunk().await.map_err(|error| refused(error, max))?;
            let ended = part.is_none();
            match part {
                Some(part) => sniffer.take(&part, &mut kept),
                None => self.encoding = Some(std::mem::take(&mut sniffer).end(&mut kept)),
            }
            while kept.len() >= enough || (ended && !kept.is_empty()) {
                let rest = kept.split_off(kept.len().min(enough));
                let whole = std::mem::replace(&mut kept, rest);
                let room = limits::CONTACT_IMPORT_ROW_BYTES_MAX.saturating_sub(self.head.len());
                self.head.extend_from_slice(&whole[..whole.len().min(room)]);
                self.bytes += whole.len() as u64;
                let first = number;
                number += whole.len().div_ceil(blobs::CHUNK_BYTES) as u32;
                let there = store.write(move |tx| files::put(tx, id, first, &whole)).await??;
                if !there {
                    return Err(files::expired());
                }
            }
            if ended {
                return Ok(());
            }
        }
    }

    /// Checks the complete form, and starts the import. If `hold` is true, only stores the file and its job for a later import.
    async fn start(&mut self, context: &Context) -> Result<JobId, Failure> {
        let project =
            self.project.ok_or_else(|| Failure::field("projectId", "the project is missing; send its ID in this field"))?;
        let account = context.caller.account();
        // Check the project before the file: if both are invalid, the error is about the project.
        context.read(move |tx| projects::require(tx, account, project)).await?;
        let file = self.blob.ok_or_else(|| Failure::field("file", "the file is missing; send the CSV file in this field"))?;
        let encoding = self.encoding.expect("a file that was read to its end has an encoding");
        let delimiter = self.delimiter.unwrap_or(b',');
        let (headers, offset) = jobs::headers(&self.head, delimiter, encoding)?;
        let columns = match &self.mapping {
            // The columns of a pending file are mapped later.
            _ if self.hold => Columns::default(),
            Some(mapping) => Columns::named(mapping, &headers)?,
            None => Columns::guessed(&headers)?,
        };
        let task = jobs::Import {
            file,
            encoding,
            delimiter,
            columns,
            on_conflict: self.on_conflict,
            tags: std::mem::take(&mut self.tags),
            status: self.status,
            leaves_out_undecided: false,
            excluded: 0,
            offset,
            row: 1,
        };
        let (bytes, hold) = (self.bytes, self.hold);
        let write = context.data().store.write(move |tx| {
            projects::require(tx, account, project)?;
            if hold {
                return jobs::pending_imports::add(tx, account, project, task, bytes).map(|job| job.id);
            }
            files::import(tx, (account, project), task, bytes).map(|job| job.id)
        });
        write.await?
    }
}

/// Wraps the error for a request body that could not be read in a type that implements `Error`, as the form reader requires.
#[derive(Debug)]
struct Broken(BodyError);

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl std::error::Error for Broken {}

fn chunks(body: Body) -> impl futures_util::Stream<Item = Result<Bytes, Broken>> + Send + 'static {
    stream::unfold(body, |mut body| async move {
        let chunk = body.next().await?;
        Some((chunk.map_err(Broken), body))
    })
}

fn refused(error: multer::Error, max: u64) -> Failure {
    match error {
        multer::Error::FieldSizeExceeded { field_name: Some(name), .. } if name != "file" => Failure::field(
            &name,
            format_args!("this field is longer than {} bytes; shorten it", limits::CONTACT_UPLOAD_FIELD_BYTES_MAX),
        ),
        multer::Error::FieldSizeExceeded { .. } | multer::Error::StreamSizeExceeded { .. } => {
            body_failure(BodyError::TooLarge, usize::try_from(max).unwrap_or(usize::MAX))
        }
        multer::Error::StreamReadFailed(cause) => {
            let broken = cause.downcast_ref::<Broken>().map_or(BodyError::Broken, |Broken(error)| *error);
            body_failure(broken, usize::try_from(max).unwrap_or(usize::MAX))
        }
        other => Failure::because(Code::InvalidRequest, format!("The form data in the body is invalid: {other}.")),
    }
}
