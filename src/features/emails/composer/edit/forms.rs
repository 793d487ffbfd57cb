//! Turns a matched form and the values of its gaps into an action.

use super::action::{Action, Details, PartName, Place, Target, Which};
use super::color_names::Named;
use super::reader::{Bindings, Bound};
use super::vocabulary::{Intent, Slot};
use crate::features::emails::composer::text::QUOTATION_MARKS;
use crate::features::emails::document::{Corners, Link};

struct Gaps<'b, 'a>(&'b Bindings<'a>);

impl<'a> Gaps<'_, 'a> {
    fn texts(&self, slot: Slot) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter_map(move |(own, bound)| match bound {
            Bound::Text(text) if *own == slot => Some(*text),
            _ => None,
        })
    }

    fn text(&self, slot: Slot) -> Option<&'a str> {
        self.texts(slot).next()
    }

    /// Returns the new text: a quotation or free text.
    fn value(&self) -> Option<&'a str> {
        let value = [Slot::Value, Slot::Label, Slot::Quote].into_iter().find_map(|slot| self.text(slot))?;
        (!value.chars().all(|c| QUOTATION_MARKS.contains(&c) || c.is_whitespace())).then_some(value)
    }

    fn part(&self) -> Option<PartName> {
        self.0.iter().find_map(|(_, bound)| if let Bound::Part(part) = bound { Some(*part) } else { None })
    }

    fn colors(&self) -> Vec<Named> {
        self.0.iter().filter_map(|(_, bound)| if let Bound::Color(color) = bound { Some(*color) } else { None }).collect()
    }

    fn place(&self) -> Option<Place> {
        self.0.iter().find_map(|(_, bound)| if let Bound::Place(place) = bound { Some(place.clone()) } else { None })
    }

    fn find<T>(&self, of: impl Fn(&Bound<'a>) -> Option<T>) -> Option<T> {
        self.0.iter().find_map(|(_, bound)| of(bound))
    }
}

/// Returns the action that a form requests; `None` if the values do not fit together. The caller then tries the next form.
pub fn action(intent: Intent, bound: &Bindings<'_>) -> Option<Action> {
    let gaps = Gaps(bound);
    Some(match intent {
        Intent::Set => return set(&gaps),
        Intent::Replace | Intent::Correct => replace(&gaps)?,
        Intent::Paint => return paint(&gaps),
        Intent::Recolor => match gaps.colors()[..] {
            [from, to] => Action::Recolor { from, to: to.color },
            _ => return None,
        },
        Intent::Round => Action::Round(Corners::Round),
        Intent::Sharp => Action::Round(Corners::Sharp),
        Intent::Soft => Action::Round(Corners::Soft),
        Intent::Layout => {
            Action::Arrange(gaps.find(|bound| if let Bound::Layout(layout) = bound { Some(*layout) } else { None })?)
        }
        Intent::Emoji => Action::Emoji(true),
        Intent::NoEmoji => Action::Emoji(false),
        Intent::Formal => Action::Formality(true),
        Intent::Informal => Action::Formality(false),
        Intent::Translate => {
            Action::Translate(gaps.find(|bound| if let Bound::Language(language) = bound { Some(*language) } else { None })?)
        }
        Intent::Shorten => shorten(gaps.part())?,
        Intent::Lengthen => return lengthen(gaps.part()),
        Intent::Add => return add(&gaps),
        Intent::Postscript => {
            let details = Details { text: Some(format!("PS: {}", gaps.value()?.trim())), ..Details::default() };
            Action::Add { target: Target::Text, details, place: Some(Place::End) }
        }
        Intent::Inform => {
            let topic = gaps.find(|bound| if let Bound::Topic(topic) = bound { Some(*topic) } else { None })?;
            Action::Inform { topic, place: gaps.place() }
        }
        Intent::Remove => return remove(&gaps),
        Intent::Move => {
            let part = gaps.part().filter(|part| is_block(part.target))?;
            Action::Move { part, to: gaps.place()? }
        }
        Intent::Swap => return swap(&gaps),
        Intent::Lead => return lead(&gaps),
        Intent::Columns => {
            let count = gaps.find(|bound| if let Bound::Number(number) = bound { Some(*number) } else { None });
            Action::Columns(count.unwrap_or(2))
        }
        Intent::Sign => Action::Sign(name(gaps.text(Slot::Name).or(gaps.value())?)?),
        Intent::Bold => Action::Bold(gaps.text(Slot::Said).or(gaps.value())?.to_owned()),
    })
}

/// Returns whether this part is a block, which can be moved.
fn is_block(target: Target) -> bool {
    !matches!(
        target,
        Target::Subject | Target::Preheader | Target::Eyebrow | Target::Title | Target::Lead | Target::Sentence | Target::Label
    ) && !is_surface(target)
}

fn is_surface(target: Target) -> bool {
    matches!(target, Target::Background | Target::Accent | Target::Email | Target::Box | Target::Alt)
}

fn set(gaps: &Gaps<'_, '_>) -> Option<Action> {
    let (part, value) = (gaps.part()?, gaps.value()?);
    if part.was.is_some() || is_surface(part.target) && part.target != Target::Alt {
        return None;
    }
    let is_line = !matches!(part.target, Target::Text | Target::Lead | Target::Quote | Target::Sentence);
    // The period at the end of the instruction is not part of a label.
    let value = if is_line { value.trim_end_matches('.') } else { value }.trim();
    match part.target {
        Target::Closing => Some(Action::Sign(name(value)?)),
        _ if value.is_empty() => None,
        // Without quotation marks, only a single word in uppercase is a code: "put the code first" requests something else.
        Target::Coupon => {
            let is_code =
                !value.contains(' ') && value.chars().any(char::is_alphanumeric) && !value.chars().any(char::is_lowercase);
            (is_code || gaps.text(Slot::Quote).is_some()).then(|| Action::Set { part, value: value.to_owned() })
        }
        _ => Some(Action::Set { part, value: value.to_owned() }),
    }
}

