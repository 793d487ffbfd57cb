//! Creates the page around the parts: the type scale, the preview text, and the backgrounds in light and dark mode.

use std::collections::BTreeMap;

use super::block_context::BlockContext;
use super::cells::{Dark, FamilyNames, Gutter, Part, SmallTitle, TemplateInput, TypeSize};
use super::parts::parts;
use crate::features::emails::document::{Block, Email, HeadingLevel};
use crate::features::emails::theme::design::{Size, Voice};
use crate::features::emails::theme::{GroundName, Theme};
use crate::features::projects::brand::BrandWebFont;

/// The gutter widths that rows can have, in pixels.
const GUTTERS: [u16; 5] = [0, 7, 10, 12, 14];

/// Returns the input of the templates.
pub fn page(email: &Email, theme: &Theme) -> TemplateInput {
    let set = BlockContext::new(email, theme);
    let parts = parts(email, theme);
    let sizes = sizes(&set);
    let css = sizes.iter().map(|size| (size.name, declarations(size))).collect::<BTreeMap<_, _>>();
    let characters = title_characters(email);
    let title = theme.design.scale.title;
    let small = shorter(Size { size: theme.design.scale.title_small, ..title }, characters).size;
    let side = theme.design.room.side_small;
    let (font_files, font_sheets) = theme.web_fonts.iter().cloned().partition(BrandWebFont::is_file);
    TemplateInput {
        language: email.language.as_str().to_owned(),
        direction: email.direction.as_str(),
        subject: email.subject.to_string(),
        preview: preview(&email.preheader),
        width: set.width(),
        page: theme.light.page,
        sizes,
        css,
        families: FamilyNames {
            heading: theme.families.heading.clone(),
            body: theme.families.body.clone(),
            mono: theme.families.mono.clone(),
        },
        font_sheets: Vec::<BrandWebFont>::into_iter(font_sheets).map(|font| font.url).collect(),
        font_files,
        start: set.start(),
        end: set.end(),
        title_small: SmallTitle { size: small, line: small * title.line / title.size },
        gutters: GUTTERS.map(|width| Gutter { width, side: side.saturating_sub(width) }).into(),
        darks: darks(theme, &parts),
        has_night: theme.light != theme.dark,
        night_page: theme.dark.page.ground,
        stripe: theme.dark.tint.ground,
        cards: theme.design.cards,
        card_radius: theme.radius.card,
        parts,
    }
}

/// Returns the preheader, followed by wide but invisible characters. Without these characters, email clients would continue the preview
/// with the first words of the email.
fn preview(preheader: &str) -> String {
    const ROOM: usize = 150;
    let filler = "\u{34f}\u{200c}\u{a0}".repeat(ROOM.saturating_sub(preheader.chars().count()));
    format!("{preheader}{filler}")
}

fn darks(theme: &Theme, parts: &[Part]) -> Vec<Dark> {
    let frames: Vec<&str> = parts
        .iter()
        .flat_map(|part| &part.rows)
        .flat_map(|row| &row.columns)
        .filter_map(|column| column.frame.as_ref().map(|frame| frame.name))
        .collect();
    let used = |name: GroundName| {
        let is_inside = frames.contains(&name.as_str());
        let is_used = is_inside || name == GroundName::Page || parts.iter().any(|part| part.ground == name);
        is_used.then(|| Dark { name: name.as_str(), g: *theme.dark.ground(name), inside: is_inside })
    };
    GroundName::ALL.into_iter().filter_map(used).collect()
}

fn sizes(set: &BlockContext<'_>) -> Vec<TypeSize> {
    let scale = &set.design().scale;
    let families = &set.theme.families;
    let (heading, body) = (&families.heading, &families.body);
    let serif = set.design().voice == Voice::Serif && set.theme.families.has_serif_headings;
    // Scripts with connected letters or without uppercase letters must not have letter spacing or italics.
    let plain = set.is_rtl();
    let size = |name, family: &String, size: Size| TypeSize {
        name,
        family: family.clone(),
        size: size.size,
        line: size.line,
        weight: size.weight,
        spacing: if plain || size.spacing == 0 { "normal".to_owned() } else { em(size.size, size.spacing) },
        capitals: false,
        italic: false,
    };
    let (body_size, title) = (scale.body, shorter(scale.title, title_characters(set.email)));
    let quote = if serif { Size::new(27, 38, 400, 0) } else { Size::new(body_size.size + 4, body_size.line + 6, 500, 0) };
    let figure = Size::new((scale.section.size.max(20) + 2).min(30), (scale.section.line.max(26) + 4).min(38), title.weight, 0);
    let name = if title.weight >= 700 { Size::new(22, 28, 800, -1) } else { Size::new(24, 30, 400, 0) };
    let price_weight = if title.weight >= 600 { 700 } else { 600 };
    vec![
        size("title", heading, title),
        size("section", heading, scale.section),
        size("small", heading, scale.small),
        size("lead", body, scale.lead),
        size("body", body, body_size),
        size("note", body, scale.note),
        TypeSize { capitals: !plain, ..size("eyebrow", body, Size::new(12, 18, 700, 14)) },
        size("name", heading, name),
        TypeSize { italic: serif && !plain, ..size("quote", if serif { heading } else { body }, quote) },
        size("price", body, Size::new(body_size.size, body_size.line, price_weight, 0)),
        size("figure", heading, figure),
        size("stars", body, Size::new(20, 24, 400, 12)),
    ]
}

/// Returns the number of characters in the longest title.
fn title_characters(email: &Email) -> usize {
    let titles = email.blocks.iter().map(|block| match block {
        Block::Hero(hero) => hero.title.chars().count(),
        Block::Heading(heading) if heading.level == HeadingLevel::Title => heading.text.chars().count(),
        _ => 0,
    });
    titles.max().unwrap_or(0)
}

/// Returns a smaller size for long titles, so that a title usually has at most three lines.
fn shorter(title: Size, characters: usize) -> Size {
    const SMALLEST: u16 = 24;
    let percent = match characters {
        0..=36 => 100,
        37..=64 => 82,
        _ => 70,
    };
    let size = (title.size * percent / 100).max(SMALLEST.min(title.size));
    Size { size, line: size * title.line / title.size, ..title }
}

/// Converts hundredths of the font size to a CSS length in pixels.
fn em(size: u16, hundredths: i8) -> String {
    format!("{:.1}px", f32::from(size) * f32::from(hundredths) / 100.0)
}

fn declarations(size: &TypeSize) -> String {
    let mut css = format!(
        "font-family:{};font-size:{}px;line-height:{}px;font-weight:{};letter-spacing:{}",
        size.family, size.size, size.line, size.weight, size.spacing
    );
    if size.capitals {
        css.push_str(";text-transform:uppercase");
    }
    css
}
