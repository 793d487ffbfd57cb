//! The steps of an import from a store. Each step ends with one transaction that stores its result and the next step, so an import
//! continues after a crash, and a repeated step has no further effect.

use super::customers;
use super::install;
use super::keys;
use super::model::{CustomerImport, Store, Sync, SyncStage};
use super::platform::{self, Hooks, Paged, ReadCustomer};
use super::store::{self, StoreKey};
use super::{privacy, views};
use crate::base::clock::Timestamp;
use crate::engine::api::{Engine, Failure};
use crate::engine::store::WriteTx;
use crate::features::connections::PlatformError;
use crate::features::contact_records::email_index;
use crate::features::projects::shop_products::{self, StoreProduct};
use crate::vocab::environment::Environment;
use crate::vocab::limits;
use crate::vocab::storefronts::StoreTool;

enum SyncResult {
    /// The result of subscribing to the store's webhooks: the store's reason if it refused some or all of them, otherwise `None`.
    Webhooks(Option<String>),
    Products(Paged<StoreProduct>),
    Customers(Paged<ReadCustomer>),
    /// The keys or the store's settings exclude the data that this stage imports, so nothing was requested.
    Complete,
}

pub async fn step(engine: &Engine, environment: Environment, key: StoreKey) -> Result<(), Failure> {
    let data = engine.data(environment);
    let (found, sync) = {
        let tx = data.store.read();
        (store::find(&tx, key.0, key.1)?, store::sync(&tx, key)?)
    };
    let (Some(mut of), Some(sync)) = (found, sync) else { return Ok(()) };
    let stage = sync.stage.clone();
    let log =
        |decision: &str| tracing::debug!(store = %key.1, %environment, stage = stage.word(), decision, "import from a store");
    match &stage {
        SyncStage::Erasing => {
            log("erased");
            return data.store.write(move |tx| erase(tx, key)).await?;
        }
        SyncStage::Disconnected => {
            log("deleted");
            return data.store.write(move |tx| forget(tx, key)).await?;
        }
        SyncStage::Idle => {
            log("started");
            return data.store.write(move |tx| begin(tx, key)).await?;
        }
        SyncStage::Customers(_) if email_index::is_full(&data.store.read(), of.project)? => {
            log("delayed");
            return data.store.write(move |tx| delay(tx, key, limits::STORE_EXPORT_POLL_MS)).await?;
        }
        SyncStage::Webhooks | SyncStage::Products(_) | SyncStage::Customers(_) => {}
    }
    let outcome = match &of.rejected {
        Some(reason) => Err(PlatformError::Rejected(reason.clone())),
        None => run_renewed(engine, environment, &mut of, &stage).await,
    };
    // Error messages come from the store and may contain its customers' data, so log only the kind of error.
    log(match &outcome {
        Ok(SyncResult::Products(Paged::Wait(_)) | SyncResult::Customers(Paged::Wait(_))) => "waits",
        Ok(SyncResult::Complete) => "omitted",
        Ok(_) => "read",
        Err(PlatformError::Busy { .. }) => "rate limited",
        Err(PlatformError::Rejected(_) | PlatformError::KeyLost) => "rejected",
        Err(_) => "failed",
    });
    match outcome {
        Ok(outcome) => data.store.write(move |tx| advance(tx, &of, &stage, outcome)).await?,
        Err(error) => data.store.write(move |tx| fail(tx, &of, &stage, &error)).await?,
    }
}

/// Sends the requests of a step. Sends them again if the shop revoked the access token of an installed app before its expiry.
async fn run_renewed(
    engine: &Engine,
    environment: Environment,
    of: &mut Store,
    stage: &SyncStage,
) -> Result<SyncResult, PlatformError> {
    let ended = run(engine, environment, of, stage).await;
    let is_rejected = matches!(ended, Err(PlatformError::Rejected(_)));
    if is_rejected && install::refresh_rejected(engine, environment, of).await? {
        return run(engine, environment, of, stage).await;
    }
    ended
}

