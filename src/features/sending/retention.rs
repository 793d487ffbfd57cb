//! Retention: deletes old direct sends that have ended, their recipients and activity, content that no mailing uses, and old messages in
//! the built-in inbox.
//!
//! Rows of campaigns and batches are kept. A pass over all mailings, in order of creation, starts once a day. Each sweep continues the pass
//! for a limited number of mailings and stores its position. A direct send that has not ended by then is processed in a later pass.

use super::model::Mailing;
use super::store::SweepPosition;
use super::{inbox, recipients, store};
use crate::base::clock::Timestamp;
use crate::engine::store::{Result, WriteTx};
use crate::features::engagement;
use crate::vocab::limits;
use crate::vocab::settings::Mail;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    pub direct_ms: i64,
    pub inbox_ms: i64,
}

impl Retention {
    pub fn of(mail: &Mail) -> Self {
        let ms = |days: u64| i64::try_from(days).unwrap_or(i64::MAX).saturating_mul(limits::DAY_MS);
        Self { direct_ms: ms(mail.direct_days.get()), inbox_ms: ms(mail.inbox_days.get()) }
    }
}

/// Deletes a limited amount of expired data. Returns true if there may be more.
pub fn sweep(tx: &mut WriteTx<'_>, retention: Retention) -> Result<bool> {
    let mailings = sweep_mailings(tx, tx.now().plus_ms(-retention.direct_ms))?;
    let messages = inbox::sweep(tx, tx.now().plus_ms(-retention.inbox_ms))?;
    Ok(mailings || messages)
}

fn sweep_mailings(tx: &mut WriteTx<'_>, until: Timestamp) -> Result<bool> {
    let now = tx.now();
    let position = store::sweep_position(tx)?.filter(|position| now.ms_since(position.began_at) < limits::DAY_MS);
    let position = position.unwrap_or(SweepPosition { after: None, began_at: now });
    let mailings = store::mailings_after(tx, position.after, limits::MAILINGS_SWEPT)?;
    let mut after = position.after;
    let mut scanned = 0;
    for mailing in mailings.iter().take_while(|mailing| mailing.created_at < until) {
        after = Some(mailing.id);
        scanned += 1;
        if !mailing.kind.is_group() && mailing.state.is_final() {
            forget(tx, mailing)?;
        }
    }
    let next = SweepPosition { after, ..position };
    if store::sweep_position(tx)? != Some(next) {
        store::set_sweep_position(tx, next);
    }
    Ok(scanned == limits::MAILINGS_SWEPT)
}

