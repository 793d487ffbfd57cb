//! Resolves the emails that a send request refers to: one email, or an email of a conversation in all its languages.

use serde_json::json;

use super::document::Block;
use super::model::{Email, Stage, State};
use super::{ReadyEmail, conversation_not_found, one_finished, require_email, store};
use crate::engine::api::Failure;
use crate::engine::api::response::Warning;
use crate::engine::store::{Read, Result as StoreResult};
use crate::features::projects;
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, ConversationId, EmailId, ProjectId};
use crate::vocab::limits;

/// The subject and preheader, which email clients show before an email is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    pub subject: String,
    pub preheader: String,
}

/// The emails to send, one in each language. A recipient whose language matches none of them receives the first email.
#[derive(Clone, Debug)]
pub struct EmailChoice {
    pub emails: Vec<ReadyEmail>,
    /// Warnings for the caller about how the emails were chosen.
    pub warnings: Vec<Warning>,
}

/// Returns the current versions of the emails that a request refers to, or why they cannot be sent.
///
/// If the request names an email without its conversation, only that email is sent. If it names a conversation, one email of the series is
/// sent in all languages: the named email or, if none is named, the first email. Languages whose email could not be generated are left out,
/// with a warning.
pub fn choose(
    tx: &impl Read,
    account: AccountId,
    conversation: Option<ConversationId>,
    email: Option<EmailId>,
    project: Option<ProjectId>,
) -> Result<EmailChoice, Failure> {
    match (conversation, email) {
        (None, None) => {
            Err(Failure::field("emailId", "set the email's ID, or set `conversationId` to the ID of its conversation"))
        }
        (None, Some(id)) => Ok(EmailChoice { emails: ready(tx, account, &[id], project)?, warnings: Vec::new() }),
        (Some(conversation), named) => in_conversation(tx, account, conversation, named, project),
    }
}

/// Returns the current versions of these emails, or why one of them cannot be sent.
pub fn ready(
    tx: &impl Read,
    account: AccountId,
    ids: &[EmailId],
    project: Option<ProjectId>,
) -> Result<Vec<ReadyEmail>, Failure> {
    ids.iter().map(|id| one_ready(tx, &require_email(tx, account, *id, project)?)).collect()
}

fn one_ready(tx: &impl Read, email: &Email) -> Result<ReadyEmail, Failure> {
    match &email.stage {
        Stage::Ready => one_finished(tx, email),
        Stage::Failed(reason) => {
            let detail = format!("The email could not be generated: {reason}");
            Err(Failure::because(Code::WrongState, detail).with(json!({ "status": "failed", "emailId": email.id })))
        }
        Stage::Planned | Stage::Written | Stage::Rendered => Err(not_ready(email.conversation, "processing")),
    }
}

fn in_conversation(
    tx: &impl Read,
    account: AccountId,
    id: ConversationId,
    named: Option<EmailId>,
    project: Option<ProjectId>,
) -> Result<EmailChoice, Failure> {
    let conversation = store::conversation(tx, account, id)?;
    let conversation = conversation.filter(|found| project.is_none_or(|project| found.project == project));
    let conversation = conversation.ok_or_else(|| conversation_not_found(project))?;
    let all = store::emails(tx, account, id)?;
    let email = match named {
        Some(named) => all.iter().find(|email| email.id == named),
        None => all.first(),
    };
    let email = match (email, named, &conversation.state) {
        (None, Some(_), _) => {
            return Err(Failure::because(Code::NotFound, "The conversation has no email with this ID.").in_field("emailId"));
        }
        (_, None, State::Failed(reason)) if all.len() <= 1 => {
            let detail = format!("The generation failed: {reason}");
            return Err(Failure::because(Code::WrongState, detail).with(json!({ "status": "failed", "conversationId": id })));
        }
        (None, None, state) => return Err(not_ready(id, state.word())),
        (Some(email), ..) => email,
    };
    let first = one_ready(tx, email)?;
    let mut warnings = Vec::new();
    let slots = all.iter().map(|email| email.slot).max().map_or(0, |last| usize::from(last) + 1);
    if named.is_none() && slots > 1 {
        warnings.push(first_of_series(&first, slots));
    }
    let mut emails = vec![first];
    for other in all.iter().filter(|other| other.slot == email.slot && other.id != email.id) {
        match &other.stage {
            Stage::Failed(reason) => warnings.push(left_out(other, email, reason)),
            _ => emails.push(one_ready(tx, other)?),
        }
    }
    Ok(EmailChoice { emails, warnings })
}

