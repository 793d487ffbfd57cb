//! Changes the document of an email, block by block.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::bounded::Bounded;
use crate::base::optional::remove_nulls;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::{Read, ReadTx, WriteTx};
use crate::features::emails::document::Change;
use crate::features::emails::views::{EmailDetails, EmailView, SiblingView, Viewer};
use crate::features::emails::{check_length, direct, postal_address, require_email, versions};
use crate::vocab::codes::Code;
use crate::vocab::ids::{EmailId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

/// The operation `emails.document_update`.
pub struct DocumentUpdate;

/// The email, the changes to its document, and how to save them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateDocument {
    pub email_id: EmailId,
    /// If given, the email must belong to the project with this ID.
    pub project_id: Option<ProjectId>,
    /// The changes, in order. Either all of them are saved, or none.
    #[schemars(length(min = 1, max = limits::EMAIL_CHANGES_MAX))]
    pub operations: Vec<Change>,
    /// The version that the changes are based on. If it is not the current version, the response is 409 and nothing is saved.
    pub version: Option<Bounded<1, { u32::MAX as u64 }>>,
    /// Whether to return the changed email without saving it.
    #[serde(default)]
    pub preview: bool,
    /// Whether this is an autosave. An autosave replaces the current version if that version combines the caller's own autosaves, the first
    /// of which was saved less than ten minutes ago.
    #[serde(default)]
    pub autosave: bool,
}

impl Operation for DocumentUpdate {
    const SPEC: Spec = Spec::patch("emails.document_update", "/v1/emails/{emailId}/document", needs(Permission::EmailWrite)).client("emails.update_document")
        .summary("Edit the document of an email")
        .about(
            "Saves the changed document as a new version, and renders the HTML, MJML and text. The screenshots follow within seconds. \
                Imported HTML has no document; edit it with a prompt.",
        )
        .rate(RouteGroup::Emails)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::EditFailed, Code::WrongState, Code::VersionConflict]);
    type Input = UpdateDocument;
    type Output = Done<EmailDetails>;

    fn example() -> (Value, Self::Output) {
        let input = json!({
            "emailId": "66f1a2b3d4e5f60718293a4e", "version": 1,
            "operations": [
                { "op": "set", "path": "subject", "value": "Welcome to Acme" },
                { "op": "set", "path": "blocks.intro.text", "value": "Hello, **we are glad** that you are here." },
                { "op": "insert", "after": "intro", "value": { "type": "divider" } },
                { "op": "move", "id": "products", "before": "intro" },
            ],
        });
        let email = EmailView { version: 2, ..EmailView::sample() };
        let sibling = SiblingView { email_id: email.id, slot: 1, language: "en".into(), status: "ready" };
        (input, Done(EmailDetails { email, document: None, prompt: String::new(), brief: None, series: vec![sibling] }))
    }
}

impl Async for DocumentUpdate {
    async fn run(context: Context, input: UpdateDocument) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        let by = direct::author(&context.caller.principal)?;
        if input.operations.is_empty() {
            return Err(Failure::field("operations", "must not be empty; add at least one operation"));
        }
        check_length("operations", input.operations.len(), limits::EMAIL_CHANGES_MAX)?;
        let UpdateDocument { email_id: id, project_id: project, operations, version, preview, autosave } = input;
        let version = version.map(|version| version.get() as u32);
        let engine = context.engine.clone();
        let change = move |tx: &ReadTx| {
            let email = require_email(tx, account, id, project)?;
            let changed = direct::change(tx, account, &email, &operations, version)?;
            let details = match preview {
                true => Some(shown(tx, email.project, Viewer { engine: &engine, tx, account }.details(&email)?, &changed)?),
                false => None,
            };
            Ok((email.version, changed, details))
        };
        let (seen, changed, details) = context.read(change).await?;
        if let Some(details) = details {
            return Ok(Done(details));
        }
        let save = move |tx: &mut WriteTx<'_>| {
            let mut email = require_email(tx, account, id, project)?;
            if email.version != seen {
                return Err(versions::conflict(&email));
            }
            direct::save(tx, account, &mut email, changed, by, autosave)
        };
        context.write(&Self::SPEC, save).await?;
        let engine = context.engine.clone();
        let query = move |tx: &ReadTx| {
            let email = require_email(tx, account, id, project)?;
            Viewer { engine: &engine, tx, account }.details(&email)
        };
        context.read(query).await.map(Done)
    }
}

