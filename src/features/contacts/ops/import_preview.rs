//! Previews a pending file, and guesses which field each column contains.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::bounded::Bounded;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::features::contacts::jobs::files::{DELIMITER_PATTERN, delimiter, wrong_delimiter};
use crate::features::contacts::jobs::{self, pending_imports};
use crate::vocab::codes::Code;
use crate::vocab::ids::{JobId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct ImportPreview;

/// Selects a pending file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PreviewImport {
    /// The ID of the import, as returned by the upload.
    pub id: JobId,
    /// The file's project. Optional; if given, the file must belong to it.
    pub project_id: Option<ProjectId>,
    /// The separator between cells. If absent, it is detected. `\t` is a tab.
    #[schemars(extend("pattern" = DELIMITER_PATTERN))]
    pub delimiter: Option<String>,
    /// The number of rows to return. The default is 5.
    pub rows: Option<Bounded<1, { limits::CONTACT_UPLOAD_ROWS_SHOWN_MAX }>>,
}

/// A preview of a pending file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportPreviewed {
    pub id: JobId,
    pub project_id: ProjectId,
    pub file_name: String,
    pub bytes: u64,
    /// The separator that was used to split the rows into cells.
    pub delimiter: String,
    /// All columns of the file.
    pub columns: Vec<ImportColumn>,
    /// When the file will be deleted, unless its import has been started by then.
    pub expires_at: WireTime,
}

/// A column of a file.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportColumn {
    /// The cell of this column in the header row.
    pub header: String,
    /// The field that the column probably contains: its name, or `customFields.` followed by the name of a custom field; absent if unknown.
    pub guess: Option<String>,
    /// The cells of this column in the first rows after the headers.
    pub samples: Vec<String>,
}

/// The default number of rows, which is enough to recognize what a column contains.
const ROWS: u64 = 5;

impl Operation for ImportPreview {
    const SPEC: Spec = Spec::get("contacts.import_preview", "/v1/contacts/imports/{id}/preview", needs(Permission::AudienceRead))
        .client("contacts.imports.preview")
        .summary("Preview a file before its import")
        .about("Previews an import whose file was uploaded with `hold`. Returns 409 once the import has started.")
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = PreviewImport;
    type Output = Done<ImportPreviewed>;

    fn example() -> (Value, Self::Output) {
        let id = JobId::parse("66f1a2b3d4e5f60718293a4c").expect("the id has 24 hexadecimal characters");
        let column = |header: &str, guess: Option<&str>, sample: &str| ImportColumn {
            header: header.into(),
            guess: guess.map(str::to_owned),
            samples: vec![sample.into()],
        };
        let preview = ImportPreviewed {
            id,
            project_id: ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the id has 24 hexadecimal characters"),
            file_name: "people.csv".into(),
            bytes: 48_210,
            delimiter: ",".into(),
            columns: vec![column("E-mail", Some("email"), "ada@example.com"), column("Shoe size", None, "38")],
            expires_at: WireTime::sample(),
        };
        (json!({ "id": id, "rows": 1 }), Done(preview))
    }
}

impl Query for ImportPreview {
    fn run(view: &View<'_>, input: PreviewImport) -> Result<Self::Output, Failure> {
        let job = jobs::of_account(view.tx, view.caller.account(), input.id, input.project_id)?;
        let import = pending_imports::import_of(&job)?;
        let given = input.delimiter.as_deref().filter(|text| !text.is_empty());
        let cut = given.map(|text| delimiter(text).ok_or_else(wrong_delimiter)).transpose()?;
        let rows = input.rows.map_or(ROWS, Bounded::get) as usize;
        let file = pending_imports::preview(view.tx, job.id, import, cut, rows)?;
        let guesses = pending_imports::guesses(&file.headers);
        let columns = file.headers.into_iter().zip(guesses).enumerate().map(|(at, (header, guess))| ImportColumn {
            header,
            guess,
            samples: file.rows.iter().map(|row| row.get(at).cloned().unwrap_or_default()).collect(),
        });
        Ok(Done(ImportPreviewed {
            id: job.id,
            project_id: job.project,
            file_name: file.file_name,
            bytes: file.bytes,
            delimiter: char::from(file.delimiter).to_string(),
            columns: columns.collect(),
            expires_at: WireTime(job.created_at.plus_ms(limits::CONTACT_PENDING_IMPORT_MS)),
        }))
    }
}
