//! Corrects a brand: sets the default sender, and values that replace the values found on its sites.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::bounded::Bounded;
use crate::base::email::EmailAddress;
use crate::base::patch::Patch;
use crate::base::text::{Color, LongText, Name, ShortText};
use crate::engine::api::{Caller, Command, Done, Failure, Operation, Spec, needs};
use crate::engine::store::WriteTx;
use crate::features::projects::brand::{BrandFonts, BrandFormality, BrandPalette, BrandPerson, BrandSocialLink};
use crate::features::projects::model::{DefaultSender, Site};
use crate::features::projects::overrides::VoiceOverrides;
use crate::features::projects::reading::font_stack;
use crate::features::projects::{brand, not_found, store, views};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::limits;
use crate::vocab::permissions::Permission;
use crate::vocab::placeholders;

pub struct Update;

type LineOfBrand = ShortText<{ limits::BRAND_LINE_CHARACTERS_MAX }>;
type Words = Vec<Name<{ limits::BRAND_WORD_CHARACTERS_MAX }>>;
type FontName = Name<{ limits::FONT_NAME_CHARACTERS_MAX }>;

/// The characters that are allowed in a font name or a list of font names. The operation also accepts letters of alphabets that the pattern
/// does not list.
const FONT_PATTERN: &str = concat!(
    r#"^[0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0391-\u03a1\u03a3-\u03ce\u0400-\u0481\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3 ,'".+_-]*"#,
    r"[0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0391-\u03a1\u03a3-\u03ce\u0400-\u0481\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]",
    r#"[0-9A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0391-\u03a1\u03a3-\u03ce\u0400-\u0481\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3 ,'".+_-]*$"#,
);

/// The values to set. Omitted fields stay unchanged, and `null` restores the imported value. An empty string in `tagline`, `description`,
/// `company`, `address`, `email` or `phone`, or an empty list, removes the value.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BrandPatch {
    pub project_id: ProjectId,
    /// The name of the brand in lists and emails. `null` restores the website's name.
    #[serde(default)]
    pub name: Patch<Name<{ limits::PROJECT_NAME_CHARACTERS_MAX }>>,
    #[serde(default)]
    pub tagline: Patch<LineOfBrand>,
    /// What the brand does, in one or two sentences.
    #[serde(default)]
    pub description: Patch<LongText<{ limits::DESCRIPTION_CHARACTERS_MAX }>>,
    /// The company's legal name. It is shown in the footer of emails.
    #[serde(default)]
    pub company: Patch<LineOfBrand>,
    /// The postal address. It is shown in the footer of emails. Line breaks become commas.
    #[serde(default)]
    pub address: Patch<LongText<{ limits::BRAND_LINE_CHARACTERS_MAX }>>,
    /// The email address for questions from customers.
    #[serde(default)]
    pub email: Patch<ShortText<{ crate::base::email::ADDRESS_BYTES_MAX }>>,
    #[serde(default)]
    pub phone: Patch<ShortText<{ limits::BRAND_PHONE_CHARACTERS_MAX }>>,
    /// The brand's profiles on social networks. They replace all imported profiles.
    #[schemars(length(max = limits::BRAND_SOCIAL_LINKS_MAX))]
    #[serde(default)]
    pub social: Patch<Vec<SocialProfile>>,
    #[serde(default)]
    pub voice: VoicePatch,
    #[serde(default)]
    pub palette: PalettePatch,
    #[serde(default)]
    pub fonts: FontsPatch,
    /// The corner radius of buttons and cards, in pixels. With 20 or more, buttons have fully rounded ends.
    #[serde(default)]
    pub corner_radius: Patch<Bounded<0, { limits::CORNER_RADIUS_MAX }>>,
    /// The default sender of test sends and new campaigns. If it is not set, the project's first campaign sets it.
    #[serde(default)]
    pub default_sender: Patch<NewSender>,
}

/// A profile on a social network.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SocialProfile {
    /// The social network as a lowercase word, such as `instagram`.
    pub network: Name<{ limits::SOCIAL_NETWORK_CHARACTERS_MAX }>,
    pub url: Site,
}

