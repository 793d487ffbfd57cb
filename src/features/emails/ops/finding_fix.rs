//! Resolves a finding of a check.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::bounded::Bounded;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::{ReadTx, WriteTx};
use crate::features::emails::generation::context::StageContext;
use crate::features::emails::views::{EmailView, Viewer};
use crate::features::emails::{corrections, require_email, versions};
use crate::vocab::codes::Code;
use crate::vocab::ids::{EmailId, ProjectId};
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct FindingFix;

/// The finding to resolve.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FixFinding {
    pub email_id: EmailId,
    /// The ID of the finding in GET /v1/emails/{emailId}/checks.
    pub finding_id: String,
    /// If given, the email must belong to the project with this ID.
    pub project_id: Option<ProjectId>,
    /// The version that the finding concerns. If it is not the current version, the response is 409 and nothing is saved.
    pub version: Option<Bounded<1, { u32::MAX as u64 }>>,
}

impl Operation for FindingFix {
    const SPEC: Spec = Spec::post(
        "emails.finding_fix",
        "/v1/emails/{emailId}/checks/{findingId}/fix",
        needs(Permission::EmailWrite),
    ).client("emails.checks.fix")
    .summary("Fix a finding of an email")
    .about(
        "Applies the automatic fix of a `fixable` finding, and saves the result as a new version. The new version is checked in the \
         background.",
    )
    .rate(RouteGroup::Emails)
    .replay(Replay::Keyed)
    .fails(&[Code::NotFound, Code::EditFailed, Code::WrongState, Code::VersionConflict]);
    type Input = FixFinding;
    type Output = Done<EmailView>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "emailId": "66f1a2b3d4e5f60718293a4e", "findingId": "3f9a51c07be2", "version": 1 });
        (input, Done(EmailView { version: 2, ..EmailView::sample() }))
    }
}

impl Async for FindingFix {
    async fn run(context: Context, input: FixFinding) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        let FixFinding { email_id: id, finding_id, project_id: project, version } = input;
        let version = version.map(|version| version.get() as u32);
        let found = context
            .read(move |tx| {
                let email = require_email(tx, account, id, project)?;
                if version.is_some_and(|version| version != email.version) {
                    return Err(versions::conflict(&email));
                }
                corrections::read(tx, account, email, &finding_id)
            })
            .await?;
        let stages = StageContext { engine: context.engine.clone(), data: context.data().clone() };
        let seen = found.version();
        let fixed = corrections::correct(&stages, account, found).await?;
        let save = move |tx: &mut WriteTx<'_>| {
            let mut email = require_email(tx, account, id, project)?;
            if email.version != seen {
                return Err(versions::conflict(&email));
            }
            fixed.keep(tx, account, &mut email)
        };
        context.write(&Self::SPEC, save).await?;
        let engine = context.engine.clone();
        let query = move |tx: &ReadTx| {
            let email = require_email(tx, account, id, project)?;
            Viewer { engine: &engine, tx, account }.email(&email)
        };
        context.read(query).await.map(Done)
    }
}
