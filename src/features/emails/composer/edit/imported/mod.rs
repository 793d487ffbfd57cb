//! Edits imported HTML. The instructions are the same as for other emails, except those that imported HTML does not support.
//!
//! The code finds the parts that an instruction refers to and computes their new values. [`ImportedEmail`] records them as changes to the
//! HTML.

#[cfg(test)]
mod tests;

use super::texts::{SUBJECT_CHARACTERS, find, is_emoji, pick, sentences, shorter};
use super::{Action, Anchor, EditResources, NotUnderstood, Place, Surface, Target, Which, blocks, parse};
use crate::base::color;
use crate::base::text::Color;
use crate::engine::render::imported_html::{self, Kind, New, Part};
use crate::features::emails::composer::material;
use crate::features::emails::composer::text;
use crate::features::emails::document::{ImageUrl, Line, Link, Picture, Purpose};
use crate::features::emails::imported::ImportedEmail;

/// An imported email after an edit.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedEditResult {
    pub imported: ImportedEmail,
    /// One sentence for each change that was made.
    pub done: Vec<String>,
    /// One sentence for each change that was not made, with the reason.
    pub not_done: Vec<String>,
}

/// The supported instructions, as examples that work.
pub const CAN: [&str; 11] = [
    "Change \"old words\" to \"new words\"",
    "Change the subject (preheader, headline, first paragraph, button text, alt text) to \"…\"",
    "Link the button (or \"these words\") to https://…",
    "Swap the image, or use the image https://…",
    "Make the button (background, text color, headings) #1A73E8, or red; change #1A73E8 to green",
    "Remove the paragraph (button, image, block) with \"some words\"",
    "Remove the second paragraph (last sentence, image, button)",
    "Shorten the text, or the subject",
    "Add a paragraph (sentence, heading) \"…\" after \"some words\", or at the end",
    "Add a button \"…\" linking to https://…, or an image https://…",
    "Move the button up (down, to the top, before the image)",
];

/// The start of the reason for unsupported instructions.
const IMPORTED: &str = "This email was imported as HTML and keeps its own layout and language";

/// Applies the parts of an instruction that are understood.
pub fn apply(
    imported: &ImportedEmail,
    instruction: &str,
    means: &EditResources<'_>,
) -> Result<ImportedEditResult, NotUnderstood> {
    let mut edited = ImportedEditResult { imported: imported.clone(), done: Vec::new(), not_done: Vec::new() };
    let reading = parse::Reading { language: &imported.language, contains: &|words| contains(imported, words) };
    for (clause, action) in parse::instructions(instruction, reading) {
        let Some(action) = action else {
            edited.not_done.push(format!("The instruction \"{clause}\" was not understood."));
            continue;
        };
        // A part of the instruction that fails makes no changes.
        let mut changed = edited.imported.clone();
        match (ImportedEditor { imported: &mut changed, means }).carry_out(&action) {
            Ok(done) => {
                edited.imported = changed;
                edited.done.push(done);
            }
            Err(reason) => edited.not_done.push(reason),
        }
    }
    if edited.not_done.is_empty() && edited.done.is_empty() {
        edited.not_done.push("The instruction is empty.".to_owned());
    }
    if edited.done.is_empty() { Err(NotUnderstood { reasons: edited.not_done, can: &CAN }) } else { Ok(edited) }
}

/// Returns whether the email's text or alt text contains these words.
fn contains(imported: &ImportedEmail, words: &str) -> bool {
    let is_in = |text: &str| find(text, words).is_some();
    let in_parts = || imported.parts().any(|(place, _)| is_in(&imported.text(place)));
    words.chars().count() >= 2 && (is_in(&imported.subject) || is_in(&imported.preheader()) || in_parts())
}

type Done = Result<String, String>;

/// Applies instructions to an imported email.
struct ImportedEditor<'a> {
    imported: &'a mut ImportedEmail,
    means: &'a EditResources<'a>,
}

