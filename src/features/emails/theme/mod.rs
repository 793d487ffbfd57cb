//! The theme of a brand's email: a layout, legible colors, fonts and corners.
//!
//! The same brand, document and seed produce the same theme. A suitable default replaces each property that the brand lacks. The theme does
//! not depend on the content of blocks.

pub mod color;
pub mod design;
mod fonts;
mod ground;

pub use design::Design;
pub use ground::{Ground, PreferredColors};

use self::color::{mix, saturation};
use crate::base::color::{BLACK, WHITE, luminance};
use crate::base::text::Color;
use crate::features::emails::document::{Corners, Email, Layout, Purpose, Style};
use crate::features::projects::brand::{Brand, BrandFormality, BrandLogo, BrandWebFont, FontKind};

#[derive(Clone, Debug)]
pub struct Theme {
    pub layout: Layout,
    pub design: Design,
    pub families: Families,
    /// The web fonts of the families, as font files and style sheets, for clients that load web fonts.
    pub web_fonts: Vec<BrandWebFont>,
    pub radius: Radius,
    pub light: ThemeColors,
    /// The colors for recipients whose devices are in dark mode.
    pub dark: ThemeColors,
    /// The brand's logos, best logo first.
    pub logos: Vec<BrandLogo>,
}

/// Font stacks that are safe in double-quoted attributes.
#[derive(Clone, Debug)]
pub struct Families {
    pub heading: String,
    pub body: String,
    pub mono: String,
    /// Whether headings have a serif font. Serif letters are narrower.
    pub has_serif_headings: bool,
}

/// Corner radii in pixels.
#[derive(Clone, Copy, Debug)]
pub struct Radius {
    pub button: u16,
    pub card: u16,
    pub image: u16,
}

/// The backgrounds of an email.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThemeColors {
    /// The background around the email.
    pub page: Ground,
    /// The background of the email's text.
    pub sheet: Ground,
    /// The background of slightly emphasized parts.
    pub tint: Ground,
    /// The background of fields in the brand's color.
    pub band: Ground,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroundName {
    Page,
    Sheet,
    Tint,
    Band,
}

impl GroundName {
    pub const ALL: [Self; 4] = [Self::Page, Self::Sheet, Self::Tint, Self::Band];

    /// Returns the background's name in CSS classes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Sheet => "sheet",
            Self::Tint => "tint",
            Self::Band => "band",
        }
    }
}

impl ThemeColors {
    pub fn ground(&self, name: GroundName) -> &Ground {
        match name {
            GroundName::Page => &self.page,
            GroundName::Sheet => &self.sheet,
            GroundName::Tint => &self.tint,
            GroundName::Band => &self.band,
        }
    }
}

/// The main color for brands without a color.
const INK: Color = Color { red: 31, green: 41, blue: 55 };
const NIGHT: Color = Color { red: 17, green: 18, blue: 22 };

impl Theme {
    /// Returns the theme of this email. If the document names no layout, the layout depends on the purpose, the brand and the seed, so it
    /// can change when the brand changes.
    pub fn new(brand: &Brand, email: &Email, seed: u64) -> Self {
        let layout = email.style.layout.unwrap_or_else(|| choose(email.purpose, brand, seed));
        let design = Design::of(layout);
        let (light, dark) = colors(brand, &email.style, layout);
        let logos = brand.logos.clone();
        let families = families(brand, &design);
        Self {
            layout,
            design,
            web_fonts: fonts::loaded(&brand.web_fonts, [&families.heading, &families.body]),
            families,
            radius: radius(brand, &email.style, layout),
            light,
            dark,
            logos,
        }
    }
}

/// Returns the layout for an email with this purpose and brand. A different seed can produce a different layout.
pub fn choose(purpose: Purpose, brand: &Brand, seed: u64) -> Layout {
    let suited = suited(purpose).iter().filter(|layout| fits(**layout, brand));
    let weighted: Vec<Layout> = suited.flat_map(|layout| std::iter::repeat_n(*layout, weight(*layout, brand))).collect();
    let drawn = scatter(seed) % weighted.len().max(1) as u64;
    weighted.get(drawn as usize).copied().unwrap_or(Layout::Cards)
}

fn suited(purpose: Purpose) -> &'static [Layout] {
    use Layout::*;
    match purpose {
        Purpose::Welcome => &[Cards, Bold, Letter, Editorial, Minimal],
        Purpose::Sale => &[Bold, Showcase, Midnight, Cards],
        Purpose::Launch => &[Midnight, Bold, Showcase, Minimal, Editorial],
        Purpose::Newsletter => &[Bulletin, Editorial, Cards],
        Purpose::Event => &[Midnight, Bold, Editorial, Bulletin],
        Purpose::CartReminder => &[Showcase, Cards, Minimal],
        Purpose::WinBack => &[Letter, Bold, Minimal, Cards],
        Purpose::ReviewRequest => &[Letter, Minimal, Cards],
        Purpose::Receipt => &[Cards, Bulletin, Letter],
        Purpose::Seasonal => &[Editorial, Showcase, Midnight, Bold],
        Purpose::Referral => &[Cards, Bold, Letter],
        Purpose::Announcement => &[Bulletin, Editorial, Letter, Minimal],
    }
}

