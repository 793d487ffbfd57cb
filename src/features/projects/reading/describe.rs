//! Describes an image without a vision model, based on its alternative text, its file name, the text around it, its shape and its colors.

use super::shortened;
use crate::base::color;
use crate::engine::render::images::ImageMeasurements;
use crate::vocab::limits::{IMAGE_DESCRIPTION_CHARACTERS_MAX, IMAGE_TAG_CHARACTERS_MAX, IMAGE_TAGS_MAX};

/// An image with at most this many colors is described as a drawing or a plain area. An image with more colors is described as a picture.
const DRAWN_COLORS_MAX: usize = 40;
/// Words in file names that say nothing about the image.
const EMPTY_WORDS: [&str; 34] = [
    "img",
    "image",
    "images",
    "photo",
    "picture",
    "pic",
    "bild",
    "foto",
    "dsc",
    "screenshot",
    "scaled",
    "final",
    "copy",
    "new",
    "web",
    "large",
    "small",
    "medium",
    "thumb",
    "thumbnail",
    "default",
    "hero",
    "banner",
    "background",
    "the",
    "and",
    "for",
    "with",
    "und",
    "mit",
    "der",
    "die",
    "das",
    "von",
];

/// The text about an image: its URL, its alternative text, and the text around it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Words<'a> {
    pub url: &'a str,
    pub alt: Option<&'a str>,
    pub context: Option<&'a str>,
}

/// Returns the image's alternative text or, if there is none, a description based on the text around the image or its file name, and on its
/// kind, size and colors.
pub fn description(words: Words<'_>, measured: &ImageMeasurements) -> String {
    if let Some(alt) = words.alt {
        return shortened(alt, IMAGE_DESCRIPTION_CHARACTERS_MAX);
    }
    let name = file_words(words.url);
    let subject = match (words.context, name.is_empty()) {
        (Some(context), _) => format!("Shown with \"{context}\"."),
        (None, false) => format!("Named \"{}\".", name.join(" ")),
        (None, true) => "No text describes the image.".to_owned(),
    };
    let whole = format!("{subject} {} of {} × {} pixels, {}.", form(measured), measured.width, measured.height, colors(measured));
    shortened(&whole, IMAGE_DESCRIPTION_CHARACTERS_MAX)
}

fn form(measured: &ImageMeasurements) -> &'static str {
    match (measured.variety <= DRAWN_COLORS_MAX, measured.is_clear) {
        (true, true) => "A drawing with a transparent background",
        (true, false) => "A drawing or a plain area",
        (false, true) => "A cut-out picture",
        (false, false) => "A picture",
    }
}

fn colors(measured: &ImageMeasurements) -> String {
    match color_words(measured).as_slice() {
        [] => "without colors".to_owned(),
        [one] => format!("mostly {one}"),
        [one, two, ..] => format!("mostly {one} and {two}"),
    }
}

fn color_words(measured: &ImageMeasurements) -> Vec<&'static str> {
    let mut words: Vec<&'static str> = Vec::new();
    for word in measured.colors.iter().map(|color| color::word(*color)) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.truncate(2);
    words
}

/// Returns tags for an image: words about the image, its shape and its colors.
pub fn tags(words: Words<'_>, measured: &ImageMeasurements) -> Vec<String> {
    let candidates = words.alt.into_iter().flat_map(split_words).chain(file_words(words.url));
    let candidates = candidates.chain(words.context.into_iter().flat_map(split_words));
    let orientation = match (f64::from(measured.width), f64::from(measured.height)) {
        (width, height) if width > height * 1.15 => "landscape",
        (width, height) if height > width * 1.15 => "portrait",
        _ => "square",
    };
    let mut tags: Vec<String> = Vec::new();
    let own = candidates.take(40).filter(|word| word.chars().count() >= 3 && word.chars().count() <= IMAGE_TAG_CHARACTERS_MAX);
    // Reserve room for the tags that are always known: the shape and two colors.
    for tag in own {
        if tags.len() + 3 < IMAGE_TAGS_MAX && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    for tag in std::iter::once(orientation).chain(color_words(measured)) {
        if !tags.iter().any(|other| other == tag) {
            tags.push(tag.to_owned());
        }
    }
    tags
}

/// Returns the words in a file name, such as `summer`, `dress` and `red` in `summer_dress-red-1024x768.jpg`.
fn file_words(url: &str) -> Vec<String> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let file = path.split_once('/').map_or("", |(_, rest)| rest).rsplit('/').next().unwrap_or_default();
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    split_words(stem)
}

/// Returns the words of a string in lowercase, excluding numbers, codes and meaningless words.
fn split_words(text: &str) -> Vec<String> {
    let parts = text.split(|character: char| !character.is_alphanumeric());
    let is_word = |word: &&str| {
        let letters = word.chars().filter(|character| character.is_alphabetic()).count();
        let digits = word.chars().filter(char::is_ascii_digit).count();
        letters >= 3 && digits == 0 || letters >= 2 && digits == 0 && !word.is_ascii()
    };
    let words = parts.filter(is_word).map(str::to_lowercase).filter(|word| !EMPTY_WORDS.contains(&word.as_str()));
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::text::Color;
    use crate::engine::render::images::Ground;

    fn measured() -> ImageMeasurements {
        ImageMeasurements {
            width: 1200,
            height: 800,
            colors: vec![Color { red: 0xd3, green: 0x2f, blue: 0x2f }, Color { red: 255, green: 255, blue: 255 }],
            ground: Ground::Any,
            is_clear: false,
            variety: 300,
        }
    }

    #[test]
    fn a_description_contains_only_known_facts() {
        let url = "https://a.example/img/Summer_dress-red-1024x768.jpg?v=2";
        let words = |alt, context| Words { url, alt, context };
        assert_eq!(description(words(Some("A red dress"), None), &measured()), "A red dress");
        assert_eq!(
            description(words(None, Some("New in")), &measured()),
            "Shown with \"New in\". A picture of 1200 × 800 pixels, mostly red and white."
        );
        assert!(description(words(None, None), &measured()).starts_with("Named \"summer dress red\"."));
        assert!(
            description(Words { url: "https://a.example/12.jpg", ..Words::default() }, &measured())
                .starts_with("No text describes the image.")
        );
    }

    #[test]
    fn tags_are_limited_and_include_shape_and_colors() {
        let words = Words {
            url: "https://a.example/Summer_dress.jpg",
            alt: Some("A woman in a long dress, laughing, by the sea"),
            context: None,
        };
        let tags = tags(words, &measured());
        assert!(tags.len() <= IMAGE_TAGS_MAX && tags.contains(&"dress".to_owned()), "{tags:?}");
        assert_eq!(tags[tags.len() - 3..], ["landscape", "red", "white"]);
    }
}