/// How the brand writes.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VoicePatch {
    /// The grammatical person.
    #[serde(default)]
    pub person: Patch<BrandPerson>,
    /// The form of address.
    #[serde(default)]
    pub formality: Patch<BrandFormality>,
    /// Words that the brand uses often.
    #[schemars(length(max = limits::BRAND_WORDS_MAX))]
    #[serde(default)]
    pub words: Patch<Words>,
    /// Words that describe the tone, such as `warm` or `dry`.
    #[schemars(length(max = limits::BRAND_WORDS_MAX))]
    #[serde(default)]
    pub tone: Patch<Words>,
    /// Words that emails must not contain. An email that contains one of these words gets a warning.
    #[schemars(length(max = limits::BRAND_WORDS_MAX))]
    #[serde(default)]
    pub avoid: Patch<Words>,
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

/// The fonts to set, as names such as `Lora`. Families that are available in most email clients are appended as fallbacks.
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

/// A default sender.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewSender {
    /// The From address. Live mail requires an address at a verified domain.
    pub from: EmailAddress,
    /// The name shown with the From address.
    pub from_name: Option<ShortText<{ limits::SENDER_NAME_CHARACTERS_MAX }>>,
    /// The address that replies are sent to. If none is set, replies go to the From address.
    pub reply_to: Option<EmailAddress>,
}

impl From<NewSender> for DefaultSender {
    fn from(sender: NewSender) -> Self {
        Self {
            from: sender.from.into_string(),
            from_name: sender.from_name.map(ShortText::into_string).filter(|name| !name.is_empty()),
            reply_to: sender.reply_to.map(EmailAddress::into_string),
        }
    }
}

impl Operation for Update {
    const SPEC: Spec = Spec::patch("projects.update", "/v1/projects/{projectId}", needs(Permission::ProjectWrite))
        .summary("Correct a project's brand")
        .about(
            "Values that you set take precedence over values from the project's sites, even after another import. A postal address also \
             appears in existing emails without their own address; other values apply to emails written or rendered after the change.",
        )
        .fails(&[Code::NotFound]);
    type Input = BrandPatch;
    type Output = Done<views::ProjectView>;

    fn example() -> (Value, Self::Output) {
        let input = json!({
            "projectId": "66f1a2b3d4e5f60718293a4b", "address": "1 High Street, London N1 9GU", "tagline": null,
            "palette": { "button": "#1F6B52" }, "voice": { "avoid": ["cheap"] },
        });
        (input, Done(views::ProjectView::sample()))
    }
}

impl Command for Update {
    fn run(tx: &mut WriteTx<'_>, caller: &Caller, input: BrandPatch) -> Result<Self::Output, Failure> {
        let (account, id) = (caller.account(), input.project_id);
        let mut project = store::find(tx, account, id)?.ok_or_else(not_found)?;
        let mut overrides = store::overrides(tx, id)?;
        let before = (overrides.clone(), project.sender.clone());
        input.name.map(|name| name.to_string()).apply(&mut overrides.name);
        input.tagline.map(|text| text.to_string()).apply(&mut overrides.tagline);
        input.description.map(|text| text.to_string()).apply(&mut overrides.description);
        input.company.map(|text| text.to_string()).apply(&mut overrides.company);
        let address = input.address.map(|text| in_one_line(&text));
        if let Patch::Value(problem) = address.clone().map(|text| placeholders::problem(&text)) {
            problem.map_or(Ok(()), |problem| Err(Failure::field("address", problem)))?;
        }
        address.apply(&mut overrides.address);
        email(&input.email)?;
        input.email.map(|text| text.to_string()).apply(&mut overrides.email);
        input.phone.map(|text| text.to_string()).apply(&mut overrides.phone);
        social(input.social, &mut overrides.social)?;
        voice(input.voice, &mut overrides.voice)?;
        palette(input.palette, &mut overrides.palette);
        fonts(input.fonts, &mut overrides.fonts)?;
        input.corner_radius.map(|radius| radius.get() as u16).apply(&mut overrides.corner_radius);
        input.default_sender.map(DefaultSender::from).apply(&mut project.sender);
        if before != (overrides.clone(), project.sender.clone()) {
            let imported = store::brand(tx, id)?.and_then(|brand| brand.name);
            project.name = overrides.name.clone().or(imported).unwrap_or_else(|| project.domain.clone());
            project.updated_at = tx.now();
            store::save(tx, account, &project);
            store::save_overrides(tx, id, &overrides);
        }
        let (project, brand) = brand(tx, account, id)?.ok_or_else(not_found)?;
        Ok(Done(views::details(project, brand, overrides)))
    }
}

