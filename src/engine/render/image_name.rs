//! Names an email's images in messages to users.

/// The maximum length of a format name. If the URL of an embedded image is malformed, all its data could be read as the name.
const FORMAT_CHARACTERS_MAX: usize = 10;

/// Returns the words that name an image after "The" in a sentence: "image" with the image's URL, or "embedded PNG image". The URL is given
/// without its query, because a query can contain a token.
pub fn image_name(source: &str) -> String {
    let source = source.trim();
    match source.split_at_checked("data:".len()) {
        Some((scheme, data)) if scheme.eq_ignore_ascii_case("data:") => {
            let media_type = data.split([';', ',']).next().unwrap_or_default();
            let format = media_type.split_once('/').map_or("", |(_, format)| format);
            // The format name ends before a suffix such as "+xml": "image/svg+xml" is SVG.
            let format: String = format.chars().take_while(char::is_ascii_alphanumeric).take(FORMAT_CHARACTERS_MAX).collect();
            if format.is_empty() { "embedded image".into() } else { format!("embedded {} image", format.to_ascii_uppercase()) }
        }
        _ => format!("image {}", source.split(['?', '#']).next().unwrap_or_default()).trim_end().to_owned(),
    }
}

/// Returns whether an image is embedded in the HTML as a data URL.
pub fn is_embedded(source: &str) -> bool {
    image_name(source).starts_with("embedded")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_images_without_their_data_and_tokens() {
        for (source, name) in [
            ("data:image/png;base64,iVBORw0KGgo", "embedded PNG image"),
            (" DATA:image/svg+xml,%3Csvg", "embedded SVG image"),
            ("data:,x", "embedded image"),
            ("https://shop.example/a.png?token=s3cret#top", "image https://shop.example/a.png"),
            ("", "image"),
        ] {
            assert_eq!(image_name(source), name, "{source}");
        }
    }
}
