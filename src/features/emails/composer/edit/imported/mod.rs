//! Edits imported HTML. The instructions are the same as for other emails, except those that imported HTML does not support.
//!
//! This module finds the parts that an instruction refers to and computes their new values. [`ImportedEmail`] records the values as changes
//! to the HTML.

#[cfg(test)]
mod tests;

use super::action::{Action, Anchor, Details, PartName, Place, Target, Which};
use super::color_names::Named;
use super::passages::{find, pick, with_replaced};
use super::reader::Scene;
use super::reply::{ActionResult, Fact, Reply};
use super::resources::EditResources;
use super::shorten::shorter_lines;
use super::texts::{is_emoji, sentences};
use super::vocabulary::Vocabulary;
use super::{NotApplied, blocks, nearest, refusal, split};
use crate::base::color;
use crate::base::text::Color;
use crate::engine::render::imported_html::{self, New, Part, TextPartKind};
use crate::features::emails::composer::language::Language;
use crate::features::emails::composer::material;
use crate::features::emails::document::{ImageUrl, Link, Picture, Purpose};
use crate::features::emails::imported::ImportedEmail;

/// The result of editing an imported email: the email, and the reports to the user.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedEditResult {
    pub imported: ImportedEmail,
    /// One sentence for each change that was made.
    pub done: Vec<String>,
    /// One sentence for each change that was not made, with the reason.
    pub not_done: Vec<String>,
}

/// Applies the parts of an instruction that the composer understands.
pub fn apply(imported: &ImportedEmail, instruction: &str, means: &EditResources<'_>) -> Result<ImportedEditResult, NotApplied> {
    let prompt = crate::features::emails::composer::text::clean(instruction);
    let language = split::language(&prompt, Language::of(&imported.language).unwrap_or(Language::En));
    let vocabulary = Vocabulary::of(language);
    let mut edited = ImportedEditResult { imported: imported.clone(), done: Vec::new(), not_done: Vec::new() };
    let scene = Scene { contains: &|words| contains(imported, words), products: &[] };
    for clause in split::clauses(&prompt, language, scene) {
        // A part of the instruction that fails makes no changes.
        let mut changed = edited.imported.clone();
        let outcome = match &clause.action {
            Some(action) => (ImportedEditor { imported: &mut changed, means }).carry_out(action),
            None => Err(nearest::hint(&clause.text, vocabulary, scene, &parts(imported))),
        };
        match outcome {
            Ok(done) => {
                edited.imported = changed;
                edited.done.push(vocabulary.tell(&done));
            }
            Err(reason) => edited.not_done.push(refusal(vocabulary, &clause.text, &reason)),
        }
    }
    if edited.not_done.is_empty() && edited.done.is_empty() {
        edited.not_done.push(vocabulary.tell(&Reply::new("empty")));
    }
    if edited.done.is_empty() { Err(NotApplied(edited.not_done)) } else { Ok(edited) }
}

/// Returns the kinds of parts that an imported email contains.
fn parts(imported: &ImportedEmail) -> Vec<Target> {
    let kinds = [
        (Target::Title, imported.title().is_some()),
        (Target::Heading, !imported.of_kind(TextPartKind::Heading).is_empty()),
        (Target::Text, !imported.paragraphs().is_empty()),
        (Target::Button, !imported.of_kind(TextPartKind::Button).is_empty()),
        (Target::Image, !imported.images().is_empty()),
        (Target::List, !imported.of_kind(TextPartKind::Item).is_empty()),
    ];
    let own = kinds.into_iter().filter(|(_, has)| *has).map(|(target, _)| target);
    [Target::Subject, Target::Preheader].into_iter().chain(own).collect()
}

/// Returns whether the subject, the preheader or a part of the email contains these words.
fn contains(imported: &ImportedEmail, words: &str) -> bool {
    let is_in = |text: &str| find(text, words).is_some();
    let in_parts = || imported.parts().any(|(place, _)| is_in(&imported.text(place)));
    words.chars().count() >= 2 && (is_in(&imported.subject) || is_in(&imported.preheader()) || in_parts())
}

struct ImportedEditor<'a> {
    imported: &'a mut ImportedEmail,
    means: &'a EditResources<'a>,
}

