//! Finds the occasion of an email, if words in the prompt are more specific than the purpose.

use super::{Prompt, names};
use crate::features::emails::composer::lexicon::Occasion;
use crate::features::emails::composer::tokens::{Kind, Tokens, number};
use crate::features::emails::document::Purpose;

/// The words for a newsletter. A newsletter has many topics, none of which is the occasion.
const NEWSLETTERS: [&str; 4] = ["newsletter", "nieuwsbrief", "boletin", "infolettre"];
/// The maximum number of years of an anniversary.
const YEARS_MAX: f64 = 50.0;
/// The maximum length of a title. Email clients cut longer titles.
const TITLE_CHARACTERS_MAX: usize = 60;

fn named(prompt: &Prompt<'_>, occasion: Occasion) -> bool {
    prompt.lexicon.occasions.get(&occasion).is_some_and(|phrases| prompt.says(phrases))
}

/// Returns the announced occasion, if its words are clear enough to determine the purpose.
pub fn announced(prompt: &Prompt<'_>) -> Option<Occasion> {
    let is_newsletter = |at: usize| NEWSLETTERS.iter().any(|word| prompt.words.fold(at).starts_with(word));
    if (0..prompt.words.len()).any(is_newsletter) {
        return None;
    }
    let sure = |occasion: &Occasion| !matches!(occasion, Occasion::Job | Occasion::Report) && named(prompt, *occasion);
    Occasion::ANNOUNCED.into_iter().find(sure)
}

/// Returns whether the prompt requests tips.
pub fn gives_tips(prompt: &Prompt<'_>) -> bool {
    named(prompt, Occasion::Tips)
}

/// Returns the occasion of an email with this purpose.
pub fn read(prompt: &Prompt<'_>, purpose: Purpose, has_saving: bool, has_free_shipping: bool) -> Option<Occasion> {
    match purpose {
        Purpose::Sale if named(prompt, Occasion::LastChance) => Some(Occasion::LastChance),
        Purpose::Sale if has_free_shipping && !has_saving => Some(Occasion::FreeShipping),
        Purpose::Newsletter if gives_tips(prompt) => Some(Occasion::Tips),
        Purpose::Announcement => Occasion::ANNOUNCED.into_iter().find(|occasion| named(prompt, *occasion)),
        _ => None,
    }
}

/// Returns the item that is back in stock, after "for": "our most popular item".
pub fn item(prompt: &Prompt<'_>, occasion: Option<Occasion>) -> Option<String> {
    occasion.filter(|occasion| *occasion == Occasion::BackInStock)?;
    let (words, lexicon) = (prompt.words, prompt.lexicon);
    let (at, taken) = words.find(0, lexicon.occasions.get(&Occasion::BackInStock)?)?;
    let (at, taken) = words.find(at + taken, &lexicon.audience)?;
    let start = at + taken;
    let first = start + words.any(start, &lexicon.determiners).unwrap_or(0);
    if words.any(first, &lexicon.readers).is_some() || words.any(first, &lexicon.audience_of).is_some() {
        return None;
    }
    let text = names::phrase(prompt, first)?;
    let article = words.slice(start, first);
    Some(if article.is_empty() { text } else { format!("{article} {text}") })
}

/// Returns the topic of tips: the prompt itself if it is not an instruction, or the text after a colon.
pub fn tips_title(prompt: &Prompt<'_>, occasion: Option<Occasion>) -> Option<String> {
    occasion.filter(|occasion| *occasion == Occasion::Tips)?;
    let text = prompt.words.text.trim().trim_end_matches('.');
    let text = text.split_once(": ").map_or(text, |(_, rest)| rest.trim());
    let words = Tokens::read(text);
    let is_instruction =
        words.any(0, &prompt.lexicon.verbs).is_some() || words.find(0, &prompt.lexicon.meta).is_some() || text.contains("http");
    let is_one_line = !text.contains(['\n', '!', '?']) && !text.contains(". ");
    let fits = (8..=TITLE_CHARACTERS_MAX).contains(&text.chars().count());
    (fits && is_one_line && !is_instruction).then(|| super::capital(text))
}

/// Returns the number of years of an anniversary, as in "for a year" or "fünf Jahre".
pub fn years(prompt: &Prompt<'_>, occasion: Option<Occasion>) -> Option<usize> {
    occasion.filter(|occasion| *occasion == Occasion::Thanks)?;
    let (words, lexicon) = (prompt.words, prompt.lexicon);
    (1..words.len()).filter(|at| words.any(*at, &lexicon.years).is_some()).find_map(|at| {
        let before = at - 1;
        let figures =
            number(words.raw(before)).filter(|count| words.kind(before) == Kind::Number && (1.0..=YEARS_MAX).contains(count));
        let spelt = || lexicon.numbers.iter().position(|word| words.matches(before, word).is_some()).map(|place| place + 1);
        let one = || matches!(words.fold(before), "a" | "one" | "ein" | "un" | "une" | "uno" | "um" | "een").then_some(1);
        figures.map(|count| count as usize).or_else(spelt).or_else(one)
    })
}
