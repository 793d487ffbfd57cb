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

/// `projects.look`
pub struct Look;

/// The lowest contrast at which text counts as legible (WCAG 2, AA).
const LEGIBLE: f64 = 4.5;

/// The colors and fonts of a project's emails.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LookView {
    /// The colors in use: those that users set, otherwise those found on the sites.
    pub palette: BrandPalette,
    /// The fonts in use.
    pub fonts: BrandFonts,
    /// The colors and fonts that users set.
    pub given: GivenTheme,
    /// The contrasts of texts whose colors are known.
    pub contrasts: Vec<ColorContrast>,
}

/// The contrast between a text and its background.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ColorContrast {
    /// The role of the text color.
    #[schemars(extend("enum" = ["text", "buttonText"]))]
    pub text: &'static str,
    /// The role of the background color.
    #[schemars(extend("enum" = ["background", "button"]))]
    pub ground: &'static str,
    /// From 1 to 21 (WCAG).
    pub ratio: f64,
    /// Whether the ratio is at least 4.5. If it is not, emails use another color for the text.
    pub legible: bool,
}

impl LookView {
    /// A value for examples.
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

/// Returns the colors and fonts of a project of the account.
pub fn look_view(tx: &impl Read, account: AccountId, project: ProjectId) -> Result<LookView, Failure> {
    let (_, brand) = brand(tx, account, project)?.ok_or_else(not_found)?;
    let contrasts = contrasts(&brand.palette);
    Ok(LookView { palette: brand.palette, fonts: brand.fonts, given: store::look(tx, project)?, contrasts })
}

fn contrasts(palette: &BrandPalette) -> Vec<ColorContrast> {
    let color = |text: &Option<String>| text.as_deref()?.parse::<Color>().ok();
    let pairs = [
        (("text", &palette.text), ("background", &palette.background)),
        (("buttonText", &palette.button_text), ("button", &palette.button)),
    ];
    let told = pairs.into_iter().filter_map(|((text, upper), (ground, lower))| {
        let ratio = contrast(color(upper)?, color(lower)?);
        // Rounded down, so a ratio shown as 4.5 is legible.
        Some(ColorContrast { text, ground, ratio: (ratio * 100.0).floor() / 100.0, legible: ratio >= LEGIBLE })
    });
    told.collect()
}

impl Operation for Look {
    const SPEC: Spec = Spec::get("projects.look", "/v1/projects/{projectId}/look", needs_one(READERS))
        .summary("Get a project's colors and fonts")
        .about("Returns the colors and fonts in use, those that users set, and the contrasts of texts.")
        .fails(&[Code::NotFound]);
    type Input = ProjectRef;
    type Output = Done<LookView>;

    fn example() -> (Value, Self::Output) {
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b" }), Done(LookView::sample()))
    }
}

impl Query for Look {
    fn run(view: &View<'_>, input: ProjectRef) -> Result<Self::Output, Failure> {
        Ok(Done(look_view(view.tx, view.caller.account(), input.project_id)?))
    }
}