impl ImportedEditor<'_> {
    fn carry_out(&mut self, action: &Action) -> Done {
        match action {
            Action::Replace { from, to } => self.replace(from, to),
            Action::Set { target, which, value } => self.set(*target, *which, value),
            Action::Lead { which, link, of } => self.lead(*which, link, of.as_deref()),
            Action::Paint { surface, color } => self.paint(*surface, *color),
            Action::Recolor { from, exact, to } => self.recolor(*from, *exact, *to),
            Action::Emoji(on) => self.emoji(*on),
            Action::Shorten { target, which } => self.shorten(*target, *which),
            Action::Add { target, clause, place } => self.add(*target, clause, place.as_ref()),
            Action::Remove { target: Target::Sentence, which, words } => self.remove_sentence(*which, words.as_deref()),
            Action::Remove { target, which, words } => self.remove(*target, *which, words.as_deref()),
            Action::Move { target, which, to } => self.shift(*target, *which, to),
            Action::Swap { which, url, clause } => self.swap(*which, url.as_deref(), clause),
            Action::Round(_) | Action::Arrange(_) => Err(format!("{IMPORTED}. Its corners and layout cannot be changed.")),
            Action::Formality(_) | Action::Translate(_) | Action::Lengthen => {
                Err(format!("{IMPORTED}. The email cannot be rewritten as a whole. Enter the new text."))
            }
        }
    }

    /// Returns the indexes of the parts that a target refers to.
    fn places(&self, target: Target) -> Vec<usize> {
        let imported = &self.imported;
        match target {
            Target::Text | Target::Sentence | Target::Story => imported.paragraphs(),
            Target::Lead => imported.paragraphs().into_iter().take(1).collect(),
            Target::Closing => imported.paragraphs().into_iter().next_back().into_iter().collect(),
            Target::Title => imported.title().into_iter().collect(),
            Target::Heading => imported.of_kind(Kind::Heading),
            Target::Button => imported.of_kind(Kind::Button),
            Target::Image | Target::Alt => imported.images(),
            Target::List => imported.of_kind(Kind::Item),
            _ => Vec::new(),
        }
    }

    fn one(&self, target: Target, which: Which) -> Result<usize, String> {
        pick(self.places(target), which).ok_or_else(|| self.nothing_such(target))
    }

    fn nothing_such(&self, target: Target) -> String {
        match target {
            Target::Coupon
            | Target::Divider
            | Target::Products
            | Target::Quote
            | Target::Countdown
            | Target::Social
            | Target::Table
            | Target::Eyebrow => {
                format!("{IMPORTED}. Put the words of the {} in quotation marks.", target.name())
            }
            target => format!("The email has no matching {}.", target.name()),
        }
    }

    fn replace(&mut self, from: &str, to: &str) -> Done {
        if from.trim().is_empty() {
            return Err("The words to replace are unclear. Put the old and the new words in quotation marks.".to_owned());
        }
        let mut count = 0;
        let mut replaced = |text: String| {
            let (new, found) = with_replaced(&text, from, to);
            count += found;
            (found > 0).then_some(new)
        };
        let subject = replaced(self.imported.subject.clone());
        let preheader = replaced(self.imported.preheader());
        let texts = self.imported.parts().filter(|(_, part)| part.words().is_some()).map(|(place, _)| place);
        let texts: Vec<(usize, String)> = texts.filter_map(|place| Some((place, replaced(self.imported.text(place))?))).collect();
        if count == 0 {
            // "Remove the logo" refers to the image.
            return match to {
                "" => self.remove(Target::Image, Which::Unsaid, Some(from)),
                _ => Err(format!("The email does not contain the words \"{from}\".")),
            };
        }
        if let Some(subject) = subject.filter(|subject| !subject.is_empty()) {
            self.imported.set_subject(&subject)?;
        }
        if let Some(preheader) = preheader {
            self.imported.set_preheader(&preheader)?;
        }
        for (place, text) in texts {
            self.imported.say(place, &text)?;
        }
        let places = if count == 1 { "place" } else { "places" };
        match to {
            "" => Ok(format!("Removed \"{from}\" in {count} {places}.")),
            to => Ok(format!("Replaced \"{from}\" with \"{to}\" in {count} {places}.")),
        }
    }

    fn set(&mut self, target: Target, which: Which, value: &str) -> Done {
        match target {
            Target::Subject => self.imported.set_subject(value)?,
            Target::Preheader => self.imported.set_preheader(value)?,
            Target::Alt => {
                let place = self.one(target, which)?;
                self.imported.describe(place, value)?;
            }
            target => {
                let place = self.one(target, which)?;
                if self.imported.part(place).and_then(Part::words).is_none() {
                    return Err(format!("The {} contains no text. Change the alt text instead.", target.name()));
                }
                self.imported.say(place, value)?;
            }
        }
        Ok(format!("Changed the {} to \"{value}\".", target.name()))
    }

    /// Changes the target of links whose text contains `of` or whose address is `of`. If `of` is `None`, changes the target of buttons.
    fn lead(&mut self, which: Which, link: &Link, of: Option<&str>) -> Done {
        if let Some(of) = of {
            let old = Link::parse(of).ok();
            let same = |address: &str| address == of || old.as_ref().is_some_and(|old| Link::parse(address).as_ref() == Ok(old));
            let links: Vec<usize> = {
                let all = self.imported.links();
                let meant = all.iter().filter(|(_, words, address)| same(address) || find(words, of).is_some());
                meant.map(|(link, ..)| *link).collect()
            };
            for element in &links {
                self.imported.lead(*element, link.as_str())?;
            }
            return match links.len() {
                0 => Err(format!("The email has no link with the text or address \"{of}\".")),
                1 => Ok(format!("The link \"{of}\" now leads to {link}.")),
                count => Ok(format!("{count} links \"{of}\" now lead to {link}.")),
            };
        }
        let buttons = self.places(Target::Button);
        let meant =
            if matches!(which, Which::All | Which::Unsaid) { buttons } else { pick(buttons, which).into_iter().collect() };
        match self.imported.lead_buttons(&meant, link.as_str())? {
            0 => Err("The email has no matching button. Put the text of the link in quotation marks.".to_owned()),
            1 => Ok(format!("The button now links to {link}.")),
            count => Ok(format!("All {count} buttons now link to {link}.")),
        }
    }

    fn paint(&mut self, surface: Surface, color: Color) -> Done {
        let (painted, name) = match surface {
            Surface::Button if self.places(Target::Button).is_empty() => return Err("The email has no button.".to_owned()),
            Surface::Button => (imported_html::ColorTarget::Buttons, "buttons"),
            Surface::Background => (imported_html::ColorTarget::Ground, "background"),
            Surface::Text => (imported_html::ColorTarget::Text, "text"),
            Surface::Headings if self.places(Target::Heading).is_empty() => return Err("The email has no heading.".to_owned()),
            Surface::Headings => (imported_html::ColorTarget::Headings, "headings"),
            Surface::Accent => {
                let accent = self.imported.colors.iter().copied().find(|color| color::has_hue(*color));
                let accent =
                    accent.ok_or("The email has no dominant color. Name the button, the text or the background instead.")?;
                self.imported.recolor(vec![accent], color)?;
                return Ok(format!("Changed the color {accent} to {color}."));
            }
        };
        self.imported.paint(painted, color)?;
        Ok(format!("Made the {name} {color}."))
    }

    fn recolor(&mut self, from: Color, exact: bool, to: Color) -> Done {
        let is_meant = |color: &Color| if exact { *color == from } else { color::word(*color) == color::word(from) };
        let meant: Vec<Color> = self.imported.colors.iter().copied().filter(is_meant).filter(|color| *color != to).collect();
        if meant.is_empty() {
            let own: Vec<String> = self.imported.colors.iter().map(ToString::to_string).collect();
            let name = if exact { from.to_string() } else { color::word(from).to_owned() };
            return Err(format!("The email has no {name}. Its colors are {}.", own.join(", ")));
        }
        let names: Vec<String> = meant.iter().map(ToString::to_string).collect();
        self.imported.recolor(meant, to)?;
        Ok(format!("Changed the color {} to {to}.", names.join(", ")))
    }

    fn emoji(&mut self, on: bool) -> Done {
        if on {
            if self.imported.subject.chars().any(is_emoji) {
                return Err("The subject already has an emoji.".to_owned());
            }
            let emoji = crate::features::emails::composer::headlines::emoji(Purpose::Newsletter, None);
            let subject = format!("{} {emoji}", self.imported.subject);
            self.imported.set_subject(&subject)?;
            return Ok("Added an emoji to the subject.".to_owned());
        }
        let without = |text: &str| {
            let kept: String = text.chars().filter(|imported| !is_emoji(*imported)).collect();
            (kept.len() != text.len() && !kept.trim().is_empty()).then(|| kept.replace("  ", " ").trim().to_owned())
        };
        let (subject, preheader) = (without(&self.imported.subject), without(&self.imported.preheader()));
        let places: Vec<usize> =
            self.imported.parts().filter(|(_, part)| part.words().is_some()).map(|(place, _)| place).collect();
        let texts: Vec<(usize, String)> =
            places.into_iter().filter_map(|place| Some((place, without(&self.imported.text(place))?))).collect();
        if subject.is_none() && preheader.is_none() && texts.is_empty() {
            return Err("The email has no emoji.".to_owned());
        }
        subject.map_or(Ok(()), |subject| self.imported.set_subject(&subject))?;
        preheader.map_or(Ok(()), |preheader| self.imported.set_preheader(&preheader))?;
        texts.into_iter().try_for_each(|(place, text)| self.imported.say(place, &text))?;
        Ok("Removed the emoji.".to_owned())
    }

    fn shorten(&mut self, target: Option<Target>, which: Which) -> Done {
        match target {
            Some(Target::Subject) => {
                let short = shorter::<{ usize::MAX }>(&Line::new(&self.imported.subject), SUBJECT_CHARACTERS);
                self.imported.set_subject(&short)?;
                return Ok(format!("Shortened the subject to \"{short}\"."));
            }
            Some(Target::Preheader) => {
                let preheader = self.imported.preheader();
                let first = sentences(&preheader).first().copied().unwrap_or_default().to_owned();
                self.imported.set_preheader(&first)?;
                return Ok(format!("Shortened the preheader to \"{first}\"."));
            }
            _ => {}
        }
        let all = self.places(target.unwrap_or(Target::Text));
        let meant = if which == Which::Unsaid { all } else { pick(all, which).into_iter().collect() };
        let mut count = 0;
        for place in meant {
            let text = self.imported.text(place);
            let own = sentences(&text);
            let kept = own.len().div_ceil(2);
            if let Some(last) = own.get(kept.saturating_sub(1)).filter(|_| kept < own.len()) {
                // Cut directly after the last remaining sentence.
                let end = text.find(last).map_or(text.len(), |at| at + last.len());
                let short = text[..end].to_owned();
                self.imported.say(place, &short)?;
                count += 1;
            }
        }
        match count {
            0 => Err("The email cannot be shortened: every paragraph is already a single sentence.".to_owned()),
            1 => Ok("Shortened one paragraph.".to_owned()),
            count => Ok(format!("Shortened {count} paragraphs.")),
        }
    }

    fn remove_sentence(&mut self, which: Which, words: Option<&str>) -> Done {
        let places =
            if words.is_some() { self.imported.parts().map(|(place, _)| place).collect() } else { self.places(Target::Text) };
        let mut all: Vec<(usize, String)> = Vec::new();
        for place in places.into_iter().filter(|place| self.imported.part(*place).and_then(Part::words).is_some()) {
            let text = self.imported.text(place);
            all.extend(sentences(&text).into_iter().map(|sentence| (place, sentence.to_owned())));
        }
        let meant = match words {
            Some(words) => all.into_iter().find(|(_, sentence)| find(sentence, words).is_some()),
            None => pick(all, which),
        };
        let (place, sentence) = meant.ok_or("The email has no matching sentence.")?;
        let text = self.imported.text(place);
        let rest = text.replacen(&sentence, "", 1).replace("  ", " ");
        self.imported.say(place, rest.trim())?;
        Ok(format!("Removed the sentence \"{sentence}\"."))
    }

    fn remove(&mut self, target: Target, which: Which, words: Option<&str>) -> Done {
        let name = target.name();
        if let Some(words) = words {
            let of_kind = self.places(target);
            // In an instruction, "block" can refer to any part that contains the words.
            let any = |place: &usize| target == Target::Text || of_kind.is_empty() || of_kind.contains(place);
            let says = |place: &usize| find(&self.imported.text(*place), words).is_some();
            let found: Vec<usize> =
                self.imported.parts().map(|(place, _)| place).filter(|place| any(place) && says(place)).collect();
            if found.is_empty() {
                return Err(format!("The email has no {name} with the words \"{words}\"."));
            }
            found.iter().try_for_each(|place| self.imported.remove(*place))?;
            return Ok(format!("Removed the {name} with the words \"{words}\"."));
        }
        let all = self.places(target);
        if all.is_empty() {
            return Err(self.nothing_such(target));
        }
        let found = if which == Which::All { all } else { vec![self.one(target, which)?] };
        found.iter().try_for_each(|place| self.imported.remove(*place))?;
        match found.len() {
            1 => Ok(format!("Removed the {name}.")),
            count => Ok(format!("Removed {count} parts of type \"{name}\".")),
        }
    }

    /// Returns the index of the part next to the position that an instruction refers to, and whether the position is before that part.
    fn beside(&self, place: &Place) -> Result<(usize, bool), String> {
        let nothing = || "The position was not found: the email has no part of that type.".to_owned();
        let of = |anchor: &Anchor| match anchor {
            Anchor::Words(words) => {
                let found = self
                    .imported
                    .parts()
                    .map(|(place, _)| place)
                    .find(|place| find(&self.imported.text(*place), words).is_some());
                found.ok_or_else(|| format!("The email does not contain the words \"{words}\"."))
            }
            Anchor::Target(target, which) => pick(self.places(*target), *which).ok_or_else(nothing),
        };
        match place {
            Place::Top | Place::Up => Ok((self.imported.first().ok_or_else(nothing)?, true)),
            Place::Bottom | Place::Down => Ok((self.imported.last().ok_or_else(nothing)?, false)),
            Place::Before(anchor) => Ok((of(anchor)?, true)),
            Place::After(anchor) => Ok((of(anchor)?, false)),
        }
    }

    fn shift(&mut self, target: Target, which: Which, to: &Place) -> Done {
        let from = self.one(target, which)?;
        let others: Vec<usize> = self.imported.parts().map(|(place, _)| place).collect();
        let own = others.iter().position(|place| *place == from).unwrap_or_default();
        let beside = match to {
            Place::Up => own.checked_sub(1).map(|place| (others[place], true)),
            Place::Down => others.get(own + 1).map(|place| (*place, false)),
            to => Some(self.beside(to)?),
        };
        let (beside, before) = beside
            .filter(|(beside, _)| *beside != from)
            .ok_or_else(|| format!("The {} cannot be moved further.", target.name()))?;
        self.imported.shift(from, beside, before)?;
        Ok(format!("Moved the {}.", target.name()))
    }

    fn picture(&self, url: Option<&str>, clause: &str) -> Result<Picture, String> {
        if let Some(url) = url {
            return material::picture(url, None, (None, None)).ok_or_else(|| "This URL is not an image.".to_owned());
        }
        let shown: Vec<&str> =
            self.imported.parts().filter_map(|(_, part)| part.image()).map(|image| image.address.as_str()).collect();
        let next = blocks::next_picture(&shown.join(" "), clause, self.means);
        next.ok_or_else(|| "The brand has no other suitable image. Enter the URL of an image.".to_owned())
    }

    fn swap(&mut self, which: Which, url: Option<&str>, clause: &str) -> Done {
        let place = self.one(Target::Image, which)?;
        let Picture { src, alt, .. } = self.picture(url, clause)?;
        let words = alt.as_ref().map(|alt| alt.as_str());
        self.imported.show(place, src.as_str(), words)?;
        let told =
            if words.is_none() { " The alt text is unchanged; edit it if the new image shows something else." } else { "" };
        Ok(format!("Changed the image to {src}.{told}"))
    }

    fn add(&mut self, target: Target, clause: &str, place: Option<&Place>) -> Done {
        let beside = place.map(|place| self.beside(place)).transpose()?;
        let said = blocks::quotes(clause, place).into_iter().next().or_else(|| blocks::after_colon(clause));
        let words = |name: &str| said.clone().ok_or_else(|| format!("Put the text of the {name} in quotation marks."));
        let new = match target {
            Target::Sentence => return self.add_sentence(&words("sentence")?, place),
            Target::Text | Target::Lead => New::Paragraph(words("text")?),
            Target::Heading | Target::Title => New::Heading(words("heading")?),
            Target::Button => {
                let given = text::links(clause).iter().find_map(|address| material::link(address));
                let site = self.means.site.and_then(material::link);
                let present = self.imported.button_address().map(str::to_owned);
                let address = given.map(|link| link.to_string()).or(present).or_else(|| site.map(|link| link.to_string()));
                let address = address.ok_or("Enter the URL that the button links to.")?;
                New::Button { words: words("button")?, address }
            }
            Target::Image => {
                let url = text::links(clause).into_iter().find(|url| ImageUrl::parse(url).is_ok());
                let Picture { src, alt, .. } = self.picture(url.as_deref(), clause)?;
                let alt = said.or_else(|| alt.map(|alt| alt.to_string())).unwrap_or_default();
                New::Image { address: src.to_string(), alt }
            }
            target => {
                return Err(format!(
                    "{IMPORTED}. Only paragraphs, headings, buttons and images can be added, not a {}.",
                    target.name()
                ));
            }
        };
        self.imported.insert(beside, new)?;
        Ok(format!("Added: {}.", target.name()))
    }

    /// Adds a sentence to a paragraph: after the given words, or at its end.
    fn add_sentence(&mut self, sentence: &str, place: Option<&Place>) -> Done {
        let anchor = match place {
            Some(Place::Before(anchor)) => Some((anchor, true)),
            Some(Place::After(anchor)) => Some((anchor, false)),
            _ => None,
        };
        let is_top = matches!(place, Some(Place::Top | Place::Up));
        let (beside, before) = match place {
            Some(place) if anchor.is_some() => self.beside(place)?,
            _ if is_top => (self.one(Target::Lead, Which::Unsaid)?, true),
            _ => (self.one(Target::Text, Which::Last)?, false),
        };
        if self
            .imported
            .part(beside)
            .and_then(Part::words)
            .is_none_or(|words| words.kind == Kind::Button || words.kind == Kind::Heading)
        {
            self.imported.insert(Some((beside, before)), New::Paragraph(sentence.to_owned()))?;
            return Ok("Added the sentence as a separate paragraph.".to_owned());
        }
        let text = self.imported.text(beside);
        let around = match anchor {
            Some((Anchor::Words(words), _)) => sentences(&text).into_iter().find(|own| find(own, words).is_some()),
            _ => None,
        };
        let around = around.and_then(|own| text.find(own).map(|at| (at, at + own.len())));
        let (start, end) = around.unwrap_or((0, text.len()));
        let new = match before {
            true => format!("{}{sentence} {}", &text[..start], &text[start..]),
            false => format!("{} {sentence}{}", &text[..end], &text[end..]),
        };
        self.imported.say(beside, &new)?;
        Ok("Added the sentence.".to_owned())
    }
}

/// Returns the text with words replaced, and the number of replacements. If words are removed, no double space is left.
fn with_replaced(text: &str, from: &str, to: &str) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut count = 0;
    while let Some((start, end)) = find(rest, from) {
        out.push_str(&rest[..start]);
        out.push_str(to);
        rest = &rest[end..];
        if to.is_empty() && (out.is_empty() || out.ends_with(' ')) {
            rest = rest.trim_start_matches(' ');
        }
        count += 1;
    }
    out.push_str(rest);
    (out, count)
}