/// Deletes a direct send. Its counts remain in the account's daily statistics.
fn forget(tx: &mut WriteTx<'_>, mailing: &Mailing) -> Result<()> {
    engagement::forget_mailing(tx, mailing.id, mailing.emails())?;
    recipients::forget(tx, mailing)?;
    mailing.translations.iter().try_for_each(|translation| store::drop_content(tx, translation.content))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::store::key::Key;
    use crate::features::sending::create::create;
    use crate::features::sending::model::{Address, Content, MailingKind, NewMailing, Policy, Sender, State, To, Tracking};
    use crate::testing::TestApp;
    use crate::vocab::ids::{AccountId, CampaignId, MessageId};
    use crate::vocab::tables;

    const DAY: i64 = limits::DAY_MS;
    const RETENTION: Retention = Retention { direct_ms: 180 * DAY, inbox_ms: 30 * DAY };

    fn new(account: AccountId, kind: MailingKind, html: &str) -> NewMailing {
        NewMailing {
            account,
            project: None,
            kind,
            contents: vec![Content { subject: "Hello".into(), html: html.into(), ..Content::default() }],
            from: Sender { address: "a@example.com".into(), name: None, reply_to: None },
            to: To::Addresses(vec![Address { email: "ada@example.com".into(), name: None }]),
            transactional: true,
            topic: None,
            local: None,
            variables: serde_json::Map::new(),
            tracking: Tracking::default(),
            utm: None,
            campaign_name: None,
            unknown: Policy::Hold,
        }
    }

    fn write<T: Send + 'static>(app: &TestApp, write: impl FnOnce(&mut WriteTx<'_>) -> Result<T> + Send + 'static) -> T {
        app.data().store.write_blocking(write).expect("the store can be written").expect("the store can be read")
    }

    fn sent(app: &TestApp, kind: MailingKind, html: &'static str) -> Mailing {
        let new = new(app.account(), kind, html);
        write(app, move |tx| {
            let id = create(tx, new).expect("the mailing is valid");
            recipients::deliver(tx, id, 0)?;
            let mut mailing = store::by_id(tx, id)?.expect("the row exists");
            mailing.state = State::Finished { at: tx.now() };
            recipients::save(tx, &mailing)?;
            Ok(mailing)
        })
    }

    fn sweep_all(app: &TestApp) {
        while write(app, |tx| sweep(tx, RETENTION)) {}
    }

    fn is_there(app: &TestApp, mailing: &Mailing) -> bool {
        store::by_id(&app.read(), mailing.id).expect("the store can be read").is_some()
    }

    #[test]
    fn old_direct_sends_are_deleted_and_content_with_its_last_mailing() {
        let app = TestApp::new();
        let shared = "<p>Shared <a href=\"https://example.com/\">x</a></p>";
        let (direct, own) = (sent(&app, MailingKind::Single, shared), sent(&app, MailingKind::Test, "<p>Own</p>"));
        let campaign = sent(&app, MailingKind::Campaign(CampaignId::from_bytes([3; 12])), shared);
        app.clock.advance_ms(RETENTION.direct_ms);
        let young = sent(&app, MailingKind::Single, "<p>Young</p>");
        sweep_all(&app);
        assert!(is_there(&app, &direct), "the direct send has not expired yet");
        app.clock.advance_ms(1_000);
        sweep_all(&app);
        assert!(!is_there(&app, &direct) && !is_there(&app, &own));
        assert!(is_there(&app, &campaign) && is_there(&app, &young), "recipient rows of campaigns are kept");
        let tx = app.read();
        assert_eq!(store::recipient(&tx, direct.id, 0).expect("the store can be read"), None);
        assert_eq!(store::counts(&tx, direct.id).expect("the store can be read").total, 0);
        assert_eq!(store::counts(&tx, campaign.id).expect("the store can be read").sent, 1);
        assert!(store::content(&tx, &own, own.first()).is_err(), "no mailing uses this content");
        assert_eq!(store::content(&tx, &campaign, campaign.first()).expect("the campaign uses it").html, shared);
        assert!(store::link(&tx, campaign.first(), 0).expect("the store can be read").is_some());
        assert_eq!(store::uses(&tx, campaign.first().content).expect("the store can be read"), 1);
        // The content was deleted, so it is stored again for a new mailing with the same content.
        let again = sent(&app, MailingKind::Test, "<p>Own</p>");
        assert_eq!(store::content(&app.read(), &again, again.first()).expect("the content was stored again").html, "<p>Own</p>");
    }

    // Regression test: every sweep failed on the same damaged row, so nothing was deleted.
    #[test]
    fn damaged_rows_do_not_keep_others_from_being_deleted() {
        let app = TestApp::new();
        let damaged = sent(&app, MailingKind::Single, "<p>x</p>");
        app.clock.advance_ms(1_000);
        let sound = sent(&app, MailingKind::Single, "<p>x</p>");
        write(&app, move |tx| {
            tx.put_bytes(tables::MAILINGS, damaged.id.to_bytes(), vec![0xFF]);
            tx.put_bytes(tables::INBOX, (damaged.account, MessageId::from_bytes([0; 12])).to_bytes(), vec![0xFF]);
            Ok(())
        });
        app.clock.advance_ms(RETENTION.direct_ms + 1_000);
        sweep_all(&app);
        assert!(!is_there(&app, &sound));
    }

    #[test]
    fn a_mailing_unfinished_during_the_sweep_is_deleted_another_day() {
        let app = TestApp::new();
        let late = new(app.account(), MailingKind::Single, "<p>x</p>");
        let id = write(&app, move |tx| Ok(create(tx, late).expect("the mailing is valid")));
        app.clock.advance_ms(RETENTION.direct_ms + 1_000);
        sweep_all(&app);
        let mut mailing = store::by_id(&app.read(), id).expect("the store can be read").expect("the mailing exists");
        mailing.state = State::Cancelled { at: mailing.created_at };
        write(&app, move |tx| recipients::save(tx, &mailing));
        sweep_all(&app);
        assert!(
            store::by_id(&app.read(), id).expect("the store can be read").is_some(),
            "the walk has already passed the mailing"
        );
        app.clock.advance_ms(DAY);
        sweep_all(&app);
        assert_eq!(store::by_id(&app.read(), id).expect("the store can be read"), None);
    }
}
