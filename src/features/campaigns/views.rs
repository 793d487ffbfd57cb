//! Campaigns as the API returns them.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::launch;
use super::model::{Campaign, CampaignStatus, Plan, RecipientType, Recipients, TimezoneMode, Unknown};
use crate::base::clock::Timestamp;
use crate::engine::api::response::{Warning, WireTime};
use crate::engine::api::{Engine, Failure, Listed};
use crate::engine::store::Read;
use crate::features::contact_sets::{self, Facet};
use crate::features::domains::Utm;
use crate::features::{emails, segments, sending, tags};
use crate::vocab::contact_status;
use crate::vocab::ids::{AccountId, CampaignId, ConversationId, EmailId, MailingId, ProjectId, RecipientId, TopicId};
use crate::vocab::settings::UnknownPolicy;

/// A campaign: an email to the contacts of a project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignView {
    pub id: CampaignId,
    pub project_id: ProjectId,
    pub name: String,
    /// The generation that contains the email.
    pub conversation_id: ConversationId,
    pub email_id: EmailId,
    /// The languages of the campaign's emails. Recipients with any other language get the email in the first of these languages: the email
    /// with the ID `emailId`.
    pub languages: Vec<String>,
    /// The campaign's own subject or, if it has none, the subject of the email's current version.
    pub subject: String,
    /// The preview text that email clients show after the subject: the campaign's own or, if it has none, the email's.
    pub preheader_text: String,
    pub from: String,
    pub from_name: String,
    pub reply_to: Option<String>,
    pub recipient_type: RecipientType,
    /// The ID of the segment or tag; the project's ID if the campaign goes to all contacts.
    pub recipient_id: RecipientId,
    pub topic_id: Option<TopicId>,
    /// The number of recipients who are not skipped, once all recipients have been determined after the start. Before that, the number of
    /// subscribed contacts in the audience; absent where counting would be slow, as in the response to a request that creates or changes a
    /// campaign for a segment. A dry run returns exact numbers.
    pub estimated_recipients: Option<u64>,
    /// The client's own name for a transport, returned as given. It has no effect: the installation's settings determine the transport.
    pub provider_type: Option<String>,
    /// Merge field values for all recipients.
    pub variables: Map<String, Value>,
    /// UTM parameters for links. If absent, the setting of the From address's domain applies.
    pub utm: Option<Utm>,
    pub status: CampaignStatus,
    /// The scheduled start time, which may be in the past.
    pub scheduled_at: Option<WireTime>,
    /// The IANA name of the campaign's time zone.
    pub scheduled_timezone: Option<String>,
    /// Whose time zone determines when sending starts: the campaign's, or each recipient's own.
    pub timezone_mode: Option<TimezoneMode>,
    /// A notice about the start time, for example that the given local time does not exist because clocks are set forward at that time.
    pub schedule_notice: Option<String>,
    /// The ID of the send that delivers the campaign; absent until the campaign starts. See GET /v1/sending/batches/{batchId}.
    pub batch_id: Option<MailingId>,
    /// When sending started.
    pub sent_at: Option<WireTime>,
    /// When the last delivery succeeded or failed, or when the campaign was canceled or failed. Absent from a `sent` campaign while
    /// deferred recipients are retried.
    pub completed_at: Option<WireTime>,
    /// Why the campaign failed, or what it waits for.
    pub error: Option<String>,
    pub archived: bool,
    pub archived_at: Option<WireTime>,
    /// How the campaign was created; currently always `api`.
    pub triggered_by: &'static str,
    /// The minimum validation score for sending; absent if no score is required.
    pub minimum_score: Option<u8>,
    /// What to do with recipients whose delivery is unknown after a crash or a broken connection.
    pub unknown: Unknown,
    /// The number of skipped recipients. The statistics and the log contain the reasons.
    pub skipped: u64,
    /// Warnings about the chosen email, in responses to operations that choose an email.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    pub created_at: WireTime,
    pub updated_at: WireTime,
}

impl Listed for CampaignView {
    const PLURAL: &'static str = "campaigns";
    const ARRAY_WHEN_PAGED: bool = false;
}

