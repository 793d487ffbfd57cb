//! Returns the data about one contact in one response (GDPR articles 15 and 20).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::amount::Amount;
use crate::base::clock::Timestamp;
use crate::base::currency::Currency;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs};
use crate::engine::store::Read;
use crate::features::contact_records::activity::{self, Action};
use crate::features::contact_records::{self, Contact, ContactView};
use crate::features::customer_events::{self, CustomerEvent};
use crate::features::sending::{self, Delivery};
use crate::features::suppressions::Reason;
use crate::features::{engagement, projects, revenue, topics};
use crate::vocab::codes::Code;
use crate::vocab::ids::{CampaignId, ContactId, MailingId, ProjectId, TopicId};
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct PersonalData;

/// The contact whose data to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PersonalDataRequest {
    /// The contact's ID.
    pub id: ContactId,
    /// The ID of the contact's project.
    pub project_id: ProjectId,
}

/// The data about one contact in one project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PersonalData")]
pub struct Everything {
    /// The contact's profile, including tags.
    pub profile: ContactView,
    /// Every topic in the project, and whether the contact is subscribed to the topic.
    pub topics: Vec<TopicState>,
    /// The messages sent to the contact, newest first, with the contact's opens and clicks.
    pub sends: Vec<SentMessage>,
    /// The contact's recorded opens and clicks, newest first.
    pub activity: Vec<RecordedAction>,
    /// The customer events of the last 90 days, newest first.
    pub events: Vec<CustomerEvent>,
    /// The payments and refunds of the contact's orders.
    pub payments: Vec<OrderPayment>,
    /// Why the address is on the account's suppression list; absent if the address is not on the list.
    pub suppression: Option<Reason>,
    pub exported_at: WireTime,
    /// Whether the oldest data was omitted because there is too much data for one response.
    pub truncated: bool,
}

/// A topic, and whether the contact is subscribed to it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TopicState {
    pub topic_id: TopicId,
    pub name: String,
    pub subscribed: bool,
}

/// A message that was sent to one contact.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SentMessage {
    pub send_id: MailingId,
    pub campaign_id: Option<CampaignId>,
    pub subject: String,
    pub from: String,
    pub sent_at: WireTime,
    /// The status of the message, such as `sent`, `failed` or `unknown`.
    pub status: String,
    /// The mail server's response.
    pub reply: Option<String>,
    pub opens: u32,
    pub clicks: u32,
    pub first_opened_at: Option<WireTime>,
    pub first_clicked_at: Option<WireTime>,
    pub unsubscribed_at: Option<WireTime>,
    pub complained_at: Option<WireTime>,
    pub bounced_at: Option<WireTime>,
    pub bounce_detail: Option<String>,
}

/// A recorded open or click of the contact.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordedAction {
    pub action: Action,
    pub at: WireTime,
    pub send_id: MailingId,
    pub campaign_id: Option<CampaignId>,
}

/// A payment or refund of an order.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderPayment {
    pub at: WireTime,
    pub amount: Amount,
    pub currency: Currency,
    pub is_refund: bool,
    /// The ID of the send or batch to which the order is attributed.
    pub credited_send_id: Option<MailingId>,
}

impl Operation for PersonalData {
    const SPEC: Spec = Spec::get("tracking.personal_data", "/v1/contacts/{id}/personal-data", needs(Permission::AudienceRead)).client("contacts.personal_data")
        .also_at(&["/v1/subscribers/{id}/personal-data"])
        .summary("Export all data about a contact")
        .about(
            "Returns the data for a data access request: the contact's profile and tags, topics, sent messages with opens and clicks, \
             customer events of the last 90 days, payments, and why the address is suppressed, if it is.",
        )
        .blocking()
        .fails(&[Code::NotFound]);
    type Input = PersonalDataRequest;
    type Output = Done<Everything>;

    fn example() -> (Value, Self::Output) {
        let input = json!({ "id": "66f1a2b30000000a5c3e9d71", "projectId": "66f1a2b3d4e5f60718293a4b" });
        let send_id = MailingId::parse("66f1a2b3d4e5f60718293a61").expect("the sample ID is valid");
        let sent = SentMessage {
            send_id,
            campaign_id: None,
            subject: "Spring is here".into(),
            from: "hello@acme.example".into(),
            sent_at: WireTime::sample(),
            status: "sent".into(),
            reply: Some("250 2.0.0 Ok".into()),
            opens: 2,
            clicks: 1,
            first_opened_at: Some(WireTime::sample()),
            first_clicked_at: Some(WireTime::sample()),
            unsubscribed_at: None,
            complained_at: None,
            bounced_at: None,
            bounce_detail: None,
        };
        let topic_id = TopicId::parse("66f1a2b3c4d5e6f70819202a").expect("the sample ID is valid");
        let everything = Everything {
            profile: ContactView::sample(),
            topics: vec![TopicState { topic_id, name: "Product updates".into(), subscribed: true }],
            sends: vec![sent],
            activity: vec![RecordedAction { action: Action::Opened, at: WireTime::sample(), send_id, campaign_id: None }],
            events: vec![CustomerEvent::sample()],
            payments: vec![OrderPayment {
                at: WireTime::sample(),
                amount: Amount::parse("49.9").expect("the amount is valid"),
                currency: "EUR".parse().expect("the currency is valid"),
                is_refund: false,
                credited_send_id: Some(send_id),
            }],
            suppression: None,
            exported_at: WireTime::sample(),
            truncated: false,
        };
        (input, Done(everything))
    }
}

