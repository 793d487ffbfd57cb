//! The first stage of an import: fetches the planned files, a few at a time, and extends the plan with the files that the fetched files
//! refer to.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use url::Url;

use super::{
    FetchOutcome, FetchTask, File, FileRole, Import, Stage, fail, files, find, give_up, imports, plan, robots, save, tasks,
};
use crate::engine::api::{Engine, EnvironmentData, Failure};
use crate::engine::fetch::{self, Fetch, FetchError, Limits, OversizePolicy, Response};
use crate::engine::store::{Result as StoreResult, WriteTx};
use crate::features::projects::model::ProjectStatus;
use crate::features::projects::reading::outline::Rules;
use crate::features::projects::store;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits::{
    SITE_IMPORT_BYTES_MAX, SITE_IMPORT_FETCH_TIME, SITE_IMPORT_FETCHES_AT_ONCE, SITE_IMPORT_PAGE_BYTES_MAX,
    SITE_IMPORT_TIME_MAX_MS,
};

/// The maximum pause between requests, in seconds, even if robots.txt requires a longer pause. Unlike a crawler, an import fetches only a
/// few dozen files.
const PAUSE_MAX: f32 = 5.0;
/// The pause before the second attempt to fetch a page that the caller named.
const SECOND_TRY_PAUSE: Duration = Duration::from_millis(500);
/// The progress of the import, in percent, at the start and at the end of the fetching stage.
const PERCENT_FROM: u32 = 5;
const PERCENT_TO: u32 = 60;

pub async fn step(engine: &Arc<Engine>, data: &Arc<EnvironmentData>, project: ProjectId, import: Import) -> Result<(), Failure> {
    let rules = plan::rules(&robots(&data.store.read(), project)?);
    let batch = batch(&import, &rules, engine.clock.now().ms_since(import.started_at));
    if batch.is_empty() {
        let _turn = tasks::turn().await;
        let known = files(&data.store.read(), project)?;
        return settle(engine, data, project, import, known).await;
    }
    // The memory for the files stays reserved until they are stored.
    let _room = tasks::room(batch.iter().map(|task| limits(task.kind).body_bytes).sum()).await;
    let new = fetch_all(&engine.fetch, &batch, &rules).await;
    let _turn = tasks::turn().await;
    let Some(further) = tasks::further(&engine.pixels, &import, &new).await? else { return give_up(data, project).await };
    data.store.write(move |tx| record(tx, project, import.next, new, further)).await??;
    Ok(())
}

/// Returns the next few tasks, or only one if robots.txt requires a pause. The robots.txt files come first, in batches without other files.
/// After the import's time limit, returns tasks only if the first one is a page that the caller named. After the size limit is reached,
/// returns none.
fn batch(import: &Import, rules: &[(String, Rules)], elapsed_ms: i64) -> Vec<FetchTask> {
    let (is_late, is_full) = (elapsed_ms > SITE_IMPORT_TIME_MAX_MS, import.metrics.bytes_read > SITE_IMPORT_BYTES_MAX);
    let rest = import.plan.get(import.next as usize..).unwrap_or_default();
    let first = rest.first().filter(|first| !is_full && (!is_late || first.kind == FileRole::Given));
    let Some(first) = first else { return Vec::new() };
    let is_slow = first.url.parse().is_ok_and(|url| plan::delay(rules, &url).is_some());
    let most = if is_slow { 1 } else { SITE_IMPORT_FETCHES_AT_ONCE };
    let robots = first.kind == FileRole::Robots;
    rest.iter().take_while(|task| (task.kind == FileRole::Robots) == robots).take(most).cloned().collect()
}

async fn fetch_all(fetch: &Fetch, batch: &[FetchTask], rules: &[(String, Rules)]) -> Vec<File> {
    join_all(batch.iter().map(|task| fetch_one(fetch, task, rules))).await
}

