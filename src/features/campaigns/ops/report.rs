//! Returns a campaign's results per day and per link.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::CampaignRef;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs_one};
use crate::features::campaigns::{REPORT_READERS, require};
use crate::features::engagement;
use crate::features::sending::timeline::{self, TimelineDay};
use crate::features::sending::{self, Mailing};
use crate::vocab::codes::Code;
use crate::vocab::ids::CampaignId;
use crate::vocab::limits;
use crate::vocab::rates::RouteGroup;

pub struct Report;

/// A campaign's results over time.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignReport {
    pub campaign_id: CampaignId,
    /// The results of each day from the start of the campaign to the last day with activity, at most 92 days; empty before the start.
    pub days: Vec<TimelineDay>,
    /// The most clicked links, most clicks first; at most 20.
    pub links: Vec<CampaignLink>,
    pub last_updated: WireTime,
}

/// A link in the email.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CampaignLink {
    /// The target URL.
    pub url: String,
    /// The number of clicks, excluding detected bots. In the first seconds after delivery, repeated clicks by the same recipient count as
    /// one.
    pub clicks: u64,
}

impl Operation for Report {
    const SPEC: Spec = Spec::get("campaigns.report", "/v1/campaigns/{id}/report", needs_one(REPORT_READERS))
        .summary("Get a campaign's results per day and per link")
        .about("The results exclude opens and clicks by bots. Each order appears on the day it was placed, even if it was reported later.")
        .rate(RouteGroup::Campaigns)
        .fails(&[Code::NotFound]);
    type Input = CampaignRef;
    type Output = Done<CampaignReport>;

    fn example() -> (Value, Self::Output) {
        let campaign_id = CampaignId::parse("66f1a2b3d4e5f60718293a60").expect("the sample ID is valid");
        let links = vec![CampaignLink { url: "https://acme.example/teas".into(), clicks: 31 }];
        let report = CampaignReport { campaign_id, days: vec![TimelineDay::sample()], links, last_updated: WireTime::sample() };
        (json!({ "id": campaign_id }), Done(report))
    }
}

impl Query for Report {
    fn run(view: &View<'_>, input: CampaignRef) -> Result<Self::Output, Failure> {
        let account = view.caller.account();
        let campaign = require(view.tx, account, input.id, input.project_id)?;
        let mailing = campaign.mailing.map(|id| sending::require(view.tx, account, id)).transpose()?;
        let (days, links) = match &mailing {
            Some(mailing) => (timeline::of_campaign(view.tx, mailing)?, links(view, mailing)?),
            None => Default::default(),
        };
        Ok(Done(CampaignReport { campaign_id: campaign.id, days, links, last_updated: WireTime(view.now) }))
    }
}

fn links(view: &View<'_>, mailing: &Mailing) -> Result<Vec<CampaignLink>, Failure> {
    // Emails in different languages can contain the same link, so the clicks are totaled for each URL.
    let mut by_url: BTreeMap<String, u64> = BTreeMap::new();
    for ((translation, number), clicks) in engagement::clicks(view.tx, mailing.id)? {
        let Some(translation) = mailing.translations.get(usize::from(translation)) else { continue };
        if let Some(url) = sending::link(view.tx, translation, number)? {
            *by_url.entry(url).or_default() += clicks;
        }
    }
    let mut links: Vec<CampaignLink> = by_url.into_iter().map(|(url, clicks)| CampaignLink { url, clicks }).collect();
    links.sort_by_key(|link| std::cmp::Reverse(link.clicks));
    links.truncate(limits::CAMPAIGN_LINKS_SHOWN);
    Ok(links)
}
