//! A language model whose usage is counted for a brand. A request that could exceed a monthly limit is rejected.

use std::sync::Arc;

use super::store::{self, Entry};
use crate::base::clock::Clock;
use crate::base::month;
use crate::engine::api::Engine;
use crate::engine::language_model::{Client, ModelError, ModelRequest, Reply, Usage};
use crate::engine::store::{Error, Read, Result as StoreResult, Store, WriteTx};
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, ProjectId};

/// The brand for which the usage of requests is counted. The limits of the brand and of its account apply.
#[derive(Clone, Copy, Debug)]
pub struct Payer {
    pub account: AccountId,
    pub project: ProjectId,
    pub environment: Environment,
}

/// A language model and the brand that its usage is counted for.
#[derive(Clone)]
pub struct MeteredModel {
    client: Arc<Client>,
    /// `None` if the usage is not counted, as in `mailmill models test`, which has no store.
    meter: Option<Meter>,
}

#[derive(Clone)]
struct Meter {
    control: Arc<Store>,
    clock: Arc<dyn Clock>,
    payer: Payer,
    limits: Limits,
}

/// The monthly limits, in millionths of the currency.
#[derive(Clone, Copy)]
struct Limits {
    account: Option<u64>,
    brand: Option<u64>,
}

impl MeteredModel {
    /// Returns a model whose usage is counted for a brand.
    pub fn new(client: Arc<Client>, engine: &Engine, payer: Payer) -> Self {
        let settings = &engine.settings.language_model;
        let micro = |limit: Option<u64>| limit.map(|limit| limit * 1_000_000);
        let limits =
            Limits { account: micro(settings.monthly_cost_max.get()), brand: micro(settings.monthly_cost_max_per_brand.get()) };
        let meter = Meter { control: engine.control.clone(), clock: engine.clock.clone(), payer, limits };
        Self { client, meter: Some(meter) }
    }

    pub fn unmetered(client: Arc<Client>) -> Self {
        Self { client, meter: None }
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Sends a request, unless it could exceed a monthly limit or its usage cannot be stored. Returns the usage even if the request fails.
    pub async fn ask(&self, question: &ModelRequest) -> (Result<Reply, ModelError>, Usage) {
        let Some(meter) = &self.meter else { return self.client.ask(question).await };
        let estimate = self.client.estimate(question);
        let entry = match meter.reserve(self.client.name(), estimate).await {
            Ok(entry) => entry,
            Err(error) => return (Err(error), Usage::default()),
        };
        let (reply, usage) = self.client.ask(question).await;
        meter.settle(entry, self.client.name(), estimate, usage).await;
        (reply, usage)
    }
}

impl Meter {
    /// Adds the estimated usage of a request to the stored usage. Returns an error if the request could exceed a limit or if the estimate
    /// cannot be stored.
    async fn reserve(&self, model: &str, estimate: Usage) -> Result<Entry, ModelError> {
        let Payer { account, project, environment } = self.payer;
        let entry = Entry { account, month: month::of(self.clock.now()), project, environment };
        let (model, limits) = (model.to_owned(), self.limits);
        let reserve = move |tx: &mut WriteTx<'_>| -> StoreResult<Option<String>> {
            let refusal = refusal(tx, entry, limits, estimate)?;
            if refusal.is_none() {
                store::change(tx, entry, &model, |before| before.plus(estimate))?;
            }
            Ok(refusal)
        };
        match self.control.write(reserve).await.and_then(|result| result) {
            Ok(None) => Ok(entry),
            Ok(Some(message)) => Err(ModelError::NotSent(message)),
            Err(error) => Err(ModelError::NotSent(format!(
                "The request to the language model was not sent, because its usage cannot be stored: {error}."
            ))),
        }
    }

    /// Replaces the estimate with the actual usage. If this write fails, the estimate remains.
    async fn settle(&self, entry: Entry, model: &str, estimate: Usage, actual: Usage) {
        let name = model.to_owned();
        let settle = move |tx: &mut WriteTx<'_>| -> StoreResult<()> {
            store::change(tx, entry, &name, |before| before.minus(estimate).plus(actual))
        };
        let settled: Result<(), Error> = self.control.write(settle).await.and_then(|result| result);
        if let Err(error) = settled {
            tracing::warn!(model, %error, "the actual usage of a language model cannot be stored, so its estimate is kept");
        }
    }
}

/// Returns why a request with this estimate must not be sent. A request without a cost is always allowed.
fn refusal(tx: &impl Read, entry: Entry, limits: Limits, estimate: Usage) -> StoreResult<Option<String>> {
    if estimate.micro_cost == 0 {
        return Ok(None);
    }
    let rows = store::of_month(tx, entry.account, entry.month)?;
    let all = rows.iter().map(|row| row.usage.micro_cost).sum::<u64>();
    let brand = rows.iter().filter(|row| row.project == entry.project).map(|row| row.usage.micro_cost).sum::<u64>();
    let exceeds = |used: u64, limit: Option<u64>| limit.filter(|limit| used + estimate.micro_cost > *limit);
    let (owner, used, limit) = match (exceeds(brand, limits.brand), exceeds(all, limits.account)) {
        (Some(limit), _) => ("brand", brand, limit),
        (None, Some(limit)) => ("account", all, limit),
        (None, None) => return Ok(None),
    };
    let money = |micro: u64| format!("{:.2}", micro as f64 / 1e6);
    Ok(Some(format!(
        "The monthly limit for language models would be exceeded: this {owner} has used {} of {}, and the request can cost {}. Choose a \
         cheaper model, or ask the server operator to raise the limit. The usage restarts at 0 next month.",
        money(used),
        money(limit),
        money(estimate.micro_cost)
    )))
}
