//! Stores the results of visits: the engagement of each recipient, the counts of each mailing and the activity of contacts.
//!
//! One transaction handles up to [`limits::VISITS_PER_WRITE`] visits. If a person clicks without a recorded open, an open is recorded too:
//! images may be blocked, but a message must be open before a link in it can be clicked.

use std::collections::BTreeMap;

use serde_json::json;

use super::model::{BURST_LINKS, BURST_WITHIN_MS, VisitSigns, Visitor, since_delivery_ms, visitor};
use super::recipient::MessageRecipient;
use super::store;
use crate::base::clock::Timestamp;
use crate::base::email::EmailAddress;
use crate::engine::access::visit_buffer::Visit;
use crate::engine::api::{Engine, Failure};
use crate::engine::store::{Error, Result, WriteTx};
use crate::features::contact_records::activity::{self, Action, Activity};
use crate::features::contacts::noncontact_clicks;
use crate::features::engagement::{self, ClickedLink, Engagement, Measure};
use crate::features::sending::{self, Delivery, Mailing, webhook_events};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{EmailId, MailingId, ProjectId};
use crate::vocab::limits;
use crate::vocab::webhook_events::WebhookEvent;

const HOUR_MS: i64 = 60 * 60 * 1000;

/// Stores a limited number of an environment's buffered visits. Returns whether more visits may be waiting.
pub async fn step(engine: &Engine, environment: Environment) -> Result<bool, Failure> {
    if engine.data(environment).store.space().is_low() {
        // The visits stay in memory until the disk has free space again.
        return Err(Error::NoSpace.into());
    }
    write_some(engine, environment).await
}

async fn write_some(engine: &Engine, environment: Environment) -> Result<bool, Failure> {
    let data = engine.data(environment);
    let dropped = data.visits.dropped();
    if dropped > 0 {
        tracing::warn!(dropped, %environment, "opens and clicks arrived faster than they could be written; some were dropped");
    }
    let visits = data.visits.take(limits::VISITS_PER_WRITE);
    if visits.is_empty() {
        return Ok(false);
    }
    let more = visits.len() == limits::VISITS_PER_WRITE;
    let mut parts = vec![visits];
    while let Some(mut part) = parts.pop() {
        let visits = part.clone();
        let written = data.store.write_essential(move |tx| record(tx, &visits)).await;
        let needs_damaged_row = matches!(written, Ok(Err(Error::Damaged { .. })) | Err(Error::Panicked));
        let Err(error) = written.and_then(|recorded| recorded) else { continue };
        match error {
            // Split the visits, so that only those that need the damaged row are lost.
            _ if needs_damaged_row && part.len() > 1 => {
                let second = part.split_off(part.len() / 2);
                parts.extend([second, part]);
            }
            _ if needs_damaged_row => {
                tracing::error!(%error, %environment, "an open or a click could not be stored");
            }
            error => {
                if wrote_nothing(&error) {
                    parts.push(part);
                    data.visits.put_back(parts.into_iter().rev().flatten().collect());
                }
                return Err(error.into());
            }
        }
    }
    Ok(more)
}

/// Returns whether it is certain that the visits were not stored, so that they can be kept in memory without being counted twice. A node
/// that no longer leads its cluster sends them to the next leader or, if it leads again, stores them itself.
fn wrote_nothing(error: &Error) -> bool {
    matches!(error, Error::Busy | Error::NoSpace | Error::NotLeader)
}

/// Stores all buffered visits when the service stops, even on an almost full disk, because the visits would be lost otherwise.
pub async fn flush(engine: &Engine) -> Result<(), Failure> {
    for environment in Environment::ALL {
        while write_some(engine, environment).await? {}
    }
    Ok(())
}

