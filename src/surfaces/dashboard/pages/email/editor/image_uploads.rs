//! The upload and cropping of images in the editor's forms, which work without scripts.

use data_encoding::BASE64;
use http::StatusCode;
use serde_json::{Value, json};
use url::Url;

use super::fields::BlockKind;
use super::{Picture, picture, sent_field};
use crate::features::projects::image_file;
use crate::features::projects::ops::images_upload::ImagesUpload;
use crate::surfaces::dashboard::visit::{PageError, Visit};
use crate::vocab::ids::ProjectId;

/// TABLE: the shapes that images can be cropped to, as aspect ratios.
pub const SHAPES: &[(&str, &str)] =
    &[("", "Original"), ("2:1", "Wide (2:1)"), ("3:2", "Landscape (3:2)"), ("1:1", "Square"), ("3:4", "Portrait (3:4)")];

/// TABLE: the focus points of cropped images, in percent from the left and from the top.
pub const FOCUS_POINTS: &[(&str, &str)] = &[
    ("50:50", "Center"),
    ("0:0", "Top left"),
    ("50:0", "Top"),
    ("100:0", "Top right"),
    ("0:50", "Left"),
    ("100:50", "Right"),
    ("0:100", "Bottom left"),
    ("50:100", "Bottom"),
    ("100:100", "Bottom right"),
];

/// Returns a block with the values of the form. Uploaded and cropped images are added to the brand and used in the block.
pub(super) async fn with_uploads(visit: &Visit, brand: ProjectId, kind: &BlockKind, block: &Value) -> Result<Value, PageError> {
    let mut made: Vec<(String, Picture)> = Vec::new();
    for name in kind.images() {
        if let Some(picture) = uploaded(visit, brand, &name).await? {
            made.push((name, picture));
        }
    }
    let url = |path: &str| made.iter().find(|(name, _)| name == path).map(|(_, picture)| picture.url.clone());
    let mut block = kind.read(block, |path| url(path).or_else(|| sent_field(visit, path)));
    made.iter().for_each(|(_, picture)| set_size(&mut block, picture));
    Ok(block)
}

/// Returns the new image for a field: the uploaded file or, if a shape is chosen, the current image cropped to that shape. Returns `None`
/// if the image does not change.
async fn uploaded(visit: &Visit, brand: ProjectId, name: &str) -> Result<Option<Picture>, PageError> {
    let form = &visit.form;
    let crop = crop(form.get(&format!("shape.{name}")), form.get(&format!("focus.{name}")));
    let file = form.file(&format!("file.{name}")).filter(|file| !file.bytes.is_empty());
    let about = name.strip_suffix("src").and_then(|path| form.some(&format!("f.{path}alt")));
    if let Some(file) = file {
        return keep(visit, brand, &file.bytes, about, crop).await.map(Some);
    }
    let Some(crop) = crop else { return Ok(None) };
    let unknown = || {
        let message =
            "The image can't be cropped, because it couldn't be loaded. Upload the image, or choose the shape “Original”.";
        PageError::plain(StatusCode::CONFLICT, message)
    };
    let current: Url = form.get(&format!("f.{name}")).parse().map_err(|_| unknown())?;
    let bytes = image_file(&visit.api.0, &current).await.ok_or_else(unknown)?;
    keep(visit, brand, &bytes, about, Some(crop)).await.map(Some)
}

/// Returns the part of an image to keep, as the upload operation accepts it; `None` for the original shape.
fn crop(shape: &str, focus: &str) -> Option<Value> {
    let (width, height) = shape.split_once(':')?;
    let (x, y) = focus.split_once(':').unwrap_or(("50", "50"));
    let number = |text: &str| text.parse::<u32>().ok();
    Some(json!({ "width": number(width)?, "height": number(height)?, "x": number(x), "y": number(y) }))
}

/// Adds an image to the brand, cropped if `crop` is set.
pub(super) async fn keep(
    visit: &Visit,
    brand: ProjectId,
    file: &[u8],
    about: Option<&str>,
    crop: Option<Value>,
) -> Result<Picture, PageError> {
    let input = json!({ "projectId": brand, "file": BASE64.encode(file), "description": about, "crop": crop });
    let made = visit.ask::<ImagesUpload>(input).await?;
    Ok(picture(visit, brand, made.0))
}

/// Sets the width and height of an image wherever a block contains this image.
fn set_size(json: &mut Value, picture: &Picture) {
    match json {
        Value::Object(fields) => {
            if fields.get("src").is_some_and(|src| *src == picture.url) {
                for (side, size) in [("width", picture.width), ("height", picture.height)] {
                    fields.extend(size.map(|size| (side.to_owned(), json!(size))));
                }
            }
            fields.values_mut().for_each(|value| set_size(value, picture));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| set_size(item, picture)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_and_focus_point_is_a_part_of_an_image() {
        for (shape, _) in SHAPES.iter().filter(|(shape, _)| !shape.is_empty()) {
            for (focus, _) in FOCUS_POINTS {
                let crop = crop(shape, focus).expect("the shape is a ratio");
                assert!(["width", "height", "x", "y"].iter().all(|name| crop[name].is_u64()), "{crop}");
            }
        }
        assert_eq!(crop("", "0:0"), None);
        assert_eq!(crop("1:1", "").map(|crop| crop["x"].clone()), Some(json!(50)));
    }
}