async fn fetch_one(fetch: &Fetch, task: &FetchTask, rules: &[(String, Rules)]) -> File {
    let file = |found_at: &str, outcome| File { url: task.url.clone(), found_at: found_at.to_owned(), kind: task.kind, outcome };
    let Ok(url) = task.url.parse::<Url>() else {
        return file(&task.url, FetchOutcome::Failed("The URL is invalid.".to_owned()));
    };
    if task.kind != FileRole::Robots {
        if !plan::allows(rules, &url) {
            let reason = format!(
                "The site's robots.txt disallows {url}. Allow the robot \"{}\" in robots.txt, then import the site again.",
                fetch::ROBOT_NAME
            );
            return file(&task.url, FetchOutcome::Failed(reason));
        }
        if let Some(pause) = plan::delay(rules, &url) {
            tokio::time::sleep(Duration::from_secs_f32(pause.min(PAUSE_MAX))).await;
        }
    }
    let mut answer = fetch.get(&url, accepted(task.kind), &limits(task.kind)).await;
    if task.kind == FileRole::Given && is_passing(&answer) {
        tokio::time::sleep(SECOND_TRY_PAUSE).await;
        answer = fetch.get(&url, accepted(task.kind), &limits(task.kind)).await;
    }
    match answer {
        Ok(fetched) => {
            let found_at = fetched.url.to_string();
            file(&found_at, outcome(task.kind, fetched))
        }
        Err(error) => file(&task.url, FetchOutcome::Failed(error.to_string())),
    }
}

/// Returns whether an immediate second attempt might succeed. Timeouts are not retried.
fn is_passing(answer: &Result<Response, FetchError>) -> bool {
    match answer {
        Err(FetchError::TimedOut { .. }) => false,
        Ok(fetched) => fetched.status.is_server_error() || fetched.status.as_u16() == 429,
        Err(error) => error.is_passing(),
    }
}

fn accepted(kind: FileRole) -> &'static str {
    match kind {
        FileRole::Given | FileRole::Page => "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5",
        FileRole::Style => "text/css,*/*;q=0.1",
        FileRole::Manifest => "application/manifest+json,application/json,*/*;q=0.1",
        FileRole::Sitemap => "application/xml,text/xml,*/*;q=0.1",
        FileRole::Robots => "text/plain,*/*;q=0.1",
    }
}

fn limits(kind: FileRole) -> Limits {
    let body_bytes = if kind == FileRole::Robots { SITE_IMPORT_PAGE_BYTES_MAX / 8 } else { SITE_IMPORT_PAGE_BYTES_MAX };
    Limits { head: SITE_IMPORT_FETCH_TIME, total: SITE_IMPORT_FETCH_TIME, body_bytes, overlong: OversizePolicy::Cut }
}

fn outcome(kind: FileRole, fetched: Response) -> FetchOutcome {
    let host = fetched.url.host_str().unwrap_or_default().to_owned();
    let status = fetched.status.as_u16();
    let failed = |words: &str| FetchOutcome::Failed(format!("{host} responded with status {status}: {words}"));
    match status {
        200..=203 | 206 => {}
        404 | 410 if kind != FileRole::Given => return FetchOutcome::Absent,
        404 | 410 => return failed("there is no page at this URL. Check the URL."),
        // If access to robots.txt is denied, access to other files is not restricted (RFC 9309).
        400..=499 if kind == FileRole::Robots && status != 429 => return FetchOutcome::Absent,
        401 | 403 | 407 => {
            let name = fetch::ROBOT_NAME;
            return failed(&format!(
                "the site does not allow this service to read the page. If the site blocks robots, allow the user agent {name}."
            ));
        }
        429 => return failed("the site received too many requests. Import it again later."),
        500..=599 => return failed("the site is not available. Import it again later."),
        _ => return failed("the server did not return the page. Check the URL."),
    }
    let content_type = fetched.header("content-type").unwrap_or_default().to_owned();
    let language = fetched.header("content-language").unwrap_or_default().to_owned();
    let mut bytes = fetched.body;
    if kind == FileRole::Sitemap && bytes.starts_with(&[0x1f, 0x8b]) {
        bytes = fetch::gunzip(&bytes, SITE_IMPORT_PAGE_BYTES_MAX);
    }
    if matches!(kind, FileRole::Given | FileRole::Page) && !is_page(&content_type, &bytes) {
        let shown = content_type.split(';').next().unwrap_or_default();
        let shown = if shown.is_empty() { "unknown" } else { shown };
        return FetchOutcome::Failed(format!(
            "{} is not a web page: its content type is {shown}. Enter the URL of a web page.",
            fetched.url
        ));
    }
    FetchOutcome::Fetched { content_type, language, bytes }
}

fn is_page(content_type: &str, bytes: &[u8]) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "text/html" | "application/xhtml+xml" => true,
        "" | "text/plain" | "application/octet-stream" | "text/xml" | "application/xml" => {
            let start = String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]).to_ascii_lowercase();
            start.contains("<html") || start.contains("<!doctype html") || start.contains("<head") || start.contains("<body")
        }
        _ => false,
    }
}

