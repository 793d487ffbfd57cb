//! Ignores a finding of a check, or stops ignoring it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::checks::EmailChecksView;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::emails::model::IgnoredFinding;
use crate::features::emails::{corrections, direct, require_email, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{EmailId, ProjectId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct FindingIgnore;

/// The finding and whether it is ignored.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IgnoreFinding {
    pub email_id: EmailId,
    /// The ID of the finding in GET /v1/emails/{emailId}/checks.
    pub finding_id: String,
    /// If given, the email must belong to the project with this ID.
    pub project_id: Option<ProjectId>,
    pub ignored: bool,
}

impl Operation for FindingIgnore {
    const SPEC: Spec = Spec::put(
        "emails.finding_ignore",
        "/v1/emails/{emailId}/checks/{findingId}/ignored",
        needs(Permission::EmailWrite),
    ).client("emails.checks.ignore")
    .summary("Ignore a finding of an email")
    .about(
        "An ignored finding is no longer a warning, in this or later versions of the email or in its campaigns. The scores still count \
         it, so that ignoring a finding does not bypass the minimum score of a campaign. If `ignored` is false, the finding is a warning \
         again.",
    )
    .rate(RouteGroup::Emails)
    .fails(&[Code::NotFound, Code::LimitReached]);
    type Input = IgnoreFinding;
    type Output = Done<EmailChecksView>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "emailId": "66f1a2b3d4e5f60718293a4e", "findingId": "3f9a51c07be2", "ignored": true });
        (input, Done(EmailChecksView::sample()))
    }
}

impl Command for FindingIgnore {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: IgnoreFinding) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let email = require_email(tx, account, input.email_id, input.project_id)?;
        let known = store::ignored_findings(tx, email.id)?;
        let is_ignored = known.contains_key(&input.finding_id);
        match input.ignored {
            true if !is_ignored => {
                // The finding must exist, so that the list of ignored findings does not fill with arbitrary IDs.
                corrections::require_finding(tx, &email, &input.finding_id)?;
                if known.len() >= limits::IGNORED_FINDINGS_MAX {
                    let max = limits::IGNORED_FINDINGS_MAX;
                    let detail =
                        format!("{max} findings in this email are already ignored. Set `ignored` to false for some of them.");
                    return Err(Failure::because(Code::LimitReached, detail));
                }
                let ignored = IgnoredFinding { by: direct::author(&caller.principal)?, at: tx.now() };
                store::ignore_finding(tx, email.id, &input.finding_id, &ignored);
            }
            false if is_ignored => store::notice_finding(tx, email.id, &input.finding_id),
            // The request changes nothing, so the finding does not need to exist.
            true | false => {}
        }
        EmailChecksView::of(tx, account, &email).map(Done)
    }
}
