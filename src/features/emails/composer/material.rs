//! Selects the brand's material for an email: links, logo, pictures, products, social networks and the legal footer.
//!
//! This module only selects existing material: it invents none and writes no copy.

use std::collections::HashSet;

use super::language::Format;
use super::phrases::mix;
use super::text::{capital, tidy};
use super::tokens::{Tokens, number, plain};
use crate::base::locale::LanguageTag;
use crate::features::emails::document::{ImageUrl, Layout, Line, Link, Picture, Product, SocialLink};
use crate::features::projects::brand::{self, Brand, BrandLogoBackground, BrandLogoSource};
use crate::vocab::limits;

/// The minimum width of pictures. Narrower pictures look too small in an email.
const PICTURE_WIDTH_MIN: u32 = 480;
/// The minimum width of logos. Narrower logos are icons and look too small.
const LOGO_WIDTH_MIN: u32 = 72;
/// The maximum length of a product description that is shown next to a picture.
const DESCRIPTION_CHARACTERS_MAX: usize = 160;

/// Parses the address of a link. People often write web addresses without `https://`.
pub fn link(address: &str) -> Option<Link> {
    let is_bare = address.contains('.') && !address.contains([':', '@', ' ']);
    Link::parse(address).ok().or_else(|| Link::parse(&format!("https://{address}")).ok().filter(|_| is_bare))
}

/// Returns whether the brand writes in this language: the brand's first language must be the same, ignoring the region.
pub fn speaks(brand: &Brand, language: &LanguageTag) -> bool {
    let main = brand.languages.first().and_then(|tag| LanguageTag::parse(tag).ok());
    main.is_some_and(|main| main.primary() == language.primary())
}

/// Returns the logo that is visible on the layout's background and in email clients.
pub fn logo(brand: &Brand, layout: Layout) -> Option<ImageUrl> {
    let hidden_on = if layout == Layout::Midnight { BrandLogoBackground::Light } else { BrandLogoBackground::Dark };
    let fits = |logo: &&brand::BrandLogo| {
        let small = logo.width.is_some_and(|width| width < LOGO_WIDTH_MIN);
        let icon = matches!(logo.source, BrandLogoSource::IconLink | BrandLogoSource::Manifest | BrandLogoSource::Share);
        logo.background != hidden_on && !small && !icon && !brand::is_drawing(&logo.url)
    };
    brand.logos.iter().filter(fits).find_map(|logo| ImageUrl::parse(&logo.url).ok())
}

/// Returns the brand's social networks.
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

/// Returns an image of the brand by its URL, with its known properties.
pub fn picture(url: &str, alt: Option<String>, size: (Option<u32>, Option<u32>)) -> Option<Picture> {
    let known = |side: Option<u32>| side.filter(|pixels| (1..=limits::EMAIL_IMAGE_PIXELS_MAX).contains(pixels));
    let alt = alt.map(|alt| tidy(&alt)).filter(|alt| !alt.is_empty()).map(|alt| Line::cut(&alt));
    Some(Picture { src: ImageUrl::parse(url).ok()?, alt, width: known(size.0), height: known(size.1), href: None })
}

/// Returns a picture of the brand for the top of an email that names nothing. The seed chooses.
pub fn opening(brand: &Brand, seed: u64, job: &str) -> Option<Picture> {
    let fitting = brand.images.iter().filter(|image| fits(image));
    let image = fitting.min_by_key(|image| mix(seed, &format!("{job} {}", image.url)))?;
    picture(&image.url, image.description.as_deref().and_then(alt), (image.width, image.height))
}

/// Returns the picture of the brand that shows most of what a text names: a picture whose description, or a product whose name, shares the
/// text's words. Pictures in `shown` are left out.
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
        let own = picture(&image.url, image.description.as_deref().and_then(alt), (image.width, image.height))?;
        Some((score(&told), own))
    });
    // A product's picture fits only if the text has its whole name: another dish is not the dish that is named.
    let named =
        |product: &&brand::BrandProduct| text.contains(plain(&tidy(&product.name)).as_str()) && !product.name.trim().is_empty();
    let products = brand.products.iter().take(limits::COMPOSER_PRODUCTS_MAX).filter(named).filter_map(|product| {
        let own = picture(product.image.as_deref()?, Some(tidy(&product.name)), (None, None))?;
        Some((usize::MAX, own))
    });
    let found = products.chain(images).filter(|(score, own)| *score >= SHARED_WORDS && !shown.contains(own.src.as_str()));
    found.max_by_key(|(score, _)| *score).map(|(_, own)| own)
}

/// The number of words that a picture's description shares with a text that the picture fits.
const SHARED_WORDS: usize = 2;

fn stem(word: &str) -> String {
    word.chars().take(STEM_CHARACTERS).collect()
}

/// Returns a description of an image for people who cannot see it: without sizes, and without notes on where the image was found.
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

/// Converts a product to the form that documents use. A product that has no page of its own links to `site`.
pub fn product(product: &brand::BrandProduct, format: &Format, site: Option<&Link>, with_text: bool) -> Option<Product> {
    let name = tidy(&product.name);
    let href = product.url.as_deref().and_then(link).or_else(|| site.cloned())?;
    let picture = product.image.as_deref().and_then(|url| picture(url, Some(name.clone()), (None, None)));
    let text = product.description.as_deref().filter(|_| with_text).and_then(first_sentence);
    let named = (!name.is_empty()).then(|| Line::cut(&name))?;
    let price = price(product, format).map(|price| Line::cut(&price));
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

/// Returns the price before a reduction, if it is higher than the price.
fn before(product: &brand::BrandProduct, format: &Format) -> Option<String> {
    let before = product.price_before.clone()?;
    let (now, then) = (number(product.price.as_deref()?)?, number(&before)?);
    (then > now).then(|| price(&brand::BrandProduct { price: Some(before), ..product.clone() }, format)).flatten()
}

/// Returns a price in the format of the email's language or, if the price is not a number, as written on the product's page.
pub fn price(product: &brand::BrandProduct, format: &Format) -> Option<String> {
    let text = tidy(product.price.as_deref()?);
    let figures = text.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ','));
    match (number(&text).filter(|_| figures && !text.is_empty()), &product.currency) {
        (Some(amount), Some(currency)) if amount > 0.0 => Some(format.amount(amount, currency)),
        (Some(_), _) => None,
        (None, _) => Some(text).filter(|text| text.chars().any(|c| c.is_ascii_digit())),
    }
}

/// Returns whether a product's name or description contains one of these words, with any ending.
pub fn is_about(product: &brand::BrandProduct, words: &str) -> bool {
    let told = plain(&format!("{} {}", product.name, product.description.as_deref().unwrap_or_default()));
    let asked = Tokens::read(words);
    let stems =
        asked.tokens.iter().map(|token| token.fold.as_str()).filter(|word| word.chars().count() >= STEM_CHARACTERS).map(stem);
    stems.into_iter().any(|stem| told.split(|c: char| !c.is_alphanumeric()).any(|word| word.starts_with(&stem)))
}

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

    fn logo_of(brand: &Brand) -> Option<String> {
        super::logo(brand, Layout::Editorial).map(|url| url.as_str().to_owned())
    }
}
