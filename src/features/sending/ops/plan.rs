//! Returns the limits of an account's plan, and how much of each quota is used.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::base::clock::Timestamp;
use crate::engine::api::response::WireTime;
use crate::engine::api::{Done, Engine, Failure, NoInput, Operation, Query, Spec, View, needs_one};
use crate::features::accounts;
use crate::features::sending::quota::{self, Period, SentCount};
use crate::features::sending::{FOLLOWERS, preflight, provider, transport};
use crate::vocab::limits;
use crate::vocab::rates::RouteGroup;

pub struct Plan;

/// The limits of an account's plan.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountPlan {
    /// The plan's name in the settings.
    pub plan: String,
    /// The provider that delivers this environment's mail: `inbox` or `smtp`. Absent if neither is configured.
    pub provider: Option<&'static str>,
    /// The maximum number of recipients per second. `null` means that only the transport limits the rate.
    pub recipients_per_second: Option<u64>,
    /// The quota of emails per UTC day. An email counts once for each recipient; skipped recipients do not count.
    pub daily: PlanQuota,
    /// The quota of emails per UTC month.
    pub monthly: PlanQuota,
    /// The limits on requests, which all keys of the account share.
    pub requests: Vec<PlanRequests>,
    /// The limits on sizes.
    pub sizes: Vec<PlanSize>,
}

/// A quota and how much of it is used.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanQuota {
    /// The number of emails that the plan allows. `null` means unlimited.
    pub limit: Option<u64>,
    pub used: u64,
    /// The number of emails that remain in this quota. `null` means unlimited.
    pub remaining: Option<u64>,
    /// When `used` is reset to 0.
    pub resets_at: WireTime,
}

/// The request limit for a group of operations.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanRequests {
    pub group: &'static str,
    /// The operations that the group includes.
    pub covers: &'static str,
    /// The maximum number of requests per window. 0 means that no requests are allowed.
    pub limit: u32,
    pub window_seconds: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanSize {
    pub what: &'static str,
    pub limit: u64,
    /// The unit of the limit: `items`, `bytes` or `characters`.
    pub unit: &'static str,
}

impl Operation for Plan {
    const SPEC: Spec = Spec::get("sending.plan", "/v1/plan", needs_one(FOLLOWERS))
        .client("plan.get")
        .summary("Get the account's limits")
        .about("Returns the limits in effect, and how much of each quota is used in the key's environment.");
    type Input = NoInput;
    type Output = Done<AccountPlan>;

    fn example() -> (Value, Self::Output) {
        let quota =
            |limit| PlanQuota { limit: Some(limit), used: 200, remaining: Some(limit - 200), resets_at: WireTime::sample() };
        let plan = AccountPlan {
            plan: "standard".into(),
            provider: Some("inbox"),
            recipients_per_second: Some(10),
            daily: quota(50_000),
            monthly: quota(1_000_000),
            requests: requests([500, 600, 500, 500, 60]),
            sizes: vec![size("Contacts in one bulk request", limits::BULK_MAX as u64)],
        };
        (json!({}), Done(plan))
    }
}

impl Query for Plan {
    fn run(view: &View<'_>, _: NoInput) -> Result<Self::Output, Failure> {
        let (engine, account, now) = (&view.caller.engine, view.caller.account(), view.now);
        let plan = preflight::plan(engine, account);
        let quota = |limit: Option<u64>, period, resets_at: Timestamp| {
            let used = quota::counted(view.tx, account, SentCount::Taken, period)?;
            let remaining = limit.map(|limit| limit.saturating_sub(used));
            Ok::<_, Failure>(PlanQuota { limit, used, remaining, resets_at: WireTime(resets_at) })
        };
        let environment = view.caller.environment();
        let carries = transport::require(engine, environment).is_ok();
        Ok(Done(AccountPlan {
            plan: accounts::plan_of(engine, account)?,
            provider: carries.then(|| provider(engine, environment)),
            recipients_per_second: plan.recipients_per_second,
            daily: quota(plan.daily, Period::day(now), quota::next_day(now))?,
            monthly: quota(plan.monthly, Period::month(now), quota::next_month(now))?,
            requests: requests(
                engine.keys.account_limits(account).and_then(|holder| holder.plan.load().requests).unwrap_or_default(),
            ),
            sizes: sizes(engine),
        }))
    }
}

fn requests(allowed: [u32; RouteGroup::ALL.len()]) -> Vec<PlanRequests> {
    let view = |group: RouteGroup| PlanRequests {
        group: group.word(),
        covers: group.covers(),
        limit: allowed[group as usize],
        window_seconds: limits::BUDGET_WINDOW_MS as u64 / 1_000,
    };
    RouteGroup::ALL.map(view).into()
}

const fn size(what: &'static str, limit: u64) -> PlanSize {
    PlanSize { what, limit, unit: "items" }
}

const fn sized(what: &'static str, limit: u64, unit: &'static str) -> PlanSize {
    PlanSize { what, limit, unit }
}

/// Returns the most important size limits: first those in items, then those in characters and bytes.
fn sizes(engine: &Engine) -> Vec<PlanSize> {
    let bodies = &engine.settings.limits;
    vec![
        size("Brands", limits::PROJECTS_MAX),
        size("Campaigns per brand", limits::CAMPAIGNS_PER_PROJECT_MAX as u64),
        size("Segments per brand", limits::SEGMENTS_PER_PROJECT_MAX as u64),
        size("Tags per brand", limits::TAGS_PER_PROJECT_MAX as u64),
        size("Topics per brand", limits::TOPICS_PER_PROJECT_MAX as u64),
        size("Active API keys", limits::KEYS_PER_ACCOUNT_MAX as u64),
        size("Members", limits::MEMBERS_MAX as u64),
        size("Webhooks", limits::WEBHOOKS_MAX as u64),
        size("Connections to platforms", limits::CONNECTIONS_MAX as u64),
        size("Sending domains", limits::DOMAINS_MAX as u64),
        size("Rows in a contact file", limits::CONTACT_IMPORT_ROWS_MAX),
        size("Contacts in one bulk request", limits::BULK_MAX as u64),
        size("Events in one batch", limits::EVENTS_PER_BATCH_MAX as u64),
        size("Recipients per direct send", limits::DIRECT_RECIPIENTS_MAX as u64),
        size("Emails per series", limits::EMAILS_PER_SERIES_MAX as u64),
        size("Items per page of a list", limits::PAGE_LIMIT_MAX),
        sized("A prompt", limits::PROMPT_CHARACTERS_MAX as u64, "characters"),
        sized("An email's HTML", limits::EMAIL_HTML_BYTES_MAX as u64, "bytes"),
        sized("Imported HTML", limits::HTML_IMPORT_BYTES_MAX as u64, "bytes"),
        sized("A request", bodies.body_bytes_default.get(), "bytes"),
        sized("A bulk request", bodies.body_bytes_bulk.get(), "bytes"),
        sized("An uploaded file", bodies.upload_bytes_max.get(), "bytes"),
    ]
}
