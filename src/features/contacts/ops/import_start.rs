//! Starts the import of a pending file.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::import::ImportStarted;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::contacts::jobs::files::{DELIMITER_PATTERN, delimiter, wrong_delimiter};
use crate::features::contacts::jobs::{self, ColumnMap, Columns, Import, OnConflict, pending_imports};
use crate::features::projects;
use crate::features::tags::TagName;
use crate::vocab::codes::Code;
use crate::vocab::contact_status::Status;
use crate::vocab::ids::{JobId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct ImportStart;

/// The pending file, and how to import it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartImport {
    /// The ID of the import, as returned by the upload.
    pub id: JobId,
    /// The file's project. Optional; if given, the file must belong to it.
    pub project_id: Option<ProjectId>,
    /// Maps contact fields to column headers. If absent, the mapping is guessed from common headers.
    pub column_map: Option<ColumnMap>,
    /// What to do with contacts that already exist.
    #[serde(default)]
    pub on_conflict: OnConflict,
    /// The separator between cells. If absent, it is detected. `\t` is a tab.
    #[schemars(extend("pattern" = DELIMITER_PATTERN))]
    pub delimiter: Option<String>,
    /// Names of tags to add to every contact in the file.
    #[serde(default)]
    pub tags: Vec<TagName>,
    /// The status for rows that have no status. If absent, new contacts from such rows are subscribed.
    pub status: Option<Status>,
}

impl Operation for ImportStart {
    const SPEC: Spec = Spec::post("contacts.import_start", "/v1/contacts/imports/{id}/start", needs(Permission::AudienceWrite))
        .client("contacts.imports.start")
        .summary("Import an uploaded file")
        .about("Starts an import whose file was uploaded with `hold`. Starting the same import again returns 409.")
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::WrongState, Code::LimitReached]);
    type Input = StartImport;
    type Output = Done<ImportStarted>;

    fn example() -> (Value, Self::Output) {
        let id = JobId::parse("66f1a2b3d4e5f60718293a4c").expect("the id has 24 hexadecimal characters");
        let input = json!({
            "id": id, "columnMap": { "email": "E-mail", "customFields": { "shoeSize": "Shoe size" } }, "onConflict": "upsert",
            "tags": ["fair"], "status": "subscribed",
        });
        (input, Done(ImportStarted { object: "contact_import", id, status: "processing" }))
    }
}

