//! The page about language models: their names, and each brand's usage by month.

use serde::Serialize;
use serde_json::json;

use super::emails::brands;
use crate::engine::api::Done;
use crate::features::models;
use crate::features::models::ops::metrics::{BrandUsage, ModelMetrics, ModelMonth};
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::settings::COMPOSER;

/// The number of earlier months on the page, which together with the current month make a year.
const EARLIER_MONTHS: u32 = 11;

#[derive(Serialize)]
pub struct ModelsPage {
    /// The names of the language models, without the built-in composer.
    models: Vec<String>,
    default_model: String,
    composer_steps_in: bool,
    limit: Option<u64>,
    brand_limit: Option<u64>,
    /// The cost of the language models in the current month.
    cost: String,
    /// The share of the monthly limit that has been used.
    share: Option<f64>,
    /// The months in which language models were used, newest first.
    months: Vec<MonthRows>,
}

#[derive(Serialize)]
struct MonthRows {
    period: String,
    cost: String,
    rows: Vec<UsageLine>,
}

#[derive(Serialize)]
struct UsageLine {
    brand: String,
    model: String,
    calls: u32,
    input_tokens: u64,
    output_tokens: u64,
    /// The average response time in seconds.
    seconds: String,
    cost: String,
}

impl ModelsPage {
    fn new(metrics: ModelMetrics, name_of: impl Fn(&BrandUsage) -> String) -> Self {
        let now = metrics.months.first().map_or(0.0, |month| month.cost);
        let share = metrics.monthly_limit.map(|limit| if limit == 0 { 1.0 } else { now / limit as f64 });
        let months = metrics.months.into_iter().filter(|month| !month.usage.is_empty());
        Self {
            models: metrics.models.into_iter().filter(|name| name != COMPOSER).collect(),
            composer_steps_in: metrics.on_failure == crate::vocab::settings::OnFailure::Composer,
            default_model: metrics.default_model,
            limit: metrics.monthly_limit,
            brand_limit: metrics.monthly_limit_per_brand,
            cost: money(now),
            share,
            months: months.map(|month| MonthRows::new(month, &name_of)).collect(),
        }
    }
}

impl MonthRows {
    fn new(month: ModelMonth, name_of: &impl Fn(&BrandUsage) -> String) -> Self {
        let ModelMonth { period, cost, usage } = month;
        let line = |usage: BrandUsage| UsageLine {
            brand: name_of(&usage),
            calls: usage.calls,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            seconds: format!("{:.1}", usage.milliseconds as f64 / 1000.0 / f64::from(usage.calls.max(1))),
            cost: money(usage.cost),
            model: usage.model,
        };
        let mut rows: Vec<UsageLine> = usage.into_iter().map(line).collect();
        rows.sort_by(|one, other| (&one.brand, &one.model).cmp(&(&other.brand, &other.model)));
        Self { period, cost: money(cost), rows }
    }
}

fn money(cost: f64) -> String {
    format!("{cost:.2}")
}

page_context!(ModelsPage, "models.html", {
    use crate::engine::api::Operation;

    let metrics = || models::ops::metrics::Metrics::example().1.0;
    let none = ModelMetrics { models: vec![COMPOSER.into()], months: Vec::new(), monthly_limit: None, ..metrics() };
    let page = |metrics| Self::new(metrics, |_| "Acme".to_owned());
    vec![page(metrics()), page(ModelMetrics { monthly_limit_per_brand: Some(5), ..metrics() }), page(none)]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let Done(metrics) = visit.ask::<models::ops::metrics::Metrics>(json!({ "months": EARLIER_MONTHS })).await?;
    let (brands, _) = brands(visit, "").await?;
    let name_of = |usage: &BrandUsage| {
        let found = brands.iter().find(|brand| brand.id == usage.project_id);
        found.map_or_else(|| usage.project_id.to_string(), |brand| brand.name.clone())
    };
    Ok(PageResponse::draw(&ModelsPage::new(metrics, name_of)))
}
