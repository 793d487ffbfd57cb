//! Starts imports of contacts from platforms, and runs their steps.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::choice::{client, note, renewed};
use super::client::Client;
use super::error::PlatformError;
use super::fields::Mapping;
use super::model::Connection;
use super::platform::{self, Part};
use super::store;
use crate::base::clock::Timestamp;
use crate::base::day;
use crate::engine::api::{Engine, Failure};
use crate::engine::store::{Result as StoreResult, WriteTx};
use crate::features::contacts::jobs::provider::{self, CheckedPage, Position, ProviderPage, Wait};
use crate::features::contacts::jobs::{self, FieldMap, Job, ProviderImport, ProviderSource, Task};
use crate::features::filters::FilterTree;
use crate::features::segments;
use crate::features::tags::{self, Tag, TagName};
use crate::vocab::codes::Code;
use crate::vocab::environment::Environment;
use crate::vocab::ids::{AccountId, ConnectionId, JobId, ProjectId, SegmentId};
use crate::vocab::limits;
use crate::vocab::providers::{ConsentMode, Provider};

/// The sources to import, and how to import their contacts.
pub struct ImportPlan {
    pub project: ProjectId,
    pub sources: Vec<ProviderSource>,
    pub consent_mode: ConsentMode,
    /// The user's mapping of the platform's fields, where it differs from the default mapping.
    pub fields: FieldMap,
    /// Contacts that have neither joined a source nor changed since this time may be left out; `None` to import all contacts.
    pub since: Option<Timestamp>,
    /// The name of the tag that every imported contact gets.
    pub tag: String,
}

/// The tag of an import, and the segment of the contacts with this tag.
pub struct Label {
    pub tag: Tag,
    pub segment: SegmentId,
}

/// Queues an import through one of the account's connections. Fails if the connection was removed.
pub fn start_with(
    tx: &mut WriteTx<'_>,
    account: AccountId,
    (provider, connection): (Provider, ConnectionId),
    plan: ImportPlan,
) -> Result<Job, Failure> {
    let removed = || {
        let detail = format!("The connection to {provider} was removed. Connect the account again, then choose the connection.");
        Failure::because(Code::ProviderNotConnected, detail)
    };
    start(tx, &store::find(tx, account, connection)?.ok_or_else(removed)?, plan)
}

/// Queues an import for the worker.
pub fn start(tx: &mut WriteTx<'_>, used: &Connection, plan: ImportPlan) -> Result<Job, Failure> {
    let ImportPlan { project, sources, consent_mode, fields, since, tag } = plan;
    let import = ProviderImport {
        provider: used.provider,
        connection: used.id,
        sources,
        consent_mode,
        fields,
        since,
        reads_changes: since.is_some() && platform::has_changes(used.provider),
        tag,
        position: Position::default(),
        row: 0,
        excluded: 0,
        read: 0,
        expected: None,
        pause: None,
        failures: 0,
    };
    jobs::open(tx, used.account, project, Task::Provider(import))
}

/// Creates a tag and a segment with the same name for an import. The name contains the date and, if a tag or segment already has this name,
/// a number.
pub fn label(tx: &mut WriteTx<'_>, project: ProjectId, used: &Connection) -> Result<Label, Failure> {
    let base = format!("{} import {}", used.provider, day::date(day::of(tx.now())));
    let mut name = base.clone();
    for number in 2.. {
        if tags::number(tx, project, &name)?.is_none() && !segments::has_name(tx, project, &name)? {
            break;
        }
        name = format!("{base} ({number})");
    }
    let tag = tags::create(tx, project, &name)?.ok_or_else(|| {
        let detail = format!("A brand can have at most {} tags. Delete a tag first.", limits::TAGS_PER_PROJECT_MAX);
        Failure::because(Code::LimitReached, detail)
    })?;
    let filters: FilterTree = serde_json::from_value(json!({ "tags": [tag.id] })).expect("a filter by one tag is valid");
    let about = format!("Contacts imported from {} ({}).", used.provider, used.name);
    let segment = segments::add(tx, project, (name, Some(about)), filters)?;
    Ok(Label { tag, segment: segment.id })
}