/// Joins the lines of a postal address with commas.
fn in_one_line(text: &str) -> String {
    let lines = text.lines().map(|line| line.trim().trim_end_matches(',')).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(", ")
}

/// Checks the email address. An empty string is valid.
fn email<const MAX: usize>(patch: &Patch<ShortText<MAX>>) -> Result<(), Failure> {
    match patch {
        Patch::Value(text) if !text.is_empty() => {
            EmailAddress::parse(text).map(drop).map_err(|error| Failure::field("email", error))
        }
        Patch::Value(_) | Patch::Absent | Patch::Null => Ok(()),
    }
}

fn social(patch: Patch<Vec<SocialProfile>>, kept: &mut Option<Vec<BrandSocialLink>>) -> Result<(), Failure> {
    let max = limits::BRAND_SOCIAL_LINKS_MAX;
    if let Patch::Value(profiles) = &patch
        && profiles.len() > max
    {
        return Err(Failure::field("social", format_args!("list at most {max} profiles; this list has {}", profiles.len())));
    }
    let link = |profile: SocialProfile| BrandSocialLink {
        network: profile.network.to_lowercase(),
        url: profile.url.as_str().to_owned(),
    };
    patch.map(|profiles| profiles.into_iter().map(link).collect()).apply(kept);
    Ok(())
}

fn voice(patch: VoicePatch, kept: &mut VoiceOverrides) -> Result<(), Failure> {
    patch.person.apply(&mut kept.person);
    patch.formality.apply(&mut kept.formality);
    let lists = [
        (patch.words, "voice.words", &mut kept.words),
        (patch.tone, "voice.tone", &mut kept.tone),
        (patch.avoid, "voice.avoid", &mut kept.avoid),
    ];
    for (words, field, kept) in lists {
        let max = limits::BRAND_WORDS_MAX;
        if let Patch::Value(words) = &words
            && words.len() > max
        {
            return Err(Failure::field(field, format_args!("list at most {max} entries; this list has {}", words.len())));
        }
        words.map(|words| words.iter().map(|word| word.to_string()).collect()).apply(kept);
    }
    Ok(())
}

fn palette(patch: PalettePatch, kept: &mut BrandPalette) {
    let PalettePatch { background, text, primary, accent, button, button_text } = patch;
    let colors = [
        (background, &mut kept.background),
        (text, &mut kept.text),
        (primary, &mut kept.primary),
        (accent, &mut kept.accent),
        (button, &mut kept.button),
        (button_text, &mut kept.button_text),
    ];
    for (color, kept) in colors {
        color.map(|color| color.to_string()).apply(kept);
    }
}

