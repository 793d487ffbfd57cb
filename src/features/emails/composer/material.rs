//! Selects the brand's material for an email: links, logo, pictures, products and social networks.
//!
//! This module selects existing material. It writes only the alternative text of images.

use std::collections::HashSet;

use super::language::Format;
use super::phrases::mix;
use super::text::{capital, tidy};
use super::tokens::{number, plain};
use crate::base::locale::LanguageTag;
use crate::features::emails::document::{ImageUrl, Layout, Line, Link, Picture, Product, SocialLink};
use crate::features::projects::brand::{self, Brand, BrandLogoBackground, BrandLogoSource};
use crate::vocab::limits;

/// The minimum width of pictures, in pixels. Narrower pictures look too small in an email.
const PICTURE_WIDTH_MIN: u32 = 480;
/// The minimum width of logos, in pixels. Narrower logos are icons and look too small.
const LOGO_WIDTH_MIN: u32 = 72;
/// The maximum length, in characters, of a product description next to a picture.
const DESCRIPTION_CHARACTERS_MAX: usize = 160;
/// The maximum length, in characters, of the billing period after a price, such as "/month per person".
const PERIOD_CHARACTERS_MAX: usize = 24;

/// Parses the address of a link. If `https://` is missing, adds it, because people often omit it.
pub fn link(address: &str) -> Option<Link> {
    let is_bare = address.contains('.') && !address.contains([':', '@', ' ']);
    Link::parse(address).ok().or_else(|| Link::parse(&format!("https://{address}")).ok().filter(|_| is_bare))
}

/// Returns whether the brand writes in this language: the brand's first language must be the same, ignoring the region.
pub fn speaks(brand: &Brand, language: &LanguageTag) -> bool {
    let main = brand.languages.first().and_then(|tag| LanguageTag::parse(tag).ok());
    main.is_some_and(|main| main.primary() == language.primary())
}

/// Returns the first logo that is visible on the layout's background, large enough, not an icon, and in a format that email clients can
/// show.
pub fn logo(brand: &Brand, layout: Layout) -> Option<ImageUrl> {
    let hidden_on = if layout == Layout::Midnight { BrandLogoBackground::Light } else { BrandLogoBackground::Dark };
    let fits = |logo: &&brand::BrandLogo| {
        let small = logo.width.is_some_and(|width| width < LOGO_WIDTH_MIN);
        let icon = matches!(logo.source, BrandLogoSource::IconLink | BrandLogoSource::Manifest | BrandLogoSource::Share);
        logo.background != hidden_on && !small && !icon && !brand::is_drawing(&logo.url)
    };
    brand.logos.iter().filter(fits).find_map(|logo| ImageUrl::parse(&logo.url).ok())
}

pub fn social(brand: &Brand) -> Vec<SocialLink> {
    let named = |social: &brand::BrandSocialLink| {
        let name = network(&social.network);
        Some(SocialLink { name: Line::cut(&name), href: link(&social.url)? }).filter(|_| !name.is_empty())
    };
    brand.social.iter().filter_map(named).take(limits::EMAIL_SOCIAL_LINKS_MAX).collect()
}

/// Returns a network's name in its own spelling.
fn network(word: &str) -> String {
    match plain(word).as_str() {
        "x" | "twitter" => "X".to_owned(),
        "tiktok" => "TikTok".to_owned(),
        "youtube" => "YouTube".to_owned(),
        "linkedin" => "LinkedIn".to_owned(),
        "whatsapp" => "WhatsApp".to_owned(),
        "github" => "GitHub".to_owned(),
        _ => capital(&tidy(word)),
    }
}

/// Creates a picture from the URL of an image. Sizes outside of the supported range are dropped.
pub fn picture(url: &str, alt: Option<String>, size: (Option<u32>, Option<u32>)) -> Option<Picture> {
    let known = |side: Option<u32>| side.filter(|pixels| (1..=limits::EMAIL_IMAGE_PIXELS_MAX).contains(pixels));
    let alt = alt.map(|alt| tidy(&alt)).filter(|alt| !alt.is_empty()).map(|alt| Line::cut(&alt));
    Some(Picture { src: ImageUrl::parse(url).ok()?, alt, width: known(size.0), height: known(size.1), href: None })
}

