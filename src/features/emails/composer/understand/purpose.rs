//! Finds the purpose of an email, the number of emails, the season and the languages in the words of a prompt.

use super::Prompt;
use super::money::Amounts;
use crate::features::emails::composer::language::Language;
use crate::features::emails::composer::lexicon;
use crate::features::emails::composer::tokens::{Kind, Tokens, number};
use crate::features::emails::document::Purpose;
use crate::vocab::limits;

/// The number of words at the start of a prompt that have extra weight, because they are more significant than later words.
const HEAD_WORDS: usize = 6;
/// The weight of a holiday as a purpose, and the extra weight of a sale that names a season.
const SEASON_SCORE: usize = 5;
/// The weight of a time of the year, which is lower because prompts often mention times of the year only in passing.
const TIME_OF_YEAR_SCORE: usize = 3;
/// The weight of the words for an occasion, which equals the weight of the words for a cart or a receipt.
const ANNOUNCED_SCORE: usize = 6;
const TIPS_SCORE: usize = 4;
const TIMES_OF_YEAR: [&str; 4] = ["spring", "summer", "autumn", "winter"];

/// Returns the purpose with the highest score.
pub fn purpose(prompt: &Prompt<'_>, season: &Option<String>, money: &Amounts, has_name: bool, has_product: bool) -> Purpose {
    let announced = super::occasion::announced(prompt).filter(|_| money.saving.is_none());
    let gives_tips = super::occasion::gives_tips(prompt) && money.saving.is_none();
    let is_time_of_year = season.as_ref().is_some_and(|season| TIMES_OF_YEAR.contains(&season.as_str()));
    let mut best = (0, Purpose::Newsletter);
    for purpose in Purpose::ALL {
        let mut score = score(prompt, purpose);
        if let Some(season) = season {
            let of_sales = matches!(season.as_str(), "black_friday" | "cyber_monday");
            score = match purpose {
                Purpose::Sale if of_sales || names_a_sale(prompt, season) => score + SEASON_SCORE,
                Purpose::Seasonal if TIMES_OF_YEAR.contains(&season.as_str()) => score.max(TIME_OF_YEAR_SCORE),
                Purpose::Seasonal if !of_sales => score.max(SEASON_SCORE),
                _ => score,
            };
        }
        score = match purpose {
            Purpose::Announcement if announced.is_some() => score.max(ANNOUNCED_SCORE),
            Purpose::Newsletter if gives_tips => score.max(TIPS_SCORE),
            // A prompt such as "Summer: 25% off" is for a sale.
            Purpose::Sale if money.saving.is_some() && is_time_of_year => score.max(TIME_OF_YEAR_SCORE + 1),
            _ => score,
        };
        if score > best.0 {
            best = (score, purpose);
        }
    }
    match best {
        (0, _) if has_name => Purpose::Launch,
        (0, _) if money.saving.is_some() => Purpose::Sale,
        (0, _) => Purpose::Announcement,
        // A prompt such as "Announce our new lamp" is for a launch, because it announces a product.
        (_, Purpose::Announcement) if has_product && has_name && announced.is_none() => Purpose::Launch,
        // A prompt such as "Invite all customers to our sale" is for a sale, because a sale is not an event.
        (_, Purpose::Event) if money.saving.is_some() && !has_day(prompt) => Purpose::Sale,
        (_, purpose) => purpose,
    }
}

fn has_day(prompt: &Prompt<'_>) -> bool {
    let dates = super::dates::read(prompt);
    dates.on.is_some() || dates.starts.is_some() || dates.time.is_some()
}

/// Returns the score of a purpose: the full weight of the best phrase, and a small extra weight for up to two further phrases.
fn score(prompt: &Prompt<'_>, purpose: Purpose) -> usize {
    let weight = lexicon::weight(purpose);
    let mut scores = Vec::new();
    let lists = [Some(prompt.lexicon), (prompt.language != Language::En).then(|| lexicon::of(Language::En))];
    for (list, part) in lists.into_iter().flatten().zip([1, 2]) {
        let Some(phrases) = list.purposes.get(&purpose) else { continue };
        for phrase in phrases.iter() {
            let Some((at, _)) = prompt.words.find(0, std::slice::from_ref(phrase)) else { continue };
            if is_denied(prompt.words, at) {
                continue;
            }
            let early = usize::from(at < HEAD_WORDS);
            scores.push((weight + 2 * (phrase.len() - 1) + early) / part);
        }
    }
    let best = scores.iter().copied().max().unwrap_or(0);
    best + scores.len().saturating_sub(1).min(2)
}

