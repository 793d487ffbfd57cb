//! Assigns renderings to previews, stores the results of renderings, and deletes unused renderings.

use super::model::{ContentDigest, Drawing, DrawingState, DrawnWith, Picture, Preview, PreviewDevice, Source, digest};
use super::store;
use crate::engine::clients::devices::Device;
use crate::engine::store::blobs::{self, Head};
use crate::engine::store::{Result, WriteTx};
use crate::vocab::ids::{AccountId, BlobId, DrawingId, PreviewId};
use crate::vocab::limits;

/// Assigns a rendering to each device of a new preview: the rendering of an earlier preview of the same content, or a new one.
pub fn assign(
    tx: &mut WriteTx<'_>,
    account: AccountId,
    mut preview: Preview,
    content: &Source,
    devices: &[&Device],
    with: DrawnWith,
) -> Result<Preview> {
    let mut is_finished = true;
    for device in devices {
        let digest = digest(&content.html, content.text.as_deref(), device, with);
        let (drawing, cached) = match usable(tx, account, &digest)? {
            Some((id, drawing)) => {
                let cached = !drawing.state.is_waiting();
                store::save_drawing(tx, account, id, &Drawing { uses: drawing.uses + 1, ..drawing });
                (id, cached)
            }
            None => {
                let id = DrawingId::make(tx.now(), tx.random());
                store::save_drawing(tx, account, id, &Drawing { digest, uses: 1, state: DrawingState::Waiting });
                store::share(tx, account, &digest, id);
                (id, false)
            }
        };
        is_finished &= cached;
        preview.devices.push(PreviewDevice { key: device.key.clone(), drawing, cached });
    }
    if is_finished {
        preview.finished_at = Some(tx.now());
    } else {
        let json = serde_json::to_vec(content).expect("strings can be written as JSON");
        preview.source = Some(blobs::put(tx, head("source.json", "application/json"), &json));
    }
    Ok(preview)
}

/// Returns the existing rendering that a new preview of this content can use, if any.
fn usable(tx: &WriteTx<'_>, account: AccountId, digest: &ContentDigest) -> Result<Option<(DrawingId, Drawing)>> {
    let Some(id) = store::shared(tx, account, digest)? else { return Ok(None) };
    let Some(drawing) = store::drawing(tx, account, id)? else { return Ok(None) };
    let is_usable = match &drawing.state {
        DrawingState::Waiting => true,
        DrawingState::Drawn(picture) => {
            picture.is_complete && tx.now().ms_since(picture.drawn_at) < limits::EMAIL_PREVIEW_SHARED_MS
        }
        DrawingState::Failed(_) => false,
    };
    Ok(is_usable.then_some((id, drawing)))
}

fn head(name: &str, content_type: &str) -> Head {
    Head { complete: true, bytes: 0, content_type: content_type.into(), name: name.into(), expires_at: None }
}

pub fn keep_file(tx: &mut WriteTx<'_>, name: &str, png: &[u8]) -> BlobId {
    blobs::put(tx, head(name, "image/png"), png)
}

/// Stores the result of a rendering, unless the rendering already has a result or was deleted.
pub fn finish(
    tx: &mut WriteTx<'_>,
    account: AccountId,
    preview: PreviewId,
    id: DrawingId,
    result: std::result::Result<impl FnOnce(&mut WriteTx<'_>) -> Picture, String>,
) -> Result<()> {
    let Some(drawing) = store::drawing(tx, account, id)?.filter(|drawing| drawing.state.is_waiting()) else { return Ok(()) };
    let state = match result {
        Ok(keep) => {
            let picture = keep(tx);
            if let Some(mut preview) = store::preview(tx, account, preview)? {
                preview.bytes += picture.bytes;
                store::save(tx, account, &preview);
            }
            DrawingState::Drawn(Box::new(picture))
        }
        Err(reason) => DrawingState::Failed(reason),
    };
    store::save_drawing(tx, account, id, &Drawing { state, ..drawing });
    Ok(())
}

/// Finishes a preview if none of its devices are waiting. Returns whether the preview is finished.
pub fn close_if_done(tx: &mut WriteTx<'_>, account: AccountId, id: PreviewId) -> Result<bool> {
    let Some(mut preview) = store::preview(tx, account, id)? else {
        store::close(tx, account, id);
        return Ok(true);
    };
    for device in &preview.devices {
        if store::drawing(tx, account, device.drawing)?.is_some_and(|drawing| drawing.state.is_waiting()) {
            return Ok(false);
        }
    }
    if let Some(source) = preview.source.take() {
        blobs::expire(tx, source, tx.now())?;
    }
    preview.finished_at = preview.finished_at.or(Some(tx.now()));
    store::save(tx, account, &preview);
    store::close(tx, account, id);
    Ok(true)
}

/// Deletes a preview and the renderings that only this preview uses.
pub fn delete(tx: &mut WriteTx<'_>, account: AccountId, preview: &Preview) -> Result<()> {
    for device in &preview.devices {
        let Some(mut drawing) = store::drawing(tx, account, device.drawing)? else { continue };
        drawing.uses = drawing.uses.saturating_sub(1);
        if drawing.uses > 0 {
            store::save_drawing(tx, account, device.drawing, &drawing);
            continue;
        }
        if let DrawingState::Drawn(picture) = &drawing.state {
            for file in [picture.screenshot, picture.thumbnail, picture.full_thumbnail] {
                blobs::expire(tx, file, tx.now())?;
            }
        }
        store::unshare(tx, account, &drawing.digest, device.drawing)?;
        store::delete_drawing(tx, account, device.drawing);
    }
    if let Some(source) = preview.source {
        blobs::expire(tx, source, tx.now())?;
    }
    store::delete(tx, account, preview.id);
    Ok(())
}
