//! Lists a campaign's recipients with the status of each message.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Limit, Operation, Query, Spec, View, needs_one};
use crate::features::campaigns::logs::{CampaignLog, CampaignLogStatus, SkipReason, page, row, skipped};
use crate::features::campaigns::{REPORT_READERS, require};
use crate::features::sending;
use crate::vocab::codes::Code;
use crate::vocab::ids::{CampaignId, ProjectId};
use crate::vocab::rates::RouteGroup;

pub struct Logs;

/// The campaign, filters and page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListLogs {
    /// The campaign's ID.
    pub id: CampaignId,
    /// If given, the campaign must belong to this project.
    pub project_id: Option<ProjectId>,
    #[serde(default)]
    pub limit: Limit,
    /// The `nextCursor` of the previous page.
    pub cursor: Option<String>,
    /// Lists only recipients with this status. A recipient who clicked also matches `delivered`, and a recipient with the status `failed`
    /// also matches `bounced`.
    pub status: Option<CampaignLogStatus>,
    /// Lists only recipients who were skipped for this reason. If `status` is given too, it must be `skipped`.
    pub skip_reason: Option<SkipReason>,
}

/// A page of a campaign's log.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogPart {
    pub emails: Vec<CampaignLog>,
    /// The cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    pub has_more: bool,
}

impl Operation for Logs {
    const SPEC: Spec = Spec::get("campaigns.logs", "/v1/campaigns/{id}/logs", needs_one(REPORT_READERS))
        .summary("List a campaign's recipients")
        .about(
            "Returns a row for each recipient; rows of skipped recipients include the reason. If few rows match the filter, a page can \
             have fewer rows than requested, or none, even though nextCursor is set.",
        )
        .rate(RouteGroup::Campaigns)
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = ListLogs;
    type Output = Done<LogPart>;

    fn example() -> (Value, Self::Output) {
        let part = LogPart { emails: vec![CampaignLog::sample()], next_cursor: Some("42".into()), has_more: true };
        (json!({ "id": "66f1a2b3d4e5f60718293a60", "status": "opened", "limit": 1 }), Done(part))
    }
}

impl Query for Logs {
    fn run(view: &View<'_>, input: ListLogs) -> Result<Self::Output, Failure> {
        let (tx, account) = (view.tx, view.caller.account());
        let campaign = require(tx, account, input.id, input.project_id)?;
        let from = input.cursor.as_deref().map(parse_cursor).transpose()?.unwrap_or(0);
        let Some(id) = campaign.mailing else {
            return Ok(Done(LogPart { emails: Vec::new(), next_cursor: None, has_more: false }));
        };
        let mailing = sending::require(tx, account, id)?;
        let limit = input.limit.0 as usize;
        let found = match (input.skip_reason, input.status) {
            (None, status) => page(tx, id, from, limit, status)?,
            (Some(reason), None | Some(CampaignLogStatus::Skipped)) => skipped(tx, id, from, limit, reason)?,
            (Some(_), Some(_)) => {
                return Err(Failure::field(
                    "skipReason",
                    "only skipped recipients have a skip reason; omit `status` or set it to `skipped`",
                ));
            }
        };
        let show = |found| row(tx, &mailing, found);
        let emails = found.rows.into_iter().map(show).collect::<Result<_, _>>()?;
        let next_cursor = found.next.map(|next| next.to_string());
        Ok(Done(LogPart { emails, has_more: next_cursor.is_some(), next_cursor }))
    }
}

/// A fuzz target: parses a cursor, formats its position as a second cursor, and returns whether both cursors have the same position.
#[cfg(any(test, fuzzing))]
pub fn reread_cursor(cursor: &str) -> Result<bool, Failure> {
    let position = parse_cursor(cursor)?;
    Ok(parse_cursor(&position.to_string())? == position)
}

/// Returns the number of the recipient at which a page starts.
fn parse_cursor(cursor: &str) -> Result<u32, Failure> {
    let wrong = |_| Failure::field("cursor", "is not a cursor of this list; use the nextCursor of the previous page");
    cursor.parse().map_err(wrong)
}
