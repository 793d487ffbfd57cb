//! Lists and replaces the colors of an email: in inline styles, in style sheets and in presentational attributes such as `bgcolor`.
//!
//! Rules for `prefers-color-scheme` are not changed, because they have their own colors.

use std::collections::HashMap;

use super::computed_style::old_color;
use super::dom::Dom;
use crate::base::text::Color;
use crate::engine::render::css::{self, CssRule};

/// The attributes that contain colors.
const ATTRIBUTES: [&str; 4] = ["bgcolor", "color", "text", "bordercolor"];
/// The maximum number of colors that are listed.
const COLORS_MAX: usize = 24;
/// What a color is used for: a background, text or a border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
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

/// Returns the colors of an email, most used first.
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

/// A function that returns the new color for a color with this use, or `None` to keep the color.
pub type Replace<'a> = &'a mut dyn FnMut(Use, Color) -> Option<Color>;

/// Returns the declarations with replaced colors.
pub fn declarations(body: &str, replace: Replace<'_>) -> String {
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

/// Returns a style sheet with its colors replaced by `replace`, but only in the rules whose selectors `of_interest` accepts.
fn sheet(text: &str, of_interest: &dyn Fn(&str) -> bool, replace: Replace<'_>) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in css::pieces(text) {
        match piece {
            CssRule::Rule { selectors, body } if of_interest(selectors) => {
                out.push_str(&format!("{selectors}{{{}}}\n", declarations(body, replace)));
            }
            CssRule::Rule { selectors, body } => out.push_str(&format!("{selectors}{{{body}}}\n")),
            CssRule::At { name, prelude, body: Some(body) } => {
                let is_dark = prelude.to_ascii_lowercase().contains("prefers-color-scheme");
                let body = if is_dark { body.to_owned() } else { sheet(body, of_interest, replace) };
                out.push_str(&format!("@{name} {prelude}{{\n{body}}}\n"));
            }
            CssRule::At { name, prelude, body: None } => out.push_str(&format!("@{name} {prelude};\n")),
        }
    }
    out
}

/// Replaces colors on the elements that `on` accepts, and in the rules whose selectors `rules` accepts.
pub fn replace(dom: &mut Dom, on: &dyn Fn(usize) -> bool, rules: &dyn Fn(&str) -> bool, replace: Replace<'_>) {
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
