//! Returns a project's colors and fonts: those in use, and those that users set.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::get::ProjectRef;
use crate::base::color::contrast;
use crate::base::text::Color;
use crate::engine::api::{Done, Failure, Operation, Query, Spec, View, needs_one};
use crate::engine::store::Read;
use crate::features::projects::brand::{BrandFonts, BrandPalette, GivenTheme};
use crate::features::projects::{READERS, brand, not_found, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::{AccountId, ProjectId};

pub struct ThemeGet;

/// The minimum contrast at which text is considered legible (WCAG 2, AA).
const LEGIBLE: f64 = 4.5;

/// The colors and fonts of a project's emails.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ThemeView {
    /// The colors in use: colors that users set, or else colors found on the sites.
    pub palette: BrandPalette,
    /// The fonts in use.
    pub fonts: BrandFonts,
    /// The colors and fonts that users set.
    pub given: GivenTheme,
    /// The contrasts between text and background, where both colors are known.
    pub contrasts: Vec<ColorContrast>,
}

/// The contrast between a text color and its background color.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ColorContrast {
    /// The role of the text color.
    #[schemars(extend("enum" = ["text", "buttonText"]))]
    pub text: &'static str,
    /// The role of the background color.
    #[schemars(extend("enum" = ["background", "button"]))]
    pub ground: &'static str,
    /// The contrast ratio, from 1 to 21 (WCAG).
    pub ratio: f64,
    /// Whether the ratio is at least 4.5. If it is lower, emails use a different color for the text.
    pub legible: bool,
}

impl ThemeView {
    /// Returns an example for the documentation.
    pub fn sample() -> Self {
        let palette =
            BrandPalette { background: Some("#FFFFFF".into()), text: Some("#1A1A1A".into()), ..BrandPalette::default() };
        let given = GivenTheme {
            palette: BrandPalette { text: palette.text.clone(), ..BrandPalette::default() },
            fonts: BrandFonts::default(),
        };
        Self { contrasts: contrasts(&palette), palette, fonts: BrandFonts::default(), given }
    }
}

/// Returns the colors and fonts of a project in the account.
pub fn theme_view(tx: &impl Read, account: AccountId, project: ProjectId) -> Result<ThemeView, Failure> {
    let (_, brand) = brand(tx, account, project)?.ok_or_else(not_found)?;
    let contrasts = contrasts(&brand.palette);
    Ok(ThemeView { palette: brand.palette, fonts: brand.fonts, given: store::given_theme(tx, project)?, contrasts })
}

fn contrasts(palette: &BrandPalette) -> Vec<ColorContrast> {
    let color = |text: &Option<String>| text.as_deref()?.parse::<Color>().ok();
    let pairs = [
        (("text", &palette.text), ("background", &palette.background)),
        (("buttonText", &palette.button_text), ("button", &palette.button)),
    ];
    let ratios = pairs.into_iter().filter_map(|((text, upper), (ground, lower))| {
        let ratio = contrast(color(upper)?, color(lower)?);
        // Round the ratio down, so that a ratio shown as 4.5 is legible.
        Some(ColorContrast { text, ground, ratio: (ratio * 100.0).floor() / 100.0, legible: ratio >= LEGIBLE })
    });
    ratios.collect()
}

impl Operation for ThemeGet {
    const SPEC: Spec = Spec::get("projects.theme", "/v1/projects/{projectId}/look", needs_one(READERS))
        .summary("Get a project's colors and fonts")
        .about("Returns the colors and fonts in use, those that users set, and the contrasts between text and background.")
        .fails(&[Code::NotFound]);
    type Input = ProjectRef;
    type Output = Done<ThemeView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b" }), Done(ThemeView::sample()))
    }
}

impl Query for ThemeGet {
    fn run(view: &View<'_>, input: ProjectRef) -> Result<Self::Output, Failure> {
        Ok(Done(theme_view(view.tx, view.caller.account(), input.project_id)?))
    }
}
