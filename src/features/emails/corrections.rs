//! Resolves findings of the checks: replaces words with the suggested corrections, and replaces parts of imported HTML that email clients
//! do not support.
//!
//! Before imported HTML is changed, the check that found the problem runs on it again, so that the positions of the replacements are
//! correct. A replacement that does not resolve a compatibility finding is not saved.

use std::sync::Arc;

use super::composer::edit::corrected;
use super::direct::{self, Changed};
use super::document::Email as Document;
use super::edits::NewVersion;
use super::generation::context::{StageContext, document};
use super::model::{Email, Origin, Stage, Version};
use super::{store, versions};
use crate::base::text::escaped;
use crate::engine::api::Failure;
use crate::engine::render::pixels::RenderError;
use crate::engine::spelling::findings::Finding;
use crate::engine::store::{Read, WriteTx};
use crate::features::checks::CheckContext;
use crate::features::checks::model::CheckFinding;
use crate::features::checks::report::Check;
use crate::features::checks::results::spelling_id;
use crate::features::checks::source::CheckedEmail;
use crate::features::checks::spelling::{self, SpellingOptions};
use crate::vocab::codes::Code;
use crate::vocab::ids::AccountId;

/// A finding and the email that it concerns.
pub struct CorrectionTarget {
    email: Email,
    version: Version,
    html: String,
    document: Option<Document>,
    finding: CheckFinding,
}

impl CorrectionTarget {
    /// Returns the number of the version that the finding concerns.
    pub fn version(&self) -> u32 {
        self.email.version
    }
}

/// A corrected email before it is stored.
pub struct EmailCorrection {
    new: NewVersion,
    /// The description of the change in the list of versions.
    done: String,
}

impl EmailCorrection {
    /// Stores the correction as the email's newest version.
    pub fn keep(self, tx: &mut WriteTx<'_>, account: AccountId, email: &mut Email) -> Result<u32, Failure> {
        let origin = Origin::Edited { prompt: self.done, label: None };
        store::request_screenshots(tx, account, email.id);
        Ok(self.new.keep(tx, account, email, origin)?)
    }
}

/// Returns the finding with this ID in the checks of an email's current version.
pub fn require_finding(tx: &impl Read, email: &Email, id: &str) -> Result<CheckFinding, Failure> {
    let checked = store::checks(tx, email.id, email.version)?;
    let found = checked.and_then(|checked| checked.checks.findings.into_iter().find(|finding| finding.id == id));
    found.ok_or_else(|| {
        Failure::because(Code::NotFound, "The checks of the email's current version have no finding with this ID.")
            .see("emails.checks", "GET /v1/emails/{emailId}/checks lists the findings")
    })
}

/// Reads the data that is required to correct a finding.
pub fn read(tx: &impl Read, account: AccountId, email: Email, id: &str) -> Result<CorrectionTarget, Failure> {
    if email.stage != Stage::Ready {
        let detail =
            "Only finished emails can be edited. Wait until the email is ready or, if its generation failed, generate it again.";
        return Err(Failure::because(Code::WrongState, detail));
    }
    let email = store::email(tx, account, email.id)?.unwrap_or(email);
    let finding = require_finding(tx, &email, id)?;
    let version = store::version(tx, email.id, email.version)?;
    let version = version.ok_or_else(|| Failure::internal("the current version of an email is missing; report this bug"))?;
    let html = versions::texts(tx, email.id, email.version)?.html;
    let document = document(tx, &email)?;
    Ok(CorrectionTarget { email, version, html, document, finding })
}

/// Returns the corrected email, or an error that states why the finding cannot be fixed automatically.
pub async fn correct(context: &StageContext, account: AccountId, found: CorrectionTarget) -> Result<EmailCorrection, Failure> {
    let done = done(&found.finding);
    let new = match &found.document {
        Some(document) => in_document(context, account, &found, document).await?,
        None => in_html(context, account, &found).await?,
    };
    Ok(EmailCorrection { new, done })
}

fn done(finding: &CheckFinding) -> String {
    match (&finding.text, &finding.suggestion) {
        (Some(word), Some(suggestion)) if suggestion.is_empty() => format!("Removed “{word}”"),
        (Some(word), Some(suggestion)) => format!("Replaced “{word}” with “{suggestion}”"),
        _ => format!("Fixed: {}", finding.message),
    }
}

fn by_hand() -> Failure {
    refused("This finding cannot be fixed automatically. Edit the email, or ignore the finding.")
}

fn without_effect() -> Failure {
    refused("Nothing was saved, because the automatic fix does not resolve this finding. Edit the email, or ignore the finding.")
}

fn refused(detail: &'static str) -> Failure {
    Failure::because(Code::EditFailed, detail)
        .see("emails.edit", "POST /v1/emails/{emailId}/edit changes the email as a prompt describes")
}

