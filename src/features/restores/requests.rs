//! Handles the requests of users and the operator to start, show, preview, apply or discard a restore.

use std::sync::atomic::Ordering;

use super::model::{Order, Restore, RestoreMode, State};
use super::views::{BrandPreview, RestoreProgress, RestoreResult, RestoreView};
use super::{brands, store};
use crate::engine::api::response::WireTime;
use crate::engine::api::{Context, Engine, Failure, Spec};
use crate::engine::backup::{Error, restoring};
use crate::engine::store::WriteTx;
use crate::features::projects::{self, ProjectStatus};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, JobId, ProjectId};

/// The brand that a user chose, and how to bring it back.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    pub project: ProjectId,
    pub mode: RestoreMode,
    pub contacts: bool,
    pub deleted_contacts: bool,
}

/// Starts restoring a past state, and replaces any earlier restore. Fails if the backup has no such state, or while another restore is
/// being prepared or copied.
pub async fn start(
    context: &Context,
    spec: &'static Spec,
    (account, project): (Option<AccountId>, Option<ProjectId>),
    at: Option<WireTime>,
) -> Result<Restore, Failure> {
    let (engine, now) = (&context.engine, context.now());
    let Some(backup) = &engine.backup else {
        let detail = "There is no continuous backup. Set backup.url in the settings, then restart the service.";
        return Err(Failure::because(Code::WrongState, detail));
    };
    let is_at_given = at.is_some();
    let at = at.map_or(now, |at| at.0);
    if at > now {
        return Err(Failure::field("at", "the time is in the future; choose an earlier time"));
    }
    let sealed = backup.target().map_err(unavailable)?;
    restoring::plan(&sealed, Some(at)).await.map_err(|error| match error {
        Error::Nothing(reason) if is_at_given => Failure::field("at", reason),
        error => unavailable(error),
    })?;
    let restore = Restore {
        id: JobId::make(now, engine.random.as_ref()),
        account,
        project,
        at,
        is_exact: true,
        requested_at: now,
        state: State::Preparing,
        attempts: 0,
        order: None,
        ended_at: None,
    };
    let start = move |tx: &mut WriteTx<'_>| -> Result<Restore, Failure> {
        if let Some(Restore { state: State::Preparing | State::Copying, .. }) = store::restore(tx)? {
            let detail = "Another restore is in progress. Wait until its status is ready, completed or failed.";
            return Err(
                Failure::because(Code::WrongState, detail).see("restores.get", "GET /v1/system/restores returns the restore")
            );
        }
        store::save(tx, &restore);
        Ok(restore)
    };
    context.write(spec, start).await
}

fn unavailable(error: Error) -> Failure {
    Failure::because(Code::WrongState, Failure::because(Code::WrongState, error.to_string()).sentence())
}

/// Returns the newest restore if the caller may see it. An account sees its own restores and the operator's; the operator (`account` is
/// `None`) sees all.
fn current(context: &Context, account: Option<AccountId>) -> Result<Option<Restore>, Failure> {
    let found = store::restore(&context.engine.control.read())?;
    Ok(found.filter(|found| account.is_none() || found.account.is_none() || found.account == account))
}

/// Records which brand to bring back, and how. The worker then copies the brand from the restored state.
pub async fn apply(
    context: &Context,
    spec: &'static Spec,
    account: Option<AccountId>,
    choice: Choice,
) -> Result<Restore, Failure> {
    let engine = &context.engine;
    let (restore, found) = ready(context, account, choice.project)?;
    let Choice { project, mode, contacts, deleted_contacts } = choice;
    let order = Order { account: found.account, environment: found.environment, project, mode, contacts, deleted_contacts };
    let now = engine.data(found.environment).store.read();
    let known = projects::find(&now, found.account, order.target(restore.id))?;
    if known.as_ref().is_some_and(|known| matches!(known.status, ProjectStatus::Pending | ProjectStatus::Processing)) {
        return Err(Failure::because(Code::WrongState, "The brand is being imported. Wait until the import ends."));
    }
    if known.is_none() {
        let remedy = match mode {
            RestoreMode::Copy => "Delete a brand first, or restore into the existing brand with the mode `missing` or `replace`.",
            RestoreMode::Missing | RestoreMode::Replace => "Delete a brand first.",
        };
        projects::require_room(&now, found.account, remedy)?;
    }
    drop(now);
    let apply = move |tx: &mut WriteTx<'_>| -> Result<Restore, Failure> {
        let current = store::restore(tx)?.filter(|current| current.id == restore.id);
        let Some(current @ Restore { state: State::Ready { .. }, .. }) = current else { return Err(not_ready()) };
        let copying = Restore { order: Some(order), state: State::Copying, attempts: 0, ..current };
        store::save(tx, &copying);
        Ok(copying)
    };
    context.write(spec, apply).await
}

