//! Returns the result of the checks of an email.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs_one};
use crate::engine::store::Read;
use crate::features::checks::model::{CheckFinding, Scores};
use crate::features::checks::report::{Check, IncompleteCheck};
use crate::features::emails::model::{Email, VersionChecks};
use crate::features::emails::{READERS, require_email, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{EmailId, ProjectId};
use crate::vocab::rates::RouteGroup;

pub struct Checks;

/// The email whose checks to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckedEmailRef {
    pub email_id: EmailId,
    /// If given, the email must belong to the project with this ID.
    pub project_id: Option<ProjectId>,
}

/// The result of the checks of an email's current version.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EmailChecks")]
pub struct EmailChecksView {
    pub email_id: EmailId,
    /// The number of the email's current version, to which the result applies.
    pub version: u32,
    pub scores: Scores,
    /// The findings, most severe first.
    pub findings: Vec<FindingView>,
    /// Whether the URLs of the links were requested. If not, the links were checked without requests.
    pub links_requested: bool,
    /// Whether a check of this version is waiting or running.
    pub pending: bool,
    /// The checks that did not finish or finished only partially, each with the reason.
    pub checks_incomplete: Vec<IncompleteCheck>,
    /// The time of the check. Absent if the version has not been checked yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked_at: Option<WireTime>,
}

/// A finding of a check, and whether it is ignored.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EmailCheckFinding")]
pub struct FindingView {
    #[serde(flatten)]
    pub finding: CheckFinding,
    /// Whether the finding is ignored. An ignored finding is not a warning, but still affects the scores.
    pub ignored: bool,
}

impl EmailChecksView {
    /// Returns the result of the checks of the current version.
    pub fn of(tx: &impl Read, account: crate::vocab::ids::AccountId, email: &Email) -> Result<Self, Failure> {
        let ignored = store::ignored_findings(tx, email.id)?;
        let checked = store::checks(tx, email.id, email.version)?;
        let is_written_as_document =
            store::version(tx, email.id, email.version)?.is_some_and(|version| version.document.is_some());
        let checked_at = checked.as_ref().map(|checked| WireTime(checked.checked_at));
        let checks = checked.map(|VersionChecks { checks, .. }| checks).unwrap_or_default();
        let finding = |mut finding: CheckFinding| {
            // If the HTML is rendered from a document, only the words of the document can be corrected, so only spelling errors are
            // fixable.
            finding.fixable &= !is_written_as_document || finding.check == Check::Spelling;
            FindingView { ignored: ignored.contains_key(&finding.id), finding }
        };
        Ok(Self {
            email_id: email.id,
            version: email.version,
            scores: checks.scores,
            findings: checks.findings.into_iter().map(finding).collect(),
            links_requested: checks.links_requested,
            pending: store::awaits_checks(tx, account, email.id)?,
            checks_incomplete: checks.incomplete,
            checked_at,
        })
    }

    /// Returns an example for the API documentation.
    pub fn sample() -> Self {
        Self {
            email_id: EmailId::parse("66f1a2b3d4e5f60718293a4e").expect("the sample ID is valid"),
            version: 2,
            scores: Scores::sample(),
            findings: vec![FindingView { finding: CheckFinding::sample(), ignored: false }],
            links_requested: true,
            pending: false,
            checks_incomplete: Vec::new(),
            checked_at: Some(WireTime::sample()),
        }
    }
}

impl Operation for Checks {
    const SPEC: Spec = Spec::get("emails.checks", "/v1/emails/{emailId}/checks", needs_one(READERS)).client("emails.checks.get")
        .summary("Get the checks of an email")
        .about(
            "New versions of an email are checked in the background: email clients, links, spelling, deliverability and accessibility. The \
                result is stored with the version.",
        )
        .rate(RouteGroup::Emails)
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = CheckedEmailRef;
    type Output = Done<EmailChecksView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "emailId": "66f1a2b3d4e5f60718293a4e" }), Done(EmailChecksView::sample()))
    }
}

impl Query for Checks {
    fn run(view: &View<'_>, input: CheckedEmailRef) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        let email = require_email(view.tx, account, input.email_id, input.project_id)?;
        EmailChecksView::of(view.tx, account, &email).map(Done)
    }
}