/// Advances an import by one step; returns whether it can continue immediately.
pub async fn step(engine: &Engine, environment: Environment, job: &Job, import: &ProviderImport) -> Result<bool, Failure> {
    let store = &engine.data(environment).store;
    let now = engine.clock.now();
    if import.waits_at(now) || provider::is_index_full(&store.read(), job)? {
        return Ok(false);
    }
    let (id, account) = (job.id, job.account);
    let Some(mut used) = store::find(&store.read(), account, import.connection)? else {
        let reason = removed(import);
        store.write(move |tx| provider::fail(tx, id, reason)).await??;
        return Ok(false);
    };
    let mut read = read(engine, environment, &mut used, import).await;
    if let Some(error) = &mut read.error
        && renewed(engine, environment, &mut used, error).await
    {
        read = self::read(engine, environment, &mut used, import).await;
    }
    let is_over = read.page.as_ref().is_some_and(|page| page.next.is_none());
    if let Some(page) = read.page {
        let (checked, of, removed) = (import.check(page), used.clone(), removed(import));
        store.write(move |tx| keep(tx, &of, id, (checked, removed))).await??;
    }
    let Some(error) = read.error else { return Ok(!is_over) };
    note(engine, environment, &used, &error).await?;
    let stop = Stop::of(&error, import, &used, read.position, now);
    let is_skip = matches!(stop, Stop::Skip { .. });
    store.write(move |tx| stop.apply(tx, &used, id)).await??;
    Ok(is_skip)
}

fn removed(import: &ProviderImport) -> String {
    format!("The connection to {} was removed. Connect the account again and start a new import.", import.provider)
}

/// Commits a page that was read with the connection `used`. If the connection has been removed since then, the import fails with the
/// reason `removed`.
pub(super) fn keep(
    tx: &mut WriteTx<'_>,
    used: &Connection,
    id: JobId,
    (page, removed): (CheckedPage, String),
) -> StoreResult<()> {
    if store::find(tx, used.account, used.id)?.is_none() {
        return provider::fail(tx, id, removed);
    }
    store::accept(tx, used)?;
    provider::commit(tx, id, page)
}

/// The result of reading in one step: the contacts, the error that ended the step, and, after an error, the position of the page that could
/// not be read.
struct Read {
    page: Option<ProviderPage>,
    error: Option<PlatformError>,
    position: Position,
}

/// Reads the contacts of one step.
async fn read(engine: &Engine, environment: Environment, used: &mut Connection, import: &ProviderImport) -> Read {
    match client(engine, environment, used).await {
        Ok(client) => collect(&client.without_waits().mapped(Mapping::new(import.fields.clone())), import).await,
        Err(error) => Read { page: None, error: Some(error), position: import.position.clone() },
    }
}

/// Reads pages until the contacts fill one transaction, the time limit of a step is reached, or the source ends.
async fn collect(client: &Client<'_>, import: &ProviderImport) -> Read {
    let started = Instant::now();
    let mut page = ProviderPage { contacts: Vec::new(), next: Some(import.position.clone()), expected: import.expected };
    let mut is_read = false;
    let is_enough = |contacts: usize, since: Duration| {
        contacts >= limits::PROVIDER_IMPORT_STEP_CONTACTS || since >= limits::PROVIDER_IMPORT_STEP_TIME
    };
    while let Some(position) = page.next.clone() {
        if is_read && is_enough(page.contacts.len(), started.elapsed()) {
            break;
        }
        // A transaction contains contacts from only one source, so that the progress within the source is known.
        if position.source != import.position.source {
            break;
        }
        let source = import.sources.get(position.source as usize);
        let part = match (source, import.since) {
            (Some(source), since) => Part::Source(source, since),
            (None, Some(since)) => Part::Changes(&import.sources, since),
            (None, None) => break,
        };
        match platform::contacts(import.provider, client, part, position.cursor.as_deref()).await {
            Ok(mut found) => {
                let tag = source.and_then(tag_of);
                found.contacts.iter_mut().flatten().for_each(|external| external.tags.extend(tag.clone()));
                page.contacts.append(&mut found.contacts);
                page.expected = found.total.filter(|_| found.next.is_some());
                page.next = following(import, position.source, found.next);
                is_read = true;
            }
            Err(error) => return Read { page: is_read.then_some(page), error: Some(error), position },
        }
    }
    Read { page: Some(page), error: None, position: import.position.clone() }
}

