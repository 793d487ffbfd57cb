//! A campaign's statistics, computed from the counts of recipients, the engagement counts, and the revenue.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::model::{Campaign, percent};
use crate::base::clock::Timestamp;
use crate::engine::api::response::WireTime;
use crate::engine::store::{Read, Result};
use crate::features::engagement::{self, Measure};
use crate::features::revenue::{self, Conversion, Scope};
use crate::features::sending::{self, Counts};

/// A campaign's statistics.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignStats {
    /// The number of messages that the next mail server accepted.
    pub total_sent: u64,
    /// The number of messages that the next mail server accepted and that did not bounce.
    pub total_delivered: u64,
    /// The number of recipients who opened the message, excluding detected bots.
    pub unique_opens: u64,
    pub total_opens: u64,
    /// The number of recipients who clicked a link in the message, excluding detected bots.
    pub unique_clicks: u64,
    pub total_clicks: u64,
    /// The number of recipients who unsubscribed with a link in the message or with a button of their email client.
    pub unsubscribes: u64,
    /// The number of messages that were rejected, that were deferred for too long, or that bounced after they were accepted.
    pub bounces: u64,
    /// The number of recipients who reported the message as spam.
    pub complaints: u64,
    /// Opened messages as a percentage of delivered messages, with two decimals.
    pub open_rate: f64,
    /// Clicked messages as a percentage of delivered messages.
    pub click_rate: f64,
    /// Unsubscribes as a percentage of delivered messages.
    pub unsubscribe_rate: f64,
    /// Bounces as a percentage of the messages that were sent or failed.
    pub bounce_rate: f64,
    /// The number of opens by scanners and other bots. No other field includes these opens.
    pub bot_opens: u64,
    /// The number of clicks by scanners and other bots. No other field includes these clicks.
    pub bot_clicks: u64,
    /// The number of opens by privacy proxies, which load images whether or not the recipient reads the email.
    pub mpp_opens: u64,
    /// The number of all recipients, including skipped recipients.
    pub recipients: u64,
    /// The number of messages that have not been sent yet or are in flight.
    pub queued: u64,
    /// The number of messages that are waiting for a retry or for the start time in the recipient's time zone.
    pub deferred: u64,
    /// The number of messages that were rejected permanently or deferred for too long.
    pub failed: u64,
    /// The number of messages whose delivery is unknown.
    pub unknown: u64,
    /// The number of skipped recipients.
    pub skipped: u64,
    /// The number of skipped recipients for each reason.
    pub skipped_reasons: BTreeMap<String, u64>,
    /// The revenue of the campaign; absent if no revenue was attributed to the campaign.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversion: Option<Conversion>,
    pub last_updated: WireTime,
    pub reporting: StatsReporting,
}

/// How the statistics were computed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatsReporting {
    /// How current the statistics are: always `live`.
    pub status: &'static str,
    /// The source of the statistics: always `ledger`.
    pub source: &'static str,
}

/// The counts of recipient actions, such as opens and clicks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readers {
    pub unique_opens: u64,
    pub opens: u64,
    pub unique_clicks: u64,
    pub clicks: u64,
    pub bot_opens: u64,
    pub bot_clicks: u64,
    pub proxy_opens: u64,
    pub unsubscribes: u64,
    pub complaints: u64,
    /// The number of messages that bounced after they were accepted.
    pub returned: u64,
}

/// Returns the statistics of a campaign; all values are zero before the campaign starts.
pub fn of(tx: &impl Read, campaign: &Campaign, now: Timestamp) -> Result<CampaignStats> {
    let Some(mailing) = campaign.mailing else { return Ok(to_stats(&Counts::default(), Readers::default(), now)) };
    let count = |measure| engagement::count(tx, mailing, measure);
    let readers = Readers {
        unique_opens: count(Measure::UniqueOpens)?,
        opens: count(Measure::Opens)?,
        unique_clicks: count(Measure::UniqueClicks)?,
        clicks: count(Measure::Clicks)?,
        bot_opens: count(Measure::MachineOpens)?,
        bot_clicks: count(Measure::MachineClicks)?,
        proxy_opens: count(Measure::ProxyOpens)?,
        unsubscribes: count(Measure::Unsubscribes)?,
        complaints: count(Measure::Complaints)?,
        returned: count(Measure::HardBounces)? + count(Measure::SoftBounces)?,
    };
    let conversion = Conversion::of(&revenue::totals(tx, Scope::Mailing(mailing))?);
    Ok(CampaignStats { conversion, ..to_stats(&sending::counts(tx, mailing)?, readers, now) })
}

fn to_stats(counts: &Counts, readers: Readers, now: Timestamp) -> CampaignStats {
    let bounces = counts.failed + readers.returned;
    let delivered = counts.sent.saturating_sub(readers.returned);
    CampaignStats {
        total_sent: counts.sent,
        total_delivered: delivered,
        unique_opens: readers.unique_opens,
        total_opens: readers.opens,
        unique_clicks: readers.unique_clicks,
        total_clicks: readers.clicks,
        unsubscribes: readers.unsubscribes,
        bounces,
        complaints: readers.complaints,
        open_rate: percent(readers.unique_opens, delivered),
        click_rate: percent(readers.unique_clicks, delivered),
        unsubscribe_rate: percent(readers.unsubscribes, delivered),
        bounce_rate: percent(bounces, counts.sent + counts.failed),
        bot_opens: readers.bot_opens,
        bot_clicks: readers.bot_clicks,
        mpp_opens: readers.proxy_opens,
        recipients: counts.total,
        queued: counts.queued + counts.handoff,
        deferred: counts.deferred,
        failed: counts.failed,
        unknown: counts.unknown,
        skipped: counts.skipped_total(),
        skipped_reasons: counts.skipped.iter().map(|(reason, many)| ((*reason).to_owned(), *many)).collect(),
        conversion: None,
        last_updated: WireTime(now),
        reporting: StatsReporting { status: "live", source: "ledger" },
    }
}

impl CampaignStats {
    pub fn sample() -> Self {
        let skipped = BTreeMap::from([("suppressed", 2), ("unsubscribed", 5)]);
        let counts = Counts { total: 325, sent: 315, failed: 3, skipped, ..Counts::default() };
        let readers = Readers { unique_opens: 141, opens: 203, unique_clicks: 38, clicks: 52, returned: 2, ..Readers::default() };
        let readers = Readers { unsubscribes: 2, bot_opens: 17, bot_clicks: 9, ..readers };
        Self { conversion: Some(Conversion::sample()), ..to_stats(&counts, readers, WireTime::sample().0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_sends_everything_is_zero() {
        let stats = to_stats(&Counts::default(), Readers::default(), Timestamp(0));
        assert_eq!((stats.open_rate, stats.click_rate, stats.bounce_rate, stats.total_delivered), (0.0, 0.0, 0.0, 0));
    }

    #[test]
    fn rejections_and_later_bounces_are_added() {
        let counts = Counts { total: 10, sent: 8, failed: 2, ..Counts::default() };
        let before = to_stats(&counts, Readers::default(), Timestamp(0));
        assert_eq!((before.bounces, before.total_delivered), (2, 8));
        let later = to_stats(&counts, Readers { returned: 1, unique_opens: 7, ..Readers::default() }, Timestamp(0));
        assert_eq!((later.bounces, later.total_delivered, later.bounce_rate, later.open_rate), (3, 7, 30.0, 100.0));
    }
}
