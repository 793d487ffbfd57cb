//! Returns the usage of the account's API keys by day. Only the owner and admins can see it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::base::day;
use crate::engine::api::{Async, Context, Done, Failure, NoInput, Operation, Spec, manager};
use crate::features::accounts::api_keys::short_id;
use crate::features::accounts::{store, usage};
use crate::vocab::limits;

pub struct KeyUsage;

/// The usage of API keys.
#[derive(Serialize, JsonSchema)]
pub struct KeysUsage {
    /// The keys used in the last 30 days, including recently revoked keys.
    pub keys: Vec<UsageOfKey>,
}

/// The usage of a key by day.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageOfKey {
    /// The first 8 characters of the key's ID.
    pub id: String,
    /// The last 30 UTC days, ending with today, in ascending order.
    pub days: Vec<KeyUsageDay>,
}

/// An API key's usage on one day.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyUsageDay {
    /// The date, such as 2026-01-31.
    #[schemars(extend("format" = "date"))]
    pub date: String,
    /// The number of requests made with the key on this day, whether they succeeded or failed.
    pub requests: u64,
}

impl Operation for KeyUsage {
    const SPEC: Spec = Spec::get("accounts.key_usage", "/v1/account/keys/usage", manager())
        .summary("Get the daily usage of API keys")
        .about("Requests are counted in memory and saved every 10 seconds, so a crash loses the last few seconds.");
    type Input = NoInput;
    type Output = Done<KeysUsage>;

    fn example() -> (Value, Self::Output) {
        let days = vec![KeyUsageDay { date: "2026-01-31".into(), requests: 42 }];
        (json!({}), Done(KeysUsage { keys: vec![UsageOfKey { id: "9c1185a5".into(), days }] }))
    }
}

impl Async for KeyUsage {
    async fn run(context: Context, _: NoInput) -> Result<Self::Output, Failure> {
        usage::flush(&context.engine).await?;
        let account = context.caller.account();
        let today = day::of(context.engine.clock.now());
        let first = (today + 1).saturating_sub(limits::KEY_DAYS_SHOWN);
        let tx = context.engine.control.read();
        let mut keys = Vec::new();
        for key in store::keys(&tx)?.into_iter().filter(|key| key.account == account) {
            let counted: BTreeMap<u32, u64> = store::days(&tx, key.id, first)?.into_iter().collect();
            if counted.is_empty() {
                continue;
            }
            let day = |day: u32| KeyUsageDay { date: day::date(day), requests: counted.get(&day).copied().unwrap_or(0) };
            keys.push(UsageOfKey { id: short_id(key.id), days: (first..=today).map(day).collect() });
        }
        Ok(Done(KeysUsage { keys }))
    }
}
