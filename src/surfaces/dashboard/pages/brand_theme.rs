//! The tab with a brand's logos, colors, fonts and corners, which users can correct.

use data_encoding::BASE64;
use serde::Serialize;
use serde_json::{Value, json};

use super::brand_parts::{done, is_shown, prepare};
use super::brands::{BrandHead, Swatch, palette, picture_path, word};
use crate::engine::api::Created;
use crate::features::projects::brand::Brand;
use crate::features::projects::views::ColorContrast;
use crate::features::{emails, projects};
use crate::surfaces::dashboard::template::{self, page_context};
use crate::surfaces::dashboard::visit::{PageError, PageResponse, Visit};
use crate::vocab::limits;

#[derive(Serialize)]
pub struct ThemePage {
    #[serde(flatten)]
    head: BrandHead,
    /// The names of the form's fields. Each field shows its own error.
    names: Vec<String>,
    /// Each field's value before the user's changes, so that only changed values are saved.
    was: Vec<(String, String)>,
    colors: Vec<ColorField>,
    /// The colors in the brand's images that are not in the theme.
    more: Vec<Swatch>,
    fonts: Vec<FontField>,
    families: &'static [&'static str],
    corner_radius: RadiusField,
    contrasts: Vec<ColorContrast>,
    logos: Vec<LogoTile>,
    /// The query for the preview, which also shows submitted values that were not saved.
    preview: String,
}

#[derive(Serialize)]
struct ColorField {
    name: &'static str,
    field: String,
    label: &'static str,
    hint: &'static str,
    value: String,
    /// The color that the picker shows; [`UNPICKED`] if the field contains no valid color, because a picker cannot be empty.
    picked: String,
    is_own: bool,
}

#[derive(Serialize)]
struct FontField {
    name: &'static str,
    field: String,
    label: &'static str,
    value: String,
    stack: String,
    is_own: bool,
}

#[derive(Serialize)]
struct RadiusField {
    value: String,
    is_own: bool,
}

#[derive(Serialize)]
struct LogoTile {
    url: String,
    picture: String,
    ground: &'static str,
    source: &'static str,
    width: Option<u32>,
    height: Option<u32>,
    uses: Vec<&'static str>,
}

page_context!(ThemePage, "brand_theme.html", {
    let logo = |url: &str, width| LogoTile {
        url: url.into(),
        picture: "/test/picture".into(),
        ground: "light",
        source: "from the website",
        width,
        height: width,
        uses: vec!["primary"],
    };
    let project = json!({
        "brand": { "palette": { "primary": "#1F6B52" }, "fonts": { "heading": "Lora, serif" }, "cornerRadius": 8 },
        "overrides": { "palette": { "primary": "#1F6B52" }, "fonts": { "heading": "Lora, serif" }, "cornerRadius": 8 },
    });
    let page = |project: &Value| {
        let theme = Form::new(project, None);
        Self {
            head: BrandHead::sample("look", "active"),
            names: Form::names(),
            was: Form::new(project, None).values,
            colors: theme.colors(project),
            more: palette(&projects::brand::BrandPalette { accent: Some("#B4552D".into()), ..Default::default() }),
            fonts: theme.fonts(project),
            families: FAMILIES,
            corner_radius: theme.radius(project),
            contrasts: vec![ColorContrast { text: "text", ground: "background", ratio: 4.4, legible: false }],
            logos: vec![logo("https://acme.example/logo.svg", None), logo("https://acme.example/logo.png", Some(120))],
            preview: theme.query(),
        }
    };
    vec![page(&project), Self { logos: Vec::new(), more: Vec::new(), ..page(&json!({})) }]
});

/// TABLE: the color roles, each with its name in the API, its label and a hint.
const COLORS: &[(&str, &str, &str)] = &[
    ("primary", "Primary", "The main brand color"),
    ("accent", "Accent", "For small elements"),
    ("button", "Button", ""),
    ("buttonText", "Button text", ""),
    ("background", "Background", ""),
    ("text", "Text", ""),
];
const FONTS: &[(&str, &str)] = &[("heading", "Heading font"), ("body", "Text font")];
/// The number of image colors that the page offers.
const MORE_COLORS: usize = 6;
/// The color that a picker shows if its role has no color yet.
const UNPICKED: &str = "#808080";

