//! Returns metrics in Prometheus's text format.

use std::fmt::Write as _;

use bytes::Bytes;
use http::StatusCode;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::base::secret::same;
use crate::engine::api::http_types::{Reply, ReplyBody};
use crate::engine::api::operation::Takes;
use crate::engine::api::{Bare, Context, Engine, Failure, Media, NoInput, Operation, Raw, RawRequest, Spec, public};
use crate::engine::store::commit_log::StoreName;
use crate::features::system::readiness::ReadinessReport;
use crate::features::system::store;
use crate::vocab::codes::Code;

pub struct Metrics;

impl Operation for Metrics {
    const SPEC: Spec = Spec::get("system.metrics", "/metrics", public())
        .summary("Get metrics for monitoring")
        .about("Returns metrics in the text format of Prometheus. Requires the token of the setting server.metrics_token; without the setting, there are no metrics.")
        .fails(&[Code::NotFound, Code::InvalidApiKey])
        .on_any_node();
    type Input = NoInput;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({}), Bare)
    }
}

impl Raw for Metrics {
    /// Monitoring systems, not API clients, call this operation, so it is not in the API documentation.
    const MEDIA: Media = Media { takes: Takes::Nothing, gives: "text/plain; version=0.0.4", documented: false };

    async fn run(context: Context, _: NoInput, request: RawRequest) -> Result<Reply, Failure> {
        let engine = context.engine.clone();
        let Some(token) = &engine.settings.server.metrics_token else {
            return Err(Failure::because(
                Code::NotFound,
                "Metrics are off because the setting server.metrics_token is empty. Set it, and restart the service.",
            ));
        };
        let given = request.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        if !given.is_some_and(|given| same(given.as_bytes(), token.expose().as_bytes())) {
            return Err(Failure::because(
                Code::InvalidApiKey,
                "Send the value of the setting server.metrics_token as a bearer token.",
            ));
        }
        let text = tokio::task::spawn_blocking(move || text(&engine)).await.map_err(Failure::internal)??;
        let mut headers = HeaderMap::with_capacity(8);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(Self::MEDIA.gives));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(text.len()));
        Ok(Reply { status: StatusCode::OK, headers, body: ReplyBody::Whole(Bytes::from(text)) })
    }
}

/// Metrics in Prometheus's text format.
#[derive(Default)]
struct Text(String);

impl Text {
    /// Adds a metric: its type and help text, and one line per series with its labels and value.
    fn add(&mut self, name: &str, kind: &str, help: &str, series: impl IntoIterator<Item = (String, f64)>) {
        let mut series = series.into_iter().peekable();
        if series.peek().is_none() {
            return;
        }
        let _ = writeln!(self.0, "# HELP mailmill_{name} {help}\n# TYPE mailmill_{name} {kind}");
        for (labels, value) in series {
            let labels = if labels.is_empty() { labels } else { format!("{{{labels}}}") };
            let _ = writeln!(self.0, "mailmill_{name}{labels} {value}");
        }
    }

    fn gauge(&mut self, name: &str, help: &str, value: impl Into<Option<f64>>) {
        self.add(name, "gauge", help, value.into().map(|value| (String::new(), value)));
    }
}

fn text(engine: &Engine) -> Result<String, Failure> {
    let condition = ReadinessReport::of(engine);
    let (checks, mut out) = (&condition.checks, Text::default());
    let flag = |is_so: bool| f64::from(u8::from(is_so));
    out.add("build_info", "gauge", "The version of the program.", [(format!("version=\"{}\"", condition.version), 1.0)]);
    out.gauge("ready", "Whether all checks of /health/ready are ok.", flag(checks.failed().is_empty()));
    out.gauge("uptime_seconds", "The time since the start.", condition.uptime_seconds as f64);
    out.gauge(
        "disk_free_bytes",
        "The free space on the disk of the data folder.",
        checks.disk.free_mib.map(|mib| (mib << 20) as f64),
    );
    out.gauge("read_only", "Whether the disk is almost full, so that most writes are refused.", flag(checks.disk.read_only));
    let backup = checks.backup.as_ref().and_then(|backup| backup.age_seconds);
    out.gauge("backup_age_seconds", "The time since the continuous backup last had every commit.", backup.map(|age| age as f64));
    let lags = [("live", checks.search_index.lag_live), ("test", checks.search_index.lag_test)];
    let lags = lags.map(|(environment, lag)| (format!("environment=\"{environment}\""), lag as f64));
    out.add("search_lag_changes", "gauge", "Changes that the search index has not applied yet.", lags);
    let mut queues = Vec::new();
    for data in engine.environments() {
        for (name, waiting) in store::queues(&data.store.read())? {
            queues.push((format!("environment=\"{}\",queue=\"{}\"", data.environment, name.to_lowercase()), waiting as f64));
        }
    }
    out.add("queue_length", "gauge", "Entries that wait in a queue.", queues);
    let workers = engine.workers.snapshot();
    let failures = workers.iter().map(|(name, state)| (format!("worker=\"{name}\""), state.failures as f64));
    out.add("worker_failures_total", "counter", "Failed steps of a background job, which are retried.", failures);
    if let Some(member) = &engine.cluster {
        out.gauge("cluster_leads", "Whether this node is the leader.", flag(member.leads()));
        out.gauge("cluster_has_leader", "Whether the cluster has a leader.", flag(member.has_leader()));
        out.gauge("cluster_lag_seconds", "How old the data of this node may be.", member.lag_ms() as f64 / 1000.0);
        let positions = StoreName::ALL.iter().zip(member.positions());
        let positions = positions.map(|(store, position)| (format!("log=\"{}\"", store.word()), position as f64));
        out.add("cluster_position", "counter", "The newest commit of a log that this node has.", positions);
    }
    Ok(out.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn metrics_name_every_queue_and_each_value_is_a_number() {
        let app = TestApp::new();
        let text = text(app.engine()).expect("the store can be read");
        assert!(
            text.contains("mailmill_ready ") && text.contains("mailmill_queue_length{environment=\"live\",queue=\""),
            "{text}"
        );
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, value) = line.rsplit_once(' ').expect("a name and a value");
            assert!(name.starts_with("mailmill_") && value.parse::<f64>().is_ok(), "{line}");
        }
        assert!(!text.contains("cluster"), "a single machine has no cluster");
    }
}
