//! The tables of previews, and all access to them.

use serde::{Deserialize, Serialize};

use super::model::{ContentDigest, Drawing, Preview};
use crate::engine::store::{Order, Read, Record, Result, RowCheck, Span, Table, WriteTx};
use crate::vocab::ids::{AccountId, DrawingId, PreviewId};
use crate::vocab::{limits, tables};

const PREVIEWS: Table<(AccountId, PreviewId), Preview> = Table::new(tables::PREVIEWS);
const BY_TIME: Table<(PreviewId, AccountId), ()> = Table::new(tables::PREVIEWS_BY_TIME);
const QUEUE: Table<(PreviewId, AccountId), ()> = Table::new(tables::PREVIEW_QUEUE);
const DRAWINGS: Table<(AccountId, DrawingId), Drawing> = Table::new(tables::PREVIEW_DRAWINGS);
const DIGESTS: Table<(AccountId, ContentDigest), Shared> = Table::new(tables::PREVIEW_DIGESTS);

/// The checks that decode every row of these tables.
pub const ROW_CHECKS: &[RowCheck] =
    &[RowCheck::of(PREVIEWS), RowCheck::of(BY_TIME), RowCheck::of(QUEUE), RowCheck::of(DRAWINGS), RowCheck::of(DIGESTS)];

/// The rendering that previews of the same content share.
#[derive(Serialize, Deserialize)]
struct Shared(DrawingId);

impl Record for Shared {}

pub fn preview(tx: &impl Read, account: AccountId, id: PreviewId) -> Result<Option<Preview>> {
    tx.get(PREVIEWS, &(account, id))
}

/// Returns the previews of an account, oldest first.
pub fn previews(tx: &impl Read, account: AccountId) -> Result<Vec<Preview>> {
    let rows = tx.list(PREVIEWS, &PREVIEWS.under(&(account,)), Order::Forward, limits::EMAIL_PREVIEWS_KEPT_MAX + 1)?;
    Ok(rows.into_iter().map(|(_, preview)| preview).collect())
}

/// Stores a new preview. If it is not finished, also adds it to the queue.
pub fn open(tx: &mut WriteTx<'_>, account: AccountId, preview: &Preview) {
    tx.put(BY_TIME, &(preview.id, account), &());
    if preview.finished_at.is_none() {
        tx.put(QUEUE, &(preview.id, account), &());
    }
    save(tx, account, preview);
}

pub fn save(tx: &mut WriteTx<'_>, account: AccountId, preview: &Preview) {
    tx.put(PREVIEWS, &(account, preview.id), preview);
}

/// Removes a preview from the queue.
pub fn close(tx: &mut WriteTx<'_>, account: AccountId, id: PreviewId) {
    tx.delete(QUEUE, &(id, account));
}

/// Deletes a preview, without its renderings.
pub fn delete(tx: &mut WriteTx<'_>, account: AccountId, id: PreviewId) {
    close(tx, account, id);
    tx.delete(BY_TIME, &(id, account));
    tx.delete(PREVIEWS, &(account, id));
}

/// Returns the queued previews, oldest first, up to the maximum length of the queue.
pub fn queued(tx: &impl Read) -> Result<Vec<(PreviewId, AccountId)>> {
    Ok(tx
        .list(QUEUE, &Span::default(), Order::Forward, limits::EMAIL_PREVIEWS_WAITING_MAX)?
        .into_iter()
        .map(|(key, ())| key)
        .collect())
}

/// Returns the oldest previews of all accounts.
pub fn oldest(tx: &impl Read, limit: usize) -> Result<Vec<(PreviewId, AccountId)>> {
    Ok(tx.list(BY_TIME, &Span::default(), Order::Forward, limit)?.into_iter().map(|(key, ())| key).collect())
}

pub fn drawing(tx: &impl Read, account: AccountId, id: DrawingId) -> Result<Option<Drawing>> {
    tx.get(DRAWINGS, &(account, id))
}

pub fn save_drawing(tx: &mut WriteTx<'_>, account: AccountId, id: DrawingId, drawing: &Drawing) {
    tx.put(DRAWINGS, &(account, id), drawing);
}

pub fn delete_drawing(tx: &mut WriteTx<'_>, account: AccountId, id: DrawingId) {
    tx.delete(DRAWINGS, &(account, id));
}

/// Returns the rendering that previews of this content share, if any.
pub fn shared(tx: &impl Read, account: AccountId, digest: &ContentDigest) -> Result<Option<DrawingId>> {
    Ok(tx.get(DIGESTS, &(account, *digest))?.map(|Shared(id)| id))
}

/// Makes later previews of this content use this rendering.
pub fn share(tx: &mut WriteTx<'_>, account: AccountId, digest: &ContentDigest, id: DrawingId) {
    tx.put(DIGESTS, &(account, *digest), &Shared(id));
}

/// Keeps later previews of this content from using this rendering. They use a new rendering instead.
pub fn unshare(tx: &mut WriteTx<'_>, account: AccountId, digest: &ContentDigest, id: DrawingId) -> Result<()> {
    if shared(tx, account, digest)? == Some(id) {
        tx.delete(DIGESTS, &(account, *digest));
    }
    Ok(())
}
