//! TABLE: the row checks of every table. `mailmill check-data` runs them.

use crate::engine::store::{ReadTx, Result, RowCheck, blobs, feed};
use crate::engine::{access, hold, outbox};
use crate::features::{
    accounts, campaigns, connections, contact_records, contact_sets, contacts, customer_events, domains, emails, engagement,
    go_live, hooks, mail_feedback, models, previews, projects, revenue, saved_blocks, scheduled_imports, segments, sending,
    storefront, suppressions, tags, topics, tracking, webhooks,
};
use crate::vocab::tables::TableId;

const ROW_CHECKS: &[&[RowCheck]] = &[
    access::audit::ROW_CHECKS,
    access::idempotency::ROW_CHECKS,
    access::throttle::ROW_CHECKS,
    hold::ROW_CHECKS,
    outbox::ROW_CHECKS,
    blobs::ROW_CHECKS,
    feed::ROW_CHECKS,
    accounts::CLAIM_ROW_CHECKS,
    accounts::GRANT_ROW_CHECKS,
    accounts::ROW_CHECKS,
    accounts::SIGN_IN_ROW_CHECKS,
    campaigns::ROW_CHECKS,
    connections::EXPORT_ROW_CHECKS,
    connections::ROW_CHECKS,
    contact_records::activity::ROW_CHECKS,
    contact_records::email_index::ROW_CHECKS,
    contact_records::ROW_CHECKS,
    contact_sets::ROW_CHECKS,
    contacts::erasure::ROW_CHECKS,
    contacts::JOB_ROW_CHECKS,
    contacts::noncontact_clicks::ROW_CHECKS,
    customer_events::external_ids::ROW_CHECKS,
    customer_events::INDEX_ROW_CHECKS,
    customer_events::ROW_CHECKS,
    domains::ROW_CHECKS,
    emails::ROW_CHECKS,
    engagement::ROW_CHECKS,
    go_live::ROW_CHECKS,
    hooks::ROW_CHECKS,
    mail_feedback::ROW_CHECKS,
    models::ROW_CHECKS,
    previews::ROW_CHECKS,
    projects::IMAGE_ROW_CHECKS,
    projects::IMPORT_ROW_CHECKS,
    projects::knowledge::ROW_CHECKS,
    projects::ROW_CHECKS,
    projects::PRODUCT_ROW_CHECKS,
    revenue::ROW_CHECKS,
    saved_blocks::ROW_CHECKS,
    scheduled_imports::ROW_CHECKS,
    segments::ROW_CHECKS,
    sending::INBOX_ROW_CHECKS,
    sending::ROW_CHECKS,
    sending::quota::ROW_CHECKS,
    sending::QUEUE_ROW_CHECKS,
    storefront::ROW_CHECKS,
    suppressions::ROW_CHECKS,
    tags::ROW_CHECKS,
    topics::ROW_CHECKS,
    tracking::ROW_CHECKS,
    webhooks::ROW_CHECKS,
];

/// Returns the number of rows in a table and the number of unreadable rows.
pub fn count(tx: &ReadTx, table: TableId) -> Result<(u64, u64)> {
    let check = ROW_CHECKS.iter().copied().flatten().find(|check| check.table == table);
    check.expect("a test compares the list with the tables").count(tx)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::tables::TABLES;

    #[test]
    fn the_rows_of_every_table_are_read_in_one_way() {
        let checks = || ROW_CHECKS.iter().copied().flatten();
        let wrong = TABLES.iter().filter(|info| checks().filter(|check| check.table == info.id).count() != 1);
        let wrong: Vec<_> = wrong.map(|info| info.name).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
