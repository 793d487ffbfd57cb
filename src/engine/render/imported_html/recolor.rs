//! Changes the colors of an email: in inline styles, style sheets and old attributes.
//!
//! Rules for dark mode stay unchanged: they have their own colors.

use std::collections::HashMap;

use super::computed_style::{ComputedStyles, old_color};
use super::dom::Dom;
use super::edit::ColorTarget;
use super::outline::{Kind, Outline, Part, TextPart, shows, shows_nothing_but};
use crate::base::color::{self, BLACK, LEGIBLE, contrast, readable_on};
use crate::base::text::Color;
use crate::engine::render::css::{self, Piece};

/// Attributes with colors.
const ATTRIBUTES: [&str; 4] = ["bgcolor", "color", "text", "bordercolor"];
/// The number of colors listed.
const COLORS_MAX: usize = 24;
/// Less contrast makes large text hard to read (WCAG AA).
const SEEN: f64 = 3.0;

/// Text of this font size in pixels or smaller is small print, not body text.
const SMALL: u16 = 13;

/// The role of a color.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Ground,
    Ink,
    Line,
}

fn use_of(property: &str) -> Option<Use> {
    match property {
        "color" => Some(Use::Ink),
        _ if property.starts_with("background") => Some(Use::Ground),
        _ if property.starts_with("border") || property.starts_with("outline") => Some(Use::Line),
        _ => None,
    }
}

fn use_of_attribute(name: &str) -> Use {
    match name {
        "bgcolor" => Use::Ground,
        "bordercolor" => Use::Line,
        _ => Use::Ink,
    }
}

/// Every color of an email, the most used first.
pub fn colors(dom: &Dom) -> Vec<Color> {
    let mut counts: HashMap<Color, (usize, usize)> = HashMap::new();
    let mut seen = 0;
    let mut count = |color: Color| {
        seen += 1;
        counts.entry(color).or_insert((0, seen)).0 += 1;
        None
    };
    for node in dom.numbers() {
        for (name, value) in dom.attributes(node) {
            if ATTRIBUTES.contains(&name.as_str()) {
                old_color(value).map(|painted| count(painted.color));
            } else if name == "style" {
                let painted = css::declarations(value).into_iter().filter(|one| use_of(&one.name).is_some());
                painted.for_each(|one| drop(css::with_colors(one.value, &mut count)));
            }
        }
        if dom.name(node) == "style" {
            dom.children(node).iter().for_each(|text| drop(sheet(dom.text(*text), &|_| true, &mut |_, color| count(color))));
        }
    }
    let mut found: Vec<(Color, (usize, usize))> = counts.into_iter().collect();
    found.sort_by_key(|(_, (count, first))| (std::cmp::Reverse(*count), *first));
    found.into_iter().take(COLORS_MAX).map(|(color, _)| color).collect()
}

type Replace<'a> = &'a mut dyn FnMut(Use, Color) -> Option<Color>;

/// The declarations with replaced colors.
fn declarations(body: &str, replace: Replace<'_>) -> String {
    let mut out = String::with_capacity(body.len());
    for one in css::declarations(body) {
        let value = match use_of(&one.name) {
            Some(use_) => css::with_colors(one.value, &mut |color| replace(use_, color)),
            None => one.value.to_owned(),
        };
        let important = if one.important { " !important" } else { "" };
        out.push_str(&format!("{}:{value}{important};", one.name));
    }
    out
}

/// A style sheet with replaced colors, in rules with selected selectors.
fn sheet(text: &str, of_interest: &dyn Fn(&str) -> bool, replace: Replace<'_>) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in css::pieces(text) {
        match piece {
            Piece::Rule { selectors, body } if of_interest(selectors) => {
                out.push_str(&format!("{selectors}{{{}}}\n", declarations(body, replace)));
            }
            Piece::Rule { selectors, body } => out.push_str(&format!("{selectors}{{{body}}}\n")),
            Piece::At { name, prelude, body: Some(body) } => {
                let is_dark = prelude.to_ascii_lowercase().contains("prefers-color-scheme");
                let body = if is_dark { body.to_owned() } else { sheet(body, of_interest, replace) };
                out.push_str(&format!("@{name} {prelude}{{\n{body}}}\n"));
            }
            Piece::At { name, prelude, body: None } => out.push_str(&format!("@{name} {prelude};\n")),
        }
    }
    out
}