/// Returns a picture of the brand for the top of an email that names no product, chosen by the seed. A picture of a product suggests that
/// the email is about that product, so a main email has such a picture only if it is about all products (`suits_all`) and the brand has no
/// other pictures.
pub fn opening(brand: &Brand, seed: u64, job: &str, suits_all: bool) -> Option<Picture> {
    let is_main = job.ends_with(".main");
    let fitting = brand.images.iter().filter(|image| fits(image)).filter_map(|image| {
        let promises = is_main && brand.products.iter().any(|product| shows(image, product));
        (!promises || suits_all).then(|| ((promises, mix(seed, &format!("{job} {}", image.url))), image))
    });
    own(brand, fitting.min_by_key(|(order, _)| *order)?.1)
}

/// Returns whether an image shows a product.
fn shows(image: &brand::BrandImage, product: &brand::BrandProduct) -> bool {
    let name = plain(&tidy(&product.name));
    let told = image.description.as_deref().map(plain).unwrap_or_default();
    product.image.as_ref() == Some(&image.url) || (!name.is_empty() && told.contains(&name))
}

/// Returns an image of the brand as a picture with its alternative text.
fn own(brand: &Brand, image: &brand::BrandImage) -> Option<Picture> {
    let described = image.description.as_deref().and_then(alt).or_else(|| described(brand, &image.url));
    picture(&image.url, described, (image.width, image.height))
}

/// Returns the indexes of the products that match the kind named in the text: for "our teapots", the clay teapot.
pub fn of_kind(brand: &Brand, text: &str) -> Vec<usize> {
    let text = plain(text);
    let singular = |word: &str| word.strip_suffix('s').unwrap_or(word).to_owned();
    let words: HashSet<String> = text.split(|c: char| !c.is_alphanumeric()).map(singular).collect();
    let is_kind = |place: &usize| {
        let name = plain(&tidy(&brand.products[*place].name));
        let noun = name.rsplit(' ').next().unwrap_or_default();
        noun.chars().count() >= WORD_CHARACTERS && words.contains(&singular(noun))
    };
    (0..brand.products.len()).filter(is_kind).collect()
}

/// Returns the picture of a product that matches the kind named in a title: for a wreath-making workshop, a picture of a dried wreath.
pub fn picture_of_kind(brand: &Brand, title: &str) -> Option<Picture> {
    let images = of_kind(brand, title).into_iter().filter_map(|place| brand.products[place].image.as_ref());
    images
        .filter_map(|url| brand.images.iter().find(|image| image.url == *url))
        .find(|image| fits(image))
        .and_then(|image| own(brand, image))
}

/// Adds the size of the brand's image to the picture of a product, so that products whose pictures have similar proportions can be side by
/// side.
pub fn sized_product(brand: &Brand, product: Product) -> Product {
    Product { image: product.image.map(|shown| sized(brand, shown)), ..product }
}

/// Gives a picture the size of the brand's image that has the same URL. Without such an image, the picture keeps its own size.
fn sized(brand: &Brand, shown: Picture) -> Picture {
    let known = brand.images.iter().find(|image| image.url == shown.src.as_str());
    let size = known.and_then(|image| image.width.zip(image.height));
    Picture { width: size.map(|size| size.0).or(shown.width), height: size.map(|size| size.1).or(shown.height), ..shown }
}

