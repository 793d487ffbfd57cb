//! Shows a small email in a brand's theme, optionally with theme values that are not saved.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::base::bounded::Bounded;
use crate::base::locale::LanguageTag;
use crate::base::text::{Color, Name};
use crate::engine::api::http_types::Reply;
use crate::engine::api::operation::Media;
use crate::engine::api::{Bare, Context, Failure, Operation, Raw, RawRequest, Spec, needs_one, untrusted_html};
use crate::engine::store::ReadTx;
use crate::features::emails::document::{self, Block, Email, Footer, Header, Hero, ImageUrl, Layout, Link, Rich, Style};
use crate::features::emails::theme::Theme;
use crate::features::emails::{READERS, render};
use crate::features::projects::brand::{
    Brand, BrandFonts, BrandLogo, BrandLogoBackground, BrandLogoSource, BrandPalette, is_drawing,
};
use crate::features::projects::{self, BrandOverrides, font_stack};
use crate::vocab::codes::Code;
use crate::vocab::ids::ProjectId;
use crate::vocab::rates::RouteGroup;
use crate::vocab::{limits, placeholders};

/// The operation `emails.theme_preview`.
pub struct ThemePreview;

type FontName = Name<{ limits::FONT_NAME_CHARACTERS_MAX }>;

/// The brand, theme values that replace the brand's own, and whether to load the logo.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TriedTheme {
    pub project_id: ProjectId,
    pub background: Option<Color>,
    pub text: Option<Color>,
    pub primary: Option<Color>,
    pub accent: Option<Color>,
    pub button: Option<Color>,
    pub button_text: Option<Color>,
    /// The name of the heading font.
    pub heading: Option<FontName>,
    /// The name of the text font.
    pub body: Option<FontName>,
    pub corner_radius: Option<Bounded<0, { limits::CORNER_RADIUS_MAX }>>,
    /// Whether to load the logo through this service.
    pub images: Option<bool>,
}

impl Operation for ThemePreview {
    const SPEC: Spec = Spec::get("emails.theme_preview", "/v1/projects/{projectId}/theme-preview", needs_one(READERS))
        .client("projects.preview_theme")
        .summary("Show a sample email in a brand's theme")
        .about("Colors, fonts and the corner radius in the query replace the brand's own values without saving them.")
        .rate(RouteGroup::Emails)
        .fails(&[Code::NotFound]);
    type Input = TriedTheme;
    type Output = Bare;

    fn example() -> (Value, Self::Output) {
        (json!({ "projectId": "66f1a2b3d4e5f60718293a4b", "button": "#1F6B52" }), Bare)
    }
}

impl Raw for ThemePreview {
    const MEDIA: Media = Media::gives("text/html; charset=utf-8");

    async fn run(context: Context, input: TriedTheme, _: RawRequest) -> Result<Reply, Failure> {
        let account = context.caller.account();
        let images = input.images == Some(true);
        let query = move |tx: &ReadTx| {
            let found = projects::brand(tx, account, input.project_id)?;
            let (_, mut brand) =
                found.ok_or_else(|| Failure::because(Code::NotFound, "The account has no brand with this ID."))?;
            tried(input).put_over(&mut brand);
            let document = sample(&brand);
            let html = render::render(&document, &Theme::new(&brand, &document, 0)).html;
            Ok(render::address_in(&html, brand.contact.address.as_deref(), true))
        };
        let (html, engine) = (placeholders::preview(&context.read(query).await?), &context.engine);
        let html = if images { projects::images_through_here(engine, html).await? } else { html };
        Ok(untrusted_html::document(&html, "private, no-store", untrusted_html::Images::Here(engine.base_url())))
    }
}

fn tried(input: TriedTheme) -> BrandOverrides {
    let text = |color: Option<Color>| color.map(|color| color.to_string());
    let font = |name: Option<FontName>| name.map(|name| font_stack(&name));
    BrandOverrides {
        palette: BrandPalette {
            background: text(input.background),
            text: text(input.text),
            primary: text(input.primary),
            accent: text(input.accent),
            button: text(input.button),
            button_text: text(input.button_text),
        },
        fonts: BrandFonts { heading: font(input.heading), body: font(input.body) },
        corner_radius: input.corner_radius.map(|radius| radius.get() as u16),
        ..BrandOverrides::default()
    }
}

/// Returns a small email with a header, a title, text, a button and a footer.
fn sample(brand: &Brand) -> Email {
    let link = || Link::parse("https://example.com/").expect("the sample's address is valid");
    let rich = |markup: &str| Rich::parse(markup).expect("the sample's markup is valid");
    let shows = |logo: &&BrandLogo| {
        let BrandLogo { url, background, source, .. } = *logo;
        *background != BrandLogoBackground::Dark
            && !matches!(source, BrandLogoSource::IconLink | BrandLogoSource::Share)
            && !is_drawing(url)
    };
    let name = brand.name.as_deref().unwrap_or("Your brand");
    let header = Header {
        id: "header".into(),
        name: name.into(),
        logo: brand.logos.iter().find(shows).and_then(|logo| ImageUrl::parse(&logo.url).ok()),
        href: None,
        links: Vec::new(),
    };
    let hero = Hero {
        id: "hero".into(),
        eyebrow: Some("Sample email".into()),
        title: "A headline in your style".into(),
        text: Some(rich("This is how text looks in your emails, with **bold words** and [a link](https://example.com/).")),
        image: None,
        button: Some(document::Action { label: "A button".into(), href: link() }),
    };
    let footer = Footer {
        id: "footer".into(),
        sender: brand.contact.company.as_deref().unwrap_or(name).into(),
        address: None,
        reason: None,
        links: Vec::new(),
        unsubscribe: "Unsubscribe".into(),
        view: None,
    };
    Email {
        version: document::VERSION,
        language: LanguageTag::parse("en").expect("the language tag en is valid"),
        direction: document::Direction::Ltr,
        purpose: document::Purpose::Announcement,
        subject: "A sample".into(),
        preheader: "A sample".into(),
        style: Style { layout: Some(Layout::Cards), ..Style::default() },
        blocks: vec![Block::Header(header), Block::Hero(hero), Block::Footer(footer)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestApp;

    #[test]
    fn saved_and_tried_values_show_in_the_sample() {
        let app = TestApp::new();
        let path = format!("/v1/projects/{}", app.project);
        let set = json!({ "name": "Acme <Tea>", "address": "1 High & Low Street", "palette": { "button": "#1F6B52" } });
        app.patch(&path, set).data();
        let shown = |query: &str| {
            let (_, _, page) = app.download(&format!("{path}/theme-preview{query}"));
            String::from_utf8(page).expect("a page is text")
        };
        let html = shown("");
        assert!(
            html.contains("Acme &lt;Tea&gt;") && html.contains("1 High &amp; Low Street") && html.contains("#1F6B52"),
            "{html}"
        );
        let html = shown("?button=%23B4552D&cornerRadius=30&heading=Lora");
        assert!(html.contains("#B4552D") && !html.contains("#1F6B52") && html.contains("Lora"), "{html}");
        assert_eq!(app.get(&path).data()["palette"]["button"], "#1F6B52", "a preview saves nothing");
        let refused = app.get(&format!("{path}/theme-preview?button=red"));
        assert!(refused.refusal().2.starts_with("button"), "{refused:?}");
    }
}
