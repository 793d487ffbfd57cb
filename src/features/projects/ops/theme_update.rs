//! Sets colors and fonts that are used instead of those found on a project's sites.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::theme::{ThemeView, theme_view};
use crate::base::patch::Patch;
use crate::base::text::{Color, Name};
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects::reading::font_stack;
use crate::features::projects::{require, store};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;

pub struct ThemeUpdate;

/// The name of a font.
type FontName = Name<{ limits::FONT_NAME_CHARACTERS_MAX }>;

/// The characters that are allowed in a font name or a list of font names. The operation accepts letters of more alphabets than the pattern
/// can express.
const FONT_PATTERN: &str = concat!(
    r#"^[0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0391-\u03a1\u03a3-\u03ce\u0400-\u0481\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3 ,'".+_-]*"#,
    r"[0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0391-\u03a1\u03a3-\u03ce\u0400-\u0481\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]",
    r#"[0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0391-\u03a1\u03a3-\u03ce\u0400-\u0481\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3 ,'".+_-]*$"#,
);

/// The changes to the theme. Omitted fields stay unchanged; `null` restores the value found on the sites.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ThemePatch {
    pub project_id: ProjectId,
    #[serde(default)]
    pub palette: PalettePatch,
    #[serde(default)]
    pub fonts: FontsPatch,
}

/// The colors to set by role, as `#RRGGBB`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PalettePatch {
    #[serde(default)]
    pub background: Patch<Color>,
    #[serde(default)]
    pub text: Patch<Color>,
    /// The main brand color.
    #[serde(default)]
    pub primary: Patch<Color>,
    /// A second color, for small elements.
    #[serde(default)]
    pub accent: Patch<Color>,
    #[serde(default)]
    pub button: Patch<Color>,
    #[serde(default)]
    pub button_text: Patch<Color>,
}

/// The fonts to set by name, such as `Lora`. Families that are available in every email client are appended as fallbacks.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FontsPatch {
    #[schemars(extend("pattern" = FONT_PATTERN))]
    #[serde(default)]
    pub heading: Patch<FontName>,
    #[schemars(extend("pattern" = FONT_PATTERN))]
    #[serde(default)]
    pub body: Patch<FontName>,
}

impl Operation for ThemeUpdate {
    const SPEC: Spec = Spec::patch("projects.theme_update", "/v1/projects/{projectId}/look", needs(Permission::ProjectWrite))
        .summary("Set a project's colors and fonts")
        .about(
            "These values take precedence over values from the project's sites, even after another import, and apply to emails generated \
             after the change. The response includes the contrasts between text and background.",
        )
        .fails(&[Code::NotFound]);
    type Input = ThemePatch;
    type Output = Done<ThemeView>;

    fn example() -> (Value, Self::Output) {
        let input =
            json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "palette": { "text": "#1A1A1A" }, "fonts": { "heading": null } });
        (input, Done(ThemeView::sample()))
    }
}

impl Command for ThemeUpdate {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: ThemePatch) -> Result<Self::Output, Failure> {
        let (account, project) = (caller.account(), input.project_id);
        require(tx, account, project)?;
        let mut given = store::given_theme(tx, project)?;
        let PalettePatch { background, text, primary, accent, button, button_text } = input.palette;
        let palette = &mut given.palette;
        let colors = [
            (background, &mut palette.background),
            (text, &mut palette.text),
            (primary, &mut palette.primary),
            (accent, &mut palette.accent),
            (button, &mut palette.button),
            (button_text, &mut palette.button_text),
        ];
        for (color, kept) in colors {
            color.map(|color| color.to_string()).apply(kept);
        }
        font(input.fonts.heading, "fonts.heading", &mut given.fonts.heading)?;
        font(input.fonts.body, "fonts.body", &mut given.fonts.body)?;
        store::save_given_theme(tx, project, &given);
        Ok(Done(theme_view(tx, account, project)?))
    }
}

fn font(patch: Patch<FontName>, field: &str, kept: &mut Option<String>) -> Result<(), Failure> {
    if let Patch::Value(name) = &patch {
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | ',' | '\'' | '"' | '.' | '+' | '_');
        if !name.chars().all(is_name) || !name.chars().any(char::is_alphanumeric) {
            return Err(Failure::field(field, "the value is not a font name; use a name such as Lora or Open Sans"));
        }
    }
    patch.map(|name| font_stack(&name)).apply(kept);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn given_values_take_precedence_show_their_contrast_and_can_be_reset() {
        let app = TestApp::new();
        let path = format!("/v1/projects/{}", app.project);
        let patch = |body: Value| app.patch(&format!("{path}/look"), body).data();
        let view = patch(json!({ "palette": { "text": "#777777", "background": "#ffffff" }, "fonts": { "heading": "Lora" } }));
        assert_eq!(view["palette"]["background"], "#FFFFFF");
        let low = json!([{ "text": "text", "ground": "background", "ratio": 4.47, "legible": false }]);
        assert_eq!(view["contrasts"], low);
        assert!(view["fonts"]["heading"].as_str().is_some_and(|stack| stack.starts_with("Lora, Georgia")), "{view}");
        // Omitted fields stay unchanged, and the brand has the new values.
        let view = patch(json!({ "palette": { "text": "#767676" } }));
        assert_eq!(
            (&view["contrasts"][0]["legible"], &view["given"]["palette"]["background"]),
            (&json!(true), &json!("#FFFFFF"))
        );
        let project = app.get(&path).data();
        assert_eq!((&project["palette"]["text"], &project["brand"]["palette"]["text"]), (&json!("#767676"), &json!("#767676")));
        let back = patch(json!({ "palette": { "text": null, "background": null }, "fonts": { "heading": null } }));
        assert_eq!(
            (&back["palette"]["text"], &back["fonts"]["heading"], &back["contrasts"]),
            (&json!(null), &json!(null), &json!([]))
        );
        assert_eq!(app.get(&format!("{path}/look")).data(), back);
    }

    #[test]
    fn invalid_colors_and_fonts_are_rejected_with_the_field() {
        let app = TestApp::new();
        let path = format!("/v1/projects/{}/look", app.project);
        for (body, field) in [
            (json!({ "palette": { "buttonText": "red" } }), "palette.buttonText"),
            (json!({ "palette": { "primary": "#12345" } }), "palette.primary"),
            (json!({ "fonts": { "body": "Lora; color: red" } }), "fonts.body"),
            (json!({ "fonts": { "heading": "''" } }), "fonts.heading"),
        ] {
            let answer = app.patch(&path, body.clone());
            let refused = answer.refusal();
            assert!(refused.0 == 400 && refused.2.starts_with(field), "{body}: {refused:?}");
        }
    }
}
