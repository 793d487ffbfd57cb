//! The rules about text, images, hidden text and markup.

use super::message::{Markup, Message, Word};
use super::observations::{EvidencePlace, FACTS, Observations};
use super::style::Concealment;

/// Gmail clips emails of more than 102 KB.
const CLIPPED_BYTES: usize = 102 * 1024;

/// Applies the rules about text, images, hidden text and markup.
pub fn check(message: &Message, found: &mut Observations) {
    check_amount_of_text(message, found);
    check_tone(message, found);
    for word in &message.words {
        check_word(message, word, found);
    }
    check_hidden(message, found);
    check_markup(message, found);
}

fn check_amount_of_text(message: &Message, found: &mut Observations) {
    let letters = message.letter_count();
    let images: Vec<_> = message.images.iter().filter(|image| !image.is_invisible()).collect();
    let first = images.first().map_or(0, |image| image.at);
    if letters == 0 && images.is_empty() && message.words.is_empty() {
        found.add("empty", EvidencePlace::html(0, ""));
        return;
    }
    if letters < 60 && !images.is_empty() {
        found.add("image_only", EvidencePlace::html(first, ""));
    } else if letters < 60 * images.len() && images.len() >= 3 {
        found.add("image_heavy", EvidencePlace::html(first, &format!("letters: {letters}, images: {}", images.len())));
    }
    let large = images.iter().find(|image| image.in_link && image.width.unwrap_or(0) >= 400 && image.height.unwrap_or(0) >= 300);
    if let Some(image) = large
        && letters < 250
    {
        found.add("big_linked_image", EvidencePlace::html(image.at, &image.source));
    }
    if letters < 60 && images.is_empty() && !message.links.is_empty() {
        found.add("link_only", EvidencePlace::html(message.links.first().map_or(0, |link| link.at), &message.text));
    }
    let silent: Vec<_> = images.iter().filter(|image| image.alternative_text.is_none()).collect();
    if silent.len() >= 2 && silent.len() * 2 >= images.len() {
        for image in silent {
            found.add("images_without_text", EvidencePlace::html(image.at, &image.source));
        }
    }
}

fn check_tone(message: &Message, found: &mut Observations) {
    let text = &message.text;
    let word_count = message.words.len().max(1);
    let is_capital = |word: &&Word| {
        let word = text.get(word.start..word.end).unwrap_or_default();
        word.chars().filter(|c| c.is_alphabetic()).count() >= 3 && !word.chars().any(char::is_lowercase)
    };
    let capitals: Vec<_> = message.words.iter().filter(is_capital).collect();
    if capitals.len() >= 12 && capitals.len() * 5 >= word_count {
        let first = capitals.first().map_or(0, |word| word.start);
        found.add("capitals", EvidencePlace::html(message.source_position(first), line_at(text, first)));
    }
    let marks: Vec<_> = text.match_indices('!').map(|(at, _)| at).collect();
    if marks.len() >= 5 && marks.len() * 40 >= word_count {
        let first = marks.first().copied().unwrap_or_default();
        found.add("exclamations", EvidencePlace::html(message.source_position(first), line_at(text, first)));
    }
    for run in ["!!!", "???", "$$$", "€€€", "!?!"] {
        if let Some(at) = text.find(run) {
            found.add("punctuation_runs", EvidencePlace::html(message.source_position(at), line_at(text, at)));
        }
    }
    if let Some(spaced) = has_spaced_letters(text) {
        let at = text.find(spaced).unwrap_or_default();
        found.add("spaced_letters", EvidencePlace::html(message.source_position(at), spaced));
    }
    let amounts: Vec<_> = message.words.iter().filter(|word| amount(&word.folded).is_some()).collect();
    if amounts.len() >= 8 && amounts.len() * 25 >= word_count {
        let first = amounts.first().map_or(0, |word| word.start);
        found.add("money_density", EvidencePlace::html(message.source_position(first), line_at(text, first)));
    }
}

/// Returns the line of text that contains a position, starting at most 60 bytes before the position.
fn line_at(text: &str, at: usize) -> &str {
    let from = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let from = from.max(text.floor_char_boundary(at.saturating_sub(60)));
    text.get(from..).and_then(|rest| rest.lines().next()).unwrap_or_default()
}

/// Returns the amount of money in a word such as "$5", "€20" or "20€". Thousands separators end a word, so `check_word` reads amounts such
/// as "$5,000".
pub fn amount(word: &str) -> Option<f64> {
    let digits = word.strip_prefix(['$', '€', '£']).or_else(|| word.strip_suffix(['$', '€', '£']))?;
    digits.parse().ok()
}