/// Replaces colors on the selected elements and in the selected rules.
fn replace(dom: &mut Dom, on: &dyn Fn(usize) -> bool, rules: &dyn Fn(&str) -> bool, replace: Replace<'_>) {
    for node in dom.numbers() {
        if dom.name(node) == "style" {
            for text in dom.children(node).to_vec() {
                let new = sheet(dom.text(text), rules, replace);
                dom.set_text(text, &new);
            }
        }
        if !on(node) {
            continue;
        }
        if let Some(style) = dom.attribute(node, "style") {
            let mut changed = false;
            let new = declarations(style, &mut |use_, color| replace(use_, color).inspect(|_| changed = true));
            if changed {
                dom.set_attribute(node, "style", Some(&new));
            }
        }
        for name in ATTRIBUTES {
            let old = dom.attribute(node, name).and_then(old_color);
            if let Some(new) = old.and_then(|old| replace(use_of_attribute(name), old.color)) {
                dom.set_attribute(node, name, Some(&new.to_string()));
            }
        }
    }
}

/// Replaces colors by one color everywhere, and keeps text readable.
pub fn recolor(dom: &mut Dom, from: &[Color], to: Color) {
    keeping_readable(dom, |dom| {
        replace(dom, &|_| true, &|_| true, &mut |_, color| from.contains(&color).then_some(to));
    });
}

/// Recolors everything of one kind.
pub fn paint(dom: &mut Dom, surface: ColorTarget, to: Color) {
    match surface {
        ColorTarget::Buttons => buttons(dom, to),
        ColorTarget::Ground => keeping_readable(dom, |dom| ground(dom, to)),
        ColorTarget::Text => text(dom, to),
        ColorTarget::Headings => headings(dom, to),
    }
}

/// Recolors the boxes of the buttons, with readable text.
fn buttons(dom: &mut Dom, to: Color) {
    let looks = ComputedStyles::of(dom);
    let outline = Outline::of(dom, &looks);
    for button in outline.buttons() {
        let Some(link) = button.link() else { continue };
        let inside = dom.within(link);
        let around: Vec<usize> = dom.above(link).take(3).take_while(|above| shows_nothing_but(dom, *above, &[link])).collect();
        // If the link is not a box itself, the nearest element with no other content is the box.
        let own = looks.ground(dom, link);
        let old = own.or_else(|| around.iter().find_map(|above| looks.ground(dom, *above)));
        let is_box = |node: &usize| old.is_some() && looks.ground(dom, *node) == old;
        let boxes: Vec<usize> = around.iter().chain(&inside).copied().filter(is_box).collect();
        for node in if boxes.is_empty() { vec![link] } else { boxes } {
            fill(dom, &looks, node, to);
        }
        let inked: Vec<usize> = inside.into_iter().filter(|node| looks.ink(dom, *node).is_some()).collect();
        let ink = inked.last().and_then(|node| looks.ink(dom, *node));
        if ink.is_none_or(|ink| contrast(ink, to) < LEGIBLE) {
            for node in if inked.is_empty() { vec![link] } else { inked } {
                write_in(dom, node, readable_on(to));
            }
        }
    }
}

/// Sets the background of an element, wherever it was set before.
fn fill(dom: &mut Dom, looks: &ComputedStyles, node: usize, to: Color) {
    let old = looks.ground(dom, node);
    if old == Some(to) {
        return;
    }
    let text = to.to_string();
    if let Some(style) = dom.attribute(node, "style").map(str::to_owned) {
        let same_line = |use_| use_ == Use::Line && old.is_some();
        let new = declarations(&style, &mut |use_, color| {
            let is_own = use_ == Use::Ground || (same_line(use_) && Some(color) == old);
            is_own.then_some(to)
        });
        dom.set_attribute(node, "style", Some(&new));
    }
    if dom.attribute(node, "bgcolor").is_some() {
        dom.set_attribute(node, "bgcolor", Some(&text));
    }
    let has_own = dom.own_style(node, "background").is_some_and(|value| color::first_in(&value).is_some())
        || dom.own_style(node, "background-color").is_some();
    if !has_own {
        dom.set_style(node, "background-color", &text);
    }
}

fn write_in(dom: &mut Dom, node: usize, ink: Color) {
    dom.set_style(node, "color", &ink.to_string());
    if dom.attribute(node, "color").is_some() {
        dom.set_attribute(node, "color", Some(&ink.to_string()));
    }
}

