//! The work that waits while sending is on hold, and the messages that may be sent twice when sending is resumed.

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::api::response::WireTime;
use crate::engine::api::{Engine, EnvironmentData};
use crate::engine::hold::OnHold;
use crate::engine::store::{ReadTx, Result};
use crate::features::{campaigns, sending};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, CampaignId};
use crate::vocab::limits;
use crate::vocab::tables;

/// Whether sending is on hold, and the work that waits.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendingHold {
    pub on_hold: bool,
    /// When the hold started; work requested after this time is sent as usual. Absent if sending is not on hold.
    pub since: Option<WireTime>,
    /// The reason for the hold; absent if sending is not on hold.
    pub reason: Option<String>,
    /// A notice about the messages that may be sent twice when sending is resumed; absent if sending is not on hold.
    pub notice: Option<String>,
    /// The account's campaigns that wait: campaigns in progress and scheduled campaigns.
    pub campaigns: Vec<HeldCampaign>,
    /// The amount of waiting work in all accounts, by environment.
    pub environments: Vec<HeldIn>,
    /// Whether there are more waiting campaigns or sends than were counted.
    pub has_more: bool,
}

/// A campaign that waits for sending to be resumed.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeldCampaign {
    pub id: CampaignId,
    pub name: String,
    pub environment: Environment,
    pub status: &'static str,
    /// When the campaign is scheduled to start; absent if it is already in progress.
    pub scheduled_at: Option<WireTime>,
    /// The number of recipients who may get the campaign twice; 0 for a scheduled campaign, because its recipients are not known yet.
    pub recipients: u64,
}

/// The amount of waiting work in one environment.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeldIn {
    pub environment: Environment,
    /// The number of waiting campaigns in progress.
    pub campaigns: u64,
    pub scheduled_campaigns: u64,
    /// The number of waiting direct sends and batches.
    pub sends: u64,
    /// The number of recipients to whom campaigns, sends and batches had not been sent when the data was saved, including retries.
    pub recipients: u64,
    /// The number of these recipients who wait for a retry.
    pub retries: u64,
    /// The number of waiting webhook deliveries, including retries.
    pub webhook_deliveries: u64,
}

impl SendingHold {
    /// Returns the view for an installation whose sending is not on hold.
    pub fn none() -> Self {
        let (campaigns, environments) = (Vec::new(), Vec::new());
        Self { on_hold: false, since: None, reason: None, notice: None, campaigns, environments, has_more: false }
    }

    /// Returns an example for the documentation.
    pub fn sample() -> Self {
        let campaign = HeldCampaign {
            id: CampaignId::from_bytes([0x66; 12]),
            name: "Spring sale".into(),
            environment: Environment::Live,
            status: "sending",
            scheduled_at: None,
            recipients: 494,
        };
        let environments = vec![HeldIn {
            environment: Environment::Live,
            campaigns: 1,
            scheduled_campaigns: 0,
            sends: 0,
            recipients: 494,
            retries: 12,
            webhook_deliveries: 3,
        }];
        Self {
            on_hold: true,
            since: Some(WireTime::sample()),
            reason: Some("This data was restored from the backup made at 2026-01-31T00:00:00.000Z.".into()),
            notice: Some(notice(&environments)),
            campaigns: vec![campaign],
            environments,
            has_more: false,
        }
    }
}

/// Returns the work that waits now. Lists the campaigns of `account`, or of all accounts if `account` is `None` (the operator).
pub fn view(engine: &Engine, account: Option<AccountId>) -> Result<SendingHold> {
    match engine.hold.current() {
        None => Ok(SendingHold::none()),
        Some(hold) => held(engine, &hold, account),
    }
}