fn check_word(message: &Message, word: &Word, found: &mut Observations) {
    let place =
        || EvidencePlace::html(message.source_position(word.start), message.text.get(word.start..word.end).unwrap_or_default());
    if word.folded.starts_with(['$', '€', '£']) {
        let rest = message.text.get(word.start..).unwrap_or_default();
        let number: String = rest.chars().skip(1).take(16).take_while(|c| c.is_ascii_digit() || matches!(c, ',' | '.')).collect();
        let groups = number.split([',', '.']).filter(|group| group.len() == 3).count();
        let is_million = rest.split_whitespace().nth(1).is_some_and(|next| next.to_lowercase().starts_with("million"));
        if groups >= 2
            || is_million
            || (groups == 1 && number.len() >= 6)
            || amount(&word.folded).is_some_and(|amount| amount >= 10_000.0)
        {
            found.add("large_amount", place());
        }
    }
    if matches!(word.folded.as_str(), "800" | "888" | "877" | "866") {
        let before = message.text.get(..word.start).unwrap_or_default().trim_end_matches(['(', ' ', '-', '.']);
        let after = message.text.get(word.end..).unwrap_or_default().trim_start_matches([')', ' ', '-', '.']);
        let is_number = after.chars().take(3).filter(char::is_ascii_digit).count() == 3;
        if is_number && (before.ends_with('1') || message.text.get(..word.start).is_some_and(|text| text.ends_with('('))) {
            found.add("toll_free", place());
        }
    }
    if is_disguised(&word.folded) {
        found.add("disguised_word", place());
    }
    if mixes_scripts(&word.folded) {
        found.add("mixed_scripts", place());
    }
    if word.folded.len() >= 8
        && word.folded.len() <= 30
        && word.folded.chars().all(|c| c.is_ascii_lowercase())
        && is_random(&word.folded)
    {
        found.add("random_words", place());
    }
}

/// Returns whether other characters replace letters in a word that spam often disguises in this way.
fn is_disguised(word: &str) -> bool {
    if !word.chars().any(|c| matches!(c, '0' | '1' | '3' | '4' | '5' | '7' | '@' | '$' | '€'))
        || !word.chars().any(char::is_alphabetic)
    {
        return false;
    }
    let replaced = |one: char| {
        word.chars()
            .map(|c| match c {
                '0' => 'o',
                '1' => one,
                '3' | '€' => 'e',
                '4' | '@' => 'a',
                '5' | '$' => 's',
                '7' => 't',
                other => other,
            })
            .collect::<String>()
    };
    FACTS.disguised.contains(&replaced('i')) || FACTS.disguised.contains(&replaced('l'))
}

/// Returns whether a word mixes Latin letters with Greek or Cyrillic characters.
fn mixes_scripts(word: &str) -> bool {
    let latin = word.chars().any(|c| c.is_ascii_alphabetic());
    latin
        && word.chars().filter(|c| matches!(c, '\u{370}'..='\u{3FF}' | '\u{400}'..='\u{4FF}') && *c != 'µ' && *c != 'μ').count()
            > 0
}

/// Returns the first run of at least four single letters with separators between them, such as `f r e e`.
pub fn has_spaced_letters(text: &str) -> Option<&str> {
    let mut start = 0;
    let mut count = 0;
    let mut end = 0;
    for word in text.split([' ', '\n', '.', '*', '_']) {
        let at = word.as_ptr().addr().saturating_sub(text.as_ptr().addr());
        let mut letters = word.chars();
        let is_single = letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none();
        if is_single {
            start = if count == 0 { at } else { start };
            count += 1;
            end = at + word.len();
        } else {
            if count >= 4 {
                break;
            }
            count = 0;
        }
    }
    let found = text.get(start..end).filter(|_| count >= 4)?;
    // Letters in alphabetical order, such as "a b c d", are the options of a list, not a disguised word.
    let letters: Vec<char> = found.chars().filter(|c| c.is_alphabetic()).collect();
    (!letters.is_sorted()).then_some(found)
}

/// Returns whether a character is an emoji or another pictograph.
pub fn is_emoji(character: char) -> bool {
    matches!(character, '\u{1F300}'..='\u{1FAFF}' | '\u{2600}'..='\u{27BF}' | '\u{2B50}' | '\u{2B55}' | '\u{231A}' | '\u{23F0}')
}

fn check_hidden(message: &Message, found: &mut Observations) {
    let mut not_displayed = 0;
    let mut first = None;
    for hidden in message.hidden.iter().filter(|hidden| !hidden.is_preheader) {
        let letters = hidden.text.chars().filter(|c| c.is_alphanumeric()).count();
        let rule = match hidden.how {
            Concealment::NotDisplayed => {
                not_displayed += letters;
                first = first.or(Some(hidden));
                continue;
            }
            Concealment::Tiny => "hidden_tiny",
            Concealment::LowContrast => "hidden_low_contrast",
            Concealment::OffScreen => "hidden_off_screen",
        };
        if letters >= 5 {
            found.add(rule, EvidencePlace::html(hidden.at, &hidden.text));
        }
    }
    if let Some(hidden) = first
        && not_displayed >= 200
        && not_displayed > message.letter_count()
    {
        found.add("hidden_not_displayed", EvidencePlace::html(hidden.at, &hidden.text));
    }
}