/// Returns the picture of the brand that fits the text: the picture of a product whose whole name the text contains or, failing that, the
/// image whose tags and description share the most words with the text. Pictures in `shown` are left out.
pub fn fitting(brand: &Brand, text: &str, shown: &HashSet<String>) -> Option<Picture> {
    let text = plain(text);
    let words: HashSet<String> =
        text.split(|c: char| !c.is_alphanumeric()).map(stem).filter(|word| word.chars().count() >= 4).collect();
    let score = |told: &str| {
        let told = plain(told);
        let told: HashSet<String> =
            told.split(|c: char| !c.is_alphanumeric()).map(stem).filter(|word| word.chars().count() >= 4).collect();
        told.intersection(&words).count()
    };
    let images = brand.images.iter().filter(|image| fits(image)).filter_map(|image| {
        let told = image.tags.iter().map(String::as_str).chain(image.description.as_deref()).collect::<Vec<_>>().join(" ");
        Some((score(&told), own(brand, image)?))
    });
    // A product's picture fits only if the text contains its whole name, because a picture of a similar product would be wrong.
    let named =
        |product: &&brand::BrandProduct| text.contains(plain(&tidy(&product.name)).as_str()) && !product.name.trim().is_empty();
    let products = brand.products.iter().take(limits::COMPOSER_PRODUCTS_MAX).filter(named).filter_map(|product| {
        Some((usize::MAX, sized(brand, picture(product.image.as_deref()?, Some(tidy(&product.name)), (None, None))?)))
    });
    let found = products.chain(images).filter(|(score, own)| *score >= SHARED_WORDS && !shown.contains(own.src.as_str()));
    found.max_by_key(|(score, _)| *score).map(|(_, own)| own)
}

/// The minimum number of words that an image's tags and description must have in common with the text that the image illustrates.
const SHARED_WORDS: usize = 2;

fn stem(word: &str) -> String {
    word.chars().take(STEM_CHARACTERS).collect()
}

/// Returns the alternative text for an image: its description without the import's notes on the size of the image and on where it was
/// found.
pub fn alt(description: &str) -> Option<String> {
    let text = tidy(description);
    let is_note = |sentence: &&str| {
        let folded = plain(sentence);
        !(folded.starts_with("shown with") || folded.contains("pixels") || folded.contains("plain area"))
    };
    let kept: Vec<&str> = super::knowledge::split(&text).into_iter().filter(is_note).collect();
    let kept = kept.join(" ");
    let bare = kept.split(" | ").next().unwrap_or_default().trim();
    (bare.chars().count() > 2).then(|| bare.to_owned())
}

/// Returns the alternative text for an image without a description: the words of its file name and the brand's name, or only the brand's
/// name.
fn described(brand: &Brand, url: &str) -> Option<String> {
    let file = url.split(['?', '#']).next()?.rsplit('/').next()?;
    let name = file.rsplit_once('.').map_or(file, |(name, _)| name);
    let parts: Vec<&str> = name.split(['-', '_']).filter(|part| !part.chars().all(|c| c.is_ascii_digit())).collect();
    // A part with both letters and digits is an identifier, not a word.
    let is_word = |part: &&str| part.chars().count() >= WORD_CHARACTERS && part.chars().all(char::is_alphabetic);
    let is_telling = |part: &&str| !VAGUE.contains(&part.to_lowercase().as_str());
    let words: Vec<&str> = parts.iter().copied().filter(is_telling).collect();
    let told = (!words.is_empty() && words.iter().all(is_word)).then(|| capital(&words.join(" ").to_lowercase()));
    let parts: Vec<String> = told.into_iter().chain(brand.name.as_deref().map(tidy)).collect();
    Some(parts.join(" – ")).filter(|text| !text.is_empty())
}

/// Words in the names of image files that say nothing about the image.
const VAGUE: [&str; 20] = [
    "hero",
    "image",
    "images",
    "img",
    "photo",
    "picture",
    "bild",
    "banner",
    "header",
    "background",
    "bg",
    "slide",
    "home",
    "main",
    "cover",
    "large",
    "small",
    "scaled",
    "final",
    "dsc",
];

