//! The work that waits while sending is on hold, and the messages that may be sent twice after sending is resumed.

use schemars::JsonSchema;
use serde::Serialize;

use crate::engine::api::response::WireTime;
use crate::engine::api::{Engine, EnvironmentData};
use crate::engine::hold::OnHold;
use crate::engine::store::{ReadTx, Result};
use crate::features::contacts::jobs::Task;
use crate::features::sending::MailingKind;
use crate::features::{campaigns, contacts, emails, scheduled_imports, sending, storefront, webhooks};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, CampaignId, WebhookId};
use crate::vocab::limits;
use crate::vocab::tables;

/// Whether sending is on hold, and the work that waits for sending to resume.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendingHold {
    pub on_hold: bool,
    /// When the hold started. Work requested after this time is not held. Absent if sending is not on hold.
    pub since: Option<WireTime>,
    /// The reason for the hold; absent if sending is not on hold.
    pub reason: Option<String>,
    /// A notice about the messages that may be sent twice after sending is resumed; absent if sending is not on hold.
    pub notice: Option<String>,
    /// The waiting campaigns of the account or, for the operator, of all accounts: campaigns in progress and scheduled campaigns.
    pub campaigns: Vec<HeldCampaign>,
    /// The other waiting work of the account or, for the operator, of all accounts, such as batches, webhooks with pending deliveries, and
    /// scheduled imports.
    pub other: Vec<HeldItem>,
    /// The amount of waiting work in all accounts, by environment.
    pub environments: Vec<HeldIn>,
    /// Whether more work waits than is listed or counted.
    pub has_more: bool,
}

/// A campaign that waits for sending to resume.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeldCampaign {
    pub id: CampaignId,
    pub name: String,
    pub environment: Environment,
    pub status: &'static str,
    /// When the campaign is scheduled to start; absent if it is already in progress.
    pub scheduled_at: Option<WireTime>,
    /// The number of recipients who may receive the campaign twice; 0 for a scheduled campaign, because its recipients are not known yet.
    pub recipients: u64,
    /// The number of recipients counted in `recipients` who wait for a retry.
    pub retries: u64,
}

/// Work, other than a campaign, that waits for sending to resume.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HeldItem {
    /// `send`, `batch`, `webhook`, `scheduledImport`, `store`, `platformImport` or `generation`.
    pub kind: &'static str,
    pub id: String,
    /// The name, subject, URL or prompt.
    pub name: String,
    pub environment: Environment,
    /// For a send or batch, the number of waiting recipients; for a webhook, the number of waiting deliveries; for other work, 1.
    pub count: u64,
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
    /// The number of recipients to whom the waiting campaigns, sends and batches had not been sent when the restored or copied data was
    /// saved. Includes recipients who wait for a retry.
    pub recipients: u64,
    /// The number of recipients counted in `recipients` who wait for a retry.
    pub retries: u64,
    /// The number of waiting webhook deliveries, including retries.
    pub webhook_deliveries: u64,
    /// The number of waiting scheduled imports, imports from platforms, and connected stores.
    pub imports: u64,
    /// The number of waiting email generations and email edits.
    pub generations: u64,
}

impl SendingHold {
    /// Returns the view for an installation whose sending is not on hold.
    pub fn none() -> Self {
        let (campaigns, other, environments) = (Vec::new(), Vec::new(), Vec::new());
        Self { on_hold: false, since: None, reason: None, notice: None, campaigns, other, environments, has_more: false }
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
            retries: 12,
        };
        let other = HeldItem {
            kind: "webhook",
            id: WebhookId::from_bytes([0x67; 12]).to_string(),
            name: "https://example.com/webhook".into(),
            environment: Environment::Live,
            count: 3,
        };
        let environments = vec![HeldIn {
            environment: Environment::Live,
            campaigns: 1,
            scheduled_campaigns: 0,
            sends: 0,
            recipients: 494,
            retries: 12,
            webhook_deliveries: 3,
            imports: 2,
            generations: 1,
        }];
        Self {
            on_hold: true,
            since: Some(WireTime::sample()),
            reason: Some("This data was restored from the backup made at 2026-01-31T00:00:00.000Z.".into()),
            notice: Some(notice(&environments, false)),
            campaigns: vec![campaign],
            other: vec![other],
            environments,
            has_more: false,
        }
    }
}

/// Returns the waiting work. Lists the work of `account`, or of all accounts if `account` is `None` (the operator).
pub fn view(engine: &Engine, account: Option<AccountId>) -> Result<SendingHold> {
    match engine.hold.current() {
        None => Ok(SendingHold::none()),
        Some(hold) => held(engine, &hold, account),
    }
}

/// Returns the work that waits because of this hold. Lists the work of `account`, or of all accounts if `account` is `None`.
pub fn held(engine: &Engine, hold: &OnHold, account: Option<AccountId>) -> Result<SendingHold> {
    scan(engine, hold, account, limits::HELD_SCANNED_MAX)
}