fn fonts(patch: FontsPatch, kept: &mut BrandFonts) -> Result<(), Failure> {
    for (patch, field, kept) in [(patch.heading, "fonts.heading", &mut kept.heading), (patch.body, "fonts.body", &mut kept.body)]
    {
        if let Patch::Value(name) = &patch {
            let is_name = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | ',' | '\'' | '"' | '.' | '+' | '_');
            if !name.chars().all(is_name) || !name.chars().any(char::is_alphanumeric) {
                return Err(Failure::field(field, "the value is not a font name; use a name such as Lora or Open Sans"));
            }
        }
        patch.map(|name| font_stack(&name)).apply(kept);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    fn patch(app: &TestApp, body: Value) -> Value {
        app.patch(&format!("/v1/projects/{}", app.project), body).data()
    }

    #[test]
    fn set_values_take_precedence_and_null_clears_them() {
        let app = TestApp::new();
        let set = json!({
            "name": "Acme Tea", "tagline": "Good tea", "address": "1 High Street\nLondon,\n\nN1 9GU", "phone": "020 7946 0018",
            "email": "hi@acme.example", "social": [{ "network": "Instagram", "url": "https://instagram.com/acme" }],
            "voice": { "formality": "formal", "tone": ["warm", "dry"], "avoid": ["cheap"] }, "cornerRadius": 12,
            "defaultSender": { "from": "news@acme.example", "fromName": "Acme" },
        });
        let project = patch(&app, set);
        let brand = &project["brand"];
        assert_eq!(
            (&project["name"], &brand["name"], &brand["tagline"]),
            (&json!("Acme Tea"), &json!("Acme Tea"), &json!("Good tea"))
        );
        assert_eq!(brand["contact"]["address"], "1 High Street, London, N1 9GU");
        assert_eq!(
            (&brand["contact"]["phone"], &brand["contact"]["email"]),
            (&json!("020 7946 0018"), &json!("hi@acme.example"))
        );
        assert_eq!(brand["social"], json!([{ "network": "instagram", "url": "https://instagram.com/acme" }]));
        assert_eq!((&brand["voice"]["formality"], &brand["voice"]["avoid"]), (&json!("formal"), &json!(["cheap"])));
        assert_eq!((&brand["cornerRadius"], &project["defaultSender"]["from"]), (&json!(12), &json!("news@acme.example")));
        assert_eq!(project["overrides"]["voice"]["tone"], json!(["warm", "dry"]));
        assert_eq!(app.get(&format!("/v1/projects/{}", app.project)).data(), project);
        let cleared = patch(
            &app,
            json!({ "name": null, "tagline": null, "social": null, "voice": { "avoid": null }, "defaultSender": null }),
        );
        assert_eq!((&cleared["name"], &cleared["brand"]["tagline"]), (&json!("acme.example"), &json!(null)));
        assert_eq!((&cleared["brand"]["voice"]["avoid"], &cleared["defaultSender"]), (&json!([]), &json!(null)));
        assert_eq!(cleared["brand"]["contact"]["phone"], "020 7946 0018", "omitted fields stay unchanged");
        assert_eq!(patch(&app, json!({ "phone": "" }))["brand"]["contact"]["phone"], json!(null));
    }

    #[test]
    fn colors_and_fonts_show_their_contrast() {
        let app = TestApp::new();
        let project =
            patch(&app, json!({ "palette": { "text": "#777777", "background": "#ffffff" }, "fonts": { "heading": "Lora" } }));
        assert_eq!(project["palette"]["background"], "#FFFFFF");
        let low = json!([{ "text": "text", "ground": "background", "ratio": 4.47, "legible": false }]);
        assert_eq!(project["contrasts"], low);
        let heading = &project["brand"]["fonts"]["heading"];
        assert!(heading.as_str().is_some_and(|stack| stack.starts_with("Lora, Georgia")), "{project}");
        let project = patch(&app, json!({ "palette": { "text": "#767676" } }));
        assert_eq!(project["contrasts"][0]["legible"], true);
        let back = patch(&app, json!({ "palette": { "text": null, "background": null }, "fonts": { "heading": null } }));
        assert_eq!((&back["palette"]["text"], &back["contrasts"]), (&json!(null), &json!([])));
    }

    #[test]
    fn invalid_values_are_rejected_with_the_field() {
        let app = TestApp::new();
        let many: Vec<String> = (0..51).map(|number| format!("word{number}")).collect();
        for (body, field) in [
            (json!({ "palette": { "buttonText": "red" } }), "palette.buttonText"),
            (json!({ "fonts": { "body": "Lora; color: red" } }), "fonts.body"),
            (json!({ "fonts": { "heading": "''" } }), "fonts.heading"),
            (json!({ "email": "acme" }), "email"),
            (json!({ "name": " " }), "name"),
            (json!({ "address": "1 {% High Street" }), "address"),
            (json!({ "cornerRadius": 101 }), "cornerRadius"),
            (json!({ "voice": { "avoid": many } }), "voice.avoid"),
            (json!({ "social": [{ "network": "x", "url": "x" }] }), "social[0].url"),
            (json!({ "defaultSender": { "from": "a" } }), "defaultSender.from"),
        ] {
            let answer = app.patch(&format!("/v1/projects/{}", app.project), body.clone());
            let refused = answer.refusal();
            assert!(refused.0 == 400 && refused.2.starts_with(field), "{body}: {refused:?}");
        }
    }
}