/// Returns the link to an email address or a telephone number.
pub fn contact(text: &str) -> Option<Link> {
    let text = text.trim();
    if text.contains('@') {
        return link(&format!("mailto:{}", text.trim_start_matches("mailto:")));
    }
    let digits: String = text.chars().filter(|c| c.is_ascii_digit() || *c == '+').collect();
    let is_number = text.chars().all(|c| c.is_ascii_digit() || " +-/().\u{a0}".contains(c));
    (is_number && digits.len() >= 5).then(|| link(&format!("tel:{digits}"))).flatten()
}

/// Returns whether an image is suitable as a picture: it is wide enough, neither too tall nor too flat, not a logo or icon, and in a format
/// that email clients support.
fn fits(image: &brand::BrandImage) -> bool {
    let path = plain(image.url.split(['?', '#']).next().unwrap_or_default());
    let odd = [".svg", ".ico", ".avif", "logo", "icon", "sprite", "badge", "avatar", "payment"];
    if odd.iter().any(|part| path.contains(part)) {
        return false;
    }
    match (image.width, image.height) {
        (Some(width), Some(height)) if height > 0 => {
            let ratio = f64::from(width) / f64::from(height);
            width >= PICTURE_WIDTH_MIN && (0.8..=3.5).contains(&ratio)
        }
        (Some(width), _) => width >= PICTURE_WIDTH_MIN,
        (None, _) => false,
    }
}

/// Converts a product to the form that documents use. A product without a page links to `site`.
pub fn product(product: &brand::BrandProduct, format: &Format, site: Option<&Link>, with_text: bool) -> Option<Product> {
    let name = tidy(&product.name);
    let href = product.url.as_deref().and_then(link).or_else(|| site.cloned())?;
    let picture = product.image.as_deref().and_then(|url| picture(url, Some(name.clone()), (None, None)));
    // The description of a plan can start with the billing period of its price: "/month, For one person".
    let told = product.description.as_deref().unwrap_or_default();
    let (head, rest) = told.split_once(", ").unwrap_or((told, ""));
    let is_period = head.starts_with('/') && head.chars().count() <= PERIOD_CHARACTERS_MAX;
    let (period, told) = if is_period { (head, rest) } else { ("", told) };
    let text = Some(told).filter(|_| with_text).and_then(first_sentence);
    let named = (!name.is_empty()).then(|| Line::cut(&name))?;
    let price = price(product, format).map(|price| Line::cut(&format!("{price}{period}")));
    Some(Product {
        name: named,
        href,
        image: picture,
        text: text.map(|text| Line::cut(&text)),
        price_before: before(product, format).filter(|_| price.is_some()).map(|price| Line::cut(&price)),
        price,
        button: None,
    })
}

/// Returns the original price, if it is higher than the current price.
fn before(product: &brand::BrandProduct, format: &Format) -> Option<String> {
    let before = product.price_before.clone()?;
    let (now, then) = (number(product.price.as_deref()?)?, number(&before)?);
    (then > now).then(|| price(&brand::BrandProduct { price: Some(before), ..product.clone() }, format)).flatten()
}

/// Returns a price in the format of the email's language or, if the price is not a number, as written on the product's page. Returns
/// `None` if a number has no currency or is not positive.
pub fn price(product: &brand::BrandProduct, format: &Format) -> Option<String> {
    let text = tidy(product.price.as_deref()?);
    let figures = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ','));
    match (number(&text).filter(|_| figures && !text.is_empty()), &product.currency) {
        (Some(amount), Some(currency)) if amount > 0.0 => Some(format.amount(amount, currency)),
        (Some(_), _) => None,
        (None, _) => Some(text).filter(|text| text.chars().any(|c| c.is_ascii_digit())),
    }
}

/// Returns whether a product's name or description contains one of these words. Longer words match with any ending.
pub fn is_about(product: &brand::BrandProduct, words: &str) -> bool {
    let (name, text) = (plain(&product.name), plain(product.description.as_deref().unwrap_or_default()));
    let has = |told: &str, start: &str| told.split(|c: char| !c.is_alphanumeric()).any(|word| word.starts_with(start));
    plain(words).split(|c: char| !c.is_alphanumeric()).any(|word| match word.chars().count() {
        // Short words, such as the name of a yarn, occur by chance in descriptions, so they must be whole words of the name.
        WORD_CHARACTERS => name.split(|c: char| !c.is_alphanumeric()).any(|own| own == word),
        STEM_CHARACTERS.. => has(&name, &stem(word)) || has(&text, &stem(word)),
        _ => false,
    })
}