impl ImportedEditor<'_> {
    fn carry_out(&mut self, action: &Action) -> ActionResult {
        match action {
            Action::Replace { from, to } => self.replace(from, to),
            Action::Set { part, value } => self.set(*part, value),
            Action::Lead { which, link, of } => self.lead(*which, link, of.as_deref()),
            Action::Paint { part, color } => self.paint(*part, *color),
            Action::Recolor { from, to } => self.recolor(*from, *to, Target::Email),
            Action::Emoji(on) => self.emoji(*on),
            Action::Shorten(part) => self.shorten(*part),
            Action::Add { target, details, place } => self.add(*target, details, place.as_ref()),
            Action::Remove { part, words } if part.target == Target::Sentence => {
                self.remove_sentence(part.which, words.as_deref())
            }
            Action::Remove { part, words } => self.remove(*part, words.as_deref()),
            Action::Move { part, to } => self.shift(*part, to),
            Action::Swap { which, url, words } => self.swap(*which, url.as_deref(), words.as_deref()),
            Action::Sign(name) => {
                let part = PartName { target: Target::Closing, which: Which::Unsaid, was: None };
                self.set(part, name).map(|_| Reply::new("signed").text("name", name))
            }
            Action::Round(_)
            | Action::Arrange(_)
            | Action::Formality(_)
            | Action::Translate(_)
            | Action::Lengthen
            | Action::Inform { .. }
            | Action::RemoveProduct(_)
            | Action::Columns(_)
            | Action::Bold(_) => Err(Reply::new("imported_only")),
        }
    }

    /// Returns the indexes of the parts that a target refers to.
    fn places(&self, target: Target) -> Vec<usize> {
        let imported = &self.imported;
        match target {
            Target::Text | Target::Sentence | Target::Story | Target::Email => imported.paragraphs(),
            Target::Lead => imported.paragraphs().into_iter().take(1).collect(),
            Target::Closing => imported.paragraphs().into_iter().next_back().into_iter().collect(),
            Target::Title => imported.title().into_iter().collect(),
            Target::Heading => imported.of_kind(TextPartKind::Heading),
            Target::Button | Target::Label => imported.of_kind(TextPartKind::Button),
            Target::Image | Target::Alt => imported.images(),
            Target::List => imported.of_kind(TextPartKind::Item),
            _ => Vec::new(),
        }
    }

    fn one(&self, target: Target, which: Which) -> Result<usize, Reply> {
        pick(self.places(target), which).ok_or_else(|| self.nothing_such(target))
    }

    fn nothing_such(&self, target: Target) -> Reply {
        Reply::about("missing", target).with("parts", Fact::Parts(parts(self.imported)))
    }

    fn replace(&mut self, from: &str, to: &str) -> ActionResult {
        let mut count = 0;
        let mut replaced = |text: String| {
            let (new, found) = with_replaced(&text, from, to);
            count += found;
            (found > 0).then_some(new)
        };
        let subject = replaced(self.imported.subject.clone());
        let preheader = replaced(self.imported.preheader());
        let texts = self.imported.parts().filter(|(_, part)| part.text_part().is_some()).map(|(place, _)| place);
        let texts: Vec<(usize, String)> = texts.filter_map(|place| Some((place, replaced(self.imported.text(place))?))).collect();
        if count == 0 {
            // If no text contains the words, an image whose alt text contains them is removed: "remove the logo".
            return match to {
                "" => self.remove(PartName { target: Target::Image, which: Which::Unsaid, was: None }, Some(from)),
                _ => Err(Reply::new("no_words").text("words", from)),
            };
        }
        if let Some(subject) = subject.filter(|subject| !subject.is_empty()) {
            self.imported.set_subject(&subject).map_err(broken)?;
        }
        if let Some(preheader) = preheader {
            self.imported.set_preheader(&preheader).map_err(broken)?;
        }
        for (place, text) in texts {
            self.imported.say(place, &text).map_err(broken)?;
        }
        Ok(match to {
            "" => Reply::new("removed_words").text("from", from).text("count", count),
            to => Reply::new("replaced").text("from", from).text("to", to).text("count", count),
        })
    }

    fn set(&mut self, part: PartName, value: &str) -> ActionResult {
        let PartName { target, which, .. } = part;
        match target {
            Target::Subject => self.imported.set_subject(value).map_err(broken)?,
            Target::Preheader => self.imported.set_preheader(value).map_err(broken)?,
            Target::Alt => {
                let place = self.one(target, which)?;
                self.imported.describe(place, value).map_err(broken)?;
            }
            target => {
                let place = self.one(target, which)?;
                if self.imported.part(place).and_then(Part::text_part).is_none() {
                    return Err(Reply::about("hint_part", Target::Alt));
                }
                self.imported.say(place, value).map_err(broken)?;
            }
        }
        Ok(Reply::about("set", target).text("value", value))
    }

    /// Changes the target of links whose text contains `of` or whose address is `of`. If `of` is `None`, changes the target of buttons.
    fn lead(&mut self, which: Which, link: &Link, of: Option<&str>) -> ActionResult {
        if let Some(of) = of {
            let old = Link::parse(of).ok();
            let same = |address: &str| address == of || old.as_ref().is_some_and(|old| Link::parse(address).as_ref() == Ok(old));
            let links: Vec<usize> = {
                let all = self.imported.links();
                let meant = all.iter().filter(|(_, words, address)| same(address) || find(words, of).is_some());
                meant.map(|(link, ..)| *link).collect()
            };
            for element in &links {
                self.imported.lead(*element, link.as_str()).map_err(broken)?;
            }
            return match links.is_empty() {
                true => Err(Reply::new("no_words").text("words", of)),
                false => Ok(Reply::new("linked_words").text("words", of).text("link", link)),
            };
        }
        let buttons = self.places(Target::Button);
        let meant =
            if matches!(which, Which::All | Which::Unsaid) { buttons } else { pick(buttons, which).into_iter().collect() };
        match self.imported.lead_buttons(&meant, link.as_str()).map_err(broken)? {
            0 => Err(self.nothing_such(Target::Button)),
            _ => Ok(Reply::new("linked").text("link", link)),
        }
    }

    fn paint(&mut self, part: PartName, color: Color) -> ActionResult {
        let target = part.target;
        // If the instruction names the current color of the part, this color is replaced in the whole email.
        if let Some(was) = part.was {
            return self.recolor(was, color, target);
        }
        let painted = match target {
            Target::Button | Target::Label if self.places(Target::Button).is_empty() => {
                return Err(self.nothing_such(Target::Button));
            }
            Target::Button | Target::Label => imported_html::ColorTarget::Buttons,
            Target::Background => imported_html::ColorTarget::Ground,
            Target::Text => imported_html::ColorTarget::Text,
            Target::Title | Target::Heading if self.places(Target::Heading).is_empty() => {
                return Err(self.nothing_such(Target::Heading));
            }
            Target::Title | Target::Heading => imported_html::ColorTarget::Headings,
            Target::Accent => {
                let accent = self.imported.colors.iter().copied().find(|color| color::has_hue(*color));
                let accent = accent.ok_or_else(|| self.no_color(target))?;
                return self.recolor(Named { color: accent, is_exact: true }, color, target);
            }
            other => return Err(self.no_color(other)),
        };
        self.imported.paint(painted, color).map_err(broken)?;
        Ok(Reply::about("painted", target).text("color", color))
    }

    fn no_color(&self, target: Target) -> Reply {
        let own: Vec<String> = self.imported.colors.iter().map(ToString::to_string).collect();
        Reply::about("not_that_color", target).text("colors", own.join(", "))
    }

    fn recolor(&mut self, from: Named, to: Color, target: Target) -> ActionResult {
        let is_meant = |color: &Color| from.means(*color) && *color != to;
        let meant: Vec<Color> = self.imported.colors.iter().copied().filter(is_meant).collect();
        if meant.is_empty() {
            return Err(self.no_color(target));
        }
        let names: Vec<String> = meant.iter().map(ToString::to_string).collect();
        self.imported.recolor(meant, to).map_err(broken)?;
        Ok(Reply::new("recolored").text("from", names.join(", ")).text("color", to).with("parts", Fact::Part(target)))
    }

    fn emoji(&mut self, on: bool) -> ActionResult {
        if on {
            if self.imported.subject.chars().any(is_emoji) {
                return Err(Reply::new("has_emoji"));
            }
            let emoji = crate::features::emails::composer::headlines::emoji(Purpose::Newsletter, None);
            let subject = format!("{} {emoji}", self.imported.subject);
            self.imported.set_subject(&subject).map_err(broken)?;
            return Ok(Reply::new("emoji_on"));
        }
        let without = |text: &str| {
            let kept: String = text.chars().filter(|imported| !is_emoji(*imported)).collect();
            (kept.len() != text.len() && !kept.trim().is_empty()).then(|| kept.replace("  ", " ").trim().to_owned())
        };
        let (subject, preheader) = (without(&self.imported.subject), without(&self.imported.preheader()));
        let places: Vec<usize> =
            self.imported.parts().filter(|(_, part)| part.text_part().is_some()).map(|(place, _)| place).collect();
        let texts: Vec<(usize, String)> =
            places.into_iter().filter_map(|place| Some((place, without(&self.imported.text(place))?))).collect();
        if subject.is_none() && preheader.is_none() && texts.is_empty() {
            return Err(Reply::new("no_emoji"));
        }
        subject.map_or(Ok(()), |subject| self.imported.set_subject(&subject)).map_err(broken)?;
        preheader.map_or(Ok(()), |preheader| self.imported.set_preheader(&preheader)).map_err(broken)?;
        texts.into_iter().try_for_each(|(place, text)| self.imported.say(place, &text)).map_err(broken)?;
        Ok(Reply::new("emoji_off"))
    }

    /// Shortens a line. Paragraphs are not shortened, because without a brief it is unknown which sentences matter.
    fn shorten(&mut self, part: PartName) -> ActionResult {
        let target = part.target;
        let language = Language::of(&self.imported.language).unwrap_or(Language::En);
        let short = |text: &str| shorter_lines(text, language).into_iter().next().ok_or(Reply::about("no_shorter", target));
        let value = match target {
            Target::Subject => {
                let value = short(&self.imported.subject)?;
                self.imported.set_subject(&value).map_err(broken)?;
                value
            }
            Target::Preheader => {
                let value = short(&self.imported.preheader())?;
                self.imported.set_preheader(&value).map_err(broken)?;
                value
            }
            Target::Title | Target::Heading => {
                let place = self.one(target, part.which)?;
                let value = short(&self.imported.text(place))?;
                self.imported.say(place, &value).map_err(broken)?;
                value
            }
            _ => return Err(Reply::new("no_filler")),
        };
        Ok(Reply::about("shortened", target).text("value", value))
    }

    fn remove_sentence(&mut self, which: Which, words: Option<&str>) -> ActionResult {
        let places =
            if words.is_some() { self.imported.parts().map(|(place, _)| place).collect() } else { self.places(Target::Text) };
        let mut all: Vec<(usize, String)> = Vec::new();
        for place in places.into_iter().filter(|place| self.imported.part(*place).and_then(Part::text_part).is_some()) {
            let text = self.imported.text(place);
            all.extend(sentences(&text).into_iter().map(|sentence| (place, sentence.to_owned())));
        }
        let meant = match words {
            Some(words) => all.into_iter().find(|(_, sentence)| find(sentence, words).is_some()),
            None => pick(all, which),
        };
        let (place, sentence) = meant.ok_or_else(|| self.nothing_such(Target::Sentence))?;
        let text = self.imported.text(place);
        let rest = text.replacen(&sentence, "", 1).replace("  ", " ");
        self.imported.say(place, rest.trim()).map_err(broken)?;
        Ok(Reply::new("removed_sentence").text("text", sentence))
    }

    fn remove(&mut self, part: PartName, words: Option<&str>) -> ActionResult {
        let PartName { target, which, .. } = part;
        if let Some(words) = words {
            let of_kind = self.places(target);
            // The target "text", or a kind that the email lacks, can refer to any part that contains the words.
            let any = |place: &usize| target == Target::Text || of_kind.is_empty() || of_kind.contains(place);
            let says = |place: &usize| find(&self.imported.text(*place), words).is_some();
            let found: Vec<usize> =
                self.imported.parts().map(|(place, _)| place).filter(|place| any(place) && says(place)).collect();
            if found.is_empty() {
                return Err(Reply::new("no_words").text("words", words));
            }
            found.iter().try_for_each(|place| self.imported.remove(*place)).map_err(broken)?;
            return Ok(Reply::about("removed_saying", target).text("words", words));
        }
        let all = self.places(target);
        if all.is_empty() {
            return Err(self.nothing_such(target));
        }
        let found = if which == Which::All { all } else { vec![self.one(target, which)?] };
        found.iter().try_for_each(|place| self.imported.remove(*place)).map_err(broken)?;
        Ok(match found.len() {
            1 => Reply::about("removed", target),
            count => Reply::about("removed_many", target).text("count", count),
        })
    }

    /// Returns the index of the part that a place refers to, and whether the place is before that part.
    fn beside(&self, place: &Place) -> Result<(usize, bool), Reply> {
        let nothing = || Reply::new("no_place").with("parts", Fact::Parts(parts(self.imported)));
        let of = |anchor: &Anchor| match anchor {
            Anchor::Words(words) => {
                let mut places = self.imported.parts().map(|(place, _)| place);
                let found = places.find(|place| find(&self.imported.text(*place), words).is_some());
                found.ok_or_else(|| Reply::new("no_words").text("words", words))
            }
            Anchor::Part(part) => pick(self.places(part.target), part.which).ok_or_else(nothing),
        };
        match place {
            Place::Top | Place::Up => Ok((self.imported.first().ok_or_else(nothing)?, true)),
            Place::Bottom | Place::Down | Place::End => Ok((self.imported.last().ok_or_else(nothing)?, false)),
            Place::Before(anchor) => Ok((of(anchor)?, true)),
            Place::After(anchor) => Ok((of(anchor)?, false)),
        }
    }

    fn shift(&mut self, part: PartName, to: &Place) -> ActionResult {
        let target = part.target;
        let from = self.one(target, part.which)?;
        let others: Vec<usize> = self.imported.parts().map(|(place, _)| place).collect();
        let own = others.iter().position(|place| *place == from).unwrap_or_default();
        let beside = match to {
            Place::Up => own.checked_sub(1).map(|place| (others[place], true)),
            Place::Down => others.get(own + 1).map(|place| (*place, false)),
            to => Some(self.beside(to)?),
        };
        let (beside, before) = beside.filter(|(beside, _)| *beside != from).ok_or_else(|| Reply::about("is_there", target))?;
        self.imported.shift(from, beside, before).map_err(broken)?;
        Ok(Reply::about("moved", target))
    }

    fn picture(&self, url: Option<&str>, words: Option<&str>) -> Result<Picture, Reply> {
        let images = self.imported.parts().filter_map(|(_, part)| part.image());
        let shown: Vec<&str> = images.map(|image| image.address.as_str()).collect();
        blocks::chosen(&shown.join(" "), url, words, self.means)
    }

    fn swap(&mut self, which: Which, url: Option<&str>, words: Option<&str>) -> ActionResult {
        let place = self.one(Target::Image, which)?;
        let Picture { src, alt, .. } = self.picture(url, words)?;
        let alt = alt.as_ref().map(|alt| alt.as_str());
        self.imported.show(place, src.as_str(), alt).map_err(broken)?;
        let then = alt.is_none().then(|| Box::new(Reply::new("alt_kept")));
        Ok(Reply { then, ..Reply::new("swapped").text("alt", alt.unwrap_or(src.as_str())) })
    }

    fn add(&mut self, target: Target, details: &Details, place: Option<&Place>) -> ActionResult {
        let beside = place.map(|place| self.beside(place)).transpose()?;
        let said = details.text.as_deref();
        let words = || said.map(str::to_owned).ok_or_else(|| Reply::about("quote_text", target));
        let new = match target {
            Target::Sentence => return self.add_sentence(&words()?, place),
            Target::Text | Target::Lead => New::Paragraph(words()?),
            Target::Heading | Target::Title => New::Heading(words()?),
            Target::Button => {
                let given = details.url.as_deref().and_then(material::link);
                let site = self.means.site.and_then(material::link);
                let present = self.imported.button_address().map(str::to_owned);
                let address = given.map(|link| link.to_string()).or(present).or_else(|| site.map(|link| link.to_string()));
                New::Button { words: words()?, address: address.ok_or_else(|| Reply::new("need_url"))? }
            }
            Target::Image => {
                let url = details.url.as_deref().filter(|url| ImageUrl::parse(url).is_ok());
                let Picture { src, alt, .. } = self.picture(url, None)?;
                let alt = said.map(str::to_owned).or_else(|| alt.map(|alt| alt.to_string())).unwrap_or_default();
                New::Image { address: src.to_string(), alt }
            }
            _ => return Err(Reply::new("imported_only")),
        };
        self.imported.insert(beside, new).map_err(broken)?;
        Ok(match said {
            Some(text) => Reply::about("added_text", target).text("text", text),
            None => Reply::about("added", target),
        })
    }

    /// Adds a sentence before or after the anchor or, without an anchor, at the start of the first paragraph or the end of the last.
    fn add_sentence(&mut self, sentence: &str, place: Option<&Place>) -> ActionResult {
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
            .and_then(Part::text_part)
            .is_none_or(|text_part| text_part.kind == TextPartKind::Button || text_part.kind == TextPartKind::Heading)
        {
            self.imported.insert(Some((beside, before)), New::Paragraph(sentence.to_owned())).map_err(broken)?;
            return Ok(Reply::about("added_text", Target::Text).text("text", sentence));
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
        self.imported.say(beside, &new).map_err(broken)?;
        Ok(Reply::about("added_text", Target::Sentence).text("text", sentence))
    }
}

/// Returns the reply to a change that the HTML does not allow.
fn broken(problem: String) -> Reply {
    Reply::new("breaks").text("problem", problem.trim_end_matches('.'))
}
