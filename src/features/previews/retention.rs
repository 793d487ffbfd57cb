//! Deletes old previews: after a week, or earlier if an account has too many previews or their files take too much space.

use super::{lifecycle, store};
use crate::engine::store::{Result, WriteTx};
use crate::vocab::ids::AccountId;
use crate::vocab::limits;

/// Deletes the oldest finished previews of an account, so that a new preview fits within the limits.
pub fn make_space(tx: &mut WriteTx<'_>, account: AccountId) -> Result<()> {
    let previews = store::previews(tx, account)?;
    let mut count = previews.len();
    let mut bytes: u64 = previews.iter().map(|preview| preview.bytes).sum();
    for preview in previews.iter().filter(|preview| preview.finished_at.is_some()) {
        if count < limits::EMAIL_PREVIEWS_KEPT_MAX && bytes <= limits::EMAIL_PREVIEW_BYTES_MAX {
            break;
        }
        lifecycle::delete(tx, account, preview)?;
        count -= 1;
        bytes -= preview.bytes;
    }
    Ok(())
}

/// Deletes some of the expired previews. Returns whether there may be more expired previews.
pub fn sweep(tx: &mut WriteTx<'_>) -> Result<bool> {
    let oldest = store::oldest(tx, limits::EMAIL_PREVIEWS_SWEPT)?;
    let mut swept = 0;
    for (id, account) in oldest {
        match store::preview(tx, account, id)? {
            Some(preview) if preview.expires_at > tx.now() => return Ok(false),
            Some(preview) => lifecycle::delete(tx, account, &preview)?,
            None => store::delete(tx, account, id),
        }
        swept += 1;
    }
    Ok(swept == limits::EMAIL_PREVIEWS_SWEPT)
}