fn first_of_series(email: &ReadyEmail, slots: usize) -> Warning {
    let ReadyEmail { conversation, subject, .. } = email;
    let message = format!(
        "The series has {slots} emails. This request uses the first one, “{subject}”. To send another email, set `emailId` \
         to its ID. GET /v1/projects/emails/{conversation}/status lists the emails."
    );
    Warning { code: "FIRST_EMAIL_OF_SERIES", message }
}

fn left_out(email: &Email, instead: &Email, reason: &str) -> Warning {
    let (language, other) = (&email.language, &instead.language);
    let message = format!(
        "The email in {language} could not be generated: {reason} Recipients with this language get the email in {other}, unless another \
         language suits them better."
    );
    Warning { code: "LANGUAGE_LEFT_OUT", message }
}

/// Returns a warning that the emails in all languages use the same text. `text` names that text, such as the subject. `None` if there is
/// only one language.
pub fn same_in_every_language(text: &str, emails: &[ReadyEmail]) -> Option<Warning> {
    let languages: Vec<&str> = emails.iter().map(|email| email.language.as_str()).collect();
    (languages.len() > 1).then(|| Warning {
        code: "SAME_TEXT_IN_EVERY_LANGUAGE",
        message: format!(
            "All languages ({}) use the same {text}. If you omit it, each email uses its own {text}.",
            languages.join(", ")
        ),
    })
}

fn not_ready(conversation: ConversationId, word: &str) -> Failure {
    let hint = format!("GET /v1/projects/emails/{conversation}/status returns the status of the generation");
    let failure = Failure::because(Code::WrongState, "The email is not ready yet. Try again when it is ready.");
    failure.see("emails.status", hint).with(json!({ "status": word, "conversationId": conversation }))
}

pub fn languages(tx: &impl Read, account: AccountId, ids: &[EmailId]) -> StoreResult<Vec<String>> {
    let mut languages = Vec::with_capacity(ids.len());
    for id in ids {
        languages.extend(store::email(tx, account, *id)?.map(|email| email.language));
    }
    Ok(languages)
}

/// Returns the subject and preheader of an email's current version; `None` if the email has no version yet.
pub fn headline(tx: &impl Read, account: AccountId, email: EmailId) -> StoreResult<Option<Headline>> {
    let Some(email) = store::email(tx, account, email)?.filter(|email| email.version > 0) else { return Ok(None) };
    let version = store::version(tx, email.id, email.version)?;
    Ok(version.map(|version| Headline { subject: version.subject, preheader: version.preheader }))
}

