//! What is known of a brand: what its emails are made of. Pure.
//!
//! Filled in by reading the brand's sites, or by people. Every part may be missing: who draws an email chooses a default then, and
//! knows that it is one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::render::images::Ground;
use crate::engine::store::Record;

/// A brand as it is kept, beside its project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Brand {
    /// What the brand calls itself.
    pub name: Option<String>,
    /// Its line of a few words.
    pub tagline: Option<String>,
    /// What it does, in a sentence or two.
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

/// A picture that may stand for the brand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandLogo {
    pub url: String,
    /// Where it was found.
    pub source: BrandLogoSource,
    /// Measured size in pixels, where it could be fetched.
    pub width: Option<u32>,
    pub height: Option<u32>,
    /// On which backgrounds it can be seen.
    pub background: BrandLogoBackground,
}

/// Whether this address is that of a drawing (SVG), which hardly any mail program shows.
pub fn is_drawing(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    path.get(path.len().saturating_sub(4)..).is_some_and(|end| end.eq_ignore_ascii_case(".svg"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BrandLogoSource {
    /// Set by a person.
    Given,
    /// An image in the page's header.
    Header,
    /// Structured data of the page (JSON-LD).
    StructuredData,
    /// The web app manifest.
    Manifest,
    /// A link to an icon.
    IconLink,
    /// The picture for sharing (OpenGraph).
    Share,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BrandLogoBackground {
    /// A light ground: its transparent picture is dark.
    Light,
    /// A dark ground: its transparent picture is light.
    Dark,
    /// Any: it has a ground of its own, or stands out from both.
    Any,
    /// It could not be looked at.
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

/// Colours by role, as `#RRGGBB`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandPalette {
    pub background: Option<String>,
    pub text: Option<String>,
    /// The colour one thinks of first.
    pub primary: Option<String>,
    /// A second one, for small things.
    pub accent: Option<String>,
    pub button: Option<String>,
    /// Legible on `button` (WCAG contrast of at least 4.5).
    pub button_text: Option<String>,
}

/// Font stacks as in CSS; the last families are ones every mail client has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandFonts {
    pub heading: Option<String>,
    pub body: Option<String>,
}

/// Colours and fonts that people gave: where there is one, it wins over what the sites show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GivenTheme {
    pub palette: BrandPalette,
    pub fonts: BrandFonts,
}

impl Record for GivenTheme {}

impl GivenTheme {
    /// Put it over what the sites show.
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

/// A picture of the brand's pages, or one that a person added.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandImage {
    pub url: String,
    /// The page's own alternative text, or a description.
    pub description: Option<String>,
    pub tags: Vec<String>,
    /// Measured size in pixels.
    pub width: Option<u32>,
    pub height: Option<u32>,
    /// The colours that cover most of it, as `#RRGGBB`.
    pub colors: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandSocialLink {
    /// A word in small letters: `instagram`, `facebook`, `x`, `linkedin`, `youtube`, `tiktok`, `pinterest`, …
    pub network: String,
    pub url: String,
}

/// For the legal footer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandContact {
    /// The company in law, if it differs from the name.
    pub company: Option<String>,
    /// The postal address, one line.
    pub address: Option<String>,
    pub email: Option<String>,
    pub phone: Option<String>,
}

/// Standing rules that people gave for the brand's emails.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandGuidelines {
    /// How emails are to look and read.
    pub design_rules: Option<String>,
    /// What images are to look like.
    pub image_style: Option<String>,
}

impl Record for BrandGuidelines {}

/// How the brand speaks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandVoice {
    /// Who speaks: as "we", as "I", or about itself by name.
    pub person: Option<BrandPerson>,
    pub formality: Option<BrandFormality>,
    /// Words per sentence, on average.
    pub sentence_words: Option<f32>,
    /// Words that come again and again, without the language's commonest.
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
    /// `du`, `tu`, contractions, exclamation marks.
    Casual,
    Neutral,
    /// `Sie`, `vous`, `usted`, long sentences.
    Formal,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawings_are_told_by_their_address() {
        assert!(is_drawing("https://example.com/logo.svg") && is_drawing("https://example.com/Logo.SVG?v=2#top"));
        assert!(!is_drawing("https://example.com/logo.png?from=logo.svg") && !is_drawing("é.s") && !is_drawing(""));
    }
}
