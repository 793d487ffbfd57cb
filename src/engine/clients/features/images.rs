//! Determines the type of an image from the extension of its URL or the media type of a `data:` URL.

/// Returns the type of the image at a URL, such as `png` or `jpg`.
pub fn kind(url: &str) -> Option<&'static str> {
    let url = url.trim();
    if let Some(data) = strip_prefix(url, "data:") {
        let media_type = data.split([';', ',']).next()?;
        return of_media_type(media_type);
    }
    let path = url.split(['?', '#']).next()?;
    let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
    let known = [
        ("png", "png"),
        ("jpg", "jpg"),
        ("jpeg", "jpg"),
        ("jfif", "jpg"),
        ("gif", "gif"),
        ("webp", "webp"),
        ("avif", "avif"),
        ("svg", "svg"),
        ("bmp", "bmp"),
        ("ico", "ico"),
        ("tif", "tiff"),
        ("tiff", "tiff"),
        ("apng", "apng"),
        ("heif", "heif"),
        ("heic", "heif"),
        ("hdr", "hdr"),
        ("mp4", "mp4"),
        ("m4v", "mp4"),
    ];
    known.iter().find(|(name, _)| extension.eq_ignore_ascii_case(name)).map(|(_, kind)| *kind)
}

/// Returns the type of an image with a media type such as `image/svg+xml`.
pub fn of_media_type(media_type: &str) -> Option<&'static str> {
    let known = [
        ("image/png", "png"),
        ("image/jpeg", "jpg"),
        ("image/jpg", "jpg"),
        ("image/gif", "gif"),
        ("image/webp", "webp"),
        ("image/avif", "avif"),
        ("image/svg+xml", "svg"),
        ("image/bmp", "bmp"),
        ("image/x-icon", "ico"),
        ("image/vnd.microsoft.icon", "ico"),
        ("image/tiff", "tiff"),
        ("image/apng", "apng"),
        ("image/heif", "heif"),
        ("image/heic", "heif"),
        ("image/vnd.radiance", "hdr"),
        ("video/mp4", "mp4"),
    ];
    let media_type = media_type.split(';').next()?.trim();
    known.iter().find(|(name, _)| media_type.eq_ignore_ascii_case(name)).map(|(_, kind)| *kind)
}

/// Returns whether the URL is a `data:` URL that contains the image in Base64.
pub fn is_base64(url: &str) -> bool {
    let head = strip_prefix(url.trim(), "data:").and_then(|data| data.split(',').next());
    head.is_some_and(|head| head.to_ascii_lowercase().split(';').any(|word| word.trim() == "base64"))
}

fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let start = text.get(..prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then(|| text.get(prefix.len()..))?
}

/// Returns the URLs of a `srcset` attribute.
pub fn srcset(value: &str) -> impl Iterator<Item = &str> {
    value.split(", ").flat_map(|part| part.split_whitespace().next()).map(|url| url.trim_end_matches(','))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_counts_before_the_query() {
        assert_eq!(kind("https://example.com/a.webp?w=600&f=.png"), Some("webp"));
        assert_eq!(kind("a.JPEG#x"), Some("jpg"));
        assert_eq!(kind("https://example.com/image"), None);
        assert_eq!(kind("https://example.com"), None);
        assert_eq!(kind("DATA:image/svg+xml;base64,AA=="), Some("svg"));
        assert!(is_base64("data:image/png;base64,AA==") && !is_base64("data:image/svg+xml,<svg/>"));
        assert_eq!(srcset("a.png 1x, b.webp?x 2x").collect::<Vec<_>>(), ["a.png", "b.webp?x"]);
    }
}
