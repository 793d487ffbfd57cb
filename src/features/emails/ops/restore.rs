//! Restores an earlier version of an email.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::bounded::Bounded;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::{ReadTx, WriteTx};
use crate::features::emails::model::{Origin, Version, VersionScreenshots};
use crate::features::emails::views::{EmailView, Viewer};
use crate::features::emails::{require_email, store, versions};
use crate::vocab::codes::Code;
use crate::vocab::ids::{EmailId, ProjectId};
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Restore;

/// The email and the version to restore.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RestoreVersion {
    pub email_id: EmailId,
    pub version: Bounded<1, { u32::MAX as u64 }>,
    /// If given, the email must belong to the project with this ID.
    pub project_id: Option<ProjectId>,
}

impl Operation for Restore {
    const SPEC: Spec = Spec::post(
        "emails.restore",
        "/v1/emails/{emailId}/versions/{version}/restore",
        needs(Permission::EmailWrite),
    ).client("emails.versions.restore")
    .summary("Restore a version of an email")
    .about(
        "Creates a new version with the content of the selected version. The other versions do not change. Restoring the current version has no \
         effect.",
    )
    .rate(RouteGroup::Emails)
    .replay(Replay::Keyed)
    .fails(&[Code::NotFound]);
    type Input = RestoreVersion;
    type Output = Done<EmailView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "emailId": "66f1a2b3d4e5f60718293a4e", "version": 1 }), Done(EmailView::sample()))
    }
}

impl Async for Restore {
    async fn run(context: Context, input: RestoreVersion) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        let (id, project) = (input.email_id, input.project_id);
        let restore = move |tx: &mut WriteTx<'_>| {
            let mut email = require_email(tx, account, id, project)?;
            let number = input.version.get() as u32;
            let earlier = store::version(tx, id, number)?;
            let earlier = earlier.ok_or_else(|| {
                Failure::because(Code::NotFound, "The email has no version with this number.")
                    .see("emails.versions", "GET /v1/emails/{emailId}/versions lists the email's versions")
            })?;
            if number != email.version {
                // The restored document determines the email's language, because the current version may be a translation. Imported HTML
                // keeps its language, because edits cannot translate it.
                if let Some(language) = earlier.document.as_deref().and_then(language) {
                    email.language = language;
                }
                if versions::owns_brief(tx, account, &email)?
                    && let Some(mut conversation) = store::conversation(tx, account, email.conversation)?
                {
                    conversation.wanted.brief.clone_from(&earlier.brief);
                    store::save_conversation(tx, account, &conversation);
                }
                let texts = versions::texts(tx, id, number)?;
                let version = Version { origin: Origin::Restored { number }, ..earlier };
                if version.pictures == VersionScreenshots::default() {
                    store::request_screenshots(tx, account, id);
                }
                versions::add(tx, account, &mut email, version, texts)?;
            }
            Ok(())
        };
        context.write(&Self::SPEC, restore).await?;
        let engine = context.engine.clone();
        let query = move |tx: &ReadTx| {
            let email = require_email(tx, account, id, project)?;
            Viewer { engine: &engine, tx, account }.email(&email)
        };
        context.read(query).await.map(Done)
    }
}

/// Returns the language of a document. `document` is the document's stored JSON.
fn language(document: &str) -> Option<String> {
    let document: Value = serde_json::from_str(document).ok()?;
    document["language"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    /// Regression test: restoring the version before a translation kept the language of the translation, so contacts received the wrong
    /// email.
    #[test]
    fn a_restored_version_has_its_own_language() {
        let app = TestApp::new();
        let made = app.post_in("/v1/emails", json!({ "language": "en" })).data();
        let path = format!("/v1/emails/{}", made["id"].as_str().expect("the email has an ID"));
        let translate = json!({ "operations": [{ "op": "set", "path": "language", "value": "de" }] });
        assert_eq!(app.patch(&format!("{path}/document"), translate).data()["language"], "de");
        let restored = app.post(&format!("{path}/versions/1/restore"), json!({})).data();
        assert_eq!((&restored["version"], &restored["language"]), (&json!(3), &json!("en")));
        let again = app.post(&format!("{path}/versions/2/restore"), json!({})).data();
        assert_eq!((&again["version"], &again["language"]), (&json!(4), &json!("de")));
        assert_eq!(app.get(&path).data()["series"][0]["language"], "de");
    }
}
