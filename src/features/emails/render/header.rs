//! Renders the header and the hero, in the form that the layout defines.

use super::block_context::BlockContext;
use super::cells::{Cell, Content, Logo, Row};
use super::draft::Draft;
use super::inline;
use crate::base::color::luminance;
use crate::features::emails::document::{Header, Hero};
use crate::features::emails::theme::GroundName;
use crate::features::emails::theme::design::{Align, HeaderForm, HeroForm};
use crate::features::projects::brand::{self, BrandLogoBackground, BrandLogoSource};

const LOGO_WIDTH_MAX: u32 = 190;
const LOGO_HEIGHT_MAX: u32 = 48;
/// The assumed width, in pixels, of logos of unknown size. Most logos are wide.
const LOGO_WIDTH_GUESSED: u16 = 140;

/// Renders the header as a separate part.
pub fn header(set: BlockContext<'_>, header: &Header) -> Draft {
    let room = set.room();
    let form = set.design().header;
    let ground = match form {
        // A logo on a colored strip must be transparent and visible. If it is not, the header is on the main background instead, below a
        // colored line.
        HeaderForm::Strip if header.logo.is_none() || suits_strip(set, header) => GroundName::Band,
        _ if set.design().cards => GroundName::Page,
        _ => GroundName::Sheet,
    };
    let set = set.on(ground);
    let mut draft = Draft::new(ground);
    draft.pad = Some(match form {
        HeaderForm::Center if set.design().cards => (28, 22),
        HeaderForm::Center => (44, 4),
        HeaderForm::Masthead => (36, 0),
        HeaderForm::Split => (24, 24),
        HeaderForm::Plain => (40, 0),
        HeaderForm::Strip => (22, 22),
    });
    match form {
        HeaderForm::Center | HeaderForm::Masthead => {
            let set = set.aligned(Align::Center);
            let mut cells = vec![mark(set, header)];
            cells.extend(menu(set, header, 14));
            if form == HeaderForm::Masthead {
                cells.push(set.rule(28, "100%", 1, false));
            }
            draft.push(Row::stack(cells, room.side));
        }
        HeaderForm::Plain => draft.push(Row::stack(vec![mark(set.aligned(Align::Start), header)], room.side)),
        HeaderForm::Split | HeaderForm::Strip => {
            if form == HeaderForm::Strip && ground == GroundName::Sheet {
                draft.push(Row::stack(vec![set.rule(0, "100%", 8, true)], 0));
                draft.pad = Some((0, 22));
            }
            // If the layout centers text, a logo without links is centered too, like the hero below it.
            if set.align == Align::Center && header.links.is_empty() {
                draft.follow(Row::stack(vec![mark(set, header)], room.side), 22);
                return draft;
            }
            let start = set.aligned(Align::Start);
            let Some(mut links) = menu(start, header, 0) else {
                draft.follow(Row::stack(vec![mark(start, header)], room.side), 22);
                return draft;
            };
            links.align = set.end();
            let mut row = start.row(vec![(45.0, vec![mark(start, header)]), (55.0, vec![links])], 0, true);
            row.stand = "middle";
            draft.follow(row, 22);
        }
    }
    draft
}

/// Returns whether the logo suits a colored strip: it needs no plate, and its background is not `Any`. A logo that suits any background may
/// be opaque, so its own background would look like a plate.
fn suits_strip(set: BlockContext<'_>, header: &Header) -> bool {
    let (logo, plate) = chosen(set.on(GroundName::Band), header);
    plate == "never" && logo.is_some_and(|logo| logo.background != BrandLogoBackground::Any)
}

/// Returns a cell with the logo or, without a logo, the brand's name.
fn mark(set: BlockContext<'_>, header: &Header) -> Cell {
    let Some(given) = &header.logo else {
        let html = match &header.href {
            Some(href) => set.linked(&header.name, href, set.colors().text, "tx"),
            None => inline::words(&header.name),
        };
        return set.words(0, "div", "name", "tx", html);
    };
    let (known, plate) = chosen(set, header);
    let src = known.map_or(given.as_str(), |logo| logo.url.as_str()).to_owned();
    let size = known.and_then(|logo| Some((logo.width?, logo.height?))).filter(|(width, height)| *width > 0 && *height > 0);
    let (width, height) = match size {
        Some((width, height)) => {
            let wide = (LOGO_HEIGHT_MAX * width / height).min(LOGO_WIDTH_MAX).min(width).max(1);
            (wide as u16, Some((wide * height / width).max(1) as u16))
        }
        None => (LOGO_WIDTH_GUESSED, None),
    };
    let href = header.href.as_ref().map(ToString::to_string);
    set.cell(0, Content::Logo(Logo { src, alt: header.name.to_string(), href, width, height, plate }))
}

