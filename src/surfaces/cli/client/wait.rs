//! Waits for work that runs on the server, and shows its progress.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::super::problem::{Exit, Problem};
use super::features::Work;
use super::names;
use super::option_names::PROJECT;
use super::progress::Progress;
use super::session::Session;
use super::table::cell;
use super::watch::settled;

/// The first pauses between polls are short, because much of the work takes only a second.
const FIRST_PAUSE: Duration = Duration::from_millis(300);
/// Later pauses are as long as those of the polling helpers in `assets/docs/api-conventions.md`.
const PAUSE: Duration = Duration::from_secs(2);
const QUICK_POLLS: u32 = 6;
/// How long a command waits if the user sets no limit.
pub const TIMEOUT_SECONDS: u64 = 1_800;

/// The statuses of work that has ended or waits for the user.
const ENDED: [&str; 10] =
    ["completed", "failed", "active", "error", "partial_success", "uploaded", "sent", "cancelled", "paused", "pending_review"];
const FAILED: [&str; 4] = ["failed", "error", "cancelled", "pending_review"];

/// Polls the status of the work that `started` identifies until the work has ended. Work that is already complete is returned unchanged.
pub async fn finish(
    session: &Session,
    work: &'static Work,
    started: Value,
    input: &Map<String, Value>,
    timeout: Option<u64>,
) -> Result<Value, Problem> {
    let Some(id) = started[work.id].as_str() else { return Ok(started) };
    if started["result"].is_object() && started["status"] == "completed" {
        return Ok(started);
    }
    let mut query = Map::new();
    query.insert(work.parameter.to_owned(), id.into());
    let others = names::operation(session.operations, work.status).spec.path_names().filter(|name| *name != work.parameter);
    for name in others.chain(work.takes_project.then_some(PROJECT)) {
        query.insert(name.to_owned(), input.get(name).cloned().unwrap_or_default());
    }
    let seconds = timeout.unwrap_or(TIMEOUT_SECONDS);
    let deadline = Instant::now() + Duration::from_secs(seconds);
    let progress = Progress::new(work.label, session.output.shows_progress());
    let mut polls = 0;
    loop {
        let status = session.call_patiently(work.status, Value::Object(query.clone())).await?;
        let word = status["status"].as_str().unwrap_or_default().to_ascii_lowercase();
        progress.show(shown(session, work, &status, &query).await, &note(&status));
        if ENDED.contains(&word.as_str()) {
            drop(progress);
            return ended(&word, status);
        }
        if Instant::now() >= deadline {
            let unit = if seconds == 1 { "second" } else { "seconds" };
            let message = format!("the work has not finished after {seconds} {unit}; it continues on the server (ID {id})");
            return Err(Problem::failed(message));
        }
        polls += 1;
        tokio::select! {
            () = tokio::time::sleep(if polls < QUICK_POLLS { FIRST_PAUSE } else { PAUSE }) => {}
            _ = tokio::signal::ctrl_c() => {
                drop(progress);
                let named = names::all(session.operations).find(|named| named.entry.spec.id == work.status);
                let command = named.map(|named| named.words.join(" ")).unwrap_or_default();
                let message = format!("the work continues on the server; `mailmill {command} {id}` shows its status");
                return Err(Problem::new(Exit::Interrupted, message));
            }
        }
    }
}

fn ended(word: &str, status: Value) -> Result<Value, Problem> {
    if !FAILED.contains(&word) {
        return Ok(status);
    }
    let reason = status["error"]
        .as_str()
        .map_or_else(|| format!("the work on the server ended with the status \"{word}\" and gave no reason"), str::to_owned);
    Err(Problem::new(Exit::Failed, reason))
}

/// Returns the percentage that the progress line shows.
async fn shown(session: &Session, work: &Work, status: &Value, query: &Map<String, Value>) -> Option<u8> {
    let Some(counts) = work.counts.filter(|_| session.output.shows_progress()) else { return percentage(status) };
    // If the counts cannot be read, the progress line is shown without a percentage.
    let (done, recipients) = settled(&session.call(counts, Value::Object(query.clone())).await.ok()?);
    percentage(&json!({ "processed": done, "total": recipients }))
}

/// Returns the progress in percent. Operations report their progress in different formats.
fn percentage(status: &Value) -> Option<u8> {
    let share = |done: &Value, all: &Value| Some(done.as_f64()? * 100.0 / all.as_f64().filter(|all| *all > 0.0)?);
    let progress = &status["progress"];
    let value = progress["percentage"]
        .as_f64()
        .or_else(|| progress.as_f64().map(|share| share * 100.0))
        .or_else(|| share(&status["processed"], &status["total"]))
        .or_else(|| share(&status["processed"], &status["totalContacts"]))
        .or_else(|| share(&status["metadata"]["completedDevices"], &status["metadata"]["requestedDevices"]))?;
    Some(value.clamp(0.0, 100.0) as u8)
}

fn note(status: &Value) -> String {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    text(&status["progress"]["stage"]).or_else(|| text(&status["stage"])).or_else(|| text(&status["waiting"])).map_or_else(
        || status["counts"].as_object().map(|counts| cell(&Value::Object(counts.clone()))).unwrap_or_default(),
        |stage| cell(&Value::String(stage)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_read_in_every_form() {
        assert_eq!(percentage(&json!({ "progress": { "percentage": 40 } })), Some(40));
        assert_eq!(percentage(&json!({ "progress": 0.125 })), Some(12));
        assert_eq!(percentage(&json!({ "processed": 1, "total": 4 })), Some(25));
        assert_eq!(percentage(&json!({ "metadata": { "completedDevices": 1, "requestedDevices": 2 } })), Some(50));
        assert_eq!(percentage(&json!({ "processed": 1, "total": 0 })), None);
    }

    #[test]
    fn failed_work_is_an_error_with_its_reason() {
        let failed = ended("failed", json!({ "error": "No text." })).expect_err("the work failed");
        assert_eq!((failed.code(), failed.to_string().as_str()), (1, "No text."));
        assert!(ended("active", json!({})).is_ok());
    }
}