/// Returns whether the email has an unfinished edit.
pub fn is_being_edited(tx: &impl Read, email: EmailId) -> StoreResult<bool> {
    for id in store::open_edits(tx, limits::EDITS_WAITING_MAX)? {
        if store::any_edit(tx, id)?.is_some_and(|edit| edit.email == email) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether an email contains a postal address, as many countries require by law; `None` for imported HTML, in which an address
/// cannot be distinguished from other text.
pub fn names_postal_address(tx: &impl Read, account: AccountId, id: EmailId) -> Result<Option<bool>, Failure> {
    let Some(email) = store::email(tx, account, id)? else { return Ok(None) };
    let Some(document) = super::generation::context::document(tx, &email)? else { return Ok(None) };
    let has_own = |block: &Block| matches!(block, Block::Footer(footer) if footer.address.is_some());
    Ok(Some(document.blocks.iter().any(has_own) || projects::postal_address(tx, email.project)?.is_some()))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::engine::store::WriteTx;
    use crate::features::emails::generation;
    use crate::testing::TestApp;
    use crate::vocab::environment::Environment;

    /// Generates a series of two emails, each in English and in German. Returns the conversation, and its emails in order.
    fn series(app: &TestApp) -> (ConversationId, Vec<EmailId>) {
        let wanted = json!({ "prompt": "A welcome series", "languages": ["en", "de"], "count": 2 });
        let id = app.post_in("/v1/projects/emails/generate", wanted).data()["conversationId"].clone();
        app.clock.advance_ms(limits::SITE_IMPORT_AWAITED_MS);
        while app.wait(generation::step(app.engine().clone(), Environment::Test)).expect("the stage succeeds") {}
        let id = id.as_str().and_then(ConversationId::parse).expect("the ID is valid");
        let emails = store::emails(&app.read(), app.account(), id).expect("the store is readable");
        (id, emails.into_iter().map(|email| email.id).collect())
    }

    fn set_stage(app: &TestApp, id: EmailId, stage: Stage) {
        let account = app.account();
        let set = move |tx: &mut WriteTx<'_>| {
            let email = store::email(tx, account, id)?.expect("the email exists");
            store::save_email(tx, account, &Email { stage, ..email });
            Ok::<_, crate::engine::store::Error>(())
        };
        app.data().store.write_blocking(set).expect("the write succeeds").expect("the store is readable");
    }

    fn chosen(app: &TestApp, conversation: Option<ConversationId>, email: Option<EmailId>) -> (Vec<EmailId>, Vec<&'static str>) {
        let found = choose(&app.read(), app.account(), conversation, email, Some(app.project)).expect("the email is ready");
        let codes = found.warnings.iter().map(|warning| warning.code).collect();
        (found.emails.into_iter().map(|email| email.id).collect(), codes)
    }

    #[test]
    fn a_conversation_is_sent_in_all_languages_and_an_email_alone() {
        let app = TestApp::new();
        let (series, emails) = series(&app);
        assert_eq!(chosen(&app, Some(series), None), (vec![emails[0], emails[1]], vec!["FIRST_EMAIL_OF_SERIES"]));
        assert_eq!(chosen(&app, Some(series), Some(emails[3])), (vec![emails[3], emails[2]], vec![]));
        assert_eq!(chosen(&app, None, Some(emails[3])), (vec![emails[3]], vec![]));
        let found = choose(&app.read(), app.account(), Some(series), None, None).expect("the email is ready");
        let warning = same_in_every_language("subject", &found.emails).expect("the warning covers two languages");
        let message = "All languages (en, de) use the same subject. If you omit it, each email uses its own subject.";
        assert_eq!(warning.message, message);
        assert_eq!(same_in_every_language("subject", &found.emails[..1]), None);
    }

    #[test]
    fn an_address_that_is_added_later_appears_in_existing_emails() {
        let app = TestApp::new();
        let (_, emails) = series(&app);
        let email = || app.get(&format!("/v1/emails/{}", emails[0])).data();
        let warned = |email: &Value| email["warnings"].to_string().contains("The footer has no postal address");
        let before = email();
        assert!(warned(&before) && !before["html"].to_string().contains("postal_address"), "{before}");
        assert_eq!(names_postal_address(&app.read(), app.account(), emails[0]).expect("the email exists"), Some(false));
        app.patch(&format!("/v1/projects/{}", app.project), json!({ "address": "1 High & Low Street, London" })).data();
        let after = email();
        assert!(!warned(&after) && after["html"].to_string().contains("1 High &amp; Low Street, London"), "{after}");
        assert!(after["text"].to_string().contains("1 High & Low Street, London"), "{after}");
        let sent = ready(&app.read(), app.account(), &[emails[0]], None).expect("the email is ready").remove(0);
        assert!(sent.html.contains("1 High &amp; Low Street") && sent.text.contains("1 High & Low Street"));
        assert!(sent.mjml.is_some_and(|mjml| mjml.contains("1 High &amp; Low Street")));
        assert_eq!(names_postal_address(&app.read(), app.account(), emails[0]).expect("the email exists"), Some(true));
        app.patch(&format!("/v1/projects/{}", app.project), json!({ "address": "2 New Street" })).data();
        assert!(email()["html"].to_string().contains("2 New Street"), "a corrected address replaces the old one");
    }

    #[test]
    fn a_failed_language_is_skipped_and_an_unfinished_one_is_awaited() {
        let app = TestApp::new();
        let (series, emails) = series(&app);
        set_stage(&app, emails[3], Stage::Failed("The model gave up.".into()));
        assert_eq!(chosen(&app, Some(series), Some(emails[2])), (vec![emails[2]], vec!["LANGUAGE_LEFT_OUT"]));
        set_stage(&app, emails[3], Stage::Written);
        let refused = |named| choose(&app.read(), app.account(), Some(series), named, None).expect_err("the email is not ready");
        assert_eq!(refused(Some(emails[2])).code, Code::WrongState);
        // An email can be sent even if another email in its series is not ready.
        assert_eq!(chosen(&app, Some(series), Some(emails[0])).0, [emails[0], emails[1]]);
        set_stage(&app, emails[0], Stage::Failed("The model gave up.".into()));
        let failure = refused(None);
        assert_eq!(failure.data.as_deref().map(|data: &Value| data["status"].clone()), Some(json!("failed")));
    }
}