/// Returns the logo for this background, and when the logo needs a light plate: `never`, `night` (only in dark mode) or `always`.
fn chosen<'a>(set: BlockContext<'a>, header: &Header) -> (Option<&'a brand::BrandLogo>, &'static str) {
    let is_dark = |ground| luminance(ground) < 0.3;
    let by_day = is_dark(set.theme.light.ground(set.ground).ground);
    let by_night = is_dark(set.theme.dark.ground(set.ground).ground);
    let seen_on = |logo: &brand::BrandLogo, dark: bool| match logo.background {
        BrandLogoBackground::Any => true,
        BrandLogoBackground::Light => !dark,
        BrandLogoBackground::Dark => dark,
        // A logo whose background is unknown probably needs a light one, because most logos are designed for white pages.
        BrandLogoBackground::Unknown => !dark,
    };
    let given = header.logo.as_ref().map(|url| url.as_str()).unwrap_or_default();
    let logos = &set.theme.logos;
    let own = logos.iter().find(|logo| logo.url == given);
    // Social sharing images, icons and SVG images cannot replace the logo.
    let kin = |logo: &&brand::BrandLogo| {
        !matches!(logo.source, BrandLogoSource::Share | BrandLogoSource::IconLink | BrandLogoSource::Manifest)
            && !brand::is_drawing(&logo.url)
    };
    let fitting = own.filter(|logo| seen_on(logo, by_day));
    let other = logos.iter().filter(kin).find(|logo| seen_on(logo, by_day));
    match fitting.or(if own.is_some() { other } else { None }) {
        Some(logo) if seen_on(logo, by_night) => (Some(logo), "never"),
        Some(logo) => (Some(logo), "night"),
        None if by_day => (own, "always"),
        None => (own, "night"),
    }
}

/// Returns a cell with the header's links on one line.
fn menu(set: BlockContext<'_>, header: &Header, gap: u16) -> Option<Cell> {
    if header.links.is_empty() {
        return None;
    }
    let color = set.colors().text;
    let links = header.links.iter().map(|link| set.linked(&link.label, &link.href, color, "tx"));
    let html = links.collect::<Vec<_>>().join("<span>&nbsp;&nbsp;&nbsp; </span>");
    Some(set.words(gap, "p", "note", "tx", html))
}

/// Renders the hero as a part.
pub fn hero(set: BlockContext<'_>, hero: &Hero) -> Vec<Draft> {
    let form = set.design().hero;
    match form {
        HeroForm::Band => band(set, hero),
        HeroForm::Split => vec![split(set, hero)],
        HeroForm::Title | HeroForm::Poster | HeroForm::Picture | HeroForm::Letter | HeroForm::Still | HeroForm::Card => {
            vec![stacked(set, hero, form)]
        }
    }
}

/// Returns the cells of a hero's eyebrow and title.
fn titles(set: BlockContext<'_>, hero: &Hero) -> Vec<Cell> {
    let mut cells = Vec::new();
    if let Some(eyebrow) = &hero.eyebrow {
        cells.push(set.line(0, "eyebrow", "ac", eyebrow));
    }
    let gap = if cells.is_empty() { 0 } else { 14 };
    cells.push(set.words(gap, "h1", "title", "tx", inline::words(&hero.title)));
    cells
}

/// Returns the cells of a hero's lead and button.
fn words(set: BlockContext<'_>, hero: &Hero, gap: u16) -> Vec<Cell> {
    let room = set.room();
    let lead = hero.text.as_ref().map(|text| set.prose(gap, "lead", "tx", text));
    let button = hero.button.as_ref().map(|button| set.action(room.block + 8, button));
    lead.into_iter().chain(button).collect()
}

