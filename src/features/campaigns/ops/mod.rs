//! The operations on campaigns, one file per operation.

pub mod archive;
pub mod cancel;
pub mod create;
pub mod delete;
pub mod dry_run;
pub mod duplicate;
pub mod get;
pub mod list;
pub mod logs;
pub mod overview;
pub mod pause;
pub mod report;
pub mod reschedule;
pub mod resend_unknown;
pub mod resume;
pub mod schedule;
pub mod send;
pub mod stats;
pub mod test;
pub mod unarchive;
pub mod unschedule;
pub mod update;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::base::text::{Name, ShortText};
use crate::engine::api::Failure;
use crate::engine::api::response::Warning;
use crate::engine::render::merge::{OutputKind, Template};
use crate::features::campaigns::model::Plan;
use crate::features::contact_records::fields::{self, FieldValue};
use crate::features::emails::{self, ReadyEmail};
use crate::vocab::codes::Code;
use crate::vocab::ids::{CampaignId, ProjectId};
use crate::vocab::limits;

/// The name of a campaign.
pub type CampaignName = Name<{ limits::CAMPAIGN_NAME_CHARACTERS_MAX }>;
/// The sender's name in the From field.
pub type FromName = Name<{ limits::FROM_NAME_CHARACTERS_MAX }>;
/// The subject of a campaign, which may contain merge fields.
pub type Subject = Name<{ limits::EMAIL_SUBJECT_CHARACTERS_MAX }>;
/// The preview text that email clients show after the subject. The preview text may contain merge fields.
pub type Preheader = ShortText<{ limits::EMAIL_PREHEADER_CHARACTERS_MAX }>;
/// The client's own name for a transport. It has no effect: the installation's settings determine the transport.
pub type ProviderType = ShortText<{ limits::PROVIDER_TYPE_CHARACTERS_MAX }>;
/// The validation score of an email.
pub type Score = crate::base::bounded::Bounded<0, 100>;

/// The campaign to act on.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CampaignRef {
    /// The campaign's ID.
    pub id: CampaignId,
    /// If given, the campaign must belong to this project.
    pub project_id: Option<ProjectId>,
}

impl CampaignRef {
    fn key(&self) -> (CampaignId, Option<ProjectId>) {
        (self.id, self.project_id)
    }
}

/// Fails if a project that has this many campaigns cannot have another one.
fn check_room(campaigns: usize) -> Result<(), Failure> {
    let max = limits::CAMPAIGNS_PER_PROJECT_MAX;
    if campaigns < max {
        return Ok(());
    }
    let detail = format!(
        "A brand can have at most {max} campaigns, and only drafts can be deleted. Delete a draft, or use another brand."
    );
    Err(Failure::because(Code::LimitReached, detail))
}

/// Returns the merge variables as they are stored: the JSON text of an object.
fn to_json(variables: Option<BTreeMap<String, FieldValue>>) -> Result<String, Failure> {
    let variables = variables.unwrap_or_default();
    match fields::refusal(&variables) {
        Some(reason) => Err(Failure::field("variables", reason)),
        None => Ok(serde_json::to_string(&variables).expect("field values serialize to JSON")),
    }
}

/// Rejects a subject or preheader with invalid merge fields, because sending would fail for every recipient.
fn check_texts(plan: &Plan) -> Result<(), Failure> {
    for (field, words, kind) in
        [("subject", &plan.subject, OutputKind::Header), ("preheaderText", &plan.preheader, OutputKind::Html)]
    {
        if let Some(Err(error)) = words.as_ref().map(|words| Template::compile(words, kind)) {
            return Err(Failure::field(field, error));
        }
    }
    Ok(())
}

/// Returns a warning if the campaign's subject replaces the subjects of emails in several languages, and another warning if its
/// preheader replaces their preheaders.
fn same_in_every_language(plan: &Plan, emails: &[ReadyEmail]) -> Vec<Warning> {
    let own = [("subject", plan.subject.is_some()), ("preheader", plan.preheader.is_some())];
    let own = own.into_iter().filter(|(_, is_set)| *is_set);
    own.filter_map(|(text, _)| emails::same_in_every_language(text, emails)).collect()
}

fn score(score: Score) -> u8 {
    u8::try_from(score.get()).expect("a score is at most 100")
}

#[cfg(test)]
mod tests {
    use super::*;

    // Regression test: the error advised only deleting drafts, which does not help if there are none.
    #[test]
    fn a_full_brand_gets_advice_that_helps_without_drafts() {
        assert!(check_room(limits::CAMPAIGNS_PER_PROJECT_MAX - 1).is_ok());
        let full = check_room(limits::CAMPAIGNS_PER_PROJECT_MAX).expect_err("the brand is full").text();
        assert!(full.contains("only drafts can be deleted") && full.contains("use another brand"), "{full}");
    }
}
