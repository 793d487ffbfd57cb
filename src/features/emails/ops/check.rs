//! Runs the checks of an email again.

use serde_json::{Value, json};

use super::checks::{CheckedEmailRef, EmailChecksView};
use crate::engine::api::{Async, Context, Done, Failure, Operation, Replay, Spec, needs};
use crate::features::emails::checking;
use crate::features::emails::generation::context::StageContext;
use crate::features::emails::model::{Email, Stage};
use crate::features::emails::require_email;
use crate::vocab::codes::Code;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Check;

impl Operation for Check {
    const SPEC: Spec = Spec::post("emails.check", "/v1/emails/{emailId}/checks", needs(Permission::EmailWrite)).client("emails.checks.run")
        .summary("Check an email now")
        .about(
            "Checks the current version, requests the URLs of its links, and stores the result. This takes up to 15 seconds. Use this \
                operation before you send an email that was checked long ago: links can break at any time.",
        )
        .rate(RouteGroup::Emails)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::WrongState]);
    type Input = CheckedEmailRef;
    type Output = Done<EmailChecksView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "emailId": "66f1a2b3d4e5f60718293a4e" }), Done(EmailChecksView::sample()))
    }
}

impl Async for Check {
    async fn run(context: Context, input: CheckedEmailRef) -> Result<Self::Output, Failure> {
        let account = context.caller.account();
        let (id, project) = (input.email_id, input.project_id);
        context.read(move |tx| require_ready(&require_email(tx, account, id, project)?)).await?;
        let stages = StageContext { engine: context.engine.clone(), data: context.data().clone() };
        checking::check(&stages, account, id).await?;
        context.read(move |tx| EmailChecksView::of(tx, account, &require_email(tx, account, id, project)?)).await.map(Done)
    }
}

fn require_ready(email: &Email) -> Result<(), Failure> {
    if email.stage == Stage::Ready {
        return Ok(());
    }
    let detail =
        "Only finished emails can be checked. Wait until the email is ready or, if its generation failed, generate it again.";
    Err(Failure::because(Code::WrongState, detail).with(json!({ "status": email.stage.word() })))
}