/// Sends the requests of a step once, without a retry.
async fn run(engine: &Engine, environment: Environment, of: &mut Store, stage: &SyncStage) -> Result<SyncResult, PlatformError> {
    let client = install::client(engine, environment, of).await?;
    match stage {
        SyncStage::Webhooks => {
            let keys = keys::open(&engine.seal, of).ok_or(PlatformError::KeyLost)?;
            let url = views::webhook_url(engine, &keys.url_token);
            let hooks = Hooks { url: &url, secret: &keys.signing_secret, tools: &of.tools };
            match platform::subscribe(&client, &hooks).await {
                Ok(()) => Ok(SyncResult::Webhooks(None)),
                // Products and customers can be imported without webhooks.
                Err(PlatformError::Refused(said)) => {
                    tracing::warn!(store = %of.id, %environment, said, "a store refuses some or all webhooks");
                    Ok(SyncResult::Webhooks(Some(said)))
                }
                Err(error) => Err(error),
            }
        }
        SyncStage::Products(cursor) if of.tools.contains(&StoreTool::Products) => {
            platform::products(&client, cursor.as_deref()).await.map(SyncResult::Products)
        }
        SyncStage::Customers(cursor) if of.tools.contains(&StoreTool::Customers) && of.customers != CustomerImport::None => {
            platform::customers(&client, cursor.as_deref()).await.map(SyncResult::Customers)
        }
        SyncStage::Idle | SyncStage::Erasing | SyncStage::Disconnected | SyncStage::Products(_) | SyncStage::Customers(_) => {
            Ok(SyncResult::Complete)
        }
    }
}

/// Returns the progress of the import. Returns `None` if the import is no longer in `stage`, or if the store's keys were replaced.
fn current(tx: &WriteTx<'_>, of: &Store, stage: &SyncStage) -> Result<Option<Sync>, Failure> {
    let key = (of.account, of.id);
    let is_same = store::find(tx, of.account, of.id)?.is_some_and(|known| known.sealed_keys == of.sealed_keys);
    Ok(store::sync(tx, key)?.filter(|sync| is_same && sync.stage == *stage))
}

fn advance(tx: &mut WriteTx<'_>, of: &Store, stage: &SyncStage, outcome: SyncResult) -> Result<(), Failure> {
    let Some(mut sync) = current(tx, of, stage)? else { return Ok(()) };
    let (now, key) = (tx.now(), (of.account, of.id));
    (sync.failures, sync.waiting, sync.due_at) = (0, None, now);
    sync.stage = match outcome {
        SyncResult::Webhooks(off) => {
            sync.webhooks_off = off;
            SyncStage::Products(None)
        }
        SyncResult::Products(Paged::Wait(cursor)) => poll(&mut sync, now, cursor, SyncStage::Products),
        SyncResult::Customers(Paged::Wait(cursor)) => poll(&mut sync, now, cursor, SyncStage::Customers),
        SyncResult::Products(Paged::Items { items, next }) => {
            sync.left_out += shop_products::put(tx, of.project, of.id, items)?;
            match next {
                Some(next) => SyncStage::Products(Some(next)),
                None => {
                    shop_products::remove_unseen(tx, of.project, of.id, sync.started_at)?;
                    SyncStage::Customers(None)
                }
            }
        }
        SyncResult::Customers(Paged::Items { items, next }) => {
            let counts = customers::import(tx, of, items)?;
            sync.customers.imported += counts.imported;
            sync.customers.excluded += counts.excluded;
            sync.customers.failed += counts.failed;
            match next {
                Some(next) => SyncStage::Customers(Some(next)),
                None => SyncStage::Idle,
            }
        }
        SyncResult::Complete if matches!(stage, SyncStage::Products(_)) => SyncStage::Customers(None),
        SyncResult::Complete => SyncStage::Idle,
    };
    if sync.stage == SyncStage::Idle {
        sync.complete(now);
    }
    Ok(store::save_sync(tx, key, &sync)?)
}

/// Schedules the next poll of an export, or restarts an export that takes too long.
fn poll(sync: &mut Sync, now: Timestamp, cursor: String, stage: fn(Option<String>) -> SyncStage) -> SyncStage {
    sync.due_at = now.plus_ms(limits::STORE_EXPORT_POLL_MS);
    let is_late = now.ms_since(sync.started_at) > limits::STORE_EXPORT_MS_MAX;
    if is_late {
        sync.started_at = now;
    }
    stage((!is_late).then_some(cursor))
}