/// Returns whether the brand's website is dark. Other brands get dark emails only if the document requests them.
pub fn is_dark(brand: &Brand) -> bool {
    parsed(brand.palette.background.as_deref()).is_some_and(|color| luminance(color) < 0.1)
}

/// Returns whether a layout is possible with the brand's palette, products, images and voice.
fn fits(layout: Layout, brand: &Brand) -> bool {
    match layout {
        Layout::Midnight => is_dark(brand),
        Layout::Showcase => !brand.products.is_empty() || !brand.images.is_empty(),
        Layout::Bold => brand.voice.formality != Some(BrandFormality::Formal),
        _ => true,
    }
}

/// Returns the weight of a layout in the random choice for a brand.
fn weight(layout: Layout, brand: &Brand) -> usize {
    let serif = brand.fonts.heading.as_deref().is_some_and(|stack| fonts::kind(stack) == FontKind::Serif);
    let round = brand.corner_radius.is_some_and(|radius| radius >= 10);
    let goes_well = match layout {
        Layout::Editorial | Layout::Minimal => serif,
        Layout::Midnight => is_dark(brand),
        Layout::Cards => round,
        Layout::Showcase => brand.products.len() >= 3,
        Layout::Bold | Layout::Bulletin | Layout::Letter => false,
    };
    if goes_well { 3 } else { 2 }
}

