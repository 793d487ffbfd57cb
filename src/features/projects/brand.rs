//! The facts about a brand that its emails are based on. This module uses no store, clock or network.
//!
//! The import fills in these facts from the brand's sites, and users can change them. If a value is missing, the code that renders an email
//! uses a default.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::render::images::Ground;
use crate::engine::store::Record;

/// The facts about a brand, stored separately from its project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Brand {
    /// The name that the brand uses for itself.
    pub name: Option<String>,
    /// The slogan of the brand.
    pub tagline: Option<String>,
    /// A description of what the brand does, in one or two sentences.
    pub description: Option<String>,
    /// The languages of the brand's pages (BCP 47 tags), main language first.
    pub languages: Vec<String>,
    /// Candidates for a logo, best first.
    pub logos: Vec<BrandLogo>,
    pub palette: BrandPalette,
    pub fonts: BrandFonts,
    /// The font files or style sheets of the families in `fonts`. Emails load them in clients that support web fonts.
    pub web_fonts: Vec<BrandWebFont>,
    /// The corner radius of buttons and cards, in pixels.
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
    /// Where the logo was found.
    pub source: BrandLogoSource,
    /// The measured width in pixels; absent if the logo has not been measured.
    pub width: Option<u32>,
    /// The measured height in pixels; absent if the logo has not been measured.
    pub height: Option<u32>,
    /// The backgrounds on which the logo is visible.
    pub background: BrandLogoBackground,
}

/// Returns whether the path of the URL ends with `.svg`. Few email clients can display SVG files.
pub fn is_drawing(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    path.get(path.len().saturating_sub(4)..).is_some_and(|end| end.eq_ignore_ascii_case(".svg"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BrandLogoSource {
    /// The logo was set by a user.
    Given,
    /// An image in the header of the page.
    Header,
    /// The structured data of the page (JSON-LD).
    StructuredData,
    /// The web app manifest of the site.
    Manifest,
    /// A link to an icon in the head of the page.
    IconLink,
    /// The image that the page provides for sharing (OpenGraph).
    Share,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BrandLogoBackground {
    /// A light background, because the logo is dark and transparent.
    Light,
    /// A dark background, because the logo is light and transparent.
    Dark,
    /// Any background, because the logo is opaque or contrasts with both light and dark backgrounds.
    Any,
    /// The background is unknown, because the logo has not been analyzed.
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

/// The colors of a brand by role, as `#RRGGBB`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandPalette {
    pub background: Option<String>,
    pub text: Option<String>,
    /// The main brand color.
    pub primary: Option<String>,
    /// A second color, for small elements.
    pub accent: Option<String>,
    pub button: Option<String>,
    /// The text color on buttons. An imported color has a WCAG contrast of at least 4.5 with `button`.
    pub button_text: Option<String>,
}

/// The fonts of a brand as CSS font stacks. Each stack ends with fonts that are available in most email clients.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandFonts {
    pub heading: Option<String>,
    pub body: Option<String>,
}

/// The kind of a font family. It determines the fallback fonts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FontKind {
    Sans,
    Serif,
    Mono,
}

/// A font file on the web, or a style sheet from a font service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandWebFont {
    pub family: String,
    /// The URL of a WOFF2 file or of a Google Fonts style sheet. Always starts with `https://`.
    pub url: String,
    /// The weight of the font (400 is normal, 700 is bold), or a range such as `100 900`.
    pub weight: String,
    pub italic: bool,
    /// The characters in the file (a CSS `unicode-range`), if the file contains only some.
    pub characters: Option<String>,
}

impl BrandWebFont {
    /// Returns whether the URL refers to a font file rather than a style sheet.
    pub fn is_file(&self) -> bool {
        !self.url.starts_with("https://fonts.googleapis.com/")
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandProduct {
    pub name: String,
    pub url: Option<String>,
    pub image: Option<String>,
    pub description: Option<String>,
    /// The price in major units, such as `19.90`.
    pub price: Option<String>,
    /// The list price of a product on sale, which is higher than `price`.
    pub price_before: Option<String>,
    /// The currency as an ISO 4217 code.
    pub currency: Option<String>,
}

/// An image found on the brand's pages or added by a user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandImage {
    pub url: String,
    /// The alternative text from the page, or a description.
    pub description: Option<String>,
    pub tags: Vec<String>,
    /// The measured width of the image in pixels.
    pub width: Option<u32>,
    /// The measured height of the image in pixels.
    pub height: Option<u32>,
    /// The colors that cover most of the image, as `#RRGGBB`.
    pub colors: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandSocialLink {
    /// The social network as a lowercase word: `instagram`, `facebook`, `x`, `linkedin`, `youtube`, `tiktok`, `pinterest`, …
    pub network: String,
    pub url: String,
}

/// The contact details of a brand, for the legal footer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandContact {
    /// The legal name of the company, if it differs from the brand's name.
    pub company: Option<String>,
    /// The postal address on one line.
    pub address: Option<String>,
    pub email: Option<String>,
    pub phone: Option<String>,
}

/// The rules that users set for a brand's emails.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandGuidelines {
    /// Rules for the design and the wording of emails.
    pub design_rules: Option<String>,
    /// Rules for the style of images.
    pub image_style: Option<String>,
}

impl Record for BrandGuidelines {}

/// The voice of a brand: how it writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandVoice {
    /// The grammatical person: "we", "I", or the brand's name.
    pub person: Option<BrandPerson>,
    pub formality: Option<BrandFormality>,
    /// The average number of words per sentence.
    pub sentence_words: Option<f32>,
    /// Words that the brand uses often, excluding the most common words of the language.
    pub words: Vec<String>,
    /// Words that describe the tone, such as `warm` or `dry`. Set only by users.
    pub tone: Vec<String>,
    /// Words that emails must not contain. Set only by users.
    pub avoid: Vec<String>,
    /// Whether the brand's writing contains emoji.
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
    /// Indicated by `du`, `tu`, contractions or exclamation marks.
    Casual,
    Neutral,
    /// Indicated by `Sie`, `vous`, `usted` or long sentences.
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