/// Stores the results of a batch of tasks.
fn record(tx: &mut WriteTx<'_>, project: ProjectId, expected: u32, new: Vec<File>, further: Vec<FetchTask>) -> StoreResult<()> {
    // Discard the files if the import was restarted in the meantime.
    let Some(mut import) = find(tx, project)?.filter(|import| import.next == expected && import.stage == Stage::Fetching) else {
        return Ok(());
    };
    for (place, file) in new.iter().enumerate() {
        if let FetchOutcome::Fetched { bytes, .. } = &file.outcome {
            import.metrics.bytes_read += bytes.len() as u64;
        }
        match (file.kind, &file.outcome) {
            (FileRole::Given | FileRole::Page, FetchOutcome::Fetched { .. }) => import.metrics.pages_read += 1,
            (FileRole::Given | FileRole::Page, _) => import.metrics.pages_failed += 1,
            (FileRole::Style, FetchOutcome::Fetched { .. }) => import.metrics.stylesheets_read += 1,
            _ => {}
        }
        imports::put_file(tx, project, expected + place as u32, file);
    }
    import.next += new.len() as u32;
    import.plan.extend(further);
    let share = import.next * (PERCENT_TO - PERCENT_FROM) / (import.plan.len() as u32).max(1);
    import.percentage = import.percentage.max((PERCENT_FROM + share) as u8);
    import.failures = 0;
    save(tx, project, &import);
    Ok(())
}

/// Called when no planned files are left to fetch or a limit of the import is reached. If no page that the caller named could be read,
/// marks the import as failed. Otherwise, adds further pages of the site to the plan or, if this was done before or there are none, moves
/// on to the reading stage.
async fn settle(
    engine: &Engine,
    data: &Arc<EnvironmentData>,
    project: ProjectId,
    import: Import,
    known: Vec<File>,
) -> Result<(), Failure> {
    let given = || known.iter().filter(|file| file.kind == FileRole::Given);
    let is_read = given().any(|file| matches!(file.outcome, FetchOutcome::Fetched { .. }));
    if !is_read {
        let reason = given().find_map(|file| match &file.outcome {
            FetchOutcome::Failed(reason) => Some(reason.clone()),
            FetchOutcome::Absent | FetchOutcome::Fetched { .. } => None,
        });
        let reason = reason.unwrap_or_else(|| "None of the pages could be read. Check their URLs.".to_owned());
        data.store.write(move |tx| fail(tx, project, import, reason)).await??;
        return Ok(());
    }
    let is_closed = plan::is_closed(&known);
    let unread: Vec<String> = given()
        .filter_map(|file| match &file.outcome {
            FetchOutcome::Failed(reason) => Some(reason.clone()),
            FetchOutcome::Absent | FetchOutcome::Fetched { .. } => None,
        })
        .collect();
    let wanted = match import.chosen || is_closed {
        true => Some(Vec::new()),
        false => tasks::choose(&engine.pixels, &import, &known).await?,
    };
    let Some(wanted) = wanted else { return give_up(data, project).await };
    let change = move |tx: &mut WriteTx<'_>| -> StoreResult<()> {
        let Some(mut import) = find(tx, project)?.filter(|import| import.stage == Stage::Fetching) else { return Ok(()) };
        if wanted.is_empty() {
            import.stage = Stage::Reading;
            import.percentage = import.percentage.max(PERCENT_TO as u8);
            import.metrics.notes.extend(unread);
            if is_closed {
                import.metrics.notes.push(
                    "The site's robots.txt could not be read, so only the pages that you entered were imported.".to_owned(),
                );
            }
            if (import.next as usize) < import.plan.len() {
                import.metrics.notes.push("The site is slow or large, so not all of its pages were read.".to_owned());
            }
        }
        import.chosen = true;
        import.plan.extend(wanted);
        import.failures = 0;
        save(tx, project, &import);
        Ok(())
    };
    data.store.write(change).await??;
    Ok(())
}

/// Moves a waiting import to the fetching stage.
pub fn begin(tx: &mut WriteTx<'_>, project: ProjectId, import: &mut Import) -> StoreResult<()> {
    if let Some(mut owner) = store::find(tx, import.account, project)? {
        owner.status = ProjectStatus::Processing;
        owner.updated_at = tx.now();
        store::save(tx, import.account, &owner);
    }
    import.stage = Stage::Fetching;
    import.percentage = PERCENT_FROM as u8;
    Ok(())
}