fn name(text: &str) -> Option<String> {
    const CHARACTERS_MAX: usize = 80;
    let text = text.trim().trim_end_matches(['.', ',', '!']).trim();
    (!text.is_empty() && text.chars().count() <= CHARACTERS_MAX).then(|| text.to_owned())
}

fn replace(gaps: &Gaps<'_, '_>) -> Option<Action> {
    let from = gaps.text(Slot::Said)?;
    let to = gaps.value()?;
    let (from, to) = (from.trim_end_matches('.').trim(), to.trim_end_matches('.').trim());
    (from != to && !to.is_empty()).then(|| Action::Replace { from: from.to_owned(), to: to.to_owned() })
}

fn paint(gaps: &Gaps<'_, '_>) -> Option<Action> {
    let part = gaps.part()?;
    let color = gaps.colors().last()?.color;
    let painted = matches!(
        part.target,
        Target::Button
            | Target::Label
            | Target::Background
            | Target::Accent
            | Target::Box
            | Target::Coupon
            | Target::Title
            | Target::Heading
            | Target::Text
            | Target::Quote
    );
    painted.then_some(Action::Paint { part, color })
}

fn shorten(part: Option<PartName>) -> Option<Action> {
    let whole = PartName { target: Target::Email, which: Which::Unsaid, was: None };
    let part = part.unwrap_or(whole);
    let has_text = matches!(
        part.target,
        Target::Email
            | Target::Text
            | Target::Subject
            | Target::Preheader
            | Target::Title
            | Target::Lead
            | Target::Heading
            | Target::Sentence
    );
    has_text.then_some(Action::Shorten(part))
}

fn lengthen(part: Option<PartName>) -> Option<Action> {
    part.is_none_or(|part| matches!(part.target, Target::Email | Target::Text)).then_some(Action::Lengthen)
}

fn add(gaps: &Gaps<'_, '_>) -> Option<Action> {
    let target = gaps.part().map_or(Target::Text, |part| part.target);
    let text = gaps.value().map(str::to_owned);
    if gaps.part().is_none() && text.is_none() || gaps.part().is_some_and(|part| part.was.is_some()) || is_surface(target) {
        return None;
    }
    let own = |slot: Slot| gaps.text(slot).map(str::to_owned);
    let mut details = Details { text, url: own(Slot::Url), author: None, code: None, date: None };
    let free = own(Slot::Name);
    match target {
        Target::Quote => details.author = free,
        Target::Coupon => details.code = free.or_else(|| details.text.take()),
        Target::Countdown => details.date = free.or_else(|| details.text.take()),
        _ if free.is_some() => return None,
        _ => {}
    }
    Some(Action::Add { target, details, place: gaps.place() })
}

fn remove(gaps: &Gaps<'_, '_>) -> Option<Action> {
    if let Some(product) = gaps.text(Slot::Product) {
        let is_grid = gaps.part().is_none_or(|part| matches!(part.target, Target::Products | Target::Email));
        return is_grid.then(|| Action::RemoveProduct(product.to_owned()));
    }
    let words = gaps.text(Slot::Said).or(gaps.value()).map(|words| words.trim_end_matches('.').trim().to_owned());
    match (gaps.part(), words) {
        (None, Some(from)) => Some(Action::Replace { from, to: String::new() }),
        (Some(part), words) if !is_surface(part.target) && part.was.is_none() => Some(Action::Remove { part, words }),
        _ => None,
    }
}

fn swap(gaps: &Gaps<'_, '_>) -> Option<Action> {
    let part = gaps.part();
    let is_image = |part: &PartName| part.target == Target::Image && part.was.is_none();
    if !part.iter().all(is_image) {
        return None;
    }
    let (url, words) = (gaps.text(Slot::Url), gaps.text(Slot::Name));
    if part.is_none() && words.is_none() && !url.is_some_and(is_picture) {
        return None;
    }
    let which = part.map_or(Which::Unsaid, |part| part.which);
    let words = words.map(|words| words.trim_end_matches('.').to_owned());
    Some(Action::Swap { which, url: url.map(str::to_owned), words })
}

fn is_picture(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default().to_lowercase();
    [".jpg", ".jpeg", ".png", ".gif", ".webp"].iter().any(|end| path.ends_with(end))
}

fn lead(gaps: &Gaps<'_, '_>) -> Option<Action> {
    let part = gaps.part();
    if !part.iter().all(|part| matches!(part.target, Target::Button | Target::Label | Target::Coupon)) {
        return None;
    }
    let url = gaps.text(Slot::OtherUrl).or(gaps.text(Slot::Url))?;
    let link = Link::parse(&with_scheme(url)).ok()?;
    let old = gaps.text(Slot::OtherUrl).and(gaps.text(Slot::Url));
    let of = old.or(gaps.text(Slot::Said)).or(gaps.value()).map(str::to_owned);
    Some(Action::Lead { which: part.map_or(Which::Unsaid, |part| part.which), link, of })
}

fn with_scheme(url: &str) -> String {
    if url.starts_with("www.") { format!("https://{url}") } else { url.to_owned() }
}
