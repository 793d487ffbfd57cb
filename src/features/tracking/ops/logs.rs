//! Lists the recipients of an email in all its mailings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::engine::api::{Done, Failure, Limit, Operation, Query, Spec, View, needs_one};
use crate::features::campaigns::logs::{CampaignLog, CampaignLogStatus, page, row};
use crate::features::sending::{self, Recipient};
use crate::features::tracking::READERS;
use crate::features::{emails, engagement};
use crate::vocab::codes::Code;
use crate::vocab::ids::{EmailId, MailingId, ProjectId};
use crate::vocab::limits;
use crate::vocab::rates::RouteGroup;

pub struct Logs;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListLogs {
    /// The email's ID.
    pub email_id: EmailId,
    /// If given, the email must belong to the project with this ID.
    pub project_id: Option<ProjectId>,
    #[serde(default)]
    pub limit: Limit,
    /// The `nextCursor` of the previous response.
    pub cursor: Option<String>,
    /// Return only recipients with this status.
    pub status: Option<EmailLogStatus>,
}

/// A status to filter recipients by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EmailLogStatus {
    /// The next mail server accepted the message, and it did not bounce. `sent` is another name for this status.
    #[serde(alias = "sent")]
    Delivered,
    Opened,
    Clicked,
    Bounced,
    Complained,
    /// The recipient was skipped; the log states the reason.
    Suppressed,
}

impl From<EmailLogStatus> for CampaignLogStatus {
    fn from(wanted: EmailLogStatus) -> Self {
        match wanted {
            EmailLogStatus::Delivered => CampaignLogStatus::Delivered,
            EmailLogStatus::Opened => CampaignLogStatus::Opened,
            EmailLogStatus::Clicked => CampaignLogStatus::Clicked,
            EmailLogStatus::Bounced => CampaignLogStatus::Bounced,
            EmailLogStatus::Complained => CampaignLogStatus::Complained,
            EmailLogStatus::Suppressed => CampaignLogStatus::Skipped,
        }
    }
}

/// A page of an email's recipient log.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailLogPart {
    pub emails: Vec<CampaignLog>,
    /// The cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    pub has_more: bool,
}

impl Operation for Logs {
    const SPEC: Spec = Spec::get("tracking.logs", "/v1/emails/{emailId}/logs", needs_one(READERS)).client("emails.logs")
        .summary("List the recipients of an email")
        .about(
            "Covers all campaigns, batches and direct sends of the email, newest first. A page can have fewer rows than requested, or \
             none, even though nextCursor is set.",
        )
        .rate(RouteGroup::Emails)
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = ListLogs;
    type Output = Done<EmailLogPart>;

    fn example() -> (Value, Self::Output) {
        let cursor = "66f1a2b3d4e5f60718293a61.42";
        let part = EmailLogPart { emails: vec![CampaignLog::sample()], next_cursor: Some(cursor.into()), has_more: true };
        (json!({ "emailId": "66f1a2b3d4e5f60718293a4e", "status": "opened", "limit": 1 }), Done(part))
    }
}

/// Where a page of the log starts: a mailing, and the number of a recipient in the mailing.
type Cursor = (MailingId, u32);

impl Query for Logs {
    fn run(view: &View<'_>, input: ListLogs) -> Result<Self::Output, Failure> {
        emails::require(view.tx, view.caller.account(), input.email_id, input.project_id)?;
        let mut place = input.cursor.as_deref().map(parse_cursor).transpose()?;
        let (mut rows, wanted) = (Vec::new(), input.status.map(CampaignLogStatus::from));
        let limit = input.limit.0 as usize;
        // An email can have many mailings with few rows each, so one request scans only a bounded number of mailings.
        for _ in 0..limits::LOG_MAILINGS_SCANNED_MAX {
            let Some((id, from)) = place.or(next(view, input.email_id, None)?) else { return Ok(Done(to_answer(rows, None))) };
            let Some(mailing) = sending::by_id(view.tx, id)? else {
                // The mailing was a direct send and was deleted after the previous page was returned. Continue with an older mailing.
                place = next(view, input.email_id, Some(id))?;
                if place.is_none() {
                    break;
                }
                continue;
            };
            let found = page(view.tx, id, from, limit - rows.len(), wanted)?;
            // The mailing's other recipients received an email in a different language, so they are not in the log of this email.
            let got_it = |recipient: &Recipient| mailing.translation_for(recipient).email == Some(input.email_id);
            for found in found.rows.into_iter().filter(|(_, recipient, _)| got_it(recipient)) {
                rows.push(row(view.tx, &mailing, found)?);
            }
            place = match found.next {
                Some(next) => Some((id, next)),
                None => next(view, input.email_id, Some(id))?,
            };
            if place.is_none() || rows.len() == limit {
                break;
            }
        }
        Ok(Done(to_answer(rows, place)))
    }
}

/// Returns the position of the first recipient in the email's newest mailing, or in its newest mailing before `before`.
fn next(view: &View<'_>, email: EmailId, before: Option<MailingId>) -> Result<Option<Cursor>, Failure> {
    Ok(engagement::mailings(view.tx, email, before, 1)?.first().map(|id| (*id, 0)))
}

fn to_cursor((id, number): Cursor) -> String {
    format!("{id}.{number}")
}

/// Parses a cursor, writes its position as a cursor again, and returns whether both cursors have the same position. This is a fuzz target.
#[cfg(any(test, fuzzing))]
pub fn reread_cursor(cursor: &str) -> Result<bool, Failure> {
    let position = parse_cursor(cursor)?;
    Ok(parse_cursor(&to_cursor(position))? == position)
}

fn parse_cursor(cursor: &str) -> Result<Cursor, Failure> {
    let read = cursor.split_once('.').and_then(|(id, number)| Some((MailingId::parse(id)?, number.parse().ok()?)));
    read.ok_or_else(|| Failure::field("cursor", "is not a cursor of this list; use the nextCursor of the previous page"))
}

fn to_answer(emails: Vec<CampaignLog>, next: Option<Cursor>) -> EmailLogPart {
    let next_cursor = next.map(to_cursor);
    EmailLogPart { emails, has_more: next_cursor.is_some(), next_cursor }
}
