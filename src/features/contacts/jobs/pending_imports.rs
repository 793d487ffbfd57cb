//! Uploaded files whose columns a user has yet to map. The jobs for these files are not processed by the worker.
//!
//! Pending files are deleted after a day, and each project keeps only the newest few, so that abandoned files do not accumulate.

use super::columns::Columns;
use super::records::{Encoding, Records};
use super::{Import, Job, State, Task, check_room, new, store};
use crate::engine::api::Failure;
use crate::engine::store::{Read, Result, WriteTx, blobs};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, JobId, ProjectId};
use crate::vocab::limits;

/// Stores a job for an uploaded file whose import will be started later. If the project then has too many such files, deletes the oldest.
pub fn add(tx: &mut WriteTx<'_>, account: AccountId, project: ProjectId, import: Import, bytes: u64) -> Result<Job, Failure> {
    let expires_at = tx.now().plus_ms(limits::CONTACT_PENDING_IMPORT_MS);
    if !blobs::complete(tx, import.file, bytes, Some(expires_at))? {
        return Err(gone());
    }
    let mut pending = store::awaiting_mapping(tx)?;
    pending.retain(|job| job.project == project);
    let surplus = (pending.len() + 1).saturating_sub(limits::CONTACT_PENDING_IMPORTS_PER_PROJECT_MAX);
    for job in pending.into_iter().take(surplus) {
        store::delete(tx, &job);
        if let Task::Import(import) = job.task {
            let now = tx.now();
            blobs::expire(tx, import.file, now)?;
        }
    }
    let job = Job { state: State::AwaitingMapping, ..new(tx, account, project, Task::Import(import)) };
    store::save(tx, &job);
    Ok(job)
}

pub fn import_of(job: &Job) -> Result<&Import, Failure> {
    match (&job.state, &job.task) {
        (State::AwaitingMapping, Task::Import(import)) => Ok(import),
        (_, Task::Import(_)) => {
            let failure = Failure::because(Code::WrongState, "This import has already started.");
            Err(failure.see("contacts.import_status", "GET /v1/contacts/imports/{id} returns the import's progress"))
        }
        _ => Err(super::wrong_kind(job.id)),
    }
}

pub fn begin(tx: &mut WriteTx<'_>, job: Job, import: Import) -> Result<Job, Failure> {
    check_room(tx, job.project)?;
    let head = blobs::head(tx, import.file)?.ok_or_else(gone)?;
    // Remove the file's expiry time: from now on, the file is kept until the job releases it.
    blobs::complete(tx, import.file, head.bytes, None)?;
    let before = job.state;
    let job = Job { state: State::Waiting, task: Task::Import(import), ..job };
    store::save_changed(tx, &before, &job);
    Ok(job)
}

fn gone() -> Failure {
    Failure::because(Code::NotFound, "The uploaded file no longer exists. Upload the file again.")
}

/// Deletes one abandoned pending import; returns whether there may be more.
pub fn forget(tx: &mut WriteTx<'_>) -> Result<bool> {
    let Some(job) = store::oldest_awaiting_mapping(tx)? else { return Ok(false) };
    let is_old = tx.now().ms_since(job.created_at) >= limits::CONTACT_PENDING_IMPORT_MS;
    if is_old {
        // Delete only the job. The file expires separately.
        store::delete(tx, &job);
    }
    Ok(is_old)
}

pub struct FilePreview {
    pub file_name: String,
    pub bytes: u64,
    pub headers: Vec<String>,
    /// The first rows of the file, each with as many cells as there are headers.
    pub rows: Vec<Vec<String>>,
    /// The offset of the first byte after the headers.
    pub offset: u64,
    pub delimiter: u8,
}

