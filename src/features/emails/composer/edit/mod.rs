//! Changes an email according to natural-language instructions, without a language model.
//!
//! An instruction is split into parts. A part is applied only if all its words fit a form of the tables in `assets/composer/edits`. For the
//! other parts, a reply gives the reason or the nearest supported change. Replies are in the language of the instruction. The functions
//! have no side effects.

mod action;
mod add;
mod blocks;
mod color_names;
mod forms;
pub mod imported;
mod nearest;
mod passages;
mod reader;
mod reply;
mod resources;
mod shorten;
mod split;
mod style;
#[cfg(test)]
mod tests;
mod texts;
mod translate;
mod vocabulary;

pub use resources::EditResources;
pub use texts::corrected;

use crate::features::emails::composer::language::Language;
use crate::features::emails::document::{Block, Email};
use crate::features::emails::merge_words::{self, shown};
use action::{Action, Place, Target};
use reader::Scene;
use reply::{ActionResult, Reply};
use vocabulary::Vocabulary;

/// The result of an edit: the email, and the reports to the user.
#[derive(Clone, Debug, PartialEq)]
pub struct ComposerEdit {
    pub email: Email,
    /// One sentence for each change that was made.
    pub done: Vec<String>,
    /// One sentence for each part of the instruction that was not applied, with the reason or the nearest supported change.
    pub not_done: Vec<String>,
    /// The words that the user replaced, with the new words.
    pub replaced: Vec<(String, String)>,
}

/// The error if no part of the instruction could be applied. Contains one sentence for each part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotApplied(pub Vec<String>);

/// Applies the parts of an instruction that the composer understands.
pub fn apply(email: &Email, instruction: &str, means: &EditResources<'_>) -> Result<ComposerEdit, NotApplied> {
    let prompt = crate::features::emails::composer::text::clean(&merge_words::hidden(instruction));
    let own = Language::of(&email.language).unwrap_or(Language::En);
    let language = split::language(&prompt, own);
    let vocabulary = Vocabulary::of(language);
    let mut edited = ComposerEdit { email: email.clone(), done: Vec::new(), not_done: Vec::new(), replaced: Vec::new() };
    let (names, hidden) = (products(email), merge_words::hide(email));
    let scene = Scene { contains: &|words| texts::contains(&hidden, words), products: &names };
    for clause in split::clauses(&prompt, language, scene) {
        let Some(action) = clause.action else {
            let hint = nearest::hint(&clause.text, vocabulary, scene, &parts(&edited.email));
            edited.not_done.push(refusal(vocabulary, &clause.text, &hint));
            continue;
        };
        let action = match style::own_color(action, &clause.text, vocabulary, means.brand) {
            Ok(action) => action,
            Err(reason) => {
                edited.not_done.push(refusal(vocabulary, &clause.text, &reason));
                continue;
            }
        };
        // Merge fields are hidden so that the words of an instruction do not match a part of a field.
        let mut changed = merge_words::hide(&edited.email);
        let outcome = carry_out(&mut changed, &action, means);
        let changed = merge_words::show(&changed);
        let outcome = outcome.and_then(|done| sound(&edited.email, &changed, &action, means, done));
        match outcome {
            Ok(done) => {
                edited.email = changed;
                edited.done.push(shown(&vocabulary.tell(&done)));
                if let Action::Replace { from, to } = action {
                    edited.replaced.push((shown(&from), shown(&to)));
                }
            }
            Err(reason) => edited.not_done.push(refusal(vocabulary, &clause.text, &reason)),
        }
    }
    if edited.not_done.is_empty() && edited.done.is_empty() {
        edited.not_done.push(vocabulary.tell(&Reply::new("empty")));
    }
    if edited.done.is_empty() { Err(NotApplied(edited.not_done)) } else { Ok(edited) }
}

/// Returns the sentence about a part of an instruction that was not applied.
fn refusal(vocabulary: &Vocabulary, clause: &str, reason: &Reply) -> String {
    let hint = vocabulary.fill(reason);
    shown(&vocabulary.tell(&Reply::new("unknown").text("clause", clause.trim_end_matches('.')).text("hint", hint)))
}

