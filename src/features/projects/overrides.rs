//! The brand values that users set. They are stored separately from the imported brand and take precedence over it, so imports never change
//! them. This module uses no store, clock or network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::brand::{Brand, BrandFonts, BrandFormality, BrandPalette, BrandPerson, BrandSocialLink};
use crate::base::color::readable_on;
use crate::base::text::Color;
use crate::engine::store::Record;

/// The values that users set, in the same structure as the input of `projects.update`. An absent value keeps the imported value. An empty
/// string or list removes the imported value. Colors, fonts, the person, the formality and the corner radius cannot be removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrandOverrides {
    /// The name of the brand in lists and emails.
    pub name: Option<String>,
    pub tagline: Option<String>,
    pub description: Option<String>,
    /// The legal name of the company.
    pub company: Option<String>,
    /// The postal address on one line.
    pub address: Option<String>,
    pub email: Option<String>,
    pub phone: Option<String>,
    pub social: Option<Vec<BrandSocialLink>>,
    pub voice: VoiceOverrides,
    pub palette: BrandPalette,
    pub fonts: BrandFonts,
    /// The corner radius of buttons and cards, in pixels.
    pub corner_radius: Option<u16>,
}

impl Record for BrandOverrides {}

/// How the brand writes, as set by users.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VoiceOverrides {
    pub person: Option<BrandPerson>,
    /// The form of address.
    pub formality: Option<BrandFormality>,
    /// Words that the brand uses often.
    pub words: Option<Vec<String>>,
    /// Words that describe the tone, such as `warm` or `dry`.
    pub tone: Option<Vec<String>>,
    /// Words that emails must not contain.
    pub avoid: Option<Vec<String>>,
}

impl BrandOverrides {
    /// Replaces values in `brand` with the values that users set.
    pub fn put_over(self, brand: &mut Brand) {
        let Self { name, tagline, description, company, address, email, phone, social, voice, palette, fonts, corner_radius } =
            self;
        let contact = &mut brand.contact;
        let texts = [
            (name, &mut brand.name),
            (tagline, &mut brand.tagline),
            (description, &mut brand.description),
            (company, &mut contact.company),
            (address, &mut contact.address),
            (email, &mut contact.email),
            (phone, &mut contact.phone),
        ];
        for (given, own) in texts {
            if let Some(given) = given {
                *own = Some(given).filter(|text| !text.is_empty());
            }
        }
        put(social, &mut brand.social);
        put(voice.words, &mut brand.voice.words);
        put(voice.tone, &mut brand.voice.tone);
        put(voice.avoid, &mut brand.voice.avoid);
        brand.voice.person = voice.person.or(brand.voice.person);
        brand.voice.formality = voice.formality.or(brand.voice.formality);
        let own = &mut brand.palette;
        // If a user set a button color but no text color for buttons, use a readable one, because the imported text color may be illegible
        // on the new button color.
        let readable = |button: &String| button.parse().ok().map(|button: Color| readable_on(button).to_string());
        let button_text = palette.button_text.or_else(|| palette.button.as_ref().and_then(readable));
        let values = [
            (palette.background, &mut own.background),
            (palette.text, &mut own.text),
            (palette.primary, &mut own.primary),
            (palette.accent, &mut own.accent),
            (palette.button, &mut own.button),
            (button_text, &mut own.button_text),
            (fonts.heading, &mut brand.fonts.heading),
            (fonts.body, &mut brand.fonts.body),
        ];
        for (given, own) in values {
            put(given.map(Some), own);
        }
        put(corner_radius.map(Some), &mut brand.corner_radius);
    }
}

fn put<T>(given: Option<T>, own: &mut T) {
    if let Some(given) = given {
        *own = given;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::projects::brand::BrandContact;

    #[test]
    fn set_values_replace_imported_ones_and_empty_values_remove_them() {
        let imported = || Brand {
            name: Some("Acme".into()),
            tagline: Some("Good tea".into()),
            contact: BrandContact { phone: Some("112".into()), ..BrandContact::default() },
            corner_radius: Some(4),
            ..Brand::default()
        };
        let mut brand = imported();
        BrandOverrides::default().put_over(&mut brand);
        assert_eq!(brand, imported());
        let overrides = BrandOverrides {
            name: Some("Acme Tea".into()),
            phone: Some(String::new()),
            address: Some("1 High Street".into()),
            corner_radius: Some(0),
            ..BrandOverrides::default()
        };
        overrides.put_over(&mut brand);
        assert_eq!(
            (brand.name.as_deref(), brand.tagline.as_deref(), brand.corner_radius),
            (Some("Acme Tea"), Some("Good tea"), Some(0))
        );
        assert_eq!((brand.contact.phone, brand.contact.address.as_deref()), (None, Some("1 High Street")));
    }
}