/// The fonts that the form suggests: common system fonts, then common web fonts.
const FAMILIES: &[&str] = &[
    "Arial",
    "Helvetica",
    "Verdana",
    "Tahoma",
    "Trebuchet MS",
    "Georgia",
    "Times New Roman",
    "Courier New",
    "Inter",
    "Roboto",
    "Open Sans",
    "Lato",
    "Montserrat",
    "Poppins",
    "Nunito",
    "Work Sans",
    "Figtree",
    "DM Sans",
    "Source Sans 3",
    "Raleway",
    "Merriweather",
    "Lora",
    "Playfair Display",
    "Fraunces",
    "Libre Baskerville",
    "EB Garamond",
    "Bitter",
    "Space Grotesk",
];

/// The values of the form: the brand's values or, after an error, the submitted values.
struct Form {
    values: Vec<(String, String)>,
}

impl Form {
    fn new(project: &Value, submitted: Option<&Visit>) -> Self {
        let value = |field: String| {
            let value = submitted.map_or_else(|| current(project, &field), |visit| visit.form.get(&field).to_owned());
            (field, value)
        };
        Self { values: Self::names().into_iter().map(value).collect() }
    }

    fn names() -> Vec<String> {
        let colors = COLORS.iter().map(|(name, ..)| format!("palette.{name}"));
        colors.chain(FONTS.iter().map(|(name, _)| format!("fonts.{name}"))).chain(["cornerRadius".to_owned()]).collect()
    }

    fn get(&self, field: &str) -> &str {
        self.values.iter().find(|(name, _)| name == field).map_or("", |(_, value)| value)
    }

    fn colors(&self, project: &Value) -> Vec<ColorField> {
        let color = |&(name, label, hint): &(&'static str, &'static str, &'static str)| {
            let field = format!("palette.{name}");
            let value = self.get(&field).to_owned();
            ColorField { picked: picked(&value), is_own: is_own(project, &field), name, label, hint, value, field }
        };
        COLORS.iter().map(color).collect()
    }

    fn fonts(&self, project: &Value) -> Vec<FontField> {
        let font = |&(name, label): &(&'static str, &'static str)| {
            let field = format!("fonts.{name}");
            let stack = project["brand"]["fonts"][name].as_str().unwrap_or_default().to_owned();
            FontField { value: self.get(&field).to_owned(), is_own: is_own(project, &field), name, label, stack, field }
        };
        FONTS.iter().map(font).collect()
    }

    fn radius(&self, project: &Value) -> RadiusField {
        RadiusField { value: self.get("cornerRadius").to_owned(), is_own: is_own(project, "cornerRadius") }
    }

    /// Returns the query that shows these values in the preview.
    fn query(&self) -> String {
        let short = |field: &str| field.rsplit('.').next().unwrap_or_default().to_owned();
        // An invalid color is omitted.
        let is_right =
            |(field, value): &&(String, String)| !value.is_empty() && (!field.starts_with("palette.") || is_color(value));
        let values = self.values.iter().filter(is_right);
        serde_urlencoded::to_string(values.map(|(field, value)| (short(field), value)).collect::<Vec<_>>()).unwrap_or_default()
    }
}

/// Returns the brand's value for a field, as the form shows it.
fn current(project: &Value, field: &str) -> String {
    match &project["brand"].pointer(&format!("/{}", field.replace('.', "/"))) {
        Some(Value::String(text)) => first_family(text).to_owned(),
        // An imported radius can exceed the form's maximum, because websites use very large radii for pill shapes.
        Some(Value::Number(radius)) => radius.as_u64().unwrap_or_default().min(limits::CORNER_RADIUS_MAX).to_string(),
        _ => String::new(),
    }
}

fn is_own(project: &Value, field: &str) -> bool {
    project["overrides"].pointer(&format!("/{}", field.replace('.', "/"))).is_some_and(|own| !own.is_null())
}

/// Returns the color picker's value for a field's value; [`UNPICKED`] if that value is not a color.
fn picked(value: &str) -> String {
    if is_color(value) { value.to_ascii_lowercase() } else { UNPICKED.to_owned() }
}

