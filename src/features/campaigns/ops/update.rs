//! Changes a campaign that has not started.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    CampaignName, FromName, Preheader, ProviderType, Score, Subject, check_texts, same_in_every_language, score, to_json,
};
use crate::base::email::EmailAddress;
use crate::base::patch::Patch;
use crate::engine::api::response::Warning;
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::{Read, WriteTx};
use crate::features::campaigns::act;
use crate::features::campaigns::launch::{self, LaunchContext};
use crate::features::campaigns::model::{Action, CampaignStatus, Plan, RecipientType, Recipients, Unknown};
use crate::features::campaigns::views::{CampaignView, campaign_view};
use crate::features::contact_records::fields::{self, FieldValue};
use crate::features::domains::Utm;
use crate::features::emails::{self, EmailChoice};
use crate::vocab::ids::{AccountId, CampaignId, ConversationId, EmailId, ProjectId, RecipientId, TopicId};
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Update;

/// The changes to a campaign. Omitted fields stay unchanged; `null` clears a field.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CampaignPatch {
    /// The campaign's ID.
    pub id: CampaignId,
    /// If given, the campaign must belong to this project.
    pub project_id: Option<ProjectId>,
    pub name: Option<CampaignName>,
    /// The generation that contains the emails to send, one per language, as in the request that creates a campaign.
    pub conversation_id: Option<ConversationId>,
    /// The email to send. Without `conversationId`, all recipients get this email.
    pub email_id: Option<EmailId>,
    /// Replaces the email's own subject; `null` uses the email's own subject.
    #[serde(default)]
    pub subject: Patch<Subject>,
    /// Replaces the email's own preheader; `null` uses the email's own preheader.
    #[serde(default)]
    pub preheader_text: Patch<Preheader>,
    pub from: Option<EmailAddress>,
    pub from_name: Option<FromName>,
    #[serde(default)]
    pub reply_to: Patch<EmailAddress>,
    /// The kind of recipients. `segment` and `tag` require `recipientId`.
    pub recipient_type: Option<RecipientType>,
    pub recipient_id: Option<RecipientId>,
    #[serde(default)]
    pub topic_id: Patch<TopicId>,
    #[serde(default)]
    pub provider_type: Patch<ProviderType>,
    /// Replaces all variables; `{}` removes all variables.
    #[schemars(transform = fields::describe)]
    #[serde(default, deserialize_with = "fields::given")]
    pub variables: Option<BTreeMap<String, FieldValue>>,
    /// UTM parameters for links; `null` uses the setting of the From address's domain.
    #[serde(default)]
    pub utm: Patch<Utm>,
    /// The minimum validation score for sending; `null` requires no score.
    #[serde(default)]
    pub minimum_score: Patch<Score>,
    /// What to do with recipients whose delivery is unknown; `null` uses the installation's setting.
    #[serde(default)]
    pub unknown: Patch<Unknown>,
}

impl Operation for Update {
    const SPEC: Spec = Spec::patch("campaigns.update", "/v1/campaigns/{id}", needs(Permission::CampaignWrite))
        .summary("Change a campaign that has not started")
        .about("A scheduled campaign stays scheduled and must still be ready to start after the change.")
        .rate(RouteGroup::Campaigns)
        .fails(launch::FAILS);
    type Input = CampaignPatch;
    type Output = Done<CampaignView>;

    fn example() -> (Value, Self::Output) {
        let campaign = CampaignView { name: "Winter teas, second try".into(), ..CampaignView::sample() };
        (json!({ "id": campaign.id, "name": campaign.name, "replyTo": null }), Done(campaign))
    }
}

impl Command for Update {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: CampaignPatch) -> Result<Self::Output, Failure> {
        let account = caller.account();
        let mut warnings = Vec::new();
        let campaign = act(tx, account, (input.id, input.project_id), Action::Update, |tx, campaign, _| {
            let known = (campaign.plan.recipients, campaign.plan.topic);
            let (plan, more) = changed(tx, account, campaign.project, campaign.plan.clone(), input)?;
            (campaign.plan, warnings) = (plan, more);
            check_texts(&campaign.plan)?;
            // A segment, tag or topic that has been deleted does not prevent changes to other fields.
            if (campaign.plan.recipients, campaign.plan.topic) != known {
                launch::check_audience(tx, campaign.project, &campaign.plan)?;
            }
            if campaign.status == CampaignStatus::Scheduled {
                launch::check(tx, LaunchContext::of(caller), campaign)?;
            }
            Ok(())
        })?;
        Ok(Done(CampaignView { warnings, ..campaign_view(tx, &caller.engine, account, campaign)? }))
    }
}

fn changed(
    tx: &impl Read,
    account: AccountId,
    project: ProjectId,
    mut plan: Plan,
    input: CampaignPatch,
) -> Result<(Plan, Vec<Warning>), Failure> {
    let mut chosen = None;
    if input.conversation_id.is_some() || input.email_id.is_some() {
        let found = emails::choose(tx, account, input.conversation_id, input.email_id, Some(project))?;
        plan.conversation = found.emails[0].conversation;
        plan.emails = found.emails.iter().map(|email| email.id).collect();
        chosen = Some(found);
    }
    if input.recipient_type.is_some() || input.recipient_id.is_some() {
        let kind = input.recipient_type.unwrap_or(plan.recipients.kind_and_id(project).0);
        let recipients = Recipients::new(kind, input.recipient_id, project);
        plan.recipients = recipients.map_err(|(field, detail)| Failure::field(field, detail))?;
    }
    if let Some(name) = input.name {
        plan.name = name.to_string();
    }
    if let Some(from) = input.from {
        plan.from = from.into_string();
    }
    if let Some(name) = input.from_name {
        plan.from_name = name.to_string();
    }
    if input.variables.is_some() {
        plan.variables = to_json(input.variables)?;
    }
    input.subject.map(|text| text.to_string()).apply(&mut plan.subject);
    input.preheader_text.map(|text| text.to_string()).apply(&mut plan.preheader);
    input.reply_to.map(EmailAddress::into_string).apply(&mut plan.reply_to);
    input.topic_id.apply(&mut plan.topic);
    input.provider_type.map(|text| text.to_string()).apply(&mut plan.provider);
    plan.provider = plan.provider.filter(|text| !text.is_empty());
    input.utm.apply(&mut plan.utm);
    input.minimum_score.map(score).apply(&mut plan.minimum_score);
    input.unknown.apply(&mut plan.unknown);
    let warnings = chosen.map_or_else(Vec::new, |EmailChoice { emails, mut warnings }| {
        warnings.extend(same_in_every_language(&plan, &emails));
        warnings
    });
    Ok((plan, warnings))
}