/// Reads the start of a pending file with the given delimiter or, if none is given, with the delimiter that fits best.
pub fn preview(tx: &impl Read, id: JobId, import: &Import, delimiter: Option<u8>, rows: usize) -> Result<FilePreview, Failure> {
    let absent = || gone().with(serde_json::json!({ "jobId": id }));
    let head = blobs::head(tx, import.file)?.ok_or_else(absent)?;
    let start = blobs::chunk(tx, import.file, 0)?.unwrap_or_default();
    // This request contains no file, so the error names another field. The headers were valid at the upload, so an error usually means that
    // the delimiter in the request is wrong.
    let field = if delimiter.is_some() { "delimiter" } else { "id" };
    let delimiter = delimiter.unwrap_or_else(|| fitting(&start, import.delimiter));
    let found = super::headers(&start, delimiter, import.encoding);
    let (headers, offset) = found.map_err(|failure| failure.in_field(field))?;
    let whole = start.len() as u64 == head.bytes;
    let rows = first_rows(&start, whole, (offset, headers.len()), delimiter, import.encoding, rows);
    Ok(FilePreview { file_name: head.name, bytes: head.bytes, headers, rows, offset, delimiter })
}

fn first_rows(
    start: &[u8],
    whole: bool,
    (offset, columns): (u64, usize),
    delimiter: u8,
    encoding: Encoding,
    many: usize,
) -> Vec<Vec<String>> {
    let rest = usize::try_from(offset).ok().and_then(|offset| start.get(offset..)).unwrap_or_default();
    let (mut records, mut rows) = (Records::new(rest, delimiter, 0), Vec::new());
    while rows.len() < many {
        let Ok(Some(record)) = records.read() else { break };
        if record.is_blank() {
            continue;
        }
        let cells = (0..columns).map(|column| encoding.text(record.cell(column)).trim().to_owned()).collect();
        // If the file continues after the excerpt, ignore the excerpt's last row, because it may be incomplete.
        if !whole && records.offset() >= rest.len() as u64 {
            break;
        }
        rows.push(cells);
    }
    rows
}

/// Returns the delimiter that splits the first row into the most columns; returns `usual` if no other delimiter gives more columns.
pub fn fitting(start: &[u8], usual: u8) -> u8 {
    let columns = |delimiter: u8| Records::new(start, delimiter, 0).read().ok().flatten().map_or(0, |record| record.len());
    let most = |best: (usize, u8), delimiter: u8| {
        let found = columns(delimiter);
        if found > best.0 { (found, delimiter) } else { best }
    };
    b",;\t|".iter().copied().fold((columns(usual), usual), most).1
}

/// Returns a guess for each column, based on its header: the name of the field, with the prefix `customFields.` for a custom field; `None`
/// if the header is not recognized.
pub fn guesses(headers: &[String]) -> Vec<Option<String>> {
    let mut guesses = vec![None; headers.len()];
    for (field, column) in Columns::understood(headers) {
        if let Some(guess) = guesses.get_mut(usize::from(column)) {
            *guess = Some(field);
        }
    }
    guesses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_with_the_most_columns_is_chosen() {
        for (text, expected) in [
            ("email,name\na@b.co,A", b','),
            ("email;name;city\na@b.co;A, B;C", b';'),
            ("email\tname\n", b'\t'),
            ("email|name\n", b'|'),
            ("email\na@b.co\n", b','),
            ("\"last, first\";email\n", b';'),
        ] {
            assert_eq!(fitting(text.as_bytes(), b','), expected, "{text}");
        }
    }

    #[test]
    fn a_row_cut_off_by_the_excerpt_is_not_shown() {
        let rows = |whole| first_rows(b"e,n\na,1\n\nb,2\nc,", whole, (4, 2), b',', Encoding::Utf8, 9);
        assert_eq!(rows(false), [["a", "1"], ["b", "2"]]);
        assert_eq!(rows(true), [["a", "1"], ["b", "2"], ["c", ""]]);
    }

    #[test]
    fn columns_are_guessed_one_by_one() {
        let headers = ["Id", "E-Mail", "First name", "custom.plan", "Shoe size"].map(str::to_owned);
        let guessed = guesses(&headers);
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(guessed, [None, text("email"), text("firstName"), text("customFields.plan"), None]);
    }
}