/// Returns the waiting work. Reads at most `scanned_max` objects of each kind.
fn scan(engine: &Engine, hold: &OnHold, account: Option<AccountId>, scanned_max: usize) -> Result<SendingHold> {
    let view = SendingHold { on_hold: true, since: Some(WireTime(hold.since)), ..SendingHold::none() };
    let mut scan = Scan { hold, account, scanned_max, is_partial: false, view };
    for data in [engine.data(Environment::Live), engine.data(Environment::Test)] {
        let counted = scan.count(data)?;
        scan.view.environments.push(counted);
    }
    let Scan { is_partial, mut view, .. } = scan;
    let cause = hold.cause.to_string();
    let mut letters = cause.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    view.reason = Some(format!("{first}{}.", letters.as_str()));
    view.notice = Some(notice(&view.environments, is_partial));
    view.has_more |= is_partial;
    Ok(view)
}

/// The search for waiting work.
struct Scan<'a> {
    hold: &'a OnHold,
    account: Option<AccountId>,
    scanned_max: usize,
    /// Whether at least `scanned_max` objects of any one kind were found. If so, the counts may be incomplete.
    is_partial: bool,
    view: SendingHold,
}

impl Scan<'_> {
    /// Returns whether the view lists another object of this account. `listed` is the number of objects listed so far. If the object is
    /// left out only because the list is full, sets `has_more`.
    fn lists(&mut self, account: AccountId, listed: usize) -> bool {
        let is_shown = self.account.is_none_or(|shown| shown == account);
        self.view.has_more |= is_shown && listed == limits::HELD_LISTED_MAX;
        is_shown && listed < limits::HELD_LISTED_MAX
    }

    fn list(&mut self, account: AccountId, item: HeldItem) {
        if self.lists(account, self.view.other.len()) {
            self.view.other.push(item);
        }
    }

    /// Lists the objects that were found and returns their number.
    fn list_all(&mut self, kind: &'static str, environment: Environment, found: Vec<(AccountId, String, String)>) -> u64 {
        self.is_partial |= found.len() == self.scanned_max;
        let count = found.len() as u64;
        for (account, id, name) in found {
            self.list(account, HeldItem { kind, id, name, environment, count: 1 });
        }
        count
    }

    fn count(&mut self, data: &EnvironmentData) -> Result<HeldIn> {
        let tx = data.store.read();
        let (environment, max) = (data.environment, self.scanned_max);
        let mut held = HeldIn {
            environment,
            campaigns: 0,
            scheduled_campaigns: 0,
            sends: 0,
            recipients: 0,
            retries: 0,
            webhook_deliveries: tx.rows(tables::WEBHOOK_DUE)?,
            imports: 0,
            generations: 0,
        };
        self.count_campaigns(&tx, &mut held)?;
        self.count_mailings(&tx, &mut held)?;
        let webhooks = webhooks::pending(&tx, max)?;
        self.view.has_more |= webhooks.len() == max;
        for (account, id, name, count) in webhooks {
            self.list(account, HeldItem { kind: "webhook", id, name, environment, count });
        }
        held.imports += self.list_all("scheduledImport", environment, scheduled_imports::queued(&tx, max)?);
        held.imports += self.list_all("store", environment, storefront::connected(&tx, max)?);
        let imports = contacts::jobs::provider::open_imports(&tx)?.into_iter().filter_map(|job| match job.task {
            Task::Provider(import) => Some((job.account, job.id.to_string(), import.provider.to_string())),
            _ => None,
        });
        held.imports += self.list_all("platformImport", environment, imports.take(max).collect());
        held.generations = self.list_all("generation", environment, emails::held(&tx, self.hold, max)?);
        Ok(held)
    }

    /// Counts the recipients of the held mailings and lists the mailings that do not belong to a campaign.
    fn count_mailings(&mut self, tx: &ReadTx, held: &mut HeldIn) -> Result<()> {
        let ids = sending::under_way(tx, self.scanned_max)?;
        self.is_partial |= ids.len() == self.scanned_max;
        for id in ids {
            let Some(mailing) = sending::by_id(tx, id)?.filter(|mailing| self.hold.holds(mailing.hold_number)) else { continue };
            let counts = sending::counts(tx, id)?;
            let count = counts.queued + counts.deferred;
            held.recipients += count;
            held.retries += counts.deferred;
            let kind = match mailing.kind {
                MailingKind::Campaign(_) => continue,
                MailingKind::Batch => "batch",
                MailingKind::Single | MailingKind::Test => "send",
            };
            held.sends += 1;
            let name = mailing.translations.into_iter().next().map(|first| first.subject).unwrap_or_default();
            self.list(mailing.account, HeldItem { kind, id: id.to_string(), name, environment: held.environment, count });
        }
        Ok(())
    }

    fn count_campaigns(&mut self, tx: &ReadTx, held: &mut HeldIn) -> Result<()> {
        let found = campaigns::in_progress(tx, self.scanned_max)?;
        self.is_partial |= found.len() == self.scanned_max;
        for campaign in found {
            let mailing = match campaign.mailing {
                Some(id) => sending::by_id(tx, id)?,
                None => None,
            };
            // Skip campaigns that were started or scheduled after the hold started.
            if !self.hold.holds(mailing.as_ref().map_or(campaign.hold_number, |mailing| mailing.hold_number)) {
                continue;
            }
            let counts = mailing.map(|mailing| sending::counts(tx, mailing.id)).transpose()?.unwrap_or_default();
            let is_scheduled = campaign.mailing.is_none();
            held.scheduled_campaigns += u64::from(is_scheduled);
            held.campaigns += u64::from(!is_scheduled);
            if self.lists(campaign.account, self.view.campaigns.len()) {
                self.view.campaigns.push(HeldCampaign {
                    id: campaign.id,
                    name: campaign.name,
                    environment: held.environment,
                    status: campaign.status,
                    scheduled_at: campaign.scheduled_at.filter(|_| is_scheduled).map(WireTime),
                    recipients: counts.queued + counts.deferred,
                    retries: counts.deferred,
                });
            }
        }
        Ok(())
    }
}