/// Returns whether the text contains at least half of the longer words of a product's name, with any ending.
pub fn is_named(product: &brand::BrandProduct, text: &str) -> bool {
    let (name, text) = (plain(&product.name), plain(text));
    let told: HashSet<String> = text.split(|c: char| !c.is_alphanumeric()).map(stem).collect();
    let words: Vec<&str> =
        name.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= WORD_CHARACTERS).collect();
    let shared = words.iter().filter(|word| told.contains(&stem(word))).count();
    shared > 0 && shared * 2 >= words.len()
}

/// The minimum length, in characters, of a word that shows the topic of the text. Shorter words are mostly articles and prepositions.
const WORD_CHARACTERS: usize = 4;

/// The number of initial characters that related words have in common.
const STEM_CHARACTERS: usize = 5;

/// Returns the first sentence of a description, if the sentence is short enough to fit next to a picture.
pub fn first_sentence(text: &str) -> Option<String> {
    let text = tidy(text);
    let end = text
        .match_indices(['.', '!', '?'])
        .map(|(at, sign)| at + sign.len())
        .find(|end| text[*end..].is_empty() || (text[*end..].starts_with(' ') && text[..*end].chars().count() > 24));
    let sentence = &text[..end.unwrap_or(text.len())];
    let length = sentence.chars().count();
    (4..=DESCRIPTION_CHARACTERS_MAX).contains(&length).then(|| sentence.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logo_has_a_format_that_email_clients_show() {
        let logo = |url: &str| brand::BrandLogo {
            url: url.into(),
            source: BrandLogoSource::Header,
            width: Some(190),
            height: Some(44),
            background: BrandLogoBackground::Light,
        };
        let drawn = Brand { logos: vec![logo("https://example.com/logo.svg")], ..Brand::default() };
        assert_eq!(logo_of(&drawn), None);
        let both =
            Brand { logos: vec![logo("https://example.com/logo.svg"), logo("https://example.com/logo.png")], ..Brand::default() };
        assert_eq!(logo_of(&both).as_deref(), Some("https://example.com/logo.png"));
    }

    /// The description of an image can consist only of a note from the import, which cannot be used as alt text.
    #[test]
    fn every_picture_is_described_for_people() {
        let image = |url: &str, description: Option<&str>| brand::BrandImage {
            url: url.to_owned(),
            description: description.map(str::to_owned),
            width: Some(1600),
            height: Some(900),
            ..brand::BrandImage::default()
        };
        let note = "Shown with \"Flowers from the garden gate\". A drawing or a plain area of 1600 × 1000 pixels, mostly green.";
        for (url, description, expected) in [
            ("https://example.com/s/garden.jpg?format=2500w", Some(note), "Garden – Petal & Rue"),
            ("https://example.com/flower-market_2.jpg", None, "Flower market – Petal & Rue"),
            ("https://example.com/hero-4.jpg", None, "Petal & Rue"),
            ("https://example.com/93bf031f71bb.jpg", Some(note), "Petal & Rue"),
            ("https://example.com/x.jpg", Some("Two vases on a sill"), "Two vases on a sill"),
        ] {
            let name = Some("Petal & Rue".to_owned());
            let brand = Brand { name, images: vec![image(url, description)], ..Brand::default() };
            let alt = opening(&brand, 1, "welcome.main", true).and_then(|picture| picture.alt);
            assert_eq!(alt.as_deref(), Some(expected), "{url}");
        }
    }

    fn logo_of(brand: &Brand) -> Option<String> {
        super::logo(brand, Layout::Editorial).map(|url| url.as_str().to_owned())
    }
}
