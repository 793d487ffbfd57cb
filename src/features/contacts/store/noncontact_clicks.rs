//! Clicks in direct sends to recipients who are not contacts in the project.
//!
//! An order can turn such a recipient into a contact, and is then attributed to the recipient's earlier clicks. Each click is stored under
//! a hash of the address for as long as an order attributed to it can be reported. The tracking feature records clicks here; this file does
//! not depend on orders.

use std::ops::ControlFlow;

use crate::base::clock::Timestamp;
use crate::base::email::EmailAddress;
use crate::base::period::Period;
use crate::engine::store::key::Key;
use crate::engine::store::{Order, Read, Result, RowCheck, Span, Table, WriteTx};
use crate::features::contact_records::email_digest_of;
use crate::vocab::ids::{MailingId, ProjectId};
use crate::vocab::limits::{CONVERSION_WINDOW_MS, DAY_MS, EVENT_KEPT_DAYS, NONCONTACT_CLICKS_DELETED_PER_STEP};
use crate::vocab::tables;

const CLICKS: Table<Click, ()> = Table::new(tables::NONCONTACT_CLICKS);
const BY_TIME: Table<(Timestamp, Click), ()> = Table::new(tables::NONCONTACT_CLICKS_BY_TIME);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] = &[RowCheck::of(CLICKS), RowCheck::of(BY_TIME)];

/// The key of a click: the project, the hash of the address, the time, and the mailing.
type Click = (ProjectId, [u8; 16], Timestamp, MailingId);

/// How long a click is kept: until an order that was paid at the very end of the click's attribution window can no longer be reported.
const KEPT_MS: i64 = EVENT_KEPT_DAYS as i64 * DAY_MS + CONVERSION_WINDOW_MS;

/// Records a click by the recipient with this address.
pub fn note(tx: &mut WriteTx<'_>, project: ProjectId, email: &EmailAddress, at: Timestamp, mailing: MailingId) {
    let click = (project, email_digest_of(email), at, mailing);
    tx.put(CLICKS, &click, &());
    tx.put(BY_TIME, &(at, click), &());
}

/// Returns the time and mailing of the recipient's last click in a period. If two clicks have the same time, returns the click in the newer
/// mailing.
pub fn last_click(
    tx: &impl Read,
    project: ProjectId,
    email: &EmailAddress,
    period: Period,
) -> Result<Option<(Timestamp, MailingId)>> {
    let place = |at: Timestamp| (project, email_digest_of(email), Timestamp(at.0.max(0))).to_bytes();
    let span = Span { from: place(period.from), to: Some(place(period.to)) };
    Ok(tx.list(CLICKS, &span, Order::Backward, 1)?.pop().map(|((_, _, at, mailing), ())| (at, mailing)))
}

/// Deletes a recipient's clicks in one mailing, because the recipient was erased or the clicks came from a bot.
pub fn forget(tx: &mut WriteTx<'_>, project: ProjectId, email: &EmailAddress, mailing: MailingId) -> Result<()> {
    let mut theirs = Vec::new();
    tx.visit(CLICKS, &CLICKS.under(&(project, email_digest_of(email))), Order::Forward, |click, ()| {
        if click.3 == mailing {
            theirs.push(click);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    for click in &theirs {
        remove(tx, click);
    }
    Ok(())
}

/// Deletes clicks that are too old to have an order attributed to them; returns whether there may be more.
pub fn sweep(tx: &mut WriteTx<'_>) -> Result<bool> {
    let span = Span { from: Vec::new(), to: Some(tx.now().plus_ms(-KEPT_MS).to_bytes()) };
    let old = tx.list(BY_TIME, &span, Order::Forward, NONCONTACT_CLICKS_DELETED_PER_STEP)?;
    for ((_, click), ()) in &old {
        remove(tx, click);
    }
    Ok(old.len() == NONCONTACT_CLICKS_DELETED_PER_STEP)
}

fn remove(tx: &mut WriteTx<'_>, click: &Click) {
    tx.delete(CLICKS, click);
    tx.delete(BY_TIME, &(click.2, *click));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::store::Error;
    use crate::testing::{START, TestApp};

    fn address(text: &str) -> EmailAddress {
        EmailAddress::parse(text).expect("the address is valid")
    }

    fn mailing(number: u8) -> MailingId {
        MailingId::from_bytes([number; 12])
    }

    #[test]
    fn the_last_click_of_a_period_is_found_until_it_is_deleted() {
        let app = TestApp::new();
        let project = app.project;
        let noted = move |tx: &mut WriteTx<'_>| {
            for (at, number) in [(10, 1), (20, 2), (20, 3), (30, 1)] {
                note(tx, project, &address("Ada@example.com"), START.plus_ms(at), mailing(number));
            }
            note(tx, project, &address("grace@example.com"), START.plus_ms(25), mailing(4));
            Ok::<_, Error>(())
        };
        app.data().store.write_blocking(noted).expect("the store works").expect("the write succeeds");
        let last = |from: i64, to: i64| {
            let period = Period { from: START.plus_ms(from), to: START.plus_ms(to) };
            last_click(&app.read(), project, &address("ada@example.com"), period)
                .expect("the store is readable")
                .map(|(at, of)| (at.ms_since(START), of))
        };
        assert_eq!(last(0, 31), Some((30, mailing(1))));
        assert_eq!(last(0, 30), Some((20, mailing(3))), "the newer of two at the same time; the end is excluded");
        assert_eq!(last(10, 11), Some((10, mailing(1))));
        assert_eq!(last(11, 20), None);
        let taken_back = move |tx: &mut WriteTx<'_>| forget(tx, project, &address("ada@example.com"), mailing(1));
        app.data().store.write_blocking(taken_back).expect("the store works").expect("the write succeeds");
        assert_eq!((last(0, 20), last(0, 31)), (None, Some((20, mailing(3)))));
    }

    #[test]
    fn clicks_are_kept_as_long_as_an_order_can_be_attributed_to_them() {
        let app = TestApp::new();
        let (project, store) = (app.project, &app.data().store);
        let act = move |tx: &mut WriteTx<'_>| {
            let now = tx.now();
            note(tx, project, &address("ada@example.com"), now.plus_ms(-KEPT_MS), mailing(1));
            note(tx, project, &address("ada@example.com"), now.plus_ms(-KEPT_MS - 1), mailing(2));
            sweep(tx)
        };
        assert!(!store.write_blocking(act).expect("the store works").expect("the write succeeds"));
        let left: Vec<_> = app.read().list(BY_TIME, &Span::default(), Order::Forward, 10).expect("the store is readable");
        assert_eq!(left.iter().map(|((_, click), ())| click.3).collect::<Vec<_>>(), [mailing(1)]);
        assert!(
            last_click(&app.read(), project, &address("ada@example.com"), Period::ALWAYS)
                .expect("the store is readable")
                .is_some()
        );
    }
}
