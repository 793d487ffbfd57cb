//! Uploads the images of an email to a platform.
//!
//! An image that was uploaded to an account is not uploaded again. Images that cannot be read or that the platform refuses stay where they
//! are hosted.

use std::collections::BTreeMap;

use data_encoding::HEXLOWER;
use url::Url;

use super::{Image, PublishError, TemplatePort, hubspot, klaviyo, mailchimp, on_platform};
use crate::base::secret::sha256;
use crate::engine::api::EnvironmentData;
use crate::engine::store::{Error as StoreError, WriteTx};
use crate::features::connections::client::Client;
use crate::features::connections::error::PlatformError;
use crate::features::connections::model::Connection;
use crate::features::connections::store::exported as store;
use crate::features::projects;
use crate::vocab::limits;
use crate::vocab::providers::Provider;

/// The HTML after the upload: the uploaded images have URLs on the platform.
pub struct Uploaded {
    pub html: String,
    /// The URLs of the images that were not uploaded.
    pub left: Vec<String>,
}

/// Uploads the images in the HTML and replaces their URLs.
pub async fn upload(
    client: &Client<'_>,
    data: &EnvironmentData,
    used: &Connection,
    html: &str,
) -> Result<Uploaded, PublishError> {
    let mut addresses: Vec<String> = Vec::new();
    projects::each_image(html, |address| {
        if is_fixed(address) && !addresses.iter().any(|known| known == address) {
            addresses.push(address.to_owned());
        }
        None
    });
    let (mut moved, mut left) = (BTreeMap::new(), Vec::new());
    for (number, address) in addresses.into_iter().enumerate() {
        let placed = if number < limits::PROVIDER_EXPORT_IMAGES_MAX { place(client, data, used, &address).await? } else { None };
        match placed {
            Some(url) => drop(moved.insert(address, url.replace('&', "&amp;"))),
            None => left.push(address),
        }
    }
    Ok(Uploaded { html: projects::each_image(html, |address| moved.get(address).cloned()), left })
}

/// Returns whether the text is a web address that contains no merge field of any platform.
fn is_fixed(address: &str) -> bool {
    address.starts_with("http") && !["{{", "{%", "*|"].iter().any(|mark| address.contains(mark))
}

/// Returns the image's URL on the platform, and uploads the image if necessary; `None` if the image cannot be uploaded.
async fn place(
    client: &Client<'_>,
    data: &EnvironmentData,
    used: &Connection,
    address: &str,
) -> Result<Option<String>, PublishError> {
    let Ok(url) = Url::parse(address) else { return Ok(None) };
    let Some(bytes) = projects::picture_file(client.engine, &url).await else { return Ok(None) };
    let Some((extension, content_type)) = format(&bytes).filter(|_| bytes.len() <= limits::PROVIDER_EXPORT_IMAGE_BYTES_MAX)
    else {
        return Ok(None);
    };
    let content: [u8; 12] = sha256(&bytes)[..12].try_into().expect("a SHA-256 digest has at least 12 bytes");
    if let Some(known) = store::image(&data.store.read(), used, content)? {
        return Ok(Some(known));
    }
    let image = Image { name: format!("mailmill-{}.{extension}", HEXLOWER.encode(&content)), content_type, bytes: &bytes };
    match send(client, &image).await {
        Ok(url) => {
            let (used, stored) = (used.clone(), url.clone());
            let saving = move |tx: &mut WriteTx<'_>| -> Result<(), StoreError> {
                store::save_image(tx, &used, content, stored);
                Ok(())
            };
            data.store.write(saving).await??;
            Ok(Some(url))
        }
        Err(PlatformError::Refused(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the extension and the media type of an image; `None` if its format is not accepted by every platform.
fn format(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some(("png", "image/png")),
        [0xff, 0xd8, 0xff, ..] => Some(("jpg", "image/jpeg")),
        [b'G', b'I', b'F', b'8', ..] => Some(("gif", "image/gif")),
        _ => None,
    }
}

/// Uploads an image, unless an earlier request whose response was lost has already uploaded it.
async fn send(client: &Client<'_>, image: &Image<'_>) -> Result<String, PlatformError> {
    let mut attempt = 1;
    loop {
        if let Some(url) = on_platform!(client, find_image(image))? {
            return Ok(url);
        }
        match on_platform!(client, upload_image(image)) {
            Err(error) if error.is_uncertain() && attempt < limits::PROVIDER_ATTEMPTS_MAX => client.back_off(attempt).await,
            ended => return ended,
        }
        attempt += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_formats_that_every_platform_accepts_are_uploaded() {
        assert_eq!(format(b"\x89PNG\r\n").map(|(extension, _)| extension), Some("png"));
        assert_eq!(format(b"\xff\xd8\xff\xe0").map(|(extension, _)| extension), Some("jpg"));
        assert_eq!(format(b"GIF89a").map(|(extension, _)| extension), Some("gif"));
        assert_eq!((format(b"RIFF....WEBP"), format(b"<svg"), format(b"")), (None, None, None));
    }

    #[test]
    fn addresses_with_merge_fields_are_left_as_they_are() {
        assert!(is_fixed("https://a.example/b.png"));
        for address in ["https://a.example/{{ email }}", "https://a.example/*|EMAIL|*", "cid:logo", "data:image/png;base64,AA"] {
            assert!(!is_fixed(address), "{address}");
        }
    }
}