/// Rejects a change that violates a rule for documents, has no effect, or loses a fact that the user did not ask to remove.
fn sound(before: &Email, after: &Email, action: &Action, means: &EditResources<'_>, done: Reply) -> ActionResult {
    if let Some(violation) = after.check().first() {
        return Err(Reply::new("breaks").text("problem", violation));
    }
    if before == after {
        return Err(Reply::new("unchanged"));
    }
    let lost = if action.may_lose_facts() { Vec::new() } else { (means.lost)(before, after) };
    if lost.is_empty() { Ok(done) } else { Err(Reply::new("loses").text("facts", quoted(&lost))) }
}

fn quoted(texts: &[String]) -> String {
    texts.iter().map(|text| format!("“{text}”")).collect::<Vec<_>>().join(", ")
}

fn products(email: &Email) -> Vec<String> {
    let grids = email.blocks.iter().filter_map(|block| if let Block::Products(grid) = block { Some(grid) } else { None });
    grids.flat_map(|grid| &grid.products).map(|product| product.name.to_string()).collect()
}

/// Returns the kinds of parts that an email contains, from top to bottom.
fn parts(email: &Email) -> Vec<Target> {
    let mut found = vec![Target::Subject, Target::Preheader];
    let mut add = |targets: &[Target]| {
        for target in targets {
            if !found.contains(target) {
                found.push(*target);
            }
        }
    };
    for block in &email.blocks {
        match block {
            Block::Hero(hero) => {
                add(&[Target::Title]);
                add(if hero.text.is_some() { &[Target::Lead] } else { &[] });
                add(if hero.image.is_some() { &[Target::Image] } else { &[] });
                add(if hero.button.is_some() { &[Target::Button] } else { &[] });
            }
            other => add(blocks::kind(other).as_slice()),
        }
    }
    found
}

/// Applies one action. Returns a reply that describes the change or the reason why it was not made.
fn carry_out(email: &mut Email, action: &Action, means: &EditResources<'_>) -> ActionResult {
    match action {
        Action::Replace { from, to } if to.is_empty() => texts::take_out(email, from),
        Action::Replace { from, to } => texts::replace(email, from, to, means),
        Action::Set { part, value } => texts::set(email, *part, value),
        Action::Lead { which, link, of } => texts::lead(email, *which, link, of.as_deref()),
        Action::Paint { part, color } => style::paint(email, *part, *color, means.brand),
        Action::Recolor { from, to } => style::recolor(email, *from, *to, means.brand),
        Action::Round(corners) => {
            email.style.corners = Some(*corners);
            Ok(Reply::new("rounded"))
        }
        Action::Arrange(layout) => {
            email.style.layout = Some(*layout);
            Ok(Reply::new("layout").text("layout", format!("{layout:?}").to_lowercase()))
        }
        Action::Emoji(on) => texts::emoji(email, *on),
        Action::Formality(formal) => translate::formality(email, *formal, means),
        Action::Translate(language) => translate::translate(email, *language, means),
        Action::Shorten(part) => shorten::shorten(email, *part, means),
        Action::Lengthen => shorten::lengthen(email, means),
        Action::Add { target: Target::Sentence, details, place } => {
            let is_beside = matches!(place, Some(Place::Before(_) | Place::After(_)));
            match is_beside || texts::has_paragraph(email) {
                true => texts::add_sentence(email, details, place.as_ref()),
                false => add::add(email, Target::Text, details, place.as_ref(), means),
            }
        }
        Action::Add { target, details, place } => add::add(email, *target, details, place.as_ref(), means),
        Action::Inform { topic, place } => add::inform(email, *topic, place.as_ref(), means),
        Action::Remove { part, words } if part.target == Target::Sentence => {
            texts::remove_sentence(email, part.which, words.as_deref())
        }
        Action::Remove { part, words: Some(words) } => blocks::remove_saying(email, part.target, words),
        Action::Remove { part, words: None } => blocks::remove(email, *part),
        Action::RemoveProduct(name) => blocks::remove_product(email, name),
        Action::Move { part, to } => blocks::shift(email, *part, to),
        Action::Swap { which, url, words } => blocks::swap(email, *which, url.as_deref(), words.as_deref(), means),
        Action::Columns(count) => blocks::columns(email, *count),
        Action::Sign(name) => texts::sign(email, name, means),
        Action::Bold(words) => texts::bold(email, words),
    }
}