/// Returns a notice about the messages and deliveries that may be sent twice. If `is_partial` is true, the notice presents the counts as
/// minimums.
fn notice(environments: &[HeldIn], is_partial: bool) -> String {
    let sum = |of: fn(&HeldIn) -> u64| environments.iter().map(of).sum::<u64>();
    let counted = |count: u64, one: &str, more: &str| {
        format!("{}{count} {}", if is_partial { "at least " } else { "" }, if count == 1 { one } else { more })
    };
    let mut notice = format!(
        "These may be sent a second time: messages to {}, the messages of {}, and {}. Messages that were already sent after this data was \
         saved are sent again, even to recipients who have unsubscribed since. Before you resume, cancel the work that you do not want to \
         send.",
        counted(sum(|held| held.recipients), "recipient", "recipients"),
        counted(sum(|held| held.scheduled_campaigns), "scheduled campaign", "scheduled campaigns"),
        counted(sum(|held| held.webhook_deliveries), "webhook delivery", "webhook deliveries")
    );
    let (imports, generations) = (sum(|held| held.imports), sum(|held| held.generations));
    if imports + generations > 0 {
        notice.push_str(&format!(
            " {} and {} also continue. If the original installation is still running, do not resume: both installations would use the same \
             accounts on other services.",
            counted(imports, "import", "imports"),
            counted(generations, "email generation", "email generations")
        ));
    }
    notice
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::TestApp;

    fn send(app: &TestApp, to: &str) {
        let input = json!({
            "recipientType": "email", "recipientEmail": to, "from": "a@example.com", "subject": format!("For {to}"),
            "template": "<p>Hi</p>", "transactional": true,
        });
        app.post("/v1/sending", input).data();
    }

    #[test]
    fn all_waiting_work_is_listed_and_a_partial_count_states_minimums() {
        let app = TestApp::new();
        app.post("/v1/webhooks", json!({ "url": "https://a.example/", "events": ["subscriber.added"] })).data();
        app.post_in("/v1/contacts", json!({ "email": "ada@example.com" })).data();
        let fanned_out = webhooks::worker::fan_out(app.engine().clone(), Environment::Test);
        app.wait(fanned_out).expect("the event becomes a delivery");
        let import = json!({ "name": "Shop", "url": "https://a.example/people.csv", "status": "subscribed" });
        app.post_in("/v1/scheduled-imports", import).data();
        app.post_in("/v1/projects/emails/generate", json!({ "prompt": "Spring sale" })).data();
        send(&app, "ada@example.com");
        send(&app, "bob@example.com");
        app.put_on_hold();
        let hold = app.engine().hold.current().expect("sending is on hold");
        let partial = scan(app.engine(), &hold, Some(app.account()), 1).expect("the stores can be read");
        let notice = partial.notice.expect("there is a notice");
        assert!(partial.has_more && notice.contains("messages to at least 1 recipient,"), "{notice}");
        send(&app, "new@example.com");
        let whole = held(app.engine(), &hold, Some(app.account())).expect("the stores can be read");
        let mut listed: Vec<(&str, &str, u64)> =
            whole.other.iter().map(|item| (item.kind, item.name.as_str(), item.count)).collect();
        listed.sort_unstable();
        assert_eq!(
            listed,
            [
                ("generation", "Spring sale", 1),
                ("scheduledImport", "Shop", 1),
                ("send", "For ada@example.com", 1),
                ("send", "For bob@example.com", 1),
                ("webhook", "https://a.example/", 1)
            ]
        );
        let notice = whole.notice.expect("there is a notice");
        assert!(notice.contains("messages to 2 recipients") && notice.contains("1 import and 1 email generation"), "{notice}");
        assert!(!whole.has_more);
        let other = held(app.engine(), &hold, Some(AccountId::from_bytes([9; 12]))).expect("the stores can be read");
        assert!(other.other.is_empty() && other.environments.iter().any(|held| held.sends == 2), "names of another account");
    }
}
