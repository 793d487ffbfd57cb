//! Changes the colors of an email.

use super::action::{Action, PartName, Target};
use super::color_names::Named;
use super::reply::{ActionResult, Fact, Reply};
use super::vocabulary::Vocabulary;
use crate::base::color;
use crate::base::text::Color;
use crate::features::emails::composer::tokens::Tokens;
use crate::features::emails::document::{Block, Email};
use crate::features::emails::theme::Theme;
use crate::features::emails::theme::design::{BoxForm, HeroForm, QuoteForm};
use crate::features::projects::brand::Brand;

/// Colors a part. If the instruction names the part's old color, the part must have that color.
pub fn paint(email: &mut Email, part: PartName, color: Color, brand: &Brand) -> ActionResult {
    let theme = Theme::new(brand, email, 0);
    let has = |own: Color| part.was.is_none_or(|was| was.means(own));
    let place = match part.target {
        Target::Button | Target::Label if !has_button(email) => return Err(missing(part.target, email)),
        Target::Button | Target::Label if has(theme.light.sheet.button) || has(own_button(email, brand, &theme)) => {
            &mut email.style.button
        }
        Target::Background if has(theme.light.sheet.ground) || has(theme.light.page.ground) => &mut email.style.background,
        Target::Accent if has(own_primary(email, brand, &theme)) => &mut email.style.primary,
        Target::Box | Target::Coupon | Target::Quote => return boxes(email, part, color, brand, &theme),
        Target::Title | Target::Heading | Target::Text => return Err(Reply::new("text_color").text("color", color)),
        _ => return Err(not_that_color(part.target, email, brand)),
    };
    *place = Some(color);
    Ok(Reply::about("painted", part.target).text("color", color))
}

/// Replaces the color in an instruction that says "our blue" with the brand's color of that name.
pub fn own_color(action: Action, clause: &str, vocabulary: &Vocabulary, brand: &Brand) -> Result<Action, Reply> {
    let Action::Paint { part, color: named } = action else { return Ok(action) };
    let words = Tokens::read(clause);
    let is_named = |at: usize| {
        vocabulary.named_colors.iter().any(|(name, _)| name.first().is_some_and(|name| vocabulary.is_form(words.fold(at), name)))
    };
    let is_own = (1..words.len()).any(|at| is_named(at) && words.any(at - 1, vocabulary.class("own")).is_some());
    if !is_own {
        return Ok(action);
    }
    let palette = &brand.palette;
    let all = [&palette.primary, &palette.accent, &palette.button, &palette.text, &palette.background];
    let all: Vec<Color> = all.into_iter().filter_map(|own| parsed(own.as_deref())).collect();
    let near = all.iter().copied().find(|own| color::word(*own) == color::word(named));
    let mut shown: Vec<String> = all.iter().map(ToString::to_string).collect();
    shown.dedup();
    near.map(|color| Action::Paint { part, color }).ok_or_else(|| Reply::new("no_own_color").text("colors", shown.join(", ")))
}

fn has_button(email: &Email) -> bool {
    email.blocks.iter().any(|block| match block {
        Block::Hero(hero) => hero.button.is_some(),
        Block::Coupon(coupon) => coupon.button.is_some(),
        other => matches!(other, Block::Button(_)),
    })
}

pub fn missing(target: Target, email: &Email) -> Reply {
    Reply::about("missing", target).with("parts", Fact::Parts(super::parts(email)))
}

/// Colors all filled boxes, which share one color.
fn boxes(email: &mut Email, part: PartName, color: Color, brand: &Brand, theme: &Theme) -> ActionResult {
    let all = filled(email, theme);
    if all.is_empty() {
        return Err(Reply::new("no_box"));
    }
    if part.target != Target::Box && all != [part.target] {
        return Err(Reply::about("box_shared", part.target).text("color", color));
    }
    let ground = email.style.boxes.unwrap_or(theme.light.band.ground);
    let own = if email.style.boxes.is_some() { ground } else { own_primary(email, brand, theme) };
    if part.was.is_some_and(|was| !was.means(ground) && !was.means(own)) {
        return Err(not_that_color(part.target, email, brand));
    }
    email.style.boxes = Some(color);
    Ok(Reply::new("boxes").text("from", own).text("color", color).with("parts", Fact::Parts(all)))
}