impl Query for PersonalData {
    fn run(view: &View<'_>, input: PersonalDataRequest) -> Result<Self::Output, Failure> {
        let (tx, project) = (view.tx, input.project_id);
        projects::require(tx, view.caller.account(), project)?;
        let contact = contact_records::find(tx, project, input.id)?.ok_or(Code::NotFound)?;
        let topics = topic_states(tx, project, &contact)?;
        let activities = activity::of(tx, project, contact.id.number(), limits::PERSONAL_DATA_ROWS_MAX)?;
        let events = customer_events::of(tx, project, contact.id.number(), None, limits::PERSONAL_DATA_ROWS_MAX)?;
        let payments = payments(tx, project, contact.id.number())?;
        let truncated =
            [activities.len(), events.len(), payments.len()].iter().any(|many| *many >= limits::PERSONAL_DATA_ROWS_MAX);
        let events = events.into_iter().map(CustomerEvent::of).collect();
        let (mut sends, mut activity) = (Vec::new(), Vec::new());
        for entry in activities {
            if entry.action == Action::Sent {
                sends.extend(sent(tx, &contact, entry.mailing, entry.at)?);
                continue;
            }
            activity.push(RecordedAction {
                action: entry.action,
                at: WireTime(entry.at),
                send_id: entry.mailing,
                campaign_id: entry.campaign,
            });
        }
        let profile = contact_records::Viewer::new(tx, view.caller, project).view(contact)?;
        let suppression = profile.suppression;
        let exported_at = WireTime(view.now);
        Ok(Done(Everything { profile, topics, sends, activity, events, payments, suppression, exported_at, truncated }))
    }
}

fn payments(tx: &impl Read, project: ProjectId, number: u32) -> Result<Vec<OrderPayment>, Failure> {
    let mut payments = Vec::new();
    for digest in customer_events::orders_of(tx, project, number, limits::PERSONAL_DATA_ROWS_MAX)? {
        let Some(order) = revenue::find(tx, project, digest)? else { continue };
        let theirs = order.facts.iter().filter(|fact| fact.contact == Some(number));
        payments.extend(theirs.map(|fact| OrderPayment {
            at: WireTime(fact.occurred_at),
            amount: fact.amount,
            currency: fact.currency,
            is_refund: fact.is_refund,
            credited_send_id: order.credit.map(|credit| credit.mailing),
        }));
    }
    payments.sort_by_key(|payment| std::cmp::Reverse(payment.at.0));
    payments.truncate(limits::PERSONAL_DATA_ROWS_MAX);
    Ok(payments)
}

fn topic_states(tx: &impl Read, project: ProjectId, contact: &Contact) -> Result<Vec<TopicState>, Failure> {
    let mut states = Vec::new();
    for topic in topics::all(tx, project)? {
        let subscribed = topics::is_subscribed(tx, project, &topic, contact.id.number())?;
        states.push(TopicState { topic_id: topic.id, name: topic.name, subscribed });
    }
    Ok(states)
}

/// Returns the message that the contact received in one mailing. The row is found by the contact's number or, in a mailing to addresses, by
/// the contact's address.
fn sent(tx: &impl Read, contact: &Contact, mailing: MailingId, at: Timestamp) -> Result<Option<SentMessage>, Failure> {
    let Some(mailing) = sending::by_id(tx, mailing)? else { return Ok(None) };
    let Some((number, recipient)) = sending::row_of(tx, &mailing, contact.id.number(), &contact.email)? else {
        return Ok(None);
    };
    let did = engagement::of(tx, mailing.id, number)?;
    let subject = mailing.translation_for(&recipient).subject.clone();
    let reply = match &recipient.delivery {
        Delivery::Sent { reply, .. } | Delivery::Deferred { reply, .. } | Delivery::Failed { reply, .. } => Some(reply.clone()),
        Delivery::Queued | Delivery::Handoff { .. } | Delivery::Unknown { .. } | Delivery::Skipped { .. } => None,
    };
    Ok(Some(SentMessage {
        send_id: mailing.id,
        campaign_id: mailing.kind.campaign(),
        subject,
        from: mailing.from.address,
        sent_at: WireTime(at),
        status: recipient.delivery.word().to_owned(),
        reply: reply.filter(|reply| !reply.is_empty()),
        opens: did.opens,
        clicks: did.clicks,
        first_opened_at: did.first_opened_at.map(WireTime),
        first_clicked_at: did.first_clicked_at.map(WireTime),
        unsubscribed_at: did.unsubscribed_at.map(WireTime),
        complained_at: did.complained_at.map(WireTime),
        bounced_at: did.bounced_at.map(WireTime),
        bounce_detail: did.bounce.map(|bounce| bounce.detail),
    }))
}