/// Returns a source's name as a tag, shortened to a tag's maximum length.
fn tag_of(source: &ProviderSource) -> Option<String> {
    let name: String = source.name.chars().take(limits::TAG_NAME_CHARACTERS_MAX).collect();
    TagName::parse(&name).ok().map(|name| name.to_string())
}

fn following(import: &ProviderImport, source: u32, cursor: Option<String>) -> Option<Position> {
    match cursor {
        Some(cursor) => Some(Position { source, cursor: Some(cursor) }),
        None => Some(Position { source: source + 1, cursor: None }).filter(|next| (next.source as usize) < import.parts()),
    }
}

/// How an error affects an import.
pub(super) enum Stop {
    /// Skip the source at `from`, because it does not exist on the platform.
    Skip {
        from: Position,
        reason: String,
    },
    Pause(Wait),
}

impl Stop {
    pub(super) fn of(
        error: &PlatformError,
        import: &ProviderImport,
        used: &Connection,
        position: Position,
        now: Timestamp,
    ) -> Self {
        let provider = import.provider;
        if error.rejection().is_some() {
            return Self::Pause(Wait {
                reason: format!("The import is paused because the connection \"{}\" cannot be used. {error}", used.name),
                failure: format!("\"{}\" was not reconnected within a week. {error}", used.name),
                // Reconnecting resumes the import. The worker also retries, because the platform itself may have caused the error.
                until: now.plus_ms(limits::PROVIDER_IMPORT_RETRY_MS_MAX),
                is_failure: false,
            });
        }
        match error {
            PlatformError::Missing if !import.is_of_changes(position.source) => {
                let source = import.sources.get(position.source as usize).map_or("", |source| source.name.as_str());
                let reason = format!(
                    "\"{source}\" does not exist in {provider}. The contacts that were already read from it were imported."
                );
                Self::Skip { from: position, reason }
            }
            PlatformError::Busy { until, .. } => Self::Pause(Wait {
                reason: format!("The import is paused because {provider} is down or is rate limiting this account."),
                failure: format!("For a week, {provider} was down or rate limited this account."),
                until: *until,
                is_failure: false,
            }),
            _ => {
                let doubled = limits::PROVIDER_IMPORT_RETRY_MS << import.failures.min(10);
                let reason = format!("{provider}: {error}");
                let until = now.plus_ms(doubled.min(limits::PROVIDER_IMPORT_RETRY_MS_MAX));
                Self::Pause(Wait { failure: reason.clone(), reason, until, is_failure: true })
            }
        }
    }

    /// Skips the source or pauses the import. Does not pause if the credentials of the connection were replaced during the step,
    /// because the import then continues with the new credentials.
    pub(super) fn apply(self, tx: &mut WriteTx<'_>, used: &Connection, id: JobId) -> StoreResult<()> {
        let current = store::find(tx, used.account, used.id)?;
        match self {
            Self::Skip { from, reason } => provider::skip_source(tx, id, &from, &reason),
            Self::Pause(wait) if current.is_some_and(|current| current.sealed_key == used.sealed_key) => {
                provider::pause(tx, id, wait)
            }
            Self::Pause(_) => Ok(()),
        }
    }
}