/// Returns the work that waits because of this hold. Lists the campaigns of `account`, or of all accounts if `account` is `None`.
pub fn held(engine: &Engine, hold: &OnHold, account: Option<AccountId>) -> Result<SendingHold> {
    let mut view = SendingHold { on_hold: true, since: Some(WireTime(hold.since)), ..SendingHold::none() };
    for data in [engine.data(Environment::Live), engine.data(Environment::Test)] {
        let counted = count(data, hold, account, &mut view)?;
        view.environments.push(counted);
    }
    let cause = hold.cause.to_string();
    let mut letters = cause.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    view.reason = Some(format!("{first}{}.", letters.as_str()));
    view.notice = Some(notice(&view.environments));
    Ok(view)
}

fn count(data: &EnvironmentData, hold: &OnHold, account: Option<AccountId>, view: &mut SendingHold) -> Result<HeldIn> {
    let tx = data.store.read();
    let environment = data.environment;
    let mut held = HeldIn {
        environment,
        campaigns: 0,
        scheduled_campaigns: 0,
        sends: 0,
        recipients: 0,
        retries: 0,
        webhook_deliveries: tx.rows(tables::WEBHOOK_DUE)?,
    };
    count_campaigns(&tx, hold, account, (&mut held, view))?;
    let ids = sending::under_way(&tx, limits::HELD_SCANNED_MAX)?;
    view.has_more |= ids.len() == limits::HELD_SCANNED_MAX;
    for id in ids {
        let Some(mailing) = sending::by_id(&tx, id)?.filter(|mailing| hold.holds(mailing.hold_number)) else { continue };
        let counts = sending::counts(&tx, id)?;
        held.sends += u64::from(mailing.kind.campaign().is_none());
        held.recipients += counts.queued + counts.deferred;
        held.retries += counts.deferred;
    }
    Ok(held)
}

fn count_campaigns(
    tx: &ReadTx,
    hold: &OnHold,
    account: Option<AccountId>,
    (held, view): (&mut HeldIn, &mut SendingHold),
) -> Result<()> {
    let found = campaigns::in_progress(tx, limits::HELD_SCANNED_MAX)?;
    view.has_more |= found.len() == limits::HELD_SCANNED_MAX;
    for campaign in found {
        let mailing = match campaign.mailing {
            Some(id) => sending::by_id(tx, id)?,
            None => None,
        };
        // Skip a campaign that was started or scheduled by a request after the hold started.
        if !hold.holds(mailing.as_ref().map_or(campaign.hold_number, |mailing| mailing.hold_number)) {
            continue;
        }
        let counts = mailing.map(|mailing| sending::counts(tx, mailing.id)).transpose()?.unwrap_or_default();
        let is_scheduled = campaign.mailing.is_none();
        held.scheduled_campaigns += u64::from(is_scheduled);
        held.campaigns += u64::from(!is_scheduled);
        if account.is_some_and(|account| account != campaign.account) {
            continue;
        }
        if view.campaigns.len() == limits::HELD_LISTED_MAX {
            view.has_more = true;
            continue;
        }
        view.campaigns.push(HeldCampaign {
            id: campaign.id,
            name: campaign.name,
            environment: held.environment,
            status: campaign.status,
            scheduled_at: campaign.scheduled_at.filter(|_| is_scheduled).map(WireTime),
            recipients: counts.queued + counts.deferred,
        });
    }
    Ok(())
}

/// Returns a sentence about the messages and deliveries that may be sent twice.
fn notice(environments: &[HeldIn]) -> String {
    let sum = |of: fn(&HeldIn) -> u64| environments.iter().map(of).sum::<u64>();
    format!(
        "These may be sent a second time: messages to {}, the messages of {}, and {}. Messages that were already sent after this data was \
         saved are sent again, even to recipients who have unsubscribed since. Before you resume, cancel the work that you do not want to \
         send.",
        counted(sum(|held| held.recipients), "recipient", "recipients"),
        counted(sum(|held| held.scheduled_campaigns), "scheduled campaign", "scheduled campaigns"),
        counted(sum(|held| held.webhook_deliveries), "webhook delivery", "webhook deliveries")
    )
}

fn counted(many: u64, one: &str, more: &str) -> String {
    format!("{many} {}", if many == 1 { one } else { more })
}