/// Returns whether a word is negated, as in "no offer".
fn is_denied(words: &Tokens<'_>, at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |before| words.fold(before));
    DENIALS.contains(&before)
}

/// The words that negate the following word, in all languages.
const DENIALS: [&str; 16] = [
    "no", "not", "without", "kein", "keine", "keinen", "ohne", "sans", "pas", "aucune", "sin", "senza", "nessuna", "sem", "geen",
    "zonder",
];

/// Returns whether the season's name is close to a word for a sale, as in "summer sale".
fn names_a_sale(prompt: &Prompt<'_>, season: &str) -> bool {
    let (Some(seasons), Some(sales)) = (prompt.lexicon.seasons.get(season), prompt.lexicon.purposes.get(&Purpose::Sale)) else {
        return false;
    };
    let words = prompt.words;
    let near =
        |at: usize| (at.saturating_sub(4)..at + 3).any(|near| words.kind(near) == Kind::Word && is_sale(words, near, sales));
    (0..words.len()).any(|at| words.any(at, seasons).is_some() && (near(at) || is_sale(words, at, sales)))
}

/// Returns whether a word names a sale. Percentages and vouchers are excluded, because they also occur in other emails.
fn is_sale(words: &Tokens<'_>, at: usize, sales: &[Vec<String>]) -> bool {
    let nouns =
        sales.iter().filter(|phrase| phrase.len() == 1 && !matches!(phrase[0].as_str(), "off" | "save" | "offer" | "coupon"));
    let word = words.fold(at);
    !is_denied(words, at) && nouns.into_iter().any(|phrase| words.matches(at, phrase).is_some())
        || ["sale", "schlussverkauf", "rebajas"].iter().any(|noun| word.ends_with(noun))
}

/// Returns the named season or holiday.
pub fn season(prompt: &Prompt<'_>) -> Option<String> {
    // Holidays take precedence over times of the year: "a winter Christmas" is Christmas.
    let named = |(_, phrases): &(&String, &lexicon::Phrases)| prompt.says(phrases);
    let mut found: Vec<&String> = prompt.lexicon.seasons.iter().filter(named).map(|(name, _)| name).collect();
    found.sort_by_key(|name| TIMES_OF_YEAR.contains(&name.as_str()));
    found.first().map(|name| (*name).clone())
}

/// Returns the requested number of emails, and whether it is a series.
pub fn count(prompt: &Prompt<'_>) -> (Option<usize>, bool) {
    let words = prompt.words;
    let is_series = prompt.says(&prompt.lexicon.series);
    let read = |at: usize| {
        let spelt = || prompt.lexicon.numbers.iter().position(|word| words.matches(at, word).is_some()).map(|place| place + 1);
        let figures = number(words.raw(at)).filter(|_| words.kind(at) == Kind::Number).map(|value| value as usize);
        figures.or_else(spelt).filter(|count| (1..=limits::EMAILS_PER_SERIES_MAX).contains(count))
    };
    if let Some(count) = (0..words.len()).find_map(|at| {
        let taken = words.any(at, &prompt.lexicon.series)?;
        read(at + taken).filter(|count| *count > 1)
    }) {
        return (Some(count), true);
    }
    for at in 0..words.len() {
        // The number can be part of a word, as in "dreiteilige" and "driedelige".
        let joined = ["teilig", "delig"].iter().find_map(|end| words.fold(at).split_once(end).map(|(number, _)| number));
        let joined = joined
            .and_then(|spelt| prompt.lexicon.numbers.iter().position(|word| word.first().is_some_and(|word| word == spelt)));
        if let Some(place) = joined {
            return (Some(place + 1), true);
        }
        let Some(count) = read(at).filter(|count| *count > 1) else { continue };
        let near = (at + 1..at + 4).take_while(|at| !prompt.is_end(*at) && words.fold(*at) != "%");
        if near.into_iter().any(|at| words.any(at, &prompt.lexicon.email).is_some()) {
            return (Some(count), true);
        }
    }
    (None, is_series)
}

/// Returns the languages that the prompt requests, as in "in German".
pub fn languages(prompt: &Prompt<'_>) -> Vec<Language> {
    let all = [Language::SPOKEN.as_slice(), &[Language::Ar, Language::He]].concat();
    let before = prompt.lexicon.in_language.replace("{}", "");
    let before: Vec<String> = before.split_whitespace().map(str::to_owned).collect();
    let asked = |language: &Language| {
        let Some(names) = prompt.lexicon.languages.get(language.code()) else { return false };
        (0..prompt.words.len())
            .any(|at| prompt.words.matches(at, &before).is_some_and(|taken| prompt.words.any(at + taken, names).is_some()))
    };
    all.into_iter().filter(asked).collect()
}
