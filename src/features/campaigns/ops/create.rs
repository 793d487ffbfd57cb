//! Creates a campaign from a generated email.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    CampaignName, FromName, Preheader, ProviderType, Score, Subject, check_room, check_texts, same_in_every_language, score,
    to_json,
};
use crate::base::email::EmailAddress;
use crate::engine::api::{Caller, Command, Created, Failure, Operation, Replay, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::campaigns::model::{Campaign, CampaignStatus, Plan, RecipientType, Recipients, Unknown};
use crate::features::campaigns::views::{CampaignView, campaign_view};
use crate::features::campaigns::{launch, store};
use crate::features::contact_records::fields::{self, FieldValue};
use crate::features::domains::Utm;
use crate::features::emails::{self, EmailChoice};
use crate::features::projects::{self, DefaultSender};
use crate::vocab::codes::Code;
use crate::vocab::ids::{CampaignId, ConversationId, EmailId, ProjectId, RecipientId, TopicId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::rates::RouteGroup;

pub struct Create;

/// The campaign to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(extend("allOf" = [
    { "anyOf": [
        { "required": ["conversationId"], "properties": { "conversationId": { "type": "string" } } },
        { "required": ["emailId"], "properties": { "emailId": { "type": "string" } } },
    ] },
    { "anyOf": [
        { "properties": { "recipientType": { "const": "audience" } } },
        { "required": ["recipientId"], "properties": { "recipientId": { "type": "string" } } },
    ] },
]))]
pub struct NewCampaign {
    /// The project whose contacts receive the campaign.
    pub project_id: ProjectId,
    pub name: CampaignName,
    /// The completed generation that contains the email to send. If the generation is a series, `emailId` selects the email; without
    /// `emailId`, the first email in the series is sent. Each recipient gets the email in the recipient's language or, if there is none in
    /// that language, the selected email itself.
    pub conversation_id: Option<ConversationId>,
    /// The email to send. Without `conversationId`, all recipients get exactly this email. With `conversationId`, this field selects an
    /// email in the series of that generation.
    pub email_id: Option<EmailId>,
    /// The subject, which may contain merge fields. The default is the email's own subject.
    pub subject: Option<Subject>,
    /// The preview text that email clients show after the subject. The default is the email's own preheader.
    pub preheader_text: Option<Preheader>,
    /// The sender's address.
    pub from: EmailAddress,
    /// The sender's name.
    pub from_name: FromName,
    /// The address for replies. The default is the sender's address.
    pub reply_to: Option<EmailAddress>,
    pub recipient_type: RecipientType,
    /// The ID of the segment or tag. Omit it with the recipient type `audience` to send to all contacts in the project.
    pub recipient_id: Option<RecipientId>,
    /// The topic of the campaign. Contacts who are not subscribed to this topic are skipped.
    pub topic_id: Option<TopicId>,
    /// The client's name for a transport, stored and returned only for compatibility. The installation's settings determine the transport.
    pub provider_type: Option<ProviderType>,
    /// Merge field values for all recipients.
    #[schemars(transform = fields::describe)]
    #[serde(default, deserialize_with = "fields::given")]
    pub variables: Option<BTreeMap<String, FieldValue>>,
    /// UTM parameters for links, for web analytics. If absent, the setting of the From address's domain applies.
    pub utm: Option<Utm>,
    /// The minimum validation score for sending. If absent, no score is required. The score is `scores.overall` of the email's checks.
    pub minimum_score: Option<Score>,
    /// What to do with recipients whose delivery is unknown after a crash or a broken connection. If absent, the installation's setting
    /// applies.
    pub unknown: Option<Unknown>,
}

impl Operation for Create {
    const SPEC: Spec = Spec::post("campaigns.create", "/v1/campaigns", needs(Permission::CampaignWrite))
        .summary("Create a campaign from a generated email")
        .about(
            "The campaign is a draft until you send or schedule it. Until then, it uses the current version of its email. Recipients get \
             the email in their own language if the generation includes that language.",
        )
        .rate(RouteGroup::Campaigns)
        .replay(Replay::Keyed)
        .fails(&[Code::NotFound, Code::WrongState, Code::LimitReached]);
    type Input = NewCampaign;
    type Output = Created<CampaignView>;

    fn example() -> (Value, Self::Output) {
        let campaign = CampaignView::sample();
        let input = json!({
            "projectId": campaign.project_id, "name": campaign.name, "conversationId": campaign.conversation_id,
            "from": campaign.from, "fromName": campaign.from_name, "recipientType": "segment",
            "recipientId": campaign.recipient_id, "variables": campaign.variables,
        });
        (input, Created(campaign))
    }
}

impl Command for Create {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: NewCampaign) -> Result<Self::Output, Failure> {
        let (account, project) = (caller.account(), input.project_id);
        projects::require(tx, account, project)?;
        check_room(store::count(tx, project, limits::CAMPAIGNS_PER_PROJECT_MAX)?)?;
        let EmailChoice { emails, mut warnings } =
            emails::choose(tx, account, input.conversation_id, input.email_id, Some(project))?;
        let recipients = Recipients::new(input.recipient_type, input.recipient_id, project);
        let plan = Plan {
            name: input.name.to_string(),
            conversation: emails[0].conversation,
            emails: emails.iter().map(|email| email.id).collect(),
            subject: input.subject.map(|text| text.to_string()),
            preheader: input.preheader_text.map(|text| text.to_string()),
            from: input.from.into_string(),
            from_name: input.from_name.to_string(),
            reply_to: input.reply_to.map(EmailAddress::into_string),
            recipients: recipients.map_err(|(field, detail)| Failure::field(field, detail))?,
            topic: input.topic_id,
            provider: input.provider_type.map(|text| text.to_string()).filter(|text| !text.is_empty()),
            variables: to_json(input.variables)?,
            utm: input.utm,
            minimum_score: input.minimum_score.map(score),
            unknown: input.unknown,
        };
        check_texts(&plan)?;
        launch::check_audience(tx, project, &plan)?;
        warnings.extend(same_in_every_language(&plan, &emails));
        let (from, from_name, reply_to) = (plan.from.clone(), Some(plan.from_name.clone()), plan.reply_to.clone());
        projects::suggest_sender(tx, account, project, DefaultSender { from, from_name, reply_to })?;
        let campaign = draft(tx, project, plan);
        store::save(tx, account, None, &campaign);
        Ok(Created(CampaignView { warnings, ..campaign_view(tx, &caller.engine, account, campaign)? }))
    }
}

/// Returns a new draft campaign.
pub fn draft(tx: &WriteTx<'_>, project: ProjectId, plan: Plan) -> Campaign {
    Campaign {
        id: CampaignId::make(tx.now(), tx.random()),
        project,
        plan,
        status: CampaignStatus::Draft,
        schedule: None,
        mailing: None,
        check_at: None,
        hold_number: 0,
        started_at: None,
        completed_at: None,
        error: None,
        archived_at: None,
        created_at: tx.now(),
        updated_at: tx.now(),
    }
}