/// Stores the visits of an environment in a report from another node of the cluster, unless they are stored already. The report is given by
/// the name of the node and the ID of the report.
pub async fn store_report(
    engine: &Engine,
    environment: Environment,
    (node, id): (&str, &str),
    visits: Vec<Visit>,
) -> Result<(), Failure> {
    if visits.is_empty() {
        return Ok(());
    }
    let data = engine.data(environment);
    let (node, id, reported) = (node.to_owned(), id.to_owned(), visits.clone());
    let again = (node.clone(), id.clone());
    let stored = data.store.write_essential(move |tx| {
        if store::note_visit_report(tx, &node, &id)? {
            record(tx, &reported)?;
        }
        Ok(())
    });
    match stored.await {
        Ok(Ok(())) => Ok(()),
        // The worker stores the visits that do not need the damaged row.
        Ok(Err(Error::Damaged { .. })) | Err(Error::Panicked) => {
            let noted = data.store.write_essential(move |tx| store::note_visit_report(tx, &again.0, &again.1)).await;
            if noted.and_then(|noted| noted)? {
                data.visits.put_back(visits);
            }
            Ok(())
        }
        Ok(Err(error)) | Err(error) => Err(error.into()),
    }
}

/// Records visits in one transaction.
pub fn record(tx: &mut WriteTx<'_>, visits: &[Visit]) -> Result<()> {
    let mut recipients: BTreeMap<(MailingId, u32), Vec<&Visit>> = BTreeMap::new();
    for visit in visits {
        recipients.entry((visit.mailing, visit.recipient)).or_default().push(visit);
    }
    let mut mailings: BTreeMap<MailingId, Option<Mailing>> = BTreeMap::new();
    let mut totals = VisitTotals::default();
    for ((id, number), visits) in recipients {
        let mailing = match mailings.get(&id) {
            Some(known) => known.clone(),
            None => mailings.entry(id).or_insert(sending::by_id(tx, id)?).clone(),
        };
        let Some(mailing) = mailing else { continue };
        let Some(recipient) = MessageRecipient::of(tx, mailing, number)? else { continue };
        record_recipient(tx, &recipient, &visits, &mut totals)?;
    }
    totals.finish(tx, &mailings)
}

/// The totals of the visits in one transaction.
#[derive(Default)]
struct VisitTotals {
    /// The changes to the counts of each mailing and of each email that its recipients received.
    counts: BTreeMap<(MailingId, Option<EmailId>, Measure), i64>,
    /// The change in the number of clicks on each link of a campaign's message.
    links: BTreeMap<ClickedLink, i64>,
    countries: BTreeMap<(EmailId, String), i64>,
    activities: BTreeMap<ProjectId, Vec<(u32, Activity)>>,
    /// Clicks by recipients who are not contacts.
    noncontact_clicks: Vec<(ProjectId, EmailAddress, Timestamp, MailingId)>,
}

impl VisitTotals {
    fn finish(self, tx: &mut WriteTx<'_>, mailings: &BTreeMap<MailingId, Option<Mailing>>) -> Result<()> {
        for ((id, email, measure), many) in self.counts {
            engagement::add(tx, id, measure, many)?;
            if let Some(mailing) = mailings.get(&id).and_then(Option::as_ref) {
                engagement::add_day(tx, (mailing.for_stats(), email), measure, many)?;
            }
        }
        for (clicked, many) in self.links {
            engagement::add_clicks(tx, clicked, many)?;
        }
        for ((email, country), many) in self.countries {
            engagement::add_country(tx, email, &country, many)?;
        }
        for (project, activities) in self.activities {
            activity::note(tx, project, &activities)?;
        }
        for (project, email, at, mailing) in self.noncontact_clicks {
            noncontact_clicks::note(tx, project, &email, at, mailing);
        }
        Ok(())
    }
}

