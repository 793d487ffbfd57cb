//! The installation: how it is doing, for the owner and admins of its own account.

use serde_json::{Value, json};

use crate::surfaces::dashboard::route::{Route, closed};
use crate::surfaces::dashboard::visit::{Outcome, Trouble, Visit};

/// Its pages.
pub const ROUTES: &[Route] = &[closed("/{environment}/settings/system").get(|visit| Box::pin(show(visit)))];

/// The page.
pub async fn show(visit: &Visit) -> Result<Outcome, Trouble> {
    let status = visit.ask("system.status", json!({})).await?;
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
        "status": status,
    });
    Ok(Outcome::page("system.html", context))
}

/// One line for each queue, with its lengths in both environments.
fn by_name(queues: &[Value]) -> Value {
    let length = |name: &Value, environment: &str| {
        let found = queues.iter().find(|queue| queue["name"] == *name && queue["environment"] == environment);
        found.map_or(Value::Null, |queue| queue["waiting"].clone())
    };
    let live = queues.iter().filter(|queue| queue["environment"] == "live");
    live.map(|queue| json!({ "name": queue["name"], "live": queue["waiting"], "test": length(&queue["name"], "test") })).collect()
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
    fn the_time_since_the_start_is_written_for_people() {
        assert_eq!((duration(59), duration(3_700), duration(200_000)), ("0 min".into(), "1 h 1 min".into(), "2 d 7 h".into()));
    }
}