/// Renders a hero in one column. The form defines the order of its contents.
fn stacked(set: BlockContext<'_>, hero: &Hero, form: HeroForm) -> Draft {
    let room = set.room();
    let mut draft = Draft::new(GroundName::Sheet);
    draft.card = set.design().cards;
    let below_title = if form == HeroForm::Letter { 18 } else { 20 };
    let image = hero.image.as_ref();
    match form {
        HeroForm::Picture | HeroForm::Card => {
            if let Some(image) = image {
                draft.push(Row::stack(vec![set.bleed(image)], 0));
            }
            let mut cells = titles(set, hero);
            cells.extend(words(set, hero, 14));
            if let (Some(_), Some(first)) = (image, cells.first_mut()) {
                first.gap = room.part;
            }
            draft.push(Row::stack(cells, room.side));
            draft.flush_top = image.is_some();
        }
        HeroForm::Title => {
            let mut cells = titles(set, hero);
            cells.extend(image.map(|image| set.framed(32, image)));
            cells.extend(words(set, hero, 28));
            draft.push(Row::stack(cells, room.side));
        }
        HeroForm::Letter => {
            let mut cells = titles(set, hero);
            cells.extend(hero.text.as_ref().map(|text| set.prose(below_title, "lead", "tx", text)));
            cells.extend(image.map(|image| set.picture(26, image, set.measure())));
            cells.extend(hero.button.as_ref().map(|button| set.action(26, button)));
            draft.push(Row::stack(cells, room.side));
        }
        HeroForm::Still => {
            let mut cells = titles(set, hero);
            cells.extend(words(set, hero, below_title));
            draft.push(Row::stack(cells, room.side));
            if let Some(image) = image {
                let side = room.side.saturating_sub(32);
                let picture = set.picture(room.part - 12, image, set.width() - 2 * side);
                draft.push(Row::stack(vec![picture], side));
            }
        }
        HeroForm::Poster | HeroForm::Band | HeroForm::Split => {
            let mut cells = titles(set, hero);
            cells.extend(words(set, hero, below_title));
            draft.push(Row::stack(cells, room.side));
            if let Some(image) = image {
                let mut cell = set.bleed(image);
                cell.gap = room.part - 4;
                draft.push(Row::stack(vec![cell], 0));
            }
        }
    }
    draft
}

/// Renders a hero as a colored field with the text and, below the text, the picture.
fn band(set: BlockContext<'_>, hero: &Hero) -> Vec<Draft> {
    let set = set.on(GroundName::Band);
    let mut draft = Draft::new(GroundName::Band);
    let mut cells = titles(set, hero);
    cells.extend(words(set, hero, 20));
    draft.push(Row::stack(cells, set.room().side));
    draft.pad = Some((34, 56));
    if let Some(image) = &hero.image {
        let mut picture = set.bleed(image);
        picture.gap = 52;
        draft.push(Row::stack(vec![picture], 0));
        draft.pad = Some((34, 0));
    }
    vec![draft]
}

/// Renders a hero with text and picture side by side on a tinted background.
fn split(set: BlockContext<'_>, hero: &Hero) -> Draft {
    let set = set.on(GroundName::Tint);
    let mut draft = Draft::new(GroundName::Tint);
    draft.pad = Some((40, 40));
    let mut cells = titles(set, hero);
    cells.extend(words(set, hero, 14));
    let Some(image) = &hero.image else {
        draft.push(Row::stack(cells, set.room().side));
        return draft;
    };
    let gutter = 14;
    let picture = set.picture(0, image, (set.measure() + 2 * gutter) * 48 / 100 - 2 * gutter);
    let mut row = set.row(vec![(52.0, cells), (48.0, vec![picture])], gutter, false);
    row.stand = "middle";
    draft.push(row);
    draft
}

#[cfg(test)]
mod tests {
    use crate::features::emails::document::{Block, Email, ImageUrl, Layout, Picture, Style};
    use crate::features::emails::render::render;
    use crate::features::emails::theme::Theme;
    use crate::features::projects::brand::Brand;

    /// Regression test: a portrait picture was at the left edge, with empty space beside it.
    #[test]
    fn a_tall_picture_below_a_title_is_framed() {
        let src = ImageUrl::parse("https://example.com/tall.jpg").expect("the address is valid");
        let mut email = Email { style: Style { layout: Some(Layout::Editorial), ..Style::default() }, ..Email::sample() };
        for block in &mut email.blocks {
            if let Block::Hero(hero) = block {
                hero.image = Some(Picture { src: src.clone(), alt: None, width: Some(900), height: Some(1100), href: None });
            }
        }
        let mjml = render(&email, &Theme::new(&Brand::default(), &email, 0)).mjml;
        let cell = mjml.split("tall.jpg").nth(1).and_then(|rest| rest.split("/>").next()).expect("the email has the picture");
        assert!(cell.contains("align=\"center\"") && cell.contains("container-background-color="), "{cell}");
    }
}