/// Returns the view of an email as it would be after a change.
fn shown(tx: &impl Read, project: ProjectId, details: EmailDetails, changed: &direct::Changed) -> Result<EmailDetails, Failure> {
    let direct::Changed { document, drawn } = changed;
    let texts = postal_address::in_texts(tx, project, drawn.texts.clone())?;
    let mut json = document.to_json();
    remove_nulls(&mut json);
    let email = EmailView {
        subject: document.subject.as_str().to_owned(),
        preheader: document.preheader.as_str().to_owned(),
        language: document.language.as_str().to_owned(),
        html: texts.html,
        text: texts.text,
        warnings: drawn.warnings.clone(),
        ..details.email
    };
    Ok(EmailDetails { email, document: Some(json), ..details })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::emails::generation;
    use crate::testing::TestApp;
    use crate::vocab::environment::Environment;

    fn created(app: &TestApp) -> (String, Value) {
        let made = app.post("/v1/emails", json!({ "projectId": app.project })).data();
        (format!("/v1/emails/{}/document", made["id"].as_str().expect("the email has an ID")), made)
    }

    fn subject(text: &str) -> Value {
        json!([{ "op": "set", "path": "subject", "value": text }])
    }

    fn versions(app: &TestApp, path: &str) -> Vec<u64> {
        let all = app.get(&path.replace("/document", "/versions")).data();
        let all = all["versions"].as_array().expect("the field is a list").iter();
        all.map(|version| version["version"].as_u64().expect("the field is a number")).collect()
    }

    #[test]
    fn a_change_is_saved_as_a_version_and_rendered() {
        let app = TestApp::new();
        let (path, made) = created(&app);
        assert_eq!((&made["version"], &made["status"]), (&json!(1), &json!("ready")));
        let operations = json!([
            { "op": "set", "path": "blocks.text-1.text", "value": "Hello **there**" },
            { "op": "duplicate", "id": "text-1" },
        ]);
        let changed = app.patch(&path, json!({ "operations": operations, "version": 1 })).data();
        assert_eq!(changed["version"], 2);
        assert!(changed["html"].as_str().is_some_and(|html| html.matches("there</strong>").count() == 2), "{}", changed["html"]);
        assert_eq!(changed["document"]["blocks"][3]["id"], "text-2");
        assert_eq!(versions(&app, &path), [2, 1]);
    }

    #[test]
    fn screenshots_are_rendered_again_after_a_change() {
        let app = TestApp::new();
        let (path, made) = created(&app);
        assert!(made["screenshotUrl"].is_null());
        while app.wait(generation::step(app.engine().clone(), Environment::Test)).expect("the step succeeds") {}
        let email = app.get(path.trim_end_matches("/document")).data();
        assert!(email["screenshotUrl"].is_string() && email["thumbnailUrl"].is_string(), "{}", email["warnings"]);
        app.patch(&path, json!({ "operations": subject("New") })).data();
        assert!(app.get(path.trim_end_matches("/document")).data()["screenshotUrl"].is_null());
        while app.wait(generation::step(app.engine().clone(), Environment::Test)).expect("the step succeeds") {}
        assert!(app.get(path.trim_end_matches("/document")).data()["screenshotUrl"].is_string());
    }

    #[test]
    fn a_preview_saves_nothing() {
        let app = TestApp::new();
        let (path, _) = created(&app);
        let shown = app.patch(&path, json!({ "operations": subject("Only a preview"), "preview": true })).data();
        assert_eq!((&shown["subject"], &shown["version"]), (&json!("Only a preview"), &json!(1)));
        assert_eq!(shown["document"]["subject"], "Only a preview");
        assert!(!format!("{}{}", shown["html"], shown["text"]).contains("postal_address"), "the placeholder is filled in");
        assert_eq!((versions(&app, &path), app.get(path.trim_end_matches("/document")).data()["subject"].clone()), {
            (vec![1], json!("[Subject]"))
        });
    }

    #[test]
    fn the_second_of_two_editors_is_refused() {
        let app = TestApp::new();
        let (path, _) = created(&app);
        app.patch(&path, json!({ "operations": subject("First"), "version": 1 })).data();
        let answer = app.patch(&path, json!({ "operations": subject("Second"), "version": 1 }));
        let (status, code, detail) = answer.refusal();
        assert_eq!((status, code), (409, "VERSION_CONFLICT"));
        assert!(detail.contains("version 2 is now the current version"), "{detail}");
        assert_eq!(answer.body["data"]["version"], 2);
        // Without a version, the change applies to the current version.
        assert_eq!(app.patch(&path, json!({ "operations": subject("Second") })).data()["version"], 3);
    }

    #[test]
    fn recent_autosaves_become_one_version_with_a_new_number() {
        let app = TestApp::new();
        let (path, _) = created(&app);
        let save =
            |text: &str, autosave: bool| app.patch(&path, json!({ "operations": subject(text), "autosave": autosave })).data();
        save("a", true);
        save("b", true);
        assert_eq!(save("c", true)["version"], 4);
        assert_eq!(versions(&app, &path), [4, 1]);
        app.clock.advance_ms(limits::EMAIL_AUTOSAVES_MS);
        save("d", true);
        assert_eq!(versions(&app, &path), [5, 4, 1]);
        save("e", false);
        save("f", true);
        assert_eq!(versions(&app, &path), [7, 6, 5, 4, 1]);
    }

    #[test]
    fn invalid_operations_are_refused_with_their_index_and_a_remedy() {
        let app = TestApp::new();
        let (path, _) = created(&app);
        let too_many = vec![json!({ "op": "set", "path": "subject", "value": "x" }); limits::EMAIL_CHANGES_MAX + 1];
        for (operations, expected) in [
            (json!([]), "operations: must not be empty; add at least one operation"),
            (json!(too_many), "operations: list at most 100 items; this list has 101"),
            (json!([{ "op": "turn" }]), "operations[0].op: "),
            (json!([{ "op": "remove", "id": "x" }]), "operations[0].id: the document has no block \"x\""),
            (
                json!([subject("a")[0], { "op": "set", "path": "blocks.text-1.text", "value": "" }]),
                "operations[1].value: blocks[2].text: is empty; write some text",
            ),
            (
                json!([{ "op": "insert", "after": "text-1", "value": { "type": "button", "label": "Go", "href": "javascript:x" } }]),
                "operations[0].value: blocks[3].href: The URL does not start with https://",
            ),
            (json!([{ "op": "remove", "id": "footer" }]), "operations[0].id: the footer cannot be removed"),
            (json!([{ "op": "move", "id": "footer", "before": "text-1" }]), "operations[0]: blocks[3]: is not a footer"),
            (json!([{ "op": "move", "id": "text-1", "before": "text-1" }]), "operations[0].before: a block cannot be placed"),
            (json!([{ "op": "set", "path": "subjekt", "value": "a" }]), "operations[0].path: subjekt: unknown field `subjekt`"),
            (
                json!([{ "op": "set", "path": "blocks.text-1.type", "value": "button" }]),
                "operations[0].path: the block cannot have this type; remove the block and insert another",
            ),
            (json!({ "op": "remove", "id": "x" }), "operations: must be a list, not an object"),
        ] {
            let answer = app.patch(&path, json!({ "operations": operations }));
            let (status, code, detail) = answer.refusal();
            assert_eq!((status, code), (400, "INVALID_REQUEST"));
            assert!(detail.starts_with(expected), "{detail}");
        }
        assert_eq!(versions(&app, &path), [1]);
    }

    #[test]
    fn imported_html_and_unknown_emails_have_no_document() {
        let app = TestApp::new();
        let html = json!({ "html": "<p>Hello</p>", "name": "Hello" });
        app.post_in("/v1/projects/emails/import-html", html).data();
        while app.wait(generation::step(app.engine().clone(), Environment::Test)).expect("the step succeeds") {}
        let conversation = app.get_in("/v1/projects/emails").data()["emails"][0]["conversationId"].clone();
        let status = app.get(&format!("/v1/projects/emails/{}/status", conversation.as_str().expect("an ID"))).data();
        let id = status["result"]["emails"][0]["id"].as_str().expect("an ID").to_owned();
        let answer = app.patch(&format!("/v1/emails/{id}/document"), json!({ "operations": subject("x") }));
        assert_eq!((answer.refusal().0, answer.refusal().1), (409, "EDIT_FAILED"));
        let answer = app.patch("/v1/emails/66f1a2b3d4e5f60718293a4e/document", json!({ "operations": subject("x") }));
        assert_eq!(answer.refusal().0, 404);
    }
}
