//! Returns the usage and cost of language models, by brand and month.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::bounded::Bounded;
use crate::base::month;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs_one};
use crate::features::models::store::{self, UsageRow};
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::settings::{COMPOSER, OnFailure};

pub struct Metrics;

/// The months to return.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MetricsRange {
    /// The number of earlier months to return in addition to the current month. The default is 0.
    pub months: Option<Bounded<0, { limits::METRICS_MONTHS_MAX }>>,
}

/// The language models, their usage and the limits.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelMetrics {
    /// The values that a request can use for `model`; `composer` is the built-in composer.
    pub models: Vec<String>,
    /// The model that writes emails if a request does not name a model.
    pub default_model: String,
    /// What happens if a language model cannot write an email.
    pub on_failure: OnFailure,
    /// The account's maximum cost per month. `null` means unlimited.
    pub monthly_limit: Option<u64>,
    /// The maximum cost per month for each brand. `null` means unlimited.
    pub monthly_limit_per_brand: Option<u64>,
    /// The current month and the earlier months, latest first.
    pub months: Vec<ModelMonth>,
}

/// The usage of a month.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelMonth {
    /// The month in UTC, such as `2026-01`.
    pub period: String,
    /// The cost of both environments together, which counts toward the account's limit.
    pub cost: f64,
    /// The usage in the environment of the request, by brand and model.
    pub usage: Vec<BrandUsage>,
}

/// The usage of one model by one brand.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandUsage {
    pub project_id: ProjectId,
    pub model: String,
    /// The number of requests, including requests in progress and requests that a crash interrupted. For these, the estimated tokens and
    /// cost are counted.
    pub calls: u32,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The total response time of the model in milliseconds.
    pub milliseconds: u64,
    /// The cost, in the currency of the configured prices.
    pub cost: f64,
}

impl BrandUsage {
    fn of(row: UsageRow) -> Self {
        let UsageRow { project, model, usage, .. } = row;
        Self {
            project_id: project,
            model,
            calls: usage.calls,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            milliseconds: usage.milliseconds,
            cost: usage.micro_cost as f64 / 1e6,
        }
    }
}

impl Operation for Metrics {
    const SPEC: Spec =
        Spec::get("models.metrics", "/v1/metrics/models", needs_one(&[Permission::EmailRead, Permission::EmailWrite]))
            .client("metrics.models")
            .summary("Get the usage and cost of language models")
            .about("Returns the usage of the brands in the key's environment. The limits apply to both environments together.");
    type Input = MetricsRange;
    type Output = Done<ModelMetrics>;

    fn example() -> (Value, Self::Output) {
        let usage = BrandUsage {
            project_id: ProjectId::parse("66f1a2b3d4e5f60718293a4b").expect("the sample ID is valid"),
            model: "fast".into(),
            calls: 120,
            input_tokens: 480_000,
            output_tokens: 96_000,
            milliseconds: 840_000,
            cost: 1.92,
        };
        let metrics = ModelMetrics {
            models: vec!["fast".into(), COMPOSER.into()],
            default_model: "fast".into(),
            on_failure: OnFailure::Fail,
            monthly_limit: Some(50),
            monthly_limit_per_brand: None,
            months: vec![ModelMonth { period: "2026-01".into(), cost: 1.92, usage: vec![usage] }],
        };
        (json!({ "months": 0 }), Done(metrics))
    }
}

impl Query for Metrics {
    fn run(view: &View<'_>, input: MetricsRange) -> Result<Self::Output, Failure> {
        let (engine, account) = (&view.caller.engine, view.caller.account());
        let (control, now) = (engine.control.read(), month::of(view.now));
        let back = u32::try_from(input.months.map_or(0, Bounded::get)).unwrap_or(0);
        let mut months = Vec::new();
        for number in (now.saturating_sub(back)..=now).rev() {
            let rows = store::of_month(&control, account, number)?;
            let cost = rows.iter().map(|row| row.usage.micro_cost).sum::<u64>() as f64 / 1e6;
            let own = rows.into_iter().filter(|row| row.environment == view.caller.environment());
            months.push(ModelMonth { period: month::text(number), cost, usage: own.map(BrandUsage::of).collect() });
        }
        let settings = &engine.settings.language_model;
        Ok(Done(ModelMetrics {
            models: engine.models.names().into_iter().map(str::to_owned).collect(),
            default_model: engine.models.default_name().to_owned(),
            on_failure: settings.on_failure,
            monthly_limit: settings.monthly_cost_max.get(),
            monthly_limit_per_brand: settings.monthly_cost_max_per_brand.get(),
            months,
        }))
    }
}