fn record_recipient(
    tx: &mut WriteTx<'_>,
    recipient: &MessageRecipient,
    visits: &[&Visit],
    totals: &mut VisitTotals,
) -> Result<()> {
    let id = recipient.mailing.id;
    let engagement = engagement::of(tx, id, recipient.number)?;
    let was_open = engagement.first_opened_at.is_some();
    let mut recorder = RecipientVisits { recipient, engagement, totals, clicked: Vec::new() };
    let delivered_at = delivered_at(&recipient.recipient.delivery);
    let mut seen = false;
    for visit in visits {
        let since_delivery_ms = delivered_at.map(|at| since_delivery_ms(visit.at, at));
        let signs = VisitSigns { agent: &visit.agent, is_head: visit.is_head, is_prefetch: visit.is_prefetch, since_delivery_ms };
        let visitor = visitor(&signs);
        seen |= visitor.is_person() || visitor == Visitor::Privacy;
        let early = since_delivery_ms.is_some_and(|ms| ms < BURST_WITHIN_MS);
        match visit.link {
            None => recorder.open(visitor, visit.at),
            Some(link) => recorder.click(tx, visitor, link, visit.at, early)?,
        }
    }
    engagement::save(tx, id, recipient.number, &recorder.engagement);
    recorder.emit_events(tx, was_open)?;
    // A scanner may visit a message before the server accepts or refuses it, so only a visit by a person or by a reader's mail service
    // proves delivery.
    if seen && matches!(recipient.recipient.delivery, Delivery::Unknown { .. }) {
        sending::evidence(tx, id, recipient.number, "an open or a click")?;
    }
    Ok(())
}

/// Returns the earliest time at which the recipient may have received the message.
fn delivered_at(delivery: &Delivery) -> Option<Timestamp> {
    match delivery {
        Delivery::Sent { at, .. } | Delivery::Unknown { at, .. } => Some(*at),
        _ => None,
    }
}

/// The state of one recipient while the recipient's visits are recorded.
struct RecipientVisits<'a, 't> {
    recipient: &'a MessageRecipient,
    engagement: Engagement,
    totals: &'t mut VisitTotals,
    /// The links that a person clicked, with the time of each click.
    clicked: Vec<(u16, Timestamp)>,
}

impl RecipientVisits<'_, '_> {
    fn open(&mut self, visitor: Visitor, at: Timestamp) {
        match visitor {
            Visitor::Person | Visitor::Proxy => self.opened(at),
            Visitor::Privacy => {
                self.engagement.proxy_opens += 1;
                self.count(Measure::ProxyOpens, 1);
            }
            Visitor::Prefetch | Visitor::Scanner => {
                self.engagement.machine_opens += 1;
                self.count(Measure::MachineOpens, 1);
            }
        }
    }

    fn opened(&mut self, at: Timestamp) {
        let before = self.engagement.last_opened_at;
        self.engagement.opens += 1;
        self.count(Measure::Opens, 1);
        if self.engagement.first_opened_at.is_none() {
            self.engagement.first_opened_at = Some(at);
            self.count(Measure::UniqueOpens, 1);
        }
        self.engagement.last_opened_at = before.max(Some(at));
        self.add_activity(Action::Opened, before, at);
    }

    fn click(&mut self, tx: &mut WriteTx<'_>, visitor: Visitor, link: u16, at: Timestamp, early: bool) -> Result<()> {
        let in_burst = early && self.engagement.early_links.len() >= BURST_LINKS;
        if !visitor.is_person() || in_burst {
            self.engagement.machine_clicks += 1;
            self.count(Measure::MachineClicks, 1);
            return Ok(());
        }
        self.clicked(at);
        self.clicked.push((link, at));
        // Early clicks are counted once per link, so that the list of links is sufficient to undo the clicks if they came from a scanner.
        if !early || !self.engagement.early_links.contains(&link) {
            self.count_link(link, 1);
        }
        if !early {
            return Ok(());
        }
        self.engagement.early_clicks += 1;
        if !self.engagement.early_links.contains(&link) {
            self.engagement.early_links.push(link);
        }
        if self.engagement.early_links.len() == BURST_LINKS {
            self.reclassify_as_scanner(tx)?;
        }
        Ok(())
    }

