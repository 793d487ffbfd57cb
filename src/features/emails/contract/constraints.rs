//! Checks that the email meets the constraints in the brief.

use super::outline::Place;
use super::reading::Reading;
use super::text::{fold, sentences, spaced, words};
use crate::features::emails::brief::{Brief, Constraint, ConstraintKind};
use crate::features::emails::document::{Block, Email, Layout};
use crate::features::emails::finding::{Finding, FindingKind};

/// The minimum length of an avoided word that also matches the start of longer words: "cheap" in "cheapest".
const AVOIDED_STEM_MIN: usize = 5;

pub fn check(email: &Reading, document: &Email, brief: &Brief, brand: Option<&str>) -> Vec<Finding> {
    let broken = brief.constraints.iter().flat_map(|constraint| {
        let found = match constraint.kind {
            ConstraintKind::NoImages => email.outline.images.first().map(|block| (images(), Some(block.clone()))),
            ConstraintKind::NoProducts => {
                let block = email.outline.products.first().map(|(block, ..)| block.clone());
                block
                    .map(|block| ("The brief allows no products, but the email shows some. Remove them.".to_owned(), Some(block)))
            }
            ConstraintKind::NoExclamation => exclamation(email, brand),
            ConstraintKind::NoEmoji => emoji(email).map(|block| ("The brief allows no emoji. Remove them.".to_owned(), block)),
            ConstraintKind::Emoji => match emoji(email) {
                Some(_) => None,
                None => Some(("The brief requests emoji, but the email contains none. Add one.".to_owned(), None)),
            },
            ConstraintKind::PlainLayout => plain_layout(document),
            ConstraintKind::Layout => layout(document, constraint),
            ConstraintKind::Color => color(document, constraint),
            ConstraintKind::OneButton => one_button(email),
            ConstraintKind::Products => products(document, constraint),
            ConstraintKind::WordLimit => word_limit(email, constraint),
            ConstraintKind::Formal => address(email, &email.words.table.informal, "an informal", "formal"),
            ConstraintKind::Informal => address(email, &email.words.table.formal, "a formal", "informal"),
            ConstraintKind::AvoidWord => avoided(email, constraint),
            // A single email cannot violate a constraint on the number of emails in a series.
            ConstraintKind::Emails => None,
        };
        found.map(|(message, block)| {
            let finding = Finding::new(FindingKind::ConstraintBroken, message);
            let text = constraint.value.as_deref().unwrap_or_default();
            let finding =
                if text.is_empty() { Finding { span: constraint.span, ..finding } } else { finding.about(text, constraint.span) };
            finding.in_block(block.as_deref())
        })
    });
    broken.collect()
}

/// The message about a violated constraint, and the block that violates it, if there is one. `None` if the constraint is met.
type Broken = Option<(String, Option<String>)>;

fn images() -> String {
    "The brief allows no images, but the email shows some. Remove them.".to_owned()
}

fn exclamation(email: &Reading, brand: Option<&str>) -> Broken {
    let found = email.outline.passages.iter().filter(|passage| passage.place != Place::Frame).find(|passage| {
        let text = brand.map_or_else(|| passage.text.clone(), |brand| passage.text.replace(brand, ""));
        text.contains(['!', '¡', '！'])
    })?;
    Some((format!("{:?} contains an exclamation mark. Remove it.", found.text.trim()), found.block.clone()))
}

/// Returns the block that contains the first emoji; `Some(None)` if the emoji is in the subject or the preheader.
fn emoji(email: &Reading) -> Option<Option<String>> {
    let is_emoji =
        |c: char| matches!(c, '\u{1f300}'..='\u{1faff}' | '\u{2600}'..='\u{27bf}' | '\u{1f1e6}'..='\u{1f1ff}' | '\u{2b50}');
    // These characters are typographic symbols, not emoji: check marks, arrows, and stars in lists and quotes.
    let is_sign = |c: char| matches!(c, '✓' | '✔' | '✕' | '✗' | '★' | '☆' | '❯' | '➜' | '☎');
    let mut passages = email.outline.passages.iter().filter(|passage| passage.place != Place::Alt);
    passages.find(|passage| passage.text.chars().any(|c| is_emoji(c) && !is_sign(c))).map(|passage| passage.block.clone())
}

