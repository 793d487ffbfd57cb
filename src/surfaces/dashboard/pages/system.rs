//! The page with the status of the installation, for the owner and admins of the account that manages the installation.

use serde::Serialize;
use serde_json::json;

use crate::engine::api::Done;
use crate::engine::api::response::WireTime;
use crate::features::installation::held_work::SendingHold;
use crate::features::system::ops::status::{QueueView, StatusView, WorkerView};
use crate::features::{installation, system};
use crate::surfaces::dashboard::template::page_context;
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::environment::Environment;

#[derive(Serialize)]
pub struct SystemPage {
    uptime: String,
    stored: u64,
    waiting: u64,
    queues: Vec<Queue>,
    workers: Vec<Worker>,
    hold: Option<SendingHold>,
    status: StatusView,
}

/// A queue, with its length in the test and live environments.
#[derive(Debug, PartialEq, Serialize)]
struct Queue {
    name: &'static str,
    live: u64,
    test: Option<u64>,
}

/// A background worker, with the totals of both environments.
#[derive(Debug, PartialEq, Serialize)]
struct Worker {
    name: String,
    busy: bool,
    steps: u64,
    failures: u64,
    /// The time of the worker's last failure.
    at: Option<WireTime>,
    /// The reason for the worker's last failure.
    why: Option<String>,
    /// The environment of the worker's last failure.
    #[serde(rename = "where")]
    environment: Option<String>,
}

impl SystemPage {
    fn new(status: StatusView, hold: Option<SendingHold>) -> Self {
        Self {
            uptime: duration(u64::try_from(status.uptime_seconds).unwrap_or_default()),
            stored: status.stores.iter().map(|store| store.bytes).sum(),
            waiting: status.queues.iter().map(|queue| queue.waiting).sum(),
            queues: by_name(&status.queues),
            workers: together(&status.workers),
            hold,
            status,
        }
    }
}

page_context!(SystemPage, "system.html", {
    use crate::engine::api::Operation;

    let status = || system::ops::status::Status::example().1.0;
    let mut full = status();
    full.disk.read_only = true;
    let bare = StatusView { log: Vec::new(), last_backup: None, continuous_backup: None, cluster: None, ..status() };
    let mut late = status();
    if let Some(cluster) = &mut late.cluster {
        cluster.leader = None;
    }
    if let Some(backup) = &mut late.continuous_backup {
        (backup.problem, backup.complete_until, backup.age_seconds) = (Some("The backup is 2 h old.".into()), None, None);
        (backup.last_snapshot, backup.last_drill) = (None, None);
    }
    let clustered = StatusView { continuous_backup: None, ..status() };
    vec![Self::new(full, Some(SendingHold::sample())), Self::new(bare, None), Self::new(late, None), Self::new(clustered, None)]
});

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    let Done(status) = visit.ask::<system::ops::status::Status>(json!({})).await?;
    let hold = match status.hold {
        None => None,
        Some(_) => Some(visit.ask::<installation::ops::hold::Hold>(json!({})).await?.0),
    };
    Ok(PageResponse::draw(&SystemPage::new(status, hold)))
}

/// Resumes sending after a hold, or starts a snapshot or a restore drill.
pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let done = match visit.form.get("act") {
        task @ ("snapshot" | "drill") => {
            visit.ask::<system::ops::backup_run::BackupRun>(json!({ "task": task })).await?;
            task
        }
        "resume" => {
            visit.ask::<installation::ops::resume::Resume>(json!({})).await?;
            "resume"
        }
        _ => return Err(PageError::unknown_action()),
    };
    Ok(PageResponse::redirect(format!("{}?done={done}", visit.path)))
}

/// Returns one entry per queue, with its length in each environment.
fn by_name(queues: &[QueueView]) -> Vec<Queue> {
    let test = |name: &str| queues.iter().find(|queue| queue.name == name && queue.environment == Environment::Test);
    let live = queues.iter().filter(|queue| queue.environment == Environment::Live);
    live.map(|queue| Queue { name: queue.name, live: queue.waiting, test: test(queue.name).map(|queue| queue.waiting) }).collect()
}

/// Returns one entry per worker, with the totals of both environments. The last failure includes its environment.
fn together(workers: &[WorkerView]) -> Vec<Worker> {
    let mut lines: Vec<Worker> = Vec::new();
    for worker in workers {
        let (name, environment) = match worker.name.rsplit_once(' ') {
            Some((name, environment @ ("test" | "live"))) => (name, Some(environment.to_owned())),
            _ => (worker.name.as_str(), None),
        };
        let place = lines.iter().position(|line| line.name == name).unwrap_or_else(|| {
            let name = name.to_owned();
            lines.push(Worker { name, busy: false, steps: 0, failures: 0, at: None, why: None, environment: None });
            lines.len() - 1
        });
        let line = &mut lines[place];
        line.steps += worker.steps;
        line.failures += worker.failures;
        line.busy |= worker.busy_since.is_some();
        if worker.last_failure_at.map(|at| at.0) > line.at.map(|at| at.0) {
            (line.at, line.why, line.environment) = (worker.last_failure_at, worker.last_failure.clone(), environment);
        }
    }
    lines
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
    use crate::base::clock::Timestamp;

    #[test]
    fn a_job_of_both_environments_is_one_line_with_the_last_failure() {
        let worker = |name: &str, steps: u64, failed: Option<i64>| WorkerView {
            name: name.into(),
            steps,
            failures: u64::from(failed.is_some()),
            restarts: 0,
            busy_since: failed.map(|_| WireTime(Timestamp(9))),
            last_step_at: None,
            last_failure_at: failed.map(|at| WireTime(Timestamp(at))),
            last_failure: failed.map(|at| format!("why {at}")),
        };
        let merged = together(&[worker("sweep test", 2, Some(8)), worker("sweep live", 3, Some(7)), worker("backup", 1, None)]);
        let sweep = Worker {
            name: "sweep".into(),
            busy: true,
            steps: 5,
            failures: 2,
            at: Some(WireTime(Timestamp(8))),
            why: Some("why 8".into()),
            environment: Some("test".into()),
        };
        let backup = Worker { name: "backup".into(), busy: false, steps: 1, failures: 0, at: None, why: None, environment: None };
        assert_eq!(merged, [sweep, backup]);
    }

    #[test]
    fn the_uptime_is_formatted_for_people() {
        assert_eq!((duration(59), duration(3_700), duration(200_000)), ("0 min".into(), "1 h 1 min".into(), "2 d 7 h".into()));
    }
}