    fn clicked(&mut self, at: Timestamp) {
        self.engagement.clicks += 1;
        self.count(Measure::Clicks, 1);
        if self.engagement.first_clicked_at.is_none() {
            self.engagement.first_clicked_at = Some(at);
            self.count(Measure::UniqueClicks, 1);
        }
        self.engagement.last_clicked_at = self.engagement.last_clicked_at.max(Some(at));
        // Record every click, because orders are attributed to the last click.
        self.add_activity(Action::Clicked, None, at);
        if self.engagement.opens == 0 {
            self.engagement.open_is_implied = true;
            self.opened(at);
        }
    }

    /// Reclassifies early clicks as a scanner's clicks, because too many links were clicked too soon after delivery.
    fn reclassify_as_scanner(&mut self, tx: &mut WriteTx<'_>) -> Result<()> {
        let many = std::mem::take(&mut self.engagement.early_clicks);
        for link in self.engagement.early_links.clone() {
            self.count_link(link, -1);
        }
        self.clicked.clear();
        self.engagement.clicks -= many;
        self.engagement.machine_clicks += many;
        self.count(Measure::Clicks, -i64::from(many));
        self.count(Measure::MachineClicks, i64::from(many));
        let mut mistaken = Vec::new();
        if self.engagement.clicks == 0 {
            (self.engagement.first_clicked_at, self.engagement.last_clicked_at) = (None, None);
            self.count(Measure::UniqueClicks, -1);
            mistaken.push(Action::Clicked);
        }
        if self.engagement.open_is_implied && self.engagement.opens == 1 {
            self.engagement.open_is_implied = false;
            self.engagement.opens = 0;
            (self.engagement.first_opened_at, self.engagement.last_opened_at) = (None, None);
            self.count(Measure::Opens, -1);
            self.count(Measure::UniqueOpens, -1);
            mistaken.push(Action::Opened);
        }
        let mailing = self.recipient.mailing.id;
        if let Some((project, email)) = self.recipient.noncontact().filter(|_| mistaken.contains(&Action::Clicked)) {
            self.totals.noncontact_clicks.retain(|(_, by, _, of)| (by, *of) != (&email, mailing));
            return noncontact_clicks::forget(tx, project, &email, mailing);
        }
        let Some(((_, project), contact)) = self.recipient.contact() else { return Ok(()) };
        let number = contact.id.number();
        if let Some(activities) = self.totals.activities.get_mut(&project) {
            activities
                .retain(|(of, activity)| *of != number || activity.mailing != mailing || !mistaken.contains(&activity.action));
        }
        activity::take_back(tx, project, number, mailing, &mistaken)
    }

    /// Emits webhook events for the first open and for clicks.
    fn emit_events(&self, tx: &mut WriteTx<'_>, was_open: bool) -> Result<()> {
        let mailing = &self.recipient.mailing;
        let subject = self.recipient.subject();
        if let Some(at) = self.engagement.first_opened_at.filter(|_| !was_open) {
            webhook_events::emit(tx, WebhookEvent::EmailOpened, &subject, at, json!({}))?;
        }
        if self.clicked.is_empty() || !webhook_events::is_wanted(tx, mailing, WebhookEvent::EmailClicked)? {
            return Ok(());
        }
        for (link, at) in &self.clicked {
            let url = sending::link(tx, mailing.translation_for(&self.recipient.recipient), *link)?;
            webhook_events::emit(tx, WebhookEvent::EmailClicked, &subject, *at, json!({ "url": url }))?;
        }
        Ok(())
    }

    /// Adds an activity of the contact. Repeated opens are recorded at most once per clock hour, because filters check only whether the
    /// contact opened the message.
    fn add_activity(&mut self, action: Action, before: Option<Timestamp>, at: Timestamp) {
        let hour = |at: Timestamp| at.0.div_euclid(HOUR_MS);
        if before.is_some_and(|before| hour(before) == hour(at)) {
            return;
        }
        let mailing = &self.recipient.mailing;
        if let Some((project, email)) = self.recipient.noncontact().filter(|_| action == Action::Clicked) {
            self.totals.noncontact_clicks.push((project, email, at, mailing.id));
        }
        let Some(((_, project), contact)) = self.recipient.contact() else { return };
        let activity = Activity { action, mailing: mailing.id, campaign: mailing.kind.campaign(), at };
        self.totals.activities.entry(project).or_default().push((contact.id.number(), activity));
    }