fn is_color(value: &str) -> bool {
    value.len() == 7 && value.starts_with('#') && value[1..].bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the first family of a font stack. A color is returned unchanged.
fn first_family(text: &str) -> &str {
    text.split(',').next().unwrap_or_default().trim().trim_matches(['"', '\''])
}

pub async fn show(visit: &Visit) -> Result<PageResponse, PageError> {
    draw(visit, None).await
}

async fn draw(visit: &Visit, error: Option<PageError>) -> Result<PageResponse, PageError> {
    let (project, head) = prepare(visit, "look").await?;
    let shown = template::context(&project);
    let submitted = error.as_ref().filter(|_| visit.form.get("act") == "look").map(|_| visit);
    let form = Form::new(&shown, submitted);
    let was = Form::names().into_iter().map(|field| {
        let value = known(visit, &shown, &field);
        (field, value)
    });
    let in_use = project
        .logo_urls
        .map(|logos| [("primary", logos.primary.0), ("secondary", logos.secondary.0), ("favicon", logos.favicon.0)]);
    let brand = project.brand.unwrap_or_default();
    let more = more_colors(&brand);
    let logos = brand.logos.into_iter().map(|logo| LogoTile {
        picture: picture_path(visit, visit.path_parameter("id"), &logo.url),
        ground: if word(&logo.background) == "dark" { "dark" } else { "light" },
        source: source(&word(&logo.source)),
        width: logo.width,
        height: logo.height,
        uses: in_use.iter().flatten().filter(|(_, url)| url.as_ref() == Some(&logo.url)).map(|(place, _)| *place).collect(),
        url: logo.url,
    });
    let context = ThemePage {
        head,
        names: Form::names(),
        was: was.collect(),
        colors: form.colors(&shown),
        more,
        fonts: form.fonts(&shown),
        families: FAMILIES,
        corner_radius: form.radius(&shown),
        contrasts: project.contrasts.unwrap_or_default(),
        logos: logos.collect(),
        preview: form.query(),
    };
    Ok(PageResponse::draw_with(&context, error.as_ref()))
}

/// Returns the colors in the brand's images that the theme does not contain, without duplicates.
fn more_colors(brand: &Brand) -> Vec<Swatch> {
    let known = palette(&brand.palette);
    let mut more: Vec<Swatch> = Vec::new();
    for color in brand.images.iter().flat_map(|image| &image.colors) {
        if more.len() < MORE_COLORS && known.iter().chain(&more).all(|other| !other.color.eq_ignore_ascii_case(color)) {
            more.push(Swatch { role: "image", label: "From your images", color: color.clone() });
        }
    }
    more
}

fn source(word: &str) -> &'static str {
    match word {
        "given" => "added manually",
        "header" => "from the page header",
        "structuredData" => "from the page's structured data",
        "manifest" => "from the web app icon",
        "iconLink" => "from the site icon",
        "share" => "from the social sharing image",
        _ => "from the website",
    }
}

/// Shows a sample email in the brand's theme. Values in the query replace those of the theme.
pub async fn preview(visit: &Visit) -> Result<PageResponse, PageError> {
    let mut input = json!({ "projectId": visit.path_parameter("id"), "images": true });
    for field in Form::names() {
        let name = field.rsplit('.').next().unwrap_or_default();
        let value = visit.query.get(name);
        if !value.is_empty() {
            input[name] = if name == "cornerRadius" { value.parse::<u64>().ok().into() } else { value.into() };
        }
    }
    visit.forward::<emails::ops::theme_preview::ThemePreview>(input).await
}

pub async fn send(visit: &Visit) -> Result<PageResponse, PageError> {
    let id = visit.path_parameter("id");
    let (set, word) = match visit.form.get("act") {
        // The user chose one of the logos on the page.
        "use" => (set_logo(visit, id, visit.form.some("url")).await, "logo"),
        "unset" => (set_logo(visit, id, None).await, "logo"),
        "give" => (give_logo(visit, id).await, "logo"),
        "look" => (save(visit, id).await, "look"),
        _ => return Err(PageError::unknown_action()),
    };
    match set {
        Ok(()) => Ok(done(visit, word)),
        Err(error) if is_shown(&error) => draw(visit, Some(error)).await,
        Err(error) => Err(error),
    }
}

/// Returns the value that the page showed for a field before the user's changes. Without a submitted form, returns the brand's value.
fn known(visit: &Visit, project: &Value, field: &str) -> String {
    let was = format!("was.{field}");
    if visit.form.has(&was) { visit.form.get(&was).to_owned() } else { current(project, field) }
}

