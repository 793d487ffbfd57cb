//! The status of the installation, for the owner and admins of its own account.

use serde_json::{Value, json};

use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, PageError, Visit};

/// Its pages.
pub const ROUTES: &[Route] =
    &[closed("/{environment}/settings/system").get(|visit| Box::pin(show(visit))).post(|visit| Box::pin(resume(visit)))];

/// The page.
pub async fn show(visit: &Visit) -> Result<Outcome, PageError> {
    let status = visit.ask("system.status", json!({})).await?;
    let hold = match status["hold"].is_null() {
        true => Value::Null,
        false => visit.ask("installation.hold", json!({})).await?,
    };
    let empty = Vec::new();
    let items = |name: &str| status[name].as_array().unwrap_or(&empty);
    let stored: u64 = items("stores").iter().filter_map(|store| store["bytes"].as_u64()).sum();
    let waiting: u64 = items("queues").iter().filter_map(|queue| queue["waiting"].as_u64()).sum();
    let context = json!({
        "title": "System",
        "uptime": duration(status["uptimeSeconds"].as_u64().unwrap_or_default()),
        "stored": stored,
        "waiting": waiting,
        "queues": by_name(items("queues")),
        "workers": together(items("workers")),
        "hold": hold,
        "done": visit.query.get("done"),
        "status": status,
    });
    Ok(Outcome::page("system.html", context))
}

/// Ends the hold on sending.
async fn resume(visit: &Visit) -> Result<Outcome, PageError> {
    visit.ask("installation.resume", json!({})).await?;
    Ok(Outcome::go(format!("{}?done=resume", visit.path)))
}

/// Returns one line per queue, with its lengths in both environments.
fn by_name(queues: &[Value]) -> Value {
    let length = |name: &Value, environment: &str| {
        let found = queues.iter().find(|queue| queue["name"] == *name && queue["environment"] == environment);
        found.map_or(Value::Null, |queue| queue["waiting"].clone())
    };
    let live = queues.iter().filter(|queue| queue["environment"] == "live");
    live.map(|queue| json!({ "name": queue["name"], "live": queue["waiting"], "test": length(&queue["name"], "test") })).collect()
}

/// Returns one line per job, combining test and live. A failure shows its environment.
fn together(workers: &[Value]) -> Value {
    let mut lines: Vec<Value> = Vec::new();
    for worker in workers {
        let name = worker["name"].as_str().unwrap_or_default();
        let (name, environment) = match name.rsplit_once(' ') {
            Some((name, environment @ ("test" | "live"))) => (name, Value::from(environment)),
            _ => (name, Value::Null),
        };
        let place = lines.iter().position(|line| line["name"] == name).unwrap_or_else(|| {
            lines.push(json!({ "name": name, "busy": false, "steps": 0, "failures": 0, "at": null, "why": null, "where": null }));
            lines.len() - 1
        });
        let line = &mut lines[place];
        for field in ["steps", "failures"] {
            line[field] = (line[field].as_u64().unwrap_or(0) + worker[field].as_u64().unwrap_or(0)).into();
        }
        line["busy"] = (line["busy"] == true || !worker["busySince"].is_null()).into();
        // Timestamps in this format sort as text.
        if worker["lastFailureAt"].as_str() > line["at"].as_str() {
            (line["at"], line["why"], line["where"]) =
                (worker["lastFailureAt"].clone(), worker["lastFailure"].clone(), environment);
        }
    }
    lines.into()
}

fn duration(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes} min"),
        (0, _) => format!("{hours} h {minutes} min"),
        _ => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_of_both_environments_is_one_line_with_the_last_failure() {
        let worker = |name: &str, steps: u64, failed: Option<&str>| {
            let (busy, why) = (failed.map(|_| "2026-01-31T00:00:00.000Z"), failed.map(|at| format!("why {at}")));
            json!({
                "name": name, "steps": steps, "failures": u64::from(failed.is_some()), "busySince": busy, "lastFailureAt": failed,
                "lastFailure": why,
            })
        };
        let (early, late) = ("2026-01-30T00:00:00.000Z", "2026-01-31T00:00:00.000Z");
        let told =
            together(&[worker("sweep test", 2, Some(late)), worker("sweep live", 3, Some(early)), worker("backup", 1, None)]);
        let sweep = json!({
            "name": "sweep", "busy": true, "steps": 5, "failures": 2, "at": late, "why": format!("why {late}"), "where": "test",
        });
        let backup =
            json!({ "name": "backup", "busy": false, "steps": 1, "failures": 0, "at": null, "why": null, "where": null });
        assert_eq!(told, json!([sweep, backup]));
    }

    #[test]
    fn the_uptime_is_formatted_for_people() {
        assert_eq!((duration(59), duration(3_700), duration(200_000)), ("0 min".into(), "1 h 1 min".into(), "2 d 7 h".into()));
    }
}