    fn count_link(&mut self, link: u16, many: i64) {
        if self.recipient.mailing.kind.campaign().is_some() {
            let clicked = (self.recipient.mailing.id, self.recipient.recipient.translation, link);
            *self.totals.links.entry(clicked).or_default() += many;
        }
    }

    fn count(&mut self, measure: Measure, many: i64) {
        let sent_email = self.recipient.sent_email();
        *self.totals.counts.entry((self.recipient.mailing.id, sent_email, measure)).or_default() += many;
        let Some(email) = sent_email else { return };
        let country = self.recipient.contact.as_ref().and_then(|contact| contact.profile.country.clone());
        if let (Measure::UniqueOpens, Some(country)) = (measure, country) {
            *self.totals.countries.entry((email, country)).or_default() += many;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::store::key::Key;
    use crate::testing::TestApp;
    use crate::vocab::tables;

    // Regression: visits were lost if the node lost the leadership of its cluster while it was writing them.
    #[test]
    fn visits_are_kept_only_after_errors_that_prove_that_nothing_was_written() {
        for error in [Error::Busy, Error::NoSpace, Error::NotLeader] {
            assert!(wrote_nothing(&error), "{error}");
        }
        for error in [Error::Closed, Error::Panicked, Error::Io("the disk failed".into()), Error::Cluster("lost".into())] {
            assert!(!wrote_nothing(&error), "{error}");
        }
    }

    /// Queues a message; returns the ID of its mailing.
    fn send(app: &TestApp) -> MailingId {
        let body = json!({
            "recipientType": "email", "recipientEmail": "ada@example.com", "from": "a@example.com", "subject": "Hello",
            "template": "<p>Hello</p>",
        });
        let send = app.post("/v1/sending", body).data()["sendId"].clone();
        MailingId::parse(send.as_str().expect("the ID is a string")).expect("the ID is valid")
    }

    /// A node of a cluster repeats a report if the response was lost.
    #[test]
    fn a_repeated_report_from_another_node_counts_once() {
        let app = TestApp::new();
        let mailing = send(&app);
        for (node, id, opens) in [("two", "a", 1), ("two", "a", 1), ("two", "b", 2), ("one", "b", 3)] {
            // Each report is about a visit at a different time.
            app.clock.advance_ms(60_000);
            let at = app.engine().clock.now();
            let visit = Visit { mailing, recipient: 0, link: None, at, agent: "x".into(), is_head: false, is_prefetch: false };
            app.wait(store_report(app.engine(), Environment::Test, (node, id), vec![visit])).expect("the report is stored");
            let did = engagement::of(&app.read(), mailing, 0).expect("the store can be read");
            assert_eq!(did.machine_opens, opens, "after the report {id} of {node}");
        }
    }

    // Regression: a damaged row caused all visits in the transaction to be lost.
    #[test]
    fn a_damaged_row_loses_no_other_visits() {
        let app = TestApp::new();
        let (damaged, sound) = (send(&app), send(&app));
        let damage = move |tx: &mut WriteTx<'_>| {
            tx.put_bytes(tables::ENGAGEMENTS, (damaged, 0_u32).to_bytes(), vec![0xFF]);
            Ok::<_, Error>(())
        };
        app.data().store.write_blocking(damage).expect("the store can be written").expect("the write succeeds");
        for mailing in [damaged, sound] {
            let at = app.engine().clock.now();
            let visit = Visit { mailing, recipient: 0, link: None, at, agent: "x".into(), is_head: false, is_prefetch: false };
            app.data().visits.note(visit, b"a client");
        }
        let more = app.wait(step(app.engine(), Environment::Test)).expect("the other visit is stored");
        assert!(!more);
        // The message is still queued, so the visit is counted as a machine's.
        assert_eq!(engagement::of(&app.read(), sound, 0).expect("the store can be read").machine_opens, 1);
    }
}
