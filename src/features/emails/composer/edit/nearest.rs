//! Suggests the nearest supported change for a part of an instruction that was not understood.

use super::action::Target;
use super::reader::{Reader, Scene};
use super::reply::{Fact, Reply};
use super::vocabulary::Vocabulary;
use crate::features::emails::composer::tokens::plain;

/// The maximum length, in characters, of an unknown value that a reply quotes.
const VALUE_CHARACTERS_MAX: usize = 60;

/// Returns the reply that suggests the nearest supported change.
pub fn hint(clause: &str, vocabulary: &'static Vocabulary, scene: Scene<'_>, parts: &[Target]) -> Reply {
    let reader = Reader::new(clause, vocabulary, scene);
    let words = &reader.words;
    let stands = |phrases: &[Vec<String>]| (0..words.len()).any(|at| words.any(at, phrases).is_some());
    if let Some(wish) = vocabulary.wishes.iter().find(|wish| stands(&wish.words)) {
        return vocabulary.wish(&wish.reply);
    }
    let nouns: Vec<(usize, usize, Target)> = (0..words.len())
        .flat_map(|at| reader.nouns(at).into_iter().take(1).map(move |(end, target)| (at, end, target)))
        .collect();
    let named = nouns.iter().find(|(_, _, target)| !matches!(target, Target::Email | Target::Text)).or(nouns.first());
    let listed = || Fact::Parts(parts.to_vec());
    let Some((_, end, target)) = named else {
        let acts = ["remove", "move", "change", "swap"].iter().any(|class| stands(vocabulary.class(class)));
        return Reply::new(if acts { "hint_block" } else { "hint_none" }).with("parts", listed());
    };
    // If the instruction contains an ordinal, as in "the second story", a story is an item in a newsletter, not the text about the brand.
    let counts = |at: usize| vocabulary.ordinals.iter().any(|ordinal| words.any(at, ordinal).is_some());
    let target = if *target == Target::Story && (0..words.len()).any(counts) { &Target::Text } else { target };
    let rest = words.slice(*end, words.len()).trim_end_matches('.').trim().to_owned();
    let is_painted = rest.split_whitespace().any(|word| {
        let colors = vocabulary.named_colors.iter();
        colors.into_iter().any(|(name, _)| name.len() == 1 && vocabulary.is_form(&plain(word), &name[0]))
    });
    // Several colors, an address or empty quotation marks are not new text.
    let is_many_colors = colored(*target) && is_painted && rest.contains(' ');
    let is_text = !is_many_colors && !rest.contains([':', '"', '“', '„', '«']);
    let is_short = !rest.is_empty() && is_text && rest.chars().count() <= VALUE_CHARACTERS_MAX;
    let sets = stands(vocabulary.class("change")) || stands(vocabulary.class("shall"));
    match (is_short && sets, colored(*target)) {
        // A single unknown word in lowercase after a part that has a color is probably a color.
        (true, true) if !rest.contains(' ') && rest.chars().all(char::is_lowercase) => {
            Reply::new("hint_color").text("value", rest).text("colors", vocabulary.color_names())
        }
        (true, _) if !matches!(target, Target::Email | Target::Text) => Reply::about("hint_value", *target).text("value", rest),
        _ if matches!(target, Target::Email) => Reply::new("hint_none").with("parts", listed()),
        _ => Reply::about("hint_part", *target),
    }
}

/// Returns whether an instruction can change the color of a part.
fn colored(target: Target) -> bool {
    matches!(target, Target::Button | Target::Box | Target::Background | Target::Accent)
}