fn fail(tx: &mut WriteTx<'_>, of: &Store, stage: &SyncStage, error: &PlatformError) -> Result<(), Failure> {
    let Some(mut sync) = current(tx, of, stage)? else { return Ok(()) };
    let now = tx.now();
    if let (PlatformError::Forbidden(said), SyncStage::Customers(_)) = (error, stage) {
        return end_without_customers(tx, of, sync, said);
    }
    if let Some(reason) = error.rejection() {
        store::reject(tx, of, &reason)?;
    }
    let doubled = limits::PROVIDER_IMPORT_RETRY_MS << sync.failures.min(10);
    let (pause, said) = match error {
        PlatformError::Rejected(_) | PlatformError::Forbidden(_) | PlatformError::KeyLost => {
            (limits::STORE_SYNC_PERIOD_MS, format!("The saved keys for {} no longer work. Connect the store again.", of.platform))
        }
        PlatformError::Busy { ms, .. } => {
            let said = format!(
                "{} is unavailable or limits the requests from Mailmill. Mailmill tries again automatically.",
                of.platform
            );
            (i64::try_from(*ms).unwrap_or(limits::PROVIDER_PAUSE_MS_MAX), said)
        }
        error => (doubled.min(limits::PROVIDER_IMPORT_RETRY_MS_MAX), format!("{}: {error}", of.platform)),
    };
    if !matches!(error, PlatformError::Busy { .. }) {
        sync.failures += 1;
    }
    // The export no longer exists, so start a new one.
    if *error == PlatformError::Missing {
        sync.stage = match stage {
            SyncStage::Products(Some(_)) => SyncStage::Products(None),
            SyncStage::Customers(Some(_)) => SyncStage::Customers(None),
            other => other.clone(),
        };
    }
    (sync.due_at, sync.waiting) = (now.plus_ms(pause), Some(said));
    Ok(store::save_sync(tx, (of.account, of.id), &sync)?)
}

/// Turns off the import of customers and ends the import, because the platform denies access to customers. Shopify can deny access even if
/// the app has the scope. The keys still work for products.
fn end_without_customers(tx: &mut WriteTx<'_>, of: &Store, mut sync: Sync, said: &str) -> Result<(), Failure> {
    if let Some(mut stored) = store::find(tx, of.account, of.id)? {
        stored.tools.retain(|tool| *tool != StoreTool::Customers);
        store::save(tx, &stored);
    }
    sync.complete(tx.now());
    sync.waiting = Some(format!("{} denies access to the customers ({said}), so they are not imported.", of.platform));
    Ok(store::save_sync(tx, (of.account, of.id), &sync)?)
}

/// Starts the import if it is due.
fn begin(tx: &mut WriteTx<'_>, key: StoreKey) -> Result<(), Failure> {
    let Some(mut sync) = store::sync(tx, key)? else { return Ok(()) };
    let now = tx.now();
    if sync.stage == SyncStage::Idle && sync.due_at <= now {
        sync.start(now);
        store::save_sync(tx, key, &sync)?;
    }
    Ok(())
}

fn delay(tx: &mut WriteTx<'_>, key: StoreKey, ms: i64) -> Result<(), Failure> {
    let Some(mut sync) = store::sync(tx, key)? else { return Ok(()) };
    sync.due_at = tx.now().plus_ms(ms);
    Ok(store::save_sync(tx, key, &sync)?)
}

/// Erases a limited number of the contacts that a deleted store added. If no more remain, deletes the store itself.
fn erase(tx: &mut WriteTx<'_>, key: StoreKey) -> Result<(), Failure> {
    let Some(of) = store::find(tx, key.0, key.1)? else { return Ok(()) };
    if !privacy::erase_some(tx, &of)? {
        store::delete(tx, key)?;
    }
    Ok(())
}

/// Deletes a disconnected store if the time for its platform to request the erasure of the store's data has passed. Does nothing if the
/// store has been connected again.
fn forget(tx: &mut WriteTx<'_>, key: StoreKey) -> Result<(), Failure> {
    let is_over = |sync: Sync| sync.stage == SyncStage::Disconnected && sync.due_at <= tx.now();
    if store::sync(tx, key)?.is_some_and(is_over) {
        store::delete(tx, key)?;
    }
    Ok(())
}

/// Delays a store's import after an internal error.
pub fn postpone(tx: &mut WriteTx<'_>, key: StoreKey) -> Result<(), Failure> {
    let Some(mut sync) = store::sync(tx, key)? else { return Ok(()) };
    sync.due_at = tx.now().plus_ms(limits::PROVIDER_IMPORT_RETRY_MS_MAX);
    sync.waiting = Some("An error occurred in Mailmill. The import resumes automatically.".to_owned());
    Ok(store::save_sync(tx, key, &sync)?)
}