/// Corrects a word in the text of a document.
async fn in_document(
    context: &StageContext,
    account: AccountId,
    found: &CorrectionTarget,
    document: &Document,
) -> Result<NewVersion, Failure> {
    let CheckFinding { check, text, suggestion, occurrences, rule, .. } = &found.finding;
    let (Check::Spelling, Some(word), Some(suggestion)) = (check, text, suggestion) else { return Err(by_hand()) };
    // A misspelled word is replaced everywhere. Other findings concern one sentence, so the word is replaced only there.
    let context_of_word = occurrences.first().map(|place| place.excerpt.as_str()).filter(|_| rule != spelling::UNKNOWN_WORD);
    let document = corrected(document, word, suggestion, context_of_word).ok_or_else(by_hand)?;
    let (store, id) = (context.data.store.clone(), found.email.conversation);
    let drawing = tokio::task::spawn_blocking(move || {
        let tx = store.read();
        let conversation = store::conversation(&tx, account, id)?;
        let conversation =
            conversation.ok_or_else(|| Failure::internal("the conversation of an email is missing; report this bug"))?;
        direct::render(&tx, account, &conversation, document)
    });
    let Changed { document, mut drawn } = drawing.await.map_err(Failure::internal)??;
    // Correcting a word does not change a fact, so the warnings of the contract still apply.
    let kept = found.version.warnings.iter().filter(|warning| !drawn.warnings.contains(warning)).cloned();
    drawn.warnings = kept.chain(drawn.warnings.clone()).collect();
    Ok(NewVersion::new(&document, found.version.written_by.clone(), drawn, Default::default()))
}

/// Replaces a part of imported HTML. The result is sanitized in the same way as an import.
async fn in_html(context: &StageContext, account: AccountId, found: &CorrectionTarget) -> Result<NewVersion, Failure> {
    let source = CheckedEmail {
        html: Arc::new(found.html.clone()),
        subject: Some(found.version.subject.clone()),
        project: Some(found.email.project),
        field: "emailId",
    };
    let environment = CheckContext { engine: context.engine.clone(), data: context.data.clone(), account };
    let edits = match found.finding.check {
        Check::Spelling => of_words(&environment, &source, &found.finding).await?,
        Check::Compatibility => source.autofix(&environment, &found.finding.rule).await?,
        Check::Links | Check::Deliverability | Check::Accessibility => Vec::new(),
    };
    let html = replaced(&found.html, edits).ok_or_else(by_hand)?;
    let imported_html = context.engine.pixels.clean_html(&html).await.map_err(|fault| match fault {
        RenderError::Busy => Failure::because(Code::Unavailable, fault.to_string()).after_seconds(1),
        fault => Failure::because(Code::EditFailed, fault.to_string()),
    })?;
    if imported_html.html == found.html {
        return Err(by_hand());
    }
    let fixed = CheckedEmail { html: Arc::new(imported_html.html.clone()), ..source };
    if found.finding.check == Check::Compatibility && fixed.has_problem(&environment, &found.finding.rule).await? {
        return Err(without_effect());
    }
    Ok(NewVersion::of_html(imported_html, &found.version, found.email.language.clone(), Default::default()))
}

/// A replacement in HTML: its start and end in bytes, and the new text.
pub type HtmlEdit = (usize, usize, String);

/// Returns the edits that replace a word with its suggestion.
async fn of_words(context: &CheckContext, source: &CheckedEmail, finding: &CheckFinding) -> Result<Vec<HtmlEdit>, Failure> {
    let options = SpellingOptions { languages: Vec::new(), grammar: true, second_checkers: false, project: source.project };
    let Some(checked) = spelling::check(context, source, options).await? else { return Ok(Vec::new()) };
    let same = checked.errors.iter().filter(|error| spelling_id(error) == finding.id);
    let edit = |error: &Finding| {
        let (start, end) = (error.offset, error.offset + error.length);
        // A word that contains tags is not replaced, because it is unclear which letters of the new word the tags would apply to.
        let is_plain = source.html.get(start..end).is_some_and(|text| !text.contains('<'));
        Some((start, end, escaped(error.suggestions.first()?))).filter(|_| is_plain)
    };
    Ok(same.filter_map(edit).collect())
}

/// Returns the HTML with these replacements; `None` if there are no replacements, or if one of them overlaps another or lies outside the
/// HTML.
fn replaced(html: &str, mut edits: Vec<HtmlEdit>) -> Option<String> {
    edits.sort();
    edits.dedup();
    let mut out = String::with_capacity(html.len());
    let mut at = 0;
    for (start, end, text) in &edits {
        out.push_str(html.get(at..*start)?);
        out.push_str(text);
        at = *end;
    }
    out.push_str(html.get(at..)?);
    (!edits.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements_are_applied_in_order_and_only_where_they_fit() {
        let edit = |start, end, text: &str| (start, end, text.to_owned());
        assert_eq!(replaced("one two", vec![edit(4, 7, "2"), edit(0, 3, "1"), edit(0, 3, "1")]).as_deref(), Some("1 2"));
        assert_eq!(replaced("one", vec![edit(0, 2, "a"), edit(1, 3, "b")]), None);
        assert_eq!((replaced("é", vec![edit(1, 2, "e")]), replaced("one", Vec::new())), (None, None));
    }
}