/// Returns the parts of an email that are on filled boxes.
fn filled(email: &Email, theme: &Theme) -> Vec<Target> {
    let design = &theme.design;
    let on_box = |block: &Block| match block {
        Block::Hero(_) if design.hero == HeroForm::Band => Some(Target::Title),
        Block::Coupon(_) if design.coupon == BoxForm::Band => Some(Target::Coupon),
        Block::Countdown(_) if design.countdown == BoxForm::Band => Some(Target::Countdown),
        Block::Quote(_) if design.quote == QuoteForm::Band => Some(Target::Quote),
        _ => None,
    };
    email.blocks.iter().filter_map(on_box).collect()
}

fn parsed(color: Option<&str>) -> Option<Color> {
    color?.parse().ok()
}

/// Returns the main color before the theme adjusts it for legibility.
fn own_primary(email: &Email, brand: &Brand, theme: &Theme) -> Color {
    let palette = &brand.palette;
    let own = [&palette.primary, &palette.button, &palette.accent].into_iter().find_map(|color| parsed(color.as_deref()));
    email.style.primary.or(own).unwrap_or(theme.light.band.ground)
}

/// Returns the color of buttons before the theme adjusts it for legibility.
fn own_button(email: &Email, brand: &Brand, theme: &Theme) -> Color {
    let given = email.style.button.or(email.style.primary).or_else(|| parsed(brand.palette.button.as_deref()));
    given.unwrap_or_else(|| own_primary(email, brand, theme))
}

/// Returns the colors of an email that an edit can change.
fn own_colors(email: &Email, brand: &Brand) -> Vec<Color> {
    let theme = Theme::new(brand, email, 0);
    let boxes = email.style.boxes.filter(|_| !filled(email, &theme).is_empty());
    let all =
        [Some(own_primary(email, brand, &theme)), Some(own_button(email, brand, &theme)), boxes, Some(theme.light.sheet.ground)];
    let mut found: Vec<Color> = Vec::new();
    for color in all.into_iter().flatten() {
        if !found.contains(&color) {
            found.push(color);
        }
    }
    found
}

fn not_that_color(target: Target, email: &Email, brand: &Brand) -> Reply {
    let colors = own_colors(email, brand).iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    Reply::about("not_that_color", target).text("colors", colors)
}

/// Replaces a color wherever the email uses it. Parts in other colors do not change.
pub fn recolor(email: &mut Email, from: Named, to: Color, brand: &Brand) -> ActionResult {
    let theme = Theme::new(brand, email, 0);
    let (primary, button) = (own_primary(email, brand, &theme), own_button(email, brand, &theme));
    let (boxes, background) = (email.style.boxes, theme.light.sheet.ground);
    let mut changed = Vec::new();
    let mut old = None;
    let mut take = |target: Target, own: Color| {
        let is_meant = from.means(own);
        if is_meant {
            changed.push(target);
            old = old.or(Some(own));
        }
        is_meant
    };
    if take(Target::Accent, primary) {
        // Without a separate color, the buttons would follow the new main color.
        email.style.button = Some(button);
        email.style.primary = Some(to);
    }
    if take(Target::Button, button) {
        email.style.button = Some(to);
    }
    if let Some(own) = boxes
        && take(Target::Box, own)
    {
        email.style.boxes = Some(to);
    }
    if take(Target::Background, background) {
        email.style.background = Some(to);
    }
    match old {
        None => Err(not_that_color(Target::Email, email, brand)),
        Some(old) => Ok(Reply::new("recolored").text("from", old).text("color", to).with("parts", Fact::Parts(changed))),
    }
}