/// Returns the submitted value of a field.
fn sent<'v>(visit: &'v Visit, project: &Value, field: &str) -> &'v str {
    let (known, sent) = (known(visit, project, field), visit.form.get(field));
    // Without scripts, the color picker and the text field do not update each other, so the value that the user changed is used.
    let picker = visit.form.some(&format!("pick.{field}")).filter(|pick| *pick != picked(&known));
    picker.filter(|_| sent.eq_ignore_ascii_case(&known)).unwrap_or(sent)
}

/// Saves the values that the user changed. An empty field restores the imported value.
async fn save(visit: &Visit, id: &str) -> Result<(), PageError> {
    let (project, _) = prepare(visit, "look").await?;
    let shown = template::context(&project);
    let mut input = json!({ "projectId": id, "palette": {}, "fonts": {} });
    for field in Form::names() {
        let known = known(visit, &shown, &field);
        let sent = sent(visit, &shown, &field);
        let (reset, is_button) = (visit.form.get("reset") == field, field == "palette.button");
        let button = visit.form.some("button").filter(|_| is_button).map(|button| match button.starts_with('#') {
            true => button,
            // Without a `#`, the submitted `button` names the field whose color becomes the button color. The submitted color is used,
            // because it may not be saved yet.
            false => self::sent(visit, &shown, button),
        });
        if !reset && button.is_none() && sent.eq_ignore_ascii_case(&known) {
            continue;
        }
        let value = match button {
            Some("") => continue,
            Some(button) => button.into(),
            None if reset || sent.is_empty() => Value::Null,
            None if field == "cornerRadius" => sent.parse::<u64>().map_or_else(|_| sent.into(), Value::from),
            None => sent.into(),
        };
        let is_same = match &value {
            Value::String(text) => text.eq_ignore_ascii_case(&known),
            Value::Number(number) => number.as_u64() == known.parse().ok(),
            _ => false,
        };
        if is_same {
            continue;
        }
        if !value.is_null() || is_own(&shown, &field) {
            match field.split_once('.') {
                Some((group, name)) => input[group][name] = value,
                None => input[&field] = value,
            }
        }
    }
    visit.ask::<projects::ops::update::Update>(input).await.map(drop)
}

async fn give_logo(visit: &Visit, id: &str) -> Result<(), PageError> {
    let place = place(visit)?;
    let url = match visit.form.file("file") {
        Some(file) => {
            let upload = json!({ "projectId": id, "file": BASE64.encode(&file.bytes), "tags": ["logo"] });
            let Created(image) = visit.ask::<projects::ops::images_upload::ImagesUpload>(upload).await?;
            image.url
        }
        None => visit.form.get("url").to_owned(),
    };
    let set = set_logo(visit, id, Some(&url)).await;
    // All logos share one URL field in the form, so an error about any logo is shown at that field.
    set.map_err(|error| PageError { field: if error.field == place { "url".into() } else { error.field }, ..error })
}

/// Replaces the logo that the form names with the image at this URL, or restores the website's own logo if `url` is `None`.
async fn set_logo(visit: &Visit, id: &str, url: Option<&str>) -> Result<(), PageError> {
    let input = json!({ "projectId": id, (place(visit)?): url });
    visit.ask::<projects::ops::logos_update::LogosUpdate>(input).await.map(drop)
}

/// Returns which of the brand's logos the form changes.
fn place(visit: &Visit) -> Result<&'static str, PageError> {
    let places = ["primary", "secondary", "favicon"];
    places.into_iter().find(|place| *place == visit.form.get("place")).ok_or_else(PageError::not_found)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Regression test: a pill radius imported from a website made the form reject every change.
    #[test]
    fn the_form_shows_no_larger_radius_than_it_accepts() {
        let brand = |radius: u64| json!({ "brand": { "cornerRadius": radius } });
        assert_eq!(current(&brand(999), "cornerRadius"), limits::CORNER_RADIUS_MAX.to_string());
        assert_eq!(current(&brand(8), "cornerRadius"), "8");
        let form = Form::new(&brand(999), None);
        assert_eq!(form.query(), format!("cornerRadius={}", limits::CORNER_RADIUS_MAX));
    }
}