impl Command for ImportStart {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: StartImport) -> Result<Self::Output, Failure> {
        let job = jobs::of_account(tx, caller.account(), input.id, input.project_id)?;
        projects::require(tx, caller.account(), job.project)?;
        let import = pending_imports::import_of(&job)?.clone();
        if input.tags.len() > limits::TAGS_PER_CONTACT_MAX {
            let (max, found) = (limits::TAGS_PER_CONTACT_MAX, input.tags.len());
            return Err(Failure::field("tags", format_args!("list at most {max} tags; this list has {found}")));
        }
        let given = input.delimiter.as_deref().filter(|text| !text.is_empty());
        let cut = given.map(|text| delimiter(text).ok_or_else(wrong_delimiter)).transpose()?;
        let file = pending_imports::preview(tx, job.id, &import, cut, 0)?;
        let columns = match &input.column_map {
            Some(mapping) => Columns::named(mapping, &file.headers)?,
            None => Columns::guessed(&file.headers)?,
        };
        let import = Import {
            columns,
            delimiter: file.delimiter,
            offset: file.offset,
            on_conflict: input.on_conflict,
            tags: input.tags.iter().map(|name| name.to_string()).collect(),
            status: input.status,
            ..import
        };
        let job = pending_imports::begin(tx, job, import)?;
        Ok(Done(ImportStarted { object: "contact_import", id: job.id, status: "processing" }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::features::contacts::jobs;
    use crate::testing::TestApp;
    use crate::vocab::limits::{CONTACT_PENDING_IMPORT_MS, CONTACT_PENDING_IMPORTS_PER_PROJECT_MAX};

    fn hold(app: &TestApp, file: &str) -> String {
        let project = app.project.to_string();
        let fields = [("projectId", project.as_str()), ("hold", "true")];
        let held = app.upload("/v1/contacts/imports", &fields, file.as_bytes()).data();
        assert_eq!(held["status"], "uploaded");
        format!("/v1/contacts/imports/{}", held["id"].as_str().expect("the import has an id"))
    }

    fn work(app: &TestApp) {
        while jobs::step(app.data()).expect("the step succeeds") {}
    }

    #[test]
    fn a_file_is_previewed_mapped_and_imported() {
        let app = TestApp::new();
        let path = hold(&app, "Post;Who;Shoe size\nada@example.com;Ada Lovelace;38\nbob@example.com;Bob;\n");
        work(&app);
        assert_eq!(app.get(&path).data()["status"], "uploaded", "the file waits for its import to be started");
        let preview = app.get(&format!("{path}/preview?rows=1")).data();
        assert_eq!((&preview["delimiter"], &preview["fileName"]), (&json!(";"), &json!("people.csv")));
        let column = |header: &str, sample: &str| json!({ "header": header, "samples": [sample] });
        let all = json!([column("Post", "ada@example.com"), column("Who", "Ada Lovelace"), column("Shoe size", "38")]);
        assert_eq!(preview["columns"], all);
        let refused = app.post(&format!("{path}/start"), json!({}));
        assert!(refused.refusal().2.starts_with("columnMap: no column was recognized as the email address"), "{refused:?}");
        let map = json!({ "email": "Post", "name": "Who", "customFields": { "shoe": "Shoe size" } });
        let start = json!({ "columnMap": map, "tags": ["fair"], "status": "non-subscribed" });
        assert_eq!(app.post(&format!("{path}/start"), start.clone()).data()["status"], "processing");
        work(&app);
        let done = app.get(&path).data();
        assert_eq!((&done["status"], &done["counts"]["created"]), (&json!("completed"), &json!(2)));
        let ada = app.get_in("/v1/contacts?sortOrder=asc").data()["contacts"][0].clone();
        assert_eq!(
            (&ada["lastName"], &ada["tags"], &ada["status"]),
            (&json!("Lovelace"), &json!(["fair"]), &json!("non-subscribed"))
        );
        assert_eq!(ada["customFields"], json!({ "shoe": "38" }));
        assert_eq!(app.post(&format!("{path}/start"), start).refusal().0, 409, "once");
        assert_eq!(app.get(&format!("{path}/preview")).refusal().0, 409);
    }

    // Regression test: errors about the headers named the field `file`, which only the upload has.
    #[test]
    fn errors_about_the_headers_name_a_field_of_the_request() {
        let app = TestApp::new();
        let path = hold(&app, ";;\nada@example.com;Ada;\n");
        let preview = app.get(&format!("{path}/preview?delimiter=%3B"));
        assert_eq!((preview.refusal().0, &preview.body["data"]["field"]), (400, &json!("delimiter")), "{preview:?}");
        let start = app.post(&format!("{path}/start"), json!({}));
        assert_eq!((start.refusal().0, &start.body["data"]["field"]), (400, &json!("id")), "{start:?}");
    }

    #[test]
    fn abandoned_files_are_deleted() {
        let app = TestApp::new();
        let first = hold(&app, "email\na@example.com\n");
        app.clock.advance_ms(1_000);
        let rest: Vec<String> = (0..CONTACT_PENDING_IMPORTS_PER_PROJECT_MAX)
            .map(|_| {
                app.clock.advance_ms(1_000);
                hold(&app, "email\na@example.com\n")
            })
            .collect();
        assert_eq!(app.get(&first).refusal().0, 404, "the oldest pending file was deleted to make room");
        assert_eq!(app.get(&format!("{}/preview", rest[0])).status, 200);
        let forget =
            |app: &TestApp| app.data().store.write_blocking(jobs::forget).expect("the store works").expect("the write succeeds");
        assert!(!forget(&app));
        app.clock.advance_ms(CONTACT_PENDING_IMPORT_MS);
        while forget(&app) {}
        let gone: Vec<Value> = rest.iter().map(|path| json!(app.get(path).refusal().0)).collect();
        assert!(gone.iter().all(|status| *status == json!(404)), "{gone:?}");
    }
}
