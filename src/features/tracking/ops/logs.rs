//! An email recipient by recipient, over all its mailings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Limit, Operation, Query, Spec, View, needs_one};
use crate::features::campaigns::logs::{LogRow, LogStatus, part, row};
use crate::features::emails;
use crate::features::sending::{self, engagement};
use crate::features::tracking::READERS;
use crate::vocab::codes::Code;
use crate::vocab::ids::{EmailId, MailingId, ProjectId};
use crate::vocab::limits;
use crate::vocab::rates::RouteGroup;

/// `tracking.logs`
pub struct Logs;

/// Which recipients, and which part of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WhichLog {
    /// The email's id.
    pub email_id: EmailId,
    /// Only if it belongs to this project.
    pub project_id: Option<ProjectId>,
    #[serde(default)]
    pub limit: Limit,
    /// `nextCursor` of the part before.
    pub cursor: Option<String>,
    /// Only recipients of whom this holds.
    pub status: Option<Wanted>,
}

/// What can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "EmailLogStatus")]
pub enum Wanted {
    /// Taken over by the next mail server, and not come back. `sent` asks for the same.
    #[serde(alias = "sent")]
    Delivered,
    Opened,
    Clicked,
    Bounced,
    Complained,
    /// Nothing was sent, for a reason.
    Suppressed,
}

impl From<Wanted> for LogStatus {
    fn from(wanted: Wanted) -> Self {
        match wanted {
            Wanted::Delivered => LogStatus::Delivered,
            Wanted::Opened => LogStatus::Opened,
            Wanted::Clicked => LogStatus::Clicked,
            Wanted::Bounced => LogStatus::Bounced,
            Wanted::Complained => LogStatus::Complained,
            Wanted::Suppressed => LogStatus::Skipped,
        }
    }
}

/// A part of the log.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EmailLogPart")]
pub struct LogPart {
    pub emails: Vec<LogRow>,
    /// Where the next part begins; absent if there is none.
    pub next_cursor: Option<String>,
    pub has_more: bool,
}

impl Operation for Logs {
    const SPEC: Spec = Spec::get("tracking.logs", "/v1/emails/{emailId}/logs", needs_one(READERS))
        .summary("Get an email recipient by recipient")
        .about(
            "Over all its campaigns, batches and direct sends, the newest first. A part may have fewer rows than asked for, or none, and \
                still a nextCursor.",
        )
        .rate(RouteGroup::Emails)
        .heavy()
        .fails(&[Code::NotFound]);
    type Input = WhichLog;
    type Output = Done<LogPart>;

    fn example() -> (Value, Self::Output) {
        let cursor = "66f1a2b3d4e5f60718293a61.42";
        let part = LogPart { emails: vec![LogRow::sample()], next_cursor: Some(cursor.into()), has_more: true };
        (json!({ "emailId": "66f1a2b3d4e5f60718293a4e", "status": "opened", "limit": 1 }), Done(part))
    }
}

/// A recipient of a mailing: where a part begins.
type Place = (MailingId, u32);

impl Query for Logs {
    fn run(ask: &View<'_>, input: WhichLog) -> Result<Self::Output, Failure> {
        emails::require(ask.tx, ask.caller.account(), input.email_id, input.project_id)?;
        let mut place = input.cursor.as_deref().map(place).transpose()?;
        let (mut rows, wanted) = (Vec::new(), input.status.map(LogStatus::from));
        let limit = input.limit.0 as usize;
        // Many mailings of one email may have few rows each: a bounded number of them is looked into.
        for _ in 0..limits::LOG_MAILINGS_LOOKED_AT_MAX {
            let Some((id, from)) = place.or(next(ask, input.email_id, None)?) else { return Ok(Done(told(rows, None))) };
            let Some(mailing) = sending::by_id(ask.tx, id)? else { return Ok(Done(told(rows, None))) };
            let found = part(ask.tx, id, from, limit - rows.len(), wanted)?;
            for found in found.rows {
                rows.push(row(ask.tx, &mailing, found)?);
            }
            place = match found.next {
                Some(next) => Some((id, next)),
                None => next(ask, input.email_id, Some(id))?,
            };
            if place.is_none() || rows.len() == limit {
                break;
            }
        }
        Ok(Done(told(rows, place)))
    }
}

/// The beginning of the newest mailing of an email, or of the newest before one.
fn next(ask: &View<'_>, email: EmailId, before: Option<MailingId>) -> Result<Option<Place>, Failure> {
    Ok(engagement::mailings(ask.tx, email, before, 1)?.first().map(|id| (*id, 0)))
}

fn place(cursor: &str) -> Result<Place, Failure> {
    let read = cursor.split_once('.').and_then(|(id, number)| Some((MailingId::parse(id)?, number.parse().ok()?)));
    read.ok_or_else(|| Failure::field("cursor", "expected the nextCursor of the part before, as it was given"))
}

fn told(emails: Vec<LogRow>, next: Option<Place>) -> LogPart {
    let next_cursor = next.map(|(id, number)| format!("{id}.{number}"));
    LogPart { emails, has_more: next_cursor.is_some(), next_cursor }
}
