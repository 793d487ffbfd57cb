//! Restores a brand for the operator, who can restore the brands of every account.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::response::WireTime;
use crate::engine::api::{Async, Context, Done, Failure, Operation, Spec, operator};
use crate::features::restores::model::RestoreMode;
use crate::features::restores::requests::{self, Choice};
use crate::features::restores::views::{BrandPreview, RestoreView};
use crate::vocab::codes::Code;
use crate::vocab::ids::{JobId, ProjectId};

pub struct Operate;

/// A step of a restore. Without `restoreId`, the request starts a restore. With `restoreId`, the request returns this restore and, if
/// `apply` is true, starts bringing back the brand.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OperateRestore {
    pub project_id: ProjectId,
    /// The URL or path of the backup, which must be the backup of this installation.
    pub url: String,
    pub at: Option<WireTime>,
    pub restore_id: Option<JobId>,
    #[serde(default)]
    pub apply: bool,
    #[serde(default)]
    pub mode: RestoreMode,
    #[serde(default)]
    pub deleted_contacts: bool,
}

/// The restore, and what it would bring back.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OperatedRestore {
    pub restore: RestoreView,
    /// Absent unless the status is `ready`.
    pub preview: Option<BrandPreview>,
}

impl Operation for Operate {
    const SPEC: Spec = Spec::post("restores.operate", "/admin/restores", operator())
        .summary("Restore a brand")
        .about("Starts a restore, shows it, or brings back the brand.")
        .fails(&[Code::NotFound, Code::WrongState, Code::LimitReached]);
    type Input = OperateRestore;
    type Output = Done<OperatedRestore>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "url": "s3://acme-backups/mailmill" });
        (input, Done(OperatedRestore { restore: RestoreView::sample(), preview: Some(BrandPreview::sample()) }))
    }
}

/// Returns whether two URLs or paths identify the same backup.
fn is_same(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(|url| url.strip_prefix("file://").unwrap_or(url).trim_end_matches('/'));
    one == other
}

impl Async for Operate {
    async fn run(context: Context, input: OperateRestore) -> Result<Self::Output, Failure> {
        let project = input.project_id;
        if let Some(own) = context.engine.backup.as_ref().map(|backup| backup.url())
            && !is_same(own, &input.url)
        {
            let detail = format!("brands can be restored only from the service's own backup; use {own}");
            return Err(Failure::field("url", detail));
        }
        match input.restore_id {
            None => drop(requests::start(&context, &Self::SPEC, (None, Some(project)), input.at).await?),
            Some(_) if input.apply => {
                let choice = Choice { project, mode: input.mode, contacts: true, deleted_contacts: input.deleted_contacts };
                requests::apply(&context, &Self::SPEC, None, choice).await?;
            }
            Some(_) => {}
        }
        let shown = requests::shown(&context, None)?;
        let ended = || {
            Failure::because(
                Code::WrongState,
                "This restore was discarded or replaced by another restore. Start the restore again.",
            )
        };
        let restore = shown.filter(|shown| input.restore_id.is_none_or(|id| shown.id == id)).ok_or_else(ended)?;
        let preview = match restore.status {
            "ready" => Some(requests::preview(context, None, project).await?),
            _ => None,
        };
        Ok(Done(OperatedRestore { restore, preview }))
    }
}
