//! The table of language-model usage, and all access to it.

use serde::{Deserialize, Serialize};

use crate::engine::language_model::Usage;
use crate::engine::store::key::Key as _;
use crate::engine::store::{Order, Read, Record, Result, RowCheck, Span, Table, WriteTx};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, ProjectId};
use crate::vocab::limits;
use crate::vocab::tables;

const USAGE: Table<(AccountId, u32, ProjectId, String), MonthlyUsage> = Table::new(tables::MODEL_USAGE);

/// The check that decodes every row of this table.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(USAGE)];

/// The usage of one model by one brand in one month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonthlyUsage {
    /// The environment of the brand.
    pub environment: Environment,
    pub usage: Usage,
}

impl Record for MonthlyUsage {}

/// The brand and the month for which the usage of a request is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub account: AccountId,
    pub month: u32,
    pub project: ProjectId,
    pub environment: Environment,
}

/// Applies `change` to the stored usage of a model by a brand in one month.
pub fn change(tx: &mut WriteTx<'_>, entry: Entry, model: &str, change: impl FnOnce(Usage) -> Usage) -> Result<()> {
    let Entry { account, month, project, environment } = entry;
    let key = (account, month, project, model.to_owned());
    let before = tx.get(USAGE, &key)?;
    if before.is_none() {
        // Adding a row also deletes rows for months that are no longer shown.
        let oldest = month.saturating_sub(limits::METRICS_MONTHS_MAX as u32);
        let over = Span { to: Some((account, oldest).to_bytes()), ..USAGE.under(&(account,)) };
        tx.delete_span(USAGE, &over, limits::MODEL_USAGE_DELETED_AT_ONCE)?;
    }
    let usage = change(before.map(|row| row.usage).unwrap_or_default());
    tx.put(USAGE, &key, &MonthlyUsage { environment, usage });
    Ok(())
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageRow {
    pub project: ProjectId,
    pub model: String,
    pub environment: Environment,
    pub usage: Usage,
}

/// Returns an account's usage in a month, by brand and model.
pub fn of_month(tx: &impl Read, account: AccountId, month: u32) -> Result<Vec<UsageRow>> {
    let rows = tx.list(USAGE, &USAGE.under(&(account, month)), Order::Forward, usize::MAX)?;
    let row = |((_, _, project, model), MonthlyUsage { environment, usage })| UsageRow { project, model, environment, usage };
    Ok(rows.into_iter().map(row).collect())
}