/// Recolors the background of the page wherever it is set again, except buttons.
fn ground(dom: &mut Dom, to: Color) {
    let looks = ComputedStyles::of(dom);
    let Some(body) = dom.first("body") else { return };
    let boxes: Vec<usize> = Outline::of(dom, &looks).buttons().flat_map(|button| button.link()).collect();
    let in_button: Vec<bool> = (0..dom.numbers().end)
        .map(|node| {
            boxes.contains(&node) || (looks.ground(dom, node).is_some() && boxes.iter().any(|link| holds(dom, node, *link)))
        })
        .collect();
    // The page background is the one that covers the whole page: of the body, or of its only content.
    let mut at = body;
    let mut old = looks.ground(dom, at);
    while old.is_none() {
        let shown: Vec<usize> = dom
            .children(at)
            .iter()
            .copied()
            .filter(|child| !shows_nothing_but(dom, *child, &[]) && !looks.is_hidden(dom, *child))
            .collect();
        let [only] = shown.as_slice() else { break };
        at = *only;
        let narrow =
            looks.value(dom, at, "max-width").is_some() || dom.attribute(at, "width").is_some_and(|width| width != "100%");
        if narrow {
            break;
        }
        old = looks.ground(dom, at);
    }
    if let Some(old) = old {
        let is_button_rule = |selectors: &str| ["btn", "button", "cta"].iter().any(|word| selectors.contains(word));
        let same = &mut |use_, color| (use_ == Use::Ground && color == old).then_some(to);
        replace(dom, &|node| !in_button[node], &|selectors| !is_button_rule(selectors), same);
    }
    if looks.ground(dom, body) == Some(to) {
        return;
    }
    dom.set_attribute(body, "bgcolor", Some(&to.to_string()));
    let has_own = dom.own_style(body, "background").is_some();
    dom.set_style(body, if has_own { "background" } else { "background-color" }, &to.to_string());
}

/// Whether an element contains only a link.
fn holds(dom: &Dom, node: usize, link: usize) -> bool {
    dom.above(link).any(|above| above == node) && shows_nothing_but(dom, node, &[link])
}

/// Recolors the text color that most of the text has.
fn text(dom: &mut Dom, to: Color) {
    let looks = ComputedStyles::of(dom);
    let outline = Outline::of(dom, &looks);
    let shades = looks.all(dom);
    let is_running = |words: &&TextPart| matches!(words.kind, Kind::Paragraph | Kind::Item);
    let has_large = outline.words().filter(is_running).any(|words| words.size > SMALL);
    let running = || outline.words().filter(is_running).filter(|words| words.size > SMALL || !has_large);
    let pieces = || running().flat_map(|words| &words.pieces).filter(|piece| piece.link.is_none());
    let mut counts: HashMap<Option<Color>, usize> = HashMap::new();
    for piece in pieces() {
        *counts.entry(shades[piece.node].ink).or_default() += piece.text.chars().count();
    }
    let Some(old) = counts.into_iter().max_by_key(|(ink, count)| (*count, ink.map(|ink| ink.to_string()))).map(|(ink, _)| ink)
    else {
        return;
    };
    let unsaid: Vec<usize> =
        pieces().filter(|piece| shades[piece.node].ink.is_none()).map(|piece| dom.parent(piece.node)).collect();
    let in_buttons: Vec<usize> = outline.buttons().filter_map(TextPart::link).flat_map(|link| dom.within(link)).collect();
    if old == Some(to) {
        return;
    }
    if let Some(old) = old {
        let same = &mut |use_, color| (use_ == Use::Ink && color == old).then_some(to);
        replace(dom, &|node| !in_buttons.contains(&node), &|_| true, same);
    }
    for node in unsaid {
        write_in(dom, node, to);
    }
}

/// Recolors the headings, except links in them.
fn headings(dom: &mut Dom, to: Color) {
    let looks = ComputedStyles::of(dom);
    let words = Outline::of(dom, &looks).parts;
    let headings = words.iter().filter_map(Part::words).filter(|words| words.kind == Kind::Heading);
    for piece in headings.flat_map(|words| &words.pieces).filter(|piece| piece.link.is_none() && shows(&piece.text)) {
        let element = dom.parent(piece.node);
        if looks.ink(dom, element) != Some(to) {
            write_in(dom, element, to);
        }
    }
}

/// Changes backgrounds, and recolors text that would become unreadable.
fn keeping_readable(dom: &mut Dom, change: impl FnOnce(&mut Dom)) {
    let before = ComputedStyles::of(dom).all(dom);
    change(dom);
    let looks = ComputedStyles::of(dom);
    let after = looks.all(dom);
    let parts = Outline::of(dom, &looks).parts;
    for words in parts.iter().filter_map(Part::words) {
        for piece in words.pieces.iter().filter(|piece| shows(&piece.text)) {
            let (old, new) = (before[piece.node], after[piece.node]);
            let Some(ground) = new.ground.filter(|ground| Some(*ground) != old.ground) else { continue };
            if contrast(new.ink.unwrap_or(BLACK), ground) < SEEN {
                let element = dom.parent(piece.node);
                write_in(dom, element, readable_on(ground));
            }
        }
    }
}
