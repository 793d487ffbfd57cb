//! The operations on the installation's data as a whole, one file per operation.

pub mod hold;
pub mod release;
pub mod resume;

use crate::engine::api::{Context, Failure};
use crate::engine::hold::clear;
use crate::engine::store::WriteTx;
use crate::features::accounts;
use crate::features::installation::held_work::{self, SendingHold};
use crate::vocab::ids::AccountId;

/// Returns the caller's account if it is the account that owns the installation. Otherwise, returns an error.
fn own_account(context: &Context) -> Result<AccountId, Failure> {
    let account = context.caller.account();
    accounts::require_installations(&context.engine.control.read(), account)?;
    Ok(account)
}

/// Returns whether sending is on hold, and the waiting work.
async fn hold_view(context: &Context, account: Option<AccountId>) -> Result<SendingHold, Failure> {
    let engine = context.engine.clone();
    let reading = tokio::task::spawn_blocking(move || held_work::view(&engine, account));
    Ok(reading.await.map_err(Failure::internal)??)
}

/// Resumes sending and returns the work that was waiting.
async fn resume(
    context: &Context,
    account: Option<AccountId>,
    spec: &'static crate::engine::api::Spec,
) -> Result<SendingHold, Failure> {
    let waited = hold_view(context, account).await?;
    if waited.on_hold {
        let clear = |tx: &mut WriteTx<'_>| -> Result<(), Failure> {
            clear(tx);
            Ok(())
        };
        context.write(spec, clear).await?;
        context.engine.hold.release();
        tracing::warn!(notice = waited.notice.as_deref(), "sending has been resumed");
    }
    Ok(SendingHold { on_hold: false, ..waited })
}