/// Maps consecutive seeds to distant numbers (the finalizer of SplitMix64).
fn scatter(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

fn parsed(color: Option<&str>) -> Option<Color> {
    color?.parse().ok()
}

fn colors(brand: &Brand, style: &Style, layout: Layout) -> (ThemeColors, ThemeColors) {
    let palette = &brand.palette;
    let own = [&palette.primary, &palette.button, &palette.accent].into_iter().find_map(|color| parsed(color.as_deref()));
    let primary = style.primary.or(own).unwrap_or(INK);
    let button = style.button.or(style.primary).or_else(|| parsed(palette.button.as_deref())).unwrap_or(primary);
    let wishes = PreferredColors {
        text: parsed(palette.text.as_deref()).unwrap_or_else(|| mix(NIGHT, primary, 0.08)),
        primary,
        accent: parsed(palette.accent.as_deref()),
        button,
        on_button: parsed(palette.button_text.as_deref()),
    };
    let (sheet, page) = papers(brand, style, layout, primary);
    let light = grounds(sheet, page, &wishes);
    let light = ThemeColors { band: style.boxes.map_or(light.band, |color| Ground::band(color, &wishes)), ..light };
    // An email with a dark background stays unchanged in dark mode.
    if luminance(sheet) < 0.18 {
        return (light, light);
    }
    let sheet = mix(Color { red: 24, green: 25, blue: 28 }, primary, 0.04);
    let page = if light.page.ground == light.sheet.ground { sheet } else { mix(sheet, BLACK, 0.4) };
    let dark = grounds(sheet, page, &wishes);
    // Colored fields have the same color in light and dark mode.
    (light, ThemeColors { band: light.band, ..dark })
}

/// Returns the colors of the sheet and of the page around it.
fn papers(brand: &Brand, style: &Style, layout: Layout, primary: Color) -> (Color, Color) {
    let own = parsed(brand.palette.background.as_deref());
    // A color of medium brightness is unsuitable as a background, because text has little contrast with it.
    let usable = own.filter(|color| luminance(*color) > 0.72 || luminance(*color) < 0.06);
    let near_white = |color: Color| luminance(color) > 0.93;
    if let Some(given) = style.background {
        return (given, if layout == Layout::Cards { mix(given, color::opposite(given), 0.06) } else { given });
    }
    let tinted = |share: f64| mix(WHITE, primary, share);
    match layout {
        Layout::Midnight => {
            let night = usable.filter(|color| luminance(*color) < 0.06).unwrap_or_else(|| mix(NIGHT, primary, 0.07));
            (night, night)
        }
        Layout::Cards => match usable {
            Some(color) if luminance(color) < 0.06 => (mix(color, WHITE, 0.08), color),
            Some(color) if !near_white(color) => (WHITE, color),
            _ => (WHITE, tinted(if saturation(primary) > 0.25 { 0.09 } else { 0.07 })),
        },
        Layout::Editorial | Layout::Minimal | Layout::Letter => {
            let paper = usable.unwrap_or(WHITE);
            (paper, paper)
        }
        Layout::Bold | Layout::Showcase | Layout::Bulletin => {
            let paper = usable.unwrap_or(WHITE);
            (paper, mix(paper, color::opposite(paper), 0.05))
        }
    }
}

fn grounds(sheet: Color, page: Color, wishes: &PreferredColors) -> ThemeColors {
    let is_dark = luminance(sheet) < 0.18;
    let tint = if is_dark { mix(sheet, WHITE, 0.07) } else { mix(sheet, wishes.primary, 0.07) };
    // A field in the color of the sheet would be invisible.
    let field = [wishes.primary, wishes.button, wishes.text].into_iter().find(|color| ground::is_seen(*color, sheet));
    let field = field.unwrap_or_else(|| mix(sheet, color::opposite(sheet), 0.85));
    ThemeColors {
        page: Ground::new(page, wishes),
        sheet: Ground::new(sheet, wishes),
        tint: Ground::new(tint, wishes),
        band: Ground::band(field, wishes),
    }
}

fn families(brand: &Brand, design: &Design) -> Families {
    let body = fonts::stack(brand.fonts.body.as_deref()).or_else(|| fonts::stack(brand.fonts.heading.as_deref()));
    let body = body.unwrap_or_else(|| fonts::SANS.to_owned());
    let own = fonts::stack(brand.fonts.heading.as_deref()).or_else(|| fonts::stack(brand.fonts.body.as_deref()));
    // Only a brand without fonts gets the font of the layout.
    let heading = own.unwrap_or_else(|| match design.voice {
        design::Voice::Serif => fonts::SERIF.to_owned(),
        design::Voice::Brand => body.clone(),
    });
    let has_serif_headings = fonts::kind(&heading) == FontKind::Serif;
    Families { heading, body, mono: fonts::MONO.to_owned(), has_serif_headings }
}

/// The corner radius, in pixels, that gives a button fully rounded ends at any font size.
const PILL: u16 = 100;

fn radius(brand: &Brand, style: &Style, layout: Layout) -> Radius {
    let usual = match layout {
        Layout::Editorial | Layout::Minimal => 0,
        Layout::Bulletin => 4,
        Layout::Showcase | Layout::Letter => 6,
        Layout::Midnight => 8,
        Layout::Cards => 12,
        Layout::Bold => PILL,
    };
    let own = match style.corners {
        Some(Corners::Sharp) => 0,
        Some(Corners::Soft) => 6,
        Some(Corners::Round) => PILL,
        None => brand.corner_radius.unwrap_or(usual),
    };
    let button = if own >= 20 { PILL } else { own };
    // Cards are large, so in this layout they can be rounder than buttons, up to a limit.
    let card = if layout == Layout::Cards && own > 0 { own.clamp(10, 20) } else { own.min(16) };
    Radius { button, card, image: own.min(12) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::color::{LEGIBLE, contrast};
    use crate::features::projects::brand::BrandPalette;

    fn brand(background: &str, text: &str, primary: &str, button: &str) -> Brand {
        let given = |color: &str| (!color.is_empty()).then(|| color.to_owned());
        let palette = BrandPalette {
            background: given(background),
            text: given(text),
            primary: given(primary),
            button: given(button),
            ..BrandPalette::default()
        };
        Brand { palette, ..Brand::default() }
    }

    #[test]
    fn every_text_is_legible_on_every_background_of_every_layout() {
        for brand in [
            Brand::default(),
            brand("#FFFFFF", "#222222", "#FFD400", "#FFD400"),
            brand("#0B0B0F", "#EDEDED", "#7C3AED", "#22D3EE"),
            brand("#FF0000", "#00FF00", "#FF00FF", "#FFFF00"),
            brand("#808080", "#808080", "#808080", "#808080"),
            brand("#FFF8EE", "#FFFFFF", "#FFFFFF", "#FFFFFF"),
            brand("#000000", "#000000", "#000000", "#000000"),
        ] {
            for layout in Layout::ALL {
                let style = Style { layout: Some(layout), ..Style::default() };
                let email = Email { style, ..Email::sample() };
                let theme = Theme::new(&brand, &email, 1);
                for (colors, name) in [theme.light, theme.dark].iter().flat_map(|all| GroundName::ALL.map(|name| (*all, name))) {
                    // Text in the text color of the sheet also appears on the stripes of tables.
                    let striped = (colors.sheet.text, colors.tint.ground);
                    for (text, ground) in colors.ground(name).pairs().into_iter().chain([striped]) {
                        let ratio = contrast(text, ground);
                        assert!(ratio >= LEGIBLE, "{layout:?} {name:?}: {text} on {ground} has {ratio:.2}; {:?}", brand.palette);
                    }
                }
            }
        }
    }

    #[test]
    fn purposes_and_seeds_give_different_layouts() {
        let brand = Brand::default();
        let all: std::collections::HashSet<Layout> =
            Purpose::ALL.iter().flat_map(|purpose| (0..20).map(|seed| choose(*purpose, &brand, seed))).collect();
        assert_eq!(all.len(), Layout::ALL.len() - 2, "a light brand without pictures gets no showcase and no dark page: {all:?}");
        assert_eq!(choose(Purpose::Sale, &brand, 7), choose(Purpose::Sale, &brand, 7));
    }

    #[test]
    fn only_a_brand_with_a_dark_site_gets_dark_emails_without_asking() {
        let chosen = |background: &str| {
            let brand = brand(background, "", "#B4552D", "#B4552D");
            let all = Purpose::ALL.iter().flat_map(|purpose| (0..20).map(|seed| choose(*purpose, &brand, seed)));
            all.collect::<std::collections::HashSet<Layout>>().contains(&Layout::Midnight)
        };
        assert!(chosen("#101014") && !chosen("#FAF6EF") && !chosen(""));
    }

    /// Regression test: in two layouts, every brand had a nearly black footer, and the letter layout was white for a brand with a cream
    /// background.
    #[test]
    fn every_background_of_a_light_brand_is_light_except_its_color_fields() {
        let brand = brand("#FAF6EF", "#262C30", "#B4552D", "#B4552D");
        for layout in Layout::ALL.into_iter().filter(|layout| *layout != Layout::Midnight) {
            let email = Email { style: Style { layout: Some(layout), ..Style::default() }, ..Email::sample() };
            let colors = Theme::new(&brand, &email, 1).light;
            for name in GroundName::ALL.into_iter().filter(|name| *name != GroundName::Band) {
                assert!(luminance(colors.ground(name).ground) > 0.7, "{layout:?} {name:?}");
            }
            if layout == Layout::Letter {
                assert_eq!(colors.sheet.ground.to_string(), "#FAF6EF");
            }
        }
    }

    /// Regression test: the minimal layout had thin black outlines instead of buttons in the brand's color.
    #[test]
    fn the_button_has_the_brands_color_in_every_layout() {
        let berry = brand("#FFFFFF", "#1A1A1A", "#944257", "#944257");
        for layout in Layout::ALL.into_iter().filter(|layout| *layout != Layout::Midnight) {
            let email = Email { style: Style { layout: Some(layout), ..Style::default() }, ..Email::sample() };
            let theme = Theme::new(&berry, &email, 1);
            for ground in [theme.light.sheet, theme.light.page, theme.light.tint] {
                assert_eq!(ground.button.to_string(), "#944257", "{layout:?}");
                assert!(contrast(ground.on_button, ground.button) >= LEGIBLE, "{layout:?}");
            }
        }
        let orange = brand("#FFFFFF", "#1A1A1A", "#12284C", "#FFB347");
        let band = Theme::new(&orange, &Email::sample(), 1).light.band;
        assert_eq!(band.button.to_string(), "#FFB347", "on the field of another color");
    }

    /// Regression test: three layouts set every brand's headings in Georgia, even if the brand's font was Inter.
    #[test]
    fn no_layout_sets_a_serif_heading_for_a_brand_whose_font_is_sans() {
        let mut inter = brand("#FFFFFF", "#222222", "#4F46E5", "#4F46E5");
        inter.fonts.heading = Some("Inter, Arial, Helvetica, sans-serif".to_owned());
        for layout in Layout::ALL {
            let style = Style { layout: Some(layout), ..Style::default() };
            let families = Theme::new(&inter, &Email { style, ..Email::sample() }, 1).families;
            assert!(!families.has_serif_headings && families.heading.starts_with("Inter, "), "{layout:?}: {}", families.heading);
        }
        let style = Style { layout: Some(Layout::Editorial), ..Style::default() };
        let plain = Theme::new(&Brand::default(), &Email { style, ..Email::sample() }, 1);
        assert!(plain.families.has_serif_headings, "a brand without fonts gets those of the layout");
    }

    #[test]
    fn a_choice_in_the_document_overrides_the_brand() {
        let red = Color { red: 200, green: 0, blue: 0 };
        let style = Style { layout: Some(Layout::Letter), button: Some(red), corners: Some(Corners::Sharp), ..Style::default() };
        let theme = Theme::new(&brand("", "", "#00AA00", "#00AA00"), &Email { style, ..Email::sample() }, 1);
        assert_eq!((theme.layout, theme.light.sheet.button, theme.radius.button), (Layout::Letter, red, 0));
    }
}