fn check_markup(message: &Message, found: &mut Observations) {
    let count = |kind| message.markup.iter().filter(|(markup, _)| *markup == kind).count();
    let unknown = count(Markup::UnknownTag);
    let encoded = count(Markup::EncodedLetter);
    let invisible = count(Markup::InvisibleCharacter);
    for (markup, at) in &message.markup {
        let rule = match markup {
            Markup::Script => "script",
            Markup::Form => "form",
            Markup::Frame => "frame",
            Markup::Refresh => "refresh",
            Markup::ExternalStyle => "external_style",
            Markup::EventHandler => "event_handler",
            Markup::EmbeddedImage => "embedded_image",
            Markup::Animation => "animation",
            Markup::ImageMap => "image_map",
            Markup::SplitWord => "split_words",
            Markup::UnknownTag if unknown >= 3 => "unknown_tags",
            Markup::EncodedLetter if encoded >= 5 => "encoded_letters",
            Markup::InvisibleCharacter if invisible >= 3 => "invisible_characters",
            Markup::UnknownTag | Markup::EncodedLetter | Markup::InvisibleCharacter => continue,
        };
        found.add(rule, EvidencePlace::html(*at, ""));
    }
    if message.html_bytes > CLIPPED_BYTES {
        found.add("html_large", EvidencePlace::html(CLIPPED_BYTES, &format!("{} bytes", message.html_bytes)));
    }
}

/// Returns whether a word looks random: letters alternate with digits, or it has a long run of consonants.
pub fn is_random(word: &str) -> bool {
    if !word.chars().all(|c| c.is_ascii_alphanumeric()) {
        return false;
    }
    let mut changes = 0;
    let mut run = 0;
    let mut longest = 0;
    let mut previous: Option<char> = None;
    for character in word.chars() {
        changes += usize::from(previous.is_some_and(|last| last.is_ascii_digit() != character.is_ascii_digit()));
        let vowel = character.is_ascii_digit() || "aeiouyAEIOUY".contains(character);
        run = if vowel { 0 } else { run + 1 };
        longest = longest.max(run);
        previous = Some(character);
    }
    changes >= 3 || (longest >= 6 && word.len() >= 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::deliverability::message::Input;
    use crate::engine::deliverability::rules;

    fn ids(html: &str) -> Vec<&'static str> {
        rules::check(&Message::of(&Input { html, ..Input::default() }), html)
            .into_iter()
            .filter(|finding| finding.points > 0.0)
            .map(|finding| finding.rule)
            .collect()
    }

    const TEXT: &str =
        "Our workshop opens at nine on Saturday, and coffee is ready. Bring an apron, and tell us about allergies in advance.";

    #[test]
    fn ordinary_text_triggers_nothing() {
        assert_eq!(ids(&format!("<p>{TEXT}</p>")), [""; 0]);
        assert_eq!(ids(&format!("<div style='display:none;max-height:0'>A preheader of some words</div><p>{TEXT}</p>")), [""; 0]);
    }

    #[test]
    fn images_without_text_and_hidden_text_are_found() {
        assert_eq!(
            ids("<a href='https://a.example/'><img src=a.png width=600 height=800 alt=''></a>"),
            ["image_only", "big_linked_image"]
        );
        assert_eq!(ids(&format!("<p>{TEXT}</p><p style='color:#fff'>many hidden words</p>")), ["hidden_low_contrast"]);
        assert_eq!(ids(&format!("<p>{TEXT}</p><p style='font-size:0'>many hidden words</p>")), ["hidden_tiny"]);
        assert_eq!(ids(&format!("<p>{TEXT}</p><p style='text-indent:-9000px'>many hidden words</p>")), ["hidden_off_screen"]);
        let long = "hidden words ".repeat(40);
        assert_eq!(ids(&format!("<p>{TEXT}</p><p hidden>{long}</p>")), ["hidden_not_displayed"]);
    }

    #[test]
    fn disguises_are_found() {
        assert_eq!(ids(&format!("<p>{TEXT} M0rtgage</p>")), ["disguised_word"]);
        assert_eq!(ids(&format!("<p>{TEXT} p\u{430}yment</p>")), ["mixed_scripts"]);
        assert_eq!(ids(&format!("<p>{TEXT} F R E E</p>")), ["spaced_letters"]);
        assert_eq!(ids(&format!("<p>{TEXT} Win $5,000,000</p>")), ["large_amount"]);
        assert_eq!(ids(&format!("<p>{TEXT}</p><script>1</script>")), ["script"]);
        assert_eq!(has_spaced_letters("options a b c d e"), None);
    }
}
