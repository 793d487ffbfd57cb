//! Changes the colors of an email, and keeps text readable on changed backgrounds.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::colors::{Use, declarations, replace};
use super::computed_style::ComputedStyles;
use super::dom::Dom;
use super::outline::{Outline, Part, TextPart, TextPartKind};
use super::visible::{shows, shows_nothing_but};
use crate::base::color::{self, BLACK, LEGIBLE, contrast, readable_on};
use crate::base::text::Color;

/// The contrast below which even large text is hard to read (WCAG AA).
const SEEN: f64 = 3.0;

/// The largest font size, in pixels, of small print. Small print is not treated as body text.
const SMALL: u16 = 13;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColorTarget {
    Buttons,
    /// The background of the page.
    Ground,
    Text,
    Headings,
}

/// Replaces the colors `from` with the color `to` in the whole email, and keeps text readable.
pub fn recolor(dom: &mut Dom, from: &[Color], to: Color) {
    keeping_readable(dom, |dom| {
        replace(dom, &|_| true, &|_| true, &mut |_, color| from.contains(&color).then_some(to));
    });
}

/// Recolors all content of the kind `surface`.
pub fn paint(dom: &mut Dom, surface: ColorTarget, to: Color) {
    match surface {
        ColorTarget::Buttons => buttons(dom, to),
        ColorTarget::Ground => keeping_readable(dom, |dom| ground(dom, to)),
        ColorTarget::Text => text(dom, to),
        ColorTarget::Headings => headings(dom, to),
    }
}

/// Recolors the boxes of the buttons, and keeps their text readable.
fn buttons(dom: &mut Dom, to: Color) {
    let styles = ComputedStyles::of(dom);
    let outline = Outline::of(dom, &styles);
    for button in outline.buttons() {
        let Some(link) = button.link() else { continue };
        let inside = dom.within(link);
        let around: Vec<usize> = dom.above(link).take(3).take_while(|above| shows_nothing_but(dom, *above, &[link])).collect();
        // If the link has no background itself, the button is the nearest ancestor with a background, among those that contain only the
        // link.
        let own = styles.ground(dom, link);
        let old = own.or_else(|| around.iter().find_map(|above| styles.ground(dom, *above)));
        let is_box = |node: &usize| old.is_some() && styles.ground(dom, *node) == old;
        let boxes: Vec<usize> = around.iter().chain(&inside).copied().filter(is_box).collect();
        for node in if boxes.is_empty() { vec![link] } else { boxes } {
            fill(dom, &styles, node, to);
        }
        let inked: Vec<usize> = inside.into_iter().filter(|node| styles.ink(dom, *node).is_some()).collect();
        let ink = inked.last().and_then(|node| styles.ink(dom, *node));
        if ink.is_none_or(|ink| contrast(ink, to) < LEGIBLE) {
            for node in if inked.is_empty() { vec![link] } else { inked } {
                write_in(dom, node, readable_on(to));
            }
        }
    }
}

/// Sets the background of an element: in its style, and in its `bgcolor` attribute if it has one. A border in the old background color
/// changes too.
fn fill(dom: &mut Dom, styles: &ComputedStyles, node: usize, to: Color) {
    let old = styles.ground(dom, node);
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

/// Recolors the background of the page, including inner elements with the same background, but not buttons.
fn ground(dom: &mut Dom, to: Color) {
    let styles = ComputedStyles::of(dom);
    let Some(body) = dom.first("body") else { return };
    let boxes: Vec<usize> = Outline::of(dom, &styles).buttons().flat_map(|button| button.link()).collect();
    let in_button: Vec<bool> = (0..dom.numbers().end)
        .map(|node| {
            boxes.contains(&node) || (styles.ground(dom, node).is_some() && boxes.iter().any(|link| holds(dom, node, *link)))
        })
        .collect();
    // Find the old page background: that of the body or, if the body has none, that of an element inside it that is the only visible
    // content and is not narrower than the page.
    let mut at = body;
    let mut old = styles.ground(dom, at);
    while old.is_none() {
        let shown: Vec<usize> = dom
            .children(at)
            .iter()
            .copied()
            .filter(|child| !shows_nothing_but(dom, *child, &[]) && !styles.is_hidden(dom, *child))
            .collect();
        let [only] = shown.as_slice() else { break };
        at = *only;
        let narrow =
            styles.value(dom, at, "max-width").is_some() || dom.attribute(at, "width").is_some_and(|width| width != "100%");
        if narrow {
            break;
        }
        old = styles.ground(dom, at);
    }
    if let Some(old) = old {
        let is_button_rule = |selectors: &str| ["btn", "button", "cta"].iter().any(|word| selectors.contains(word));
        let same = &mut |use_, color| (use_ == Use::Ground && color == old).then_some(to);
        replace(dom, &|node| !in_button[node], &|selectors| !is_button_rule(selectors), same);
    }
    if styles.ground(dom, body) == Some(to) {
        return;
    }
    dom.set_attribute(body, "bgcolor", Some(&to.to_string()));
    let has_own = dom.own_style(body, "background").is_some();
    dom.set_style(body, if has_own { "background" } else { "background-color" }, &to.to_string());
}

/// Returns whether an element contains only this link.
fn holds(dom: &Dom, node: usize, link: usize) -> bool {
    dom.above(link).any(|above| above == node) && shows_nothing_but(dom, node, &[link])
}

/// Replaces the most common color of the body text.
fn text(dom: &mut Dom, to: Color) {
    let styles = ComputedStyles::of(dom);
    let outline = Outline::of(dom, &styles);
    let shades = styles.all(dom);
    let is_running = |text_part: &&TextPart| matches!(text_part.kind, TextPartKind::Paragraph | TextPartKind::Item);
    let has_large = outline.text_parts().filter(is_running).any(|text_part| text_part.size > SMALL);
    let running = || outline.text_parts().filter(is_running).filter(|text_part| text_part.size > SMALL || !has_large);
    let pieces = || running().flat_map(|text_part| &text_part.pieces).filter(|piece| piece.link.is_none());
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

/// Recolors the headings, except the links in them.
fn headings(dom: &mut Dom, to: Color) {
    let styles = ComputedStyles::of(dom);
    let parts = Outline::of(dom, &styles).parts;
    let headings = parts.iter().filter_map(Part::text_part).filter(|text_part| text_part.kind == TextPartKind::Heading);
    for piece in headings.flat_map(|text_part| &text_part.pieces).filter(|piece| piece.link.is_none() && shows(&piece.text)) {
        let element = dom.parent(piece.node);
        if styles.ink(dom, element) != Some(to) {
            write_in(dom, element, to);
        }
    }
}

/// Applies `change`, and recolors text that would become unreadable on a changed background.
fn keeping_readable(dom: &mut Dom, change: impl FnOnce(&mut Dom)) {
    let before = ComputedStyles::of(dom).all(dom);
    change(dom);
    let styles = ComputedStyles::of(dom);
    let after = styles.all(dom);
    let parts = Outline::of(dom, &styles).parts;
    for text_part in parts.iter().filter_map(Part::text_part) {
        for piece in text_part.pieces.iter().filter(|piece| shows(&piece.text)) {
            let (old, new) = (before[piece.node], after[piece.node]);
            let Some(ground) = new.ground.filter(|ground| Some(*ground) != old.ground) else { continue };
            if contrast(new.ink.unwrap_or(BLACK), ground) < SEEN {
                let element = dom.parent(piece.node);
                write_in(dom, element, readable_on(ground));
            }
        }
    }
}