/// Returns the restore and the brand, if the restore is ready and the restored state contains the brand.
fn ready(context: &Context, account: Option<AccountId>, project: ProjectId) -> Result<(Restore, brands::BackupBrand), Failure> {
    let restore = current(context, account)?.filter(|restore| matches!(restore.state, State::Ready { .. }));
    let (Some(restore), Some(copy)) = (restore, context.engine.restored.copy()) else { return Err(not_ready()) };
    let found = brands::find(&copy, account, project)?.ok_or_else(|| {
        let detail = format!(
            "At {}, there was no brand with this ID that you can restore. Check the ID, or choose another time.",
            copy.until
        );
        Failure::because(Code::NotFound, detail).in_field("projectId")
    })?;
    Ok((restore, found))
}

/// Compares a brand in the restored state with the current brand.
pub async fn preview(context: Context, account: Option<AccountId>, project: ProjectId) -> Result<BrandPreview, Failure> {
    let comparing = tokio::task::spawn_blocking(move || {
        let (_, found) = ready(&context, account, project)?;
        let copy = context.engine.restored.copy().ok_or_else(not_ready)?;
        brands::preview(&context.engine, &copy, found)
    });
    comparing.await.map_err(Failure::internal)?
}

fn not_ready() -> Failure {
    let detail = "No restore has the status ready. Wait until a restore in progress is ready, or start a restore.";
    Failure::because(Code::WrongState, detail).see("restores.get", "GET /v1/system/restores returns the status")
}

/// Returns the view of a restore, for a member of an account or for the operator.
pub fn view(engine: &Engine, account: Option<AccountId>, restore: Restore) -> Result<RestoreView, Failure> {
    let status = restore.state.word();
    let error = if let State::Failed(reason) = &restore.state { Some(reason.clone()) } else { None };
    let copy = engine.restored.copy().filter(|_| status == "ready");
    let brands = match (copy, account) {
        (Some(copy), Some(account)) => brands::list(engine, &copy, account)?,
        _ => Vec::new(),
    };
    let result = restore.order.map(|order| {
        let progress = store::progress(&engine.data(order.environment).store.read(), restore.id)?;
        Ok::<_, Failure>(RestoreResult {
            mode: order.mode,
            project_id: order.project,
            target_project_id: order.target(restore.id),
            environment: order.environment.word(),
            restored: progress.counts,
            contacts_left_deleted: progress.deleted,
            contacts_left_erased: progress.erased,
            skipped: progress.skipped,
        })
    });
    let progress = (status == "preparing").then(|| {
        let progress = engine.restored.progress();
        RestoreProgress { done: progress.done.load(Ordering::Relaxed), total: progress.total.load(Ordering::Relaxed) }
    });
    Ok(RestoreView {
        id: restore.id,
        status,
        at: WireTime(restore.at),
        exact: restore.is_exact,
        requested_at: WireTime(restore.requested_at),
        ended_at: restore.ended_at.map(WireTime),
        error,
        progress,
        brands,
        result: result.transpose()?,
    })
}

/// Returns the view of the newest restore. If the restore is ready, the view lists the account's brands to choose from.
pub fn shown(context: &Context, account: Option<AccountId>) -> Result<Option<RestoreView>, Failure> {
    current(context, account)?.map(|restore| view(&context.engine, account, restore)).transpose()
}

/// Discards the newest restore. Fails while the restore copies a brand.
pub async fn discard(context: &Context, spec: &'static Spec, account: Option<AccountId>) -> Result<(), Failure> {
    let Some(Restore { id, .. }) = current(context, account)? else { return Ok(()) };
    let discard = move |tx: &mut WriteTx<'_>| -> Result<(), Failure> {
        match store::restore(tx)? {
            Some(Restore { state: State::Copying, .. }) => {
                Err(Failure::because(Code::WrongState, "The brand is being copied. Wait until the restore ends."))
            }
            Some(current) if current.id == id => {
                store::delete(tx);
                Ok(())
            }
            _ => Ok(()),
        }
    };
    context.write(spec, discard).await
}
