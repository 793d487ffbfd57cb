//! The facts about a brand that its emails are made of. Pure.
//!
//! The import fills it in from the brand's sites, and users can change it. Every part may be missing; the code that renders an email then
//! picks a default and knows that it is one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::render::images::Ground;
use crate::engine::store::Record;

/// A brand, stored separately from its project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Brand {
    /// What the brand calls itself.
    pub name: Option<String>,
    /// Its slogan.
    pub tagline: Option<String>,
    /// What it does, in one or two sentences.
    pub description: Option<String>,
    /// Languages of its pages (BCP 47), the main one first.
    pub languages: Vec<String>,
    /// Candidates for a logo, the best first.
    pub logos: Vec<BrandLogo>,
    pub palette: BrandPalette,
    pub fonts: BrandFonts,
    /// Radius of the corners of buttons and cards, in pixels.
    pub corner_radius: Option<u16>,
    pub products: Vec<BrandProduct>,
    pub images: Vec<BrandImage>,
    pub social: Vec<BrandSocialLink>,
    pub contact: BrandContact,
    pub voice: BrandVoice,
    pub guidelines: BrandGuidelines,
}

impl Record for Brand {}

/// A candidate for the brand's logo.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandLogo {
    pub url: String,
    /// Where it was found.
    pub source: BrandLogoSource,
    /// Measured size in pixels, if it could be fetched.
    pub width: Option<u32>,
    pub height: Option<u32>,
    /// The backgrounds on which it is visible.
    pub background: BrandLogoBackground,
}

/// Returns whether this is the address of an SVG file, which hardly any email client shows.
pub fn is_drawing(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    path.get(path.len().saturating_sub(4)..).is_some_and(|end| end.eq_ignore_ascii_case(".svg"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BrandLogoSource {
    /// Set by a user.
    Given,
    /// An image in the page's header.
    Header,
    /// Structured data of the page (JSON-LD).
    StructuredData,
    /// The web app manifest.
    Manifest,
    /// A link to an icon.
    IconLink,
    /// The image for sharing (OpenGraph).
    Share,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BrandLogoBackground {
    /// A light background: the logo is dark and transparent.
    Light,
    /// A dark background: the logo is light and transparent.
    Dark,
    /// Any background: the logo is opaque, or contrasts with both.
    Any,
    /// Unknown: the logo could not be analyzed.
    #[default]
    Unknown,
}

impl From<Ground> for BrandLogoBackground {
    fn from(ground: Ground) -> Self {
        match ground {
            Ground::Light => Self::Light,
            Ground::Dark => Self::Dark,
            Ground::Any => Self::Any,
        }
    }
}

/// Colors by role, as `#RRGGBB`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandPalette {
    pub background: Option<String>,
    pub text: Option<String>,
    /// The main brand color.
    pub primary: Option<String>,
    /// A second color for small elements.
    pub accent: Option<String>,
    pub button: Option<String>,
    /// Legible on `button` (a WCAG contrast of at least 4.5).
    pub button_text: Option<String>,
}

/// Font stacks as in CSS. The last families are available in every email client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandFonts {
    pub heading: Option<String>,
    pub body: Option<String>,
}

/// Colors and fonts that users set. Each takes precedence over what the sites show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GivenLook")]
pub struct GivenTheme {
    pub palette: BrandPalette,
    pub fonts: BrandFonts,
}

impl Record for GivenTheme {}

impl GivenTheme {
    /// Applies these values on top of what the sites show.
    pub fn put_over(self, brand: &mut Brand) {
        let put = |given: Option<String>, own: &mut Option<String>| {
            if given.is_some() {
                *own = given;
            }
        };
        let Self { palette, fonts } = self;
        put(palette.background, &mut brand.palette.background);
        put(palette.text, &mut brand.palette.text);
        put(palette.primary, &mut brand.palette.primary);
        put(palette.accent, &mut brand.palette.accent);
        put(palette.button, &mut brand.palette.button);
        put(palette.button_text, &mut brand.palette.button_text);
        put(fonts.heading, &mut brand.fonts.heading);
        put(fonts.body, &mut brand.fonts.body);
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandProduct {
    pub name: String,
    pub url: Option<String>,
    pub image: Option<String>,
    pub description: Option<String>,
    /// As on the page, in major units, like `19.90`.
    pub price: Option<String>,
    /// ISO 4217.
    pub currency: Option<String>,
}

/// An image from the brand's pages, or one that a user added.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandImage {
    pub url: String,
    /// The page's alternative text, or a description.
    pub description: Option<String>,
    pub tags: Vec<String>,
    /// Measured size in pixels.
    pub width: Option<u32>,
    pub height: Option<u32>,
    /// The colors that cover most of it, as `#RRGGBB`.
    pub colors: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandSocialLink {
    /// A lowercase word: `instagram`, `facebook`, `x`, `linkedin`, `youtube`, `tiktok`, `pinterest`, …
    pub network: String,
    pub url: String,
}

/// The details for the legal footer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandContact {
    /// The legal company name, if it differs from the name.
    pub company: Option<String>,
    /// The postal address in one line.
    pub address: Option<String>,
    pub email: Option<String>,
    pub phone: Option<String>,
}

/// The rules that users set for all emails of the brand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandGuidelines {
    /// Rules for the design and text of emails.
    pub design_rules: Option<String>,
    /// Rules for the style of images.
    pub image_style: Option<String>,
}

impl Record for BrandGuidelines {}

/// The brand's voice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandVoice {
    /// The grammatical person: "we", "I", or the brand's name.
    pub person: Option<BrandPerson>,
    pub formality: Option<BrandFormality>,
    /// Words per sentence, on average.
    pub sentence_words: Option<f32>,
    /// Words that recur, without the most common words of the language.
    pub words: Vec<String>,
    /// Whether its texts use emoji.
    pub emoji: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BrandPerson {
    We,
    I,
    Third,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BrandFormality {
    /// `du`, `tu`, contractions or exclamation marks.
    Casual,
    Neutral,
    /// `Sie`, `vous`, `usted` or long sentences.
    Formal,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_svg_is_recognized_by_its_address() {
        assert!(is_drawing("https://example.com/logo.svg") && is_drawing("https://example.com/Logo.SVG?v=2#top"));
        assert!(!is_drawing("https://example.com/logo.png?from=logo.svg") && !is_drawing("é.s") && !is_drawing(""));
    }
}