/// Returns a campaign in its current state, as the API returns it.
pub fn campaign_view(tx: &impl Read, engine: &Engine, account: AccountId, campaign: Campaign) -> Result<CampaignView, Failure> {
    let Campaign { plan, schedule, .. } = &campaign;
    let own = emails::headline(tx, account, plan.first_email())?;
    let (own_subject, own_preheader) = own.map(|own| (own.subject, own.preheader)).unwrap_or_default();
    let counts = campaign.mailing.map(|id| sending::counts(tx, id)).transpose()?;
    let is_planned = match campaign.mailing {
        Some(id) => {
            sending::find(tx, account, id)?.is_some_and(|mailing| mailing.plan == sending::Plan::Done || mailing.state.is_final())
        }
        None => false,
    };
    let (recipient_type, recipient_id) = plan.recipients.kind_and_id(campaign.project);
    let estimated_recipients = match &counts {
        Some(counts) if is_planned => Some(counts.total - counts.skipped_total()),
        _ => estimate(tx, engine, campaign.project, plan)?,
    };
    Ok(CampaignView {
        id: campaign.id,
        project_id: campaign.project,
        name: plan.name.clone(),
        conversation_id: plan.conversation,
        email_id: plan.first_email(),
        languages: emails::languages(tx, account, &plan.emails)?,
        subject: plan.subject.clone().unwrap_or(own_subject),
        preheader_text: plan.preheader.clone().unwrap_or(own_preheader),
        from: plan.from.clone(),
        from_name: plan.from_name.clone(),
        reply_to: plan.reply_to.clone(),
        recipient_type,
        recipient_id,
        topic_id: plan.topic,
        estimated_recipients,
        provider_type: plan.provider.clone(),
        variables: launch::variables(plan),
        utm: plan.utm.clone(),
        status: campaign.status,
        scheduled_at: schedule.as_ref().map(|schedule| WireTime(schedule.at)),
        scheduled_timezone: schedule.as_ref().map(|schedule| schedule.zone.clone()),
        timezone_mode: schedule.as_ref().map(|schedule| schedule.mode),
        schedule_notice: schedule.as_ref().and_then(|schedule| schedule.notice.clone()),
        batch_id: campaign.mailing,
        sent_at: campaign.started_at.map(WireTime),
        completed_at: campaign.completed_at.map(WireTime),
        error: campaign.error.clone(),
        archived: campaign.is_archived(),
        archived_at: campaign.archived_at.map(WireTime),
        triggered_by: "api",
        minimum_score: plan.minimum_score,
        unknown: plan.unknown.unwrap_or(match engine.settings.mail.unknown {
            UnknownPolicy::Hold => Unknown::Hold,
            UnknownPolicy::Resend => Unknown::Resend,
        }),
        skipped: counts.map_or(0, |counts| counts.skipped_total()),
        warnings: Vec::new(),
        created_at: WireTime(campaign.created_at),
        updated_at: WireTime(campaign.updated_at),
    })
}

/// Returns the number of subscribed contacts in the audience; `None` for a segment in a write transaction, where evaluating its filter
/// would take too long.
fn estimate(tx: &impl Read, engine: &Engine, project: ProjectId, plan: &Plan) -> Result<Option<u64>, Failure> {
    let subscribed = Facet::Status(contact_status::Status::Subscribed);
    let members = match plan.recipients {
        Recipients::Everyone => return Ok(Some(contact_sets::count(tx, project, subscribed)?)),
        Recipients::Tag(id) => match tags::by_id(tx, project, id)? {
            Some(tag) => contact_sets::set(tx, project, Facet::Tag(tag.number()))?,
            None => return Ok(Some(0)),
        },
        Recipients::Audience(id) | Recipients::Segment(id) => {
            let Some(snapshot) = tx.snapshot() else { return Ok(None) };
            let Ok(segment) = segments::require(snapshot, project, id) else { return Ok(Some(0)) };
            (*segment.filter()?.members(snapshot, project, engine.clock.now())?).clone()
        }
    };
    Ok(Some((members & contact_sets::set(tx, project, subscribed)?).len()))
}

impl CampaignView {
    pub fn sample() -> Self {
        let variables = serde_json::json!({ "offer": "20% off" });
        Self {
            id: CampaignId::parse("66f1a2b3d4e5f60718293a60").expect("the sample ID is valid"),
            project_id: ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the sample ID is valid"),
            name: "Winter teas".into(),
            conversation_id: ConversationId::parse("66f1a2b3d4e5f60718293a4d").expect("the sample ID is valid"),
            email_id: EmailId::parse("66f1a2b3d4e5f60718293a4e").expect("the sample ID is valid"),
            languages: vec!["en".into()],
            subject: "Our winter teas are here".into(),
            preheader_text: "Freshly packed, and 20% off until Sunday.".into(),
            from: "news@acme.example".into(),
            from_name: "Acme".into(),
            reply_to: None,
            recipient_type: RecipientType::Segment,
            recipient_id: RecipientId::parse("66f1a2b3e5f60718293a4b5c").expect("the sample ID is valid"),
            topic_id: None,
            estimated_recipients: Some(318),
            provider_type: None,
            variables: variables.as_object().cloned().expect("the value is an object"),
            utm: None,
            status: CampaignStatus::Draft,
            scheduled_at: None,
            scheduled_timezone: None,
            timezone_mode: None,
            schedule_notice: None,
            batch_id: None,
            sent_at: None,
            completed_at: None,
            error: None,
            archived: false,
            archived_at: None,
            triggered_by: "api",
            minimum_score: None,
            unknown: Unknown::Hold,
            skipped: 0,
            warnings: Vec::new(),
            created_at: WireTime::sample(),
            updated_at: WireTime::sample(),
        }
    }

    pub fn sample_scheduled() -> Self {
        Self {
            status: CampaignStatus::Scheduled,
            scheduled_at: Some(WireTime(Timestamp(1_769_848_200_000))),
            scheduled_timezone: Some("Europe/Berlin".into()),
            timezone_mode: Some(TimezoneMode::Campaign),
            ..Self::sample()
        }
    }

    /// Returns an example of a started campaign with this status.
    pub fn sample_in(status: CampaignStatus) -> Self {
        let batch_id = MailingId::parse("66f1a2b3d4e5f60718293a61").expect("the sample ID is valid");
        Self { status, batch_id: Some(batch_id), sent_at: Some(WireTime::sample()), ..Self::sample() }
    }
}