fn plain_layout(document: &Email) -> Broken {
    let is_plain = matches!(document.style.layout, Some(Layout::Letter | Layout::Minimal));
    (!is_plain).then(|| ("The layout is not plain. Set style.layout to letter.".to_owned(), None))
}

fn layout(document: &Email, constraint: &Constraint) -> Broken {
    let wanted = constraint.value.as_deref()?;
    let own = document.style.layout.and_then(|layout| serde_json::to_value(layout).ok());
    let same = own.as_ref().and_then(|own| own.as_str()).is_some_and(|own| own.eq_ignore_ascii_case(wanted));
    (!same).then(|| (format!("The layout is not {wanted}. Set style.layout to {wanted}."), None))
}

fn color(document: &Email, constraint: &Constraint) -> Broken {
    let wanted = constraint.value.as_deref()?;
    let style = &document.style;
    let own = [&style.primary, &style.button, &style.background];
    let same = own.into_iter().flatten().any(|color| color.to_string().eq_ignore_ascii_case(wanted));
    (!same).then(|| (format!("The email's style does not set the color {wanted}. Set style.primary to {wanted}."), None))
}

fn one_button(email: &Reading) -> Broken {
    let [_, second, ..] = email.outline.buttons.as_slice() else { return None };
    let count = email.outline.buttons.len();
    Some((format!("The email has {count} buttons, but the brief allows one. Keep only one."), Some(second.block.clone())))
}

/// Checks that the email shows at most the requested number of products. An email without product blocks passes, because other emails in
/// the series can show the products.
fn products(document: &Email, constraint: &Constraint) -> Broken {
    let wanted: usize = constraint.value.as_deref()?.trim().parse().ok()?;
    let blocks = document.blocks.iter().filter_map(|block| match block {
        Block::Products(products) => Some(products.products.len()),
        _ => None,
    });
    let count: usize = blocks.sum();
    (count > wanted).then(|| (format!("The email shows {count} products, but the brief asks for {wanted}. Remove some."), None))
}

fn word_limit(email: &Reading, constraint: &Constraint) -> Broken {
    let max: usize = constraint.value.as_deref()?.trim().parse().ok()?;
    let count: usize = email.outline.body().map(|passage| words(&passage.folded).count()).sum();
    (count > max).then(|| (format!("The email has {count} words, but the limit is {max}. Shorten it."), None))
}

/// Finds a word that uses the wrong form of address. A capitalized form, such as "Sie", is ignored at the start of a sentence.
fn address(email: &Reading, wrong: &[String], found: &str, wanted: &str) -> Broken {
    email.outline.body().chain(email.outline.line(Place::Subject)).find_map(|passage| {
        let word = sentences(&passage.text).into_iter().find_map(|sentence| {
            // French "rendez-vous" is also a noun.
            let sentence = sentence.replace("endez-vous", "endezvous");
            let all = sentence.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            all.enumerate().find_map(|(at, word)| {
                let is_wrong = |own: &&String| match own.starts_with(char::is_uppercase) {
                    true => at > 0 && own.as_str() == word,
                    false => own.as_str() == word.to_lowercase() && !(word.len() > 1 && word.chars().all(char::is_uppercase)),
                };
                wrong.iter().find(is_wrong).map(|_| word.to_owned())
            })
        })?;
        let message = format!("{word:?} is {found} form of address. Use the {wanted} form in {:?}.", passage.text.trim());
        Some((message, passage.block.clone()))
    })
}

fn avoided(email: &Reading, constraint: &Constraint) -> Broken {
    let wanted = spaced(&fold(constraint.value.as_deref()?));
    let stem = wanted.trim();
    if stem.is_empty() {
        return None;
    }
    let found = email.outline.passages.iter().filter(|passage| passage.place != Place::Frame).find(|passage| {
        let text = spaced(&passage.folded);
        text.contains(&wanted) || stem.len() >= AVOIDED_STEM_MIN && text.contains(&format!(" {stem}"))
    })?;
    Some((format!("{:?} contains {stem:?}, a word to avoid. Use a different word.", found.text.trim()), found.block.clone()))
}
