//! The tables of campaigns, and all functions that access the tables.
//!
//! Invariant: every write goes through [`save`] or [`delete`], which keep the worker's queue consistent with the campaigns.

use std::ops::ControlFlow;

use super::model::Campaign;
use crate::base::clock::Timestamp;
use crate::engine::store::key::{Key, after_prefix};
use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, CampaignId, ProjectId};
use crate::vocab::tables;

const CAMPAIGNS: Table<(AccountId, CampaignId), Campaign> = Table::new(tables::CAMPAIGNS);
const BY_PROJECT: Table<(ProjectId, CampaignId), ()> = Table::new(tables::CAMPAIGNS_BY_PROJECT);
const QUEUE: Table<(Timestamp, CampaignId, AccountId), ()> = Table::new(tables::CAMPAIGN_QUEUE);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(CAMPAIGNS), RowCheck::of(BY_PROJECT), RowCheck::of(QUEUE)];

pub fn find(tx: &impl Read, account: AccountId, id: CampaignId) -> Result<Option<Campaign>> {
    tx.get(CAMPAIGNS, &(account, id))
}

/// Stores a campaign; `before` is its previous state, or `None` if the campaign is new.
pub fn save(tx: &mut WriteTx<'_>, account: AccountId, before: Option<&Campaign>, after: &Campaign) {
    if before.is_none() {
        tx.put(BY_PROJECT, &(after.project, after.id), &());
    }
    let (was, is) = (before.and_then(Campaign::queued_at), after.queued_at());
    if was != is {
        if let Some(was) = was {
            tx.delete(QUEUE, &(was, after.id, account));
        }
        if let Some(is) = is {
            tx.put(QUEUE, &(is, after.id, account), &());
        }
    }
    tx.put(CAMPAIGNS, &(account, after.id), after);
}

pub fn delete(tx: &mut WriteTx<'_>, account: AccountId, campaign: &Campaign) {
    if let Some(at) = campaign.queued_at() {
        tx.delete(QUEUE, &(at, campaign.id, account));
    }
    tx.delete(BY_PROJECT, &(campaign.project, campaign.id));
    tx.delete(CAMPAIGNS, &(account, campaign.id));
}

/// Visits the project's campaigns, newest first, until `visitor` breaks.
pub fn visit(
    tx: &impl Read,
    account: AccountId,
    project: ProjectId,
    mut visitor: impl FnMut(Campaign) -> Result<ControlFlow<()>>,
) -> Result<()> {
    for ((_, id), ()) in tx.list(BY_PROJECT, &BY_PROJECT.under(&(project,)), Order::Backward, usize::MAX)? {
        if let Some(found) = find(tx, account, id)?
            && visitor(found)?.is_break()
        {
            break;
        }
    }
    Ok(())
}

/// Visits the account's campaigns, newest first, until `visitor` breaks. If `before` is given, visits only older campaigns.
pub fn visit_latest(
    tx: &impl Read,
    account: AccountId,
    before: Option<CampaignId>,
    mut visitor: impl FnMut(Campaign) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut span = CAMPAIGNS.under(&(account,));
    if let Some(before) = before {
        span.to = Some((account, before).to_bytes());
    }
    tx.visit(CAMPAIGNS, &span, Order::Backward, |_, campaign| visitor(campaign))
}

/// Returns the number of campaigns in a project; stops counting at `most`.
pub fn count(tx: &impl Read, project: ProjectId, most: usize) -> Result<usize> {
    Ok(tx.list(BY_PROJECT, &BY_PROJECT.under(&(project,)), Order::Forward, most)?.len())
}

/// Returns up to `limit` campaigns that are due now, after `last` if given, in queue order.
pub fn due(
    tx: &impl Read,
    now: Timestamp,
    last: Option<(Timestamp, CampaignId, AccountId)>,
    limit: usize,
) -> Result<Vec<(Timestamp, CampaignId, AccountId)>> {
    let from = last.and_then(|last| after_prefix(&last.to_bytes())).unwrap_or_default();
    let span = Span { from, to: Some(now.plus_ms(1).to_bytes()) };
    Ok(tx.list(QUEUE, &span, Order::Forward, limit)?.into_iter().map(|(key, ())| key).collect())
}
